/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Streams, of the library and of others, and events in them. */

#include "cuda-fixture.h"

static MtlStream *
wrap_stream (CuStream stream,
             int      ordinal)
{
  g_autoptr (GError) error = NULL;
  MtlStream *self = mtl_stream_new_for_handle ((guintptr) stream, get_cuda (ordinal), &error);

  g_assert_no_error (error);
  return self;
}

static MtlStream *
new_stream (int ordinal)
{
  g_autoptr (GError) error = NULL;
  MtlStream *self = mtl_stream_new (get_cuda (ordinal), &error);

  g_assert_no_error (error);
  return self;
}

static CuStream
get_handle (MtlStream *self)
{
  return POINTER (mtl_stream_get_handle (self));
}

static MtlEvent *
new_event (int ordinal)
{
  g_autoptr (GError) error = NULL;
  MtlEvent *self = mtl_event_new (get_cuda (ordinal), &error);

  g_assert_no_error (error);
  return self;
}

static MtlBuffer *
new_private (int   ordinal,
             gsize size)
{
  return new_buffer (get_cuda (ordinal), size, MTL_STORAGE_MODE_PRIVATE);
}

static CuAddress
get_address (MtlBuffer *buffer)
{
  return ADDRESS (mtl_buffer_get_handle (buffer));
}

static void
fill (MtlBuffer  *buffer,
      const char *pattern)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static (pattern, strlen (pattern));
  g_autoptr (GError) error = NULL;

  g_assert_true (mtl_buffer_fill (buffer, 0, mtl_buffer_get_size (buffer), bytes, NULL, &error));
  g_assert_no_error (error);
}

static void
copy (MtlBuffer *dest,
      MtlBuffer *source)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (mtl_buffer_copy_from (dest, 0, source, 0, mtl_buffer_get_size (dest), NULL,
                                       &error));
  g_assert_no_error (error);
}

static void
wait_stream (MtlStream *self,
             MtlStream *other)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (mtl_stream_wait_stream (self, other, &error));
  g_assert_no_error (error);
}

static void
synchronize_stream (MtlStream *self)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (mtl_stream_synchronize (self, NULL, &error));
  g_assert_no_error (error);
}

static void
free_stream (CuStream stream)
{
  MUST (cu.cuStreamSynchronize (stream));
  MUST (cu.cuStreamDestroy_v2 (stream));
}

/* Objects */

static void
test_new (void)
{
  for (int i = 0; i < n_gpus; i++)
    {
      MtlStream *stream = new_stream (i);
      MtlDevice *device;
      CuContext context;

      g_assert_true (mtl_stream_get_device (stream) == get_cuda (i));
      g_assert_cmpuint (mtl_stream_get_handle (stream), >, 2);
      g_assert_true (get_handle (stream) != own_stream (i));
      MUST (cu.cuStreamGetCtx (get_handle (stream), &context));
      g_assert_true (context == contexts[i]);
      g_object_get (stream, "device", &device, NULL);
      g_assert_true (device == get_cuda (i));
      g_object_unref (device);
      assert_property (stream, "handle", guint64, mtl_stream_get_handle);
      g_assert_finalize_object (stream);
    }
}

/* Work of others in the legacy stream does not delay it. */
static void
test_new_does_not_block (void)
{
  g_autoptr (MtlBuffer) buffer = new_private (0, 4);
  gpointer memory = peer_memory (0, 4);
  MtlStream *stream = new_stream (0);
  guint8 byte;

  peer_enter (0);
  MUST (cu.cuMemsetD8Async (ADDRESS (memory), 7, 4, CU_LEGACY_STREAM));
  peer_leave ();
  mtl_stream_push_thread_default (stream);
  fill (buffer, "abcd");
  mtl_stream_pop_thread_default (stream);
  synchronize_stream (stream);
  g_assert_true (dbl.peek (ADDRESS (memory), &byte, 1));
  g_assert_cmpuint (byte, !=, 7);

  g_assert_finalize_object (stream);
  peer_free (memory);
}

/* Its work is still done. */
static void
test_ends_with_work (void)
{
  MtlStream *stream = new_stream (0);
  CuStream handle = get_handle (stream);
  g_autoptr (MtlBuffer) buffer = new_private (0, 8);
  gsize n_streams = dbl.live ("stream");

  mtl_stream_push_thread_default (stream);
  fill (buffer, "abcd");
  mtl_stream_pop_thread_default (stream);
  assert_does_not_wait (g_assert_finalize_object (stream));
  g_assert_cmpuint (dbl.live ("stream"), ==, n_streams - 1);
  g_assert_cmpuint (dbl.pending (handle), >, 0);
  assert_buffer_bytes (buffer, 0, "abcdabcd", 8);
}

