/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "test-gst-view-utils.h"

static MtlStridedView *
view_plane (GstBuffer          *buffer,
            const GstVideoInfo *info,
            guint               plane,
            GstMapFlags         flags)
{
  GError *error = NULL;
  MtlStridedView *view = mtl_gst_view_from_video_buffer (buffer, info, plane, flags, &error);

  return assert_view (view, error);
}

/* A GRAY8 frame with strides and offsets of its own. */
static GstVideoMeta *
add_gray_meta (GstBuffer *buffer,
               guint      width,
               guint      height,
               gsize      offset,
               int        stride)
{
  gsize offsets[GST_VIDEO_MAX_PLANES] = { offset };
  int strides[GST_VIDEO_MAX_PLANES] = { stride };

  return gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8,
                                         width, height, 1, offsets, strides);
}

static void
test_shapes (void)
{
  static const struct
  {
    GstVideoFormat format;
    guint plane;
    gint64 shape[3];
    gsize n_dims;
    MtlDType dtype;
  } cases[] = {
    { GST_VIDEO_FORMAT_RGB, 0, { 243, 321, 3 }, 3, MTL_DTYPE_UINT8 },
    { GST_VIDEO_FORMAT_RGBx, 0, { 243, 321, 4 }, 3, MTL_DTYPE_UINT8 },
    { GST_VIDEO_FORMAT_AYUV, 0, { 243, 321, 4 }, 3, MTL_DTYPE_UINT8 },
    { GST_VIDEO_FORMAT_ARGB64, 0, { 243, 321, 4 }, 3, MTL_DTYPE_UINT16 },
    { GST_VIDEO_FORMAT_GRAY8, 0, { 243, 321 }, 2, MTL_DTYPE_UINT8 },
    { GST_VIDEO_FORMAT_I420, 0, { 243, 321 }, 2, MTL_DTYPE_UINT8 },
    { GST_VIDEO_FORMAT_I420, 2, { 122, 161 }, 2, MTL_DTYPE_UINT8 },
    { GST_VIDEO_FORMAT_NV12, 1, { 122, 161, 2 }, 3, MTL_DTYPE_UINT8 },
    { GST_VIDEO_FORMAT_YUV9, 1, { 61, 81 }, 2, MTL_DTYPE_UINT8 },
#if G_BYTE_ORDER == G_LITTLE_ENDIAN
    { GST_VIDEO_FORMAT_GRAY16_LE, 0, { 243, 321 }, 2, MTL_DTYPE_UINT16 },
    { GST_VIDEO_FORMAT_P010_10LE, 1, { 122, 161, 2 }, 3, MTL_DTYPE_UINT16 },
    { GST_VIDEO_FORMAT_I420_10LE, 1, { 122, 161 }, 2, MTL_DTYPE_UINT16 },
#endif
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (MtlStridedView) view = NULL;
      g_autoptr (GstBuffer) buffer = NULL;
      const gint64 *shape;
      GstVideoInfo info;
      gsize n_dims;

      set_info (&info, cases[i].format, 321, 243);
      buffer = random_frame_new (&info);
      view = view_plane (buffer, &info, cases[i].plane, GST_MAP_READ);
      shape = mtl_strided_view_get_shape (view, &n_dims);
      g_assert_cmpmem (shape, n_dims * sizeof (gint64),
                       cases[i].shape, cases[i].n_dims * sizeof (gint64));
      g_assert_cmpint (mtl_strided_view_get_dtype (view), ==, cases[i].dtype);
      g_assert_true (mtl_strided_view_is_read_only (view));
    }
}

