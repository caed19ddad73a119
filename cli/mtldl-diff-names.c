/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The tensors that two files have in common, and those that they have not. */

#include "mtldl-diff.h"

#include <string.h>

void
tool_pair_free (ToolPair *self)
{
  g_free (self->name);
  g_clear_object (&self->a);
  g_clear_object (&self->b);
  g_free (self);
}

void
tool_pairs_clear (ToolPairs *self)
{
  g_clear_pointer (&self->only_a, g_ptr_array_unref);
  g_clear_pointer (&self->only_b, g_ptr_array_unref);
  g_clear_pointer (&self->pairs, g_ptr_array_unref);
}

static int
compare_texts (gconstpointer a,
               gconstpointer b)
{
  return strcmp (a, b);
}

static int
compare_names (gconstpointer a,
               gconstpointer b)
{
  return tool_compare_names (*(const char *const *) a, *(const char *const *) b);
}

static int
compare_pairs (gconstpointer a,
               gconstpointer b)
{
  return tool_compare_names ((*(ToolPair *const *) a)->name, (*(ToolPair *const *) b)->name);
}

static void
add_pair (ToolPairs     *self,
          const char    *name,
          MtlTensorFile *a,
          guint          a_position,
          MtlTensorFile *b,
          guint          b_position)
{
  ToolPair *pair = g_new0 (ToolPair, 1);

  pair->name = g_strdup (name);
  pair->a = g_list_model_get_item (G_LIST_MODEL (a), a_position);
  pair->b = g_list_model_get_item (G_LIST_MODEL (b), b_position);
  g_ptr_array_add (self->pairs, pair);
}

/* The array of a .npy file has no name of its own: it is compared with the only tensor of
 * the other file. */
static gboolean
has_nameless (MtlTensorFile *a,
              char         **a_names,
              MtlTensorFile *b,
              char         **b_names)
{
  return g_strv_length (a_names) == 1 && g_strv_length (b_names) == 1
         && (mtl_tensor_file_get_format (a) == MTL_TENSOR_FILE_FORMAT_NPY
             || mtl_tensor_file_get_format (b) == MTL_TENSOR_FILE_FORMAT_NPY);
}

/* Uses trees rather than hashes, because the names come from the files. */
static void
add_all (ToolPairs       *self,
         MtlTensorFile   *a,
         char           **a_names,
         const gboolean  *a_matches,
         MtlTensorFile   *b,
         char           **b_names,
         const gboolean  *b_matches)
{
  g_autoptr (GTree) positions = g_tree_new (compare_texts);
  g_autoptr (GTree) seen = g_tree_new (compare_texts);

  for (guint i = 0; b_names[i] != NULL; i++)
    if (b_matches[i])
      g_tree_insert (positions, b_names[i], GUINT_TO_POINTER (i + 1));

  for (guint i = 0; a_names[i] != NULL; i++)
    {
      guint position;

      /* An archive can have a name twice, and neither can be loaded. */
      if (!a_matches[i] || g_tree_lookup (seen, a_names[i]) != NULL)
        continue;

      position = GPOINTER_TO_UINT (g_tree_lookup (positions, a_names[i]));
      if (position == 0)
        g_ptr_array_add (self->only_a, g_strdup (a_names[i]));
      else
        add_pair (self, a_names[i], a, i, b, position - 1);
      g_tree_remove (positions, a_names[i]);
      g_tree_insert (seen, a_names[i], a_names[i]);
    }

  for (guint i = 0; b_names[i] != NULL; i++)
    if (b_matches[i] && g_tree_remove (positions, b_names[i]))
      g_ptr_array_add (self->only_b, g_strdup (b_names[i]));
}

/* Prints an error if it returns FALSE, as a pattern matches nothing in either file. */
gboolean
tool_pairs_init (ToolPairs      *self,
                 MtlTensorFile  *a,
                 MtlTensorFile  *b,
                 char          **patterns)
{
  g_auto (GStrv) a_names = tool_list_names (a);
  g_auto (GStrv) b_names = tool_list_names (b);
  g_autofree gboolean *used =
    g_new0 (gboolean, (patterns != NULL ? g_strv_length (patterns) : 0) + 1);
  g_autofree gboolean *a_matches = tool_match_names (a_names, patterns, used);
  g_autofree gboolean *b_matches = tool_match_names (b_names, patterns, used);
  g_autoptr (GPtrArray) all_names = g_ptr_array_new ();

  *self = (ToolPairs) {
    .only_a = g_ptr_array_new_with_free_func (g_free),
    .only_b = g_ptr_array_new_with_free_func (g_free),
    .pairs = g_ptr_array_new_with_free_func ((GDestroyNotify) tool_pair_free),
  };
  for (gsize i = 0; a_names[i] != NULL; i++)
    g_ptr_array_add (all_names, a_names[i]);
  for (gsize i = 0; b_names[i] != NULL; i++)
    g_ptr_array_add (all_names, b_names[i]);
  g_ptr_array_add (all_names, NULL);
  if (!tool_check_patterns (patterns, used, (const char *const *) all_names->pdata))
    return FALSE;

  if (has_nameless (a, a_names, b, b_names))
    add_pair (self, a_names[0], a, 0, b, 0);
  else
    add_all (self, a, a_names, a_matches, b, b_names, b_matches);
  g_ptr_array_sort (self->only_a, compare_names);
  g_ptr_array_sort (self->only_b, compare_names);
  g_ptr_array_sort (self->pairs, compare_pairs);
  return TRUE;
}
