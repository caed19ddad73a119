/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The interface between the copies of the Blocks runtime and the double. */

#pragma once

/* Counts blocks that are new, or gone, on the heap: in the double. */
void md_add_blocks (int n);

/* Each copy of the runtime has one. */
__attribute__ ((visibility ("hidden"))) void md_prepare_blocks (void);
