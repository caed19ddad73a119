/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "test-gtk-utils.h"

#include "test-device.h"

static const int heat[6][3] = {
  { 16, 22, 61 }, { 35, 61, 132 }, { 31, 122, 149 }, { 67, 178, 132 }, { 179, 217, 85 },
  { 255, 242, 161 },
};

static MtlStridedView *
colorize (MtlStridedView *view,
          MtlGtkColorMap  color_map,
          double          low,
          double          high)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *pixels = mtl_gtk_colorize (view, color_map, low, high, NULL, &error);
  const gint64 *shape = mtl_strided_view_get_shape (view, NULL);

  g_assert_no_error (error);
  g_assert_cmpint (mtl_strided_view_get_dtype (pixels), ==, MTL_DTYPE_UINT8);
  assert_view_shape (pixels, shape[0], shape[1], 3);
  g_assert_true (mtl_strided_view_is_contiguous (pixels, MTL_ORDER_C));
  return pixels;
}

/* Computes a color in whole numbers. */
static int
get_color (MtlGtkColorMap color_map,
           int            step,
           int            channel)
{
  const int n_parts = color_map == MTL_GTK_COLOR_MAP_HEAT ? 5 : 1;
  const int below = MIN (step * n_parts / 253, n_parts - 1);
  const int rest = step * n_parts - below * 253;
  const int low = color_map == MTL_GTK_COLOR_MAP_HEAT ? heat[below][channel] : 0;
  const int high = color_map == MTL_GTK_COLOR_MAP_HEAT ? heat[below + 1][channel] : 255;

  return (2 * (low * 253 + (high - low) * rest) + 253) / 506;
}

/* Scaled so that no difference is infinite or lacks digits, where long double has the range
 * of double, too. */
static long double
get_exact_step (double value,
                double low,
                double high,
                int    last)
{
  long double start, extent, step;
  int exponent;

  if (last == 0 || !(high > low) || isinf (high) || isinf (low))
    return 0;

  frexp (MAX (fabs (low), fabs (high)), &exponent);
  start = ldexpl (low, -exponent);
  extent = ldexpl (high, -exponent) - start;
  step = (ldexpl (value, -exponent) - start) / extent * last;
  return CLAMP (step, 0, last);
}

static gboolean
has_color (const guint8   *pixel,
           MtlGtkColorMap  color_map,
           int             step)
{
  for (int channel = 0; channel < 3; channel++)
    if (pixel[channel] != get_color (color_map, step, channel))
      return FALSE;

  return TRUE;
}

/* Halfway between two steps, either is right. */
static void
assert_pixel (const guint8   *pixel,
              double          value,
              MtlGtkColorMap  color_map,
              double          low,
              double          high)
{
  static const guint8 nan_color[] = { 224, 27, 36 }, infinite_color[] = { 192, 97, 203 };
  const long double step = get_exact_step (value, low, high, 253), tolerance = 1e-4;

  if (isnan (value))
    g_assert_cmpmem (pixel, 3, nan_color, 3);
  else if (isinf (value))
    g_assert_cmpmem (pixel, 3, infinite_color, 3);
  else if (!has_color (pixel, color_map, rintl (step - tolerance))
           && !has_color (pixel, color_map, rintl (step + tolerance)))
    g_error ("%.17g from %.17g to %.17g is step %Lg, not (%d, %d, %d)", value, low, high, step,
             pixel[0], pixel[1], pixel[2]);
}

static void
assert_colored (MtlStridedView *view,
                MtlGtkColorMap  color_map,
                double          low,
                double          high)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) pixels = colorize (view, color_map, low, high);
  g_autoptr (MtlStridedView) doubles = mtl_strided_view_to_dtype (view, MTL_DTYPE_FLOAT64,
                                                                  MTL_ORDER_C, NULL, &error);
  g_autoptr (GBytes) bytes = NULL;
  const guint8 *data = mtl_strided_view_get_data (pixels);
  const double *values;

  g_assert_no_error (error);
  bytes = mtl_strided_view_dup_bytes (doubles, NULL, &error);
  g_assert_no_error (error);
  values = g_bytes_get_data (bytes, NULL);
  for (gint64 i = 0; i < mtl_strided_view_get_volume (view); i++)
    assert_pixel (data + 3 * i, values[i], color_map, low, high);
}

