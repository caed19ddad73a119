/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Streams and events: late work, and the order between streams. */

#include "test-double.h"

#include <limits.h>
#include <pthread.h>
#include <time.h>

#define FRESH_WORD 0xa5a5a5a5

static uint64_t
now (void)
{
  struct timespec time;

  clock_gettime (CLOCK_MONOTONIC, &time);
  return (uint64_t) time.tv_sec * 1000 + (uint64_t) time.tv_nsec / 1000000;
}

/* Work runs only when somebody waits for it, or asks. */
static void
test_late (void)
{
  uint32_t *word;
  CuStream stream;
  CuAddress device;
  int n_questions = 0;

  begin ();
  stream = new_stream ();
  device = new_memory (4);
  word = new_pinned (4);
  MUST (cu.cuMemsetD32Async (device, 42, 1, stream));
  MUST (cu.cuMemcpyAsync (ADDRESS (word), device, 4, stream));
  EXPECT (2, dbl.pending (stream));
  usleep (50000);
  EXPECT (FRESH_WORD, *word);
  MUST (cu.cuStreamSynchronize (stream));
  EXPECT (42, *word);
  EXPECT (0, dbl.pending (stream));

  MUST (cu.cuMemsetD32Async (ADDRESS (word), 43, 1, stream));
  EXPECT (CU_NOT_READY, cu.cuStreamQuery (stream));
  while (cu.cuStreamQuery (stream) == CU_NOT_READY)
    n_questions++;
  EXPECT (43, *word);
  EXPECT (1, dbl.waits (NULL));
  MUST (cu.cuStreamQuery (stream));

  MUST (cu.cuMemFree_v2 (device));
  MUST (cu.cuMemFreeHost (word));
  MUST (cu.cuStreamDestroy_v2 (stream));
  end ();
}

static void
wait_until_done (CuStream stream)
{
  uint64_t start = now ();

  while (dbl.pending (stream) > 0 && now () - start < 10000)
    usleep (1000);
  EXPECT (0, dbl.pending (stream));
}

static void
test_eager (void)
{
  CuStream stream;
  CuAddress device;

  dbl.set_eager (true);
  begin ();
  stream = new_stream ();
  device = new_memory (4);
  MUST (cu.cuMemsetD32Async (device, 42, 1, stream));
  wait_until_done (stream);
  dbl.set_eager (false);
  MUST (cu.cuMemsetD32Async (device, 43, 1, stream));
  usleep (50000);
  EXPECT (1, dbl.pending (stream));
  dbl.set_eager (true); /* also what is queued */
  wait_until_done (stream);
  MUST (cu.cuMemFree_v2 (device));
  MUST (cu.cuStreamDestroy_v2 (stream));
  end ();
}

static void
test_delay (void)
{
  CuStream stream;
  CuAddress device;
  uint64_t start;

  dbl.set_delay (100);
  begin ();
  stream = new_stream ();
  device = new_memory (4);
  start = now ();
  MUST (cu.cuMemsetD32Async (device, 42, 1, stream));
  EXPECT (1, dbl.pending (stream));
  wait_until_done (stream);
  CHECK (now () - start >= 95);
  dbl.set_delay (UINT_MAX);
  MUST (cu.cuMemsetD32Async (device, 42, 1, stream));
  usleep (150000);
  EXPECT (1, dbl.pending (NULL));
  MUST (cu.cuMemFree_v2 (device));
  MUST (cu.cuStreamDestroy_v2 (stream));
  end ();
}

static void *
synchronize (void *stream)
{
  MUST (cu.cuStreamSynchronize (stream));
  return NULL;
}

static void
test_pause (void)
{
  CuStream stream;
  CuAddress device;
  pthread_t thread;

  begin ();
  stream = new_stream ();
  device = new_memory (4);
  dbl.pause ();
  MUST (cu.cuMemsetD32Async (device, 42, 1, stream));
  pthread_create (&thread, NULL, synchronize, stream);
  EXPECT (CU_NOT_READY, cu.cuStreamQuery (stream));
  usleep (50000);
  EXPECT (CU_NOT_READY, cu.cuStreamQuery (stream));
  EXPECT (1, dbl.pending (stream));
  dbl.resume ();
  pthread_join (thread, NULL);
  EXPECT (0, dbl.pending (stream));
  EXPECT (0, dbl.waits (NULL)); /* it was the other thread that waited */
  EXPECT (1, dbl.waits_of_all_threads ("cuStreamSynchronize"));

  MUST (cu.cuMemsetD32Async (device, 43, 1, stream));
  dbl.quiesce ();
  EXPECT (0, dbl.pending (stream));
  EXPECT (0, dbl.waits (NULL));
  MUST (cu.cuMemFree_v2 (device));
  MUST (cu.cuStreamDestroy_v2 (stream));
  end ();
}

