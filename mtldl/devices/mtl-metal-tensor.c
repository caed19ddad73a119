/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* The layouts that an MTLTensor over an MTLBuffer can have, by the headers of the SDKs
 * for macOS 26.0 to 27.0. */

#include "mtl-metal-tensor-private.h"

#include "mtl-error-private.h"

/* Strides and offsets of the types that Metal calls formats are multiples of these. */
#define FORMAT_BYTES 128
#define FORMAT_EXTENT 32
#define MACHINE_LEARNING_BYTES 64
#define ALL_USAGES \
  (MTL_METAL_TENSOR_USAGE_COMPUTE | MTL_METAL_TENSOR_USAGE_RENDER \
   | MTL_METAL_TENSOR_USAGE_MACHINE_LEARNING)

typedef struct
{
  MtlDType dtype;
  guint data_type;
  guint macos; /* the first version that has it */
  gboolean is_format;
} TensorType;

static const TensorType tensor_types[] = {
  { MTL_DTYPE_FLOAT32, 3, MTL_MACOS (26, 0), FALSE },
  { MTL_DTYPE_FLOAT16, 16, MTL_MACOS (26, 0), FALSE },
  { MTL_DTYPE_BFLOAT16, 121, MTL_MACOS (26, 0), FALSE },
  { MTL_DTYPE_INT8, 45, MTL_MACOS (26, 0), FALSE },
  { MTL_DTYPE_UINT8, 49, MTL_MACOS (26, 0), FALSE },
  { MTL_DTYPE_INT16, 37, MTL_MACOS (26, 0), FALSE },
  { MTL_DTYPE_UINT16, 41, MTL_MACOS (26, 0), FALSE },
  { MTL_DTYPE_INT32, 29, MTL_MACOS (26, 0), FALSE },
  { MTL_DTYPE_UINT32, 33, MTL_MACOS (26, 0), FALSE },
  { MTL_DTYPE_INT4, 143, MTL_MACOS (26, 4), TRUE },
  { MTL_DTYPE_UINT4, 144, MTL_MACOS (26, 4), TRUE },
  { MTL_DTYPE_INT2, 150, MTL_MACOS (27, 0), TRUE },
  { MTL_DTYPE_UINT2, 149, MTL_MACOS (27, 0), TRUE },
  { MTL_DTYPE_FLOAT4_E2M1FN, 148, MTL_MACOS (27, 0), TRUE },
  { MTL_DTYPE_FLOAT8_E4M3FN, 142, MTL_MACOS (27, 0), TRUE },
  { MTL_DTYPE_FLOAT8_E5M2, 141, MTL_MACOS (27, 0), TRUE },
};

/* The requirements of a tensor's type and usage. */
typedef struct
{
  const TensorType *type;
  guint bits;
  gboolean machine_learning;
} Request;

static const TensorType *
find_type (MtlElementType type)
{
  for (gsize i = 0; i < G_N_ELEMENTS (tensor_types); i++)
    if (mtl_element_type_get_dtype (type) == tensor_types[i].dtype)
      return &tensor_types[i];

  return NULL;
}

/* The stride of a dimension is a multiple of this many elements. */
static gint64
get_stride_unit (const Request *request,
                 guint          dim)
{
  if (dim > 0 && request->type->is_format)
    return FORMAT_BYTES * 8 / request->bits;

  return dim == 1 && request->machine_learning ? MACHINE_LEARNING_BYTES * 8 / request->bits : 1;
}

/* The shortest stride that keeps clear of the dimension before. */
static gboolean
get_next_stride (const Request *request,
                 const gint64  *dims,
                 const gint64  *strides,
                 guint          dim,
                 gint64        *stride)
{
  gint64 unit = get_stride_unit (request, dim);

  *stride = 1;
  if (dim == 0)
    return TRUE;

  if (__builtin_mul_overflow (strides[dim - 1], dims[dim - 1], stride)
      || __builtin_add_overflow (*stride, unit - 1, stride))
    return FALSE;

  *stride -= *stride % unit;
  return TRUE;
}

static gboolean
has_extent_of_format (const MtlLayout *layout)
{
  for (guint32 i = 0; i < layout->n_dims; i++)
    if (mtl_layout_shape (layout)[i] % FORMAT_EXTENT == 0)
      return TRUE;

  return FALSE;
}

