/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Streams: the legacy one of a context, those per thread, and others. */

#include "cuda-double-private.h"

#include <stdlib.h>
#include <string.h>

static unsigned next_id = 1;
static bool strict;
static unsigned dead_used;

static __thread CdStream *own_streams[CD_MAX_DEVICES];

void
cuda_double_set_strict_streams (bool yes)
{
  pthread_mutex_lock (&cd_lock);
  strict = yes;
  pthread_mutex_unlock (&cd_lock);
}

unsigned
cuda_double_dead_streams_used (void)
{
  unsigned n;

  pthread_mutex_lock (&cd_lock);
  n = dead_used;
  pthread_mutex_unlock (&cd_lock);

  return n;
}

static void
learn (CdClock       **clock,
       const CdStream *stream)
{
  cd_clock_merge (clock, stream->clock);
  cd_clock_add (clock, (CdPoint) { stream->id, stream->submitted });
}

/* The structs stay, as somebody may be going through the list. */
static void
forget_dead (void)
{
  CdStream **link = &cd_streams;

  while (*link != NULL)
    {
      CdStream *stream = *link;

      if (!stream->dead || stream->head != NULL)
        {
          link = &stream->next;
          continue;
        }
      if (!stream->non_blocking)
        learn (&stream->context->finished, stream);
      *link = stream->next;
    }
}

CdStream *
cd_stream_new (CdContext *context,
               bool       non_blocking)
{
  CdStream *stream = cd_allocate (sizeof *stream);

  forget_dead ();
  stream->id = next_id++;
  stream->context = context;
  stream->non_blocking = non_blocking;
  stream->next = cd_streams;
  cd_streams = stream;

  return stream;
}

static CdStream *
implicit_stream (CuStream  handle,
                 CuResult *result)
{
  CdContext *context = cd_current_context ();
  CdStream **stream;

  if (context == NULL)
    {
      *result = cd_violation (CU_INVALID_CONTEXT, "no current context");
      return NULL;
    }
  stream = handle == CU_PER_THREAD_STREAM ? &own_streams[context->device] : &context->legacy;
  if (*stream == NULL)
    *stream = cd_stream_new (context, false);

  return *stream;
}

CdStream *
cd_stream_find (CuStream  handle,
                CuResult *result)
{
  CdStream *stream;

  if ((uintptr_t) handle <= (uintptr_t) CU_PER_THREAD_STREAM)
    return implicit_stream (handle, result);

  stream = cd_find_handle (CD_HANDLE_STREAM, handle);
  if (stream != NULL && !stream->dead)
    return stream;

  *result = CU_INVALID_HANDLE;
  if (stream == NULL)
    cd_violation (CU_SUCCESS, "%p is no stream", (void *) handle);
  else if (strict)
    cd_violation (CU_SUCCESS, "the stream %p was destroyed", (void *) handle);
  dead_used += stream != NULL;

  return NULL;
}

static void
order_after (CdStream *stream,
             CdStream *other)
{
  if (other->submitted > 0
      && !cd_clock_knows (stream->clock, (CdPoint) { other->id, other->submitted }))
    cd_queue_wait (stream, other, other->submitted);
}

/* The legacy stream and blocking streams of its context wait for each other. */
static void
order_implicitly (CdStream *stream)
{
  CdStream *legacy = stream->context->legacy;

  if (stream->non_blocking || stream->capture != NULL)
    return;
  if (stream != legacy)
    {
      if (legacy != NULL)
        order_after (stream, legacy);
      return;
    }
  cd_clock_merge (&legacy->clock, stream->context->finished);
  for (CdStream *i = cd_streams; i != NULL; i = i->next)
    if (i != legacy && i->context == stream->context && !i->non_blocking)
      order_after (legacy, i);
}

CdStream *
cd_stream_to_submit (CuStream  handle,
                     CuResult *result)
{
  CdStream *stream = cd_stream_find (handle, result);

  if (stream == NULL)
    return NULL;
  if (stream == stream->context->legacy)
    *result = cd_capture_refuses_legacy (stream->context, false);
  else if (stream->capture != NULL && cd_capture_is_invalid (stream->capture))
    *result = CU_CAPTURE_INVALIDATED;
  if (*result != CU_SUCCESS)
    return NULL;
  order_implicitly (stream);

  return stream;
}

