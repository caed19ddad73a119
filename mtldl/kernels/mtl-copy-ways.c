/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-copy-ways-private.h"

/* The ways to copy: on which condition each can, at which cost, and how the plan is arranged for
 * it. The cheapest is taken. Costs are in picoseconds, for all elements within a core's caches. */

/* Rows of fewer elements are converted column by column. */
#define FEW 8

/* Blocks are cut at multiples of this many elements: whole lines. */
#define GRAIN 64

/* Kernels for channels are worth it from this many pixels on. */
#define LEAST_PIXELS 32

/* Bytes of a run that is streamed: shorter ones with gaps have too many lines in part. */
#define LEAST_STREAMED 2048
#define LEAST_STREAMED_CONVERTED 16384

static gboolean
is_dest_row (const MtlCopyPlan *plan)
{
  return mtl_copy_get_last (plan)->dest_step == (gssize) plan->item_size;
}

static gboolean
is_source_row (const MtlCopyPlan *plan)
{
  return mtl_copy_get_last (plan)->source_step == (gssize) plan->source_size;
}

static gboolean
is_scattered (const MtlCopyPlan *plan)
{
  return !is_dest_row (plan) || !is_source_row (plan);
}

/* The bytes of the lines of the source that are visited before the same lines are visited again,
 * if all is read in the order of the destination. */
static gsize
get_bytes_of_visits (const MtlCopyPlan *plan)
{
  gsize bytes = MTL_LINE, visited = 0, nearest = MTL_LINE;

  for (guint i = plan->n_axes; i-- > 0;)
    {
      gsize step = mtl_copy_get_source_distance (&plan->axes[i]);

      if (step > 0 && step < nearest)
        {
          nearest = step;
          visited = bytes;
        }
      if (step > 0)
        bytes = mtl_copy_multiply_up_to_max (bytes, mtl_copy_count_lines (&plan->axes[i]));
    }

  return visited;
}

/* The visits of lines that have left a cache in the meantime. */
static guint64
get_cost_of_lines (const MtlCopyPlan *plan,
                   gsize              visited)
{
  const MtlCopyMachine *machine = mtl_copy_machine_get ();
  gsize step = mtl_copy_get_source_distance (mtl_copy_get_last (plan));
  gsize per_line = step > 0 && step < MTL_LINE ? MTL_LINE / step : 1;
  guint64 n_lines = plan->n_items / MIN (per_line, mtl_copy_get_last (plan)->extent);

  return visited <= machine->near_size  ? 0
         : visited <= machine->own_size ? MTL_COST_LEFT_NEAR * n_lines
                                        : MTL_COST_LEFT_OWN * n_lines;
}

static guint64
get_cost_of_visits (const MtlCopyPlan *plan)
{
  if (plan->source_bytes <= mtl_copy_machine_get ()->near_size)
    return 0;

  return get_cost_of_lines (plan, get_bytes_of_visits (plan));
}

/* --- Slices */

/* Grids have the last two axes. */
static void
add_unit_axes (MtlCopyPlan *plan)
{
  while (plan->n_axes < 2)
    {
      for (guint i = plan->n_axes++; i > 0; i--)
        plan->axes[i] = plan->axes[i - 1];
      plan->axes[0] = mtl_axis (1, 0, 0);
    }
}

/* Blocks of about the size of a slice, with all of the inner axes. */
static void
cut_into_blocks (MtlCopyPlan *plan,
                 guint        n_whole)
{
  gsize left;

  plan->n_blocks = plan->blocks_per_slice = 1;
  if (plan->n_bytes <= mtl_copy_slice_size)
    {
      for (guint i = 0; i < plan->n_axes; i++)
        plan->parts[i] = plan->axes[i].extent;
      return;
    }

  left = MAX (mtl_copy_slice_size / plan->item_size, 1);
  for (guint i = plan->n_axes; i-- > 0;)
    {
      guint64 extent = plan->axes[i].extent, part = MIN (extent, left);

      if (i >= plan->n_axes - n_whole)
        part = extent;
      else if (part < extent && part > GRAIN)
        part = part / GRAIN * GRAIN;
      plan->parts[i] = part;
      left = MAX (left / part, 1);
    }
  plan->n_blocks = mtl_axes_count_blocks (plan->axes, plan->n_axes, plan->parts);
}

