/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Buffers of ranges of files. */

#include "test-files.h"

static MtlBuffer *
map_file (GFile   *file,
          guint64  offset,
          gsize    size)
{
  g_autoptr (GError) error = NULL;
  MtlBuffer *buffer = mtl_buffer_new_mapped (file, NULL, offset, size, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (mtl_buffer_get_size (buffer), ==, size);
  g_assert_true (mtl_buffer_is_read_only (buffer));
  g_assert_true (mtl_buffer_is_host_accessible (buffer));
  g_assert_true (mtl_buffer_get_device (buffer) == mtl_device_get_host ());
  return buffer;
}

static void
assert_maps (GFile   *file,
             guint64  offset,
             gsize    size)
{
  MtlBuffer *buffer = map_file (file, offset, size);

  assert_pattern (mtl_buffer_get_contents (buffer), offset, size);
  g_assert_finalize_object (buffer);
}

static void
test_ranges (TestFolder    *folder,
             gconstpointer  data)
{
  static const gsize edges[] = { 0, 1, 4095, 4096, 16383, 16384, 16385, 40000, 65537 };
  g_autoptr (GFile) file = write_pattern (folder, "file", 65537);

  for (gsize i = 0; i < G_N_ELEMENTS (edges); i++)
    for (gsize j = i; j < G_N_ELEMENTS (edges); j++)
      assert_maps (file, edges[i], edges[j] - edges[i]);
}

static void
test_background (TestFolder    *folder,
                 gconstpointer  data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GFile) file = write_pattern (folder, "file", 65537);
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GAsyncResult) refused = NULL;
  g_autoptr (MtlBuffer) buffer = NULL;

  mtl_buffer_new_mapped_async (file, NULL, 5, 60000, G_PRIORITY_LOW, NULL, keep_result, &result);
  buffer = mtl_buffer_new_mapped_finish (wait_for_kept (&result), &error);
  g_assert_no_error (error);
  assert_pattern (mtl_buffer_get_contents (buffer), 5, 60000);

  mtl_buffer_new_mapped_async (file, NULL, 5, 65533, G_PRIORITY_LOW, NULL, keep_result, &refused);
  g_assert_null (mtl_buffer_new_mapped_finish (wait_for_kept (&refused), &error));
  g_assert_error (error, MTL_ERROR, MTL_ERROR_OUT_OF_BOUNDS);
}

static void
test_empty_file (TestFolder    *folder,
                 gconstpointer  data)
{
  g_autoptr (GFile) file = write_file (folder, "file", "", 0);

  assert_maps (file, 0, 0);
  assert_fails (mtl_buffer_new_mapped (file, NULL, 0, 1, NULL, &error), MTL_ERROR_OUT_OF_BOUNDS,
                "file” & 0");
}

static void
test_out_of_bounds (TestFolder    *folder,
                    gconstpointer  data)
{
  g_autoptr (GFile) file = write_pattern (folder, "file", 5000);

  assert_fails (mtl_buffer_new_mapped (file, NULL, 1, 5000, NULL, &error), MTL_ERROR_OUT_OF_BOUNDS,
                "5000 & 1");
  assert_fails (mtl_buffer_new_mapped (file, NULL, 5001, 0, NULL, &error), MTL_ERROR_OUT_OF_BOUNDS,
                "0 & 5001");
  assert_fails (mtl_buffer_new_mapped (file, NULL, G_MAXUINT64, 2, NULL, &error),
                MTL_ERROR_OUT_OF_BOUNDS, "18446744073709551615");
  assert_fails (mtl_buffer_new_mapped (file, NULL, 2, G_MAXSIZE, NULL, &error),
                MTL_ERROR_OUT_OF_BOUNDS, "18446744073709551615");
}

