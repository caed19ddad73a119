/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "dlpack-producer.h"

static MtlDlpackTensor *
export (MtlStridedView *view,
        MtlDlpackFlags  flags)
{
  g_autoptr (GError) error = NULL;
  MtlDlpackTensor *tensor = mtl_strided_view_export_dlpack (view, flags, NULL, &error);

  g_assert_no_error (error);
  return tensor;
}

/* A peer's compiler lays out the structs in this way, and DLPack 1.3 has them so. */
static void
test_structs (void)
{
  g_assert_cmpuint (sizeof (DLTensor), ==, 48);
  g_assert_cmpuint (sizeof (DLManagedTensor), ==, 64);
  g_assert_cmpuint (sizeof (DLManagedTensorVersioned), ==, 80);
  g_assert_cmpuint (G_STRUCT_OFFSET (DLManagedTensorVersioned, dl_tensor), ==, 32);
}

static void
test_getters (void)
{
  g_autoptr (MtlStridedView) view = host_zeros (MTL_DTYPE_FLOAT32, DIMS (2, 3));
  g_autoptr (MtlStridedView) locked = mtl_strided_view_as_read_only (view);
  g_autoptr (MtlDlpackTensor) tensor = export (locked, MTL_DLPACK_FLAGS_NONE);
  g_autoptr (MtlDlpackTensor) copy = export (view, MTL_DLPACK_FLAGS_COPY);

  g_assert_true (mtl_dlpack_tensor_get_device (tensor) == mtl_device_get_host ());
  g_assert_false (mtl_dlpack_tensor_is_copied (tensor));
  g_assert_true (mtl_dlpack_tensor_is_copied (copy));
  g_assert_false (mtl_dlpack_tensor_is_consumed (tensor));
  assert_property (tensor, "device", MtlDevice *, mtl_dlpack_tensor_get_device);
  assert_property (copy, "copied", gboolean, mtl_dlpack_tensor_is_copied);
  assert_property (tensor, "consumed", gboolean, mtl_dlpack_tensor_is_consumed);
}

/* Memory of a kind of device that the library has no backend for goes through. */
static void
test_foreign_device (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = NULL;
  g_autoptr (MtlStridedView) back = NULL;
  g_autoptr (MtlDlpackTensor) tensor = NULL;
  Producer producer;

  producer_init (&producer);
  producer.versioned.dl_tensor.device = (DLDevice) { MTL_DEVICE_TYPE_ROCM, 5 };
  view = mtl_strided_view_new_take_dlpack (&producer.versioned, &error);
  g_assert_no_error (error);
  tensor = mtl_strided_view_export_dlpack (view, MTL_DLPACK_FLAGS_NONE,
                                           mtl_strided_view_get_device (view), &error);
  g_assert_no_error (error);
  g_assert_true (mtl_dlpack_tensor_get_device (tensor) == mtl_strided_view_get_device (view));
  g_assert_cmpint (mtl_device_get_device_type (mtl_dlpack_tensor_get_device (tensor)), ==,
                   MTL_DEVICE_TYPE_ROCM);

  back = mtl_strided_view_new_from_dlpack (tensor, &error);
  g_assert_no_error (error);
  g_assert_true (mtl_strided_view_get_address (back) == mtl_strided_view_get_address (view));
  g_assert_cmpint (mtl_device_get_ordinal (mtl_strided_view_get_device (back)), ==, 5);
  g_clear_object (&view);
  g_assert_cmpint (producer.n_deleted, ==, 0);
  g_clear_object (&back);
  g_assert_cmpint (producer.n_deleted, ==, 1);
}

/* The memory of a tensor that is never consumed ends with it. */
static void
test_never_consumed (void)
{
  Producer producer;
  MtlStridedView *view;
  MtlDlpackTensor *tensor;

  producer_init (&producer);
  view = mtl_strided_view_new_take_dlpack_legacy (&producer.legacy, NULL);
  tensor = export (view, MTL_DLPACK_FLAGS_NONE);
  g_assert_finalize_object (view);
  g_assert_cmpint (producer.n_deleted, ==, 0);
  g_assert_finalize_object (tensor);
  g_assert_cmpint (producer.n_deleted, ==, 1);
}

static void
test_consumed_once (void)
{
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlStridedView) view = host_zeros (MTL_DTYPE_FLOAT32, DIMS (2, 3));
  g_autoptr (MtlDlpackTensor) tensor = export (view, MTL_DLPACK_FLAGS_NONE);
  g_autoptr (MtlStridedView) back = mtl_strided_view_new_from_dlpack (tensor, &local_error);

  g_assert_no_error (local_error);
  g_assert_true (mtl_dlpack_tensor_is_consumed (tensor));
  g_assert_true (mtl_strided_view_get_data (back) == mtl_strided_view_get_data (view));
  assert_fails (mtl_strided_view_new_from_dlpack (tensor, &error), MTL_ERROR_CONSUMED,
                mtl_device_get_name (mtl_strided_view_get_device (view)));
}

