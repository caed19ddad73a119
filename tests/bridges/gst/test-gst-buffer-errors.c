/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "test-device.h"
#include "test-gst-buffer-utils.h"

static void
assert_refused (MtlStridedView     *view,
                const GstVideoInfo *info,
                MtlError            code,
                const char         *value)
{
  assert_fails (info != NULL ? mtl_gst_video_buffer_from_view (view, info, &error)
                             : mtl_gst_buffer_from_view (view, &error),
                code, value);
  g_assert_cmpuint (G_OBJECT (view)->ref_count, ==, 1);
}

static void
test_shapes_and_elements (void)
{
  const GstVideoInfo rgb = video_info (GST_VIDEO_FORMAT_RGB, 6, 4);
  const GstVideoInfo gray = video_info (GST_VIDEO_FORMAT_GRAY8, 6, 4);
  g_autoptr (MtlStridedView) narrow = view_new (MTL_DTYPE_UINT8, DIMS (4, 5, 3));
  g_autoptr (MtlStridedView) one = view_new (MTL_DTYPE_UINT8, DIMS (4, 6, 1));
  g_autoptr (MtlStridedView) words = view_new (MTL_DTYPE_UINT16, DIMS (4, 6, 3));
  g_autoptr (MtlStridedView) pixels = view_new (MTL_DTYPE_UINT8, DIMS (4, 6, 3));
  g_autoptr (MtlStridedView) none = slice (pixels, "1:1");

  assert_refused (narrow, &rgb, MTL_ERROR_INVALID_ARGUMENT, "0 & RGB & (4, 6, 3) & (4, 5, 3)");
  assert_refused (one, &gray, MTL_ERROR_INVALID_ARGUMENT, "(4, 6) & (4, 6, 1)");
  assert_refused (words, &rgb, MTL_ERROR_INVALID_ARGUMENT, "uint8 & uint16");
  assert_refused (none, &rgb, MTL_ERROR_INVALID_ARGUMENT, "(0, 6, 3)");
  assert_refused (none, NULL, MTL_ERROR_INVALID_ARGUMENT, "(0, 6, 3)");
}

static void
test_strides (void)
{
  static const struct
  {
    const char *slice;
    const char *values;
  } cases[] = {
    { "::-1", "(-32, 4, 1)" },
    { ":, ::-1", "-4" },
    { ":, ::2", "8" },
    { "..., ::-1", "(32, 4, -1)" },
    { "..., :3", "3 & 4" },
  };
  g_autoptr (MtlStridedView) view = view_new (MTL_DTYPE_UINT8, DIMS (6, 8, 4));

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (MtlStridedView) part = slice (view, cases[i].slice);
      const gint64 *shape = mtl_strided_view_get_shape (part, NULL);
      const GstVideoInfo info = video_info (shape[2] == 3 ? GST_VIDEO_FORMAT_RGB
                                                          : GST_VIDEO_FORMAT_RGBA,
                                            shape[1], shape[0]);
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedView) copy = mtl_strided_view_copy (part, MTL_ORDER_C, NULL, &error);

      assert_refused (part, &info, MTL_ERROR_NEEDS_COPY, cases[i].values);
      assert_refused (part, NULL, MTL_ERROR_NEEDS_COPY, "");
      assert_last_user (get_buffer (copy, &info));
      assert_last_user (get_buffer (copy, NULL));
    }
}

static void
test_overlapping_rows (void)
{
  const GstVideoInfo gray = video_info (GST_VIDEO_FORMAT_GRAY8, 6, 4);
  g_autoptr (GBytes) bytes = g_bytes_new_take (g_malloc0 (64), 64);
  static const gint64 strides[][2] = { { 5, 1 }, { 0, 1 }, { 6, 0 }, { 1, 4 } };
  static const char *const reasons[] = {
    "6 & 5",
    "6 & 0",
    "1 & 0",
    "1 & 4",
  };

  for (guint i = 0; i < G_N_ELEMENTS (strides); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedView) view =
        mtl_strided_view_new_from_bytes_with_byte_strides (bytes, MTL_DTYPE_UINT8, DIMS (4, 6),
                                                                             strides[i], 2, &error);

      g_assert_no_error (error);
      assert_refused (view, &gray, MTL_ERROR_NEEDS_COPY, reasons[i]);
    }
}

static void
test_unaligned (void)
{
  const GstVideoInfo gray = video_info (GST_VIDEO_FORMAT_GRAY16_LE, 6, 4);
  g_autoptr (MtlBuffer) memory = mtl_buffer_new (NULL, 64, MTL_STORAGE_MODE_HOST, NULL);
  g_autoptr (MtlStridedLayout) layout =
    mtl_strided_layout_new_dense (DIMS (4, 6), MTL_ORDER_C, 16, NULL);
  g_autoptr (MtlStridedView) view = mtl_strided_view_new (memory, layout, MTL_DTYPE_UINT16, 1,
                                                          NULL);

  if (G_BYTE_ORDER == G_BIG_ENDIAN)
    {
      g_test_skip ("GRAY16_LE has no views on this machine");
      return;
    }

  assert_refused (view, &gray, MTL_ERROR_NEEDS_COPY, "2");
  assert_last_user (get_buffer (view, NULL));
}