/* The colors that the ends and one between have been since the first version. */
static void
test_known_colors (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) steps =
    mtl_strided_view_new_from_doubles (DOUBLES (0, 100, 253, -1, 300, NAN, -INFINITY),
                                       MTL_DTYPE_FLOAT32, DIMS (1, 7), &error);
  g_autoptr (MtlStridedView) warm = colorize (steps, MTL_GTK_COLOR_MAP_HEAT, 0, 253);
  g_autoptr (MtlStridedView) plain = colorize (steps, MTL_GTK_COLOR_MAP_GRAY, 0, 253);

  assert_elements (warm, 16, 22, 61, 31, 121, 149, 255, 242, 161, 16, 22, 61, 255, 242, 161,
                   224, 27, 36, 192, 97, 203);
  assert_elements (plain, 0, 0, 0, 101, 101, 101, 255, 255, 255, 0, 0, 0, 255, 255, 255,
                   224, 27, 36, 192, 97, 203);
}

static const MtlDType dtypes[] = {
  MTL_DTYPE_BOOL, MTL_DTYPE_INT8, MTL_DTYPE_INT16, MTL_DTYPE_INT32, MTL_DTYPE_INT64,
  MTL_DTYPE_UINT8, MTL_DTYPE_UINT16, MTL_DTYPE_UINT32, MTL_DTYPE_UINT64, MTL_DTYPE_INT4,
  MTL_DTYPE_UINT2, MTL_DTYPE_FLOAT16, MTL_DTYPE_FLOAT32, MTL_DTYPE_FLOAT64, MTL_DTYPE_BFLOAT16,
  MTL_DTYPE_FLOAT8_E4M3FN, MTL_DTYPE_FLOAT8_E5M2, MTL_DTYPE_FLOAT6_E3M2FN,
  MTL_DTYPE_FLOAT4_E2M1FN,
};

/* Any bits are some number, or NaN, or infinity. */
static void
test_dtypes (void)
{
  static const double scales[][2] = {
    { 0, 1 }, { -100, 100 }, { -1e9, 3e18 }, { -1e308, 1e308 }, { 0, 5e-324 }, { 2, 2 }, { 3, 1 },
    { -INFINITY, 1 }, { NAN, 1 }, { 1.7e308, 1.79e308 }, { 0, 1e-320 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (dtypes); i++)
    {
      g_autoptr (MtlStridedView) view = host_zeros (dtypes[i], DIMS (16, 24));
      guint8 *data = mtl_strided_view_get_data (view);

      for (gsize j = 0; j < 16 * 24 * mtl_dtype_get_bits (dtypes[i]) / 8; j++)
        data[j] = dtypes[i] == MTL_DTYPE_BOOL ? g_test_rand_bit ()
                                              : g_test_rand_int_range (0, 256);
      for (gsize j = 0; j < G_N_ELEMENTS (scales); j++)
        for (MtlGtkColorMap map = MTL_GTK_COLOR_MAP_GRAY; map <= MTL_GTK_COLOR_MAP_HEAT; map++)
          assert_colored (view, map, scales[j][0], scales[j][1]);
    }
}

/* Random colors of the shape [n_colors, n_channels], as bytes and in one of the types. */
static MtlStridedView *
new_colors (MtlDType dtype,
            int      n_colors,
            int      n_channels,
            guint8 (*expected)[4])
{
  MtlStridedView *colors = host_zeros (dtype, DIMS (n_colors, n_channels));
  const double full = dtype == MTL_DTYPE_UINT8 || dtype == MTL_DTYPE_INT16 ? 255 : 1;

  for (int i = 0; i < n_colors; i++)
    for (int channel = 0; channel < n_channels; channel++)
      {
        const gint64 indices[] = { i, channel };
        g_autoptr (GError) error = NULL;

        expected[i][channel] = g_test_rand_int_range (0, 256);
        g_assert_true (mtl_strided_view_set_double (colors, indices, 2,
                                                    expected[i][channel] / 255.0 * full, &error));
      }

  return colors;
}

static void
assert_pixel_has_color (const guint8  *pixel,
                        double         value,
                        const guint8 (*colors)[4],
                        int            n_colors,
                        int            n_channels,
                        double         low,
                        double         high)
{
  static const guint8 nan_color[] = { 224, 27, 36, 255 };
  static const guint8 infinite_color[] = { 192, 97, 203, 255 };
  const long double step = get_exact_step (value, low, high, n_colors - 1), tolerance = 1e-4;

  if (isnan (value))
    g_assert_cmpmem (pixel, n_channels, nan_color, n_channels);
  else if (isinf (value))
    g_assert_cmpmem (pixel, n_channels, infinite_color, n_channels);
  else if (memcmp (pixel, colors[(int) rintl (step - tolerance)], n_channels) != 0)
    g_assert_cmpmem (pixel, n_channels, colors[(int) rintl (step + tolerance)], n_channels);
}

static void
assert_in_colors (MtlStridedView  *view,
                  MtlStridedView  *colors,
                  const guint8   (*expected)[4],
                  double           low,
                  double           high)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) pixels =
    mtl_gtk_colorize_with_colors (view, colors, low, high, NULL, &error);
  g_autoptr (MtlStridedView) doubles = mtl_strided_view_to_dtype (view, MTL_DTYPE_FLOAT64,
                                                                  MTL_ORDER_C, NULL, NULL);
  const gint64 *shape = mtl_strided_view_get_shape (view, NULL);
  const int n_colors = mtl_strided_view_get_shape (colors, NULL)[0];
  const int n_channels = mtl_strided_view_get_shape (colors, NULL)[1];
  const double *values = mtl_strided_view_get_data (doubles);
  const guint8 *data;

  g_assert_no_error (error);
  assert_view_shape (pixels, shape[0], shape[1], n_channels);
  data = mtl_strided_view_get_data (pixels);
  for (gint64 i = 0; i < mtl_strided_view_get_volume (view); i++)
    assert_pixel_has_color (data + n_channels * i, values[i], expected, n_colors, n_channels, low,
                            high);
}

