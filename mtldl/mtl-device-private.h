/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-device.h"

G_BEGIN_DECLS

MtlDeviceType mtl_device_type_from_number (gint32 number);

G_END_DECLS
