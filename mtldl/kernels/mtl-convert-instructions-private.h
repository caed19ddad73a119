/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

/* Instructions that compilers do not generate from loops: float16 conversions, four
 * times as fast as by bits, and cutting floats to integers without checking them
 * first, twice as fast. Each ends with code for any machine. */

#include "mtl-convert-numbers-private.h"

#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#define MTL_HAS_NEON
#endif

#if defined(__F16C__)
static inline guint16
mtl_round_to_float16 (guint32 bits)
{
  __m128 x = _mm_castsi128_ps (_mm_cvtsi32_si128 ((gint32) bits));

  return (guint16) _mm_cvtsi128_si32 (_mm_cvtps_ph (x, 0));
}

static inline guint32
mtl_widen_float16 (guint16 bits)
{
  __m128 x = _mm_cvtph_ps (_mm_cvtsi32_si128 (bits));

  return (guint32) _mm_cvtsi128_si32 (_mm_castps_si128 (x));
}
#else
#define mtl_round_to_float16(bits) float16_from_float32 (bits)
#define mtl_widen_float16(bits) float16_to_float32 (bits)
#endif

static void
mtl_convert_float32_to_float16 (guint8       *restrict dest,
                                const guint8 *restrict source,
                                gsize                  n)
{
  gsize i = 0;

#if defined(__AVX512F__)
  for (; i + 16 <= n; i += 16)
    {
      __m512 x = _mm512_loadu_ps (source + 4 * i);

      _mm256_storeu_si256 ((gpointer) (dest + 2 * i), _mm512_cvtps_ph (x, 0));
    }
#endif
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8)
    {
      __m256 x = _mm256_loadu_ps ((gconstpointer) (source + 4 * i));

      _mm_storeu_si128 ((gpointer) (dest + 2 * i), _mm256_cvtps_ph (x, 0));
    }
#elif defined(MTL_HAS_NEON)
  for (; i + 4 <= n; i += 4)
    {
      float32x4_t x = vreinterpretq_f32_u8 (vld1q_u8 (source + 4 * i));

      vst1_u8 (dest + 2 * i, vreinterpret_u8_f16 (vcvt_f16_f32 (x)));
    }
#endif
  for (; i < n; i++)
    {
      guint32 x;
      guint16 result;

      memcpy (&x, source + 4 * i, sizeof x);
      result = mtl_round_to_float16 (x);
      memcpy (dest + 2 * i, &result, sizeof result);
    }
}

static void
mtl_convert_float16_to_float32 (guint8       *restrict dest,
                                const guint8 *restrict source,
                                gsize                  n)
{
  gsize i = 0;

#if defined(__AVX512F__)
  for (; i + 16 <= n; i += 16)
    {
      __m256i x = _mm256_loadu_si256 ((gconstpointer) (source + 2 * i));

      _mm512_storeu_ps (dest + 4 * i, _mm512_cvtph_ps (x));
    }
#endif
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8)
    {
      __m128i x = _mm_loadu_si128 ((gconstpointer) (source + 2 * i));

      _mm256_storeu_ps ((gpointer) (dest + 4 * i), _mm256_cvtph_ps (x));
    }
#elif defined(MTL_HAS_NEON)
  for (; i + 4 <= n; i += 4)
    {
      float16x4_t x = vreinterpret_f16_u8 (vld1_u8 (source + 2 * i));

      vst1q_u8 (dest + 4 * i, vreinterpretq_u8_f32 (vcvt_f32_f16 (x)));
    }
#endif
  for (; i < n; i++)
    {
      guint16 x;
      guint32 result;

      memcpy (&x, source + 2 * i, sizeof x);
      result = mtl_widen_float16 (x);
      memcpy (dest + 4 * i, &result, sizeof result);
    }
}

#if defined(__F16C__)
#define MTL_HAS_DOUBLE_TO_FLOAT16

/* Rounds 4 doubles to float32, and sets the last bit if others were lost, so that
 * rounding twice does no harm. */
