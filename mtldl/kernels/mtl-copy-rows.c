/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-copy-set-private.h"

/* Rows of bytes that are contiguous on both sides: crops, padded rows, permuted axes
 * before the last one. Costs a call for each row of more than 64 bytes. If rows are
 * streamed, so are the lines that two of them share: part of a line takes longer than
 * all of it. Plans stream rows below two lines only if they are whole ones: to assemble others
 * takes longer than is gained. */

/* Rows of so many bytes are streamed by themselves. */
#define LONG_ROW 2048

static void
copy_rows (guint8       *dest,
           gssize        dest_step,
           const guint8 *source,
           gssize        source_step,
           gsize         n,
           gsize         size)
{
  if (size <= 64)
    for (gsize i = 0; i < n; i++)
      mtl_copy_few (dest + (gssize) i * dest_step, source + (gssize) i * source_step, size);
  else
    for (gsize i = 0; i < n; i++)
      MTL_KERNEL (copy_bytes) (dest + (gssize) i * dest_step, source + (gssize) i * source_step,
                               size);
}

#if MTL_COPY_WIDTH > 0
/* Rows of at least two lines, one after the other in the destination. A line that two of them
 * share is assembled in a buffer, and streamed after the whole lines: loading what was just
 * stored in parts is slow. */
static void
stream_dense_rows (guint8            *dest,
                   const guint8      *source,
                   const MtlCopyAxis *axis,
                   gsize              size)
{
  guint8 buffers[2][3 * MTL_LINE] MTL_ALIGNED; /* of which the middle is the line */
  gsize fill = (guintptr) dest % MTL_LINE, skipped = fill;
  gssize ahead = (gssize) (MTL_AHEAD / size + 1) * axis->source_step;

  dest -= fill;
  for (gsize i = 0; i < axis->extent; i++, source += axis->source_step)
    {
      guint8 *shared = buffers[i % 2] + MTL_LINE, *next = buffers[(i + 1) % 2] + MTL_LINE;
      gsize head = (MTL_LINE - fill) % MTL_LINE;
      gsize tail = (size - head) % MTL_LINE, n_whole = size - head - tail;
      guint8 *whole = dest + fill + head;

      mtl_prefetch ((gpointer) ((guintptr) source + (gsize) ahead), MIN (size, MTL_AHEAD));
      mtl_copy_line (shared + fill, source);
      mtl_copy_line (next + tail - MTL_LINE, source + size - MTL_LINE);
      mtl_stream_lines (whole, source + head, n_whole);
      mtl_put_shared_line (dest, shared, fill, skipped);
      skipped = 0;
      dest = whole + n_whole;
      fill = tail;
    }
  memcpy (dest, buffers[axis->extent % 2] + MTL_LINE, fill);
}

static gboolean
are_lines (const guint8 *dest,
           gssize        step,
           gsize         size)
{
  return (((guintptr) dest | (gsize) step | size) & (MTL_LINE - 1)) == 0;
}

/* Returns whether the rows were copied. */
static gboolean
stream_rows (const MtlCopyJob *job)
{
  const MtlCopyAxis *axis = &job->axes[0];
  gsize size = job->item_size;
  gboolean is_on_lines = are_lines (job->dest, axis->dest_step, size);
  gsize n_ahead = MTL_AHEAD / size + 1;

  if (!is_on_lines && axis->dest_step == (gssize) size && size < LONG_ROW)
    stream_dense_rows (job->dest, job->source, axis, size);
  else if (is_on_lines || size >= 4 * MTL_LINE)
    for (gsize i = 0; i < axis->extent; i++)
      {
        const guint8 *source = job->source + (gssize) i * axis->source_step;

        /* The machine cannot predict where the next row begins. */
        mtl_prefetch (source + (gssize) n_ahead * axis->source_step, MIN (size, MTL_AHEAD));
        mtl_stream_row (job->dest + (gssize) i * axis->dest_step, source, size);
      }
  else
    return FALSE;

  return TRUE;
}
#endif

void MTL_KERNEL (rows) (const MtlCopyJob *job);

void
MTL_KERNEL (rows) (const MtlCopyJob *job)
{
#if MTL_COPY_WIDTH > 0
  if (job->streams && stream_rows (job))
    return;
#endif

  copy_rows (job->dest, job->axes[0].dest_step, job->source, job->axes[0].source_step,
             job->axes[0].extent, job->item_size);
}
