/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#if !defined (MTLDL_GTK_INSIDE) && !defined (MTLDL_GTK_COMPILATION)
#error "Only <mtldl-gtk/mtldl-gtk.h> can be included directly."
#endif

#include <cairo.h>
#include <gtk/gtk.h>
#include <mtldl/mtldl.h>

G_BEGIN_DECLS

MTL_AVAILABLE_IN_1_0
MtlStridedView  *mtl_gtk_view_from_surface (cairo_surface_t  *surface,
                                            GError          **error) G_GNUC_WARN_UNUSED_RESULT;

MTL_AVAILABLE_IN_1_0
gboolean         mtl_gtk_check_surface     (MtlStridedView   *view,
                                            cairo_format_t    format,
                                            GError          **error);
MTL_AVAILABLE_IN_1_0
cairo_surface_t *mtl_gtk_surface_from_view (MtlStridedView   *view,
                                            cairo_format_t    format,
                                            GError          **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
