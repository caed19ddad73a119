/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-strided-view-private.h"

#include "mtl-bindings.h"
#include "mtl-device-private.h"
#include "mtl-strided-layout-private.h"

/**
 * mtl_strided_view_get_layout:
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
mtl_strided_view_get_layout (MtlStridedView *self)
{
  MtlLayout layout;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);

  mtl_layout_copy (&self->layout, &layout);
  return mtl_strided_layout_new_take (&layout);
}

/**
 * mtl_strided_view_get_buffer:
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
  MtlBuffer *buffer, *made;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);

  buffer = g_atomic_pointer_get (&self->buffer);
  if (buffer != NULL)
    return buffer;

  made = mtl_buffer_new_for_memory (mtl_memory_ref (self->memory));
  if (g_atomic_pointer_compare_and_exchange (&self->buffer, NULL, made))
    return made;

  g_object_unref (made);
  return g_atomic_pointer_get (&self->buffer);
}

/**
 * mtl_strided_view_get_byte_offset:
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
  MtlBuffer *buffer;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), 0);

  buffer = g_atomic_pointer_get (&self->buffer);
  return self->byte_offset - (buffer != NULL ? buffer->offset : 0);
}

/**
 * mtl_strided_view_get_dtype:
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
 * mtl_strided_view_get_dtype_code:
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
 * mtl_strided_view_get_dtype_bits:
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
 * mtl_strided_view_get_lanes:
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
 * mtl_strided_view_is_padded:
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
 * mtl_strided_view_get_device:
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
 * mtl_strided_view_get_device_type:
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
 * mtl_strided_view_get_device_type_code:
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
 * mtl_strided_view_get_device_ordinal:
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
 * mtl_strided_view_is_host_accessible:
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
 * mtl_strided_view_is_read_only:
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
 * mtl_strided_view_is_identical:
 * @self: a view
 * @other: another one
 *
 * Gets whether both describe the same elements of the same memory in the same
 * way. Whether elements have the same values is asked with
 * [method@Mtl.StridedView.equal].
 *
 * Returns: whether they do
 *
 * Since: 1.0
 */
gboolean
mtl_strided_view_is_identical (MtlStridedView *self,
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
 * [method@Mtl.StridedView.is_identical].
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
 * [method@Mtl.StridedView.to_dlpack]. Declared in `<mtldl/mtl-bindings.h>`.
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
