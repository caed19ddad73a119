/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gst/gst.h>
#include <mtldl/mtldl.h>

G_BEGIN_DECLS

MtlBuffer *mtl_gst_map_range (GstBuffer    *buffer,
                              gsize         offset,
                              gsize         size,
                              GstMapFlags   flags,
                              GError      **error);

G_END_DECLS
