/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "test-utils.h"

#include <mtldl-gst/mtldl-gst.h>

#ifdef MTL_GST_HAS_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

#if defined (MTL_GST_HAS_ANALYTICS) && GST_CHECK_VERSION (1, 28, 0)
#define HAS_RELATED_TENSORS 1
#endif

/* Types that have a name in caps. */
static const MtlDType named_dtypes[] = {
  MTL_DTYPE_INT4, MTL_DTYPE_INT8, MTL_DTYPE_INT16, MTL_DTYPE_INT32, MTL_DTYPE_INT64,
  MTL_DTYPE_UINT4, MTL_DTYPE_UINT8, MTL_DTYPE_UINT16, MTL_DTYPE_UINT32, MTL_DTYPE_UINT64,
  MTL_DTYPE_FLOAT16, MTL_DTYPE_FLOAT32, MTL_DTYPE_FLOAT64, MTL_DTYPE_BFLOAT16,
};

/* Types that tensors have since GStreamer 1.28. */
static const MtlDType unnamed_dtypes[] = {
  MTL_DTYPE_BOOL, MTL_DTYPE_COMPLEX64, MTL_DTYPE_COMPLEX128, MTL_DTYPE_FLOAT8_E4M3FN,
  MTL_DTYPE_FLOAT8_E4M3FNUZ, MTL_DTYPE_FLOAT8_E5M2, MTL_DTYPE_FLOAT8_E5M2FNUZ,
};

static MtlStridedView *
new_counting (MtlDType      dtype,
              const gint64 *shape,
              gsize         n_dims)
{
  MtlStridedView *view = new_zeros (dtype, shape, n_dims);
  guint8 *data = mtl_strided_view_get_data (view);

  for (gint64 i = 0;
       i < mtl_strided_layout_get_required_size (mtl_strided_view_get_layout (view), NULL); i++)
    data[i] = i * 7;

  return view;
}

static void
assert_same_layout (MtlStridedLayout *layout,
                    MtlStridedView   *view)
{
  g_assert_true (mtl_strided_layout_equal (layout, mtl_strided_view_get_layout (view)));
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
test_caps_of_types (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (named_dtypes); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedView) view = new_counting (named_dtypes[i], DIMS (3, 5));
      g_autoptr (GstCaps) caps = mtl_gst_tensor_caps_from_view (view, NULL, &error);
      g_autoptr (MtlStridedLayout) layout = NULL;
      g_autofree char *name = mtl_dtype_to_string (named_dtypes[i]);
      MtlDType dtype;

      g_assert_no_error (error);
      g_assert_cmpstr (gst_structure_get_string (gst_caps_get_structure (caps, 0), "type"), ==,
                       name);
      layout = mtl_gst_layout_from_caps (caps, 0, &dtype, &error);
      g_assert_no_error (error);
      g_assert_cmpint (dtype, ==, named_dtypes[i]);
      assert_same_layout (layout, view);
    }

  for (gsize i = 0; i < G_N_ELEMENTS (unnamed_dtypes); i++)
    {
      g_autoptr (MtlStridedView) view = new_counting (unnamed_dtypes[i], DIMS (3, 5));
      g_autofree char *name = mtl_dtype_to_string (unnamed_dtypes[i]);

      assert_fails (mtl_gst_tensor_caps_from_view (view, NULL, &error), MTL_ERROR_NOT_SUPPORTED,
                    name);
    }
}

