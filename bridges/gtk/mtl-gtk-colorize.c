/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-gtk-colorize-private.h"

#include <math.h>
#include <string.h>

#include "mtl-async-call-private.h"
#include "mtl-gtk-pixels-private.h"
#include "mtl-gtk-texture-private.h"

/* A product and a sum have enough digits up to this many halves of the range away from 0. */
#define MAX_DISTANCE 0x1p30
/* The factor of numbers whose range is so narrow that its own factor might be infinite. */
#define NARROW_SCALE 0x1p900
#define NARROW_RANGE 1e-290

static const guint8 nan_color[4] = { 224, 27, 36, 255 };
static const guint8 infinite_color[4] = { 192, 97, 203, 255 };

typedef struct
{
  MtlAsyncCall parent; /* unused if the caller waits */

  MtlStridedView *view;
  MtlGtkPalette palette;
  double low;
  double high;
} Colorize;

/* Memory for blocks of rows. */
typedef struct
{
  MtlStridedView *steps;
  MtlStridedView *floats;      /* NULL: all elements are finite */
  MtlStridedView *differences; /* NULL: the steps are found at once */
  double scale;  /* multiplies the differences */
  double offset; /* added to the differences, or else to the steps */
  double factor; /* multiplies the steps */
} Work;

static void
work_clear (Work *self)
{
  g_clear_object (&self->steps);
  g_clear_object (&self->floats);
  g_clear_object (&self->differences);
}

/* The factor and the summand that make steps of elements. TRUE: the steps would not be exact, so
 * the elements become differences from the first number, and these become steps. */
static gboolean
find_factors (Work   *self,
              int     n_steps,
              double  low,
              double  high)
{
  double extent;

  self->scale = 1;
  self->offset = self->factor = 0;
  if (!(high > low) || isinf (low) || isinf (high))
    return FALSE;

  if (high - low < NARROW_RANGE)
    self->scale = NARROW_SCALE;

  /* The range is halved, as the difference of two large numbers may be infinite. */
  extent = high * self->scale / 2 - low * self->scale / 2;
  self->factor = (n_steps - 1) / 2.0 / extent;
  self->offset = -low * self->scale;
  if (self->scale != 1 || fabs (low) > MAX_DISTANCE * extent)
    return TRUE;

  self->offset *= self->factor;
  return FALSE;
}

static gboolean
has_only_finite (MtlStridedView *view)
{
  static const guint dlpack_integer = 0, dlpack_unsigned = 1, dlpack_bool = 6;
  const MtlDType dtype = mtl_strided_view_get_dtype (view);
  const guint code = dtype >> 8;

  return dtype != MTL_DTYPE_OTHER
         && (code == dlpack_integer || code == dlpack_unsigned || code == dlpack_bool);
}

/* A type that has NaN and infinity where the elements have them, and nowhere else. */
static MtlDType
find_float_type (MtlStridedView *view)
{
  const MtlDType dtype = mtl_strided_view_get_dtype (view);

  return dtype == MTL_DTYPE_FLOAT64 || dtype == MTL_DTYPE_COMPLEX128 ? MTL_DTYPE_FLOAT64
                                                                     : MTL_DTYPE_FLOAT32;
}

static gboolean
new_block (MtlStridedView **block,
           MtlDType         dtype,
           const gint64    *shape,
           GError         **error)
{
  *block = mtl_strided_view_new_uninitialized (mtl_device_get_host (), dtype, shape, 2,
                                               MTL_STORAGE_MODE_DEFAULT, error);
  return *block != NULL;
}

static gboolean
work_init (Work            *self,
           const Colorize  *call,
           gint64           n_rows,
           GError         **error)
{
  const gint64 shape[] = { n_rows, mtl_strided_view_get_shape (call->view, NULL)[1] };

  *self = (Work) { NULL };
  if (find_factors (self, call->palette.n_colors, call->low, call->high)
      && !new_block (&self->differences, MTL_DTYPE_FLOAT64, shape, error))
    return FALSE;

  return new_block (&self->steps, MTL_DTYPE_UINT8, shape, error)
         && (has_only_finite (call->view)
             || new_block (&self->floats, find_float_type (call->view), shape, error));
}

