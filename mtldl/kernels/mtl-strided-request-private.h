/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-copy-plan-private.h"
#include "mtl-threads-private.h"

G_BEGIN_DECLS

/* Fails if it is cancelled partway. The progress is out of n_bytes, or if that is 0,
 * out of the bytes of all elements. */
gboolean mtl_strided_request_run (const MtlCopyRequest  *self,
                                  gsize                  n_bytes,
                                  const MtlMonitor      *monitor,
                                  GError               **error);

G_END_DECLS
