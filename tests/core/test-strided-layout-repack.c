/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "test-utils.h"

static MtlStridedLayout *
new_layout (const gint64 *shape,
            gsize         n_dims,
            const gint64 *strides,
            gsize         n_strides,
            guint         item_bits)
{
  g_autoptr (GError) error = NULL;
  MtlStridedLayout *layout = mtl_strided_layout_new (shape, n_dims, strides, n_strides, item_bits,
                                                     &error);

  g_assert_no_error (error);
  return layout;
}

static void
test_pack (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedLayout) floats = new_layout (DIMS (3, 4), DIMS (8, 1), 32);
  g_autoptr (MtlStridedLayout) complex = mtl_strided_layout_repack (floats, 64, -1, &error);
  g_autoptr (MtlStridedLayout) columns = mtl_strided_layout_transpose (floats);
  g_autoptr (MtlStridedLayout) kept = mtl_strided_layout_repack (columns, 128, 0, &error);
  g_autoptr (MtlStridedLayout) words = mtl_strided_layout_squeeze_axes (kept, AXES (0), &error);
  g_autoptr (MtlStridedLayout) reversed = mtl_strided_layout_flip (floats, 0, &error);
  g_autoptr (MtlStridedLayout) pairs = mtl_strided_layout_repack (reversed, 64, 1, &error);

  g_assert_no_error (error);
  assert_shape (complex, 3, 2);
  assert_strides (complex, 4, 1);
  g_assert_cmpuint (mtl_strided_layout_get_item_bits (complex), ==, 64);
  assert_shape (words, 3);
  assert_strides (words, 2);
  assert_shape (kept, 1, 3);
  assert_strides (pairs, -4, 1);
  g_assert_cmpint (mtl_strided_layout_get_offset (pairs), ==, 8);
}

static void
test_unpack (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedLayout) words = new_layout (DIMS (2, 3), DIMS (-6, 1), 32);
  g_autoptr (MtlStridedLayout) bytes = mtl_strided_layout_repack (words, 8, 1, &error);
  g_autoptr (MtlStridedLayout) nibbles = mtl_strided_layout_repack (bytes, 4, -1, &error);
  g_autoptr (MtlStridedLayout) back = mtl_strided_layout_repack (nibbles, 32, -1, &error);
  g_autoptr (MtlStridedLayout) single = new_layout (DIMS (1, 2), DIMS (7, 3), 16);
  g_autoptr (MtlStridedLayout) halves = mtl_strided_layout_repack (single, 8, 0, &error);

  g_assert_no_error (error);
  assert_shape (bytes, 2, 12);
  assert_strides (bytes, -24, 1);
  assert_shape (nibbles, 2, 24);
  g_assert_true (mtl_strided_layout_equal (back, words));

  /* One element lies side by side with itself, whatever its stride. */
  assert_shape (halves, 2, 2);
  assert_strides (halves, 1, 6);
}

static void
test_same_size (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedLayout) scalar = new_layout (NO_DIMS, NO_DIMS, 24);
  g_autoptr (MtlStridedLayout) same = mtl_strided_layout_repack (scalar, 24, -1, &error);
  g_autoptr (MtlStridedLayout) spread = new_layout (DIMS (3, 1), DIMS (5, 2), 24);
  g_autoptr (MtlStridedLayout) equal = mtl_strided_layout_repack (spread, 24, 0, &error);

  g_assert_no_error (error);
  g_assert_true (mtl_strided_layout_equal (same, scalar));
  g_assert_true (mtl_strided_layout_equal (equal, spread));
}

/* No stride can be wrong along axes that are not walked. */
static void
test_not_walked (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedLayout) row = new_layout (DIMS (1, 4), DIMS (3, 1), 8);
  g_autoptr (MtlStridedLayout) pairs = mtl_strided_layout_repack (row, 16, 1, &error);
  g_autoptr (MtlStridedLayout) far = new_layout (DIMS (1, 2), DIMS (G_MAXINT64, 1), 16);
  g_autoptr (MtlStridedLayout) near = mtl_strided_layout_repack (far, 8, 1, &error);
  g_autoptr (MtlStridedLayout) empty = new_layout (DIMS (0, 4), DIMS (3, 2), 8);
  g_autoptr (MtlStridedLayout) packed = mtl_strided_layout_repack (empty, 32, 1, &error);
  g_autoptr (MtlStridedLayout) unpacked = mtl_strided_layout_repack (empty, 1, 0, &error);
  g_autoptr (MtlStridedLayout) odd = new_layout (DIMS (3, 8), NO_DIMS, 8);
  g_autoptr (MtlStridedLayout) none = mtl_strided_layout_slice_string (odd, "0, 1:5", &error);
  g_autoptr (MtlStridedLayout) nothing = mtl_strided_layout_slice_string (none, "2:2", &error);
  g_autoptr (MtlStridedLayout) no_pairs = mtl_strided_layout_repack (nothing, 16, 0, &error);

  g_assert_no_error (error);
  assert_shape (pairs, 1, 2);
  assert_strides (pairs, 2, 1);
  assert_shape (near, 1, 4);
  assert_shape (packed, 0, 1);
  assert_shape (unpacked, 0, 4);
  g_assert_cmpint (mtl_strided_layout_get_offset (nothing), ==, 1);
  assert_shape (no_pairs, 0);
}

