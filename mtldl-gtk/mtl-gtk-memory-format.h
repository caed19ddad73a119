/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#if !defined (MTLDL_GTK_INSIDE) && !defined (MTLDL_GTK_COMPILATION)
#error "Only <mtldl-gtk/mtldl-gtk.h> can be included directly."
#endif

#include <gtk/gtk.h>

#include "mtl-gtk-enums.h"

G_BEGIN_DECLS

MTL_AVAILABLE_IN_1_0
gboolean mtl_gtk_memory_format_from_channels (MtlDType          dtype,
                                              MtlGtkChannels    channels,
                                              gboolean          premultiplied,
                                              GdkMemoryFormat  *format,
                                              GError          **error);
MTL_AVAILABLE_IN_1_0
gboolean mtl_gtk_memory_format_to_channels   (GdkMemoryFormat   format,
                                              MtlDType         *dtype,
                                              MtlGtkChannels   *channels,
                                              gboolean         *premultiplied,
                                              GError          **error);

G_END_DECLS
