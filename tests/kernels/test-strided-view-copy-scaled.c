/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "test-device.h"

#include <math.h>

static const MtlDType dtypes[] = {
  MTL_DTYPE_BOOL, MTL_DTYPE_INT8, MTL_DTYPE_INT16, MTL_DTYPE_INT32, MTL_DTYPE_INT64,
  MTL_DTYPE_UINT8, MTL_DTYPE_UINT16, MTL_DTYPE_UINT32, MTL_DTYPE_UINT64,
  MTL_DTYPE_INT2, MTL_DTYPE_INT4, MTL_DTYPE_UINT2, MTL_DTYPE_UINT4,
  MTL_DTYPE_FLOAT16, MTL_DTYPE_BFLOAT16, MTL_DTYPE_FLOAT32, MTL_DTYPE_FLOAT64,
  MTL_DTYPE_FLOAT8_E4M3FN, MTL_DTYPE_FLOAT6_E2M3FN, MTL_DTYPE_FLOAT4_E2M1FN,
};

static const double special[] = { 0, 0.5, 1.5, 2.5, -0.5, -1.5, 127.5, 128.5, 254.5, 255.5, 1e10,
                                  -1e10, 1e300, -1e300, 4503599627370497.5, NAN, INFINITY };

static MtlStridedView *
new_empty (MtlDType      dtype,
           const gint64 *shape,
           gsize         n_dims)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *view = mtl_strided_view_new_uninitialized (NULL, dtype, shape, n_dims,
                                                             MTL_STORAGE_MODE_DEFAULT, &error);

  g_assert_no_error (error);
  return view;
}

static MtlStridedView *
new_random (MtlDType      dtype,
            const gint64 *shape,
            gsize         n_dims)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *view = new_empty (dtype, shape, n_dims);
  gsize n = mtl_strided_view_get_volume (view);
  g_autofree double *values = g_new (double, n);
  g_autoptr (MtlStridedView) doubles = NULL;

  for (gsize i = 0; i < n; i++)
    values[i] = i < G_N_ELEMENTS (special) ? special[i] : g_test_rand_double_range (-400, 400);
  doubles = mtl_strided_view_new_from_doubles (values, n, MTL_DTYPE_FLOAT64, shape, n_dims, &error);
  mtl_strided_view_copy_from (view, doubles, NULL, &error);
  g_assert_no_error (error);
  return view;
}

/* TRUE if the type is one of integers; their range ends before `end`. */
static gboolean
get_range (MtlDType  dtype,
           double   *least,
           double   *end)
{
  guint bits = mtl_dtype_get_bits (dtype);

  if (dtype >> 8 > 1)
    return FALSE;

  *least = dtype >> 8 == 0 ? -ldexp (1, bits - 1) : 0;
  *end = ldexp (1, dtype >> 8 == 0 ? bits - 1 : bits);
  return TRUE;
}

/* The element that a number becomes, in a view of the type. */
static MtlStridedView *
get_expected (MtlDType dtype,
              double   value)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) number = mtl_strided_view_new_from_doubles (&value, 1,
                                                                         MTL_DTYPE_FLOAT64, NO_DIMS,
                                                                         NULL);
  MtlStridedView *view = new_empty (dtype, NO_DIMS);
  double least, end;

  if (!get_range (dtype, &least, &end))
    {
      g_assert_true (mtl_strided_view_copy_from (view, number, NULL, &error));
      return view;
    }

  if (isnan (value))
    value = 0;
  value = rint (value);
  if (value < least)
    value = least;
  if (value >= end && dtype == MTL_DTYPE_UINT64)
    mtl_strided_view_set_uint64 (view, NO_DIMS, G_MAXUINT64, &error);
  else if (value >= end)
    mtl_strided_view_set_int64 (view, NO_DIMS, dtype == MTL_DTYPE_INT64 ? G_MAXINT64
                                                                        : (gint64) end - 1, &error);
  else
    mtl_strided_view_set_double (view, NO_DIMS, value, &error);
  g_assert_no_error (error);
  return view;
}

/* One element each. All NaNs are the same, and types without NaN make of it a 0 with its sign. */
static void
assert_same (MtlStridedView *a,
             MtlStridedView *b)
{
  double x = mtl_strided_view_get_double (a, NO_DIMS, NULL);
  double y = mtl_strided_view_get_double (b, NO_DIMS, NULL);

  if ((isnan (x) && isnan (y)) || (x == 0 && y == 0))
    return;

  g_autoptr (GBytes) a_bytes = mtl_strided_view_dup_bytes (a, NULL, NULL);
  g_autoptr (GBytes) b_bytes = mtl_strided_view_dup_bytes (b, NULL, NULL);

  g_assert_true (g_bytes_equal (a_bytes, b_bytes));
}

