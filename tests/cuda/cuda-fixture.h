/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Helpers of the tests of CUDA's device: another library in the process, which calls the driver
 * itself, and the controls of the double. Without MTL_CUDA_LIBRARY, the same programs test a
 * driver; then the tests that need the controls are skipped. */

#pragma once

#include "dlpack-structs.h"
#include "test-utils.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda-double-more.h"
#include "cuda-double.h"
#include "mtl-cuda-abi-private.h"

#define MEMBER(name, parameters) CuResult (*name) parameters;
static struct
{
  CU_FUNCTIONS (MEMBER)
  CU_STRUCT_FUNCTIONS (MEMBER)
  CU_OPTIONAL_FUNCTIONS (MEMBER)
  CU_MORE_FUNCTIONS (MEMBER)
} cu;

#define CONTROLS(X) \
  X (set_devices) X (set_attribute) X (set_init_result) X (set_abort) X (violations) \
  X (last_violation) X (set_eager) X (set_delay) X (pause) X (resume) X (pending) \
  X (waits) X (waits_of_all_threads) X (calls) X (context_depth) X (capture_mode) X (fail_at) \
  X (points) X (fail_function) X (fail_work) X (set_error) X (set_reuse) X (pool_cached) \
  X (set_jit_result) X (live) X (live_bytes) X (list_live) X (peek) X (poke) \
  X (dead_streams_used)

/* NULL over a driver */
#define CONTROL(name) __typeof__ (&cuda_double_##name) name;
static struct
{
  CONTROLS (CONTROL)
} dbl;
static gboolean over_double;

static CuContext contexts[2]; /* the primary ones */
static int n_gpus;

#define ADDRESS(pointer) ((CuAddress) (guintptr) (pointer))
#define POINTER(address) ((gpointer) (guintptr) (address))
#define MUST(call) g_assert_cmpuint ((call), ==, CU_SUCCESS)

