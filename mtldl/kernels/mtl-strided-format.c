/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-strided-format-private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mtl-number-private.h"
#include "mtl-text-private.h"

/* The defaults of NumPy: numpy.get_printoptions(). */
#define LINE_WIDTH 75
#define EDGE_ITEMS 3
#define PRECISION 8

/* An array of many short axes can have more elements than anyone reads, even at their
 * edges. */
#define MAX_SHOWN 100000

/* The widths that all real parts share, or all imaginary ones. */
typedef struct
{
  gboolean exponential;
  gboolean any_nonfinite;
  gboolean any_negative_infinity; /* or another number whose sign takes space */
  double min; /* magnitudes, without 0 */
  double max;
  int left;
  int fraction;
  int exponent;
} FloatFormat;

typedef struct
{
  const MtlStrided *strided;
  MtlDType dtype;
  MtlDType part; /* the type of a complex number's parts, or dtype itself */
  gboolean summarize;
  int width;     /* the width of integers and truth values */
  FloatFormat re;
  FloatFormat im;
  MtlText text;
  MtlText word;  /* the next element, before it gets its place in a line */
} Formatter;

static void
formatter_clear (Formatter *self)
{
  mtl_text_clear (&self->text);
  mtl_text_clear (&self->word);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Formatter, formatter_clear)

typedef void (* VisitFunc) (Formatter *self,
                            MtlNumber  number);

static gboolean
is_summarized (const Formatter *self,
               gint64           extent)
{
  return self->summarize && extent > 2 * EDGE_ITEMS;
}

static MtlNumber
load_element (const Formatter *self,
              gint64           offset)
{
  const MtlStrided *strided = self->strided;
  gint64 position = offset * strided->layout->item_bits;

  return mtl_number_load (strided->type, strided->data + (position >> 3), position & 7);
}

/* Calls func for the elements that are shown, in order. */
static void
visit (Formatter *self,
       guint32    axis,
       gint64     offset,
       VisitFunc  func)
{
  const MtlLayout *layout = self->strided->layout;
  gint64 extent, stride;

  if (axis == layout->n_dims)
    {
      func (self, load_element (self, offset));
      return;
    }

  extent = mtl_layout_shape (layout)[axis];
  stride = mtl_layout_strides (layout)[axis];
  for (gint64 i = 0; i < extent; i++)
    {
      if (i == EDGE_ITEMS && is_summarized (self, extent))
        i = extent - EDGE_ITEMS;
      visit (self, axis + 1, offset + i * stride, func);
    }
}

static void
measure_range (FloatFormat *self,
               double       value)
{
  double magnitude = fabs (value);

  if (!isfinite (value))
    {
      self->any_nonfinite = TRUE;
      self->any_negative_infinity |= isinf (value) && value < 0;
      return;
    }

  if (magnitude > 0)
    {
      self->min = self->max == 0 ? magnitude : MIN (self->min, magnitude);
      self->max = MAX (self->max, magnitude);
    }
}

static void
measure_width (Formatter   *formatter,
               FloatFormat *self,
               double       value,
               gboolean     sign)
{
  g_autofree char *text = NULL;
  const char *point, *exponent;

  if (!isfinite (value))
    return;

  text = mtl_format_float (value, formatter->part, self->exponential, PRECISION);
  point = strchr (text, '.');
  exponent = strchr (text, 'e');
  self->left = MAX (self->left, point - text + (sign && !signbit (value)));
  self->fraction = MAX (self->fraction, (int) strcspn (point + 1, "e"));
  if (exponent != NULL)
    self->exponent = MAX (self->exponent, (int) strlen (exponent) - 2);
}

static void
measure_first (Formatter *self,
               MtlNumber  number)
{
  if (number.kind == MTL_NUMBER_COMPLEX)
    measure_range (&self->im, number.im);
  if (number.kind == MTL_NUMBER_COMPLEX || number.kind == MTL_NUMBER_REAL)
    measure_range (&self->re, number.re);
}

