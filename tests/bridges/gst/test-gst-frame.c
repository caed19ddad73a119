/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <gst/video/gstvideofilter.h>

#include "test-gst-buffer-utils.h"
#include "test-gst-view-utils.h"

static void
map_frame (GstVideoFrame      *frame,
           const GstVideoInfo *info,
           GstBuffer          *buffer,
           GstMapFlags         flags)
{
  g_assert_true (gst_video_frame_map (frame, (GstVideoInfo *) info, buffer, flags));
}

static MtlStridedView *
view_plane (GstVideoFrame *frame,
            guint          plane)
{
  GError *error = NULL;
  MtlStridedView *view = mtl_gst_view_from_video_frame (frame, plane, &error);

  return assert_view (view, error);
}

typedef MtlStridedView *(* FrameFunc) (GstVideoFrame *, guint, GError **);
typedef MtlStridedView *(* BufferFunc) (GstBuffer *, const GstVideoInfo *, guint, GstMapFlags,
                                        GError **);

/* Either both are views of the same elements, or both fail for the same reason. */
static guint
assert_as_from_buffer (GstVideoFrame      *frame,
                       const GstVideoInfo *info,
                       FrameFunc           from_frame,
                       BufferFunc          from_buffer,
                       guint               index)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) expected_error = NULL;
  g_autoptr (MtlStridedView) view = from_frame (frame, index, &error);
  g_autoptr (MtlStridedView) expected =
    from_buffer (frame->buffer, info, index, GST_MAP_READ, &expected_error);

  if (expected == NULL)
    {
      g_assert_null (view);
      g_assert_error (error, MTL_ERROR, expected_error->code);
      g_assert_cmpstr (error->message, ==, expected_error->message);
      return 0;
    }

  g_assert_no_error (error);
  assert_same_view (view, expected);
  return 1;
}

/* All formats of GStreamer, planes, components, and those beyond. */
static void
test_formats (void)
{
  g_autoptr (GEnumClass) formats = g_type_class_ref (GST_TYPE_VIDEO_FORMAT);
  guint n_views = 0;

  for (guint i = 0; i < formats->n_values; i++)
    {
      g_autoptr (GstBuffer) buffer = NULL;
      GstVideoFrame frame;
      GstVideoInfo info;

      if (formats->values[i].value <= GST_VIDEO_FORMAT_ENCODED)
        continue;

      set_info (&info, formats->values[i].value, 23, 13);
      buffer = random_frame_new (&info);
      if (i % 2 == 0)
        gst_buffer_add_video_meta (buffer, 0, formats->values[i].value, 23, 13);
      map_frame (&frame, &info, buffer, GST_MAP_READ);
      for (guint index = 0; index < 5; index++)
        {
          n_views += assert_as_from_buffer (&frame, &info, mtl_gst_view_from_video_frame,
                                            mtl_gst_view_from_video_buffer, index);
          n_views += assert_as_from_buffer (&frame, &info, mtl_gst_view_from_video_frame_component,
                                            mtl_gst_view_from_video_buffer_component, index);
        }
      gst_video_frame_unmap (&frame);
      assert_untouched (buffer, 0, gst_buffer_peek_memory (buffer, 0));
    }

  g_assert_cmpuint (n_views, >, 200);
}

/* Sizes, strides and offsets as a meta has them, which may be any. */
static void
test_random_metas (void)
{
  guint n_views = 0;

  for (int i = 0; i < 3000; i++)
    {
      const int width = g_test_rand_int_range (1, 20), height = g_test_rand_int_range (1, 12);
      gsize offsets[GST_VIDEO_MAX_PLANES];
      int strides[GST_VIDEO_MAX_PLANES];
      g_autoptr (GstBuffer) buffer = random_buffer_new (g_test_rand_int_range (40, 1500));
      GstVideoFrame frame;
      GstVideoInfo info;

      set_info (&info, GST_VIDEO_FORMAT_NV12, width, height);
      for (guint plane = 0; plane < GST_VIDEO_MAX_PLANES; plane++)
        {
          offsets[plane] = g_test_rand_int_range (0, 600);
          strides[plane] = g_test_rand_int_range (-40, 60);
        }
      gst_buffer_add_video_meta_full (buffer, 0, GST_VIDEO_FORMAT_NV12, width, height, 2, offsets,
                                      strides);
      if (!gst_video_frame_map (&frame, &info, buffer, GST_MAP_READ))
        continue;

      for (guint index = 0; index < 3; index++)
        {
          g_autoptr (GError) error = NULL;
          g_autoptr (MtlStridedView) view = mtl_gst_view_from_video_frame (&frame, index, &error);
          g_autoptr (MtlStridedView) expected =
            mtl_gst_view_from_video_buffer (buffer, NULL, index, GST_MAP_READ, NULL);

          g_assert_true ((view == NULL) == (expected == NULL));
          if (view != NULL)
            {
              assert_same_view (view, expected);
              n_views++;
            }
        }
      gst_video_frame_unmap (&frame);
      assert_untouched (buffer, 0, gst_buffer_peek_memory (buffer, 0));
    }

  g_assert_cmpuint (n_views, >, 1000);
}

