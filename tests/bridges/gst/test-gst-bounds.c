/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Wrong metas, at random, against arithmetic that cannot overflow: whatever a meta claims, no view
 * leaves the buffer, and none that fits is refused. */

#include "test-gst-view-utils.h"

#define N_CASES 20000

/* Wide enough for a gsize plus products of two ints. */
G_GNUC_EXTENSION typedef __int128 Wide;

static const GstVideoFormat formats[] = {
  GST_VIDEO_FORMAT_RGBA, GST_VIDEO_FORMAT_RGB, GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_I420,
  GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_YUY2, GST_VIDEO_FORMAT_YUV9, GST_VIDEO_FORMAT_ARGB64,
  GST_VIDEO_FORMAT_A420,
};

/* Small, around a size, near the limits of the type, or anything. */
static guint64
random_number (guint64 near,
               guint64 limit)
{
  switch (g_test_rand_int_range (0, 6))
    {
    case 0:
      return limit - g_test_rand_int_range (0, 4);
    case 1:
      return (((guint64) g_test_rand_int () << 32) | (guint32) g_test_rand_int ()) & limit;
    case 2:
      return near + g_test_rand_int_range (-3, 4);
    default:
      return g_test_rand_int_range (0, 20);
    }
}

static int
random_stride (int near)
{
  const int stride = random_number (near, G_MAXINT);

  switch (g_test_rand_int_range (0, 8))
    {
    case 0:
      return -stride;
    case 1:
      return G_MININT + g_test_rand_int_range (0, 3);
    default:
      return stride;
    }
}

static void
randomize_meta (GstVideoMeta *meta,
                gsize         size)
{
  meta->width = random_number (16, G_MAXUINT);
  meta->height = random_number (9, G_MAXUINT);
  for (guint plane = 0; plane < meta->n_planes; plane++)
    {
      meta->stride[plane] = random_stride (16);
      meta->offset[plane] = random_number (size, G_MAXSIZE);
      if (g_test_rand_int_range (0, 2) == 0 && meta->stride[plane] < 0)
        meta->offset[plane] = random_number (size, 2 * size) % (size + 1);
    }
}

typedef struct
{
  Wide begin;
  Wide end;
} Range;

/* The bytes of the component by the corners of the picture. */
static Range
get_range (const GstVideoMeta *meta,
           guint               component)
{
  const GstVideoFormatInfo *format = gst_video_format_get_info (meta->format);
  const guint plane = format->plane[component];
  const Wide rows = ((Wide) meta->height + (1 << format->h_sub[component]) - 1)
                    >> format->h_sub[component];
  const Wide columns = ((Wide) meta->width + (1 << format->w_sub[component]) - 1)
                       >> format->w_sub[component];
  const Wide first = (Wide) meta->offset[plane] + format->poffset[component];
  const Wide last = first + (rows - 1) * meta->stride[plane];
  const Wide width = (columns - 1) * format->pixel_stride[component]
                     + format->depth[component] / 8;

  return (Range) { MIN (first, last), MAX (first, last) + width };
}

static gboolean
is_viewable (const GstVideoMeta *meta,
             guint               component,
             gsize               size)
{
  const GstVideoFormatInfo *format = gst_video_format_get_info (meta->format);
  const guint plane = format->plane[component];
  const Range range = get_range (meta, component);

  if (meta->width == 0 || meta->width > G_MAXINT || meta->height == 0 || meta->height > G_MAXINT)
    return FALSE;

  if (meta->stride[plane] % (int) (format->depth[component] / 8) != 0
      && meta->height > 1u << format->h_sub[component])
    return FALSE;

  return range.begin >= 0 && range.end <= (Wide) size;
}

static void
check_is_within (MtlStridedView *view,
                 const guint8   *begin,
                 const Range    *range)
{
  MtlBuffer *bytes = mtl_strided_view_get_buffer (view);

  g_assert_true ((const guint8 *) mtl_buffer_get_contents (bytes) == begin + (gsize) range->begin);
  g_assert_true (mtl_buffer_get_size (bytes) == (gsize) (range->end - range->begin));
}

