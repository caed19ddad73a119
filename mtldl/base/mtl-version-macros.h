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
 * header to get warnings about functions that were added later. If it is not
 * defined, it is the version of the headers.
 *
 * Since: 1.0
 */
#define MTL_VERSION_MAX_ALLOWED (G_ENCODE_VERSION (MTL_MAJOR_VERSION, MTL_MINOR_VERSION))
#endif

#ifndef MTL_VERSION_MIN_REQUIRED
/**
 * MTL_VERSION_MIN_REQUIRED:
 *
 * Define this as one of the `MTL_VERSION_x_y` macros before including the
 * header to get no warnings about functions that were deprecated later, as
 * what replaces them may be newer. If it is not defined, it is
 * `MTL_VERSION_MAX_ALLOWED`.
 *
 * With `MTL_DISABLE_DEPRECATION_WARNINGS` there are no such warnings at all,
 * and with `MTL_DISABLE_DEPRECATED` no functions that are deprecated.
 *
 * Since: 1.0
 */
#define MTL_VERSION_MIN_REQUIRED MTL_VERSION_MAX_ALLOWED
#endif

#if MTL_VERSION_MIN_REQUIRED > MTL_VERSION_MAX_ALLOWED
#error "MTL_VERSION_MIN_REQUIRED must not be later than MTL_VERSION_MAX_ALLOWED."
#endif

#ifdef MTL_DISABLE_DEPRECATION_WARNINGS
#define _MTL_DEPRECATED _MTL_EXTERN
#define _MTL_DEPRECATED_FOR(function) _MTL_EXTERN
#define _MTL_UNAVAILABLE(major, minor) _MTL_EXTERN
#else
#define _MTL_DEPRECATED G_DEPRECATED _MTL_EXTERN
#define _MTL_DEPRECATED_FOR(function) G_DEPRECATED_FOR (function) _MTL_EXTERN
#define _MTL_UNAVAILABLE(major, minor) G_UNAVAILABLE (major, minor) _MTL_EXTERN
#endif

/* Each version has a block like this one. Symbols that it deprecates are declared
 * between #ifndef MTL_DISABLE_DEPRECATED and #endif. */
#if MTL_VERSION_MAX_ALLOWED < MTL_VERSION_1_0
#define MTL_AVAILABLE_IN_1_0 _MTL_UNAVAILABLE (1, 0)
#else
#define MTL_AVAILABLE_IN_1_0 _MTL_EXTERN
#endif
#ifndef __GI_SCANNER__ /* it would list them as functions */
#if MTL_VERSION_MIN_REQUIRED < MTL_VERSION_1_0
#define MTL_DEPRECATED_IN_1_0 _MTL_EXTERN
#define MTL_DEPRECATED_IN_1_0_FOR(function) _MTL_EXTERN
#else
#define MTL_DEPRECATED_IN_1_0 _MTL_DEPRECATED
#define MTL_DEPRECATED_IN_1_0_FOR(function) _MTL_DEPRECATED_FOR (function)
#endif
#endif
