/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-gtk-pixels-private.h"

#include <math.h>
#include <string.h>

#define BLOCK_PIXELS (1 << 18)

/* The channels of the floats in which colors are multiplied or divided by the opacity, if
 * those of the result are others; then gray in the place of red. */
#define WORK_COLORS "RGBA"
#define WORK_GRAY "Y--A"

typedef struct
{
  MtlStridedView *view;
  const char *letters;
  double max; /* full light of a channel */
} Pixels;

/* Pixels of four bytes, and two of their channels with room for a product. */
typedef guint32 FourPixels __attribute__ ((vector_size (16)));
typedef guint16 EightNumbers __attribute__ ((vector_size (16)));

static double
get_max (MtlDType dtype)
{
  if (dtype == MTL_DTYPE_UINT8)
    return G_MAXUINT8;

  return dtype == MTL_DTYPE_UINT16 ? G_MAXUINT16 : 1;
}

MtlStridedView *
mtl_gtk_pixels_new (const MtlGtkPixel  *pixel,
                    gint64              height,
                    gint64              width,
                    GError            **error)
{
  const gint64 shape[] = {
    height, width, strlen (mtl_gtk_channels_get_letters (pixel->channels))
  };

  return mtl_strided_view_new_uninitialized (mtl_device_get_host (), pixel->dtype, shape, 3,
                                             MTL_STORAGE_MODE_DEFAULT, error);
}

gint64
mtl_gtk_rows_per_block (gint64 width)
{
  return MAX (BLOCK_PIXELS / MAX (width, 1), 1);
}

MtlStridedView *
mtl_gtk_select_rows (MtlStridedView  *view,
                     gint64           start,
                     gint64           stop,
                     GError         **error)
{
  return mtl_strided_view_narrow (view, 0, start, stop, 1, error);
}

/* The channel of the source that the letter is copied from, or -1 if it is at its
 * maximum. */
static int
find_channel (const Pixels *source,
              char          letter,
              gboolean      premultiplied)
{
  const char *place = strchr (source->letters, letter);

  if (place == NULL && strchr ("RGB", letter) != NULL)
    place = strchr (source->letters, 'Y');

  /* Opacity alone is that of white. */
  if (place == NULL && strchr ("RGBY", letter) != NULL && premultiplied)
    place = strchr (source->letters, 'A');

  return place != NULL ? (int) (place - source->letters) : -1;
}

static MtlStridedView *
select_channels (MtlStridedView  *view,
                 int              first,
                 int              last,
                 GError         **error)
{
  g_autoptr (MtlStridedView) part = mtl_strided_view_narrow (view, 2, MIN (first, last),
                                                             MAX (first, last) + 1, 1, error);

  if (part == NULL || first <= last)
    return g_steal_pointer (&part);

  return mtl_strided_view_flip (part, 2, error);
}

static gboolean
copy_channels (Pixels   *pixels,
               int       first,
               int       n,
               Pixels   *source,
               int       source_first,
               int       source_step,
               GError  **error)
{
  g_autoptr (MtlStridedView) to = select_channels (pixels->view, first, first + n - 1, error);
  g_autoptr (MtlStridedView) from = NULL;

  if (to == NULL)
    return FALSE;

  if (source_first < 0)
    return mtl_strided_view_fill_double (to, pixels->max, NULL, error);

  from = select_channels (source->view, source_first, source_first + source_step * (n - 1), error);
  if (from == NULL)
    return FALSE;

  if (mtl_strided_view_get_dtype (to) == mtl_strided_view_get_dtype (from)
      && pixels->max == source->max)
    return mtl_strided_view_copy_from (to, from, NULL, error);

  return mtl_strided_view_copy_scaled_from (to, from, pixels->max / source->max, 0, NULL, error);
}

/* Counts the channels that come one after the other, in either direction or from the same
 * one. */
static int
count_run (const int *places,
           int        n_places,
           int       *step)
{
  int n = 1;

  *step = n_places > 1 ? places[1] - places[0] : 0;
  if (ABS (*step) <= 1)
    while (n < n_places && (places[n] < 0) == (places[0] < 0)
           && places[n] == places[0] + n * *step)
      n++;

  return n;
}

static gboolean
copy_pixels (Pixels    *pixels,
             Pixels    *source,
             gboolean   premultiplied,
             GError   **error)
{
  const int n_channels = strlen (pixels->letters);
  int places[4], n, step;

  for (int i = 0; i < n_channels; i++)
    places[i] = find_channel (source, pixels->letters[i], premultiplied);

  for (int i = 0; i < n_channels; i += n)
    {
      n = count_run (places + i, n_channels - i, &step);
      if (!copy_channels (pixels, i, n, source, places[i], step, error))
        return FALSE;
    }

  return TRUE;
}

