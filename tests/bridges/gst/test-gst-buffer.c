/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "test-gst-buffer-utils.h"

static void
test_bytes (void)
{
  g_autoptr (MtlStridedView) view = view_new (MTL_DTYPE_FLOAT32, DIMS (5, 4, 3));
  g_autoptr (MtlStridedView) part = slice (view, "1:4");
  g_autoptr (MtlStridedView) back = NULL;
  g_autoptr (GError) error = NULL;
  GstBuffer *buffer = get_buffer (part, NULL);
  GstMapInfo map;
  gsize byte_offset;
  MtlBuffer *memory = mtl_gst_memory_get_buffer (gst_buffer_peek_memory (buffer, 0),
                                                 &byte_offset);

  g_assert_true (mtl_buffer_equal (memory, mtl_strided_view_get_buffer (view)));
  g_assert_cmpuint (byte_offset, ==, 4 * 3 * 4);
  g_assert_cmpuint (gst_buffer_n_memory (buffer), ==, 1);
  g_assert_true (gst_buffer_map (buffer, &map, GST_MAP_READWRITE));
  g_assert_true (map.data == mtl_strided_view_get_data (part));
  g_assert_cmpuint (map.size, ==, 3 * 4 * 3 * 4);
  gst_buffer_unmap (buffer, &map);

  back = mtl_gst_view_from_buffer (buffer, MTL_DTYPE_FLOAT32, DIMS (3, 4, 3), GST_MAP_READWRITE,
                                   &error);
  g_assert_no_error (error);
  assert_same_view (back, part);
  g_assert_false (mtl_strided_view_is_read_only (back));
  g_clear_object (&back);
  assert_last_user (buffer);
}

static void
test_bytes_of_bits (void)
{
  g_autoptr (MtlStridedView) view = view_new (MTL_DTYPE_UINT4, DIMS (6));
  GstBuffer *buffer = get_buffer (view, NULL);

  g_assert_cmpuint (gst_buffer_get_size (buffer), ==, 3);
  assert_last_user (buffer);
}

/* Elements cannot write to read-only memory; they get a copy. */
static void
test_read_only (void)
{
  g_autoptr (MtlStridedView) view = view_new (MTL_DTYPE_UINT8, DIMS (8));
  g_autoptr (MtlStridedView) fixed = mtl_strided_view_as_read_only (view);
  GstBuffer *buffer = get_buffer (fixed, NULL);
  GstMapInfo map;

  g_assert_true (GST_MEMORY_IS_READONLY (gst_buffer_peek_memory (buffer, 0)));
  assert_fails (mtl_gst_view_from_buffer (buffer, MTL_DTYPE_UINT8, DIMS (8), GST_MAP_READWRITE,
                                          &error), MTL_ERROR_READ_ONLY, "gst_buffer_copy_deep()");
  g_assert_true (gst_buffer_map (buffer, &map, GST_MAP_READWRITE));
  g_assert_true (map.data != mtl_strided_view_get_data (view));
  g_assert_cmpmem (map.data, map.size, mtl_strided_view_get_data (view), 8);
  gst_buffer_unmap (buffer, &map);
  assert_last_user (buffer);
}

static void
test_written_in_place (void)
{
  g_autoptr (MtlStridedView) view = view_new (MTL_DTYPE_UINT8, DIMS (8));
  GstBuffer *buffer = get_buffer (view, NULL);

  g_assert_cmpuint (gst_buffer_memset (buffer, 2, 77, 3), ==, 3);
  g_assert_cmpint (((guint8 *) mtl_strided_view_get_data (view))[4], ==, 77);
  assert_last_user (buffer);
}

static void
mark (gpointer data)
{
  g_atomic_int_inc ((int *) data);
}

static gpointer
unref_buffer (gpointer buffer)
{
  gst_buffer_unref (buffer);
  return NULL;
}

/* The view's end, the buffer's and that of a part of it, in all orders, the buffer's on another
 * thread. */
