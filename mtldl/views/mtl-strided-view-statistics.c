/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Statistics, histograms and reductions of elements. */

#include "mtl-strided-view-private.h"

#include <math.h>

#include "mtl-async-call-private.h"
#include "mtl-device-private.h"
#include "mtl-error-private.h"
#include "mtl-histogram-private.h"
#include "mtl-placed-elements-private.h"
#include "mtl-number-private.h"
#include "mtl-slice-statistics-private.h"
#include "mtl-statistics-private.h"

/* Elements that the host cannot access are copied, about this many bytes at once. */
#define STAGE_BYTES (8 * 1024 * 1024)

typedef gboolean (* AddFunc) (gpointer           result,
                              const MtlStrided  *strided,
                              const MtlMonitor  *monitor,
                              GError           **error);

/* A result for all elements, which are read in parts if the host cannot access them. */
typedef struct
{
  AddFunc add;
  gpointer result;
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
  g_auto (MtlPlacedElements) elements = { .layout = NULL };
  MtlMonitor part;

  if (monitor != NULL)
    part = (MtlMonitor) { monitor->cancellable,
                          monitor->report != NULL ? report_part : NULL, self };

  if (!mtl_placed_elements_init_read (&elements, view, error)
      || !mtl_placed_elements_spread_lanes (&elements, error)
      || !self->add (self->result, &elements.strided, monitor != NULL ? &part : NULL, error))
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

static gboolean
survey_view (MtlStridedView    *view,
             AddFunc            add,
             gpointer           result,
             const MtlMonitor  *monitor,
             GError           **error)
{
  Survey survey = {
    .add = add, .result = result, .monitor = monitor, .n_bytes = count_bytes (view),
  };

  return mtl_monitor_check (monitor, error) && add_view (&survey, view, error);
}

static gboolean
add_to_tally (gpointer           tally,
              const MtlStrided  *strided,
              const MtlMonitor  *monitor,
              GError           **error)
{
  return mtl_tally_add_strided (tally, strided, monitor, error);
}

typedef struct
{
  MtlDevice *engine;
  MtlElementType type;
  GCancellable *cancellable;
} DeviceTally;

static gboolean
tally_on_device (const MtlTiles  *tiles,
                 gint64           first,
                 gint64           n,
                 MtlTally        *tallies,
                 gpointer         data,
                 GError         **error)
{
  const DeviceTally *self = data;
  gboolean is_done;

  return MTL_DEVICE_GET_CLASS (self->engine)->tally_tiles (self->engine, tiles, first, n,
                                                           self->type, tallies, &is_done,
                                                           self->cancellable, error)
         && is_done;
}

/* Returns FALSE without an error if no device can do it. */
static gboolean
tally_view_on_device (MtlStridedView    *view,
                      MtlTally          *tally,
                      const MtlMonitor  *monitor,
                      GError           **error)
{
  g_auto (MtlPlacedElements) elements = { .layout = NULL };
  DeviceTally device_tally = {
    .engine = mtl_memory_get_engine (view->memory),
    .cancellable = monitor != NULL ? monitor->cancellable : NULL,
  };

  if (device_tally.engine == NULL || mtl_layout_is_empty (&view->layout)
      || MTL_DEVICE_GET_CLASS (device_tally.engine)->tally_tiles == NULL)
    return FALSE;

  mtl_placed_elements_init_on_device (&elements, view);
  if (!mtl_placed_elements_spread_lanes (&elements, error))
    return FALSE;

  device_tally.type = elements.strided.type;
  return mtl_tally_add_strided_by (tally, &elements.strided, tally_on_device, &device_tally,
                                   monitor, error);
}

static gboolean
tally_view (MtlStridedView    *view,
            MtlTally          *tally,
            const MtlMonitor  *monitor,
            GError           **error)
{
  g_autoptr (GError) local_error = NULL;

  if (tally_view_on_device (view, tally, monitor, &local_error))
    return TRUE;
  if (local_error == NULL)
    return survey_view (view, add_to_tally, tally, monitor, error);

  g_propagate_error (error, g_steal_pointer (&local_error));
  return FALSE;
}

static MtlStatistics *
compute_statistics (MtlStridedView    *self,
                    const MtlMonitor  *monitor,
                    GError           **error)
{
  MTL_USE_VIEW (self);
  MtlTally tally = MTL_TALLY_NONE;
  MtlElementType type = self->type;

  if (!mtl_element_type_check_numeric (type, error))
    return NULL;

  if (!tally_view (self, &tally, monitor, error))
    return NULL;

  type.lanes = 1;
  return mtl_statistics_new (type,
                             (guint64) mtl_layout_get_volume (&self->layout) * self->type.lanes,
                             &tally);
}

/**
 * mtl_strided_view_compute_statistics:
 * @self: a view
 * @cancellable: (nullable): a cancellable
 * @progress: (nullable) (scope call) (closure progress_data): called with the
 *   number of bytes read so far and in total, in the thread of the caller
 * @progress_data: data for @progress
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Finds the minimum and the maximum of the elements, their mean and deviation,
 * and how many are NaN, infinite or zero, reading the memory once. Elements that
 * are repeated, as by [method@Mtl.StridedView.broadcast_to], are only read once.
 *
 * The result depends neither on the number of threads nor on the processor. The
 * lanes of vectors are elements like others. A GPU of CUDA reads its memory by
 * itself; other memory that the host cannot access is copied to the host, a few
 * MiB at a time.
 *
 * Errors:
 *
 * - %MTL_ERROR_NOT_SUPPORTED: the elements are not numbers
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: the library cannot read the elements
 * - %MTL_ERROR_OVERFLOW: the number of all lanes or one of their offsets does
 *   not fit in 63 bits
 * - %MTL_ERROR_NO_MEMORY: memory for the intermediate results, or for a copy of a
 *   device's elements, cannot be allocated
 * - %MTL_ERROR_DEVICE: the device failed
 * - %G_IO_ERROR_CANCELLED: the operation was cancelled
 *
 * Returns: (transfer full): the statistics
 *
 * Since: 1.0
 */
MtlStatistics *
mtl_strided_view_compute_statistics (MtlStridedView         *self,
                                     GCancellable           *cancellable,
                                     GFileProgressCallback   progress,
                                     gpointer                progress_data,
                                     GError                **error)
{
  MtlProgressCallback callback = { progress, progress_data };
  MtlMonitor monitor = mtl_progress_callback_get_monitor (&callback, cancellable);

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), NULL);

  return compute_statistics (self, cancellable != NULL || progress != NULL ? &monitor : NULL,
                             error);
}

