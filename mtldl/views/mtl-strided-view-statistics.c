/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-strided-view-private.h"

#include "mtl-async-call-private.h"
#include "mtl-error-private.h"
#include "mtl-host-elements-private.h"
#include "mtl-number-private.h"
#include "mtl-statistics-private.h"

/* Elements that the host cannot access are copied, about this many bytes at once. */
#define STAGE_BYTES (8 * 1024 * 1024)

typedef struct
{
  MtlTally tally;
  const MtlMonitor *monitor;
  guint64 n_done; /* bytes, of the parts before */
  guint64 n_bytes;
} Survey;

/* The bytes of the elements, without repeats. */
static guint64
count_bytes (MtlStridedView *view)
{
  const MtlLayout *layout = &view->layout;
  double n = layout->item_bits / 8.0;

  for (guint i = 0; i < layout->n_dims; i++)
    if (mtl_layout_strides (layout)[i] != 0 || mtl_layout_shape (layout)[i] == 0)
      n *= mtl_layout_shape (layout)[i];

  return MIN (n, 0x1p62);
}

static void
report_part (guint64  done,
             guint64  total,
             gpointer data)
{
  Survey *self = data;

  self->monitor->report (MIN (self->n_done + done, self->n_bytes), self->n_bytes,
                         self->monitor->data);
}

static gboolean
add_elements (Survey          *self,
              MtlStridedView  *view,
              GError         **error)
{
  const MtlMonitor *monitor = self->monitor;
  g_auto (MtlHostElements) elements = { .layout = NULL };
  MtlMonitor part;

  if (monitor != NULL)
    part = (MtlMonitor) { monitor->cancellable, monitor->report != NULL ? report_part : NULL, self };

  if (!mtl_host_elements_init_read (&elements, view, error)
      || !mtl_host_elements_spread_lanes (&elements, error)
      || !mtl_tally_add_strided (&self->tally, &elements.strided, monitor != NULL ? &part : NULL,
                                 error))
    return FALSE;

  self->n_done += count_bytes (view);
  return TRUE;
}

/* The axis of several elements along which they are farthest apart, or -1. */
static int
find_longest_axis (const MtlLayout *layout)
{
  guint64 longest = 0;
  int found = -1;

  for (guint i = 0; i < layout->n_dims; i++)
    if (mtl_layout_shape (layout)[i] > 1
        && mtl_magnitude (mtl_layout_strides (layout)[i]) > longest)
      {
        longest = mtl_magnitude (mtl_layout_strides (layout)[i]);
        found = i;
      }

  return found;
}

static MtlStridedView *
narrow (MtlStridedView *view,
        int             axis,
        gint64          begin,
        gint64          end)
{
  MtlLayout layout;

  mtl_layout_copy (&view->layout, &layout);
  layout.offset += begin * mtl_layout_strides (&layout)[axis];
  mtl_layout_dims (&layout)[axis] = end - begin;
  return mtl_strided_view_derive (view, &layout);
}

static gboolean
add_view (Survey          *self,
          MtlStridedView  *view,
          GError         **error)
{
  const MtlLayout *layout = &view->layout;
  gint64 first, end, extent, n_parts, part;
  int axis;

  if (mtl_memory_is_host_accessible (view->memory) || mtl_layout_is_empty (layout))
    return add_elements (self, view, error);

  if (!mtl_layout_get_byte_bounds (layout, &first, &end, error))
    return FALSE;

  axis = find_longest_axis (layout);
  if (end - first <= STAGE_BYTES || axis < 0)
    return add_elements (self, view, error);

  extent = mtl_layout_shape (layout)[axis];
  n_parts = MIN ((end - first - 1) / STAGE_BYTES + 1, extent);
  part = (extent - 1) / n_parts + 1;
  for (gint64 i = 0; i < extent; i += part)
    {
      g_autoptr (MtlStridedView) narrowed = narrow (view, axis, i, MIN (i + part, extent));

      if (!mtl_monitor_check (self->monitor, error) || !add_view (self, narrowed, error))
        return FALSE;
    }

  return TRUE;
}

static MtlStatistics *
get_statistics (MtlStridedView    *self,
                const MtlMonitor  *monitor,
                GError           **error)
{
  MTL_USE_VIEW (self);
  Survey survey = { .tally = MTL_TALLY_NONE, .monitor = monitor };
  MtlElementType type = self->type;

  if (!mtl_element_type_check_numeric (type, error))
    return NULL;

  survey.n_bytes = count_bytes (self);
  if (!mtl_monitor_check (monitor, error) || !add_view (&survey, self, error))
    return NULL;

  type.lanes = 1;
  return mtl_statistics_new (type,
                             (guint64) mtl_layout_get_volume (&self->layout) * self->type.lanes,
                             &survey.tally);
}

