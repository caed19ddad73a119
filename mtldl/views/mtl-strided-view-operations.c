/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Questions about views, and other views of the same memory. */

#include "mtl-strided-view-private.h"

#include "mtl-bindings-private.h"
#include "mtl-device-private.h"
#include "mtl-error.h"
#include "mtl-number-private.h"
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

/* Returns 0 if there is no element at an address. */
static guint64
find_first_element (MtlStridedView *self,
                    guint64         memory_address)
{
  gint64 byte;
  guint bit;

  if (memory_address == 0 || mtl_layout_is_empty (&self->layout))
    return 0;

  mtl_layout_get_first_byte (&self->layout, &byte, &bit);
  return bit == 0 ? memory_address + self->byte_offset + byte : 0;
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

  mtl_memory_begin_access (self->memory, NULL);
  return (gpointer) (guintptr) find_first_element (self, (guintptr) self->memory->contents);
}

gboolean
mtl_strided_view_has_work (MtlStridedView *self)
{
  return mtl_memory_is_hot (self->memory);
}

gboolean
mtl_strided_view_await_work (MtlStridedView  *self,
                             GError         **error)
{
  MTL_USE_VIEW (self);

  return mtl_memory_begin_access (self->memory, error);
}

guint64
mtl_strided_view_describe (MtlStridedView *self,
                           gpointer        dl_tensor)
{
  DLTensor *tensor = dl_tensor;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), 0);
  g_return_val_if_fail (tensor != NULL, 0);

  *tensor = (DLTensor) {
    .data = (gpointer) (guintptr) find_first_element (self, mtl_memory_get_address (self->memory)),
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
 * share memory, or for the program's own kernels on a GPU.
 *
 * Returns: the address; 0 if there are no elements, the first one does not begin
 *   on a byte boundary, or the memory only has a handle
 *
 * Since: 1.0
 */
guint64
mtl_strided_view_get_address (MtlStridedView *self)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), 0);

  return find_first_element (self, mtl_memory_get_address (self->memory));
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

/* Other views of the same memory */

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

/* The same bytes as elements of another type */

/* Moves element offset 0 to the first element, so that the old offset need not
 * be a multiple of the new element size. An element that begins within a byte
 * cannot be moved. */
static void
move_to_first_element (MtlStridedView *self,
                       MtlLayout      *layout,
                       gsize          *byte_offset)
{
  gint64 byte;
  guint bit;

  mtl_layout_copy (&self->layout, layout);
  mtl_layout_get_first_byte (layout, &byte, &bit);
  *byte_offset = self->byte_offset;
  if (bit != 0)
    return;

  *byte_offset += byte;
  layout->offset = 0;
}

/* Gets the alignment that the instructions of the host expect, in bytes. For a
 * complex number, that is the alignment of its parts. */
static guint
get_alignment (MtlElementType type)
{
  guint bits = type.code == kDLComplex ? type.bits / 2 : type.bits;

  return MAX (bits / 8, 1);
}

static gboolean
check_alignment (MtlStridedView  *self,
                 MtlElementType   type,
                 gsize            byte_offset,
                 GError         **error)
{
  guint64 address = mtl_memory_get_address (self->memory) + byte_offset;
  guint alignment = get_alignment (type);
  g_autofree char *name = NULL;

  /* Elements may stay as badly aligned as they are for their current type. */
  if (address % alignment == 0 || alignment <= get_alignment (self->type)
      || mtl_layout_is_empty (&self->layout))
    return TRUE;

  name = mtl_element_type_to_string (type);
  g_set_error (error, MTL_ERROR, MTL_ERROR_NEEDS_COPY,
               "The address 0x%" G_GINT64_MODIFIER "x cannot hold elements of type %s without a"
               " copy: it is not a multiple of %u bytes", address, name, alignment);
  return FALSE;
}

