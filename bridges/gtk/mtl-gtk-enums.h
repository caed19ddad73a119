/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#if !defined (MTLDL_GTK_INSIDE) && !defined (MTLDL_GTK_COMPILATION)
#error "Only <mtldl-gtk/mtldl-gtk.h> can be included directly."
#endif

#include <mtldl/mtldl.h>

G_BEGIN_DECLS

/**
 * MtlGtkChannels:
 * @MTL_GTK_CHANNELS_AUTO: by the number of channels of a view: gray, gray and
 *   opacity, RGB, or RGBA; without a view, RGBA
 * @MTL_GTK_CHANNELS_GRAY: gray
 * @MTL_GTK_CHANNELS_GRAY_ALPHA: gray, opacity
 * @MTL_GTK_CHANNELS_ALPHA: opacity alone, of white
 * @MTL_GTK_CHANNELS_RGB: red, green, blue
 * @MTL_GTK_CHANNELS_BGR: blue, green, red
 * @MTL_GTK_CHANNELS_RGBA: red, green, blue, opacity
 * @MTL_GTK_CHANNELS_BGRA: blue, green, red, opacity
 * @MTL_GTK_CHANNELS_ARGB: opacity, red, green, blue
 * @MTL_GTK_CHANNELS_ABGR: opacity, blue, green, red
 * @MTL_GTK_CHANNELS_RGBX: red, green, blue, and one that is not used
 * @MTL_GTK_CHANNELS_BGRX: blue, green, red, and one that is not used
 * @MTL_GTK_CHANNELS_XRGB: one that is not used, red, green, blue
 * @MTL_GTK_CHANNELS_XBGR: one that is not used, blue, green, red
 *
 * The channels of a pixel, in the order in which they lie in memory.
 * Unlike in Cairo's names, the first one has the lowest address on all
 * machines.
 *
 * Since: 1.0
 */
typedef enum
{
  MTL_GTK_CHANNELS_AUTO,
  MTL_GTK_CHANNELS_GRAY,
  MTL_GTK_CHANNELS_GRAY_ALPHA,
  MTL_GTK_CHANNELS_ALPHA,
  MTL_GTK_CHANNELS_RGB,
  MTL_GTK_CHANNELS_BGR,
  MTL_GTK_CHANNELS_RGBA,
  MTL_GTK_CHANNELS_BGRA,
  MTL_GTK_CHANNELS_ARGB,
  MTL_GTK_CHANNELS_ABGR,
  MTL_GTK_CHANNELS_RGBX,
  MTL_GTK_CHANNELS_BGRX,
  MTL_GTK_CHANNELS_XRGB,
  MTL_GTK_CHANNELS_XBGR,
} MtlGtkChannels;

/**
 * MtlGtkTextureFlags:
 * @MTL_GTK_TEXTURE_FLAGS_NONE: colors are not multiplied by the opacity, and
 *   nothing is copied
 * @MTL_GTK_TEXTURE_FLAGS_PREMULTIPLIED: colors are multiplied by the opacity
 * @MTL_GTK_TEXTURE_FLAGS_ALLOW_COPY: copy what GTK cannot use as it is
 *
 * How pixels become a texture, and back.
 *
 * Since: 1.0
 */
typedef enum /*< flags >*/
{
  MTL_GTK_TEXTURE_FLAGS_NONE = 0,
  MTL_GTK_TEXTURE_FLAGS_PREMULTIPLIED = 1 << 0,
  MTL_GTK_TEXTURE_FLAGS_ALLOW_COPY = 1 << 1,
} MtlGtkTextureFlags;

/**
 * MtlGtkColorMap:
 * @MTL_GTK_COLOR_MAP_NONE: gray levels as in a texture, whatever the least and
 *   the greatest number: integers from 0 to their maximum, floats from 0 to 1
 * @MTL_GTK_COLOR_MAP_GRAY: from black to white
 * @MTL_GTK_COLOR_MAP_HEAT: from dark blue over green to light yellow
 *
 * Colors for numbers, from the least to the greatest.
 *
 * Since: 1.0
 */
typedef enum
{
  MTL_GTK_COLOR_MAP_NONE,
  MTL_GTK_COLOR_MAP_GRAY,
  MTL_GTK_COLOR_MAP_HEAT,
} MtlGtkColorMap;

G_END_DECLS