/* Two numbers are in a byte, and the last byte has one. */
static void
test_caps_of_nibbles (void)
{
  g_autoptr (GstCaps) caps =
    gst_caps_from_string ("tensor/strided, type = uint4, dims = <3, 3>, dims-order = row-major");
  g_autoptr (GstBuffer) buffer = gst_buffer_new_memdup ((guint8[]) { 0x10, 0x32, 0x54, 0x76, 0xf8 },
                                                        5);
  g_autoptr (MtlStridedView) view =
    mtl_gst_view_from_buffer_with_caps (buffer, caps, 0, GST_MAP_READ, NULL);

  g_assert_nonnull (view);
  for (gint64 i = 0; i < 9; i++)
    g_assert_cmpint (mtl_strided_view_get_int64 (view, DIMS (i / 3, i % 3), NULL), ==, i);
  g_clear_object (&view);

  gst_buffer_set_size (buffer, 4);
  assert_fails (mtl_gst_view_from_buffer_with_caps (buffer, caps, 0, GST_MAP_READ, &error),
                MTL_ERROR_OUT_OF_BOUNDS, "5");
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
    { "tensor/strided, type = int2, dims = <2, 3>", MTL_ERROR_NOT_SUPPORTED },
    { "tensor/strided, type = bool, dims = <2, 3>", MTL_ERROR_NOT_SUPPORTED },
    { "tensor/strided, type = string, dims = <2, 3>", MTL_ERROR_NOT_SUPPORTED },
    { "tensor/strided, type = 5, dims = <2, 3>", MTL_ERROR_INVALID_ARGUMENT },
    { "tensor/strided, type = int8, dims = <2, 3>, dims-order = diagonal",
      MTL_ERROR_NOT_SUPPORTED },
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

/* The stride of an axis of extent 1 has no meaning. */
static void
assert_same_elements (MtlStridedView *view,
                      MtlStridedView *expected)
{
  const gint64 *shape, *expected_shape;
  gsize n_dims, n_expected;

  shape = mtl_strided_view_get_shape (view, &n_dims);
  expected_shape = mtl_strided_view_get_shape (expected, &n_expected);
  g_assert_cmpmem (shape, n_dims * sizeof *shape, expected_shape, n_expected * sizeof *shape);
  for (gsize i = 0; i < n_dims; i++)
    g_assert_true (shape[i] == 1 || mtl_strided_view_get_strides (view, NULL)[i]
                                    == mtl_strided_view_get_strides (expected, NULL)[i]);
  g_assert_cmpint (mtl_strided_view_get_dtype (view), ==, mtl_strided_view_get_dtype (expected));
  g_assert_true (mtl_strided_view_get_address (view) == mtl_strided_view_get_address (expected));
}

static void
assert_has_tensor (GstBuffer      *buffer,
                   guint           index,
                   const char     *id,
                   MtlStridedView *expected)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view =
    mtl_gst_view_from_buffer_tensor (buffer, index, GST_MAP_READ, &error);

  g_assert_no_error (error);
  g_assert_cmpstr (mtl_gst_buffer_get_tensor_id (buffer, index), ==, id);
  assert_same_elements (view, expected);
}

static void
check_there_and_back (const MtlDType *dtypes,
                      gsize           n_dtypes)
{
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();
  g_autoptr (GPtrArray) views = g_ptr_array_new_with_free_func (g_object_unref);

  for (gsize i = 0; i < n_dtypes; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedView) view = new_counting (dtypes[i], DIMS (3, 4, 2));
      g_autofree char *id = g_strdup_printf ("tensor %" G_GSIZE_FORMAT, i);

      g_ptr_array_add (views, i % 2 == 0 ? g_object_ref (view) : mtl_strided_view_transpose (view));
      mtl_gst_buffer_add_tensor (buffer, id, views->pdata[i], &error);
      g_assert_no_error (error);
    }

  g_assert_cmpuint (mtl_gst_buffer_get_n_tensors (buffer), ==, views->len);
  g_assert_cmpuint (gst_buffer_get_tensor_meta (buffer)->num_tensors, ==, views->len);
  g_assert_null (mtl_gst_buffer_get_tensor_id (buffer, views->len));
  for (guint i = 0; i < views->len; i++)
    {
      g_autofree char *id = g_strdup_printf ("tensor %u", i);

      assert_has_tensor (buffer, i, id, views->pdata[i]);
    }
}

static void
test_there_and_back (void)
{
  check_there_and_back (named_dtypes, G_N_ELEMENTS (named_dtypes));
#ifdef HAS_RELATED_TENSORS
  check_there_and_back (unnamed_dtypes, G_N_ELEMENTS (unnamed_dtypes));
#endif
}

