/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-copy-ways-private.h"

/* The ways to copy: on which condition each can, at which cost, and how the plan is arranged for
 * it. The cheapest is taken. Costs are in picoseconds, for all elements within a core's caches. */

/* Costs: a call of the kernel for a row, of a conversion, and a line of a row. */
#define ROW_COST 1500
#define LONG_ROW_COST 4000
#define CALL_COST 8000
#define LINE_COST 1000

/* Costs of an element: any, in vectors by the logarithm of its size, packed in vectors,
 * repeated, converted at once, in several steps, and where it is. */
#define ELEMENT_COST 280
#define PACK_COST 350
#define FILL_COST 30
#define CONVERTED_COST 60
#define STEPS_COST 150
#define SCATTERED_COST 300
static const guint16 nth_costs[] = { 40, 60, 100, 200 };

/* Costs of an element whose line has left the first cache, or all of a core's own, before its
 * next element is read. */
#define LEFT_NEAR_COST 500
#define LEFT_OWN_COST 2500

/* Cost of a byte that is streamed, and of one that is not, in large copies. */
#define STREAMED_BYTE_COST 60
#define BYTE_COST 100

/* A row of one column more takes this many others with it. */
#define FEW 8

/* Bytes in a slice and items at which it is cut: whole tiles of all kernels, and whole lines. */
#define GRAIN 64

/* Pixels of a row. */
#define LEAST_PIXELS 32

/* Short rows with gaps have too many lines that are streamed in part. */
#define LEAST_STREAMED 2048
#define LEAST_STREAMED_CONVERTED 16384

static gsize
count_rows (const MtlCopyPlan *plan)
{
  return plan->n_items / mtl_copy_get_last (plan)->extent;
}

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

/* The bytes of the lines of the source that are visited before the same lines are visited again,
 * if all is read in the order of the destination. */
