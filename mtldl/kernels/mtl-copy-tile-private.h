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

/* The elements of one half of each lane of 16 bytes, alternating between two vectors of n elements.
 * The half begins with the element `first` of a lane. */
#define MTL_ZIP(i, n, per_lane, first) \
  ((i) / (per_lane) * (per_lane) + (first) + (i) % (per_lane) / 2 + (i) % 2 * (n))

#define MTL_ZIP_BOTH(Vector, Items, LIST, n, per_lane) \
  zipped[0] = (Vector) __builtin_shufflevector ((Items) a, (Items) b, \
                                                LIST (MTL_ZIP, 0, n, per_lane, 0)); \
  zipped[1] = (Vector) __builtin_shufflevector ((Items) a, (Items) b, \
                                                LIST (MTL_ZIP, 0, n, per_lane, per_lane / 2))

/* Lists have the elements of a vector, by their size. */
#define MTL_DEFINE_TRANSPOSE_LANES(name, Vector, OF_1, OF_2, OF_4, OF_8) \
  typedef guint16 Vector##2 __attribute__ ((vector_size (sizeof (Vector)))); \
  typedef guint32 Vector##4 __attribute__ ((vector_size (sizeof (Vector)))); \
  typedef guint64 Vector##8 __attribute__ ((vector_size (sizeof (Vector)))); \
\
  MTL_INLINE void \
  name##_zip (Vector *zipped, \
              Vector  a, \
              Vector  b, \
              gsize   size) \
  { \
    switch (size) \
      { \
      case 1: MTL_ZIP_BOTH (Vector, Vector, OF_1, sizeof (Vector), 16); break; \
      case 2: MTL_ZIP_BOTH (Vector, Vector##2, OF_2, sizeof (Vector) / 2, 8); break; \
      case 4: MTL_ZIP_BOTH (Vector, Vector##4, OF_4, sizeof (Vector) / 4, 4); break; \
      default: MTL_ZIP_BOTH (Vector, Vector##8, OF_8, sizeof (Vector) / 8, 2); break; \
      } \
  } \
\
  /* Transposes the elements in each lane of 16 / size vectors. */ \
  MTL_INLINE void \
  name (Vector *rows, \
        gsize   size) \
  { \
    int n = 16 / size; \
    Vector zipped[16]; \
\
    _Pragma ("GCC unroll 4") \
    for (int round = 1; round < n; round *= 2) \
      { \
        _Pragma ("GCC unroll 8") \
        for (int i = 0; i < n / 2; i++) \
          name##_zip (&zipped[2 * i], rows[i], rows[i + n / 2], size); \
        _Pragma ("GCC unroll 16") \
        for (int i = 0; i < n; i++) \
          rows[i] = zipped[i]; \
      } \
  }

MTL_DEFINE_TRANSPOSE_LANES (mtl_transpose_lanes16, MtlBytes16, MTL_16, MTL_8, MTL_4, MTL_2)
#if MTL_COPY_WIDTH == 64
MTL_DEFINE_TRANSPOSE_LANES (mtl_transpose_lanes, MtlVector, MTL_64, MTL_32, MTL_16, MTL_8)
#elif MTL_COPY_WIDTH == 32
MTL_DEFINE_TRANSPOSE_LANES (mtl_transpose_lanes, MtlVector, MTL_32, MTL_16, MTL_8, MTL_4)
#else
#define mtl_transpose_lanes mtl_transpose_lanes16
#endif

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
  MtlBytes16 rows[16];

#pragma GCC unroll 16
  for (int i = 0; i < n; i++)
    rows[i] = mtl_load16 (source + offsets[i]);

  mtl_transpose_lanes16 (rows, size);

#pragma GCC unroll 16
  for (int i = 0; i < n; i++)
    mtl_store16 (dest + i * dest_step, rows[i]);
}

#endif
