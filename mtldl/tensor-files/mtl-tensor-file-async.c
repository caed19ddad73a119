/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Asynchronous versions of the calls on tensor files. */

#include "mtl-tensor-file-private.h"

#include "mtl-async-call-private.h"

typedef struct
{
  MtlAsyncCall parent;

  GFile *file;
  MtlTensorFileMode mode;
  MtlDevice *device;
} OpenCall;

static void
open_call_clear (gpointer data)
{
  OpenCall *call = data;

  g_clear_object (&call->file);
  g_clear_object (&call->device);
}

static gpointer
run_open (gpointer           source_object,
          gpointer           data,
          const MtlMonitor  *monitor,
          GError           **error)
{
  OpenCall *call = data;

  return mtl_tensor_file_open (call->file, call->device, call->mode, monitor->cancellable, error);
}

/**
 * mtl_tensor_file_open_async:
 * @file: a file of tensors on a disk
 * @device: (nullable): the device that the views' memory is to belong to, %NULL
 *   for the host
 * @mode: how the tensors get into memory
 * @io_priority: the I/O priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called when the operation is done, in the main
 *   context that is the thread's default
 * @user_data: data for @callback
 *
 * Opens a file without blocking the caller: disks may be asleep, and networks
 * slow. This is the asynchronous version of [ctor@Mtl.TensorFile.open].
 *
 * Since: 1.0
 */
void
mtl_tensor_file_open_async (GFile               *file,
                            MtlDevice           *device,
                            MtlTensorFileMode    mode,
                            int                  io_priority,
                            GCancellable        *cancellable,
                            GAsyncReadyCallback  callback,
                            gpointer             user_data)
{
  OpenCall *call;

  g_return_if_fail (G_IS_FILE (file));
  g_return_if_fail (device == NULL || MTL_IS_DEVICE (device));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  call = mtl_async_call_new (sizeof *call, run_open, g_object_unref, open_call_clear, io_priority);
  call->file = g_object_ref (file);
  call->mode = mode;
  g_set_object (&call->device, device);

  mtl_async_call_start (call, NULL, mtl_tensor_file_open_async, cancellable, callback, user_data);
}

/**
 * mtl_tensor_file_open_finish:
 * @result: the result that the callback received
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Finishes an operation that was started with [func@Mtl.TensorFile.open_async].
 *
 * Errors:
 *
 * - the errors of [ctor@Mtl.TensorFile.open]
 *
 * Returns: (transfer full): the file
 *
 * Since: 1.0
 */
MtlTensorFile *
mtl_tensor_file_open_finish (GAsyncResult  *result,
                             GError       **error)
{
  return mtl_async_call_take_result (NULL, result, mtl_tensor_file_open_async, error);
}

typedef struct
{
  MtlAsyncCall parent;

  char *name;
} ViewCall;

static void
view_call_clear (gpointer data)
{
  ViewCall *call = data;

  g_clear_pointer (&call->name, g_free);
}

static gpointer
run_load_view (gpointer           self,
               gpointer           data,
               const MtlMonitor  *monitor,
               GError           **error)
{
  ViewCall *call = data;

  return mtl_tensor_file_load_view (self, call->name, monitor->cancellable, error);
}

/**
 * mtl_tensor_file_load_view_async:
 * @self: a file of tensors
 * @name: a tensor's name
 * @io_priority: the I/O priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called when the operation is done
 * @user_data: data for @callback
 *
 * Gets a view of one tensor without blocking the caller. This is the
 * asynchronous version of [method@Mtl.TensorFile.load_view].
 *
 * Since: 1.0
 */
void
mtl_tensor_file_load_view_async (MtlTensorFile       *self,
                                 const char          *name,
                                 int                  io_priority,
                                 GCancellable        *cancellable,
                                 GAsyncReadyCallback  callback,
                                 gpointer             user_data)
{
  ViewCall *call;

  g_return_if_fail (MTL_IS_TENSOR_FILE (self));
  g_return_if_fail (name != NULL);
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  call = mtl_async_call_new (sizeof *call, run_load_view, g_object_unref, view_call_clear,
                             io_priority);
  call->name = g_strdup (name);
  mtl_async_call_start (call, self, mtl_tensor_file_load_view_async, cancellable, callback,
                        user_data);
}

