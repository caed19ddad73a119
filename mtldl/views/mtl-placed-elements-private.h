/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-strided-view-private.h"

G_BEGIN_DECLS

/* The elements of a view where the host reaches them, in place or in a copy of the bytes that they
 * touch; or in place, where a device reaches them. Set to zeros before one of the init functions is
 * called. */
typedef struct
{
  MtlStrided strided;
  MtlStridedView *view;
  MtlLayout *layout;  /* NULL if it is the layout of the view */
  MtlMemory *copy;    /* NULL if the elements are in place */
  MtlDevice *updated; /* locked against writes between the elements, or NULL */
  gsize offset;       /* the offset of the copied bytes in the memory */
  gsize size;
} MtlPlacedElements;

/* Checks if a device that works on elements reaches those of the view. */
gboolean mtl_placed_elements_are_reached_by (MtlStridedView     *view,
                                             MtlDevice          *engine);

/* The address is the device's, which must reach the memory. The host must not use it. */
void     mtl_placed_elements_init_on_device (MtlPlacedElements  *self,
                                             MtlStridedView     *view);
gboolean mtl_placed_elements_init_copy      (MtlPlacedElements  *self,
                                             gboolean            for_writing,
                                             GError            **error);
gboolean mtl_placed_elements_spread_lanes   (MtlPlacedElements  *self,
                                             GError            **error);
gboolean mtl_placed_elements_broadcast_to   (MtlPlacedElements  *self,
                                             const MtlLayout    *other,
                                             GError            **error);
gboolean mtl_placed_elements_write_back     (MtlPlacedElements  *self,
                                             GError            **error);
void     mtl_placed_elements_release        (MtlPlacedElements  *self);

static inline gboolean
mtl_placed_elements_init (MtlPlacedElements  *self,
                          MtlStridedView     *view,
                          gboolean            for_writing,
                          GError            **error)
{
  self->view = view;
  if (!mtl_memory_is_host_accessible (view->memory) && !mtl_layout_is_empty (&view->layout))
    return mtl_placed_elements_init_copy (self, for_writing, error);

  self->strided = mtl_strided_view_get_strided (view);
  return mtl_memory_begin_access (view->memory, error);
}

/* Fails with NOT_HOST_ACCESSIBLE if neither host nor device can read the
 * elements. */
static inline gboolean
mtl_placed_elements_init_read (MtlPlacedElements  *self,
                               MtlStridedView     *view,
                               GError            **error)
{
  return mtl_placed_elements_init (self, view, FALSE, error);
}

/* Prepares for writing all elements. A copy has undefined contents at first, except for
 * the bytes between the elements, which are written back unchanged. */
static inline gboolean
mtl_placed_elements_init_write (MtlPlacedElements  *self,
                                MtlStridedView     *view,
                                GError            **error)
{
  return mtl_placed_elements_init (self, view, TRUE, error);
}

static inline void
mtl_placed_elements_clear (MtlPlacedElements *self)
{
  if (self->copy != NULL || self->updated != NULL || self->layout != NULL)
    mtl_placed_elements_release (self);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (MtlPlacedElements, mtl_placed_elements_clear)

G_END_DECLS