/* NaN has the first color now, infinity the first or the last one. */
#define MARK_OTHERS(pixels, n_channels, numbers, n) \
  G_STMT_START \
    { \
      for (gint64 i_ = 0; i_ < (n); i_++) \
        if (!isfinite ((numbers)[i_])) \
          memcpy ((pixels) + i_ * (n_channels), \
                  isnan ((numbers)[i_]) ? nan_color : infinite_color, (n_channels)); \
    } \
  G_STMT_END

static void
mark_others (guint8         *pixels,
             int             n_channels,
             MtlStridedView *floats,
             gint64          n)
{
  if (mtl_strided_view_get_dtype (floats) == MTL_DTYPE_FLOAT64)
    {
      const double *numbers = mtl_strided_view_get_data (floats);

      MARK_OTHERS (pixels, n_channels, numbers, n);
    }
  else
    {
      const float *numbers = mtl_strided_view_get_data (floats);

      MARK_OTHERS (pixels, n_channels, numbers, n);
    }
}

static void
limit_steps (guint8 *steps,
             gint64  n,
             guint8  last)
{
  for (gint64 i = 0; i < n; i++)
    steps[i] = MIN (steps[i], last);
}

/* Copies four bytes at once. If there are 3 channels, the last byte belongs to the next
 * pixel. */
static void
write_colors (guint8              *pixels,
              const MtlGtkPalette *palette,
              const guint8        *steps,
              gint64               n)
{
  const int n_channels = palette->n_channels;

  for (gint64 i = 0; i < n - 1; i++)
    memcpy (pixels + n_channels * i, palette->colors[steps[i]], 4);

  memcpy (pixels + n_channels * (n - 1), palette->colors[steps[n - 1]], n_channels);
}

static gboolean
find_steps (Work            *self,
            MtlStridedView  *source,
            gint64           n_rows,
            GError         **error)
{
  g_autoptr (MtlStridedView) steps = mtl_gtk_select_rows (self->steps, 0, n_rows, error);
  g_autoptr (MtlStridedView) differences = NULL;

  if (steps == NULL)
    return FALSE;

  if (self->differences == NULL)
    return mtl_strided_view_copy_scaled_from (steps, source, self->factor, self->offset, NULL,
                                              error);

  differences = mtl_gtk_select_rows (self->differences, 0, n_rows, error);
  return differences != NULL
         && mtl_strided_view_copy_scaled_from (differences, source, self->scale, self->offset, NULL,
                                               error)
         && mtl_strided_view_copy_scaled_from (steps, differences, self->factor, 0, NULL, error);
}

static gboolean
colorize_rows (Work                 *self,
               const MtlGtkPalette  *palette,
               MtlStridedView       *source,
               guint8               *pixels,
               GError              **error)
{
  const gint64 n_rows = mtl_strided_view_get_shape (source, NULL)[0];
  const gint64 n = mtl_strided_view_get_volume (source);
  guint8 *data = mtl_strided_view_get_data (self->steps);

  if (!find_steps (self, source, n_rows, error))
    return FALSE;

  limit_steps (data, n, palette->n_colors - 1);
  write_colors (pixels, palette, data, n);
  if (self->floats != NULL)
    {
      g_autoptr (MtlStridedView) floats = mtl_gtk_select_rows (self->floats, 0, n_rows, error);

      if (floats == NULL || !mtl_strided_view_copy_scaled_from (floats, source, 1, 0, NULL, error))
        return FALSE;

      mark_others (pixels, palette->n_channels, floats, n);
    }

  return TRUE;
}