static void
test_of_device (void)
{
  for (int i = 0; i < n_gpus; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStream) stream = mtl_stream_new_for_device (get_cuda (i), &error);
      g_autoptr (MtlStream) same = mtl_stream_new_for_device (get_cuda (i), &error);

      g_assert_no_error (error);
      g_assert_true (get_handle (stream) == get_handle (same));
      g_assert_true (mtl_stream_get_device (stream) == get_cuda (i));
      g_clear_object (&stream);
      synchronize_stream (same);
    }
  g_assert_true (n_gpus < 2 || own_stream (0) != own_stream (1));
}

static void
test_of_others (void)
{
  static const guint64 defaults[] = { 1, 2 };
  CuStream theirs[] = { peer_stream (0), peer_stream_of_kind (0, 0) };

  for (gsize i = 0; i < G_N_ELEMENTS (theirs); i++)
    {
      MtlStream *stream = wrap_stream (theirs[i], 0);

      g_assert_true (get_handle (stream) == theirs[i]);
      g_assert_finalize_object (stream);
      MUST (cu.cuStreamSynchronize (theirs[i]));
      MUST (cu.cuStreamDestroy_v2 (theirs[i]));
    }

  for (gsize i = 0; i < G_N_ELEMENTS (defaults); i++)
    {
      MtlStream *stream = wrap_stream (POINTER (defaults[i]), 0);

      g_assert_cmpuint (mtl_stream_get_handle (stream), ==, defaults[i]);
      synchronize_stream (stream);
      g_assert_finalize_object (stream);
    }
}

/* The handle 0 may be either default stream. */
static void
test_refused (void)
{
  assert_fails (mtl_stream_new_for_handle (0, get_cuda (0), &error), MTL_ERROR_INVALID_ARGUMENT,
                "0");
  assert_fails (mtl_stream_new (mtl_device_get_host (), &error), MTL_ERROR_NOT_SUPPORTED, "“Host”");
  assert_fails (mtl_stream_new_for_device (mtl_device_get_host (), &error),
                MTL_ERROR_NOT_SUPPORTED, "“Host”");
  assert_fails (mtl_stream_new_for_handle (1, mtl_device_get_host (), &error),
                MTL_ERROR_NOT_SUPPORTED, "“Host”");
}

static void
test_of_another_device (void)
{
  CuStream stream;

  skip_unless (n_gpus > 1, "this needs two devices");
  stream = peer_stream (1);
  assert_fails (mtl_stream_new_for_handle ((guintptr) stream, get_cuda (0), &error),
                MTL_ERROR_INVALID_ARGUMENT, "(2, 0)");
  g_clear_object (&(MtlStream *) { wrap_stream (stream, 1) });
  free_stream (stream);
}

/* The driver tells so. */
static void
test_destroyed (void)
{
  CuStream stream = peer_stream (0);

  MUST (cu.cuStreamDestroy_v2 (stream));
  assert_fails (mtl_stream_new_for_handle ((guintptr) stream, get_cuda (0), &error),
                MTL_ERROR_INVALID_ARGUMENT, "(2, 0)");
}

/* Pinned and managed memory is used in streams of GPUs. */
static void
test_of_identities (void)
{
  MtlDevice *devices[] = { mtl_device_get (MTL_DEVICE_TYPE_CUDA_HOST, 0, NULL),
                           mtl_device_get (MTL_DEVICE_TYPE_CUDA_MANAGED, 0, NULL) };

  for (gsize i = 0; i < G_N_ELEMENTS (devices); i++)
    {
      assert_fails (mtl_stream_new (devices[i], &error), MTL_ERROR_NOT_SUPPORTED,
                    mtl_device_get_name (devices[i]));
      assert_fails (mtl_stream_new_for_device (devices[i], &error), MTL_ERROR_NOT_SUPPORTED,
                    mtl_device_get_name (devices[i]));
      assert_fails (mtl_stream_new_for_handle (1, devices[i], &error), MTL_ERROR_NOT_SUPPORTED,
                    mtl_device_get_name (devices[i]));
    }
}

/* Pushed streams */

