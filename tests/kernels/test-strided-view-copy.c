/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "test-utils.h"

#include <math.h>

/* 0, 1, 2, … */
static MtlStridedView *
new_range (gsize         n,
           const gint64 *shape,
           gsize         n_dims)
{
  double values[64];

  for (gsize i = 0; i < n; i++)
    values[i] = i;

  return from_doubles (MTL_DTYPE_INT32, shape, n_dims, values, n);
}

static void
test_same_type (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) source = new_range (6, DIMS (2, 3));
  g_autoptr (MtlStridedView) transposed = mtl_strided_view_transpose (source);
  g_autoptr (MtlStridedView) dest = mtl_strided_view_new_zeros (NULL, MTL_DTYPE_INT32, DIMS (3, 4),
                                                                MTL_STORAGE_MODE_DEFAULT, &error);
  g_autoptr (MtlStridedView) part = slice (dest, ":, 3:0:-2");

  g_assert_true (mtl_strided_view_copy_from (part, transposed, NULL, &error));
  g_assert_no_error (error);
  assert_elements (dest, 0, 3, 0, 0, 0, 4, 0, 1, 0, 5, 0, 2);
}

/* Casts follow C where it defines them, and beyond it: integers wrap, floats are truncated and kept
 * within the range, NaN is 0. */
static void
test_casts (void)
{
  static const struct { MtlDType from; double value; MtlDType to; double expected; } cases[] = {
    { MTL_DTYPE_INT32, 300, MTL_DTYPE_UINT8, 44 },
    { MTL_DTYPE_INT32, -1, MTL_DTYPE_UINT8, 255 },
    { MTL_DTYPE_INT32, 200, MTL_DTYPE_INT8, -56 },
    { MTL_DTYPE_INT8, -1, MTL_DTYPE_UINT64, 18446744073709551615.0 },
    { MTL_DTYPE_INT8, -5, MTL_DTYPE_INT64, -5 },
    { MTL_DTYPE_UINT8, 200, MTL_DTYPE_INT16, 200 },
    { MTL_DTYPE_FLOAT64, 2.9, MTL_DTYPE_INT8, 2 },
    { MTL_DTYPE_FLOAT64, -2.9, MTL_DTYPE_INT8, -2 },
    { MTL_DTYPE_FLOAT64, 1000, MTL_DTYPE_INT8, 127 },
    { MTL_DTYPE_FLOAT64, -1000, MTL_DTYPE_INT8, -128 },
    { MTL_DTYPE_FLOAT64, -1, MTL_DTYPE_UINT16, 0 },
    { MTL_DTYPE_FLOAT64, 1e30, MTL_DTYPE_INT64, 9223372036854775808.0 },
    { MTL_DTYPE_FLOAT64, 1e30, MTL_DTYPE_UINT64, 18446744073709551615.0 },
    { MTL_DTYPE_FLOAT64, NAN, MTL_DTYPE_INT32, 0 },
    { MTL_DTYPE_FLOAT64, INFINITY, MTL_DTYPE_UINT8, 255 },
    { MTL_DTYPE_FLOAT64, -INFINITY, MTL_DTYPE_INT16, -32768 },
    { MTL_DTYPE_FLOAT64, 0.3, MTL_DTYPE_BOOL, 1 },
    { MTL_DTYPE_BOOL, 1, MTL_DTYPE_FLOAT16, 1 },
    { MTL_DTYPE_FLOAT64, 0.1, MTL_DTYPE_FLOAT32, 0.1f },
    { MTL_DTYPE_FLOAT32, 3.140625, MTL_DTYPE_BFLOAT16, 3.140625 },
    { MTL_DTYPE_COMPLEX128, 2.5, MTL_DTYPE_FLOAT32, 2.5 },
    { MTL_DTYPE_INT16, -7, MTL_DTYPE_COMPLEX64, -7 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedView) source = from_doubles (cases[i].from, DIMS (1),
                                                        &cases[i].value, 1);
      g_autoptr (MtlStridedView) converted = mtl_strided_view_to_dtype (source, cases[i].to,
                                                                        MTL_ORDER_C, NULL, &error);
      g_autoptr (MtlStridedView) dest =
        mtl_strided_view_new_zeros (NULL, cases[i].to, DIMS (1), MTL_STORAGE_MODE_DEFAULT, &error);

      g_assert_true (mtl_strided_view_copy_from (dest, source, NULL, &error));
      g_assert_no_error (error);
      g_assert_cmpint (mtl_strided_view_get_dtype (converted), ==, cases[i].to);
      assert_elements (converted, cases[i].expected);
      assert_elements (dest, cases[i].expected);
    }
}

