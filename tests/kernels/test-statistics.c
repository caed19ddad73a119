/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "test-device.h"

#include <math.h>

static const MtlDType dtypes[] = {
  MTL_DTYPE_BOOL, MTL_DTYPE_INT8, MTL_DTYPE_INT16, MTL_DTYPE_INT32, MTL_DTYPE_INT64,
  MTL_DTYPE_UINT8, MTL_DTYPE_UINT16, MTL_DTYPE_UINT32, MTL_DTYPE_UINT64,
  MTL_DTYPE_INT2, MTL_DTYPE_INT4, MTL_DTYPE_UINT2, MTL_DTYPE_UINT4,
  MTL_DTYPE_FLOAT16, MTL_DTYPE_BFLOAT16, MTL_DTYPE_FLOAT32, MTL_DTYPE_FLOAT64,
  MTL_DTYPE_FLOAT8_E4M3FN, MTL_DTYPE_FLOAT8_E5M2, MTL_DTYPE_FLOAT8_E8M0FNU,
  MTL_DTYPE_FLOAT6_E2M3FN, MTL_DTYPE_FLOAT4_E2M1FN,
  MTL_DTYPE_COMPLEX32, MTL_DTYPE_COMPLEX64, MTL_DTYPE_COMPLEX128,
};

/* Statistics by their definitions, from one element after the other. */
typedef struct
{
  guint64 count;
  guint64 n_nans;
  guint64 n_infinities;
  guint64 n_zeros;
  guint64 n_finite;
  double minimum;
  double maximum;
  long double mean[2];
  long double deviation;
} Expected;

typedef void (* VisitFunc) (Expected *self,
                            double    re,
                            double    im);

static gboolean
is_complex (MtlDType dtype)
{
  return dtype == MTL_DTYPE_COMPLEX32 || dtype == MTL_DTYPE_COMPLEX64
         || dtype == MTL_DTYPE_COMPLEX128;
}

static void
visit (MtlStridedView *view,
       Expected       *expected,
       VisitFunc       func)
{
  gint64 indices[8] = { 0 };
  gsize n_dims;
  const gint64 *shape = mtl_strided_view_get_shape (view, &n_dims);
  g_autoptr (GError) error = NULL;

  if (mtl_strided_view_is_empty (view))
    return;

  while (TRUE)
    {
      gsize axis = n_dims;
      double re, im = 0;

      if (is_complex (mtl_strided_view_get_dtype (view)))
        mtl_strided_view_get_complex (view, indices, n_dims, &re, &im, &error);
      else
        re = mtl_strided_view_get_double (view, indices, n_dims, &error);
      g_assert_no_error (error);
      func (expected, re, im);

      while (axis > 0 && ++indices[axis - 1] == shape[axis - 1])
        indices[--axis] = 0;
      if (axis == 0)
        return;
    }
}

static void
count (Expected *self,
       double    re,
       double    im)
{
  gboolean is_nan = isnan (re) || isnan (im);

  self->count++;
  self->n_nans += is_nan;
  self->n_zeros += re == 0 && im == 0;
  if (!isfinite (re) || !isfinite (im))
    {
      self->n_infinities += !is_nan;
      return;
    }

  self->minimum = self->n_finite == 0 ? re : MIN (self->minimum, re);
  self->maximum = self->n_finite == 0 ? re : MAX (self->maximum, re);
  self->n_finite++;
  self->mean[0] += re;
  self->mean[1] += im;
}

static void
add_distance (Expected *self,
              double    re,
              double    im)
{
  if (isfinite (re) && isfinite (im))
    self->deviation += (re - self->mean[0]) * (re - self->mean[0])
                       + (im - self->mean[1]) * (im - self->mean[1]);
}

/* In valgrind and on Apple's processors, long double is no wider than double, and the
 * expected values are rounded as often as there are elements. */
static long double
get_tolerance (void)
{
  volatile long double one = 1;

  return one + 0x1p-60L != one ? 1e-14L : 1e-11L;
}

static void
assert_close (double      actual,
              long double expected,
              long double scale)
{
  if (isnan (expected))
    g_assert_true (isnan (actual));
  else
    g_assert_cmpfloat (fabsl (actual - expected), <=,
                       get_tolerance () * MAX (fabsl (expected), scale));
}