/* In another major version all members but the deleter may lie elsewhere: here, in memory that
 * traps. */
static void
test_other_major (void)
{
  const guint majors[] = { 0, 2, 3, G_MAXUINT32 };

  for (gsize i = 0; i < G_N_ELEMENTS (majors); i++)
    {
      Producer producer;
      g_autofree char *value = g_strdup_printf ("%u.0", majors[i]);

      producer_init (&producer);
      producer.versioned.version.major = majors[i];
      producer.versioned.dl_tensor.shape = (int64_t *) 16;
      producer.versioned.dl_tensor.strides = (int64_t *) 16;
      producer.versioned.dl_tensor.data = (void *) 16;
      assert_fails (mtl_strided_view_new_take_dlpack (&producer.versioned, &error),
                    MTL_ERROR_NOT_SUPPORTED, value);
      g_assert_cmpint (producer.n_deleted, ==, 1);

      producer.versioned.deleter = NULL;
      assert_fails (mtl_strided_view_new_take_dlpack (&producer.versioned, &error),
                    MTL_ERROR_NOT_SUPPORTED, value);
    }
}

static void
test_bare (void)
{
  MtlDlpackTensor *tensor = g_object_new (MTL_TYPE_DLPACK_TENSOR, NULL);

  g_assert_true (mtl_dlpack_tensor_is_consumed (tensor));
  assert_fails (mtl_strided_view_new_from_dlpack (tensor, &error), MTL_ERROR_CONSUMED, "Host");
  g_assert_finalize_object (tensor);
}

static void
test_validate (void)
{
  g_autoptr (GError) error = NULL;
  Producer producer;
  DLTensor *tensor = &producer.versioned.dl_tensor;

  producer_init (&producer);
  g_assert_true (mtl_dlpack_validate (tensor, &error));

  tensor->strides = NULL;
  g_assert_true (mtl_dlpack_validate (tensor, &error));

  tensor->ndim = 0;
  tensor->shape = NULL;
  g_assert_true (mtl_dlpack_validate (tensor, &error));

  producer_init (&producer);
  producer.shape[1] = 0;
  tensor->data = NULL;
  g_assert_true (mtl_dlpack_validate (tensor, &error));
  g_assert_no_error (error);
}

static void
set_ndim_negative (Producer *producer)
{
  producer->versioned.dl_tensor.ndim = -1;
}

static void
set_ndim_too_many (Producer *producer)
{
  producer->versioned.dl_tensor.ndim = 65;
}

static void
set_ndim_huge (Producer *producer)
{
  producer->versioned.dl_tensor.ndim = G_MAXINT32;
}

static void
set_ndim_least (Producer *producer)
{
  producer->versioned.dl_tensor.ndim = G_MININT32;
}

static void
set_no_shape (Producer *producer)
{
  producer->versioned.dl_tensor.shape = NULL;
}

static void
set_shape_misaligned (Producer *producer)
{
  producer->versioned.dl_tensor.shape = (gpointer) ((char *) producer->shape + 1);
}

static void
set_strides_misaligned (Producer *producer)
{
  producer->versioned.dl_tensor.strides = (gpointer) ((char *) producer->strides + 4);
}

static void
set_extent_negative (Producer *producer)
{
  producer->shape[1] = -3;
}

static void
set_extents_overflow (Producer *producer)
{
  producer->shape[0] = POW2 (40);
  producer->shape[1] = POW2 (40);
}

static void
set_extents_overflow_no_strides (Producer *producer)
{
  set_extents_overflow (producer);
  producer->versioned.dl_tensor.strides = NULL;
}

static void
set_strides_overflow (Producer *producer)
{
  producer->strides[0] = POW2 (62);
  producer->shape[0] = 4;
}

static void
set_bits_overflow (Producer *producer)
{
  producer->strides[0] = POW2 (61);
}

static void
set_no_data (Producer *producer)
{
  producer->versioned.dl_tensor.data = NULL;
}

static void
set_no_bits (Producer *producer)
{
  producer->versioned.dl_tensor.dtype.bits = 0;
}

static void
set_no_lanes (Producer *producer)
{
  producer->versioned.dl_tensor.dtype.lanes = 0;
}

static void
set_byte_offset_wraps (Producer *producer)
{
  producer->versioned.dl_tensor.byte_offset = G_MAXUINT64 - 3;
}