/* Any number of colors, of all that they can be, for any bits. */
static void
test_own_colors (void)
{
  static const MtlDType color_types[] = { MTL_DTYPE_UINT8, MTL_DTYPE_INT16, MTL_DTYPE_FLOAT32,
                                          MTL_DTYPE_FLOAT64 };
  static const double scales[][2] = {
    { 0, 1 }, { -100, 100 }, { 0, 255 }, { -1e308, 1e308 }, { 2, 2 }, { NAN, 1 }, { 0, 1e-320 },
  };

  for (int i = 0; i < 400; i++)
    {
      const MtlDType dtype = dtypes[i % G_N_ELEMENTS (dtypes)];
      const double *scale = scales[g_test_rand_int_range (0, G_N_ELEMENTS (scales))];
      const int n_colors = i % 3 == 0 ? 256 : g_test_rand_int_range (1, 257);
      g_autoptr (MtlStridedView) view = host_zeros (dtype, DIMS (16, 24));
      g_autoptr (MtlStridedView) colors = NULL;
      guint8 expected[256][4];
      guint8 *data = mtl_strided_view_get_data (view);

      for (gsize j = 0; j < 16 * 24 * mtl_dtype_get_bits (dtype) / 8; j++)
        data[j] = dtype == MTL_DTYPE_BOOL ? g_test_rand_bit () : g_test_rand_int_range (0, 256);
      colors = new_colors (color_types[i % G_N_ELEMENTS (color_types)], n_colors,
                           g_test_rand_bit () ? 3 : 4, expected);
      assert_in_colors (view, colors, (const guint8 (*)[4]) expected, scale[0], scale[1]);
    }
}

static void
assert_colors_refused (MtlStridedView *colors,
                       const char     *values)
{
  g_autoptr (MtlStridedView) owned = colors;
  g_autoptr (MtlStridedView) view = host_zeros (MTL_DTYPE_FLOAT32, DIMS (3, 5));

  assert_fails (mtl_gtk_colorize_with_colors (view, colors, 0, 1, NULL, &error),
                MTL_ERROR_INVALID_ARGUMENT, values);
}

