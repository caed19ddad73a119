/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Files with tensors that can be loaded, and others that cannot. */

#include "test-tensor-files.h"

#define BYTES "{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }"
#define OF_TYPE(descr) "{'descr': " descr ", 'fortran_order': False, 'shape': (2,), }"

static const TestMember mixture[] = {
  { "good.npy", BYTES, "abc", 3, FALSE },
  { "text.npy", OF_TYPE ("'<U3'"), "0123456789ABCDEFGHIJKLMN", 24, FALSE },
  { "objects.npy", OF_TYPE ("'|O'"), "pickle", 6, TRUE },
  { "dates.npy", OF_TYPE ("'<M8[ns]'"), "0123456789ABCDEF", 16, FALSE },
  { "record.npy", OF_TYPE ("[('a', '<f4'), ('b', '<i4')]"), "0123456789ABCDEF", 16, TRUE },
  { "long.npy", OF_TYPE ("'<f16'"), "0123456789ABCDEF0123456789ABCDEF", 32, FALSE },
  { "short.npy", "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", "abc", 3, FALSE },
  { "broken.npy", "{'descr': '<f4', 'fortran_", "abc", 3, FALSE },
  { "folder/", BYTES, "abc", 3, FALSE },
  { "fine.npy", BYTES, "xyz", 3, TRUE },
};

static const struct
{
  const char *name;
  const char *type_name;
  MtlError code;
  const char *values;
  gboolean has_shape;
  guint64 n_bytes;
} refused[] = {
  { "text", "<U3", MTL_ERROR_NOT_SUPPORTED, "“<U3”", TRUE, 24 },
  { "objects", "object", MTL_ERROR_NOT_SUPPORTED, "“|O”", TRUE, 6 },
  { "dates", "<M8[ns]", MTL_ERROR_NOT_SUPPORTED, "“<M8[ns]”", TRUE, 16 },
  { "record", "record", MTL_ERROR_NOT_SUPPORTED, "2", TRUE, 16 },
  { "long", "<f16", MTL_ERROR_NOT_SUPPORTED, "“<f16”", TRUE, 32 },
  { "short", "float32", MTL_ERROR_INVALID_DATA, "8 & 3", TRUE, 3 },
  { "broken", "float32", MTL_ERROR_INVALID_DATA, "28 & .npy", FALSE, 3 },
  { "folder/", "folder", MTL_ERROR_INVALID_DATA, "", FALSE, 10 + 57 + 3 },
};

static GFile *
write_mixture (TestFolder *folder)
{
  return write_npz (folder, "file", mixture, G_N_ELEMENTS (mixture));
}

static void
test_entries (TestFolder    *folder,
              gconstpointer  data)
{
  g_autoptr (GFile) file = write_mixture (folder);

  for (MODES (mode))
    {
      g_autoptr (MtlTensorFile) tensors = open_file (file, mode);

      g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (tensors)), ==,
                        G_N_ELEMENTS (mixture));
      assert_tensor (tensors, "good", 'a', 'b', 'c');
      assert_tensor (tensors, "fine", 'x', 'y', 'z');
      for (gsize i = 0; i < G_N_ELEMENTS (refused); i++)
        {
          g_autoptr (MtlTensorFileEntry) entry = g_list_model_get_item (G_LIST_MODEL (tensors),
                                                                        i + 1);
          gsize n_dims;
          const gint64 *shape = mtl_tensor_file_entry_get_shape (entry, &n_dims);

          assert_refused (tensors, refused[i].name, MTL_ERROR, refused[i].code,
                          refused[i].values);
          g_assert_cmpstr (mtl_tensor_file_entry_get_name (entry), ==, refused[i].name);
          g_assert_cmpstr (mtl_tensor_file_entry_get_type_name (entry), ==, refused[i].type_name);
          g_assert_cmpuint (mtl_tensor_file_entry_get_n_bytes (entry), ==, refused[i].n_bytes);
          if (refused[i].has_shape)
            assert_dims (shape, n_dims, 2);
          else
            g_assert_null (shape);
        }
    }
}

