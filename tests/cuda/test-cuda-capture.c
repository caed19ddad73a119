/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The capture of a graph by another library: a call of the driver in any thread can spoil it. */

#include "cuda-fixture.h"

#include "test-files.h"

#define SIZE 4096
#define MIB ((gsize) 1 << 20)

static MtlBuffer *
new_private (int ordinal)
{
  return new_buffer (get_cuda (ordinal), SIZE, MTL_STORAGE_MODE_PRIVATE);
}

static MtlStridedView *
new_view (MtlStorageMode mode)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *view = mtl_strided_view_new_zeros (get_cuda (0), MTL_DTYPE_FLOAT32,
                                                     DIMS (SIZE / 4), mode, &error);

  g_assert_no_error (error);
  return view;
}

static gboolean
fill (MtlBuffer  *buffer,
      const char *pattern,
      GError    **error)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static (pattern, strlen (pattern));

  return mtl_buffer_fill (buffer, 0, SIZE, bytes, NULL, error);
}

static gboolean
copy (MtlBuffer  *dest,
      MtlBuffer  *source,
      GError    **error)
{
  return mtl_buffer_copy_from (dest, 0, source, 0, SIZE, NULL, error);
}

static gboolean
upload (MtlBuffer  *buffer,
        gsize       size,
        GError    **error)
{
  g_autoptr (GBytes) bytes = g_bytes_new_take (g_malloc0 (size), size);

  return mtl_buffer_set_bytes (buffer, 0, bytes, NULL, error);
}

/* Captures */

typedef struct
{
  CuStream stream;
  CuEnum mode;
  CuGraph graph;
} Capture;

static Capture
begin_capture (CuStream stream,
               CuEnum   mode)
{
  peer_enter (0);
  MUST (cu.cuStreamBeginCapture_v2 (stream, mode));
  peer_leave ();
  return (Capture) { stream, mode, NULL };
}

static void
assert_valid (const Capture *self)
{
  CuEnum status;

  MUST (cu.cuStreamIsCapturing (self->stream, &status));
  g_assert_cmpuint (status, ==, CU_CAPTURE_ACTIVE);
}

static void
end_capture (Capture *self)
{
  assert_valid (self);
  MUST (cu.cuStreamEndCapture (self->stream, &self->graph));
}

static void
launch (Capture *self)
{
  CuGraphExec exec;

  MUST (cu.cuGraphInstantiateWithFlags (&exec, self->graph, 0));
  MUST (cu.cuGraphLaunch (exec, self->stream));
  MUST (cu.cuStreamSynchronize (self->stream));
  MUST (cu.cuGraphExecDestroy (exec));
}

/* Everything that the library offers, while others capture */

static void
use_memory (void)
{
  static const MtlStorageMode modes[] = { MTL_STORAGE_MODE_PRIVATE, MTL_STORAGE_MODE_SHARED,
                                          MTL_STORAGE_MODE_MANAGED };

  for (gsize i = 0; i < G_N_ELEMENTS (modes); i++)
    for (gsize size = 1; size < 10 * MIB; size = size * 37 + 1)
      g_clear_object (&(MtlBuffer *) { new_buffer (get_cuda (0), size, modes[i]) });
}

static void
use_large_block (void)
{
  gsize n_alive = count_alive ("pinned");
  g_autoptr (GError) error = NULL;
  MtlBuffer *buffer = mtl_buffer_new_uninitialized (get_cuda (0), 257 * MIB,
                                                    MTL_STORAGE_MODE_SHARED, &error);

  g_assert_no_error (error);
  g_assert_finalize_object (buffer);
  for (int i = 0; i < 5000 && count_alive ("pinned") > n_alive; i++)
    g_usleep (1000);
  g_assert_cmpuint (count_alive ("pinned"), ==, n_alive);
}

