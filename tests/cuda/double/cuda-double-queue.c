/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The queues of streams, and the thread that runs them when somebody waits for them or asks. */

#include "cuda-double-private.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

CdStream *cd_streams;
uint64_t cd_n_pending;
bool cd_eager, cd_paused;
unsigned cd_delay = UINT_MAX;

static CdClock *host_clock; /* the host has waited for this */
static uint64_t host_generation;
static uint64_t n_wants; /* that more is to run than before */

uint64_t
cd_now (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);

  return (uint64_t) now.tv_sec * 1000 + (uint64_t) now.tv_nsec / 1000000;
}

CdWork *
cd_work_new (CdWorkKind kind)
{
  CdWork *work = cd_allocate (sizeof *work);

  work->kind = kind;
  work->function = cd_function;
  work->width = work->height = work->depth = 1;

  return work;
}

void
cd_work_free (CdWork *work)
{
  cd_clock_unref (work->clock);
  free (work->staged);
  free (work->params);
  free (work);
}

void
cd_want (CdStream *stream,
         uint64_t  position)
{
  if (stream->wanted >= position)
    return;
  stream->wanted = position;
  n_wants++;
  pthread_cond_broadcast (&cd_changed);
}

/* Work of a stream is ordered after all that the host has waited for. */
static void
learn_from_host (CdStream *stream)
{
  if (stream->host_seen == host_generation)
    return;
  cd_clock_merge (&stream->clock, host_clock);
  stream->host_seen = host_generation;
}

void
cd_queue (CdStream *stream,
          CdWork   *work)
{
  learn_from_host (stream);
  work->stream = stream;
  work->point = (CdPoint) { stream->id, ++stream->submitted };
  work->clock = cd_clock_ref (stream->clock);
  work->due = cd_delay != UINT_MAX ? cd_now () + cd_delay : 0;
  if (stream->tail != NULL)
    stream->tail->next = work;
  else
    stream->head = work;
  stream->tail = work;

  if (cd_n_pending++ == 0)
    cd_guard_managed (true);
  if (cd_eager)
    cd_want (stream, stream->submitted);
  else if (cd_delay != UINT_MAX)
    pthread_cond_broadcast (&cd_changed);
}

void
cd_queue_wait (CdStream *stream,
               CdStream *other,
               uint64_t  position)
{
  CdWork *work = cd_work_new (CD_WAIT);

  cd_clock_merge (&stream->clock, other->clock);
  cd_clock_add (&stream->clock, (CdPoint) { other->id, position });
  work->other = other;
  work->position = position;
  cd_queue (stream, work);
}

CuResult
cd_submit (CdStream *stream,
           CdWork   *work)
{
  if (stream->capture != NULL)
    return cd_capture_add (stream, work);

  cd_queue (stream, work);

  return CU_SUCCESS;
}

void
cd_host_learns (CdStream      *stream,
                uint64_t       position,
                const CdClock *clock)
{
  CdPoint point = { stream->id, position };

  if (!cd_host_knows (point))
    {
      cd_clock_merge (&host_clock, clock);
      cd_clock_add (&host_clock, point);
      host_generation++;
    }
  cd_pool_release_unused ();
}

bool
cd_host_knows (CdPoint point)
{
  return cd_clock_knows (host_clock, point);
}

CuResult
cd_await (CdStream *stream,
          uint64_t  position)
{
  cd_want (stream, position);
  while (stream->done < position && !cd_ended)
    pthread_cond_wait (&cd_changed, &cd_lock);

  return cd_ended ? CU_DEINITIALIZED : cd_error;
}

/* A context is that of one device, and waits for what was queued until now. */
CuResult
cd_await_context (const CdContext *context)
{
  CuResult result = cd_error;

  for (CdStream *i = cd_streams; i != NULL; i = i->next)
    if (i->context == context)
      cd_want (i, i->submitted);
  for (CdStream *i = cd_streams; i != NULL; i = i->next)
    if (i->context == context)
      {
        CdClock *clock = cd_clock_ref (i->clock);
        uint64_t position = i->submitted;

        result = cd_await (i, position);
        cd_host_learns (i, position, clock);
        cd_clock_unref (clock);
      }

  return result;
}

/* The thread */

static void
finish (CdStream *stream)
{
  CdWork *work = stream->head;

  stream->head = work->next;
  if (stream->head == NULL)
    stream->tail = NULL;
  cd_work_free (work);
  stream->done++;
  if (--cd_n_pending == 0)
    cd_guard_managed (false);
  pthread_cond_broadcast (&cd_changed);
}