static inline G_ALWAYS_INLINE __m128
mtl_cut_4_doubles_to_odd (__m256d doubles)
{
  const __m256i lost = _mm256_set1_epi64x (0x1fffffff), last = _mm256_set1_epi64x (0x20000000);
  __m256i x = _mm256_castpd_si256 (doubles);
  __m256i is_exact = _mm256_cmpeq_epi64 (_mm256_and_si256 (x, lost), _mm256_setzero_si256 ());

  x = _mm256_or_si256 (_mm256_andnot_si256 (lost, x), _mm256_andnot_si256 (is_exact, last));
  return _mm256_cvtpd_ps (_mm256_castsi256_pd (x));
}

/* Numbers that float32 cannot hold are infinite or 0 in float16 as well. */
static void
mtl_convert_float64_to_float16 (guint8       *restrict dest,
                                const guint8 *restrict source,
                                gsize                  n)
{
  double few[4] = { 0 };
  gsize i = 0;

  for (; i + 8 <= n; i += 8)
    {
      __m256d low = _mm256_loadu_pd ((gconstpointer) (source + 8 * i));
      __m256d high = _mm256_loadu_pd ((gconstpointer) (source + 8 * i + 32));
      __m256 x = _mm256_set_m128 (mtl_cut_4_doubles_to_odd (high), mtl_cut_4_doubles_to_odd (low));

      _mm_storeu_si128 ((gpointer) (dest + 2 * i), _mm256_cvtps_ph (x, 0));
    }
  for (; i < n; i += 4)
    {
      gsize n_left = MIN (n - i, 4);
      __m128i halves;

      memcpy (few, source + 8 * i, 8 * n_left);
      halves = _mm_cvtps_ph (mtl_cut_4_doubles_to_odd (_mm256_loadu_pd (few)), 0);
      memcpy (dest + 2 * i, &halves, 2 * n_left);
    }
}
#endif

#if defined(__AVX2__) && !defined(__AVX512DQ__)
#define MTL_HAS_LARGE_INTEGERS_TO_FLOAT32

/* Integers that are near 0 are the last bits of a double, and rounded once. Others are
 * few, and converted one by one. */
#define DEFINE_FROM_LARGE(name, first, magic) \
  static void \
  name (guint8       *restrict dest, \
        const guint8 *restrict source, \
        gsize                  n) \
  { \
    const __m256i far = _mm256_set1_epi64x (-((gint64) 1 << 52)); \
    const __m256i least = _mm256_set1_epi64x (first); \
    const __m256d sum = _mm256_set1_pd (magic); \
    gsize i = 0; \
\
    for (; i + 8 <= n; i += 8) \
      { \
        __m256i a = _mm256_loadu_si256 ((gconstpointer) (source + 8 * i)); \
        __m256i b = _mm256_loadu_si256 ((gconstpointer) (source + 8 * i + 32)); \
        __m256d low, high; \
\
        if (!_mm256_testz_si256 (_mm256_or_si256 (_mm256_sub_epi64 (a, least), \
                                                  _mm256_sub_epi64 (b, least)), far)) \
          { \
            name##_by_one (dest + 4 * i, source + 8 * i, 8); \
            continue; \
          } \
\
        a = _mm256_add_epi64 (a, _mm256_castpd_si256 (sum)); \
        b = _mm256_add_epi64 (b, _mm256_castpd_si256 (sum)); \
        low = _mm256_sub_pd (_mm256_castsi256_pd (a), sum); \
        high = _mm256_sub_pd (_mm256_castsi256_pd (b), sum); \
        _mm_storeu_ps ((gpointer) (dest + 4 * i), _mm256_cvtpd_ps (low)); \
        _mm_storeu_ps ((gpointer) (dest + 4 * i + 16), _mm256_cvtpd_ps (high)); \
      } \
    name##_by_one (dest + 4 * i, source + 8 * i, n - i); \
  }

#define DEFINE_FROM_LARGE_BY_ONE(name, Integer) \
  static void \
  name##_by_one (guint8       *dest, \
                 const guint8 *source, \
                 gsize         n) \
  { \
    for (gsize i = 0; i < n; i++) \
      { \
        Integer x; \
        float result; \
\
        memcpy (&x, source + 8 * i, sizeof x); \
        result = x; \
        memcpy (dest + 4 * i, &result, sizeof result); \
      } \
  }

