/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* video [--camera] [--record FILE] [--frames N]
 *
 * Shows a test video, or a camera, whose left half is inverted, and also
 * records it as Ogg. The pixels of a frame stay in the memory that the source
 * wrote: there they are changed, there the encoder reads them, and there GTK
 * draws them. */

#include <gst/app/app.h>
#include <gtk/gtk.h>
#include <mtldl-gst/mtldl-gst.h>
#include <mtldl-gtk/mtldl-gtk.h>

#define POLL_MS 10

typedef struct
{
  gboolean camera;
  char *record;
  int frames;

  GstElement *pipeline;
  GstAppSink *sink;
  MtlGtkViewPaintable *paintable;
  GApplication *application;
  int n_shown;
  int status;
} Video;

static gboolean
invert_left_half (MtlStridedView  *frame,
                  GError         **error)
{
  gint64 width = mtl_strided_view_get_extent (frame, 1, NULL);
  g_autoptr (MtlStridedView) left = NULL;

  /* A slice is another view of the same memory: writing to it changes the
   * frame. */
  left = mtl_strided_view_narrow (frame, 1, 0, width / 2, 1, error);

  return left != NULL && mtl_strided_view_copy_scaled_from (left, left, -1, 255, NULL, error);
}

/* On the thread of the source, for each frame that passes. */
static GstPadProbeReturn
filter (GstPad          *pad,
        GstPadProbeInfo *info,
        gpointer         user_data)
{
  GstElement *pipeline = user_data;
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (pad);
  g_autoptr (MtlStridedView) frame = NULL;
  g_autoptr (GError) error = NULL;
  GstBuffer *buffer;

  /* Copies nothing, as the frame has no other user yet. */
  buffer = gst_buffer_make_writable (gst_pad_probe_info_get_buffer (info));
  GST_PAD_PROBE_INFO_DATA (info) = buffer;

  frame = mtl_gst_view_from_buffer_with_caps (buffer, caps, 0, GST_MAP_WRITE, &error);
  if (frame != NULL && invert_left_half (frame, &error))
    return GST_PAD_PROBE_OK;

  GST_ELEMENT_ERROR (pipeline, STREAM, FAILED, ("%s", error->message), (NULL));
  return GST_PAD_PROBE_DROP;
}

static gboolean
show (Video      *self,
      GstSample  *sample,
      GError    **error)
{
  g_autoptr (MtlStridedView) frame = NULL;

  frame = mtl_gst_view_from_buffer_with_caps (gst_sample_get_buffer (sample),
                                              gst_sample_get_caps (sample), 0, GST_MAP_READ, error);

  /* A read-only view is shown without a copy. It keeps the frame until GTK
   * has the next one. */
  return frame != NULL
         && mtl_gtk_view_paintable_set_view (self->paintable, frame, MTL_GTK_CHANNELS_RGB,
                                             MTL_GTK_TEXTURE_FLAGS_NONE, error);
}

static gboolean
poll_frames (gpointer user_data)
{
  Video *self = user_data;
  g_autoptr (GstSample) sample = gst_app_sink_try_pull_sample (self->sink, 0);
  g_autoptr (GError) error = NULL;

  if (sample == NULL)
    return G_SOURCE_CONTINUE;

  if (show (self, sample, &error))
    self->n_shown++;
  else
    GST_ELEMENT_ERROR (self->pipeline, STREAM, FAILED, ("%s", error->message), (NULL));

  return G_SOURCE_CONTINUE;
}

/* The program ends with the video. */
static gboolean
handle_message (GstBus     *bus,
                GstMessage *message,
                gpointer    user_data)
{
  Video *self = user_data;

  (void) bus;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    {
      g_autoptr (GError) error = NULL;

      gst_message_parse_error (message, &error, NULL);
      g_printerr ("video: %s\n", error->message);
      self->status = 1;
      g_application_quit (self->application);
    }
  else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS)
    {
      g_application_quit (self->application);
    }

  return G_SOURCE_CONTINUE;
}

