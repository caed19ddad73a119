/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* All video formats of the GStreamer that runs, against its own functions that unpack them. */

#include "test-gst-view-utils.h"

static const struct
{
  int width;
  int height;
} sizes[] = { { 1, 1 }, { 3, 5 }, { 2, 2 }, { 16, 9 }, { 321, 243 } };

typedef void (* FormatFunc) (const GstVideoFormatInfo *format);

/* Goes by names, since the running GStreamer may know more formats than the one compiled with. */
static void
for_each_format (FormatFunc func)
{
  GEnumClass *formats = g_type_class_ref (GST_TYPE_VIDEO_FORMAT);

  for (guint i = 0; i < formats->n_values; i++)
    {
      const GstVideoFormatInfo *format = gst_video_format_get_info (formats->values[i].value);

      if (format->format > GST_VIDEO_FORMAT_ENCODED && format->n_components > 0)
        func (format);
    }

  g_type_class_unref (formats);
}

/* TRUE if GStreamer's own description of a format has samples that begin at a byte: by flags and
 * sizes. The byte order is in the name. */
static gboolean
has_views (const GstVideoFormatInfo *format)
{
  const guint other_flags =
    GST_VIDEO_FORMAT_FLAG_TILED | GST_VIDEO_FORMAT_FLAG_COMPLEX | GST_VIDEO_FORMAT_FLAG_PALETTE;
  const char *foreign = G_BYTE_ORDER == G_LITTLE_ENDIAN ? "BE" : "LE";
  const int sample_size = format->depth[0] > 8 ? 2 : 1;
  const gboolean one_plane = format->n_planes == 1 && format->w_sub[1] == 0;

  if ((format->flags & other_flags) != 0 || format->pixel_stride[0] == 0 || format->depth[0] < 8)
    return FALSE;

  /* 10 bits each, packed into 32 */
  if (one_plane && format->pixel_stride[0] < sample_size * (int) format->n_components)
    return FALSE;

  return sample_size == 1 || !g_str_has_suffix (format->name, foreign);
}

static void
assert_not_supported (MtlStridedView           *view,
                      GError                   *error,
                      const GstVideoFormatInfo *format)
{
  g_assert_null (view);
  assert_failed (error, MTL_ERROR_NOT_SUPPORTED, format->name);
}

static void
check_refused (const GstVideoFormatInfo *format)
{
  g_autoptr (GstBuffer) buffer = NULL;
  MtlStridedView *view;
  GError *error = NULL;
  GstVideoInfo info;

  if (has_views (format))
    return;

  set_info (&info, format->format, 16, 8);
  buffer = random_frame_new (&info);
  for (guint plane = 0; plane < format->n_planes; plane++)
    {
      view = mtl_gst_view_from_video_buffer (buffer, &info, plane, GST_MAP_READ, &error);
      assert_not_supported (view, g_steal_pointer (&error), format);
    }

  for (guint component = 0; component < format->n_components; component++)
    {
      view =
          mtl_gst_view_from_video_buffer_component (buffer, &info, component, GST_MAP_READ, &error);
      assert_not_supported (view, g_steal_pointer (&error), format);
    }

  assert_untouched (buffer, 0, gst_buffer_peek_memory (buffer, 0));
}

static void
test_refused (void)
{
  for_each_format (check_refused);
}

/* Returns the sample from the place of its bits in the unpacked format. */
static guint
get_sample (const GstVideoFormatInfo *format,
            guint                     component,
            MtlDType                  dtype,
            const guint8             *element)
{
  const guint depth = format->depth[component];
  guint shift = format->shift[component];
  guint16 value;

  if (dtype == MTL_DTYPE_UINT8)
    return element[0];

  g_assert_cmpint (dtype, ==, MTL_DTYPE_UINT16);
  if (format->format == GST_VIDEO_FORMAT_Y210) /* in the upper bits, which the table lacks */
    shift = 6;
  memcpy (&value, element, sizeof (value));
  return (value >> shift) & ((1u << depth) - 1);
}

/* The sample of a component in a line that GStreamer unpacked. */
static guint
get_unpacked (const GstVideoFormatInfo *format,
              guint                     component,
              gconstpointer             line,
              guint                     column)
{
  const guint index = column * 4 + (component == 3 ? 0 : component + 1);

  if (GST_VIDEO_FORMAT_INFO_DEPTH (gst_video_format_get_info (format->unpack_format), 0) == 8)
    return ((const guint8 *) line)[index];

  return ((const guint16 *) line)[index] >> (16 - format->depth[component]);
}