static void
check (MtlStridedView *view,
       MtlStatistics  *statistics)
{
  Expected expected = { 0 };
  gboolean has_order = !is_complex (mtl_strided_view_get_dtype (view));
  double re, im;

  visit (view, &expected, count);
  expected.mean[0] /= expected.n_finite;
  expected.mean[1] /= expected.n_finite;
  visit (view, &expected, add_distance);
  expected.deviation = sqrtl (expected.deviation / expected.n_finite);

  g_assert_cmpint (mtl_statistics_get_dtype (statistics), ==, mtl_strided_view_get_dtype (view));
  g_assert_cmpuint (mtl_statistics_get_count (statistics), ==, expected.count);
  g_assert_cmpuint (mtl_statistics_get_n_nans (statistics), ==, expected.n_nans);
  g_assert_cmpuint (mtl_statistics_get_n_infinities (statistics), ==, expected.n_infinities);
  g_assert_cmpuint (mtl_statistics_get_n_zeros (statistics), ==, expected.n_zeros);
  if (has_order && expected.n_finite > 0)
    {
      g_assert_cmpfloat (mtl_statistics_get_minimum (statistics), ==, expected.minimum);
      g_assert_cmpfloat (mtl_statistics_get_maximum (statistics), ==, expected.maximum);
    }
  else
    {
      g_assert_true (isnan (mtl_statistics_get_minimum (statistics)));
      g_assert_true (isnan (mtl_statistics_get_maximum (statistics)));
    }

  mtl_statistics_get_complex_mean (statistics, &re, &im);
  g_assert_true (mtl_statistics_get_mean (statistics) == re || isnan (re));
  assert_close (re, expected.mean[0], expected.deviation);
  if (!has_order)
    assert_close (im, expected.mean[1], expected.deviation);
  assert_close (mtl_statistics_get_deviation (statistics), expected.deviation, 0);
}

static MtlStatistics *
compute_statistics (MtlStridedView *view)
{
  g_autoptr (GError) error = NULL;
  MtlStatistics *statistics = mtl_strided_view_compute_statistics (view, NULL, NULL, NULL, &error);

  g_assert_no_error (error);
  return statistics;
}

/* Returns a number whose square is neither 0 nor infinite, or a special value at times. */
static double
random_number (MtlDType dtype)
{
  static const double special[] = { 0, -0.0, NAN, INFINITY, -INFINITY, 1, 2 };

  if (g_test_rand_int_range (0, 20) == 0)
    return special[g_test_rand_int_range (0, G_N_ELEMENTS (special))];

  return g_test_rand_double_range (dtype >> 8 == 1 ? 0 : -100, 100);
}

static gboolean
is_integer (MtlDType dtype)
{
  return dtype >> 8 <= 1 || dtype == MTL_DTYPE_BOOL;
}

static MtlStridedView *
new_random (MtlDType      dtype,
            const gint64 *shape,
            gsize         n_dims)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) doubles = NULL;
  MtlStridedView *view;
  g_autofree double *values = NULL;
  gsize n = 1;

  for (gsize i = 0; i < n_dims; i++)
    n *= shape[i];
  values = g_new (double, n);
  for (gsize i = 0; i < n; i++)
    {
      values[i] = random_number (dtype);
      if (is_integer (dtype) && !isfinite (values[i]))
        values[i] = 7;
    }

  doubles = mtl_strided_view_new_from_doubles (values, n, MTL_DTYPE_FLOAT64, shape, n_dims, &error);
  g_assert_no_error (error);
  view = mtl_strided_view_new_uninitialized (NULL, dtype, shape, n_dims, MTL_STORAGE_MODE_DEFAULT,
                                             &error);
  g_assert_no_error (error);
  mtl_strided_view_copy_from (view, doubles, NULL, &error);
  g_assert_no_error (error);
  return view;
}

