/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <mtldl-gtk/mtldl-gtk.h>

#include <mtldl/mtldl-dlpack.h>

#if GTK_CHECK_VERSION (4, 16, 0) && defined (__ELF__)
#include <dlfcn.h>
#endif

#include "test-utils.h"

/* The formats, and those of GTK that have the same values once gray levels are
 * written three times. */
typedef struct
{
  MtlDType dtype;
  int n_channels; /* 0: without an axis for these */
  MtlGtkChannels channels;
  MtlGtkTextureFlags flags;
  GdkMemoryFormat format;
  int n_format_channels;
} Format;

#define PREMULTIPLIED MTL_GTK_TEXTURE_FLAGS_PREMULTIPLIED
#define FORMAT(dtype, n, channels, flags, format, n_format) \
  { MTL_DTYPE_##dtype, n, MTL_GTK_CHANNELS_##channels, flags, GDK_MEMORY_##format, n_format }

static const Format formats[] = {
  FORMAT (UINT8, 4, AUTO, 0, R8G8B8A8, 4),
  FORMAT (UINT8, 4, RGBA, PREMULTIPLIED, R8G8B8A8_PREMULTIPLIED, 4),
  FORMAT (UINT8, 3, RGB, 0, R8G8B8, 3),
  FORMAT (UINT8, 3, BGR, 0, B8G8R8, 3),
  FORMAT (UINT8, 0, AUTO, 0, R8G8B8, 3),
  FORMAT (UINT8, 1, GRAY, 0, R8G8B8, 3),
  FORMAT (UINT8, 2, GRAY_ALPHA, 0, R8G8B8A8, 4),
  FORMAT (UINT16, 3, RGB, 0, R16G16B16, 3),
  FORMAT (UINT16, 0, GRAY, 0, R16G16B16, 3),
  FORMAT (FLOAT32, 3, AUTO, 0, R32G32B32_FLOAT, 3),
};

#define RGBA (&formats[0])

static const Format copied = FORMAT (UINT8, 4, RGBA, MTL_GTK_TEXTURE_FLAGS_ALLOW_COPY, R8G8B8A8, 4);

typedef struct
{
  GdkTexture *texture;
  GBytes *pixels;
} Held;

static GBytes *
download (GdkTexture *texture)
{
  gsize stride = gdk_texture_get_width (texture) * 4;
  gsize size = stride * gdk_texture_get_height (texture);
  guint8 *data = g_malloc0 (size);

  gdk_texture_download (texture, data, stride);
  return g_bytes_new_take (data, size);
}

static void
held_free (gpointer data)
{
  Held *self = data;
  g_autoptr (GBytes) pixels = download (self->texture);

  g_assert_true (g_bytes_equal (pixels, self->pixels));
  g_bytes_unref (self->pixels);
  g_object_unref (self->texture);
  g_free (self);
}

static void
hold (GPtrArray  *held,
      GdkTexture *texture)
{
  Held *self = g_new (Held, 1);

  self->texture = g_object_ref (texture);
  self->pixels = download (texture);
  g_ptr_array_add (held, self);
}

/* Makes GTK's own texture of the elements, one by one. */
static GdkTexture *
create_expected (MtlStridedView *view,
                 const Format   *format)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = NULL;
  gint64 height = mtl_strided_view_get_extent (view, 0, NULL);
  gint64 width = mtl_strided_view_get_extent (view, 1, NULL);
  gsize item_size = mtl_dtype_get_bits (format->dtype) / 8;
  gsize size = height * width * format->n_format_channels * item_size;
  guint8 *data = g_malloc0 (size);
  gboolean has_alpha = format->n_format_channels == 4;

  for (gint64 i = 0; i < height * width * format->n_format_channels; i++)
    {
      gint64 channel = i % format->n_format_channels;
      gint64 pixel = i / format->n_format_channels;
      gint64 indices[] = { pixel / width, pixel % width, channel };
      double value;

      if (format->n_channels < 3)
        indices[2] = has_alpha && channel == 3;
      value = mtl_strided_view_get_double (view, indices, format->n_channels == 0 ? 2 : 3,
                                           &error);
      g_assert_no_error (error);

      if (format->dtype == MTL_DTYPE_UINT8)
        data[i] = value;
      else if (format->dtype == MTL_DTYPE_UINT16)
        ((guint16 *) (gpointer) data)[i] = value;
      else
        ((float *) (gpointer) data)[i] = value;
    }

  bytes = g_bytes_new_take (data, size);
  return gdk_memory_texture_new (width, height, format->format, bytes,
                                 width * format->n_format_channels * item_size);
}

static void
assert_shows (MtlGtkViewPaintable *paintable,
              MtlStridedView      *view,
              const Format        *format)
{
  g_autoptr (GdkTexture) expected = create_expected (view, format);
  g_autoptr (GBytes) expected_pixels = download (expected);
  g_autoptr (GBytes) pixels = download (mtl_gtk_view_paintable_get_texture (paintable));

  g_assert_cmpint (gdk_paintable_get_intrinsic_width (GDK_PAINTABLE (paintable)), ==,
                   gdk_texture_get_width (expected));
  g_assert_cmpint (gdk_paintable_get_intrinsic_height (GDK_PAINTABLE (paintable)), ==,
                   gdk_texture_get_height (expected));
  g_assert_cmpmem (g_bytes_get_data (pixels, NULL), g_bytes_get_size (pixels),
                   g_bytes_get_data (expected_pixels, NULL), g_bytes_get_size (expected_pixels));
}

static MtlStridedView *
zeros_new (const Format *format,
           int           height,
           int           width)
{
  const gint64 shape[] = { height, width, format->n_channels };

  return host_zeros (format->dtype, shape, format->n_channels == 0 ? 2 : 3);
}

static MtlStridedView *
narrow (MtlStridedView     *view,
        const GdkRectangle *rectangle)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) rows = NULL;
  MtlStridedView *part;

  rows = mtl_strided_view_narrow (view, 0, rectangle->y, rectangle->y + rectangle->height, 1,
                                  &error);
  g_assert_no_error (error);
  part = mtl_strided_view_narrow (rows, 1, rectangle->x, rectangle->x + rectangle->width, 1,
                                  &error);
  g_assert_no_error (error);
  return part;
}

