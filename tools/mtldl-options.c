/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Arguments of the subcommands, and the files and tensors that they select. */

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
    { "help", 'h', 0, G_OPTION_ARG_NONE, help, "Show this help", NULL },
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
      *status = tool_wrong_usage (command, "the arguments are %s, but %d were given",
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
  tool_complain ("%s; see “mtldl help %s”", escaped, command->name);
  return TOOL_WRONG_USAGE;
}

/* A path that names a folder by its end is refused, as a GFile has no such end. */
GFile *
tool_new_file (const char  *path,
               GError     **error)
{
  const char *slash = strrchr (path, G_DIR_SEPARATOR);
  const char *name = slash != NULL ? slash + 1 : path;
  g_autofree char *escaped = NULL;

  if ((name[0] != '\0' || slash == NULL) && strcmp (name, ".") != 0 && strcmp (name, "..") != 0)
    return g_file_new_for_path (path);

  escaped = tool_escape (path);
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_IS_DIRECTORY, "“%s” is a folder", escaped);
  return NULL;
}

MtlTensorFile *
tool_open (const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GFile) file = tool_new_file (path, &error);
  MtlTensorFile *self = NULL;

  /* Always mapped: cp has all tensors open at the same time, and show needs only a
   * part of one. */
  if (file != NULL)
    self = mtl_tensor_file_open_full (file, NULL, MTL_FILE_MODE_MAP, NULL, &error);
  if (self == NULL) /* the message names the file at fault */
    tool_complain ("%s", error->message);
  return self;
}

/* Marks the names that match. */
static gboolean
match (const char **names,
       const char  *pattern,
       gboolean    *matches)
{
  g_autoptr (GPatternSpec) spec = g_pattern_spec_new (pattern);
  gboolean any = FALSE;

  for (gsize i = 0; names[i] != NULL; i++)
    if (g_pattern_spec_match_string (spec, names[i]))
      matches[i] = any = TRUE;

  return any;
}

/* For each name, whether it matches any of the patterns. If a pattern matches
 * nothing, prints an error and returns NULL. */
static gboolean *
match_all (const char **names,
           char       **patterns)
{
  gsize n_names = g_strv_length ((char **) names);
  g_autofree gboolean *matches = g_new0 (gboolean, n_names + 1);
  gboolean all = TRUE;

  if (patterns == NULL || patterns[0] == NULL)
    {
      for (gsize i = 0; i < n_names; i++)
        matches[i] = TRUE;
      return g_steal_pointer (&matches);
    }

  for (gsize i = 0; patterns[i] != NULL; i++)
    if (!match (names, patterns[i], matches))
      {
        g_autofree char *escaped = tool_escape (patterns[i]);

        tool_complain ("no tensor matches “%s”", escaped);
        all = FALSE;
      }

  return all ? g_steal_pointer (&matches) : NULL;
}

const char **
tool_select_names (MtlTensorFile  *file,
                   char          **patterns)
{
  g_autofree const char **names = mtl_tensor_file_list_names (file);
  g_autofree gboolean *matches = match_all (names, patterns);
  gsize n_selected = 0;

  if (matches == NULL)
    return NULL;

  for (gsize i = 0; names[i] != NULL; i++)
    if (matches[i])
      names[n_selected++] = names[i];
  names[n_selected] = NULL;
  return g_steal_pointer (&names);
}

GPtrArray *
tool_select_entries (MtlTensorFile  *file,
                     char          **patterns)
{
  g_autofree const char **names = mtl_tensor_file_list_names (file);
  g_autofree gboolean *matches = match_all (names, patterns);
  GPtrArray *entries;

  if (matches == NULL)
    return NULL;

  entries = g_ptr_array_new_with_free_func (g_object_unref);
  for (guint i = 0; names[i] != NULL; i++)
    if (matches[i])
      g_ptr_array_add (entries, g_list_model_get_item (G_LIST_MODEL (file), i));
  return entries;
}
