/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-copy-set-private.h"

/* The table of kernels of one instruction set. */

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
  .copy_grids = MTL_KERNEL (grids),
  .blocks = {
    [MTL_COPY_BYTES] = MTL_KERNEL (bytes),
#if MTL_COPY_WIDTH > 0
    [MTL_COPY_TILES] = MTL_KERNEL (tiles),
#endif
    [MTL_COPY_BOXES] = MTL_KERNEL (boxes),
  },
  .grids = {
    [MTL_COPY_ROWS] = MTL_KERNEL (rows),
    [MTL_COPY_FILL] = MTL_KERNEL (fill),
    [MTL_COPY_ELEMENTS] = MTL_KERNEL (elements),
    [MTL_COPY_CONVERT] = MTL_KERNEL (convert),
    [MTL_COPY_CONVERT_COLUMNS] = MTL_KERNEL (convert_columns),
    [MTL_COPY_CONVERT_FILL] = MTL_KERNEL (convert_fill),
#if MTL_COPY_WIDTH > 0
    [MTL_COPY_NTH] = MTL_KERNEL (nth),
    [MTL_COPY_REVERSE] = MTL_KERNEL (reverse),
    [MTL_COPY_3_OF_4] = MTL_KERNEL (three_of_four),
    [MTL_COPY_INTERLEAVE] = MTL_KERNEL (interleave),
    [MTL_COPY_DEINTERLEAVE] = MTL_KERNEL (deinterleave),
    [MTL_COPY_SWAP] = MTL_KERNEL (swap),
#endif
  },
  .fence = fence,
};
