/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "dlpack-producer.h"

#include <mtldl/mtldl-dlpack.h>

#include "mtl-bindings-private.h"

#define ANY_DEVICE NULL

static MtlStridedView *
new_range (const gint64 *shape,
           gsize         n_dims)
{
  g_autoptr (GError) error = NULL;
  double values[] = { 0, 1, 2, 3, 4, 5 };
  MtlStridedView *view = mtl_strided_view_new_from_doubles (values, 6, MTL_DTYPE_FLOAT32, shape,
                                                            n_dims, &error);

  g_assert_no_error (error);
  return view;
}

static DLManagedTensorVersioned *
export (MtlStridedView *view,
        MtlDlpackFlags  flags)
{
  g_autoptr (GError) error = NULL;
  DLManagedTensorVersioned *managed = mtl_strided_view_to_dlpack (view, flags, ANY_DEVICE, &error);

  g_assert_no_error (error);
  return managed;
}

static void
test_versioned (void)
{
  g_autoptr (MtlStridedView) view = new_range (DIMS (2, 3));
  DLManagedTensorVersioned *managed = export (view, MTL_DLPACK_FLAGS_NONE);
  DLTensor *tensor = &managed->dl_tensor;

  g_assert_cmpuint (managed->version.major, ==, 1);
  g_assert_cmpuint (managed->version.minor, >=, 0);
  g_assert_cmphex (managed->flags, ==, 0);
  g_assert_true (tensor->data == mtl_strided_view_get_data (view));
  g_assert_cmpint (tensor->device.device_type, ==, 1);
  g_assert_cmpint (tensor->device.device_id, ==, 0);
  g_assert_cmpint (tensor->dtype.code, ==, 2);
  g_assert_cmpint (tensor->dtype.bits, ==, 32);
  g_assert_cmpint (tensor->dtype.lanes, ==, 1);
  g_assert_cmpuint (tensor->byte_offset, ==, 0);
  assert_dims (tensor->shape, tensor->ndim, 2, 3);
  assert_dims (tensor->strides, tensor->ndim, 3, 1);

  /* The export alone keeps the memory. */
  g_clear_object (&view);
  ((float *) tensor->data)[5] = 7;
  managed->deleter (managed);
}

static void
test_legacy (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = new_range (DIMS (2, 3));
  DLManagedTensor *managed = mtl_strided_view_to_dlpack_legacy (view, MTL_DLPACK_FLAGS_NONE, NULL,
                                                                &error);

  g_assert_no_error (error);
  g_assert_true (managed->dl_tensor.data == mtl_strided_view_get_data (view));
  assert_dims (managed->dl_tensor.shape, managed->dl_tensor.ndim, 2, 3);
  assert_dims (managed->dl_tensor.strides, managed->dl_tensor.ndim, 3, 1);
  g_clear_object (&view);
  ((float *) managed->dl_tensor.data)[5] = 7;
  managed->deleter (managed);
}

static void
test_tensor (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = new_range (DIMS (2, 3));
  g_autoptr (MtlDlpackTensor) tensor =
    mtl_strided_view_export_dlpack (view, MTL_DLPACK_FLAGS_NONE, NULL, &error);
  g_autoptr (MtlStridedView) back = NULL;

  g_assert_no_error (error);
  back = mtl_strided_view_new_from_dlpack (tensor, &error);
  g_assert_no_error (error);
  g_assert_true (mtl_strided_view_get_data (back) == mtl_strided_view_get_data (view));
  g_clear_object (&view);
  assert_elements (back, 0, 1, 2, 3, 4, 5);
}

/* Several importers ignore byte_offset: the address has it already. */
static void
test_offset_is_folded (void)
{
  g_autoptr (MtlStridedView) view = new_range (DIMS (2, 3));
  g_autoptr (MtlStridedView) part = slice (view, "1, 1:");
  DLManagedTensorVersioned *managed = export (part, MTL_DLPACK_FLAGS_NONE);

  g_assert_true (managed->dl_tensor.data
                 == (guint8 *) mtl_strided_view_get_data (view) + 4 * sizeof (float));
  g_assert_cmpuint (managed->dl_tensor.byte_offset, ==, 0);
  managed->deleter (managed);
}

