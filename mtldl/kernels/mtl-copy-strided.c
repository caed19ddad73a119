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
  MtlAxis rows;
  MtlAxis items;
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
  const MtlAxis *items = &row->items;

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

void MTL_KERNEL (strided) (const MtlCopyJob *job);

void
MTL_KERNEL (strided) (const MtlCopyJob *job)
{
  Grid grid = get_grid (job);
  gsize row_size = grid.items.extent * grid.item_size;
  gboolean streams = job->streams && grid.items.dest_step == (gssize) grid.item_size
                     && grid.item_size <= MTL_LINE;

  if (streams && grid.rows.dest_step == (gssize) row_size && row_size <= MAX_GATHERED)
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
