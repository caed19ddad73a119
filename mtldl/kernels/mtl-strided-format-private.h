/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-strided-copy-private.h"

G_BEGIN_DECLS

/* Returns NULL if there is not enough memory for the text. */
char *mtl_strided_format  (const MtlStrided *self,
                           gsize             max_items);

/* Formats one finite value. The part is its real type. See mtl-float-format.c. */
char *mtl_format_float    (double            value,
                           MtlDType          part,
                           gboolean          exponential,
                           int               most_decimals);
char *mtl_format_decimals (double            value,
                           int               decimals,
                           const char       *conversion);

/* NumPy's own floats are not among them. ml_dtypes prints the others, with six digits. */
gboolean mtl_is_of_ml_dtypes (MtlDType       part);

G_END_DECLS