static gpointer
run_compute_statistics (gpointer           self,
                        gpointer           call,
                        const MtlMonitor  *monitor,
                        GError           **error)
{
  return compute_statistics (self, monitor, error);
}

/**
 * mtl_strided_view_compute_statistics_async:
 * @self: a view
 * @cancellable: (nullable): a cancellable
 * @progress: (nullable) (scope notified) (closure progress_data) (destroy progress_destroy):
 *   called with the number of bytes read so far and in total
 * @progress_data: data for @progress
 * @progress_destroy: frees @progress_data
 * @callback: (scope async): called when the operation is done
 * @user_data: data for @callback
 *
 * Works like [method@Mtl.StridedView.compute_statistics], without blocking the
 * caller. Nothing may write to the elements until the operation is done.
 *
 * The callbacks are called as described for
 * [method@Mtl.StridedView.fill_double_async].
 *
 * Since: 1.0
 */
void
mtl_strided_view_compute_statistics_async (MtlStridedView        *self,
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

  call = mtl_async_call_new (sizeof *call, run_compute_statistics, g_object_unref, NULL,
                             G_PRIORITY_DEFAULT);
  mtl_async_call_set_progress (call, progress, progress_data, progress_destroy);
  mtl_async_call_start (call, self, mtl_strided_view_compute_statistics_async, cancellable,
                        callback, user_data);
}

/**
 * mtl_strided_view_compute_statistics_finish:
 * @self: a view
 * @result: the result passed to the callback
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Finishes an operation started with
 * [method@Mtl.StridedView.compute_statistics_async].
 *
 * Errors:
 *
 * - the errors of [method@Mtl.StridedView.compute_statistics]
 *
 * Returns: (transfer full): the statistics
 *
 * Since: 1.0
 */
MtlStatistics *
mtl_strided_view_compute_statistics_finish (MtlStridedView  *self,
                                            GAsyncResult    *result,
                                            GError         **error)
{
  return mtl_async_call_take_result (self, result, mtl_strided_view_compute_statistics_async,
                                     error);
}

/* Histograms */

#define MAX_BINS (16 * 1024 * 1024)

