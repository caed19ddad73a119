/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-device.h"

G_BEGIN_DECLS

/* GPUs that are not made by Apple blit whole words of this many bytes. */
#define MTL_METAL_WORD_SIZE 4

/* Moves bytes on a device. */
typedef struct
{
  MtlDevice *device;
  gpointer queue;  /* id<MTLCommandQueue> */
  gsize word_size; /* a blit moves whole words; 1 if it may begin at any byte */
} MtlMetalBlitter;

gboolean mtl_metal_blitter_copy (const MtlMetalBlitter  *self,
                                 gpointer                dest_handle,
                                 MtlStorageMode          dest_mode,
                                 gsize                   dest_offset,
                                 gpointer                source_handle,
                                 MtlStorageMode          source_mode,
                                 gsize                   source_offset,
                                 gsize                   size,
                                 GCancellable           *cancellable,
                                 GError                **error);
gboolean mtl_metal_blitter_fill (const MtlMetalBlitter  *self,
                                 gpointer                handle,
                                 MtlStorageMode          mode,
                                 gsize                   offset,
                                 gsize                   size,
                                 gconstpointer           pattern,
                                 gsize                   pattern_size,
                                 GError                **error);

G_END_DECLS
