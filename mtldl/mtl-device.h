/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#if !defined (MTLDL_INSIDE) && !defined (MTLDL_COMPILATION)
#error "Only <mtldl/mtldl.h> can be included directly."
#endif

#include <gio/gio.h>

#include "mtl-enums.h"

G_BEGIN_DECLS

/* Declared here, as a device copies between buffers; defined in mtl-buffer.h. */
#define MTL_TYPE_BUFFER (mtl_buffer_get_type ())

MTL_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (MtlBuffer, mtl_buffer, MTL, BUFFER, GObject)

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
 *   gives the handle; fails with %MTL_ERROR_NOT_SUPPORTED where it cannot
 * @wrap_handle: takes part in an existing allocation, and gives the handle to
 *   keep; fails with %MTL_ERROR_NOT_SUPPORTED where it cannot
 * @free: gives back what one of the three above gave
 * @contents: the host's address of an allocation, or %NULL
 * @copy: copies @size bytes between buffers, of which one at least is of this
 *   device; the ranges are checked, and may overlap
 * @fill: repeats a pattern over a range, which is checked
 * @synchronize: waits for all work that was given to the device
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
                                      GError         **error);
  gpointer (* wrap_handle)           (MtlDevice       *self,
                                      gpointer         handle,
                                      gsize            size,
                                      GError         **error);
  void     (* free)                  (MtlDevice       *self,
                                      gpointer         handle,
                                      MtlStorageMode   mode);
  gpointer (* contents)              (MtlDevice       *self,
                                      gpointer         handle,
                                      MtlStorageMode   mode);
  gboolean (* copy)                  (MtlDevice       *self,
                                      MtlBuffer       *dest,
                                      gsize            dest_offset,
                                      MtlBuffer       *source,
                                      gsize            source_offset,
                                      gsize            size,
                                      GCancellable    *cancellable,
                                      GError         **error);
  gboolean (* fill)                  (MtlDevice       *self,
                                      MtlBuffer       *dest,
                                      gsize            offset,
                                      gsize            size,
                                      gconstpointer    pattern,
                                      gsize            pattern_size,
                                      GError         **error);
  gboolean (* synchronize)           (MtlDevice       *self,
                                      GCancellable    *cancellable,
                                      GError         **error);

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

G_END_DECLS
