/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>
#include <math.h>
#include <string.h>

#include "mtl-float-private.h"

/* Conversions of single numbers without branches, so that compilers can vectorize
 * loops over them. Floats that are handled by their bits are integers here. */

static inline guint32
bits_of_float (float value)
{
  guint32 bits;

  memcpy (&bits, &value, sizeof bits);
  return bits;
}

static inline float
float_of_bits (guint32 bits)
{
  float value;

  memcpy (&value, &bits, sizeof value);
  return value;
}

static inline guint64
bits_of_double (double value)
{
  guint64 bits;

  memcpy (&bits, &value, sizeof bits);
  return bits;
}

static inline double
double_of_bits (guint64 bits)
{
  double value;

  memcpy (&value, &bits, sizeof value);
  return value;
}

static const guint32 FLOAT_INFINITY = 0x7f800000;
static const guint32 FLOAT_NAN = 0x7fc00000;

/* Bits with only an exponent: a power of two, or a number to add to an exponent. */
static inline guint32
float_exponent (int biased)
{
  return (guint32) biased << 23;
}

/* Rounds magnitudes of float32 to n_bits fewer bits, ties to even. */
static inline guint32
round_off (guint32 magnitude,
           guint   n_bits)
{
  return (magnitude + (1u << (n_bits - 1)) - 1 + (magnitude >> n_bits & 1)) >> n_bits;
}

/* A magnitude of float32 with the narrower type's exponent, without an upper limit. A
 * subnormal result is rounded by adding a power of two whose last bit has the value
 * of the smallest number. */
static inline guint32
narrow_magnitude (guint32 magnitude,
                  int     mantissa_bits,
                  int     bias)
{
  guint32 power = float_exponent (151 - bias - mantissa_bits);
  guint32 subnormal = bits_of_float (float_of_bits (magnitude) + float_of_bits (power)) - power;
  guint32 normal = round_off (magnitude - float_exponent (127 - bias), 23 - mantissa_bits);

  return magnitude < float_exponent (128 - bias) ? subnormal : normal;
}

/* The reverse of narrow_magnitude(). Infinity and NaN become numbers. */
static inline guint32
widen_magnitude (guint32 magnitude,
                 int     mantissa_bits,
                 int     bias)
{
  guint32 wide = magnitude << (23 - mantissa_bits);
  guint32 power = float_exponent (128 - bias);
  guint32 subnormal = bits_of_float (float_of_bits (wide + power) - float_of_bits (power));

  return magnitude >> mantissa_bits == 0 ? subnormal : wide + float_exponent (127 - bias);
}

/* NaN keeps the bits that fit, and becomes quiet, as conversion instructions do it. */
static inline guint16
float16_from_float32 (guint32 x)
{
  guint32 magnitude = x & G_MAXINT32;
  guint32 narrow = narrow_magnitude (magnitude, 10, 15);

  narrow = narrow > 0x7c00 ? 0x7c00 : narrow;
  narrow = magnitude > FLOAT_INFINITY ? 0x7e00 | (magnitude >> 13 & 0x3ff) : narrow;
  return (x >> 16 & 0x8000) | narrow;
}

static inline guint32
float16_to_float32 (guint16 pattern)
{
  guint32 magnitude = pattern & 0x7fff;
  guint32 special = magnitude << 13 | FLOAT_INFINITY | (magnitude > 0x7c00 ? 0x400000 : 0);
  guint32 wide = widen_magnitude (magnitude, 10, 15);

  return (pattern & 0x8000u) << 16 | (magnitude >= 0x7c00 ? special : wide);
}

static inline guint16
bfloat16_from_float32 (guint32 x)
{
  return (x & G_MAXINT32) > FLOAT_INFINITY ? x >> 16 | 0x40 : round_off (x, 16);
}

/* The type is a float of 8 bits or fewer. */
static inline guint8
small_from_float32 (const MtlFloatKind *kind,
                    guint32             x)
{
  guint32 magnitude = x & G_MAXINT32;
  guint32 sign = x >> 31 << (kind->exponent_bits + kind->mantissa_bits);
  guint32 narrow = narrow_magnitude (magnitude, kind->mantissa_bits, kind->bias);

  narrow = narrow > kind->largest ? kind->too_large : narrow;
  narrow = magnitude > FLOAT_INFINITY ? kind->nan : narrow;
  if (kind->sign == MTL_FLOAT_WITHOUT_NEGATIVE_ZERO)
    return (narrow & 0x7f) != 0 ? narrow | sign : narrow;

  return narrow ^ sign;
}