static void
test_cancelled (TestFolder    *folder,
                gconstpointer  data)
{
  g_autoptr (GFile) file = write_pattern (folder, "file", 10);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;

  g_cancellable_cancel (cancellable);
  g_assert_null (mtl_buffer_new_mapped (file, NULL, 0, 10, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static gpointer
open_mapped (GFile   *file,
             GError **error)
{
  return mtl_buffer_new_mapped (file, NULL, 0, 1, NULL, error);
}

static void
test_kinds (TestFolder    *folder,
            gconstpointer  data)
{
  assert_only_files_open (folder, open_mapped);
}

static void
test_file_is_closed (TestFolder    *folder,
                     gconstpointer  data)
{
  guint n_before = count_descriptors ();
  g_autoptr (GFile) file = write_pattern (folder, "file", 5000);
  g_autoptr (MtlBuffer) buffer = map_file (file, 100, 4900);

  g_assert_cmpuint (mtl_buffer_get_size (buffer), ==, 4900);
  g_assert_cmpuint (count_descriptors (), ==, n_before);
  assert_fails (mtl_buffer_new_mapped (file, NULL, 0, 5001, NULL, &error), MTL_ERROR_OUT_OF_BOUNDS,
                "5001");
  g_assert_cmpuint (count_descriptors (), ==, n_before);
}

/* Neither reaches the file that is mapped. */
static void
test_replaced_and_removed (TestFolder    *folder,
                           gconstpointer  data)
{
  g_autoptr (GFile) file = write_pattern (folder, "file", 50000);
  g_autoptr (GFile) other = write_file (folder, "other", "abc", 3);
  g_autoptr (MtlBuffer) buffer = map_file (file, 100, 49900);
  g_autoptr (MtlBuffer) replaced = NULL;

  g_assert_cmpint (g_rename (g_file_peek_path (other), g_file_peek_path (file)), ==, 0);
  replaced = map_file (file, 0, 3);
  g_assert_cmpint (g_unlink (g_file_peek_path (file)), ==, 0);
  assert_pattern (mtl_buffer_get_contents (buffer), 100, 49900);
  g_assert_cmpmem (mtl_buffer_get_contents (replaced), 3, "abc", 3);
}

static void
test_read_only (TestFolder    *folder,
                gconstpointer  data)
{
  g_autoptr (GFile) file = write_pattern (folder, "file", 100);
  g_autoptr (MtlBuffer) buffer = map_file (file, 0, 100);
  g_autoptr (GBytes) bytes = g_bytes_new_static ("x", 1);

  assert_refuses (mtl_buffer_set_bytes (buffer, 0, bytes, NULL, &error), MTL_ERROR_READ_ONLY,
                  "100");
  assert_refuses (mtl_buffer_fill (buffer, 0, 100, bytes, NULL, &error), MTL_ERROR_READ_ONLY,
                  "100");
}

/* Each of them alone keeps the pages. */
static void
test_keeps_pages (TestFolder    *folder,
                  gconstpointer  data)
{
  g_autoptr (GFile) file = write_pattern (folder, "file", 40000);
  g_autoptr (GError) error = NULL;
  MtlBuffer *buffer = map_file (file, 20000, 20000);
  g_autoptr (MtlBuffer) slice = mtl_buffer_slice (buffer, 1000, 2000, &error);
  g_autoptr (GBytes) bytes = mtl_buffer_get_bytes (buffer, 3000, 4000, &error);

  g_assert_no_error (error);
  g_assert_finalize_object (buffer);
  assert_pattern (mtl_buffer_get_contents (slice), 21000, 2000);
  g_clear_object (&slice);
  assert_pattern (g_bytes_get_data (bytes, NULL), 23000, 4000);
}

/* Compares with what GIO says of the file. */
static void
assert_mapped_file (MtlBuffer *buffer,
                    GFile     *file,
                    guint64    offset)
{
  static const char *const times[] = { G_FILE_ATTRIBUTE_TIME_MODIFIED_USEC,
                                       G_FILE_ATTRIBUTE_TIME_MODIFIED_NSEC };
  g_autoptr (GFileInfo) info = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GFileInfo) expected = g_file_query_info (file, "standard::size,time::*",
                                                      G_FILE_QUERY_INFO_NONE, NULL, &error);
  guint64 found_offset;
  g_autoptr (GFile) found = mtl_buffer_dup_mapped_file (buffer, &found_offset, &info);

  g_assert_no_error (error);
  g_assert_true (g_file_equal (found, file));
  g_assert_cmpuint (found_offset, ==, offset);
  g_assert_cmpint (g_file_info_get_size (info), ==, g_file_info_get_size (expected));
  g_assert_cmpuint (g_file_info_get_attribute_uint64 (info, G_FILE_ATTRIBUTE_TIME_MODIFIED), ==,
                    g_file_info_get_attribute_uint64 (expected, G_FILE_ATTRIBUTE_TIME_MODIFIED));
  for (gsize i = 0; i < G_N_ELEMENTS (times); i++)
    g_assert_cmpuint (g_file_info_get_attribute_uint32 (info, times[i]), ==,
                      g_file_info_get_attribute_uint32 (expected, times[i]));
}

static void
test_mapped_file (TestFolder    *folder,
                  gconstpointer  data)
{
  static const gsize begins[] = { 0, 1, 4096, 16383, 16384, 16385, 40000, 65535 };
  g_autoptr (GFile) file = write_pattern (folder, "file", 65537);

  for (gsize i = 0; i < G_N_ELEMENTS (begins); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlBuffer) buffer = map_file (file, begins[i], 65537 - begins[i]);
      g_autoptr (MtlBuffer) slice = mtl_buffer_slice (buffer, 1, 1, &error);
      g_autoptr (MtlBuffer) end = mtl_buffer_slice (buffer, 65537 - begins[i], 0, &error);
      g_autoptr (GFile) alone = mtl_buffer_dup_mapped_file (buffer, NULL, NULL);

      g_assert_no_error (error);
      g_assert_true (g_file_equal (alone, file));
      assert_mapped_file (buffer, file, begins[i]);
      assert_mapped_file (slice, file, begins[i] + 1);
      assert_mapped_file (end, file, 65537);
    }
}

static void
assert_no_mapped_file (MtlBuffer *buffer)
{
  GFileInfo *info = (gpointer) buffer;
  guint64 offset = 5;

  g_assert_null (mtl_buffer_dup_mapped_file (buffer, &offset, &info));
  g_assert_null (info);
  g_assert_cmpuint (offset, ==, 0);
}

static void
test_no_mapped_file (TestFolder    *folder,
                     gconstpointer  data)
{
  g_autoptr (GFile) file = write_pattern (folder, "file", 10);
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlBuffer) empty = map_file (file, 10, 0);
  g_autoptr (MtlBuffer) mapped = map_file (file, 0, 10);
  g_autoptr (MtlBuffer) copy = mtl_buffer_copy (mapped, NULL, &error);
  g_autoptr (MtlBuffer) made = mtl_buffer_new (NULL, 10, MTL_STORAGE_MODE_HOST, &error);
  g_autoptr (MtlBuffer) bare = g_object_new (MTL_TYPE_BUFFER, NULL);

  g_assert_no_error (error);
  assert_no_mapped_file (empty);
  assert_no_mapped_file (copy);
  assert_no_mapped_file (made);
  assert_no_mapped_file (bare);
}