static void
test_cast_imaginary (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = mtl_strided_view_new_zeros (NULL, MTL_DTYPE_COMPLEX128,
                                                                DIMS (1), MTL_STORAGE_MODE_DEFAULT,
                                                                &error);
  g_autoptr (MtlStridedView) narrow = NULL;
  double re, im;

  mtl_strided_view_set_complex (view, DIMS (0), 1.5, -2.5, &error);
  narrow = mtl_strided_view_to_dtype (view, MTL_DTYPE_COMPLEX32, MTL_ORDER_C, NULL, &error);
  mtl_strided_view_get_complex (narrow, DIMS (0), &re, &im, &error);
  g_assert_no_error (error);
  g_assert_true (re == 1.5 && im == -2.5);
}

static void
test_broadcast (void)
{
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlStridedView) dest = mtl_strided_view_new_zeros (NULL, MTL_DTYPE_FLOAT32,
                                                                DIMS (2, 3),
                                                                MTL_STORAGE_MODE_DEFAULT,
                                                                &local_error);
  g_autoptr (MtlStridedView) row = new_range (3, DIMS (3));
  g_autoptr (MtlStridedView) column = from_doubles (MTL_DTYPE_INT8, DIMS (2, 1), DOUBLES (7, 8));
  g_autoptr (MtlStridedView) pair = new_range (2, DIMS (2));
  g_autoptr (MtlStridedView) cube = new_range (6, DIMS (1, 2, 3));

  g_assert_true (mtl_strided_view_copy_from (dest, row, NULL, &local_error));
  assert_elements (dest, 0, 1, 2, 0, 1, 2);
  g_assert_true (mtl_strided_view_copy_from (dest, column, NULL, &local_error));
  assert_elements (dest, 7, 7, 7, 8, 8, 8);
  g_assert_no_error (local_error);

  assert_refuses (mtl_strided_view_copy_from (dest, pair, NULL, &error),
                  MTL_ERROR_INVALID_ARGUMENT, "(2,) & (2, 3)");
  assert_refuses (mtl_strided_view_copy_from (dest, cube, NULL, &error),
                  MTL_ERROR_INVALID_ARGUMENT, "(1, 2, 3) & (2, 3)");
  assert_elements (dest, 7, 7, 7, 8, 8, 8);
}

/* Parts of one tensor onto each other, against a copy through a temporary. */
static void
test_overlap (void)
{
  static const struct { const char *dest, *source; gboolean transpose; } cases[] = {
    { "1:, :", ":-1, :", FALSE },                /* shifted */
    { ":-1, :", "1:, :", FALSE },
    { ":, 1:", ":, :-1", FALSE },
    { ":, :-1", ":, 1:", FALSE },
    { ":, :", "::-1, :", FALSE },                /* reversed */
    { ":, :", ":, ::-1", FALSE },
    { "::-1, ::-1", ":, :", FALSE },
    { ":, :", ":, :", TRUE },                    /* transposed onto itself */
    { "1:, 1:", ":-1, :-1", TRUE },
    { "::2, ::2", ":2, :2", FALSE },             /* every other one */
    { ":, :", ":1, :", FALSE },                  /* broadcast from within */
    { ":, :", ":, 3:", FALSE },
    { ":, :", ":, :", FALSE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedView) view = new_range (16, DIMS (4, 4));
      g_autoptr (MtlStridedView) expected = new_range (16, DIMS (4, 4));
      g_autoptr (MtlStridedView) dest = slice (view, cases[i].dest);
      g_autoptr (MtlStridedView) source = slice (view, cases[i].source);
      g_autoptr (MtlStridedView) turned = cases[i].transpose ? mtl_strided_view_transpose (source)
                                                             : g_object_ref (source);
      g_autoptr (MtlStridedView) temporary = mtl_strided_view_copy (turned, MTL_ORDER_C, NULL,
                                                                    &error);
      g_autoptr (MtlStridedView) expected_dest = slice (expected, cases[i].dest);

      g_assert_true (mtl_strided_view_copy_from (expected_dest, temporary, NULL, &error));
      g_assert_true (mtl_strided_view_copy_from (dest, turned, NULL, &error));
      g_assert_true (mtl_strided_view_array_equal (view, expected, MTL_COMPARE_FLAGS_NONE, NULL,
                                                   &error));
      g_assert_no_error (error);
    }
}

