/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "test-gtk-utils.h"

#include "test-device.h"

static cairo_surface_t *
get_surface (MtlStridedView *view,
             cairo_format_t  format)
{
  g_autoptr (GError) error = NULL;
  cairo_surface_t *surface = mtl_gtk_surface_from_view (view, format, &error);

  g_assert_no_error (error);
  g_assert_true (mtl_gtk_check_surface (view, format, NULL));
  g_assert_cmpint (cairo_surface_status (surface), ==, CAIRO_STATUS_SUCCESS);
  return surface;
}

static MtlStridedView *
get_view (cairo_surface_t *surface)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *view = mtl_gtk_view_from_surface (surface, &error);

  g_assert_no_error (error);
  g_assert_false (mtl_strided_view_is_read_only (view));
  return view;
}

/* Premultiplied, as half of an orange. */
static void
fill (cairo_surface_t *surface)
{
  cairo_t *cr = cairo_create (surface);

  cairo_set_operator (cr, CAIRO_OPERATOR_SOURCE);
  cairo_set_source_rgba (cr, 1, 0.5, 0, 0.5);
  cairo_paint (cr);
  cairo_destroy (cr);
  cairo_surface_flush (surface);
}

static void
paint (cairo_surface_t *target,
       cairo_surface_t *source)
{
  cairo_t *cr = cairo_create (target);

  cairo_set_source_surface (cr, source, 0, 0);
  cairo_paint (cr);
  cairo_destroy (cr);
  cairo_surface_flush (target);
}

static const struct
{
  cairo_format_t format;
  MtlDType dtype;
  gint64 n_channels;
  double expected[4];
} formats[] = {
  { CAIRO_FORMAT_ARGB32, MTL_DTYPE_UINT8, 4, { 0, 64, 128, 128 } },
  { CAIRO_FORMAT_RGB24, MTL_DTYPE_UINT8, 4, { 0, 64, 128, 255 } },
  { CAIRO_FORMAT_A8, MTL_DTYPE_UINT8, 1, { 128 } },
#if CAIRO_VERSION >= CAIRO_VERSION_ENCODE (1, 17, 2)
  { CAIRO_FORMAT_RGB96F, MTL_DTYPE_FLOAT32, 3, { 0.5, 0.25, 0 } },
  { CAIRO_FORMAT_RGBA128F, MTL_DTYPE_FLOAT32, 4, { 0.5, 0.25, 0, 0.5 } },
#endif
};

/* Cairo has drawn colors of 16 bits. */
static double
get_tolerance (gsize i)
{
  return formats[i].dtype == MTL_DTYPE_FLOAT32 ? 1e-4 : 1;
}

static double
get_expected (gsize   i,
              gint64  channel)
{
  const gboolean reversed = formats[i].dtype == MTL_DTYPE_UINT8 && G_BYTE_ORDER == G_BIG_ENDIAN;

  return formats[i].expected[reversed ? formats[i].n_channels - 1 - channel : channel];
}

