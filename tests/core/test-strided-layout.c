/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "test-utils.h"

#include "mtl-bindings-private.h"

static void
test_new (void)
{
  g_autoptr (GError) error = NULL;
  MtlStridedLayout *layout = mtl_strided_layout_new (DIMS (2, 3, 4), DIMS (-40, 8, 2), 32, &error);
  gint64 min, max;

  g_assert_no_error (error);
  assert_shape (layout, 2, 3, 4);
  assert_strides (layout, -40, 8, 2);
  g_assert_cmpuint (mtl_strided_layout_get_n_dims (layout), ==, 3);
  g_assert_cmpuint (mtl_strided_layout_get_item_bits (layout), ==, 32);
  g_assert_cmpint (mtl_strided_layout_get_offset (layout), ==, 0);
  g_assert_cmpint (mtl_strided_layout_get_volume (layout), ==, 24);
  g_assert_false (mtl_strided_layout_is_empty (layout));
  g_assert_cmpint (mtl_strided_layout_get_extent (layout, 1, &error), ==, 3);
  g_assert_cmpint (mtl_strided_layout_get_extent (layout, -1, &error), ==, 4);
  g_assert_cmpint (mtl_strided_layout_get_stride (layout, 0, &error), ==, -40);
  g_assert_cmpint (mtl_strided_layout_get_stride (layout, -3, &error), ==, -40);
  g_assert_no_error (error);
  mtl_strided_layout_get_offset_bounds (layout, &min, &max);
  g_assert_cmpint (min, ==, -40);
  g_assert_cmpint (max, ==, 22);
  mtl_strided_layout_get_offset_bounds (layout, NULL, NULL);
  g_assert_finalize_object (layout);
}

static void
test_no_strides (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedLayout) layout = mtl_strided_layout_new (DIMS (2, 3, 4), NULL, 0, 8, &error);
  g_autoptr (MtlStridedLayout) dense = mtl_strided_layout_new_dense (DIMS (2, 3, 4), MTL_ORDER_C,
                                                                     8, &error);
  g_autoptr (MtlStridedLayout) explicit = mtl_strided_layout_new (DIMS (2, 3, 4), DIMS (12, 4, 1),
                                                                  8, &error);

  g_assert_no_error (error);
  assert_strides (layout, 12, 4, 1);
  g_assert_true (mtl_strided_layout_equal (layout, dense));
  g_assert_true (mtl_strided_layout_equal (layout, explicit));
  g_assert_cmpuint (mtl_strided_layout_hash (layout), ==, mtl_strided_layout_hash (explicit));
}

static void
test_scalar (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedLayout) layout = mtl_strided_layout_new (NO_DIMS, NULL, 0, 64, &error);
  g_autofree char *text = NULL;
  gsize n;

  g_assert_no_error (error);
  g_assert_cmpuint (mtl_strided_layout_get_n_dims (layout), ==, 0);
  g_assert_cmpint (mtl_strided_layout_get_volume (layout), ==, 1);
  g_assert_cmpint (mtl_strided_layout_get_required_size (layout, &error), ==, 8);
  g_assert_true (mtl_strided_layout_is_contiguous (layout, MTL_ORDER_C));
  g_assert_true (mtl_strided_layout_is_dense (layout));
  g_assert_true (mtl_strided_layout_is_unique (layout));
  g_assert_cmpuint (mtl_strided_layout_get_flatten_mask (layout), ==, 0);
  mtl_strided_layout_get_shape (layout, &n);
  g_assert_cmpuint (n, ==, 0);
  text = mtl_strided_layout_to_string (layout);
  g_assert_cmpstr (text, ==, "shape (), strides (), offset 0, items of 64 bits");
}