static gboolean
check_type (MtlElementType    type,
            const TensorType *found,
            guint             macos,
            GError          **error)
{
  g_autofree char *name = NULL;

  if (found != NULL && type.lanes == 1 && macos >= found->macos)
    return TRUE;

  name = mtl_element_type_to_string (type);
  if (found != NULL && type.lanes == 1)
    g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                 "An MTLTensor of %s needs macOS %u.%u, and this is macOS %u.%u", name,
                 found->macos / 100, found->macos % 100, macos / 100, macos % 100);
  else
    g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                 "An MTLTensor cannot have elements of type %s", name);
  return FALSE;
}

/* Checks the requirements that no copy can meet. */
static gboolean
check_elements (const MtlLayout      *layout,
                MtlElementType        type,
                MtlMetalTensorUsage   usage,
                guint                 macos,
                Request              *request,
                GError              **error)
{
  const TensorType *found = find_type (type);
  g_autofree char *shape = NULL;

  if (usage == 0 || (usage & ~ALL_USAGES) != 0)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "The usage 0x%x of an MTLTensor has no flags, or unknown ones: all flags are"
                   " 0x%x", usage, ALL_USAGES);
      return FALSE;
    }

  if (!check_type (type, found, macos, error))
    return FALSE;

  *request = (Request) { found, type.bits, (usage & MTL_METAL_TENSOR_USAGE_MACHINE_LEARNING) != 0 };
  if (layout->n_dims <= MTL_METAL_TENSOR_MAX_DIMS && !mtl_layout_is_empty (layout)
      && (!found->is_format || has_extent_of_format (layout)))
    return TRUE;

  shape = mtl_dims_to_string (mtl_layout_shape (layout), layout->n_dims);
  if (layout->n_dims > MTL_METAL_TENSOR_MAX_DIMS)
    g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                 "%u dimensions exceed the limit of %d of an MTLTensor", layout->n_dims,
                 MTL_METAL_TENSOR_MAX_DIMS);
  else if (mtl_layout_is_empty (layout))
    g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                 "The shape %s has no elements; an MTLTensor needs at least 1", shape);
  else
    g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                 "None of the extents %s is a multiple of %d, as the innermost one of an MTLTensor"
                 " of %s has to be", shape, FORMAT_EXTENT, mtl_dtype_get_name (found->dtype));
  return FALSE;
}

/* The tensor's dimensions are the axes in the order in which they lie in memory. */
static void
sort_dims (const MtlLayout *layout,
           MtlMetalTensor  *tensor)
{
  int axes[MTL_LAYOUT_MAX_DIMS];

  mtl_layout_get_stride_order (layout, axes);
  tensor->n_dims = layout->n_dims;
  for (guint i = 0; i < tensor->n_dims; i++)
    {
      int axis = axes[tensor->n_dims - 1 - i];

      tensor->dims[i] = mtl_layout_shape (layout)[axis];
      tensor->strides[i] = mtl_layout_strides (layout)[axis];
    }
}

/* Nothing steps along a dimension of extent 1: it gets a stride that fits. For machine
 * learning, all strides follow from that of dimension 1, and so that one from the next that
 * counts. */
static gboolean
choose_free_stride (const Request  *request,
                    MtlMetalTensor *tensor,
                    guint           dim)
{
  if (request->machine_learning && dim == 1)
    for (guint next = 2; next < tensor->n_dims; next++)
      if (tensor->dims[next] != 1)
        {
          tensor->strides[dim] = tensor->strides[next];
          return TRUE;
        }

  return get_next_stride (request, tensor->dims, tensor->strides, dim, &tensor->strides[dim]);
}

/* Returns why a stride does not fit, or NULL. */
static char *
find_fault_of_stride (const Request        *request,
                      const MtlMetalTensor *tensor,
                      guint                 dim)
{
  gint64 stride = tensor->strides[dim];
  gint64 unit = get_stride_unit (request, dim);
  gint64 within;

  if (dim == 0)
    return stride == 1 ? NULL : g_strdup_printf ("the smallest stride is %" G_GINT64_FORMAT
                                                 " and not 1", stride);

  if (__builtin_mul_overflow (tensor->strides[dim - 1], tensor->dims[dim - 1], &within)
      || stride < within)
    return g_strdup_printf ("a stride of %" G_GINT64_FORMAT " is less than %" G_GINT64_FORMAT
                            " × %" G_GINT64_FORMAT ", the extent times the stride of the axis"
                            " within", stride, tensor->dims[dim - 1], tensor->strides[dim - 1]);

  if (stride % unit != 0)
    return g_strdup_printf ("a stride of %" G_GINT64_FORMAT " is not a multiple of %"
                            G_GINT64_FORMAT " elements, which are %u bytes", stride, unit,
                            (guint) (unit * request->bits / 8));

  if (request->machine_learning && dim > 1 && stride != within)
    return g_strdup_printf ("a stride of %" G_GINT64_FORMAT " is more than %" G_GINT64_FORMAT
                            " × %" G_GINT64_FORMAT ", and for machine learning there are no gaps"
                            " but those between rows", stride, tensor->dims[dim - 1],
                            tensor->strides[dim - 1]);

  return NULL;
}