static void
test_no_such_part (void)
{
  g_autoptr (GstBuffer) buffer = NULL;
  GstVideoInfo info;

  set_info (&info, GST_VIDEO_FORMAT_NV12, 16, 8);
  buffer = random_frame_new (&info);
  assert_fails (mtl_gst_view_from_video_buffer (buffer, &info, 2, GST_MAP_READ, &error),
                MTL_ERROR_OUT_OF_BOUNDS, "2 & NV12");
  assert_fails (
      mtl_gst_view_from_video_buffer_component (buffer, &info, G_MAXUINT, GST_MAP_READ, &error),
      MTL_ERROR_OUT_OF_BOUNDS, "4294967295");
  assert_fails (mtl_gst_view_from_video_buffer (buffer, NULL, 0, GST_MAP_READ, &error),
                MTL_ERROR_INVALID_ARGUMENT, "GstVideoInfo");
}

static void
test_meta_padding (void)
{
  g_autoptr (GstBuffer) buffer = random_buffer_new (1000);
  g_autoptr (MtlStridedView) view = NULL;
  GstMapInfo map;

  add_gray_meta (buffer, 7, 5, 100, 50);
  view = view_plane (buffer, NULL, 0, GST_MAP_READ);
  assert_view_shape (view, 5, 7);
  assert_view_strides (view, 50, 1);
  g_assert_cmpuint (mtl_buffer_get_size (mtl_strided_view_get_buffer (view)), ==, 4 * 50 + 7);

  g_assert_true (gst_buffer_map (buffer, &map, GST_MAP_READ));
  g_assert_true (mtl_strided_view_get_data (view) == map.data + 100);
  gst_buffer_unmap (buffer, &map);
}

/* The rows go from bottom to top. */
static void
test_meta_negative_stride (void)
{
  g_autoptr (GstBuffer) buffer = random_buffer_new (200);
  g_autoptr (MtlStridedView) view = NULL;
  GstMapInfo map;

  add_gray_meta (buffer, 7, 5, 4 * 40, -40);
  view = view_plane (buffer, NULL, 0, GST_MAP_READ);
  assert_view_strides (view, -40, 1);

  g_assert_true (gst_buffer_map (buffer, &map, GST_MAP_READ));
  for (int row = 0; row < 5; row++)
    g_assert_true (get_element (view, row, 6, 0) == map.data + (4 - row) * 40 + 6);
  gst_buffer_unmap (buffer, &map);

  gst_buffer_get_video_meta (buffer)->offset[0] = 4 * 40 - 1;
  assert_fails (mtl_gst_view_from_video_buffer (buffer, NULL, 0, GST_MAP_READ, &error),
                MTL_ERROR_OUT_OF_BOUNDS, "(-40, 1)");
}

static void
test_meta_before_info (void)
{
  g_autoptr (GstBuffer) buffer = random_buffer_new (1000);
  g_autoptr (MtlStridedView) view = NULL;
  GstVideoInfo info;

  add_gray_meta (buffer, 20, 10, 3, 30);
  set_info (&info, GST_VIDEO_FORMAT_GRAY8, 7, 5); /* the visible part */
  view = view_plane (buffer, &info, 0, GST_MAP_READ);
  assert_view_shape (view, 10, 20);
  assert_view_strides (view, 30, 1);

  set_info (&info, GST_VIDEO_FORMAT_GRAY8, 21, 5);
  assert_fails (mtl_gst_view_from_video_buffer (buffer, &info, 0, GST_MAP_READ, &error),
                MTL_ERROR_INVALID_ARGUMENT, "21x5");
  set_info (&info, GST_VIDEO_FORMAT_RGB, 7, 5);
  assert_fails (mtl_gst_view_from_video_buffer (buffer, &info, 0, GST_MAP_READ, &error),
                MTL_ERROR_INVALID_ARGUMENT, "RGB");
}

static gboolean
map_elsewhere (GstVideoMeta *meta,
               guint         plane,
               GstMapInfo   *info,
               gpointer     *data,
               int          *stride,
               GstMapFlags   flags)
{
  return FALSE;
}

static void
test_meta_maps_itself (void)
{
  g_autoptr (GstBuffer) buffer = random_buffer_new (100);

  add_gray_meta (buffer, 10, 10, 0, 10)->map = map_elsewhere;
  assert_fails (mtl_gst_view_from_video_buffer (buffer, NULL, 0, GST_MAP_READ, &error),
                MTL_ERROR_NOT_SUPPORTED, "GstVideoMeta");
}