static void
test_bad_shape (void)
{
  gint64 ones[65];

  for (gsize i = 0; i < 65; i++)
    ones[i] = 1;

  assert_fails (mtl_strided_layout_new (DIMS (2, -3), NULL, 0, 8, &error),
                MTL_ERROR_INVALID_ARGUMENT, "-3 & 1");
  assert_fails (mtl_strided_layout_new (DIMS (G_MININT64), NULL, 0, 8, &error),
                MTL_ERROR_INVALID_ARGUMENT, "-9223372036854775808");
  assert_fails (mtl_strided_layout_new (DIMS (0, -1), NULL, 0, 8, &error),
                MTL_ERROR_INVALID_ARGUMENT, "-1");
  assert_fails (mtl_strided_layout_new (ones, 65, NULL, 0, 8, &error),
                MTL_ERROR_INVALID_ARGUMENT, "65 & 64");
  assert_fails (mtl_strided_layout_new (ones, 65, ones, 65, 8, &error),
                MTL_ERROR_INVALID_ARGUMENT, "65");
  assert_fails (mtl_strided_layout_new_with_byte_strides (ones, 65, ones, 65, 8, &error),
                MTL_ERROR_INVALID_ARGUMENT, "65");
  assert_fails (mtl_strided_layout_new_dense (ones, 65, MTL_ORDER_F, 8, &error),
                MTL_ERROR_INVALID_ARGUMENT, "65");
  assert_fails (mtl_strided_layout_new (ones, G_MAXSIZE, NULL, 0, 8, &error),
                MTL_ERROR_INVALID_ARGUMENT, "18446744073709551615");
  assert_fails (mtl_strided_layout_new (DIMS (2), NULL, 0, 0, &error),
                MTL_ERROR_INVALID_ARGUMENT, "0");
  assert_fails (mtl_strided_layout_new (DIMS (2, 3), DIMS (1), 8, &error),
                MTL_ERROR_INVALID_ARGUMENT, "1 & 2");
  assert_fails (mtl_strided_layout_new_with_byte_strides (DIMS (2), DIMS (1, 1), 8, &error),
                MTL_ERROR_INVALID_ARGUMENT, "2 & 1");
}

static void
test_overflow (void)
{
  assert_fails (mtl_strided_layout_new (DIMS (POW2 (32), POW2 (31)), NULL, 0, 8, &error),
                MTL_ERROR_OVERFLOW, "(4294967296, 2147483648)");
  assert_fails (mtl_strided_layout_new (DIMS (POW2 (32), POW2 (31)), DIMS (0, 0), 8, &error),
                MTL_ERROR_OVERFLOW, "4294967296");
  assert_fails (mtl_strided_layout_new_dense (DIMS (POW2 (40), POW2 (40)), MTL_ORDER_F, 8, &error),
                MTL_ERROR_OVERFLOW, "1099511627776");
  assert_fails (mtl_strided_layout_new (DIMS (3), DIMS (POW2 (62)), 8, &error),
                MTL_ERROR_OVERFLOW, "4611686018427387904");
  assert_fails (mtl_strided_layout_new (DIMS (2, 2), DIMS (POW2 (62), POW2 (62)), 8, &error),
                MTL_ERROR_OVERFLOW, "4611686018427387904");
  assert_fails (mtl_strided_layout_new (DIMS (4), DIMS (-POW2 (62)), 8, &error),
                MTL_ERROR_OVERFLOW, "-4611686018427387904");
  assert_fails (mtl_strided_layout_new_with_byte_strides (DIMS (2), DIMS (POW2 (61)), 4, &error),
                MTL_ERROR_OVERFLOW, "2305843009213693952");
}

