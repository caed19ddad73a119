/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Runs a request to the engine with the available threads. */

#include "mtl-strided-request-private.h"

static void
run_slices (gpointer plan,
            gsize    begin,
            gsize    end)
{
  mtl_copy_plan_run (plan, begin, end);
}

gboolean
mtl_strided_request_run (const MtlCopyRequest  *self,
                         gsize                  n_bytes,
                         const MtlMonitor      *monitor,
                         GError               **error)
{
  MtlCopyPlan plan;

  mtl_copy_plan_init (&plan, self);
  if (n_bytes == 0)
    n_bytes = plan.n_bytes;

  return mtl_threads_run (&(MtlThreadsWork) {
                            .func = run_slices,
                            .data = &plan,
                            .n_items = mtl_copy_plan_get_n_slices (&plan),
                            .n_bytes = n_bytes,
                            .duration = mtl_copy_plan_get_duration (&plan),
                            .in_order = plan.in_order,
                          },
                          monitor, error);
}
