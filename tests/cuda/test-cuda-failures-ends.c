/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Failures that nobody can be told of, as memory ends, and errors that stay. */

#include "cuda-fixture.h"

#include "test-files.h"

#define SIZE 4096
#define MIB ((gsize) 1 << 20)

static const MtlStorageMode modes[] = { MTL_STORAGE_MODE_PRIVATE, MTL_STORAGE_MODE_SHARED,
                                        MTL_STORAGE_MODE_MANAGED };

static MtlStridedView *
new_view (MtlStorageMode mode)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *view = mtl_strided_view_new_zeros (get_cuda (0), MTL_DTYPE_UINT8, DIMS (SIZE),
                                                     mode, &error);

  g_assert_no_error (error);
  return view;
}

/* Ends of memory that is in use: the last reference goes while the driver fails once. */

typedef struct
{
  CuStream stream; /* another library's, which works on the memory */
  MtlStridedView *view;
  MtlBuffer *buffer;
  DLManagedTensorVersioned *tensor;
  PeerTensor peer;
  gpointer memory;
  int n_ended;
  int n_owners;
} Stage;

static void
use_in_stream (Stage   *stage,
               gpointer address)
{
  dbl.pause ();
  MUST (cu.cuMemsetD8Async (ADDRESS (address), 7, SIZE, stage->stream));
}

static void
export_for_stream (Stage          *stage,
                   MtlStridedView *view)
{
  g_autoptr (GError) error = NULL;
  MtlStream *pushed = push_stream (stage->stream, 0);

  stage->tensor = mtl_strided_view_to_dlpack (view, MTL_DLPACK_FLAGS_NONE, NULL, &error);
  g_assert_no_error (error);
  pop_stream (pushed);
  use_in_stream (stage, stage->tensor->dl_tensor.data);
}

static void
set_up_private (Stage *stage)
{
  stage->view = new_view (MTL_STORAGE_MODE_PRIVATE);
  export_for_stream (stage, stage->view);
}

static void
set_up_shared (Stage *stage)
{
  stage->view = new_view (MTL_STORAGE_MODE_SHARED);
  export_for_stream (stage, stage->view);
}

static void
set_up_managed (Stage *stage)
{
  stage->view = new_view (MTL_STORAGE_MODE_MANAGED);
  export_for_stream (stage, stage->view);
}

static void
set_up_own_work (Stage *stage)
{
  g_autoptr (GBytes) pattern = g_bytes_new_static ("a", 1);
  g_autoptr (GError) error = NULL;

  stage->memory = peer_memory (0, SIZE);
  stage->n_owners = 1;
  stage->buffer = mtl_buffer_new_for_handle (stage->memory, SIZE, get_cuda (0), count_call,
                                             &stage->n_ended, &error);
  g_assert_no_error (error);
  synchronize (get_cuda (0));
  dbl.pause ();
  g_assert_true (mtl_buffer_fill (stage->buffer, 0, SIZE, pattern, NULL, &error));
  g_assert_no_error (error);
}

static void
set_up_import (Stage *stage)
{
  stage->memory = peer_memory (0, SIZE);
  peer_tensor_init (&stage->peer, stage->memory, SIZE, 2, 0);
  stage->peer.watched = stage->stream;
  stage->view = import (&stage->peer);
  export_for_stream (stage, stage->view);
}

static void
set_up_unused (Stage *stage)
{
  stage->buffer = new_buffer (get_cuda (0), SIZE, MTL_STORAGE_MODE_SHARED);
}

static const struct
{
  const char *path;
  void (* set_up) (Stage *stage);
} ends[] = {
  { "/CudaFailuresEnds/private", set_up_private },
  { "/CudaFailuresEnds/shared", set_up_shared },
  { "/CudaFailuresEnds/managed", set_up_managed },
  { "/CudaFailuresEnds/own-work", set_up_own_work },
  { "/CudaFailuresEnds/import", set_up_import },
  { "/CudaFailuresEnds/unused", set_up_unused },
};

#define NAME(name, parameters) #name,
static const char *const functions[] = {
  CU_FUNCTIONS (NAME)
  CU_STRUCT_FUNCTIONS (NAME)
};

/* Without these, nothing can be freed; the memory stays. */
static gboolean
is_entering (const char *function)
{
  return strcmp (function, "cuThreadExchangeStreamCaptureMode") == 0
         || strcmp (function, "cuCtxPushCurrent_v2") == 0;
}

static void
restore_capture_mode (void)
{
  CuEnum mode = CU_CAPTURE_MODE_GLOBAL;

  MUST (cu.cuThreadExchangeStreamCaptureMode (&mode));
}

/* If the order is lost, the double reports a violation; if an owner ends too early, its tensor
 * tells of pending work. The host may wait, so the devices have to go on. Returns FALSE if there
 * was no such call. */