static void
test_ends (void)
{
  static guint8 bytes[64];

  for (int order = 0; order < 6; order++)
    {
      g_autoptr (GError) error = NULL;
      int n_ends = 0;
      MtlBuffer *memory = mtl_buffer_new_for_data (bytes, sizeof bytes, NULL, MTL_BUFFER_FLAGS_NONE,
                                                   mark, &n_ends, &error);
      g_autoptr (MtlStridedLayout) layout =
        mtl_strided_layout_new_dense (DIMS (64), MTL_ORDER_C, 8, &error);
      MtlStridedView *view = mtl_strided_view_new (memory, layout, MTL_DTYPE_UINT8, 0, &error);
      GstBuffer *buffer = get_buffer (view, NULL);
      GstBuffer *part = gst_buffer_copy_region (buffer, GST_BUFFER_COPY_MEMORY, 16, 8);
      gpointer ends[] = { view, buffer, part };
      GstMapInfo map;

      g_assert_no_error (error);
      g_object_unref (memory);
      g_assert_true (gst_buffer_map (part, &map, GST_MAP_READ));
      g_assert_true (map.data == bytes + 16);
      gst_buffer_unmap (part, &map);

      for (int i = 0; i < 3; i++)
        {
          /* 012 021 102 120 201 210 */
          const int which = i == 0 ? order / 2
                                   : (order / 2 + (order % 2 == 0 ? i : 3 - i)) % 3;

          g_assert_cmpint (n_ends, ==, 0);
          if (which == 0)
            g_object_unref (view);
          else
            g_thread_join (g_thread_new ("end", unref_buffer, ends[which]));
        }

      g_assert_cmpint (n_ends, ==, 1);
    }
}

/* A closed view, as garbage-collected languages end it, leaves the buffer's memory alone. */
static void
test_closed_view (void)
{
  g_autoptr (MtlStridedView) view = view_new (MTL_DTYPE_UINT8, DIMS (8));
  const guint8 first = *(guint8 *) mtl_strided_view_get_data (view);
  GstBuffer *buffer = get_buffer (view, NULL);
  g_autoptr (GError) error = NULL;
  guint8 byte;

  g_assert_false (mtl_strided_view_close (view, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (gst_buffer_extract (buffer, 0, &byte, 1), ==, 1);
  g_assert_cmpint (byte, ==, first);
  assert_last_user (buffer);
}

static void
test_metas (void)
{
  const GstVideoInfo rgb = video_info (GST_VIDEO_FORMAT_RGB, 6, 5);
  const GstVideoInfo rgba = video_info (GST_VIDEO_FORMAT_RGBA, 6, 5);
  g_autoptr (MtlStridedView) four = view_new (MTL_DTYPE_UINT8, DIMS (5, 6, 4));
  g_autoptr (MtlStridedView) three = view_new (MTL_DTYPE_UINT8, DIMS (5, 6, 3));
  g_autoptr (MtlStridedView) large = view_new (MTL_DTYPE_UINT8, DIMS (9, 10, 4));
  g_autoptr (MtlStridedView) crop = slice (large, "2:7, 1:7");
  GstVideoMeta *meta;
  GstBuffer *buffer;

  /* Layouts that GStreamer expects need no meta. */
  buffer = get_buffer (four, &rgba);
  g_assert_null (gst_buffer_get_video_meta (buffer));
  g_assert_cmpuint (gst_buffer_get_size (buffer), ==, rgba.size);
  assert_last_user (buffer);

  /* GStreamer would have rows of 20 bytes. */
  buffer = get_buffer (three, &rgb);
  meta = gst_buffer_get_video_meta (buffer);
  g_assert_cmpint (meta->stride[0], ==, 18);
  assert_last_user (buffer);

  buffer = get_buffer (crop, &rgba);
  meta = gst_buffer_get_video_meta (buffer);
  g_assert_cmpint (meta->stride[0], ==, 40);
  g_assert_cmpuint (meta->offset[0], ==, 0);
  g_assert_cmpuint (meta->width, ==, 6);
  g_assert_cmpuint (meta->height, ==, 5);
  g_assert_cmpuint (gst_buffer_get_size (buffer), ==, 4 * 40 + 24);
  assert_last_user (buffer);
}

/* A plane as a part of something larger. */
static MtlStridedView *
put_into_larger (MtlStridedView *plane)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) large = NULL;
  gint64 shape[3] = { 0 };
  MtlStridedView *part;
  gsize n_dims;

  n_dims = mtl_strided_view_get_n_dims (plane);
  memcpy (shape, mtl_strided_view_get_shape (plane, NULL), n_dims * sizeof *shape);
  shape[0] += 4;
  shape[1] += 5;
  large = view_new (mtl_strided_view_get_dtype (plane), shape, n_dims);
  part = slice (large, "2:-2, 3:-2");
  g_assert_true (mtl_strided_view_copy_from (part, plane, NULL, &error));
  g_assert_no_error (error);
  return part;
}

