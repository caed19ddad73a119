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
  const int n_fds = count_dmabuf_fds ();

  assert_fails (get_dmabuf_texture (fd, offset, layout, fourcc, 0, &error), code, value);
  g_assert_cmpint (count_dmabuf_fds (), ==, n_fds);
}

/* The rows have 20 bytes: the last 3 pixels take 12, from byte 4 on. */
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
      guint8 bytes[44], pixels[24];

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
      g_assert_cmpint (count_dmabuf_fds (), ==, 1);
      gdk_texture_download (texture, pixels, 12);
      for (int row = 0; row < 2; row++)
        g_assert_cmpmem (pixels + 12 * row, 12, bytes + 4 + 20 * row, 12);
      g_assert_cmpuint (driver.access, ==, 0);
      assert_fails (mtl_gtk_view_from_texture (texture, &error), MTL_ERROR_NEEDS_COPY,
                    "GdkDmabufTexture");

      g_clear_object (&texture);
      g_assert_cmpint (count_dmabuf_fds (), ==, 0);
    }
}

/* GTK takes the file descriptor 0 for none. */
static void
test_first_fd (void)
{
  g_autoptr (MtlStridedLayout) layout = new_layout (DIMS (2, 4, 4), DIMS (16, 4, 1));
  g_autoptr (GdkTexture) texture = NULL;
  g_autoptr (GError) error = NULL;
  int fd = new_dmabuf (32);
  const int standard_input = fcntl (0, F_DUPFD_CLOEXEC, 3);

  close (0);
  texture = get_dmabuf_texture (fd, 0, layout, ARGB8888, 0, &error);
  g_assert_no_error (error);
  g_assert_true (GDK_IS_DMABUF_TEXTURE (texture));
  if (standard_input >= 0)
    {
      dup2 (standard_input, 0);
      close (standard_input);
    }
  close (fd);
}

/* GTK 4.16 and 4.18 warn of luma and chroma. */
#if GTK_CHECK_VERSION (4, 20, 0)

typedef struct
{
  const char *fourcc;
  int pixel_size;      /* 0: there are several planes */
  gboolean has_pairs;  /* pixels that share their chroma */
} Format;

static const Format formats[] = {
  { "R8  ", 1 }, { "R16 ", 2 }, { "RG24", 3 }, { "BG24", 3 }, { "XR24", 4 }, { "XB24", 4 },
  { "RX24", 4 }, { "BX24", 4 }, { "AR24", 4 }, { "AB24", 4 }, { "RA24", 4 }, { "BA24", 4 },
  { "XR30", 4 }, { "XB30", 4 }, { "AR30", 4 }, { "AB30", 4 }, { "AB48", 8 }, { "AB4H", 8 },
  { "YUYV", 2, TRUE }, { "YVYU", 2, TRUE }, { "UYVY", 2, TRUE }, { "VYUY", 2, TRUE }, { "AYUV", 4 },
  { "XYUV", 4 }, { "AVUY", 4 }, { "XVUY", 4 }, { "VU24", 3 }, { "RG16", 2 }, { "GR88", 2 },
  { "Y210", 4, TRUE }, { "NV12", 0 }, { "NV21", 0 }, { "NV16", 0 }, { "NV61", 0 }, { "NV24", 0 },
  { "NV42", 0 }, { "P010", 0 }, { "P012", 0 }, { "P016", 0 }, { "S010", 0 }, { "S416", 0 },
  { "YU12", 0 }, { "YV12", 0 }, { "YUV9", 0 }, { "YU11", 0 }, { "YU16", 0 }, { "YV24", 0 },
  { "Q410", 0 }, { "XRA8", 0 }, { "ABCD", 0 },
};

static void
download_floats (GdkTexture *texture,
                 float      *pixels)
{
  g_autoptr (GdkTextureDownloader) downloader = gdk_texture_downloader_new (texture);

  gdk_texture_downloader_set_format (downloader, GDK_MEMORY_R32G32B32A32_FLOAT);
  gdk_texture_downloader_download_into (downloader, (guchar *) pixels,
                                        16 * gdk_texture_get_width (texture));
}

