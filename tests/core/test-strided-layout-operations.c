/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "test-utils.h"

static MtlStridedLayout *
new_dense (const gint64 *shape,
           gsize         n_dims)
{
  g_autoptr (GError) error = NULL;
  MtlStridedLayout *layout = mtl_strided_layout_new (shape, n_dims, NULL, 0, 8, &error);

  g_assert_no_error (error);
  return layout;
}

static void
test_reshape (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedLayout) layout = new_dense (DIMS (2, 3, 4));
  g_autoptr (MtlStridedLayout) pairs = mtl_strided_layout_reshape (layout, DIMS (-1, 2), &error);
  g_autoptr (MtlStridedLayout) ones = mtl_strided_layout_reshape (layout, DIMS (1, 24, 1), &error);
  g_autoptr (MtlStridedLayout) singletons =
    mtl_strided_layout_new (DIMS (3, 1, 3), DIMS (-3, 3, -1), 8, &error);
  g_autoptr (MtlStridedLayout) nine = mtl_strided_layout_reshape (singletons, DIMS (9), &error);
  g_autoptr (MtlStridedLayout) single = new_dense (DIMS (1, 1));
  g_autoptr (MtlStridedLayout) scalar = mtl_strided_layout_reshape (single, NO_DIMS, &error);
  g_autoptr (MtlStridedLayout) empty = new_dense (DIMS (0, 3));
  g_autoptr (MtlStridedLayout) other = mtl_strided_layout_reshape (empty, DIMS (5, -1), &error);

  g_assert_no_error (error);
  assert_shape (pairs, 12, 2);
  assert_strides (pairs, 2, 1);
  assert_strides (ones, 24, 1, 1);
  assert_strides (nine, -1);
  g_assert_cmpuint (mtl_strided_layout_get_n_dims (scalar), ==, 0);
  assert_shape (other, 5, 0);
}

static void
test_reshape_bad (void)
{
  g_autoptr (MtlStridedLayout) layout = new_dense (DIMS (2, 3));
  g_autoptr (MtlStridedLayout) transposed = mtl_strided_layout_transpose (layout);
  g_autoptr (MtlStridedLayout) empty = new_dense (DIMS (0, 3));
  gint64 ones[65];

  for (gsize i = 0; i < 65; i++)
    ones[i] = 1;

  assert_fails (mtl_strided_layout_reshape (layout, DIMS (7), &error),
                MTL_ERROR_INVALID_ARGUMENT, "6 & (7,)");
  assert_fails (mtl_strided_layout_reshape (layout, DIMS (4, -1), &error),
                MTL_ERROR_INVALID_ARGUMENT, "(4, -1)");
  assert_fails (mtl_strided_layout_reshape (layout, DIMS (-1, -1), &error),
                MTL_ERROR_INVALID_ARGUMENT, "1");
  assert_fails (mtl_strided_layout_reshape (layout, DIMS (-2, -3), &error),
                MTL_ERROR_INVALID_ARGUMENT, "-2 & 0");
  assert_fails (mtl_strided_layout_reshape (layout, DIMS (0, -1), &error),
                MTL_ERROR_INVALID_ARGUMENT, "(0, -1)");
  assert_fails (mtl_strided_layout_reshape (empty, DIMS (0, -1), &error),
                MTL_ERROR_INVALID_ARGUMENT, "(0, -1)");
  assert_fails (mtl_strided_layout_reshape (layout, NO_DIMS, &error),
                MTL_ERROR_INVALID_ARGUMENT, "()");
  /* A product that comes out as 6 in 64 bits. */
  assert_fails (mtl_strided_layout_reshape (layout, DIMS (POW2 (62) + 1, 4, 6), &error),
                MTL_ERROR_INVALID_ARGUMENT, "4611686018427387905");
  assert_fails (mtl_strided_layout_reshape (layout, ones, 65, &error),
                MTL_ERROR_INVALID_ARGUMENT, "65");
  assert_fails (mtl_strided_layout_reshape (transposed, DIMS (6), &error),
                MTL_ERROR_NEEDS_COPY, "(6,)");
}

