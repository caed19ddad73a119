/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-metal-tensor-private.h"
#include "mtl-strided-layout-private.h"

/**
 * mtl_strided_layout_reshape:
 * @self: a layout
 * @shape: (array length=n_dims): the new extents; one of them may be -1, to be
 *   derived from the others
 * @n_dims: the number of dimensions
 * @error: return location for a [error@Mtl.Error]
 *
 * Reshapes the elements in C order, without a copy.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: the number of elements differs, an extent
 *   other than a single -1 is negative, or @shape has more than 64 dimensions
 * - %MTL_ERROR_NEEDS_COPY: only a copy can have that shape
 *
 * Returns: (transfer full): the new layout
 *
 * Since: 1.0
 */
MtlStridedLayout *
mtl_strided_layout_reshape (MtlStridedLayout  *self,
                            const gint64      *shape,
                            gsize              n_dims,
                            GError           **error)
{
  MtlLayout result;

  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (self), NULL);
  g_return_val_if_fail (shape != NULL || n_dims == 0, NULL);

  if (!mtl_layout_reshape (&self->layout, shape, n_dims, &result, error))
    return NULL;

  return mtl_strided_layout_new_take (&result);
}

/**
 * mtl_strided_layout_flatten:
 * @self: a layout
 * @first: the first axis to merge; negative values count from the end
 * @last: the last axis to merge; negative values count from the end
 * @error: return location for a [error@Mtl.Error]
 *
 * Merges adjacent axes into one, without a copy. Pass 0 and -1 to merge all
 * axes. If there are no axes, the result has one, of extent 1.
 *
 * Errors:
 *
 * - %MTL_ERROR_OUT_OF_BOUNDS: there is no such axis
 * - %MTL_ERROR_INVALID_ARGUMENT: @first comes after @last
 * - %MTL_ERROR_NEEDS_COPY: the axes do not step evenly through memory
 * - %MTL_ERROR_OVERFLOW: the merged extent does not fit in 63 bits
 *
 * Returns: (transfer full): the new layout
 *
 * Since: 1.0
 */
MtlStridedLayout *
mtl_strided_layout_flatten (MtlStridedLayout  *self,
                            int                first,
                            int                last,
                            GError           **error)
{
  MtlLayout result;

  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (self), NULL);

  if (!mtl_layout_flatten (&self->layout, first, last, &result, error))
    return NULL;

  return mtl_strided_layout_new_take (&result);
}

/**
 * mtl_strided_layout_flatten_mask:
 * @self: a layout
 * @mask: the axes to merge: bit i merges axis i into axis i - 1
 * @error: return location for a [error@Mtl.Error]
 *
 * Merges each axis in @mask into the axis before it, without a copy. See
 * [method@Mtl.StridedLayout.get_flatten_mask].
 *
 * Errors:
 *
 * - %MTL_ERROR_OUT_OF_BOUNDS: @mask has the bit of axis 0 or of an axis that
 *   does not exist
 * - %MTL_ERROR_NEEDS_COPY: axes to merge do not step evenly through memory
 * - %MTL_ERROR_OVERFLOW: a merged extent does not fit in 63 bits
 *
 * Returns: (transfer full): the new layout
 *
 * Since: 1.0
 */
MtlStridedLayout *
mtl_strided_layout_flatten_mask (MtlStridedLayout  *self,
                                 guint64            mask,
                                 GError           **error)
{
  MtlLayout result;

  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (self), NULL);

  if (!mtl_layout_flatten_mask (&self->layout, mask, &result, error))
    return NULL;

  return mtl_strided_layout_new_take (&result);
}

/**
 * mtl_strided_layout_permute:
 * @self: a layout
 * @axes: (array length=n_axes): each axis exactly once, in the new order;
 *   negative values count from the end
 * @n_axes: the number of @axes
 * @error: return location for a [error@Mtl.Error]
 *
 * Puts the axes into a different order.
 *
 * Errors:
 *
 * - %MTL_ERROR_OUT_OF_BOUNDS: there is no such axis
 * - %MTL_ERROR_INVALID_ARGUMENT: an axis is missing or named twice
 *
 * Returns: (transfer full): the new layout
 *
 * Since: 1.0
 */