static void
test_types_and_layouts (void)
{
  static const char *slices[] = {
    "...", "::-1", "1::3, ..., ::-2", ":, 2:5", "..., 1", "::2, ::3, 4:", "0:0", "3, 4, 5",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (dtypes); i++)
    {
      g_autoptr (MtlStridedView) view = new_random (dtypes[i], DIMS (7, 9, 31));
      g_autoptr (MtlStridedView) turned = mtl_strided_view_transpose (view);
      g_autoptr (MtlStridedView) repeated =
        mtl_strided_view_broadcast_to (view, DIMS (2, 7, 9, 31), NULL);

      for (gsize k = 0; k < G_N_ELEMENTS (slices); k++)
        {
          g_autoptr (MtlStridedView) part = slice (view, slices[k]);
          g_autoptr (MtlStatistics) statistics = compute_statistics (part);
          g_autoptr (MtlStridedView) turned_part = mtl_strided_view_transpose (part);
          g_autoptr (MtlStatistics) of_turned = compute_statistics (turned_part);

          check (part, statistics);
          check (turned_part, of_turned);
        }

      {
        g_autoptr (MtlStatistics) of_turned = compute_statistics (turned);
        g_autoptr (MtlStatistics) of_repeated = compute_statistics (repeated);

        check (turned, of_turned);
        check (repeated, of_repeated);
      }
    }
}

/* Around the sizes of vectors, blocks and pieces. */
static void
test_sizes (void)
{
  static const gint64 sizes[] = { 1, 2, 3, 15, 16, 17, 31, 33, 2047, 2048, 2049, 4097, 16385,
                                  150000 };

  for (gsize i = 0; i < G_N_ELEMENTS (dtypes); i++)
    for (gsize k = 0; k < G_N_ELEMENTS (sizes); k++)
      {
        g_autoptr (MtlStridedView) view = new_random (dtypes[i], &sizes[k], 1);
        g_autoptr (MtlStatistics) statistics = compute_statistics (view);

        check (view, statistics);
      }
}

static void
test_integers_are_exact (void)
{
  static const struct { const char *values; MtlDType dtype; gint64 low; guint64 high; } cases[] = {
    { "[int64 -9223372036854775808, 9223372036854775807, 0]", MTL_DTYPE_INT64,
      G_MININT64, G_MAXINT64 },
    { "[int64 9007199254740993, 9007199254740995, 9007199254740994]", MTL_DTYPE_INT64,
      G_GINT64_CONSTANT (9007199254740993), G_GUINT64_CONSTANT (9007199254740995) },
    { "[uint64 18446744073709551615, 18446744073709551613, 18446744073709551614]",
      MTL_DTYPE_UINT64, -3, G_MAXUINT64 },
    { "[uint64 9223372036854775808, 9223372036854775809, 9223372036854775810]",
      MTL_DTYPE_UINT64, G_MININT64, G_GUINT64_CONSTANT (9223372036854775810) },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedView) view =
        mtl_strided_view_new_from_variant (g_variant_new_parsed (cases[i].values), cases[i].dtype,
                                           DIMS (3), &error);
      g_autoptr (MtlStatistics) statistics = NULL;
      g_autofree char *high = g_strdup_printf ("%" G_GUINT64_FORMAT, cases[i].high);
      g_autofree char *text = NULL;

      g_assert_no_error (error);
      statistics = compute_statistics (view);
      text = mtl_statistics_format_maximum (statistics);
      g_assert_cmpstr (text, ==, high);
      g_assert_cmpuint (mtl_statistics_get_maximum_uint64 (statistics, &error), ==, cases[i].high);
      g_assert_no_error (error);
      if (cases[i].dtype == MTL_DTYPE_INT64)
        g_assert_cmpint (mtl_statistics_get_minimum_int64 (statistics, &error), ==, cases[i].low);
      else
        g_assert_cmpuint (mtl_statistics_get_minimum_uint64 (statistics, &error), ==,
                          (guint64) cases[i].low);
      g_assert_no_error (error);
      if (i > 0) /* neighbors that no double tells apart */
        g_assert_cmpfloat_with_epsilon (mtl_statistics_get_deviation (statistics),
                                        sqrt (2 / 3.0), 1e-15);
    }
}

