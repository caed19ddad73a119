/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Statistics of elements on the device, compared with those of the same elements on the host. */

#include "cuda-fixture.h"

#include "drawn-views.h"

static MtlStatistics *
summarize (MtlStridedView *view)
{
  g_autoptr (GError) error = NULL;
  MtlStatistics *statistics = mtl_strided_view_compute_statistics (view, NULL, NULL, NULL, &error);

  g_assert_no_error (error);
  return statistics;
}

/* The text has all that statistics are made of. Doubles are equal to the bit. */
static void
check (const ViewPair *pair)
{
  g_autoptr (MtlStatistics) expected = summarize (pair->host);
  g_autoptr (MtlStatistics) statistics = summarize (pair->device);
  g_autofree char *expected_text = mtl_statistics_to_string (expected);
  g_autofree char *text = mtl_statistics_to_string (statistics);
  const double numbers[] = {
    mtl_statistics_get_mean (statistics), mtl_statistics_get_deviation (statistics),
    mtl_statistics_get_minimum (statistics), mtl_statistics_get_maximum (statistics),
  };
  const double expected_numbers[] = {
    mtl_statistics_get_mean (expected), mtl_statistics_get_deviation (expected),
    mtl_statistics_get_minimum (expected), mtl_statistics_get_maximum (expected),
  };

  g_assert_cmpstr (text, ==, expected_text);
  g_assert_cmpuint (mtl_statistics_get_count (statistics), ==, mtl_statistics_get_count (expected));
  g_assert_cmpuint (mtl_statistics_get_n_nans (statistics), ==,
                    mtl_statistics_get_n_nans (expected));
  g_assert_cmpuint (mtl_statistics_get_n_infinities (statistics), ==,
                    mtl_statistics_get_n_infinities (expected));
  g_assert_cmpuint (mtl_statistics_get_n_zeros (statistics), ==,
                    mtl_statistics_get_n_zeros (expected));
  g_assert_cmpmem (numbers, sizeof numbers, expected_numbers, sizeof expected_numbers);
}

static void
test_random (void)
{
  for (int i = 0; i < 400; i++)
    {
      const gint64 shape[] = { pick (3, 40), pick (3, happens (20) ? 4000 : 40) };
      g_autoptr (MtlStridedView) view = draw_view (pick_dtype (), shape, 2);
      g_auto (ViewPair) pair = view_pair_new (view, pick_slice ());

      check (&pair);
    }
}

/* Repeated elements count as often as they are repeated. */
static void
test_repeats (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) host = draw_view (MTL_DTYPE_FLOAT16, DIMS (7, 1, 5));
  g_autoptr (MtlStridedView) device = to_gpu (host);
  g_auto (ViewPair) pair = { NULL };

  pair.host = mtl_strided_view_broadcast_to (host, DIMS (3, 7, 11, 5), &error);
  g_assert_no_error (error);
  pair.device = mtl_strided_view_broadcast_to (device, DIMS (3, 7, 11, 5), &error);
  g_assert_no_error (error);
  check (&pair);
}

static void
test_empty (void)
{
  g_autoptr (MtlStridedView) host = draw_view (MTL_DTYPE_INT8, DIMS (4, 4));
  g_auto (ViewPair) pair = view_pair_new (host, ":0");

  check (&pair);
}

/* Sums of tiles are made in the host's order, with more than a piece of them, too. */
static void
test_pieces (void)
{
  g_autoptr (MtlStridedView) host = draw_view (MTL_DTYPE_INT16, DIMS (1300, 700));
  g_auto (ViewPair) whole = view_pair_new (host, "...");
  g_auto (ViewPair) strided = view_pair_new (host, "::-1, 1::2");

  check (&whole);
  check (&strided);
}

/* Only what is known of each tile comes back. */
static void
check_on_gpu (MtlDType dtype,
              unsigned n_parts)
{
  g_autoptr (MtlStridedView) host = draw_view (dtype, DIMS (500, 700));
  g_auto (ViewPair) pair = view_pair_new (host, "::-1, 1::2");
  unsigned n_launches = dbl.calls ("cuLaunchKernel");
  unsigned n_copies = dbl.calls ("cuMemcpyAsync");
  g_autoptr (MtlStatistics) statistics = summarize (pair.device);

  g_assert_cmpuint (mtl_statistics_get_count (statistics), ==, 500 * 350);
  g_assert_cmpuint (dbl.calls ("cuLaunchKernel"), ==, n_launches + n_parts);
  g_assert_cmpuint (dbl.calls ("cuMemcpyAsync"), ==, n_copies + 1);
}

static void
test_on_gpu (void)
{
  check_on_gpu (MTL_DTYPE_INT32, 1);
  check_on_gpu (MTL_DTYPE_COMPLEX64, 2);
}

static void
note_progress (goffset  done,
               goffset  total,
               gpointer data)
{
  goffset *last = data;

  g_assert_cmpint (done, >, *last);
  g_assert_cmpint (done, <=, total);
  *last = done;
}

static void
test_progress (void)
{
  g_autoptr (MtlStridedView) host = draw_view (MTL_DTYPE_INT32, DIMS (50, 70));
  g_autoptr (MtlStridedView) view = to_gpu (host);
  g_autoptr (MtlStatistics) statistics = NULL;
  g_autoptr (GError) error = NULL;
  goffset done = 0;

  statistics = mtl_strided_view_compute_statistics (view, NULL, note_progress, &done, &error);
  g_assert_no_error (error);
  g_assert_cmpint (done, ==, 50 * 70 * 4);
}

static void
test_cancelled (void)
{
  g_autoptr (MtlStridedView) host = draw_view (MTL_DTYPE_INT32, DIMS (5, 7));
  g_autoptr (MtlStridedView) view = to_gpu (host);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;

  g_cancellable_cancel (cancellable);
  g_assert_null (mtl_strided_view_compute_statistics (view, cancellable, NULL, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  set_up_cuda ();

  add_cuda_test ("/CudaStatistics/random", test_random);
  add_cuda_test ("/CudaStatistics/repeats", test_repeats);
  add_cuda_test ("/CudaStatistics/empty", test_empty);
  add_cuda_test ("/CudaStatistics/pieces", test_pieces);
  add_double_test ("/CudaStatistics/on-gpu", test_on_gpu);
  add_cuda_test ("/CudaStatistics/progress", test_progress);
  add_cuda_test ("/CudaStatistics/cancelled", test_cancelled);

  return g_test_run ();
}
