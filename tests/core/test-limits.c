/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "dlpack-producer.h"

#include <float.h>

/* Values at the far end of what their types hold. */

static MtlStridedView *
import (Producer *producer)
{
  GError *error = NULL;
  MtlStridedView *view = mtl_strided_view_new_take_dlpack (&producer->versioned, &error);

  g_assert_no_error (error);
  return view;
}

/* A tensor of one axis of bytes, or of whatever the test makes of it. */
static void
producer_init_bytes (Producer *self,
                     int64_t   extent,
                     int64_t   stride)
{
  producer_init (self);
  self->shape[0] = extent;
  self->strides[0] = stride;
  self->versioned.dl_tensor.ndim = 1;
  self->versioned.dl_tensor.dtype = (DLDataType) { 1, 8, 1 };
}

static void
test_format_largest (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view =
    mtl_strided_view_new_from_doubles (DOUBLES (DBL_MAX, -DBL_MAX), MTL_DTYPE_FLOAT64, DIMS (2),
                                       &error);
  g_autofree char *text = mtl_strided_view_to_string (view);

  g_assert_cmpstr (text, ==, "[ 1.79769313e+308 -1.79769313e+308]");
}

static void
test_format_broadcast (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) one =
    mtl_strided_view_new_from_doubles (DOUBLES (7), MTL_DTYPE_INT8, DIMS (1), &error);
  g_autoptr (MtlStridedView) many = mtl_strided_view_broadcast_to (one, DIMS (POW2 (40)), &error);
  g_autofree char *text = mtl_strided_view_format (many, G_MAXSIZE);

  g_assert_cmpstr (text, ==, "[7 7 7 ... 7 7 7]");
}

static void
test_fill_with_itself (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlBuffer) buffer = mtl_buffer_new (NULL, 16, MTL_STORAGE_MODE_HOST, &error);
  g_autoptr (GBytes) letters = g_bytes_new_static ("abcdefgh", 8);
  g_autoptr (GBytes) pattern = NULL;

  mtl_buffer_set_bytes (buffer, 0, letters, NULL, &error);
  pattern = mtl_buffer_get_bytes (buffer, 2, 4, &error);
  g_assert_true (mtl_buffer_fill (buffer, 0, 16, pattern, NULL, &error));
  g_assert_cmpmem (mtl_buffer_get_contents (buffer), 16, "cdefcdefcdefcdef", 16);
}

/* The bits of this memory cannot be counted in 64 bits: none is touched. */
static void
test_many_bytes (void)
{
  Producer producer;
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = NULL;
  g_autoptr (GBytes) bytes = NULL;

  producer_init_bytes (&producer, POW2 (61), 1);
  view = import (&producer);
  bytes = mtl_strided_view_get_bytes (view, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_bytes_get_size (bytes), ==, POW2 (61));
}

static void
test_size_of_an_address_range (void)
{
  g_autoptr (MtlDevice) host = g_object_ref (mtl_device_get_host ());
  int n_destroyed = 0;
  char byte;

  assert_fails (mtl_buffer_new_for_data (&byte, G_MAXSIZE, NULL, MTL_BUFFER_FLAGS_NONE, NULL, NULL,
                                         &error),
                MTL_ERROR_OVERFLOW, "18446744073709551615");
  assert_fails (mtl_buffer_new_for_handle (&byte, G_MAXSIZE, host, NULL, &n_destroyed, &error),
                MTL_ERROR_OVERFLOW, "18446744073709551615");
}

static void
test_below_the_start (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedLayout) layout =
    mtl_strided_layout_new (DIMS (2), DIMS (-POW2 (59)), 64, &error);

  g_assert_no_error (error);
  g_assert_cmpint (mtl_strided_layout_get_required_size (layout, &error), ==, -1);
  assert_failed (error, MTL_ERROR_OUT_OF_BOUNDS, "4611686018427387904");
}

static void
test_import_too_wide (void)
{
  Producer producer;

  producer_init (&producer);
  producer.shape[1] = 2;
  producer.strides[0] = POW2 (59);
  producer.strides[1] = -POW2 (59);
  producer.versioned.dl_tensor.dtype = (DLDataType) { 2, 64, 1 };
  producer.versioned.dl_tensor.byte_offset = POW2 (62);
  assert_fails (mtl_strided_view_new_take_dlpack (&producer.versioned, &error),
                MTL_ERROR_OVERFLOW, "576460752303423488");
  g_assert_cmpint (producer.n_deleted, ==, 1);
}

