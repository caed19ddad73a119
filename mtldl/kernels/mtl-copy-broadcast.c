/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-copy-set-private.h"

/* Rows that repeat one element each: fills, broadcast columns, a gray channel for
 * several channels. This only writes, so it is the fastest of all. For each row, it
 * creates a pattern of whole lines, for elements of any size up to a line. */

#define MAX_ITEM MTL_LINE

/* Rows of at least this many bytes are streamed. */
#define LEAST_STREAMED 2048

/* From so many bytes on, memset() is as fast. */
#define LEAST_MEMSET 512

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

/* Elements that repeat in vectors, in rows that have space for a few. */
static gboolean
is_for_vectors (gsize size,
                gsize n)
{
  return size <= 16 && (size & (size - 1)) == 0 && n >= 16;
}

typedef guint16 Items2 __attribute__ ((vector_size (MTL_COPY_WIDTH)));
typedef guint32 Items4 __attribute__ ((vector_size (MTL_COPY_WIDTH)));
typedef guint64 Items8 __attribute__ ((vector_size (MTL_COPY_WIDTH)));

#define SPLAT(Vector, type) \
  { \
    type value; \
\
    memcpy (&value, item, sizeof value); \
    return (MtlVector) ((Vector) { 0 } + value); \
  }

/* In registers, since loading what was just stored in parts is slow. */
MTL_INLINE MtlVector
splat (const guint8 *item,
       gsize         size)
{
  guint8 items[MTL_COPY_WIDTH];

  switch (size)
    {
    case 1: SPLAT (MtlVector, guint8)
    case 2: SPLAT (Items2, guint16)
    case 4: SPLAT (Items4, guint32)
    case 8: SPLAT (Items8, guint64)
    default: break;
    }

  for (int i = 0; i < MTL_COPY_WIDTH; i += 16)
    mtl_store16 (items + i, mtl_load16 (item));
  return mtl_load (items);
}

/* From the middle of an element on. */
static MtlVector
rotate (MtlVector vector,
        gsize     n)
{
  guint8 twice[2 * MTL_COPY_WIDTH];

  mtl_store (twice, vector);
  mtl_store (twice + MTL_COPY_WIDTH, vector);
  return mtl_load (twice + n);
}

MTL_INLINE void
fill_line (guint8    *dest,
           MtlVector  vector)
{
  for (int i = 0; i < MTL_LINE; i += MTL_COPY_WIDTH)
    mtl_store (dest + i, vector);
}

static void
stream_vector (guint8    *dest,
               MtlVector  vector,
               gsize      n)
{
  for (gsize i = 0; i < n; i += MTL_COPY_WIDTH)
    mtl_stream (dest + i, vector);
}

/* Whole lines from the first one on. Those to which the stores at the ends of the row
 * write, too, are not streamed: a line that is in the cache takes many times as long. */
static void
stream_between (guint8    *dest,
                MtlVector  vector,
                gsize      size,
                gsize      n)
{
  gsize first = mtl_bytes_to_line (dest), n_whole = (n - first) / MTL_LINE * MTL_LINE;

  if (first % size != 0)
    vector = rotate (vector, first % size);
  dest += first;
  fill_line (dest, vector);
  stream_vector (dest + MTL_LINE, vector, n_whole - 2 * MTL_LINE);
  fill_line (dest + n_whole - MTL_LINE, vector);
}

/* At least 16 bytes. The stores at the ends may overlap others. */
MTL_INLINE void
fill_row (guint8    *dest,
          MtlVector  vector,
          gsize      n)
{
  MtlBytes16 few;

  memcpy (&few, &vector, sizeof few);
  if (n < MTL_LINE)
    {
      for (gsize i = 0; i + 16 <= n; i += 16)
        mtl_store16 (dest + i, few);
      mtl_store16 (dest + n - 16, few);
      return;
    }

  for (gsize i = 0; i + MTL_LINE <= n; i += MTL_LINE)
    fill_line (dest + i, vector);
  fill_line (dest + n - MTL_LINE, vector);
}

MTL_INLINE void
fill_rows_of (const MtlCopyJob *job,
              gsize             n,
              gsize             size,
              gboolean          streams)
{
  const MtlAxis rows = job->axes[0];
  guint8 *dest = job->dest;
  const guint8 *source = job->source;

  for (gsize i = 0; i < rows.extent; i++, dest += rows.dest_step, source += rows.source_step)
    {
      MtlVector vector = splat (source, size);

      if (!streams)
        {
          fill_row (dest, vector, n);
          continue;
        }

      fill_line (dest, vector);
      stream_between (dest, vector, size, n);
      fill_line (dest + n - MTL_LINE, vector);
    }
}

/* Elements of a power of two up to 16 bytes. */
static void
fill_rows (const MtlCopyJob *job,
           gsize             n,
           gboolean          streams)
{
  switch (job->item_size)
    {
    case 1: fill_rows_of (job, n, 1, streams); break;
    case 2: fill_rows_of (job, n, 2, streams); break;
    case 4: fill_rows_of (job, n, 4, streams); break;
    case 8: fill_rows_of (job, n, 8, streams); break;
    default: fill_rows_of (job, n, 16, streams);
    }
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
  gboolean streams = job->streams && n >= LEAST_STREAMED;

#if MTL_COPY_WIDTH > 0
  gboolean is_for_memset = size == 1 && !streams && n >= LEAST_MEMSET;

  if (is_for_vectors (size, n) && !is_for_memset)
    {
      fill_rows (job, n, streams);
      return;
    }
#endif

  for (gsize i = 0; i < job->axes[0].extent; i++)
    {
      guint8 *dest = job->dest + (gssize) i * job->axes[0].dest_step;
      const guint8 *source = job->source + (gssize) i * job->axes[0].source_step;

      if (size == 1)
        memset (dest, *source, n);
      else
        fill_row_by_lines (dest, source, size, n, streams);
    }
}
