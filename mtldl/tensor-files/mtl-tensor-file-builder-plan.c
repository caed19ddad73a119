/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Decides which tensor goes where, and writes the elements of views, piece by piece. */

#include "mtl-tensor-file-builder-private.h"

#include <stdlib.h>
#include <string.h>

#include "mtl-arena-private.h"
#include "mtl-error-private.h"
#include "mtl-file-header-writer-private.h"
#include "mtl-placed-elements-private.h"
#include "mtl-message-text-private.h"
#include "mtl-npy-header-private.h"
#include "mtl-safetensors-header-private.h"
#include "mtl-tensor-values-private.h"

#define SMALL_ALIGNMENT 64
#define LARGE_ALIGNMENT 16384 /* the largest page size, 2 to the 14 */
#define LARGE_ALIGNMENT_BITS 14
#define LARGE_DATA (1 << 20)

static MtlStridedView *
spread_lanes (MtlStridedView  *view,
              GError         **error)
{
  MtlElementType type = view->type;
  MtlLayout layout;

  if (view->type.lanes == 1)
    return g_object_ref (view);

  if (view->layout.n_dims == MTL_LAYOUT_MAX_DIMS)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                   "An axis for the %u lanes exceeds the limit of %d dimensions",
                   view->type.lanes, MTL_LAYOUT_MAX_DIMS);
      return NULL;
    }
  if (!mtl_layout_spread_lanes (&view->layout, view->type.lanes, &layout, error))
    return NULL;

  type.lanes = 1;
  return mtl_strided_view_derive_as (view, view->byte_offset, type, &layout);
}

static gboolean
check_dtype (MtlTensorFileFormat   format,
             MtlDType              dtype,
             MtlElementType        type,
             GError              **error)
{
  gboolean is_npy = format == MTL_TENSOR_FILE_FORMAT_NPY;
  g_autofree char *name = NULL;

  if (is_npy ? mtl_npy_dtype_get_kind (dtype) != 0 : mtl_dtype_get_safetensors_name (dtype) != NULL)
    return TRUE;

  name = mtl_element_type_to_string (type);
  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED, "%s has no elements of type %s",
               is_npy ? ".npy" : "safetensors", name);
  return FALSE;
}

/* Keeps the order in memory, if the format supports it. */
static MtlOrder
choose_order (MtlTensorFileFormat  format,
              const MtlLayout     *layout)
{
  return format == MTL_TENSOR_FILE_FORMAT_NPY && mtl_layout_is_contiguous (layout, MTL_ORDER_F)
         && !mtl_layout_is_contiguous (layout, MTL_ORDER_C) ? MTL_ORDER_F : MTL_ORDER_C;
}

static guint
find_alignment (guint64 n_bytes)
{
  guint bits = 0;

  while (bits < LARGE_ALIGNMENT_BITS && (n_bytes >> bits & 1) == 0)
    bits++;
  return bits;
}

static gboolean
plan_tensor (MtlPlannedTensor      *planned,
             const MtlAddedTensor  *tensor,
             MtlTensorFileFormat    format,
             GError               **error)
{
  MtlElementType type = tensor->view->type;
  const MtlLayout *layout;

  planned->name = tensor->name;
  planned->dtype = tensor->dtype;
  if (tensor->dtype == MTL_DTYPE_OTHER)
    planned->dtype = mtl_element_type_get_dtype (type);
  else
    type = mtl_element_type_new (tensor->dtype);
  if (!check_dtype (format, planned->dtype, type, error))
    return FALSE;

  planned->view = spread_lanes (tensor->view, error);
  if (planned->view == NULL)
    return FALSE;

  layout = &planned->view->layout;
  if (!mtl_dtype_count_bytes (planned->dtype, mtl_layout_shape (layout), layout->n_dims,
                              &planned->n_bytes, error))
    return FALSE;

  planned->order = choose_order (format, layout);
  planned->alignment = find_alignment (planned->n_bytes);
  return TRUE;
}

/* All files together, with their headers, fit into a 64-bit offset. */
static gboolean
add_size (MtlTensorFilePlan       *self,
          const MtlPlannedTensor  *tensor,
          GError                 **error)
{
  const guint64 max = G_MAXINT64 / 2;

  if (tensor->n_bytes <= max - self->n_tensor_bytes)
    {
      self->n_tensor_bytes += tensor->n_bytes;
      return TRUE;
    }

  g_set_error (error, MTL_ERROR, MTL_ERROR_OVERFLOW,
               "Its %" G_GUINT64_FORMAT " bytes bring the total above the limit of %"
               G_GUINT64_FORMAT, tensor->n_bytes, max);
  return FALSE;
}

