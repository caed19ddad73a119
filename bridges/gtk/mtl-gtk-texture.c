/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-gtk-pixels-private.h"
#include "mtl-gtk-texture-private.h"

#include <string.h>

/* The memory of a texture, which GTK only reports from 4.10 on. */
typedef struct
{
  MtlStridedView *view;
  MtlGtkPixel pixel;
} Origin;

static G_DEFINE_QUARK (mtl-gtk-texture-origin, origin)

static void
origin_free (gpointer data)
{
  Origin *self = data;

  g_object_unref (self->view);
  g_free (self);
}

gboolean
mtl_gtk_check_is_reachable (MtlStridedView  *view,
                            GError         **error)
{
  if (mtl_strided_view_get_lanes (view) != 1)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "Pixels need elements with 1 lane, not %u",
                   mtl_strided_view_get_lanes (view));
      return FALSE;
    }

  if (mtl_strided_view_is_host_accessible (view))
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_HOST_ACCESSIBLE,
               "The host cannot access memory of “%s”: copy it to the host",
               mtl_device_get_name (mtl_strided_view_get_device (view)));
  return FALSE;
}

gboolean
mtl_gtk_check_extents (const gint64  *shape,
                       GError       **error)
{
  if (shape[0] == 0 || shape[1] == 0)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "A picture needs at least 1 pixel, not %" G_GINT64_FORMAT " rows of %"
                   G_GINT64_FORMAT, shape[0], shape[1]);
      return FALSE;
    }

  if (shape[0] <= G_MAXINT && shape[1] <= G_MAXINT)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_OVERFLOW,
               "The picture has %" G_GINT64_FORMAT " rows of %" G_GINT64_FORMAT " pixels; GTK's"
               " limit is %d for both",
               shape[0], shape[1], G_MAXINT);
  return FALSE;
}

static gboolean
find_usual_channels (MtlGtkChannels  *channels,
                     gint64           n_channels,
                     GError         **error)
{
  static const MtlGtkChannels usual[] = {
    MTL_GTK_CHANNELS_GRAY, MTL_GTK_CHANNELS_GRAY_ALPHA, MTL_GTK_CHANNELS_RGB, MTL_GTK_CHANNELS_RGBA
  };

  if (n_channels >= 1 && n_channels <= (gint64) G_N_ELEMENTS (usual))
    {
      *channels = usual[n_channels - 1];
      return TRUE;
    }

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "A picture needs 1 to 4 channels along the last axis, not %" G_GINT64_FORMAT,
               n_channels);
  return FALSE;
}

gboolean
mtl_gtk_pixel_init_for_view (MtlGtkPixel         *pixel,
                             MtlStridedView      *view,
                             MtlGtkChannels       channels,
                             MtlGtkTextureFlags   flags,
                             GError             **error)
{
  gsize n_dims, n_channels;
  const gint64 *shape = mtl_strided_view_get_shape (view, &n_dims);

  if (n_dims != 2 && n_dims != 3)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "A picture needs 3 dimensions, height, width and channels, or 2 if it is gray;"
                   " the view has %" G_GSIZE_FORMAT " dimension%s", n_dims,
                   n_dims == 1 ? "" : "s");
      return FALSE;
    }

  if (!mtl_gtk_check_extents (shape, error) || !mtl_gtk_check_channels (channels, error))
    return FALSE;

  if (channels == MTL_GTK_CHANNELS_AUTO
      && !find_usual_channels (&channels, n_dims == 3 ? shape[2] : 1, error))
    return FALSE;

  n_channels = strlen (mtl_gtk_channels_get_letters (channels));
  if (n_dims == 3 ? shape[2] != (gint64) n_channels : n_channels != 1)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "The channels %s need an extent of %" G_GSIZE_FORMAT "; the view has %"
                   G_GINT64_FORMAT, mtl_gtk_channels_get_name (channels), n_channels,
                   n_dims == 3 ? shape[2] : 1);
      return FALSE;
    }

  *pixel = (MtlGtkPixel) {
    mtl_strided_view_get_dtype (view), channels,
    (flags & MTL_GTK_TEXTURE_FLAGS_PREMULTIPLIED)
    && mtl_gtk_channels_can_be_premultiplied (channels)
  };
  return TRUE;
}