/* Flipped, transposed, with padded rows, or none of that. */
static MtlStridedView *
random_view_new (const Format *format,
                 int           height,
                 int           width)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) whole = NULL;
  MtlStridedView *view;

  switch (g_test_rand_int_range (0, 4))
    {
    case 0:
      whole = zeros_new (format, height, width);
      view = mtl_strided_view_flip (whole, g_test_rand_int_range (0, 2), &error);
      break;
    case 1:
      whole = zeros_new (format, width, height);
      view = mtl_strided_view_swap_axes (whole, 0, 1, &error);
      break;
    case 2:
      whole = zeros_new (format, height + 3, width + 5);
      view = narrow (whole, &(GdkRectangle) { 2, 1, width, height });
      break;
    default:
      view = zeros_new (format, height, width);
    }

  g_assert_no_error (error);
  return view;
}

static void
write_random (MtlStridedView     *view,
              const Format       *format,
              const GdkRectangle *rectangle)
{
  g_autoptr (GError) error = NULL;

  for (int i = 0; i < rectangle->width * rectangle->height * MAX (format->n_channels, 1); i++)
    {
      int pixel = i / MAX (format->n_channels, 1);
      const gint64 indices[] = { rectangle->y + pixel / rectangle->width,
                                 rectangle->x + pixel % rectangle->width,
                                 i % MAX (format->n_channels, 1) };
      double value = g_test_rand_double ();

      if (format->dtype != MTL_DTYPE_FLOAT32)
        value = (int) (value * (format->dtype == MTL_DTYPE_UINT8 ? 256 : 65536));
      mtl_strided_view_set_double (view, indices, format->n_channels == 0 ? 2 : 3, value, &error);
      g_assert_no_error (error);
    }
}

static GdkRectangle
random_rectangle (int height,
                  int width)
{
  int x = g_test_rand_int_range (0, width);
  int y = g_test_rand_int_range (0, height);

  return (GdkRectangle) { x, y, g_test_rand_int_range (1, width - x + 1),
                          g_test_rand_int_range (1, height - y + 1) };
}

static void
set_view (MtlGtkViewPaintable *paintable,
          MtlStridedView      *view,
          const Format        *format)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (mtl_gtk_view_paintable_set_view (paintable, view, format->channels,
                                                  format->flags, &error));
  g_assert_no_error (error);
}

static void
invalidate (MtlGtkViewPaintable *paintable,
            const GdkRectangle  *rectangle)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (mtl_gtk_view_paintable_invalidate (paintable, rectangle, &error));
  g_assert_no_error (error);
}

static void
test_new (void)
{
  g_autoptr (MtlGtkViewPaintable) paintable = mtl_gtk_view_paintable_new ();
  g_autoptr (GdkPaintable) image = gdk_paintable_get_current_image (GDK_PAINTABLE (paintable));

  g_assert_null (mtl_gtk_view_paintable_get_texture (paintable));
  g_assert_null (mtl_gtk_view_paintable_get_view (paintable));
  g_assert_cmpint (gdk_paintable_get_intrinsic_width (image), ==, 0);
  g_assert_cmpint (gdk_paintable_get_intrinsic_height (GDK_PAINTABLE (paintable)), ==, 0);
  invalidate (paintable, NULL);
  g_assert_null (mtl_gtk_view_paintable_get_texture (paintable));
}

/* Views of all formats and layouts, written, shown in part, and replaced, while
 * any number of old textures stay. */
static void
test_random (void)
{
  g_autoptr (MtlGtkViewPaintable) paintable = mtl_gtk_view_paintable_new ();
  g_autoptr (GPtrArray) held = g_ptr_array_new_with_free_func (held_free);

  for (int i = 0; i < 60; i++)
    {
      const Format *format = &formats[g_test_rand_int_range (0, G_N_ELEMENTS (formats))];
      int height = g_test_rand_int_range (1, 14);
      int width = g_test_rand_int_range (1, 14);
      const GdkRectangle all = { 0, 0, width, height };
      g_autoptr (MtlStridedView) view = random_view_new (format, height, width);

      write_random (view, format, &all);
      set_view (paintable, view, format);
      g_assert_true (mtl_gtk_view_paintable_get_view (paintable) == view);
      assert_shows (paintable, view, format);

      for (int j = g_test_rand_int_range (0, 12); j > 0; j--)
        {
          GdkRectangle where = random_rectangle (height, width);

          if (g_test_rand_bit ())
            hold (held, mtl_gtk_view_paintable_get_texture (paintable));
          if (held->len > 0 && g_test_rand_bit ())
            g_ptr_array_remove_index_fast (held, g_test_rand_int_range (0, held->len));

          write_random (view, format, &where);
          invalidate (paintable, g_test_rand_int_range (0, 8) == 0 ? NULL : &where);
          assert_shows (paintable, view, format);
        }
    }
}

/* Textures end on other threads while frames are reused. */
static void
release (gpointer texture,
         gpointer unused)
{
  g_object_unref (texture);
}

static void
test_threads (void)
{
  g_autoptr (MtlGtkViewPaintable) paintable = mtl_gtk_view_paintable_new ();
  g_autoptr (MtlStridedView) view = zeros_new (RGBA, 16, 16);
  GThreadPool *pool = g_thread_pool_new (release, NULL, 2, FALSE, NULL);

  set_view (paintable, view, RGBA);
  for (int i = 0; i < 400; i++)
    {
      GdkRectangle where = random_rectangle (16, 16);

      write_random (view, RGBA, &where);
      invalidate (paintable, &where);
      if (i % 20 == 0)
        assert_shows (paintable, view, RGBA);
      g_thread_pool_push (pool, g_object_ref (mtl_gtk_view_paintable_get_texture (paintable)),
                          NULL);
    }
  g_thread_pool_free (pool, FALSE, TRUE);
}

#define SIDE 64
#define FRAME_SIZE (SIDE * SIDE * 4)

/* One for each texture in use, and one more. */
static void
test_n_frames (void)
{
  g_autoptr (MtlGtkViewPaintable) paintable = mtl_gtk_view_paintable_new ();
  g_autoptr (GPtrArray) held = g_ptr_array_new_with_free_func (held_free);
  g_autoptr (MtlStridedView) view = zeros_new (RGBA, SIDE, SIDE);
  g_autoptr (MtlStridedView) other = zeros_new (RGBA, 1, 1);
  gsize before = mtl_get_allocated_size ();

  set_view (paintable, view, RGBA);
  g_assert_cmpuint (mtl_get_allocated_size () - before, ==, FRAME_SIZE);
  for (int i = 0; i < 10; i++)
    invalidate (paintable, NULL);
  g_assert_cmpuint (mtl_get_allocated_size () - before, ==, 2 * FRAME_SIZE);

  for (int i = 0; i < 5; i++)
    {
      hold (held, mtl_gtk_view_paintable_get_texture (paintable));
      invalidate (paintable, NULL);
      g_assert_cmpuint (mtl_get_allocated_size () - before, <=, (held->len + 2) * FRAME_SIZE);
    }

  g_ptr_array_set_size (held, 0);
  invalidate (paintable, NULL);
  g_assert_cmpuint (mtl_get_allocated_size () - before, ==, 2 * FRAME_SIZE);

  set_view (paintable, other, RGBA);
  g_assert_cmpuint (mtl_get_allocated_size () - before, <, FRAME_SIZE);
  set_view (paintable, view, RGBA);
  set_view (paintable, NULL, RGBA);
  g_assert_cmpuint (mtl_get_allocated_size (), ==, before);
  g_assert_null (mtl_gtk_view_paintable_get_texture (paintable));
}