static char *
format_integer (Formatter *self,
                MtlNumber  number)
{
  if (self->dtype == MTL_DTYPE_BOOL)
    {
      if (number.u == 0)
        return g_strdup ("False");

      /* True is as wide as False in an array. */
      return g_strdup (self->strided->layout->n_dims > 0 ? " True" : "True");
    }
  if (number.kind == MTL_NUMBER_INT)
    return g_strdup_printf ("%" G_GINT64_FORMAT, number.i);

  return g_strdup_printf ("%" G_GUINT64_FORMAT, number.u);
}

static void
measure_second (Formatter *self,
                MtlNumber  number)
{
  if (number.kind == MTL_NUMBER_COMPLEX)
    measure_width (self, &self->im, number.im, TRUE);

  if (number.kind == MTL_NUMBER_COMPLEX || number.kind == MTL_NUMBER_REAL)
    measure_width (self, &self->re, number.re, FALSE);
  else
    {
      g_autofree char *text = format_integer (self, number);

      self->width = MAX (self->width, (int) strlen (text));
    }
}

/* The value from which the decimal digits of a type no longer reach the point. */
static double
get_exponent_cutoff (MtlDType part,
                     double   most)
{
  switch ((int) part)
    {
    case MTL_DTYPE_FLOAT32:
      return 1e6;
    case MTL_DTYPE_FLOAT64:
      return most;
    default:
      return 1e3;
    }
}

/* Rounds to the type in which NumPy compares them. Its narrowest float is float16. */
static double
round_to_part (double   value,
               MtlDType part)
{
  MtlElementType type = mtl_element_type_new (part);
  guint8 item[8];

  if (type.bits <= 8)
    return value;

  mtl_number_store (mtl_number_from_double (value), type, item, 0);
  return mtl_number_to_double (mtl_number_load (type, item, 0));
}

static void
choose_notation (FloatFormat *self,
                 MtlDType     part)
{
  if (self->max > 0)
    self->exponential = self->max >= get_exponent_cutoff (part, 1e8)
                        || self->min < round_to_part (1e-4, part)
                        || round_to_part (self->max / self->min, part) > 1000;
}

/* Makes room for nan and inf if the numbers are narrower. */
static void
widen_for_nonfinite (FloatFormat *self)
{
  int right = self->fraction + (self->exponential ? self->exponent + 2 : 0);

  if (self->any_nonfinite)
    self->left = MAX (self->left, 3 + self->any_negative_infinity - right - 1);
}

/* Takes the text. All exponents get as many digits as the longest. */
static char *
pad_exponent (char *text,
              int   n_digits)
{
  int start = strcspn (text, "e") + 2; /* the first digit of the exponent */
  char *padded = g_strdup_printf ("%.*s%0*d", start, text, n_digits, atoi (text + start));

  g_free (text);
  return padded;
}

static void
append_float (Formatter   *self,
              FloatFormat *format,
              double       value,
              gboolean     sign)
{
  int right = format->fraction + (format->exponential ? format->exponent + 2 : 0);
  const char *plus = sign && !signbit (value) ? "+" : "";
  g_autofree char *text = NULL;
  int left, fraction;

  if (!isfinite (value))
    {
      /* NaN has no sign. If sign is set, there is always a plus. */
      text = g_strdup_printf ("%s%s", isnan (value) ? (sign ? "+" : "") : value < 0 ? "-" : plus,
                              isnan (value) ? "nan" : "inf");
      mtl_text_append_printf (&self->word, "%*s", format->left + right + 1, text);
      return;
    }

  text = mtl_format_float (value, self->part, format->exponential, PRECISION);
  left = strcspn (text, ".");
  fraction = strcspn (text + left + 1, "e");
  if (format->exponential && fraction < format->fraction)
    {
      g_free (text);
      text = mtl_format_decimals (value, format->fraction, "e");
      fraction = format->fraction;
    }
  if (format->exponential)
    text = pad_exponent (text, format->exponent);

  mtl_text_append_printf (&self->word, "%*s%s%s%*s", format->left - left - (int) strlen (plus),
                          "", plus, text, format->fraction - fraction, "");
}

