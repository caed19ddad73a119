/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The datatypes that MPI gets of views: sizes, places and numbers, counts beyond an int, failures
 * of MPI, views that are refused. */

#include "mpi-fixture.h"

#include <sys/mman.h>

#if MPI_VERSION >= 4
#define get_size MPI_Type_size_c
#else
#define get_size MPI_Type_size_x
#endif

static MPI_Datatype
create (MtlStridedView *view)
{
  g_autoptr (GError) error = NULL;
  MPI_Datatype datatype;

  g_assert_true (mtl_mpi_create_datatype (view, &datatype, &error));
  g_assert_no_error (error);
  return datatype;
}

/* The bytes that the elements have together, and those that they touch from the first one. */
static void
assert_datatype (MtlStridedView *view,
                 gint64          size,
                 gint64          first,
                 gint64          end)
{
  MPI_Datatype datatype = create (view);
  MPI_Count n_bytes;
  MPI_Aint lower, extent;

  get_size (datatype, &n_bytes);
  MPI_Type_get_true_extent (datatype, &lower, &extent);
  g_assert_cmpint (n_bytes, ==, size);
  g_assert_cmpint (lower, ==, first);
  g_assert_cmpint (extent, ==, end - first);
  MPI_Type_free (&datatype);
  assert_unused (view);
}

