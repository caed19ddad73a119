/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Copies of all elements: by bytes, by the host, or by a device. */

#include "mtl-strided-view-private.h"

#include <string.h>

#include "mtl-device-private.h"
#include "mtl-error-private.h"
#include "mtl-number-private.h"
#include "mtl-placed-elements-private.h"

static GCancellable *
get_cancellable (const MtlMonitor *monitor)
{
  return monitor != NULL ? monitor->cancellable : NULL;
}

/* The lanes of self become the last and innermost axis if type has none. */
static gboolean
get_layout_of_type (MtlStridedView  *self,
                    MtlElementType   type,
                    MtlOrder         order,
                    MtlLayout       *layout,
                    GError         **error)
{
  gint64 shape[MTL_LAYOUT_MAX_DIMS + 1];
  int axes[MTL_LAYOUT_MAX_DIMS + 1];
  gsize n_dims = self->layout.n_dims;

  if (!mtl_layout_get_axes_in_order (&self->layout, order, axes, error))
    return FALSE;

  memcpy (shape, mtl_layout_shape (&self->layout), n_dims * sizeof (gint64));
  if (type.lanes != self->type.lanes)
    {
      axes[n_dims] = n_dims;
      shape[n_dims++] = self->type.lanes;
    }

  return mtl_layout_new_dense_for_axes (shape, n_dims, axes, n_dims,
                                        mtl_element_type_get_item_bits (type), layout, error);
}

/* Memory for a copy of self, uninitialized. */
static MtlStridedView *
new_in_order (MtlStridedView  *self,
              MtlDevice       *device,
              MtlStorageMode   mode,
              MtlElementType   type,
              MtlOrder         order,
              GError         **error)
{
  MtlLayout layout;

  return get_layout_of_type (self, type, order, &layout, error)
           ? mtl_strided_view_new_dense (device, mode, type, &layout, FALSE, error) : NULL;
}

/* The bytes of two views with the same contiguous layout. */
typedef struct
{
  gint64 dest_first; /* relative to element offset 0 */
  gint64 source_first;
  gint64 size;
} Bytes;

static gboolean
copy_bytes (MtlStridedView    *dest,
            MtlStridedView    *source,
            const Bytes       *bytes,
            const MtlMonitor  *monitor,
            GError           **error)
{
  if (!mtl_monitor_check (monitor, error)
      || !mtl_memory_copy (dest->memory, dest->byte_offset + bytes->dest_first, source->memory,
                           source->byte_offset + bytes->source_first, bytes->size,
                           get_cancellable (monitor), error))
    return FALSE;

  mtl_monitor_report (monitor, 1, 1, bytes->size);
  return TRUE;
}

/* Checks whether a device can copy the elements as plain bytes. */
static gboolean
can_copy_bytes (MtlStridedView *dest,
                MtlStridedView *source,
                Bytes          *bytes)
{
  return !(mtl_memory_is_host_accessible (dest->memory)
           && mtl_memory_is_host_accessible (source->memory))
         && mtl_element_type_equal (dest->type, source->type)
         && mtl_layout_same_shape (&dest->layout, &source->layout)
         && mtl_layout_get_packed_bytes (&dest->layout, &bytes->dest_first, &bytes->size)
         && mtl_layout_get_packed_bytes (&source->layout, &bytes->source_first, &bytes->size)
         && bytes->size > 0;
}

/* Lanes of only one of the two match an axis of the other. Conversions work on single numbers. The
 * source is broadcast. */
static gboolean
match (MtlPlacedElements  *to,
       MtlPlacedElements  *from,
       const double       *factors,
       GError            **error)
{
  gboolean converts = factors != NULL
                      || !mtl_element_type_equal (to->strided.type, from->strided.type);

  if (to->strided.type.lanes != from->strided.type.lanes
      && (!mtl_placed_elements_spread_lanes (from, error)
          || !mtl_placed_elements_spread_lanes (to, error)))
    return FALSE;

  if (!mtl_layout_same_shape (from->strided.layout, to->strided.layout)
      && !mtl_placed_elements_broadcast_to (from, to->strided.layout, error))
    return FALSE;

  return !converts
         || (mtl_placed_elements_spread_lanes (from, error)
             && mtl_placed_elements_spread_lanes (to, error));
}

