/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-device.h"

/**
 * mtl_device_synchronize:
 * @self: a device
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Waits until the device has done all the work that it was given through this
 * library. Work that a program gave to it otherwise, on a command queue of its
 * own, is ordered by a [class@Mtl.Event]. The host has none, so that this
 * returns at once there.
 *
 * Fails with %MTL_ERROR_DEVICE where the device failed, with
 * %MTL_ERROR_NOT_SUPPORTED where it has no backend here, and with
 * %G_IO_ERROR_CANCELLED.
 *
 * Returns: whether it worked
 *
 * Since: 1.0
 */
gboolean
mtl_device_synchronize (MtlDevice     *self,
                        GCancellable  *cancellable,
                        GError       **error)
{
  g_return_val_if_fail (MTL_IS_DEVICE (self), FALSE);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), FALSE);

  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;

  return MTL_DEVICE_GET_CLASS (self)->synchronize (self, cancellable, error);
}

static void
synchronize_thread (GTask        *task,
                    gpointer      source_object,
                    gpointer      task_data,
                    GCancellable *cancellable)
{
  GError *error = NULL;

  if (mtl_device_synchronize (source_object, cancellable, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

/**
 * mtl_device_synchronize_async:
 * @self: a device
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called when it is done
 * @user_data: data for @callback
 *
 * Waits as [method@Mtl.Device.synchronize] does, without blocking the caller.
 * If it is cancelled, @callback is called soon; the device goes on.
 *
 * Since: 1.0
 */
void
mtl_device_synchronize_async (MtlDevice           *self,
                              GCancellable        *cancellable,
                              GAsyncReadyCallback  callback,
                              gpointer             user_data)
{
  g_autoptr (GTask) task = NULL;

  g_return_if_fail (MTL_IS_DEVICE (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, mtl_device_synchronize_async);
  if (g_task_return_error_if_cancelled (task))
    return;

  g_task_set_return_on_cancel (task, TRUE);
  g_task_run_in_thread (task, synchronize_thread);
}

/**
 * mtl_device_synchronize_finish:
 * @self: a device
 * @result: what the callback was given
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Ends what [method@Mtl.Device.synchronize_async] began.
 *
 * Fails as [method@Mtl.Device.synchronize] does.
 *
 * Returns: whether it worked
 *
 * Since: 1.0
 */
gboolean
mtl_device_synchronize_finish (MtlDevice     *self,
                               GAsyncResult  *result,
                               GError       **error)
{
  g_return_val_if_fail (MTL_IS_DEVICE (self), FALSE);
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}
