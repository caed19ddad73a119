/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-gst-tensor-private.h"

#include "mtl-gst-allocator-private.h"
#include "mtl-gst-check-private.h"
#include "mtl-gst-map-private.h"

#ifdef MTL_GST_HAS_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

#if defined (MTL_GST_HAS_ANALYTICS) && GST_CHECK_VERSION (1, 28, 0)
#define HAS_RELATED_TENSORS 1
#endif

/* The names are those of tensor/strided caps, which lack some. */
typedef struct
{
  MtlDType dtype;
  const char *name;
#ifdef MTL_GST_HAS_ANALYTICS
  GstTensorDataType type;
#endif
} TensorType;

#ifdef MTL_GST_HAS_ANALYTICS
#define TENSOR_TYPE(NAME, name) { MTL_DTYPE_##NAME, name, GST_TENSOR_DATA_TYPE_##NAME }
#else
#define TENSOR_TYPE(NAME, name) { MTL_DTYPE_##NAME, name }
#endif

/* GStreamer packs two numbers of 4 bits into a byte. It does not say which comes first; those of
 * its elements that have such tensors pass on the memory of ONNX Runtime, which begins with the
 * lower bits, as Mtl does. */
static const TensorType tensor_types[] = {
  TENSOR_TYPE (INT4, "int4"),
  TENSOR_TYPE (INT8, "int8"),
  TENSOR_TYPE (INT16, "int16"),
  TENSOR_TYPE (INT32, "int32"),
  TENSOR_TYPE (INT64, "int64"),
  TENSOR_TYPE (UINT4, "uint4"),
  TENSOR_TYPE (UINT8, "uint8"),
  TENSOR_TYPE (UINT16, "uint16"),
  TENSOR_TYPE (UINT32, "uint32"),
  TENSOR_TYPE (UINT64, "uint64"),
  TENSOR_TYPE (FLOAT16, "float16"),
  TENSOR_TYPE (FLOAT32, "float32"),
  TENSOR_TYPE (FLOAT64, "float64"),
  TENSOR_TYPE (BFLOAT16, "bfloat16"),
#ifdef HAS_RELATED_TENSORS
  TENSOR_TYPE (BOOL, NULL),
  TENSOR_TYPE (COMPLEX64, NULL),
  TENSOR_TYPE (COMPLEX128, NULL),
  { MTL_DTYPE_FLOAT8_E4M3FN, NULL, GST_TENSOR_DATA_TYPE_FLOAT8E4M3FN },
  { MTL_DTYPE_FLOAT8_E4M3FNUZ, NULL, GST_TENSOR_DATA_TYPE_FLOAT8E4M3FNUZ },
  { MTL_DTYPE_FLOAT8_E5M2, NULL, GST_TENSOR_DATA_TYPE_FLOAT8E5M2 },
  { MTL_DTYPE_FLOAT8_E5M2FNUZ, NULL, GST_TENSOR_DATA_TYPE_FLOAT8E5M2FNUZ },
#endif
};

#define NAMED_TYPES "integers of 4 to 64 bits or floats of 16 to 64"
#ifdef HAS_RELATED_TENSORS
#define TYPES NAMED_TYPES ", bool, complex64, complex128, float8_e4m3fn, float8_e4m3fnuz," \
              " float8_e5m2 or float8_e5m2fnuz"
#else
#define TYPES NAMED_TYPES
#endif

/* Layouts have at most this many dimensions. */
#define MAX_DIMS 64

static gboolean
check_n_dims (gsize    n_dims,
              GError **error)
{
  if (n_dims <= MAX_DIMS)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_OVERFLOW,
               "The tensor has %" G_GSIZE_FORMAT " dimensions; the limit is %d", n_dims, MAX_DIMS);
  return FALSE;
}

static const TensorType *
tensor_type_of_view (MtlStridedView  *view,
                     GError         **error)
{
  const MtlDType dtype = mtl_strided_view_get_dtype (view);
  g_autofree char *text = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (tensor_types); i++)
    if (tensor_types[i].dtype == dtype && mtl_strided_view_get_lanes (view) == 1)
      return &tensor_types[i];

  text = mtl_dtype_to_string (dtype);
  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "Tensors of this GStreamer have " TYPES ", with 1 lane; the elements are %s with %u:"
               " convert them with to_dtype()",
               text, mtl_strided_view_get_lanes (view));
  return NULL;
}