static void
test_bad_repack (void)
{
  g_autoptr (MtlStridedLayout) layout = new_layout (DIMS (3, 6), DIMS (9, 1), 16);
  g_autoptr (MtlStridedLayout) reversed = new_layout (DIMS (3, 6), DIMS (8, -1), 16);
  g_autoptr (MtlStridedLayout) shifted = mtl_strided_layout_slice_string (layout, "0, 1:5", NULL);
  g_autoptr (MtlStridedLayout) scalar = new_layout (NO_DIMS, NO_DIMS, 16);
  g_autoptr (MtlStridedLayout) long_row = new_layout (DIMS (POW2 (62)), DIMS (1), 16);
  g_autoptr (MtlStridedLayout) far = new_layout (DIMS (2, 2), DIMS (POW2 (62), 1), 16);
  g_autoptr (MtlStridedLayout) beyond =
    mtl_strided_layout_slice_string (far, "1", NULL);

  assert_fails (mtl_strided_layout_repack (layout, 32, 2, &error), MTL_ERROR_OUT_OF_BOUNDS, "2");
  assert_fails (mtl_strided_layout_repack (scalar, 8, -1, &error), MTL_ERROR_OUT_OF_BOUNDS, "-1");
  assert_fails (mtl_strided_layout_repack (layout, 24, 1, &error),
                MTL_ERROR_INVALID_ARGUMENT, "24");
  assert_fails (mtl_strided_layout_repack (layout, 0, 1, &error), MTL_ERROR_INVALID_ARGUMENT, "0");
  assert_fails (mtl_strided_layout_repack (layout, 64, 1, &error), MTL_ERROR_INVALID_ARGUMENT, "6");
  assert_fails (mtl_strided_layout_repack (layout, 32, 1, &error),
                MTL_ERROR_NEEDS_COPY, "(9, 1)");
  assert_fails (mtl_strided_layout_repack (layout, 8, 0, &error),
                MTL_ERROR_NEEDS_COPY, "(3, 6) & (9, 1) & 16 & 8");
  assert_fails (mtl_strided_layout_repack (reversed, 8, 1, &error),
                MTL_ERROR_NEEDS_COPY, "(3, 6) & (8, -1) & 16 & 8");
  assert_fails (mtl_strided_layout_repack (shifted, 32, 0, &error), MTL_ERROR_NEEDS_COPY, "1");
  assert_fails (mtl_strided_layout_repack (long_row, 8, 0, &error),
                MTL_ERROR_OVERFLOW, "4611686018427387904");
  assert_fails (mtl_strided_layout_repack (far, 8, 1, &error),
                MTL_ERROR_OVERFLOW, "4611686018427387904");
  assert_fails (mtl_strided_layout_repack (beyond, 8, 0, &error),
                MTL_ERROR_OVERFLOW, "4611686018427387904");
}

static guint
max_item_bits (MtlStridedLayout *layout,
               guint             max,
               guint64           address)
{
  g_autoptr (GError) error = NULL;
  guint bits = mtl_strided_layout_get_max_compatible_item_bits (layout, max, address, -1, &error);

  g_assert_no_error (error);
  return bits;
}

