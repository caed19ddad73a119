/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "test-utils.h"

#include <math.h>

static const MtlDType integers[] = {
  MTL_DTYPE_INT8, MTL_DTYPE_INT16, MTL_DTYPE_INT32, MTL_DTYPE_INT64,
  MTL_DTYPE_UINT8, MTL_DTYPE_UINT16, MTL_DTYPE_UINT32, MTL_DTYPE_UINT64,
};

static const MtlDType floats[] = {
  MTL_DTYPE_FLOAT16, MTL_DTYPE_BFLOAT16, MTL_DTYPE_FLOAT32, MTL_DTYPE_FLOAT64,
};

static const MtlDType complexes[] = {
  MTL_DTYPE_COMPLEX32, MTL_DTYPE_COMPLEX64, MTL_DTYPE_COMPLEX128,
};

static gboolean
is_signed (MtlDType dtype)
{
  return dtype >> 8 == 0;
}

static gint64
get_min (MtlDType dtype)
{
  return is_signed (dtype) ? -1 - (G_MAXINT64 >> (64 - mtl_dtype_get_bits (dtype))) : 0;
}

static guint64
get_max (MtlDType dtype)
{
  return G_MAXUINT64 >> (64 - mtl_dtype_get_bits (dtype) + is_signed (dtype));
}

/* Each kind of number, there and back, at the first and the last element. */
static void
test_integers (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (integers); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedView) view = new_zeros (integers[i], DIMS (2, 3));
      gint64 min = get_min (integers[i]);
      guint64 max = get_max (integers[i]);
      double re, im;

      g_assert_true (mtl_strided_view_set_int64 (view, DIMS (0, 0), min, &error));
      g_assert_true (mtl_strided_view_set_uint64 (view, DIMS (1, 2), max, &error));
      g_assert_true (mtl_strided_view_set_double (view, DIMS (0, 1), 42.9, &error));
      g_assert_true (mtl_strided_view_set_complex (view, DIMS (-1, -2), 7, 8, &error));
      g_assert_no_error (error);

      g_assert_cmpint (mtl_strided_view_get_int64 (view, DIMS (0, 0), &error), ==, min);
      g_assert_cmpuint (mtl_strided_view_get_uint64 (view, DIMS (-1, -1), &error), ==, max);
      g_assert_cmpint (mtl_strided_view_get_int64 (view, DIMS (0, 1), &error), ==, 42);
      g_assert_cmpuint (mtl_strided_view_get_uint64 (view, DIMS (1, 1), &error), ==, 7);
      g_assert_true (mtl_strided_view_get_double (view, DIMS (0, 0), &error) == (double) min);
      g_assert_true (mtl_strided_view_get_double (view, DIMS (1, 2), &error) == (double) max);
      g_assert_true (mtl_strided_view_get_complex (view, DIMS (0, 1), &re, &im, &error));
      g_assert_true (re == 42 && im == 0);
      g_assert_cmpint (mtl_strided_view_get_int64 (view, DIMS (0, 2), &error), ==, 0);
      g_assert_cmpint (mtl_strided_view_get_int64 (view, DIMS (1, 0), &error), ==, 0);
      g_assert_no_error (error);
    }
}

static void
assert_overflow (GError     **error,
                 const char  *value,
                 MtlDType     dtype)
{
  g_autofree char *name = mtl_dtype_to_string (dtype);
  g_autofree char *expected = g_strdup_printf ("%s & %s", value, name);

  assert_failed (*error, MTL_ERROR_OVERFLOW, expected);
}

