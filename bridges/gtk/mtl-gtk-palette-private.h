/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-gtk-enums.h"

G_BEGIN_DECLS

/* Colors from that of the lowest number to that of the highest, with an opacity if there are
 * 4 channels. Without colors, numbers are gray levels. */
typedef struct
{
  guint8 colors[256][4];
  int n_colors;
  int n_channels;
} MtlGtkPalette;

gboolean mtl_gtk_palette_init_for_color_map (MtlGtkPalette   *palette,
                                             MtlGtkColorMap   color_map,
                                             GError         **error);
gboolean mtl_gtk_palette_init_for_view      (MtlGtkPalette   *palette,
                                             MtlStridedView  *colors,
                                             GError         **error);

G_END_DECLS
