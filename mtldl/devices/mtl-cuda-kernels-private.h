/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-cuda-context-private.h"
#include "mtl-tally-private.h"

G_BEGIN_DECLS

/* Copies and fills of elements in memory that the device reaches, by kernels; without a compiler
 * for them, by the driver. They are queued. The rules are those of mtl_strided_copy(),
 * mtl_strided_copy_scaled() and mtl_strided_fill(). is_done is FALSE if neither can do it. */
gboolean mtl_cuda_copy_elements (MtlCudaContext    *context,
                                 const MtlStrided  *dest,
                                 const MtlStrided  *source,
                                 const double      *factors,
                                 gboolean          *is_done,
                                 GError           **error);
gboolean mtl_cuda_fill_elements (MtlCudaContext    *context,
                                 const MtlStrided  *dest,
                                 gconstpointer      item,
                                 gboolean          *is_done,
                                 GError           **error);

/* Compares elements as mtl_cuda_plan_compare() does, and waits for the result. */
gboolean mtl_cuda_compare_elements (MtlCudaContext      *context,
                                    const MtlStrided    *a,
                                    const MtlStrided    *b,
                                    const MtlTolerance  *tolerance,
                                    gboolean            *are_close,
                                    gboolean            *is_done,
                                    GCancellable        *cancellable,
                                    GError             **error);

/* Computes tallies as mtl_cuda_plan_tally() does, and waits for them. */
gboolean mtl_cuda_tally_tiles (MtlCudaContext  *context,
                               const MtlTiles  *tiles,
                               gint64           first,
                               gint64           n,
                               MtlElementType   type,
                               MtlTally        *tallies,
                               gboolean        *is_done,
                               GCancellable    *cancellable,
                               GError         **error);

G_END_DECLS
