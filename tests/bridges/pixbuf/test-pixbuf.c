/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <string.h>

#include "test-pixbuf-utils.h"

static GdkPixbuf *
picture_new (gboolean has_alpha,
             int      width,
             int      height)
{
  GdkPixbuf *pixbuf = gdk_pixbuf_new (GDK_COLORSPACE_RGB, has_alpha, 8, width, height);

  gdk_pixbuf_fill (pixbuf, 0x01020304);
  return pixbuf;
}

/* The rows of an RGB picture of width 5 are padded, but for the last one. */
static void
test_get_view_rgb (void)
{
  g_autoptr (GdkPixbuf) pixbuf = picture_new (FALSE, 5, 3);
  g_autoptr (MtlStridedView) view = get_view (pixbuf);
  const gint64 *dims;
  gsize n_dims;

  dims = mtl_strided_view_get_shape (view, &n_dims);
  assert_dims (dims, n_dims, 3, 5, 3);
  dims = mtl_strided_view_get_strides (view, &n_dims);
  assert_dims (dims, n_dims, 16, 3, 1);

  g_assert_cmpint (mtl_strided_view_get_dtype (view), ==, MTL_DTYPE_UINT8);
  g_assert_false (mtl_strided_view_is_read_only (view));
  g_assert_true (mtl_strided_view_get_data (view) == gdk_pixbuf_get_pixels (pixbuf));
  g_assert_cmpuint (mtl_buffer_get_size (mtl_strided_view_get_buffer (view)), ==, 47);
  g_assert_cmpuint (gdk_pixbuf_get_byte_length (pixbuf), ==, 47);

  for (guint i = 0; i < 47; i++)
    gdk_pixbuf_get_pixels (pixbuf)[i] = i * 5;
  assert_same_samples (pixbuf, view);

  set_number_at (view, 2, 4, 2, 99);
  g_assert_cmpint (gdk_pixbuf_get_pixels (pixbuf)[46], ==, 99);
}

static void
test_get_view_rgba (void)
{
  g_autoptr (GdkPixbuf) pixbuf = picture_new (TRUE, 2, 4);
  g_autoptr (MtlStridedView) view = get_view (pixbuf);
  const gint64 *dims;
  gsize n_dims;

  dims = mtl_strided_view_get_shape (view, &n_dims);
  assert_dims (dims, n_dims, 4, 2, 4);
  for (int channel = 0; channel < 4; channel++)
    g_assert_cmpint (get_number_at (view, 3, 1, channel), ==, channel + 1);

  set_number_at (view, 3, 1, 3, 200);
  g_assert_cmpint (gdk_pixbuf_get_pixels (pixbuf)[3 * 8 + 1 * 4 + 3], ==, 200);
}

static void
test_get_view_subpixbuf (void)
{
  GdkPixbuf *pixbuf = picture_new (FALSE, 5, 3);
  g_autoptr (GdkPixbuf) part = gdk_pixbuf_new_subpixbuf (pixbuf, 2, 1, 3, 2);
  g_autoptr (MtlStridedView) view = get_view (part);
  guint8 *pixels = gdk_pixbuf_get_pixels (pixbuf);

  g_assert_true (mtl_strided_view_get_data (view) == pixels + 16 + 2 * 3);
  g_assert_cmpuint (mtl_buffer_get_size (mtl_strided_view_get_buffer (view)), ==, 16 + 9);

  set_number_at (view, 1, 2, 0, 77);
  g_assert_cmpint (pixels[2 * 16 + 4 * 3], ==, 77);

  /* The part keeps the whole alive, and the view keeps the part. */
  g_object_add_weak_pointer (G_OBJECT (pixbuf), (gpointer *) &pixbuf);
  g_object_unref (pixbuf);
  g_clear_object (&part);
  g_assert_nonnull (pixbuf);
  g_assert_cmpint (get_number_at (view, 1, 2, 0), ==, 77);
  g_clear_object (&view);
  g_assert_null (pixbuf);
}

/* The bytes stay as they are; the picture gets a copy, once. */
static void
test_get_view_bytes (void)
{
  g_autofree guint8 *data = g_malloc0 (47);
  g_autoptr (GBytes) bytes = g_bytes_new_static (data, 47);
  g_autoptr (GdkPixbuf) pixbuf = gdk_pixbuf_new_from_bytes (bytes, GDK_COLORSPACE_RGB, FALSE, 8,
                                                            5, 3, 16);
  g_autoptr (MtlStridedView) view = NULL;
  g_autoptr (MtlStridedView) again = NULL;

  data[0] = 11;
  g_assert_true (gdk_pixbuf_read_pixels (pixbuf) == data);

  view = get_view (pixbuf);
  g_assert_true (mtl_strided_view_get_data (view) != data);
  g_assert_true (mtl_strided_view_get_data (view) == gdk_pixbuf_read_pixels (pixbuf));
  g_assert_cmpint (get_number_at (view, 0, 0, 0), ==, 11);

  set_number_at (view, 0, 0, 0, 12);
  g_assert_cmpint (data[0], ==, 11);
  g_assert_cmpint (gdk_pixbuf_read_pixels (pixbuf)[0], ==, 12);

  again = get_view (pixbuf);
  g_assert_true (mtl_strided_view_get_data (again) == mtl_strided_view_get_data (view));
}

