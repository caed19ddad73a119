/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-gtk-palette-private.h"

#include "mtl-gtk-texture-private.h"
#include "mtl-message-text-private.h"

/* The colors of the maps that come with the library. */
#define N_STEPS 254
#define MAX_COLORS 256

static const guint8 heat[][3] = {
  { 16, 22, 61 }, { 35, 61, 132 }, { 31, 122, 149 }, { 67, 178, 132 }, { 179, 217, 85 },
  { 255, 242, 161 },
};
static const guint8 gray[][3] = { { 0, 0, 0 }, { 255, 255, 255 } };

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

gboolean
mtl_gtk_palette_init_for_color_map (MtlGtkPalette   *palette,
                                    MtlGtkColorMap   color_map,
                                    GError         **error)
{
  *palette = (MtlGtkPalette) { .n_colors = N_STEPS, .n_channels = 3 };
  switch (color_map)
    {
    case MTL_GTK_COLOR_MAP_NONE:
      palette->n_colors = 0;
      return TRUE;
    case MTL_GTK_COLOR_MAP_GRAY:
      mix_colors (palette->colors, gray, G_N_ELEMENTS (gray));
      return TRUE;
    case MTL_GTK_COLOR_MAP_HEAT:
      mix_colors (palette->colors, heat, G_N_ELEMENTS (heat));
      return TRUE;
    default:
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "%d is not a value of MtlGtkColorMap", color_map);
      return FALSE;
    }
}

static gboolean
check_shape (MtlStridedView  *colors,
             GError         **error)
{
  g_autofree char *string = NULL;
  const gint64 *shape;
  gsize n_dims;

  shape = mtl_strided_view_get_shape (colors, &n_dims);
  if (n_dims == 2 && shape[0] >= 1 && shape[0] <= MAX_COLORS && (shape[1] == 3 || shape[1] == 4))
    return TRUE;

  string = mtl_dims_to_string (shape, n_dims);
  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "The colors have the shape %s; it has to be (n, 3) or (n, 4) with n from 1 to %d",
               string, MAX_COLORS);
  return FALSE;
}

/* Finds the number of full intensity, by DLPack's codes of types. */
static gboolean
find_full_intensity (MtlStridedView  *colors,
                     double          *full,
                     GError         **error)
{
  static const guint integer = 0, unsigned_integer = 1, floating = 2, bfloat = 4;
  const MtlDType dtype = mtl_strided_view_get_dtype (colors);
  const guint code = dtype >> 8;
  g_autofree char *name = NULL;

  *full = dtype != MTL_DTYPE_OTHER && (code == integer || code == unsigned_integer) ? 255 : 1;
  if ((*full == 255 || code == floating || code == bfloat)
      && mtl_strided_view_get_lanes (colors) == 1)
    return TRUE;

  name = mtl_dtype_to_string (dtype);
  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "The colors are elements of %s with %u lanes; they have to be integers from 0 to"
               " 255, or floats from 0 to 1, with 1 lane", name,
               mtl_strided_view_get_lanes (colors));
  return FALSE;
}

static gboolean
check_range (const double  *numbers,
             const gint64  *shape,
             double         full,
             GError       **error)
{
  for (gint64 i = 0; i < shape[0] * shape[1]; i++)
    if (!(numbers[i] >= 0 && numbers[i] <= full))
      {
        g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                     "Channel %" G_GINT64_FORMAT " of color %" G_GINT64_FORMAT " is %.9g; colors of"
                     " %s have to be from 0 to %g", i % shape[1], i / shape[1], numbers[i],
                     full == 255 ? "integers" : "floats", full);
        return FALSE;
      }

  return TRUE;
}

gboolean
mtl_gtk_palette_init_for_view (MtlGtkPalette   *palette,
                               MtlStridedView  *colors,
                               GError         **error)
{
  g_autoptr (MtlStridedView) numbers = NULL;
  const gint64 *shape;
  const double *data;
  double full;

  if (!check_shape (colors, error) || !find_full_intensity (colors, &full, error))
    return FALSE;

  shape = mtl_strided_view_get_shape (colors, NULL);
  numbers = mtl_strided_view_new_uninitialized (mtl_device_get_host (), MTL_DTYPE_FLOAT64, shape, 2,
                                                MTL_STORAGE_MODE_DEFAULT, error);
  if (numbers == NULL || !mtl_strided_view_copy_from (numbers, colors, NULL, error))
    return FALSE;

  data = mtl_strided_view_get_data (numbers);
  if (!check_range (data, shape, full, error))
    return FALSE;

  *palette = (MtlGtkPalette) { .n_colors = shape[0], .n_channels = shape[1] };
  for (gint64 i = 0; i < shape[0] * shape[1]; i++)
    palette->colors[i / shape[1]][i % shape[1]] = data[i] * (255 / full) + 0.5;
  return TRUE;
}
