/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-gtk-surface.h"

#include "mtl-gtk-texture-private.h"
#include "mtl-message-text-private.h"

/* Cairo's image formats whose pixels have whole elements. */
typedef struct
{
  cairo_format_t format;
  MtlDType dtype;
  int n_channels; /* 0: a pixel is one element, without an axis for channels */
} PixelFormat;

static const PixelFormat pixel_formats[] = {
  { CAIRO_FORMAT_ARGB32, MTL_DTYPE_UINT8, 4 },
  { CAIRO_FORMAT_RGB24, MTL_DTYPE_UINT8, 4 },
  { CAIRO_FORMAT_A8, MTL_DTYPE_UINT8, 0 },
#if CAIRO_VERSION >= CAIRO_VERSION_ENCODE (1, 17, 2)
  { CAIRO_FORMAT_RGB96F, MTL_DTYPE_FLOAT32, 3 },
  { CAIRO_FORMAT_RGBA128F, MTL_DTYPE_FLOAT32, 4 },
#endif
};

static const PixelFormat *
find_pixel_format (cairo_format_t   format,
                   GError         **error)
{
  for (gsize i = 0; i < G_N_ELEMENTS (pixel_formats); i++)
    if (pixel_formats[i].format == format)
      return &pixel_formats[i];

  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "Cairo's format %d is not supported, only ARGB32, RGB24, A8 and, from Cairo 1.17.2"
               " on, those of floats", format);
  return NULL;
}

/* Drawing may follow once the view's memory is no longer used. Without a flush, Cairo ends the
 * program if another surface has become a user of this one meanwhile. */
static void
release_surface (gpointer surface)
{
  cairo_surface_flush (surface);
  cairo_surface_mark_dirty (surface);
  cairo_surface_destroy (surface);
}

/* Only an attempt to use the surface shows this. */
static gboolean
is_finished (cairo_surface_t *surface)
{
  cairo_surface_t *other = cairo_surface_create_similar_image (surface, CAIRO_FORMAT_A8, 1, 1);
  const cairo_status_t status = cairo_surface_status (other);

  cairo_surface_destroy (other);
  return status != CAIRO_STATUS_SUCCESS;
}

static gboolean
check_is_image (cairo_surface_t  *surface,
                GError          **error)
{
  const cairo_status_t status = cairo_surface_status (surface);

  if (status != CAIRO_STATUS_SUCCESS)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "The surface cannot be used: %s", cairo_status_to_string (status));
      return FALSE;
    }

  if (is_finished (surface))
    {
      g_set_error_literal (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                           "The surface is finished, so it may no longer have pixels");
      return FALSE;
    }

  if (cairo_surface_get_type (surface) != CAIRO_SURFACE_TYPE_IMAGE)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                   "A surface of Cairo's type %d has no pixels in memory: draw it on an image"
                   " surface first", cairo_surface_get_type (surface));
      return FALSE;
    }

  /* It has the type of the whole surface. */
  if (cairo_image_surface_get_format (surface) == CAIRO_FORMAT_INVALID)
    {
      g_set_error_literal (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                           "The surface is part of another one: slice a view of the whole surface");
      return FALSE;
    }

  if (cairo_image_surface_get_width (surface) > 0 && cairo_image_surface_get_height (surface) > 0)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "The surface has no pixels: %d rows of %d",
               cairo_image_surface_get_height (surface), cairo_image_surface_get_width (surface));
  return FALSE;
}

/* The number of bytes of a row that exist. Cairo itself copies the end of such a row. */
static gint64
row_size_of (cairo_surface_t *surface,
             gint64           pixels_size)
{
  const int stride = cairo_image_surface_get_stride (surface);

  return stride == cairo_format_stride_for_width (cairo_image_surface_get_format (surface),
                                                  cairo_image_surface_get_width (surface))
           ? stride : pixels_size;
}