/* Progress counts the bytes written to the destination only. */
static MtlStridedView *
copy_quietly (MtlStridedView    *self,
              MtlDevice         *device,
              MtlStorageMode     mode,
              const MtlMonitor  *monitor,
              GError           **error)
{
  MtlMonitor silent = { get_cancellable (monitor), NULL, NULL };

  return mtl_strided_view_copy_to (self, device, mode, self->type, MTL_ORDER_C,
                                   monitor != NULL ? &silent : NULL, error);
}

static gboolean
copy_on_host (MtlStridedView    *dest,
              MtlStridedView    *source,
              const double      *factors,
              const MtlMonitor  *monitor,
              GError           **error)
{
  g_auto (MtlPlacedElements) from = { .layout = NULL };
  g_auto (MtlPlacedElements) to = { .layout = NULL };

  if (!mtl_placed_elements_init_read (&from, source, error)
      || !mtl_placed_elements_init_write (&to, dest, error))
    return FALSE;

  if (mtl_strided_may_overlap (&to.strided, &from.strided))
    {
      g_autoptr (MtlStridedView) temporary = copy_quietly (source, mtl_device_get_host (),
                                                           MTL_STORAGE_MODE_HOST, monitor, error);

      return temporary != NULL && copy_on_host (dest, temporary, factors, monitor, error);
    }

  return match (&to, &from, factors, error)
         && (factors != NULL
               ? mtl_strided_copy_scaled (&to.strided, &from.strided, factors, monitor, error)
               : mtl_strided_copy (&to.strided, &from.strided, monitor, error))
         && mtl_placed_elements_write_back (&to, error);
}

/* The bytes of two views of which both have their elements side by side. The last byte may have
 * bits of neither. */
static gboolean
get_whole_bytes (MtlStridedView  *dest,
                 MtlStridedView  *source,
                 Bytes           *bytes,
                 GError         **error)
{
  gint64 end;

  if (!mtl_layout_get_byte_bounds (&dest->layout, &bytes->dest_first, &end, error)
      || !mtl_layout_get_byte_bounds (&source->layout, &bytes->source_first, &end, error))
    return FALSE;

  bytes->size = end - bytes->source_first;
  return TRUE;
}

/* A graph would run with the temporary memory of a copy after that is freed. */
static gboolean
check_takes_temporary (MtlDevice  *engine,
                       GError    **error)
{
  MtlDeviceClass *klass = MTL_DEVICE_GET_CLASS (engine);

  return klass->check_runs == NULL
         || klass->check_runs (engine, "copy elements through other memory", error);
}

/* Copies elements to new memory of the device, side by side: all bytes at once. */
static MtlStridedView *
bring (MtlStridedView    *self,
       MtlDevice         *engine,
       const MtlMonitor  *monitor,
       GError           **error)
{
  g_autoptr (MtlStridedView) copy = NULL;
  g_autoptr (MtlStridedView) packed = NULL;
  MtlDevice *own = mtl_memory_get_engine (self->memory);
  gint64 first, size;
  gboolean is_packed = mtl_layout_get_packed_bytes (&self->layout, &first, &size);
  Bytes bytes;

  if (!is_packed && own != NULL && !check_takes_temporary (own, error))
    return NULL;

  packed = is_packed
             ? g_object_ref (self)
             : copy_quietly (self, own != NULL ? own : mtl_device_get_host (),
                             own != NULL ? MTL_STORAGE_MODE_PRIVATE : MTL_STORAGE_MODE_HOST,
                             monitor, error);
  if (packed == NULL)
    return NULL;

  copy = new_in_order (packed, engine, MTL_STORAGE_MODE_PRIVATE, self->type, MTL_ORDER_C, error);
  if (copy == NULL
      || !get_whole_bytes (copy, packed, &bytes, error)
      || !copy_bytes (copy, packed, &bytes, NULL, error))
    return NULL;

  return g_steal_pointer (&copy);
}