/* Others get the lock between two works. */
static bool
run_stream (CdStream *stream,
            bool     *waits_for_value)
{
  bool progress = false;

  while (stream->head != NULL && stream->done < stream->wanted && !cd_paused && !cd_ended
         && cd_work_is_ready (stream->head, waits_for_value))
    {
      cd_run (stream->head);
      finish (stream);
      progress = true;
      pthread_mutex_unlock (&cd_lock);
      pthread_mutex_lock (&cd_lock);
    }

  return progress;
}

/* The time until work becomes due by itself, with a delay; work that is due is wanted. */
static uint64_t
want_due (void)
{
  uint64_t now = cd_now (), next = UINT64_MAX;

  for (CdStream *i = cd_streams; i != NULL && cd_delay != UINT_MAX; i = i->next)
    {
      if (i->head == NULL || i->done < i->wanted)
        continue;
      if (i->head->due <= now)
        i->wanted = i->done + 1;
      else if (i->head->due - now < next)
        next = i->head->due - now;
    }

  return next;
}

static void
wait_milliseconds (uint64_t milliseconds)
{
  struct timespec time;

  clock_gettime (CLOCK_REALTIME, &time);
  time.tv_sec += (time_t) (milliseconds / 1000);
  time.tv_nsec += (long) (milliseconds % 1000) * 1000000;
  if (time.tv_nsec >= 1000000000)
    {
      time.tv_sec++;
      time.tv_nsec -= 1000000000;
    }
  pthread_cond_timedwait (&cd_changed, &cd_lock, &time);
}

/* A value may be written by anything that is queued. */
static void
want_all (void)
{
  for (CdStream *i = cd_streams; i != NULL; i = i->next)
    cd_want (i, i->submitted);
}

/* Work that waits for other work wants that to run, too. */
static bool
run_all (bool *waits_for_value)
{
  uint64_t before = n_wants;
  bool progress = false;

  for (CdStream *i = cd_streams; i != NULL; i = i->next)
    progress |= run_stream (i, waits_for_value);

  return progress || n_wants != before;
}

static void *
work (void *data)
{
  pthread_mutex_lock (&cd_lock);
  while (!cd_ended)
    {
      uint64_t next = want_due ();
      bool waits_for_value = false;

      if (run_all (&waits_for_value))
        continue;
      if (waits_for_value)
        {
          want_all ();
          next = 1;
        }
      if (next < UINT64_MAX)
        wait_milliseconds (next);
      else
        pthread_cond_wait (&cd_changed, &cd_lock);
    }
  pthread_mutex_unlock (&cd_lock);

  return data;
}

void
cd_start_worker (void)
{
  pthread_t thread;

  if (pthread_create (&thread, NULL, work, NULL) != 0)
    abort ();
  pthread_detach (thread);
}

/* Controls */

void
cuda_double_set_eager (bool eager)
{
  pthread_mutex_lock (&cd_lock);
  cd_eager = eager;
  if (eager)
    want_all ();
  pthread_mutex_unlock (&cd_lock);
}

void
cuda_double_set_delay (unsigned milliseconds)
{
  pthread_mutex_lock (&cd_lock);
  cd_delay = milliseconds;
  pthread_cond_broadcast (&cd_changed);
  pthread_mutex_unlock (&cd_lock);
}

void
cuda_double_pause (void)
{
  pthread_mutex_lock (&cd_lock);
  cd_paused = true;
  pthread_mutex_unlock (&cd_lock);
}

void
cuda_double_resume (void)
{
  pthread_mutex_lock (&cd_lock);
  cd_paused = false;
  pthread_cond_broadcast (&cd_changed);
  pthread_mutex_unlock (&cd_lock);
}

static bool
can_progress (void)
{
  bool waits_for_value = false;

  for (CdStream *i = cd_streams; i != NULL; i = i->next)
    if (i->head != NULL && cd_work_is_ready (i->head, &waits_for_value))
      return true;

  return false;
}

void
cuda_double_quiesce (void)
{
  pthread_mutex_lock (&cd_lock);
  want_all ();
  while (!cd_ended && can_progress ())
    pthread_cond_wait (&cd_changed, &cd_lock);
  pthread_mutex_unlock (&cd_lock);
}

uint64_t
cuda_double_pending (void *handle)
{
  CdStream *stream;
  uint64_t n = 0;

  pthread_mutex_lock (&cd_lock);
  if (handle == NULL)
    n = cd_n_pending;
  else if ((stream = cd_find_handle (CD_HANDLE_STREAM, handle)) != NULL)
    n = stream->submitted - stream->done;
  pthread_mutex_unlock (&cd_lock);

  return n;
}