/* Axes that are not walked do not matter: an extent of 0 anywhere, or of 1 on its own axis. */
static void
test_no_overflow (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedLayout) empty = mtl_strided_layout_new (DIMS (POW2 (40), POW2 (40), 0),
                                                               NULL, 0, 64, &error);
  g_autoptr (MtlStridedLayout) strided =
    mtl_strided_layout_new (DIMS (G_MAXINT64, 0, G_MAXINT64),
                            DIMS (G_MININT64, G_MAXINT64, G_MININT64), 64, &error);
  g_autoptr (MtlStridedLayout) single =
    mtl_strided_layout_new (DIMS (1, 1, 2), DIMS (G_MININT64, G_MAXINT64, 1), 8, &error);
  gint64 min, max;

  g_assert_no_error (error);
  g_assert_cmpint (mtl_strided_layout_get_volume (empty), ==, 0);
  g_assert_cmpint (mtl_strided_layout_get_required_size (empty, &error), ==, 0);
  g_assert_true (mtl_strided_layout_is_empty (strided));
  g_assert_true (mtl_strided_layout_is_unique (strided));
  g_assert_true (mtl_strided_layout_is_contiguous (strided, MTL_ORDER_C));
  mtl_strided_layout_get_offset_bounds (strided, &min, &max);
  g_assert_cmpint (min, ==, 0);
  g_assert_cmpint (max, ==, -1);
  g_assert_cmpint (mtl_strided_layout_get_required_size (single, &error), ==, 2);
  g_assert_no_error (error);
}

static void
test_for_bytes (void)
{
  const gint64 none[1] = { 0 };
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlStridedLayout) layout =
    mtl_strided_layout_new_with_byte_strides (DIMS (2, 3), DIMS (-32, 4), 32, &local_error);
  g_autoptr (MtlStridedLayout) packed =
    mtl_strided_layout_new_with_byte_strides (DIMS (2, 3), DIMS (3, 1), 4, &local_error);
  g_autoptr (MtlStridedLayout) dense =
    mtl_strided_layout_new_with_byte_strides (DIMS (2, 3), NULL, 0, 32, &local_error);
  g_autoptr (MtlStridedLayout) scalar =
    mtl_strided_layout_new_with_byte_strides (NULL, 0, none, 0, 32, &local_error);

  g_assert_no_error (local_error);
  assert_strides (layout, -8, 1);
  assert_strides (packed, 6, 2);
  assert_strides (dense, 3, 1);
  g_assert_cmpint (mtl_strided_layout_get_volume (scalar), ==, 1);
  assert_fails (mtl_strided_layout_new_with_byte_strides (DIMS (2, 3), DIMS (12, 6), 32, &error),
                MTL_ERROR_INVALID_ARGUMENT, "6 & 1");
  assert_fails (mtl_strided_layout_new_with_byte_strides (DIMS (1, 4), DIMS (7, 2), 32, &error),
                MTL_ERROR_INVALID_ARGUMENT, "2 & 1");
  assert_fails (mtl_strided_layout_new_with_byte_strides (DIMS (2), DIMS (1), 6, &error),
                MTL_ERROR_INVALID_ARGUMENT, "1");
  assert_fails (mtl_strided_layout_new_with_byte_strides (DIMS (-2), DIMS (1), 8, &error),
                MTL_ERROR_INVALID_ARGUMENT, "-2");
}

/* Only strides that are walked have to be of whole elements. */
static void
test_for_bytes_not_walked (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedLayout) row =
    mtl_strided_layout_new_with_byte_strides (DIMS (1, 4), DIMS (7, 4), 32, &error);
  g_autoptr (MtlStridedLayout) pixel =
    mtl_strided_layout_new_with_byte_strides (DIMS (1, 1, 1), DIMS (-9, 3, 1), 16, &error);
  g_autoptr (MtlStridedLayout) empty =
    mtl_strided_layout_new_with_byte_strides (DIMS (3, 0, 2), DIMS (1, 6, 2), 32, &error);
  g_autoptr (MtlStridedLayout) far =
    mtl_strided_layout_new_with_byte_strides (DIMS (1, 4), DIMS (G_MININT64, 1), 4, &error);

  g_assert_no_error (error);
  assert_strides (row, 4, 1);
  assert_strides (pixel, 1, 1, 1);
  assert_shape (empty, 3, 0, 2);
  assert_strides (far, 8, 2);
}