/**
 * mtl_strided_view_reinterpret:
 * @self: a view
 * @dtype: the element type
 * @error: return location for a [error@Mtl.Error]
 *
 * Reinterprets the same bytes as elements of another type, without a copy:
 * pairs of floats as complex numbers, or words as bytes. Values are not
 * converted; to convert them, use [method@Mtl.StridedView.to_dtype].
 *
 * If the new elements have a different size, the extent of one axis changes:
 * the axis with a stride of 1, which is the last one in C order. If several
 * axes have a stride of 1, it is the last one of extent 1, or else the last
 * one. The choice does not depend on the extents, since axes of extent 1 have a
 * stride too. If no axis has a stride of 1, the last axis must have an extent
 * of 1.
 *
 * New elements of fewer than 8 bits are packed: a padded element of 4 bits
 * becomes two elements.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: @dtype is not a known element type, neither
 *   element size is a multiple of the other, or the extent is not a whole
 *   number of new elements
 * - %MTL_ERROR_OUT_OF_BOUNDS: there are no dimensions and the size differs
 * - %MTL_ERROR_NEEDS_COPY: the elements do not lie side by side along any axis,
 *   a stride is not a whole number of new elements, or the first element is not
 *   aligned for its type
 * - %MTL_ERROR_OVERFLOW: the number of elements, or of their bits if they are
 *   smaller than a byte, does not fit in 63 bits
 *
 * Returns: (transfer full): the new view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_reinterpret (MtlStridedView  *self,
                              MtlDType         dtype,
                              GError         **error)
{
  g_auto (MtlLayout) layout = MTL_LAYOUT_INIT;
  MtlLayout repacked;
  MtlElementType type;
  gsize byte_offset;
  gint64 first, end;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);

  if (!mtl_dtype_check (dtype, error))
    return NULL;

  type = mtl_element_type_new (dtype);
  move_to_first_element (self, &layout, &byte_offset);
  if (!check_alignment (self, type, byte_offset, error)
      || !mtl_layout_repack (&layout, mtl_element_type_get_item_bits (type),
                             mtl_layout_find_dense_axis (&layout), &repacked, error))
    return NULL;

  /* The number of bytes fits in 63 bits, but the number of bits may not. */
  if (repacked.item_bits % 8 != 0
      && !mtl_layout_get_byte_bounds (&repacked, &first, &end, error))
    {
      mtl_layout_clear (&repacked);
      return NULL;
    }

  return mtl_strided_view_derive_as (self, byte_offset, type, &repacked);
}

/* The real or the imaginary parts, which are part 0 or 1. Strides that lead nowhere may overflow.
 */
static MtlStridedView *
select_part (MtlStridedView *self,
             guint           part)
{
  const MtlElementType type = { kDLFloat, self->type.bits / 2, 1, FALSE };
  guint n_dims = self->layout.n_dims;
  MtlLayout layout;

  mtl_layout_init (&layout, n_dims, self->layout.item_bits / 2, 0);
  for (guint i = 0; i < n_dims; i++)
    {
      gint64 *stride = &mtl_layout_strides (&layout)[i];

      mtl_layout_shape (&layout)[i] = mtl_layout_shape (&self->layout)[i];
      if (__builtin_mul_overflow (mtl_layout_strides (&self->layout)[i], 2, stride))
        *stride = 1;
    }
  if (!mtl_layout_is_empty (&layout))
    layout.offset = self->layout.offset * 2 + part;

  return mtl_strided_view_derive_as (self, self->byte_offset, type, &layout);
}

static gboolean
check_parts (MtlStridedView  *self,
             GError         **error)
{
  g_autofree char *name = NULL;

  if (self->type.code == kDLComplex && self->type.lanes == 1)
    return TRUE;

  name = mtl_element_type_to_string (self->type);
  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "Elements of type %s have no separate real and imaginary parts", name);
  return FALSE;
}

/**
 * mtl_strided_view_select_real:
 * @self: a view
 * @error: return location for a [error@Mtl.Error]
 *
 * Gets a view of the real parts of complex numbers. A view of real numbers is
 * that of the same elements.
 *
 * Errors:
 *
 * - %MTL_ERROR_NOT_SUPPORTED: the elements are not numbers, or are vectors of
 *   complex numbers
 *
 * Returns: (transfer full): the new view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_select_real (MtlStridedView  *self,
                              GError         **error)
{
  MtlLayout layout;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);

  if (!mtl_element_type_check_numeric (self->type, error))
    return NULL;

  if (self->type.code == kDLComplex)
    return check_parts (self, error) ? select_part (self, 0) : NULL;

  mtl_layout_copy (&self->layout, &layout);
  return mtl_strided_view_derive (self, &layout);
}

/**
 * mtl_strided_view_select_imaginary:
 * @self: a view
 * @error: return location for a [error@Mtl.Error]
 *
 * Gets a view of the imaginary parts of complex numbers.
 *
 * Errors:
 *
 * - %MTL_ERROR_NOT_SUPPORTED: the elements are not complex numbers, or are
 *   vectors of them
 *
 * Returns: (transfer full): the new view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_select_imaginary (MtlStridedView  *self,
                                   GError         **error)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);

  return check_parts (self, error) ? select_part (self, 1) : NULL;
}
