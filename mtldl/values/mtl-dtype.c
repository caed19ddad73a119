/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-element-type-private.h"

#include "mtl-error.h"

typedef struct
{
  MtlDType dtype;
  const char *name;
} NamedDType;

static const NamedDType named_dtypes[] = {
  { MTL_DTYPE_BOOL, "bool" },
  { MTL_DTYPE_INT8, "int8" },
  { MTL_DTYPE_INT16, "int16" },
  { MTL_DTYPE_INT32, "int32" },
  { MTL_DTYPE_INT64, "int64" },
  { MTL_DTYPE_UINT8, "uint8" },
  { MTL_DTYPE_UINT16, "uint16" },
  { MTL_DTYPE_UINT32, "uint32" },
  { MTL_DTYPE_UINT64, "uint64" },
  { MTL_DTYPE_FLOAT16, "float16" },
  { MTL_DTYPE_FLOAT32, "float32" },
  { MTL_DTYPE_FLOAT64, "float64" },
  { MTL_DTYPE_BFLOAT16, "bfloat16" },
  { MTL_DTYPE_COMPLEX32, "complex32" },
  { MTL_DTYPE_COMPLEX64, "complex64" },
  { MTL_DTYPE_COMPLEX128, "complex128" },
  { MTL_DTYPE_FLOAT8_E3M4, "float8_e3m4" },
  { MTL_DTYPE_FLOAT8_E4M3, "float8_e4m3" },
  { MTL_DTYPE_FLOAT8_E4M3B11FNUZ, "float8_e4m3b11fnuz" },
  { MTL_DTYPE_FLOAT8_E4M3FN, "float8_e4m3fn" },
  { MTL_DTYPE_FLOAT8_E4M3FNUZ, "float8_e4m3fnuz" },
  { MTL_DTYPE_FLOAT8_E5M2, "float8_e5m2" },
  { MTL_DTYPE_FLOAT8_E5M2FNUZ, "float8_e5m2fnuz" },
  { MTL_DTYPE_FLOAT8_E8M0FNU, "float8_e8m0fnu" },
  { MTL_DTYPE_FLOAT6_E2M3FN, "float6_e2m3fn" },
  { MTL_DTYPE_FLOAT6_E3M2FN, "float6_e3m2fn" },
  { MTL_DTYPE_FLOAT4_E2M1FN, "float4_e2m1fn" },
  { MTL_DTYPE_OPAQUE_HANDLE8, "opaque_handle8" },
  { MTL_DTYPE_OPAQUE_HANDLE16, "opaque_handle16" },
  { MTL_DTYPE_OPAQUE_HANDLE32, "opaque_handle32" },
  { MTL_DTYPE_OPAQUE_HANDLE64, "opaque_handle64" },
};

const char *
mtl_dtype_get_name (MtlDType self)
{
  for (gsize i = 0; i < G_N_ELEMENTS (named_dtypes); i++)
    if (named_dtypes[i].dtype == self)
      return named_dtypes[i].name;

  return NULL;
}

gboolean
mtl_dtype_check (MtlDType   self,
                 GError   **error)
{
  if (mtl_dtype_get_name (self) != NULL)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "The element type 0x%x has no name here: views can only be created with named types",
               self);
  return FALSE;
}

/**
 * mtl_dtype_get_bits:
 * @self: an element type
 *
 * Gets the size of an element in bits, such as 4 for `float4_e2m1fn`, or 64 for
 * `complex64`. For %MTL_DTYPE_OTHER it is 0; use
 * [method@Mtl.StridedView.get_dtype_bits] instead.
 *
 * Returns: the number of bits
 *
 * Since: 1.0
 */
guint
mtl_dtype_get_bits (MtlDType self)
{
  return self & 0xff;
}

/**
 * mtl_dtype_to_string:
 * @self: an element type
 *
 * Gets the name that @self has in NumPy and ml_dtypes, such as `float32`,
 * `bfloat16` or `float8_e4m3fn`. For a value without a name, this is its DLPack
 * type code and its bits, as in `2/80`. For %MTL_DTYPE_OTHER it is `other`.
 *
 * Returns: (transfer full): the name
 *
 * Since: 1.0
 */
char *
mtl_dtype_to_string (MtlDType self)
{
  const char *name = mtl_dtype_get_name (self);

  if (self == MTL_DTYPE_OTHER)
    return g_strdup ("other");

  if (name != NULL)
    return g_strdup (name);

  return g_strdup_printf ("%u/%u", (guint) self >> 8, (guint) self & 0xff);
}

/**
 * mtl_dtype_from_string:
 * @name: a name, as returned by [func@Mtl.DType.to_string]
 * @error: return location for a [error@Mtl.Error]
 *
 * Gets the element type with a name.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: there is no element type with that name
 *
 * Returns: the element type, %MTL_DTYPE_OTHER on error
 *
 * Since: 1.0
 */
MtlDType
mtl_dtype_from_string (const char  *name,
                       GError     **error)
{
  g_return_val_if_fail (name != NULL, MTL_DTYPE_OTHER);

  for (gsize i = 0; i < G_N_ELEMENTS (named_dtypes); i++)
    if (g_str_equal (named_dtypes[i].name, name))
      return named_dtypes[i].dtype;

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "There is no element type “%s”", name);
  return MTL_DTYPE_OTHER;
}

MtlDType
mtl_element_type_get_dtype (MtlElementType self)
{
  MtlDType dtype = self.code << 8 | self.bits;

  return mtl_dtype_get_name (dtype) != NULL ? dtype : MTL_DTYPE_OTHER;
}

/* The name, with lanes and padding if there are any. */
char *
mtl_element_type_to_string (MtlElementType self)
{
  g_autofree char *name = mtl_dtype_to_string (self.code << 8 | self.bits);

  g_autofree char *lanes = self.lanes != 1 ? g_strdup_printf ("×%u", self.lanes) : NULL;

  return g_strconcat (self.padded ? "padded " : "", name, lanes, NULL);
}
