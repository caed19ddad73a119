/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-tensor-table-private.h"

G_BEGIN_DECLS

/* What comes before the tensors, which lie in the table's order, with places that
 * count from the first one's: that of the first is a multiple of the alignment, a
 * power of two, from the file's beginning. */
GString *mtl_safetensors_header_write (const MtlTensorTable  *table,
                                       gsize                  alignment,
                                       GError               **error);
GString *mtl_npy_header_write         (const MtlTensorEntry  *entry,
                                       gsize                  alignment,
                                       GError               **error);

/* Of the table's files, and of which is whose. */
GString *mtl_safetensors_index_write  (const MtlTensorTable  *table,
                                       guint64                total_size);

G_END_DECLS
