/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* mtldl show: prints the elements of a tensor. */

#include "mtldl-show.h"

#include <string.h>

#define MOST_ITEMS 100000 /* the most that are printed */

/* Accepts a name as it is, or as ls prints it. */
static MtlTensorFileEntry *
find_entry (MtlTensorFile  *file,
            const char     *name,
            GError        **error)
{
  MtlTensorFileEntry *entry = mtl_tensor_file_lookup_entry (file, name, error);
  g_autofree char *unescaped = NULL;

  if (entry == NULL)
    unescaped = tool_unescape (name);
  if (unescaped == NULL || g_str_equal (unescaped, name))
    return entry;

  entry = mtl_tensor_file_lookup_entry (file, unescaped, NULL);
  if (entry != NULL)
    g_clear_error (error);
  return entry;
}

/* Finds the named tensor, and the slice after the name, NULL if there is none. A name
 * may end like a slice, so the whole argument is tried as a name first. */
static MtlTensorFileEntry *
find_argument (MtlTensorFile  *file,
               const char     *argument,
               char          **slice,
               GError        **error)
{
  const char *bracket = strrchr (argument, '[');
  MtlTensorFileEntry *entry = find_entry (file, argument, error);
  g_autofree char *name = NULL;

  *slice = NULL;
  if (entry != NULL || bracket == NULL || !g_str_has_suffix (argument, "]"))
    return entry;

  g_clear_error (error);
  name = g_strndup (argument, bracket - argument);
  *slice = g_strndup (bracket + 1, strlen (bracket) - 2);
  if (*name == '\0' && g_list_model_get_n_items (G_LIST_MODEL (file)) == 1)
    return g_list_model_get_item (G_LIST_MODEL (file), 0);

  return find_entry (file, name, error);
}

static MtlTensorFileEntry *
find_only (MtlTensorFile *file)
{
  guint n = g_list_model_get_n_items (G_LIST_MODEL (file));

  return n == 1 ? g_list_model_get_item (G_LIST_MODEL (file), 0) : NULL;
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
get_status (const GError *error)
{
  return g_error_matches (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT) ? TOOL_WRONG_USAGE
                                                                        : TOOL_FAILED;
}

static int
show (const ToolCommand *command,
      char             **arguments,
      gboolean           stats,
      int                max_items)
{
  g_autoptr (MtlTensorFile) file = tool_open (arguments[0]);
  g_autoptr (MtlTensorFileEntry) entry = NULL;
  g_autoptr (MtlStridedView) view = NULL;
  g_autofree char *slice = NULL;
  g_autoptr (GError) error = NULL;

  if (file == NULL)
    return TOOL_FAILED;

  if (arguments[1] != NULL)
    entry = find_argument (file, arguments[1], &slice, &error);
  else
    {
      entry = find_only (file);
      if (entry == NULL)
        return tool_wrong_usage (command, "which one of the %u tensors of %s?",
                                 g_list_model_get_n_items (G_LIST_MODEL (file)), arguments[0]);
    }

  if (entry != NULL)
    view = get_view (entry, slice, &error);
  if (view != NULL && stats && tool_print_stats (view, &error))
    return TOOL_DONE;
  if (error != NULL)
    {
      tool_complain_of (arguments[0], error);
      return slice != NULL ? get_status (error) : TOOL_FAILED;
    }

  print_elements (view, max_items);
  return TOOL_DONE;
}

int
tool_show (const ToolCommand *command,
           int                argc,
           char              *argv[])
{
  gboolean stats = FALSE;
  int max_items = 1000;
  const GOptionEntry entries[] = {
    { "stats", 's', 0, G_OPTION_ARG_NONE, &stats,
      "Print statistics instead of the elements", NULL },
    { "max-items", 'n', 0, G_OPTION_ARG_INT, &max_items,
      "Print at most N elements, or only the edges if there are more; 1000 by default", "N" },
    { NULL },
  };
  int status;
  g_auto (GStrv) arguments = tool_parse (command, entries, argc, argv, &status);

  if (arguments == NULL)
    return status;
  if (max_items < 0 || max_items > MOST_ITEMS)
    return tool_wrong_usage (command, "--max-items is a number from 0 to %d, not %d", MOST_ITEMS,
                             max_items);

  return show (command, arguments, stats, max_items);
}
