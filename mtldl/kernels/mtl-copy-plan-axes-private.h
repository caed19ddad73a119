/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-copy-plan-private.h"

G_BEGIN_DECLS

/* Shared by the files that make plans. */

#define MTL_COPY_LINE 64

static inline gsize
mtl_copy_magnitude (gssize step)
{
  return step < 0 ? -(gsize) step : (gsize) step;
}

static inline gsize
mtl_copy_multiply_up_to_max (gsize a,
                             gsize b)
{
  gsize product;

  return __builtin_mul_overflow (a, b, &product) ? G_MAXSIZE : product;
}

static inline gsize
mtl_copy_divide_up (gsize a,
                    gsize b)
{
  return (a - 1) / b + 1;
}

static inline gboolean
mtl_copy_is_power_up_to_16 (gsize size)
{
  return size <= 16 && (size & (size - 1)) == 0;
}

static inline void
mtl_copy_flip_axis (MtlCopyPlan *self,
                    MtlAxis     *axis)
{
  self->job.dest += mtl_axis_get_reach (axis, 0);
  self->job.source += mtl_axis_get_reach (axis, 1);
  axis->dest_step = -axis->dest_step;
  axis->source_step = -axis->source_step;
}

static inline gsize
mtl_copy_get_distance (const MtlAxis *axis,
                       gboolean       in_source)
{
  return mtl_copy_magnitude (in_source ? axis->source_step : axis->dest_step);
}

static inline void
mtl_copy_stream (MtlCopyPlan          *self,
                 const MtlCopyKernels *kernels)
{
  self->job.streams = TRUE;
  self->fence = kernels->fence;
}

/* Then the machine would look ahead less in the source, which is the larger part. */
static inline gboolean
mtl_copy_plan_narrows (const MtlCopyPlan *self)
{
  return self->job.source_size >= 2 * self->job.item_size;
}

static inline void
mtl_copy_do_not_stream (MtlCopyPlan *self)
{
  self->job.streams = FALSE;
  self->fence = NULL;
}

/* Whether each element of the source is repeated, in long enough runs. */
static inline gboolean
mtl_copy_plan_is_broadcast (const MtlCopyPlan *self)
{
  const MtlAxis *last = &self->axes[self->n_outer - 1];
  gsize size = self->job.item_size;

  return last->source_step == 0 && last->dest_step == (gssize) size && size <= 64
         && last->extent >= MTL_COPY_LEAST_REPEATED && last->extent * size >= 32;
}

/* Merges the axes along which no line of the source is skipped: the run of bytes grows by them.
 * Sorts the axes, and returns how many others there are, which come first. */
static inline guint
mtl_copy_merge_source_runs (MtlAxis *axes,
                            guint    n,
                            gsize   *run)
{
  mtl_axes_sort (axes, n, 1);
  for (; n > 0; n--)
    {
      gsize distance = mtl_copy_get_distance (&axes[n - 1], TRUE);

      if (distance >= *run + MTL_COPY_LINE)
        break;
      *run += (axes[n - 1].extent - 1) * distance;
    }

  return n;
}

/* The lines of the source that are visited along an axis. */
static inline gsize
mtl_copy_count_lines (const MtlAxis *axis)
{
  gsize step = mtl_copy_magnitude (axis->source_step);

  return step >= MTL_COPY_LINE ? axis->extent : 1 + (axis->extent - 1) * step / MTL_COPY_LINE;
}

/* From mtl-copy-plan-passes.c, for axes as below. */
gboolean mtl_copy_plan_is_for_one_pass (const MtlCopyPlan *self);
gboolean mtl_copy_plan_is_source_near  (const MtlCopyPlan *self);
gboolean mtl_copy_plan_is_for_boxes    (const MtlCopyPlan *self);

/* From mtl-copy-plan-boxes.c: of an element that is transposed in a tile, in picoseconds. */
gsize    mtl_copy_get_transposing_cost (gsize size);

/* From mtl-copy-plan-boxes.c: returns FALSE if another kernel is better. All axes are
 * outer ones, sorted and merged. */
gboolean mtl_copy_plan_choose_boxes (MtlCopyPlan          *self,
                                     const MtlCopyKernels *kernels);

G_END_DECLS
