/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* mtldl show --json. */

#include "mtldl-show.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DIMS 64
#define MOST_PLAIN 1e16 /* floats from here on have an exponent, as in Python */

/* Prints the fewest digits that are read back as the same number: of 32 bits, if that
 * is exact for the type. JSON only has finite numbers. */
void
tool_print_json_float (double   value,
                       gboolean is_short)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  const int most = is_short ? 9 : 17;
  int digits = 1;

  if (!isfinite (value))
    {
      tool_print_text (isnan (value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
      return;
    }

  for (; digits <= most; digits++)
    {
      g_autofree char *format = g_strdup_printf ("%%.%dg", digits);
      double read;

      g_ascii_formatd (text, sizeof text, format, value);
      read = g_ascii_strtod (text, NULL);
      if (is_short ? (float) read == (float) value : read == value)
        break;
    }

  /* 10 has one digit that matters, but is not written 1e+01. */
  if (fabs (value) < MOST_PLAIN && strchr (text, 'e') != NULL && strstr (text, "e-") == NULL)
    g_ascii_formatd (text, sizeof text, "%.0f", g_ascii_strtod (text, NULL));
  tool_print ("%s%s", text, strpbrk (text, ".e") == NULL ? ".0" : "");
}

static gboolean
print_complex (MtlStridedView  *view,
               const gint64    *indices,
               gsize            n_dims,
               gboolean         is_short,
               GError         **error)
{
  double real, imaginary;

  if (!mtl_strided_view_get_complex (view, indices, n_dims, &real, &imaginary, error))
    return FALSE;

  tool_print_text ("[");
  tool_print_json_float (real, is_short);
  tool_print_text (", ");
  tool_print_json_float (imaginary, is_short);
  tool_print_text ("]");
  return TRUE;
}

gboolean
tool_print_json_element (MtlStridedView  *view,
                         const gint64    *indices,
                         gsize            n_dims,
                         GError         **error)
{
  MtlDType dtype = mtl_strided_view_get_dtype (view);
  gboolean is_short = tool_dtype_get_number_size (dtype) <= 4;
  GError *local_error = NULL;

  if (tool_dtype_is_complex (dtype))
    return print_complex (view, indices, n_dims, is_short, error);

  if (dtype == MTL_DTYPE_BOOL)
    tool_print_text (mtl_strided_view_get_int64 (view, indices, n_dims, &local_error) != 0
                     ? "true" : "false");
  else if (dtype == MTL_DTYPE_UINT64)
    tool_print ("%" G_GUINT64_FORMAT,
                mtl_strided_view_get_uint64 (view, indices, n_dims, &local_error));
  else if (tool_dtype_is_integer (dtype))
    tool_print ("%" G_GINT64_FORMAT,
                mtl_strided_view_get_int64 (view, indices, n_dims, &local_error));
  else
    {
      double value = mtl_strided_view_get_double (view, indices, n_dims, &local_error);

      if (local_error == NULL)
        tool_print_json_float (value, is_short);
    }

  if (local_error != NULL)
    g_propagate_error (error, local_error);
  return local_error == NULL;
}

static gboolean
print_axis (MtlStridedView  *view,
            gint64          *indices,
            gsize            axis,
            GError         **error)
{
  gsize n_dims;
  const gint64 *shape = mtl_strided_view_get_shape (view, &n_dims);

  if (axis == n_dims)
    return tool_print_json_element (view, indices, n_dims, error);

  tool_print_text ("[");
  for (indices[axis] = 0; indices[axis] < shape[axis]; indices[axis]++)
    {
      if (indices[axis] > 0)
        tool_print_text (axis + 1 < n_dims ? ",\n    " : ", ");
      if (!print_axis (view, indices, axis + 1, error))
        return FALSE;
    }
  tool_print_text ("]");
  return TRUE;
}

/* Checks that the elements are numbers, before anything is printed. */
static gboolean
check_elements (MtlStridedView  *view,
                GError         **error)
{
  const gint64 zeros[MAX_DIMS] = { 0 };
  MtlDType dtype = mtl_strided_view_get_dtype (view);
  gsize n_dims;
  GError *local_error = NULL;
  double real, imaginary;

  mtl_strided_view_get_shape (view, &n_dims);
  if (mtl_strided_view_get_volume (view) == 0)
    return TRUE;

  if (tool_dtype_is_complex (dtype))
    return mtl_strided_view_get_complex (view, zeros, n_dims, &real, &imaginary, error);

  mtl_strided_view_get_double (view, zeros, n_dims, &local_error);
  if (local_error != NULL)
    g_propagate_error (error, local_error);
  return local_error == NULL;
}

void
tool_print_json_head (MtlStridedView *view,
                      const char     *name)
{
  gsize n_dims;
  const gint64 *shape = mtl_strided_view_get_shape (view, &n_dims);
  g_autofree char *shape_text = mtl_dims_to_json (shape, n_dims);
  g_autofree char *dtype = mtl_dtype_to_string (mtl_strided_view_get_dtype (view));

  tool_print_text ("{\n  \"name\": ");
  tool_print_json_text (name);
  tool_print (",\n  \"dtype\": \"%s\",\n  \"shape\": %s,\n", dtype, shape_text);
}

gboolean
tool_print_view_json (MtlStridedView  *view,
                      const char      *name,
                      GError         **error)
{
  gint64 indices[MAX_DIMS];

  if (!check_elements (view, error))
    return FALSE;

  tool_print_json_head (view, name);
  tool_print_text ("  \"elements\": ");
  if (!print_axis (view, indices, 0, error))
    return FALSE;

  tool_print_text ("\n}\n");
  return TRUE;
}