static void
test_writable (void)
{
  static const GstMapFlags flags[] = { GST_MAP_READ, GST_MAP_WRITE, GST_MAP_READWRITE };
  GstVideoInfo info;

  set_info (&info, GST_VIDEO_FORMAT_NV12, 16, 8);
  for (guint i = 0; i < G_N_ELEMENTS (flags); i++)
    {
      g_autoptr (GstBuffer) buffer = random_frame_new (&info);
      g_autoptr (MtlStridedView) luma = NULL;
      g_autoptr (MtlStridedView) chroma = NULL;
      g_autoptr (MtlStridedView) blue = NULL;
      GError *error = NULL;
      GstVideoFrame frame;
      guint8 byte;

      map_frame (&frame, &info, buffer, flags[i]);
      luma = view_plane (&frame, 0);
      chroma = view_plane (&frame, 1);
      blue = assert_view (mtl_gst_view_from_video_frame_component (&frame, 1, &error), error);
      g_assert_true (mtl_strided_view_is_read_only (luma) == (flags[i] == GST_MAP_READ));
      g_assert_true (mtl_strided_view_is_read_only (chroma) == (flags[i] == GST_MAP_READ));
      if (flags[i] != GST_MAP_READ)
        {
          g_assert_true (mtl_strided_view_fill_double (luma, 7, NULL, NULL));
          g_assert_true (mtl_strided_view_fill_double (chroma, 8, NULL, NULL));
          g_assert_true (mtl_strided_view_fill_double (blue, 9, NULL, NULL));
        }
      gst_video_frame_unmap (&frame);
      g_clear_object (&luma);
      g_clear_object (&chroma);
      g_clear_object (&blue);

      assert_untouched (buffer, 0, gst_buffer_peek_memory (buffer, 0));
      for (guint offset = 0; flags[i] != GST_MAP_READ && offset < 16 * 12; offset++)
        {
          g_assert_cmpuint (gst_buffer_extract (buffer, offset, &byte, 1), ==, 1);
          g_assert_cmpuint (byte, ==, offset < 128 ? 7 : offset % 2 == 0 ? 9 : 8);
        }
    }
}

/* The memory and the buffer stay, whichever is given back first. */
static void
test_outlives_mapping (void)
{
  static const GstMapFlags flags[] = {
    GST_MAP_READ, GST_MAP_WRITE, GST_MAP_READWRITE,
    (GstMapFlags) (GST_MAP_WRITE | GST_VIDEO_FRAME_MAP_FLAG_NO_REF),
  };
  GstVideoInfo info;

  set_info (&info, GST_VIDEO_FORMAT_RGB, 5, 3);
  for (guint i = 0; i < G_N_ELEMENTS (flags); i++)
    {
      GstBuffer *buffer = random_frame_new (&info);
      MtlStridedView *view;
      GstVideoFrame frame;
      GstMemory *memory = gst_memory_ref (gst_buffer_peek_memory (buffer, 0));
      guint8 *data;

      map_frame (&frame, &info, buffer, flags[i]);
      view = view_plane (&frame, 0);
      data = mtl_strided_view_get_data (view);
      gst_video_frame_unmap (&frame);
      g_assert_false (gst_buffer_is_writable (buffer));
      gst_buffer_unref (buffer);

      data[0] = data[47 - 1];
      g_object_unref (view);
      g_assert_cmpint (memory->mini_object.lockstate, ==, 0);
      g_assert_cmpint (GST_MINI_OBJECT_REFCOUNT_VALUE (memory), ==, 1);
      gst_memory_unref (memory);
    }
}

