/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <string.h>

#include "mtl-copy-few-private.h"
#include "mtl-copy-kernels-private.h"

#if defined (__SSE2__)
#include <emmintrin.h>
#endif

/* Shared by the kernels, and compiled once for each instruction set. The build
 * defines MTL_COPY_SET, its name, and MTL_COPY_WIDTH, the best size of vectors in
 * bytes, 0 for none. */

#define MTL_COPY_PASTE2(name, set) mtl_copy_##name##_##set
#define MTL_COPY_PASTE(name, set) MTL_COPY_PASTE2 (name, set)
#define MTL_KERNEL(name) MTL_COPY_PASTE (name, MTL_COPY_SET)

/* The kernels of the ways, in the table of mtl-copy-kernels.c. */
#define MTL_DECLARE_BLOCKS(name) \
  void MTL_KERNEL (name) (const MtlCopyPlan *plan, \
                          gsize              first, \
                          gsize              n)
#define MTL_DECLARE_GRID(name) void MTL_KERNEL (name) (const MtlCopyGrid *grid)

MTL_DECLARE_BLOCKS (bytes);
MTL_DECLARE_BLOCKS (grids);
MTL_DECLARE_BLOCKS (tiles);
MTL_DECLARE_BLOCKS (boxes);
MTL_DECLARE_GRID (rows);
MTL_DECLARE_GRID (fill);
MTL_DECLARE_GRID (nth);
MTL_DECLARE_GRID (reverse);
MTL_DECLARE_GRID (three_of_four);
MTL_DECLARE_GRID (interleave);
MTL_DECLARE_GRID (deinterleave);
MTL_DECLARE_GRID (swap);
MTL_DECLARE_GRID (elements);
MTL_DECLARE_GRID (convert);
MTL_DECLARE_GRID (convert_columns);
MTL_DECLARE_GRID (convert_fill);

/* For functions that are called with constant sizes. */
#define MTL_INLINE static inline __attribute__ ((always_inline, unused))

/* The distance to prefetch ahead of a source that is read in order, in bytes: 10 to 30 % faster
 * than without. */
#define MTL_AHEAD 2048

#define MTL_ALIGNED __attribute__ ((aligned (MTL_LINE)))

MTL_INLINE gsize
mtl_bytes_to_line (const guint8 *data)
{
  return -(guintptr) data & (MTL_LINE - 1);
}

/* Prefetches lines. The addresses need not be valid, since nothing is read. */
MTL_INLINE void
mtl_prefetch (const guint8 *source,
              gsize         n)
{
  for (gsize i = 0; i < n; i += MTL_LINE)
    __builtin_prefetch ((gpointer) ((guintptr) source + i));
}

/* Chooses the distance to prefetch ahead for rows of n elements, in bytes: within long rows and
 * those that lie between each other, otherwise the same place of a later row. The bytes between
 * rows would take the place of others. */
MTL_INLINE gssize
mtl_choose_ahead (gsize  n,
                  gssize step,
                  gssize row_step)
{
  gsize size = MAX (n * (gsize) ABS (step), 1);

  if (size >= 4 * MTL_AHEAD || (gsize) ABS (row_step) <= size)
    return step < 0 ? -MTL_AHEAD : MTL_AHEAD;

  return (gssize) (MTL_AHEAD / size + 1) * row_step;
}

/* The same if nothing is known of the memory behind these bytes. */
MTL_INLINE gssize
mtl_choose_ahead_within (gsize size)
{
  return size >= 2 * MTL_AHEAD ? MTL_AHEAD : 0;
}

#if MTL_COPY_WIDTH > 0

/* Lists of f (i, ...) for as many i, from the given one on: the elements that a shuffle takes. */
#define MTL_2(f, i, ...) f (i, __VA_ARGS__), f ((i) + 1, __VA_ARGS__)
#define MTL_4(f, i, ...) MTL_2 (f, i, __VA_ARGS__), MTL_2 (f, (i) + 2, __VA_ARGS__)
#define MTL_8(f, i, ...) MTL_4 (f, i, __VA_ARGS__), MTL_4 (f, (i) + 4, __VA_ARGS__)
#define MTL_16(f, i, ...) MTL_8 (f, i, __VA_ARGS__), MTL_8 (f, (i) + 8, __VA_ARGS__)
#define MTL_32(f, i, ...) MTL_16 (f, i, __VA_ARGS__), MTL_16 (f, (i) + 16, __VA_ARGS__)
#define MTL_64(f, i, ...) MTL_32 (f, i, __VA_ARGS__), MTL_32 (f, (i) + 32, __VA_ARGS__)

typedef guint8 MtlVector __attribute__ ((vector_size (MTL_COPY_WIDTH)));
typedef guint8 MtlBytes16 __attribute__ ((vector_size (16)));

MTL_INLINE MtlVector
mtl_load (const guint8 *from)
{
  MtlVector value;

  memcpy (&value, from, sizeof value);
  return value;
}

