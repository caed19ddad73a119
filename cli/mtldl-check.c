/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* mtldl check: reports faults of files. */

#include "mtldl-tool.h"

#include <string.h>

typedef struct
{
  gboolean nan;
  gboolean booleans;
  gboolean alignment;
  gboolean infinite;
  gboolean strict;
  gboolean quiet;
} Options;

/* Reports each fault once: several tensors can share it, for example if their file is
 * truncated. Uses trees rather than hashes, because the names come from the file. */
typedef struct
{
  MtlTensorFileChecks checks;
  GTree *told;
  ToolProgress progress;
  guint64 n_done; /* bytes */
  guint64 n_all;  /* all tensors that the file names */
} Faults;

static int
compare_texts (gconstpointer a,
               gconstpointer b,
               gpointer      user_data)
{
  return strcmp (a, b);
}

static void
tell (Faults       *self,
      const char   *path,
      const GError *error)
{
  if (g_tree_lookup_node (self->told, error->message) != NULL)
    return;

  g_tree_insert (self->told, g_strdup (error->message), NULL);
  tool_progress_clear (&self->progress);
  tool_complain_of (path, error);
}

static void
check_entry (Faults             *self,
             const char         *path,
             MtlTensorFileEntry *entry)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) other = NULL;

  if (mtl_tensor_file_entry_check (entry, self->checks, NULL, &error))
    return;

  tell (self, path, error);
  /* The alignment is checked first, and may hide other faults. */
  if ((self->checks & MTL_TENSOR_FILE_CHECKS_ALIGNMENT) != 0 &&
      !mtl_tensor_file_entry_check (entry, self->checks & ~MTL_TENSOR_FILE_CHECKS_ALIGNMENT, NULL,
                                    &other))
    tell (self, path, other);
}

static void
check_entries (Faults        *self,
               const char    *path,
               MtlTensorFile *file)
{
  guint n = g_list_model_get_n_items (G_LIST_MODEL (file));

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (MtlTensorFileEntry) entry = g_list_model_get_item (G_LIST_MODEL (file), i);

      check_entry (self, path, entry);
      self->n_done = MIN (self->n_done + mtl_tensor_file_entry_get_n_bytes (entry), self->n_all);
      tool_progress_update (self->n_done, self->n_all, &self->progress);
    }
}

static gboolean
check_part (gpointer key,
            gpointer value,
            gpointer data)
{
  Faults *self = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlTensorFile) part = tool_open_file (key, &error);

  if (part != NULL)
    check_entries (self, key, part);
  else
    tell (self, key, error);
  return FALSE; /* continue */
}

/* The paths of the files that contain the tensors, and the total size of the tensors
 * in bytes. */
static GTree *
list_parts (MtlTensorFile *file,
            guint64       *n_bytes)
{
  GTree *paths = g_tree_new_full (compare_texts, NULL, g_free, NULL);
  guint n = g_list_model_get_n_items (G_LIST_MODEL (file));

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (MtlTensorFileEntry) entry = g_list_model_get_item (G_LIST_MODEL (file), i);

      g_tree_insert (paths, g_file_get_path (mtl_tensor_file_entry_get_file (entry)), NULL);
      *n_bytes += mtl_tensor_file_entry_get_n_bytes (entry);
    }

  return paths;
}

/* Reports all faults of a file. The files of a model are opened one by one, because
 * they may have tensors that the index does not name. */
static void
tell_faults (const Options       *options,
             MtlTensorFile       *file,
             MtlTensorFileChecks  checks,
             const char          *path,
             const GError        *first)
{
  g_autoptr (GTree) told = g_tree_new_full (compare_texts, NULL, g_free, NULL);
  Faults faults = { .checks = checks, .told = told };
  g_autoptr (GTree) parts = list_parts (file, &faults.n_all);
  g_autofree char *own_path = g_file_get_path (mtl_tensor_file_get_file (file));

  tool_progress_init (&faults.progress, options->quiet ? NULL : "check");
  if (g_tree_lookup_node (parts, own_path) != NULL)
    check_entries (&faults, path, file);
  else
    g_tree_foreach (parts, check_part, &faults);
  tool_progress_clear (&faults.progress);

  /* If the fault has disappeared meanwhile, it is still reported. */
  if (g_tree_nnodes (told) == 0)
    tell (&faults, path, first);
}