static void
test_places (void)
{
  g_autoptr (MtlStridedView) grid = host_zeros (MTL_DTYPE_FLOAT64, DIMS (10, 7));
  static const struct { const char *slice; gint64 size, first, end; } cases[] = {
    { ":", 560, 0, 560 },
    { "3", 56, 0, 56 },
    { "3, 4", 8, 0, 8 },
    { ":, 2", 80, 0, 9 * 56 + 8 },
    { "::-1, 2", 80, -9 * 56, 8 },
    { "::-3, ::-2", 128, -9 * 56 - 48, 8 },
    { "2:5, 1:4", 72, 0, 2 * 56 + 24 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (MtlStridedView) view = slice (grid, cases[i].slice);

      assert_datatype (view, cases[i].size, cases[i].first, cases[i].end);
    }
}

static void
test_few_elements (void)
{
  g_autoptr (MtlStridedView) one = host_zeros (MTL_DTYPE_COMPLEX64, NO_DIMS);
  g_autoptr (MtlStridedView) none = host_zeros (MTL_DTYPE_FLOAT32, DIMS (3, 0, 5));
  g_autoptr (MtlStridedView) ones = host_zeros (MTL_DTYPE_UINT8, DIMS (1, 1, 1));
  MPI_Datatype datatype;
  int size;

  assert_datatype (one, 8, 0, 8);
  assert_datatype (ones, 1, 0, 1);

  datatype = create (none);
  MPI_Type_size (datatype, &size);
  g_assert_cmpint (size, ==, 0);
  MPI_Type_free (&datatype);
}

static gboolean
is_named (MPI_Datatype datatype)
{
  int n_integers, n_addresses, n_datatypes_in_it, combiner;

  MPI_Type_get_envelope (datatype, &n_integers, &n_addresses, &n_datatypes_in_it, &combiner);
  return combiner == MPI_COMBINER_NAMED;
}

/* Takes a datatype apart, to the only one of MPI's own in it. */
static MPI_Datatype
find_leaf (MPI_Datatype datatype)
{
  int n_integers, n_addresses, n_parts, combiner;
  int integers[4];
  MPI_Aint addresses[4];
  MPI_Datatype part, leaf;

  if (is_named (datatype))
    return datatype;

  MPI_Type_get_envelope (datatype, &n_integers, &n_addresses, &n_parts, &combiner);
  g_assert_cmpint (n_parts, ==, 1);
  MPI_Type_get_contents (datatype, n_integers, n_addresses, n_parts, integers, addresses, &part);
  leaf = find_leaf (part);
  if (!is_named (part))
    PMPI_Type_free (&part);
  return leaf;
}

static void
test_numbers (void)
{
  gsize n_types;
  const ElementType *types = get_element_types (&n_types);
  guint8 memory[512] = { 0 };
  const gint64 shape[] = { 3, 4 }, strides[] = { 8, 2 };

  for (gsize i = 0; i < n_types; i++)
    {
      const gint64 item_size = get_item_size (&types[i]);
      g_autoptr (MtlStridedView) view = new_view (memory, &types[i], shape, strides, 2, 1, TRUE);
      MPI_Datatype datatype = create (view);

      g_assert_true (find_leaf (datatype) == types[i].number);
      MPI_Type_free (&datatype);
      assert_datatype (view, 12 * item_size, 0, 23 * item_size);
    }
}

/* Bytes of packed elements, if rows of them are whole. */
static void
test_packed_elements (void)
{
  g_autoptr (MtlStridedView) packed = host_zeros (MTL_DTYPE_FLOAT4_E2M1FN, DIMS (5, 8));
  g_autoptr (MtlStridedView) rows = slice (packed, "::-2, 2:6");
  g_autoptr (MtlStridedView) dense = slice (packed, "1::2");
  g_autoptr (MtlStridedView) odd = slice (packed, "1, 1:4");
  g_autoptr (MtlStridedView) shifted = slice (packed, "1, 1:5");
  g_autoptr (MtlStridedView) column = slice (packed, ":, 2");
  g_autoptr (MtlStridedView) one = slice (packed, "1, 2");
  g_autoptr (MtlStridedView) apart = slice (packed, ":, ::2");
  g_autoptr (MtlStridedView) uneven = host_zeros (MTL_DTYPE_FLOAT4_E2M1FN, DIMS (4, 5));
  g_autoptr (MtlStridedView) between = slice (uneven, ":, :2");
  g_autoptr (MtlStridedView) wide = host_zeros (MTL_DTYPE_FLOAT6_E2M3FN, DIMS (2, 2));
  g_autoptr (MtlStridedView) none = slice (packed, "1:1");
  MtlStridedView *refused[] = { odd, shifted, column, one, apart, between };

  assert_datatype (packed, 20, 0, 20);
  assert_datatype (rows, 6, -16, 2);
  assert_datatype (dense, 8, 0, 12);
  assert_datatype (wide, 3, 0, 3);
  g_assert_cmpint (mtl_strided_view_get_volume (none), ==, 0);
  assert_datatype (none, 0, 0, 0);

  for (gsize i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      MPI_Datatype datatype = MPI_INT;
      GError *error = NULL;

      g_assert_false (mtl_mpi_create_datatype (refused[i], &datatype, &error));
      assert_failed (error, MTL_ERROR_NOT_SUPPORTED, "4 & 8");
      g_assert_true (datatype == MPI_DATATYPE_NULL);
      assert_unused (refused[i]);
    }
}

/* Repeated elements need no memory. */
static void
test_repeated_elements (void)
{
  static const struct { gint64 shape[3]; } cases[] = {
    { { POW2 (32) + 5, 1, 1 } },
    { { POW2 (17), POW2 (17), 1 } },
    { { 3 * (POW2 (31) - 1), 1, 1 } },
    { { POW2 (31), 1, 1 } },
    { { POW2 (31) - 1, 1, 1 } },
    { { POW2 (61), 1, 1 } },
    { { POW2 (40), POW2 (20), 3 } },
  };
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlStridedView) one = host_zeros (MTL_DTYPE_INT16, DIMS (1));
  g_autoptr (MtlStridedView) large = host_zeros (MTL_DTYPE_COMPLEX128, DIMS (1));
  g_autoptr (MtlStridedView) too_large =
    mtl_strided_view_broadcast_to (large, DIMS (POW2 (60)), &local_error);
  MPI_Datatype datatype;
  GError *error = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const gint64 *shape = cases[i].shape;
      g_autoptr (MtlStridedView) repeated =
        mtl_strided_view_broadcast_to (one, shape, 3, &local_error);

      g_assert_no_error (local_error);
      assert_datatype (repeated, 2 * shape[0] * shape[1] * shape[2], 0, 2);
    }

  g_assert_no_error (local_error);
  g_assert_false (mtl_mpi_create_datatype (too_large, &datatype, &error));
  assert_failed (error, MTL_ERROR_OVERFLOW, "1152921504606846976 & 128 & 9223372036854775807");
  g_assert_false (mtl_mpi_send (too_large, 0, 0, MPI_COMM_SELF, &error));
  assert_failed (error, MTL_ERROR_OVERFLOW, "1152921504606846976 & 128 & 9223372036854775807");
  assert_unused (too_large);
}

