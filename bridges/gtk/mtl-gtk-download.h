/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#if !defined (MTLDL_GTK_INSIDE) && !defined (MTLDL_GTK_COMPILATION)
#error "Only <mtldl-gtk/mtldl-gtk.h> can be included directly."
#endif

#include <gtk/gtk.h>

#include "mtl-gtk-enums.h"

G_BEGIN_DECLS

MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_gtk_download_texture        (GdkTexture           *texture,
                                                 MtlDType              dtype,
                                                 MtlGtkChannels        channels,
                                                 MtlGtkTextureFlags    flags,
                                                 GCancellable         *cancellable,
                                                 GError              **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
void            mtl_gtk_download_texture_async  (GdkTexture           *texture,
                                                 MtlDType              dtype,
                                                 MtlGtkChannels        channels,
                                                 MtlGtkTextureFlags    flags,
                                                 GCancellable         *cancellable,
                                                 GAsyncReadyCallback   callback,
                                                 gpointer              user_data);
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_gtk_download_texture_finish (GAsyncResult         *result,
                                                 GError              **error)
  G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