/* One beyond each end is refused, and leaves the element as it was. */
static void
test_integers_out_of_range (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (integers); i++)
    {
      MtlDType dtype = integers[i];
      GError *error = NULL;
      g_autoptr (MtlStridedView) view = new_zeros (dtype, NO_DIMS);
      guint64 max = get_max (dtype);
      double above = ldexp (1, mtl_dtype_get_bits (dtype) - is_signed (dtype));
      g_autofree char *above_text = g_strdup_printf ("%.17g", above);

      g_assert_true (mtl_strided_view_set_int64 (view, NO_DIMS, 5, &error));

      if (max < G_MAXUINT64)
        {
          g_autofree char *text = g_strdup_printf ("%" G_GUINT64_FORMAT, max + 1);

          g_assert_false (mtl_strided_view_set_uint64 (view, NO_DIMS, max + 1, &error));
          assert_overflow (&error, text, dtype);
        }
      if (get_min (dtype) > G_MININT64)
        {
          g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT, get_min (dtype) - 1);

          g_assert_false (mtl_strided_view_set_int64 (view, NO_DIMS, get_min (dtype) - 1, &error));
          assert_overflow (&error, text, dtype);
        }

      g_assert_false (mtl_strided_view_set_double (view, NO_DIMS, above, &error));
      assert_overflow (&error, above_text, dtype);
      g_assert_false (mtl_strided_view_set_double (view, NO_DIMS, NAN, &error));
      assert_overflow (&error, "nan", dtype);
      g_assert_false (mtl_strided_view_set_double (view, NO_DIMS, INFINITY, &error));
      assert_overflow (&error, "inf", dtype);
      g_assert_false (mtl_strided_view_set_double (view, NO_DIMS, -INFINITY, &error));
      assert_overflow (&error, "-inf", dtype);
      g_assert_false (mtl_strided_view_set_complex (view, NO_DIMS, above, 0, &error));
      assert_overflow (&error, above_text, dtype);
      g_assert_cmpint (mtl_strided_view_get_int64 (view, NO_DIMS, &error), ==, 5);

      /* Numbers fit if they are within the range after truncation. */
      g_assert_true (mtl_strided_view_set_double (view, NO_DIMS,
                                                  is_signed (dtype) ? get_min (dtype) : -0.99,
                                                  &error));
      g_assert_cmpint (mtl_strided_view_get_int64 (view, NO_DIMS, &error), ==, get_min (dtype));
      if (mtl_dtype_get_bits (dtype) < 64)
        {
          g_assert_true (mtl_strided_view_set_double (view, NO_DIMS, max + 0.5, &error));
          g_assert_cmpuint (mtl_strided_view_get_uint64 (view, NO_DIMS, &error), ==, max);
        }
      g_assert_no_error (error);
    }
}

static void
test_int64_exact (void)
{
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlStridedView) view = new_zeros (MTL_DTYPE_INT64, DIMS (1));
  g_autoptr (MtlStridedView) unsigned_view = new_zeros (MTL_DTYPE_UINT64, DIMS (1));

  mtl_strided_view_set_int64 (view, DIMS (0), POW2 (53) + 1, &local_error);
  g_assert_cmpint (mtl_strided_view_get_int64 (view, DIMS (0), &local_error), ==, POW2 (53) + 1);
  g_assert_true (mtl_strided_view_get_double (view, DIMS (0), &local_error) == 0x1p53);
  mtl_strided_view_set_uint64 (unsigned_view, DIMS (0), G_MAXUINT64, &local_error);
  g_assert_no_error (local_error);

  assert_refuses (mtl_strided_view_get_int64 (unsigned_view, DIMS (0), &error) != 0,
                  MTL_ERROR_OVERFLOW, "18446744073709551615");
  mtl_strided_view_set_int64 (view, DIMS (0), -1, &local_error);
  assert_refuses (mtl_strided_view_get_uint64 (view, DIMS (0), &error) != 0,
                  MTL_ERROR_OVERFLOW, "-1 & uint64");
  g_assert_no_error (local_error);
}

static void
test_bool (void)
{
  static const struct { double value; int expected; } cases[] = {
    { 0, 0 }, { -0.0, 0 }, { 1, 1 }, { -1, 1 }, { 0.25, 1 }, { 1e300, 1 }, { 256, 1 },
  };
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = new_zeros (MTL_DTYPE_BOOL, DIMS (2));
  guint8 *data = mtl_strided_view_get_data (view);

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_assert_true (mtl_strided_view_set_double (view, DIMS (1), cases[i].value, &error));
      g_assert_cmpuint (data[1], ==, cases[i].expected);
      g_assert_cmpint (mtl_strided_view_get_int64 (view, DIMS (1), &error), ==, cases[i].expected);
    }

  g_assert_true (mtl_strided_view_set_int64 (view, DIMS (0), 256, &error));
  g_assert_cmpuint (data[0], ==, 1);
  g_assert_true (mtl_strided_view_set_complex (view, DIMS (0), 0, 1, &error));
  g_assert_cmpuint (data[0], ==, 1);

  /* A peer's truth need not be 1. */
  data[0] = 0x80;
  g_assert_cmpuint (mtl_strided_view_get_uint64 (view, DIMS (0), &error), ==, 1);
  g_assert_no_error (error);
}

