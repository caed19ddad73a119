/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

/* float16 by the instructions for it, which compilers do not make of loops: four
 * times as fast as handling its bits, which is what remains without them. */

#include "mtl-convert-numbers-private.h"

#if defined(__F16C__)
#include <immintrin.h>
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
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
#elif defined(__ARM_NEON) && defined(__aarch64__)
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
#elif defined(__ARM_NEON) && defined(__aarch64__)
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
