/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-copy-plan-axes-private.h"

#include <string.h>

/* A conversion takes as many elements at once as make its overhead small, a copy as
 * many bytes. */
#define CONVERTED_AT_ONCE 1024
#define COPIED_AT_ONCE 4096

/* Units have at most so many bytes on each side. */
#define LARGEST_UNIT 4096

/* Units further apart than this are better visited in another order. */
#define FAR 256

/* Rows of tiles of fewer bytes continue along other axes. */
#define SHORT_ROW 256
#define LONG_TILE_ROW 1024

/* Lines of the source that are visited again are still in the L1 cache after this many
 * other bytes. */
#define NEAR (24 * 1024)

static void
reverse_axes (MtlAxis *axes,
              guint    n)
{
  for (guint i = 0; i < n / 2; i++)
    {
      MtlAxis axis = axes[i];

      axes[i] = axes[n - 1 - i];
      axes[n - 1 - i] = axis;
    }
}

/* The most units along an axis if offsets have 32 bits, besides others of `span` bytes. */
static gsize
get_most_units (const MtlAxis *axis,
                gsize          span)
{
  gsize step = MAX (mtl_copy_magnitude (axis->source_step), mtl_copy_magnitude (axis->dest_step));
  gsize left = G_MAXINT32 - MIN (span, G_MAXINT32);

  if (step < left / MTL_COPY_TILE_ITEMS)
    return MTL_COPY_TILE_ITEMS;

  return left / MAX (step, 1) + 1;
}

static gsize
get_span (const MtlAxis *axis,
          gsize          n_units)
{
  gsize step = MAX (mtl_copy_magnitude (axis->source_step), mtl_copy_magnitude (axis->dest_step));

  return (n_units - 1) * step;
}

static gsize
get_span_of_parts (const MtlCopyPlan *self,
                   guint              without)
{
  gsize span = 0;

  for (guint i = 0; i < self->n_axes; i++)
    if (i != without)
      span += get_span (&self->axes[i], self->part[i]);

  return span;
}

/* Lets a box have about `wanted` units along an axis, in even parts. */
static void
grow (MtlCopyPlan *self,
      guint        i,
      gsize        wanted,
      gsize       *n_units,
      gsize        max_units)
{
  gsize others = self->part[i] > 1 ? *n_units / self->part[i] : *n_units;
  gsize extent = (int) i == self->repeat_axis ? 1 : self->axes[i].extent;
  gsize part = MIN (extent, wanted);

  if (others * part > max_units)
    part = max_units / others;
  part = MIN (part, get_most_units (&self->axes[i], get_span_of_parts (self, i)));
  if (part <= self->part[i])
    return;

  if (part < extent)
    part = mtl_copy_divide_up (extent, mtl_copy_divide_up (extent, part));
  self->part[i] = part;
  *n_units = others * part;
}

/* The axis along which the source moves least, within a line, or -1. */
static int
find_near_axis (const MtlCopyPlan *self)
{
  int found = -1;

  for (guint i = 0; i < self->n_axes; i++)
    {
      gsize step = mtl_copy_magnitude (self->axes[i].source_step);

      if (step > 0 && step < MTL_COPY_LINE
          && (found < 0 || step < mtl_copy_magnitude (self->axes[found].source_step)))
        found = i;
    }

  return found;
}

/* Fewer units than these make no row of their own. */
#define LEAST_ROW 12
#define LEAST_CONVERTED_ROW 16

static gsize
get_least_row (const MtlCopyPlan *self)
{
  return self->job.convert != NULL ? LEAST_CONVERTED_ROW : LEAST_ROW;
}

/* The bytes of the lines of the source that are visited before the same lines are
 * visited again, along that axis. */
static gsize
get_bytes_between (const MtlCopyPlan *self,
                   guint              axis)
{
  gsize bytes = MTL_COPY_LINE;

  for (guint i = 0; i < axis; i++)
    bytes = mtl_copy_multiply_up_to_max (bytes, mtl_copy_count_lines (&self->axes[i]));

  return bytes;
}