static gboolean
check_bins (double   low,
            double   high,
            gsize    n_bins,
            GError **error)
{
  if (!isfinite (low) || !isfinite (high) || low >= high)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "A histogram cannot go from %.17g to %.17g: both have to be finite, and the"
                   " first less than the second", low, high);
      return FALSE;
    }

  if (n_bins < 1 || n_bins > MAX_BINS)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "A histogram cannot have %" G_GSIZE_FORMAT " bins: 1 to %d are allowed", n_bins,
                   MAX_BINS);
      return FALSE;
    }

  return TRUE;
}

static gboolean
check_real (MtlElementType   type,
            GError         **error)
{
  if (!mtl_element_type_check_numeric (type, error))
    return FALSE;

  if (type.code != kDLComplex)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "Elements of type %s have no order",
               mtl_dtype_get_name (mtl_element_type_get_dtype (type)));
  return FALSE;
}

static gboolean
add_to_histogram (gpointer           histogram,
                  const MtlStrided  *strided,
                  const MtlMonitor  *monitor,
                  GError           **error)
{
  return mtl_histogram_add_strided (histogram, strided, monitor, error);
}

static guint64 *
compute_histogram (MtlStridedView    *self,
                   double             low,
                   double             high,
                   gsize              n_bins,
                   const MtlMonitor  *monitor,
                   GError           **error)
{
  MTL_USE_VIEW (self);
  g_auto (MtlHistogram) histogram = { .edges = NULL };

  if (!check_bins (low, high, n_bins, error)
      || !check_real (self->type, error)
      || !mtl_histogram_init (&histogram, low, high, n_bins, error)
      || !survey_view (self, add_to_histogram, &histogram, monitor, error))
    return NULL;

  return g_steal_pointer (&histogram.counts);
}

/**
 * mtl_strided_view_compute_histogram:
 * @self: a view
 * @low: the lower edge of the first bin
 * @high: the upper edge of the last bin
 * @n_bins: the number of bins, at most 2^24
 * @n_counts: (out): return location for the number of counts, which is @n_bins
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Counts the elements in each of @n_bins bins of equal width from @low to
 * @high, like NumPy's `histogram`. A bin includes its lower edge, and the last
 * one its upper edge as well. NaN and elements outside are not counted.
 *
 * The edges are doubles, and elements are compared with them as they are: even
 * integers of 64 bits are not rounded. The lanes of vectors are elements like
 * others. Elements that are repeated, as by
 * [method@Mtl.StridedView.broadcast_to], are read once and counted as often as
 * they are there. Memory that the host cannot access is copied to the host, a
 * few MiB at a time.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: @low or @high is not finite, @low is not less
 *   than @high, or @n_bins is 0 or more than 2^24
 * - %MTL_ERROR_NOT_SUPPORTED: the elements are not real numbers
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: the library cannot read the elements
 * - %MTL_ERROR_OVERFLOW: the number of all lanes or one of their offsets does
 *   not fit in 63 bits
 * - %MTL_ERROR_NO_MEMORY: host memory for the counts, or for a copy of a
 *   device's elements, cannot be allocated
 * - %MTL_ERROR_DEVICE: the device failed
 * - %G_IO_ERROR_CANCELLED: the operation was cancelled
 *
 * Returns: (array length=n_counts) (transfer full): the counts, one for each
 *   bin
 *
 * Since: 1.0
 */
guint64 *
mtl_strided_view_compute_histogram (MtlStridedView  *self,
                                    double           low,
                                    double           high,
                                    gsize            n_bins,
                                    gsize           *n_counts,
                                    GCancellable    *cancellable,
                                    GError         **error)
{
  MtlMonitor monitor = { .cancellable = cancellable };
  guint64 *counts;

  g_return_val_if_fail (n_counts != NULL, NULL);

  *n_counts = 0;
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), NULL);

  counts = compute_histogram (self, low, high, n_bins, cancellable != NULL ? &monitor : NULL,
                              error);
  if (counts != NULL)
    *n_counts = n_bins;
  return counts;
}

typedef struct
{
  MtlAsyncCall parent;

  double low;
  double high;
  gsize n_bins;
} HistogramCall;

/* The result of an asynchronous call. */
typedef struct
{
  guint64 *counts;
  gsize n_counts;
} Counts;

static void
counts_free (gpointer data)
{
  Counts *self = data;

  g_free (self->counts);
  g_free (self);
}

static gpointer
run_compute_histogram (gpointer           self,
                       gpointer           data,
                       const MtlMonitor  *monitor,
                       GError           **error)
{
  HistogramCall *call = data;
  guint64 *counts = compute_histogram (self, call->low, call->high, call->n_bins, monitor, error);
  Counts *result;

  if (counts == NULL)
    return NULL;

  result = g_new (Counts, 1);
  *result = (Counts) { counts, call->n_bins };
  return result;
}

