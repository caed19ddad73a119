/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-buffer.h"
#include "mtl-memory-private.h"

G_BEGIN_DECLS

struct _MtlBuffer
{
  GObject parent_instance;

  MtlMemory *memory;
  gsize offset; /* of the first byte in the memory */
  gsize size;
};

MtlBuffer *mtl_buffer_new_take_memory (MtlMemory *memory,
                                       gsize      offset,
                                       gsize      size);
gboolean   mtl_buffer_check_range     (MtlBuffer  *self,
                                       gsize       offset,
                                       gsize       size,
                                       GError    **error);

G_END_DECLS
