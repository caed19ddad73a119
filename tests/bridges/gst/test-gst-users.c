/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The users of a buffer that has views: writers, readers, pools and pipelines. */

#include "test-gst-view-utils.h"

static GstVideoInfo gray;

static MtlStridedView *
view_gray (GstBuffer   *buffer,
           GstMapFlags  flags)
{
  GError *error = NULL;

  return assert_view (mtl_gst_view_from_video_buffer (buffer, &gray, 0, flags, &error), error);
}

static GstBuffer *
gray_new (void)
{
  return random_frame_new (&gray);
}

static void
assert_write_refused (GstBuffer  *buffer,
                      MtlError    code,
                      const char *values)
{
  GstMemory *memory = gst_buffer_peek_memory (buffer, 0);
  const guint lockstate = memory->mini_object.lockstate;

  assert_fails (mtl_gst_view_from_video_buffer (buffer, &gray, 0, GST_MAP_WRITE, &error), code,
                values);
  g_assert_true (gst_buffer_peek_memory (buffer, 0) == memory);
  g_assert_cmpint (memory->mini_object.lockstate, ==, lockstate);
}

static void
test_write (void)
{
  g_autoptr (GstBuffer) buffer = gray_new ();
  MtlStridedView *view = view_gray (buffer, GST_MAP_WRITE);
  guint8 value;

  g_assert_false (mtl_strided_view_is_read_only (view));
  g_assert_true (mtl_strided_view_fill_double (view, 77, NULL, NULL));
  g_assert_false (gst_buffer_is_writable (buffer));
  g_object_unref (view);

  g_assert_true (gst_buffer_is_writable (buffer));
  g_assert_cmpuint (gst_buffer_extract (buffer, GST_VIDEO_INFO_SIZE (&gray) - 1, &value, 1), ==, 1);
  g_assert_cmpint (value, ==, 77);
}

/* GStreamer's count of locks would overflow, and leave the memory locked for ever. */
static void
test_many_views (void)
{
  static const GstMapFlags flags[] = { GST_MAP_READ, GST_MAP_WRITE };

  for (guint i = 0; i < G_N_ELEMENTS (flags); i++)
    {
      g_autoptr (GstBuffer) buffer = gray_new ();
      g_autoptr (GPtrArray) views = g_ptr_array_new_with_free_func (g_object_unref);

      while (views->len < 200)
        g_ptr_array_add (views, view_gray (buffer, flags[i]));

      assert_fails (mtl_gst_view_from_video_buffer (buffer, &gray, 0, flags[i], &error),
                    MTL_ERROR_NO_MEMORY, "200");
      g_ptr_array_remove_index (views, 0);
      g_ptr_array_add (views, view_gray (buffer, flags[i]));

      g_ptr_array_set_size (views, 0);
      assert_untouched (buffer, 0, gst_buffer_peek_memory (buffer, 0));
      g_ptr_array_add (views, view_gray (buffer, GST_MAP_WRITE));
    }
}

static void
test_write_two_users (void)
{
  g_autoptr (GstBuffer) buffer = gray_new ();
  g_autoptr (GstBuffer) other = gst_buffer_ref (buffer);

  assert_write_refused (buffer, MTL_ERROR_READ_ONLY, "2");
  g_clear_pointer (&other, gst_buffer_unref);
  g_object_unref (view_gray (buffer, GST_MAP_WRITE));
  assert_untouched (buffer, 0, gst_buffer_peek_memory (buffer, 0));
}

/* Planes of one frame can be written to at the same time, but not by others. */
static void
test_write_planes (void)
{
  g_autoptr (GstBuffer) buffer = NULL;
  g_autoptr (GstBuffer) other = NULL;
  MtlStridedView *views[3];
  GError *error = NULL;
  GstVideoInfo info;

  set_info (&info, GST_VIDEO_FORMAT_I420, 16, 8);
  buffer = random_frame_new (&info);
  for (guint plane = 0; plane < 3; plane++)
    views[plane] = assert_view (mtl_gst_view_from_video_buffer (buffer, &info, plane, GST_MAP_WRITE,
                                                                &error), error);

  other = gst_buffer_ref (buffer);
  assert_write_refused (buffer, MTL_ERROR_READ_ONLY, "2");
  g_clear_pointer (&other, gst_buffer_unref);

  for (guint plane = 0; plane < 3; plane++)
    g_object_unref (views[plane]);
  assert_untouched (buffer, 0, gst_buffer_peek_memory (buffer, 0));
}

static void
test_write_sample (void)
{
  GstBuffer *buffer = gray_new ();
  g_autoptr (GstSample) sample = gst_sample_new (buffer, NULL, NULL, NULL);
  g_autoptr (GstSample) other = gst_sample_ref (sample);

  gst_buffer_unref (buffer);
  assert_write_refused (buffer, MTL_ERROR_READ_ONLY, "gst_buffer_copy_deep()");
  g_clear_pointer (&other, gst_sample_unref);
  g_object_unref (view_gray (buffer, GST_MAP_WRITE));
}