static GstBuffer *
frame_new (const GstVideoInfo *info)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, info->size, NULL);
  GstMapInfo map;

  g_assert_true (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
  for (gsize i = 0; i < map.size; i++)
    map.data[i] = (i * 2654435761u) >> 11;
  gst_buffer_unmap (buffer, &map);
  return buffer;
}

/* Converts a frame with GStreamer's own converter. */
static GBytes *
convert (const GstVideoInfo *info,
         GstBuffer          *buffer)
{
  GstVideoInfo out_info = video_info (GST_VIDEO_FORMAT_ARGB64, GST_VIDEO_INFO_WIDTH (info),
                                      GST_VIDEO_INFO_HEIGHT (info));
  g_autoptr (GstBuffer) out = gst_buffer_new_allocate (NULL, out_info.size, NULL);
  GstVideoConverter *converter = gst_video_converter_new (info, &out_info, NULL);
  GstVideoFrame frame, out_frame;
  gpointer bytes;
  gsize size;

  g_assert_true (gst_video_frame_map (&frame, info, buffer, GST_MAP_READ));
  g_assert_true (gst_video_frame_map (&out_frame, &out_info, out, GST_MAP_WRITE));
  gst_video_converter_frame (converter, &frame, &out_frame);
  gst_video_frame_unmap (&frame);
  gst_video_frame_unmap (&out_frame);
  gst_video_converter_free (converter);
  gst_buffer_extract_dup (out, 0, out_info.size, &bytes, &size);
  return g_bytes_new_take (bytes, size);
}

static void
assert_same_planes (GstBuffer          *buffer,
                    const GstVideoInfo *info,
                    MtlStridedView    **views)
{
  const guint n_memories = gst_buffer_n_memory (buffer);
  GstVideoFrame frame;

  g_assert_true (gst_video_frame_map (&frame, info, buffer, GST_MAP_READ));
  for (guint plane = 0; plane < GST_VIDEO_INFO_N_PLANES (info); plane++)
    g_assert_true (GST_VIDEO_FRAME_PLANE_DATA (&frame, plane)
                   == mtl_strided_view_get_data (views[plane]));
  gst_video_frame_unmap (&frame);
  g_assert_cmpuint (gst_buffer_n_memory (buffer), ==, n_memories);

  for (guint plane = 0; plane < GST_VIDEO_INFO_N_PLANES (info); plane++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedView) back =
        mtl_gst_view_from_video_buffer (buffer, info, plane, GST_MAP_READ, &error);

      g_assert_no_error (error);
      assert_same_view (back, views[plane]);
    }
}