static gint64
get_row_stride (MtlStridedView    *view,
                const MtlGtkPixel *pixel)
{
  const gint64 *shape = mtl_strided_view_get_shape (view, NULL);

  /* The stride of an axis of extent 1 is never used. */
  if (shape[0] == 1)
    return shape[1] * mtl_gtk_pixel_get_size (pixel);

  return mtl_strided_view_get_strides (view, NULL)[0] * mtl_dtype_get_bits (pixel->dtype) / 8;
}

/* The reason why the elements cannot be a texture of the same memory, or NULL. All strides
 * are whole elements, so rows are aligned if the first one is. */
static char *
find_obstacle (MtlStridedView    *view,
               const MtlGtkPixel *pixel)
{
  gsize n_dims;
  const gint64 *shape = mtl_strided_view_get_shape (view, &n_dims);
  const gint64 *strides = mtl_strided_view_get_strides (view, &n_dims);
  const gint64 n_channels = n_dims == 3 ? shape[2] : 1;
  const gint64 item_size = mtl_dtype_get_bits (pixel->dtype) / 8;
  const gint64 row_size = shape[1] * mtl_gtk_pixel_get_size (pixel);
  const gint64 row_stride = get_row_stride (view, pixel);
  const guint64 address = mtl_strided_view_get_address (view);

  if (n_channels > 1 && strides[2] < 0)
    return g_strdup ("the channels of a pixel are in reverse order");

  if (n_channels > 1 && strides[2] != 1)
    return g_strdup_printf ("the channels of a pixel have to be contiguous, not %" G_GINT64_FORMAT
                            " elements apart", strides[2]);

  if (shape[1] > 1 && strides[1] < 0)
    return g_strdup ("the pixels of a row are in reverse order");

  if (shape[1] > 1 && strides[1] != n_channels)
    return g_strdup_printf ("the pixels of a row have to be %" G_GINT64_FORMAT " elements apart,"
                            " not %" G_GINT64_FORMAT, n_channels, strides[1]);

  if (row_stride < 0)
    return g_strdup ("the rows are in reverse order");

  if (row_stride < row_size)
    return g_strdup_printf ("the rows overlap: they have %" G_GINT64_FORMAT " bytes and are %"
                            G_GINT64_FORMAT " apart", row_size, row_stride);

  if (address % item_size != 0)
    return g_strdup_printf ("the address 0x%" G_GINT64_MODIFIER "x is not a multiple of the %"
                            G_GINT64_FORMAT " bytes of an element", address, item_size);

  return NULL;
}

static GdkTexture *
share_memory (MtlStridedView    *view,
              const MtlGtkPixel *pixel,
              GdkMemoryFormat    format)
{
  const gint64 *shape = mtl_strided_view_get_shape (view, NULL);
  const gsize row_size = shape[1] * mtl_gtk_pixel_get_size (pixel);
  const gsize row_stride = get_row_stride (view, pixel);
  /* The last row may lack its padding. */
  g_autoptr (GBytes) bytes = g_bytes_new_with_free_func (mtl_strided_view_get_data (view),
                                                         (shape[0] - 1) * row_stride + row_size,
                                                         g_object_unref, g_object_ref (view));
  GdkTexture *texture = gdk_memory_texture_new (shape[1], shape[0], format, bytes, row_stride);
  Origin *origin = g_new (Origin, 1);

  *origin = (Origin) { g_object_ref (view), *pixel };
  g_object_set_qdata_full (G_OBJECT (texture), origin_quark (), origin, origin_free);
  return texture;
}

MtlStridedView *
mtl_gtk_with_channel_axis (MtlStridedView *view)
{
  const int axis = 2;

  if (mtl_strided_view_get_n_dims (view) == 3)
    return g_object_ref (view);

  return mtl_strided_view_unsqueeze (view, &axis, 1, NULL);
}

