/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-device.h"
#include "mtl-error.h"

G_BEGIN_DECLS

#define MTL_TYPE_METAL_DEVICE (mtl_metal_device_get_type ())

G_DECLARE_FINAL_TYPE (MtlMetalDevice, mtl_metal_device, MTL, METAL_DEVICE, MtlDevice)

/* Blits may have to move whole words of so many bytes. */
#define MTL_METAL_WORD_SIZE 4

/* An existing id<MTLBuffer>, and what it says of itself. */
typedef struct
{
  MtlDevice *device;
  int ordinal;
  gpointer handle;
  gsize size;
  gpointer contents;
  MtlStorageMode storage_mode;
} MtlMetalBuffer;

/* NULL, both of them, where Metal is not built in. */
GPtrArray *mtl_metal_device_get_all     (void);
MtlDevice *mtl_metal_device_get_default (void);
gboolean   mtl_metal_device_inspect_buffer (gpointer          handle,
                                            MtlError          wrong_object,
                                            MtlMetalBuffer   *buffer,
                                            GError          **error);

gpointer   mtl_metal_device_get_queue   (MtlMetalDevice   *self,
                                         GError          **error);
gboolean   mtl_metal_device_blits_bytes (MtlMetalDevice   *self);
gboolean   mtl_metal_device_copy        (MtlDevice        *device,
                                         gpointer          dest_handle,
                                         MtlStorageMode    dest_mode,
                                         gsize             dest_offset,
                                         gpointer          source_handle,
                                         MtlStorageMode    source_mode,
                                         gsize             source_offset,
                                         gsize             size,
                                         GCancellable     *cancellable,
                                         GError          **error);
gboolean   mtl_metal_device_fill        (MtlDevice        *device,
                                         gpointer          handle,
                                         MtlStorageMode    mode,
                                         gsize             offset,
                                         gsize             size,
                                         gconstpointer     pattern,
                                         gsize             pattern_size,
                                         GError          **error);

G_END_DECLS