/* The content is that of the file that was mapped, not of the one there now. */
static void
test_mapped_file_was_replaced (TestFolder    *folder,
                               gconstpointer  data)
{
  g_autoptr (GFile) file = write_pattern (folder, "file", 50000);
  g_autoptr (MtlBuffer) buffer = map_file (file, 100, 49900);
  g_autoptr (GFileInfo) info = NULL;
  g_autoptr (GFile) found = NULL;
  guint64 offset;

  g_assert_cmpint (g_unlink (g_file_peek_path (file)), ==, 0);
  g_object_unref (write_pattern (folder, "file", 7));
  found = mtl_buffer_dup_mapped_file (buffer, &offset, &info);
  g_assert_true (g_file_equal (found, file));
  g_assert_cmpuint (offset, ==, 100);
  g_assert_cmpint (g_file_info_get_size (info), ==, 50000);
}

static void
test_view (TestFolder    *folder,
           gconstpointer  data)
{
  const gint16 values[] = { 1, -2, 3 };
  g_autoptr (GFile) file = write_file (folder, "file", values, sizeof values);
  g_autoptr (MtlBuffer) buffer = map_file (file, 0, sizeof values);
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedLayout) layout = mtl_strided_layout_new_dense (DIMS (3), MTL_ORDER_C, 16,
                                                                      &error);
  g_autoptr (MtlStridedView) view = mtl_strided_view_new (buffer, layout, MTL_DTYPE_INT16, 0,
                                                          &error);

  g_assert_no_error (error);
  assert_elements (view, 1, -2, 3);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  add_folder_test ("/Buffer/mapped/ranges", test_ranges);
  add_folder_test ("/Buffer/mapped/background", test_background);
  add_folder_test ("/Buffer/mapped/empty-file", test_empty_file);
  add_folder_test ("/Buffer/mapped/out-of-bounds", test_out_of_bounds);
  add_folder_test ("/Buffer/mapped/cancelled", test_cancelled);
  add_folder_test ("/Buffer/mapped/kinds", test_kinds);
  add_folder_test ("/Buffer/mapped/file-is-closed", test_file_is_closed);
  add_folder_test ("/Buffer/mapped/replaced-and-removed", test_replaced_and_removed);
  add_folder_test ("/Buffer/mapped/read-only", test_read_only);
  add_folder_test ("/Buffer/mapped/keeps-pages", test_keeps_pages);
  add_folder_test ("/Buffer/mapped/mapped-file", test_mapped_file);
  add_folder_test ("/Buffer/mapped/no-mapped-file", test_no_mapped_file);
  add_folder_test ("/Buffer/mapped/mapped-file-was-replaced", test_mapped_file_was_replaced);
  add_folder_test ("/Buffer/mapped/view", test_view);

  return g_test_run ();
}
