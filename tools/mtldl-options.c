/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Arguments of the subcommands, and the files that they name. */

#include "mtldl-tool.h"

static int
show_help (GOptionContext *context)
{
  g_autofree char *text = g_option_context_get_help (context, TRUE, NULL);

  tool_print_text (text);
  return TOOL_DONE;
}

static GOptionContext *
context_new (const ToolCommand   *command,
             const GOptionEntry  *entries,
             gboolean            *help,
             char              ***arguments)
{
  const GOptionEntry common[] = {
    { "help", 'h', 0, G_OPTION_ARG_NONE, help, "Show this", NULL },
    { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, arguments, NULL,
      command->arguments },
    { NULL },
  };
  GOptionContext *context = g_option_context_new (NULL);

  g_option_context_set_help_enabled (context, FALSE);
  g_option_context_set_summary (context, command->summary);
  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_add_main_entries (context, common, NULL);
  return context;
}

char **
tool_parse (const ToolCommand  *command,
            const GOptionEntry *entries,
            int                 argc,
            char               *argv[],
            int                *status)
{
  gboolean help = FALSE;
  g_auto (GStrv) arguments = NULL;
  g_autoptr (GOptionContext) context = context_new (command, entries, &help, &arguments);
  g_autoptr (GError) error = NULL;
  int n;

  if (!g_option_context_parse (context, &argc, &argv, &error))
    {
      *status = tool_wrong_usage (command, "%s", error->message);
      return NULL;
    }

  if (help)
    {
      *status = show_help (context);
      return NULL;
    }

  n = arguments != NULL ? g_strv_length (arguments) : 0;
  if (n < command->min_arguments || (command->max_arguments >= 0 && n > command->max_arguments))
    {
      *status = tool_wrong_usage (command, "the arguments are %s, and %d were given",
                                  command->arguments, n);
      return NULL;
    }

  return g_steal_pointer (&arguments);
}

int
tool_wrong_usage (const ToolCommand *command,
                  const char        *format,
                  ...)
{
  g_autofree char *text = NULL;
  g_autofree char *escaped = NULL;
  va_list arguments;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  escaped = tool_escape (text);
  tool_complain ("%s; “mtldl help %s” tells more", escaped, command->name);
  return TOOL_WRONG_USAGE;
}

MtlTensorFile *
tool_open (const char *path)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GError) error = NULL;
  /* Never read: cp has all tensors in its hands at once, and show wants a part of one. */
  MtlTensorFile *self = mtl_tensor_file_open (file, MTL_FILE_MODE_MAP, NULL, NULL, &error);

  if (self == NULL) /* the message names the file, or that of several which is wrong */
    tool_complain ("%s", error->message);
  return self;
}

/* Notes which of the file's names match: those that do come in the same order. */
static gboolean
match (MtlTensorFile  *file,
       const char    **names,
       const char     *pattern,
       gboolean       *matches)
{
  g_autofree const char **found = mtl_tensor_file_match_names (file, pattern);
  gsize n_found = 0;

  for (gsize i = 0; names[i] != NULL && found[n_found] != NULL; i++)
    if (g_str_equal (names[i], found[n_found]))
      {
        matches[i] = TRUE;
        n_found++;
      }

  return n_found > 0;
}

static gboolean
match_all (MtlTensorFile  *file,
           char          **patterns,
           gboolean       *matches)
{
  g_autofree const char **names = mtl_tensor_file_get_names (file);
  gboolean all = TRUE;

  for (gsize i = 0; patterns[i] != NULL; i++)
    if (!match (file, names, patterns[i], matches))
      {
        g_autofree char *escaped = tool_escape (patterns[i]);

        tool_complain ("no tensor matches “%s”", escaped);
        all = FALSE;
      }

  return all;
}

GPtrArray *
tool_select_entries (MtlTensorFile  *file,
                     char          **patterns)
{
  gboolean is_any = patterns == NULL || patterns[0] == NULL;
  guint n = g_list_model_get_n_items (G_LIST_MODEL (file));
  g_autofree gboolean *matches = g_new0 (gboolean, n);
  GPtrArray *entries;

  if (!is_any && !match_all (file, patterns, matches))
    return NULL;

  entries = g_ptr_array_new_with_free_func (g_object_unref);
  for (guint i = 0; i < n; i++)
    if (is_any || matches[i])
      g_ptr_array_add (entries, g_list_model_get_item (G_LIST_MODEL (file), i));
  return entries;
}