/* Axes that cannot be merged, as many as a view can have with 2^62 elements. */
static void
test_many_axes (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = NULL;
  guint8 bytes[40] = { 0 };
  gint64 shape[64], strides[64];

  for (gsize i = 0; i < G_N_ELEMENTS (shape); i++)
    {
      shape[i] = i < 62 ? 2 : 1;
      strides[i] = i % 2;
    }
  view = mtl_strided_view_new_for_data (bytes, sizeof bytes, MTL_DTYPE_UINT8, shape, 64, strides, 64,
                                        0, MTL_BUFFER_FLAGS_NONE, NULL, NULL, &error);
  g_assert_no_error (error);
  assert_datatype (view, POW2 (62), 0, 32);
}

/* More bytes than an int counts, and rows farther apart, in addresses that have no memory. */
static void
test_large_views (void)
{
  const gsize size = (gsize) POW2 (34);
  guint8 *memory = mmap (NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  const ElementType bytes = { { kDLUInt, 8, 1 }, FALSE, MPI_UINT8_T };
  const ElementType shorts = { { kDLInt, 16, 1 }, FALSE, MPI_INT16_T };
  const gint64 n = POW2 (31) + 5;
  g_autoptr (MtlStridedView) dense = NULL;
  g_autoptr (MtlStridedView) backwards = NULL;
  g_autoptr (MtlStridedView) apart = NULL;

  g_assert_true (memory != MAP_FAILED);
  dense = new_view (memory, &bytes, &n, (gint64[]) { 1 }, 1, 1, TRUE);
  assert_datatype (dense, n, 0, n);
  backwards = new_view (memory + 4 * n, &shorts, &n, (gint64[]) { -2 }, 1, 1, TRUE);
  assert_datatype (backwards, 2 * n, -4 * (n - 1), 2);
  apart = new_view (memory, &bytes, (gint64[]) { 4, 3, 100 },
                    (gint64[]) { POW2 (32), POW2 (29), 2 }, 3, 1, TRUE);
  assert_datatype (apart, 1200, 0, 3 * POW2 (32) + 2 * POW2 (29) + 199);
  munmap (memory, size);
}

/* Makes each of MPI's functions fail in turn: nothing is left behind. */
static void
test_failures_of_mpi (void)
{
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlStridedView) grid = host_zeros (MTL_DTYPE_FLOAT32, DIMS (5, 6, 100));
  g_autoptr (MtlStridedView) part = slice (grid, "::-1, ::2, :70");
  g_autoptr (MtlStridedView) repeated =
    mtl_strided_view_broadcast_to (part, DIMS (POW2 (33) + 1, 5, 3, 70), &local_error);
  MPI_Datatype datatype = MPI_INT;
  GError *error = NULL;
  int n_failures;

  g_assert_no_error (local_error);
  for (n_failures = 0;; n_failures++)
    {
      n_calls_until_failure = n_failures + 1;
      if (mtl_mpi_create_datatype (repeated, &datatype, &error))
        break;

      assert_failed_with (error, MTL_MPI_ERROR, MPI_ERR_NO_MEM, "36077725290600");
      g_assert_true (datatype == MPI_DATATYPE_NULL);
      n_calls_until_failure = n_failures + 1;
      g_assert_false (mtl_mpi_send (repeated, MPI_PROC_NULL, 0, MPI_COMM_SELF, &error));
      assert_failed_with (error, MTL_MPI_ERROR, MPI_ERR_NO_MEM, "36077725290600");
      assert_unused (repeated);
    }

  n_calls_until_failure = 0;
  g_assert_no_error (error);
  g_assert_cmpint (n_failures, >, 10);
  MPI_Type_free (&datatype);
  assert_unused (repeated);
}

int
main (int    argc,
      char **argv)
{
  begin_tests (argc, argv);

  g_test_add_func ("/mpi/datatype/places", test_places);
  g_test_add_func ("/mpi/datatype/few-elements", test_few_elements);
  g_test_add_func ("/mpi/datatype/numbers", test_numbers);
  g_test_add_func ("/mpi/datatype/packed-elements", test_packed_elements);
  g_test_add_func ("/mpi/datatype/repeated-elements", test_repeated_elements);
  g_test_add_func ("/mpi/datatype/many-axes", test_many_axes);
  g_test_add_func ("/mpi/datatype/large-views", test_large_views);
  g_test_add_func ("/mpi/datatype/failures-of-mpi", test_failures_of_mpi);

  return end_tests ();
}