MtlStridedLayout *
mtl_strided_layout_permute (MtlStridedLayout  *self,
                            const int         *axes,
                            gsize              n_axes,
                            GError           **error)
{
  MtlLayout result;

  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (self), NULL);
  g_return_val_if_fail (axes != NULL || n_axes == 0, NULL);

  if (!mtl_layout_permute (&self->layout, axes, n_axes, &result, error))
    return NULL;

  return mtl_strided_layout_new_take (&result);
}

/**
 * mtl_strided_layout_transpose:
 * @self: a layout
 *
 * Reverses the order of the axes.
 *
 * Returns: (transfer full): the new layout
 *
 * Since: 1.0
 */
MtlStridedLayout *
mtl_strided_layout_transpose (MtlStridedLayout *self)
{
  MtlLayout result;

  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (self), NULL);

  mtl_layout_transpose (&self->layout, &result);
  return mtl_strided_layout_new_take (&result);
}

/**
 * mtl_strided_layout_swap_axes:
 * @self: a layout
 * @axis_a: an axis; negative values count from the end
 * @axis_b: the axis to swap it with
 * @error: return location for a [error@Mtl.Error]
 *
 * Swaps two axes.
 *
 * Errors:
 *
 * - %MTL_ERROR_OUT_OF_BOUNDS: there is no such axis
 *
 * Returns: (transfer full): the new layout
 *
 * Since: 1.0
 */
MtlStridedLayout *
mtl_strided_layout_swap_axes (MtlStridedLayout  *self,
                              int                axis_a,
                              int                axis_b,
                              GError           **error)
{
  MtlLayout result;

  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (self), NULL);

  if (!mtl_layout_swap_axes (&self->layout, axis_a, axis_b, &result, error))
    return NULL;

  return mtl_strided_layout_new_take (&result);
}

/**
 * mtl_strided_layout_squeeze:
 * @self: a layout
 *
 * Removes all axes of extent 1.
 *
 * Returns: (transfer full): the new layout
 *
 * Since: 1.0
 */
MtlStridedLayout *
mtl_strided_layout_squeeze (MtlStridedLayout *self)
{
  MtlLayout result;

  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (self), NULL);

  mtl_layout_squeeze (&self->layout, &result);
  return mtl_strided_layout_new_take (&result);
}

/**
 * mtl_strided_layout_squeeze_axes:
 * @self: a layout
 * @axes: (array length=n_axes): axes of extent 1; negative values count from
 *   the end
 * @n_axes: the number of @axes
 * @error: return location for a [error@Mtl.Error]
 *
 * Removes the given axes.
 *
 * Errors:
 *
 * - %MTL_ERROR_OUT_OF_BOUNDS: there is no such axis
 * - %MTL_ERROR_INVALID_ARGUMENT: the extent of an axis is not 1, or an axis is
 *   named twice
 *
 * Returns: (transfer full): the new layout
 *
 * Since: 1.0
 */
MtlStridedLayout *
mtl_strided_layout_squeeze_axes (MtlStridedLayout  *self,
                                 const int         *axes,
                                 gsize              n_axes,
                                 GError           **error)
{
  MtlLayout result;

  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (self), NULL);
  g_return_val_if_fail (axes != NULL || n_axes == 0, NULL);

  if (!mtl_layout_squeeze_axes (&self->layout, axes, n_axes, &result, error))
    return NULL;

  return mtl_strided_layout_new_take (&result);
}

/**
 * mtl_strided_layout_unsqueeze:
 * @self: a layout
 * @axes: (array length=n_axes): the places of the new axes in the result;
 *   negative values count from its end
 * @n_axes: the number of @axes
 * @error: return location for a [error@Mtl.Error]
 *
 * Adds axes of extent 1.
 *
 * Errors:
 *
 * - %MTL_ERROR_OUT_OF_BOUNDS: the result has no such axis
 * - %MTL_ERROR_INVALID_ARGUMENT: an axis is named twice, or the result would
 *   have more than 64 dimensions
 *
 * Returns: (transfer full): the new layout
 *
 * Since: 1.0
 */