MTL_INLINE void
mtl_store (guint8    *to,
           MtlVector  value)
{
  memcpy (to, &value, sizeof value);
}

MTL_INLINE MtlBytes16
mtl_load16 (const guint8 *from)
{
  MtlBytes16 value;

  memcpy (&value, from, sizeof value);
  return value;
}

MTL_INLINE void
mtl_store16 (guint8     *to,
             MtlBytes16  value)
{
  memcpy (to, &value, sizeof value);
}

/* These bypass the caches. The address is a multiple of the size. All parts of a line
 * must be written one after the other: half lines take up to 40 times as long. */

MTL_INLINE void
mtl_stream16 (guint8     *to,
              MtlBytes16  value)
{
#if defined (__clang__)
  __builtin_nontemporal_store (value, (MtlBytes16 *) (void *) to);
#elif defined (__SSE2__)
  _mm_stream_si128 ((__m128i *) (void *) to, (__m128i) value);
#else
  mtl_store16 (to, value);
#endif
}

MTL_INLINE void
mtl_stream (guint8    *to,
            MtlVector  value)
{
#if MTL_COPY_WIDTH == 16
  mtl_stream16 (to, value);
#elif defined (__clang__)
  __builtin_nontemporal_store (value, (MtlVector *) (void *) to);
#else
  typedef long long Words __attribute__ ((vector_size (MTL_COPY_WIDTH)));
#if MTL_COPY_WIDTH == 64
  __builtin_ia32_movntdq512 ((Words *) (void *) to, (Words) value);
#else
  __builtin_ia32_movntdq256 ((Words *) (void *) to, (Words) value);
#endif
#endif
}

MTL_INLINE void
mtl_copy_line (guint8       *to,
               const guint8 *from)
{
  for (int i = 0; i < MTL_LINE; i += MTL_COPY_WIDTH)
    mtl_store (to + i, mtl_load (from + i));
}

MTL_INLINE void
mtl_stream_line (guint8       *to,
                 const guint8 *from)
{
  for (int i = 0; i < MTL_LINE; i += MTL_COPY_WIDTH)
    mtl_stream (to + i, mtl_load (from + i));
}

/* As many whole lines as there are in n bytes. */
MTL_INLINE void
mtl_stream_lines (guint8       *to,
                  const guint8 *from,
                  gsize         n)
{
  gsize i = 0;

  for (; i + 4 * MTL_LINE <= n; i += 4 * MTL_LINE)
    for (int k = 0; k < 4 * MTL_LINE; k += MTL_LINE)
      mtl_stream_line (to + i + k, from + i + k);
  for (; i + MTL_LINE <= n; i += MTL_LINE)
    mtl_stream_line (to + i, from + i);
}

/* Streams the whole lines of a row of n bytes, and copies the bytes before and after
 * them. */
MTL_INLINE void
mtl_stream_row (guint8       *dest,
                const guint8 *source,
                gsize         n)
{
  gsize head = mtl_bytes_to_line (dest), n_whole;

  if (n < 4 * MTL_LINE && (head > 0 || n % MTL_LINE != 0))
    {
      memcpy (dest, source, n);
      return;
    }

  mtl_copy_few (dest, source, head);
  n_whole = (n - head) / MTL_LINE * MTL_LINE;
  mtl_stream_lines (dest + head, source + head, n_whole);
  mtl_copy_few (dest + head + n_whole, source + head + n_whole, n - head - n_whole);
}

#else

#define mtl_stream_lines(dest, source, n) memcpy (dest, source, n)
#define mtl_stream_row(dest, source, n) memcpy (dest, source, n)

#endif

/* mtl-copy-contiguous.c: for long runs. */
void MTL_KERNEL (copy_bytes) (guint8       *dest,
                              const guint8 *source,
                              gsize         n);

#if MTL_COPY_WIDTH > 0
/* mtl-copy-channels.c: every nth element, contiguous in the destination, which is whole lines if it
 * is streamed. */
void MTL_KERNEL (gather) (guint8       *dest,
                          const guint8 *source,
                          gsize         n_items,
                          int           n,
                          gsize         size,
                          gssize        ahead,
                          gboolean      streams);

/* A block to transpose: n_rows rows of n_items in the destination. Each item is the
 * first of n_rows that are contiguous in the source. */
typedef struct
{
  guint8 *dest;
  const guint8 *source;
  const guint8 *next_source; /* prefetched meanwhile, or NULL */
  const gint32 *offsets; /* where the items are in the source */
  gsize n_items;
  gsize n_rows;
  gsize n_source_rows; /* rows left to read, for prefetching, or 0 */
  gssize dest_step; /* bytes between rows */
} MtlCopyBlock;

/* mtl-copy-transpose.c */
void MTL_KERNEL (transpose) (const MtlCopyBlock *self,
                             gsize               size,
                             gboolean            streams);
#endif
