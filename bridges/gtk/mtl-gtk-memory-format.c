/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-gtk-memory-format-private.h"

#include <string.h>

static const struct
{
  const char *name;
  const char *letters;
} channel_orders[] = {
  [MTL_GTK_CHANNELS_AUTO] = { "auto", "" },
  [MTL_GTK_CHANNELS_GRAY] = { "gray", "Y" },
  [MTL_GTK_CHANNELS_GRAY_ALPHA] = { "gray and opacity", "YA" },
  [MTL_GTK_CHANNELS_ALPHA] = { "opacity", "A" },
  [MTL_GTK_CHANNELS_RGB] = { "RGB", "RGB" },
  [MTL_GTK_CHANNELS_BGR] = { "BGR", "BGR" },
  [MTL_GTK_CHANNELS_RGBA] = { "RGBA", "RGBA" },
  [MTL_GTK_CHANNELS_BGRA] = { "BGRA", "BGRA" },
  [MTL_GTK_CHANNELS_ARGB] = { "ARGB", "ARGB" },
  [MTL_GTK_CHANNELS_ABGR] = { "ABGR", "ABGR" },
  [MTL_GTK_CHANNELS_RGBX] = { "RGBX", "RGBX" },
  [MTL_GTK_CHANNELS_BGRX] = { "BGRX", "BGRX" },
  [MTL_GTK_CHANNELS_XRGB] = { "XRGB", "XRGB" },
  [MTL_GTK_CHANNELS_XBGR] = { "XBGR", "XBGR" },
};

