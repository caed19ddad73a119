/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>
#include <unistd.h>

#include "test-gst-buffer-utils.h"

/* TRUE if this machine has all elements that the text of a pipeline names. */
static gboolean
has_elements (const char *text)
{
  g_auto (GStrv) parts = g_strsplit (text, " ! ", -1);

  for (guint i = 0; parts[i] != NULL; i++)
    {
      g_auto (GStrv) words = g_strsplit (parts[i], " ", 2);
      g_autoptr (GstElementFactory) factory = NULL;

      if (strchr (words[0], '/') != NULL)
        continue;

      factory = gst_element_factory_find (words[0]);
      if (factory == NULL)
        {
          g_test_message ("no element “%s”", words[0]);
          return FALSE;
        }
    }

  return TRUE;
}

static GstElement *
pipeline_new (const char *text)
{
  g_autoptr (GError) error = NULL;
  GstElement *pipeline = gst_parse_launch (text, &error);

  g_assert_no_error (error);
  return pipeline;
}

/* Returns the output for one buffer of input. */
static GBytes *
run (const char *elements,
     GstBuffer  *buffer,
     GstCaps    *caps)
{
  g_autofree char *text =
    g_strdup_printf ("appsrc name=source format=time ! %s ! appsink name=sink sync=false",
                     elements);
  g_autoptr (GstElement) pipeline = pipeline_new (text);
  g_autoptr (GstElement) source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GstSample *sample = NULL;
  GstFlowReturn flow;
  gpointer bytes;
  gsize size;

  g_object_set (source, "caps", caps, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_signal_emit_by_name (source, "push-buffer", buffer, &flow);
  g_assert_cmpint (flow, ==, GST_FLOW_OK);
  g_signal_emit_by_name (source, "end-of-stream", &flow);
  g_signal_emit_by_name (sink, "pull-sample", &sample);
  g_assert_nonnull (sample);
  gst_buffer_extract_dup (gst_sample_get_buffer (sample), 0, G_MAXSIZE, &bytes, &size);
  gst_sample_unref (sample);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return g_bytes_new_take (bytes, size);
}

/* Copies a frame to memory of GStreamer's, in the layout that it expects. */
static GstBuffer *
copy_frame (GstBuffer          *buffer,
            const GstVideoInfo *info)
{
  GstBuffer *copy = gst_buffer_new_allocate (NULL, info->size, NULL);
  GstVideoFrame frame, copied;

  gst_buffer_memset (copy, 0, 0, info->size);
  g_assert_true (gst_video_frame_map (&frame, info, buffer, GST_MAP_READ));
  g_assert_true (gst_video_frame_map (&copied, info, copy, GST_MAP_WRITE));
  g_assert_true (gst_video_frame_copy (&copied, &frame));
  gst_video_frame_unmap (&frame);
  gst_video_frame_unmap (&copied);
  GST_BUFFER_PTS (copy) = 0;
  return copy;
}

static const char *const video_elements[] = {
  "videoconvert ! video/x-raw,format=I420",
  "identity ! videoconvert ! video/x-raw,format=ARGB64",
  "queue ! videoconvert ! video/x-raw,format=GRAY8",
  "videoconvert ! videoflip method=horizontal-flip ! videoconvert ! video/x-raw,format=ARGB64",
  "videoconvert ! videoflip method=clockwise ! videoconvert ! video/x-raw,format=ARGB64",
  "videoconvert ! videobalance saturation=0.3 ! videoconvert ! video/x-raw,format=ARGB64",
  "videoscale ! video/x-raw,width=9,height=20 ! videoconvert ! video/x-raw,format=ARGB64",
  "videoconvert ! videocrop left=3 top=2 ! videoconvert ! video/x-raw,format=ARGB64",
  "videoconvert ! videobox left=-3 top=2 ! videoconvert ! video/x-raw,format=ARGB64",
  "videoconvert ! gamma gamma=1.5 ! videoconvert ! video/x-raw,format=ARGB64",
  "videoconvert ! pngenc",
  "videoconvert ! jpegenc",
};

static void
check_elements (MtlStridedView     *view,
                const GstVideoInfo *info)
{
  g_autoptr (GstCaps) caps = gst_video_info_to_caps (info);

  for (guint i = 0; i < G_N_ELEMENTS (video_elements); i++)
    {
      /* In-place elements write to the memory. */
      g_autoptr (MtlStridedView) fixed = mtl_strided_view_as_read_only (view);
      g_autoptr (GstBuffer) buffer = get_buffer (fixed, info);
      g_autoptr (GstBuffer) plain = copy_frame (buffer, info);
      g_autoptr (GBytes) actual = NULL;
      g_autoptr (GBytes) expected = NULL;

      if (!has_elements (video_elements[i]))
        continue;

      g_test_message ("%s of %s", video_elements[i], GST_VIDEO_INFO_NAME (info));
      GST_BUFFER_PTS (buffer) = 0;
      actual = run (video_elements[i], buffer, caps);
      expected = run (video_elements[i], plain, caps);
      g_assert_cmpuint (g_bytes_get_size (expected), >, 0);
      g_assert_true (g_bytes_equal (actual, expected));
    }
}

static void
test_video_elements (void)
{
  const GstVideoInfo rgba = video_info (GST_VIDEO_FORMAT_RGBA, 16, 14);
  const GstVideoInfo rgb = video_info (GST_VIDEO_FORMAT_RGB, 16, 14);
  const GstVideoInfo gray = video_info (GST_VIDEO_FORMAT_GRAY8, 16, 14);
  g_autoptr (MtlStridedView) four = view_new (MTL_DTYPE_UINT8, DIMS (30, 40, 4));
  g_autoptr (MtlStridedView) crop = slice (four, "5:19, 7:23");
  g_autoptr (MtlStridedView) three = view_new (MTL_DTYPE_UINT8, DIMS (14, 16, 3));
  g_autoptr (MtlStridedView) one = view_new (MTL_DTYPE_UINT8, DIMS (14, 16));

  check_elements (crop, &rgba);
  check_elements (three, &rgb);
  check_elements (one, &gray);
}

/* The buffer's only user is the element. */
static GstFlowReturn
push (GstElement *element,
      GstBuffer  *buffer,
      GstCaps    *caps)
{
  GstPad *source = gst_pad_new ("source", GST_PAD_SRC);
  g_autoptr (GstPad) sink = gst_element_get_static_pad (element, "sink");
  GstSegment segment;
  GstFlowReturn flow;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  g_assert_cmpint (gst_pad_link (source, sink), ==, GST_PAD_LINK_OK);
  g_assert_true (gst_pad_set_active (source, TRUE));
  g_assert_true (gst_pad_push_event (source, gst_event_new_stream_start ("test")));
  g_assert_true (gst_pad_push_event (source, gst_event_new_caps (caps)));
  g_assert_true (gst_pad_push_event (source, gst_event_new_segment (&segment)));
  flow = gst_pad_push (source, buffer);
  gst_pad_set_active (source, FALSE);
  gst_pad_unlink (source, sink);
  gst_object_unref (source);
  return flow;
}

/* An element that works in place does so in the view's memory, and nowhere else. */
static void
test_in_place (void)
{
  const GstVideoInfo info = video_info (GST_VIDEO_FORMAT_RGBA, 6, 5);
  g_autoptr (GstCaps) caps = gst_video_info_to_caps (&info);
  g_autoptr (MtlStridedView) large = view_new (MTL_DTYPE_UINT8, DIMS (9, 10, 4));
  g_autoptr (MtlStridedView) view = slice (large, "2:7, 1:7");
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) before = mtl_strided_view_copy (large, MTL_ORDER_C, NULL, &error);
  g_autoptr (MtlStridedView) inside = slice (before, "2:7, 1:7");
  g_autoptr (GstElement) pipeline =
    pipeline_new ("videobalance name=balance brightness=1 ! fakesink sync=false async=false");
  g_autoptr (GstElement) balance = gst_bin_get_by_name (GST_BIN (pipeline), "balance");

  g_assert_no_error (error);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_assert_cmpint (push (balance, get_buffer (view, &info), caps), ==, GST_FLOW_OK);
  gst_element_set_state (pipeline, GST_STATE_NULL);

  g_assert_false (mtl_strided_view_array_equal (view, inside, MTL_COMPARE_FLAGS_NONE, NULL,
                                                &error));
  g_assert_true (mtl_strided_view_copy_from (view, inside, NULL, &error));
  g_assert_true (mtl_strided_view_array_equal (large, before, MTL_COMPARE_FLAGS_NONE, NULL,
                                               &error));
  g_assert_no_error (error);
}

