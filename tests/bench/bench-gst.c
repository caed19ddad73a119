/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The costs in C of a view of a video frame and of a buffer over a view, beside those of
 * GStreamer's own ways. */

#include "bench.h"

#include <mtldl-gst/mtldl-gst.h>

static GstVideoInfo info;
static GstCaps *caps;

static void
map_frame (gpointer data)
{
  GstVideoFrame frame;

  if (!gst_video_frame_map (&frame, &info, data, GST_MAP_READ))
    g_error ("The frame cannot be mapped");
  gst_video_frame_unmap (&frame);
}

static void
view_frame (gpointer data)
{
  g_object_unref (mtl_gst_view_from_video_buffer (data, &info, 0, GST_MAP_READ, NULL));
}

static void
view_frame_to_write (gpointer data)
{
  g_object_unref (mtl_gst_view_from_video_buffer (data, &info, 0, GST_MAP_WRITE, NULL));
}

static void
view_component (gpointer data)
{
  g_object_unref (mtl_gst_view_from_video_buffer_component (data, &info, 0, GST_MAP_READ, NULL));
}

static void
view_caps (gpointer data)
{
  g_object_unref (mtl_gst_view_from_buffer_with_caps (data, caps, 0, GST_MAP_READ, NULL));
}

static void
wrap_bytes (gpointer data)
{
  gst_buffer_unref (gst_buffer_new_wrapped_full (0, data, 1, 0, 1, NULL, NULL));
}

static void
buffer_of_bytes (gpointer data)
{
  gst_buffer_unref (mtl_gst_buffer_from_view (data, NULL));
}

static void
buffer_of_frame (gpointer data)
{
  gst_buffer_unref (mtl_gst_video_buffer_from_view (data, &info, NULL));
}

int
main (int    argc,
      char **argv)
{
  const gint64 shape[] = { 2160, 3840, 4 };
  const gint64 crop_strides[] = { 4000 * 4, 4, 1 };
  GstBuffer *plain, *with_meta;
  MtlStridedView *view, *crop;
  GBytes *bytes;

  gst_init (&argc, &argv);
  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_RGBA, 3840, 2160);
  caps = gst_video_info_to_caps (&info);
  plain = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&info), NULL);
  with_meta = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&info), NULL);
  gst_buffer_add_video_meta (with_meta, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_RGBA, 3840,
                             2160);
  view = mtl_strided_view_new_zeros (NULL, MTL_DTYPE_UINT8, shape, 3, MTL_STORAGE_MODE_DEFAULT,
                                     NULL);
  bytes = g_bytes_new_take (g_malloc0 (2160 * 4000 * 4), 2160 * 4000 * 4);
  crop = mtl_strided_view_new_from_bytes_with_byte_strides (bytes, MTL_DTYPE_UINT8, shape, 3,
                                                            crop_strides, 3, NULL);

  {
    Case cases[] = {
      { "gst_video_frame_map + unmap", map_frame, plain },
      { "the same, with a meta", map_frame, with_meta },
      { "view + unref", view_frame, plain },
      { "the same, with a meta", view_frame, with_meta },
      { "view to write + unref", view_frame_to_write, plain },
      { "component + unref", view_component, plain },
      { "view by caps + unref", view_caps, plain },
      { "gst_buffer_new_wrapped_full", wrap_bytes, view },
      { "buffer of bytes + unref", buffer_of_bytes, view },
      { "buffer of a frame + unref", buffer_of_frame, view },
      { "the same, with a meta", buffer_of_frame, crop },
    };

    measure (cases, G_N_ELEMENTS (cases));
    g_print ("view / map %.2f, with a meta %.2f\n", cases[2].cost / cases[0].cost,
             cases[3].cost / cases[1].cost);
  }

  g_object_unref (crop);
  g_bytes_unref (bytes);
  g_object_unref (view);
  gst_buffer_unref (with_meta);
  gst_buffer_unref (plain);
  gst_caps_unref (caps);
  return 0;
}
