/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-copy-set-private.h"

/* Shared by the kernels that go over blocks: where one is, the offsets of its units, and lines
 * that are assembled before they are streamed. */

/* A block of boxes or tiles. */
typedef struct
{
  const MtlCopyPlan *plan;
  MtlAxis blocks[MTL_AXES_MAX]; /* their number along each axis, and the distance between them */
  guint64 position[MTL_AXES_MAX]; /* in blocks */
  gint64 offsets[2];
  guint8 *dest;
  const guint8 *source;
} Place;

MTL_INLINE void
mtl_place_update (Place *self)
{
  self->dest = self->plan->dest + self->offsets[0];
  self->source = self->plan->source + self->offsets[1];
}

MTL_INLINE void
mtl_place_go_to (Place             *self,
                 const MtlCopyPlan *plan,
                 gsize              block)
{
  self->plan = plan;
  for (guint i = 0; i < plan->n_axes; i++)
    {
      const MtlAxis *axis = &plan->axes[i];
      gint64 part = plan->parts[i];

      self->blocks[i] = mtl_axis (plan->parts[i] < axis->extent
                                    ? (axis->extent - 1) / plan->parts[i] + 1 : 1,
                                  part * axis->dest_step, part * axis->source_step);
    }
  mtl_axes_go_to (self->blocks, plan->n_axes, block, self->position, self->offsets);
  mtl_place_update (self);
}

/* Goes n blocks further along the last axis, at most to its end. */
MTL_INLINE void
mtl_place_go_on (Place *self,
                 gsize  n)
{
  guint last = self->plan->n_axes - 1;

  self->position[last] += n - 1;
  for (guint i = 0; i < 2; i++)
    self->offsets[i] += (gint64) (n - 1) * self->blocks[last].steps[i];
  mtl_axes_go_on (self->blocks, last + 1, self->position, self->offsets);
  mtl_place_update (self);
}

/* The number of units left along an axis, from the first one of the block on. */
MTL_INLINE gsize
mtl_place_get_left (const Place *self,
                    guint        axis)
{
  return self->plan->axes[axis].extent - self->position[axis] * self->plan->parts[axis];
}

MTL_INLINE gsize
mtl_place_get_extent (const Place *self,
                      guint        axis)
{
  return MIN (mtl_place_get_left (self, axis), self->plan->parts[axis]);
}

/* The offsets of all units along n axes, the first of which is the innermost. */
MTL_INLINE void
mtl_fill_offsets (gint32       *offsets,
                  const gsize  *extents,
                  const gssize *steps,
                  guint         n)
{
  gsize done = n > 0 ? extents[0] : 1;

  offsets[0] = 0;
  for (gsize k = 1; k < done; k++)
    offsets[k] = (gint32) k * (gint32) steps[0];
  for (guint i = 1; i < n; i++)
    {
      gint32 *to = offsets + done;

      for (gsize k = 1; k < extents[i]; k++, to += done)
        {
          gint32 offset = (gint32) ((gssize) k * steps[i]);

          for (gsize j = 0; j < done; j++)
            to[j] = offsets[j] + offset;
        }
      done *= extents[i];
    }
}

/* Converts elements that are contiguous on both sides. */
MTL_INLINE void
mtl_convert_items (const MtlCopyPlan *plan,
                   guint8            *dest,
                   const guint8      *source,
                   gsize              n)
{
  plan->convert (dest, source, n, plan->item_size, plan->source_size, plan->convert_data);
}

/* The bytes from which the lines in a buffer are streamed. */
#define MTL_SINK_SIZE 8192

/* Collects bytes that are contiguous in the destination, and streams whole lines. The buffer
 * begins at a line of the destination. */
typedef struct
{
  guint8 *dest;
  gsize fill;
  gsize skipped; /* bytes of the first line that belong to others */
  guint8 buffer[MTL_SINK_SIZE + MTL_COPY_BOX_BYTES + 2 * MTL_LINE] MTL_ALIGNED;
} Sink;

MTL_INLINE void
mtl_sink_open (Sink   *self,
               guint8 *dest)
{
  self->skipped = self->fill = (guintptr) dest % MTL_LINE;
  self->dest = dest - self->fill;
}

/* Others may write to the bytes before the first one at the same time. */
MTL_INLINE void
mtl_sink_finish_first_line (Sink *self)
{
  gsize end = MIN (self->fill, MTL_LINE);

  memcpy (self->dest + self->skipped, self->buffer + self->skipped, end - self->skipped);
  self->skipped = 0;
}

/* The distance to prefetch ahead of a source that is read in order, in bytes. */
#define MTL_SINK_AHEAD 16384

/* Prefetches n_ahead bytes for each line, as groups of lines are streamed. */
#define MTL_SINK_GROUP (4 * MTL_LINE)

MTL_INLINE void
mtl_sink_drain (Sink         *self,
                const guint8 *ahead,
                gsize         n_ahead)
{
  gsize n = self->fill / MTL_LINE * MTL_LINE, done = 0;

  if (n == 0)
    return;

  if (self->skipped > 0)
    {
      mtl_sink_finish_first_line (self);
      done = MTL_LINE;
    }
  while (done < n)
    {
      gsize group = MIN (MTL_SINK_GROUP, n - done), group_ahead = group / MTL_LINE * n_ahead;

      mtl_prefetch (ahead, group_ahead);
      mtl_stream_lines (self->dest + done, self->buffer + done, group);
      ahead = (gpointer) ((guintptr) ahead + group_ahead);
      done += group;
    }
  memcpy (self->buffer, self->buffer + n, MTL_LINE);
  self->dest += n;
  self->fill -= n;
}

MTL_INLINE void
mtl_sink_close (Sink *self)
{
  mtl_sink_drain (self, NULL, 0);
  if (self->fill > self->skipped)
    memcpy (self->dest + self->skipped, self->buffer + self->skipped,
            self->fill - self->skipped);
}

/* Continues at another place, unless it is the next one. */
MTL_INLINE void
mtl_sink_go_to (Sink   *self,
                guint8 *dest)
{
  if (self->dest + self->fill == dest)
    return;

  mtl_sink_close (self);
  mtl_sink_open (self, dest);
}

/* After n bytes were written to the buffer. */
MTL_INLINE void
mtl_sink_take (Sink         *self,
               gsize         n,
               const guint8 *ahead,
               gsize         n_ahead)
{
  self->fill += n;
  if (self->fill >= MTL_SINK_SIZE)
    mtl_sink_drain (self, ahead, n_ahead);
}
