/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* mtldl show: prints the elements of a tensor. */

#include "mtldl-show.h"

#include <stdlib.h>
#include <string.h>

#define MOST_ITEMS 100000 /* the most that are printed */

/* The options of the command line. */
typedef struct
{
  gboolean stats;
  gboolean json;
  int max_items; /* G_MININT: none was given */
} Options;

#define DEFAULT_ITEMS 1000
#define MAX_LISTED 5 /* names in a message */

/* Accepts a name as it is, or as ls prints it. */
static MtlTensorFileEntry *
find_entry (MtlTensorFile *file,
            const char    *name)
{
  g_autofree char *unescaped = tool_unescape (name);
  g_autofree char *only_name = NULL;
  MtlTensorFileEntry *entry = mtl_tensor_file_lookup_entry (file, name);

  if (entry == NULL && unescaped != NULL)
    entry = mtl_tensor_file_lookup_entry (file, unescaped);
  if (entry != NULL || mtl_tensor_file_get_format (file) != MTL_TENSOR_FILE_FORMAT_NPY)
    return entry;

  only_name = tool_dup_only_name (file);
  return g_str_equal (name, only_name)
         || (unescaped != NULL && g_str_equal (unescaped, only_name))
           ? g_list_model_get_item (G_LIST_MODEL (file), 0)
           : NULL;
}

static MtlTensorFileEntry *
find_only (MtlTensorFile *file)
{
  guint n = g_list_model_get_n_items (G_LIST_MODEL (file));

  return n == 1 ? g_list_model_get_item (G_LIST_MODEL (file), 0) : NULL;
}

/* The text within the brackets, or NULL. */
static char *
parse_slice (const char *text)
{
  gsize length = strlen (text);

  return length >= 2 && text[0] == '[' && text[length - 1] == ']'
         ? g_strndup (text + 1, length - 2) : NULL;
}

/* Finds the named tensor, and the slice after the name, NULL if there is none. A name
 * may end like a slice, so the whole argument is tried as a name first. */
static MtlTensorFileEntry *
find_argument (MtlTensorFile  *file,
               const char     *argument,
               char          **slice)
{
  const char *bracket = strrchr (argument, '[');
  MtlTensorFileEntry *entry = find_entry (file, argument);
  g_autofree char *name = NULL;

  if (entry != NULL || *slice != NULL || bracket == NULL)
    return entry;

  *slice = parse_slice (bracket);
  if (*slice == NULL)
    return NULL;

  name = g_strndup (argument, bracket - argument);
  entry = *name == '\0' ? find_only (file) : NULL;
  return entry != NULL ? entry : find_entry (file, name);
}

static int
compare_names (gconstpointer a,
               gconstpointer b)
{
  return tool_compare_names (*(const char *const *) a, *(const char *const *) b);
}

/* Only a file with a single tensor needs no name. */
static int
ask_for_name (const ToolCommand *command,
              MtlTensorFile     *file,
              const char        *path)
{
  g_auto (GStrv) names = tool_list_names (file);
  guint n = g_strv_length (names);
  g_autoptr (GString) text = g_string_new (NULL);

  qsort (names, n, sizeof *names, compare_names);
  for (guint i = 0; i < MIN (n, MAX_LISTED); i++)
    {
      g_autofree char *shortened = tool_shorten_name (names[i]);

      g_string_append (text, i == 0 ? " " : ", ");
      g_string_append_printf (text, _("“%s”"), shortened);
    }
  if (n > MAX_LISTED)
    g_string_append (text, ", …");
  return n == 0 ? tool_wrong_usage (command, _("%s has no tensors"), path)
                : tool_wrong_usage (command,
                                    ngettext ("which one of the %u tensor of %s?%s",
                                              "which one of the %u tensors of %s?%s", n),
                                    n, path, text->str);
}

static int
complain_of_name (MtlTensorFile *file,
                  const char    *path,
                  const char    *argument)
{
  g_auto (GStrv) names = tool_list_names (file);
  guint n = g_strv_length (names);
  g_autofree char *escaped_path = tool_escape (path);
  g_autofree char *escaped = tool_escape_typed (argument);
  g_autofree char *name = g_strndup (argument, strcspn (argument, "["));
  g_autofree char *guess = tool_guess (*name != '\0' ? name : argument,
                                       (const char *const *) names);

  if (strspn (argument, "0123456789:, -") == strlen (argument) && n == 1)
    tool_complain (_("%s: there is no tensor “%s”; a slice is in brackets, “[%s]”"), escaped_path,
                   escaped, escaped);
  else if (strspn (argument, "0123456789:, -") == strlen (argument))
    tool_complain (_("%s: there is no tensor “%s”; a slice is in brackets, “[%s]”, after the name "
                     "of a tensor"), escaped_path, escaped, escaped);
  else if (strchr (argument, '[') != NULL && strchr (argument, ']') == NULL)
    tool_complain (_("%s: there is no tensor “%s”; a slice ends with “]”"), escaped_path, escaped);
  else if (strchr (argument, '{') != NULL && strchr (argument, '}') != NULL)
    tool_complain (_("%s: there is no tensor “%s”: it stands for several: see “mtldl ls -a”"),
                   escaped_path, escaped);
  else if (n == 1)
    {
      g_autofree char *only = tool_shorten_name (names[0]);
      g_autofree char *escaped_only = tool_escape (only);

      tool_complain (_("%s: there is no tensor “%s”, only “%s”"), escaped_path, escaped,
                     escaped_only);
    }
  else
    tool_complain (ngettext ("%s: there is no tensor “%s” among the %u%s",
                             "%s: there is no tensor “%s” among the %u%s", n),
                   escaped_path, escaped, n, guess);
  return TOOL_FAILED;
}