static void
test_import_handles (void)
{
  struct
  {
    int device_type;
    guint64 data, byte_offset;
    int64_t stride;
    gboolean is_valid;
  } cases[] = {
    { 7, 0x1000, 0, -1, FALSE },              /* an opaque handle: nothing lies before it */
    { 7, 0x1000, 1, -1, TRUE },
    { 7, 0x1000, G_MAXINT64, 1, FALSE },
    { 7, 0x1000, G_MAXINT64 - 2, 1, TRUE },
    { 10, 0x1000, 0, -1, TRUE },               /* an address: there may be */
    { 10, 0x0, 0, 1, FALSE },
    { 10, G_MAXUINT64, 0, 1, FALSE },
    { 10, G_MAXUINT64 - 1, 0, 1, FALSE },
    { 10, G_MAXUINT64 - 2, 0, 1, TRUE },
    { 10, G_MAXUINT64 - 9, 10, 1, FALSE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      Producer producer;
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedView) view = NULL;

      producer_init_bytes (&producer, 2, cases[i].stride);
      producer.versioned.dl_tensor.device.device_type = cases[i].device_type;
      producer.versioned.dl_tensor.data = (void *) (guintptr) cases[i].data;
      producer.versioned.dl_tensor.byte_offset = cases[i].byte_offset;
      view = mtl_strided_view_new_take_dlpack (&producer.versioned, &error);
      g_assert_cmpint (view != NULL, ==, cases[i].is_valid);
      g_assert_cmpint (error == NULL, ==, cases[i].is_valid);
      g_clear_object (&view);
      g_assert_cmpint (producer.n_deleted, ==, 1);
    }
}

static void
test_import_nothing_far_away (void)
{
  Producer producer;
  g_autoptr (MtlStridedView) view = NULL;

  producer_init_bytes (&producer, 0, 1);
  producer.versioned.dl_tensor.device = (DLDevice) { MTL_DEVICE_TYPE_ROCM, 0 };
  producer.versioned.dl_tensor.byte_offset = G_MAXUINT64;
  view = import (&producer);
  g_assert_cmpuint (mtl_strided_view_get_byte_offset (view), ==, 0);
}

/* 2^61 bytes are fewer than 63 bits count, but their bits are not. */
static void
test_bits_of_many_bytes (void)
{
  Producer producer;
  g_autoptr (MtlStridedView) view = NULL;

  producer_init_bytes (&producer, POW2 (61), 1);
  view = import (&producer);
  assert_fails (mtl_strided_view_reinterpret (view, MTL_DTYPE_FLOAT4_E2M1FN, &error),
                MTL_ERROR_OVERFLOW, "4611686018427387903 & 4");
}

/* Repeated elements take no memory, but each of a copy does. */
static void
test_copy_of_repeated (void)
{
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlStridedView) single = mtl_strided_view_new_zeros (NULL, MTL_DTYPE_FLOAT32, DIMS (1),
                                                                  MTL_STORAGE_MODE_DEFAULT,
                                                                  &local_error);
  g_autoptr (MtlStridedView) view = mtl_strided_view_broadcast_to (single, DIMS (POW2 (62)),
                                                                   &local_error);

  g_assert_no_error (local_error);
  assert_fails (mtl_strided_view_copy (view, MTL_ORDER_C, NULL, &error), MTL_ERROR_OVERFLOW,
                "4611686018427387903");
  assert_fails (mtl_strided_view_to_contiguous (view, NULL, &error), MTL_ERROR_OVERFLOW, "2^63");
  assert_fails (mtl_strided_view_to_dtype (view, MTL_DTYPE_INT16, MTL_ORDER_C,
                                           NULL, &error), MTL_ERROR_OVERFLOW,
                "2^63");
  assert_fails (mtl_strided_view_dup_bytes (view, NULL, &error), MTL_ERROR_OVERFLOW, "2^63");
  assert_fails (mtl_strided_view_new_zeros_like (view, &error), MTL_ERROR_OVERFLOW, "2^63");
}

/* The flag is about elements of fewer than 8 bits. */
static void
test_padded_bytes (void)
{
  Producer producer;
  g_autoptr (MtlStridedView) view = NULL;

  producer_init (&producer);
  producer.versioned.flags = 4;
  view = import (&producer);
  g_assert_false (mtl_strided_view_is_padded (view));
  g_assert_cmpuint (mtl_strided_layout_get_item_bits (mtl_strided_view_get_layout (view)), ==, 32);
}

