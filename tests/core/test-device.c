/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "test-device.h"

#include <unistd.h>

static void
test_host (void)
{
  MtlDevice *host = mtl_device_get_host ();

  g_assert_true (MTL_IS_DEVICE (host));
  g_assert_true (mtl_device_get_host () == host);
  g_assert_cmpint (mtl_device_get_device_type (host), ==, MTL_DEVICE_TYPE_CPU);
  g_assert_cmpint (mtl_device_get_ordinal (host), ==, 0);
  g_assert_cmpstr (mtl_device_get_name (host), ==, "Host");
  g_assert_true (mtl_device_is_host_accessible (host));
  g_assert_cmpuint (mtl_device_get_max_buffer_size (host), ==, G_MAXSSIZE);
  g_assert_null (mtl_device_get_uuid (host));
  g_assert_cmpuint (mtl_device_get_memory_size (host), >, 1 << 28);
  g_assert_cmpuint (mtl_device_get_page_size (host), ==, sysconf (_SC_PAGESIZE));
}

static void
test_storage_modes (void)
{
  MtlDevice *host = mtl_device_get_host ();

  g_assert_true (mtl_device_supports_storage_mode (host, MTL_STORAGE_MODE_HOST));
  g_assert_true (mtl_device_supports_storage_mode (host, MTL_STORAGE_MODE_DEFAULT));
  g_assert_false (mtl_device_supports_storage_mode (host, MTL_STORAGE_MODE_SHARED));
  g_assert_false (mtl_device_supports_storage_mode (host, MTL_STORAGE_MODE_MANAGED));
  g_assert_false (mtl_device_supports_storage_mode (host, MTL_STORAGE_MODE_PRIVATE));
  g_assert_false (mtl_device_supports_storage_mode (host, MTL_STORAGE_MODE_FOREIGN));

  assert_fails (mtl_buffer_new (host, 8, MTL_STORAGE_MODE_PRIVATE, &error),
                MTL_ERROR_NOT_SUPPORTED, "“private”");
}

/* For each set of modes, the default is the first of them, and there is none without. */
static void
test_default_mode (void)
{
  for (guint modes = 0; modes < 1 << 4; modes++)
    {
      g_autoptr (TestDevice) device = test_device_new (MTL_STORAGE_MODE_HOST);
      g_autoptr (GError) local_error = NULL;
      g_autoptr (MtlBuffer) buffer = NULL;

      device->modes = modes << MTL_STORAGE_MODE_HOST;
      g_assert_cmpint (mtl_device_supports_storage_mode (MTL_DEVICE (device),
                                                         MTL_STORAGE_MODE_DEFAULT), ==, modes != 0);
      if (modes == 0)
        {
          assert_fails (mtl_buffer_new (MTL_DEVICE (device), 8, MTL_STORAGE_MODE_DEFAULT, &error),
                        MTL_ERROR_NOT_SUPPORTED, "“default”");
          continue;
        }

      buffer = mtl_buffer_new (MTL_DEVICE (device), 8, MTL_STORAGE_MODE_DEFAULT, &local_error);
      g_assert_no_error (local_error);
      g_assert_cmpint (mtl_buffer_get_storage_mode (buffer), ==,
                       MTL_STORAGE_MODE_HOST + g_bit_nth_lsf (modes, -1));
    }
}

