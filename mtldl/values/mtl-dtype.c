/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-element-type-private.h"

#include <string.h>

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
  { MTL_DTYPE_INT2, "int2" },
  { MTL_DTYPE_INT4, "int4" },
  { MTL_DTYPE_UINT2, "uint2" },
  { MTL_DTYPE_UINT4, "uint4" },
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

/* An integer type of C. */
#define INT_OF(type) ((MtlDType) ((MTL_DTYPE_INT8 & ~0xff) | (8 * sizeof (type))))
#define UINT_OF(type) ((MtlDType) ((MTL_DTYPE_UINT8 & ~0xff) | (8 * sizeof (type))))

/* NumPy's other names, https://numpy.org/doc/stable/reference/arrays.scalars.html. */
static const NamedDType numpy_names[] = {
  { MTL_DTYPE_BOOL, "bool_" },
  { MTL_DTYPE_INT8, "byte" },
  { MTL_DTYPE_UINT8, "ubyte" },
  { INT_OF (short), "short" },
  { UINT_OF (short), "ushort" },
  { INT_OF (int), "intc" },
  { UINT_OF (int), "uintc" },
  { INT_OF (long), "long" },
  { UINT_OF (long), "ulong" },
  { INT_OF (long long), "longlong" },
  { UINT_OF (long long), "ulonglong" },
  { INT_OF (void *), "int" },
  { UINT_OF (void *), "uint" },
  { INT_OF (void *), "int_" },
  { INT_OF (void *), "intp" },
  { UINT_OF (void *), "uintp" },
  { MTL_DTYPE_FLOAT16, "half" },
  { MTL_DTYPE_FLOAT32, "single" },
  { MTL_DTYPE_FLOAT64, "double" },
  { MTL_DTYPE_FLOAT64, "float" },
  { MTL_DTYPE_FLOAT64, "float_" },
  { MTL_DTYPE_COMPLEX64, "csingle" },
  { MTL_DTYPE_COMPLEX128, "cdouble" },
  { MTL_DTYPE_COMPLEX128, "complex" },
  { MTL_DTYPE_COMPLEX128, "complex_" },
};

/* NumPy's codes: a kind and the size in bytes, or a character. They may have a byte order. */
static const NamedDType numpy_codes[] = {
  { MTL_DTYPE_BOOL, "b1" },
  { MTL_DTYPE_INT8, "i1" },
  { MTL_DTYPE_INT16, "i2" },
  { MTL_DTYPE_INT32, "i4" },
  { MTL_DTYPE_INT64, "i8" },
  { MTL_DTYPE_UINT8, "u1" },
  { MTL_DTYPE_UINT16, "u2" },
  { MTL_DTYPE_UINT32, "u4" },
  { MTL_DTYPE_UINT64, "u8" },
  { MTL_DTYPE_FLOAT16, "f2" },
  { MTL_DTYPE_FLOAT32, "f4" },
  { MTL_DTYPE_FLOAT64, "f8" },
  { MTL_DTYPE_COMPLEX64, "c8" },
  { MTL_DTYPE_COMPLEX128, "c16" },
  { MTL_DTYPE_BOOL, "?" },
  { MTL_DTYPE_INT8, "b" },
  { MTL_DTYPE_UINT8, "B" },
  { INT_OF (short), "h" },
  { UINT_OF (short), "H" },
  { INT_OF (int), "i" },
  { UINT_OF (int), "I" },
  { INT_OF (long), "l" },
  { UINT_OF (long), "L" },
  { INT_OF (long long), "q" },
  { UINT_OF (long long), "Q" },
  { INT_OF (void *), "p" },
  { UINT_OF (void *), "P" },
  { INT_OF (void *), "n" },
  { UINT_OF (void *), "N" },
  { MTL_DTYPE_FLOAT16, "e" },
  { MTL_DTYPE_FLOAT32, "f" },
  { MTL_DTYPE_FLOAT64, "d" },
  { MTL_DTYPE_COMPLEX64, "F" },
  { MTL_DTYPE_COMPLEX128, "D" },
};

