/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-copy-tile-private.h"

/* Elements of 1, 2, 4, 8 or 16 bytes, contiguous along one axis in the source and
 * along another in the destination. In tiles of 64 by 64 bytes, so that each line is
 * read and written once and as a whole. From memory, this is as fast as memcpy() or
 * faster, because lines are streamed; within the caches it is half as fast. Rows of
 * the destination that begin within lines are assembled in the L1 cache, which takes
 * a tenth longer. */

#if MTL_COPY_WIDTH > 0

/* Tiles in one column. The L2 cache holds them even if the rows of the source compete
 * for the fewest sets. */
#define ITEMS_AT_ONCE 4
#define ROWS_AT_ONCE(size) ((size) > 2 ? 2 : 1)
#define MANY_TILES 16
#define TILES_AHEAD(size) ((size) > 8 ? 8 : (size) > 2 ? 4 : 2)

/* The block to transpose: n_rows rows of n_items in the destination. */
typedef struct
{
  guint8 *dest;
  const guint8 *source;
  const guint8 *next_source; /* to prefetch meanwhile, or NULL */
  gsize n_items;
  gsize n_rows;
  gsize n_source_rows; /* rows left to read, for prefetching, or 0 */
  gssize dest_step;   /* from row to row */
  gssize source_step; /* from item to item */
} Block;

MTL_INLINE Block
get_part (const Block *self,
          gsize        item,
          gsize        row,
          gsize        size)
{
  Block part = *self;

  part.dest += (gssize) row * self->dest_step + (gssize) (item * size);
  part.source += (gssize) item * self->source_step + (gssize) (row * size);
  if (self->next_source != NULL)
    part.next_source += (gssize) item * self->source_step + (gssize) (row * size);
  part.n_items -= item;
  part.n_rows -= row;
  part.n_source_rows -= MIN (row, part.n_source_rows);
  return part;
}

static void
copy_items (const Block *self,
            gsize        size)
{
  for (gsize row = 0; row < self->n_rows; row++)
    for (gsize item = 0; item < self->n_items; item++)
      mtl_copy_item (self->dest + (gssize) row * self->dest_step + item * size,
                     self->source + (gssize) item * self->source_step + row * size, size);
}

/* Makes the size a constant. */
#define CALL_FOR_SIZE(size, function, ...) \
  switch (size) \
    { \
    case 1: function (__VA_ARGS__, 1); break; \
    case 2: function (__VA_ARGS__, 2); break; \
    case 4: function (__VA_ARGS__, 4); break; \
    case 8: function (__VA_ARGS__, 8); break; \
    default: function (__VA_ARGS__, 16); break; \
    }

/* For any numbers of rows and items, in squares of 16 by 16 bytes. The last squares
 * overlap the ones before, and write the same data again. */
MTL_INLINE void
copy_squares_of (const Block *self,
                 gsize        size)
{
  gsize n = 16 / size;

  if (self->n_items < n || self->n_rows < n)
    {
      copy_items (self, size);
      return;
    }

  for (gsize item = 0; item < self->n_items; item += n)
    for (gsize row = 0; row < self->n_rows; row += n)
      {
        Block square = get_part (self, MIN (item, self->n_items - n), MIN (row, self->n_rows - n),
                                 size);

        mtl_transpose_square (square.dest, square.dest_step, square.source, square.source_step,
                              size);
      }
}

static void
copy_squares (const Block *self,
              gsize        size)
{
  CALL_FOR_SIZE (size, copy_squares_of, self);
}

/* Whether the source rows of a tile, of at least 8 lines each, compete for few of the
 * 64 sets of the L1 cache, because their step is near a multiple of a large power of
 * two. */
static gboolean
collides (gssize source_step,
          gsize  n_rows)
{
  gsize period = 64 * MTL_LINE;

  for (gsize n_sets = 1; n_sets * 8 < n_rows; n_sets *= 2, period /= 2)
    {
      gsize past = (gsize) source_step % period;
      gsize drift = MIN (past, period - past);

      if ((n_sets + n_rows * drift / MTL_LINE) * 8 < n_rows)
        return TRUE;
    }

  return FALSE;
}

