/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

#include "mtl-layout-private.h"

G_BEGIN_DECLS

/* The axes that one or two operands have in common, such as a destination and a source. Steps
 * are in bytes or in bits, as users need them; those of a missing operand are 0. The last axis
 * is the innermost. */
typedef struct
{
  guint64 extent;
  union
  {
    gint64 steps[2];
    struct
    {
      gint64 dest_step;
      gint64 source_step;
    };
  };
} MtlAxis;

/* The axes of a layout, one for the parts of an element, and two for kernels that need as
 * many. */
#define MTL_AXES_MAX (MTL_LAYOUT_MAX_AXES + 3)

/* A block of elements: a part of each axis. */
typedef struct
{
  MtlAxis axes[MTL_AXES_MAX];
  guint n_axes;
  guint64 n; /* elements */
  gint64 offsets[2]; /* where the first element is, from that of all blocks */
} MtlAxesBlock;

static inline MtlAxis
mtl_axis (guint64 extent,
          gint64  dest_step,
          gint64  source_step)
{
  return (MtlAxis) { extent, { { dest_step, source_step } } };
}

/* The distance of the last element of an axis from the first. */
static inline gint64
mtl_axis_get_reach (const MtlAxis *self,
                    guint          operand)
{
  return (gint64) (self->extent - 1) * self->steps[operand];
}

/* Inline, so that offsets are in registers: loading together what was just stored one by one is
 * slow. */

/* Goes to the element with this number, in C order. */
static inline void
mtl_axes_go_to (const MtlAxis *axes,
                guint          n_axes,
                guint64        index,
                guint64       *position,
                gint64        *offsets)
{
  offsets[0] = offsets[1] = 0;
  for (guint i = n_axes; i-- > 0;)
    {
      position[i] = index > 0 ? index % axes[i].extent : 0;
      index = index > 0 ? index / axes[i].extent : 0;
      offsets[0] += (gint64) position[i] * axes[i].steps[0];
      offsets[1] += (gint64) position[i] * axes[i].steps[1];
    }
}

/* Goes on to the next element, like an odometer. Returns FALSE after the last one, and is at the
 * first one again. */
static inline gboolean
mtl_axes_go_on (const MtlAxis *axes,
                guint          n_axes,
                guint64       *position,
                gint64        *offsets)
{
  for (guint i = n_axes; i-- > 0;)
    {
      const MtlAxis *axis = &axes[i];

      if (++position[i] < axis->extent)
        {
          offsets[0] += axis->steps[0];
          offsets[1] += axis->steps[1];
          return TRUE;
        }

      position[i] = 0;
      offsets[0] -= mtl_axis_get_reach (axis, 0);
      offsets[1] -= mtl_axis_get_reach (axis, 1);
    }

  return FALSE;
}

/* Sorts by the steps of an operand, largest first. */
void     mtl_axes_sort         (MtlAxis       *axes,
                                guint          n_axes,
                                guint          operand);

/* Moves an axis to another position. */
void     mtl_axes_move         (MtlAxis       *axes,
                                guint          from,
                                guint          to);

/* Makes the steps of the first operand positive. Adds to the offsets where the first element is
 * then. */
void     mtl_axes_flip         (MtlAxis       *axes,
                                guint          n_axes,
                                gint64        *offsets);

/* Merges neighbors that are one axis for both operands. Returns how many axes remain. */
guint    mtl_axes_merge        (MtlAxis       *axes,
                                guint          n_axes);

/* The axis along which an operand moves least, the innermost of several, or -1 if it does not
 * move. */
int      mtl_axes_find_nearest (const MtlAxis *axes,
                                guint          n_axes,
                                guint          operand);

/* Checks if sorted axes prove that elements of this size do not overlap in the first operand. */
gboolean mtl_axes_are_nested   (const MtlAxis *axes,
                                guint          n_axes,
                                guint64        size);

/* Divides the axes into even parts, which have up to `most` elements together. Only the last axis
 * has parts of more than one if they have to be rows. Returns how many blocks there are. */
guint64  mtl_axes_divide       (const MtlAxis *axes,
                                guint          n_axes,
                                guint64        most,
                                gboolean       of_rows,
                                guint64       *parts);

guint64  mtl_axes_count_blocks (const MtlAxis *axes,
                                guint          n_axes,
                                const guint64 *parts);

/* The block with this number. The last parts of an axis may be smaller. */
void     mtl_axes_get_block    (const MtlAxis *axes,
                                guint          n_axes,
                                const guint64 *parts,
                                guint64        index,
                                MtlAxesBlock  *block);

G_END_DECLS