/* Views of the same bytes in two element types overlap. */
static void
test_overlap_types (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlBuffer) buffer = mtl_buffer_new (NULL, 32, MTL_STORAGE_MODE_HOST, &error);
  g_autoptr (MtlStridedLayout) narrow = mtl_strided_layout_new (DIMS (4), NULL, 0, 8, &error);
  g_autoptr (MtlStridedLayout) wide = mtl_strided_layout_new (DIMS (4), NULL, 0, 64, &error);
  g_autoptr (MtlStridedView) bytes = mtl_strided_view_new (buffer, narrow, MTL_DTYPE_UINT8, 0,
                                                           &error);
  g_autoptr (MtlStridedView) doubles = mtl_strided_view_new (buffer, wide, MTL_DTYPE_FLOAT64, 0,
                                                             &error);

  for (int i = 0; i < 4; i++)
    mtl_strided_view_set_int64 (bytes, DIMS (i), i + 1, &error);
  g_assert_true (mtl_strided_view_copy_from (doubles, bytes, NULL, &error));
  assert_elements (doubles, 1, 2, 3, 4);
  g_assert_true (mtl_strided_view_copy_from (bytes, doubles, NULL, &error));
  assert_elements (bytes, 1, 2, 3, 4);
  g_assert_no_error (error);
}

static void
test_refused (void)
{
  g_autoptr (MtlStridedView) view = new_range (4, DIMS (4));
  g_autoptr (MtlStridedView) locked = mtl_strided_view_as_read_only (view);
  g_autoptr (MtlStridedView) handles =
    mtl_strided_view_new_zeros (NULL, MTL_DTYPE_OPAQUE_HANDLE32, DIMS (4), MTL_STORAGE_MODE_DEFAULT,
                                NULL);

  assert_refuses (mtl_strided_view_copy_from (locked, view, NULL, &error), MTL_ERROR_READ_ONLY,
                  "(4,)");
  assert_refuses (mtl_strided_view_fill_double (locked, 1, NULL, &error), MTL_ERROR_READ_ONLY,
                  "(4,)");
  assert_refuses (mtl_strided_view_copy_from (view, handles, NULL, &error),
                  MTL_ERROR_NOT_SUPPORTED, "opaque_handle32");
  assert_refuses (mtl_strided_view_copy_from (handles, view, NULL, &error),
                  MTL_ERROR_NOT_SUPPORTED, "opaque_handle32");
  assert_fails (mtl_strided_view_to_dtype (view, MTL_DTYPE_OPAQUE_HANDLE8, MTL_ORDER_C,
                                           NULL, &error),
                MTL_ERROR_NOT_SUPPORTED, "opaque_handle8");
  assert_fails (mtl_strided_view_to_dtype (view, MTL_DTYPE_OTHER, MTL_ORDER_C, NULL, &error),
                MTL_ERROR_INVALID_ARGUMENT, "0x0");
  assert_refuses (mtl_strided_view_array_equal (view, handles, MTL_COMPARE_FLAGS_NONE, NULL,
                                                &error),
                  MTL_ERROR_NOT_SUPPORTED, "opaque_handle32");
  assert_elements (view, 0, 1, 2, 3);
}

static void
test_fill (void)
{
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlStridedView) view = new_range (12, DIMS (3, 4));
  g_autoptr (MtlStridedView) part = slice (view, "1:, ::-2");
  g_autoptr (MtlStridedView) corner = slice (view, "0, 0");
  g_autoptr (MtlStridedView) nothing = slice (view, "3:");

  g_assert_true (mtl_strided_view_fill_double (part, -1.7, NULL, &local_error));
  g_assert_true (mtl_strided_view_fill_double (corner, 99, NULL, &local_error));
  g_assert_true (mtl_strided_view_fill_double (nothing, 5, NULL, &local_error));
  g_assert_no_error (local_error);
  assert_elements (view, 99, 1, 2, 3, 4, -1, 6, -1, 8, -1, 10, -1);

  assert_refuses (mtl_strided_view_fill_double (view, 3e9, NULL, &error),
                  MTL_ERROR_OVERFLOW, "3000000000");
  g_assert_cmpint (mtl_strided_view_get_int64 (view, DIMS (0, 1), NULL), ==, 1);
}

