/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <math.h>

#include <mtldl-gtk/mtldl-gtk.h>

#include "test-utils.h"

static const MtlDType pixel_dtypes[] = {
  MTL_DTYPE_UINT8, MTL_DTYPE_UINT16, MTL_DTYPE_FLOAT16, MTL_DTYPE_FLOAT32
};

/* The table is written here once more, to test the library's own. */
static const char *const orders[] = {
  NULL, "Y", "YA", "A", "RGB", "BGR", "RGBA", "BGRA", "ARGB", "ABGR", "RGBX", "BGRX", "XRGB", "XBGR"
};

static inline double
get_full (MtlDType dtype)
{
  return dtype == MTL_DTYPE_UINT8 ? 255 : dtype == MTL_DTYPE_UINT16 ? 65535 : 1;
}

static inline const char *
get_dtype_name (MtlDType dtype)
{
  static char names[4][16];
  static int next;
  g_autofree char *name = mtl_dtype_to_string (dtype);

  next = (next + 1) % 4;
  g_strlcpy (names[next], name, sizeof names[next]);
  return names[next];
}

/* Extreme ones among them. Premultiplied colors are not above the opacity. */
static inline void
set_random_pixels (MtlStridedView *view,
                   const char     *letters,
                   gboolean        premultiplied)
{
  const gint64 *shape = mtl_strided_view_get_shape (view, NULL);
  const gboolean is_float = get_full (mtl_strided_view_get_dtype (view)) == 1;
  const char *alpha = premultiplied ? strchr (letters, 'A') : NULL;

  for (gint64 row = 0; row < shape[0]; row++)
    for (gint64 column = 0; column < shape[1]; column++)
      {
        double opacity = 1;

        for (int pass = 0; pass < 2; pass++)
          for (int channel = 0; letters[channel] != '\0'; channel++)
            {
              static const double extremes[] = { 0, 1, 0.5, 1 / 255.0 };
              double light = g_test_rand_bit () ? g_test_rand_double_range (0, 1)
                                                : extremes[g_test_rand_int_range (0, 4)];

              if ((alpha == letters + channel) != (pass == 0))
                continue;

              if (alpha == letters + channel)
                opacity = light;
              light *= alpha != letters + channel ? opacity : 1;
              light *= get_full (mtl_strided_view_get_dtype (view));
              set_number_at (view, row, column, channel, is_float ? light : floor (light));
            }
      }
}

static inline GdkTexture *
get_texture (MtlStridedView     *view,
             MtlGtkChannels      channels,
             MtlGtkTextureFlags  flags)
{
  g_autoptr (GError) error = NULL;
  GdkTexture *texture = mtl_gtk_texture_from_view (view, channels, flags, &error);

  g_assert_no_error (error);
  g_assert_true (GDK_IS_MEMORY_TEXTURE (texture));
  return texture;
}

static inline MtlStridedView *
get_texture_view (GdkTexture *texture)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *view = mtl_gtk_view_from_texture (texture, &error);

  g_assert_no_error (error);
  g_assert_true (MTL_IS_STRIDED_VIEW (view));
  g_assert_true (mtl_strided_view_is_read_only (view));
  return view;
}

/* Returns the pixels that GTK gives of a texture: premultiplied blue, green, red, opacity; the
 * reverse on big-endian machines. */
static inline guint8 *
get_gtk_pixels (GdkTexture *texture)
{
  const gsize width = gdk_texture_get_width (texture);
  guint8 *pixels = g_malloc (4 * width * gdk_texture_get_height (texture));

  gdk_texture_download (texture, pixels, 4 * width);
  return pixels;
}

#if GTK_CHECK_VERSION (4, 16, 0)

/* 3 rows of 5 pixels: red, green, blue and opacity as floats. */
static inline GdkTexture *
new_texture_of_color_state (GBytes        *bytes,
                            GdkColorState *state)
{
  g_autoptr (GdkMemoryTextureBuilder) builder = gdk_memory_texture_builder_new ();

  gdk_memory_texture_builder_set_bytes (builder, bytes);
  gdk_memory_texture_builder_set_stride (builder, 5 * 4 * sizeof (float));
  gdk_memory_texture_builder_set_width (builder, 5);
  gdk_memory_texture_builder_set_height (builder, 3);
  gdk_memory_texture_builder_set_format (builder, GDK_MEMORY_R32G32B32A32_FLOAT);
  gdk_memory_texture_builder_set_color_state (builder, state);
  return gdk_memory_texture_builder_build (builder);
}

#endif

/* Red, green, blue and opacity from 0 to 1, by the names of the channels. Opacity alone is
 * that of white. */
static inline void
get_light (const double *channels,
           const char   *letters,
           MtlDType      dtype,
           double        light[4])
{
  const char *alpha = strchr (letters, 'A');
  const char *gray = strchr (letters, 'Y');

  light[3] = alpha != NULL ? channels[alpha - letters] / get_full (dtype) : 1;
  for (int i = 0; i < 3; i++)
    {
      const char *place = gray != NULL ? gray : strchr (letters, "RGB"[i]);

      light[i] = place != NULL ? channels[place - letters] / get_full (dtype) : 1;
    }
}

static inline double
get_channel (const double  light[4],
             char          letter)
{
  if (letter == 'Y')
    return (light[0] + light[1] + light[2]) / 3;

  if (letter == 'A')
    return light[3];

  return light[strchr ("RGB", letter) - "RGB"];
}

static inline void
change_opacity (double    light[4],
                gboolean  premultiplied,
                gboolean  to_premultiplied)
{
  for (int i = 0; i < 3; i++)
    if (to_premultiplied && !premultiplied)
      light[i] *= light[3];
    else if (premultiplied && !to_premultiplied && light[3] > 0)
      light[i] = MIN (light[i] / light[3], 1);
}

/* Memory of another device. */
static inline MtlStridedView *
new_view_elsewhere (MtlDevice *device,
                    gint64     height,
                    gint64     width,
                    gint64     n_channels)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlBuffer) buffer = new_buffer (device, height * width * n_channels,
                                             MTL_STORAGE_MODE_PRIVATE);
  g_autoptr (MtlStridedLayout) layout =
    mtl_strided_layout_new_dense (DIMS (height, width, n_channels), MTL_ORDER_C, 8, &error);
  MtlStridedView *view = mtl_strided_view_new (buffer, layout, MTL_DTYPE_UINT8, 0, &error);

  g_assert_no_error (error);
  return view;
}
