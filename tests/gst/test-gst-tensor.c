/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "test-utils.h"

#include <mtldl-gst/mtldl-gst.h>

#ifdef MTL_GST_HAS_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

static MtlStridedView *
new_counting (MtlDType      dtype,
              const gint64 *shape,
              gsize         n_dims)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *view = mtl_strided_view_new_zeros (NULL, dtype, shape, n_dims, &error);
  gsize size;
  g_autoptr (GBytes) bytes = NULL;
  guint8 *data;

  g_assert_no_error (error);
  bytes = mtl_strided_view_ref_bytes (view, &error);
  g_assert_no_error (error);
  data = (guint8 *) g_bytes_get_data (bytes, &size);
  for (gsize i = 0; i < size; i++)
    data[i] = i * 7;

  return view;
}

static void
assert_same_layout (MtlStridedLayout *layout,
                    MtlStridedView   *view)
{
  g_autoptr (MtlStridedLayout) expected = mtl_strided_view_dup_layout (view);

  g_assert_true (mtl_strided_layout_equal (layout, expected));
}

static void
test_caps (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = new_counting (MTL_DTYPE_FLOAT32, DIMS (2, 3, 5));
  g_autoptr (MtlStridedView) reversed = mtl_strided_view_transpose (view);

  for (int i = 0; i < 2; i++)
    {
      MtlStridedView *source = i == 0 ? view : reversed;
      g_autoptr (GstCaps) caps = mtl_gst_tensor_caps_from_view (source, "boxes", &error);
      g_autoptr (GstCaps) expected = NULL;
      g_autoptr (MtlStridedLayout) layout = NULL;
      MtlDType dtype;

      g_assert_no_error (error);
      expected = gst_caps_from_string (i == 0
        ? "tensor/strided, dims = <(int)2, (int)3, (int)5>, dims-order = row-major,"
          " type = float32, tensor-id = boxes"
        : "tensor/strided, dims = <(int)5, (int)3, (int)2>, dims-order = col-major,"
          " type = float32, tensor-id = boxes");
      g_assert_true (gst_caps_is_equal (caps, expected));

      layout = mtl_gst_layout_from_caps (caps, 0, &dtype, &error);
      g_assert_no_error (error);
      g_assert_cmpint (dtype, ==, MTL_DTYPE_FLOAT32);
      assert_same_layout (layout, source);
    }
}

static void
test_bad_caps (void)
{
  const struct
  {
    const char *caps;
    MtlError code;
  } cases[] = {
    { "tensor/strided", MTL_ERROR_INVALID_ARGUMENT },
    { "tensor/strided, type = float32", MTL_ERROR_INVALID_ARGUMENT },
    { "tensor/strided, type = float32, dims = 3", MTL_ERROR_INVALID_ARGUMENT },
    { "tensor/strided, type = float32, dims = <0, 3>", MTL_ERROR_INVALID_ARGUMENT },
    { "tensor/strided, type = float32, dims = <-1, 3>", MTL_ERROR_INVALID_ARGUMENT },
    { "tensor/strided, type = float32, dims = <[1, 5], 3>", MTL_ERROR_INVALID_ARGUMENT },
    { "tensor/strided, type = float32, dims = <a, 3>", MTL_ERROR_INVALID_ARGUMENT },
    { "tensor/strided, type = int4, dims = <2, 3>", MTL_ERROR_NOT_SUPPORTED },
    { "tensor/strided, type = float32, dims = <2147483647, 2147483647, 2147483647>",
      MTL_ERROR_OVERFLOW },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GstCaps) caps = gst_caps_from_string (cases[i].caps);
      MtlDType dtype;

      g_assert_nonnull (caps);
      g_assert_null (mtl_gst_layout_from_caps (caps, 0, &dtype, &error));
      g_assert_error (error, MTL_ERROR, (int) cases[i].code);
    }
}

static void
test_caps_of_bad_views (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) booleans = new_counting (MTL_DTYPE_BOOL, DIMS (2, 3));
  g_autoptr (MtlStridedView) view = new_counting (MTL_DTYPE_INT16, DIMS (4, 6));
  g_autoptr (MtlStridedView) part = mtl_strided_view_slice_string (view, ":, ::2", &error);

  g_assert_null (mtl_gst_tensor_caps_from_view (booleans, NULL, &error));
  g_assert_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED);
  g_clear_error (&error);

  g_assert_null (mtl_gst_tensor_caps_from_view (part, NULL, &error));
  g_assert_error (error, MTL_ERROR, MTL_ERROR_NEEDS_COPY);
}

