/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-buffer-private.h"

#include "mtl-error.h"

static gboolean
check_writable (MtlBuffer  *self,
                GError    **error)
{
  if (!self->memory->read_only)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_READ_ONLY,
               "The buffer of %" G_GSIZE_FORMAT " bytes is read-only", self->size);
  return FALSE;
}

/**
 * mtl_buffer_get_bytes:
 * @self: a buffer
 * @offset: where to begin, in bytes
 * @size: how many bytes
 * @error: return location for a [error@Mtl.Error]
 *
 * Gets a part of the memory as [struct@GLib.Bytes], without a copy.
 *
 * The bytes keep the memory alive. Who receives them may take them to be
 * constant, as bytes are: do not write to the memory while somebody relies on
 * that. Use [method@Mtl.Buffer.dup_bytes] for bytes that stay as they are.
 *
 * Fails with %MTL_ERROR_OUT_OF_BOUNDS where the part is not within @self, and
 * with %MTL_ERROR_NOT_HOST_ACCESSIBLE where the host cannot read it.
 *
 * Returns: (transfer full): the bytes
 *
 * Since: 1.0
 */
GBytes *
mtl_buffer_get_bytes (MtlBuffer  *self,
                      gsize       offset,
                      gsize       size,
                      GError    **error)
{
  g_return_val_if_fail (MTL_IS_BUFFER (self), NULL);

  if (!mtl_buffer_check_range (self, offset, size, error)
      || !mtl_memory_check_host_accessible (self->memory, error))
    return NULL;

  if (size == 0)
    return g_bytes_new_static (NULL, 0);

  return g_bytes_new_with_free_func (self->memory->contents + self->offset + offset, size,
                                     (GDestroyNotify) mtl_memory_unref,
                                     mtl_memory_ref (self->memory));
}

/**
 * mtl_buffer_dup_bytes:
 * @self: a buffer
 * @offset: where to begin, in bytes
 * @size: how many bytes
 * @error: return location for a [error@Mtl.Error]
 *
 * Copies a part of the memory, wherever it is.
 *
 * Fails with %MTL_ERROR_OUT_OF_BOUNDS where the part is not within @self, with
 * %MTL_ERROR_NO_MEMORY, with %MTL_ERROR_NOT_HOST_ACCESSIBLE where nothing here
 * can read it, with %MTL_ERROR_NOT_SUPPORTED where the device cannot move its
 * last bytes, and with %MTL_ERROR_DEVICE.
 *
 * Returns: (transfer full): the bytes
 *
 * Since: 1.0
 */
GBytes *
mtl_buffer_dup_bytes (MtlBuffer  *self,
                      gsize       offset,
                      gsize       size,
                      GError    **error)
{
  g_autoptr (MtlBuffer) copy = NULL;

  g_return_val_if_fail (MTL_IS_BUFFER (self), NULL);

  if (!mtl_buffer_check_range (self, offset, size, error))
    return NULL;

  copy = mtl_buffer_new_uninitialized (mtl_device_get_host (), size, MTL_STORAGE_MODE_HOST, error);
  if (copy == NULL || !mtl_buffer_copy (copy, 0, self, offset, size, NULL, error))
    return NULL;

  return mtl_buffer_get_bytes (copy, 0, size, error);
}

/**
 * mtl_buffer_set_bytes:
 * @self: a buffer
 * @offset: where to begin, in bytes
 * @bytes: what to write there
 * @error: return location for a [error@Mtl.Error]
 *
 * Writes to a part of the memory, wherever it is.
 *
 * Fails with %MTL_ERROR_OUT_OF_BOUNDS where @bytes do not fit, with
 * %MTL_ERROR_READ_ONLY, and as [method@Mtl.Buffer.copy] does.
 *
 * Returns: whether it worked
 *
 * Since: 1.0
 */
gboolean
mtl_buffer_set_bytes (MtlBuffer  *self,
                      gsize       offset,
                      GBytes     *bytes,
                      GError    **error)
{
  g_autoptr (MtlBuffer) source = NULL;

  g_return_val_if_fail (MTL_IS_BUFFER (self), FALSE);
  g_return_val_if_fail (bytes != NULL, FALSE);

  source = mtl_buffer_new_from_bytes (mtl_device_get_host (), bytes, error);
  if (source == NULL)
    return FALSE;

  return mtl_buffer_copy (self, offset, source, 0, g_bytes_get_size (bytes), NULL, error);
}

