/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* mtldl diff: compares the tensors of two files. */

#include "mtldl-diff.h"


/* The statuses of diff for other files. */
enum
{
  DIFF_SAME = 0,
  DIFF_DIFFERENT = 1,
  DIFF_TROUBLE = 2,
};

typedef struct
{
  double rtol;
  double atol;
  gboolean ignore_dtype;
  gboolean json;
  gboolean quiet;
  char **select;
} Options;

static void
options_clear (Options *self)
{
  g_strfreev (self->select);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

typedef struct
{
  const Options *options;
  char **paths;
  ToolPairs pairs;
  ToolSteps steps;
  guint n_printed;
  gboolean differs;
  gboolean has_trouble;
} Diff;

/* Elements that are not numbers are compared by their bits. */
static MtlStridedView *
load (MtlTensorFileEntry  *entry,
      GError             **error)
{
  static const MtlDType bits[] = {
    [1] = MTL_DTYPE_UINT8, [2] = MTL_DTYPE_UINT16, [4] = MTL_DTYPE_UINT32, [8] = MTL_DTYPE_UINT64,
  };
  g_autoptr (MtlStridedView) view = mtl_tensor_file_entry_load_view (entry, NULL, error);
  guint item_bits;

  if (view == NULL || !tool_dtype_is_opaque (mtl_strided_view_get_dtype (view)))
    return g_steal_pointer (&view);

  item_bits = mtl_strided_layout_get_item_bits (mtl_strided_view_get_layout (view));
  return mtl_strided_view_reinterpret (view, bits[item_bits / 8], error);
}

/* If a shape is not known, it need not be another one. */
static gboolean
have_same_shape (const ToolPair *pair)
{
  g_autofree char *a = tool_dup_shape (pair->a);
  g_autofree char *b = tool_dup_shape (pair->b);

  return a == NULL || b == NULL || g_str_equal (a, b);
}

static gboolean
have_same_type (const ToolPair *pair)
{
  return g_str_equal (mtl_tensor_file_entry_get_type_name (pair->a),
                      mtl_tensor_file_entry_get_type_name (pair->b));
}

/* If the types differ, only numbers can be compared. */
static gboolean
are_comparable (const ToolPair *pair)
{
  return have_same_type (pair)
         || (!tool_is_refused (pair->a) && !tool_is_refused (pair->b)
             && !tool_dtype_is_opaque (mtl_tensor_file_entry_get_dtype (pair->a))
             && !tool_dtype_is_opaque (mtl_tensor_file_entry_get_dtype (pair->b)));
}

/* Sets *path to that of the file at fault, if there is an error. */
static gboolean
compare (Diff            *self,
         ToolComparison  *comparison,
         const char     **path,
         GError         **error)
{
  const ToolPair *pair = comparison->pair;

  comparison->shape_differs = !have_same_shape (pair);
  comparison->dtype_differs =
    !have_same_type (pair) && (!self->options->ignore_dtype || !are_comparable (pair));
  if (comparison->shape_differs || !are_comparable (pair))
    return TRUE;

  *path = self->paths[0];
  comparison->a = load (pair->a, error);
  if (comparison->a == NULL)
    return FALSE;

  *path = self->paths[1];
  comparison->b = load (pair->b, error);
  if (comparison->b == NULL)
    return FALSE;

  comparison->is_compared = TRUE;
  return tool_compare_views (comparison->a, comparison->b, self->options->rtol,
                             self->options->atol, &self->steps, &comparison->difference, error);
}

/* Begins an item of the list in JSON; text has a line for each. */
static void
begin_item (Diff *self)
{
  tool_progress_clear (&self->steps.progress);
  if (self->options->json)
    tool_print_text (self->n_printed > 0 ? ",\n    " : "\n    ");
  self->n_printed++;
}

static void
report_trouble (Diff           *self,
                const ToolPair *pair,
                const char     *path,
                const GError   *error)
{
  self->has_trouble = TRUE;
  tool_progress_clear (&self->steps.progress);
  tool_complain_of (path, error);
  if (!self->options->json)
    return;

  begin_item (self);
  tool_print_text ("{\"name\": ");
  tool_print_json_text (pair->name);
  tool_print_text (", \"error\": ");
  tool_print_json_text (error->message);
  tool_print_text ("}");
}

static void
report (Diff                 *self,
        const ToolComparison *comparison)
{
  if (!comparison->dtype_differs && !comparison->shape_differs
      && comparison->difference.n_different == 0)
    return;

  self->differs = TRUE;
  if (self->options->quiet)
    return;

  begin_item (self);
  if (self->options->json)
    tool_comparison_print_json (comparison);
  else
    tool_comparison_print (comparison);
}

static void
compare_pairs (Diff *self)
{
  const GPtrArray *pairs = self->pairs.pairs;

  for (guint i = 0; i < pairs->len; i++)
    self->steps.n_all += mtl_tensor_file_entry_get_n_bytes (((ToolPair *) pairs->pdata[i])->a);

  for (guint i = 0; i < pairs->len; i++)
    {
      g_auto (ToolComparison) comparison = { .pair = pairs->pdata[i] };
      const char *path = NULL;
      g_autoptr (GError) error = NULL;

      if (compare (self, &comparison, &path, &error))
        report (self, &comparison);
      else
        report_trouble (self, comparison.pair, path, error);
      self->steps.n_done += mtl_tensor_file_entry_get_n_bytes (comparison.pair->a);
    }
  tool_progress_clear (&self->steps.progress);
}

static void
print_only (const char      *path,
            const GPtrArray *names)
{
  g_autofree char *escaped_path = tool_escape (path);

  for (guint i = 0; i < names->len; i++)
    {
      g_autofree char *escaped = tool_escape (names->pdata[i]);

      tool_print ("Only in %s: %s\n", escaped_path, escaped);
    }
}

static void
print_only_json (const char      *key,
                 const GPtrArray *names)
{
  tool_print ("  \"%s\": [", key);
  for (guint i = 0; i < names->len; i++)
    {
      tool_print_text (i > 0 ? ", " : "");
      tool_print_json_text (names->pdata[i]);
    }
  tool_print_text ("],\n");
}

static void
diff_as_json (Diff *self)
{
  tool_print_text ("{\n  \"paths\": [");
  tool_print_json_text (self->paths[0]);
  tool_print_text (", ");
  tool_print_json_text (self->paths[1]);
  tool_print_text ("],\n");
  print_only_json ("only_in_first", self->pairs.only_a);
  print_only_json ("only_in_second", self->pairs.only_b);
  tool_print_text ("  \"different\": [");
  compare_pairs (self);
  tool_print (self->n_printed > 0 ? "\n  ],\n" : "],\n");
  tool_print ("  \"same\": %s\n}\n", self->differs || self->has_trouble ? "false" : "true");
}

static void
diff_as_text (Diff *self)
{
  if (!self->options->quiet)
    {
      print_only (self->paths[0], self->pairs.only_a);
      print_only (self->paths[1], self->pairs.only_b);
    }
  compare_pairs (self);
}

static int
diff (const Options *options,
      char         **paths)
{
  g_autoptr (MtlTensorFile) a = tool_open (paths[0]);
  g_autoptr (MtlTensorFile) b = tool_open (paths[1]);
  Diff self = { .options = options, .paths = paths };
  g_auto (ToolPairs) pairs = { NULL };

  if (a == NULL || b == NULL || !tool_pairs_init (&pairs, a, b, options->select))
    return DIFF_TROUBLE;

  self.pairs = pairs;
  self.differs = pairs.only_a->len > 0 || pairs.only_b->len > 0;
  tool_progress_init (&self.steps.progress, options->quiet ? NULL : "diff");
  if (options->json)
    diff_as_json (&self);
  else
    diff_as_text (&self);

  return self.has_trouble ? DIFF_TROUBLE : self.differs ? DIFF_DIFFERENT : DIFF_SAME;
}

int
tool_diff (const ToolCommand *command,
           int                argc,
           char              *argv[])
{
  g_auto (Options) options = { 0 };
  const GOptionEntry entries[] = {
    { "atol", 0, 0, G_OPTION_ARG_DOUBLE, &options.atol,
      N_("Elements are the same if they differ by at most this"), N_("NUMBER") },
    { "rtol", 0, 0, G_OPTION_ARG_DOUBLE, &options.rtol,
      N_("Add this times the element of the second file to the tolerance"), N_("NUMBER") },
    { "ignore-dtype", 0, 0, G_OPTION_ARG_NONE, &options.ignore_dtype,
      N_("Compare only the values if the element types differ"), NULL },
    { "select", 's', 0, G_OPTION_ARG_FILENAME_ARRAY, &options.select,
      N_("Compare only the tensors that match; can be repeated"), N_("PATTERN") },
    { "json", 'j', 0, G_OPTION_ARG_NONE, &options.json, N_("Print the differences as JSON"), NULL },
    { "quiet", 'q', 0, G_OPTION_ARG_NONE, &options.quiet,
      N_("Print nothing: the exit status says if the files differ"), NULL },
    { NULL },
  };
  int status;
  g_auto (GStrv) arguments = tool_parse (command, entries, argc, argv, &status);

  if (arguments == NULL)
    return status;
  if (!(options.atol >= 0) || !(options.rtol >= 0))
    return tool_wrong_usage (command, _("--atol=%g and --rtol=%g are tolerances and must not be "
                                        "negative"), options.atol, options.rtol);
  if (options.json && options.quiet)
    return tool_wrong_usage (command, _("--json prints the differences and --quiet prints nothing: "
                                        "choose one of them"));

  return diff (&options, arguments);
}