static void
test_what_does_not_fit (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view =
    mtl_strided_view_new_from_doubles (DOUBLES (-1.5, 1e19, 2), MTL_DTYPE_FLOAT64, DIMS (3), NULL);
  g_autoptr (MtlStatistics) statistics = compute_statistics (view);

  g_assert_cmpint (mtl_statistics_get_minimum_int64 (statistics, &error), ==, -1);
  g_assert_no_error (error);
  g_assert_cmpuint (mtl_statistics_get_maximum_uint64 (statistics, &error), ==,
                    G_GUINT64_CONSTANT (10000000000000000000));
  g_assert_no_error (error);
  g_assert_cmpuint (mtl_statistics_get_minimum_uint64 (statistics, &error), ==, 0);
  assert_failed (error, MTL_ERROR_OVERFLOW, "-1.5");
  g_assert_cmpint (mtl_statistics_get_maximum_int64 (statistics, &error), ==, 0);
  assert_failed (error, MTL_ERROR_OVERFLOW, "1e+19");
}

/* The squares of the distances from the mean, or their errors, overflow. */
static void
test_huge_numbers (void)
{
  static const double few[] = { 1e200, 1e200, 3e200, 1e200, 1e200, -1e200, 1e200 };
  static const double same[] = { 0.7e200, -G_MAXDOUBLE, 1e308 };
  double values[5000];
  g_autoptr (MtlStridedView) spread = NULL;
  g_autoptr (MtlStridedView) unequal = NULL;
  g_autoptr (MtlStatistics) of_spread = NULL;
  g_autoptr (MtlStatistics) of_unequal = NULL;

  spread = mtl_strided_view_new_from_doubles (few, 7, MTL_DTYPE_FLOAT64, DIMS (7), NULL);
  of_spread = compute_statistics (spread);
  g_assert_cmpfloat_with_epsilon (mtl_statistics_get_mean (of_spread) / 1e200, 1, 1e-15);
  g_assert_true (isinf (mtl_statistics_get_deviation (of_spread)));

  for (gsize k = 0; k < G_N_ELEMENTS (same); k++)
    for (gsize t = 0; t < 2; t++)
      {
        MtlDType dtype = t == 0 ? MTL_DTYPE_FLOAT64 : MTL_DTYPE_COMPLEX128;
        g_autoptr (MtlStridedView) equal =
          mtl_strided_view_new_filled (NULL, dtype, DIMS (5000), same[k], MTL_STORAGE_MODE_DEFAULT,
                                       NULL);
        g_autoptr (MtlStatistics) of_equal = compute_statistics (equal);

        g_assert_cmpfloat (mtl_statistics_get_mean (of_equal), ==, same[k]);
        g_assert_cmpfloat (mtl_statistics_get_deviation (of_equal), ==, 0);
      }

  for (gsize i = 0; i < G_N_ELEMENTS (values); i++)
    values[i] = i % 3 == 0 ? 1e308 : 0.7e308;
  unequal = mtl_strided_view_new_from_doubles (values, 4998, MTL_DTYPE_FLOAT64, DIMS (4998), NULL);
  of_unequal = compute_statistics (unequal);
  g_assert_cmpfloat_with_epsilon (mtl_statistics_get_mean (of_unequal) / 0.8e308, 1, 2e-15);
  g_assert_true (isinf (mtl_statistics_get_deviation (of_unequal)));
}

/* Neighbors far from 0, whose share is another in each block. */
static void
test_large_neighbors (void)
{
  static const struct { MtlDType dtype; double base; } cases[] = {
    { MTL_DTYPE_UINT32, 2112449606 }, { MTL_DTYPE_INT32, -2112449605 },
    { MTL_DTYPE_UINT16, 41982 }, { MTL_DTYPE_INT16, -24837 }, { MTL_DTYPE_FLOAT64, 2112449606 },
  };
  const gsize n = 50000;
  g_autofree double *values = g_new (double, n);

  for (gsize k = 0; k < G_N_ELEMENTS (cases); k++)
    {
      double ones = 0;
      g_autoptr (MtlStridedView) view = NULL;
      g_autoptr (MtlStatistics) statistics = NULL;

      for (gsize i = 0; i < n; i++)
        {
          gboolean is_one = i % 7 < (i < n / 3 ? 1 : 5);

          values[i] = cases[k].base + is_one;
          ones += is_one;
        }
      view = mtl_strided_view_new_from_doubles (values, n, cases[k].dtype, DIMS (n), NULL);
      statistics = compute_statistics (view);
      g_assert_cmpfloat_with_epsilon (mtl_statistics_get_deviation (statistics),
                                      sqrt (ones * (n - ones)) / n, 4e-15);
    }
}

