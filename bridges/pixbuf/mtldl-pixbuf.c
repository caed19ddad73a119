/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtldl-pixbuf.h"

/* The arguments that describe the memory of a view to GdkPixbuf. */
typedef struct
{
  int width;
  int height;
  int n_channels;
  int rowstride;
  gsize size;
} Picture;

/* gdk_pixbuf_get_byte_length() counts in int and is wrong from 2 GiB on. The
 * last row may lack its padding. */
static gsize
picture_size (gsize height,
              gsize rowstride,
              gsize row_size)
{
  return (height - 1) * rowstride + row_size;
}

/**
 * mtl_pixbuf_view_from_pixbuf:
 * @pixbuf: a picture with 8 bits per sample
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a writable view of the pixels of a picture, without a copy.
 *
 * The view has the shape [height, width, channels], elements of type `uint8`
 * and the picture's row stride. It keeps @pixbuf alive. Writes to either become
 * visible in the other.
 *
 * The pixels of a picture created from [struct@GLib.Bytes], for example with
 * [ctor@GdkPixbuf.Pixbuf.new_from_bytes], may not be written to. GdkPixbuf
 * therefore copies them on the first request for writable pixels, which this
 * function makes. From then on the picture and its views share the copy, and
 * the bytes do not change. Pictures loaded from files do not use
 * [struct@GLib.Bytes].
 *
 * Errors:
 *
 * - %MTL_ERROR_NOT_SUPPORTED: a sample does not have 8 bits
 *
 * Returns: (transfer full): the view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_pixbuf_view_from_pixbuf (GdkPixbuf  *pixbuf,
                             GError    **error)
{
  gint64 shape[3], strides[3];
  gsize size;
  int bits;

  g_return_val_if_fail (GDK_IS_PIXBUF (pixbuf), NULL);

  bits = gdk_pixbuf_get_bits_per_sample (pixbuf);
  if (bits != 8)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                   "The picture has %d bits per sample; only 8 are supported", bits);
      return NULL;
    }

  shape[0] = gdk_pixbuf_get_height (pixbuf);
  shape[1] = gdk_pixbuf_get_width (pixbuf);
  shape[2] = gdk_pixbuf_get_n_channels (pixbuf);
  strides[0] = gdk_pixbuf_get_rowstride (pixbuf);
  strides[1] = shape[2];
  strides[2] = 1;

  size = picture_size (shape[0], strides[0], shape[1] * shape[2]);
  return mtl_strided_view_new_for_data (gdk_pixbuf_get_pixels (pixbuf), size, MTL_DTYPE_UINT8,
                                        shape, 3, strides, 3, 0, MTL_BUFFER_FLAGS_NONE,
                                        g_object_unref, g_object_ref (pixbuf), error);
}

static gboolean
check_is_picture (MtlStridedView  *view,
                  GError         **error)
{
  const gint64 *shape;
  gsize n_dims;

  if (mtl_strided_view_get_dtype (view) != MTL_DTYPE_UINT8)
    {
      g_autofree char *dtype = mtl_dtype_to_string (mtl_strided_view_get_dtype (view));

      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "A picture needs elements of uint8, not %s: convert them first", dtype);
      return FALSE;
    }

  if (mtl_strided_view_get_lanes (view) != 1)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "A picture needs elements with 1 lane, not %u",
                   mtl_strided_view_get_lanes (view));
      return FALSE;
    }

  shape = mtl_strided_view_get_shape (view, &n_dims);
  if (n_dims != 3)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "A picture needs 3 dimensions, height, width and channels, not %" G_GSIZE_FORMAT
                   "%s", n_dims, n_dims == 2 ? ": repeat gray levels in 3 channels" : "");
      return FALSE;
    }

  if (shape[2] != 3 && shape[2] != 4)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "A picture needs 3 or 4 channels along the last axis, not %" G_GINT64_FORMAT
                   "%s", shape[2], shape[2] == 1 ? ": repeat gray levels in 3 channels" : "");
      return FALSE;
    }

  if (shape[0] == 0 || shape[1] == 0)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "A picture needs at least 1 pixel, not %" G_GINT64_FORMAT " rows of %"
                   G_GINT64_FORMAT, shape[0], shape[1]);
      return FALSE;
    }

  return TRUE;
}

static gboolean
check_is_reachable (MtlStridedView  *view,
                    GError         **error)
{
  if (mtl_strided_view_is_host_accessible (view))
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_HOST_ACCESSIBLE,
               "The host cannot access memory of “%s”: copy it to the host",
               mtl_device_get_name (mtl_strided_view_get_device (view)));
  return FALSE;
}

/* The reason why the elements cannot be a picture of the same memory, or NULL. The
 * stride of an axis of extent 1 is never used. */
