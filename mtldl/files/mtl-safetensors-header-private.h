/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-tensor-table-private.h"

G_BEGIN_DECLS

/* A safetensors file: the size of the header in 8 bytes, the header in JSON, and the
 * bytes of the tensors, without gaps. */
#define MTL_SAFETENSORS_PREFIX_SIZE 8
#define MTL_SAFETENSORS_MAX_HEADER_SIZE 100000000

gboolean        mtl_safetensors_header_get_size (const guint8  *prefix,
                                                 gsize          n_available,
                                                 guint64        file_size,
                                                 gsize         *header_size,
                                                 GError       **error);
MtlTensorTable *mtl_safetensors_header_parse    (const char    *header,
                                                 gsize          header_size,
                                                 guint64        file_size,
                                                 GError       **error);

G_END_DECLS
