/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* mtldl show --stats of several tensors: a table, or a list as JSON. */

#include "mtldl-show.h"
#include "mtldl-table.h"

#include <math.h>

enum
{
  COLUMN_DTYPE,
  COLUMN_SHAPE,
  COLUMN_MIN,
  COLUMN_MAX,
  COLUMN_MEAN,
  COLUMN_STD,
  COLUMN_NAN,
  COLUMN_INF,
  N_COLUMNS
};

static const ToolColumn table_columns[N_COLUMNS] = {
  { "DTYPE", FALSE, 0 }, { "SHAPE", FALSE, 1 }, { "MIN", TRUE, 6 }, { "MAX", TRUE, 7 },
  { "MEAN", TRUE, 3 }, { "STD", TRUE, 2 }, { "NAN", TRUE, 5 }, { "INF", TRUE, 4 }
};

/* Six digits tell tensors apart; --json has all. */
static char *
number_to_string (double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  return g_strdup (isnan (value) ? "-" : g_ascii_formatd (text, sizeof text, "%.6g", value));
}

static char *
complex_to_string (double re,
                   double im)
{
  g_autofree char *re_text = number_to_string (re);
  g_autofree char *im_text = number_to_string (im);

  return isnan (re) ? g_strdup ("-")
                    : g_strdup_printf ("%s%s%sj", re_text, im < 0 ? "" : "+", im_text);
}

/* Takes the text, which has all digits. Truth values are numbers here, as they stand beside
 * the mean. */
static char *
extreme_to_string (MtlStatistics *statistics,
                   double         value,
                   char          *text)
{
  const MtlDType dtype = mtl_statistics_get_dtype (statistics);
  g_autofree char *taken = text;

  if (isnan (value) || tool_dtype_is_complex (dtype))
    return g_strdup ("-");

  return dtype == MTL_DTYPE_BOOL ? number_to_string (value) : g_steal_pointer (&taken);
}

static void
fill_numbers (ToolTableRow  *row,
              MtlStatistics *statistics)
{
  double re, im;

  mtl_statistics_get_complex_mean (statistics, &re, &im);
  row->cells[COLUMN_MIN] = extreme_to_string (statistics, mtl_statistics_get_minimum (statistics),
                                              mtl_statistics_format_minimum (statistics));
  row->cells[COLUMN_MAX] = extreme_to_string (statistics, mtl_statistics_get_maximum (statistics),
                                              mtl_statistics_format_maximum (statistics));
  row->cells[COLUMN_MEAN] = tool_dtype_is_complex (mtl_statistics_get_dtype (statistics))
                              ? complex_to_string (re, im) : number_to_string (re);
  row->cells[COLUMN_STD] = number_to_string (mtl_statistics_get_deviation (statistics));
  row->cells[COLUMN_NAN] = g_strdup_printf ("%" G_GUINT64_FORMAT,
                                            mtl_statistics_get_n_nans (statistics));
  row->cells[COLUMN_INF] = g_strdup_printf ("%" G_GUINT64_FORMAT,
                                            mtl_statistics_get_n_infinities (statistics));
}

static void
fill_row (ToolTableRow       *row,
          MtlTensorFileEntry *entry,
          MtlStatistics      *statistics)
{
  char *shape = tool_dup_shape (entry);

  row->is_dimmed = tool_is_refused (entry);
  row->cells[COLUMN_DTYPE] = tool_escape (mtl_tensor_file_entry_get_type_name (entry));
  row->cells[COLUMN_SHAPE] = shape != NULL ? shape : g_strdup ("-");
  if (statistics != NULL)
    fill_numbers (row, statistics);
  for (guint i = COLUMN_MIN; statistics == NULL && i < N_COLUMNS; i++)
    row->cells[i] = g_strdup ("-");
}

typedef struct
{
  MtlTensorFile *file;
  const char *path;
  gboolean json;
  ToolTable table;
  gboolean has_failed;
} Stats;

static void
add_json (const char         *name,
          MtlTensorFileEntry *entry,
          MtlStatistics      *statistics,
          MtlStridedView     *view,
          const GError       *error)
{
  if (error == NULL)
    {
      tool_print_stats_json (statistics, view, name);
      return;
    }

  tool_print_text ("{\n  \"name\": ");
  tool_print_json_text (name);
  tool_print_text (",\n  ");
  tool_print_json_type (entry);
  tool_print_text (",\n  ");
  tool_print_json_shape (entry);
  tool_print_text (",\n  \"error\": ");
  tool_print_json_text (error->message);
  tool_print_text ("\n}");
}

/* The file may have tensors without numbers, which is not a failure. */
static void
add (Stats              *self,
     MtlTensorFileEntry *entry)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *name = tool_dup_name (self->file, entry);
  g_autofree char *escaped = tool_escape (name);
  g_autoptr (MtlStridedView) view = mtl_tensor_file_entry_load_view (entry, NULL, &error);
  g_autoptr (MtlStatistics) statistics = view != NULL ? tool_find_statistics (view, &error) : NULL;

  if (statistics == NULL && !tool_is_refused (entry)
      && !g_error_matches (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED))
    {
      tool_complain_of (self->path, error);
      self->has_failed = TRUE;
    }
  if (self->json)
    add_json (name, entry, statistics, view,
              tool_is_refused (entry) ? mtl_tensor_file_entry_get_error (entry) : error);
  else
    fill_row (tool_table_add (&self->table, escaped), entry, statistics);
}

static int
compare_entries (gconstpointer a,
                 gconstpointer b)
{
  return tool_compare_names (
    mtl_tensor_file_entry_get_name (*(MtlTensorFileEntry *const *) a),
    mtl_tensor_file_entry_get_name (*(MtlTensorFileEntry *const *) b));
}

/* Prints statistics of the tensors that match a pattern, or of all. Prints an error if it
 * returns FALSE. */
gboolean
tool_print_all_stats (MtlTensorFile *file,
                      const char    *path,
                      const char    *pattern,
                      gboolean       json)
{
  char *patterns[] = { (char *) pattern, NULL };
  g_autoptr (GPtrArray) entries = tool_select_entries (file, patterns);
  Stats self = { .file = file, .path = path, .json = json };

  if (entries == NULL)
    return FALSE;

  g_ptr_array_sort (entries, compare_entries);
  tool_table_init (&self.table, table_columns, N_COLUMNS);
  tool_print_text (json ? "[" : "");
  for (guint i = 0; i < entries->len; i++)
    {
      tool_print_text (json && i > 0 ? ",\n" : "");
      add (&self, entries->pdata[i]);
    }
  tool_print_text (json ? "]\n" : "");
  tool_table_print (&self.table);
  tool_table_clear (&self.table);
  return !self.has_failed;
}
