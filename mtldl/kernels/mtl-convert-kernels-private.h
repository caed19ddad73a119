/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The types of numbers. A complex number is two of them. Numbers of fewer than 8 bits
 * take the low bits of a byte each; the other bits are ignored. */
typedef enum
{
  MTL_CONVERT_BOOL,
  MTL_CONVERT_UINT2,
  MTL_CONVERT_UINT4,
  MTL_CONVERT_UINT8,
  MTL_CONVERT_UINT16,
  MTL_CONVERT_UINT32,
  MTL_CONVERT_UINT64,
  MTL_CONVERT_INT2,
  MTL_CONVERT_INT4,
  MTL_CONVERT_INT8,
  MTL_CONVERT_INT16,
  MTL_CONVERT_INT32,
  MTL_CONVERT_INT64,
  MTL_CONVERT_FLOAT32,
  MTL_CONVERT_FLOAT64,
  MTL_CONVERT_FLOAT16,
  MTL_CONVERT_BFLOAT16,
  MTL_CONVERT_E3M4,
  MTL_CONVERT_E4M3,
  MTL_CONVERT_E4M3B11FNUZ,
  MTL_CONVERT_E4M3FN,
  MTL_CONVERT_E4M3FNUZ,
  MTL_CONVERT_E5M2,
  MTL_CONVERT_E5M2FNUZ,
  MTL_CONVERT_E8M0FNU,
  MTL_CONVERT_E2M3FN,
  MTL_CONVERT_E3M2FN,
  MTL_CONVERT_E2M1FN,
  MTL_CONVERT_N_TYPES,
} MtlConvertType;

/* Converts n contiguous numbers of any alignment. The two do not overlap. */
typedef void (* MtlConvertFunc) (guint8       *dest,
                                 const guint8 *source,
                                 gsize         n);

/* Converts n elements that are dest_step and source_step bytes apart. */
typedef void (* MtlConvertScatteredFunc) (guint8       *dest,
                                          const guint8 *source,
                                          gsize         n,
                                          gssize        dest_step,
                                          gssize        source_step);

/* Converts n numbers, multiplies them by the first factor and adds the second. */
typedef void (* MtlScaleFunc) (guint8       *dest,
                               const guint8 *source,
                               gsize         n,
                               const double *factors);

/* Compiled once for each instruction set. Conversions between integers that do not
 * extend a sign only depend on the sizes: for these, the table only has the unsigned
 * types. */
typedef struct
{
  /* [destination][source]; NULL if the conversion takes two steps. */
  MtlConvertFunc direct[MTL_CONVERT_N_TYPES][MTL_CONVERT_N_TYPES];

  /* Conversions that take one instruction or two for a single number, and (by 4) those that
   * are only faster if both sides are scattered. The complex ones are by the type of their
   * parts, as below. */
  MtlConvertScatteredFunc scattered[MTL_CONVERT_N_TYPES][MTL_CONVERT_N_TYPES];
  MtlConvertScatteredFunc scattered_by_4[MTL_CONVERT_N_TYPES][MTL_CONVERT_N_TYPES];
  MtlConvertScatteredFunc scattered_to_complex[2][MTL_CONVERT_N_TYPES];
  MtlConvertScatteredFunc scattered_complex[2]; /* sources are complex numbers of the other type */

  /* Complex numbers, by the type of their parts, made of real ones. */
  MtlConvertFunc to_complex[2][MTL_CONVERT_N_TYPES]; /* parts are float32, float64 */

  /* Results are float32 before a second rounding: if bits are lost, the last remaining
   * bit is set. NULL if none can be lost. */
  MtlConvertFunc to_odd_float32[MTL_CONVERT_N_TYPES];

  /* [destination][source]; NULL if scaling takes several steps. Integers are rounded to
   * nearest, ties to even. */
  MtlScaleFunc scaled[MTL_CONVERT_N_TYPES][MTL_CONVERT_N_TYPES];
  MtlScaleFunc scale_doubles;
  MtlScaleFunc scale_complexes;   /* parts are doubles; only the real part gets the offset */
  MtlConvertFunc round_doubles;

  MtlConvertFunc any_of_two;      /* n truth values from twice as many */
  MtlConvertFunc append_zero[4];  /* makes numbers of 1 << i bytes; appends a 0 to each */
  MtlConvertFunc unpack[3];       /* n numbers of 2, 4 or 6 bits, from the first bit of a byte */
  MtlConvertFunc pack[3];         /* the reverse; n numbers fill whole bytes */
} MtlConvertKernels;

extern const MtlConvertKernels mtl_convert_kernels_plain;
extern const MtlConvertKernels mtl_convert_kernels_avx2;
extern const MtlConvertKernels mtl_convert_kernels_avx512;

G_END_DECLS