/* One stream writes, and another reads. */
static void
exchange (CuStream from,
          CuStream to,
          bool     with_event,
          bool     is_right)
{
  CuAddress device = new_memory (4);
  uint32_t *word = new_pinned (4);
  CuEvent event = new_event ();

  *word = 0;
  MUST (cu.cuMemsetD32Async (device, 42, 1, from));
  MUST (cu.cuEventRecord (event, from));
  if (with_event)
    MUST (cu.cuStreamWaitEvent (to, event, 0));
  MUST (cu.cuMemcpyAsync (ADDRESS (word), device, 4, to));
  CHECK (!is_double || *word == 0);
  MUST (cu.cuStreamSynchronize (to));
  if (is_right)
    EXPECT (42, *word);
  else if (is_double)
    EXPECT (FRESH_WORD, *word);
  MUST (cu.cuEventSynchronize (event));
  MUST (cu.cuEventDestroy_v2 (event));
  MUST (cu.cuMemFree_v2 (device));
  MUST (cu.cuMemFreeHost (word));
}

static void
test_order (void)
{
  CuStream blocking, other, a, b;

  begin ();
  MUST (cu.cuStreamCreate (&blocking, 0));
  MUST (cu.cuStreamCreate (&other, 0));
  a = new_stream ();
  b = new_stream ();
  exchange (a, a, false, true);
  exchange (a, b, true, true);
  exchange (a, b, false, false);
  exchange (blocking, other, false, false);
  exchange (blocking, a, false, false);
  exchange (CU_LEGACY_STREAM, blocking, false, true);
  exchange (NULL, CU_LEGACY_STREAM, false, true);
  exchange (blocking, NULL, false, true);
  exchange (CU_PER_THREAD_STREAM, CU_LEGACY_STREAM, false, true);
  exchange (CU_LEGACY_STREAM, CU_PER_THREAD_STREAM, false, true);
  exchange (CU_LEGACY_STREAM, a, false, false);
  exchange (a, CU_LEGACY_STREAM, false, false);
  exchange (a, CU_LEGACY_STREAM, true, true);
  exchange (CU_PER_THREAD_STREAM, blocking, false, false);
  MUST (cu.cuStreamDestroy_v2 (blocking));
  MUST (cu.cuStreamDestroy_v2 (other));
  MUST (cu.cuStreamDestroy_v2 (a));
  MUST (cu.cuStreamDestroy_v2 (b));
  end ();
}

/* Two blocking streams meet in the legacy one. */
static void
test_legacy_between (void)
{
  CuStream from, to;
  CuAddress device;

  begin ();
  MUST (cu.cuStreamCreate (&from, 0));
  MUST (cu.cuStreamCreate (&to, 0));
  device = new_memory (4);
  MUST (cu.cuMemsetD32Async (device, 1, 1, from));
  MUST (cu.cuMemsetD32Async (device, 2, 1, NULL));
  MUST (cu.cuMemsetD32Async (device, 3, 1, to));
  EXPECT (3, read_word (device, to));
  MUST (cu.cuMemFree_v2 (device));
  MUST (cu.cuStreamDestroy_v2 (from));
  MUST (cu.cuStreamDestroy_v2 (to));
  end ();
}

static void *
get_own_stream_work (void *device)
{
  MUST (cu.cuCtxPushCurrent_v2 (context));
  MUST (cu.cuMemsetD32Async (ADDRESS (device), 5, 1, CU_PER_THREAD_STREAM));
  MUST (cu.cuCtxPopCurrent_v2 (NULL));
  return NULL;
}

