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
MtlStridedView   *mtl_gst_view_from_buffer                (GstBuffer     *buffer,
                                                           MtlDType       dtype,
                                                           const gint64  *shape,
                                                           gsize          n_dims,
                                                           GstMapFlags    flags,
                                                           GError       **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView   *mtl_gst_view_from_video_buffer          (GstBuffer           *buffer,
                                                           const GstVideoInfo  *info,
                                                           guint                plane,
                                                           GstMapFlags          flags,
                                                           GError             **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView   *mtl_gst_view_from_video_buffer_component       (GstBuffer           *buffer,
                                                                  const GstVideoInfo  *info,
                                                                  guint                component,
                                                                  GstMapFlags          flags,
                                                                  GError             **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView   *mtl_gst_view_from_video_frame           (GstVideoFrame  *frame,
                                                           guint           plane,
                                                           GError        **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView   *mtl_gst_view_from_video_frame_component (GstVideoFrame  *frame,
                                                           guint           component,
                                                           GError        **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView   *mtl_gst_view_from_audio_buffer          (GstBuffer           *buffer,
                                                           const GstAudioInfo  *info,
                                                           GstMapFlags          flags,
                                                           GError             **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView   *mtl_gst_view_from_audio_buffer_channel         (GstBuffer           *buffer,
                                                                  const GstAudioInfo  *info,
                                                                  guint                channel,
                                                                  GstMapFlags          flags,
                                                                  GError             **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView   *mtl_gst_view_from_buffer_with_caps      (GstBuffer    *buffer,
                                                           GstCaps      *caps,
                                                           guint         plane,
                                                           GstMapFlags   flags,
                                                           GError      **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedLayout *mtl_gst_layout_from_caps                (GstCaps   *caps,
                                                           guint      plane,
                                                           MtlDType  *dtype,
                                                           GError   **error)
  G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
