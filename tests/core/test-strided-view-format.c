/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "dlpack-producer.h"

#include <math.h>

/* The output of NumPy 1.24 for the same arrays. */
static const struct
{
  const char *name;
  MtlDType dtype;
  gint64 shape[3];
  gsize n_dims;
  const char *values;
  const char *expected;
} arrays[] = {
  { "integers", MTL_DTYPE_INT32, { 3, 4 }, 2, "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]",
    "[[ 0  1  2  3]\n [ 4  5  6  7]\n [ 8  9 10 11]]" },
  { "cube", MTL_DTYPE_INT8, { 2, 2, 2 }, 3, "[0, 1, 2, 3, 4, 5, 6, 7]",
    "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]" },
  { "int4", MTL_DTYPE_INT4, { 3 }, 1, "[7, -8, 0]", "[ 7 -8  0]" },
  { "uint2", MTL_DTYPE_UINT2, { 2, 2 }, 2, "[3, 2, 1, 0]", "[[3 2]\n [1 0]]" },
  { "bool", MTL_DTYPE_BOOL, { 2 }, 1, "[true, false]", "[ True False]" },
  { "exponents", MTL_DTYPE_FLOAT32, { 3 }, 1, "[1e-10, 1, 1e10]", "[1.e-10 1.e+00 1.e+10]" },
  { "float16", MTL_DTYPE_FLOAT16, { 3 }, 1, "[0.1, 0.2, 0.3]", "[0.1 0.2 0.3]" },
  { "bfloat16", MTL_DTYPE_BFLOAT16, { 4 }, 1, "[0.5625, 0.1, 100, -1e38]",
    "[ 5.62500e-01  1.00098e-01  1.00000e+02 -9.96921e+37]" },
  { "float8", MTL_DTYPE_FLOAT8_E4M3FN, { 2, 2 }, 2, "[0.875, 1, -0.1015625, 44]",
    "[[ 0.875     1.      ]\n [-0.101562 44.      ]]" },
  { "float4", MTL_DTYPE_FLOAT4_E2M1FN, { 3 }, 1, "[0.5, -1.5, 6]", "[ 0.5 -1.5  6. ]" },
  { "thirds", MTL_DTYPE_FLOAT64, { 4 }, 1, "[0, 0.16666666666666666, 0.5, 1]",
    "[0.         0.16666667 0.5        1.        ]" },
  { "uint64", MTL_DTYPE_UINT64, { 2 }, 1, "[uint64 18446744073709551615, 0]",
    "[18446744073709551615                    0]" },
  { "int64", MTL_DTYPE_INT64, { 1 }, 1, "[int64 -9223372036854775808]",
    "[-9223372036854775808]" },
  { "scalar/float", MTL_DTYPE_FLOAT64, { 0 }, 0, "3.5", "3.5" },
  { "scalar/float8", MTL_DTYPE_FLOAT8_E4M3FN, { 0 }, 0, "0.875", "0.875" },
  { "scalar/integer", MTL_DTYPE_UINT8, { 0 }, 0, "7", "7" },
  { "scalar/int2", MTL_DTYPE_INT2, { 0 }, 0, "-2", "-2" },
  { "scalar/bool", MTL_DTYPE_BOOL, { 0 }, 0, "true", "True" },
  { "empty", MTL_DTYPE_FLOAT64, { 2, 0 }, 2, "@ad []", "[]" },
};

static void
test_array (gconstpointer data)
{
  gsize i = GPOINTER_TO_SIZE (data);
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view =
    mtl_strided_view_new_from_variant (g_variant_new_parsed (arrays[i].values), arrays[i].dtype,
                                       arrays[i].shape, arrays[i].n_dims, &error);
  g_autofree char *text = NULL;

  g_assert_no_error (error);
  text = mtl_strided_view_to_string (view);
  g_assert_cmpstr (text, ==, arrays[i].expected);
}

static void
test_nonfinite (void)
{
  g_autoptr (MtlStridedView) view =
    mtl_strided_view_new_from_doubles (DOUBLES (1.5, -2.25, NAN, INFINITY), MTL_DTYPE_FLOAT64,
                                       DIMS (2, 2), NULL);
  g_autofree char *text = mtl_strided_view_to_string (view);

  g_assert_cmpstr (text, ==, "[[ 1.5  -2.25]\n [  nan   inf]]");
}

static void
test_complex (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = mtl_strided_view_new_zeros (NULL, MTL_DTYPE_COMPLEX64, DIMS (2),
                                                                MTL_STORAGE_MODE_DEFAULT, &error);
  g_autofree char *text = NULL;

  mtl_strided_view_set_complex (view, DIMS (0), 1, 2, &error);
  mtl_strided_view_set_complex (view, DIMS (1), -0.5, -1, &error);
  g_assert_no_error (error);
  text = mtl_strided_view_to_string (view);
  g_assert_cmpstr (text, ==, "[ 1. +2.j -0.5-1.j]");
}

