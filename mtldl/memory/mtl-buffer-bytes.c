/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Reads and writes the bytes of a buffer, and everything that is asynchronous. */

#include "mtl-buffer-private.h"

#include "mtl-async-call-private.h"
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

/* Checks that the bytes can be copied, before memory for the copy is allocated. An
 * empty buffer always can. */
static gboolean
check_readable (MtlBuffer  *self,
                GError    **error)
{
  return self->size == 0 || mtl_memory_is_host_accessible (self->memory)
         || mtl_memory_check_reachable (self->memory, error);
}

/**
 * mtl_buffer_get_bytes:
 * @self: a buffer
 * @offset: the offset of the part, in bytes
 * @size: the size of the part in bytes
 * @error: return location for a [error@Mtl.Error]
 *
 * Gets a part of the memory as [struct@GLib.Bytes], without a copy.
 *
 * The bytes keep the memory alive. Since [struct@GLib.Bytes] are meant to be
 * immutable, do not write to the memory while other code relies on that. Use
 * [method@Mtl.Buffer.dup_bytes] for bytes that never change.
 *
 * Never write through the bytes: memory that is read-only, such as that of a
 * mapped file, ends the program. In gjs before 1.81.2, the array that
 * `toArray()` of the bytes returns is the memory itself.
 *
 * Errors:
 *
 * - %MTL_ERROR_OUT_OF_BOUNDS: the part is not within @self
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: the host cannot read the memory
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
 * @offset: the offset of the part, in bytes
 * @size: the size of the part in bytes
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Copies a part of the memory into new [struct@GLib.Bytes].
 *
 * This works for memory on the host and on devices.
 *
 * Errors:
 *
 * - %MTL_ERROR_OUT_OF_BOUNDS: the part is not within @self
 * - %MTL_ERROR_NO_MEMORY: the memory for the copy cannot be allocated
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: neither the host nor a supported device can
 *   read the memory
 * - %MTL_ERROR_NOT_SUPPORTED: the device cannot copy the last bytes of its
 *   memory
 * - %MTL_ERROR_DEVICE: the device failed
 * - %G_IO_ERROR_CANCELLED: the operation was cancelled
 *
 * Returns: (transfer full): the bytes
 *
 * Since: 1.0
 */
GBytes *
mtl_buffer_dup_bytes (MtlBuffer     *self,
                      gsize          offset,
                      gsize          size,
                      GCancellable  *cancellable,
                      GError       **error)
{
  g_autoptr (MtlBuffer) copy = NULL;

  g_return_val_if_fail (MTL_IS_BUFFER (self), NULL);

  if (!mtl_buffer_check_range (self, offset, size, error)
      || !check_readable (self, error))
    return NULL;

  copy = mtl_buffer_new_uninitialized (mtl_device_get_host (), size, MTL_STORAGE_MODE_HOST, error);
  if (copy == NULL || !mtl_buffer_copy_from (copy, 0, self, offset, size, cancellable, error))
    return NULL;

  return mtl_buffer_get_bytes (copy, 0, size, error);
}

/**
 * mtl_buffer_set_bytes:
 * @self: a buffer
 * @offset: the offset to write to, in bytes
 * @bytes: the bytes to write
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Writes bytes to a part of the memory.
 *
 * This works for memory on the host and on devices.
 *
 * Errors:
 *
 * - %MTL_ERROR_OUT_OF_BOUNDS: @bytes do not fit
 * - %MTL_ERROR_READ_ONLY: @self is read-only
 * - the errors of [method@Mtl.Buffer.copy_from]
 * - %G_IO_ERROR_CANCELLED: the operation was cancelled
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_buffer_set_bytes (MtlBuffer     *self,
                      gsize          offset,
                      GBytes        *bytes,
                      GCancellable  *cancellable,
                      GError       **error)
{
  g_autoptr (MtlBuffer) source = NULL;

  g_return_val_if_fail (MTL_IS_BUFFER (self), FALSE);
  g_return_val_if_fail (bytes != NULL, FALSE);

  source = mtl_buffer_new_from_bytes (bytes, mtl_device_get_host (), MTL_BUFFER_FLAGS_NONE, error);
  if (source == NULL)
    return FALSE;

  return mtl_buffer_copy_from (self, offset, source, 0, g_bytes_get_size (bytes), cancellable,
                               error);
}

/**
 * mtl_buffer_copy:
 * @self: a buffer
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Copies the buffer.
 *
 * The copy is on the same device and has the same storage mode. If nothing can
 * be allocated there, as on a device without a backend, it is on the host.
 * Writes to the copy do not affect @self.
 *
 * Errors:
 *
 * - %MTL_ERROR_NO_MEMORY: the memory cannot be allocated
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: neither the host nor a supported device can
 *   read the memory
 * - %MTL_ERROR_NOT_SUPPORTED: the device cannot copy the last bytes of its
 *   memory
 * - %MTL_ERROR_DEVICE: the device failed
 * - %G_IO_ERROR_CANCELLED: the copy was cancelled
 *
 * Returns: (transfer full): a writable buffer
 *
 * Since: 1.0
 */
