/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-memory-private.h"

G_BEGIN_DECLS

/* Memory that is shared with one peer, and used again once the peer has closed a pipe that came
 * with it. New pages take several times as long to fill. Another peer never gets them, because the
 * first one may have kept them mapped. */
typedef struct _MtlSharedPool MtlSharedPool;

MtlSharedPool *mtl_shared_pool_new        (void);
void           mtl_shared_pool_unref      (MtlSharedPool  *self);

/* The contents are undefined: zeros, or what this peer was sent before. */
MtlMemory     *mtl_shared_pool_take       (MtlSharedPool  *self,
                                           guint64         size,
                                           GError        **error);

/* Returns the end of a pipe for the peer to close, or -1 if the memory is not used again. */
int            mtl_shared_pool_begin_send (MtlSharedPool  *self,
                                           MtlMemory      *memory);

/* Memory for which that returned a pipe was not sent after all. */
void           mtl_shared_pool_undo_send  (MtlMemory      *memory);

G_END_DECLS
