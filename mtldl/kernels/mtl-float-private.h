/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What the bit above the exponent says. */
typedef enum
{
  MTL_FLOAT_SIGNED,
  MTL_FLOAT_WITHOUT_NEGATIVE_ZERO, /* whose pattern is that of NaN */
  MTL_FLOAT_WITHOUT_SIGN,          /* and without 0: powers of two alone */
} MtlFloatSign;

/* A binary float of 16 bits or fewer: sign, exponent, mantissa, with subnormal
 * numbers at exponent 0. The patterns are those of positive numbers. */
typedef struct
{
  guint8 exponent_bits;
  guint8 mantissa_bits;
  gint16 bias;
  MtlFloatSign sign;
  guint16 largest;  /* of the finite ones */
  guint16 too_large; /* what numbers beyond become: infinity, NaN or the largest */
  guint16 nan;       /* what NaN becomes: -0 where the type has none */
} MtlFloatKind;

/* By DLPack's type code, for those that mtl_float_has_kind() has. */
extern const MtlFloatKind mtl_float_kinds[];

gboolean mtl_float_has_kind (guint               code,
                             guint               bits);
guint    mtl_float_encode   (const MtlFloatKind *self,
                             double              value);
double   mtl_float_decode   (const MtlFloatKind *self,
                             guint               pattern);

G_END_DECLS
