/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-convert-instructions-private.h"
#include "mtl-convert-kernels-private.h"

/* Elements with any step on both sides, one by one. Gathering them into vectors and
 * scattering these would take longer than to convert them. Where one takes several
 * instructions, four share a vector, which never is in memory. */

/* Compilers would branch on it to choose between two floats. */
static inline G_ALWAYS_INLINE int
mtl_get_truth (guint8 x)
{
  int truth = x != 0;

  __asm__ ("" : "+r" (truth));
  return truth;
}

/* Floats to large integers with the instruction for a single number, which returns the lowest
 * one for everything that does not fit. */
#if defined(__SSE2__)

static gint64 __attribute__ ((noinline, cold))
mtl_cut_any_to_int64 (double x)
{
  return double_to_int64 (x, 0x1.fffffffffffffp62);
}

static guint64 __attribute__ ((noinline, cold))
mtl_cut_any_to_uint64 (double x)
{
  return double_to_uint64 (x, 0x1.fffffffffffffp63);
}

static inline gint64
mtl_choose_int64 (gint64 cut,
                  double x)
{
  return G_LIKELY (cut != G_MININT64) ? cut : mtl_cut_any_to_int64 (x);
}

static inline guint64
mtl_choose_uint64 (gint64 cut,
                   double x)
{
  return G_LIKELY (cut >= 0) ? (guint64) cut : mtl_cut_any_to_uint64 (x);
}

#define MTL_CUT_FLOAT(x) _mm_cvttss_si64 (_mm_set_ss (x))
#define MTL_CUT_DOUBLE(x) _mm_cvttsd_si64 (_mm_set_sd (x))

#define MTL_FLOATS_TO_LARGE(F) \
  F (INT64, gint64, FLOAT32, float, mtl_choose_int64 (MTL_CUT_FLOAT (x), x)) \
  F (INT64, gint64, FLOAT64, double, mtl_choose_int64 (MTL_CUT_DOUBLE (x), x)) \
  F (UINT64, guint64, FLOAT32, float, mtl_choose_uint64 (MTL_CUT_FLOAT (x), x)) \
  F (UINT64, guint64, FLOAT64, double, mtl_choose_uint64 (MTL_CUT_DOUBLE (x), x))

#else
#define MTL_FLOATS_TO_LARGE(F)
#endif

/* Does one (dest, source) for each of n elements, four at a time, since compilers do not do
 * that. */
#define MTL_FOR_EACH_SCATTERED(one) \
  { \
    for (; n >= 4; n -= 4, dest += 4 * dest_step, source += 4 * source_step) \
      { \
        one (dest, source); \
        one (dest + dest_step, source + source_step); \
        one (dest + 2 * dest_step, source + 2 * source_step); \
        one (dest + 3 * dest_step, source + 3 * source_step); \
      } \
    for (; n > 0; n--, dest += dest_step, source += source_step) \
      one (dest, source); \
  }

/* F (destination, its type, source, its type, expression for x) */

#define MTL_FROM_INTEGERS(F, DEST, Dest) \
  F (DEST, Dest, BOOL, guint8, mtl_get_truth (x)) \
  F (DEST, Dest, UINT8, guint8, x) \
  F (DEST, Dest, UINT16, guint16, x) \
  F (DEST, Dest, UINT32, guint32, x) \
  F (DEST, Dest, UINT64, guint64, x) \
  F (DEST, Dest, INT8, gint8, x) \
  F (DEST, Dest, INT16, gint16, x) \
  F (DEST, Dest, INT32, gint32, x) \
  F (DEST, Dest, INT64, gint64, x)

#define MTL_TO_BOOL(F) \
  F (BOOL, guint8, UINT8, guint8, x != 0) \
  F (BOOL, guint8, UINT16, guint16, x != 0) \
  F (BOOL, guint8, UINT32, guint32, x != 0) \
  F (BOOL, guint8, UINT64, guint64, x != 0) \
  F (BOOL, guint8, FLOAT16, guint16, (x & 0x7fff) != 0) \
  F (BOOL, guint8, BFLOAT16, guint16, (x & 0x7fff) != 0) \
  F (BOOL, guint8, FLOAT32, guint32, x << 1 != 0) \
  F (BOOL, guint8, FLOAT64, guint64, x << 1 != 0)

