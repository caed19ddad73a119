/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#if !defined (MTLDL_GTK_INSIDE) && !defined (MTLDL_GTK_COMPILATION)
#error "Only <mtldl-gtk/mtldl-gtk.h> can be included directly."
#endif

#include <gtk/gtk.h>

#include "mtl-gtk-enums.h"

G_BEGIN_DECLS

MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_gtk_view_from_dmabuf    (int                  fd,
                                             gsize                offset,
                                             MtlStridedLayout    *layout,
                                             MtlDType             dtype,
                                             MtlBufferFlags       flags,
                                             GError             **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
GdkTexture     *mtl_gtk_texture_from_dmabuf (GdkDisplay          *display,
                                             int                  fd,
                                             gsize                offset,
                                             MtlStridedLayout    *layout,
                                             guint32              fourcc,
                                             MtlGtkTextureFlags   flags,
                                             GError             **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