/* Whether several units are read of each line anyway, along the first n axes. */
static gboolean
are_lines_shared (const MtlCopyPlan *self,
                  guint              n)
{
  for (guint i = 0; i < n; i++)
    {
      gsize step = mtl_copy_magnitude (self->axes[i].source_step);

      if (step > 0 && step <= MTL_COPY_LINE / 4 && self->axes[i].extent >= LEAST_ROW)
        return TRUE;
    }

  return FALSE;
}

/* As few units as this are visited along the destination if the lines of the source are shared by
 * others. In many long rows with gaps, parts are longer: the machine waits for the lines of short
 * ones. */
#define LEAST_BLOCKED 16
#define LEAST_BLOCKED_APART 128
#define MANY_ROWS 48

static gsize
get_least_blocked (const MtlCopyPlan *self,
                   gsize              n_rows)
{
  const MtlAxis *first = &self->axes[0];
  gboolean is_apart = first->dest_step != (gssize) (self->unit * self->job.item_size);

  return self->job.convert == NULL && is_apart && first->extent >= LEAST_BLOCKED_APART
         && n_rows >= MANY_ROWS ? LEAST_BLOCKED_APART : LEAST_BLOCKED;
}

static void
choose_parts (MtlCopyPlan *self)
{
  gsize source_size = self->unit_source_size, dest_size = self->unit * self->job.item_size;
  gsize largest = MAX (source_size, dest_size);
  gsize max_units = CLAMP (MTL_COPY_BOX_BYTES / largest, 1, MTL_COPY_BOX_UNITS);
  gsize wanted = self->job.convert == NULL ? mtl_copy_divide_up (COPIED_AT_ONCE, dest_size)
                 : self->unit > 1          ? mtl_copy_divide_up (CONVERTED_AT_ONCE, self->unit)
                                           : CONVERTED_AT_ONCE;
  int near_axis = find_near_axis (self);
  gssize step = self->n_axes > 0 ? self->axes[0].dest_step : 1;
  gsize n_units = 1, n_below = 1, most_wanted;
  gboolean is_blocked;
  guint n_first = 0;

  most_wanted = wanted = MIN (MIN (wanted, max_units), CONVERTED_AT_ONCE);
  for (; n_first < self->n_axes && n_below < wanted; n_first++)
    if ((int) n_first != self->repeat_axis)
      n_below = mtl_copy_multiply_up_to_max (n_below, self->axes[n_first].extent);

  is_blocked = near_axis >= (int) n_first && !are_lines_shared (self, n_first)
               && get_bytes_between (self, near_axis) > NEAR;
  if (is_blocked)
    wanted = MIN (wanted, MAX (mtl_copy_divide_up (self->job.streams && step == (gssize) dest_size
                                                     ? MTL_COPY_STREAMED_RUN : 4 * MTL_COPY_LINE,
                                                   step),
                               get_least_blocked (self, self->axes[near_axis].extent)));

  for (guint i = 0; i < self->n_axes; i++)
    self->part[i] = 1;
  for (guint i = 0; i < self->n_axes && n_units < wanted - wanted / 4; i++)
    grow (self, i, mtl_copy_divide_up (wanted, n_units), &n_units, MIN (2 * wanted, max_units));

  if (near_axis >= 0)
    {
      gsize near_step = mtl_copy_magnitude (self->axes[near_axis].source_step);
      gsize part = self->part[near_axis];
      gsize per_line = mtl_copy_divide_up (MTL_COPY_LINE, near_step);

      /* Rows of several units have one offset in tables. */
      if (is_blocked && self->part[0] >= get_least_row (self))
        max_units = CLAMP (MTL_COPY_BOX_BYTES / largest, max_units, LEAST_ROW * max_units);
      if (is_blocked || (part < self->axes[near_axis].extent && part * near_step < MTL_COPY_LINE))
        grow (self, near_axis,
              MAX (per_line * (is_blocked ? 2 : 1),
                   mtl_copy_divide_up (CONVERTED_AT_ONCE, n_units / part)), &n_units, max_units);
      for (guint i = 0; is_blocked && i < self->n_axes && 2 * n_units < most_wanted; i++)
        grow (self, i, mtl_copy_divide_up (most_wanted * self->part[i], n_units), &n_units,
              max_units);
      if (self->n_bytes > 65536 && mtl_copy_magnitude (self->axes[0].source_step) >= FAR)
        grow (self, near_axis, mtl_copy_divide_up (max_units, n_units / self->part[near_axis]),
              &n_units, max_units);
    }
}