static void
use_copies (void)
{
  static const gsize sizes[] = { 100, 3 * MIB };
  g_autoptr (GError) error = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autoptr (MtlBuffer) buffer = new_buffer (get_cuda (0), sizes[i], MTL_STORAGE_MODE_PRIVATE);
      g_autoptr (MtlBuffer) copied = mtl_buffer_copy (buffer, NULL, &error);
      g_autoptr (MtlBuffer) shared = new_buffer (get_cuda (0), sizes[i], MTL_STORAGE_MODE_SHARED);
      g_autoptr (MtlBuffer) elsewhere = new_buffer (get_cuda (n_gpus - 1), sizes[i],
                                                    MTL_STORAGE_MODE_PRIVATE);
      g_autoptr (GBytes) bytes = NULL;

      g_assert_true (upload (buffer, sizes[i], &error));
      bytes = mtl_buffer_dup_bytes (buffer, 0, sizes[i], NULL, &error);
      g_assert_true (mtl_buffer_copy_from (copied, 1, copied, 0, sizes[i] - 1, NULL, &error));
      g_assert_true (mtl_buffer_copy_from (shared, 0, buffer, 0, sizes[i], NULL, &error));
      g_assert_true (mtl_buffer_copy_from (elsewhere, 0, buffer, 0, sizes[i], NULL, &error));
      g_assert_true (mtl_buffer_copy_from (buffer, 0, elsewhere, 0, sizes[i], NULL, &error));
      g_assert_no_error (error);
    }
}

static void
use_fills (void)
{
  g_autoptr (MtlBuffer) buffer = new_private (0);
  g_autoptr (GError) error = NULL;

  g_assert_true (fill (buffer, "a", &error));
  g_assert_true (fill (buffer, "abcd", &error));
  g_assert_true (fill (buffer, "abcdefghijklmnop", &error));
  g_assert_no_error (error);
}

static void
use_elements (void)
{
  g_autoptr (MtlStridedView) view = new_view (MTL_STORAGE_MODE_PRIVATE);
  g_autoptr (MtlStridedView) shared = new_view (MTL_STORAGE_MODE_SHARED);
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) doubles = NULL;
  g_autoptr (MtlStridedView) flipped = mtl_strided_view_flip (view, 0, &error);

  g_assert_true (mtl_strided_view_fill_double (view, 3, NULL, &error));
  g_assert_true (mtl_strided_view_copy_from (flipped, shared, NULL, &error));
  doubles = mtl_strided_view_to_dtype (view, MTL_DTYPE_FLOAT64, MTL_ORDER_C, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat (mtl_strided_view_get_double (shared, DIMS (1), &error), ==, 0);
  g_free (mtl_strided_view_to_string (doubles));
  g_assert_no_error (error);
}

static void
use_synchronization (void)
{
  g_autoptr (MtlBuffer) buffer = new_private (0);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;

  g_assert_true (fill (buffer, "a", &error));
  synchronize (get_cuda (0));
  g_assert_true (fill (buffer, "a", &error));
  g_assert_true (mtl_device_synchronize (get_cuda (0), cancellable, &error));
  g_assert_true (mtl_buffer_synchronize (buffer, NULL, &error));
  g_assert_no_error (error);
}

static void
use_streams (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlBuffer) buffer = new_private (0);
  g_autoptr (MtlEvent) event = mtl_event_new (get_cuda (0), &error);
  g_autoptr (MtlStream) stream = mtl_stream_new (get_cuda (0), &error);
  g_autoptr (MtlStream) own = mtl_stream_new_for_device (get_cuda (0), &error);

  g_assert_true (mtl_stream_wait_event (stream, event, 1, &error));
  g_assert_true (mtl_stream_signal_event (stream, event, 2, &error));
  g_assert_true (mtl_stream_wait_stream (own, stream, &error));
  mtl_event_signal (event, 1);
  mtl_stream_push_thread_default (stream);
  g_assert_true (fill (buffer, "a", &error));
  g_assert_true (upload (buffer, SIZE, &error));
  mtl_stream_pop_thread_default (stream);
  g_assert_true (mtl_stream_synchronize (stream, NULL, &error));
  g_assert_true (mtl_event_wait (event, 2, -1, NULL, &error));
  g_assert_no_error (error);
}