/* Legal, and sent by peers: a huge stride where there is but one index. */
static void
test_unwalked_strides (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlBuffer) buffer = mtl_buffer_new (NULL, 32, MTL_STORAGE_MODE_HOST, &error);
  const gint64 huge[] = { POW2 (62), G_MAXINT64, G_MININT64 };

  for (gsize i = 0; i < G_N_ELEMENTS (huge); i++)
    {
      g_autoptr (MtlStridedLayout) layout =
        mtl_strided_layout_new (DIMS (1, 2, 1), DIMS (huge[i], 2, huge[i]), 64, &error);
      g_autoptr (MtlStridedView) view = mtl_strided_view_new (buffer, layout, MTL_DTYPE_FLOAT64, 0,
                                                              &error);
      g_autoptr (MtlStridedView) copy = NULL;
      g_autofree char *text = NULL;

      g_assert_true (mtl_strided_view_fill_double (view, 3, NULL, &error));
      copy = mtl_strided_view_copy (view, MTL_ORDER_C, NULL, &error);
      g_assert_no_error (error);
      assert_elements (copy, 3, 3);
      text = mtl_strided_view_to_string (view);
      g_assert_cmpstr (text, ==, "[[[3.]\n  [3.]]]");
    }
}

static void
assert_same_strides (MtlStridedView   *view,
                     MtlStridedLayout *layout)
{
  gsize n_strides, n_expected;
  const gint64 *strides = mtl_strided_view_get_strides (view, &n_strides);
  const gint64 *expected = mtl_strided_layout_get_strides (layout, &n_expected);

  g_assert_cmpmem (strides, n_strides * sizeof (gint64), expected, n_expected * sizeof (gint64));
}

static void
test_copy (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = new_range (6, DIMS (2, 3));
  g_autoptr (MtlStridedView) transposed = mtl_strided_view_transpose (view);
  g_autoptr (MtlStridedView) locked = mtl_strided_view_as_read_only (transposed);
  g_autoptr (MtlStridedView) copy = mtl_strided_view_copy (locked, MTL_ORDER_C, NULL, &error);
  g_autoptr (MtlStridedView) contiguous = mtl_strided_view_to_contiguous (locked, NULL, &error);
  g_autoptr (MtlStridedView) itself = mtl_strided_view_to_contiguous (view, NULL, &error);
  g_autoptr (MtlStridedView) same_type = mtl_strided_view_to_dtype (view, MTL_DTYPE_INT32,
                                                                    MTL_ORDER_C, NULL, &error);
  g_autoptr (MtlStridedView) on_host =
    mtl_strided_view_to_device (view, mtl_device_get_host (), MTL_STORAGE_MODE_HOST, NULL, &error);

  g_assert_no_error (error);
  assert_view_strides (copy, 2, 1);
  assert_elements (copy, 0, 3, 1, 4, 2, 5);
  g_assert_false (mtl_strided_view_is_read_only (copy));
  assert_elements (contiguous, 0, 3, 1, 4, 2, 5);
  g_assert_true (itself == view);
  g_assert_true (same_type == view);
  g_assert_true (on_host == view);

  mtl_strided_view_fill_double (view, 0, NULL, &error);
  assert_elements (copy, 0, 3, 1, 4, 2, 5);
}

