/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* What is done with files in threads of its own. */

#include "mtl-tensor-file-private.h"

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
