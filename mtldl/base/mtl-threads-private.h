/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "mtl-threads.h"

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

/* Processes the items begin, …, end - 1. */
typedef void                    (* MtlThreadsFunc) (gpointer data,
                                 gsize    begin,
                                 gsize    end);

/* Items that can be processed in any order and at the same time, unless in_order is
 * set. */
typedef struct
{
  MtlThreadsFunc func;
  gpointer data;
  gsize n_items;
  gsize n_bytes; /* all items together */
  gsize duration; /* ns that one thread takes, roughly; 0: depends on n_bytes */
  gboolean in_order;
} MtlThreadsWork;

gboolean mtl_threads_run (const MtlThreadsWork  *work,
                          const MtlMonitor      *monitor,
                          GError               **error);

G_END_DECLS