MtlStridedLayout *
mtl_strided_layout_unsqueeze (MtlStridedLayout  *self,
                              const int         *axes,
                              gsize              n_axes,
                              GError           **error)
{
  MtlLayout result;

  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (self), NULL);
  g_return_val_if_fail (axes != NULL || n_axes == 0, NULL);

  if (!mtl_layout_unsqueeze (&self->layout, axes, n_axes, &result, error))
    return NULL;

  return mtl_strided_layout_new_take (&result);
}

/**
 * mtl_strided_layout_broadcast_to:
 * @self: a layout
 * @shape: (array length=n_dims): the new extents
 * @n_dims: the number of dimensions
 * @error: return location for a [error@Mtl.Error]
 *
 * Broadcasts the elements to another shape by NumPy's rules: repeats axes of
 * extent 1, and adds axes at the front, with a stride of 0.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: the shapes are not compatible, or @shape has
 *   more than 64 dimensions
 * - %MTL_ERROR_OVERFLOW: the number of elements does not fit in 63 bits
 *
 * Returns: (transfer full): the new layout
 *
 * Since: 1.0
 */
MtlStridedLayout *
mtl_strided_layout_broadcast_to (MtlStridedLayout  *self,
                                 const gint64      *shape,
                                 gsize              n_dims,
                                 GError           **error)
{
  MtlLayout result;

  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (self), NULL);
  g_return_val_if_fail (shape != NULL || n_dims == 0, NULL);

  if (!mtl_layout_broadcast_to (&self->layout, shape, n_dims, &result, error))
    return NULL;

  return mtl_strided_layout_new_take (&result);
}

/**
 * mtl_strided_layout_narrow:
 * @self: a layout
 * @axis: an axis; negative values count from the end
 * @start: the index to start at
 * @stop: the index to stop before
 * @step: the step, not 0
 * @error: return location for a [error@Mtl.Error]
 *
 * Keeps part of one axis, like `start:stop:step` in Python: negative indices
 * count from the end, and indices out of range are clamped. To include the
 * first element with a negative step, set @stop to %G_MININT64.
 *
 * Errors:
 *
 * - %MTL_ERROR_OUT_OF_BOUNDS: there is no such axis
 * - %MTL_ERROR_INVALID_ARGUMENT: @step is 0
 *
 * Returns: (transfer full): the new layout
 *
 * Since: 1.0
 */
MtlStridedLayout *
mtl_strided_layout_narrow (MtlStridedLayout  *self,
                           int                axis,
                           gint64             start,
                           gint64             stop,
                           gint64             step,
                           GError           **error)
{
  MtlLayout result;

  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (self), NULL);

  if (!mtl_layout_narrow (&self->layout, axis, start, stop, step, &result, error))
    return NULL;

  return mtl_strided_layout_new_take (&result);
}

/**
 * mtl_strided_layout_select:
 * @self: a layout
 * @axis: an axis; negative values count from the end
 * @index: an index; negative values count from the end
 * @error: return location for a [error@Mtl.Error]
 *
 * Keeps one index of an axis, and removes the axis.
 *
 * Errors:
 *
 * - %MTL_ERROR_OUT_OF_BOUNDS: there is no such axis or index
 *
 * Returns: (transfer full): the new layout
 *
 * Since: 1.0
 */
MtlStridedLayout *
mtl_strided_layout_select (MtlStridedLayout  *self,
                           int                axis,
                           gint64             index,
                           GError           **error)
{
  MtlLayout result;

  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (self), NULL);

  if (!mtl_layout_select (&self->layout, axis, index, &result, error))
    return NULL;

  return mtl_strided_layout_new_take (&result);
}

