/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Ranges of numbers, compared with elements that are set one by one. */

#include "test-utils.h"

#include <math.h>

#define N_MAX 3000 /* more than are made at a time */

static const MtlDType types[] = {
  MTL_DTYPE_BOOL, MTL_DTYPE_INT8, MTL_DTYPE_UINT8, MTL_DTYPE_INT16, MTL_DTYPE_UINT16,
  MTL_DTYPE_INT32, MTL_DTYPE_UINT32, MTL_DTYPE_INT64, MTL_DTYPE_UINT64, MTL_DTYPE_INT4,
  MTL_DTYPE_UINT2, MTL_DTYPE_FLOAT16, MTL_DTYPE_BFLOAT16, MTL_DTYPE_FLOAT32, MTL_DTYPE_FLOAT64,
  MTL_DTYPE_FLOAT8_E4M3FN, MTL_DTYPE_FLOAT8_E5M2, MTL_DTYPE_FLOAT6_E3M2FN,
  MTL_DTYPE_FLOAT4_E2M1FN, MTL_DTYPE_COMPLEX32, MTL_DTYPE_COMPLEX64, MTL_DTYPE_COMPLEX128,
};

static MtlDType
random_type (void)
{
  return types[g_test_rand_int_range (0, G_N_ELEMENTS (types))];
}

static void
assert_same (MtlStridedView *view,
             MtlStridedView *expected)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = mtl_strided_view_dup_bytes (view, NULL, &error);
  g_autoptr (GBytes) expected_bytes = mtl_strided_view_dup_bytes (expected, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpint (mtl_strided_view_get_dtype (view), ==, mtl_strided_view_get_dtype (expected));
  g_assert_cmpint (mtl_strided_view_get_volume (view), ==, mtl_strided_view_get_volume (expected));
  g_assert_true (g_bytes_equal (bytes, expected_bytes));
}

/* Does what set() does for each number: either none is refused, or the first or the last
 * one is, and so is the range. */
#define CHECK(type, set, make, dtype, start, stop, step, n, number) \
  G_STMT_START \
    { \
      gint64 n_ = (n); \
      g_autoptr (GError) error = NULL, refused = NULL; \
      g_autoptr (MtlStridedView) view = make (NULL, dtype, start, stop, step, \
                                              MTL_STORAGE_MODE_DEFAULT, &refused); \
      g_autoptr (MtlStridedView) expected = \
        (mtl_strided_view_new_zeros) (mtl_device_get_host (), dtype, &n_, 1, \
                                      MTL_STORAGE_MODE_DEFAULT, &error); \
      g_assert_no_error (error); \
      for (gint64 i = 0; i < n_ && error == NULL; i++) \
        { \
          type value_ = (number); \
          set (expected, &i, 1, value_, &error); \
        } \
      if (error == NULL) \
        { \
          g_assert_no_error (refused); \
          assert_same (view, expected); \
        } \
      else \
        { \
          g_assert_null (view); \
          g_assert_error (refused, MTL_ERROR, MTL_ERROR_OVERFLOW); \
        } \
    } \
  G_STMT_END

/* The numbers are NumPy's: the first two are not computed like the others. */
static double
nth_double (double start,
            double step,
            gint64 i)
{
  volatile double second = start + step, distance = second - start, product = i * distance;

  return i == 0 ? start : i == 1 ? second : start + product;
}

static void
test_random_doubles (void)
{
  static const double scales[] = { 0.001, 0.1, 1, 7, 1000, 1e10, 1e300 };

  for (int round = 0; round < 2000; round++)
    {
      MtlDType dtype = random_type ();
      double scale = scales[g_test_rand_int_range (0, G_N_ELEMENTS (scales))];
      double start = g_test_rand_bit () ? g_test_rand_double_range (-scale, scale)
                                        : (double) g_test_rand_int_range (-9, 9);
      double step = g_test_rand_bit () ? g_test_rand_double_range (-0.1, 1) * scale : 1;
      gint64 n = g_test_rand_int_range (0, g_test_rand_bit () ? N_MAX : 12);
      double stop = start + (n - 0.5) * step;

      if (step != 0 && isfinite (stop) && ceil ((stop - start) / step) == n)
        CHECK (double, mtl_strided_view_set_double, mtl_strided_view_new_arange, dtype, start,
               stop, step, n, nth_double (start, step, i));
    }
}

static void
test_random_integers (void)
{
  for (int round = 0; round < 2000; round++)
    {
      MtlDType dtype = random_type ();
      int bits = g_test_rand_int_range (1, 60);
      gint64 start = g_test_rand_int_range (-4, 4) * POW2 (bits) / 4;
      gint64 step = g_test_rand_bit () ? g_test_rand_int_range (-5, 5) * (POW2 (bits) / 3000) : 1;
      gint64 n = g_test_rand_int_range (0, g_test_rand_bit () ? N_MAX : 12);
      /* No further than the number after the last. */
      gint64 less = ABS (step) > 1 && n > 0 ? (guint32) g_test_rand_int () % ABS (step) : 0;
      gint64 stop = start + n * step - (step > 0 ? less : -less);

      if (step != 0)
        CHECK (gint64, mtl_strided_view_set_int64, mtl_strided_view_new_arange_int64, dtype, start,
               stop, step, n, start + i * step);
    }
}

