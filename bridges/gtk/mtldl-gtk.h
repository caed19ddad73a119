/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#define MTLDL_GTK_INSIDE

#include "mtl-gtk-colorize.h"
#ifdef __linux__
#include "mtl-gtk-dmabuf.h"
#endif
#include "mtl-gtk-download.h"
#include "mtl-gtk-enums.h"
#include "mtl-gtk-enum-types.h"
#include "mtl-gtk-memory-format.h"
#include "mtl-gtk-surface.h"
#include "mtl-gtk-texture.h"
#include "mtl-gtk-view-paintable.h"

#undef MTLDL_GTK_INSIDE
