/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-copy-set-private.h"

/* Elements that are converted: gives rows of them to a function, or pieces of rows if
 * that reads or writes less memory. Costs a call for each piece. */

/* Along one axis in the destination and another in the source: blocks of lines on
 * both sides. */
#define BLOCK 64

/* Streamed data are converted within the L1 cache, in pieces of this many bytes on
 * the larger side, but in whole groups of lines. While one group is streamed, the
 * following lines are prefetched, since a conversion would wait for them. */
#define PIECE 1024
#define AHEAD 16384
#define GROUP (4 * MTL_LINE)

/* The largest step in bytes of a source that is read in order, or nearly so. */
#define MAX_STEP_AHEAD 16

static void
stream_converted (const MtlCopyJob *job,
                  guint8           *dest,
                  const guint8     *source,
                  gsize             n,
                  gssize            source_step)
{
  guint8 buffer[PIECE] MTL_ALIGNED;
  gsize size = job->item_size;
  gsize step_ahead = ABS (source_step) <= MAX_STEP_AHEAD ? ABS (source_step) : 0;
  gsize head = MIN (mtl_bytes_to_line (dest) / size, n);
  gsize group = GROUP / size;
  gsize piece = MAX (PIECE / MAX (size, step_ahead) / group, 1) * group;

  job->convert (dest, source, head, size, source_step, job->convert_data);
  for (gsize i = head; i < n; i += piece)
    {
      gsize n_bytes = MIN (piece, n - i) * size;
      const guint8 *from = source + (gssize) i * source_step;

      job->convert (buffer, from, n_bytes / size, size, source_step, job->convert_data);
      for (gsize k = 0; k < n_bytes; k += GROUP)
        {
          gssize ahead = (gssize) (k / size) * source_step;

          ahead += source_step < 0 ? -AHEAD : AHEAD;
          mtl_prefetch ((gpointer) ((guintptr) from + ahead), GROUP / size * step_ahead);
          mtl_stream_row (dest + i * size + k, buffer + k, MIN (GROUP, n_bytes - k));
        }
    }
}

static void
convert_rows (const MtlCopyJob *job)
{
  const MtlCopyAxis *rows = &job->axes[0], *items = &job->axes[1];
  gboolean streams = job->streams && items->dest_step == (gssize) job->item_size
                     && items->extent * job->item_size >= 512;

  for (gsize i = 0; i < rows->extent; i++)
    {
      guint8 *dest = job->dest + (gssize) i * rows->dest_step;
      const guint8 *source = job->source + (gssize) i * rows->source_step;

      if (streams && (guintptr) dest % job->item_size == 0)
        stream_converted (job, dest, source, items->extent, items->source_step);
      else
        job->convert (dest, source, items->extent, items->dest_step, items->source_step,
                      job->convert_data);
    }
}

static void
convert_blocks (const MtlCopyJob *job)
{
  const MtlCopyAxis *rows = &job->axes[0], *items = &job->axes[1];

  for (gsize j = 0; j < items->extent; j += BLOCK)
    for (gsize i = 0; i < rows->extent; i += BLOCK)
      for (gsize k = i; k < MIN (rows->extent, i + BLOCK); k++)
        job->convert (job->dest + (gssize) k * rows->dest_step + (gssize) j * items->dest_step,
                      job->source + (gssize) k * rows->source_step
                        + (gssize) j * items->source_step,
                      MIN (items->extent - j, BLOCK), items->dest_step, items->source_step,
                      job->convert_data);
}

void MTL_KERNEL (convert) (const MtlCopyJob *job);

void
MTL_KERNEL (convert) (const MtlCopyJob *job)
{
  if (job->axes[0].extent > 1
      && ABS (job->axes[0].source_step) < ABS (job->axes[1].source_step))
    convert_blocks (job);
  else
    convert_rows (job);
}