static void
test_flatten (void)
{
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlStridedLayout) layout =
    mtl_strided_layout_new (DIMS (2, 3, 4), DIMS (100, 4, 1), 8, &local_error);
  g_autoptr (MtlStridedLayout) inner = mtl_strided_layout_flatten (layout, 1, 2, &local_error);
  g_autoptr (MtlStridedLayout) one = mtl_strided_layout_flatten (layout, -2, -2, &local_error);
  g_autoptr (MtlStridedLayout) masked = mtl_strided_layout_flatten_mask (layout, 1 << 2,
                                                                         &local_error);
  g_autoptr (MtlStridedLayout) same = mtl_strided_layout_flatten_mask (layout, 0, &local_error);
  g_autoptr (MtlStridedLayout) scalar = new_dense (NO_DIMS);
  g_autoptr (MtlStridedLayout) from_scalar = mtl_strided_layout_flatten (scalar, 0, -1,
                                                                         &local_error);
  g_autoptr (MtlStridedLayout) from_end = mtl_strided_layout_flatten (scalar, -1, 0, &local_error);

  g_assert_no_error (local_error);
  g_assert_cmphex (mtl_strided_layout_get_flatten_mask (layout), ==, 1 << 2);
  assert_shape (inner, 2, 12);
  assert_strides (inner, 100, 1);
  g_assert_true (mtl_strided_layout_equal (masked, inner));
  g_assert_true (mtl_strided_layout_equal (one, layout));
  g_assert_true (mtl_strided_layout_equal (same, layout));
  assert_shape (from_scalar, 1);
  assert_shape (from_end, 1);

  assert_fails (mtl_strided_layout_flatten (layout, 0, -1, &error),
                MTL_ERROR_NEEDS_COPY, "(100, 4, 1)");
  assert_fails (mtl_strided_layout_flatten (layout, 2, 1, &error),
                MTL_ERROR_INVALID_ARGUMENT, "2 & 1");
  assert_fails (mtl_strided_layout_flatten_mask (layout, 1 << 1, &error),
                MTL_ERROR_NEEDS_COPY, "(6, 4)");
  assert_fails (mtl_strided_layout_flatten_mask (layout, 1, &error),
                MTL_ERROR_OUT_OF_BOUNDS, "0x1");
  assert_fails (mtl_strided_layout_flatten_mask (layout, 1 << 3, &error),
                MTL_ERROR_OUT_OF_BOUNDS, "0x8");
  assert_fails (mtl_strided_layout_flatten_mask (scalar, 1, &error),
                MTL_ERROR_OUT_OF_BOUNDS, "0x1");
  assert_fails (mtl_strided_layout_flatten (scalar, 1, 1, &error), MTL_ERROR_OUT_OF_BOUNDS, "1");
  assert_fails (mtl_strided_layout_flatten (scalar, 0, 1, &error), MTL_ERROR_OUT_OF_BOUNDS, "0");
  assert_fails (mtl_strided_layout_flatten (scalar, -1, -2, &error), MTL_ERROR_OUT_OF_BOUNDS, "-1");
}

/* Huge extents beside one of 0, in any order. */
static void
test_flatten_empty (void)
{
  const gint64 shapes[][3] = {
    { 0, POW2 (62), 4 }, { POW2 (62), 0, 4 }, { POW2 (62), 4, 0 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (shapes); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedLayout) layout = new_dense (shapes[i], 3);
      g_autoptr (MtlStridedLayout) flat = mtl_strided_layout_flatten (layout, 0, -1, &error);

      g_assert_no_error (error);
      assert_shape (flat, 0);
    }
}

/* An extent of 0 that stays on its own helps none of the others. */
static void
test_flatten_overflow (void)
{
  g_autoptr (MtlStridedLayout) layout = new_dense (DIMS (0, POW2 (40), POW2 (40)));

  assert_fails (mtl_strided_layout_flatten (layout, 1, 2, &error),
                MTL_ERROR_OVERFLOW, "1099511627776");
}