/**
 * mtl_tensor_file_load_view_finish:
 * @self: a file of tensors
 * @result: the result that the callback received
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Finishes an operation that was started with
 * [method@Mtl.TensorFile.load_view_async].
 *
 * Errors:
 *
 * - the errors of [method@Mtl.TensorFile.load_view]
 *
 * Returns: (transfer full): the view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_tensor_file_load_view_finish (MtlTensorFile  *self,
                                  GAsyncResult   *result,
                                  GError        **error)
{
  return mtl_async_call_take_result (self, result, mtl_tensor_file_load_view_async, error);
}

typedef struct
{
  MtlStridedView **views;
  gsize n_views;
} Views;

static void
views_free (Views *self)
{
  mtl_tensor_file_free_views (self->views, self->n_views);
  g_free (self);
}

typedef struct
{
  MtlAsyncCall parent;

  char *pattern;
} ViewsCall;

static void
views_call_clear (gpointer data)
{
  ViewsCall *call = data;

  g_clear_pointer (&call->pattern, g_free);
}

static gpointer
run_load_views (gpointer           self,
                gpointer           data,
                const MtlMonitor  *monitor,
                GError           **error)
{
  ViewsCall *call = data;
  Views *views = g_new0 (Views, 1);

  views->views = mtl_tensor_file_load_views_monitored (self, call->pattern, monitor,
                                                       &views->n_views, error);
  if (views->views == NULL)
    g_clear_pointer (&views, views_free);
  return views;
}

/**
 * mtl_tensor_file_load_views_async:
 * @self: a file of tensors
 * @pattern: (nullable): which tensors to load, as in
 *   [method@Mtl.TensorFile.match_loadable_names]; %NULL for all
 * @io_priority: the I/O priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable
 * @progress: (nullable) (scope notified) (closure progress_data) (destroy progress_destroy):
 *   called with the number of bytes that are read, and their total
 * @progress_data: data for @progress
 * @progress_destroy: frees @progress_data
 * @callback: (scope async): called when the operation is done
 * @user_data: data for @callback
 *
 * Gets views of several tensors without blocking the caller. This is the
 * asynchronous version of [method@Mtl.TensorFile.load_views].
 *
 * Both callbacks run in the main context that is the thread's default.
 * @progress runs as often as that context has time for it, and never after
 * @callback.
 *
 * Since: 1.0
 */
