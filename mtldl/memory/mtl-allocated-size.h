/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#if !defined (MTLDL_INSIDE) && !defined (MTLDL_COMPILATION)
#error "Only <mtldl/mtldl.h> can be included directly."
#endif

#include <glib.h>

#include "mtl-version-macros.h"

G_BEGIN_DECLS

MTL_AVAILABLE_IN_1_0
gsize mtl_get_allocated_size (void);

G_END_DECLS
