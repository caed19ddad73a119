/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* What is done with files in threads of its own. */

#include "mtl-tensor-file-private.h"

#include "mtl-progress-private.h"

typedef struct
{
  GFile *file;
  MtlFileMode mode;
  MtlDevice *device;
} OpenCall;

static void
open_call_free (OpenCall *call)
{
  g_object_unref (call->file);
  g_clear_object (&call->device);
  g_free (call);
}

static void
open_thread (GTask        *task,
             gpointer      source_object,
             gpointer      task_data,
             GCancellable *cancellable)
{
  const OpenCall *call = task_data;
  GError *error = NULL;
  MtlTensorFile *file = mtl_tensor_file_open (call->file, call->mode, call->device, cancellable,
                                              &error);

  if (file != NULL)
    g_task_return_pointer (task, file, g_object_unref);
  else
    g_task_return_error (task, error);
}

/**
 * mtl_tensor_file_open_async:
 * @file: a file of tensors on a disk
 * @mode: how the tensors come into memory
 * @device: (nullable): the device whose memory the views are to be of, %NULL for
 *   the host
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called when it is done, in the main context that is
 *   the thread's default
 * @user_data: data for @callback
 *
 * Opens a file as [ctor@Mtl.TensorFile.open] does, without blocking the caller:
 * disks may be asleep, and networks slow.
 *
 * Since: 1.0
 */
void
mtl_tensor_file_open_async (GFile               *file,
                            MtlFileMode          mode,
                            MtlDevice           *device,
                            GCancellable        *cancellable,
                            GAsyncReadyCallback  callback,
                            gpointer             user_data)
{
  g_autoptr (GTask) task = NULL;
  OpenCall *call;

  g_return_if_fail (G_IS_FILE (file));
  g_return_if_fail (device == NULL || MTL_IS_DEVICE (device));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  call = g_new0 (OpenCall, 1);
  call->file = g_object_ref (file);
  call->mode = mode;
  g_set_object (&call->device, device);

  task = g_task_new (NULL, cancellable, callback, user_data);
  g_task_set_source_tag (task, mtl_tensor_file_open_async);
  g_task_set_task_data (task, call, (GDestroyNotify) open_call_free);
  g_task_run_in_thread (task, open_thread);
}

/**
 * mtl_tensor_file_open_finish:
 * @result: what the callback was given
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Ends what [func@Mtl.TensorFile.open_async] began, and fails as
 * [ctor@Mtl.TensorFile.open] does.
 *
 * Returns: (transfer full): the file
 *
 * Since: 1.0
 */
