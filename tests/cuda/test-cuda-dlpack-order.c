/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tensors whose memory is still being written or read: who waits for whom, and when memory ends. */

#include "cuda-fixture.h"

#include "mtl-bindings-private.h"

#define SIZE 4096

static CuAddress
get_address (MtlStridedView *view)
{
  return mtl_strided_view_get_address (view);
}

static DLManagedTensorVersioned *
export (MtlStridedView *view,
        MtlDlpackFlags  flags,
        MtlDevice      *device)
{
  g_autoptr (GError) error = NULL;
  DLManagedTensorVersioned *tensor = mtl_strided_view_to_dlpack (view, flags, device, &error);

  g_assert_no_error (error);
  return tensor;
}

static DLManagedTensorVersioned *
export_for (MtlStridedView *view,
            CuStream        stream,
            int             ordinal,
            MtlDlpackFlags  flags)
{
  MtlStream *pushed = push_stream (stream, ordinal);
  DLManagedTensorVersioned *tensor = export (view, flags, NULL);

  pop_stream (pushed);
  return tensor;
}

static MtlStridedView *
import_from (PeerTensor *tensor,
             CuStream    stream,
             int         ordinal)
{
  MtlStream *pushed = push_stream (stream, ordinal);
  MtlStridedView *view = import (tensor);

  pop_stream (pushed);
  return view;
}

static void
fill (MtlStridedView *view,
      double          value)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (mtl_strided_view_fill_double (view, value, NULL, &error));
  g_assert_no_error (error);
}

static void
copy (MtlStridedView *dest,
      MtlStridedView *source)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (mtl_strided_view_copy_from (dest, source, NULL, &error));
  g_assert_no_error (error);
}

static MtlStridedView *
new_bytes_on (MtlDevice      *device,
              MtlStorageMode  mode)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *view = mtl_strided_view_new_zeros (device, MTL_DTYPE_UINT8, DIMS (SIZE), mode,
                                                     &error);

  g_assert_no_error (error);
  return view;
}

static void
free_stream (CuStream stream)
{
  MUST (cu.cuStreamSynchronize (stream));
  MUST (cu.cuStreamDestroy_v2 (stream));
}

static guint8
get_only_byte (const guint8 *bytes)
{
  for (int i = 1; i < SIZE; i++)
    g_assert_cmphex (bytes[i], ==, bytes[0]);
  return bytes[0];
}

/* The byte that all of a GPU's memory has, as it is now */
static guint8
peek (CuAddress address)
{
  guint8 bytes[SIZE];

  g_assert_true (dbl.peek (address, bytes, SIZE));
  return get_only_byte (bytes);
}

/* Hot memory */

/* A producer that still writes, this library, and a consumer that reads, each in a stream: nobody
 * waits on the host. Returns the value that the consumer finds. */
static guint8
pass_on (int      ordinal,
         gboolean tells_producer,
         gboolean tells_consumer)
{
  CuStream producer = peer_stream (ordinal), consumer = peer_stream (ordinal);
  gpointer memory = peer_memory (ordinal, SIZE), result = peer_memory (ordinal, SIZE);
  g_autoptr (MtlStridedView) doubled = new_bytes_on (get_cuda (ordinal), MTL_STORAGE_MODE_PRIVATE);
  g_autoptr (MtlStridedView) view = NULL;
  DLManagedTensorVersioned *exported;
  PeerTensor tensor;
  guint8 value;
  unsigned n_waits;

  synchronize (get_cuda (ordinal));
  n_waits = dbl.waits (NULL);
  dbl.pause ();
  MUST (cu.cuMemsetD8Async (ADDRESS (memory), 21, SIZE, producer));
  peer_tensor_init (&tensor, memory, SIZE, 2, ordinal);
  view = tells_producer ? import_from (&tensor, producer, ordinal) : import (&tensor);
  copy (doubled, view);
  exported = export_for (doubled, consumer, ordinal,
                         tells_consumer ? MTL_DLPACK_FLAGS_NONE : MTL_DLPACK_FLAGS_NO_SYNC);
  MUST (cu.cuMemcpyAsync (ADDRESS (result), ADDRESS (exported->dl_tensor.data), SIZE, consumer));
  g_assert_cmpuint (dbl.waits (NULL), ==, n_waits);
  g_assert_cmpuint (dbl.pending (producer), >, 0);

  dbl.resume ();
  MUST (cu.cuStreamSynchronize (consumer));
  value = peek (ADDRESS (result));

  await_all_work ();
  exported->deleter (exported);
  g_clear_object (&view);
  await_count (&tensor.n_deleted, 1);
  free_stream (producer);
  free_stream (consumer);
  peer_free (memory);
  peer_free (result);
  return value;
}

