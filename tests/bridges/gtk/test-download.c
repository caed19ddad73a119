/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "test-gtk-utils.h"
#include "watched.h"

static MtlStridedView *
download (GdkTexture         *texture,
          MtlDType            dtype,
          MtlGtkChannels      channels,
          MtlGtkTextureFlags  flags)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *view = mtl_gtk_download_texture (texture, dtype, channels, flags, NULL, &error);

  g_assert_no_error (error);
  g_assert_false (mtl_strided_view_is_read_only (view));
  g_assert_true (mtl_strided_view_is_contiguous (view, MTL_ORDER_C));
  g_assert_cmpint (mtl_strided_view_get_dtype (view), ==, dtype);
  return view;
}

static double
get_tolerance (MtlDType dtype,
               double   value,
               int      n_roundings)
{
  if (dtype == MTL_DTYPE_FLOAT32)
    return 1e-6 * MAX (value, 1e-3);

  /* Halves are precise to 11 bits, and integers are rounded. */
  return dtype == MTL_DTYPE_FLOAT16 ? n_roundings * MAX (value, 1e-4) / 2047
                                    : n_roundings * 0.5 + 1e-6 * value;
}

typedef struct
{
  MtlDType dtype;
  const char *letters;
  gboolean premultiplied;
} Pixel;

/* Each channel of each pixel, from what the source's channels mean. */
static void
assert_pixels (MtlStridedView *view,
               const Pixel    *pixel,
               MtlStridedView *source,
               const Pixel    *source_pixel,
               int             n_roundings)
{
  const gint64 *shape = mtl_strided_view_get_shape (view, NULL);
  const gboolean has_products = source_pixel->premultiplied
                                && strcmp (source_pixel->letters, "A") != 0;

  g_assert_cmpint (shape[2], ==, strlen (pixel->letters));
  for (gint64 row = 0; row < shape[0]; row++)
    for (gint64 column = 0; column < shape[1]; column++)
      {
        double channels[4], light[4];

        for (int i = 0; source_pixel->letters[i] != '\0'; i++)
          channels[i] = get_number_at (source, row, column, i);
        get_light (channels, source_pixel->letters, source_pixel->dtype, light);
        change_opacity (light, has_products, pixel->premultiplied);

        for (int i = 0; pixel->letters[i] != '\0'; i++)
          if (pixel->letters[i] != 'X')
            {
              const double expected = get_channel (light, pixel->letters[i])
                                      * get_full (pixel->dtype);

              g_assert_cmpfloat_with_epsilon (get_number_at (view, row, column, i), expected,
                                              get_tolerance (pixel->dtype, expected,
                                                             n_roundings));
            }
      }
}

static void
check_downloads_to (GdkTexture     *texture,
                    gboolean        premultiplied,
                    MtlStridedView *source,
                    const Pixel    *source_pixel,
                    int             n_roundings)
{
  for (gsize i = 0; i < G_N_ELEMENTS (pixel_dtypes); i++)
    for (MtlGtkChannels channels = 0; channels < G_N_ELEMENTS (orders); channels++)
      {
        const Pixel pixel = {
          pixel_dtypes[i], channels == MTL_GTK_CHANNELS_AUTO ? "RGBA" : orders[channels],
          premultiplied
        };
        g_autoptr (MtlStridedView) view =
          download (texture, pixel.dtype, channels,
                    premultiplied ? MTL_GTK_TEXTURE_FLAGS_PREMULTIPLIED
                                  : MTL_GTK_TEXTURE_FLAGS_NONE);

        assert_pixels (view, &pixel, source, source_pixel, n_roundings);
      }
}

static void
check_downloads (GdkTexture     *texture,
                 MtlStridedView *source,
                 const Pixel    *source_pixel)
{
  for (int premultiplied = 0; premultiplied <= 1; premultiplied++)
    check_downloads_to (texture, premultiplied, source, source_pixel, 1);
}

