/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-strided-view-private.h"

#include "mtl-bindings.h"
#include "mtl-device-private.h"
#include "mtl-strided-layout-private.h"

/**
 * mtl_strided_view_dup_layout: (get-property layout)
 * @self: a view
 *
 * Gets the layout. The view answers all its questions as well, so that it is
 * needed only to make another view with it.
 *
 * Returns: (transfer full): the layout
 *
 * Since: 1.0
 */
MtlStridedLayout *
mtl_strided_view_dup_layout (MtlStridedView *self)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);

  return mtl_strided_view_copy_layout (self);
}

/**
 * mtl_strided_view_get_buffer: (get-property buffer)
 * @self: a view
 *
 * Gets the memory. For a view that was made of a buffer it is that one; for
 * others it is all the memory that is known of.
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
 * Gets where element offset 0 of the layout lies in the buffer. The first
 * element lies [method@Mtl.StridedView.get_offset] elements further on.
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
 * Gets the element type: %MTL_DTYPE_OTHER where it has no name here.
 *
 * Returns: the element type
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
 * mtl_strided_view_get_dtype_code: (get-property dtype-code)
 * @self: a view
 *
 * Gets DLPack's code of the element type, named here or not.
 *
 * Returns: the code
 *
 * Since: 1.0
 */
guint
mtl_strided_view_get_dtype_code (MtlStridedView *self)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), 0);

  return self->type.code;
}

/**
 * mtl_strided_view_get_dtype_bits: (get-property dtype-bits)
 * @self: a view
 *
 * Gets the bits of one lane of an element, named here or not. What an element
 * takes in memory is told by [method@Mtl.StridedView.get_item_bits].
 *
 * Returns: the number of bits
 *
 * Since: 1.0
 */
guint
mtl_strided_view_get_dtype_bits (MtlStridedView *self)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), 0);

  return self->type.bits;
}

/**
 * mtl_strided_view_get_lanes: (get-property lanes)
 * @self: a view
 *
 * Gets how many values of its type an element is made of: 1 unless it is a
 * vector.
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
 * Gets whether an element of fewer than 8 bits has a byte to itself.
 *
 * Returns: whether it has
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
 * Gets the device that the memory is of.
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
 * mtl_strided_view_get_device_type: (get-property device-type)
 * @self: a view
 *
 * Gets the kind of the device that the memory is of.
 *
 * Returns: the kind
 *
 * Since: 1.0
 */
MtlDeviceType
mtl_strided_view_get_device_type (MtlStridedView *self)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), MTL_DEVICE_TYPE_UNKNOWN);

  return mtl_device_type_from_number (self->memory->device_type);
}

/**
 * mtl_strided_view_get_device_type_code: (get-property device-type-code)
 * @self: a view
 *
 * Gets DLPack's number of the kind of device, named here or not.
 *
 * Returns: the number
 *
 * Since: 1.0
 */
int
mtl_strided_view_get_device_type_code (MtlStridedView *self)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), 0);

  return self->memory->device_type;
}

/**
 * mtl_strided_view_get_device_ordinal: (get-property device-ordinal)
 * @self: a view
 *
 * Gets the number of the device among those of its kind.
 *
 * Returns: the number
 *
 * Since: 1.0
 */
int
mtl_strided_view_get_device_ordinal (MtlStridedView *self)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), 0);

  return self->memory->device_ordinal;
}

/**
 * mtl_strided_view_is_host_accessible: (get-property host-accessible)
 * @self: a view
 *
 * Gets whether the host can reach the elements.
 *
 * Returns: whether it can
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
 * Gets whether writes through this view are refused.
 *
 * Returns: whether they are
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
 * @other: another one
 *
 * Gets whether both describe the same elements of the same memory in the same
 * way. Whether elements have the same values is asked with
 * [method@Mtl.StridedView.array_equal].
 *
 * Returns: whether they do
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
 * Gets a number that is the same for views that are identical:
 * [method@Mtl.StridedView.equal].
 *
 * Returns: the number
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
 * Gets the address of the first element. It is valid as long as the view.
 *
 * Returns: (nullable): the address, %NULL where the host cannot reach it,
 *   where there is no element, and where the first bit is not that of a byte
 *
 * Since: 1.0
 */
gpointer
mtl_strided_view_get_data (MtlStridedView *self)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);

  return find_first_element (self);
}

/**
 * mtl_strided_view_describe: (skip)
 * @self: a view
 * @tensor: (type gpointer) (out caller-allocates): a DLPack `DLTensor`
 *
 * Gets at once what [method@Mtl.StridedView.get_data],
 * [method@Mtl.StridedView.get_shape], [method@Mtl.StridedView.get_strides] and
 * the getters of the device and the element type return. All of it belongs to
 * @self and lives as long as @self does; to hand memory to somebody else, use
 * [method@Mtl.StridedView.to_dlpack_full]. Declared in `<mtldl/mtl-bindings.h>`.
 *
 * Returns: DLPack's flags: 1 for a read-only view, 4 for padded elements
 *
 * Since: 1.0
 */
guint64
mtl_strided_view_describe (MtlStridedView *self,
                           DLTensor       *tensor)
{
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
 * mtl_strided_view_has_negative_strides: (skip)
 * @self: a view
 *
 * Checks whether the elements run backwards along an axis. Strides of axes with
 * fewer than two indices are never used and do not count, nor do those of a view
 * without elements. Few consumers of DLPack take negative strides; see
 * %MTL_DLPACK_FLAGS_NEGATIVE_STRIDES. Declared in `<mtldl/mtl-bindings.h>`.
 *
 * Returns: %TRUE if they do
 *
 * Since: 1.0
 */
gboolean
mtl_strided_view_has_negative_strides (MtlStridedView *self)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), FALSE);

  return mtl_layout_has_negative_strides (&self->layout);
}

/**
 * mtl_strided_view_get_address:
 * @self: a view
 *
 * Gets the address of the first element as a number, to tell whether two views
 * share memory.
 *
 * Returns: the address, 0 where the host cannot reach it and where there is no
 *   element
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
 * mtl_strided_view_get_item_bits: (get-property item-bits)
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
 * mtl_strided_view_get_offset: (get-property offset)
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
 * mtl_strided_view_get_volume: (get-property volume)
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
 * mtl_strided_view_dup_stride_order:
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
mtl_strided_view_dup_stride_order (MtlStridedView *self,
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
