/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "dlpack-producer.h"

static MtlStridedView *
import (Producer *producer)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *view = mtl_strided_view_new_take_dlpack (&producer->versioned, &error);

  g_assert_no_error (error);
  return view;
}

static void
test_versioned (void)
{
  Producer producer;
  MtlStridedView *view;

  producer_init (&producer);
  view = import (&producer);
  g_assert_true (mtl_strided_view_get_data (view) == producer.data);
  g_assert_cmpint (mtl_strided_view_get_dtype (view), ==, MTL_DTYPE_FLOAT32);
  g_assert_true (mtl_strided_view_get_device (view) == mtl_device_get_host ());
  g_assert_false (mtl_strided_view_is_read_only (view));
  assert_view_shape (view, 2, 3);
  assert_view_strides (view, 3, 1);
  assert_elements (view, 0, 1, 2, 3, 4, 5);
  g_assert_true (mtl_strided_view_set_double (view, DIMS (1, 2), 55, NULL));
  g_assert_true (producer.data[5] == 55);
  g_assert_cmpint (producer.n_deleted, ==, 0);
  g_assert_finalize_object (view);
  g_assert_cmpint (producer.n_deleted, ==, 1);
}

static void
test_legacy (void)
{
  g_autoptr (GError) error = NULL;
  Producer producer;
  MtlStridedView *view;

  producer_init (&producer);
  view = mtl_strided_view_new_take_dlpack_legacy (&producer.legacy, &error);
  g_assert_no_error (error);
  assert_elements (view, 0, 1, 2, 3, 4, 5);
  g_assert_finalize_object (view);
  g_assert_cmpint (producer.n_deleted, ==, 1);
}

static void
test_no_deleter (void)
{
  Producer producer;

  producer_init (&producer);
  producer.versioned.deleter = NULL;
  producer.legacy.deleter = NULL;
  g_assert_finalize_object (import (&producer));
  g_assert_finalize_object (mtl_strided_view_new_take_dlpack_legacy (&producer.legacy, NULL));
  g_assert_cmpint (producer.n_deleted, ==, 0);
}

/* Before DLPack 1.2, no strides mean C order. */
static void
test_no_strides (void)
{
  Producer producer;
  g_autoptr (MtlStridedView) view = NULL;

  producer_init (&producer);
  producer.versioned.dl_tensor.strides = NULL;
  view = import (&producer);
  assert_view_strides (view, 3, 1);
  assert_elements (view, 0, 1, 2, 3, 4, 5);
}

static void
test_byte_offset (void)
{
  Producer producer;
  g_autoptr (MtlStridedView) view = NULL;

  producer_init (&producer);
  producer.versioned.dl_tensor.byte_offset = 8;
  view = import (&producer);
  g_assert_true (mtl_strided_view_get_data (view) == producer.data + 2);
  assert_elements (view, 2, 3, 4, 5, 6, 7);
}

/* An offset that no element is aligned to. */
static void
test_byte_offset_unaligned (void)
{
  guint8 data[24];
  float value = 1.25;
  Producer producer;
  g_autoptr (MtlStridedView) view = NULL;

  producer_init (&producer);
  memcpy (data + 7, &value, sizeof value);
  producer.versioned.dl_tensor.data = data;
  producer.versioned.dl_tensor.byte_offset = 7;
  producer.versioned.dl_tensor.ndim = 0;
  view = import (&producer);
  assert_elements (view, 1.25);
}

static void
test_empty (void)
{
  Producer producer;
  g_autoptr (MtlStridedView) view = NULL;
  g_autoptr (MtlStridedView) copy = NULL;

  producer_init (&producer);
  producer.shape[0] = 0;
  producer.shape[1] = POW2 (62);
  producer.strides[0] = G_MININT64;
  producer.versioned.dl_tensor.data = NULL;
  producer.versioned.dl_tensor.byte_offset = G_MAXUINT64;
  view = import (&producer);
  g_assert_true (mtl_strided_view_is_host_accessible (view));
  g_assert_null (mtl_strided_view_get_data (view));
  g_assert_cmpuint (mtl_buffer_get_size (mtl_strided_view_get_buffer (view)), ==, 0);
  copy = mtl_strided_view_copy (view, MTL_ORDER_C, NULL, NULL);
  assert_view_shape (copy, 0, POW2 (62));
}