static guint8
get_first_byte (MtlGtkViewPaintable *paintable)
{
  g_autoptr (GBytes) pixels = download (mtl_gtk_view_paintable_get_texture (paintable));

  return *(const guint8 *) g_bytes_get_data (pixels, NULL);
}

static void
set_byte (MtlStridedView *view,
          int             row,
          int             column,
          guint8          value)
{
  g_autoptr (GError) error = NULL;
  const gint64 indices[] = { row, column };

  mtl_strided_view_set_int64 (view, indices, 2, value, &error);
  g_assert_no_error (error);
}

/* Elsewhere the picture stays as it was, also if GTK lacks the format. */
static void
test_only_rectangle (void)
{
  g_autoptr (MtlGtkViewPaintable) paintable = mtl_gtk_view_paintable_new ();
  g_autoptr (MtlStridedView) view = zeros_new (&formats[4], 9, 9);

  /* Brings all copies up to date but for a corner. */
  set_view (paintable, view, &formats[4]);
  for (int i = 0; i < 3; i++)
    invalidate (paintable, &(GdkRectangle) { 8, 8, 1, 1 });
  set_byte (view, 0, 0, 7);
  set_byte (view, 5, 5, 8);
  invalidate (paintable, &(GdkRectangle) { 4, 4, 3, 3 });
  g_assert_cmpint (get_first_byte (paintable), ==, 0);
  invalidate (paintable, &(GdkRectangle) { -2, -3, 3, 4 });
  assert_shows (paintable, view, &formats[4]);
}

#if GTK_CHECK_VERSION (4, 16, 0) && defined (__ELF__)

static struct
{
  guint n;
  GdkTexture *before; /* no reference, which would keep its pixels in use */
  cairo_region_t *region;
} update;

/* Replaces GTK's function, which it then calls. */
GdkTexture *
gdk_memory_texture_builder_build (GdkMemoryTextureBuilder *builder)
{
  GdkTexture *(*build) (GdkMemoryTextureBuilder *) = dlsym (RTLD_NEXT, G_STRFUNC);

  update.n++;
  update.before = gdk_memory_texture_builder_get_update_texture (builder);
  g_clear_pointer (&update.region, cairo_region_destroy);
  update.region = cairo_region_copy (gdk_memory_texture_builder_get_update_region (builder));
  return build (builder);
}

/* GTK is told which texture was shown before, and where it differs. */
static void
test_update (void)
{
  static const GdkRectangle rectangles[] = { { 1, 2, 3, 4 }, { 0, 0, 1, 1 }, { 5, 4, 9, 9 } };
  static const GdkRectangle clipped[] = { { 1, 2, 3, 4 }, { 0, 0, 1, 1 }, { 5, 4, 4, 3 } };

  for (gsize i = 0; i < G_N_ELEMENTS (formats); i++)
    {
      g_autoptr (MtlGtkViewPaintable) paintable = mtl_gtk_view_paintable_new ();
      g_autoptr (MtlStridedView) view = zeros_new (&formats[i], 7, 9);

      update.n = 0;
      set_view (paintable, view, &formats[i]);
      g_assert_cmpuint (update.n, ==, 0);
      for (gsize j = 0; j < G_N_ELEMENTS (rectangles); j++)
        {
          g_autoptr (GdkTexture) before =
            g_object_ref (mtl_gtk_view_paintable_get_texture (paintable));
          cairo_rectangle_int_t extents;

          write_random (view, &formats[i], &clipped[j]);
          invalidate (paintable, &rectangles[j]);
          g_assert_cmpuint (update.n, ==, j + 1);
          g_assert_true (update.before == before);
          g_assert_cmpint (cairo_region_num_rectangles (update.region), ==, 1);
          cairo_region_get_extents (update.region, &extents);
          g_assert_cmpmem (&extents, sizeof extents, &clipped[j], sizeof clipped[j]);
          assert_shows (paintable, view, &formats[i]);
        }

      /* All of it is another picture then. */
      g_clear_object (&view);
      view = zeros_new (&formats[i], 5, 5);
      set_view (paintable, view, &formats[i]);
      g_assert_cmpuint (update.n, ==, G_N_ELEMENTS (rectangles));
    }

  g_clear_pointer (&update.region, cairo_region_destroy);
}

#endif

static void
test_clip (void)
{
  g_autoptr (MtlGtkViewPaintable) paintable = mtl_gtk_view_paintable_new ();
  g_autoptr (MtlStridedView) view = zeros_new (RGBA, 4, 6);
  const GdkRectangle nothing[] = {
    { 0, 0, 0, 0 }, { 1, 1, 0, 2 }, { 1, 1, 2, 0 }, { 2, 2, -1, 3 }, { 6, 0, 1, 1 }, { 0, 4, 1, 1 },
    { -3, 0, 3, 1 }, { G_MININT, 0, 5, 5 }, { 0, G_MAXINT, 5, 5 },
  };
  const GdkRectangle all = { -5, -5, G_MAXINT, G_MAXINT };
  GdkTexture *texture;

  set_view (paintable, view, RGBA);
  texture = mtl_gtk_view_paintable_get_texture (paintable);
  for (guint i = 0; i < G_N_ELEMENTS (nothing); i++)
    {
      invalidate (paintable, &nothing[i]);
      g_assert_true (mtl_gtk_view_paintable_get_texture (paintable) == texture);
    }

  write_random (view, RGBA, &(GdkRectangle) { 0, 0, 6, 4 });
  invalidate (paintable, &all);
  assert_shows (paintable, view, RGBA);
  write_random (view, RGBA, &(GdkRectangle) { 2, 1, 4, 3 });
  invalidate (paintable, &(GdkRectangle) { 2, 1, G_MAXINT, G_MAXINT });
  assert_shows (paintable, view, RGBA);
}

