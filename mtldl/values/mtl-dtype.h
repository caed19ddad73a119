/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-version-macros.h"

G_BEGIN_DECLS

/**
 * MtlDType:
 * @MTL_DTYPE_OTHER: a type of another library that has no name here; its code
 *   and its bits are stored separately
 * @MTL_DTYPE_BOOL: a truth value in a byte
 * @MTL_DTYPE_INT8: an 8-bit signed integer
 * @MTL_DTYPE_INT16: a 16-bit signed integer
 * @MTL_DTYPE_INT32: a 32-bit signed integer
 * @MTL_DTYPE_INT64: a 64-bit signed integer
 * @MTL_DTYPE_UINT8: an 8-bit unsigned integer
 * @MTL_DTYPE_UINT16: a 16-bit unsigned integer
 * @MTL_DTYPE_UINT32: a 32-bit unsigned integer
 * @MTL_DTYPE_UINT64: a 64-bit unsigned integer
 * @MTL_DTYPE_INT2: a 2-bit signed integer, from -2 to 1
 * @MTL_DTYPE_INT4: a 4-bit signed integer, from -8 to 7
 * @MTL_DTYPE_UINT2: a 2-bit unsigned integer
 * @MTL_DTYPE_UINT4: a 4-bit unsigned integer
 * @MTL_DTYPE_FLOAT16: IEEE 754 binary16
 * @MTL_DTYPE_FLOAT32: IEEE 754 binary32
 * @MTL_DTYPE_FLOAT64: IEEE 754 binary64
 * @MTL_DTYPE_BFLOAT16: the upper half of a float32
 * @MTL_DTYPE_COMPLEX32: two 16-bit floats: real, imaginary
 * @MTL_DTYPE_COMPLEX64: two 32-bit floats: real, imaginary
 * @MTL_DTYPE_COMPLEX128: two 64-bit floats: real, imaginary
 * @MTL_DTYPE_FLOAT8_E3M4: an 8-bit float, e3m4
 * @MTL_DTYPE_FLOAT8_E4M3: an 8-bit float, e4m3
 * @MTL_DTYPE_FLOAT8_E4M3B11FNUZ: an 8-bit float, e4m3b11fnuz
 * @MTL_DTYPE_FLOAT8_E4M3FN: an 8-bit float, e4m3fn
 * @MTL_DTYPE_FLOAT8_E4M3FNUZ: an 8-bit float, e4m3fnuz
 * @MTL_DTYPE_FLOAT8_E5M2: an 8-bit float, e5m2
 * @MTL_DTYPE_FLOAT8_E5M2FNUZ: an 8-bit float, e5m2fnuz
 * @MTL_DTYPE_FLOAT8_E8M0FNU: an 8-bit float, e8m0fnu
 * @MTL_DTYPE_FLOAT6_E2M3FN: a 6-bit float, e2m3fn
 * @MTL_DTYPE_FLOAT6_E3M2FN: a 6-bit float, e3m2fn
 * @MTL_DTYPE_FLOAT4_E2M1FN: a 4-bit float, e2m1fn
 * @MTL_DTYPE_OPAQUE_HANDLE8: an 8-bit handle that only its owner understands
 * @MTL_DTYPE_OPAQUE_HANDLE16: a 16-bit handle that only its owner understands
 * @MTL_DTYPE_OPAQUE_HANDLE32: a 32-bit handle that only its owner understands
 * @MTL_DTYPE_OPAQUE_HANDLE64: a 64-bit handle that only its owner understands
 *
 * The element types of DLPack. A value combines DLPack's type code with the
 * number of bits of an element: `code << 8 | bits`.
 *
 * Since: 1.0
 */