static void
test_hot (void)
{
  for (int i = 0; i < n_gpus; i++)
    g_assert_cmpuint (pass_on (i, TRUE, TRUE), ==, 21);
}

/* The control: this library is not told of the stream, and its copy is too early. */
static void
test_not_told_of_producer (void)
{
  g_assert_cmphex (pass_on (0, FALSE, TRUE), ==, CUDA_DOUBLE_FRESH);
}

/* The consumer has said that it orders its work itself, and does not. */
static void
test_consumer_does_not_wait (void)
{
  g_assert_cmphex (pass_on (0, TRUE, FALSE), ==, 0);
}

/* Accesses of the host to hot memory, each after the producer's work */

static guint8
read_element (MtlStridedView *view)
{
  return mtl_strided_view_get_int64 (view, DIMS (SIZE - 1), NULL);
}

static guint8
read_contents (MtlStridedView *view)
{
  return get_only_byte (mtl_buffer_get_contents (mtl_strided_view_get_buffer (view)));
}

static guint8
read_bytes (MtlStridedView *view)
{
  g_autoptr (GBytes) bytes = mtl_buffer_get_bytes (mtl_strided_view_get_buffer (view), 0, SIZE,
                                                   NULL);

  return get_only_byte (g_bytes_get_data (bytes, NULL));
}

static guint8
read_copied_bytes (MtlStridedView *view)
{
  g_autoptr (GBytes) bytes = mtl_strided_view_dup_bytes (view, NULL, NULL);

  return get_only_byte (g_bytes_get_data (bytes, NULL));
}

static guint8
read_host_copy (MtlStridedView *view)
{
  g_autoptr (MtlStridedView) host = mtl_strided_view_to_device (view, mtl_device_get_host (),
                                                                MTL_STORAGE_MODE_DEFAULT, NULL,
                                                                NULL);

  return read_contents (host);
}

static guint8
read_private_copy (MtlStridedView *view)
{
  g_autoptr (MtlStridedView) copied = mtl_strided_view_to_device (view, get_cuda (0),
                                                                  MTL_STORAGE_MODE_PRIVATE, NULL,
                                                                  NULL);

  return read_copied_bytes (copied);
}

static guint8
read_buffer_copy (MtlStridedView *view)
{
  g_autoptr (MtlBuffer) buffer = new_buffer (NULL, SIZE, MTL_STORAGE_MODE_HOST);

  g_assert_true (mtl_buffer_copy_from (buffer, 0, mtl_strided_view_get_buffer (view), 0, SIZE, NULL,
                                       NULL));
  return get_only_byte (mtl_buffer_get_contents (buffer));
}

static guint8
read_converted (MtlStridedView *view)
{
  g_autoptr (MtlStridedView) doubles = mtl_strided_view_to_dtype (view, MTL_DTYPE_FLOAT64,
                                                                  MTL_ORDER_C, NULL, NULL);

  return mtl_strided_view_get_double (doubles, DIMS (7), NULL);
}

static guint8
read_statistics (MtlStridedView *view)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStatistics) statistics = mtl_strided_view_compute_statistics (view, NULL, NULL,
                                                                              NULL, &error);

  g_assert_no_error (error);
  return mtl_statistics_get_minimum (statistics);
}