static void
test_floats (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (floats); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedView) view = new_zeros (floats[i], DIMS (3));
      const double exact[] = { 0, -0.0, 1, -1.5, 0.15625, 96, INFINITY, -INFINITY, 0x1p-14 };

      for (gsize j = 0; j < G_N_ELEMENTS (exact); j++)
        {
          double value;

          g_assert_true (mtl_strided_view_set_double (view, DIMS (1), exact[j], &error));
          value = mtl_strided_view_get_double (view, DIMS (1), &error);
          g_assert_cmpmem (&value, sizeof value, &exact[j], sizeof exact[j]);
        }

      g_assert_true (mtl_strided_view_set_double (view, DIMS (1), NAN, &error));
      g_assert_true (isnan (mtl_strided_view_get_double (view, DIMS (1), &error)));
      g_assert_true (mtl_strided_view_set_int64 (view, DIMS (2), -96, &error));
      g_assert_cmpint (mtl_strided_view_get_int64 (view, DIMS (2), &error), ==, -96);
      g_assert_true (mtl_strided_view_set_uint64 (view, DIMS (2), 200, &error));
      g_assert_cmpuint (mtl_strided_view_get_uint64 (view, DIMS (2), &error), ==, 200);
      g_assert_true (mtl_strided_view_set_complex (view, DIMS (2), 2.5, 9, &error));
      g_assert_true (mtl_strided_view_get_double (view, DIMS (2), &error) == 2.5);
      g_assert_true (mtl_strided_view_get_double (view, DIMS (0), &error) == 0);
      g_assert_no_error (error);
    }
}

static void
test_float_rounding (void)
{
  static const struct { MtlDType dtype; double value, expected; } cases[] = {
    { MTL_DTYPE_FLOAT16, 2049, 2048 },       /* ties go to the even one */
    { MTL_DTYPE_FLOAT16, 2051, 2052 },
    { MTL_DTYPE_FLOAT16, 65519, 65504 },
    { MTL_DTYPE_FLOAT16, 65520, INFINITY },
    { MTL_DTYPE_FLOAT16, 0x1p-25, 0 },
    { MTL_DTYPE_FLOAT16, 0x1.8p-25, 0x1p-24 },
    { MTL_DTYPE_BFLOAT16, 257, 256 },
    { MTL_DTYPE_BFLOAT16, 259, 260 },
    { MTL_DTYPE_BFLOAT16, 1e39, INFINITY },
    { MTL_DTYPE_FLOAT32, 16777217, 16777216 },
    { MTL_DTYPE_FLOAT32, 16777219, 16777220 },
    { MTL_DTYPE_FLOAT32, 1e39, INFINITY },
    { MTL_DTYPE_FLOAT32, 0.1, 0.1f },
    { MTL_DTYPE_FLOAT64, 0.1, 0.1 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedView) view = new_zeros (cases[i].dtype, NO_DIMS);

      g_assert_true (mtl_strided_view_set_double (view, NO_DIMS, cases[i].value, &error));
      g_assert_true (mtl_strided_view_get_double (view, NO_DIMS, &error) == cases[i].expected);
      g_assert_true (mtl_strided_view_set_double (view, NO_DIMS, -cases[i].value, &error));
      g_assert_true (mtl_strided_view_get_double (view, NO_DIMS, &error) == -cases[i].expected);
      g_assert_no_error (error);
    }
}