/**
 * mtl_gtk_view_from_surface:
 * @surface: an image surface
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a writable view of the pixels of a surface of Cairo, without a copy.
 *
 * The drawing is flushed to the pixels first. Before you draw again, end the
 * view, which marks the surface as changed. To draw while you keep the view,
 * call `cairo_surface_flush()` before you read or write the elements, and
 * `cairo_surface_mark_dirty()` after you wrote to them.
 *
 * The view keeps the surface, but `cairo_surface_finish()` frees the pixels
 * nevertheless: end all views first. In Python, `with` finishes a surface.
 *
 * | format | type, shape | channels |
 * | --- | --- | --- |
 * | `ARGB32` | `uint8` [height, width, 4] | blue, green, red, opacity; premultiplied |
 * | `RGB24` | the same | the opacity is not used |
 * | `A8` | `uint8` [height, width] | the opacity |
 * | `RGB96F` | `float32` [height, width, 3] | red, green, blue |
 * | `RGBA128F` | `float32` [height, width, 4] | red, green, blue, opacity; premultiplied |
 *
 * On big-endian machines, the channels of `ARGB32` and `RGB24` are in reverse
 * order. [func@surface_from_view] is the way back.
 *
 * Errors:
 *
 * - %MTL_ERROR_NOT_SUPPORTED: @surface is not an image surface, or a pixel of
 *   it has no whole elements, as in `A1`, `RGB16_565` and `RGB30`
 * - %MTL_ERROR_INVALID_ARGUMENT: @surface has an error, is finished, or has no
 *   pixels
 *
 * Returns: (transfer full): the view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_gtk_view_from_surface (cairo_surface_t  *surface,
                           GError          **error)
{
  gint64 shape[3], byte_strides[3], item_size, below;
  const PixelFormat *format;
  gsize byte_offset;
  guint n_dims;

  g_return_val_if_fail (surface != NULL, NULL);

  if (!check_is_image (surface, error))
    return NULL;

  format = find_pixel_format (cairo_image_surface_get_format (surface), error);
  if (format == NULL)
    return NULL;

  n_dims = format->n_channels == 0 ? 2 : 3;
  item_size = mtl_dtype_get_bits (format->dtype) / 8;
  shape[0] = cairo_image_surface_get_height (surface);
  shape[1] = cairo_image_surface_get_width (surface);
  shape[2] = format->n_channels;
  byte_strides[0] = cairo_image_surface_get_stride (surface);
  byte_strides[1] = MAX (format->n_channels, 1) * item_size;
  byte_strides[2] = item_size;

  /* The memory begins with the last row if rows lie one before the other. */
  below = (shape[0] - 1) * byte_strides[0];
  byte_offset = MAX (-below, 0);
  cairo_surface_flush (surface);
  return mtl_strided_view_new_for_data (cairo_image_surface_get_data (surface) - byte_offset,
                                        ABS (below) + row_size_of (surface,
                                                                   shape[1] * byte_strides[1]),
                                        format->dtype, shape, n_dims, byte_strides, n_dims,
                                        byte_offset, MTL_BUFFER_FLAGS_NONE, release_surface,
                                        cairo_surface_reference (surface), error);
}

static gboolean
check_is_writable (MtlStridedView  *view,
                   GError         **error)
{
  if (!mtl_gtk_check_is_reachable (view, error))
    return FALSE;

  if (!mtl_strided_view_is_read_only (view))
    return TRUE;

  g_set_error_literal (error, MTL_ERROR, MTL_ERROR_READ_ONLY,
                       "A surface can be drawn on, so the view must not be read-only: copy it"
                       " first");
  return FALSE;
}

static gboolean
check_dtype (MtlStridedView     *view,
             const PixelFormat  *format,
             GError            **error)
{
  g_autofree char *dtype = NULL, *expected = NULL;

  if (mtl_strided_view_get_dtype (view) == format->dtype)
    return TRUE;

  dtype = mtl_dtype_to_string (mtl_strided_view_get_dtype (view));
  expected = mtl_dtype_to_string (format->dtype);
  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "Cairo's format %d needs elements of %s, not %s: convert them first", format->format,
               expected, dtype);
  return FALSE;
}

static gboolean
check_shape (MtlStridedView     *view,
             const PixelFormat  *format,
             GError            **error)
{
  static const char *const shapes[] = {
    "(height, width)", NULL, NULL, "(height, width, 3)", "(height, width, 4)"
  };
  gsize n_dims;
  const gint64 *shape = mtl_strided_view_get_shape (view, &n_dims);
  const gint64 n_channels = MAX (format->n_channels, 1);
  g_autofree char *string = NULL;

  if ((n_dims == 3 && shape[2] == n_channels) || (n_dims == 2 && n_channels == 1))
    return mtl_gtk_check_extents (shape, error);

  string = mtl_dims_to_string (shape, n_dims);
  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "Cairo's format %d needs the shape %s, not %s", format->format,
               shapes[format->n_channels], string);
  return FALSE;
}