static guint8
read_equality (MtlStridedView *view)
{
  g_autoptr (MtlStridedView) expected = new_bytes_on (mtl_device_get_host (),
                                                      MTL_STORAGE_MODE_HOST);

  fill (expected, 21);
  return mtl_strided_view_array_equal (view, expected, MTL_COMPARE_FLAGS_NONE, NULL, NULL) ? 21 : 0;
}

static guint8
read_text (MtlStridedView *view)
{
  g_autofree char *text = mtl_strided_view_to_string (view);

  return strstr (text, "21") != NULL ? 21 : 0;
}

static guint8
read_as_host (MtlStridedView *view)
{
  DLManagedTensorVersioned *tensor = export (view, MTL_DLPACK_FLAGS_NEVER_COPY,
                                             mtl_device_get_host ());
  guint8 value = get_only_byte (tensor->dl_tensor.data);

  tensor->deleter (tensor);
  return value;
}

/* Writes of the host are after those of the producer. */
static guint8
write_element (MtlStridedView *view)
{
  const guint8 *contents;

  g_assert_true (mtl_strided_view_set_int64 (view, DIMS (5), 3, NULL));
  contents = mtl_buffer_get_contents (mtl_strided_view_get_buffer (view));
  g_assert_cmpint (contents[5], ==, 3);
  return contents[4];
}

static guint8
write_all (MtlStridedView *view)
{
  fill (view, 3);
  g_assert_cmpint (read_contents (view), ==, 3);
  return 21;
}

static guint8
write_buffer (MtlStridedView *view)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static ("\3", 1);

  g_assert_true (mtl_buffer_fill (mtl_strided_view_get_buffer (view), 0, SIZE, bytes, NULL, NULL));
  g_assert_cmpint (read_contents (view), ==, 3);
  return 21;
}

static const struct
{
  const char *path;
  guint8 (* access) (MtlStridedView *view);
} accesses[] = {
  { "element", read_element },       { "contents", read_contents },
  { "bytes", read_bytes },           { "copied-bytes", read_copied_bytes },
  { "host-copy", read_host_copy },   { "private-copy", read_private_copy },
  { "buffer-copy", read_buffer_copy }, { "converted", read_converted },
  { "statistics", read_statistics }, { "equality", read_equality },
  { "text", read_text },             { "as-host", read_as_host },
  { "write-element", write_element }, { "write-all", write_all },
  { "write-buffer", write_buffer },
};

static void
check_access (gpointer memory,
              int      device_type,
              guint8 (* access) (MtlStridedView *view))
{
  CuStream producer = peer_stream (0);
  g_autoptr (MtlStridedView) view = NULL;
  PeerTensor tensor;

  MUST (cu.cuMemsetD8Async (ADDRESS (memory), 1, SIZE, producer));
  MUST (cu.cuStreamSynchronize (producer));
  MUST (cu.cuMemsetD8Async (ADDRESS (memory), 21, SIZE, producer));
  peer_tensor_init (&tensor, memory, SIZE, device_type, 0);
  assert_does_not_wait (view = import_from (&tensor, producer, 0));
  g_assert_cmpuint (dbl.pending (producer), >, 0);
  g_assert_cmpint (access (view), ==, 21);
  g_clear_object (&view);
  await_count (&tensor.n_deleted, 1);
  free_stream (producer);
}

static void
test_access (Living        *living,
             gconstpointer  data)
{
  gsize i = GPOINTER_TO_SIZE (data);
  gpointer pinned = peer_pinned (SIZE), managed = peer_managed (SIZE);

  check_access (pinned, 3, accesses[i].access);
  check_access (managed, 13, accesses[i].access);
  peer_free_pinned (pinned);
  peer_free (managed);
}

/* Without a stream, the data are complete, and nobody asks the driver. */
static void
test_not_hot (void)
{
  gpointer pinned = peer_pinned (SIZE);
  g_autoptr (MtlStridedView) view = NULL;
  PeerTensor tensor;

  memset (pinned, 21, SIZE);
  peer_tensor_init (&tensor, pinned, SIZE, 3, 0);
  assert_does_not_wait (view = import (&tensor); g_assert_cmpint (read_element (view), ==, 21));
  g_clear_object (&view);
  g_assert_cmpint (tensor.n_deleted, ==, 1);
  peer_free_pinned (pinned);
}