/* Whether the runs that are streamed leave so little room that boxes use only parts of the
 * lines that they read. */
static gboolean
are_half_lines_read (const MtlCopyPlan *self)
{
  int i = find_near_axis (self);

  return i >= 0 && self->part[i] < self->axes[i].extent
         && self->part[i] * mtl_copy_magnitude (self->axes[i].source_step) <= MTL_COPY_LINE / 2;
}

/* The axis along which units are moved in a loop: the first one, or where its units are
 * far apart in the source, that along which they are nearest. */
static int
find_loop_axis (const MtlCopyPlan *self)
{
  gsize step = mtl_copy_magnitude (self->axes[0].source_step);
  gsize least = get_least_row (self);
  int found = self->part[0] >= least ? 0 : -1;

  if (step <= FAR || (!self->is_dense && self->n_run > 0))
    return found;

  for (guint i = 1; i < self->n_axes; i++)
    {
      gsize other = mtl_copy_magnitude (self->axes[i].source_step);

      if (self->part[i] >= least && other > 0 && other < step / 4
          && self->part[i] > self->part[0])
        {
          found = i;
          step = other;
        }
    }

  return found;
}

/* Lists the axes of a box. */
static void
list_inner_axes (MtlCopyPlan *self)
{
  gssize run = self->unit * self->job.item_size;
  gboolean is_run = TRUE;

  self->n_inner = self->n_run = 0;
  self->is_dense = self->is_contiguous = TRUE;
  for (guint i = 0; i < self->n_axes; i++)
    {
      const MtlAxis *axis = &self->axes[i];
      gboolean goes_on = axis->dest_step == run;

      self->is_contiguous = self->is_contiguous && goes_on;
      run *= axis->extent;
      if ((int) i == self->repeat_axis)
        {
          is_run = self->is_contiguous = FALSE;
          continue;
        }
      if (self->part[i] > 1)
        {
          is_run = is_run && goes_on;
          self->is_dense = self->is_dense && is_run;
          if (is_run)
            self->run[self->n_run++] = i;
          self->inner[self->n_inner++] = i;
        }
      is_run = is_run && self->part[i] == axis->extent;
    }
  self->row_axis = self->n_axes > 0 ? find_loop_axis (self) : -1;
}

/* Hundredths of nanoseconds, roughly: of a square of 16 by 16 bytes by the logarithm of
 * the size of an element, of an element that is loaded by its offset, of a block, and of a
 * call that converts. */
static const guint16 square_costs[] = { 1600, 600, 220, 90, 30 };
static const guint16 item_costs[] = { 30, 30, 30, 30, 50 };
#define BLOCK_COST 2000
#define CALL_COST 800

gsize
mtl_copy_get_transposing_cost (gsize size)
{
  guint log2_size = __builtin_ctz (size);

  return square_costs[log2_size] * 10 >> 2 * (4 - log2_size);
}

/* Items of a tile that are one run in the destination: along several axes if these are
 * short. Returns how many axes. */
static guint
find_items (const MtlCopyPlan *self,
            guint              row_axis,
            gsize              most,
            gsize             *n_items)
{
  gsize span;
  guint n = 1;

  *n_items = MIN (self->axes[0].extent, most);
  span = get_span (&self->axes[0], *n_items);
  if (*n_items < self->axes[0].extent)
    return n;

  while (n < row_axis && n < MTL_COPY_BOX_AXES && *n_items * self->job.item_size < SHORT_ROW
         && self->axes[n].dest_step == (gssize) (*n_items * self->job.item_size)
         && *n_items * self->axes[n].extent <= most
         && self->axes[n].extent <= get_most_units (&self->axes[n], span))
    {
      span += get_span (&self->axes[n], self->axes[n].extent);
      *n_items *= self->axes[n++].extent;
    }

  return n;
}