static gboolean
colorize_all (const Colorize  *self,
              MtlStridedView  *pixels,
              GCancellable    *cancellable,
              GError         **error)
{
  const gint64 *shape = mtl_strided_view_get_shape (self->view, NULL);
  const gint64 n_rows = MIN (mtl_gtk_rows_per_block (shape[1]), shape[0]);
  const gint64 row_size = shape[1] * self->palette.n_channels;
  guint8 *data = mtl_strided_view_get_data (pixels);
  gboolean done;
  Work work;

  done = work_init (&work, self, n_rows, error);
  for (gint64 row = 0; done && row < shape[0]; row += n_rows)
    {
      g_autoptr (MtlStridedView) rows = NULL;

      done = !g_cancellable_set_error_if_cancelled (cancellable, error);
      if (!done)
        break;

      rows = mtl_gtk_select_rows (self->view, row, MIN (row + n_rows, shape[0]), error);
      done = rows != NULL
             && colorize_rows (&work, &self->palette, rows, data + row * row_size, error);
    }

  work_clear (&work);
  return done;
}

/* Numbers are gray levels if there are no colors. */
static gboolean
copy_gray_levels (MtlStridedView     *pixels,
                  const MtlGtkPixel  *pixel,
                  MtlStridedView     *view,
                  GCancellable       *cancellable,
                  GError            **error)
{
  const MtlGtkPixel gray = { mtl_strided_view_get_dtype (view), MTL_GTK_CHANNELS_GRAY, FALSE };
  g_autoptr (MtlStridedView) levels = mtl_gtk_with_channel_axis (view);

  return mtl_gtk_check_dtype (gray.dtype, error)
         && mtl_gtk_check_is_reachable (view, error)
         && (mtl_strided_view_is_empty (view)
             || mtl_gtk_pixels_convert (pixels, pixel, levels, &gray, cancellable, error));
}

static MtlStridedView *
colorize (const Colorize  *self,
          GCancellable    *cancellable,
          GError         **error)
{
  const gint64 *shape = mtl_strided_view_get_shape (self->view, NULL);
  const MtlGtkPixel pixel = {
    MTL_DTYPE_UINT8,
    self->palette.n_channels == 4 ? MTL_GTK_CHANNELS_RGBA : MTL_GTK_CHANNELS_RGB,
    FALSE,
  };
  g_autoptr (MtlStridedView) pixels = NULL;

  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return NULL;

  pixels = mtl_gtk_pixels_new (&pixel, shape[0], shape[1], error);
  if (pixels == NULL)
    return NULL;

  if (self->palette.n_colors == 0)
    return copy_gray_levels (pixels, &pixel, self->view, cancellable, error)
           ? g_steal_pointer (&pixels) : NULL;

  if (!mtl_strided_view_is_empty (self->view)
      && !colorize_all (self, pixels, cancellable, error))
    return NULL;

  return g_steal_pointer (&pixels);
}

static gpointer
run_colorize (gpointer           view,
              gpointer           call,
              const MtlMonitor  *monitor,
              GError           **error)
{
  return colorize (call, monitor->cancellable, error);
}

static gboolean
check_numbers (MtlStridedView  *view,
               GError         **error)
{
  const guint n_dims = mtl_strided_view_get_n_dims (view);
  const guint n_lanes = mtl_strided_view_get_lanes (view);

  if (n_dims == 2 && n_lanes == 1)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "Numbers need 2 dimensions, rows and columns, and elements with 1 lane; the view has"
               " %u dimension%s and %u lane%s", n_dims, n_dims == 1 ? "" : "s", n_lanes,
               n_lanes == 1 ? "" : "s");
  return FALSE;
}

MtlStridedView *
mtl_gtk_palette_colorize (const MtlGtkPalette  *palette,
                          MtlStridedView       *view,
                          double                low,
                          double                high,
                          GCancellable         *cancellable,
                          GError              **error)
{
  const Colorize call = { .view = view, .palette = *palette, .low = low, .high = high };

  return check_numbers (view, error) ? colorize (&call, cancellable, error) : NULL;
}