/* It is hot once. */
static void
test_cools_down (void)
{
  gpointer pinned = peer_pinned (SIZE);
  CuStream producer = peer_stream (0);
  g_autoptr (MtlStridedView) view = NULL;
  PeerTensor tensor;

  MUST (cu.cuMemsetD8Async (ADDRESS (pinned), 21, SIZE, producer));
  peer_tensor_init (&tensor, pinned, SIZE, 3, 0);
  view = import_from (&tensor, producer, 0);
  g_assert_cmpint (read_element (view), ==, 21);
  assert_does_not_wait (g_assert_cmpint (read_element (view), ==, 21));
  g_clear_object (&view);
  await_count (&tensor.n_deleted, 1);
  free_stream (producer);
  peer_free_pinned (pinned);
}

/* The producer's stream goes on after the library's work on its tensor, though the program has not
 * told it to. */
static void
test_producer_writes_next (void)
{
  CuStream producer = peer_stream (0);
  gpointer memory = peer_memory (0, SIZE), result = peer_memory (0, SIZE);
  g_autoptr (MtlStridedView) read = new_bytes_on (get_cuda (0), MTL_STORAGE_MODE_PRIVATE);
  g_autoptr (MtlStridedView) view = NULL;
  PeerTensor tensor;

  synchronize (get_cuda (0));
  dbl.pause ();
  MUST (cu.cuMemsetD8Async (ADDRESS (memory), 1, SIZE, producer));
  peer_tensor_init (&tensor, memory, SIZE, 2, 0);
  view = import_from (&tensor, producer, 0);
  assert_does_not_wait (copy (read, view));
  MUST (cu.cuMemsetD8Async (ADDRESS (memory), 2, SIZE, producer)); /* after the read */
  assert_does_not_wait (fill (view, 3)); /* in no order with that */
  MUST (cu.cuMemcpyAsync (ADDRESS (result), ADDRESS (memory), SIZE, producer)); /* after this */
  dbl.resume ();
  MUST (cu.cuStreamSynchronize (producer));
  g_assert_cmpint (peek (ADDRESS (result)), ==, 3);
  g_assert_cmpint (peek (get_address (read)), ==, 1);

  g_clear_object (&view);
  await_count (&tensor.n_deleted, 1);
  free_stream (producer);
  peer_free (memory);
  peer_free (result);
}

/* Pushes a stream of any GPU, for any memory, like Python's module. */
static void
test_stream_of_any_gpu (void)
{
  static const int device_types[] = { 2, 3, 13 };

  for (int i = 0; i < n_gpus; i++)
    for (gsize j = 0; j < G_N_ELEMENTS (device_types); j++)
      {
        int type = device_types[j];
        CuStream producer = peer_stream (i);
        gpointer memory = type == 2   ? peer_memory (i, SIZE)
                          : type == 3 ? peer_pinned (SIZE)
                                      : peer_managed (SIZE);
        gsize n_events = over_double ? dbl.live ("event") : 0;
        g_autoptr (MtlStridedView) view = NULL;
        PeerTensor tensor;

        g_test_message ("device %d, type %d", i, type);
        MUST (cu.cuMemsetD8Async (ADDRESS (memory), 21, SIZE, producer));
        peer_tensor_init (&tensor, memory, SIZE, type, type == 2 ? i : 0);
        g_assert_true (mtl_dlpack_begin_stream (type, (guintptr) producer));
        assert_does_not_wait (view = import (&tensor));
        mtl_dlpack_end_stream ((guintptr) producer);
        if (over_double && type != 2 && i > 0) /* events of other devices are not kept */
          g_assert_cmpuint (dbl.live ("event"), ==, n_events);
        g_assert_cmpint (read_copied_bytes (view), ==, 21);

        g_clear_object (&view);
        await_count (&tensor.n_deleted, 1);
        free_stream (producer);
        if (type == 3)
          peer_free_pinned (memory);
        else
          peer_free (memory);
      }
}

