/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-number-private.h"

#include <math.h>
#include <string.h>

#include "mtl-error.h"
#include "mtl-float-private.h"

static double
load_float (gconstpointer data)
{
  float value;

  memcpy (&value, data, sizeof value);
  return value;
}

static double
load_double (gconstpointer data)
{
  double value;

  memcpy (&value, data, sizeof value);
  return value;
}

static void
store_float (double   value,
             gpointer data)
{
  float narrow = value;

  memcpy (data, &narrow, sizeof narrow);
}

static void
store_double (double   value,
              gpointer data)
{
  memcpy (data, &value, sizeof value);
}

static gint64
load_int (const guint8 *data,
          guint         bit,
          guint         bits)
{
  gint64 value = 0, sign;
  gint8 i8;
  gint16 i16;
  gint32 i32;

  switch (bits)
    {
    case 2:
    case 4:
      sign = 1 << (bits - 1);
      return (mtl_bits_load (data, bit, bits) ^ sign) - sign;
    case 8:
      memcpy (&i8, data, 1);
      return i8;
    case 16:
      memcpy (&i16, data, 2);
      return i16;
    case 32:
      memcpy (&i32, data, 4);
      return i32;
    default:
      memcpy (&value, data, 8);
      return value;
    }
}

static void
store_uint (guint64  value,
            guint8  *data,
            guint    bit,
            guint    bits)
{
  guint8 u8 = value;
  guint16 u16 = value;
  guint32 u32 = value;

  switch (bits)
    {
    case 2:
    case 4:
      mtl_bits_store (data, bit, bits, value);
      break;
    case 8:
      memcpy (data, &u8, 1);
      break;
    case 16:
      memcpy (data, &u16, 2);
      break;
    case 32:
      memcpy (data, &u32, 4);
      break;
    default:
      memcpy (data, &value, 8);
    }
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

/* Loads a narrow float of that kind. */
static double
load_narrow (const MtlFloatKind *kind,
             const guint8       *data,
             guint               bit,
             guint               bits)
{
  guint16 pattern;

  if (bits <= 8)
    return mtl_float_decode (kind, mtl_bits_load (data, bit, bits));

  memcpy (&pattern, data, sizeof pattern);
  return mtl_float_decode (kind, pattern);
}

static void
store_narrow (const MtlFloatKind *kind,
              double              value,
              guint8             *data,
              guint               bit,
              guint               bits)
{
  guint16 pattern = mtl_float_encode (kind, value);

  if (bits <= 8)
    mtl_bits_store (data, bit, bits, pattern);
  else
    memcpy (data, &pattern, sizeof pattern);
}

static MtlNumber
load_complex (const guint8 *data,
              guint         bits)
{
  const MtlFloatKind *half = &mtl_float_kinds[kDLFloat];

  switch (bits)
    {
    case 32:
      return mtl_number_from_complex (load_narrow (half, data, 0, 16),
                                      load_narrow (half, data + 2, 0, 16));
    case 64:
      return mtl_number_from_complex (load_float (data), load_float (data + 4));
    default:
      return mtl_number_from_complex (load_double (data), load_double (data + 8));
    }
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
      return load_complex (data, type.bits);
    case kDLFloat:
      if (type.bits == 32)
        return mtl_number_from_double (load_float (data));
      if (type.bits == 64)
        return mtl_number_from_double (load_double (data));
      G_GNUC_FALLTHROUGH;
    default:
      return mtl_number_from_double (load_narrow (&mtl_float_kinds[type.code], data, bit,
                                                  type.bits));
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

static void
store_complex (double  re,
               double  im,
               guint8 *data,
               guint   bits)
{
  const MtlFloatKind *half = &mtl_float_kinds[kDLFloat];

  switch (bits)
    {
    case 32:
      store_narrow (half, re, data, 0, 16);
      store_narrow (half, im, data + 2, 0, 16);
      break;
    case 64:
      store_float (re, data);
      store_float (im, data + 4);
      break;
    default:
      store_double (re, data);
      store_double (im, data + 8);
    }
}

/* The padding bits of an element become 0. */
void
mtl_number_store (MtlNumber       self,
                  MtlElementType  type,
                  guint8         *data,
                  guint           bit)
{
  double narrow = to_double_for_rounding (self);

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
      store_complex (type.bits == 128 ? mtl_number_to_double (self) : narrow,
                     self.kind == MTL_NUMBER_COMPLEX ? self.im : 0, data, type.bits);
      break;
    case kDLFloat:
      if (type.bits == 32)
        {
          store_float (narrow, data);
          break;
        }
      if (type.bits == 64)
        {
          store_double (mtl_number_to_double (self), data);
          break;
        }
      G_GNUC_FALLTHROUGH;
    default:
      store_narrow (&mtl_float_kinds[type.code], narrow, data, bit, type.bits);
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
mtl_number_is_close (MtlNumber a,
                     MtlNumber b,
                     double    rtol,
                     double    atol)
{
  double a_im = a.kind == MTL_NUMBER_COMPLEX ? a.im : 0;
  double b_im = b.kind == MTL_NUMBER_COMPLEX ? b.im : 0;
  double re, im;

  if (mtl_number_equal (a, b))
    return TRUE;

  /* The numbers may differ by less than the precision of doubles. */
  if (rtol == 0 && atol == 0)
    return FALSE;

  re = mtl_number_to_double (b);
  im = b_im;
  if (!isfinite (re) || !isfinite (im))
    return FALSE;

  return hypot (mtl_number_to_double (a) - re, a_im - b_im) <= atol + rtol * hypot (re, im);
}