static void
test_byte_strides (void)
{
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlStridedLayout) layout = mtl_strided_layout_new (DIMS (2, 3), DIMS (-8, 1), 32,
                                                                &local_error);
  g_autoptr (MtlStridedLayout) packed = mtl_strided_layout_new (DIMS (2, 3), DIMS (4, 1), 4,
                                                                &local_error);
  g_autoptr (MtlStridedLayout) huge = mtl_strided_layout_new (DIMS (2), DIMS (POW2 (60)), 64,
                                                              &local_error);
  gsize n = 0;
  g_autofree gint64 *strides = mtl_strided_layout_dup_byte_strides (layout, &n, &local_error);

  g_assert_no_error (local_error);
  assert_dims (strides, n, -32, 4);
  assert_fails (mtl_strided_layout_dup_byte_strides (packed, &n, &error),
                MTL_ERROR_NOT_SUPPORTED, "1 & 4");
  assert_fails (mtl_strided_layout_dup_byte_strides (huge, &n, &error),
                MTL_ERROR_OVERFLOW, "1152921504606846976");
}

static void
test_required_size (void)
{
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlStridedLayout) below = mtl_strided_layout_new (DIMS (3), DIMS (-2), 16,
                                                               &local_error);
  g_autoptr (MtlStridedLayout) flipped = mtl_strided_layout_flip (below, 0, &local_error);
  g_autoptr (MtlStridedLayout) bits = mtl_strided_layout_new (DIMS (5), NULL, 0, 6, &local_error);
  g_autoptr (MtlStridedLayout) huge = mtl_strided_layout_new (DIMS (POW2 (60)), NULL, 0, 64,
                                                              &local_error);
  g_autoptr (MtlStridedLayout) far_below = mtl_strided_layout_new (DIMS (2), DIMS (-POW2 (61)), 64,
                                                                   &local_error);

  g_assert_no_error (local_error);
  assert_refuses (mtl_strided_layout_get_required_size (far_below, &error) != -1,
                  MTL_ERROR_OVERFLOW, "-2305843009213693952");
  assert_refuses (mtl_strided_layout_get_required_size (below, &error) != -1,
                  MTL_ERROR_OUT_OF_BOUNDS, "8");
  g_assert_cmpint (mtl_strided_layout_get_offset (flipped), ==, -4);
  g_assert_cmpint (mtl_strided_layout_get_required_size (bits, &local_error), ==, 4);
  g_assert_no_error (local_error);
  assert_refuses (mtl_strided_layout_get_required_size (huge, &error) != -1,
                  MTL_ERROR_OVERFLOW, "1152921504606846975");
}

static void
test_axis_out_of_bounds (void)
{
  g_autoptr (MtlStridedLayout) layout = mtl_strided_layout_new (DIMS (2, 3), NULL, 0, 8, NULL);
  const int outside[] = { 2, -3, G_MAXINT, G_MININT };

  for (gsize i = 0; i < G_N_ELEMENTS (outside); i++)
    {
      int axis = outside[i];
      g_autofree char *value = g_strdup_printf ("%d & 2", axis);

      assert_refuses (mtl_strided_layout_get_extent (layout, axis, &error) != -1,
                      MTL_ERROR_OUT_OF_BOUNDS, value);
      assert_refuses (mtl_strided_layout_get_stride (layout, axis, &error) != 0,
                      MTL_ERROR_OUT_OF_BOUNDS, value);
      assert_fails (mtl_strided_layout_flip (layout, axis, &error),
                    MTL_ERROR_OUT_OF_BOUNDS, value);
      assert_fails (mtl_strided_layout_select (layout, axis, 0, &error),
                    MTL_ERROR_OUT_OF_BOUNDS, value);
      assert_fails (mtl_strided_layout_narrow (layout, axis, 0, 1, 1, &error),
                    MTL_ERROR_OUT_OF_BOUNDS, value);
      assert_fails (mtl_strided_layout_swap_axes (layout, 0, axis, &error),
                    MTL_ERROR_OUT_OF_BOUNDS, value);
      assert_fails (mtl_strided_layout_swap_axes (layout, axis, 0, &error),
                    MTL_ERROR_OUT_OF_BOUNDS, value);
      assert_fails (mtl_strided_layout_flatten (layout, axis, 1, &error),
                    MTL_ERROR_OUT_OF_BOUNDS, value);
      assert_fails (mtl_strided_layout_flatten (layout, 0, axis, &error),
                    MTL_ERROR_OUT_OF_BOUNDS, value);
      assert_fails (mtl_strided_layout_permute (layout, AXES (0, axis), &error),
                    MTL_ERROR_OUT_OF_BOUNDS, value);
      assert_fails (mtl_strided_layout_squeeze_axes (layout, AXES (axis), &error),
                    MTL_ERROR_OUT_OF_BOUNDS, value);
      assert_fails (mtl_strided_layout_new_dense_for_axes (DIMS (2, 3), AXES (0, axis), 8, &error),
                    MTL_ERROR_OUT_OF_BOUNDS, value);
    }
}