static gboolean
check_has_name (const TensorType  *type,
                GError           **error)
{
  g_autofree char *text = NULL;

  if (type->name != NULL)
    return TRUE;

  text = mtl_dtype_to_string (type->dtype);
  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "Caps have names for " NAMED_TYPES ", but none for %s: convert the elements with"
               " to_dtype()", text);
  return FALSE;
}

/* Returns whether the first axis is the densest, as in GStreamer's column-major order. */
static gboolean
find_order (MtlStridedView  *view,
            gboolean        *is_column_major,
            GError         **error)
{
  *is_column_major = FALSE;
  if (mtl_strided_view_is_contiguous (view, MTL_ORDER_C))
    return TRUE;

  *is_column_major = TRUE;
  if (mtl_strided_view_is_contiguous (view, MTL_ORDER_F))
    return TRUE;

  g_set_error_literal (error, MTL_ERROR, MTL_ERROR_NEEDS_COPY,
                       "Tensors of GStreamer have to be contiguous in C or F order: use"
                       " to_contiguous()");
  return FALSE;
}

/**
 * mtl_gst_tensor_caps_from_view:
 * @view: a view that is contiguous in C or F order
 * @id: (nullable): what the tensor is, for elements that look for it
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates `tensor/strided` caps with the shape, the order and the type of a
 * view. [func@MtlGst.layout_from_caps] does the reverse.
 *
 * Errors:
 *
 * - %MTL_ERROR_NOT_SUPPORTED: GStreamer has no name for the type of the elements
 * - %MTL_ERROR_NEEDS_COPY: the view is not contiguous
 * - %MTL_ERROR_OVERFLOW: an extent does not fit in 31 bits
 *
 * Returns: (transfer full): the new caps
 *
 * Since: 1.0
 */
GstCaps *
mtl_gst_tensor_caps_from_view (MtlStridedView  *view,
                               const char      *id,
                               GError         **error)
{
  g_autoptr (GstCaps) caps = NULL;
  g_auto (GValue) dims = G_VALUE_INIT;
  const TensorType *type;
  const gint64 *shape;
  gboolean is_column_major;
  gsize n_dims;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (view), NULL);

  type = tensor_type_of_view (view, error);
  if (type == NULL || !check_has_name (type, error) || !find_order (view, &is_column_major, error))
    return NULL;

  shape = mtl_strided_view_get_shape (view, &n_dims);
  gst_value_array_init (&dims, n_dims);
  for (gsize i = 0; i < n_dims; i++)
    {
      g_auto (GValue) dim = G_VALUE_INIT;

      if (shape[i] > G_MAXINT)
        {
          g_set_error (error, MTL_ERROR, MTL_ERROR_OVERFLOW,
                       "Axis %" G_GSIZE_FORMAT " has the extent %" G_GINT64_FORMAT "; the limit of"
                       " caps is %d", i, shape[i], G_MAXINT);
          return NULL;
        }

      g_value_init (&dim, G_TYPE_INT);
      g_value_set_int (&dim, shape[i]);
      gst_value_array_append_and_take_value (&dims, &dim);
    }

  caps = gst_caps_new_simple ("tensor/strided",
                              "dims-order", G_TYPE_STRING,
                              is_column_major ? "col-major" : "row-major",
                              "type", G_TYPE_STRING, type->name,
                              NULL);
  gst_caps_set_value (caps, "dims", &dims);
  if (id != NULL)
    gst_caps_set_simple (caps, "tensor-id", G_TYPE_STRING, id, NULL);

  return g_steal_pointer (&caps);
}

