/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Fills */

#include "rows.h"

KERNEL (fill, MtlCudaRows, 4,
        EACH_THREAD (tid)
          BY_AXES (p.n_axes, fill_rows<N_AXES> (p, dest, block, tid)))

KERNEL (fill_pattern, MtlCudaPattern, 4,
        EACH_THREAD (tid)
          fill_patterns (p, dest, source, block, tid))
