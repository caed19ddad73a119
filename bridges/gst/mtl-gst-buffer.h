/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#if !defined (MTLDL_GST_INSIDE) && !defined (MTLDL_GST_COMPILATION)
#error "Only <mtldl-gst/mtldl-gst.h> can be included directly."
#endif

#include <gst/audio/audio.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <mtldl/mtldl.h>

G_BEGIN_DECLS

MTL_AVAILABLE_IN_1_0
GstBuffer *mtl_gst_buffer_from_view        (MtlStridedView  *view,
                                            GError         **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
GstBuffer *mtl_gst_video_buffer_from_view  (MtlStridedView      *view,
                                            const GstVideoInfo  *info,
                                            GError             **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
GstBuffer *mtl_gst_video_buffer_from_views (MtlStridedView     **views,
                                            gsize                n_views,
                                            const GstVideoInfo  *info,
                                            GError             **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
GstBuffer *mtl_gst_audio_buffer_from_view  (MtlStridedView      *view,
                                            const GstAudioInfo  *info,
                                            GError             **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