/* In streams, and without. The other library would spoil its capture if it waited itself. */
static void
use_exchange (void)
{
  g_autoptr (GError) error = NULL;
  MtlStream *stream = mtl_stream_new (get_cuda (0), &error);
  MtlEvent *pinned = mtl_event_new (get_cuda (0), &error);

  for (int i = 0; i < 2; i++)
    {
      g_autoptr (MtlStridedView) view = new_view (MTL_STORAGE_MODE_PRIVATE);
      g_autoptr (MtlStridedView) back = NULL;
      DLManagedTensorVersioned *tensor;
      PeerTensor peer;

      if (i == 0)
        mtl_stream_push_thread_default (stream);
      tensor = mtl_strided_view_to_dlpack (view, MTL_DLPACK_FLAGS_NONE, NULL, &error);
      g_assert_no_error (error);
      peer_tensor_init (&peer, mtl_event_get_handle (pinned), 8, 3, 0);
      back = import (&peer);
      g_assert_cmpfloat (mtl_strided_view_get_double (back, DIMS (0), &error), ==, 0);
      if (i == 0)
        mtl_stream_pop_thread_default (stream);

      MUST (cu.cuMemsetD8Async (ADDRESS (tensor->dl_tensor.data), 1, SIZE,
                                POINTER (mtl_stream_get_handle (stream))));
      g_clear_object (&view);
      if (i == 1)
        g_assert_true (mtl_stream_synchronize (stream, NULL, &error));
      tensor->deleter (tensor);
      g_clear_object (&back);
      await_count (&peer.n_deleted, 1);
    }
  g_assert_no_error (error);
  g_assert_finalize_object (stream);
  g_assert_finalize_object (pinned);
}

static void
use_file (void)
{
  g_autoptr (MtlBuffer) private = new_private (0);
  TestFolder folder;
  g_autoptr (GFile) file = NULL;
  g_autoptr (MtlBuffer) buffer = NULL;
  g_autoptr (GError) error = NULL;

  set_up_folder (&folder, NULL);
  file = write_pattern (&folder, "data", SIZE);
  buffer = mtl_buffer_new_mapped (file, get_cuda (0), 0, SIZE, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (copy (private, buffer, &error));
  g_assert_no_error (error);
  g_clear_object (&buffer);
  for (int i = 0; i < 5000 && count_alive ("registered") > 0; i++)
    g_usleep (1000);
  g_assert_cmpuint (count_alive ("registered"), ==, 0);
  tear_down_folder (&folder, NULL);
}

static void
use_handle (void)
{
  g_autoptr (MtlBuffer) owner = new_private (0);
  g_autoptr (GError) error = NULL;
  int n_ended = 0;
  MtlBuffer *buffer = mtl_buffer_new_for_handle (mtl_buffer_get_handle (owner), SIZE, get_cuda (0),
                                                 count_call, &n_ended, &error);

  g_assert_no_error (error);
  g_assert_true (fill (buffer, "a", &error));
  g_assert_finalize_object (buffer);
  await_count (&n_ended, 1);
}

static void
use_failures (void)
{
  assert_fails (mtl_buffer_new (get_cuda (0), (gsize) 1 << 50, MTL_STORAGE_MODE_PRIVATE, &error),
                MTL_ERROR_NO_MEMORY, "1125899906842624");
  assert_fails (mtl_buffer_new (get_cuda (0), (gsize) 1 << 50, MTL_STORAGE_MODE_SHARED, &error),
                MTL_ERROR_NO_MEMORY, "1125899906842624");
  assert_fails (mtl_stream_new_for_handle (0, get_cuda (0), &error), MTL_ERROR_INVALID_ARGUMENT,
                "0");
}

static const struct
{
  const char *name;
  void (* use) (void);
} uses[] = {
  { "memory", use_memory },     { "large-block", use_large_block },
  { "copies", use_copies },     { "fills", use_fills },
  { "elements", use_elements }, { "synchronization", use_synchronization },
  { "streams", use_streams },   { "exchange", use_exchange },
  { "file", use_file },         { "handle", use_handle },
  { "failures", use_failures },
};

static const CuEnum modes[] = { CU_CAPTURE_MODE_GLOBAL, CU_CAPTURE_MODE_THREAD,
                                CU_CAPTURE_MODE_RELAXED };

static gpointer
use_in_thread (gpointer use)
{
  ((void (*) (void)) use) ();
  g_assert_true (!over_double || dbl.context_depth () == 0);
  g_assert_cmpuint (get_capture_mode (), ==, CU_CAPTURE_MODE_GLOBAL);
  return NULL;
}

/* In each mode, with non-blocking and blocking streams, in the thread that captures, and another */
static void
test_use (Living        *living,
          gconstpointer  data)
{
  void (* use) (void) = uses[GPOINTER_TO_SIZE (data)].use;

  for (gsize i = 0; i < G_N_ELEMENTS (modes); i++)
    for (CuEnum kind = 0; kind <= CU_STREAM_NONBLOCKING; kind++)
      for (int elsewhere = 0; elsewhere < 2; elsewhere++)
        {
          CuStream stream = peer_stream_of_kind (0, kind);
          Capture capture = begin_capture (stream, modes[i]);

          if (elsewhere)
            g_thread_join (g_thread_new ("use", use_in_thread, use));
          else
            use ();
          g_assert_cmpuint (get_capture_mode (), ==, CU_CAPTURE_MODE_GLOBAL);
          end_capture (&capture);
          MUST (cu.cuGraphDestroy (capture.graph));
          MUST (cu.cuStreamDestroy_v2 (stream));
        }
}

/* The control: the same call without this library's care spoils the capture. */
static void
test_careless (void)
{
  CuStream stream = peer_stream (0);
  CuGraph graph;
  gpointer pinned;

  begin_capture (stream, CU_CAPTURE_MODE_GLOBAL);
  peer_enter (0);
  g_assert_cmpuint (cu.cuMemHostAlloc (&pinned, 8, 0), ==, CU_CAPTURE_UNSUPPORTED);
  g_assert_cmpuint (cu.cuStreamEndCapture (stream, &graph), ==, CU_CAPTURE_INVALIDATED);
  peer_leave ();
  MUST (cu.cuStreamDestroy_v2 (stream));
}

/* The mode that the program has chosen for its thread is kept. */
static void
test_mode_is_restored (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (modes); i++)
    {
      CuEnum mode = modes[i];

      MUST (cu.cuThreadExchangeStreamCaptureMode (&mode));
      use_fills ();
      use_memory ();
      assert_fails (mtl_buffer_new (get_cuda (0), (gsize) 1 << 50, MTL_STORAGE_MODE_PRIVATE,
                                    &error),
                    MTL_ERROR_NO_MEMORY, "");
      g_assert_cmpuint (get_capture_mode (), ==, modes[i]);
      MUST (cu.cuThreadExchangeStreamCaptureMode (&mode));
    }
}

