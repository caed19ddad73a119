/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#if !defined (MTLDL_GTK_INSIDE) && !defined (MTLDL_GTK_COMPILATION)
#error "Only <mtldl-gtk/mtldl-gtk.h> can be included directly."
#endif

#include <gtk/gtk.h>

#include "mtl-gtk-enums.h"

G_BEGIN_DECLS

MTL_AVAILABLE_IN_1_0
gboolean mtl_gtk_memory_format_from_pixel (MtlDType             dtype,
                                           MtlGtkChannels       channels,
                                           MtlGtkTextureFlags   flags,
                                           GdkMemoryFormat     *format,
                                           GError             **error);
MTL_AVAILABLE_IN_1_0
gboolean mtl_gtk_pixel_from_memory_format (GdkMemoryFormat      format,
                                           MtlDType            *dtype,
                                           MtlGtkChannels      *channels,
                                           MtlGtkTextureFlags  *flags,
                                           GError             **error);

G_END_DECLS