/* Exports */

static const MtlStorageMode modes[] = { MTL_STORAGE_MODE_PRIVATE, MTL_STORAGE_MODE_SHARED,
                                        MTL_STORAGE_MODE_MANAGED };

/* Without a stream, the host waits for the library's work, unless the consumer orders its own. */
static void
test_export_without_stream (void)
{
  g_autoptr (MtlStridedView) view = new_bytes_on (get_cuda (0), MTL_STORAGE_MODE_PRIVATE);
  DLManagedTensorVersioned *tensor;

  fill (view, 5);
  dbl.pause ();
  assert_does_not_wait (tensor = export (view, MTL_DLPACK_FLAGS_NO_SYNC, NULL));
  dbl.resume ();
  tensor->deleter (tensor);

  fill (view, 7);
  assert_waits (tensor = export (view, MTL_DLPACK_FLAGS_NONE, NULL));
  g_assert_cmpuint (dbl.pending (own_stream (0)), ==, 0);
  g_assert_cmpint (peek (ADDRESS (tensor->dl_tensor.data)), ==, 7);
  tensor->deleter (tensor);
}

/* A host that is given memory has to wait for all. */
static void
test_export_to_host_waits (void)
{
  for (gsize i = 1; i < G_N_ELEMENTS (modes); i++)
    {
      CuStream stream = peer_stream (0);
      g_autoptr (MtlStridedView) source = new_bytes_on (get_cuda (0), MTL_STORAGE_MODE_PRIVATE);
      g_autoptr (MtlStridedView) view = new_bytes_on (get_cuda (0), modes[i]);
      MtlStream *pushed = push_stream (stream, 0);
      DLManagedTensorVersioned *tensor;

      fill (source, 9);
      copy (view, source);
      assert_waits (tensor = export (view, MTL_DLPACK_FLAGS_NEVER_COPY, mtl_device_get_host ()));
      pop_stream (pushed);
      g_assert_cmpint (get_only_byte (tensor->dl_tensor.data), ==, 9);
      tensor->deleter (tensor);
      free_stream (stream);
    }
}

/* Copies for the consumer are queued, too. */
static void
test_export_of_copy (void)
{
  CuStream consumer = peer_stream (0);
  gpointer result = peer_memory (0, SIZE);
  g_autoptr (MtlStridedView) view = new_bytes_on (get_cuda (0), MTL_STORAGE_MODE_PRIVATE);
  DLManagedTensorVersioned *tensor;

  synchronize (get_cuda (0));
  dbl.pause ();
  assert_does_not_wait (fill (view, 6);
                        tensor = export_for (view, consumer, 0, MTL_DLPACK_FLAGS_COPY);
                        fill (view, 8));
  g_assert_cmpuint (ADDRESS (tensor->dl_tensor.data), !=, get_address (view));
  MUST (cu.cuMemcpyAsync (ADDRESS (result), ADDRESS (tensor->dl_tensor.data), SIZE, consumer));
  dbl.resume ();
  MUST (cu.cuStreamSynchronize (consumer));
  g_assert_cmpint (peek (ADDRESS (result)), ==, 6);
  tensor->deleter (tensor);
  free_stream (consumer);
  peer_free (result);
}

/* Ends */

/* Memory that a consumer still works on is not the next owner's. Then it is: pools hand out freed
 * memory again at once. */
static void
check_reuse (MtlStorageMode mode,
             CuStream       stream,
             gboolean       tells_consumer)
{
  MtlStridedView *view = new_bytes_on (get_cuda (0), mode);
  CuAddress address = get_address (view);
  DLManagedTensorVersioned *tensor = tells_consumer ? export_for (view, stream, 0,
                                                                  MTL_DLPACK_FLAGS_NONE)
                                                    : export (view, MTL_DLPACK_FLAGS_NONE, NULL);
  g_autoptr (MtlStridedView) next = NULL;

  dbl.pause ();
  peer_enter (0);
  MUST (cu.cuMemsetD8Async (address, 5, SIZE, stream));
  peer_leave ();
  assert_does_not_wait (tensor->deleter (tensor); g_assert_finalize_object (view);
                        next = new_bytes_on (get_cuda (0), mode);
                        fill (next, 6));
  g_assert_cmpuint (get_address (next), !=, address);
  dbl.resume ();
  peer_enter (0);
  MUST (cu.cuStreamSynchronize (stream));
  peer_leave ();
  g_assert_cmpint (read_copied_bytes (next), ==, 6);
}