DEFINE_FROM_LARGE_BY_ONE (mtl_convert_int64_to_float32, gint64)
DEFINE_FROM_LARGE_BY_ONE (mtl_convert_uint64_to_float32, guint64)
DEFINE_FROM_LARGE (mtl_convert_int64_to_float32, -((gint64) 1 << 51), 0x1.8p52)
DEFINE_FROM_LARGE (mtl_convert_uint64_to_float32, 0, 0x1p52)
#endif

/* Rounds 16 numbers to the nearest int32, and NaN to 0. The x86 instructions return the
 * lowest int32 for everything that does not fit. */
static inline G_ALWAYS_INLINE void
mtl_cut_floats (guint8       *dest,
                const guint8 *source)
{
#if defined(__AVX512F__)
  for (gsize i = 0; i < 16; i += 16)
    {
      __m512 x = _mm512_loadu_ps (source + 4 * i);
      __mmask16 numbers = _mm512_cmp_ps_mask (x, x, _CMP_ORD_Q);
      __mmask16 above = _mm512_cmp_ps_mask (x, _mm512_set1_ps (0x1p31f), _CMP_GE_OQ);
      __m512i cut = _mm512_maskz_cvttps_epi32 (numbers, x);

      cut = _mm512_mask_mov_epi32 (cut, above, _mm512_set1_epi32 (G_MAXINT32));
      _mm512_storeu_si512 (dest + 4 * i, cut);
    }
#elif defined(__AVX2__)
  for (gsize i = 0; i < 16; i += 8)
    {
      __m256 x = _mm256_loadu_ps ((gconstpointer) (source + 4 * i));
      __m256 numbers = _mm256_cmp_ps (x, x, _CMP_ORD_Q);
      __m256 above = _mm256_cmp_ps (x, _mm256_set1_ps (0x1p31f), _CMP_GE_OQ);
      __m256i cut = _mm256_xor_si256 (_mm256_cvttps_epi32 (x), _mm256_castps_si256 (above));

      cut = _mm256_and_si256 (cut, _mm256_castps_si256 (numbers));
      _mm256_storeu_si256 ((gpointer) (dest + 4 * i), cut);
    }
#elif defined(__SSE2__)
  for (gsize i = 0; i < 16; i += 4)
    {
      __m128 x = _mm_loadu_ps ((gconstpointer) (source + 4 * i));
      __m128 numbers = _mm_cmpord_ps (x, x);
      __m128 above = _mm_cmpge_ps (x, _mm_set1_ps (0x1p31f));
      __m128i cut = _mm_xor_si128 (_mm_cvttps_epi32 (x), _mm_castps_si128 (above));

      cut = _mm_and_si128 (cut, _mm_castps_si128 (numbers));
      _mm_storeu_si128 ((gpointer) (dest + 4 * i), cut);
    }
#elif defined(MTL_HAS_NEON)
  for (gsize i = 0; i < 16; i += 4)
    {
      int32x4_t cut = vcvtq_s32_f32 (vreinterpretq_f32_u8 (vld1q_u8 (source + 4 * i)));

      vst1q_u8 (dest + 4 * i, vreinterpretq_u8_s32 (cut));
    }
#else
  for (gsize i = 0; i < 16; i++)
    {
      float x;
      gint32 cut;

      memcpy (&x, source + 4 * i, sizeof x);
      cut = float_to_int32 (x, 0x1.fffffep30f);
      memcpy (dest + 4 * i, &cut, sizeof cut);
    }
#endif
}

#if defined(__AVX512F__)
static inline G_ALWAYS_INLINE __m256i
mtl_cut_8_doubles (const guint8 *source)
{
  __m512d x = _mm512_loadu_pd (source);
  __m512d limited = _mm512_min_pd (x, _mm512_set1_pd (G_MAXINT32));

  return _mm512_maskz_cvttpd_epi32 (_mm512_cmp_pd_mask (x, x, _CMP_ORD_Q), limited);
}
#elif defined(__SSE2__) && !defined(__AVX2__)
static inline G_ALWAYS_INLINE __m128i
mtl_cut_2_doubles (const guint8 *source)
{
  __m128d x = _mm_loadu_pd ((gconstpointer) source);
  __m128d limited = _mm_min_pd (x, _mm_set1_pd (G_MAXINT32));

  return _mm_cvttpd_epi32 (_mm_and_pd (limited, _mm_cmpord_pd (x, x)));
}
#endif