static void
test_properties (TestFolder    *folder,
                 gconstpointer  data)
{
  g_autoptr (GFile) file = write_mixture (folder);
  g_autoptr (MtlTensorFile) tensors = open_file (file, MTL_TENSOR_FILE_MODE_MAP);
  g_autoptr (MtlTensorFileEntry) good = mtl_tensor_file_lookup_entry (tensors, "good");
  g_autoptr (MtlTensorFileEntry) text = mtl_tensor_file_lookup_entry (tensors, "text");
  g_autoptr (MtlTensorFileEntry) bare = g_object_new (MTL_TYPE_TENSOR_FILE_ENTRY, NULL);
  g_autofree char *good_type = NULL, *text_type = NULL;
  g_autoptr (GError) good_error = NULL, text_error = NULL;

  g_object_get (good, "type-name", &good_type, "error", &good_error, NULL);
  g_assert_cmpstr (good_type, ==, "uint8");
  g_assert_no_error (good_error);
  g_object_get (text, "type-name", &text_type, "error", &text_error, NULL);
  g_assert_cmpstr (text_type, ==, "<U3");
  g_assert_error (text_error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED);

  g_assert_cmpstr (mtl_tensor_file_entry_get_type_name (bare), ==, "unknown");
  g_assert_null (mtl_tensor_file_entry_get_error (bare));
}

static void
on_loaded (GObject      *source,
           GAsyncResult *result,
           gpointer      data)
{
  *(GAsyncResult **) data = g_object_ref (result);
}

/* Names and views agree, and nothing is left out without a trace. */
static void
test_several (TestFolder    *folder,
              gconstpointer  data)
{
  static const char *const loadable[] = { "good", "fine", NULL };
  static const char *const others[] = { "text", "record", NULL };
  g_autoptr (GFile) file = write_mixture (folder);
  g_autoptr (MtlTensorFile) tensors = open_file (file, MTL_TENSOR_FILE_MODE_READ);
  g_autofree const char **names = mtl_tensor_file_match_loadable_names (tensors, NULL);
  g_autofree const char **all_left_out = mtl_tensor_file_match_refused_names (tensors, NULL);
  g_autofree const char **left_out = mtl_tensor_file_match_refused_names (tensors, "?e*");
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) no_error = NULL;
  MtlStridedView **views = get_views (tensors, NULL, 2);
  gsize n_views;

  g_assert_cmpstrv ((char **) names, (char **) loadable);
  g_assert_cmpuint (g_strv_length ((char **) all_left_out), ==, G_N_ELEMENTS (refused));
  g_assert_cmpstrv ((char **) left_out, (char **) others);
  assert_elements (views[0], 'a', 'b', 'c');
  assert_elements (views[1], 'x', 'y', 'z');
  free_views (views, 2);

  free_views (get_views (tensors, "*o*d*", 1), 1);
  free_views (get_views (tensors, "nothing*", 0), 0);
  assert_fails (mtl_tensor_file_load_views (tensors, "*e*t*", NULL, NULL, NULL, &n_views, &error),
                MTL_ERROR_NOT_SUPPORTED, "“text”");

  mtl_tensor_file_load_views_async (tensors, "*", G_PRIORITY_DEFAULT, NULL, NULL, NULL, NULL,
                                    on_loaded, &result);
  while (result == NULL)
    g_main_context_iteration (NULL, TRUE);
  views = mtl_tensor_file_load_views_finish (tensors, result, &n_views, &no_error);
  g_assert_no_error (no_error);
  g_assert_cmpuint (n_views, ==, 2);
  free_views (views, 2);
}

