/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-copy-kernels-private.h"
#include "mtl-layout-private.h"

G_BEGIN_DECLS

/* A plan to move the elements of one strided layout to another of the same shape. It is a plain
 * value without objects, allocations or locks, and can be on the stack.
 *
 *   mtl_copy_plan_init (&plan, &request);
 *   mtl_copy_plan_run (&plan, 0, mtl_copy_plan_get_n_slices (&plan));
 *
 * The work is divided into slices, which write different bytes. They can run in any
 * order and in several threads, unless in_order is set: then they must run in the
 * order of their numbers. Only mtl_copy_plan_init() writes to the plan. Other threads
 * can see the results of a run as soon as it returns, if they are synchronized with
 * its thread.
 *
 * A slice has about mtl_copy_slice_size bytes, well below a millisecond of work if
 * the memory is present, but at least one element of the destination. Running several
 * adjacent slices at once is faster than one by one. All slices together write each
 * element of the destination once. If only some of them are run, the rest is not
 * changed. */

typedef struct
{
  gsize n_dims; /* at most MTL_LAYOUT_MAX_AXES */
  const gint64 *shape;

  guint8 *dest; /* the element with all indices 0; any alignment */
  const gint64 *dest_strides; /* in elements */
  gsize dest_size; /* an element in bytes, at least 1 */

  const guint8 *source;
  const gint64 *source_strides; /* NULL: one element for all, a fill */
  gsize source_size;

  /* Converts rows of elements. If NULL, bytes are copied, and both sizes are equal. */
  MtlCopyConvert convert;
  gconstpointer convert_data;
  gboolean converts_scattered; /* elements with any step on both sides, in one pass */
  gboolean converts_cheaply;   /* those of the source as fast as they are loaded */
  gboolean converts_at_once;   /* rows without a copy between two steps */
} MtlCopyRequest;

/* Writes bypass the caches if there are at least this many bytes in and out; 0 lets the
 * machine decide, as for the cache, beyond which bytes come from memory. Only tests change
 * these. */
extern gsize mtl_copy_streaming_threshold;
extern gsize mtl_copy_slice_size;

/* The name of the way that is taken wherever its condition holds, or NULL. Only tests set it. */
extern const char *mtl_copy_forced_way;

/* Source and destination share no byte. The source may repeat its own elements. If
 * the destination repeats its own, the last one in C order remains. */
void  mtl_copy_plan_init         (MtlCopyPlan          *self,
                                  const MtlCopyRequest *request);

/* 0 if there are no elements. */
gsize mtl_copy_plan_get_n_slices (const MtlCopyPlan    *self);

/* The rough time of one thread within the caches, in nanoseconds. */
gsize mtl_copy_plan_get_duration (const MtlCopyPlan    *self);

/* Runs the slices begin, …, end - 1. */
void  mtl_copy_plan_run          (const MtlCopyPlan    *self,
                                  gsize                 begin,
                                  gsize                 end);

/* The name of a way, and a whole plan in words. */
const char *mtl_copy_way_get_name  (MtlCopyWay         way);
char       *mtl_copy_plan_describe (const MtlCopyPlan *self);

static inline void
mtl_copy_run (const MtlCopyRequest *request)
{
  MtlCopyPlan plan;

  mtl_copy_plan_init (&plan, request);
  mtl_copy_plan_run (&plan, 0, mtl_copy_plan_get_n_slices (&plan));
}

G_END_DECLS