CuResult
cuStreamCreate (CuStream    *handle,
                unsigned int flags)
{
  CdStream *stream;
  CuResult result;

  if (!cd_enter (CD_cuStreamCreate, CD_CONTEXT, &result))
    return result;
  if (flags > CU_STREAM_NONBLOCKING)
    return cd_leave (CU_INVALID_VALUE);

  stream = cd_stream_new (cd_current_context (), flags == CU_STREAM_NONBLOCKING);
  stream->handle = cd_new_handle (CD_HANDLE_STREAM, stream);
  cd_live[CD_LIVE_STREAM]++;
  *handle = stream->handle;

  return cd_leave (CU_SUCCESS);
}

/* Its work stays, and does not wait. */
static CuResult
destroy (CuStream handle)
{
  CuResult result = CU_SUCCESS;
  CdStream *stream;

  if ((uintptr_t) handle <= (uintptr_t) CU_PER_THREAD_STREAM)
    return cd_violation (CU_INVALID_HANDLE, "%p is no stream that can be destroyed",
                         (void *) handle);
  stream = cd_find_handle (CD_HANDLE_STREAM, handle);
  if (stream != NULL && stream->dead)
    return cd_violation (CU_INVALID_HANDLE, "the stream %p was destroyed before", (void *) handle);
  stream = cd_stream_find (handle, &result);
  if (stream == NULL)
    return result;

  cd_capture_forget_stream (stream);
  stream->dead = true;
  cd_live[CD_LIVE_STREAM]--;

  return CU_SUCCESS;
}

CuResult
cuStreamDestroy_v2 (CuStream stream)
{
  CuResult result;

  if (!cd_enter (CD_cuStreamDestroy_v2, CD_RELEASES | CD_IN_CHILD, &result))
    return result;

  return cd_leave (destroy (stream));
}

/* Asking and waiting */

static CdStream *
find_to_wait_for (CuStream  handle,
                  CuResult *result)
{
  CdStream *stream = cd_stream_find (handle, result);

  if (stream == NULL)
    return NULL;
  *result = stream == stream->context->legacy ? cd_capture_refuses_legacy (stream->context, false)
                                              : cd_capture_refuses (stream);
  if (*result == CU_SUCCESS)
    *result = cd_capture_forbids ();

  return *result == CU_SUCCESS ? stream : NULL;
}

CuResult
cuStreamQuery (CuStream handle)
{
  CdStream *stream;
  CuResult result;

  if (!cd_enter (CD_cuStreamQuery, CD_IN_CHILD, &result))
    return result;
  stream = find_to_wait_for (handle, &result);
  if (stream == NULL)
    return cd_leave (result);

  cd_want (stream, stream->submitted);
  if (stream->done < stream->submitted)
    return cd_leave (CU_NOT_READY);
  cd_host_learns (stream, stream->submitted, stream->clock);

  return cd_leave (cd_error);
}

static CuResult
synchronize (CdStream *stream)
{
  uint64_t position = stream->submitted;
  CdClock *clock = cd_clock_ref (stream->clock);
  CuResult result = cd_await (stream, position);

  cd_host_learns (stream, position, clock);
  cd_clock_unref (clock);

  return result;
}

CuResult
cuStreamSynchronize (CuStream handle)
{
  CdStream *stream;
  CuResult result;

  if (!cd_enter (CD_cuStreamSynchronize, CD_IN_CHILD, &result))
    return result;

  cd_count_wait ();
  stream = find_to_wait_for (handle, &result);
  if (stream == NULL)
    return cd_leave (result);

  return cd_leave (synchronize (stream));
}

CuResult
cuCtxSynchronize (void)
{
  CuResult result;

  if (!cd_enter (CD_cuCtxSynchronize, CD_CONTEXT | CD_UNSAFE, &result))
    return result;

  cd_count_wait ();

  return cd_leave (cd_await_context (cd_current_context ()));
}

CuResult
cuStreamGetCtx (CuStream   handle,
                CuContext *context)
{
  CdStream *stream;
  CuResult result;

  if (!cd_enter (CD_cuStreamGetCtx, CD_IN_CHILD, &result))
    return result;
  stream = cd_stream_find (handle, &result);
  if (stream != NULL)
    *context = stream->context->handle;

  return cd_leave (result);
}
