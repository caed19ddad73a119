/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Pools: memory in the order of streams. */

#include "test-double.h"

#define MIB ((size_t) 1 << 20)

static CuPool pool;
static CuStream stream, other;

static void
begin_pools (void)
{
  begin ();
  pool = new_pool (0);
  stream = new_stream ();
  other = new_stream ();
}

static void
end_pools (void)
{
  MUST (cu.cuStreamDestroy_v2 (stream));
  MUST (cu.cuStreamDestroy_v2 (other));
  MUST (cu.cuMemPoolDestroy (pool));
  end ();
}

static CuAddress
allocate (size_t   size,
          CuStream in)
{
  CuAddress address = 0;

  MUST (cu.cuMemAllocFromPoolAsync (&address, size, pool, in));
  return address;
}

static CuEvent
record (CuStream in)
{
  CuEvent event = new_event ();

  MUST (cu.cuEventRecord (event, in));
  return event;
}

/* Makes a stream wait for what is in another. */
static void
order (CuStream from,
       CuStream to)
{
  CuEvent event = record (from);

  MUST (cu.cuStreamWaitEvent (to, event, 0));
  MUST (cu.cuEventDestroy_v2 (event));
}

static void
test_props (void)
{
  CuPoolProps props = { .alloc_type = CU_ALLOCATION_PINNED, .location_type = CU_LOCATION_DEVICE };
  CuPool made;

  begin ();
  MUST (cu.cuMemPoolCreate (&made, &props));
  MUST (cu.cuMemPoolDestroy (made));
#define WRONG(field, value) \
  do \
    { \
      CuPoolProps wrong_ = props; \
      wrong_.field = value; \
      EXPECT (CU_INVALID_VALUE, cu.cuMemPoolCreate (&made, &wrong_)); \
    } \
  while (0)
  WRONG (alloc_type, 0);
  WRONG (location_type, 0);
  WRONG (location_id, -1);
  WRONG (location_id, 1);
  WRONG (handle_types, 16);
  WRONG (security_attributes, &props);
  WRONG (max_size, 1);
  WRONG (reserved[0], 1);
  WRONG (reserved[55], 1);
  dbl.set_attribute (0, "memory-pools", 0);
  EXPECT (CU_NOT_SUPPORTED, cu.cuMemPoolCreate (&made, &props));
  EXPECT (CU_NOT_SUPPORTED, cu.cuDeviceGetDefaultMemPool (&made, 0));
  end ();
}

static void
test_wrong_pools (void)
{
  CuAddress address;
  uint64_t threshold = 1;

  begin_pools ();
  EXPECT (CU_INVALID_VALUE, cu.cuMemPoolSetAttribute (pool, 1, &threshold));
  EXPECT (CU_INVALID_VALUE, cu.cuMemPoolSetAttribute (pool, CU_POOL_RELEASE_THRESHOLD, NULL));
  EXPECT (CU_INVALID_VALUE, cu.cuMemAllocFromPoolAsync (&address, 0, pool, stream));
  MUST (cu.cuMemPoolDestroy (pool));
  VIOLATES (CU_INVALID_VALUE, cu.cuMemPoolDestroy (pool));
  VIOLATES (CU_INVALID_VALUE, cu.cuMemPoolTrimTo (pool, 0));
  VIOLATES (CU_INVALID_VALUE, cu.cuMemPoolSetAttribute (pool, 4, &threshold));
  VIOLATES (CU_INVALID_VALUE, cu.cuMemAllocFromPoolAsync (&address, 4, pool, stream));
  VIOLATES (CU_INVALID_VALUE, cu.cuMemAllocFromPoolAsync (&address, 4, NULL, stream));
}