static gboolean
fail_at_end (gsize       i,
             const char *function,
             unsigned    kth)
{
  Stage stage = { .stream = peer_stream (0) };
  Living living;
  unsigned n_calls;
  gboolean failed;

  ends[i].set_up (&stage);
  living_count (&living, NULL);
  n_calls = dbl.calls (function);
  dbl.fail_function (function, kth, CU_UNKNOWN);
  dbl.resume ();
  if (stage.tensor != NULL)
    stage.tensor->deleter (stage.tensor);
  g_clear_object (&stage.view);
  g_clear_object (&stage.buffer);
  await_count (&stage.n_ended, stage.n_owners);
  if (stage.peer.managed.deleter != NULL)
    await_count (&stage.peer.n_deleted, 1);
  for (int j = 0; j < 5; j++)
    g_usleep (200);
  dbl.fail_function (function, 0, 0);
  failed = dbl.calls (function) >= n_calls + kth;

  if (is_entering (function))
    restore_capture_mode ();
  else if (stage.peer.n_pending > 0)
    g_error ("The owner ended too early, as call %u of %s failed", kth, function);
  g_assert_cmpuint (dbl.context_depth (), ==, 0);
  g_assert_cmpuint (dbl.capture_mode (), ==, CU_CAPTURE_MODE_GLOBAL);
  MUST (cu.cuStreamSynchronize (stage.stream));
  MUST (cu.cuStreamDestroy_v2 (stage.stream));
  synchronize (get_cuda (0));
  if (stage.memory != NULL)
    peer_free (stage.memory);
  return failed;
}

static void
test_end (Living        *living,
          gconstpointer  data)
{
  guint n_failures = 0;

  for (gsize j = 0; j < G_N_ELEMENTS (functions); j++)
    if (!is_entering (functions[j]))
      for (unsigned kth = 1; fail_at_end (GPOINTER_TO_SIZE (data), functions[j], kth); kth++)
        n_failures++;
  g_test_message ("%u failures", n_failures);
  g_assert_cmpuint (n_failures, >, 0);
}

/* Here memory stays, but owners end, and the next use is as before. */
static void
test_end_without_context (void)
{
  static const char *const entering[] = { "cuThreadExchangeStreamCaptureMode",
                                          "cuCtxPushCurrent_v2" };

  run_alone ();
  synchronize (get_cuda (0));
  MUST (cu.cuDevicePrimaryCtxRetain (&contexts[0], 0));
  for (gsize i = 0; i < G_N_ELEMENTS (ends); i++)
    for (gsize j = 0; j < G_N_ELEMENTS (entering); j++)
      for (unsigned kth = 1; fail_at_end (i, entering[j], kth); kth++)
        {
          g_autoptr (MtlStridedView) view = new_view (MTL_STORAGE_MODE_PRIVATE);

          g_assert_true (mtl_strided_view_fill_double (view, 1, NULL, NULL));
        }
}

/* Errors that stay */

#define STICKY "CUDA_ERROR_ILLEGAL_ADDRESS & 700"

typedef struct
{
  MtlStridedView *views[G_N_ELEMENTS (modes)];
  MtlBuffer *private;
  MtlStream *stream;
  MtlEvent *event;
  MtlBuffer *wrapped;
  gpointer memory;
  int n_ended;
  PeerTensor peer;
  MtlStridedView *imported;
  DLManagedTensorVersioned *tensor;
} World;

static void
world_init (World *self)
{
  g_autoptr (GError) error = NULL;

  *self = (World) {
    .private = new_buffer (get_cuda (0), SIZE, MTL_STORAGE_MODE_PRIVATE),
    .stream = mtl_stream_new (get_cuda (0), &error),
    .event = mtl_event_new (get_cuda (0), &error),
    .memory = peer_memory (0, SIZE),
  };
  for (gsize i = 0; i < G_N_ELEMENTS (modes); i++)
    self->views[i] = new_view (modes[i]);
  self->wrapped = mtl_buffer_new_for_handle (self->memory, SIZE, get_cuda (0), count_call,
                                             &self->n_ended, &error);
  g_assert_no_error (error);
  peer_tensor_init (&self->peer, self->memory, SIZE, 2, 0);
  self->imported = import (&self->peer);
  self->tensor = mtl_strided_view_to_dlpack (self->imported, MTL_DLPACK_FLAGS_NONE, NULL, &error);
  g_assert_no_error (error);
}