/* Divided by 255 and rounded, which is exact for all products of two bytes. */
static inline FourPixels
multiply_channels (FourPixels channels,
                   FourPixels opacity)
{
  EightNumbers products = (EightNumbers) channels * (EightNumbers) opacity + 128;

  return (FourPixels) ((products + (products >> 8)) >> 8);
}

static inline FourPixels
multiply_four (FourPixels pixels,
               int        alpha_shift)
{
  FourPixels opacity = pixels >> alpha_shift & 0xff;

  opacity |= opacity << 16;
  pixels |= 0xffu << alpha_shift; /* keeps the opacity as it is */
  return multiply_channels (pixels & 0x00ff00ff, opacity)
         | multiply_channels (pixels >> 8 & 0x00ff00ff, opacity) << 8;
}

static void
multiply_row (guint8 *pixels,
              gint64  n,
              int     alpha_place)
{
  const int alpha_shift = 8 * (G_BYTE_ORDER == G_LITTLE_ENDIAN ? alpha_place : 3 - alpha_place);
  FourPixels four = { 0 };

  for (; n >= 4; n -= 4, pixels += sizeof four)
    {
      memcpy (&four, pixels, sizeof four);
      four = multiply_four (four, alpha_shift);
      memcpy (pixels, &four, sizeof four);
    }

  memcpy (&four, pixels, 4 * n);
  four = multiply_four (four, alpha_shift);
  memcpy (pixels, &four, 4 * n);
}

static void
multiply_bytes (Pixels *pixels)
{
  const gint64 *shape = mtl_strided_view_get_shape (pixels->view, NULL);
  const gint64 row_stride = mtl_strided_view_get_strides (pixels->view, NULL)[0];
  const int alpha_place = strchr (pixels->letters, 'A') - pixels->letters;
  guint8 *data = mtl_strided_view_get_data (pixels->view);

  for (gint64 row = 0; row < shape[0]; row++)
    multiply_row (data + row * row_stride, shape[1], alpha_place);
}

static void
scale_colors (float *pixel,
              int    alpha_place,
              float  factor)
{
  const float alpha = pixel[alpha_place];

  for (int channel = 0; channel < 4; channel++)
    pixel[channel] *= factor;
  pixel[alpha_place] = alpha;
}

static void
multiply (float *pixels,
          gint64 n,
          int    alpha_place,
          float  max)
{
  for (gint64 i = 0; i < n; i++)
    scale_colors (pixels + 4 * i, alpha_place, pixels[4 * i + alpha_place] / max);
}

static void
divide_colors (float *pixel,
               int    alpha_place,
               float  max)
{
  const float alpha = pixel[alpha_place];

  for (int channel = 0; channel < 4; channel++)
    pixel[channel] = pixel[channel] / alpha * max;
  pixel[alpha_place] = alpha;
}

static void
divide (float *pixels,
        gint64 n,
        int    alpha_place,
        float  max)
{
  for (gint64 i = 0; i < n; i++)
    {
      const float factor = max / pixels[4 * i + alpha_place];

      if (isfinite (factor))
        scale_colors (pixels + 4 * i, alpha_place, factor);
      else if (pixels[4 * i + alpha_place] != 0)
        divide_colors (pixels + 4 * i, alpha_place, max);
    }
}

/* The sum of large floats is infinite, and that of doubles is slower. */
static float
find_mean (const float *pixel)
{
  const float sum = pixel[0] + pixel[1] + pixel[2];

  return isfinite (sum) ? sum / 3 : ((double) pixel[0] + pixel[1] + pixel[2]) / 3;
}

static void
make_gray (float  *pixels,
           gint64  n)
{
  for (gint64 i = 0; i < n; i++)
    pixels[4 * i] = find_mean (pixels + 4 * i);
}

static gboolean
is_gray (const MtlGtkPixel *pixel)
{
  return strchr (mtl_gtk_channels_get_letters (pixel->channels), 'Y') != NULL;
}

/* Opacity alone has no colors to convert. */
static gboolean
converts_colors (const MtlGtkPixel *pixel,
                 const MtlGtkPixel *source_pixel)
{
  if (pixel->channels == MTL_GTK_CHANNELS_ALPHA || source_pixel->channels == MTL_GTK_CHANNELS_ALPHA)
    return FALSE;

  if (is_gray (pixel) && !is_gray (source_pixel))
    return TRUE;

  return (mtl_gtk_channels_have_alpha (source_pixel->channels)
          && !pixel->premultiplied != !source_pixel->premultiplied);
}

