/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-copy-tile-private.h"

/* Elements of 1, 2, 4, 8 or 16 bytes, contiguous along one axis in the source and
 * along others in the destination. In tiles of 64 by 64 bytes, so that each line is
 * read and written once and as a whole. From memory, this is as fast as memcpy() or
 * faster, because lines are streamed; within the caches it is half as fast. Rows of
 * the destination that begin within lines are assembled in the L1 cache, which takes
 * a tenth longer. */

#if MTL_COPY_WIDTH > 0

/* Tiles in one column. The L2 cache holds them even if the rows of the source compete
 * for the fewest sets. */
#define ITEMS_AT_ONCE 4
#define ROWS_AT_ONCE(size) ((size) > 2 ? 2 : 1)
#define TILES_AHEAD(size) ((size) > 8 ? 8 : (size) > 2 ? 4 : 2)

MTL_INLINE MtlCopyBlock
get_part (const MtlCopyBlock *self,
          gsize               item,
          gsize               row,
          gsize               size)
{
  MtlCopyBlock part = *self;

  part.dest += (gssize) row * self->dest_step + (gssize) (item * size);
  part.source += row * size;
  if (self->next_source != NULL)
    part.next_source += row * size;
  part.offsets += item;
  part.n_items -= item;
  part.n_rows -= row;
  part.n_source_rows -= MIN (row, part.n_source_rows);
  return part;
}

MTL_INLINE void
copy_items (const MtlCopyBlock *self,
            gsize               size)
{
  for (gsize row = 0; row < self->n_rows; row++)
    for (gsize item = 0; item < self->n_items; item++)
      memcpy (self->dest + (gssize) row * self->dest_step + item * size,
              self->source + self->offsets[item] + row * size, size);
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
copy_squares_of (const MtlCopyBlock *self,
                 gsize               size)
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
        MtlCopyBlock square = get_part (self, MIN (item, self->n_items - n),
                                        MIN (row, self->n_rows - n), size);

        mtl_transpose_square (square.dest, square.dest_step, square.source, square.offsets,
                              size);
      }
}

static void
copy_squares (const MtlCopyBlock *self,
              gsize               size)
{
  CALL_FOR_SIZE (size, copy_squares_of, self);
}

MTL_INLINE void
prefetch_tile (const guint8 *source,
               const gint32 *offsets,
               gsize         size)
{
  for (int i = 0; i < (int) (MTL_LINE / size); i++)
    __builtin_prefetch ((gpointer) ((guintptr) source + offsets[i]), 0, 2);
}

/* Prefetches into the L2 cache, since the rows of a tile often compete for few sets
 * of the L1 cache. */
MTL_INLINE void
prefetch_ahead (const MtlCopyBlock *self,
                gsize               first,
                gsize               item,
                gsize               row,
                gsize               size)
{
  gsize items_at_once = ITEMS_AT_ONCE * (MTL_LINE / size);
  const guint8 *source = self->source + first * size;
  const gint32 *offsets = self->offsets + item;

  if (row + TILES_AHEAD (size) * (MTL_LINE / size) < self->n_source_rows)
    prefetch_tile (source + TILES_AHEAD (size) * MTL_LINE, offsets, size);
  else if (self->n_source_rows > 0 && item + items_at_once < self->n_items)
    prefetch_tile (source, offsets + items_at_once, size);
  else if (self->next_source != NULL)
    prefetch_tile (self->next_source + first * size, offsets, size);
}

/* Copies whole tiles along the items, and at least one along the rows. Processes a
 * few columns of tiles at a time, and within them a few rows, so that pages of the
 * source are still near when their next lines are read. */
MTL_INLINE void
copy_tiles_of (const MtlCopyBlock *self,
               gboolean            streams,
               gsize               size)
{
  gsize n = MTL_LINE / size;
  gsize items_at_once = ITEMS_AT_ONCE * n, rows_at_once = ROWS_AT_ONCE (size) * n;

  for (gsize first_item = 0; first_item < self->n_items; first_item += items_at_once)
    for (gsize first_row = 0; first_row < self->n_rows; first_row += rows_at_once)
      for (gsize item = first_item;
           item < MIN (first_item + items_at_once, self->n_items); item += n)
        for (gsize row = first_row; row < MIN (first_row + rows_at_once, self->n_rows); row += n)
          {
            gsize first = MIN (row, self->n_rows - n);

            prefetch_ahead (self, first, item, row, size);
            mtl_transpose_tile (self->dest + (gssize) first * self->dest_step + item * size,
                                self->dest_step, self->source + first * size,
                                self->offsets + item, size, streams);
          }
}

static void
copy_tiles (const MtlCopyBlock *self,
            gsize               size,
            gboolean            streams)
{
  if (streams)
    CALL_FOR_SIZE (size, copy_tiles_of, self, TRUE)
  else
    CALL_FOR_SIZE (size, copy_tiles_of, self, FALSE)
}

/* For too few rows for a tile, but at least 16 bytes of each item. */
MTL_INLINE void
copy_strips_of (const MtlCopyBlock *self,
                gboolean            streams,
                gsize               size)
{
  gsize n = MTL_LINE / size, n_strip_rows = 16 / size;
  gsize ahead = self->n_source_rows > 0 ? MTL_AHEAD / 16 : 0;

  for (gsize item = 0; item < self->n_items; item += n)
    for (gsize row = 0; row < self->n_rows; row += n_strip_rows)
      {
        MtlCopyBlock strip = get_part (self, item, MIN (row, self->n_rows - n_strip_rows), size);

        if (row == 0 && item + ahead + n <= self->n_items)
          prefetch_tile (strip.source, strip.offsets + ahead, size);
        mtl_transpose_strip_whole (strip.dest, strip.dest_step, strip.source, strip.offsets, size,
                                   streams);
      }
}

/* In tiles, with squares for the edges. If lines are streamed, they begin after
 * `head` items of each row. */
static void
copy_block (const MtlCopyBlock *self,
            gsize               size,
            gsize               head,
            gboolean            streams)
{
  gsize n = MTL_LINE / size;
  MtlCopyBlock edge, whole;

  if (self->n_rows < 16 / size || self->n_items < n + head)
    {
      copy_squares (self, size);
      return;
    }
  if (head == 0 && self->n_items % n == 0 && self->n_rows >= n)
    {
      copy_tiles (self, size, streams);
      return;
    }

  if (head > 0)
    {
      edge = *self;
      edge.n_items = head;
      copy_squares (&edge, size);
    }

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
stream_shifted (const MtlCopyBlock *self,
                gsize               size)
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
        MtlCopyBlock part = get_part (self, first, row, size);
        MtlCopyBlock staged = part;

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
stream_gathered (const MtlCopyBlock *self,
                 gsize               size)
{
  guint8 buffer[16384] MTL_ALIGNED;
  gsize n_rows = sizeof buffer / (self->n_items * size);

  for (gsize row = 0; row < self->n_rows; row += n_rows)
    {
      MtlCopyBlock part = get_part (self, 0, row, size), staged = part;

      staged.dest = buffer;
      staged.n_rows = MIN (part.n_rows, n_rows);
      copy_block (&staged, size, 0, FALSE);
      mtl_stream_row (part.dest, buffer, staged.n_rows * self->n_items * size);
    }
}

/* A block, with lines that bypass the caches or not. */
void
MTL_KERNEL (transpose) (const MtlCopyBlock *self,
                        gsize               size,
                        gboolean            streams)
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

#endif
