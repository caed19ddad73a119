/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Copies of contiguous rows */

#include "rows.h"

ROWS (rows_4, u32)
ROWS (rows_8, u64)
ROWS (rows_16, u128)

KERNEL (reverse, MtlCudaRows, 4,
        EACH_THREAD (tid)
          reverse_rows (p, dest, source, block, tid))

KERNEL (repeat, MtlCudaRows, 4,
        EACH_THREAD (tid)
          BY_AXES (p.n_axes, repeat_rows<N_AXES> (p, dest, source, block, tid)))
