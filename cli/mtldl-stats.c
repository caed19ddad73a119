/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* mtldl show --stats: minimum, maximum, mean and so on, of a tensor of any size. */

#include "mtldl-show.h"

#include <math.h>

static void
print_number (const char *name,
              double      value)
{
  g_autoptr (MtlStridedView) scalar =
    mtl_strided_view_new_from_doubles (&value, 1, MTL_DTYPE_FLOAT64, NULL, 0, NULL);
  g_autofree char *text = mtl_strided_view_to_string (scalar);

  tool_print ("%-9s %s\n", name, text);
}

static void
print_complex (const char *name,
               double      re,
               double      im)
{
  g_autoptr (MtlStridedView) parts =
    mtl_strided_view_new_from_doubles ((double[]) { re, im }, 2, MTL_DTYPE_FLOAT64,
                                       (gint64[]) { 2 }, 1, NULL);
  g_autoptr (MtlStridedView) first = mtl_strided_view_select (parts, 0, 0, NULL);
  g_autoptr (MtlStridedView) second = mtl_strided_view_select (parts, 0, 1, NULL);
  g_autofree char *re_text = mtl_strided_view_to_string (first);
  g_autofree char *im_text = mtl_strided_view_to_string (second);

  tool_print ("%-9s %s%s%sj\n", name, re_text, im_text[0] == '-' ? "" : "+", im_text);
}

static void
print_count (const char *name,
             guint64     count)
{
  tool_print ("%-9s %" G_GUINT64_FORMAT "\n", name, count);
}

static void
print_extremes (MtlStatistics *statistics)
{
  g_autofree char *minimum = mtl_statistics_format_minimum (statistics);
  g_autofree char *maximum = mtl_statistics_format_maximum (statistics);

  /* Truth values are numbers here, as they stand beside the mean. */
  if (mtl_statistics_get_dtype (statistics) == MTL_DTYPE_BOOL)
    tool_print ("min       %.0f\nmax       %.0f\n", mtl_statistics_get_minimum (statistics),
                mtl_statistics_get_maximum (statistics));
  else
    tool_print ("min       %s\nmax       %s\n", minimum, maximum);
}

/* A tensor without finite elements only has counts. */
static void
print_finite (MtlStatistics *statistics)
{
  MtlDType dtype = mtl_statistics_get_dtype (statistics);
  double re, im;

  mtl_statistics_get_complex_mean (statistics, &re, &im);
  if (isnan (re))
    return;

  if (tool_dtype_is_complex (dtype))
    print_complex ("mean", re, im);
  else
    {
      print_extremes (statistics);
      print_number ("mean", re);
    }
  print_number ("std", mtl_statistics_get_deviation (statistics));
}

static void
print (MtlStatistics  *statistics,
       MtlStridedView *view)
{
  g_autofree char *dtype = mtl_dtype_to_string (mtl_strided_view_get_dtype (view));
  gsize n_dims;
  const gint64 *shape = mtl_strided_view_get_shape (view, &n_dims);
  g_autofree char *shape_text = mtl_dims_to_json (shape, n_dims);

  tool_print ("dtype     %s\nshape     %s\n", dtype, shape_text);
  print_count ("elements", mtl_statistics_get_count (statistics));
  print_finite (statistics);
  print_count ("nan", mtl_statistics_get_n_nans (statistics));
  print_count ("inf", mtl_statistics_get_n_infinities (statistics));
  print_count ("zero", mtl_statistics_get_n_zeros (statistics));
}

static void
print_json_number (const char *name,
                   const char *text,
                   double      value,
                   gboolean    is_short)
{
  tool_print (",\n    \"%s\": ", name);
  if (isnan (value))
    tool_print_text ("null");
  else if (text != NULL)
    tool_print_text (text);
  else
    tool_print_json_float (value, is_short);
}

/* Unknown values are null. Integers are exact, and truth values numbers. */
static void
print_json_finite (MtlStatistics *statistics)
{
  MtlDType dtype = mtl_statistics_get_dtype (statistics);
  gboolean is_integer = tool_dtype_is_integer (dtype) && dtype != MTL_DTYPE_BOOL;
  g_autofree char *minimum = is_integer ? mtl_statistics_format_minimum (statistics) : NULL;
  g_autofree char *maximum = is_integer ? mtl_statistics_format_maximum (statistics) : NULL;
  const gboolean is_short = tool_dtype_get_number_size (dtype) <= 4;
  double re, im;

  mtl_statistics_get_complex_mean (statistics, &re, &im);
  if (!tool_dtype_is_complex (dtype))
    {
      print_json_number ("min", minimum, mtl_statistics_get_minimum (statistics), is_short);
      print_json_number ("max", maximum, mtl_statistics_get_maximum (statistics), is_short);
      print_json_number ("mean", NULL, re, FALSE);
    }
  else if (isnan (re))
    print_json_number ("mean", NULL, re, FALSE);
  else
    {
      tool_print_text (",\n    \"mean\": [");
      tool_print_json_float (re, FALSE);
      tool_print_text (", ");
      tool_print_json_float (im, FALSE);
      tool_print_text ("]");
    }
  print_json_number ("std", NULL, mtl_statistics_get_deviation (statistics), FALSE);
}

MtlStatistics *
tool_find_statistics (MtlStridedView  *view,
                      GError         **error)
{
  MtlStatistics *statistics;
  ToolProgress progress;

  tool_progress_init (&progress, "stats");
  statistics =
    mtl_strided_view_compute_statistics (view, NULL, tool_progress_update, &progress, error);
  tool_progress_clear (&progress);
  return statistics;
}

gboolean
tool_print_stats (MtlStridedView  *view,
                  GError         **error)
{
  g_autoptr (MtlStatistics) statistics = tool_find_statistics (view, error);

  if (statistics == NULL)
    return FALSE;

  print (statistics, view);
  return TRUE;
}

/* An object; the elements of lists are indented a bit further by others. */
void
tool_print_stats_json (MtlStatistics  *statistics,
                       MtlStridedView *view,
                       const char     *name)
{
  tool_print_json_head (view, name);
  tool_print ("  \"stats\": {\n    \"elements\": %" G_GUINT64_FORMAT,
              mtl_statistics_get_count (statistics));
  print_json_finite (statistics);
  tool_print (",\n    \"nan\": %" G_GUINT64_FORMAT ",\n    \"inf\": %" G_GUINT64_FORMAT
              ",\n    \"zero\": %" G_GUINT64_FORMAT "\n  }\n}",
              mtl_statistics_get_n_nans (statistics), mtl_statistics_get_n_infinities (statistics),
              mtl_statistics_get_n_zeros (statistics));
}
