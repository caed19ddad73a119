/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-strided-view-private.h"

G_BEGIN_DECLS

/* The elements of a view where the host reaches them: in place, or in a copy
 * of the bytes that they touch. */
typedef struct
{
  MtlStrided strided;
  MtlStridedView *view;
  MtlLayout layout;   /* of the lanes, where they are an axis */
  MtlBuffer *memory;  /* the view's, which the copy is of */
  MtlBuffer *copy;    /* NULL where the elements are in place */
  MtlDevice *updated; /* so that no other thread writes between the elements */
  gsize offset;       /* of the bytes that were copied */
  gsize size;
} MtlHostElements;

gboolean mtl_host_elements_init_read  (MtlHostElements  *self,
                                       MtlStridedView   *view,
                                       GError          **error);
gboolean mtl_host_elements_init_write (MtlHostElements  *self,
                                       MtlStridedView   *view,
                                       GError          **error);
gboolean mtl_host_elements_spread_lanes (MtlHostElements  *self,
                                         GError          **error);
gboolean mtl_host_elements_write_back (MtlHostElements  *self,
                                       GError          **error);
void     mtl_host_elements_clear      (MtlHostElements  *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (MtlHostElements, mtl_host_elements_clear)

G_END_DECLS
