/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Views of the same bytes as other elements. */

#include "test-utils.h"

static void
test_reinterpret (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) floats =
    mtl_strided_view_new_from_doubles (DOUBLES (1, 2, 3, 4, 5, 6, 7, 8), MTL_DTYPE_FLOAT32,
                                       DIMS (2, 4), &error);
  g_autoptr (MtlStridedView) complex = reinterpret (floats, MTL_DTYPE_COMPLEX64);
  g_autoptr (MtlStridedView) back = reinterpret (complex, MTL_DTYPE_FLOAT32);
  g_autoptr (MtlStridedView) words = reinterpret (floats, MTL_DTYPE_UINT32);
  g_autoptr (MtlStridedView) bytes = reinterpret (floats, MTL_DTYPE_UINT8);
  double re, im;

  assert_view_shape (complex, 2, 2);
  g_assert_true (mtl_strided_view_get_complex (complex, DIMS (1, 0), &re, &im, &error));
  g_assert_cmpfloat (re, ==, 5);
  g_assert_cmpfloat (im, ==, 6);
  g_assert_true (mtl_strided_view_equal (back, floats));
  g_assert_cmpuint (mtl_strided_view_get_uint64 (words, DIMS (0, 0), &error), ==, 0x3f800000);
  g_assert_no_error (error);

  /* One memory: what one writes the others see. */
  g_assert_true (mtl_strided_view_set_complex (complex, DIMS (0, 1), -3, -4, &error));
  assert_elements (floats, 1, 2, -3, -4, 5, 6, 7, 8);
  assert_view_shape (bytes, 2, 16);
}

/* A word of a byte and the next one, which is greater by 1. */
#define WORD(byte) GUINT16_FROM_LE ((byte) | ((byte) + 1) << 8)

/* A first element that begins at any byte is allowed, and read-only memory stays read-only. */
static void
test_reinterpret_slices (void)
{
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlStridedView) bytes = new_bytes (24);
  g_autoptr (MtlStridedView) rows = mtl_strided_view_reshape (bytes, DIMS (3, 8), &local_error);
  g_autoptr (MtlStridedView) part = slice (rows, "::-1, 2:6");
  g_autoptr (MtlStridedView) words = reinterpret (part, MTL_DTYPE_UINT16);
  g_autoptr (MtlStridedView) columns = mtl_strided_view_transpose (part);
  g_autoptr (MtlStridedView) column_words = reinterpret (columns, MTL_DTYPE_UINT16);
  g_autoptr (MtlStridedView) locked = mtl_strided_view_as_read_only (part);
  g_autoptr (MtlStridedView) locked_words = reinterpret (locked, MTL_DTYPE_UINT16);
  g_autoptr (MtlStridedView) nibbles = reinterpret (bytes, MTL_DTYPE_FLOAT4_E2M1FN);
  g_autoptr (MtlStridedView) odd_nibbles = slice (nibbles, "1:47");
  g_autoptr (MtlStridedView) even_nibbles = slice (nibbles, "2:46");
  g_autoptr (MtlStridedView) nibble_bytes = reinterpret (even_nibbles, MTL_DTYPE_UINT8);

  assert_view_shape (words, 3, 2);
  assert_elements (words, WORD (0x12), WORD (0x14), WORD (0x0a), WORD (0x0c), WORD (0x02),
                   WORD (0x04));

  /* The axis that is dense need not be the last. */
  assert_view_shape (column_words, 2, 3);
  assert_elements (column_words, WORD (0x12), WORD (0x0a), WORD (0x02), WORD (0x14), WORD (0x0c),
                   WORD (0x04));

  g_assert_false (mtl_strided_view_is_read_only (words));
  g_assert_true (mtl_strided_view_is_read_only (locked_words));

  assert_view_shape (nibbles, 48);
  assert_view_shape (nibble_bytes, 22);
  g_assert_cmpint (mtl_strided_view_get_int64 (nibble_bytes, DIMS (0), &local_error), ==, 1);
  assert_fails (mtl_strided_view_reinterpret (odd_nibbles, MTL_DTYPE_UINT8, &error),
                MTL_ERROR_NEEDS_COPY, "1");
  g_assert_no_error (local_error);
}