static void
arrange_grid (MtlCopyPlan *plan)
{
  add_unit_axes (plan);
  cut_into_blocks (plan, 0);
}

/* --- Bytes, rows and fills */

/* There is no better way. */
static guint64
get_no_cost (const MtlCopyPlan *plan)
{
  return 0;
}

static void
arrange_bytes (MtlCopyPlan *plan)
{
  cut_into_blocks (plan, 0);
}

static guint64
get_rows_cost (const MtlCopyPlan *plan)
{
  gsize n = plan->n_rows, size = plan->item_size * mtl_copy_get_last (plan)->extent;
  guint64 cost = size <= 64 ? MTL_COST_ROW
                            : MTL_COST_LONG_ROW + MTL_COST_LINE * size / MTL_LINE;

  return cost * n + get_cost_of_visits (plan);
}

/* Makes the run one item. Rows that are streamed can be written in any order. */
static void
arrange_rows (MtlCopyPlan *plan)
{
  gsize size = plan->item_size * mtl_copy_get_last (plan)->extent;

  plan->n_axes--;
  plan->n_items = plan->n_rows;
  plan->item_size = plan->source_size = size;
  if (plan->streams)
    mtl_axes_sort (plan->axes, plan->n_axes, 1);
  arrange_grid (plan);
}

/* Elements of more bytes are rows, and shorter rows are not worth a call each. */
#define LARGEST_FILL 64
#define LEAST_FILLED 8
#define LEAST_FILLED_BYTES 32

static gboolean
is_fill (const MtlCopyPlan *plan)
{
  gsize extent = mtl_copy_get_last (plan)->extent;

  return plan->item_size <= (plan->convert != NULL ? 16 : LARGEST_FILL)
         && extent >= LEAST_FILLED && extent * plan->item_size >= LEAST_FILLED_BYTES;
}

/* Elements that are no power of two are repeated by doubling what is there. */
static guint64
get_fill_cost (const MtlCopyPlan *plan)
{
  if (mtl_copy_is_power_up_to (plan->item_size, 16))
    return 0;

  return (guint64) MTL_COST_DOUBLED_ROW * plan->n_rows + plan->n_bytes / 8 * MTL_COST_REPEATED;
}

static guint64
get_convert_fill_cost (const MtlCopyPlan *plan)
{
  return MTL_COST_CALL + (guint64) (MTL_COST_LONG_ROW + MTL_COST_SCATTERED) * plan->n_rows
         + plan->n_bytes / 8 * MTL_COST_REPEATED;
}

/* --- Elements in vectors */

static guint64
get_cost_of_items (const MtlCopyPlan *plan,
                   guint64            item_cost)
{
  return item_cost * plan->n_items + (guint64) MTL_COST_LONG_ROW * plan->n_rows
         + get_cost_of_visits (plan);
}

static gboolean
is_nth (const MtlCopyPlan *plan)
{
  return mtl_copy_get_nth (plan->item_size, mtl_copy_get_last (plan)->source_step) > 0;
}

static guint64
get_nth_cost (const MtlCopyPlan *plan)
{
  const MtlAxis *last = mtl_copy_get_last (plan);
  gsize size = plan->item_size;
  guint64 item_cost = mtl_copy_get_nth_cost (size, mtl_copy_get_nth (size, last->source_step));

  return get_cost_of_items (plan, item_cost)
         + last->extent % (16 / size) * MTL_COST_REMAINING * plan->n_rows;
}

static gboolean
is_reverse (const MtlCopyPlan *plan)
{
  return mtl_copy_get_last (plan)->source_step == -(gssize) plan->item_size;
}

static guint64
get_reverse_cost (const MtlCopyPlan *plan)
{
  return get_cost_of_items (plan, mtl_copy_get_vector_cost (plan->item_size) / 2);
}

/* Three bytes of each four, such as RGB of RGBA. */
static gboolean
is_3_of_4 (const MtlCopyPlan *plan)
{
  return plan->item_size == 3 && mtl_copy_get_last (plan)->source_step == 4;
}

static guint64
get_3_of_4_cost (const MtlCopyPlan *plan)
{
  return get_cost_of_items (plan, MTL_COST_THREE_OF_FOUR);
}

