/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-copy-set-private.h"

/* Rows that repeat one element each: fills, broadcast columns, a gray channel for
 * several channels. This only writes, so it is the fastest of all. */

/* Rows of this many bytes for which memset() is as fast. */
#define LEAST_MEMSET 512

/* Repeats the element, n bytes in total. Each pass doubles what is there. */
static void
repeat (guint8       *dest,
        const guint8 *item,
        gsize         size,
        gsize         n)
{
  gsize done = MIN (size, n);

  memcpy (dest, item, done);
  while (done < n)
    {
      gsize more = MIN (done, n - done);

      memcpy (dest + done, dest, more);
      done += more;
    }
}

#if MTL_COPY_WIDTH > 0

/* Elements that repeat in vectors, in rows that have space for a few. */
static gboolean
is_for_vectors (gsize size,
                gsize n)
{
  return size <= 16 && (size & (size - 1)) == 0 && n >= 16;
}

typedef guint16 Items2 __attribute__ ((vector_size (MTL_COPY_WIDTH)));
typedef guint32 Items4 __attribute__ ((vector_size (MTL_COPY_WIDTH)));
typedef guint64 Items8 __attribute__ ((vector_size (MTL_COPY_WIDTH)));

#define SPLAT(Vector, type) \
  { \
    type value; \
\
    memcpy (&value, item, sizeof value); \
    return (MtlVector) ((Vector) { 0 } + value); \
  }

/* In registers, since loading what was just stored in parts is slow. */
MTL_INLINE MtlVector
splat (const guint8 *item,
       gsize         size)
{
  guint8 items[MTL_COPY_WIDTH];

  switch (size)
    {
    case 1: SPLAT (MtlVector, guint8)
    case 2: SPLAT (Items2, guint16)
    case 4: SPLAT (Items4, guint32)
    case 8: SPLAT (Items8, guint64)
    default: break;
    }

  for (int i = 0; i < MTL_COPY_WIDTH; i += 16)
    mtl_store16 (items + i, mtl_load16 (item));
  return mtl_load (items);
}

/* Whole lines of n bytes in total. */
MTL_INLINE void
fill_lines (guint8    *dest,
            MtlVector  vector,
            gsize      n,
            gboolean   streams)
{
  for (gsize i = 0; i < n; i += MTL_COPY_WIDTH)
    if (streams)
      mtl_stream (dest + i, vector);
    else
      mtl_store (dest + i, vector);
}

/* At least 16 bytes. The stores at the ends may overlap others. */
MTL_INLINE void
fill_row (guint8    *dest,
          MtlVector  vector,
          gsize      n)
{
  MtlBytes16 few;

  memcpy (&few, &vector, sizeof few);
  if (n < MTL_LINE)
    {
      for (gsize i = 0; i + 16 <= n; i += 16)
        mtl_store16 (dest + i, few);
      mtl_store16 (dest + n - 16, few);
      return;
    }

  for (gsize i = 0; i + MTL_LINE <= n; i += MTL_LINE)
    fill_lines (dest + i, vector, MTL_LINE, FALSE);
  fill_lines (dest + n - MTL_LINE, vector, MTL_LINE, FALSE);
}

MTL_INLINE void
fill_rows_of (const MtlCopyGrid *grid,
              gsize              n,
              gsize              size)
{
  const MtlAxis rows = grid->rows;
  guint8 *dest = grid->dest;
  const guint8 *source = grid->source;

  for (gsize i = 0; i < rows.extent; i++, dest += rows.dest_step, source += rows.source_step)
    if (grid->streams)
      fill_lines (dest, splat (source, size), n, TRUE);
    else
      fill_row (dest, splat (source, size), n);
}

/* Elements of a power of two up to 16 bytes. */
static void
fill_rows (const MtlCopyGrid *grid,
           gsize              n)
{
  switch (grid->plan->item_size)
    {
    case 1: fill_rows_of (grid, n, 1); break;
    case 2: fill_rows_of (grid, n, 2); break;
    case 4: fill_rows_of (grid, n, 4); break;
    case 8: fill_rows_of (grid, n, 8); break;
    default: fill_rows_of (grid, n, 16);
    }
}
#endif

/* Any elements. */
static void
fill_rows_by_doubling (const MtlCopyGrid *grid,
                       gsize              n)
{
  const MtlAxis rows = grid->rows;
  guint8 *dest = grid->dest;
  const guint8 *source = grid->source;
  gsize size = grid->plan->item_size;

  for (gsize i = 0; i < rows.extent; i++, dest += rows.dest_step, source += rows.source_step)
    if (size == 1)
      memset (dest, *source, n);
    else
      repeat (dest, source, size, n);
}

void
MTL_KERNEL (fill) (const MtlCopyGrid *grid)
{
  gsize size = grid->plan->item_size, n = grid->items.extent * size;

#if MTL_COPY_WIDTH > 0
  if (is_for_vectors (size, n) && (size > 1 || n < LEAST_MEMSET || grid->streams))
    {
      fill_rows (grid, n);
      return;
    }
#endif

  fill_rows_by_doubling (grid, n);
}

/* Elements that are converted once for a row each. */
#define CONVERTED 256

void
MTL_KERNEL (convert_fill) (const MtlCopyGrid *grid)
{
  const MtlCopyPlan *plan = grid->plan;
  guint8 converted[CONVERTED * 16];
  gsize size = plan->item_size;

  for (gsize i = 0; i < grid->rows.extent; i += CONVERTED)
    {
      gsize n = MIN (grid->rows.extent - i, CONVERTED);
      const MtlCopyGrid part = {
        .plan = plan,
        .dest = grid->dest + (gssize) i * grid->rows.dest_step,
        .source = converted,
        .rows = mtl_axis (n, grid->rows.dest_step, size),
        .items = grid->items,
      };

      plan->convert (converted, grid->source + (gssize) i * grid->rows.source_step, n, size,
                     grid->rows.source_step, plan->convert_data);
      MTL_KERNEL (fill) (&part);
    }
}