/* A texture's pixels are converted without a loss to the type that it was made from. */
static void
test_own_textures (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (pixel_dtypes); i++)
    for (MtlGtkChannels channels = 1; channels < G_N_ELEMENTS (orders); channels++)
      for (int premultiplied = 0; premultiplied <= 1; premultiplied++)
        {
          const Pixel pixel = { pixel_dtypes[i], orders[channels], premultiplied };
          g_autoptr (MtlStridedView) memory = NULL, source = NULL;
          g_autoptr (GdkTexture) texture = NULL;

          memory = host_zeros (pixel.dtype, DIMS (5, 7, strlen (pixel.letters)));
          source = slice (memory, "1:4, 1:6");
          set_random_pixels (source, pixel.letters, premultiplied);
          texture = get_texture (source, channels,
                                 MTL_GTK_TEXTURE_FLAGS_ALLOW_COPY
                                 | (premultiplied ? MTL_GTK_TEXTURE_FLAGS_PREMULTIPLIED : 0));
          check_downloads (texture, source, &pixel);
        }
}

#if GTK_CHECK_VERSION (4, 10, 0)

/* All formats that there are, against the floats that GTK itself gives. */
static void
check_downloads_by_gtk (GdkTexture *texture)
{
  for (int premultiplied = 0; premultiplied <= 1; premultiplied++)
    {
      const Pixel gtk_pixel = { MTL_DTYPE_FLOAT32, "RGBA", premultiplied };
      g_autoptr (GdkTextureDownloader) downloader = gdk_texture_downloader_new (texture);
      g_autoptr (MtlStridedView) gtk_view = host_zeros (MTL_DTYPE_FLOAT32, DIMS (3, 5, 4));

      gdk_texture_downloader_set_format (downloader,
                                         premultiplied ? GDK_MEMORY_R32G32B32A32_FLOAT_PREMULTIPLIED
                                                       : GDK_MEMORY_R32G32B32A32_FLOAT);
      gdk_texture_downloader_download_into (downloader, mtl_strided_view_get_data (gtk_view),
                                            5 * 4 * sizeof (float));
      /* Gray is the mean of colors that GTK has rounded. */
      check_downloads_to (texture, premultiplied, gtk_view, &gtk_pixel, 2);
    }
}

#endif

/* Compares textures from elsewhere with what GTK itself gives; before 4.10 that is 8 bits. */
static void
test_other_textures (void)
{
  for (GdkMemoryFormat format = 0; format < GDK_MEMORY_N_FORMATS; format++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedView) pixels = NULL;
      g_autoptr (GBytes) bytes = NULL;
      g_autoptr (GdkTexture) texture = NULL;
      MtlGtkTextureFlags flags;
      MtlGtkChannels channels;
      gboolean premultiplied;
      MtlDType dtype;

      if (!mtl_gtk_pixel_from_memory_format (format, &dtype, &channels, &flags, NULL))
        continue;

      premultiplied = (flags & MTL_GTK_TEXTURE_FLAGS_PREMULTIPLIED) != 0;
      pixels = host_zeros (dtype, DIMS (3, 5, strlen (orders[channels])));
      set_random_pixels (pixels, orders[channels], premultiplied);
      bytes = mtl_strided_view_dup_bytes (pixels, NULL, &error);
      texture = gdk_memory_texture_new (5, 3, format, bytes, g_bytes_get_size (bytes) / 3);
      g_assert_no_error (error);
#if GTK_CHECK_VERSION (4, 10, 0)
      {
        const Pixel pixel = { dtype, orders[channels], premultiplied };
        g_autoptr (MtlStridedView) same =
          download (texture, dtype, channels, flags);

        assert_pixels (same, &pixel, pixels, &pixel, 1);
        check_downloads_by_gtk (texture);
      }
#else
      {
        static const Pixel gtk_pixel = {
          MTL_DTYPE_UINT8, G_BYTE_ORDER == G_LITTLE_ENDIAN ? "BGRA" : "ARGB", TRUE
        };
        g_autoptr (GBytes) gtk_bytes = g_bytes_new_take (get_gtk_pixels (texture), 60);
        g_autoptr (MtlStridedView) gtk_view =
          mtl_strided_view_new_from_bytes_with_byte_strides (gtk_bytes, MTL_DTYPE_UINT8,
                                                             DIMS (3, 5, 4), NO_DIMS, &error);

        g_assert_no_error (error);
        check_downloads (texture, gtk_view, &gtk_pixel);
      }
#endif
    }
}

