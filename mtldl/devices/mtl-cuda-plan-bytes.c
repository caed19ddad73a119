/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Copies and fills of whole bytes: a family of kernels for each layout. */

#include "mtl-cuda-plan-layout-private.h"

#include <string.h>

/* Makes the widest items of bytes. */
static void
widen_items (MtlCudaLayout *self,
             MtlCudaJob    *job,
             gboolean       for_fill)
{
  MtlAxis *first = &self->axes[0];
  guint size = 1;

  if (self->n_axes > 0 && first->dest_step == 1 && (for_fill || first->source_step == 1))
    for (size = 16; size > 1; size /= 2)
      if (first->extent % size == 0 && mtl_cuda_layout_aligned (self, 1, 0, size)
          && (for_fill || mtl_cuda_layout_aligned (self, 1, 1, size)))
        break;

  job->dest_size = job->source_size = size;
  if (size == 1)
    return;

  first->extent /= size;
  first->dest_step = size;
  first->source_step *= size;
  if (first->extent == 1)
    {
      self->n_axes--;
      memmove (first, first + 1, self->n_axes * sizeof *first);
    }
}

/* Rows: those of the first axis, if that is contiguous in the destination, or else single items */

gboolean
mtl_cuda_job_has_runs (const MtlCudaJob    *job,
                       const MtlCudaLayout *layout)
{
  return layout->n_axes > 0 && layout->axes[0].dest_step == job->dest_size;
}

/* Divides rows into words of the destination, whose first and last ones may be parts. */
static void
init_rows (MtlCudaRows         *self,
           const MtlCudaJob    *job,
           const MtlCudaLayout *layout,
           gboolean             takes_runs,
           guint                word)
{
  guint first = takes_runs ? 1 : 0;
  guint64 n_rows = mtl_cuda_layout_count (layout);

  self->row_bytes = job->dest_size;
  if (takes_runs)
    {
      n_rows /= layout->axes[0].extent;
      self->row_bytes *= layout->axes[0].extent;
    }
  self->grain = MIN (job->dest_size, word);
  self->item = job->dest_size;
  self->n_axes = layout->n_axes - first;
  for (guint i = first; i < layout->n_axes; i++)
    mtl_cuda_axis_init (&self->axes[i - first], &layout->axes[i], 1);
  self->slots = mtl_cuda_divide_up (self->row_bytes
                                    + (mtl_cuda_layout_aligned (layout, first, 0, word)
                                         ? 0 : word - self->grain), word);
  mtl_cuda_set_divisor (self->slots, &self->magic, &self->shift);
  self->n = n_rows * self->slots;
  self->source_begin = job->source_begin;
  self->source_end = job->source_end;
  self->is_shifted = FALSE;
}

/* Checks if the source lies in words as the destination does. */
static gboolean
is_shifted (const MtlCudaLayout *layout,
            guint                first,
            guint                word)
{
  guint64 bits = layout->dest - layout->source;

  for (guint i = first; i < layout->n_axes; i++)
    bits |= (guint64) layout->axes[i].dest_step - (guint64) layout->axes[i].source_step;

  return bits % word != 0;
}

static gboolean
plan_rows (const MtlCudaJob    *job,
           const MtlCudaLayout *layout,
           gboolean             takes_runs)
{
  guint64 bytes = job->dest_size * (takes_runs ? layout->axes[0].extent : 1);
  guint word = bytes >= 512 ? 16 : MAX (job->dest_size, 4);
  MtlCudaRows rows;

  init_rows (&rows, job, layout, takes_runs, word);
  rows.is_shifted = is_shifted (layout, takes_runs ? 1 : 0, word);
  return mtl_cuda_job_launch_named (job, layout, "rows",
                                    word == 16  ? "rows_16"
                                    : word == 8 ? "rows_8" : "rows_4",
                                    mtl_cuda_count_blocks (rows.n), &rows, sizeof rows);
}

/* Rows backwards. Their addresses are those of the lowest items. */
static gboolean
plan_reverse (const MtlCudaJob    *job,
              const MtlCudaLayout *layout)
{
  MtlCudaLayout moved = *layout;
  MtlCudaRows rows;

  moved.source += (guint64) mtl_axis_get_reach (&layout->axes[0], 1);
  init_rows (&rows, job, layout, TRUE, 16);
  return mtl_cuda_job_launch_named (job, &moved, "rows", "reverse",
                                    mtl_cuda_count_blocks (rows.n), &rows, sizeof rows);
}

