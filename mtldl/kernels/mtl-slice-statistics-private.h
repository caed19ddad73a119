/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-enums.h"
#include "mtl-strided-copy-private.h"

G_BEGIN_DECLS

/* A reduction of the elements along some axes, in C order of the other axes. The elements
 * are real numbers with one lane, and there are some. Several threads may work. */
gboolean mtl_slice_statistics_run (double            *results,
                                   const MtlStrided  *strided,
                                   const gboolean    *is_reduced,
                                   MtlReduction       reduction,
                                   const MtlMonitor  *monitor,
                                   GError           **error);

G_END_DECLS
