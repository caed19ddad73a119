/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gst/video/video.h>
#include <mtldl/mtldl.h>

G_BEGIN_DECLS

/* The elements of a plane or of a component: where the first one lies in the frame, and how the
 * others follow. */
typedef struct
{
  MtlDType dtype;
  guint element_size;
  guint n_dims;           /* 2, or 3 with the channels of a plane */
  gint64 shape[3];        /* rows, columns, channels */
  gint64 byte_strides[3];
  gsize byte_offset;
  guint plane;            /* the plane of a video frame */
} MtlGstPlane;

gboolean mtl_gst_format_describe_plane     (const GstVideoInfo  *info,
                                            guint                plane,
                                            MtlGstPlane         *description,
                                            GError             **error);
gboolean mtl_gst_format_describe_component (const GstVideoInfo  *info,
                                            guint                component,
                                            MtlGstPlane         *description,
                                            GError             **error);
gboolean mtl_gst_format_is_known           (int                  format);
gboolean mtl_gst_format_check_size         (const GstVideoInfo  *info,
                                            GError             **error);

G_END_DECLS