MtlBuffer *
mtl_buffer_copy (MtlBuffer     *self,
                 GCancellable  *cancellable,
                 GError       **error)
{
  g_autoptr (MtlBuffer) copy = NULL;
  MtlStorageMode mode;
  MtlDevice *device;

  g_return_val_if_fail (MTL_IS_BUFFER (self), NULL);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), NULL);

  if (!check_readable (self, error))
    return NULL;

  device = mtl_memory_get_copy_device (self->memory, &mode);
  copy = mtl_buffer_new_uninitialized (device, self->size, mode, error);
  if (copy == NULL
      || !mtl_buffer_copy_from (copy, 0, self, 0, self->size, cancellable, error))
    return NULL;

  return g_steal_pointer (&copy);
}

/**
 * mtl_buffer_copy_from:
 * @self: the buffer to write to
 * @offset: the offset to write to, in bytes
 * @source: the buffer to read
 * @source_offset: the offset to read from, in bytes
 * @size: the number of bytes to copy
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Copies bytes from @source to @self.
 *
 * Both may be the same buffer, and the two ranges may overlap.
 *
 * Errors:
 *
 * - %MTL_ERROR_OUT_OF_BOUNDS: a range is not within its buffer
 * - %MTL_ERROR_READ_ONLY: @self is read-only
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: neither the host nor a supported device can
 *   access one of the buffers
 * - %MTL_ERROR_NOT_SUPPORTED: the device cannot copy the last bytes of its
 *   memory
 * - %MTL_ERROR_NO_MEMORY: memory to pass the bytes through cannot be allocated
 * - %MTL_ERROR_DEVICE: the device failed; part of the range may be written
 * - %G_IO_ERROR_CANCELLED: the copy was cancelled; part of the range may be
 *   written
 *
 * After any other error nothing is written.
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_buffer_copy_from (MtlBuffer     *self,
                      gsize          offset,
                      MtlBuffer     *source,
                      gsize          source_offset,
                      gsize          size,
                      GCancellable  *cancellable,
                      GError       **error)
{
  g_return_val_if_fail (MTL_IS_BUFFER (self), FALSE);
  g_return_val_if_fail (MTL_IS_BUFFER (source), FALSE);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), FALSE);

  if (!mtl_buffer_check_range (self, offset, size, error)
      || !mtl_buffer_check_range (source, source_offset, size, error)
      || !check_writable (self, error)
      || g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;

  if (size == 0)
    return TRUE;

  return mtl_memory_copy (self->memory, self->offset + offset, source->memory,
                          source->offset + source_offset, size, cancellable, error);
}

/**
 * mtl_buffer_fill:
 * @self: a buffer
 * @offset: the offset of the part, in bytes
 * @size: the size of the part in bytes, a multiple of the size of @pattern
 * @pattern: a pattern of 1, 2, 4, 8 or 16 bytes
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Fills a part of the memory with a repeated pattern.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: @pattern has another size, or @size is not a
 *   multiple of it
 * - %MTL_ERROR_OUT_OF_BOUNDS: the part is not within @self
 * - %MTL_ERROR_READ_ONLY: @self is read-only
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: neither the host nor a supported device can
 *   access the memory
 * - the errors of [method@Mtl.Buffer.copy_from]
 * - %G_IO_ERROR_CANCELLED: the operation was cancelled
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_buffer_fill (MtlBuffer     *self,
                 gsize          offset,
                 gsize          size,
                 GBytes        *pattern,
                 GCancellable  *cancellable,
                 GError       **error)
{
  gconstpointer data;
  gsize pattern_size;

  g_return_val_if_fail (MTL_IS_BUFFER (self), FALSE);
  g_return_val_if_fail (pattern != NULL, FALSE);

  data = g_bytes_get_data (pattern, &pattern_size);
  if (pattern_size == 0 || pattern_size > 16 || (pattern_size & (pattern_size - 1)) != 0
      || size % pattern_size != 0)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "A pattern of %" G_GSIZE_FORMAT " bytes cannot fill %" G_GSIZE_FORMAT " bytes:"
                   " it must have 1, 2, 4, 8 or 16 bytes, and fit a whole number of times",
                   pattern_size, size);
      return FALSE;
    }

  if (!mtl_buffer_check_range (self, offset, size, error) || !check_writable (self, error))
    return FALSE;

  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;

  if (size == 0)
    return TRUE;

  return mtl_memory_fill (self->memory, self->offset + offset, size, data, pattern_size, error);
}

/**
 * mtl_buffer_synchronize:
 * @self: a buffer
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Makes the device's writes visible to the host.
 *
 * This waits until the device has finished all work submitted through this
 * library. Work on the program's own command queues must be finished before,
 * see [class@Mtl.Event].
 *
 * Memory with %MTL_STORAGE_MODE_MANAGED is copied from the device if the device
 * has a separate copy. On the host there is nothing to do.
 *
 * Errors:
 *
 * - %MTL_ERROR_DEVICE: the device failed
 * - %MTL_ERROR_NOT_SUPPORTED: this library has no backend for the device
 * - %G_IO_ERROR_CANCELLED: the operation was cancelled
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_buffer_synchronize (MtlBuffer     *self,
                        GCancellable  *cancellable,
                        GError       **error)
{
  g_return_val_if_fail (MTL_IS_BUFFER (self), FALSE);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), FALSE);

  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;

  return mtl_memory_synchronize (self->memory, error);
}

/**
 * mtl_buffer_did_modify:
 * @self: a buffer
 * @offset: the offset of the changed bytes
 * @size: the number of changed bytes
 * @error: return location for a [error@Mtl.Error]
 *
 * Makes the host's writes visible to the device.
 *
 * This is only needed for memory with %MTL_STORAGE_MODE_MANAGED that the
 * program wrote to through its address. The library reports its own writes. For
 * other memory this does nothing.
 *
 * Errors:
 *
 * - %MTL_ERROR_OUT_OF_BOUNDS: the changed bytes are not within @self
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_buffer_did_modify (MtlBuffer  *self,
                       gsize       offset,
                       gsize       size,
                       GError    **error)
{
  g_return_val_if_fail (MTL_IS_BUFFER (self), FALSE);

  if (!mtl_buffer_check_range (self, offset, size, error))
    return FALSE;

  mtl_memory_did_modify (self->memory, self->offset + offset, size);
  return TRUE;
}

/* Asynchronous versions of the calls on buffers that wait for a device or a file. */