#define FORMAT(format, type, order, premultiplied) \
  { GDK_MEMORY_ ## format, { MTL_DTYPE_ ## type, MTL_GTK_CHANNELS_ ## order, premultiplied } }

/* All formats whose pixels lie one beside the other. */
static const struct
{
  GdkMemoryFormat format;
  MtlGtkPixel pixel;
} formats[] = {
  FORMAT (B8G8R8A8_PREMULTIPLIED, UINT8, BGRA, TRUE),
  FORMAT (A8R8G8B8_PREMULTIPLIED, UINT8, ARGB, TRUE),
  FORMAT (R8G8B8A8_PREMULTIPLIED, UINT8, RGBA, TRUE),
  FORMAT (B8G8R8A8, UINT8, BGRA, FALSE),
  FORMAT (A8R8G8B8, UINT8, ARGB, FALSE),
  FORMAT (R8G8B8A8, UINT8, RGBA, FALSE),
  FORMAT (A8B8G8R8, UINT8, ABGR, FALSE),
  FORMAT (R8G8B8, UINT8, RGB, FALSE),
  FORMAT (B8G8R8, UINT8, BGR, FALSE),
  FORMAT (R16G16B16, UINT16, RGB, FALSE),
  FORMAT (R16G16B16A16_PREMULTIPLIED, UINT16, RGBA, TRUE),
  FORMAT (R16G16B16A16, UINT16, RGBA, FALSE),
  FORMAT (R16G16B16_FLOAT, FLOAT16, RGB, FALSE),
  FORMAT (R16G16B16A16_FLOAT_PREMULTIPLIED, FLOAT16, RGBA, TRUE),
  FORMAT (R16G16B16A16_FLOAT, FLOAT16, RGBA, FALSE),
  FORMAT (R32G32B32_FLOAT, FLOAT32, RGB, FALSE),
  FORMAT (R32G32B32A32_FLOAT_PREMULTIPLIED, FLOAT32, RGBA, TRUE),
  FORMAT (R32G32B32A32_FLOAT, FLOAT32, RGBA, FALSE),
#if GTK_CHECK_VERSION (4, 12, 0)
  FORMAT (G8A8_PREMULTIPLIED, UINT8, GRAY_ALPHA, TRUE),
  FORMAT (G8A8, UINT8, GRAY_ALPHA, FALSE),
  FORMAT (G8, UINT8, GRAY, FALSE),
  FORMAT (G16A16_PREMULTIPLIED, UINT16, GRAY_ALPHA, TRUE),
  FORMAT (G16A16, UINT16, GRAY_ALPHA, FALSE),
  FORMAT (G16, UINT16, GRAY, FALSE),
  FORMAT (A8, UINT8, ALPHA, FALSE),
  FORMAT (A16, UINT16, ALPHA, FALSE),
  FORMAT (A16_FLOAT, FLOAT16, ALPHA, FALSE),
  FORMAT (A32_FLOAT, FLOAT32, ALPHA, FALSE),
#endif
#if GTK_CHECK_VERSION (4, 14, 0)
  FORMAT (A8B8G8R8_PREMULTIPLIED, UINT8, ABGR, TRUE),
  FORMAT (B8G8R8X8, UINT8, BGRX, FALSE),
  FORMAT (X8R8G8B8, UINT8, XRGB, FALSE),
  FORMAT (R8G8B8X8, UINT8, RGBX, FALSE),
  FORMAT (X8B8G8R8, UINT8, XBGR, FALSE),
#endif
};

#define PLANES(format, type, ...) \
  { GDK_MEMORY_ ## format, { MTL_DTYPE_ ## type, FALSE, __VA_ARGS__ } }
#define LUMA { 1, 1, 1 }
/* Luma, and both kinds of chroma side by side, one of each for WIDTH × HEIGHT pixels. */
#define TWO_PLANES(format, type, width, height) \
  PLANES (format, type, 2, { LUMA, { width, height, 2 } })
#define THREE_PLANES(format, type, width, height) \
  PLANES (format, type, 3, { LUMA, { width, height, 1 }, { width, height, 1 } })
#define ONE_PLANE(format, type, width, n_elements) \
  PLANES (format, type, 1, { { width, 1, n_elements } })

/* All other formats. */
static const struct
{
  GdkMemoryFormat format;
  MtlGtkPlanes planes;
} plane_formats[] = {
#if GTK_CHECK_VERSION (4, 20, 0)
  TWO_PLANES (G8_B8R8_420, UINT8, 2, 2),
  TWO_PLANES (G8_R8B8_420, UINT8, 2, 2),
  TWO_PLANES (G8_B8R8_422, UINT8, 2, 1),
  TWO_PLANES (G8_R8B8_422, UINT8, 2, 1),
  TWO_PLANES (G8_B8R8_444, UINT8, 1, 1),
  TWO_PLANES (G8_R8B8_444, UINT8, 1, 1),
  TWO_PLANES (G10X6_B10X6R10X6_420, UINT16, 2, 2),
  TWO_PLANES (G12X4_B12X4R12X4_420, UINT16, 2, 2),
  TWO_PLANES (G16_B16R16_420, UINT16, 2, 2),
  THREE_PLANES (G8_B8_R8_410, UINT8, 4, 4),
  THREE_PLANES (G8_R8_B8_410, UINT8, 4, 4),
  THREE_PLANES (G8_B8_R8_411, UINT8, 4, 1),
  THREE_PLANES (G8_R8_B8_411, UINT8, 4, 1),
  THREE_PLANES (G8_B8_R8_420, UINT8, 2, 2),
  THREE_PLANES (G8_R8_B8_420, UINT8, 2, 2),
  THREE_PLANES (G8_B8_R8_422, UINT8, 2, 1),
  THREE_PLANES (G8_R8_B8_422, UINT8, 2, 1),
  THREE_PLANES (G8_B8_R8_444, UINT8, 1, 1),
  THREE_PLANES (G8_R8_B8_444, UINT8, 1, 1),
  ONE_PLANE (G8B8G8R8_422, UINT8, 2, 4),
  ONE_PLANE (G8R8G8B8_422, UINT8, 2, 4),
  ONE_PLANE (R8G8B8G8_422, UINT8, 2, 4),
  ONE_PLANE (B8G8R8G8_422, UINT8, 2, 4),
  THREE_PLANES (X6G10_X6B10_X6R10_420, UINT16, 2, 2),
  THREE_PLANES (X6G10_X6B10_X6R10_422, UINT16, 2, 1),
  THREE_PLANES (X6G10_X6B10_X6R10_444, UINT16, 1, 1),
  THREE_PLANES (X4G12_X4B12_X4R12_420, UINT16, 2, 2),
  THREE_PLANES (X4G12_X4B12_X4R12_422, UINT16, 2, 1),
  THREE_PLANES (X4G12_X4B12_X4R12_444, UINT16, 1, 1),
  THREE_PLANES (G16_B16_R16_420, UINT16, 2, 2),
  THREE_PLANES (G16_B16_R16_422, UINT16, 2, 1),
  THREE_PLANES (G16_B16_R16_444, UINT16, 1, 1),
#endif
#if GTK_CHECK_VERSION (4, 24, 0)
  ONE_PLANE (ARGB2101010_PREMULTIPLIED, UINT32, 1, 1),
  ONE_PLANE (ARGB2101010, UINT32, 1, 1),
  ONE_PLANE (XRGB2101010, UINT32, 1, 1),
  ONE_PLANE (ABGR2101010_PREMULTIPLIED, UINT32, 1, 1),
  ONE_PLANE (ABGR2101010, UINT32, 1, 1),
  ONE_PLANE (XBGR2101010, UINT32, 1, 1),
#endif
  { GDK_MEMORY_N_FORMATS, { 0 } } /* an array has at least one */
};

gboolean
mtl_gtk_check_dtype (MtlDType   dtype,
                     GError   **error)
{
  g_autofree char *name = NULL;

  if (dtype == MTL_DTYPE_UINT8 || dtype == MTL_DTYPE_UINT16 || dtype == MTL_DTYPE_FLOAT16
      || dtype == MTL_DTYPE_FLOAT32)
    return TRUE;

  name = mtl_dtype_to_string (dtype);
  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "Pixels need elements of uint8, uint16, float16 or float32, not %s: convert them"
               " with to_dtype() or copy_scaled_from()", name);
  return FALSE;
}

gboolean
mtl_gtk_check_channels (MtlGtkChannels   channels,
                        GError         **error)
{
  if (channels >= MTL_GTK_CHANNELS_AUTO && channels <= MTL_GTK_CHANNELS_XBGR)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "%d is not a value of MtlGtkChannels", channels);
  return FALSE;
}

