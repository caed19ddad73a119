/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-buffer-private.h"

#include "mtl-device-private.h"

/**
 * mtl_buffer_get_device: (get-property device)
 * @self: a buffer
 *
 * Gets the device that the memory is of.
 *
 * Returns: (transfer none): the device
 *
 * Since: 1.0
 */
MtlDevice *
mtl_buffer_get_device (MtlBuffer *self)
{
  g_return_val_if_fail (MTL_IS_BUFFER (self), NULL);

  return mtl_memory_get_device (self->memory);
}

/**
 * mtl_buffer_get_device_type: (get-property device-type)
 * @self: a buffer
 *
 * Gets the kind of the device that the memory is of.
 *
 * Returns: the kind
 *
 * Since: 1.0
 */
MtlDeviceType
mtl_buffer_get_device_type (MtlBuffer *self)
{
  g_return_val_if_fail (MTL_IS_BUFFER (self), MTL_DEVICE_TYPE_UNKNOWN);

  return mtl_device_type_from_number (self->memory->device_type);
}

/**
 * mtl_buffer_get_device_ordinal: (get-property device-ordinal)
 * @self: a buffer
 *
 * Gets the number of the device among those of its kind.
 *
 * Returns: the number
 *
 * Since: 1.0
 */
int
mtl_buffer_get_device_ordinal (MtlBuffer *self)
{
  g_return_val_if_fail (MTL_IS_BUFFER (self), 0);

  return self->memory->device_ordinal;
}

/**
 * mtl_buffer_get_size: (get-property size)
 * @self: a buffer
 *
 * Gets the size; see [method@Mtl.Buffer.is_size_known].
 *
 * Returns: the size in bytes
 *
 * Since: 1.0
 */
gsize
mtl_buffer_get_size (MtlBuffer *self)
{
  g_return_val_if_fail (MTL_IS_BUFFER (self), 0);

  return self->size;
}

/**
 * mtl_buffer_is_size_known: (get-property size-known)
 * @self: a buffer
 *
 * Gets whether the size is that of the memory. Where it is not, as for a
 * tensor on a foreign device, the size is what is known to be there.
 *
 * Returns: whether it is known
 *
 * Since: 1.0
 */
gboolean
mtl_buffer_is_size_known (MtlBuffer *self)
{
  g_return_val_if_fail (MTL_IS_BUFFER (self), FALSE);

  return self->size_known;
}

/**
 * mtl_buffer_get_storage_mode: (get-property storage-mode)
 * @self: a buffer
 *
 * Gets where the memory lives and who can reach it.
 *
 * Returns: the storage mode
 *
 * Since: 1.0
 */
MtlStorageMode
mtl_buffer_get_storage_mode (MtlBuffer *self)
{
  g_return_val_if_fail (MTL_IS_BUFFER (self), MTL_STORAGE_MODE_HOST);

  return self->memory->storage_mode;
}

/**
 * mtl_buffer_is_host_accessible: (get-property host-accessible)
 * @self: a buffer
 *
 * Gets whether the host can read the memory.
 *
 * Returns: whether it can
 *
 * Since: 1.0
 */
gboolean
mtl_buffer_is_host_accessible (MtlBuffer *self)
{
  g_return_val_if_fail (MTL_IS_BUFFER (self), FALSE);

  return mtl_memory_is_host_accessible (self->memory);
}

/**
 * mtl_buffer_is_device_accessible: (get-property device-accessible)
 * @self: a buffer
 *
 * Gets whether a device other than the host can read the memory.
 *
 * Returns: whether one can
 *
 * Since: 1.0
 */
gboolean
mtl_buffer_is_device_accessible (MtlBuffer *self)
{
  g_return_val_if_fail (MTL_IS_BUFFER (self), FALSE);

  return self->memory->storage_mode != MTL_STORAGE_MODE_HOST;
}

/**
 * mtl_buffer_is_read_only: (get-property read-only)
 * @self: a buffer
 *
 * Gets whether writes are refused.
 *
 * Returns: whether they are
 *
 * Since: 1.0
 */
gboolean
mtl_buffer_is_read_only (MtlBuffer *self)
{
  g_return_val_if_fail (MTL_IS_BUFFER (self), TRUE);

  return self->memory->read_only;
}

/**
 * mtl_buffer_equal:
 * @self: a buffer
 * @other: another one
 *
 * Gets whether both describe the same bytes of the same memory. What is in
 * the memory does not matter.
 *
 * Returns: whether they do
 *
 * Since: 1.0
 */
gboolean
mtl_buffer_equal (MtlBuffer *self,
                  MtlBuffer *other)
{
  g_return_val_if_fail (MTL_IS_BUFFER (self), FALSE);
  g_return_val_if_fail (MTL_IS_BUFFER (other), FALSE);

  return self->memory == other->memory && self->offset == other->offset
         && self->size == other->size;
}

/**
 * mtl_buffer_hash:
 * @self: a buffer
 *
 * Gets a number that is the same for buffers that are equal:
 * [method@Mtl.Buffer.equal].
 *
 * Returns: the number
 *
 * Since: 1.0
 */
guint
mtl_buffer_hash (MtlBuffer *self)
{
  g_return_val_if_fail (MTL_IS_BUFFER (self), 0);

  return g_direct_hash (self->memory) ^ (guint) self->offset * 31 ^ (guint) self->size;
}

/**
 * mtl_buffer_get_contents: (skip)
 * @self: a buffer
 *
 * Gets the address of the first byte. It is valid as long as the buffer.
 *
 * Returns: (nullable): the address, %NULL where the host cannot reach it, and
 *   possibly where the size is 0
 *
 * Since: 1.0
 */
gpointer
mtl_buffer_get_contents (MtlBuffer *self)
{
  g_return_val_if_fail (MTL_IS_BUFFER (self), NULL);

  return self->memory->contents != NULL ? self->memory->contents + self->offset : NULL;
}

/**
 * mtl_buffer_get_handle: (skip)
 * @self: a buffer
 *
 * Gets what the device calls the allocation that the buffer is a part of: an
 * address on the host, an `id<MTLBuffer>` on Metal. The buffer begins at
 * [method@Mtl.Buffer.get_byte_offset] within it.
 *
 * Returns: (nullable): the handle
 *
 * Since: 1.0
 */
gpointer
mtl_buffer_get_handle (MtlBuffer *self)
{
  g_return_val_if_fail (MTL_IS_BUFFER (self), NULL);

  return self->memory->handle;
}

/**
 * mtl_buffer_get_byte_offset:
 * @self: a buffer
 *
 * Gets where the buffer begins within the allocation that it is a part of.
 *
 * Returns: the offset in bytes
 *
 * Since: 1.0
 */
gsize
mtl_buffer_get_byte_offset (MtlBuffer *self)
{
  g_return_val_if_fail (MTL_IS_BUFFER (self), 0);

  return self->offset;
}
