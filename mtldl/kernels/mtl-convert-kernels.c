/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Loops that compilers vectorize. Compiled once for each instruction set; the build
 * defines its name as MTL_COPY_SET. */

#include "config.h"

#include "mtl-convert-kernels-private.h"

#include "mtl-convert-instructions-private.h"
#include "mtl-convert-numbers-private.h"
#include "mtl-convert-round-to-odd-private.h"
#include "mtl-convert-packed-6-private.h"
#include "mtl-convert-scattered-private.h"
#include "mtl-copy-few-private.h"

/* One number x after the other, with memcpy(), since nothing is aligned. */
#define DEFINE_LOOP(function, Dest, Source, expression) \
  static void \
  function (guint8       *restrict dest, \
            const guint8 *restrict source, \
            gsize                  n) \
  { \
    for (gsize i = 0; i < n; i++) \
      { \
        Source x; \
        Dest result; \
\
        memcpy (&x, source + i * sizeof x, sizeof x); \
        result = (Dest) (expression); \
        memcpy (dest + i * sizeof result, &result, sizeof result); \
      } \
  }

/* F (destination, its type, source, its type, expression for x) */

#define FROM_INTEGERS(F, DEST, Dest) \
  F (DEST, Dest, UINT8, guint8, x) \
  F (DEST, Dest, UINT16, guint16, x) \
  F (DEST, Dest, UINT32, guint32, x) \
  F (DEST, Dest, INT8, gint8, x) \
  F (DEST, Dest, INT16, gint16, x) \
  F (DEST, Dest, INT32, gint32, x) \
  F (DEST, Dest, BOOL, guint8, x != 0)

#define FROM_LARGE_INTEGERS(F, DEST, Dest, from_uint64, from_int64) \
  F (DEST, Dest, UINT64, guint64, from_uint64) \
  F (DEST, Dest, INT64, gint64, from_int64)

#ifdef MTL_HAS_LARGE_INTEGERS_TO_FLOAT32
#define LARGE_TO_FLOAT32(F)
#else
#define LARGE_TO_FLOAT32(F) \
  FROM_LARGE_INTEGERS (F, FLOAT32, float, UINT64_TO_FLOAT32 (x), INT64_TO_FLOAT32 (x))
#endif

#define AMONG_INTEGERS(F) \
  F (UINT8, guint8, BOOL, guint8, x != 0) \
  F (UINT8, guint8, UINT16, guint16, x) \
  F (UINT8, guint8, UINT32, guint32, x) \
  F (UINT8, guint8, UINT64, guint64, x) \
  F (UINT16, guint16, BOOL, guint8, x != 0) \
  F (UINT16, guint16, UINT8, guint8, x) \
  F (UINT16, guint16, INT8, gint8, x) \
  F (UINT16, guint16, UINT32, guint32, x) \
  F (UINT16, guint16, UINT64, guint64, x) \
  F (UINT32, guint32, BOOL, guint8, x != 0) \
  F (UINT32, guint32, UINT8, guint8, x) \
  F (UINT32, guint32, UINT16, guint16, x) \
  F (UINT32, guint32, INT8, gint8, x) \
  F (UINT32, guint32, INT16, gint16, x) \
  F (UINT32, guint32, UINT64, guint64, x) \
  F (UINT64, guint64, BOOL, guint8, x != 0) \
  F (UINT64, guint64, UINT8, guint8, x) \
  F (UINT64, guint64, UINT16, guint16, x) \
  F (UINT64, guint64, UINT32, guint32, x) \
  F (UINT64, guint64, INT8, gint8, x) \
  F (UINT64, guint64, INT16, gint16, x) \
  F (UINT64, guint64, INT32, gint32, x)

#define TO_INTEGERS(F, SOURCE, Source) \
  F (UINT8, guint8, SOURCE, Source, x) \
  F (UINT16, guint16, SOURCE, Source, x) \
  F (INT8, gint8, SOURCE, Source, x) \
  F (INT16, gint16, SOURCE, Source, x) \
  F (INT32, gint32, SOURCE, Source, x) \
  F (UINT32, guint32, SOURCE, Source, x)

/* F (destination, its type, source, its type, whether x is in range, expression for
 * those, and otherwise) */
#ifdef MTL_HAS_NEAR_INTEGERS
#define IS_INT64(x) (x > -0x1p51 && x < 0x1p51)
#define IS_UINT64(x) (x >= 0 && x < 0x1p51)
#define TO_LARGE(x) double_to_near_int64 (x)
#else
#define IS_INT64(x) (x >= -0x1p63 && x < 0x1p63)
#define IS_UINT64(x) (x >= 0 && x < 0x1p64)
#define TO_LARGE(x) (x)
#endif

