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

/* Copies of fewer bytes are not worth shared memory. */
#define MTL_CUDA_MIN_TILED_BYTES (128 * 1024)

typedef struct
{
  MtlCudaLaunchFunc func;
  gpointer data;
  GError **error;

  guint dest_size; /* bytes of an item */
  guint source_size;
  const char *module; /* for conversions, or NULL */
  const char *suffix; /* the ends of its kernels' names */
  guint64 source_begin; /* the bytes that may be read */
  guint64 source_end;
} MtlCudaJob;

static inline guint64
mtl_cuda_divide_up (guint64 a,
                    guint64 b)
{
  return (a + b - 1) / b;
}

/* Finds a product and a shift that divide numbers below 2^31. */
void     mtl_cuda_set_divisor      (guint32               divisor,
                                    guint32              *magic,
                                    guint32              *shift);
void     mtl_cuda_axis_init        (MtlCudaAxis          *self,
                                    const MtlAxis        *axis,
                                    guint                 step);

/* Takes the axes of at least one element: flipped, and sorted by the steps of the destination, the
 * largest first, but not merged. The unit is 1 for bytes, or 8 for bits, in which addresses are
 * then, too. Without a source, an item is repeated. */
gboolean mtl_cuda_layout_take      (MtlCudaLayout        *self,
                                    const MtlStrided     *dest,
                                    const MtlStrided     *source,
                                    guint                 unit,
                                    GError              **error);
void     mtl_cuda_layout_reverse   (MtlCudaLayout        *self);
guint64  mtl_cuda_layout_count     (const MtlCudaLayout  *self);

/* Checks if all addresses of the items of a side (0: the destination) are multiples, except for the
 * steps along the axes before `first`. */
gboolean mtl_cuda_layout_aligned   (const MtlCudaLayout  *self,
                                    guint                 first,
                                    guint                 operand,
                                    guint                 multiple);

/* Launches a kernel of a family for the size of items, or for a conversion. */
gboolean mtl_cuda_job_launch       (const MtlCudaJob     *self,
                                    const MtlCudaLayout  *layout,
                                    const char           *family,
                                    guint64               n_blocks,
                                    gsize                 shared_bytes,
                                    gconstpointer         params,
                                    gsize                 params_size);

/* Launches one that is alone. */
gboolean mtl_cuda_job_launch_named (const MtlCudaJob     *self,
                                    const MtlCudaLayout  *layout,
                                    const char           *module,
                                    const char           *name,
                                    guint64               n_blocks,
                                    gconstpointer         params,
                                    gsize                 params_size);

typedef gboolean (* MtlCudaPlanFunc) (const MtlCudaJob    *job,
                                      const MtlCudaLayout *layout);

/* Plans halves of the outermost axis as long as there are too many items. */
gboolean mtl_cuda_job_split        (const MtlCudaJob     *self,
                                    const MtlCudaLayout  *layout,
                                    MtlCudaPlanFunc       plan);

/* Threads take several items. */
static inline guint64
mtl_cuda_count_blocks (guint64 n)
{
  return mtl_cuda_divide_up (n, MTL_CUDA_THREADS * MTL_CUDA_EACH);
}

/* Merges axes, after adding one for the bytes of an element. The first axis is the innermost
 * then. */
void     mtl_cuda_layout_take_bytes     (MtlCudaLayout        *self,
                                         guint                 size,
                                         guint                 source_step);

/* Checks if the source follows the order of the destination. */
gboolean mtl_cuda_layout_is_in_order    (const MtlCudaLayout  *self);

/* Finds the bytes that may be read: from the lowest to the highest. */
void     mtl_cuda_job_find_source_bytes (MtlCudaJob           *self,
                                         const MtlCudaLayout  *layout);

/* Checks if items are next to each other in the destination. */
gboolean mtl_cuda_job_has_runs          (const MtlCudaJob     *self,
                                         const MtlCudaLayout  *layout);
gboolean mtl_cuda_plan_items            (const MtlCudaJob     *job,
                                         const MtlCudaLayout  *layout,
                                         const char           *family,
                                         guint                 n_each,
                                         gboolean              is_unaligned);
gboolean mtl_cuda_plan_gather           (const MtlCudaJob     *job,
                                         const MtlCudaLayout  *layout,
                                         gboolean              is_unaligned);

/* Takes the tiles that suit the layout, and plain gathers if none do. */
gboolean mtl_cuda_plan_tiled            (const MtlCudaJob     *job,
                                         const MtlCudaLayout  *layout,
                                         MtlCudaFamily         family);
gboolean mtl_cuda_job_convert           (MtlCudaJob           *self,
                                         MtlCudaLayout        *layout,
                                         MtlElementType        dest,
                                         MtlElementType        source,
                                         const double         *factors);

/* Elements of so many bytes. The layout is as it was taken. */
gboolean mtl_cuda_job_copy_bytes   (MtlCudaJob           *self,
                                    MtlCudaLayout        *layout,
                                    guint                 size);
gboolean mtl_cuda_job_fill_bytes   (const MtlCudaJob     *self,
                                    MtlCudaLayout        *layout,
                                    const guint8         *item,
                                    guint                 size);
/* A number with one lane, not a complex one */
MtlCudaNumber mtl_cuda_number_describe (MtlElementType        type);
void     mtl_cuda_conversion_init  (MtlCudaConversion    *self,
                                    MtlElementType        dest,
                                    MtlElementType        source,
                                    const double         *factors);

/* Elements that do not fill whole bytes, on one side or on both. Without a source, the item is in
 * the low bits of its bytes. */
gboolean mtl_cuda_plan_packed      (const MtlCudaJob     *job,
                                    const MtlStrided     *dest,
                                    const MtlStrided     *source,
                                    const guint8         *item,
                                    const double         *factors);

/* These set `done` to FALSE, and return TRUE, if the layout is not for them. */
gboolean mtl_cuda_plan_tile        (const MtlCudaJob     *job,
                                    const MtlCudaLayout  *layout,
                                    gboolean             *done);
gboolean mtl_cuda_plan_pixels      (const MtlCudaJob     *job,
                                    const MtlCudaLayout  *layout,
                                    gboolean             *done);
gboolean mtl_cuda_plan_box         (const MtlCudaJob     *job,
                                    const MtlCudaLayout  *layout,
                                    gboolean             *done);

G_END_DECLS
