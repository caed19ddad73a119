/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-cuda-context-private.h"
#include "mtl-enums.h"

G_BEGIN_DECLS

/* Copies between two addresses, at least one of which the device allocated. The modes say who
 * reaches them; HOST is for any memory of the host. Copies within the device's own memory are only
 * queued. Afterwards the host may use its memory on either side. */
gboolean mtl_cuda_copy (MtlCudaContext  *context,
                        gpointer         dest,
                        MtlStorageMode   dest_mode,
                        gpointer         source,
                        MtlStorageMode   source_mode,
                        gsize            size,
                        GCancellable    *cancellable,
                        GError         **error);

/* Copies from the memory of another device. */
gboolean mtl_cuda_copy_from_peer (MtlCudaContext  *context,
                                  gpointer         dest,
                                  MtlCudaContext  *source_context,
                                  gpointer         source,
                                  gsize            size,
                                  GError         **error);

/* Repeat a pattern in the device's own memory: by the driver, which knows those of 1, 2 and 4 bytes,
 * or by copies, the first of which is not possible while a graph is captured. The size is a multiple
 * of the pattern's. */
gboolean mtl_cuda_set            (MtlCudaContext  *context,
                                  gpointer         dest,
                                  gsize            size,
                                  gconstpointer    pattern,
                                  gsize            pattern_size,
                                  gboolean        *is_done,
                                  GError         **error);
gboolean mtl_cuda_fill_by_copies (MtlCudaContext  *context,
                                  gpointer         dest,
                                  gsize            size,
                                  gconstpointer    pattern,
                                  gsize            pattern_size,
                                  GError         **error);

G_END_DECLS