static void
test_reuse (void)
{
  CuStream streams[] = { peer_stream (0), peer_stream_of_kind (0, 0), CU_LEGACY_STREAM,
                         CU_PER_THREAD_STREAM };

  dbl.set_reuse (TRUE);
  for (gsize i = 0; i < G_N_ELEMENTS (modes); i++)
    for (gsize j = 0; j < G_N_ELEMENTS (streams); j++)
      check_reuse (modes[i], streams[j], TRUE);
  dbl.set_reuse (FALSE);
  free_stream (streams[0]);
  free_stream (streams[1]);
}

/* A consumer whose stream is not known works in one that waits for the legacy stream. */
static void
test_reuse_without_stream (void)
{
  CuStream streams[] = { peer_stream_of_kind (0, 0), CU_LEGACY_STREAM, CU_PER_THREAD_STREAM };

  dbl.set_reuse (TRUE);
  for (gsize i = 0; i < G_N_ELEMENTS (modes); i++)
    for (gsize j = 0; j < G_N_ELEMENTS (streams); j++)
      check_reuse (modes[i], streams[j], FALSE);
  dbl.set_reuse (FALSE);
  free_stream (streams[0]);
}

static gpointer
export_in_thread (gpointer view)
{
  DLManagedTensorVersioned *tensor = export_for (view, CU_PER_THREAD_STREAM, 0,
                                                 MTL_DLPACK_FLAGS_NONE);

  peer_enter (0);
  MUST (cu.cuMemsetD8Async (ADDRESS (tensor->dl_tensor.data), 5, SIZE, CU_PER_THREAD_STREAM));
  peer_leave ();
  return tensor;
}

/* The stream of a thread is waited for in other threads, too, where its handle is another one. */
static void
test_reuse_after_thread (void)
{
  MtlStridedView *view = new_bytes_on (get_cuda (0), MTL_STORAGE_MODE_PRIVATE);
  DLManagedTensorVersioned *tensor;

  dbl.pause ();
  tensor = g_thread_join (g_thread_new ("export", export_in_thread, view));
  assert_does_not_wait (tensor->deleter (tensor); g_assert_finalize_object (view));
  dbl.resume ();
}

/* The next owner does get it in the end. */
static void
test_reuse_in_the_end (void)
{
  const gsize size = 123456; /* no other allocation has it */
  MtlBuffer *buffer = new_buffer (get_cuda (0), size, MTL_STORAGE_MODE_PRIVATE);
  gpointer handle = mtl_buffer_get_handle (buffer);
  g_autoptr (MtlBuffer) next = NULL;
  g_autofree guint8 *zeros = g_malloc0 (size);

  dbl.set_reuse (TRUE);
  g_assert_finalize_object (buffer);
  next = new_buffer (get_cuda (0), size, MTL_STORAGE_MODE_PRIVATE);
  g_assert_true (mtl_buffer_get_handle (next) == handle);
  assert_buffer_bytes (next, 0, zeros, size);
  dbl.set_reuse (FALSE);
}

/* Several consumers, one after another and at once */
static void
test_several_consumers (void)
{
  CuStream streams[3];
  MtlStridedView *view = new_bytes_on (get_cuda (0), MTL_STORAGE_MODE_PRIVATE);
  CuAddress address = get_address (view);
  DLManagedTensorVersioned *tensors[6];

  for (gsize i = 0; i < G_N_ELEMENTS (streams); i++)
    streams[i] = peer_stream (0);
  for (gsize i = 0; i < G_N_ELEMENTS (tensors); i++)
    tensors[i] = export_for (view, streams[i % 3], 0, MTL_DLPACK_FLAGS_NONE);
  dbl.pause ();
  for (gsize i = 0; i < G_N_ELEMENTS (streams); i++)
    MUST (cu.cuMemcpyAsync (address, address + SIZE / 2, SIZE / 4, streams[i]));
  assert_does_not_wait (g_assert_finalize_object (view);
                        for (gsize i = 0; i < G_N_ELEMENTS (tensors); i++)
                          tensors[i]->deleter (tensors[i]));
  dbl.resume ();
  for (gsize i = 0; i < G_N_ELEMENTS (streams); i++)
    free_stream (streams[i]);
}

