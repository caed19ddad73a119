/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-copy-set-private.h"

#if MTL_COPY_WIDTH > 16
#include <immintrin.h>
#endif

/* Transposes squares of elements in registers. The rows of a square can be anywhere in
 * the source, at the given offsets. The size of an element, 1, 2, 4, 8 or 16, is a
 * constant in all calls. */

#if MTL_COPY_WIDTH > 0

typedef guint16 MtlItems2 __attribute__ ((vector_size (MTL_COPY_WIDTH)));
typedef guint32 MtlItems4 __attribute__ ((vector_size (MTL_COPY_WIDTH)));
typedef guint64 MtlItems8 __attribute__ ((vector_size (MTL_COPY_WIDTH)));
typedef guint16 MtlFew2 __attribute__ ((vector_size (16)));
typedef guint32 MtlFew4 __attribute__ ((vector_size (16)));
typedef guint64 MtlFew8 __attribute__ ((vector_size (16)));

/* The elements of one half of a 16-byte lane, alternating between two vectors of n
 * elements, starting with `first`. */
#define MTL_ZIP_1(first, n) (first), (n) + (first)
#define MTL_ZIP_2(first, n) MTL_ZIP_1 (first, n), MTL_ZIP_1 ((first) + 1, n)
#define MTL_ZIP_4(first, n) MTL_ZIP_2 (first, n), MTL_ZIP_2 ((first) + 2, n)
#define MTL_ZIP_8(first, n) MTL_ZIP_4 (first, n), MTL_ZIP_4 ((first) + 4, n)

/* `half` elements of each lane, the second half if `high` is 1. */
#if MTL_COPY_WIDTH == 64
#define MTL_LANES(half, high, n) \
  MTL_ZIP_##half ((high) * (half), n), MTL_ZIP_##half ((2 + (high)) * (half), n), \
  MTL_ZIP_##half ((4 + (high)) * (half), n), MTL_ZIP_##half ((6 + (high)) * (half), n)
#elif MTL_COPY_WIDTH == 32
#define MTL_LANES(half, high, n) \
  MTL_ZIP_##half ((high) * (half), n), MTL_ZIP_##half ((2 + (high)) * (half), n)
#else
#define MTL_LANES(half, high, n) MTL_ZIP_##half ((high) * (half), n)
#endif

#define MTL_ZIP_VECTORS(type, half, high) \
  ((MtlVector) __builtin_shufflevector ((type) a, (type) b, \
                                        MTL_LANES (half, high, MTL_COPY_WIDTH / 16 * 2 * (half))))

MTL_INLINE MtlVector
mtl_zip_low (MtlVector a,
             MtlVector b,
             gsize     size)
{
  switch (size)
    {
    case 1: return MTL_ZIP_VECTORS (MtlVector, 8, 0);
    case 2: return MTL_ZIP_VECTORS (MtlItems2, 4, 0);
    case 4: return MTL_ZIP_VECTORS (MtlItems4, 2, 0);
    default: return MTL_ZIP_VECTORS (MtlItems8, 1, 0);
    }
}

MTL_INLINE MtlVector
mtl_zip_high (MtlVector a,
              MtlVector b,
              gsize     size)
{
  switch (size)
    {
    case 1: return MTL_ZIP_VECTORS (MtlVector, 8, 1);
    case 2: return MTL_ZIP_VECTORS (MtlItems2, 4, 1);
    case 4: return MTL_ZIP_VECTORS (MtlItems4, 2, 1);
    default: return MTL_ZIP_VECTORS (MtlItems8, 1, 1);
    }
}