static void
test_permute (void)
{
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlStridedLayout) layout = new_dense (DIMS (2, 3, 4));
  g_autoptr (MtlStridedLayout) permuted = mtl_strided_layout_permute (layout, AXES (2, 0, -2),
                                                                      &local_error);
  g_autoptr (MtlStridedLayout) transposed = mtl_strided_layout_transpose (layout);
  g_autoptr (MtlStridedLayout) swapped = mtl_strided_layout_swap_axes (layout, 0, -1,
                                                                       &local_error);
  g_autoptr (MtlStridedLayout) same = mtl_strided_layout_swap_axes (layout, 1, -2, &local_error);

  g_assert_no_error (local_error);
  assert_shape (permuted, 4, 2, 3);
  assert_strides (permuted, 1, 12, 4);
  assert_strides (transposed, 1, 4, 12);
  assert_shape (swapped, 4, 3, 2);
  g_assert_true (mtl_strided_layout_equal (swapped, transposed));
  g_assert_true (mtl_strided_layout_equal (same, layout));

  assert_fails (mtl_strided_layout_permute (layout, AXES (0, 1), &error),
                MTL_ERROR_INVALID_ARGUMENT, "2 & 3");
  assert_fails (mtl_strided_layout_permute (layout, AXES (0, 1, -2), &error),
                MTL_ERROR_INVALID_ARGUMENT, "-2");
}

static void
test_squeeze (void)
{
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlStridedLayout) layout = new_dense (DIMS (1, 3, 1, 2, 1));
  g_autoptr (MtlStridedLayout) squeezed = mtl_strided_layout_squeeze (layout);
  g_autoptr (MtlStridedLayout) some = mtl_strided_layout_squeeze_axes (layout, AXES (-1, 0),
                                                                       &local_error);
  g_autoptr (MtlStridedLayout) none = mtl_strided_layout_squeeze_axes (layout, NULL, 0,
                                                                       &local_error);

  g_assert_no_error (local_error);
  assert_shape (squeezed, 3, 2);
  assert_strides (squeezed, 2, 1);
  assert_shape (some, 3, 1, 2);
  g_assert_true (mtl_strided_layout_equal (none, layout));

  assert_fails (mtl_strided_layout_squeeze_axes (layout, AXES (1), &error),
                MTL_ERROR_INVALID_ARGUMENT, "1 & 3");
  assert_fails (mtl_strided_layout_squeeze_axes (layout, AXES (0, -5), &error),
                MTL_ERROR_INVALID_ARGUMENT, "-5");
}

static void
test_unsqueeze (void)
{
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlStridedLayout) layout = new_dense (DIMS (3, 2));
  g_autoptr (MtlStridedLayout) added = mtl_strided_layout_unsqueeze (layout, AXES (0, 2, -1),
                                                                     &local_error);
  g_autoptr (MtlStridedLayout) sixty = mtl_strided_layout_new (DIMS (1), NULL, 0, 8, &local_error);
  int axes[64];

  for (int i = 0; i < 64; i++)
    axes[i] = i;

  g_assert_no_error (local_error);
  assert_shape (added, 1, 3, 1, 2, 1);
  assert_strides (added, 6, 2, 2, 1, 1);

  assert_fails (mtl_strided_layout_unsqueeze (layout, AXES (4, 0), &error),
                MTL_ERROR_OUT_OF_BOUNDS, "4");
  assert_fails (mtl_strided_layout_unsqueeze (layout, AXES (0, -4), &error),
                MTL_ERROR_INVALID_ARGUMENT, "-4");
  assert_fails (mtl_strided_layout_unsqueeze (sixty, axes, 64, &error),
                MTL_ERROR_INVALID_ARGUMENT, "64 & 1");
}