/* A frame of GStreamer's, its planes as views, elsewhere, and a buffer of those. */
static void
check_format (GstVideoFormat format)
{
  const GstVideoInfo info = video_info (format, 13, 7);
  const guint n_planes = GST_VIDEO_INFO_N_PLANES (&info);
  g_autoptr (GstBuffer) frame = frame_new (&info);
  g_autoptr (GBytes) expected = convert (&info, frame);

  for (int elsewhere = 0; elsewhere < 2; elsewhere++)
    {
      MtlStridedView *views[GST_VIDEO_MAX_PLANES];
      g_autoptr (GBytes) actual = NULL;
      g_autoptr (GError) error = NULL;
      GstBuffer *buffer;

      for (guint plane = 0; plane < n_planes; plane++)
        {
          views[plane] = mtl_gst_view_from_video_buffer (frame, &info, plane, GST_MAP_READ, &error);
          g_assert_no_error (error);
          if (elsewhere)
            {
              g_autoptr (MtlStridedView) original = views[plane];

              views[plane] = put_into_larger (original);
            }
        }

      buffer = mtl_gst_video_buffer_from_views (views, n_planes, &info, &error);
      g_assert_no_error (error);
      assert_same_planes (buffer, &info, views);
      actual = convert (&info, buffer);
      g_assert_true (g_bytes_equal (actual, expected));
      assert_last_user (buffer);
      for (guint plane = 0; plane < n_planes; plane++)
        g_object_unref (views[plane]);
    }
}

static gboolean
has_views (GstVideoFormat format)
{
  const GstVideoInfo info = video_info (format, 16, 16);

  for (guint plane = 0; plane < GST_VIDEO_INFO_N_PLANES (&info); plane++)
    {
      g_autoptr (GstBuffer) frame = gst_buffer_new_allocate (NULL, info.size, NULL);
      g_autoptr (MtlStridedView) view =
        mtl_gst_view_from_video_buffer (frame, &info, plane, GST_MAP_READ, NULL);

      if (view == NULL)
        return FALSE;
    }

  return TRUE;
}

static void
test_all_formats (void)
{
  guint n_formats, n_checked = 0;
  const GstVideoFormat *formats = gst_video_formats_raw (&n_formats);

  for (guint i = 0; i < n_formats; i++)
    if (has_views (formats[i]))
      {
        g_test_message ("%s", gst_video_format_to_string (formats[i]));
        check_format (formats[i]);
        n_checked++;
      }

  g_test_message ("%u of %u formats", n_checked, n_formats);
  g_assert_cmpuint (n_checked, >=, 50);
}

/* Planes of one allocation become one memory, whatever their order, and those far apart do not. */
static void
test_memories (void)
{
  const GstVideoInfo info = video_info (GST_VIDEO_FORMAT_I420, 16, 8);
  g_autoptr (MtlStridedView) all = view_new (MTL_DTYPE_UINT8, DIMS (12, 16));
  g_autoptr (MtlStridedView) y = slice (all, "4:");
  g_autoptr (MtlStridedView) u = slice (all, ":4, 8:");
  g_autoptr (MtlStridedView) v = slice (all, ":4, :8");
  g_autoptr (MtlStridedView) fixed = mtl_strided_view_as_read_only (v);
  g_autoptr (MtlStridedView) many = view_new (MTL_DTYPE_UINT8, DIMS (100, 16));
  g_autoptr (MtlStridedView) far_y = slice (many, ":8");
  g_autoptr (MtlStridedView) far_u = slice (many, "50:54, :8");
  g_autoptr (MtlStridedView) far_v = slice (many, "90:94, :8");
  MtlStridedView *near_views[] = { y, u, v };
  MtlStridedView *fixed_views[] = { y, u, fixed };
  MtlStridedView *far_views[] = { far_y, far_u, far_v };
  g_autoptr (GError) error = NULL;
  GstBuffer *buffer;

  buffer = mtl_gst_video_buffer_from_views (near_views, 3, &info, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (gst_buffer_n_memory (buffer), ==, 1);
  g_assert_cmpuint (gst_buffer_get_size (buffer), ==, 12 * 16);
  g_assert_cmpuint (gst_buffer_get_video_meta (buffer)->offset[0], ==, 64);
  g_assert_cmpuint (gst_buffer_get_video_meta (buffer)->offset[1], ==, 8);
  g_assert_cmpuint (gst_buffer_get_video_meta (buffer)->offset[2], ==, 0);
  assert_same_planes (buffer, &info, near_views);
  g_assert_false (GST_MEMORY_IS_READONLY (gst_buffer_peek_memory (buffer, 0)));
  assert_last_user (buffer);

  buffer = mtl_gst_video_buffer_from_views (fixed_views, 3, &info, &error);
  g_assert_no_error (error);
  g_assert_true (GST_MEMORY_IS_READONLY (gst_buffer_peek_memory (buffer, 0)));
  assert_last_user (buffer);

  buffer = mtl_gst_video_buffer_from_views (far_views, 3, &info, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (gst_buffer_n_memory (buffer), ==, 3);
  assert_same_planes (buffer, &info, far_views);
  assert_last_user (buffer);
}

/* A picture of one row, of one column, of one pixel. */
static void
test_smallest (void)
{
  static const int sizes[][2] = { { 1, 1 }, { 1, 5 }, { 5, 1 } };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      const GstVideoInfo info = video_info (GST_VIDEO_FORMAT_RGB, sizes[i][0], sizes[i][1]);
      g_autoptr (MtlStridedView) large = view_new (MTL_DTYPE_UINT8, DIMS (9, 9, 3));
      g_autofree char *where = g_strdup_printf (":%d, :%d", sizes[i][1], sizes[i][0]);
      g_autoptr (MtlStridedView) view = slice (large, where);
      GstBuffer *buffer = get_buffer (view, &info);
      GstVideoFrame frame;

      g_assert_true (gst_video_frame_map (&frame, &info, buffer, GST_MAP_READ));
      g_assert_true (GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) == mtl_strided_view_get_data (view));
      gst_video_frame_unmap (&frame);
      assert_last_user (buffer);
    }
}

