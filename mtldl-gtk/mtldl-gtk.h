/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#define MTLDL_GTK_INSIDE

#include "mtl-gtk-surface.h"

#undef MTLDL_GTK_INSIDE
