/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-buffer.h"
#include "mtl-file-mapping-private.h"
#include "mtl-memory-private.h"

G_BEGIN_DECLS

struct _MtlBuffer
{
  GObject parent_instance;

  MtlMemory *memory;
  gsize offset; /* of the first byte in the memory */
  gsize size;
  gboolean size_known; /* that of a slice is, whatever it is a slice of */
};

MtlBuffer *mtl_buffer_new_for_memory (MtlMemory  *memory);
gboolean   mtl_buffer_check_range    (MtlBuffer  *self,
                                       gsize       offset,
                                       gsize       size,
                                       GError    **error);
MtlMemory *mtl_memory_new_for_mapping (MtlFileMapping  *mapping,
                                       MtlDevice       *device,
                                       GError         **error);

G_END_DECLS
