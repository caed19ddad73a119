/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-allocated-size.h"

G_BEGIN_DECLS

/* Any thread may call these. */
void mtl_allocated_size_add      (gsize size);
void mtl_allocated_size_subtract (gsize size);

G_END_DECLS