typedef enum
{
  MTL_DTYPE_OTHER = 0, /*< nick=other >*/
  MTL_DTYPE_BOOL = 0x0608, /*< nick=bool >*/
  MTL_DTYPE_INT8 = 0x0008, /*< nick=int8 >*/
  MTL_DTYPE_INT16 = 0x0010, /*< nick=int16 >*/
  MTL_DTYPE_INT32 = 0x0020, /*< nick=int32 >*/
  MTL_DTYPE_INT64 = 0x0040, /*< nick=int64 >*/
  MTL_DTYPE_UINT8 = 0x0108, /*< nick=uint8 >*/
  MTL_DTYPE_UINT16 = 0x0110, /*< nick=uint16 >*/
  MTL_DTYPE_UINT32 = 0x0120, /*< nick=uint32 >*/
  MTL_DTYPE_UINT64 = 0x0140, /*< nick=uint64 >*/
  MTL_DTYPE_INT2 = 0x0002, /*< nick=int2 >*/
  MTL_DTYPE_INT4 = 0x0004, /*< nick=int4 >*/
  MTL_DTYPE_UINT2 = 0x0102, /*< nick=uint2 >*/
  MTL_DTYPE_UINT4 = 0x0104, /*< nick=uint4 >*/
  MTL_DTYPE_FLOAT16 = 0x0210, /*< nick=float16 >*/
  MTL_DTYPE_FLOAT32 = 0x0220, /*< nick=float32 >*/
  MTL_DTYPE_FLOAT64 = 0x0240, /*< nick=float64 >*/
  MTL_DTYPE_BFLOAT16 = 0x0410, /*< nick=bfloat16 >*/
  MTL_DTYPE_COMPLEX32 = 0x0520, /*< nick=complex32 >*/
  MTL_DTYPE_COMPLEX64 = 0x0540, /*< nick=complex64 >*/
  MTL_DTYPE_COMPLEX128 = 0x0580, /*< nick=complex128 >*/
  MTL_DTYPE_FLOAT8_E3M4 = 0x0708, /*< nick=float8_e3m4 >*/
  MTL_DTYPE_FLOAT8_E4M3 = 0x0808, /*< nick=float8_e4m3 >*/
  MTL_DTYPE_FLOAT8_E4M3B11FNUZ = 0x0908, /*< nick=float8_e4m3b11fnuz >*/
  MTL_DTYPE_FLOAT8_E4M3FN = 0x0a08, /*< nick=float8_e4m3fn >*/
  MTL_DTYPE_FLOAT8_E4M3FNUZ = 0x0b08, /*< nick=float8_e4m3fnuz >*/
  MTL_DTYPE_FLOAT8_E5M2 = 0x0c08, /*< nick=float8_e5m2 >*/
  MTL_DTYPE_FLOAT8_E5M2FNUZ = 0x0d08, /*< nick=float8_e5m2fnuz >*/
  MTL_DTYPE_FLOAT8_E8M0FNU = 0x0e08, /*< nick=float8_e8m0fnu >*/
  MTL_DTYPE_FLOAT6_E2M3FN = 0x0f06, /*< nick=float6_e2m3fn >*/
  MTL_DTYPE_FLOAT6_E3M2FN = 0x1006, /*< nick=float6_e3m2fn >*/
  MTL_DTYPE_FLOAT4_E2M1FN = 0x1104, /*< nick=float4_e2m1fn >*/
  MTL_DTYPE_OPAQUE_HANDLE8 = 0x0308, /*< nick=opaque_handle8 >*/
  MTL_DTYPE_OPAQUE_HANDLE16 = 0x0310, /*< nick=opaque_handle16 >*/
  MTL_DTYPE_OPAQUE_HANDLE32 = 0x0320, /*< nick=opaque_handle32 >*/
  MTL_DTYPE_OPAQUE_HANDLE64 = 0x0340, /*< nick=opaque_handle64 >*/
} MtlDType;

/**
 * MtlDTypeKind:
 * @MTL_DTYPE_KIND_OTHER: a type that has no name here
 * @MTL_DTYPE_KIND_BOOL: truth values
 * @MTL_DTYPE_KIND_INT: signed integers
 * @MTL_DTYPE_KIND_UINT: unsigned integers
 * @MTL_DTYPE_KIND_FLOAT: floating-point numbers of any format
 * @MTL_DTYPE_KIND_COMPLEX: complex numbers
 * @MTL_DTYPE_KIND_OPAQUE: handles, which are no numbers
 *
 * The kinds of elements.
 *
 * Since: 1.0
 */
typedef enum
{
  MTL_DTYPE_KIND_OTHER,
  MTL_DTYPE_KIND_BOOL,
  MTL_DTYPE_KIND_INT,
  MTL_DTYPE_KIND_UINT,
  MTL_DTYPE_KIND_FLOAT,
  MTL_DTYPE_KIND_COMPLEX,
  MTL_DTYPE_KIND_OPAQUE,
} MtlDTypeKind;

MTL_AVAILABLE_IN_1_0
MtlDTypeKind mtl_dtype_get_kind (MtlDType     self);
MTL_AVAILABLE_IN_1_0
guint     mtl_dtype_get_bits    (MtlDType     self);
MTL_AVAILABLE_IN_1_0
char     *mtl_dtype_to_string   (MtlDType     self);
MTL_AVAILABLE_IN_1_0
MtlDType  mtl_dtype_from_string (const char  *name,
                                 GError     **error);

G_END_DECLS
