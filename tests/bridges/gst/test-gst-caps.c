/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "test-gst-buffer-utils.h"

static void
assert_caps (GstCaps    *caps,
             GError     *error,
             const char *expected)
{
  g_autoptr (GstCaps) expected_caps = gst_caps_from_string (expected);
  g_autoptr (GstCaps) owned = caps;
  g_autofree char *string = NULL;

  g_assert_no_error (error);
  string = gst_caps_to_string (caps);
  g_test_message ("%s", string);
  g_assert_true (gst_caps_is_fixed (caps));
  g_assert_true (gst_caps_is_subset (caps, expected_caps));
}

#define assert_video_caps(dtype, format, expected, ...) \
  G_STMT_START \
    { \
      GError *error = NULL; \
      g_autoptr (MtlStridedView) view_ = view_new (dtype, DIMS (__VA_ARGS__)); \
      GstCaps *caps_ = mtl_gst_video_caps_from_view (view_, format, 30, 1, &error); \
      assert_caps (caps_, error, "video/x-raw, width=6, height=4, framerate=30/1, " expected); \
    } \
  G_STMT_END

static void
test_video (void)
{
  const GstVideoFormat any = GST_VIDEO_FORMAT_UNKNOWN;

  assert_video_caps (MTL_DTYPE_UINT8, any, "format=GRAY8", 4, 6);
  assert_video_caps (MTL_DTYPE_UINT8, any, "format=RGB", 4, 6, 3);
  assert_video_caps (MTL_DTYPE_UINT8, any, "format=RGBA", 4, 6, 4);
  assert_video_caps (MTL_DTYPE_UINT8, GST_VIDEO_FORMAT_BGRx, "format=BGRx", 4, 6, 4);
  assert_video_caps (MTL_DTYPE_UINT8, GST_VIDEO_FORMAT_I420, "format=I420", 4, 6);
  assert_video_caps (MTL_DTYPE_UINT8, GST_VIDEO_FORMAT_NV12, "format=NV12", 4, 6);
#if G_BYTE_ORDER == G_LITTLE_ENDIAN
  assert_video_caps (MTL_DTYPE_UINT16, any, "format=GRAY16_LE", 4, 6);
  assert_video_caps (MTL_DTYPE_UINT16, any, "format=RGBA64_LE", 4, 6, 4);
#else
  assert_video_caps (MTL_DTYPE_UINT16, any, "format=GRAY16_BE", 4, 6);
  assert_video_caps (MTL_DTYPE_UINT16, any, "format=RGBA64_BE", 4, 6, 4);
#endif
  assert_video_caps (MTL_DTYPE_UINT16, GST_VIDEO_FORMAT_ARGB64, "format=ARGB64", 4, 6, 4);
}

/* The layout that caps lead back to is the one of the view. */
static void
test_back (void)
{
  g_autoptr (MtlStridedView) view = view_new (MTL_DTYPE_UINT16, DIMS (4, 6, 4));
  g_autoptr (GError) error = NULL;
  g_autoptr (GstCaps) caps =
    mtl_gst_video_caps_from_view (view, GST_VIDEO_FORMAT_UNKNOWN, 0, 1, &error);
  g_autoptr (MtlStridedLayout) layout = NULL;
  MtlDType dtype;

  g_assert_no_error (error);
  layout = mtl_gst_layout_from_caps (caps, 0, &dtype, &error);
  g_assert_no_error (error);
  g_assert_cmpint (dtype, ==, MTL_DTYPE_UINT16);
  assert_shape (layout, 4, 6, 4);
  assert_strides (layout, 24, 4, 1);
}

