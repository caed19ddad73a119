/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gst/gst.h>
#include <mtldl/mtldl.h>

G_BEGIN_DECLS

/* The alignment that mtl_buffer_new() promises, as a mask. */
#define MTL_GST_BUFFER_ALIGN 63

/* Allocates memory for an element. The data are the first byte that is aligned; the prefix, the
 * bytes and the padding fit from there. */
MtlBuffer *mtl_gst_allocate             (MtlDevice                  *device,
                                         MtlStorageMode              mode,
                                         gsize                       size,
                                         const GstAllocationParams  *params,
                                         guint8                    **data,
                                         GError                    **error);

/* Copies as GstAllocator does by default, but to GStreamer's own memory if the allocator has none
 * left. */
GstMemory *mtl_gst_memory_copy          (GstMemory                  *memory,
                                         gssize                      offset,
                                         gssize                      size);

/* Both have the same parent. */
gboolean   mtl_gst_memory_is_span       (GstMemory                  *first,
                                         GstMemory                  *second,
                                         gsize                      *offset);

/* Memory with a descriptor, in a buffer that other processes can map. The prefix, the bytes and the
 * padding begin at the data, and are the buffer's. */
GstMemory *mtl_gst_fd_memory_new        (MtlBuffer                  *buffer,
                                         guint8                     *data,
                                         gsize                       size,
                                         const GstAllocationParams  *params,
                                         GError                    **error);

/* New memory with a descriptor. */
GstMemory *mtl_gst_fd_memory_alloc      (MtlDevice                  *device,
                                         gsize                       size,
                                         const GstAllocationParams  *params,
                                         GError                    **error);

/* The buffer of memory with a descriptor, of any allocator. Returns NULL if there cannot be one. */
MtlBuffer *mtl_gst_fd_memory_get_buffer (GstMemory                  *memory,
                                         gsize                      *byte_offset);

G_END_DECLS