/* Streams of producers and consumers that capture */

static void
test_capturing_producer (void)
{
  CuStream stream = peer_stream (0);
  gpointer memory = peer_memory (0, SIZE);
  g_autoptr (MtlBuffer) copied = new_private (0);
  g_autoptr (MtlStridedView) view = NULL;
  g_autoptr (GError) error = NULL;
  MtlStream *pushed;
  Capture capture;
  PeerTensor tensor;

  MUST (cu.cuMemsetD8Async (ADDRESS (memory), 3, SIZE, stream));
  MUST (cu.cuStreamSynchronize (stream));
  capture = begin_capture (stream, CU_CAPTURE_MODE_GLOBAL);
  MUST (cu.cuMemsetD8Async (ADDRESS (memory), 5, SIZE, stream)); /* part of the graph */
  peer_tensor_init (&tensor, memory, SIZE, 2, 0);
  pushed = push_stream (stream, 0);
  view = import (&tensor);
  pop_stream (pushed);
  assert_valid (&capture);

  /* The graph has not run, and the library's work is not in it. */
  g_assert_true (copy (copied, mtl_strided_view_get_buffer (view), &error));
  g_assert_no_error (error);
  assert_buffer_bytes (copied, 0, "\3\3\3\3", 4);
  g_clear_object (&view);
  await_count (&tensor.n_deleted, 1);
  end_capture (&capture);
  launch (&capture);
  MUST (cu.cuGraphDestroy (capture.graph));
  assert_gpu_has (0, memory, "\5\5\5\5", 4);
  MUST (cu.cuStreamDestroy_v2 (stream));
  peer_free (memory);
}