static inline guint32
small_to_float32 (const MtlFloatKind *kind,
                  guint8              pattern)
{
  guint n_bits = kind->exponent_bits + kind->mantissa_bits;
  guint32 magnitude = pattern & ((1u << n_bits) - 1);
  guint32 sign = (guint32) pattern >> n_bits << 31;
  guint32 wide = widen_magnitude (magnitude, kind->mantissa_bits, kind->bias);
  gboolean has_infinity = kind->too_large > kind->largest && kind->too_large < kind->nan;

  if (kind->sign == MTL_FLOAT_WITHOUT_NEGATIVE_ZERO)
    return sign | (pattern == kind->nan ? FLOAT_NAN : wide);

  wide = magnitude > kind->largest ? FLOAT_NAN : wide;
  wide = has_infinity && magnitude == kind->too_large ? FLOAT_INFINITY : wide;
  return sign | wide;
}

/* The type only has an exponent. Ties round to the larger value, because the last bit
 * of the mantissa is the leading one, which is odd. There is no 0. */
static inline guint8
power_from_float32 (guint32 x)
{
  guint32 subnormal = x >= 0x600000;
  guint32 power = x < 0x800000 ? subnormal : (x + 0x400000) >> 23;

  /* Negative numbers have the sign bit and so are above NaN. */
  return x == 0 || x > FLOAT_INFINITY || power > 0xfe ? 0xff : power;
}

static inline guint32
power_to_float32 (guint8 pattern)
{
  guint32 power = pattern == 0 ? 0x400000 : (guint32) pattern << 23;

  return pattern == 0xff ? FLOAT_NAN : power;
}

/* Truncates, and makes the magnitude odd if bits were lost. That includes infinity,
 * which is the largest magnitude plus one. */
static inline guint32
round_double_to_odd (double x)
{
  float nearest = (float) x;
  double back = nearest;
  guint32 bits = bits_of_float (nearest);
  guint64 magnitude = bits_of_double (x) & G_MAXINT64;
  guint64 back_magnitude = bits_of_double (back) & G_MAXINT64;

  bits -= back_magnitude > magnitude && x == x ? 1u : 0u;
  return bits | (back != x ? 1u : 0u);
}

/* The x86 instructions before AVX-512 have no vectors of large integers. The halves are
 * added to doubles whose last bits are theirs, and only the last sum is rounded. */
#if defined(__SSE2__) && !defined(__AVX512DQ__)

static inline double
uint64_to_double (guint64 x)
{
  double high = double_of_bits (bits_of_double (0x1p84) | x >> 32);
  double low = double_of_bits (bits_of_double (0x1p52) | (x & G_MAXUINT32));

  return (high - (0x1p84 + 0x1p52)) + low;
}

static inline double
int64_to_double (gint64 x)
{
  guint64 bits = (guint64) x;
  double high = double_of_bits (bits_of_double (0x1p84) | ((bits >> 32) ^ 0x80000000u));
  double low = double_of_bits (bits_of_double (0x1p52) | (bits & G_MAXUINT32));

  return (high - (0x1p84 + 0x1p63 + 0x1p52)) + low;
}

#else
#define uint64_to_double(x) (x)
#define int64_to_double(x) (x)
#endif

#if defined(__AVX2__) && !defined(__AVX512DQ__)
#define MTL_HAS_NEAR_INTEGERS

/* Rounds magnitudes below 2^51 towards zero. */
static inline gint64
double_to_near_int64 (double x)
{
  double sum = __builtin_trunc (x) + 0x1.8p52;

  return (gint64) (bits_of_double (sum) - bits_of_double (0x1.8p52));
}
#endif

/* Integers of more than 53 bits lose their last ones, and are odd if these were not 0. The
 * others are exact as a double, and float32 keeps even fewer bits. Negative integers are
 * rounded down instead of towards 0, which is as good: nothing odd is a tie. */
static inline guint64
drop_last_bits (guint64 x)
{
  return (x & ~(guint64) 0xfff) | ((x & 0xfff) != 0 ? 0x800 : 0);
}

static inline double
round_uint64_to_odd (guint64 x)
{
  return uint64_to_double (x >> 53 != 0 ? drop_last_bits (x) : x);
}

static inline double
round_int64_to_odd (gint64 x)
{
  guint64 bits = (guint64) x;

  return int64_to_double ((gint64) ((bits + ((guint64) 1 << 53)) >> 54 != 0
                                    ? drop_last_bits (bits) : bits));
}

static inline guint32
round_uint64_to_odd_float32 (guint64 x)
{
  return round_double_to_odd (round_uint64_to_odd (x));
}

static inline guint32
round_int64_to_odd_float32 (gint64 x)
{
  return round_double_to_odd (round_int64_to_odd (x));
}

/* Clang before version 21 converts to vectors of doubles first on arm64, and so rounds
 * twice. That is harmless if the doubles were rounded to odd. With AVX2, that way is twice
 * as fast as one by one. */
