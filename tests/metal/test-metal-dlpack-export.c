/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "metal-tests.h"
#include "dlpack-structs.h"

#define ANY_DEVICE NULL
#define HOST mtl_device_get_host ()

static const guint8 range[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };

/* (3, 4) bytes of 0, 1, 2, … that begin at byte 4. */
static MtlStridedView *
new_range (int            ordinal,
           MtlStorageMode mode)
{
  g_autoptr (MtlBuffer) buffer = new_buffer (get_metal (ordinal), 16, mode);
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedLayout) layout = mtl_strided_layout_new_dense (DIMS (3, 4), MTL_ORDER_C, 8,
                                                                      &error);
  MtlStridedView *view = mtl_strided_view_new (buffer, layout, MTL_DTYPE_UINT8, 4, &error);

  g_assert_no_error (error);
  write_as_gpu (buffer, 4, range, sizeof range);
  g_assert_true (mtl_buffer_synchronize (buffer, NULL, &error));
  return view;
}

static DLManagedTensorVersioned *
export (MtlStridedView *view,
        MtlDlpackFlags  flags,
        MtlDevice      *device)
{
  g_autoptr (GError) error = NULL;
  DLManagedTensorVersioned *managed = mtl_strided_view_to_dlpack (view, flags, device, &error);

  g_assert_no_error (error);
  return managed;
}

static void
test_strides (void)
{
  for (gsize j = 0; j < G_N_ELEMENTS (metal_modes); j++)
    {
      g_autoptr (MtlStridedView) view = new_range (DISCRETE, metal_modes[j]);
      g_autoptr (MtlStridedView) part = slice (view, "1:, 1::2");
      g_autoptr (MtlStridedView) turned = mtl_strided_view_transpose (part);
      DLManagedTensorVersioned *managed = export (turned, MTL_DLPACK_FLAGS_NONE, ANY_DEVICE);

      assert_dims (managed->dl_tensor.shape, managed->dl_tensor.ndim, 2, 2);
      assert_dims (managed->dl_tensor.strides, managed->dl_tensor.ndim, 2, 4);
      g_assert_cmpuint (managed->dl_tensor.byte_offset, ==, 4 + 4 + 1);
      managed->deleter (managed);
    }
}

/* The offset of a slice of a buffer counts too. */
static void
test_offset_of_slice (void)
{
  g_autoptr (MtlBuffer) buffer = new_buffer (get_metal (UNIFIED), 16, MTL_STORAGE_MODE_PRIVATE);
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlBuffer) part = mtl_buffer_slice (buffer, 5, 9, &error);
  g_autoptr (MtlStridedLayout) layout = mtl_strided_layout_new_dense (DIMS (3), MTL_ORDER_C, 16,
                                                                      &error);
  g_autoptr (MtlStridedView) view = mtl_strided_view_new (part, layout, MTL_DTYPE_INT16, 3, &error);
  DLManagedTensorVersioned *managed;

  g_assert_no_error (error);
  managed = export (view, MTL_DLPACK_FLAGS_NONE, ANY_DEVICE);
  g_assert_true (managed->dl_tensor.data == mtl_buffer_get_handle (buffer));
  g_assert_cmpuint (managed->dl_tensor.byte_offset, ==, 8);
  managed->deleter (managed);
}

/* Kernels access elements at multiples of their size. The host does not need that, nor does an
 * element of a byte. */