static void
check_audio_elements (gint64      n_channels,
                      const char *part,
                      gboolean    is_trimmed)
{
  static const char *const elements[] = {
    "audioconvert ! audio/x-raw,format=S32LE,layout=interleaved",
    "audioconvert ! audio/x-raw,format=F64LE,layout=interleaved,channels=1",
    "audioresample ! audioconvert ! audio/x-raw,layout=interleaved",
  };
  g_autoptr (MtlStridedView) planes = view_new (MTL_DTYPE_INT16, DIMS (n_channels, 200));
  g_autoptr (MtlStridedView) some = slice (planes, part);
  g_autoptr (MtlStridedView) untrimmed = mtl_strided_view_transpose (some);
  g_autoptr (MtlStridedView) planar = is_trimmed ? trim (untrimmed) : g_object_ref (untrimmed);
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) interleaved = mtl_strided_view_copy (planar, MTL_ORDER_C, NULL,
                                                                  &error);
  MtlStridedView *const views[] = { planar, interleaved };

  for (guint i = 0; i < G_N_ELEMENTS (elements); i++)
    {
      GBytes *results[2];

      for (guint j = 0; j < 2; j++)
        {
          g_autoptr (GstCaps) caps = mtl_gst_audio_caps_from_view (views[j], 8000, &error);
          g_autoptr (GstBuffer) buffer = NULL;
          GstAudioInfo info;

          g_assert_true (gst_audio_info_from_caps (&info, caps));
          buffer = mtl_gst_audio_buffer_from_view (views[j], &info, &error);
          g_assert_no_error (error);
          GST_BUFFER_PTS (buffer) = 0;
          results[j] = run (elements[i], buffer, caps);
        }

      g_assert_cmpuint (g_bytes_get_size (results[0]), >=, 100);
      g_assert_true (g_bytes_equal (results[0], results[1]));
      g_bytes_unref (results[0]);
      g_bytes_unref (results[1]);
    }
}

