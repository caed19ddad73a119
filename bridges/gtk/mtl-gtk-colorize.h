/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#if !defined (MTLDL_GTK_INSIDE) && !defined (MTLDL_GTK_COMPILATION)
#error "Only <mtldl-gtk/mtldl-gtk.h> can be included directly."
#endif

#include "mtl-gtk-enums.h"

G_BEGIN_DECLS

MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_gtk_colorize                    (MtlStridedView       *view,
                                                     MtlGtkColorMap        color_map,
                                                     double                low,
                                                     double                high,
                                                     GCancellable         *cancellable,
                                                     GError              **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
void            mtl_gtk_colorize_async              (MtlStridedView       *view,
                                                     MtlGtkColorMap        color_map,
                                                     double                low,
                                                     double                high,
                                                     GCancellable         *cancellable,
                                                     GAsyncReadyCallback   callback,
                                                     gpointer              user_data);
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_gtk_colorize_finish             (GAsyncResult         *result,
                                                     GError              **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_gtk_colorize_with_colors        (MtlStridedView       *view,
                                                     MtlStridedView       *colors,
                                                     double                low,
                                                     double                high,
                                                     GCancellable         *cancellable,
                                                     GError              **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
void            mtl_gtk_colorize_with_colors_async  (MtlStridedView       *view,
                                                     MtlStridedView       *colors,
                                                     double                low,
                                                     double                high,
                                                     GCancellable         *cancellable,
                                                     GAsyncReadyCallback   callback,
                                                     gpointer              user_data);
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_gtk_colorize_with_colors_finish (GAsyncResult         *result,
                                                     GError              **error)
  G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
