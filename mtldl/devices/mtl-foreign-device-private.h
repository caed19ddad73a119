/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-device-private.h"

G_BEGIN_DECLS

#define MTL_TYPE_FOREIGN_DEVICE (mtl_foreign_device_get_type ())

G_DECLARE_FINAL_TYPE (MtlForeignDevice, mtl_foreign_device, MTL, FOREIGN_DEVICE, MtlDevice)

MtlDevice *mtl_foreign_device_new (gint32 device_type,
                                   gint32 device_ordinal);

G_END_DECLS