static void
test_empty (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = new_range (DIMS (2, 3));
  g_autoptr (MtlStridedView) empty = slice (view, "::-1, 3:");
  g_autoptr (MtlStridedView) back = NULL;
  DLManagedTensorVersioned *managed = export (empty, MTL_DLPACK_FLAGS_NONE);

  g_assert_null (managed->dl_tensor.data);
  g_assert_cmpuint (managed->dl_tensor.byte_offset, ==, 0);
  assert_dims (managed->dl_tensor.shape, managed->dl_tensor.ndim, 2, 0);
  assert_dims (managed->dl_tensor.strides, managed->dl_tensor.ndim, 1, 1);
  back = mtl_strided_view_new_take_dlpack (managed, &error);
  g_assert_no_error (error);
  assert_view_shape (back, 2, 0);
}

/* The offset is the largest that a layout can have, but there are no elements. */
static void
test_empty_far_away (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlBuffer) buffer = mtl_buffer_new (NULL, 8, MTL_STORAGE_MODE_HOST, &error);
  g_autoptr (MtlStridedLayout) far = mtl_strided_layout_new (DIMS (3), DIMS (POW2 (61)), 4, &error);
  g_autoptr (MtlStridedLayout) last = mtl_strided_layout_slice_string (far, "2:", &error);
  g_autoptr (MtlStridedLayout) none = mtl_strided_layout_slice_string (last, "0:0", &error);
  g_autoptr (MtlStridedView) view = mtl_strided_view_new (buffer, none, MTL_DTYPE_FLOAT4_E2M1FN, 0,
                                                          &error);
  DLManagedTensorVersioned *managed;

  g_assert_no_error (error);
  managed = export (view, MTL_DLPACK_FLAGS_NONE);
  g_assert_null (managed->dl_tensor.data);
  managed->deleter (managed);
}

static void
test_scalar (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = new_range (DIMS (2, 3));
  g_autoptr (MtlStridedView) scalar = slice (view, "1, 0");
  DLManagedTensorVersioned *managed = export (scalar, MTL_DLPACK_FLAGS_NONE);
  g_autoptr (MtlStridedView) back = NULL;

  g_assert_cmpint (managed->dl_tensor.ndim, ==, 0);
  managed->dl_tensor.shape = NULL;
  managed->dl_tensor.strides = NULL;
  back = mtl_strided_view_new_take_dlpack (managed, &error);
  g_assert_no_error (error);
  assert_elements (back, 3);
}

static void
test_negative_strides (void)
{
  g_autoptr (MtlStridedView) view = new_range (DIMS (2, 3));
  g_autoptr (MtlStridedView) reversed = slice (view, "::-1");
  DLManagedTensorVersioned *managed;
  const float expected[] = { 3, 4, 5, 0, 1, 2 };

  assert_fails (mtl_strided_view_to_dlpack (reversed, MTL_DLPACK_FLAGS_NEVER_COPY, ANY_DEVICE,
                                            &error), MTL_ERROR_NEEDS_COPY, "(-3, 1)");
  assert_fails (mtl_strided_view_to_dlpack_legacy (reversed, MTL_DLPACK_FLAGS_NEVER_COPY,
                                                   ANY_DEVICE, &error),
                MTL_ERROR_NEEDS_COPY, "(-3, 1)");

  managed = export (reversed, MTL_DLPACK_FLAGS_NONE);
  g_assert_cmphex (managed->flags, ==, DL_IS_COPIED);
  assert_dims (managed->dl_tensor.strides, managed->dl_tensor.ndim, 3, 1);
  g_assert_cmpmem (managed->dl_tensor.data, sizeof expected, expected, sizeof expected);
  managed->deleter (managed);

  managed = export (reversed, MTL_DLPACK_FLAGS_NEGATIVE_STRIDES | MTL_DLPACK_FLAGS_NEVER_COPY);
  g_assert_cmphex (managed->flags, ==, 0);
  assert_dims (managed->dl_tensor.strides, managed->dl_tensor.ndim, -3, 1);
  g_assert_true (((float *) managed->dl_tensor.data)[0] == 3);
  managed->deleter (managed);
}