/* The result has the shape and the type of the destination. */
static gboolean
copy_result (MtlStridedView  *dest,
             MtlStridedView  *result,
             GError         **error)
{
  Bytes bytes;

  return can_copy_bytes (dest, result, &bytes)
           ? copy_bytes (dest, result, &bytes, NULL, error)
           : copy_on_host (dest, result, NULL, NULL, error);
}

static gboolean
copy_in_place (MtlDevice       *engine,
               MtlStridedView  *dest,
               MtlStridedView  *source,
               const double    *factors,
               gboolean        *is_done,
               GError         **error)
{
  g_auto (MtlPlacedElements) from = { .layout = NULL };
  g_auto (MtlPlacedElements) to = { .layout = NULL };

  mtl_placed_elements_init_on_device (&from, source);
  mtl_placed_elements_init_on_device (&to, dest);
  if (mtl_strided_may_overlap (&to.strided, &from.strided))
    {
      g_autoptr (MtlStridedView) temporary = NULL;

      if (!check_takes_temporary (engine, error))
        return FALSE;

      temporary = copy_quietly (source, engine, MTL_STORAGE_MODE_PRIVATE, NULL, error);
      return temporary != NULL && copy_in_place (engine, dest, temporary, factors, is_done, error);
    }

  if (!mtl_memory_begin_access_by (dest->memory, engine, error)
      || !mtl_memory_begin_access_by (source->memory, engine, error))
    return FALSE;

  mtl_memory_note_work (dest->memory);
  mtl_memory_note_work (source->memory);
  return match (&to, &from, factors, error)
         && MTL_DEVICE_GET_CLASS (engine)->copy_elements (engine, &to.strided, &from.strided,
                                                          factors, is_done, error)
         && mtl_memory_end_work (dest->memory, engine, error)
         && mtl_memory_end_work (source->memory, engine, error);
}

/* Elements that the device does not reach pass through memory of its own, in the type that they
 * have there. */
static gboolean
copy_on_device (MtlDevice         *engine,
                MtlStridedView    *dest,
                MtlStridedView    *source,
                const double      *factors,
                const MtlMonitor  *monitor,
                gboolean          *is_done,
                GError           **error)
{
  gboolean brings = !mtl_placed_elements_are_reached_by (source, engine);
  gboolean takes_away = !mtl_placed_elements_are_reached_by (dest, engine);
  g_autoptr (MtlStridedView) brought = NULL;
  g_autoptr (MtlStridedView) result = NULL;

  if (!mtl_monitor_check (monitor, error)
      || ((brings || takes_away) && !check_takes_temporary (engine, error)))
    return FALSE;

  if (brings)
    {
      brought = bring (source, engine, monitor, error);
      if (brought == NULL)
        return FALSE;
      source = brought;
    }

  if (!takes_away)
    return copy_in_place (engine, dest, source, factors, is_done, error);

  result = new_in_order (dest, engine, MTL_STORAGE_MODE_PRIVATE, dest->type, MTL_ORDER_C, error);
  if (result == NULL || !copy_in_place (engine, result, source, factors, is_done, error))
    return FALSE;

  return !*is_done || copy_result (dest, result, error);
}