static gboolean
plan_tensors (MtlTensorFilePlan     *self,
              MtlTensorFileBuilder  *builder,
              MtlTensorFileFormat    format,
              GError               **error)
{
  for (gsize i = 0; i < builder->n_tensors; i++)
    {
      MtlPlannedTensor *planned = &self->tensors[i];
      const MtlAddedTensor *tensor = &builder->tensors[i];

      planned->position = i;
      if (!plan_tensor (planned, tensor, format, error)
          || !add_size (self, planned, error))
        return mtl_prefix_tensor_name (error, tensor->name);
    }

  return TRUE;
}

static gboolean
add_file (MtlTensorFilePlan     *self,
          const MtlPlannedFile  *file,
          GError               **error)
{
  if (!mtl_array_reserve ((gpointer *) &self->files, self->n_files, &self->files_capacity,
                          sizeof *file, error))
    return FALSE;

  self->files[self->n_files++] = *file;
  return TRUE;
}

/* Distributes the tensors in the order in which they were added. */
static gboolean
share_out (MtlTensorFilePlan  *self,
           guint64             max_size,
           GError            **error)
{
  MtlPlannedFile file = { .tensors = self->tensors };

  for (gsize i = 0; i < self->n_tensors; i++)
    {
      MtlPlannedTensor *tensor = &self->tensors[i];

      if (file.n_tensors > 0
          && (file.n_bytes > max_size || tensor->n_bytes > max_size - file.n_bytes))
        {
          if (!add_file (self, &file, error))
            return FALSE;
          file = (MtlPlannedFile) { .tensors = tensor };
        }
      file.n_tensors++;
      file.n_bytes += tensor->n_bytes;
    }

  return add_file (self, &file, error);
}

static int
compare_alignments (gconstpointer a,
                    gconstpointer b)
{
  const MtlPlannedTensor *x = a, *y = b;

  if (x->alignment != y->alignment)
    return x->alignment > y->alignment ? -1 : 1;

  return x->position < y->position ? -1 : 1;
}

typedef struct
{
  MtlTensorTable *table;
  GError *error;
} Metadata;

static gboolean
add_metadata (gpointer key,
              gpointer value,
              gpointer user_data)
{
  Metadata *metadata = user_data;

  return !mtl_tensor_table_add_metadata (metadata->table, key, value, &metadata->error);
}

static gboolean
describe_metadata (MtlTensorTable        *table,
                   MtlTensorFileBuilder  *builder,
                   GError               **error)
{
  Metadata metadata = { table, NULL };

  g_tree_foreach (builder->metadata, add_metadata, &metadata);
  if (metadata.error != NULL)
    g_propagate_error (error, metadata.error);
  return metadata.error == NULL;
}

/* Offsets count from the first tensor. */
static gboolean
describe_tensors (MtlTensorTable        *table,
                  const MtlPlannedFile  *file,
                  GError               **error)
{
  guint64 end = 0;

  for (gsize i = 0; i < file->n_tensors; i++)
    {
      const MtlPlannedTensor *tensor = &file->tensors[i];
      MtlTensorEntry entry = {
        .name = tensor->name,
        .shape = mtl_layout_shape (&tensor->view->layout),
        .n_dims = tensor->view->layout.n_dims,
        .dtype = tensor->dtype,
        .order = tensor->order,
        .begin = end,
      };

      entry.end = end += tensor->n_bytes;
      if (!mtl_tensor_table_add (table, &entry, error))
        return FALSE;
    }

  return TRUE;
}

static gsize
choose_alignment (MtlTensorFileBuilder *builder,
                  MtlTensorFileFormat   format,
                  guint64               n_bytes)
{
  if (builder->alignment > 0)
    return builder->alignment;

  /* NumPy refuses headers of more than 10,000 bytes by default. */
  return format == MTL_TENSOR_FILE_FORMAT_SAFETENSORS && n_bytes >= LARGE_DATA
           ? LARGE_ALIGNMENT : SMALL_ALIGNMENT;
}

