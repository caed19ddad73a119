/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Captures of streams into graphs, and what they forbid. */

#include "cuda-double-private.h"

#include <stdlib.h>

struct CdCapture
{
  CuEnum mode;
  CdStream *origin;
  pthread_t thread;
  bool active, invalid;
  CdWork *first, *last;
  CdCapture *next;
};

typedef struct
{
  CdWork *works;
  bool dead;
  bool has_run; /* for an executable graph */
} Graph;

static CdCapture *captures; /* those that go on */
static CdCapture *ended;    /* events may still have been recorded in them */
static __thread CuEnum thread_mode = CU_CAPTURE_MODE_GLOBAL;

void
cd_capture_invalidate (CdCapture *capture)
{
  capture->invalid = true;
}

bool
cd_capture_is_invalid (const CdCapture *capture)
{
  return capture->invalid;
}

static bool
forbids (const CdCapture *capture)
{
  if (capture->mode != CU_CAPTURE_MODE_RELAXED && pthread_equal (capture->thread, pthread_self ()))
    return true;

  return capture->mode == CU_CAPTURE_MODE_GLOBAL && thread_mode == CU_CAPTURE_MODE_GLOBAL;
}

/* For calls that a capture forbids in threads that are not relaxed: they also spoil it. */
CuResult
cd_capture_forbids (void)
{
  CuResult result = CU_SUCCESS;

  if (thread_mode == CU_CAPTURE_MODE_RELAXED)
    return CU_SUCCESS;
  for (CdCapture *i = captures; i != NULL; i = i->next)
    if (forbids (i))
      {
        cd_capture_invalidate (i);
        result = CU_CAPTURE_UNSUPPORTED;
      }

  return result;
}

CuResult
cd_capture_refuses (CdStream *stream)
{
  if (stream->capture == NULL)
    return CU_SUCCESS;

  cd_capture_invalidate (stream->capture);

  return CU_CAPTURE_UNSUPPORTED;
}

/* The legacy stream would wait for a blocking stream that captures. */
CuResult
cd_capture_refuses_legacy (const CdContext *context,
                           bool             harmless)
{
  CuResult result = CU_SUCCESS;

  for (CdStream *i = cd_streams; i != NULL; i = i->next)
    if (i->context == context && i->capture != NULL && !i->non_blocking)
      {
        result = CU_CAPTURE_IMPLICIT;
        if (!harmless)
          cd_capture_invalidate (i->capture);
      }

  return result;
}

CuResult
cd_capture_add (CdStream *stream,
                CdWork   *work)
{
  CdCapture *capture = stream->capture;

  if (capture->last != NULL)
    capture->last->next = work;
  else
    capture->first = work;
  capture->last = work;
  stream->captured++;

  return CU_SUCCESS;
}

/* Events */

CdCapture *
cd_event_capture (const CdEvent *event)
{
  return event->capture != NULL && event->capture->active ? event->capture : NULL;
}

CuResult
cd_capture_record (CdStream *stream,
                   CdEvent  *event)
{
  event->stream = NULL;
  event->capture = stream->capture;
  cd_clock_unref (event->clock);
  event->clock = cd_clock_ref (stream->capture_clock);
  cd_clock_add (&event->clock, (CdPoint) { stream->id, stream->captured });

  return CU_SUCCESS;
}

static CuResult
spoil (CdCapture *capture,
       CdCapture *other,
       CuResult   result)
{
  cd_capture_invalidate (capture);
  if (other != NULL)
    cd_capture_invalidate (other);

  return result;
}

static void
join (CdStream  *stream,
      CdCapture *capture)
{
  stream->capture = capture;
  stream->captured = 1;
}

CuResult
cd_capture_wait (CdStream *stream,
                 CdEvent  *event)
{
  CdCapture *capture = cd_event_capture (event);

  if (capture == NULL)
    return spoil (stream->capture, NULL, CU_CAPTURE_ISOLATION);
  if (stream->capture != NULL && stream->capture != capture)
    return spoil (stream->capture, capture, CU_CAPTURE_MERGE);
  if (stream == stream->context->legacy)
    return spoil (capture, NULL, CU_CAPTURE_IMPLICIT);
  if (capture->invalid)
    return CU_CAPTURE_INVALIDATED;

  if (stream->capture == NULL)
    join (stream, capture);
  cd_clock_merge (&stream->capture_clock, event->clock);

  return CU_SUCCESS;
}

void
cd_capture_forget_stream (CdStream *stream)
{
  if (stream->capture == NULL)
    return;
  cd_capture_invalidate (stream->capture);
  if (stream != stream->capture->origin)
    stream->capture = NULL;
}

/* Beginning and ending */