/* The axis along which the source is contiguous, or -1. */
static int
find_row_axis (const MtlCopyPlan *self)
{
  for (guint i = 1; i < self->n_axes; i++)
    if (mtl_copy_magnitude (self->axes[i].source_step) == self->job.source_size)
      return i;

  return -1;
}

/* Of all conversions: of rows, or of several if they are contiguous. */
static guint64
get_cost_of_calls (const MtlCopyPlan *self,
                   gssize             row_step,
                   gsize              n_items,
                   gsize              n_rows)
{
  if (self->job.convert == NULL)
    return 0;
  if (mtl_copy_plan_joins_rows (self, n_items, row_step))
    return (guint64) CALL_COST * n_rows * n_items / (MTL_COPY_CONVERTED_ITEMS / 2);

  return (guint64) CALL_COST * n_rows;
}

static gboolean
is_for_tiles (const MtlCopyPlan *self,
              guint              row_axis,
              gsize              n_items)
{
  gsize n_rows = self->axes[row_axis].extent;
  guint log2_size = __builtin_ctz (self->job.source_size), log2_n = 4 - log2_size;
  gsize n = 1 << log2_n;
  guint64 squares = (guint64) ((n_items + n - 1) >> log2_n) * ((n_rows + n - 1) >> log2_n);
  guint64 cost = squares * square_costs[log2_size] + BLOCK_COST
                 + get_cost_of_calls (self, self->axes[row_axis].dest_step, n_items, n_rows);

  return n_items >= n && n_rows >= n
         && cost < (guint64) n_items * n_rows * item_costs[log2_size];
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
  return MIN (mtl_copy_divide_up (even, MTL_COPY_LINE) * MTL_COPY_LINE, most);
}

/* Reads the source in order. Streamed lines can be written in any order. */
static void
sort_by_source (MtlCopyPlan *self,
                guint        first)
{
  MtlAxis *axes = self->axes + first;
  guint n = self->n_axes - first;

  reverse_axes (axes, n);
  mtl_axes_sort (axes, n, 1);
  reverse_axes (axes, n);
}

static void
choose_parts_of_tiles (MtlCopyPlan *self,
                       guint        row_axis,
                       guint        n,
                       gsize        n_items,
                       gsize        most)
{
  MtlAxis rows = self->axes[row_axis];
  gsize line = MTL_COPY_LINE / self->job.source_size, at_once;

  memmove (self->axes + 1, self->axes, row_axis * sizeof rows);
  self->axes[0] = rows;
  for (guint i = 1; i < self->n_axes; i++)
    self->part[i] = i <= n ? self->axes[i].extent : 1;
  if (n == 1)
    self->part[1] = n_items = get_even_part (self->axes[1].extent, most);

  self->part[0] = rows.extent;
  if (self->n_bytes > mtl_copy_slice_size)
    {
      at_once = mtl_copy_slice_size / (n_items * self->job.item_size);
      self->part[0] = MIN (MAX (at_once / line * line, line), rows.extent);
    }
  if (self->job.streams && self->job.convert == NULL)
    sort_by_source (self, n + 1);
}

/* Whether the destination is one run: along the items, the rows, and all other axes. */
static gboolean
is_one_run (const MtlCopyPlan *self,
            guint              n_item_axes)
{
  gssize run = self->job.item_size;

  for (guint i = 0; i < self->n_axes; i++)
    {
      const MtlAxis *axis = &self->axes[i < n_item_axes ? i + 1 : i == n_item_axes ? 0 : i];

      if (axis->dest_step != run)
        return FALSE;
      run *= axis->extent;
    }

  return TRUE;
}

/* Long rows of whole lines are streamed even if they would fit in the caches: those that
 * are far apart compete for few of their sets. */
static gboolean
is_worth_streaming_tiles (const MtlCopyPlan *self,
                          guint              row_axis,
                          gsize              n_items)
{
  gsize begins = (guintptr) self->job.dest | (gsize) self->axes[row_axis].dest_step;

  return self->is_large && begins % MTL_COPY_LINE == 0
         && n_items * self->job.item_size >= LONG_TILE_ROW;
}