static GdkTexture *
copy_memory (MtlStridedView     *view,
             const MtlGtkPixel  *pixel,
             GError            **error)
{
  const gint64 *shape = mtl_strided_view_get_shape (view, NULL);
  g_autoptr (MtlStridedView) source = mtl_gtk_with_channel_axis (view);
  g_autoptr (MtlStridedView) copy = NULL;
  GdkMemoryFormat format;
  const MtlGtkPixel copy_pixel = mtl_gtk_pixel_find_nearest (pixel, &format);

  copy = mtl_gtk_pixels_new (&copy_pixel, shape[0], shape[1], error);
  if (copy == NULL || !mtl_gtk_pixels_convert (copy, &copy_pixel, source, pixel, NULL, error))
    return NULL;

  return share_memory (copy, &copy_pixel, format);
}

/**
 * mtl_gtk_texture_from_view:
 * @view: a view of shape [height, width, channels], or [height, width]
 * @channels: the channels
 * @flags: whether colors are premultiplied, and whether to copy
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a texture that shares the memory of a view, without a copy.
 *
 * The texture keeps the memory alive. GTK assumes that textures never change,
 * and may keep a copy of one that was drawn: do not write to the memory as long
 * as the texture can be drawn, and create a texture for each new picture, which
 * takes a microsecond or two.
 *
 * The elements are `uint8`, `uint16`, `float16` or `float32`. Full intensity is
 * 255, 65535 or 1. The colors are those of sRGB.
 *
 * With %MTL_GTK_TEXTURE_FLAGS_ALLOW_COPY, the library copies what GTK cannot use as
 * it is: it changes the order of channels, and makes RGB of gray where GTK has
 * no format for that, which is so before 4.12 and for floats. Without that flag
 * this is an error.
 *
 * ```c
 * g_autoptr (GdkTexture) texture =
 *   mtl_gtk_texture_from_view (pixels, MTL_GTK_CHANNELS_RGB, MTL_GTK_TEXTURE_FLAGS_ALLOW_COPY,
 *                              &error);
 *
 * if (texture != NULL)
 *   gtk_picture_set_paintable (picture, GDK_PAINTABLE (texture));
 * ```
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: the elements have another type, the shape is
 *   not that of @channels, or there are no pixels
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: the host cannot read the memory
 * - %MTL_ERROR_NEEDS_COPY: the strides are not those of rows of pixels from top
 *   to bottom, the memory is not aligned to the elements, or GTK has no such
 *   format; not with %MTL_GTK_TEXTURE_FLAGS_ALLOW_COPY
 * - %MTL_ERROR_OVERFLOW: GTK cannot count that many rows or pixels
 * - %MTL_ERROR_NO_MEMORY: the copy cannot be allocated
 *
 * Returns: (transfer full): the texture
 *
 * Since: 1.0
 */
GdkTexture *
mtl_gtk_texture_from_view (MtlStridedView      *view,
                           MtlGtkChannels       channels,
                           MtlGtkTextureFlags   flags,
                           GError             **error)
{
  g_autofree char *obstacle = NULL;
  g_autoptr (GError) missing = NULL;
  GdkMemoryFormat format;
  gboolean has_format;
  MtlGtkPixel pixel;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (view), NULL);

  if (!mtl_gtk_check_is_reachable (view, error)
      || !mtl_gtk_check_dtype (mtl_strided_view_get_dtype (view), error)
      || !mtl_gtk_pixel_init_for_view (&pixel, view, channels, flags, error))
    return NULL;

  has_format = mtl_gtk_pixel_find_format (&pixel, &format);
  if (has_format)
    obstacle = find_obstacle (view, &pixel);

  if (has_format && obstacle == NULL)
    return share_memory (view, &pixel, format);

  if (flags & MTL_GTK_TEXTURE_FLAGS_ALLOW_COPY)
    return copy_memory (view, &pixel, error);

  if (!has_format)
    mtl_gtk_memory_format_from_pixel (pixel.dtype, pixel.channels, flags, &format, &missing);
  g_set_error (error, MTL_ERROR, MTL_ERROR_NEEDS_COPY,
               "The view cannot be a texture without a copy, since %s: allow it with the flag"
               " ALLOW_COPY",
               has_format ? obstacle : missing->message);
  return NULL;
}

MtlStridedView *
mtl_gtk_texture_dup_pixels (GdkTexture  *texture,
                            MtlGtkPixel *pixel)
{
  Origin *origin = g_object_get_qdata (G_OBJECT (texture), origin_quark ());

  if (origin == NULL)
    return NULL;

  *pixel = origin->pixel;
  return mtl_gtk_with_channel_axis (origin->view);
}