#ifdef MTL_GST_HAS_ANALYTICS

static void
test_there_and_back (void)
{
  static const MtlDType dtypes[] = {
    MTL_DTYPE_INT8, MTL_DTYPE_INT16, MTL_DTYPE_INT32, MTL_DTYPE_INT64, MTL_DTYPE_UINT8,
    MTL_DTYPE_UINT16, MTL_DTYPE_UINT32, MTL_DTYPE_UINT64, MTL_DTYPE_FLOAT16, MTL_DTYPE_FLOAT32,
    MTL_DTYPE_FLOAT64, MTL_DTYPE_BFLOAT16,
  };
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();
  g_autoptr (GPtrArray) views = g_ptr_array_new_with_free_func (g_object_unref);

  for (gsize i = 0; i < G_N_ELEMENTS (dtypes); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedView) view = new_counting (dtypes[i], DIMS (3, 4, 2));
      g_autofree char *id = g_strdup_printf ("tensor %" G_GSIZE_FORMAT, i);

      g_ptr_array_add (views, i % 2 == 0 ? g_object_ref (view) : mtl_strided_view_transpose (view));
      mtl_gst_add_tensor (buffer, id, views->pdata[i], &error);
      g_assert_no_error (error);
    }

  g_assert_cmpuint (mtl_gst_get_n_tensors (buffer), ==, views->len);
  g_assert_cmpuint (gst_buffer_get_tensor_meta (buffer)->num_tensors, ==, views->len);
  g_assert_null (mtl_gst_get_tensor_id (buffer, views->len));
  for (guint i = 0; i < views->len; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *id = g_strdup_printf ("tensor %u", i);
      g_autoptr (MtlStridedView) view = mtl_gst_view_from_tensor (buffer, i, GST_MAP_READ, &error);
      g_autoptr (MtlStridedLayout) layout = NULL;

      g_assert_no_error (error);
      g_assert_cmpstr (mtl_gst_get_tensor_id (buffer, i), ==, id);
      g_assert_true (mtl_strided_view_get_address (view)
                     == mtl_strided_view_get_address (views->pdata[i]));
      g_assert_cmpint (mtl_strided_view_get_dtype (view), ==, dtypes[i]);
      layout = mtl_strided_view_dup_layout (view);
      assert_same_layout (layout, views->pdata[i]);
    }
}

/* As elements make them, by GStreamer's own functions. */
static GstTensor *
new_foreign (GstTensorDataType  type,
             GstTensorDimOrder  order,
             gsize              n_bytes,
             const gsize       *dims,
             gsize              n_dims)
{
  GstTensor *tensor = gst_tensor_alloc (n_dims);

  tensor->data_type = type;
  tensor->dims_order = order;
  tensor->data = gst_buffer_new_allocate (NULL, n_bytes, NULL);
  for (gsize i = 0; i < n_dims; i++)
    tensor->dims[i] = dims[i];

  return tensor;
}

static void
set_tensors (GstBuffer  *buffer,
             GstTensor **tensors,
             guint       n_tensors)
{
  gst_tensor_meta_set (gst_buffer_add_tensor_meta (buffer), n_tensors,
                       g_memdup2 (tensors, n_tensors * sizeof (GstTensor *)));
}