static void
test_reinterpret_same_size (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) scalar = mtl_strided_view_new_filled (NULL, MTL_DTYPE_FLOAT32, NO_DIMS,
                                                                   1, MTL_STORAGE_MODE_DEFAULT,
                                                                   &error);
  g_autoptr (MtlStridedView) word = reinterpret (scalar, MTL_DTYPE_INT32);
  g_autoptr (MtlStridedView) bytes = new_bytes (9);
  g_autoptr (MtlStridedView) spread = slice (bytes, "::-3");
  g_autoptr (MtlStridedView) signs = reinterpret (spread, MTL_DTYPE_INT8);
  g_autoptr (MtlStridedView) empty = mtl_strided_view_new_zeros (NULL, MTL_DTYPE_UINT8, DIMS (3, 0),
                                                                 MTL_STORAGE_MODE_DEFAULT, &error);
  g_autoptr (MtlStridedView) empty_words = reinterpret (empty, MTL_DTYPE_FLOAT64);

  g_assert_no_error (error);
  assert_elements (word, 0x3f800000);
  assert_elements (signs, 8, 5, 2);
  assert_view_shape (empty_words, 3, 0);
}

static void
test_bad_reinterpret (void)
{
  g_autoptr (MtlStridedView) scalar = mtl_strided_view_new_filled (NULL, MTL_DTYPE_FLOAT32, NO_DIMS,
                                                                   1, MTL_STORAGE_MODE_DEFAULT,
                                                                   NULL);
  g_autoptr (MtlStridedView) bytes = new_bytes (25);
  g_autoptr (MtlStridedView) spread = slice (bytes, "::2");
  g_autoptr (MtlStridedView) shifted = slice (bytes, "1:17");
  g_autoptr (MtlStridedView) aligned = slice (bytes, "8:24");
  g_autoptr (MtlStridedView) words = reinterpret (aligned, MTL_DTYPE_FLOAT64);
  g_autoptr (MtlStridedView) far = slice (bytes, "4:20");
  g_autoptr (MtlStridedView) complex = reinterpret (far, MTL_DTYPE_COMPLEX64);

  assert_view_shape (words, 2);
  assert_view_shape (complex, 2); /* parts of 4 bytes */
  assert_fails (mtl_strided_view_reinterpret (scalar, MTL_DTYPE_UINT8, &error),
                MTL_ERROR_OUT_OF_BOUNDS, "0");
  assert_fails (mtl_strided_view_reinterpret (bytes, MTL_DTYPE_UINT16, &error),
                MTL_ERROR_INVALID_ARGUMENT, "25");
  assert_fails (mtl_strided_view_reinterpret (bytes, MTL_DTYPE_FLOAT6_E2M3FN, &error),
                MTL_ERROR_INVALID_ARGUMENT, "6");
  assert_fails (mtl_strided_view_reinterpret (bytes, MTL_DTYPE_OTHER, &error),
                MTL_ERROR_INVALID_ARGUMENT, "0x0");
  assert_fails (mtl_strided_view_reinterpret (spread, MTL_DTYPE_UINT16, &error),
                MTL_ERROR_NEEDS_COPY, "(13,) & (2,) & 8 & 16");
  assert_fails (mtl_strided_view_reinterpret (shifted, MTL_DTYPE_UINT16, &error),
                MTL_ERROR_NEEDS_COPY, "2");
  assert_fails (mtl_strided_view_reinterpret (far, MTL_DTYPE_FLOAT64, &error),
                MTL_ERROR_NEEDS_COPY, "8");
}

/* A view of a single row or column gives the same elements as one of several, and is refused where
 * that is. */
static void
test_reinterpret_single (void)
{
  for (gint64 n = 1; n <= 3; n++)
    {
      g_autoptr (GError) local_error = NULL;
      g_autoptr (MtlStridedView) rows =
        mtl_strided_view_new_zeros (NULL, MTL_DTYPE_COMPLEX64, DIMS (n, 4),
                                    MTL_STORAGE_MODE_DEFAULT, &local_error);
      g_autoptr (MtlStridedView) columns =
        mtl_strided_view_new_zeros (NULL, MTL_DTYPE_COMPLEX64, DIMS (4, n),
                                    MTL_STORAGE_MODE_DEFAULT, &local_error);
      g_autoptr (MtlStridedView) rows_down = mtl_strided_view_transpose (rows);
      g_autoptr (MtlStridedView) columns_across = mtl_strided_view_transpose (columns);
      g_autoptr (MtlStridedView) backwards = slice (rows, ":, ::-1");
      g_autoptr (MtlStridedView) row_floats = reinterpret (rows, MTL_DTYPE_FLOAT32);
      g_autoptr (MtlStridedView) column_floats = reinterpret (columns, MTL_DTYPE_FLOAT32);
      g_autoptr (MtlStridedView) down_floats = reinterpret (rows_down, MTL_DTYPE_FLOAT32);
      g_autoptr (MtlStridedView) across_floats = reinterpret (columns_across, MTL_DTYPE_FLOAT32);

      g_assert_no_error (local_error);
      assert_view_shape (row_floats, n, 8);
      assert_view_shape (column_floats, 4, 2 * n);
      assert_view_shape (down_floats, 8, n);
      assert_view_shape (across_floats, 2 * n, 4);
      assert_fails (mtl_strided_view_reinterpret (backwards, MTL_DTYPE_FLOAT32, &error),
                    MTL_ERROR_NEEDS_COPY, "(4, -1) & 64 & 32");
    }
}