/* Returns FALSE if there is no driver. */
static inline gboolean
open_driver (void)
{
  const char *path = g_getenv ("MTL_CUDA_LIBRARY");
  gpointer library = dlopen (path != NULL ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

  if (library == NULL && path != NULL)
    g_error ("%s", dlerror ());
  if (library == NULL)
    return FALSE;

  over_double = dlsym (library, "cuda_double_violations") != NULL;
#define LOAD(name, parameters) cu.name = (CuResult (*) parameters) dlsym (library, #name);
  CU_FUNCTIONS (LOAD)
  CU_STRUCT_FUNCTIONS (LOAD)
  CU_OPTIONAL_FUNCTIONS (LOAD)
  CU_MORE_FUNCTIONS (LOAD)
#define LOAD_CONTROL(name) \
  dbl.name = (__typeof__ (dbl.name)) dlsym (library, "cuda_double_" #name); \
  g_assert_true (!over_double || dbl.name != NULL);
  CONTROLS (LOAD_CONTROL)
  return TRUE;
}

/* Borrowed: devices live as long as the process. */
static inline MtlDevice *
get_cuda (int ordinal)
{
  g_autoptr (GError) error = NULL;
  MtlDevice *device = mtl_device_get (MTL_DEVICE_TYPE_CUDA, ordinal, &error);

  g_assert_no_error (error);
  return device;
}

static inline void
synchronize (MtlDevice *device)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (mtl_device_synchronize (device, NULL, &error));
  g_assert_no_error (error);
}

/* Opens up to two devices, which have streams and a pool from then on. */
static inline void
set_up_cuda (void)
{
  if (!open_driver ())
    {
      g_print ("1..0 # SKIP there is no driver of CUDA here\n");
      exit (0);
    }
  if (over_double)
    dbl.set_devices (2);
  MUST (cu.cuInit (0));
  MUST (cu.cuDeviceGetCount (&n_gpus));
  n_gpus = MIN (n_gpus, 2);
  for (int i = 0; i < n_gpus; i++)
    {
      MUST (cu.cuDevicePrimaryCtxRetain (&contexts[i], i));
      synchronize (get_cuda (i));
    }
}

/* The other library. Its calls that need a current context are made in that of a device. */

static inline void
peer_enter (int ordinal)
{
  MUST (cu.cuCtxPushCurrent_v2 (contexts[ordinal]));
}

static inline void
peer_leave (void)
{
  MUST (cu.cuCtxPopCurrent_v2 (NULL));
}

static inline CuStream
peer_stream_of_kind (int    ordinal,
                     CuEnum flags)
{
  CuStream stream;

  peer_enter (ordinal);
  MUST (cu.cuStreamCreate (&stream, flags));
  peer_leave ();
  return stream;
}

static inline CuStream
peer_stream (int ordinal)
{
  return peer_stream_of_kind (ordinal, CU_STREAM_NONBLOCKING);
}

static inline gpointer
peer_memory (int   ordinal,
             gsize size)
{
  CuAddress address;

  peer_enter (ordinal);
  MUST (cu.cuMemAlloc_v2 (&address, size));
  peer_leave ();
  return POINTER (address);
}

static inline void
peer_free (gpointer address)
{
  peer_enter (0);
  MUST (cu.cuMemFree_v2 (ADDRESS (address)));
  peer_leave ();
}

static inline gpointer
peer_pinned (gsize size)
{
  gpointer address;

  peer_enter (0);
  MUST (cu.cuMemHostAlloc (&address, size, CU_HOST_ALLOC_PORTABLE));
  peer_leave ();
  return address;
}

static inline void
peer_free_pinned (gpointer address)
{
  peer_enter (0);
  MUST (cu.cuMemFreeHost (address));
  peer_leave ();
}

static inline gpointer
peer_managed (gsize size)
{
  CuAddress address;

  peer_enter (0);
  MUST (cu.cuMemAllocManaged (&address, size, CU_ATTACH_GLOBAL));
  peer_leave ();
  return POINTER (address);
}

/* The bytes that the driver knows of from an address on. It may have allocated more than was asked
 * for. */
static inline gsize
bytes_to_end (gpointer address)
{
  CuEnum attributes[] = { CU_POINTER_RANGE_START, CU_POINTER_RANGE_SIZE };
  CuAddress start = 0;
  gsize size = 0;
  gpointer values[] = { &start, &size };

  MUST (cu.cuPointerGetAttributes (G_N_ELEMENTS (attributes), attributes, values,
                                   ADDRESS (address)));
  return start + size - ADDRESS (address);
}

/* Lets one stream wait for another, as other libraries do. */
static inline void
peer_order (int      ordinal,
            CuStream before,
            CuStream after)
{
  CuEvent event;

  peer_enter (ordinal);
  MUST (cu.cuEventCreate (&event, CU_EVENT_NO_TIMING));
  MUST (cu.cuEventRecord (event, before));
  MUST (cu.cuStreamWaitEvent (after, event, 0));
  MUST (cu.cuEventDestroy_v2 (event));
  peer_leave ();
}

/* Reads a GPU's memory after all work of the library on it. */
static inline void
read_gpu (int           ordinal,
          gconstpointer address,
          gpointer      bytes,
          gsize         size)
{
  CuStream stream = peer_stream (ordinal);

  synchronize (get_cuda (ordinal));
  MUST (cu.cuMemcpyAsync (ADDRESS (bytes), ADDRESS (address), size, stream));
  MUST (cu.cuStreamSynchronize (stream));
  MUST (cu.cuStreamDestroy_v2 (stream));
}

static inline void
write_gpu (int           ordinal,
           gpointer      address,
           gconstpointer bytes,
           gsize         size)
{
  CuStream stream = peer_stream (ordinal);

  synchronize (get_cuda (ordinal));
  MUST (cu.cuMemcpyAsync (ADDRESS (address), ADDRESS (bytes), size, stream));
  MUST (cu.cuStreamSynchronize (stream));
  MUST (cu.cuStreamDestroy_v2 (stream));
}

#define assert_gpu_has(ordinal, address, expected, size) \
  G_STMT_START \
    { \
      g_autofree guint8 *read_ = g_malloc (size); \
      read_gpu ((ordinal), (address), read_, (size)); \
      g_assert_cmpmem (read_, (size), (expected), (size)); \
    } \
  G_STMT_END

#define assert_buffer_bytes(buffer, offset, expected, size) \
  G_STMT_START \
    { \
      GError *error_ = NULL; \
      GBytes *bytes_ = mtl_buffer_dup_bytes ((buffer), (offset), (size), NULL, &error_); \
      g_assert_no_error (error_); \
      g_assert_cmpmem (g_bytes_get_data (bytes_, NULL), g_bytes_get_size (bytes_), \
                       (expected), (size)); \
      g_bytes_unref (bytes_); \
    } \
  G_STMT_END

/* A tensor of the other library: bytes, unless the test writes something else. */
typedef struct
{
  DLManagedTensorVersioned managed;
  gint64 shape[4];
  gint64 strides[4];
  int n_deleted;      /* atomic */
  GThread *deleted_by;
  CuStream watched;   /* or NULL */
  guint64 n_pending;  /* in it, when the deleter was called */
} PeerTensor;

static inline void
peer_tensor_delete (DLManagedTensorVersioned *managed)
{
  PeerTensor *self = managed->manager_ctx;

  self->deleted_by = g_thread_self ();
  if (self->watched != NULL && over_double)
    self->n_pending = dbl.pending (self->watched);
  g_atomic_int_inc (&self->n_deleted);
}

static inline void
peer_tensor_init (PeerTensor *self,
                  gpointer    data,
                  gint64      n,
                  int         device_type,
                  int         device_id)
{
  *self = (PeerTensor) {
    .managed = {
      .version = { 1, 1 },
      .manager_ctx = self,
      .deleter = peer_tensor_delete,
      .dl_tensor = {
        .data = data,
        .device = { device_type, device_id },
        .ndim = 1,
        .dtype = { kDLUInt, 8, 1 },
        .shape = self->shape,
        .strides = self->strides,
      },
    },
    .shape = { n },
    .strides = { 1 },
  };
}

static inline MtlStridedView *
import (PeerTensor *tensor)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *view = mtl_strided_view_new_take_dlpack (&tensor->managed, &error);

  g_assert_no_error (error);
  return view;
}

