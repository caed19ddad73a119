/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-copy-ways-private.h"

/* Divides a copy into boxes and tiles. */

/* A conversion takes as many elements at once as make its overhead small, a copy as many
 * bytes. */
#define CONVERTED_AT_ONCE 1024
#define COPIED_AT_ONCE 4096

/* The most bytes of a unit on each side. */
#define LARGEST_UNIT 4096

/* Rows of tiles of fewer bytes continue along other axes. */
#define SHORT_ROW 256
#define LONG_TILE_ROW 1024

/* Lines of the source that are visited again are still in the L1 cache after this many other
 * bytes. */
#define NEAR (24 * 1024)

/* The most units of a slice, since threads share slices. */
#define MOST_SLICED 65536

static gsize
get_larger_step (const MtlAxis *axis)
{
  return MAX (mtl_magnitude (axis->source_step), mtl_magnitude (axis->dest_step));
}

/* The most units along an axis if offsets have 32 bits, besides others of `span` bytes. */
static gsize
get_most_units (const MtlAxis *axis,
                gsize          span)
{
  gsize step = get_larger_step (axis);
  gsize left = G_MAXINT32 - MIN (span, G_MAXINT32);

  if (step < left / MTL_COPY_TILE_ITEMS)
    return MTL_COPY_TILE_ITEMS;

  return left / MAX (step, 1) + 1;
}

static gsize
get_span_of_parts (const MtlCopyPlan *self,
                   guint              without)
{
  gsize span = 0;

  for (guint i = 0; i < self->n_axes; i++)
    if (i != without)
      span += (self->parts[i] - 1) * get_larger_step (&self->axes[i]);

  return span;
}

/* --- Boxes */

/* Lets a box have about `wanted` units along an axis, in even parts. */
static void
grow (MtlCopyPlan *self,
      guint        i,
      gsize        wanted,
      gsize       *n_units,
      gsize        max_units)
{
  gsize others = self->parts[i] > 1 ? *n_units / self->parts[i] : *n_units;
  gsize extent = (int) i == self->repeat_axis ? 1 : self->axes[i].extent;
  gsize part = MIN (extent, wanted);

  if (others * part > max_units)
    part = max_units / others;
  part = MIN (part, get_most_units (&self->axes[i], get_span_of_parts (self, i)));
  if (part <= self->parts[i])
    return;

  if (part < extent)
    part = mtl_copy_divide_up (extent, mtl_copy_divide_up (extent, part));
  self->parts[i] = part;
  *n_units = others * part;
}

/* The axis along which the source moves least, within a line, or -1. */
static int
find_near_axis (const MtlCopyPlan *self)
{
  int found = mtl_axes_find_nearest (self->axes, self->n_axes, 1);

  return found >= 0 && mtl_copy_get_source_distance (&self->axes[found]) < MTL_LINE
           ? found : -1;
}

/* Fewer units than these make no row of their own. */
#define LEAST_ROW 12
#define LEAST_CONVERTED_ROW 16

static gsize
get_least_row (const MtlCopyPlan *self)
{
  return self->convert != NULL ? LEAST_CONVERTED_ROW : LEAST_ROW;
}

/* The bytes of the lines of the source that are visited before the same lines are visited
 * again along this axis. */
static gsize
get_bytes_between (const MtlCopyPlan *self,
                   guint              axis)
{
  gsize bytes = MTL_LINE;

  for (guint i = self->n_axes; i-- > axis + 1;)
    bytes = mtl_copy_multiply_up_to_max (bytes, mtl_copy_count_lines (&self->axes[i]));

  return bytes;
}

/* Checks if several units are read of each line anyway, along the axes from this one on. */
static gboolean
are_lines_shared (const MtlCopyPlan *self,
                  guint              first)
{
  for (guint i = first; i < self->n_axes; i++)
    {
      gsize step = mtl_copy_get_source_distance (&self->axes[i]);

      if (step > 0 && step <= MTL_LINE / 4 && self->axes[i].extent >= LEAST_ROW)
        return TRUE;
    }

  return FALSE;
}

/* As few units as this are visited along the destination if the lines of the source are shared by
 * others. */
#define LEAST_BLOCKED 16

static gsize
get_blocked_row (const MtlCopyPlan *self)
{
  gssize step = mtl_copy_get_last (self)->dest_step;
  gsize n_bytes = self->streams && step == (gssize) (self->unit * self->item_size)
                    ? MTL_COPY_STREAMED_RUN : 4 * MTL_LINE;

  return MAX (mtl_copy_divide_up (n_bytes, step), LEAST_BLOCKED);
}

