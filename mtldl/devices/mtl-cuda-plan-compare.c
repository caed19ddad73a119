/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Comparisons and statistics of numbers */

#include "mtl-cuda-plan-layout-private.h"
#include "mtl-error.h"
#include "mtl-number-private.h"

typedef struct
{
  MtlCudaJob job;
  MtlCudaCompare params;
} Compare;

static gboolean
plan_compare (const MtlCudaJob    *job,
              const MtlCudaLayout *layout)
{
  MtlCudaCompare *params = &((Compare *) job)->params;

  params->n = mtl_cuda_layout_count (layout);
  params->n_axes = layout->n_axes;
  params->is_unaligned = !mtl_cuda_layout_aligned (layout, 0, 0, 8 * params->a.size)
                         || !mtl_cuda_layout_aligned (layout, 0, 1, 8 * params->b.size);
  for (guint i = 0; i < layout->n_axes; i++)
    mtl_cuda_axis_init (&params->axes[i], &layout->axes[i], 1);
  return mtl_cuda_job_launch_named (job, layout, "compare", "compare",
                                    mtl_cuda_count_blocks (params->n), params, sizeof *params);
}

static guint64
get_address (const MtlStrided *strided)
{
  return (guint64) (guintptr) strided->data * 8
         + (guint64) strided->layout->offset * strided->layout->item_bits;
}

/* Returns FALSE if a distance does not fit. */
static gboolean
get_reach (const MtlStrided *strided,
           guint             axis,
           gint64           *step)
{
  gint64 extent = mtl_layout_shape (strided->layout)[axis], reach;

  return !__builtin_mul_overflow (mtl_layout_strides (strided->layout)[axis],
                                  (gint64) strided->layout->item_bits, step)
         && !__builtin_mul_overflow (*step, extent - 1, &reach);
}

/* The axes of both, in the order of the first. Rows that both repeat are visited once. */
static gboolean
take_common_axes (MtlCudaLayout     *self,
                  const MtlStrided  *a,
                  const MtlStrided  *b,
                  GError           **error)
{
  gint64 offsets[2] = { 0, 0 };

  self->n_axes = 0;
  self->dest = get_address (a);
  self->source = get_address (b);
  for (guint i = 0; i < a->layout->n_dims; i++)
    {
      gint64 extent = mtl_layout_shape (a->layout)[i], a_step, b_step;

      if (extent == 1)
        continue;
      if (!get_reach (a, i, &a_step) || !get_reach (b, i, &b_step))
        {
          g_set_error_literal (error, MTL_ERROR, MTL_ERROR_OVERFLOW,
                               "The distance between two elements does not fit in 63 bits of"
                               " bits");
          return FALSE;
        }
      if (a_step != 0 || b_step != 0)
        self->axes[self->n_axes++] = mtl_axis (extent, a_step, b_step);
    }

  mtl_axes_flip (self->axes, self->n_axes, offsets);
  self->dest += (guint64) offsets[0];
  self->source += (guint64) offsets[1];
  mtl_axes_sort (self->axes, self->n_axes, 0);
  self->n_axes = mtl_axes_merge (self->axes, self->n_axes);
  mtl_cuda_layout_reverse (self);
  return TRUE;
}

static MtlCudaNumber
describe_part (MtlElementType  type,
               guint          *n_parts)
{
  *n_parts = type.code == kDLComplex ? 2 : 1;
  if (type.code == kDLComplex)
    type = (MtlElementType) { kDLFloat, type.bits / 2, 1, FALSE };

  return mtl_cuda_number_describe (type);
}

