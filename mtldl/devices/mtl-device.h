/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#if !defined (MTLDL_INSIDE) && !defined (MTLDL_COMPILATION)
#error "Only <mtldl/mtldl.h> can be included directly."
#endif

#include <gio/gio.h>

#include "mtl-enums.h"

G_BEGIN_DECLS

#define MTL_TYPE_DEVICE (mtl_device_get_type ())

typedef struct _MtlDevice MtlDevice;

MTL_AVAILABLE_IN_1_0
GType mtl_device_get_type (void) G_GNUC_CONST;

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MtlDevice, g_object_unref)

G_GNUC_BEGIN_IGNORE_DEPRECATIONS
G_GNUC_UNUSED static inline MtlDevice *
MTL_DEVICE (gpointer object)
{
  return G_TYPE_CHECK_INSTANCE_CAST (object, MTL_TYPE_DEVICE, MtlDevice);
}

G_GNUC_UNUSED static inline gboolean
MTL_IS_DEVICE (gpointer object)
{
  return G_TYPE_CHECK_INSTANCE_TYPE (object, MTL_TYPE_DEVICE);
}
G_GNUC_END_IGNORE_DEPRECATIONS

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
MtlDevice     *mtl_device_get_by_name           (const char      *name,
                                                 GError         **error);
MTL_AVAILABLE_IN_1_0
MtlDeviceType  mtl_device_get_device_type       (MtlDevice       *self);
MTL_AVAILABLE_IN_1_0
int            mtl_device_get_ordinal    (MtlDevice       *self);
MTL_AVAILABLE_IN_1_0
const char    *mtl_device_get_name              (MtlDevice       *self);
MTL_AVAILABLE_IN_1_0
const char    *mtl_device_get_uuid              (MtlDevice       *self);
MTL_AVAILABLE_IN_1_0
gboolean       mtl_device_is_host_accessible    (MtlDevice       *self);
MTL_AVAILABLE_IN_1_0
gboolean       mtl_device_has_unified_memory    (MtlDevice       *self);
MTL_AVAILABLE_IN_1_0
guint64        mtl_device_get_max_buffer_size   (MtlDevice       *self);
MTL_AVAILABLE_IN_1_0
guint64        mtl_device_get_memory_size       (MtlDevice       *self);
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