/* A writable view is copied; a read-only one is only if GTK cannot use it, and
 * that is asked for. */
static void
test_sharing (void)
{
  g_autoptr (MtlGtkViewPaintable) paintable = mtl_gtk_view_paintable_new ();
  g_autoptr (GError) none = NULL;
  g_autoptr (MtlStridedView) view = zeros_new (RGBA, SIDE, SIDE);
  g_autoptr (MtlStridedView) read_only = mtl_strided_view_as_read_only (view);
  g_autoptr (MtlStridedView) flipped = mtl_strided_view_flip (read_only, 1, &none);
  guint8 *data = mtl_strided_view_get_data (view);
  gsize before = mtl_get_allocated_size ();

  g_assert_no_error (none);
  memset (data, 255, 4);
  set_view (paintable, read_only, RGBA);
  g_assert_cmpuint (mtl_get_allocated_size (), ==, before);
  g_assert_cmpint (get_first_byte (paintable), ==, 255);
  data[2] = 10;
  g_assert_cmpint (get_first_byte (paintable), ==, 10);
  invalidate (paintable, NULL);
  g_assert_cmpuint (mtl_get_allocated_size (), ==, before);
  assert_shows (paintable, read_only, RGBA);

  set_view (paintable, view, RGBA);
  data[2] = 20;
  g_assert_cmpint (get_first_byte (paintable), ==, 10);
  invalidate (paintable, NULL);
  g_assert_cmpint (get_first_byte (paintable), ==, 20);

  assert_refuses (mtl_gtk_view_paintable_set_view (paintable, flipped, MTL_GTK_CHANNELS_RGBA,
                                                   MTL_GTK_TEXTURE_FLAGS_NONE, &error),
                  MTL_ERROR_NEEDS_COPY, "ALLOW_COPY");
  g_assert_true (mtl_gtk_view_paintable_get_view (paintable) == view);

  for (int i = 0; i < 5; i++)
    {
      write_random (view, RGBA, &(GdkRectangle) { 0, 0, SIDE, SIDE });
      if (i == 0)
        set_view (paintable, flipped, &copied);
      else
        invalidate (paintable, NULL);
      assert_shows (paintable, flipped, RGBA);
    }
  g_assert_cmpuint (mtl_get_allocated_size () - before, ==, 2 * FRAME_SIZE);

  set_view (paintable, read_only, &copied);
  g_assert_cmpuint (mtl_get_allocated_size (), ==, before);
}

/* Textures that are still drawn need neither the paintable nor the view. */
static void
test_texture_stays (void)
{
  MtlGtkViewPaintable *paintable = mtl_gtk_view_paintable_new ();
  MtlStridedView *view = zeros_new (RGBA, 5, 7);
  g_autoptr (GPtrArray) held = g_ptr_array_new_with_free_func (held_free);
  GdkTexture *texture;

  write_random (view, RGBA, &(GdkRectangle) { 0, 0, 7, 5 });
  set_view (paintable, view, RGBA);
  hold (held, mtl_gtk_view_paintable_get_texture (paintable));
  invalidate (paintable, NULL);
  texture = mtl_gtk_view_paintable_get_texture (paintable);
  g_object_add_weak_pointer (G_OBJECT (texture), (gpointer *) &texture);
  set_view (paintable, NULL, RGBA);
  g_assert_null (texture);

  set_view (paintable, view, RGBA);
  g_object_add_weak_pointer (G_OBJECT (view), (gpointer *) &view);
  g_object_unref (view);
  g_assert_nonnull (view);
  hold (held, mtl_gtk_view_paintable_get_texture (paintable));
  g_object_unref (paintable);
  g_assert_null (view);
}

static void
count (GObject *object,
       guint   *n_signals)
{
  (*n_signals)++;
}

static void
count_notify (GObject    *object,
              GParamSpec *pspec,
              guint      *n_signals)
{
  (*n_signals)++;
}

static void
test_signals (void)
{
  g_autoptr (MtlGtkViewPaintable) paintable = mtl_gtk_view_paintable_new ();
  g_autoptr (MtlStridedView) small = zeros_new (RGBA, 2, 3);
  g_autoptr (MtlStridedView) same_size = zeros_new (RGBA, 2, 3);
  g_autoptr (MtlStridedView) large = zeros_new (RGBA, 3, 3);
  guint n_contents = 0, n_sizes = 0, n_views = 0;

  g_signal_connect (paintable, "invalidate-contents", G_CALLBACK (count), &n_contents);
  g_signal_connect (paintable, "invalidate-size", G_CALLBACK (count), &n_sizes);
  g_signal_connect (paintable, "notify::view", G_CALLBACK (count_notify), &n_views);

#define assert_emitted(contents, sizes, views) \
  G_STMT_START \
    { \
      g_assert_cmpuint (n_contents, ==, contents); \
      g_assert_cmpuint (n_sizes, ==, sizes); \
      g_assert_cmpuint (n_views, ==, views); \
    } \
  G_STMT_END

  set_view (paintable, small, RGBA);
  assert_emitted (1, 1, 1);
  invalidate (paintable, NULL);
  assert_emitted (2, 1, 1);
  set_view (paintable, small, RGBA);
  assert_emitted (3, 1, 1);
  set_view (paintable, same_size, RGBA);
  assert_emitted (4, 1, 2);
  set_view (paintable, large, RGBA);
  assert_emitted (5, 2, 3);
  invalidate (paintable, &(GdkRectangle) { 3, 0, 1, 1 });
  assert_emitted (5, 2, 3);
  set_view (paintable, NULL, RGBA);
  assert_emitted (6, 3, 4);
}

