/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Kinds of element types. */

#include "mtldl-tool.h"

gboolean
tool_dtype_is_integer (MtlDType dtype)
{
  switch (dtype)
    {
    case MTL_DTYPE_BOOL:
    case MTL_DTYPE_INT2:
    case MTL_DTYPE_INT4:
    case MTL_DTYPE_INT8:
    case MTL_DTYPE_INT16:
    case MTL_DTYPE_INT32:
    case MTL_DTYPE_INT64:
    case MTL_DTYPE_UINT2:
    case MTL_DTYPE_UINT4:
    case MTL_DTYPE_UINT8:
    case MTL_DTYPE_UINT16:
    case MTL_DTYPE_UINT32:
    case MTL_DTYPE_UINT64:
      return TRUE;
    default:
      return FALSE;
    }
}

gboolean
tool_dtype_is_signed (MtlDType dtype)
{
  switch (dtype)
    {
    case MTL_DTYPE_INT2:
    case MTL_DTYPE_INT4:
    case MTL_DTYPE_INT8:
    case MTL_DTYPE_INT16:
    case MTL_DTYPE_INT32:
    case MTL_DTYPE_INT64:
      return TRUE;
    default:
      return FALSE;
    }
}

gboolean
tool_dtype_is_complex (MtlDType dtype)
{
  return dtype == MTL_DTYPE_COMPLEX32 || dtype == MTL_DTYPE_COMPLEX64
         || dtype == MTL_DTYPE_COMPLEX128;
}

/* Bits that are no number. */
gboolean
tool_dtype_is_opaque (MtlDType dtype)
{
  return dtype == MTL_DTYPE_OPAQUE_HANDLE8 || dtype == MTL_DTYPE_OPAQUE_HANDLE16
         || dtype == MTL_DTYPE_OPAQUE_HANDLE32 || dtype == MTL_DTYPE_OPAQUE_HANDLE64;
}

gboolean
tool_dtype_is_float (MtlDType dtype)
{
  return dtype != MTL_DTYPE_OTHER && !tool_dtype_is_opaque (dtype)
         && !tool_dtype_is_integer (dtype) && !tool_dtype_is_complex (dtype);
}

/* In bytes, at least 1. A complex number is two numbers. */
guint
tool_dtype_get_number_size (MtlDType dtype)
{
  guint bits = mtl_dtype_get_bits (dtype) / (tool_dtype_is_complex (dtype) ? 2 : 1);

  return MAX (bits / 8, 1);
}