#if GTK_CHECK_VERSION (4, 16, 0)

/* They become those of sRGB. */
static void
test_color_states (void)
{
  g_autoptr (MtlStridedView) source = host_zeros (MTL_DTYPE_FLOAT32, DIMS (3, 5, 4));
  g_autoptr (MtlStridedView) linear = NULL, view = NULL;
  g_autoptr (GdkTexture) texture = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = NULL;

  set_random_pixels (source, "RGBA", FALSE);
  linear = mtl_strided_view_copy (source, MTL_ORDER_C, NULL, &error);
  g_assert_no_error (error);
  for (int i = 0; i < 3 * 5 * 3; i++)
    {
      const double light = get_number_at (source, i / 15, i / 3 % 5, i % 3);

      set_number_at (linear, i / 15, i / 3 % 5, i % 3,
                     light <= 0.04045 ? light / 12.92 : pow ((light + 0.055) / 1.055, 2.4));
    }
  bytes = mtl_strided_view_dup_bytes (linear, NULL, &error);
  g_assert_no_error (error);
  texture = new_texture_of_color_state (bytes, gdk_color_state_get_srgb_linear ());

  view = download (texture, MTL_DTYPE_UINT16, MTL_GTK_CHANNELS_RGBA, 0);
  for (int i = 0; i < 3 * 5 * 4; i++)
    g_assert_cmpfloat_with_epsilon (get_number_at (view, i / 20, i / 4 % 5, i % 4),
                                    get_number_at (source, i / 20, i / 4 % 5, i % 4) * 65535, 8);
  check_downloads_by_gtk (texture);
}

#endif

/* Checks each color of each opacity, in whole numbers. */
static void
test_all_opacities (void)
{
  g_autoptr (MtlStridedView) source = host_zeros (MTL_DTYPE_UINT8, DIMS (256, 256, 4));
  g_autoptr (MtlStridedView) straight = NULL, premultiplied = NULL;
  g_autoptr (GdkTexture) texture = NULL, straight_texture = NULL;
  g_autofree guint8 *gtk_pixels = NULL;
  guint8 *data = mtl_strided_view_get_data (source);
  const guint8 *result, *products;

  for (int i = 0; i < 256 * 256; i++)
    {
      data[4 * i + 3] = i / 256;
      data[4 * i] = data[4 * i + 1] = data[4 * i + 2] = MIN (i % 256, i / 256);
    }
  texture = get_texture (source, MTL_GTK_CHANNELS_RGBA, MTL_GTK_TEXTURE_FLAGS_PREMULTIPLIED);
  straight = download (texture, MTL_DTYPE_UINT8, MTL_GTK_CHANNELS_RGBA, 0);
  result = mtl_strided_view_get_data (straight);
  for (int i = 0; i < 256 * 256; i++)
    {
      const int alpha = i / 256, color = data[4 * i];

      g_assert_cmpint (result[4 * i + 3], ==, alpha);
      if (alpha == 0)
        g_assert_cmpint (result[4 * i], ==, 0);
      else
        g_assert_cmpint (ABS (2 * (result[4 * i] * alpha - color * 255)), <=, alpha);
      g_assert_cmpint (result[4 * i], ==, result[4 * i + 2]);
    }

  /* The other way is just what GTK does. */
  straight_texture = get_texture (source, MTL_GTK_CHANNELS_RGBA, MTL_GTK_TEXTURE_FLAGS_NONE);
  premultiplied = download (straight_texture, MTL_DTYPE_UINT8, MTL_GTK_CHANNELS_BGRA,
                            MTL_GTK_TEXTURE_FLAGS_PREMULTIPLIED);
  gtk_pixels = get_gtk_pixels (straight_texture);
  products = mtl_strided_view_get_data (premultiplied);
  if (G_BYTE_ORDER == G_LITTLE_ENDIAN)
    g_assert_cmpmem (products, 4 * 256 * 256, gtk_pixels, 4 * 256 * 256);
}

