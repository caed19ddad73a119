/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Files of tensors: what they say, and views of them. */

#include "test-tensor-files.h"

#include "dlpack-producer.h"

/* They are what the getters say. */
static void
assert_properties (MtlTensorFile *tensors)
{
  g_autoptr (GFile) file = NULL;
  g_autoptr (MtlDevice) device = NULL;
  MtlTensorFileMode mode;
  MtlTensorFileFormat format;

  g_object_get (tensors, "file", &file, "device", &device, "mode", &mode, "format", &format, NULL);
  g_assert_true (file == mtl_tensor_file_get_file (tensors));
  g_assert_true (device == mtl_tensor_file_get_device (tensors));
  g_assert_cmpint (mode, ==, mtl_tensor_file_get_mode (tensors));
  g_assert_cmpint (format, ==, mtl_tensor_file_get_format (tensors));
}

static void
test_description (TestFolder    *folder,
                  gconstpointer  data)
{
  static const char *const names[] = { "a", "b", "none", NULL };
  static const char *const keys[] = { "format", "who", NULL };
  g_autoptr (GFile) file = write_three (folder, "any.name");
  g_autoptr (MtlTensorFile) tensors = open_file (file, MTL_TENSOR_FILE_MODE_AUTO);
  g_autofree const char **all = mtl_tensor_file_list_names (tensors);
  g_autofree const char **all_keys = mtl_tensor_file_list_metadata_keys (tensors);
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlTensorFileEntry) entry = mtl_tensor_file_lookup_entry (tensors, "b");
  const gint64 *shape;
  gsize n_dims;

  g_assert_no_error (error);
  g_assert_cmpstrv ((char **) all, (char **) names);
  g_assert_cmpstrv ((char **) all_keys, (char **) keys);
  g_assert_cmpstr (mtl_tensor_file_lookup_metadata (tensors, "who"), ==, "me");
  g_assert_null (mtl_tensor_file_lookup_metadata (tensors, "what"));
  g_assert_true (mtl_tensor_file_get_file (tensors) == file);
  g_assert_cmpint (mtl_tensor_file_get_mode (tensors), ==, MTL_TENSOR_FILE_MODE_MAP);
  g_assert_cmpint (mtl_tensor_file_get_format (tensors), ==, MTL_TENSOR_FILE_FORMAT_SAFETENSORS);
  g_assert_true (mtl_tensor_file_get_device (tensors) == mtl_device_get_host ());

  assert_properties (tensors);

  shape = mtl_tensor_file_entry_get_shape (entry, &n_dims);
  assert_dims (shape, n_dims, 2, 2);
  g_assert_cmpstr (mtl_tensor_file_entry_get_name (entry), ==, "b");
  g_assert_cmpint (mtl_tensor_file_entry_get_dtype (entry), ==, MTL_DTYPE_INT16);
  g_assert_cmpuint (mtl_tensor_file_entry_get_byte_offset (entry), ==,
                    8 + strlen (three_header) + 3);
  g_assert_cmpuint (mtl_tensor_file_entry_get_n_bytes (entry), ==, 8);
  g_assert_true (mtl_tensor_file_entry_get_file (entry) == file);
}

