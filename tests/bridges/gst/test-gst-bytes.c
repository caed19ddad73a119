/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Views of the first bytes of a buffer, in any shape. */

#include "test-gst-view-utils.h"

static void
test_elements (void)
{
  g_autoptr (GstBuffer) buffer = random_buffer_new (100);
  g_autoptr (MtlStridedView) view = NULL;
  g_autoptr (GError) error = NULL;
  GstMapInfo map;

  view = mtl_gst_view_from_buffer (buffer, MTL_DTYPE_FLOAT32, DIMS (2, 3, 4), GST_MAP_READ, &error);
  assert_view (view, error);
  assert_view_shape (view, 2, 3, 4);
  assert_view_strides (view, 12, 4, 1);
  g_assert_cmpint (mtl_strided_view_get_dtype (view), ==, MTL_DTYPE_FLOAT32);
  g_assert_true (mtl_strided_view_is_read_only (view));
  g_assert_cmpuint (mtl_buffer_get_size (mtl_strided_view_get_buffer (view)), ==, 96);

  g_assert_true (gst_buffer_map (buffer, &map, GST_MAP_READ));
  g_assert_true (mtl_strided_view_get_data (view) == map.data);
  gst_buffer_unmap (buffer, &map);
}

/* Two to a byte. */
static void
test_packed_elements (void)
{
  g_autoptr (GstBuffer) buffer = gst_buffer_new_memdup ("\x21\x43\x65", 3);
  g_autoptr (MtlStridedView) view = NULL;
  g_autoptr (GError) error = NULL;

  view = mtl_gst_view_from_buffer (buffer, MTL_DTYPE_UINT4, DIMS (5), GST_MAP_READ, &error);
  assert_view (view, error);
  for (gint64 i = 0; i < 5; i++)
    g_assert_cmpint (mtl_strided_view_get_int64 (view, &i, 1, NULL), ==, i + 1);
}

static void
test_write (void)
{
  g_autoptr (GstBuffer) buffer = random_buffer_new (8);
  MtlStridedView *view;
  GError *error = NULL;
  guint8 bytes[8];

  view = mtl_gst_view_from_buffer (buffer, MTL_DTYPE_UINT8, DIMS (7), GST_MAP_WRITE, &error);
  assert_view (view, error);
  g_assert_true (gst_buffer_extract (buffer, 7, bytes + 7, 1) == 1);
  g_assert_true (mtl_strided_view_fill_double (view, 9, NULL, NULL));
  g_object_unref (view);

  g_assert_true (gst_buffer_memcmp (buffer, 0, "\x09\x09\x09\x09\x09\x09\x09", 7) == 0);
  g_assert_true (gst_buffer_memcmp (buffer, 7, bytes + 7, 1) == 0);
  assert_untouched (buffer, 0, gst_buffer_peek_memory (buffer, 0));
}

static void
test_errors (void)
{
  g_autoptr (GstBuffer) buffer = random_buffer_new (100);
  g_autoptr (GstBuffer) empty = gst_buffer_new ();

  assert_fails (mtl_gst_view_from_buffer (buffer, MTL_DTYPE_UINT16, DIMS (51), GST_MAP_READ,
                                          &error), MTL_ERROR_OUT_OF_BOUNDS, "102");
  assert_fails (mtl_gst_view_from_buffer (buffer, MTL_DTYPE_UINT8, DIMS (G_MAXINT64), GST_MAP_READ,
                                          &error), MTL_ERROR_OUT_OF_BOUNDS, "9223372036854775807");
  assert_fails (mtl_gst_view_from_buffer (buffer, MTL_DTYPE_UINT8, DIMS (G_MAXINT64, 2),
                                          GST_MAP_READ, &error),
                MTL_ERROR_OVERFLOW, "9223372036854775807");
  assert_fails (mtl_gst_view_from_buffer (buffer, MTL_DTYPE_UINT8, DIMS (3, -1), GST_MAP_READ,
                                          &error),
                MTL_ERROR_INVALID_ARGUMENT, "-1");
  assert_fails (mtl_gst_view_from_buffer (buffer, MTL_DTYPE_OTHER, DIMS (3), GST_MAP_READ, &error),
                MTL_ERROR_INVALID_ARGUMENT, "0");
  assert_fails (mtl_gst_view_from_buffer (buffer, MTL_DTYPE_UINT8, DIMS (3, 0), GST_MAP_READ,
                                          &error), MTL_ERROR_INVALID_ARGUMENT, "1");
  assert_fails (mtl_gst_view_from_buffer (empty, MTL_DTYPE_UINT8, DIMS (1), GST_MAP_READ, &error),
                MTL_ERROR_OUT_OF_BOUNDS, "0");
  assert_untouched (buffer, 0, gst_buffer_peek_memory (buffer, 0));
}

/* The first memory can be viewed by itself, but not both. */
static void
test_memories (void)
{
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();
  g_autoptr (MtlStridedView) view = NULL;

  gst_buffer_append_memory (buffer, gst_allocator_alloc (NULL, 10, NULL));
  gst_buffer_append_memory (buffer, gst_allocator_alloc (NULL, 10, NULL));
  view = mtl_gst_view_from_buffer (buffer, MTL_DTYPE_UINT8, DIMS (10), GST_MAP_READ, NULL);
  g_assert_nonnull (view);
  assert_fails (mtl_gst_view_from_buffer (buffer, MTL_DTYPE_UINT8, DIMS (11), GST_MAP_READ, &error),
                MTL_ERROR_NEEDS_COPY, "2");
  g_assert_cmpuint (gst_buffer_n_memory (buffer), ==, 2);
}

int
main (int    argc,
      char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/gst/bytes/elements", test_elements);
  g_test_add_func ("/gst/bytes/packed-elements", test_packed_elements);
  g_test_add_func ("/gst/bytes/write", test_write);
  g_test_add_func ("/gst/bytes/errors", test_errors);
  g_test_add_func ("/gst/bytes/memories", test_memories);

  return g_test_run ();
}