/* A failure leaves the texture as it is, and later changes to its view are still shown. */
static void
test_failures (void)
{
  static const gint64 huge[] = { 1, POW2 (31), 4 }, row[] = { 4 }, none[] = { 0, 3, 4 };
  static const gint64 five[] = { 2, 2, 5 };
  g_autoptr (MtlGtkViewPaintable) paintable = mtl_gtk_view_paintable_new ();
  g_autoptr (GPtrArray) held = g_ptr_array_new_with_free_func (held_free);
  g_autoptr (MtlStridedView) view = zeros_new (RGBA, 2, 2);
  guint8 byte = 0;
  const struct
  {
    const gint64 *shape;
    gsize n_dims;
    MtlError code;
    const char *named;
  } wrong[] = {
    { huge, 3, MTL_ERROR_OVERFLOW, "2147483648" },
    { row, 1, MTL_ERROR_INVALID_ARGUMENT, "1" },
    { none, 3, MTL_ERROR_INVALID_ARGUMENT, "0" },
    { five, 3, MTL_ERROR_INVALID_ARGUMENT, "5" },
  };

  write_random (view, RGBA, &(GdkRectangle) { 0, 0, 2, 2 });
  set_view (paintable, view, RGBA);
  hold (held, mtl_gtk_view_paintable_get_texture (paintable));

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      const gint64 strides[] = { 0, 0, 0 };
      g_autoptr (GError) none_yet = NULL;
      g_autoptr (MtlBuffer) buffer = NULL;
      g_autoptr (MtlStridedLayout) layout = NULL;
      g_autoptr (MtlStridedView) bad = NULL;

      buffer = mtl_buffer_new_for_data (&byte, 1, NULL, MTL_BUFFER_FLAGS_READ_ONLY, NULL, NULL,
                                        &none_yet);
      layout = mtl_strided_layout_new (wrong[i].shape, wrong[i].n_dims, strides, wrong[i].n_dims,
                                       8, &none_yet);
      g_assert_no_error (none_yet);
      bad = mtl_strided_view_new (buffer, layout, MTL_DTYPE_UINT8, 0, &none_yet);
      g_assert_no_error (none_yet);
      assert_refuses (mtl_gtk_view_paintable_set_view (paintable, bad, MTL_GTK_CHANNELS_AUTO,
                                                       MTL_GTK_TEXTURE_FLAGS_NONE, &error),
                      wrong[i].code, wrong[i].named);
    }

  g_assert_true (mtl_gtk_view_paintable_get_view (paintable) == view);
  g_assert_true (mtl_gtk_view_paintable_get_texture (paintable)
                 == ((Held *) g_ptr_array_index (held, 0))->texture);
  write_random (view, RGBA, &(GdkRectangle) { 0, 0, 1, 2 });
  invalidate (paintable, &(GdkRectangle) { 0, 0, 1, 2 });
  assert_shows (paintable, view, RGBA);
}

static MtlStridedView *
foreign_new (void)
{
  static gint64 shape[] = { 2, 2, 4 };
  static guint8 data[16];
  static DLManagedTensor managed;
  g_autoptr (GError) error = NULL;
  MtlStridedView *view;

  managed.dl_tensor.data = data;
  managed.dl_tensor.device = (DLDevice) { .device_type = MTL_DEVICE_TYPE_ROCM, .device_id = 5 };
  managed.dl_tensor.ndim = 3;
  managed.dl_tensor.dtype = (DLDataType) { .code = 1, .bits = 8, .lanes = 1 };
  managed.dl_tensor.shape = shape;
  view = mtl_strided_view_new_take_dlpack_legacy (&managed, &error);
  g_assert_no_error (error);
  return view;
}

static void
test_foreign (void)
{
  g_autoptr (MtlGtkViewPaintable) paintable = mtl_gtk_view_paintable_new ();
  g_autoptr (MtlStridedView) view = foreign_new ();

  assert_refuses (mtl_gtk_view_paintable_set_view (paintable, view, MTL_GTK_CHANNELS_RGBA,
                                                   MTL_GTK_TEXTURE_FLAGS_NONE, &error),
                  MTL_ERROR_NOT_HOST_ACCESSIBLE, "(10, 5)");
  g_assert_null (mtl_gtk_view_paintable_get_texture (paintable));
}

static void
assert_shows_colors (MtlGtkViewPaintable *paintable,
                     MtlStridedView      *view,
                     MtlGtkColorMap       color_map,
                     double               low,
                     double               high)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) colors = NULL;

  colors = mtl_gtk_colorize (view, color_map, low, high, NULL, &error);
  g_assert_no_error (error);
  assert_shows (paintable, colors, &formats[2]);
}

static void
test_color_map (void)
{
  static const MtlDType dtypes[] = { MTL_DTYPE_FLOAT64, MTL_DTYPE_INT32, MTL_DTYPE_FLOAT16,
                                     MTL_DTYPE_UINT8, MTL_DTYPE_BOOL };
  g_autoptr (MtlGtkViewPaintable) paintable = mtl_gtk_view_paintable_new ();
  g_autoptr (MtlStridedView) image = zeros_new (RGBA, 3, 4);
  g_autoptr (GError) error = NULL;

  g_assert_true (mtl_gtk_view_paintable_set_color_map (paintable, MTL_GTK_COLOR_MAP_HEAT, -1, 1,
                                                       &error));
  for (guint i = 0; i < G_N_ELEMENTS (dtypes); i++)
    {
      const Format format = { dtypes[i], 0, MTL_GTK_CHANNELS_AUTO, 0, 0, 0 };
      g_autoptr (MtlStridedView) writable = random_view_new (&format, 7, 9);
      g_autoptr (MtlStridedView) view = i % 2 == 0 ? g_object_ref (writable)
                                                   : mtl_strided_view_as_read_only (writable);

      set_view (paintable, view, &format);
      for (int j = 0; j < 10; j++)
        {
          const gint64 indices[] = { g_test_rand_int_range (0, 7), g_test_rand_int_range (0, 9) };

          mtl_strided_view_set_double (writable, indices, 2, g_test_rand_int_range (0, 3) - 0.5,
                                       &error);
          g_assert_no_error (error);
          invalidate (paintable, &(GdkRectangle) { indices[1], indices[0], 1, 1 });
          assert_shows_colors (paintable, view, MTL_GTK_COLOR_MAP_HEAT, -1, 1);
        }

      g_assert_true (mtl_gtk_view_paintable_set_color_map (paintable, MTL_GTK_COLOR_MAP_GRAY, 0, 3,
                                                           &error));
      assert_shows_colors (paintable, view, MTL_GTK_COLOR_MAP_GRAY, 0, 3);
      g_assert_true (mtl_gtk_view_paintable_set_color_map (paintable, MTL_GTK_COLOR_MAP_HEAT, -1, 1,
                                                           &error));
      g_assert_no_error (error);
    }

  /* All else is shown as it is. */
  write_random (image, RGBA, &(GdkRectangle) { 0, 0, 4, 3 });
  set_view (paintable, image, RGBA);
  assert_shows (paintable, image, RGBA);
}