/* Memory that only the device reaches is written by it. */
static void
test_derived_in_default_mode (void)
{
  g_autoptr (TestDevice) device = test_device_new (MTL_STORAGE_MODE_PRIVATE);
  g_autoptr (GBytes) bytes = g_bytes_new_static ("abcd", 4);
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlBuffer) buffer = NULL;
  g_autoptr (MtlStridedView) view = NULL;
  g_autoptr (MtlStridedView) moved = NULL;
  g_autoptr (MtlStridedView) again = NULL;
  g_autoptr (GBytes) read = NULL;

  buffer = mtl_buffer_new_from_bytes (bytes, MTL_DEVICE (device), MTL_BUFFER_FLAGS_NONE, &error);
  g_assert_no_error (error);
  g_assert_cmpint (mtl_buffer_get_storage_mode (buffer), ==, MTL_STORAGE_MODE_PRIVATE);
  g_assert_true (mtl_buffer_is_read_only (buffer));
  read = mtl_buffer_dup_bytes (buffer, 0, 4, NULL, &error);
  g_assert_true (g_bytes_equal (read, bytes));

  view = mtl_strided_view_new_from_doubles (DOUBLES (1, 2, 3), MTL_DTYPE_INT16, DIMS (3), &error);
  moved = mtl_strided_view_to_device (view, MTL_DEVICE (device), MTL_STORAGE_MODE_DEFAULT, NULL,
                                      &error);
  again = mtl_strided_view_to_device (moved, MTL_DEVICE (device), MTL_STORAGE_MODE_DEFAULT, NULL,
                                      &error);
  g_assert_no_error (error);
  g_assert_true (again == moved);
  g_assert_cmpint (mtl_buffer_get_storage_mode (mtl_strided_view_get_buffer (moved)), ==,
                   MTL_STORAGE_MODE_PRIVATE);
  g_clear_object (&again);

  again = mtl_strided_view_new_zeros (MTL_DEVICE (device), MTL_DTYPE_INT8, DIMS (3),
                                      MTL_STORAGE_MODE_DEFAULT, &error);
  g_assert_no_error (error);
  g_assert_true (mtl_strided_view_get_device (again) == MTL_DEVICE (device));
}

/* The numbers of a whole tensor are copied to and from such memory, converted. */
static void
test_numbers (void)
{
  g_autoptr (TestDevice) device = test_device_new (MTL_STORAGE_MODE_PRIVATE);
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlStridedView) view =
    mtl_strided_view_new_zeros (MTL_DEVICE (device), MTL_DTYPE_INT16, DIMS (2, 3),
                                MTL_STORAGE_MODE_PRIVATE, &local_error);
  g_autoptr (MtlStridedView) columns =
    mtl_strided_view_slice_string (view, ":, ::-2", &local_error);
  g_autofree double *doubles = NULL;
  g_autofree gint64 *int64s = NULL;
  gsize n;

  g_assert_no_error (local_error);
  g_assert_true (mtl_strided_view_set_doubles (columns, DOUBLES (1, 2, 3, -4.5), &local_error));
  g_assert_no_error (local_error);
  int64s = mtl_strided_view_get_int64s (view, &n, &local_error);
  g_assert_no_error (local_error);
  assert_dims (int64s, n, 2, 0, 1, -4, 0, 3);

  g_assert_true (mtl_strided_view_set_int64s (columns, DIMS (5, 6, 7, 8), &local_error));
  doubles = mtl_strided_view_get_doubles (columns, &n, &local_error);
  g_assert_no_error (local_error);
  g_assert_cmpmem (doubles, n * sizeof (double), ((double[]) { 5, 6, 7, 8 }), 4 * sizeof (double));
  assert_refuses (mtl_strided_view_set_doubles (columns, DOUBLES (1, 2, 3, 40000), &error),
                  MTL_ERROR_OVERFLOW, "40000");
}

static void
test_default (void)
{
  g_autoptr (GList) devices = mtl_device_list ();

  g_assert_nonnull (g_list_find (devices, mtl_device_get_host ()));
  g_assert_nonnull (g_list_find (devices, mtl_device_get_default ()));
}

static void
test_get (void)
{
  g_autoptr (GError) error = NULL;
  MtlDevice *device = mtl_device_get (MTL_DEVICE_TYPE_CPU, 0, &error);

  g_assert_no_error (error);
  g_assert_true (device == mtl_device_get_host ());
}