/* The difference of the limits does not fit 64 bits with a sign. */
static void
test_integers_at_the_limits (void)
{
  static const struct
  {
    gint64 start, stop, step;
    gint64 n;
    gint64 last;
  } ranges[] = {
    { G_MININT64, G_MAXINT64, G_MAXINT64, 3, G_MAXINT64 - 1 },
    { G_MAXINT64, G_MININT64, G_MININT64, 2, -1 },
    { G_MAXINT64, G_MININT64, -G_MAXINT64, 3, -G_MAXINT64 },
    { G_MININT64, G_MAXINT64, G_MININT64, 0, 0 },
    { G_MAXINT64, G_MAXINT64, 1, 0, 0 },
    { G_MAXINT64 - 2, G_MAXINT64, 1, 2, G_MAXINT64 - 1 },
    { G_MININT64 + 2, G_MININT64, -1, 2, G_MININT64 + 1 },
    { G_MININT64, G_MAXINT64, POW2 (62), 4, POW2 (62) },
    { 0, 1, G_MAXINT64, 1, 0 },
    { 0, -1, G_MININT64, 1, 0 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (ranges); i++)
    {
      g_autoptr (GError) local_error = NULL;
      g_autoptr (MtlStridedView) view =
        mtl_strided_view_new_arange_int64 (NULL, MTL_DTYPE_INT64, ranges[i].start, ranges[i].stop,
                                           ranges[i].step, MTL_STORAGE_MODE_DEFAULT, &local_error);
      gint64 last = ranges[i].n - 1;

      g_assert_no_error (local_error);
      assert_view_shape (view, ranges[i].n);
      if (last < 0)
        continue;
      g_assert_cmpint (mtl_strided_view_get_int64 (view, DIMS (0), NULL), ==, ranges[i].start);
      g_assert_cmpint (mtl_strided_view_get_int64 (view, &last, 1, NULL), ==, ranges[i].last);
    }
}

static MtlStridedView *
doubles (double start,
         double stop,
         double step)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *view = mtl_strided_view_new_arange (NULL, MTL_DTYPE_FLOAT64, start, stop, step,
                                                      MTL_STORAGE_MODE_DEFAULT, &error);

  g_assert_no_error (error);
  return view;
}

static void
test_doubles_at_the_limits (void)
{
  g_autoptr (MtlStridedView) tenths = doubles (1, 1.3, 0.1);
  g_autoptr (MtlStridedView) second = doubles (-0.1331905751111976, 0.5, 0.38319057511119764);
  g_autoptr (MtlStridedView) zero = doubles (-0.0, 2, 1);
  g_autoptr (MtlStridedView) same = doubles (0x1p53, 0x1p53 + 4, 1);
  g_autoptr (MtlStridedView) tiny = doubles (0, 0x1p-1074, 1e300);
  g_autoptr (MtlStridedView) tiny_back = doubles (0, 0x1p-1074, -1e300);
  g_autoptr (MtlStridedView) large = doubles (1.7e308, 1.75e308, 1.7e308);
  g_autoptr (MtlStridedView) back = doubles (1, 0, -0.5);
  g_autoptr (MtlStridedView) down = doubles (-1e308, 1e308, -1);

  assert_elements (tenths, 1, 1 + 0.1, 1 + 2 * (1.1 - 1), 1 + 3 * (1.1 - 1));
  assert_elements (second, -0.1331905751111976, 0.25); /* not the double before 0.25 */
  assert_elements (zero, -0.0, 1);
  assert_elements (same, 0x1p53, 0x1p53, 0x1p53, 0x1p53);
  assert_elements (tiny, 0);
  assert_view_shape (tiny_back, 0);
  assert_elements (large, 1.7e308);
  assert_elements (back, 1, 0.5);
  assert_view_shape (down, 0);
}

#define assert_refused(code, text, ...) \
  assert_fails (mtl_strided_view_new_arange (NULL, __VA_ARGS__, MTL_STORAGE_MODE_DEFAULT, &error), \
                code, text)
#define assert_int64_refused(code, text, ...) \
  assert_fails (mtl_strided_view_new_arange_int64 (NULL, __VA_ARGS__, MTL_STORAGE_MODE_DEFAULT, \
                                                   &error), \
                code, text)

