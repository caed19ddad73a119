/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-cuda-context-private.h"
#include "mtl-device-private.h"

G_BEGIN_DECLS

#define MTL_TYPE_CUDA_DEVICE (mtl_cuda_device_get_type ())

G_DECLARE_FINAL_TYPE (MtlCudaDevice, mtl_cuda_device, MTL, CUDA_DEVICE, MtlDevice)

/* Returns NULL if there is no such device. */
MtlDevice *mtl_cuda_device_get      (MtlDeviceType type,
                                     int           ordinal);

/* Says why mtl_cuda_device_get() has returned NULL. */
void       mtl_cuda_device_set_missing_error (MtlDeviceType   type,
                                              int             ordinal,
                                              GError        **error);

/* The GPUs by ordinal, or NULL as long as nobody has asked for one: CUDA cannot be used in children
 * of a process that has initialized it. Members may be NULL. */
GPtrArray *mtl_cuda_device_peek_all (void);

/* Checks if there is a device that takes tensors of CUDA. In a child of a process that has
 * initialized CUDA, they are refused. */
gboolean mtl_cuda_device_takes_tensors (void);

/* Memory of another library */
typedef struct
{
  MtlDevice *device;
  MtlStorageMode storage_mode;
  gpointer contents; /* the host's address of the same byte, or NULL */
} MtlCudaMemory;

/* Describes size bytes at an address that another library says to be CUDA's. Errors:
 * INVALID_DATA: the driver does not know them, or they are not all in one allocation
 * NOT_SUPPORTED: their device cannot be used, or CUDA cannot in this process */
gboolean mtl_cuda_device_inspect (gpointer        address,
                                  gsize           size,
                                  MtlCudaMemory  *memory,
                                  GError        **error);

G_END_DECLS
