/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Textures are those of a display. */

#include "test-dmabuf-driver.h"
#include "test-screen.h"

static GdkTexture *
get_dmabuf_texture (int                  fd,
                    gsize                offset,
                    MtlStridedLayout    *layout,
                    guint32              fourcc,
                    MtlGtkTextureFlags   flags,
                    GError             **error)
{
  return mtl_gtk_texture_from_dmabuf (gdk_display_get_default (), fd, offset, layout, fourcc, flags,
                                      error);
}

#define FOURCC(a, b, c, d) ((guint32) (a) | (b) << 8 | (c) << 16 | (guint32) (d) << 24)
#define XRGB8888 FOURCC ('X', 'R', '2', '4')
#define ARGB8888 FOURCC ('A', 'R', '2', '4')

#if GTK_CHECK_VERSION (4, 14, 0)

static void
assert_no_texture (int                fd,
                   gsize              offset,
                   MtlStridedLayout  *layout,
                   guint32            fourcc,
                   MtlError           code,
                   const char        *value)
{
  const int next_fd = dup (0);
  int same_fd;

  close (next_fd);
  assert_fails (get_dmabuf_texture (fd, offset, layout, fourcc, 0, &error), code, value);

  same_fd = dup (0);
  g_assert_cmpint (same_fd, ==, next_fd);
  close (same_fd);
}

/* Rows of 20 bytes, of which the last 3 pixels have 12, from byte 4 on. */
static void
test_texture (void)
{
  g_autoptr (MtlStridedLayout) rows = new_layout (DIMS (2, 4, 4), DIMS (20, 4, 1));
  g_autoptr (MtlStridedLayout) layout = mtl_strided_layout_narrow (rows, 1, 1, 4, 1, NULL);
  const gsize size = 4 + 20 + 12 + 8;

  for (int premultiplied = 0; premultiplied <= 1; premultiplied++)
    {
      g_autoptr (GError) failure = NULL;
      g_autoptr (GdkTexture) texture = NULL;
      int fd = new_dmabuf (size);
      const int next_fd = dup (0);
      guint8 bytes[44], pixels[24];
      int same_fd;

      close (next_fd);
      for (gsize i = 0; i < size; i++)
        bytes[i] = i % 4 == 3 ? 255 : 5 * i;
      g_assert_cmpint (pwrite (fd, bytes, size, 0), ==, size);
      texture = get_dmabuf_texture (fd, 0, layout, ARGB8888,
                                    premultiplied ? MTL_GTK_TEXTURE_FLAGS_PREMULTIPLIED : 0,
                                    &failure);
      g_assert_no_error (failure);
      g_assert_true (GDK_IS_DMABUF_TEXTURE (texture));
      g_assert_cmpint (gdk_texture_get_width (texture), ==, 3);
      g_assert_cmpint (gdk_texture_get_height (texture), ==, 2);
      g_assert_cmpint (gdk_texture_get_format (texture), ==,
                       premultiplied ? GDK_MEMORY_B8G8R8A8_PREMULTIPLIED : GDK_MEMORY_B8G8R8A8);

      /* The texture has a file descriptor of its own. */
      close (fd);
      gdk_texture_download (texture, pixels, 12);
      for (int row = 0; row < 2; row++)
        g_assert_cmpmem (pixels + 12 * row, 12, bytes + 4 + 20 * row, 12);
      g_assert_cmpuint (driver.access, ==, 0);
      assert_fails (mtl_gtk_view_from_texture (texture, &error), MTL_ERROR_NEEDS_COPY,
                    "GdkDmabufTexture");

      g_clear_object (&texture);
      same_fd = dup (0);
      g_assert_cmpint (same_fd, ==, fd);
      close (same_fd);
    }
}