static void
test_refused (void)
{
  assert_refused (MTL_ERROR_INVALID_ARGUMENT, "step", MTL_DTYPE_FLOAT32, 0, 1, 0);
  assert_refused (MTL_ERROR_INVALID_ARGUMENT, "start", MTL_DTYPE_FLOAT32, -INFINITY, 1, 1);
  assert_refused (MTL_ERROR_INVALID_ARGUMENT, "inf", MTL_DTYPE_FLOAT32, 0, INFINITY, 1);
  assert_refused (MTL_ERROR_INVALID_ARGUMENT, "nan", MTL_DTYPE_FLOAT32, 0, 1, NAN);
  assert_refused (MTL_ERROR_OVERFLOW, "1e+19", MTL_DTYPE_FLOAT32, 0, 1e19, 1);
  assert_refused (MTL_ERROR_OVERFLOW, "9223372036854775807", MTL_DTYPE_INT4, 0, 0x1p63, 1);
  assert_refused (MTL_ERROR_OVERFLOW, "inf", MTL_DTYPE_FLOAT32, -1e308, 1e308, 1);
  assert_refused (MTL_ERROR_OVERFLOW, "9223372036854774783", MTL_DTYPE_FLOAT64, 0,
                  0x1p63 - 1024, 1);
  assert_refused (MTL_ERROR_NO_MEMORY, "288230376151711744", MTL_DTYPE_FLOAT64, 0, 0x1p55, 1);
  assert_refused (MTL_ERROR_OVERFLOW, "256.5 & uint8", MTL_DTYPE_UINT8, 0.5, 257, 1);
  assert_refused (MTL_ERROR_OVERFLOW, "-1 & uint8", MTL_DTYPE_UINT8, -1, 0x1p60, 1);
  assert_refused (MTL_ERROR_OVERFLOW, "8 & int4", MTL_DTYPE_INT4, 0, 9, 8);
  assert_refused (MTL_ERROR_NOT_SUPPORTED, "opaque_handle8", MTL_DTYPE_OPAQUE_HANDLE8, 0, 1, 1);
  assert_refused (MTL_ERROR_INVALID_ARGUMENT, "0x0", MTL_DTYPE_OTHER, 0, 1, 1);

  assert_int64_refused (MTL_ERROR_INVALID_ARGUMENT, "0", MTL_DTYPE_FLOAT32, 0, 1, 0);
  assert_int64_refused (MTL_ERROR_OVERFLOW, "9223372036854775807", MTL_DTYPE_FLOAT32, G_MININT64,
                        G_MAXINT64, 1);
  assert_int64_refused (MTL_ERROR_OVERFLOW, "9223372036854775807", MTL_DTYPE_FLOAT32, G_MAXINT64,
                        G_MININT64, -2);
  assert_int64_refused (MTL_ERROR_OVERFLOW, "6148914691236517204", MTL_DTYPE_FLOAT32, G_MININT64,
                        G_MAXINT64, 3);
  assert_int64_refused (MTL_ERROR_NO_MEMORY, "288230376151711744", MTL_DTYPE_UINT64, 0,
                        POW2 (55), 1);
  assert_int64_refused (MTL_ERROR_OVERFLOW, "-1 & uint64", MTL_DTYPE_UINT64, -1,
                        POW2 (60), 1);
  assert_int64_refused (MTL_ERROR_OVERFLOW, "-129 & int8", MTL_DTYPE_INT8, 0, -130, -1);
  assert_int64_refused (MTL_ERROR_NOT_SUPPORTED, "opaque_handle8", MTL_DTYPE_OPAQUE_HANDLE8, 0, 0,
                        1);
  assert_int64_refused (MTL_ERROR_INVALID_ARGUMENT, "0x0", MTL_DTYPE_OTHER, 0, 0, 1);
}

static void
test_storage_modes (void)
{
  MtlDevice *host = mtl_device_get_host ();
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlStridedView) view =
    mtl_strided_view_new_arange (NULL, MTL_DTYPE_INT8, 0, 2, 1, MTL_STORAGE_MODE_HOST,
                                 &local_error);

  g_assert_no_error (local_error);
  g_assert_true (mtl_strided_view_get_device (view) == host);
  assert_fails (mtl_strided_view_new_arange (host, MTL_DTYPE_INT8, 0, 2, 1,
                                             MTL_STORAGE_MODE_SHARED, &error),
                MTL_ERROR_NOT_SUPPORTED, "shared");
  assert_fails (mtl_strided_view_new_arange_int64 (host, MTL_DTYPE_INT8, 0, 0, 1,
                                                   MTL_STORAGE_MODE_PRIVATE, &error),
                MTL_ERROR_NOT_SUPPORTED, "private");
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/StridedView/arange/doubles/random", test_random_doubles);
  g_test_add_func ("/StridedView/arange/doubles/limits", test_doubles_at_the_limits);
  g_test_add_func ("/StridedView/arange/integers/random", test_random_integers);
  g_test_add_func ("/StridedView/arange/integers/limits", test_integers_at_the_limits);
  g_test_add_func ("/StridedView/arange/refused", test_refused);
  add_host_test ("/StridedView/arange/storage-modes", test_storage_modes);

  return g_test_run ();
}