const char *
mtl_gtk_channels_get_letters (MtlGtkChannels channels)
{
  return channel_orders[channels].letters;
}

const char *
mtl_gtk_channels_get_name (MtlGtkChannels channels)
{
  return channel_orders[channels].name;
}

gboolean
mtl_gtk_channels_have_alpha (MtlGtkChannels channels)
{
  return strchr (channel_orders[channels].letters, 'A') != NULL;
}

gsize
mtl_gtk_pixel_get_size (const MtlGtkPixel *pixel)
{
  return strlen (channel_orders[pixel->channels].letters) * mtl_dtype_get_bits (pixel->dtype) / 8;
}

gboolean
mtl_gtk_channels_can_be_premultiplied (MtlGtkChannels channels)
{
  return channels != MTL_GTK_CHANNELS_ALPHA && mtl_gtk_channels_have_alpha (channels);
}

gboolean
mtl_gtk_pixel_find_format (const MtlGtkPixel *pixel,
                           GdkMemoryFormat   *format)
{
  const gboolean premultiplied = pixel->premultiplied
                                 && mtl_gtk_channels_can_be_premultiplied (pixel->channels);

  for (gsize i = 0; i < G_N_ELEMENTS (formats); i++)
    if (formats[i].pixel.dtype == pixel->dtype && formats[i].pixel.channels == pixel->channels
        && formats[i].pixel.premultiplied == premultiplied)
      {
        *format = formats[i].format;
        return TRUE;
      }

  return FALSE;
}

MtlGtkPixel
mtl_gtk_pixel_find_nearest (const MtlGtkPixel *pixel,
                            GdkMemoryFormat   *format)
{
  MtlGtkPixel nearest = *pixel;

  if (mtl_gtk_pixel_find_format (&nearest, format))
    return nearest;

  if (mtl_gtk_channels_have_alpha (pixel->channels))
    nearest.channels = MTL_GTK_CHANNELS_RGBA;
  else
    nearest = (MtlGtkPixel) { pixel->dtype, MTL_GTK_CHANNELS_RGB, FALSE };
  if (!mtl_gtk_pixel_find_format (&nearest, format))
    g_assert_not_reached ();

  return nearest;
}

gboolean
mtl_gtk_pixel_init_for_format (MtlGtkPixel     *pixel,
                               GdkMemoryFormat  format)
{
  for (gsize i = 0; i < G_N_ELEMENTS (formats); i++)
    if (formats[i].format == format)
      {
        *pixel = formats[i].pixel;
        return TRUE;
      }

  return FALSE;
}

gboolean
mtl_gtk_planes_init_for_format (MtlGtkPlanes     *planes,
                                GdkMemoryFormat   format,
                                GError          **error)
{
  g_autofree char *name = NULL;
  MtlGtkPixel pixel;

  if (mtl_gtk_pixel_init_for_format (&pixel, format))
    {
      *planes = (MtlGtkPlanes) {
        pixel.dtype, TRUE, 1, { { 1, 1, strlen (mtl_gtk_channels_get_letters (pixel.channels)) } }
      };
      return TRUE;
    }

  for (gsize i = 0; i + 1 < G_N_ELEMENTS (plane_formats); i++)
    if (plane_formats[i].format == format)
      {
        *planes = plane_formats[i].planes;
        return TRUE;
      }

  name = g_enum_to_string (GDK_TYPE_MEMORY_FORMAT, format);
  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "GTK's format %s is not supported, since the library was built with GTK %d.%d, which"
               " lacks it", name, GTK_MAJOR_VERSION, GTK_MINOR_VERSION);
  return FALSE;
}