static void
test_scalar (void)
{
  Producer producer;
  g_autoptr (MtlStridedView) view = NULL;

  producer_init (&producer);
  producer.versioned.dl_tensor.ndim = 0;
  producer.versioned.dl_tensor.shape = NULL;
  producer.versioned.dl_tensor.strides = NULL;
  producer.versioned.dl_tensor.byte_offset = 12;
  view = import (&producer);
  g_assert_cmpuint (mtl_strided_view_get_n_dims (view), ==, 0);
  assert_elements (view, 3);
}

static void
test_strides (void)
{
  Producer producer;
  g_autoptr (MtlStridedView) reversed = NULL;
  g_autoptr (MtlStridedView) repeated = NULL;
  g_autoptr (MtlStridedView) single = NULL;

  producer_init (&producer);
  producer.strides[0] = -3;
  producer.versioned.dl_tensor.byte_offset = 12;
  reversed = import (&producer);
  assert_elements (reversed, 3, 4, 5, 0, 1, 2);
  /* The buffer is what the elements reach, from the first byte on. */
  g_assert_true (mtl_buffer_get_contents (mtl_strided_view_get_buffer (reversed))
                 == producer.data);
  g_assert_cmpuint (mtl_buffer_get_size (mtl_strided_view_get_buffer (reversed)), ==, 24);
  g_assert_cmpuint (mtl_strided_view_get_byte_offset (reversed), ==, 12);

  producer.strides[0] = 0;
  repeated = import (&producer);
  assert_view_strides (repeated, 0, 1);
  assert_elements (repeated, 3, 4, 5, 3, 4, 5);

  producer.shape[0] = 1;
  producer.strides[0] = 77;
  single = import (&producer);
  assert_view_strides (single, 77, 1);
  assert_elements (single, 3, 4, 5);
}

static void
test_read_only (void)
{
  Producer producer;
  g_autoptr (MtlStridedView) view = NULL;
  g_autoptr (GBytes) bytes = g_bytes_new_static ("x", 1);

  producer_init (&producer);
  producer.versioned.flags = DL_READ_ONLY;
  view = import (&producer);
  g_assert_true (mtl_strided_view_is_read_only (view));
  assert_refuses (mtl_strided_view_fill_double (view, 9, NULL, &error), MTL_ERROR_READ_ONLY,
                  "(2, 3)");
  assert_refuses (mtl_buffer_set_bytes (mtl_strided_view_get_buffer (view), 0, bytes, NULL, &error),
                  MTL_ERROR_READ_ONLY, "24");
  assert_elements (view, 0, 1, 2, 3, 4, 5);
}