static void
test_get_by_name (void)
{
  static const char *const names[] = { "cpu", "host", "cpu:0", "host:0" };
  static const char *const wrong[] = {
    "", ":", "cpu:", "cpu:x", "cpu:-1", "cpu:+0", "cpu: 0", "cpu:0x0", "cpu:0:0", "cpu0", "CPU",
    "gpu", "unknown", "unknown:0", "cpu:2147483648", "cpu:99999999999999999999",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    g_assert_true (mtl_device_get_by_name (names[i], NULL) == mtl_device_get_host ());
  for (gsize i = 0; i < G_N_ELEMENTS (wrong); i++)
    assert_fails (mtl_device_get_by_name (wrong[i], &error), MTL_ERROR_INVALID_ARGUMENT, wrong[i]);
  assert_fails (mtl_device_get_by_name ("cpu:2147483647", &error), MTL_ERROR_NOT_SUPPORTED,
                "(1, 2147483647)");
  assert_fails (mtl_device_get_by_name ("vulkan:3", &error), MTL_ERROR_NOT_SUPPORTED, "(7, 3)");
}

static void
test_get_missing (void)
{
  assert_fails (mtl_device_get (MTL_DEVICE_TYPE_CPU, 1, &error),
                MTL_ERROR_NOT_SUPPORTED, "(1, 1)");
  assert_fails (mtl_device_get (MTL_DEVICE_TYPE_CUDA, -7, &error),
                MTL_ERROR_NOT_SUPPORTED, "(2, -7)");
  assert_fails (mtl_device_get (MTL_DEVICE_TYPE_UNKNOWN, 5, &error),
                MTL_ERROR_INVALID_ARGUMENT, "(0, 5)");
}

static void
test_properties (void)
{
  g_autoptr (TestDevice) device = test_device_new (MTL_STORAGE_MODE_PRIVATE);
  g_autofree char *name = NULL;
  MtlDeviceType device_type;
  int ordinal;
  guint64 max_buffer_size, page_size;
  gboolean host_accessible;

  g_object_get (device,
                "device-type", &device_type,
                "ordinal", &ordinal,
                "name", &name,
                "host-accessible", &host_accessible,
                "max-buffer-size", &max_buffer_size,
                "page-size", &page_size,
                NULL);

  g_assert_cmpint (device_type, ==, MTL_DEVICE_TYPE_EXT_DEV);
  g_assert_cmpint (ordinal, ==, 3);
  g_assert_cmpstr (name, ==, "Test");
  g_assert_false (host_accessible);
  g_assert_cmpuint (max_buffer_size, ==, 4096);
  g_assert_cmpuint (page_size, ==, 256);
}

static void
test_host_properties (void)
{
  g_autofree char *name = NULL;
  gboolean host_accessible;

  g_object_get (mtl_device_get_host (), "name", &name, "host-accessible", &host_accessible, NULL);

  g_assert_cmpstr (name, ==, "Host");
  g_assert_true (host_accessible);
}

static void
test_synchronize (void)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (TestDevice) device = test_device_new (MTL_STORAGE_MODE_PRIVATE);
  g_autoptr (GError) error = NULL;

  g_assert_true (mtl_device_synchronize (mtl_device_get_host (), NULL, &error));
  g_assert_true (mtl_device_synchronize (mtl_device_get_host (), cancellable, &error));
  g_assert_true (mtl_device_synchronize (MTL_DEVICE (device), cancellable, &error));
  g_assert_no_error (error);
  g_assert_cmpint (device->n_synchronized, ==, 1);

  g_cancellable_cancel (cancellable);
  g_assert_false (mtl_device_synchronize (MTL_DEVICE (device), cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_cmpint (device->n_synchronized, ==, 1);
}

static void
test_derived_buffer (void)
{
  TestDevice *device = test_device_new (MTL_STORAGE_MODE_PRIVATE);
  g_autoptr (GError) local_error = NULL;
  MtlBuffer *buffer = mtl_buffer_new (MTL_DEVICE (device), 16, MTL_STORAGE_MODE_PRIVATE,
                                      &local_error);

  g_assert_no_error (local_error);
  g_assert_cmpint (device->n_allocated, ==, 1);
  g_assert_true (mtl_buffer_get_device (buffer) == MTL_DEVICE (device));
  g_assert_cmpint (mtl_device_get_device_type (mtl_buffer_get_device (buffer)), ==,
                   MTL_DEVICE_TYPE_EXT_DEV);
  g_assert_cmpint (mtl_device_get_ordinal (mtl_buffer_get_device (buffer)), ==, 3);
  g_assert_cmpint (mtl_buffer_get_storage_mode (buffer), ==, MTL_STORAGE_MODE_PRIVATE);
  g_assert_false (mtl_buffer_is_host_accessible (buffer));
  g_assert_true (mtl_buffer_is_device_accessible (buffer));
  g_assert_null (mtl_buffer_get_contents (buffer));
  g_assert_nonnull (mtl_buffer_get_handle (buffer));
  assert_fails (mtl_buffer_get_bytes (buffer, 0, 16, &error),
                MTL_ERROR_NOT_HOST_ACCESSIBLE, "(12, 3)");

  g_assert_true (mtl_buffer_synchronize (buffer, NULL, &local_error));
  g_assert_cmpint (device->n_synchronized, ==, 1);

  g_assert_finalize_object (buffer);
  g_assert_cmpint (device->n_freed, ==, 1);
  g_assert_finalize_object (device);
}

/* The memory holds the device, whatever the caller lets go first. */
static void
test_derived_outlives_its_owner (void)
{
  TestDevice *device = test_device_new (MTL_STORAGE_MODE_PRIVATE);
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlBuffer) buffer = NULL;
  g_autoptr (MtlBuffer) slice = NULL;
  gpointer watched = device;

  buffer = mtl_buffer_new (MTL_DEVICE (device), 16, MTL_STORAGE_MODE_PRIVATE, &error);
  slice = mtl_buffer_slice (buffer, 4, 8, &error);
  g_assert_no_error (error);
  g_object_add_weak_pointer (G_OBJECT (device), &watched);
  g_object_unref (device);
  g_clear_object (&buffer);
  g_assert_nonnull (watched);
  g_assert_cmpint (device->n_freed, ==, 0);
  g_assert_cmpuint (mtl_buffer_get_byte_offset (slice), ==, 4);

  g_clear_object (&slice);
  g_assert_null (watched);
}

static void
test_derived_upload (void)
{
  g_autoptr (TestDevice) device = test_device_new (MTL_STORAGE_MODE_PRIVATE);
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlBuffer) buffer = NULL;
  g_autoptr (MtlBuffer) slice = NULL;
  g_autoptr (GBytes) bytes = g_bytes_new_static ("abcdefgh", 8);
  g_autoptr (GBytes) pattern = g_bytes_new_static ("-+", 2);
  g_autoptr (GBytes) read = NULL;
  g_autoptr (GBytes) read_slice = NULL;

  buffer = mtl_buffer_new (MTL_DEVICE (device), 10, MTL_STORAGE_MODE_PRIVATE, &error);
  g_assert_true (mtl_buffer_set_bytes (buffer, 1, bytes, NULL, &error));
  g_assert_true (mtl_buffer_fill (buffer, 4, 4, pattern, NULL, &error));
  read = mtl_buffer_dup_bytes (buffer, 0, 10, NULL, &error);
  slice = mtl_buffer_slice (buffer, 3, 4, &error);
  read_slice = mtl_buffer_dup_bytes (slice, 1, 3, NULL, &error);
  g_assert_no_error (error);

  g_assert_cmpmem (g_bytes_get_data (read, NULL), g_bytes_get_size (read), "\0abc-+-+h\0", 10);
  g_assert_cmpmem (g_bytes_get_data (read_slice, NULL), g_bytes_get_size (read_slice), "-+-", 3);
  g_assert_cmpint (device->n_fills, ==, 1);
  g_assert_cmpint (device->n_copies, ==, 3);
}