/* All of it ends, and so do the owners. */
static void
world_clear (World *self)
{
  for (gsize i = 0; i < G_N_ELEMENTS (modes); i++)
    g_assert_finalize_object (self->views[i]);
  g_assert_finalize_object (self->private);
  g_assert_finalize_object (self->stream);
  g_assert_finalize_object (self->event);
  g_assert_finalize_object (self->wrapped);
  g_assert_finalize_object (self->imported);
  self->tensor->deleter (self->tensor);
  await_count (&self->n_ended, 1);
  await_count (&self->peer.n_deleted, 1);
}

static void
assert_all_is_refused (World *world)
{
  MtlDevice *device = get_cuda (0);
  g_autoptr (GBytes) bytes = g_bytes_new_static ("abcd", 4);
  g_autoptr (MtlBuffer) host = new_buffer (NULL, SIZE, MTL_STORAGE_MODE_HOST);
  PeerTensor peer;

  for (gsize i = 0; i < G_N_ELEMENTS (modes); i++)
    assert_fails (mtl_buffer_new (device, 123456, modes[i], &error), MTL_ERROR_DEVICE, STICKY);
  assert_refuses (mtl_buffer_set_bytes (world->private, 0, bytes, NULL, &error), MTL_ERROR_DEVICE,
                  STICKY);
  assert_fails (mtl_buffer_dup_bytes (world->private, 0, 4, NULL, &error), MTL_ERROR_DEVICE,
                STICKY);
  assert_refuses (mtl_buffer_fill (world->private, 0, 4, bytes, NULL, &error), MTL_ERROR_DEVICE,
                  STICKY);
  assert_refuses (mtl_buffer_copy_from (host, 0, world->private, 0, SIZE, NULL, &error),
                  MTL_ERROR_DEVICE, STICKY);
  assert_refuses (mtl_strided_view_fill_double (world->views[0], 1, NULL, &error),
                  MTL_ERROR_DEVICE, STICKY);
  assert_fails (mtl_strided_view_to_dtype (world->views[0], MTL_DTYPE_FLOAT32, MTL_ORDER_C, NULL,
                                           &error), MTL_ERROR_DEVICE, STICKY);
  assert_fails (mtl_strided_view_to_device (world->views[0], mtl_device_get_host (),
                                            MTL_STORAGE_MODE_DEFAULT, NULL, &error),
                MTL_ERROR_DEVICE, STICKY);
  assert_fails (mtl_strided_view_to_dlpack (world->views[0], MTL_DLPACK_FLAGS_NONE, NULL, &error),
                MTL_ERROR_DEVICE, STICKY);
  assert_fails (mtl_stream_new (device, &error), MTL_ERROR_DEVICE, STICKY);
  assert_fails (mtl_stream_new_for_device (device, &error), MTL_ERROR_DEVICE, STICKY);
  assert_fails (mtl_stream_new_for_handle (1, device, &error), MTL_ERROR_DEVICE, STICKY);
  assert_refuses (mtl_stream_synchronize (world->stream, NULL, &error), MTL_ERROR_DEVICE, STICKY);
  assert_refuses (mtl_stream_signal_event (world->stream, world->event, 1, &error),
                  MTL_ERROR_DEVICE, STICKY);
  assert_refuses (mtl_stream_wait_stream (world->stream, world->stream, &error), MTL_ERROR_DEVICE,
                  STICKY);
  assert_fails (mtl_event_new_for_handle (mtl_event_get_handle (world->event), device, &error),
                MTL_ERROR_DEVICE, STICKY);
  assert_refuses (mtl_device_synchronize (device, NULL, &error), MTL_ERROR_DEVICE, STICKY);
  assert_fails (mtl_buffer_new_for_handle (world->memory, 8, device, NULL, NULL, &error),
                MTL_ERROR_DEVICE, STICKY);
  peer_tensor_init (&peer, world->memory, SIZE, 2, 0);
  assert_fails (mtl_strided_view_new_take_dlpack (&peer.managed, &error), MTL_ERROR_DEVICE, STICKY);
  g_assert_cmpint (peer.n_deleted, ==, 1);
  g_assert_cmpuint (dbl.context_depth (), ==, 0);
}

/* The rest of the program goes on. */
static void
assert_host_works (void)
{
  g_autoptr (MtlStridedView) view = host_zeros (MTL_DTYPE_INT32, DIMS (3));

  g_assert_true (mtl_strided_view_fill_double (view, 4, NULL, NULL));
  assert_elements (view, 4, 4, 4);
  g_assert_nonnull (mtl_device_get_name (get_cuda (0)));
}

static void
test_sticky (void)
{
  World world;

  run_alone ();
  synchronize (get_cuda (0));
  MUST (cu.cuDevicePrimaryCtxRetain (&contexts[0], 0));
  world_init (&world);
  dbl.set_error (CU_ILLEGAL_ADDRESS);
  assert_all_is_refused (&world);
  assert_all_is_refused (&world);
  g_assert_cmpuint (dbl.capture_mode (), ==, CU_CAPTURE_MODE_GLOBAL);
  assert_host_works ();
  world_clear (&world);
}