/* Nothing of it waits for the device. */
static void
test_in_stream (void)
{
  CuAddress memory;
  unsigned char bytes[100];
  CuEnum type = 0, which[] = { CU_POINTER_MEMORY_TYPE };
  void *out[] = { &type };

  begin_pools ();
  memory = allocate (100, stream);
  if (is_double)
    CHECK (memory % 256 == 0 && dbl.peek (memory, bytes, 100)
           && is_filled (bytes, 100, CUDA_DOUBLE_FRESH));
  MUST (cu.cuPointerGetAttributes (1, which, out, memory));
  EXPECT (CU_MEMORY_DEVICE, type);
  MUST (cu.cuMemsetD32Async (memory, 42, 25, stream));
  if (is_double)
    {
      EXPECT (2, dbl.pending (stream));
      EXPECT (1, dbl.live ("pool-memory"));
      EXPECT (0, dbl.waits (NULL));
    }
  EXPECT (42, read_word (memory + 96, stream));
  MUST (cu.cuMemsetD32Async (memory, 43, 25, stream));
  MUST (cu.cuMemFreeAsync (memory, stream));
  if (is_double)
    {
      EXPECT (2, dbl.pending (stream));
      EXPECT (0, dbl.live ("pool-memory"));
    }
  MUST (cu.cuPointerGetAttributes (1, which, out, memory));
  CHECK (!is_double || type == 0);
  MUST (cu.cuStreamSynchronize (stream));
  end_pools ();
}

/* Other streams may use it after they have waited for an event behind the allocation. */
static void
test_allocation_ordered (void)
{
  CuAddress memory;

  begin_pools ();
  memory = allocate (4, stream);
  order (stream, other);
  MUST (cu.cuMemsetD32Async (memory, 42, 1, other));
  EXPECT (42, read_word (memory, other));
  order (other, stream);
  MUST (cu.cuMemFreeAsync (memory, stream));
  MUST (cu.cuStreamSynchronize (stream));

  /* The host's wait is as good. */
  memory = allocate (4, stream);
  MUST (cu.cuStreamSynchronize (stream));
  MUST (cu.cuMemsetD32Async (memory, 43, 1, other));
  MUST (cu.cuStreamSynchronize (other));
  MUST (cu.cuMemFreeAsync (memory, stream));
  MUST (cu.cuStreamSynchronize (stream));

  /* So is a question with the answer yes. */
  memory = allocate (4, stream);
  while (cu.cuStreamQuery (stream) == CU_NOT_READY)
    ;
  MUST (cu.cuMemsetD32Async (memory, 43, 1, other));
  while (cu.cuStreamQuery (other) == CU_NOT_READY)
    ;
  MUST (cu.cuMemFreeAsync (memory, stream));
  MUST (cu.cuStreamSynchronize (stream));
  end_pools ();
}

static void
test_allocation_unordered (void)
{
  CuAddress memory;
  CuEvent event;

  begin_pools ();
  event = new_event ();
  memory = allocate (4, stream);
  MUST (cu.cuMemsetD32Async (memory, 42, 1, other));
  VIOLATES (CU_LAUNCH_FAILED, cu.cuStreamSynchronize (other));
  EXPECT (CU_LAUNCH_FAILED, cu.cuStreamSynchronize (stream));

  /* An event that was recorded before is not enough. */
  dbl.set_error (CU_SUCCESS);
  MUST (cu.cuEventRecord (event, stream));
  memory = allocate (4, stream);
  MUST (cu.cuStreamWaitEvent (other, event, 0));
  MUST (cu.cuMemsetD32Async (memory, 42, 1, other));
  VIOLATES (CU_LAUNCH_FAILED, cu.cuStreamSynchronize (other));

  /* Nor is a question with the answer no. */
  dbl.set_error (CU_SUCCESS);
  memory = allocate (4, stream);
  EXPECT (CU_NOT_READY, cu.cuStreamQuery (stream));
  EXPECT (CU_NOT_READY, cu.cuEventQuery (record (stream)));
  MUST (cu.cuMemsetD32Async (memory, 42, 1, other));
  VIOLATES (CU_LAUNCH_FAILED, cu.cuStreamSynchronize (other));

  /* Nor is it that the work has been done, if nobody knew. */
  dbl.set_error (CU_SUCCESS);
  memory = allocate (4, stream);
  dbl.quiesce ();
  MUST (cu.cuMemsetD32Async (memory, 42, 1, other));
  VIOLATES (CU_LAUNCH_FAILED, cu.cuStreamSynchronize (other));
}

