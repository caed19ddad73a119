/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-progress-private.h"
#include "mtl-threads.h"

G_BEGIN_DECLS

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
