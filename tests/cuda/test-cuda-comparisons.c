/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Comparisons of elements on the device, compared with those of the same elements on the host. */

#include "cuda-fixture.h"

#include "drawn-views.h"

static MtlStridedView *
copy_as (MtlStridedView *view,
         MtlDType        dtype)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *copy = host_zeros (dtype, mtl_strided_view_get_shape (view, NULL),
                                     mtl_strided_view_get_n_dims (view));

  g_assert_true (mtl_strided_view_copy_from (copy, view, NULL, &error));
  g_assert_no_error (error);
  return copy;
}

static gboolean
compare (MtlStridedView  *a,
         MtlStridedView  *b,
         double           tolerance,
         MtlCompareFlags  flags)
{
  g_autoptr (GError) error = NULL;
  gboolean is_same;

  is_same = tolerance == 0
              ? mtl_strided_view_array_equal (a, b, flags, NULL, &error)
              : mtl_strided_view_all_close (a, b, tolerance, tolerance / 3, flags, NULL, &error);
  g_assert_no_error (error);
  return is_same;
}

static gboolean
check (const ViewPair  *a,
       const ViewPair  *b,
       double           tolerance,
       MtlCompareFlags  flags)
{
  gboolean expected = compare (a->host, b->host, tolerance, flags);

  g_assert_cmpint (compare (a->device, b->device, tolerance, flags), ==, expected);
  return expected;
}

/* Mostly conversions of the same elements, of which one may be another. */
static void
test_random (void)
{
  int n_same = 0, n_different = 0;

  for (int i = 0; i < 400; i++)
    {
      const gint64 shape[] = { pick (3, 40), pick (3, 40) };
      const char *part = pick_slice ();
      double tolerance = happens (50) ? 0 : 0.3;
      MtlCompareFlags flags = happens (70) ? MTL_COMPARE_FLAGS_EQUAL_NAN : 0;
      g_autoptr (MtlStridedView) first = draw_view (pick_dtype (), shape, 2);
      MtlDType dtype = happens (50) ? mtl_strided_view_get_dtype (first) : pick_dtype ();
      g_autoptr (MtlStridedView) second = copy_as (first, dtype);
      g_auto (ViewPair) a = view_pair_new (first, part);
      g_auto (ViewPair) b = { NULL };

      if (happens (30))
        ((guint8 *) mtl_strided_view_get_data (second))[pick (0, shape[1] / 4)] ^= 1;
      b = view_pair_new (second, part);
      *(check (&a, &b, tolerance, flags) ? &n_same : &n_different) += 1;
    }

  g_test_message ("%d the same, %d different", n_same, n_different);
  g_assert_cmpint (n_same, >, 20);
  g_assert_cmpint (n_different, >, 20);
}

/* Any element counts, the last one of a large view, too. */
static void
test_last_element (void)
{
  g_autoptr (MtlStridedView) first = host_zeros (MTL_DTYPE_FLOAT32, DIMS (1, 300001));
  g_auto (ViewPair) a = view_pair_new (first, "...");

  for (int i = 0; i < 3; i++)
    {
      g_autoptr (MtlStridedView) second = host_zeros (MTL_DTYPE_FLOAT32, DIMS (1, 300001));
      g_auto (ViewPair) b = { NULL };

      if (i > 0)
        ((float *) mtl_strided_view_get_data (second))[i == 1 ? 0 : 300000] = 1;
      b = view_pair_new (second, "...");
      g_assert_cmpint (check (&a, &b, 0, 0), ==, i == 0);
    }
}

static void
test_shapes (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) host = draw_view (MTL_DTYPE_INT16, DIMS (6, 8));
  g_autoptr (MtlStridedView) view = to_gpu (host);
  g_autoptr (MtlStridedView) other = mtl_strided_view_reshape (view, DIMS (8, 6), &error);
  g_autoptr (MtlStridedView) part = slice (view, "1:");
  g_autoptr (MtlStridedView) nothing = slice (view, ":0");

  g_assert_no_error (error);
  g_assert_true (compare (view, view, 0, 0));
  g_assert_false (compare (other, view, 0, 0));
  g_assert_false (compare (part, view, 0, 0));
  g_assert_true (compare (nothing, nothing, 0, 0));
}

/* Only a word comes back, whatever the size. */
static void
test_on_gpu (void)
{
  g_autoptr (MtlStridedView) host = draw_view (MTL_DTYPE_INT32, DIMS (500, 700));
  g_auto (ViewPair) pair = view_pair_new (host, "::-1, 1::2");
  unsigned n_launches = dbl.calls ("cuLaunchKernel");
  unsigned n_copies = dbl.calls ("cuMemcpyAsync");

  g_assert_true (compare (pair.device, pair.device, 0, 0));
  g_assert_cmpuint (dbl.calls ("cuLaunchKernel"), ==, n_launches + 1);
  g_assert_cmpuint (dbl.calls ("cuMemcpyAsync"), ==, n_copies + 1);
}

static void
test_cancelled (void)
{
  g_autoptr (MtlStridedView) host = draw_view (MTL_DTYPE_INT32, DIMS (5, 7));
  g_autoptr (MtlStridedView) view = to_gpu (host);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;

  g_cancellable_cancel (cancellable);
  g_assert_false (mtl_strided_view_array_equal (view, view, 0, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  set_up_cuda ();

  add_cuda_test ("/CudaComparisons/random", test_random);
  add_cuda_test ("/CudaComparisons/last-element", test_last_element);
  add_cuda_test ("/CudaComparisons/shapes", test_shapes);
  add_double_test ("/CudaComparisons/on-gpu", test_on_gpu);
  add_cuda_test ("/CudaComparisons/cancelled", test_cancelled);

  return g_test_run ();
}