#define LARGE_INTEGERS(F) \
  F (INT64, gint64, FLOAT32, float, IS_INT64 (x), TO_LARGE (x), \
     float_to_int64 (x, 0x1.fffffep62f)) \
  F (UINT64, guint64, FLOAT32, float, IS_UINT64 (x), TO_LARGE (x), \
     float_to_uint64 (x, 0x1.fffffep63f)) \
  F (INT64, gint64, FLOAT64, double, IS_INT64 (x), TO_LARGE (x), \
     double_to_int64 (x, 0x1.fffffffffffffp62)) \
  F (UINT64, guint64, FLOAT64, double, IS_UINT64 (x), TO_LARGE (x), \
     double_to_uint64 (x, 0x1.fffffffffffffp63))

#define AMONG_FLOATS(F) \
  F (FLOAT64, double, FLOAT32, float, x) \
  F (FLOAT32, float, FLOAT64, double, x) \
  F (BFLOAT16, guint16, FLOAT32, guint32, bfloat16_from_float32 (x)) \
  F (FLOAT32, guint32, BFLOAT16, guint16, (guint32) x << 16) \
  F (E8M0FNU, guint8, FLOAT32, guint32, power_from_float32 (x)) \
  F (FLOAT32, guint32, E8M0FNU, guint8, power_to_float32 (x))

#define SMALL_KIND(F, KIND) \
  F (KIND, guint8, FLOAT32, guint32, \
     small_from_float32 (&(const MtlFloatKind) MTL_FLOAT_##KIND, x)) \
  F (FLOAT32, guint32, KIND, guint8, \
     small_to_float32 (&(const MtlFloatKind) MTL_FLOAT_##KIND, x))

#define SMALL_FLOATS(F) \
  SMALL_KIND (F, E3M4) \
  SMALL_KIND (F, E4M3) \
  SMALL_KIND (F, E4M3B11FNUZ) \
  SMALL_KIND (F, E4M3FN) \
  SMALL_KIND (F, E4M3FNUZ) \
  SMALL_KIND (F, E5M2) \
  SMALL_KIND (F, E5M2FNUZ) \
  SMALL_KIND (F, E2M3FN) \
  SMALL_KIND (F, E3M2FN) \
  SMALL_KIND (F, E2M1FN)

/* Only the conversions between integers that all others are made of. */
#define LOW_BITS_KIND(F, KIND, value, least, most) \
  F (UINT8, guint8, KIND, guint8, value) \
  F (FLOAT32, float, KIND, guint8, value) \
  F (KIND, guint8, FLOAT32, float, low_bits_from_float (x, least, most))

#define LOW_BITS(F) \
  LOW_BITS_KIND (F, UINT2, x & 0x3, 0, 3) \
  LOW_BITS_KIND (F, UINT4, x & 0xf, 0, 15) \
  LOW_BITS_KIND (F, INT2, low_bits_to_int (x, 2), -2, 1) \
  LOW_BITS_KIND (F, INT4, low_bits_to_int (x, 4), -8, 7) \
  F (UINT2, guint8, UINT8, guint8, x & 0x3) \
  F (UINT4, guint8, UINT8, guint8, x & 0xf)

#define DIRECT(F) \
  FROM_INTEGERS (F, FLOAT32, float) \
  LARGE_TO_FLOAT32 (F) \
  FROM_INTEGERS (F, FLOAT64, double) \
  FROM_LARGE_INTEGERS (F, FLOAT64, double, uint64_to_double (x), int64_to_double (x)) \
  AMONG_INTEGERS (F) \
  LOW_BITS (F) \
  MTL_TO_BOOL (F) \
  AMONG_FLOATS (F) \
  SMALL_FLOATS (F)

#define BY_16(F) \
  TO_INTEGERS (F, FLOAT32, float) \
  TO_INTEGERS (F, FLOAT64, double)

/* 16 at once. The last ones are some of those before again, if there are as many; fewer are
 * filled up with the last one. */
#define DEFINE_BY_16(DEST, Dest, SOURCE, Source, x) \
  static void __attribute__ ((noinline)) \
  convert_few_##SOURCE##_to_##DEST (guint8       *restrict dest, \
                                    const guint8 *restrict source, \
                                    gsize                  n) \
  { \
    Source few[16]; \
    guint8 result[64]; \
\
    for (gsize i = 0; i < 16; i++) \
      memcpy (&few[i], source + MIN (i, n - 1) * sizeof (Source), sizeof (Source)); \
    mtl_narrow_16_##Source##s_to_##Dest (result, (gconstpointer) few); \
    mtl_copy_few (dest, result, n * sizeof (Dest)); \
  } \
\
  static void \
  convert_##SOURCE##_to_##DEST (guint8       *restrict dest, \
                                const guint8 *restrict source, \
                                gsize                  n) \
  { \
    gsize i = 0; \
\
    for (; i + 16 <= n; i += 16) \
      mtl_narrow_16_##Source##s_to_##Dest (dest + i * sizeof (Dest), \
                                           source + i * sizeof (Source)); \
    if (i == n) \
      return; \
\
    if (n >= 16) \
      mtl_narrow_16_##Source##s_to_##Dest (dest + (n - 16) * sizeof (Dest), \
                                           source + (n - 16) * sizeof (Source)); \
    else \
      convert_few_##SOURCE##_to_##DEST (dest, source, n); \
  }