static gboolean
check_plane (guint             plane,
             guint             n_planes,
             GdkMemoryFormat   format,
             GError          **error)
{
  g_autofree char *name = NULL;

  if (plane < n_planes)
    return TRUE;

  name = g_enum_to_string (GDK_TYPE_MEMORY_FORMAT, format);
  g_set_error (error, MTL_ERROR, MTL_ERROR_OUT_OF_BOUNDS,
               "There is no plane %u: the format %s has %u, counted from 0", plane, name,
               n_planes);
  return FALSE;
}

static void
refuse_access (GdkTexture  *texture,
               GError     **error)
{
  g_set_error (error, MTL_ERROR, MTL_ERROR_NEEDS_COPY,
               "The library was built with GTK %d.%d, which gives no access to the memory of a %s:"
               " use mtl_gtk_download_texture()",
               GTK_MAJOR_VERSION, GTK_MINOR_VERSION, G_OBJECT_TYPE_NAME (texture));
}

#if GTK_CHECK_VERSION (4, 10, 0)

static void
free_bytes (gpointer bytes)
{
  g_bytes_unref (bytes);
}

/* GTK returns the memory of such a texture itself if nothing has to be converted. */
static GBytes *
get_memory (GdkTexture *texture,
            gsize       offsets[4],
            gsize       row_strides[4])
{
  g_autoptr (GdkTextureDownloader) downloader = gdk_texture_downloader_new (texture);

  gdk_texture_downloader_set_format (downloader, gdk_texture_get_format (texture));
#if GTK_CHECK_VERSION (4, 16, 0)
  gdk_texture_downloader_set_color_state (downloader, gdk_texture_get_color_state (texture));
#endif
#if GTK_CHECK_VERSION (4, 20, 0)
  return gdk_texture_downloader_download_bytes_with_planes (downloader, offsets, row_strides);
#else
  offsets[0] = 0;
  return gdk_texture_downloader_download_bytes (downloader, row_strides);
#endif
}

/* [rows, columns, elements of a block], without the last axis where that is always 1. */
static MtlStridedView *
view_memory (GdkTexture          *texture,
             const MtlGtkPlanes  *planes,
             guint                plane,
             gsize                n_dims,
             GError             **error)
{
  const gint64 item_size = mtl_dtype_get_bits (planes->dtype) / 8;
  const gint64 n_elements = planes->planes[plane].n_elements;
  gsize size, offsets[4], row_strides[4];
  GBytes *bytes = get_memory (texture, offsets, row_strides);
  const gint64 shape[] = {
    gdk_texture_get_height (texture) / planes->planes[plane].block_height,
    gdk_texture_get_width (texture) / planes->planes[plane].block_width,
    n_elements,
  };
  const gint64 byte_strides[] = { row_strides[plane], n_elements * item_size, item_size };
  gpointer data = (gpointer) g_bytes_get_data (bytes, &size);

  return mtl_strided_view_new_for_data (data, size, planes->dtype, shape, n_dims, byte_strides,
                                        n_dims, offsets[plane], MTL_BUFFER_FLAGS_READ_ONLY,
                                        free_bytes, bytes, error);
}

static MtlStridedView *
view_plane (GdkTexture  *texture,
            guint        plane,
            GError     **error)
{
  const GdkMemoryFormat format = gdk_texture_get_format (texture);
  MtlGtkPlanes planes;
  gboolean has_axis;

  if (!mtl_gtk_planes_init_for_format (&planes, format, error)
      || !check_plane (plane, planes.n_planes, format, error))
    return NULL;

  has_axis = planes.is_pixels || planes.planes[plane].n_elements > 1;
  return view_memory (texture, &planes, plane, has_axis ? 3 : 2, error);
}

static MtlStridedView *
view_pixels (GdkTexture  *texture,
             GError     **error)
{
  const GdkMemoryFormat format = gdk_texture_get_format (texture);
  MtlGtkTextureFlags flags;
  MtlGtkChannels channels;
  MtlDType dtype;

  if (!mtl_gtk_pixel_from_memory_format (format, &dtype, &channels, &flags, error))
    return NULL;

  return view_plane (texture, 0, error);
}

