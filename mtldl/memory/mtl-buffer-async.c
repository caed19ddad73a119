/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Asynchronous versions of the calls on buffers that wait for a device or a file. */

#include "mtl-buffer-private.h"

#include "mtl-async-call-private.h"

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