static MtlStridedView *
get_view (MtlTensorFileEntry  *entry,
          const char          *slice,
          GError             **error)
{
  g_autoptr (MtlStridedView) view = mtl_tensor_file_entry_load_view (entry, NULL, error);

  if (view == NULL || slice == NULL)
    return g_steal_pointer (&view);

  return mtl_strided_view_slice_string (view, slice, error);
}

static void
print_elements (MtlStridedView *view,
                int             max_items)
{
  g_autofree char *text = mtl_strided_view_format (view, max_items);

  tool_print ("%s\n", text);
}

/* An invalid slice is an error of the user. */
static int
get_status (const char   *slice,
            const GError *error)
{
  return slice != NULL && g_error_matches (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT)
           ? TOOL_WRONG_USAGE : TOOL_FAILED;
}

/* Prints a list, as for several tensors. */
static gboolean
print_stats_json (MtlStridedView  *view,
                  const char      *name,
                  GError         **error)
{
  g_autoptr (MtlStatistics) statistics = tool_find_statistics (view, error);

  if (statistics == NULL)
    return FALSE;

  tool_print_text ("[");
  tool_print_stats_json (statistics, view, name);
  tool_print_text ("]\n");
  return TRUE;
}

static gboolean
print_view (const Options   *options,
            MtlStridedView  *view,
            const char      *name,
            GError         **error)
{
  if (options->stats)
    return options->json ? print_stats_json (view, name, error)
                         : tool_print_stats (view, error);
  if (options->json)
    return tool_print_view_json (view, name, error);

  print_elements (view, options->max_items != G_MININT ? options->max_items : DEFAULT_ITEMS);
  return TRUE;
}

static int
show (const ToolCommand *command,
      char             **arguments,
      const Options     *options)
{
  const char *name = arguments[1];
  g_autofree char *slice = name != NULL && arguments[2] != NULL ? parse_slice (arguments[2]) : NULL;
  g_autoptr (MtlTensorFile) file = NULL;
  g_autoptr (MtlTensorFileEntry) entry = NULL;
  g_autoptr (MtlStridedView) view = NULL;
  g_autofree char *shown_name = NULL;
  g_autoptr (GError) error = NULL;

  if (name != NULL && arguments[2] != NULL && slice == NULL)
    return tool_wrong_usage (command, _("%s is not a slice, such as “[0]” or “[:, 2:10]”"),
                             arguments[2]);

  file = tool_open (arguments[0]);
  if (file == NULL)
    return TOOL_FAILED;

  entry = name != NULL ? find_argument (file, name, &slice) : find_only (file);
  if (entry == NULL && options->stats && slice == NULL
      && (name == NULL || tool_is_pattern (name)))
    return tool_print_all_stats (file, arguments[0], name, options->json) ? TOOL_DONE
                                                                          : TOOL_FAILED;
  if (entry == NULL)
    return name != NULL ? complain_of_name (file, arguments[0], name)
                        : ask_for_name (command, file, arguments[0]);

  shown_name = tool_dup_name (file, entry);
  view = get_view (entry, slice, &error);
  if (view != NULL && print_view (options, view, shown_name, &error))
    return TOOL_DONE;

  tool_complain_of (arguments[0], error);
  return get_status (slice, error);
}

int
tool_show (const ToolCommand *command,
           int                argc,
           char              *argv[])
{
  Options options = { .max_items = G_MININT };
  const GOptionEntry entries[] = {
    { "stats", 's', 0, G_OPTION_ARG_NONE, &options.stats,
      N_("Print statistics instead of the elements"), NULL },
    { "json", 'j', 0, G_OPTION_ARG_NONE, &options.json,
      N_("Print all elements, or the statistics, as JSON"), NULL },
    { "max-items", 'n', 0, G_OPTION_ARG_INT, &options.max_items,
      N_("Print at most N elements, or only the edges if there are more; 1000 by default"), "N" },
    { NULL },
  };
  int status;
  g_auto (GStrv) arguments = tool_parse (command, entries, argc, argv, &status);

  if (arguments == NULL)
    return status;
  if (options.max_items != G_MININT && (options.max_items < 0 || options.max_items > MOST_ITEMS))
    return tool_wrong_usage (command, _("--max-items is a number from 0 to %d, not %d"), MOST_ITEMS,
                             options.max_items);
  if (options.json && options.max_items != G_MININT)
    return tool_wrong_usage (command, _("--json prints all elements, so --max-items does not "
                                        "apply: a slice prints fewer"));

  return show (command, arguments, &options);
}
