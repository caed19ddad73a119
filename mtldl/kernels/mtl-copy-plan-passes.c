/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-copy-plan-axes-private.h"

/* Whether elements are better moved one by one to where they belong than gathered in boxes
 * first. */

/* Rows of so many elements, or bytes in the source or the destination, are converted one by
 * one. Shorter ones if boxes would have to scatter what they converted. */
#define LONG_CONVERTED_ROW 128
#define LARGE_CONVERTED_SOURCE 400
#define LARGE_CONVERTED_DEST 128
#define LONG_ROW_APART 40
#define LARGE_SOURCE_APART 128
#define LARGE_STREAMED_DEST 512

/* Copies of fewer elements are faster by loops. */
#define LEAST_ELEMENTS 32

/* Whether units of so many bytes, contiguous on both sides, have a better kernel: it goes
 * from one to the next in the destination, which is also the next in the source. */
static gboolean
are_rows_better (const MtlCopyPlan *self,
                 gsize              unit)
{
  const MtlAxis *next = &self->axes[self->n_outer - 2];
  gsize step = mtl_copy_magnitude (next->source_step);

  if (unit >= 128 || unit % MTL_COPY_LINE == 0)
    return TRUE;
  if (unit <= 16 && (mtl_copy_is_power_up_to_16 (unit) || next->dest_step != (gssize) unit
                     || next->extent < 64))
    return FALSE;

  for (guint i = 0; i + 2 < self->n_outer; i++)
    {
      gsize other = mtl_copy_magnitude (self->axes[i].source_step);

      if (other > 0 && other < step)
        return FALSE;
    }

  return TRUE;
}

static gboolean
is_source_in_order (const MtlCopyPlan *self)
{
  for (guint i = 1; i < self->n_outer; i++)
    if (mtl_copy_get_distance (&self->axes[i], TRUE)
        > mtl_copy_get_distance (&self->axes[i - 1], TRUE))
      return FALSE;

  return TRUE;
}

/* Whether elements that are contiguous on both sides are so many that gathering several
 * rows first does not pay off. */
static gboolean
are_rows_long (const MtlCopyPlan *self,
               gsize              n)
{
  gsize size = n * self->job.item_size, source_size = n * self->job.source_size;
  gboolean is_dense = self->axes[self->n_outer - 2].dest_step == (gssize) size;

  if (self->job.convert == NULL)
    return are_rows_better (self, size);

  /* Boxes prefetch in any order, and give conversions more at once. */
  if (is_dense && self->job.streams && !mtl_copy_reads_while_streaming
      && !mtl_copy_plan_narrows (self))
    return size >= LARGE_STREAMED_DEST;
  if (size >= LARGE_CONVERTED_DEST)
    return TRUE;
  if (!is_dense && self->job.converts_at_once && is_source_in_order (self))
    return n >= LONG_ROW_APART || source_size >= LARGE_SOURCE_APART;

  return n >= LONG_CONVERTED_ROW || source_size >= LARGE_CONVERTED_SOURCE;
}

/* Streamed copies of smaller jobs wait for the end of each. */
#define LEAST_STREAMED_JOB (16 * 1024)

static gboolean
streams_short_jobs (const MtlCopyPlan *self)
{
  const MtlAxis *last = &self->axes[self->n_outer - 1];

  return self->job.streams && self->n_outer > 2
         && last->extent * last[-1].extent * self->job.item_size < LEAST_STREAMED_JOB;
}

/* Whether there is a kernel for the steps along the last axis, or a copy is so small
 * that tables do not pay off. */
static gboolean
are_loops_better (const MtlCopyPlan *self)
{
  const MtlAxis *last = &self->axes[self->n_outer - 1];
  gssize size = self->job.item_size, n = last->source_step / size;
  gsize least = self->job.streams ? MAX (16, 64 / size) : 64;

  if (last->extent >= 16 && self->n_bytes <= 8192)
    return TRUE;
  if (streams_short_jobs (self))
    return FALSE;

  return size <= 8 && last->dest_step == size && n * size == last->source_step
         && n >= -1 && n <= 4 && last->extent >= least;
}

/* The bytes of the lines of the source that are visited before the same lines are visited
 * again, if all is read in the order of the destination. */
static gsize
get_bytes_of_visits (const MtlCopyPlan *self)
{
  gsize bytes = MTL_COPY_LINE, visited = 0, nearest = MTL_COPY_LINE;

  for (guint i = self->n_outer; i-- > 0;)
    {
      gsize step = mtl_copy_magnitude (self->axes[i].source_step);

      if (step > 0 && step < nearest)
        {
          nearest = step;
          visited = bytes;
        }
      if (step > 0)
        bytes = mtl_copy_multiply_up_to_max (bytes, mtl_copy_count_lines (&self->axes[i]));
    }

  return visited;
}

/* Rows of fewer elements are not converted one by one where they are, nor those of fewer bytes
 * if they are repeated. */
#define LEAST_SCATTERED 16
#define LEAST_SCATTERED_TWICE 8
#define LEAST_SCATTERED_LARGE 9
#define LEAST_SCATTERED_SMALL 32
#define LEAST_SCATTERED_BYTES (512 * 1024)
#define LEAST_REPEATED_ROW 4096

/* Vectors hold few elements of this many bytes. */
#define LARGE_SCATTERED 8

/* Lines are still in a core's own caches after this many other bytes. */
#define NEAR_ENOUGH (128 * 1024)