/* A kind and the size in bits, unless that is one of NumPy's codes. NumPy's f16 and c32 are
 * types that only some machines have, and none here. */
static const NamedDType short_names[] = {
  { MTL_DTYPE_INT16, "i16" },
  { MTL_DTYPE_INT32, "i32" },
  { MTL_DTYPE_INT64, "i64" },
  { MTL_DTYPE_UINT16, "u16" },
  { MTL_DTYPE_UINT32, "u32" },
  { MTL_DTYPE_UINT64, "u64" },
  { MTL_DTYPE_FLOAT16, "f16" },
  { MTL_DTYPE_FLOAT32, "f32" },
  { MTL_DTYPE_FLOAT64, "f64" },
  { MTL_DTYPE_FLOAT16, "fp16" },
  { MTL_DTYPE_FLOAT32, "fp32" },
  { MTL_DTYPE_FLOAT64, "fp64" },
  { MTL_DTYPE_BFLOAT16, "bf16" },
  { MTL_DTYPE_COMPLEX32, "c32" },
  { MTL_DTYPE_COMPLEX64, "c64" },
  { MTL_DTYPE_COMPLEX128, "c128" },
};

/* PyTorch's short names of its types. Some are other types in NumPy. */
static const NamedDType torch_names[] = {
  { MTL_DTYPE_INT16, "short" },
  { MTL_DTYPE_INT32, "int" },
  { MTL_DTYPE_INT64, "long" },
  { MTL_DTYPE_FLOAT16, "half" },
  { MTL_DTYPE_FLOAT32, "float" },
  { MTL_DTYPE_FLOAT64, "double" },
  { MTL_DTYPE_COMPLEX32, "chalf" },
  { MTL_DTYPE_COMPLEX64, "cfloat" },
  { MTL_DTYPE_COMPLEX128, "cdouble" },
};

/* The most frequent ones in files first. */
static const NamedDType safetensors_names[] = {
  { MTL_DTYPE_BFLOAT16, "BF16" },
  { MTL_DTYPE_FLOAT32, "F32" },
  { MTL_DTYPE_FLOAT16, "F16" },
  { MTL_DTYPE_FLOAT64, "F64" },
  { MTL_DTYPE_INT64, "I64" },
  { MTL_DTYPE_INT32, "I32" },
  { MTL_DTYPE_INT16, "I16" },
  { MTL_DTYPE_INT8, "I8" },
  { MTL_DTYPE_UINT8, "U8" },
  { MTL_DTYPE_UINT16, "U16" },
  { MTL_DTYPE_UINT32, "U32" },
  { MTL_DTYPE_UINT64, "U64" },
  { MTL_DTYPE_BOOL, "BOOL" },
  { MTL_DTYPE_COMPLEX64, "C64" },
  { MTL_DTYPE_FLOAT8_E4M3FN, "F8_E4M3" },
  { MTL_DTYPE_FLOAT8_E5M2, "F8_E5M2" },
  { MTL_DTYPE_FLOAT8_E8M0FNU, "F8_E8M0" },
  { MTL_DTYPE_FLOAT8_E4M3FNUZ, "F8_E4M3FNUZ" },
  { MTL_DTYPE_FLOAT8_E5M2FNUZ, "F8_E5M2FNUZ" },
  { MTL_DTYPE_FLOAT6_E2M3FN, "F6_E2M3" },
  { MTL_DTYPE_FLOAT6_E3M2FN, "F6_E3M2" },
  { MTL_DTYPE_FLOAT4_E2M1FN, "F4" },
};

static MtlDType
find_name (const NamedDType *table,
           gsize             n,
           const char       *name)
{
  for (gsize i = 0; i < n; i++)
    if (strcmp (table[i].name, name) == 0)
      return table[i].dtype;

  return MTL_DTYPE_OTHER;
}

#define FIND(table, name) find_name (table, G_N_ELEMENTS (table), name)

