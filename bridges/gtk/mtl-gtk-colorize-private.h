/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-gtk-colorize.h"
#include "mtl-gtk-palette-private.h"

G_BEGIN_DECLS

MtlStridedView *mtl_gtk_palette_colorize (const MtlGtkPalette  *palette,
                                          MtlStridedView       *view,
                                          double                low,
                                          double                high,
                                          GCancellable         *cancellable,
                                          GError              **error);

G_END_DECLS