static void
test_video_errors (void)
{
  const GstVideoFormat any = GST_VIDEO_FORMAT_UNKNOWN;
  g_autoptr (MtlStridedView) rgb = view_new (MTL_DTYPE_UINT8, DIMS (4, 6, 3));
  g_autoptr (MtlStridedView) two = view_new (MTL_DTYPE_UINT8, DIMS (4, 6, 2));
  g_autoptr (MtlStridedView) one = view_new (MTL_DTYPE_UINT8, DIMS (4, 6, 1));
  g_autoptr (MtlStridedView) floats = view_new (MTL_DTYPE_FLOAT32, DIMS (4, 6));
  g_autoptr (MtlStridedView) row = view_new (MTL_DTYPE_UINT8, DIMS (7));
  g_autoptr (MtlStridedView) none = slice (rgb, "2:2");
  g_autoptr (MtlStridedView) pixel = view_new (MTL_DTYPE_UINT8, DIMS (1, 1));
  g_autoptr (GError) no_error = NULL;
  g_autoptr (MtlStridedView) huge =
    mtl_strided_view_broadcast_to (pixel, DIMS (2, G_GINT64_CONSTANT (1) << 31), &no_error);
  g_autoptr (MtlStridedView) wide = view_new (MTL_DTYPE_UINT8, DIMS (1, 1, 3));
  g_autoptr (MtlStridedView) large =
    mtl_strided_view_broadcast_to (wide, DIMS (2, 1 << 30, 3), &no_error);

  GEnumClass *formats = g_type_class_ref (GST_TYPE_VIDEO_FORMAT);

  g_assert_no_error (no_error);
  assert_fails (mtl_gst_video_caps_from_view (two, any, 30, 1, &error), MTL_ERROR_INVALID_ARGUMENT,
                "(4, 6, 2)");
  assert_fails (mtl_gst_video_caps_from_view (one, any, 30, 1, &error), MTL_ERROR_INVALID_ARGUMENT,
                "(4, 6, 1)");
  assert_fails (mtl_gst_video_caps_from_view (floats, any, 30, 1, &error),
                MTL_ERROR_INVALID_ARGUMENT, "float32");
  assert_fails (mtl_gst_video_caps_from_view (row, any, 30, 1, &error), MTL_ERROR_INVALID_ARGUMENT,
                "(7,)");
  assert_fails (mtl_gst_video_caps_from_view (none, any, 30, 1, &error), MTL_ERROR_INVALID_ARGUMENT,
                "(0, 6, 3)");
  assert_fails (mtl_gst_video_caps_from_view (rgb, GST_VIDEO_FORMAT_RGBA, 30, 1, &error),
                MTL_ERROR_INVALID_ARGUMENT, "(4, 6, 4) & (4, 6, 3)");
  assert_fails (mtl_gst_video_caps_from_view (rgb, GST_VIDEO_FORMAT_GRAY16_LE, 30, 1, &error),
                MTL_ERROR_INVALID_ARGUMENT, "uint16 & uint8");
  assert_fails (mtl_gst_video_caps_from_view (rgb, GST_VIDEO_FORMAT_v210, 30, 1, &error),
                MTL_ERROR_NOT_SUPPORTED, "v210");
  for (int format = formats->maximum + 1; format < 1000; format++)
    {
      g_autofree char *number = g_strdup_printf ("%d", format);

      assert_fails (mtl_gst_video_caps_from_view (rgb, format, 30, 1, &error),
                    MTL_ERROR_INVALID_ARGUMENT, number);
    }
  assert_fails (mtl_gst_video_caps_from_view (rgb, -1, 30, 1, &error), MTL_ERROR_INVALID_ARGUMENT,
                "-1");
  assert_fails (mtl_gst_video_caps_from_view (rgb, any, -1, 1, &error), MTL_ERROR_INVALID_ARGUMENT,
                "-1/1");
  assert_fails (mtl_gst_video_caps_from_view (rgb, any, 1, 0, &error), MTL_ERROR_INVALID_ARGUMENT,
                "1/0");
  assert_fails (mtl_gst_video_caps_from_view (huge, any, 1, 1, &error), MTL_ERROR_OVERFLOW,
                "2147483648");
  assert_fails (mtl_gst_video_caps_from_view (large, any, 1, 1, &error), MTL_ERROR_OVERFLOW,
                "1073741824");
  g_type_class_unref (formats);
}