/* Order reaches through streams in between. */
static void
test_order_is_transitive (void)
{
  CuStream between;
  CuAddress memory;

  begin_pools ();
  between = new_stream ();
  memory = allocate (4, stream);
  order (stream, between);
  order (between, other);
  MUST (cu.cuMemsetD32Async (memory, 42, 1, other));
  EXPECT (42, read_word (memory, other));
  MUST (cu.cuMemFreeAsync (memory, other));
  MUST (cu.cuStreamSynchronize (other));
  MUST (cu.cuStreamDestroy_v2 (between));
  end_pools ();
}

/* Streams that wait for each other at random, against a matrix of what each knows: how many of the
 * allocations of another stream came before. */
#define N_STREAMS 7
#define N_STEPS 3000

static unsigned allocated[N_STREAMS], known[N_STREAMS][N_STREAMS];
static CuAddress allocations[N_STREAMS][N_STEPS];
static CuStream streams[N_STREAMS];

static unsigned
draw (uint64_t *seed,
      unsigned  n)
{
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (unsigned) (*seed >> 33) % n;
}

static void
order_both (unsigned from,
            unsigned to)
{
  order (streams[from], streams[to]);
  for (int i = 0; i < N_STREAMS; i++)
    if (known[to][i] < known[from][i])
      known[to][i] = known[from][i];
}

/* Uses memory in a stream without letting the host know when it is done. */
static bool
use_is_right (CuAddress memory,
              CuStream  in)
{
  unsigned before = dbl.violations ();

  MUST (cu.cuMemsetD32Async (memory, 1, 1, in));
  dbl.quiesce ();
  dbl.set_error (CU_SUCCESS);
  return dbl.violations () == before;
}

static void
test_order_at_random (void)
{
  unsigned n_uses[2] = { 0 };
  uint64_t seed = 41;

  begin_pools ();
  dbl.set_abort (false);
  for (int i = 0; i < N_STREAMS; i++)
    streams[i] = new_stream ();
  for (int step = 0; step < N_STEPS; step++)
    {
      unsigned a = draw (&seed, N_STREAMS), b = draw (&seed, N_STREAMS);
      unsigned kind = draw (&seed, 3);

      if (kind == 0)
        {
          allocations[a][allocated[a]++] = allocate (4, streams[a]);
          known[a][a] = allocated[a];
        }
      else if (kind == 1 && a != b)
        order_both (a, b);
      else if (kind == 2 && allocated[a] > 0)
        {
          unsigned k = allocated[a] - 1 - draw (&seed, allocated[a] < 20 ? allocated[a] : 20);
          bool right = k < known[b][a];

          EXPECT (right, use_is_right (allocations[a][k], streams[b]));
          n_uses[right]++;
        }
    }
  CHECK (n_uses[false] > 100 && n_uses[true] > 300);
}

/* A free in another stream has to wait for the work. */
static void
test_free_ordered (void)
{
  CuAddress memory;

  begin_pools ();
  memory = allocate (4, stream);
  MUST (cu.cuMemsetD32Async (memory, 42, 1, stream));
  order (stream, other);
  MUST (cu.cuMemFreeAsync (memory, other));
  MUST (cu.cuStreamSynchronize (other));
  MUST (cu.cuStreamSynchronize (stream));
  end_pools ();
}