static const TensorType *
tensor_type_by_name (const char  *name,
                     GError     **error)
{
  if (name == NULL)
    {
      g_set_error_literal (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                           "The caps need a string field “type” with the type of the elements");
      return NULL;
    }

  for (gsize i = 0; i < G_N_ELEMENTS (tensor_types); i++)
    if (g_strcmp0 (tensor_types[i].name, name) == 0)
      return &tensor_types[i];

  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "The caps have the type “%s”; only " NAMED_TYPES " are supported", name);
  return NULL;
}

/* The order is row-major if there is no name. */
static gboolean
order_by_name (const char  *name,
               MtlOrder    *order,
               GError     **error)
{
  *order = g_strcmp0 (name, "col-major") == 0 ? MTL_ORDER_F : MTL_ORDER_C;
  if (name == NULL || *order == MTL_ORDER_F || g_str_equal (name, "row-major"))
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "The caps have the dims-order “%s”; only row-major and col-major are supported",
               name);
  return FALSE;
}

MtlStridedLayout *
mtl_gst_layout_from_tensor_structure (const GstStructure  *structure,
                                      MtlDType            *dtype,
                                      GError             **error)
{
  const GValue *dims = gst_structure_get_value (structure, "dims");
  const TensorType *type = tensor_type_by_name (gst_structure_get_string (structure, "type"),
                                                error);
  gint64 shape[MAX_DIMS];
  MtlOrder order;
  guint n_dims;

  if (type == NULL || !order_by_name (gst_structure_get_string (structure, "dims-order"), &order,
                                      error))
    return NULL;

  if (dims == NULL || !GST_VALUE_HOLDS_ARRAY (dims))
    {
      g_set_error_literal (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                           "The caps need an array field “dims” with the extents of the tensor");
      return NULL;
    }

  n_dims = gst_value_array_get_size (dims);
  if (!check_n_dims (n_dims, error))
    return NULL;

  for (guint i = 0; i < n_dims; i++)
    {
      const GValue *dim = gst_value_array_get_value (dims, i);

      /* Caps that are not fixed have ranges, or 0 for any extent. */
      if (!G_VALUE_HOLDS_INT (dim) || g_value_get_int (dim) <= 0)
        {
          g_autofree char *text = gst_value_serialize (dim);

          g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                       "Axis %u of the caps has the extent %s; it has to be a fixed number of at"
                       " least 1", i, text);
          return NULL;
        }

      shape[i] = g_value_get_int (dim);
    }

  if (dtype != NULL)
    *dtype = type->dtype;
  return mtl_strided_layout_new_dense (shape, n_dims, order, mtl_dtype_get_bits (type->dtype),
                                       error);
}

#ifdef MTL_GST_HAS_ANALYTICS

#ifdef HAS_RELATED_TENSORS

/* Continues to count where find_tensor() is. */
static const GstTensor *
find_related_tensor (GstBuffer *buffer,
                     guint      index,
                     guint     *n_tensors)
{
  const GstAnalyticsMtdType type = gst_analytics_tensor_mtd_get_mtd_type ();
  const GstTensor *found = NULL;
  gpointer state = NULL;
  GstMeta *meta;

  while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state,
                                                   GST_ANALYTICS_RELATION_META_API_TYPE)) != NULL)
    {
      GstAnalyticsRelationMeta *relations = (GstAnalyticsRelationMeta *) meta;
      GstAnalyticsTensorMtd tensor;
      gpointer position = NULL;

      while (gst_analytics_relation_meta_iterate (relations, &position, type, &tensor))
        if ((*n_tensors)++ == index)
          found = gst_analytics_tensor_mtd_get_tensor (&tensor);
    }

  return found;
}

#endif

/* Finds one tensor, and counts them all. A buffer can have several metas of each kind. */
static const GstTensor *
find_tensor (GstBuffer *buffer,
             guint      index,
             guint     *n_tensors)
{
  const GstTensor *found = NULL;
  gpointer state = NULL;
  GstMeta *meta;

  *n_tensors = 0;
  while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state,
                                                   GST_TENSOR_META_API_TYPE)) != NULL)
    {
      const GstTensorMeta *tensors = (GstTensorMeta *) meta;

      if (index >= *n_tensors && index - *n_tensors < tensors->num_tensors)
        found = tensors->tensors[index - *n_tensors];
      *n_tensors += tensors->num_tensors;
    }

