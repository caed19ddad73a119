/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-tensor-table-private.h"
#include "mtl-text-private.h"

G_BEGIN_DECLS

/* The headers before the tensors. The tensors are in the order of the table, and
 * their offsets count from the first one, which begins at a multiple of the
 * alignment, a power of two, in the file. The text is empty before. */
gboolean mtl_safetensors_header_write (const MtlTensorTable  *table,
                                       gsize                  alignment,
                                       MtlText               *text,
                                       GError               **error);
gboolean mtl_npy_header_write         (const MtlTensorEntry  *entry,
                                       gsize                  alignment,
                                       MtlText               *text,
                                       GError               **error);

/* The index: the file of each tensor. */
gboolean mtl_safetensors_index_write  (const MtlTensorTable  *table,
                                       guint64                total_size,
                                       MtlText               *text,
                                       GError               **error);

G_END_DECLS