static inline G_ALWAYS_INLINE void
mtl_cut_doubles (guint8       *dest,
                 const guint8 *source)
{
  /* Stores are as wide as the loads that follow them. */
#if defined(__AVX512F__)
  for (gsize i = 0; i < 16; i += 16)
    {
      __m512i low = _mm512_castsi256_si512 (mtl_cut_8_doubles (source + 8 * i));
      __m256i high = mtl_cut_8_doubles (source + 8 * i + 64);

      _mm512_storeu_si512 (dest + 4 * i, _mm512_inserti64x4 (low, high, 1));
    }
#elif defined(__AVX2__)
  for (gsize i = 0; i < 16; i += 4)
    {
      __m256d x = _mm256_loadu_pd ((gconstpointer) (source + 8 * i));
      __m256d numbers = _mm256_cmp_pd (x, x, _CMP_ORD_Q);
      __m256d limited = _mm256_min_pd (x, _mm256_set1_pd (G_MAXINT32));
      __m128i cut = _mm256_cvttpd_epi32 (_mm256_and_pd (limited, numbers));

      _mm_storeu_si128 ((gpointer) (dest + 4 * i), cut);
    }
#elif defined(__SSE2__)
  for (gsize i = 0; i < 16; i += 4)
    {
      __m128i low = mtl_cut_2_doubles (source + 8 * i);
      __m128i high = mtl_cut_2_doubles (source + 8 * i + 16);

      _mm_storeu_si128 ((gpointer) (dest + 4 * i), _mm_unpacklo_epi64 (low, high));
    }
#elif defined(MTL_HAS_NEON)
  for (gsize i = 0; i < 16; i += 2)
    {
      float64x2_t x = vreinterpretq_f64_u8 (vld1q_u8 (source + 8 * i));

      vst1_u8 (dest + 4 * i, vreinterpret_u8_s32 (vqmovn_s64 (vcvtq_s64_f64 (x))));
    }
#else
  for (gsize i = 0; i < 16; i++)
    {
      double x;
      gint32 cut;

      memcpy (&x, source + 8 * i, sizeof x);
      cut = double_to_int32 (x, 0x1.fffffffcp30);
      memcpy (dest + 4 * i, &cut, sizeof cut);
    }
#endif
}

/* Saturates 16 integers to a narrower type. */
#if defined(__AVX512F__)

static inline G_ALWAYS_INLINE void
mtl_saturate_gint8 (guint8       *dest,
                    const gint32 *source)
{
  __m512i x = _mm512_loadu_si512 (source);

  _mm_storeu_si128 ((gpointer) dest, _mm512_cvtsepi32_epi8 (x));
}

static inline G_ALWAYS_INLINE void
mtl_saturate_guint8 (guint8       *dest,
                     const gint32 *source)
{
  __m512i x = _mm512_max_epi32 (_mm512_loadu_si512 (source), _mm512_setzero_si512 ());

  _mm_storeu_si128 ((gpointer) dest, _mm512_cvtusepi32_epi8 (x));
}

static inline G_ALWAYS_INLINE void
mtl_saturate_gint16 (guint8       *dest,
                     const gint32 *source)
{
  __m512i x = _mm512_loadu_si512 (source);

  _mm256_storeu_si256 ((gpointer) dest, _mm512_cvtsepi32_epi16 (x));
}

static inline G_ALWAYS_INLINE void
mtl_saturate_guint16 (guint8       *dest,
                      const gint32 *source)
{
  __m512i x = _mm512_max_epi32 (_mm512_loadu_si512 (source), _mm512_setzero_si512 ());

  _mm256_storeu_si256 ((gpointer) dest, _mm512_cvtusepi32_epi16 (x));
}

#elif defined(__SSE2__)

static inline G_ALWAYS_INLINE __m128i
mtl_saturate_8_signed (const gint32 *source)
{
  return _mm_packs_epi32 (_mm_loadu_si128 ((gconstpointer) source),
                          _mm_loadu_si128 ((gconstpointer) (source + 4)));
}

