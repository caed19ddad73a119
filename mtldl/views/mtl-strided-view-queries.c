/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-strided-view-private.h"

#include "mtl-bindings-private.h"
#include "mtl-device-private.h"
#include "mtl-strided-layout-private.h"

/**
 * mtl_strided_view_get_layout: (get-property layout)
 * @self: a view
 *
 * Gets the layout. It answers more questions than the view itself, such as
 * [method@Mtl.StridedLayout.get_item_bits], and creates other views with
 * [ctor@Mtl.StridedView.new].
 *
 * Returns: (transfer none): the layout, valid as long as the view exists and is
 *   not closed
 *
 * Since: 1.0
 */
MtlStridedLayout *
mtl_strided_view_get_layout (MtlStridedView *self)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);

  return mtl_strided_view_ensure_layout (self);
}

/**
 * mtl_strided_view_get_buffer: (get-property buffer)
 * @self: a view
 *
 * Gets the buffer that holds the elements. If the view was not created from a
 * buffer, this is a buffer of all the memory that the library knows about.
 *
 * Returns: (transfer none): the buffer
 *
 * Since: 1.0
 */
MtlBuffer *
mtl_strided_view_get_buffer (MtlStridedView *self)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);

  return mtl_strided_view_ensure_buffer (self);
}

/**
 * mtl_strided_view_get_byte_offset: (get-property byte-offset)
 * @self: a view
 *
 * Gets the position of element offset 0 of the layout in the buffer. The first
 * element lies [method@Mtl.StridedLayout.get_offset] elements further on.
 *
 * Returns: the offset in bytes
 *
 * Since: 1.0
 */
gsize
mtl_strided_view_get_byte_offset (MtlStridedView *self)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), 0);

  return mtl_strided_view_get_offset_in_buffer (self);
}

/**
 * mtl_strided_view_get_dtype: (get-property dtype)
 * @self: a view
 *
 * Gets the element type.
 *
 * Returns: the element type, or %MTL_DTYPE_OTHER if the library has no name for
 *   it
 *
 * Since: 1.0
 */
MtlDType
mtl_strided_view_get_dtype (MtlStridedView *self)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), MTL_DTYPE_OTHER);

  return mtl_element_type_get_dtype (self->type);
}

/**
 * mtl_strided_view_get_lanes: (get-property lanes)
 * @self: a view
 *
 * Gets the number of lanes in an element, which is 1 unless it is a vector.
 *
 * Returns: the number of lanes
 *
 * Since: 1.0
 */
guint
mtl_strided_view_get_lanes (MtlStridedView *self)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), 0);

  return self->type.lanes;
}

/**
 * mtl_strided_view_is_padded: (get-property padded)
 * @self: a view
 *
 * Checks whether each element of fewer than 8 bits takes a whole byte.
 *
 * Returns: whether the elements are padded
 *
 * Since: 1.0
 */
gboolean
mtl_strided_view_is_padded (MtlStridedView *self)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), FALSE);

  return self->type.padded;
}

/**
 * mtl_strided_view_get_device: (get-property device)
 * @self: a view
 *
 * Gets the device that the memory belongs to.
 *
 * Returns: (transfer none): the device
 *
 * Since: 1.0
 */
MtlDevice *
mtl_strided_view_get_device (MtlStridedView *self)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);

  return mtl_memory_get_device (self->memory);
}

/**
 * mtl_strided_view_is_host_accessible: (get-property host-accessible)
 * @self: a view
 *
 * Checks whether the host can access the elements.
 *
 * Returns: whether the elements are host-accessible
 *
 * Since: 1.0
 */
gboolean
mtl_strided_view_is_host_accessible (MtlStridedView *self)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), FALSE);

  return mtl_memory_is_host_accessible (self->memory);
}

/**
 * mtl_strided_view_is_read_only: (get-property read-only)
 * @self: a view
 *
 * Checks whether writes through this view are refused.
 *
 * Returns: whether the view is read-only
 *
 * Since: 1.0
 */
gboolean
mtl_strided_view_is_read_only (MtlStridedView *self)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), TRUE);

  return self->read_only;
}

/**
 * mtl_strided_view_equal:
 * @self: a view
 * @other: another view
 *
 * Checks whether both views describe the same elements of the same memory in
 * the same way. To compare the values of elements, use
 * [method@Mtl.StridedView.array_equal].
 *
 * Returns: whether the views are equal
 *
 * Since: 1.0
 */