static void
test_broadcast (void)
{
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlStridedLayout) layout = new_dense (DIMS (3, 1));
  g_autoptr (MtlStridedLayout) wide = mtl_strided_layout_broadcast_to (layout, DIMS (2, 3, 4),
                                                                       &local_error);
  g_autoptr (MtlStridedLayout) empty = mtl_strided_layout_broadcast_to (layout, DIMS (3, 0),
                                                                        &local_error);
  g_autoptr (MtlStridedLayout) scalar = new_dense (NO_DIMS);
  g_autoptr (MtlStridedLayout) row = mtl_strided_layout_broadcast_to (scalar, DIMS (5),
                                                                      &local_error);
  g_autoptr (MtlStridedLayout) row_of_one = mtl_strided_layout_broadcast_to (scalar, DIMS (1),
                                                                             &local_error);
  gint64 ones[65];

  for (gsize i = 0; i < 65; i++)
    ones[i] = 1;

  g_assert_no_error (local_error);
  assert_shape (wide, 2, 3, 4);
  assert_strides (wide, 0, 1, 0);
  g_assert_false (mtl_strided_layout_is_unique (wide));
  assert_shape (empty, 3, 0);
  assert_strides (row, 0);
  assert_strides (row_of_one, 0);

  assert_fails (mtl_strided_layout_broadcast_to (scalar, ones, 65, &error),
                MTL_ERROR_INVALID_ARGUMENT, "65 & 64");
  assert_fails (mtl_strided_layout_broadcast_to (layout, DIMS (4, 4), &error),
                MTL_ERROR_INVALID_ARGUMENT, "(3, 1) & (4, 4)");
  assert_fails (mtl_strided_layout_broadcast_to (layout, DIMS (3), &error),
                MTL_ERROR_INVALID_ARGUMENT, "(3,)");
  assert_fails (mtl_strided_layout_broadcast_to (layout, DIMS (0, 1), &error),
                MTL_ERROR_INVALID_ARGUMENT, "(0, 1)");
  assert_fails (mtl_strided_layout_broadcast_to (layout, DIMS (3, -1), &error),
                MTL_ERROR_INVALID_ARGUMENT, "-1");
  assert_fails (mtl_strided_layout_broadcast_to (layout, DIMS (POW2 (40), 3, POW2 (40)), &error),
                MTL_ERROR_OVERFLOW, "1099511627776");
}

static void
test_select (void)
{
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlStridedLayout) layout = new_dense (DIMS (2, 3));
  g_autoptr (MtlStridedLayout) column = mtl_strided_layout_select (layout, -1, -1, &local_error);
  const gint64 outside[] = { 3, -4, G_MAXINT64, G_MININT64 };

  g_assert_no_error (local_error);
  assert_shape (column, 2);
  assert_strides (column, 3);
  g_assert_cmpint (mtl_strided_layout_get_offset (column), ==, 2);

  for (gsize i = 0; i < G_N_ELEMENTS (outside); i++)
    {
      g_autofree char *values = g_strdup_printf ("%" G_GINT64_FORMAT " & 1 & 3", outside[i]);

      assert_fails (mtl_strided_layout_select (layout, 1, outside[i], &error),
                    MTL_ERROR_OUT_OF_BOUNDS, values);
    }
}

static void
test_slice_string (void)
{
  static const struct { const char *string; const char *expected; } cases[] = {
    { "", "shape (4, 5, 6), strides (30, 6, 1), offset 0, items of 8 bits" },
    { "...", "shape (4, 5, 6), strides (30, 6, 1), offset 0, items of 8 bits" },
    { "1", "shape (5, 6), strides (6, 1), offset 30, items of 8 bits" },
    { " -1 , : , 2 ", "shape (5,), strides (6,), offset 92, items of 8 bits" },
    { "2:4, ..., ::-1, newaxis, 3",
      "shape (2, 5, 1), strides (30, -6, 1), offset 87, items of 8 bits" },
    { "..., 1:6:2", "shape (4, 5, 3), strides (30, 6, 2), offset 1, items of 8 bits" },
    { "1:3,", "shape (2, 5, 6), strides (30, 6, 1), offset 30, items of 8 bits" },
    { "None, 0, 0, 0", "shape (1,), strides (1,), offset 0, items of 8 bits" },
    { "0, …, 0", "shape (5,), strides (6,), offset 0, items of 8 bits" },
    { "3:1", "shape (0, 5, 6), strides (30, 6, 1), offset 0, items of 8 bits" },
    { "-100:+100", "shape (4, 5, 6), strides (30, 6, 1), offset 0, items of 8 bits" },
    { "0, 1, 2, ...", "shape (), strides (), offset 8, items of 8 bits" },
    { " : : -2 ", "shape (2, 5, 6), strides (-60, 6, 1), offset 90, items of 8 bits" },
  };
  g_autoptr (MtlStridedLayout) layout = new_dense (DIMS (4, 5, 6));

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedLayout) slice =
        mtl_strided_layout_slice_string (layout, cases[i].string, &error);
      g_autofree char *text = NULL;

      g_assert_no_error (error);
      text = mtl_strided_layout_to_string (slice);
      g_assert_cmpstr (text, ==, cases[i].expected);
    }
}

