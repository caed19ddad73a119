/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-number-private.h"

#include <math.h>
#include <string.h>

#include "mtl-error.h"

/* Rounds to nearest even, to a float of the usual kind: a sign, then
 * exponent_bits and mantissa_bits, infinities and NaN at the largest exponent. */
static guint32
encode_float (double value,
              guint  exponent_bits,
              guint  mantissa_bits)
{
  const guint32 largest_exponent = (1u << exponent_bits) - 1;
  const gint64 bias = (1 << (exponent_bits - 1)) - 1;
  guint64 bits, mantissa, quotient, rest, half;
  guint32 sign, result;
  gint64 exponent;
  guint shift;

  memcpy (&bits, &value, sizeof bits);
  sign = (guint32) (bits >> 63) << (exponent_bits + mantissa_bits);
  exponent = bits >> 52 & 0x7ff;
  mantissa = bits & ((G_GUINT64_CONSTANT (1) << 52) - 1);

  if (exponent == 0x7ff)
    return sign | largest_exponent << mantissa_bits
           | (mantissa != 0 ? 1u << (mantissa_bits - 1) : 0);

  if (exponent == 0) /* far below the smallest of the narrower types */
    return sign;

  exponent += bias - 1023;
  mantissa |= G_GUINT64_CONSTANT (1) << 52;
  shift = 52 - mantissa_bits + (exponent < 1 ? MIN (1 - exponent, 60) : 0);
  if (shift > 54)
    return sign;

  quotient = mantissa >> shift;
  rest = mantissa & ((G_GUINT64_CONSTANT (1) << shift) - 1);
  half = G_GUINT64_CONSTANT (1) << (shift - 1);
  if (rest > half || (rest == half && (quotient & 1) != 0))
    quotient++;

  /* Carries from the mantissa run on into the exponent. */
  result = exponent < 1 ? (guint32) quotient
                        : (guint32) quotient + (((guint32) exponent - 1) << mantissa_bits);
  if (exponent > largest_exponent || result >= largest_exponent << mantissa_bits)
    result = largest_exponent << mantissa_bits;

  return sign | result;
}

static double
decode_float (guint32 bits,
              guint   exponent_bits,
              guint   mantissa_bits)
{
  const guint32 largest_exponent = (1u << exponent_bits) - 1;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  guint32 exponent = bits >> mantissa_bits & largest_exponent;
  guint32 mantissa = bits & ((1u << mantissa_bits) - 1);
  double value;

  if (exponent == largest_exponent)
    value = mantissa != 0 ? NAN : INFINITY;
  else if (exponent == 0)
    value = ldexp (mantissa, 1 - bias - (int) mantissa_bits);
  else
    value = ldexp (mantissa | 1u << mantissa_bits, (int) exponent - bias - (int) mantissa_bits);

  return bits >> (exponent_bits + mantissa_bits) & 1 ? -value : value;
}

static double
load_half (gconstpointer data)
{
  guint16 bits;

  memcpy (&bits, data, sizeof bits);
  return decode_float (bits, 5, 10);
}