static void
test_list (TestFolder    *folder,
           gconstpointer  data)
{
  g_autoptr (GFile) file = write_three (folder, "file");
  MtlTensorFile *tensors = open_file (file, MTL_TENSOR_FILE_MODE_MAP);
  GListModel *list = G_LIST_MODEL (tensors);
  g_autoptr (MtlTensorFileEntry) entry = g_list_model_get_item (list, 1);
  g_autoptr (MtlTensorFileEntry) same = NULL;
  MtlTensorFileEntry *other;
  g_autoptr (MtlStridedView) view = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *name = NULL;
  guint64 n_bytes, byte_offset;
  MtlDType dtype;

  g_assert_true (g_list_model_get_item_type (list) == MTL_TYPE_TENSOR_FILE_ENTRY);
  g_assert_cmpuint (g_list_model_get_n_items (list), ==, 3);
  g_assert_null (g_list_model_get_item (list, 3));

  g_object_get (entry, "name", &name, "dtype", &dtype, "n-bytes", &n_bytes,
                "byte-offset", &byte_offset, NULL);
  g_assert_cmpstr (name, ==, "b");
  g_assert_cmpint (dtype, ==, MTL_DTYPE_INT16);
  g_assert_cmpuint (n_bytes, ==, 8);
  g_assert_cmpuint (byte_offset, ==, mtl_tensor_file_entry_get_byte_offset (entry));

  /* A selection in a list knows it again. */
  same = g_list_model_get_item (list, 1);
  g_assert_true (same == entry);
  g_clear_object (&same);
  same = mtl_tensor_file_lookup_entry (tensors, "b");
  g_assert_true (same == entry);
  other = g_list_model_get_item (list, 2);
  g_assert_true (other != entry);
  g_assert_finalize_object (other);
  other = g_list_model_get_item (list, 2);
  g_assert_cmpstr (mtl_tensor_file_entry_get_name (other), ==, "none");
  g_assert_finalize_object (other);

  /* The entry keeps the file. */
  g_object_unref (tensors);
  view = mtl_tensor_file_entry_load_view (entry, NULL, &error);
  g_assert_no_error (error);
  assert_elements (view, 4, 5, 6, -1);
}

static void
test_mapped (TestFolder    *folder,
             gconstpointer  data)
{
  g_autoptr (GFile) file = write_three (folder, "file");
  guint n_open = count_descriptors ();
  MtlTensorFile *tensors = open_file (file, MTL_TENSOR_FILE_MODE_MAP);
  MtlStridedView *a, *b;
  g_autoptr (MtlStridedView) again = NULL;
  g_autoptr (MtlStridedView) none = NULL;

  g_assert_cmpuint (count_descriptors (), ==, n_open + 1);
  a = get_view (tensors, "a");
  g_assert_cmpuint (count_descriptors (), ==, MAPS_NUMBERS ? n_open : n_open + 1);
  b = get_view (tensors, "b");
  again = get_view (tensors, "a");
  none = get_view (tensors, "none");
  assert_elements (none);
  g_assert_cmpint (mtl_strided_view_is_read_only (none), ==, MAPS_NUMBERS);
  assert_view_shape (b, 2, 2);
  g_assert_cmpint (mtl_strided_view_get_dtype (b), ==, MTL_DTYPE_INT16);
  g_assert_true (mtl_strided_view_is_read_only (a));
  g_assert_true (mtl_strided_view_equal (a, again));
  g_assert_cmpint (mtl_strided_view_is_read_only (b), ==, MAPS_NUMBERS);
  if (MAPS_NUMBERS)
    g_assert_cmpuint (mtl_strided_view_get_address (b), ==, mtl_strided_view_get_address (a) + 3);

  g_assert_finalize_object (tensors);
  g_assert_finalize_object (a);
  assert_elements (b, 4, 5, 6, -1);
  g_assert_finalize_object (b);
}

static void
test_read (TestFolder    *folder,
           gconstpointer  data)
{
  g_autoptr (GFile) file = write_three (folder, "file");
  g_autoptr (GError) error = NULL;
  MtlTensorFile *tensors = open_file (file, MTL_TENSOR_FILE_MODE_READ);
  MtlStridedView *view = get_view (tensors, "b");

  g_assert_cmpint (mtl_tensor_file_get_mode (tensors), ==, MTL_TENSOR_FILE_MODE_READ);
  g_assert_true (mtl_strided_view_fill_double (view, 7, NULL, &error));
  g_assert_no_error (error);
  assert_tensor (tensors, "b", 4, 5, 6, -1);
  assert_tensor (tensors, "none");
  g_assert_finalize_object (tensors);
  assert_elements (view, 7, 7, 7, 7);
  g_assert_finalize_object (view);
}