/* Two to four interleaved channels in the destination, from planes. */
static gboolean
is_interleave (const MtlCopyPlan *plan)
{
  const MtlAxis *channels = mtl_copy_get_last (plan), *pixels = channels - 1;
  gssize size = plan->item_size;

  return channels->extent <= 4 && pixels->extent >= LEAST_PIXELS && pixels->source_step == size
         && pixels->dest_step == size * (gssize) channels->extent;
}

static guint64
get_channels_cost (const MtlCopyPlan *plan)
{
  const MtlAxis *last = mtl_copy_get_last (plan);

  return (guint64) mtl_copy_get_vector_cost (plan->item_size) * plan->n_items
         + (guint64) MTL_COST_LONG_ROW * (plan->n_items / (last->extent * last[-1].extent));
}

/* The last axis is not cut. */
static void
arrange_pixels (MtlCopyPlan *plan)
{
  add_unit_axes (plan);
  cut_into_blocks (plan, 1);
}

/* All or some of two to four interleaved channels in the source, to planes. */
static gboolean
is_deinterleave (const MtlCopyPlan *plan)
{
  const MtlAxis *pixels = mtl_copy_get_last (plan), *channels;
  int axis = mtl_axes_find_nearest (plan->axes, plan->n_axes, 1);

  if (axis < 0 || axis == (int) plan->n_axes - 1 || !is_nth (plan)
      || pixels->extent < LEAST_PIXELS)
    return FALSE;

  channels = &plan->axes[axis];
  return channels->source_step == (gssize) plan->item_size
         && (gssize) channels->extent * channels->source_step <= pixels->source_step;
}

static void
arrange_deinterleave (MtlCopyPlan *plan)
{
  mtl_axes_move (plan->axes, mtl_axes_find_nearest (plan->axes, plan->n_axes, 1), plan->n_axes - 2);
  arrange_grid (plan);
  plan->parts[plan->n_axes - 2] = plan->axes[plan->n_axes - 2].extent;
  plan->n_blocks = mtl_axes_count_blocks (plan->axes, plan->n_axes, plan->parts);
}

/* Pixels of three or four bytes with reversed channels. */
static gboolean
is_swap (const MtlCopyPlan *plan)
{
  const MtlAxis *channels = mtl_copy_get_last (plan);
  gssize n = channels->extent;

  return plan->item_size == 1 && (n == 3 || n == 4) && channels->source_step == -1
         && channels[-1].dest_step == n && channels[-1].source_step == n;
}

/* --- Elements, and conversions */

/* The axis along which elements are copied in a loop: the longest if all of them stay near, and it
 * is worth leaving lines early, or else the last. Streamed ones are written in order. */
static guint
find_loop_axis (const MtlCopyPlan *plan)
{
  guint last = plan->n_axes - 1, found = last;
  const MtlCopyMachine *machine = mtl_copy_machine_get ();
  gsize most = plan->axes[last].extent < FEW ? machine->own_size / 4 : machine->near_size;

  if (plan->streams || plan->n_bytes + plan->source_bytes > most)
    return last;

  for (guint i = last; i-- > 0;)
    if (plan->axes[i].extent >= 2 * plan->axes[found].extent
        && (plan->axes[last].extent < FEW || plan->axes[i].dest_step < MTL_LINE))
      found = i;

  return found;
}

/* Divisions take long in tiny copies. */
static guint64
get_elements_cost (const MtlCopyPlan *plan)
{
  guint axis = find_loop_axis (plan), last = plan->n_axes - 1;
  gsize n_rows = axis == last ? plan->n_rows : plan->n_items / plan->axes[axis].extent;
  gsize n_grids = last < 2 ? 1 : n_rows / plan->axes[axis < last ? last : last - 1].extent;

  return (guint64) MTL_COST_ELEMENT * plan->n_items * MAX (plan->item_size / 16, 1)
         + (guint64) MTL_COST_ROW * n_rows + MTL_COST_GRID * n_grids + get_cost_of_visits (plan);
}

static void
arrange_elements (MtlCopyPlan *plan)
{
  mtl_axes_move (plan->axes, find_loop_axis (plan), plan->n_axes - 1);
  arrange_grid (plan);
}

static guint64
get_scattered_cost (const MtlCopyPlan *plan)
{
  return plan->converts_cheaply ? MTL_COST_SCATTERED : MTL_COST_BY_4;
}