/* Some releases of GStreamer unpack the last pixel of an odd row of VYUY with U and V swapped,
 * unlike the others. */
static gboolean
is_unpacked_wrong (const GstVideoFrame *frame,
                   guint                component,
                   int                  column)
{
  return GST_VIDEO_FRAME_FORMAT (frame) == GST_VIDEO_FORMAT_VYUY && component > 0
         && column % 2 == 0 && column == GST_VIDEO_FRAME_WIDTH (frame) - 1;
}

static void
check_component (GstVideoFrame  *frame,
                 guint           component,
                 MtlStridedView *view)
{
  const GstVideoFormatInfo *format = frame->info.finfo;
  const MtlDType dtype = mtl_strided_view_get_dtype (view);
  g_autofree guint16 *line = g_new (guint16, 4 * (GST_VIDEO_FRAME_WIDTH (frame) + 16));
  const int step = mtl_strided_view_get_strides (view, NULL)[1] * mtl_dtype_get_bits (dtype) / 8;
  const gint64 *shape;
  gsize n_dims;

  shape = mtl_strided_view_get_shape (view, &n_dims);
  g_assert_cmpuint (n_dims, ==, 2);
  g_assert_cmpint (shape[0], ==, GST_VIDEO_FRAME_COMP_HEIGHT (frame, component));
  g_assert_cmpint (shape[1], ==, GST_VIDEO_FRAME_COMP_WIDTH (frame, component));

  for (int y = 0; y < GST_VIDEO_FRAME_HEIGHT (frame); y++)
    {
      const guint8 *row = get_element (view, y >> format->h_sub[component], 0, 0);

      format->unpack_func (format, GST_VIDEO_PACK_FLAG_TRUNCATE_RANGE, line, frame->data,
                           frame->info.stride, 0, y, GST_VIDEO_FRAME_WIDTH (frame));
      for (int x = 0; x < GST_VIDEO_FRAME_WIDTH (frame); x++)
        {
          const guint8 *element = row + (x >> format->w_sub[component]) * step;
          const guint sample = get_sample (format, component, dtype, element);
          const guint unpacked = get_unpacked (format, component, line, x);

          if (sample != unpacked && !is_unpacked_wrong (frame, component, x))
            g_error ("%s, %dx%d, component %u at row %d, column %d: %u, but unpacked %u",
                     format->name, GST_VIDEO_FRAME_WIDTH (frame), GST_VIDEO_FRAME_HEIGHT (frame),
                     component, y, x, sample, unpacked);
        }
    }
}

static guint
count_components (const GstVideoFormatInfo *format,
                  guint                     plane)
{
  guint n = 0;

  for (guint component = 0; component < format->n_components; component++)
    n += format->plane[component] == plane;
  return n;
}

/* Finds the component's channel in the plane: all elements of the component are in it. */
static void
check_is_channel (MtlStridedView *plane,
                  MtlStridedView *component)
{
  const gint64 *shape, *strides;
  const guint8 *first = get_element (component, 0, 0, 0);
  gsize n_dims;
  gint64 channel;

  shape = mtl_strided_view_get_shape (plane, &n_dims);
  channel = (first - get_element (plane, 0, 0, 0))
            / (mtl_dtype_get_bits (mtl_strided_view_get_dtype (plane)) / 8);
  g_assert_cmpint (channel, >=, 0);
  g_assert_cmpint (channel, <, n_dims == 3 ? shape[2] : 1);

  strides = mtl_strided_view_get_strides (plane, NULL);
  g_assert_cmpint (mtl_strided_view_get_shape (component, NULL)[0], ==, shape[0]);
  g_assert_cmpint (mtl_strided_view_get_shape (component, NULL)[1], ==, shape[1]);
  g_assert_cmpint (mtl_strided_view_get_strides (component, NULL)[0], ==, strides[0]);
  g_assert_cmpint (mtl_strided_view_get_strides (component, NULL)[1], ==, strides[1]);
  g_assert_true (first == get_element (plane, 0, 0, channel));
}