static void
test_dense (void)
{
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlStridedLayout) f = mtl_strided_layout_new_dense (DIMS (2, 3, 4), MTL_ORDER_F, 8,
                                                                 &local_error);
  g_autoptr (MtlStridedLayout) axes =
    mtl_strided_layout_new_dense_for_axes (DIMS (2, 3, 4), AXES (1, -1, 0), 8, &local_error);
  g_autoptr (MtlStridedLayout) empty = mtl_strided_layout_new_dense (DIMS (2, 0, 4), MTL_ORDER_C,
                                                                     8, &local_error);
  g_autoptr (MtlStridedLayout) last = mtl_strided_layout_slice_string (axes, ":, :, 3",
                                                                       &local_error);

  g_assert_no_error (local_error);
  g_assert_true (mtl_strided_layout_is_dense (axes));
  g_assert_false (mtl_strided_layout_is_dense (last)); /* it begins behind others */
  assert_strides (f, 1, 2, 6);
  assert_strides (axes, 1, 8, 2);
  assert_strides (empty, 4, 4, 1);

  assert_fails (mtl_strided_layout_new_dense (DIMS (2), (MtlOrder) 4, 8, &error),
                MTL_ERROR_INVALID_ARGUMENT, "4");
  assert_fails (mtl_strided_layout_to_dense (f, (MtlOrder) -1, &error),
                MTL_ERROR_INVALID_ARGUMENT, "-1");
  assert_fails (mtl_strided_layout_new_dense_for_axes (DIMS (2, 3), AXES (1), 8, &error),
                MTL_ERROR_INVALID_ARGUMENT, "1 & 2");
  assert_fails (mtl_strided_layout_new_dense_for_axes (DIMS (2, 3), AXES (1, -1), 8, &error),
                MTL_ERROR_INVALID_ARGUMENT, "-1");
}

/* If no axes have an order yet, K and ANY are C order. An axis that counts as both is in C
 * order. */
static void
test_orders (void)
{
  const MtlOrder orders[] = { MTL_ORDER_K, MTL_ORDER_ANY };
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedLayout) row = mtl_strided_layout_new (DIMS (1, 5), DIMS (1, 1), 8, &error);
  g_autoptr (MtlStridedLayout) any = mtl_strided_layout_to_dense (row, MTL_ORDER_ANY, &error);

  for (gsize i = 0; i < G_N_ELEMENTS (orders); i++)
    {
      g_autoptr (MtlStridedLayout) dense = mtl_strided_layout_new_dense (DIMS (2, 3), orders[i], 8,
                                                                         &error);

      assert_strides (dense, 3, 1);
    }

  g_assert_no_error (error);
  assert_strides (any, 5, 1);
}

