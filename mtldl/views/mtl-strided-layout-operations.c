/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-strided-layout-private.h"

/**
 * mtl_strided_layout_reshape:
 * @self: a layout
 * @shape: (array length=n_dims): the new extents, of which one may be -1 for
 *   whatever is left
 * @n_dims: the number of dimensions
 * @error: return location for a [error@Mtl.Error]
 *
 * Gives the same elements another shape, in C order, without a copy.
 *
 * Fails with %MTL_ERROR_INVALID_ARGUMENT where the number of elements differs or
 * @shape has more than 64 dimensions, and with %MTL_ERROR_NEEDS_COPY where only a
 * copy can have that shape.
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
 * @first: the first axis to merge
 * @last: the last one
 * @error: return location for a [error@Mtl.Error]
 *
 * Merges neighbouring axes into one, without a copy: 0 and -1 for all of them.
 * Where there is no axis, the result has one, of extent 1.
 *
 * Fails with %MTL_ERROR_OUT_OF_BOUNDS where there is no such axis, with
 * %MTL_ERROR_INVALID_ARGUMENT where @first comes after @last, with
 * %MTL_ERROR_NEEDS_COPY where the axes do not step evenly through memory, and
 * with %MTL_ERROR_OVERFLOW where the merged extent does not fit 63 bits.
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
 * @mask: bit i set: merge axis i into axis i - 1
 * @error: return location for a [error@Mtl.Error]
 *
 * Merges the axes that @mask names, each into the one before.
 *
 * Fails with %MTL_ERROR_OUT_OF_BOUNDS where @mask has bits that are no such
 * axes, with %MTL_ERROR_NEEDS_COPY where one does not go on where the one
 * before ends, and with %MTL_ERROR_OVERFLOW where a merged extent does not fit
 * 63 bits. See [method@Mtl.StridedLayout.get_flatten_mask].
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
 * @axes: (array length=n_axes): each axis once, in the new order; negative ones
 *   count from the end
 * @n_axes: the number of @axes
 * @error: return location for a [error@Mtl.Error]
 *
 * Puts the axes into another order.
 *
 * Fails with %MTL_ERROR_OUT_OF_BOUNDS where there is no such axis, and with
 * %MTL_ERROR_INVALID_ARGUMENT where one is missing or named twice.
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
 * @axis_a: an axis; negative ones count from the end
 * @axis_b: the axis to swap it with
 * @error: return location for a [error@Mtl.Error]
 *
 * Swaps two axes.
 *
 * Fails with %MTL_ERROR_OUT_OF_BOUNDS where there is no such axis.
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
 * Drops all axes of extent 1.
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
 * @axes: (array length=n_axes): axes of extent 1; negative ones count from the
 *   end
 * @n_axes: the number of @axes
 * @error: return location for a [error@Mtl.Error]
 *
 * Drops the given axes.
 *
 * Fails with %MTL_ERROR_OUT_OF_BOUNDS where there is no such axis, and with
 * %MTL_ERROR_INVALID_ARGUMENT where one has another extent than 1 or is named
 * twice.
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
 * @axes: (array length=n_axes): where the new axes are in the result; negative
 *   ones count from its end
 * @n_axes: the number of @axes
 * @error: return location for a [error@Mtl.Error]
 *
 * Adds axes of extent 1.
 *
 * Fails with %MTL_ERROR_OUT_OF_BOUNDS where the result has no such axis, and
 * with %MTL_ERROR_INVALID_ARGUMENT where one is named twice or where there
 * would be more than 64 dimensions.
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
 * Repeats axes of extent 1, and adds axes at the front, with a stride of 0: by
 * NumPy's rules.
 *
 * Fails with %MTL_ERROR_INVALID_ARGUMENT where the shapes do not go together or
 * @shape has more than 64 dimensions, and with %MTL_ERROR_OVERFLOW where the
 * volume does not fit 63 bits.
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
 * @axis: an axis; negative ones count from the end
 * @start: where to begin
 * @stop: where to end, exclusive
 * @step: the step, not 0
 * @error: return location for a [error@Mtl.Error]
 *
 * Keeps a part of one axis, as `start:stop:step` does in Python: negative
 * values count from the end, and all are clamped. To go down to the first
 * element with a negative step, @stop is %G_MININT64.
 *
 * Fails with %MTL_ERROR_OUT_OF_BOUNDS where there is no such axis, and with
 * %MTL_ERROR_INVALID_ARGUMENT where @step is 0.
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
 * @axis: an axis; negative ones count from the end
 * @index: an index; negative ones count from the end
 * @error: return location for a [error@Mtl.Error]
 *
 * Keeps one index of an axis, and drops the axis.
 *
 * Fails with %MTL_ERROR_OUT_OF_BOUNDS where there is no such axis or index.
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
 * @axis: an axis; negative ones count from the end
 * @error: return location for a [error@Mtl.Error]
 *
 * Reverses an axis.
 *
 * Fails with %MTL_ERROR_OUT_OF_BOUNDS where there is no such axis.
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
 * Keeps what an index names, as `[...]` does in Python. Axes that no part names
 * stay whole.
 *
 * Fails with %MTL_ERROR_OUT_OF_BOUNDS where an index or an axis does not exist,
 * and with %MTL_ERROR_INVALID_ARGUMENT where a part is of no known kind, a step
 * is 0, or there would be more than one ellipsis or more than 64 dimensions.
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
 * @string: the parts of an index, as in `"2:4, ..., ::-1, newaxis, 3"`
 * @error: return location for a [error@Mtl.Error]
 *
 * Keeps what an index names, written as in Python: numbers, ranges, `...` for
 * all the axes between, and `newaxis`. Axes that no part names stay whole.
 *
 * Fails with %MTL_ERROR_OUT_OF_BOUNDS where an index or an axis does not exist,
 * and with %MTL_ERROR_INVALID_ARGUMENT where @string cannot be read, a step is 0,
 * or there would be more than one ellipsis or more than 64 dimensions.
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
 * @item_bits: what one element is to take, in bits
 * @axis: the axis whose extent changes; negative ones count from the end
 * @keep_dim: whether @axis stays where its extent becomes 1
 * @error: return location for a [error@Mtl.Error]
 *
 * Leads to the same memory in smaller or larger elements: pairs of floats as
 * complex numbers, say, or words as their bytes.
 *
 * Fails with %MTL_ERROR_OUT_OF_BOUNDS where there is no such axis, with
 * %MTL_ERROR_INVALID_ARGUMENT where neither element size is a multiple of the
 * other or the extent does not make whole elements, with %MTL_ERROR_NEEDS_COPY
 * where the elements of @axis do not lie side by side, or a stride or the offset
 * is not of whole new elements, and with %MTL_ERROR_OVERFLOW where a number does
 * not fit 63 bits.
 *
 * Returns: (transfer full): the new layout
 *
 * Since: 1.0
 */
MtlStridedLayout *
mtl_strided_layout_repack (MtlStridedLayout  *self,
                           guint              item_bits,
                           int                axis,
                           gboolean           keep_dim,
                           GError           **error)
{
  MtlLayout result;

  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (self), NULL);

  if (!mtl_layout_repack (&self->layout, item_bits, axis, keep_dim, &result, error))
    return NULL;

  return mtl_strided_layout_new_take (&result);
}

/**
 * mtl_strided_layout_to_dense:
 * @self: a layout
 * @order: the order, where %MTL_ORDER_K keeps that of @self
 * @error: return location for a [error@Mtl.Error]
 *
 * Gives the layout of a copy of the elements, side by side, from offset 0.
 *
 * Fails with %MTL_ERROR_INVALID_ARGUMENT where there is no such order.
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
