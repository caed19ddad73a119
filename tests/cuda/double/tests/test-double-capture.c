/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Captures into graphs: what they forbid, and to whom. */

#include "test-double.h"

#include <pthread.h>
#include <sys/mman.h>

static CuStream stream, side, blocking;
static CuEvent event, outside;
static CuAddress memory;
static CuPool pool;
static void *pinned;
static char *own;

static void
begin_capture_tests (void)
{
  begin ();
  stream = new_stream ();
  side = new_stream ();
  MUST (cu.cuStreamCreate (&blocking, 0));
  event = new_event ();
  outside = new_event ();
  memory = new_memory (64);
  pinned = new_pinned (64);
  pool = new_pool (0);
  own = mmap (NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  MUST (cu.cuEventRecord (outside, side));
  MUST (cu.cuStreamSynchronize (side));
}

static void
end_capture_tests (void)
{
  MUST (cu.cuStreamDestroy_v2 (stream));
  MUST (cu.cuStreamDestroy_v2 (side));
  MUST (cu.cuStreamDestroy_v2 (blocking));
  MUST (cu.cuEventDestroy_v2 (event));
  MUST (cu.cuEventDestroy_v2 (outside));
  MUST (cu.cuMemFree_v2 (memory));
  MUST (cu.cuMemFreeHost (pinned));
  MUST (cu.cuMemPoolDestroy (pool));
  end ();
}

static void
start (CuStream s,
       CuEnum   mode)
{
  MUST (cu.cuStreamBeginCapture_v2 (s, mode));
}

static CuEnum
status (CuStream s)
{
  CuEnum value = 99;

  MUST (cu.cuStreamIsCapturing (s, &value));
  return value;
}

/* Ends a capture that has to be as it should, or spoiled. */
static void
finish (CuStream s,
        CuResult expected)
{
  CuGraph graph = (CuGraph) 1;

  EXPECT (expected == CU_SUCCESS ? CU_CAPTURE_ACTIVE
          : expected == CU_CAPTURE_UNJOINED ? CU_CAPTURE_ACTIVE : CU_CAPTURE_INVALID, status (s));
  EXPECT (expected, cu.cuStreamEndCapture (s, &graph));
  CHECK ((graph != NULL) == (expected == CU_SUCCESS));
  if (graph != NULL)
    MUST (cu.cuGraphDestroy (graph));
  EXPECT (CU_CAPTURE_NONE, status (s));
}

static CuEnum
exchange_mode (CuEnum mode)
{
  MUST (cu.cuThreadExchangeStreamCaptureMode (&mode));
  return mode;
}

static void
test_graph (void)
{
  CuGraph graph;
  CuGraphExec exec;
  uint32_t *word;

  begin_capture_tests ();
  word = pinned;
  *word = 0;
  start (stream, CU_CAPTURE_MODE_GLOBAL);
  EXPECT (CU_CAPTURE_ACTIVE, status (stream));
  MUST (cu.cuMemsetD32Async (memory, 42, 1, stream));
  MUST (cu.cuMemcpyAsync (ADDRESS (word), memory, 4, stream));
  MUST (cu.cuStreamEndCapture (stream, &graph));
  EXPECT (CU_CAPTURE_NONE, status (stream));
  MUST (cu.cuStreamSynchronize (stream)); /* nothing of it has run */
  EXPECT (0, *word);
  MUST (cu.cuGraphInstantiateWithFlags (&exec, graph, 0));
  MUST (cu.cuGraphDestroy (graph));
  for (int i = 0; i < 2; i++)
    {
      *word = 0;
      MUST (cu.cuGraphLaunch (exec, side));
      CHECK (!is_double || *word == 0);
      MUST (cu.cuStreamSynchronize (side));
      EXPECT (42, *word);
    }
  MUST (cu.cuGraphExecDestroy (exec));
  end_capture_tests ();
}

/* Calls that no thread may make that is not relaxed, "potentially unsafe" */
static CuResult
call_unsafe (int which)
{
  CuAddress address;
  CuModule module;
  CuResult result;
  void *host;

  switch (which)
    {
    case 0:
      return cu.cuMemAlloc_v2 (&address, 4);
    case 1:
      return cu.cuMemFree_v2 (memory);
    case 2:
      return cu.cuMemHostAlloc (&host, 4, 0);
    case 3:
      return cu.cuMemFreeHost (pinned);
    case 4:
      return cu.cuMemHostRegister_v2 (own, 4, 0);
    case 5:
      return cu.cuMemHostUnregister (own);
    case 6:
      return cu.cuMemAllocManaged (&address, 4, 1);
    case 7:
      return cu.cuEventQuery (outside);
    case 8:
      return cu.cuEventSynchronize (outside);
    case 9:
      return cu.cuStreamQuery (side);
    case 10:
      return cu.cuStreamSynchronize (side);
    case 11:
      return cu.cuCtxSynchronize ();
    case 12:
      return cu.cuModuleLoadData (&module, ".version 6.0");
    case 13:
      return cu.cuMemAllocFromPoolAsync (&address, 4, pool, side);
    case 14:
      return cu.cuMemPoolTrimTo (pool, 0);
    case 15:
      result = cu.cuMemcpyAsync (ADDRESS (own), memory, 4, side); /* waits */
      return result;
    default:
      return CU_UNKNOWN;
    }
}

#define N_UNSAFE 16

/* Some would do what the next case needs undone. */
static bool
may_call (int which)
{
  return which == 0 || which == 2 || which == 6 || which == 14 || (which >= 7 && which <= 11)
         || which == 15;
}

static void
test_unsafe (void)
{
  begin_capture_tests ();
  for (CuEnum mode = 0; mode < 3; mode++)
    for (int i = 0; i < N_UNSAFE; i++)
      {
        bool allowed = mode == CU_CAPTURE_MODE_RELAXED;

        if (allowed && !may_call (i))
          continue;
        start (stream, mode);
        if (allowed)
          {
            /* The thread is global, but the capture asks nobody. */
            EXPECT (CU_SUCCESS, call_unsafe (i));
            finish (stream, CU_SUCCESS);
            continue;
          }
        EXPECT (CU_CAPTURE_UNSUPPORTED, call_unsafe (i));
        EXPECT (CU_CAPTURE_INVALIDATED, cu.cuMemsetD8Async (memory, 0, 4, stream));
        finish (stream, CU_CAPTURE_INVALIDATED);
      }
}

static void
test_unsafe_relaxed (void)
{
  begin_capture_tests ();
  EXPECT (CU_CAPTURE_MODE_GLOBAL, exchange_mode (CU_CAPTURE_MODE_RELAXED));
  EXPECT (CU_CAPTURE_MODE_RELAXED, dbl.capture_mode ());
  for (CuEnum mode = 0; mode < 3; mode++)
    for (int i = 0; i < N_UNSAFE; i++)
      {
        if (!may_call (i))
          continue;
        start (stream, mode);
        MUST (call_unsafe (i));
        finish (stream, CU_SUCCESS);
      }
  start (stream, CU_CAPTURE_MODE_GLOBAL);
  MUST (cu.cuMemHostRegister_v2 (own, 4, 0));
  MUST (cu.cuMemHostUnregister (own));
  MUST (cu.cuMemFreeHost (pinned));
  MUST (cu.cuMemFree_v2 (memory));
  finish (stream, CU_SUCCESS);
  EXPECT (CU_CAPTURE_MODE_RELAXED, exchange_mode (CU_CAPTURE_MODE_THREAD));
  EXPECT (CU_CAPTURE_MODE_THREAD, exchange_mode (CU_CAPTURE_MODE_GLOBAL));
  EXPECT (CU_INVALID_VALUE, cu.cuThreadExchangeStreamCaptureMode (&(CuEnum) { 3 }));
}

typedef struct
{
  CuEnum thread_mode;
  CuResult result;
} Elsewhere;

static void *
query_elsewhere (void *data)
{
  Elsewhere *elsewhere = data;

  MUST (cu.cuCtxPushCurrent_v2 (context));
  EXPECT (CU_CAPTURE_MODE_GLOBAL, exchange_mode (elsewhere->thread_mode));
  elsewhere->result = cu.cuEventQuery (outside);
  MUST (cu.cuCtxPopCurrent_v2 (NULL));
  return NULL;
}

/* A global capture is spoiled by other threads, too. */
static void
test_other_threads (void)
{
  begin_capture_tests ();
  for (CuEnum mode = 0; mode < 3; mode++)
    for (CuEnum thread_mode = 0; thread_mode < 3; thread_mode++)
      {
        bool spoils = mode == CU_CAPTURE_MODE_GLOBAL && thread_mode == CU_CAPTURE_MODE_GLOBAL;
        Elsewhere elsewhere = { thread_mode, 99 };
        pthread_t thread;

        start (stream, mode);
        pthread_create (&thread, NULL, query_elsewhere, &elsewhere);
        pthread_join (thread, NULL);
        EXPECT (spoils ? CU_CAPTURE_UNSUPPORTED : CU_SUCCESS, elsewhere.result);
        finish (stream, spoils ? CU_CAPTURE_INVALIDATED : CU_SUCCESS);
      }
  end_capture_tests ();
}

/* Calls that a capture allows */
static void
test_safe (void)
{
  CuEnum type, which[] = { CU_POINTER_MEMORY_TYPE };
  void *out[] = { &type };
  CuStream made;
  CuEvent made_event;
  CuContext found;

  begin_capture_tests ();
  start (stream, CU_CAPTURE_MODE_GLOBAL);
  MUST (cu.cuPointerGetAttributes (1, which, out, memory));
  MUST (cu.cuStreamGetCtx (stream, &found));
  MUST (cu.cuEventCreate (&made_event, CU_EVENT_NO_TIMING));
  MUST (cu.cuStreamCreate (&made, CU_STREAM_NONBLOCKING));
  MUST (cu.cuMemsetD8Async (memory, 0, 4, made));
  MUST (cu.cuEventRecord (made_event, made));
  MUST (cu.cuStreamWaitEvent (side, made_event, 0));
  MUST (cu.cuEventDestroy_v2 (made_event));
  MUST (cu.cuStreamDestroy_v2 (made));
  MUST (cu.cuMemsetD8Async (memory, 0, 4, CU_LEGACY_STREAM)); /* the capturing one does not block */
  EXPECT (CU_CAPTURE_NONE, status (CU_LEGACY_STREAM));
  finish (stream, CU_SUCCESS);
  end_capture_tests ();
}

/* Nobody may ask after a stream that captures, or an event in it. */
static void
test_questions (void)
{
  begin_capture_tests ();
  for (CuEnum mode = 0; mode < 3; mode++)
    for (int relaxed = 0; relaxed < 2; relaxed++)
      {
        exchange_mode (relaxed ? CU_CAPTURE_MODE_RELAXED : CU_CAPTURE_MODE_GLOBAL);
        start (stream, mode);
        EXPECT (CU_CAPTURE_UNSUPPORTED, cu.cuStreamQuery (stream));
        finish (stream, CU_CAPTURE_INVALIDATED);
        start (stream, mode);
        EXPECT (CU_CAPTURE_UNSUPPORTED, cu.cuStreamSynchronize (stream));
        finish (stream, CU_CAPTURE_INVALIDATED);
        start (stream, mode);
        MUST (cu.cuEventRecord (event, stream));
        EXPECT (CU_CAPTURED_EVENT, cu.cuEventQuery (event));
        finish (stream, CU_CAPTURE_INVALIDATED);
        start (stream, mode);
        MUST (cu.cuEventRecord (event, stream));
        EXPECT (CU_CAPTURED_EVENT, cu.cuEventSynchronize (event));
        finish (stream, CU_CAPTURE_INVALIDATED);
      }
  EXPECT (CU_CAPTURED_EVENT, cu.cuEventQuery (event)); /* also when it has ended */
  EXPECT (CU_CAPTURED_EVENT, cu.cuStreamWaitEvent (side, event, 0));
  MUST (cu.cuEventRecord (event, side));
  MUST (cu.cuEventSynchronize (event));
  end_capture_tests ();
}

static void
test_isolation (void)
{
  begin_capture_tests ();
  start (stream, CU_CAPTURE_MODE_RELAXED);
  EXPECT (CU_CAPTURE_ISOLATION, cu.cuStreamWaitEvent (stream, outside, 0));
  finish (stream, CU_CAPTURE_INVALIDATED);
  start (stream, CU_CAPTURE_MODE_RELAXED);
  EXPECT (CU_CAPTURE_ISOLATION, cu.cuStreamWaitEvent (stream, event, 0)); /* never recorded */
  finish (stream, CU_CAPTURE_INVALIDATED);

  start (stream, CU_CAPTURE_MODE_RELAXED);
  start (side, CU_CAPTURE_MODE_RELAXED);
  MUST (cu.cuEventRecord (event, side));
  EXPECT (CU_CAPTURE_MERGE, cu.cuStreamWaitEvent (stream, event, 0));
  finish (stream, CU_CAPTURE_INVALIDATED);
  finish (side, CU_CAPTURE_INVALIDATED);

  start (stream, CU_CAPTURE_MODE_RELAXED);
  MUST (cu.cuEventRecord (event, stream));
  EXPECT (CU_CAPTURE_UNSUPPORTED, cu.cuStreamQuery (stream));
  EXPECT (CU_CAPTURE_INVALIDATED, cu.cuStreamWaitEvent (side, event, 0));
  EXPECT (CU_CAPTURE_NONE, status (side));
  finish (stream, CU_CAPTURE_INVALIDATED);
  end_capture_tests ();
}

/* A stream that waits for a captured event captures, too, and has to be waited for. */
static void
test_join (void)
{
  CuGraph graph;
  CuGraphExec exec;

  begin_capture_tests ();
  start (stream, CU_CAPTURE_MODE_GLOBAL);
  MUST (cu.cuMemsetD32Async (memory, 1, 2, stream));
  MUST (cu.cuEventRecord (event, stream));
  MUST (cu.cuStreamWaitEvent (side, event, 0));
  EXPECT (CU_CAPTURE_ACTIVE, status (side));
  MUST (cu.cuMemsetD32Async (memory, 2, 1, side));
  MUST (cu.cuEventRecord (event, side));
  MUST (cu.cuStreamWaitEvent (stream, event, 0));
  MUST (cu.cuStreamEndCapture (stream, &graph));
  EXPECT (CU_CAPTURE_NONE, status (side));
  MUST (cu.cuGraphInstantiateWithFlags (&exec, graph, 0));
  MUST (cu.cuGraphLaunch (exec, stream));
  EXPECT (2, read_word (memory, stream));
  EXPECT (1, read_word (memory + 4, stream));
  MUST (cu.cuGraphExecDestroy (exec));
  MUST (cu.cuGraphDestroy (graph));
  end_capture_tests ();
}

static void
test_unjoined (void)
{
  CuGraph graph;

  begin_capture_tests ();
  start (stream, CU_CAPTURE_MODE_GLOBAL);
  MUST (cu.cuEventRecord (event, stream));
  MUST (cu.cuStreamWaitEvent (side, event, 0));
  finish (stream, CU_CAPTURE_UNJOINED);
  EXPECT (CU_CAPTURE_NONE, status (side));

  /* Work behind the event is not joined. */
  start (stream, CU_CAPTURE_MODE_GLOBAL);
  MUST (cu.cuEventRecord (event, stream));
  MUST (cu.cuStreamWaitEvent (side, event, 0));
  MUST (cu.cuEventRecord (event, side));
  MUST (cu.cuMemsetD32Async (memory, 2, 1, side));
  MUST (cu.cuStreamWaitEvent (stream, event, 0));
  finish (stream, CU_CAPTURE_UNJOINED);

  start (stream, CU_CAPTURE_MODE_GLOBAL);
  MUST (cu.cuEventRecord (event, stream));
  MUST (cu.cuStreamWaitEvent (side, event, 0));
  EXPECT (CU_CAPTURE_UNMATCHED, cu.cuStreamEndCapture (side, &graph));
  finish (stream, CU_CAPTURE_INVALIDATED);
  end_capture_tests ();
}

/* The legacy stream waits for blocking streams, which a capture does not allow. */
static void
test_legacy (void)
{
  CuEnum seen = 99;

  begin_capture_tests ();
  for (CuEnum mode = 0; mode < 3; mode++)
    {
      start (blocking, mode);
      EXPECT (CU_CAPTURE_IMPLICIT, cu.cuStreamIsCapturing (CU_LEGACY_STREAM, &seen));
      EXPECT (CU_CAPTURE_IMPLICIT, cu.cuStreamIsCapturing (NULL, &seen));
      finish (blocking, CU_SUCCESS); /* without harm */
      start (blocking, mode);
      EXPECT (CU_CAPTURE_IMPLICIT, cu.cuMemsetD8Async (memory, 0, 4, CU_LEGACY_STREAM));
      finish (blocking, CU_CAPTURE_INVALIDATED);
      start (blocking, mode);
      EXPECT (CU_CAPTURE_IMPLICIT, cu.cuStreamSynchronize (NULL));
      finish (blocking, CU_CAPTURE_INVALIDATED);
      start (blocking, mode);
      EXPECT (CU_CAPTURE_IMPLICIT, cu.cuEventRecord (event, NULL));
      finish (blocking, CU_CAPTURE_INVALIDATED);
    }
  EXPECT (CU_CAPTURE_UNSUPPORTED, cu.cuStreamBeginCapture_v2 (CU_LEGACY_STREAM, 0));
  start (stream, CU_CAPTURE_MODE_GLOBAL);
  MUST (cu.cuEventRecord (event, stream));
  EXPECT (CU_CAPTURE_IMPLICIT, cu.cuStreamWaitEvent (CU_LEGACY_STREAM, event, 0));
  finish (stream, CU_CAPTURE_INVALIDATED);
  start (CU_PER_THREAD_STREAM, CU_CAPTURE_MODE_GLOBAL);
  finish (CU_PER_THREAD_STREAM, CU_SUCCESS);
  end_capture_tests ();
}

static void *
end_elsewhere (void *mode)
{
  CuGraph graph;

  EXPECT (*(CuEnum *) mode == CU_CAPTURE_MODE_RELAXED ? CU_SUCCESS : CU_CAPTURE_WRONG_THREAD,
          cu.cuStreamEndCapture (stream, &graph));
  if (*(CuEnum *) mode == CU_CAPTURE_MODE_RELAXED)
    MUST (cu.cuGraphDestroy (graph));
  return NULL;
}

static void
test_begin_and_end (void)
{
  CuGraph graph;

  begin_capture_tests ();
  EXPECT (CU_INVALID_VALUE, cu.cuStreamEndCapture (stream, &graph));
  EXPECT (CU_INVALID_VALUE, cu.cuStreamBeginCapture_v2 (stream, 3));
  for (CuEnum mode = 0; mode < 3; mode++)
    {
      pthread_t thread;

      start (stream, mode);
      EXPECT (CU_INVALID_VALUE, cu.cuStreamBeginCapture_v2 (stream, mode));
      pthread_create (&thread, NULL, end_elsewhere, &mode);
      pthread_join (thread, NULL);
      if (mode != CU_CAPTURE_MODE_RELAXED)
        finish (stream, CU_SUCCESS);
    }
  end_capture_tests ();
}

/* Memory that a graph allocates is there when it runs. */
static void
test_allocation (void)
{
  CuGraph graph;
  CuGraphExec exec;
  CuAddress made;

  begin_capture_tests ();
  start (stream, CU_CAPTURE_MODE_GLOBAL);
  MUST (cu.cuMemAllocFromPoolAsync (&made, 4, pool, stream));
  MUST (cu.cuMemsetD32Async (made, 3, 1, stream));
  MUST (cu.cuMemcpyAsync (memory, made, 4, stream));
  MUST (cu.cuMemFreeAsync (made, stream));
  MUST (cu.cuStreamEndCapture (stream, &graph));
  MUST (cu.cuGraphInstantiateWithFlags (&exec, graph, 0));
  MUST (cu.cuGraphLaunch (exec, stream));
  EXPECT (3, read_word (memory, stream));
  MUST (cu.cuGraphExecDestroy (exec));
  MUST (cu.cuGraphDestroy (graph));

  start (stream, CU_CAPTURE_MODE_GLOBAL); /* memory of one that does not come about */
  MUST (cu.cuMemAllocFromPoolAsync (&made, 4, pool, stream));
  EXPECT (CU_CAPTURE_UNSUPPORTED, cu.cuStreamQuery (stream));
  finish (stream, CU_CAPTURE_INVALIDATED);
  end_capture_tests ();
}

static void
test_wrong_allocation (void)
{
  CuGraph graph;
  CuGraphExec exec;
  CuAddress made, before;

  begin_capture_tests ();
  MUST (cu.cuMemAllocFromPoolAsync (&before, 4, pool, stream));
  start (stream, CU_CAPTURE_MODE_RELAXED);
  VIOLATES (CU_INVALID_VALUE, cu.cuMemFreeAsync (before, stream));
  MUST (cu.cuMemAllocFromPoolAsync (&made, 4, pool, stream));
  VIOLATES (CU_INVALID_VALUE, cu.cuMemFreeAsync (made, side));
  MUST (cu.cuStreamEndCapture (stream, &graph));
  MUST (cu.cuMemsetD32Async (made, 1, 1, stream));
  VIOLATES (CU_LAUNCH_FAILED, cu.cuStreamSynchronize (stream));
  dbl.set_error (CU_SUCCESS);
  VIOLATES (CU_INVALID_VALUE, cu.cuGraphDestroy ((CuGraph) stream));

  /* A graph's memory is there once; the double does not play more. */
  MUST (cu.cuGraphInstantiateWithFlags (&exec, graph, 0));
  MUST (cu.cuGraphLaunch (exec, stream));
  VIOLATES (CU_NOT_SUPPORTED, cu.cuGraphLaunch (exec, stream));
}

static void
test_destroyed_stream (void)
{
  CuGraph graph;

  begin_capture_tests ();
  start (stream, CU_CAPTURE_MODE_GLOBAL);
  MUST (cu.cuEventRecord (event, stream));
  MUST (cu.cuStreamWaitEvent (side, event, 0));
  MUST (cu.cuStreamDestroy_v2 (side));
  side = new_stream ();
  EXPECT (CU_CAPTURE_INVALIDATED, cu.cuStreamEndCapture (stream, &graph));
  end_capture_tests ();
}

static const Case cases[] = {
  { "graph", test_graph, true },
  { "unsafe", test_unsafe },
  { "unsafe-relaxed", test_unsafe_relaxed },
  { "other-threads", test_other_threads },
  { "safe", test_safe },
  { "questions", test_questions },
  { "isolation", test_isolation },
  { "join", test_join, true },
  { "unjoined", test_unjoined },
  { "legacy", test_legacy },
  { "begin-and-end", test_begin_and_end },
  { "allocation", test_allocation },
  { "wrong-allocation", test_wrong_allocation },
  { "destroyed-stream", test_destroyed_stream },
};

RUN_CASES (cases)