/**
 * mtl_strided_view_compute_histogram_async:
 * @self: a view
 * @low: the lower edge of the first bin
 * @high: the upper edge of the last bin
 * @n_bins: the number of bins, at most 2^24
 * @cancellable: (nullable): a cancellable
 * @progress: (nullable) (scope notified) (closure progress_data) (destroy progress_destroy):
 *   called with the number of bytes read so far and in total
 * @progress_data: data for @progress
 * @progress_destroy: frees @progress_data
 * @callback: (scope async): called when the operation is done
 * @user_data: data for @callback
 *
 * Works like [method@Mtl.StridedView.compute_histogram], without blocking the
 * caller. Nothing may write to the elements until the operation is done.
 *
 * The callbacks are called as described for
 * [method@Mtl.StridedView.fill_double_async].
 *
 * Since: 1.0
 */
void
mtl_strided_view_compute_histogram_async (MtlStridedView        *self,
                                          double                 low,
                                          double                 high,
                                          gsize                  n_bins,
                                          GCancellable          *cancellable,
                                          GFileProgressCallback  progress,
                                          gpointer               progress_data,
                                          GDestroyNotify         progress_destroy,
                                          GAsyncReadyCallback    callback,
                                          gpointer               user_data)
{
  HistogramCall *call;

  g_return_if_fail (MTL_IS_STRIDED_VIEW (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  call = mtl_async_call_new (sizeof *call, run_compute_histogram, counts_free, NULL,
                             G_PRIORITY_DEFAULT);
  mtl_async_call_set_progress (call, progress, progress_data, progress_destroy);
  call->low = low;
  call->high = high;
  call->n_bins = n_bins;
  mtl_async_call_start (call, self, mtl_strided_view_compute_histogram_async, cancellable, callback,
                        user_data);
}

/**
 * mtl_strided_view_compute_histogram_finish:
 * @self: a view
 * @result: the result passed to the callback
 * @n_counts: (out): return location for the number of counts
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Finishes an operation started with
 * [method@Mtl.StridedView.compute_histogram_async].
 *
 * Errors:
 *
 * - the errors of [method@Mtl.StridedView.compute_histogram]
 *
 * Returns: (array length=n_counts) (transfer full): the counts, one for each
 *   bin
 *
 * Since: 1.0
 */
guint64 *
mtl_strided_view_compute_histogram_finish (MtlStridedView  *self,
                                           GAsyncResult    *result,
                                           gsize           *n_counts,
                                           GError         **error)
{
  Counts *counts;
  guint64 *taken = NULL;

  g_return_val_if_fail (n_counts != NULL, NULL);

  *n_counts = 0;
  counts = mtl_async_call_take_result (self, result, mtl_strided_view_compute_histogram_async,
                                       error);
  if (counts == NULL)
    return NULL;

  *n_counts = counts->n_counts;
  taken = g_steal_pointer (&counts->counts);
  counts_free (counts);
  return taken;
}

/* Along axes */

/* The axes that are left, and the same without repeats, which are computed once. */
static gboolean
find_kept_layouts (const MtlLayout  *layout,
                   const gboolean   *is_reduced,
                   MtlLayout        *kept,
                   MtlLayout        *distinct,
                   GError          **error)
{
  gint64 shape[MTL_LAYOUT_MAX_AXES], once[MTL_LAYOUT_MAX_AXES];
  gsize n = 0;

  for (guint i = 0; i < layout->n_dims; i++)
    if (!is_reduced[i])
      {
        shape[n] = mtl_layout_shape (layout)[i];
        once[n] = mtl_layout_strides (layout)[i] == 0 ? MIN (shape[n], 1) : shape[n];
        n++;
      }

  if (!mtl_layout_new_dense (shape, n, MTL_ORDER_C, 64, kept, error))
    return FALSE;
  if (mtl_layout_new_dense (once, n, MTL_ORDER_C, 64, distinct, error))
    return TRUE;

  mtl_layout_clear (kept);
  return FALSE;
}

/* Leaves one index of each kept axis along which elements are repeated. */
static void
drop_repeats (const MtlLayout *layout,
              const gboolean  *is_reduced,
              MtlLayout       *dropped)
{
  mtl_layout_copy (layout, dropped);
  for (guint i = 0; i < layout->n_dims; i++)
    if (!is_reduced[i] && mtl_layout_strides (layout)[i] == 0)
      mtl_layout_shape (dropped)[i] = MIN (mtl_layout_shape (layout)[i], 1);
}

static MtlStridedView *
new_doubles (MtlLayout  *layout,
             GError    **error)
{
  return mtl_strided_view_new_dense (mtl_device_get_host (), MTL_STORAGE_MODE_HOST,
                                     mtl_element_type_new (MTL_DTYPE_FLOAT64), layout, FALSE,
                                     error);
}

/* The statistics of slices without elements. */
static gboolean
fill_with_nan (MtlStridedView    *results,
               const MtlMonitor  *monitor,
               GError           **error)
{
  const MtlStrided strided = mtl_strided_view_get_strided (results);
  const double nan = NAN;

  return mtl_monitor_check (monitor, error) && mtl_strided_fill (&strided, &nan, NULL, error);
}

static MtlStridedView *
compute_along (const MtlStrided  *strided,
               const gboolean    *is_reduced,
               MtlReduction       reduction,
               const MtlMonitor  *monitor,
               GError           **error)
{
  g_autoptr (MtlStridedView) results = NULL;
  g_autoptr (MtlStridedView) distinct = NULL;
  MtlLayout kept_layout, distinct_layout, dropped;
  gboolean is_distinct, done;
  gpointer numbers;

  if (!find_kept_layouts (strided->layout, is_reduced, &kept_layout, &distinct_layout, error))
    return NULL;

  is_distinct = mtl_layout_equal (&kept_layout, &distinct_layout);
  results = new_doubles (&kept_layout, error);
  distinct = new_doubles (&distinct_layout, error);
  if (results == NULL || distinct == NULL)
    return NULL;
  if (mtl_layout_is_empty (strided->layout))
    return fill_with_nan (results, monitor, error) ? g_steal_pointer (&results) : NULL;

  numbers = mtl_strided_view_get_strided (distinct).data;
  drop_repeats (strided->layout, is_reduced, &dropped);
  done = mtl_slice_statistics_run (numbers,
                                   &(MtlStrided) { strided->type, &dropped, strided->data },
                                   is_reduced, reduction, monitor, error);
  mtl_layout_clear (&dropped);
  if (!done)
    return NULL;
  if (is_distinct)
    return g_steal_pointer (&distinct);

  return mtl_strided_view_copy_from (results, distinct, NULL, error) ? g_steal_pointer (&results)
                                                                     : NULL;
}

static gboolean
find_reduced_axes (const MtlLayout  *layout,
                   const int        *axes,
                   gsize             n_axes,
                   gboolean         *is_reduced,
                   GError          **error)
{
  guint64 mask;

  if (layout->n_dims > MTL_LAYOUT_MAX_DIMS)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "The lanes would become axis %d: at most %d dimensions are allowed",
                   layout->n_dims, MTL_LAYOUT_MAX_DIMS);
      return FALSE;
    }

  if (!mtl_axes_resolve (axes, n_axes, layout->n_dims, NULL, &mask, error))
    return FALSE;

  for (guint i = 0; i < layout->n_dims; i++)
    is_reduced[i] = n_axes == 0 || (mask >> i & 1) != 0;
  return TRUE;
}