static gboolean
check_component (GstBuffer          *buffer,
                 const GstVideoMeta *meta,
                 guint               component,
                 const guint8       *bytes,
                 gsize               size)
{
  g_autoptr (MtlStridedView) view = NULL;
  g_autoptr (GError) error = NULL;
  const Range range = get_range (meta, component);

  view = mtl_gst_view_from_video_buffer_component (buffer, NULL, component, GST_MAP_READ, &error);
  if ((view != NULL) != is_viewable (meta, component, size))
    g_error ("%ux%u, component %u, offset %" G_GSIZE_FORMAT ", stride %d, of %" G_GSIZE_FORMAT
             " bytes: %s", meta->width, meta->height, component, meta->offset[0],
             meta->stride[0], size, error != NULL ? error->message : "has a view");

  if (view == NULL)
    {
      g_assert_true (error->domain == MTL_ERROR);
      return FALSE;
    }

  check_is_within (view, bytes, &range);
  return TRUE;
}

static void
check_planes (GstBuffer          *buffer,
              const GstVideoMeta *meta,
              const guint8       *bytes,
              gsize               size)
{
  for (guint plane = 0; plane < meta->n_planes; plane++)
    {
      g_autoptr (MtlStridedView) view =
        mtl_gst_view_from_video_buffer (buffer, NULL, plane, GST_MAP_READ, NULL);
      MtlBuffer *range;

      if (view == NULL)
        continue;

      range = mtl_strided_view_get_buffer (view);
      g_assert_true ((const guint8 *) mtl_buffer_get_contents (range) >= bytes);
      g_assert_cmpuint ((const guint8 *) mtl_buffer_get_contents (range) - bytes
                        + mtl_buffer_get_size (range), <=, size);
    }
}

static void
test_random_metas (void)
{
  const gsize size = 2000;
  guint n_views = 0, n_refused = 0;

  for (guint i = 0; i < N_CASES; i++)
    {
      const GstVideoFormat format = formats[i % G_N_ELEMENTS (formats)];
      g_autoptr (GstBuffer) buffer = NULL;
      g_autofree guint8 *bytes = g_malloc (size);
      const guint n_components = gst_video_format_get_info (format)->n_components;
      GstVideoMeta *meta;
      GstMemory *memory;

      buffer = gst_buffer_new_wrapped_full (0, bytes, size, 0, size, NULL, NULL);
      memory = gst_buffer_peek_memory (buffer, 0);
      meta = gst_buffer_add_video_meta (buffer, GST_VIDEO_FRAME_FLAG_NONE, format, 16, 9);
      randomize_meta (meta, size);

      for (guint component = 0; component < n_components; component++)
        if (check_component (buffer, meta, component, bytes, size))
          n_views++;
        else
          n_refused++;
      check_planes (buffer, meta, bytes, size);
      assert_untouched (buffer, 0, memory);
    }

  g_test_message ("%u views, %u refused", n_views, n_refused);
  g_assert_cmpuint (n_views, >, N_CASES / 20);
  g_assert_cmpuint (n_refused, >, N_CASES / 20);
}

/* Each byte is read, for valgrind to see. The rows of a stride of 0 can be too many for that. */
static void
test_random_metas_read (void)
{
  for (guint i = 0; i < 500; i++)
    {
      g_autoptr (GstBuffer) buffer = random_buffer_new (777);
      GstVideoMeta *meta = gst_buffer_add_video_meta (buffer, GST_VIDEO_FRAME_FLAG_NONE,
                                                      GST_VIDEO_FORMAT_I420, 16, 9);

      randomize_meta (meta, 777);
      for (guint component = 0; component < 3; component++)
        {
          g_autoptr (MtlStridedView) copy = NULL;
          g_autoptr (MtlStridedView) view =
            mtl_gst_view_from_video_buffer_component (buffer, NULL, component, GST_MAP_READ, NULL);

          if (view == NULL || mtl_strided_view_get_volume (view) > 100000)
            continue;

          copy = mtl_strided_view_copy (view, MTL_ORDER_C, NULL, NULL);
          g_assert_nonnull (copy);
        }
    }
}