/* Transposes a contiguous copy of the tile. */
MTL_INLINE void
copy_staged_tile (guint8       *dest,
                  gssize        dest_step,
                  const guint8 *source,
                  gssize        source_step,
                  gsize         size,
                  gboolean      streams)
{
  guint8 staged[64 * MTL_LINE] MTL_ALIGNED;

  for (gsize i = 0; i < MTL_LINE / size; i++)
    mtl_copy_line (staged + i * MTL_LINE, source + (gssize) i * source_step);
  mtl_transpose_tile (dest, dest_step, staged, MTL_LINE, size, streams);
}

MTL_INLINE void
prefetch_tile (const guint8 *source,
               gssize        step,
               gsize         size)
{
  for (int i = 0; i < (int) (MTL_LINE / size); i++)
    __builtin_prefetch ((gpointer) ((guintptr) source + i * step), 0, 2);
}

/* Prefetches into the L2 cache, since the rows of a tile often compete for few sets
 * of the L1 cache. */
MTL_INLINE void
prefetch_ahead (const Block *self,
                gssize       offset,
                gsize        item,
                gsize        row,
                gsize        size)
{
  gsize items_at_once = ITEMS_AT_ONCE * (MTL_LINE / size);

  if (row + TILES_AHEAD (size) * (MTL_LINE / size) < self->n_source_rows)
    prefetch_tile (self->source + offset + TILES_AHEAD (size) * MTL_LINE, self->source_step, size);
  else if (self->n_source_rows > 0 && item + items_at_once < self->n_items)
    prefetch_tile (self->source + offset + (gssize) items_at_once * self->source_step,
                   self->source_step, size);
  else if (self->next_source != NULL)
    prefetch_tile (self->next_source + offset, self->source_step, size);
}

/* How many rows before the first to begin, so that tiles read whole lines of the
 * source. The first tile then reads a part again. */
MTL_INLINE gsize
get_rows_before (const Block *self,
                 gsize        size)
{
  if (self->source_step % MTL_LINE != 0 || self->n_rows < MANY_TILES * (MTL_LINE / size))
    return 0;

  return (guintptr) self->source % MTL_LINE / size;
}

/* Copies whole tiles along the items, and at least one along the rows. Processes a
 * few columns of tiles at a time, and within them a few rows, so that pages of the
 * source are still near when their next lines are read. */
MTL_INLINE void
copy_tiles_of (const Block *self,
               gboolean     streams,
               gboolean     is_staged,
               gsize        size)
{
  gsize n = MTL_LINE / size;
  gsize items_at_once = ITEMS_AT_ONCE * n, rows_at_once = ROWS_AT_ONCE (size) * n;
  gsize before = get_rows_before (self, size), n_rows = self->n_rows + before;

  for (gsize first_item = 0; first_item < self->n_items; first_item += items_at_once)
    for (gsize first_row = 0; first_row < n_rows; first_row += rows_at_once)
      for (gsize item = first_item;
           item < MIN (first_item + items_at_once, self->n_items); item += n)
        for (gsize row = first_row; row < MIN (first_row + rows_at_once, n_rows); row += n)
          {
            gsize first = MIN (row - MIN (row, before), self->n_rows - n);
            guint8 *dest = self->dest + (gssize) first * self->dest_step + item * size;
            gssize offset = (gssize) item * self->source_step + (gssize) (first * size);

            prefetch_ahead (self, offset, item, row, size);
            if (is_staged)
              copy_staged_tile (dest, self->dest_step, self->source + offset, self->source_step,
                                size, streams);
            else
              mtl_transpose_tile (dest, self->dest_step, self->source + offset,
                                  self->source_step, size, streams);
          }
}

