/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-number-private.h"

#include <math.h>
#include <string.h>

#include "mtl-error.h"
#include "mtl-float-private.h"

/* The bytes of an integer of fewer bits within one of 64 bits. */
static guint8 *
get_low_bytes (guint64 *value,
               guint    bits)
{
  return (guint8 *) value + (G_BYTE_ORDER == G_BIG_ENDIAN ? sizeof *value - bits / 8 : 0);
}

/* The sign is extended. */
static gint64
load_int (const guint8 *data,
          guint         bit,
          guint         bits)
{
  guint64 value = 0;

  if (bits < 8)
    value = mtl_bits_load (data, bit, bits);
  else
    memcpy (get_low_bytes (&value, bits), data, bits / 8);

  return (gint64) (value << (64 - bits)) >> (64 - bits);
}

static void
store_uint (guint64  value,
            guint8  *data,
            guint    bit,
            guint    bits)
{
  if (bits < 8)
    mtl_bits_store (data, bit, bits, value);
  else
    memcpy (data, get_low_bytes (&value, bits), bits / 8);
}

/* Vectors of numbers are numbers, too. */
gboolean
mtl_element_type_is_numeric (MtlElementType self)
{
  switch (self.code)
    {
    case kDLBool:
      return self.bits == 8;
    case kDLInt:
    case kDLUInt:
      return self.bits >= 2 && self.bits <= 64 && (self.bits & (self.bits - 1)) == 0;
    case kDLFloat:
      return self.bits == 16 || self.bits == 32 || self.bits == 64;
    case kDLComplex:
      return self.bits == 32 || self.bits == 64 || self.bits == 128;
    default:
      return mtl_float_has_kind (self.code, self.bits);
    }
}

gboolean
mtl_element_type_check_numeric (MtlElementType   self,
                                GError         **error)
{
  g_autofree char *name = NULL;

  if (mtl_element_type_is_numeric (self))
    return TRUE;

  name = mtl_element_type_to_string (self);
  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "Elements of type %s cannot be read or written as numbers", name);
  return FALSE;
}

static gboolean
is_ieee (MtlElementType type,
         guint          bits)
{
  return type.code == kDLFloat && type.bits == bits;
}

/* A float of any type. */
static double
load_float (MtlElementType  type,
            const guint8   *data,
            guint           bit)
{
  const MtlFloatKind *kind = &mtl_float_kinds[type.code];
  guint16 pattern;
  double value;
  float narrow;

  if (is_ieee (type, 64))
    {
      memcpy (&value, data, sizeof value);
      return value;
    }
  if (is_ieee (type, 32))
    {
      memcpy (&narrow, data, sizeof narrow);
      return narrow;
    }
  if (type.bits <= 8)
    return mtl_float_decode (kind, mtl_bits_load (data, bit, type.bits));

  memcpy (&pattern, data, sizeof pattern);
  return mtl_float_decode (kind, pattern);
}

static void
store_float (MtlElementType  type,
             double          value,
             guint8         *data,
             guint           bit)
{
  const MtlFloatKind *kind = &mtl_float_kinds[type.code];
  guint16 pattern;
  float narrow = value;

  if (is_ieee (type, 64))
    memcpy (data, &value, sizeof value);
  else if (is_ieee (type, 32))
    memcpy (data, &narrow, sizeof narrow);
  else if (type.bits <= 8)
    mtl_bits_store (data, bit, type.bits, mtl_float_encode (kind, value));
  else
    {
      pattern = mtl_float_encode (kind, value);
      memcpy (data, &pattern, sizeof pattern);
    }
}

/* The type of one part of a complex number. */
static MtlElementType
get_part (MtlElementType type)
{
  return (MtlElementType) { kDLFloat, type.bits / 2, 1, FALSE };
}

MtlNumber
mtl_number_load (MtlElementType  type,
                 const guint8   *data,
                 guint           bit)
{
  switch (type.code)
    {
    case kDLBool:
      return mtl_number_from_uint64 (*data != 0);
    case kDLInt:
      return mtl_number_from_int64 (load_int (data, bit, type.bits));
    case kDLUInt:
      return mtl_number_from_uint64 ((guint64) load_int (data, bit, type.bits)
                                     & G_MAXUINT64 >> (64 - type.bits));
    case kDLComplex:
      return mtl_number_from_complex (load_float (get_part (type), data, 0),
                                      load_float (get_part (type), data + type.bits / 16, 0));
    default:
      return mtl_number_from_double (load_float (type, data, bit));
    }
}