/* GStreamer would leave the memory locked for ever if who has it mapped for more ends first. */
static void
test_locks_end (void)
{
  static const GstMapFlags flags[] = { GST_MAP_READ, GST_MAP_WRITE, GST_MAP_READWRITE };
  GstVideoInfo info;

  set_info (&info, GST_VIDEO_FORMAT_RGB, 5, 3);
  for (guint i = 0; i < G_N_ELEMENTS (flags); i++)
    {
      g_autoptr (GstBuffer) buffer = random_frame_new (&info);
      GstMemory *memory = gst_buffer_peek_memory (buffer, 0);
      g_autoptr (MtlStridedView) view = NULL;
      GstVideoFrame frame;
      GstMapInfo map;

      g_assert_true (gst_memory_map (memory, &map, GST_MAP_READWRITE));
      map_frame (&frame, &info, buffer, flags[i]);
      view = view_plane (&frame, 0);
      gst_video_frame_unmap (&frame);
      gst_memory_unmap (memory, &map);
      g_clear_object (&view);
      assert_untouched (buffer, 0, memory);
    }
}

/* Each plane in a memory of its own, or joined by GStreamer in a copy. */
static void
test_memories (void)
{
  GstVideoInfo info;

  set_info (&info, GST_VIDEO_FORMAT_I420, 16, 8);
  for (int with_meta = 0; with_meta < 2; with_meta++)
    {
      g_autoptr (GstBuffer) buffer = gst_buffer_new ();
      GstVideoFrame frame;

      for (guint plane = 0; plane < 3; plane++)
        gst_buffer_append_memory (buffer, gst_allocator_alloc (NULL, plane == 0 ? 128 : 32, NULL));
      if (with_meta)
        gst_buffer_add_video_meta (buffer, 0, GST_VIDEO_FORMAT_I420, 16, 8);

      map_frame (&frame, &info, buffer, GST_MAP_READWRITE);
      for (guint plane = 0; plane < 3; plane++)
        {
          g_autoptr (MtlStridedView) view = view_plane (&frame, plane);

          g_assert_true (mtl_strided_view_get_data (view) == frame.data[plane]);
          g_assert_true (mtl_strided_view_fill_double (view, 50 + plane, NULL, NULL));
        }
      gst_video_frame_unmap (&frame);

      for (guint plane = 0; plane < 3; plane++)
        {
          guint8 byte;

          gst_buffer_extract (buffer, plane == 0 ? 0 : 96 + 32 * plane, &byte, 1);
          g_assert_cmpuint (byte, ==, 50 + plane);
        }
      g_assert_cmpint (GST_MINI_OBJECT_REFCOUNT_VALUE (buffer), ==, 1);
    }
}

static gboolean
map_nothing (GstVideoMeta *meta,
             guint         plane,
             GstMapInfo   *map,
             gpointer     *data,
             int          *stride,
             GstMapFlags   flags)
{
  static guint8 elsewhere[100];

  *map = (GstMapInfo) { .flags = flags };
  *data = elsewhere;
  *stride = 10;
  return TRUE;
}

static gboolean
unmap_nothing (GstVideoMeta *meta,
               guint         plane,
               GstMapInfo   *map)
{
  return TRUE;
}

