/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-element-type-private.h"
#include "mtl-layout-private.h"

G_BEGIN_DECLS

#define MTL_METAL_TENSOR_MAX_DIMS 16

/* A version of macOS. An unknown one counts as the newest. */
#define MTL_MACOS(major, minor) ((major) * 100 + (minor))
#define MTL_MACOS_UNKNOWN G_MAXUINT

/* The properties of an MTLTensor over an MTLBuffer, in Metal's terms: dimensions come
 * innermost first. */
typedef struct
{
  guint n_dims;
  gint64 dims[MTL_METAL_TENSOR_MAX_DIMS];
  gint64 strides[MTL_METAL_TENSOR_MAX_DIMS]; /* elements */
  guint data_type;                           /* an MTLTensorDataType */
  gsize byte_offset;                         /* the offset in the MTLBuffer */
} MtlMetalTensor;

/* Describes elements whose offset 0 is at a byte of a buffer of a length. Fails with
 * MTL_ERROR_NEEDS_COPY if the elements would fit elsewhere, with
 * MTL_ERROR_NOT_SUPPORTED if they never do, and with MTL_ERROR_INVALID_ARGUMENT if the
 * usage is unknown. */
gboolean mtl_metal_tensor_describe   (const MtlLayout       *layout,
                                      MtlElementType         type,
                                      gsize                  byte_offset,
                                      gsize                  length,
                                      MtlMetalTensorUsage         usage,
                                      guint                  macos,
                                      MtlMetalTensor        *result,
                                      GError               **error);

/* The layout of a copy that fits at the beginning of a buffer. */
gboolean mtl_metal_tensor_fit        (const MtlLayout       *layout,
                                      MtlElementType         type,
                                      MtlMetalTensorUsage         usage,
                                      guint                  macos,
                                      MtlLayout             *result,
                                      GError               **error);

/* The way back. */
gboolean mtl_metal_tensor_get_layout (const MtlMetalTensor  *self,
                                      MtlElementType        *type,
                                      MtlLayout             *layout,
                                      GError               **error);

G_END_DECLS