/* Broadcasts source to the shape of dest. With factors, the elements are scaled. */
static gboolean
copy_elements (MtlStridedView    *dest,
               MtlStridedView    *source,
               const double      *factors,
               const MtlMonitor  *monitor,
               GError           **error)
{
  MtlDevice *engine;
  gboolean is_done = FALSE;
  Bytes bytes;

  if (factors == NULL && can_copy_bytes (dest, source, &bytes))
    return copy_bytes (dest, source, &bytes, monitor, error);

  engine = mtl_memory_get_engine (dest->memory);
  if (engine == NULL)
    engine = mtl_memory_get_engine (source->memory);
  if (engine != NULL && !mtl_layout_is_empty (&dest->layout)
      && !copy_on_device (engine, dest, source, factors, monitor, &is_done, error))
    return FALSE;

  if (!is_done)
    return copy_on_host (dest, source, factors, monitor, error);

  mtl_monitor_report (monitor, 1, 1, mtl_layout_count_bytes (&dest->layout));
  return TRUE;
}

MtlStridedView *
mtl_strided_view_copy_to (MtlStridedView    *self,
                          MtlDevice         *device,
                          MtlStorageMode     mode,
                          MtlElementType     type,
                          MtlOrder           order,
                          const MtlMonitor  *monitor,
                          GError           **error)
{
  MTL_USE_VIEW (self);
  g_autoptr (MtlStridedView) copy = new_in_order (self, device, mode, type, order, error);

  if (copy == NULL || !copy_elements (copy, self, NULL, monitor, error))
    return NULL;

  return g_steal_pointer (&copy);
}

static MtlStridedView *
copy_to_type (MtlStridedView    *self,
              MtlElementType     type,
              MtlOrder           order,
              const MtlMonitor  *monitor,
              GError           **error)
{
  MTL_USE_VIEW (self);
  MtlStorageMode mode;
  MtlDevice *device = mtl_memory_get_copy_device (self->memory, &mode);

  return mtl_strided_view_copy_to (self, device, mode, type, order, monitor, error);
}

/* The view itself if it lies in that order. */
static MtlStridedView *
get_in_order (MtlStridedView    *self,
              MtlOrder           order,
              const MtlMonitor  *monitor,
              GError           **error)
{
  if (order == MTL_ORDER_K || mtl_layout_is_contiguous (&self->layout, order))
    return g_object_ref (self);

  return copy_to_type (self, self->type, order, monitor, error);
}