static void
test_to_dense (void)
{
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlStridedLayout) layout =
    mtl_strided_layout_new (DIMS (2, 3, 4), DIMS (-4, 100, 0), 8, &local_error);
  g_autoptr (MtlStridedLayout) k = mtl_strided_layout_to_dense (layout, MTL_ORDER_K, &local_error);
  g_autoptr (MtlStridedLayout) c = mtl_strided_layout_to_dense (layout, MTL_ORDER_C, &local_error);
  g_autoptr (MtlStridedLayout) like = mtl_strided_layout_to_dense (layout, MTL_ORDER_F,
                                                                   &local_error);
  g_autoptr (MtlStridedLayout) flipped = mtl_strided_layout_flip (like, 1, &local_error);
  g_autoptr (MtlStridedLayout) any = mtl_strided_layout_to_dense (like, MTL_ORDER_ANY,
                                                                  &local_error);
  g_autoptr (MtlStridedLayout) neither = mtl_strided_layout_to_dense (flipped, MTL_ORDER_ANY,
                                                                      &local_error);

  g_assert_no_error (local_error);
  assert_strides (k, 4, 8, 1);
  assert_strides (c, 12, 4, 1);
  assert_strides (like, 1, 2, 6);
  assert_strides (any, 1, 2, 6);
  assert_strides (neither, 12, 4, 1);
  g_assert_cmpint (mtl_strided_layout_get_offset (neither), ==, 0);

  assert_fails (mtl_strided_layout_to_dense (layout, (MtlOrder) 17, &error),
                MTL_ERROR_INVALID_ARGUMENT, "17");
}

static void
test_stride_order (void)
{
  static const struct { gint64 strides[3]; int order[3]; } cases[] = {
    { { 12, 4, 1 }, { 0, 1, 2 } },
    { { 1, 4, 12 }, { 2, 1, 0 } },
    { { -12, 4, 1 }, { 0, 1, 2 } },
    { { 4, G_MININT64, 1 }, { 1, 0, 2 } },
    { { 0, 4, 0 }, { 1, 0, 2 } },
    { { 5, -5, 5 }, { 0, 1, 2 } },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedLayout) layout = mtl_strided_layout_new (DIMS (1, 1, 1),
                                                                    cases[i].strides, 3, 8,
                                                                    &error);
      gsize n;
      g_autofree int *order = mtl_strided_layout_dup_stride_order (layout, &n);

      g_assert_no_error (error);
      g_assert_cmpmem (order, n * sizeof (int), cases[i].order, sizeof cases[i].order);
    }
}

static void
test_equal (void)
{
  g_autoptr (MtlStridedLayout) square = mtl_strided_layout_new (DIMS (3, 3), NULL, 0, 8, NULL);
  MtlStridedLayout *layouts[] = {
    mtl_strided_layout_new (DIMS (2, 3), NULL, 0, 8, NULL),
    mtl_strided_layout_new (DIMS (3, 2), NULL, 0, 8, NULL),
    mtl_strided_layout_new (DIMS (2, 3), NULL, 0, 16, NULL),
    mtl_strided_layout_new (DIMS (2, 3), DIMS (4, 1), 8, NULL),
    mtl_strided_layout_new (DIMS (6), NULL, 0, 8, NULL),
    mtl_strided_layout_new (NO_DIMS, NULL, 0, 8, NULL),
    mtl_strided_layout_slice_string (square, "1:", NULL), /* differs from the first in its offset */
  };

  for (gsize i = 0; i < G_N_ELEMENTS (layouts); i++)
    for (gsize j = 0; j < G_N_ELEMENTS (layouts); j++)
      g_assert_true (mtl_strided_layout_equal (layouts[i], layouts[j]) == (i == j));

  for (gsize i = 0; i < G_N_ELEMENTS (layouts); i++)
    g_object_unref (layouts[i]);
}

static void
test_to_string (void)
{
  g_autoptr (MtlStridedLayout) layout = mtl_strided_layout_new (DIMS (4), DIMS (-2), 4, NULL);
  g_autoptr (MtlStridedLayout) part = mtl_strided_layout_slice_string (layout, "1:, newaxis", NULL);
  g_autofree char *text = mtl_strided_layout_to_string (layout);
  g_autofree char *part_text = mtl_strided_layout_to_string (part);

  g_assert_cmpstr (text, ==, "shape (4,), strides (-2,), offset 0, items of 4 bits");
  g_assert_cmpstr (part_text, ==, "shape (3, 1), strides (-2, 1), offset -2, items of 4 bits");
}

