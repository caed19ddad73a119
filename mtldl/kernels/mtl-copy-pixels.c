/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-copy-set-private.h"

/* Rows whose elements stay near each other: reversed rows, pixels with swapped
 * channels (BGR to RGB), three bytes of four (RGB of RGBA), and packed elements whose
 * size is not a power of two. Shuffles of 16 bytes, which are as fast as the memory. */

#if MTL_COPY_WIDTH > 0

typedef guint16 Items2 __attribute__ ((vector_size (16)));
typedef guint32 Items4 __attribute__ ((vector_size (16)));
typedef guint64 Items8 __attribute__ ((vector_size (16)));

#define SHUFFLE __builtin_shufflevector

MTL_INLINE MtlBytes16
reverse_vector (MtlBytes16 bytes,
                gsize      size)
{
  Items2 items2 = (Items2) bytes;
  Items4 items4 = (Items4) bytes;
  Items8 items8 = (Items8) bytes;

  switch (size)
    {
    case 1: return SHUFFLE (bytes, bytes, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    case 2: return (MtlBytes16) SHUFFLE (items2, items2, 7, 6, 5, 4, 3, 2, 1, 0);
    case 4: return (MtlBytes16) SHUFFLE (items4, items4, 3, 2, 1, 0);
    default: return (MtlBytes16) SHUFFLE (items8, items8, 1, 0);
    }
}

MTL_INLINE void
reverse_16 (guint8       *dest,
            const guint8 *end,
            gsize         size)
{
  mtl_store16 (dest, reverse_vector (mtl_load16 (end - 16), size));
}

MTL_INLINE gsize
reverse_of (guint8       *dest,
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

  return i / size;
}

/* Returns how many elements were copied, like the following functions. */
static gsize
reverse_row (guint8       *dest,
             const guint8 *source,
             gsize         n,
             gsize         size,
             gssize        ahead)
{
  switch (size)
    {
    case 1: return reverse_of (dest, source, n, 1, ahead);
    case 2: return reverse_of (dest, source, n, 2, ahead);
    case 4: return reverse_of (dest, source, n, 4, ahead);
    default: return reverse_of (dest, source, n, 8, ahead);
    }
}

/* The last elements of a row, one by one. */
static void
copy_rest (const MtlCopyGrid *grid,
           gsize              row,
           gsize              n_done)
{
  gsize size = grid->plan->item_size;
  guint8 *dest = grid->dest + (gssize) row * grid->rows.dest_step;
  const guint8 *source = grid->source + (gssize) row * grid->rows.source_step;

  for (gsize i = n_done; i < grid->items.extent; i++)
    mtl_copy_few (dest + i * size, source + (gssize) i * grid->items.source_step, size);
}

/* [rows, elements in the reverse order] */
void MTL_KERNEL (reverse) (const MtlCopyGrid *grid);

void
MTL_KERNEL (reverse) (const MtlCopyGrid *grid)
{
  const MtlAxis rows = grid->rows, items = grid->items;
  gssize ahead = mtl_choose_ahead (items.extent, items.source_step, rows.source_step);

  for (gsize i = 0; i < rows.extent; i++)
    copy_rest (grid, i, reverse_row (grid->dest + (gssize) i * rows.dest_step,
                                     grid->source + (gssize) i * rows.source_step,
                                     items.extent, grid->plan->item_size, ahead));
}

/* 16 pixels of four bytes to three bytes each. */
static gsize
pack_3_of_4 (guint8       *dest,
             const guint8 *source,
             gsize         n)
{
  gsize i = 0;

  /* The last pixel may lack its fourth byte. */
  for (; i + 17 <= n; i += 16)
    {
      const guint8 *from = source + 4 * i;
      MtlBytes16 a = mtl_load16 (from), b = mtl_load16 (from + 16);
      MtlBytes16 c = mtl_load16 (from + 32), d = mtl_load16 (from + 48);
      MtlBytes16 first = SHUFFLE (a, b, 0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 16, 17, 18, 20);

      __builtin_prefetch ((gpointer) ((guintptr) from + MTL_AHEAD));
      mtl_store16 (dest + 3 * i, first);
      mtl_store16 (dest + 3 * i + 16, SHUFFLE (b, c, 5, 6, 8, 9, 10, 12, 13, 14, 16, 17, 18, 20,
                                               21, 22, 24, 25));
      mtl_store16 (dest + 3 * i + 32, SHUFFLE (c, d, 10, 12, 13, 14, 16, 17, 18, 20, 21, 22, 24,
                                               25, 26, 28, 29, 30));
    }

  return i;
}

/* Contiguous elements of 3 to 15 bytes. Each is written with the bytes after it in
 * the source, which the next element then overwrites. The bytes between elements can
 * be read if they are elements themselves, or if they are not on a separate page. */
#define MAX_GAP 4096

static gsize
pack_row (guint8       *dest,
          const guint8 *source,
          gsize         n,
          gssize        source_step,
          gsize         size)
{
  gsize n_after = (16 + size - 1) / size; /* elements that a store may reach, including its own */
  gsize n_overlong;

  if (size == 3 && source_step == 4)
    return pack_3_of_4 (dest, source, n);
  if (n <= n_after || source_step < (gssize) size || source_step > MAX_GAP)
    return 0;

  n_overlong = n - n_after;
  for (gsize i = 0; i < n_overlong; i++)
    mtl_store16 (dest + i * size, mtl_load16 (source + (gssize) i * source_step));

  return n_overlong;
}

/* [rows, elements of 3 to 15 bytes] */
void MTL_KERNEL (pack) (const MtlCopyGrid *grid);

void
MTL_KERNEL (pack) (const MtlCopyGrid *grid)
{
  const MtlAxis rows = grid->rows, items = grid->items;

  for (gsize i = 0; i < rows.extent; i++)
    copy_rest (grid, i, pack_row (grid->dest + (gssize) i * rows.dest_step,
                                  grid->source + (gssize) i * rows.source_step, items.extent,
                                  items.source_step, grid->plan->item_size));
}

MTL_INLINE void
swap_scalar (guint8       *dest,
             const guint8 *source,
             gsize         n_pixels,
             int           n)
{
  for (gsize i = 0; i < n_pixels * n; i += n)
    for (int k = 0; k < n; k++)
      dest[i + k] = source[i + n - 1 - k];
}

static void
swap_3 (guint8       *dest,
        const guint8 *source,
        gsize         n)
{
  gsize i = 0;

  for (; i + 48 <= 3 * n; i += 48)
    {
      MtlBytes16 a = mtl_load16 (source + i), b = mtl_load16 (source + i + 16);
      MtlBytes16 c = mtl_load16 (source + i + 32);
      MtlBytes16 middle = SHUFFLE (a, b, 16, 15, 20, 19, 18, 23, 22, 21, 26, 25, 24, 29, 28, 27, 0,
                                   31);

      __builtin_prefetch ((gpointer) ((guintptr) source + i + MTL_AHEAD));
      mtl_store16 (dest + i, SHUFFLE (a, b, 2, 1, 0, 5, 4, 3, 8, 7, 6, 11, 10, 9, 14, 13, 12, 17));
      mtl_store16 (dest + i + 16, SHUFFLE (middle, c, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
                                           16, 15));
      mtl_store16 (dest + i + 32, SHUFFLE (b, c, 14, 19, 18, 17, 22, 21, 20, 25, 24, 23, 28, 27,
                                           26, 31, 30, 29));
    }
  swap_scalar (dest + i, source + i, n - i / 3, 3);
}

static void
swap_4 (guint8       *dest,
        const guint8 *source,
        gsize         n)
{
  gsize i = 0;

  for (; i + 16 <= 4 * n; i += 16)
    {
      MtlBytes16 a = mtl_load16 (source + i);

      __builtin_prefetch ((gpointer) ((guintptr) source + i + MTL_AHEAD));
      mtl_store16 (dest + i, SHUFFLE (a, a, 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12));
    }
  swap_scalar (dest + i, source + i, n - i / 4, 4);
}

/* [pixels, channels in the reverse order] */
void MTL_KERNEL (swap) (const MtlCopyGrid *grid);

void
MTL_KERNEL (swap) (const MtlCopyGrid *grid)
{
  gsize n = grid->items.extent;
  const guint8 *source = grid->source - (n - 1); /* the lowest byte */

  if (n == 3)
    swap_3 (grid->dest, source, grid->rows.extent);
  else
    swap_4 (grid->dest, source, grid->rows.extent);
}

#endif
