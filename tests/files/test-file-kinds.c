/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Files of other kinds are refused with their first bytes, and no file of tensors is taken for
 * one. */

#include "test-tensor-files.h"

#include <string.h>

typedef struct
{
  const char *bytes;
  gsize size;
  const char *told;
} Case;

#define CASE(bytes, told) { bytes, sizeof (bytes) - 1, told }

static const Case cases[] = {
  CASE ("", "empty"),
  CASE ("1 2 3\n4 5 6\n", "31 20 32 20 33 0a 34 20 35 20 36 0a & “1 2 3\\n4 5 6\\n”"),
  CASE ("\xff\xfeh\0a\0l\0l\0o\0", "ff fe 68 00 61 00 6c 00 6c 00 6f 00 & “\\xff\\xfeh"),
  CASE ("<!DOCTYPE html><p>404", "“<!DOCTYPE html><”"),
  CASE ("version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "“version https://”"),
  CASE ("\x80\x04\x95\0\0\0\0\0\0\0\0}\x94.", "80 04 95 00 00 00 00 00 00 00 00 7d 94 2e"),
  CASE ("\x89PNG\r\n\x1a\n\0\0", "89 50 4e 47 0d 0a 1a 0a 00 00 & “\\x89PNG"),
  CASE ("BM\x0a\0\0\0\0\0\0\0", "42 4d 0a 00 00 00 00 00 00 00"),
  CASE ("\xab\xcd\1\2\3\4\5\6\7\x08", "ab cd 01 02 03 04 05 06 07 08"),
  CASE ("\xab\xcd\1\2\3\4\5\6", "ab cd 01 02 03 04 05 06"),
};

/* Like write_file(), but does not wait for the disk: there are thousands. */
static GFile *
write_quickly (TestFolder    *folder,
               const char    *name,
               gconstpointer  bytes,
               gsize          size)
{
  g_autoptr (GError) error = NULL;
  GFile *file = get_file (folder, name);

  g_unlink (g_file_peek_path (file));
  g_file_set_contents_full (g_file_peek_path (file), bytes, size, G_FILE_SET_CONTENTS_NONE, 0600,
                            &error);
  g_assert_no_error (error);
  return file;
}

static void
on_opened (GObject      *source,
           GAsyncResult *result,
           gpointer      user_data)
{
  *(GAsyncResult **) user_data = g_object_ref (result);
}

static void
assert_told (GFile      *file,
             const char *told)
{
  g_autofree char *path = g_strdup_printf ("“%s”", g_file_peek_path (file));
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) async_error = NULL;

  g_assert_null (mtl_tensor_file_open (file, NULL, MTL_TENSOR_FILE_MODE_AUTO, NULL, &error));
  g_assert_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA);
  assert_says (error->message, path);
  assert_says (error->message, told);

  mtl_tensor_file_open_async (file, NULL, MTL_TENSOR_FILE_MODE_READ, G_PRIORITY_DEFAULT, NULL,
                              on_opened, &result);
  while (result == NULL)
    g_main_context_iteration (NULL, TRUE);
  g_assert_null (mtl_tensor_file_open_finish (result, &async_error));
  g_assert_cmpstr (async_error->message, ==, error->message);
}

static void
test_kinds (TestFolder    *folder,
            gconstpointer  data)
{
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GFile) file = write_quickly (folder, "file", cases[i].bytes, cases[i].size);

      assert_told (file, cases[i].told);
    }
}

/* However much of them there is. */
static void
test_cut_kinds (TestFolder    *folder,
                gconstpointer  data)
{
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    for (gsize size = 0; size < cases[i].size; size++)
      {
        g_autoptr (GFile) file = write_quickly (folder, "file", cases[i].bytes, size);
        g_autoptr (GError) error = NULL;

        g_assert_null (mtl_tensor_file_open (file, NULL, MTL_TENSOR_FILE_MODE_AUTO, NULL, &error));
        g_assert_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA);
        g_assert_false (says_value (error->message, "100000000"));
      }
}

/* The number before a header can be any of these bytes, and then the file is read. */
static void
test_headers_that_look_like_others (TestFolder    *folder,
                                    gconstpointer  data)
{
  static const char *const prefixes[] = {
    "BM\2\0\0\0\0\0", "\x08\x08\0\0\0\0\0\0", "\x80\x02\0\0\0\0\0\0", "abc\0\0\0\0\0",
    "PK\3\0\0\0\0\0", "\x1f\x8b\x08\0\0\0\0\0", "BZh\0\0\0\0\0", "\xff\xd8\xff\0\0\0\0\0",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (prefixes); i++)
    {
      guint64 size;
      g_autofree char *bytes = NULL;
      g_autoptr (GFile) file = NULL;
      g_autoptr (MtlTensorFile) tensors = NULL;
      g_autoptr (GError) error = NULL;

      memcpy (&size, prefixes[i], sizeof size);
      size = GUINT64_FROM_LE (size);
      bytes = g_malloc (8 + size);
      memset (bytes, ' ', 8 + size);
      memcpy (bytes, prefixes[i], 8);
      memcpy (bytes + 8, "{}", 2);
      file = write_quickly (folder, "file", bytes, 8 + size);
      tensors = mtl_tensor_file_open (file, NULL, MTL_TENSOR_FILE_MODE_AUTO, NULL, &error);
      g_assert_no_error (error);

      /* Damaged, it is still safetensors. */
      bytes[9] = '!';
      g_object_unref (file);
      file = write_quickly (folder, "file", bytes, 8 + size);
      g_assert_null (mtl_tensor_file_open (file, NULL, MTL_TENSOR_FILE_MODE_AUTO, NULL, &error));
      g_assert_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA);
      assert_says (error->message, "“!” & 1");
    }
}

/* Unknown files get no name, and nothing ends the program. */
static void
test_random_bytes (TestFolder    *folder,
                   gconstpointer  data)
{
  for (guint i = 0; i < 2000; i++)
    {
      guint8 bytes[64];
      gsize size = g_test_rand_int_range (1, sizeof bytes);
      g_autoptr (GFile) file = NULL;
      g_autoptr (GError) error = NULL;

      for (gsize j = 0; j < size; j++)
        bytes[j] = g_test_rand_int ();
      file = write_quickly (folder, "file", bytes, size);
      g_assert_null (mtl_tensor_file_open (file, NULL, MTL_TENSOR_FILE_MODE_AUTO, NULL, &error));
      g_assert_true (error->domain == MTL_ERROR);
      g_assert_true (g_utf8_validate (error->message, -1, NULL));
      if (size >= 8 && bytes[7] != 0 && (size == 8 || bytes[8] != '{'))
        g_assert_false (says_value (error->message, "100000000"));
    }
}

static void
test_folder (TestFolder    *folder,
             gconstpointer  data)
{
  g_autoptr (GFile) file = g_file_new_for_path (folder->path);
  g_autoptr (GError) error = NULL;

  g_assert_null (mtl_tensor_file_open (file, NULL, MTL_TENSOR_FILE_MODE_AUTO, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_IS_DIRECTORY);
  assert_says (error->message, ".safetensors & .npy & .npz");
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  add_folder_test ("/FileKinds/kinds", test_kinds);
  add_folder_test ("/FileKinds/cut", test_cut_kinds);
  add_folder_test ("/FileKinds/headers", test_headers_that_look_like_others);
  add_folder_test ("/FileKinds/random-bytes", test_random_bytes);
  add_folder_test ("/FileKinds/folder", test_folder);

  return g_test_run ();
}
