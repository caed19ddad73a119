/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-copy-block-private.h"

/* Goes over the rows of a block, and gives the last two axes to the kernel of the way. This is
 * also where rows are streamed: some kernels stream whole lines, and the others write pieces of
 * rows to a buffer in the L1 cache. */

/* Bytes of a piece on the larger side, and of one of a plane. */
#define PIECE 1024
#define PLANE 2048

#if MTL_COPY_WIDTH > 0

/* Prefetches a source at this distance: in the same row if it is long, or in a later one. */
static gssize
choose_ahead (const MtlCopyGrid *grid)
{
  gsize row_size = grid->items.extent * (gsize) ABS (grid->items.source_step), n_ahead;

  if (grid->rows.extent == 1 || row_size >= 2 * MTL_SINK_AHEAD)
    return grid->items.source_step < 0 ? -MTL_SINK_AHEAD : MTL_SINK_AHEAD;

  n_ahead = MIN (MTL_SINK_AHEAD / MAX (row_size, 1), grid->rows.extent / 4) + 1;
  return (gssize) n_ahead * grid->rows.source_step;
}

/* Sets the rows and items of a copy of the grid. What is just stored in parts is slow to load as
 * a whole, above all after lines were streamed. */
MTL_INLINE void
set_part (MtlCopyGrid       *part,
          const MtlCopyGrid *self,
          gsize              row,
          gsize              max_rows,
          gsize              item,
          gsize              max_items)
{
  part->dest = self->dest + (gssize) row * self->rows.dest_step
               + (gssize) item * self->items.dest_step;
  part->source = self->source + (gssize) row * self->rows.source_step
                 + (gssize) item * self->items.source_step;
  part->rows.extent = MIN (self->rows.extent - row, max_rows);
  part->items.extent = MIN (self->items.extent - item, max_items);
}

/* Copies rows if the kernel streams pixels, or else items. */
static void
copy_part (const MtlCopyGrid *grid,
           gboolean           by_rows,
           gsize              first,
           gsize              n,
           gboolean           streams)
{
  MtlCopyGrid part = *grid;

  if (n == 0)
    return;

  if (by_rows)
    set_part (&part, grid, first, n, 0, G_MAXSIZE);
  else
    set_part (&part, grid, 0, G_MAXSIZE, first, n);
  part.streams = streams;
  grid->plan->copy_grid (&part);
}

/* Lets the kernel stream whole lines, and copy what is before and after them. Returns FALSE if it
 * cannot, or if the rows do not begin at the same place of a line. */
static gboolean
stream_whole_lines (const MtlCopyGrid *grid)
{
  const MtlCopyPlan *plan = grid->plan;
  gboolean by_rows = plan->way == MTL_COPY_INTERLEAVE;
  const MtlAxis *axis = by_rows ? &grid->rows : &grid->items;
  gsize per_line = MTL_LINE / plan->item_size, head = 0, n;

  if ((!by_rows && plan->way != MTL_COPY_DEINTERLEAVE && plan->way != MTL_COPY_NTH
       && plan->way != MTL_COPY_FILL)
      || MTL_LINE % plan->item_size != 0 || plan->item_size > 16
      || (!by_rows && grid->rows.extent > 1 && grid->rows.dest_step % MTL_LINE != 0))
    return FALSE;

  while (head < MTL_LINE && mtl_bytes_to_line (grid->dest + head * axis->dest_step) > 0)
    head++;
  if (head == MTL_LINE || head + per_line > axis->extent)
    return FALSE;

  n = (axis->extent - head) / per_line * per_line;
  copy_part (grid, by_rows, 0, head, FALSE);
  copy_part (grid, by_rows, head, n, TRUE);
  copy_part (grid, by_rows, head + n, axis->extent - head - n, FALSE);
  return TRUE;
}

static void
stream_piece (MtlCopyGrid *piece,
              gssize       ahead,
              Sink        *sink)
{
  const MtlCopyPlan *plan = piece->plan;
  const guint8 *next = (gpointer) ((guintptr) piece->source + (gsize) ahead);

  mtl_sink_go_to (sink, piece->dest);
  piece->dest = sink->buffer + sink->fill;
  plan->copy_grid (piece);
  sink->fill += piece->rows.extent * piece->items.extent * plan->item_size;
  if (sink->fill >= MTL_SINK_GROUP)
    mtl_sink_drain (sink, next, plan->line_ahead);
}