/* The reason why the channels are not side by side. */
static char *
describe_planes (const MtlGtkPlanes *planes)
{
  if (planes->n_planes > 1)
    return g_strdup_printf ("it has %u planes", planes->n_planes);

  if (planes->planes[0].block_width > 1)
    return g_strdup_printf ("%u pixels of a row share their chroma",
                            planes->planes[0].block_width);

  return g_strdup_printf ("all channels of a pixel are in one element of %u bits",
                          mtl_dtype_get_bits (planes->dtype));
}

/**
 * mtl_gtk_memory_format_from_pixel:
 * @dtype: the element type
 * @channels: the channels; %MTL_GTK_CHANNELS_AUTO means RGBA
 * @flags: %MTL_GTK_TEXTURE_FLAGS_PREMULTIPLIED for colors that are multiplied
 *   by the opacity, which is ignored if @channels lacks either; other flags are
 *   ignored
 * @format: (out): return location for the format
 * @error: return location for a [error@Mtl.Error]
 *
 * Finds GTK's format for pixels of a view of shape [height, width, channels].
 *
 * GTK has formats for gray and for opacity alone from 4.12 on, and for channels
 * that are not used from 4.14 on.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: @dtype is not `uint8`, `uint16`, `float16` or
 *   `float32`, or @channels names no channels
 * - %MTL_ERROR_NOT_SUPPORTED: the GTK that the library was built with has no
 *   such format
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_gtk_memory_format_from_pixel (MtlDType             dtype,
                                  MtlGtkChannels       channels,
                                  MtlGtkTextureFlags   flags,
                                  GdkMemoryFormat     *format,
                                  GError             **error)
{
  const gboolean premultiplied = (flags & MTL_GTK_TEXTURE_FLAGS_PREMULTIPLIED) != 0;
  MtlGtkPixel pixel = { dtype, channels, premultiplied };
  g_autofree char *name = NULL;

  g_return_val_if_fail (format != NULL, FALSE);

  if (!mtl_gtk_check_dtype (dtype, error) || !mtl_gtk_check_channels (channels, error))
    return FALSE;

  if (channels == MTL_GTK_CHANNELS_AUTO)
    pixel.channels = MTL_GTK_CHANNELS_RGBA;
  if (mtl_gtk_pixel_find_format (&pixel, format))
    return TRUE;

  name = mtl_dtype_to_string (dtype);
  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "GTK %d.%d has no format for %s of type %s%s", GTK_MAJOR_VERSION,
               GTK_MINOR_VERSION, mtl_gtk_channels_get_name (channels), name,
               premultiplied && mtl_gtk_channels_can_be_premultiplied (channels)
               ? ", premultiplied" : "");
  return FALSE;
}

/**
 * mtl_gtk_pixel_from_memory_format:
 * @format: a format of GTK
 * @dtype: (out): return location for the element type
 * @channels: (out): return location for the channels
 * @flags: (out): return location for the flags:
 *   %MTL_GTK_TEXTURE_FLAGS_PREMULTIPLIED if the colors are multiplied by the
 *   opacity
 * @error: return location for a [error@Mtl.Error]
 *
 * Finds what the elements of a view of pixels are in a format of GTK.
 *
 * Errors:
 *
 * - %MTL_ERROR_NOT_SUPPORTED: the channels of @format are not elements side by
 *   side, as in formats for video and those of 10 bits, or the library was built
 *   with a GTK that lacks it
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_gtk_pixel_from_memory_format (GdkMemoryFormat      format,
                                  MtlDType            *dtype,
                                  MtlGtkChannels      *channels,
                                  MtlGtkTextureFlags  *flags,
                                  GError             **error)
{
  g_autofree char *name = NULL, *reason = NULL;
  MtlGtkPlanes planes;
  MtlGtkPixel pixel;

  g_return_val_if_fail (dtype != NULL && channels != NULL && flags != NULL, FALSE);

  if (mtl_gtk_pixel_init_for_format (&pixel, format))
    {
      *dtype = pixel.dtype;
      *channels = pixel.channels;
      *flags = pixel.premultiplied ? MTL_GTK_TEXTURE_FLAGS_PREMULTIPLIED
                                   : MTL_GTK_TEXTURE_FLAGS_NONE;
      return TRUE;
    }

  if (!mtl_gtk_planes_init_for_format (&planes, format, error))
    return FALSE;

  name = g_enum_to_string (GDK_TYPE_MEMORY_FORMAT, format);
  reason = describe_planes (&planes);
  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "The channels of GTK's format %s are not side by side, since %s: use"
               " mtl_gtk_view_from_texture_plane()", name, reason);
  return FALSE;
}
