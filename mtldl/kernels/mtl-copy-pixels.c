/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-copy-set-private.h"

/* Rows whose elements stay near each other: reversed rows, pixels with swapped
 * channels (BGR to RGB), and three bytes of four (RGB of RGBA). Shuffles of 16 bytes, which are
 * as fast as the memory. */

#if MTL_COPY_WIDTH > 0

typedef guint16 Items2 __attribute__ ((vector_size (16)));
typedef guint32 Items4 __attribute__ ((vector_size (16)));
typedef guint64 Items8 __attribute__ ((vector_size (16)));

/* Which elements to take of n, or of pixels of n channels. */
#define REVERSED(i, n) ((n) - 1 - (i))
#define SWAPPED(i, n) ((i) / (n) * (n) + REVERSED ((i) % (n), n))
#define THREE_OF_FOUR(i, n) ((i) / 3 * 4 + (i) % 3)

#define SHUFFLE(Items, vector, ...) \
  ((MtlBytes16) __builtin_shufflevector ((Items) (vector), (Items) (vector), __VA_ARGS__))

/* --- Elements in the reverse order */

MTL_INLINE MtlBytes16
reverse_vector (MtlBytes16 vector,
                gsize      size)
{
  switch (size)
    {
    case 1: return SHUFFLE (MtlBytes16, vector, MTL_16 (REVERSED, 0, 16));
    case 2: return SHUFFLE (Items2, vector, MTL_8 (REVERSED, 0, 8));
    case 4: return SHUFFLE (Items4, vector, MTL_4 (REVERSED, 0, 4));
    default: return SHUFFLE (Items8, vector, MTL_2 (REVERSED, 0, 2));
    }
}

MTL_INLINE void
reverse_16 (guint8       *dest,
            const guint8 *end,
            gsize         size)
{
  mtl_store16 (dest, reverse_vector (mtl_load16 (end - 16), size));
}

MTL_INLINE void
reverse_row (guint8       *dest,
             const guint8 *source,
             gsize         n,
             gsize         size,
             gssize        ahead)
{
  const guint8 *end = source + size;
  gsize i = 0;

  for (; i + MTL_LINE <= n * size; i += MTL_LINE)
    {
      __builtin_prefetch ((gpointer) ((guintptr) end - i - 16 + (gsize) ahead));
      for (gsize k = 0; k < MTL_LINE; k += 16)
        reverse_16 (dest + i + k, end - i - k, size);
    }
  __builtin_prefetch ((gpointer) ((guintptr) end - n * size + (gsize) ahead));
  for (; i + 16 <= n * size; i += 16)
    reverse_16 (dest + i, end - i, size);
  for (; i < n * size; i += size)
    memcpy (dest + i, source - i, size);
}

/* [rows, elements in the reverse order] */
void
MTL_KERNEL (reverse) (const MtlCopyGrid *grid)
{
  const MtlAxis rows = grid->rows, items = grid->items;
  gssize ahead = mtl_choose_ahead (items.extent, items.source_step, rows.source_step);

  for (gsize i = 0; i < rows.extent; i++)
    {
      guint8 *dest = grid->dest + (gssize) i * rows.dest_step;
      const guint8 *source = grid->source + (gssize) i * rows.source_step;

      switch (grid->plan->item_size)
        {
        case 1: reverse_row (dest, source, items.extent, 1, ahead); break;
        case 2: reverse_row (dest, source, items.extent, 2, ahead); break;
        case 4: reverse_row (dest, source, items.extent, 4, ahead); break;
        default: reverse_row (dest, source, items.extent, 8, ahead); break;
        }
    }
}

/* --- Pixels of three or four bytes */

typedef enum
{
  SWAP_3,
  SWAP_4,
  TAKE_3_OF_4,
} Order;

MTL_INLINE MtlBytes16
shuffle_pixels (MtlBytes16 vector,
                Order      order)
{
  switch (order)
    {
    case SWAP_3: return SHUFFLE (MtlBytes16, vector, MTL_16 (SWAPPED, 0, 3));
    case SWAP_4: return SHUFFLE (MtlBytes16, vector, MTL_16 (SWAPPED, 0, 4));
    default: return SHUFFLE (MtlBytes16, vector, MTL_16 (THREE_OF_FOUR, 0, 4));
    }
}

/* Each vector has the pixels that are whole in it, and is written with other bytes after them, over
 * which the next one is written. */
MTL_INLINE void
copy_pixels (guint8       *dest,
             const guint8 *source,
             gsize         n_pixels,
             Order         order)
{
  const gsize dest_size = order == SWAP_4 ? 4 : 3, source_size = order == SWAP_3 ? 3 : 4;
  const gsize n_whole = 16 / source_size;
  gsize i = 0;

  for (; i + 16 / dest_size + 1 <= n_pixels; i += n_whole)
    {
      const guint8 *from = source + i * source_size;

      __builtin_prefetch ((gpointer) ((guintptr) from + MTL_AHEAD));
      mtl_store16 (dest + i * dest_size, shuffle_pixels (mtl_load16 (from), order));
    }
  for (; i < n_pixels; i++)
    for (gsize k = 0; k < dest_size; k++)
      dest[i * dest_size + k]
        = source[i * source_size + (order == TAKE_3_OF_4 ? k : dest_size - 1 - k)];
}

/* [rows, pixels] */
void
MTL_KERNEL (three_of_four) (const MtlCopyGrid *grid)
{
  const MtlAxis rows = grid->rows;

  for (gsize i = 0; i < rows.extent; i++)
    copy_pixels (grid->dest + (gssize) i * rows.dest_step,
                 grid->source + (gssize) i * rows.source_step, grid->items.extent, TAKE_3_OF_4);
}

/* [pixels, channels in the reverse order] */
void
MTL_KERNEL (swap) (const MtlCopyGrid *grid)
{
  gsize n = grid->items.extent;
  const guint8 *source = grid->source - (n - 1); /* the lowest byte */

  if (n == 3)
    copy_pixels (grid->dest, source, grid->rows.extent, SWAP_3);
  else
    copy_pixels (grid->dest, source, grid->rows.extent, SWAP_4);
}

#endif