/* Saturates signed integers, offset by the middle of the range. */
static inline G_ALWAYS_INLINE __m128i
mtl_saturate_8_unsigned (const gint32 *source)
{
  __m128i a = _mm_loadu_si128 ((gconstpointer) source);
  __m128i b = _mm_loadu_si128 ((gconstpointer) (source + 4));
  __m128i half = _mm_set1_epi32 (0x8000);

  a = _mm_sub_epi32 (_mm_andnot_si128 (_mm_srai_epi32 (a, 31), a), half);
  b = _mm_sub_epi32 (_mm_andnot_si128 (_mm_srai_epi32 (b, 31), b), half);
  return _mm_xor_si128 (_mm_packs_epi32 (a, b), _mm_set1_epi16 (G_MININT16));
}

static inline G_ALWAYS_INLINE void
mtl_saturate_gint8 (guint8       *dest,
                    const gint32 *source)
{
  _mm_storeu_si128 ((gpointer) dest, _mm_packs_epi16 (mtl_saturate_8_signed (source),
                                                      mtl_saturate_8_signed (source + 8)));
}

static inline G_ALWAYS_INLINE void
mtl_saturate_guint8 (guint8       *dest,
                     const gint32 *source)
{
  _mm_storeu_si128 ((gpointer) dest, _mm_packus_epi16 (mtl_saturate_8_signed (source),
                                                       mtl_saturate_8_signed (source + 8)));
}

static inline G_ALWAYS_INLINE void
mtl_saturate_gint16 (guint8       *dest,
                     const gint32 *source)
{
  _mm_storeu_si128 ((gpointer) dest, mtl_saturate_8_signed (source));
  _mm_storeu_si128 ((gpointer) (dest + 16), mtl_saturate_8_signed (source + 8));
}

static inline G_ALWAYS_INLINE void
mtl_saturate_guint16 (guint8       *dest,
                      const gint32 *source)
{
  _mm_storeu_si128 ((gpointer) dest, mtl_saturate_8_unsigned (source));
  _mm_storeu_si128 ((gpointer) (dest + 16), mtl_saturate_8_unsigned (source + 8));
}

#else

#define DEFINE_SATURATE(Dest, min, max) \
  static inline void \
  mtl_saturate_##Dest (guint8       *dest, \
                       const gint32 *source) \
  { \
    for (guint i = 0; i < 16; i++) \
      { \
        Dest result = (Dest) CLAMP (source[i], min, max); \
\
        memcpy (dest + i * sizeof result, &result, sizeof result); \
      } \
  }

DEFINE_SATURATE (gint8, -0x80, 0x7f)
DEFINE_SATURATE (guint8, 0, 0xff)
DEFINE_SATURATE (gint16, -0x8000, 0x7fff)
DEFINE_SATURATE (guint16, 0, 0xffff)

#endif

/* Cuts 16 floats to int32 first. */
#define DEFINE_NARROW(Source, Dest) \
  static inline G_ALWAYS_INLINE void \
  mtl_narrow_16_##Source##s_to_##Dest (guint8       *dest, \
                                       const guint8 *source) \
  { \
    gint32 cut[16]; \
\
    mtl_cut_##Source##s ((guint8 *) cut, source); \
    mtl_saturate_##Dest (dest, cut); \
  }

#if defined(__AVX512F__)

/* NaN becomes 0 first. Values too large for int32 become its lowest value. As an
 * unsigned number, that is still too large. */
#define DEFINE_NARROW_UNSIGNED(Dest, Vector, store, saturate) \
  static inline G_ALWAYS_INLINE void \
  mtl_narrow_16_floats_to_##Dest (guint8       *dest, \
                                  const guint8 *source) \
  { \
    __m512 x = _mm512_max_ps (_mm512_loadu_ps (source), _mm512_setzero_ps ()); \
\
    store ((Vector *) (gpointer) dest, saturate (_mm512_cvttps_epi32 (x))); \
  }

