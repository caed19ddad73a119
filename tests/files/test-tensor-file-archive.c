/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Views of the members of archives, stored and deflated. */

#include "test-tensor-files.h"

static void
test_archive (TestFolder    *folder,
              gconstpointer  data)
{
  static const char *const expected[] = { "zeros", "stored", "big", "none", NULL };

  for (MODES (mode))
    {
      g_autoptr (GFile) file = write_archive (folder, 3000000);
      g_autoptr (MtlTensorFile) tensors = open_file (file, mode);
      g_autofree const char **names = mtl_tensor_file_list_names (tensors);
      MtlStridedView **views = get_views (tensors, NULL, 4);
      const guint8 *zeros = mtl_strided_view_get_data (views[0]);

      g_assert_cmpstrv ((char **) names, (char **) expected);
      g_assert_cmpint (mtl_tensor_file_get_format (tensors), ==, MTL_TENSOR_FILE_FORMAT_NPZ);
      for (gsize i = 0; i < 2999999; i++)
        g_assert_cmpuint (zeros[i], ==, 0);
      g_assert_cmpuint (zeros[2999999], ==, 9);
      assert_elements (views[1], 1, 2);
      assert_elements (views[2], 258, 3);
      assert_view_shape (views[3], 3, 0);
      g_assert_cmpint (mtl_strided_view_is_read_only (views[1]), ==,
                       mode == MTL_TENSOR_FILE_MODE_MAP && MAPS_NUMBERS);
      g_assert_false (mtl_strided_view_is_read_only (views[0]));
      assert_tensor (tensors, "big", 258, 3);
      free_views (views, 4);
    }
}

/* All tensors come from one file, whatever has its name now: some of them are read after others
 * were mapped. */
static void
test_archive_replaced (TestFolder    *folder,
                       gconstpointer  data)
{
  g_autoptr (GFile) file = write_archive (folder, 1000);
  guint n_open = count_descriptors ();
  g_autoptr (MtlTensorFile) tensors = open_file (file, MTL_TENSOR_FILE_MODE_MAP);

  assert_tensor (tensors, "stored", 1, 2);
  g_assert_cmpint (g_unlink (g_file_peek_path (file)), ==, 0);
  assert_tensor (tensors, "big", 258, 3);
  mtl_tensor_file_close (tensors);
  g_assert_cmpuint (count_descriptors (), ==, n_open);
}

