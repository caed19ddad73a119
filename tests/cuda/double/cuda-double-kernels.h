/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

/* The library's kernels, run by the host. */

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Each access to the GPU's memory goes through `reach`, which returns where `size` bytes at an
 * address are on the host. */
typedef struct
{
  const char *name;
  unsigned n_params;
  const unsigned *param_sizes;
  void (* run) (unsigned   grid_x,
                unsigned   grid_y,
                unsigned   grid_z,
                unsigned   block_x,
                unsigned   shared_bytes,
                void     **params,
                void    *(*reach) (void               *context,
                                   unsigned long long  address,
                                   size_t              size,
                                   int                 is_write),
                void      *reach_context);
} CudaDoubleKernel;

/* NULL if there is none. */
const CudaDoubleKernel *cuda_double_find_kernel (const char *name);

#ifdef __cplusplus
}
#endif
