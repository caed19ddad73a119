/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A library like CUDA's driver with one device, which only answers what is asked before the device
 * is used. It lacks the function that the build gives another name. */

#include <string.h>

#include "mtl-cuda-abi-private.h"

#define EXPORT __attribute__ ((visibility ("default")))
#define DEFINE(name, parameters) \
  EXPORT CuResult name (void); \
  EXPORT CuResult name (void) { return CU_SUCCESS; }

/* These are below. */
#define cuDeviceGetCount unused_count
#define cuDeviceGet unused_get
#define cuDeviceGetAttribute unused_attribute
#define cuDeviceGetUuid_v2 unused_uuid

CU_FUNCTIONS (DEFINE)
CU_STRUCT_FUNCTIONS (DEFINE)
CU_OPTIONAL_FUNCTIONS (DEFINE)

#undef cuDeviceGetCount
#undef cuDeviceGet
#undef cuDeviceGetAttribute
#undef cuDeviceGetUuid_v2

EXPORT CuResult cuDeviceGetCount (int *n);
EXPORT CuResult cuDeviceGet (CuDevice *device, int ordinal);
EXPORT CuResult cuDeviceGetAttribute (int *value, CuEnum attribute, CuDevice device);
EXPORT CuResult cuDeviceGetUuid_v2 (CuUuid *uuid, CuDevice device);

CuResult
cuDeviceGetCount (int *n)
{
  *n = 1;
  return CU_SUCCESS;
}

CuResult
cuDeviceGet (CuDevice *device,
             int       ordinal)
{
  *device = ordinal;
  return CU_SUCCESS;
}

CuResult
cuDeviceGetAttribute (int     *value,
                      CuEnum   attribute,
                      CuDevice device)
{
  *value = 1;
  return CU_SUCCESS;
}

CuResult
cuDeviceGetUuid_v2 (CuUuid  *uuid,
                    CuDevice device)
{
  memset (uuid, 7, sizeof *uuid);
  return CU_SUCCESS;
}