static void
test_float_as_integer (void)
{
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlStridedView) view =
    mtl_strided_view_new_from_doubles (DOUBLES (-2.9, 1e19, 1e20, NAN, 0x1p63, -0x1p63),
                                       MTL_DTYPE_FLOAT64, DIMS (6), &local_error);

  g_assert_cmpint (mtl_strided_view_get_int64 (view, DIMS (0), &local_error), ==, -2);
  g_assert_cmpuint (mtl_strided_view_get_uint64 (view, DIMS (1), &local_error), ==,
                    G_GUINT64_CONSTANT (10000000000000000000));
  g_assert_cmpuint (mtl_strided_view_get_uint64 (view, DIMS (4), &local_error), ==,
                    G_GUINT64_CONSTANT (1) << 63);
  g_assert_cmpint (mtl_strided_view_get_int64 (view, DIMS (5), &local_error), ==, G_MININT64);
  g_assert_no_error (local_error);

  assert_refuses (mtl_strided_view_get_uint64 (view, DIMS (0), &error) != 0,
                  MTL_ERROR_OVERFLOW, "-2.8999999999999999");
  assert_refuses (mtl_strided_view_get_int64 (view, DIMS (1), &error) != 0,
                  MTL_ERROR_OVERFLOW, "1e+19");
  assert_refuses (mtl_strided_view_get_uint64 (view, DIMS (2), &error) != 0,
                  MTL_ERROR_OVERFLOW, "1e+20");
  assert_refuses (mtl_strided_view_get_int64 (view, DIMS (3), &error) != 0,
                  MTL_ERROR_OVERFLOW, "nan");
  assert_refuses (mtl_strided_view_get_int64 (view, DIMS (4), &error) != 0,
                  MTL_ERROR_OVERFLOW, "9.2233720368547758e+18");
}

static void
test_complex (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (complexes); i++)
    {
      g_autoptr (GError) local_error = NULL;
      g_autoptr (MtlStridedView) view = new_zeros (complexes[i], DIMS (2, 2));
      g_autofree char *name = mtl_dtype_to_string (complexes[i]);
      double re = 0, im = 0;

      g_assert_true (mtl_strided_view_set_complex (view, DIMS (1, 0), 1.5, -2.25, &local_error));
      g_assert_true (mtl_strided_view_get_complex (view, DIMS (1, 0), &re, &im, &local_error));
      g_assert_true (re == 1.5 && im == -2.25);
      g_assert_true (mtl_strided_view_get_complex (view, DIMS (1, 0), NULL, NULL, &local_error));
      g_assert_true (mtl_strided_view_set_double (view, DIMS (1, 0), 3, &local_error));
      g_assert_true (mtl_strided_view_get_complex (view, DIMS (1, 0), &re, &im, &local_error));
      g_assert_true (re == 3 && im == 0);
      g_assert_true (mtl_strided_view_set_int64 (view, DIMS (1, 1), -7, &local_error));
      g_assert_true (mtl_strided_view_get_complex (view, DIMS (1, 1), &re, &im, &local_error));
      g_assert_true (re == -7 && im == 0);
      g_assert_no_error (local_error);

      /* Nothing is cut off in silence. */
      assert_refuses (mtl_strided_view_get_double (view, DIMS (0, 0), &error) != 0,
                      MTL_ERROR_NOT_SUPPORTED, name);
      assert_refuses (mtl_strided_view_get_int64 (view, DIMS (0, 0), &error) != 0,
                      MTL_ERROR_NOT_SUPPORTED, name);
      assert_refuses (mtl_strided_view_get_uint64 (view, DIMS (0, 0), &error) != 0,
                      MTL_ERROR_NOT_SUPPORTED, name);
    }
}

static void
test_bad_indices (void)
{
  g_autoptr (MtlStridedView) view = new_zeros (MTL_DTYPE_INT32, DIMS (2, 3));
  g_autoptr (MtlStridedView) empty = new_zeros (MTL_DTYPE_INT32, DIMS (0));
  const gint64 outside[] = { 3, -4, G_MAXINT64, G_MININT64 };

  for (gsize i = 0; i < G_N_ELEMENTS (outside); i++)
    {
      g_autofree char *value = g_strdup_printf ("%" G_GINT64_FORMAT, outside[i]);

      assert_refuses (mtl_strided_view_get_double (view, DIMS (0, outside[i]), &error) != 0,
                      MTL_ERROR_OUT_OF_BOUNDS, value);
      assert_refuses (mtl_strided_view_get_int64 (view, DIMS (0, outside[i]), &error) != 0,
                      MTL_ERROR_OUT_OF_BOUNDS, value);
      assert_refuses (mtl_strided_view_get_complex (view, DIMS (0, outside[i]), NULL, NULL, &error),
                      MTL_ERROR_OUT_OF_BOUNDS, value);
      assert_refuses (mtl_strided_view_set_double (view, DIMS (0, outside[i]), 1, &error),
                      MTL_ERROR_OUT_OF_BOUNDS, value);
      assert_refuses (mtl_strided_view_set_uint64 (view, DIMS (outside[i], 0), 1, &error),
                      MTL_ERROR_OUT_OF_BOUNDS, value);
    }

  assert_refuses (mtl_strided_view_get_double (view, DIMS (1), &error) != 0,
                  MTL_ERROR_INVALID_ARGUMENT, "1 & 2");
  assert_refuses (mtl_strided_view_set_int64 (view, DIMS (1, 1, 1), 1, &error),
                  MTL_ERROR_INVALID_ARGUMENT, "3 & 2");
  assert_refuses (mtl_strided_view_get_double (view, NO_DIMS, &error) != 0,
                  MTL_ERROR_INVALID_ARGUMENT, "0 & 2");
  assert_refuses (mtl_strided_view_get_uint64 (empty, DIMS (0), &error) != 0,
                  MTL_ERROR_OUT_OF_BOUNDS, "0");
}