static void
test_reinterpret_only_one (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) one =
    mtl_strided_view_new_zeros (NULL, MTL_DTYPE_COMPLEX64, DIMS (1, 1), MTL_STORAGE_MODE_DEFAULT,
                                &error);
  g_autoptr (MtlStridedView) floats = reinterpret (one, MTL_DTYPE_FLOAT32);

  g_assert_no_error (error);
  assert_view_shape (floats, 1, 2);
}

/* Each padded element has two packed ones in its byte. */
static void
test_reinterpret_padded (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlBuffer) buffer = mtl_buffer_new (NULL, 4, MTL_STORAGE_MODE_HOST, &error);
  g_autoptr (MtlStridedLayout) layout = mtl_strided_layout_new (DIMS (4), NULL, 0, 8, &error);
  g_autoptr (MtlStridedView) padded = mtl_strided_view_new (buffer, layout,
                                                            MTL_DTYPE_FLOAT4_E2M1FN, 0, &error);
  g_autoptr (MtlStridedView) packed = reinterpret (padded, MTL_DTYPE_FLOAT4_E2M1FN);

  g_assert_true (mtl_strided_view_fill_double (padded, -2, NULL, &error));
  g_assert_no_error (error);
  g_assert_true (mtl_strided_view_is_padded (padded));
  g_assert_false (mtl_strided_view_is_padded (packed));
  assert_elements (packed, -2, 0, -2, 0, -2, 0, -2, 0);
}

static guint
get_max_compatible (MtlStridedView  *view,
                    int              axis,
                    GError         **error)
{
  MtlStridedLayout *layout = mtl_strided_view_get_layout (view);
  MtlBuffer *buffer = mtl_strided_view_get_buffer (view);
  guint64 address = (guintptr) mtl_buffer_get_contents (buffer)
                    + mtl_strided_view_get_byte_offset (view);

  return mtl_strided_layout_get_max_compatible_item_bits (layout, 128, address, axis, error);
}

static void
test_max_compatible (void)
{
  GError *error = NULL;
  g_autoptr (MtlStridedView) bytes = new_bytes (64);
  g_autoptr (MtlStridedView) shifted = slice (bytes, "4:52");
  g_autoptr (MtlStridedView) odd = slice (bytes, "1:33");
  g_autoptr (MtlStridedView) nibbles = reinterpret (bytes, MTL_DTYPE_FLOAT4_E2M1FN);
  g_autoptr (MtlStridedView) half = slice (nibbles, "1:17");

  g_assert_cmpuint (get_max_compatible (bytes, 0, &error), ==, 128);
  g_assert_cmpuint (get_max_compatible (shifted, 0, &error), ==, 32);
  g_assert_cmpuint (get_max_compatible (odd, 0, &error), ==, 8);
  g_assert_cmpuint (get_max_compatible (nibbles, -1, &error), ==, 128);
  g_assert_cmpuint (get_max_compatible (half, 0, &error), ==, 4);
  g_assert_no_error (error);
  g_assert_cmpuint (get_max_compatible (half, 1, &error), ==, 0);
  assert_failed (error, MTL_ERROR_OUT_OF_BOUNDS, "1");
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/StridedView/reinterpret", test_reinterpret);
  g_test_add_func ("/StridedView/reinterpret/slices", test_reinterpret_slices);
  g_test_add_func ("/StridedView/reinterpret/same-size", test_reinterpret_same_size);
  g_test_add_func ("/StridedView/reinterpret/bad", test_bad_reinterpret);
  g_test_add_func ("/StridedView/reinterpret/single", test_reinterpret_single);
  g_test_add_func ("/StridedView/reinterpret/only-one", test_reinterpret_only_one);
  g_test_add_func ("/StridedView/reinterpret/padded", test_reinterpret_padded);
  g_test_add_func ("/StridedView/max-compatible", test_max_compatible);

  return g_test_run ();
}