/* Numbers of more than one byte in either order, and axes in either order. */
static void
test_npy (TestFolder    *folder,
          gconstpointer  data)
{
  static const struct
  {
    const char *dict; /* 70 bytes */
    guint8 bytes[16];
    double expected[2];
  } cases[] = {
    { "{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }            \n", { 1, 2, 3, 4 },
      { 513, 1027 } },
    { "{'descr': '>i2', 'fortran_order': False, 'shape': (2,), }            \n", { 1, 2, 3, 4 },
      { 258, 772 } },
    { "{'descr': '>u4', 'fortran_order': False, 'shape': (2,), }            \n",
      { 0, 0, 1, 2, 1, 0, 0, 0 }, { 258, 1 << 24 } },
    { "{'descr': '>f8', 'fortran_order': True, 'shape': (1, 2), }           \n",
      { 0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0 }, { 1, -2 } },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    for (MtlTensorFileMode mode = MTL_TENSOR_FILE_MODE_MAP; mode <= MTL_TENSOR_FILE_MODE_READ;
         mode++)
      {
        guint8 content[10 + 70 + 16] = "\x93NUMPY\1\0\x46";
        g_autoptr (GFile) file = NULL;
        g_autoptr (MtlTensorFile) tensors = NULL;

        g_assert_cmpuint (strlen (cases[i].dict), ==, 70);
        memcpy (content + 10, cases[i].dict, 70);
        memcpy (content + 80, cases[i].bytes, 16);
        file = write_file (folder, "file", content, sizeof content);
        tensors = open_file (file, mode);
        g_assert_cmpint (mtl_tensor_file_get_format (tensors), ==, MTL_TENSOR_FILE_FORMAT_NPY);
        assert_tensor (tensors, "", cases[i].expected[0], cases[i].expected[1]);
      }
}

static const char index_text[] =
  " {\"weight_map\": {\"x\": \"1\", \"y\": \"2\", \"z\": \"1\"}}";

static GFile *
write_sharded (TestFolder *folder)
{
  g_object_unref (
    write_safetensors (folder, "1",
                       "{\"__metadata__\":{\"format\":\"pt\"},"
                       "\"z\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
                       "\"x\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[1,3]}}",
                       "\1\2\3", 3));
  g_object_unref (
    write_safetensors (folder, "2", "{\"y\":{\"dtype\":\"I8\",\"shape\":[1],"
                       "\"data_offsets\":[0,1]}}", "\xff", 1));

  return write_file (folder, "index", index_text, strlen (index_text));
}

static void
test_sharded (TestFolder    *folder,
              gconstpointer  data)
{
  for (MtlTensorFileMode mode = MTL_TENSOR_FILE_MODE_MAP; mode <= MTL_TENSOR_FILE_MODE_READ; mode++)
    {
      g_autoptr (GFile) file = write_sharded (folder);
      guint n_open = count_descriptors ();
      g_autoptr (MtlTensorFile) tensors = open_file (file, mode);
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlTensorFileEntry) entry = mtl_tensor_file_lookup_entry (tensors, "y");
      g_autofree char *name = g_file_get_basename (mtl_tensor_file_entry_get_file (entry));

      g_assert_cmpstr (name, ==, "2");
      g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (tensors)), ==, 3);
      g_assert_cmpstr (mtl_tensor_file_lookup_metadata (tensors, "format"), ==, "pt");
      assert_tensor (tensors, "x", 2, 3);
      assert_tensor (tensors, "y", -1);
      assert_tensor (tensors, "z", 1);
      g_assert_cmpuint (count_descriptors (), ==, n_open);
    }
}

static gpointer
open_any (GFile   *file,
          GError **error)
{
  return mtl_tensor_file_open (file, NULL, MTL_TENSOR_FILE_MODE_AUTO, NULL, error);
}

static gpointer
open_cancelled (GFile   *file,
                GError **error)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();

  g_cancellable_cancel (cancellable);
  return mtl_tensor_file_open (file, NULL, MTL_TENSOR_FILE_MODE_AUTO, cancellable, error);
}

#define assert_open_refuses(file, code, value)                                                     \
  assert_fails (mtl_tensor_file_open ((file), NULL, MTL_TENSOR_FILE_MODE_AUTO, NULL, &error),      \
                code, value)

static void
write_archive_of_bytes (TestFolder *folder,
                        const char *name)
{
  const TestMember member = {
    "y.npy", "{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }", "abc", 3, FALSE
  };

  g_object_unref (write_npz (folder, name, &member, 1));
}

