/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-progress-private.h"

G_BEGIN_DECLS

/* These are like g_task_run_in_thread(), but also work in a child; the second uses a
 * new thread. If there can be no thread, they end the task with an error and return
 * FALSE. */
gboolean mtl_task_run       (GTask           *task,
                             GTaskThreadFunc  func);
gboolean mtl_task_run_alone (GTask           *task,
                             GTaskThreadFunc  func);

/* Returns the result of the operation, or TRUE as a pointer if there is no other;
 * NULL on error. */
typedef gpointer (* MtlAsyncFunc) (gpointer           self,
                                   gpointer           call,
                                   const MtlMonitor  *monitor,
                                   GError           **error);

/* An operation in a separate thread. A structure for its arguments begins with this
 * one. */
typedef struct
{
  MtlAsyncFunc run;
  GDestroyNotify free_result; /* NULL if the result is TRUE */
  GDestroyNotify clear;       /* clears the arguments; NULL if there is nothing to clear */
  MtlProgress *progress;
  int io_priority;            /* the thread's and the callback's */
  gboolean is_lasting; /* a result counts even if cancelled meanwhile */
  gboolean is_alone;   /* runs in a thread of its own */
} MtlAsyncCall;

/* Allocates a call of a type of that size, with zeros for its arguments. */
gpointer mtl_async_call_new         (gsize                 size,
                                     MtlAsyncFunc          run,
                                     GDestroyNotify        free_result,
                                     GDestroyNotify        clear,
                                     int                   io_priority);

/* The caller hears of the progress before the operation ends. */
void     mtl_async_call_set_progress (gpointer              call,
                                      GFileProgressCallback progress,
                                      gpointer              progress_data,
                                      GDestroyNotify        progress_destroy);

/* Takes ownership of the call. A cancelled task does not end before its thread has,
 * because until then the thread may write. */
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

/* Without self, the call may have been started for any object. */
gpointer mtl_async_call_take_result (gpointer              self,
                                     GAsyncResult         *result,
                                     gpointer              source_tag,
                                     GError              **error);

G_END_DECLS