double
mtl_number_to_double (MtlNumber self)
{
  switch (self.kind)
    {
    case MTL_NUMBER_INT:
      return self.i;
    case MTL_NUMBER_UINT:
      return self.u;
    default:
      return self.re;
    }
}

/* An integer as a double that will be rounded to a narrower float. If bits are lost,
 * the last remaining bit is set, so that the second rounding takes them into account. */
static double
to_double_for_rounding (MtlNumber self)
{
  guint64 magnitude;

  if (self.kind == MTL_NUMBER_REAL || self.kind == MTL_NUMBER_COMPLEX)
    return self.re;

  magnitude = self.kind == MTL_NUMBER_INT && self.i < 0 ? -self.u : self.u;
  if (magnitude >> 53 != 0)
    magnitude = (magnitude & ~G_GUINT64_CONSTANT (0x7ff)) | ((magnitude & 0x7ff) != 0 ? 0x800 : 0);

  return self.kind == MTL_NUMBER_INT && self.i < 0 ? -(double) magnitude : (double) magnitude;
}

static gboolean
is_nonzero (MtlNumber self)
{
  switch (self.kind)
    {
    case MTL_NUMBER_INT:
      return self.i != 0;
    case MTL_NUMBER_UINT:
      return self.u != 0;
    case MTL_NUMBER_REAL:
      return self.re != 0;
    default:
      return self.re != 0 || self.im != 0;
    }
}

/* The range of an integer type. The lower end of an unsigned type is 0. */
static void
integer_range (MtlDType  dtype,
               gint64   *min,
               guint64  *max)
{
  guint bits = dtype & 0xff;

  if (dtype >> 8 == kDLInt)
    {
      *max = G_MAXUINT64 >> (65 - bits);
      *min = -(gint64) *max - 1;
    }
  else
    {
      *max = dtype == MTL_DTYPE_BOOL ? 1 : G_MAXUINT64 >> (64 - bits);
      *min = 0;
    }
}

/* Integers wrap around. Floats are truncated, and become the nearest number if the
 * integer type cannot hold the result. NaN becomes 0. */
static guint64
to_integer_bits (MtlNumber self,
                 MtlDType  dtype)
{
  gint64 min;
  guint64 max;
  double value;

  if (self.kind == MTL_NUMBER_INT)
    return self.i;
  if (self.kind == MTL_NUMBER_UINT)
    return self.u;

  integer_range (dtype, &min, &max);
  value = trunc (self.re);
  if (isnan (value))
    return 0;
  if (value <= (double) min)
    return min;
  if (value >= (double) max)
    return max;

  return value < 0 ? (guint64) (gint64) value : (guint64) value;
}

/* The padding bits of an element become 0. */
void
mtl_number_store (MtlNumber       self,
                  MtlElementType  type,
                  guint8         *data,
                  guint           bit)
{
  gboolean is_double = is_ieee (type, 64) || type.bits == 128;
  double value = is_double ? mtl_number_to_double (self) : to_double_for_rounding (self);

  if (type.padded)
    *data = 0;

  switch (type.code)
    {
    case kDLBool:
      *data = is_nonzero (self);
      break;
    case kDLInt:
    case kDLUInt:
      store_uint (to_integer_bits (self, type.code << 8 | type.bits), data, bit, type.bits);
      break;
    case kDLComplex:
      store_float (get_part (type), value, data, 0);
      store_float (get_part (type), self.kind == MTL_NUMBER_COMPLEX ? self.im : 0,
                   data + type.bits / 16, 0);
      break;
    default:
      store_float (type, value, data, bit);
    }
}

/* Truncates the number first. Both limits are included. */
static gboolean
is_within (MtlNumber self,
           gint64    min,
           guint64   max)
{
  switch (self.kind)
    {
    case MTL_NUMBER_INT:
      return self.i >= min && (self.i < 0 || (guint64) self.i <= max);
    case MTL_NUMBER_UINT:
      return self.u <= max;
    default:
      /* Compares with max + 1, because (double) max may be rounded up to that. */
      return trunc (self.re) >= (double) min
             && trunc (self.re) < ldexp ((double) (max / 2 + 1), 1);
    }
}

static char *
number_to_string (MtlNumber self)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  if (self.kind == MTL_NUMBER_INT)
    return g_strdup_printf ("%" G_GINT64_FORMAT, self.i);
  if (self.kind == MTL_NUMBER_UINT)
    return g_strdup_printf ("%" G_GUINT64_FORMAT, self.u);

  return g_strdup (g_ascii_dtostr (text, sizeof text, self.re));
}