static gboolean
copy_by (MtlDevice     *device,
         MtlBuffer     *dest,
         gsize          dest_offset,
         MtlBuffer     *source,
         gsize          source_offset,
         gsize          size,
         GCancellable  *cancellable,
         GError       **error)
{
  MtlDeviceClass *klass = MTL_DEVICE_GET_CLASS (device);

  if (klass->copy == NULL)
    return mtl_memory_check_host_accessible (dest->memory, error)
           && mtl_memory_check_host_accessible (source->memory, error);

  return klass->copy (device, dest, dest_offset, source, source_offset, size, cancellable, error);
}

/* Between two devices, neither of which reaches the other one's memory. */
static gboolean
copy_through_host (MtlBuffer     *dest,
                   gsize          dest_offset,
                   MtlBuffer     *source,
                   gsize          source_offset,
                   gsize          size,
                   GCancellable  *cancellable,
                   GError       **error)
{
  const gsize chunk_size = MIN (size, (gsize) 16 << 20);
  g_autoptr (MtlBuffer) host = mtl_buffer_new_uninitialized (mtl_device_get_host (), chunk_size,
                                                             MTL_STORAGE_MODE_HOST, error);

  if (host == NULL)
    return FALSE;

  for (gsize done = 0; done < size; done += chunk_size)
    {
      gsize chunk = MIN (chunk_size, size - done);

      if (g_cancellable_set_error_if_cancelled (cancellable, error)
          || !copy_by (mtl_buffer_get_device (source), host, 0, source, source_offset + done, chunk,
                       cancellable, error)
          || !copy_by (mtl_buffer_get_device (dest), dest, dest_offset + done, host, 0, chunk,
                       cancellable, error))
        return FALSE;
    }

  return TRUE;
}

static gboolean
copy_range (MtlBuffer     *dest,
            gsize          dest_offset,
            MtlBuffer     *source,
            gsize          source_offset,
            gsize          size,
            GCancellable  *cancellable,
            GError       **error)
{
  gboolean to_host = mtl_buffer_is_host_accessible (dest);
  gboolean from_host = mtl_buffer_is_host_accessible (source);
  MtlDevice *dest_device = mtl_buffer_get_device (dest);
  MtlDevice *device = mtl_buffer_get_device (source);

  if (!to_host && !from_host && device != dest_device)
    return copy_through_host (dest, dest_offset, source, source_offset, size, cancellable, error);

  if (from_host)
    device = to_host ? mtl_device_get_host () : dest_device;
  if (!copy_by (device, dest, dest_offset, source, source_offset, size, cancellable, error))
    return FALSE;

  if (device != dest_device)
    mtl_memory_did_modify (dest->memory, dest->offset + dest_offset, size);
  return TRUE;
}

/**
 * mtl_buffer_copy:
 * @self: the buffer to write to
 * @dest_offset: where to write, in bytes
 * @source: the buffer to read
 * @source_offset: where to read, in bytes
 * @size: how many bytes
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Copies bytes from one buffer to another or within one, where the two parts
 * may overlap.
 *
 * Fails with %MTL_ERROR_OUT_OF_BOUNDS where a part is not within its buffer,
 * with %MTL_ERROR_READ_ONLY, with %MTL_ERROR_NOT_HOST_ACCESSIBLE where nothing
 * here can reach one of the two, with %MTL_ERROR_NOT_SUPPORTED where the device
 * cannot move the last bytes of one, and with %MTL_ERROR_NO_MEMORY where memory
 * to pass them through cannot be had. After that nothing was written. After
 * %MTL_ERROR_DEVICE and %G_IO_ERROR_CANCELLED a part may have been.
 *
 * Returns: whether it worked
 *
 * Since: 1.0
 */
gboolean
mtl_buffer_copy (MtlBuffer     *self,
                 gsize          dest_offset,
                 MtlBuffer     *source,
                 gsize          source_offset,
                 gsize          size,
                 GCancellable  *cancellable,
                 GError       **error)
{
  g_return_val_if_fail (MTL_IS_BUFFER (self), FALSE);
  g_return_val_if_fail (MTL_IS_BUFFER (source), FALSE);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), FALSE);

  if (!mtl_buffer_check_range (self, dest_offset, size, error)
      || !mtl_buffer_check_range (source, source_offset, size, error)
      || !check_writable (self, error)
      || g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;

  if (size == 0)
    return TRUE;

  return copy_range (self, dest_offset, source, source_offset, size, cancellable, error);
}

