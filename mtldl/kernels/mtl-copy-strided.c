/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-copy-box-private.h"

/* Elements of any size with any steps, for everything that has no other kernel. Costs
 * a load and a store for each element, about half a nanosecond if they are near each
 * other. */

#define BUFFER_SIZE 4096
#define MAX_GATHERED 1024

/* Rows of so many bytes are streamed by themselves, if they are read forwards, or not. */
#define MIN_STREAMED 2048
#define MIN_STREAMED_BACKWARDS 16384

/* Rows of items with any steps. */
typedef struct
{
  guint8 *dest;
  const guint8 *source;
  MtlCopyAxis rows;
  MtlCopyAxis items;
  gsize item_size;
  gboolean is_far; /* the source is not in the caches */
} Grid;

static Grid
get_grid (const MtlCopyJob *job)
{
  return (Grid) { job->dest, job->source, job->axes[0], job->axes[1], job->item_size, job->streams };
}

/* The part from a row and an item on, with at most max_rows and max_items. */
static Grid
get_part (const Grid *self,
          gsize       row,
          gsize       max_rows,
          gsize       item,
          gsize       max_items)
{
  Grid part = *self;

  part.dest += (gssize) row * self->rows.dest_step + (gssize) item * self->items.dest_step;
  part.source += (gssize) row * self->rows.source_step + (gssize) item * self->items.source_step;
  part.rows.extent = MIN (self->rows.extent - row, max_rows);
  part.items.extent = MIN (self->items.extent - item, max_items);
  return part;
}

/* Like get_part(), to the rows of a buffer with contiguous items. */
static Grid
get_part_to (const Grid *self,
             gsize       row,
             gsize       max_rows,
             gsize       item,
             gsize       max_items,
             guint8     *buffer,
             gsize       row_size)
{
  Grid part = get_part (self, row, max_rows, item, max_items);

  part.dest = buffer;
  part.rows.dest_step = row_size;
  part.items.dest_step = self->item_size;
  return part;
}

/* The compiler cannot know that what is written is not the grid. */
MTL_INLINE void
copy_items_of (const Grid *self,
               gsize       size)
{
  const Grid grid = *self;

  for (gsize j = 0; j < grid.rows.extent; j++)
    {
      guint8 *dest = grid.dest + (gssize) j * grid.rows.dest_step;
      const guint8 *source = grid.source + (gssize) j * grid.rows.source_step;

#pragma GCC unroll 4
      for (gsize i = 0; i < grid.items.extent; i++)
        {
          memcpy (dest, source, size);
          dest += grid.items.dest_step;
          source += grid.items.source_step;
        }
    }
}

static void
copy_few_of_each (const Grid *self)
{
  for (gsize j = 0; j < self->rows.extent; j++)
    for (gsize i = 0; i < self->items.extent; i++)
      mtl_copy_few (self->dest + (gssize) j * self->rows.dest_step
                      + (gssize) i * self->items.dest_step,
                    self->source + (gssize) j * self->rows.source_step
                      + (gssize) i * self->items.source_step, self->item_size);
}

static void
copy_items (const Grid *self)
{
  switch (self->item_size)
    {
    case 1: copy_items_of (self, 1); break;
    case 2: copy_items_of (self, 2); break;
    case 3: copy_items_of (self, 3); break;
    case 4: copy_items_of (self, 4); break;
    case 6: copy_items_of (self, 6); break;
    case 8: copy_items_of (self, 8); break;
    case 12: copy_items_of (self, 12); break;
    case 16: copy_items_of (self, 16); break;
    case 24: copy_items_of (self, 24); break;
    case 32: copy_items_of (self, 32); break;
    default:
      if (self->item_size <= 64)
        copy_few_of_each (self);
      else
        copy_items_of (self, self->item_size);
    }
}

#if MTL_COPY_WIDTH > 0
/* The step between elements that the kernels for channels support, or 0. */
static int
get_gathered_step (const Grid *self)
{
  gssize size = self->item_size;
  gssize n = self->items.source_step / size;

  return self->items.dest_step == size && size <= 8 && (size & (size - 1)) == 0
         && n * size == self->items.source_step && n >= 2 && n <= 4 ? n : 0;
}

static gboolean
can_pack (const Grid *self)
{
  gsize size = self->item_size;

  return self->items.dest_step == (gssize) size && size < 16 && (size & (size - 1)) != 0;
}

static gboolean
is_backwards (const Grid *self)
{
  gssize size = self->item_size;

  return self->items.dest_step == size && self->items.source_step == -size && size <= 8
         && (size & (size - 1)) == 0;
}

static gssize
get_ahead (const Grid *self)
{
  return mtl_choose_ahead (self->items.extent, self->items.source_step, self->rows.source_step);
}

