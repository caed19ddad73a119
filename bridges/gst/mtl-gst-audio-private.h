/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gst/audio/audio.h>

#include "mtl-gst-format-private.h"

G_BEGIN_DECLS

gboolean mtl_gst_audio_describe_frame (const GstAudioInfo  *info,
                                       MtlGstPlane         *description,
                                       GError             **error);
gboolean mtl_gst_audio_is_interleaved (const gint64        *shape,
                                       const gint64        *strides);
gboolean mtl_gst_audio_is_planar      (const gint64        *shape,
                                       const gint64        *strides);

G_END_DECLS
