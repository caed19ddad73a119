/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gst/gst.h>
#include <mtldl/mtldl.h>

#include "mtl-gst-format-private.h"

G_BEGIN_DECLS

MtlBuffer        *mtl_gst_map_range  (GstBuffer          *buffer,
                                      gsize               offset,
                                      gsize               size,
                                      GstMapFlags         flags,
                                      GError            **error);
MtlStridedLayout *mtl_gst_layout_new (const MtlGstPlane  *plane,
                                      GError            **error);
MtlStridedView   *mtl_gst_view_new   (GstBuffer          *buffer,
                                      const MtlGstPlane  *plane,
                                      GstMapFlags         flags,
                                      GError            **error);

G_END_DECLS