static void
test_free_unordered (void)
{
  CuAddress memory;

  begin_pools ();
  memory = allocate (4, stream);
  order (stream, other);
  MUST (cu.cuMemsetD32Async (memory, 42, 1, stream));
  MUST (cu.cuMemFreeAsync (memory, other));
  VIOLATES (CU_LAUNCH_FAILED, cu.cuStreamSynchronize (stream));
  EXPECT (CU_LAUNCH_FAILED, cu.cuStreamSynchronize (other));
  dbl.set_error (CU_SUCCESS);

  /* Although the work has run by chance. */
  memory = allocate (4, stream);
  order (stream, other);
  MUST (cu.cuMemsetD32Async (memory, 42, 1, stream));
  dbl.quiesce ();
  VIOLATES (CU_SUCCESS, cu.cuMemFreeAsync (memory, other));

  /* A stream that does not even know of the allocation */
  memory = allocate (4, stream);
  VIOLATES (CU_SUCCESS, cu.cuMemFreeAsync (memory, other));
}

static void
test_use_after_free (void)
{
  CuAddress memory;

  begin_pools ();
  memory = allocate (4, stream);
  MUST (cu.cuMemFreeAsync (memory, stream));
  MUST (cu.cuMemsetD32Async (memory, 42, 1, stream));
  VIOLATES (CU_LAUNCH_FAILED, cu.cuStreamSynchronize (stream));
  dbl.set_error (CU_SUCCESS);
  VIOLATES (CU_INVALID_VALUE, cu.cuMemFreeAsync (memory, stream));
  VIOLATES (CU_INVALID_VALUE, cu.cuMemFreeAsync (memory + 1, stream));
  VIOLATES (CU_INVALID_VALUE, cu.cuMemFree_v2 (memory));
  memory = allocate (100, stream);
  MUST (cu.cuMemsetD8Async (memory + 99, 1, 2, stream));
  VIOLATES (CU_ILLEGAL_ADDRESS, cu.cuStreamSynchronize (stream));
}

static void
test_wrong_frees (void)
{
  CuAddress device, managed;
  void *pinned;

  begin_pools ();
  device = new_memory (4);
  pinned = new_pinned (4);
  MUST (cu.cuMemAllocManaged (&managed, 4, CU_ATTACH_GLOBAL));
  VIOLATES (CU_INVALID_VALUE, cu.cuMemFreeAsync (device, stream));
  VIOLATES (CU_INVALID_VALUE, cu.cuMemFreeAsync (managed, stream));
  VIOLATES (CU_INVALID_VALUE, cu.cuMemFreeAsync (ADDRESS (pinned), stream));
  VIOLATES (CU_INVALID_VALUE, cu.cuMemFreeAsync (ADDRESS (&device), stream));
}

/* cuMemFree() of pool memory waits for nothing, so work has to be done. */
static void
test_free_of_host (void)
{
  CuAddress memory;

  begin_pools ();
  memory = allocate (4, stream);
  MUST (cu.cuMemsetD32Async (memory, 42, 1, stream));
  MUST (cu.cuStreamSynchronize (stream));
  MUST (cu.cuMemsetD32Async (ADDRESS (new_pinned (4)), 42, 1, other));
  MUST (cu.cuMemFree_v2 (memory));
  EXPECT (1, dbl.pending (other));

  memory = allocate (4, stream);
  MUST (cu.cuMemsetD32Async (memory, 42, 1, stream));
  MUST (cu.cuMemFree_v2 (memory));
  VIOLATES (CU_LAUNCH_FAILED, cu.cuStreamSynchronize (stream));
  dbl.set_error (CU_SUCCESS);
  memory = allocate (4, stream);
  MUST (cu.cuMemsetD32Async (memory, 42, 1, stream));
  dbl.quiesce ();
  VIOLATES (CU_SUCCESS, cu.cuMemFree_v2 (memory));
}

static size_t
available (void)
{
  size_t n_free, total;

  MUST (cu.cuMemGetInfo_v2 (&n_free, &total));
  return n_free;
}

static void
set_threshold (uint64_t bytes)
{
  MUST (cu.cuMemPoolSetAttribute (pool, CU_POOL_RELEASE_THRESHOLD, &bytes));
  EXPECT (bytes, dbl.pool_threshold (pool));
}