static void
test_to_dtype_orders (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = new_range (24, DIMS (2, 3, 4));
  g_autoptr (MtlStridedView) turned = mtl_strided_view_permute (view, AXES (2, 0, 1), &error);
  g_autoptr (MtlStridedView) reversed = mtl_strided_view_transpose (view);

  for (MtlOrder order = MTL_ORDER_C; order <= MTL_ORDER_ANY; order++)
    {
      MtlStridedView *views[] = { view, turned, reversed };

      for (gsize i = 0; i < G_N_ELEMENTS (views); i++)
        {
          g_autoptr (MtlStridedLayout) expected =
            mtl_strided_layout_to_dense (mtl_strided_view_get_layout (views[i]), order, &error);
          g_autoptr (MtlStridedView) same =
            mtl_strided_view_to_dtype (views[i], MTL_DTYPE_INT32, order, NULL, &error);
          g_autoptr (MtlStridedView) wide =
            mtl_strided_view_to_dtype (views[i], MTL_DTYPE_FLOAT64, order, NULL, &error);

          g_assert_no_error (error);
          g_assert_cmpint (same == views[i], ==,
                           mtl_strided_layout_equal (mtl_strided_view_get_layout (views[i]),
                                                     expected));
          assert_same_strides (same, expected);
          assert_same_strides (wide, expected);
          g_assert_true (mtl_strided_view_array_equal (wide, views[i], MTL_COMPARE_FLAGS_NONE, NULL,
                                                       &error));
          g_assert_true (mtl_strided_view_array_equal (same, views[i], MTL_COMPARE_FLAGS_NONE, NULL,
                                                       &error));
        }
    }
}

static void
test_to_dtype_refused (void)
{
  g_autoptr (MtlStridedView) view = new_range (2, DIMS (2));

  assert_fails (mtl_strided_view_to_dtype (view, MTL_DTYPE_INT32, 4, NULL, &error),
                MTL_ERROR_INVALID_ARGUMENT, "4");
  assert_fails (mtl_strided_view_to_dtype (view, MTL_DTYPE_INT16, -1, NULL, &error),
                MTL_ERROR_INVALID_ARGUMENT, "-1");
}

static void
test_copy_too_large (void)
{
  g_autoptr (MtlStridedView) view = new_range (1, DIMS (1));
  g_autoptr (MtlStridedView) wide = mtl_strided_view_broadcast_to (view, DIMS (POW2 (56)), NULL);
  g_autoptr (MtlStridedView) wider = mtl_strided_view_broadcast_to (view, DIMS (POW2 (62)), NULL);

  assert_fails (mtl_strided_view_copy (wide, MTL_ORDER_C, NULL, &error), MTL_ERROR_NO_MEMORY,
                "288230376151711744");
  assert_fails (mtl_strided_view_copy (wider, MTL_ORDER_C, NULL, &error), MTL_ERROR_OVERFLOW,
                "4611686018427387903");
  assert_fails (mtl_strided_view_get_bytes (wider, &error),
                MTL_ERROR_NEEDS_COPY, "4611686018427387904");
  assert_fails (mtl_strided_view_to_device (view, mtl_device_get_host (), MTL_STORAGE_MODE_MANAGED,
                                            NULL, &error),
                MTL_ERROR_NOT_SUPPORTED, "“managed”");
}

static void
test_equal (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) a = from_doubles (MTL_DTYPE_INT32, DIMS (2, 2), DOUBLES (1, 2, 3, 4));
  g_autoptr (MtlStridedView) b = from_doubles (MTL_DTYPE_FLOAT16, DIMS (2, 2),
                                               DOUBLES (1, 3, 2, 4));
  g_autoptr (MtlStridedView) turned = mtl_strided_view_transpose (b);
  g_autoptr (MtlStridedView) flat = from_doubles (MTL_DTYPE_INT32, DIMS (4), DOUBLES (1, 2, 3, 4));
  g_autoptr (MtlStridedView) complex = mtl_strided_view_to_dtype (a, MTL_DTYPE_COMPLEX64,
                                                                  MTL_ORDER_C, NULL, &error);
  g_autoptr (MtlStridedView) nan = from_doubles (MTL_DTYPE_FLOAT64, DIMS (1), DOUBLES (NAN));
  g_autoptr (MtlStridedView) zero = from_doubles (MTL_DTYPE_FLOAT64, DIMS (1), DOUBLES (0.0));
  g_autoptr (MtlStridedView) minus_zero = from_doubles (MTL_DTYPE_FLOAT64, DIMS (1),
                                                        DOUBLES (-0.0));

  g_assert_true (mtl_strided_view_array_equal (a, a, MTL_COMPARE_FLAGS_NONE, NULL, &error));
  g_assert_true (mtl_strided_view_array_equal (a, turned, MTL_COMPARE_FLAGS_NONE, NULL, &error));
  g_assert_false (mtl_strided_view_array_equal (a, b, MTL_COMPARE_FLAGS_NONE, NULL, &error));
  g_assert_false (mtl_strided_view_array_equal (a, flat, MTL_COMPARE_FLAGS_NONE, NULL, &error));
  g_assert_true (mtl_strided_view_array_equal (a, complex, MTL_COMPARE_FLAGS_NONE, NULL, &error));
  g_assert_false (mtl_strided_view_array_equal (nan, nan, MTL_COMPARE_FLAGS_NONE, NULL, &error));
  g_assert_true (mtl_strided_view_array_equal (zero, minus_zero, MTL_COMPARE_FLAGS_NONE, NULL,
                                               &error));
  g_assert_true (mtl_strided_view_set_complex (complex, DIMS (0, 0), 1, 1, &error));
  g_assert_false (mtl_strided_view_array_equal (complex, a, MTL_COMPARE_FLAGS_NONE, NULL, &error));
  g_assert_no_error (error);
}

