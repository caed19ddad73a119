/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Drawing, on a screen of its own, which is not visible. */

#include <mtldl-gtk/mtldl-gtk.h>

#if !GTK_CHECK_VERSION (4, 18, 0)
#include <gsk/gl/gskglrenderer.h>
#endif

#include "test-screen.h"
#include "test-utils.h"

#define WIDTH 40
#define HEIGHT 30
#define N_STEPS 12

static void
write_random (MtlStridedView *view,
              GdkRectangle   *where)
{
  guint8 *data = mtl_strided_view_get_data (view);

  where->x = g_test_rand_int_range (0, WIDTH);
  where->y = g_test_rand_int_range (0, HEIGHT);
  where->width = g_test_rand_int_range (1, WIDTH - where->x + 1);
  where->height = g_test_rand_int_range (1, HEIGHT - where->y + 1);
  for (int y = where->y; y < where->y + where->height; y++)
    for (int x = 3 * where->x; x < 3 * (where->x + where->width); x++)
      data[y * WIDTH * 3 + x] = g_test_rand_int_range (0, 256);
}

/* Draws it at its own size, where every pixel is drawn as it is. */
static gboolean
is_drawn (GskRenderer  *renderer,
          GdkPaintable *paintable,
          const guint8 *expected)
{
  GtkSnapshot *snapshot = gtk_snapshot_new ();
  const graphene_rect_t viewport = GRAPHENE_RECT_INIT (0, 0, WIDTH, HEIGHT);
  g_autoptr (GskRenderNode) node = NULL;
  g_autoptr (GdkTexture) drawn = NULL;
  guint32 pixels[WIDTH * HEIGHT];

  gdk_paintable_snapshot (paintable, GDK_SNAPSHOT (snapshot), WIDTH, HEIGHT);
  node = gtk_snapshot_free_to_node (snapshot);
  if (node == NULL)
    return FALSE;

  drawn = gsk_renderer_render_texture (renderer, node, &viewport);
  gdk_texture_download (drawn, (guint8 *) pixels, WIDTH * 4);

  for (int i = 0; i < WIDTH * HEIGHT; i++)
    if (pixels[i] != (0xff000000u | (guint) expected[3 * i] << 16
                      | (guint) expected[3 * i + 1] << 8 | expected[3 * i + 2]))
      return FALSE;

  return TRUE;
}

static void
draw_changes (GskRenderer *renderer)
{
  g_autoptr (MtlGtkViewPaintable) paintable = mtl_gtk_view_paintable_new ();
  g_autoptr (MtlStridedView) view = host_zeros (MTL_DTYPE_UINT8, DIMS (HEIGHT, WIDTH, 3));
  g_autoptr (GError) error = NULL;
  guint8 expected[WIDTH * HEIGHT * 3] = { 0 };

  g_assert_true (mtl_gtk_view_paintable_set_view (paintable, view, MTL_GTK_CHANNELS_RGB,
                                                  MTL_GTK_TEXTURE_FLAGS_NONE, &error));
  for (int i = 0; i < N_STEPS; i++)
    {
      GdkRectangle where;

      g_assert_true (is_drawn (renderer, GDK_PAINTABLE (paintable), expected));
      write_random (view, &where);
      g_assert_true (is_drawn (renderer, GDK_PAINTABLE (paintable), expected));
      g_assert_true (mtl_gtk_view_paintable_invalidate (paintable, &where, &error));
      g_assert_no_error (error);
      memcpy (expected, mtl_strided_view_get_data (view), sizeof expected);
    }
  g_assert_true (is_drawn (renderer, GDK_PAINTABLE (paintable), expected));
}

#define N_COLORS 257

static GBytes *
draw (GskRenderer  *renderer,
      GdkPaintable *paintable)
{
  const graphene_rect_t viewport = GRAPHENE_RECT_INIT (0, 0, N_COLORS, 256);
  GtkSnapshot *snapshot = gtk_snapshot_new ();
  g_autoptr (GskRenderNode) node = NULL;
  g_autoptr (GdkTexture) drawn = NULL;
  guint8 *pixels = g_malloc (N_COLORS * 256 * 4);

  gdk_paintable_snapshot (paintable, GDK_SNAPSHOT (snapshot), N_COLORS, 256);
  node = gtk_snapshot_free_to_node (snapshot);
  drawn = gsk_renderer_render_texture (renderer, node, &viewport);
  gdk_texture_download (drawn, pixels, N_COLORS * 4);
  return g_bytes_new_take (pixels, N_COLORS * 256 * 4);
}

