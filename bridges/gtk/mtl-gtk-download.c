/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-gtk-download.h"

#include "mtl-async-call-private.h"
#include "mtl-gtk-pixels-private.h"
#include "mtl-gtk-texture-private.h"

typedef struct
{
  MtlAsyncCall parent;

  MtlGtkPixel pixel;
} Download;

static gboolean
pixel_init (MtlGtkPixel         *pixel,
            MtlDType             dtype,
            MtlGtkChannels       channels,
            MtlGtkTextureFlags   flags,
            GError             **error)
{
  if (!mtl_gtk_check_dtype (dtype, error) || !mtl_gtk_check_channels (channels, error))
    return FALSE;

  *pixel = (MtlGtkPixel) {
    dtype, channels != MTL_GTK_CHANNELS_AUTO ? channels : MTL_GTK_CHANNELS_RGBA,
    flags & MTL_GTK_TEXTURE_FLAGS_PREMULTIPLIED
  };
  return TRUE;
}

/* The pixels that GTK itself makes of a texture. GTK converts the opacity, but does not drop it. */
static GdkMemoryFormat
choose_format (const MtlGtkPixel *pixel)
{
  GdkMemoryFormat format = GDK_MEMORY_DEFAULT;

#if GTK_CHECK_VERSION (4, 10, 0)
  const MtlGtkPixel usual = { pixel->dtype, MTL_GTK_CHANNELS_RGBA, pixel->premultiplied };

  if (!mtl_gtk_channels_have_alpha (pixel->channels) || !mtl_gtk_pixel_find_format (pixel, &format))
    mtl_gtk_pixel_find_format (&usual, &format);
#endif

  return format;
}

static void
download_format (GdkTexture      *texture,
                 GdkMemoryFormat  format,
                 MtlStridedView  *pixels)
{
  guchar *data = mtl_strided_view_get_data (pixels);
  const gint64 *shape = mtl_strided_view_get_shape (pixels, NULL);
  const guint item_bits = mtl_strided_layout_get_item_bits (mtl_strided_view_get_layout (pixels));
  const gsize row_size = shape[1] * shape[2] * item_bits / 8;

#if GTK_CHECK_VERSION (4, 10, 0)
  g_autoptr (GdkTextureDownloader) downloader = gdk_texture_downloader_new (texture);

  gdk_texture_downloader_set_format (downloader, format);
  gdk_texture_downloader_download_into (downloader, data, row_size);
#else
  gdk_texture_download (texture, data, row_size);
#endif
}

static gboolean
download_into (GdkTexture         *texture,
               MtlStridedView     *pixels,
               const MtlGtkPixel  *pixel,
               GCancellable       *cancellable,
               GError            **error)
{
  const gint64 *shape = mtl_strided_view_get_shape (pixels, NULL);
  const GdkMemoryFormat format = choose_format (pixel);
  g_autoptr (MtlStridedView) source = NULL;
  GdkMemoryFormat own_format;
  MtlGtkPixel source_pixel;

  if (mtl_gtk_pixel_find_format (pixel, &own_format) && own_format == format)
    {
      download_format (texture, format, pixels);
      return TRUE;
    }

  mtl_gtk_pixel_init_for_format (&source_pixel, format);
  source = mtl_gtk_pixels_new (&source_pixel, shape[0], shape[1], error);
  if (source == NULL)
    return FALSE;

  download_format (texture, format, source);
  return mtl_gtk_pixels_convert (pixels, pixel, source, &source_pixel, cancellable, error);
}

static MtlStridedView *
download (GdkTexture         *texture,
          const MtlGtkPixel  *pixel,
          GCancellable       *cancellable,
          GError            **error)
{
  g_autoptr (MtlStridedView) source = NULL, pixels = NULL;
  MtlGtkPixel source_pixel;
  gboolean done;

  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return NULL;

  pixels = mtl_gtk_pixels_new (pixel, gdk_texture_get_height (texture),
                               gdk_texture_get_width (texture), error);
  if (pixels == NULL)
    return NULL;

  source = mtl_gtk_texture_dup_pixels (texture, &source_pixel);
  if (source != NULL)
    done = mtl_gtk_pixels_convert (pixels, pixel, source, &source_pixel, cancellable, error);
  else
    done = download_into (texture, pixels, pixel, cancellable, error);

  return done ? g_steal_pointer (&pixels) : NULL;
}