/* The stride of an axis of extent 1 is never used. */
static gint64
get_row_stride (MtlStridedView    *view,
                const PixelFormat *format)
{
  const gint64 *shape = mtl_strided_view_get_shape (view, NULL);

  if (shape[0] == 1)
    return cairo_format_stride_for_width (format->format, shape[1]);

  return mtl_strided_view_get_strides (view, NULL)[0] * mtl_dtype_get_bits (format->dtype) / 8;
}

/* Counts the bytes of the memory from the first element on. */
static guint64
get_rest_of_memory (MtlStridedView *view)
{
  MtlBuffer *buffer = mtl_strided_view_get_buffer (view);
  const guint8 *begin = mtl_buffer_get_contents (buffer);
  const guint8 *first = mtl_strided_view_get_data (view);

  return mtl_buffer_get_size (buffer) - (first - begin);
}

/* The reason why the elements cannot be a surface of the same memory, or NULL. */
static char *
find_obstacle (MtlStridedView    *view,
               const PixelFormat *format)
{
  const gint64 *shape = mtl_strided_view_get_shape (view, NULL);
  const gint64 *strides = mtl_strided_view_get_strides (view, NULL);
  const gint64 n_channels = MAX (format->n_channels, 1);
  const gint64 row_stride = get_row_stride (view, format);
  const int row_size = cairo_format_stride_for_width (format->format, shape[1]);
  const guint64 address = mtl_strided_view_get_address (view);
  const guint64 needed = shape[0] * row_stride;

  if (n_channels > 1 && strides[2] != 1)
    return g_strdup_printf ("the channels of a pixel have to be contiguous, not %" G_GINT64_FORMAT
                            " elements apart", strides[2]);

  if (shape[1] > 1 && strides[1] != n_channels)
    return g_strdup_printf ("the pixels of a row have to be %" G_GINT64_FORMAT " elements apart,"
                            " not %" G_GINT64_FORMAT, n_channels, strides[1]);

  if (row_stride < row_size)
    return g_strdup_printf ("the rows have to be at least %d bytes apart, not %" G_GINT64_FORMAT,
                            row_size, row_stride);

  if (row_stride % 4 != 0)
    return g_strdup_printf ("the rows have to be a multiple of 4 bytes apart, not %"
                            G_GINT64_FORMAT, row_stride);

  if (n_channels > 1 && address % 4 != 0)
    return g_strdup_printf ("the address 0x%" G_GINT64_MODIFIER "x is not a multiple of 4",
                            address);

  /* Cairo copies whole rows of the stride, and Python sees them as the surface's data. */
  if (needed > get_rest_of_memory (view))
    return g_strdup_printf ("the %" G_GINT64_FORMAT " rows of %" G_GINT64_FORMAT " bytes need %"
                            G_GUINT64_FORMAT " bytes; the memory has %" G_GUINT64_FORMAT,
                            shape[0], row_stride, needed, get_rest_of_memory (view));

  return NULL;
}

static gboolean
check_extents (MtlStridedView     *view,
               const PixelFormat  *format,
               GError            **error)
{
  const gint64 *shape = mtl_strided_view_get_shape (view, NULL);

  if (shape[0] > G_MAXINT16 || shape[1] > G_MAXINT16)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_OVERFLOW,
                   "The view has %" G_GINT64_FORMAT " rows of %" G_GINT64_FORMAT " pixels; Cairo's"
                   " limit is %d for both", shape[0], shape[1], G_MAXINT16);
      return FALSE;
    }

  if (get_row_stride (view, format) <= G_MAXINT)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_OVERFLOW,
               "The rows are %" G_GINT64_FORMAT " bytes apart; Cairo's limit is %d",
               get_row_stride (view, format), G_MAXINT);
  return FALSE;
}