#define MTL_SCATTERED(F) \
  MTL_FROM_INTEGERS (F, UINT8, guint8) \
  MTL_FROM_INTEGERS (F, UINT16, guint16) \
  MTL_FROM_INTEGERS (F, UINT32, guint32) \
  MTL_FROM_INTEGERS (F, UINT64, guint64) \
  MTL_FROM_INTEGERS (F, FLOAT32, float) \
  MTL_FROM_INTEGERS (F, FLOAT64, double) \
  MTL_TO_BOOL (F) \
  MTL_FLOATS_TO_LARGE (F) \
  F (FLOAT64, double, FLOAT32, float, x) \
  F (FLOAT32, float, FLOAT64, double, x) \
  F (FLOAT32, guint32, BFLOAT16, guint16, (guint32) x << 16) \
  F (FLOAT64, double, BFLOAT16, guint16, float_of_bits ((guint32) x << 16)) \
  F (BFLOAT16, guint16, FLOAT32, guint32, bfloat16_from_float32 (x))

#define MTL_SCATTERED_TO_COMPLEX(F, DEST, Dest) \
  MTL_FROM_INTEGERS (F, DEST, Dest) \
  F (DEST, Dest, BFLOAT16, guint16, float_of_bits ((guint32) x << 16)) \
  F (DEST, Dest, FLOAT32, float, x) \
  F (DEST, Dest, FLOAT64, double, x)

#define MTL_DEFINE_SCATTERED_LOOP(function, Dest, Source, n_dest, n_source, ...) \
  static inline G_ALWAYS_INLINE void \
  function##_one (guint8       *dest, \
                  const guint8 *source) \
  { \
    Source x[n_source]; \
    Dest result[n_dest] = { 0 }; \
\
    memcpy (x, source, sizeof x); \
    __VA_ARGS__; \
    memcpy (dest, result, sizeof result); \
  } \