static void
test_read_only (void)
{
  g_autoptr (MtlStridedView) view = new_zeros (MTL_DTYPE_UINT8, DIMS (4));
  g_autoptr (MtlStridedView) locked = mtl_strided_view_as_read_only (view);

  assert_refuses (mtl_strided_view_set_double (locked, DIMS (0), 1, &error),
                  MTL_ERROR_READ_ONLY, "(4,)");
  assert_refuses (mtl_strided_view_set_int64 (locked, DIMS (0), 1, &error),
                  MTL_ERROR_READ_ONLY, "(4,)");
  assert_refuses (mtl_strided_view_set_uint64 (locked, DIMS (0), 1, &error),
                  MTL_ERROR_READ_ONLY, "(4,)");
  assert_refuses (mtl_strided_view_set_complex (locked, DIMS (0), 1, 0, &error),
                  MTL_ERROR_READ_ONLY, "(4,)");
  assert_elements (locked, 0, 0, 0, 0);
}

static void
test_not_numeric (void)
{
  const MtlDType others[] = { MTL_DTYPE_OPAQUE_HANDLE8, MTL_DTYPE_OPAQUE_HANDLE16,
                              MTL_DTYPE_OPAQUE_HANDLE32, MTL_DTYPE_OPAQUE_HANDLE64 };

  for (gsize i = 0; i < G_N_ELEMENTS (others); i++)
    {
      g_autoptr (MtlStridedView) view = new_zeros (others[i], DIMS (8));
      g_autofree char *name = mtl_dtype_to_string (others[i]);

      assert_refuses (mtl_strided_view_get_double (view, DIMS (0), &error) != 0,
                      MTL_ERROR_NOT_SUPPORTED, name);
      assert_refuses (mtl_strided_view_get_complex (view, DIMS (0), NULL, NULL, &error),
                      MTL_ERROR_NOT_SUPPORTED, name);
      assert_refuses (mtl_strided_view_set_int64 (view, DIMS (0), 1, &error),
                      MTL_ERROR_NOT_SUPPORTED, name);
      assert_refuses (mtl_strided_view_fill_double (view, 1, NULL, &error),
                      MTL_ERROR_NOT_SUPPORTED, name);
      assert_fails (mtl_strided_view_new_from_doubles (DOUBLES (1, 2), others[i], DIMS (2), &error),
                    MTL_ERROR_NOT_SUPPORTED, name);
    }
}

/* Elements that no machine would align so. */
static void
test_unaligned (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlBuffer) buffer = mtl_buffer_new (NULL, 64, MTL_STORAGE_MODE_HOST, &error);

  for (gsize i = 0; i < G_N_ELEMENTS (integers); i++)
    {
      g_autoptr (MtlStridedLayout) layout =
        mtl_strided_layout_new (DIMS (2), NULL, 0, mtl_dtype_get_bits (integers[i]), &error);
      g_autoptr (MtlStridedView) view = mtl_strided_view_new (buffer, layout, integers[i], 3,
                                                              &error);

      g_assert_true (mtl_strided_view_set_int64 (view, DIMS (1), 99, &error));
      g_assert_cmpint (mtl_strided_view_get_int64 (view, DIMS (1), &error), ==, 99);
      g_assert_no_error (error);
    }
}