/* Returns the number of works that a fill leaves in a stream. */
static guint64
count_works (MtlBuffer *buffer,
             CuStream   stream)
{
  guint64 n_before = dbl.pending (stream);

  fill (buffer, "a");
  return dbl.pending (stream) - n_before;
}

static void
test_nested (void)
{
  g_autoptr (MtlBuffer) buffer = new_private (0, 8);
  CuStream outer = peer_stream (0), inner = peer_stream (0);
  MtlStream *pushed, *pushed_within;

  dbl.pause ();
  g_assert_cmpuint (count_works (buffer, own_stream (0)), ==, 1);

  pushed = push_stream (outer, 0);
  g_assert_cmpuint (count_works (buffer, outer), >=, 1);
  g_assert_cmpuint (dbl.pending (inner), ==, 0);

  pushed_within = push_stream (inner, 0);
  g_assert_cmpuint (count_works (buffer, inner), >=, 1);
  g_assert_cmpuint (count_works (buffer, outer), ==, 0);

  mtl_stream_push_thread_default (pushed); /* once more */
  g_assert_cmpuint (count_works (buffer, inner), ==, 0);
  mtl_stream_pop_thread_default (pushed);

  pop_stream (pushed_within);
  g_assert_cmpuint (count_works (buffer, inner), ==, 0);
  g_assert_cmpuint (count_works (buffer, outer), >=, 1);

  pop_stream (pushed);
  g_assert_cmpuint (count_works (buffer, outer), ==, 0);
  g_assert_cmpuint (count_works (buffer, own_stream (0)), ==, 1);
  dbl.resume ();
  free_stream (outer);
  free_stream (inner);
}

static gpointer
fill_in_thread (gpointer buffer)
{
  fill (buffer, "a");
  return NULL;
}

/* Other threads, other devices and asynchronous functions work in the library's stream. */
static void
test_others_are_not_affected (void)
{
  g_autoptr (MtlBuffer) buffer = new_private (0, 8);
  g_autoptr (MtlBuffer) elsewhere = new_private (1, 8);
  g_autoptr (GBytes) bytes = g_bytes_new_static ("a", 1);
  g_autoptr (GAsyncResult) result = NULL;
  CuStream stream = peer_stream (0);
  MtlStream *pushed = push_stream (stream, 0);

  dbl.pause ();
  g_thread_join (g_thread_new ("fill", fill_in_thread, buffer));
  fill (elsewhere, "a");
  mtl_buffer_fill_async (buffer, 0, 8, bytes, NULL, keep_result, &result);
  g_assert_true (mtl_buffer_fill_finish (buffer, wait_for_kept (&result), NULL));
  g_assert_cmpuint (dbl.pending (stream), ==, 0);
  dbl.resume ();
  pop_stream (pushed);
  free_stream (stream);
}

/* A thread that ends with a pushed stream leaves nothing. */
static gpointer
push_and_end (gpointer stream)
{
  mtl_stream_push_thread_default (stream);
  mtl_stream_push_thread_default (stream);
  return NULL;
}

static void
test_thread_ends (void)
{
  MtlStream *stream = new_stream (0);

  g_thread_join (g_thread_new ("push", push_and_end, stream));
  g_assert_finalize_object (stream);
}

static void
test_wrong_pop (void)
{
  g_autoptr (MtlStream) first = NULL;
  g_autoptr (MtlStream) second = NULL;

  if (!g_test_subprocess ())
    {
      g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
      g_test_trap_assert_passed ();
      g_test_trap_assert_stderr ("*is_popped*is_popped*end of wrong pops*");
      return;
    }

  g_log_set_always_fatal (G_LOG_FATAL_MASK);
  first = new_stream (0);
  second = new_stream (0);
  mtl_stream_pop_thread_default (first);
  mtl_stream_push_thread_default (first);
  mtl_stream_push_thread_default (second);
  mtl_stream_pop_thread_default (first);
  g_printerr ("end of wrong pops\n");
  mtl_stream_pop_thread_default (second);
  mtl_stream_pop_thread_default (first);
}

/* Order */

/* Streams that a program may push: a non-blocking and a blocking one, and the default streams. */
static const struct
{
  const char *path;
  int kind; /* the flags of cuStreamCreate() */
  guintptr handle;
} stream_kinds[] = {
  { "/CudaStreams/ordered/non-blocking", CU_STREAM_NONBLOCKING },
  { "/CudaStreams/ordered/blocking", 0 },
  { "/CudaStreams/ordered/legacy", -1, 1 },
  { "/CudaStreams/ordered/per-thread", -1, 2 },
};

