/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-strided-view-private.h"

#include "mtl-async-call-private.h"

/* The arguments of an operation. */
typedef struct
{
  MtlAsyncCall parent;

  GBytes *element;
  MtlStridedView *source; /* the source, or the other view of a comparison */
  MtlDevice *device;
  MtlStorageMode storage_mode;
  MtlDType dtype;
  MtlOrder order;
  MtlCompareFlags compare_flags;
  double value;
  double scale;
  double offset;
  double rtol;
  double atol;
} Call;

static void
call_clear (gpointer data)
{
  Call *call = data;

  g_clear_pointer (&call->element, g_bytes_unref);
  g_clear_object (&call->source);
  g_clear_object (&call->device);
}

static Call *
call_new (MtlAsyncFunc          run,
          GDestroyNotify        free_result,
          GFileProgressCallback progress,
          gpointer              progress_data,
          GDestroyNotify        progress_destroy)
{
  Call *call = mtl_async_call_new (sizeof *call, run, free_result, call_clear, G_PRIORITY_DEFAULT);

  mtl_async_call_set_progress (call, progress, progress_data, progress_destroy);
  return call;
}

static gpointer
run_fill (gpointer           self,
          gpointer           data,
          const MtlMonitor  *monitor,
          GError           **error)
{
  Call *call = data;

  return GINT_TO_POINTER (mtl_strided_view_fill_monitored (self, call->element, monitor, error));
}

/**
 * mtl_strided_view_fill_async:
 * @self: a view
 * @element: the bytes of one element
 * @cancellable: (nullable): a cancellable
 * @progress: (nullable) (scope notified) (closure progress_data) (destroy progress_destroy):
 *   called with the number of bytes written so far and in total
 * @progress_data: data for @progress
 * @progress_destroy: frees @progress_data
 * @callback: (scope async): called when the operation is done
 * @user_data: data for @callback
 *
 * Fills the elements like [method@Mtl.StridedView.fill], without blocking the
 * caller. Nothing else may write to them until the operation is done.
 *
 * The callbacks are called as described for
 * [method@Mtl.StridedView.fill_double_async]. If the operation is cancelled,
 * some elements have the new value and the others are unchanged.
 *
 * Since: 1.0
 */
void
mtl_strided_view_fill_async (MtlStridedView        *self,
                             GBytes                *element,
                             GCancellable          *cancellable,
                             GFileProgressCallback  progress,
                             gpointer               progress_data,
                             GDestroyNotify         progress_destroy,
                             GAsyncReadyCallback    callback,
                             gpointer               user_data)
{
  Call *call;

  g_return_if_fail (MTL_IS_STRIDED_VIEW (self));
  g_return_if_fail (element != NULL);
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  call = call_new (run_fill, NULL, progress, progress_data, progress_destroy);
  call->element = g_bytes_ref (element);
  mtl_async_call_start (call, self, mtl_strided_view_fill_async, cancellable, callback, user_data);
}

/**
 * mtl_strided_view_fill_finish:
 * @self: a view
 * @result: the result passed to the callback
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Finishes an operation started with [method@Mtl.StridedView.fill_async].
 *
 * Errors:
 *
 * - the errors of [method@Mtl.StridedView.fill]
 * - %G_IO_ERROR_CANCELLED: the operation was cancelled
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_strided_view_fill_finish (MtlStridedView  *self,
                              GAsyncResult    *result,
                              GError         **error)
{
  return mtl_async_call_finish (self, result, mtl_strided_view_fill_async, error);
}

static gpointer
run_fill_double (gpointer           self,
                 gpointer           data,
                 const MtlMonitor  *monitor,
                 GError           **error)
{
  Call *call = data;

  return GINT_TO_POINTER (mtl_strided_view_fill_double_monitored (self, call->value, monitor,
                                                                  error));
}

/**
 * mtl_strided_view_fill_double_async:
 * @self: a view
 * @value: the value of each element
 * @cancellable: (nullable): a cancellable
 * @progress: (nullable) (scope notified) (closure progress_data) (destroy progress_destroy):
 *   called with the number of bytes written so far and in total
 * @progress_data: data for @progress
 * @progress_destroy: frees @progress_data
 * @callback: (scope async): called when the operation is done
 * @user_data: data for @callback
 *
 * Fills the elements like [method@Mtl.StridedView.fill_double], without
 * blocking the caller. Nothing else may write to them until the operation is
 * done.
 *
 * Both callbacks are called in the thread-default main context of the caller.
 * @progress is called as often as the main context has time for it, and never
 * after @callback.
 *
 * If the operation is cancelled, it stops within a few milliseconds, unless a
 * device is performing it: the device completes the work it has started.
 * @callback is called after that. Some elements then have the new value and the
 * others are unchanged.
 *
 * Since: 1.0
 */
