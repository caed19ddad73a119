/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-error.h"

/**
 * mtl_error_quark:
 *
 * Gets the domain of the library's errors.
 *
 * Returns: the domain
 *
 * Since: 1.0
 */
GQuark
mtl_error_quark (void)
{
  /* G_DEFINE_QUARK caches the quark without synchronization. */
  return g_quark_from_static_string ("mtl-error-quark");
}