gboolean
mtl_strided_view_equal (MtlStridedView *self,
                        MtlStridedView *other)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), FALSE);
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (other), FALSE);

  return self->memory == other->memory && self->byte_offset == other->byte_offset
         && mtl_element_type_equal (self->type, other->type)
         && self->read_only == other->read_only
         && mtl_layout_equal (&self->layout, &other->layout);
}

/**
 * mtl_strided_view_hash:
 * @self: a view
 *
 * Computes a hash value. Views that are equal by [method@Mtl.StridedView.equal]
 * have the same one.
 *
 * Returns: the hash value
 *
 * Since: 1.0
 */
guint
mtl_strided_view_hash (MtlStridedView *self)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), 0);

  return mtl_layout_hash (&self->layout) ^ g_direct_hash (self->memory)
         ^ (guint) self->byte_offset * 31;
}

static gpointer
find_first_element (MtlStridedView *self)
{
  guint8 *data = mtl_strided_view_get_strided (self).data;
  gint64 byte;
  guint bit;

  if (data == NULL || mtl_layout_is_empty (&self->layout))
    return NULL;

  mtl_layout_get_first_byte (&self->layout, &byte, &bit);
  return bit == 0 ? data + byte : NULL;
}

/**
 * mtl_strided_view_get_data: (skip)
 * @self: a view
 *
 * Gets the address of the first element. It is valid as long as the view
 * exists.
 *
 * Returns: (nullable): the address, or %NULL if the host cannot access the
 *   element, there are no elements, or the first one does not begin on a byte
 *   boundary
 *
 * Since: 1.0
 */
gpointer
mtl_strided_view_get_data (MtlStridedView *self)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);

  return find_first_element (self);
}

guint64
mtl_strided_view_describe (MtlStridedView *self,
                           gpointer        dl_tensor)
{
  DLTensor *tensor = dl_tensor;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), 0);
  g_return_val_if_fail (tensor != NULL, 0);

  *tensor = (DLTensor) {
    .data = find_first_element (self),
    .device = { self->memory->device_type, self->memory->device_ordinal },
    .ndim = self->layout.n_dims,
    .dtype = { self->type.code, self->type.bits, self->type.lanes },
    .shape = mtl_layout_shape (&self->layout),
    .strides = mtl_layout_strides (&self->layout),
  };

  return (self->read_only ? DLPACK_FLAG_BITMASK_READ_ONLY : 0)
         | (self->type.padded ? DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED : 0);
}

/**
 * mtl_strided_view_get_address:
 * @self: a view
 *
 * Gets the address of the first element as a number, to check whether two views
 * share memory.
 *
 * Returns: the address, or 0 if [method@Mtl.StridedView.get_data] returns %NULL
 *
 * Since: 1.0
 */
guint64
mtl_strided_view_get_address (MtlStridedView *self)
{
  return (guintptr) mtl_strided_view_get_data (self);
}

/**
 * mtl_strided_view_get_n_dims: (get-property n-dims)
 * @self: a view
 *
 * Gets the number of dimensions, 0 to 64.
 *
 * Returns: the number of dimensions
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
 * mtl_strided_view_get_volume: (get-property volume)
 * @self: a view
 *
 * Gets the number of elements, which is 1 if there are no dimensions.
 *
 * Returns: the number of elements
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
 * mtl_strided_view_is_empty:
 * @self: a view
 *
 * Checks whether there are no elements.
 *
 * Returns: whether the view is empty
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
 * Gets the distance to the next element along each axis, in elements.
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
 * mtl_strided_view_get_extent:
 * @self: a view
 * @axis: an axis; negative values count from the end
 * @error: return location for a [error@Mtl.Error]
 *
 * Gets the extent of an axis: the number of its indices.
 *
 * Errors:
 *
 * - %MTL_ERROR_OUT_OF_BOUNDS: there is no such axis
 *
 * Returns: the extent, or -1 on error
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
 * mtl_strided_view_is_contiguous:
 * @self: a view
 * @order: the order of the axes
 *
 * Checks whether the elements lie side by side in the given order. Axes of
 * extent 1 do not matter. The result is %TRUE if there are no elements.
 *
 * Returns: whether the elements are contiguous
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