/* The stride that an info has for one row is never used. */
static void
test_one_row (void)
{
  static const int strides[] = { 18, 20, 17, 0, -20, G_MININT };

  for (guint i = 0; i < G_N_ELEMENTS (strides); i++)
    {
      GstVideoInfo info = video_info (GST_VIDEO_FORMAT_RGB, 6, 1);
      g_autoptr (MtlStridedView) view = view_new (MTL_DTYPE_UINT8, DIMS (1, 6, 3));
      g_autoptr (MtlStridedView) back = NULL;
      g_autoptr (GError) error = NULL;
      GstBuffer *buffer;

      info.stride[0] = strides[i];
      buffer = get_buffer (view, &info);
      back = mtl_gst_view_from_video_buffer (buffer, NULL, 0, GST_MAP_READ, &error);
      g_assert_no_error (error);
      g_assert_true (mtl_strided_view_get_data (back) == mtl_strided_view_get_data (view));
      g_assert_true (mtl_strided_view_array_equal (back, view, MTL_COMPARE_FLAGS_NONE, NULL,
                                                   &error));
      g_clear_object (&back);
      assert_last_user (buffer);
    }
}

/* Each field of an interlaced video in a buffer of its own, with half of the rows. */
static void
test_fields (void)
{
  g_autoptr (MtlStridedView) large = view_new (MTL_DTYPE_UINT8, DIMS (9, 20, 4));
  g_autoptr (MtlStridedView) view = slice (large, "2:6, :16");
  MtlStridedView *views[] = { view };
  GstVideoInfo info;
  GstBuffer *buffer;

  g_assert_true (gst_video_info_set_interlaced_format (&info, GST_VIDEO_FORMAT_RGBA,
                                                       GST_VIDEO_INTERLACE_MODE_ALTERNATE, 16, 8));
  buffer = get_buffer (view, &info);
  assert_same_planes (buffer, &info, views);
  assert_last_user (buffer);
}