/**
 * mtl_strided_view_reduce:
 * @self: a view
 * @reduction: what to compute
 * @axes: (array length=n_axes) (nullable): the axes to leave out, negative ones
 *   from the end, or %NULL for all
 * @n_axes: the number of axes, or 0 for all
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Computes a reduction of the elements along some axes: one for each index of
 * the other axes. The result is a new tensor of these axes on the host, with
 * elements of type float64.
 *
 * As for [class@Mtl.Statistics], NaN and infinities are left out, and if there
 * is no other element along the axes, the result is NaN. All is computed with
 * doubles, so that the minimum and the maximum of integers of 64 bits are
 * rounded.
 *
 * The lanes of vectors count as one more axis, the last. Memory that the host
 * cannot access is copied to the host.
 *
 * ```c
 * // The mean of each channel of a batch of images, whose axes are N, C, H and W.
 * g_autoptr (MtlStridedView) means =
 *   mtl_strided_view_reduce (images, MTL_REDUCTION_MEAN, (int[]) { 0, -2, -1 }, 3,
 *                            NULL, error);
 * ```
 *
 * Errors:
 *
 * - %MTL_ERROR_OUT_OF_BOUNDS: there is no such axis
 * - %MTL_ERROR_INVALID_ARGUMENT: @reduction is not a reduction, an axis is
 *   given twice, or the lanes would become a 65th axis
 * - %MTL_ERROR_NOT_SUPPORTED: the elements are not real numbers
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: the library cannot read the elements
 * - %MTL_ERROR_OVERFLOW: the size of the result, the number of all lanes or one
 *   of their offsets does not fit in 63 bits
 * - %MTL_ERROR_NO_MEMORY: the memory for the result, or for a copy of a device's
 *   elements, cannot be allocated
 * - %MTL_ERROR_DEVICE: the device failed
 * - %G_IO_ERROR_CANCELLED: the operation was cancelled
 *
 * Returns: (transfer full): the results
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_reduce (MtlStridedView  *self,
                         MtlReduction     reduction,
                         const int       *axes,
                         gsize            n_axes,
                         GCancellable    *cancellable,
                         GError         **error)
{
  g_autoptr (MtlViewUse) use G_GNUC_UNUSED = NULL;
  g_auto (MtlPlacedElements) elements = { .layout = NULL };
  gboolean is_reduced[MTL_LAYOUT_MAX_AXES];
  MtlMonitor monitor = { .cancellable = cancellable };

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);
  g_return_val_if_fail (axes != NULL || n_axes == 0, NULL);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), NULL);

  if ((guint) reduction > MTL_REDUCTION_DEVIATION)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "%d is not a reduction: valid are 0 to %d", (int) reduction,
                   MTL_REDUCTION_DEVIATION);
      return NULL;
    }

  use = mtl_view_use_begin (self);
  if (!check_real (self->type, error)
      || !mtl_monitor_check (&monitor, error)
      || !mtl_placed_elements_init_read (&elements, self, error)
      || !mtl_placed_elements_spread_lanes (&elements, error)
      || !find_reduced_axes (elements.strided.layout, axes, n_axes, is_reduced, error))
    return NULL;

  return compute_along (&elements.strided, is_reduced, reduction,
                        cancellable != NULL ? &monitor : NULL, error);
}

typedef struct
{
  MtlAsyncCall parent;

  MtlReduction reduction;
  int *axes;
  gsize n_axes;
} ReduceCall;

static void
reduce_call_clear (gpointer data)
{
  ReduceCall *call = data;

  g_clear_pointer (&call->axes, g_free);
}

static gpointer
run_reduce (gpointer           self,
            gpointer           data,
            const MtlMonitor  *monitor,
            GError           **error)
{
  ReduceCall *call = data;

  return mtl_strided_view_reduce (self, call->reduction, call->axes, call->n_axes,
                                  monitor->cancellable, error);
}

/**
 * mtl_strided_view_reduce_async:
 * @self: a view
 * @reduction: what to compute
 * @axes: (array length=n_axes) (nullable): the axes to leave out, negative ones
 *   from the end, or %NULL for all
 * @n_axes: the number of axes, or 0 for all
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called when the operation is done
 * @user_data: data for @callback
 *
 * Works like [method@Mtl.StridedView.reduce], without blocking the
 * caller. Nothing may write to the elements until the operation is done.
 *
 * Since: 1.0
 */