/* Color maps of one's own, with and without opacity, replace a map, and the other way round. */
static void
test_colors (void)
{
  g_autoptr (MtlGtkViewPaintable) paintable = mtl_gtk_view_paintable_new ();
  const Format format = { MTL_DTYPE_FLOAT64, 0, MTL_GTK_CHANNELS_AUTO, 0, 0, 0 };
  g_autoptr (MtlStridedView) view = zeros_new (&format, 7, 9);
  g_autoptr (GError) none = NULL;

  for (int i = 0; i < 63; i++)
    mtl_strided_view_set_double (view, (gint64[]) { i / 9, i % 9 }, 2, (i - 31) / 25.0, &none);
  g_assert_true (mtl_gtk_view_paintable_set_color_map (paintable, MTL_GTK_COLOR_MAP_HEAT, 0, 1,
                                                       &none));
  set_view (paintable, view, &format);
  for (int i = 0; i < 2; i++)
    {
      const Format *shown = i == 0 ? RGBA : &formats[2];
      g_autoptr (MtlStridedView) colors = random_view_new (shown, 1, 256);
      g_autoptr (MtlStridedView) palette = mtl_strided_view_select (colors, 0, 0, &none);
      g_autoptr (MtlStridedView) expected = NULL;

      g_assert_no_error (none);
      write_random (colors, shown, &(GdkRectangle) { 0, 0, 256, 1 });
      expected = mtl_gtk_colorize_with_colors (view, palette, -1, 1, NULL, &none);
      g_assert_no_error (none);
      g_assert_true (mtl_gtk_view_paintable_set_colors (paintable, palette, -1, 1, &none));
      assert_shows (paintable, expected, shown);

      /* A copy is used. */
      g_assert_true (mtl_strided_view_fill_double (palette, 0, NULL, &none));
      invalidate (paintable, NULL);
      assert_shows (paintable, expected, shown);
      assert_refuses (mtl_gtk_view_paintable_set_colors (paintable, view, 0, 1, &error),
                      MTL_ERROR_INVALID_ARGUMENT, "(7, 9)");
      assert_shows (paintable, expected, shown);
    }

  g_assert_true (mtl_gtk_view_paintable_set_color_map (paintable, MTL_GTK_COLOR_MAP_HEAT, 0, 1,
                                                       &none));
  assert_shows_colors (paintable, view, MTL_GTK_COLOR_MAP_HEAT, 0, 1);
}

static void
test_no_color_map (void)
{
  g_autoptr (MtlGtkViewPaintable) paintable = mtl_gtk_view_paintable_new ();
  g_autoptr (MtlStridedView) view = zeros_new (&formats[4], 3, 4);
  g_autoptr (MtlStridedView) numbers = NULL;
  g_autoptr (GError) none = NULL;
  const Format doubles = { MTL_DTYPE_FLOAT64, 0, MTL_GTK_CHANNELS_AUTO, 0, 0, 0 };

  write_random (view, &formats[4], &(GdkRectangle) { 0, 0, 4, 3 });
  set_view (paintable, view, &formats[4]);
  g_assert_true (mtl_gtk_view_paintable_set_color_map (paintable, MTL_GTK_COLOR_MAP_HEAT, 0, 200,
                                                       &none));
  assert_shows_colors (paintable, view, MTL_GTK_COLOR_MAP_HEAT, 0, 200);
  g_assert_true (mtl_gtk_view_paintable_set_color_map (paintable, MTL_GTK_COLOR_MAP_NONE, 0, 1,
                                                       &none));
  assert_shows (paintable, view, &formats[4]);

  g_assert_true (mtl_gtk_view_paintable_set_color_map (paintable, MTL_GTK_COLOR_MAP_HEAT, 0, 2,
                                                       &none));
  numbers = zeros_new (&doubles, 2, 2);
  set_view (paintable, numbers, &doubles);
  assert_refuses (mtl_gtk_view_paintable_set_color_map (paintable, MTL_GTK_COLOR_MAP_NONE, 0, 1,
                                                        &error),
                  MTL_ERROR_INVALID_ARGUMENT, "float64");
  assert_shows_colors (paintable, numbers, MTL_GTK_COLOR_MAP_HEAT, 0, 2);
}

static void
assert_wrong_values_refused (MtlGtkViewPaintable *paintable,
                             MtlStridedView      *view)
{
  assert_refuses (mtl_gtk_view_paintable_set_color_map (paintable, 99, 0, 1, &error),
                  MTL_ERROR_INVALID_ARGUMENT, "99 & MtlGtkColorMap");
  assert_refuses (mtl_gtk_view_paintable_set_view (paintable, view, 98, MTL_GTK_TEXTURE_FLAGS_NONE,
                                                   &error),
                  MTL_ERROR_INVALID_ARGUMENT, "98 & MtlGtkChannels");
}

/* Wrong values are refused at once, also if they are not needed yet. */
static void
test_wrong_values (void)
{
  g_autoptr (MtlGtkViewPaintable) paintable = mtl_gtk_view_paintable_new ();
  g_autoptr (MtlStridedView) view = zeros_new (&formats[4], 3, 4);
  g_autoptr (MtlStridedView) image = zeros_new (RGBA, 3, 4);
  g_autoptr (GError) none = NULL;

  assert_wrong_values_refused (paintable, NULL);
  write_random (view, &formats[4], &(GdkRectangle) { 0, 0, 4, 3 });
  set_view (paintable, view, &formats[4]);
  assert_shows (paintable, view, &formats[4]);

  g_assert_true (mtl_gtk_view_paintable_set_color_map (paintable, MTL_GTK_COLOR_MAP_HEAT, 0, 200,
                                                       &none));
  assert_wrong_values_refused (paintable, NULL);
  assert_wrong_values_refused (paintable, image);
  g_assert_true (mtl_gtk_view_paintable_get_view (paintable) == view);
  invalidate (paintable, NULL);
  assert_shows_colors (paintable, view, MTL_GTK_COLOR_MAP_HEAT, 0, 200);

  set_view (paintable, image, RGBA);
  assert_wrong_values_refused (paintable, view);
  assert_shows (paintable, image, RGBA);
}

typedef struct
{
  MtlStridedView *view, *colors;
  MtlGtkChannels channels;
  MtlGtkTextureFlags flags;
  MtlGtkColorMap color_map;
  double low, high;
} Settings;

/* Makes a paintable by the methods, which return errors. */
static MtlGtkViewPaintable *
create_checked (const Settings  *settings,
                GError         **error)
{
  g_autoptr (MtlGtkViewPaintable) paintable = mtl_gtk_view_paintable_new ();

  if (!(settings->colors != NULL
        ? mtl_gtk_view_paintable_set_colors (paintable, settings->colors, settings->low,
                                             settings->high, error)
        : mtl_gtk_view_paintable_set_color_map (paintable, settings->color_map, settings->low,
                                                settings->high, error))
      || !mtl_gtk_view_paintable_set_view (paintable, settings->view, settings->channels,
                                           settings->flags, error))
    return NULL;

  return g_steal_pointer (&paintable);
}

