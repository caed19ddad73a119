/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-float-private.h"

#include <math.h>
#include <string.h>

const MtlFloatKind mtl_float_kinds[] = {
  [2] = MTL_FLOAT_FLOAT16,
  [4] = MTL_FLOAT_BFLOAT16,
  [7] = MTL_FLOAT_E3M4,
  [8] = MTL_FLOAT_E4M3,
  [9] = MTL_FLOAT_E4M3B11FNUZ,
  [10] = MTL_FLOAT_E4M3FN,
  [11] = MTL_FLOAT_E4M3FNUZ,
  [12] = MTL_FLOAT_E5M2,
  [13] = MTL_FLOAT_E5M2FNUZ,
  [14] = MTL_FLOAT_E8M0FNU,
  [15] = MTL_FLOAT_E2M3FN,
  [16] = MTL_FLOAT_E3M2FN,
  [17] = MTL_FLOAT_E2M1FN,
};

static guint
get_sign_bit (const MtlFloatKind *self)
{
  return self->sign == MTL_FLOAT_WITHOUT_SIGN
           ? 0 : 1u << (self->exponent_bits + self->mantissa_bits);
}

gboolean
mtl_float_has_kind (guint code,
                    guint bits)
{
  const MtlFloatKind *kind;

  if (code >= G_N_ELEMENTS (mtl_float_kinds) || mtl_float_kinds[code].exponent_bits == 0)
    return FALSE;

  kind = &mtl_float_kinds[code];
  return bits == kind->exponent_bits + kind->mantissa_bits
                 + (kind->sign != MTL_FLOAT_WITHOUT_SIGN ? 1u : 0u);
}

/* The nearest pattern, ties to even, as if the exponent were unlimited. The exponent
 * has its encoded value, and the mantissa has 53 bits. */
static guint64
round_magnitude (const MtlFloatKind *self,
                 int                 exponent,
                 guint64             mantissa)
{
  int lowest = self->sign == MTL_FLOAT_WITHOUT_SIGN ? 0 : 1;
  guint64 quotient, rest, half;
  int shift;

  if (self->sign == MTL_FLOAT_WITHOUT_SIGN && exponent < lowest)
    return 0; /* the smallest, since there is no 0 */

  shift = 52 - self->mantissa_bits + MAX (lowest - exponent, 0);
  if (shift > 54)
    return 0;

  quotient = mantissa >> shift;
  rest = mantissa & ((G_GUINT64_CONSTANT (1) << shift) - 1);
  half = G_GUINT64_CONSTANT (1) << (shift - 1);
  if (rest > half || (rest == half && (quotient & 1) != 0))
    quotient++;

  /* A carry from the mantissa increments the exponent. */
  return quotient + (((gint64) MAX (exponent, lowest) - 1) * (1 << self->mantissa_bits));
}

static guint
apply_sign (const MtlFloatKind *self,
            guint               pattern,
            gboolean            negative)
{
  guint sign_bit = get_sign_bit (self);

  if (!negative)
    return pattern;
  if (self->sign == MTL_FLOAT_SIGNED)
    return pattern ^ sign_bit;
  if (self->sign == MTL_FLOAT_WITHOUT_SIGN)
    return self->nan;

  return (pattern & ~sign_bit) == 0 ? pattern : pattern ^ sign_bit;
}

/* Rounds to nearest, ties to even. */
guint
mtl_float_encode (const MtlFloatKind *self,
                  double              value)
{
  guint64 bits, mantissa, magnitude;
  int exponent;

  memcpy (&bits, &value, sizeof bits);
  exponent = bits >> 52 & 0x7ff;
  mantissa = bits & ((G_GUINT64_CONSTANT (1) << 52) - 1);

  if ((exponent == 0x7ff && mantissa != 0)
      || (value == 0 && self->sign == MTL_FLOAT_WITHOUT_SIGN))
    return apply_sign (self, self->nan, bits >> 63);

  /* Subnormal doubles are far below the smallest number of all these types. */
  magnitude = exponent == 0 ? 0
                            : round_magnitude (self, exponent - 1023 + self->bias,
                                               mantissa | G_GUINT64_CONSTANT (1) << 52);
  if (magnitude > self->largest)
    magnitude = self->too_large;

  return apply_sign (self, magnitude, bits >> 63);
}

double
mtl_float_decode (const MtlFloatKind *self,
                  guint               pattern)
{
  guint sign_bit = get_sign_bit (self);
  guint magnitude = pattern & ~sign_bit;
  int exponent = magnitude >> self->mantissa_bits;
  guint mantissa = magnitude & ((1u << self->mantissa_bits) - 1);
  double value;

  if (self->sign == MTL_FLOAT_WITHOUT_NEGATIVE_ZERO && pattern == self->nan)
    return -NAN;

  if (magnitude > self->largest)
    value = magnitude == self->too_large && self->too_large != self->nan ? INFINITY : NAN;
  else if (exponent == 0 && self->sign != MTL_FLOAT_WITHOUT_SIGN)
    value = ldexp (mantissa, 1 - self->bias - self->mantissa_bits);
  else
    value = ldexp (mantissa | 1u << self->mantissa_bits,
                   exponent - self->bias - self->mantissa_bits);

  return (pattern & sign_bit) != 0 ? -value : value;
}