/* Strides that say nothing false go out as they are. */
static void
test_odd_strides (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = new_range (DIMS (1, 6));
  g_autoptr (MtlStridedView) repeated = mtl_strided_view_broadcast_to (view, DIMS (4, 6), &error);
  g_autoptr (MtlStridedLayout) layout = mtl_strided_layout_new (DIMS (1, 2, 1), DIMS (99, 3, -5),
                                                                32, &error);
  g_autoptr (MtlStridedView) single =
    mtl_strided_view_new (mtl_strided_view_get_buffer (view), layout, MTL_DTYPE_FLOAT32, 0, &error);
  DLManagedTensorVersioned *managed;

  g_assert_no_error (error);
  managed = export (repeated, MTL_DLPACK_FLAGS_NEVER_COPY);
  assert_dims (managed->dl_tensor.strides, managed->dl_tensor.ndim, 0, 1);
  managed->deleter (managed);

  /* A negative one, which is never walked, would only make importers refuse. */
  managed = export (single, MTL_DLPACK_FLAGS_NEVER_COPY);
  g_assert_cmpint (managed->dl_tensor.strides[0], ==, 99);
  g_assert_cmpint (managed->dl_tensor.strides[1], ==, 3);
  g_assert_cmpint (managed->dl_tensor.strides[2], >=, 0);
  managed->deleter (managed);
}

static void
test_read_only (void)
{
  g_autoptr (MtlStridedView) view = new_range (DIMS (2, 3));
  g_autoptr (MtlStridedView) locked = mtl_strided_view_as_read_only (view);
  g_autoptr (GError) local_error = NULL;
  DLManagedTensorVersioned *managed;
  DLManagedTensor *legacy;

  assert_fails (mtl_strided_view_to_dlpack_legacy (locked, MTL_DLPACK_FLAGS_NONE, NULL, &error),
                MTL_ERROR_READ_ONLY, "1.0");

  managed = export (locked, MTL_DLPACK_FLAGS_NONE);
  g_assert_cmphex (managed->flags, ==, DL_READ_ONLY);
  g_assert_true (managed->dl_tensor.data == mtl_strided_view_get_data (view));
  managed->deleter (managed);

  /* A copy is the consumer's own. */
  managed = export (locked, MTL_DLPACK_FLAGS_COPY);
  g_assert_cmphex (managed->flags, ==, DL_IS_COPIED);
  managed->deleter (managed);
  legacy = mtl_strided_view_to_dlpack_legacy (locked, MTL_DLPACK_FLAGS_COPY, ANY_DEVICE,
                                              &local_error);
  g_assert_no_error (local_error);
  g_assert_true (legacy->dl_tensor.data != mtl_strided_view_get_data (view));
  legacy->deleter (legacy);
}

static void
test_read_only_comes_back (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = g_bytes_new_static ("abcd", 4);
  g_autoptr (MtlStridedView) view =
    mtl_strided_view_new_from_bytes (bytes, MTL_DTYPE_UINT8, DIMS (4), &error);
  g_autoptr (MtlStridedView) back =
    mtl_strided_view_new_take_dlpack (export (view, MTL_DLPACK_FLAGS_NONE), &error);

  g_assert_no_error (error);
  g_assert_true (mtl_strided_view_is_read_only (back));
}