/* All names are UTF-8. */
static void
test_pattern_of_bytes (TestFolder    *folder,
                       gconstpointer  data)
{
  static const char *const patterns[] = { "*\xff?", "\xff", "*a?\xf9", "\xc3", "?\x80*" };
  g_autoptr (GFile) file = write_mixture (folder);
  g_autoptr (MtlTensorFile) tensors = open_file (file, MTL_TENSOR_FILE_MODE_MAP);

  for (gsize i = 0; i < G_N_ELEMENTS (patterns); i++)
    {
      g_autofree const char **names = mtl_tensor_file_match_loadable_names (tensors, patterns[i]);
      g_autofree const char **others = mtl_tensor_file_match_refused_names (tensors, patterns[i]);

      g_assert_null (names[0]);
      g_assert_null (others[0]);
      free_views (get_views (tensors, patterns[i], 0), 0);
    }
}

static gboolean
check (MtlTensorFile        *tensors,
       MtlTensorFileChecks   checks,
       GError              **error)
{
  return mtl_tensor_file_check (tensors, checks, NULL, NULL, NULL, error);
}

static void
test_check (TestFolder    *folder,
            gconstpointer  data)
{
  g_autoptr (GFile) file = write_mixture (folder);
  g_autoptr (MtlTensorFile) tensors = open_file (file, MTL_TENSOR_FILE_MODE_MAP);
  g_autoptr (MtlTensorFileEntry) good = mtl_tensor_file_lookup_entry (tensors, "good");
  g_autoptr (MtlTensorFileEntry) text = mtl_tensor_file_lookup_entry (tensors, "text");
  g_autoptr (GError) no_error = NULL;
  Outcome outcome = outcome_new (NULL);

  g_assert_true (
      mtl_tensor_file_check (tensors, MTL_TENSOR_FILE_CHECKS_NAN | MTL_TENSOR_FILE_CHECKS_ALIGNMENT,
                             NULL, outcome_on_progress, &outcome, &no_error));
  g_assert_no_error (no_error);
  g_assert_cmpint (outcome.total, ==, 6);
  assert_refuses (check (tensors, MTL_TENSOR_FILE_CHECKS_LOADABLE, &error), MTL_ERROR_NOT_SUPPORTED,
                  "file” & “text” & “<U3”");

  g_assert_true (
      mtl_tensor_file_entry_check (good, MTL_TENSOR_FILE_CHECKS_LOADABLE, NULL, &no_error));
  g_assert_true (mtl_tensor_file_entry_check (text, MTL_TENSOR_FILE_CHECKS_NONE, NULL, &no_error));
  g_assert_no_error (no_error);
  assert_refuses (mtl_tensor_file_entry_check (text, MTL_TENSOR_FILE_CHECKS_LOADABLE, NULL, &error),
                  MTL_ERROR_NOT_SUPPORTED, "“text”");
  mtl_tensor_file_close (tensors);
  assert_closed (mtl_tensor_file_entry_check (text, MTL_TENSOR_FILE_CHECKS_NONE, NULL, &error));
}

