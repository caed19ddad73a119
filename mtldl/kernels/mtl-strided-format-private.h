/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-strided-copy-private.h"

G_BEGIN_DECLS

char *mtl_strided_format (const MtlStrided *self,
                          gsize             max_items);

G_END_DECLS
