/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-tensor-table-private.h"

G_BEGIN_DECLS

/* The index of a model in several files, model.safetensors.index.json. The table has
 * the names of the tensors and the files, and the file of each tensor. Everything
 * else is in the files. */
#define MTL_SAFETENSORS_MAX_INDEX_SIZE 100000000

MtlTensorTable *mtl_safetensors_index_parse (const char  *text,
                                             gsize        size,
                                             GError     **error);

G_END_DECLS
