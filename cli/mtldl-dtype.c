/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Kinds of element types. */

#include "mtldl-tool.h"

gboolean
tool_dtype_is_integer (MtlDType dtype)
{
  MtlDTypeKind kind = mtl_dtype_get_kind (dtype);

  return kind == MTL_DTYPE_KIND_BOOL || kind == MTL_DTYPE_KIND_INT || kind == MTL_DTYPE_KIND_UINT;
}

gboolean
tool_dtype_is_signed (MtlDType dtype)
{
  return mtl_dtype_get_kind (dtype) == MTL_DTYPE_KIND_INT;
}

gboolean
tool_dtype_is_complex (MtlDType dtype)
{
  return mtl_dtype_get_kind (dtype) == MTL_DTYPE_KIND_COMPLEX;
}

/* The bits of such types are not a number. */
gboolean
tool_dtype_is_opaque (MtlDType dtype)
{
  return mtl_dtype_get_kind (dtype) == MTL_DTYPE_KIND_OPAQUE;
}

gboolean
tool_dtype_is_float (MtlDType dtype)
{
  return mtl_dtype_get_kind (dtype) == MTL_DTYPE_KIND_FLOAT;
}

/* The unit is bytes, at least 1. A complex number is two numbers. */
guint
tool_dtype_get_number_size (MtlDType dtype)
{
  guint bits = mtl_dtype_get_bits (dtype) / (tool_dtype_is_complex (dtype) ? 2 : 1);

  return MAX (bits / 8, 1);
}