#define MTL_ZIP_FEW(type, half, high) \
  ((MtlBytes16) __builtin_shufflevector ((type) a, (type) b, \
                                         MTL_ZIP_##half ((high) * (half), 2 * (half))))

MTL_INLINE MtlBytes16
mtl_zip_low16 (MtlBytes16 a,
               MtlBytes16 b,
               gsize      size)
{
  switch (size)
    {
    case 1: return MTL_ZIP_FEW (MtlBytes16, 8, 0);
    case 2: return MTL_ZIP_FEW (MtlFew2, 4, 0);
    case 4: return MTL_ZIP_FEW (MtlFew4, 2, 0);
    default: return MTL_ZIP_FEW (MtlFew8, 1, 0);
    }
}

MTL_INLINE MtlBytes16
mtl_zip_high16 (MtlBytes16 a,
                MtlBytes16 b,
                gsize      size)
{
  switch (size)
    {
    case 1: return MTL_ZIP_FEW (MtlBytes16, 8, 1);
    case 2: return MTL_ZIP_FEW (MtlFew2, 4, 1);
    case 4: return MTL_ZIP_FEW (MtlFew4, 2, 1);
    default: return MTL_ZIP_FEW (MtlFew8, 1, 1);
    }
}

/* Loads the 16-byte lanes of a vector from rows at offsets that are n apart in the table. With
 * shuffles, compilers would generate twice as many instructions. */
MTL_INLINE MtlVector
mtl_gather_lanes (const guint8 *source,
                  const gint32 *offsets,
                  int           n)
{
#if MTL_COPY_WIDTH == 64
  __m512i lanes = _mm512_castsi128_si512 ((__m128i) mtl_load16 (source + offsets[0]));

  lanes = _mm512_inserti32x4 (lanes, (__m128i) mtl_load16 (source + offsets[n]), 1);
  lanes = _mm512_inserti32x4 (lanes, (__m128i) mtl_load16 (source + offsets[2 * n]), 2);
  return (MtlVector) _mm512_inserti32x4 (lanes, (__m128i) mtl_load16 (source + offsets[3 * n]), 3);
#elif MTL_COPY_WIDTH == 32
  __m256i low = _mm256_castsi128_si256 ((__m128i) mtl_load16 (source + offsets[0]));

  return (MtlVector) _mm256_inserti128_si256 (low, (__m128i) mtl_load16 (source + offsets[n]), 1);
#else
  return mtl_load16 (source + offsets[0]);
#endif
}

/* Transposes the elements in each lane of 16 / size vectors. */
MTL_INLINE void
mtl_transpose_lanes (MtlVector *rows,
                     gsize      size)
{
  int n = 16 / size;
  MtlVector zipped[16];

#pragma GCC unroll 4
  for (int round = 1; round < n; round *= 2)
    {
#pragma GCC unroll 8
      for (int i = 0; i < n / 2; i++)
        {
          zipped[2 * i] = mtl_zip_low (rows[i], rows[i + n / 2], size);
          zipped[2 * i + 1] = mtl_zip_high (rows[i], rows[i + n / 2], size);
        }
#pragma GCC unroll 16
      for (int i = 0; i < n; i++)
        rows[i] = zipped[i];
    }
}

/* Transposes 16 bytes of each of 64 / size rows of the source to 64 bytes of each of
 * 16 / size rows of the destination. Lane j of a vector is from row i + n * j. After
 * log2 (n) rounds of zips within the lanes, each vector is a part of one row of the
 * destination. */
MTL_INLINE void
mtl_transpose_strip (guint8       *dest,
                     gssize        dest_step,
                     const guint8 *source,
                     const gint32 *offsets,
                     gsize         size,
                     gboolean      streams)
{
  int n = 16 / size;

  for (int group = 0; group < MTL_LINE / MTL_COPY_WIDTH; group++)
    {
      const gint32 *from = offsets + group * (MTL_COPY_WIDTH / size);
      MtlVector rows[16];

#pragma GCC unroll 16
      for (int i = 0; i < n; i++)
        rows[i] = mtl_gather_lanes (source, from + i, n);

      mtl_transpose_lanes (rows, size);

#pragma GCC unroll 16
      for (int i = 0; i < n; i++)
        if (streams)
          mtl_stream (dest + i * dest_step + group * MTL_COPY_WIDTH, rows[i]);
        else
          mtl_store (dest + i * dest_step + group * MTL_COPY_WIDTH, rows[i]);
    }
}

/* Like mtl_transpose_strip(), but if a vector is smaller than a line, lines are
 * completed in the L1 cache before they are streamed. */
MTL_INLINE void
mtl_transpose_strip_whole (guint8       *dest,
                           gssize        dest_step,
                           const guint8 *source,
                           const gint32 *offsets,
                           gsize         size,
                           gboolean      streams)
{
  guint8 lines[16 * MTL_LINE] MTL_ALIGNED;

  if (!streams || MTL_COPY_WIDTH == MTL_LINE)
    {
      mtl_transpose_strip (dest, dest_step, source, offsets, size, streams);
      return;
    }

  mtl_transpose_strip (lines, MTL_LINE, source, offsets, size, FALSE);
  for (int i = 0; i < (int) (16 / size); i++)
    mtl_stream_line (dest + i * dest_step, lines + i * MTL_LINE);
}

/* 64 bytes by 64 bytes. */
MTL_INLINE void
mtl_transpose_tile (guint8       *dest,
                    gssize        dest_step,
                    const guint8 *source,
                    const gint32 *offsets,
                    gsize         size,
                    gboolean      streams)
{
  gssize strip_step = (gssize) (16 / size) * dest_step;

  for (int strip = 0; strip < 4; strip++)
    mtl_transpose_strip_whole (dest + strip * strip_step, dest_step, source + strip * 16,
                               offsets, size, streams);
}

/* 16 bytes by 16 bytes. */
MTL_INLINE void
mtl_transpose_square (guint8       *dest,
                      gssize        dest_step,
                      const guint8 *source,
                      const gint32 *offsets,
                      gsize         size)
{
  int n = 16 / size;
  MtlBytes16 rows[16], zipped[16];

#pragma GCC unroll 16
  for (int i = 0; i < n; i++)
    rows[i] = mtl_load16 (source + offsets[i]);

#pragma GCC unroll 4
  for (int round = 1; round < n; round *= 2)
    {
#pragma GCC unroll 8
      for (int i = 0; i < n / 2; i++)
        {
          zipped[2 * i] = mtl_zip_low16 (rows[i], rows[i + n / 2], size);
          zipped[2 * i + 1] = mtl_zip_high16 (rows[i], rows[i + n / 2], size);
        }
#pragma GCC unroll 16
      for (int i = 0; i < n; i++)
        rows[i] = zipped[i];
    }

#pragma GCC unroll 16
  for (int i = 0; i < n; i++)
    mtl_store16 (dest + i * dest_step, rows[i]);
}

#endif
