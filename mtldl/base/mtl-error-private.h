/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-error.h"

G_BEGIN_DECLS

/* The end of a noun after a number in a message. */
#define MTL_S(n) ((n) == 1 ? "" : "s")
#define MTL_ICES(n) ((n) == 1 ? "ex" : "ices")
#define MTL_ES(n) ((n) == 1 ? "is" : "es")

/* Reports a failed allocation whose size comes from a caller or a file. Always returns
 * FALSE. */
static inline gboolean
mtl_set_no_memory (gsize    size,
                   GError **error)
{
  g_set_error (error, MTL_ERROR, MTL_ERROR_NO_MEMORY,
               "%" G_GSIZE_FORMAT " bytes of memory cannot be allocated", size);
  return FALSE;
}

G_END_DECLS