/**
 * mtl_strided_layout_flip:
 * @self: a layout
 * @axis: an axis; negative values count from the end
 * @error: return location for a [error@Mtl.Error]
 *
 * Reverses an axis.
 *
 * Errors:
 *
 * - %MTL_ERROR_OUT_OF_BOUNDS: there is no such axis
 *
 * Returns: (transfer full): the new layout
 *
 * Since: 1.0
 */
MtlStridedLayout *
mtl_strided_layout_flip (MtlStridedLayout  *self,
                         int                axis,
                         GError           **error)
{
  MtlLayout result;

  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (self), NULL);

  if (!mtl_layout_flip (&self->layout, axis, &result, error))
    return NULL;

  return mtl_strided_layout_new_take (&result);
}

/**
 * mtl_strided_layout_slice: (skip)
 * @self: a layout
 * @slices: (array length=n_slices): the parts of an index
 * @n_slices: the number of @slices
 * @error: return location for a [error@Mtl.Error]
 *
 * Selects elements by an index, like `[...]` in Python. Axes that the index
 * leaves out stay whole.
 *
 * Errors:
 *
 * - %MTL_ERROR_OUT_OF_BOUNDS: an index or an axis does not exist
 * - %MTL_ERROR_INVALID_ARGUMENT: a part is of an unknown kind, a step is 0,
 *   there is more than one ellipsis, or the result would have more than 64
 *   dimensions
 *
 * Returns: (transfer full): the new layout
 *
 * Since: 1.0
 */
MtlStridedLayout *
mtl_strided_layout_slice (MtlStridedLayout  *self,
                          const MtlSlice    *slices,
                          gsize              n_slices,
                          GError           **error)
{
  MtlLayout result;

  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (self), NULL);
  g_return_val_if_fail (slices != NULL || n_slices == 0, NULL);

  if (!mtl_layout_slice (&self->layout, slices, n_slices, &result, error))
    return NULL;

  return mtl_strided_layout_new_take (&result);
}

/**
 * mtl_strided_layout_slice_string: (rename-to mtl_strided_layout_slice)
 * @self: a layout
 * @string: an index, such as `"2:4, ..., ::-1, newaxis, 3"`
 * @error: return location for a [error@Mtl.Error]
 *
 * Selects elements by an index written as in Python: numbers, ranges, `...` for
 * all the axes between, and `newaxis`. Axes that the index leaves out stay
 * whole.
 *
 * Errors:
 *
 * - %MTL_ERROR_OUT_OF_BOUNDS: an index or an axis does not exist
 * - %MTL_ERROR_INVALID_ARGUMENT: @string cannot be parsed, a step is 0, there
 *   is more than one ellipsis, or the result would have more than 64 dimensions
 *
 * Returns: (transfer full): the new layout
 *
 * Since: 1.0
 */
MtlStridedLayout *
mtl_strided_layout_slice_string (MtlStridedLayout  *self,
                                 const char        *string,
                                 GError           **error)
{
  MtlLayout result;

  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (self), NULL);
  g_return_val_if_fail (string != NULL, NULL);

  if (!mtl_layout_slice_string (&self->layout, string, &result, error))
    return NULL;

  return mtl_strided_layout_new_take (&result);
}

/**
 * mtl_strided_layout_repack:
 * @self: a layout
 * @item_bits: the new size of one element, in bits
 * @axis: the axis whose extent changes; negative values count from the end
 * @error: return location for a [error@Mtl.Error]
 *
 * Reinterprets the same memory as smaller or larger elements, such as pairs of
 * floats as complex numbers, or words as bytes.
 *
 * Errors:
 *
 * - %MTL_ERROR_OUT_OF_BOUNDS: there is no such axis
 * - %MTL_ERROR_INVALID_ARGUMENT: neither element size is a multiple of the
 *   other, or the extent is not a whole number of new elements
 * - %MTL_ERROR_NEEDS_COPY: the elements of @axis do not lie side by side, or a
 *   stride or the offset is not a whole number of new elements
 * - %MTL_ERROR_OVERFLOW: a number in the new layout does not fit in 63 bits
 *
 * Returns: (transfer full): the new layout
 *
 * Since: 1.0
 */