static void
test_refused (void)
{
  g_autoptr (GstBuffer) buffer = NULL;
  g_autoptr (GstBuffer) strange = random_buffer_new (100);
  GstVideoFrame frame = { 0 };
  GstVideoMeta *meta;
  GstVideoInfo info;
  g_autofree char *foreign_flags = NULL;
  GstMapFlags flags;

  assert_fails (mtl_gst_view_from_video_frame (&frame, 0, &error), MTL_ERROR_INVALID_ARGUMENT,
                "gst_video_frame_map()");
  gst_video_info_init (&frame.info);
  assert_fails (mtl_gst_view_from_video_frame_component (&frame, 0, &error),
                MTL_ERROR_INVALID_ARGUMENT, "gst_video_frame_map()");

  set_info (&info, GST_VIDEO_FORMAT_RGB, 5, 3);
  buffer = random_frame_new (&info);
  map_frame (&frame, &info, buffer, GST_MAP_READ);
  flags = frame.map[0].flags; /* with one that GStreamer 1.28 adds */
  assert_fails (mtl_gst_view_from_video_frame (&frame, 1, &error), MTL_ERROR_OUT_OF_BOUNDS, "1");
  assert_fails (mtl_gst_view_from_video_frame_component (&frame, G_MAXUINT, &error),
                MTL_ERROR_OUT_OF_BOUNDS, "4294967295");

  frame.map[0].flags |= GST_MAP_FLAG_LAST << 1; /* as GL, CUDA and others have it */
  foreign_flags = g_strdup_printf ("0x%x", frame.map[0].flags);
  assert_fails (mtl_gst_view_from_video_frame (&frame, 0, &error), MTL_ERROR_NOT_SUPPORTED,
                foreign_flags);
  frame.map[0].flags = 0;
  assert_fails (mtl_gst_view_from_video_frame (&frame, 0, &error), MTL_ERROR_NOT_SUPPORTED, "0x0");
  frame.map[0].flags = flags;
  gst_video_frame_unmap (&frame);
  assert_untouched (buffer, 0, gst_buffer_peek_memory (buffer, 0));

  meta = gst_buffer_add_video_meta (strange, 0, GST_VIDEO_FORMAT_GRAY8, 10, 10);
  meta->map = map_nothing;
  meta->unmap = unmap_nothing;
  set_info (&info, GST_VIDEO_FORMAT_GRAY8, 10, 10);
  map_frame (&frame, &info, strange, GST_MAP_READ);
  assert_fails (mtl_gst_view_from_video_frame (&frame, 0, &error), MTL_ERROR_NOT_SUPPORTED, "0");
  gst_video_frame_unmap (&frame);
}

/* Values that a binding or an element may have written to a frame that is mapped. */
static void
test_random_frames (void)
{
  static const int extents[] = { 0, 1, 5, -1, G_MAXINT, G_MININT, 4, 6 };
  guint n_views = 0;

  for (int i = 0; i < 5000; i++)
    {
      g_autoptr (GstBuffer) buffer = NULL;
      g_autoptr (MtlStridedView) view = NULL;
      g_autoptr (GError) error = NULL;
      GstVideoFrame frame, changed;
      GstVideoInfo info;
      const guint8 *begin, *end;

      set_info (&info, GST_VIDEO_FORMAT_RGB, 5, 3);
      buffer = random_frame_new (&info);
      map_frame (&frame, &info, buffer, GST_MAP_READ);
      changed = frame;
      changed.info.width = extents[g_test_rand_int_range (0, G_N_ELEMENTS (extents))];
      changed.info.height = extents[g_test_rand_int_range (0, G_N_ELEMENTS (extents))];
      if (g_test_rand_bit ())
        changed.info.stride[0] = g_test_rand_bit () ? g_test_rand_int () : -16;
      if (g_test_rand_bit ())
        changed.data[0] = (guint8 *) changed.data[0] + g_test_rand_int_range (-60, 60);
      if (g_test_rand_int_range (0, 8) == 0)
        changed.data[0] = (gpointer) (gsize) g_test_rand_int ();

      begin = frame.map[0].data;
      end = begin + frame.map[0].size;
      view =
        mtl_gst_view_from_video_frame_component (&changed, g_test_rand_int_range (0, 4), &error);
      if (view == NULL)
        {
          g_assert_error (error, MTL_ERROR, error->code);
        }
      else
        {
          const gint64 *shape = mtl_strided_view_get_shape (view, NULL);

          for (gint64 row = 0; row < shape[0]; row++)
            for (gint64 column = 0; column < shape[1]; column++)
              g_assert_true (get_element (view, row, column, 0) >= begin
                             && get_element (view, row, column, 0) < end);
          n_views++;
        }
      gst_video_frame_unmap (&frame);
    }

  g_assert_cmpuint (n_views, >, 100);
}