/* Elements refuse a buffer without a whole number of frames. */
static void
test_audio_elements (void)
{
  static const char *const parts[] = {
    ":, 50:150", ":, :101", ":, 100:", ":, 99:", ":, 50:153", ":, ::",
  };

  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    for (gint64 n_channels = 2; n_channels <= 8; n_channels += 3)
      {
        check_audio_elements (n_channels, parts[i], FALSE);
        check_audio_elements (n_channels, parts[i], TRUE);
      }
}

#define N_FRAMES 10000

static int n_alive;

static void
free_frame (gpointer data)
{
  g_free (data);
  g_atomic_int_add (&n_alive, -1);
}

static GstBuffer *
new_frame (const GstVideoInfo *info)
{
  g_autoptr (GError) error = NULL;
  gpointer data = g_malloc0 (info->size);
  g_autoptr (MtlBuffer) memory =
    mtl_buffer_new_for_data (data, info->size, NULL, MTL_BUFFER_FLAGS_NONE, free_frame, data,
                             &error);
  g_autoptr (MtlStridedLayout) layout = NULL;
  g_autoptr (MtlStridedView) view = NULL;

  g_assert_no_error (error);
  g_atomic_int_inc (&n_alive);
  layout = mtl_strided_layout_new_dense (DIMS (info->height, info->width, 4), MTL_ORDER_C, 8,
                                         &error);
  view = mtl_strided_view_new (memory, layout, MTL_DTYPE_UINT8, 0, &error);
  g_assert_no_error (error);
  return get_buffer (view, info);
}

/* 0 if it is not known, or is the sanitizers' rather than ours. */
static gsize
get_resident_size (void)
{
#if defined (__SANITIZE_ADDRESS__) || defined (__SANITIZE_THREAD__)
  return 0;
#else
  g_autofree char *text = NULL;
  gsize total, resident;

  if (!g_file_get_contents ("/proc/self/statm", &text, NULL, NULL)
      || sscanf (text, "%" G_GSIZE_FORMAT " %" G_GSIZE_FORMAT, &total, &resident) != 2)
    return 0;

  return resident * sysconf (_SC_PAGESIZE);
#endif
}

/* Frames on the way through threads of GStreamer, which free them. */
static void
test_many_frames (void)
{
  const GstVideoInfo info = video_info (GST_VIDEO_FORMAT_RGBA, 64, 32);
  g_autoptr (GstElement) pipeline =
    pipeline_new ("appsrc name=source block=true max-bytes=200000 ! queue ! tee name=tee"
                  " tee. ! queue ! fakesink sync=false tee. ! queue ! fakesink sync=false");
  g_autoptr (GstElement) source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  g_autoptr (GstCaps) caps = gst_video_info_to_caps (&info);
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GstMessage) message = NULL;
  gsize early = 0, late;
  GstFlowReturn flow;

  g_object_set (source, "caps", caps, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (int i = 0; i < N_FRAMES; i++)
    {
      GstBuffer *buffer = new_frame (&info);

      g_signal_emit_by_name (source, "push-buffer", buffer, &flow);
      gst_buffer_unref (buffer);
      g_assert_cmpint (flow, ==, GST_FLOW_OK);
      g_assert_cmpint (g_atomic_int_get (&n_alive), <, 1000);
      if (i == N_FRAMES / 10)
        early = get_resident_size ();
    }

  late = get_resident_size ();
  g_signal_emit_by_name (source, "end-of-stream", &flow);
  message = gst_bus_timed_pop_filtered (bus, 10 * GST_SECOND,
                                        GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_assert_nonnull (message);
  g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_EOS);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  g_assert_cmpint (g_atomic_int_get (&n_alive), ==, 0);

  /* 1,000 frames are 8 MB. */
  g_test_message ("%" G_GSIZE_FORMAT " bytes, then %" G_GSIZE_FORMAT, early, late);
#ifndef TEST_KEEPS_FREED_MEMORY /* as AddressSanitizer does */
  g_assert_cmpuint (late, <, early + 8 * 1000 * 1000 + (early == 0));
#endif
}

int
main (int    argc,
      char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/gst-pipelines/video-elements", test_video_elements);
  g_test_add_func ("/gst-pipelines/in-place", test_in_place);
  g_test_add_func ("/gst-pipelines/audio-elements", test_audio_elements);
  g_test_add_func ("/gst-pipelines/many-frames", test_many_frames);
  return g_test_run ();
}
