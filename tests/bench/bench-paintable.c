/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Frames per second of a picture in a window that changes all the time, and the
 * time that the program spends on the processor for it. Needs a display.
 *
 * RGBA, or with --native what GTK draws without a conversion. */

#include <mtldl-gtk/mtldl-gtk.h>

#include <sys/resource.h>

#define WIDTH 1920
#define HEIGHT 1080
#define STRIDE (WIDTH * 4)
#define SIZE (STRIDE * HEIGHT)
#define SECONDS 4

typedef struct _Bench Bench;

typedef struct
{
  const char *name;
  gboolean is_part;
  void (*draw) (Bench *bench, const GdkRectangle *where);
} Way;

struct _Bench
{
  const Way *way;
  GdkMemoryFormat format;
  MtlGtkChannels channels;
  MtlGtkTextureFlags flags;
  GMainLoop *loop;
  GtkPicture *picture;
  MtlGtkViewPaintable *paintable;
  MtlStridedView *view;
  MtlStridedView *frames[3]; /* a video's, read-only */
  guint n_frames;
  gint64 begin;
};

static void
check (gboolean  done,
       GError   *error)
{
  if (!done)
    g_error ("%s", error->message);
}

static void
draw_bytes (Bench              *self,
            const GdkRectangle *where)
{
  g_autoptr (GBytes) bytes = g_bytes_new (mtl_strided_view_get_data (self->view), SIZE);
  g_autoptr (GdkTexture) texture = gdk_memory_texture_new (WIDTH, HEIGHT, self->format, bytes,
                                                           STRIDE);

  gtk_picture_set_paintable (self->picture, GDK_PAINTABLE (texture));
}

static void
draw_writable (Bench              *self,
               const GdkRectangle *where)
{
  g_autoptr (GError) error = NULL;

  check (mtl_gtk_view_paintable_invalidate (self->paintable, where, &error), error);
}

static void
draw_read_only (Bench              *self,
                const GdkRectangle *where)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *frame = self->frames[self->n_frames % G_N_ELEMENTS (self->frames)];

  check (mtl_gtk_view_paintable_set_view (self->paintable, frame, self->channels, self->flags,
                                          &error),
         error);
}

static void
draw_nothing (Bench              *self,
              const GdkRectangle *where)
{
  gtk_widget_queue_draw (GTK_WIDGET (self->picture));
}

static const Way ways[] = {
  { "GTK alone, the same picture", FALSE, draw_nothing },
  { "all changes: new texture of g_bytes_new()", FALSE, draw_bytes },
  { "all changes: writable view", FALSE, draw_writable },
  { "all changes: read-only views", FALSE, draw_read_only },
  { "64 x 64 changes: new texture of g_bytes_new()", TRUE, draw_bytes },
  { "64 x 64 changes: writable view", TRUE, draw_writable },
};

static gboolean
tick (GtkWidget     *widget,
      GdkFrameClock *clock,
      gpointer       data)
{
  Bench *self = data;
  GdkRectangle where = { self->n_frames * 8 % (WIDTH - 64), self->n_frames * 4 % (HEIGHT - 64),
                         64, 64 };
  guint8 *pixels = mtl_strided_view_get_data (self->view);

  if (!self->way->is_part)
    where = (GdkRectangle) { 0, 0, WIDTH, HEIGHT };

  /* Drawing costs the program the same in all ways: a row. */
  memset (pixels + where.y * STRIDE + where.x * 4, self->n_frames, where.width * 4);
  self->way->draw (self, &where);
  self->n_frames++;

  if (g_get_monotonic_time () - self->begin < SECONDS * G_USEC_PER_SEC)
    return G_SOURCE_CONTINUE;

  g_main_loop_quit (self->loop);
  return G_SOURCE_REMOVE;
}

