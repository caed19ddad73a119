/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#if !defined (MTLDL_GST_INSIDE) && !defined (MTLDL_GST_COMPILATION)
#error "Only <mtldl-gst/mtldl-gst.h> can be included directly."
#endif

#include <gst/gst.h>
#include <gst/video/video.h>
#include <mtldl/mtldl.h>

G_BEGIN_DECLS

MTL_AVAILABLE_IN_1_0
GstCaps *mtl_gst_video_caps_from_view (MtlStridedView  *view,
                                       GstVideoFormat   format,
                                       int              framerate_numerator,
                                       int              framerate_denominator,
                                       GError         **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
GstCaps *mtl_gst_audio_caps_from_view (MtlStridedView  *view,
                                       int              rate,
                                       GError         **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
