/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Messages in memory of a device that the host reaches: the device is waited for before, and told
 * of changes afterwards. */

#include "mpi-fixture.h"

#include "test-device.h"

static MtlStridedView *
new_on (TestDevice   *device,
        MtlDType      dtype,
        const gint64 *shape,
        gsize         n_dims)
{
  return zeros_on (MTL_DEVICE (device), dtype, shape, n_dims);
}

static void
pass (MtlStridedView *sent,
      MtlStridedView *received)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (mtl_mpi_sendrecv (sent, 0, 0, received, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE,
                                   &error));
  g_assert_no_error (error);
}

/* The changed bytes are those from the first to the last element. */
static void
test_managed_memory (void)
{
  static const struct
  {
    MtlDType dtype;
    const char *sent;
    const char *received;
    gsize offset, size;
  } cases[] = {
    { MTL_DTYPE_FLOAT32, "0, 5:9", "1, :4", 400, 16 },
    { MTL_DTYPE_FLOAT32, "3, 10:20", "2, 60:70", 1040, 40 },
    { MTL_DTYPE_FLOAT32, ":2, :64", "3:1:-1, 5:69", 820, 656 },
    { MTL_DTYPE_INT4, "0, 4:12", "2, 80:88", 140, 4 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (TestDevice) device = test_device_new (MTL_STORAGE_MODE_MANAGED);
      g_autoptr (MtlStridedView) grid = new_on (device, cases[i].dtype, DIMS (4, 100));
      g_autoptr (MtlStridedView) sent = slice (grid, cases[i].sent);
      g_autoptr (MtlStridedView) received = slice (grid, cases[i].received);
      int n_synchronized;

      for (int j = 0; j < 100; j++)
        set_number_at (grid, 0, j, 0, j % 8);
      device->modified_size = 0;
      n_synchronized = device->n_synchronized;
      pass (sent, received);
      g_assert_true (mtl_strided_view_array_equal (sent, received, MTL_COMPARE_FLAGS_NONE, NULL,
                                                   NULL));
      g_assert_cmpint (device->n_synchronized, >, n_synchronized);
      g_assert_cmpuint (device->modified_offset, ==, cases[i].offset);
      g_assert_cmpuint (device->modified_size, ==, cases[i].size);
      assert_unused (sent);
      assert_unused (received);
    }
}

/* The library reports what it copies to their places. */
static void
test_copies (void)
{
  g_autoptr (TestDevice) device = test_device_new (MTL_STORAGE_MODE_MANAGED);
  g_autoptr (MtlStridedView) grid = new_on (device, MTL_DTYPE_FLOAT32, DIMS (5, 6));
  g_autoptr (MtlStridedView) sent = slice (grid, "::-1, 0");
  g_autoptr (MtlStridedView) received = slice (grid, ":, 5");

  for (int i = 0; i < 5; i++)
    set_number_at (grid, i, 0, 0, i + 1);
  device->modified_size = 0;
  pass (sent, received);
  assert_elements (received, 5, 4, 3, 2, 1);
  g_assert_cmpuint (device->modified_size, >=, 4);
}

static void
test_broken_device (void)
{
  g_autoptr (TestDevice) device = test_device_new (MTL_STORAGE_MODE_MANAGED);
  g_autoptr (MtlStridedView) grid = new_on (device, MTL_DTYPE_FLOAT32, DIMS (5, 6));
  g_autoptr (MtlStridedView) own = host_zeros (MTL_DTYPE_FLOAT32, DIMS (5, 6));
  GError *error = NULL;

  device->is_broken = TRUE;
  g_assert_false (mtl_mpi_send (grid, MPI_PROC_NULL, 0, MPI_COMM_SELF, &error));
  assert_failed (error, MTL_ERROR_DEVICE, "broken");
  g_assert_false (mtl_mpi_recv (grid, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE, &error));
  assert_failed (error, MTL_ERROR_DEVICE, "broken");
  g_assert_false (mtl_mpi_sendrecv (grid, 0, 0, own, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE,
                                    &error));
  assert_failed (error, MTL_ERROR_DEVICE, "broken");
  device->is_broken = FALSE;
  assert_unused (grid);
  assert_unused (own);
}

static void
test_private_memory (void)
{
  g_autoptr (TestDevice) device = test_device_new (MTL_STORAGE_MODE_PRIVATE);
  g_autoptr (MtlStridedView) grid = new_on (device, MTL_DTYPE_FLOAT32, DIMS (5, 6));
  MPI_Datatype datatype;
  GError *error = NULL;

  g_assert_false (mtl_mpi_create_datatype (grid, &datatype, &error));
  assert_failed (error, MTL_ERROR_NOT_HOST_ACCESSIBLE, "(5, 6) & Test");
  g_assert_false (mtl_mpi_send (grid, 0, 0, MPI_COMM_SELF, &error));
  assert_failed (error, MTL_ERROR_NOT_HOST_ACCESSIBLE, "(5, 6) & Test");
  assert_unused (grid);
}

int
main (int    argc,
      char **argv)
{
  begin_tests (argc, argv);

  g_test_add_func ("/mpi/device/managed-memory", test_managed_memory);
  g_test_add_func ("/mpi/device/copies", test_copies);
  g_test_add_func ("/mpi/device/broken-device", test_broken_device);
  g_test_add_func ("/mpi/device/private-memory", test_private_memory);

  return end_tests ();
}
