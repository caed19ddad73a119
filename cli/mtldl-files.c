/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Files, folders and standard input. */

#include "mtldl-tool.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INDEX_ENDING ".safetensors.index.json"
#define STANDARD_INPUT "/dev/stdin"

static gboolean
ends_in (const char *name,
         const char *ending)
{
  gsize length = strlen (name), ending_length = strlen (ending);

  return length >= ending_length
         && g_ascii_strcasecmp (name + length - ending_length, ending) == 0;
}

/* A file of tensors has one of these endings. */
gboolean
tool_is_file_name (const char *name)
{
  return ends_in (name, ".safetensors") || ends_in (name, INDEX_ENDING) || ends_in (name, ".npy")
         || ends_in (name, ".npz");
}

static gboolean
check_standard_input (GError **error)
{
  struct stat info;

  if (fstat (STDIN_FILENO, &info) == 0 && S_ISREG (info.st_mode))
    return TRUE;

  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE,
                       _("“-”: standard input is not a file. Save it as one, or redirect it from "
                         "one with “<”; a file of that name is “./-”"));
  return FALSE;
}

/* Files that are dropped on a terminal become such addresses. */
static GFile *
new_file_of_address (const char  *address,
                     const char  *scheme,
                     GError     **error)
{
  g_autofree char *host = NULL;
  g_autofree char *path = g_str_equal (scheme, "file")
                          ? g_filename_from_uri (address, &host, NULL) : NULL;
  g_autofree char *escaped = NULL;

  if (path != NULL && (host == NULL || g_str_equal (host, g_get_host_name ())))
    return g_file_new_for_path (path);

  escaped = tool_escape (address);
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
               _("“%s” is an address, not a file on this machine: download it first"), escaped);
  return NULL;
}

/* A path that ends like a folder is refused, as a GFile has no such end. */
GFile *
tool_new_file (const char  *path,
               GError     **error)
{
  const char *slash = strrchr (path, G_DIR_SEPARATOR);
  const char *name = slash != NULL ? slash + 1 : path;
  g_autofree char *escaped = NULL;
  g_autofree char *scheme = NULL;

  if (g_str_equal (path, "-"))
    return check_standard_input (error) ? g_file_new_for_path (STANDARD_INPUT) : NULL;
  scheme = strstr (path, "://") != NULL ? g_uri_parse_scheme (path) : NULL;
  if (scheme != NULL && !g_file_test (path, G_FILE_TEST_EXISTS))
    return new_file_of_address (path, scheme, error);
  if ((name[0] != '\0' || slash == NULL) && strcmp (name, ".") != 0 && strcmp (name, "..") != 0)
    return g_file_new_for_path (path);

  escaped = tool_escape (path);
  if (g_file_test (path, G_FILE_TEST_IS_DIR))
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_IS_DIRECTORY, _("“%s” is a folder"), escaped);
  else
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, _("There is no folder “%s”"), escaped);
  return NULL;
}

static int
compare_paths (gconstpointer a,
               gconstpointer b)
{
  return tool_compare_names (*(char *const *) a, *(char *const *) b);
}

/* The names in the folder that end as files of tensors do; NULL on error. */
static GPtrArray *
read_folder (const char  *path,
             GError     **error)
{
  g_autoptr (GDir) folder = g_dir_open (path, 0, error);
  GPtrArray *names;

  if (folder == NULL)
    return NULL;

  names = g_ptr_array_new_with_free_func (g_free);
  for (const char *name; (name = g_dir_read_name (folder)) != NULL;)
    {
      g_autofree char *full = g_build_filename (path, name, NULL);

      if (*name != '.' && tool_is_file_name (name) && !g_file_test (full, G_FILE_TEST_IS_DIR))
        g_ptr_array_add (names, g_strdup (name));
    }
  g_ptr_array_sort (names, compare_paths);
  return names;
}

static gboolean
has_folders (const char *path)
{
  g_autoptr (GDir) folder = g_dir_open (path, 0, NULL);

  for (const char *name; folder != NULL && (name = g_dir_read_name (folder)) != NULL;)
    {
      g_autofree char *full = g_build_filename (path, name, NULL);

      if (*name != '.' && g_file_test (full, G_FILE_TEST_IS_DIR))
        return TRUE;
    }
  return FALSE;
}

static int
compare_texts (gconstpointer a,
               gconstpointer b,
               gpointer      user_data)
{
  return strcmp (a, b);
}

/* Adds the files that the index names. It is opened again when it is listed, which then
 * reports its faults. */
static void
add_members (const char *path,
             GTree      *members)
{
  g_autoptr (GFile) index = g_file_new_for_path (path);
  g_autoptr (MtlTensorFile) file = mtl_tensor_file_open (index, NULL, MTL_TENSOR_FILE_MODE_AUTO,
                                                         NULL, NULL);
  guint n = file != NULL ? g_list_model_get_n_items (G_LIST_MODEL (file)) : 0;
  GFile *last = NULL;

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (MtlTensorFileEntry) entry = g_list_model_get_item (G_LIST_MODEL (file), i);
      GFile *member = mtl_tensor_file_entry_get_file (entry);

      if (member != last)
        g_tree_insert (members, g_file_get_basename (member), NULL);
      last = member;
    }
}

/* Indices, and the files of tensors that none of them names. */
static GPtrArray *
find_in_folder (const char  *path,
                GError     **error)
{
  g_autoptr (GPtrArray) names = read_folder (path, error);
  g_autoptr (GTree) members = g_tree_new_full (compare_texts, NULL, g_free, NULL);
  g_autoptr (GPtrArray) found = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; names != NULL && i < names->len; i++)
    if (ends_in (names->pdata[i], INDEX_ENDING))
      {
        g_autofree char *index = g_build_filename (path, names->pdata[i], NULL);

        add_members (index, members);
      }

  for (guint i = 0; names != NULL && i < names->len; i++)
    if (g_tree_lookup_node (members, names->pdata[i]) == NULL)
      g_ptr_array_add (found, g_build_filename (path, names->pdata[i], NULL));
  if (found->len > 0)
    return g_steal_pointer (&found);

  if (names != NULL)
    {
      g_autofree char *escaped = tool_escape (path);
      const char *more = has_folders (path) ? _("; the folders in it are not searched") : "";

      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
                   _("“%s” is a folder without .safetensors, .npy and .npz files%s"),
                   escaped, more);
    }
  return NULL;
}

GPtrArray *
tool_find_files (const char  *path,
                 GError     **error)
{
  GPtrArray *paths;

  if (g_file_test (path, G_FILE_TEST_IS_DIR))
    return find_in_folder (path, error);

  paths = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (paths, g_strdup (path));
  return paths;
}

MtlTensorFile *
tool_open_file (const char  *path,
                GError     **error)
{
  g_autoptr (GFile) file = g_file_test (path, G_FILE_TEST_IS_DIR)
                             ? g_file_new_for_path (path) : tool_new_file (path, error);
  MtlTensorFile *self;

  if (file == NULL)
    return NULL;

  /* The file is always mapped: cp has all tensors open at the same time, and show needs
   * only a part of one. */
  self = mtl_tensor_file_open (file, NULL, MTL_TENSOR_FILE_MODE_MAP, NULL, error);
  if (self == NULL)
    tool_add_kind (file, error);
  return self;
}

MtlTensorFile *
tool_open (const char *path)
{
  g_autoptr (GError) error = NULL;
  MtlTensorFile *self = tool_open_file (path, &error);

  if (self == NULL)
    tool_complain ("%s", error->message);
  return self;
}