/* GStreamer makes infos of them whose strides are negative, or too small. */
static void
test_overflow (void)
{
  static const struct { GstVideoFormat format; gint64 width, n_channels; gboolean fits; } rows[] = {
    { GST_VIDEO_FORMAT_GRAY8, G_MAXINT - 3, 1, TRUE }, { GST_VIDEO_FORMAT_GRAY8, G_MAXINT - 2, 1 },
    { GST_VIDEO_FORMAT_GRAY8, G_MAXINT, 1 },
    { GST_VIDEO_FORMAT_RGB, 715827880, 3, TRUE }, { GST_VIDEO_FORMAT_RGB, 715827883, 3 },
    { GST_VIDEO_FORMAT_RGBA, (1 << 29) - 1, 4, TRUE }, { GST_VIDEO_FORMAT_RGBA, 1 << 29, 4 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      const guint n_dims = rows[i].n_channels > 1 ? 3 : 2;
      g_autoptr (MtlStridedView) pixel =
        view_new (MTL_DTYPE_UINT8, (gint64[]) { 1, 1, rows[i].n_channels }, n_dims);
      g_autoptr (MtlStridedView) row =
        mtl_strided_view_broadcast_to (pixel, (gint64[]) { 1, rows[i].width, rows[i].n_channels },
                                       n_dims, NULL);
      g_autofree char *width = g_strdup_printf ("%" G_GINT64_FORMAT, rows[i].width);
      g_autofree char *string =
        g_strdup_printf ("video/x-raw, format=%s, width=%s, height=1, framerate=0/1",
                         gst_video_format_to_string (rows[i].format), width);
      g_autoptr (GstCaps) expected = gst_caps_from_string (string);

      if (rows[i].fits)
        {
          g_autoptr (GstCaps) caps = mtl_gst_video_caps_from_view (row, rows[i].format, 0, 1, NULL);
          g_autoptr (MtlStridedLayout) layout = mtl_gst_layout_from_caps (caps, 0, NULL, NULL);

          g_assert_nonnull (layout);
          continue;
        }

      assert_fails (mtl_gst_video_caps_from_view (row, rows[i].format, 0, 1, &error),
                    MTL_ERROR_OVERFLOW, width);
      assert_fails (mtl_gst_layout_from_caps (expected, 0, NULL, &error), MTL_ERROR_OVERFLOW,
                    width);
    }
}

/* No other row is too large, whichever way GStreamer computes its stride. */
static void
test_widths (void)
{
  GEnumClass *formats = g_type_class_ref (GST_TYPE_VIDEO_FORMAT);

  for (guint i = 0; i < formats->n_values; i++)
    for (int width = 1; width < 70 && formats->values[i].value > GST_VIDEO_FORMAT_ENCODED; width++)
      {
        const char *name = gst_video_format_to_string (formats->values[i].value);
        g_autofree char *string =
          g_strdup_printf ("video/x-raw, format=%s, width=%d, height=3", name, width);
        g_autoptr (GstCaps) caps = gst_caps_from_string (string);
        g_autoptr (GError) error = NULL;
        g_autoptr (MtlStridedLayout) layout = mtl_gst_layout_from_caps (caps, 0, NULL, &error);

        g_assert_true (layout != NULL
                       || g_error_matches (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED));
      }

  g_type_class_unref (formats);
}

static void
assert_audio_caps (MtlStridedView *view,
                   const char     *expected)
{
  GError *error = NULL;
  GstCaps *caps = mtl_gst_audio_caps_from_view (view, 44100, &error);

  assert_caps (caps, error, expected);
}

static void
test_audio (void)
{
  static const struct
  {
    MtlDType dtype;
    const char *name;
  } formats[] = {
    { MTL_DTYPE_INT8, "S8" }, { MTL_DTYPE_UINT8, "U8" },
    { MTL_DTYPE_INT16, GST_AUDIO_NE (S16) }, { MTL_DTYPE_UINT16, GST_AUDIO_NE (U16) },
    { MTL_DTYPE_INT32, GST_AUDIO_NE (S32) }, { MTL_DTYPE_UINT32, GST_AUDIO_NE (U32) },
    { MTL_DTYPE_FLOAT32, GST_AUDIO_NE (F32) }, { MTL_DTYPE_FLOAT64, GST_AUDIO_NE (F64) },
  };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    {
      g_autoptr (MtlStridedView) view = view_new (formats[i].dtype, DIMS (5, 2));
      g_autofree char *expected =
        g_strdup_printf ("audio/x-raw, format=%s, layout=interleaved, rate=44100, channels=2, "
                         "channel-mask=(bitmask)3", formats[i].name);

      assert_audio_caps (view, expected);
    }
}

static void
test_audio_layouts (void)
{
  g_autoptr (MtlStridedView) planes = view_new (MTL_DTYPE_FLOAT32, DIMS (6, 20));
  g_autoptr (MtlStridedView) planar = mtl_strided_view_transpose (planes);
  g_autoptr (MtlStridedView) mono = view_new (MTL_DTYPE_FLOAT32, DIMS (6, 1));
  g_autoptr (MtlStridedView) many = view_new (MTL_DTYPE_FLOAT32, DIMS (6, 100));
  g_autoptr (MtlStridedView) some = slice (planes, ":, ::2");
  g_autoptr (MtlStridedView) row = view_new (MTL_DTYPE_FLOAT32, DIMS (6));
  g_autoptr (MtlStridedView) halves = view_new (MTL_DTYPE_FLOAT16, DIMS (6, 2));
  g_autoptr (MtlStridedView) no_channels = slice (planes, ":, :0");
  g_autoptr (MtlStridedView) repeated = mtl_strided_view_broadcast_to (mono, DIMS (6, 2), NULL);

  assert_audio_caps (planar, "audio/x-raw, layout=non-interleaved, channels=6,"
                     " channel-mask=(bitmask)0x3f");
  assert_audio_caps (mono, "audio/x-raw, layout=interleaved, channels=1");
  assert_audio_caps (many, "audio/x-raw, layout=interleaved, channels=100,"
                     " channel-mask=(bitmask)0");
  assert_fails (mtl_gst_audio_caps_from_view (some, 1, &error), MTL_ERROR_NEEDS_COPY, "(20, 2)");
  assert_fails (mtl_gst_audio_caps_from_view (repeated, 1, &error), MTL_ERROR_NEEDS_COPY,
                "(1, 0)");
  assert_fails (mtl_gst_audio_caps_from_view (row, 1, &error), MTL_ERROR_INVALID_ARGUMENT, "1 & 6");
  assert_fails (mtl_gst_audio_caps_from_view (halves, 1, &error), MTL_ERROR_INVALID_ARGUMENT,
                "float16");
  assert_fails (mtl_gst_audio_caps_from_view (no_channels, 1, &error),
                MTL_ERROR_INVALID_ARGUMENT, "(6, 0)");
  assert_fails (mtl_gst_audio_caps_from_view (mono, 0, &error), MTL_ERROR_INVALID_ARGUMENT, "0");
}

int
main (int    argc,
      char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/gst-caps/video", test_video);
  g_test_add_func ("/gst-caps/back", test_back);
  g_test_add_func ("/gst-caps/video-errors", test_video_errors);
  g_test_add_func ("/gst-caps/overflow", test_overflow);
  g_test_add_func ("/gst-caps/widths", test_widths);
  g_test_add_func ("/gst-caps/audio", test_audio);
  g_test_add_func ("/gst-caps/audio-layouts", test_audio_layouts);
  return g_test_run ();
}