#define DEFINE_NARROW_SIGNED(Dest, Vector, max, store, saturate) \
  static inline G_ALWAYS_INLINE void \
  mtl_narrow_16_floats_to_##Dest (guint8       *dest, \
                                  const guint8 *source) \
  { \
    __m512 x = _mm512_loadu_ps (source); \
    __mmask16 numbers = _mm512_cmp_ps_mask (x, x, _CMP_ORD_Q); \
\
    x = _mm512_min_ps (x, _mm512_set1_ps (max)); \
    store ((Vector *) (gpointer) dest, saturate (_mm512_maskz_cvttps_epi32 (numbers, x))); \
  }

DEFINE_NARROW_UNSIGNED (guint8, __m128i, _mm_storeu_si128, _mm512_cvtusepi32_epi8)
DEFINE_NARROW_UNSIGNED (guint16, __m256i, _mm256_storeu_si256, _mm512_cvtusepi32_epi16)
DEFINE_NARROW_SIGNED (gint8, __m128i, 0x7f, _mm_storeu_si128, _mm512_cvtsepi32_epi8)
DEFINE_NARROW_SIGNED (gint16, __m256i, 0x7fff, _mm256_storeu_si256, _mm512_cvtsepi32_epi16)

#elif defined(__AVX2__)

/* NaN becomes 0, and values that are too large become the largest. Values that are
 * too small are still too small as int32. */
static inline G_ALWAYS_INLINE __m256i
mtl_cut_8_for_unsigned (const guint8 *source,
                        float         most)
{
  __m256 x = _mm256_max_ps (_mm256_loadu_ps ((gconstpointer) source), _mm256_setzero_ps ());

  return _mm256_cvttps_epi32 (_mm256_min_ps (x, _mm256_set1_ps (most)));
}

static inline G_ALWAYS_INLINE __m256i
mtl_cut_8_for_signed (const guint8 *source,
                      float         most)
{
  __m256 x = _mm256_loadu_ps ((gconstpointer) source);
  __m256 numbers = _mm256_cmp_ps (x, x, _CMP_ORD_Q);

  x = _mm256_min_ps (_mm256_and_ps (x, numbers), _mm256_set1_ps (most));
  return _mm256_cvttps_epi32 (x);
}

