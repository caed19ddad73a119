/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Kernels that the double of CUDA's driver plays on the host, by their names in PTX. */

#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct
{
  const char *name;
  unsigned n_params;
  const unsigned *param_sizes;

  /* Runs a whole grid. @reach translates a range of addresses that the kernel accesses; it returns
   * NULL, and the kernel has to return, if the range may not be accessed. */
  void (*run) (unsigned grid_x,
               unsigned grid_y,
               unsigned grid_z,
               unsigned block_x,
               unsigned shared_bytes,
               void   **params,
               void *(*reach) (void              *context,
                               unsigned long long address,
                               size_t             size,
                               int                is_write),
               void *reach_context);
} CudaDoubleKernel;

/* Linked into the double; without it there are only the kernels of cuda_double_add_kernel(). */
const CudaDoubleKernel *cuda_double_find_kernel (const char *name);

#ifdef __cplusplus
}
#endif