static char *
find_obstacle (const gint64 *shape,
               const gint64 *strides,
               gint64        rowstride)
{
  const gint64 row_size = shape[1] * shape[2];

  if (strides[2] < 0)
    return g_strdup ("the channels of a pixel are in reverse order");

  if (strides[2] != 1)
    return g_strdup_printf ("the channels of a pixel have to be contiguous, not %" G_GINT64_FORMAT
                            " bytes apart", strides[2]);

  if (shape[1] > 1 && strides[1] < 0)
    return g_strdup ("the pixels of a row are in reverse order");

  if (shape[1] > 1 && strides[1] != shape[2])
    return g_strdup_printf ("the pixels of a row have to be %" G_GINT64_FORMAT " bytes apart, not %"
                            G_GINT64_FORMAT, shape[2], strides[1]);

  if (rowstride < 0)
    return g_strdup ("the rows are in reverse order");

  if (rowstride < row_size)
    return g_strdup_printf ("the rows overlap: they have %" G_GINT64_FORMAT " bytes and are %"
                            G_GINT64_FORMAT " apart", row_size, rowstride);

  if (rowstride > G_MAXINT)
    return g_strdup_printf ("the rows are %" G_GINT64_FORMAT " bytes apart; GdkPixbuf's limit is"
                            " %d", rowstride, G_MAXINT);

  return NULL;
}

static gboolean
check_strides (const gint64  *shape,
               const gint64  *strides,
               gint64         rowstride,
               GError       **error)
{
  g_autofree char *obstacle = find_obstacle (shape, strides, rowstride);

  if (obstacle == NULL)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_NEEDS_COPY,
               "The view cannot be a picture without a copy, since %s (strides (%" G_GINT64_FORMAT
               ", %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT ")): copy the view first",
               obstacle, strides[0], strides[1], strides[2]);
  return FALSE;
}

static gboolean
picture_init (Picture         *picture,
              MtlStridedView  *view,
              GError         **error)
{
  const gint64 *shape, *strides;
  gint64 rowstride;
  gsize n_dims;

  if (!check_is_picture (view, error) || !check_is_reachable (view, error))
    return FALSE;

  shape = mtl_strided_view_get_shape (view, &n_dims);
  strides = mtl_strided_view_get_strides (view, &n_dims);
  if (shape[0] > G_MAXINT || shape[1] > G_MAXINT / shape[2])
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_OVERFLOW,
                   "The view has %" G_GINT64_FORMAT " rows of %" G_GINT64_FORMAT " pixels of %"
                   G_GINT64_FORMAT " bytes; GdkPixbuf's limit is %d rows of %d bytes",
                   shape[0], shape[1], shape[2], G_MAXINT, G_MAXINT);
      return FALSE;
    }

  rowstride = shape[0] > 1 ? strides[0] : shape[1] * shape[2];
  if (!check_strides (shape, strides, rowstride, error))
    return FALSE;

  picture->width = shape[1];
  picture->height = shape[0];
  picture->n_channels = shape[2];
  picture->rowstride = rowstride;
  picture->size = picture_size (shape[0], rowstride, shape[1] * shape[2]);
  if (picture->size <= G_MAXINT)
    return TRUE;

  /* GdkPixbuf would accept it, but parts of it count the bytes in int. */
  g_set_error (error, MTL_ERROR, MTL_ERROR_OVERFLOW,
               "The picture needs %" G_GSIZE_FORMAT " bytes; GdkPixbuf's limit is %d",
               picture->size, G_MAXINT);
  return FALSE;
}

static void
unref_view (guchar   *pixels,
            gpointer  view)
{
  g_object_unref (view);
}

/**
 * mtl_pixbuf_pixbuf_from_view:
 * @view: a view of shape [height, width, channels]
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a picture that shares the memory of a view, without a copy.
 *
 * The picture keeps the memory alive. 3 channels are red, green and blue. A
 * fourth channel is the opacity; the colors are not premultiplied by it.
 *
 * If @view is writable, writes to either become visible in the other. If it is
 * read-only, GdkPixbuf copies the pixels when writable pixels are first
 * requested from the picture.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: the elements are not `uint8`, there are not 3
 *   dimensions, not 3 or 4 channels, or no pixels
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: the host cannot read the memory
 * - %MTL_ERROR_NEEDS_COPY: the strides are not those of rows of pixels from top
 *   to bottom, as after [method@Mtl.StridedView.flip]; use a
 *   [method@Mtl.StridedView.copy] then
 * - %MTL_ERROR_OVERFLOW: the picture has 2 GiB or more
 *
 * Returns: (transfer full): the new picture
 *
 * Since: 1.0
 */
GdkPixbuf *
mtl_pixbuf_pixbuf_from_view (MtlStridedView  *view,
                             GError         **error)
{
  g_autoptr (GBytes) bytes = NULL;
  gpointer pixels;
  Picture picture;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (view), NULL);

  if (!picture_init (&picture, view, error))
    return NULL;

  pixels = mtl_strided_view_get_data (view);
  if (!mtl_strided_view_is_read_only (view))
    return gdk_pixbuf_new_from_data (pixels, GDK_COLORSPACE_RGB, picture.n_channels == 4, 8,
                                     picture.width, picture.height, picture.rowstride,
                                     unref_view, g_object_ref (view));

  bytes = g_bytes_new_with_free_func (pixels, picture.size, g_object_unref, g_object_ref (view));
  return gdk_pixbuf_new_from_bytes (bytes, GDK_COLORSPACE_RGB, picture.n_channels == 4, 8,
                                    picture.width, picture.height, picture.rowstride);
}