static void
test_refused_colors (void)
{
  g_autoptr (MtlStridedView) line = host_zeros (MTL_DTYPE_FLOAT32, DIMS (3));
  g_autoptr (MtlStridedView) colors = host_zeros (MTL_DTYPE_UINT8, DIMS (2, 3));

  assert_colors_refused (host_zeros (MTL_DTYPE_UINT8, DIMS (3)), "(3,)");
  assert_colors_refused (host_zeros (MTL_DTYPE_UINT8, DIMS (0, 3)), "(0, 3)");
  assert_colors_refused (host_zeros (MTL_DTYPE_UINT8, DIMS (257, 3)), "(257, 3)");
  assert_colors_refused (host_zeros (MTL_DTYPE_UINT8, DIMS (4, 2)), "(4, 2)");
  assert_colors_refused (host_zeros (MTL_DTYPE_UINT8, DIMS (4, 5)), "(4, 5)");
  assert_colors_refused (host_zeros (MTL_DTYPE_BOOL, DIMS (4, 3)), "bool");
  assert_colors_refused (host_zeros (MTL_DTYPE_COMPLEX64, DIMS (4, 3)), "complex64");
  assert_colors_refused (host_zeros (MTL_DTYPE_OPAQUE_HANDLE32, DIMS (4, 3)), "opaque_handle32");
  assert_colors_refused (from_doubles (MTL_DTYPE_FLOAT32, DIMS (2, 3),
                                              DOUBLES (0, 0, 0, 0, 255, 0)), "1 & 255");
  assert_colors_refused (from_doubles (MTL_DTYPE_FLOAT64, DIMS (1, 3),
                                              DOUBLES (0, NAN, 0)), "nan");
  assert_colors_refused (from_doubles (MTL_DTYPE_INT32, DIMS (1, 3),
                                              DOUBLES (-1, 0, 256)), "-1");
  assert_colors_refused (from_doubles (MTL_DTYPE_INT32, DIMS (1, 3),
                                              DOUBLES (1, 0, 256)), "256");
  assert_fails (mtl_gtk_colorize_with_colors (line, colors, 0, 1, NULL, &error),
                MTL_ERROR_INVALID_ARGUMENT, "1");
}

static void
test_special_values (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view =
    mtl_strided_view_new_from_doubles (DOUBLES (NAN, INFINITY, -INFINITY, 1.79769e308,
                                                  -1.79769e308, 5e-324, -0.0, 0, 1, -1, 0.5, 1e300),
                                         MTL_DTYPE_FLOAT64, DIMS (2, 6), &error);
  g_autoptr (MtlStridedView) integers = host_zeros (MTL_DTYPE_INT64, DIMS (1, 3));
  gint64 *data = mtl_strided_view_get_data (integers);

  assert_colored (view, MTL_GTK_COLOR_MAP_HEAT, 0, 1);
  assert_colored (view, MTL_GTK_COLOR_MAP_HEAT, -1.79769e308, 1.79769e308);

  data[0] = G_MININT64;
  data[1] = G_MAXINT64;
  data[2] = 1;
  assert_colored (integers, MTL_GTK_COLOR_MAP_HEAT, G_MININT64, (double) G_MAXINT64);
}

static void
assert_gray_levels (MtlStridedView *view,
                    double          low,
                    double          high,
                    guint8          first,
                    guint8          second,
                    guint8          third)
{
  g_autoptr (MtlStridedView) pixels = colorize (view, MTL_GTK_COLOR_MAP_GRAY, low, high);

  assert_elements (pixels, first, first, first, second, second, second, third, third, third);
}

/* Ranges that are narrow beside their numbers, and such of tiny numbers. */
static void
test_narrow_ranges (void)
{
  const double low = 6394464320723157;
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) large =
    mtl_strided_view_new_from_doubles (DOUBLES (low, low + 1, low + 2), MTL_DTYPE_FLOAT64,
                                       DIMS (1, 3), &error);
  g_autoptr (MtlStridedView) integers = mtl_strided_view_to_dtype (large, MTL_DTYPE_INT64,
                                                                   MTL_ORDER_C, NULL, &error);
  g_autoptr (MtlStridedView) complexes =
    mtl_strided_view_to_dtype (large, MTL_DTYPE_COMPLEX128, MTL_ORDER_C, NULL, &error);
  g_autoptr (MtlStridedView) tiny =
    mtl_strided_view_new_from_doubles (DOUBLES (0, 2.5e-311, 1e-310), MTL_DTYPE_FLOAT64,
                                       DIMS (1, 3), &error);
  g_autoptr (MtlStridedView) ones =
    mtl_strided_view_new_from_doubles (DOUBLES (-1, 0, 1), MTL_DTYPE_FLOAT32, DIMS (1, 3), &error);
  g_autoptr (MtlStridedView) others =
    mtl_strided_view_new_from_doubles (DOUBLES (NAN, -INFINITY, low + 2), MTL_DTYPE_FLOAT64,
                                       DIMS (1, 3), &error);

  g_assert_no_error (error);
  assert_gray_levels (large, low, low + 2, 0, 127, 255);
  assert_gray_levels (integers, low, low + 2, 0, 127, 255);
  assert_gray_levels (complexes, low, low + 2, 0, 127, 255);
  assert_gray_levels (tiny, 0, 1e-310, 0, 63, 255);
  assert_gray_levels (ones, 0, 5e-324, 0, 0, 255);
  assert_colored (others, MTL_GTK_COLOR_MAP_HEAT, low, low + 2);
}