static gsize
get_trimmed_len (const MtlText *text)
{
  gsize len = text->len;

  while (len > 0 && text->str[len - 1] == ' ')
    len--;
  return len;
}

/* The j comes before the spaces that make the numbers equally wide. */
static void
append_j (MtlText *word)
{
  gsize end = get_trimmed_len (word);

  mtl_text_append_c (word, ' ');
  if (end < word->len)
    word->str[end] = 'j';
}

static void
append_to_word (Formatter *self,
                MtlNumber  number)
{
  if (number.kind == MTL_NUMBER_INT || number.kind == MTL_NUMBER_UINT)
    {
      g_autofree char *text = format_integer (self, number);

      mtl_text_append_printf (&self->word, "%*s", self->width, text);
      return;
    }

  append_float (self, &self->re, number.re, FALSE);
  if (number.kind == MTL_NUMBER_COMPLEX)
    {
      append_float (self, &self->im, number.im, TRUE);
      append_j (&self->word);
    }
}

/* Appends a word to the line that begins at line_start, or starts a new, indented line. */
static void
extend_line (MtlText    *text,
             gsize      *line_start,
             const char *word,
             gsize       word_len,
             gsize       width,
             gsize       indent)
{
  gsize line_len = text->len - *line_start;

  if (line_len + word_len > width && line_len > indent)
    {
      mtl_text_truncate (text, get_trimmed_len (text));
      mtl_text_append_c (text, '\n');
      *line_start = text->len;
      mtl_text_append_fill (text, ' ', indent);
    }
  mtl_text_append_len (text, word, word_len);
}

static void
append_row (Formatter *self,
            guint32    axis,
            gint64     offset,
            gsize      indent,
            gsize      width)
{
  gint64 extent = mtl_layout_shape (self->strided->layout)[axis];
  gint64 stride = mtl_layout_strides (self->strided->layout)[axis];
  gsize line_start = self->text.len - indent;

  for (gint64 i = 0; i < extent; i++)
    {
      if (i == EDGE_ITEMS && is_summarized (self, extent))
        {
          extend_line (&self->text, &line_start, "...", 3, width - 1, indent);
          mtl_text_append_c (&self->text, ' ');
          i = extent - EDGE_ITEMS;
        }

      mtl_text_truncate (&self->word, 0);
      visit (self, axis + 1, offset + i * stride, append_to_word);
      extend_line (&self->text, &line_start, self->word.str, self->word.len, width - 1, indent);
      if (i + 1 < extent)
        mtl_text_append_c (&self->text, ' ');
    }
}

/* Appends one axis with its brackets. */
static void
append_axis (Formatter *self,
             guint32    axis,
             gint64     offset,
             gsize      indent,
             gsize      width)
{
  const MtlLayout *layout = self->strided->layout;
  gint64 extent = mtl_layout_shape (layout)[axis];
  guint32 axes_left = layout->n_dims - axis;

  mtl_text_append_c (&self->text, '[');
  if (axes_left == 1)
    append_row (self, axis, offset, indent, width);
  else
    for (gint64 i = 0; i < extent; i++)
      {
        if (i == EDGE_ITEMS && is_summarized (self, extent))
          {
            mtl_text_append (&self->text, "...");
            mtl_text_append_fill (&self->text, '\n', axes_left - 1);
            mtl_text_append_fill (&self->text, ' ', indent);
            i = extent - EDGE_ITEMS;
          }

        append_axis (self, axis + 1, offset + i * mtl_layout_strides (layout)[axis], indent + 1,
                     width - 1);
        if (i + 1 < extent)
          {
            mtl_text_append_fill (&self->text, '\n', axes_left - 1);
            mtl_text_append_fill (&self->text, ' ', indent);
          }
      }
  mtl_text_append_c (&self->text, ']');
}

static MtlDType
get_part (MtlDType dtype)
{
  switch ((int) dtype)
    {
    case MTL_DTYPE_COMPLEX32:
      return MTL_DTYPE_FLOAT16;
    case MTL_DTYPE_COMPLEX64:
      return MTL_DTYPE_FLOAT32;
    case MTL_DTYPE_COMPLEX128:
      return MTL_DTYPE_FLOAT64;
    default:
      return dtype;
    }
}

