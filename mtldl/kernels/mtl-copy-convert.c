/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-copy-box-private.h"

/* Elements that are converted: gives rows of them to a function, or pieces of rows if
 * that reads or writes less memory. Costs a call for each piece. */

/* Streamed data are converted within the L1 cache, in pieces of this many bytes on the larger
 * side. While groups of their lines are streamed, what follows in the source is prefetched, since a
 * conversion would wait for it. */
#define PIECE 1024

/* The largest step in bytes of a source of which every line is prefetched. */
#define MAX_STEP_AHEAD 64

/* Rows with gaps of fewer bytes have too many lines that are streamed in part. */
#define LEAST_STREAMED 16384

/* What is repeated along rows is converted once. */
#define REPEATED 256

void MTL_KERNEL (broadcast) (const MtlCopyJob *job);

static void
convert_broadcast (const MtlCopyJob *job)
{
  const MtlAxis *rows = &job->axes[0];
  guint8 converted[REPEATED * 16];
  gsize size = job->item_size;

  for (gsize i = 0; i < rows->extent; i += REPEATED)
    {
      gsize n = MIN (rows->extent - i, REPEATED);
      const MtlAxis axes[] = { mtl_axis (n, rows->dest_step, size), job->axes[1] };
      MtlCopyJob part = *job;

      job->convert (converted, job->source + (gssize) i * rows->source_step, n, size,
                    rows->source_step, job->convert_data);
      part.dest = job->dest + (gssize) i * rows->dest_step;
      part.source = converted;
      part.axes = axes;
      MTL_KERNEL (broadcast) (&part);
    }
}

static gboolean
is_broadcast (const MtlCopyJob *job)
{
  const MtlAxis *items = &job->axes[1];

  return items->source_step == 0 && items->dest_step == (gssize) job->item_size
         && items->extent >= MTL_COPY_LEAST_REPEATED && job->item_size <= 16;
}

/* Rows of fewer elements than these are converted column by column, in parts that stay within
 * the L1 cache. */
#define SHORT_ROW 8
#define COLUMN 128

static void
convert_columns (const MtlCopyJob *job)
{
  const MtlAxis *rows = &job->axes[0], *items = &job->axes[1];

  for (gsize i = 0; i < rows->extent; i += COLUMN)
    for (gsize k = 0; k < items->extent; k++)
      job->convert (job->dest + (gssize) i * rows->dest_step + (gssize) k * items->dest_step,
                    job->source + (gssize) i * rows->source_step
                      + (gssize) k * items->source_step,
                    MIN (rows->extent - i, COLUMN), rows->dest_step, rows->source_step,
                    job->convert_data);
}

#if MTL_COPY_WIDTH > 0

/* What is this far ahead in rows: in the same one if it is long, or in a later one. */
static gssize
choose_ahead (const MtlAxis *rows,
              const MtlAxis *items)
{
  gsize row_size = items->extent * (gsize) ABS (items->source_step), n_ahead;

  if (rows->extent == 1 || row_size >= 2 * MTL_SINK_AHEAD)
    return items->source_step < 0 ? -MTL_SINK_AHEAD : MTL_SINK_AHEAD;

  n_ahead = MIN (MTL_SINK_AHEAD / MAX (row_size, 1), rows->extent / 4) + 1;
  return (gssize) n_ahead * rows->source_step;
}

/* Rows that are one after the other in the destination. */
static void
stream_rows (const MtlCopyJob *job)
{
  const MtlAxis rows = job->axes[0], items = job->axes[1];
  gsize size = job->item_size, step = ABS (items.source_step);
  gsize group = MTL_SINK_GROUP / size;
  gsize piece = MAX (PIECE / MAX (size, MIN (step, MTL_LINE)) / group, 1) * group;
  gsize line_ahead = step <= MAX_STEP_AHEAD ? MTL_LINE / size * step : 0;
  gssize ahead = choose_ahead (&rows, &items);
  Sink sink;

  mtl_sink_open (&sink, job->dest);
  for (gsize i = 0; i < rows.extent; i++)
    for (gsize k = 0; k < items.extent; k += piece)
      {
        const guint8 *source = job->source + (gssize) i * rows.source_step
                               + (gssize) k * items.source_step;
        gsize n = MIN (piece, items.extent - k);

        job->convert (sink.buffer + sink.fill, source, n, size, items.source_step,
                      job->convert_data);
        sink.fill += n * size;
        if (sink.fill >= MTL_SINK_GROUP)
          mtl_sink_drain_prefetching (&sink, (gpointer) ((guintptr) source + (gsize) ahead),
                                      line_ahead);
      }
  mtl_sink_close (&sink);
}

static void
stream_row (const MtlCopyJob *job,
            gsize             i)
{
  const MtlAxis axes[] = { mtl_axis (1, 0, 0), job->axes[1] };
  MtlCopyJob row = *job;

  row.dest += (gssize) i * job->axes[0].dest_step;
  row.source += (gssize) i * job->axes[0].source_step;
  row.axes = axes;
  stream_rows (&row);
}

/* Returns whether they were worth it. */
static gboolean
try_streaming (const MtlCopyJob *job)
{
  const MtlAxis *rows = &job->axes[0], *items = &job->axes[1];
  gsize row_size = items->extent * job->item_size;

  if (!job->streams || items->dest_step != (gssize) job->item_size)
    return FALSE;
  if (rows->extent == 1 || rows->dest_step == (gssize) row_size)
    {
      stream_rows (job);
      return TRUE;
    }
  if (row_size < LEAST_STREAMED)
    return FALSE;

  for (gsize i = 0; i < rows->extent; i++)
    stream_row (job, i);
  return TRUE;
}

#else

#define try_streaming(job) FALSE

#endif

static void
convert_rows (const MtlCopyJob *job)
{
  const MtlAxis *rows = &job->axes[0], *items = &job->axes[1];

  if (try_streaming (job))
    return;

  for (gsize i = 0; i < rows->extent; i++)
    job->convert (job->dest + (gssize) i * rows->dest_step,
                  job->source + (gssize) i * rows->source_step, items->extent,
                  items->dest_step, items->source_step, job->convert_data);
}

void MTL_KERNEL (convert) (const MtlCopyJob *job);

void
MTL_KERNEL (convert) (const MtlCopyJob *job)
{
  if (is_broadcast (job))
    convert_broadcast (job);
  else if (job->converts_scattered && job->axes[1].extent < SHORT_ROW
           && job->axes[0].extent > job->axes[1].extent)
    convert_columns (job);
  else
    convert_rows (job);
}
