/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-gtk-memory-format-private.h"
#include "mtl-gtk-texture.h"

G_BEGIN_DECLS

/* The pixels as [height, width, channels] of a texture made from a view, or NULL. */
MtlStridedView *mtl_gtk_texture_dup_pixels  (GdkTexture          *texture,
                                             MtlGtkPixel         *pixel);

/* Fails if the host cannot access the elements, or these are vectors. */
gboolean        mtl_gtk_check_is_reachable  (MtlStridedView      *view,
                                             GError             **error);

/* Fails if there are no rows or pixels, or too many for GTK. */
gboolean        mtl_gtk_check_extents       (const gint64        *shape,
                                             GError             **error);

gboolean        mtl_gtk_pixel_init_for_view (MtlGtkPixel         *pixel,
                                             MtlStridedView      *view,
                                             MtlGtkChannels       channels,
                                             MtlGtkTextureFlags   flags,
                                             GError             **error);

/* Makes a view of [height, width] one of [height, width, channels]. */
MtlStridedView *mtl_gtk_with_channel_axis   (MtlStridedView      *view);

G_END_DECLS
