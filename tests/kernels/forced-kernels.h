/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <string.h>

#include "mtl-copy-kernels-private.h"

/* Whether others were chosen than those that MTL_KERNELS names, which says then
 * that all is skipped. That the machine lacks them is for test-kernels.c to see. */
static inline gboolean
lacks_forced_kernels (void)
{
  const char *wanted = g_getenv ("MTL_KERNELS");

  if (wanted == NULL || strcmp (mtl_copy_machine_get ()->kernels->name, wanted) == 0)
    return FALSE;

  g_print ("1..0 # SKIP this machine has no kernels named %s\n", wanted);
  return TRUE;
}
