/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Part of the double of Metal: what the Blocks runtime offers to programs
 * (https://clang.llvm.org/docs/Block-ABI-Apple.html). */

#pragma once

/* Each program and library has its own: metal-double-blocks.m says why. */
__attribute__ ((visibility ("hidden"))) void *_Block_copy (const void *block);
__attribute__ ((visibility ("hidden"))) void _Block_release (const void *block);

#define Block_copy(...) ((__typeof (__VA_ARGS__)) _Block_copy ((const void *) (__VA_ARGS__)))
#define Block_release(...) _Block_release ((const void *) (__VA_ARGS__))
