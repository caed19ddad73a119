/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-copy-set-private.h"

/* Bytes that are contiguous on both sides. If they fit the caches, this is memcpy().
 * The rest is streamed, which saves reading what is overwritten: 2 units of memory
 * traffic instead of 3. Several pages are streamed in turn, so that more banks of
 * memory work at the same time. */

#define PAGES 8
#define STEP (2 * MTL_LINE)

#if MTL_COPY_WIDTH > 0
/* As many groups of pages as there are. Returns the number of bytes copied. */
static gsize
stream_pages (guint8       *dest,
              const guint8 *source,
              gsize         n)
{
  gsize done = 0;

  for (; n - done >= PAGES * MTL_PAGE; done += PAGES * MTL_PAGE)
    for (gsize i = done; i < done + MTL_PAGE; i += STEP)
      for (gsize at = i; at < i + PAGES * MTL_PAGE; at += MTL_PAGE)
        {
          mtl_stream_line (dest + at, source + at);
          mtl_stream_line (dest + at + MTL_LINE, source + at + MTL_LINE);
        }

  return done;
}
#endif

#if MTL_COPY_WIDTH > 0

/* At least four lines. All stores but those to both ends are of whole vectors, and the ends
 * are loaded first, since the stores before may reach them. */
static void
copy_by_vectors (guint8       *dest,
                 const guint8 *source,
                 gsize         n)
{
  const gsize step = 2 * MTL_LINE, head = mtl_bytes_to_line (dest);
  guint8 first[MTL_LINE], last[2 * MTL_LINE];
  gsize i = head;

  memcpy (first, source, sizeof first);
  memcpy (last, source + n - sizeof last, sizeof last);
  memcpy (dest, first, sizeof first);
  for (; i + step <= n; i += step)
    {
      mtl_copy_line (dest + i, source + i);
      mtl_copy_line (dest + i + MTL_LINE, source + i + MTL_LINE);
    }
  memcpy (dest + n - sizeof last, last, sizeof last);
}

#endif

/* Fewer bytes are copied by memcpy() without the instruction for strings. */
#define LEAST_BY_VECTORS 2048

void
MTL_KERNEL (copy_bytes) (guint8       *dest,
                         const guint8 *source,
                         gsize         n)
{
#if MTL_COPY_WIDTH > 0
  if (n >= LEAST_BY_VECTORS && mtl_copy_avoids_strings)
    {
      copy_by_vectors (dest, source, n);
      return;
    }
#endif

  memcpy (dest, source, n);
}

static void
copy_run (guint8       *dest,
          const guint8 *source,
          gsize         n,
          gboolean      streams)
{
#if MTL_COPY_WIDTH > 0
  if (streams && n >= PAGES * MTL_PAGE)
    {
      gsize head = mtl_bytes_to_line (dest), done = head;

      memcpy (dest, source, head);
      if (mtl_copy_streams_pages_in_turn)
        done += stream_pages (dest + head, source + head, n - head);
      mtl_stream_row (dest + done, source + done, n - done);
      return;
    }
#endif

  MTL_KERNEL (copy_bytes) (dest, source, n);
}

void
MTL_KERNEL (bytes) (const MtlCopyPlan *plan,
                    gsize              first,
                    gsize              n)
{
  gsize begin = first * plan->parts[0];
  gsize end = MIN (begin + n * plan->parts[0], plan->axes[0].extent);
  gsize size = plan->item_size;

  copy_run (plan->dest + begin * size, plan->source + begin * size, (end - begin) * size,
            plan->streams);
}