/* The units that a box should have. */
static gsize
get_wanted_units (const MtlCopyPlan *self,
                  gsize              max_units)
{
  gsize wanted = self->convert == NULL
                   ? mtl_copy_divide_up (COPIED_AT_ONCE, self->unit * self->item_size)
                   : mtl_copy_divide_up (CONVERTED_AT_ONCE, self->unit);

  return MIN (MIN (wanted, max_units), CONVERTED_AT_ONCE);
}

/* Whole lines of the source, or at least a part of one. */
static void
grow_near_axis (MtlCopyPlan *self,
                guint        axis,
                gboolean     is_blocked,
                gsize        wanted,
                gsize       *n_units,
                gsize        max_units)
{
  gsize largest = MAX (self->unit_source_size, self->unit * self->item_size);
  gsize step = mtl_copy_get_source_distance (&self->axes[axis]), part = self->parts[axis];
  gsize per_line = mtl_copy_divide_up (MTL_LINE, step);
  guint last = self->n_axes - 1;

  /* Rows of several units have one offset in tables. */
  if (is_blocked && self->parts[last] >= get_least_row (self))
    max_units = CLAMP (MTL_COPY_BOX_BYTES / largest, max_units, LEAST_ROW * max_units);
  if (is_blocked || (part < self->axes[axis].extent && part * step < MTL_LINE))
    grow (self, axis,
          MAX (per_line * (is_blocked ? 2 : 1),
               mtl_copy_divide_up (CONVERTED_AT_ONCE, *n_units / part)), n_units, max_units);
  for (guint i = self->n_axes; is_blocked && i-- > 0 && 2 * *n_units < wanted;)
    grow (self, i, mtl_copy_divide_up (wanted * self->parts[i], *n_units), n_units, max_units);
}

static void
choose_parts (MtlCopyPlan *self)
{
  gsize largest = MAX (self->unit_source_size, self->unit * self->item_size);
  gsize max_units = CLAMP (MTL_COPY_BOX_BYTES / largest, 1, MTL_COPY_BOX_UNITS);
  gsize most_wanted = get_wanted_units (self, max_units), wanted = most_wanted;
  gsize n_units = 1, n_below = 1;
  int near_axis = find_near_axis (self);
  guint first = self->n_axes; /* the innermost axes from this one on have enough */
  gboolean is_blocked;

  while (first > 0 && n_below < wanted)
    if ((int) --first != self->repeat_axis)
      n_below = mtl_copy_multiply_up_to_max (n_below, self->axes[first].extent);

  is_blocked = near_axis >= 0 && near_axis < (int) first && !are_lines_shared (self, first)
               && get_bytes_between (self, near_axis) > NEAR;
  if (is_blocked)
    wanted = MIN (wanted, get_blocked_row (self));

  for (guint i = 0; i < self->n_axes; i++)
    self->parts[i] = 1;
  for (guint i = self->n_axes; i-- > 0 && n_units < wanted - wanted / 4;)
    grow (self, i, mtl_copy_divide_up (wanted, n_units), &n_units, MIN (2 * wanted, max_units));
  if (near_axis >= 0)
    grow_near_axis (self, near_axis, is_blocked, most_wanted, &n_units, max_units);
}

/* Checks if the runs that are streamed leave so little room that boxes use only parts of the
 * lines that they read. */
static gboolean
are_half_lines_read (const MtlCopyPlan *self)
{
  int i = find_near_axis (self);

  return i >= 0 && self->parts[i] < self->axes[i].extent
         && self->parts[i] * mtl_copy_get_source_distance (&self->axes[i]) <= MTL_LINE / 2;
}

/* Lists the axes of a box. */
static void
list_inner_axes (MtlCopyPlan *self)
{
  gssize run = self->unit * self->item_size;
  gboolean is_run = TRUE;

  self->n_inner = self->n_run = 0;
  self->is_dense = TRUE;
  for (guint i = self->n_axes; i-- > 0;)
    {
      const MtlAxis *axis = &self->axes[i];

      if ((int) i == self->repeat_axis)
        {
          is_run = FALSE;
          continue;
        }
      if (self->parts[i] > 1)
        {
          is_run = is_run && axis->dest_step == run;
          self->is_dense = self->is_dense && is_run;
          if (is_run)
            self->run[self->n_run++] = i;
          self->inner[self->n_inner++] = i;
        }
      is_run = is_run && self->parts[i] == axis->extent;
      run *= axis->extent;
    }
}

/* A copy is not gathered for fewer repetitions, and nothing for so few bytes. */
#define LEAST_REPEATED_COPIES 4
#define LEAST_REPEATED_BYTES 256