/* Rows that repeat an item each */
static gboolean
plan_repeat (const MtlCudaJob    *job,
             const MtlCudaLayout *layout)
{
  MtlCudaRows rows;

  init_rows (&rows, job, layout, TRUE, 16);
  return mtl_cuda_job_launch_named (job, layout, "rows", "repeat",
                                    mtl_cuda_count_blocks (rows.n), &rows, sizeof rows);
}

static MtlCudaFamily
choose_raw (const MtlCudaJob    *job,
            const MtlCudaLayout *layout)
{
  gboolean in_order = mtl_cuda_layout_is_in_order (layout);
  gboolean runs = mtl_cuda_job_has_runs (job, layout);
  gint64 size = job->dest_size, source_step = runs ? layout->axes[0].source_step : 0;
  guint64 bytes = runs ? (guint64) size * layout->axes[0].extent : 0;

  if (layout->n_axes == 0)
    return MTL_CUDA_ROWS;
  if (((runs && source_step == size) || size == 16)
      && (bytes >= 128 || (in_order && (size >= 4 || bytes >= 32))))
    return MTL_CUDA_ROWS;
  if (runs && source_step == -size && size < 4 && bytes >= 64)
    return MTL_CUDA_REVERSE;
  if (runs && source_step == 0 && bytes >= 64)
    return MTL_CUDA_REPEAT;
  if ((in_order && size >= 4) || mtl_cuda_layout_count (layout) * size < MTL_CUDA_MIN_TILED_BYTES)
    return MTL_CUDA_GATHER;

  return MTL_CUDA_BOX;
}

/* Checks if a family that a test asks for suits the layout. */
static gboolean
suits_raw (const MtlCudaJob    *job,
           const MtlCudaLayout *layout,
           MtlCudaFamily        family)
{
  gboolean runs = mtl_cuda_job_has_runs (job, layout);
  gint64 size = job->dest_size, source_step = runs ? layout->axes[0].source_step : 0;

  switch (family)
    {
    case MTL_CUDA_REVERSE:
      return runs && source_step == -size && size <= 4;
    case MTL_CUDA_REPEAT:
      return runs && source_step == 0;
    case MTL_CUDA_CHOSEN:
    case MTL_CUDA_DENSE:
      return FALSE;
    default:
      return layout->n_axes > 0;
    }
}

/* A family that suits the layout has done it, if its launch succeeds. */
gboolean
mtl_cuda_plan_tiled (const MtlCudaJob    *job,
                     const MtlCudaLayout *layout,
                     MtlCudaFamily        family)
{
  gboolean done = FALSE, chooses = mtl_cuda_plan_forced == MTL_CUDA_CHOSEN;
  gboolean copies = job->module == NULL;

  if (copies && (family == MTL_CUDA_PIXELS || chooses)
      && !mtl_cuda_plan_pixels (job, layout, &done))
    return FALSE;
  if (!done && copies && (family == MTL_CUDA_TILE || chooses)
      && !mtl_cuda_plan_tile (job, layout, &done))
    return FALSE;
  if (!done && !mtl_cuda_plan_box (job, layout, &done))
    return FALSE;

  return done || mtl_cuda_plan_gather (job, layout, FALSE);
}

static gboolean
plan_raw (const MtlCudaJob    *job,
          const MtlCudaLayout *layout)
{
  gboolean takes_runs = mtl_cuda_job_has_runs (job, layout)
                        && layout->axes[0].source_step == job->source_size;
  MtlCudaFamily family = mtl_cuda_plan_forced;

  if (!suits_raw (job, layout, family))
    family = choose_raw (job, layout);

  switch (family)
    {
    case MTL_CUDA_ROWS:
      return plan_rows (job, layout, takes_runs);
    case MTL_CUDA_REVERSE:
      return plan_reverse (job, layout);
    case MTL_CUDA_REPEAT:
      return plan_repeat (job, layout);
    case MTL_CUDA_GATHER:
      return mtl_cuda_plan_gather (job, layout, FALSE);
    default:
      return mtl_cuda_plan_tiled (job, layout, family);
    }
}

gboolean
mtl_cuda_job_split (const MtlCudaJob    *job,
                    const MtlCudaLayout *layout,
                    MtlCudaPlanFunc      plan)
{
  MtlCudaLayout half;
  MtlAxis *axis;
  guint64 first;

  if (layout->n_axes == 0 || mtl_cuda_layout_count (layout) <= mtl_cuda_plan_most)
    return plan (job, layout);

  half = *layout;
  axis = &half.axes[half.n_axes - 1];
  first = axis->extent / 2;
  axis->extent = first;
  half.n_axes -= first == 1 ? 1 : 0;
  if (!mtl_cuda_job_split (job, &half, plan))
    return FALSE;

  half.n_axes = layout->n_axes;
  axis->extent = layout->axes[half.n_axes - 1].extent - first;
  half.dest += first * (guint64) axis->dest_step;
  half.source += first * (guint64) axis->source_step;
  half.n_axes -= axis->extent == 1 ? 1 : 0;
  return mtl_cuda_job_split (job, &half, plan);
}

