/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-progress-private.h"

G_BEGIN_DECLS

/* Gives what the caller gets, or TRUE as a pointer where that is whether it worked;
 * NULL where it fails. */
typedef gpointer                  (* MtlAsyncFunc) (gpointer           self,
                                   gpointer           call,
                                   const MtlMonitor  *monitor,
                                   GError           **error);

/* An operation in a thread of its own. A structure that begins with this has what
 * the operation is given. */
typedef struct
{
  MtlAsyncFunc run;
  GDestroyNotify free_result; /* NULL: it is TRUE */
  GDestroyNotify clear;       /* what it is given; NULL for nothing to clear */
  MtlProgress *progress;
  int io_priority;            /* of the thread and of the callback */
  gboolean is_lasting; /* what was done counts, cancelled meanwhile or not */
} MtlAsyncCall;

/* Takes the call, which was allocated. A task that is cancelled ends when its thread
 * has: until then it may write. */
void     mtl_async_call_start       (gpointer              call,
                                     gpointer              self,
                                     gpointer              source_tag,
                                     GCancellable         *cancellable,
                                     GAsyncReadyCallback   callback,
                                     gpointer              user_data);
gboolean mtl_async_call_finish      (gpointer              self,
                                     GAsyncResult         *result,
                                     gpointer              source_tag,
                                     GError              **error);
gpointer mtl_async_call_take_result (gpointer              self,
                                     GAsyncResult         *result,
                                     gpointer              source_tag,
                                     GError              **error);

G_END_DECLS