/* The arguments of an operation. */
typedef struct
{
  MtlAsyncCall parent;

  MtlBuffer *source;
  GBytes *bytes; /* the bytes or the pattern */
  gsize offset;
  gsize source_offset;
  gsize size;

  GFile *file;
  MtlDevice *device;
  guint64 file_offset;
} Call;

static void
call_clear (gpointer data)
{
  Call *call = data;

  g_clear_object (&call->source);
  g_clear_pointer (&call->bytes, g_bytes_unref);
  g_clear_object (&call->file);
  g_clear_object (&call->device);
}

static Call *
call_new (MtlAsyncFunc   run,
          GDestroyNotify free_result,
          int            io_priority)
{
  return mtl_async_call_new (sizeof (Call), run, free_result, call_clear, io_priority);
}

static gpointer
run_dup_bytes (gpointer           self,
               gpointer           data,
               const MtlMonitor  *monitor,
               GError           **error)
{
  Call *call = data;

  return mtl_buffer_dup_bytes (self, call->offset, call->size, monitor->cancellable, error);
}

/**
 * mtl_buffer_dup_bytes_async:
 * @self: a buffer
 * @offset: the offset to read from, in bytes
 * @size: the number of bytes
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called when the operation is done
 * @user_data: data for @callback
 *
 * Copies a part of the memory without blocking the caller. This is
 * the asynchronous version of [method@Mtl.Buffer.dup_bytes].
 *
 * Since: 1.0
 */