/* There are few vector instructions for large integers. Checks a block of numbers
 * first, because most are in range, and can then be cut with one instruction each. */
#define DEFINE_IN_RANGE(DEST, Dest, SOURCE, Source, in_range, expression, otherwise) \
  DEFINE_LOOP (SOURCE##_in_range_to_##DEST, Dest, Source, expression) \
  DEFINE_LOOP (SOURCE##_of_any_to_##DEST, Dest, Source, otherwise) \
\
  static void \
  convert_##SOURCE##_to_##DEST (guint8       *restrict dest, \
                                const guint8 *restrict source, \
                                gsize                  n) \
  { \
    gsize part; \
\
    for (; n > 0; n -= part, source += part * sizeof (Source), dest += part * sizeof (Dest)) \
      { \
        gint n_outside = 0; \
\
        part = MIN (n, 256); \
        for (gsize i = 0; i < part; i++) \
          { \
            Source x; \
\
            memcpy (&x, source + i * sizeof x, sizeof x); \
            n_outside += in_range ? 0 : 1; \
          } \
\
        if (n_outside == 0) \
          SOURCE##_in_range_to_##DEST (dest, source, part); \
        else \
          SOURCE##_of_any_to_##DEST (dest, source, part); \
      } \
  }

#define IN_RANGE_ENTRY(DEST, Dest, SOURCE, Source, in_range, expression, otherwise) \
  DIRECT_ENTRY (DEST, Dest, SOURCE, Source, otherwise)

#define DEFINE_DIRECT(DEST, Dest, SOURCE, Source, expression) \
  DEFINE_LOOP (convert_##SOURCE##_to_##DEST, Dest, Source, expression)

#define DIRECT_ENTRY(DEST, Dest, SOURCE, Source, expression) \
  [MTL_CONVERT_##DEST][MTL_CONVERT_##SOURCE] = convert_##SOURCE##_to_##DEST,

DIRECT (DEFINE_DIRECT)
BY_16 (DEFINE_BY_16)
LARGE_INTEGERS (DEFINE_IN_RANGE)

DEFINE_LOOP (any_of_two, guint8, guint16, x != 0)

/* Real numbers that become complex ones. */
#define TO_COMPLEX(F, DEST, Dest, from_uint64, from_int64) \
  FROM_INTEGERS (F, DEST, Dest) \
  FROM_LARGE_INTEGERS (F, DEST, Dest, from_uint64, from_int64) \
  F (DEST, Dest, FLOAT32, float, x) \
  F (DEST, Dest, FLOAT64, double, x)

#define DEFINE_COMPLEX(DEST, Dest, SOURCE, Source, expression) \
  static void \
  convert_##SOURCE##_to_complex_##DEST (guint8       *restrict dest, \
                                        const guint8 *restrict source, \
                                        gsize                  n) \
  { \
    const Dest zero = 0; \
\
    for (gsize i = 0; i < n; i++) \
      { \
        Source x; \
        Dest result; \
\
        memcpy (&x, source + i * sizeof x, sizeof x); \
        result = (Dest) (expression); \
        memcpy (dest + 2 * i * sizeof result, &result, sizeof result); \
        memcpy (dest + (2 * i + 1) * sizeof result, &zero, sizeof zero); \
      } \
  }

#define COMPLEX_ENTRY(DEST, Dest, SOURCE, Source, expression) \
  [MTL_CONVERT_##SOURCE] = convert_##SOURCE##_to_complex_##DEST,

TO_COMPLEX (DEFINE_COMPLEX, FLOAT32, float, UINT64_TO_FLOAT32 (x), INT64_TO_FLOAT32 (x))
TO_COMPLEX (DEFINE_COMPLEX, FLOAT64, double, uint64_to_double (x), int64_to_double (x))

#define DEFINE_APPEND_ZERO(Number) \
  static void \
  append_zero_##Number (guint8       *restrict dest, \
                        const guint8 *restrict source, \
                        gsize                  n) \
  { \
    const Number zero = 0; \
\
    for (gsize i = 0; i < n; i++) \
      { \
        Number x; \
\
        memcpy (&x, source + i * sizeof x, sizeof x); \
        memcpy (dest + 2 * i * sizeof x, &x, sizeof x); \
        memcpy (dest + (2 * i + 1) * sizeof x, &zero, sizeof x); \
      } \
  }

DEFINE_APPEND_ZERO (guint16)
DEFINE_APPEND_ZERO (guint32)
DEFINE_APPEND_ZERO (guint64)

/* There are four numbers in a byte. */
static void
unpack_2 (guint8       *restrict dest,
          const guint8 *restrict source,
          gsize                  n)
{
  for (gsize i = 0; i < n / 4; i++)
    {
      guint32 x = source[i];
      guint32 numbers = GUINT32_TO_LE ((x | x << 6 | x << 12 | x << 18) & 0x03030303);

      memcpy (dest + 4 * i, &numbers, sizeof numbers);
    }
  for (gsize i = n & ~(gsize) 3; i < n; i++)
    dest[i] = source[i / 4] >> 2 * (i % 4) & 0x3;
}

static void
pack_2 (guint8       *restrict dest,
        const guint8 *restrict source,
        gsize                  n)
{
  for (gsize i = 0; i < n / 4; i++)
    dest[i] = (source[4 * i] & 0x3) | (source[4 * i + 1] & 0x3) << 2
              | (source[4 * i + 2] & 0x3) << 4 | source[4 * i + 3] << 6;
}

/* There are two numbers in a byte. */
static void
unpack_4 (guint8       *restrict dest,
          const guint8 *restrict source,
          gsize                  n)
{
  for (gsize i = 0; i < n / 2; i++)
    {
      dest[2 * i] = source[i] & 0xf;
      dest[2 * i + 1] = source[i] >> 4;
    }
  if (n % 2 != 0)
    dest[n - 1] = source[n / 2] & 0xf;
}

static void
pack_4 (guint8       *restrict dest,
        const guint8 *restrict source,
        gsize                  n)
{
  for (gsize i = 0; i < n / 2; i++)
    dest[i] = (source[2 * i] & 0xf) | source[2 * i + 1] << 4;
}

/* Numbers are scaled as doubles. Sources and destinations that are pictures, or
 * computed from pictures, take one step. */

#define SCALED_FROM(F, DEST, Dest) \
  F (DEST, Dest, UINT8, guint8) \
  F (DEST, Dest, UINT16, guint16) \
  F (DEST, Dest, INT8, gint8) \
  F (DEST, Dest, INT16, gint16) \
  F (DEST, Dest, FLOAT32, float)

#define SCALED_TO_INTEGERS(F) \
  SCALED_FROM (F, UINT8, guint8) \
  SCALED_FROM (F, UINT16, guint16) \
  SCALED_FROM (F, INT8, gint8) \
  SCALED_FROM (F, INT16, gint16)

#define SCALED_TO_FLOATS(F) \
  SCALED_FROM (F, FLOAT32, float)

#define DEFINE_SCALED(DEST, Dest, SOURCE, Source) \
  static void \
  scale_##SOURCE##_to_##DEST (guint8       *restrict dest, \
                              const guint8 *restrict source, \
                              gsize                  n, \
                              const double          *factors) \
  { \
    const double scale = factors[0], offset = factors[1]; \
\
    for (gsize i = 0; i < n; i++) \
      { \
        Source x; \
        Dest result; \
\
        memcpy (&x, source + i * sizeof x, sizeof x); \
        result = (Dest) (x * scale + offset); \
        memcpy (dest + i * sizeof result, &result, sizeof result); \
      } \
  }

/* Numbers that are too large to be rounded by a sum are so for small integers, too. */
#define DEFINE_SCALED_INTEGERS(DEST, Dest, SOURCE, Source) \
  static void \
  scale_##SOURCE##_to_##DEST (guint8       *restrict dest, \
                              const guint8 *restrict source, \
                              gsize                  n, \
                              const double          *factors) \
  { \
    const double scale = factors[0], offset = factors[1]; \
    double rounded[256]; \
    gsize part; \
\
    for (; n > 0; n -= part, source += part * sizeof (Source), dest += part * sizeof (Dest)) \
      { \
        part = MIN (n, G_N_ELEMENTS (rounded)); \
        for (gsize i = 0; i < part; i++) \
          { \
            Source x; \
\
            memcpy (&x, source + i * sizeof x, sizeof x); \
            rounded[i] = (x * scale + offset + NO_FRACTION) - NO_FRACTION; \
          } \
        convert_FLOAT64_to_##DEST (dest, (gconstpointer) rounded, part); \
      } \
  }

