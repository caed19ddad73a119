/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-host-elements-private.h"

#include "mtl-error.h"

/* Elements of so many bits begin on a whole byte each so many elements. */
static guint
elements_per_byte_boundary (guint bits)
{
  guint n = 8;

  while (bits % 2 == 0 && n > 1)
    {
      bits /= 2;
      n /= 2;
    }

  return n;
}

/* A copy has the view's layout, less the elements before it. */
static gboolean
init_copy (MtlHostElements  *self,
           gboolean          writes_all,
           GError          **error)
{
  const MtlLayout *layout = &self->view->layout;
  guint n = elements_per_byte_boundary (layout->item_bits);
  gint64 n_bytes = n * layout->item_bits / 8;
  gint64 first, end, packed_size, n_skipped;

  if (!mtl_layout_get_byte_bounds (layout, &first, &end, error))
    return FALSE;

  n_skipped = first / n_bytes - (first % n_bytes < 0);
  first = n_skipped * n_bytes;
  self->offset = self->view->byte_offset + first;
  self->size = end - first;
  writes_all = writes_all && mtl_layout_get_packed_size (layout, &packed_size)
               && (gsize) packed_size == self->size;

  self->memory = mtl_buffer_new_for_memory (mtl_memory_ref (self->view->memory));
  self->copy = mtl_buffer_new_uninitialized (mtl_device_get_host (), self->size,
                                             MTL_STORAGE_MODE_HOST, error);
  if (self->copy == NULL
      || (!writes_all && !mtl_buffer_copy (self->copy, 0, self->memory, self->offset, self->size,
                                           NULL, error)))
    return FALSE;

  mtl_layout_copy (layout, &self->layout);
  self->layout.offset -= n_skipped * n;
  self->strided = (MtlStrided) {
    .type = self->view->type,
    .layout = &self->layout,
    .data = mtl_buffer_get_contents (self->copy),
  };
  return TRUE;
}

static gboolean
init (MtlHostElements  *self,
      MtlStridedView   *view,
      gboolean          writes_all,
      GError          **error)
{
  *self = (MtlHostElements) { .view = view, .layout = MTL_LAYOUT_INIT };
  if (!mtl_memory_is_host_accessible (view->memory) && !mtl_layout_is_empty (&view->layout))
    {
      if (init_copy (self, writes_all, error))
        return TRUE;

      mtl_host_elements_clear (self);
      return FALSE;
    }

  self->strided = mtl_strided_view_get_strided (view);
  return TRUE;
}

/* Fails with NOT_HOST_ACCESSIBLE where nothing here reaches the elements. */
gboolean
mtl_host_elements_init_read (MtlHostElements  *self,
                             MtlStridedView   *view,
                             GError          **error)
{
  return init (self, view, FALSE, error);
}

/* For writing all elements: what is in a copy before is arbitrary, but for the
 * bytes between the elements, which are written back as they were. */
gboolean
mtl_host_elements_init_write (MtlHostElements  *self,
                              MtlStridedView   *view,
                              GError          **error)
{
  return init (self, view, TRUE, error);
}

gboolean
mtl_host_elements_write_back (MtlHostElements  *self,
                              GError          **error)
{
  gint64 first, end;

  if (self->copy != NULL)
    return mtl_buffer_copy (self->memory, self->offset, self->copy, 0, self->size, NULL, error);

  if (self->view->memory->storage_mode != MTL_STORAGE_MODE_MANAGED)
    return TRUE;

  if (!mtl_layout_get_byte_bounds (&self->view->layout, &first, &end, error))
    return FALSE;

  mtl_memory_did_modify (self->view->memory, self->view->byte_offset + first, end - first);
  return TRUE;
}

void
mtl_host_elements_clear (MtlHostElements *self)
{
  g_clear_object (&self->copy);
  g_clear_object (&self->memory);
  mtl_layout_clear (&self->layout);
}
