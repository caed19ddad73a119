/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* What a view forwards to its layout. */

#include "mtl-strided-view-private.h"

/**
 * mtl_strided_view_get_n_dims:
 * @self: a view
 *
 * Gets the number of dimensions, 0 to 64.
 *
 * Returns: the number
 *
 * Since: 1.0
 */
guint
mtl_strided_view_get_n_dims (MtlStridedView *self)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), 0);

  return self->layout.n_dims;
}

/**
 * mtl_strided_view_get_item_bits:
 * @self: a view
 *
 * Gets what one element takes in memory, in bits.
 *
 * Returns: the number of bits
 *
 * Since: 1.0
 */
guint
mtl_strided_view_get_item_bits (MtlStridedView *self)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), 0);

  return self->layout.item_bits;
}

/**
 * mtl_strided_view_get_offset:
 * @self: a view
 *
 * Gets where the element whose indices are all 0 lies.
 *
 * Returns: the offset in elements
 *
 * Since: 1.0
 */
gint64
mtl_strided_view_get_offset (MtlStridedView *self)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), 0);

  return self->layout.offset;
}

/**
 * mtl_strided_view_get_volume:
 * @self: a view
 *
 * Gets the number of elements: 1 where there are no dimensions.
 *
 * Returns: the number
 *
 * Since: 1.0
 */
gint64
mtl_strided_view_get_volume (MtlStridedView *self)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), 0);

  return mtl_layout_get_volume (&self->layout);
}

/**
 * mtl_strided_view_get_flatten_mask:
 * @self: a view
 *
 * Gets which axes can be merged into the one before them without a copy: bit i
 * is set where axis i goes on where axis i - 1 ends.
 *
 * Returns: the mask
 *
 * Since: 1.0
 */
guint64
mtl_strided_view_get_flatten_mask (MtlStridedView *self)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), 0);

  return mtl_layout_get_flatten_mask (&self->layout);
}

/**
 * mtl_strided_view_is_dense:
 * @self: a view
 *
 * Gets whether the elements fill one stretch of memory from its start, without
 * holes and in some order of the axes.
 *
 * Returns: whether they do
 *
 * Since: 1.0
 */
gboolean
mtl_strided_view_is_dense (MtlStridedView *self)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), FALSE);

  return mtl_layout_is_dense (&self->layout);
}

/**
 * mtl_strided_view_is_unique:
 * @self: a view
 *
 * Gets whether no two indices lead to one element. It never says yes wrongly.
 * Where many axes are interleaved so that telling would take longer than about
 * a millisecond, it says no.
 *
 * Returns: whether it is so
 *
 * Since: 1.0
 */
gboolean
mtl_strided_view_is_unique (MtlStridedView *self)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), FALSE);

  return mtl_layout_is_unique (&self->layout);
}

/**
 * mtl_strided_view_is_empty:
 * @self: a view
 *
 * Gets whether there is no element at all.
 *
 * Returns: whether there is none
 *
 * Since: 1.0
 */
gboolean
mtl_strided_view_is_empty (MtlStridedView *self)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), FALSE);

  return mtl_layout_is_empty (&self->layout);
}

/**
 * mtl_strided_view_get_shape:
 * @self: a view
 * @n_dims: (out) (optional): return location for the number of dimensions
 *
 * Gets the extents, outermost axis first.
 *
 * Returns: (array length=n_dims) (transfer none): the shape, owned by @self
 *
 * Since: 1.0
 */
const gint64 *
mtl_strided_view_get_shape (MtlStridedView *self,
                            gsize          *n_dims)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);

  if (n_dims != NULL)
    *n_dims = self->layout.n_dims;

  return mtl_layout_shape (&self->layout);
}

/**
 * mtl_strided_view_get_strides:
 * @self: a view
 * @n_dims: (out) (optional): return location for the number of dimensions
 *
 * Gets how far the next element lies along each axis, in elements.
 *
 * Returns: (array length=n_dims) (transfer none): the strides, owned by @self
 *
 * Since: 1.0
 */
const gint64 *
mtl_strided_view_get_strides (MtlStridedView *self,
                              gsize          *n_dims)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);

  if (n_dims != NULL)
    *n_dims = self->layout.n_dims;

  return mtl_layout_strides (&self->layout);
}

/**
 * mtl_strided_view_dup_byte_strides:
 * @self: a view
 * @n_dims: (out): return location for the number of dimensions
 * @error: return location for a [error@Mtl.Error]
 *
 * Gets how far the next element lies along each axis, in bytes.
 *
 * Fails with %MTL_ERROR_NOT_SUPPORTED where a stride is not of whole bytes, and
 * with %MTL_ERROR_OVERFLOW where one does not fit 63 bits.
 *
 * Returns: (array length=n_dims) (transfer full): the strides
 *
 * Since: 1.0
 */