static void
copy_tiles (const Block *self,
            gsize        size,
            gboolean     streams)
{
  gboolean is_staged = collides (self->source_step, MTL_LINE / size);

  if (is_staged && streams)
    CALL_FOR_SIZE (size, copy_tiles_of, self, TRUE, TRUE)
  else if (is_staged)
    CALL_FOR_SIZE (size, copy_tiles_of, self, FALSE, TRUE)
  else if (streams)
    CALL_FOR_SIZE (size, copy_tiles_of, self, TRUE, FALSE)
  else
    CALL_FOR_SIZE (size, copy_tiles_of, self, FALSE, FALSE)
}

/* For too few rows for a tile, but at least 16 bytes of each item. */
MTL_INLINE void
copy_strips_of (const Block *self,
                gboolean     streams,
                gsize        size)
{
  gsize n = MTL_LINE / size, n_strip_rows = 16 / size;
  gssize ahead = self->n_source_rows > 0 ? MTL_AHEAD / 16 * self->source_step : 0;

  for (gsize item = 0; item < self->n_items; item += n)
    for (gsize row = 0; row < self->n_rows; row += n_strip_rows)
      {
        Block strip = get_part (self, item, MIN (row, self->n_rows - n_strip_rows), size);

        if (row == 0)
          prefetch_tile (strip.source + ahead, self->source_step, size);
        mtl_transpose_strip_whole (strip.dest, strip.dest_step, strip.source, strip.source_step,
                                   size, streams);
      }
}

/* In tiles, with squares for the edges. If lines are streamed, they begin after
 * `head` items of each row. */
static void
copy_block (const Block *self,
            gsize        size,
            gsize        head,
            gboolean     streams)
{
  gsize n = MTL_LINE / size;
  Block edge = *self, whole;

  if (self->n_rows < 16 / size || self->n_items < n + head)
    {
      copy_squares (self, size);
      return;
    }

  edge.n_items = head;
  if (head > 0)
    copy_squares (&edge, size);

  whole = get_part (self, head, 0, size);
  whole.n_items = whole.n_items / n * n;
  if (self->n_rows >= n)
    copy_tiles (&whole, size, streams);
  else if (streams)
    CALL_FOR_SIZE (size, copy_strips_of, &whole, TRUE)
  else
    CALL_FOR_SIZE (size, copy_strips_of, &whole, FALSE)

  head += whole.n_items;
  if (head < self->n_items)
    {
      /* At least a square, part of which is written again. */
      edge = get_part (self, MIN (head, self->n_items - 16 / size), 0, size);
      copy_squares (&edge, size);
    }
}

/* For rows that begin anywhere in a line. A part of some rows is transposed to a
 * buffer, after the line that is left over from the part before. Then the whole lines
 * are streamed. */
static void
stream_shifted (const Block *self,
                gsize        size)
{
  enum { MAX_ROWS = 64, ROW_SIZE = 9 * MTL_LINE };
  guint8 buffer[MAX_ROWS * ROW_SIZE] MTL_ALIGNED;
  gsize n = MTL_LINE / size;
  gsize items_at_once = 8 * n, rows_at_once = n;

  for (gsize begin = 0; begin < self->n_items; begin += items_at_once)
    for (gsize row = 0; row < self->n_rows; row += rows_at_once)
      {
        gsize first = begin > 0 ? begin - n : 0;
        gsize end = MIN (begin + items_at_once, self->n_items);
        gboolean is_last = end == self->n_items;
        Block part = get_part (self, first, row, size);
        Block staged = part;

        staged.dest = buffer;
        staged.dest_step = ROW_SIZE;
        staged.next_source = NULL;
        staged.n_items = end - first;
        staged.n_rows = MIN (part.n_rows, rows_at_once);
        copy_block (&staged, size, 0, FALSE);

        for (gsize i = 0; i < staged.n_rows; i++)
          {
            guint8 *to = part.dest + (gssize) i * self->dest_step;
            const guint8 *from = buffer + i * ROW_SIZE;
            gsize done = mtl_bytes_to_line (to);
            gsize n_bytes = staged.n_items * size;
            gsize stop = is_last ? n_bytes : n_bytes - 1; /* the last line is for the next part */

            if (begin == 0)
              memcpy (to, from, done);
            for (; done + MTL_LINE <= stop; done += MTL_LINE)
              mtl_stream_line (to + done, from + done);
            if (is_last)
              memcpy (to + done, from + done, n_bytes - done);
          }
      }
}