/**
 * mtl_gtk_check_surface:
 * @view: a view of shape [height, width, channels], or [height, width]
 * @format: Cairo's format for the elements
 * @error: return location for a [error@Mtl.Error]
 *
 * Checks that [func@surface_from_view] can share the memory of a view.
 *
 * Errors:
 *
 * - the errors of [func@surface_from_view], other than %MTL_ERROR_NO_MEMORY
 *
 * Returns: %TRUE if it can
 *
 * Since: 1.0
 */
gboolean
mtl_gtk_check_surface (MtlStridedView  *view,
                       cairo_format_t   format,
                       GError         **error)
{
  const PixelFormat *pixel_format;
  g_autofree char *obstacle = NULL;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (view), FALSE);

  pixel_format = find_pixel_format (format, error);
  if (pixel_format == NULL || !check_is_writable (view, error)
      || !check_dtype (view, pixel_format, error) || !check_shape (view, pixel_format, error)
      || !check_extents (view, pixel_format, error))
    return FALSE;

  obstacle = find_obstacle (view, pixel_format);
  if (obstacle == NULL)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_NEEDS_COPY,
               "The view cannot be a surface without a copy, since %s: copy it to the view of a new"
               " surface", obstacle);
  return FALSE;
}

/**
 * mtl_gtk_surface_from_view:
 * @view: a view of shape [height, width, channels], or [height, width]
 * @format: what the elements are to Cairo; see
 *   [func@view_from_surface]
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates an image surface of Cairo that shares the memory of a view, without a
 * copy.
 *
 * The surface keeps the memory alive. Drawing on it writes to the elements:
 * call `cairo_surface_flush()` before you read or write them, and
 * `cairo_surface_mark_dirty()` after you wrote to them.
 *
 * Cairo takes each row to have as many bytes as there are from one row to the
 * next, the last row included. A part of a picture that ends where its memory
 * does may lack some: slice a view of more memory then.
 *
 * ```c
 * cairo_surface_t *surface = mtl_gtk_surface_from_view (pixels, CAIRO_FORMAT_ARGB32, &error);
 *
 * if (surface != NULL)
 *   {
 *     cairo_t *cr = cairo_create (surface);
 *
 *     cairo_paint_with_alpha (cr, 0.5);
 *     cairo_destroy (cr);
 *     cairo_surface_flush (surface);
 *     cairo_surface_destroy (surface);
 *   }
 * ```
 *
 * Errors:
 *
 * - %MTL_ERROR_READ_ONLY: @view is read-only
 * - %MTL_ERROR_NOT_SUPPORTED: a pixel of @format has no whole elements
 * - %MTL_ERROR_INVALID_ARGUMENT: the element type or the shape is not that of
 *   @format, or there are no pixels
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: the host cannot reach the memory
 * - %MTL_ERROR_NEEDS_COPY: the strides are not those of rows of pixels from top
 *   to bottom, or not a multiple of 4 bytes, the memory is not aligned to 4
 *   bytes, or it ends before the last row does
 * - %MTL_ERROR_OVERFLOW: there are more than 32,767 rows or pixels in one, or a
 *   row takes 2 GiB or more
 * - %MTL_ERROR_NO_MEMORY: Cairo could not allocate the surface
 *
 * Returns: (transfer full): the surface
 *
 * Since: 1.0
 */
cairo_surface_t *
mtl_gtk_surface_from_view (MtlStridedView  *view,
                           cairo_format_t   format,
                           GError         **error)
{
  static const cairo_user_data_key_t view_key;
  cairo_surface_t *surface;
  cairo_status_t status;
  const gint64 *shape;
  gint64 row_stride;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (view), NULL);

  if (!mtl_gtk_check_surface (view, format, error))
    return NULL;

  shape = mtl_strided_view_get_shape (view, NULL);
  row_stride = get_row_stride (view, find_pixel_format (format, NULL));
  surface = cairo_image_surface_create_for_data (mtl_strided_view_get_data (view), format,
                                                 shape[1], shape[0], row_stride);
  status = cairo_surface_set_user_data (surface, &view_key, g_object_ref (view), g_object_unref);
  if (status == CAIRO_STATUS_SUCCESS)
    return surface;

  g_set_error (error, MTL_ERROR, MTL_ERROR_NO_MEMORY, "Cairo cannot create a surface: %s",
               cairo_status_to_string (status));
  g_object_unref (view);
  cairo_surface_destroy (surface);
  return NULL;
}
