/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-copy-block-private.h"

/* Elements of 1, 2, 4, 8 or 16 bytes that are contiguous along the last axis in the
 * source, the rows, and along others in the destination, the items. A table has the
 * offsets of the items, so that it makes no difference over how many axes they
 * spread. Boxes next to each other along the rows become one block. */

#if MTL_COPY_WIDTH > 0

/* A line after each row, so that rows do not compete for the same sets of the cache. */
#define BUFFER_SIZE (MTL_LINE * (MTL_COPY_CONVERTED_ITEMS + 2 * MTL_LINE))

static void
fill_table (const MtlCopyPlan *plan,
            gint32            *offsets)
{
  gsize extents[MTL_COPY_BOX_AXES];
  gssize steps[MTL_COPY_BOX_AXES];

  for (guint i = 0; i < plan->n_inner; i++)
    {
      extents[i] = plan->parts[plan->inner[i]];
      steps[i] = plan->axes[plan->inner[i]].source_step;
    }
  mtl_fill_offsets (offsets, extents, steps, plan->n_inner);
}

/* Several axes of items are always whole. */
static gsize
count_items (const Place *place)
{
  gsize n = 1;

  for (guint i = 0; i < place->plan->n_inner; i++)
    n *= mtl_place_get_extent (place, place->plan->inner[i]);

  return n;
}

/* Takes as many of the n boxes as are next to each other, and returns how many. Goes to
 * the box after them, if it is one of the n. */
static gsize
take_block (Place        *place,
            gsize         n,
            const gint32 *offsets,
            MtlCopyBlock *block)
{
  const MtlCopyPlan *plan = place->plan;
  guint last = plan->n_axes - 1;
  const MtlAxis *rows = &plan->axes[last];
  gsize n_left = mtl_place_get_left (place, last);
  gsize n_taken = n > 1 ? MIN (n, (n_left - 1) / plan->parts[last] + 1) : 1;

  *block = (MtlCopyBlock) {
    .dest = place->dest,
    .source = place->source,
    .offsets = offsets,
    .n_items = count_items (place),
    .n_rows = MIN (n_taken * plan->parts[last], n_left),
    .dest_step = rows->dest_step,
  };
  if (n_taken == n)
    return n;

  mtl_place_go_on (place, n_taken);
  block->next_source = place->source;
  return n_taken;
}

typedef struct
{
  guint8 gathered[BUFFER_SIZE] MTL_ALIGNED;
  Sink sink;
} Buffers;

static void
put_run (const MtlCopyPlan *plan,
         guint8            *dest,
         const guint8      *run,
         gsize              n,
         Sink              *sink)
{
  if (!plan->streams)
    {
      mtl_convert_items (plan, dest, run, n);
      return;
    }

  mtl_sink_go_to (sink, dest);
  mtl_convert_items (plan, sink->buffer + sink->fill, run, n);
  mtl_sink_take (sink, n * plan->item_size, NULL, 0);
}

/* A line of the source at a time. */
static void
convert_block (const MtlCopyPlan  *plan,
               const MtlCopyBlock *block,
               Buffers            *buffers)
{
  gsize size = plan->source_size, row_size = block->n_items * size;
  gboolean joins = block->dest_step == (gssize) (block->n_items * plan->item_size)
                   && 2 * block->n_items <= MTL_COPY_CONVERTED_ITEMS;
  gsize n_at_once = joins ? MTL_COPY_CONVERTED_ITEMS / block->n_items : 1;
  gsize pitch = joins ? row_size : ((row_size - 1) / MTL_LINE + 2) * MTL_LINE;

  for (gsize row = 0; row < block->n_rows; row += MTL_LINE / size)
    {
      gboolean is_last = row + MTL_LINE / size >= block->n_rows;
      MtlCopyBlock line = *block;

      line.dest = buffers->gathered;
      line.dest_step = pitch;
      line.source += row * size;
      line.next_source = is_last ? block->next_source : line.source + MTL_LINE;
      line.n_rows = MIN (block->n_rows - row, MTL_LINE / size);
      MTL_KERNEL (transpose) (&line, size, FALSE);
      for (gsize i = 0; i < line.n_rows; i += n_at_once)
        put_run (plan, block->dest + (gssize) (row + i) * block->dest_step,
                 buffers->gathered + i * pitch,
                 MIN (line.n_rows - i, n_at_once) * block->n_items, &buffers->sink);
    }
}

static void __attribute__ ((noinline))
convert_tiles (Place        *place,
               const gint32 *offsets,
               gsize         n)
{
  const MtlCopyPlan *plan = place->plan;
  Buffers buffers;

  if (plan->streams)
    mtl_sink_open (&buffers.sink, place->dest);
  while (n > 0)
    {
      MtlCopyBlock block;

      n -= take_block (place, n, offsets, &block);
      convert_block (plan, &block, &buffers);
    }
  if (plan->streams)
    mtl_sink_close (&buffers.sink);
}

MTL_INLINE void
move_tiles (const MtlCopyPlan *plan,
            gsize              first,
            gsize              n,
            gint32            *offsets)
{
  Place place;

  fill_table (plan, offsets);
  mtl_place_go_to (&place, plan, first);
  if (plan->convert != NULL)
    {
      convert_tiles (&place, offsets, n);
      return;
    }

  while (n > 0)
    {
      MtlCopyBlock block;

      n -= take_block (&place, n, offsets, &block);
      if (plan->streams)
        block.n_source_rows = block.n_rows;
      MTL_KERNEL (transpose) (&block, plan->item_size, plan->streams);
    }
}

/* Small tiles have a small table, since each page of the stack costs time. */
#define FEW_ITEMS 256

static void __attribute__ ((noinline))
move_large_tiles (const MtlCopyPlan *plan,
                  gsize              first,
                  gsize              n)
{
  gint32 offsets[MTL_COPY_TILE_ITEMS];

  move_tiles (plan, first, n, offsets);
}

void
MTL_KERNEL (tiles) (const MtlCopyPlan *plan,
                    gsize              first,
                    gsize              n)
{
  gint32 offsets[FEW_ITEMS];
  gsize n_items = 1;

  for (guint i = 0; i < plan->n_inner; i++)
    n_items *= plan->parts[plan->inner[i]];
  if (n_items <= FEW_ITEMS)
    move_tiles (plan, first, n, offsets);
  else
    move_large_tiles (plan, first, n);
}

#endif