/* Members of the same name cannot be told apart, but one that is no array gives way. */
static void
test_same_names (TestFolder    *folder,
                 gconstpointer  data)
{
  static const TestMember members[] = {
    { "a.npy", BYTES, "abc", 3, FALSE },
    { "b.npy", BYTES, "def", 3, TRUE },
    { "a.npy", BYTES, "ghi", 3, TRUE },
    { "folder/", BYTES, "", 0, FALSE },
    { "folder/.npy", BYTES, "jkl", 3, FALSE },
    { "folder/ (member 4).npy", BYTES, "mno", 3, FALSE },
    { "c", BYTES, "pqr", 3, FALSE },
    { "text.npy", OF_TYPE ("'<U1'"), "01234567", 8, FALSE },
    { "text.npy", BYTES, "stu", 3, FALSE },
  };
  static const char *const expected[] = {
    "a", "b", "a", "folder/ (member 4) (member 4)", "folder/", "folder/ (member 4)", "c", "text",
    "text", NULL,
  };
  g_autoptr (GFile) file = write_npz (folder, "file", members, G_N_ELEMENTS (members));
  g_autoptr (MtlTensorFile) tensors = open_file (file, MTL_TENSOR_FILE_MODE_MAP);
  g_autofree const char **names = mtl_tensor_file_list_names (tensors);
  g_autoptr (MtlTensorFileEntry) last = g_list_model_get_item (G_LIST_MODEL (tensors), 8);

  g_assert_cmpstrv ((char **) names, (char **) expected);
  for (guint i = 0; i <= 2; i += 2)
    {
      g_autoptr (MtlTensorFileEntry) entry = g_list_model_get_item (G_LIST_MODEL (tensors), i);
      g_autoptr (MtlTensorFileEntry) found = mtl_tensor_file_lookup_entry (tensors, "a");

      g_assert_true (found == entry || i > 0);
      g_assert_error (mtl_tensor_file_entry_get_error (entry), MTL_ERROR, MTL_ERROR_INVALID_DATA);
      g_assert_cmpstr (mtl_tensor_file_entry_get_type_name (entry), ==, "uint8");
      assert_fails (mtl_tensor_file_entry_load_view (entry, NULL, &error), MTL_ERROR_INVALID_DATA,
                    "“a”");
    }
  assert_refused (tensors, "a", MTL_ERROR, MTL_ERROR_INVALID_DATA, "“a”");
  assert_refused (tensors, "text", MTL_ERROR, MTL_ERROR_NOT_SUPPORTED, "“<U1”");
  g_assert_error (mtl_tensor_file_entry_get_error (last), MTL_ERROR, MTL_ERROR_INVALID_DATA);
  assert_tensor (tensors, "b", 'd', 'e', 'f');
  assert_tensor (tensors, "folder/", 'j', 'k', 'l');
  assert_tensor (tensors, "folder/ (member 4)", 'm', 'n', 'o');
  assert_tensor (tensors, "c", 'p', 'q', 'r');
}

/* Changes bytes of one of two members in the directory, or at its beginning. */
static void
test_members (TestFolder    *folder,
              gconstpointer  data)
{
  static const TestMember members[] = {
    { "a.npy", BYTES, "abc", 3, FALSE }, { "b.npy", BYTES, "def", 3, TRUE },
  };
  static const struct
  {
    gboolean is_local; /* or else in the directory */
    gsize at;
    const char *bytes;
    gsize size;
    const char *name;
    MtlError code;
    const char *values;
  } cases[] = {
    { FALSE, 10, "\14", 1, "b", MTL_ERROR_NOT_SUPPORTED, "12 & bzip2" },
    { FALSE, 10, "\135", 1, "b", MTL_ERROR_NOT_SUPPORTED, "93 & zstd" },
    { FALSE, 8, "\1", 1, "b", MTL_ERROR_NOT_SUPPORTED, "" },
    { FALSE, 10, "\0", 1, "b", MTL_ERROR_INVALID_DATA, "70 & 67" },
    { FALSE, 24, "\0\0\0\1", 4, "b", MTL_ERROR_INVALID_DATA, "16777216" },
    { FALSE, 24, "\5\0\0\0", 4, "b", MTL_ERROR_INVALID_DATA, ".npy" },
    { FALSE, 46, "\377", 1, "\\xff", MTL_ERROR_INVALID_DATA, "105" },
    { TRUE, 0, "Q", 1, "b", MTL_ERROR_INVALID_DATA, "" },
    { TRUE, 30, "c", 1, "b", MTL_ERROR_INVALID_DATA, "" },
    { TRUE, 28, "\377\377", 2, "b", MTL_ERROR_INVALID_DATA, "" },
    { TRUE, 35, "\377\377\377", 3, "b", MTL_ERROR_INVALID_DATA, "" },
  };
  g_autoptr (GFile) file = write_npz (folder, "file", members, 2);
  g_autofree char *bytes = NULL;
  gsize size, local, directory;

  g_assert_true (g_file_get_contents (g_file_peek_path (file), &bytes, &size, NULL));
  for (local = 1; memcmp (bytes + local, "PK\3\4", 4) != 0;)
    local++;
  for (directory = size - 22 - 1; memcmp (bytes + directory, "PK\1\2", 4) != 0;)
    directory--;

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *changed = g_memdup2 (bytes, size);
      g_autoptr (GFile) changed_file = NULL;
      g_autoptr (MtlTensorFile) tensors = NULL;

      memcpy (changed + (cases[i].is_local ? local : directory) + cases[i].at, cases[i].bytes,
              cases[i].size);
      changed_file = write_file (folder, "file", changed, size);
      tensors = open_file (changed_file, MTL_TENSOR_FILE_MODE_MAP);
      g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (tensors)), ==, 2);
      assert_tensor (tensors, "a", 'a', 'b', 'c');
      assert_refused (tensors, cases[i].name, MTL_ERROR, cases[i].code, cases[i].values);
      g_assert_true (check (tensors, MTL_TENSOR_FILE_CHECKS_NONE, NULL));
    }
}

