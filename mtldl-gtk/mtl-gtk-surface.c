/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-gtk-surface.h"

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
               "Cairo's format %d has no whole elements: use ARGB32, RGB24, A8, or the formats of"
               " floats", format);
  return NULL;
}

/* Drawing may follow once the view's memory is no longer used. */
static void
release_surface (gpointer surface)
{
  cairo_surface_mark_dirty (surface);
  cairo_surface_destroy (surface);
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

  if (cairo_surface_get_type (surface) != CAIRO_SURFACE_TYPE_IMAGE)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                   "A surface of Cairo's type %d has no pixels in memory: draw it on an image"
                   " surface", cairo_surface_get_type (surface));
      return FALSE;
    }

  if (cairo_image_surface_get_width (surface) > 0 && cairo_image_surface_get_height (surface) > 0)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "The surface is empty: %d rows of %d pixels",
               cairo_image_surface_get_height (surface), cairo_image_surface_get_width (surface));
  return FALSE;
}

/**
 * mtl_gtk_view_from_surface:
 * @surface: an image surface
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a writable view of the pixels of a surface of Cairo, without a copy.
 *
 * What was drawn is flushed to the pixels first. Before you draw again, end the
 * view, which marks the surface as changed, or call
 * `cairo_surface_mark_dirty()`; before you use the view after drawing, call
 * `cairo_surface_flush()`.
 *
 * | format | type, shape | channels |
 * | --- | --- | --- |
 * | `ARGB32` | `uint8` [height, width, 4] | blue, green, red, opacity on little-endian machines, and the reverse on others; the colors are premultiplied |
 * | `RGB24` | the same | the opacity is not used |
 * | `A8` | `uint8` [height, width] | the opacity |
 * | `RGB96F` | `float32` [height, width, 3] | red, green, blue |
 * | `RGBA128F` | `float32` [height, width, 4] | red, green, blue, opacity; premultiplied |
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
  g_autoptr (MtlStridedLayout) layout = NULL;
  g_autoptr (MtlBuffer) buffer = NULL;
  const PixelFormat *format;
  gint64 shape[3], byte_strides[3], item_size, size;
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

  layout = mtl_strided_layout_new_for_bytes (shape, n_dims, byte_strides, n_dims, 8 * item_size,
                                             error);
  if (layout == NULL)
    return NULL;

  size = mtl_strided_layout_get_required_size (layout, error);
  if (size < 0)
    return NULL;

  cairo_surface_flush (surface);
  buffer = mtl_buffer_new_for_data (NULL, cairo_image_surface_get_data (surface), size,
                                    MTL_BUFFER_FLAGS_NONE, cairo_surface_reference (surface),
                                    release_surface, error);
  if (buffer == NULL)
    return NULL;

  return mtl_strided_view_new (buffer, layout, format->dtype, 0, error);
}