static void
check_alignment (int            ordinal,
                 MtlStorageMode mode,
                 MtlDType       dtype,
                 gsize          itemsize,
                 gsize          offset)
{
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlBuffer) buffer = new_buffer (get_metal (ordinal), 96, mode);
  g_autoptr (MtlStridedLayout) layout = mtl_strided_layout_new_dense (DIMS (4), MTL_ORDER_C,
                                                                      8 * itemsize, &local_error);
  g_autoptr (MtlStridedView) view = mtl_strided_view_new (buffer, layout, dtype, offset,
                                                          &local_error);
  gboolean aligned = offset % itemsize == 0;
  DLManagedTensorVersioned *managed;

  g_assert_no_error (local_error);
  managed = export (view, MTL_DLPACK_FLAGS_NONE, get_metal (ordinal));
  g_assert_cmphex (managed->flags, ==, aligned ? 0 : DL_IS_COPIED);
  g_assert_cmpuint (managed->dl_tensor.byte_offset, ==, aligned ? offset : 0);
  managed->deleter (managed);

  if (!aligned)
    assert_fails (mtl_strided_view_to_dlpack (view, MTL_DLPACK_FLAGS_NEVER_COPY, ANY_DEVICE,
                                              &error), MTL_ERROR_NEEDS_COPY, "");
  if (mode != MTL_STORAGE_MODE_PRIVATE)
    {
      managed = export (view, MTL_DLPACK_FLAGS_NEVER_COPY, HOST);
      g_assert_true (managed->dl_tensor.data
                     == (guint8 *) mtl_buffer_get_contents (buffer) + offset);
      managed->deleter (managed);
    }
}

static void
test_alignment (void)
{
  static const struct { MtlDType dtype; gsize itemsize; } types[] = {
    { MTL_DTYPE_BOOL, 1 },
    { MTL_DTYPE_BFLOAT16, 2 },
    { MTL_DTYPE_FLOAT32, 4 },
    { MTL_DTYPE_INT64, 8 },
    { MTL_DTYPE_COMPLEX64, 8 },
    { MTL_DTYPE_COMPLEX128, 16 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (types); i++)
    for (gsize j = 0; j < G_N_ELEMENTS (metal_modes); j++)
      for (gsize offset = 0; offset <= 17; offset++)
        check_alignment (j % 2 == 0 ? UNIFIED : DISCRETE, metal_modes[j], types[i].dtype,
                         types[i].itemsize, offset);
}

/* Another device needs a copy, wherever the elements begin. */
static void
test_alignment_for_others (void)
{
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlBuffer) buffer = new_buffer (get_metal (UNIFIED), 64, MTL_STORAGE_MODE_SHARED);
  g_autoptr (MtlStridedLayout) layout = mtl_strided_layout_new_dense (DIMS (4), MTL_ORDER_C, 32,
                                                                      &local_error);
  g_autoptr (MtlStridedView) view = mtl_strided_view_new (buffer, layout, MTL_DTYPE_FLOAT32, 2,
                                                          &local_error);

  g_assert_no_error (local_error);
  assert_fails (mtl_strided_view_to_dlpack (view, MTL_DLPACK_FLAGS_NEVER_COPY,
                                            get_metal (DISCRETE),
                                            &error), MTL_ERROR_NEEDS_COPY, "(8, 1)");
}

/* The first element counts, not the start of the layout; nothing has no place. */
static void
test_alignment_of_slice (void)
{
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlBuffer) buffer = new_buffer (get_metal (UNIFIED), 64, MTL_STORAGE_MODE_SHARED);
  g_autoptr (MtlStridedLayout) layout = mtl_strided_layout_new_dense (DIMS (4), MTL_ORDER_C, 32,
                                                                      &local_error);
  g_autoptr (MtlStridedView) view = mtl_strided_view_new (buffer, layout, MTL_DTYPE_FLOAT32, 2,
                                                          &local_error);
  g_autoptr (MtlStridedView) part = slice (view, "1:");
  g_autoptr (MtlStridedView) empty = slice (view, "4:");
  DLManagedTensorVersioned *managed;

  g_assert_no_error (local_error);
  assert_fails (mtl_strided_view_to_dlpack (part, MTL_DLPACK_FLAGS_NEVER_COPY, ANY_DEVICE, &error),
                MTL_ERROR_NEEDS_COPY, "");
  managed = export (empty, MTL_DLPACK_FLAGS_NEVER_COPY, ANY_DEVICE);
  managed->deleter (managed);
}