/* Drawing writes to the elements, and to no others. */
static void
test_draw (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (formats); i++)
    for (int cropped = 0; cropped <= 1; cropped++)
      {
        const gint64 n_channels = formats[i].n_channels;
        g_autoptr (MtlStridedView) memory = host_zeros (formats[i].dtype, DIMS (5, 16, n_channels));
        g_autoptr (MtlStridedView) view = slice (memory, cropped ? "1:4, 4:9" : "...");
        g_autoptr (MtlStridedView) same = NULL;
        cairo_surface_t *surface = get_surface (view, formats[i].format);
        const gint64 *shape = mtl_strided_view_get_shape (view, NULL);

        g_assert_true (cairo_image_surface_get_data (surface) == mtl_strided_view_get_data (view));
        g_assert_cmpint (cairo_image_surface_get_format (surface), ==, formats[i].format);
        g_assert_cmpint (cairo_image_surface_get_height (surface), ==, shape[0]);
        g_assert_cmpint (cairo_image_surface_get_width (surface), ==, shape[1]);
        fill (surface);

        for (gint64 row = 0; row < 5; row++)
          for (gint64 column = 0; column < 16; column++)
            for (gint64 channel = 0; channel < n_channels; channel++)
              {
                const gboolean inside = !cropped || (row >= 1 && row < 4 && column >= 4
                                                     && column < 9);

                /* The opacity of RGB24 is not used: Cairo may write to it or not. */
                if (formats[i].format == CAIRO_FORMAT_RGB24
                    && channel == (G_BYTE_ORDER == G_LITTLE_ENDIAN ? 3 : 0))
                  continue;

                g_assert_cmpfloat_with_epsilon (get_number_at (memory, row, column, channel),
                                                inside ? get_expected (i, channel) : 0,
                                                get_tolerance (i));
              }

        same = get_view (surface);
        g_assert_true (mtl_strided_view_get_address (same) == mtl_strided_view_get_address (view));
        cairo_surface_destroy (surface);
      }
}

static void
test_gray_without_axis (void)
{
  g_autoptr (MtlStridedView) view = host_zeros (MTL_DTYPE_UINT8, DIMS (3, 8));
  cairo_surface_t *surface = get_surface (view, CAIRO_FORMAT_A8);

  fill (surface);
  g_assert_cmpfloat (get_number_at (view, 2, 7, 0), ==, 128);
  cairo_surface_destroy (surface);
}

/* The stride of a single row is never used. */
static void
test_one_row (void)
{
  g_autoptr (MtlStridedView) memory = host_zeros (MTL_DTYPE_UINT8, DIMS (1, 8));
  g_autoptr (MtlStridedView) view = slice (memory, ":, :5");
  cairo_surface_t *surface = get_surface (view, CAIRO_FORMAT_A8);

  fill (surface);
  assert_elements (view, 128, 128, 128, 128, 128);
  cairo_surface_destroy (surface);
}

/* Checks that writes to the elements are drawn. */
static void
check_written (gsize i)
{
  const int n_channels = formats[i].n_channels;
  const double full = get_full (formats[i].dtype);
  g_autoptr (MtlStridedView) view = host_zeros (formats[i].dtype, DIMS (3, 8, n_channels));
  cairo_surface_t *surface = get_surface (view, formats[i].format);
  cairo_surface_t *screen = cairo_image_surface_create (formats[i].format, 8, 3);
  g_autoptr (MtlStridedView) pixels = get_view (screen);

  cairo_surface_flush (surface);
  for (int j = 0; j < 3 * 8 * n_channels; j++)
    set_number_at (view, j / n_channels / 8, j / n_channels % 8, j % n_channels,
                   j % n_channels == 3 ? full : full * j / 255);
  cairo_surface_mark_dirty (surface);

  paint (screen, surface);
  for (int j = 0; j < 3 * 8 * n_channels; j++)
    if (j % n_channels != 3)
      g_assert_cmpfloat (get_number_at (pixels, j / n_channels / 8, j / n_channels % 8,
                                        j % n_channels), ==,
                         get_number_at (view, j / n_channels / 8, j / n_channels % 8,
                                        j % n_channels));

  cairo_surface_destroy (surface);
  cairo_surface_destroy (screen);
}

static void
test_written (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (formats); i++)
    if (G_BYTE_ORDER == G_LITTLE_ENDIAN || formats[i].dtype != MTL_DTYPE_UINT8)
      check_written (i);
}