/* One warning stands for all tensors of a file that an index names and that cannot be
 * opened. */
static void
warn_of_refused (const char    *path,
                 MtlTensorFile *file)
{
  g_autoptr (GTree) files = g_tree_new_full (compare_texts, NULL, NULL, NULL);
  guint n = g_list_model_get_n_items (G_LIST_MODEL (file));

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (MtlTensorFileEntry) entry = g_list_model_get_item (G_LIST_MODEL (file), i);
      const GError *error = mtl_tensor_file_entry_get_error (entry);
      g_autofree char *name = NULL;

      if (error == NULL || g_tree_lookup_node (files, error->message) != NULL)
        continue;

      if (error->domain == G_IO_ERROR)
        g_tree_insert (files, error->message, NULL);
      name = tool_dup_name (file, entry);
      tool_complain_of_entry (path, name, error);
    }
}

static gboolean
check_file (const Options       *options,
            MtlTensorFileChecks  checks,
            const char          *path)
{
  g_autoptr (MtlTensorFile) file = tool_open (path);
  g_autoptr (GError) error = NULL;
  g_autofree char *escaped = NULL;
  ToolProgress progress;
  gboolean is_right;

  if (file == NULL)
    return FALSE;

  tool_progress_init (&progress, options->quiet ? NULL : "check");
  is_right = mtl_tensor_file_check (file, checks, NULL, tool_progress_update, &progress, &error);
  tool_progress_clear (&progress);
  if (!is_right)
    {
      tell_faults (options, file, checks, path, error);
      return FALSE;
    }

  if (!options->quiet)
    {
      warn_of_refused (path, file);
      escaped = tool_escape (path);
      tool_print ("%s: ok\n", escaped);
    }
  return TRUE;
}

/* The file, or those in the folder. */
static gboolean
check_path (const Options       *options,
            MtlTensorFileChecks  checks,
            const char          *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) paths = tool_find_files (path, &error);
  gboolean is_right = TRUE;

  if (paths == NULL)
    {
      tool_complain ("%s", error->message);
      return FALSE;
    }

  for (guint i = 0; i < paths->len; i++)
    is_right &= check_file (options, checks, paths->pdata[i]);
  return is_right;
}

int
tool_check (const ToolCommand *command,
            int                argc,
            char              *argv[])
{
  Options options = { FALSE };
  const GOptionEntry entries[] = {
    { "nan", 0, 0, G_OPTION_ARG_NONE, &options.nan, N_("Report NaNs as faults"), NULL },
    { "inf", 0, 0, G_OPTION_ARG_NONE, &options.infinite, N_("Report infinities as faults"), NULL },
    { "bool", 0, 0, G_OPTION_ARG_NONE, &options.booleans,
      N_("Report truth values other than 0 and 1 as faults"), NULL },
    { "alignment", 0, 0, G_OPTION_ARG_NONE, &options.alignment,
      N_("Report tensors that are not aligned to their elements as faults"), NULL },
    { "strict", 0, 0, G_OPTION_ARG_NONE, &options.strict,
      N_("Report tensors that cannot be loaded, such as text, as faults"), NULL },
    { "quiet", 'q', 0, G_OPTION_ARG_NONE, &options.quiet,
      N_("Do not report files without faults, or progress"), NULL },
    { NULL },
  };
  int status;
  g_auto (GStrv) arguments = tool_parse (command, entries, argc, argv, &status);
  MtlTensorFileChecks checks;

  if (arguments == NULL)
    return status;

  checks = (options.nan ? MTL_TENSOR_FILE_CHECKS_NAN : 0)
           | (options.booleans ? MTL_TENSOR_FILE_CHECKS_BOOL : 0)
           | (options.alignment ? MTL_TENSOR_FILE_CHECKS_ALIGNMENT : 0)
           | (options.infinite ? MTL_TENSOR_FILE_CHECKS_INF : 0)
           | (options.strict ? MTL_TENSOR_FILE_CHECKS_LOADABLE : 0);
  status = TOOL_DONE;
  for (gsize i = 0; arguments[i] != NULL; i++)
    if (!check_path (&options, checks, arguments[i]))
      status = TOOL_FAILED;
  return status;
}