/* Whether lines of the source are still near when they are visited again, if all is read in the
 * order of the destination. */
gboolean
mtl_copy_plan_is_source_near (const MtlCopyPlan *self)
{
  return get_bytes_of_visits (self) <= NEAR_ENOUGH;
}

/* Whether fewer bytes than these are repeated. */
static gboolean
has_repeats (const MtlCopyPlan *self,
             gsize              most)
{
  gsize n_bytes = self->job.item_size;

  for (guint i = self->n_outer; i-- > 0;)
    {
      if (self->axes[i].source_step == 0 && n_bytes < most)
        return TRUE;
      n_bytes = mtl_copy_multiply_up_to_max (n_bytes, self->axes[i].extent);
    }

  return FALSE;
}

/* From and to elements that are not contiguous, which would be moved twice more: along the last
 * axis, or the one before. */
static gboolean
is_one_pass_better_for_both (const MtlCopyPlan *self)
{
  const MtlAxis *last = &self->axes[self->n_outer - 1];
  gsize n_rows = self->n_outer > 1 ? last[-1].extent : 1;

  if (!self->job.converts_scattered || last->source_step == 0
      || has_repeats (self, LEAST_REPEATED_ROW))
    return FALSE;
  if (self->job.converts_cheaply && self->job.item_size >= LARGE_SCATTERED)
    return last->extent * n_rows >= LEAST_SCATTERED;

  return (last->extent >= LEAST_SCATTERED_TWICE || n_rows >= LEAST_SCATTERED)
         && mtl_copy_plan_is_source_near (self);
}

static gboolean
has_source_rows (const MtlCopyPlan *self)
{
  for (guint i = 0; i < self->n_outer; i++)
    if (mtl_copy_magnitude (self->axes[i].source_step) == self->job.source_size)
      return TRUE;

  return FALSE;
}

/* To contiguous elements of 8 bytes, from some that leave out others, or are as large; or from
 * those to elements of 4. */
static gboolean
is_one_pass_better_for_large (const MtlCopyPlan *self)
{
  const MtlAxis *last = &self->axes[self->n_outer - 1];
  gsize step = mtl_copy_magnitude (last->source_step), size = self->job.source_size;
  gsize least = size < 4 ? LEAST_SCATTERED_SMALL : LEAST_SCATTERED_LARGE;

  return self->job.converts_cheaply && last->extent >= least
         && (self->job.item_size == LARGE_SCATTERED
             || (self->job.item_size == LARGE_SCATTERED / 2 && size == LARGE_SCATTERED))
         && (size == LARGE_SCATTERED || step >= MAX (3 * size, LARGE_SCATTERED))
         && mtl_copy_plan_is_source_near (self);
}

/* To contiguous elements. Vectors gain nothing if the others are large, far apart, or come
 * from beyond a core's cache. */
static gboolean
is_one_pass_better_for_source (const MtlCopyPlan *self)
{
  const MtlAxis *last = &self->axes[self->n_outer - 1];
  gsize step = mtl_copy_magnitude (last->source_step), size = self->job.source_size;
  gsize near = size < 8 && has_source_rows (self) ? MTL_COPY_LINE : NEAR_ENOUGH;

  if (step == 0 || last->source_step == (gssize) size || has_repeats (self, G_MAXSIZE))
    return FALSE;
  if (is_one_pass_better_for_large (self))
    return TRUE;
  if (last->extent < LEAST_SCATTERED)
    return FALSE;
  if (!self->job.converts_cheaply)
    return self->job.converts_scattered && size == 8
           && get_bytes_of_visits (self) <= MTL_COPY_LINE;
  if (get_bytes_of_visits (self) > near)
    return FALSE;

  return size == 8 || step > 4 * size
         || (step != size
             && (last->extent * (step + self->job.item_size) >= LEAST_SCATTERED_BYTES
                 || self->n_bytes >= LEAST_SCATTERED_BYTES));
}

static gboolean
is_scattered_better (const MtlCopyPlan *self)
{
  const MtlAxis *last = &self->axes[self->n_outer - 1];
  gsize size = self->job.item_size;
  gboolean is_run = last->dest_step == (gssize) size;

  if (is_run && self->n_outer > 1 && last->extent < LEAST_SCATTERED_TWICE)
    is_run = last[-1].dest_step == (gssize) (last->extent * size);
  return is_run ? is_one_pass_better_for_source (self) : is_one_pass_better_for_both (self);
}

/* Transposing large elements first gains nothing if they can be converted where they are. */
gboolean
mtl_copy_plan_is_for_one_pass (const MtlCopyPlan *self)
{
  return self->job.convert != NULL && self->job.source_size == LARGE_SCATTERED
         && self->job.item_size == LARGE_SCATTERED && is_scattered_better (self);
}

gboolean
mtl_copy_plan_is_for_boxes (const MtlCopyPlan *self)
{
  const MtlAxis *last = &self->axes[self->n_outer - 1];
  gsize size = self->job.item_size, source_size = self->job.source_size;

  if (self->job.convert != NULL && is_scattered_better (self))
    return FALSE;
  if (MAX (size, source_size) > 256
      || (self->job.convert == NULL && self->n_bytes < LEAST_ELEMENTS * size))
    return FALSE;

  if (last->dest_step == (gssize) size && last->source_step == (gssize) source_size)
    return self->n_outer > 1 && !are_rows_long (self, last->extent);

  return self->job.convert != NULL || !are_loops_better (self);
}
