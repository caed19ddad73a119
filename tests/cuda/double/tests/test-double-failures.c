/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Failures: without a driver's initialization, injected, after forks, at exit. */

#include "cuda-double-without.h"
#include "test-double.h"

/* Every function but those that free, with arguments that do not matter */
#define EACH(X) \
  X (cuDeviceGetCount, (any)) X (cuDeviceGet, (any, 0)) X (cuDeviceGetName, (any, 8, 0)) \
  X (cuDeviceTotalMem_v2, (any, 0)) X (cuDeviceGetAttribute, (any, 18, 0)) \
  X (cuDevicePrimaryCtxRetain, (any, 0)) X (cuCtxPushCurrent_v2, (NULL)) \
  X (cuMemGetInfo_v2, (any, any)) X (cuMemPoolSetAttribute, (NULL, 4, any)) \
  X (cuMemPoolTrimTo, (NULL, 0)) X (cuMemAllocFromPoolAsync, (any, 4, NULL, NULL)) \
  X (cuMemAllocManaged, (any, 4, 1)) X (cuMemHostAlloc, (any, 4, 0)) \
  X (cuMemHostRegister_v2, (any, 4, 0)) X (cuMemHostGetDevicePointer_v2, (any, any, 0)) \
  X (cuPointerGetAttributes, (1, any, any, 0)) X (cuMemcpyAsync, (0, 0, 4, NULL)) \
  X (cuMemcpyPeerAsync, (0, NULL, 0, NULL, 4, NULL)) X (cuMemsetD8Async, (0, 0, 4, NULL)) \
  X (cuMemsetD16Async, (0, 0, 4, NULL)) X (cuMemsetD32Async, (0, 0, 4, NULL)) \
  X (cuStreamCreate, (any, 0)) X (cuStreamQuery, (NULL)) X (cuStreamSynchronize, (NULL)) \
  X (cuStreamWaitEvent, (NULL, NULL, 0)) X (cuStreamGetCtx, (NULL, any)) \
  X (cuStreamIsCapturing, (NULL, any)) X (cuThreadExchangeStreamCaptureMode, (any)) \
  X (cuEventCreate, (any, 0)) X (cuEventRecord, (NULL, NULL)) X (cuEventQuery, (NULL)) \
  X (cuEventSynchronize, (NULL)) X (cuModuleLoadData, (any, "")) \
  X (cuModuleGetFunction, (any, NULL, "")) \
  X (cuLaunchKernel, (NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL)) \
  X (cuDeviceGetUuid_v2, (any, 0)) X (cuMemPoolCreate, (any, any)) \
  X (cuMemcpy3DAsync_v2, (any, NULL)) X (cuStreamWriteValue64_v2, (NULL, 0, 0, 0)) \
  X (cuStreamWaitValue64_v2, (NULL, 0, 0, 0)) X (cuMemAlloc_v2, (any, 4)) \
  X (cuMemAllocAsync, (any, 4, NULL)) X (cuDeviceGetDefaultMemPool, (any, 0)) \
  X (cuCtxGetCurrent, (any)) X (cuCtxSynchronize, ()) X (cuStreamBeginCapture_v2, (NULL, 0)) \
  X (cuStreamEndCapture, (NULL, any)) X (cuGraphInstantiateWithFlags, (any, NULL, 0)) \
  X (cuGraphLaunch, (NULL, NULL))

static void *const any = (char[256]) { 0 };

static void
test_not_initialized (void)
{
  CuAddress address = 0;
  CuStream made;
  CuContext found;
  const char *name;
  int n = 0;

  EXPECT (CU_NOT_INITIALIZED, cu.cuDeviceGetCount (&n));
  EXPECT (CU_NOT_INITIALIZED, cu.cuDevicePrimaryCtxRetain (&found, 0));
  if (is_double)
    {
      EXPECT (CU_NOT_INITIALIZED, cu.cuStreamCreate (&made, 0));
      EXPECT (CU_NOT_INITIALIZED, cu.cuMemAlloc_v2 (&address, 4));
      EXPECT (CU_NOT_INITIALIZED, cu.cuMemFreeAsync (address, NULL));
      EXPECT (0, dbl.violations ());
    }
  MUST (cu.cuDriverGetVersion (&n));
  CHECK (n >= 11020);
  MUST (cu.cuGetErrorName (CU_ILLEGAL_ADDRESS, &name));
  CHECK (strcmp (name, "CUDA_ERROR_ILLEGAL_ADDRESS") == 0);
  EXPECT (CU_INVALID_VALUE, cu.cuGetErrorName (12345, &name));
  CHECK (name == NULL);
  EXPECT (CU_INVALID_VALUE, cu.cuInit (1));
  MUST (cu.cuInit (0));
  MUST (cu.cuDeviceGetCount (&n));
}

