/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-placed-elements-private.h"

#include "mtl-device-private.h"

gboolean
mtl_placed_elements_are_reached_by (MtlStridedView *view,
                                    MtlDevice      *engine)
{
  MtlDevice *device = mtl_memory_get_device (view->memory);

  return device == engine
         || (MTL_DEVICE_GET_CLASS (device) == MTL_DEVICE_GET_CLASS (engine)
             && view->memory->storage_mode != MTL_STORAGE_MODE_FOREIGN
             && MTL_DEVICE_GET_CLASS (engine)->reaches_memory_of (engine, device,
                                                                  view->memory->storage_mode));
}

void
mtl_placed_elements_init_on_device (MtlPlacedElements *self,
                                    MtlStridedView    *view)
{
  self->view = view;
  self->strided = (MtlStrided) {
    .type = view->type,
    .layout = &view->layout,
    .data = (guint8 *) (guintptr) (mtl_memory_get_address (view->memory) + view->byte_offset),
  };
}

/* Copies the bytes from the first element to the last. Element offset 0 may lie
 * outside the copy, as it may lie outside the memory of the view. */
gboolean
mtl_placed_elements_init_copy (MtlPlacedElements  *self,
                               gboolean            for_writing,
                               GError            **error)
{
  const MtlLayout *layout = &self->view->layout;
  gint64 first, end, packed_size;
  gboolean has_gaps, updates;

  if (!mtl_layout_get_byte_bounds (layout, &first, &end, error))
    return FALSE;

  self->offset = self->view->byte_offset + first;
  self->size = end - first;
  has_gaps = !mtl_layout_get_packed_size (layout, &packed_size)
             || (gsize) packed_size != self->size;
  updates = for_writing && has_gaps;

  if (updates)
    {
      self->updated = mtl_memory_get_device (self->view->memory);
      mtl_device_begin_update (self->updated);
    }

  /* Writing an element smaller than a byte reads its neighbors first, so they
   * must be initialized. */
  self->copy = mtl_memory_new (mtl_device_get_host (), self->size, MTL_STORAGE_MODE_HOST,
                               layout->item_bits % 8 != 0, error);
  if (self->copy == NULL
      || ((!for_writing || has_gaps)
          && !mtl_memory_copy (self->copy, 0, self->view->memory, self->offset, self->size, NULL,
                               error)))
    return FALSE;

  self->strided = (MtlStrided) {
    .type = self->view->type,
    .layout = layout,
    .data = (guint8 *) ((guintptr) self->copy->contents - first),
  };
  return TRUE;
}

static void
take_layout (MtlPlacedElements *self,
             const MtlLayout   *layout)
{
  MtlLayout *own = g_new (MtlLayout, 1);

  *own = *layout;
  if (self->layout != NULL)
    mtl_layout_clear (self->layout);
  g_free (self->layout);
  self->layout = own;
  self->strided.layout = own;
}

/* Turns the lanes of vectors into one more axis, the last, so that each element
 * is one number. The result may have one axis more than other layouts. */
gboolean
mtl_placed_elements_spread_lanes (MtlPlacedElements  *self,
                                  GError            **error)
{
  MtlLayout spread;

  if (self->strided.type.lanes == 1)
    return TRUE;

  if (!mtl_layout_spread_lanes (self->strided.layout, self->strided.type.lanes, &spread, error))
    return FALSE;

  take_layout (self, &spread);
  self->strided.type.lanes = 1;
  return TRUE;
}

gboolean
mtl_placed_elements_broadcast_to (MtlPlacedElements  *self,
                                  const MtlLayout    *other,
                                  GError            **error)
{
  MtlLayout broadcast;

  if (!mtl_layout_broadcast_to (self->strided.layout, mtl_layout_shape (other), other->n_dims,
                                &broadcast, error))
    return FALSE;

  take_layout (self, &broadcast);
  return TRUE;
}

/* Reports only the elements: the device may have written between them. */
static gboolean
report_row (const MtlStridedRow *row,
            const MtlStridedRow *same,
            gint64               n,
            gpointer             user_data)
{
  MtlPlacedElements *self = user_data;
  guint item_bits = self->strided.layout->item_bits;
  MtlMemory *memory = self->view->memory;
  gboolean is_packed = row->stride == item_bits;

  for (gint64 i = 0; i < (is_packed ? 1 : n); i++)
    {
      guint bit;
      const guint8 *data = mtl_strided_row_locate (row, i, &bit);

      mtl_memory_did_modify (memory, data - memory->contents,
                             (bit + (is_packed ? n : 1) * item_bits + 7) / 8);
    }

  return TRUE;
}

static gboolean
report (MtlPlacedElements  *self,
        GError            **error)
{
  const MtlLayout *layout = self->strided.layout;
  gint64 first, end;

  if (!mtl_layout_get_byte_bounds (layout, &first, &end, error))
    return FALSE;

  if (mtl_layout_is_contiguous (layout, MTL_ORDER_C))
    mtl_memory_did_modify (self->view->memory, self->view->byte_offset + first, end - first);
  else
    mtl_strided_for_each_row (&self->strided, &self->strided, report_row, self);

  return TRUE;
}

gboolean
mtl_placed_elements_write_back (MtlPlacedElements  *self,
                                GError            **error)
{
  if (self->copy != NULL)
    return mtl_memory_copy (self->view->memory, self->offset, self->copy, 0, self->size, NULL,
                            error);

  return self->view->memory->storage_mode != MTL_STORAGE_MODE_MANAGED || report (self, error);
}

void
mtl_placed_elements_release (MtlPlacedElements *self)
{
  if (self->updated != NULL)
    mtl_device_end_update (self->updated);
  self->updated = NULL;
  g_clear_pointer (&self->copy, mtl_memory_unref);
  if (self->layout != NULL)
    mtl_layout_clear (self->layout);
  g_clear_pointer (&self->layout, g_free);
}