MtlStridedLayout *
mtl_strided_layout_repack (MtlStridedLayout  *self,
                           guint              item_bits,
                           int                axis,
                           GError           **error)
{
  MtlLayout result;

  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (self), NULL);

  if (!mtl_layout_repack (&self->layout, item_bits, axis, &result, error))
    return NULL;

  return mtl_strided_layout_new_take (&result);
}

/**
 * mtl_strided_layout_to_dense:
 * @self: a layout
 * @order: the order
 * @error: return location for a [error@Mtl.Error]
 *
 * Gets the layout of a copy whose elements lie side by side from offset 0.
 * Repeated elements each get a separate place, and reversed axes run forwards.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: @order is not a valid order
 *
 * Returns: (transfer full): the new layout
 *
 * Since: 1.0
 */
MtlStridedLayout *
mtl_strided_layout_to_dense (MtlStridedLayout  *self,
                             MtlOrder           order,
                             GError           **error)
{
  MtlLayout result;

  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (self), NULL);

  if (!mtl_layout_new_dense_like (&self->layout, order, &result, error))
    return NULL;

  return mtl_strided_layout_new_take (&result);
}

/**
 * mtl_strided_layout_fit_metal_tensor:
 * @self: a layout
 * @dtype: the type of the elements
 * @usage: what the tensor is for, at least one usage
 * @error: return location for a [error@Mtl.Error]
 *
 * Gets the layout of a copy of which [method@Mtl.StridedView.to_metal_tensor] can
 * make a tensor of Metal.
 *
 * If @self fits, the result is equal to it. Otherwise it has the same shape in C
 * order, with gaps between rows if Metal needs them; if the innermost extent
 * has to be a multiple of 32, the last axis with such an extent is the
 * innermost. The items have the size of @dtype, whatever those of @self are. The
 * elements fit if element offset 0 is the first byte of an `MTLBuffer`:
 *
 * ```c
 * MtlStridedLayout *layout = mtl_strided_view_get_layout (view);
 * g_autoptr (MtlStridedLayout) fitting =
 *   mtl_strided_layout_fit_metal_tensor (layout, MTL_DTYPE_FLOAT16,
 *                                      MTL_METAL_TENSOR_USAGE_MACHINE_LEARNING, error);
 * g_autoptr (MtlBuffer) buffer = NULL;
 * g_autoptr (MtlStridedView) copy = NULL;
 * gint64 size;
 *
 * if (fitting == NULL)
 *   return FALSE;
 *
 * size = mtl_strided_layout_get_required_size (fitting, error);
 * if (size < 0)
 *   return FALSE;
 *
 * buffer = mtl_buffer_new (device, size, MTL_STORAGE_MODE_SHARED, error);
 * if (buffer == NULL)
 *   return FALSE;
 *
 * copy = mtl_strided_view_new (buffer, fitting, MTL_DTYPE_FLOAT16, 0, error);
 * if (copy == NULL || !mtl_strided_view_copy_from (copy, view, NULL, error))
 *   return FALSE;
 * ```
 *
 * The answer is that of macOS 27, on any system; older ones lack some element
 * types.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: @dtype is not a known element type, or @usage
 *   is none or unknown
 * - %MTL_ERROR_NOT_SUPPORTED: no tensor has this element type, this many
 *   dimensions, no elements, or such extents
 * - %MTL_ERROR_OVERFLOW: the strides do not fit in 63 bits
 *
 * Returns: (transfer full): the layout
 *
 * Since: 1.0
 */
MtlStridedLayout *
mtl_strided_layout_fit_metal_tensor (MtlStridedLayout     *self,
                                     MtlDType              dtype,
                                     MtlMetalTensorUsage   usage,
                                     GError              **error)
{
  MtlLayout result;

  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (self), NULL);

  if (!mtl_dtype_check (dtype, error)
      || !mtl_metal_tensor_fit (&self->layout, mtl_element_type_new (dtype), usage,
                                MTL_MACOS_UNKNOWN, &result, error))
    return NULL;

  return mtl_strided_layout_new_take (&result);
}