MtlDType
mtl_dtype_from_safetensors_name (const char *name,
                                 gsize       size)
{
  for (gsize i = 0; i < G_N_ELEMENTS (safetensors_names); i++)
    if (strncmp (safetensors_names[i].name, name, size) == 0
        && strlen (safetensors_names[i].name) == size)
      return safetensors_names[i].dtype;

  return MTL_DTYPE_OTHER;
}

const char *
mtl_dtype_get_safetensors_name (MtlDType self)
{
  for (gsize i = 0; i < G_N_ELEMENTS (safetensors_names); i++)
    if (safetensors_names[i].dtype == self)
      return safetensors_names[i].name;

  return NULL;
}

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
 * mtl_dtype_get_kind:
 * @self: an element type
 *
 * Gets the kind of the elements, such as %MTL_DTYPE_KIND_FLOAT for `bfloat16`.
 *
 * Returns: the kind, %MTL_DTYPE_KIND_OTHER for %MTL_DTYPE_OTHER
 *
 * Since: 1.0
 */
MtlDTypeKind
mtl_dtype_get_kind (MtlDType self)
{
  if (self == MTL_DTYPE_OTHER)
    return MTL_DTYPE_KIND_OTHER;

  switch ((int) self >> 8)
    {
    case kDLBool:
      return MTL_DTYPE_KIND_BOOL;
    case kDLInt:
      return MTL_DTYPE_KIND_INT;
    case kDLUInt:
      return MTL_DTYPE_KIND_UINT;
    case kDLComplex:
      return MTL_DTYPE_KIND_COMPLEX;
    case kDLOpaqueHandle:
      return MTL_DTYPE_KIND_OPAQUE;
    default:
      return self <= MTL_DTYPE_FLOAT4_E2M1FN ? MTL_DTYPE_KIND_FLOAT : MTL_DTYPE_KIND_OTHER;
    }
}

/**
 * mtl_dtype_get_bits:
 * @self: an element type
 *
 * Gets the size of an element in bits, such as 4 for `float4_e2m1fn`, or 64 for
 * `complex64`. For %MTL_DTYPE_OTHER it is 0; use
 * [method@Mtl.StridedLayout.get_item_bits] instead.
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

/* The name is in lower case. */
static gboolean
is_in_upper_case (const char *text,
                  const char *name)
{
  gsize i;

  for (i = 0; name[i] != '\0'; i++)
    if (text[i] != g_ascii_toupper (name[i]))
      return FALSE;

  return text[i] == '\0';
}

static MtlDType
find_full_name (const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (named_dtypes); i++)
    if (strcmp (named_dtypes[i].name, name) == 0 || is_in_upper_case (name, named_dtypes[i].name))
      return named_dtypes[i].dtype;

  return MTL_DTYPE_OTHER;
}

/* NumPy's code after its byte order. A byte has none. */
static MtlDType
find_ordered_code (const char  *name,
                   GError     **error)
{
  const char foreign = G_BYTE_ORDER == G_LITTLE_ENDIAN ? '>' : '<';
  MtlDType dtype = FIND (numpy_codes, name + 1);

  if (dtype != MTL_DTYPE_OTHER && name[0] == foreign && mtl_dtype_get_bits (dtype) > 8)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                   "The element type “%s” does not have this machine's byte order: swap the bytes"
                   " first, and use “%s”",
                   name, name + 1);
      return MTL_DTYPE_OTHER;
    }

  return dtype;
}

static MtlDType
find_spelling (const char  *name,
               GError     **error)
{
  const char *torch = g_str_has_prefix (name, "torch.") ? name + strlen ("torch.") : NULL;
  MtlDType dtype;

  if (name[0] != '\0' && strchr ("<>=|", name[0]) != NULL)
    return find_ordered_code (name, error);

  dtype = find_full_name (torch != NULL ? torch : name);
  if (dtype != MTL_DTYPE_OTHER)
    return dtype;
  if (torch != NULL)
    return FIND (torch_names, torch);

  dtype = FIND (numpy_codes, name);
  if (dtype == MTL_DTYPE_OTHER)
    dtype = FIND (safetensors_names, name);
  if (dtype == MTL_DTYPE_OTHER)
    dtype = FIND (short_names, name);
  if (dtype == MTL_DTYPE_OTHER)
    dtype = FIND (numpy_names, name);

  return dtype;
}