#define DEFINE_NARROW_BY_8(Dest, kind, max, pack, store) \
  static inline G_ALWAYS_INLINE void \
  mtl_narrow_16_floats_to_##Dest (guint8       *dest, \
                                  const guint8 *source) \
  { \
    __m256i words = pack (mtl_cut_8_for_##kind (source, max), \
                          mtl_cut_8_for_##kind (source + 32, max)); \
\
    store (dest, _mm256_permute4x64_epi64 (words, 0xd8)); \
  }

#define MTL_STORE_WORDS(dest, words) _mm256_storeu_si256 ((gpointer) (dest), words)
#define MTL_STORE_BYTES(pack, dest, words) \
  _mm_storeu_si128 ((gpointer) (dest), pack (_mm256_castsi256_si128 (words), \
                                             _mm256_extracti128_si256 (words, 1)))
#define MTL_STORE_UNSIGNED_BYTES(dest, words) MTL_STORE_BYTES (_mm_packus_epi16, dest, words)
#define MTL_STORE_SIGNED_BYTES(dest, words) MTL_STORE_BYTES (_mm_packs_epi16, dest, words)

DEFINE_NARROW_BY_8 (guint8, unsigned, 0xff, _mm256_packus_epi32, MTL_STORE_UNSIGNED_BYTES)
DEFINE_NARROW_BY_8 (guint16, unsigned, 0xffff, _mm256_packus_epi32, MTL_STORE_WORDS)
DEFINE_NARROW_BY_8 (gint8, signed, 0x7f, _mm256_packs_epi32, MTL_STORE_SIGNED_BYTES)
DEFINE_NARROW_BY_8 (gint16, signed, 0x7fff, _mm256_packs_epi32, MTL_STORE_WORDS)

#else

DEFINE_NARROW (float, guint8)
DEFINE_NARROW (float, guint16)
DEFINE_NARROW (float, gint8)
DEFINE_NARROW (float, gint16)

#endif

DEFINE_NARROW (double, guint8)
DEFINE_NARROW (double, guint16)
DEFINE_NARROW (double, gint8)
DEFINE_NARROW (double, gint16)

#define mtl_narrow_16_floats_to_gint32(dest, source) mtl_cut_floats (dest, source)
#define mtl_narrow_16_doubles_to_gint32(dest, source) mtl_cut_doubles (dest, source)

/* NaN becomes 0 first, as uint32 needs. Values that are too large become the largest
 * one. */
#if defined(__AVX512F__)

static inline G_ALWAYS_INLINE void
mtl_narrow_16_floats_to_guint32 (guint8       *dest,
                                 const guint8 *source)
{
  __m512 x = _mm512_max_ps (_mm512_loadu_ps (source), _mm512_setzero_ps ());

  _mm512_storeu_si512 (dest, _mm512_cvttps_epu32 (x));
}

static inline G_ALWAYS_INLINE void
mtl_narrow_16_doubles_to_guint32 (guint8       *dest,
                                  const guint8 *source)
{
  for (gsize i = 0; i < 16; i += 8)
    {
      __m512d x = _mm512_max_pd (_mm512_loadu_pd (source + 8 * i), _mm512_setzero_pd ());

      _mm256_storeu_si256 ((gpointer) (dest + 4 * i), _mm512_cvttpd_epu32 (x));
    }
}

#elif defined(__AVX2__)

/* The upper half of the range less its beginning, which is then the highest bit. */
static inline G_ALWAYS_INLINE void
mtl_narrow_16_floats_to_guint32 (guint8       *dest,
                                 const guint8 *source)
{
  const __m256 half = _mm256_set1_ps (0x1p31f);

  for (gsize i = 0; i < 16; i += 8)
    {
      __m256 x = _mm256_loadu_ps ((gconstpointer) (source + 4 * i));
      __m256 is_upper, is_above;
      __m256i cut, bit;

      x = _mm256_max_ps (x, _mm256_setzero_ps ());
      is_upper = _mm256_cmp_ps (x, half, _CMP_GE_OQ);
      is_above = _mm256_cmp_ps (x, _mm256_set1_ps (0x1p32f), _CMP_GE_OQ);
      cut = _mm256_cvttps_epi32 (_mm256_sub_ps (x, _mm256_and_ps (is_upper, half)));
      bit = _mm256_slli_epi32 (_mm256_castps_si256 (is_upper), 31);
      cut = _mm256_or_si256 (_mm256_xor_si256 (cut, bit), _mm256_castps_si256 (is_above));
      _mm256_storeu_si256 ((gpointer) (dest + 4 * i), cut);
    }
}

/* The last bits of a sum without a fraction. */
static inline G_ALWAYS_INLINE void
mtl_narrow_16_doubles_to_guint32 (guint8       *dest,
                                  const guint8 *source)
{
  for (gsize i = 0; i < 16; i += 4)
    {
      __m256d x = _mm256_loadu_pd ((gconstpointer) (source + 8 * i));
      __m256 bits;
      __m128 cut;

      x = _mm256_min_pd (_mm256_max_pd (x, _mm256_setzero_pd ()), _mm256_set1_pd (G_MAXUINT32));
      x = _mm256_round_pd (x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
      bits = _mm256_castpd_ps (_mm256_add_pd (x, _mm256_set1_pd (0x1p52)));
      cut = _mm_shuffle_ps (_mm256_castps256_ps128 (bits), _mm256_extractf128_ps (bits, 1), 0x88);
      _mm_storeu_ps ((gpointer) (dest + 4 * i), cut);
    }
}

#else

#define DEFINE_NARROW_TO_UINT32(Source, cut) \
  static inline G_ALWAYS_INLINE void \
  mtl_narrow_16_##Source##s_to_guint32 (guint8       *dest, \
                                        const guint8 *source) \
  { \
    for (gsize i = 0; i < 16; i++) \
      { \
        Source x; \
        guint32 result; \
\
        memcpy (&x, source + i * sizeof x, sizeof x); \
        result = cut; \
        memcpy (dest + i * sizeof result, &result, sizeof result); \
      } \
  }

DEFINE_NARROW_TO_UINT32 (float, float_to_uint32 (x, 0x1.fffffep31f))
DEFINE_NARROW_TO_UINT32 (double, double_to_uint32 (x, 0x1.fffffffep31))

#endif