/* A slice has an end, even of memory whose end is not known. */
static void
test_slice_of_unknown_size (void)
{
  Producer producer;
  g_autoptr (MtlStridedView) view = NULL;
  g_autoptr (MtlStridedLayout) layout = NULL;
  g_autoptr (MtlBuffer) slice = NULL;
  MtlBuffer *buffer;

  producer_init (&producer);
  producer.versioned.dl_tensor.device = (DLDevice) { MTL_DEVICE_TYPE_ROCM, 0 };
  view = import (&producer);
  buffer = mtl_strided_view_get_buffer (view);
  g_assert_false (mtl_buffer_is_size_known (buffer));

  slice = mtl_buffer_slice (buffer, 0, 4, NULL);
  g_assert_true (mtl_buffer_is_size_known (slice));
  layout = mtl_strided_layout_new (DIMS (1000), NO_DIMS, 32, NULL);
  assert_fails (mtl_strided_view_new (slice, layout, MTL_DTYPE_FLOAT32, 0, &error),
                MTL_ERROR_OUT_OF_BOUNDS, "4");
}

static void
test_foreign_devices_cannot_wait (void)
{
  Producer producer;
  g_autoptr (MtlStridedView) view = NULL;

  producer_init (&producer);
  producer.versioned.dl_tensor.device = (DLDevice) { MTL_DEVICE_TYPE_ROCM, 3 };
  view = import (&producer);
  assert_refuses (mtl_device_synchronize (mtl_strided_view_get_device (view), NULL, &error),
                  MTL_ERROR_NOT_SUPPORTED, "(10, 3)");
}

static void
test_unnamed_dtype (void)
{
  g_autoptr (MtlStridedView) view =
    mtl_strided_view_new_zeros (NULL, MTL_DTYPE_FLOAT32, DIMS (2), MTL_STORAGE_MODE_DEFAULT, NULL);

  assert_fails (mtl_strided_view_to_dtype (view, 0x10220, MTL_ORDER_C,
                                           NULL, &error), MTL_ERROR_INVALID_ARGUMENT,
                "0x10220");
}

static void
test_slice_string_clamps (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedLayout) layout = mtl_strided_layout_new (DIMS (5), NO_DIMS, 8, &error);
  g_autoptr (MtlStridedLayout) part =
    mtl_strided_layout_slice_string (layout, "-99999999999999999999:99999999999999999999", &error);

  g_assert_no_error (error);
  assert_shape (part, 5);
}

static void
test_close_integers (void)
{
  gint64 values[] = { POW2 (60), POW2 (60) + 1 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = g_bytes_new_static (values, sizeof values);
  g_autoptr (MtlStridedView) view =
    mtl_strided_view_new_from_bytes_with_byte_strides (bytes, MTL_DTYPE_INT64, DIMS (2), NO_DIMS,
                                                       &error);
  g_autoptr (MtlStridedView) first = mtl_strided_view_select (view, 0, 0, &error);
  g_autoptr (MtlStridedView) second = mtl_strided_view_select (view, 0, 1, &error);

  g_assert_false (mtl_strided_view_all_close (first, second, 0, 0, MTL_COMPARE_FLAGS_NONE, NULL,
                                              &error));
  g_assert_true (mtl_strided_view_all_close (first, second, 0, 1, MTL_COMPARE_FLAGS_NONE, NULL,
                                             &error));
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/Limits/format/largest", test_format_largest);
  g_test_add_func ("/Limits/format/broadcast", test_format_broadcast);
  add_reachable_test ("/Limits/fill-with-itself", test_fill_with_itself);
  g_test_add_func ("/Limits/many-bytes", test_many_bytes);
  g_test_add_func ("/Limits/size-of-an-address-range", test_size_of_an_address_range);
  g_test_add_func ("/Limits/below-the-start", test_below_the_start);
  g_test_add_func ("/Limits/import/too-wide", test_import_too_wide);
  g_test_add_func ("/Limits/import/handles", test_import_handles);
  g_test_add_func ("/Limits/import/nothing-far-away", test_import_nothing_far_away);
  g_test_add_func ("/Limits/bits-of-many-bytes", test_bits_of_many_bytes);
  g_test_add_func ("/Limits/copy-of-repeated", test_copy_of_repeated);
  g_test_add_func ("/Limits/import/padded-bytes", test_padded_bytes);
  g_test_add_func ("/Limits/slice-of-unknown-size", test_slice_of_unknown_size);
  g_test_add_func ("/Limits/foreign-devices-cannot-wait", test_foreign_devices_cannot_wait);
  g_test_add_func ("/Limits/unnamed-dtype", test_unnamed_dtype);
  g_test_add_func ("/Limits/slice-string-clamps", test_slice_string_clamps);
  g_test_add_func ("/Limits/close-integers", test_close_integers);

  return g_test_run ();
}