static gboolean
set_does_not_fit (MtlNumber    self,
                  const char  *type,
                  gint64       min,
                  guint64      max,
                  GError     **error)
{
  g_autofree char *string = number_to_string (self);

  g_set_error (error, MTL_ERROR, MTL_ERROR_OVERFLOW,
               "The value %s does not fit %s, which takes %" G_GINT64_FORMAT " to %"
               G_GUINT64_FORMAT, string, type, min, max);
  return FALSE;
}

/* Integers must fit exactly. Floats are rounded, and overflow to infinity as in IEEE
 * 754. */
gboolean
mtl_number_check_fits (MtlNumber   self,
                       MtlDType    dtype,
                       GError    **error)
{
  gint64 min;
  guint64 max;

  if (dtype >> 8 != kDLInt && dtype >> 8 != kDLUInt)
    return TRUE;

  integer_range (dtype, &min, &max);
  return is_within (self, min, max)
         || set_does_not_fit (self, mtl_dtype_get_name (dtype), min, max, error);
}

gboolean
mtl_number_to_int64 (MtlNumber   self,
                     gint64     *value,
                     GError    **error)
{
  if (!is_within (self, G_MININT64, G_MAXINT64))
    return set_does_not_fit (self, "int64", G_MININT64, G_MAXINT64, error);

  *value = to_integer_bits (self, MTL_DTYPE_INT64);
  return TRUE;
}

gboolean
mtl_number_to_uint64 (MtlNumber   self,
                      guint64    *value,
                      GError    **error)
{
  if (!is_within (self, 0, G_MAXUINT64))
    return set_does_not_fit (self, "uint64", 0, G_MAXUINT64, error);

  *value = to_integer_bits (self, MTL_DTYPE_UINT64);
  return TRUE;
}

static gboolean
is_integer (MtlNumber self)
{
  return self.kind == MTL_NUMBER_INT || self.kind == MTL_NUMBER_UINT;
}

/* Exact for integers and floats, even though neither type can hold all values of the
 * other. */
static gboolean
integer_equals_double (MtlNumber integer,
                       double    value)
{
  if (value != trunc (value) || mtl_number_to_double (integer) != value)
    return FALSE;

  if (integer.kind == MTL_NUMBER_INT)
    return value < 0x1p63 && (gint64) value == integer.i;

  return value < 0x1p64 && (guint64) value == integer.u;
}

gboolean
mtl_number_equal (MtlNumber a,
                  MtlNumber b)
{
  double a_im = a.kind == MTL_NUMBER_COMPLEX ? a.im : 0;
  double b_im = b.kind == MTL_NUMBER_COMPLEX ? b.im : 0;

  if (is_integer (a) && is_integer (b))
    return a.u == b.u && (a.kind == b.kind || a.i >= 0);

  if (a_im != b_im)
    return FALSE;

  if (is_integer (a))
    return integer_equals_double (a, b.re);
  if (is_integer (b))
    return integer_equals_double (b, a.re);

  return a.re == b.re;
}

gboolean
mtl_number_is_nan (MtlNumber self)
{
  return (self.kind == MTL_NUMBER_REAL && isnan (self.re))
         || (self.kind == MTL_NUMBER_COMPLEX && (isnan (self.re) || isnan (self.im)));
}

/* The formula of numpy.isclose(): |a - b| <= atol + rtol · |b|. */
gboolean
mtl_number_is_close (MtlNumber           a,
                     MtlNumber           b,
                     const MtlTolerance *tolerance)
{
  double a_im = a.kind == MTL_NUMBER_COMPLEX ? a.im : 0;
  double b_im = b.kind == MTL_NUMBER_COMPLEX ? b.im : 0;
  double re, im;

  if (mtl_number_equal (a, b)
      || (tolerance->nans_are_equal && mtl_number_is_nan (a) && mtl_number_is_nan (b)))
    return TRUE;

  /* The numbers may differ by less than the precision of doubles. */
  if (tolerance->rtol == 0 && tolerance->atol == 0)
    return FALSE;

  re = mtl_number_to_double (b);
  im = b_im;
  if (!isfinite (re) || !isfinite (im))
    return FALSE;

  return hypot (mtl_number_to_double (a) - re, a_im - b_im)
         <= tolerance->atol + tolerance->rtol * hypot (re, im);
}