static void
test_get_view_keeps_picture (void)
{
  GdkPixbuf *pixbuf = picture_new (FALSE, 5, 3);
  MtlStridedView *view = get_view (pixbuf);
  MtlStridedView *part = slice (view, "1:, 2:, 0");

  g_object_add_weak_pointer (G_OBJECT (pixbuf), (gpointer *) &pixbuf);
  g_object_unref (pixbuf);
  g_assert_nonnull (pixbuf);
  set_number_at (view, 2, 4, 2, 5);

  g_assert_finalize_object (view);
  g_assert_nonnull (pixbuf);
  g_assert_true (mtl_strided_view_get_data (part) == gdk_pixbuf_get_pixels (pixbuf) + 16 + 6);

  g_assert_finalize_object (part);
  g_assert_null (pixbuf);

  /* The other way round: the picture goes last. */
  pixbuf = picture_new (FALSE, 5, 3);
  view = get_view (pixbuf);
  g_assert_finalize_object (view);
  g_assert_finalize_object (pixbuf);
}

static void
test_get_view_bits (void)
{
  g_autoptr (GBytes) bytes = g_bytes_new_take (g_malloc0 (64), 64);
  g_autoptr (GError) error = NULL;
  g_autoptr (GdkPixbuf) pixbuf = g_object_new (GDK_TYPE_PIXBUF,
                                               "width", 2,
                                               "height", 2,
                                               "n-channels", 4,
                                               "has-alpha", TRUE,
                                               "bits-per-sample", 16,
                                               "rowstride", 16,
                                               "pixel-bytes", bytes,
                                               NULL);

  g_assert_null (mtl_pixbuf_view_from_pixbuf (pixbuf, &error));
  g_assert_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED);
  assert_says (error->message, "16");
}

static void
test_new_from_view (gconstpointer n_channels_pointer)
{
  gint64 n_channels = GPOINTER_TO_INT (n_channels_pointer);
  g_autoptr (MtlStridedView) view = host_zeros (MTL_DTYPE_UINT8, DIMS (3, 5, n_channels));
  g_autoptr (GdkPixbuf) pixbuf = get_picture (view);
  g_autoptr (MtlStridedView) back = NULL;
  guint8 *pixels;

  g_assert_cmpint (gdk_pixbuf_get_height (pixbuf), ==, 3);
  g_assert_cmpint (gdk_pixbuf_get_width (pixbuf), ==, 5);
  g_assert_cmpint (gdk_pixbuf_get_n_channels (pixbuf), ==, n_channels);
  g_assert_cmpint (gdk_pixbuf_get_has_alpha (pixbuf), ==, n_channels == 4);
  g_assert_cmpint (gdk_pixbuf_get_rowstride (pixbuf), ==, 5 * n_channels);

  pixels = gdk_pixbuf_get_pixels (pixbuf);
  g_assert_true (pixels == mtl_strided_view_get_data (view));
  for (guint i = 0; i < 15 * n_channels; i++)
    pixels[i] = i * 3;
  assert_same_samples (pixbuf, view);
  set_number_at (view, 1, 2, 1, 250);
  g_assert_cmpint (pixels[5 * n_channels + 2 * n_channels + 1], ==, 250);

  back = get_view (pixbuf);
  g_assert_true (mtl_strided_view_get_data (back) == pixels);
}

static void
test_new_from_view_keeps_view (void)
{
  MtlStridedView *view = host_zeros (MTL_DTYPE_UINT8, DIMS (3, 5, 4));
  GdkPixbuf *pixbuf = get_picture (view);
  MtlStridedView *back = get_view (pixbuf);

  g_object_add_weak_pointer (G_OBJECT (view), (gpointer *) &view);
  g_object_add_weak_pointer (G_OBJECT (pixbuf), (gpointer *) &pixbuf);

  g_object_unref (view);
  g_object_unref (pixbuf);
  g_assert_nonnull (view);
  g_assert_nonnull (pixbuf);
  set_number_at (back, 2, 4, 3, 8);
  g_assert_cmpint (get_number_at (view, 2, 4, 3), ==, 8);

  g_assert_finalize_object (back);
  g_assert_null (view);
  g_assert_null (pixbuf);

  view = host_zeros (MTL_DTYPE_UINT8, DIMS (3, 5, 3));
  pixbuf = get_picture (view);
  g_assert_finalize_object (pixbuf);
  g_assert_finalize_object (view);
}