static char *
find_fault_of_strides (const Request  *request,
                       MtlMetalTensor *tensor)
{
  for (guint i = 0; i < tensor->n_dims; i++)
    {
      char *fault;

      if (tensor->dims[i] == 1 && !choose_free_stride (request, tensor, i))
        return g_strdup_printf ("a stride for the extent of 1 in dimension %u would be beyond the"
                                " limit of 2^63 − 1", i);

      fault = find_fault_of_stride (request, tensor, i);
      if (fault != NULL)
        return fault;
    }

  return NULL;
}

static char *
find_fault_of_offset (const Request *request,
                      gsize          offset)
{
  guint unit = request->type->is_format ? FORMAT_BYTES : request->bits / 8;

  if (request->machine_learning && offset != 0)
    return g_strdup_printf ("the first element is at byte %" G_GSIZE_FORMAT " and not at byte 0 of"
                            " its MTLBuffer, as for machine learning", offset);

  if (offset % unit != 0)
    return g_strdup_printf ("the first element is at byte %" G_GSIZE_FORMAT ", which is not a"
                            " multiple of %u", offset, unit);

  return NULL;
}

/* Returns why a copy is needed, or NULL if the tensor is described. */
static char *
find_fault (const Request   *request,
            const MtlLayout *layout,
            gsize            byte_offset,
            MtlMetalTensor  *tensor)
{
  gint64 first;
  guint bit;
  char *fault;

  if (layout->item_bits != request->bits)
    return g_strdup_printf ("elements of %u bits take %u", request->bits, layout->item_bits);

  mtl_layout_get_first_byte (layout, &first, &bit);
  if (bit != 0)
    return g_strdup_printf ("the first element begins at bit %u of a byte", bit);

  tensor->data_type = request->type->data_type;
  tensor->byte_offset = byte_offset + first;
  sort_dims (layout, tensor);
  fault = find_fault_of_strides (request, tensor);
  if (fault != NULL)
    return fault;

  if (request->type->is_format && tensor->dims[0] % FORMAT_EXTENT != 0)
    return g_strdup_printf ("the innermost extent %" G_GINT64_FORMAT " is not a multiple of %d",
                            tensor->dims[0], FORMAT_EXTENT);

  return find_fault_of_offset (request, tensor->byte_offset);
}

/* C order makes the tensor's dimensions the axes from the last to the first. If that one
 * cannot be the innermost, the last one that can is. */
static void
choose_order (const Request   *request,
              const MtlLayout *layout,
              int             *axes)
{
  int last = (int) layout->n_dims - 1;
  int innermost = last;
  guint n = 0;

  if (request->type->is_format)
    while (mtl_layout_shape (layout)[innermost] % FORMAT_EXTENT != 0)
      innermost--;

  for (int axis = last; axis >= 0; axis--)
    if (axis == last)
      axes[n++] = innermost;
    else
      axes[n++] = axis < innermost ? axis : axis + 1;
}

static gboolean
new_fitting_layout (const Request    *request,
                    const MtlLayout  *layout,
                    MtlLayout        *result,
                    GError          **error)
{
  const gint64 *shape = mtl_layout_shape (layout);
  gint64 dims[MTL_METAL_TENSOR_MAX_DIMS], sorted[MTL_METAL_TENSOR_MAX_DIMS];
  gint64 strides[MTL_METAL_TENSOR_MAX_DIMS];
  int axes[MTL_METAL_TENSOR_MAX_DIMS];

  choose_order (request, layout, axes);
  for (guint i = 0; i < layout->n_dims; i++)
    {
      dims[i] = shape[axes[i]];
      if (!get_next_stride (request, dims, sorted, i, &sorted[i]))
        {
          g_autofree char *string = mtl_dims_to_string (shape, layout->n_dims);

          g_set_error (error, MTL_ERROR, MTL_ERROR_OVERFLOW,
                       "The strides of an MTLTensor of shape %s are beyond the limit of 2^63 − 1",
                       string);
          return FALSE;
        }
      strides[axes[i]] = sorted[i];
    }

  return mtl_layout_new (shape, strides, layout->n_dims, 0, request->bits, result, error);
}