static void
set_all_products (MtlStridedView *view,
                  const char     *letters)
{
  const gint64 *shape = mtl_strided_view_get_shape (view, NULL);
  guint8 *data = mtl_strided_view_get_data (view);

  for (gint64 i = 0; i < shape[0] * shape[1]; i++)
    {
      const guint8 color = i % shape[1];
      const guint8 channels[] = { color, 255 - color, 7 * color, i / shape[1] };

      for (int channel = 0; channel < 4; channel++)
        data[4 * i + channel] = channels[strchr ("RGBA", letters[channel]) - "RGBA"];
    }
}

/* All colors with all opacities, in rows of an odd length: GTK makes the same bytes. */
static void
test_all_products (void)
{
  static const MtlGtkChannels with_alpha[] = {
    MTL_GTK_CHANNELS_RGBA, MTL_GTK_CHANNELS_BGRA, MTL_GTK_CHANNELS_ARGB, MTL_GTK_CHANNELS_ABGR
  };
  const char *gtk_letters = G_BYTE_ORDER == G_LITTLE_ENDIAN ? "BGRA" : "ARGB";

  for (gsize i = 0; i < G_N_ELEMENTS (with_alpha) * G_N_ELEMENTS (with_alpha); i++)
    {
      const MtlGtkChannels source_channels = with_alpha[i % G_N_ELEMENTS (with_alpha)];
      const MtlGtkChannels channels = with_alpha[i / G_N_ELEMENTS (with_alpha)];
      g_autoptr (MtlStridedView) source = host_zeros (MTL_DTYPE_UINT8, DIMS (256, 257, 4));
      g_autoptr (MtlStridedView) pixels = NULL;
      g_autoptr (GdkTexture) texture = NULL;
      g_autofree guint8 *gtk_pixels = NULL;
      const guint8 *data;

      set_all_products (source, orders[source_channels]);
      texture = get_texture (source, source_channels, MTL_GTK_TEXTURE_FLAGS_NONE);
      pixels = download (texture, MTL_DTYPE_UINT8, channels, MTL_GTK_TEXTURE_FLAGS_PREMULTIPLIED);
      data = mtl_strided_view_get_data (pixels);
      gtk_pixels = get_gtk_pixels (texture);
      for (int j = 0; j < 256 * 257; j++)
        for (int channel = 0; channel < 4; channel++)
          {
            const char *place = strchr (gtk_letters, orders[channels][channel]);

            g_assert_cmpint (data[4 * j + channel], ==, gtk_pixels[4 * j + place - gtk_letters]);
          }
    }
}

/* More than one block of rows, of any length. */
static void
test_blocks (void)
{
  static const gint64 sizes[][2] = { { 700, 801 }, { 3, 400001 } };

  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      const gint64 n = sizes[i][0] * sizes[i][1];
      g_autoptr (MtlStridedView) source = host_zeros (MTL_DTYPE_UINT8,
                                                      DIMS (sizes[i][0], sizes[i][1], 4));
      g_autoptr (MtlStridedView) pixels = NULL;
      g_autoptr (GdkTexture) texture = NULL;
      guint8 *data = mtl_strided_view_get_data (source);
      const float *numbers;

      for (gint64 j = 0; j < 4 * n; j++)
        data[j] = j * 31 >> 3;
      texture = get_texture (source, MTL_GTK_CHANNELS_ARGB, MTL_GTK_TEXTURE_FLAGS_NONE);
      pixels = download (texture, MTL_DTYPE_FLOAT32, MTL_GTK_CHANNELS_GRAY,
                         MTL_GTK_TEXTURE_FLAGS_PREMULTIPLIED);
      numbers = mtl_strided_view_get_data (pixels);
      for (gint64 j = 0; j < n; j++)
        {
          const int sum = data[4 * j + 1] + data[4 * j + 2] + data[4 * j + 3];

          g_assert_cmpfloat_with_epsilon (numbers[j], data[4 * j] * sum / (3.0 * 255 * 255), 1e-6);
        }
    }
}