static guint64
get_convert_cost (const MtlCopyPlan *plan)
{
  const MtlAxis *last = mtl_copy_get_last (plan);
  guint64 cost = mtl_copy_get_converted_cost (plan);

  if (plan->n_axes == 1 && !is_scattered (plan))
    return 0;

  if (is_scattered (plan) && plan->converts_scattered)
    cost = get_scattered_cost (plan);
  else if (is_scattered (plan))
    cost += (is_source_row (plan) ? 0 : MTL_COST_ELEMENT)
            + (is_dest_row (plan) ? 0 : MTL_COST_ELEMENT);

  return cost * plan->n_items
         + (is_scattered (plan) ? MTL_COST_SCATTERED_CALL : MTL_COST_CALL) * (guint64) plan->n_rows
         + (plan->n_axes > 1
              ? get_cost_of_lines (plan, MTL_LINE * mtl_copy_count_lines (last)) : 0);
}

/* The axis along which the source moves least, if it is not the last one, or -1. Rows along it are
 * next to each other. */
static int
find_moved_axis (const MtlCopyPlan *plan)
{
  int axis = mtl_axes_find_nearest (plan->axes, plan->n_axes, 1);

  return axis < (int) plan->n_axes - 1 ? axis : -1;
}

static void
arrange_convert (MtlCopyPlan *plan)
{
  gsize step = mtl_copy_get_source_distance (mtl_copy_get_last (plan));
  int axis = find_moved_axis (plan);

  if (axis >= 0)
    mtl_axes_move (plan->axes, axis, plan->n_axes - 2);
  arrange_grid (plan);
  if (plan->streams && step <= MTL_LINE)
    plan->line_ahead = MTL_LINE / plan->item_size * step;
}

static gboolean
are_columns (const MtlCopyPlan *plan)
{
  const MtlAxis *last = mtl_copy_get_last (plan);

  return plan->converts_scattered && last->extent < FEW
         && last[-1].extent > last->extent;
}

static guint64
get_columns_cost (const MtlCopyPlan *plan)
{
  const MtlAxis *last = mtl_copy_get_last (plan);

  return (guint64) MTL_COST_SCATTERED * plan->n_items
         + (guint64) MTL_COST_CALL * (plan->n_items / last[-1].extent + plan->n_items / 128)
         + get_cost_of_visits (plan);
}

/* --- Boxes */

/* Boxes are blocked along the axis where the source moves least, unless the innermost ones have
 * several elements of each line anyway. */
static guint64
get_boxes_cost (const MtlCopyPlan *plan)
{
  gsize step = mtl_copy_get_source_distance (mtl_copy_get_last (plan));

  if (plan->source_bytes <= mtl_copy_machine_get ()->near_size)
    return mtl_copy_get_boxes_cost (plan);

  return mtl_copy_get_boxes_cost (plan)
         + (step <= MTL_LINE / 4 ? get_cost_of_visits (plan)
                                      : (guint64) MTL_COST_FAR_UNIT * plan->n_items);
}

/* --- The table */

/* Features of a copy, of which each way needs some. */
enum
{
  COPIES = 1 << 0,
  CONVERTS = 1 << 1,
  ONE_AXIS = 1 << 2,
  SEVERAL_AXES = 1 << 3,
  TO_ROWS = 1 << 4, /* contiguous along the last axis in the destination, and in the source */
  FROM_ROWS = 1 << 5,
  FROM_APART = 1 << 6, /* not contiguous in the source, or always the same element */
  FROM_ONE = 1 << 7,
  APART = 1 << 8, /* not contiguous on both sides */
  SMALL_ITEMS = 1 << 9, /* elements of 1, 2, 4 or 8 bytes */
  MANY_ITEMS = 1 << 10, /* worth a table or a call */
};

#define MANY 32
#define LARGEST_BOXED 256

static gboolean
fits_boxes (const MtlCopyPlan *plan)
{
  return MAX (plan->item_size, plan->source_size) <= LARGEST_BOXED;
}