static void
test_numbers_of_views (void)
{
  const GstVideoInfo i420 = video_info (GST_VIDEO_FORMAT_I420, 8, 4);
  const GstVideoInfo encoded = video_info (GST_VIDEO_FORMAT_ENCODED, 8, 4);
  const GstVideoInfo packed = video_info (GST_VIDEO_FORMAT_v210, 8, 4);
  g_autoptr (MtlStridedView) y = view_new (MTL_DTYPE_UINT8, DIMS (4, 8));
  g_autoptr (MtlStridedView) u = view_new (MTL_DTYPE_UINT8, DIMS (2, 4));
  MtlStridedView *views[] = { y, u, y, u };

  assert_refused (y, &i420, MTL_ERROR_INVALID_ARGUMENT, "3 & 1");
  assert_fails (mtl_gst_video_buffer_from_views (views, 4, &i420, &error),
                MTL_ERROR_INVALID_ARGUMENT, "3 & 4");
  assert_fails (mtl_gst_video_buffer_from_views (NULL, 0, &i420, &error),
                MTL_ERROR_INVALID_ARGUMENT, "0");
  assert_fails (mtl_gst_video_buffer_from_views (views, 3, &i420, &error),
                MTL_ERROR_INVALID_ARGUMENT, "2 & I420 & (2, 4) & (4, 8)");
  assert_refused (y, &encoded, MTL_ERROR_NOT_SUPPORTED, "ENCODED");
  assert_refused (y, &packed, MTL_ERROR_NOT_SUPPORTED, "v210");
}

static void
test_device_memory (void)
{
  const GstVideoInfo gray = video_info (GST_VIDEO_FORMAT_GRAY8, 8, 4);
  const GstAudioInfo audio = {
    .finfo = gst_audio_format_get_info (GST_AUDIO_FORMAT_U8),
    .rate = 1, .channels = 8, .bpf = 8,
  };
  g_autoptr (TestDevice) device = test_device_new (MTL_STORAGE_MODE_PRIVATE);
  g_autoptr (GError) no_error = NULL;
  g_autoptr (MtlStridedLayout) layout =
    mtl_strided_layout_new_dense (DIMS (4, 8), MTL_ORDER_C, 8, NULL);
  MtlBuffer *memory = mtl_buffer_new (MTL_DEVICE (device), 32, MTL_STORAGE_MODE_PRIVATE,
                                      &no_error);
  MtlStridedView *view = mtl_strided_view_new (memory, layout, MTL_DTYPE_UINT8, 0, &no_error);

  g_assert_no_error (no_error);
  assert_refused (view, &gray, MTL_ERROR_NOT_HOST_ACCESSIBLE, "“Test”");
  assert_refused (view, NULL, MTL_ERROR_NOT_HOST_ACCESSIBLE, "“Test”");
  assert_fails (mtl_gst_audio_buffer_from_view (view, &audio, &error),
                MTL_ERROR_NOT_HOST_ACCESSIBLE, "“Test”");
  g_object_unref (memory);
  g_object_unref (view);
  g_assert_cmpint (device->n_freed, ==, 1);

  assert_fails (mtl_gst_allocator_new (MTL_DEVICE (device), MTL_STORAGE_MODE_PRIVATE, &error),
                MTL_ERROR_NOT_HOST_ACCESSIBLE, "private");
  assert_fails (mtl_gst_allocator_new (MTL_DEVICE (device), MTL_STORAGE_MODE_SHARED, &error),
                MTL_ERROR_NOT_SUPPORTED, "Test");
}

#if GLIB_SIZEOF_SIZE_T > 4
/* Rows further apart than an int counts, in memory that is never touched. */
static void
test_too_far (void)
{
  const GstVideoInfo gray = video_info (GST_VIDEO_FORMAT_GRAY8, 4, 2);
  static guint8 bytes[8];
  const gint64 far = (gint64) G_MAXINT + 1;
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlBuffer) memory = mtl_buffer_new_for_data (bytes, (gsize) far + 8, NULL,
                                                          MTL_BUFFER_FLAGS_READ_ONLY, NULL, NULL,
                                                          &error);
  g_autoptr (MtlStridedLayout) layout =
    mtl_strided_layout_new (DIMS (2, 4), DIMS (far, 1), 8, &error);
  g_autoptr (MtlStridedView) view = mtl_strided_view_new (memory, layout, MTL_DTYPE_UINT8, 0,
                                                          &error);

  g_assert_no_error (error);
  assert_refused (view, &gray, MTL_ERROR_NEEDS_COPY, "2147483648");
}
#endif

