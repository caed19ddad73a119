/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Files of any bytes, from opening them to the elements: mapped and read, which agree. */

#include "fuzz.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz-frames.h"

/* Limits of the tensors of a file that are looked at. */
#define MAX_BYTES 65536
#define MAX_TENSORS 64

static char *folder;
static GFile *files[N_FILES];
static int descriptors[N_FILES];
static const char *const names[N_FILES] = { "file", "a", "b" };

static void
remove_folder (void)
{
  for (gsize i = 0; i < N_FILES; i++)
    {
      g_unlink (g_file_peek_path (files[i]));
      g_object_unref (files[i]);
      close (descriptors[i]);
    }
  g_rmdir (folder);
  g_free (folder);
}

int
LLVMFuzzerInitialize (int    *argc,
                      char ***argv)
{
  folder = g_strdup ("/dev/shm/fuzz-tensor-file-XXXXXX");
  g_assert_nonnull (g_mkdtemp (folder));
  for (gsize i = 0; i < N_FILES; i++)
    {
      files[i] = g_file_new_build_filename (folder, names[i], NULL);
      descriptors[i] = g_open (g_file_peek_path (files[i]), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
      g_assert_cmpint (descriptors[i], >=, 0);
    }
  atexit (remove_folder);

  g_type_ensure (MTL_TYPE_TENSOR_FILE);
  g_type_ensure (MTL_TYPE_TENSOR_FILE_ENTRY);
  g_type_ensure (MTL_TYPE_STRIDED_VIEW);
  g_type_ensure (MTL_TYPE_BUFFER);
  g_type_ensure (G_TYPE_ZLIB_DECOMPRESSOR);
  mtl_device_get_default ();
  return 0;
}

static void
write_file (gsize         number,
            const guint8 *data,
            gsize         size)
{
  g_assert_cmpint (ftruncate (descriptors[number], 0), ==, 0);
  g_assert_cmpint (pwrite (descriptors[number], data, size, 0), ==, size);
}

static void
write_files (const guint8 *data,
             gsize         size)
{
  Input input = { data, size };

  if (!begins_with (data, size, FILES_MARK))
    {
      write_file (0, data, size);
      return;
    }

  input.data += strlen (FILES_MARK);
  input.size -= strlen (FILES_MARK);
  for (gsize i = 0; i < N_FILES; i++)
    {
      gsize n = input.size;

      if (i < N_FILES - 1)
        {
          n = input_byte (&input) << 8;
          n |= input_byte (&input);
          n = MIN (n, input.size);
        }
      write_file (i, input.data, n);
      input.data += n;
      input.size -= n;
    }
}

/* Errors of the library or of the system. */
static gboolean
check_any_result (gboolean  success,
                  GError  **error)
{
  g_assert_true (success == (*error == NULL));
  if (*error != NULL)
    {
      g_assert_true ((*error)->domain == MTL_ERROR || (*error)->domain == G_IO_ERROR);
      g_assert_true (g_utf8_validate ((*error)->message, -1, NULL));
      g_assert_true ((*error)->message[0] != '\0');
    }
  g_clear_error (error);
  return success;
}

static MtlTensorFile *
open_file (MtlTensorFileMode mode)
{
  g_autoptr (GError) error = NULL;
  MtlTensorFile *file = mtl_tensor_file_open (files[0], NULL, mode, NULL, &error);

  check_any_result (file != NULL, &error);
  return file;
}

/* Names, metadata and entries, each of which is found again. */
static void
list (MtlTensorFile *file)
{
  g_autofree const char **all = mtl_tensor_file_list_names (file);
  g_autofree const char **keys = mtl_tensor_file_list_metadata_keys (file);
  guint n = g_list_model_get_n_items (G_LIST_MODEL (file));

  g_assert_cmpuint (g_strv_length ((char **) all), ==, n);
  for (gsize i = 0; keys[i] != NULL; i++)
    g_assert_nonnull (mtl_tensor_file_lookup_metadata (file, keys[i]));
  for (guint i = 0; i < MIN (n, MAX_TENSORS); i++)
    {
      g_autoptr (MtlTensorFileEntry) entry = g_list_model_get_item (G_LIST_MODEL (file), i);
      g_autoptr (MtlTensorFileEntry) found = mtl_tensor_file_lookup_entry (file, all[i]);

      /* Two arrays of one name cannot be loaded. */
      g_assert_true (entry == found || mtl_tensor_file_entry_get_error (found) != NULL);
      g_assert_true (g_utf8_validate (mtl_tensor_file_entry_get_type_name (entry), -1, NULL));
      g_assert_cmpstr (mtl_tensor_file_entry_get_name (entry), ==, all[i]);
    }
}

/* Each is loaded by its pattern, or left out. */
static void
list_matches (MtlTensorFile *file)
{
  g_autofree const char **loadable = mtl_tensor_file_match_loadable_names (file, NULL);
  g_autofree const char **refused = mtl_tensor_file_match_refused_names (file, NULL);

  g_assert_cmpuint (g_strv_length ((char **) loadable) + g_strv_length ((char **) refused), ==,
                    g_list_model_get_n_items (G_LIST_MODEL (file)));
}

/* NULL for one that is too large to look at. */
static MtlStridedView *
load (MtlTensorFile *file,
      guint          position,
      gsize          limit)
{
  g_autoptr (MtlTensorFileEntry) entry = g_list_model_get_item (G_LIST_MODEL (file), position);
  g_autoptr (GError) error = NULL;
  MtlStridedView *view;
  const gint64 *shape, *entry_shape;
  gsize n_dims, n_entry_dims;

  if (mtl_tensor_file_entry_get_n_bytes (entry) > limit)
    return NULL;

  view = mtl_tensor_file_entry_load_view (entry, NULL, &error);
  if (!check_any_result (view != NULL, &error))
    return NULL;

  shape = mtl_strided_view_get_shape (view, &n_dims);
  entry_shape = mtl_tensor_file_entry_get_shape (entry, &n_entry_dims);
  g_assert_cmpmem (shape, n_dims * sizeof *shape, entry_shape, n_entry_dims * sizeof *shape);
  g_assert_cmpuint (mtl_strided_view_get_volume (view)
                      * mtl_strided_layout_get_item_bits (mtl_strided_view_get_layout (view)),
                    ==, mtl_tensor_file_entry_get_n_bytes (entry) * 8);
  return view;
}

/* All bytes, which lie in memory that is there. */
static GBytes *
use (MtlStridedView *view)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) same = mtl_strided_view_to_contiguous (view, NULL, &error);
  g_autofree char *text = mtl_strided_view_to_string (view);
  GBytes *bytes;

  g_assert_no_error (error);
  g_assert_nonnull (text);
  bytes = mtl_strided_view_dup_bytes (same, NULL, &error);
  g_assert_no_error (error);
  return bytes;
}

