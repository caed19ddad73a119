/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-file-source-private.h"
#include "mtl-tensor-table-private.h"

G_BEGIN_DECLS

/* Reads the description of the tensors in a file, but not the tensors. The format is
 * detected from the first bytes: safetensors, .npy, .npz, or the index of several
 * safetensors files, whose table names the files. The tensor of a .npy file has an
 * empty name. */
MtlTensorTable *mtl_tensor_table_read (const MtlFileSource  *source,
                                       GCancellable         *cancellable,
                                       GError              **error);

G_END_DECLS