static void
test_each_fails (void)
{
  unsigned n = 0;

#define NOT_INITIALIZED(name, arguments) EXPECT (CU_NOT_INITIALIZED, cu.name arguments);
  EACH (NOT_INITIALIZED)
  begin ();
#define FAILS(name, arguments) \
  dbl.fail_function (#name, 1, CU_LAUNCH_TIMEOUT); \
  EXPECT (CU_LAUNCH_TIMEOUT, cu.name arguments); \
  n++;
  EACH (FAILS)
  EXPECT (49, n);
  dbl.fail_function ("cuInit", 1, CU_LAUNCH_TIMEOUT);
  EXPECT (CU_LAUNCH_TIMEOUT, cu.cuInit (0));
  end ();
}

static void
test_environment_of_work (void)
{
  CuModule module;
  CuStream in;
  CuPool pool;
  CuAddress first, second;

  setenv ("CUDA_DOUBLE_EAGER", "1", 1);
  setenv ("CUDA_DOUBLE_REUSE", "1", 1);
  setenv ("CUDA_DOUBLE_JIT", "223", 1);
  begin ();
  EXPECT (CU_JIT_COMPILATION_DISABLED, cu.cuModuleLoadData (&module, ".version 6.0"));
  in = new_stream ();
  pool = new_pool (0);
  MUST (cu.cuMemAllocFromPoolAsync (&first, 4, pool, in));
  MUST (cu.cuMemFreeAsync (first, in));
  MUST (cu.cuMemAllocFromPoolAsync (&second, 4, pool, in));
  EXPECT (first, second);
  for (int i = 0; i < 10000 && dbl.pending (NULL) > 0; i++)
    usleep (1000);
  EXPECT (0, dbl.pending (NULL));
}

static void
test_environment_of_delay (void)
{
  CuStream in;

  setenv ("CUDA_DOUBLE_DELAY", "20", 1);
  begin ();
  in = new_stream ();
  MUST (cu.cuEventRecord (new_event (), in));
  EXPECT (1, dbl.pending (in));
  for (int i = 0; i < 10000 && dbl.pending (in) > 0; i++)
    usleep (1000);
  EXPECT (0, dbl.pending (in));
}

static void
test_init_results (void)
{
  static const CuResult codes[] = { CU_STUB_LIBRARY, CU_NO_DEVICE, CU_DRIVER_MISMATCH,
                                    CU_COMPAT_NOT_SUPPORTED, CU_UNKNOWN };
  int n;

  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
    {
      dbl.set_init_result (codes[i]);
      EXPECT (codes[i], cu.cuInit (0));
      EXPECT (CU_NOT_INITIALIZED, cu.cuDeviceGetCount (&n));
    }
  dbl.set_init_result (CU_SUCCESS);
  dbl.set_devices (0);
  EXPECT (CU_NO_DEVICE, cu.cuInit (0));
  dbl.set_devices (1);
  MUST (cu.cuInit (0));
  MUST (cu.cuInit (0));
}

static void
test_environment (void)
{
  CuContext found;
  int n;

  setenv ("CUDA_DOUBLE_INIT", "803", 1);
  setenv ("CUDA_DOUBLE_FAIL", "cuDevicePrimaryCtxRetain:2=999", 1);
  setenv ("CUDA_DOUBLE_ABORT", "0", 1);
  EXPECT (CU_DRIVER_MISMATCH, cu.cuInit (0));
  dbl.set_init_result (0);
  MUST (cu.cuInit (0));
  MUST (cu.cuDeviceGetCount (&n));
  MUST (cu.cuDevicePrimaryCtxRetain (&found, 0));
  EXPECT (CU_UNKNOWN, cu.cuDevicePrimaryCtxRetain (&found, 0));
  MUST (cu.cuDevicePrimaryCtxRetain (&found, 0));
  EXPECT (CU_INVALID_CONTEXT, cu.cuCtxPopCurrent_v2 (NULL));
  EXPECT (1, dbl.violations ());
  CHECK (strstr (dbl.last_violation (), "cuCtxPopCurrent_v2") != NULL);
}

/* A variable that means nothing ends the program, as does a violation. */
static bool
ends_program (void (*run) (void))
{
  int status;
  pid_t child = fork ();

  if (child == 0)
    {
      run ();
      _exit (0);
    }
  waitpid (child, &status, 0);
  return WIFSIGNALED (status) && WTERMSIG (status) == SIGABRT;
}

static void
init (void)
{
  cu.cuInit (0);
}

static void
pop (void)
{
  cu.cuInit (0);
  cu.cuCtxPopCurrent_v2 (NULL);
}

static void
pop_switched_off (void)
{
  dbl.set_abort (false);
  pop ();
}

static void
test_ends (void)
{
  static const char *const wrong[][2] = {
    { "CUDA_DOUBLE", "two" },           { "CUDA_DOUBLE_EAGER", "" },
    { "CUDA_DOUBLE_DEVICE", "pools=1" }, { "CUDA_DOUBLE_DEVICE", "memory" },
    { "CUDA_DOUBLE_FAIL", "cuNone:1=2" }, { "CUDA_DOUBLE_FAIL", "cuInit" },
  };

  CHECK (!ends_program (init));
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    {
      setenv (wrong[i][0], wrong[i][1], 1);
      CHECK (ends_program (init));
      unsetenv (wrong[i][0]);
    }
  CHECK (ends_program (pop) && !ends_program (pop_switched_off));
}

/* A driver that is so old that it lacks functions */
static void
test_without (void)
{
  static const char *const names[] = { "cuStreamWaitValue64_v2", "cuMemPoolCreate", NULL };
  static const char *const unknown[] = { "cuNone", NULL };
  char path[] = "/tmp/cuda-double-XXXXXX", unused[] = "/tmp/cuda-double-XXXXXX";
  void *old;
  int n;

  CHECK (!cuda_double_copy_without (getenv ("MTL_CUDA_LIBRARY"), unknown, unused));
  CHECK (cuda_double_copy_without (getenv ("MTL_CUDA_LIBRARY"), names, path));
  old = dlopen (path, RTLD_NOW | RTLD_LOCAL);
  unlink (path);
  if (old == NULL)
    printf ("# %s\n", dlerror ());
  CHECK (old != NULL && old != library);
  CHECK (dlsym (old, "cuStreamWaitValue64_v2") == NULL && dlsym (old, "cuMemPoolCreate") == NULL);
  CHECK (dlsym (old, "cuStreamWriteValue64_v2") != NULL);
  MUST (((__typeof__ (cu.cuInit)) dlsym (old, "cuInit")) (0));
  MUST (((__typeof__ (cu.cuDeviceGetCount)) dlsym (old, "cuDeviceGetCount")) (&n));
  EXPECT (CU_NOT_INITIALIZED, cu.cuDeviceGetCount (&n)); /* another driver altogether */
}

/* Every point fails in turn, and nothing is left. */
static CuResult
use (void)
{
  CuStream stream = NULL;
  CuAddress address = 0;
  CuEvent event = NULL;
  CuResult result, freed;

  result = cu.cuStreamCreate (&stream, 1);
  if (result != CU_SUCCESS)
    return result;
  result = cu.cuMemAlloc_v2 (&address, 4);
  if (result == CU_SUCCESS)
    result = cu.cuEventCreate (&event, 2);
  if (result == CU_SUCCESS)
    result = cu.cuMemsetD8Async (address, 1, 4, stream);
  if (result == CU_SUCCESS)
    result = cu.cuEventRecord (event, stream);
  if (result == CU_SUCCESS)
    result = cu.cuEventSynchronize (event);
  freed = event != NULL ? cu.cuEventDestroy_v2 (event) : CU_SUCCESS;
  result = result != CU_SUCCESS ? result : freed;
  freed = address != 0 ? cu.cuMemFree_v2 (address) : CU_SUCCESS;
  result = result != CU_SUCCESS ? result : freed;
  freed = cu.cuStreamDestroy_v2 (stream);
  return result != CU_SUCCESS ? result : freed;
}

static void
test_fail_at (void)
{
  begin ();
  dbl.fail_at (0, 0);
  MUST (use ());
  EXPECT (9, dbl.points ());
  for (unsigned i = 1; i <= 9; i++)
    {
      dbl.fail_at (i, CU_OUT_OF_MEMORY);
      EXPECT (CU_OUT_OF_MEMORY, use ());
      EXPECT (0, dbl.live (NULL));
      MUST (use ()); /* once */
    }
  dbl.fail_at (10, CU_OUT_OF_MEMORY);
  MUST (use ());
  EXPECT (CU_OUT_OF_MEMORY, use ());
  end ();
}

static void
test_fail_function (void)
{
  int n;

  begin ();
  dbl.fail_function ("cuEventRecord", 2, CU_LAUNCH_TIMEOUT);
  MUST (use ());
  EXPECT (CU_LAUNCH_TIMEOUT, use ());
  MUST (use ());
  dbl.fail_function ("cuDeviceGetCount", 1, CU_UNKNOWN);
  EXPECT (CU_UNKNOWN, cu.cuDeviceGetCount (&n));
  MUST (cu.cuDeviceGetCount (&n));
  EXPECT (2, dbl.calls ("cuDeviceGetCount"));
  EXPECT (4, dbl.calls ("cuStreamCreate") + dbl.calls ("cuInit"));
  CHECK (dbl.calls (NULL) > 30);
  end ();
}

/* The error of queued work is told late, by whoever waits, and then by all. */
static void
test_late_error (void)
{
  static const CuResult codes[] = { CU_ILLEGAL_ADDRESS, CU_LAUNCH_FAILED, CU_ECC_UNCORRECTABLE };
  CuStream stream, other;
  CuAddress address;
  CuEvent event, made;
  unsigned char byte;
  int n;

  begin ();
  stream = new_stream ();
  other = new_stream ();
  address = new_memory (4);
  event = new_event ();
  for (size_t i = 0; i < 3; i++)
    {
      dbl.fail_work (2, codes[i]);
      MUST (cu.cuMemsetD8Async (address, 1, 1, stream));
      MUST (cu.cuMemsetD8Async (address, 2, 2, stream));
      MUST (cu.cuMemsetD8Async (address, 3, 4, stream));
      MUST (cu.cuEventRecord (event, stream));
      EXPECT (codes[i], cu.cuEventSynchronize (event));
      EXPECT (0, dbl.pending (stream)); /* work behind it ends, too, but does nothing */
      CHECK (dbl.peek (address, &byte, 1));
      EXPECT (1, byte);
      EXPECT (codes[i], cu.cuMemsetD8Async (address, 4, 4, other));
      EXPECT (codes[i], cu.cuStreamSynchronize (other));
      EXPECT (codes[i], cu.cuStreamQuery (other));
      EXPECT (codes[i], cu.cuEventQuery (event));
      EXPECT (codes[i], cu.cuEventCreate (&made, 2));
      EXPECT (codes[i], cu.cuDevicePrimaryCtxRetain (&(CuContext) { NULL }, 0));
      MUST (cu.cuDeviceGetCount (&n));
      dbl.set_error (CU_SUCCESS);
    }

  /* Frees are done all the same. */
  dbl.set_error (CU_LAUNCH_FAILED);
  EXPECT (CU_LAUNCH_FAILED, cu.cuMemFree_v2 (address));
  EXPECT (CU_LAUNCH_FAILED, cu.cuEventDestroy_v2 (event));
  EXPECT (CU_LAUNCH_FAILED, cu.cuStreamDestroy_v2 (stream));
  EXPECT (CU_LAUNCH_FAILED, cu.cuStreamDestroy_v2 (other));
  EXPECT (CU_LAUNCH_FAILED, cu.cuCtxPopCurrent_v2 (NULL));
  EXPECT (CU_LAUNCH_FAILED, cu.cuCtxPushCurrent_v2 (context));
  EXPECT (0, dbl.context_depth ());
  EXPECT (0, dbl.live (NULL));
}

/* A stream that waits for a value does not hang after an error. */
static void
test_error_ends_waits (void)
{
  CuStream stream;
  uint64_t *value;

  begin ();
  stream = new_stream ();
  value = new_pinned (8);
  *value = 0;
  MUST (cu.cuStreamWaitValue64_v2 (stream, ADDRESS (value), 1, 0));
  dbl.set_error (CU_LAUNCH_FAILED);
  EXPECT (CU_LAUNCH_FAILED, cu.cuMemFreeHost (value));
  EXPECT (0, dbl.pending (NULL));
}

/* Forks */

static void
in_child (int (*run) (void))
{
  int status;
  pid_t child = fork ();

  if (child == 0)
    _exit (run ());
  waitpid (child, &status, 0);
  CHECK (WIFEXITED (status));
  EXPECT (0, WEXITSTATUS (status));
}

static CuStream stream;
static CuEvent event;
static CuAddress memory;
static unsigned char *pinned;

#define CHILD_EXPECTS(expected, call) \
  do \
    { \
      CuResult result_ = (call); \
      if (result_ != (expected)) \
        { \
          printf ("# in the child: %s is %u\n", #call, result_); \
          fflush (stdout); \
          return 1; \
        } \
    } \
  while (0)

static int
child_of_context (void)
{
  CuAddress address = 0;
  CuContext found;
  CuEnum type = 7, which[] = { CU_POINTER_MEMORY_TYPE };
  void *out[] = { &type };
  int n;

  CHILD_EXPECTS (CU_NOT_INITIALIZED, cu.cuInit (0));
  CHILD_EXPECTS (CU_NOT_INITIALIZED, cu.cuDeviceGetCount (&n));
  CHILD_EXPECTS (CU_NOT_INITIALIZED, cu.cuDevicePrimaryCtxRetain (&found, 0));
  CHILD_EXPECTS (CU_NOT_INITIALIZED, cu.cuCtxPushCurrent_v2 (context));
  CHILD_EXPECTS (CU_NOT_INITIALIZED, cu.cuMemAlloc_v2 (&address, 4));
  CHILD_EXPECTS (CU_NOT_INITIALIZED, cu.cuPointerGetAttributes (1, which, out, memory));
  CHILD_EXPECTS (CU_SUCCESS, cu.cuEventQuery (event));
  CHILD_EXPECTS (CU_SUCCESS, cu.cuEventDestroy_v2 (event));
  CHILD_EXPECTS (CU_SUCCESS, cu.cuStreamSynchronize (stream));
  return type != 7 || address != 0;
}

/* In the child of the double, nothing that was shared changes. */
static int
child_frees (void)
{
  dbl.set_abort (false);
  CHILD_EXPECTS (CU_SUCCESS, cu.cuStreamDestroy_v2 (stream));
  CHILD_EXPECTS (CU_SUCCESS, cu.cuEventRecord (event, stream));
  CHILD_EXPECTS (CU_SUCCESS, cu.cuStreamWaitEvent (stream, event, 0));
  CHILD_EXPECTS (CU_NOT_INITIALIZED, cu.cuMemsetD8Async (memory, 0, 4, stream));
  CHILD_EXPECTS (0, dbl.violations ());
  CHILD_EXPECTS (CU_NOT_INITIALIZED, cu.cuMemFree_v2 (memory));
  CHILD_EXPECTS (1, dbl.violations ());
  CHILD_EXPECTS (CU_NOT_INITIALIZED, cu.cuMemFreeHost (pinned));
  CHILD_EXPECTS (2, dbl.violations ());
  CHILD_EXPECTS (CU_NOT_INITIALIZED, cu.cuMemFreeAsync (memory, stream));
  CHILD_EXPECTS (3, dbl.violations ());
  return 0;
}

static int
child_writes (void)
{
  pinned[0] = 55;
  return 0;
}

static void
test_fork (void)
{
  begin ();
  stream = new_stream ();
  event = new_event ();
  memory = new_memory (4);
  pinned = new_pinned (4);
  MUST (cu.cuEventRecord (event, stream));
  in_child (child_of_context);
  if (is_double)
    in_child (child_frees);
  in_child (child_writes);
  EXPECT (55, pinned[0]); /* the pages are shared */
  MUST (cu.cuMemsetD8Async (memory, 1, 4, stream));
  EXPECT (0x01010101, read_word (memory, stream));
  MUST (cu.cuMemFree_v2 (memory));
  MUST (cu.cuMemFreeHost (pinned));
  MUST (cu.cuEventDestroy_v2 (event));
  MUST (cu.cuStreamDestroy_v2 (stream));
  end ();
}

static int
child_init (void)
{
  int n;

  CHILD_EXPECTS (CU_SUCCESS, cu.cuInit (0));
  CHILD_EXPECTS (CU_SUCCESS, cu.cuDeviceGetCount (&n));
  return 0;
}

/* The library may be loaded before a fork, but not initialized. */
static void
test_fork_before_init (void)
{
  in_child (child_init);
  begin ();
  end ();
}

static void *managed_bytes;

static int
child_looks (void)
{
  return is_accessible (managed_bytes, false) || !is_accessible (pinned, true);
}

static void
test_managed_in_child (void)
{
  CuAddress managed;

  begin ();
  MUST (cu.cuMemAllocManaged (&managed, 4, CU_ATTACH_GLOBAL));
  pinned = new_pinned (4);
  managed_bytes = POINTER (managed);
  CHECK (is_accessible (managed_bytes, true));
  in_child (child_looks);
  MUST (cu.cuMemFreeHost (pinned));
  MUST (cu.cuMemFree_v2 (managed));
  end ();
}

/* Exit */

static void
exits (int  (*run) (void),
       int    expected)
{
  int status;
  pid_t child = fork ();

  if (child == 0)
    exit (run ());
  waitpid (child, &status, 0);
  CHECK (WIFEXITED (status));
  EXPECT (expected, WEXITSTATUS (status));
}

static void
at_exit (void)
{
  int n;

  if (cu.cuMemFree_v2 (memory) != CU_DEINITIALIZED
      || cu.cuDeviceGetCount (&n) != CU_DEINITIALIZED || cu.cuInit (0) != CU_DEINITIALIZED
      || cu.cuStreamSynchronize (stream) != CU_DEINITIALIZED || dbl.violations () != 0)
    _exit (9);
  _exit (8);
}

static int
leave_behind (void)
{
  atexit (at_exit);
  begin ();
  stream = new_stream ();
  memory = new_memory (4);
  if (cu.cuMemsetD8Async (memory, 1, 4, stream) != CU_SUCCESS)
    return 1;
  return 0;
}

/* Handlers that were registered before see a driver that has ended. */
static void
test_exit (void)
{
  exits (leave_behind, 8);
}

static void
at_exit_later (void)
{
  _exit (cu.cuMemFree_v2 (memory) == CU_SUCCESS ? 7 : 6);
}

static int
leave_with_later_handler (void)
{
  leave_behind ();
  atexit (at_exit_later);
  return 0;
}

static void
test_exit_later (void)
{
  exits (leave_with_later_handler, 7);
}

static int
leave_leaks (void)
{
  freopen (getenv ("LEAKS"), "w", stderr);
  begin ();
  stream = new_stream ();
  memory = new_memory (4321);
  return 0;
}

static void
test_leaks (void)
{
  char path[] = "/tmp/cuda-double-XXXXXX", text[1000] = "";
  int fd = mkstemp (path);

  CHECK (fd >= 0);
  setenv ("LEAKS", path, 1);
  setenv ("CUDA_DOUBLE_LEAKS", "1", 1);
  exits (leave_leaks, 0);
  CHECK (read (fd, text, sizeof text - 1) > 0);
  unlink (path);
  CHECK (strstr (text, "device-memory") != NULL && strstr (text, "4321") != NULL);
  CHECK (strstr (text, "stream") != NULL);
}

static const Case cases[] = {
  { "not-initialized", test_not_initialized, true },
  { "each-fails", test_each_fails },
  { "environment-of-work", test_environment_of_work },
  { "environment-of-delay", test_environment_of_delay },
  { "init-results", test_init_results },
  { "environment", test_environment },
  { "ends", test_ends },
  { "without", test_without },
  { "fail-at", test_fail_at },
  { "fail-function", test_fail_function },
  { "late-error", test_late_error },
  { "error-ends-waits", test_error_ends_waits },
  { "fork", test_fork, true },
  { "fork-before-init", test_fork_before_init, true },
  { "managed-in-child", test_managed_in_child },
  { "exit", test_exit },
  { "exit-later", test_exit_later },
  { "leaks", test_leaks },
};

RUN_CASES (cases)