void
mtl_strided_view_fill_double_async (MtlStridedView        *self,
                                    double                 value,
                                    GCancellable          *cancellable,
                                    GFileProgressCallback  progress,
                                    gpointer               progress_data,
                                    GDestroyNotify         progress_destroy,
                                    GAsyncReadyCallback    callback,
                                    gpointer               user_data)
{
  Call *call;

  g_return_if_fail (MTL_IS_STRIDED_VIEW (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  call = call_new (run_fill_double, NULL, progress, progress_data, progress_destroy);
  call->value = value;
  mtl_async_call_start (call, self, mtl_strided_view_fill_double_async, cancellable, callback,
                        user_data);
}

/**
 * mtl_strided_view_fill_double_finish:
 * @self: a view
 * @result: the result passed to the callback
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Finishes an operation started with
 * [method@Mtl.StridedView.fill_double_async].
 *
 * Errors:
 *
 * - the errors of [method@Mtl.StridedView.fill_double]
 * - %G_IO_ERROR_CANCELLED: the operation was cancelled
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_strided_view_fill_double_finish (MtlStridedView  *self,
                                     GAsyncResult    *result,
                                     GError         **error)
{
  return mtl_async_call_finish (self, result, mtl_strided_view_fill_double_async, error);
}

static gpointer
run_copy_from (gpointer           self,
               gpointer           data,
               const MtlMonitor  *monitor,
               GError           **error)
{
  Call *call = data;

  return GINT_TO_POINTER (mtl_strided_view_copy_from_monitored (self, call->source, monitor,
                                                                error));
}

/**
 * mtl_strided_view_copy_from_async:
 * @self: the view to write to
 * @source: the view to read
 * @cancellable: (nullable): a cancellable
 * @progress: (nullable) (scope notified) (closure progress_data) (destroy progress_destroy):
 *   called with the number of bytes written so far and in total
 * @progress_data: data for @progress
 * @progress_destroy: frees @progress_data
 * @callback: (scope async): called when the operation is done
 * @user_data: data for @callback
 *
 * Copies the elements like [method@Mtl.StridedView.copy_from], without blocking
 * the caller. Nothing else may write to either view until the operation is
 * done.
 *
 * The callbacks are called as described for
 * [method@Mtl.StridedView.fill_double_async]. If the operation is cancelled,
 * some elements are copied and the others are unchanged.
 *
 * Since: 1.0
 */
void
mtl_strided_view_copy_from_async (MtlStridedView        *self,
                                  MtlStridedView        *source,
                                  GCancellable          *cancellable,
                                  GFileProgressCallback  progress,
                                  gpointer               progress_data,
                                  GDestroyNotify         progress_destroy,
                                  GAsyncReadyCallback    callback,
                                  gpointer               user_data)
{
  Call *call;

  g_return_if_fail (MTL_IS_STRIDED_VIEW (self));
  g_return_if_fail (MTL_IS_STRIDED_VIEW (source));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  call = call_new (run_copy_from, NULL, progress, progress_data, progress_destroy);
  call->source = g_object_ref (source);
  mtl_async_call_start (call, self, mtl_strided_view_copy_from_async, cancellable, callback,
                        user_data);
}

/**
 * mtl_strided_view_copy_from_finish:
 * @self: a view
 * @result: the result passed to the callback
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Finishes an operation started with [method@Mtl.StridedView.copy_from_async].
 *
 * Errors:
 *
 * - the errors of [method@Mtl.StridedView.copy_from]
 * - %G_IO_ERROR_CANCELLED: the operation was cancelled
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_strided_view_copy_from_finish (MtlStridedView  *self,
                                   GAsyncResult    *result,
                                   GError         **error)
{
  return mtl_async_call_finish (self, result, mtl_strided_view_copy_from_async, error);
}

static gpointer
run_copy_scaled_from (gpointer           self,
                      gpointer           data,
                      const MtlMonitor  *monitor,
                      GError           **error)
{
  Call *call = data;

  return GINT_TO_POINTER (mtl_strided_view_copy_scaled_from_monitored (self, call->source,
                                                                       call->scale, call->offset,
                                                                       monitor, error));
}

/**
 * mtl_strided_view_copy_scaled_from_async:
 * @self: the view to write to
 * @source: the view to read
 * @scale: the factor of the elements
 * @offset: the number that is added then
 * @cancellable: (nullable): a cancellable
 * @progress: (nullable) (scope notified) (closure progress_data) (destroy progress_destroy):
 *   called with the number of bytes written so far and in total
 * @progress_data: data for @progress
 * @progress_destroy: frees @progress_data
 * @callback: (scope async): called when the operation is done
 * @user_data: data for @callback
 *
 * Copies the elements like [method@Mtl.StridedView.copy_scaled_from], without
 * blocking the caller. Nothing else may write to either view until the
 * operation is done.
 *
 * The callbacks are called as described for
 * [method@Mtl.StridedView.fill_double_async]. If the operation is cancelled,
 * some elements are copied and the others are unchanged.
 *
 * Since: 1.0
 */
void
mtl_strided_view_copy_scaled_from_async (MtlStridedView        *self,
                                         MtlStridedView        *source,
                                         double                 scale,
                                         double                 offset,
                                         GCancellable          *cancellable,
                                         GFileProgressCallback  progress,
                                         gpointer               progress_data,
                                         GDestroyNotify         progress_destroy,
                                         GAsyncReadyCallback    callback,
                                         gpointer               user_data)
{
  Call *call;

  g_return_if_fail (MTL_IS_STRIDED_VIEW (self));
  g_return_if_fail (MTL_IS_STRIDED_VIEW (source));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  call = call_new (run_copy_scaled_from, NULL, progress, progress_data, progress_destroy);
  call->source = g_object_ref (source);
  call->scale = scale;
  call->offset = offset;
  mtl_async_call_start (call, self, mtl_strided_view_copy_scaled_from_async, cancellable, callback,
                        user_data);
}

/**
 * mtl_strided_view_copy_scaled_from_finish:
 * @self: a view
 * @result: the result passed to the callback
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Finishes an operation started with
 * [method@Mtl.StridedView.copy_scaled_from_async].
 *
 * Errors:
 *
 * - the errors of [method@Mtl.StridedView.copy_scaled_from]
 * - %G_IO_ERROR_CANCELLED: the operation was cancelled
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_strided_view_copy_scaled_from_finish (MtlStridedView  *self,
                                          GAsyncResult    *result,
                                          GError         **error)
{
  return mtl_async_call_finish (self, result, mtl_strided_view_copy_scaled_from_async, error);
}

static gpointer
run_to_contiguous (gpointer           self,
                   gpointer           data,
                   const MtlMonitor  *monitor,
                   GError           **error)
{
  return mtl_strided_view_to_contiguous_monitored (self, monitor, error);
}

/**
 * mtl_strided_view_to_contiguous_async:
 * @self: a view
 * @cancellable: (nullable): a cancellable
 * @progress: (nullable) (scope notified) (closure progress_data) (destroy progress_destroy):
 *   called with the number of bytes written so far and in total
 * @progress_data: data for @progress
 * @progress_destroy: frees @progress_data
 * @callback: (scope async): called when the operation is done
 * @user_data: data for @callback
 *
 * Works like [method@Mtl.StridedView.to_contiguous], without blocking the
 * caller. Nothing may write to the elements until the operation is done.
 *
 * The callbacks are called as described for
 * [method@Mtl.StridedView.fill_double_async]. If the operation is cancelled,
 * there is no new view.
 *
 * Since: 1.0
 */
void
mtl_strided_view_to_contiguous_async (MtlStridedView        *self,
                                      GCancellable          *cancellable,
                                      GFileProgressCallback  progress,
                                      gpointer               progress_data,
                                      GDestroyNotify         progress_destroy,
                                      GAsyncReadyCallback    callback,
                                      gpointer               user_data)
{
  Call *call;

  g_return_if_fail (MTL_IS_STRIDED_VIEW (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  call = call_new (run_to_contiguous, g_object_unref, progress, progress_data, progress_destroy);
  mtl_async_call_start (call, self, mtl_strided_view_to_contiguous_async, cancellable, callback,
                        user_data);
}

/**
 * mtl_strided_view_to_contiguous_finish:
 * @self: a view
 * @result: the result passed to the callback
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Finishes an operation started with
 * [method@Mtl.StridedView.to_contiguous_async].
 *
 * Errors:
 *
 * - the errors of [method@Mtl.StridedView.to_contiguous]
 * - %G_IO_ERROR_CANCELLED: the operation was cancelled
 *
 * Returns: (transfer full): the view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_to_contiguous_finish (MtlStridedView  *self,
                                       GAsyncResult    *result,
                                       GError         **error)
{
  return mtl_async_call_take_result (self, result, mtl_strided_view_to_contiguous_async, error);
}

static gpointer
run_to_dtype (gpointer           self,
              gpointer           data,
              const MtlMonitor  *monitor,
              GError           **error)
{
  Call *call = data;

  return mtl_strided_view_to_dtype_monitored (self, call->dtype, call->order, monitor, error);
}

/**
 * mtl_strided_view_to_dtype_async:
 * @self: a view
 * @dtype: the element type
 * @order: the order of the axes in memory, may be %MTL_ORDER_K
 * @cancellable: (nullable): a cancellable
 * @progress: (nullable) (scope notified) (closure progress_data) (destroy progress_destroy):
 *   called with the number of bytes written so far and in total
 * @progress_data: data for @progress
 * @progress_destroy: frees @progress_data
 * @callback: (scope async): called when the operation is done
 * @user_data: data for @callback
 *
 * Works like [method@Mtl.StridedView.to_dtype], without blocking the caller.
 * Nothing may write to the elements until the operation is done.
 *
 * The callbacks are called as described for
 * [method@Mtl.StridedView.fill_double_async]. If the operation is cancelled,
 * there is no new view.
 *
 * Since: 1.0
 */
void
mtl_strided_view_to_dtype_async (MtlStridedView        *self,
                                 MtlDType               dtype,
                                 MtlOrder               order,
                                 GCancellable          *cancellable,
                                 GFileProgressCallback  progress,
                                 gpointer               progress_data,
                                 GDestroyNotify         progress_destroy,
                                 GAsyncReadyCallback    callback,
                                 gpointer               user_data)
{
  Call *call;

  g_return_if_fail (MTL_IS_STRIDED_VIEW (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  call = call_new (run_to_dtype, g_object_unref, progress, progress_data, progress_destroy);
  call->dtype = dtype;
  call->order = order;
  mtl_async_call_start (call, self, mtl_strided_view_to_dtype_async, cancellable, callback,
                        user_data);
}

/**
 * mtl_strided_view_to_dtype_finish:
 * @self: a view
 * @result: the result passed to the callback
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Finishes an operation started with [method@Mtl.StridedView.to_dtype_async].
 *
 * Errors:
 *
 * - the errors of [method@Mtl.StridedView.to_dtype]
 * - %G_IO_ERROR_CANCELLED: the operation was cancelled
 *
 * Returns: (transfer full): the view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_to_dtype_finish (MtlStridedView  *self,
                                  GAsyncResult    *result,
                                  GError         **error)
{
  return mtl_async_call_take_result (self, result, mtl_strided_view_to_dtype_async, error);
}

static gpointer
run_to_device (gpointer           self,
               gpointer           data,
               const MtlMonitor  *monitor,
               GError           **error)
{
  Call *call = data;

  return mtl_strided_view_to_device_monitored (self, call->device, call->storage_mode, monitor,
                                               error);
}

/**
 * mtl_strided_view_to_device_async:
 * @self: a view
 * @device: a device
 * @storage_mode: the storage mode of the memory, may be
 *   %MTL_STORAGE_MODE_DEFAULT
 * @cancellable: (nullable): a cancellable
 * @progress: (nullable) (scope notified) (closure progress_data) (destroy progress_destroy):
 *   called with the number of bytes written so far and in total
 * @progress_data: data for @progress
 * @progress_destroy: frees @progress_data
 * @callback: (scope async): called when the operation is done
 * @user_data: data for @callback
 *
 * Works like [method@Mtl.StridedView.to_device], without blocking the caller.
 * Nothing may write to the elements until the operation is done.
 *
 * The callbacks are called as described for
 * [method@Mtl.StridedView.fill_double_async]. If the operation is cancelled,
 * there is no new view.
 *
 * Since: 1.0
 */
void
mtl_strided_view_to_device_async (MtlStridedView        *self,
                                  MtlDevice             *device,
                                  MtlStorageMode         storage_mode,
                                  GCancellable          *cancellable,
                                  GFileProgressCallback  progress,
                                  gpointer               progress_data,
                                  GDestroyNotify         progress_destroy,
                                  GAsyncReadyCallback    callback,
                                  gpointer               user_data)
{
  Call *call;

  g_return_if_fail (MTL_IS_STRIDED_VIEW (self));
  g_return_if_fail (MTL_IS_DEVICE (device));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  call = call_new (run_to_device, g_object_unref, progress, progress_data, progress_destroy);
  call->device = g_object_ref (device);
  call->storage_mode = storage_mode;
  mtl_async_call_start (call, self, mtl_strided_view_to_device_async, cancellable, callback,
                        user_data);
}

/**
 * mtl_strided_view_to_device_finish:
 * @self: a view
 * @result: the result passed to the callback
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Finishes an operation started with [method@Mtl.StridedView.to_device_async].
 *
 * Errors:
 *
 * - the errors of [method@Mtl.StridedView.to_device]
 * - %G_IO_ERROR_CANCELLED: the operation was cancelled
 *
 * Returns: (transfer full): the view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_to_device_finish (MtlStridedView  *self,
                                   GAsyncResult    *result,
                                   GError         **error)
{
  return mtl_async_call_take_result (self, result, mtl_strided_view_to_device_async, error);
}

static gpointer
run_copy (gpointer           self,
          gpointer           data,
          const MtlMonitor  *monitor,
          GError           **error)
{
  Call *call = data;

  return mtl_strided_view_copy_monitored (self, call->order, monitor, error);
}

/**
 * mtl_strided_view_copy_async:
 * @self: a view
 * @order: the order of the axes in memory
 * @cancellable: (nullable): a cancellable
 * @progress: (nullable) (scope notified) (closure progress_data) (destroy progress_destroy):
 *   called with the number of bytes written so far and in total
 * @progress_data: data for @progress
 * @progress_destroy: frees @progress_data
 * @callback: (scope async): called when the operation is done
 * @user_data: data for @callback
 *
 * Copies the elements like [method@Mtl.StridedView.copy], without blocking the
 * caller. Nothing may write to the elements until the operation is done.
 *
 * The callbacks are called as described for
 * [method@Mtl.StridedView.fill_double_async]. If the operation is cancelled,
 * there is no new view.
 *
 * Since: 1.0
 */
void
mtl_strided_view_copy_async (MtlStridedView        *self,
                             MtlOrder               order,
                             GCancellable          *cancellable,
                             GFileProgressCallback  progress,
                             gpointer               progress_data,
                             GDestroyNotify         progress_destroy,
                             GAsyncReadyCallback    callback,
                             gpointer               user_data)
{
  Call *call;

  g_return_if_fail (MTL_IS_STRIDED_VIEW (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  call = call_new (run_copy, g_object_unref, progress, progress_data, progress_destroy);
  call->order = order;
  mtl_async_call_start (call, self, mtl_strided_view_copy_async, cancellable, callback, user_data);
}

/**
 * mtl_strided_view_copy_finish:
 * @self: a view
 * @result: the result passed to the callback
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Finishes an operation started with
 * [method@Mtl.StridedView.copy_async].
 *
 * Errors:
 *
 * - the errors of [method@Mtl.StridedView.copy]
 *
 * Returns: (transfer full): a writable view of the copy
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_copy_finish (MtlStridedView  *self,
                              GAsyncResult    *result,
                              GError         **error)
{
  return mtl_async_call_take_result (self, result, mtl_strided_view_copy_async, error);
}

static gpointer
run_dup_bytes (gpointer           self,
               gpointer           data,
               const MtlMonitor  *monitor,
               GError           **error)
{
  return mtl_strided_view_dup_bytes_monitored (self, monitor, error);
}

/**
 * mtl_strided_view_dup_bytes_async:
 * @self: a view
 * @cancellable: (nullable): a cancellable
 * @progress: (nullable) (scope notified) (closure progress_data) (destroy progress_destroy):
 *   called with the number of bytes written so far and in total
 * @progress_data: data for @progress
 * @progress_destroy: frees @progress_data
 * @callback: (scope async): called when the operation is done
 * @user_data: data for @callback
 *
 * Copies the elements like [method@Mtl.StridedView.dup_bytes], without blocking
 * the caller. Nothing may write to the elements until the operation is done.
 *
 * The callbacks are called as described for
 * [method@Mtl.StridedView.fill_double_async].
 *
 * Since: 1.0
 */
void
mtl_strided_view_dup_bytes_async (MtlStridedView        *self,
                                  GCancellable          *cancellable,
                                  GFileProgressCallback  progress,
                                  gpointer               progress_data,
                                  GDestroyNotify         progress_destroy,
                                  GAsyncReadyCallback    callback,
                                  gpointer               user_data)
{
  Call *call;

  g_return_if_fail (MTL_IS_STRIDED_VIEW (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  call = call_new (run_dup_bytes, (GDestroyNotify) g_bytes_unref, progress, progress_data,
                   progress_destroy);
  mtl_async_call_start (call, self, mtl_strided_view_dup_bytes_async, cancellable, callback,
                        user_data);
}

/**
 * mtl_strided_view_dup_bytes_finish:
 * @self: a view
 * @result: the result passed to the callback
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Finishes an operation started with
 * [method@Mtl.StridedView.dup_bytes_async].
 *
 * Errors:
 *
 * - the errors of [method@Mtl.StridedView.dup_bytes]
 *
 * Returns: (transfer full): the bytes
 *
 * Since: 1.0
 */
GBytes *
mtl_strided_view_dup_bytes_finish (MtlStridedView  *self,
                                   GAsyncResult    *result,
                                   GError         **error)
{
  return mtl_async_call_take_result (self, result, mtl_strided_view_dup_bytes_async, error);
}

/* The result of a comparison as a pointer, which is NULL if there is an error. */
static gpointer
verdict_new (gboolean   is_same,
             GError    *failure,
             GError   **error)
{
  if (failure == NULL)
    return GINT_TO_POINTER (is_same ? 2 : 1);

  g_propagate_error (error, failure);
  return NULL;
}

static void
verdict_free (gpointer verdict)
{
}

static gboolean
verdict_finish (MtlStridedView  *self,
                GAsyncResult    *result,
                gpointer         source_tag,
                GError         **error)
{
  return GPOINTER_TO_INT (mtl_async_call_take_result (self, result, source_tag, error)) == 2;
}

static gpointer
run_array_equal (gpointer           self,
                 gpointer           data,
                 const MtlMonitor  *monitor,
                 GError           **error)
{
  Call *call = data;
  GError *failure = NULL;
  gboolean is_same =
    mtl_strided_view_array_equal (self, call->source, call->compare_flags,
                                  monitor->cancellable, &failure);

  return verdict_new (is_same, failure, error);
}

/**
 * mtl_strided_view_array_equal_async:
 * @self: a view
 * @other: another view
 * @flags: how to compare the elements
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called when the operation is done
 * @user_data: data for @callback
 *
 * Compares the elements like [method@Mtl.StridedView.array_equal], without
 * blocking the caller. Nothing may write to the elements until the operation is
 * done.
 *
 * Since: 1.0
 */
void
mtl_strided_view_array_equal_async (MtlStridedView      *self,
                                    MtlStridedView      *other,
                                    MtlCompareFlags      flags,
                                    GCancellable        *cancellable,
                                    GAsyncReadyCallback  callback,
                                    gpointer             user_data)
{
  Call *call;

  g_return_if_fail (MTL_IS_STRIDED_VIEW (self));
  g_return_if_fail (MTL_IS_STRIDED_VIEW (other));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  call = call_new (run_array_equal, verdict_free, NULL, NULL, NULL);
  call->source = g_object_ref (other);
  call->compare_flags = flags;
  mtl_async_call_start (call, self, mtl_strided_view_array_equal_async, cancellable, callback,
                        user_data);
}

/**
 * mtl_strided_view_array_equal_finish:
 * @self: a view
 * @result: the result passed to the callback
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Finishes an operation started with
 * [method@Mtl.StridedView.array_equal_async].
 *
 * Errors:
 *
 * - the errors of [method@Mtl.StridedView.array_equal]
 *
 * Returns: whether the views are equal; if they are not, %FALSE without an
 *   error
 *
 * Since: 1.0
 */
gboolean
mtl_strided_view_array_equal_finish (MtlStridedView  *self,
                                     GAsyncResult    *result,
                                     GError         **error)
{
  return verdict_finish (self, result, mtl_strided_view_array_equal_async, error);
}

static gpointer
run_all_close (gpointer           self,
               gpointer           data,
               const MtlMonitor  *monitor,
               GError           **error)
{
  Call *call = data;
  GError *failure = NULL;
  gboolean is_same = mtl_strided_view_all_close (self, call->source, call->rtol, call->atol,
                                                 call->compare_flags, monitor->cancellable,
                                                 &failure);

  return verdict_new (is_same, failure, error);
}

/**
 * mtl_strided_view_all_close_async:
 * @self: a view
 * @other: another view
 * @rtol: the tolerance relative to the element of @other
 * @atol: the absolute tolerance, which is added to the relative one
 * @flags: how to compare the elements
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called when the operation is done
 * @user_data: data for @callback
 *
 * Compares the elements like [method@Mtl.StridedView.all_close], without
 * blocking the caller. Nothing may write to the elements until the operation is
 * done.
 *
 * Since: 1.0
 */
void
mtl_strided_view_all_close_async (MtlStridedView      *self,
                                  MtlStridedView      *other,
                                  double               rtol,
                                  double               atol,
                                  MtlCompareFlags      flags,
                                  GCancellable        *cancellable,
                                  GAsyncReadyCallback  callback,
                                  gpointer             user_data)
{
  Call *call;

  g_return_if_fail (MTL_IS_STRIDED_VIEW (self));
  g_return_if_fail (MTL_IS_STRIDED_VIEW (other));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  call = call_new (run_all_close, verdict_free, NULL, NULL, NULL);
  call->source = g_object_ref (other);
  call->rtol = rtol;
  call->atol = atol;
  call->compare_flags = flags;
  mtl_async_call_start (call, self, mtl_strided_view_all_close_async, cancellable, callback,
                        user_data);
}

/**
 * mtl_strided_view_all_close_finish:
 * @self: a view
 * @result: the result passed to the callback
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Finishes an operation started with
 * [method@Mtl.StridedView.all_close_async].
 *
 * Errors:
 *
 * - the errors of [method@Mtl.StridedView.all_close]
 *
 * Returns: whether the views are close; if they are not, %FALSE without an
 *   error
 *
 * Since: 1.0
 */
gboolean
mtl_strided_view_all_close_finish (MtlStridedView  *self,
                                   GAsyncResult    *result,
                                   GError         **error)
{
  return verdict_finish (self, result, mtl_strided_view_all_close_async, error);
}