gboolean
mtl_cuda_plan_compare (const MtlStrided    *a,
                       const MtlStrided    *b,
                       const MtlTolerance  *tolerance,
                       guint64              result,
                       MtlCudaLaunchFunc    func,
                       gpointer             data,
                       GError             **error)
{
  Compare self = {
    .job = { .func = func, .data = data, .error = error },
    .params = {
      .rtol = tolerance->rtol,
      .atol = tolerance->atol,
      .is_exact = tolerance->rtol == 0 && tolerance->atol == 0,
      .nans_are_equal = tolerance->nans_are_equal,
      .result = result,
    },
  };
  MtlCudaLayout layout;

  if (!mtl_element_type_check_numeric (a->type, error)
      || !mtl_element_type_check_numeric (b->type, error))
    return FALSE;
  if (mtl_layout_is_empty (a->layout))
    return TRUE;

  self.params.a = describe_part (a->type, &self.params.n_a_parts);
  self.params.b = describe_part (b->type, &self.params.n_b_parts);
  if (!self.params.is_exact && self.params.n_a_parts + self.params.n_b_parts > 2)
    {
      g_set_error_literal (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                           "A GPU compares complex numbers without a tolerance only");
      return FALSE;
    }

  return take_common_axes (&layout, a, b, error)
         && mtl_cuda_job_split (&self.job, &layout, plan_compare);
}

/* Statistics */

static void
set_kind (MtlCudaTallies *params,
          MtlElementType  type)
{
  guint n_parts;

  params->number = describe_part (type, &n_parts);
  params->kind = MTL_CUDA_TALLY_REAL;
  params->has_large = type.code == kDLFloat && type.bits == 64;
  if (type.code == kDLBool)
    params->kind = MTL_CUDA_TALLY_BOOL;
  else if (type.code == kDLInt || type.code == kDLUInt)
    {
      params->kind = type.bits <= 16 ? MTL_CUDA_TALLY_SMALL : MTL_CUDA_TALLY_LARGE;
      params->is_signed = type.code == kDLInt;
      params->bias = type.code == kDLUInt && type.bits == 64 ? (guint64) 1 << 63 : 0;
    }
}

static gboolean
launch_tallies (const MtlCudaJob     *job,
                const MtlCudaLayout  *layout,
                const MtlCudaTallies *params)
{
  MtlCudaLaunch launch = {
    .module = "tally",
    .kernel = "tally",
    .grid = mtl_cuda_divide_up ((guint64) params->n_tiles * MTL_CUDA_TALLY_LANES,
                                MTL_CUDA_THREADS),
    .block = MTL_CUDA_THREADS,
    .shared_bytes = MTL_CUDA_TALLY_SHARED,
    .dest = layout->dest,
    .source = layout->source,
    .params = params,
    .params_size = sizeof *params,
  };

  return job->func (&launch, job->data, job->error);
}

gboolean
mtl_cuda_plan_tally (const MtlTiles     *tiles,
                     gint64              first,
                     guint32             n,
                     MtlElementType      type,
                     guint64             results,
                     MtlCudaLaunchFunc   func,
                     gpointer            data,
                     GError            **error)
{
  const MtlCudaJob job = { .func = func, .data = data, .error = error };
  MtlCudaTallies params = { .first_tile = first, .n_tiles = n, .n_axes = tiles->n_axes };
  MtlCudaLayout layout = {
    .n_axes = 0,
    .dest = results,
    .source = (guint64) (guintptr) tiles->data * 8 + (guint64) tiles->bit,
  };
  guint64 alignment = layout.source;

  if (tiles->n_axes > MTL_CUDA_MAX_AXES)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                   "A GPU computes statistics along at most %d axes, not %u", MTL_CUDA_MAX_AXES,
                   tiles->n_axes);
      return FALSE;
    }

  set_kind (&params, type);
  for (guint i = 0; i < tiles->n_axes; i++)
    {
      params.axes[i].extent = tiles->axes[i].extent;
      params.axes[i].step = tiles->axes[i].steps[0];
      params.axes[i].part = tiles->parts[i];
      params.axes[i].n_parts = mtl_cuda_divide_up (tiles->axes[i].extent, tiles->parts[i]);
      alignment |= (guint64) tiles->axes[i].steps[0];
    }
  params.is_unaligned = alignment % (8 * params.number.size) != 0;
  if (type.code != kDLComplex)
    return launch_tallies (&job, &layout, &params);

  params.other_part = params.number.bits;
  if (!launch_tallies (&job, &layout, &params))
    return FALSE;

  layout.dest += n * sizeof (MtlCudaTally);
  layout.source += params.number.bits;
  params.other_part = -params.other_part;
  return launch_tallies (&job, &layout, &params);
}
