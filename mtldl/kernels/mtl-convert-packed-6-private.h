/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-convert-instructions-private.h"
#include "mtl-number-private.h"

/* Unpacks 6-bit numbers, four in three bytes, to bytes, and packs them again.
 * Shuffles are four times as fast as single numbers. */

/* The bytes of a vector in another order; 0 for an index out of range. */
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

/* There are four numbers in three bytes. */
static void
mtl_convert_unpack_6 (guint8       *restrict dest,
                      const guint8 *restrict source,
                      gsize                  n)
{
  gsize i = 0;

#ifdef PICK
  /* Loads read 16 bytes and use 12. */
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