/* Copies elements of so many bytes. */
gboolean
mtl_cuda_job_copy_bytes (MtlCudaJob    *job,
                         MtlCudaLayout *layout,
                         guint          size)
{
  job->source_size = size;
  mtl_cuda_job_find_source_bytes (job, layout);
  mtl_cuda_layout_take_bytes (layout, size, 1);
  widen_items (layout, job, FALSE);
  return mtl_cuda_job_split (job, layout, plan_raw);
}

/* Fills */

typedef struct
{
  MtlCudaJob job;
  const guint8 *item;
  guint item_size;
  guint phase; /* where addresses of elements are within multiples of the size */
} Fill;

static gboolean
plan_fill_rows (const MtlCudaJob    *job,
                const MtlCudaLayout *layout)
{
  const Fill *fill = (const Fill *) job;
  guint8 pattern[16];
  MtlCudaRows rows;

  for (guint i = 0; i < sizeof pattern; i++)
    pattern[i] = fill->item[(i + fill->item_size - fill->phase) % fill->item_size];
  init_rows (&rows, job, layout, mtl_cuda_job_has_runs (job, layout), 16);
  memcpy (rows.pattern, pattern, sizeof pattern);
  return mtl_cuda_job_launch_named (job, layout, "fill", "fill", mtl_cuda_count_blocks (rows.n),
                                    &rows, sizeof rows);
}

/* The steps of the source are places in the pattern. */
static gboolean
plan_fill_pattern (const MtlCudaJob    *job,
                   const MtlCudaLayout *layout)
{
  const Fill *fill = (const Fill *) job;
  MtlCudaPattern params;

  params.n = mtl_cuda_layout_count (layout);
  params.n_axes = layout->n_axes;
  params.grain = job->dest_size;
  memset (params.pattern, 0, sizeof params.pattern);
  memcpy (params.pattern, fill->item, MIN (fill->item_size, sizeof params.pattern));
  for (guint i = 0; i < layout->n_axes; i++)
    mtl_cuda_axis_init (&params.axes[i], &layout->axes[i], 1);
  return mtl_cuda_job_launch_named (job, layout, "fill", "fill_pattern",
                                    mtl_cuda_count_blocks (params.n), &params, sizeof params);
}

/* Checks that an item is the same in all words that contain it. */
static gboolean
repeats_in_words (const MtlCudaLayout *layout,
                  guint                size)
{
  if (size > 16 || (size & (size - 1)) != 0)
    return FALSE;

  for (guint i = 0; i < layout->n_axes; i++)
    if (layout->axes[i].dest_step % size != 0)
      return FALSE;

  return TRUE;
}

/* Items of any size, in parts that the parameters of a kernel have room for */
static gboolean
fill_by_pattern (Fill                *fill,
                 const MtlCudaLayout *layout,
                 guint                item_size)
{
  const guint8 *item = fill->item;

  for (guint first = 0; first < item_size; first += MTL_CUDA_PATTERN)
    {
      MtlCudaLayout part = *layout;
      guint size = MIN (item_size - first, MTL_CUDA_PATTERN), grain = 8;

      fill->item = item + first;
      fill->item_size = size;
      part.dest += first;
      while (size % grain != 0 || !mtl_cuda_layout_aligned (&part, 0, 0, grain))
        grain /= 2;
      fill->job.dest_size = fill->job.source_size = grain;
      if (size > grain)
        part.axes[part.n_axes++] = mtl_axis (size / grain, grain, grain);
      part.n_axes = mtl_axes_merge (part.axes, part.n_axes);
      mtl_cuda_layout_reverse (&part);
      if (!mtl_cuda_job_split (&fill->job, &part, plan_fill_pattern))
        return FALSE;
    }

  return TRUE;
}

gboolean
mtl_cuda_job_fill_bytes (const MtlCudaJob *job,
                         MtlCudaLayout    *layout,
                         const guint8     *item,
                         guint             size)
{
  Fill fill = { .job = *job, .item = item, .item_size = size };

  if (!repeats_in_words (layout, size))
    return fill_by_pattern (&fill, layout, size);

  fill.phase = layout->dest % size;
  mtl_cuda_layout_take_bytes (layout, size, 0);
  widen_items (layout, &fill.job, TRUE);
  return mtl_cuda_job_split (&fill.job, layout, plan_fill_rows);
}