static void
test_derived_refuses (void)
{
  g_autoptr (TestDevice) device = test_device_new (MTL_STORAGE_MODE_PRIVATE);
  g_autoptr (GBytes) bytes = g_bytes_new_static ("abcd", 4);
  int n_destroyed = 0, n_owners = 0;
  char data[4] = { 0 };

  assert_fails (mtl_buffer_new (MTL_DEVICE (device), 4097, MTL_STORAGE_MODE_PRIVATE, &error),
                MTL_ERROR_NO_MEMORY, "4097 & 4096");
  assert_fails (mtl_buffer_new (MTL_DEVICE (device), 4, MTL_STORAGE_MODE_HOST, &error),
                MTL_ERROR_NOT_SUPPORTED, "“host”");
  assert_fails (mtl_buffer_new_for_data (data, 4, MTL_DEVICE (device),
                                         MTL_BUFFER_FLAGS_NEVER_COPY, count_call, &n_destroyed,
                                         &error),
                MTL_ERROR_NEEDS_COPY, "“Test”");
  g_assert_cmpint (n_destroyed, ==, 1);
  assert_fails (mtl_buffer_new_for_handle (data, 4, MTL_DEVICE (device), count_call, &n_owners,
                                           &error),
                MTL_ERROR_NOT_SUPPORTED, "“Test”");
  g_assert_cmpint (n_owners, ==, 1);
  assert_fails (mtl_buffer_new_from_bytes (bytes, MTL_DEVICE (device), MTL_BUFFER_FLAGS_NEVER_COPY,
                                           &error),
                MTL_ERROR_NEEDS_COPY, "“Test”");

  device->out_of_memory = TRUE;
  assert_fails (mtl_buffer_new (MTL_DEVICE (device), 77, MTL_STORAGE_MODE_PRIVATE, &error),
                MTL_ERROR_NO_MEMORY, "77");
  g_assert_cmpint (device->n_allocated, ==, 0);
}