static gpointer
run_download (gpointer           texture,
              gpointer           call,
              const MtlMonitor  *monitor,
              GError           **error)
{
  return download (texture, &((Download *) call)->pixel, monitor->cancellable, error);
}

/**
 * mtl_gtk_download_texture:
 * @texture: a texture
 * @dtype: the element type of the view: `uint8`, `uint16`, `float16` or
 *   `float32`
 * @channels: the channels of the view; %MTL_GTK_CHANNELS_AUTO means RGBA
 * @flags: %MTL_GTK_TEXTURE_FLAGS_PREMULTIPLIED for colors that are multiplied
 *   by the opacity; the pixels are always copied
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error]
 *
 * Copies the pixels of any texture into a new view of shape [height, width,
 * channels].
 *
 * Full intensity is 255 or 65535, or 1 for floats. The colors are those of
 * sRGB; GTK converts others, of a color state of GTK 4.16 or newer. Gray is the
 * mean of red, green and blue. Opacity is 1 where @texture has none. Without an
 * opacity among @channels, that of the texture is dropped: the colors remain as
 * they would be with it.
 *
 * A texture from [func@texture_from_view] is converted from its own elements.
 * Of others, GTK before 4.10 gives only 8 bits for each channel, of
 * premultiplied colors: those of an almost transparent pixel are less precise
 * then, whatever @dtype is.
 *
 * ```c
 * g_autoptr (MtlStridedView) pixels =
 *   mtl_gtk_download_texture (texture, MTL_DTYPE_FLOAT32, MTL_GTK_CHANNELS_RGB,
 *                             MTL_GTK_TEXTURE_FLAGS_NONE, NULL, &error);
 * ```
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: @dtype is another type, or @channels is none
 *   of the values
 * - %MTL_ERROR_NO_MEMORY: the view cannot be allocated
 * - %G_IO_ERROR_CANCELLED: @cancellable was cancelled
 *
 * Returns: (transfer full): the pixels
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_gtk_download_texture (GdkTexture          *texture,
                          MtlDType             dtype,
                          MtlGtkChannels       channels,
                          MtlGtkTextureFlags   flags,
                          GCancellable        *cancellable,
                          GError             **error)
{
  MtlGtkPixel pixel;

  g_return_val_if_fail (GDK_IS_TEXTURE (texture), NULL);

  if (!pixel_init (&pixel, dtype, channels, flags, error))
    return NULL;

  return download (texture, &pixel, cancellable, error);
}

/**
 * mtl_gtk_download_texture_async:
 * @texture: a texture
 * @dtype: the element type of the view
 * @channels: the channels of the view
 * @flags: %MTL_GTK_TEXTURE_FLAGS_PREMULTIPLIED, or none
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called when it is done
 * @user_data: data for @callback
 *
 * Copies the pixels of a texture in another thread; see
 * [func@download_texture].
 *
 * Since: 1.0
 */
void
mtl_gtk_download_texture_async (GdkTexture          *texture,
                                MtlDType             dtype,
                                MtlGtkChannels       channels,
                                MtlGtkTextureFlags   flags,
                                GCancellable        *cancellable,
                                GAsyncReadyCallback  callback,
                                gpointer             user_data)
{
  GError *error = NULL;
  MtlGtkPixel pixel;
  Download *call;

  g_return_if_fail (GDK_IS_TEXTURE (texture));

  if (!pixel_init (&pixel, dtype, channels, flags, &error))
    {
      g_task_report_error (texture, callback, user_data, mtl_gtk_download_texture_async, error);
      return;
    }

  call = mtl_async_call_new (sizeof *call, run_download, g_object_unref, NULL, G_PRIORITY_DEFAULT);
  call->pixel = pixel;
  mtl_async_call_start (call, texture, mtl_gtk_download_texture_async, cancellable, callback,
                        user_data);
}

/**
 * mtl_gtk_download_texture_finish:
 * @result: what the callback was given
 * @error: return location for a [error@Mtl.Error]
 *
 * Ends what [func@download_texture_async] began.
 *
 * Errors:
 *
 * - those of [func@download_texture]
 *
 * Returns: (transfer full): the pixels
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_gtk_download_texture_finish (GAsyncResult  *result,
                                 GError       **error)
{
  return mtl_async_call_take_result (NULL, result, mtl_gtk_download_texture_async, error);
}