/**
 * mtl_strided_view_copy_from:
 * @self: the view to write to
 * @source: the view to read
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Copies all elements of @source into @self, and converts them to its element
 * type. @source is broadcast to the shape of @self. If the two share memory,
 * the result is the same as with a temporary copy of @source.
 *
 * Integers that do not fit wrap around. Floats are truncated towards zero to
 * become integers; values out of range become the nearest integer in range, and
 * NaN becomes 0. Real elements take the real part of complex numbers. Floats
 * are rounded to the nearest value, ties to even; values beyond the largest
 * become infinity or NaN, whichever the type has, or else the largest value.
 *
 * If the element types differ, the lanes of vectors count as one more axis, the
 * last.
 *
 * Errors:
 *
 * - %MTL_ERROR_READ_ONLY: @self is read-only
 * - %MTL_ERROR_INVALID_ARGUMENT: the shapes are not compatible, or the lanes of
 *   one view would become a 65th axis
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: the library cannot access the elements
 * - %MTL_ERROR_NOT_SUPPORTED: the element types cannot be converted, or a
 *   device cannot copy the last bytes of its memory
 * - %MTL_ERROR_OVERFLOW: the number of all lanes or one of their offsets does
 *   not fit in 63 bits
 * - %MTL_ERROR_NO_MEMORY: a temporary copy cannot be allocated
 * - %MTL_ERROR_DEVICE: a device failed; some of the elements may be written
 * - %G_IO_ERROR_CANCELLED: the operation was cancelled
 *
 * After any other error nothing was written.
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_strided_view_copy_from (MtlStridedView  *self,
                            MtlStridedView  *source,
                            GCancellable    *cancellable,
                            GError         **error)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), FALSE);
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (source), FALSE);

  return mtl_strided_view_copy_from_monitored (self, source, MTL_MONITOR (cancellable), error);
}

gboolean
mtl_strided_view_copy_from_monitored (MtlStridedView    *self,
                                      MtlStridedView    *source,
                                      const MtlMonitor  *monitor,
                                      GError           **error)
{
  MTL_USE_VIEW (self);
  MTL_USE_VIEW (source);

  return mtl_strided_view_check_writable (self, error)
         && copy_elements (self, source, NULL, monitor, error);
}

/**
 * mtl_strided_view_copy_scaled_from:
 * @self: the view to write to
 * @source: the view to read
 * @scale: the factor of the elements
 * @offset: the number that is added then
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Sets all elements of @self to `source * scale + offset`, converted to its
 * element type, reading and writing the memory once. This is how pictures of
 * bytes become floats from 0 to 1, and back:
 *
 * ```c
 * if (!mtl_strided_view_copy_scaled_from (floats, pixels, 1 / 255.0, 0, NULL, error)
 *     || !mtl_strided_view_copy_scaled_from (pixels, floats, 255, 0, NULL, error))
 *   return FALSE;
 * ```
 *
 * @source is broadcast to the shape of @self. If the two share memory, the
 * result is the same as with a temporary copy of @source. The lanes of vectors
 * count as one more axis, the last.
 *
 * Elements become doubles, which rounds integers beyond 2^53, and so are their
 * product and sum. These are then rounded to the element type of @self: to the
 * nearest value, ties to even, also for integers, unlike with
 * [method@Mtl.StridedView.copy_from]. Integers are limited to the range of
 * their type, and NaN becomes 0. Floats beyond the largest become infinity or
 * NaN, whichever the type has, or else the largest value. Truth values are 0
 * and 1, and everything but 0 is true. The imaginary part of a complex number
 * is multiplied too, but @offset is only added to the real part; real elements
 * take the real part alone.
 *
 * If @scale is 1, @offset is 0 and both element types are the same, the
 * elements are copied as they are.
 *
 * Errors:
 *
 * - %MTL_ERROR_NOT_SUPPORTED: the elements of either view are not numbers
 * - the errors of [method@Mtl.StridedView.copy_from]
 * - %G_IO_ERROR_CANCELLED: the operation was cancelled
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_strided_view_copy_scaled_from (MtlStridedView  *self,
                                   MtlStridedView  *source,
                                   double           scale,
                                   double           offset,
                                   GCancellable    *cancellable,
                                   GError         **error)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), FALSE);
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (source), FALSE);

  return mtl_strided_view_copy_scaled_from_monitored (self, source, scale, offset,
                                                      MTL_MONITOR (cancellable), error);
}

gboolean
mtl_strided_view_copy_scaled_from_monitored (MtlStridedView    *self,
                                             MtlStridedView    *source,
                                             double             scale,
                                             double             offset,
                                             const MtlMonitor  *monitor,
                                             GError           **error)
{
  const double factors[] = { scale, offset };
  MTL_USE_VIEW (self);
  MTL_USE_VIEW (source);
  gboolean is_plain = scale == 1 && offset == 0
                      && mtl_element_type_equal (self->type, source->type);

  return mtl_strided_view_check_writable (self, error)
         && mtl_element_type_check_numeric (self->type, error)
         && mtl_element_type_check_numeric (source->type, error)
         && copy_elements (self, source, is_plain ? NULL : factors, monitor, error);
}

/**
 * mtl_strided_view_copy:
 * @self: a view
 * @order: the order of the axes in memory
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Copies all elements into new memory, where they lie side by side: on the same
 * device in the same storage mode, or on the host if the library has no backend
 * for the device.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: @order is not a valid order
 * - %MTL_ERROR_NO_MEMORY: the memory cannot be allocated
 * - %MTL_ERROR_OVERFLOW: the size does not fit in 63 bits, which can happen if
 *   elements are repeated
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: the library cannot read the elements
 * - %MTL_ERROR_NOT_SUPPORTED: the device cannot copy the last bytes of its
 *   memory
 * - %MTL_ERROR_DEVICE: the device failed
 * - %G_IO_ERROR_CANCELLED: the operation was cancelled
 *
 * Returns: (transfer full): a writable view of the copy
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_copy (MtlStridedView  *self,
                       MtlOrder         order,
                       GCancellable    *cancellable,
                       GError         **error)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);

  return mtl_strided_view_copy_monitored (self, order, MTL_MONITOR (cancellable), error);
}

MtlStridedView *
mtl_strided_view_copy_monitored (MtlStridedView    *self,
                                 MtlOrder           order,
                                 const MtlMonitor  *monitor,
                                 GError           **error)
{
  return copy_to_type (self, self->type, order, monitor, error);
}

/**
 * mtl_strided_view_to_contiguous:
 * @self: a view
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Gets a view whose elements lie side by side in C order: @self if they already
 * do, or else a copy.
 *
 * Errors:
 *
 * - the errors of [method@Mtl.StridedView.copy]
 * - %G_IO_ERROR_CANCELLED: the operation was cancelled
 *
 * Returns: (transfer full): the view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_to_contiguous (MtlStridedView  *self,
                                GCancellable    *cancellable,
                                GError         **error)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);

  return mtl_strided_view_to_contiguous_monitored (self, MTL_MONITOR (cancellable), error);
}

MtlStridedView *
mtl_strided_view_to_contiguous_monitored (MtlStridedView    *self,
                                          const MtlMonitor  *monitor,
                                          GError           **error)
{
  MTL_USE_VIEW (self);

  return get_in_order (self, MTL_ORDER_C, monitor, error);
}

/**
 * mtl_strided_view_to_dtype:
 * @self: a view
 * @dtype: the element type
 * @order: the order of the axes in memory, may be %MTL_ORDER_K
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Gets a view with the given element type: @self if it already has that type
 * and lies in that order, or else a copy whose elements are converted by the
 * rules of [method@Mtl.StridedView.copy_from]. Any view of the type lies in
 * %MTL_ORDER_K. The lanes of vectors become one more axis, the last.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: @dtype is not a known element type, @order is
 *   not a valid order, or the lanes would become a 65th axis
 * - the errors of [method@Mtl.StridedView.copy_from] and
 *   [method@Mtl.StridedView.copy]
 * - %G_IO_ERROR_CANCELLED: the operation was cancelled
 *
 * Returns: (transfer full): the view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_to_dtype (MtlStridedView  *self,
                           MtlDType         dtype,
                           MtlOrder         order,
                           GCancellable    *cancellable,
                           GError         **error)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);

  return mtl_strided_view_to_dtype_monitored (self, dtype, order, MTL_MONITOR (cancellable),
                                              error);
}

MtlStridedView *
mtl_strided_view_to_dtype_monitored (MtlStridedView    *self,
                                     MtlDType           dtype,
                                     MtlOrder           order,
                                     const MtlMonitor  *monitor,
                                     GError           **error)
{
  MTL_USE_VIEW (self);
  MtlElementType type;

  if (!mtl_dtype_check (dtype, error) || !mtl_order_check (order, error))
    return NULL;

  type = mtl_element_type_new (dtype);
  if (mtl_element_type_equal (self->type, type))
    return get_in_order (self, order, monitor, error);

  if (!mtl_element_type_check_numeric (type, error)
      || !mtl_element_type_check_numeric (self->type, error))
    return NULL;

  return copy_to_type (self, type, order, monitor, error);
}

/**
 * mtl_strided_view_to_device:
 * @self: a view
 * @device: a device
 * @storage_mode: the storage mode of the memory, may be
 *   %MTL_STORAGE_MODE_DEFAULT
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Gets a view on the given device in the given storage mode: @self if it
 * already is there, or else a copy in C order.
 *
 * Errors:
 *
 * - %MTL_ERROR_NOT_SUPPORTED: the device does not support @storage_mode
 * - the errors of [method@Mtl.StridedView.copy]
 * - %G_IO_ERROR_CANCELLED: the operation was cancelled
 *
 * Returns: (transfer full): the view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_to_device (MtlStridedView  *self,
                            MtlDevice       *device,
                            MtlStorageMode   storage_mode,
                            GCancellable    *cancellable,
                            GError         **error)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);
  g_return_val_if_fail (MTL_IS_DEVICE (device), NULL);

  return mtl_strided_view_to_device_monitored (self, device, storage_mode,
                                               MTL_MONITOR (cancellable), error);
}

MtlStridedView *
mtl_strided_view_to_device_monitored (MtlStridedView    *self,
                                      MtlDevice         *device,
                                      MtlStorageMode     storage_mode,
                                      const MtlMonitor  *monitor,
                                      GError           **error)
{
  MTL_USE_VIEW (self);

  storage_mode = mtl_device_resolve_storage_mode (device, storage_mode);
  if (mtl_strided_view_get_device (self) == device && self->memory->storage_mode == storage_mode)
    return g_object_ref (self);

  return mtl_strided_view_copy_to (self, device, storage_mode, self->type, MTL_ORDER_C, monitor,
                                   error);
}

/**
 * mtl_strided_view_get_bytes:
 * @self: a view
 * @error: return location for a [error@Mtl.Error]
 *
 * Gets the elements as [struct@GLib.Bytes], without a copy. The rules of
 * [method@Mtl.Buffer.get_bytes] apply. In particular, never write through the
 * bytes, or in gjs to the array that `toArray()` returns: if the view is of a
 * mapped file, that ends the program.
 *
 * Errors:
 *
 * - %MTL_ERROR_NEEDS_COPY: the elements do not lie side by side in C order, or
 *   they are smaller than a byte and begin or end within one
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: the host cannot access the elements
 *
 * Returns: (transfer full): the bytes
 *
 * Since: 1.0
 */