/* The longest axis but the last along which the source does not move, or -1. */
static int
find_repeat_axis (const MtlCopyPlan *self)
{
  gsize least = self->convert != NULL ? 2 : LEAST_REPEATED_COPIES;
  int found = -1;

  for (guint i = self->n_axes - 1; i-- > 0;)
    if (self->axes[i].source_step == 0 && self->axes[i].extent >= least
        && (found < 0 || self->axes[i].extent > self->axes[found].extent))
      found = i;

  return found >= 0 && self->n_bytes / self->axes[found].extent >= LEAST_REPEATED_BYTES
           ? found : -1;
}

/* The elements that are contiguous on both sides, if they can be one unit. */
static gsize
get_unit (const MtlCopyPlan *self)
{
  const MtlAxis *last = mtl_copy_get_last (self);

  return self->n_axes > 1 && last->dest_step == (gssize) self->item_size
         && last->source_step == (gssize) self->source_size
         && last->extent * MAX (self->item_size, self->source_size) <= LARGEST_UNIT
           ? last->extent : 1;
}

/* Returns the bytes of the source if it is read forwards, and no line is skipped, or 0. */
static gsize
get_sequential_source (const MtlCopyPlan *self)
{
  gssize run = self->unit_source_size;

  for (guint i = self->n_axes; i-- > 0;)
    {
      gssize step = self->axes[i].source_step;

      if (step <= 0 || (i < self->n_axes - 1 && step < run) || step >= run + MTL_LINE)
        return 0;
      run += (gssize) (self->axes[i].extent - 1) * step;
    }

  return run;
}

/* Lines are not streamed if they would have to be completed by several boxes, nor if the
 * machine then looks ahead less in rows that it would read in order. */
static gboolean
is_worth_streaming (const MtlCopyPlan *self)
{
  gsize run = self->unit * self->item_size;

  if (!mtl_copy_reads_while_streaming
      && (mtl_copy_narrows (self)
          || (self->convert != NULL && self->n_axes > 1 && get_sequential_source (self) > 0)))
    return FALSE;

  for (guint i = 0; i < self->n_run; i++)
    run *= self->parts[self->run[i]];

  return run >= MTL_COPY_STREAMED_RUN;
}

static void
choose_repeats (MtlCopyPlan *self)
{
  gsize n = 1;

  for (guint i = 0; i < self->n_axes; i++)
    n *= self->parts[i];
  if (self->repeat_axis >= 0)
    self->parts[self->repeat_axis] = MIN (self->axes[self->repeat_axis].extent,
                                          MAX (MOST_SLICED / n, 1));
}

static void
cut_into_slices (MtlCopyPlan *self)
{
  gsize unit_size = self->unit * self->item_size, n_units = 1;
  gsize most = MIN (mtl_copy_slice_size / unit_size, MOST_SLICED);

  self->n_blocks = mtl_axes_count_blocks (self->axes, self->n_axes, self->parts);
  self->blocks_per_slice = self->n_blocks;
  for (guint i = 0; i < self->n_axes; i++)
    n_units *= self->parts[i];
  if (self->n_bytes / unit_size > most)
    self->blocks_per_slice = MAX (most / n_units, 1);
}

void
mtl_copy_arrange_boxes (MtlCopyPlan *self)
{
  self->unit = get_unit (self);
  self->unit_source_size = self->unit * self->source_size;
  if (self->unit > 1)
    self->n_axes--;
  self->repeat_axis = find_repeat_axis (self);
  choose_parts (self);
  if (self->streams && are_half_lines_read (self))
    {
      self->streams = FALSE;
      choose_parts (self);
    }
  choose_repeats (self);
  list_inner_axes (self);
  self->has_rows = self->parts[self->n_axes - 1] >= get_least_row (self);
  self->streams = self->streams && is_worth_streaming (self);
  if (self->streams)
    self->line_ahead = get_sequential_source (self) / (self->n_bytes / MTL_LINE + 1);
  cut_into_slices (self);
}

static guint64
get_unit_cost (gsize size)
{
  if (size <= 16)
    return MTL_COST_UNIT;

  return MTL_COST_UNIT + MTL_COST_UNIT_LINE * (size / 64 + 1)
         + (size > 128 ? MTL_COST_LONG_UNIT : 0);
}

/* Rows of at least as many units, of which every nth is taken, are moved in vectors. */
#define LEAST_NTH 64

/* Units that are repeated are moved once. There are few divisions, which take long in tiny
 * copies. */
