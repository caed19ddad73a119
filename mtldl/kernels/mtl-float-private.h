/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The meaning of the bit above the exponent. */
typedef enum
{
  MTL_FLOAT_SIGNED,
  MTL_FLOAT_WITHOUT_NEGATIVE_ZERO, /* the pattern of -0 is NaN */
  MTL_FLOAT_WITHOUT_SIGN,          /* also has no 0: only powers of two */
} MtlFloatSign;

/* A binary float of 16 bits or fewer: sign, exponent and mantissa, with subnormal
 * numbers at exponent 0. The patterns are those of positive numbers. */
typedef struct
{
  guint8 exponent_bits;
  guint8 mantissa_bits;
  gint16 bias;
  MtlFloatSign sign;
  guint16 largest;  /* the largest finite number */
  guint16 too_large; /* the pattern of larger numbers: infinity, NaN or the largest */
  guint16 nan;       /* the pattern of NaN; -0 if the type has none */
} MtlFloatKind;

#define MTL_FLOAT_FLOAT16 { 5, 10, 15, MTL_FLOAT_SIGNED, 0x7bff, 0x7c00, 0x7e00 }
#define MTL_FLOAT_BFLOAT16 { 8, 7, 127, MTL_FLOAT_SIGNED, 0x7f7f, 0x7f80, 0x7fc0 }
#define MTL_FLOAT_E3M4 { 3, 4, 3, MTL_FLOAT_SIGNED, 0x6f, 0x70, 0x78 }
#define MTL_FLOAT_E4M3 { 4, 3, 7, MTL_FLOAT_SIGNED, 0x77, 0x78, 0x7c }
#define MTL_FLOAT_E4M3B11FNUZ { 4, 3, 11, MTL_FLOAT_WITHOUT_NEGATIVE_ZERO, 0x7f, 0x80, 0x80 }
#define MTL_FLOAT_E4M3FN { 4, 3, 7, MTL_FLOAT_SIGNED, 0x7e, 0x7f, 0x7f }
#define MTL_FLOAT_E4M3FNUZ { 4, 3, 8, MTL_FLOAT_WITHOUT_NEGATIVE_ZERO, 0x7f, 0x80, 0x80 }
#define MTL_FLOAT_E5M2 { 5, 2, 15, MTL_FLOAT_SIGNED, 0x7b, 0x7c, 0x7e }
#define MTL_FLOAT_E5M2FNUZ { 5, 2, 16, MTL_FLOAT_WITHOUT_NEGATIVE_ZERO, 0x7f, 0x80, 0x80 }
#define MTL_FLOAT_E8M0FNU { 8, 0, 127, MTL_FLOAT_WITHOUT_SIGN, 0xfe, 0xff, 0xff }
#define MTL_FLOAT_E2M3FN { 2, 3, 1, MTL_FLOAT_SIGNED, 0x1f, 0x1f, 0x20 }
#define MTL_FLOAT_E3M2FN { 3, 2, 3, MTL_FLOAT_SIGNED, 0x1f, 0x1f, 0x20 }
#define MTL_FLOAT_E2M1FN { 2, 1, 1, MTL_FLOAT_SIGNED, 0x07, 0x07, 0x08 }

/* Indexed by DLPack's type code, for types that mtl_float_has_kind() accepts. */
extern const MtlFloatKind mtl_float_kinds[];

gboolean mtl_float_has_kind (guint               code,
                             guint               bits);
guint    mtl_float_encode   (const MtlFloatKind *self,
                             double              value);
double   mtl_float_decode   (const MtlFloatKind *self,
                             guint               pattern);

G_END_DECLS