/* Element types that a peer may have and this library may not. */
static void
test_element_types (void)
{
  static const struct
  {
    DLDataType type;
    guint64 flags;
    MtlDType dtype;
    guint item_bits;
  } cases[] = {
    { { 6, 8, 1 }, 0, MTL_DTYPE_BOOL, 8 },
    { { 17, 4, 2 }, 0, MTL_DTYPE_FLOAT4_E2M1FN, 8 },
    { { 17, 4, 1 }, 0, MTL_DTYPE_FLOAT4_E2M1FN, 4 },
    { { 17, 4, 1 }, DL_PADDED, MTL_DTYPE_FLOAT4_E2M1FN, 8 },
    { { 15, 6, 1 }, 0, MTL_DTYPE_FLOAT6_E2M3FN, 6 },
    { { 0, 4, 1 }, 0, MTL_DTYPE_INT4, 4 },
    { { 1, 4, 2 }, 0, MTL_DTYPE_UINT4, 8 },
    { { 0, 2, 1 }, DL_PADDED, MTL_DTYPE_INT2, 8 },
    { { 1, 2, 1 }, 0, MTL_DTYPE_UINT2, 2 },
    { { 1, 1, 1 }, 0, MTL_DTYPE_OTHER, 1 },
    { { 0, 3, 1 }, 0, MTL_DTYPE_OTHER, 3 },
    { { 2, 32, 4 }, 0, MTL_DTYPE_FLOAT32, 128 },
    { { 2, 80, 1 }, 0, MTL_DTYPE_OTHER, 80 },
    { { 18, 32, 1 }, 0, MTL_DTYPE_OTHER, 32 },
    { { 255, 255, 65535 }, 0, MTL_DTYPE_OTHER, 255 * 65535 },
    { { 3, 64, 1 }, 0, MTL_DTYPE_OPAQUE_HANDLE64, 64 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      Producer producer;
      g_autoptr (MtlStridedView) view = NULL;
      g_autofree char *text = NULL;

      producer_init (&producer);
      producer.versioned.dl_tensor.dtype = cases[i].type;
      producer.versioned.flags = cases[i].flags;
      view = import (&producer);
      g_assert_cmpint (mtl_strided_view_get_dtype (view), ==, cases[i].dtype);
      g_assert_cmpuint (mtl_strided_view_get_lanes (view), ==, cases[i].type.lanes);
      g_assert_true (mtl_strided_view_is_padded (view) == (cases[i].flags != 0));
      g_assert_cmpuint (mtl_strided_layout_get_item_bits (mtl_strided_view_get_layout (view)), ==,
                        cases[i].item_bits);
      text = mtl_strided_view_to_string (view);
      g_assert_nonnull (text);
    }
}

/* Whatever its size: nothing is allocated for a copy that cannot be made. */
static void
test_foreign_copy (void)
{
  Producer producer;
  g_autoptr (MtlStridedView) view = NULL;
  MtlBuffer *buffer;

  producer_init (&producer);
  producer.versioned.dl_tensor.device = (DLDevice) { MTL_DEVICE_TYPE_ROCM, 0 };
  producer.versioned.dl_tensor.data = (void *) 16;
  producer.shape[0] = G_GINT64_CONSTANT (1) << 44;
  view = import (&producer);
  buffer = mtl_strided_view_get_buffer (view);

  assert_fails (mtl_buffer_copy (buffer, NULL, &error), MTL_ERROR_NOT_HOST_ACCESSIBLE, "(10, 0)");
  assert_fails (mtl_buffer_dup_bytes (buffer, 0, mtl_buffer_get_size (buffer), NULL, &error),
                MTL_ERROR_NOT_HOST_ACCESSIBLE, "(10, 0)");
}

/* Memory of a device without a backend: described and passed on. The address
 * would trap if anybody looked. */
static void
test_foreign (void)
{
  static const struct { int type, ordinal; MtlDeviceType known; } cases[] = {
    { 10, 3, MTL_DEVICE_TYPE_ROCM },
    { 4, 0, MTL_DEVICE_TYPE_OPENCL },
    { 7, 1, MTL_DEVICE_TYPE_VULKAN },
    { 19, 0, MTL_DEVICE_TYPE_UNKNOWN },
    { 77, 9, MTL_DEVICE_TYPE_UNKNOWN },
    { -5, -1, MTL_DEVICE_TYPE_UNKNOWN },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      Producer producer;
      MtlStridedView *view;
      MtlBuffer *buffer;
      g_autoptr (MtlDevice) device = NULL;
      g_autofree char *named = g_strdup_printf ("(%d, %d)", cases[i].type, cases[i].ordinal);
      g_autofree char *text = NULL;

      producer_init (&producer);
      producer.versioned.dl_tensor.device = (DLDevice) { cases[i].type, cases[i].ordinal };
      producer.versioned.dl_tensor.data = (void *) 16;
      producer.versioned.dl_tensor.byte_offset = 100;
      view = import (&producer);
      device = g_object_ref (mtl_strided_view_get_device (view));
      buffer = mtl_strided_view_get_buffer (view);

      g_assert_cmpint (mtl_device_get_device_type (mtl_strided_view_get_device (view)), ==,
                       cases[i].known);
      g_assert_cmpint (mtl_device_get_ordinal (mtl_strided_view_get_device (view)), ==,
                       cases[i].ordinal);
      g_assert_false (mtl_strided_view_is_host_accessible (view));
      g_assert_null (mtl_strided_view_get_data (view));
      g_assert_cmpint (mtl_device_get_device_type (device), ==, cases[i].known);
      g_assert_cmpint (mtl_device_get_ordinal (device), ==, cases[i].ordinal);
      g_assert_true (mtl_strided_view_get_device (view) == device);
      g_assert_true (mtl_buffer_get_device (buffer) == device);
      g_assert_cmpint (mtl_buffer_get_storage_mode (buffer), ==, MTL_STORAGE_MODE_FOREIGN);
      g_assert_false (mtl_buffer_is_size_known (buffer));
      g_assert_cmpuint (mtl_buffer_get_size (buffer), ==, 124);
      g_assert_true (mtl_buffer_is_device_accessible (buffer));
      g_assert_true (mtl_buffer_get_handle (buffer) == (gpointer) 16);
      g_assert_cmpuint (mtl_strided_view_get_byte_offset (view), ==, 100);

      assert_fails (mtl_strided_view_copy (view, MTL_ORDER_C, NULL, &error),
                    MTL_ERROR_NOT_HOST_ACCESSIBLE, named);
      assert_fails (mtl_strided_view_get_bytes (view, &error),
                    MTL_ERROR_NOT_HOST_ACCESSIBLE, named);
      assert_fails (mtl_strided_view_new_zeros_like (view, &error), MTL_ERROR_NOT_SUPPORTED, named);
      assert_fails (mtl_buffer_dup_bytes (buffer, 0, 8, NULL, &error),
                    MTL_ERROR_NOT_HOST_ACCESSIBLE, named);
      assert_fails (mtl_buffer_new (device, 8, MTL_STORAGE_MODE_HOST, &error),
                    MTL_ERROR_NOT_SUPPORTED, named);
      assert_refuses (mtl_strided_view_fill_double (view, 1, NULL, &error),
                      MTL_ERROR_NOT_HOST_ACCESSIBLE, named);
      text = mtl_strided_view_to_string (view);
      g_assert_true (strstr (text, named) != NULL);

      g_assert_finalize_object (view);
      g_assert_cmpint (producer.n_deleted, ==, 1);
    }
}

/* Memory of other devices that the host does reach. */
/* Its driver knows that memory of these tests is not pinned. */
static gboolean
has_cuda (void)
{
  return mtl_device_get_device_type (mtl_device_get_default ()) == MTL_DEVICE_TYPE_CUDA;
}

static void
test_pinned (void)
{
  const int types[] = { 11, 3, 13 };
  const gsize n_types = has_cuda () ? 1 : G_N_ELEMENTS (types);

  for (gsize i = 0; i < n_types; i++)
    {
      Producer producer;
      g_autoptr (MtlStridedView) view = NULL;

      producer_init (&producer);
      producer.versioned.dl_tensor.device = (DLDevice) { types[i], 0 };
      view = import (&producer);
      g_assert_true (mtl_strided_view_is_host_accessible (view));
      g_assert_cmpint (mtl_device_get_device_type (mtl_strided_view_get_device (view)), ==,
                       types[i]);
      assert_elements (view, 0, 1, 2, 3, 4, 5);
    }
}

/* The largest byte offset that a handle can have, and the next. */
static void
test_foreign_far_away (void)
{
  Producer producer;
  g_autoptr (MtlStridedView) view = NULL;

  producer_init (&producer);
  producer.versioned.dl_tensor.device = (DLDevice) { 4, 0 };
  producer.versioned.dl_tensor.ndim = 0;
  producer.versioned.dl_tensor.byte_offset = G_MAXINT64 - 4;
  view = import (&producer);
  g_assert_cmpuint (mtl_strided_view_get_byte_offset (view), ==, G_MAXINT64 - 4);

  for (guint64 offset = G_MAXINT64 - 3; offset <= (guint64) G_MAXINT64 + 1; offset++)
    {
      g_autofree char *value = g_strdup_printf ("%" G_GUINT64_FORMAT, offset);

      producer.versioned.dl_tensor.byte_offset = offset;
      assert_fails (mtl_strided_view_new_take_dlpack (&producer.versioned, &error),
                    MTL_ERROR_OVERFLOW, value);
    }
}

/* A view of a buffer of unknown size is not checked against it, but its offsets still have to be
 * numbers. */
static void
test_foreign_view (void)
{
  Producer producer;
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlStridedView) view = NULL;
  g_autoptr (MtlStridedView) wide = NULL;
  g_autoptr (MtlStridedLayout) layout = mtl_strided_layout_new (DIMS (1000), NULL, 0, 32, NULL);
  g_autoptr (MtlStridedLayout) far = mtl_strided_layout_new (DIMS (2), DIMS (POW2 (61)), 32, NULL);
  MtlBuffer *buffer;

  producer_init (&producer);
  producer.versioned.dl_tensor.device = (DLDevice) { 4, 0 };
  view = import (&producer);
  buffer = mtl_strided_view_get_buffer (view);
  wide = mtl_strided_view_new (buffer, layout, MTL_DTYPE_FLOAT32, 64, &local_error);
  g_assert_no_error (local_error);
  assert_view_shape (wide, 1000);
  assert_fails (mtl_strided_view_new (buffer, far, MTL_DTYPE_FLOAT32, 0, &error),
                MTL_ERROR_OVERFLOW, "2305843009213693952");
}

