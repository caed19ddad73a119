/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-copy-set-private.h"

/* Elements that become others on the way: rows of them are given to a function,
 * pieces of them where that reads or writes less memory. Costs a call for each
 * piece. */

/* Along one axis in the destination and another in the source: blocks of lines
 * on both sides. */
#define BLOCK 64

/* What is streamed is converted within the nearest cache. */
#define BUFFER_SIZE 4096

static void
stream_converted (const MtlCopyJob *job,
                  guint8           *dest,
                  const guint8     *source,
                  gsize             n,
                  gssize            source_step)
{
  guint8 buffer[BUFFER_SIZE] MTL_ALIGNED;
  gsize head = MIN (mtl_bytes_to_line (dest) / job->item_size, n);
  gsize piece = BUFFER_SIZE / job->item_size;

  job->convert (dest, source, head, job->item_size, source_step, job->convert_data);
  for (gsize i = head; i < n; i += piece)
    {
      gsize part = MIN (piece, n - i);

      job->convert (buffer, source + (gssize) i * source_step, part, job->item_size, source_step,
                    job->convert_data);
      mtl_stream_row (dest + i * job->item_size, buffer, part * job->item_size);
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

      if (streams)
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