static void
test_too_many (void)
{
  g_autoptr (GPtrArray) views = g_ptr_array_new_with_free_func (g_object_unref);
  g_autoptr (GstBuffer) buffer = NULL;
  GError *error = NULL;
  GstVideoFrame frame;
  GstVideoInfo info;
  MtlStridedView *view;

  set_info (&info, GST_VIDEO_FORMAT_RGB, 5, 3);
  buffer = random_frame_new (&info);
  map_frame (&frame, &info, buffer, GST_MAP_WRITE);
  while ((view = mtl_gst_view_from_video_frame (&frame, 0, &error)) != NULL)
    g_ptr_array_add (views, view);
  g_assert_error (error, MTL_ERROR, MTL_ERROR_NO_MEMORY);
  g_clear_error (&error);
  g_ptr_array_set_size (views, 0);
  gst_video_frame_unmap (&frame);
  assert_untouched (buffer, 0, gst_buffer_peek_memory (buffer, 0));
}

/* Swaps red and blue from one frame to another, or inverts one in place. */
typedef struct
{
  GstVideoFilter parent_instance;
} Filter;

typedef GstVideoFilterClass FilterClass;

static GType filter_get_type (void);

G_DEFINE_TYPE (Filter, filter, GST_TYPE_VIDEO_FILTER)

static GstFlowReturn
filter_transform_frame (GstVideoFilter *self,
                        GstVideoFrame  *in,
                        GstVideoFrame  *out)
{
  g_autoptr (MtlStridedView) source = view_plane (in, 0);
  g_autoptr (MtlStridedView) target = view_plane (out, 0);
  g_autoptr (MtlStridedView) swapped = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_true (mtl_strided_view_is_read_only (source));
  swapped = mtl_strided_view_slice_string (source, ":, :, ::-1", &error);
  g_assert_no_error (error);
  g_assert_true (mtl_strided_view_copy_from (target, swapped, NULL, &error));
  return GST_FLOW_OK;
}

static void
filter_class_init (FilterClass *class)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (class);
  g_autoptr (GstCaps) caps = gst_caps_from_string ("video/x-raw, format=RGB");

  gst_element_class_set_static_metadata (element_class, "Swap", "Filter", "Swaps", "Tests");
  gst_element_class_add_pad_template (element_class,
                                      gst_pad_template_new ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
                                                            caps));
  gst_element_class_add_pad_template (element_class,
                                      gst_pad_template_new ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
                                                            caps));
  class->transform_frame = filter_transform_frame;
}

static void
filter_init (Filter *self)
{
}

static void
on_handoff (GstElement *sink,
            GstBuffer  *buffer,
            GstPad     *pad,
            guint      *n_frames)
{
  guint8 pixel[3];

  gst_buffer_extract (buffer, 0, pixel, 3);
  g_assert_cmpmem (pixel, 3, ((guint8[]) { 0, 0, 255 }), 3);
  ++*n_frames;
}

static void
test_filter (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GstElement) pipeline = NULL;
  g_autoptr (GstElement) sink = NULL;
  g_autoptr (GstMessage) message = NULL;
  g_autoptr (GstBus) bus = NULL;
  guint n_frames = 0;

  gst_element_register (NULL, "mtlswap", GST_RANK_NONE, filter_get_type ());
  pipeline = gst_parse_launch ("videotestsrc pattern=red num-buffers=5"
                               " ! video/x-raw,format=RGB,width=21,height=9 ! mtlswap"
                               " ! fakesink name=sink signal-handoffs=true", &error);
  g_assert_no_error (error);
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_signal_connect (sink, "handoff", G_CALLBACK (on_handoff), &n_frames);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  bus = gst_element_get_bus (pipeline);
  message = gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_EOS);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  g_assert_cmpuint (n_frames, ==, 5);
}

int
main (int    argc,
      char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/gst/frame/formats", test_formats);
  g_test_add_func ("/gst/frame/random-metas", test_random_metas);
  g_test_add_func ("/gst/frame/writable", test_writable);
  g_test_add_func ("/gst/frame/outlives-mapping", test_outlives_mapping);
  g_test_add_func ("/gst/frame/locks-end", test_locks_end);
  g_test_add_func ("/gst/frame/memories", test_memories);
  g_test_add_func ("/gst/frame/refused", test_refused);
  g_test_add_func ("/gst/frame/random-frames", test_random_frames);
  g_test_add_func ("/gst/frame/too-many", test_too_many);
  g_test_add_func ("/gst/frame/filter", test_filter);

  return g_test_run ();
}