static void
test_negative_strides (void)
{
  const guint8 reversed_bytes[] = { 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8 };

  for (gsize j = 0; j < G_N_ELEMENTS (metal_modes); j++)
    {
      g_autoptr (MtlStridedView) view = new_range (DISCRETE, metal_modes[j]);
      g_autoptr (MtlStridedView) reversed = slice (view, ":, ::-1");
      gpointer handle = mtl_buffer_get_handle (mtl_strided_view_get_buffer (view));
      DLManagedTensorVersioned *managed;
      g_autoptr (MtlStridedView) copy = NULL;
      g_autoptr (GError) local_error = NULL;

      assert_fails (mtl_strided_view_to_dlpack (reversed, MTL_DLPACK_FLAGS_NEVER_COPY, ANY_DEVICE,
                                                &error), MTL_ERROR_NEEDS_COPY, "(4, -1)");

      managed = export (reversed,
                        MTL_DLPACK_FLAGS_NEVER_COPY | MTL_DLPACK_FLAGS_NEGATIVE_STRIDES,
                        ANY_DEVICE);
      g_assert_true (managed->dl_tensor.data == handle);
      g_assert_cmpuint (managed->dl_tensor.byte_offset, ==, 4 + 3);
      assert_dims (managed->dl_tensor.strides, managed->dl_tensor.ndim, 4, -1);
      managed->deleter (managed);

      managed = export (reversed, MTL_DLPACK_FLAGS_NONE, ANY_DEVICE);
      g_assert_cmphex (managed->flags, ==, DL_IS_COPIED);
      g_assert_true (managed->dl_tensor.data != handle);
      assert_dims (managed->dl_tensor.strides, managed->dl_tensor.ndim, 4, 1);
      copy = mtl_strided_view_new_take_dlpack (managed, &local_error);
      g_assert_no_error (local_error);
      g_assert_cmpint (mtl_buffer_get_storage_mode (mtl_strided_view_get_buffer (copy)), ==,
                       metal_modes[j]);
      assert_buffer_bytes (mtl_strided_view_get_buffer (copy), 0, reversed_bytes, 12);
    }
}

static void
test_empty (void)
{
  for (gsize j = 0; j < G_N_ELEMENTS (metal_modes); j++)
    {
      g_autoptr (MtlStridedView) view = new_range (UNIFIED, metal_modes[j]);
      g_autoptr (MtlStridedView) empty = slice (view, "::-1, 4:");
      g_autoptr (MtlStridedView) back = NULL;
      g_autoptr (GError) error = NULL;
      DLManagedTensorVersioned *managed = export (empty, MTL_DLPACK_FLAGS_NEVER_COPY, ANY_DEVICE);

      g_assert_cmpint (managed->dl_tensor.device.device_type, ==, 8);
      g_assert_cmpuint (managed->dl_tensor.byte_offset, ==, 0);
      assert_dims (managed->dl_tensor.shape, managed->dl_tensor.ndim, 3, 0);
      assert_dims (managed->dl_tensor.strides, managed->dl_tensor.ndim, 1, 1);
      back = mtl_strided_view_new_take_dlpack (managed, &error);
      g_assert_no_error (error);
      assert_view_shape (back, 3, 0);

      managed = export (empty, MTL_DLPACK_FLAGS_NONE, HOST);
      g_assert_null (managed->dl_tensor.data);
      managed->deleter (managed);
    }
}

static void
test_no_memory (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = mtl_strided_view_new_zeros (get_metal (DISCRETE),
                                                                MTL_DTYPE_FLOAT32, DIMS (0, 3),
                                                                MTL_STORAGE_MODE_DEFAULT, &error);
  DLManagedTensorVersioned *managed;

  g_assert_no_error (error);
  managed = export (view, MTL_DLPACK_FLAGS_COPY, ANY_DEVICE);
  assert_dims (managed->dl_tensor.shape, managed->dl_tensor.ndim, 0, 3);
  managed->deleter (managed);
}

static gpointer
delete (gpointer data)
{
  DLManagedTensorVersioned *managed = data;

  managed->deleter (managed);
  return NULL;
}

/* The tensor alone keeps the memory, to a deleter on a thread that knows
 * nothing of Metal. */