static void
check_plane (GstVideoFrame    *frame,
             guint             plane,
             MtlStridedView  **components)
{
  const GstVideoFormatInfo *format = frame->info.finfo;
  const guint n = count_components (format, plane);
  g_autoptr (MtlStridedView) view = NULL;
  GError *error = NULL;
  gsize n_dims;

  view = mtl_gst_view_from_video_buffer (frame->buffer, &frame->info, plane, GST_MAP_READ, &error);
  if (n > 1 && format->n_planes == 1 && format->w_sub[1] > 0)
    {
      assert_not_supported (view, g_steal_pointer (&error), format);
      return;
    }

  assert_view (view, error);
  g_assert_true (mtl_strided_view_get_data (view) == frame->data[plane]);
  mtl_strided_view_get_shape (view, &n_dims);
  g_assert_cmpuint (n_dims, ==, n == 1 ? 2 : 3);
  for (guint component = 0; component < format->n_components; component++)
    if (format->plane[component] == plane)
      check_is_channel (view, components[component]);
}

static void
check_frame (const GstVideoFormatInfo *format,
             int                       width,
             int                       height)
{
  MtlStridedView *components[GST_VIDEO_MAX_COMPONENTS] = { NULL };
  g_autoptr (GstBuffer) buffer = NULL;
  GError *error = NULL;
  GstVideoFrame frame;
  GstVideoInfo info;
  GstMemory *memory;

  set_info (&info, format->format, width, height);
  buffer = random_frame_new (&info);
  memory = gst_buffer_peek_memory (buffer, 0);
  g_assert_true (gst_video_frame_map (&frame, &info, buffer, GST_MAP_READ));

  for (guint i = 0; i < format->n_components; i++)
    {
      components[i] = assert_view (
          mtl_gst_view_from_video_buffer_component (buffer, &info, i, GST_MAP_READ, &error), error);
      check_component (&frame, i, components[i]);
    }

  for (guint plane = 0; plane < format->n_planes; plane++)
    check_plane (&frame, plane, components);

  gst_video_frame_unmap (&frame);
  for (guint i = 0; i < format->n_components; i++)
    g_object_unref (components[i]);
  assert_untouched (buffer, 0, memory);
}

static void
check_samples (const GstVideoFormatInfo *format)
{
  if (!has_views (format))
    return;

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    check_frame (format, sizes[i].width, sizes[i].height);
}

static void
test_samples (void)
{
  for_each_format (check_samples);
}

/* Checks what GStreamer's own conversion wrote, padding bits included. */
static void
check_converted (const GstVideoFormatInfo *format)
{
  const GstVideoFormat unpacked = format->unpack_format;
  g_autoptr (GstBuffer) source = NULL;
  g_autoptr (GstBuffer) target = NULL;
  GstVideoFrame source_frame, target_frame;
  GstVideoInfo source_info, target_info;
  GstVideoConverter *converter;

  if (!has_views (format))
    return;

  set_info (&target_info, format->format, 35, 17);
  set_info (&source_info, unpacked, 35, 17);
  source_info.colorimetry = target_info.colorimetry;
  source_info.chroma_site = target_info.chroma_site;
  source = random_frame_new (&source_info);
  target = random_frame_new (&target_info);
  g_assert_true (gst_video_frame_map (&source_frame, &source_info, source, GST_MAP_READ));
  g_assert_true (gst_video_frame_map (&target_frame, &target_info, target, GST_MAP_WRITE));

  converter = gst_video_converter_new (&source_info, &target_info, NULL);
  g_assert_nonnull (converter);
  gst_video_converter_frame (converter, &source_frame, &target_frame);
  gst_video_converter_free (converter);
  gst_video_frame_unmap (&target_frame);

  g_assert_true (gst_video_frame_map (&target_frame, &target_info, target, GST_MAP_READ));
  for (guint component = 0; component < format->n_components; component++)
    {
      GError *error = NULL;
      g_autoptr (MtlStridedView) view =
        assert_view (mtl_gst_view_from_video_buffer_component (target, &target_info, component,
                                                        GST_MAP_READ, &error),
                     error);

      check_component (&target_frame, component, view);
    }

  gst_video_frame_unmap (&target_frame);
  gst_video_frame_unmap (&source_frame);
}

static void
test_converted (void)
{
  for_each_format (check_converted);
}