static void
test_view_from_surface (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (formats); i++)
    {
      cairo_surface_t *surface = cairo_image_surface_create (formats[i].format, 5, 3);
      g_autoptr (MtlStridedView) view = get_view (surface);
      gsize n_dims;
      const gint64 *shape = mtl_strided_view_get_shape (view, &n_dims);

      g_assert_true (mtl_strided_view_get_data (view) == cairo_image_surface_get_data (surface));
      g_assert_cmpint (mtl_strided_view_get_dtype (view), ==, formats[i].dtype);
      g_assert_cmpint (shape[0], ==, 3);
      g_assert_cmpint (shape[1], ==, 5);
      if (formats[i].n_channels == 1)
        g_assert_cmpint (n_dims, ==, 2);
      else
        g_assert_cmpint (shape[2], ==, formats[i].n_channels);

      fill (surface);
      for (gint64 channel = 0; channel < formats[i].n_channels; channel++)
        if (formats[i].format != CAIRO_FORMAT_RGB24)
          g_assert_cmpfloat_with_epsilon (get_number_at (view, 2, 4, channel),
                                          get_expected (i, channel), get_tolerance (i));

      /* The view has the surface. */
      cairo_surface_destroy (surface);
      set_number_at (view, 0, 0, 0, 1);
      g_assert_cmpfloat (get_number_at (view, 0, 0, 0), ==, 1);
    }
}

/* A drawing that uses the surface, which copies its pixels before they change. */
static cairo_surface_t *
record (cairo_surface_t *surface)
{
  cairo_surface_t *recording = cairo_recording_surface_create (CAIRO_CONTENT_COLOR_ALPHA, NULL);

  paint (recording, surface);
  return recording;
}

/* Cairo ends the program if a surface that others have as a source changes without a flush. */
static void
test_used_as_source (void)
{
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, 5, 3);
  cairo_surface_t *screen = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, 5, 3);
  g_autoptr (MtlStridedView) drawn = get_view (screen);
  MtlStridedView *view;
  cairo_surface_t *recording;

  fill (surface);
  view = get_view (surface);
  recording = record (surface);
  g_object_unref (view);

  view = get_view (surface);
  set_number_at (view, 1, 2, 3, 255);
  g_object_unref (view);

  paint (screen, recording);
  g_assert_cmpfloat (get_number_at (drawn, 1, 2, 3), ==, 128);

  cairo_surface_destroy (recording);
  cairo_surface_destroy (surface);
  cairo_surface_destroy (screen);
}

/* A write makes the picture's own encoding wrong, so it is dropped. */
static void
test_encoded_data (void)
{
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, 5, 3);
  MtlStridedView *view = get_view (surface);
  const unsigned char *data = NULL;
  unsigned long size = 0;

  g_assert_cmpint (cairo_surface_set_mime_data (surface, CAIRO_MIME_TYPE_JPEG,
                                                (const unsigned char *) "abc", 3, NULL, NULL),
                   ==, CAIRO_STATUS_SUCCESS);
  g_object_unref (view);
  cairo_surface_get_mime_data (surface, CAIRO_MIME_TYPE_JPEG, &data, &size);
  g_assert_null (data);
  cairo_surface_destroy (surface);
}

/* The last row in memory is the first one of the picture. */
static void
test_bottom_up (void)
{
  guint8 bytes[4 * 28] = { 0 };
  cairo_surface_t *surface =
    cairo_image_surface_create_for_data (bytes + 3 * 28, CAIRO_FORMAT_ARGB32, 7, 4, -28);
  g_autoptr (MtlStridedView) view = get_view (surface);

  g_assert_true (mtl_strided_view_get_data (view) == bytes + 3 * 28);
  g_assert_cmpint (mtl_strided_view_get_strides (view, NULL)[0], ==, -28);
  set_number_at (view, 3, 0, 0, 5);
  set_number_at (view, 0, 6, 3, 6);
  g_assert_cmpint (bytes[0], ==, 5);
  g_assert_cmpint (bytes[4 * 28 - 1], ==, 6);
  cairo_surface_destroy (surface);
}

