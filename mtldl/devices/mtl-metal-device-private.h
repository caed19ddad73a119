/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-device-private.h"
#include "mtl-error.h"
#include "mtl-metal-tensor-private.h"

G_BEGIN_DECLS

#define MTL_TYPE_METAL_DEVICE (mtl_metal_device_get_type ())

G_DECLARE_FINAL_TYPE (MtlMetalDevice, mtl_metal_device, MTL, METAL_DEVICE, MtlDevice)

/* The properties of an existing id<MTLBuffer>. */
typedef struct
{
  MtlDevice *device;
  int ordinal;
  gpointer handle;
  gsize size;
  gpointer contents;
  MtlStorageMode storage_mode;
} MtlMetalBuffer;

/* Both return NULL in builds without Metal. */
GPtrArray *mtl_metal_device_get_all     (void);
MtlDevice *mtl_metal_device_get_default (void);
gboolean   mtl_metal_device_inspect_buffer (gpointer          handle,
                                            MtlError          wrong_object,
                                            MtlMetalBuffer   *buffer,
                                            GError          **error);

/* The version of macOS, for a device that has tensors, or 0 and an error. */
guint      mtl_metal_device_get_tensor_system (MtlDevice       *device,
                                               MtlStorageMode   mode,
                                               GError         **error);
gpointer   mtl_metal_device_new_tensor     (MtlDevice             *device,
                                            gpointer               handle,
                                            const MtlMetalTensor  *description,
                                            MtlMetalTensorUsage         usage,
                                            GError               **error);
/* The buffer is the tensor's. */
gboolean   mtl_metal_device_inspect_tensor (gpointer          tensor,
                                            MtlMetalTensor   *description,
                                            gpointer         *buffer,
                                            GError          **error);
void       mtl_metal_device_retain_tensor  (gpointer tensor);
void       mtl_metal_device_release_tensor (gpointer tensor);

G_END_DECLS