/* Many numbers at once are those that single reads and writes give, of any type and layout. */
static void
test_all_at_once (void)
{
  const MtlDType more[] = { MTL_DTYPE_BOOL, MTL_DTYPE_INT4, MTL_DTYPE_UINT2,
                            MTL_DTYPE_FLOAT8_E5M2 };
  const MtlDType *tables[] = { integers, floats, more };
  const gsize sizes[] = { G_N_ELEMENTS (integers), G_N_ELEMENTS (floats), G_N_ELEMENTS (more) };

  for (gsize k = 0; k < G_N_ELEMENTS (tables); k++)
    for (gsize d = 0; d < sizes[k]; d++)
      {
        g_autoptr (GError) error = NULL;
        g_autoptr (MtlStridedView) whole = new_zeros (tables[k][d], DIMS (4, 6));
        g_autoptr (MtlStridedView) part = mtl_strided_view_slice_string (whole, "::-2, 1::2",
                                                                         &error);
        const double doubles[] = { 0, 1, 1, 0, 1.5, 0.25 };
        const gint64 int64s[] = { 1, 0, 0, 1, 1, 0 };
        g_autofree double *read = NULL;
        g_autofree gint64 *read_integers = NULL;
        gsize n;

        g_assert_true (mtl_strided_view_set_doubles (part, doubles, 6, &error));
        g_assert_no_error (error);
        read = mtl_strided_view_get_doubles (part, &n, &error);
        g_assert_no_error (error);
        g_assert_cmpuint (n, ==, 6);
        read_integers = mtl_strided_view_get_int64s (part, &n, &error);
        g_assert_no_error (error);
        g_assert_cmpuint (n, ==, 6);
        for (gint64 i = 0; i < 6; i++)
          {
            g_autoptr (MtlStridedView) single = new_zeros (tables[k][d], NO_DIMS);
            const gint64 indices[] = { i / 3, i % 3 };

            g_assert_true (mtl_strided_view_set_double (single, NO_DIMS, doubles[i], &error));
            g_assert_cmpfloat (read[i], ==, mtl_strided_view_get_double (part, indices, 2, &error));
            g_assert_cmpfloat (read[i], ==, mtl_strided_view_get_double (single, NO_DIMS, &error));
            g_assert_cmpint (read_integers[i], ==,
                             mtl_strided_view_get_int64 (part, indices, 2, &error));
          }

        g_assert_true (mtl_strided_view_set_int64s (part, int64s, 6, &error));
        g_assert_no_error (error);
        for (gint64 i = 0; i < 6; i++)
          g_assert_cmpint (mtl_strided_view_get_int64 (part, DIMS (i / 3, i % 3), &error), ==,
                           int64s[i]);
        /* Only the elements of the part changed. */
        g_assert_cmpfloat (mtl_strided_view_get_double (whole, DIMS (3, 0), &error), ==, 0);
        g_assert_no_error (error);
      }
}

static void
test_all_refuses (void)
{
  g_autoptr (MtlStridedView) bytes = new_zeros (MTL_DTYPE_UINT8, DIMS (2));
  g_autoptr (MtlStridedView) large = new_zeros (MTL_DTYPE_UINT64, DIMS (2));
  g_autoptr (MtlStridedView) doubles = new_zeros (MTL_DTYPE_FLOAT64, DIMS (2));
  g_autoptr (MtlStridedView) complex = new_zeros (MTL_DTYPE_COMPLEX64, DIMS (2));
  g_autoptr (MtlStridedView) empty = new_zeros (MTL_DTYPE_UINT8, DIMS (0));
  g_autoptr (MtlStridedView) reader = mtl_strided_view_as_read_only (bytes);
  g_autofree double *none = NULL;
  GError *local_error = NULL;
  gsize n = 9;

  g_assert_true (mtl_strided_view_set_doubles (bytes, DOUBLES (7, 8), &local_error));
  assert_refuses (mtl_strided_view_set_doubles (bytes, DOUBLES (1, 256), &error),
                  MTL_ERROR_OVERFLOW, "256");
  assert_refuses (mtl_strided_view_set_int64s (bytes, DIMS (1, -1), &error),
                  MTL_ERROR_OVERFLOW, "-1");
  assert_refuses (mtl_strided_view_set_doubles (bytes, DOUBLES (1, 2, 3), &error),
                  MTL_ERROR_INVALID_ARGUMENT, "3");
  assert_refuses (mtl_strided_view_set_int64s (reader, DIMS (1, 2), &error),
                  MTL_ERROR_READ_ONLY, "(2,)");
  g_assert_cmpfloat (mtl_strided_view_get_double (bytes, DIMS (0), NULL), ==, 7);

  g_assert_true (mtl_strided_view_set_uint64 (large, DIMS (1), G_MAXUINT64, NULL));
  assert_refuses (mtl_strided_view_get_int64s (large, &n, &error) != NULL,
                  MTL_ERROR_OVERFLOW, "18446744073709551615");
  g_assert_true (mtl_strided_view_set_double (doubles, DIMS (1), 0x1p63, NULL));
  assert_refuses (mtl_strided_view_get_int64s (doubles, &n, &error) != NULL,
                  MTL_ERROR_OVERFLOW, "9.2233720368547758e+18");
  assert_refuses (mtl_strided_view_get_doubles (complex, &n, &error) != NULL,
                  MTL_ERROR_NOT_SUPPORTED, "complex64");

  none = mtl_strided_view_get_doubles (empty, &n, &local_error);
  g_assert_no_error (local_error);
  g_assert_nonnull (none);
  g_assert_cmpuint (n, ==, 0);
  g_assert_true (mtl_strided_view_set_doubles (empty, NULL, 0, &local_error));
}

