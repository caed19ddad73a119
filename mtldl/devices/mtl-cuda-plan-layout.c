/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* The axes of a copy, and launches of kernels for them. */

#include "mtl-cuda-plan-layout-private.h"

#include <string.h>

#include "mtl-error.h"

/* Numbers of items and threads fit 31 bits. */
#define MAX_ITEMS ((guint64) 1 << 30)

MtlCudaFamily mtl_cuda_plan_forced = MTL_CUDA_CHOSEN;
guint64 mtl_cuda_plan_most = MAX_ITEMS;
guint32 mtl_cuda_plan_box_elements = 0;

/* Layouts */

/* Finds a product and a shift that divide numbers below 2^31. */
void
mtl_cuda_set_divisor (guint32  divisor,
                      guint32 *magic,
                      guint32 *shift)
{
  guint32 log = divisor > 1 ? 32 - __builtin_clz (divisor - 1) : 0;

  *shift = log;
  *magic = ((((guint64) 1 << log) - divisor) << 32) / divisor + 1;
}

void
mtl_cuda_axis_init (MtlCudaAxis   *self,
                    const MtlAxis *axis,
                    guint          step)
{
  self->parts = mtl_cuda_divide_up (axis->extent, step);
  self->step = step;
  self->last = axis->extent - MIN (step, axis->extent);
  self->unused = 0;
  self->dest = axis->dest_step;
  self->source = axis->source_step;
  mtl_cuda_set_divisor (self->parts, &self->magic, &self->shift);
}

guint64
mtl_cuda_layout_count (const MtlCudaLayout *self)
{
  guint64 n = 1;

  for (guint i = 0; i < self->n_axes; i++)
    if (__builtin_mul_overflow (n, self->axes[i].extent, &n))
      return G_MAXUINT64;

  return n;
}

gboolean
mtl_cuda_layout_aligned (const MtlCudaLayout *self,
                         guint                first,
                         guint                operand,
                         guint                multiple)
{
  guint64 bits = operand == 0 ? self->dest : self->source;

  for (guint i = first; i < self->n_axes; i++)
    bits |= (guint64) self->axes[i].steps[operand];

  return bits % multiple == 0;
}

gboolean
mtl_cuda_layout_is_in_order (const MtlCudaLayout *self)
{
  guint64 before = 0;

  for (guint i = 0; i < self->n_axes; i++)
    {
      guint64 distance = mtl_magnitude (self->axes[i].source_step);

      if (distance == 0)
        continue;
      if (distance < before)
        return FALSE;
      before = distance;
    }

  return TRUE;
}

static gboolean
set_overflow (GError **error)
{
  g_set_error_literal (error, MTL_ERROR, MTL_ERROR_OVERFLOW,
                       "The distance between two elements does not fit in 63 bits of bytes");
  return FALSE;
}

/* The step along an axis, in bytes or, with a unit of 8, in bits. The stride of an axis of one
 * element may be any. */
static gboolean
get_step (const MtlStrided *strided,
          guint             axis,
          guint             unit,
          gint64           *step)
{
  const MtlLayout *layout = strided->layout;

  *step = 0;
  return mtl_layout_shape (layout)[axis] <= 1
         || !__builtin_mul_overflow (mtl_layout_strides (layout)[axis],
                                     (gint64) (layout->item_bits * unit / 8), step);
}

static guint64
get_address (const MtlStrided *strided,
             guint             unit)
{
  return (guint64) (guintptr) strided->data * unit
         + (guint64) strided->layout->offset * (strided->layout->item_bits * unit / 8);
}

void
mtl_cuda_layout_reverse (MtlCudaLayout *self)
{
  for (guint i = 0; i < self->n_axes / 2; i++)
    {
      MtlAxis axis = self->axes[i];

      self->axes[i] = self->axes[self->n_axes - 1 - i];
      self->axes[self->n_axes - 1 - i] = axis;
    }
}

static gboolean
take_axis (MtlCudaLayout    *self,
           const MtlStrided *dest,
           const MtlStrided *source,
           guint             unit,
           guint             i)
{
  gint64 extent = mtl_layout_shape (dest->layout)[i];
  gint64 dest_step, source_step = 0, reach;

  if (!get_step (dest, i, unit, &dest_step)
      || (source != NULL && !get_step (source, i, unit, &source_step))
      || __builtin_mul_overflow (dest_step, extent - 1, &reach)
      || __builtin_mul_overflow (source_step, extent - 1, &reach))
    return FALSE;

  /* If the destination does not move along an axis, only the last element remains. */
  if (extent > 1 && dest_step == 0)
    self->source += (guint64) reach;
  else if (extent > 1)
    self->axes[self->n_axes++] = mtl_axis (extent, dest_step, source_step);

  return TRUE;
}