/* This needs no other memory: the colors are copied, and multiplied there. */
static gboolean
multiplies_bytes (const MtlGtkPixel *pixel,
                  const MtlGtkPixel *source_pixel)
{
  return converts_colors (pixel, source_pixel) && pixel->premultiplied && !is_gray (pixel)
         && mtl_gtk_channels_have_alpha (pixel->channels)
         && pixel->dtype == MTL_DTYPE_UINT8 && source_pixel->dtype == MTL_DTYPE_UINT8;
}

/* The numbers keep the scale of the source. */
static gboolean
convert_colors (Pixels             *pixels,
                const MtlGtkPixel  *pixel,
                Pixels             *source,
                const MtlGtkPixel  *source_pixel,
                MtlStridedView     *memory,
                GError            **error)
{
  const gboolean keeps_order = strlen (pixels->letters) == 4
                               && mtl_gtk_channels_have_alpha (pixel->channels);
  Pixels numbers = { memory, keeps_order ? pixels->letters : WORK_COLORS, source->max };
  const int alpha_place = strchr (numbers.letters, 'A') - numbers.letters;
  float *data = mtl_strided_view_get_data (memory);
  const gint64 n = mtl_strided_view_get_volume (memory) / 4;

  if (!copy_pixels (&numbers, source, source_pixel->premultiplied, error))
    return FALSE;

  if (pixel->premultiplied && !source_pixel->premultiplied)
    multiply (data, n, alpha_place, source->max);
  else if (source_pixel->premultiplied && !pixel->premultiplied)
    divide (data, n, alpha_place, source->max);

  if (is_gray (pixel) && !is_gray (source_pixel))
    make_gray (data, n);

  if (is_gray (pixel))
    numbers.letters = WORK_GRAY;
  return copy_pixels (pixels, &numbers, pixel->premultiplied, error);
}

static gboolean
convert_rows (MtlStridedView     *rows,
              const MtlGtkPixel  *pixel,
              MtlStridedView     *source_rows,
              const MtlGtkPixel  *source_pixel,
              MtlStridedView     *memory,
              GError            **error)
{
  Pixels pixels = {
    rows, mtl_gtk_channels_get_letters (pixel->channels), get_max (pixel->dtype)
  };
  Pixels source = {
    source_rows, mtl_gtk_channels_get_letters (source_pixel->channels),
    get_max (source_pixel->dtype)
  };

  if (memory != NULL)
    return convert_colors (&pixels, pixel, &source, source_pixel, memory, error);

  if (!copy_pixels (&pixels, &source, pixel->premultiplied, error))
    return FALSE;

  if (multiplies_bytes (pixel, source_pixel))
    multiply_bytes (&pixels);

  return TRUE;
}

static MtlStridedView *
new_work_memory (gint64    n_rows,
                 gint64    width,
                 GError  **error)
{
  const MtlGtkPixel pixel = { MTL_DTYPE_FLOAT32, MTL_GTK_CHANNELS_RGBA, FALSE };

  return mtl_gtk_pixels_new (&pixel, n_rows, width, error);
}

/* Both views have the shape [height, width, channels]; pixels and their channels are adjacent
 * in the rows of the first one. */
gboolean
mtl_gtk_pixels_convert (MtlStridedView     *pixels,
                        const MtlGtkPixel  *pixel,
                        MtlStridedView     *source,
                        const MtlGtkPixel  *source_pixel,
                        GCancellable       *cancellable,
                        GError            **error)
{
  g_autoptr (MtlStridedView) memory = NULL;
  const gint64 *shape = mtl_strided_view_get_shape (pixels, NULL);
  const gint64 n_rows = MIN (mtl_gtk_rows_per_block (shape[1]), shape[0]);

  if (converts_colors (pixel, source_pixel) && !multiplies_bytes (pixel, source_pixel))
    {
      memory = new_work_memory (n_rows, shape[1], error);
      if (memory == NULL)
        return FALSE;
    }

  for (gint64 row = 0; row < shape[0]; row += n_rows)
    {
      const gint64 stop = MIN (row + n_rows, shape[0]);
      g_autoptr (MtlStridedView) rows = NULL, source_rows = NULL, memory_rows = NULL;

      if (g_cancellable_set_error_if_cancelled (cancellable, error))
        return FALSE;

      rows = mtl_gtk_select_rows (pixels, row, stop, error);
      source_rows = rows != NULL ? mtl_gtk_select_rows (source, row, stop, error) : NULL;
      if (source_rows == NULL)
        return FALSE;

      if (memory != NULL)
        {
          memory_rows = mtl_gtk_select_rows (memory, 0, stop - row, error);
          if (memory_rows == NULL)
            return FALSE;
        }

      if (!convert_rows (rows, pixel, source_rows, source_pixel, memory_rows, error))
        return FALSE;
    }

  return TRUE;
}