static void
test_foreign (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();
  g_autoptr (MtlStridedView) view = NULL;
  GstTensor *tensors[] = {
    new_foreign (GST_TENSOR_DATA_TYPE_UINT16, GST_TENSOR_DIM_ORDER_COL_MAJOR, 24,
                 (gsize[]) { 3, 4 }, 2),
    new_foreign (GST_TENSOR_DATA_TYPE_FLOAT64, GST_TENSOR_DIM_ORDER_ROW_MAJOR, 8, NULL, 0),
  };
  gsize n_dims;

  set_tensors (buffer, tensors, 2);
  g_assert_cmpuint (mtl_gst_get_n_tensors (buffer), ==, 2);
  g_assert_null (mtl_gst_get_tensor_id (buffer, 0));

  view = mtl_gst_view_from_tensor (buffer, 0, GST_MAP_WRITE, &error);
  g_assert_no_error (error);
  g_assert_false (mtl_strided_view_is_read_only (view));
  g_assert_cmpint (mtl_strided_view_get_strides (view, &n_dims)[0], ==, 1);
  g_assert_cmpint (mtl_strided_view_get_strides (view, &n_dims)[1], ==, 3);

  g_clear_object (&view);
  view = mtl_gst_view_from_tensor (buffer, 1, GST_MAP_READ, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (mtl_strided_view_get_n_dims (view), ==, 0);
}

static void
test_bad_tensors (void)
{
  const struct
  {
    GstTensorDataType type;
    gsize n_bytes;
    gsize dims[3];
    MtlError code;
  } cases[] = {
    { GST_TENSOR_DATA_TYPE_UINT16, 23, { 3, 2, 2 }, MTL_ERROR_OUT_OF_BOUNDS },
    { GST_TENSOR_DATA_TYPE_UINT8, 100, { 3, G_MAXSIZE, 1 }, MTL_ERROR_OVERFLOW },
    { GST_TENSOR_DATA_TYPE_UINT8, 100, { (gsize) 1 << 40, (gsize) 1 << 40, 1 },
      MTL_ERROR_OVERFLOW },
    { GST_TENSOR_DATA_TYPE_UINT8, 100, { 3, 0, 1 }, MTL_ERROR_INVALID_ARGUMENT },
    { GST_TENSOR_DATA_TYPE_INT4, 100, { 3, 2, 1 }, MTL_ERROR_NOT_SUPPORTED },
    { (GstTensorDataType) 77, 100, { 3, 2, 1 }, MTL_ERROR_NOT_SUPPORTED },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GstBuffer) buffer = gst_buffer_new ();
      GstTensor *tensor = new_foreign (cases[i].type, GST_TENSOR_DIM_ORDER_ROW_MAJOR,
                                       cases[i].n_bytes, cases[i].dims, 3);

      set_tensors (buffer, &tensor, 1);
      g_assert_null (mtl_gst_view_from_tensor (buffer, 0, GST_MAP_READ, &error));
      g_assert_error (error, MTL_ERROR, (int) cases[i].code);
    }
}

static void
test_bad_places (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();
  g_autoptr (GstBuffer) other = gst_buffer_ref (buffer);
  g_autoptr (MtlStridedView) view = new_counting (MTL_DTYPE_INT16, DIMS (4, 6));

  g_assert_false (mtl_gst_add_tensor (buffer, NULL, view, &error));
  g_assert_error (error, MTL_ERROR, MTL_ERROR_READ_ONLY);
  g_clear_error (&error);

  g_assert_null (mtl_gst_view_from_tensor (buffer, 0, GST_MAP_READ, &error));
  g_assert_error (error, MTL_ERROR, MTL_ERROR_OUT_OF_BOUNDS);
  g_assert_cmpuint (mtl_gst_get_n_tensors (buffer), ==, 0);
}

#else

/* GStreamer before 1.26. */
static void
test_without_tensors (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();
  g_autoptr (MtlStridedView) view = new_counting (MTL_DTYPE_INT16, DIMS (4, 6));

  g_assert_cmpuint (mtl_gst_get_n_tensors (buffer), ==, 0);
  g_assert_null (mtl_gst_get_tensor_id (buffer, 0));
  g_assert_null (mtl_gst_view_from_tensor (buffer, 0, GST_MAP_READ, &error));
  g_assert_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED);
  g_clear_error (&error);
  g_assert_false (mtl_gst_add_tensor (buffer, NULL, view, &error));
  g_assert_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED);
}

#endif

int
main (int   argc,
      char *argv[])
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/gst/tensor/caps", test_caps);
  g_test_add_func ("/gst/tensor/caps/bad", test_bad_caps);
  g_test_add_func ("/gst/tensor/caps/bad-views", test_caps_of_bad_views);
#ifdef MTL_GST_HAS_ANALYTICS
  g_test_add_func ("/gst/tensor/there-and-back", test_there_and_back);
  g_test_add_func ("/gst/tensor/foreign", test_foreign);
  g_test_add_func ("/gst/tensor/bad", test_bad_tensors);
  g_test_add_func ("/gst/tensor/bad-places", test_bad_places);
#else
  g_test_add_func ("/gst/tensor/none", test_without_tensors);
#endif

  return g_test_run ();
}