/* A texture of the same bytes in memory. */
static void
assert_same_picture (GdkTexture *texture,
                     GBytes     *bytes,
                     gsize       row_stride)
{
  const int height = gdk_texture_get_height (texture), width = gdk_texture_get_width (texture);
  g_autoptr (GdkMemoryTextureBuilder) builder = gdk_memory_texture_builder_new ();
  g_autofree float *pixels = g_new (float, 4 * width * height);
  g_autofree float *expected_pixels = g_new (float, 4 * width * height);
  g_autoptr (GdkTexture) expected = NULL;

  gdk_memory_texture_builder_set_bytes (builder, bytes);
  gdk_memory_texture_builder_set_stride (builder, row_stride);
  gdk_memory_texture_builder_set_width (builder, width);
  gdk_memory_texture_builder_set_height (builder, height);
  gdk_memory_texture_builder_set_format (builder, gdk_texture_get_format (texture));
  gdk_memory_texture_builder_set_color_state (builder, gdk_texture_get_color_state (texture));
  expected = gdk_memory_texture_builder_build (builder);

  download_floats (texture, pixels);
  download_floats (expected, expected_pixels);
  g_assert_cmpmem (pixels, 16 * width * height, expected_pixels, 16 * width * height);
}

/* FALSE if the display does not support it. */
static gboolean
check_drawn_texture (const Format *format)
{
  const char *letters = format->fourcc;
  const int pixel_size = MAX (format->pixel_size, 1);
  const guint32 fourcc = FOURCC (letters[0], letters[1], letters[2], letters[3]);
  const gint64 height = g_test_rand_int_range (1, 9), width = g_test_rand_int_range (1, 17);
  const gint64 row_stride = (width * pixel_size + 3) / 4 * 4 + 4 * g_test_rand_int_range (0, 5);
  const gsize offset = 8 * g_test_rand_int_range (0, 5);
  /* The last row may lack its padding. */
  const gsize size = (height - 1) * row_stride
                     + (g_test_rand_bit () ? row_stride : width * pixel_size);
  guint8 *data = g_malloc (size);
  g_autoptr (GBytes) bytes = g_bytes_new_take (data, size);
  g_autoptr (MtlStridedLayout) layout = NULL;
  g_autoptr (GdkTexture) texture = NULL;
  g_autoptr (GError) error = NULL;
  int fd = new_dmabuf (offset + size);

  for (gsize i = 0; i < size; i++)
    data[i] = g_test_rand_int ();
  /* No NaN. */
  for (gsize i = 1; g_str_equal (letters, "AB4H") && i < size; i += 2)
    data[i] &= 0x3b;
  g_assert_cmpint (pwrite (fd, data, size, offset), ==, size);
  layout = new_layout (DIMS (height, width, pixel_size), DIMS (row_stride, pixel_size, 1));
  if (format->pixel_size == 0)
    assert_no_texture (fd, offset, layout, fourcc, MTL_ERROR_NOT_SUPPORTED, letters);
  else if (format->has_pairs && width % 2 == 1)
    assert_no_texture (fd, offset, layout, fourcc, MTL_ERROR_INVALID_ARGUMENT, letters);
  else
    texture = get_dmabuf_texture (fd, offset, layout, fourcc, g_test_rand_bit (), &error);

  close (fd);
  if (error != NULL)
    g_assert_error (error, GDK_DMABUF_ERROR, GDK_DMABUF_ERROR_UNSUPPORTED_FORMAT);
  if (texture == NULL)
    return FALSE;

  assert_same_picture (texture, bytes, row_stride);
  return TRUE;
}

static void
test_drawn (void)
{
  int n_supported = 0;

  for (int i = 0; i < 20; i++)
    for (gsize j = 0; j < G_N_ELEMENTS (formats); j++)
      n_supported += check_drawn_texture (&formats[j]);
  g_assert_cmpint (n_supported, >=, 20 * 10);
}

#endif