/* Each thread has its own. */
static void
test_per_thread (void)
{
  CuAddress device;
  pthread_t thread;

  begin ();
  device = new_memory (4);
  pthread_create (&thread, NULL, get_own_stream_work, POINTER (device));
  pthread_join (thread, NULL);
  EXPECT (FRESH_WORD, read_word (device, CU_PER_THREAD_STREAM));
  MUST (cu.cuMemFree_v2 (device)); /* waits for the other's */
  EXPECT (0, dbl.pending (NULL));
  end ();
}

static void
test_events (void)
{
  CuStream stream;
  CuAddress device;
  CuEvent event;
  uint32_t *word;

  begin ();
  stream = new_stream ();
  device = new_memory (4);
  word = new_pinned (4);
  EXPECT (CU_INVALID_VALUE, cu.cuEventCreate (&event, 64));
  EXPECT (CU_INVALID_VALUE, cu.cuEventCreate (&event, 4)); /* for processes, but with timing */
  MUST (cu.cuEventCreate (&event, CU_EVENT_NO_TIMING | CU_EVENT_BLOCKING));
  MUST (cu.cuEventQuery (event)); /* never recorded */
  MUST (cu.cuEventSynchronize (event));
  MUST (cu.cuStreamWaitEvent (stream, event, 0));
  MUST (cu.cuStreamQuery (stream));

  MUST (cu.cuMemsetD32Async (ADDRESS (word), 1, 1, stream));
  MUST (cu.cuEventRecord (event, stream));
  MUST (cu.cuMemsetD32Async (ADDRESS (word), 2, 1, stream));
  if (is_double)
    {
      EXPECT (CU_NOT_READY, cu.cuEventQuery (event));
      while (cu.cuEventQuery (event) == CU_NOT_READY)
        ;
      EXPECT (1, *word); /* no more than what was recorded */
      MUST (cu.cuEventSynchronize (event));
      EXPECT (1, dbl.pending (stream));
    }
  MUST (cu.cuEventRecord (event, stream));
  MUST (cu.cuEventSynchronize (event));
  EXPECT (2, *word);
  EXPECT (CU_INVALID_VALUE, cu.cuStreamWaitEvent (stream, event, 64));

  MUST (cu.cuEventDestroy_v2 (event));
  MUST (cu.cuMemFree_v2 (device));
  MUST (cu.cuMemFreeHost (word));
  MUST (cu.cuStreamDestroy_v2 (stream));
  end ();
}

/* A wait is for what was recorded when it was queued. */
static void
test_event_recorded_again (void)
{
  CuStream from, to;
  CuEvent event;

  begin ();
  from = new_stream ();
  to = new_stream ();
  event = new_event ();
  MUST (cu.cuEventRecord (event, from));
  MUST (cu.cuStreamWaitEvent (to, event, 0));
  MUST (cu.cuEventRecord (event, from));
  MUST (cu.cuStreamSynchronize (to));
  EXPECT (1, dbl.pending (from));
  MUST (cu.cuEventDestroy_v2 (event)); /* although it is not done */
  MUST (cu.cuStreamDestroy_v2 (from));
  MUST (cu.cuStreamDestroy_v2 (to));
  EXPECT (1, dbl.pending (NULL));
  end ();
}

static void
test_wrong_events (void)
{
  CuStream stream;
  CuEvent event;

  begin ();
  stream = new_stream ();
  event = new_event ();
  MUST (cu.cuEventDestroy_v2 (event));
  VIOLATES (CU_INVALID_HANDLE, cu.cuEventDestroy_v2 (event));
  VIOLATES (CU_INVALID_HANDLE, cu.cuEventQuery (event));
  VIOLATES (CU_INVALID_HANDLE, cu.cuEventSynchronize (event));
  VIOLATES (CU_INVALID_HANDLE, cu.cuEventRecord (event, stream));
  VIOLATES (CU_INVALID_HANDLE, cu.cuStreamWaitEvent (stream, event, 0));
  VIOLATES (CU_INVALID_HANDLE, cu.cuEventQuery (NULL));
  VIOLATES (CU_INVALID_HANDLE, cu.cuEventQuery ((CuEvent) stream));
}