\
  static void \
  function (guint8       *restrict dest, \
            const guint8 *restrict source, \
            gsize                  n, \
            gssize                 dest_step, \
            gssize                 source_step) \
  MTL_FOR_EACH_SCATTERED (function##_one)

#define MTL_DEFINE_SCATTERED_NUMBERS(function, Dest, Source, n_dest, expression) \
  static inline G_ALWAYS_INLINE Dest \
  function##_of (Source x) \
  { \
    return (Dest) (expression); \
  } \
\
  MTL_DEFINE_SCATTERED_LOOP (function, Dest, Source, n_dest, 1, result[0] = function##_of (x[0]))

#define MTL_DEFINE_SCATTERED(DEST, Dest, SOURCE, Source, expression) \
  MTL_DEFINE_SCATTERED_NUMBERS (mtl_scattered_##SOURCE##_to_##DEST, Dest, Source, 1, expression)

#define MTL_DEFINE_SCATTERED_COMPLEX(DEST, Dest, SOURCE, Source, expression) \
  MTL_DEFINE_SCATTERED_NUMBERS (mtl_scattered_##SOURCE##_to_complex_##DEST, Dest, Source, 2, \
                                expression)

#define MTL_DEFINE_SCATTERED_COMPLEXES(Dest, Source) \
  MTL_DEFINE_SCATTERED_LOOP (mtl_scattered_complex_##Source##_to_##Dest, Dest, Source, 2, 2, \
                             result[0] = (Dest) x[0], result[1] = (Dest) x[1])

MTL_SCATTERED (MTL_DEFINE_SCATTERED)
MTL_SCATTERED_TO_COMPLEX (MTL_DEFINE_SCATTERED_COMPLEX, FLOAT32, float)
MTL_SCATTERED_TO_COMPLEX (MTL_DEFINE_SCATTERED_COMPLEX, FLOAT64, double)
MTL_DEFINE_SCATTERED_COMPLEXES (float, double)
MTL_DEFINE_SCATTERED_COMPLEXES (double, float)

#define MTL_SCATTERED_ENTRY(DEST, Dest, SOURCE, ...) \
  [MTL_CONVERT_##DEST][MTL_CONVERT_##SOURCE] = mtl_scattered_##SOURCE##_to_##DEST,

#define MTL_SCATTERED_COMPLEX_ENTRY(DEST, Dest, SOURCE, ...) \
  [MTL_CONVERT_##SOURCE] = mtl_scattered_##SOURCE##_to_complex_##DEST,

/* F (destination, its type, source, its type, four numbers x to a vector, which is stored) */

#if defined(__AVX2__) && defined(__F16C__)

#define MTL_LOAD_FOUR(Number) \
  Number a, b, c, d; \
\
  memcpy (&a, source, sizeof a); \
  memcpy (&b, source + step, sizeof b); \
  memcpy (&c, source + 2 * step, sizeof c); \
  memcpy (&d, source + 3 * step, sizeof d)

#define MTL_DEFINE_LOAD_4(Number) \
  static inline G_ALWAYS_INLINE __m256d \
  mtl_load_4_##Number##s (const guint8 *source, \
                          gssize        step) \
  { \
    MTL_LOAD_FOUR (Number); \
    return _mm256_setr_pd (a, b, c, d); \
  }

MTL_DEFINE_LOAD_4 (double)
MTL_DEFINE_LOAD_4 (guint32)
MTL_DEFINE_LOAD_4 (gint32)
MTL_DEFINE_LOAD_4 (gint64)

#define MTL_DEFINE_LOAD_4_INTEGERS(Number) \
  static inline G_ALWAYS_INLINE __m128 \
  mtl_load_4_##Number##s (const guint8 *source, \
                          gssize        step) \
  { \
    MTL_LOAD_FOUR (Number); \
    return _mm_cvtepi32_ps (_mm_setr_epi32 (a, b, c, d)); \
  }

MTL_DEFINE_LOAD_4_INTEGERS (guint8)
MTL_DEFINE_LOAD_4_INTEGERS (guint16)
MTL_DEFINE_LOAD_4_INTEGERS (gint8)
MTL_DEFINE_LOAD_4_INTEGERS (gint16)

static inline G_ALWAYS_INLINE __m256d
mtl_load_4_guint64s (const guint8 *source,
                     gssize        step)
{
  MTL_LOAD_FOUR (guint64);
  return _mm256_setr_pd (uint64_to_double (a), uint64_to_double (b), uint64_to_double (c),
                         uint64_to_double (d));
}

static inline G_ALWAYS_INLINE __m128
mtl_load_4_halves (const guint8 *source,
                   gssize        step)
{
  MTL_LOAD_FOUR (guint16);
  return _mm_cvtph_ps (_mm_setr_epi16 (a, b, c, d, 0, 0, 0, 0));
}

static inline G_ALWAYS_INLINE __m128
mtl_load_4_singles (const guint8 *source,
                    gssize        step)
{
  MTL_LOAD_FOUR (float);
  return _mm_setr_ps (a, b, c, d);
}

static inline G_ALWAYS_INLINE __m256d
mtl_load_4_floats (const guint8 *source,
                   gssize        step)
{
  return _mm256_cvtps_pd (mtl_load_4_singles (source, step));
}

static inline G_ALWAYS_INLINE __m256d
mtl_load_4_halves_as_doubles (const guint8 *source,
                              gssize        step)
{
  return _mm256_cvtps_pd (mtl_load_4_halves (source, step));
}

#define MTL_DEFINE_STORE_4(size, get) \
  static inline G_ALWAYS_INLINE void \
  mtl_store_4_of_##size (guint8  *dest, \
                         gssize   step, \
                         __m128i  x) \
  { \
    guint32 a = get (x, 0), b = get (x, 1), c = get (x, 2), d = get (x, 3); \
\
    memcpy (dest, &a, size); \
    memcpy (dest + step, &b, size); \
    memcpy (dest + 2 * step, &c, size); \
    memcpy (dest + 3 * step, &d, size); \
  }

#define MTL_GET_LOW_BYTE(x, i) _mm_extract_epi8 (x, 4 * (i))
#define MTL_GET_LOW_HALF(x, i) _mm_extract_epi16 (x, 2 * (i))

MTL_DEFINE_STORE_4 (1, MTL_GET_LOW_BYTE)
MTL_DEFINE_STORE_4 (2, MTL_GET_LOW_HALF)
MTL_DEFINE_STORE_4 (4, _mm_extract_epi32)

static inline G_ALWAYS_INLINE void
mtl_store_4_halves (guint8 *dest,
                    gssize  step,
                    __m128  x)
{
  __m128i halves = _mm_cvtps_ph (x, 0);

  mtl_store_4_of_2 (dest, step, _mm_unpacklo_epi16 (halves, halves));
}

static inline G_ALWAYS_INLINE void
mtl_store_4_of_8 (guint8  *dest,
                  gssize   step,
                  __m256i  x)
{
  guint64 a = _mm256_extract_epi64 (x, 0), b = _mm256_extract_epi64 (x, 1);
  guint64 c = _mm256_extract_epi64 (x, 2), d = _mm256_extract_epi64 (x, 3);

  memcpy (dest, &a, sizeof a);
  memcpy (dest + step, &b, sizeof b);
  memcpy (dest + 2 * step, &c, sizeof c);
  memcpy (dest + 3 * step, &d, sizeof d);
}

/* Rounds to the nearest number of a range, and NaN to 0. */
static inline G_ALWAYS_INLINE __m256d
mtl_limit_4 (__m256d x,
             double  least,
             double  most)
{
  x = _mm256_and_pd (x, _mm256_cmp_pd (x, x, _CMP_ORD_Q));
  return _mm256_min_pd (_mm256_max_pd (x, _mm256_set1_pd (least)), _mm256_set1_pd (most));
}

static inline G_ALWAYS_INLINE __m128i
mtl_cut_4 (__m256d x,
           double  least,
           double  most)
{
  return _mm256_cvttpd_epi32 (mtl_limit_4 (x, least, most));
}

/* The limits have at most 16 bits, which floats hold. */
static inline G_ALWAYS_INLINE __m128i
mtl_cut_4_singles (__m128 x,
                   float  least,
                   float  most)
{
  x = _mm_and_ps (x, _mm_cmpord_ps (x, x));
  return _mm_cvttps_epi32 (_mm_min_ps (_mm_max_ps (x, _mm_set1_ps (least)), _mm_set1_ps (most)));
}

/* The range is halved, as all instructions are for signed numbers. */
static inline G_ALWAYS_INLINE __m128i
mtl_cut_4_to_uint32 (__m256d x)
{
  __m256d whole = _mm256_floor_pd (mtl_limit_4 (x, 0, G_MAXUINT32));
  __m128i half = _mm256_cvttpd_epi32 (_mm256_sub_pd (whole, _mm256_set1_pd (0x1p31)));

  return _mm_xor_si128 (half, _mm_set1_epi32 (G_MININT32));
}

/* Large numbers are few, and cut one by one. */
#define MTL_DEFINE_STORE_LARGE(name, least, sum, cut) \
  static inline G_ALWAYS_INLINE void \
  name (guint8  *dest, \
        gssize   step, \
        __m256d  x) \
  { \
    __m256d whole = _mm256_round_pd (x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC); \
    __m256d is_near = _mm256_and_pd (_mm256_cmp_pd (x, _mm256_set1_pd (least), _CMP_GE_OQ), \
                                     _mm256_cmp_pd (x, _mm256_set1_pd (0x1p51), _CMP_LT_OQ)); \
    __m256i near = _mm256_castpd_si256 (_mm256_add_pd (whole, _mm256_set1_pd (sum))); \
    double numbers[4]; \
\
    near = _mm256_sub_epi64 (near, _mm256_castpd_si256 (_mm256_set1_pd (sum))); \
    if (_mm256_movemask_pd (is_near) == 0xf) \
      { \
        mtl_store_4_of_8 (dest, step, near); \
        return; \
      } \
\
    _mm256_storeu_pd (numbers, x); \
    for (int i = 0; i < 4; i++) \
      { \
        guint64 result = cut; \
\
        memcpy (dest + i * step, &result, sizeof result); \
      } \
  }

MTL_DEFINE_STORE_LARGE (mtl_store_4_int64s, -0x1p51, 0x1.8p52,
                        mtl_cut_any_to_int64 (numbers[i]))
MTL_DEFINE_STORE_LARGE (mtl_store_4_uint64s, 0, 0x1p52,
                        mtl_cut_any_to_uint64 (numbers[i]))

#define MTL_CUT_4(F, SOURCE, Source, cut, load) \
  F (UINT8, guint8, SOURCE, Source, mtl_store_4_of_1, cut (load, 0, G_MAXUINT8)) \
  F (UINT16, guint16, SOURCE, Source, mtl_store_4_of_2, cut (load, 0, G_MAXUINT16)) \
  F (INT8, gint8, SOURCE, Source, mtl_store_4_of_1, cut (load, G_MININT8, G_MAXINT8)) \
  F (INT16, gint16, SOURCE, Source, mtl_store_4_of_2, cut (load, G_MININT16, G_MAXINT16))

#define MTL_CUT_4_TO_32_BITS(F, SOURCE, Source, load) \
  F (UINT32, guint32, SOURCE, Source, mtl_store_4_of_4, mtl_cut_4_to_uint32 (load)) \
  F (INT32, gint32, SOURCE, Source, mtl_store_4_of_4, mtl_cut_4 (load, G_MININT32, G_MAXINT32))

#define MTL_TO_FLOAT16_BY_4(F, SOURCE, Source) \
  F (FLOAT16, guint16, SOURCE, Source, mtl_store_4_halves, \
     mtl_cut_4_doubles_to_odd (mtl_load_4_##Source##s (source, step)))

#define MTL_SCATTERED_BY_4(F) \
  MTL_CUT_4 (F, FLOAT64, double, mtl_cut_4, mtl_load_4_doubles (source, step)) \
  MTL_CUT_4 (F, FLOAT32, float, mtl_cut_4_singles, mtl_load_4_singles (source, step)) \
  MTL_CUT_4 (F, FLOAT16, guint16, mtl_cut_4_singles, mtl_load_4_halves (source, step)) \
  MTL_CUT_4_TO_32_BITS (F, FLOAT64, double, mtl_load_4_doubles (source, step)) \
  MTL_CUT_4_TO_32_BITS (F, FLOAT32, float, mtl_load_4_floats (source, step)) \
  MTL_CUT_4_TO_32_BITS (F, FLOAT16, guint16, mtl_load_4_halves_as_doubles (source, step)) \
  F (INT64, gint64, FLOAT16, guint16, mtl_store_4_int64s, \
     mtl_load_4_halves_as_doubles (source, step)) \
  F (UINT64, guint64, FLOAT16, guint16, mtl_store_4_uint64s, \
     mtl_load_4_halves_as_doubles (source, step)) \
  MTL_TO_FLOAT16_BY_4 (F, UINT32, guint32) \
  MTL_TO_FLOAT16_BY_4 (F, UINT64, guint64) \
  MTL_TO_FLOAT16_BY_4 (F, INT32, gint32) \
  MTL_TO_FLOAT16_BY_4 (F, INT64, gint64) \
  MTL_TO_FLOAT16_BY_4 (F, FLOAT64, double) \
  F (FLOAT16, guint16, UINT8, guint8, mtl_store_4_halves, mtl_load_4_guint8s (source, step)) \
  F (FLOAT16, guint16, UINT16, guint16, mtl_store_4_halves, mtl_load_4_guint16s (source, step)) \
  F (FLOAT16, guint16, INT8, gint8, mtl_store_4_halves, mtl_load_4_gint8s (source, step)) \
  F (FLOAT16, guint16, INT16, gint16, mtl_store_4_halves, mtl_load_4_gint16s (source, step)) \
  F (FLOAT16, guint16, FLOAT32, float, mtl_store_4_halves, mtl_load_4_singles (source, step)) \
  F (FLOAT32, float, FLOAT16, guint16, mtl_store_4_of_4, \
     _mm_castps_si128 (mtl_load_4_halves (source, step))) \
  F (FLOAT64, double, FLOAT16, guint16, mtl_store_4_of_8, \
     _mm256_castpd_si256 (mtl_load_4_halves_as_doubles (source, step)))

/* The last ones are converted as four of which the others are 0. */
#define MTL_DEFINE_BY_4(DEST, Dest, SOURCE, Source, store, x) \
  static inline G_ALWAYS_INLINE void \
  mtl_four_##SOURCE##_to_##DEST (guint8       *dest, \
                                 const guint8 *source, \
                                 gssize        dest_step, \
                                 gssize        step) \
  { \
    store (dest, dest_step, x); \
  } \
\
  static void \
  mtl_scattered_##SOURCE##_to_##DEST (guint8       *restrict dest, \
                                      const guint8 *restrict source, \
                                      gsize                  n, \
                                      gssize                 dest_step, \
                                      gssize                 source_step) \
  { \
    Source few[4] = { 0 }; \
    Dest result[4]; \
\
    for (; n >= 4; n -= 4, dest += 4 * dest_step, source += 4 * source_step) \
      mtl_four_##SOURCE##_to_##DEST (dest, source, dest_step, source_step); \
    if (n == 0) \
      return; \
\
    for (gsize i = 0; i < n; i++) \
      memcpy (&few[i], source + (gssize) i * source_step, sizeof few[i]); \
    mtl_four_##SOURCE##_to_##DEST ((guint8 *) result, (const guint8 *) few, sizeof result[0], \
                                   sizeof few[0]); \
    for (gsize i = 0; i < n; i++) \
      memcpy (dest + (gssize) i * dest_step, &result[i], sizeof result[i]); \
  }

MTL_SCATTERED_BY_4 (MTL_DEFINE_BY_4)

#else
#define MTL_SCATTERED_BY_4(F)
#endif
