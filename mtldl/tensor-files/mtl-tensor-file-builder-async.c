/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-tensor-file-builder-private.h"

#include "mtl-async-call-private.h"

typedef struct
{
  MtlAsyncCall parent;

  MtlTensorFileBuilder *builder; /* a copy, made when the call started; NULL if that failed */
  GError *error;
  GFile *file;
  guint64 max_size; /* the maximum size of a shard */
} Call;

static void
call_clear (gpointer data)
{
  Call *call = data;

  g_clear_object (&call->builder);
  g_clear_error (&call->error);
  g_clear_object (&call->file);
}

/* Once the file is in place, the call has succeeded, even if it was cancelled
 * meanwhile. */
static Call *
call_new (MtlTensorFileBuilder  *self,
          MtlAsyncFunc           run,
          GFile                 *file,
          int                    io_priority,
          GFileProgressCallback  progress,
          gpointer               progress_data,
          GDestroyNotify         progress_destroy)
{
  Call *call = mtl_async_call_new (sizeof *call, run, NULL, call_clear, io_priority);

  mtl_async_call_set_progress (call, progress, progress_data, progress_destroy);
  call->parent.is_lasting = TRUE;
  call->builder = mtl_tensor_file_builder_copy (self, &call->error);
  call->file = g_object_ref (file);
  return call;
}

static gboolean
check_copied (Call    *call,
              GError **error)
{
  if (call->error != NULL)
    g_propagate_error (error, g_steal_pointer (&call->error));
  return call->builder != NULL;
}

static gpointer
run_write (gpointer           self,
           gpointer           data,
           const MtlMonitor  *monitor,
           GError           **error)
{
  Call *call = data;

  return GINT_TO_POINTER (check_copied (call, error)
                          && mtl_tensor_file_builder_write_monitored (call->builder, call->file,
                                                                      monitor, error));
}

/**
 * mtl_tensor_file_builder_write_async:
 * @self: a builder
 * @file: the file to write, which need not exist
 * @io_priority: the I/O priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable
 * @progress: (nullable) (scope notified) (closure progress_data) (destroy progress_destroy):
 *   called with the number of bytes that are written, and their total
 * @progress_data: data for @progress
 * @progress_destroy: frees @progress_data
 * @callback: (scope async): called when the operation is done
 * @user_data: data for @callback
 *
 * Writes all tensors into a file without blocking the caller. This is the
 * asynchronous version of [method@Mtl.TensorFileBuilder.write].
 *
 * Later changes to @self do not affect the operation. Do not write to the
 * elements before it is done.
 *
 * Both callbacks run in the main context that is the thread's default.
 * @progress runs as often as that context has time for it, and never after
 * @callback.
 *
 * Since: 1.0
 */
void
mtl_tensor_file_builder_write_async (MtlTensorFileBuilder  *self,
                                     GFile                 *file,
                                     int                    io_priority,
                                     GCancellable          *cancellable,
                                     GFileProgressCallback  progress,
                                     gpointer               progress_data,
                                     GDestroyNotify         progress_destroy,
                                     GAsyncReadyCallback    callback,
                                     gpointer               user_data)
{
  Call *call;

  g_return_if_fail (MTL_IS_TENSOR_FILE_BUILDER (self));
  g_return_if_fail (G_IS_FILE (file));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  call = call_new (self, run_write, file, io_priority, progress, progress_data,
                   progress_destroy);
  mtl_async_call_start (call, self, mtl_tensor_file_builder_write_async, cancellable, callback,
                        user_data);
}

/**
 * mtl_tensor_file_builder_write_finish:
 * @self: a builder
 * @result: the result that the callback received
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Finishes an operation that was started with
 * [method@Mtl.TensorFileBuilder.write_async].
 *
 * Errors:
 *
 * - the errors of [method@Mtl.TensorFileBuilder.write]
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_tensor_file_builder_write_finish (MtlTensorFileBuilder  *self,
                                      GAsyncResult          *result,
                                      GError               **error)
{
  return mtl_async_call_finish (self, result, mtl_tensor_file_builder_write_async, error);
}

static gpointer
run_write_shards (gpointer           self,
                  gpointer           data,
                  const MtlMonitor  *monitor,
                  GError           **error)
{
  Call *call = data;

  return GINT_TO_POINTER (
    check_copied (call, error)
    && mtl_tensor_file_builder_write_shards_monitored (call->builder, call->file, call->max_size,
                                                       monitor, error));
}

/**
 * mtl_tensor_file_builder_write_shards_async:
 * @self: a builder
 * @index: the index to write, which need not exist
 * @max_size: the largest number of bytes of tensors in one file
 * @io_priority: the I/O priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable
 * @progress: (nullable) (scope notified) (closure progress_data) (destroy progress_destroy):
 *   called with the number of bytes that are written to all files, and their
 *   total
 * @progress_data: data for @progress
 * @progress_destroy: frees @progress_data
 * @callback: (scope async): called when the operation is done
 * @user_data: data for @callback
 *
 * Writes all tensors into several files without blocking the caller. This is
 * the asynchronous version of [method@Mtl.TensorFileBuilder.write_shards]. For
 * the callbacks and later changes to @self, see
 * [method@Mtl.TensorFileBuilder.write_async].
 *
 * Since: 1.0
 */
void
mtl_tensor_file_builder_write_shards_async (MtlTensorFileBuilder  *self,
                                            GFile                 *index,
                                            guint64                max_size,
                                            int                    io_priority,
                                            GCancellable          *cancellable,
                                            GFileProgressCallback  progress,
                                            gpointer               progress_data,
                                            GDestroyNotify         progress_destroy,
                                            GAsyncReadyCallback    callback,
                                            gpointer               user_data)
{
  Call *call;

  g_return_if_fail (MTL_IS_TENSOR_FILE_BUILDER (self));
  g_return_if_fail (G_IS_FILE (index));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  call = call_new (self, run_write_shards, index, io_priority, progress, progress_data,
                   progress_destroy);
  call->max_size = max_size;
  mtl_async_call_start (call, self, mtl_tensor_file_builder_write_shards_async, cancellable,
                        callback, user_data);
}

/**
 * mtl_tensor_file_builder_write_shards_finish:
 * @self: a builder
 * @result: the result that the callback received
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Finishes an operation that was started with
 * [method@Mtl.TensorFileBuilder.write_shards_async].
 *
 * Errors:
 *
 * - the errors of [method@Mtl.TensorFileBuilder.write_shards]
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_tensor_file_builder_write_shards_finish (MtlTensorFileBuilder  *self,
                                             GAsyncResult          *result,
                                             GError               **error)
{
  return mtl_async_call_finish (self, result, mtl_tensor_file_builder_write_shards_async, error);
}