static void
test_equal_nan (void)
{
  const MtlCompareFlags equal_nan = MTL_COMPARE_FLAGS_EQUAL_NAN;
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) a = from_doubles (MTL_DTYPE_FLOAT64, DIMS (2), DOUBLES (1, NAN));
  g_autoptr (MtlStridedView) b = from_doubles (MTL_DTYPE_FLOAT16, DIMS (2), DOUBLES (1, -NAN));
  g_autoptr (MtlStridedView) other = from_doubles (MTL_DTYPE_FLOAT64, DIMS (2), DOUBLES (2, NAN));
  g_autoptr (MtlStridedView) ints = from_doubles (MTL_DTYPE_INT32, DIMS (2), DOUBLES (1, 0));
  g_autoptr (MtlStridedView) complex = mtl_strided_view_to_dtype (ints, MTL_DTYPE_COMPLEX64,
                                                                  MTL_ORDER_C, NULL, &error);

  g_assert_true (mtl_strided_view_array_equal (a, b, equal_nan, NULL, &error));
  g_assert_false (mtl_strided_view_array_equal (a, other, equal_nan, NULL, &error));
  g_assert_true (mtl_strided_view_all_close (a, other, 0, 1, equal_nan, NULL, &error));
  g_assert_false (mtl_strided_view_all_close (a, other, 0, 1, MTL_COMPARE_FLAGS_NONE, NULL,
                                              &error));
  g_assert_false (mtl_strided_view_array_equal (a, ints, equal_nan, NULL, &error));
  g_assert_false (mtl_strided_view_array_equal (a, complex, equal_nan, NULL, &error));
  g_assert_true (mtl_strided_view_set_complex (complex, DIMS (1), 0, NAN, &error));
  g_assert_true (mtl_strided_view_array_equal (a, complex, equal_nan, NULL, &error));
  g_assert_false (mtl_strided_view_array_equal (a, complex, MTL_COMPARE_FLAGS_NONE, NULL, &error));
  g_assert_no_error (error);
}

/* Elements that doubles cannot tell apart still differ. */
static void
test_equal_exact (void)
{
  static const struct { const char *a; MtlDType a_type; const char *b; MtlDType b_type;
                        gboolean equal; } cases[] = {
    { "int64 9007199254740993", MTL_DTYPE_INT64, "9007199254740992.0", MTL_DTYPE_FLOAT64, FALSE },
    { "int64 9007199254740992", MTL_DTYPE_INT64, "9007199254740992.0", MTL_DTYPE_FLOAT64, TRUE },
    { "int64 -1", MTL_DTYPE_INT64, "uint64 18446744073709551615", MTL_DTYPE_UINT64, FALSE },
    { "int64 5", MTL_DTYPE_INT64, "uint64 5", MTL_DTYPE_UINT64, TRUE },
    { "uint64 18446744073709551615", MTL_DTYPE_UINT64, "18446744073709551616.0",
      MTL_DTYPE_FLOAT64, FALSE },
    { "int64 9223372036854775807", MTL_DTYPE_INT64, "9223372036854775808.0", MTL_DTYPE_FLOAT64,
      FALSE },
    { "int64 -9223372036854775808", MTL_DTYPE_INT64, "-9223372036854775808.0", MTL_DTYPE_FLOAT64,
      TRUE },
    { "int64 1", MTL_DTYPE_INT64, "1.5", MTL_DTYPE_FLOAT64, FALSE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedView) a =
        mtl_strided_view_new_from_variant (g_variant_new_parsed (cases[i].a), cases[i].a_type,
                                           NO_DIMS, &error);
      g_autoptr (MtlStridedView) b =
        mtl_strided_view_new_from_variant (g_variant_new_parsed (cases[i].b), cases[i].b_type,
                                           NO_DIMS, &error);

      g_assert_true (mtl_strided_view_array_equal (a, b, MTL_COMPARE_FLAGS_NONE, NULL, &error) == cases[i].equal);
      g_assert_true (mtl_strided_view_array_equal (b, a, MTL_COMPARE_FLAGS_NONE, NULL, &error) == cases[i].equal);
      g_assert_no_error (error);
    }
}