static void
set_all_products (guint8             *data,
                  const GdkRectangle *where)
{
  for (int y = where->y; y < where->y + where->height; y++)
    for (int x = where->x; x < where->x + where->width; x++)
      {
        const guint8 pixel[] = { x, 255 - x, 7 * x, y };

        memcpy (data + 4 * (y * N_COLORS + x), pixel, sizeof pixel);
      }
}

/* All colors with all opacities look as in a texture of GTK's own. */
static void
draw_all_products (GskRenderer *renderer)
{
  static const gint64 shape[] = { 256, N_COLORS, 4 };
  static const GdkRectangle rectangles[] = {
    { 3, 5, 1, 200 }, { 17, 1, 150, 91 }, { 0, 0, N_COLORS, 256 }
  };
  g_autoptr (MtlGtkViewPaintable) paintable = mtl_gtk_view_paintable_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = mtl_strided_view_new_filled (mtl_device_get_host (),
                                                                 MTL_DTYPE_UINT8, shape, 3, 99,
                                                                 MTL_STORAGE_MODE_DEFAULT, &error);

  g_assert_no_error (error);
  g_assert_true (mtl_gtk_view_paintable_set_view (paintable, view, MTL_GTK_CHANNELS_RGBA,
                                                  MTL_GTK_TEXTURE_FLAGS_NONE, &error));
  for (gsize i = 0; i < G_N_ELEMENTS (rectangles); i++)
    {
      g_autoptr (GBytes) bytes = NULL, drawn = NULL, expected = NULL;
      g_autoptr (GdkTexture) texture = NULL;

      set_all_products (mtl_strided_view_get_data (view), &rectangles[i]);
      g_assert_true (mtl_gtk_view_paintable_invalidate (paintable, &rectangles[i], &error));
      bytes = g_bytes_new (mtl_strided_view_get_data (view), N_COLORS * 256 * 4);
      texture = gdk_memory_texture_new (N_COLORS, 256, GDK_MEMORY_R8G8B8A8, bytes, N_COLORS * 4);
      drawn = draw (renderer, GDK_PAINTABLE (paintable));
      expected = draw (renderer, GDK_PAINTABLE (texture));
      g_assert_true (g_bytes_equal (drawn, expected));
    }
}

#if !GTK_CHECK_VERSION (4, 14, 0)

/* White that is not seen becomes black, as this GTK would draw it. */
static void
assert_is_premultiplied (void)
{
  static const gint64 shape[] = { 1, 1, 4 }, first[] = { 0, 0, 0 };
  static const double white[] = { 255, 255, 255, 0 };
  g_autoptr (MtlGtkViewPaintable) paintable = mtl_gtk_view_paintable_new ();
  g_autoptr (MtlStridedView) pixels = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = mtl_strided_view_new_from_doubles (white, 4, MTL_DTYPE_UINT8,
                                                                       shape, 3, &error);

  g_assert_no_error (error);
  g_assert_true (mtl_gtk_view_paintable_set_view (paintable, view, MTL_GTK_CHANNELS_RGBA,
                                                  MTL_GTK_TEXTURE_FLAGS_NONE, &error));
  pixels = mtl_gtk_view_from_texture (mtl_gtk_view_paintable_get_texture (paintable), &error);
  g_assert_no_error (error);
  g_assert_cmpint (mtl_strided_view_get_int64 (pixels, first, 3, &error), ==, 0);
}

#endif