static void
test_derived_to_device (void)
{
  TestDevice *device = test_device_new (MTL_STORAGE_MODE_PRIVATE);
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = NULL;
  g_autoptr (MtlStridedView) reversed = NULL;
  g_autoptr (MtlStridedView) uploaded = NULL;
  g_autoptr (MtlStridedView) row = NULL;
  g_autoptr (MtlStridedView) downloaded = NULL;
  g_autoptr (MtlStridedView) again = NULL;

  view = mtl_strided_view_new_from_doubles (DOUBLES (1, 2, 3, 4, 5, 6), MTL_DTYPE_INT16,
                                            DIMS (2, 3), &error);
  reversed = mtl_strided_view_slice_string (view, "::-1, 1:", &error);
  uploaded = mtl_strided_view_to_device (reversed, MTL_DEVICE (device), MTL_STORAGE_MODE_PRIVATE,
                                         NULL, &error);
  g_assert_no_error (error);
  g_assert_true (mtl_strided_view_get_device (uploaded) == MTL_DEVICE (device));
  g_assert_false (mtl_strided_view_is_host_accessible (uploaded));
  g_assert_null (mtl_strided_view_get_data (uploaded));

  again = mtl_strided_view_to_device (uploaded, MTL_DEVICE (device), MTL_STORAGE_MODE_PRIVATE, NULL,
                                      &error);
  g_assert_true (again == uploaded);

  row = mtl_strided_view_select (uploaded, 0, 1, &error);
  downloaded = mtl_strided_view_to_device (row, mtl_device_get_host (), MTL_STORAGE_MODE_HOST, NULL,
                                           &error);
  g_assert_no_error (error);
  assert_elements (downloaded, 2, 3);

  g_clear_object (&again);
  g_clear_object (&row);
  g_assert_finalize_object (g_steal_pointer (&uploaded));
  g_assert_cmpint (device->n_allocated, ==, 1);
  g_assert_cmpint (device->n_freed, ==, 1);
  g_assert_finalize_object (device);
}

/* Two elements of 4 bits to a byte: the part that goes up begins at a byte of
 * its own. */