/* A huge stride that is never walked, as some peers send. */
static void
test_unwalked_stride (void)
{
  Producer producer;
  g_autoptr (MtlStridedView) view = NULL;

  producer_init (&producer);
  producer.shape[1] = 1;
  producer.strides[1] = G_MAXINT64;
  view = import (&producer);
  assert_elements (view, 0, 3);
}

static gpointer
drop (gpointer view)
{
  g_object_unref (view);
  return NULL;
}

static void
test_deleted_on_thread (void)
{
  Producer producer;
  GThread *thread;

  producer_init (&producer);
  thread = g_thread_new ("drop", drop, import (&producer));
  g_thread_join (thread);
  g_assert_cmpint (producer.n_deleted, ==, 1);
  g_assert_true (producer.deleted_by != g_thread_self ());
}

/* All that was derived holds the tensor; the last one lets it go. */
static void
test_deleted_last (void)
{
  Producer producer;
  MtlStridedView *view;
  g_autoptr (MtlStridedView) row = NULL;
  g_autoptr (MtlBuffer) buffer = NULL;
  g_autoptr (GBytes) bytes = NULL;

  producer_init (&producer);
  view = import (&producer);
  row = mtl_strided_view_select (view, 0, 1, NULL);
  buffer = g_object_ref (mtl_strided_view_get_buffer (view));
  bytes = mtl_strided_view_get_bytes (row, NULL);
  g_object_unref (view);
  g_clear_object (&row);
  g_clear_object (&buffer);
  g_assert_cmpint (producer.n_deleted, ==, 0);
  g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes),
                   producer.data + 3, 12);
  g_clear_pointer (&bytes, g_bytes_unref);
  g_assert_cmpint (producer.n_deleted, ==, 1);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/Dlpack/import/versioned", test_versioned);
  g_test_add_func ("/Dlpack/import/legacy", test_legacy);
  g_test_add_func ("/Dlpack/import/no-deleter", test_no_deleter);
  g_test_add_func ("/Dlpack/import/no-strides", test_no_strides);
  g_test_add_func ("/Dlpack/import/byte-offset", test_byte_offset);
  g_test_add_func ("/Dlpack/import/byte-offset/unaligned", test_byte_offset_unaligned);
  g_test_add_func ("/Dlpack/import/empty", test_empty);
  g_test_add_func ("/Dlpack/import/scalar", test_scalar);
  g_test_add_func ("/Dlpack/import/strides", test_strides);
  g_test_add_func ("/Dlpack/import/strides/unwalked", test_unwalked_stride);
  g_test_add_func ("/Dlpack/import/read-only", test_read_only);
  g_test_add_func ("/Dlpack/import/element-types", test_element_types);
  g_test_add_func ("/Dlpack/import/foreign", test_foreign);
  g_test_add_func ("/Dlpack/import/foreign/copy", test_foreign_copy);
  g_test_add_func ("/Dlpack/import/foreign/pinned", test_pinned);
  g_test_add_func ("/Dlpack/import/foreign/far-away", test_foreign_far_away);
  g_test_add_func ("/Dlpack/import/foreign/view", test_foreign_view);
  g_test_add_func ("/Dlpack/import/deleted-on-thread", test_deleted_on_thread);
  g_test_add_func ("/Dlpack/import/deleted-last", test_deleted_last);

  return g_test_run ();
}