static void
test_all_close (void)
{
  static const struct { double a, b, rtol, atol; gboolean close; } cases[] = {
    { 100, 101, 0, 1, TRUE },
    { 100, 101.5, 0, 1, FALSE },
    { 101, 100, 0.01, 0, TRUE },
    { 101.5, 100, 0.01, 0, FALSE },
    { INFINITY, INFINITY, 0, 0, TRUE },
    { INFINITY, -INFINITY, 1, 1, FALSE },
    { INFINITY, 1, 1, 1, FALSE },
    { 1, INFINITY, 1, 1, FALSE },
    { NAN, NAN, 1, 1, FALSE },
    { 0, 0, 0, 0, TRUE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedView) a = from_doubles (MTL_DTYPE_FLOAT64, DIMS (1), &cases[i].a, 1);
      g_autoptr (MtlStridedView) b = from_doubles (MTL_DTYPE_FLOAT64, DIMS (1), &cases[i].b, 1);
      gboolean close = mtl_strided_view_all_close (a, b, cases[i].rtol, cases[i].atol,
                                                   MTL_COMPARE_FLAGS_NONE, NULL, &error);

      g_assert_no_error (error);
      g_assert_true (close == cases[i].close);
    }
}

static void
test_bytes (void)
{
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlStridedView) view = new_range (6, DIMS (2, 3));
  g_autoptr (MtlStridedView) row = slice (view, "1");
  g_autoptr (MtlStridedView) column = slice (view, ":, 1");
  g_autoptr (GBytes) shared = mtl_strided_view_get_bytes (row, &local_error);
  g_autoptr (GBytes) copied = mtl_strided_view_dup_bytes (column, NULL, &local_error);
  const gint32 row_values[] = { 3, 4, 5 }, column_values[] = { 1, 4 };

  g_assert_no_error (local_error);
  g_assert_true (g_bytes_get_data (shared, NULL) == mtl_strided_view_get_data (row));
  g_assert_cmpmem (g_bytes_get_data (shared, NULL), g_bytes_get_size (shared),
                   row_values, sizeof row_values);
  g_assert_cmpmem (g_bytes_get_data (copied, NULL), g_bytes_get_size (copied),
                   column_values, sizeof column_values);
  assert_fails (mtl_strided_view_get_bytes (column, &error), MTL_ERROR_NEEDS_COPY, "(3,)");

  g_clear_object (&view);
  g_clear_object (&row);
  g_clear_object (&column);
  g_assert_cmpmem (g_bytes_get_data (shared, NULL), g_bytes_get_size (shared),
                   row_values, sizeof row_values);
}

/* An empty layout may name any offset: there is nothing there. */
static void
test_empty_far_away (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlBuffer) buffer = mtl_buffer_new (NULL, 8, MTL_STORAGE_MODE_HOST, &error);
  g_autoptr (MtlStridedLayout) far = mtl_strided_layout_new (DIMS (3), DIMS (POW2 (61)), 64,
                                                             &error);
  g_autoptr (MtlStridedLayout) last = mtl_strided_layout_slice_string (far, "2:", &error);
  g_autoptr (MtlStridedLayout) none = mtl_strided_layout_slice_string (last, "0:0", &error);
  g_autoptr (MtlStridedView) view = mtl_strided_view_new (buffer, none, MTL_DTYPE_FLOAT64, 0,
                                                          &error);
  g_autoptr (MtlStridedView) copy = NULL;
  g_autoptr (GBytes) bytes = NULL;

  g_assert_no_error (error);
  bytes = mtl_strided_view_get_bytes (view, &error);
  copy = mtl_strided_view_copy (view, MTL_ORDER_C, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_bytes_get_size (bytes), ==, 0);
  g_assert_true (mtl_strided_view_is_empty (copy));
  g_assert_true (mtl_strided_view_array_equal (view, copy, MTL_COMPARE_FLAGS_NONE, NULL, &error));
  g_assert_true (mtl_strided_view_copy_from (view, copy, NULL, &error));
  g_assert_no_error (error);
}