static void
test_copy (void)
{
  g_autoptr (MtlStridedView) view = new_range (DIMS (2, 3));
  DLManagedTensorVersioned *managed = export (view, MTL_DLPACK_FLAGS_COPY);

  g_assert_true (managed->dl_tensor.data != mtl_strided_view_get_data (view));
  g_assert_cmpmem (managed->dl_tensor.data, 24, mtl_strided_view_get_data (view), 24);
  g_assert_cmpuint ((guintptr) managed->dl_tensor.data % 64, ==, 0);
  ((float *) managed->dl_tensor.data)[0] = 9;
  assert_elements (view, 0, 1, 2, 3, 4, 5);
  managed->deleter (managed);

  assert_fails (mtl_strided_view_to_dlpack (view,
                                            MTL_DLPACK_FLAGS_COPY | MTL_DLPACK_FLAGS_NEVER_COPY,
                                            ANY_DEVICE, &error),
                MTL_ERROR_INVALID_ARGUMENT, "0x3");
}

static void
test_device_request (void)
{
  Producer producer; /* outlives its view */
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlStridedView) view = new_range (DIMS (2, 3));
  g_autoptr (MtlStridedView) foreign = NULL;
  DLManagedTensorVersioned *managed =
    mtl_strided_view_to_dlpack (view, MTL_DLPACK_FLAGS_NONE, mtl_device_get_host (), &local_error);
  MtlDevice *device;

  g_assert_no_error (local_error);
  g_assert_true (managed->dl_tensor.data == mtl_strided_view_get_data (view));
  managed->deleter (managed);

  /* The library cannot bring anything there. */
  producer_init (&producer);
  producer.versioned.dl_tensor.device = (DLDevice) { MTL_DEVICE_TYPE_ROCM, 2 };
  foreign = mtl_strided_view_new_take_dlpack (&producer.versioned, &local_error);
  g_assert_no_error (local_error);
  device = mtl_strided_view_get_device (foreign);
  assert_fails (mtl_strided_view_to_dlpack (view, MTL_DLPACK_FLAGS_NONE, device, &error),
                MTL_ERROR_NOT_SUPPORTED, "(10, 2)");
  assert_fails (mtl_strided_view_to_dlpack (view, MTL_DLPACK_FLAGS_COPY, device, &error),
                MTL_ERROR_NOT_SUPPORTED, "(10, 2)");
  assert_fails (mtl_strided_view_to_dlpack_legacy (view, MTL_DLPACK_FLAGS_NEVER_COPY, device,
                                                   &error),
                MTL_ERROR_NOT_SUPPORTED, "(10, 2)");
}

/* Element types that the library does not know are passed on as they came. */
static void
test_element_types (void)
{
  static const struct { DLDataType type; guint64 flags; } cases[] = {
    { { 6, 8, 1 }, 0 }, { { 17, 4, 2 }, 0 }, { { 17, 4, 1 }, 0 }, { { 17, 4, 1 }, DL_PADDED },
    { { 0, 4, 1 }, 0 }, { { 1, 4, 2 }, 0 }, { { 0, 4, 1 }, DL_PADDED }, { { 1, 2, 1 }, 0 },
    { { 2, 32, 2 }, 0 }, { { 4, 16, 1 }, 0 }, { { 2, 80, 1 }, 0 }, { { 200, 24, 3 }, 0 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) local_error = NULL;
      Producer producer;
      g_autoptr (MtlStridedView) view = NULL;
      DLManagedTensorVersioned *managed;

      producer_init (&producer);
      producer.versioned.dl_tensor.dtype = cases[i].type;
      producer.versioned.flags = cases[i].flags;
      view = mtl_strided_view_new_take_dlpack (&producer.versioned, &local_error);
      g_assert_no_error (local_error);

      managed = export (view, MTL_DLPACK_FLAGS_NONE);
      g_assert_cmpmem (&managed->dl_tensor.dtype, 4, &cases[i].type, 4);
      g_assert_cmphex (managed->flags, ==, cases[i].flags);
      g_assert_true (managed->dl_tensor.data == producer.data);
      managed->deleter (managed);

      if (cases[i].flags & DL_PADDED)
        assert_fails (mtl_strided_view_to_dlpack_legacy (view, MTL_DLPACK_FLAGS_NONE, NULL, &error),
                      MTL_ERROR_NOT_SUPPORTED, "4");
    }
}

