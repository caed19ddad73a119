/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#if !defined (MTLDL_GTK_INSIDE) && !defined (MTLDL_GTK_COMPILATION)
#error "Only <mtldl-gtk/mtldl-gtk.h> can be included directly."
#endif

#include "mtl-gtk-texture.h"

G_BEGIN_DECLS

#define MTL_GTK_TYPE_VIEW_PAINTABLE (mtl_gtk_view_paintable_get_type ())

MTL_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (MtlGtkViewPaintable, mtl_gtk_view_paintable, MTL_GTK, VIEW_PAINTABLE,
                      GObject)

MTL_AVAILABLE_IN_1_0
MtlGtkViewPaintable *mtl_gtk_view_paintable_new             (void) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
gboolean             mtl_gtk_view_paintable_set_view        (MtlGtkViewPaintable  *self,
                                                             MtlStridedView       *view,
                                                             MtlGtkChannels        channels,
                                                             MtlGtkTextureFlags    flags,
                                                             GError              **error);
MTL_AVAILABLE_IN_1_0
MtlStridedView      *mtl_gtk_view_paintable_get_view        (MtlGtkViewPaintable  *self);
MTL_AVAILABLE_IN_1_0
gboolean             mtl_gtk_view_paintable_set_color_map   (MtlGtkViewPaintable  *self,
                                                             MtlGtkColorMap        color_map,
                                                             double                low,
                                                             double                high,
                                                             GError              **error);
MTL_AVAILABLE_IN_1_0
gboolean             mtl_gtk_view_paintable_set_colors      (MtlGtkViewPaintable  *self,
                                                             MtlStridedView       *colors,
                                                             double                low,
                                                             double                high,
                                                             GError              **error);
MTL_AVAILABLE_IN_1_0
gboolean             mtl_gtk_view_paintable_invalidate      (MtlGtkViewPaintable  *self,
                                                             const GdkRectangle   *rectangle,
                                                             GError              **error);
MTL_AVAILABLE_IN_1_0
GdkTexture          *mtl_gtk_view_paintable_get_texture     (MtlGtkViewPaintable  *self);

G_END_DECLS