/* The video ends when the window is closed, and the recording is completed. */
static gboolean
handle_close (GtkWindow *window,
              gpointer   user_data)
{
  Video *self = user_data;

  (void) window;
  gst_element_send_event (self->pipeline, gst_event_new_eos ());
  return GDK_EVENT_STOP;
}

static gboolean
create_pipeline (Video   *self,
                 GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GstElement) tee = NULL;
  g_autoptr (GstPad) pad = NULL;

  if (self->camera)
    g_string_append (text, "autovideosrc");
  else
    g_string_append_printf (text,
                            "videotestsrc is-live=true num-buffers=%d"
                            " ! video/x-raw, width=640, height=480",
                            self->frames);
  g_string_append (text,
                   " ! videoconvert ! video/x-raw, format=RGB ! tee name=filtered"
                   " ! queue ! appsink name=frames max-buffers=2 enable-last-sample=false");
  if (self->record != NULL)
    g_string_append (text,
                     " filtered. ! queue ! videoconvert ! theoraenc ! oggmux"
                     " ! filesink name=file");

  self->pipeline = gst_parse_launch (text->str, error);
  if (self->pipeline == NULL)
    return FALSE;

  if (self->record != NULL)
    {
      g_autoptr (GstElement) file = gst_bin_get_by_name (GST_BIN (self->pipeline), "file");

      g_object_set (file, "location", self->record, NULL);
    }

  tee = gst_bin_get_by_name (GST_BIN (self->pipeline), "filtered");
  pad = gst_element_get_static_pad (tee, "sink");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, filter, self->pipeline, NULL);

  self->sink = GST_APP_SINK (gst_bin_get_by_name (GST_BIN (self->pipeline), "frames"));
  return TRUE;
}

static void
activate (GtkApplication *application,
          gpointer        user_data)
{
  Video *self = user_data;
  GtkWidget *window = gtk_application_window_new (application);
  g_autoptr (GstBus) bus = NULL;
  g_autoptr (GError) error = NULL;

  if (!create_pipeline (self, &error))
    {
      g_printerr ("video: %s\n", error->message);
      self->status = 1;
      return;
    }

  self->paintable = mtl_gtk_view_paintable_new ();
  gtk_window_set_title (GTK_WINDOW (window), "Video");
  gtk_window_set_default_size (GTK_WINDOW (window), 640, 480);
  gtk_window_set_child (GTK_WINDOW (window),
                        gtk_picture_new_for_paintable (GDK_PAINTABLE (self->paintable)));
  g_signal_connect (window, "close-request", G_CALLBACK (handle_close), self);
  gtk_window_present (GTK_WINDOW (window));

  bus = gst_element_get_bus (self->pipeline);
  gst_bus_add_watch (bus, handle_message, self);
  g_timeout_add (POLL_MS, poll_frames, self);
  gst_element_set_state (self->pipeline, GST_STATE_PLAYING);
}

int
main (int   argc,
      char *argv[])
{
  g_autoptr (GtkApplication) application = NULL;
  Video self = { .frames = -1 };
  const GOptionEntry options[] = {
    { "camera", 0, 0, G_OPTION_ARG_NONE, &self.camera, "Show a camera", NULL },
    { "record", 0, 0, G_OPTION_ARG_FILENAME, &self.record, "Also write a file, as Ogg", "FILE" },
    { "frames", 0, 0, G_OPTION_ARG_INT, &self.frames, "Frames of the test video", "N" },
    { NULL }
  };

  gst_init (NULL, NULL);
  application = gtk_application_new ("org.mtldl.Video", G_APPLICATION_NON_UNIQUE);
  self.application = G_APPLICATION (application);
  g_application_add_main_option_entries (self.application, options);
  g_signal_connect (application, "activate", G_CALLBACK (activate), &self);

  int status = g_application_run (self.application, argc, argv);

  if (self.pipeline != NULL)
    {
      gst_element_set_state (self.pipeline, GST_STATE_NULL);
      g_print ("%d frames shown\n", self.n_shown);
    }

  g_clear_object (&self.sink);
  g_clear_object (&self.pipeline);
  g_clear_object (&self.paintable);
  g_free (self.record);
  return status != 0 ? status : self.status;
}