#if (defined(__clang__) && defined(__aarch64__)) || defined(MTL_HAS_NEAR_INTEGERS)
#define UINT64_TO_FLOAT32(x) round_uint64_to_odd (x)
#define INT64_TO_FLOAT32(x) round_int64_to_odd (x)
#else
#define UINT64_TO_FLOAT32(x) (x)
#define INT64_TO_FLOAT32(x) (x)
#endif

/* Floats that do not fit an integer type become its nearest number, and NaN becomes
 * 0. They are compared by their bits, because for those, compilers use one
 * instruction instead of several. The converted value is always in range: `below` is
 * the last float that fits the type. */
#define DEFINE_CUT(Float, Bits) \
  static inline Float \
  Float##_within (Float x, \
                  Float most) \
  { \
    Bits bits = bits_of_##Float (x); \
    Bits magnitude = bits & (Bits) -1 >> 1; \
    Bits limited = MIN (magnitude, bits_of_##Float (most)); \
\
    limited = magnitude > bits_of_##Float (INFINITY) ? 0 : limited; \
    return Float##_of_bits (limited | (bits ^ magnitude)); \
  } \
\
  /* Everything that is not a positive number is 0. */ \
  static inline Bits \
  Float##_positive_bits (Float x) \
  { \
    Bits bits = bits_of_##Float (x); \
\
    return bits > bits_of_##Float (INFINITY) ? 0 : bits; \
  } \
\
  static inline gint32 \
  Float##_to_int32 (Float x, \
                    Float below) \
  { \
    gint32 cut = (gint32) Float##_within (x, below); \
    Bits bits = bits_of_##Float (x); \
    Bits magnitude = bits & (Bits) -1 >> 1; \
    gint32 end = bits != magnitude ? G_MININT32 : G_MAXINT32; \
\
    end = magnitude > bits_of_##Float (INFINITY) ? 0 : end; \
    return magnitude >= bits_of_##Float (0x1p31) ? end : cut; \
  } \
\
  static inline gint64 \
  Float##_to_int64 (Float x, \
                    Float below) \
  { \
    gint64 cut = (gint64) Float##_within (x, below); \
    Bits bits = bits_of_##Float (x); \
    Bits magnitude = bits & (Bits) -1 >> 1; \
    gint64 end = bits != magnitude ? G_MININT64 : G_MAXINT64; \
\
    end = magnitude > bits_of_##Float (INFINITY) ? 0 : end; \
    return magnitude >= bits_of_##Float (0x1p63) ? end : cut; \
  } \
\
  /* The range is halved, because all machines have instructions for signed numbers. */ \
  static inline guint32 \
  Float##_to_uint32 (Float x, \
                     Float below) \
  { \
    Bits bits = Float##_positive_bits (x); \
    Bits limited = MIN (bits, bits_of_##Float (below)); \
    Bits half = bits_of_##Float (0x1p31); \
    Float rest = Float##_of_bits (limited) - Float##_of_bits (limited >= half ? half : 0); \
    guint32 cut = (guint32) (gint32) rest + (limited >= half ? 0x80000000u : 0); \
\
    return bits > bits_of_##Float (below) ? G_MAXUINT32 : cut; \
  } \
\
  static inline guint64 \
  Float##_to_uint64 (Float x, \
                     Float below) \
  { \
    Bits bits = Float##_positive_bits (x); \
    Bits limited = MIN (bits, bits_of_##Float (below)); \
    guint64 cut = (guint64) Float##_of_bits (limited); \
\
    return bits > bits_of_##Float (below) ? G_MAXUINT64 : cut; \
  }

DEFINE_CUT (float, guint32)
DEFINE_CUT (double, guint64)

/* Integers of fewer than 8 bits, in the low bits of a byte. */
static inline gint32
low_bits_to_int (guint8 pattern,
                 guint  n_bits)
{
  gint32 sign = 1 << (n_bits - 1);

  return ((pattern & ((1 << n_bits) - 1)) ^ sign) - sign;
}

static inline guint8
low_bits_from_float (float  x,
                     gint32 least,
                     gint32 most)
{
  gint32 cut = (gint32) float_within (x, 128);

  return CLAMP (cut, least, most) & (most - least);
}

/* A sum with this has no bits for a fraction, if the other number is within 2^51. */
static const double NO_FRACTION = 0x1.8p52;

/* Rounds to the nearest integer, ties to even. Numbers beyond 2^52 are integers. */
static inline double
round_to_even (double x)
{
  guint64 magnitude = bits_of_double (x) & G_MAXINT64;
  double no_fraction = double_of_bits (bits_of_double (0x1p52)
                                       | (bits_of_double (x) ^ magnitude));

  return magnitude < bits_of_double (0x1p52) ? (x + no_fraction) - no_fraction : x;
}
