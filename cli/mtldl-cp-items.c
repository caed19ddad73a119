/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The tensors that mtldl cp copies, with their new names and element types. */

#include "mtldl-cp.h"

#include <string.h>

void
tool_copy_item_free (ToolCopyItem *self)
{
  g_clear_object (&self->entry);
  g_clear_object (&self->view);
  g_free (self->name);
  g_free (self->new_name);
  g_free (self);
}

/* TRUE for each rule that matches a tensor. */
typedef struct
{
  gboolean *renames;
  gboolean *dtypes;
} Used;

static void
used_clear (Used *self)
{
  g_free (self->renames);
  g_free (self->dtypes);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Used, used_clear)

/* The first rule that matches the tensor determines the name. */
static void
choose_name (const ToolCopyOptions *options,
             ToolCopyItem          *item,
             gboolean              *used)
{
  for (guint i = 0; i < options->rename_rules->len; i++)
    {
      g_autofree char *renamed =
        tool_rename_apply (&g_array_index (options->rename_rules, ToolRename, i), item->name);

      used[i] |= renamed != NULL;
      if (item->new_name == NULL)
        item->new_name = g_steal_pointer (&renamed);
    }

  if (item->new_name == NULL)
    item->new_name = g_strdup (item->name);
}

/* The last rule that matches the tensor determines the type. */
static void
choose_dtype (const ToolCopyOptions *options,
              ToolCopyItem          *item,
              gboolean              *used)
{
  const MtlDType dtype = mtl_tensor_file_entry_get_dtype (item->entry);

  item->dtype = dtype;
  for (guint i = 0; i < options->dtype_rules->len; i++)
    {
      const ToolDtypeRule *rule = &g_array_index (options->dtype_rules, ToolDtypeRule, i);
      const gboolean is_meant = rule->pattern != NULL
                                  ? tool_pattern_matches (rule->pattern, item->name)
                                  : tool_dtype_is_float (dtype);

      /* All floats are converted even if there are none. */
      used[i] |= is_meant || rule->pattern == NULL;
      if (is_meant)
        item->dtype = rule->dtype;
    }
}

static void
complain_of_rule (const char *text)
{
  g_autofree char *escaped = tool_escape_typed (text);

  tool_complain (_("no tensor that is copied matches “%s”"), escaped);
}

static gboolean
check_used (const ToolCopyOptions *options,
            const Used            *used)
{
  gboolean all = TRUE;

  for (guint i = 0; i < options->rename_rules->len; i++)
    if (!used->renames[i])
      {
        complain_of_rule (options->renames[i]);
        all = FALSE;
      }
  for (guint i = 0; i < options->dtype_rules->len; i++)
    if (!used->dtypes[i] && g_array_index (options->dtype_rules, ToolDtypeRule, i).pattern != NULL)
      {
        complain_of_rule (options->dtypes[i]);
        all = FALSE;
      }

  return all;
}

static int
compare_texts (gconstpointer a,
               gconstpointer b)
{
  return strcmp (a, b);
}

/* The same name in two sources. One that the rules give to two tensors of the same source is
 * refused when it is added to the new file. */
static gboolean
check_names (GPtrArray *items)
{
  g_autoptr (GTree) names = g_tree_new (compare_texts);
  gboolean all = TRUE;

  for (guint i = 0; i < items->len; i++)
    {
      ToolCopyItem *item = items->pdata[i];
      const ToolCopyItem *other = g_tree_lookup (names, item->new_name);
      g_autofree char *escaped = NULL;
      g_autofree char *path = NULL;
      g_autofree char *other_path = NULL;

      if (other == NULL)
        g_tree_insert (names, item->new_name, item);
      if (other == NULL || other->source == item->source)
        continue;

      escaped = tool_escape (item->new_name);
      path = tool_escape (item->path);
      other_path = tool_escape (other->path);
      tool_complain (_("“%s” is in %s and in %s: copy one of these with other names first, as with "
                       "--rename='*=NAME.*'"), escaped, other_path, path);
      all = FALSE;
    }

  return all;
}

/* Frees it. */
static void
leave_out (ToolCopyItem *item,
           const char   *name)
{
  g_autofree char *escaped = tool_escape (name);
  g_autofree char *path = tool_escape (item->path);

  tool_complain (_("%s: “%s” is left out: %s"), path, escaped,
                 mtl_tensor_file_entry_get_error (item->entry)->message);
  tool_copy_item_free (item);
}

/* Returns how many are left out. */
static guint
add_items (const ToolCopyOptions *options,
           MtlTensorFile         *source,
           const char            *path,
           const Used            *used,
           char                 **names,
           const gboolean        *matches,
           GPtrArray             *items)
{
  guint n_left_out = 0;

  for (guint i = 0; names[i] != NULL; i++)
    {
      ToolCopyItem *item;

      if (!matches[i])
        continue;

      item = g_new0 (ToolCopyItem, 1);
      item->source = source;
      item->path = path;
      item->entry = g_list_model_get_item (G_LIST_MODEL (source), i);
      if (tool_is_refused (item->entry))
        {
          leave_out (item, names[i]);
          n_left_out++;
          continue;
        }
      item->name = g_strdup (names[i]);
      choose_name (options, item, used->renames);
      choose_dtype (options, item, used->dtypes);
      g_ptr_array_add (items, item);
    }

  return n_left_out;
}

/* Adds the selected tensors of all sources. Prints an error if it returns FALSE. */
gboolean
tool_list_copies (const ToolCopyOptions  *options,
                  GPtrArray              *sources,
                  char                  **paths,
                  GPtrArray              *items)
{
  g_auto (Used) used = { g_new0 (gboolean, options->rename_rules->len + 1),
                         g_new0 (gboolean, options->dtype_rules->len + 1) };
  const guint n_patterns = options->select != NULL ? g_strv_length (options->select) : 0;
  g_autofree gboolean *selected = g_new0 (gboolean, n_patterns + 1);
  g_autoptr (GPtrArray) all_names = g_ptr_array_new_with_free_func (g_free);
  guint n_left_out = 0;

  for (guint i = 0; i < sources->len; i++)
    {
      g_auto (GStrv) names = tool_list_names (sources->pdata[i]);
      g_autofree gboolean *matches = tool_match_names (names, options->select, selected);

      n_left_out += add_items (options, sources->pdata[i], paths[i], &used, names, matches,
                               items);
      for (gsize j = 0; names[j] != NULL; j++)
        g_ptr_array_add (all_names, g_steal_pointer (&names[j]));
    }
  g_ptr_array_add (all_names, NULL);

  if (!tool_check_patterns (options->select, selected, (const char *const *) all_names->pdata))
    return FALSE;
  if (n_left_out > 0 && items->len == 0)
    {
      tool_complain (_("there is nothing to copy: no such tensor can be loaded"));
      return FALSE;
    }

  return check_used (options, &used) && check_names (items);
}