gboolean
mtl_cuda_layout_take (MtlCudaLayout     *self,
                      const MtlStrided  *dest,
                      const MtlStrided  *source,
                      guint              unit,
                      GError           **error)
{
  gint64 offsets[2] = { 0, 0 };

  self->n_axes = 0;
  self->dest = get_address (dest, unit);
  self->source = source != NULL ? get_address (source, unit) : 0;
  for (guint i = 0; i < dest->layout->n_dims; i++)
    if (!take_axis (self, dest, source, unit, i))
      return set_overflow (error);

  mtl_axes_flip (self->axes, self->n_axes, offsets);
  self->dest += (guint64) offsets[0];
  self->source += (guint64) offsets[1];
  mtl_axes_sort (self->axes, self->n_axes, 0);
  if (!mtl_axes_are_nested (self->axes, self->n_axes, dest->layout->item_bits * unit / 8))
    {
      g_set_error_literal (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                           "A GPU cannot write elements that may overlap each other");
      return FALSE;
    }

  return TRUE;
}

void
mtl_cuda_job_find_source_bytes (MtlCudaJob          *job,
                                const MtlCudaLayout *layout)
{
  job->source_begin = layout->source;
  job->source_end = layout->source + job->source_size;
  for (guint i = 0; i < layout->n_axes; i++)
    {
      gint64 reach = mtl_axis_get_reach (&layout->axes[i], 1);

      *(reach < 0 ? &job->source_begin : &job->source_end) += (guint64) reach;
    }
}

void
mtl_cuda_layout_take_bytes (MtlCudaLayout *self,
                            guint          size,
                            guint          source_step)
{
  if (size > 1)
    self->axes[self->n_axes++] = mtl_axis (size, 1, source_step);
  self->n_axes = mtl_axes_merge (self->axes, self->n_axes);
  mtl_cuda_layout_reverse (self);
}

/* Launches */

static void
append (char       **end,
        const char  *text)
{
  while (*text != '\0')
    *(*end)++ = *text++;
  **end = '\0';
}

static void
append_size (char  **end,
             guint   size)
{
  static const char *const sizes[] = { [1] = "_1", [2] = "_2", [4] = "_4", [8] = "_8",
                                       [16] = "_16" };

  append (end, sizes[size]);
}

/* Kernels that move items of one size are in the module for that size. */
gboolean
mtl_cuda_job_launch (const MtlCudaJob    *self,
                     const MtlCudaLayout *layout,
                     const char          *family,
                     guint64              n_blocks,
                     gsize                shared_bytes,
                     gconstpointer        params,
                     gsize                params_size)
{
  static const char *const modules[] = { [1] = "copy_1", [2] = "copy_2", [4] = "copy_4",
                                         [8] = "copy_8", [16] = "copy_16" };
  MtlCudaLaunch launch = {
    .module = self->module != NULL ? self->module : modules[self->dest_size],
    .grid = n_blocks,
    .block = MTL_CUDA_THREADS,
    .shared_bytes = mtl_cuda_divide_up (shared_bytes, 16) * 16,
    .dest = layout->dest,
    .source = layout->source,
    .params = params,
    .params_size = params_size,
  };
  char *end = launch.kernel;

  append (&end, family);
  if (self->suffix != NULL)
    append (&end, self->suffix);
  else
    append_size (&end, self->dest_size);
  return self->func (&launch, self->data, self->error);
}

gboolean
mtl_cuda_job_launch_named (const MtlCudaJob    *self,
                           const MtlCudaLayout *layout,
                           const char          *module,
                           const char          *name,
                           guint64              n_blocks,
                           gconstpointer        params,
                           gsize                params_size)
{
  MtlCudaJob named = *self;

  named.module = module;
  named.suffix = "";
  return mtl_cuda_job_launch (&named, layout, name, n_blocks, 0, params, params_size);
}

gboolean
mtl_cuda_plan_items (const MtlCudaJob    *job,
                     const MtlCudaLayout *layout,
                     const char          *family,
                     guint                n_each,
                     gboolean             is_unaligned)
{
  MtlCudaGather gather;

  gather.n = mtl_cuda_layout_count (layout);
  gather.n_axes = layout->n_axes;
  gather.is_unaligned = is_unaligned;
  for (guint i = 0; i < layout->n_axes; i++)
    mtl_cuda_axis_init (&gather.axes[i], &layout->axes[i], 1);
  return mtl_cuda_job_launch (job, layout, family,
                              mtl_cuda_divide_up (gather.n, MTL_CUDA_THREADS * n_each), 0, &gather,
                              sizeof gather);
}

gboolean
mtl_cuda_plan_gather (const MtlCudaJob    *job,
                      const MtlCudaLayout *layout,
                      gboolean             is_unaligned)
{
  return mtl_cuda_plan_items (job, layout, "gather",
                              job->module != NULL ? MTL_CUDA_CONVERTED : MTL_CUDA_EACH,
                              is_unaligned);
}