/* Escaped, and as no other is called. */
static void
test_names_of_bytes (TestFolder    *folder,
                     gconstpointer  data)
{
  static const TestMember members[] = {
    { "\xff\\.npy", BYTES, "abc", 3, FALSE },
    { "\\xff\\\\.npy", BYTES, "def", 3, FALSE },
    { "\xff\\.npy", OF_TYPE ("'<U1'"), "01234567", 8, FALSE },
    { "\xfe", BYTES, "abc", 3, TRUE },
  };
  static const char *const expected[] = {
    "\\xff\\\\ (member 1)", "\\xff\\\\", "\\xff\\\\ (member 3)", "\\xfe", NULL,
  };
  g_autoptr (GFile) file = write_npz (folder, "file", members, G_N_ELEMENTS (members));
  g_autoptr (MtlTensorFile) tensors = open_file (file, MTL_TENSOR_FILE_MODE_MAP);
  g_autofree const char **names = mtl_tensor_file_list_names (tensors);
  g_autoptr (MtlTensorFileEntry) entry = mtl_tensor_file_lookup_entry (tensors, names[3]);
  gsize n_dims;

  g_assert_cmpstrv ((char **) names, (char **) expected);
  assert_refused (tensors, names[0], MTL_ERROR, MTL_ERROR_NOT_SUPPORTED, "UTF-8");
  assert_tensor (tensors, names[1], 'd', 'e', 'f');
  assert_refused (tensors, names[2], MTL_ERROR, MTL_ERROR_NOT_SUPPORTED, "“<U1”");
  assert_refused (tensors, names[3], MTL_ERROR, MTL_ERROR_NOT_SUPPORTED, "UTF-8");
  g_assert_cmpstr (mtl_tensor_file_entry_get_type_name (entry), ==, "uint8");
  assert_dims (mtl_tensor_file_entry_get_shape (entry, &n_dims), n_dims, 3);
}

/* Only an archive in which there is no array at all is refused as a whole. */
static void
test_nothing_loadable (TestFolder    *folder,
                       gconstpointer  data)
{
  static const TestMember text[] = { { "a", OF_TYPE ("'<U1'"), "01234567", 8, FALSE } };
  static const TestMember broken[] = { { "a.npy", "{", NULL, 0, FALSE } };
  g_autoptr (GFile) of_text = write_npz (folder, "text", text, 1);
  g_autoptr (GFile) of_broken = write_npz (folder, "broken", broken, 1);
  g_autoptr (MtlTensorFile) with_text = open_file (of_text, MTL_TENSOR_FILE_MODE_MAP);
  g_autoptr (MtlTensorFile) with_broken = open_file (of_broken, MTL_TENSOR_FILE_MODE_MAP);

  assert_refused (with_text, "a", MTL_ERROR, MTL_ERROR_NOT_SUPPORTED, "“<U1”");
  assert_refused (with_broken, "a", MTL_ERROR, MTL_ERROR_INVALID_DATA, "");
}