static void
test_texture_refused (void)
{
  static const struct
  {
    gint64 shape[3];
    gint64 strides[3];
  } gaps[] = {
    { { 2, 3, 4 }, { 20, 4, 2 } }, { { 2, 3, 4 }, { 20, 5, 1 } }, { { 2, 3, 4 }, { 8, 4, 1 } },
    { { 2, 3, 4 }, { 12, 0, 1 } },
  };
  const gint64 many = (gint64) G_MAXINT + 1;
  g_autoptr (MtlStridedLayout) layout = new_layout (DIMS (2, 3, 4), DIMS (20, 4, 1));
  g_autoptr (MtlStridedLayout) bytes = new_layout (DIMS (2, 3), DIMS (4, 1));
  g_autoptr (MtlStridedLayout) line = new_layout (DIMS (4), DIMS (1));
  g_autoptr (MtlStridedLayout) empty = new_layout (DIMS (2, 0, 4), DIMS (20, 4, 1));
  g_autoptr (MtlStridedLayout) tall = new_layout (DIMS (many, 3, 4), DIMS (0, 4, 1));
  g_autoptr (GError) unsupported = NULL;
  int fd = new_dmabuf (64), file = new_file (0), large = new_file (2 * many + 64);

  assert_no_texture (fd, 0, layout, 0, MTL_ERROR_INVALID_ARGUMENT, "0");
  assert_no_texture (-1, 0, layout, XRGB8888, MTL_ERROR_INVALID_ARGUMENT, "-1");
  assert_no_texture (fd, 0, line, XRGB8888, MTL_ERROR_INVALID_ARGUMENT, "1");
  assert_no_texture (fd, 0, empty, XRGB8888, MTL_ERROR_INVALID_ARGUMENT, "2 & 0");
  assert_no_texture (fd, 0, tall, XRGB8888, MTL_ERROR_OVERFLOW, "2147483648");
  if (sizeof (gsize) > 4)
    assert_no_texture (large, 2 * many, layout, XRGB8888, MTL_ERROR_OVERFLOW, "4294967296");
  assert_no_texture (fd, 40, layout, XRGB8888, MTL_ERROR_OUT_OF_BOUNDS, "32 & 40");
  assert_no_texture (file, 0, layout, XRGB8888, MTL_ERROR_OUT_OF_BOUNDS, "0");
  for (gsize i = 0; i < G_N_ELEMENTS (gaps); i++)
    {
      g_autoptr (MtlStridedLayout) other = new_layout (gaps[i].shape, 3, gaps[i].strides, 3);

      assert_no_texture (fd, 0, other, XRGB8888, MTL_ERROR_NEEDS_COPY, "");
    }

  assert_no_texture (fd, 0, layout, FOURCC ('?', '?', '?', '?'), MTL_ERROR_NOT_SUPPORTED, "????");
  assert_no_texture (fd, 0, layout, 1, MTL_ERROR_NOT_SUPPORTED, "0x00000001");
  assert_no_texture (fd, 0, layout, FOURCC ('B', 'G', '2', '4'), MTL_ERROR_INVALID_ARGUMENT,
                     "24 & 32");

  /* GTK refuses this format. */
  g_assert_null (get_dmabuf_texture (fd, 0, bytes, FOURCC ('C', '8', ' ', ' '), 0, &unsupported));
  g_assert_error (unsupported, GDK_DMABUF_ERROR, GDK_DMABUF_ERROR_UNSUPPORTED_FORMAT);
  g_test_message ("%s", unsupported->message);
  g_assert_cmpint (count_dmabuf_fds (), ==, 1);

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
                "GTK & 4.14");
  close (fd);
}

#endif

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  /* GTK maps the memory then. Mesa's software renderer keeps file descriptors that it was given. */
  g_setenv ("GDK_DISABLE", "gl,vulkan", TRUE);
  if (!start_screen ())
    {
      g_print ("1..0 # SKIP there is no Xvfb\n");
      return 0;
    }

#if GTK_CHECK_VERSION (4, 14, 0)
  g_test_add_func ("/Dmabuf/texture", test_texture);
  g_test_add_func ("/Dmabuf/first-fd", test_first_fd);
#endif
#if GTK_CHECK_VERSION (4, 20, 0)
  g_test_add_func ("/Dmabuf/drawn", test_drawn);
#endif
  g_test_add_func ("/Dmabuf/texture-refused", test_texture_refused);

  return g_test_run ();
}