static inline MtlStridedView *
to_gpu (MtlStridedView *view)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *copy = mtl_strided_view_to_device (view, get_cuda (0), MTL_STORAGE_MODE_PRIVATE,
                                                     NULL, &error);

  g_assert_no_error (error);
  return copy;
}

/* A stream object for a stream of the other library, pushed until pop_stream(). */
static inline MtlStream *
push_stream (CuStream stream,
             int      ordinal)
{
  g_autoptr (GError) error = NULL;
  MtlStream *self = mtl_stream_new_for_handle ((guintptr) stream, get_cuda (ordinal), &error);

  g_assert_no_error (error);
  mtl_stream_push_thread_default (self);
  return self;
}

static inline void
pop_stream (MtlStream *self)
{
  mtl_stream_pop_thread_default (self);
  g_assert_finalize_object (self);
}

/* Owners may end in a thread that nobody waits for. */
static inline void
await_count (const int *count,
             int        expected)
{
  for (int i = 0; i < 5000 && g_atomic_int_get (count) != expected; i++)
    g_usleep (1000);

  g_assert_cmpint (g_atomic_int_get (count), ==, expected);
}

/* The handle of the library's stream. */
static inline CuStream
own_stream (int ordinal)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStream) stream = mtl_stream_new_for_device (get_cuda (ordinal), &error);

  g_assert_no_error (error);
  return POINTER (mtl_stream_get_handle (stream));
}

/* The double counts more than a driver tells. Over a driver these are 0. */

static inline gsize
count_alive (const char *kind)
{
  return over_double ? dbl.live (kind) : 0;
}

static inline guint64
count_pending (CuStream stream)
{
  return over_double ? dbl.pending (stream) : 0;
}

/* This thread's mode */
static inline CuEnum
get_capture_mode (void)
{
  CuEnum mode = CU_CAPTURE_MODE_RELAXED, relaxed;

  MUST (cu.cuThreadExchangeStreamCaptureMode (&mode));
  relaxed = mode;
  MUST (cu.cuThreadExchangeStreamCaptureMode (&relaxed));
  return mode;
}

/* Resumes the devices after a while, which a wait of the host needs to end. */
static inline gpointer
resume_in_thread (gpointer resumed)
{
  g_usleep (20000);
  g_atomic_int_set ((int *) resumed, TRUE);
  dbl.resume ();
  return NULL;
}

/* Checks that a statement waits for the devices: these are paused until it has begun. */
#define assert_waits(statement) \
  G_STMT_START \
    { \
      int resumed_ = FALSE; \
      GThread *thread_; \
      dbl.pause (); \
      thread_ = g_thread_new ("resume", resume_in_thread, &resumed_); \
      statement; \
      g_assert_true (g_atomic_int_get (&resumed_)); \
      g_thread_join (thread_); \
    } \
  G_STMT_END

/* Checks that no call of a statement is one that waits for the devices. */
#define assert_does_not_wait(statement) \
  G_STMT_START \
    { \
      unsigned n_waits_ = dbl.waits (NULL); \
      statement; \
      g_assert_cmpuint (dbl.waits (NULL), ==, n_waits_); \
    } \
  G_STMT_END