/* Formats that GStreamer does not know, and numbers of planes that the format does not have. */
static void
test_wrong_format (void)
{
  g_autoptr (GstBuffer) buffer = random_buffer_new (4096);
  GstVideoMeta *meta = gst_buffer_add_video_meta (buffer, GST_VIDEO_FRAME_FLAG_NONE,
                                                  GST_VIDEO_FORMAT_I420, 16, 8);
  GstVideoInfo info;

  meta->n_planes = 2;
  assert_fails (mtl_gst_view_from_video_buffer (buffer, NULL, 0, GST_MAP_READ, &error),
                MTL_ERROR_INVALID_ARGUMENT, "2");
  meta->n_planes = G_MAXUINT;
  assert_fails (mtl_gst_view_from_video_buffer (buffer, NULL, 0, GST_MAP_READ, &error),
                MTL_ERROR_INVALID_ARGUMENT, "4294967295");
  meta->n_planes = 3;
  meta->format = GST_VIDEO_FORMAT_UNKNOWN;
  assert_fails (mtl_gst_view_from_video_buffer (buffer, NULL, 0, GST_MAP_READ, &error),
                MTL_ERROR_INVALID_ARGUMENT, "0");

  set_info (&info, GST_VIDEO_FORMAT_I420, 16, 8);
  meta->format = 12345;
  assert_fails (mtl_gst_view_from_video_buffer (buffer, &info, 0, GST_MAP_READ, &error),
                MTL_ERROR_INVALID_ARGUMENT, "12345");
  assert_fails (mtl_gst_view_from_video_buffer (buffer, NULL, 0, GST_MAP_READ, &error),
                MTL_ERROR_INVALID_ARGUMENT, "12345");

  meta->format = GST_VIDEO_FORMAT_I420;
  info.finfo = NULL;
  assert_fails (mtl_gst_view_from_video_buffer (buffer, &info, 0, GST_MAP_READ, &error),
                MTL_ERROR_INVALID_ARGUMENT, "gst_video_info_set_format()");
  assert_untouched (buffer, 0, gst_buffer_peek_memory (buffer, 0));
}

/* A field has half of the rows that a meta counts, the odd one included. */
static void
test_many_rows (void)
{
  g_autoptr (GstBuffer) buffer = random_buffer_new (64);
  GstVideoMeta *meta = gst_buffer_add_video_meta (buffer, GST_VIDEO_FRAME_FLAG_NONE,
                                                  GST_VIDEO_FORMAT_GRAY8, 8, 8);
  GstVideoInfo info;

  g_assert_true (gst_video_info_set_interlaced_format (&info, GST_VIDEO_FORMAT_GRAY8,
                                                       GST_VIDEO_INTERLACE_MODE_ALTERNATE, 8, 8));
  meta->height = G_MAXINT;
  assert_fails (mtl_gst_view_from_video_buffer (buffer, &info, 0, GST_MAP_READ, &error),
                MTL_ERROR_OUT_OF_BOUNDS, "(1073741824, 8)");
}

static void
test_no_pixels (void)
{
  static const int sizes[][2] = { { 0, 0 }, { 0, 8 }, { 16, 0 } };
  g_autoptr (GstBuffer) plain = random_buffer_new (64);
  GstVideoInfo info;

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autoptr (GstBuffer) buffer = random_buffer_new (64);
      GstVideoMeta *meta = gst_buffer_add_video_meta (buffer, GST_VIDEO_FRAME_FLAG_NONE,
                                                      GST_VIDEO_FORMAT_GRAY8, 8, 8);

      meta->width = sizes[i][0];
      meta->height = sizes[i][1];
      assert_fails (mtl_gst_view_from_video_buffer (buffer, NULL, 0, GST_MAP_READ, &error),
                    MTL_ERROR_INVALID_ARGUMENT, "1");
    }

  set_info (&info, GST_VIDEO_FORMAT_GRAY8, 8, 8);
  info.width = G_MININT;
  assert_fails (mtl_gst_view_from_video_buffer (plain, &info, 0, GST_MAP_READ, &error),
                MTL_ERROR_INVALID_ARGUMENT, "(8, -2147483648)");
}

int
main (int    argc,
      char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/gst/bounds/random-metas", test_random_metas);
  g_test_add_func ("/gst/bounds/random-metas-read", test_random_metas_read);
  g_test_add_func ("/gst/bounds/wrong-format", test_wrong_format);
  g_test_add_func ("/gst/bounds/many-rows", test_many_rows);
  g_test_add_func ("/gst/bounds/no-pixels", test_no_pixels);

  return g_test_run ();
}