/* Downloads RGBA pixels in one row of floats. */
static MtlStridedView *
download_floats (const double       *numbers,
                 gsize               n_numbers,
                 MtlGtkTextureFlags  flags,
                 MtlGtkChannels      channels)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) source = NULL;
  g_autoptr (GdkTexture) texture = NULL;

  source = mtl_strided_view_new_from_doubles (numbers, n_numbers, MTL_DTYPE_FLOAT32,
                                              DIMS (1, n_numbers / 4, 4), &error);
  g_assert_no_error (error);
  texture = get_texture (source, MTL_GTK_CHANNELS_RGBA, flags);
  return download (texture, MTL_DTYPE_FLOAT32, channels, MTL_GTK_TEXTURE_FLAGS_NONE);
}

/* The reciprocal of such an opacity is infinite. */
static void
test_tiny_opacities (void)
{
  g_autoptr (MtlStridedView) straight =
    download_floats (DOUBLES (0, 0, 0, 1e-40, 1e-40, 0, 5e-41, 1e-40, 1e-45, 0, 0, 1e-45, 1, 1, 0,
                              1e-38),
                     MTL_GTK_TEXTURE_FLAGS_PREMULTIPLIED, MTL_GTK_CHANNELS_RGBA);
  const float *pixels = mtl_strided_view_get_data (straight);
  static const float colors[][3] = { { 0, 0, 0 }, { 1, 0, 0.5 }, { 1, 0, 0 }, { 1e38, 1e38, 0 } };
  static const float opacities[] = { 1e-40, 1e-40, 1e-45, 1e-38 };

  for (int i = 0; i < 4; i++)
    {
      for (int channel = 0; channel < 3; channel++)
        g_assert_cmpfloat_with_epsilon (pixels[4 * i + channel], colors[i][channel],
                                        1e-4 * colors[i][channel] + 1e-9);
      g_assert_cmpfloat (pixels[4 * i + 3], ==, opacities[i]);
    }
}

/* The sum of such channels is infinite. */
static void
test_gray_of_large_floats (void)
{
  g_autoptr (MtlStridedView) gray =
    download_floats (DOUBLES (3e38, 3e38, 3e38, 1, -3e38, -3e38, -3e38, 1, 3e38, 3e38, -3e38, 1),
                     MTL_GTK_TEXTURE_FLAGS_NONE, MTL_GTK_CHANNELS_GRAY);
  const float *pixels = mtl_strided_view_get_data (gray);

  g_assert_cmpfloat (pixels[0], ==, 3e38f);
  g_assert_cmpfloat (pixels[1], ==, -3e38f);
  g_assert_cmpfloat_with_epsilon (pixels[2], 1e38f, 1e33);
}

