/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-memory-private.h"

G_BEGIN_DECLS

/* Messages with a description and descriptors, on a socket that is never waited for. */

#define MTL_TENSOR_MESSAGE_HEADER_SIZE 16
#define MTL_TENSOR_MESSAGE_MAX_FDS 2

typedef enum
{
  MTL_STEP_DONE,
  MTL_STEP_BLOCKED, /* call again when the socket is ready */
  MTL_STEP_FAILED,  /* the system did; the next call goes on from there */
  MTL_STEP_REFUSED, /* the message is not valid, and others can follow */
  MTL_STEP_LOST,    /* messages can no longer be told apart */
} MtlStep;

/* A message that is being received, or being sent. All zeros is none. */
typedef struct
{
  guint8 header[MTL_TENSOR_MESSAGE_HEADER_SIZE];
  gsize n_done; /* bytes of the header and the body */
  gsize body_size;
  MtlMemory *memory; /* has the body */
  GVariant *body;    /* the body instead, in a message that is sent */
  guint n_fds;
  gboolean has_lost_fds;
  int fds[MTL_TENSOR_MESSAGE_MAX_FDS];
} MtlTensorMessage;

void     mtl_tensor_message_clear   (MtlTensorMessage  *self);

/* Takes the memory, whose first bytes are the body. */
void     mtl_tensor_message_prepare_inline (MtlTensorMessage *self,
                                            MtlMemory        *memory,
                                            gsize             size);

/* Takes the floating body and the descriptors. */
gboolean mtl_tensor_message_prepare (MtlTensorMessage  *self,
                                     GVariant          *body,
                                     const int         *fds,
                                     guint              n_fds,
                                     GError           **error);
MtlStep  mtl_tensor_message_send    (MtlTensorMessage  *self,
                                     int                socket,
                                     GError           **error);

MtlStep  mtl_tensor_message_receive (MtlTensorMessage  *self,
                                     int                socket,
                                     GError           **error);

/* The description in a message that was received. */
GVariant *mtl_tensor_message_dup_body (MtlTensorMessage *self);

static inline gboolean
mtl_tensor_message_has_begun (const MtlTensorMessage *self)
{
  return self->n_done > 0;
}

G_END_DECLS