/* Checks that it shows the same picture, or has the same error. */
static void
assert_same_state (MtlGtkViewPaintable *paintable,
                   const Settings      *settings)
{
  g_autoptr (GError) reason = NULL, failure = NULL;
  g_autoptr (MtlGtkViewPaintable) expected = create_checked (settings, &failure);
  GdkTexture *texture = mtl_gtk_view_paintable_get_texture (paintable);
  GdkTexture *expected_texture;

  g_object_get (paintable, "error", &reason, NULL);
  if (failure != NULL)
    {
      g_assert_error (reason, failure->domain, failure->code);
      g_assert_null (texture);
      g_assert_cmpint (gdk_paintable_get_intrinsic_width (GDK_PAINTABLE (paintable)), ==, 0);
      g_assert_true (mtl_gtk_view_paintable_get_view (paintable) == settings->view);
      assert_refuses (mtl_gtk_view_paintable_invalidate (paintable, NULL, &error), failure->code,
                      "");
      return;
    }

  g_assert_no_error (reason);
  expected_texture = mtl_gtk_view_paintable_get_texture (expected);
  g_assert_true ((texture == NULL) == (expected_texture == NULL));
  if (texture != NULL)
    {
      g_autoptr (GBytes) pixels = download (texture);
      g_autoptr (GBytes) expected_pixels = download (expected_texture);

      g_assert_true (g_bytes_equal (pixels, expected_pixels));
    }
}

static void
test_properties (void)
{
  g_autoptr (MtlStridedView) view = zeros_new (&formats[4], 3, 4);
  g_autoptr (MtlGtkViewPaintable) paintable = NULL;
  g_autoptr (MtlStridedView) same_view = NULL, colors = NULL;
  MtlGtkTextureFlags flags;
  MtlGtkChannels channels;
  MtlGtkColorMap color_map;
  double low, high;

  write_random (view, &formats[4], &(GdkRectangle) { 0, 0, 4, 3 });
  paintable = g_object_new (MTL_GTK_TYPE_VIEW_PAINTABLE, "low", 10.0, "color-map",
                            MTL_GTK_COLOR_MAP_HEAT, "view", view, "high", 200.0, NULL);
  assert_shows_colors (paintable, view, MTL_GTK_COLOR_MAP_HEAT, 10, 200);
  g_object_get (paintable, "view", &same_view, "channels", &channels, "flags", &flags, "color-map",
                &color_map, "colors", &colors, "low", &low, "high", &high, NULL);
  g_assert_true (same_view == view && colors == NULL);
  g_assert_cmpint (channels, ==, MTL_GTK_CHANNELS_AUTO);
  g_assert_cmpint (flags, ==, MTL_GTK_TEXTURE_FLAGS_NONE);
  g_assert_cmpint (color_map, ==, MTL_GTK_COLOR_MAP_HEAT);
  g_assert_cmpfloat (low, ==, 10);
  g_assert_cmpfloat (high, ==, 200);
}

#define PICK(array) (array)[g_test_rand_int_range (0, G_N_ELEMENTS (array))]

static void
test_random_properties (void)
{
  static const Format doubles = { MTL_DTYPE_FLOAT64, 0, MTL_GTK_CHANNELS_AUTO, 0, 0, 0 };
  static const Format five = { MTL_DTYPE_UINT8, 5, MTL_GTK_CHANNELS_AUTO, 0, 0, 0 };
  static const MtlGtkChannels channels[] = { MTL_GTK_CHANNELS_AUTO, MTL_GTK_CHANNELS_AUTO,
                                             MTL_GTK_CHANNELS_RGBA, MTL_GTK_CHANNELS_GRAY };
  static const double limits[] = { 0, 1, 200, -3 };
  g_autoptr (MtlStridedView) gray = random_view_new (&formats[4], 3, 4);
  g_autoptr (MtlStridedView) image = random_view_new (RGBA, 3, 4);
  g_autoptr (MtlStridedView) read_only = mtl_strided_view_as_read_only (gray);
  g_autoptr (MtlStridedView) numbers = zeros_new (&doubles, 2, 2);
  g_autoptr (MtlStridedView) none_such = zeros_new (&five, 2, 2);
  const Format colors_format = { MTL_DTYPE_UINT8, 0, 0, 0, 0, 0 };
  g_autoptr (MtlStridedView) three = zeros_new (&colors_format, 5, 3);
  g_autoptr (MtlStridedView) wrong = zeros_new (&colors_format, 5, 2);
  MtlStridedView *views[] = { NULL, gray, image, read_only, numbers, none_such };
  MtlStridedView *colors[] = { NULL, NULL, NULL, three, wrong };
  g_autoptr (MtlGtkViewPaintable) paintable = mtl_gtk_view_paintable_new ();
  Settings settings = { .high = 1 };

  for (int i = 0; i < 1000; i++)
    {
      g_autoptr (MtlGtkViewPaintable) other = NULL;

      switch (g_test_rand_int_range (0, 7))
        {
        case 0:
          settings.view = PICK (views);
          g_object_set (paintable, "view", settings.view, NULL);
          break;
        case 1:
          settings.channels = PICK (channels);
          g_object_set (paintable, "channels", settings.channels, NULL);
          break;
        case 2:
          settings.flags = g_test_rand_int_range (0, 4);
          g_object_set (paintable, "flags", settings.flags, NULL);
          break;
        case 3:
          settings.color_map = g_test_rand_int_range (0, 3);
          g_object_set (paintable, "color-map", settings.color_map, NULL);
          break;
        case 4:
          settings.colors = PICK (colors);
          g_object_set (paintable, "colors", settings.colors, NULL);
          break;
        case 5:
          settings.low = PICK (limits);
          g_object_set (paintable, "low", settings.low, NULL);
          break;
        default:
          settings.high = PICK (limits);
          g_object_set (paintable, "high", settings.high, NULL);
        }

      assert_same_state (paintable, &settings);
      other = g_object_new (MTL_GTK_TYPE_VIEW_PAINTABLE, "high", settings.high, "low", settings.low,
                            "flags", settings.flags, "view", settings.view, "channels",
                            settings.channels, "colors", settings.colors, "color-map",
                            settings.color_map, NULL);
      assert_same_state (other, &settings);
    }
}