/* Two dimensions; one element after the other, in doubles. */
static void
check (MtlStridedView *dest,
       MtlStridedView *source,
       double          scale,
       double          offset)
{
  const gint64 *shape = mtl_strided_view_get_shape (dest, NULL);

  for (gint64 i = 0; i < shape[0]; i++)
    for (gint64 k = 0; k < shape[1]; k++)
      {
        g_autoptr (GError) error = NULL;
        volatile double product = mtl_strided_view_get_double (source, DIMS (i, k), &error) * scale;
        g_autoptr (MtlStridedView) row = mtl_strided_view_select (dest, 0, i, NULL);
        g_autoptr (MtlStridedView) element = mtl_strided_view_select (row, 0, k, NULL);
        g_autoptr (MtlStridedView) expected =
          get_expected (mtl_strided_view_get_dtype (dest), product + offset);

        g_assert_no_error (error);
        assert_same (element, expected);
      }
}

static void
test_types (void)
{
  static const double factors[][2] = { { 1 / 255.0, 0 }, { 255, 0.5 }, { 1, 0 }, { -3.75, 12.25 },
                                       { 0.5, 0 }, { 1e30, -1e30 }, { NAN, 0 } };

  for (gsize i = 0; i < G_N_ELEMENTS (dtypes); i++)
    for (gsize k = 0; k < G_N_ELEMENTS (dtypes); k++)
      for (gsize f = 0; f < G_N_ELEMENTS (factors); f++)
        {
          g_autoptr (GError) error = NULL;
          g_autoptr (MtlStridedView) source = new_random (dtypes[i], DIMS (3, 13));
          g_autoptr (MtlStridedView) dest = new_empty (dtypes[k], DIMS (3, 13));

          /* Unscaled integers stay as they are, also those that no double holds. */
          if (i == k && factors[f][0] == 1)
            continue;

          mtl_strided_view_copy_scaled_from (dest, source, factors[f][0], factors[f][1], NULL,
                                             &error);
          g_assert_no_error (error);
          check (dest, source, factors[f][0], factors[f][1]);
        }
}

/* Pixels and planes of two to five channels, in all element sizes that have kernels,
 * and those next to them. */
static void
test_pixels (void)
{
  static const MtlDType types[] = { MTL_DTYPE_UINT8, MTL_DTYPE_INT16, MTL_DTYPE_FLOAT32,
                                    MTL_DTYPE_FLOAT64 };
  static const char *parts[] = { "..., :", "::-1, ::-1", ":, 1:" };

  for (gint64 n_channels = 2; n_channels <= 5; n_channels++)
    for (gsize i = 0; i < G_N_ELEMENTS (types); i++)
      for (gsize k = 0; k < G_N_ELEMENTS (types); k++)
        for (gsize p = 0; p < G_N_ELEMENTS (parts); p++)
          {
            g_autoptr (GError) error = NULL;
            g_autoptr (MtlStridedView) pixels = new_random (types[i], DIMS (523, n_channels));
            g_autoptr (MtlStridedView) part = slice (pixels, parts[p]);
            g_autoptr (MtlStridedView) turned = mtl_strided_view_transpose (part);
            const gint64 *shape = mtl_strided_view_get_shape (turned, NULL);
            g_autoptr (MtlStridedView) planes = new_empty (types[k], shape, 2);
            g_autoptr (MtlStridedView) planes_turned = mtl_strided_view_transpose (planes);
            g_autoptr (MtlStridedView) back = new_empty (types[i], DIMS (523, n_channels));
            g_autoptr (MtlStridedView) back_part = slice (back, parts[p]);

            mtl_strided_view_copy_scaled_from (planes, turned, 0.25, 3, NULL, &error);
            g_assert_no_error (error);
            check (planes, turned, 0.25, 3);
            mtl_strided_view_copy_scaled_from (back_part, planes_turned, 4, -12, NULL, &error);
            g_assert_no_error (error);
            check (back_part, planes_turned, 4, -12);
          }
}