/**
 * mtl_strided_view_get_statistics:
 * @self: a view
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Finds the minimum and the maximum of the elements, their mean and deviation,
 * and how many are NaN, infinite or zero, reading the memory once.
 *
 * The result depends neither on the number of threads nor on the processor. The
 * lanes of vectors are elements like others. Memory that the host cannot access
 * is copied to the host, a few MiB at a time.
 *
 * Errors:
 *
 * - %MTL_ERROR_NOT_SUPPORTED: the elements are not numbers
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: the library cannot read the elements
 * - %MTL_ERROR_OVERFLOW: the number of all lanes or one of their offsets does
 *   not fit in 63 bits
 * - %MTL_ERROR_NO_MEMORY: host memory for the intermediate results, or for a
 *   copy of a device's elements, cannot be allocated
 * - %MTL_ERROR_DEVICE: the device failed
 * - %G_IO_ERROR_CANCELLED: the operation was cancelled
 *
 * Returns: (transfer full): the statistics
 *
 * Since: 1.0
 */
MtlStatistics *
mtl_strided_view_get_statistics (MtlStridedView  *self,
                                 GCancellable    *cancellable,
                                 GError         **error)
{
  return mtl_strided_view_get_statistics_full (self, cancellable, NULL, NULL, error);
}

/**
 * mtl_strided_view_get_statistics_full:
 * @self: a view
 * @cancellable: (nullable): a cancellable
 * @progress: (nullable) (scope call) (closure progress_data): called with the
 *   number of bytes read so far and in total
 * @progress_data: data for @progress
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Works like [method@Mtl.StridedView.get_statistics], and reports the progress.
 * Elements that are repeated, as by [method@Mtl.StridedView.broadcast_to], are
 * only read once.
 *
 * @progress is called in the thread of the caller.
 *
 * Errors:
 *
 * - the errors of [method@Mtl.StridedView.get_statistics]
 *
 * Returns: (transfer full): the statistics
 *
 * Since: 1.0
 */
MtlStatistics *
mtl_strided_view_get_statistics_full (MtlStridedView         *self,
                                      GCancellable           *cancellable,
                                      GFileProgressCallback   progress,
                                      gpointer                progress_data,
                                      GError                **error)
{
  MtlProgressCallback callback = { progress, progress_data };
  MtlMonitor monitor = mtl_progress_callback_get_monitor (&callback, cancellable);

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), NULL);

  return get_statistics (self, cancellable != NULL || progress != NULL ? &monitor : NULL, error);
}

static gpointer
run_get_statistics (gpointer           self,
                    gpointer           call,
                    const MtlMonitor  *monitor,
                    GError           **error)
{
  return get_statistics (self, monitor, error);
}

/**
 * mtl_strided_view_get_statistics_async:
 * @self: a view
 * @cancellable: (nullable): a cancellable
 * @progress: (nullable) (scope notified) (closure progress_data) (destroy progress_destroy):
 *   called with the number of bytes read so far and in total
 * @progress_data: data for @progress
 * @progress_destroy: frees @progress_data
 * @callback: (scope async): called when the operation is done
 * @user_data: data for @callback
 *
 * Works like [method@Mtl.StridedView.get_statistics], without blocking the
 * caller. Nothing may write to the elements until the operation is done.
 *
 * The callbacks are called as described for
 * [method@Mtl.StridedView.fill_double_async].
 *
 * Since: 1.0
 */
void
mtl_strided_view_get_statistics_async (MtlStridedView        *self,
                                       GCancellable          *cancellable,
                                       GFileProgressCallback  progress,
                                       gpointer               progress_data,
                                       GDestroyNotify         progress_destroy,
                                       GAsyncReadyCallback    callback,
                                       gpointer               user_data)
{
  MtlAsyncCall *call;

  g_return_if_fail (MTL_IS_STRIDED_VIEW (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  call = g_new0 (MtlAsyncCall, 1);
  call->run = run_get_statistics;
  call->free_result = g_object_unref;
  call->progress = mtl_progress_new (progress, progress_data, progress_destroy,
                                     G_PRIORITY_DEFAULT);
  mtl_async_call_start (call, self, mtl_strided_view_get_statistics_async, cancellable, callback,
                        user_data);
}

/**
 * mtl_strided_view_get_statistics_finish:
 * @self: a view
 * @result: the result passed to the callback
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Finishes an operation started with
 * [method@Mtl.StridedView.get_statistics_async].
 *
 * Errors:
 *
 * - the errors of [method@Mtl.StridedView.get_statistics]
 *
 * Returns: (transfer full): the statistics
 *
 * Since: 1.0
 */
MtlStatistics *
mtl_strided_view_get_statistics_finish (MtlStridedView  *self,
                                        GAsyncResult    *result,
                                        GError         **error)
{
  return mtl_async_call_take_result (self, result, mtl_strided_view_get_statistics_async, error);
}