static void
test_safetensors (TestFolder    *folder,
                  gconstpointer  data)
{
  static const char header[] =
    "{\"new\":{\"dtype\":\"F7_E1M5\",\"shape\":[2,3],\"data_offsets\":[1,6]},"
    "\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
    "\"b\":{\"dtype\":\"I8\",\"shape\":[2],\"data_offsets\":[6,8]}}";
  g_autoptr (GFile) file = write_safetensors (folder, "file", header, "\1?????\2\3", 8);

  for (MODES (mode))
    {
      g_autoptr (MtlTensorFile) tensors = open_file (file, mode);
      g_autoptr (MtlTensorFileEntry) entry = mtl_tensor_file_lookup_entry (tensors, "new");
      gsize n_dims;

      assert_tensor (tensors, "a", 1);
      assert_tensor (tensors, "b", 2, 3);
      free_views (get_views (tensors, NULL, 2), 2);
      assert_refused (tensors, "new", MTL_ERROR, MTL_ERROR_NOT_SUPPORTED, "“F7_E1M5”");
      g_assert_cmpstr (mtl_tensor_file_entry_get_type_name (entry), ==, "F7_E1M5");
      assert_dims (mtl_tensor_file_entry_get_shape (entry, &n_dims), n_dims, 2, 3);
      g_assert_cmpuint (mtl_tensor_file_entry_get_n_bytes (entry), ==, 5);
      g_assert_true (check (tensors, MTL_TENSOR_FILE_CHECKS_NONE, NULL));
      assert_refuses (check (tensors, MTL_TENSOR_FILE_CHECKS_LOADABLE, &error),
                      MTL_ERROR_NOT_SUPPORTED, "“new”");
    }
}

/* An index names one of two in a file, and the other one cannot be loaded. */
static void
test_unnamed (TestFolder    *folder,
              gconstpointer  data)
{
  static const char header[] =
    "{\"new\":{\"dtype\":\"F7_E1M5\",\"shape\":[2,3],\"data_offsets\":[1,6]},"
    "\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}";
  static const char index[] = "{\"weight_map\": {\"a\": \"1\"}}";
  g_autoptr (GFile) shard G_GNUC_UNUSED = write_safetensors (folder, "1", header, "\1?????", 6);
  g_autoptr (GFile) file = write_file (folder, "index", index, strlen (index));
  g_autoptr (MtlTensorFile) tensors = open_file (file, MTL_TENSOR_FILE_MODE_MAP);

  g_assert_true (check (tensors, MTL_TENSOR_FILE_CHECKS_NONE, NULL));
  assert_refuses (check (tensors, MTL_TENSOR_FILE_CHECKS_LOADABLE, &error), MTL_ERROR_NOT_SUPPORTED,
                  "1” & “new”");
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  add_folder_test ("/TensorFile/refused/entries", test_entries);
  add_folder_test ("/TensorFile/refused/properties", test_properties);
  add_folder_test ("/TensorFile/refused/several", test_several);
  add_folder_test ("/TensorFile/refused/pattern-of-bytes", test_pattern_of_bytes);
  add_folder_test ("/TensorFile/refused/check", test_check);
  add_folder_test ("/TensorFile/refused/same-names", test_same_names);
  add_folder_test ("/TensorFile/refused/members", test_members);
  add_folder_test ("/TensorFile/refused/names-of-bytes", test_names_of_bytes);
  add_folder_test ("/TensorFile/refused/nothing-loadable", test_nothing_loadable);
  add_folder_test ("/TensorFile/refused/safetensors", test_safetensors);
  add_folder_test ("/TensorFile/refused/unnamed", test_unnamed);

  return g_test_run ();
}