static void
test_slice_string_bad (void)
{
  static const struct { const char *string; MtlError code; const char *value; } cases[] = {
    { "4", MTL_ERROR_OUT_OF_BOUNDS, "4" },
    { ":, -6", MTL_ERROR_OUT_OF_BOUNDS, "-6" },
    { "0, 0, 0, 0", MTL_ERROR_OUT_OF_BOUNDS, "4 & 3" },
    { "::0", MTL_ERROR_INVALID_ARGUMENT, "0" },
    { "..., ...", MTL_ERROR_INVALID_ARGUMENT, "2" },
    { "abc", MTL_ERROR_INVALID_ARGUMENT, "“abc”" },
    { "1.5", MTL_ERROR_INVALID_ARGUMENT, "“1.5”" },
    { "1:2:3:4", MTL_ERROR_INVALID_ARGUMENT, "“1:2:3:4”" },
    { "1:x", MTL_ERROR_INVALID_ARGUMENT, "“1:x”" },
    { "1:2:x", MTL_ERROR_INVALID_ARGUMENT, "“1:2:x”" },
    { "1, , 2", MTL_ERROR_INVALID_ARGUMENT, "“1, , 2”" },
    { ",", MTL_ERROR_INVALID_ARGUMENT, "“,”" },
    { "--1", MTL_ERROR_INVALID_ARGUMENT, "“--1”" },
    { "-", MTL_ERROR_INVALID_ARGUMENT, "“-”" },
    { "0x1", MTL_ERROR_INVALID_ARGUMENT, "“0x1”" },
    { "1 2", MTL_ERROR_INVALID_ARGUMENT, "“1 2”" },
    { "9223372036854775808", MTL_ERROR_OUT_OF_BOUNDS, "9223372036854775807" },
    { "newaxis:", MTL_ERROR_INVALID_ARGUMENT, "“newaxis:”" },
  };
  g_autoptr (MtlStridedLayout) layout = new_dense (DIMS (4, 5, 6));
  g_autoptr (GString) many = g_string_new (NULL);

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_fails (mtl_strided_layout_slice_string (layout, cases[i].string, &error),
                  cases[i].code, cases[i].value);

  for (int i = 0; i < 62; i++)
    g_string_append (many, "newaxis, ");
  assert_fails (mtl_strided_layout_slice_string (layout, many->str, &error),
                MTL_ERROR_INVALID_ARGUMENT, "65 & 64");
  for (int i = 0; i < 100; i++)
    g_string_append (many, "newaxis, ");
  assert_fails (mtl_strided_layout_slice_string (layout, many->str, &error),
                MTL_ERROR_INVALID_ARGUMENT, "129");
}

