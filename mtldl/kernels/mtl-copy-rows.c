/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-copy-set-private.h"

/* Rows of bytes that are contiguous on both sides: crops, padded rows, permuted axes
 * before the last one. Costs a call for each row of more than 64 bytes. Rows are streamed
 * if they are whole lines, or long. */

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
  const MtlAxis *axis = &job->axes[0];
  gsize size = job->item_size;
  gboolean is_on_lines = are_lines (job->dest, axis->dest_step, size);
  gsize n_ahead = MTL_AHEAD / size + 1;

  if (!is_on_lines && size < 4 * MTL_LINE)
    return FALSE;

  for (gsize i = 0; i < axis->extent; i++)
    {
      const guint8 *source = job->source + (gssize) i * axis->source_step;

      /* The machine cannot predict where the next row begins. */
      mtl_prefetch (source + (gssize) n_ahead * axis->source_step, MIN (size, MTL_AHEAD));
      mtl_stream_row (job->dest + (gssize) i * axis->dest_step, source, size);
    }
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