static double
get_random_number (void)
{
  return ldexp (g_test_rand_double_range (-1, 1), g_test_rand_int_range (-1074, 1025));
}

static double
get_random_element (double low,
                    double high)
{
  const double place = g_test_rand_double ();

  switch (g_test_rand_int_range (0, 8))
    {
    case 0:
      return low;
    case 1:
      return high;
    case 2:
      return nextafter (low, g_test_rand_bit () ? INFINITY : -INFINITY);
    case 3:
      return nextafter (high, g_test_rand_bit () ? INFINITY : -INFINITY);
    case 4:
      return get_random_number ();
    default:
      return low * (1 - place) + high * place;
    }
}

/* Ranges of all magnitudes, which may be as narrow as one unit in the last place. */
static void
test_random_ranges (void)
{
  for (int i = 0; i < 3000; i++)
    {
      const MtlDType dtype = g_test_rand_bit () ? MTL_DTYPE_FLOAT64 : MTL_DTYPE_FLOAT32;
      const double low = i % 16 == 0 ? 0 : get_random_number ();
      const double extent = i % 2 == 0 ? fabs (get_random_number ())
                                       : fabs (low) * ldexp (1, -g_test_rand_int_range (0, 53));
      const double high = MAX (MIN (low + extent, G_MAXDOUBLE), nextafter (low, INFINITY));
      g_autoptr (MtlStridedView) view = NULL;
      g_autoptr (GError) error = NULL;
      double elements[12];

      for (gsize j = 0; j < G_N_ELEMENTS (elements); j++)
        elements[j] = get_random_element (low, high);
      view = mtl_strided_view_new_from_doubles (elements, G_N_ELEMENTS (elements), dtype,
                                                DIMS (3, 4), &error);
      g_assert_no_error (error);
      assert_colored (view, MTL_GTK_COLOR_MAP_GRAY, low, high);
    }
}

static void
test_layouts (void)
{
  static const char *const parts[] = { "...", "::-1", ":, ::-1", "::3, 1::2", "1:2", ":, 4:5" };
  g_autoptr (MtlStridedView) view = host_zeros (MTL_DTYPE_FLOAT32, DIMS (11, 13));
  g_autoptr (MtlStridedView) transposed = mtl_strided_view_transpose (view);

  for (int i = 0; i < 143; i++)
    set_number_at (view, i / 13, i % 13, 0, i % 17 == 0 ? NAN : i);
  for (gsize i = 0; i < G_N_ELEMENTS (parts); i++)
    {
      g_autoptr (MtlStridedView) part = slice (view, parts[i]);

      assert_colored (part, MTL_GTK_COLOR_MAP_HEAT, 10, 130);
    }
  assert_colored (transposed, MTL_GTK_COLOR_MAP_HEAT, 10, 130);
}

/* More than one block of rows, the last of which is shorter. */
static void
test_blocks (void)
{
  static const gint64 sizes[][2] = { { 700, 601 }, { 3, 300001 } };

  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autoptr (MtlStridedView) view = host_zeros (MTL_DTYPE_FLOAT32,
                                                    DIMS (sizes[i][0], sizes[i][1]));
      float *data = mtl_strided_view_get_data (view);

      for (gint64 j = 0; j < sizes[i][0] * sizes[i][1]; j++)
        data[j] = j % 1001 == 0 ? INFINITY : j;
      assert_colored (view, MTL_GTK_COLOR_MAP_HEAT, 0, 420000);
      assert_colored (view, MTL_GTK_COLOR_MAP_HEAT, 300000, nextafter (300000, INFINITY));
    }
}