static void
test_slice (void)
{
  const MtlSlice slices[] = {
    MTL_SLICE_NEW_AXIS,
    MTL_SLICE_AT (-2),
    MTL_SLICE_ELLIPSIS,
    { .kind = MTL_SLICE_KIND_RANGE, .stop = 1, .has_stop = TRUE, .step = -3 },
  };
  const MtlSlice unknown = { .kind = 9 };
  const MtlSlice still = { .kind = MTL_SLICE_KIND_RANGE };
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlStridedLayout) layout = new_dense (DIMS (4, 5, 6));
  g_autoptr (MtlStridedLayout) slice = mtl_strided_layout_slice (layout, slices, 4, &local_error);
  g_autoptr (MtlStridedLayout) same = mtl_strided_layout_slice (layout, NULL, 0, &local_error);

  g_assert_no_error (local_error);
  assert_shape (slice, 1, 5, 2);
  assert_strides (slice, 30, 6, -3);
  g_assert_cmpint (mtl_strided_layout_get_offset (slice), ==, 65);
  g_assert_true (mtl_strided_layout_equal (same, layout));

  assert_fails (mtl_strided_layout_slice (layout, &unknown, 1, &error),
                MTL_ERROR_INVALID_ARGUMENT, "9");
  assert_fails (mtl_strided_layout_slice (layout, &still, 1, &error),
                MTL_ERROR_INVALID_ARGUMENT, "0");
  assert_fails (mtl_strided_layout_narrow (layout, 0, 0, 1, 0, &error),
                MTL_ERROR_INVALID_ARGUMENT, "0");
}

/* Each macro means what the text does. */
static void
test_slice_macros (void)
{
  const struct
  {
    MtlSlice slices[3];
    gsize n_slices;
    const char *string;
  } cases[] = {
    { { MTL_SLICE_ALL, MTL_SLICE_AT (1) }, 2, ":, 1" },
    { { MTL_SLICE_AT (-1 - 1) }, 1, "-2" },
    { { MTL_SLICE_FROM (-3), MTL_SLICE_EVERY (-1) }, 2, "-3:, ::-1" },
    { { MTL_SLICE_RANGE (1, -1), MTL_SLICE_STEP (4, 0, -2) }, 2, "1:-1, 4:0:-2" },
    { { MTL_SLICE_ELLIPSIS, MTL_SLICE_NEW_AXIS, MTL_SLICE_EVERY (2) }, 3, "..., newaxis, ::2" },
  };
  g_autoptr (MtlStridedLayout) layout = new_dense (DIMS (4, 5, 6));

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedLayout) slice =
        mtl_strided_layout_slice (layout, cases[i].slices, cases[i].n_slices, &error);
      g_autoptr (MtlStridedLayout) expected =
        mtl_strided_layout_slice_string (layout, cases[i].string, &error);

      g_assert_no_error (error);
      g_assert_true (mtl_strided_layout_equal (slice, expected));
    }
}

/* The ends of the range of a gint64, where a sign or a sum could flip. */
static void
test_extremes (void)
{
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlStridedLayout) layout = new_dense (DIMS (5));
  g_autoptr (MtlStridedLayout) single =
    mtl_strided_layout_new (DIMS (1), DIMS (G_MININT64), 8, &local_error);
  g_autoptr (MtlStridedLayout) down = mtl_strided_layout_narrow (layout, 0, G_MAXINT64, G_MININT64,
                                                                 G_MININT64, &local_error);
  g_autoptr (MtlStridedLayout) up = mtl_strided_layout_narrow (layout, 0, G_MININT64, G_MAXINT64,
                                                               G_MAXINT64, &local_error);
  g_autoptr (MtlStridedLayout) all = mtl_strided_layout_narrow (layout, 0, G_MAXINT64, G_MININT64,
                                                                -1, &local_error);
  g_autoptr (MtlStridedLayout) of_single =
    mtl_strided_layout_narrow (single, 0, 0, 1, -1, &local_error);
  g_autoptr (MtlStridedLayout) reshaped = mtl_strided_layout_reshape (single, DIMS (1, 1),
                                                                      &local_error);
  g_autoptr (MtlStridedLayout) flipped = mtl_strided_layout_flip (single, 0, &local_error);
  gint64 min, max;

  g_assert_no_error (local_error);
  assert_shape (down, 1);
  g_assert_cmpint (mtl_strided_layout_get_offset (down), ==, 4);
  assert_shape (up, 1);
  g_assert_cmpint (mtl_strided_layout_get_offset (up), ==, 0);
  assert_shape (all, 5);
  assert_strides (all, -1);
  assert_shape (of_single, 0);
  mtl_strided_layout_get_offset_bounds (reshaped, &min, &max);
  g_assert_cmpint (min, ==, 0);
  g_assert_cmpint (max, ==, 0);

  /* It is not walked, so that it need not have an opposite. */
  g_assert_true (mtl_strided_layout_equal (flipped, single));
}

