/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <mtldl/mtldl.h>

/* The element types that tensors of Metal have, by Metal's headers. */
typedef struct
{
  MtlDType dtype;
  guint value;        /* an MTLTensorDataType */
  guint major, minor; /* the first macOS with it */
} MetalTensorType;

static const MetalTensorType metal_tensor_types[] = {
  { MTL_DTYPE_FLOAT32, 3, 26, 0 },         { MTL_DTYPE_FLOAT16, 16, 26, 0 },
  { MTL_DTYPE_BFLOAT16, 121, 26, 0 },      { MTL_DTYPE_INT8, 45, 26, 0 },
  { MTL_DTYPE_UINT8, 49, 26, 0 },          { MTL_DTYPE_INT16, 37, 26, 0 },
  { MTL_DTYPE_UINT16, 41, 26, 0 },         { MTL_DTYPE_INT32, 29, 26, 0 },
  { MTL_DTYPE_UINT32, 33, 26, 0 },         { MTL_DTYPE_INT4, 143, 26, 4 },
  { MTL_DTYPE_UINT4, 144, 26, 4 },         { MTL_DTYPE_INT2, 150, 27, 0 },
  { MTL_DTYPE_UINT2, 149, 27, 0 },         { MTL_DTYPE_FLOAT4_E2M1FN, 148, 27, 0 },
  { MTL_DTYPE_FLOAT8_E4M3FN, 142, 27, 0 }, { MTL_DTYPE_FLOAT8_E5M2, 141, 27, 0 },
};
