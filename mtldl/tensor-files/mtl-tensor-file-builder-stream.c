/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Writes the elements of views to a file, piece by piece. */

#include "mtl-tensor-file-builder-private.h"

#include <string.h>

#include "mtl-error-private.h"
#include "mtl-host-elements-private.h"
#include "mtl-tensor-values-private.h"

#define PIECE_SIZE ((gsize) 4 << 20)
#define PIECE_BITS ((guint64) PIECE_SIZE * 8)

/* Stretches of at least this size are written without copying them first. */
#define DIRECT_SIZE (PIECE_SIZE / 4)

/* If an element begins within a byte, its layout has an offset from a few bytes
 * before it. */
#define MARGIN 8

gboolean
mtl_tensor_stream_init (MtlTensorStream   *self,
                        guint64            n_total,
                        const MtlMonitor  *monitor,
                        GError           **error)
{
  *self = (MtlTensorStream) {
    /* Stores of elements of less than a byte keep the other bits, which must be
     * initialized. */
    .memory = g_try_malloc0_n (MARGIN + PIECE_SIZE + 1, 1),
    .n_total = n_total,
    .monitor = monitor,
  };
  return self->memory != NULL || mtl_set_no_memory (PIECE_SIZE, error);
}

void
mtl_tensor_stream_clear (MtlTensorStream *self)
{
  g_clear_pointer (&self->memory, g_free);
}

static gboolean
write_pieces (MtlTensorStream  *self,
              const guint8     *bytes,
              gsize             size,
              GError          **error)
{
  while (size > 0)
    {
      gsize n = MIN (size, PIECE_SIZE);

      if (!mtl_monitor_check (self->monitor, error)
          || !mtl_file_replacement_write (self->file, bytes, n, error))
        return FALSE;

      bytes += n;
      size -= n;
      self->n_done += n;
      if (self->monitor->report != NULL)
        self->monitor->report (self->n_done, self->n_total, self->monitor->data);
    }

  return TRUE;
}

/* An incomplete last byte waits for the next elements. */
gboolean
mtl_tensor_stream_flush (MtlTensorStream  *self,
                         GError          **error)
{
  guint8 *piece = self->memory + MARGIN;
  gsize n_bytes = self->n_bits / 8;

  self->n_bits %= 8;
  if (!write_pieces (self, piece, n_bytes, error))
    return FALSE;

  piece[0] = piece[n_bytes];
  return TRUE;
}

gboolean
mtl_tensor_stream_write_bytes (MtlTensorStream  *self,
                               gconstpointer     bytes,
                               gsize             size,
                               GError          **error)
{
  gsize n_waiting = self->n_bits / 8;

  if (size < DIRECT_SIZE && n_waiting + size <= PIECE_SIZE)
    {
      if (size > 0)
        memcpy (self->memory + MARGIN + n_waiting, bytes, size);
      self->n_bits += 8 * size;
      return TRUE;
    }

  if (!mtl_tensor_stream_flush (self, error))
    return FALSE;

  return size >= DIRECT_SIZE ? write_pieces (self, bytes, size, error)
                             : mtl_tensor_stream_write_bytes (self, bytes, size, error);
}

/* Copies to another layout of the same shape. From memory that the host cannot
 * access, the bytes between the elements are copied, too, so it is done in parts of
 * at most a piece. */
static gboolean
copy_elements (const MtlStrided  *to,
               MtlStridedView    *from,
               const MtlMonitor  *monitor,
               GError           **error);

static gboolean
copy_half (const MtlStrided  *to,
           MtlStridedView    *from,
           guint32            axis,
           gint64             begin,
           gint64             end,
           const MtlMonitor  *monitor,
           GError           **error)
{
  g_auto (MtlLayout) to_layout = MTL_LAYOUT_INIT;
  g_autoptr (MtlStridedView) part = NULL;
  MtlLayout layout;

  if (!mtl_layout_narrow (to->layout, axis, begin, end, 1, &to_layout, error)
      || !mtl_layout_narrow (&from->layout, axis, begin, end, 1, &layout, error))
    return FALSE;

  part = mtl_strided_view_derive (from, &layout);
  return copy_elements (&(MtlStrided) { to->type, &to_layout, to->data }, part, monitor, error);
}

/* The axis along which the elements lie farthest apart. */
static guint32
find_longest_axis (const MtlLayout *layout)
{
  guint64 longest = 0;
  guint32 found = 0;

  for (guint32 i = 0; i < layout->n_dims; i++)
    {
      guint64 length = mtl_magnitude (mtl_layout_strides (layout)[i])
                       * (mtl_layout_shape (layout)[i] - 1);

      if (mtl_layout_shape (layout)[i] > 1 && length > longest)
        {
          longest = length;
          found = i;
        }
    }

  return found;
}

static gboolean
copy_elements (const MtlStrided  *to,
               MtlStridedView    *from,
               const MtlMonitor  *monitor,
               GError           **error)
{
  const MtlMonitor silent = { monitor->cancellable, NULL, NULL };
  g_auto (MtlHostElements) elements = { .layout = NULL };
  gint64 first, end;

  if (!mtl_memory_is_host_accessible (from->memory))
    {
      if (!mtl_monitor_check (monitor, error)
          || !mtl_layout_get_byte_bounds (&from->layout, &first, &end, error))
        return FALSE;

      if (end - first > (gint64) PIECE_SIZE)
        {
          guint32 axis = find_longest_axis (&from->layout);
          gint64 extent = mtl_layout_shape (&from->layout)[axis];

          return copy_half (to, from, axis, 0, extent / 2, monitor, error)
                 && copy_half (to, from, axis, extent / 2, extent, monitor, error);
        }
    }

  return mtl_host_elements_init_read (&elements, from, error)
         && mtl_strided_copy (to, &elements.strided, &silent, error);
}

