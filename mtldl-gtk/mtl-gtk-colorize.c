/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-gtk-colorize-private.h"

#include <math.h>
#include <string.h>

#include "mtl-gtk-pixels-private.h"
#include "mtl-gtk-task-private.h"

/* Bytes from 0 on. The last two are for NaN and infinity. */
#define N_STEPS 254
#define NAN_STEP 254
#define INFINITE_STEP 255

/* So many halves of the range away from 0, a product and a sum still have digits enough. */
#define MAX_DISTANCE 0x1p30
/* What numbers are multiplied by if their range is so narrow that its factor might be infinite. */
#define NARROW_SCALE 0x1p900
#define NARROW_RANGE 1e-290

static const guint8 heat[][3] = {
  { 16, 22, 61 }, { 35, 61, 132 }, { 31, 122, 149 }, { 67, 178, 132 }, { 179, 217, 85 },
  { 255, 242, 161 },
};
static const guint8 gray[][3] = { { 0, 0, 0 }, { 255, 255, 255 } };
static const guint8 nan_color[3] = { 224, 27, 36 };
static const guint8 infinite_color[3] = { 192, 97, 203 };

typedef struct
{
  MtlStridedView *view;
  MtlGtkColorMap color_map;
  double low;
  double high;
} Colorize;

/* Memory for blocks of rows. */
typedef struct
{
  MtlStridedView *steps;
  MtlStridedView *floats;      /* NULL: all elements are finite */
  MtlStridedView *differences; /* NULL: the steps are found at once */
  guint8 colors[256][4];
  double scale;  /* of the differences */
  double offset; /* of the differences, or else of the steps */
  double factor; /* of the steps */
} Work;

static void
colorize_free (gpointer data)
{
  Colorize *self = data;

  g_object_unref (self->view);
  g_free (self);
}

static void
work_clear (Work *self)
{
  g_clear_object (&self->steps);
  g_clear_object (&self->floats);
  g_clear_object (&self->differences);
}

static void
mix_colors (guint8       (*colors)[4],
            const guint8 (*ramp)[3],
            int          n_colors)
{
  for (int step = 0; step < N_STEPS; step++)
    {
      const double place = (double) step / (N_STEPS - 1) * (n_colors - 1);
      const int below = MIN ((int) place, n_colors - 2);

      for (int channel = 0; channel < 3; channel++)
        {
          const int low = ramp[below][channel], high = ramp[below + 1][channel];

          colors[step][channel] = low + (high - low) * (place - below) + 0.5;
        }
    }
}

static void
find_colors (guint8         (*colors)[4],
             MtlGtkColorMap  color_map)
{
  if (color_map == MTL_GTK_COLOR_MAP_HEAT)
    mix_colors (colors, heat, G_N_ELEMENTS (heat));
  else
    mix_colors (colors, gray, G_N_ELEMENTS (gray));

  memcpy (colors[NAN_STEP], nan_color, sizeof nan_color);
  memcpy (colors[INFINITE_STEP], infinite_color, sizeof infinite_color);
}

/* What elements are multiplied by to become steps, and what is then added. TRUE: that would not
 * be exact, so they become differences from the first number, and these become steps. */
static gboolean
find_factors (Work   *self,
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

  /* Halves, as the difference of two large numbers may be infinite. */
  extent = high * self->scale / 2 - low * self->scale / 2;
  self->factor = (N_STEPS - 1) / 2.0 / extent;
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
  const guint code = mtl_strided_view_get_dtype_code (view);

  return code == dlpack_integer || code == dlpack_unsigned || code == dlpack_bool;
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
  *block = mtl_strided_view_new_empty (mtl_device_get_host (), dtype, shape, 2, error);
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
  find_colors (self->colors, call->color_map);
  if (find_factors (self, call->low, call->high)
      && !new_block (&self->differences, MTL_DTYPE_FLOAT64, shape, error))
    return FALSE;

  return new_block (&self->steps, MTL_DTYPE_UINT8, shape, error)
         && (has_only_finite (call->view)
             || new_block (&self->floats, find_float_type (call->view), shape, error));
}

/* NaN has become step 0, infinity the first or the last one. */
#define MARK_OTHERS(steps, numbers, n) \
  G_STMT_START \
    { \
      for (gint64 i_ = 0; i_ < (n); i_++) \
        if (!isfinite ((numbers)[i_])) \
          (steps)[i_] = isnan ((numbers)[i_]) ? NAN_STEP : INFINITE_STEP; \
    } \
  G_STMT_END

static void
mark_others (guint8         *steps,
             MtlStridedView *floats,
             gint64          n)
{
  if (mtl_strided_view_get_dtype (floats) == MTL_DTYPE_FLOAT64)
    {
      const double *numbers = mtl_strided_view_get_data (floats);

      MARK_OTHERS (steps, numbers, n);
    }
  else
    {
      const float *numbers = mtl_strided_view_get_data (floats);

      MARK_OTHERS (steps, numbers, n);
    }
}