gint64 *
mtl_strided_view_dup_byte_strides (MtlStridedView  *self,
                                   gsize           *n_dims,
                                   GError         **error)
{
  gint64 *byte_strides;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);
  g_return_val_if_fail (n_dims != NULL, NULL);

  byte_strides = mtl_layout_dup_byte_strides (&self->layout, error);
  if (byte_strides != NULL)
    *n_dims = self->layout.n_dims;

  return byte_strides;
}

/**
 * mtl_strided_view_get_stride_order:
 * @self: a view
 * @n_dims: (out): return location for the number of dimensions
 *
 * Gets the axes in the order in which they lie in memory, outermost first: by
 * falling magnitude of the stride. Axes with equal strides keep their order.
 *
 * Returns: (array length=n_dims) (transfer full): the axes
 *
 * Since: 1.0
 */
int *
mtl_strided_view_get_stride_order (MtlStridedView *self,
                                   gsize          *n_dims)
{
  int *axes;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);
  g_return_val_if_fail (n_dims != NULL, NULL);

  *n_dims = self->layout.n_dims;
  axes = g_new (int, MAX (*n_dims, 1));
  mtl_layout_get_stride_order (&self->layout, axes);
  return axes;
}

/**
 * mtl_strided_view_get_extent:
 * @self: a view
 * @axis: an axis; negative ones count from the end
 * @error: return location for a [error@Mtl.Error]
 *
 * Gets the number of indices of an axis.
 *
 * Fails with %MTL_ERROR_OUT_OF_BOUNDS where there is no such axis.
 *
 * Returns: the extent, -1 on failure
 *
 * Since: 1.0
 */
gint64
mtl_strided_view_get_extent (MtlStridedView  *self,
                             int              axis,
                             GError         **error)
{
  guint resolved;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), -1);

  if (!mtl_axis_resolve (axis, self->layout.n_dims, &resolved, error))
    return -1;

  return mtl_layout_shape (&self->layout)[resolved];
}

/**
 * mtl_strided_view_get_stride:
 * @self: a view
 * @axis: an axis; negative ones count from the end
 * @error: return location for a [error@Mtl.Error]
 *
 * Gets how far the next element lies along an axis.
 *
 * Fails with %MTL_ERROR_OUT_OF_BOUNDS where there is no such axis.
 *
 * Returns: the stride in elements, 0 on failure
 *
 * Since: 1.0
 */
gint64
mtl_strided_view_get_stride (MtlStridedView  *self,
                             int              axis,
                             GError         **error)
{
  guint resolved;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), 0);

  if (!mtl_axis_resolve (axis, self->layout.n_dims, &resolved, error))
    return 0;

  return mtl_layout_strides (&self->layout)[resolved];
}

/**
 * mtl_strided_view_get_offset_bounds:
 * @self: a view
 * @min: (out) (optional): return location for the least offset, in elements
 * @max: (out) (optional): return location for the greatest one, in elements
 *
 * Gets between which offsets the elements lie: 0 and -1 where there is none.
 *
 * Source: each axis adds stride × (extent − 1) to one of the two.
 *
 * Since: 1.0
 */
void
mtl_strided_view_get_offset_bounds (MtlStridedView *self,
                                    gint64         *min,
                                    gint64         *max)
{
  gint64 low, high;

  g_return_if_fail (MTL_IS_STRIDED_VIEW (self));

  mtl_layout_get_offset_bounds (&self->layout, &low, &high);
  if (min != NULL)
    *min = low;
  if (max != NULL)
    *max = high;
}

/**
 * mtl_strided_view_get_required_size:
 * @self: a view
 *
 * Gets how much of the buffer the elements need, from its start on: the
 * [method@Mtl.StridedView.get_byte_offset] is in it, unlike in what
 * [method@Mtl.StridedLayout.get_required_size] gives.
 *
 * Returns: the size in bytes, 0 where there is no element
 *
 * Since: 1.0
 */
gint64
mtl_strided_view_get_required_size (MtlStridedView *self)
{
  gint64 first, end = 0;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), -1);

  if (mtl_layout_is_empty (&self->layout))
    return 0;

  /* No view is made whose bytes do not fit. */
  mtl_layout_get_byte_bounds (&self->layout, &first, &end, NULL);
  return mtl_strided_view_get_byte_offset (self) + end;
}

/**
 * mtl_strided_view_is_contiguous:
 * @self: a view
 * @order: C or F order, %MTL_ORDER_ANY for either, %MTL_ORDER_K for any order
 *   of the axes
 *
 * Gets whether the elements lie side by side in that order. Axes of extent 1 do
 * not matter, and where there is no element, it is so.
 *
 * Returns: whether they do
 *
 * Since: 1.0
 */
gboolean
mtl_strided_view_is_contiguous (MtlStridedView *self,
                                MtlOrder        order)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), FALSE);

  return mtl_layout_is_contiguous (&self->layout, order);
}