gboolean
mtl_metal_tensor_fit (const MtlLayout      *layout,
                      MtlElementType        type,
                      MtlMetalTensorUsage   usage,
                      guint                 macos,
                      MtlLayout            *result,
                      GError              **error)
{
  g_autofree char *fault = NULL;
  MtlMetalTensor tensor;
  Request request;

  if (!check_elements (layout, type, usage, macos, &request, error))
    return FALSE;

  fault = find_fault (&request, layout, 0, &tensor);
  if (fault != NULL)
    return new_fitting_layout (&request, layout, result, error);

  mtl_layout_copy (layout, result);
  return TRUE;
}

static gboolean
set_needs_copy (const Request    *request,
                const MtlLayout  *layout,
                const char       *fault,
                GError          **error)
{
  g_auto (MtlLayout) copy = MTL_LAYOUT_INIT;
  g_autofree char *string = NULL;
  g_autofree char *strides = NULL;

  if (!new_fitting_layout (request, layout, &copy, error))
    return FALSE;

  string = mtl_layout_to_string (layout);
  strides = mtl_dims_to_string (mtl_layout_strides (&copy), copy.n_dims);
  g_set_error (error, MTL_ERROR, MTL_ERROR_NEEDS_COPY,
               "A layout of %s cannot be an MTLTensor of %s in place, as %s. A copy with strides %s"
               " can", string, mtl_dtype_get_name (request->type->dtype), fault, strides);
  return FALSE;
}

static gboolean
check_end (const MtlLayout  *layout,
           gsize             byte_offset,
           gsize             length,
           GError          **error)
{
  gint64 first, end;
  gsize stop;

  if (!mtl_layout_get_byte_bounds (layout, &first, &end, error))
    return FALSE;

  if (!__builtin_add_overflow (byte_offset, end, &stop) && stop <= length)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_OUT_OF_BOUNDS,
               "Elements reach %" G_GINT64_FORMAT " bytes from byte %" G_GSIZE_FORMAT
               " on, beyond the %" G_GSIZE_FORMAT " bytes of the MTLBuffer",
               end, byte_offset, length);
  return FALSE;
}

gboolean
mtl_metal_tensor_describe (const MtlLayout      *layout,
                           MtlElementType        type,
                           gsize                 byte_offset,
                           gsize                 length,
                           MtlMetalTensorUsage   usage,
                           guint                 macos,
                           MtlMetalTensor       *result,
                           GError              **error)
{
  g_autofree char *fault = NULL;
  MtlMetalTensor tensor;
  Request request;

  if (!check_elements (layout, type, usage, macos, &request, error))
    return FALSE;

  fault = find_fault (&request, layout, byte_offset, &tensor);
  if (fault != NULL)
    return set_needs_copy (&request, layout, fault, error);

  if (!check_end (layout, byte_offset, length, error))
    return FALSE;

  *result = tensor;
  return TRUE;
}

static const TensorType *
find_data_type (guint data_type)
{
  for (gsize i = 0; i < G_N_ELEMENTS (tensor_types); i++)
    if (tensor_types[i].data_type == data_type)
      return &tensor_types[i];

  return NULL;
}

gboolean
mtl_metal_tensor_get_layout (const MtlMetalTensor  *self,
                             MtlElementType        *type,
                             MtlLayout             *layout,
                             GError               **error)
{
  const TensorType *found = find_data_type (self->data_type);
  gint64 shape[MTL_METAL_TENSOR_MAX_DIMS], strides[MTL_METAL_TENSOR_MAX_DIMS];

  if (found == NULL)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                   "The MTLTensorDataType %u of the MTLTensor is not known to this library",
                   self->data_type);
      return FALSE;
    }

  for (guint i = 0; i < self->n_dims; i++)
    {
      guint axis = self->n_dims - 1 - i;

      shape[axis] = self->dims[i];
      strides[axis] = self->strides[i];
      if (self->dims[i] > 0 && self->strides[i] > 0)
        continue;

      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
                   "The MTLTensor has an extent of %" G_GINT64_FORMAT " with a stride of %"
                   G_GINT64_FORMAT ": both have to be at least 1", self->dims[i],
                   self->strides[i]);
      return FALSE;
    }

  *type = mtl_element_type_new (found->dtype);
  return mtl_layout_new (shape, strides, self->n_dims, 0, type->bits, layout, error);
}
