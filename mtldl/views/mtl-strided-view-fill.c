/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Setting all elements of a view to the same value. */

#include "mtl-strided-view-private.h"

#include "mtl-error-private.h"
#include "mtl-host-elements-private.h"
#include "mtl-number-private.h"

/* Checks whether a device fills the view: the host cannot access the items, they
 * lie side by side, and their size is one that devices can repeat. */
static gboolean
is_filled_by_device (MtlStridedView *self,
                     guint           item_bits)
{
  return !mtl_memory_is_host_accessible (self->memory)
         && item_bits >= 8 && item_bits <= 128 && (item_bits & (item_bits - 1)) == 0
         && mtl_layout_is_contiguous (&self->layout, MTL_ORDER_ANY);
}

/* A device fills everything at once, so there is only one report. */
static gboolean
fill_by_device (MtlStridedView    *self,
                gconstpointer      item,
                gsize              item_size,
                const MtlMonitor  *monitor,
                GError           **error)
{
  gint64 first, end;

  if (!mtl_monitor_check (monitor, error)
      || !mtl_layout_get_byte_bounds (&self->layout, &first, &end, error)
      || (end > first
          && !mtl_memory_fill (self->memory, self->byte_offset + first, end - first, item,
                               item_size, error)))
    return FALSE;

  mtl_monitor_report (monitor, 1, 1, end - first);
  return TRUE;
}

/* The item is a whole element or one of its lanes. */
static gboolean
fill_items (MtlStridedView    *self,
            gconstpointer      item,
            gboolean           is_lane,
            const MtlMonitor  *monitor,
            GError           **error)
{
  guint item_bits = is_lane ? mtl_element_type_get_lane_bits (self->type)
                            : self->layout.item_bits;
  g_auto (MtlHostElements) elements = { .layout = NULL };

  if (is_filled_by_device (self, item_bits))
    return fill_by_device (self, item, item_bits / 8, monitor, error);

  if (!mtl_host_elements_init_write (&elements, self, error)
      || (is_lane && !mtl_host_elements_spread_lanes (&elements, error)))
    return FALSE;

  return mtl_strided_fill (&elements.strided, item, monitor, error)
         && mtl_host_elements_write_back (&elements, error);
}

/**
 * mtl_strided_view_fill:
 * @self: a view
 * @element: the bytes of one element
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Sets all elements to the value that has the given bytes in memory. This works
 * for any element type. If the size of an element is not a whole number of
 * bytes, as with elements of 4 bits, the value is in the low bits. For vectors,
 * @element holds all lanes.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: @element has the wrong size
 * - %MTL_ERROR_READ_ONLY: the view is read-only
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: the library cannot access the elements
 * - %MTL_ERROR_NOT_SUPPORTED: the device cannot copy the last bytes of its
 *   memory
 * - %MTL_ERROR_NO_MEMORY: host memory for a copy of a device's elements cannot
 *   be allocated
 * - %MTL_ERROR_DEVICE: the device failed; some of the elements may be written
 * - %G_IO_ERROR_CANCELLED: the operation was cancelled
 *
 * After any other error nothing was written.
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_strided_view_fill (MtlStridedView  *self,
                       GBytes          *element,
                       GCancellable    *cancellable,
                       GError         **error)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), FALSE);
  g_return_val_if_fail (element != NULL, FALSE);

  return mtl_strided_view_fill_monitored (self, element, MTL_MONITOR (cancellable), error);
}

gboolean
mtl_strided_view_fill_monitored (MtlStridedView    *self,
                                 GBytes            *element,
                                 const MtlMonitor  *monitor,
                                 GError           **error)
{
  MTL_USE_VIEW (self);
  gsize needed = ((gsize) self->layout.item_bits + 7) / 8, size;
  gconstpointer data = g_bytes_get_data (element, &size);

  if (size != needed)
    {
      g_autofree char *name = mtl_element_type_to_string (self->type);

      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "%" G_GSIZE_FORMAT " byte%s given for an element of type %s, which takes %"
                   G_GSIZE_FORMAT, size, MTL_S (size), name, needed);
      return FALSE;
    }

  return mtl_strided_view_check_writable (self, error)
         && fill_items (self, data, FALSE, monitor, error);
}

/**
 * mtl_strided_view_fill_double:
 * @self: a view
 * @value: the value of each element
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Sets all elements to the same value, rounded by the rules of
 * [method@Mtl.StridedView.set_double].
 *
 * Errors:
 *
 * - %MTL_ERROR_READ_ONLY: the view is read-only
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: the library cannot access the elements
 * - %MTL_ERROR_NOT_SUPPORTED: the elements are not numbers, or the device
 *   cannot copy the last bytes of its memory
 * - %MTL_ERROR_OVERFLOW: an integer element cannot hold the value, or the
 *   number of all lanes or one of their offsets does not fit in 63 bits
 * - %MTL_ERROR_NO_MEMORY: host memory for a copy of a device's elements cannot
 *   be allocated
 * - %MTL_ERROR_DEVICE: the device failed; some of the elements may be written
 * - %G_IO_ERROR_CANCELLED: the operation was cancelled
 *
 * After any other error nothing was written.
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_strided_view_fill_double (MtlStridedView  *self,
                              double           value,
                              GCancellable    *cancellable,
                              GError         **error)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), FALSE);

  return mtl_strided_view_fill_double_monitored (self, value, MTL_MONITOR (cancellable), error);
}

gboolean
mtl_strided_view_fill_double_monitored (MtlStridedView    *self,
                                        double             value,
                                        const MtlMonitor  *monitor,
                                        GError           **error)
{
  MTL_USE_VIEW (self);
  MtlNumber number = mtl_number_from_double (value);
  guint8 item[16] = { 0 };

  if (!mtl_strided_view_check_writable (self, error)
      || !mtl_element_type_check_numeric (self->type, error)
      || !mtl_number_check_fits (number, mtl_element_type_get_dtype (self->type), error))
    return FALSE;

  mtl_number_store (number, self->type, item, 0);
  return fill_items (self, item, TRUE, monitor, error);
}

/**
 * mtl_strided_view_new_filled: (constructor)
 * @device: (nullable): a device, or %NULL for the default device, or for the
 *   host if @storage_mode is %MTL_STORAGE_MODE_HOST
 * @dtype: the element type
 * @shape: (array length=n_dims): the extents
 * @n_dims: the number of dimensions
 * @value: the value of each element
 * @storage_mode: the storage mode of the memory, may be
 *   %MTL_STORAGE_MODE_DEFAULT
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a tensor whose elements all have the same value.
 *
 * Errors:
 *
 * - the errors of [ctor@Mtl.StridedView.new_zeros] and
 *   [method@Mtl.StridedView.fill_double]
 *
 * Returns: (transfer full): the new view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_new_filled (MtlDevice       *device,
                             MtlDType         dtype,
                             const gint64    *shape,
                             gsize            n_dims,
                             double           value,
                             MtlStorageMode   storage_mode,
                             GError         **error)
{
  g_autoptr (MtlStridedView) self = NULL;

  g_return_val_if_fail (device == NULL || MTL_IS_DEVICE (device), NULL);
  g_return_val_if_fail (shape != NULL || n_dims == 0, NULL);

  self = mtl_strided_view_new_uninitialized (device, dtype, shape, n_dims, storage_mode, error);
  if (self == NULL || !mtl_strided_view_fill_double (self, value, NULL, error))
    return NULL;

  return g_steal_pointer (&self);
}