static gboolean
shows_too_many (const Formatter *self)
{
  const MtlLayout *layout = self->strided->layout;
  gint64 shown = 1;

  for (guint32 axis = 0; axis < layout->n_dims; axis++)
    {
      gint64 extent = mtl_layout_shape (layout)[axis];

      shown *= is_summarized (self, extent) ? 2 * EDGE_ITEMS : extent;
      if (self->summarize && shown > MAX_SHOWN)
        return TRUE;
    }

  return FALSE;
}

/* A single number needs no columns: it has all digits, and an exponent only if the
 * plain form would be long. */
static char *
format_scalar_float (double     value,
                     MtlDType   part,
                     gboolean   sign,
                     gboolean   is_complex)
{
  const char *plus = sign && !(value < 0 || (value == 0 && signbit (value))) ? "+" : "";
  char six_digits[G_ASCII_DTOSTR_BUF_SIZE];
  g_autofree char *text = NULL;
  gboolean exponential;
  char *point;

  if (isnan (value))
    return g_strconcat (plus, "nan", NULL);
  if (isinf (value))
    return g_strconcat (plus, value < 0 ? "-inf" : "inf", NULL);

  if (mtl_is_of_ml_dtypes (part))
    return g_strconcat (g_ascii_formatd (six_digits, sizeof six_digits, "%g", value), NULL);

  exponential = fabs (value) >= get_exponent_cutoff (part, 1e16)
                || (value != 0 && fabs (value) < round_to_part (1e-4, part));
  text = mtl_format_float (value, part, exponential, 24);
  point = strchr (text, '.');
  if (exponential || is_complex)
    {
      if (point[1] == '\0' || point[1] == 'e')
        memmove (point, point + 1, strlen (point));
      return g_strconcat (plus, text, NULL);
    }

  return g_strconcat (plus, text, point[1] == '\0' ? "0" : NULL, NULL);
}

static char *
format_scalar (Formatter *self)
{
  MtlNumber number = load_element (self, self->strided->layout->offset);
  g_autofree char *re = NULL;
  g_autofree char *im = NULL;

  if (number.kind == MTL_NUMBER_INT || number.kind == MTL_NUMBER_UINT)
    return format_integer (self, number);
  if (number.kind == MTL_NUMBER_REAL)
    return format_scalar_float (number.re, self->part, FALSE, FALSE);

  re = format_scalar_float (number.re, self->part, FALSE, TRUE);
  im = format_scalar_float (number.im, self->part, TRUE, TRUE);
  if (number.re == 0 && !signbit (number.re))
    return g_strconcat (im[0] == '+' ? im + 1 : im, "j", NULL);

  return g_strconcat ("(", re, im, "j)", NULL);
}

char *
mtl_strided_format (const MtlStrided *self,
                    gsize             max_items)
{
  const MtlLayout *layout = self->layout;
  g_auto (Formatter) formatter = { .strided = self };

  if (mtl_layout_is_empty (layout))
    return g_strdup ("[]");

  formatter.dtype = mtl_element_type_get_dtype (self->type);
  formatter.part = get_part (formatter.dtype);
  formatter.summarize = (guint64) mtl_layout_get_volume (layout) > MIN (max_items, MAX_SHOWN);
  if (shows_too_many (&formatter))
    return g_strdup ("[...]");
  if (layout->n_dims == 0)
    return format_scalar (&formatter);

  formatter.im.any_negative_infinity = TRUE; /* its sign is always shown */
  visit (&formatter, 0, layout->offset, measure_first);
  choose_notation (&formatter.re, formatter.part);
  choose_notation (&formatter.im, formatter.part);
  visit (&formatter, 0, layout->offset, measure_second);
  widen_for_nonfinite (&formatter.re);
  widen_for_nonfinite (&formatter.im);

  append_axis (&formatter, 0, layout->offset, 1, LINE_WIDTH);
  return mtl_text_check (&formatter.word, NULL) ? mtl_text_steal (&formatter.text, NULL) : NULL;
}
