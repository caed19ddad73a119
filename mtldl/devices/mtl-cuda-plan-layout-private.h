/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

/* Shared by the files of the planner. */

#include "cuda-kernels/mtl-cuda-parameters.h"
#include "mtl-axes-private.h"
#include "mtl-cuda-plan-private.h"

G_BEGIN_DECLS

/* Items on both sides. The first axis is the innermost of the destination; its steps there are
 * positive, as are those of all others. Steps are in bytes. */
typedef struct
{
  MtlAxis axes[MTL_AXES_MAX];
  guint n_axes;
  guint64 dest; /* the addresses of the first item */
  guint64 source;
} MtlCudaLayout;

typedef struct
{
  MtlCudaLaunchFunc func;
  gpointer data;
  GError **error;

  guint dest_size; /* bytes of an item */
  guint source_size;
  const char *module; /* of conversions, or NULL */
  const char *suffix; /* of the names of its kernels */
  guint64 source_begin; /* the bytes that may be read */
  guint64 source_end;
} MtlCudaJob;

static inline guint64
mtl_cuda_divide_up (guint64 a,
                    guint64 b)
{
  return (a + b - 1) / b;
}

void     mtl_cuda_axis_init      (MtlCudaAxis          *self,
                                  const MtlAxis        *axis,
                                  guint                 step);
guint64  mtl_cuda_layout_count   (const MtlCudaLayout  *self);

/* Checks if all addresses of the items of a side (0: the destination) are multiples, except for the
 * steps along the axes before `first`. */
gboolean mtl_cuda_layout_aligned (const MtlCudaLayout  *self,
                                  guint                 first,
                                  guint                 operand,
                                  guint                 multiple);
gboolean mtl_cuda_job_launch     (const MtlCudaJob     *self,
                                  const MtlCudaLayout  *layout,
                                  const char           *family,
                                  guint64               n_blocks,
                                  gsize                 shared_bytes,
                                  gconstpointer         params,
                                  gsize                 params_size);

/* These set `done` to FALSE, and return TRUE, if the layout is not for them. */
gboolean mtl_cuda_plan_tile      (const MtlCudaJob     *job,
                                  const MtlCudaLayout  *layout,
                                  gboolean             *done);
gboolean mtl_cuda_plan_pixels    (const MtlCudaJob     *job,
                                  const MtlCudaLayout  *layout,
                                  gboolean             *done);
gboolean mtl_cuda_plan_box       (const MtlCudaJob     *job,
                                  const MtlCudaLayout  *layout,
                                  gboolean             *done);

G_END_DECLS