/* A tensor that is read has the bytes that are mapped, or there is an error. */
static void
compare (MtlTensorFile *mapped,
         MtlTensorFile *read,
         gboolean       is_right)
{
  guint n = g_list_model_get_n_items (G_LIST_MODEL (mapped));
  gsize rest = MAX_BYTES;

  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (read)), ==, n);
  for (guint i = 0; i < MIN (n, MAX_TENSORS); i++)
    {
      g_autoptr (MtlStridedView) in_place = load (mapped, i, rest);
      g_autoptr (MtlStridedView) in_memory = load (read, i, rest);
      g_autoptr (GBytes) bytes = in_place != NULL ? use (in_place) : NULL;
      g_autoptr (GBytes) others = in_memory != NULL ? use (in_memory) : NULL;

      g_assert_true (in_place != NULL || in_memory == NULL);
      g_assert_true (!is_right || (in_place == NULL) == (in_memory == NULL));
      if (in_memory != NULL)
        g_assert_true (g_bytes_equal (bytes, others));
      if (in_place != NULL)
        rest -= g_bytes_get_size (bytes);
    }
}

int
LLVMFuzzerTestOneInput (const guint8 *data,
                        gsize         size)
{
  g_autoptr (MtlTensorFile) mapped = NULL;
  g_autoptr (MtlTensorFile) read = NULL;
  g_autoptr (GError) error = NULL;
  gboolean is_right;

  write_files (data, size);
  mapped = open_file (MTL_TENSOR_FILE_MODE_MAP);
  read = open_file (MTL_TENSOR_FILE_MODE_READ);
  g_assert_true ((mapped == NULL) == (read == NULL));
  if (mapped == NULL)
    return 0;

  list (mapped);
  list_matches (mapped);
  is_right = check_any_result (mtl_tensor_file_check (read, data[size - 1] % 32, NULL, NULL, NULL,
                                                      &error), &error);
  compare (mapped, read, is_right);
  return 0;
}

/* Some changes are to the bytes as they are. The others get further. */
gsize
LLVMFuzzerCustomMutator (guint8 *data,
                         gsize   size,
                         gsize   max_size,
                         guint   seed)
{
  g_autoptr (GByteArray) bytes = NULL;

  if (seed % 4 == 0)
    return LLVMFuzzerMutate (data, size, max_size);

  bytes = mutate_file (data, size, seed / 4);
  size = MIN (bytes->len, max_size);
  memcpy (data, bytes->data, size);
  return size;
}
