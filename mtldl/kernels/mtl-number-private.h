/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-element-type-private.h"

G_BEGIN_DECLS

/* The value of one element of any type, always exact. */
typedef struct
{
  enum
  {
    MTL_NUMBER_INT,
    MTL_NUMBER_UINT,
    MTL_NUMBER_REAL,
    MTL_NUMBER_COMPLEX,
  } kind;
  union
  {
    gint64 i;
    guint64 u;
    double re;
  };
  double im;
} MtlNumber;

static inline MtlNumber
mtl_number_from_int64 (gint64 value)
{
  return (MtlNumber) { .kind = MTL_NUMBER_INT, .i = value };
}

static inline MtlNumber
mtl_number_from_uint64 (guint64 value)
{
  return (MtlNumber) { .kind = MTL_NUMBER_UINT, .u = value };
}

static inline MtlNumber
mtl_number_from_double (double value)
{
  return (MtlNumber) { .kind = MTL_NUMBER_REAL, .re = value };
}

static inline MtlNumber
mtl_number_from_complex (double re,
                         double im)
{
  return (MtlNumber) { .kind = MTL_NUMBER_COMPLEX, .re = re, .im = im };
}

double    mtl_number_to_double  (MtlNumber        self);
gboolean  mtl_number_to_int64   (MtlNumber        self,
                                 gint64          *value,
                                 GError         **error);
gboolean  mtl_number_to_uint64  (MtlNumber        self,
                                 guint64         *value,
                                 GError         **error);
gboolean  mtl_number_equal      (MtlNumber        a,
                                 MtlNumber        b);
gboolean  mtl_number_is_nan     (MtlNumber        self);

/* The distance of two numbers that count as the same */
typedef struct
{
  double rtol;
  double atol;
  gboolean nans_are_equal;
} MtlTolerance;

gboolean  mtl_number_is_close   (MtlNumber           a,
                                 MtlNumber           b,
                                 const MtlTolerance *tolerance);

/* Loads up to 8 bits, the least significant first. Only reads the bytes that contain
 * them. */
static inline guint
mtl_bits_load (const guint8 *data,
               guint         bit,
               guint         n)
{
  guint window = data[0];

  if (bit + n > 8)
    window |= (guint) data[1] << 8;

  return window >> bit & ((1u << n) - 1);
}

static inline void
mtl_bits_store (guint8 *data,
                guint   bit,
                guint   n,
                guint   value)
{
  guint mask = ((1u << n) - 1) << bit;

  /* Does not read a byte that is written completely: it may be uninitialized. */
  if (bit == 0 && n == 8)
    {
      data[0] = value;
      return;
    }

  value <<= bit;
  data[0] = (data[0] & ~mask) | (value & mask);
  if (bit + n > 8)
    data[1] = (data[1] & ~(mask >> 8)) | (value >> 8 & mask >> 8);
}

/* One lane of an element in memory, of any alignment. It begins at a bit of a byte, 0
 * if lanes are whole bytes. The type must pass mtl_element_type_check_numeric(). */
gboolean  mtl_element_type_is_numeric    (MtlElementType   self);
gboolean  mtl_element_type_check_numeric (MtlElementType   self,
                                          GError         **error);
MtlNumber mtl_number_load                (MtlElementType   type,
                                          const guint8    *data,
                                          guint            bit);
void      mtl_number_store               (MtlNumber        self,
                                          MtlElementType   type,
                                          guint8          *data,
                                          guint            bit);
gboolean  mtl_number_check_fits          (MtlNumber        self,
                                          MtlDType         dtype,
                                          GError         **error);

G_END_DECLS
