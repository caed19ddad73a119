/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-version-macros.h"

G_BEGIN_DECLS

/**
 * MtlSliceKind: (skip)
 * @MTL_SLICE_INDEX: one index, `start`; drops its axis
 * @MTL_SLICE_RANGE: `start`, `stop` and `step` as in Python; keeps its axis
 * @MTL_SLICE_ELLIPSIS: all the axes that the other parts leave
 * @MTL_SLICE_NEW_AXIS: a new axis of extent 1
 *
 * What one part of an index does.
 *
 * Since: 1.0
 */
typedef enum /*< skip >*/
{
  MTL_SLICE_INDEX,
  MTL_SLICE_RANGE,
  MTL_SLICE_ELLIPSIS,
  MTL_SLICE_NEW_AXIS,
} MtlSliceKind;

/**
 * MtlSlice: (skip)
 * @kind: what this part does
 * @start: the index, or where a range starts
 * @stop: where a range ends, exclusive
 * @step: the step of a range, not 0
 * @has_start: whether @start is given
 * @has_stop: whether @stop is given
 *
 * One part of an index, for C. Negative values count from the end; ranges are
 * clamped as Python does, an index is not.
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

G_END_DECLS
