/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#if !defined (MTLDL_INSIDE) && !defined (MTLDL_COMPILATION)
#error "Only <mtldl/mtldl.h> can be included directly."
#endif

#include <glib.h>

#include "mtl-version.h"

#ifndef _MTL_EXTERN
#define _MTL_EXTERN extern
#endif

/**
 * MTL_VERSION_1_0:
 *
 * The version 1.0, for `MTL_VERSION_MAX_ALLOWED`.
 *
 * Since: 1.0
 */
#define MTL_VERSION_1_0 (G_ENCODE_VERSION (1, 0))

#ifndef MTL_VERSION_MAX_ALLOWED
/**
 * MTL_VERSION_MAX_ALLOWED:
 *
 * Define this as one of the `MTL_VERSION_x_y` macros before including the
 * header to get warnings about functions that were added later.
 *
 * Since: 1.0
 */
#define MTL_VERSION_MAX_ALLOWED (G_ENCODE_VERSION (MTL_MAJOR_VERSION, MTL_MINOR_VERSION))
#endif

#if MTL_VERSION_MAX_ALLOWED < MTL_VERSION_1_0
#define MTL_AVAILABLE_IN_1_0 G_UNAVAILABLE (1, 0) _MTL_EXTERN
#else
#define MTL_AVAILABLE_IN_1_0 _MTL_EXTERN
#endif