/* The producer may reuse its memory when the deleter is called: that is after our work, and after
 * that of those whom we gave it to, and the caller does not wait for it. */
static void
check_deleter (int      device_type,
               gboolean passes_on,
               gboolean ends_view_first)
{
  CuStream consumer = peer_stream (0);
  gpointer memory = device_type == 2   ? peer_memory (0, SIZE)
                    : device_type == 3 ? peer_pinned (SIZE)
                                       : peer_managed (SIZE);
  g_autoptr (MtlStridedView) copied = new_bytes_on (get_cuda (0), MTL_STORAGE_MODE_PRIVATE);
  MtlStridedView *view;
  DLManagedTensorVersioned *exported = NULL;
  PeerTensor tensor;

  synchronize (get_cuda (0));
  peer_tensor_init (&tensor, memory, SIZE, device_type, 0);
  tensor.watched = passes_on ? consumer : own_stream (0);
  view = import (&tensor);
  if (passes_on)
    exported = export_for (view, consumer, 0, MTL_DLPACK_FLAGS_NONE);

  dbl.pause ();
  if (passes_on)
    MUST (cu.cuMemsetD8Async (ADDRESS (memory), 4, SIZE, consumer));
  else if (device_type == 2)
    copy (copied, view);
  if (ends_view_first)
    assert_does_not_wait (g_assert_finalize_object (view));
  if (exported != NULL)
    assert_does_not_wait (exported->deleter (exported));
  if (!ends_view_first)
    assert_does_not_wait (g_assert_finalize_object (view));
  g_usleep (10000);
  g_assert_cmpint (g_atomic_int_get (&tensor.n_deleted), ==, 0);

  dbl.resume ();
  await_count (&tensor.n_deleted, 1);
  g_assert_cmpuint (tensor.n_pending, ==, 0);
  g_assert_true (tensor.deleted_by != g_thread_self ());
  free_stream (consumer);
  if (device_type == 3)
    peer_free_pinned (memory);
  else
    peer_free (memory);
}

static void
test_deleter (void)
{
  check_deleter (2, FALSE, TRUE);
  for (int i = 0; i < 2; i++)
    {
      check_deleter (2, TRUE, i);
      check_deleter (3, TRUE, i);
      check_deleter (13, TRUE, i);
    }
}

/* There is nothing to wait for. */
static void
test_deleter_at_once (void)
{
  CuStream producer = peer_stream (0);
  gpointer memory = peer_memory (0, SIZE);
  PeerTensor tensor;

  peer_tensor_init (&tensor, memory, SIZE, 2, 0);
  g_clear_object (&(MtlStridedView *) { import (&tensor) });
  g_assert_cmpint (tensor.n_deleted, ==, 1);
  g_assert_true (tensor.deleted_by == g_thread_self ());

  peer_tensor_init (&tensor, memory, SIZE, 2, 0);
  g_clear_object (&(MtlStridedView *) { import_from (&tensor, producer, 0) });
  g_assert_cmpint (tensor.n_deleted, ==, 1);
  free_stream (producer);
  peer_free (memory);
}

/* Threads without a context end tensors. */
static gpointer
delete_in_thread (gpointer data)
{
  DLManagedTensorVersioned *tensor = data;

  assert_does_not_wait (tensor->deleter (tensor));
  g_assert_cmpuint (dbl.context_depth (), ==, 0);
  g_assert_cmpuint (dbl.capture_mode (), ==, CU_CAPTURE_MODE_GLOBAL);
  return NULL;
}