/* Work in the program's stream, the library's there, and the library's in its own: each is done
 * after what was queued before, and the host waits for none. */
static void
test_ordered (Living        *living,
              gconstpointer  data)
{
  gsize i = GPOINTER_TO_SIZE (data);
  CuStream stream = stream_kinds[i].kind >= 0 ? peer_stream_of_kind (0, stream_kinds[i].kind)
                                              : POINTER (stream_kinds[i].handle);
  g_autoptr (MtlBuffer) first = new_private (0, 4);
  g_autoptr (MtlBuffer) second = new_private (0, 4);
  g_autoptr (MtlBuffer) third = new_private (0, 4);
  unsigned n_waits = over_double ? dbl.waits (NULL) : 0;
  MtlStream *pushed;

  fill (first, "abcd"); /* in the library's stream */
  pushed = push_stream (stream, 0);
  copy (second, first); /* in the program's */
  peer_enter (0);
  MUST (cu.cuMemsetD8Async (get_address (second), 'x', 2, stream));
  peer_leave ();
  copy (third, second);
  pop_stream (pushed);
  fill (first, "z"); /* in the library's, after it was read */
  copy (second, third);
  if (over_double)
    g_assert_cmpuint (dbl.waits (NULL), ==, n_waits);

  assert_buffer_bytes (first, 0, "zzzz", 4);
  assert_buffer_bytes (second, 0, "xxcd", 4);
  assert_buffer_bytes (third, 0, "xxcd", 4);
  if (stream_kinds[i].kind >= 0)
    free_stream (stream);
}

/* A copy that overlaps its source needs memory until the pushed stream has done it. */
static void
test_overlap_in_pushed_stream (void)
{
  g_autoptr (MtlBuffer) buffer = new_private (0, 8);
  CuStream stream = peer_stream (0);
  MtlStream *pushed = push_stream (stream, 0);

  fill (buffer, "abcd");
  g_assert_true (mtl_buffer_copy_from (buffer, 1, buffer, 0, 7, NULL, NULL));
  pop_stream (pushed);
  assert_buffer_bytes (buffer, 0, "aabcdabc", 8);
  free_stream (stream);
}

/* Downloads in a pushed stream are done when the call returns. */
static void
test_download (void)
{
  g_autoptr (MtlBuffer) buffer = new_private (0, 4);
  CuStream stream = peer_stream (0);
  MtlStream *pushed = push_stream (stream, 0);

  peer_order (0, own_stream (0), stream);
  MUST (cu.cuMemsetD8Async (get_address (buffer), 'x', 4, stream));
  assert_buffer_bytes (buffer, 0, "xxxx", 4);
  pop_stream (pushed);
  free_stream (stream);
}

/* Copies between devices run in the library's streams, after and before the work of the pushed
 * one. */
static void
test_copy_between_devices (void)
{
  g_autoptr (MtlBuffer) here = NULL;
  g_autoptr (MtlBuffer) elsewhere = NULL;
  CuStream stream, other_stream;
  MtlStream *pushed, *other_pushed;

  skip_unless (n_gpus > 1, "this needs two devices");
  here = new_private (0, 4);
  elsewhere = new_private (1, 4);
  stream = peer_stream (0);
  other_stream = peer_stream (1);
  pushed = push_stream (stream, 0);
  other_pushed = push_stream (other_stream, 1);

  fill (here, "abcd"); /* in the program's stream */
  copy (elsewhere, here);
  fill (here, "z");
  fill (here, "y");
  copy (here, elsewhere);
  fill (elsewhere, "x");
  pop_stream (other_pushed);
  pop_stream (pushed);

  assert_buffer_bytes (here, 0, "abcd", 4);
  assert_buffer_bytes (elsewhere, 0, "xxxx", 4);
  free_stream (stream);
  free_stream (other_stream);
}