static guint
find_features (const MtlCopyPlan *plan)
{
  gssize step = mtl_copy_get_last (plan)->source_step;

  return (plan->convert != NULL ? CONVERTS : COPIES)
         | (plan->n_axes == 1 ? ONE_AXIS : SEVERAL_AXES)
         | (is_dest_row (plan) ? TO_ROWS : 0)
         | (is_scattered (plan) ? APART : 0)
         | (is_source_row (plan) ? FROM_ROWS : step == 0 ? FROM_ONE | FROM_APART : FROM_APART)
         | (mtl_copy_is_power_up_to (plan->item_size, 8) ? SMALL_ITEMS : 0)
         | (plan->n_items >= MANY ? MANY_ITEMS : 0);
}

typedef struct
{
  const char *name;
  guint needs; /* features */
  gboolean (* holds) (const MtlCopyPlan *plan); /* a further condition, or NULL */
  guint64 (* get_cost) (const MtlCopyPlan *plan);
  void (* arrange) (MtlCopyPlan *plan);
  gsize least_streamed; /* bytes of a run in the destination, or 0 if they are never streamed */
  guint32 least_cost; /* no need to look if another way costs less than this, */
  guint32 least_item_cost; /* and this for each element that is apart in the source */
} Way;

#define VECTORS (COPIES | TO_ROWS | FROM_APART | MANY_ITEMS)
#define CHANNELS (VECTORS | SEVERAL_AXES)

static const Way ways[] = {
  [MTL_COPY_BYTES] = {
    "bytes", COPIES | ONE_AXIS | TO_ROWS | FROM_ROWS, NULL, get_no_cost, arrange_bytes, 1,
  },
  [MTL_COPY_ROWS] = {
    "rows", COPIES | SEVERAL_AXES | TO_ROWS | FROM_ROWS, NULL, get_rows_cost, arrange_rows, 256,
  },
  [MTL_COPY_FILL] = {
    "fill", COPIES | TO_ROWS | FROM_ONE, is_fill, get_fill_cost, arrange_grid, LEAST_STREAMED,
  },
  [MTL_COPY_NTH] = {
    "nth", VECTORS | SMALL_ITEMS, is_nth, get_nth_cost, arrange_grid, LEAST_STREAMED,
  },
  [MTL_COPY_REVERSE] = {
    "reverse", VECTORS | SMALL_ITEMS, is_reverse, get_reverse_cost, arrange_grid, LEAST_STREAMED,
  },
  [MTL_COPY_3_OF_4] = {
    "three of four", VECTORS, is_3_of_4, get_3_of_4_cost, arrange_grid, LEAST_STREAMED,
  },
  [MTL_COPY_INTERLEAVE] = {
    "interleave", CHANNELS | SMALL_ITEMS, is_interleave, get_channels_cost, arrange_pixels,
    LEAST_STREAMED,
  },
  [MTL_COPY_DEINTERLEAVE] = {
    "deinterleave", CHANNELS | SMALL_ITEMS, is_deinterleave, get_channels_cost,
    arrange_deinterleave, 512,
  },
  [MTL_COPY_SWAP] = {
    "swap", CHANNELS | SMALL_ITEMS, is_swap, get_channels_cost, arrange_pixels, LEAST_STREAMED,
  },
  [MTL_COPY_ELEMENTS] = {
    "elements", COPIES | APART, NULL, get_elements_cost, arrange_elements, LEAST_STREAMED,
    0, MTL_COST_ELEMENT,
  },
  [MTL_COPY_CONVERT] = {
    "convert", CONVERTS, NULL, get_convert_cost, arrange_convert, LEAST_STREAMED_CONVERTED,
  },
  [MTL_COPY_CONVERT_COLUMNS] = {
    "convert columns", CONVERTS | SEVERAL_AXES, are_columns, get_columns_cost, arrange_grid, 0,
  },
  [MTL_COPY_CONVERT_FILL] = {
    "convert and fill", CONVERTS | TO_ROWS | FROM_ONE, is_fill, get_convert_fill_cost,
    arrange_grid, LEAST_STREAMED,
  },
  [MTL_COPY_TILES] = {
    "tiles", SEVERAL_AXES | TO_ROWS | FROM_APART | MANY_ITEMS, NULL, mtl_copy_get_tiles_cost,
    mtl_copy_arrange_tiles, 256, MTL_COST_TILES, MTL_COST_LEAST_ITEM,
  },
  [MTL_COPY_BOXES] = {
    "boxes", MANY_ITEMS, fits_boxes, get_boxes_cost, mtl_copy_arrange_boxes,
    MTL_COPY_STREAMED_RUN, MTL_COST_BOXES, MTL_COST_LEAST_ITEM,
  },
};