/* Numbers of 4 bits that begin in the middle of a byte, or end there. */
static void
test_parts_of_bytes (void)
{
  g_autoptr (MtlStridedView) view = new_counting (MTL_DTYPE_UINT4, DIMS (9));
  g_autoptr (MtlStridedView) odd = slice (view, "2:5");
  g_autoptr (MtlStridedView) middle = slice (view, "1:5");
  g_autoptr (MtlStridedView) none = slice (view, "3:3");
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();

  g_assert_true (mtl_gst_buffer_add_tensor (buffer, "odd", odd, NULL));
  assert_has_tensor (buffer, 0, "odd", odd);
  assert_refuses (mtl_gst_buffer_add_tensor (buffer, NULL, middle, &error), MTL_ERROR_NEEDS_COPY,
                  "");
  assert_refuses (mtl_gst_buffer_add_tensor (buffer, NULL, none, &error),
                  MTL_ERROR_INVALID_ARGUMENT, "(0,)");
  g_assert_cmpuint (mtl_gst_buffer_get_n_tensors (buffer), ==, 1);
}

static void
test_types_without_tensors (void)
{
  const MtlDType dtypes[] = {
#ifndef HAS_RELATED_TENSORS
    MTL_DTYPE_BOOL, MTL_DTYPE_COMPLEX64, MTL_DTYPE_FLOAT8_E4M3FN,
#endif
    MTL_DTYPE_INT2, MTL_DTYPE_FLOAT8_E4M3, MTL_DTYPE_COMPLEX32, MTL_DTYPE_FLOAT4_E2M1FN,
  };
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();

  for (gsize i = 0; i < G_N_ELEMENTS (dtypes); i++)
    {
      g_autoptr (MtlStridedView) view = new_counting (dtypes[i], DIMS (3, 4, 2));
      g_autofree char *name = mtl_dtype_to_string (dtypes[i]);

      assert_refuses (mtl_gst_buffer_add_tensor (buffer, NULL, view, &error),
                      MTL_ERROR_NOT_SUPPORTED, name);
    }

  g_assert_cmpuint (mtl_gst_buffer_get_n_tensors (buffer), ==, 0);
}

/* Makes a tensor with GStreamer's own functions, as elements do. */
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
  g_assert_cmpuint (mtl_gst_buffer_get_n_tensors (buffer), ==, 2);
  g_assert_null (mtl_gst_buffer_get_tensor_id (buffer, 0));

  view = mtl_gst_view_from_buffer_tensor (buffer, 0, GST_MAP_WRITE, &error);
  g_assert_no_error (error);
  g_assert_false (mtl_strided_view_is_read_only (view));
  g_assert_cmpint (mtl_strided_view_get_strides (view, &n_dims)[0], ==, 1);
  g_assert_cmpint (mtl_strided_view_get_strides (view, &n_dims)[1], ==, 3);

  g_clear_object (&view);
  view = mtl_gst_view_from_buffer_tensor (buffer, 1, GST_MAP_READ, &error);
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
    const char *value;
  } cases[] = {
    { GST_TENSOR_DATA_TYPE_UINT16, 23, { 3, 2, 2 }, MTL_ERROR_OUT_OF_BOUNDS, "24" },
    { GST_TENSOR_DATA_TYPE_INT4, 4, { 3, 3, 1 }, MTL_ERROR_OUT_OF_BOUNDS, "5" },
    { GST_TENSOR_DATA_TYPE_UINT8, 100, { 3, G_MAXSIZE, 1 }, MTL_ERROR_OVERFLOW, "18446744073709551615" },
    { GST_TENSOR_DATA_TYPE_UINT8, 100, { (gsize) 1 << 40, (gsize) 1 << 40, 1 },
      MTL_ERROR_OVERFLOW, "1099511627776" },
    { GST_TENSOR_DATA_TYPE_UINT8, 100, { 3, 0, 1 }, MTL_ERROR_INVALID_ARGUMENT, "0" },
#ifdef HAS_RELATED_TENSORS
    { GST_TENSOR_DATA_TYPE_STRING, 100, { 3, 2, 1 }, MTL_ERROR_NOT_SUPPORTED, "" },
#endif
    { (GstTensorDataType) 77, 100, { 3, 2, 1 }, MTL_ERROR_NOT_SUPPORTED, "77" },
    { (GstTensorDataType) -1, 100, { 3, 2, 1 }, MTL_ERROR_NOT_SUPPORTED, "-1" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GstBuffer) buffer = gst_buffer_new ();
      GstTensor *tensor = new_foreign (cases[i].type, GST_TENSOR_DIM_ORDER_ROW_MAJOR,
                                       cases[i].n_bytes, cases[i].dims, 3);

      set_tensors (buffer, &tensor, 1);
      assert_fails (mtl_gst_view_from_buffer_tensor (buffer, 0, GST_MAP_READ, &error),
                    cases[i].code, cases[i].value);
    }
}

