/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#if !defined (MTLDL_GTK_INSIDE) && !defined (MTLDL_GTK_COMPILATION)
#error "Only <mtldl-gtk/mtldl-gtk.h> can be included directly."
#endif

#include <gtk/gtk.h>

#include "mtl-gtk-enums.h"

G_BEGIN_DECLS

MTL_AVAILABLE_IN_1_0
GdkTexture     *mtl_gtk_texture_from_view (MtlStridedView      *view,
                                           MtlGtkChannels       channels,
                                           MtlGtkTextureFlags   flags,
                                           GError             **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_gtk_view_from_texture (GdkTexture          *texture,
                                           GError             **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_gtk_view_from_texture_plane (GdkTexture  *texture,
                                                 guint        plane,
                                                 GError     **error)
  G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
