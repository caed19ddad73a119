/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "mtl-threads.h"

G_BEGIN_DECLS

/* What long work is to heed: whether it is to stop, and who is to be told how
 * far it is. NULL stands for work that nobody watches. */
typedef struct
{
  GCancellable *cancellable;
  /* In the thread that the work was begun in; NULL for none. */
  void (* report) (guint64  done,
                   guint64  total,
                   gpointer data);
  gpointer data;
} MtlMonitor;

/* They do nothing for NULL. Fails where it was cancelled. */
gboolean mtl_monitor_check  (const MtlMonitor  *self,
                             GError           **error);
void     mtl_monitor_report (const MtlMonitor  *self,
                             gsize              n_done,
                             gsize              n_items,
                             guint64            n_bytes);

/* Does the items begin, …, end - 1. */
typedef void                    (* MtlThreadsFunc) (gpointer data,
                                 gsize    begin,
                                 gsize    end);

/* So many items, which may be done in any order and at once unless they are to be
 * in order, one after the other. */
typedef struct
{
  MtlThreadsFunc func;
  gpointer data;
  gsize n_items;
  gsize n_bytes; /* of all together */
  gboolean in_order;
} MtlThreadsWork;

gboolean mtl_threads_run (const MtlThreadsWork  *work,
                          const MtlMonitor      *monitor,
                          GError               **error);

G_END_DECLS
