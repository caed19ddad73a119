/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-strided-format-private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mtl-number-private.h"

gboolean
mtl_is_of_ml_dtypes (MtlDType part)
{
  return part >> 8 != kDLFloat;
}

static double
round_to_six_digits (double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  return g_ascii_strtod (g_ascii_formatd (text, sizeof text, "%.5e", value), NULL);
}

/* Checks whether the text, when read, is exactly the same element; for the types of
 * ml_dtypes, the number that it prints, as far fewer digits would distinguish their
 * elements: 0.9 instead of 0.875. */
static gboolean
is_exact (const char *text,
          double      value,
          MtlDType    part)
{
  MtlElementType type = mtl_element_type_new (part);
  guint8 a[16] = { 0 }, b[16] = { 0 }; /* large enough for any element */

  if (mtl_is_of_ml_dtypes (part))
    return g_ascii_strtod (text, NULL) == round_to_six_digits (value);

  mtl_number_store (mtl_number_from_double (value), type, a, 0);
  mtl_number_store (mtl_number_from_double (g_ascii_strtod (text, NULL)), type, b, 0);
  return memcmp (a, b, sizeof a) == 0;
}

/* Moves away from 0 by a unit of the last digit. Fails if all digits are 9. */
static gboolean
increment_last_digit (char *text)
{
  char *end = text + strcspn (text, "e");
  char *digit = end - 1;

  while (digit >= text && (*digit == '9' || *digit == '.'))
    digit--;
  if (digit < text || *digit == '-')
    return FALSE;

  ++*digit;
  for (digit++; digit < end; digit++)
    if (*digit == '9')
      *digit = '0';

  return TRUE;
}

/* The numbers below a power of two are closer to it than those above. So the nearest
 * decimal, if it is below, may be that of another number, and the one above it right.
 * The same goes for half of a last digit, which printf() rounds to even. */
static gboolean
needs_no_more_decimals (double    value,
                        MtlDType  part,
                        int       decimals,
                        int      *exponent)
{
  char text[64], format[16];

  g_snprintf (format, sizeof format, "%%.%de", decimals);
  g_ascii_formatd (text, sizeof text, format, value);
  *exponent = atoi (strchr (text, 'e') + 1);
  return is_exact (text, value, part)
         || (increment_last_digit (text) && is_exact (text, value, part));
}

/* The smallest number of decimals, as in d.ddd, that distinguishes the value from its
 * neighbors. */
static int
count_decimals (double    value,
                MtlDType  part,
                int      *exponent)
{
  int decimals = 0;

  while (decimals < 17 && !needs_no_more_decimals (value, part, decimals, exponent))
    decimals++;

  return decimals;
}

/* Always has a point, even if no digit follows it: 2., 2.e+10. */
char *
mtl_format_decimals (double      value,
                     int         decimals,
                     const char *conversion)
{
  char format[16], text[400];
  gsize digits;

  g_snprintf (format, sizeof format, "%%.%d%s", decimals, conversion);
  g_ascii_formatd (text, sizeof text, format, value);
  if (strchr (text, '.') != NULL)
    return g_strdup (text);

  digits = strcspn (text, "e");
  return g_strdup_printf ("%.*s.%s", (int) digits, text, text + digits);
}

/* Removes zeros at the end of the fraction: 1.50e+02 or 150.50000. */
static void
trim_zeros (char *text)
{
  char *exponent = strchr (text, 'e');
  char *end, *kept;

  end = exponent != NULL ? exponent : text + strlen (text);
  for (kept = end; kept[-1] == '0'; kept--)
    ;
  memmove (kept, end, strlen (end) + 1);
}

/* The value alone, without padding, in the notation of its format. There is always a
 * point. */
char *
mtl_format_float (double    value,
                  MtlDType  part,
                  gboolean  exponential,
                  int       most_decimals)
{
  int exponent, decimals = count_decimals (value, part, &exponent);
  char *text;

  if (!exponential)
    decimals -= exponent;

  decimals = CLAMP (decimals, 0, most_decimals);
  text = mtl_format_decimals (value, decimals, exponential ? "e" : "f");
  if (decimals < most_decimals && !is_exact (text, value, part))
    increment_last_digit (text);

  trim_zeros (text);
  return text;
}
