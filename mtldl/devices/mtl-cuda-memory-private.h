/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-cuda-context-private.h"
#include "mtl-device-private.h"

G_BEGIN_DECLS

/* Memory of a device of CUDA: from a pool, pinned on the host, or managed. Nothing here waits for
 * the device's work, as freeing memory in the usual way would. */

/* Returns the address of at least size bytes. Work in the context's stream may use it at once. */
gpointer mtl_cuda_memory_allocate (MtlCudaContext   *context,
                                   gsize             size,
                                   MtlStorageMode    mode,
                                   gboolean          zeroed,
                                   GError          **error);

/* Memory for the work of a call alone */
gpointer mtl_cuda_work_allocate   (const MtlCudaWork *work,
                                   gsize              size,
                                   GError           **error);
void     mtl_cuda_work_free       (const MtlCudaWork *work,
                                   gpointer           address);

/* Lets the device use a shared, read-only mapping of a file. Takes the owner on success. */
gboolean mtl_cuda_memory_register (MtlCudaContext   *context,
                                   gpointer          data,
                                   gsize             size,
                                   gpointer          owner,
                                   GDestroyNotify    destroy,
                                   GError          **error);

/* Frees memory that one of the functions above returned, once no stream in the list uses it. */
void     mtl_cuda_memory_free     (MtlCudaContext      *context,
                                   gpointer             address,
                                   MtlStorageMode       mode,
                                   const MtlDeviceUses *uses);

/* Ends the owner of memory, once no stream in the list uses it. */
void     mtl_cuda_memory_end_owner (MtlCudaContext      *context,
                                    const MtlDeviceUses *uses,
                                    gpointer             owner,
                                    GDestroyNotify       destroy);

/* The memory that an address belongs to */
typedef struct
{
  gboolean is_known; /* the driver knows it; otherwise nothing else is set */
  int ordinal;
  MtlStorageMode mode;
  gpointer contents; /* the host's address of the same byte, or NULL */
  guint64 start;     /* 0 if the driver does not know the range */
  guint64 size;
} MtlCudaPlace;

/* Asks the driver for the memory at an address. */
CuResult mtl_cuda_memory_find (const MtlCudaDriver *cu,
                               gpointer             address,
                               MtlCudaPlace        *place);

G_END_DECLS