/* More dimensions than fit into the object itself. */
static void
test_many_dims (void)
{
  const guint counts[] = { 8, 9, 63, 64 };

  for (gsize c = 0; c < G_N_ELEMENTS (counts); c++)
    {
      g_autoptr (GError) error = NULL;
      guint n_dims = counts[c];
      gint64 shape[64], reversed[64];
      int axes[64];
      gsize n;

      for (guint i = 0; i < n_dims; i++)
        {
          shape[i] = i % 20 == 3 ? 2 : 1;
          axes[i] = -1 - (int) i;
        }
      for (guint i = 0; i < n_dims; i++)
        reversed[i] = shape[n_dims - 1 - i];

      {
        g_autoptr (MtlStridedLayout) layout = mtl_strided_layout_new (shape, n_dims, NULL, 0, 8,
                                                                      &error);
        g_autoptr (MtlStridedLayout) transposed = mtl_strided_layout_transpose (layout);
        g_autoptr (MtlStridedLayout) permuted = mtl_strided_layout_permute (layout, axes, n_dims,
                                                                            &error);
        g_autoptr (MtlStridedLayout) squeezed = mtl_strided_layout_squeeze (layout);
        g_autoptr (MtlStridedLayout) flat = mtl_strided_layout_flatten (layout, 0, -1, &error);
        g_autoptr (MtlStridedLayout) back = mtl_strided_layout_reshape (flat, shape, n_dims,
                                                                        &error);
        g_autoptr (MtlStridedLayout) dense = mtl_strided_layout_to_dense (transposed, MTL_ORDER_K,
                                                                          &error);
        g_autoptr (MtlStridedLayout) last = mtl_strided_layout_slice_string (layout, "..., 0",
                                                                             &error);
        g_autofree char *text = mtl_strided_layout_to_string (layout);
        const gint64 *dims;

        g_assert_no_error (error);
        g_assert_cmpuint (mtl_strided_layout_get_n_dims (layout), ==, n_dims);
        dims = mtl_strided_layout_get_shape (transposed, &n);
        g_assert_cmpmem (dims, n * sizeof (gint64), reversed, n_dims * sizeof (gint64));
        g_assert_true (mtl_strided_layout_equal (transposed, permuted));
        g_assert_true (mtl_strided_layout_equal (layout, back));
        g_assert_cmpuint (mtl_strided_layout_hash (layout), ==, mtl_strided_layout_hash (back));
        g_assert_cmpuint (mtl_strided_layout_get_n_dims (squeezed), ==, (n_dims + 16) / 20);
        g_assert_cmpuint (mtl_strided_layout_get_n_dims (last), ==, n_dims - 1);
        g_assert_true (mtl_strided_layout_is_dense (dense));
        g_assert_true (mtl_strided_layout_is_contiguous (transposed, MTL_ORDER_F));
        g_assert_true (g_str_has_prefix (text, "shape (1, 1, 1, 2,"));
      }
    }
}

static void
test_bare (void)
{
  g_autoptr (GError) error = NULL;
  MtlStridedLayout *layout = g_object_new (MTL_TYPE_STRIDED_LAYOUT, NULL);
  g_autofree char *text = mtl_strided_layout_to_string (layout);

  g_assert_cmpuint (mtl_strided_layout_get_n_dims (layout), ==, 0);
  g_assert_cmpint (mtl_strided_layout_get_required_size (layout, &error), ==, 1);
  g_assert_no_error (error);
  g_assert_cmpstr (text, ==, "shape (), strides (), offset 0, items of 8 bits");
  g_assert_finalize_object (layout);
}

static void
test_release (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedLayout) dense =
    mtl_strided_layout_new_dense (DIMS (2, 3), MTL_ORDER_C, 32, &error);
  MtlStridedLayout *part = mtl_strided_layout_flip (dense, 0, &error);
  gpointer address = part;

  /* The object serves again, in full. */
  g_assert_no_error (error);
  g_assert_true (mtl_strided_layout_release (part, FALSE));
  part = mtl_strided_layout_transpose (dense);
  g_assert_true (address == part);
  g_assert_cmpint (mtl_strided_layout_get_offset (part), ==, 0);
  g_assert_cmpint (mtl_strided_layout_get_extent (part, 0, NULL), ==, 3);
  g_assert_true (mtl_strided_layout_release (part, TRUE));
}

