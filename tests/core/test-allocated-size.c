/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The number of bytes that the library has allocated. */

#include "test-files.h"
#include "test-device.h"

#define N_THREADS 4
#define N_ROUNDS 2000

/* Asserts how much is allocated beyond that now. */
#define assert_allocated(before, size) \
  g_assert_cmpuint (mtl_get_allocated_size (), ==, (before) + (size))

static void
test_counts_allocations (void)
{
  const gsize before = mtl_get_allocated_size ();
  MtlBuffer *first = new_buffer (NULL, 1000, MTL_STORAGE_MODE_HOST);
  MtlBuffer *second;

  assert_allocated (before, 1000);
  second = new_buffer (NULL, 24, MTL_STORAGE_MODE_HOST);
  assert_allocated (before, 1024);
  g_object_unref (first);
  assert_allocated (before, 24);
  g_object_unref (second);
  assert_allocated (before, 0);
}

static void
test_counts_copies (void)
{
  const gsize before = mtl_get_allocated_size ();
  g_autoptr (GError) error = NULL;
  MtlStridedView *view =
    mtl_strided_view_new_zeros (mtl_device_get_host (), MTL_DTYPE_FLOAT32, DIMS (10, 20),
                                MTL_STORAGE_MODE_DEFAULT, &error);
  MtlStridedView *wide, *copy;
  GBytes *bytes;

  g_assert_no_error (error);
  assert_allocated (before, 800);
  wide = mtl_strided_view_to_dtype (view, MTL_DTYPE_FLOAT64, MTL_ORDER_C, NULL, &error);
  g_assert_no_error (error);
  assert_allocated (before, 800 + 1600);
  copy = mtl_strided_view_copy (view, MTL_ORDER_C, NULL, &error);
  g_assert_no_error (error);
  assert_allocated (before, 800 + 1600 + 800);
  bytes = mtl_strided_view_dup_bytes (view, NULL, &error);
  g_assert_no_error (error);
  assert_allocated (before, 800 + 1600 + 800 + 800);

  g_bytes_unref (bytes);
  g_object_unref (copy);
  g_object_unref (wide);
  g_object_unref (view);
  assert_allocated (before, 0);
}

/* Memory counts once, and until the last that shares it has gone. */
static void
test_counts_shared_memory_once (void)
{
  const gsize before = mtl_get_allocated_size ();
  g_autoptr (GError) error = NULL;
  MtlStridedView *view =
    mtl_strided_view_new_zeros (mtl_device_get_host (), MTL_DTYPE_UINT8, DIMS (4, 25),
                                MTL_STORAGE_MODE_DEFAULT, &error);
  MtlStridedView *row;
  MtlDlpackTensor *tensor;
  MtlBuffer *part;
  GBytes *bytes;

  g_assert_no_error (error);
  row = slice (view, "1");
  bytes = mtl_strided_view_get_bytes (view, &error);
  g_assert_no_error (error);
  part = mtl_buffer_slice (mtl_strided_view_get_buffer (view), 10, 20, &error);
  g_assert_no_error (error);
  tensor = mtl_strided_view_export_dlpack (view, MTL_DLPACK_FLAGS_NONE, NULL, &error);
  g_assert_no_error (error);

  assert_allocated (before, 100);
  g_object_unref (view);
  g_bytes_unref (bytes);
  g_object_unref (part);
  g_object_unref (row);
  assert_allocated (before, 100);
  g_object_unref (tensor);
  assert_allocated (before, 0);
}

static void
test_leaves_out_memory_of_others (TestFolder    *folder,
                                  gconstpointer  data)
{
  const gsize before = mtl_get_allocated_size ();
  g_autoptr (GFile) file = write_pattern (folder, "file", 5000);
  g_autoptr (GBytes) bytes = g_bytes_new_static ("0123456789", 10);
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlBuffer) mapped = mtl_buffer_new_mapped (file, NULL, 0, 5000, NULL, &error);
  g_autoptr (MtlBuffer) of_bytes = NULL, of_data = NULL, of_handle = NULL;
  char memory[300];

  g_assert_no_error (error);
  of_bytes = mtl_buffer_new_from_bytes (bytes, mtl_device_get_host (), MTL_BUFFER_FLAGS_NONE,
                                        &error);
  g_assert_no_error (error);
  of_data = mtl_buffer_new_for_data (memory, sizeof memory, mtl_device_get_host (),
                                     MTL_BUFFER_FLAGS_NONE, NULL, NULL, &error);
  g_assert_no_error (error);
  of_handle = mtl_buffer_new_for_handle (memory, sizeof memory, mtl_device_get_host (), NULL, NULL,
                                         &error);
  g_assert_no_error (error);
  assert_allocated (before, 0);
}

static void
test_counts_every_device (void)
{
  const gsize before = mtl_get_allocated_size ();
  g_autoptr (TestDevice) device = test_device_new (MTL_STORAGE_MODE_PRIVATE);
  MtlBuffer *buffer = new_buffer (MTL_DEVICE (device), 70, MTL_STORAGE_MODE_PRIVATE);

  assert_allocated (before, 70);
  device->out_of_memory = TRUE;
  assert_fails (mtl_buffer_new (MTL_DEVICE (device), 71, MTL_STORAGE_MODE_PRIVATE, &error),
                MTL_ERROR_NO_MEMORY, "71");
  assert_allocated (before, 70);
  g_object_unref (buffer);
  assert_allocated (before, 0);
}

static gpointer
make_and_drop (gpointer data)
{
  for (int i = 0; i < N_ROUNDS; i++)
    {
      MtlBuffer *buffer = new_buffer (NULL, i, MTL_STORAGE_MODE_HOST);

      g_assert_cmpuint (mtl_get_allocated_size (), >=, i);
      g_object_unref (buffer);
    }

  return NULL;
}

static void
test_threads (void)
{
  const gsize before = mtl_get_allocated_size ();
  GThread *threads[N_THREADS];

  for (int i = 0; i < N_THREADS; i++)
    threads[i] = g_thread_new ("test", make_and_drop, NULL);
  for (int i = 0; i < N_THREADS; i++)
    g_thread_join (threads[i]);

  assert_allocated (before, 0);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/allocated-size/allocations", test_counts_allocations);
  g_test_add_func ("/allocated-size/copies", test_counts_copies);
  g_test_add_func ("/allocated-size/shared", test_counts_shared_memory_once);
  add_folder_test ("/allocated-size/others", test_leaves_out_memory_of_others);
  g_test_add_func ("/allocated-size/devices", test_counts_every_device);
  g_test_add_func ("/allocated-size/threads", test_threads);

  return g_test_run ();
}