/* Each plane maps its memory only, and none a copy. */
static void
test_memories (void)
{
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();
  MtlStridedView *views[3];
  GstMemory *memories[3];
  GstVideoInfo info;

  set_info (&info, GST_VIDEO_FORMAT_I420, 16, 8);
  for (guint plane = 0; plane < 3; plane++)
    {
      memories[plane] = gst_allocator_alloc (NULL, plane == 0 ? 128 : 32, NULL);
      gst_buffer_append_memory (buffer, memories[plane]);
    }

  for (guint plane = 0; plane < 3; plane++)
    {
      GstMapInfo map;

      views[plane] = view_plane (buffer, &info, plane, GST_MAP_READWRITE);
      g_assert_true (gst_memory_map (memories[plane], &map, GST_MAP_READ));
      g_assert_true (mtl_strided_view_get_data (views[plane]) == map.data);
      gst_memory_unmap (memories[plane], &map);
      for (guint other = plane + 1; other < 3; other++)
        g_assert_cmpint (memories[other]->mini_object.lockstate, ==, 1 << 16);
    }

  for (guint plane = 0; plane < 3; plane++)
    g_object_unref (views[plane]);
  g_assert_cmpuint (gst_buffer_n_memory (buffer), ==, 3);
  for (guint plane = 0; plane < 3; plane++)
    assert_untouched (buffer, plane, memories[plane]);
}

static void
test_plane_in_two_memories (void)
{
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();

  gst_buffer_append_memory (buffer, gst_allocator_alloc (NULL, 50, NULL));
  gst_buffer_append_memory (buffer, gst_allocator_alloc (NULL, 50, NULL));
  add_gray_meta (buffer, 10, 10, 0, 10);
  assert_fails (mtl_gst_view_from_video_buffer (buffer, NULL, 0, GST_MAP_READ, &error),
                MTL_ERROR_NEEDS_COPY, "2");
  assert_untouched (buffer, 0, gst_buffer_peek_memory (buffer, 0));
}

/* A memory that begins later than its allocation. */
static void
test_memory_offset (void)
{
  g_autoptr (GstBuffer) buffer = random_buffer_new (200);
  g_autoptr (MtlStridedView) view = NULL;
  GstMapInfo map;

  gst_buffer_resize (buffer, 60, 110);
  add_gray_meta (buffer, 10, 10, 10, 10);
  view = view_plane (buffer, NULL, 0, GST_MAP_READ);
  g_assert_true (gst_buffer_map (buffer, &map, GST_MAP_READ));
  g_assert_true (mtl_strided_view_get_data (view) == map.data + 10);
  gst_buffer_unmap (buffer, &map);

  gst_buffer_get_video_meta (buffer)->offset[0] = 11;
  assert_fails (mtl_gst_view_from_video_buffer (buffer, NULL, 0, GST_MAP_READ, &error),
                MTL_ERROR_OUT_OF_BOUNDS, "110");
}

/* Both fields, or one, if each has a buffer of its own. */
static void
test_interlaced (void)
{
  g_autoptr (MtlStridedView) frame = NULL;
  g_autoptr (MtlStridedView) field = NULL;
  g_autoptr (GstBuffer) buffer = NULL;
  GstVideoInfo info;

  g_assert_true (gst_video_info_set_interlaced_format (&info, GST_VIDEO_FORMAT_I420,
                                                       GST_VIDEO_INTERLACE_MODE_INTERLEAVED,
                                                       16, 9));
  buffer = random_frame_new (&info);
  frame = view_plane (buffer, &info, 0, GST_MAP_READ);
  assert_view_shape (frame, 9, 16);

  g_assert_true (gst_video_info_set_interlaced_format (&info, GST_VIDEO_FORMAT_I420,
                                                       GST_VIDEO_INTERLACE_MODE_ALTERNATE,
                                                       16, 9));
  field = view_plane (buffer, &info, 0, GST_MAP_READ);
  assert_view_shape (field, 5, 16);
}