#ifdef HAS_RELATED_TENSORS
  {
    const GstTensor *related = find_related_tensor (buffer, index, n_tensors);

    if (related != NULL)
      return related;
  }
#endif
  return found;
}

static gboolean
check_is_tensor (const GstTensor  *tensor,
                 guint             index,
                 guint             n_tensors,
                 GError          **error)
{
  if (index >= n_tensors)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_OUT_OF_BOUNDS,
                   "There is no tensor %u: the buffer has %u, counted from 0",
                   index, n_tensors);
      return FALSE;
    }

  if (tensor == NULL || tensor->data == NULL)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA, "Tensor %u has no data", index);
      return FALSE;
    }

  if (tensor->layout != GST_TENSOR_LAYOUT_CONTIGUOUS)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                   "Tensor %u has the layout %d; only %d, contiguous, is supported",
                   index, tensor->layout, GST_TENSOR_LAYOUT_CONTIGUOUS);
      return FALSE;
    }

  if (tensor->dims_order != GST_TENSOR_DIM_ORDER_ROW_MAJOR
      && tensor->dims_order != GST_TENSOR_DIM_ORDER_COL_MAJOR)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                   "Tensor %u has the order %d; only %d, row-major, and %d, column-major, are"
                   " supported", index, tensor->dims_order, GST_TENSOR_DIM_ORDER_ROW_MAJOR,
                   GST_TENSOR_DIM_ORDER_COL_MAJOR);
      return FALSE;
    }

  return TRUE;
}

static const TensorType *
tensor_type_of (const GstTensor  *tensor,
                GError          **error)
{
  for (gsize i = 0; i < G_N_ELEMENTS (tensor_types); i++)
    if (tensor_types[i].type == tensor->data_type)
      return &tensor_types[i];

#ifdef HAS_RELATED_TENSORS
  if (tensor->data_type == GST_TENSOR_DATA_TYPE_STRING)
    {
      g_set_error_literal (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                           "The tensor has elements of the type string, which differ in size;"
                           " only " TYPES " are supported");
      return NULL;
    }
#endif

  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "The tensor has elements of GStreamer's type %d; only " TYPES " are supported",
               tensor->data_type);
  return NULL;
}

static MtlStridedLayout *
layout_of_tensor (const GstTensor   *tensor,
                  const TensorType  *type,
                  GError           **error)
{
  gint64 shape[MAX_DIMS];

  if (!check_n_dims (tensor->num_dims, error))
    return NULL;

  for (gsize i = 0; i < tensor->num_dims; i++)
    {
      if (tensor->dims[i] > G_MAXINT64)
        {
          g_set_error (error, MTL_ERROR, MTL_ERROR_OVERFLOW,
                       "Axis %" G_GSIZE_FORMAT " has the extent %" G_GSIZE_FORMAT "; the limit is %"
                       G_GINT64_FORMAT, i, tensor->dims[i], G_MAXINT64);
          return NULL;
        }

      shape[i] = tensor->dims[i];
    }

  return mtl_strided_layout_new_dense (shape, tensor->num_dims,
                                       tensor->dims_order == GST_TENSOR_DIM_ORDER_COL_MAJOR
                                       ? MTL_ORDER_F : MTL_ORDER_C,
                                       mtl_dtype_get_bits (type->dtype), error);
}

/* A view of dense elements in any order. The last byte of an odd number of 4 bits is shared with
 * others. */
static GstBuffer *
data_new (MtlStridedView  *view,
          GError         **error)
{
  const gsize n_bits = mtl_strided_view_get_volume (view)
                       * mtl_strided_layout_get_item_bits (mtl_strided_view_get_layout (view));
  gpointer first;
  GstMemory *memory;
  GstBuffer *data;

  if (!mtl_gst_check_not_empty (view, error) || !mtl_gst_check_reachable (view, error))
    {
      g_prefix_error (error, "Tensor: ");
      return NULL;
    }

  first = mtl_strided_view_get_data (view);
  if (first == NULL)
    {
      g_set_error_literal (error, MTL_ERROR, MTL_ERROR_NEEDS_COPY,
                           "The first element does not begin at a byte: copy the view first");
      return NULL;
    }

  memory = mtl_gst_memory_new (mtl_strided_view_get_buffer (view), first,
                               n_bits / 8 + (n_bits % 8 != 0),
                               mtl_strided_view_is_read_only (view), error);
  if (memory == NULL)
    return NULL;

  data = gst_buffer_new ();
  gst_buffer_append_memory (data, memory);
  return data;
}