/* Differences of squares have no digits left, and sums overflow. */
static void
test_hard_numbers (void)
{
  double values[5000];
  g_autoptr (MtlStridedView) offset = NULL;
  g_autoptr (MtlStridedView) large = NULL;
  g_autoptr (MtlStridedView) equal = NULL;
  g_autoptr (MtlStatistics) of_offset = NULL;
  g_autoptr (MtlStatistics) of_large = NULL;
  g_autoptr (MtlStatistics) of_equal = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (values); i++)
    values[i] = 1e15 + i % 2;
  offset = mtl_strided_view_new_from_doubles (values, 5000, MTL_DTYPE_FLOAT64, DIMS (5000), NULL);
  of_offset = compute_statistics (offset);
  g_assert_cmpfloat (mtl_statistics_get_mean (of_offset), ==, 1e15 + 0.5);
  g_assert_cmpfloat (mtl_statistics_get_deviation (of_offset), ==, 0.5);

  for (gsize i = 0; i < G_N_ELEMENTS (values); i++)
    values[i] = G_MAXDOUBLE;
  large = mtl_strided_view_new_from_doubles (values, 5000, MTL_DTYPE_FLOAT64, DIMS (5000), NULL);
  of_large = compute_statistics (large);
  g_assert_cmpfloat_with_epsilon (mtl_statistics_get_mean (of_large) / G_MAXDOUBLE, 1, 1e-12);

  equal = mtl_strided_view_new_filled (NULL, MTL_DTYPE_FLOAT64, DIMS (100, 3000), 0.1,
                                       MTL_STORAGE_MODE_DEFAULT, NULL);
  of_equal = compute_statistics (equal);
  g_assert_cmpfloat (mtl_statistics_get_mean (of_equal), ==, 0.1);
  g_assert_cmpfloat (mtl_statistics_get_deviation (of_equal), <, 1e-17);
}

static void
test_nothing_finite (void)
{
  g_autoptr (MtlStridedView) empty = mtl_strided_view_new_zeros (NULL, MTL_DTYPE_INT64, DIMS (3, 0),
                                                                 MTL_STORAGE_MODE_DEFAULT, NULL);
  g_autoptr (MtlStridedView) nans =
    mtl_strided_view_new_from_doubles (DOUBLES (NAN, -INFINITY, NAN), MTL_DTYPE_FLOAT32, DIMS (3),
                                       NULL);
  g_autoptr (MtlStatistics) of_empty = compute_statistics (empty);
  g_autoptr (MtlStatistics) of_nans = compute_statistics (nans);
  g_autofree char *text = mtl_statistics_format_minimum (of_empty);
  g_autofree char *empty_text = mtl_statistics_to_string (of_empty);
  g_autofree char *nans_text = mtl_statistics_to_string (of_nans);
  g_autoptr (GError) error = NULL;

  check (empty, of_empty);
  check (nans, of_nans);
  g_assert_cmpstr (text, ==, "nan");
  g_assert_cmpstr (empty_text, ==, "0 elements of int64");
  g_assert_cmpstr (nans_text, ==, "3 elements of float32, 2 NaNs, 1 infinity");
  g_assert_cmpint (mtl_statistics_get_minimum_int64 (of_empty, &error), ==, 0);
  assert_failed (error, MTL_ERROR_OVERFLOW, "nan");
}

static void
test_repeated_elements (void)
{
  g_autoptr (MtlStridedView) three =
    mtl_strided_view_new_from_doubles (DOUBLES (0, 3, NAN), MTL_DTYPE_FLOAT32, DIMS (3, 1), NULL);
  g_autoptr (MtlStridedView) many =
    mtl_strided_view_broadcast_to (three, DIMS (POW2 (20), 3, POW2 (20)), NULL);
  g_autoptr (MtlStatistics) statistics = compute_statistics (many);

  g_assert_cmpuint (mtl_statistics_get_count (statistics), ==, 3 * POW2 (40));
  g_assert_cmpuint (mtl_statistics_get_n_nans (statistics), ==, POW2 (40));
  g_assert_cmpuint (mtl_statistics_get_n_zeros (statistics), ==, POW2 (40));
  g_assert_cmpfloat (mtl_statistics_get_mean (statistics), ==, 1.5);
  g_assert_cmpfloat (mtl_statistics_get_deviation (statistics), ==, 1.5);
}