/* The work that a capturing stream would have to wait for is done when the call returns. */
static void
test_capturing_consumer (void)
{
  CuStream stream = peer_stream (0);
  gpointer result = peer_memory (0, SIZE);
  g_autoptr (MtlStridedView) view = new_view (MTL_STORAGE_MODE_PRIVATE);
  g_autoptr (GError) error = NULL;
  DLManagedTensorVersioned *tensor;
  MtlStream *pushed;
  Capture capture = begin_capture (stream, CU_CAPTURE_MODE_GLOBAL);

  g_assert_true (mtl_strided_view_fill_double (view, 2, NULL, &error));
  pushed = push_stream (stream, 0);
  tensor = mtl_strided_view_to_dlpack (view, MTL_DLPACK_FLAGS_NONE, NULL, &error);
  g_assert_no_error (error);
  pop_stream (pushed);
  g_assert_cmpuint (count_pending (own_stream (0)), ==, 0);
  MUST (cu.cuMemcpyAsync (ADDRESS (result), ADDRESS (tensor->dl_tensor.data), SIZE, stream));
  end_capture (&capture);
  launch (&capture);
  assert_gpu_has (0, result, ((float[]) { 2, 2 }), 8);

  MUST (cu.cuGraphDestroy (capture.graph));
  tensor->deleter (tensor);
  MUST (cu.cuStreamDestroy_v2 (stream));
  peer_free (result);
}

/* A tensor that goes out for a capturing stream may come back during the capture. */
static void
test_deleter_during_capture (void)
{
  CuStream stream = peer_stream (0);
  g_autoptr (GError) error = NULL;
  Capture capture = begin_capture (stream, CU_CAPTURE_MODE_GLOBAL);

  for (int i = 0; i < 3; i++)
    {
      static const MtlStorageMode all[] = { MTL_STORAGE_MODE_PRIVATE, MTL_STORAGE_MODE_SHARED,
                                            MTL_STORAGE_MODE_MANAGED };
      MtlStridedView *view = new_view (all[i]);
      MtlStream *pushed = push_stream (stream, 0);
      DLManagedTensorVersioned *tensor = mtl_strided_view_to_dlpack (view, MTL_DLPACK_FLAGS_NONE,
                                                                     NULL, &error);

      g_assert_no_error (error);
      pop_stream (pushed);
      g_assert_finalize_object (view);
      tensor->deleter (tensor);
      assert_valid (&capture);
    }
  end_capture (&capture);
  MUST (cu.cuGraphDestroy (capture.graph));
  MUST (cu.cuStreamDestroy_v2 (stream));
}

/* The library works in the stream that captures */

typedef struct
{
  CuStream stream;
  MtlStream *pushed;
  Capture capture;
} Captured;

static void
captured_begin (Captured *self)
{
  self->stream = peer_stream (0);
  self->capture = begin_capture (self->stream, CU_CAPTURE_MODE_GLOBAL);
  self->pushed = push_stream (self->stream, 0);
}

static void
captured_end (Captured *self)
{
  pop_stream (self->pushed);
  end_capture (&self->capture);
}

static void
captured_clear (Captured *self)
{
  MUST (cu.cuGraphDestroy (self->capture.graph));
  MUST (cu.cuStreamDestroy_v2 (self->stream));
}

/* It is done each time the graph runs, with what is there then. */
static void
test_captured_work (void)
{
  g_autoptr (MtlBuffer) source = new_private (0);
  g_autoptr (MtlBuffer) copied = new_private (0);
  g_autoptr (MtlBuffer) filled = new_private (0);
  g_autoptr (GError) error = NULL;
  Captured captured;

  captured_begin (&captured);
  g_assert_true (copy (copied, source, &error));
  g_assert_true (fill (filled, "ab", &error));
  g_assert_no_error (error);
  captured_end (&captured);
  assert_buffer_bytes (filled, 0, "\0\0\0\0", 4);

  for (int i = 0; i < 2; i++)
    {
      g_assert_true (fill (source, i == 0 ? "x" : "y", &error));
      g_assert_true (fill (filled, "z", &error));
      g_assert_no_error (error);
      synchronize (get_cuda (0));
      launch (&captured.capture);
      assert_buffer_bytes (copied, 0, i == 0 ? "xxxx" : "yyyy", 4);
      assert_buffer_bytes (filled, 0, "abab", 4);
    }
  captured_clear (&captured);
}

