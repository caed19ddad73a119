/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#if !defined (MTLDL_INSIDE) && !defined (MTLDL_COMPILATION)
#error "Only <mtldl/mtldl.h> can be included directly."
#endif

#include <gio/gio.h>

#include "mtl-enums.h"

G_BEGIN_DECLS

#define MTL_TYPE_DEVICE (mtl_device_get_type ())

MTL_AVAILABLE_IN_1_0
G_DECLARE_DERIVABLE_TYPE (MtlDevice, mtl_device, MTL, DEVICE, GObject)

/**
 * MtlDeviceClass::supports_storage_mode:
 * @mode: a storage mode
 *
 * Checks whether memory with a storage mode can be allocated.
 *
 * Returns: whether it can
 *
 * Since: 1.0
 */

/**
 * MtlDeviceClass::allocate:
 * @size: a number of bytes
 * @mode: where they are
 * @zeroed: whether they are cleared
 *
 * Allocates @size bytes, which is never 0, aligned to at least 64 bytes and
 * cleared if @zeroed is %TRUE; returns the device's handle for the allocation.
 *
 * Returns: the device's handle for the allocation
 *
 * Since: 1.0
 */

/**
 * MtlDeviceClass::wrap_memory:
 * @data: the address of the memory
 * @size: its size in bytes
 * @owner: data to pass to @destroy
 * @destroy: (scope async): called when the memory is no longer used
 *
 * Makes host memory available to the device without a copy; returns the
 * handle. On success it takes @owner, and calls @destroy with it once the
 * memory is no longer used. Fails with %MTL_ERROR_NOT_SUPPORTED if the device
 * cannot use the memory.
 *
 * Returns: the device's handle for the memory
 *
 * Since: 1.0
 */

/**
 * MtlDeviceClass::wrap_handle:
 * @handle: the handle of an allocation
 * @size: its least size in bytes
 * @mode: (out): return location for its storage mode
 *
 * Takes a reference to an existing allocation of at least @size bytes and sets
 * @mode to its storage mode; returns the handle to keep. Fails with
 * %MTL_ERROR_NOT_SUPPORTED if the device cannot use the allocation.
 *
 * Returns: the handle to keep
 *
 * Since: 1.0
 */

/**
 * MtlDeviceClass::free:
 * @handle: a handle
 * @mode: its storage mode
 *
 * Releases a handle that allocate(), wrap_memory() or wrap_handle() returned.
 *
 * Since: 1.0
 */

/**
 * MtlDeviceClass::contents:
 * @handle: a handle
 * @mode: its storage mode
 *
 * Returns the host address of an allocation, or %NULL if it has none.
 *
 * Returns: (nullable): the address
 *
 * Since: 1.0
 */

/**
 * MtlDeviceClass::check_export:
 * @handle: a handle
 * @mode: its storage mode
 *
 * Checks whether an allocation may be passed to another library.
 *
 * Returns: whether it may
 *
 * Since: 1.0
 */

/**
 * MtlDeviceClass::copy:
 * @dest: the handle or the address to write to
 * @dest_mode: its storage mode
 * @dest_offset: the first byte to write
 * @source: the handle or the address to read from
 * @source_mode: its storage mode
 * @source_offset: the first byte to read
 * @size: a number of bytes
 * @cancellable: (nullable): a cancellable
 *
 * Copies @size bytes between two allocations, at least one of which belongs to
 * this device. Memory of the host or of another device is passed by its host
 * address, with %MTL_STORAGE_MODE_HOST. The ranges are within the allocations,
 * not empty, and may overlap. If the host writes to managed memory of this
 * device on the way, this function makes that visible to the device.
 *
 * Returns: whether it worked
 *
 * Since: 1.0
 */

/**
 * MtlDeviceClass::fill:
 * @handle: a handle
 * @mode: its storage mode
 * @offset: the first byte to write
 * @size: a number of bytes
 * @pattern: the bytes to repeat
 * @pattern_size: their number
 *
 * Fills a range of an allocation with a repeated pattern; the range is within
 * the allocation and not empty, and its size is a multiple of @pattern_size.
 *
 * Returns: whether it worked
 *
 * Since: 1.0
 */

