/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The loops that bench_copy.py times, in C so that calls from Python do not count. Each gives
 * seconds for one of n calls: of this thread's time on the processor, so that other work on the
 * machine counts less, or by the clock. */

#include <time.h>

#include <mtldl/mtldl.h>

#include "mtl-copy-kernels-private.h"
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
double EXPORTED time_view_by_clock (MtlStridedView *dest,
                                    MtlStridedView *source,
                                    int             n);
double EXPORTED time_memcpy_by_clock (void       *dest,
                                      const void *source,
                                      gsize       size,
                                      guint       n_threads,
                                      int         n);

void EXPORTED set_streaming_threshold (gsize n_bytes);

const char EXPORTED *get_compiler (void);
const char EXPORTED *get_kernels (void);

void
set_streaming_threshold (gsize n_bytes)
{
  mtl_copy_streaming_threshold = n_bytes;
}

const char *
get_compiler (void)
{
#ifdef __clang__
  return "clang " __clang_version__;
#else
  return "GCC " __VERSION__;
#endif
}

const char *
get_kernels (void)
{
  return mtl_copy_machine_get ()->kernels->name;
}

static double
get_seconds (clockid_t clock)
{
  struct timespec time;

  clock_gettime (clock, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

static double
copy_views (MtlStridedView *dest,
            MtlStridedView *source,
            int             n,
            clockid_t       clock)
{
  double start = get_seconds (clock);

  for (int i = 0; i < n; i++)
    if (!mtl_strided_view_copy_from (dest, source, NULL, NULL))
      return -1;

  return (get_seconds (clock) - start) / n;
}

double
time_view (MtlStridedView *dest,
           MtlStridedView *source,
           int             n)
{
  return copy_views (dest, source, n, CLOCK_THREAD_CPUTIME_ID);
}

double
time_view_by_clock (MtlStridedView *dest,
                    MtlStridedView *source,
                    int             n)
{
  return copy_views (dest, source, n, CLOCK_MONOTONIC);
}

double
time_engine (const MtlCopyRequest *request,
             int                   n)
{
  double start = get_seconds (CLOCK_THREAD_CPUTIME_ID);

  for (int i = 0; i < n; i++)
    mtl_copy_run (request);

  return (get_seconds (CLOCK_THREAD_CPUTIME_ID) - start) / n;
}

static void
copy_flat (void       *dest,
           const void *source,
           gsize       size,
           int         n)
{
  for (int i = 0; i < n; i++)
    {
      memcpy (dest, source, size);
      __asm__ volatile ("" : : "r" (dest) : "memory");
    }
}

double
time_memcpy (void       *dest,
             const void *source,
             gsize       size,
             int         n)
{
  double start = get_seconds (CLOCK_THREAD_CPUTIME_ID);

  copy_flat (dest, source, size, n);
  return (get_seconds (CLOCK_THREAD_CPUTIME_ID) - start) / n;
}

/* The part of one thread, begun when all are there. */
typedef struct
{
  guint8 *dest;
  const guint8 *source;
  gsize size;
  int n;
  gint *n_missing; /* atomic */
} Part;

static gpointer
copy_part (gpointer data)
{
  const Part *part = data;

  g_atomic_int_add (part->n_missing, -1);
  while (g_atomic_int_get (part->n_missing) > 0);
  copy_flat (part->dest, part->source, part->size, part->n);
  return NULL;
}

double
time_memcpy_by_clock (void       *dest,
                      const void *source,
                      gsize       size,
                      guint       n_threads,
                      int         n)
{
  g_autofree Part *parts = g_new (Part, n_threads);
  g_autofree GThread **threads = g_new (GThread *, n_threads);
  gint n_missing = n_threads;
  double start;

  for (guint i = 0; i < n_threads; i++)
    {
      gsize begin = size * i / n_threads;

      parts[i] = (Part) { (guint8 *) dest + begin, (const guint8 *) source + begin,
                          size * (i + 1) / n_threads - begin, n, &n_missing };
      if (i > 0)
        threads[i] = g_thread_new ("memcpy", copy_part, &parts[i]);
    }

  while (g_atomic_int_get (&n_missing) > 1);
  start = get_seconds (CLOCK_MONOTONIC);
  copy_part (&parts[0]);
  for (guint i = 1; i < n_threads; i++)
    g_thread_join (threads[i]);

  return (get_seconds (CLOCK_MONOTONIC) - start) / n;
}
