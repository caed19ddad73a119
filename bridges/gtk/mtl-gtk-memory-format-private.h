/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-gtk-memory-format.h"

G_BEGIN_DECLS

/* The elements of a pixel. */
typedef struct
{
  MtlDType dtype;
  MtlGtkChannels channels;
  gboolean premultiplied;
} MtlGtkPixel;

#define MTL_GTK_MAX_PLANES 3

/* The places of the elements of a format. */
typedef struct
{
  MtlDType dtype;
  gboolean is_pixels; /* channels side by side, in one plane */
  guint n_planes;
  struct
  {
    guint8 block_width;  /* pixels */
    guint8 block_height;
    guint8 n_elements;   /* the elements of a block, side by side */
  } planes[MTL_GTK_MAX_PLANES];
} MtlGtkPlanes;

gboolean    mtl_gtk_check_dtype                    (MtlDType            dtype,
                                                    GError            **error);
gboolean    mtl_gtk_check_channels                 (MtlGtkChannels      channels,
                                                    GError            **error);

/* A letter for each channel, with Y for gray and X for one that is not used. */
const char *mtl_gtk_channels_get_letters           (MtlGtkChannels      channels);
const char *mtl_gtk_channels_get_name              (MtlGtkChannels      channels);
gboolean    mtl_gtk_channels_have_alpha            (MtlGtkChannels      channels);
/* Only colors with an opacity can be. */
gboolean    mtl_gtk_channels_can_be_premultiplied  (MtlGtkChannels      channels);

/* A format of this GTK, without an error for those that it lacks. */
gboolean    mtl_gtk_pixel_find_format              (const MtlGtkPixel  *pixel,
                                                    GdkMemoryFormat    *format);
/* The same pixel, or RGB or RGBA, if only these have a format and they hold the same
 * values. */
MtlGtkPixel mtl_gtk_pixel_find_nearest             (const MtlGtkPixel  *pixel,
                                                    GdkMemoryFormat    *format);
gboolean    mtl_gtk_pixel_init_for_format          (MtlGtkPixel        *pixel,
                                                    GdkMemoryFormat     format);
gboolean    mtl_gtk_planes_init_for_format         (MtlGtkPlanes       *planes,
                                                    GdkMemoryFormat     format,
                                                    GError            **error);
gsize       mtl_gtk_pixel_get_size                 (const MtlGtkPixel  *pixel);

G_END_DECLS