/**
 * MtlDeviceClass::synchronize:
 * @cancellable: (nullable): a cancellable
 *
 * Waits until all work submitted through this library is finished.
 *
 * Returns: whether it worked
 *
 * Since: 1.0
 */

/**
 * MtlDeviceClass::synchronize_memory:
 * @handle: a handle
 * @mode: its storage mode
 *
 * Makes the device's writes to an allocation visible to the host.
 *
 * Returns: whether it worked
 *
 * Since: 1.0
 */

/**
 * MtlDeviceClass::did_modify:
 * @handle: a handle
 * @mode: its storage mode
 * @offset: the first byte that was written
 * @size: their number
 *
 * Makes the host's writes to an allocation visible to the device.
 *
 * Since: 1.0
 */

/**
 * MtlDeviceClass::new_event:
 *
 * Creates an event that starts at 0; returns the device's handle for the
 * event. A device without this function uses host events.
 *
 * Returns: the device's handle for the event
 *
 * Since: 1.0
 */

/**
 * MtlDeviceClass::wrap_event:
 * @handle: the handle of an event
 *
 * Takes a reference to an existing event; returns the handle to keep.
 *
 * Returns: the handle to keep
 *
 * Since: 1.0
 */

/**
 * MtlDeviceClass::free_event:
 * @event: the handle of an event
 *
 * Releases a handle that new_event() or wrap_event() returned.
 *
 * Since: 1.0
 */

/**
 * MtlDeviceClass::get_event_value:
 * @event: the handle of an event
 *
 * Returns the value that an event has reached.
 *
 * Returns: the value
 *
 * Since: 1.0
 */

/**
 * MtlDeviceClass::set_event_value:
 * @event: the handle of an event
 * @value: the value
 *
 * Sets the value of an event.
 *
 * Since: 1.0
 */

/**
 * MtlDeviceClass::wait_event:
 * @event: the handle of an event
 * @value: a value
 * @timeout: the longest time in microseconds
 *
 * Waits until an event reaches @value, for at most @timeout microseconds;
 * returns whether it did, and may return early.
 *
 * Returns: whether it was reached
 *
 * Since: 1.0
 */

/**
 * MtlDeviceClass:
 * @parent_class: the parent class
 *
 * The virtual functions of a device.
 *
 * A device does not support the operations that it leaves unimplemented. All
 * functions can be called from any thread.
 *
 * Since: 1.0
 */
struct _MtlDeviceClass
{
  GObjectClass parent_class;