static void
test_max_compatible (void)
{
  GError *error = NULL;
  g_autoptr (MtlStridedLayout) bytes = new_layout (DIMS (3, 24), DIMS (40, 1), 8);
  g_autoptr (MtlStridedLayout) shifted = mtl_strided_layout_slice_string (bytes, ":, 4:20", NULL);
  g_autoptr (MtlStridedLayout) spread = new_layout (DIMS (8), DIMS (2), 8);
  g_autoptr (MtlStridedLayout) nibbles = new_layout (DIMS (6), NO_DIMS, 4);
  g_autoptr (MtlStridedLayout) sixes = new_layout (DIMS (8), NO_DIMS, 6);
  g_autoptr (MtlStridedLayout) empty = new_layout (DIMS (5, 0), DIMS (3, 7), 8);

  g_assert_cmpuint (max_item_bits (bytes, 128, 0), ==, 64);
  g_assert_cmpuint (max_item_bits (bytes, 32, 0), ==, 32);
  g_assert_cmpuint (max_item_bits (bytes, 128, 0x1004), ==, 32);
  g_assert_cmpuint (max_item_bits (bytes, 128, 0x1001), ==, 8);
  g_assert_cmpuint (max_item_bits (shifted, 128, 0), ==, 32);

  /* Never below the elements, and always made of them. */
  g_assert_cmpuint (max_item_bits (bytes, 4, 0), ==, 8);
  g_assert_cmpuint (max_item_bits (bytes, 0, 0), ==, 8);
  g_assert_cmpuint (max_item_bits (bytes, 12, 0), ==, 8);
  g_assert_cmpuint (max_item_bits (spread, 64, 0), ==, 8);
  g_assert_cmpuint (max_item_bits (nibbles, 64, 0), ==, 8);
  g_assert_cmpuint (max_item_bits (sixes, 48, 3), ==, 24);
  g_assert_cmpuint (max_item_bits (sixes, 48, 1), ==, 6);
  g_assert_cmpuint (max_item_bits (sixes, 48, G_MAXUINT64), ==, 24);
  g_assert_cmpuint (max_item_bits (empty, 128, 0), ==, 128);

  g_assert_cmpuint (mtl_strided_layout_get_max_compatible_item_bits (bytes, 64, 0, 2, &error),
                    ==, 0);
  assert_failed (error, MTL_ERROR_OUT_OF_BOUNDS, "2");
}

/* The bytes of all elements in C order, as offsets. */
static GArray *
list_bytes (MtlStridedLayout *layout)
{
  GArray *bytes = g_array_new (FALSE, FALSE, sizeof (gint64));
  gint64 size = mtl_strided_layout_get_item_bits (layout) / 8;
  gsize n_dims;
  const gint64 *shape = mtl_strided_layout_get_shape (layout, &n_dims);
  const gint64 *strides = mtl_strided_layout_get_strides (layout, &n_dims);

  for (gint64 i = 0; i < mtl_strided_layout_get_volume (layout); i++)
    {
      gint64 rest = i, first = mtl_strided_layout_get_offset (layout);

      for (gsize axis = n_dims; axis-- > 0;)
        {
          first += rest % shape[axis] * strides[axis];
          rest /= shape[axis];
        }
      for (gint64 byte = first * size; byte < (first + 1) * size; byte++)
        g_array_append_val (bytes, byte);
    }

  return bytes;
}

/* Repacking along the last axis keeps every byte in its place in the row, and
 * repacking back gives the layout again. What the largest item says is right:
 * it repacks, and twice that does not. */
static void
test_properties (void)
{
  for (int i = 0; i < 20000; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GArray) before = NULL, after = NULL;
      g_autoptr (MtlStridedLayout) repacked = NULL, back = NULL, doubled = NULL;
      gint64 shape[] = { g_test_rand_int_range (2, 4), g_test_rand_int_range (2, 25) };
      gint64 strides[] = { g_test_rand_int_range (-32, 33), 1 };
      g_autoptr (MtlStridedLayout) whole = new_layout (shape, 2, strides, 2, 8);
      g_autoptr (MtlStridedLayout) layout =
        mtl_strided_layout_narrow (whole, 1, g_test_rand_int_range (0, shape[1] - 1), G_MAXINT64, 1,
                                   NULL);
      guint bits = max_item_bits (layout, 64, 0);

      repacked = mtl_strided_layout_repack (layout, bits, -1, &error);
      g_assert_no_error (error);
      before = list_bytes (layout);
      after = list_bytes (repacked);
      g_assert_cmpmem (before->data, before->len * sizeof (gint64),
                       after->data, after->len * sizeof (gint64));

      back = mtl_strided_layout_repack (repacked, 8, -1, &error);
      g_assert_no_error (error);
      g_assert_cmpint (mtl_strided_layout_get_offset (back), ==,
                       mtl_strided_layout_get_offset (layout));
      if (mtl_strided_layout_get_extent (layout, 1, NULL) > 1)
        g_assert_true (mtl_strided_layout_equal (back, layout));

      doubled = mtl_strided_layout_repack (layout, bits * 2, -1, NULL);
      g_assert_true (doubled == NULL || bits == 64);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/StridedLayout/repack/pack", test_pack);
  g_test_add_func ("/StridedLayout/repack/unpack", test_unpack);
  g_test_add_func ("/StridedLayout/repack/same-size", test_same_size);
  g_test_add_func ("/StridedLayout/repack/not-walked", test_not_walked);
  g_test_add_func ("/StridedLayout/repack/bad", test_bad_repack);
  g_test_add_func ("/StridedLayout/repack/max-compatible", test_max_compatible);
  g_test_add_func ("/StridedLayout/repack/properties", test_properties);

  return g_test_run ();
}