/* Bits of the types of the enumeration, in its order; 0 for strings. */
static const guint8 type_bits[] = {
  4, 8, 16, 32, 64, 4, 8, 16, 32, 64, 16, 32, 64, 16,
#ifdef HAS_RELATED_TENSORS
  0, 8, 64, 128, 8, 8, 8, 8,
#endif
};

static GstTensor *
draw_tensor (void)
{
  const gsize dims[] = {
    g_test_rand_int_range (0, 7), g_test_rand_int_range (1, 5), g_test_rand_int_range (1, 3),
  };
  const int type = g_test_rand_int_range (-1, G_N_ELEMENTS (type_bits) + 2);
  GstTensor *tensor = new_foreign ((GstTensorDataType) type,
                                   (GstTensorDimOrder) g_test_rand_int_range (0, 2),
                                   g_test_rand_int_range (1, 120), dims,
                                   g_test_rand_int_range (0, 4));

  if (g_test_rand_int_range (0, 20) == 0)
    tensor->layout = (GstTensorLayout) g_test_rand_int_range (-1, 3);
  if (g_test_rand_int_range (0, 20) == 0)
    tensor->dims_order = (GstTensorDimOrder) g_test_rand_int_range (-1, 4);
  return tensor;
}

static gboolean
is_viewed (const GstTensor *tensor)
{
  gsize n_elements = 1;
  guint n_bits;

  if ((guint) tensor->data_type >= G_N_ELEMENTS (type_bits)
      || tensor->layout != GST_TENSOR_LAYOUT_CONTIGUOUS || (guint) tensor->dims_order > 1)
    return FALSE;

  for (gsize i = 0; i < tensor->num_dims; i++)
    n_elements *= tensor->dims[i];
  n_bits = type_bits[tensor->data_type];
  return n_bits > 0 && n_elements > 0
         && (n_elements * n_bits + 7) / 8 <= gst_buffer_get_size (tensor->data);
}

/* Returns the place of the element with the given indices, by the description of GStreamer. */
static gsize
get_bit (const GstTensor *tensor,
         const gsize     *indices)
{
  gsize position = 0;

  for (gsize i = 0; i < tensor->num_dims; i++)
    {
      const gsize axis =
        tensor->dims_order == GST_TENSOR_DIM_ORDER_ROW_MAJOR ? i : tensor->num_dims - 1 - i;

      position = position * tensor->dims[axis] + indices[axis];
    }

  return position * type_bits[tensor->data_type];
}

static void
test_random_tensors (void)
{
  guint n_views = 0;

  for (guint i = 0; i < 5000; i++)
    {
      g_autoptr (GstBuffer) buffer = gst_buffer_new ();
      g_autoptr (MtlStridedView) view = NULL;
      g_autoptr (GError) error = NULL;
      GstTensor *tensor = draw_tensor ();
      gsize last[3] = { 0 };
      gint64 bit = 0;

      set_tensors (buffer, &tensor, 1);
      view = mtl_gst_view_from_buffer_tensor (buffer, 0, GST_MAP_READ, &error);
      g_assert_true ((view != NULL) == is_viewed (tensor));
      g_assert_true ((view != NULL) == (error == NULL));
      if (view == NULL)
        continue;

      n_views++;
      for (gsize axis = 0; axis < tensor->num_dims; axis++)
        {
          last[axis] = g_test_rand_int_range (0, tensor->dims[axis]);
          bit += last[axis] * mtl_strided_view_get_strides (view, NULL)[axis];
        }
      g_assert_cmpuint (mtl_strided_layout_get_item_bits (mtl_strided_view_get_layout (view)), ==,
                        type_bits[tensor->data_type]);
      g_assert_cmpuint (bit * type_bits[tensor->data_type], ==, get_bit (tensor, last));
    }

  g_assert_cmpuint (n_views, >, 500);
}

