/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-device-private.h"

G_BEGIN_DECLS

#define MTL_TYPE_HOST_DEVICE (mtl_host_device_get_type ())

G_DECLARE_FINAL_TYPE (MtlHostDevice, mtl_host_device, MTL, HOST_DEVICE, MtlDevice)

MtlDevice *mtl_host_device_new (void);

G_END_DECLS