static void
record_progress (goffset  done,
                 goffset  total,
                 gpointer data)
{
  goffset *told = data;

  g_assert_cmpint (done, >=, told[0]);
  told[0] = done;
  told[1] = total;
}

/* The stride of an axis of one element leads nowhere, and may be as large as any. */
static void
test_loose_strides (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) dense =
    mtl_strided_view_new_from_doubles (DOUBLES (1, 2, 6), MTL_DTYPE_FLOAT32, DIMS (3), NULL);
  g_autoptr (MtlStridedLayout) layout =
    mtl_strided_layout_new (DIMS (1, 3, 1), DIMS (G_MAXINT64, 1, -G_MAXINT64), 32, &error);
  g_autoptr (MtlStridedView) view = NULL;
  g_autoptr (MtlStatistics) statistics = NULL;

  g_assert_no_error (error);
  view = mtl_strided_view_new (mtl_strided_view_get_buffer (dense), layout, MTL_DTYPE_FLOAT32, 0,
                               &error);
  g_assert_no_error (error);
  statistics = compute_statistics (view);
  check (view, statistics);
}

/* The strides and extents of an empty layout may be so large that they do not fit as bits. */
static void
test_empty_far_away (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlBuffer) buffer = mtl_buffer_new (NULL, 8, MTL_STORAGE_MODE_HOST, &error);
  g_autoptr (MtlStridedLayout) layout =
    mtl_strided_layout_new (DIMS (2, POW2 (40), POW2 (40), 0), DIMS (POW2 (61), POW2 (61), 1, 1),
                            64, &error);
  g_autoptr (MtlStridedView) view = mtl_strided_view_new (buffer, layout, MTL_DTYPE_FLOAT64, 0,
                                                          &error);
  g_autoptr (MtlStridedView) least = NULL;
  g_autoptr (MtlStridedView) means = NULL;
  g_autoptr (MtlStridedView) none = NULL;
  g_autoptr (MtlStatistics) statistics = NULL;

  g_assert_no_error (error);
  statistics = compute_statistics (view);
  check (view, statistics);
  least = mtl_strided_view_reduce (view, MTL_REDUCTION_MINIMUM, NULL, 0, NULL, &error);
  g_assert_no_error (error);
  assert_elements (least, NAN);
  means = mtl_strided_view_reduce (view, MTL_REDUCTION_MEAN, AXES (1, 2, 3), NULL, &error);
  g_assert_no_error (error);
  assert_elements (means, NAN, NAN);
  none = mtl_strided_view_reduce (view, MTL_REDUCTION_MAXIMUM, AXES (0), NULL, &error);
  g_assert_no_error (error);
  g_assert_true (mtl_strided_view_is_empty (none));
}

/* The host gets a part after the other. */
static void
test_device_memory (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TestDevice) device =
    g_object_new (TEST_TYPE_DEVICE, "device-type", MTL_DEVICE_TYPE_EXT_DEV,
                  "max-buffer-size", (guint64) POW2 (30), "page-size", (guint64) 256, NULL);
  g_autoptr (MtlStridedView) host = new_random (MTL_DTYPE_FLOAT64, DIMS (3, 1000, 1000));
  g_autoptr (MtlStridedView) view =
    mtl_strided_view_to_device (host, MTL_DEVICE (device), MTL_STORAGE_MODE_PRIVATE, NULL, &error);
  g_autoptr (MtlStridedView) turned = NULL;
  g_autoptr (MtlStridedView) turned_host = NULL;
  g_autoptr (MtlStatistics) statistics = NULL;
  goffset told[2] = { 0 };
  int n_copies;

  g_assert_no_error (error);
  turned = slice (view, ":, ::-2, :500");
  turned_host = slice (host, ":, ::-2, :500");
  n_copies = device->n_copies;
  statistics =
    mtl_strided_view_compute_statistics (turned, NULL, record_progress, told, &error);
  g_assert_no_error (error);
  check (turned_host, statistics);
  g_assert_cmpint (device->n_copies, >=, n_copies + 3); /* in pieces of at most 8 MiB */
  g_assert_cmpint (told[0], ==, 3 * 500 * 500 * 8);
  g_assert_cmpint (told[1], ==, 3 * 500 * 500 * 8);
}