GBytes *
mtl_strided_view_get_bytes (MtlStridedView  *self,
                            GError         **error)
{
  gint64 start, size;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);

  if (!mtl_memory_check_host_accessible (self->memory, error))
    return NULL;

  if (!mtl_layout_get_packed_bytes (&self->layout, &start, &size))
    {
      g_autofree char *string = mtl_layout_to_string (&self->layout);

      g_set_error (error, MTL_ERROR, MTL_ERROR_NEEDS_COPY,
                   "A layout of %s cannot be accessed as bytes without a copy", string);
      return NULL;
    }

  if (size == 0)
    return g_bytes_new_static (NULL, 0);

  return g_bytes_new_with_free_func (mtl_strided_view_get_data (self), size,
                                     (GDestroyNotify) mtl_memory_unref,
                                     mtl_memory_ref (self->memory));
}

/**
 * mtl_strided_view_dup_bytes:
 * @self: a view
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Copies the elements, in C order whatever the layout. If elements are smaller
 * than a byte, unused bits in the last byte are 0.
 *
 * Errors:
 *
 * - the errors of [method@Mtl.StridedView.copy]
 * - %G_IO_ERROR_CANCELLED: the operation was cancelled
 *
 * Returns: (transfer full): the bytes
 *
 * Since: 1.0
 */
GBytes *
mtl_strided_view_dup_bytes (MtlStridedView  *self,
                            GCancellable    *cancellable,
                            GError         **error)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);

  return mtl_strided_view_dup_bytes_monitored (self, MTL_MONITOR (cancellable), error);
}

GBytes *
mtl_strided_view_dup_bytes_monitored (MtlStridedView    *self,
                                      const MtlMonitor  *monitor,
                                      GError           **error)
{
  g_autoptr (MtlStridedView) copy = NULL;
  MtlBuffer *memory;

  copy = mtl_strided_view_copy_to (self, mtl_device_get_host (), MTL_STORAGE_MODE_HOST, self->type,
                                   MTL_ORDER_C, monitor, error);
  if (copy == NULL)
    return NULL;

  memory = mtl_strided_view_get_buffer (copy);
  return mtl_buffer_get_bytes (memory, 0, mtl_buffer_get_size (memory), error);
}