/* The library copies what the host cannot reach. */
static void
test_devices (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TestDevice) device = test_device_new (MTL_STORAGE_MODE_PRIVATE);
  g_autoptr (MtlStridedView) view = host_zeros (MTL_DTYPE_FLOAT32, DIMS (5, 7));
  g_autoptr (MtlStridedView) elsewhere = NULL, pixels = NULL, expected = NULL;

  for (int i = 0; i < 35; i++)
    set_number_at (view, i / 7, i % 7, 0, i);
  elsewhere = mtl_strided_view_to_device (view, MTL_DEVICE (device), MTL_STORAGE_MODE_PRIVATE, NULL,
                                          &error);
  g_assert_no_error (error);
  pixels = colorize (elsewhere, MTL_GTK_COLOR_MAP_HEAT, 0, 34);
  expected = colorize (view, MTL_GTK_COLOR_MAP_HEAT, 0, 34);
  g_assert_true (mtl_strided_view_array_equal (pixels, expected, MTL_COMPARE_FLAGS_NONE, NULL,
                                               &error));
}

static void
test_empty (void)
{
  g_autoptr (MtlStridedView) rows = host_zeros (MTL_DTYPE_FLOAT32, DIMS (0, 5));
  g_autoptr (MtlStridedView) columns = host_zeros (MTL_DTYPE_FLOAT32, DIMS (5, 0));

  g_object_unref (colorize (rows, MTL_GTK_COLOR_MAP_HEAT, 0, 1));
  g_object_unref (colorize (columns, MTL_GTK_COLOR_MAP_HEAT, 0, 1));
}

