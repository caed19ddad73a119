/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

/* Rounds to float32 towards zero, and sets the last bit if bits are lost, for several
 * numbers at once: by instructions with a rounding mode, or as in
 * mtl-convert-numbers-private.h. */

#include "mtl-convert-instructions-private.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__)

#define MTL_TOWARDS_ZERO (_MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)

#define DEFINE_ODD_VECTOR(name, Vector, load, Float, narrow, widen, differ, Bits, or_one, store) \
  static inline G_ALWAYS_INLINE void \
  name (guint8       *dest, \
        const guint8 *source) \
  { \
    Vector x = load (source); \
    Float cut = narrow (x, MTL_TOWARDS_ZERO); \
\
    store (dest, or_one ((Bits) cut, differ (x, widen (cut)))); \
  }

#define MTL_OR_ONE_16(bits, mask) \
  _mm512_mask_or_epi32 (bits, mask, bits, _mm512_set1_epi32 (1))
#define MTL_OR_ONE_8(bits, mask) \
  _mm256_mask_or_epi32 (bits, mask, bits, _mm256_set1_epi32 (1))
#define MTL_STORE_8(dest, bits) _mm256_storeu_si256 ((gpointer) (dest), bits)
#define MTL_DOUBLES_DIFFER(a, b) _mm512_cmp_pd_mask (a, b, _CMP_NEQ_UQ)

DEFINE_ODD_VECTOR (mtl_odd_of_16_int32, __m512i, _mm512_loadu_si512, __m512,
                   _mm512_cvt_roundepi32_ps, _mm512_cvttps_epi32, _mm512_cmpneq_epi32_mask,
                   __m512i, MTL_OR_ONE_16, _mm512_storeu_si512)
DEFINE_ODD_VECTOR (mtl_odd_of_16_uint32, __m512i, _mm512_loadu_si512, __m512,
                   _mm512_cvt_roundepu32_ps, _mm512_cvttps_epu32, _mm512_cmpneq_epi32_mask,
                   __m512i, MTL_OR_ONE_16, _mm512_storeu_si512)
DEFINE_ODD_VECTOR (mtl_odd_of_8_int64, __m512i, _mm512_loadu_si512, __m256,
                   _mm512_cvt_roundepi64_ps, _mm512_cvttps_epi64, _mm512_cmpneq_epi64_mask,
                   __m256i, MTL_OR_ONE_8, MTL_STORE_8)
DEFINE_ODD_VECTOR (mtl_odd_of_8_uint64, __m512i, _mm512_loadu_si512, __m256,
                   _mm512_cvt_roundepu64_ps, _mm512_cvttps_epu64, _mm512_cmpneq_epi64_mask,
                   __m256i, MTL_OR_ONE_8, MTL_STORE_8)
DEFINE_ODD_VECTOR (mtl_odd_of_8_double, __m512d, _mm512_loadu_pd, __m256,
                   _mm512_cvt_roundpd_ps, _mm512_cvtps_pd, MTL_DOUBLES_DIFFER,
                   __m256i, MTL_OR_ONE_8, MTL_STORE_8)

#define MTL_INT32_AT_ONCE 16

#elif defined(__AVX2__)

/* Works like round_double_to_odd(), for 4 doubles. */
static inline G_ALWAYS_INLINE __m128i
mtl_odd_of_doubles (__m256d x)
{
  __m256d sign = _mm256_set1_pd (-0.0);
  __m128 nearest = _mm256_cvtpd_ps (x);
  __m256d back = _mm256_cvtps_pd (nearest);
  __m256d differ = _mm256_cmp_pd (back, x, _CMP_NEQ_UQ);
  __m256d above = _mm256_cmp_pd (_mm256_andnot_pd (sign, back), _mm256_andnot_pd (sign, x),
                                 _CMP_GT_OQ);
  /* Both halves of each mask are equal. */
  __m256i masks = (__m256i) _mm256_shuffle_ps ((__m256) differ, (__m256) above, 0x88);
  __m128i low = _mm256_castsi256_si128 (masks), high = _mm256_extracti128_si256 (masks, 1);
  __m128i bits = _mm_add_epi32 ((__m128i) nearest, _mm_unpackhi_epi64 (low, high));

  return _mm_or_si128 (bits, _mm_srli_epi32 (_mm_unpacklo_epi64 (low, high), 31));
}

/* Is exact, like magnitude_for_double(). The upper and the lower half each become the
 * mantissa of a double. */
static inline G_ALWAYS_INLINE __m256d
mtl_odd_doubles_of_uint64 (__m256i x)
{
  __m256i zero = _mm256_setzero_si256 (), rest_mask = _mm256_set1_epi64x (0x7ff);
  __m256i has_no_rest = _mm256_cmpeq_epi64 (_mm256_and_si256 (x, rest_mask), zero);
  __m256i last = _mm256_andnot_si256 (has_no_rest, _mm256_set1_epi64x (0x800));
  __m256i odd = _mm256_or_si256 (_mm256_andnot_si256 (rest_mask, x), last);
  __m256i is_short = _mm256_cmpeq_epi64 (_mm256_srli_epi64 (x, 53), zero);
  __m256i upper, lower;

  odd = _mm256_blendv_epi8 (odd, x, is_short);
  upper = _mm256_or_si256 (_mm256_srli_epi64 (odd, 32), (__m256i) _mm256_set1_pd (0x1p84));
  lower = _mm256_blend_epi32 (odd, (__m256i) _mm256_set1_pd (0x1p52), 0xaa);
  return _mm256_add_pd (_mm256_sub_pd ((__m256d) upper, _mm256_set1_pd (0x1p84 + 0x1p52)),
                        (__m256d) lower);
}