/* A block that is not contiguous may touch all pages of the view. */
static gboolean
is_stretch (MtlStridedView *view)
{
  return mtl_layout_is_contiguous (&view->layout, MTL_ORDER_C);
}

/* Reads the pages of a mapped file before they are used. If the file was truncated,
 * this is an error, whereas using the pages would raise a signal. The bytes are
 * counted from element offset 0. */
static gboolean
populate (MtlStridedView  *view,
          gint64           first,
          gint64           end,
          GError         **error)
{
  MtlFileMapping *mapping = view->memory->owner;

  return !view->memory->is_mapped_file
         || mtl_file_mapping_populate (mapping, view->byte_offset + first - mapping->begin,
                                       end - first, error);
}

static gboolean
populate_elements (MtlStridedView  *view,
                   GError         **error)
{
  gint64 first, end;

  return mtl_layout_get_byte_bounds (&view->layout, &first, &end, error)
         && populate (view, first, end, error);
}

/* Copies a block of at most a piece to the end of the waiting elements. */
static gboolean
write_copy (MtlTensorStream  *self,
            MtlStridedView   *block,
            MtlElementType    type,
            guint64           n_bits,
            GError          **error)
{
  g_auto (MtlLayout) layout = MTL_LAYOUT_INIT;
  guint8 *end;

  if (self->n_bits + n_bits > PIECE_BITS && !mtl_tensor_stream_flush (self, error))
    return FALSE;
  if (!mtl_layout_new_dense (mtl_layout_shape (&block->layout), block->layout.n_dims, MTL_ORDER_C,
                             type.bits, &layout, error))
    return FALSE;
  if (is_stretch (block) && !populate_elements (block, error))
    return FALSE;

  while (layout.offset * type.bits % 8 != (gint64) (self->n_bits % 8))
    layout.offset++;
  end = self->memory + MARGIN + self->n_bits / 8;
  end -= layout.offset * type.bits / 8;
  self->n_bits += n_bits;
  if (!copy_elements (&(MtlStrided) { type, &layout, end }, block, self->monitor, error))
    return FALSE;

  mtl_swap_bytes (end, n_bits / 8, mtl_get_swapped_size (type, FALSE));
  return TRUE;
}

/* Finds the bytes of elements that already lie in memory as the file needs them. */
static gboolean
find_bytes (MtlStridedView *view,
            MtlElementType  type,
            gint64         *first,
            gint64         *size)
{
  return mtl_memory_is_host_accessible (view->memory)
         && mtl_element_type_equal (view->type, type) && mtl_get_swapped_size (type, FALSE) == 1
         && mtl_layout_get_packed_bytes (&view->layout, first, size);
}

static gboolean
write_as_they_lie (MtlTensorStream  *self,
                   MtlStridedView   *view,
                   gint64            first,
                   gint64            size,
                   GError          **error)
{
  const guint8 *bytes = mtl_strided_view_get_strided (view).data;
  const gint64 end = first + size;

  for (gint64 n; first < end; first += n)
    {
      n = MIN (end - first, (gint64) PIECE_SIZE);
      if (!populate (view, first, first + n, error)
          || !mtl_tensor_stream_write_bytes (self, bytes + first, n, error))
        return FALSE;
    }

  return TRUE;
}

static gboolean
write_elements (MtlTensorStream  *self,
                MtlStridedView   *view,
                MtlElementType    type,
                GError          **error)
{
  const gint64 *shape = mtl_layout_shape (&view->layout);
  guint64 n_bits = mtl_layout_get_volume (&view->layout) * type.bits;
  gint64 first, size, n_rows;
  guint32 axis = 0;

  if (self->n_bits % 8 == 0 && find_bytes (view, type, &first, &size))
    return write_as_they_lie (self, view, first, size, error);
  if (n_bits <= PIECE_BITS)
    return write_copy (self, view, type, n_bits, error);

  while (shape[axis] == 1)
    axis++;
  n_rows = MAX (PIECE_BITS / (n_bits / shape[axis]), 1);

  for (gint64 begin = 0; begin < shape[axis]; begin += n_rows)
    {
      g_autoptr (MtlStridedView) block = NULL;
      MtlLayout layout;

      if (!mtl_layout_narrow (&view->layout, axis, begin, begin + n_rows, 1, &layout, error))
        return FALSE;

      block = mtl_strided_view_derive (view, &layout);
      if (!write_elements (self, block, type, error))
        return FALSE;
    }

  return TRUE;
}

gboolean
mtl_tensor_stream_write_tensor (MtlTensorStream         *self,
                                const MtlPlannedTensor  *tensor,
                                GError                 **error)
{
  MtlElementType type = mtl_element_type_new (tensor->dtype);
  g_autoptr (MtlStridedView) view = g_object_ref (tensor->view);
  MtlLayout layout;

  if (mtl_layout_is_empty (&view->layout))
    return TRUE;

  if (tensor->order == MTL_ORDER_F)
    {
      mtl_layout_transpose (&tensor->view->layout, &layout);
      g_object_unref (view);
      view = mtl_strided_view_derive (tensor->view, &layout);
    }

  return (is_stretch (view) || populate_elements (view, error))
         && write_elements (self, view, type, error);
}