/* Cairo and its bindings read and write `stride` bytes of each row, the last one included. */
static void
test_end_of_memory (void)
{
  static const struct { gint64 rows, columns, end; } sizes[] = {
    { 1, 5, 8 }, { 1, 8, 8 }, { 3, 5, 24 }, { 3, 8, 24 }, { 7, 1, 28 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    for (gint64 size = (sizes[i].rows - 1) * (sizes[i].end / sizes[i].rows) + sizes[i].columns;
         size <= sizes[i].end + 1; size++)
      {
        const gint64 strides[] = { sizes[i].end / sizes[i].rows, 1 };
        g_autoptr (MtlBuffer) buffer =
          mtl_buffer_new (NULL, size, MTL_STORAGE_MODE_HOST, NULL);
        g_autoptr (MtlStridedLayout) layout =
          mtl_strided_layout_new (DIMS (sizes[i].rows, sizes[i].columns), strides, 2, 8, NULL);
        g_autoptr (MtlStridedView) view =
          mtl_strided_view_new (buffer, layout, MTL_DTYPE_UINT8, 0, NULL);
        cairo_surface_t *surface, *again;
        g_autoptr (MtlStridedView) same = NULL;

        if (size < sizes[i].end)
          {
            g_autofree char *needed = g_strdup_printf ("%d bytes", (int) sizes[i].end);

            assert_fails (mtl_gtk_surface_from_view (view, CAIRO_FORMAT_A8, &error),
                          MTL_ERROR_NEEDS_COPY, needed);
            continue;
          }

        surface = get_surface (view, CAIRO_FORMAT_A8);
        memset (cairo_image_surface_get_data (surface), 1,
                cairo_image_surface_get_stride (surface)
                * cairo_image_surface_get_height (surface));
        cairo_surface_mark_dirty (surface);
        cairo_surface_destroy (record (surface));

        same = get_view (surface);
        again = get_surface (same, CAIRO_FORMAT_A8);
        cairo_surface_destroy (again);
        cairo_surface_destroy (surface);
      }
}

/* A part of a picture that touches the end of its memory lacks the rest of the last row. */
static void
test_corner (void)
{
  g_autoptr (MtlStridedView) picture = host_zeros (MTL_DTYPE_UINT8, DIMS (20, 20, 4));
  g_autoptr (MtlStridedView) corner = slice (picture, "10:, 10:");
  g_autoptr (MtlStridedView) edge = slice (picture, "10:, :10");
  g_autoptr (MtlStridedView) inside = slice (picture, "9:19, 10:");
  cairo_surface_t *surface;

  assert_fails (mtl_gtk_surface_from_view (corner, CAIRO_FORMAT_ARGB32, &error),
                MTL_ERROR_NEEDS_COPY, "800");
  surface = get_surface (edge, CAIRO_FORMAT_ARGB32);
  cairo_surface_destroy (surface);
  surface = get_surface (inside, CAIRO_FORMAT_ARGB32);
  cairo_surface_destroy (surface);
}

static void
test_surfaces_refused (void)
{
  static const cairo_rectangle_t extents = { 0, 0, 5, 3 };
  cairo_surface_t *bits = cairo_image_surface_create (CAIRO_FORMAT_A1, 5, 3);
  cairo_surface_t *drawing = cairo_recording_surface_create (CAIRO_CONTENT_COLOR, &extents);
  cairo_surface_t *empty = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, 0, 3);
  cairo_surface_t *finished = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, 5, 3);
  cairo_surface_t *failed = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, -1, 3);
  cairo_surface_t *whole = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, 5, 3);
  cairo_surface_t *part = cairo_surface_create_for_rectangle (whole, 1, 1, 2, 2);

  cairo_surface_finish (finished);
  assert_fails (mtl_gtk_view_from_surface (bits, &error), MTL_ERROR_NOT_SUPPORTED, "3");
  assert_fails (mtl_gtk_view_from_surface (drawing, &error), MTL_ERROR_NOT_SUPPORTED, "16");
  assert_fails (mtl_gtk_view_from_surface (empty, &error), MTL_ERROR_INVALID_ARGUMENT, "3");
  assert_fails (mtl_gtk_view_from_surface (finished, &error), MTL_ERROR_INVALID_ARGUMENT, "");
  assert_fails (mtl_gtk_view_from_surface (failed, &error), MTL_ERROR_INVALID_ARGUMENT, "");
  assert_fails (mtl_gtk_view_from_surface (part, &error), MTL_ERROR_NOT_SUPPORTED, "");

  cairo_surface_destroy (bits);
  cairo_surface_destroy (drawing);
  cairo_surface_destroy (empty);
  cairo_surface_destroy (finished);
  cairo_surface_destroy (failed);
  cairo_surface_destroy (part);
  cairo_surface_destroy (whole);
}