static gsize
get_bytes_of_visits (const MtlCopyPlan *plan)
{
  gsize bytes = MTL_COPY_LINE, visited = 0, nearest = MTL_COPY_LINE;

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

static guint64
get_cost_of_visits (const MtlCopyPlan *plan,
                    gsize              n)
{
  const MtlCopyMachine *machine = mtl_copy_machine_get ();
  gsize visited = get_bytes_of_visits (plan);

  return visited <= machine->near_size  ? 0
         : visited <= machine->own_size ? (guint64) LEFT_NEAR_COST * n
                                        : (guint64) LEFT_OWN_COST * n;
}

/* The axis along which the source moves least, or -1 if it does not move. */
static int
find_source_axis (const MtlCopyPlan *plan)
{
  gsize least = G_MAXSIZE;
  int found = -1;

  for (int i = (int) plan->n_axes - 1; i >= 0; i--)
    {
      gsize step = mtl_copy_get_source_distance (&plan->axes[i]);

      if (step != 0 && step < least)
        {
          found = i;
          least = step;
        }
    }

  return found;
}

/* --- Slices */

/* Grids have the last two axes. */
static void
add_unit_axes (MtlCopyPlan *plan)
{
  while (plan->n_axes < 2)
    {
      plan->axes[plan->n_axes] = mtl_axis (1, 0, 0);
      mtl_axes_move (plan->axes, plan->n_axes++, 0);
    }
}

/* Blocks of about the size of a slice, with all of the inner axes. */
static void
cut_into_blocks (MtlCopyPlan *plan,
                 guint        n_whole)
{
  gsize left = MAX (mtl_copy_slice_size / plan->item_size, 1);

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
  plan->blocks_per_slice = 1;
}

static void
arrange_grid (MtlCopyPlan *plan)
{
  add_unit_axes (plan);
  cut_into_blocks (plan, 0);
}

/* --- Bytes, rows and fills */

static gboolean
are_bytes (const MtlCopyPlan *plan)
{
  return plan->n_axes == 1 && is_dest_row (plan) && is_source_row (plan);
}

static guint64
get_bytes_cost (const MtlCopyPlan *plan)
{
  return 0;
}

static void
arrange_bytes (MtlCopyPlan *plan)
{
  cut_into_blocks (plan, 0);
}

static gboolean
are_rows (const MtlCopyPlan *plan)
{
  return plan->n_axes > 1 && is_dest_row (plan) && is_source_row (plan);
}

static guint64
get_rows_cost (const MtlCopyPlan *plan)
{
  gsize n = count_rows (plan), size = plan->n_bytes / n;
  guint64 cost = size <= 64 ? ROW_COST : LONG_ROW_COST + LINE_COST * size / MTL_COPY_LINE;

  return cost * n + get_cost_of_visits (plan, n);
}

/* Makes the run one item. Rows that are streamed can be written in any order. */
static void
arrange_rows (MtlCopyPlan *plan)
{
  gsize size = plan->item_size * mtl_copy_get_last (plan)->extent;

  plan->n_axes--;
  plan->n_items = plan->n_bytes / size;
  plan->item_size = plan->source_size = size;
  if (plan->streams)
    mtl_axes_sort (plan->axes, plan->n_axes, 1);
  arrange_grid (plan);
}

/* Elements of more bytes are rows. */
#define LARGEST_FILL 64

static gboolean
is_fill (const MtlCopyPlan *plan)
{
  return mtl_copy_get_last (plan)->source_step == 0 && is_dest_row (plan)
         && plan->item_size <= (plan->convert != NULL ? 16 : LARGEST_FILL);
}

static guint64
get_fill_cost (const MtlCopyPlan *plan)
{
  return (guint64) LONG_ROW_COST * count_rows (plan) + plan->n_bytes / 8 * FILL_COST;
}

static guint64
get_convert_fill_cost (const MtlCopyPlan *plan)
{
  return CALL_COST + get_fill_cost (plan) + (guint64) SCATTERED_COST * count_rows (plan);
}

/* --- Elements in vectors */

static gboolean
has_small_items (const MtlCopyPlan *plan)
{
  return mtl_copy_is_power_up_to (plan->item_size, 8) && is_dest_row (plan);
}

static guint64
get_vectors_cost (const MtlCopyPlan *plan)
{
  return (guint64) nth_costs[__builtin_ctz (plan->item_size)] * plan->n_items
         + (guint64) LONG_ROW_COST * count_rows (plan)
         + get_cost_of_visits (plan, plan->n_items);
}

static gboolean
is_nth (const MtlCopyPlan *plan)
{
  gssize step = mtl_copy_get_last (plan)->source_step, size = plan->item_size;

  return has_small_items (plan)
         && (step == 2 * size || step == 3 * size || step == 4 * size);
}

static gboolean
is_reverse (const MtlCopyPlan *plan)
{
  return has_small_items (plan)
         && mtl_copy_get_last (plan)->source_step == -(gssize) plan->item_size;
}

static gboolean
is_pack (const MtlCopyPlan *plan)
{
  return plan->item_size > 2 && plan->item_size < 16
         && !mtl_copy_is_power_up_to (plan->item_size, 16) && is_dest_row (plan)
         && mtl_copy_get_last (plan)->source_step > (gssize) plan->item_size;
}

static guint64
get_pack_cost (const MtlCopyPlan *plan)
{
  return (guint64) PACK_COST * plan->n_items + (guint64) LONG_ROW_COST * count_rows (plan)
         + get_cost_of_visits (plan, plan->n_items);
}

/* Two to four interleaved channels in the destination, from planes. Returns the axis of the
 * pixels, or -1. */
static int
find_interleaved (const MtlCopyPlan *plan)
{
  gssize size = plan->item_size;
  const MtlAxis *channels = mtl_copy_get_last (plan);

  if (plan->n_axes < 2 || channels->extent > 4 || !has_small_items (plan)
      || channels[-1].dest_step != size * (gssize) channels->extent
      || channels[-1].source_step != size || channels[-1].extent < LEAST_PIXELS)
    return -1;

  return (int) plan->n_axes - 2;
}

static gboolean
is_interleave (const MtlCopyPlan *plan)
{
  return find_interleaved (plan) >= 0;
}

static guint64
get_channels_cost (const MtlCopyPlan *plan)
{
  const MtlAxis *last = mtl_copy_get_last (plan);

  return (guint64) nth_costs[__builtin_ctz (plan->item_size)] * plan->n_items
         + (guint64) LONG_ROW_COST * (plan->n_items / (last->extent * last[-1].extent));
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
  gssize size = plan->item_size;
  const MtlAxis *pixels = mtl_copy_get_last (plan);
  gssize n = pixels->source_step / size;
  int channels = find_source_axis (plan);

  return plan->n_axes > 1 && channels >= 0 && channels < (int) plan->n_axes - 1
         && has_small_items (plan) && pixels->source_step == n * size && n >= 2 && n <= 4
         && pixels->extent >= LEAST_PIXELS && plan->axes[channels].source_step == size
         && plan->axes[channels].extent <= (gsize) n;
}

static void
arrange_deinterleave (MtlCopyPlan *plan)
{
  mtl_axes_move (plan->axes, find_source_axis (plan), plan->n_axes - 2);
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

  return plan->item_size == 1 && plan->n_axes > 1 && (n == 3 || n == 4)
         && channels->dest_step == 1 && channels->source_step == -1
         && channels[-1].dest_step == n && channels[-1].source_step == n;
}

/* --- Elements, and conversions */

static gboolean
is_any (const MtlCopyPlan *plan)
{
  return TRUE;
}

static guint64
get_elements_cost (const MtlCopyPlan *plan)
{
  return (guint64) ELEMENT_COST * plan->n_items * MAX (plan->item_size / 16, 1)
         + (guint64) ROW_COST * count_rows (plan) + get_cost_of_visits (plan, plan->n_items);
}

static gboolean
is_scattered (const MtlCopyPlan *plan)
{
  return !is_dest_row (plan) || !is_source_row (plan);
}

static guint64
get_converted_cost (const MtlCopyPlan *plan)
{
  return plan->converts_at_once ? CONVERTED_COST : STEPS_COST;
}

static guint64
get_convert_cost (const MtlCopyPlan *plan)
{
  guint64 cost = get_converted_cost (plan);

  if (plan->n_axes == 1 && !is_scattered (plan))
    return 0;

  if (is_scattered (plan) && plan->converts_scattered)
    cost = plan->converts_cheaply ? SCATTERED_COST : 2 * SCATTERED_COST;
  else if (is_scattered (plan))
    cost += (is_source_row (plan) ? 0 : ELEMENT_COST) + (is_dest_row (plan) ? 0 : ELEMENT_COST);

  return cost * plan->n_items + (guint64) CALL_COST * count_rows (plan)
         + (is_scattered (plan) ? get_cost_of_visits (plan, plan->n_items) : 0);
}

/* Rows of the axis along which the source moves least are next to each other. */
static void
arrange_convert (MtlCopyPlan *plan)
{
  int axis = find_source_axis (plan);

  if (axis >= 0 && axis < (int) plan->n_axes - 1 && !plan->streams)
    mtl_axes_move (plan->axes, axis, plan->n_axes - 2);
  arrange_grid (plan);
}

static gboolean
are_columns (const MtlCopyPlan *plan)
{
  const MtlAxis *last = mtl_copy_get_last (plan);

  return plan->converts_scattered && plan->n_axes > 1 && last->extent < FEW
         && last[-1].extent > last->extent;
}

static guint64
get_columns_cost (const MtlCopyPlan *plan)
{
  const MtlAxis *last = mtl_copy_get_last (plan);
  guint64 cost = plan->converts_cheaply ? SCATTERED_COST : 2 * SCATTERED_COST;

  return cost * plan->n_items
         + (guint64) CALL_COST * (plan->n_items / last[-1].extent + plan->n_items / 128)
         + get_cost_of_visits (plan, plan->n_items);
}

/* --- The table */

static gboolean
is_large_enough (const MtlCopyPlan *plan)
{
  return plan->n_items >= 32 && MAX (plan->item_size, plan->source_size) <= 256;
}

typedef struct
{
  const char *name;
  enum { COPIES = 1, CONVERTS = 2 } kinds;
  gboolean (* holds) (const MtlCopyPlan *plan);
  guint64 (* get_cost) (const MtlCopyPlan *plan);
  void (* arrange) (MtlCopyPlan *plan);
  gsize least_streamed; /* bytes of a run in the destination, or 0 if they are never streamed */
} Way;

static const Way ways[] = {
  [MTL_COPY_BYTES] = {
    "bytes", COPIES, are_bytes, get_bytes_cost, arrange_bytes, 1,
  },
  [MTL_COPY_ROWS] = {
    "rows", COPIES, are_rows, get_rows_cost, arrange_rows, 256,
  },
  [MTL_COPY_FILL] = {
    "fill", COPIES, is_fill, get_fill_cost, arrange_grid, LEAST_STREAMED,
  },
  [MTL_COPY_NTH] = {
    "nth", COPIES, is_nth, get_vectors_cost, arrange_grid, LEAST_STREAMED,
  },
  [MTL_COPY_REVERSE] = {
    "reverse", COPIES, is_reverse, get_vectors_cost, arrange_grid, LEAST_STREAMED,
  },
  [MTL_COPY_PACK] = {
    "pack", COPIES, is_pack, get_pack_cost, arrange_grid, LEAST_STREAMED,
  },
  [MTL_COPY_INTERLEAVE] = {
    "interleave", COPIES, is_interleave, get_channels_cost, arrange_pixels, LEAST_STREAMED,
  },
  [MTL_COPY_DEINTERLEAVE] = {
    "deinterleave", COPIES, is_deinterleave, get_channels_cost, arrange_deinterleave, 512,
  },
  [MTL_COPY_SWAP] = {
    "swap", COPIES, is_swap, get_channels_cost, arrange_pixels, LEAST_STREAMED,
  },
  [MTL_COPY_ELEMENTS] = {
    "elements", COPIES, is_any, get_elements_cost, arrange_grid, LEAST_STREAMED,
  },
  [MTL_COPY_CONVERT] = {
    "convert", CONVERTS, is_any, get_convert_cost, arrange_convert, LEAST_STREAMED_CONVERTED,
  },
  [MTL_COPY_CONVERT_COLUMNS] = {
    "convert columns", CONVERTS, are_columns, get_columns_cost, arrange_grid, 0,
  },
  [MTL_COPY_CONVERT_FILL] = {
    "convert and fill", CONVERTS, is_fill, get_convert_fill_cost, arrange_grid, LEAST_STREAMED,
  },
  [MTL_COPY_TILES] = {
    "tiles", COPIES | CONVERTS, is_large_enough, mtl_copy_get_tiles_cost, mtl_copy_arrange_tiles,
    1,
  },
  [MTL_COPY_BOXES] = {
    "boxes", COPIES | CONVERTS, is_large_enough, mtl_copy_get_boxes_cost, mtl_copy_arrange_boxes,
    1,
  },
};

const char *mtl_copy_forced_way;

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
  gboolean reads_more = way == &ways[MTL_COPY_CONVERT]
                        && (mtl_copy_narrows (plan)
                            || (plan->converts_cheaply && is_scattered (plan)));

  return way->least_streamed > 0 && get_run (plan) >= way->least_streamed
         && plan->item_size <= 256 && (mtl_copy_reads_while_streaming || !reads_more);
}