/* Starts a call, or fails with the error of the palette. */
static void
begin (MtlStridedView      *view,
       const MtlGtkPalette *palette,
       GError              *error,
       double               low,
       double               high,
       gpointer             tag,
       GCancellable        *cancellable,
       GAsyncReadyCallback  callback,
       gpointer             user_data)
{
  Colorize *call;

  if (error != NULL || !check_numbers (view, &error))
    {
      g_task_report_error (view, callback, user_data, tag, error);
      return;
    }

  call = mtl_async_call_new (sizeof *call, run_colorize, g_object_unref, NULL, G_PRIORITY_DEFAULT);
  call->view = view; /* the task has a reference */
  call->palette = *palette;
  call->low = low;
  call->high = high;
  mtl_async_call_start (call, view, tag, cancellable, callback, user_data);
}

/**
 * mtl_gtk_colorize:
 * @view: a view of shape [height, width]
 * @color_map: the colors
 * @low: the number of the first color
 * @high: the number of the last one
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error]
 *
 * Makes a picture of numbers: a new view of shape [height, width, 3] of red,
 * green and blue as `uint8`.
 *
 * There are 254 colors from @low to @high, in equal steps; without a color map,
 * these are not used. Smaller numbers have
 * the first color, larger ones the last. NaN is red (224, 27, 36) and infinity
 * is violet (192, 97, 203). Of complex numbers, the real part is used. If @high
 * is not above @low, all numbers have the first color.
 *
 * ```c
 * g_autoptr (MtlStridedView) pixels =
 *   mtl_gtk_colorize (matrix, MTL_GTK_COLOR_MAP_HEAT, 0, 1, NULL, &error);
 * g_autoptr (GdkTexture) texture =
 *   pixels != NULL ? mtl_gtk_texture_from_view (pixels, MTL_GTK_CHANNELS_RGB,
 *                                               MTL_GTK_TEXTURE_FLAGS_NONE, &error)
 *                  : NULL;
 * ```
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: there are not 2 dimensions, @color_map is none
 *   of the values, or it is %MTL_GTK_COLOR_MAP_NONE and the elements cannot be
 *   gray levels
 * - %MTL_ERROR_NOT_SUPPORTED: the elements are not numbers
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: the library cannot access the elements
 * - %MTL_ERROR_NO_MEMORY: the pixels cannot be allocated
 * - %G_IO_ERROR_CANCELLED: @cancellable was cancelled
 *
 * Returns: (transfer full): the pixels
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_gtk_colorize (MtlStridedView  *view,
                  MtlGtkColorMap   color_map,
                  double           low,
                  double           high,
                  GCancellable    *cancellable,
                  GError         **error)
{
  MtlGtkPalette palette;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (view), NULL);

  if (!mtl_gtk_palette_init_for_color_map (&palette, color_map, error))
    return NULL;

  return mtl_gtk_palette_colorize (&palette, view, low, high, cancellable, error);
}

/**
 * mtl_gtk_colorize_async:
 * @view: a view of shape [height, width]
 * @color_map: the colors
 * @low: the number of the first color
 * @high: the number of the last one
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called when it is done
 * @user_data: data for @callback
 *
 * Makes a picture of numbers in another thread; see [func@colorize].
 *
 * Since: 1.0
 */
void
mtl_gtk_colorize_async (MtlStridedView      *view,
                        MtlGtkColorMap       color_map,
                        double               low,
                        double               high,
                        GCancellable        *cancellable,
                        GAsyncReadyCallback  callback,
                        gpointer             user_data)
{
  MtlGtkPalette palette;
  GError *error = NULL;

  g_return_if_fail (MTL_IS_STRIDED_VIEW (view));

  mtl_gtk_palette_init_for_color_map (&palette, color_map, &error);
  begin (view, &palette, error, low, high, mtl_gtk_colorize_async, cancellable, callback,
         user_data);
}