MtlTensorFile *
mtl_tensor_file_open_finish (GAsyncResult  *result,
                             GError       **error)
{
  g_return_val_if_fail (g_task_is_valid (result, NULL), NULL);
  g_return_val_if_fail (g_async_result_is_tagged (result, mtl_tensor_file_open_async), NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}

typedef struct _Call Call;

/* Something that is done with a file, and what is given for it. */
struct _Call
{
  void (* run) (MtlTensorFile     *self,
                const Call        *call,
                const MtlMonitor  *monitor,
                GTask             *task);
  char *pattern;
  MtlTensorChecks checks;
  MtlProgress *progress;
};

static void
call_free (Call *call)
{
  g_free (call->pattern);
  g_free (call);
}

static void
call_thread (GTask        *task,
             gpointer      self,
             gpointer      task_data,
             GCancellable *cancellable)
{
  const Call *call = task_data;
  const MtlMonitor monitor = {
    .cancellable = cancellable,
    .report = call->progress != NULL ? mtl_progress_report : NULL,
    .data = call->progress,
  };

  call->run (self, call, &monitor, task);
}

/* After the last report, and before the task returns. */
static void
call_end (const Call *call)
{
  if (call->progress != NULL)
    mtl_progress_end (call->progress);
}

/* Takes the call. */
static void
call_start (Call                *call,
            MtlTensorFile       *self,
            gpointer             source_tag,
            GCancellable        *cancellable,
            GAsyncReadyCallback  callback,
            gpointer             user_data)
{
  g_autoptr (GTask) task = g_task_new (self, cancellable, callback, user_data);

  g_task_set_source_tag (task, source_tag);
  g_task_set_task_data (task, call, (GDestroyNotify) call_free);
  g_task_run_in_thread (task, call_thread);
}

typedef struct
{
  MtlStridedView **views;
  gsize n_views;
} Views;

static void
views_free (Views *self)
{
  for (gsize i = 0; i < self->n_views; i++)
    g_object_unref (self->views[i]);
  g_free (self->views);
  g_free (self);
}

static void
run_get_views (MtlTensorFile     *self,
               const Call        *call,
               const MtlMonitor  *monitor,
               GTask             *task)
{
  Views *views = g_new0 (Views, 1);
  GError *error = NULL;

  views->views = mtl_tensor_file_get_views_monitored (self, call->pattern, monitor,
                                                      &views->n_views, &error);
  call_end (call);
  if (views->views != NULL)
    {
      g_task_return_pointer (task, views, (GDestroyNotify) views_free);
      return;
    }

  views_free (views);
  g_task_return_error (task, error);
}

/**
 * mtl_tensor_file_get_views_async:
 * @self: a file of tensors
 * @pattern: (nullable): which tensors, as [method@Mtl.TensorFile.match_names]
 *   takes it, %NULL for all
 * @cancellable: (nullable): a cancellable
 * @progress: (nullable) (scope notified) (closure progress_data) (destroy progress_destroy):
 *   told how many bytes are read of how many
 * @progress_data: data for @progress
 * @progress_destroy: frees @progress_data
 * @callback: (scope async): called when it is done
 * @user_data: data for @callback
 *
 * Gets views as [method@Mtl.TensorFile.get_views] does, without blocking the
 * caller.
 *
 * Both callbacks come in the main context that is the thread's default;
 * @progress as often as that has time for it, and not after @callback.
 *
 * Since: 1.0
 */
void
mtl_tensor_file_get_views_async (MtlTensorFile         *self,
                                 const char            *pattern,
                                 GCancellable          *cancellable,
                                 GFileProgressCallback  progress,
                                 gpointer               progress_data,
                                 GDestroyNotify         progress_destroy,
                                 GAsyncReadyCallback    callback,
                                 gpointer               user_data)
{
  Call *call;

  g_return_if_fail (MTL_IS_TENSOR_FILE (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  call = g_new0 (Call, 1);
  call->run = run_get_views;
  call->pattern = g_strdup (pattern);
  call->progress = mtl_progress_new (progress, progress_data, progress_destroy);
  call_start (call, self, mtl_tensor_file_get_views_async, cancellable, callback, user_data);
}

/**
 * mtl_tensor_file_get_views_finish:
 * @self: a file of tensors
 * @result: what the callback was given
 * @n_views: (out): return location for the number of views
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Ends what [method@Mtl.TensorFile.get_views_async] began, and fails as
 * [method@Mtl.TensorFile.get_views] does.
 *
 * Returns: (array length=n_views) (transfer full): the views
 *
 * Since: 1.0
 */
MtlStridedView **
mtl_tensor_file_get_views_finish (MtlTensorFile  *self,
                                  GAsyncResult   *result,
                                  gsize          *n_views,
                                  GError        **error)
{
  g_autofree Views *all = NULL;

  g_return_val_if_fail (MTL_IS_TENSOR_FILE (self), NULL);
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);
  g_return_val_if_fail (g_async_result_is_tagged (result, mtl_tensor_file_get_views_async), NULL);
  g_return_val_if_fail (n_views != NULL, NULL);

  all = g_task_propagate_pointer (G_TASK (result), error);
  *n_views = all != NULL ? all->n_views : 0;
  return all != NULL ? all->views : NULL;
}

static void
run_check (MtlTensorFile     *self,
           const Call        *call,
           const MtlMonitor  *monitor,
           GTask             *task)
{
  GError *error = NULL;
  gboolean right = mtl_tensor_file_check_monitored (self, call->checks, monitor, &error);

  call_end (call);
  if (right)
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

/**
 * mtl_tensor_file_check_async:
 * @self: a file of tensors
 * @checks: what else to look for
 * @cancellable: (nullable): a cancellable
 * @progress: (nullable) (scope notified) (closure progress_data) (destroy progress_destroy):
 *   told how many bytes are checked of how many
 * @progress_data: data for @progress
 * @progress_destroy: frees @progress_data
 * @callback: (scope async): called when it is done
 * @user_data: data for @callback
 *
 * Checks the file as [method@Mtl.TensorFile.check] does, without blocking the
 * caller. The callbacks come as those of
 * [method@Mtl.TensorFile.get_views_async] do.
 *
 * Since: 1.0
 */
void
mtl_tensor_file_check_async (MtlTensorFile         *self,
                             MtlTensorChecks        checks,
                             GCancellable          *cancellable,
                             GFileProgressCallback  progress,
                             gpointer               progress_data,
                             GDestroyNotify         progress_destroy,
                             GAsyncReadyCallback    callback,
                             gpointer               user_data)
{
  Call *call;

  g_return_if_fail (MTL_IS_TENSOR_FILE (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  call = g_new0 (Call, 1);
  call->run = run_check;
  call->checks = checks;
  call->progress = mtl_progress_new (progress, progress_data, progress_destroy);
  call_start (call, self, mtl_tensor_file_check_async, cancellable, callback, user_data);
}

/**
 * mtl_tensor_file_check_finish:
 * @self: a file of tensors
 * @result: what the callback was given
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Ends what [method@Mtl.TensorFile.check_async] began, and fails as
 * [method@Mtl.TensorFile.check] does.
 *
 * Returns: whether nothing is wrong
 *
 * Since: 1.0
 */
gboolean
mtl_tensor_file_check_finish (MtlTensorFile  *self,
                              GAsyncResult   *result,
                              GError        **error)
{
  g_return_val_if_fail (MTL_IS_TENSOR_FILE (self), FALSE);
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);
  g_return_val_if_fail (g_async_result_is_tagged (result, mtl_tensor_file_check_async), FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}