/* For a row with contiguous items in the destination. Returns how many were copied. */
static gsize
copy_packed (const Grid *row,
             gssize      ahead)
{
  const MtlCopyAxis *items = &row->items;

  if (can_pack (row))
    return MTL_KERNEL (pack) (row->dest, row->source, items->extent, items->source_step,
                              row->item_size);

  return MTL_KERNEL (reverse) (row->dest, row->source, items->extent, row->item_size, ahead);
}
#endif

/* Vectors gain little with elements of 8 bytes: rows of fewer are not worth a call each, unless
 * for what the kernel prefetches. */
#define LEAST_GATHERED 32

static void
copy_grid (const Grid *self)
{
#if MTL_COPY_WIDTH > 0
  int step = get_gathered_step (self);

  if (step != 0
      && (self->item_size < 8 || self->items.extent >= LEAST_GATHERED || self->is_far))
    {
      gssize ahead = get_ahead (self);

      for (gsize j = 0; j < self->rows.extent; j++)
        MTL_KERNEL (gather) (self->dest + (gssize) j * self->rows.dest_step,
                             self->source + (gssize) j * self->rows.source_step,
                             self->items.extent, step, self->item_size, ahead, FALSE);
      return;
    }

  if (can_pack (self) || is_backwards (self))
    {
      gssize ahead = get_ahead (self);

      for (gsize j = 0; j < self->rows.extent; j++)
        {
          Grid row = get_part (self, j, 1, 0, self->items.extent), rest;

          rest = get_part (&row, 0, 1, copy_packed (&row, ahead), self->items.extent);
          copy_items (&rest);
        }
      return;
    }
#endif

  copy_items (self);
}

/* Assembles parts of a row in the L1 cache, so that lines are complete. The first
 * part is smaller, so that the others begin at a line. */
static void
stream_row (const Grid *row)
{
  guint8 buffer[BUFFER_SIZE] MTL_ALIGNED;
  gsize n = row->items.extent, size = row->item_size;
  gsize first = MIN (mtl_bytes_to_line (row->dest) / size, n);
  gsize at_once = BUFFER_SIZE / MTL_LINE / size * MTL_LINE;
  Grid part;

#if MTL_COPY_WIDTH > 0
  int step = get_gathered_step (row);

  if (step != 0)
    {
      MTL_KERNEL (gather) (row->dest, row->source, n, step, size, MTL_AHEAD, TRUE);
      return;
    }
#endif

  part = get_part (row, 0, 1, 0, first);
  copy_grid (&part);
  for (gsize i = first; i < n; i += at_once)
    {
      part = get_part_to (row, 0, 1, i, at_once, buffer, 0);
      copy_grid (&part);
      mtl_stream_row (row->dest + i * size, buffer, part.items.extent * size);
    }
}

/* Assembles short contiguous rows in the L1 cache, then streams them. */
static void
gather_rows (const Grid *self)
{
  guint8 buffer[BUFFER_SIZE] MTL_ALIGNED;
  gsize row_size = self->items.extent * self->item_size;
  gsize n_gathered = BUFFER_SIZE / row_size;

  for (gsize j = 0; j < self->rows.extent; j += n_gathered)
    {
      Grid part = get_part_to (self, j, n_gathered, 0, self->items.extent, buffer, row_size);

      copy_grid (&part);
      mtl_stream_row (self->dest + (gssize) j * self->rows.dest_step, buffer,
                      part.rows.extent * row_size);
    }
}

/* Rows that are read backwards confuse the machine if they span so many bytes. */
#define LEAST_BACKWARDS 384

static gsize
get_source_span (const Grid *self)
{
  return (self->items.extent - 1) * (gsize) ABS (self->items.source_step) + self->item_size;
}

static void
prefetch_backwards (const Grid *self)
{
  guintptr lowest = (guintptr) self->source
                    + (self->items.extent - 1) * (gsize) self->items.source_step;
  gsize span = get_source_span (self);

  for (gsize k = 0; k < self->rows.extent; k++)
    mtl_prefetch ((gpointer) (lowest + k * (gsize) self->rows.source_step), span);
}

/* Rows that are one after the other in the destination, and backwards in the source. */
static void __attribute__ ((noinline))
stream_backwards (const Grid *self)
{
  gsize row_size = self->items.extent * self->item_size;
  gsize n_rows = MAX (BUFFER_SIZE / row_size, 1), n_items = BUFFER_SIZE / self->item_size;
  Sink sink;

  mtl_sink_open (&sink, self->dest);
  for (gsize j = 0; j < self->rows.extent; j += n_rows)
    for (gsize i = 0; i < self->items.extent; i += n_items)
      {
        Grid part = get_part_to (self, j, n_rows, i, n_items, sink.buffer + sink.fill, row_size);
        Grid next = part;

        next.source += (gssize) n_rows * self->rows.source_step;
        prefetch_backwards (&next);
        copy_grid (&part);
        mtl_sink_take (&sink, part.rows.extent * part.items.extent * self->item_size);
      }
  mtl_sink_close (&sink);
}