static void
limit_steps (guint8 *steps,
             gint64  n)
{
  for (gint64 i = 0; i < n; i++)
    steps[i] = MIN (steps[i], N_STEPS - 1);
}

/* Four bytes at once, of which the last is the next pixel's. */
static void
write_colors (guint8       *pixels,
              const guint8  (*colors)[4],
              const guint8 *steps,
              gint64        n)
{
  for (gint64 i = 0; i < n - 1; i++)
    memcpy (pixels + 3 * i, colors[steps[i]], 4);

  memcpy (pixels + 3 * (n - 1), colors[steps[n - 1]], 3);
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
    return mtl_strided_view_copy_scaled_from (steps, source, self->factor, self->offset, error);

  differences = mtl_gtk_select_rows (self->differences, 0, n_rows, error);
  return differences != NULL
         && mtl_strided_view_copy_scaled_from (differences, source, self->scale, self->offset,
                                               error)
         && mtl_strided_view_copy_scaled_from (steps, differences, self->factor, 0, error);
}

static gboolean
colorize_rows (Work            *self,
               MtlStridedView  *source,
               guint8          *pixels,
               GError         **error)
{
  const gint64 n_rows = mtl_strided_view_get_shape (source, NULL)[0];
  const gint64 n = mtl_strided_view_get_volume (source);
  guint8 *data = mtl_strided_view_get_data (self->steps);

  if (!find_steps (self, source, n_rows, error))
    return FALSE;

  limit_steps (data, n);
  if (self->floats != NULL)
    {
      g_autoptr (MtlStridedView) floats = mtl_gtk_select_rows (self->floats, 0, n_rows, error);

      if (floats == NULL || !mtl_strided_view_copy_scaled_from (floats, source, 1, 0, error))
        return FALSE;

      mark_others (data, floats, n);
    }

  write_colors (pixels, self->colors, data, n);
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
      done = rows != NULL && colorize_rows (&work, rows, data + row * shape[1] * 3, error);
    }

  work_clear (&work);
  return done;
}

static MtlStridedView *
colorize (gpointer       data,
          GCancellable  *cancellable,
          GError       **error)
{
  const Colorize *self = data;
  const gint64 *shape = mtl_strided_view_get_shape (self->view, NULL);
  const MtlGtkPixel pixel = { MTL_DTYPE_UINT8, MTL_GTK_CHANNELS_RGB, FALSE };
  g_autoptr (MtlStridedView) pixels = NULL;

  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return NULL;

  pixels = mtl_gtk_pixels_new (&pixel, shape[0], shape[1], error);
  if (pixels == NULL)
    return NULL;

  if (!mtl_strided_view_is_empty (self->view)
      && !colorize_all (self, pixels, cancellable, error))
    return NULL;

  return g_steal_pointer (&pixels);
}

gboolean
mtl_gtk_check_color_map (MtlGtkColorMap   color_map,
                         GError         **error)
{
  if (color_map == MTL_GTK_COLOR_MAP_GRAY || color_map == MTL_GTK_COLOR_MAP_HEAT)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "%d is not a value of MtlGtkColorMap", color_map);
  return FALSE;
}

static gboolean
check_arguments (MtlStridedView  *view,
                 MtlGtkColorMap   color_map,
                 GError         **error)
{
  const guint n_dims = mtl_strided_view_get_n_dims (view);

  if (!mtl_gtk_check_color_map (color_map, error))
    return FALSE;

  if (n_dims == 2 && mtl_strided_view_get_lanes (view) == 1)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "The view has %u dimension%s of elements of %u lane%s; rows of numbers have 2"
               " dimensions and 1 lane", n_dims, n_dims == 1 ? "" : "s",
               mtl_strided_view_get_lanes (view),
               mtl_strided_view_get_lanes (view) == 1 ? "" : "s");
  return FALSE;
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
 * There are 254 colors from @low to @high, in equal steps. Smaller numbers have
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
 * - %MTL_ERROR_INVALID_ARGUMENT: there are not 2 dimensions, or @color_map is
 *   none of the values
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
  Colorize call = { view, color_map, low, high };

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (view), NULL);

  if (!check_arguments (view, color_map, error))
    return NULL;

  return colorize (&call, cancellable, error);
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
  g_autoptr (GTask) task = NULL;
  GError *error = NULL;
  Colorize *call;

  g_return_if_fail (MTL_IS_STRIDED_VIEW (view));

  task = g_task_new (view, cancellable, callback, user_data);
  g_task_set_source_tag (task, mtl_gtk_colorize_async);
  if (!check_arguments (view, color_map, &error))
    {
      g_task_return_error (task, error);
      return;
    }

  call = g_new (Colorize, 1);
  *call = (Colorize) { g_object_ref (view), color_map, low, high };
  g_task_set_task_data (task, call, colorize_free);
  mtl_gtk_task_run (task, colorize);
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
  return mtl_gtk_task_finish (result, mtl_gtk_colorize_async, error);
}
