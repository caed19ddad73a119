/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

/* What instructions do that compilers do not make of loops: float16, four times
 * as fast as by its bits; cutting floats to integers without looking first, twice
 * as fast; rounding to odd; and numbers of 6 bits, four times as fast. Each loop ends
 * with what there is for any machine. */

#include "mtl-convert-numbers-private.h"
#include "mtl-number-private.h"

#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#define MTL_HAS_NEON
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
      result = float16_from_float32 (x);
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
      result = float16_to_float32 (x);
      memcpy (dest + 4 * i, &result, sizeof result);
    }
}

/* To the nearest number that int32 has, NaN to 0. x86 makes the lowest number of
 * all that there is none for. */
static inline G_ALWAYS_INLINE void
mtl_cut_floats (gint32       *dest,
                const guint8 *source,
                gsize         n)
{
  gsize i = 0;

#if defined(__AVX512F__)
  for (; i + 16 <= n; i += 16)
    {
      __m512 x = _mm512_loadu_ps (source + 4 * i);
      __mmask16 numbers = _mm512_cmp_ps_mask (x, x, _CMP_ORD_Q);
      __mmask16 above = _mm512_cmp_ps_mask (x, _mm512_set1_ps (0x1p31f), _CMP_GE_OQ);
      __m512i cut = _mm512_maskz_cvttps_epi32 (numbers, x);

      cut = _mm512_mask_mov_epi32 (cut, above, _mm512_set1_epi32 (G_MAXINT32));
      _mm512_storeu_si512 (dest + i, cut);
    }
#elif defined(__AVX2__)
  for (; i + 8 <= n; i += 8)
    {
      __m256 x = _mm256_loadu_ps ((gconstpointer) (source + 4 * i));
      __m256 numbers = _mm256_cmp_ps (x, x, _CMP_ORD_Q);
      __m256 above = _mm256_cmp_ps (x, _mm256_set1_ps (0x1p31f), _CMP_GE_OQ);
      __m256i cut = _mm256_xor_si256 (_mm256_cvttps_epi32 (x), _mm256_castps_si256 (above));

      cut = _mm256_and_si256 (cut, _mm256_castps_si256 (numbers));
      _mm256_storeu_si256 ((gpointer) (dest + i), cut);
    }
#elif defined(__SSE2__)
  for (; i + 4 <= n; i += 4)
    {
      __m128 x = _mm_loadu_ps ((gconstpointer) (source + 4 * i));
      __m128 numbers = _mm_cmpord_ps (x, x);
      __m128 above = _mm_cmpge_ps (x, _mm_set1_ps (0x1p31f));
      __m128i cut = _mm_xor_si128 (_mm_cvttps_epi32 (x), _mm_castps_si128 (above));

      cut = _mm_and_si128 (cut, _mm_castps_si128 (numbers));
      _mm_storeu_si128 ((gpointer) (dest + i), cut);
    }
#elif defined(MTL_HAS_NEON)
  for (; i + 4 <= n; i += 4)
    vst1q_s32 (dest + i, vcvtq_s32_f32 (vreinterpretq_f32_u8 (vld1q_u8 (source + 4 * i))));
#endif
  for (; i < n; i++)
    {
      float x;

      memcpy (&x, source + 4 * i, sizeof x);
      dest[i] = float_to_int32 (x, 0x1.fffffep30f);
    }
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
mtl_cut_doubles (gint32       *dest,
                 const guint8 *source,
                 gsize         n)
{
  gsize i = 0;

  /* Stores are as wide as the loads that follow. */
#if defined(__AVX512F__)
  for (; i + 16 <= n; i += 16)
    {
      __m512i low = _mm512_castsi256_si512 (mtl_cut_8_doubles (source + 8 * i));
      __m256i high = mtl_cut_8_doubles (source + 8 * i + 64);

      _mm512_storeu_si512 (dest + i, _mm512_inserti64x4 (low, high, 1));
    }
#elif defined(__AVX2__)
  for (; i + 4 <= n; i += 4)
    {
      __m256d x = _mm256_loadu_pd ((gconstpointer) (source + 8 * i));
      __m256d numbers = _mm256_cmp_pd (x, x, _CMP_ORD_Q);
      __m256d limited = _mm256_min_pd (x, _mm256_set1_pd (G_MAXINT32));
      __m128i cut = _mm256_cvttpd_epi32 (_mm256_and_pd (limited, numbers));

      _mm_storeu_si128 ((gpointer) (dest + i), cut);
    }
#elif defined(__SSE2__)
  for (; i + 4 <= n; i += 4)
    {
      __m128i low = mtl_cut_2_doubles (source + 8 * i);
      __m128i high = mtl_cut_2_doubles (source + 8 * i + 16);

      _mm_storeu_si128 ((gpointer) (dest + i), _mm_unpacklo_epi64 (low, high));
    }
#elif defined(MTL_HAS_NEON)
  for (; i + 2 <= n; i += 2)
    {
      float64x2_t x = vreinterpretq_f64_u8 (vld1q_u8 (source + 8 * i));

      vst1_s32 (dest + i, vqmovn_s64 (vcvtq_s64_f64 (x)));
    }
#endif
  for (; i < n; i++)
    {
      double x;

      memcpy (&x, source + 8 * i, sizeof x);
      dest[i] = double_to_int32 (x, 0x1.fffffffcp30);
    }
}

/* The nearest numbers that a narrower type has, of 16. */
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

/* As signed ones, from the middle of the range on. */
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

static inline G_ALWAYS_INLINE void
mtl_saturate_gint32 (guint8       *dest,
                     const gint32 *source)
{
  memcpy (dest, source, 16 * sizeof (gint32));
}

/* To float32, towards zero where bits are lost, the last one of which is then set.
 * Numbers of 32 bits are widened before. */
#if defined(__AVX512F__) && defined(__AVX512DQ__)
#define DEFINE_ODD(function, Source, Vector, load, narrow, widen, differ, expression) \
  static void \
  function (guint8       *restrict dest, \
            const guint8 *restrict source, \
            gsize                  n) \
  { \
    gsize i = 0; \
\
    for (; i + 8 <= n; i += 8) \
      { \
        Vector x = load (source + i * sizeof (Source)); \
        __m256 cut = narrow (x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC); \
        __m256i bits = _mm256_castps_si256 (cut); \
\
        bits = _mm256_mask_or_epi32 (bits, differ (x, widen (cut)), bits, \
                                     _mm256_set1_epi32 (1)); \
        _mm256_storeu_si256 ((gpointer) (dest + 4 * i), bits); \
      } \
    for (; i < n; i++) \
      { \
        Source x; \
        guint32 result; \
\
        memcpy (&x, source + i * sizeof x, sizeof x); \
        result = expression (x); \
        memcpy (dest + 4 * i, &result, sizeof result); \
      } \
  }
#else
#define DEFINE_ODD(function, Source, Vector, load, narrow, widen, differ, expression) \
  static void \
  function (guint8       *restrict dest, \
            const guint8 *restrict source, \
            gsize                  n) \
  { \
    for (gsize i = 0; i < n; i++) \
      { \
        Source x; \
        guint32 result; \
\
        memcpy (&x, source + i * sizeof x, sizeof x); \
        result = expression (x); \
        memcpy (dest + 4 * i, &result, sizeof result); \
      } \
  }
#endif

#define MTL_LOAD_INT32(from) \
  _mm512_cvtepi32_epi64 (_mm256_loadu_si256 ((gconstpointer) (from)))
#define MTL_LOAD_UINT32(from) \
  _mm512_cvtepu32_epi64 (_mm256_loadu_si256 ((gconstpointer) (from)))
#define MTL_DOUBLES_DIFFER(a, b) _mm512_cmp_pd_mask (a, b, _CMP_NEQ_UQ)

DEFINE_ODD (mtl_convert_int32_to_odd, gint32, __m512i, MTL_LOAD_INT32,
            _mm512_cvt_roundepi64_ps, _mm512_cvttps_epi64, _mm512_cmpneq_epi64_mask,
            int64_to_odd_float32)
DEFINE_ODD (mtl_convert_int64_to_odd, gint64, __m512i, _mm512_loadu_si512,
            _mm512_cvt_roundepi64_ps, _mm512_cvttps_epi64, _mm512_cmpneq_epi64_mask,
            int64_to_odd_float32)
DEFINE_ODD (mtl_convert_uint32_to_odd, guint32, __m512i, MTL_LOAD_UINT32,
            _mm512_cvt_roundepu64_ps, _mm512_cvttps_epu64, _mm512_cmpneq_epi64_mask,
            uint64_to_odd_float32)
DEFINE_ODD (mtl_convert_uint64_to_odd, guint64, __m512i, _mm512_loadu_si512,
            _mm512_cvt_roundepu64_ps, _mm512_cvttps_epu64, _mm512_cmpneq_epi64_mask,
            uint64_to_odd_float32)
DEFINE_ODD (mtl_convert_double_to_odd, double, __m512d, _mm512_loadu_pd,
            _mm512_cvt_roundpd_ps, _mm512_cvtps_pd, MTL_DOUBLES_DIFFER, double_to_odd_float32)

/* Bytes of a vector in another order; none for an index beyond it. */
#if defined(__AVX2__)
#define PICK(bytes, ...) ((Words) _mm_shuffle_epi8 ((__m128i) (bytes), _mm_setr_epi8 (__VA_ARGS__)))
#elif defined(MTL_HAS_NEON) && G_BYTE_ORDER == G_LITTLE_ENDIAN
#define PICK(bytes, ...) \
  ((Words) vqtbl1q_u8 ((uint8x16_t) (bytes), (uint8x16_t) (Bytes) { __VA_ARGS__ }))
#endif

#ifdef PICK
typedef guint32 Words __attribute__ ((vector_size (16)));
typedef gint8 Bytes __attribute__ ((vector_size (16)));
#endif

/* Four numbers in three bytes. */
static void
mtl_convert_unpack_6 (guint8       *restrict dest,
                      const guint8 *restrict source,
                      gsize                  n)
{
  gsize i = 0;

#ifdef PICK
  /* 16 bytes are read for 12. */
  for (; i + 22 <= n; i += 16, source += 12)
    {
      Words bits;

      memcpy (&bits, source, sizeof bits);
      bits = PICK (bits, 0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1);
      bits = (bits & 0x3f) | (bits << 2 & 0x3f00) | (bits << 4 & 0x3f0000)
             | (bits << 6 & 0x3f000000);
      memcpy (dest + i, &bits, sizeof bits);
    }
#endif
  for (; i + 4 <= n; i += 4, source += 3)
    {
      guint bits = source[0] | source[1] << 8 | source[2] << 16;

      for (guint j = 0; j < 4; j++)
        dest[i + j] = bits >> 6 * j & 0x3f;
    }

  for (guint j = 0; i + j < n; j++)
    dest[i + j] = mtl_bits_load (source + 6 * j / 8, 6 * j % 8, 6);
}

static void
mtl_convert_pack_6 (guint8       *restrict dest,
                    const guint8 *restrict source,
                    gsize                  n)
{
  gsize i = 0;

#ifdef PICK
  for (; i + 16 <= n; i += 16, dest += 12)
    {
      Words bits;

      memcpy (&bits, source + i, sizeof bits);
      bits = (bits & 0x3f) | (bits >> 2 & 0xfc0) | (bits >> 4 & 0x3f000) | (bits >> 6 & 0xfc0000);
      bits = PICK (bits, 0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
      memcpy (dest, &bits, 12);
    }
#endif
  for (; i + 4 <= n; i += 4, dest += 3)
    {
      guint bits = 0;

      for (guint j = 0; j < 4; j++)
        bits |= (source[i + j] & 0x3fu) << 6 * j;

      for (guint j = 0; j < 3; j++)
        dest[j] = bits >> 8 * j;
    }
}
