/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Views in several threads. Locks are those of pthreads, which ThreadSanitizer sees, unlike GLib's
 * and GStreamer's. */

#include <pthread.h>

#include "test-gst-view-utils.h"

#define N_READERS 4
#define N_FRAMES 200
#define SIZE 64

typedef struct
{
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  GstBuffer *frames[N_FRAMES];
  guint n_frames;
  guint64 sum;
} Channel;

static MtlStridedView *
view_bytes (GstBuffer   *buffer,
            GstMapFlags  flags)
{
  GError *error = NULL;
  MtlStridedView *view =
    mtl_gst_view_from_buffer (buffer, MTL_DTYPE_UINT8, DIMS (SIZE), flags, &error);

  return assert_view (view, error);
}

static MtlStridedView *
view_gray (GstBuffer   *buffer,
           GstMapFlags  flags)
{
  GError *error = NULL;
  GstVideoInfo info;

  set_info (&info, GST_VIDEO_FORMAT_GRAY8, 8, 8);
  return assert_view (mtl_gst_view_from_video_buffer (buffer, &info, 0, flags, &error), error);
}

static GstBuffer *
wait_for_frame (Channel *channel,
                guint    frame)
{
  GstBuffer *buffer;

  pthread_mutex_lock (&channel->mutex);
  while (channel->n_frames <= frame)
    pthread_cond_wait (&channel->changed, &channel->mutex);
  buffer = channel->frames[frame];
  pthread_mutex_unlock (&channel->mutex);

  return buffer;
}

/* The work of an element behind a queue: view, read, end. */
static gpointer
read_frames (gpointer data)
{
  Channel *channel = data;

  for (guint frame = 0; frame < N_FRAMES; frame++)
    {
      GstBuffer *buffer = wait_for_frame (channel, frame);
      MtlStridedView *view = view_gray (buffer, GST_MAP_READ);
      MtlStridedView *bytes = view_bytes (buffer, GST_MAP_READ);
      guint value;

      gst_buffer_unref (buffer);
      value = *(const guint8 *) mtl_strided_view_get_data (view);
      g_assert_cmpuint (get_element (view, 7, 7, 0)[0], ==, value);

      pthread_mutex_lock (&channel->mutex);
      channel->sum += value;
      pthread_mutex_unlock (&channel->mutex);
      g_object_unref (bytes);
      g_object_unref (view);
    }

  return NULL;
}

static void
write_frame (Channel   *channel,
             guint      frame,
             GstBuffer *buffer)
{
  MtlStridedView *view;

  /* The pool has it back after all have read it, but by means that no tool sees. */
  pthread_mutex_lock (&channel->mutex);
  view = view_gray (buffer, GST_MAP_WRITE);
  g_assert_true (mtl_strided_view_fill_double (view, frame % 256, NULL, NULL));
  g_object_unref (view);

  for (guint i = 0; i < N_READERS; i++)
    gst_buffer_ref (buffer);
  channel->frames[frame] = buffer;
  channel->n_frames = frame + 1;
  pthread_cond_broadcast (&channel->changed);
  pthread_mutex_unlock (&channel->mutex);
}

/* One thread writes to buffers of a pool, and several threads read each; the last of them gives it
 * back. */
static void
test_pool (void)
{
  GstBufferPool *pool = pool_new (SIZE, 3);
  Channel channel = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, { NULL }, 0, 0 };
  GThread *threads[N_READERS];
  guint64 sum = 0;

  for (guint i = 0; i < N_READERS; i++)
    threads[i] = g_thread_new ("reader", read_frames, &channel);

  for (guint frame = 0; frame < N_FRAMES; frame++)
    {
      GstBuffer *buffer = NULL;

      g_assert_cmpint (acquire (pool, &buffer, TRUE), ==, GST_FLOW_OK);
      write_frame (&channel, frame, buffer);
      gst_buffer_unref (buffer);
      sum += frame % 256;
    }

  for (guint i = 0; i < N_READERS; i++)
    g_thread_join (threads[i]);
  g_assert_cmpuint (channel.sum, ==, N_READERS * sum);

  gst_buffer_pool_set_active (pool, FALSE);
  gst_object_unref (pool);
}

int
main (int    argc,
      char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/gst/threads/pool", test_pool);

  return g_test_run ();
}