#endif

/**
 * mtl_gtk_view_from_texture:
 * @texture: a texture
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a read-only view of the memory of a texture, without a copy.
 *
 * A texture from [func@texture_from_view] gives the view that it was created
 * from, or its copy. Other textures give a view of shape [height, width,
 * channels] if they are a [class@Gdk.MemoryTexture] and GTK is 4.10 or newer.
 * The numbers are those in memory, whatever color state GTK 4.16 or newer has
 * for the texture.
 *
 * Errors:
 *
 * - %MTL_ERROR_NEEDS_COPY: GTK does not give access to the memory of @texture;
 *   use [func@download_texture]
 * - %MTL_ERROR_NOT_SUPPORTED: the channels of @texture are not elements side by
 *   side, as in formats for video, for which [func@view_from_texture_plane] is;
 *   or the library was built with a GTK that lacks the format
 *
 * Returns: (transfer full): the view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_gtk_view_from_texture (GdkTexture  *texture,
                           GError     **error)
{
  Origin *origin;

  g_return_val_if_fail (GDK_IS_TEXTURE (texture), NULL);

  origin = g_object_get_qdata (G_OBJECT (texture), origin_quark ());
  if (origin != NULL)
    return mtl_strided_view_as_read_only (origin->view);

#if GTK_CHECK_VERSION (4, 10, 0)
  if (GDK_IS_MEMORY_TEXTURE (texture))
    return view_pixels (texture, error);
#endif

  refuse_access (texture, error);
  return NULL;
}

/**
 * mtl_gtk_view_from_texture_plane:
 * @texture: a texture
 * @plane: which plane of the format, from 0
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a read-only view of a plane of the memory of a texture, without a
 * copy.
 *
 * GTK 4.20 and newer has formats of one, two and three planes for video. The
 * elements are as they lie in memory:
 *
 * - a plane of one channel: [rows, columns]
 * - a plane of two kinds of chroma: [rows, columns, 2]
 * - `GDK_MEMORY_G8B8G8R8_422` and the like, in which two pixels share their
 *   chroma: [height, width / 2, 4]
 * - `GDK_MEMORY_ARGB2101010` and the like, of GTK 4.24: [height, width] of
 *   `uint32`, which have all channels
 * - other formats: what [func@view_from_texture] gives
 *
 * Samples of 10 or 12 bits are the upper or lower bits of an `uint16`, as the
 * format says. [func@download_texture] converts any texture to colors.
 *
 * ```c
 * // The texture has the format GDK_MEMORY_G8_B8R8_420.
 * g_autoptr (MtlStridedView) luma = mtl_gtk_view_from_texture_plane (texture, 0, &error);
 * g_autoptr (MtlStridedView) chroma = mtl_gtk_view_from_texture_plane (texture, 1, &error);
 * ```
 *
 * Errors:
 *
 * - %MTL_ERROR_NEEDS_COPY: GTK does not give access to the memory of @texture;
 *   use [func@download_texture]
 * - %MTL_ERROR_NOT_SUPPORTED: the library was built with a GTK that lacks the
 *   format
 * - %MTL_ERROR_OUT_OF_BOUNDS: the format has no such plane
 *
 * Returns: (transfer full): the view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_gtk_view_from_texture_plane (GdkTexture  *texture,
                                 guint        plane,
                                 GError     **error)
{
  GdkMemoryFormat format;
  Origin *origin;

  g_return_val_if_fail (GDK_IS_TEXTURE (texture), NULL);

  origin = g_object_get_qdata (G_OBJECT (texture), origin_quark ());
  if (origin != NULL)
    {
      mtl_gtk_pixel_find_format (&origin->pixel, &format);
      return check_plane (plane, 1, format, error) ? mtl_strided_view_as_read_only (origin->view)
                                                   : NULL;
    }

#if GTK_CHECK_VERSION (4, 10, 0)
  if (GDK_IS_MEMORY_TEXTURE (texture))
    return view_plane (texture, plane, error);
#endif

  refuse_access (texture, error);
  return NULL;
}