static void
test_texture_refused (void)
{
  static const struct
  {
    gint64 shape[3];
    gint64 strides[3];
  } gaps[] = {
    { { 2, 3, 4 }, { 20, 4, 2 } }, { { 2, 3, 3 }, { 20, 4, 1 } }, { { 2, 3, 4 }, { 8, 4, 1 } },
    { { 2, 3, 4 }, { 12, 0, 1 } },
  };
  const gint64 many = (gint64) G_MAXINT + 1;
  g_autoptr (MtlStridedLayout) layout = new_layout (DIMS (2, 3, 4), DIMS (20, 4, 1));
  g_autoptr (MtlStridedLayout) line = new_layout (DIMS (4), DIMS (1));
  g_autoptr (MtlStridedLayout) empty = new_layout (DIMS (2, 0, 4), DIMS (20, 4, 1));
  g_autoptr (MtlStridedLayout) tall = new_layout (DIMS (many, 3, 4), DIMS (0, 4, 1));
  g_autoptr (GError) unsupported = NULL;
  int fd = new_dmabuf (64), file = new_file (0), large = new_file (2 * many + 64);
  int next_fd, same_fd;

  assert_no_texture (fd, 0, layout, 0, MTL_ERROR_INVALID_ARGUMENT, "is 0");
  assert_no_texture (-1, 0, layout, XRGB8888, MTL_ERROR_INVALID_ARGUMENT, "-1");
  assert_no_texture (fd, 0, line, XRGB8888, MTL_ERROR_INVALID_ARGUMENT, "1 dimension;");
  assert_no_texture (fd, 0, empty, XRGB8888, MTL_ERROR_INVALID_ARGUMENT, "empty");
  assert_no_texture (fd, 0, tall, XRGB8888, MTL_ERROR_OVERFLOW, "2147483648 rows");
  if (sizeof (gsize) > 4)
    assert_no_texture (large, 2 * many, layout, XRGB8888, MTL_ERROR_OVERFLOW,
                       "byte 4294967296");
  assert_no_texture (fd, 40, layout, XRGB8888, MTL_ERROR_OUT_OF_BOUNDS,
                     "needs 32 bytes from 40 on");
  assert_no_texture (file, 0, layout, XRGB8888, MTL_ERROR_OUT_OF_BOUNDS, "has 0");
  for (gsize i = 0; i < G_N_ELEMENTS (gaps); i++)
    {
      g_autoptr (MtlStridedLayout) other = new_layout (gaps[i].shape, 3, gaps[i].strides, 3);

      assert_no_texture (fd, 0, other, XRGB8888, MTL_ERROR_NEEDS_COPY, "from top to bottom");
    }

  /* What GTK has against it. */
  next_fd = dup (0);
  close (next_fd);
  g_assert_null (get_dmabuf_texture (fd, 0, layout, FOURCC ('?', '?', '?', '?'), 0, &unsupported));
  g_assert_error (unsupported, GDK_DMABUF_ERROR, GDK_DMABUF_ERROR_UNSUPPORTED_FORMAT);
  g_test_message ("%s", unsupported->message);
  same_fd = dup (0);
  g_assert_cmpint (same_fd, ==, next_fd);
  close (same_fd);

  assert_ended (0);
  close (fd);
  close (file);
  close (large);
}

#else

static void
test_texture_refused (void)
{
  g_autoptr (MtlStridedLayout) layout = new_layout (DIMS (2, 3, 4), DIMS (20, 4, 1));
  int fd = new_dmabuf (64);

  assert_fails (get_dmabuf_texture (fd, 0, layout, XRGB8888, 0, &error), MTL_ERROR_NOT_SUPPORTED,
                "GTK 4.14");
  close (fd);
}

#endif

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  if (!start_screen ())
    {
      g_print ("1..0 # SKIP there is no Xvfb\n");
      return 0;
    }

#if GTK_CHECK_VERSION (4, 14, 0)
  g_test_add_func ("/Dmabuf/texture", test_texture);
#endif
  g_test_add_func ("/Dmabuf/texture-refused", test_texture_refused);

  return g_test_run ();
}
