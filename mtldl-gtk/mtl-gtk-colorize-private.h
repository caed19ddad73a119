/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-gtk-colorize.h"

G_BEGIN_DECLS

gboolean mtl_gtk_check_color_map (MtlGtkColorMap   color_map,
                                  GError         **error);

G_END_DECLS