/* Elements of half a byte, wherever they begin. */
static void
test_packed (void)
{
  g_autoptr (GError) local_error = NULL;
  g_autoptr (GBytes) bytes = g_bytes_new_static ("\x21\x43\x65", 3);
  g_autoptr (MtlStridedView) view =
    mtl_strided_view_new_from_bytes (bytes, MTL_DTYPE_FLOAT4_E2M1FN, DIMS (6), &local_error);
  g_autoptr (MtlStridedView) copy = mtl_strided_view_copy (view, MTL_ORDER_C, NULL, &local_error);
  g_autoptr (MtlStridedView) tail = slice (view, "2:");
  g_autoptr (MtlStridedView) odd = slice (view, "1:4");
  g_autoptr (MtlStridedView) reversed = slice (view, "::-1");
  g_autoptr (GBytes) odd_bytes = mtl_strided_view_dup_bytes (odd, NULL, &local_error);
  g_autoptr (GBytes) reversed_bytes = mtl_strided_view_dup_bytes (reversed, NULL, &local_error);
  g_autoptr (GBytes) tail_bytes = mtl_strided_view_dup_bytes (tail, NULL, &local_error);
  g_autoptr (GBytes) copy_bytes = mtl_strided_view_get_bytes (copy, &local_error);

  g_assert_no_error (local_error);
  g_assert_true (g_bytes_equal (copy_bytes, bytes));
  g_assert_cmpmem (g_bytes_get_data (tail_bytes, NULL), g_bytes_get_size (tail_bytes),
                   "\x43\x65", 2);
  g_assert_cmpmem (g_bytes_get_data (odd_bytes, NULL), g_bytes_get_size (odd_bytes),
                   "\x32\x04", 2);
  g_assert_cmpmem (g_bytes_get_data (reversed_bytes, NULL), g_bytes_get_size (reversed_bytes),
                   "\x56\x34\x12", 3);
  assert_fails (mtl_strided_view_get_bytes (odd, &error), MTL_ERROR_NEEDS_COPY, "1");
  g_assert_null (mtl_strided_view_get_data (odd));
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/StridedView/copy-from/same-type", test_same_type);
  g_test_add_func ("/StridedView/copy-from/casts", test_casts);
  g_test_add_func ("/StridedView/copy-from/casts/imaginary", test_cast_imaginary);
  g_test_add_func ("/StridedView/copy-from/broadcast", test_broadcast);
  g_test_add_func ("/StridedView/copy-from/overlap", test_overlap);
  g_test_add_func ("/StridedView/copy-from/overlap/types", test_overlap_types);
  g_test_add_func ("/StridedView/copy-from/refused", test_refused);
  g_test_add_func ("/StridedView/fill", test_fill);
  g_test_add_func ("/StridedView/unwalked-strides", test_unwalked_strides);
  add_host_test ("/StridedView/copy", test_copy);
  add_reachable_test ("/StridedView/copy/too-large", test_copy_too_large);
  g_test_add_func ("/StridedView/to-dtype/orders", test_to_dtype_orders);
  g_test_add_func ("/StridedView/to-dtype/refused", test_to_dtype_refused);
  g_test_add_func ("/StridedView/equal", test_equal);
  g_test_add_func ("/StridedView/equal/nan", test_equal_nan);
  g_test_add_func ("/StridedView/equal/exact", test_equal_exact);
  g_test_add_func ("/StridedView/all-close", test_all_close);
  add_reachable_test ("/StridedView/bytes", test_bytes);
  add_reachable_test ("/StridedView/empty-far-away", test_empty_far_away);
  g_test_add_func ("/StridedView/packed", test_packed);

  return g_test_run ();
}
