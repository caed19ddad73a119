/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-tensor-file-builder-private.h"

#include "mtl-progress-private.h"

typedef struct
{
  MtlTensorFileBuilder *builder; /* as it was when the call was made */
  GFile *file;
  gboolean is_index;
  guint64 max_size;
  MtlProgress *progress;
} Call;

static void
call_free (Call *call)
{
  g_clear_object (&call->builder);
  g_clear_object (&call->file);
  g_free (call);
}

static void
run_thread (GTask        *task,
            gpointer      self,
            gpointer      task_data,
            GCancellable *cancellable)
{
  Call *call = task_data;
  MtlMonitor monitor = { cancellable, NULL, call->progress };
  GError *error = NULL;
  gboolean worked;

  if (call->progress != NULL)
    monitor.report = mtl_progress_report;

  if (call->is_index)
    worked = mtl_tensor_file_builder_write_shards_monitored (call->builder, call->file,
                                                             call->max_size, &monitor, &error);
  else
    worked = mtl_tensor_file_builder_write_monitored (call->builder, call->file, &monitor, &error);
  if (call->progress != NULL)
    mtl_progress_end (call->progress);

  if (worked)
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

static void
call_start (Call                 *call,
            MtlTensorFileBuilder *self,
            gpointer              source_tag,
            GCancellable         *cancellable,
            GAsyncReadyCallback   callback,
            gpointer              user_data)
{
  g_autoptr (GTask) task = g_task_new (self, cancellable, callback, user_data);

  /* A file that is in its place is written, whatever was wanted meanwhile. */
  g_task_set_check_cancellable (task, FALSE);
  g_task_set_source_tag (task, source_tag);
  g_task_set_task_data (task, call, (GDestroyNotify) call_free);
  g_task_run_in_thread (task, run_thread);
}

static Call *
call_new (MtlTensorFileBuilder  *self,
          GFile                 *file,
          GFileProgressCallback  progress,
          gpointer               progress_data,
          GDestroyNotify         progress_destroy)
{
  Call *call = g_new0 (Call, 1);

  call->builder = mtl_tensor_file_builder_copy (self);
  call->file = g_object_ref (file);
  call->progress = mtl_progress_new (progress, progress_data, progress_destroy);
  return call;
}

static gboolean
finish (MtlTensorFileBuilder  *self,
        GAsyncResult          *result,
        gpointer               source_tag,
        GError               **error)
{
  g_return_val_if_fail (MTL_IS_TENSOR_FILE_BUILDER (self), FALSE);
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);
  g_return_val_if_fail (g_async_result_is_tagged (result, source_tag), FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}

/**
 * mtl_tensor_file_builder_write_async:
 * @self: a builder
 * @file: the file to write, which need not be there
 * @cancellable: (nullable): a cancellable
 * @progress: (nullable) (scope notified) (closure progress_data) (destroy progress_destroy):
 *   told how many bytes are written of how many
 * @progress_data: data for @progress
 * @progress_destroy: frees @progress_data
 * @callback: (scope async): called when it is done
 * @user_data: data for @callback
 *
 * Does what [method@Mtl.TensorFileBuilder.write] does, without blocking the
 * caller: what is added to @self or set afterwards does not count. Nobody is to
 * write to the elements meanwhile.
 *
 * Both callbacks come in the main context that is the thread's default.
 * @progress comes as often as the main context has time for it, and not after
 * @callback.
 *
 * Since: 1.0
 */
void
mtl_tensor_file_builder_write_async (MtlTensorFileBuilder  *self,
                                     GFile                 *file,
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

  call = call_new (self, file, progress, progress_data, progress_destroy);
  call_start (call, self, mtl_tensor_file_builder_write_async, cancellable, callback, user_data);
}

/**
 * mtl_tensor_file_builder_write_finish:
 * @self: a builder
 * @result: what the callback was given
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Ends what [method@Mtl.TensorFileBuilder.write_async] began, and fails as
 * [method@Mtl.TensorFileBuilder.write] does.
 *
 * Returns: whether it worked
 *
 * Since: 1.0
 */
gboolean
mtl_tensor_file_builder_write_finish (MtlTensorFileBuilder  *self,
                                      GAsyncResult          *result,
                                      GError               **error)
{
  return finish (self, result, mtl_tensor_file_builder_write_async, error);
}

/**
 * mtl_tensor_file_builder_write_shards_async:
 * @self: a builder
 * @index: the index to write, which need not be there
 * @max_size: how many bytes of tensors a file may have
 * @cancellable: (nullable): a cancellable
 * @progress: (nullable) (scope notified) (closure progress_data) (destroy progress_destroy):
 *   told how many bytes are written of how many, in all files
 * @progress_data: data for @progress
 * @progress_destroy: frees @progress_data
 * @callback: (scope async): called when it is done
 * @user_data: data for @callback
 *
 * Does what [method@Mtl.TensorFileBuilder.write_shards] does, without blocking
 * the caller, as [method@Mtl.TensorFileBuilder.write_async] does.
 *
 * Since: 1.0
 */
void
mtl_tensor_file_builder_write_shards_async (MtlTensorFileBuilder  *self,
                                            GFile                 *index,
                                            guint64                max_size,
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

  call = call_new (self, index, progress, progress_data, progress_destroy);
  call->is_index = TRUE;
  call->max_size = max_size;
  call_start (call, self, mtl_tensor_file_builder_write_shards_async, cancellable, callback,
              user_data);
}

/**
 * mtl_tensor_file_builder_write_shards_finish:
 * @self: a builder
 * @result: what the callback was given
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Ends what [method@Mtl.TensorFileBuilder.write_shards_async] began, and fails
 * as [method@Mtl.TensorFileBuilder.write_shards] does.
 *
 * Returns: whether it worked
 *
 * Since: 1.0
 */
gboolean
mtl_tensor_file_builder_write_shards_finish (MtlTensorFileBuilder  *self,
                                             GAsyncResult          *result,
                                             GError               **error)
{
  return finish (self, result, mtl_tensor_file_builder_write_shards_async, error);
}