static void
test_within_a_byte (void)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static ("\x21\x43", 2);
  g_autoptr (MtlStridedView) view =
    mtl_strided_view_new_from_bytes (bytes, MTL_DTYPE_FLOAT4_E2M1FN, DIMS (4), NULL);
  g_autoptr (MtlStridedView) odd = slice (view, "1:");
  g_autoptr (MtlStridedView) even = slice (view, "2:");
  DLManagedTensorVersioned *managed = export (even, MTL_DLPACK_FLAGS_NONE);

  g_assert_true (managed->dl_tensor.data
                 == (const guint8 *) g_bytes_get_data (bytes, NULL) + 1);
  managed->deleter (managed);

  managed = export (odd, MTL_DLPACK_FLAGS_NONE);
  g_assert_cmphex (managed->flags, ==, DL_IS_COPIED);
  g_assert_cmpmem (managed->dl_tensor.data, 2, "\x32\x04", 2);
  managed->deleter (managed);
  assert_fails (mtl_strided_view_to_dlpack (odd, MTL_DLPACK_FLAGS_NEVER_COPY, ANY_DEVICE, &error),
                MTL_ERROR_NEEDS_COPY, "(1,) & 4");
}

/* Some consumers write to shape and strides: each export has its own. */
static void
test_independent (void)
{
  g_autoptr (MtlStridedView) view = new_range (DIMS (2, 3));
  DLManagedTensorVersioned *a = export (view, MTL_DLPACK_FLAGS_NONE);
  DLManagedTensorVersioned *b = export (view, MTL_DLPACK_FLAGS_NONE);

  g_assert_true (a != b);
  g_assert_true (a->dl_tensor.shape != b->dl_tensor.shape);
  a->dl_tensor.shape[0] = 100;
  a->dl_tensor.strides[1] = 100;
  a->dl_tensor.shape = NULL;
  a->dl_tensor.strides = NULL;
  assert_dims (b->dl_tensor.shape, 2, 2, 3);
  assert_dims (b->dl_tensor.strides, 2, 3, 1);
  assert_view_shape (view, 2, 3);
  assert_view_strides (view, 3, 1);
  a->deleter (a);
  g_clear_object (&view);
  g_assert_true (((float *) b->dl_tensor.data)[5] == 5);
  b->deleter (b);
}

static gpointer
run_deleter (gpointer data)
{
  DLManagedTensorVersioned *managed = data;

  managed->deleter (managed);
  return NULL;
}

static void
test_deleted_on_thread (void)
{
  g_autoptr (GError) error = NULL;
  int n_destroyed = 0;
  guint8 data[4] = { 0 };
  g_autoptr (MtlStridedLayout) layout = mtl_strided_layout_new (DIMS (4), NULL, 0, 8, &error);
  MtlBuffer *buffer = mtl_buffer_new_for_data (data, 4, NULL, MTL_BUFFER_FLAGS_NONE, count_call,
                                               &n_destroyed, &error);
  MtlStridedView *view = mtl_strided_view_new (buffer, layout, MTL_DTYPE_UINT8, 0, &error);
  DLManagedTensorVersioned *managed = export (view, MTL_DLPACK_FLAGS_NONE);
  GThread *thread;

  g_object_unref (buffer);
  g_assert_finalize_object (view);
  g_assert_cmpint (n_destroyed, ==, 0);
  thread = g_thread_new ("delete", run_deleter, managed);
  g_thread_join (thread);
  g_assert_cmpint (n_destroyed, ==, 1);
}

static MtlStridedView *
import_foreign (Producer *producer,
                int       device_type,
                int       device_id)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *view;

  producer_init (producer);
  producer->versioned.dl_tensor.device = (DLDevice) { device_type, device_id };
  producer->versioned.dl_tensor.data = (void *) 4096;
  producer->versioned.dl_tensor.byte_offset = 64;
  view = mtl_strided_view_new_take_dlpack (&producer->versioned, &error);
  g_assert_no_error (error);
  return view;
}