/* An element that fails may leave tensors without their data, or only places for them. */
static void
test_without_data (void)
{
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();
  GstTensor *tensor = new_foreign (GST_TENSOR_DATA_TYPE_INT8, GST_TENSOR_DIM_ORDER_ROW_MAJOR, 8,
                                   (gsize[]) { 8 }, 1);
  GstTensorMeta *meta;

  set_tensors (buffer, &tensor, 1);
  gst_clear_buffer (&tensor->data);
  assert_fails (mtl_gst_view_from_buffer_tensor (buffer, 0, GST_MAP_READ, &error),
                MTL_ERROR_INVALID_DATA, "0");

  meta = gst_buffer_get_tensor_meta (buffer);
  meta->tensors[0] = NULL;
  assert_fails (mtl_gst_view_from_buffer_tensor (buffer, 0, GST_MAP_READ, &error),
                MTL_ERROR_INVALID_DATA, "0");
  g_assert_null (mtl_gst_buffer_get_tensor_id (buffer, 0));
  g_assert_cmpuint (mtl_gst_buffer_get_n_tensors (buffer), ==, 1);
  meta->tensors[0] = tensor;
}

#ifdef HAS_RELATED_TENSORS

typedef struct
{
  GPtrArray *views;
  GPtrArray *ids;
} Expected;

/* Draws dense tensors, in either order. */
static MtlStridedView *
draw_view (MtlDType dtype)
{
  const gint64 shape[] = {
    g_test_rand_int_range (1, 6), g_test_rand_int_range (1, 6), g_test_rand_int_range (1, 6),
  };
  g_autoptr (MtlStridedView) view = new_counting (dtype, shape, g_test_rand_int_range (0, 4));

  return g_test_rand_bit () ? mtl_strided_view_transpose (view) : g_object_ref (view);
}

static MtlDType
draw_dtype (void)
{
  if (g_test_rand_bit ())
    return unnamed_dtypes[g_test_rand_int_range (0, G_N_ELEMENTS (unnamed_dtypes))];

  return named_dtypes[g_test_rand_int_range (0, G_N_ELEMENTS (named_dtypes))];
}

static void
draw_expected (Expected *expected)
{
  g_ptr_array_add (expected->ids, g_strdup_printf ("tensor %d", g_test_rand_int_range (0, 9999)));
  g_ptr_array_add (expected->views, draw_view (draw_dtype ()));
}

/* An element writes this to describe the memory of the view. */
static void
fill_tensor (GstTensor      *tensor,
             const char     *id,
             MtlStridedView *view)
{
  g_autoptr (GstBuffer) holder = gst_buffer_new ();
  g_autoptr (GError) error = NULL;
  const GstTensor *added;

  g_assert_true (mtl_gst_buffer_add_tensor (holder, id, view, &error));
  g_assert_no_error (error);
  added = gst_tensor_meta_get (gst_buffer_get_tensor_meta (holder), 0);
  g_assert_cmpuint (tensor->num_dims, ==, added->num_dims);
  memcpy (tensor, added, sizeof *tensor + added->num_dims * sizeof *added->dims);
  gst_buffer_ref (tensor->data);
}

static void
draw_tensor_meta (GstBuffer *buffer,
                  Expected  *expected)
{
  const guint n_tensors = g_test_rand_int_range (0, 4);
  GstTensor **tensors = g_new (GstTensor *, n_tensors);

  for (guint i = 0; i < n_tensors; i++)
    {
      MtlStridedView *view;

      draw_expected (expected);
      view = expected->views->pdata[expected->views->len - 1];
      tensors[i] = gst_tensor_alloc (mtl_strided_view_get_n_dims (view));
      fill_tensor (tensors[i], expected->ids->pdata[expected->ids->len - 1], view);
    }

  gst_tensor_meta_set (gst_buffer_add_tensor_meta (buffer), n_tensors, tensors);
}