/* The integers from 0 on. */
static MtlStridedView *
new_range (gsize         n,
           const gint64 *shape,
           gsize         n_dims)
{
  g_autoptr (GError) error = NULL;
  g_autofree double *values = g_new (double, n);
  MtlStridedView *view;

  for (gsize i = 0; i < n; i++)
    values[i] = i;
  view = mtl_strided_view_new_from_doubles (values, n, MTL_DTYPE_INT64, shape, n_dims, &error);
  g_assert_no_error (error);
  return view;
}

static void
test_summary (void)
{
  g_autoptr (MtlStridedView) view = new_range (2000, DIMS (40, 50));
  g_autoptr (MtlStridedView) row = new_range (10, DIMS (10));
  g_autofree char *text = mtl_strided_view_to_string (view);
  g_autofree char *short_text = mtl_strided_view_format (row, 9);
  g_autofree char *whole_text = mtl_strided_view_format (row, 10);

  g_assert_cmpstr (text, ==,
                   "[[   0    1    2 ...   47   48   49]\n"
                   " [  50   51   52 ...   97   98   99]\n"
                   " [ 100  101  102 ...  147  148  149]\n"
                   " ...\n"
                   " [1850 1851 1852 ... 1897 1898 1899]\n"
                   " [1900 1901 1902 ... 1947 1948 1949]\n"
                   " [1950 1951 1952 ... 1997 1998 1999]]");
  g_assert_cmpstr (short_text, ==, "[0 1 2 ... 7 8 9]");
  g_assert_cmpstr (whole_text, ==, "[0 1 2 3 4 5 6 7 8 9]");
}

static void
test_lines (void)
{
  g_autoptr (MtlStridedView) view = new_range (40, DIMS (40));
  g_autofree char *text = mtl_strided_view_to_string (view);

  g_assert_cmpstr (text, ==,
                   "[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23\n"
                   " 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39]");
}

static void
test_strided (void)
{
  g_autoptr (MtlStridedView) view = new_range (20, DIMS (20));
  g_autoptr (MtlStridedView) part = mtl_strided_view_slice_string (view, "::-3", NULL);
  g_autofree char *text = mtl_strided_view_to_string (part);

  g_assert_cmpstr (text, ==, "[19 16 13 10  7  4  1]");
}

/* More than anybody reads, but no longer to print for that. */
static void
test_huge (void)
{
  g_autoptr (MtlStridedView) view = new_range (1, DIMS (1));
  g_autoptr (MtlStridedView) wide = mtl_strided_view_broadcast_to (view, DIMS (POW2 (62)), NULL);
  g_autofree char *text = mtl_strided_view_to_string (wide);

  g_assert_cmpstr (text, ==, "[0 0 0 ... 0 0 0]");
}

static void
test_not_numeric (void)
{
  g_autoptr (MtlStridedView) view =
    mtl_strided_view_new_zeros (mtl_device_get_host (), MTL_DTYPE_OPAQUE_HANDLE8, DIMS (2, 3),
                                MTL_STORAGE_MODE_DEFAULT, NULL);
  g_autofree char *text = mtl_strided_view_to_string (view);

  g_assert_cmpstr (text, ==, "<opaque_handle8 (2, 3) on device (1, 0)>");
}

/* Types that are unknown here are told apart by all that says what they are. */
static void
test_unnamed (void)
{
  const struct { DLDataType type; guint64 flags; const char *expected; } cases[] = {
    { { 200, 4, 1 }, 0, "<200/4 (2, 3) on device (1, 0)>" },
    { { 200, 4, 1 }, DL_PADDED, "<padded 200/4 (2, 3) on device (1, 0)>" },
    { { 200, 4, 2 }, 0, "<200/4×2 (2, 3) on device (1, 0)>" },
    { { 200, 4, 2 }, DL_PADDED, "<padded 200/4×2 (2, 3) on device (1, 0)>" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      Producer producer;
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedView) view = NULL;
      g_autofree char *text = NULL;

      producer_init (&producer);
      producer.versioned.dl_tensor.dtype = cases[i].type;
      producer.versioned.flags = cases[i].flags;
      view = mtl_strided_view_new_take_dlpack (&producer.versioned, &error);
      g_assert_no_error (error);
      text = mtl_strided_view_to_string (view);
      g_assert_cmpstr (text, ==, cases[i].expected);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  for (gsize i = 0; i < G_N_ELEMENTS (arrays); i++)
    {
      g_autofree char *path = g_strdup_printf ("/StridedView/format/%s", arrays[i].name);

      g_test_add_data_func (path, GSIZE_TO_POINTER (i), test_array);
    }
  g_test_add_func ("/StridedView/format/nonfinite", test_nonfinite);
  g_test_add_func ("/StridedView/format/complex", test_complex);
  add_reachable_test ("/StridedView/format/summary", test_summary);
  g_test_add_func ("/StridedView/format/lines", test_lines);
  g_test_add_func ("/StridedView/format/strided", test_strided);
  add_reachable_test ("/StridedView/format/huge", test_huge);
  add_host_test ("/StridedView/format/not-numeric", test_not_numeric);
  g_test_add_func ("/StridedView/format/unnamed", test_unnamed);

  return g_test_run ();
}