static double
get_processor_seconds (void)
{
  struct rusage usage;

  getrusage (RUSAGE_SELF, &usage);
  return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec
         + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static double
run (Bench     *self,
     const Way *way)
{
  double processor_seconds = get_processor_seconds ();
  double seconds;
  g_autoptr (GError) error = NULL;

  self->way = way;
  self->n_frames = 0;
  check (mtl_gtk_view_paintable_set_view (self->paintable, self->view, self->channels,
                                          self->flags, &error),
         error);
  gtk_picture_set_paintable (self->picture, GDK_PAINTABLE (self->paintable));
  self->begin = g_get_monotonic_time ();
  gtk_widget_add_tick_callback (GTK_WIDGET (self->picture), tick, self, NULL);
  g_main_loop_run (self->loop);

  seconds = (g_get_monotonic_time () - self->begin) / (double) G_USEC_PER_SEC;
  processor_seconds = get_processor_seconds () - processor_seconds;
  g_print ("%-46s %5.1f frames/s, %3.0f %% of a processor, %6.2f ms a frame\n", way->name,
           self->n_frames / seconds, 100 * processor_seconds / seconds,
           1000 * processor_seconds / self->n_frames);
  return processor_seconds / self->n_frames;
}

int
main (int   argc,
      char *argv[])
{
  const gboolean is_native = argc > 1 && g_str_equal (argv[1], "--native");
  static const gint64 shape[] = { HEIGHT, WIDTH, 4 };
  g_autoptr (GError) error = NULL;
  GtkWidget *window;
  Bench bench = { 0 };
  double times[G_N_ELEMENTS (ways)];

  gtk_init ();
  bench.format = is_native ? GDK_MEMORY_B8G8R8A8_PREMULTIPLIED : GDK_MEMORY_R8G8B8A8;
  bench.channels = is_native ? MTL_GTK_CHANNELS_BGRA : MTL_GTK_CHANNELS_RGBA;
  bench.flags = is_native ? MTL_GTK_TEXTURE_FLAGS_PREMULTIPLIED : MTL_GTK_TEXTURE_FLAGS_NONE;
  bench.loop = g_main_loop_new (NULL, FALSE);
  bench.paintable = mtl_gtk_view_paintable_new ();
  bench.picture = GTK_PICTURE (gtk_picture_new ());
  bench.view = mtl_strided_view_new_filled (mtl_device_get_host (), MTL_DTYPE_UINT8, shape, 3, 255,
                                            MTL_STORAGE_MODE_DEFAULT, &error);
  check (bench.view != NULL, error);
  for (guint i = 0; i < G_N_ELEMENTS (bench.frames); i++)
    {
      g_autoptr (MtlStridedView) frame = mtl_strided_view_copy (bench.view, MTL_ORDER_C, NULL,
                                                                &error);

      check (frame != NULL, error);
      bench.frames[i] = mtl_strided_view_as_read_only (frame);
    }

  window = gtk_window_new ();
  gtk_window_set_decorated (GTK_WINDOW (window), FALSE);
  gtk_window_set_default_size (GTK_WINDOW (window), WIDTH, HEIGHT);
  gtk_window_set_child (GTK_WINDOW (window), GTK_WIDGET (bench.picture));
  gtk_window_present (GTK_WINDOW (window));

  for (gsize i = 0; i < G_N_ELEMENTS (ways); i++)
    times[i] = run (&bench, &ways[i]);

  g_print ("without what GTK needs alone, as ratio to g_bytes_new():\n"
           "  all changes: writable %.2f, read-only %.2f\n  64 x 64 changes: writable %.2f\n",
           (times[2] - times[0]) / (times[1] - times[0]),
           (times[3] - times[0]) / (times[1] - times[0]),
           (times[5] - times[0]) / (times[4] - times[0]));

  gtk_window_destroy (GTK_WINDOW (window));
  for (guint i = 0; i < G_N_ELEMENTS (bench.frames); i++)
    g_object_unref (bench.frames[i]);
  g_object_unref (bench.view);
  g_object_unref (bench.paintable);
  g_main_loop_unref (bench.loop);
  return 0;
}
