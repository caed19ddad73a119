/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* Cancellation and progress of a long operation. Functions also take NULL instead. */
typedef struct
{
  GCancellable *cancellable;
  /* Called in the thread that started the operation; may be NULL. */
  void (* report) (guint64  done,
                   guint64  total,
                   gpointer data);
  gpointer data;
} MtlMonitor;

/* A monitor with a cancellable, but without progress. */
#define MTL_MONITOR(c) ((c) != NULL ? &(const MtlMonitor) { .cancellable = (c) } : NULL)

/* Both accept NULL. mtl_monitor_check() fails if the operation was cancelled. */
gboolean mtl_monitor_check  (const MtlMonitor  *self,
                             GError           **error);
void     mtl_monitor_report (const MtlMonitor  *self,
                             gsize              n_done,
                             gsize              n_items,
                             guint64            n_bytes);

/* A caller's callback, called in the caller's thread, each time with a larger number. */
typedef struct
{
  GFileProgressCallback callback;
  gpointer data;
  gboolean was_told;
  guint64 told; /* last */
} MtlProgressCallback;

/* The monitor for self, which must outlive it. */
MtlMonitor mtl_progress_callback_get_monitor (MtlProgressCallback *self,
                                              GCancellable        *cancellable);

/* A caller's callback for the progress of an asynchronous operation. Any thread may
 * report. The callback is called, and its data are freed, in the main context that is
 * the thread's default when this is created. */
typedef struct _MtlProgress MtlProgress;

/* Returns NULL if there is no callback. The priority is that of the operation's task,
 * so that the task's callback comes after the last report. */
MtlProgress *mtl_progress_new    (GFileProgressCallback  callback,
                                  gpointer               data,
                                  GDestroyNotify         destroy,
                                  int                    priority);
void         mtl_progress_report (guint64                done,
                                  guint64                total,
                                  gpointer               self);

/* Frees it, after delivering the last report. */
void         mtl_progress_end    (MtlProgress           *self);

G_END_DECLS