#define skip_unless(condition, reason) \
  G_STMT_START \
    { \
      if (!(condition)) \
        { \
          g_test_skip (reason); \
          return; \
        } \
    } \
  G_STMT_END

/* Runs a function in a forked child, which has to end well. */
static inline void
run_in_child (void (* func) (gpointer data),
              gpointer data)
{
  pid_t child = fork ();
  int status;

  g_assert_cmpint (child, >=, 0);
  if (child == 0)
    {
      alarm (60);
      func (data);
      _exit (0);
    }

  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_cmpint (status, ==, 0);
}

/* Each test leaves nothing behind but what the library keeps for the next use: events, pinned and
 * managed memory, which are counted elsewhere. */
static const char *const counted_kinds[] = {
  "device-memory", "pool-memory", "registered", "stream", "pool", "graph",
};

typedef struct
{
  gsize n_alive[G_N_ELEMENTS (counted_kinds)];
} Living;

static inline void
living_count (Living        *self,
              gconstpointer  data)
{
  if (!over_double)
    return;

  for (gsize i = 0; i < G_N_ELEMENTS (counted_kinds); i++)
    self->n_alive[i] = dbl.live (counted_kinds[i]);
}

/* Lets the devices do all that is queued, also by threads that are not waited for. */
static inline void
await_all_work (void)
{
  dbl.set_eager (TRUE);
  for (int i = 0; i < 5000 && dbl.pending (NULL) > 0; i++)
    g_usleep (1000);
  g_assert_cmpuint (dbl.pending (NULL), ==, 0);
  dbl.set_eager (FALSE);
}

/* The thread that frees what was in use may still be about to. */
static inline gboolean
living_is_as_before (const Living *self,
                     gsize         i)
{
  for (int j = 0; j < 5000 && dbl.live (counted_kinds[i]) != self->n_alive[i]; j++)
    {
      await_all_work ();
      g_usleep (1000);
    }

  return dbl.live (counted_kinds[i]) == self->n_alive[i];
}

static inline void
living_check (Living        *self,
              gconstpointer  data)
{
  if (!over_double)
    return;

  await_all_work ();
  for (gsize i = 0; i < G_N_ELEMENTS (counted_kinds); i++)
    if (!living_is_as_before (self, i))
      g_error ("%zu objects “%s” are alive, %zu were", dbl.live (counted_kinds[i]),
               counted_kinds[i], self->n_alive[i]);
  g_assert_cmpuint (dbl.context_depth (), ==, 0);
  g_assert_cmpuint (dbl.capture_mode (), ==, CU_CAPTURE_MODE_GLOBAL);
  g_assert_cmpuint (dbl.violations (), ==, 0);
}

static inline void
call_test (Living        *living,
           gconstpointer  data)
{
  ((GTestFunc) data) ();
}

/* These do the same as g_test_add_data_func() and g_test_add_func(), with the check above. */
static inline void
add_cuda_data_test (const char     *path,
                    gconstpointer   data,
                    void          (* func) (Living *, gconstpointer))
{
  g_test_add_vtable (path, sizeof (Living), data, (GTestFixtureFunc) living_count,
                     (GTestFixtureFunc) func, (GTestFixtureFunc) living_check);
}

static inline void
add_cuda_test (const char *path,
               GTestFunc   func)
{
  add_cuda_data_test (path, (gconstpointer) func, call_test);
}

static inline void
skip_without_double (void)
{
  g_test_skip ("this needs the double of CUDA's driver");
}

static inline void
skip_data_without_double (Living        *living,
                          gconstpointer  data)
{
  skip_without_double ();
}

/* Tests that need the controls of the double. */
static inline void
add_double_data_test (const char     *path,
                      gconstpointer   data,
                      void          (* func) (Living *, gconstpointer))
{
  add_cuda_data_test (path, data, over_double ? func : skip_data_without_double);
}

static inline void
add_double_test (const char *path,
                 GTestFunc   func)
{
  add_cuda_test (path, over_double ? func : skip_without_double);
}

/* Runs the rest of a test in a process of its own, which has not used CUDA. */
#define run_alone() \
  G_STMT_START \
    { \
      if (!g_test_subprocess ()) \
        { \
          g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT); \
          g_test_trap_assert_passed (); \
          g_test_trap_assert_stderr (""); \
          return; \
        } \
    } \
  G_STMT_END
