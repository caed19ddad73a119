/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-copy-set-private.h"

/* The table of kernels of one instruction set. */

void MTL_KERNEL (contiguous) (const MtlCopyJob *job);
void MTL_KERNEL (rows) (const MtlCopyJob *job);
void MTL_KERNEL (broadcast) (const MtlCopyJob *job);
void MTL_KERNEL (strided) (const MtlCopyJob *job);
void MTL_KERNEL (convert) (const MtlCopyJob *job);
void MTL_KERNEL (interleave) (const MtlCopyJob *job);
void MTL_KERNEL (deinterleave) (const MtlCopyJob *job);
void MTL_KERNEL (swap_channels) (const MtlCopyJob *job);
void MTL_KERNEL (boxes) (const MtlCopyPlan *plan,
                         gsize              first,
                         gsize              n);
void MTL_KERNEL (tiles) (const MtlCopyPlan *plan,
                         gsize              first,
                         gsize              n);

/* Orders streamed data before later writes, once for each run. */
static void
fence (void)
{
#if defined (__SSE2__)
  _mm_sfence ();
#endif
}

#define MTL_COPY_STRING2(set) #set
#define MTL_COPY_STRING(set) MTL_COPY_STRING2 (set)

const MtlCopyKernels MTL_KERNEL (kernels) = {
  .name = MTL_COPY_STRING (MTL_COPY_SET),
  .contiguous = MTL_KERNEL (contiguous),
  .rows = MTL_KERNEL (rows),
  .broadcast = MTL_KERNEL (broadcast),
  .strided = MTL_KERNEL (strided),
  .convert = MTL_KERNEL (convert),
  .boxes = MTL_KERNEL (boxes),
#if MTL_COPY_WIDTH > 0
  .tiles = MTL_KERNEL (tiles),
  .interleave = MTL_KERNEL (interleave),
  .deinterleave = MTL_KERNEL (deinterleave),
  .swap_channels = MTL_KERNEL (swap_channels),
#endif
  .fence = fence,
};
