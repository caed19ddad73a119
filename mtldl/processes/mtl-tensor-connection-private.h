/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-shared-pool-private.h"
#include "mtl-tensor-connection.h"
#include "mtl-tensor-socket-private.h"

G_BEGIN_DECLS

/* Mappings of the files that came last are kept, as peers use them again. */
#define MTL_TENSOR_CONNECTION_N_RECENT 4

/* The views of a peer's memory that are in use. They may outlive the connection. */
typedef struct
{
  int ref_count; /* atomic */
  int n_views;   /* atomic */
  gsize n_bytes; /* atomic */
} MtlHoldings;

struct _MtlTensorConnection
{
  GObject parent_instance;

  GSocket *socket;
  MtlTensorPeerFlags flags;
  int max_views;     /* atomic */
  gsize max_bytes;   /* atomic */
  int is_checked;    /* atomic: the peer may use the connection */

  int is_sending;    /* atomic: a thread has the next three fields */
  MtlTensorMessage outgoing;
  MtlMemory *unsent; /* the pool's, which the peer only has if a part of the message was sent */
  MtlSharedPool *pool;

  int is_receiving;  /* atomic: a thread has the next fields */
  MtlTensorMessage incoming;
  gboolean is_stream_lost;
  MtlSharedPages *recent[MTL_TENSOR_CONNECTION_N_RECENT];
  guint next_recent;
  MtlHoldings *holdings;
};

static inline void
mtl_holdings_unref (MtlHoldings *self)
{
  if (g_atomic_int_dec_and_test (&self->ref_count))
    g_free (self);
}

/* Checks the peer. The field, which says that a thread uses the others of its direction, must not
 * be set, and is then. */
gboolean mtl_tensor_connection_begin (MtlTensorConnection  *self,
                                      int                  *field,
                                      GCancellable         *cancellable,
                                      GError              **error);

G_END_DECLS
