/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-threads-private.h"

#include "mtl-fork-private.h"

/* A thread with less to do is not worth waking, which takes the caller 10 µs. */
#define MIN_DURATION (16 * 1000) /* ns, to copy a megabyte */
/* The speed of a copy within the caches. */
#define BYTES_PER_NANOSECOND 64
/* Threads check the cancellable each time they have processed this much, which takes a
 * few milliseconds even if elements are converted one by one. */
#define MAX_BYTES_AT_ONCE (1024 * 1024)
/* Slower threads get less to do if there are several parts. */
#define PARTS_PER_THREAD 4

/* An idle thread ends after this time. */
#define IDLE_TIME (15 * G_TIME_SPAN_SECOND)
/* An idle thread watches this long before it sleeps. Most work comes soon or late, and
 * waking takes as long as this. */
#define WATCH_TIME 50 /* µs */

/* Lets the processor do something else for a moment. */
#if defined(__x86_64__) || defined(__i386__)
#define PAUSE() __builtin_ia32_pause ()
#elif defined(__aarch64__)
#define PAUSE() __asm__ volatile ("yield")
#else
#define PAUSE() ((void) 0)
#endif

/* The work of one call, shared by its caller and the helping threads. */
typedef struct _Job Job;

struct _Job
{
  const MtlThreadsWork *work;
  GCancellable *cancellable;
  guint n_forks; /* the forks of the helpers' process */
  gsize part;    /* items taken at once */
  gsize n_taken; /* atomic; may exceed the number of items */
  gsize n_done;  /* atomic */

  /* Protected by the lock of the pool. */
  Job *next;
  guint n_wanted; /* helpers that have not entered */
  gint n_inside;  /* helpers that have not left; atomic when the lock is not held */
  GCond left;
};

/* The helping threads. A child cannot create a new GThreadPool, as all of GLib's share
 * their locks and counts. */
static struct
{
  MtlForkLock lock; /* protects the fields below */
  GCond wanted;
  Job *jobs;      /* jobs that want helpers */
  gint n_wanted;  /* helpers, by all jobs; atomic when the lock is not held */
  guint n_idle;   /* threads that wait for a job */
  guint n_busy;   /* callers that have helpers, and their helpers */
} pool;

/* Atomic; 0 until it is first read. */
static gint max_threads;

static void
lock_pool (void)
{
  if (!mtl_fork_lock (&pool.lock))
    return;

  /* The threads and the jobs are those of the parent. */
  g_cond_init (&pool.wanted);
  pool.jobs = NULL;
  pool.n_wanted = pool.n_idle = pool.n_busy = 0;
}