static void
assert_refused (MtlStridedView *view,
                cairo_format_t  format,
                MtlError        code,
                const char     *value)
{
  assert_fails (mtl_gtk_surface_from_view (view, format, &error), code, value);
  assert_refuses (mtl_gtk_check_surface (view, format, &error), code, value);
  g_assert_cmpuint (G_OBJECT (view)->ref_count, ==, 1);
}

static void
test_views_refused (void)
{
  static const struct { const char *part; const char *values; } parts[] = {
    { "::-1", "-28" }, { ":, ::-1", "-4" },
    { ":, ::2", "8" }, { "..., ::-1", "-1" },
  };
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = host_zeros (MTL_DTYPE_UINT8, DIMS (6, 7, 4));
  g_autoptr (MtlStridedView) read_only = mtl_strided_view_as_read_only (view);
  g_autoptr (MtlStridedView) floats = host_zeros (MTL_DTYPE_FLOAT32, DIMS (6, 7, 4));
  g_autoptr (MtlStridedView) rgb = host_zeros (MTL_DTYPE_UINT8, DIMS (6, 7, 3));
  g_autoptr (MtlStridedView) odd = host_zeros (MTL_DTYPE_UINT8, DIMS (6, 7));
  g_autoptr (MtlStridedView) ten = host_zeros (MTL_DTYPE_UINT8, DIMS (6, 10));
  g_autoptr (MtlStridedView) thirteen = host_zeros (MTL_DTYPE_UINT8, DIMS (6, 13));
  g_autoptr (MtlStridedView) padded = slice (thirteen, ":, :5");
  g_autoptr (MtlStridedView) empty = host_zeros (MTL_DTYPE_UINT8, DIMS (0, 7, 4));
  g_autoptr (MtlStridedView) tall = host_zeros (MTL_DTYPE_UINT8, DIMS (32768, 1, 4));
  g_autoptr (MtlStridedView) wide = host_zeros (MTL_DTYPE_UINT8, DIMS (1, 32768, 4));
  g_autoptr (MtlStridedView) bytes = host_zeros (MTL_DTYPE_UINT8, DIMS (7 * 28 + 1));
  g_autoptr (MtlStridedLayout) layout = mtl_strided_layout_new_dense (DIMS (6, 7, 4), MTL_ORDER_C,
                                                                      8, &error);
  g_autoptr (MtlStridedView) misaligned = NULL, repeated = NULL, row = NULL;
  g_autoptr (TestDevice) device = test_device_new (MTL_STORAGE_MODE_PRIVATE);
  g_autoptr (MtlStridedView) elsewhere = new_view_elsewhere (MTL_DEVICE (device), 6, 7, 4);

  misaligned = mtl_strided_view_new (mtl_strided_view_get_buffer (bytes), layout, MTL_DTYPE_UINT8,
                                     1, &error);
  g_assert_no_error (error);
  row = slice (view, "0:1");
  repeated = mtl_strided_view_broadcast_to (row, DIMS (6, 7, 4), &error);
  g_assert_no_error (error);

  for (gsize i = 0; i < G_N_ELEMENTS (parts); i++)
    {
      g_autoptr (MtlStridedView) part = slice (view, parts[i].part);

      assert_refused (part, CAIRO_FORMAT_ARGB32, MTL_ERROR_NEEDS_COPY, parts[i].values);
    }
  assert_refused (repeated, CAIRO_FORMAT_ARGB32,
                  mtl_strided_view_is_read_only (repeated) ? MTL_ERROR_READ_ONLY
                                                           : MTL_ERROR_NEEDS_COPY, "");
  assert_refused (misaligned, CAIRO_FORMAT_RGB24, MTL_ERROR_NEEDS_COPY, "4");
  assert_refused (odd, CAIRO_FORMAT_A8, MTL_ERROR_NEEDS_COPY, "8 & 7");
  assert_refused (ten, CAIRO_FORMAT_A8, MTL_ERROR_NEEDS_COPY, "12 & 10");
  assert_refused (padded, CAIRO_FORMAT_A8, MTL_ERROR_NEEDS_COPY, "4 & 13");
  assert_refused (read_only, CAIRO_FORMAT_ARGB32, MTL_ERROR_READ_ONLY, "");
  assert_refused (floats, CAIRO_FORMAT_ARGB32, MTL_ERROR_INVALID_ARGUMENT, "float32");
  assert_refused (rgb, CAIRO_FORMAT_RGB24, MTL_ERROR_INVALID_ARGUMENT, "(height, width, 4)");
  assert_refused (odd, CAIRO_FORMAT_ARGB32, MTL_ERROR_INVALID_ARGUMENT,
                  "(height, width, 4) & (6, 7)");
  assert_refused (rgb, CAIRO_FORMAT_A8, MTL_ERROR_INVALID_ARGUMENT, "(height, width)");
  assert_refused (empty, CAIRO_FORMAT_ARGB32, MTL_ERROR_INVALID_ARGUMENT, "0 & 7");
  assert_refused (view, CAIRO_FORMAT_RGB16_565, MTL_ERROR_NOT_SUPPORTED, "4");
  assert_refused (view, 99, MTL_ERROR_NOT_SUPPORTED, "99");
  assert_refused (tall, CAIRO_FORMAT_ARGB32, MTL_ERROR_OVERFLOW, "32768");
  assert_refused (wide, CAIRO_FORMAT_ARGB32, MTL_ERROR_OVERFLOW, "1 & 32768");
  assert_refused (elsewhere, CAIRO_FORMAT_ARGB32, MTL_ERROR_NOT_HOST_ACCESSIBLE, "“Test”");
}