/**
 * mtl_gtk_colorize_finish:
 * @result: what the callback was given
 * @error: return location for a [error@Mtl.Error]
 *
 * Ends what [func@colorize_async] began.
 *
 * Errors:
 *
 * - those of [func@colorize]
 *
 * Returns: (transfer full): the pixels
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_gtk_colorize_finish (GAsyncResult  *result,
                         GError       **error)
{
  return mtl_async_call_take_result (NULL, result, mtl_gtk_colorize_async, error);
}

/**
 * mtl_gtk_colorize_with_colors:
 * @view: a view of shape [height, width]
 * @colors: the colors, of shape [n, 3] or [n, 4]
 * @low: the number of the first color
 * @high: the number of the last one
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error]
 *
 * Makes a picture of numbers in colors of your own: a new view of shape
 * [height, width, 3] or [height, width, 4] of `uint8`.
 *
 * There can be 1 to 256 colors of red, green, blue and possibly opacity, not
 * premultiplied: integers from 0 to 255, or floats from 0 to 1, which are
 * rounded. They are for numbers from @low to @high in equal steps, and a number has the
 * color of the nearest step. Numbers beyond these, NaN, infinity and complex
 * numbers are as in [func@MtlGtk.colorize]; NaN and infinity are opaque.
 *
 * ```c
 * static MtlStridedView *
 * show_signs (MtlStridedView  *matrix,
 *             GError         **error)
 * {
 *   static const guint8 colors[] = { 33, 102, 172, 247, 247, 247, 178, 24, 43 };
 *   g_autoptr (GBytes) bytes = g_bytes_new_static (colors, sizeof colors);
 *   g_autoptr (MtlStridedView) blue_white_red =
 *     mtl_strided_view_new_from_bytes (bytes, MTL_DTYPE_UINT8, (gint64[]) { 3, 3 }, 2, error);
 *
 *   return blue_white_red != NULL
 *          ? mtl_gtk_colorize_with_colors (matrix, blue_white_red, -1, 1, NULL, error) : NULL;
 * }
 * ```
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: @view does not have 2 dimensions; or @colors
 *   has another shape, another kind of elements, or one that is out of range
 * - the other errors of [func@MtlGtk.colorize]
 *
 * Returns: (transfer full): the pixels
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_gtk_colorize_with_colors (MtlStridedView  *view,
                              MtlStridedView  *colors,
                              double           low,
                              double           high,
                              GCancellable    *cancellable,
                              GError         **error)
{
  MtlGtkPalette palette;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (view), NULL);
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (colors), NULL);

  if (!mtl_gtk_palette_init_for_view (&palette, colors, error))
    return NULL;

  return mtl_gtk_palette_colorize (&palette, view, low, high, cancellable, error);
}

/**
 * mtl_gtk_colorize_with_colors_async:
 * @view: a view of shape [height, width]
 * @colors: the colors, of shape [n, 3] or [n, 4]
 * @low: the number of the first color
 * @high: the number of the last one
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called when it is done
 * @user_data: data for @callback
 *
 * Makes a picture of numbers in colors of your own in another thread; see
 * [func@colorize_with_colors]. The colors can be written to again after the
 * call.
 *
 * Since: 1.0
 */
void
mtl_gtk_colorize_with_colors_async (MtlStridedView      *view,
                                    MtlStridedView      *colors,
                                    double               low,
                                    double               high,
                                    GCancellable        *cancellable,
                                    GAsyncReadyCallback  callback,
                                    gpointer             user_data)
{
  MtlGtkPalette palette;
  GError *error = NULL;

  g_return_if_fail (MTL_IS_STRIDED_VIEW (view));
  g_return_if_fail (MTL_IS_STRIDED_VIEW (colors));

  mtl_gtk_palette_init_for_view (&palette, colors, &error);
  begin (view, &palette, error, low, high, mtl_gtk_colorize_with_colors_async, cancellable,
         callback, user_data);
}

/**
 * mtl_gtk_colorize_with_colors_finish:
 * @result: what the callback was given
 * @error: return location for a [error@Mtl.Error]
 *
 * Ends what [func@colorize_with_colors_async] began.
 *
 * Errors:
 *
 * - those of [func@colorize_with_colors]
 *
 * Returns: (transfer full): the pixels
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_gtk_colorize_with_colors_finish (GAsyncResult  *result,
                                     GError       **error)
{
  return mtl_async_call_take_result (NULL, result, mtl_gtk_colorize_with_colors_async, error);
}