/* Kernels, too, even if they are first needed then. */
static void
test_captured_elements (void)
{
  g_autoptr (MtlStridedView) view = new_view (MTL_STORAGE_MODE_PRIVATE);
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) odd = mtl_strided_view_slice_string (view, "1::2", &error);
  g_autoptr (MtlStridedView) even = mtl_strided_view_slice_string (view, "::2", &error);
  float values[4];
  Captured captured;

  g_assert_no_error (error);
  captured_begin (&captured);
  g_assert_true (mtl_strided_view_fill_double (even, 2, NULL, &error));
  g_assert_true (mtl_strided_view_copy_from (odd, even, NULL, &error));
  g_assert_true (mtl_strided_view_fill_double (even, 5, NULL, &error));
  g_assert_no_error (error);
  captured_end (&captured);

  read_gpu (0, mtl_buffer_get_handle (mtl_strided_view_get_buffer (view)), values, 16);
  g_assert_cmpmem (values, 16, ((float[4]) { 0, 0, 0, 0 }), 16);
  launch (&captured.capture);
  read_gpu (0, mtl_buffer_get_handle (mtl_strided_view_get_buffer (view)), values, 16);
  g_assert_cmpmem (values, 16, ((float[4]) { 5, 2, 5, 2 }), 16);
  captured_clear (&captured);
}

/* Work that needs the host, or memory for a while, is refused. */

static gboolean
try_upload (MtlBuffer  *buffer,
            MtlBuffer  *other,
            GError    **error)
{
  return upload (buffer, 100, error);
}

static gboolean
try_download (MtlBuffer  *buffer,
              MtlBuffer  *other,
              GError    **error)
{
  g_autoptr (GBytes) bytes = mtl_buffer_dup_bytes (buffer, 0, 100, NULL, error);

  return bytes != NULL;
}

static gboolean
try_overlap (MtlBuffer  *buffer,
             MtlBuffer  *other,
             GError    **error)
{
  return mtl_buffer_copy_from (buffer, 1, buffer, 0, 100, NULL, error);
}

static gboolean
try_other (MtlBuffer  *buffer,
           MtlBuffer  *other,
           GError    **error)
{
  return copy (buffer, other, error);
}

static gboolean
try_to_other (MtlBuffer  *buffer,
              MtlBuffer  *other,
              GError    **error)
{
  return copy (other, buffer, error);
}

static gboolean
try_stream (MtlBuffer  *buffer,
            MtlBuffer  *other,
            GError    **error)
{
  g_autoptr (MtlStream) stream = NULL;
  guint64 handle = GPOINTER_TO_SIZE (g_object_get_data (G_OBJECT (buffer), "stream"));

  stream = mtl_stream_new_for_handle (handle, get_cuda (0), error);
  return stream != NULL && mtl_stream_synchronize (stream, NULL, error);
}

static gboolean
try_stream_with_cancellable (MtlBuffer  *buffer,
                             MtlBuffer  *other,
                             GError    **error)
{
  g_autoptr (MtlStream) stream = NULL;
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  guint64 handle = GPOINTER_TO_SIZE (g_object_get_data (G_OBJECT (buffer), "stream"));

  stream = mtl_stream_new_for_handle (handle, get_cuda (0), error);
  return stream != NULL && mtl_stream_synchronize (stream, cancellable, error);
}

static const struct
{
  const char *name;
  gboolean (* try) (MtlBuffer *buffer, MtlBuffer *other, GError **error);
  MtlStorageMode other; /* FOREIGN: private, of another device */
} refused[] = {
  { "upload", try_upload, MTL_STORAGE_MODE_HOST },
  { "download", try_download, MTL_STORAGE_MODE_HOST },
  { "overlap", try_overlap, MTL_STORAGE_MODE_HOST },
  { "from-shared", try_other, MTL_STORAGE_MODE_SHARED },
  { "to-shared", try_to_other, MTL_STORAGE_MODE_SHARED },
  { "from-managed", try_other, MTL_STORAGE_MODE_MANAGED },
  { "to-managed", try_to_other, MTL_STORAGE_MODE_MANAGED },
  { "from-host", try_other, MTL_STORAGE_MODE_HOST },
  { "to-host", try_to_other, MTL_STORAGE_MODE_HOST },
  { "from-device", try_other, MTL_STORAGE_MODE_FOREIGN },
  { "to-device", try_to_other, MTL_STORAGE_MODE_FOREIGN },
  { "synchronize", try_stream, MTL_STORAGE_MODE_HOST },
  { "synchronize-with-cancellable", try_stream_with_cancellable, MTL_STORAGE_MODE_HOST },
};