static void
test_deleter_on_thread (void)
{
  for (gsize j = 0; j < G_N_ELEMENTS (metal_modes); j++)
    {
      MtlStridedView *view = new_range (DISCRETE, metal_modes[j]);
      size_t n_buffers = metal_double_live ("buffer");
      DLManagedTensorVersioned *managed = export (view, MTL_DLPACK_FLAGS_NONE, ANY_DEVICE);
      guint8 bytes[12];

      g_assert_finalize_object (view);
      g_assert_cmpuint (metal_double_live ("buffer"), ==, n_buffers);
      metal_fixture_peek (managed->dl_tensor.data, managed->dl_tensor.byte_offset, bytes, 12);
      g_assert_cmpmem (bytes, 12, range, 12);

      g_thread_join (g_thread_new ("delete", delete, managed));
      g_assert_cmpuint (metal_double_live ("buffer"), ==, n_buffers - 1);
    }
}

/* An export costs no reference of Metal's, as the memory holds one; and what a
 * consumer keeps beyond the deleter is its own. */
static void
test_references (void)
{
  MtlStridedView *view = new_range (UNIFIED, MTL_STORAGE_MODE_SHARED);
  gpointer handle = mtl_buffer_get_handle (mtl_strided_view_get_buffer (view));
  DLManagedTensorVersioned *first = export (view, MTL_DLPACK_FLAGS_NONE, ANY_DEVICE);
  DLManagedTensorVersioned *second = export (view, MTL_DLPACK_FLAGS_NONE, ANY_DEVICE);

  metal_fixture_retain (handle);
  first->dl_tensor.shape[0] = 77;
  g_assert_cmpint (second->dl_tensor.shape[0], ==, 3);
  first->deleter (first);
  g_assert_finalize_object (view);
  second->deleter (second);
  assert_references (handle, 1);
  metal_fixture_release (handle);
}

/* Managed memory is brought up to date if it goes out as the host's; as the GPU's, it need not
 * be. */
static void
test_managed_is_up_to_date (void)
{
  g_autoptr (MtlStridedView) view = new_range (DISCRETE, MTL_STORAGE_MODE_MANAGED);
  MtlBuffer *buffer = mtl_strided_view_get_buffer (view);
  unsigned n_before = metal_double_calls ("synchronizeResource:");
  DLManagedTensorVersioned *managed;

  run_on_gpu (METAL_FIXTURE_ADD, buffer, 4, 12, 100);
  managed = export (view, MTL_DLPACK_FLAGS_NONE, ANY_DEVICE);
  managed->deleter (managed);
  g_assert_cmpuint (metal_double_calls ("synchronizeResource:"), ==, n_before);

  managed = export (view, MTL_DLPACK_FLAGS_NONE, HOST);
  g_assert_cmpuint (metal_double_calls ("synchronizeResource:"), ==, n_before + 1);
  g_assert_cmpint (((guint8 *) managed->dl_tensor.data)[11], ==, 111);
  managed->deleter (managed);
}

static void
test_shared_is_not_synchronized (void)
{
  g_autoptr (MtlStridedView) view = new_range (UNIFIED, MTL_STORAGE_MODE_SHARED);
  unsigned n_commits = metal_double_calls ("commit");
  DLManagedTensorVersioned *managed = export (view, MTL_DLPACK_FLAGS_NONE, HOST);

  g_assert_cmpuint (metal_double_calls ("commit"), ==, n_commits);
  managed->deleter (managed);
}

static void
test_synchronize_fails (void)
{
  g_autoptr (MtlStridedView) view = new_range (DISCRETE, MTL_STORAGE_MODE_MANAGED);

  metal_double_fail_next_command_buffer (2);
  assert_fails (mtl_strided_view_to_dlpack (view, MTL_DLPACK_FLAGS_NONE, HOST, &error),
                MTL_ERROR_DEVICE, "2");
}

typedef struct
{
  MtlEvent *event;
  GCancellable *cancellable;
  MtlStridedView *view;
} Order;