/* All but that one can be loaded. */
static void
assert_second_refused (GFile      *file,
                       GQuark      domain,
                       int         code,
                       const char *values)
{
  g_autoptr (MtlTensorFile) tensors = open_file (file, MTL_TENSOR_FILE_MODE_MAP);
  g_autoptr (MtlTensorFileEntry) entry = mtl_tensor_file_lookup_entry (tensors, "y");
  g_autofree char *name = g_file_get_basename (mtl_tensor_file_entry_get_file (entry));
  gsize n_dims;

  g_assert_cmpstr (name, ==, "2");
  g_assert_cmpstr (mtl_tensor_file_entry_get_type_name (entry), ==, "unknown");
  g_assert_null (mtl_tensor_file_entry_get_shape (entry, &n_dims));
  g_assert_cmpuint (n_dims, ==, 0);
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (tensors)), ==, 3);
  assert_refused (tensors, "y", domain, code, values);
  assert_tensor (tensors, "x", 2, 3);
  assert_tensor (tensors, "z", 1);
  mtl_tensor_file_close (tensors);
}

static void
test_sharded_wrong (TestFolder    *folder,
                    gconstpointer  data)
{
  g_autoptr (GFile) file = write_sharded (folder);
  g_autoptr (GFile) second = NULL;
  g_autoptr (GFile) itself = NULL;
  g_autoptr (MtlTensorFile) tensors = open_file (file, MTL_TENSOR_FILE_MODE_MAP);

  /* Another file, before a view was made. */
  second = write_three (folder, "2");
  assert_fails (mtl_tensor_file_load_view (tensors, "y", NULL, &error), MTL_ERROR_INVALID_DATA,
                "2”");
  assert_second_refused (file, MTL_ERROR, MTL_ERROR_INVALID_DATA, "");

  itself = write_file (folder, "2", index_text, strlen (index_text));
  assert_second_refused (file, MTL_ERROR, MTL_ERROR_INVALID_DATA, "2”");
  write_archive_of_bytes (folder, "2");
  assert_second_refused (file, MTL_ERROR, MTL_ERROR_INVALID_DATA, "2” & NumPy");
  g_object_unref (write_file (folder, "2", "\2\0\0\0\0\0\0\0{}1", 11));
  assert_second_refused (file, MTL_ERROR, MTL_ERROR_INVALID_DATA, "2” & 0");
  g_assert_cmpint (g_unlink (g_file_peek_path (itself)), ==, 0);
  assert_second_refused (file, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "");
}

/* The first reason, then. */
static void
test_sharded_missing (TestFolder    *folder,
                      gconstpointer  data)
{
  g_autoptr (GFile) file = write_sharded (folder);
  g_autoptr (GFile) first = get_file (folder, "1");
  g_autoptr (GFile) second = get_file (folder, "2");

  g_assert_cmpint (g_unlink (g_file_peek_path (first)), ==, 0);
  {
    g_autoptr (MtlTensorFile) tensors = open_file (file, MTL_TENSOR_FILE_MODE_MAP);

    /* Only those that are left are read. */
    g_assert_null (mtl_tensor_file_lookup_metadata (tensors, "format"));
    assert_tensor (tensors, "y", -1);
    assert_refused (tensors, "x", G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "1”");
    assert_refused (tensors, "z", G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "1”");
  }

  assert_open_fails (open_cancelled, file, G_IO_ERROR_CANCELLED, "");
  write_archive_of_bytes (folder, "2");
  assert_open_fails (open_any, file, G_IO_ERROR_NOT_FOUND, "1”");
  g_assert_cmpint (g_unlink (g_file_peek_path (second)), ==, 0);
  assert_open_fails (open_any, file, G_IO_ERROR_NOT_FOUND, "1”");
}

static void
test_kinds (TestFolder    *folder,
            gconstpointer  data)
{
  assert_only_files_open (folder, open_any);
}