static void
test_deleter_in_thread (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (modes); i++)
    {
      CuStream stream = peer_stream (0);
      MtlStridedView *view = new_bytes_on (get_cuda (0), modes[i]);
      DLManagedTensorVersioned *tensor = export_for (view, stream, 0, MTL_DLPACK_FLAGS_NONE);

      MUST (cu.cuMemsetD8Async (ADDRESS (tensor->dl_tensor.data), 4, SIZE, stream));
      g_assert_finalize_object (view);
      g_thread_join (g_thread_new ("delete", delete_in_thread, tensor));
      free_stream (stream);
    }
}

/* A consumer may destroy its stream, once that is done, before it ends its tensors. */
static void
test_destroyed_stream (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (modes); i++)
    {
      CuStream stream = peer_stream (0);
      MtlStridedView *view = new_bytes_on (get_cuda (0), modes[i]);
      DLManagedTensorVersioned *tensor = export_for (view, stream, 0, MTL_DLPACK_FLAGS_NONE);
      gpointer memory = peer_memory (0, SIZE);
      PeerTensor peer;
      MtlStridedView *imported;

      MUST (cu.cuMemsetD8Async (ADDRESS (tensor->dl_tensor.data), 4, SIZE, stream));
      peer_tensor_init (&peer, memory, SIZE, 2, 0);
      imported = import_from (&peer, stream, 0);
      free_stream (stream);
      g_assert_finalize_object (view);
      tensor->deleter (tensor);

      /* The producer's stream, too. */
      fill (imported, 5);
      g_assert_cmpint (read_copied_bytes (imported), ==, 5);
      g_assert_finalize_object (imported);
      await_count (&peer.n_deleted, 1);
      peer_free (memory);
    }
  g_assert_cmpuint (dbl.dead_streams_used (), >, 0);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  set_up_cuda ();

  add_double_test ("/CudaDlpackOrder/hot/passed-on", test_hot);
  add_double_test ("/CudaDlpackOrder/hot/not-told-of-producer", test_not_told_of_producer);
  add_double_test ("/CudaDlpackOrder/hot/consumer-does-not-wait", test_consumer_does_not_wait);
  for (gsize i = 0; i < G_N_ELEMENTS (accesses); i++)
    {
      g_autofree char *path = g_strconcat ("/CudaDlpackOrder/hot/access/", accesses[i].path, NULL);

      add_double_data_test (path, GSIZE_TO_POINTER (i), test_access);
    }
  add_double_test ("/CudaDlpackOrder/hot/without-stream", test_not_hot);
  add_double_test ("/CudaDlpackOrder/hot/cools-down", test_cools_down);
  add_double_test ("/CudaDlpackOrder/hot/producer-writes-next", test_producer_writes_next);
  add_double_test ("/CudaDlpackOrder/hot/stream-of-any-gpu", test_stream_of_any_gpu);
  add_double_test ("/CudaDlpackOrder/export/without-stream", test_export_without_stream);
  add_double_test ("/CudaDlpackOrder/export/to-host", test_export_to_host_waits);
  add_double_test ("/CudaDlpackOrder/export/of-copy", test_export_of_copy);
  add_double_test ("/CudaDlpackOrder/reuse/streams", test_reuse);
  add_double_test ("/CudaDlpackOrder/reuse/without-stream", test_reuse_without_stream);
  add_double_test ("/CudaDlpackOrder/reuse/after-thread", test_reuse_after_thread);
  add_double_test ("/CudaDlpackOrder/reuse/in-the-end", test_reuse_in_the_end);
  add_double_test ("/CudaDlpackOrder/several-consumers", test_several_consumers);
  add_double_test ("/CudaDlpackOrder/deleter/after-work", test_deleter);
  add_cuda_test ("/CudaDlpackOrder/deleter/at-once", test_deleter_at_once);
  add_double_test ("/CudaDlpackOrder/deleter/in-thread", test_deleter_in_thread);
  add_double_test ("/CudaDlpackOrder/destroyed-stream", test_destroyed_stream);

  return g_test_run ();
}