/* A copy is not gathered for fewer repetitions, and nothing for so few bytes. */
#define LEAST_REPEATED_COPIES 4
#define LEAST_REPEATED_BYTES 256

/* The longest axis but the first along which the source does not move, or -1. */
static int
find_repeat_axis (const MtlCopyPlan *self)
{
  gsize least = self->job.convert != NULL ? 2 : LEAST_REPEATED_COPIES;
  int found = -1;

  for (guint i = 1; i < self->n_axes; i++)
    if (self->axes[i].source_step == 0 && self->axes[i].extent >= least
        && (found < 0 || self->axes[i].extent > self->axes[found].extent))
      found = i;

  return found >= 0 && self->n_bytes / self->axes[found].extent >= LEAST_REPEATED_BYTES
           ? found : -1;
}

/* Elements of so many bytes are transposed too slowly to do it again for each repetition. */
#define LEAST_NOT_TRANSPOSED 4

/* Whether tiles would convert what is repeated again, or transpose it for each repetition between
 * the rows. */
static gboolean
would_tiles_repeat (const MtlCopyPlan *self,
                    int                row_axis)
{
  int repeat_axis = find_repeat_axis (self);

  if (repeat_axis < 0)
    return FALSE;

  return self->job.convert != NULL
         || (repeat_axis < row_axis && self->job.source_size >= LEAST_NOT_TRANSPOSED);
}

static gboolean
choose_tiles (MtlCopyPlan          *self,
              const MtlCopyKernels *kernels)
{
  gsize size = self->job.source_size, n_items;
  gsize most;
  int row_axis;
  guint n;

  if (kernels->tiles == NULL || !mtl_copy_is_power_up_to_16 (size) || self->n_axes < 2
      || self->axes[0].dest_step != (gssize) self->job.item_size
      || mtl_copy_magnitude (self->axes[0].source_step) == size)
    return FALSE;

  row_axis = find_row_axis (self);
  if (row_axis < 0 || would_tiles_repeat (self, row_axis))
    return FALSE;

  most = MIN (self->job.convert != NULL ? MTL_COPY_CONVERTED_ITEMS : MTL_COPY_TILE_ITEMS,
              get_most_units (&self->axes[0], 0));
  n = find_items (self, row_axis, most, &n_items);
  if (!is_for_tiles (self, row_axis, n_items))
    return FALSE;

  if (is_worth_streaming_tiles (self, row_axis, n_items))
    mtl_copy_stream (self, kernels);
  if (self->axes[row_axis].source_step < 0)
    mtl_copy_flip_axis (self, &self->axes[row_axis]);
  choose_parts_of_tiles (self, row_axis, n, n_items, most);
  self->n_inner = n;
  self->is_contiguous = row_axis == (int) n && self->part[1] == self->axes[1].extent
                        && is_one_run (self, n);
  self->boxes = kernels->tiles;
  return TRUE;
}

/* Elements that are contiguous on both sides become one unit. */
static void
join_units (MtlCopyPlan *self)
{
  const MtlAxis *first = &self->axes[0];

  if (self->n_axes > 1 && first->dest_step == (gssize) self->job.item_size
      && first->source_step == (gssize) self->job.source_size
      && first->extent * MAX (self->job.item_size, self->job.source_size) <= LARGEST_UNIT)
    {
      self->unit = first->extent;
      self->n_axes--;
      memmove (self->axes, self->axes + 1, self->n_axes * sizeof self->axes[0]);
    }
  self->unit_source_size = self->unit * self->job.source_size;
}

static gsize
count_boxes (const MtlCopyPlan *self)
{
  gsize n = 1;

  for (guint i = 0; i < self->n_axes; i++)
    if (self->part[i] < self->axes[i].extent)
      n *= mtl_copy_divide_up (self->axes[i].extent, self->part[i]);

  return n;
}

/* Whether the source is read forwards, and skips no line. */
static gboolean
is_source_sequential (const MtlCopyPlan *self)
{
  gssize run = self->unit_source_size;

  for (guint i = 0; i < self->n_axes; i++)
    {
      gssize step = self->axes[i].source_step;

      if (step <= 0 || (i > 0 && step < run) || step >= run + MTL_COPY_LINE)
        return FALSE;
      run += (gssize) (self->axes[i].extent - 1) * step;
    }

  return TRUE;
}

