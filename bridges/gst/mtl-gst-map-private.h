/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gst/gst.h>
#include <mtldl/mtldl.h>

#include "mtl-gst-format-private.h"

G_BEGIN_DECLS

MtlStridedLayout *mtl_gst_layout_new          (const MtlGstPlane  *plane,
                                               GError            **error);
MtlStridedView   *mtl_gst_view_new            (GstBuffer          *buffer,
                                               const MtlGstPlane  *plane,
                                               GstMapFlags         flags,
                                               GError            **error);
MtlStridedView   *mtl_gst_view_new_mapped     (GstBuffer          *buffer,
                                               const GstMapInfo   *map,
                                               const MtlGstPlane  *plane,
                                               GError            **error);
MtlStridedView   *mtl_gst_view_new_for_layout (GstBuffer          *buffer,
                                               MtlStridedLayout   *layout,
                                               MtlDType            dtype,
                                               GstMapFlags         flags,
                                               GError            **error);

G_END_DECLS
