/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-file-source-private.h"
#include "mtl-tensor-table-private.h"

G_BEGIN_DECLS

/* Reads what a file says of its tensors, and nothing of them. What format it is in is
 * told by its first bytes: safetensors, .npy, .npz, or the index of several files of
 * safetensors, whose table names files. The tensor of a .npy has no name. */
MtlTensorTable *mtl_tensor_table_read (const MtlFileSource  *source,
                                       GCancellable         *cancellable,
                                       GError              **error);

G_END_DECLS