static void
append_name (GObject    *paintable,
             GParamSpec *pspec,
             gpointer    names)
{
  g_string_append_printf (names, "%s ", pspec->name);
}

static void
assert_notified (GString    *names,
                 const char *expected)
{
  g_auto (GStrv) words = g_strsplit (expected, " ", -1);

  g_assert_cmpint (names->len, ==, strlen (expected));
  for (int i = 0; words[i] != NULL; i++)
    g_assert_nonnull (strstr (names->str, words[i]));
  g_string_truncate (names, 0);
}

/* Once for each property that changed, in whatever order. */
static void
test_notify (void)
{
  const Format five = { MTL_DTYPE_UINT8, 5, MTL_GTK_CHANNELS_AUTO, 0, 0, 0 };
  g_autoptr (MtlStridedView) view = zeros_new (&formats[4], 3, 4);
  g_autoptr (MtlStridedView) wrong = zeros_new (&five, 3, 4);
  g_autoptr (MtlGtkViewPaintable) paintable = mtl_gtk_view_paintable_new ();
  g_autoptr (GString) names = g_string_new (NULL);
  g_autoptr (GError) none = NULL;

  g_signal_connect (paintable, "notify", G_CALLBACK (append_name), names);
  g_object_set (paintable, "view", view, NULL);
  assert_notified (names, "view ");
  g_object_set (paintable, "view", view, "low", 0.0, "color-map", MTL_GTK_COLOR_MAP_NONE, NULL);
  assert_notified (names, "");
  g_assert_true (mtl_gtk_view_paintable_set_color_map (paintable, MTL_GTK_COLOR_MAP_GRAY, 0, 7,
                                                       &none));
  assert_notified (names, "color-map high ");
  g_object_set (paintable, "view", wrong, NULL);
  assert_notified (names, "view error ");
  g_object_set (paintable, "view", NULL, NULL);
  assert_notified (names, "view error ");
}

/* The methods leave the paintable as it is if they fail, and otherwise remove the error. */
static void
test_error_goes (void)
{
  const Format five = { MTL_DTYPE_UINT8, 5, MTL_GTK_CHANNELS_AUTO, 0, 0, 0 };
  g_autoptr (MtlStridedView) view = zeros_new (&formats[4], 3, 4);
  g_autoptr (MtlStridedView) wrong = zeros_new (&five, 3, 4);
  g_autoptr (MtlGtkViewPaintable) paintable =
    g_object_new (MTL_GTK_TYPE_VIEW_PAINTABLE, "view", wrong, NULL);
  g_autoptr (GError) first = NULL, second = NULL, none = NULL;

  g_object_get (paintable, "error", &first, NULL);
  g_assert_error (first, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT);
  assert_says (first->message, "5");
  assert_refuses (mtl_gtk_view_paintable_set_color_map (paintable, MTL_GTK_COLOR_MAP_HEAT, 0, 1,
                                                        &error),
                  MTL_ERROR_INVALID_ARGUMENT, "5");
  g_object_get (paintable, "error", &second, NULL);
  g_assert_cmpstr (second->message, ==, first->message);

  set_view (paintable, view, &formats[4]);
  g_object_get (paintable, "error", &none, NULL);
  g_assert_no_error (none);
  assert_shows (paintable, view, &formats[4]);
}

static void
test_builder (void)
{
  static const char ui[] =
    "<interface>"
    "  <object class='MtlGtkViewPaintable' id='paintable'>"
    "    <property name='low'>-5</property>"
    "    <property name='view'>numbers</property>"
    "    <property name='color-map'>heat</property>"
    "    <property name='high'>120</property>"
    "  </object>"
    "  <object class='MtlGtkViewPaintable' id='image'>"
    "    <property name='flags'>premultiplied|allow-copy</property>"
    "    <property name='channels'>rgba</property>"
    "    <property name='view'>pixels</property>"
    "  </object>"
    "</interface>";
  g_autoptr (MtlStridedView) view = random_view_new (&formats[4], 3, 4);
  g_autoptr (MtlStridedView) pixels = random_view_new (&formats[1], 3, 4);
  g_autoptr (GtkBuilder) builder = gtk_builder_new ();
  g_autoptr (GError) error = NULL;

  gtk_builder_expose_object (builder, "numbers", G_OBJECT (view));
  gtk_builder_expose_object (builder, "pixels", G_OBJECT (pixels));
  gtk_builder_add_from_string (builder, ui, -1, &error);
  g_assert_no_error (error);
  assert_shows_colors (MTL_GTK_VIEW_PAINTABLE (gtk_builder_get_object (builder, "paintable")),
                       view, MTL_GTK_COLOR_MAP_HEAT, -5, 120);
  assert_shows (MTL_GTK_VIEW_PAINTABLE (gtk_builder_get_object (builder, "image")), pixels,
                &formats[1]);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/gtk/view-paintable/new", test_new);
  g_test_add_func ("/gtk/view-paintable/random", test_random);
  g_test_add_func ("/gtk/view-paintable/threads", test_threads);
  g_test_add_func ("/gtk/view-paintable/n-frames", test_n_frames);
  g_test_add_func ("/gtk/view-paintable/only-rectangle", test_only_rectangle);
#if GTK_CHECK_VERSION (4, 16, 0) && defined (__ELF__)
  g_test_add_func ("/gtk/view-paintable/update", test_update);
#endif
  g_test_add_func ("/gtk/view-paintable/clip", test_clip);
  g_test_add_func ("/gtk/view-paintable/sharing", test_sharing);
  g_test_add_func ("/gtk/view-paintable/texture-stays", test_texture_stays);
  g_test_add_func ("/gtk/view-paintable/signals", test_signals);
  g_test_add_func ("/gtk/view-paintable/failures", test_failures);
  g_test_add_func ("/gtk/view-paintable/foreign", test_foreign);
  g_test_add_func ("/gtk/view-paintable/color-map", test_color_map);
  g_test_add_func ("/gtk/view-paintable/colors", test_colors);
  g_test_add_func ("/gtk/view-paintable/no-color-map", test_no_color_map);
  g_test_add_func ("/gtk/view-paintable/properties", test_properties);
  g_test_add_func ("/gtk/view-paintable/random-properties", test_random_properties);
  g_test_add_func ("/gtk/view-paintable/notify", test_notify);
  g_test_add_func ("/gtk/view-paintable/error-goes", test_error_goes);
  g_test_add_func ("/gtk/view-paintable/builder", test_builder);
  g_test_add_func ("/gtk/view-paintable/wrong-values", test_wrong_values);
  return g_test_run ();
}