/**
 * mtl_buffer_fill:
 * @self: a buffer
 * @offset: where to begin, in bytes
 * @size: how many bytes, a multiple of the pattern's
 * @pattern: 1, 2, 4, 8 or 16 bytes
 * @error: return location for a [error@Mtl.Error]
 *
 * Repeats a pattern over a part of the memory.
 *
 * Fails with %MTL_ERROR_INVALID_ARGUMENT where the pattern is of another size
 * or does not fit a whole number of times, with %MTL_ERROR_OUT_OF_BOUNDS where
 * the part is not within @self, with %MTL_ERROR_READ_ONLY, with
 * %MTL_ERROR_NOT_HOST_ACCESSIBLE where nothing here can reach it, and as
 * [method@Mtl.Buffer.copy] does.
 *
 * Returns: whether it worked
 *
 * Since: 1.0
 */
gboolean
mtl_buffer_fill (MtlBuffer  *self,
                 gsize       offset,
                 gsize       size,
                 GBytes     *pattern,
                 GError    **error)
{
  MtlDeviceClass *klass;
  MtlDevice *device;
  gconstpointer data;
  gsize pattern_size;

  g_return_val_if_fail (MTL_IS_BUFFER (self), FALSE);
  g_return_val_if_fail (pattern != NULL, FALSE);

  data = g_bytes_get_data (pattern, &pattern_size);
  if (pattern_size == 0 || pattern_size > 16 || (pattern_size & (pattern_size - 1)) != 0
      || size % pattern_size != 0)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "A pattern of %" G_GSIZE_FORMAT " bytes for %" G_GSIZE_FORMAT " bytes: it has"
                   " to be of 1, 2, 4, 8 or 16 bytes, and to fit a whole number of times",
                   pattern_size, size);
      return FALSE;
    }

  if (!mtl_buffer_check_range (self, offset, size, error) || !check_writable (self, error))
    return FALSE;

  if (size == 0)
    return TRUE;

  device = mtl_buffer_is_host_accessible (self) ? mtl_device_get_host ()
                                                : mtl_buffer_get_device (self);
  klass = MTL_DEVICE_GET_CLASS (device);
  if (klass->fill == NULL)
    return mtl_memory_check_host_accessible (self->memory, error);

  if (!klass->fill (device, self, offset, size, data, pattern_size, error))
    return FALSE;

  if (device == mtl_device_get_host ())
    mtl_memory_did_modify (self->memory, self->offset + offset, size);
  return TRUE;
}

/**
 * mtl_buffer_synchronize:
 * @self: a buffer
 * @error: return location for a [error@Mtl.Error]
 *
 * Makes what the device wrote readable by the host, after all work that was
 * given to the device through this library. The work of a program's own command
 * queues has to be done by then; see [class@Mtl.Event].
 *
 * Memory of storage mode %MTL_STORAGE_MODE_MANAGED is copied from the device
 * where the device has a copy of its own. On the host there is nothing to do.
 *
 * Fails with %MTL_ERROR_DEVICE where the device failed, and with
 * %MTL_ERROR_NOT_SUPPORTED where it has no backend here.
 *
 * Returns: whether it worked
 *
 * Since: 1.0
 */
gboolean
mtl_buffer_synchronize (MtlBuffer  *self,
                        GError    **error)
{
  g_return_val_if_fail (MTL_IS_BUFFER (self), FALSE);

  return mtl_memory_synchronize (self->memory, error);
}

/**
 * mtl_buffer_did_modify:
 * @self: a buffer
 * @offset: where the change begins, in bytes
 * @size: how many bytes changed
 *
 * Makes what the host wrote visible to the device: for memory of storage mode
 * %MTL_STORAGE_MODE_MANAGED that was written through its address. What this
 * library writes it reports itself. Elsewhere there is nothing to do.
 *
 * Since: 1.0
 */
void
mtl_buffer_did_modify (MtlBuffer *self,
                       gsize      offset,
                       gsize      size)
{
  g_return_if_fail (MTL_IS_BUFFER (self));
  g_return_if_fail (offset <= self->size && size <= self->size - offset);

  mtl_memory_did_modify (self->memory, self->offset + offset, size);
}
