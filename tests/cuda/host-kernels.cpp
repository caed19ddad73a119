/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* All kernels of the library, for the host. */

#include "machine.h"

HostKernel *HostKernel::all;

#include "fill.cu"
#include "compare.cu"
#include "convert-any.cu"
#include "packed.cu"
#include "rows.cu"

#include "tally.cu"

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

/* Conversions: the pairs of MTL_CUDA_PAIRS */
#define FROM_TO(from, to) \
  GATHER_CONVERTED (gather_##from##_##to, Convert<number_##from COMMA number_##to>) \
  DENSE (dense_##from##_##to, Convert<number_##from COMMA number_##to>) \
  BOX (box_##from##_##to, Convert<number_##from COMMA number_##to>)
MTL_CUDA_PAIRS (FROM_TO)

extern "C" const CudaDoubleKernel *
cuda_double_find_kernel (const char *name)
{
  for (const HostKernel *k = HostKernel::all; k != NULL; k = k->next)
    if (strcmp (k->kernel.name, name) == 0)
      return &k->kernel;

  return NULL;
}
