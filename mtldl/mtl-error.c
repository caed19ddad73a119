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
G_DEFINE_QUARK (mtl-error-quark, mtl_error)