#define LONGEST_NAME 24

/* Counts the characters to replace, insert or remove, or neighbours to exchange: the
 * distance of Damerau and Levenshtein. A name here is in lower case. */
static guint
measure_distance (const char *given,
                  const char *name)
{
  guint rows[3][LONGEST_NAME + 1];
  gsize length = strlen (given), n = strlen (name);

  for (gsize j = 0; j <= n; j++)
    rows[0][j] = j;
  for (gsize i = 1; i <= length; i++)
    {
      guint *row = rows[i % 3], *above = rows[(i + 2) % 3], *second_above = rows[(i + 1) % 3];
      char last = g_ascii_tolower (given[i - 1]);

      row[0] = i;
      for (gsize j = 1; j <= n; j++)
        {
          gboolean is_exchanged = i > 1 && j > 1 && last == name[j - 2]
                                  && g_ascii_tolower (given[i - 2]) == name[j - 1];

          row[j] = MIN (above[j - 1] + (last != name[j - 1]), MIN (row[j - 1], above[j]) + 1);
          if (is_exchanged)
            row[j] = MIN (row[j], second_above[j - 2] + 1);
        }
    }

  return rows[length % 3][n];
}

/* The full name that the user may have meant, or NULL. */
static const char *
find_near_name (const char *name)
{
  const char *nearest = NULL;
  guint least = 3;

  if (strlen (name) < 4 || strlen (name) > LONGEST_NAME)
    return NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (named_dtypes); i++)
    {
      guint distance = measure_distance (name, named_dtypes[i].name);

      if (distance < least)
        {
          least = distance;
          nearest = named_dtypes[i].name;
        }
    }

  return nearest;
}

/**
 * mtl_dtype_from_string:
 * @name: a name of an element type
 * @error: return location for a [error@Mtl.Error]
 *
 * Gets the element type with a name. These are known:
 *
 * - the full names, as returned by [func@Mtl.DType.to_string], in lower or upper case: `float32`,
 *   `BFLOAT16`, `float8_e4m3fn`. They are those of NumPy, ml_dtypes, JAX and MLX
 * - NumPy's other names: `double`, `half`, `intc`, and `float` for `float64`
 * - NumPy's codes, which count bytes: `f4`, `u1`, `i8` for `int64`, `?`, `d`, also with the byte
 *   order of the machine: `<f4`
 * - safetensors' names, in upper case, which count bits: `BF16`, `F32`, `I8` for `int8`, `BOOL`
 * - short names that count bits: `bf16`, `fp16`, `f32`, `u16`
 * - PyTorch's, with the name of the module: `torch.bfloat16`, and `torch.float` for `float32`
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: there is no element type with that name
 * - %MTL_ERROR_NOT_SUPPORTED: the name is a code with the byte order of other machines
 *
 * Returns: the element type, %MTL_DTYPE_OTHER on error
 *
 * Since: 1.0
 */
MtlDType
mtl_dtype_from_string (const char  *name,
                       GError     **error)
{
  MtlDType dtype;
  const char *near_name;
  GError *local_error = NULL;

  g_return_val_if_fail (name != NULL, MTL_DTYPE_OTHER);

  dtype = find_spelling (name, &local_error);
  if (dtype != MTL_DTYPE_OTHER)
    return dtype;

  if (local_error != NULL)
    {
      g_propagate_error (error, local_error);
      return MTL_DTYPE_OTHER;
    }

  near_name = find_near_name (name);
  if (near_name != NULL)
    g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                 "There is no element type “%s”: did you mean “%s”?", name, near_name);
  else
    g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                 "There is no element type “%s”: names are those of NumPy, ml_dtypes and"
                 " safetensors, such as “float32”, “f4” or “BF16”, or of PyTorch, such as"
                 " “torch.float32”",
                 name);
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