static void
test_known_numbers (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) floats =
    mtl_strided_view_new_from_doubles (DOUBLES (0, 0.5, 1, 2, -1, NAN, INFINITY, 0.01),
                                       MTL_DTYPE_FLOAT32, DIMS (8), NULL);
  g_autoptr (MtlStridedView) bytes = new_empty (MTL_DTYPE_UINT8, DIMS (8));
  g_autoptr (MtlStridedView) row = mtl_strided_view_new_from_doubles (DOUBLES (1, 2),
                                                                      MTL_DTYPE_INT32, DIMS (2),
                                                                      NULL);
  g_autoptr (MtlStridedView) rows = new_empty (MTL_DTYPE_FLOAT32, DIMS (2, 2));

  g_assert_true (mtl_strided_view_copy_scaled_from (bytes, floats, 255, 0, NULL, &error));
  assert_elements (bytes, 0, 128, 255, 255, 0, 0, 255, 3);
  g_assert_true (mtl_strided_view_copy_scaled_from (rows, row, 0.5, 1, NULL, &error));
  assert_elements (rows, 1.5, 2, 1.5, 2);
}

static void
test_overlap (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view =
    mtl_strided_view_new_from_doubles (DOUBLES (1, 2, 3, 4, 5, 6), MTL_DTYPE_INT16, DIMS (6), NULL);
  g_autoptr (MtlStridedView) back = slice (view, "::-1");

  g_assert_true (mtl_strided_view_copy_scaled_from (view, back, 10, 1, NULL, &error));
  assert_elements (view, 61, 51, 41, 31, 21, 11);
  g_assert_true (mtl_strided_view_copy_scaled_from (view, view, -1, 0, NULL, &error));
  assert_elements (view, -61, -51, -41, -31, -21, -11);
}

static void
test_complex (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) source = new_empty (MTL_DTYPE_COMPLEX64, DIMS (1));
  g_autoptr (MtlStridedView) dest = new_empty (MTL_DTYPE_COMPLEX128, DIMS (1));
  g_autoptr (MtlStridedView) half = new_empty (MTL_DTYPE_COMPLEX32, DIMS (1));
  g_autoptr (MtlStridedView) real = new_empty (MTL_DTYPE_INT8, DIMS (1));
  g_autoptr (MtlStridedView) truth = new_empty (MTL_DTYPE_BOOL, DIMS (1));
  double re, im;

  mtl_strided_view_set_complex (source, DIMS (0), 1.5, -2, &error);
  g_assert_true (mtl_strided_view_copy_scaled_from (dest, source, 3, 1, NULL, &error));
  mtl_strided_view_get_complex (dest, DIMS (0), &re, &im, &error);
  g_assert_true (re == 5.5 && im == -6);
  g_assert_true (mtl_strided_view_copy_scaled_from (real, source, 3, 1, NULL, &error));
  assert_elements (real, 6);
  g_assert_true (mtl_strided_view_copy_scaled_from (half, real, 0.5, 1, NULL, &error));
  mtl_strided_view_get_complex (half, DIMS (0), &re, &im, &error);
  g_assert_true (re == 4 && im == 0);
  g_assert_true (mtl_strided_view_copy_scaled_from (truth, source, 2, -3, NULL, &error));
  assert_elements (truth, 1); /* -4i */
  g_assert_true (mtl_strided_view_copy_scaled_from (truth, source, 0, 0, NULL, &error));
  assert_elements (truth, 0);
}

/* Threads, slices, and lines that bypass the caches. */
static void
test_large (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) pixels = new_empty (MTL_DTYPE_UINT8, DIMS (1201, 1003, 3));
  g_autoptr (MtlStridedView) planes = new_empty (MTL_DTYPE_FLOAT32, DIMS (3, 1201, 1003));
  g_autoptr (MtlStridedView) turned = mtl_strided_view_permute (pixels, AXES (2, 0, 1), NULL);
  g_autoptr (MtlStridedView) planes_turned =
    mtl_strided_view_permute (planes, AXES (1, 2, 0), NULL);
  guint8 *bytes = mtl_strided_view_get_data (pixels);
  float *floats = mtl_strided_view_get_data (planes);
  const gsize n = 1201 * 1003;

  for (gsize i = 0; i < 3 * n; i++)
    bytes[i] = i * 7 + i / 1000;
  g_assert_true (mtl_strided_view_copy_scaled_from (planes, turned, 1 / 255.0, -0.5, NULL, &error));
  for (gsize i = 0; i < n; i++)
    for (gsize c = 0; c < 3; c++)
      g_assert_true (floats[c * n + i] == (float) (bytes[3 * i + c] * (1 / 255.0) - 0.5));

  memset (bytes, 0, 3 * n);
  g_assert_true (mtl_strided_view_copy_scaled_from (pixels, planes_turned, 255, 127.5, NULL,
                                                    &error));
  for (gsize i = 0; i < 3 * n; i++)
    g_assert_cmpuint (bytes[i], ==, (guint8) (i * 7 + i / 1000));
}