/* The bytes of all lines of the source, nearly. */
static gsize
count_source_bytes (const MtlCopyPlan *self)
{
  MtlAxis axes[MTL_COPY_MAX_DIMS];
  gsize run = self->unit_source_size, n_runs = 1;
  guint n_others;

  memcpy (axes, self->axes, self->n_axes * sizeof axes[0]);
  n_others = mtl_copy_merge_source_runs (axes, self->n_axes, &run);
  for (guint i = 0; i < n_others; i++)
    n_runs = mtl_copy_multiply_up_to_max (n_runs, axes[i].extent);
  return mtl_copy_multiply_up_to_max (MAX (run, MTL_COPY_LINE), n_runs);
}

/* While lines are streamed, the machine looks ahead less. */
static void
choose_prefetching (MtlCopyPlan *self)
{
  self->line_ahead = 0;
  if (self->job.streams && is_source_sequential (self))
    self->line_ahead = count_source_bytes (self) / (self->n_bytes / MTL_COPY_LINE + 1);
}

/* Lines are not streamed if they would have to be completed by several boxes, nor if the
 * machine then looks ahead less in rows that it would read in order. */
static gboolean
is_worth_streaming (const MtlCopyPlan *self)
{
  gsize run = self->unit * self->job.item_size;

  if (!mtl_copy_reads_while_streaming
      && (mtl_copy_plan_narrows (self)
          || (self->job.convert != NULL && self->n_axes > 1 && is_source_sequential (self))))
    return FALSE;

  for (guint i = 0; i < self->n_run; i++)
    run *= self->part[self->run[i]];

  return run >= MTL_COPY_STREAMED_RUN;
}

/* Units of a slice, at most, since threads share slices. */
#define MOST_SLICED 65536

static void
choose_repeats (MtlCopyPlan *self)
{
  gsize most = MAX (MOST_SLICED / mtl_copy_plan_count_box_units (self), 1);

  if (self->repeat_axis >= 0)
    self->part[self->repeat_axis] = MIN (self->axes[self->repeat_axis].extent, most);
}

static void
cut_boxes (MtlCopyPlan *self)
{
  gsize unit_size = self->unit * self->job.item_size;
  gsize n_units = MIN (mtl_copy_slice_size / unit_size, MOST_SLICED);
  gsize repeats = self->repeat_axis >= 0 ? self->part[self->repeat_axis] : 1;

  if (self->n_bytes / unit_size > n_units)
    self->jobs_per_slice = MAX (n_units / (mtl_copy_plan_count_box_units (self) * repeats), 1);
}

gboolean
mtl_copy_plan_choose_boxes (MtlCopyPlan          *self,
                            const MtlCopyKernels *kernels)
{
  if (mtl_copy_plan_is_broadcast (self) || mtl_copy_plan_is_for_one_pass (self))
    return FALSE;

  self->unit = 1;
  self->repeat_axis = -1;
  self->n_axes = self->n_outer;
  reverse_axes (self->axes, self->n_axes);
  if (!choose_tiles (self, kernels))
    {
      reverse_axes (self->axes, self->n_axes);
      if (!mtl_copy_plan_is_for_boxes (self))
        return FALSE;
      reverse_axes (self->axes, self->n_axes);
      join_units (self);
      self->repeat_axis = find_repeat_axis (self);
      choose_parts (self);
      if (self->job.streams && are_half_lines_read (self))
        {
          mtl_copy_do_not_stream (self);
          choose_parts (self);
        }
      choose_repeats (self);
      list_inner_axes (self);
      self->boxes = kernels->boxes;
      if (self->job.streams && !is_worth_streaming (self))
        mtl_copy_do_not_stream (self);
      choose_prefetching (self);
    }
  self->unit_source_size = self->unit * self->job.source_size;
  self->n_jobs = count_boxes (self);
  self->jobs_per_slice = self->n_jobs;
  if (self->n_bytes > MIN (mtl_copy_slice_size, MOST_SLICED))
    cut_boxes (self);
  self->n_pieces = 1;
  return TRUE;
}
