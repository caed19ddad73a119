/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-threads-private.h"

/* Below this for each thread, waking another one costs more than it saves: it takes
 * the caller 10 µs, as much as copying 512 KiB within the caches. Two threads were
 * 0.8 to 1.0 times as fast as one at 1 MiB, 1.1 to 1.3 times at 2 MiB, and 1.5 to 1.8
 * times at 8 MiB. */
#define MIN_BYTES_PER_THREAD (1024 * 1024)
/* Processed between two checks of the cancellable. That takes a few milliseconds even
 * if elements are converted one by one. */
#define MAX_BYTES_AT_ONCE (1024 * 1024)
/* Several, so that slower threads get less to do. */
#define PARTS_PER_THREAD 4

/* The work of one call, shared by its caller and the helping threads. A helper may
 * start when everything is done, so the job lives as long as any of them. It only
 * uses the caller's data if it entered before `closed` was set. */
typedef struct
{
  gatomicrefcount n_refs;
  const MtlThreadsWork *work;
  GCancellable *cancellable;
  gsize part;    /* items taken at once */
  gsize n_taken; /* atomic; may exceed the number of items */
  gsize n_done;  /* atomic */

  GMutex mutex;
  GCond left;
  guint n_inside;
  gboolean closed;
} Job;

/* Atomic: the callers that have helpers, and their helpers. */
static gint n_busy;
/* Atomic; 0 until it is first read. */
static gint max_threads;

static void
job_unref (Job *job)
{
  if (!g_atomic_ref_count_dec (&job->n_refs))
    return;

  g_mutex_clear (&job->mutex);
  g_cond_clear (&job->left);
  g_free (job);
}

static gsize
count_done (Job *job)
{
  return MIN ((gsize) g_atomic_pointer_get (&job->n_done), job->work->n_items);
}

/* Returns whether there was anything left to do. */
static gboolean
do_part (Job *job)
{
  gsize n_items = job->work->n_items;
  gsize begin, end;

  if (job->cancellable != NULL && g_cancellable_is_cancelled (job->cancellable))
    return FALSE;

  begin = (gsize) g_atomic_pointer_add (&job->n_taken, job->part);
  if (begin >= n_items)
    return FALSE;

  end = begin + MIN (job->part, n_items - begin);
  job->work->func (job->work->data, begin, end);
  g_atomic_pointer_add (&job->n_done, end - begin);
  return TRUE;
}

static gboolean
enter (Job *job)
{
  gboolean entered;

  g_mutex_lock (&job->mutex);
  entered = !job->closed;
  if (entered)
    job->n_inside++;
  g_mutex_unlock (&job->mutex);
  return entered;
}

static void
leave (Job *job)
{
  g_mutex_lock (&job->mutex);
  if (--job->n_inside == 0)
    g_cond_signal (&job->left);
  g_mutex_unlock (&job->mutex);
}

static void
close_and_wait (Job *job)
{
  g_mutex_lock (&job->mutex);
  job->closed = TRUE;
  while (job->n_inside > 0)
    g_cond_wait (&job->left, &job->mutex);
  g_mutex_unlock (&job->mutex);
}

static void
help (gpointer job,
      gpointer user_data)
{
  if (enter (job))
    {
      while (do_part (job));
      leave (job);
    }

  g_atomic_int_add (&n_busy, -1);
  job_unref (job);
}

static guint
get_default_max_threads (void)
{
  const char *text = g_getenv ("MTL_MAX_THREADS");
  guint64 number;

  if (text != NULL && g_ascii_string_to_unsigned (text, 10, 1, G_MAXINT, &number, NULL))
    return number;

  return g_get_num_processors ();
}

/**
 * mtl_get_max_threads:
 *
 * Gets the maximum number of threads that work on large copies, conversions and
 * fills, including the threads that call these functions. If more threads than
 * that call them at the same time, each works alone. Each asynchronous call has
 * its own thread.
 *
 * The default is the value of the environment variable `MTL_MAX_THREADS`, or
 * the number of processors if that is not set. [func@Mtl.set_max_threads]
 * changes it.
 *
 * Returns: the number of threads, at least 1
 *
 * Since: 1.0
 */
guint
mtl_get_max_threads (void)
{
  guint n_threads = g_atomic_int_get (&max_threads);

  if (n_threads == 0)
    {
      g_atomic_int_compare_and_exchange (&max_threads, 0, get_default_max_threads ());
      n_threads = g_atomic_int_get (&max_threads);
    }

  return n_threads;
}