static void
test_parts (void)
{
  for (gsize d = 0; d < G_N_ELEMENTS (complexes); d++)
    {
      g_autoptr (GError) local_error = NULL;
      g_autoptr (MtlStridedView) whole = new_zeros (complexes[d], DIMS (3, 4));
      g_autoptr (MtlStridedView) part =
          mtl_strided_view_slice_string (whole, "::-1, 1::2", &local_error);
      g_autoptr (MtlStridedView) re = mtl_strided_view_select_real (part, &local_error);
      g_autoptr (MtlStridedView) im = mtl_strided_view_select_imaginary (part, &local_error);
      g_autoptr (MtlStridedView) again = mtl_strided_view_select_real (re, &local_error);
      g_autofree char *name = mtl_dtype_to_string (mtl_strided_view_get_dtype (re));
      double value_re, value_im;

      g_assert_no_error (local_error);
      g_assert_cmpuint (mtl_dtype_get_bits (mtl_strided_view_get_dtype (re)) * 2, ==,
                        mtl_dtype_get_bits (complexes[d]));
      g_assert_true (mtl_strided_view_equal (re, again));
      for (gint64 i = 0; i < 6; i++)
        {
          const gint64 indices[] = { i / 2, i % 2 };

          mtl_strided_view_set_double (re, indices, 2, i + 1, &local_error);
          mtl_strided_view_set_double (im, indices, 2, -i, &local_error);
          mtl_strided_view_get_complex (part, indices, 2, &value_re, &value_im, &local_error);
          g_assert_no_error (local_error);
          g_assert_cmpfloat (value_re, ==, i + 1);
          g_assert_cmpfloat (value_im, ==, -i);
        }
      assert_refuses (mtl_strided_view_select_imaginary (re, &error) != NULL,
                      MTL_ERROR_NOT_SUPPORTED, name);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/StridedView/elements/integers", test_integers);
  g_test_add_func ("/StridedView/elements/integers/out-of-range", test_integers_out_of_range);
  g_test_add_func ("/StridedView/elements/integers/exact", test_int64_exact);
  add_reachable_test ("/StridedView/elements/bool", test_bool);
  g_test_add_func ("/StridedView/elements/floats", test_floats);
  g_test_add_func ("/StridedView/elements/floats/rounding", test_float_rounding);
  g_test_add_func ("/StridedView/elements/floats/as-integer", test_float_as_integer);
  g_test_add_func ("/StridedView/elements/complex", test_complex);
  g_test_add_func ("/StridedView/elements/bad-indices", test_bad_indices);
  g_test_add_func ("/StridedView/elements/read-only", test_read_only);
  g_test_add_func ("/StridedView/elements/not-numeric", test_not_numeric);
  g_test_add_func ("/StridedView/elements/unaligned", test_unaligned);
  add_reachable_test ("/StridedView/elements/all-at-once", test_all_at_once);
  add_reachable_test ("/StridedView/elements/all-refuses", test_all_refuses);
  g_test_add_func ("/StridedView/elements/parts", test_parts);

  return g_test_run ();
}