static CuResult
begin (CuStream handle,
       CuEnum   mode)
{
  CuResult result = CU_SUCCESS;
  CdStream *stream = cd_stream_find (handle, &result);
  CdCapture *capture;

  if (stream == NULL)
    return result;
  if (stream == stream->context->legacy)
    return CU_CAPTURE_UNSUPPORTED;
  if (stream->capture != NULL || mode > CU_CAPTURE_MODE_RELAXED)
    return CU_INVALID_VALUE;

  capture = cd_allocate (sizeof *capture);
  capture->mode = mode;
  capture->origin = stream;
  capture->thread = pthread_self ();
  capture->active = true;
  capture->next = captures;
  captures = capture;
  join (stream, capture);

  return CU_SUCCESS;
}

CuResult
cuStreamBeginCapture_v2 (CuStream stream,
                         CuEnum   mode)
{
  CuResult result;

  if (!cd_enter (CD_cuStreamBeginCapture_v2, 0, &result))
    return result;

  return cd_leave (begin (stream, mode));
}

/* All streams that joined have to be waited for by the one that began. */
static bool
has_unjoined (const CdCapture *capture)
{
  for (const CdStream *i = cd_streams; i != NULL; i = i->next)
    if (i->capture == capture && i != capture->origin
        && !cd_clock_knows (capture->origin->capture_clock, (CdPoint) { i->id, i->captured }))
      return true;

  return false;
}

static void
finish (CdCapture *capture)
{
  CdCapture **link = &captures;

  while (*link != capture)
    link = &(*link)->next;
  *link = capture->next;
  capture->next = ended;
  ended = capture;
  capture->active = false;
  for (CdStream *i = cd_streams; i != NULL; i = i->next)
    if (i->capture == capture)
      {
        i->capture = NULL;
        cd_clock_unref (i->capture_clock);
        i->capture_clock = NULL;
      }
}

/* Memory of a graph that never ran ends with it. */
static void
free_works (CdWork *works)
{
  while (works != NULL)
    {
      CdWork *next = works->next;
      CdMemory *memory = works->memory;

      if (works->kind == CD_ALLOC && memory->capture != NULL && !memory->freed)
        {
          cd_memory_end (memory);
          cd_memory_drop_pages (memory);
          cd_pool_lost (memory);
        }
      cd_work_free (works);
      works = next;
    }
}

static void
new_graph (CdCapture *capture,
           CuGraph   *handle)
{
  Graph *graph = cd_allocate (sizeof *graph);

  graph->works = capture->first;
  cd_live[CD_LIVE_GRAPH]++;
  *handle = cd_new_handle (CD_HANDLE_GRAPH, graph);
}

static CuResult
end (CuStream handle,
     CuGraph *graph)
{
  CuResult result = CU_SUCCESS;
  CdStream *stream = cd_stream_find (handle, &result);
  CdCapture *capture;

  *graph = NULL;
  if (stream == NULL)
    return result;
  capture = stream->capture;
  if (capture == NULL)
    return CU_INVALID_VALUE;
  if (stream != capture->origin)
    return spoil (capture, NULL, CU_CAPTURE_UNMATCHED);
  if (capture->mode != CU_CAPTURE_MODE_RELAXED
      && !pthread_equal (capture->thread, pthread_self ()))
    return CU_CAPTURE_WRONG_THREAD;

  result = capture->invalid          ? CU_CAPTURE_INVALIDATED
           : has_unjoined (capture) ? CU_CAPTURE_UNJOINED
                                     : CU_SUCCESS;
  finish (capture);
  if (result == CU_SUCCESS)
    new_graph (capture, graph);
  else
    free_works (capture->first);
  capture->first = capture->last = NULL;

  return result;
}

CuResult
cuStreamEndCapture (CuStream stream,
                    CuGraph *graph)
{
  CuResult result;

  if (!cd_enter (CD_cuStreamEndCapture, 0, &result))
    return result;

  return cd_leave (end (stream, graph));
}

CuResult
cuStreamIsCapturing (CuStream handle,
                     CuEnum  *status)
{
  CdStream *stream;
  CuResult result;

  if (!cd_enter (CD_cuStreamIsCapturing, CD_IN_CHILD, &result))
    return result;
  stream = cd_stream_find (handle, &result);
  if (stream == NULL)
    return cd_leave (result);
  if (stream == stream->context->legacy)
    result = cd_capture_refuses_legacy (stream->context, true);
  if (result == CU_SUCCESS)
    *status = stream->capture == NULL ? CU_CAPTURE_NONE
              : stream->capture->invalid ? CU_CAPTURE_INVALID
                                         : CU_CAPTURE_ACTIVE;

  return cd_leave (result);
}