/* Each message begins with the file's name. */
static void
test_content (TestFolder    *folder,
              gconstpointer  data)
{
  static const struct
  {
    const char *content;
    gsize size;
    MtlError code;
    const char *values;
  } cases[] = {
    { "", 0, MTL_ERROR_INVALID_DATA, "file” & safetensors & .npy & .npz" },
    { "abcdefghijklmnopqrst", 20, MTL_ERROR_INVALID_DATA,
      "61 62 63 64 65 66 67 68 69 6a 6b 6c 6d 6e 6f 70 & “abcdefghijklmnop”" },
    { "{}", 2, MTL_ERROR_INVALID_DATA, "file”" },
    { "{\"weight_map\": 3}", 17, MTL_ERROR_INVALID_DATA, "file”" },
    { "\2\0\0\0\0\0\0\0{}1", 11, MTL_ERROR_INVALID_DATA, "file” & 0" },
    { "\x93NUMPY\1\0\1\0", 10, MTL_ERROR_INVALID_DATA, "file” & .npy & 1" },
    { "\x93NUMPY\1\0\1\0x", 11, MTL_ERROR_INVALID_DATA, "file”" },
    { "PK\3\4", 4, MTL_ERROR_INVALID_DATA, "file”" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GFile) file = write_file (folder, "file", cases[i].content, cases[i].size);

      assert_open_refuses (file, cases[i].code, cases[i].values);
    }
}

static void
test_missing_tensor (TestFolder    *folder,
                     gconstpointer  data)
{
  g_autoptr (GFile) file = write_three (folder, "file");
  g_autoptr (MtlTensorFile) tensors = open_file (file, MTL_TENSOR_FILE_MODE_MAP);

  assert_fails (mtl_tensor_file_load_view (tensors, "c\n", NULL, &error), MTL_ERROR_NOT_FOUND,
                "“c\\n” & 3");
  g_assert_null (mtl_tensor_file_lookup_entry (tensors, ""));
  g_assert_false (mtl_tensor_file_has_tensor (tensors, ""));
  g_assert_true (mtl_tensor_file_has_tensor (tensors, "a"));
}

static void
test_changed (TestFolder    *folder,
              gconstpointer  data)
{
  for (MtlTensorFileMode mode = MTL_TENSOR_FILE_MODE_MAP; mode <= MTL_TENSOR_FILE_MODE_READ; mode++)
    {
      g_autoptr (GFile) file = write_three (folder, "file");
      g_autoptr (MtlTensorFile) tensors = open_file (file, mode);

      g_assert_cmpint (truncate (g_file_peek_path (file), 100), ==, 0);
      assert_fails (mtl_tensor_file_load_view (tensors, "a", NULL, &error), MTL_ERROR_INVALID_DATA,
                    "file”");
    }
}

/* The one that was opened is still there. */
static void
test_replaced (TestFolder    *folder,
               gconstpointer  data)
{
  for (MtlTensorFileMode mode = MTL_TENSOR_FILE_MODE_MAP; mode <= MTL_TENSOR_FILE_MODE_READ; mode++)
    {
      g_autoptr (GFile) file = write_three (folder, "file");
      g_autoptr (MtlTensorFile) tensors = open_file (file, mode);
      g_autoptr (GFile) other = write_file (folder, "other", "abc", 3);

      g_assert_cmpint (g_rename (g_file_peek_path (other), g_file_peek_path (file)), ==, 0);
      assert_tensor (tensors, "a", 1, 2, 3);
    }
}

