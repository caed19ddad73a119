/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-copy-set-private.h"

/* Elements of any size with any steps, for what no other kernel does. Costs a
 * load and a store for each element, about 1 ns where they are near. */

#define BUFFER_SIZE 4096
#define MAX_GATHERED 1024
#define MIN_STREAMED 512
#define PREFETCH_STEP 4

MTL_INLINE void
copy_line_of (guint8       *dest,
              const guint8 *source,
              gsize         n,
              gssize        dest_step,
              gssize        source_step,
              gsize         size)
{
  gssize ahead = source_step < 0 ? -MTL_AHEAD : MTL_AHEAD;
  gsize i = 0;

  for (; i + PREFETCH_STEP <= n; i += PREFETCH_STEP)
    {
      const guint8 *from = source + (gssize) i * source_step;
      guint8 *to = dest + (gssize) i * dest_step;

      __builtin_prefetch ((gpointer) ((guintptr) from + ahead));
      if (PREFETCH_STEP * source_step > MTL_LINE)
        __builtin_prefetch ((gpointer) ((guintptr) from + ahead + MTL_LINE));
      for (int k = 0; k < PREFETCH_STEP; k++)
        memcpy (to + k * dest_step, from + k * source_step, size);
    }
  for (; i < n; i++)
    memcpy (dest + (gssize) i * dest_step, source + (gssize) i * source_step, size);
}

static void
copy_one_by_one (guint8       *dest,
                 const guint8 *source,
                 gsize         n,
                 gssize        dest_step,
                 gssize        source_step,
                 gsize         size)
{
  switch (size)
    {
    case 1: copy_line_of (dest, source, n, dest_step, source_step, 1); break;
    case 2: copy_line_of (dest, source, n, dest_step, source_step, 2); break;
    case 3: copy_line_of (dest, source, n, dest_step, source_step, 3); break;
    case 4: copy_line_of (dest, source, n, dest_step, source_step, 4); break;
    case 6: copy_line_of (dest, source, n, dest_step, source_step, 6); break;
    case 8: copy_line_of (dest, source, n, dest_step, source_step, 8); break;
    case 12: copy_line_of (dest, source, n, dest_step, source_step, 12); break;
    case 16: copy_line_of (dest, source, n, dest_step, source_step, 16); break;
    case 24: copy_line_of (dest, source, n, dest_step, source_step, 24); break;
    case 32: copy_line_of (dest, source, n, dest_step, source_step, 32); break;
    default:
      if (size <= 64)
        for (gsize i = 0; i < n; i++)
          mtl_copy_few (dest + (gssize) i * dest_step, source + (gssize) i * source_step, size);
      else
        for (gsize i = 0; i < n; i++)
          memcpy (dest + (gssize) i * dest_step, source + (gssize) i * source_step, size);
    }
}

#if MTL_COPY_WIDTH > 0
/* Every second to fourth of the elements that kernels for channels know, or 0. */
static int
get_gathered_step (gssize source_step,
                   gsize  size)
{
  gssize n = source_step / (gssize) size;

  return size <= 8 && (size & (size - 1)) == 0 && n * (gssize) size == source_step
         && n >= 2 && n <= 4 ? n : 0;
}

/* Elements that are to lie side by side. Returns how many were done. */
static gsize
copy_packed (guint8       *dest,
             const guint8 *source,
             gsize         n,
             gssize        source_step,
             gsize         size)
{
  int step = get_gathered_step (source_step, size);

  if (step != 0)
    {
      MTL_KERNEL (gather) (dest, source, n, step, size, FALSE);
      return n;
    }
  if (size < 16 && (size & (size - 1)) != 0)
    return MTL_KERNEL (pack) (dest, source, n, source_step, size);
  if (size <= 8 && source_step == -(gssize) size)
    return MTL_KERNEL (reverse) (dest, source, n, size);

  return 0;
}
#endif

static void
copy_line (guint8       *dest,
           const guint8 *source,
           gsize         n,
           gssize        dest_step,
           gssize        source_step,
           gsize         size)
{
  gsize done = 0;

#if MTL_COPY_WIDTH > 0
  if (dest_step == (gssize) size)
    done = copy_packed (dest, source, n, source_step, size);
#endif
  copy_one_by_one (dest + (gssize) done * dest_step, source + (gssize) done * source_step, n - done,
                   dest_step, source_step, size);
}

/* Parts are put together in the nearest cache, so that lines are whole. The first
 * is smaller, so that the next ones begin with a line. */
static void
stream_line (guint8       *dest,
             const guint8 *source,
             gsize         n,
             gssize        source_step,
             gsize         size)
{
  guint8 buffer[BUFFER_SIZE] MTL_ALIGNED;
  gsize part = MIN (mtl_bytes_to_line (dest) / size, n);

#if MTL_COPY_WIDTH > 0
  int step = get_gathered_step (source_step, size);

  if (step != 0)
    {
      MTL_KERNEL (gather) (dest, source, n, step, size, TRUE);
      return;
    }
#endif

  copy_line (dest, source, part, size, source_step, size);
  for (gsize i = part; i < n; i += part)
    {
      part = MIN (BUFFER_SIZE / MTL_LINE / size * MTL_LINE, n - i);
      copy_line (buffer, source + (gssize) i * source_step, part, size, source_step, size);
      mtl_stream_row (dest + i * size, buffer, part * size);
    }
}