/* The work of the library itself, or of others, fails: the next call tells of it. */
static void
test_work_fails (void)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static ("abcd", 4);
  g_autoptr (GError) local_error = NULL;
  World world;

  run_alone ();
  synchronize (get_cuda (0));
  MUST (cu.cuDevicePrimaryCtxRetain (&contexts[0], 0));
  world_init (&world);
  synchronize (get_cuda (0));
  dbl.fail_work (1, CU_ILLEGAL_ADDRESS);
  g_assert_true (mtl_buffer_fill (world.private, 0, SIZE, bytes, NULL, &local_error));
  g_assert_no_error (local_error);
  assert_refuses (mtl_device_synchronize (get_cuda (0), NULL, &error), MTL_ERROR_DEVICE, STICKY);
  assert_all_is_refused (&world);
  assert_host_works ();
  world_clear (&world);
}

/* DATA is the work that fails, of a copy in three pieces. */
static void
test_piece_fails (gconstpointer data)
{
  const gsize size = 3 * MIB;
  g_autoptr (MtlBuffer) private = NULL;

  run_alone ();
  private = new_buffer (get_cuda (0), size, MTL_STORAGE_MODE_PRIVATE);
  synchronize (get_cuda (0));
  dbl.fail_work (GPOINTER_TO_UINT (data), CU_ILLEGAL_ADDRESS);
  assert_fails (mtl_buffer_dup_bytes (private, 0, size, NULL, &error), MTL_ERROR_DEVICE, STICKY);
}

/* A copy that fails on its way is no success, whatever it has to go through. */
static void
test_copies_fail (gconstpointer data)
{
  gsize size = GPOINTER_TO_SIZE (data);
  g_autoptr (MtlBuffer) private = NULL;
  g_autoptr (MtlBuffer) shared = NULL;

  run_alone ();
  private = new_buffer (get_cuda (0), size, MTL_STORAGE_MODE_PRIVATE);
  shared = new_buffer (get_cuda (0), size, MTL_STORAGE_MODE_SHARED);
  synchronize (get_cuda (0));
  dbl.fail_work (1, CU_ILLEGAL_ADDRESS);
  assert_fails (mtl_buffer_dup_bytes (private, 0, size, NULL, &error), MTL_ERROR_DEVICE, STICKY);
  assert_refuses (mtl_buffer_copy_from (shared, 0, private, 0, size, NULL, &error),
                  MTL_ERROR_DEVICE, STICKY);
}

/* Memory ends after the driver has told of the error, in the thread for owners, too. */
static void
test_ends_after_error (void)
{
  static const char *const kinds[] = { "in-use", "idle" };

  run_alone ();
  synchronize (get_cuda (0));
  MUST (cu.cuDevicePrimaryCtxRetain (&contexts[0], 0));
  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      Stage stage = { .stream = peer_stream (0) };

      set_up_import (&stage);
      if (i == 1)
        {
          dbl.resume ();
          MUST (cu.cuStreamSynchronize (stage.stream));
        }
      stage.tensor->deleter (stage.tensor);
      dbl.set_error (CU_ILLEGAL_ADDRESS);
      dbl.resume ();
      g_clear_object (&stage.view);
      await_count (&stage.peer.n_deleted, 1);
      dbl.set_error (0);
    }
}

static void
add_alone (const char *path,
           GTestFunc   func)
{
  g_test_add_func (path, over_double ? func : skip_without_double);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  if (g_test_subprocess ())
    open_driver ();
  else
    set_up_cuda ();

  for (gsize i = 0; i < G_N_ELEMENTS (ends); i++)
    add_double_data_test (ends[i].path, GSIZE_TO_POINTER (i), test_end);
  add_alone ("/CudaFailuresEnds/without-context", test_end_without_context);
  add_alone ("/CudaFailuresEnds/sticky/all", test_sticky);
  add_alone ("/CudaFailuresEnds/sticky/work", test_work_fails);
  if (over_double)
    {
      g_test_add_data_func ("/CudaFailuresEnds/sticky/small-copy", GSIZE_TO_POINTER (100),
                            test_copies_fail);
      g_test_add_data_func ("/CudaFailuresEnds/sticky/large-copy", GSIZE_TO_POINTER (3 * MIB),
                            test_copies_fail);
      for (guint i = 1; i <= 3; i++)
        {
          g_autofree char *path = g_strdup_printf ("/CudaFailuresEnds/sticky/piece-%u", i);

          g_test_add_data_func (path, GUINT_TO_POINTER (i), test_piece_fails);
        }
    }
  add_alone ("/CudaFailuresEnds/sticky/ends", test_ends_after_error);

  return g_test_run ();
}