/* The program's own work in the streams that it has pushed is before and after the copy. */
static void
test_copy_between_pushed_streams (void)
{
  g_autoptr (MtlBuffer) here = new_private (0, 4);
  g_autoptr (MtlBuffer) elsewhere = new_private (1, 4);
  CuStream stream = peer_stream (0), other_stream = peer_stream (1);
  MtlStream *pushed, *other_pushed;

  synchronize (get_cuda (0));
  synchronize (get_cuda (1));
  pushed = push_stream (stream, 0);
  other_pushed = push_stream (other_stream, 1);

  MUST (cu.cuMemsetD8Async (get_address (elsewhere), 'x', 4, other_stream));
  MUST (cu.cuMemsetD8Async (get_address (here), 'z', 4, stream));
  assert_does_not_wait (copy (here, elsewhere));
  MUST (cu.cuMemsetD8Async (get_address (elsewhere), 'y', 4, other_stream));
  MUST (cu.cuMemsetD8Async (get_address (here), 'w', 2, stream));
  pop_stream (other_pushed);
  pop_stream (pushed);

  free_stream (stream);
  free_stream (other_stream);
  assert_buffer_bytes (here, 0, "wwxx", 4);
  assert_buffer_bytes (elsewhere, 0, "yyyy", 4);
}

/* Work that others have queued does not hold up the library's, not even in blocking streams or in
 * the legacy stream. */
static void
test_work_of_others_does_not_delay (void)
{
  CuStream streams[] = { peer_stream_of_kind (0, 0), CU_LEGACY_STREAM };

  for (gsize i = 0; i < G_N_ELEMENTS (streams); i++)
    {
      g_autoptr (MtlBuffer) buffer = new_private (0, 4);
      g_autoptr (MtlEvent) event = new_event (0);

      peer_enter (0);
      MUST (cu.cuStreamWaitValue64_v2 (streams[i], ADDRESS (mtl_event_get_handle (event)), 1, 0));
      fill (buffer, "abcd");
      assert_buffer_bytes (buffer, 0, "abcd", 4);
      synchronize (get_cuda (0));
      g_assert_cmpuint (cu.cuStreamQuery (streams[i]), ==, CU_NOT_READY);
      mtl_event_signal (event, 1);
      MUST (cu.cuStreamSynchronize (streams[i]));
      peer_leave ();
    }
  MUST (cu.cuStreamDestroy_v2 (streams[0]));
}

/* A stream waits for another: without that, the double has a violation. */
static void
test_wait_stream (void)
{
  CuStream theirs = peer_stream (0);
  gpointer memory = peer_memory (0, 4), copied = peer_memory (0, 4);
  MtlStream *stream = new_stream (0), *other = wrap_stream (theirs, 0);
  guint8 bytes[4];

  dbl.pause ();
  MUST (cu.cuMemsetD8Async (ADDRESS (memory), 7, 4, theirs));
  assert_does_not_wait (wait_stream (stream, other); wait_stream (stream, stream));
  MUST (cu.cuMemcpyAsync (ADDRESS (copied), ADDRESS (memory), 4, get_handle (stream)));
  dbl.resume ();
  synchronize_stream (stream);
  g_assert_cmpuint (dbl.pending (theirs), ==, 0);
  read_gpu (0, copied, bytes, 4);
  g_assert_cmpmem (bytes, 4, "\7\7\7\7", 4);

  g_assert_finalize_object (stream);
  g_assert_finalize_object (other);
  free_stream (theirs);
  peer_free (memory);
  peer_free (copied);
}

/* The other one's later work is not waited for. */
static void
test_wait_for_work_until_now (void)
{
  g_autoptr (MtlEvent) event = new_event (0);
  g_autoptr (GError) error = NULL;
  MtlStream *stream = new_stream (0), *other = new_stream (0);

  wait_stream (stream, other);
  g_assert_true (mtl_stream_wait_event (other, event, 1, &error));
  g_assert_no_error (error);
  synchronize_stream (stream);
  mtl_event_signal (event, 1);
  synchronize_stream (other);
  g_assert_finalize_object (stream);
  g_assert_finalize_object (other);
}

static void
test_wait_stream_of_another_device (void)
{
  g_autoptr (MtlEvent) event = NULL;
  g_autoptr (GError) error = NULL;
  MtlStream *stream, *other;

  skip_unless (n_gpus > 1, "this needs two devices");
  stream = new_stream (0);
  other = new_stream (1);
  event = new_event (1);

  g_assert_true (mtl_stream_wait_event (other, event, 5, &error));
  wait_stream (stream, other);
  MUST (cu.cuStreamQuery (own_stream (0)));
  g_assert_cmpuint (cu.cuStreamQuery (get_handle (stream)), ==, CU_NOT_READY);
  mtl_event_signal (event, 5);
  synchronize_stream (stream);
  g_assert_true (mtl_stream_wait_stream (other, stream, &error));
  g_assert_no_error (error);
  synchronize_stream (other);
  g_assert_finalize_object (stream);
  g_assert_finalize_object (other);
}

