/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-copy-set-private.h"

/* Shared by the kernels that go by boxes: where a box is, the offsets of its units, and
 * lines that are assembled before they are streamed. */

typedef struct
{
  const MtlCopyPlan *plan;
  gsize index[MTL_COPY_MAX_DIMS + 1]; /* of the first unit of the box */
  guint8 *dest;
  const guint8 *source;
} Place;

MTL_INLINE void
mtl_place_go_to (Place             *self,
                 const MtlCopyPlan *plan,
                 gsize              box)
{
  self->plan = plan;
  self->dest = plan->job.dest;
  self->source = plan->job.source;
  for (guint i = 0; i < plan->n_axes; i++)
    {
      const MtlAxis *axis = &plan->axes[i];
      gsize n_boxes, index;

      self->index[i] = 0;
      if (box == 0)
        continue;

      n_boxes = (axis->extent - 1) / plan->part[i] + 1;
      index = box % n_boxes * plan->part[i];
      box /= n_boxes;
      self->index[i] = index;
      self->dest += (gssize) index * axis->dest_step;
      self->source += (gssize) index * axis->source_step;
    }
}

/* Goes n boxes further along the first axis, at most to its end. */
MTL_INLINE void
mtl_place_go_on (Place *self,
                 gsize  n)
{
  const MtlCopyPlan *plan = self->plan;

  for (guint i = 0; i < plan->n_axes; i++, n = 1)
    {
      const MtlAxis *axis = &plan->axes[i];
      gsize n_units = n * plan->part[i];

      if (plan->part[i] == axis->extent)
        continue;

      self->index[i] += n_units;
      self->dest += (gssize) n_units * axis->dest_step;
      self->source += (gssize) n_units * axis->source_step;
      if (self->index[i] < axis->extent)
        return;

      self->dest -= (gssize) self->index[i] * axis->dest_step;
      self->source -= (gssize) self->index[i] * axis->source_step;
      self->index[i] = 0;
    }
}

MTL_INLINE gsize
mtl_place_get_extent (const Place *self,
                      guint        axis)
{
  return MIN (self->plan->axes[axis].extent - self->index[axis], self->plan->part[axis]);
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

/* Of elements that are contiguous on both sides. */
MTL_INLINE void
mtl_convert_items (const MtlCopyJob *job,
                   guint8           *dest,
                   const guint8     *source,
                   gsize             n)
{
  job->convert (dest, source, n, job->item_size, job->source_size, job->convert_data);
}

/* What is streamed is assembled in lines, up to this many bytes. */
#define MTL_SINK_SIZE 8192

/* Collects what is contiguous in the destination, and streams whole lines. The buffer
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

/* How far ahead to prefetch a source that is read in order, in bytes. */
#define MTL_SINK_AHEAD 16384

/* Prefetches n_ahead bytes for each line, as groups of lines are streamed. */
#define MTL_SINK_GROUP (4 * MTL_LINE)

MTL_INLINE void
mtl_sink_drain_prefetching (Sink         *self,
                            const guint8 *ahead,
                            gsize         n_ahead)
{
  gsize n = self->fill / MTL_LINE * MTL_LINE, done = 0;

  if (self->skipped > 0 && n > 0)
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
mtl_sink_drain (Sink *self)
{
  mtl_sink_drain_prefetching (self, NULL, 0);
}

/* After n bytes were written to the buffer. */
MTL_INLINE void
mtl_sink_take_prefetching (Sink         *self,
                           gsize         n,
                           const guint8 *ahead,
                           gsize         n_ahead)
{
  self->fill += n;
  if (self->fill >= MTL_SINK_SIZE)
    mtl_sink_drain_prefetching (self, ahead, n_ahead);
}

MTL_INLINE void
mtl_sink_take (Sink  *self,
               gsize  n)
{
  mtl_sink_take_prefetching (self, n, NULL, 0);
}

MTL_INLINE void
mtl_sink_close (Sink *self)
{
  mtl_sink_drain (self);
  if (self->fill > self->skipped)
    memcpy (self->dest + self->skipped, self->buffer + self->skipped,
            self->fill - self->skipped);
}