/* GdkPixbuf takes a copy before it lets anybody write. */
static void
test_new_from_view_read_only (void)
{
  MtlStridedView *writable = host_zeros (MTL_DTYPE_UINT8, DIMS (3, 5, 3));
  MtlStridedView *view = mtl_strided_view_as_read_only (writable);
  g_autoptr (GdkPixbuf) pixbuf = get_picture (view);
  gpointer data = mtl_strided_view_get_data (writable);
  guint8 *pixels;

  g_object_add_weak_pointer (G_OBJECT (view), (gpointer *) &view);
  g_object_unref (view);

  g_assert_true (gdk_pixbuf_read_pixels (pixbuf) == data);
  set_number_at (writable, 2, 4, 2, 31);
  g_assert_cmpint (gdk_pixbuf_read_pixels (pixbuf)[44], ==, 31);
  g_assert_nonnull (view);

  pixels = gdk_pixbuf_get_pixels (pixbuf);
  g_assert_true (pixels != data);
  g_assert_cmpint (pixels[44], ==, 31);
  pixels[44] = 32;
  g_assert_cmpint (get_number_at (writable, 2, 4, 2), ==, 31);

  /* The copy is GdkPixbuf's own: nothing of ours is held any more. */
  g_assert_null (view);
  g_assert_finalize_object (writable);
  g_assert_cmpint (gdk_pixbuf_read_pixels (pixbuf)[44], ==, 32);
}

typedef struct
{
  const char *slice;
  int width;
  int height;
  int rowstride;
  gsize offset;
} Part;

/* Parts of a view [6, 7, 4], whose rows have 28 bytes. The strides of axes of extent 1 lead
 * nowhere, and may be anything. */
static const Part parts[] = {
  { "1:4, 2:5", 3, 3, 28, 28 + 8 },
  { "::2", 7, 3, 56, 0 },
  { "2:3", 7, 1, 28, 56 },
  { "4::-5", 7, 1, 28, 4 * 28 },
  { "4::-5, 1:3", 2, 1, 8, 4 * 28 + 4 },
  { ":, 6:5:-1", 1, 6, 28, 24 },
};

static void
test_new_from_view_parts (void)
{
  g_autoptr (MtlStridedView) view = host_zeros (MTL_DTYPE_UINT8, DIMS (6, 7, 4));
  guint8 *data = mtl_strided_view_get_data (view);

  for (guint i = 0; i < 6 * 7 * 4; i++)
    data[i] = i;

  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    {
      g_autoptr (MtlStridedView) part = slice (view, parts[i].slice);
      g_autoptr (GdkPixbuf) pixbuf = get_picture (part);

      g_test_message ("%s", parts[i].slice);
      g_assert_cmpint (gdk_pixbuf_get_width (pixbuf), ==, parts[i].width);
      g_assert_cmpint (gdk_pixbuf_get_height (pixbuf), ==, parts[i].height);
      g_assert_cmpint (gdk_pixbuf_get_rowstride (pixbuf), ==, parts[i].rowstride);
      g_assert_true (gdk_pixbuf_get_pixels (pixbuf) == data + parts[i].offset);
      assert_same_samples (pixbuf, part);
    }
}

static void
test_get_view_huge (void)
{
  guint8 *data = huge_new ();
  g_autoptr (GdkPixbuf) pixbuf = gdk_pixbuf_new_from_data (data, GDK_COLORSPACE_RGB, FALSE, 8,
                                                           30000, 30000, 90000, NULL, NULL);
  g_autoptr (MtlStridedView) view = get_view (pixbuf);

  g_assert_cmpuint (mtl_buffer_get_size (mtl_strided_view_get_buffer (view)), ==, 2700000000u);
  set_number_at (view, 29999, 29999, 2, 9);
  g_assert_cmpint (data[2699999999u], ==, 9);

  munmap (data, HUGE_SIZE);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/pixbuf/get-view/rgb", test_get_view_rgb);
  g_test_add_func ("/pixbuf/get-view/rgba", test_get_view_rgba);
  g_test_add_func ("/pixbuf/get-view/subpixbuf", test_get_view_subpixbuf);
  g_test_add_func ("/pixbuf/get-view/bytes", test_get_view_bytes);
  g_test_add_func ("/pixbuf/get-view/keeps-picture", test_get_view_keeps_picture);
  g_test_add_func ("/pixbuf/get-view/bits", test_get_view_bits);
  g_test_add_func ("/pixbuf/get-view/huge", test_get_view_huge);
  g_test_add_data_func ("/pixbuf/new-from-view/rgb", GINT_TO_POINTER (3), test_new_from_view);
  g_test_add_data_func ("/pixbuf/new-from-view/rgba", GINT_TO_POINTER (4), test_new_from_view);
  g_test_add_func ("/pixbuf/new-from-view/keeps-view", test_new_from_view_keeps_view);
  g_test_add_func ("/pixbuf/new-from-view/read-only", test_new_from_view_read_only);
  g_test_add_func ("/pixbuf/new-from-view/parts", test_new_from_view_parts);

  return g_test_run ();
}
