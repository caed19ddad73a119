/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-threads-private.h"

/* Less than this for each thread, and waking another costs more than it does: its
 * caller 10 µs, as much as 512 KiB within the caches. Two threads were 0.8 to 1.0
 * times as fast as one at 1 MiB, 1.1 to 1.3 times at 2 MiB, 1.5 to 1.8 at 8 MiB. */
#define MIN_BYTES_PER_THREAD (1024 * 1024)
/* What is done between two looks at the cancellable: some milliseconds even
 * where elements are converted one by one. */
#define MAX_BYTES_AT_ONCE (1024 * 1024)
/* Threads that are slower than others are left less to do. */
#define PARTS_PER_THREAD 4

/* The work of one call, shared by its caller and the threads that help. A helper
 * may come when all is done, so that this lives as long as any of them; of the
 * caller's it touches nothing unless it came before `closed`. */
typedef struct
{
  gatomicrefcount n_refs;
  const MtlThreadsWork *work;
  GCancellable *cancellable;
  gsize part;    /* items taken at once */
  gsize n_taken; /* atomic; may end beyond the number of items */
  gsize n_done;  /* atomic */

  GMutex mutex;
  GCond left;
  guint n_inside;
  gboolean closed;
} Job;

/* Atomic: callers that have helpers, and their helpers. */
static gint n_busy;
/* Atomic; 0 until it is asked for. */
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

/* Whether there was anything left to do. */
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
 * Gives how many threads work at large copies, conversions and fills at most,
 * those that they are called from among them. Where more threads than that make
 * such calls at once, each works alone; asynchronous calls have a thread each.
 *
 * Unless [func@Mtl.set_max_threads] said otherwise it is the environment
 * variable `MTL_MAX_THREADS`, and without that the number of processors.
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

  /* How many it runs is bounded by what is reserved. */
  if (g_once_init_enter (&pool))
    g_once_init_leave (&pool, (gsize) g_thread_pool_new (help, NULL, -1, FALSE, NULL));

  return (GThreadPool *) pool;
}

/**
 * mtl_set_max_threads:
 * @n_threads: the number of threads, or 0 for the default
 *
 * Sets how many threads work at large copies, conversions and fills at most, as
 * [func@Mtl.get_max_threads] tells it. With 1, all work is done by the thread
 * that asks for it.
 *
 * Work that has begun goes on as it began.
 *
 * Since: 1.0
 */
void
mtl_set_max_threads (guint n_threads)
{
  g_atomic_int_set (&max_threads, MIN (n_threads, G_MAXINT));
}

/* As many as there is work for and no more than are free, the caller being busy
 * with them. */
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

/* So many items of so many, which are n_bytes all together. */
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
      /* Where no thread can be made, it waits for one, and all is done here. */
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

/* Fails where it was cancelled, in the midst of it. */
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