void
mtl_tensor_file_load_views_async (MtlTensorFile         *self,
                                  const char            *pattern,
                                  int                    io_priority,
                                  GCancellable          *cancellable,
                                  GFileProgressCallback  progress,
                                  gpointer               progress_data,
                                  GDestroyNotify         progress_destroy,
                                  GAsyncReadyCallback    callback,
                                  gpointer               user_data)
{
  ViewsCall *call;

  g_return_if_fail (MTL_IS_TENSOR_FILE (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  call = mtl_async_call_new (sizeof *call, run_load_views, (GDestroyNotify) views_free,
                             views_call_clear, io_priority);
  mtl_async_call_set_progress (call, progress, progress_data, progress_destroy);
  call->pattern = g_strdup (pattern);
  mtl_async_call_start (call, self, mtl_tensor_file_load_views_async, cancellable, callback,
                        user_data);
}

/**
 * mtl_tensor_file_load_views_finish:
 * @self: a file of tensors
 * @result: the result that the callback received
 * @n_views: (out): return location for the number of views
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Finishes an operation that was started with
 * [method@Mtl.TensorFile.load_views_async].
 *
 * Errors:
 *
 * - the errors of [method@Mtl.TensorFile.load_views]
 *
 * Returns: (array length=n_views) (transfer full): the views
 *
 * Since: 1.0
 */
MtlStridedView **
mtl_tensor_file_load_views_finish (MtlTensorFile  *self,
                                   GAsyncResult   *result,
                                   gsize          *n_views,
                                   GError        **error)
{
  g_autofree Views *all = NULL;

  g_return_val_if_fail (n_views != NULL, NULL);

  all = mtl_async_call_take_result (self, result, mtl_tensor_file_load_views_async, error);
  *n_views = all != NULL ? all->n_views : 0;
  return all != NULL ? all->views : NULL;
}

typedef struct
{
  MtlAsyncCall parent;

  MtlTensorFileChecks checks;
} CheckCall;

static gpointer
run_check (gpointer           self,
           gpointer           data,
           const MtlMonitor  *monitor,
           GError           **error)
{
  CheckCall *call = data;

  return GINT_TO_POINTER (mtl_tensor_file_check_monitored (self, call->checks, monitor, error));
}

/**
 * mtl_tensor_file_check_async:
 * @self: a file of tensors
 * @checks: additional checks
 * @io_priority: the I/O priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable
 * @progress: (nullable) (scope notified) (closure progress_data) (destroy progress_destroy):
 *   called with the number of bytes that are checked, and their total
 * @progress_data: data for @progress
 * @progress_destroy: frees @progress_data
 * @callback: (scope async): called when the operation is done
 * @user_data: data for @callback
 *
 * Checks the file without blocking the caller. This is the asynchronous version
 * of [method@Mtl.TensorFile.check].
 *
 * Both callbacks run in the main context that is the thread's default.
 * @progress runs as often as that context has time for it, and never after
 * @callback.
 *
 * Since: 1.0
 */
void
mtl_tensor_file_check_async (MtlTensorFile         *self,
                             MtlTensorFileChecks    checks,
                             int                    io_priority,
                             GCancellable          *cancellable,
                             GFileProgressCallback  progress,
                             gpointer               progress_data,
                             GDestroyNotify         progress_destroy,
                             GAsyncReadyCallback    callback,
                             gpointer               user_data)
{
  CheckCall *call;

  g_return_if_fail (MTL_IS_TENSOR_FILE (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  call = mtl_async_call_new (sizeof *call, run_check, NULL, NULL, io_priority);
  mtl_async_call_set_progress (call, progress, progress_data, progress_destroy);
  call->checks = checks;
  mtl_async_call_start (call, self, mtl_tensor_file_check_async, cancellable, callback, user_data);
}

/**
 * mtl_tensor_file_check_finish:
 * @self: a file of tensors
 * @result: the result that the callback received
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Finishes an operation that was started with
 * [method@Mtl.TensorFile.check_async].
 *
 * Errors:
 *
 * - the errors of [method@Mtl.TensorFile.check]
 *
 * Returns: %TRUE if no fault was found
 *
 * Since: 1.0
 */
gboolean
mtl_tensor_file_check_finish (MtlTensorFile  *self,
                              GAsyncResult   *result,
                              GError        **error)
{
  return mtl_async_call_finish (self, result, mtl_tensor_file_check_async, error);
}

static gpointer
run_load_entry (gpointer           self,
                gpointer           data,
                const MtlMonitor  *monitor,
                GError           **error)
{
  return mtl_tensor_file_entry_load_view (self, monitor->cancellable, error);
}

/**
 * mtl_tensor_file_entry_load_view_async:
 * @self: an entry
 * @io_priority: the I/O priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called when the operation is done
 * @user_data: data for @callback
 *
 * Gets a view of the tensor without blocking the caller. This is the
 * asynchronous version of [method@Mtl.TensorFileEntry.load_view].
 *
 * Since: 1.0
 */
void
mtl_tensor_file_entry_load_view_async (MtlTensorFileEntry  *self,
                                       int                  io_priority,
                                       GCancellable        *cancellable,
                                       GAsyncReadyCallback  callback,
                                       gpointer             user_data)
{
  MtlAsyncCall *call;

  g_return_if_fail (MTL_IS_TENSOR_FILE_ENTRY (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  call = mtl_async_call_new (sizeof *call, run_load_entry, g_object_unref, NULL, io_priority);
  mtl_async_call_start (call, self, mtl_tensor_file_entry_load_view_async, cancellable, callback,
                        user_data);
}

/**
 * mtl_tensor_file_entry_load_view_finish:
 * @self: an entry
 * @result: the result that the callback received
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Finishes an operation that was started with
 * [method@Mtl.TensorFileEntry.load_view_async].
 *
 * Errors:
 *
 * - the errors of [method@Mtl.TensorFileEntry.load_view]
 *
 * Returns: (transfer full): the view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_tensor_file_entry_load_view_finish (MtlTensorFileEntry  *self,
                                        GAsyncResult        *result,
                                        GError             **error)
{
  return mtl_async_call_take_result (self, result, mtl_tensor_file_entry_load_view_async, error);
}

static gpointer
run_check_entry (gpointer           self,
                 gpointer           data,
                 const MtlMonitor  *monitor,
                 GError           **error)
{
  CheckCall *call = data;

  return GINT_TO_POINTER (mtl_tensor_file_entry_check (self, call->checks, monitor->cancellable,
                                                       error));
}

/**
 * mtl_tensor_file_entry_check_async:
 * @self: an entry
 * @checks: additional checks
 * @io_priority: the I/O priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called when the operation is done
 * @user_data: data for @callback
 *
 * Checks the tensor without blocking the caller. This is the asynchronous
 * version of [method@Mtl.TensorFileEntry.check].
 *
 * Since: 1.0
 */
void
mtl_tensor_file_entry_check_async (MtlTensorFileEntry  *self,
                                   MtlTensorFileChecks  checks,
                                   int                  io_priority,
                                   GCancellable        *cancellable,
                                   GAsyncReadyCallback  callback,
                                   gpointer             user_data)
{
  CheckCall *call;

  g_return_if_fail (MTL_IS_TENSOR_FILE_ENTRY (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  call = mtl_async_call_new (sizeof *call, run_check_entry, NULL, NULL, io_priority);
  call->checks = checks;
  mtl_async_call_start (call, self, mtl_tensor_file_entry_check_async, cancellable, callback,
                        user_data);
}

/**
 * mtl_tensor_file_entry_check_finish:
 * @self: an entry
 * @result: the result that the callback received
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Finishes an operation that was started with
 * [method@Mtl.TensorFileEntry.check_async].
 *
 * Errors:
 *
 * - the errors of [method@Mtl.TensorFileEntry.check]
 *
 * Returns: %TRUE if no fault was found
 *
 * Since: 1.0
 */
gboolean
mtl_tensor_file_entry_check_finish (MtlTensorFileEntry  *self,
                                    GAsyncResult        *result,
                                    GError             **error)
{
  return mtl_async_call_finish (self, result, mtl_tensor_file_entry_check_async, error);
}
