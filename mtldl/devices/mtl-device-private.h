/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-device.h"

G_BEGIN_DECLS

struct _MtlDevice
{
  GObject parent_instance;
};

/* The operations of a kind of device. It does not support the operations that it leaves
 * unimplemented. All functions can be called from any thread, and a handle is the
 * device's own. */
typedef struct _MtlDeviceClass MtlDeviceClass;

struct _MtlDeviceClass
{
  GObjectClass parent_class;

  /* Checks whether memory with a storage mode can be allocated. No function is called with
   * MTL_STORAGE_MODE_DEFAULT. */
  gboolean (* supports_storage_mode) (MtlDevice       *self,
                                      MtlStorageMode   mode);

  /* Allocates size bytes, which is never 0, aligned to at least 64 bytes and cleared if zeroed
   * is TRUE; returns the device's handle for the allocation. */
  gpointer (* allocate)              (MtlDevice       *self,
                                      gsize            size,
                                      MtlStorageMode   mode,
                                      gboolean         zeroed,
                                      GError         **error);

  /* Makes host memory available to the device without a copy; returns the handle. On success it
   * takes owner, and calls destroy with it once the memory is no longer used. Fails with
   * MTL_ERROR_NOT_SUPPORTED if the device cannot use the memory. */
  gpointer (* wrap_memory)           (MtlDevice       *self,
                                      gpointer         data,
                                      gsize            size,
                                      gpointer         owner,
                                      GDestroyNotify   destroy,
                                      GError         **error);

  /* Takes a reference to an existing allocation of at least size bytes and sets mode to its
   * storage mode; returns the handle to keep. Fails with MTL_ERROR_NOT_SUPPORTED if the device
   * cannot use the allocation. */
  gpointer (* wrap_handle)           (MtlDevice       *self,
                                      gpointer         handle,
                                      gsize            size,
                                      MtlStorageMode  *mode,
                                      GError         **error);

  /* Releases a handle that allocate(), wrap_memory() or wrap_handle() returned. */
  void     (* free)                  (MtlDevice       *self,
                                      gpointer         handle,
                                      MtlStorageMode   mode);

  /* Returns the host address of an allocation, or NULL if it has none. */
  gpointer (* contents)              (MtlDevice       *self,
                                      gpointer         handle,
                                      MtlStorageMode   mode);

  /* Checks whether an allocation may be passed to another library. */
  gboolean (* check_export)          (MtlDevice       *self,
                                      gpointer         handle,
                                      MtlStorageMode   mode,
                                      GError         **error);

  /* Copies size bytes between two allocations, at least one of which belongs to this device.
   * Memory of the host or of another device is passed by its host address, with
   * MTL_STORAGE_MODE_HOST. The ranges are within the allocations, not empty, and may overlap. If
   * the host writes to managed memory of this device on the way, this function makes that
   * visible to the device. */
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

  /* Fills a range of an allocation with a repeated pattern; the range is within the allocation
   * and not empty, and its size is a multiple of pattern_size. */
  gboolean (* fill)                  (MtlDevice       *self,
                                      gpointer         handle,
                                      MtlStorageMode   mode,
                                      gsize            offset,
                                      gsize            size,
                                      gconstpointer    pattern,
                                      gsize            pattern_size,
                                      GError         **error);

  /* Waits until all work submitted through this library is finished. */
  gboolean (* synchronize)           (MtlDevice       *self,
                                      GCancellable    *cancellable,
                                      GError         **error);

  /* Makes the device's writes to an allocation visible to the host. */
  gboolean (* synchronize_memory)    (MtlDevice       *self,
                                      gpointer         handle,
                                      MtlStorageMode   mode,
                                      GError         **error);

  /* Makes the host's writes to an allocation visible to the device. */
  void     (* did_modify)            (MtlDevice       *self,
                                      gpointer         handle,
                                      MtlStorageMode   mode,
                                      gsize            offset,
                                      gsize            size);

  /* Creates an event that starts at 0; returns the device's handle for the event. A device
   * without this function uses host events. */
  gpointer (* new_event)             (MtlDevice       *self,
                                      GError         **error);

  /* Takes a reference to an existing event; returns the handle to keep. */
  gpointer (* wrap_event)            (MtlDevice       *self,
                                      gpointer         handle,
                                      GError         **error);

  /* Releases a handle that new_event() or wrap_event() returned. */
  void     (* free_event)            (MtlDevice       *self,
                                      gpointer         event);

  /* Returns the value that an event has reached. */
  guint64  (* get_event_value)       (MtlDevice       *self,
                                      gpointer         event);

  /* Sets the value of an event. */
  void     (* set_event_value)       (MtlDevice       *self,
                                      gpointer         event,
                                      guint64          value);

  /* Waits until an event reaches value, for at most timeout microseconds; returns whether it
   * did, and may return early. */
  gboolean (* wait_event)            (MtlDevice       *self,
                                      gpointer         event,
                                      guint64          value,
                                      gint64           timeout);
};

#define MTL_DEVICE_CLASS(klass) \
  (G_TYPE_CHECK_CLASS_CAST ((klass), MTL_TYPE_DEVICE, MtlDeviceClass))
#define MTL_DEVICE_GET_CLASS(self) \
  (G_TYPE_INSTANCE_GET_CLASS ((self), MTL_TYPE_DEVICE, MtlDeviceClass))

MtlDeviceType mtl_device_type_from_number (gint32 number);

/* The mode that a requested one stands for: MTL_STORAGE_MODE_DEFAULT only if
 * nothing can be allocated on the device. */
MtlStorageMode mtl_device_resolve_storage_mode (MtlDevice      *self,
                                                MtlStorageMode  mode);

/* Every read-modify-write of a device's memory goes between these two. The
 * calls may be nested. */
void          mtl_device_begin_update     (MtlDevice *self);
void          mtl_device_end_update       (MtlDevice *self);

G_END_DECLS