/* Destroying a stream waits for nothing, and its work is still done. */
static void
test_destroyed (void)
{
  CuStream stream, other;
  CuAddress device;
  CuEvent event;

  begin ();
  stream = new_stream ();
  other = new_stream ();
  device = new_memory (4);
  event = new_event ();
  MUST (cu.cuMemsetD32Async (device, 42, 1, stream));
  MUST (cu.cuEventRecord (event, stream));
  MUST (cu.cuStreamDestroy_v2 (stream));
  EXPECT (2, dbl.pending (NULL));
  MUST (cu.cuStreamWaitEvent (other, event, 0));
  EXPECT (42, read_word (device, other));

  EXPECT (CU_INVALID_HANDLE, cu.cuStreamSynchronize (stream));
  EXPECT (CU_INVALID_HANDLE, cu.cuEventRecord (event, stream));
  EXPECT (CU_INVALID_HANDLE, cu.cuMemsetD32Async (device, 1, 1, stream));
  EXPECT (3, dbl.dead_streams_used ());
  EXPECT (0, dbl.violations ());
  MUST (cu.cuMemFree_v2 (device));
  MUST (cu.cuEventDestroy_v2 (event));
  MUST (cu.cuStreamDestroy_v2 (other));
  end ();

  MUST (cu.cuCtxPushCurrent_v2 (context));
  VIOLATES (CU_INVALID_HANDLE, cu.cuStreamDestroy_v2 (stream));
  VIOLATES (CU_INVALID_HANDLE, cu.cuStreamDestroy_v2 (NULL));
  VIOLATES (CU_INVALID_HANDLE, cu.cuStreamQuery ((CuStream) event));
  dbl.set_strict_streams (true);
  VIOLATES (CU_INVALID_HANDLE, cu.cuStreamQuery (stream));
}

/* The legacy stream still comes after the work of blocking streams that are gone. */
static void
test_destroyed_blocking (void)
{
  CuStream stream, other;
  CuPool pool;
  CuAddress memory;

  begin ();
  pool = new_pool (0);
  MUST (cu.cuStreamCreate (&stream, 0));
  MUST (cu.cuMemAllocFromPoolAsync (&memory, 4, pool, stream));
  MUST (cu.cuMemsetD32Async (memory, 9, 1, stream));
  dbl.quiesce ();
  MUST (cu.cuStreamDestroy_v2 (stream));
  MUST (cu.cuStreamCreate (&other, 0));
  EXPECT (9, read_word (memory, CU_LEGACY_STREAM));
  MUST (cu.cuMemFreeAsync (memory, other));
  MUST (cu.cuStreamDestroy_v2 (other));
  MUST (cu.cuMemPoolDestroy (pool));
  end ();
}

static void
test_contexts_of_streams (void)
{
  CuContext found;
  CuStream stream;

  begin ();
  EXPECT (CU_INVALID_VALUE, cu.cuStreamCreate (&stream, 2));
  stream = new_stream ();
  MUST (cu.cuStreamGetCtx (stream, &found));
  CHECK (found == context);
  found = NULL;
  MUST (cu.cuStreamGetCtx (CU_LEGACY_STREAM, &found));
  CHECK (found == context);
  MUST (cu.cuStreamDestroy_v2 (stream));
  end ();
}

/* Values */

/* A wait that ends, should the value not come. */
static void
finish (CuStream stream)
{
  uint64_t start = now ();

  while (cu.cuStreamQuery (stream) == CU_NOT_READY && now () - start < 5000)
    ;
  MUST (cu.cuStreamQuery (stream));
}