CuResult
cuThreadExchangeStreamCaptureMode (CuEnum *mode)
{
  CuEnum old = thread_mode;
  CuResult result;

  if (!cd_enter (CD_cuThreadExchangeStreamCaptureMode, 0, &result))
    return result;
  if (*mode > CU_CAPTURE_MODE_RELAXED)
    return cd_leave (CU_INVALID_VALUE);

  thread_mode = *mode;
  *mode = old;

  return cd_leave (CU_SUCCESS);
}

unsigned
cuda_double_capture_mode (void)
{
  return thread_mode;
}

/* Graphs: their works run one after another, in the order of the capture. */

static CdWork *
copy_work (const CdWork *work)
{
  CdWork *copy = cd_allocate (sizeof *copy);

  *copy = *work;
  copy->next = NULL;
  if (work->params != NULL)
    copy->params = cd_copy_params (work);

  return copy;
}

static Graph *
find_graph (CdHandleKind kind,
            const void  *handle,
            CuResult    *result)
{
  Graph *graph = cd_find_handle (kind, handle);

  if (graph != NULL && !graph->dead)
    return graph;
  *result = cd_violation (CU_INVALID_VALUE, "%p is no graph, or a destroyed one", handle);

  return NULL;
}

CuResult
cuGraphInstantiateWithFlags (CuGraphExec       *handle,
                             CuGraph            graph,
                             unsigned long long flags)
{
  Graph *found, *exec;
  CdWork **link;
  CuResult result;

  if (!cd_enter (CD_cuGraphInstantiateWithFlags, 0, &result))
    return result;
  found = find_graph (CD_HANDLE_GRAPH, graph, &result);
  if (found == NULL)
    return cd_leave (result);

  exec = cd_allocate (sizeof *exec);
  link = &exec->works;
  for (const CdWork *i = found->works; i != NULL; i = i->next)
    {
      *link = copy_work (i);
      link = &(*link)->next;
    }
  *handle = cd_new_handle (CD_HANDLE_GRAPH_EXEC, exec);
  cd_live[CD_LIVE_GRAPH]++;

  return cd_leave (CU_SUCCESS);
}

static bool
allocates (const Graph *graph)
{
  for (const CdWork *i = graph->works; i != NULL; i = i->next)
    if (i->kind == CD_ALLOC)
      return true;

  return false;
}

static void
launch_work (CdStream *stream,
             CdWork   *work)
{
  if (work->kind == CD_FREE)
    {
      cd_pool_release (stream, work);
      return;
    }
  cd_queue (stream, work);
  if (work->kind == CD_ALLOC)
    {
      work->memory->capture = NULL;
      work->memory->allocated = work->point;
    }
}

static CuResult
launch (Graph   *graph,
        CuStream handle)
{
  CuResult result = CU_SUCCESS;
  CdStream *stream = cd_stream_to_submit (handle, &result);

  if (stream == NULL)
    return result;
  if (stream->capture != NULL || (graph->has_run && allocates (graph)))
    return cd_violation (CU_NOT_SUPPORTED, "the double does not play this");
  for (const CdWork *i = graph->works; i != NULL; i = i->next)
    launch_work (stream, copy_work (i));
  graph->has_run = true;

  return CU_SUCCESS;
}

CuResult
cuGraphLaunch (CuGraphExec handle,
               CuStream    stream)
{
  Graph *graph;
  CuResult result;

  if (!cd_enter (CD_cuGraphLaunch, 0, &result))
    return result;
  graph = find_graph (CD_HANDLE_GRAPH_EXEC, handle, &result);
  if (graph == NULL)
    return cd_leave (result);

  return cd_leave (launch (graph, stream));
}

static CuResult
destroy (CdHandleKind kind,
         const void  *handle)
{
  CuResult result = CU_SUCCESS;
  Graph *graph = find_graph (kind, handle, &result);

  if (graph == NULL)
    return result;
  graph->dead = true;
  free_works (graph->works);
  graph->works = NULL;
  cd_live[CD_LIVE_GRAPH]--;

  return CU_SUCCESS;
}

CuResult
cuGraphDestroy (CuGraph graph)
{
  CuResult result;

  if (!cd_enter (CD_cuGraphDestroy, CD_RELEASES, &result))
    return result;

  return cd_leave (destroy (CD_HANDLE_GRAPH, graph));
}

CuResult
cuGraphExecDestroy (CuGraphExec graph)
{
  CuResult result;

  if (!cd_enter (CD_cuGraphExecDestroy, CD_RELEASES, &result))
    return result;

  return cd_leave (destroy (CD_HANDLE_GRAPH_EXEC, graph));
}