static void
test_release_of_what_others_hold (void)
{
  g_autoptr (GError) error = NULL;
  MtlStridedLayout *layout = mtl_strided_layout_new_dense (DIMS (2, 3), MTL_ORDER_C, 32, &error);
  gpointer pointer = layout;
  int n_ended = 0;

  g_assert_no_error (error);
  g_object_ref (layout);
  g_assert_false (mtl_strided_layout_release (layout, FALSE));
  g_assert_true (mtl_strided_layout_release (layout, TRUE));
  g_assert_cmpint (mtl_strided_layout_get_volume (layout), ==, 6);

  g_object_add_weak_pointer (G_OBJECT (layout), &pointer);
  g_object_set_data_full (G_OBJECT (layout), "counted", &n_ended, count_call);
  g_assert_false (mtl_strided_layout_release (layout, FALSE));
  g_assert_cmpint (n_ended, ==, 0);
  g_assert_true (mtl_strided_layout_release (layout, TRUE));
  g_assert_null (pointer);
  g_assert_cmpint (n_ended, ==, 1);
}

static void
test_properties (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedLayout) whole = mtl_strided_layout_new (DIMS (4, 6), NULL, 0, 12, &error);
  g_autoptr (MtlStridedLayout) part = mtl_strided_layout_slice_string (whole, "1:, ::-2", &error);
  MtlStridedLayout *layouts[] = { whole, part };

  g_assert_no_error (error);
  for (gsize i = 0; i < G_N_ELEMENTS (layouts); i++)
    {
      assert_property (layouts[i], "n-dims", guint, mtl_strided_layout_get_n_dims);
      assert_property (layouts[i], "item-bits", guint, mtl_strided_layout_get_item_bits);
      assert_property (layouts[i], "offset", gint64, mtl_strided_layout_get_offset);
      assert_property (layouts[i], "volume", gint64, mtl_strided_layout_get_volume);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/StridedLayout/new", test_new);
  g_test_add_func ("/StridedLayout/new/no-strides", test_no_strides);
  g_test_add_func ("/StridedLayout/new/scalar", test_scalar);
  g_test_add_func ("/StridedLayout/new/bad-shape", test_bad_shape);
  g_test_add_func ("/StridedLayout/new/overflow", test_overflow);
  g_test_add_func ("/StridedLayout/new/no-overflow", test_no_overflow);
  g_test_add_func ("/StridedLayout/new/for-bytes", test_for_bytes);
  g_test_add_func ("/StridedLayout/new/many-dims", test_many_dims);
  g_test_add_func ("/StridedLayout/new/bare", test_bare);
  g_test_add_func ("/StridedLayout/byte-strides", test_byte_strides);
  g_test_add_func ("/StridedLayout/for-bytes/not-walked", test_for_bytes_not_walked);
  g_test_add_func ("/StridedLayout/required-size", test_required_size);
  g_test_add_func ("/StridedLayout/axis-out-of-bounds", test_axis_out_of_bounds);
  g_test_add_func ("/StridedLayout/dense", test_dense);
  g_test_add_func ("/StridedLayout/to-dense", test_to_dense);
  g_test_add_func ("/StridedLayout/orders", test_orders);
  g_test_add_func ("/StridedLayout/stride-order", test_stride_order);
  g_test_add_func ("/StridedLayout/equal", test_equal);
  g_test_add_func ("/StridedLayout/to-string", test_to_string);
  g_test_add_func ("/StridedLayout/properties", test_properties);
  g_test_add_func ("/StridedLayout/release", test_release);
  g_test_add_func ("/StridedLayout/release/held", test_release_of_what_others_hold);

  return g_test_run ();
}