static void
unlock_pool (void)
{
  mtl_fork_unlock (&pool.lock);
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

/* Called with the pool locked. */
static void
remove_job (Job *job)
{
  Job **link = &pool.jobs;

  while (*link != job)
    link = &(*link)->next;
  *link = job->next;
}

/* Waits a short time until the number is not 0, or is 0 without is_any. Called without
 * the lock. */
static void
watch (const gint *number,
       gboolean    is_any)
{
  gint64 end = g_get_monotonic_time () + WATCH_TIME;

  while ((g_atomic_int_get (number) != 0) != is_any && g_get_monotonic_time () < end)
    PAUSE ();
}

/* Called with the pool locked. Returns NULL if there is no job for a long time. */
static Job *
enter_any_job (void)
{
  gint64 end = g_get_monotonic_time () + IDLE_TIME;
  gboolean in_time = TRUE;
  Job *job;

  pool.n_idle++;
  if (pool.jobs == NULL)
    {
      unlock_pool ();
      watch (&pool.n_wanted, TRUE);
      lock_pool ();
    }
  while (pool.jobs == NULL && in_time)
    in_time = g_cond_wait_until (&pool.wanted, &pool.lock.mutex, end);
  pool.n_idle--;

  job = pool.jobs;
  if (job == NULL)
    return NULL;

  g_atomic_int_add (&pool.n_wanted, -1);
  g_atomic_int_inc (&job->n_inside);
  if (--job->n_wanted == 0)
    remove_job (job);
  return job;
}

/* Called with the pool locked. The job may be gone when it is unlocked. */
static void
leave (Job *job)
{
  pool.n_busy--;
  if (g_atomic_int_dec_and_test (&job->n_inside))
    g_cond_signal (&job->left);
}

static gpointer
help (gpointer unused)
{
  Job *job;

  lock_pool ();
  while ((job = enter_any_job ()) != NULL)
    {
      unlock_pool ();
      while (do_part (job));
      lock_pool ();
      leave (job);
    }
  unlock_pool ();

  return NULL;
}

static void
start_helpers (Job   *job,
               guint  n_helpers)
{
  guint n_lacking;

  g_cond_init (&job->left);
  lock_pool ();
  job->n_wanted = n_helpers;
  job->next = pool.jobs;
  pool.jobs = job;
  g_atomic_int_add (&pool.n_wanted, n_helpers);
  n_lacking = MIN ((guint) MAX (pool.n_wanted - (gint) pool.n_idle, 0), n_helpers);
  unlock_pool ();

  for (guint i = n_lacking; i < n_helpers; i++)
    g_cond_signal (&pool.wanted);
  for (guint i = 0; i < n_lacking; i++)
    {
      GThread *thread = g_thread_try_new ("mtl-helper", help, NULL, NULL);

      /* This thread does the work of the threads that cannot be created. */
      if (thread == NULL)
        break;

      g_thread_unref (thread);
    }
}

/* Waits for the helpers that have entered, and does without the others. */
static void
end_help (Job *job)
{
  watch (&job->n_inside, FALSE);
  lock_pool ();
  /* A child that the caller's progress callback has forked has none of them. */
  if (job->n_forks == mtl_n_forks ())
    {
      if (job->n_wanted > 0)
        remove_job (job);
      g_atomic_int_add (&pool.n_wanted, -(gint) job->n_wanted);
      pool.n_busy -= job->n_wanted + 1;
      while (job->n_inside > 0)
        g_cond_wait (&job->left, &pool.lock.mutex);
    }
  unlock_pool ();
  g_cond_clear (&job->left);
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
  guint n_helpers = 0;

  lock_pool ();
  if (pool.n_busy + 1 < n_max)
    {
      n_helpers = MIN (n_wanted, n_max - pool.n_busy - 1);
      pool.n_busy += n_helpers + 1;
    }
  unlock_pool ();

  return n_helpers;
}

static void
report (Job              *job,
        const MtlMonitor *monitor)
{
  const MtlThreadsWork *work = job->work;

  mtl_monitor_report (monitor, count_done (job), work->n_items, work->n_bytes);
}

static void
set_partial_error (const Job  *job,
                   GError    **error)
{
  if (job->n_forks == mtl_n_forks ())
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CANCELLED,
                         "The operation was cancelled partway");
  else
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_FAILED,
                         "The process was forked partway, and the threads that did the rest are"
                         " not in the child. Start the operation again");
}

static gboolean
run_with_helpers (const MtlThreadsWork  *work,
                  const MtlMonitor      *monitor,
                  guint                  n_helpers,
                  GError               **error)
{
  gsize n_parts = MAX ((gsize) (n_helpers + 1) * PARTS_PER_THREAD,
                       work->n_bytes / MAX_BYTES_AT_ONCE);
  Job job = {
    .work = work,
    .cancellable = monitor != NULL ? monitor->cancellable : NULL,
    .n_forks = mtl_n_forks (),
    .part = MAX (work->n_items / n_parts, 1),
  };
  gboolean done;

  if (n_helpers > 0)
    start_helpers (&job, n_helpers);

  while (do_part (&job))
    report (&job, monitor);

  if (n_helpers > 0)
    end_help (&job);
  done = count_done (&job) == work->n_items;
  if (done)
    report (&job, monitor);
  else
    set_partial_error (&job, error);
  return done;
}

/* Fails if the operation is cancelled while it is running. */
gboolean
mtl_threads_run (const MtlThreadsWork  *work,
                 const MtlMonitor      *monitor,
                 GError               **error)
{
  gsize duration = work->duration > 0 ? work->duration : work->n_bytes / BYTES_PER_NANOSECOND;
  gsize n_wanted = MIN (duration / MIN_DURATION, work->n_items);
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