static GThreadPool *
get_pool (void)
{
  static gsize pool;

  /* reserve_helpers() limits the number of threads. */
  if (g_once_init_enter (&pool))
    g_once_init_leave (&pool, (gsize) g_thread_pool_new (help, NULL, -1, FALSE, NULL));

  return (GThreadPool *) pool;
}

/**
 * mtl_set_max_threads:
 * @n_threads: the number of threads, or 0 for the default
 *
 * Sets the maximum number of threads that work on large copies, conversions and
 * fills; see [func@Mtl.get_max_threads]. With 1, the calling thread does all
 * the work.
 *
 * Operations that have already begun are not affected.
 *
 * Since: 1.0
 */
void
mtl_set_max_threads (guint n_threads)
{
  g_atomic_int_set (&max_threads, MIN (n_threads, G_MAXINT));
}

/* Reserves a helper for each part of the work, as far as there are free threads. If
 * there are helpers, the caller counts as busy, too. */
static guint
reserve_helpers (gsize n_wanted)
{
  guint n_max = mtl_get_max_threads ();

  while (n_wanted > 0)
    {
      guint n_now = g_atomic_int_get (&n_busy);
      guint n_helpers = n_now + 1 < n_max ? MIN (n_wanted, n_max - n_now - 1) : 0;

      if (n_helpers == 0)
        break;
      if (g_atomic_int_compare_and_exchange (&n_busy, n_now, n_now + 1 + n_helpers))
        return n_helpers;
    }

  return 0;
}

gboolean
mtl_monitor_check (const MtlMonitor  *self,
                   GError           **error)
{
  return self == NULL || self->cancellable == NULL
         || !g_cancellable_set_error_if_cancelled (self->cancellable, error);
}

/* Reports n_done of n_items, which have n_bytes in total. */
void
mtl_monitor_report (const MtlMonitor *self,
                    gsize             n_done,
                    gsize             n_items,
                    guint64           n_bytes)
{
  if (self != NULL && self->report != NULL)
    self->report (n_done == n_items ? n_bytes : (double) n_bytes * n_done / n_items, n_bytes,
                  self->data);
}

static void
report (Job              *job,
        const MtlMonitor *monitor)
{
  const MtlThreadsWork *work = job->work;

  mtl_monitor_report (monitor, count_done (job), work->n_items, work->n_bytes);
}

static gboolean
run_with_helpers (const MtlThreadsWork  *work,
                  const MtlMonitor      *monitor,
                  guint                  n_helpers,
                  GError               **error)
{
  Job *job = g_new0 (Job, 1);
  gsize n_parts = MAX ((gsize) (n_helpers + 1) * PARTS_PER_THREAD,
                       work->n_bytes / MAX_BYTES_AT_ONCE);
  gboolean done;

  g_atomic_ref_count_init (&job->n_refs);
  g_mutex_init (&job->mutex);
  g_cond_init (&job->left);
  job->work = work;
  job->cancellable = monitor != NULL ? monitor->cancellable : NULL;
  job->part = MAX (work->n_items / n_parts, 1);

  for (guint i = 0; i < n_helpers; i++)
    {
      g_atomic_ref_count_inc (&job->n_refs);
      /* If no thread can be created, the job waits for one, and this thread does all
       * the work. */
      g_thread_pool_push (get_pool (), job, NULL);
    }

  while (do_part (job))
    report (job, monitor);

  close_and_wait (job);
  done = count_done (job) == work->n_items;
  if (done)
    report (job, monitor);
  if (n_helpers > 0)
    g_atomic_int_add (&n_busy, -1);
  job_unref (job);
  if (!done)
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CANCELLED,
                         "The operation was cancelled partway");
  return done;
}

/* Fails if the operation is cancelled while it is running. */
gboolean
mtl_threads_run (const MtlThreadsWork  *work,
                 const MtlMonitor      *monitor,
                 GError               **error)
{
  gsize n_wanted = MIN (work->n_bytes / MIN_BYTES_PER_THREAD, work->n_items);
  guint n_helpers = n_wanted > 1 && !work->in_order ? reserve_helpers (n_wanted - 1) : 0;

  if (n_helpers == 0 && monitor == NULL)
    {
      work->func (work->data, 0, work->n_items);
      return TRUE;
    }

  if (work->n_items == 0)
    return mtl_monitor_check (monitor, error);

  return run_with_helpers (work, monitor, n_helpers, error);
}
