/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a view of a video frame costs in C, beside what GStreamer's own way to its pixels costs. */

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
  g_object_unref (mtl_gst_view_from_buffer (data, &info, 0, GST_MAP_READ, NULL));
}

static void
view_frame_to_write (gpointer data)
{
  g_object_unref (mtl_gst_view_from_buffer (data, &info, 0, GST_MAP_WRITE, NULL));
}

static void
view_component (gpointer data)
{
  g_object_unref (mtl_gst_view_from_component (data, &info, 0, GST_MAP_READ, NULL));
}

static void
view_caps (gpointer data)
{
  g_object_unref (mtl_gst_view_from_caps (data, caps, 0, GST_MAP_READ, NULL));
}

int
main (int    argc,
      char **argv)
{
  GstBuffer *plain, *with_meta;

  gst_init (&argc, &argv);
  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_RGBA, 3840, 2160);
  caps = gst_video_info_to_caps (&info);
  plain = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&info), NULL);
  with_meta = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&info), NULL);
  gst_buffer_add_video_meta (with_meta, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_RGBA, 3840,
                             2160);

  {
    Case cases[] = {
      { "gst_video_frame_map + unmap", map_frame, plain },
      { "the same, with a meta", map_frame, with_meta },
      { "view + unref", view_frame, plain },
      { "the same, with a meta", view_frame, with_meta },
      { "view to write + unref", view_frame_to_write, plain },
      { "component + unref", view_component, plain },
      { "view by caps + unref", view_caps, plain },
    };

    measure (cases, G_N_ELEMENTS (cases));
    g_print ("view / map %.2f, with a meta %.2f\n", cases[2].cost / cases[0].cost,
             cases[3].cost / cases[1].cost);
  }

  gst_buffer_unref (with_meta);
  gst_buffer_unref (plain);
  gst_caps_unref (caps);
  return 0;
}