static void
test_values (void)
{
  CuStream stream;
  CuAddress device;
  volatile uint64_t *value;
  uint64_t seen = 0, own[1];

  begin ();
  stream = new_stream ();
  device = new_memory (8);
  value = new_pinned (8);
  *value = 0;
  MUST (cu.cuStreamWriteValue64_v2 (stream, device, 11, 0));
  MUST (cu.cuStreamWaitValue64_v2 (stream, device, 10, CU_WAIT_VALUE_REACHED));
  MUST (cu.cuStreamWriteValue64_v2 (stream, ADDRESS (value), 12, 0));
  CHECK (!is_double || *value == 0);
  finish (stream);
  EXPECT (12, *value);

  MUST (cu.cuStreamWaitValue64_v2 (stream, ADDRESS (value), 13, CU_WAIT_VALUE_REACHED));
  MUST (cu.cuStreamWriteValue64_v2 (stream, device, 14, 0));
  for (int i = 0; i < 20; i++)
    {
      EXPECT (CU_NOT_READY, cu.cuStreamQuery (stream));
      usleep (1000);
    }
  *value = (uint64_t) 1 << 40;
  finish (stream);
  if (is_double)
    {
      CHECK (dbl.peek (device, &seen, 8));
      EXPECT (14, seen);
      EXPECT (CU_INVALID_VALUE, cu.cuStreamWriteValue64_v2 (stream, device + 4, 1, 0));
      EXPECT (CU_INVALID_VALUE, cu.cuStreamWaitValue64_v2 (stream, device, 1, 7));
      VIOLATES (CU_INVALID_VALUE, cu.cuStreamWriteValue64_v2 (stream, ADDRESS (own), 1, 0));
      dbl.set_attribute (0, "stream-values-64", 0);
      EXPECT (CU_NOT_SUPPORTED, cu.cuStreamWriteValue64_v2 (stream, device, 1, 0));
      EXPECT (CU_NOT_SUPPORTED, cu.cuStreamWaitValue64_v2 (stream, device, 1, 0));
    }
}

static void
test_value_of_managed (void)
{
  CuStream stream;
  CuAddress managed;

  begin ();
  stream = new_stream ();
  MUST (cu.cuMemAllocManaged (&managed, 8, CU_ATTACH_GLOBAL));
  VIOLATES (CU_INVALID_VALUE, cu.cuStreamWriteValue64_v2 (stream, managed, 1, 0));
}

/* One stream waits for what another, which nobody waits for, will write. */
static void
test_value_between_streams (void)
{
  CuStream from, to;
  CuAddress device;
  uint64_t zero = 0;

  begin ();
  from = new_stream ();
  to = new_stream ();
  device = new_memory (16);
  CHECK (dbl.poke (device, &zero, 8));
  MUST (cu.cuStreamWaitValue64_v2 (to, device, 1, 0));
  MUST (cu.cuMemsetD32Async (device + 8, 7, 1, from));
  MUST (cu.cuStreamWriteValue64_v2 (from, device, 1, 0));
  finish (to);
  EXPECT (7, read_word (device + 8, to));
  MUST (cu.cuMemFree_v2 (device));
  MUST (cu.cuStreamDestroy_v2 (from));
  MUST (cu.cuStreamDestroy_v2 (to));
  end ();
}

/* A wait that nothing fulfils holds up its stream and no other. */
static void
test_value_never (void)
{
  CuStream stuck, stream;
  CuAddress device;
  volatile uint64_t *value;

  begin ();
  stuck = new_stream ();
  stream = new_stream ();
  device = new_memory (4);
  value = new_pinned (8);
  *value = 0;
  MUST (cu.cuStreamWaitValue64_v2 (stuck, ADDRESS (value), 1, 0));
  MUST (cu.cuMemsetD32Async (device, 1, 1, stuck));
  EXPECT (CU_NOT_READY, cu.cuStreamQuery (stuck));
  MUST (cu.cuMemsetD32Async (device, 5, 1, stream));
  MUST (cu.cuStreamSynchronize (stream));
  dbl.quiesce ();
  EXPECT (2, dbl.pending (stuck));
  EXPECT (CU_NOT_READY, cu.cuStreamQuery (stuck));
}

static const Case cases[] = {
  { "late", test_late },
  { "eager", test_eager },
  { "delay", test_delay },
  { "pause", test_pause },
  { "order", test_order, true },
  { "legacy-between", test_legacy_between, true },
  { "per-thread", test_per_thread },
  { "events", test_events, true },
  { "event-recorded-again", test_event_recorded_again },
  { "wrong-events", test_wrong_events },
  { "destroyed", test_destroyed },
  { "destroyed-blocking", test_destroyed_blocking },
  { "contexts-of-streams", test_contexts_of_streams, true },
  { "values", test_values, true },
  { "value-of-managed", test_value_of_managed },
  { "value-between-streams", test_value_between_streams },
  { "value-never", test_value_never },
};

RUN_CASES (cases)
