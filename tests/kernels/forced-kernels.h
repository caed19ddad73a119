/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <string.h>

#include "mtl-copy-kernels-private.h"

/* TRUE if others were chosen than those that MTL_KERNELS names, after printing that all is skipped.
 * If the machine should have them, test-kernels.c fails. */
static inline gboolean
lacks_forced_kernels (void)
{
  const char *wanted = g_getenv ("MTL_KERNELS");

  if (wanted == NULL || strcmp (mtl_copy_machine_get ()->kernels->name, wanted) == 0)
    return FALSE;

  g_print ("1..0 # SKIP this machine has no kernels named %s\n", wanted);
  return TRUE;
}
