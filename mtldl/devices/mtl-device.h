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
 * MtlDeviceClass:
 * @parent_class: the parent class
 * @supports_storage_mode: whether memory of that mode can be had
 * @allocate: allocates @size bytes, zeroed if so asked, aligned to 64 bytes at
 *   least, and gives the device's own handle of it; @size is never 0
 * @wrap_memory: makes memory of the host the device's without copying it, and
 *   gives the handle. It takes @owner if it succeeds: @destroy is called with
 *   it once nothing uses the memory any more. It fails with
 *   %MTL_ERROR_NOT_SUPPORTED where it cannot
 * @wrap_handle: takes part in an existing allocation of @size bytes at least,
 *   gives the handle to keep, and says of what mode it is; fails with
 *   %MTL_ERROR_NOT_SUPPORTED where it cannot
 * @free: gives back what one of the three above gave
 * @contents: the host's address of an allocation, or %NULL
 * @check_export: whether an allocation may be handed to another library
 * @copy: copies @size bytes between two allocations, at least one of which is
 *   this device's. An allocation of another device, or of the host, is given by
 *   its address and %MTL_STORAGE_MODE_HOST. The ranges are checked and may
 *   overlap
 * @fill: repeats a pattern over a range of an allocation; the range is checked
 *   and holds a whole number of patterns
 * @synchronize: waits for all work that was given to the device through this
 *   library
 * @synchronize_memory: makes what the device wrote to an allocation readable
 *   by the host
 * @did_modify: makes what the host wrote to an allocation visible to the device
 * @new_event: makes an event that starts at 0, and gives the device's own
 *   handle of it; devices that leave events out have those of the host
 * @wrap_event: takes part in an existing event
 * @free_event: gives back what one of the two above gave
 * @get_event_value: the value that an event has reached
 * @set_event_value: sets the value
 * @wait_event: waits until the value is reached, at most so many microseconds,
 *   and gives whether it was; may return earlier
 *
 * What a kind of device has to offer. A device that
 * leaves one out cannot do that.
 *
 * All of these can be called from any thread.
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
