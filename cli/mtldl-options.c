/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Arguments of the subcommands. */

#include "mtldl-tool.h"

#include <string.h>

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
  GOptionEntry common[] = {
    { "help", 'h', 0, G_OPTION_ARG_NONE, help, N_("Show this help"), NULL },
    { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, arguments, NULL,
      command->arguments },
    { NULL },
  };
  GOptionContext *context = g_option_context_new (NULL);

  for (const GOptionEntry *entry = entries; entry->long_name != NULL; entry++)
    if (entry->short_name == common[0].short_name)
      common[0].short_name = 0;

  g_option_context_set_help_enabled (context, FALSE);
  g_option_context_set_translation_domain (context, "mtldl");
  g_option_context_set_summary (context, command->summary);
  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_add_main_entries (context, common, NULL);
  return context;
}

/* The names that other commands have for options. */
static const struct
{
  const char *word;
  const char *option;
} synonyms[] = {
  { "--statistics", "--stats" }, { "--summary", "--stats" }, { "--describe", "--stats" },
  { "--all", "--max-items" }, { "--full", "--max-items" }, { "--limit", "--max-items" },
  { "--head", "--max-items" }, { "--lines", "--max-items" },
  { "--human", "--human-readable" }, { "--verbose", "--long" }, { "--name-only", "--names" },
  { "--filter", "--select" }, { "--include", "--select" }, { "--pattern", "--select" },
  { "--tensor", "--select" }, { "--type", "--dtype" }, { "--convert", "--dtype" },
  { "--to", "--dtype" }, { "--max-shard-size", "--shard-size" }, { "--split", "--shard-size" },
  { "--silent", "--quiet" }, { "--no-fsync", "--no-sync" }, { "--nans", "--nan" },
};

static char *
find_synonym (GPtrArray  *names,
              const char *option)
{
  g_autofree char *word = g_strndup (option, strcspn (option, "="));

  for (gsize i = 0; i < G_N_ELEMENTS (synonyms); i++)
    for (guint j = 0; g_str_equal (word, synonyms[i].word) && names->pdata[j] != NULL; j++)
      if (g_str_equal (names->pdata[j], synonyms[i].option))
        return g_strdup_printf (_("; did you mean “%s”?"), synonyms[i].option);

  return NULL;
}

/* Suggests an option for one that does not exist. A file may begin like an option. */
static char *
guess_option (const GOptionEntry *entries,
              const GError       *error)
{
  const char *dash = strstr (error->message, " -");
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  char *synonym;

  if (!g_error_matches (error, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION) || dash == NULL)
    return g_strdup ("");
  if (g_file_test (dash + 1, G_FILE_TEST_EXISTS))
    return g_strdup_printf (_("; the file of that name is “./%s”"), dash + 1);

  for (const GOptionEntry *entry = entries; entry->long_name != NULL; entry++)
    g_ptr_array_add (names, g_strconcat ("--", entry->long_name, NULL));
  g_ptr_array_add (names, NULL);
  synonym = find_synonym (names, dash + 1);
  return synonym != NULL ? synonym : tool_guess (dash + 1, (const char *const *) names->pdata);
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
      g_autofree char *guess = guess_option (entries, error);

      *status = tool_wrong_usage (command, "%s%s", error->message, guess);
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
      *status = tool_wrong_usage (command,
                                  ngettext ("the arguments are %s, but %d was given",
                                            "the arguments are %s, but %d were given", n),
                                  _(command->arguments), n);
      return NULL;
    }

  return arguments != NULL ? g_steal_pointer (&arguments) : g_new0 (char *, 1);
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
  escaped = tool_escape_typed (text);
  if (g_str_has_suffix (escaped, "?"))
    tool_complain (_("%s See “mtldl help %s”"), escaped, command->name);
  else
    tool_complain (_("%s; see “mtldl help %s”"), escaped, command->name);
  return TOOL_WRONG_USAGE;
}