static void
assert_audio_refused (MtlStridedView *view,
                      GstAudioFormat  format,
                      int             n_channels,
                      GstAudioLayout  layout,
                      MtlError        code,
                      const char     *value)
{
  GstAudioInfo info;

  gst_audio_info_set_format (&info, format, 8000, n_channels, NULL);
  info.layout = layout;
  assert_fails (mtl_gst_audio_buffer_from_view (view, &info, &error), code, value);
  g_assert_cmpuint (G_OBJECT (view)->ref_count, ==, 1);
}

static void
test_audio (void)
{
  const GstAudioLayout interleaved = GST_AUDIO_LAYOUT_INTERLEAVED;
  const GstAudioLayout planar = GST_AUDIO_LAYOUT_NON_INTERLEAVED;
  const GstAudioFormat s16 = GST_AUDIO_FORMAT_S16;
  g_autoptr (MtlStridedView) view = view_new (MTL_DTYPE_INT16, DIMS (10, 2));
  g_autoptr (MtlStridedView) transposed = mtl_strided_view_transpose (view);
  g_autoptr (MtlStridedView) none = slice (view, ":0");
  g_autoptr (MtlStridedView) row = view_new (MTL_DTYPE_INT16, DIMS (10));
  g_autoptr (MtlStridedView) mono = slice (view, ":, :1");
  g_autoptr (MtlStridedView) column = view_new (MTL_DTYPE_INT16, DIMS (10, 1));
  g_autoptr (MtlStridedView) repeated = mtl_strided_view_broadcast_to (column, DIMS (10, 2), NULL);
  g_autoptr (MtlStridedView) planes = view_new (MTL_DTYPE_INT16, DIMS (17, 10));
  g_autoptr (MtlStridedView) some = slice (planes, ":, :9");
  g_autoptr (MtlStridedView) whole = mtl_strided_view_transpose (some);
  g_autoptr (MtlStridedView) separate = trim (whole);
  GstAudioInfo unset;

  assert_audio_refused (view, s16, 3, interleaved, MTL_ERROR_INVALID_ARGUMENT, "(10, 3) & (10, 2)");
  assert_audio_refused (view, GST_AUDIO_FORMAT_F32, 2, interleaved, MTL_ERROR_INVALID_ARGUMENT,
                        "float32 & int16");
  assert_audio_refused (view, GST_AUDIO_FORMAT_S24LE, 2, interleaved, MTL_ERROR_NOT_SUPPORTED,
                        "S24LE");
  assert_audio_refused (view, s16, 2, planar, MTL_ERROR_NEEDS_COPY,
                        "(2, 1) & mtl_gst_audio_caps_from_view()");
  assert_audio_refused (transposed, s16, 10, interleaved, MTL_ERROR_NEEDS_COPY, "(1, 2)");
  assert_audio_refused (none, s16, 2, interleaved, MTL_ERROR_INVALID_ARGUMENT, "(0, 2)");
  assert_audio_refused (row, s16, 1, interleaved, MTL_ERROR_INVALID_ARGUMENT, "(10,)");
  assert_audio_refused (mono, s16, 1, interleaved, MTL_ERROR_NEEDS_COPY, "(2, 1)");
  assert_audio_refused (mono, s16, 1, planar, MTL_ERROR_NEEDS_COPY, "(2, 1)");
  assert_audio_refused (repeated, s16, 2, planar, MTL_ERROR_NEEDS_COPY, "(1, 0)");

  /* Each channel would be a memory, and GStreamer has at most 16. */
  assert_audio_refused (separate, s16, 17, planar, MTL_ERROR_NEEDS_COPY, "");

  gst_audio_info_init (&unset);
  assert_fails (mtl_gst_audio_buffer_from_view (view, &unset, &error),
                MTL_ERROR_INVALID_ARGUMENT, "gst_audio_info_set_format()");
}

int
main (int    argc,
      char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/gst-buffer-errors/shapes-and-elements", test_shapes_and_elements);
  g_test_add_func ("/gst-buffer-errors/strides", test_strides);
  g_test_add_func ("/gst-buffer-errors/overlapping-rows", test_overlapping_rows);
  g_test_add_func ("/gst-buffer-errors/unaligned", test_unaligned);
  g_test_add_func ("/gst-buffer-errors/numbers-of-views", test_numbers_of_views);
  g_test_add_func ("/gst-buffer-errors/device-memory", test_device_memory);
#if GLIB_SIZEOF_SIZE_T > 4
  g_test_add_func ("/gst-buffer-errors/too-far", test_too_far);
#endif
  g_test_add_func ("/gst-buffer-errors/audio", test_audio);
  return g_test_run ();
}