static void
test_derived_to_device_packed (void)
{
  g_autoptr (TestDevice) device = test_device_new (MTL_STORAGE_MODE_PRIVATE);
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = g_bytes_new_static ("\x21\x43\x65\x87", 4);
  g_autoptr (MtlStridedView) view = NULL;
  g_autoptr (MtlStridedView) tail = NULL;
  g_autoptr (MtlStridedView) uploaded = NULL;
  g_autoptr (GBytes) read = NULL;

  view = mtl_strided_view_new_from_bytes (bytes, MTL_DTYPE_FLOAT4_E2M1FN, DIMS (8), &error);
  tail = mtl_strided_view_slice_string (view, "4:", &error);
  uploaded = mtl_strided_view_to_device (tail, MTL_DEVICE (device), MTL_STORAGE_MODE_PRIVATE, NULL,
                                         &error);
  g_assert_no_error (error);
  read = mtl_buffer_dup_bytes (mtl_strided_view_get_buffer (uploaded), 0, 2, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpmem (g_bytes_get_data (read, NULL), g_bytes_get_size (read), "\x65\x87", 2);
}

static void
test_derived_elements (void)
{
  g_autoptr (TestDevice) device = test_device_new (MTL_STORAGE_MODE_PRIVATE);
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlBuffer) buffer = NULL;
  g_autoptr (MtlStridedLayout) layout = NULL;
  g_autoptr (MtlStridedView) view = NULL;
  g_autoptr (MtlStridedView) transposed = NULL;
  g_autoptr (MtlStridedView) copy = NULL;
  g_autofree char *text = NULL;
  g_autofree char *described = NULL;

  buffer = mtl_buffer_new (MTL_DEVICE (device), 24, MTL_STORAGE_MODE_PRIVATE, &local_error);
  layout = mtl_strided_layout_new (DIMS (2, 3), NULL, 0, 32, &local_error);
  view = mtl_strided_view_new (buffer, layout, MTL_DTYPE_INT32, 0, &local_error);
  g_assert_no_error (local_error);
  transposed = mtl_strided_view_transpose (view);
  assert_refuses (mtl_strided_view_get_double (view, DIMS (0, 0), &error) != 0,
                  MTL_ERROR_NOT_HOST_ACCESSIBLE, "(12, 3)");

  /* Operations on all elements go through a copy of them. */
  g_assert_true (mtl_strided_view_fill_double (view, 1, NULL, &local_error));
  copy = mtl_strided_view_copy (transposed, MTL_ORDER_C, NULL, &local_error);
  g_assert_no_error (local_error);
  g_assert_true (mtl_strided_view_get_device (copy) == MTL_DEVICE (device));
  assert_elements (copy, 1, 1, 1, 1, 1, 1);
  text = mtl_strided_view_format (view, 6);
  g_assert_cmpstr (text, ==, "[[1 1 1]\n [1 1 1]]");
  described = mtl_strided_view_format (view, 5);
  g_assert_cmpstr (described, ==, "<int32 (2, 3) on device (12, 3)>");
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/Device/host", test_host);
  g_test_add_func ("/Device/storage-modes", test_storage_modes);
  g_test_add_func ("/Device/default", test_default);
  g_test_add_func ("/Device/default-mode", test_default_mode);
  g_test_add_func ("/Device/derived/in-default-mode", test_derived_in_default_mode);
  g_test_add_func ("/Device/derived/numbers", test_numbers);
  g_test_add_func ("/Device/get", test_get);
  g_test_add_func ("/Device/get/by-name", test_get_by_name);
  g_test_add_func ("/Device/get/missing", test_get_missing);
  g_test_add_func ("/Device/properties", test_properties);
  g_test_add_func ("/Device/properties/host", test_host_properties);
  g_test_add_func ("/Device/synchronize", test_synchronize);
  g_test_add_func ("/Device/derived/buffer", test_derived_buffer);
  g_test_add_func ("/Device/derived/outlives-its-owner", test_derived_outlives_its_owner);
  g_test_add_func ("/Device/derived/upload", test_derived_upload);
  g_test_add_func ("/Device/derived/refuses", test_derived_refuses);
  g_test_add_func ("/Device/derived/to-device", test_derived_to_device);
  g_test_add_func ("/Device/derived/to-device/packed", test_derived_to_device_packed);
  g_test_add_func ("/Device/derived/elements", test_derived_elements);

  return g_test_run ();
}