#else

static gboolean
refuse_tensors (GError **error)
{
  g_set_error_literal (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                       "This build does not support tensors of buffers; that needs GStreamer 1.26"
                       " with gstreamer-analytics-1.0");
  return FALSE;
}

#endif

/**
 * mtl_gst_buffer_get_n_tensors:
 * @buffer: a buffer
 *
 * Gets the number of tensors that elements added to a buffer.
 *
 * The first ones are those of each `GstTensorMeta`, in which GStreamer 1.26 has
 * tensors. Those of each `GstAnalyticsRelationMeta` follow, where GStreamer
 * 1.28 and later may have them, too, as `GstAnalyticsTensorMtd`. Before
 * GStreamer 1.26 there are none.
 *
 * Returns: the number of tensors
 *
 * Since: 1.0
 */
guint
mtl_gst_buffer_get_n_tensors (GstBuffer *buffer)
{
  guint n_tensors = 0;

  g_return_val_if_fail (GST_IS_BUFFER (buffer), 0);

#ifdef MTL_GST_HAS_ANALYTICS
  find_tensor (buffer, G_MAXUINT, &n_tensors);
#endif
  return n_tensors;
}

/**
 * mtl_gst_buffer_get_tensor_id:
 * @buffer: a buffer
 * @index: which tensor, from 0, in the order of [func@MtlGst.buffer_get_n_tensors]
 *
 * Gets the text that says what a tensor of a buffer is.
 *
 * Returns: (nullable): the text, or %NULL if there is no such tensor or it has
 *   none
 *
 * Since: 1.0
 */
const char *
mtl_gst_buffer_get_tensor_id (GstBuffer *buffer,
                              guint      index)
{
  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);

#ifdef MTL_GST_HAS_ANALYTICS
  {
    guint n_tensors;
    const GstTensor *tensor = find_tensor (buffer, index, &n_tensors);

    return tensor != NULL ? g_quark_to_string (tensor->id) : NULL;
  }
#else
  return NULL;
#endif
}

