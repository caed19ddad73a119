/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-copy-tile-private.h"

/* Elements of 3, 6 or 12 bytes, dense along one axis in the source and along another
 * in the destination. 12 bytes of each item are spread over 16, transposed as
 * elements of 4, 8 or 16 bytes, and packed again. Parts of some rows are assembled in
 * the L1 cache. This has a third of the speed of transpose. Baseline x86, without
 * SSE4, has no shuffles for the first two. */

#if MTL_COPY_WIDTH > 0

#define LANE_ITEMS 12 /* bytes of elements in a 16-byte lane */

#define SPREAD_4(o) \
  (o), (o) + 1, (o) + 2, (o) + 12, (o) + 3, (o) + 4, (o) + 5, (o) + 12, \
  (o) + 6, (o) + 7, (o) + 8, (o) + 12, (o) + 9, (o) + 10, (o) + 11, (o) + 12
#define SPREAD_8(o) \
  (o), (o) + 1, (o) + 2, (o) + 3, (o) + 4, (o) + 5, (o) + 12, (o) + 12, \
  (o) + 6, (o) + 7, (o) + 8, (o) + 9, (o) + 10, (o) + 11, (o) + 12, (o) + 12
#define PACK_4(o) \
  (o), (o) + 1, (o) + 2, (o) + 4, (o) + 5, (o) + 6, (o) + 8, (o) + 9, \
  (o) + 10, (o) + 12, (o) + 13, (o) + 14, (o) + 15, (o) + 15, (o) + 15, (o) + 15
#define PACK_8(o) \
  (o), (o) + 1, (o) + 2, (o) + 3, (o) + 4, (o) + 5, (o) + 8, (o) + 9, \
  (o) + 10, (o) + 11, (o) + 12, (o) + 13, (o) + 14, (o) + 14, (o) + 14, (o) + 14

#if MTL_COPY_WIDTH == 64
#define EACH_LANE(name) name (0), name (16), name (32), name (48)
#elif MTL_COPY_WIDTH == 32
#define EACH_LANE(name) name (0), name (16)
#else
#define EACH_LANE(name) name (0)
#endif

/* `size` is that of the spread elements: 4, 8 or 16. */
MTL_INLINE MtlVector
spread (MtlVector vector,
        gsize     size)
{
  switch (size)
    {
    case 4: return __builtin_shufflevector (vector, vector, EACH_LANE (SPREAD_4));
    case 8: return __builtin_shufflevector (vector, vector, EACH_LANE (SPREAD_8));
    default: return vector;
    }
}

MTL_INLINE MtlVector
pack (MtlVector vector,
      gsize     size)
{
  switch (size)
    {
    case 4: return __builtin_shufflevector (vector, vector, EACH_LANE (PACK_4));
    case 8: return __builtin_shufflevector (vector, vector, EACH_LANE (PACK_8));
    default: return vector;
    }
}

/* Stores the lanes one after the other, with 4 unused bytes after the last. */
MTL_INLINE void
store_lanes (guint8    *dest,
             MtlVector  vector)
{
  guint8 bytes[MTL_COPY_WIDTH] MTL_ALIGNED;

  mtl_store (bytes, vector);
  for (int lane = 0; lane < MTL_COPY_WIDTH / 16; lane++)
    mtl_store16 (dest + lane * LANE_ITEMS, mtl_load16 (bytes + lane * 16));
}

/* Transposes 12 bytes of as many items as a vector has elements. */
MTL_INLINE void
transpose_strip (guint8       *dest,
                 gssize        dest_step,
                 const guint8 *source,
                 gssize        source_step,
                 gsize         size)
{
  int n = 16 / size;
  MtlVector rows[4];

#pragma GCC unroll 4
  for (int i = 0; i < n; i++)
    rows[i] = spread (mtl_load_lanes (source + i * source_step, n * source_step), size);

  mtl_transpose_lanes (rows, size);

#pragma GCC unroll 4
  for (int i = 0; i < n; i++)
    store_lanes (dest + i * dest_step, pack (rows[i], size));
}

MTL_INLINE void
transpose_of (guint8       *dest,
              gssize        dest_step,
              const guint8 *source,
              gssize        source_step,
              gsize         n_rows,
              gsize         n_items,
              gsize         size)
{
  gsize item_size = size / 4 * 3;
  gsize n = MTL_COPY_WIDTH / size, n_strip_rows = 16 / size;

  for (gsize row = 0; row < n_rows; row += n_strip_rows)
    for (gsize item = 0; item < n_items; item += n)
      {
        gsize i = MIN (item, n_items - n), j = MIN (row, n_rows - n_strip_rows);

        transpose_strip (dest + (gssize) j * dest_step + i * item_size, dest_step,
                         source + (gssize) i * source_step + j * item_size, source_step, size);
      }
}

/* Returns whether the block was copied. Reads 4 bytes after the last row of each
 * item, and writes 4 bytes after each row of the destination. */
gboolean
MTL_KERNEL (transpose_triples) (guint8       *dest,
                               gssize        dest_step,
                               const guint8 *source,
                               gssize        source_step,
                               gsize         n_rows,
                               gsize         n_items,
                               gsize         item_size)
{
#if defined (__SSE2__) && !defined (__SSSE3__)
  if (item_size != 12)
    return FALSE;
#endif

  if ((item_size != 3 && item_size != 6 && item_size != 12)
      || n_rows < LANE_ITEMS / item_size || n_items < MTL_COPY_WIDTH / 4 * 3 / item_size)
    return FALSE;

  switch (item_size)
    {
    case 3: transpose_of (dest, dest_step, source, source_step, n_rows, n_items, 4); break;
    case 6: transpose_of (dest, dest_step, source, source_step, n_rows, n_items, 8); break;
    default: transpose_of (dest, dest_step, source, source_step, n_rows, n_items, 16); break;
    }

  return TRUE;
}

#endif