/* For few elements per row: copies along the other axis, as long as the lines where the next
 * elements are stay in the L1 cache. Those a multiple of a power of two apart share few sets. */
#define FEW 8
#define CHUNK 512
#define LEAST_CHUNK 16
#define L1_SIZE (32 * 1024)

static gsize
choose_chunk (const Grid *self)
{
  gsize step = ABS (self->rows.source_step);
  gsize power = MAX (step & -step, MTL_LINE);

  if (ABS (self->items.source_step) >= MTL_LINE)
    return CHUNK; /* no two elements share a line */

  return MAX (MIN (L1_SIZE / power, CHUNK), LEAST_CHUNK);
}

static void
copy_across (const Grid *self)
{
  gsize chunk = choose_chunk (self);

  for (gsize j = 0; j < self->rows.extent; j += chunk)
    {
      Grid part = get_part (self, j, chunk, 0, self->items.extent);
      MtlCopyAxis items = part.items;

      part.items = part.rows;
      part.rows = items;
      copy_grid (&part);
    }
}

void MTL_KERNEL (strided) (const MtlCopyJob *job);

void
MTL_KERNEL (strided) (const MtlCopyJob *job)
{
  Grid grid = get_grid (job);
  gsize row_size = grid.items.extent * grid.item_size;
  gboolean streams = job->streams && grid.items.dest_step == (gssize) grid.item_size
                     && grid.item_size <= MTL_LINE;

  if (grid.items.extent <= FEW && grid.rows.extent > grid.items.extent)
    copy_across (&grid);
  else if (streams && grid.rows.dest_step == (gssize) row_size && grid.rows.extent > 1
           && grid.items.source_step < 0 && get_source_span (&grid) >= LEAST_BACKWARDS)
    stream_backwards (&grid);
  else if (streams && grid.rows.dest_step == (gssize) row_size && row_size <= MAX_GATHERED)
    gather_rows (&grid);
  else if (streams && row_size >= (grid.items.source_step < 0 ? MIN_STREAMED_BACKWARDS
                                                             : MIN_STREAMED))
    for (gsize j = 0; j < grid.rows.extent; j++)
      {
        Grid row = get_part (&grid, j, 1, 0, grid.items.extent);

        stream_row (&row);
      }
  else
    copy_grid (&grid);
}

/* Axes whose elements are near each other on only one side: in blocks that fit the L1
 * cache, row by row of the destination. For elements of any size, at a quarter to a
 * half of the speed of transpose. */
#define N_ROWS 16
#define ROW_SIZE 1024

/* Prefetches the lines of the source for the next rows. */
static void
prefetch_rows (const Grid *self)
{
  gssize n = (gssize) self->rows.extent * self->rows.source_step;
  guintptr next = (guintptr) self->source + (n < 0 ? 2 * n : n);

  for (gsize i = 0; i < self->items.extent; i++)
    mtl_prefetch ((gpointer) (next + i * (gsize) self->items.source_step), ABS (n));
}

static void
copy_buffered (const Grid *block,
               gboolean    streams,
               gboolean    has_more_rows)
{
  guint8 buffer[N_ROWS][ROW_SIZE + MTL_LINE] MTL_ALIGNED;
  Grid staged = *block;
  gsize row_size = block->items.extent * block->item_size;

  staged.dest = buffer[0];
  staged.rows.dest_step = sizeof buffer[0];
  copy_grid (&staged);
  if (streams && has_more_rows)
    prefetch_rows (block);

  for (gsize k = 0; k < block->rows.extent; k++)
    if (streams)
      mtl_stream_row (block->dest + (gssize) k * block->rows.dest_step, buffer[k], row_size);
    else
      memcpy (block->dest + (gssize) k * block->rows.dest_step, buffer[k], row_size);
}

void MTL_KERNEL (blocked) (const MtlCopyJob *job);

void
MTL_KERNEL (blocked) (const MtlCopyJob *job)
{
  Grid grid = get_grid (job);
  gsize size = grid.item_size;
  /* With gaps in the source, the buffer would cost more than it saves. */
  gboolean is_buffered = grid.items.dest_step == (gssize) size && size <= MTL_LINE
                         && ABS (grid.rows.source_step) == (gssize) size;
  gsize max_items = is_buffered ? ROW_SIZE / size : 64;
  gsize max_rows = is_buffered ? N_ROWS : 32;

  for (gsize j = 0; j < grid.items.extent; j += max_items)
    for (gsize i = 0; i < grid.rows.extent; i += max_rows)
      {
        Grid block = get_part (&grid, i, max_rows, j, max_items);
        gsize n_after = grid.rows.extent - i - block.rows.extent;

        if (is_buffered)
          copy_buffered (&block, job->streams, n_after >= max_rows);
        else
          copy_grid (&block);
      }
}
