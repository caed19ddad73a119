/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-copy-set-private.h"

/* Rows that repeat one element each: fills, broadcast columns, a gray channel for
 * several channels. This only writes, so it is the fastest of all. For each row, it
 * creates a pattern of whole lines, for elements of any size up to a line. */

#define MAX_ITEM MTL_LINE
#define PATTERN_SIZE (2 * MTL_LINE)

/* Repeats the element, n bytes in total. Each pass doubles what is there. */
static void
repeat (guint8       *dest,
        const guint8 *item,
        gsize         size,
        gsize         n)
{
  gsize done = MIN (size, n);

  memcpy (dest, item, done);
  while (done < n)
    {
      gsize more = MIN (done, n - done);

      memcpy (dest + done, dest, more);
      done += more;
    }
}

#if MTL_COPY_WIDTH > 0
static void
fill_lines (guint8       *dest,
            const guint8 *pattern,
            gsize         n_lines,
            gboolean      streams)
{
  MtlVector parts[MTL_LINE / MTL_COPY_WIDTH];

  for (int i = 0; i < MTL_LINE / MTL_COPY_WIDTH; i++)
    parts[i] = mtl_load (pattern + i * MTL_COPY_WIDTH);

  if (streams)
    for (; n_lines > 0; n_lines--, dest += MTL_LINE)
      for (int i = 0; i < MTL_LINE / MTL_COPY_WIDTH; i++)
        mtl_stream (dest + i * MTL_COPY_WIDTH, parts[i]);
  else
    for (; n_lines > 0; n_lines--, dest += MTL_LINE)
      for (int i = 0; i < MTL_LINE / MTL_COPY_WIDTH; i++)
        mtl_store (dest + i * MTL_COPY_WIDTH, parts[i]);
}

/* For elements of a power of two up to 16 bytes: all lines are equal. */
static void
fill_row (guint8       *dest,
          const guint8 *item,
          gsize         size,
          gsize         n,
          gboolean      streams)
{
  guint8 pattern[PATTERN_SIZE];
  gsize head = MIN (mtl_bytes_to_line (dest), n);
  gsize n_lines = (n - head) / MTL_LINE;
  gsize tail = (n - head) % MTL_LINE;

  for (gsize i = 0; i < PATTERN_SIZE; i += size)
    mtl_copy_item (pattern + i, item, size);

  memcpy (dest, pattern, head);
  fill_lines (dest + head, pattern + head % size, n_lines, streams);
  memcpy (dest + n - tail, pattern + head % size, tail);
}
#endif

/* For elements of any size: `size` lines hold a whole number of elements. They are
 * copied as often as they fit in the row. */
static void
fill_row_by_lines (guint8       *dest,
              const guint8 *item,
              gsize         size,
              gsize         n,
              gboolean      streams)
{
  guint8 pattern[MAX_ITEM * MTL_LINE], turned[MAX_ITEM];
  gsize head = MIN (mtl_bytes_to_line (dest), n);
  gsize phase = head % size;
  gsize period = MIN (n - head, size * MTL_LINE);

  repeat (dest, item, size, head);
  memcpy (turned, item + phase, size - phase);
  memcpy (turned + size - phase, item, phase);
  repeat (pattern, turned, size, period);
  for (gsize done = head; done < n; done += period)
    if (streams)
      mtl_stream_row (dest + done, pattern, MIN (period, n - done));
    else
      memcpy (dest + done, pattern, MIN (period, n - done));
}

void MTL_KERNEL (broadcast) (const MtlCopyJob *job);

void
MTL_KERNEL (broadcast) (const MtlCopyJob *job)
{
  gsize size = job->item_size;
  gsize n = job->axes[1].extent * size;

  for (gsize i = 0; i < job->axes[0].extent; i++)
    {
      guint8 *dest = job->dest + (gssize) i * job->axes[0].dest_step;
      const guint8 *source = job->source + (gssize) i * job->axes[0].source_step;

      if (size == 1 && (MTL_COPY_WIDTH == 0 || !job->streams))
        memset (dest, *source, n);
#if MTL_COPY_WIDTH > 0
      else if (size <= 16 && (size & (size - 1)) == 0)
        fill_row (dest, source, size, n, job->streams);
#endif
      else
        fill_row_by_lines (dest, source, size, n, job->streams);
    }
}
