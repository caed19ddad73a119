/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "mtl-cuda-abi-private.h"

G_BEGIN_DECLS

/* The functions of CUDA's driver. Its library is opened at run time and never closed. */
typedef struct
{
#define MTL_CUDA_MEMBER(name, parameters) CuResult (* name) parameters;
  CU_FUNCTIONS (MTL_CUDA_MEMBER)
  CU_STRUCT_FUNCTIONS (MTL_CUDA_MEMBER)
  CU_OPTIONAL_FUNCTIONS (MTL_CUDA_MEMBER)
#undef MTL_CUDA_MEMBER

  int n_devices;
} MtlCudaDriver;

/* Opens and initializes the driver at the first call. Returns NULL if there is none that can be
 * used, and in a child whose parent had initialized it. */
const MtlCudaDriver *mtl_cuda_driver_get (void);

/* Like the above, but returns NULL as well as long as nobody has asked for CUDA. */
const MtlCudaDriver *mtl_cuda_driver_peek (void);

/* Says why mtl_cuda_driver_get() has returned NULL, unless mtl_cuda_driver_check_process() does. */
const char *mtl_cuda_driver_get_obstacle (void);

/* Checks that the process is not a child of the one that initialized the driver. */
gboolean mtl_cuda_driver_check_process (GError **error);

/* Describes a failed call. Always returns FALSE. */
gboolean mtl_cuda_driver_set_error (const MtlCudaDriver  *self,
                                    CuResult              result,
                                    const char           *device_name,
                                    const char           *what,
                                    GError              **error);

G_END_DECLS