static void
test_archive_cancelled (TestFolder    *folder,
                        gconstpointer  data)
{
  g_autoptr (GFile) file = write_archive (folder, 10000000);
  g_autoptr (MtlTensorFile) tensors = open_file (file, MTL_TENSOR_FILE_MODE_READ);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  Outcome outcome = outcome_new (cancellable);
  gsize n_views;

  /* The tensor that is stored comes first, and is reported. */
  g_assert_null (mtl_tensor_file_load_views (tensors, NULL, cancellable, outcome_on_progress,
                                             &outcome, &n_views, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_cmpint (outcome.done, ==, 4);
  g_assert_cmpint (outcome.total, ==, 10000000 + 4 + 8);
}

static void
assert_undamaged (MtlTensorFile   *tensors,
                  MtlStridedView **views,
                  gsize            n_views,
                  MtlTensorFile   *original)
{
  g_autofree const char **names = mtl_tensor_file_match_loadable_names (tensors, NULL);

  g_assert_cmpuint (g_strv_length ((char **) names), ==, n_views);
  for (gsize i = 0; i < n_views; i++)
    {
      g_autoptr (MtlStridedView) view = get_view (original, names[i]);
      g_autoptr (GError) error = NULL;

      g_assert_cmpint (mtl_strided_view_get_dtype (views[i]), ==,
                       mtl_strided_view_get_dtype (view));
      g_assert_true (mtl_strided_view_array_equal (views[i], view, MTL_COMPARE_FLAGS_NONE, NULL,
                                                   &error));
    }
}

/* Each byte of a small archive, one after the other: it opens and gives views, or there
 * is an error that names the file. If all is read, the views are what they were, and there
 * are fewer of them if members cannot be loaded. */
static void
test_archive_damaged (TestFolder    *folder,
                      gconstpointer  data)
{
  g_autoptr (GFile) file = write_archive (folder, 100);
  g_autoptr (GFile) sound = NULL;
  g_autoptr (MtlTensorFile) original = NULL;
  int fd = g_open (g_file_peek_path (file), O_WRONLY, 0);
  g_autofree char *bytes = NULL;
  gsize size;

  g_assert_true (g_file_get_contents (g_file_peek_path (file), &bytes, &size, NULL));
  sound = write_file (folder, "sound", bytes, size);
  original = open_file (sound, MTL_TENSOR_FILE_MODE_READ);
  for (MODES (mode))
    {
      guint n_refused = 0, n_left_out = 0;

      for (gsize i = 0; i < size; i++)
        {
          g_autoptr (MtlTensorFile) tensors = NULL;
          g_autoptr (GError) error = NULL;
          MtlStridedView **damaged = NULL;
          gsize n_views = 0;

          g_assert_cmpint (pwrite (fd, &(char) { bytes[i] ^ 0x55 }, 1, i), ==, 1);
          tensors = mtl_tensor_file_open (file, NULL, mode, NULL, &error);
          if (tensors != NULL)
            damaged = mtl_tensor_file_load_views (tensors, NULL, NULL, NULL, NULL, &n_views,
                                                  &error);
          if (damaged == NULL)
            {
              assert_says (error->message, "file”");
              n_refused++;
            }
          else
            {
              g_assert_cmpuint (n_views, <=, 4);
              n_left_out += n_views < 4;
              if (mode == MTL_TENSOR_FILE_MODE_READ)
                assert_undamaged (tensors, damaged, n_views, original);
            }
          free_views (damaged, n_views);
          g_assert_cmpint (pwrite (fd, bytes + i, 1, i), ==, 1);
        }
      g_assert_cmpuint (n_refused, >, 100);
      g_assert_cmpuint (n_left_out, >, 100);
    }

  close (fd);
}

/* A fault of a deflated member is found when it is inflated. */
static void
test_archive_wrong (TestFolder    *folder,
                    gconstpointer  data)
{
  const char dict[] = "{'descr': '|u1', 'fortran_order': False, 'shape': (100000,), }";
  g_autofree guint8 *pattern = g_malloc (100000);
  TestMember member = { "a\n.npy", dict, pattern, 99000, TRUE, 1000 };
  g_autoptr (GFile) file = NULL;
  g_autoptr (MtlTensorFile) tensors = NULL;
  g_autofree char *bytes = NULL;
  gsize size;

  for (gsize i = 0; i < 100000; i++)
    pattern[i] = get_pattern_byte (i) ^ i >> 11;
  file = write_npz (folder, "file", &member, 1);
  tensors = open_file (file, MTL_TENSOR_FILE_MODE_MAP);
  assert_fails (mtl_tensor_file_load_view (tensors, "a\n", NULL, &error), MTL_ERROR_INVALID_DATA,
                "“a\\n”");
  assert_fails (mtl_tensor_file_load_view (tensors, "a\n", NULL, &error), MTL_ERROR_INVALID_DATA,
                "file” & 1000");

  g_assert_true (g_file_get_contents (g_file_peek_path (file), &bytes, &size, NULL));
  memset (bytes + size / 2, 0xff, 64);
  g_object_unref (tensors);
  g_object_unref (file);
  file = write_file (folder, "file", bytes, size);
  tensors = open_file (file, MTL_TENSOR_FILE_MODE_READ);
  assert_fails (mtl_tensor_file_load_view (tensors, "a\n", NULL, &error), MTL_ERROR_INVALID_DATA,
                "“a\\n”");
}

/* Only headers are read, which do not count. */
static void
test_archive_empty (TestFolder    *folder,
                    gconstpointer  data)
{
  const char dict[] = "{'descr': '<f8', 'fortran_order': False, 'shape': (3,0), }";
  const TestMember members[] = { { "a", dict, NULL, 0, TRUE }, { "b", dict, NULL, 0, FALSE } };
  g_autoptr (GFile) file = write_npz (folder, "file", members, 2);

  for (MODES (mode))
    {
      g_autoptr (MtlTensorFile) tensors = open_file (file, mode);
      g_autoptr (GError) error = NULL;
      Outcome outcome = outcome_new (NULL);
      MtlStridedView **views;
      gsize n_views;

      views = mtl_tensor_file_load_views (tensors, NULL, NULL, outcome_on_progress, &outcome,
                                          &n_views, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (n_views, ==, 2);
      g_assert_cmpuint (outcome.n_calls, ==, 0);
      assert_view_shape (views[0], 3, 0);
      assert_view_shape (views[1], 3, 0);
      free_views (views, n_views);
    }
}

static gsize
find_bytes (const char *bytes,
            gsize       size,
            const char *wanted)
{
  for (gsize i = 0; i + strlen (wanted) <= size; i++)
    if (memcmp (bytes + i, wanted, strlen (wanted)) == 0)
      return i;

  g_assert_not_reached ();
}

/* Changes one byte of the member. */
static MtlTensorFile *
open_damaged (TestFolder        *folder,
              const TestMember  *member,
              const char        *where,
              gsize              offset,
              MtlTensorFileMode  mode)
{
  g_autoptr (GFile) file = write_npz (folder, "file", member, 1);
  g_autoptr (GFile) damaged = NULL;
  g_autofree char *bytes = NULL;
  gsize size;

  g_assert_true (g_file_get_contents (g_file_peek_path (file), &bytes, &size, NULL));
  bytes[find_bytes (bytes, size, where) + offset] ^= 1;
  damaged = write_file (folder, "file", bytes, size);
  return open_file (damaged, mode);
}

static void
assert_wrong_crc (MtlTensorFile *tensors)
{
  MtlStridedView **views;
  gsize n_views;

  assert_fails (mtl_tensor_file_load_view (tensors, "a", NULL, &error), MTL_ERROR_INVALID_DATA,
                "“a”");
  assert_fails (mtl_tensor_file_load_view (tensors, "a", NULL, &error), MTL_ERROR_INVALID_DATA,
                "file” & CRC");
  assert_fails (views = mtl_tensor_file_load_views (tensors, NULL, NULL, NULL, NULL, &n_views,
                                                    &error), MTL_ERROR_INVALID_DATA, "file” & CRC");
}

/* The one that the directory has is another one. */
static void
test_archive_crc (TestFolder    *folder,
                  gconstpointer  data)
{
  static const struct
  {
    const char *dict;
    gsize size;
    gboolean deflated;
    gboolean in_place;
  } members[] = {
    { "{'descr': '|u1', 'fortran_order': False, 'shape': (16,), }", 16, TRUE, FALSE },
    { "{'descr': '|u1', 'fortran_order': False, 'shape': (16,), }", 16, FALSE, TRUE },
    { "{'descr': '<u2', 'fortran_order': False, 'shape': (8,), }", 16, FALSE, MAPS_NUMBERS },
    { "{'descr': '>u2', 'fortran_order': False, 'shape': (8,), }", 16, FALSE, !MAPS_NUMBERS },
    { "{'descr': '|u1', 'fortran_order': False, 'shape': (0,3), }", 0, TRUE, FALSE },
    { "{'descr': '|u1', 'fortran_order': False, 'shape': (0,3), }", 0, FALSE, TRUE },
    /* Bytes after the elements. */
    { "{'descr': '|u1', 'fortran_order': False, 'shape': (4,), }", 16, FALSE, TRUE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (members); i++)
    for (MODES (mode))
      {
        const TestMember member = {
          "a", members[i].dict, "abcdefghijklmnop", members[i].size, members[i].deflated
        };
        g_autoptr (MtlTensorFile) tensors = open_damaged (folder, &member, "PK\1\2", 16, mode);
        g_autoptr (MtlStridedView) view = NULL;

        /* Only bytes that are used in place in the mapping are taken as they are. */
        if (mode == MTL_TENSOR_FILE_MODE_READ || !members[i].in_place)
          assert_wrong_crc (tensors);
        else
          view = get_view (tensors, "a");
        g_assert_true (view == NULL || mtl_strided_view_is_read_only (view));
        assert_refuses (mtl_tensor_file_check (tensors, 0, NULL, NULL, NULL, &error),
                        MTL_ERROR_INVALID_DATA, "file” & CRC");
      }
}

/* A byte of the header, of the elements, and of what follows them. */
static void
test_archive_stored (TestFolder    *folder,
                     gconstpointer  data)
{
  const TestMember member = {
    "a", "{'descr': '|u1', 'fortran_order': False, 'shape': (6,1), }", "abcdefgh", 8, FALSE
  };
  const TestMember none = {
    "a", "{'descr': '|u1', 'fortran_order': False, 'shape': (0,2), }", "", 0, FALSE
  };

  const struct
  {
    const TestMember *member;
    const char *where;
    gsize offset;
  } places[] = {
    { &member, "abcdefgh", 0 }, { &member, "abcdefgh", 5 }, { &member, "abcdefgh", 6 },
    { &member, "abcdefgh", 7 }, { &member, "6,1", 2 }, { &none, "0,2", 2 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (places); i++)
    {
      g_autoptr (MtlTensorFile) tensors =
        open_damaged (folder, places[i].member, places[i].where, places[i].offset,
                      MTL_TENSOR_FILE_MODE_READ);

      assert_wrong_crc (tensors);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  add_folder_test ("/TensorFile/archive/views", test_archive);
  add_folder_test ("/TensorFile/archive/replaced", test_archive_replaced);
  add_folder_test ("/TensorFile/archive/cancelled", test_archive_cancelled);
  add_folder_test ("/TensorFile/archive/damaged", test_archive_damaged);
  add_folder_test ("/TensorFile/archive/wrong", test_archive_wrong);
  add_folder_test ("/TensorFile/archive/empty", test_archive_empty);
  add_folder_test ("/TensorFile/archive/crc", test_archive_crc);
  add_folder_test ("/TensorFile/archive/stored", test_archive_stored);

  return g_test_run ();
}
