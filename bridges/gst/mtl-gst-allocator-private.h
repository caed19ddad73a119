/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-gst-allocator.h"

G_BEGIN_DECLS

/* The bytes have to be the buffer's. This fails if other processes can map them, and there is no
 * descriptor left for them. */
GstMemory *mtl_gst_memory_new (MtlBuffer  *buffer,
                               gpointer    data,
                               gsize       size,
                               gboolean    read_only,
                               GError    **error);

G_END_DECLS
