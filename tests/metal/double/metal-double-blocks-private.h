/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Between the copies of the Blocks runtime and the double. */

#pragma once

/* How many blocks there are more, or less, on the heap: in the double. */
void md_add_blocks (int n);

/* In each copy. */
__attribute__ ((visibility ("hidden"))) void md_prepare_blocks (void);