/* Events */

static void
test_event_in_stream (void)
{
  const guint64 large = G_GUINT64_CONSTANT (1) << 40;
  MtlStream *stream = new_stream (0);
  MtlEvent *event = new_event (0);
  g_autoptr (GError) error = NULL;

  g_assert_cmpuint (mtl_event_get_signaled_value (event), ==, 0);
  g_assert_true (mtl_stream_wait_event (stream, event, large, &error));
  g_assert_true (mtl_stream_signal_event (stream, event, large + 1, &error));
  g_assert_no_error (error);

  mtl_event_signal (event, large - 1);
  g_assert_cmpuint (cu.cuStreamQuery (get_handle (stream)), ==, CU_NOT_READY);
  g_assert_false (mtl_event_wait (event, large, 10000, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT);
  g_clear_error (&error);

  mtl_event_signal (event, large);
  g_assert_true (mtl_event_wait (event, large, 0, NULL, &error));
  synchronize_stream (stream);
  g_assert_true (mtl_event_wait (event, large + 1, 0, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (mtl_event_get_signaled_value (event), ==, large + 1);
  mtl_event_signal (event, 3);
  g_assert_cmpuint (mtl_event_get_signaled_value (event), ==, large + 1);

  g_assert_finalize_object (event);
  g_assert_finalize_object (stream);
}

/* The host waits for work of a stream, which nobody else asks after. */
static void
test_host_waits_for_event (void)
{
  MtlStream *stream = new_stream (0);
  MtlEvent *event = new_event (0);
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;

  dbl.set_delay (20);
  g_assert_true (mtl_stream_signal_event (stream, event, 1, &error));
  g_assert_true (mtl_event_wait (event, 1, -1, NULL, &error));
  g_assert_true (mtl_stream_signal_event (stream, event, 2, &error));
  mtl_event_wait_async (event, 2, -1, NULL, keep_result, &result);
  g_assert_true (mtl_event_wait_finish (event, wait_for_kept (&result), &error));
  g_assert_no_error (error);
  g_assert_true (mtl_stream_signal_event (stream, event, 4, &error));
  g_assert_true (mtl_event_wait (event, 3, 10 * G_TIME_SPAN_SECOND, NULL, &error));
  g_assert_no_error (error);
  dbl.set_delay (G_MAXUINT);
  synchronize_stream (stream);
  g_assert_finalize_object (stream);
  g_clear_object (&event);
}

/* Two streams take turns, by an event. */
static void
test_events_order_streams (void)
{
  MtlStream *first = new_stream (0), *second = new_stream (0);
  MtlEvent *event = new_event (0);
  g_autoptr (GError) error = NULL;
  gpointer memory = peer_pinned (8);

  for (guint64 i = 0; i < 10; i++)
    {
      MtlStream *self = i % 2 ? first : second;

      g_assert_true (mtl_stream_wait_event (self, event, i, &error));
      MUST (cu.cuMemsetD8Async (ADDRESS (memory), i, 8, get_handle (self)));
      g_assert_true (mtl_stream_signal_event (self, event, i + 1, &error));
      g_assert_no_error (error);
    }
  synchronize_stream (first);
  g_assert_cmpmem (memory, 8, "\11\11\11\11\11\11\11\11", 8);
  g_assert_cmpuint (mtl_event_get_signaled_value (event), ==, 10);
  synchronize_stream (second);

  g_assert_finalize_object (event);
  g_assert_finalize_object (first);
  g_assert_finalize_object (second);
  peer_free_pinned (memory);
}

static void
test_event_of_others (void)
{
  guint64 *pinned = peer_pinned (24);
  gpointer private = peer_memory (0, 8), managed = peer_managed (8);
  guint64 host = 0;
  MtlEvent *event, *same;
  g_autoptr (GError) local_error = NULL;

  pinned[1] = 7;
  event = mtl_event_new_for_handle (&pinned[1], get_cuda (0), &local_error);
  same = mtl_event_new_for_handle (&pinned[1], get_cuda (0), &local_error);
  g_assert_no_error (local_error);
  g_assert_true (mtl_event_get_device (event) == get_cuda (0));
  g_assert_true (mtl_event_get_handle (event) == &pinned[1]);
  g_assert_cmpuint (mtl_event_get_signaled_value (event), ==, 7);
  mtl_event_signal (event, 9);
  mtl_event_signal (same, 8);
  g_assert_cmpuint (pinned[1], ==, 9);
  g_assert_finalize_object (event);
  g_assert_finalize_object (same);

  assert_fails (mtl_event_new_for_handle ((guint8 *) pinned + 4, get_cuda (0), &error),
                MTL_ERROR_INVALID_ARGUMENT, "8");
  assert_fails (mtl_event_new_for_handle (private, get_cuda (0), &error),
                MTL_ERROR_INVALID_ARGUMENT, "8");
  assert_fails (mtl_event_new_for_handle (managed, get_cuda (0), &error),
                MTL_ERROR_INVALID_ARGUMENT, "8");
  assert_fails (mtl_event_new_for_handle (&host, get_cuda (0), &error),
                MTL_ERROR_INVALID_ARGUMENT, "8");
  peer_free_pinned (pinned);
  peer_free (private);
  peer_free (managed);
}

/* The number must be in the allocation as a whole. */
static void
test_event_beyond (void)
{
  guint8 *pinned = peer_pinned (20);

  assert_fails (mtl_event_new_for_handle (pinned + 16, get_cuda (0), &error),
                MTL_ERROR_INVALID_ARGUMENT, "8");
  peer_free_pinned (pinned);
}

static void
assert_event_is_refused (MtlStream *stream,
                         MtlEvent  *event)
{
  assert_refuses (mtl_stream_wait_event (stream, event, 1, &error), MTL_ERROR_NOT_SUPPORTED,
                  mtl_device_get_name (mtl_stream_get_device (stream)));
  assert_refuses (mtl_stream_signal_event (stream, event, 1, &error), MTL_ERROR_NOT_SUPPORTED,
                  mtl_device_get_name (mtl_stream_get_device (stream)));
}

static void
test_foreign_events (void)
{
  MtlStream *stream = new_stream (0);
  g_autoptr (MtlEvent) host = mtl_event_new (mtl_device_get_host (), NULL);

  assert_event_is_refused (stream, host);
  if (n_gpus > 1)
    {
      g_autoptr (MtlEvent) elsewhere = new_event (1);

      assert_event_is_refused (stream, elsewhere);
    }
  g_assert_finalize_object (stream);
}

/* The host still can use events. */
static void
test_without_stream_values (void)
{
  MtlStream *stream;
  MtlEvent *event;
  g_autoptr (GError) error = NULL;

  run_alone ();
  dbl.set_attribute (-1, "stream-values-64", 0);
  stream = new_stream (0);
  event = new_event (0);
  assert_event_is_refused (stream, event);
  mtl_event_signal (event, 4);
  g_assert_true (mtl_event_wait (event, 4, 0, NULL, &error));
  g_assert_no_error (error);
  g_assert_finalize_object (event);
  g_assert_finalize_object (stream);
}

/* Waits of the host */

static void
test_synchronize (void)
{
  g_autoptr (MtlBuffer) buffer = new_private (0, 8);
  CuStream handle = peer_stream (0);
  MtlStream *stream = push_stream (handle, 0);

  fill (buffer, "a");
  assert_waits (synchronize_stream (stream));
  g_assert_cmpuint (dbl.pending (handle), ==, 0);
  pop_stream (stream);
  free_stream (handle);
}

static void
test_synchronize_async (void)
{
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;
  MtlStream *stream = new_stream (0);
  MtlEvent *event = new_event (0);

  g_assert_true (mtl_stream_wait_event (stream, event, 1, &error));
  mtl_stream_synchronize_async (stream, NULL, keep_result, &result);
  g_usleep (10000);
  g_assert_false (g_main_context_iteration (NULL, FALSE));
  g_assert_null (result);
  mtl_event_signal (event, 1);
  g_assert_true (mtl_stream_synchronize_finish (stream, wait_for_kept (&result), &error));
  g_assert_no_error (error);
  g_clear_object (&result);
  g_object_unref (stream);
  g_assert_finalize_object (event);
}

static gpointer
cancel_in_thread (gpointer cancellable)
{
  g_usleep (20000);
  g_cancellable_cancel (cancellable);
  return NULL;
}

static gpointer
signal_later (gpointer event)
{
  g_usleep (20000);
  mtl_event_signal (event, 1);
  return NULL;
}

/* A wait that could be cancelled, and is not */
static void
test_not_cancelled (void)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (MtlEvent) event = new_event (0);
  g_autoptr (GError) error = NULL;
  MtlStream *stream = new_stream (0);
  GThread *thread;

  g_assert_true (mtl_stream_wait_event (stream, event, 1, &error));
  thread = g_thread_new ("signal", signal_later, event);
  g_assert_true (mtl_stream_synchronize (stream, cancellable, &error));
  g_assert_no_error (error);
  MUST (cu.cuStreamQuery (get_handle (stream)));
  g_thread_join (thread);
  g_assert_finalize_object (stream);
}

static void
test_cancel (void)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;
  MtlStream *stream = new_stream (0);
  MtlEvent *event = new_event (0);
  GThread *thread;

  g_assert_true (mtl_stream_wait_event (stream, event, 1, &error));
  thread = g_thread_new ("cancel", cancel_in_thread, cancellable);
  g_assert_false (mtl_stream_synchronize (stream, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);
  g_thread_join (thread);
  g_assert_false (mtl_stream_synchronize (stream, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);

  g_cancellable_reset (cancellable);
  mtl_stream_synchronize_async (stream, cancellable, keep_result, &result);
  thread = g_thread_new ("cancel", cancel_in_thread, cancellable);
  g_assert_false (mtl_stream_synchronize_finish (stream, wait_for_kept (&result), &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_thread_join (thread);

  mtl_event_signal (event, 1);
  synchronize_stream (stream);
  g_clear_object (&result);
  g_object_unref (stream);
  g_assert_finalize_object (event);
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

  add_cuda_test ("/CudaStreams/new/own", test_new);
  add_double_test ("/CudaStreams/new/does-not-block", test_new_does_not_block);
  add_double_test ("/CudaStreams/new/ends-with-work", test_ends_with_work);
  add_cuda_test ("/CudaStreams/new/of-device", test_of_device);
  add_cuda_test ("/CudaStreams/new/of-others", test_of_others);
  add_cuda_test ("/CudaStreams/new/refused", test_refused);
  add_cuda_test ("/CudaStreams/new/of-another-device", test_of_another_device);
  add_double_test ("/CudaStreams/new/destroyed", test_destroyed);
  add_cuda_test ("/CudaStreams/new/of-identities", test_of_identities);
  add_double_test ("/CudaStreams/push/nested", test_nested);
  add_double_test ("/CudaStreams/push/others", test_others_are_not_affected);
  add_cuda_test ("/CudaStreams/push/thread-ends", test_thread_ends);
  g_test_add_func ("/CudaStreams/push/wrong-pop", test_wrong_pop);
  for (gsize i = 0; i < G_N_ELEMENTS (stream_kinds); i++)
    add_cuda_data_test (stream_kinds[i].path, GSIZE_TO_POINTER (i), test_ordered);
  add_cuda_test ("/CudaStreams/overlap", test_overlap_in_pushed_stream);
  add_cuda_test ("/CudaStreams/download", test_download);
  add_cuda_test ("/CudaStreams/copy-between-devices", test_copy_between_devices);
  add_double_test ("/CudaStreams/copy-between-pushed-streams", test_copy_between_pushed_streams);
  add_cuda_test ("/CudaStreams/work-of-others", test_work_of_others_does_not_delay);
  add_double_test ("/CudaStreams/wait/stream", test_wait_stream);
  add_cuda_test ("/CudaStreams/wait/until-now", test_wait_for_work_until_now);
  add_cuda_test ("/CudaStreams/wait/another-device", test_wait_stream_of_another_device);
  add_cuda_test ("/CudaStreams/event/in-stream", test_event_in_stream);
  add_double_test ("/CudaStreams/event/host-waits", test_host_waits_for_event);
  add_cuda_test ("/CudaStreams/event/order-streams", test_events_order_streams);
  add_cuda_test ("/CudaStreams/event/of-others", test_event_of_others);
  add_double_test ("/CudaStreams/event/beyond", test_event_beyond);
  add_cuda_test ("/CudaStreams/event/foreign", test_foreign_events);
  g_test_add_func ("/CudaStreams/event/without-stream-values",
                   over_double ? test_without_stream_values : skip_without_double);
  add_double_test ("/CudaStreams/synchronize/waits", test_synchronize);
  add_cuda_test ("/CudaStreams/synchronize/async", test_synchronize_async);
  add_cuda_test ("/CudaStreams/synchronize/cancel", test_cancel);
  add_cuda_test ("/CudaStreams/synchronize/not-cancelled", test_not_cancelled);

  return g_test_run ();
}