/* Freed memory is the device's again when somebody waits, beyond the threshold. */
static void
test_threshold (void)
{
  CuAddress a, b;

  dbl.set_attribute (0, "memory", 10 * MIB);
  begin_pools ();
  a = allocate (4 * MIB, stream);
  MUST (cu.cuMemFreeAsync (a, stream));
  EXPECT (6 * MIB, available ());
  MUST (cu.cuStreamSynchronize (stream));
  EXPECT (10 * MIB, available ());

  set_threshold (UINT64_MAX);
  a = allocate (4 * MIB, stream);
  b = allocate (2 * MIB, stream);
  MUST (cu.cuMemFreeAsync (a, stream));
  MUST (cu.cuMemFreeAsync (b, stream));
  MUST (cu.cuStreamSynchronize (stream));
  EXPECT (4 * MIB, available ());
  EXPECT (6 * MIB, dbl.pool_cached ());
  EXPECT (CU_OUT_OF_MEMORY, cu.cuMemAlloc_v2 (&a, 5 * MIB));
  a = allocate (3 * MIB, stream); /* bytes that the pool holds */
  EXPECT (4 * MIB, available ());
  EXPECT (3 * MIB, dbl.pool_cached ());
  b = allocate (7 * MIB, stream);
  EXPECT (0, available ());
  EXPECT (0, dbl.pool_cached ());
  EXPECT (CU_OUT_OF_MEMORY, cu.cuMemAllocFromPoolAsync (&b, 1, pool, stream));
  MUST (cu.cuMemFreeAsync (a, stream));
  set_threshold (8 * MIB);
  MUST (cu.cuStreamSynchronize (stream));
  EXPECT (3 * MIB, available ());
  EXPECT (0, dbl.pool_cached ());
  MUST (cu.cuMemFreeAsync (b, stream));
  MUST (cu.cuStreamSynchronize (stream));
  end_pools ();
}

static void
test_trim (void)
{
  CuAddress memory;

  dbl.set_attribute (0, "memory", 10 * MIB);
  begin_pools ();
  set_threshold (UINT64_MAX);
  memory = allocate (4 * MIB, stream);
  MUST (cu.cuMemFreeAsync (memory, stream));
  MUST (cu.cuMemPoolTrimTo (pool, 0)); /* it is not known to be done */
  EXPECT (4 * MIB, dbl.pool_cached ());
  MUST (cu.cuStreamSynchronize (stream));
  MUST (cu.cuMemPoolTrimTo (pool, 4 * MIB));
  EXPECT (4 * MIB, dbl.pool_cached ());
  MUST (cu.cuMemPoolTrimTo (pool, 0));
  EXPECT (0, dbl.pool_cached ());
  EXPECT (10 * MIB, available ());
  end_pools ();
}

/* Only a stream that comes after the free gets the bytes before somebody waits. */
static void
test_bytes_of_others (void)
{
  CuAddress memory, more;

  dbl.set_attribute (0, "memory", 4 * MIB);
  begin_pools ();
  memory = allocate (3 * MIB, stream);
  MUST (cu.cuMemFreeAsync (memory, stream));
  EXPECT (CU_OUT_OF_MEMORY, cu.cuMemAllocFromPoolAsync (&more, 3 * MIB, pool, other));
  memory = allocate (3 * MIB, stream);
  MUST (cu.cuMemFreeAsync (memory, stream));
  order (stream, other);
  more = allocate (3 * MIB, other);
  MUST (cu.cuMemFreeAsync (more, other));
  MUST (cu.cuStreamSynchronize (other));
  end_pools ();
}