/* The bytes that are contiguous in the destination. */
static gsize
get_run (const MtlCopyPlan *plan)
{
  gsize run = plan->item_size;

  for (guint i = plan->n_axes; i-- > 0 && plan->axes[i].dest_step == (gssize) run;)
    run *= plan->axes[i].extent;

  return run;
}

static gboolean
is_streamed (const MtlCopyPlan *plan,
             const Way         *way)
{
  if (way->least_streamed == 0 || get_run (plan) < way->least_streamed
      || plan->item_size > LARGEST_BOXED)
    return FALSE;
  if (way != &ways[MTL_COPY_CONVERT])
    return TRUE;

  return find_moved_axis (plan) < 0
         && (mtl_copy_reads_while_streaming
             || !(mtl_copy_narrows (plan) || (plan->converts_cheaply && is_scattered (plan))));
}

/* Returns G_MAXUINT64 if the condition does not hold. */
static guint64
get_cost (const MtlCopyPlan    *plan,
          const MtlCopyKernels *kernels,
          guint                 features,
          guint                 i)
{
  const Way *way = &ways[i];
  guint64 cost;

  if ((way->needs & ~features) != 0 || !mtl_copy_kernels_have (kernels, i)
      || (way->holds != NULL && !way->holds (plan)))
    return G_MAXUINT64;

  cost = way->get_cost (plan);
  if (cost < G_MAXUINT64 && plan->streams)
    cost += plan->n_bytes * (is_streamed (plan, way) ? MTL_COST_STREAMED_BYTE : MTL_COST_BYTE);
  return cost;
}

/* A way that a test forces is taken if its condition holds. */
static MtlCopyWay
find_cheapest (const MtlCopyPlan    *plan,
               const MtlCopyKernels *kernels)
{
  MtlCopyWay found = plan->convert != NULL ? MTL_COPY_CONVERT : MTL_COPY_ELEMENTS;
  const char *forced = mtl_copy_forced_way;
  guint features = find_features (plan);
  guint64 n_apart = (features & FROM_APART) != 0 ? plan->n_items : 0, least = G_MAXUINT64;

  for (guint i = 0; i < MTL_COPY_N_WAYS && (least > 0 || forced != NULL); i++)
    {
      const Way *way = &ways[i];
      gboolean is_forced = forced != NULL && strcmp (way->name, forced) == 0;
      guint64 cost;

      if ((way->needs & ~features) != 0
          || (way->least_cost + way->least_item_cost * n_apart >= least && !is_forced))
        continue;

      cost = get_cost (plan, kernels, features, i);
      if (is_forced && cost < G_MAXUINT64)
        return i;
      if (cost < least)
        {
          least = cost;
          found = i;
        }
    }

  return found;
}

void
mtl_copy_choose_way (MtlCopyPlan          *plan,
                     const MtlCopyMachine *machine)
{
  const MtlCopyKernels *kernels = machine->kernels;
  const Way *way;

  plan->way = plan->in_order ? plan->convert != NULL ? MTL_COPY_CONVERT : MTL_COPY_ELEMENTS
                             : find_cheapest (plan, kernels);
  way = &ways[plan->way];
  plan->copy_grid = kernels->grids[plan->way];
  plan->copy_blocks = plan->copy_grid != NULL ? kernels->copy_grids : kernels->blocks[plan->way];
  plan->streams = plan->streams && is_streamed (plan, way);
  if (plan->in_order)
    arrange_grid (plan);
  else
    way->arrange (plan);
  plan->fence = plan->streams ? kernels->fence : NULL;
}

void
mtl_copy_describe_ways (const MtlCopyPlan *plan,
                        GString           *text)
{
  const MtlCopyKernels *kernels = mtl_copy_machine_get ()->kernels;
  guint features = find_features (plan);

  for (guint i = 0; i < MTL_COPY_N_WAYS; i++)
    {
      guint64 cost = get_cost (plan, kernels, features, i);

      if (cost < G_MAXUINT64)
        g_string_append_printf (text, "%s%s %" G_GUINT64_FORMAT, text->len > 0 ? ", " : "",
                                ways[i].name, cost / 1000);
    }
}

const char *
mtl_copy_way_get_name (MtlCopyWay way)
{
  return ways[way].name;
}
