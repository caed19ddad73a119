/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#if !defined (MTLDL_GST_INSIDE) && !defined (MTLDL_GST_COMPILATION)
#error "Only <mtldl-gst/mtldl-gst.h> can be included directly."
#endif

#include <gst/gst.h>
#include <mtldl/mtldl.h>

G_BEGIN_DECLS

#define MTL_GST_TYPE_ALLOCATOR (mtl_gst_allocator_get_type ())

MTL_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (MtlGstAllocator, mtl_gst_allocator, MTL_GST, ALLOCATOR, GstAllocator)

MTL_AVAILABLE_IN_1_0
MtlGstAllocator *mtl_gst_allocator_new     (MtlDevice       *device,
                                            MtlStorageMode   storage_mode,
                                            GError         **error) G_GNUC_WARN_UNUSED_RESULT;

MTL_AVAILABLE_IN_1_0
MtlBuffer       *mtl_gst_memory_get_buffer (GstMemory       *memory,
                                            gsize           *byte_offset);

G_END_DECLS
