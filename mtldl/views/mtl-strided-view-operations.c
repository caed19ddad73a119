/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-strided-view-private.h"

/**
 * mtl_strided_view_reshape:
 * @self: a view
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
 * Returns: (transfer full): the new view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_reshape (MtlStridedView  *self,
                          const gint64    *shape,
                          gsize            n_dims,
                          GError         **error)
{
  MtlLayout result;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);
  g_return_val_if_fail (shape != NULL || n_dims == 0, NULL);

  if (!mtl_layout_reshape (&self->layout, shape, n_dims, &result, error))
    return NULL;

  return mtl_strided_view_derive (self, &result);
}

/**
 * mtl_strided_view_flatten:
 * @self: a view
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
 * Returns: (transfer full): the new view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_flatten (MtlStridedView  *self,
                          int              first,
                          int              last,
                          GError         **error)
{
  MtlLayout result;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);

  if (!mtl_layout_flatten (&self->layout, first, last, &result, error))
    return NULL;

  return mtl_strided_view_derive (self, &result);
}

/**
 * mtl_strided_view_permute:
 * @self: a view
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
 * Returns: (transfer full): the new view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_permute (MtlStridedView  *self,
                          const int       *axes,
                          gsize            n_axes,
                          GError         **error)
{
  MtlLayout result;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);
  g_return_val_if_fail (axes != NULL || n_axes == 0, NULL);

  if (!mtl_layout_permute (&self->layout, axes, n_axes, &result, error))
    return NULL;

  return mtl_strided_view_derive (self, &result);
}

/**
 * mtl_strided_view_transpose:
 * @self: a view
 *
 * Reverses the order of the axes.
 *
 * Returns: (transfer full): the new view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_transpose (MtlStridedView *self)
{
  MtlLayout result;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);

  mtl_layout_transpose (&self->layout, &result);
  return mtl_strided_view_derive (self, &result);
}

/**
 * mtl_strided_view_swap_axes:
 * @self: a view
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
 * Returns: (transfer full): the new view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_swap_axes (MtlStridedView  *self,
                            int              axis_a,
                            int              axis_b,
                            GError         **error)
{
  MtlLayout result;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);

  if (!mtl_layout_swap_axes (&self->layout, axis_a, axis_b, &result, error))
    return NULL;

  return mtl_strided_view_derive (self, &result);
}

/**
 * mtl_strided_view_squeeze:
 * @self: a view
 *
 * Removes all axes of extent 1.
 *
 * Returns: (transfer full): the new view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_squeeze (MtlStridedView *self)
{
  MtlLayout result;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);

  mtl_layout_squeeze (&self->layout, &result);
  return mtl_strided_view_derive (self, &result);
}

/**
 * mtl_strided_view_squeeze_axes:
 * @self: a view
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
 * Returns: (transfer full): the new view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_squeeze_axes (MtlStridedView  *self,
                               const int       *axes,
                               gsize            n_axes,
                               GError         **error)
{
  MtlLayout result;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);
  g_return_val_if_fail (axes != NULL || n_axes == 0, NULL);

  if (!mtl_layout_squeeze_axes (&self->layout, axes, n_axes, &result, error))
    return NULL;

  return mtl_strided_view_derive (self, &result);
}

/**
 * mtl_strided_view_unsqueeze:
 * @self: a view
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
 * Returns: (transfer full): the new view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_unsqueeze (MtlStridedView  *self,
                            const int       *axes,
                            gsize            n_axes,
                            GError         **error)
{
  MtlLayout result;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);
  g_return_val_if_fail (axes != NULL || n_axes == 0, NULL);

  if (!mtl_layout_unsqueeze (&self->layout, axes, n_axes, &result, error))
    return NULL;

  return mtl_strided_view_derive (self, &result);
}

/**
 * mtl_strided_view_broadcast_to:
 * @self: a view
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
 * Returns: (transfer full): the new view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_broadcast_to (MtlStridedView  *self,
                               const gint64    *shape,
                               gsize            n_dims,
                               GError         **error)
{
  MtlLayout result;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);
  g_return_val_if_fail (shape != NULL || n_dims == 0, NULL);

  if (!mtl_layout_broadcast_to (&self->layout, shape, n_dims, &result, error))
    return NULL;

  return mtl_strided_view_derive (self, &result);
}

/**
 * mtl_strided_view_narrow:
 * @self: a view
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
 * Returns: (transfer full): the new view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_narrow (MtlStridedView  *self,
                         int              axis,
                         gint64           start,
                         gint64           stop,
                         gint64           step,
                         GError         **error)
{
  MtlLayout result;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);

  if (!mtl_layout_narrow (&self->layout, axis, start, stop, step, &result, error))
    return NULL;

  return mtl_strided_view_derive (self, &result);
}

/**
 * mtl_strided_view_select:
 * @self: a view
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
 * Returns: (transfer full): the new view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_select (MtlStridedView  *self,
                         int              axis,
                         gint64           index,
                         GError         **error)
{
  MtlLayout result;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);

  if (!mtl_layout_select (&self->layout, axis, index, &result, error))
    return NULL;

  return mtl_strided_view_derive (self, &result);
}

/**
 * mtl_strided_view_flip:
 * @self: a view
 * @axis: an axis; negative values count from the end
 * @error: return location for a [error@Mtl.Error]
 *
 * Reverses an axis.
 *
 * Errors:
 *
 * - %MTL_ERROR_OUT_OF_BOUNDS: there is no such axis
 *
 * Returns: (transfer full): the new view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_flip (MtlStridedView  *self,
                       int              axis,
                       GError         **error)
{
  MtlLayout result;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);

  if (!mtl_layout_flip (&self->layout, axis, &result, error))
    return NULL;

  return mtl_strided_view_derive (self, &result);
}

/**
 * mtl_strided_view_slice: (skip)
 * @self: a view
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
 * Returns: (transfer full): the new view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_slice (MtlStridedView  *self,
                        const MtlSlice  *slices,
                        gsize            n_slices,
                        GError         **error)
{
  MtlLayout result;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);
  g_return_val_if_fail (slices != NULL || n_slices == 0, NULL);

  if (!mtl_layout_slice (&self->layout, slices, n_slices, &result, error))
    return NULL;

  return mtl_strided_view_derive (self, &result);
}

/**
 * mtl_strided_view_slice_string: (rename-to mtl_strided_view_slice)
 * @self: a view
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
 * Returns: (transfer full): the new view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_slice_string (MtlStridedView  *self,
                               const char      *string,
                               GError         **error)
{
  MtlLayout result;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);
  g_return_val_if_fail (string != NULL, NULL);

  if (!mtl_layout_slice_string (&self->layout, string, &result, error))
    return NULL;

  return mtl_strided_view_derive (self, &result);
}

/**
 * mtl_strided_view_as_read_only:
 * @self: a view
 *
 * Gets a view of the same elements that refuses writes. The memory itself may
 * still change.
 *
 * Returns: (transfer full): the new view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_as_read_only (MtlStridedView *self)
{
  MtlStridedView *view;
  MtlLayout layout;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);

  mtl_layout_copy (&self->layout, &layout);
  view = mtl_strided_view_derive (self, &layout);
  view->read_only = TRUE;
  return view;
}
