/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#define MTLDL_INSIDE

#include "mtl-version.h"
#include "mtl-version-macros.h"
#include "mtl-enums.h"
#include "mtl-enum-types.h"
#include "mtl-error.h"
#include "mtl-dtype.h"
#include "mtl-slice.h"
#include "mtl-threads.h"
#include "mtl-device.h"
#include "mtl-event.h"
#include "mtl-stream.h"
#include "mtl-allocated-size.h"
#include "mtl-buffer.h"
#include "mtl-strided-layout.h"
#include "mtl-statistics.h"
#include "mtl-strided-view.h"
#include "mtl-dlpack.h"
#include "mtl-tensor-variant.h"
#include "mtl-tensor-connection.h"
#include "mtl-exported-tensor.h"
#include "mtl-tensor-proxy.h"
#include "mtl-tensor-file-entry.h"
#include "mtl-tensor-file.h"
#include "mtl-tensor-file-builder.h"

#undef MTLDL_INSIDE
