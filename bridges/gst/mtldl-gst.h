/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#define MTLDL_GST_INSIDE

#include "mtl-gst-allocator.h"
#include "mtl-gst-buffer.h"
#include "mtl-gst-caps.h"
#include "mtl-gst-tensor.h"
#include "mtl-gst-view.h"

#undef MTLDL_GST_INSIDE