static void
set_end_wraps (Producer *producer)
{
  producer->versioned.dl_tensor.data = (void *) (G_MAXSIZE - 15);
}

static void
set_start_wraps (Producer *producer)
{
  producer->versioned.dl_tensor.data = (void *) 8;
  producer->strides[0] = -3;
}

static void
set_start_at_null (Producer *producer)
{
  producer->versioned.dl_tensor.data = (void *) 12;
  producer->strides[0] = -3;
}

static const struct
{
  const char *name;
  void (* set) (Producer *producer);
  MtlError code;
  const char *value;
} invalid[] = {
  { "ndim-negative", set_ndim_negative, MTL_ERROR_INVALID_DATA, "-1" },
  { "ndim-too-many", set_ndim_too_many, MTL_ERROR_INVALID_DATA, "65" },
  { "ndim-huge", set_ndim_huge, MTL_ERROR_INVALID_DATA, "2147483647" },
  { "ndim-least", set_ndim_least, MTL_ERROR_INVALID_DATA, "-2147483648" },
  { "no-shape", set_no_shape, MTL_ERROR_INVALID_DATA, "2" },
  { "shape-misaligned", set_shape_misaligned, MTL_ERROR_INVALID_DATA, "8" },
  { "strides-misaligned", set_strides_misaligned, MTL_ERROR_INVALID_DATA, "8" },
  { "extent-negative", set_extent_negative, MTL_ERROR_INVALID_DATA, "-3 & 1" },
  { "extents-overflow", set_extents_overflow, MTL_ERROR_OVERFLOW, "1099511627776" },
  { "extents-overflow-no-strides", set_extents_overflow_no_strides, MTL_ERROR_OVERFLOW,
    "1099511627776" },
  { "strides-overflow", set_strides_overflow, MTL_ERROR_OVERFLOW, "4611686018427387904" },
  { "bits-overflow", set_bits_overflow, MTL_ERROR_OVERFLOW, "2305843009213693954" },
  { "no-data", set_no_data, MTL_ERROR_INVALID_DATA, "6" },
  { "no-bits", set_no_bits, MTL_ERROR_INVALID_DATA, "0" },
  { "no-lanes", set_no_lanes, MTL_ERROR_INVALID_DATA, "0" },
  { "byte-offset-wraps", set_byte_offset_wraps, MTL_ERROR_OVERFLOW, "18446744073709551612" },
  { "end-wraps", set_end_wraps, MTL_ERROR_OVERFLOW, "24" },
  { "start-wraps", set_start_wraps, MTL_ERROR_OVERFLOW, "-12" },
  { "start-at-null", set_start_at_null, MTL_ERROR_OVERFLOW, "-12" },
};

/* Each fault is found by all ways in: by the check alone, and by an import, which frees what it
 * took. */
static void
test_invalid (gconstpointer data)
{
  gsize i = GPOINTER_TO_SIZE (data);
  Producer producer;

  producer_init (&producer);
  invalid[i].set (&producer);
  producer.legacy.dl_tensor = producer.versioned.dl_tensor;

  assert_refuses (mtl_dlpack_validate (&producer.versioned.dl_tensor, &error),
                  invalid[i].code, invalid[i].value);
  g_assert_false (mtl_dlpack_validate (&producer.versioned.dl_tensor, NULL));

  assert_fails (mtl_strided_view_new_take_dlpack (&producer.versioned, &error),
                invalid[i].code, invalid[i].value);
  g_assert_cmpint (producer.n_deleted, ==, 1);
  assert_fails (mtl_strided_view_new_take_dlpack_legacy (&producer.legacy, &error),
                invalid[i].code, invalid[i].value);
  g_assert_cmpint (producer.n_deleted, ==, 2);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/DlpackTensor/structs", test_structs);
  add_host_test ("/DlpackTensor/getters", test_getters);
  g_test_add_func ("/DlpackTensor/foreign-device", test_foreign_device);
  g_test_add_func ("/DlpackTensor/never-consumed", test_never_consumed);
  g_test_add_func ("/DlpackTensor/consumed-once", test_consumed_once);
  g_test_add_func ("/DlpackTensor/other-major", test_other_major);
  g_test_add_func ("/DlpackTensor/bare", test_bare);
  g_test_add_func ("/Dlpack/validate", test_validate);
  for (gsize i = 0; i < G_N_ELEMENTS (invalid); i++)
    {
      g_autofree char *path = g_strdup_printf ("/Dlpack/invalid/%s", invalid[i].name);

      g_test_add_data_func (path, GSIZE_TO_POINTER (i), test_invalid);
    }

  return g_test_run ();
}