static void
test_write_read_only (void)
{
  static guint8 bytes[64];
  g_autoptr (GstBuffer) buffer = NULL;

  buffer = gst_buffer_new_wrapped_full (GST_MEMORY_FLAG_READONLY, bytes, sizeof bytes, 0,
                                        sizeof bytes, NULL, NULL);
  assert_write_refused (buffer, MTL_ERROR_READ_ONLY, "gst_buffer_copy_deep()");
  g_object_unref (view_gray (buffer, GST_MAP_READ));
}

static void
test_write_shared (void)
{
  g_autoptr (GstBuffer) buffer = gray_new ();
  g_autoptr (GstBuffer) copy = gst_buffer_copy (buffer); /* shares the memory */

  assert_write_refused (buffer, MTL_ERROR_NEEDS_COPY, "gst_buffer_copy_deep()");
  assert_write_refused (copy, MTL_ERROR_NEEDS_COPY, "gst_buffer_copy_deep()");
  g_clear_pointer (&copy, gst_buffer_unref);
  g_object_unref (view_gray (buffer, GST_MAP_WRITE));
}

static void
test_write_mapped (void)
{
  g_autoptr (GstBuffer) buffer = gray_new ();
  MtlStridedView *view;
  GstMapInfo map;

  g_assert_true (gst_buffer_map (buffer, &map, GST_MAP_READ));
  assert_write_refused (buffer, MTL_ERROR_NEEDS_COPY, "gst_buffer_copy_deep()");
  gst_buffer_unmap (buffer, &map);

  view = view_gray (buffer, GST_MAP_READ);
  assert_write_refused (buffer, MTL_ERROR_READ_ONLY, "2");
  g_object_unref (view);

  g_assert_true (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
  assert_fails (mtl_gst_view_from_video_buffer (buffer, &gray, 0, GST_MAP_READ, &error),
                MTL_ERROR_NOT_HOST_ACCESSIBLE, "");
  gst_buffer_unmap (buffer, &map);
  assert_untouched (buffer, 0, gst_buffer_peek_memory (buffer, 0));
}

/* Flags that ask some allocators for something else than bytes. */
static void
test_other_flags (void)
{
  g_autoptr (GstBuffer) buffer = gray_new ();

  g_object_unref (view_gray (buffer, 0));
  g_object_unref (view_gray (buffer, (GstMapFlags) (GST_MAP_READ | (GST_MAP_FLAG_LAST << 1))));
  assert_untouched (buffer, 0, gst_buffer_peek_memory (buffer, 0));
}

/* A writer gets a copy, and the view keeps its memory. */
static void
test_copy_on_write (void)
{
  GstBuffer *buffer = gray_new ();
  g_autoptr (MtlStridedView) view = view_gray (buffer, GST_MAP_READ);
  const guint8 *data = mtl_strided_view_get_data (view);
  const guint8 before = data[0];

  buffer = gst_buffer_make_writable (buffer);
  g_assert_cmpuint (gst_buffer_memset (buffer, 0, before + 1, 1), ==, 1);
  g_assert_cmpint (data[0], ==, before);
  gst_buffer_unref (buffer);
  g_assert_cmpint (data[0], ==, before);
}

static void
count (gpointer counter)
{
  ++*(int *) counter;
}

/* Whichever of view, part and exported bytes is last. */
static void
test_order_of_ends (void)
{
  for (guint order = 0; order < 3; order++)
    {
      static guint8 bytes[64];
      int n_ends = 0;
      GstBuffer *buffer = gst_buffer_new_wrapped_full (0, bytes, sizeof bytes, 0, sizeof bytes,
                                                       &n_ends, count);
      MtlStridedView *view = view_gray (buffer, GST_MAP_READ);
      GObject *objects[2] = {
        G_OBJECT (view),
        G_OBJECT (mtl_strided_view_slice_string (view, "1:3, ::2", NULL)),
      };

      if (order != 0)
        gst_buffer_unref (buffer);
      g_object_unref (objects[order & 1]);
      g_assert_cmpint (n_ends, ==, 0);
      g_object_unref (objects[1 - (order & 1)]);
      g_assert_cmpint (n_ends, ==, order == 0 ? 0 : 1);
      if (order == 0)
        gst_buffer_unref (buffer);
      g_assert_cmpint (n_ends, ==, 1);
    }
}

/* GStreamer takes the memory for one that is written to if the last one who unmaps it reads. */
static void
test_reader_ends_last (void)
{
  g_autoptr (GstBuffer) buffer = gray_new ();
  MtlStridedView *writer = view_gray (buffer, GST_MAP_WRITE);
  MtlStridedView *reader = view_gray (buffer, GST_MAP_READ);

  g_object_unref (writer);
  g_object_unref (reader);
  assert_untouched (buffer, 0, gst_buffer_peek_memory (buffer, 0));
}

/* The pool has its one buffer, with the same memory, back when the view has ended. */
static void
test_pool (void)
{
  GstBufferPool *pool = pool_new (GST_VIDEO_INFO_SIZE (&gray), 1);
  GstBuffer *buffer = NULL, *again = NULL;
  MtlStridedView *view;
  GstMemory *memory;

  g_assert_cmpint (acquire (pool, &buffer, FALSE), ==, GST_FLOW_OK);
  memory = gst_buffer_peek_memory (buffer, 0);
  view = view_gray (buffer, GST_MAP_WRITE);
  gst_buffer_unref (buffer);
  g_assert_cmpint (acquire (pool, &again, FALSE), ==, GST_FLOW_EOS);

  g_assert_true (mtl_strided_view_fill_double (view, 1, NULL, NULL));
  g_object_unref (view);
  g_assert_cmpint (acquire (pool, &again, FALSE), ==, GST_FLOW_OK);
  g_assert_true (again == buffer);
  g_assert_true (gst_buffer_peek_memory (again, 0) == memory);
  g_object_unref (view_gray (again, GST_MAP_WRITE));
  gst_buffer_unref (again);

  gst_buffer_pool_set_active (pool, FALSE);
  gst_object_unref (pool);
}

static gpointer
end_view (gpointer view)
{
  g_usleep (20000);
  g_object_unref (view);
  return NULL;
}

static void
test_pool_waits (void)
{
  GstBufferPool *pool = pool_new (GST_VIDEO_INFO_SIZE (&gray), 1);
  GstBuffer *buffer = NULL, *again = NULL;
  GThread *thread;

  g_assert_cmpint (acquire (pool, &buffer, FALSE), ==, GST_FLOW_OK);
  thread = g_thread_new ("ends-view", end_view, view_gray (buffer, GST_MAP_READ));
  gst_buffer_unref (buffer);
  g_assert_cmpint (acquire (pool, &again, TRUE), ==, GST_FLOW_OK);
  g_assert_true (again == buffer);

  g_thread_join (thread);
  gst_buffer_unref (again);
  gst_buffer_pool_set_active (pool, FALSE);
  gst_object_unref (pool);
}

static GstPadProbeReturn
view_frame (GstPad          *pad,
            GstPadProbeInfo *info,
            gpointer         n_frames)
{
  g_autoptr (MtlStridedView) view = view_gray (GST_PAD_PROBE_INFO_BUFFER (info), GST_MAP_READ);
  g_autoptr (MtlStridedView) copy = mtl_strided_view_copy (view, MTL_ORDER_C, NULL, NULL);

  g_assert_nonnull (copy);
  g_atomic_int_inc ((int *) n_frames);
  return GST_PAD_PROBE_OK;
}

/* Views in the threads of both queues of a pipeline. */
static void
test_tee (void)
{
  int n_frames[2] = { 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GstElement) pipeline =
    gst_parse_launch ("fakesrc num-buffers=200 sizetype=fixed sizemax=64 filltype=pattern ! tee"
                      " name=tee tee. ! queue ! fakesink name=sink0 tee. ! queue !"
                      " fakesink name=sink1", &error);
  g_autoptr (GstBus) bus = NULL;
  g_autoptr (GstMessage) message = NULL;

  g_assert_no_error (error);
  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *name = g_strdup_printf ("sink%u", i);
      g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (pipeline), name);
      g_autoptr (GstPad) pad = gst_element_get_static_pad (sink, "sink");

      gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, view_frame, &n_frames[i], NULL);
    }

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  bus = gst_element_get_bus (pipeline);
  message = gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE,
                                        GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_EOS);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  for (guint i = 0; i < 2; i++)
    g_assert_cmpint (g_atomic_int_get (&n_frames[i]), ==, 200);
}

int
main (int    argc,
      char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  set_info (&gray, GST_VIDEO_FORMAT_GRAY8, 8, 8);

  g_test_add_func ("/gst/users/write", test_write);
  g_test_add_func ("/gst/users/many-views", test_many_views);
  g_test_add_func ("/gst/users/write-two-users", test_write_two_users);
  g_test_add_func ("/gst/users/write-planes", test_write_planes);
  g_test_add_func ("/gst/users/write-sample", test_write_sample);
  g_test_add_func ("/gst/users/write-read-only", test_write_read_only);
  g_test_add_func ("/gst/users/write-shared", test_write_shared);
  g_test_add_func ("/gst/users/write-mapped", test_write_mapped);
  g_test_add_func ("/gst/users/other-flags", test_other_flags);
  g_test_add_func ("/gst/users/copy-on-write", test_copy_on_write);
  g_test_add_func ("/gst/users/order-of-ends", test_order_of_ends);
  g_test_add_func ("/gst/users/reader-ends-last", test_reader_ends_last);
  g_test_add_func ("/gst/users/pool", test_pool);
  g_test_add_func ("/gst/users/pool-waits", test_pool_waits);
  g_test_add_func ("/gst/users/tee", test_tee);

  return g_test_run ();
}
