/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tensors of files in the memory of GPUs. */

#include "test-tensor-files.h"

#include "metal-tests.h"

/* Writes tensors of bytes and of two numbers, with @n_between bytes between them, which are not
 * written. */
static GFile *
write_tensors (gsize n_between)
{
  g_autofree char *header =
    g_strdup_printf ("{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},"
                     "\"between\":{\"dtype\":\"U8\",\"shape\":[%zu],\"data_offsets\":[4,%zu]},"
                     "\"b\":{\"dtype\":\"I16\",\"shape\":[2],\"data_offsets\":[%zu,%zu]}}",
                     n_between, 4 + n_between, 4 + n_between, 8 + n_between);
  guint64 size = strlen (header), prefix = GUINT64_TO_LE (size);
  g_autoptr (GFileIOStream) stream = NULL;
  g_autoptr (GError) error = NULL;
  GFile *file = g_file_new_tmp (NULL, &stream, &error);
  int fd;

  g_assert_no_error (error);
  fd = g_open (g_file_peek_path (file), O_WRONLY, 0);
  g_assert_cmpint (pwrite (fd, &prefix, 8, 0), ==, 8);
  g_assert_cmpint (pwrite (fd, header, size, 8), ==, (gssize) size);
  g_assert_cmpint (pwrite (fd, "\1\2\3\4", 4, 8 + size), ==, 4);
  g_assert_cmpint (pwrite (fd, "\5\0\xfe\xff", 4, 12 + size + n_between), ==, 4);
  close (fd);
  return file;
}

/* Copies with the GPU, which alone reaches the copy. */
static void
assert_gpu_copies (MtlStridedView *view,
                   double          first,
                   double          second)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) copy =
    mtl_strided_view_to_device (view, mtl_strided_view_get_device (view), MTL_STORAGE_MODE_PRIVATE,
                                NULL, &error);

  g_assert_no_error (error);
  assert_elements (copy, first, second);
}

static gpointer
get_handle (MtlStridedView *view)
{
  return mtl_buffer_get_handle (mtl_strided_view_get_buffer (view));
}

/* All tensors are in one MTLBuffer. */
static void
test_mapped (void)
{
  for (int i = 0; i < N_METAL_DEVICES; i++)
    {
      g_autoptr (GFile) file = write_tensors (100001);
      g_autoptr (MtlTensorFile) tensors =
          open_on_device (file, MTL_TENSOR_FILE_MODE_MAP, get_metal (i));
      g_autoptr (MtlStridedView) a = get_view (tensors, "a");
      g_autoptr (MtlStridedView) b = get_view (tensors, "b");

      g_assert_true (get_handle (a) == get_handle (b));
      g_assert_cmpuint (mtl_strided_view_get_address (b), ==,
                        mtl_strided_view_get_address (a) + 100005);
      g_assert_true (mtl_strided_view_is_read_only (b));
      assert_elements (a, 1, 2, 3, 4);
      assert_gpu_copies (b, 5, -2);
      g_assert_cmpint (g_unlink (g_file_peek_path (file)), ==, 0);
    }
}

/* A file that no buffer holds: each tensor has one of its own. */
static void
test_larger_than_a_buffer (void)
{
  g_autoptr (GFile) file = write_tensors (MAX_BUFFER_SIZE + 1);
  g_autoptr (MtlTensorFile) tensors = open_on_device (file, MTL_TENSOR_FILE_MODE_MAP,
                                                      get_metal (DISCRETE));
  g_autoptr (MtlStridedView) a = get_view (tensors, "a");
  g_autoptr (MtlStridedView) b = get_view (tensors, "b");

  g_assert_true (get_handle (a) != get_handle (b));
  assert_elements (a, 1, 2, 3, 4);
  assert_gpu_copies (b, 5, -2);
  assert_fails (mtl_tensor_file_load_view (tensors, "between", NULL, &error), MTL_ERROR_NEEDS_COPY,
                "“Test Discrete”");
  g_assert_cmpint (g_unlink (g_file_peek_path (file)), ==, 0);
}

static void
test_read (void)
{
  for (int i = 0; i < N_METAL_DEVICES; i++)
    {
      g_autoptr (GFile) file = write_tensors (10);
      g_autoptr (MtlTensorFile) tensors =
          open_on_device (file, MTL_TENSOR_FILE_MODE_READ, get_metal (i));
      g_autoptr (MtlStridedView) b = get_view (tensors, "b");

      g_assert_cmpint (mtl_buffer_get_storage_mode (mtl_strided_view_get_buffer (b)), ==,
                       MTL_STORAGE_MODE_SHARED);
      g_assert_false (mtl_strided_view_is_read_only (b));
      assert_gpu_copies (b, 5, -2);
      g_assert_cmpint (g_unlink (g_file_peek_path (file)), ==, 0);
    }
}

/* All at once, also of a file that no buffer holds. */
static void
test_views (void)
{
  for (int i = 0; i < N_METAL_DEVICES; i++)
    for (MODES (mode))
      {
        g_autoptr (GFile) file = write_tensors (i == DISCRETE && mode == MTL_TENSOR_FILE_MODE_MAP
                                                  ? MAX_BUFFER_SIZE + 1 : 3000000);
        g_autoptr (MtlTensorFile) tensors = open_on_device (file, mode, get_metal (i));
        g_autoptr (GError) error = NULL;
        MtlStridedView **views = get_views (tensors, "?", 2);

        g_assert_true (mtl_tensor_file_prefetch (tensors, views, 2, &error));
        g_assert_no_error (error);
        mtl_tensor_file_close (tensors);
        assert_elements (views[0], 1, 2, 3, 4);
        assert_gpu_copies (views[1], 5, -2);
        free_views (views, 2);
        g_assert_cmpint (g_unlink (g_file_peek_path (file)), ==, 0);
      }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  set_up_metal ();

  add_metal_test ("/MetalTensorFile/mapped", test_mapped);
  add_double_test ("/MetalTensorFile/larger-than-a-buffer", test_larger_than_a_buffer);
  add_metal_test ("/MetalTensorFile/read", test_read);
  add_metal_test ("/MetalTensorFile/views", test_views);

  return g_test_run ();
}