static void
test_cancelled (TestFolder    *folder,
                gconstpointer  data)
{
  g_autoptr (GFile) file = write_three (folder, "file");
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;

  g_cancellable_cancel (cancellable);
  g_assert_null (mtl_tensor_file_open (file, NULL, MTL_TENSOR_FILE_MODE_AUTO, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);
  g_assert_null (mtl_tensor_file_open (file, NULL, MTL_TENSOR_FILE_MODE_AUTO, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

/* Both modes can be cancelled. */
static void
test_views_cancelled (TestFolder    *folder,
                      gconstpointer  data)
{
  g_autoptr (GFile) file = write_three (folder, "file");
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();

  g_cancellable_cancel (cancellable);
  for (MtlTensorFileMode mode = MTL_TENSOR_FILE_MODE_MAP; mode <= MTL_TENSOR_FILE_MODE_READ; mode++)
    {
      g_autoptr (MtlTensorFile) tensors = open_file (file, mode);
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlTensorFileEntry) entry = mtl_tensor_file_lookup_entry (tensors, "a");
      g_autoptr (MtlStridedView) view = mtl_tensor_file_load_view (tensors, "a", NULL, &error);

      g_assert_no_error (error);
      g_assert_null (mtl_tensor_file_load_view (tensors, "a", cancellable, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_clear_error (&error);
      g_assert_null (mtl_tensor_file_entry_load_view (entry, cancellable, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_clear_error (&error);
    }
}

static void
test_open_short (TestFolder    *folder,
                 gconstpointer  data)
{
  g_autoptr (GFile) file = write_three (folder, "file");
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlTensorFile) tensors = mtl_tensor_file_open (file, NULL, MTL_TENSOR_FILE_MODE_AUTO,
                                                            NULL, &error);

  g_assert_no_error (error);
  g_assert_true (mtl_tensor_file_get_device (tensors) == mtl_device_get_host ());
  g_assert_cmpint (mtl_tensor_file_get_mode (tensors), ==, MTL_TENSOR_FILE_MODE_MAP);
  assert_tensor (tensors, "a", 1, 2, 3);
}

static MtlTensorFile *
open_in_background (GFile         *file,
                    GCancellable  *cancellable,
                    GError       **error)
{
  g_autoptr (GAsyncResult) result = NULL;

  mtl_tensor_file_open_async (file, mtl_device_get_host (), MTL_TENSOR_FILE_MODE_READ,
                              G_PRIORITY_DEFAULT, cancellable, keep_result, &result);
  return mtl_tensor_file_open_finish (wait_for_kept (&result), error);
}

static void
test_open_async (TestFolder    *folder,
                 gconstpointer  data)
{
  g_autoptr (GFile) file = write_three (folder, "file");
  g_autoptr (GFile) missing = get_file (folder, "missing");
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlTensorFile) tensors = open_in_background (file, cancellable, &error);

  g_assert_no_error (error);
  g_assert_cmpint (mtl_tensor_file_get_mode (tensors), ==, MTL_TENSOR_FILE_MODE_READ);
  assert_tensor (tensors, "a", 1, 2, 3);
  g_assert_null (open_in_background (missing, NULL, &error));
  assert_system_failed (error, G_IO_ERROR_NOT_FOUND, "missing”");
  g_cancellable_cancel (cancellable);
  g_assert_null (open_in_background (file, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

/* The task has it, and with it its thread and its callback. */
static void
test_priority (TestFolder    *folder,
               gconstpointer  data)
{
  static const int priorities[] = { G_PRIORITY_HIGH, G_PRIORITY_DEFAULT, G_PRIORITY_LOW };
  g_autoptr (GFile) file = write_three (folder, "file");

  for (gsize i = 0; i < G_N_ELEMENTS (priorities); i++)
    {
      g_autoptr (GAsyncResult) result = NULL;
      g_autoptr (MtlTensorFile) tensors = NULL;

      mtl_tensor_file_open_async (file, NULL, MTL_TENSOR_FILE_MODE_AUTO, priorities[i], NULL,
                                  keep_result, &result);
      while (result == NULL)
        g_main_context_iteration (NULL, TRUE);
      g_assert_cmpint (g_task_get_priority (G_TASK (result)), ==, priorities[i]);
      tensors = mtl_tensor_file_open_finish (result, NULL);
      g_assert_nonnull (tensors);
    }
}

/* Bindings can make them this way: they are of no file. */
static void
test_bare (void)
{
  g_autoptr (MtlTensorFile) tensors = g_object_new (MTL_TYPE_TENSOR_FILE, NULL);
  g_autoptr (MtlTensorFileEntry) entry = g_object_new (MTL_TYPE_TENSOR_FILE_ENTRY, NULL);
  g_autofree const char **names = mtl_tensor_file_list_names (tensors);
  g_autofree const char **keys = mtl_tensor_file_list_metadata_keys (tensors);
  g_autoptr (GError) local_error = NULL;

  g_assert_null (names[0]);
  g_assert_null (keys[0]);
  g_assert_null (mtl_tensor_file_get_file (tensors));
  g_assert_null (mtl_tensor_file_lookup_metadata (tensors, "format"));
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (tensors)), ==, 0);
  assert_fails (mtl_tensor_file_load_view (tensors, "a", NULL, &error), MTL_ERROR_NOT_FOUND,
                "“a”");
  assert_properties (tensors);
  g_assert_cmpstr (mtl_tensor_file_entry_get_name (entry), ==, "");
  g_assert_null (mtl_tensor_file_entry_get_file (entry));
  g_assert_null (mtl_tensor_file_entry_load_view (entry, NULL, &local_error));
  assert_system_failed (local_error, G_IO_ERROR_CLOSED, "");
  g_assert_false (mtl_tensor_file_entry_check (entry, 0, NULL, &local_error));
  assert_system_failed (local_error, G_IO_ERROR_CLOSED, "");
}

/* One that this library allocates nothing on. */
static void
test_foreign_device (TestFolder    *folder,
                     gconstpointer  data)
{
  static const MtlError codes[] = {
    [MTL_TENSOR_FILE_MODE_MAP] = MTL_ERROR_NEEDS_COPY,
    [MTL_TENSOR_FILE_MODE_READ] = MTL_ERROR_NOT_SUPPORTED,
  };
  Producer producer;
  g_autoptr (GFile) file = write_three (folder, "file");
  g_autoptr (MtlStridedView) foreign = NULL;
  g_autoptr (GError) local_error = NULL;
  MtlDevice *device;

  producer_init (&producer);
  producer.versioned.dl_tensor.device = (DLDevice) { 7, 1 };
  foreign = mtl_strided_view_new_take_dlpack (&producer.versioned, &local_error);
  g_assert_no_error (local_error);
  device = mtl_strided_view_get_device (foreign);

  for (MODES (mode))
    {
      g_autoptr (MtlTensorFile) tensors = open_on_device (file, mode, device);
      gsize n_views;

      assert_fails (mtl_tensor_file_load_view (tensors, "a", NULL, &error), codes[mode],
                    "“a”: ");
      assert_fails (mtl_tensor_file_load_views (tensors, NULL, NULL, NULL, NULL, &n_views, &error),
                    codes[mode], "“a”: ");
    }
}

/* Earlier views live on, and so do the descriptions of the tensors. */
static void
test_close (TestFolder    *folder,
            gconstpointer  data)
{
  for (MtlTensorFileMode mode = MTL_TENSOR_FILE_MODE_MAP; mode <= MTL_TENSOR_FILE_MODE_READ; mode++)
    {
      g_autoptr (GFile) file = write_three (folder, "file");
      guint n_open = count_descriptors ();
      g_autoptr (MtlTensorFile) tensors = open_file (file, mode);
      g_autoptr (MtlTensorFile) untouched = open_file (file, mode);
      g_autoptr (MtlStridedView) view = get_view (tensors, "b");
      g_autoptr (MtlTensorFileEntry) entry = g_list_model_get_item (G_LIST_MODEL (tensors), 1);

      mtl_tensor_file_close (tensors);
      mtl_tensor_file_close (tensors);
      mtl_tensor_file_close (untouched);
      g_assert_cmpuint (count_descriptors (), ==, n_open);
      assert_elements (view, 4, 5, 6, -1);
      g_assert_cmpstr (mtl_tensor_file_entry_get_name (entry), ==, "b");
      assert_closed (mtl_tensor_file_entry_load_view (entry, NULL, &error));
      assert_closed (mtl_tensor_file_load_view (tensors, "a", NULL, &error));
      assert_closed (mtl_tensor_file_load_view (tensors, "none", NULL, &error));
      assert_closed (mtl_tensor_file_load_view (untouched, "a", NULL, &error));
    }
}

static void
assert_names_match (MtlTensorFile *tensors,
                    const char    *pattern,
                    const char    *expected)
{
  g_autofree const char **names = mtl_tensor_file_match_loadable_names (tensors, pattern);
  g_autofree char *all = g_strjoinv (" ", (char **) names);

  g_assert_cmpstr (all, ==, expected);
}

static void
test_match_names (TestFolder    *folder,
                  gconstpointer  data)
{
  g_autoptr (GFile) file = write_three (folder, "file");
  g_autoptr (MtlTensorFile) tensors = open_file (file, MTL_TENSOR_FILE_MODE_MAP);

  assert_names_match (tensors, NULL, "a b none");
  assert_names_match (tensors, "*", "a b none");
  assert_names_match (tensors, "?", "a b");
  assert_names_match (tensors, "*n*", "none");
  assert_names_match (tensors, "b", "b");
  assert_names_match (tensors, "c", "");
}

/* Also by as many bytes as there were. */
static void
test_written (TestFolder    *folder,
              gconstpointer  data)
{
  const struct timespec times[2] = { { 1, 2 }, { 3, 4 } };

  for (MtlTensorFileMode mode = MTL_TENSOR_FILE_MODE_MAP; mode <= MTL_TENSOR_FILE_MODE_READ; mode++)
    {
      g_autoptr (GFile) file = write_three (folder, "file");
      const char *path = g_file_peek_path (file);
      g_autoptr (MtlTensorFile) written = open_file (file, mode);
      g_autoptr (MtlTensorFile) grown = NULL;
      int fd = g_open (path, O_WRONLY, 0);

      g_assert_cmpint (pwrite (fd, "x", 1, 8 + strlen (three_header)), ==, 1);
      g_assert_cmpint (utimensat (AT_FDCWD, path, times, 0), ==, 0);
      assert_fails (mtl_tensor_file_load_view (written, "a", NULL, &error), MTL_ERROR_INVALID_DATA,
                    "file”");

      grown = open_file (file, mode);
      g_assert_cmpint (ftruncate (fd, 1000), ==, 0);
      assert_fails (mtl_tensor_file_load_view (grown, "a", NULL, &error), MTL_ERROR_INVALID_DATA,
                    "1000");
      close (fd);
    }
}

/* Tests things that have the name of one of several files. */
static void
test_sharded_kinds (TestFolder    *folder,
                    gconstpointer  data)
{
  g_autoptr (GFile) file = write_sharded (folder);
  g_autoptr (GFile) second = get_file (folder, "2");
  const char *path = g_file_peek_path (second);

  g_assert_cmpint (g_unlink (path), ==, 0);
  g_assert_cmpint (g_mkdir (path, 0755), ==, 0);
  assert_second_refused (file, G_IO_ERROR, G_IO_ERROR_IS_DIRECTORY, "2”");
  g_assert_cmpint (g_rmdir (path), ==, 0);
  g_assert_cmpint (mkfifo (path, 0600), ==, 0);
  assert_second_refused (file, G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE, "2”");
  g_assert_cmpint (g_unlink (path), ==, 0);
#ifdef __linux__
  g_assert_cmpint (symlink (MADE_UP_FILE, path), ==, 0);
  assert_second_refused (file, G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE, "2” & 0");
#endif
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  add_folder_test ("/TensorFile/description", test_description);
  add_folder_test ("/TensorFile/list", test_list);
  add_folder_test ("/TensorFile/mapped", test_mapped);
  add_folder_test ("/TensorFile/read", test_read);
  add_folder_test ("/TensorFile/npy", test_npy);
  add_folder_test ("/TensorFile/sharded", test_sharded);
  add_folder_test ("/TensorFile/sharded/wrong", test_sharded_wrong);
  add_folder_test ("/TensorFile/kinds", test_kinds);
  add_folder_test ("/TensorFile/content", test_content);
  add_folder_test ("/TensorFile/sharded-missing", test_sharded_missing);
  add_folder_test ("/TensorFile/missing-tensor", test_missing_tensor);
  add_folder_test ("/TensorFile/changed", test_changed);
  add_folder_test ("/TensorFile/replaced", test_replaced);
  add_folder_test ("/TensorFile/cancelled", test_cancelled);
  add_folder_test ("/TensorFile/cancelled/views", test_views_cancelled);
  add_folder_test ("/TensorFile/open/short", test_open_short);
  add_folder_test ("/TensorFile/open/priority", test_priority);
  add_folder_test ("/TensorFile/open-async", test_open_async);
  add_folder_test ("/TensorFile/foreign-device", test_foreign_device);
  add_folder_test ("/TensorFile/close", test_close);
  add_folder_test ("/TensorFile/match-names", test_match_names);
  g_test_add_func ("/TensorFile/bare", test_bare);
  add_folder_test ("/TensorFile/written", test_written);
  add_folder_test ("/TensorFile/sharded/kinds", test_sharded_kinds);

  return g_test_run ();
}