static MtlStridedView *
view_caps (GstBuffer  *buffer,
           const char *string,
           guint       plane)
{
  g_autoptr (GstCaps) caps = gst_caps_from_string (string);
  GError *error = NULL;
  MtlStridedView *view =
    mtl_gst_view_from_buffer_with_caps (buffer, caps, plane, GST_MAP_READ, &error);

  return assert_view (view, error);
}

static void
test_caps (void)
{
  g_autoptr (GstBuffer) buffer = random_buffer_new (16 * 9 * 4);
  g_autoptr (GstCaps) caps = gst_caps_from_string ("video/x-raw,format=RGB,width=5,height=3");
  g_autoptr (MtlStridedLayout) layout = NULL;
  MtlStridedLayout *video_layout;
  g_autoptr (MtlStridedView) video = NULL;
  g_autoptr (MtlStridedView) audio = NULL;
  GError *error = NULL;
  MtlDType dtype;

  video = view_caps (buffer, "video/x-raw,format=RGB,width=5,height=3", 0);
  assert_view_shape (video, 3, 5, 3);
  assert_view_strides (video, 16, 3, 1);

  layout = mtl_gst_layout_from_caps (caps, 0, &dtype, &error);
  g_assert_no_error (error);
  g_assert_cmpint (dtype, ==, MTL_DTYPE_UINT8);
  video_layout = mtl_strided_view_get_layout (video);
  g_assert_true (mtl_strided_layout_equal (layout, video_layout));

  audio = view_caps (buffer, "audio/x-raw,format=" GST_AUDIO_NE (S16) ",rate=48000,channels=2,"
                             "layout=interleaved", 0);
  assert_view_shape (audio, 16 * 9, 2);
  g_assert_cmpint (mtl_strided_view_get_dtype (audio), ==, MTL_DTYPE_INT16);
}