/* Returns G_MAXUINT64 if the condition does not hold. */
static guint64
get_cost (const MtlCopyPlan    *plan,
          const MtlCopyKernels *kernels,
          guint                 i)
{
  const Way *way = &ways[i];
  guint64 cost;

  if (kernels->blocks[i] == NULL || (way->kinds & (plan->convert != NULL ? CONVERTS : COPIES)) == 0
      || !way->holds (plan))
    return G_MAXUINT64;

  cost = way->get_cost (plan);
  if (cost < G_MAXUINT64 && plan->streams)
    cost += plan->n_bytes * (is_streamed (plan, way) ? STREAMED_BYTE_COST : BYTE_COST);
  return cost;
}

static gboolean
is_forced (const MtlCopyPlan    *plan,
           const MtlCopyKernels *kernels,
           guint                 i)
{
  return strcmp (ways[i].name, mtl_copy_forced_way) == 0
         && get_cost (plan, kernels, i) < G_MAXUINT64;
}

static MtlCopyWay
find_cheapest (const MtlCopyPlan    *plan,
               const MtlCopyKernels *kernels)
{
  MtlCopyWay found = plan->convert != NULL ? MTL_COPY_CONVERT : MTL_COPY_ELEMENTS;
  guint64 least = G_MAXUINT64;

  for (guint i = 0; i < MTL_COPY_N_WAYS && least > 0; i++)
    {
      guint64 cost = get_cost (plan, kernels, i);

      if (G_UNLIKELY (mtl_copy_forced_way != NULL) && is_forced (plan, kernels, i))
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
  plan->copy_blocks = kernels->blocks[plan->way];
  plan->copy_grid = kernels->grids[plan->way];
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

  for (guint i = 0; i < MTL_COPY_N_WAYS; i++)
    {
      guint64 cost = get_cost (plan, kernels, i);

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