static inline G_ALWAYS_INLINE __m256d
mtl_odd_doubles_of_int64 (__m256i x)
{
  __m256i negative = _mm256_cmpgt_epi64 (_mm256_setzero_si256 (), x);
  __m256i magnitude = _mm256_sub_epi64 (_mm256_xor_si256 (x, negative), negative);
  __m256d sign = _mm256_and_pd ((__m256d) negative, _mm256_set1_pd (-0.0));

  return _mm256_or_pd (mtl_odd_doubles_of_uint64 (magnitude), sign);
}

static inline G_ALWAYS_INLINE __m256d
mtl_doubles_of_uint32 (__m128i x)
{
  __m128i half = _mm_set1_epi32 (G_MININT32);

  return _mm256_add_pd (_mm256_cvtepi32_pd (_mm_xor_si128 (x, half)), _mm256_set1_pd (0x1p31));
}

#define MTL_LOAD_4(source) _mm_loadu_si128 ((gconstpointer) (source))
#define MTL_LOAD_8(source) _mm256_loadu_si256 ((gconstpointer) (source))
#define MTL_LOAD_DOUBLES(source) _mm256_loadu_pd ((gconstpointer) (source))
#define MTL_AS_THEY_ARE(x) (x)

#define DEFINE_ODD_BY_4(name, size, load, to_doubles) \
  static inline G_ALWAYS_INLINE void \
  name (guint8       *dest, \
        const guint8 *source) \
  { \
    for (guint i = 0; i < 8; i += 4) \
      _mm_storeu_si128 ((gpointer) (dest + 4 * i), \
                        mtl_odd_of_doubles (to_doubles (load (source + i * size)))); \
  }

DEFINE_ODD_BY_4 (mtl_odd_of_8_int32, 4, MTL_LOAD_4, _mm256_cvtepi32_pd)
DEFINE_ODD_BY_4 (mtl_odd_of_8_uint32, 4, MTL_LOAD_4, mtl_doubles_of_uint32)
DEFINE_ODD_BY_4 (mtl_odd_of_8_int64, 8, MTL_LOAD_8, mtl_odd_doubles_of_int64)
DEFINE_ODD_BY_4 (mtl_odd_of_8_uint64, 8, MTL_LOAD_8, mtl_odd_doubles_of_uint64)
DEFINE_ODD_BY_4 (mtl_odd_of_8_double, 8, MTL_LOAD_DOUBLES, MTL_AS_THEY_ARE)

#define MTL_INT32_AT_ONCE 8

#endif

#define MTL_ODD_OF_THE_REST(Source, expression) \
  for (; i < n; i++) \
    { \
      Source x; \
      guint32 result; \
\
      memcpy (&x, source + i * sizeof x, sizeof x); \
      result = expression (x); \
      memcpy (dest + 4 * i, &result, sizeof result); \
    }

#ifdef MTL_INT32_AT_ONCE
#define DEFINE_ODD(function, Source, at_once, several, expression) \
  static void \
  function (guint8       *restrict dest, \
            const guint8 *restrict source, \
            gsize                  n) \
  { \
    gsize i = 0; \
\
    for (; i + at_once <= n; i += at_once) \
      several (dest + 4 * i, source + i * sizeof (Source)); \
    MTL_ODD_OF_THE_REST (Source, expression) \
  }
#else
#define DEFINE_ODD(function, Source, at_once, several, expression) \
  static void \
  function (guint8       *restrict dest, \
            const guint8 *restrict source, \
            gsize                  n) \
  { \
    gsize i = 0; \
\
    MTL_ODD_OF_THE_REST (Source, expression) \
  }
#endif

#define MTL_PASTE(a, b, c) a##b##c
#define MTL_ODD_OF(n, name) MTL_PASTE (mtl_odd_of_, n, name)

DEFINE_ODD (mtl_convert_int32_to_odd, gint32, MTL_INT32_AT_ONCE,
            MTL_ODD_OF (MTL_INT32_AT_ONCE, _int32), round_int64_to_odd_float32)
DEFINE_ODD (mtl_convert_uint32_to_odd, guint32, MTL_INT32_AT_ONCE,
            MTL_ODD_OF (MTL_INT32_AT_ONCE, _uint32), round_uint64_to_odd_float32)
DEFINE_ODD (mtl_convert_int64_to_odd, gint64, 8, mtl_odd_of_8_int64, round_int64_to_odd_float32)
DEFINE_ODD (mtl_convert_uint64_to_odd, guint64, 8, mtl_odd_of_8_uint64, round_uint64_to_odd_float32)
DEFINE_ODD (mtl_convert_double_to_odd, double, 8, mtl_odd_of_8_double, round_double_to_odd)