/* Memory of a GPU, or of what stands for it. */
static void
assert_needs_copy (GskRenderer *renderer)
{
  static const GdkRGBA red = { 1, 0, 0, 1 };
  const graphene_rect_t square = GRAPHENE_RECT_INIT (0, 0, 8, 8);
  g_autoptr (GskRenderNode) node = gsk_color_node_new (&red, &square);
  g_autoptr (GdkTexture) texture = gsk_renderer_render_texture (renderer, node, &square);
  g_autoptr (GError) failure = NULL;
  g_autoptr (MtlStridedView) pixels = NULL;

  g_assert_false (GDK_IS_MEMORY_TEXTURE (texture));
  assert_fails (mtl_gtk_view_from_texture (texture, &error), MTL_ERROR_NEEDS_COPY,
                G_OBJECT_TYPE_NAME (texture));

  pixels = mtl_gtk_download_texture (texture, MTL_DTYPE_UINT8, MTL_GTK_CHANNELS_RGB, 0, NULL,
                                     &failure);
  g_assert_no_error (failure);
  for (int i = 0; i < 8 * 8; i++)
    g_assert_cmpmem ((guint8 *) mtl_strided_view_get_data (pixels) + 3 * i, 3, "\377\0\0", 3);
}

static void
test_cairo (void)
{
  g_autoptr (GskRenderer) renderer = gsk_cairo_renderer_new ();
  g_autoptr (GError) error = NULL;

  g_assert_true (gsk_renderer_realize (renderer, NULL, &error));
  draw_changes (renderer);
  draw_all_products (renderer);
  gsk_renderer_unrealize (renderer);
}

static void
test_gl (void)
{
  g_autoptr (GskRenderer) renderer = gsk_gl_renderer_new ();
  g_autoptr (GError) error = NULL;

  if (!gsk_renderer_realize (renderer, NULL, &error))
    {
      g_test_skip (error->message);
      return;
    }

  draw_changes (renderer);
  draw_all_products (renderer);
#if !GTK_CHECK_VERSION (4, 14, 0)
  if (gtk_check_version (4, 14, 0) != NULL)
    assert_is_premultiplied ();
#endif
  assert_needs_copy (renderer);
  gsk_renderer_unrealize (renderer);
}

/* A picture in a window follows by itself. */
static void
test_window (void)
{
  GtkWidget *window = gtk_window_new ();
  GtkWidget *picture = gtk_picture_new ();
  g_autoptr (MtlGtkViewPaintable) paintable = mtl_gtk_view_paintable_new ();
  g_autoptr (MtlStridedView) view = host_zeros (MTL_DTYPE_UINT8, DIMS (HEIGHT, WIDTH, 3));
  g_autoptr (GdkPaintable) shown = NULL;
  g_autoptr (GError) error = NULL;

  gtk_picture_set_paintable (GTK_PICTURE (picture), GDK_PAINTABLE (paintable));
  gtk_widget_set_halign (picture, GTK_ALIGN_START);
  gtk_widget_set_valign (picture, GTK_ALIGN_START);
  gtk_picture_set_can_shrink (GTK_PICTURE (picture), FALSE);
  gtk_window_set_child (GTK_WINDOW (window), picture);
  g_assert_true (mtl_gtk_view_paintable_set_view (paintable, view, MTL_GTK_CHANNELS_RGB,
                                                  MTL_GTK_TEXTURE_FLAGS_NONE, &error));
  gtk_window_present (GTK_WINDOW (window));
  shown = gtk_widget_paintable_new (picture);

  for (int i = 0; i < N_STEPS; i++)
    {
      const gint64 deadline = g_get_monotonic_time () + 10 * G_USEC_PER_SEC;
      GdkRectangle where;

      write_random (view, &where);
      g_assert_true (mtl_gtk_view_paintable_invalidate (paintable, &where, &error));
      g_assert_no_error (error);
      while (gdk_paintable_get_intrinsic_width (shown) != WIDTH
             || !is_drawn (gtk_native_get_renderer (GTK_NATIVE (window)), shown,
                           mtl_strided_view_get_data (view)))
        {
          g_assert_cmpint (g_get_monotonic_time (), <, deadline);
          while (g_main_context_iteration (NULL, FALSE))
            ;
          g_usleep (1000);
        }
    }

  gtk_window_destroy (GTK_WINDOW (window));
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  if (!start_screen ())
    {
      g_print ("1..0 # SKIP there is no Xvfb\n");
      return 0;
    }

  g_test_add_func ("/gtk/view-paintable/cairo", test_cairo);
  g_test_add_func ("/gtk/view-paintable/gl", test_gl);
  g_test_add_func ("/gtk/view-paintable/window", test_window);
  return g_test_run ();
}