/* Other data of elements is among the tensors. */
static void
draw_relation_meta (GstBuffer *buffer,
                    Expected  *expected)
{
  const guint n_tensors = g_test_rand_int_range (0, 4);
  GstAnalyticsRelationMeta *meta = gst_buffer_add_analytics_relation_meta (buffer);

  for (guint i = 0; i < n_tensors; i++)
    {
      GstAnalyticsMtd other;
      GstAnalyticsTensorMtd tensor;
      MtlStridedView *view;

      if (g_test_rand_bit ())
        g_assert_true (gst_analytics_relation_meta_add_one_cls_mtd (meta, 0.5, 1, &other));
      draw_expected (expected);
      view = expected->views->pdata[expected->views->len - 1];
      g_assert_true (gst_analytics_relation_meta_add_tensor_mtd (
        meta, mtl_strided_view_get_n_dims (view), &tensor));
      fill_tensor (gst_analytics_tensor_mtd_get_tensor (&tensor),
                   expected->ids->pdata[expected->ids->len - 1], view);
    }
}

static void
assert_has_tensors (GstBuffer      *buffer,
                    const Expected *expected)
{
  g_autofree char *n_views = NULL;

  g_assert_cmpuint (mtl_gst_buffer_get_n_tensors (buffer), ==, expected->views->len);
  for (guint i = 0; i < expected->views->len; i++)
    assert_has_tensor (buffer, i, expected->ids->pdata[i], expected->views->pdata[i]);

  n_views = g_strdup_printf ("%u & 0", expected->views->len);
  g_assert_null (mtl_gst_buffer_get_tensor_id (buffer, expected->views->len));
  assert_fails (mtl_gst_view_from_buffer_tensor (buffer, expected->views->len, GST_MAP_READ,
                                                 &error),
                MTL_ERROR_OUT_OF_BOUNDS, n_views);
  assert_fails (mtl_gst_view_from_buffer_tensor (buffer, G_MAXUINT, GST_MAP_READ, &error),
                MTL_ERROR_OUT_OF_BOUNDS, "4294967295");
}

/* Tensors of any number of metas of both kinds, also in a copy of the buffer. */
static void
test_related (void)
{
  for (guint i = 0; i < 300; i++)
    {
      g_autoptr (GstBuffer) buffer = gst_buffer_new ();
      g_autoptr (GstBuffer) copy = NULL;
      g_autoptr (GPtrArray) views = g_ptr_array_new_with_free_func (g_object_unref);
      g_autoptr (GPtrArray) ids = g_ptr_array_new_with_free_func (g_free);
      Expected expected = { views, ids };
      const guint n_tensor_metas = g_test_rand_int_range (0, 3);
      const guint n_relation_metas = g_test_rand_int_range (0, 3);

      for (guint j = 0; j < n_tensor_metas; j++)
        draw_tensor_meta (buffer, &expected);
      for (guint j = 0; j < n_relation_metas; j++)
        draw_relation_meta (buffer, &expected);

      assert_has_tensors (buffer, &expected);
      copy = gst_buffer_copy (buffer);
      gst_clear_buffer (&buffer);
      assert_has_tensors (copy, &expected);
    }
}

/* It comes after those of the first meta, and before those of the others. */
static void
test_added_to_others (void)
{
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();
  g_autoptr (GPtrArray) views = g_ptr_array_new_with_free_func (g_object_unref);
  g_autoptr (GPtrArray) ids = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (MtlStridedView) view = new_counting (MTL_DTYPE_BOOL, DIMS (3, 4));
  g_autoptr (GError) error = NULL;
  Expected expected = { views, ids };
  guint n;

  draw_tensor_meta (buffer, &expected);
  n = expected.views->len;
  draw_tensor_meta (buffer, &expected);
  draw_relation_meta (buffer, &expected);
  g_assert_true (mtl_gst_buffer_add_tensor (buffer, "new", view, &error));
  g_assert_no_error (error);

  g_ptr_array_insert (expected.views, n, g_object_ref (view));
  g_ptr_array_insert (expected.ids, n, g_strdup ("new"));
  assert_has_tensors (buffer, &expected);
}

