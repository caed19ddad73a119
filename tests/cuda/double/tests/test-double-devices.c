/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Several devices: what they are, and what they may access of each other. */

#include "test-double.h"

#include <sys/mman.h>

static CuContext contexts[2];
static CuStream streams[2];
static CuAddress memory[2];

static void *
own_page (void)
{
  return mmap (NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void
begin_devices (void)
{
  dbl.set_devices (2);
  begin ();
  for (int i = 0; i < 2; i++)
    {
      MUST (cu.cuDevicePrimaryCtxRetain (&contexts[i], i));
      MUST (cu.cuCtxPushCurrent_v2 (contexts[i]));
      streams[i] = new_stream ();
      memory[i] = new_memory (64);
      MUST (cu.cuCtxPopCurrent_v2 (NULL));
    }
}

static void
end_devices (void)
{
  for (int i = 0; i < 2; i++)
    {
      MUST (cu.cuStreamDestroy_v2 (streams[i]));
      MUST (cu.cuMemFree_v2 (memory[i]));
    }
  end ();
}

static void
test_properties (void)
{
  CuUuid uuid[2];
  CuDevice device = 99;
  char name[2][64], short_name[4];
  size_t total;
  int n = 0;

  dbl.set_devices (2);
  dbl.set_attribute (1, "memory", 12345);
  begin ();
  MUST (cu.cuDeviceGetCount (&n));
  EXPECT (2, n);
  for (int i = 0; i < 2; i++)
    {
      MUST (cu.cuDeviceGet (&device, i));
      EXPECT (i, device);
      MUST (cu.cuDeviceGetName (name[i], sizeof name[i], i));
      MUST (cu.cuDeviceGetUuid_v2 (&uuid[i], i));
    }
  CHECK (strcmp (name[0], name[1]) != 0);
  CHECK (memcmp (uuid[0].bytes, uuid[1].bytes, 16) != 0);
  MUST (cu.cuDeviceGetName (short_name, 4, 0));
  CHECK (strncmp (short_name, name[0], 3) == 0 && short_name[3] == 0);
  EXPECT (CU_INVALID_VALUE, cu.cuDeviceGetName (short_name, 0, 0));
  MUST (cu.cuDeviceTotalMem_v2 (&total, 0));
  EXPECT ((size_t) 8 << 30, total);
  MUST (cu.cuDeviceTotalMem_v2 (&total, 1));
  EXPECT (12345, total);
  for (int i = -1; i <= 2; i += 3)
    {
      EXPECT (CU_INVALID_DEVICE, cu.cuDeviceGet (&device, i));
      EXPECT (CU_INVALID_DEVICE, cu.cuDeviceGetName (name[0], 64, i));
      EXPECT (CU_INVALID_DEVICE, cu.cuDeviceGetUuid_v2 (&uuid[0], i));
      EXPECT (CU_INVALID_DEVICE, cu.cuDeviceTotalMem_v2 (&total, i));
      EXPECT (CU_INVALID_DEVICE, cu.cuDeviceGetAttribute (&n, CU_DEVICE_INTEGRATED, i));
      EXPECT (CU_INVALID_DEVICE, cu.cuDevicePrimaryCtxRetain (&context, i));
      EXPECT (CU_INVALID_DEVICE, cu.cuDevicePrimaryCtxRelease_v2 (i));
    }
  end ();
}

static int
attribute (CuEnum which,
           int    device)
{
  int value = -1;

  MUST (cu.cuDeviceGetAttribute (&value, which, device));
  return value;
}

static void
test_attributes (void)
{
  static const struct
  {
    const char *name;
    CuEnum attribute;
    int usual;
  } list[] = {
    { "unified-addressing", CU_DEVICE_UNIFIED_ADDRESSING, 1 },
    { "integrated", CU_DEVICE_INTEGRATED, 0 },
    { "managed", CU_DEVICE_MANAGED_MEMORY, 1 },
    { "concurrent-managed", CU_DEVICE_CONCURRENT_MANAGED_ACCESS, 1 },
    { "registered-same-address", CU_DEVICE_REGISTERED_SAME_ADDRESS, 1 },
    { "register-read-only", CU_DEVICE_REGISTER_READ_ONLY, 1 },
    { "memory-pools", CU_DEVICE_MEMORY_POOLS, 1 },
    { "stream-values-64", CU_DEVICE_STREAM_VALUES_64, 1 },
  };

  int value;

  dbl.set_devices (2);
  begin ();
  for (size_t i = 0; i < sizeof list / sizeof *list; i++)
    {
      EXPECT (list[i].usual, attribute (list[i].attribute, 0));
      CHECK (dbl.set_attribute (1, list[i].name, !list[i].usual));
      EXPECT (list[i].usual, attribute (list[i].attribute, 0));
      EXPECT (!list[i].usual, attribute (list[i].attribute, 1));
      CHECK (dbl.set_attribute (-1, list[i].name, list[i].usual));
      EXPECT (list[i].usual, attribute (list[i].attribute, 1));
    }
  EXPECT (9, attribute (CU_DEVICE_CAPABILITY_MAJOR, 0));
  CHECK (dbl.set_attribute (0, "capability", 75));
  EXPECT (7, attribute (CU_DEVICE_CAPABILITY_MAJOR, 0));
  EXPECT (5, attribute (76, 0));
  EXPECT (0x7fffffff, attribute (11, 0)); /* the largest pitch */
  CHECK (!dbl.set_attribute (0, "unknown", 1));
  VIOLATES (CU_INVALID_VALUE, cu.cuDeviceGetAttribute (&value, 9999, 0));
}

static void
test_environment (void)
{
  int n;
  size_t total;

  setenv ("CUDA_DOUBLE", "3", 1);
  setenv ("CUDA_DOUBLE_VERSION", "12040", 1);
  setenv ("CUDA_DOUBLE_MEMORY", "5000", 1);
  setenv ("CUDA_DOUBLE_DEVICE", "memory-pools=0,1:capability=80,2:memory=77", 1);
  begin ();
  MUST (cu.cuDeviceGetCount (&n));
  EXPECT (3, n);
  MUST (cu.cuDriverGetVersion (&n));
  EXPECT (12040, n);
  EXPECT (0, attribute (CU_DEVICE_MEMORY_POOLS, 0));
  EXPECT (0, attribute (CU_DEVICE_MEMORY_POOLS, 2));
  EXPECT (9, attribute (CU_DEVICE_CAPABILITY_MAJOR, 0));
  EXPECT (8, attribute (CU_DEVICE_CAPABILITY_MAJOR, 1));
  MUST (cu.cuDeviceTotalMem_v2 (&total, 1));
  EXPECT (5000, total);
  MUST (cu.cuDeviceTotalMem_v2 (&total, 2));
  EXPECT (77, total);
  end ();
}

/* Copies may go from one device to another; other work may not. */
static void
test_copies (void)
{
  begin_devices ();
  MUST (cu.cuMemsetD32Async (memory[0], 1, 16, streams[0]));
  MUST (cu.cuStreamSynchronize (streams[0]));
  MUST (cu.cuMemcpyAsync (memory[1], memory[0], 32, streams[1]));
  MUST (cu.cuMemcpyPeerAsync (memory[1] + 32, contexts[1], memory[0] + 32, contexts[0], 32,
                              streams[0]));
  MUST (cu.cuStreamSynchronize (streams[0]));
  EXPECT (1, read_word (memory[1], streams[1]));
  EXPECT (1, read_word (memory[1] + 60, streams[1]));
  end_devices ();
}

static void
test_wrong_copies (void)
{
  CuCopy3D copy = { .src_type = CU_MEMORY_DEVICE, .src_pitch = 8, .src_height = 2,
                    .dst_type = CU_MEMORY_DEVICE, .dst_pitch = 8, .dst_height = 2, .width = 8,
                    .height = 2, .depth = 2 };
  CuContext none = NULL;

  begin_devices ();
  copy.src_device = memory[0];
  copy.dst_device = memory[1];
#define FAILS(call, s) \
  do \
    { \
      MUST (call); \
      VIOLATES (CU_ILLEGAL_ADDRESS, cu.cuStreamSynchronize (streams[s])); \
      dbl.set_error (CU_SUCCESS); \
    } \
  while (0)
  FAILS (cu.cuMemsetD8Async (memory[1], 0, 4, streams[0]), 0);
  FAILS (cu.cuMemcpy3DAsync_v2 (&copy, streams[0]), 0);
  FAILS (cu.cuMemcpy3DAsync_v2 (&copy, streams[1]), 1);
  FAILS (cu.cuStreamWriteValue64_v2 (streams[0], memory[1], 0, 0), 0);
  /* The contexts are the wrong way round. */
  FAILS (cu.cuMemcpyPeerAsync (memory[1], contexts[0], memory[0], contexts[1], 4, streams[0]), 0);
  VIOLATES (CU_INVALID_CONTEXT,
            cu.cuMemcpyPeerAsync (memory[1], contexts[1], memory[0], none, 4, streams[0]));
}

/* Pinned and managed memory is everybody's. */
static void
test_shared_memory (void)
{
  CuAddress managed;
  uint32_t *pinned;

  begin_devices ();
  pinned = new_pinned (4);
  MUST (cu.cuMemAllocManaged (&managed, 4, CU_ATTACH_GLOBAL));
  MUST (cu.cuMemsetD32Async (ADDRESS (pinned), 5, 1, streams[1]));
  MUST (cu.cuMemsetD32Async (managed, 6, 1, streams[1]));
  MUST (cu.cuStreamSynchronize (streams[1]));
  EXPECT (5, *pinned);
  EXPECT (6, *(uint32_t *) POINTER (managed));
  MUST (cu.cuMemFreeHost (pinned));
  MUST (cu.cuMemFree_v2 (managed));
  end_devices ();
}

/* Events are recorded in their own context's streams, and waited for in any. */
static void
test_events (void)
{
  CuEvent event;

  begin_devices ();
  event = new_event (); /* the first device's */
  MUST (cu.cuMemsetD32Async (memory[0], 7, 1, streams[0]));
  MUST (cu.cuEventRecord (event, streams[0]));
  MUST (cu.cuStreamWaitEvent (streams[1], event, 0));
  MUST (cu.cuMemcpyAsync (memory[1], memory[0], 4, streams[1]));
  EXPECT (7, read_word (memory[1], streams[1]));
  MUST (cu.cuEventDestroy_v2 (event));
  end_devices ();
  MUST (cu.cuCtxPushCurrent_v2 (contexts[0]));
  event = new_event ();
  streams[1] = NULL;
  MUST (cu.cuCtxPushCurrent_v2 (contexts[1]));
  VIOLATES (CU_INVALID_HANDLE, cu.cuEventRecord (event, streams[1]));
}

static void
test_pools (void)
{
  CuPool pool;
  CuAddress address, from_pool;

  begin_devices ();
  pool = new_pool (1);
  EXPECT (CU_INVALID_VALUE, cu.cuMemAllocFromPoolAsync (&address, 4, pool, streams[0]));
  MUST (cu.cuMemAllocFromPoolAsync (&from_pool, 4, pool, streams[1]));
  VIOLATES (CU_INVALID_VALUE, cu.cuMemFreeAsync (from_pool, streams[0]));
  MUST (cu.cuMemFreeAsync (from_pool, streams[1]));
}

/* A free waits for its own context only. */
static void
test_frees (void)
{
  CuAddress other;

  begin_devices ();
  other = new_memory (4);
  MUST (cu.cuMemsetD8Async (memory[0], 0, 4, streams[0]));
  MUST (cu.cuMemsetD8Async (memory[1], 0, 4, streams[1]));
  MUST (cu.cuMemFree_v2 (other));
  EXPECT (0, dbl.pending (streams[0]));
  EXPECT (1, dbl.pending (streams[1]));
  end_devices ();
}

static void
test_contexts (void)
{
  CuContext found, again;

  begin_devices ();
  MUST (cu.cuCtxGetCurrent (&found));
  CHECK (found == contexts[0] && contexts[0] != contexts[1]);
  MUST (cu.cuCtxPushCurrent_v2 (contexts[1]));
  EXPECT (2, dbl.context_depth ());
  MUST (cu.cuCtxPopCurrent_v2 (&found));
  CHECK (found == contexts[1]);
  MUST (cu.cuStreamGetCtx (streams[1], &found));
  CHECK (found == contexts[1]);
  MUST (cu.cuDevicePrimaryCtxRetain (&again, 1));
  CHECK (again == contexts[1]);
  MUST (cu.cuDevicePrimaryCtxRelease_v2 (1));
  VIOLATES (CU_SUCCESS, cu.cuDevicePrimaryCtxRelease_v2 (1)); /* the last, with memory in it */
  VIOLATES (CU_INVALID_CONTEXT, cu.cuDevicePrimaryCtxRelease_v2 (1));
  VIOLATES (CU_INVALID_CONTEXT, cu.cuCtxPushCurrent_v2 (contexts[1]));
  VIOLATES (CU_INVALID_CONTEXT, cu.cuCtxPushCurrent_v2 (NULL));
}

/* The last release is right when nothing is left. */
static void
test_release (void)
{
  CuContext second;
  CuEvent event;
  CuStream stream;

  dbl.set_devices (2);
  begin ();
  MUST (cu.cuDevicePrimaryCtxRetain (&second, 1));
  MUST (cu.cuCtxPushCurrent_v2 (second));
  MUST (cu.cuMemFree_v2 (new_memory (4)));
  event = new_event ();
  stream = new_stream ();
  MUST (cu.cuCtxPopCurrent_v2 (NULL));
  VIOLATES (CU_SUCCESS, cu.cuDevicePrimaryCtxRelease_v2 (1));
  MUST (cu.cuDevicePrimaryCtxRetain (&second, 1));
  MUST (cu.cuEventDestroy_v2 (event));
  VIOLATES (CU_SUCCESS, cu.cuDevicePrimaryCtxRelease_v2 (1));
  MUST (cu.cuDevicePrimaryCtxRetain (&second, 1));
  MUST (cu.cuStreamDestroy_v2 (stream));
  MUST (cu.cuDevicePrimaryCtxRelease_v2 (1));
  MUST (cu.cuDevicePrimaryCtxRetain (&second, 1));
  MUST (cu.cuCtxPushCurrent_v2 (second));
  MUST (cu.cuMemHostRegister_v2 (own_page (), 4096, 0));
  VIOLATES (CU_SUCCESS, cu.cuDevicePrimaryCtxRelease_v2 (1));
}

/* A thread that never pops is found out. */
static void
test_depth (void)
{
  begin ();
  for (int i = 1; i < 64; i++)
    MUST (cu.cuCtxPushCurrent_v2 (context));
  EXPECT (64, dbl.context_depth ());
  VIOLATES (CU_INVALID_CONTEXT, cu.cuCtxPushCurrent_v2 (context));
}

/* Calls with the handle of a stream, frees and questions need no current context; others do. */
static void
test_no_context (void)
{
  CuAddress address, released;
  CuEvent event, other_event;
  CuPoolProps props = { 0 };
  CuPool pool, other_pool;
  CuStream stream, other;
  CuModule module;
  CuFunction function;
  CuEnum status, which[] = { CU_POINTER_MEMORY_TYPE };
  CuContext found;
  void *pinned, *host, *out[] = { &status };
  size_t n;

  begin ();
  stream = new_stream ();
  other = new_stream ();
  event = new_event ();
  pool = new_pool (0);
  address = new_memory (64);
  pinned = new_pinned (64);
  MUST (cu.cuCtxPopCurrent_v2 (NULL));

  MUST (cu.cuMemAllocFromPoolAsync (&released, 4, pool, stream));
  MUST (cu.cuMemFreeAsync (released, stream));
  MUST (cu.cuMemcpyAsync (address, address + 8, 4, stream));
  MUST (cu.cuMemsetD8Async (address, 1, 4, stream));
  MUST (cu.cuEventRecord (event, stream));
  MUST (cu.cuStreamWaitEvent (stream, event, 0));
  MUST (cu.cuStreamSynchronize (stream));
  MUST (cu.cuEventSynchronize (event));
  MUST (cu.cuEventQuery (event));
  MUST (cu.cuStreamGetCtx (stream, &found));
  MUST (cu.cuStreamIsCapturing (stream, &status));
  MUST (cu.cuThreadExchangeStreamCaptureMode (&(CuEnum) { CU_CAPTURE_MODE_GLOBAL }));
  MUST (cu.cuPointerGetAttributes (1, which, out, address));
  VIOLATES (CU_INVALID_CONTEXT, cu.cuMemsetD8Async (address, 1, 4, NULL));
  VIOLATES (CU_INVALID_CONTEXT, cu.cuMemsetD8Async (address, 1, 4, CU_PER_THREAD_STREAM));
  VIOLATES (CU_INVALID_CONTEXT, cu.cuStreamSynchronize (CU_LEGACY_STREAM));
  VIOLATES (CU_INVALID_CONTEXT, cu.cuMemAlloc_v2 (&released, 4));
  VIOLATES (CU_INVALID_CONTEXT, cu.cuMemAllocManaged (&released, 4, 1));
  VIOLATES (CU_INVALID_CONTEXT, cu.cuMemHostAlloc (&host, 4, 0));
  VIOLATES (CU_INVALID_CONTEXT, cu.cuMemHostRegister_v2 (&host, 4, 0));
  VIOLATES (CU_INVALID_CONTEXT, cu.cuMemHostUnregister (&host));
  VIOLATES (CU_INVALID_CONTEXT, cu.cuMemHostGetDevicePointer_v2 (&released, pinned, 0));
  VIOLATES (CU_INVALID_CONTEXT, cu.cuMemGetInfo_v2 (&n, &n));
  VIOLATES (CU_INVALID_CONTEXT, cu.cuStreamCreate (&stream, 0));
  VIOLATES (CU_INVALID_CONTEXT, cu.cuEventCreate (&other_event, 0));
  VIOLATES (CU_INVALID_CONTEXT, cu.cuModuleLoadData (&module, ""));
  VIOLATES (CU_INVALID_CONTEXT, cu.cuModuleGetFunction (&function, NULL, ""));
  VIOLATES (CU_INVALID_CONTEXT, cu.cuMemPoolCreate (&other_pool, &props));
  VIOLATES (CU_INVALID_CONTEXT, cu.cuDeviceGetDefaultMemPool (&other_pool, 0));
  VIOLATES (CU_INVALID_CONTEXT, cu.cuMemPoolSetAttribute (pool, CU_POOL_RELEASE_THRESHOLD, &n));
  VIOLATES (CU_INVALID_CONTEXT, cu.cuMemPoolTrimTo (pool, 0));
  VIOLATES (CU_INVALID_CONTEXT, cu.cuMemPoolDestroy (pool));
  VIOLATES (CU_INVALID_CONTEXT, cu.cuCtxPopCurrent_v2 (NULL));
  MUST (cu.cuEventDestroy_v2 (event));
  MUST (cu.cuStreamDestroy_v2 (other));
  MUST (cu.cuMemFree_v2 (address));
  MUST (cu.cuMemFreeHost (pinned));
  EXPECT (0, dbl.context_depth ());
}

static const Case cases[] = {
  { "properties", test_properties },
  { "attributes", test_attributes },
  { "environment", test_environment },
  { "copies", test_copies },
  { "wrong-copies", test_wrong_copies },
  { "shared-memory", test_shared_memory },
  { "events", test_events },
  { "pools", test_pools },
  { "frees", test_frees },
  { "contexts", test_contexts },
  { "release", test_release },
  { "depth", test_depth },
  { "no-context", test_no_context },
};

RUN_CASES (cases)