/* Memory that is freed in a stream is given out again there, at once, by drivers, too. */
static void
test_reuse (void)
{
  CuAddress first, second, third;
  unsigned char bytes[4];

  dbl.set_reuse (true);
  begin_pools ();
  first = allocate (4, stream);
  MUST (cu.cuMemsetD32Async (first, 1, 1, stream));
  MUST (cu.cuMemFreeAsync (first, stream));
  third = allocate (4, other);
  CHECK (third != first);
  second = allocate (4, stream);
  EXPECT (first, second);
  EXPECT (0xdfdfdfdf, read_word (second, stream));
  MUST (cu.cuMemsetD32Async (second, 2, 1, stream));
  EXPECT (2, read_word (second, stream));
  CHECK (dbl.peek (second, bytes, 4) && !dbl.peek (second, bytes, 5));
  MUST (cu.cuMemFreeAsync (second, stream));
  MUST (cu.cuMemFreeAsync (third, other));
  MUST (cu.cuStreamSynchronize (stream));
  MUST (cu.cuStreamSynchronize (other));
  end_pools ();
}

/* The work of the first owner writes into the second one's memory. */
static void
test_reuse_race (void)
{
  CuAddress first, second;

  dbl.set_reuse (true);
  begin_pools ();
  first = allocate (4, stream);
  order (stream, other);
  MUST (cu.cuMemsetD32Async (first, 1, 1, stream));
  MUST (cu.cuMemFreeAsync (first, other));
  second = allocate (4, other);
  EXPECT (first, second);
  MUST (cu.cuMemsetD32Async (second, 2, 1, other));
  MUST (cu.cuStreamSynchronize (other));
  VIOLATES (CU_SUCCESS, cu.cuStreamSynchronize (stream));
  EXPECT (1, read_word (second, other));
}

/* Never the same address, unless that is asked for. */
static void
test_no_reuse (void)
{
  CuAddress memory[100];

  begin_pools ();
  for (int i = 0; i < 100; i++)
    {
      memory[i] = allocate (64, stream);
      for (int k = 0; k < i; k++)
        CHECK (memory[k] != memory[i]);
      MUST (cu.cuMemFreeAsync (memory[i], stream));
      MUST (cu.cuStreamSynchronize (stream));
    }
  end_pools ();
}

static void
test_default_pool (void)
{
  CuPool found;
  CuAddress memory;

  begin_pools ();
  MUST (cu.cuDeviceGetDefaultMemPool (&found, 0));
  EXPECT (CU_INVALID_DEVICE, cu.cuDeviceGetDefaultMemPool (&found, 9));
  if (is_double)
    {
      VIOLATES (CU_INVALID_VALUE, cu.cuMemPoolDestroy (found));
      dbl.set_attribute (0, "memory-pools", 0);
      EXPECT (CU_NOT_SUPPORTED, cu.cuMemAllocFromPoolAsync (&memory, 4, found, stream));
      dbl.set_attribute (0, "memory-pools", 1);
    }
  MUST (cu.cuMemAllocAsync (&memory, 4, stream));
  MUST (cu.cuMemsetD32Async (memory, 42, 1, stream));
  EXPECT (42, read_word (memory, stream));
  MUST (cu.cuMemFreeAsync (memory, stream));
  MUST (cu.cuStreamSynchronize (stream));
  MUST (cu.cuStreamDestroy_v2 (stream));
  MUST (cu.cuMemPoolDestroy (pool));
}

static const Case cases[] = {
  { "props", test_props },
  { "wrong-pools", test_wrong_pools },
  { "in-stream", test_in_stream, true },
  { "allocation-ordered", test_allocation_ordered, true },
  { "allocation-unordered", test_allocation_unordered },
  { "order-is-transitive", test_order_is_transitive, true },
  { "order-at-random", test_order_at_random },
  { "free-ordered", test_free_ordered, true },
  { "free-unordered", test_free_unordered },
  { "use-after-free", test_use_after_free },
  { "wrong-frees", test_wrong_frees },
  { "free-of-host", test_free_of_host },
  { "threshold", test_threshold },
  { "trim", test_trim },
  { "bytes-of-others", test_bytes_of_others },
  { "reuse", test_reuse },
  { "reuse-race", test_reuse_race },
  { "no-reuse", test_no_reuse },
  { "default-pool", test_default_pool, true },
};

RUN_CASES (cases)
