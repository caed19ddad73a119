/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-device.h"

G_BEGIN_DECLS

MtlDeviceType mtl_device_type_from_number (gint32 number);

/* Every read-modify-write of a device's memory goes between these two. The
 * calls may be nested. */
void          mtl_device_begin_update     (MtlDevice *self);
void          mtl_device_end_update       (MtlDevice *self);

G_END_DECLS
