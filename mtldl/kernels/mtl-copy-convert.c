/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-copy-set-private.h"

/* Elements that are converted: gives rows of them to a function, or pieces of rows if
 * that reads or writes less memory. Costs a call for each piece. */

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

/* Rows of fewer bytes have too many lines that are streamed in part. */
#define LEAST_STREAMED 16384

/* What is repeated along rows is converted once. */
#define REPEATED 256

void MTL_KERNEL (broadcast) (const MtlCopyJob *job);

static void
convert_broadcast (const MtlCopyJob *job)
{
  const MtlCopyAxis *rows = &job->axes[0];
  guint8 converted[REPEATED * 16];
  gsize size = job->item_size;

  for (gsize i = 0; i < rows->extent; i += REPEATED)
    {
      gsize n = MIN (rows->extent - i, REPEATED);
      const MtlCopyAxis axes[] = { { n, rows->dest_step, size }, job->axes[1] };
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
  const MtlCopyAxis *items = &job->axes[1];

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
  const MtlCopyAxis *rows = &job->axes[0], *items = &job->axes[1];

  for (gsize i = 0; i < rows->extent; i += COLUMN)
    for (gsize k = 0; k < items->extent; k++)
      job->convert (job->dest + (gssize) i * rows->dest_step + (gssize) k * items->dest_step,
                    job->source + (gssize) i * rows->source_step
                      + (gssize) k * items->source_step,
                    MIN (rows->extent - i, COLUMN), rows->dest_step, rows->source_step,
                    job->convert_data);
}

static void
convert_rows (const MtlCopyJob *job)
{
  const MtlCopyAxis *rows = &job->axes[0], *items = &job->axes[1];
  gboolean streams = job->streams && items->dest_step == (gssize) job->item_size
                     && items->extent * job->item_size >= LEAST_STREAMED;

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

#if MTL_COPY_WIDTH > 0

/* Pixels of two to four channels of 1, 2, 4 or 8 bytes, interleaved on one side and in
 * planes on the other. The other kernels interleave them within the L1 cache. */
#define PIXELS 512

void MTL_KERNEL (interleave) (const MtlCopyJob *job);
void MTL_KERNEL (deinterleave) (const MtlCopyJob *job);

static gboolean
is_power_up_to_8 (gsize size)
{
  return size <= 8 && (size & (size - 1)) == 0;
}

static gboolean
is_for_interleave (const MtlCopyJob *job)
{
  const MtlCopyAxis *pixels = &job->axes[0], *channels = &job->axes[1];

  return is_power_up_to_8 (job->item_size) && channels->extent >= 2 && channels->extent <= 4
         && channels->dest_step == (gssize) job->item_size
         && pixels->dest_step == (gssize) (channels->extent * job->item_size)
         && pixels->source_step == (gssize) job->source_size;
}

static gboolean
is_for_deinterleave (const MtlCopyJob *job)
{
  const MtlCopyAxis *channels = &job->axes[0], *pixels = &job->axes[1];
  gssize size = job->source_size, n = pixels->source_step / size;

  return is_power_up_to_8 (size) && n >= 2 && n <= 4 && pixels->source_step == n * size
         && channels->extent >= 2 && channels->extent <= (gsize) n
         && channels->source_step == size && pixels->dest_step == (gssize) job->item_size;
}

static void
convert_interleave (const MtlCopyJob *job)
{
  const MtlCopyAxis *pixels = &job->axes[0], *channels = &job->axes[1];
  guint8 planes[4 * PIXELS * 8] MTL_ALIGNED;
  gsize size = job->item_size, plane = PIXELS * size;

  for (gsize i = 0; i < pixels->extent; i += PIXELS)
    {
      gsize n = MIN (pixels->extent - i, PIXELS);
      const MtlCopyAxis axes[] = { { n, pixels->dest_step, size },
                                   { channels->extent, size, plane } };
      MtlCopyJob part = *job;

      for (gsize c = 0; c < channels->extent; c++)
        job->convert (planes + c * plane,
                      job->source + (gssize) i * pixels->source_step
                        + (gssize) c * channels->source_step,
                      n, size, pixels->source_step, job->convert_data);
      part.dest = job->dest + (gssize) i * pixels->dest_step;
      part.source = planes;
      part.axes = axes;
      MTL_KERNEL (interleave) (&part);
    }
}

static void
convert_plane (const MtlCopyJob *job,
               guint8           *dest,
               const guint8     *source,
               gsize             n)
{
  guint8 row[PIXELS * 16] MTL_ALIGNED;
  gsize size = job->item_size;
  gboolean streams = job->streams && size <= 16;

  job->convert (streams ? row : dest, source, n, size, job->source_size, job->convert_data);
  if (streams)
    mtl_stream_row (dest, row, n * size);
}

static void
convert_deinterleave (const MtlCopyJob *job)
{
  const MtlCopyAxis *channels = &job->axes[0], *pixels = &job->axes[1];
  guint8 planes[4 * PIXELS * 8] MTL_ALIGNED;
  gsize size = job->source_size, plane = PIXELS * size;

  for (gsize i = 0; i < pixels->extent; i += PIXELS)
    {
      gsize n = MIN (pixels->extent - i, PIXELS);
      const MtlCopyAxis axes[] = { { channels->extent, plane, size },
                                   { n, size, pixels->source_step } };
      MtlCopyJob part = *job;

      part.dest = planes;
      part.source = job->source + (gssize) i * pixels->source_step;
      part.axes = axes;
      part.item_size = size;
      part.streams = FALSE;
      MTL_KERNEL (deinterleave) (&part);
      for (gsize c = 0; c < channels->extent; c++)
        convert_plane (job,
                       job->dest + (gssize) c * channels->dest_step
                         + (gssize) i * pixels->dest_step,
                       planes + c * plane, n);
    }
}

/* Returns whether that is what they are. */
static gboolean
convert_pixels (const MtlCopyJob *job)
{
  if (is_for_interleave (job))
    convert_interleave (job);
  else if (is_for_deinterleave (job))
    convert_deinterleave (job);
  else
    return FALSE;

  return TRUE;
}

#else

#define convert_pixels(job) FALSE

#endif

void MTL_KERNEL (convert) (const MtlCopyJob *job);

void
MTL_KERNEL (convert) (const MtlCopyJob *job)
{
  if (convert_pixels (job))
    return;

  if (is_broadcast (job))
    convert_broadcast (job);
  else if (job->converts_scattered && job->axes[1].extent < SHORT_ROW
           && job->axes[0].extent > job->axes[1].extent)
    convert_columns (job);
  else
    convert_rows (job);
}
