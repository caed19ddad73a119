/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-copy-plan-private.h"
#include "mtl-threads-private.h"

G_BEGIN_DECLS

/* Fails where it was cancelled, in the midst of it. The monitor is told of
 * n_bytes all together, or where that is 0 of those of all elements. */
gboolean mtl_strided_request_run (const MtlCopyRequest  *self,
                                  gsize                  n_bytes,
                                  const MtlMonitor      *monitor,
                                  GError               **error);

G_END_DECLS