guint64
mtl_copy_get_boxes_cost (const MtlCopyPlan *self)
{
  gsize unit = get_unit (self), n_units = unit > 1 ? self->n_items / unit : self->n_items;
  const MtlAxis *last = &self->axes[self->n_axes - (unit > 1 ? 2 : 1)];
  gsize dest_size = unit * self->item_size, source_size = unit * self->source_size;
  gsize box = self->convert != NULL ? mtl_copy_divide_up (CONVERTED_AT_ONCE, unit)
                                    : mtl_copy_divide_up (COPIED_AT_ONCE, dest_size);
  gboolean is_dense = unit > 1 || last->dest_step == (gssize) dest_size;
  gboolean has_rows = last->extent >= get_least_row (self);
  int nth = last->extent >= LEAST_NTH ? mtl_copy_get_nth (source_size, last->source_step) : 0;
  int repeat_axis = find_repeat_axis (self);
  gsize n_once = repeat_axis >= 0 ? n_units / self->axes[repeat_axis].extent : n_units;
  gsize n_rows = has_rows ? MAX (n_once / last->extent, 1) : n_once;
  guint64 n_boxes = n_once / MIN (box, MTL_COPY_BOX_UNITS) + 1, cost;

  cost = MTL_COST_BOXES + MTL_COST_TABLE * MIN (n_rows, MTL_COPY_BOX_UNITS) + n_boxes * MTL_COST_BOX
         + n_once * (nth > 0 ? mtl_copy_get_nth_cost (source_size, nth) * 4 / 3
                     : source_size <= 16 && has_rows ? MTL_COST_ROW_UNIT
                                                     : get_unit_cost (source_size));
  if (self->convert != NULL)
    cost += MTL_COST_BUFFERS + n_boxes * MTL_COST_CALL
            + (mtl_copy_get_converted_cost (self) + MTL_COST_STAGED) * n_once * unit
            + (is_dense ? 0 : n_units * get_unit_cost (dest_size));
  else if (repeat_axis >= 0)
    cost += n_units * get_unit_cost (dest_size) / 2;

  return cost;
}

/* --- Tiles */

/* The items of a tile. */
typedef struct
{
  int row_axis; /* along which the source is contiguous, or -1 */
  guint n_axes; /* the axes of items, which are one run in the destination */
  gsize n;
  gsize most;
} Items;

static int
find_row_axis (const MtlCopyPlan *self)
{
  for (guint i = self->n_axes - 1; i-- > 0;)
    if (mtl_copy_get_source_distance (&self->axes[i]) == self->source_size)
      return i;

  return -1;
}

/* Elements of this many bytes are transposed too slowly to do it again for each repetition. */
#define LEAST_NOT_TRANSPOSED 4

/* Checks if tiles would convert repeated elements again, or transpose them for each repetition
 * between the rows. */
static gboolean
would_tiles_repeat (const MtlCopyPlan *self,
                    int                row_axis)
{
  int repeat_axis = find_repeat_axis (self);

  return repeat_axis >= 0
         && (self->convert != NULL
             || (repeat_axis > row_axis && self->source_size >= LEAST_NOT_TRANSPOSED));
}

/* Items continue along other axes if these are short. */
static void
find_items (const MtlCopyPlan *self,
            Items             *items)
{
  guint last = self->n_axes - 1;
  const MtlAxis *axis = &self->axes[last];
  gsize span;

  items->row_axis = -1;
  if (!mtl_copy_is_power_up_to (self->source_size, 16) || self->n_axes < 2
      || axis->dest_step != (gssize) self->item_size
      || mtl_copy_get_source_distance (axis) == self->source_size)
    return;

  items->row_axis = find_row_axis (self);
  if (items->row_axis < 0 || would_tiles_repeat (self, items->row_axis))
    {
      items->row_axis = -1;
      return;
    }

  items->most = MIN (self->convert != NULL ? MTL_COPY_CONVERTED_ITEMS : MTL_COPY_TILE_ITEMS,
                     get_most_units (axis, 0));
  items->n = MIN (axis->extent, items->most);
  items->n_axes = 1;
  span = (items->n - 1) * get_larger_step (axis);
  if (items->n < axis->extent)
    return;

  for (axis--; (int) (axis - self->axes) > items->row_axis && items->n_axes < MTL_COPY_BOX_AXES
               && items->n * self->item_size < SHORT_ROW
               && axis->dest_step == (gssize) (items->n * self->item_size)
               && items->n * axis->extent <= items->most
               && axis->extent <= get_most_units (axis, span); axis--)
    {
      span += (axis->extent - 1) * get_larger_step (axis);
      items->n *= axis->extent;
      items->n_axes++;
    }
}