void
mtl_buffer_dup_bytes_async (MtlBuffer           *self,
                            gsize                offset,
                            gsize                size,
                            GCancellable        *cancellable,
                            GAsyncReadyCallback  callback,
                            gpointer             user_data)
{
  Call *call;

  g_return_if_fail (MTL_IS_BUFFER (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  call = call_new (run_dup_bytes, (GDestroyNotify) g_bytes_unref, G_PRIORITY_DEFAULT);
  call->offset = offset;
  call->size = size;
  mtl_async_call_start (call, self, mtl_buffer_dup_bytes_async, cancellable, callback, user_data);
}

/**
 * mtl_buffer_dup_bytes_finish:
 * @self: a buffer
 * @result: the result that the callback received
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Finishes an operation that was started with
 * [method@Mtl.Buffer.dup_bytes_async].
 *
 * Errors:
 *
 * - the errors of [method@Mtl.Buffer.dup_bytes]
 *
 * Returns: (transfer full): the bytes
 *
 * Since: 1.0
 */
GBytes *
mtl_buffer_dup_bytes_finish (MtlBuffer     *self,
                             GAsyncResult  *result,
                             GError       **error)
{
  return mtl_async_call_take_result (self, result, mtl_buffer_dup_bytes_async, error);
}

static gpointer
run_set_bytes (gpointer           self,
               gpointer           data,
               const MtlMonitor  *monitor,
               GError           **error)
{
  Call *call = data;

  return GINT_TO_POINTER (
      mtl_buffer_set_bytes (self, call->offset, call->bytes, monitor->cancellable, error));
}

/**
 * mtl_buffer_set_bytes_async:
 * @self: a buffer
 * @offset: the offset to write to, in bytes
 * @bytes: the bytes to write
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called when the operation is done
 * @user_data: data for @callback
 *
 * Writes bytes to a part of the memory without blocking the caller. This is
 * the asynchronous version of [method@Mtl.Buffer.set_bytes].
 *
 * Since: 1.0
 */
void
mtl_buffer_set_bytes_async (MtlBuffer           *self,
                            gsize                offset,
                            GBytes              *bytes,
                            GCancellable        *cancellable,
                            GAsyncReadyCallback  callback,
                            gpointer             user_data)
{
  Call *call;

  g_return_if_fail (MTL_IS_BUFFER (self));
  g_return_if_fail (bytes != NULL);
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  call = call_new (run_set_bytes, NULL, G_PRIORITY_DEFAULT);
  call->offset = offset;
  call->bytes = g_bytes_ref (bytes);
  mtl_async_call_start (call, self, mtl_buffer_set_bytes_async, cancellable, callback, user_data);
}

/**
 * mtl_buffer_set_bytes_finish:
 * @self: a buffer
 * @result: the result that the callback received
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Finishes an operation that was started with
 * [method@Mtl.Buffer.set_bytes_async].
 *
 * Errors:
 *
 * - the errors of [method@Mtl.Buffer.set_bytes]
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_buffer_set_bytes_finish (MtlBuffer     *self,
                             GAsyncResult  *result,
                             GError       **error)
{
  return mtl_async_call_finish (self, result, mtl_buffer_set_bytes_async, error);
}

static gpointer
run_copy (gpointer           self,
          gpointer           data,
          const MtlMonitor  *monitor,
          GError           **error)
{
  return mtl_buffer_copy (self, monitor->cancellable, error);
}

/**
 * mtl_buffer_copy_async:
 * @self: a buffer
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called when the operation is done
 * @user_data: data for @callback
 *
 * Copies the buffer without blocking the caller. This is
 * the asynchronous version of [method@Mtl.Buffer.copy].
 *
 * Since: 1.0
 */
void
mtl_buffer_copy_async (MtlBuffer           *self,
                       GCancellable        *cancellable,
                       GAsyncReadyCallback  callback,
                       gpointer             user_data)
{
  g_return_if_fail (MTL_IS_BUFFER (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  mtl_async_call_start (call_new (run_copy, g_object_unref, G_PRIORITY_DEFAULT), self,
                        mtl_buffer_copy_async,
                        cancellable, callback, user_data);
}

/**
 * mtl_buffer_copy_finish:
 * @self: a buffer
 * @result: the result that the callback received
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Finishes an operation that was started with
 * [method@Mtl.Buffer.copy_async].
 *
 * Errors:
 *
 * - the errors of [method@Mtl.Buffer.copy]
 *
 * Returns: (transfer full): a writable buffer
 *
 * Since: 1.0
 */
MtlBuffer *
mtl_buffer_copy_finish (MtlBuffer     *self,
                        GAsyncResult  *result,
                        GError       **error)
{
  return mtl_async_call_take_result (self, result, mtl_buffer_copy_async, error);
}

static gpointer
run_copy_from (gpointer           self,
               gpointer           data,
               const MtlMonitor  *monitor,
               GError           **error)
{
  Call *call = data;

  return GINT_TO_POINTER (mtl_buffer_copy_from (self, call->offset, call->source,
                                                call->source_offset, call->size,
                                                monitor->cancellable, error));
}

/**
 * mtl_buffer_copy_from_async:
 * @self: a buffer
 * @offset: the offset to write to, in bytes
 * @source: the buffer to read from
 * @source_offset: the offset to read from, in bytes
 * @size: the number of bytes
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called when the operation is done
 * @user_data: data for @callback
 *
 * Copies bytes without blocking the caller. This is
 * the asynchronous version of [method@Mtl.Buffer.copy_from].
 *
 * Since: 1.0
 */
void
mtl_buffer_copy_from_async (MtlBuffer           *self,
                            gsize                offset,
                            MtlBuffer           *source,
                            gsize                source_offset,
                            gsize                size,
                            GCancellable        *cancellable,
                            GAsyncReadyCallback  callback,
                            gpointer             user_data)
{
  Call *call;

  g_return_if_fail (MTL_IS_BUFFER (self));
  g_return_if_fail (MTL_IS_BUFFER (source));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  call = call_new (run_copy_from, NULL, G_PRIORITY_DEFAULT);
  call->offset = offset;
  call->source = g_object_ref (source);
  call->source_offset = source_offset;
  call->size = size;
  mtl_async_call_start (call, self, mtl_buffer_copy_from_async, cancellable, callback, user_data);
}

/**
 * mtl_buffer_copy_from_finish:
 * @self: a buffer
 * @result: the result that the callback received
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Finishes an operation that was started with
 * [method@Mtl.Buffer.copy_from_async].
 *
 * Errors:
 *
 * - the errors of [method@Mtl.Buffer.copy_from]
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_buffer_copy_from_finish (MtlBuffer     *self,
                             GAsyncResult  *result,
                             GError       **error)
{
  return mtl_async_call_finish (self, result, mtl_buffer_copy_from_async, error);
}

static gpointer
run_fill (gpointer           self,
          gpointer           data,
          const MtlMonitor  *monitor,
          GError           **error)
{
  Call *call = data;

  return GINT_TO_POINTER (
      mtl_buffer_fill (self, call->offset, call->size, call->bytes, monitor->cancellable, error));
}

/**
 * mtl_buffer_fill_async:
 * @self: a buffer
 * @offset: the offset to write to, in bytes
 * @size: the number of bytes, a multiple of the size of @pattern
 * @pattern: 1, 2, 4, 8 or 16 bytes
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called when the operation is done
 * @user_data: data for @callback
 *
 * Repeats a pattern in a part of the memory without blocking the caller. This is
 * the asynchronous version of [method@Mtl.Buffer.fill].
 *
 * Since: 1.0
 */
void
mtl_buffer_fill_async (MtlBuffer           *self,
                       gsize                offset,
                       gsize                size,
                       GBytes              *pattern,
                       GCancellable        *cancellable,
                       GAsyncReadyCallback  callback,
                       gpointer             user_data)
{
  Call *call;

  g_return_if_fail (MTL_IS_BUFFER (self));
  g_return_if_fail (pattern != NULL);
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  call = call_new (run_fill, NULL, G_PRIORITY_DEFAULT);
  call->offset = offset;
  call->size = size;
  call->bytes = g_bytes_ref (pattern);
  mtl_async_call_start (call, self, mtl_buffer_fill_async, cancellable, callback, user_data);
}

/**
 * mtl_buffer_fill_finish:
 * @self: a buffer
 * @result: the result that the callback received
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Finishes an operation that was started with
 * [method@Mtl.Buffer.fill_async].
 *
 * Errors:
 *
 * - the errors of [method@Mtl.Buffer.fill]
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_buffer_fill_finish (MtlBuffer     *self,
                        GAsyncResult  *result,
                        GError       **error)
{
  return mtl_async_call_finish (self, result, mtl_buffer_fill_async, error);
}

static gpointer
run_synchronize (gpointer           self,
                 gpointer           data,
                 const MtlMonitor  *monitor,
                 GError           **error)
{
  return GINT_TO_POINTER (mtl_buffer_synchronize (self, monitor->cancellable, error));
}

/**
 * mtl_buffer_synchronize_async:
 * @self: a buffer
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called when the operation is done
 * @user_data: data for @callback
 *
 * Makes the device's writes visible to the host without blocking the caller. This is
 * the asynchronous version of [method@Mtl.Buffer.synchronize].
 *
 * Since: 1.0
 */
void
mtl_buffer_synchronize_async (MtlBuffer           *self,
                              GCancellable        *cancellable,
                              GAsyncReadyCallback  callback,
                              gpointer             user_data)
{
  g_return_if_fail (MTL_IS_BUFFER (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  mtl_async_call_start (call_new (run_synchronize, NULL, G_PRIORITY_DEFAULT), self, mtl_buffer_synchronize_async,
                        cancellable, callback, user_data);
}

/**
 * mtl_buffer_synchronize_finish:
 * @self: a buffer
 * @result: the result that the callback received
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Finishes an operation that was started with
 * [method@Mtl.Buffer.synchronize_async].
 *
 * Errors:
 *
 * - the errors of [method@Mtl.Buffer.synchronize]
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_buffer_synchronize_finish (MtlBuffer     *self,
                               GAsyncResult  *result,
                               GError       **error)
{
  return mtl_async_call_finish (self, result, mtl_buffer_synchronize_async, error);
}

static gpointer
run_new_mapped (gpointer           source_object,
                gpointer           data,
                const MtlMonitor  *monitor,
                GError           **error)
{
  Call *call = data;

  return mtl_buffer_new_mapped (call->file, call->device, call->file_offset, call->size,
                                monitor->cancellable, error);
}

/**
 * mtl_buffer_new_mapped_async:
 * @file: a file on a disk
 * @device: (nullable): a device, or %NULL for the host
 * @offset: where the range begins in the file, in bytes
 * @size: the size of the range in bytes
 * @io_priority: the I/O priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called when the operation is done
 * @user_data: data for @callback
 *
 * Maps a range of a file without blocking the caller. This is the asynchronous
 * version of [ctor@Mtl.Buffer.new_mapped].
 *
 * Since: 1.0
 */
void
mtl_buffer_new_mapped_async (GFile               *file,
                             MtlDevice           *device,
                             guint64              offset,
                             gsize                size,
                             int                  io_priority,
                             GCancellable        *cancellable,
                             GAsyncReadyCallback  callback,
                             gpointer             user_data)
{
  Call *call;

  g_return_if_fail (G_IS_FILE (file));
  g_return_if_fail (device == NULL || MTL_IS_DEVICE (device));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  call = call_new (run_new_mapped, g_object_unref, io_priority);
  call->file = g_object_ref (file);
  g_set_object (&call->device, device);
  call->file_offset = offset;
  call->size = size;
  mtl_async_call_start (call, NULL, mtl_buffer_new_mapped_async, cancellable, callback, user_data);
}

/**
 * mtl_buffer_new_mapped_finish: (constructor)
 * @result: the result that the callback received
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Finishes an operation that was started with
 * [func@Mtl.Buffer.new_mapped_async].
 *
 * Errors:
 *
 * - the errors of [ctor@Mtl.Buffer.new_mapped]
 *
 * Returns: (transfer full): the buffer
 *
 * Since: 1.0
 */
MtlBuffer *
mtl_buffer_new_mapped_finish (GAsyncResult  *result,
                              GError       **error)
{
  return mtl_async_call_take_result (NULL, result, mtl_buffer_new_mapped_async, error);
}