static void
check_audio (MtlStridedView *view)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GstCaps) caps = mtl_gst_audio_caps_from_view (view, 48000, &error);
  const gint64 *shape = mtl_strided_view_get_shape (view, NULL);
  g_autoptr (MtlStridedView) back = NULL;
  GstAudioBuffer samples;
  GstAudioInfo info;
  GstBuffer *buffer;

  g_assert_no_error (error);
  g_assert_true (gst_audio_info_from_caps (&info, caps));
  buffer = mtl_gst_audio_buffer_from_view (view, &info, &error);
  g_assert_no_error (error);

  g_assert_true (gst_audio_buffer_map (&samples, &info, buffer, GST_MAP_READ));
  g_assert_cmpuint (samples.n_samples, ==, shape[0]);
  for (gint64 i = 0; i < shape[0]; i++)
    for (gint64 channel = 0; channel < shape[1]; channel++)
      {
        const gboolean planar = info.layout == GST_AUDIO_LAYOUT_NON_INTERLEAVED;
        const gint16 *plane = samples.planes[planar ? channel : 0];
        const gint64 indices[] = { i, channel };

        g_assert_cmpint (mtl_strided_view_get_int64 (view, indices, 2, &error), ==,
                         plane[planar ? i : i * shape[1] + channel]);
      }
  gst_audio_buffer_unmap (&samples);

  back = mtl_gst_view_from_audio_buffer (buffer, &info, GST_MAP_READ, &error);
  g_assert_no_error (error);
  assert_same_view (back, view);
  g_clear_object (&back);
  assert_last_user (buffer);
}

static void
test_audio (void)
{
  g_autoptr (MtlStridedView) interleaved = view_new (MTL_DTYPE_INT16, DIMS (100, 3));
  g_autoptr (MtlStridedView) planes = view_new (MTL_DTYPE_INT16, DIMS (3, 120));
  g_autoptr (MtlStridedView) some = slice (planes, ":, 10:110");
  g_autoptr (MtlStridedView) reversed = slice (some, "::-1");
  g_autoptr (MtlStridedView) planar = mtl_strided_view_transpose (some);
  g_autoptr (MtlStridedView) backwards = mtl_strided_view_transpose (reversed);
  g_autoptr (MtlStridedView) many = view_new (MTL_DTYPE_INT16, DIMS (70, 4));
  g_autoptr (MtlStridedView) many_planes = mtl_strided_view_transpose (many);
  g_autoptr (MtlStridedView) mono = view_new (MTL_DTYPE_INT16, DIMS (10, 1));

  check_audio (interleaved);
  check_audio (planar);
  check_audio (backwards);
  check_audio (many_planes);
  check_audio (mono);

  /* Also if what they span is not a whole number of frames, up to the end of the memory. */
  for (int end = 101; end <= 120; end++)
    {
      g_autofree char *where = g_strdup_printf (":, %d:%d", end - 100, end);
      g_autoptr (MtlStridedView) part = slice (planes, where);
      g_autoptr (MtlStridedView) any = mtl_strided_view_transpose (part);
      g_autofree char *fewer = g_strdup_printf (":, :%d", end - 100);
      g_autoptr (MtlStridedView) short_part = slice (planes, fewer);
      g_autoptr (MtlStridedView) few = mtl_strided_view_transpose (short_part);

      check_audio (any);
      check_audio (few);
    }
}

int
main (int    argc,
      char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/gst-buffer/bytes", test_bytes);
  g_test_add_func ("/gst-buffer/bytes-of-bits", test_bytes_of_bits);
  g_test_add_func ("/gst-buffer/read-only", test_read_only);
  g_test_add_func ("/gst-buffer/written-in-place", test_written_in_place);
  g_test_add_func ("/gst-buffer/ends", test_ends);
  g_test_add_func ("/gst-buffer/closed-view", test_closed_view);
  g_test_add_func ("/gst-buffer/metas", test_metas);
  g_test_add_func ("/gst-buffer/all-formats", test_all_formats);
  g_test_add_func ("/gst-buffer/memories", test_memories);
  g_test_add_func ("/gst-buffer/smallest", test_smallest);
  g_test_add_func ("/gst-buffer/one-row", test_one_row);
  g_test_add_func ("/gst-buffer/fields", test_fields);
  g_test_add_func ("/gst-buffer/audio", test_audio);
  return g_test_run ();
}