/* Few elements a row: along the other axis, as far as the caches reach. */
#define FEW 8
#define CHUNK 512

static void
copy_across (const MtlCopyJob *job)
{
  const MtlCopyAxis *rows = &job->axes[0], *items = &job->axes[1];

  for (gsize j = 0; j < rows->extent; j += CHUNK)
    for (gsize i = 0; i < items->extent; i++)
      copy_line (job->dest + (gssize) i * items->dest_step + (gssize) j * rows->dest_step,
                 job->source + (gssize) i * items->source_step + (gssize) j * rows->source_step,
                 MIN (rows->extent - j, CHUNK), rows->dest_step, rows->source_step,
                 job->item_size);
}

/* Short rows that follow each other: put together in the nearest cache, then
 * streamed. */
static void
gather_rows (const MtlCopyJob *job,
             gsize             row_size)
{
  const MtlCopyAxis *rows = &job->axes[0], *items = &job->axes[1];
  guint8 buffer[BUFFER_SIZE] MTL_ALIGNED;
  gsize n_gathered = BUFFER_SIZE / row_size;

  for (gsize j = 0; j < rows->extent; j += n_gathered)
    {
      gsize n = MIN (rows->extent - j, n_gathered);

      for (gsize k = 0; k < n; k++)
        copy_line (buffer + k * row_size, job->source + (gssize) (j + k) * rows->source_step,
                   items->extent, job->item_size, items->source_step, job->item_size);
      mtl_stream_row (job->dest + (gssize) j * rows->dest_step, buffer, n * row_size);
    }
}

void MTL_KERNEL (strided) (const MtlCopyJob *job);

void
MTL_KERNEL (strided) (const MtlCopyJob *job)
{
  const MtlCopyAxis *rows = &job->axes[0], *items = &job->axes[1];
  gsize row_size = items->extent * job->item_size;
  gboolean streams = job->streams && items->dest_step == (gssize) job->item_size
                     && job->item_size <= MTL_LINE;

  if (items->extent <= FEW && rows->extent > items->extent)
    copy_across (job);
  else if (streams && rows->dest_step == (gssize) row_size && row_size <= MAX_GATHERED)
    gather_rows (job, row_size);
  else
    for (gsize j = 0; j < rows->extent; j++)
      {
        guint8 *dest = job->dest + (gssize) j * rows->dest_step;
        const guint8 *source = job->source + (gssize) j * rows->source_step;

        if (streams && row_size >= MIN_STREAMED)
          stream_line (dest, source, items->extent, items->source_step, job->item_size);
        else
          copy_line (dest, source, items->extent, items->dest_step, items->source_step,
                     job->item_size);
      }
}

/* Axes whose elements are near each other on one side alone: in blocks that the
 * nearest cache holds, row by row of the destination. For elements of any size,
 * at a quarter of the speed of transpose. */
#define N_ROWS 16
#define ROW_SIZE 1024

static void
stream_block (const MtlCopyJob *job,
              guint8           *dest,
              const guint8     *source,
              gsize             n_rows,
              gsize             n)
{
  guint8 buffer[N_ROWS][ROW_SIZE + MTL_LINE] MTL_ALIGNED;

  for (gsize k = 0; k < n_rows; k++)
    copy_line (buffer[k], source + (gssize) k * job->axes[0].source_step, n, job->item_size,
               job->axes[1].source_step, job->item_size);
  for (gsize k = 0; k < n_rows; k++)
    mtl_stream_row (dest + (gssize) k * job->axes[0].dest_step, buffer[k], n * job->item_size);
}

static void
copy_block (const MtlCopyJob *job,
            guint8           *dest,
            const guint8     *source,
            gsize             n_rows,
            gsize             n)
{
  for (gsize k = 0; k < n_rows; k++)
    copy_line (dest + (gssize) k * job->axes[0].dest_step,
               source + (gssize) k * job->axes[0].source_step, n, job->axes[1].dest_step,
               job->axes[1].source_step, job->item_size);
}

void MTL_KERNEL (blocked) (const MtlCopyJob *job);

void
MTL_KERNEL (blocked) (const MtlCopyJob *job)
{
  const MtlCopyAxis *rows = &job->axes[0], *items = &job->axes[1];
  gboolean streams = job->streams && items->dest_step == (gssize) job->item_size
                     && job->item_size <= 64;
  gsize max_items = streams ? ROW_SIZE / job->item_size : 64;
  gsize max_rows = streams ? N_ROWS : 32;

  for (gsize j = 0; j < items->extent; j += max_items)
    for (gsize i = 0; i < rows->extent; i += max_rows)
      {
        guint8 *dest = job->dest + (gssize) i * rows->dest_step + (gssize) j * items->dest_step;
        const guint8 *source = job->source + (gssize) i * rows->source_step
                               + (gssize) j * items->source_step;
        gsize n_rows = MIN (rows->extent - i, max_rows);
        gsize n = MIN (items->extent - j, max_items);

        if (streams)
          stream_block (job, dest, source, n_rows, n);
        else
          copy_block (job, dest, source, n_rows, n);
      }
}