/* The stride that a dense layout would have before this one is 2^63. */
static void
test_step_beyond (void)
{
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlStridedLayout) far =
    mtl_strided_layout_new (DIMS (2), DIMS (POW2 (62)), 8, &local_error);
  g_autoptr (MtlStridedLayout) added = mtl_strided_layout_unsqueeze (far, AXES (0), &local_error);
  g_autoptr (MtlStridedLayout) pairs =
    mtl_strided_layout_new (DIMS (2, 2), DIMS (1, POW2 (62)), 8, &local_error);
  g_autoptr (MtlStridedLayout) same = mtl_strided_layout_reshape (pairs, DIMS (2, 1, 2),
                                                                  &local_error);

  g_assert_no_error (local_error);
  assert_strides (added, 1, POW2 (62));
  assert_strides (same, 1, 1, POW2 (62));
  g_assert_cmphex (mtl_strided_layout_get_flatten_mask (pairs), ==, 0);
  assert_fails (mtl_strided_layout_reshape (pairs, DIMS (4), &error), MTL_ERROR_NEEDS_COPY, "(4,)");
}

/* Layouts that reach almost as far as a gint64: each is either refused, or all
 * that can be made of it can be asked for its bounds. */
static void
test_far_reaches (void)
{
  static const struct { gint64 shape[2], strides[2]; } cases[] = {
    { { 1, 3 }, { 1, -POW2 (62) } },
    { { 1, 2 }, { 1, -G_MAXINT64 } },
    { { 1, 2 }, { 1, G_MININT64 } },
    { { 2, 3 }, { -3 * POW2 (61), POW2 (61) } },
    { { 3, 3 }, { -3 * POW2 (60), -POW2 (60) } },
    { { 2, 2 }, { -POW2 (62), POW2 (62) } },
  };
  guint n_made = 0;

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedLayout) layout =
        mtl_strided_layout_new (cases[i].shape, 2, cases[i].strides, 2, 8, &error);

      if (layout == NULL)
        {
          g_assert_error (error, MTL_ERROR, MTL_ERROR_OVERFLOW);
          continue;
        }

      for (int flips = 0; flips < 4; flips++)
        {
          g_autoptr (MtlStridedLayout) a = (flips & 1)
            ? mtl_strided_layout_flip (layout, 0, NULL) : g_object_ref (layout);
          g_autoptr (MtlStridedLayout) b = (flips & 2)
            ? mtl_strided_layout_slice_string (a, ":, ::-1", NULL) : g_object_ref (a);
          g_autoptr (MtlStridedLayout) flat = mtl_strided_layout_flatten (b, 0, 1, NULL);
          gint64 min, max, b_min, b_max;

          mtl_strided_layout_get_offset_bounds (layout, &min, &max);
          mtl_strided_layout_get_offset_bounds (b, &b_min, &b_max);
          g_assert_cmpint (b_min, ==, min);
          g_assert_cmpint (b_max, ==, max);
          if (flat != NULL)
            {
              mtl_strided_layout_get_offset_bounds (flat, &b_min, &b_max);
              g_assert_cmpint (b_min, ==, min);
              g_assert_cmpint (b_max, ==, max);
            }
          n_made++;
        }
    }

  g_assert_cmpuint (n_made, >, 0);
}

