/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-version-macros.h"

G_BEGIN_DECLS

/**
 * MtlSliceKind: (skip)
 * @MTL_SLICE_INDEX: one index, `start`; drops the axis
 * @MTL_SLICE_RANGE: `start`, `stop` and `step` as in Python; keeps the axis
 * @MTL_SLICE_ELLIPSIS: all axes that the other parts do not use
 * @MTL_SLICE_NEW_AXIS: a new axis of extent 1
 *
 * The kinds of parts of an index.
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
