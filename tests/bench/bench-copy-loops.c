/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What bench_copy.py times, in loops here, so that calls from Python do not
 * count. Each gives seconds for one of n calls. */

#include <time.h>

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

/* Of this thread, so that other work on the machine counts less. */
static double
get_seconds (void)
{
  struct timespec time;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

double
time_view (MtlStridedView *dest,
           MtlStridedView *source,
           int             n)
{
  double start = get_seconds ();

  for (int i = 0; i < n; i++)
    if (!mtl_strided_view_copy_from (dest, source, NULL))
      return -1;

  return (get_seconds () - start) / n;
}

double
time_engine (const MtlCopyRequest *request,
             int                   n)
{
  double start = get_seconds ();

  for (int i = 0; i < n; i++)
    mtl_copy_run (request);

  return (get_seconds () - start) / n;
}

double
time_memcpy (void       *dest,
             const void *source,
             gsize       size,
             int         n)
{
  double start = get_seconds ();

  for (int i = 0; i < n; i++)
    {
      memcpy (dest, source, size);
      __asm__ volatile ("" : : "r" (dest) : "memory");
    }

  return (get_seconds () - start) / n;
}