static void
test_refused (void)
{
  g_autoptr (MtlStridedView) view = host_zeros (MTL_DTYPE_FLOAT32, DIMS (3, 5));
  g_autoptr (MtlStridedView) line = host_zeros (MTL_DTYPE_FLOAT32, DIMS (3));
  g_autoptr (MtlStridedView) handles = host_zeros (MTL_DTYPE_OPAQUE_HANDLE32, DIMS (3, 5));
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) cancelled = NULL;

  assert_fails (mtl_gtk_colorize (line, MTL_GTK_COLOR_MAP_HEAT, 0, 1, NULL, &error),
                MTL_ERROR_INVALID_ARGUMENT, "1");
  assert_fails (mtl_gtk_colorize (view, 9, 0, 1, NULL, &error), MTL_ERROR_INVALID_ARGUMENT, "9");
  assert_fails (mtl_gtk_colorize (handles, MTL_GTK_COLOR_MAP_HEAT, 0, 1, NULL, &error),
                MTL_ERROR_NOT_SUPPORTED, "opaque_handle32");

  g_cancellable_cancel (cancellable);
  g_assert_null (mtl_gtk_colorize (view, MTL_GTK_COLOR_MAP_HEAT, 0, 1, cancellable, &cancelled));
  g_assert_error (cancelled, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static void
on_ready (GObject      *source,
          GAsyncResult *result,
          gpointer      data)
{
  GAsyncResult **outcome = data;

  g_assert_true (MTL_IS_STRIDED_VIEW (source));
  *outcome = g_object_ref (result);
}

static MtlStridedView *
colorize_async (MtlStridedView  *view,
                MtlGtkColorMap   color_map,
                GCancellable    *cancellable,
                GError         **error)
{
  g_autoptr (GAsyncResult) result = NULL;

  mtl_gtk_colorize_async (view, color_map, 0, 15, cancellable, on_ready, &result);
  g_assert_null (result);
  while (result == NULL)
    g_main_context_iteration (NULL, TRUE);
  return mtl_gtk_colorize_finish (result, error);
}

/* The colors can change at once. */
static MtlStridedView *
colorize_with_colors_async (MtlStridedView  *view,
                            MtlStridedView  *colors,
                            GError         **error)
{
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (MtlStridedView) copy = mtl_strided_view_copy (colors, MTL_ORDER_C, NULL, NULL);

  mtl_gtk_colorize_with_colors_async (view, copy, 0, 15, NULL, on_ready, &result);
  mtl_strided_view_fill_double (copy, 0, NULL, NULL);
  while (result == NULL)
    g_main_context_iteration (NULL, TRUE);
  return mtl_gtk_colorize_with_colors_finish (result, error);
}

static void
test_async (void)
{
  guint8 bytes[256][4];
  g_autoptr (MtlStridedView) colors = new_colors (MTL_DTYPE_UINT8, 256, 4, bytes);
  g_autoptr (GError) failure = NULL;
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (MtlStridedView) view = host_zeros (MTL_DTYPE_UINT16, DIMS (3, 5));
  g_autoptr (MtlStridedView) pixels = NULL, expected = NULL;

  for (int i = 0; i < 15; i++)
    set_number_at (view, i / 5, i % 5, 0, i);
  pixels = colorize_async (view, MTL_GTK_COLOR_MAP_HEAT, cancellable, &failure);
  g_assert_no_error (failure);
  expected = colorize (view, MTL_GTK_COLOR_MAP_HEAT, 0, 15);
  g_assert_true (mtl_strided_view_array_equal (pixels, expected, MTL_COMPARE_FLAGS_NONE, NULL,
                                               &failure));

  assert_fails (colorize_async (view, 9, NULL, &error), MTL_ERROR_INVALID_ARGUMENT, "9");

  g_clear_object (&pixels);
  pixels = colorize_with_colors_async (view, colors, &failure);
  g_assert_no_error (failure);
  g_clear_object (&expected);
  expected = mtl_gtk_colorize_with_colors (view, colors, 0, 15, NULL, &failure);
  g_assert_true (mtl_strided_view_array_equal (pixels, expected, MTL_COMPARE_FLAGS_NONE, NULL,
                                               &failure));
  assert_fails (colorize_with_colors_async (view, view, &error), MTL_ERROR_INVALID_ARGUMENT,
                "(3, 5)");

  g_cancellable_cancel (cancellable);
  g_assert_null (colorize_async (view, MTL_GTK_COLOR_MAP_HEAT, cancellable, &failure));
  g_assert_error (failure, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

/* Gray levels are those of a texture, for the types that these have. */
static void
test_no_color_map (void)
{
  static const MtlDType gray_dtypes[] = { MTL_DTYPE_UINT8, MTL_DTYPE_UINT16, MTL_DTYPE_FLOAT16,
                                          MTL_DTYPE_FLOAT32 };
  g_autoptr (MtlStridedView) doubles = host_zeros (MTL_DTYPE_FLOAT64, DIMS (2, 2));
  g_autoptr (MtlStridedView) empty = host_zeros (MTL_DTYPE_UINT8, DIMS (0, 2));
  g_autoptr (MtlStridedView) nothing = colorize (empty, MTL_GTK_COLOR_MAP_NONE, 0, 1);

  g_assert_cmpint (mtl_strided_view_get_volume (nothing), ==, 0);
  for (gsize i = 0; i < G_N_ELEMENTS (gray_dtypes); i++)
    {
      const double full = i == 0 ? 255 : i == 1 ? 65535 : 1;
      g_autoptr (MtlStridedView) view = host_zeros (gray_dtypes[i], DIMS (16, 16));
      g_autoptr (MtlStridedView) pixels = NULL;
      const guint8 *data;

      for (int j = 0; j < 256; j++)
        g_assert_true (mtl_strided_view_set_double (view, ((gint64[]) { j / 16, j % 16 }), 2,
                                                    j / 255.0 * full, NULL));
      pixels = colorize (view, MTL_GTK_COLOR_MAP_NONE, 3, 4);
      data = mtl_strided_view_get_data (pixels);
      for (int j = 0; j < 3 * 256; j++)
        g_assert_cmpint (data[j], ==, j / 3);
    }

  assert_fails (mtl_gtk_colorize (doubles, MTL_GTK_COLOR_MAP_NONE, 0, 1, NULL, &error),
                MTL_ERROR_INVALID_ARGUMENT, "float64");
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/Colorize/known-colors", test_known_colors);
  g_test_add_func ("/Colorize/dtypes", test_dtypes);
  g_test_add_func ("/Colorize/own-colors", test_own_colors);
  g_test_add_func ("/Colorize/refused-colors", test_refused_colors);
  g_test_add_func ("/Colorize/special-values", test_special_values);
  g_test_add_func ("/Colorize/narrow-ranges", test_narrow_ranges);
  g_test_add_func ("/Colorize/random-ranges", test_random_ranges);
  g_test_add_func ("/Colorize/layouts", test_layouts);
  g_test_add_func ("/Colorize/blocks", test_blocks);
  g_test_add_func ("/Colorize/devices", test_devices);
  g_test_add_func ("/Colorize/empty", test_empty);
  g_test_add_func ("/Colorize/refused", test_refused);
  g_test_add_func ("/Colorize/async", test_async);
  g_test_add_func ("/gtk/colorize/no-color-map", test_no_color_map);
  return g_test_run ();
}
