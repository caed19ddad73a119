/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "mtl-threads-private.h"

G_BEGIN_DECLS

/* A caller's callback, called in the caller's thread. */
typedef struct
{
  GFileProgressCallback callback;
  gpointer data;
} MtlProgressCallback;

/* Of the callback, which it does not copy. */
MtlMonitor mtl_progress_callback_get_monitor (MtlProgressCallback *self,
                                              GCancellable        *cancellable);

/* A caller's callback for how far an asynchronous operation is: called, and its
 * data freed, in the main context that is the thread's default when this is
 * made, whichever thread reports. */
typedef struct _MtlProgress MtlProgress;

/* NULL if there is no callback. The priority is that of the operation's task, so
 * that its callback comes after the last report. */
MtlProgress *mtl_progress_new    (GFileProgressCallback  callback,
                                  gpointer               data,
                                  GDestroyNotify         destroy,
                                  int                    priority);
void         mtl_progress_report (guint64                done,
                                  guint64                total,
                                  gpointer               self);

/* After the last report, which is still heard. Frees it. */
void         mtl_progress_end    (MtlProgress           *self);

G_END_DECLS