/* Formats of no pixels: encoded ones, and since GStreamer 1.24 DMA_DRM. */
static void
test_without_pixels (void)
{
  GEnumClass *formats = g_type_class_ref (GST_TYPE_VIDEO_FORMAT);
  guint n = 0;

  for (guint i = 0; i < formats->n_values; i++)
    {
      const GstVideoFormatInfo *format = gst_video_format_get_info (formats->values[i].value);
      g_autoptr (GstBuffer) buffer = random_buffer_new (4096);
      GstVideoInfo info;

      if (format->format == GST_VIDEO_FORMAT_UNKNOWN || format->n_components > 0)
        continue;

      n++;
      set_info (&info, GST_VIDEO_FORMAT_RGBA, 16, 8);
      info.finfo = format;
      assert_fails (mtl_gst_view_from_video_buffer (buffer, &info, 0, GST_MAP_READ, &error),
                    MTL_ERROR_NOT_SUPPORTED, format->name);
      assert_fails (
          mtl_gst_view_from_video_buffer_component (buffer, &info, 0, GST_MAP_READ, &error),
          MTL_ERROR_NOT_SUPPORTED, format->name);
    }

  g_assert_cmpuint (n, >=, 1);
  g_type_class_unref (formats);
}

static void
check_later_format (const GstVideoFormatInfo *format,
                    guint                     plane,
                    const char               *dtype)
{
  g_autoptr (GstBuffer) buffer = random_buffer_new (16 * 8 * 8);
  g_autoptr (MtlStridedView) view = NULL;
  g_autofree char *name = NULL;
  GstVideoInfo info;

  set_info (&info, GST_VIDEO_FORMAT_ARGB64, 16, 8);
  info.finfo = format;
  if (dtype == NULL)
    {
      assert_fails (mtl_gst_view_from_video_buffer (buffer, &info, plane, GST_MAP_READ, &error),
                    MTL_ERROR_NOT_SUPPORTED, format->name);
      return;
    }

  view =
    assert_view (mtl_gst_view_from_video_buffer (buffer, &info, plane, GST_MAP_READ, NULL), NULL);
  name = mtl_dtype_to_string (mtl_strided_view_get_dtype (view));
  g_assert_cmpstr (name, ==, dtype);
}

/* Formats that later versions may have, as their tables would describe them. GStreamer 1.30 has
 * a flag for floats. */
static void
test_later_formats (void)
{
  GstVideoFormatInfo halves = *gst_video_format_get_info (GST_VIDEO_FORMAT_ARGB64);
  GstVideoFormatInfo bytes = *gst_video_format_get_info (GST_VIDEO_FORMAT_ARGB);
  GstVideoFormatInfo planes = *gst_video_format_get_info (GST_VIDEO_FORMAT_NV12);

  halves.format = bytes.format = planes.format = (GstVideoFormat) 999;
  halves.name = "HALVES";
  check_later_format (&halves, 0, "uint16");
  halves.flags |= 1 << 10;
  check_later_format (&halves, 0, "float16");

  bytes.name = "BYTES";
  check_later_format (&bytes, 0, "uint8");
  bytes.flags |= 1 << 10;
  check_later_format (&bytes, 0, NULL);

  halves.flags |= 1 << 11;
  check_later_format (&halves, 0, NULL);

  planes.name = "PLANES";
  planes.plane[1] = planes.plane[2] = 0;
  check_later_format (&planes, 1, NULL);
}

static void
test_messages (void)
{
  static const GstVideoFormat formats[] = {
    GST_VIDEO_FORMAT_v210, GST_VIDEO_FORMAT_RGB16, GST_VIDEO_FORMAT_r210,
    GST_VIDEO_FORMAT_GRAY10_LE32, GST_VIDEO_FORMAT_NV12_4L4, GST_VIDEO_FORMAT_RGB8P,
    G_BYTE_ORDER == G_LITTLE_ENDIAN ? GST_VIDEO_FORMAT_GRAY16_BE : GST_VIDEO_FORMAT_GRAY16_LE,
    GST_VIDEO_FORMAT_YUY2, GST_VIDEO_FORMAT_ENCODED,
  };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    {
      g_autoptr (GstBuffer) buffer = random_buffer_new (4096);
      GstVideoInfo info;

      set_info (&info, formats[i], 16, 8);
      assert_fails (mtl_gst_view_from_video_buffer (buffer, &info, 0, GST_MAP_READ, &error),
                    MTL_ERROR_NOT_SUPPORTED, gst_video_format_to_string (formats[i]));
    }
}

int
main (int    argc,
      char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/gst/formats/samples", test_samples);
  g_test_add_func ("/gst/formats/converted", test_converted);
  g_test_add_func ("/gst/formats/refused", test_refused);
  g_test_add_func ("/gst/formats/without-pixels", test_without_pixels);
  g_test_add_func ("/gst/formats/later", test_later_formats);
  g_test_add_func ("/gst/formats/messages", test_messages);

  return g_test_run ();
}