static void
test_refused (Living        *living,
              gconstpointer  data)
{
  gsize i = GPOINTER_TO_SIZE (data);
  MtlStorageMode mode = refused[i].other;
  g_autoptr (MtlBuffer) buffer = new_private (0);
  g_autoptr (MtlBuffer) other = NULL;
  Captured captured;

  skip_unless (mode != MTL_STORAGE_MODE_FOREIGN || n_gpus > 1, "this needs two devices");
  other = new_buffer (mode == MTL_STORAGE_MODE_HOST      ? mtl_device_get_host ()
                      : mode == MTL_STORAGE_MODE_FOREIGN ? get_cuda (1)
                                                         : get_cuda (0),
                      SIZE, mode == MTL_STORAGE_MODE_FOREIGN ? MTL_STORAGE_MODE_PRIVATE : mode);
  captured_begin (&captured);
  g_object_set_data (G_OBJECT (buffer), "stream", captured.stream);
  assert_refuses (refused[i].try (buffer, other, &error), MTL_ERROR_NOT_SUPPORTED,
                  mtl_device_get_name (get_cuda (0)));
  captured_end (&captured);
  captured_clear (&captured);
}

/* Memory of the host alone is nobody's concern, and neither is memory that is allocated. */
static void
test_not_captured (void)
{
  g_autoptr (MtlBuffer) host = new_buffer (NULL, SIZE, MTL_STORAGE_MODE_HOST);
  g_autoptr (MtlBuffer) shared = new_buffer (get_cuda (0), SIZE, MTL_STORAGE_MODE_SHARED);
  g_autoptr (MtlBuffer) private = NULL;
  g_autoptr (GError) error = NULL;
  Captured captured;

  captured_begin (&captured);
  g_assert_true (fill (shared, "ab", &error));
  g_assert_true (copy (host, shared, &error));
  assert_buffer_bytes (host, 0, "abab", 4);
  private = new_private (0);
  g_assert_no_error (error);
  synchronize (get_cuda (0));
  captured_end (&captured);
  assert_buffer_bytes (private, 0, "\0\0\0\0", 4);
  captured_clear (&captured);
}

/* Waits between streams, of which one captures */
static void
test_wait_streams (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStream) other = mtl_stream_new (get_cuda (0), &error);
  g_autoptr (MtlBuffer) buffer = new_private (0);
  Captured captured;

  g_assert_no_error (error);
  captured_begin (&captured);
  mtl_stream_push_thread_default (other);
  g_assert_true (fill (buffer, "a", &error));
  mtl_stream_pop_thread_default (other);
  g_assert_true (mtl_stream_wait_stream (captured.pushed, other, &error));
  g_assert_cmpuint (count_pending (POINTER (mtl_stream_get_handle (other))), ==, 0);
  g_assert_true (mtl_stream_wait_stream (other, captured.pushed, &error));
  g_assert_no_error (error);
  captured_end (&captured);
  captured_clear (&captured);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  set_up_cuda ();

  for (gsize i = 0; i < G_N_ELEMENTS (uses); i++)
    {
      g_autofree char *path = g_strconcat ("/CudaCapture/others/", uses[i].name, NULL);

      add_cuda_data_test (path, GSIZE_TO_POINTER (i), test_use);
    }
  add_cuda_test ("/CudaCapture/careless", test_careless);
  add_cuda_test ("/CudaCapture/mode-is-restored", test_mode_is_restored);
  add_cuda_test ("/CudaCapture/producer", test_capturing_producer);
  add_cuda_test ("/CudaCapture/consumer", test_capturing_consumer);
  add_cuda_test ("/CudaCapture/deleter", test_deleter_during_capture);
  add_cuda_test ("/CudaCapture/captured/work", test_captured_work);
  add_cuda_test ("/CudaCapture/captured/elements", test_captured_elements);
  for (gsize i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      g_autofree char *path = g_strconcat ("/CudaCapture/refused/", refused[i].name, NULL);

      add_cuda_data_test (path, GSIZE_TO_POINTER (i), test_refused);
    }
  add_cuda_test ("/CudaCapture/not-captured", test_not_captured);
  add_cuda_test ("/CudaCapture/wait-streams", test_wait_streams);

  return g_test_run ();
}