static void
test_lifetimes (void)
{
  MtlStridedView *view = host_zeros (MTL_DTYPE_UINT8, DIMS (3, 5, 4));
  MtlStridedView *again;
  cairo_surface_t *surface = get_surface (view, CAIRO_FORMAT_ARGB32);
  GWeakRef weak;

  g_weak_ref_init (&weak, view);
  g_object_unref (view);
  fill (surface);
  again = get_view (surface);
  cairo_surface_destroy (surface);
  set_number_at (again, 2, 4, 3, 7);
  view = g_weak_ref_get (&weak);
  g_assert_nonnull (view);
  g_assert_cmpfloat (get_number_at (view, 2, 4, 3), ==, 7);
  g_object_unref (view);
  g_object_unref (again);
  g_assert_null (g_weak_ref_get (&weak));
  g_weak_ref_clear (&weak);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/Surface/draw", test_draw);
  g_test_add_func ("/Surface/gray-without-axis", test_gray_without_axis);
  g_test_add_func ("/Surface/one-row", test_one_row);
  g_test_add_func ("/Surface/written", test_written);
  g_test_add_func ("/Surface/view", test_view_from_surface);
  g_test_add_func ("/Surface/used-as-source", test_used_as_source);
  g_test_add_func ("/Surface/encoded-data", test_encoded_data);
  g_test_add_func ("/Surface/bottom-up", test_bottom_up);
  g_test_add_func ("/Surface/end-of-memory", test_end_of_memory);
  g_test_add_func ("/Surface/corner", test_corner);
  g_test_add_func ("/Surface/surfaces-refused", test_surfaces_refused);
  g_test_add_func ("/Surface/views-refused", test_views_refused);
  g_test_add_func ("/Surface/lifetimes", test_lifetimes);

  return g_test_run ();
}