/* All conversions: of rows, or of several if they are contiguous; and before them, the calls that
 * transpose a line of the source. */
static guint64
get_cost_of_calls (const MtlCopyPlan *self,
                   const Items       *items)
{
  const MtlAxis *rows = &self->axes[items->row_axis];
  gsize n_lines = rows->extent * self->source_size / MTL_LINE, n_calls = rows->extent;

  if (self->convert == NULL)
    return 0;

  if (rows->dest_step == (gssize) (items->n * self->item_size)
      && 2 * items->n <= MTL_COPY_CONVERTED_ITEMS)
    n_calls = rows->extent * items->n / (MTL_COPY_CONVERTED_ITEMS / 2);

  return (guint64) MTL_COST_CALL * (n_calls + n_lines);
}

guint64
mtl_copy_get_tiles_cost (const MtlCopyPlan *self)
{
  guint log2_size, log2_n;
  guint64 squares, cost;
  gsize n, n_rows;
  Items items;

  find_items (self, &items);
  if (items.row_axis < 0)
    return G_MAXUINT64;

  log2_size = __builtin_ctz (self->source_size);
  log2_n = 4 - log2_size;
  n = (gsize) 1 << log2_n;
  n_rows = self->axes[items.row_axis].extent;
  if (items.n < n || n_rows < n)
    return G_MAXUINT64;

  squares = (guint64) ((items.n + n - 1) >> log2_n) * ((n_rows + n - 1) >> log2_n);
  cost = squares * mtl_costs_of_squares[log2_size] + MTL_COST_TILES
         + get_cost_of_calls (self, &items);
  return cost * (self->n_items / (items.n * n_rows))
         + (self->convert != NULL ? mtl_copy_get_converted_cost (self) * self->n_items : 0);
}

/* All, or parts of about the same size that are whole lines if they can be. */
static gsize
get_even_part (gsize extent,
               gsize most)
{
  gsize even;

  if (extent <= most)
    return extent;

  even = mtl_copy_divide_up (extent, mtl_copy_divide_up (extent, most));
  return MIN (mtl_copy_divide_up (even, MTL_LINE) * MTL_LINE, most);
}

/* Checks if converted rows are short, and not one after the other. */
static gboolean
would_tiles_break_lines (const MtlCopyPlan *self,
                         const Items       *items)
{
  gsize row_size = items->n * self->item_size;

  return self->convert != NULL && row_size < SHORT_ROW
         && mtl_copy_get_last (self)->dest_step != (gssize) row_size;
}

/* Long rows of whole lines are streamed even if they would fit in the caches: those that are far
 * apart compete for few of their sets. */
static gboolean
is_worth_streaming_tiles (const MtlCopyPlan *self,
                          gsize              n_items)
{
  gsize begins = (guintptr) self->dest | (gsize) mtl_copy_get_last (self)->dest_step;

  return self->is_large && begins % MTL_LINE == 0
         && n_items * self->item_size >= LONG_TILE_ROW;
}

void
mtl_copy_arrange_tiles (MtlCopyPlan *self)
{
  guint last = self->n_axes - 1;
  gsize line = MTL_LINE / self->source_size;
  MtlAxis *rows = &self->axes[last];
  Items items;

  find_items (self, &items);
  mtl_axes_move (self->axes, items.row_axis, last);
  if (rows->source_step < 0)
    {
      self->dest += mtl_axis_get_reach (rows, 0);
      self->source += mtl_axis_get_reach (rows, 1);
      *rows = mtl_axis (rows->extent, -rows->dest_step, -rows->source_step);
    }

  self->streams = (self->streams && !would_tiles_break_lines (self, &items))
                  || is_worth_streaming_tiles (self, items.n);
  self->n_inner = items.n_axes;
  for (guint i = 0; i < self->n_axes; i++)
    self->parts[i] = 1;
  for (guint i = 0; i < items.n_axes; i++)
    {
      self->inner[i] = last - 1 - i;
      self->parts[last - 1 - i] = self->axes[last - 1 - i].extent;
    }
  if (items.n_axes == 1)
    self->parts[last - 1] = items.n = get_even_part (self->axes[last - 1].extent, items.most);

  self->parts[last] = rows->extent;
  if (self->n_bytes > mtl_copy_slice_size)
    {
      gsize at_once = mtl_copy_slice_size / (items.n * self->item_size);

      self->parts[last] = MIN (MAX (at_once / line * line, line), rows->extent);
    }
  if (self->streams && self->convert == NULL)
    mtl_axes_sort (self->axes, last - items.n_axes, 1);

  self->unit = 1;
  self->repeat_axis = -1;
  cut_into_slices (self);
}
