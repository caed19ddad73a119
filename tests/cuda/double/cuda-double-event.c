/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Events. */

#include "cuda-double-private.h"

#include <stdlib.h>

#define INTERPROCESS 4
#define ALL_FLAGS 7u

static CdEvent *
find_event (CuEvent   handle,
            CuResult *result)
{
  CdEvent *event = cd_find_handle (CD_HANDLE_EVENT, handle);

  if (event != NULL && !event->dead)
    return event;
  *result = cd_violation (CU_INVALID_HANDLE, "%p is no event, or a destroyed one", (void *) handle);

  return NULL;
}

CuResult
cuEventCreate (CuEvent     *handle,
               unsigned int flags)
{
  CdEvent *event;
  CuResult result;

  if (!cd_enter (CD_cuEventCreate, CD_CONTEXT, &result))
    return result;
  if ((flags & ~ALL_FLAGS) || ((flags & INTERPROCESS) && !(flags & CU_EVENT_NO_TIMING)))
    return cd_leave (CU_INVALID_VALUE);

  event = cd_allocate (sizeof *event);
  event->context = cd_current_context ();
  event->handle = cd_new_handle (CD_HANDLE_EVENT, event);
  cd_live[CD_LIVE_EVENT]++;
  *handle = event->handle;

  return cd_leave (CU_SUCCESS);
}

CuResult
cuEventDestroy_v2 (CuEvent handle)
{
  CdEvent *event;
  CuResult result;

  if (!cd_enter (CD_cuEventDestroy_v2, CD_RELEASES | CD_IN_CHILD, &result))
    return result;
  event = find_event (handle, &result);
  if (event == NULL)
    return cd_leave (result);

  event->dead = true;
  cd_clock_unref (event->clock);
  event->clock = NULL;
  cd_live[CD_LIVE_EVENT]--;

  return cd_leave (CU_SUCCESS);
}

static CuResult
record (CdEvent *event,
        CuStream handle)
{
  CuResult result = CU_SUCCESS;
  CdStream *stream = cd_stream_to_submit (handle, &result);

  if (stream == NULL)
    return result;
  if (stream->context != event->context)
    return cd_violation (CU_INVALID_HANDLE, "the event and the stream are of different contexts");
  if (stream->capture != NULL)
    return cd_capture_record (stream, event);

  cd_queue (stream, cd_work_new (CD_MARKER));
  event->stream = stream;
  event->position = stream->submitted;
  event->capture = NULL;
  cd_clock_unref (event->clock);
  event->clock = cd_clock_ref (stream->clock);
  cd_clock_add (&event->clock, (CdPoint) { stream->id, stream->submitted });

  return CU_SUCCESS;
}

CuResult
cuEventRecord (CuEvent  handle,
               CuStream stream)
{
  CdEvent *event;
  CuResult result;

  if (!cd_enter (CD_cuEventRecord, CD_IN_CHILD, &result))
    return result;
  event = find_event (handle, &result);
  if (event == NULL)
    return cd_leave (result);

  return cd_leave (record (event, stream));
}

/* The position that was recorded last: later records do not change what waits. */
static void
wait_for (CdStream *stream,
          CdEvent  *event)
{
  CdWork *work = cd_work_new (CD_WAIT);

  cd_clock_merge (&stream->clock, event->clock);
  work->other = event->stream;
  work->position = event->position;
  cd_queue (stream, work);
}

static CuResult
wait_in_stream (CuStream handle,
                CdEvent *event)
{
  CuResult result = CU_SUCCESS;
  CdStream *stream = cd_stream_to_submit (handle, &result);

  if (stream == NULL)
    return result;
  if (stream->capture != NULL || cd_event_capture (event) != NULL)
    return cd_capture_wait (stream, event);
  if (event->capture != NULL)
    return CU_CAPTURED_EVENT;
  if (event->stream != NULL)
    wait_for (stream, event);

  return CU_SUCCESS;
}

CuResult
cuStreamWaitEvent (CuStream     stream,
                   CuEvent      handle,
                   unsigned int flags)
{
  CdEvent *event;
  CuResult result;

  if (!cd_enter (CD_cuStreamWaitEvent, CD_IN_CHILD, &result))
    return result;
  if (flags != 0)
    return cd_leave (CU_INVALID_VALUE);
  event = find_event (handle, &result);
  if (event == NULL)
    return cd_leave (result);

  return cd_leave (wait_in_stream (stream, event));
}

/* A captured event cannot be asked; nor can any while a capture forbids it. */
static CuResult
refuse (const CdEvent *event)
{
  CdCapture *capture = cd_event_capture (event);

  if (capture != NULL)
    cd_capture_invalidate (capture);
  if (event->capture != NULL)
    return CU_CAPTURED_EVENT;

  return cd_capture_forbids ();
}

static CuResult
query (CdEvent *event)
{
  CuResult result = refuse (event);

  if (result != CU_SUCCESS || event->stream == NULL)
    return result;

  cd_want (event->stream, event->position);
  if (event->stream->done < event->position)
    return CU_NOT_READY;
  cd_host_learns (event->stream, event->position, event->clock);

  return cd_error;
}

CuResult
cuEventQuery (CuEvent handle)
{
  CdEvent *event;
  CuResult result;

  if (!cd_enter (CD_cuEventQuery, CD_IN_CHILD, &result))
    return result;
  event = find_event (handle, &result);
  if (event == NULL)
    return cd_leave (result);

  return cd_leave (query (event));
}

/* The event may be recorded anew, or destroyed, by another thread during the wait. */
static CuResult
synchronize (CdEvent *event)
{
  CuResult result = refuse (event);
  CdStream *stream = event->stream;
  uint64_t position = event->position;
  CdClock *clock;

  if (result != CU_SUCCESS || stream == NULL)
    return result;

  clock = cd_clock_ref (event->clock);
  result = cd_await (stream, position);
  cd_host_learns (stream, position, clock);
  cd_clock_unref (clock);

  return result;
}

CuResult
cuEventSynchronize (CuEvent handle)
{
  CdEvent *event;
  CuResult result;

  if (!cd_enter (CD_cuEventSynchronize, CD_IN_CHILD, &result))
    return result;

  cd_count_wait ();
  event = find_event (handle, &result);
  if (event == NULL)
    return cd_leave (result);

  return cd_leave (synchronize (event));
}