static void
check_fit (MtlStridedLayout    *layout,
           MtlDType             dtype,
           MtlMetalTensorUsage  usage,
           const gint64        *strides,
           gsize                n_strides)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedLayout) fitting = mtl_strided_layout_fit_metal_tensor (layout, dtype, usage,
                                                                                &error);
  gsize n;

  g_assert_no_error (error);
  g_assert_cmpmem (mtl_strided_layout_get_strides (fitting, &n), n * sizeof (gint64), strides,
                   n_strides * sizeof (gint64));
  g_assert_cmpmem (mtl_strided_layout_get_shape (fitting, NULL), n * sizeof (gint64),
                   mtl_strided_layout_get_shape (layout, NULL), n * sizeof (gint64));
  g_assert_cmpuint (mtl_strided_layout_get_item_bits (fitting), ==, mtl_dtype_get_bits (dtype));
  g_assert_cmpint (mtl_strided_layout_get_offset (fitting), ==, 0);
}

/* The rules are tested in test-metal-tensor-brute-force.c. */
static void
test_fit_metal_tensor (void)
{
  g_autoptr (MtlStridedLayout) layout = new_dense (DIMS (2, 32, 3));
  g_autoptr (MtlStridedLayout) transposed = mtl_strided_layout_transpose (layout);

  check_fit (layout, MTL_DTYPE_UINT8, MTL_METAL_TENSOR_USAGE_COMPUTE, DIMS (96, 3, 1));
  check_fit (transposed, MTL_DTYPE_INT8, MTL_METAL_TENSOR_USAGE_RENDER, DIMS (1, 3, 96));
  check_fit (transposed, MTL_DTYPE_INT16, MTL_METAL_TENSOR_USAGE_RENDER, DIMS (64, 2, 1));
  check_fit (layout, MTL_DTYPE_UINT8, MTL_METAL_TENSOR_USAGE_MACHINE_LEARNING, DIMS (2048, 64, 1));
  check_fit (layout, MTL_DTYPE_UINT4, MTL_METAL_TENSOR_USAGE_COMPUTE, DIMS (768, 1, 256));
  assert_fails (mtl_strided_layout_fit_metal_tensor (layout, MTL_DTYPE_COMPLEX64,
                                                       MTL_METAL_TENSOR_USAGE_COMPUTE, &error),
                MTL_ERROR_NOT_SUPPORTED, "complex64");
  assert_fails (
      mtl_strided_layout_fit_metal_tensor (layout, 77, MTL_METAL_TENSOR_USAGE_COMPUTE, &error),
      MTL_ERROR_INVALID_ARGUMENT, "0x4d");
  assert_fails (mtl_strided_layout_fit_metal_tensor (layout, MTL_DTYPE_UINT8, 0, &error),
                MTL_ERROR_INVALID_ARGUMENT, "0x0");
  assert_fails (mtl_strided_layout_fit_metal_tensor (layout, MTL_DTYPE_UINT8, 9, &error),
                MTL_ERROR_INVALID_ARGUMENT, "0x9");
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/StridedLayout/reshape", test_reshape);
  g_test_add_func ("/StridedLayout/reshape/bad", test_reshape_bad);
  g_test_add_func ("/StridedLayout/flatten", test_flatten);
  g_test_add_func ("/StridedLayout/flatten/empty", test_flatten_empty);
  g_test_add_func ("/StridedLayout/flatten/overflow", test_flatten_overflow);
  g_test_add_func ("/StridedLayout/permute", test_permute);
  g_test_add_func ("/StridedLayout/squeeze", test_squeeze);
  g_test_add_func ("/StridedLayout/unsqueeze", test_unsqueeze);
  g_test_add_func ("/StridedLayout/broadcast", test_broadcast);
  g_test_add_func ("/StridedLayout/select", test_select);
  g_test_add_func ("/StridedLayout/slice", test_slice);
  g_test_add_func ("/StridedLayout/slice-macros", test_slice_macros);
  g_test_add_func ("/StridedLayout/slice/string", test_slice_string);
  g_test_add_func ("/StridedLayout/slice/string/bad", test_slice_string_bad);
  g_test_add_func ("/StridedLayout/extremes", test_extremes);
  g_test_add_func ("/StridedLayout/step-beyond", test_step_beyond);
  g_test_add_func ("/StridedLayout/far-reaches", test_far_reaches);
  g_test_add_func ("/StridedLayout/fit-mtl-tensor", test_fit_metal_tensor);

  return g_test_run ();
}