static void
test_refused (void)
{
  g_autoptr (MtlStridedView) source = host_zeros (MTL_DTYPE_UINT8, DIMS (3, 5, 3));
  g_autoptr (GdkTexture) texture = get_texture (source, MTL_GTK_CHANNELS_RGB, 0);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) cancelled = NULL;

  assert_fails (mtl_gtk_download_texture (texture, MTL_DTYPE_INT32, MTL_GTK_CHANNELS_RGB, 0, NULL,
                                          &error),
                MTL_ERROR_INVALID_ARGUMENT, "int32");
  assert_fails (mtl_gtk_download_texture (texture, MTL_DTYPE_UINT8, 99, 0, NULL, &error),
                MTL_ERROR_INVALID_ARGUMENT, "99");

  g_cancellable_cancel (cancellable);
  g_assert_null (mtl_gtk_download_texture (texture, MTL_DTYPE_UINT8, MTL_GTK_CHANNELS_RGB, 0,
                                           cancellable, &cancelled));
  g_assert_error (cancelled, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

typedef struct
{
  GMainContext *context;
  GMainLoop *loop;
  GThread *thread;
  GAsyncResult *result;
} Outcome;

static void
on_ready (GObject      *source,
          GAsyncResult *result,
          gpointer      data)
{
  Outcome *outcome = data;

  g_assert_true (GDK_IS_TEXTURE (source));
  g_assert_true (g_thread_self () == outcome->thread);
  g_assert_true (g_main_context_is_owner (outcome->context));
  g_assert_null (outcome->result);
  outcome->result = g_object_ref (result);
  g_main_loop_quit (outcome->loop);
}

static MtlStridedView *
download_async (GdkTexture    *texture,
                MtlDType       dtype,
                GCancellable  *cancellable,
                GError       **error)
{
  Outcome outcome = { g_main_context_new (), NULL, g_thread_self (), NULL };
  MtlStridedView *view;

  outcome.loop = g_main_loop_new (outcome.context, FALSE);
  g_main_context_push_thread_default (outcome.context);
  mtl_gtk_download_texture_async (texture, dtype, MTL_GTK_CHANNELS_BGR, 0, cancellable, on_ready,
                                  &outcome);
  g_assert_null (outcome.result);
  g_main_loop_run (outcome.loop);
  view = mtl_gtk_download_texture_finish (outcome.result, error);
  g_object_unref (outcome.result);
  g_main_context_pop_thread_default (outcome.context);
  g_main_loop_unref (outcome.loop);
  g_main_context_unref (outcome.context);
  return view;
}

static void
test_async (void)
{
  const Pixel source_pixel = { MTL_DTYPE_UINT16, "RGBA", FALSE };
  const Pixel pixel = { MTL_DTYPE_UINT16, "BGR", FALSE };
  g_autoptr (GError) failure = NULL;
  g_autoptr (MtlStridedView) source = host_zeros (MTL_DTYPE_UINT16, DIMS (3, 5, 4));
  g_autoptr (GdkTexture) texture = get_texture (source, MTL_GTK_CHANNELS_RGBA, 0);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (MtlStridedView) view = NULL;

  set_random_pixels (source, "RGBA", FALSE);
  view = download_async (texture, MTL_DTYPE_UINT16, cancellable, &failure);
  g_assert_no_error (failure);
  assert_pixels (view, &pixel, source, &source_pixel, 1);

  assert_fails (download_async (texture, MTL_DTYPE_FLOAT64, NULL, &error),
                MTL_ERROR_INVALID_ARGUMENT, "float64");

  g_cancellable_cancel (cancellable);
  g_assert_null (download_async (texture, MTL_DTYPE_UINT16, cancellable, &failure));
  g_assert_error (failure, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static void
on_downloaded (GObject      *source,
               GAsyncResult *result,
               gpointer      data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = mtl_gtk_download_texture_finish (result, &error);

  g_assert_no_error (error);
  g_object_weak_ref (G_OBJECT (result), on_finalized, data);
}

/* Bindings of Perl and D crash otherwise. */
static void
test_finalized_here (void)
{
  const guint n_at_once = 16;
  Watched watched = { g_thread_self () };

  for (guint n = 2 * n_at_once; n <= 4000; n += 2 * n_at_once)
    {
      for (guint i = 0; i < n_at_once; i++)
        {
          g_autoptr (MtlStridedView) view = host_zeros (MTL_DTYPE_UINT8, DIMS (1, 1, 3));
          g_autoptr (GdkTexture) texture = get_texture (view, MTL_GTK_CHANNELS_RGB, 0);

          g_object_weak_ref (G_OBJECT (texture), on_finalized, &watched);
          mtl_gtk_download_texture_async (texture, MTL_DTYPE_UINT8, MTL_GTK_CHANNELS_RGB, 0, NULL,
                                          on_downloaded, &watched);
        }
      while ((guint) g_atomic_int_get (&watched.n_finalized) < n)
        g_main_context_iteration (NULL, FALSE);
    }

  g_assert_false (g_atomic_int_get (&watched.elsewhere));
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/Download/own-textures", test_own_textures);
  g_test_add_func ("/Download/other-textures", test_other_textures);
#if GTK_CHECK_VERSION (4, 16, 0)
  g_test_add_func ("/Download/color-states", test_color_states);
#endif
  g_test_add_func ("/Download/all-opacities", test_all_opacities);
  g_test_add_func ("/Download/all-products", test_all_products);
  g_test_add_func ("/Download/blocks", test_blocks);
  g_test_add_func ("/Download/tiny-opacities", test_tiny_opacities);
  g_test_add_func ("/Download/gray-of-large-floats", test_gray_of_large_floats);
  g_test_add_func ("/Download/refused", test_refused);
  g_test_add_func ("/Download/async", test_async);
  g_test_add_func ("/Download/finalized-here", test_finalized_here);

  return g_test_run ();
}
