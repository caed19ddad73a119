/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-device.h"
#include "mtl-error.h"

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

G_END_DECLS
