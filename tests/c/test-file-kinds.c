/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Files of other kinds are told as such, and no file of tensors is taken for one. */

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
  CASE ("", "an empty file"),
  CASE ("x", "text"),
  CASE ("1 2 3\n4 5 6\n", "a table of numbers"),
  CASE ("\xd0\xbf\xd1\x80\xd0\xb8\xd0\xb2\xd0\xb5\xd1\x82 \xd0\xbc", "text"),
  CASE ("\xff\xfeh\0a\0l\0l\0o\0", "text"),
  CASE ("\xfe\xff\0h\0a\0l\0l\0o", "text"),
  CASE ("<!DOCTYPE html><p>404", "a web page"),
  CASE ("\xef\xbb\xbf\n  <HTML lang=en>", "a web page"),
  CASE ("<?xml version=\"1.0\"?><Error/>", "an XML document"),
  CASE ("{\"error\": \"not found\"}", "not the index of a model"),
  CASE (" [1, 2, 3, 4]", "not the index of a model"),
  CASE ("version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"),
  CASE ("\x80\x02\x8a\nl\xfc\x9c" "F\xf9 j\xa8P\x19.\x80\x02M", "a PyTorch checkpoint"),
  CASE ("PK\3\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x10\0\0\0archive/data.pkl...",
        "a PyTorch checkpoint"),
  CASE ("\x80\x04\x95\0\0\0\0\0\0\0\0}\x94.", "a Python pickle"),
  CASE ("\x80\x02}q\x01.", "a Python pickle"),
  CASE ("\x80\x05\x95\0\0\0\0\0\0\0\0}\x94.", "a Python pickle"),
  CASE ("GGUF\3\0\0\0\0\0\0\0", "a GGUF file"),
  CASE ("\x89HDF\r\n\x1a\n\0\0", "an HDF5 file"),
  CASE ("MATLAB 5.0 MAT-file, Platform", "a MATLAB file"),
  CASE ("MATLAB 7.3 MAT-file, Platform", "which is HDF5"),
  CASE ("\x1c\0\0\0TFL3\0\0", "a TensorFlow Lite model"),
  CASE ("\x08\x08\x12\x07pytorch\x1a\x05" "2.1.0:\x04\n\2ab", "an ONNX model"),
  CASE ("\x08\x0a\x12\0\x28\1:\x04\n\2ab", "an ONNX model"),
  CASE ("\x08\x01\x12\x80\x08\n\0\0\0\0\0", "a TensorFlow model"),
  CASE ("PAR1\x15\0\0\0\0\0", "a Parquet table"),
  CASE ("ARROW1\0\0\0\0\0", "an Arrow (Feather) table"),
  CASE ("\x89PNG\r\n\x1a\n\0\0", "a PNG picture"),
  CASE ("\xff\xd8\xff\xe0\0\x10JFIF", "a JPEG picture"),
  CASE ("GIF89a\0\0\0\0", "a GIF picture"),
  CASE ("RIFF\0\0\0\0WEBPVP8 ", "a WebP picture"),
  CASE ("II*\0\x08\0\0\0\0\0", "a TIFF picture"),
  CASE ("BM\x0a\0\0\0\0\0\0\0", "a BMP picture"),
  CASE ("\x1f\x8b\x08\0\0\0\0\0\0\0", "compressed with gzip"),
  CASE ("BZh91AY&SY", "compressed with bzip2"),
  CASE ("\xfd" "7zXZ\0\0\4\xe6\xd6", "compressed with xz"),
  CASE ("\x28\xb5\x2f\xfd\4\0\1\0\0\0", "compressed with zstd"),
  CASE ("SQLite format 3\0\x10\0", "an SQLite database"),
  CASE ("%PDF-1.7\n", "a PDF document"),
  CASE ("\x7f" "ELF\2\1\1\0\0\0", "a program or a library"),
  CASE ("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", "begins with zeros"),
  CASE ("\xab\xcd\1\2\3\4\5\6\7\x08", "it begins with ab cd 01 02 03 04 05 06"),
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
  g_autofree char *beginning = g_strdup_printf ("“%s”: This is ", g_file_peek_path (file));
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) async_error = NULL;

  g_assert_null (mtl_tensor_file_open (file, NULL, MTL_TENSOR_FILE_MODE_AUTO, NULL, &error));
  g_assert_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA);
  if (!g_str_has_prefix (error->message, beginning) || strstr (error->message, told) == NULL)
    g_error ("“%s” does not tell “%s”", error->message, told);

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
        g_assert_null (strstr (error->message, "larger than the format's limit"));
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
      g_assert_null (strstr (error->message, "This is"));
      g_assert_nonnull (strstr (error->message, "of the header"));
    }
}

/* What is not known is not named, and nothing ends the program. */
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
        g_assert_null (strstr (error->message, "larger than the format's limit"));
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
  g_assert_nonnull (strstr (error->message, "is a folder without .safetensors"));
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