static double
load_bfloat (gconstpointer data)
{
  guint16 bits;

  memcpy (&bits, data, sizeof bits);
  return decode_float (bits, 8, 7);
}

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
store_bits16 (guint32  bits,
              gpointer data)
{
  guint16 narrow = bits;

  memcpy (data, &narrow, sizeof narrow);
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
load_int (gconstpointer data,
          guint         bits)
{
  gint64 value = 0;
  gint8 i8;
  gint16 i16;
  gint32 i32;

  switch (bits)
    {
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
            gpointer data,
            guint    bits)
{
  guint8 u8 = value;
  guint16 u16 = value;
  guint32 u32 = value;

  switch (bits)
    {
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

gboolean
mtl_element_type_is_numeric (MtlElementType self)
{
  if (self.lanes != 1)
    return FALSE;

  switch (self.code)
    {
    case MTL_TYPE_CODE_BOOL:
      return self.bits == 8;
    case MTL_TYPE_CODE_INT:
    case MTL_TYPE_CODE_UINT:
      return self.bits == 8 || self.bits == 16 || self.bits == 32 || self.bits == 64;
    case MTL_TYPE_CODE_FLOAT:
      return self.bits == 16 || self.bits == 32 || self.bits == 64;
    case MTL_TYPE_CODE_BFLOAT:
      return self.bits == 16;
    case MTL_TYPE_CODE_COMPLEX:
      return self.bits == 32 || self.bits == 64 || self.bits == 128;
    default:
      return FALSE;
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

MtlNumber
mtl_number_load (MtlDType      dtype,
                 gconstpointer data)
{
  const guint8 *bytes = data;

  switch ((int) dtype)
    {
    case MTL_DTYPE_BOOL:
      return mtl_number_from_uint64 (*bytes != 0);
    case MTL_DTYPE_INT8:
    case MTL_DTYPE_INT16:
    case MTL_DTYPE_INT32:
    case MTL_DTYPE_INT64:
      return mtl_number_from_int64 (load_int (data, dtype & 0xff));
    case MTL_DTYPE_UINT8:
      return mtl_number_from_uint64 ((guint8) load_int (data, 8));
    case MTL_DTYPE_UINT16:
      return mtl_number_from_uint64 ((guint16) load_int (data, 16));
    case MTL_DTYPE_UINT32:
      return mtl_number_from_uint64 ((guint32) load_int (data, 32));
    case MTL_DTYPE_UINT64:
      return mtl_number_from_uint64 (load_int (data, 64));
    case MTL_DTYPE_FLOAT16:
      return mtl_number_from_double (load_half (data));
    case MTL_DTYPE_FLOAT32:
      return mtl_number_from_double (load_float (data));
    case MTL_DTYPE_FLOAT64:
      return mtl_number_from_double (load_double (data));
    case MTL_DTYPE_BFLOAT16:
      return mtl_number_from_double (load_bfloat (data));
    case MTL_DTYPE_COMPLEX32:
      return mtl_number_from_complex (load_half (bytes), load_half (bytes + 2));
    case MTL_DTYPE_COMPLEX64:
      return mtl_number_from_complex (load_float (bytes), load_float (bytes + 4));
    case MTL_DTYPE_COMPLEX128:
      return mtl_number_from_complex (load_double (bytes), load_double (bytes + 8));
    default:
      g_return_val_if_reached (mtl_number_from_double (NAN));
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

/* An integer as a double from which a narrower float is rounded: where bits are
 * lost, the last one that is left is set, so that the second rounding sees that
 * there was more. */
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

/* The range of an integer type; the lower end of an unsigned one is 0. */
static void
integer_range (MtlDType  dtype,
               gint64   *min,
               guint64  *max)
{
  guint bits = dtype & 0xff;

  if (dtype >> 8 == MTL_TYPE_CODE_INT)
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

/* Integers wrap around; floats are cut towards zero and, where the integer has
 * no such value, become the nearest that it has; NaN becomes 0. */
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

void
mtl_number_store (MtlNumber self,
                  MtlDType  dtype,
                  gpointer  data)
{
  guint8 *bytes = data;
  double re = mtl_number_to_double (self);
  double im = self.kind == MTL_NUMBER_COMPLEX ? self.im : 0;

  switch ((int) dtype)
    {
    case MTL_DTYPE_BOOL:
      *bytes = is_nonzero (self);
      break;
    case MTL_DTYPE_INT8:
    case MTL_DTYPE_INT16:
    case MTL_DTYPE_INT32:
    case MTL_DTYPE_INT64:
    case MTL_DTYPE_UINT8:
    case MTL_DTYPE_UINT16:
    case MTL_DTYPE_UINT32:
    case MTL_DTYPE_UINT64:
      store_uint (to_integer_bits (self, dtype), data, dtype & 0xff);
      break;
    case MTL_DTYPE_FLOAT16:
      store_bits16 (encode_float (to_double_for_rounding (self), 5, 10), data);
      break;
    case MTL_DTYPE_FLOAT32:
      store_float (to_double_for_rounding (self), data);
      break;
    case MTL_DTYPE_FLOAT64:
      store_double (re, data);
      break;
    case MTL_DTYPE_BFLOAT16:
      store_bits16 (encode_float (to_double_for_rounding (self), 8, 7), data);
      break;
    case MTL_DTYPE_COMPLEX32:
      store_bits16 (encode_float (to_double_for_rounding (self), 5, 10), bytes);
      store_bits16 (encode_float (im, 5, 10), bytes + 2);
      break;
    case MTL_DTYPE_COMPLEX64:
      store_float (to_double_for_rounding (self), bytes);
      store_float (im, bytes + 4);
      break;
    case MTL_DTYPE_COMPLEX128:
      store_double (re, bytes);
      store_double (im, bytes + 8);
      break;
    default:
      g_return_if_reached ();
    }
}

/* Compares with what lies within [min, max] after cutting towards zero. */
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
      /* (double) max may be max + 1, which is one too many. */
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

/* Integers are strict about what they take; floats round, and overflow to
 * infinity as IEEE 754 has it. */
gboolean
mtl_number_check_fits (MtlNumber   self,
                       MtlDType    dtype,
                       GError    **error)
{
  gint64 min;
  guint64 max;

  if (dtype >> 8 != MTL_TYPE_CODE_INT && dtype >> 8 != MTL_TYPE_CODE_UINT)
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

/* Exact also between integers and floats, of which neither holds the other. */
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

/* Source: numpy.isclose, |a - b| <= atol + rtol · |b|. */
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

  /* Not as close as doubles can tell, but different. */
  if (rtol == 0 && atol == 0)
    return FALSE;

  re = mtl_number_to_double (b);
  im = b_im;
  if (!isfinite (re) || !isfinite (im))
    return FALSE;

  return hypot (mtl_number_to_double (a) - re, a_im - b_im) <= atol + rtol * hypot (re, im);
}