/* Rows that are short, and one after the other, are pieces together. */
static void
stream_grid (const MtlCopyGrid *grid,
             Sink              *sink)
{
  const MtlCopyPlan *plan = grid->plan;
  gsize at_once = MAX (PIECE / MAX (plan->item_size, plan->source_size),
                       MTL_SINK_GROUP / plan->item_size);
  gssize row_size = grid->items.extent * plan->item_size;
  gssize ahead = choose_ahead (grid);
  MtlCopyGrid piece = *grid;

  if (grid->items.extent <= at_once
      && (grid->rows.extent == 1 || grid->rows.dest_step == row_size))
    for (gsize row = 0; row < grid->rows.extent; row += at_once / grid->items.extent)
      {
        set_part (&piece, grid, row, at_once / grid->items.extent, 0, grid->items.extent);
        stream_piece (&piece, ahead, sink);
      }
  else
    for (gsize row = 0; row < grid->rows.extent; row++)
      for (gsize item = 0; item < grid->items.extent; item += at_once)
        {
          set_part (&piece, grid, row, 1, item, at_once);
          stream_piece (&piece, ahead, sink);
        }
}

/* Rows that the kernel writes side by side. There are at most four. */
static void
stream_planes (const MtlCopyGrid *grid)
{
  guint8 buffer[4][PLANE] MTL_ALIGNED;
  gsize size = grid->plan->item_size;
  MtlCopyGrid staged = *grid;

  staged.rows.dest_step = PLANE;
  for (gsize item = 0; item < grid->items.extent; item += PLANE / size)
    {
      set_part (&staged, grid, 0, grid->rows.extent, item, PLANE / size);
      staged.dest = buffer[0];
      grid->plan->copy_grid (&staged);
      for (gsize i = 0; i < grid->rows.extent; i++)
        mtl_stream_row (grid->dest + (gssize) item * size + (gssize) i * grid->rows.dest_step,
                        buffer[i], staged.items.extent * size);
    }
}

/* The machine cannot predict where the next row begins. */
static void
stream_runs (const MtlCopyGrid *grid)
{
  gsize size = grid->plan->item_size, n_ahead = MTL_AHEAD / size + 1;

  for (gsize i = 0; i < grid->rows.extent; i++)
    for (gsize k = 0; k < grid->items.extent; k++)
      {
        const guint8 *source = grid->source + (gssize) i * grid->rows.source_step
                               + (gssize) k * grid->items.source_step;

        mtl_prefetch ((gpointer) ((guintptr) source + n_ahead * (gsize) grid->items.source_step),
                      MIN (size, MTL_AHEAD));
        mtl_stream_row (grid->dest + (gssize) i * grid->rows.dest_step
                          + (gssize) k * grid->items.dest_step,
                        source, size);
      }
}

static void
stream_to (Sink              *sink,
           const MtlCopyGrid *grid)
{
  if (grid->plan->way == MTL_COPY_ROWS)
    stream_runs (grid);
  else if (stream_whole_lines (grid))
    return;
  else if (grid->plan->way == MTL_COPY_DEINTERLEAVE)
    stream_planes (grid);
  else
    stream_grid (grid, sink);
}

#endif

/* Goes over all axes but the last two. Nothing is streamed if there is no sink. */
MTL_INLINE void
go_over_block (const MtlCopyPlan *plan,
               const MtlAxis     *axes,
               guint8            *dest,
               const guint8      *source,
               Sink              *sink)
{
  guint n_outer = plan->n_axes - 2;
  MtlCopyGrid grid = { plan, dest, source, axes[n_outer], axes[n_outer + 1], FALSE };
  guint64 position[MTL_AXES_MAX];
  gint64 offsets[2];

  mtl_axes_go_to (axes, n_outer, 0, position, offsets);
  do
    {
      grid.dest = dest + offsets[0];
      grid.source = source + offsets[1];
#if MTL_COPY_WIDTH > 0
      if (sink != NULL)
        stream_to (sink, &grid);
      else
#endif
        plan->copy_grid (&grid);
    }
  while (mtl_axes_go_on (axes, n_outer, position, offsets));
}

static void
copy_block (const MtlCopyPlan *plan,
            const MtlAxis     *axes,
            guint8            *dest,
            const guint8      *source)
{
  go_over_block (plan, axes, dest, source, NULL);
}