static void
test_wrong_caps (void)
{
  static const struct
  {
    const char *caps;
    guint plane;
    MtlError code;
    const char *values;
  } cases[] = {
    { "video/x-raw", 0, MTL_ERROR_INVALID_ARGUMENT, "“format”" },
    { "video/x-raw,format=RGB,width=5", 0, MTL_ERROR_INVALID_ARGUMENT, "“height”" },
    { "video/x-raw,format=RGB,width=[1,5],height=3", 0, MTL_ERROR_INVALID_ARGUMENT,
      "gst_caps_fixate()" },
    { "video/x-raw,format={RGB,BGR},width=5,height=3", 0, MTL_ERROR_INVALID_ARGUMENT,
      "gst_caps_fixate()" },
    { "video/x-raw,format=RGB,width=5,height=3,framerate=[1/1,9/1]", 0, MTL_ERROR_INVALID_ARGUMENT,
      "gst_caps_fixate()" },
    { "audio/x-raw,format=U8,rate=1,channels=1,layout={interleaved,non-interleaved}", 0,
      MTL_ERROR_INVALID_ARGUMENT, "gst_caps_fixate()" },
    { "tensor/strided,type=uint8,dims=<2,3>,dims-order={row-major,col-major}", 0,
      MTL_ERROR_INVALID_ARGUMENT, "gst_caps_fixate()" },
    { "video/x-raw,format=XYZ,width=5,height=3", 0, MTL_ERROR_INVALID_ARGUMENT, "XYZ" },
    { "video/x-raw,format=RGB,width=5,height=3", 1, MTL_ERROR_OUT_OF_BOUNDS, "1" },
    { "video/x-raw,format=v210,width=5,height=3", 0, MTL_ERROR_NOT_SUPPORTED, "v210" },
    { "audio/x-raw,format=U8,rate=1", 0, MTL_ERROR_INVALID_ARGUMENT, "“channels”" },
    { "audio/x-raw,format=U8,rate=1,channels=0,layout=interleaved", 0, MTL_ERROR_INVALID_ARGUMENT,
      "1 & 0" },
    { "audio/x-raw,format=U8,rate=1,channels=-2,layout=interleaved", 0, MTL_ERROR_INVALID_ARGUMENT,
      "1 & -2" },
    { "audio/x-raw,format=U8,rate=1,channels=2,layout=interleaved,channel-mask=(bitmask)1", 0,
      MTL_ERROR_INVALID_ARGUMENT, "1 & 2" },
    { "audio/x-raw,format=U8,rate=1,channels=64,layout=interleaved,channel-mask=(bitmask)0xf0f0", 0,
      MTL_ERROR_INVALID_ARGUMENT, "8 & 64" },
    { "audio/x-raw,format=U8,rate=1,channels=2,layout=interleaved,channel-mask=(bitmask)7", 0,
      MTL_ERROR_INVALID_ARGUMENT, "3 & 2" },
    { "audio/x-raw,format=U8,rate=1,channels=1,layout=interleaved,channel-mask=(bitmask)0x40000000",
      0, MTL_ERROR_INVALID_ARGUMENT, "0x40000000" },
    { "audio/x-raw,format=U8,rate=1,channels=1,layout=interleaved", 1, MTL_ERROR_OUT_OF_BOUNDS,
      "1" },
    { "audio/x-raw,format=S24LE,rate=1,channels=1,layout=interleaved", 0,
      MTL_ERROR_NOT_SUPPORTED, "S24LE" },
    { "audio/x-raw,format=ENCODED,rate=1,channels=24", 0, MTL_ERROR_NOT_SUPPORTED, "ENCODED" },
    { "image/jpeg", 0, MTL_ERROR_NOT_SUPPORTED, "image/jpeg" },
    { "video/x-raw,format=RGB,width=5,height=3;video/x-raw", 0, MTL_ERROR_INVALID_ARGUMENT,
      "1 & 2" },
    { "ANY", 0, MTL_ERROR_INVALID_ARGUMENT, "1 & 0" },
    { "EMPTY", 0, MTL_ERROR_INVALID_ARGUMENT, "1 & 0" },
  };
  g_autoptr (GstBuffer) buffer = random_buffer_new (4000);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GstCaps) caps = gst_caps_from_string (cases[i].caps);
      MtlDType dtype = MTL_DTYPE_UINT8;

      g_assert_nonnull (caps);
      assert_fails (
          mtl_gst_view_from_buffer_with_caps (buffer, caps, cases[i].plane, GST_MAP_READ, &error),
          cases[i].code, cases[i].values);
      assert_fails (mtl_gst_layout_from_caps (caps, cases[i].plane, &dtype, &error),
                    cases[i].code, cases[i].values);
      g_assert_cmpint (dtype, ==, MTL_DTYPE_OTHER);
    }

  assert_untouched (buffer, 0, gst_buffer_peek_memory (buffer, 0));
}

int
main (int    argc,
      char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/gst/video/shapes", test_shapes);
  g_test_add_func ("/gst/video/no-such-part", test_no_such_part);
  g_test_add_func ("/gst/video/meta-padding", test_meta_padding);
  g_test_add_func ("/gst/video/meta-negative-stride", test_meta_negative_stride);
  g_test_add_func ("/gst/video/meta-before-info", test_meta_before_info);
  g_test_add_func ("/gst/video/meta-maps-itself", test_meta_maps_itself);
  g_test_add_func ("/gst/video/memories", test_memories);
  g_test_add_func ("/gst/video/plane-in-two-memories", test_plane_in_two_memories);
  g_test_add_func ("/gst/video/memory-offset", test_memory_offset);
  g_test_add_func ("/gst/video/interlaced", test_interlaced);
  g_test_add_func ("/gst/video/caps", test_caps);
  g_test_add_func ("/gst/video/wrong-caps", test_wrong_caps);

  return g_test_run ();
}