#define SCALED_ENTRY(DEST, Dest, SOURCE, Source) \
  [MTL_CONVERT_##DEST][MTL_CONVERT_##SOURCE] = scale_##SOURCE##_to_##DEST,

SCALED_TO_INTEGERS (DEFINE_SCALED_INTEGERS)
SCALED_TO_FLOATS (DEFINE_SCALED)
DEFINE_SCALED (FLOAT64, double, FLOAT64, double)
DEFINE_LOOP (round_doubles, double, double, round_to_even (x))

static void
scale_complexes (guint8       *restrict dest,
                 const guint8 *restrict source,
                 gsize                  n,
                 const double          *factors)
{
  for (gsize i = 0; i < n; i++)
    {
      double x[2];

      memcpy (x, source + i * sizeof x, sizeof x);
      x[0] = x[0] * factors[0] + factors[1];
      x[1] = x[1] * factors[0];
      memcpy (dest + i * sizeof x, x, sizeof x);
    }
}

#define KERNELS_OF2(set) mtl_convert_kernels_##set
#define KERNELS_OF(set) KERNELS_OF2 (set)

const MtlConvertKernels KERNELS_OF (MTL_COPY_SET) = {
  .direct = {
    DIRECT (DIRECT_ENTRY)
    BY_16 (DIRECT_ENTRY)
    LARGE_INTEGERS (IN_RANGE_ENTRY)
    [MTL_CONVERT_FLOAT16][MTL_CONVERT_FLOAT32] = mtl_convert_float32_to_float16,
    [MTL_CONVERT_FLOAT32][MTL_CONVERT_FLOAT16] = mtl_convert_float16_to_float32,
#ifdef MTL_HAS_LARGE_INTEGERS_TO_FLOAT32
    [MTL_CONVERT_FLOAT32][MTL_CONVERT_INT64] = mtl_convert_int64_to_float32,
    [MTL_CONVERT_FLOAT32][MTL_CONVERT_UINT64] = mtl_convert_uint64_to_float32,
#endif
#ifdef MTL_HAS_DOUBLE_TO_FLOAT16
    [MTL_CONVERT_FLOAT16][MTL_CONVERT_FLOAT64] = mtl_convert_float64_to_float16,
#endif
  },
  .scattered = { MTL_SCATTERED (MTL_SCATTERED_ENTRY) },
  .scattered_by_4 = { MTL_SCATTERED_BY_4 (MTL_SCATTERED_ENTRY) },
  .scattered_to_complex = {
    { MTL_SCATTERED_TO_COMPLEX (MTL_SCATTERED_COMPLEX_ENTRY, FLOAT32, float) },
    { MTL_SCATTERED_TO_COMPLEX (MTL_SCATTERED_COMPLEX_ENTRY, FLOAT64, double) },
  },
  .scattered_complex = { mtl_scattered_complex_double_to_float,
                         mtl_scattered_complex_float_to_double },
  .to_complex = {
    { TO_COMPLEX (COMPLEX_ENTRY, FLOAT32, float, x, x) },
    { TO_COMPLEX (COMPLEX_ENTRY, FLOAT64, double, x, x) },
  },
  .to_odd_float32 = {
    [MTL_CONVERT_UINT32] = mtl_convert_uint32_to_odd,
    [MTL_CONVERT_UINT64] = mtl_convert_uint64_to_odd,
    [MTL_CONVERT_INT32] = mtl_convert_int32_to_odd,
    [MTL_CONVERT_INT64] = mtl_convert_int64_to_odd,
    [MTL_CONVERT_FLOAT64] = mtl_convert_double_to_odd,
  },
  .scaled = {
    SCALED_TO_INTEGERS (SCALED_ENTRY)
    SCALED_TO_FLOATS (SCALED_ENTRY)
  },
  .scale_doubles = scale_FLOAT64_to_FLOAT64,
  .scale_complexes = scale_complexes,
  .round_doubles = round_doubles,
  .any_of_two = any_of_two,
  .append_zero = { NULL, append_zero_guint16, append_zero_guint32, append_zero_guint64 },
  .unpack = { unpack_2, unpack_4, mtl_convert_unpack_6 },
  .pack = { pack_2, pack_4, mtl_convert_pack_6 },
};
