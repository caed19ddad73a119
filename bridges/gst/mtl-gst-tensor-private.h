/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-gst-tensor.h"

G_BEGIN_DECLS

/* The layout of tensor/strided caps. */
MtlStridedLayout *mtl_gst_layout_from_tensor_structure (const GstStructure  *structure,
                                                        MtlDType            *dtype,
                                                        GError             **error);

G_END_DECLS