void
mtl_strided_view_reduce_async (MtlStridedView      *self,
                               MtlReduction         reduction,
                               const int           *axes,
                               gsize                n_axes,
                               GCancellable        *cancellable,
                               GAsyncReadyCallback  callback,
                               gpointer             user_data)
{
  ReduceCall *call;

  g_return_if_fail (MTL_IS_STRIDED_VIEW (self));
  g_return_if_fail (axes != NULL || n_axes == 0);
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  call = mtl_async_call_new (sizeof *call, run_reduce, g_object_unref,
                             reduce_call_clear, G_PRIORITY_DEFAULT);
  call->reduction = reduction;
  call->axes = g_memdup2 (axes, n_axes * sizeof *axes);
  call->n_axes = n_axes;
  mtl_async_call_start (call, self, mtl_strided_view_reduce_async, cancellable, callback,
                        user_data);
}

/**
 * mtl_strided_view_reduce_finish:
 * @self: a view
 * @result: the result passed to the callback
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Finishes an operation started with
 * [method@Mtl.StridedView.reduce_async].
 *
 * Errors:
 *
 * - the errors of [method@Mtl.StridedView.reduce]
 *
 * Returns: (transfer full): the results
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_reduce_finish (MtlStridedView  *self,
                                GAsyncResult    *result,
                                GError         **error)
{
  return mtl_async_call_take_result (self, result, mtl_strided_view_reduce_async, error);
}