/* For short contiguous rows: assembles several in a buffer and streams them as one. */
static void
stream_gathered (const Block *self,
                 gsize        size)
{
  guint8 buffer[16384] MTL_ALIGNED;
  gsize n_rows = sizeof buffer / (self->n_items * size);

  for (gsize row = 0; row < self->n_rows; row += n_rows)
    {
      Block part = get_part (self, 0, row, size), staged = part;

      staged.dest = buffer;
      staged.n_rows = MIN (part.n_rows, n_rows);
      copy_block (&staged, size, 0, FALSE);
      mtl_stream_row (part.dest, buffer, staged.n_rows * self->n_items * size);
    }
}

static void
copy (const Block *self,
      gsize        size,
      gboolean     streams)
{
  gsize n = MTL_LINE / size;
  gsize row_size = self->n_items * size;
  gsize head = mtl_bytes_to_line (self->dest);
  gboolean on_lines = self->dest_step % MTL_LINE == 0;

  if (!streams || self->n_rows < 16 / size)
    copy_block (self, size, 0, FALSE);
  else if (on_lines && head == 0)
    copy_block (self, size, 0, TRUE);
  else if (self->dest_step == (gssize) row_size && row_size <= 1024)
    stream_gathered (self, size);
  else if (on_lines && head % size == 0 && self->n_items >= head / size + n)
    copy_block (self, size, head / size, TRUE);
  else if (self->n_items >= 4 * n)
    stream_shifted (self, size);
  else
    copy_block (self, size, 0, FALSE);
}

static Block
get_block (const MtlCopyJob *job)
{
  const MtlCopyAxis *rows = &job->axes[0], *items = &job->axes[1];

  return (Block) {
    .dest = job->dest,
    .source = job->source,
    .next_source = job->next_source,
    .n_items = items->extent,
    .n_rows = rows->extent,
    .n_source_rows = job->streams ? rows->extent : 0,
    .dest_step = rows->dest_step,
    .source_step = items->source_step,
  };
}

void MTL_KERNEL (transpose) (const MtlCopyJob *job);

void
MTL_KERNEL (transpose) (const MtlCopyJob *job)
{
  Block block = get_block (job);

  copy (&block, job->item_size, job->streams);
}

/* For rows that continue along a third axis: assembles about a kilobyte of each of
 * some rows in a buffer, then streams them. */
void MTL_KERNEL (transpose_runs) (const MtlCopyJob *job);

void
MTL_KERNEL (transpose_runs) (const MtlCopyJob *job)
{
  enum { RUN_SIZE = 1024, MAX_ROWS = 32 };
  guint8 buffer[MAX_ROWS][RUN_SIZE + MTL_LINE] MTL_ALIGNED;
  const MtlCopyAxis *runs = &job->axes[0], *rows = &job->axes[1], *items = &job->axes[2];
  gsize size = job->item_size, row_size = items->extent * size;
  gsize n_runs = RUN_SIZE / row_size;

  for (gsize run = 0; run < runs->extent; run += n_runs)
    for (gsize row = 0; row < rows->extent; row += MAX_ROWS)
      {
        gsize n_joined = MIN (runs->extent - run, n_runs);
        Block staged = {
          .n_items = items->extent,
          .n_rows = MIN (rows->extent - row, MAX_ROWS),
          .dest_step = sizeof buffer[0],
          .source_step = items->source_step,
        };

        for (gsize i = 0; i < n_joined; i++)
          {
            staged.dest = buffer[0] + i * row_size;
            staged.source = job->source + (gssize) (run + i) * runs->source_step + row * size;
            staged.next_source = run + i + 1 < runs->extent
                                   ? staged.source + runs->source_step : NULL;
            copy (&staged, size, FALSE);
          }
        for (gsize i = 0; i < staged.n_rows; i++)
          mtl_stream_row (job->dest + (gssize) (row + i) * rows->dest_step + run * row_size,
                          buffer[i], n_joined * row_size);
      }
}

#endif