static void
test_threads (void)
{
  g_autoptr (MtlStridedView) view = new_random (MTL_DTYPE_FLOAT64, DIMS (1000, 701));
  g_autoptr (MtlStridedView) part = slice (view, "..., ::2");
  double means[3], deviations[3];

  for (guint i = 0; i < 3; i++)
    {
      g_autoptr (MtlStatistics) statistics = NULL;

      mtl_set_max_threads (i + 1);
      statistics = compute_statistics (part);
      means[i] = mtl_statistics_get_mean (statistics);
      deviations[i] = mtl_statistics_get_deviation (statistics);
    }
  mtl_set_max_threads (0);

  g_assert_true (means[0] == means[1] && means[1] == means[2]);
  g_assert_true (deviations[0] == deviations[1] && deviations[1] == deviations[2]);
}

static void
test_async (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (MtlStridedView) view = new_random (MTL_DTYPE_FLOAT32, DIMS (300, 1000));
  g_autoptr (MtlStatistics) statistics = NULL;
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GAsyncResult) cancelled = NULL;
  goffset told[2] = { 0 };

  mtl_strided_view_compute_statistics_async (view, NULL, record_progress, told, NULL, keep_result,
                                             &result);
  statistics =
      mtl_strided_view_compute_statistics_finish (view, wait_for_kept (&result), &error);
  g_assert_no_error (error);
  check (view, statistics);
  g_assert_cmpint (told[0], ==, 300 * 1000 * 4);

  g_cancellable_cancel (cancellable);
  g_assert_null (mtl_strided_view_compute_statistics (view, cancellable, NULL, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);

  mtl_strided_view_compute_statistics_async (view, cancellable, NULL, NULL, NULL, keep_result,
                                             &cancelled);
  g_assert_null (
      mtl_strided_view_compute_statistics_finish (view, wait_for_kept (&cancelled), &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static void
test_no_numbers (void)
{
  g_autoptr (MtlStridedView) view =
    mtl_strided_view_new_zeros (mtl_device_get_host (), MTL_DTYPE_OPAQUE_HANDLE8, DIMS (2),
                                MTL_STORAGE_MODE_DEFAULT, NULL);

  assert_fails (mtl_strided_view_compute_statistics (view, NULL, NULL, NULL, &error), MTL_ERROR_NOT_SUPPORTED,
                "opaque_handle8");
}

static void
test_properties (void)
{
  g_autoptr (MtlStridedView) view =
    mtl_strided_view_new_from_doubles (DOUBLES (1, -4, 0, INFINITY, 0), MTL_DTYPE_FLOAT32, DIMS (5),
                                       NULL);
  g_autoptr (MtlStatistics) statistics = compute_statistics (view);
  g_autofree char *text = mtl_statistics_to_string (statistics);
  double im;

  assert_property (statistics, "dtype", MtlDType, mtl_statistics_get_dtype);
  assert_property (statistics, "count", guint64, mtl_statistics_get_count);
  assert_property (statistics, "n-nans", guint64, mtl_statistics_get_n_nans);
  assert_property (statistics, "n-infinities", guint64, mtl_statistics_get_n_infinities);
  assert_property (statistics, "n-zeros", guint64, mtl_statistics_get_n_zeros);
  assert_property (statistics, "minimum", double, mtl_statistics_get_minimum);
  assert_property (statistics, "maximum", double, mtl_statistics_get_maximum);
  assert_property (statistics, "mean", double, mtl_statistics_get_mean);
  assert_property (statistics, "deviation", double, mtl_statistics_get_deviation);
  mtl_statistics_get_complex_mean (statistics, NULL, &im);
  g_assert_cmpfloat (im, ==, 0);
  g_assert_cmpstr (text, ==,
                   "5 elements of float32, minimum -4.0, maximum 1.0, mean -0.75,"
                   " deviation 1.920286436967152, 1 infinity, 2 zeros");
}

static void
on_histogram (GObject      *source,
              GAsyncResult *result,
              gpointer      data)
{
  g_autoptr (GError) error = NULL;
  gsize n_counts;
  g_autofree guint64 *counts =
    mtl_strided_view_compute_histogram_finish (MTL_STRIDED_VIEW (source), result, &n_counts,
                                               &error);

  g_assert_no_error (error);
  g_assert_cmpmem (counts, n_counts * sizeof *counts, ((guint64[]) { 2, 3 }),
                   2 * sizeof *counts);
  g_main_loop_quit (data);
}

static void
test_histogram (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  g_autoptr (MtlStridedView) view =
    mtl_strided_view_new_from_doubles ((double[]) { 0, 1, 2, 3, 4, 5, NAN }, 7, MTL_DTYPE_FLOAT32,
                                       DIMS (7), &error);
  gsize n_counts;
  g_autofree guint64 *counts =
    mtl_strided_view_compute_histogram (view, 0, 4, 4, &n_counts, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpmem (counts, n_counts * sizeof *counts, ((guint64[]) { 1, 1, 1, 2 }),
                   4 * sizeof *counts);
  mtl_strided_view_compute_histogram_async (view, 0, 4, 2, NULL, NULL, NULL, NULL, on_histogram,
                                            loop);
  g_main_loop_run (loop);
}

static void
test_along_axes (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view =
    mtl_strided_view_new_from_doubles ((double[]) { 0, 1, 2, 4, 5, 9 }, 6, MTL_DTYPE_INT16,
                                       DIMS (2, 3), &error);
  g_autoptr (MtlStridedView) means =
    mtl_strided_view_reduce (view, MTL_REDUCTION_MEAN, AXES (-1), NULL, &error);
  g_autoptr (MtlStridedView) most =
    mtl_strided_view_reduce (view, MTL_REDUCTION_MAXIMUM, NULL, 0, NULL, &error);

  g_assert_no_error (error);
  assert_elements (means, 1, 6);
  assert_elements (most, 9);
}

static void
test_refused (void)
{
  g_autoptr (MtlStridedView) view =
    mtl_strided_view_new_zeros (NULL, MTL_DTYPE_INT16, DIMS (2, 3), MTL_STORAGE_MODE_DEFAULT, NULL);
  gsize n_counts = 1;

  assert_fails (mtl_strided_view_compute_histogram (view, 4, 0, 2, &n_counts, NULL, &error),
                MTL_ERROR_INVALID_ARGUMENT, "4");
  g_assert_cmpuint (n_counts, ==, 0);
  assert_fails (mtl_strided_view_reduce (view, MTL_REDUCTION_MEAN, AXES (2), NULL,
                                                    &error),
                MTL_ERROR_OUT_OF_BOUNDS, "2");
  assert_fails (mtl_strided_view_reduce (view, MTL_REDUCTION_MEAN, AXES (0, -2), NULL,
                                                    &error),
                MTL_ERROR_INVALID_ARGUMENT, "-2");
  assert_fails (mtl_strided_view_reduce (view, 4, NULL, 0, NULL, &error),
                MTL_ERROR_INVALID_ARGUMENT, "4");
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/Statistics/types-and-layouts", test_types_and_layouts);
  g_test_add_func ("/Statistics/sizes", test_sizes);
  g_test_add_func ("/Statistics/integers-are-exact", test_integers_are_exact);
  g_test_add_func ("/Statistics/what-does-not-fit", test_what_does_not_fit);
  g_test_add_func ("/Statistics/huge-numbers", test_huge_numbers);
  g_test_add_func ("/Statistics/large-neighbors", test_large_neighbors);
  g_test_add_func ("/Statistics/hard-numbers", test_hard_numbers);
  g_test_add_func ("/Statistics/nothing-finite", test_nothing_finite);
  g_test_add_func ("/Statistics/repeated-elements", test_repeated_elements);
  g_test_add_func ("/Statistics/loose-strides", test_loose_strides);
  g_test_add_func ("/Statistics/empty-far-away", test_empty_far_away);
  g_test_add_func ("/Statistics/device-memory", test_device_memory);
  g_test_add_func ("/Statistics/threads", test_threads);
  g_test_add_func ("/Statistics/async", test_async);
  g_test_add_func ("/Statistics/no-numbers", test_no_numbers);
  g_test_add_func ("/Statistics/properties", test_properties);
  g_test_add_func ("/Statistics/histogram", test_histogram);
  g_test_add_func ("/Statistics/along-axes", test_along_axes);
  g_test_add_func ("/Statistics/refused", test_refused);

  return g_test_run ();
}
