/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-tensor-variant-private.h"

G_BEGIN_DECLS

/* Serialized descriptions without extras, written and read without a GVariant, which would take
 * longer than the socket does. Others are not plain. */

/* Checks if the description of elements in memory of the host is plain. */
gboolean   mtl_tensor_body_is_plain (MtlStridedView *view);
MtlMemory *mtl_tensor_body_new  (MtlStridedView  *view,
                                 gsize           *size,
                                 GError         **error);

/* Without an error and a result, the description is not plain. */
gboolean   mtl_tensor_body_read (MtlMemory       *memory,
                                 gsize            size,
                                 MtlSentTensor   *result,
                                 GError         **error);

G_END_DECLS