static gboolean
plan_file (MtlPlannedFile        *file,
           MtlTensorFileBuilder  *builder,
           MtlTensorFileFormat    format,
           GError               **error)
{
  gsize alignment = choose_alignment (builder, format, file->n_bytes);
  g_autoptr (MtlTensorTable) table = mtl_tensor_table_new (format);

  if (builder->order == MTL_TENSOR_FILE_ORDER_ALIGNED && file->n_tensors > 1)
    qsort (file->tensors, file->n_tensors, sizeof (MtlPlannedTensor), compare_alignments);

  if (!describe_metadata (table, builder, error) || !describe_tensors (table, file, error))
    return FALSE;

  if (!(format == MTL_TENSOR_FILE_FORMAT_NPY
          ? mtl_npy_header_write (&table->entries[0], alignment, &file->header, error)
          : mtl_safetensors_header_write (table, alignment, &file->header, error)))
    return FALSE;

  file->n_bytes += file->header.len;
  return TRUE;
}

static gboolean
check_format (MtlTensorFileBuilder  *builder,
              MtlTensorFileFormat    format,
              GError               **error)
{
  if (format == MTL_TENSOR_FILE_FORMAT_SAFETENSORS)
    return TRUE;

  if (format != MTL_TENSOR_FILE_FORMAT_NPY)
    g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                 ".npz files can be read, but not written");
  else if (builder->n_tensors != 1)
    g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                 "A .npy file has one tensor, but %" G_GSIZE_FORMAT " were added: write them to a "
                 ".safetensors file",
                 builder->n_tensors);
  else if (g_tree_nnodes (builder->metadata) > 0)
    g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                 "A .npy file has no metadata, but %d %s set: write a .safetensors file",
                 g_tree_nnodes (builder->metadata),
                 g_tree_nnodes (builder->metadata) == 1 ? "was" : "were");
  else
    return TRUE;

  return FALSE;
}

/* Zeroed, so that the plan can be freed at any time. */
static gboolean
allocate_tensors (MtlTensorFilePlan  *self,
                  gsize               n_tensors,
                  GError            **error)
{
  self->tensors = g_try_new0 (MtlPlannedTensor, MAX (n_tensors, 1));
  if (self->tensors == NULL)
    return mtl_set_no_memory (n_tensors * sizeof (MtlPlannedTensor), error);

  self->n_tensors = n_tensors;
  return TRUE;
}

MtlTensorFilePlan *
mtl_tensor_file_plan_new (MtlTensorFileBuilder  *builder,
                          MtlTensorFileFormat    format,
                          guint64                max_size,
                          GError               **error)
{
  g_autoptr (MtlTensorFilePlan) self = g_new0 (MtlTensorFilePlan, 1);

  if (!check_format (builder, format, error)
      || !allocate_tensors (self, builder->n_tensors, error)
      || !plan_tensors (self, builder, format, error) || !share_out (self, max_size, error))
    return NULL;

  for (gsize i = 0; i < self->n_files; i++)
    {
      if (!plan_file (&self->files[i], builder, format, error))
        return NULL;
      self->n_bytes += self->files[i].n_bytes;
    }

  return g_steal_pointer (&self);
}

void
mtl_tensor_file_plan_free (MtlTensorFilePlan *self)
{
  for (gsize i = 0; i < self->n_tensors; i++)
    g_clear_object (&self->tensors[i].view);
  for (gsize i = 0; i < self->n_files; i++)
    mtl_text_clear (&self->files[i].header);
  g_free (self->tensors);
  g_free (self->files);
  g_free (self);
}

gboolean
mtl_tensor_file_plan_write_index (const MtlTensorFilePlan  *self,
                                  const char *const        *names,
                                  MtlText                  *text,
                                  GError                  **error)
{
  g_autoptr (MtlTensorTable) table = mtl_tensor_table_new (MTL_TENSOR_FILE_FORMAT_SAFETENSORS);

  for (gsize i = 0; i < self->n_files; i++)
    {
      const MtlPlannedFile *file = &self->files[i];

      if (!mtl_tensor_table_add_file (table, names[i], error))
        return FALSE;

      for (gsize j = 0; j < file->n_tensors; j++)
        {
          MtlTensorEntry entry = { .name = file->tensors[j].name, .file = i };

          if (!mtl_tensor_table_add (table, &entry, error))
            return FALSE;
        }
    }

  return mtl_safetensors_index_write (table, self->n_tensor_bytes, text, error);
}

/* Writes the elements of views to a file, piece by piece. */

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
  g_auto (MtlPlacedElements) elements = { .layout = NULL };
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

  return mtl_placed_elements_init_read (&elements, from, error)
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

  if (!mtl_memory_begin_access (view->memory, error))
    return FALSE;

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
