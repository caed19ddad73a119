/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What bench_copy.py times, in loops here, so that calls from Python do not
 * count. Each gives seconds for one of n calls. */

#include <mtldl/mtldl.h>

#include "mtl-copy-plan-private.h"

#define EXPORTED __attribute__ ((visibility ("default")))

double EXPORTED time_view (MtlStridedView *dest,
                           MtlStridedView *source,
                           int             n);
double EXPORTED time_engine (const MtlCopyRequest *request,
                             int                   n);
double EXPORTED time_memcpy (void       *dest,
                             const void *source,
                             gsize       size,
                             int         n);

void EXPORTED set_streaming_threshold (gsize n_bytes);

void
set_streaming_threshold (gsize n_bytes)
{
  mtl_copy_streaming_threshold = n_bytes;
}

static double
seconds_since (gint64 start,
               int    n)
{
  return (g_get_monotonic_time () - start) * 1e-6 / n;
}

double
time_view (MtlStridedView *dest,
           MtlStridedView *source,
           int             n)
{
  gint64 start = g_get_monotonic_time ();

  for (int i = 0; i < n; i++)
    if (!mtl_strided_view_copy_from (dest, source, NULL))
      return -1;

  return seconds_since (start, n);
}

double
time_engine (const MtlCopyRequest *request,
             int                   n)
{
  gint64 start = g_get_monotonic_time ();

  for (int i = 0; i < n; i++)
    mtl_copy_run (request);

  return seconds_since (start, n);
}

double
time_memcpy (void       *dest,
             const void *source,
             gsize       size,
             int         n)
{
  gint64 start = g_get_monotonic_time ();

  for (int i = 0; i < n; i++)
    {
      memcpy (dest, source, size);
      __asm__ volatile ("" : : "r" (dest) : "memory");
    }

  return seconds_since (start, n);
}
