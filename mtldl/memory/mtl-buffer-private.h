/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-buffer.h"
#include "mtl-memory-private.h"

G_BEGIN_DECLS

/* The properties of a buffer that g_initable_new() makes, from the first one to init(). */
typedef struct
{
  MtlDevice *device;
  guint64 size;
  MtlStorageMode storage_mode;
} MtlBufferRequest;

struct _MtlBuffer
{
  GObject parent_instance;

  MtlMemory *memory;
  gsize offset; /* the offset of the first byte in the memory */
  gsize size;
  gboolean size_known; /* always TRUE for a slice */
  MtlBufferRequest *request;
};

MtlBuffer *mtl_buffer_new_for_memory (MtlMemory  *memory);
gboolean   mtl_buffer_check_range    (MtlBuffer  *self,
                                      gsize       offset,
                                      gsize       size,
                                      GError    **error);

G_END_DECLS
