/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-gtk-memory-format-private.h"
#include "mtl-gtk-texture.h"

G_BEGIN_DECLS

/* The pixels as [height, width, channels] of a texture made from a view, or NULL. */
MtlStridedView *mtl_gtk_texture_dup_pixels (GdkTexture       *texture,
                                            MtlGtkPixel      *pixel);

/* Neither of the views is host memory that cannot be reached, or a vector. */
gboolean        mtl_gtk_check_is_reachable (MtlStridedView   *view,
                                            GError          **error);

G_END_DECLS