/* An address takes the offset in; a handle keeps it beside. */
static void
test_foreign (void)
{
  static const struct { int type; gboolean is_address; } cases[] = {
    { 2, TRUE }, { 10, TRUE }, { 14, TRUE }, { 4, FALSE }, { 7, FALSE }, { 77, FALSE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      Producer producer;
      g_autoptr (MtlStridedView) view = import_foreign (&producer, cases[i].type, 6);
      g_autoptr (MtlStridedView) row = slice (view, "1");
      DLManagedTensorVersioned *managed = export (row, MTL_DLPACK_FLAGS_NEVER_COPY);
      g_autofree char *named = g_strdup_printf ("(%d, 6)", cases[i].type);

      g_assert_cmpint (managed->dl_tensor.device.device_type, ==, cases[i].type);
      g_assert_cmpint (managed->dl_tensor.device.device_id, ==, 6);
      g_assert_cmpuint ((guintptr) managed->dl_tensor.data, ==, cases[i].is_address ? 4172 : 4096);
      g_assert_cmpuint (managed->dl_tensor.byte_offset, ==, cases[i].is_address ? 0 : 76);
      managed->deleter (managed);

      assert_fails (mtl_strided_view_to_dlpack (view, MTL_DLPACK_FLAGS_COPY, ANY_DEVICE, &error),
                    MTL_ERROR_NOT_HOST_ACCESSIBLE, named);
      assert_fails (mtl_strided_view_to_dlpack (view, MTL_DLPACK_FLAGS_NONE, mtl_device_get_host (),
                                                &error),
                    MTL_ERROR_NOT_SUPPORTED, named);
      g_assert_cmpint (producer.n_deleted, ==, 0);
      g_clear_object (&row);
      g_clear_object (&view);
      g_assert_cmpint (producer.n_deleted, ==, 1);
    }
}

/* Memory of Metal where there is no Metal: nothing can copy it, so it is passed on as it is. */
static void
test_foreign_metal (void)
{
  Producer producer; /* outlives the view */
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = NULL;
  DLManagedTensorVersioned *managed;

  producer_init (&producer);
  producer.versioned.dl_tensor.device = (DLDevice) { MTL_DEVICE_TYPE_METAL, 0 };
  producer.versioned.dl_tensor.data = (void *) 4104;
  producer.versioned.dl_tensor.byte_offset = 66;
  producer.versioned.flags = DL_READ_ONLY;
  view = mtl_strided_view_new_take_dlpack (&producer.versioned, &error);
  if (g_error_matches (error, MTL_ERROR, MTL_ERROR_INVALID_DATA))
    {
      g_test_skip ("This library has Metal, for which 4104 is no object");
      return;
    }
  g_assert_no_error (error);

  managed = export (view, MTL_DLPACK_FLAGS_NONE);
  g_assert_cmphex (managed->flags, ==, DL_READ_ONLY);
  g_assert_cmpuint ((guintptr) managed->dl_tensor.data, ==, 4104);
  g_assert_cmpuint (managed->dl_tensor.byte_offset, ==, 66);
  managed->deleter (managed);
}

/* Pinned memory is the host's as well, and goes out as either. */
static void
test_pinned (void)
{
  g_autoptr (GError) local_error = NULL;
  Producer producer;
  g_autoptr (MtlStridedView) view = NULL;
  DLManagedTensorVersioned *managed;

  producer_init (&producer);
  producer.versioned.dl_tensor.device = (DLDevice) { 3, 0 };
  view = mtl_strided_view_new_take_dlpack (&producer.versioned, &local_error);
  managed = export (view, MTL_DLPACK_FLAGS_NONE);
  g_assert_cmpint (managed->dl_tensor.device.device_type, ==, 3);
  managed->deleter (managed);

  managed = mtl_strided_view_to_dlpack (view, MTL_DLPACK_FLAGS_NONE, mtl_device_get_host (),
                                        &local_error);
  g_assert_no_error (local_error);
  g_assert_cmpint (managed->dl_tensor.device.device_type, ==, 1);
  g_assert_true (managed->dl_tensor.data == producer.data);
  managed->deleter (managed);

  /* A copy is the host's own, and does not pass for pinned memory. */
  assert_fails (mtl_strided_view_to_dlpack (view, MTL_DLPACK_FLAGS_COPY,
                                            mtl_strided_view_get_device (view), &error),
                MTL_ERROR_NOT_SUPPORTED, "(3, 0)");
}

/* The description equals the tensor that goes out, but is the view's own. */
static void
test_describe (void)
{
  g_autoptr (MtlStridedView) view = new_range (DIMS (2, 3));
  g_autoptr (MtlStridedView) part = slice (view, "1:, ::2");
  g_autoptr (MtlStridedView) read_only = mtl_strided_view_as_read_only (part);
  g_autoptr (MtlStridedView) empty = slice (view, "2:");
  DLManagedTensorVersioned *managed = export (part, MTL_DLPACK_FLAGS_NONE);
  DLTensor tensor, *exported = &managed->dl_tensor;

  g_assert_cmphex (mtl_strided_view_describe (part, &tensor), ==, 0);
  g_assert_true (tensor.data == exported->data);
  g_assert_cmpuint (tensor.byte_offset, ==, 0);
  g_assert_cmpmem (&tensor.device, sizeof tensor.device, &exported->device, sizeof (DLDevice));
  g_assert_cmpmem (&tensor.dtype, sizeof tensor.dtype, &exported->dtype, sizeof (DLDataType));
  assert_dims (tensor.shape, tensor.ndim, 1, 2);
  assert_dims (tensor.strides, tensor.ndim, 3, 2);
  g_assert_true ((gpointer) tensor.shape == mtl_strided_view_get_shape (part, NULL));
  managed->deleter (managed);

  g_assert_cmphex (mtl_strided_view_describe (read_only, &tensor), ==, 1);
  g_assert_cmphex (mtl_strided_view_describe (empty, &tensor), ==, 0);
  g_assert_null (tensor.data);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/Dlpack/export/versioned", test_versioned);
  g_test_add_func ("/Dlpack/export/legacy", test_legacy);
  g_test_add_func ("/Dlpack/export/tensor", test_tensor);
  g_test_add_func ("/Dlpack/export/offset-is-folded", test_offset_is_folded);
  g_test_add_func ("/Dlpack/export/empty", test_empty);
  g_test_add_func ("/Dlpack/export/empty/far-away", test_empty_far_away);
  g_test_add_func ("/Dlpack/export/scalar", test_scalar);
  g_test_add_func ("/Dlpack/export/strides/negative", test_negative_strides);
  g_test_add_func ("/Dlpack/export/strides/odd", test_odd_strides);
  g_test_add_func ("/Dlpack/export/read-only", test_read_only);
  g_test_add_func ("/Dlpack/export/read-only/comes-back", test_read_only_comes_back);
  g_test_add_func ("/Dlpack/export/copy", test_copy);
  g_test_add_func ("/Dlpack/export/device-request", test_device_request);
  g_test_add_func ("/Dlpack/export/element-types", test_element_types);
  g_test_add_func ("/Dlpack/export/within-a-byte", test_within_a_byte);
  g_test_add_func ("/Dlpack/export/independent", test_independent);
  g_test_add_func ("/Dlpack/export/deleted-on-thread", test_deleted_on_thread);
  g_test_add_func ("/Dlpack/export/foreign", test_foreign);
  g_test_add_func ("/Dlpack/export/foreign/metal", test_foreign_metal);
  g_test_add_func ("/Dlpack/export/foreign/pinned", test_pinned);
  g_test_add_func ("/Dlpack/describe", test_describe);

  return g_test_run ();
}