/* The view keeps the tensor's memory when the meta with it is gone. */
static void
test_related_lifetime (void)
{
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();
  GstAnalyticsRelationMeta *meta = gst_buffer_add_analytics_relation_meta (buffer);
  g_autoptr (MtlStridedView) view = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_true (gst_analytics_relation_meta_add_tensor_mtd_simple (
    meta, g_quark_from_static_string ("simple"), GST_TENSOR_DATA_TYPE_UINT8,
    gst_buffer_new_memdup ((guint8[]) { 1, 2, 3 }, 3), GST_TENSOR_DIM_ORDER_ROW_MAJOR, 1,
    (gsize[]) { 3 }, NULL));
  view = mtl_gst_view_from_buffer_tensor (buffer, 0, GST_MAP_READWRITE, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (mtl_gst_buffer_get_tensor_id (buffer, 0), ==, "simple");
  gst_clear_buffer (&buffer);
  for (gint64 i = 0; i < 3; i++)
    g_assert_cmpint (mtl_strided_view_get_int64 (view, DIMS (i), &error), ==, i + 1);
}

#endif

static void
test_bad_places (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();
  g_autoptr (GstBuffer) other = gst_buffer_ref (buffer);
  g_autoptr (MtlStridedView) view = new_counting (MTL_DTYPE_INT16, DIMS (4, 6));

  g_assert_false (mtl_gst_buffer_add_tensor (buffer, NULL, view, &error));
  g_assert_error (error, MTL_ERROR, MTL_ERROR_READ_ONLY);
  g_clear_error (&error);

  g_assert_null (mtl_gst_view_from_buffer_tensor (buffer, 0, GST_MAP_READ, &error));
  g_assert_error (error, MTL_ERROR, MTL_ERROR_OUT_OF_BOUNDS);
  g_assert_cmpuint (mtl_gst_buffer_get_n_tensors (buffer), ==, 0);
}

#else

/* GStreamer before 1.26. */
static void
test_without_tensors (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();
  g_autoptr (MtlStridedView) view = new_counting (MTL_DTYPE_INT16, DIMS (4, 6));

  g_assert_cmpuint (mtl_gst_buffer_get_n_tensors (buffer), ==, 0);
  g_assert_null (mtl_gst_buffer_get_tensor_id (buffer, 0));
  g_assert_null (mtl_gst_view_from_buffer_tensor (buffer, 0, GST_MAP_READ, &error));
  g_assert_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED);
  g_clear_error (&error);
  g_assert_false (mtl_gst_buffer_add_tensor (buffer, NULL, view, &error));
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
  g_test_add_func ("/gst/tensor/caps/types", test_caps_of_types);
  g_test_add_func ("/gst/tensor/caps/nibbles", test_caps_of_nibbles);
  g_test_add_func ("/gst/tensor/caps/bad", test_bad_caps);
  g_test_add_func ("/gst/tensor/caps/bad-views", test_caps_of_bad_views);
#ifdef MTL_GST_HAS_ANALYTICS
  g_test_add_func ("/gst/tensor/there-and-back", test_there_and_back);
  g_test_add_func ("/gst/tensor/parts-of-bytes", test_parts_of_bytes);
  g_test_add_func ("/gst/tensor/types-without", test_types_without_tensors);
  g_test_add_func ("/gst/tensor/foreign", test_foreign);
  g_test_add_func ("/gst/tensor/bad", test_bad_tensors);
  g_test_add_func ("/gst/tensor/random", test_random_tensors);
  g_test_add_func ("/gst/tensor/bad-places", test_bad_places);
  g_test_add_func ("/gst/tensor/without-data", test_without_data);
#ifdef HAS_RELATED_TENSORS
  g_test_add_func ("/gst/tensor/related", test_related);
  g_test_add_func ("/gst/tensor/added-to-others", test_added_to_others);
  g_test_add_func ("/gst/tensor/related-lifetime", test_related_lifetime);
#endif
#else
  g_test_add_func ("/gst/tensor/none", test_without_tensors);
#endif

  return g_test_run ();
}