static gpointer
write_and_signal (gpointer data)
{
  Order *order = data;

  g_usleep (30000);
  run_on_gpu (METAL_FIXTURE_FILL, mtl_strided_view_get_buffer (order->view), 4, 12, 9);
  mtl_event_signal (order->event, 5);
  return NULL;
}

static void
check_waits (MtlStridedView *view,
             MtlEvent       *event)
{
  Order order = { event, NULL, view };
  GThread *thread = g_thread_new ("signal", write_and_signal, &order);
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlDlpackTensor) tensor = NULL;
  g_autoptr (MtlStridedView) back = NULL;

  g_assert_true (mtl_event_wait (event, 5, -1, NULL, &error));
  tensor = mtl_strided_view_export_dlpack (view, MTL_DLPACK_FLAGS_NONE, HOST, &error);
  g_assert_no_error (error);
  back = mtl_strided_view_new_from_dlpack (tensor, &error);
  g_assert_no_error (error);
  assert_elements (back, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9);
  g_thread_join (thread);
}

static void
test_waits_for_event (void)
{
  for (gsize j = 0; j < G_N_ELEMENTS (metal_modes); j++)
    {
      g_autoptr (MtlStridedView) view = new_range (DISCRETE, metal_modes[j]);
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlEvent) of_device = mtl_event_new (get_metal (DISCRETE), &error);
      g_autoptr (MtlEvent) of_host = mtl_event_new (mtl_device_get_host (), &error);

      g_assert_no_error (error);
      check_waits (view, of_device);
      check_waits (view, of_host);
    }
}

/* The GPU itself says when it is done. */
static void
test_waits_for_gpu (void)
{
  g_autoptr (MtlStridedView) view = new_range (DISCRETE, MTL_STORAGE_MODE_MANAGED);
  gpointer handle = mtl_buffer_get_handle (mtl_strided_view_get_buffer (view));
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlEvent) event = mtl_event_new (get_metal (DISCRETE), &error);
  g_autoptr (MtlDlpackTensor) tensor = NULL;
  g_autoptr (MtlStridedView) back = NULL;
  MetalFixtureRun *run;

  g_assert_no_error (error);
  run = metal_fixture_submit (METAL_FIXTURE_FILL, handle, 4, 12, 9, NULL, 0,
                              mtl_event_get_handle (event), 1);
  metal_fixture_go (run);
  g_assert_true (mtl_event_wait (event, 1, -1, NULL, &error));
  tensor = mtl_strided_view_export_dlpack (view, MTL_DLPACK_FLAGS_NONE, HOST, &error);
  g_assert_no_error (error);
  back = mtl_strided_view_new_from_dlpack (tensor, &error);
  assert_elements (back, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9);
  g_assert_true (metal_fixture_finish (run));
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  set_up_metal ();

  add_metal_test ("/MetalExport/strides", test_strides);
  add_metal_test ("/MetalExport/offset-of-slice", test_offset_of_slice);
  add_metal_test ("/MetalExport/alignment", test_alignment);
  add_double_test ("/MetalExport/alignment/for-others", test_alignment_for_others);
  add_metal_test ("/MetalExport/alignment/of-slice", test_alignment_of_slice);
  add_metal_test ("/MetalExport/negative-strides", test_negative_strides);
  add_metal_test ("/MetalExport/empty", test_empty);
  add_metal_test ("/MetalExport/no-memory", test_no_memory);
  add_double_test ("/MetalExport/deleter-on-thread", test_deleter_on_thread);
  add_metal_test ("/MetalExport/references", test_references);
  add_double_test ("/MetalExport/managed-is-up-to-date", test_managed_is_up_to_date);
  add_double_test ("/MetalExport/shared-is-not-synchronized", test_shared_is_not_synchronized);
  add_double_test ("/MetalExport/synchronize-fails", test_synchronize_fails);
  add_metal_test ("/MetalExport/waits-for-event", test_waits_for_event);
  add_metal_test ("/MetalExport/waits-for-gpu", test_waits_for_gpu);

  return g_test_run ();
}
