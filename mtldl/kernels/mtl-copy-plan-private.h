/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-copy-kernels-private.h"
#include "mtl-layout-private.h"

G_BEGIN_DECLS

/* How to move the elements of one strided layout to another of the same shape,
 * as plain values: no objects, no allocation, no locks. Lives on the stack.
 *
 *   mtl_copy_plan_init (&plan, &request);
 *   mtl_copy_plan_run (&plan, 0, mtl_copy_plan_get_n_slices (&plan));
 *
 * The work is cut into slices, which write different bytes and may be run in any
 * order, one after the other or by several threads at once; in that of their
 * numbers where in_order is set. Init is the only function that writes to the
 * plan. What one thread ran is to be seen by others as soon as run returns, given
 * what orders the threads otherwise.
 *
 * A slice is about mtl_copy_slice_size bytes, so well below a millisecond of
 * work where the memory is there, but never less than one element of the
 * destination. Several slices beside each other cost less in one run than one by
 * one. All slices together write each element of the destination once; where
 * only some were run, the rest is as it was. */

/* An axis of a layout of up to 64, and one for the lanes of its elements. */
#define MTL_COPY_MAX_DIMS (MTL_LAYOUT_MAX_DIMS + 1)

typedef struct
{
  gsize n_dims; /* up to MTL_COPY_MAX_DIMS */
  const gint64 *shape;

  guint8 *dest; /* the element at all zeros; any alignment */
  const gint64 *dest_strides; /* in elements */
  gsize dest_size; /* of an element, in bytes: at least 1 */

  const guint8 *source;
  const gint64 *source_strides; /* NULL: one element for all, a fill */
  gsize source_size;

  /* For rows of elements, or NULL for bytes as they are, of one size. */
  MtlCopyConvert convert;
  gconstpointer convert_data;
} MtlCopyRequest;

typedef struct
{
  MtlCopyAxis axes[MTL_COPY_MAX_DIMS + 1]; /* outer ones first, then those of the job */
  guint n_outer;
  guint n_inner;
  MtlCopyJob job; /* the first one */
  MtlCopyKernel kernel;
  void (* fence) (void); /* NULL where nothing is streamed */

  gboolean in_order;
  gboolean goes_by_rows; /* the kernel */
  gsize n_bytes;
  gsize n_jobs;         /* the product of the outer extents */
  gsize jobs_per_slice; /* 1 where a job is of several pieces */
  gsize n_pieces;       /* of one job */
  guint split_axis;     /* of the job, which is cut into the pieces */
  gsize piece;          /* its extent in one piece */
  gsize lead;           /* by how much the first piece is smaller */
} MtlCopyPlan;

/* From so many bytes on, what is written goes around the caches; 0 leaves that to
 * the machine. Only tests change these. */
extern gsize mtl_copy_streaming_threshold;
extern gsize mtl_copy_slice_size;

/* Source and destination share no byte, except that the source may repeat its
 * own elements. Where the destination repeats its own, the last one in C order
 * stays. */
void  mtl_copy_plan_init         (MtlCopyPlan          *self,
                                  const MtlCopyRequest *request);

/* 0 where there is no element. */
gsize mtl_copy_plan_get_n_slices (const MtlCopyPlan    *self);

/* Of the destination's elements. */
gsize mtl_copy_plan_get_n_bytes  (const MtlCopyPlan    *self);

/* Runs slices begin, …, end - 1. */
void  mtl_copy_plan_run          (const MtlCopyPlan    *self,
                                  gsize                 begin,
                                  gsize                 end);

static inline void
mtl_copy_run (const MtlCopyRequest *request)
{
  MtlCopyPlan plan;

  mtl_copy_plan_init (&plan, request);
  mtl_copy_plan_run (&plan, 0, mtl_copy_plan_get_n_slices (&plan));
}

G_END_DECLS