  gboolean (* supports_storage_mode) (MtlDevice       *self,
                                      MtlStorageMode   mode);
  gpointer (* allocate)              (MtlDevice       *self,
                                      gsize            size,
                                      MtlStorageMode   mode,
                                      gboolean         zeroed,
                                      GError         **error);
  gpointer (* wrap_memory)           (MtlDevice       *self,
                                      gpointer         data,
                                      gsize            size,
                                      gpointer         owner,
                                      GDestroyNotify   destroy,
                                      GError         **error);
  gpointer (* wrap_handle)           (MtlDevice       *self,
                                      gpointer         handle,
                                      gsize            size,
                                      MtlStorageMode  *mode,
                                      GError         **error);
  void     (* free)                  (MtlDevice       *self,
                                      gpointer         handle,
                                      MtlStorageMode   mode);
  gpointer (* contents)              (MtlDevice       *self,
                                      gpointer         handle,
                                      MtlStorageMode   mode);
  gboolean (* check_export)          (MtlDevice       *self,
                                      gpointer         handle,
                                      MtlStorageMode   mode,
                                      GError         **error);
  gboolean (* copy)                  (MtlDevice       *self,
                                      gpointer         dest,
                                      MtlStorageMode   dest_mode,
                                      gsize            dest_offset,
                                      gpointer         source,
                                      MtlStorageMode   source_mode,
                                      gsize            source_offset,
                                      gsize            size,
                                      GCancellable    *cancellable,
                                      GError         **error);
  gboolean (* fill)                  (MtlDevice       *self,
                                      gpointer         handle,
                                      MtlStorageMode   mode,
                                      gsize            offset,
                                      gsize            size,
                                      gconstpointer    pattern,
                                      gsize            pattern_size,
                                      GError         **error);
  gboolean (* synchronize)           (MtlDevice       *self,
                                      GCancellable    *cancellable,
                                      GError         **error);
  gboolean (* synchronize_memory)    (MtlDevice       *self,
                                      gpointer         handle,
                                      MtlStorageMode   mode,
                                      GError         **error);
  void     (* did_modify)            (MtlDevice       *self,
                                      gpointer         handle,
                                      MtlStorageMode   mode,
                                      gsize            offset,
                                      gsize            size);
  gpointer (* new_event)             (MtlDevice       *self,
                                      GError         **error);
  gpointer (* wrap_event)            (MtlDevice       *self,
                                      gpointer         handle,
                                      GError         **error);
  void     (* free_event)            (MtlDevice       *self,
                                      gpointer         event);
  guint64  (* get_event_value)       (MtlDevice       *self,
                                      gpointer         event);
  void     (* set_event_value)       (MtlDevice       *self,
                                      gpointer         event,
                                      guint64          value);
  gboolean (* wait_event)            (MtlDevice       *self,
                                      gpointer         event,
                                      guint64          value,
                                      gint64           timeout);

  /*< private >*/
  gpointer padding[8];
};

MTL_AVAILABLE_IN_1_0
MtlDevice     *mtl_device_get_host              (void);
MTL_AVAILABLE_IN_1_0
MtlDevice     *mtl_device_get_default           (void);
MTL_AVAILABLE_IN_1_0
GList         *mtl_device_list                  (void);
MTL_AVAILABLE_IN_1_0
MtlDevice     *mtl_device_get                   (MtlDeviceType    device_type,
                                                 int              ordinal,
                                                 GError         **error);
MTL_AVAILABLE_IN_1_0
MtlDeviceType  mtl_device_get_device_type       (MtlDevice       *self);
MTL_AVAILABLE_IN_1_0
int            mtl_device_get_device_ordinal    (MtlDevice       *self);
MTL_AVAILABLE_IN_1_0
const char    *mtl_device_get_name              (MtlDevice       *self);
MTL_AVAILABLE_IN_1_0
guint64        mtl_device_get_registry_id       (MtlDevice       *self);
MTL_AVAILABLE_IN_1_0
gboolean       mtl_device_is_host_accessible    (MtlDevice       *self);
MTL_AVAILABLE_IN_1_0
gboolean       mtl_device_has_unified_memory    (MtlDevice       *self);
MTL_AVAILABLE_IN_1_0
guint64        mtl_device_get_max_buffer_size   (MtlDevice       *self);
MTL_AVAILABLE_IN_1_0
guint64        mtl_device_get_page_size         (MtlDevice       *self);
MTL_AVAILABLE_IN_1_0
gboolean       mtl_device_supports_storage_mode (MtlDevice       *self,
                                                 MtlStorageMode   mode);
MTL_AVAILABLE_IN_1_0
gboolean       mtl_device_synchronize           (MtlDevice       *self,
                                                 GCancellable    *cancellable,
                                                 GError         **error);
MTL_AVAILABLE_IN_1_0
void           mtl_device_synchronize_async     (MtlDevice           *self,
                                                 GCancellable        *cancellable,
                                                 GAsyncReadyCallback  callback,
                                                 gpointer             user_data);
MTL_AVAILABLE_IN_1_0
gboolean       mtl_device_synchronize_finish    (MtlDevice       *self,
                                                 GAsyncResult    *result,
                                                 GError         **error);

G_END_DECLS