/**
 * mtl_gst_view_from_buffer_tensor:
 * @buffer: a buffer
 * @index: which tensor, from 0, in the order of [func@MtlGst.buffer_get_n_tensors]
 * @flags: as for [func@MtlGst.view_from_buffer]
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a view of a tensor that an element added to a buffer, without a copy.
 *
 * The tensor's axes are those of the view. In column-major order the first axis
 * is the densest. Two `int4` or `uint4` are in a byte, the first one in its
 * lower bits, as ONNX has them.
 *
 * Errors:
 *
 * - %MTL_ERROR_NOT_SUPPORTED: the library was built without GStreamer 1.26, the
 *   tensor has strings or other elements that this GStreamer has no type for, or
 *   it is not contiguous
 * - %MTL_ERROR_INVALID_DATA: the tensor has no data
 * - %MTL_ERROR_OUT_OF_BOUNDS: there is no such tensor, or its data is too short
 * - %MTL_ERROR_OVERFLOW: the size does not fit in 63 bits, or the tensor has
 *   more than 64 dimensions
 * - the errors of [func@MtlGst.view_from_buffer]
 *
 * Returns: (transfer full): the view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_gst_view_from_buffer_tensor (GstBuffer    *buffer,
                                 guint         index,
                                 GstMapFlags   flags,
                                 GError      **error)
{
#ifdef MTL_GST_HAS_ANALYTICS
  g_autoptr (MtlStridedLayout) layout = NULL;
  const GstTensor *tensor;
  const TensorType *type;
  guint n_tensors;

  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);

  tensor = find_tensor (buffer, index, &n_tensors);
  if (!check_is_tensor (tensor, index, n_tensors, error))
    return NULL;

  type = tensor_type_of (tensor, error);
  if (type == NULL)
    return NULL;

  layout = layout_of_tensor (tensor, type, error);
  if (layout == NULL)
    return NULL;

  return mtl_gst_view_new_for_layout (tensor->data, layout, type->dtype, flags, error);
#else
  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);

  refuse_tensors (error);
  return NULL;
#endif
}

/**
 * mtl_gst_buffer_add_tensor:
 * @buffer: a buffer with no other users
 * @id: (nullable): what the tensor is, for elements that look for it
 * @view: a view that is contiguous in C or F order
 * @error: return location for a [error@Mtl.Error]
 *
 * Adds a tensor with the memory of a view to a buffer, without a copy.
 *
 * It becomes the last one of the buffer's first `GstTensorMeta`, where elements
 * that decode tensors look for it. `bool`, `complex64`, `complex128` and the
 * four types of 8-bit floats that ONNX has need GStreamer 1.28.
 *
 * Errors:
 *
 * - %MTL_ERROR_NOT_SUPPORTED: the library was built without GStreamer 1.26, or
 *   GStreamer's tensors have no such elements
 * - %MTL_ERROR_INVALID_ARGUMENT: the view is empty
 * - %MTL_ERROR_READ_ONLY: the buffer has other users
 * - %MTL_ERROR_NEEDS_COPY: the view is not contiguous, or does not begin with a
 *   byte
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: the host cannot read the memory
 * - a [error@Gio.IOErrorEnum]: see [func@MtlGst.buffer_from_view]
 *
 * Returns: whether the tensor was added
 *
 * Since: 1.0
 */
gboolean
mtl_gst_buffer_add_tensor (GstBuffer       *buffer,
                           const char      *id,
                           MtlStridedView  *view,
                           GError         **error)
{
#ifdef MTL_GST_HAS_ANALYTICS
  g_autoptr (GstBuffer) data = NULL;
  const TensorType *type;
  GstTensorMeta *meta;
  GstTensor *tensor;
  const gint64 *shape;
  gboolean is_column_major;
  gsize n_dims;

  g_return_val_if_fail (GST_IS_BUFFER (buffer), FALSE);
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (view), FALSE);

  if (!gst_buffer_is_writable (buffer))
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_READ_ONLY,
                   "The buffer has %d users, and can only be changed if it has 1: use"
                   " gst_buffer_make_writable()", GST_MINI_OBJECT_REFCOUNT_VALUE (buffer));
      return FALSE;
    }

  type = tensor_type_of_view (view, error);
  if (type == NULL || !find_order (view, &is_column_major, error))
    return FALSE;

  data = data_new (view, error);
  if (data == NULL)
    return FALSE;

  shape = mtl_strided_view_get_shape (view, &n_dims);
  tensor = gst_tensor_alloc (n_dims);
  tensor->id = g_quark_from_string (id);
  tensor->layout = GST_TENSOR_LAYOUT_CONTIGUOUS;
  tensor->data_type = type->type;
  tensor->data = g_steal_pointer (&data);
  tensor->dims_order = is_column_major ? GST_TENSOR_DIM_ORDER_COL_MAJOR
                                       : GST_TENSOR_DIM_ORDER_ROW_MAJOR;
  tensor->num_dims = n_dims;
  for (gsize i = 0; i < n_dims; i++)
    tensor->dims[i] = shape[i];

  /* Elements look at the first one only, and since 1.28 GStreamer would add another. */
  meta = gst_buffer_get_tensor_meta (buffer);
  if (meta == NULL)
    meta = gst_buffer_add_tensor_meta (buffer);
  meta->tensors = g_renew (GstTensor *, meta->tensors, meta->num_tensors + 1);
  meta->tensors[meta->num_tensors++] = tensor;
  return TRUE;
#else
  g_return_val_if_fail (GST_IS_BUFFER (buffer), FALSE);
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (view), FALSE);

  return refuse_tensors (error);
#endif
}
