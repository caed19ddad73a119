/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-copy-plan-private.h"

/* Tests change these. */

gsize mtl_copy_streaming_threshold;
gsize mtl_copy_slice_size = 512 * 1024;
const char *mtl_copy_forced_way;

/* Properties of the machine that kernels ask for. */

gboolean mtl_copy_streams_pages_in_turn = TRUE;
gboolean mtl_copy_avoids_strings;
gboolean mtl_copy_reads_while_streaming = TRUE;
