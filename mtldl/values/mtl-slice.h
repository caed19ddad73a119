/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-version-macros.h"

G_BEGIN_DECLS

/**
 * MtlSliceKind: (skip)
 * @MTL_SLICE_KIND_INDEX: one index, `start`; drops the axis
 * @MTL_SLICE_KIND_RANGE: `start`, `stop` and `step` as in Python; keeps the axis
 * @MTL_SLICE_KIND_ELLIPSIS: all axes that the other parts do not use
 * @MTL_SLICE_KIND_NEW_AXIS: a new axis of extent 1
 *
 * The kinds of parts of an index.
 *
 * Since: 1.0
 */
typedef enum /*< skip >*/
{
  MTL_SLICE_KIND_INDEX,
  MTL_SLICE_KIND_RANGE,
  MTL_SLICE_KIND_ELLIPSIS,
  MTL_SLICE_KIND_NEW_AXIS,
} MtlSliceKind;

/**
 * MtlSlice: (skip)
 * @kind: the kind of this part
 * @start: the index, or the start of a range
 * @stop: the end of a range, exclusive
 * @step: the step of a range, not 0
 * @has_start: whether @start is set
 * @has_stop: whether @stop is set
 *
 * One part of an index, for C. Negative values count from the end. Ranges are
 * clamped as in Python; an index is not.
 *
 * Besides the macros with arguments there are `MTL_SLICE_ALL` for a whole axis,
 * `MTL_SLICE_ELLIPSIS` for all axes that the other parts do not use, and
 * `MTL_SLICE_NEW_AXIS`. For `view[..., 1:3, 0]`:
 *
 * ```c
 * const MtlSlice slices[] = { MTL_SLICE_ELLIPSIS, MTL_SLICE_RANGE (1, 3), MTL_SLICE_AT (0) };
 * g_autoptr (MtlStridedView) part =
 *   mtl_strided_view_slice (view, slices, G_N_ELEMENTS (slices), error);
 * ```
 *
 * Since: 1.0
 */
typedef struct
{
  MtlSliceKind kind;
  gint64 start;
  gint64 stop;
  gint64 step;
  gboolean has_start;
  gboolean has_stop;
} MtlSlice;

#define MTL_SLICE_ALL ((MtlSlice) { .kind = MTL_SLICE_KIND_RANGE, .step = 1 })
#define MTL_SLICE_ELLIPSIS ((MtlSlice) { .kind = MTL_SLICE_KIND_ELLIPSIS })
#define MTL_SLICE_NEW_AXIS ((MtlSlice) { .kind = MTL_SLICE_KIND_NEW_AXIS })

/**
 * MTL_SLICE_AT:
 * @index_: an index
 *
 * The part of an index that selects one index and removes the axis, like
 * `index`.
 *
 * Since: 1.0
 */
#define MTL_SLICE_AT(index_) ((MtlSlice) { .kind = MTL_SLICE_KIND_INDEX, .start = (index_) })

/**
 * MTL_SLICE_FROM:
 * @start_: the first index
 *
 * The part of an index that keeps an axis from an index on, like `start:`.
 *
 * Since: 1.0
 */
#define MTL_SLICE_FROM(start_) \
  ((MtlSlice) { .kind = MTL_SLICE_KIND_RANGE, .start = (start_), .step = 1, .has_start = TRUE })

/**
 * MTL_SLICE_RANGE:
 * @start_: the first index
 * @stop_: the index to stop before
 *
 * The part of an index that keeps a range of an axis, like `start:stop`.
 *
 * Since: 1.0
 */
#define MTL_SLICE_RANGE(start_, stop_) MTL_SLICE_STEP (start_, stop_, 1)

/**
 * MTL_SLICE_STEP:
 * @start_: the first index
 * @stop_: the index to stop before
 * @step_: the step, not 0
 *
 * The part of an index that keeps some indices of a range, like
 * `start:stop:step`.
 *
 * Since: 1.0
 */
#define MTL_SLICE_STEP(start_, stop_, step_) \
  ((MtlSlice) { \
    .kind = MTL_SLICE_KIND_RANGE, \
    .start = (start_), \
    .stop = (stop_), \
    .step = (step_), \
    .has_start = TRUE, \
    .has_stop = TRUE, \
  })

/**
 * MTL_SLICE_EVERY:
 * @step_: the step, not 0
 *
 * The part of an index that keeps some indices of a whole axis, like `::step`.
 * A step of -1 reverses the axis.
 *
 * Since: 1.0
 */
#define MTL_SLICE_EVERY(step_) ((MtlSlice) { .kind = MTL_SLICE_KIND_RANGE, .step = (step_) })

G_END_DECLS