static void __attribute__ ((noinline))
stream_block (const MtlCopyPlan *plan,
              const MtlAxis     *axes,
              guint8            *dest,
              const guint8      *source)
{
  Sink sink;

  mtl_sink_open (&sink, dest);
  go_over_block (plan, axes, dest, source, &sink);
  mtl_sink_close (&sink);
}

void
MTL_KERNEL (grids) (const MtlCopyPlan *plan,
                    gsize              first,
                    gsize              n)
{
  if (plan->n_blocks == 1 && !plan->streams)
    {
      copy_block (plan, plan->axes, plan->dest, plan->source);
      return;
    }

  for (gsize i = first; i < first + n; i++)
    {
      MtlAxesBlock block;
      guint8 *dest;
      const guint8 *source;

      mtl_axes_get_block (plan->axes, plan->n_axes, plan->parts, i, &block);
      dest = plan->dest + block.offsets[0];
      source = plan->source + block.offsets[1];
      if (plan->streams)
        stream_block (plan, block.axes, dest, source);
      else
        copy_block (plan, block.axes, dest, source);
    }
}

/* --- The kernels for rows that need no vectors */

/* Rows of bytes that are contiguous on both sides. */
void
MTL_KERNEL (rows) (const MtlCopyGrid *grid)
{
  const MtlAxis rows = grid->rows, items = grid->items;
  gsize size = grid->plan->item_size;

  for (gsize i = 0; i < rows.extent; i++)
    {
      guint8 *dest = grid->dest + (gssize) i * rows.dest_step;
      const guint8 *source = grid->source + (gssize) i * rows.source_step;

      for (gsize k = 0; k < items.extent; k++)
        {
          if (size <= 64)
            mtl_copy_few (dest, source, size);
          else
            MTL_KERNEL (copy_bytes) (dest, source, size);
          dest += items.dest_step;
          source += items.source_step;
        }
    }
}

MTL_INLINE void
copy_elements_of (const MtlCopyGrid *self,
                  gsize              size)
{
  for (gsize i = 0; i < self->rows.extent; i++)
    mtl_copy_elements (self->dest + (gssize) i * self->rows.dest_step,
                       self->source + (gssize) i * self->rows.source_step, self->items.extent,
                       self->items.dest_step, self->items.source_step, size);
}

/* Elements of any size with any steps. */
void
MTL_KERNEL (elements) (const MtlCopyGrid *grid)
{
  switch (grid->plan->item_size)
    {
    case 1: copy_elements_of (grid, 1); break;
    case 2: copy_elements_of (grid, 2); break;
    case 3: copy_elements_of (grid, 3); break;
    case 4: copy_elements_of (grid, 4); break;
    case 6: copy_elements_of (grid, 6); break;
    case 8: copy_elements_of (grid, 8); break;
    case 12: copy_elements_of (grid, 12); break;
    case 16: copy_elements_of (grid, 16); break;
    default: MTL_KERNEL (rows) (grid);
    }
}

/* Elements that are converted, row by row. */
void
MTL_KERNEL (convert) (const MtlCopyGrid *grid)
{
  const MtlCopyPlan *plan = grid->plan;
  const MtlAxis rows = grid->rows, items = grid->items;

  for (gsize i = 0; i < rows.extent; i++)
    plan->convert (grid->dest + (gssize) i * rows.dest_step,
                   grid->source + (gssize) i * rows.source_step, items.extent, items.dest_step,
                   items.source_step, plan->convert_data);
}

/* Rows of a few elements are converted column by column, in parts that stay within the L1
 * cache. */
#define COLUMN 128

void
MTL_KERNEL (convert_columns) (const MtlCopyGrid *grid)
{
  const MtlCopyPlan *plan = grid->plan;
  const MtlAxis rows = grid->rows, items = grid->items;

  for (gsize i = 0; i < rows.extent; i += COLUMN)
    for (gsize k = 0; k < items.extent; k++)
      plan->convert (grid->dest + (gssize) i * rows.dest_step + (gssize) k * items.dest_step,
                     grid->source + (gssize) i * rows.source_step
                       + (gssize) k * items.source_step,
                     MIN (rows.extent - i, COLUMN), rows.dest_step, rows.source_step,
                     plan->convert_data);
}