static void
test_device_memory (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TestDevice) device = test_device_new (MTL_STORAGE_MODE_PRIVATE);
  g_autoptr (MtlStridedView) source =
    mtl_strided_view_new_from_doubles (DOUBLES (1, 2, 3, 4), MTL_DTYPE_FLOAT32, DIMS (2, 2), NULL);
  g_autoptr (MtlStridedView) there =
    mtl_strided_view_to_device (source, MTL_DEVICE (device), MTL_STORAGE_MODE_PRIVATE, NULL,
                                &error);
  g_autoptr (MtlStridedView) back = NULL;

  g_assert_no_error (error);
  g_assert_true (mtl_strided_view_copy_scaled_from (there, source, 2, 1, NULL, &error));
  back = mtl_strided_view_to_device (there, mtl_device_get_host (), MTL_STORAGE_MODE_HOST, NULL,
                                     &error);
  g_assert_no_error (error);
  assert_elements (back, 3, 5, 7, 9);
}

static void
test_errors (void)
{
  g_autoptr (MtlStridedView) view =
    mtl_strided_view_new_from_doubles (DOUBLES (1, 2), MTL_DTYPE_FLOAT32, DIMS (2), NULL);
  g_autoptr (MtlStridedView) read_only = mtl_strided_view_as_read_only (view);
  g_autoptr (MtlStridedView) longer = new_empty (MTL_DTYPE_FLOAT32, DIMS (3));
  g_autoptr (MtlStridedView) opaque = new_empty (MTL_DTYPE_OPAQUE_HANDLE8, DIMS (2));

  assert_refuses (mtl_strided_view_copy_scaled_from (read_only, view, 2, 0, NULL, &error),
                  MTL_ERROR_READ_ONLY, "(2,)");
  assert_refuses (mtl_strided_view_copy_scaled_from (view, longer, 2, 0, NULL, &error),
                  MTL_ERROR_INVALID_ARGUMENT, "3");
  assert_refuses (mtl_strided_view_copy_scaled_from (view, opaque, 2, 0, NULL, &error),
                  MTL_ERROR_NOT_SUPPORTED, "opaque_handle8");
  assert_refuses (mtl_strided_view_copy_scaled_from (opaque, opaque, 1, 0, NULL, &error),
                  MTL_ERROR_NOT_SUPPORTED, "opaque_handle8");
  assert_elements (view, 1, 2);
}

static void
test_async (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view =
    mtl_strided_view_new_from_doubles (DOUBLES (1, 2), MTL_DTYPE_FLOAT32, DIMS (2), NULL);
  g_autoptr (MtlStridedView) dest = new_empty (MTL_DTYPE_INT16, DIMS (2));
  g_autoptr (GAsyncResult) result = NULL;

  mtl_strided_view_copy_scaled_from_async (dest, view, 10, 5, NULL, NULL, NULL, NULL, keep_result,
                                           &result);
  g_assert_true (
      mtl_strided_view_copy_scaled_from_finish (dest, wait_for_kept (&result), &error));
  g_assert_no_error (error);
  assert_elements (dest, 15, 25);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/StridedView/copy-scaled/types", test_types);
  g_test_add_func ("/StridedView/copy-scaled/pixels", test_pixels);
  g_test_add_func ("/StridedView/copy-scaled/known-numbers", test_known_numbers);
  g_test_add_func ("/StridedView/copy-scaled/overlap", test_overlap);
  g_test_add_func ("/StridedView/copy-scaled/complex", test_complex);
  g_test_add_func ("/StridedView/copy-scaled/large", test_large);
  g_test_add_func ("/StridedView/copy-scaled/device-memory", test_device_memory);
  g_test_add_func ("/StridedView/copy-scaled/errors", test_errors);
  g_test_add_func ("/StridedView/copy-scaled/async", test_async);

  return g_test_run ();
}
