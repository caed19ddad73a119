/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* All kernels of the library, for the host. */

#include "machine.h"

HostKernel *HostKernel::all;

#include "fill.cu"
#include "rows.cu"

#define N_BYTES 1
#include "copy.cu"
#undef N_BYTES
#define N_BYTES 2
#include "copy.cu"
#undef N_BYTES
#define N_BYTES 4
#include "copy.cu"
#undef N_BYTES
#define N_BYTES 8
#include "copy.cu"
#undef N_BYTES
#define N_BYTES 16
#include "copy.cu"
#undef N_BYTES

extern "C" const CudaDoubleKernel *
cuda_double_find_kernel (const char *name)
{
  for (const HostKernel *k = HostKernel::all; k != NULL; k = k->next)
    if (strcmp (k->kernel.name, name) == 0)
      return &k->kernel;

  return NULL;
}
