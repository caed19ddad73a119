/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#if !defined (MTLDL_GST_INSIDE) && !defined (MTLDL_GST_COMPILATION)
#error "Only <mtldl-gst/mtldl-gst.h> can be included directly."
#endif

#include <gst/gst.h>
#include <mtldl/mtldl.h>

G_BEGIN_DECLS

MTL_AVAILABLE_IN_1_0
guint           mtl_gst_buffer_get_n_tensors         (GstBuffer       *buffer);
MTL_AVAILABLE_IN_1_0
const char     *mtl_gst_buffer_get_tensor_id         (GstBuffer       *buffer,
                                                      guint            index);
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_gst_view_from_buffer_tensor      (GstBuffer       *buffer,
                                                      guint            index,
                                                      GstMapFlags      flags,
                                                      GError         **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
gboolean        mtl_gst_buffer_add_tensor            (GstBuffer       *buffer,
                                                      const char      *id,
                                                      MtlStridedView  *view,
                                                      GError         **error);
MTL_AVAILABLE_IN_1_0
GstCaps        *mtl_gst_tensor_caps_from_view (MtlStridedView  *view,
                                               const char      *id,
                                               GError         **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
