/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-version-macros.h"

G_BEGIN_DECLS

/**
 * MTL_ERROR:
 *
 * The domain of the library's errors.
 *
 * Since: 1.0
 */
#define MTL_ERROR (mtl_error_quark ())

/**
 * MtlError:
 * @MTL_ERROR_INVALID_ARGUMENT: a value that can never be right: a negative
 *   extent, an axis named twice, an unknown element type
 * @MTL_ERROR_OUT_OF_BOUNDS: an index, an axis or a range lies outside of what
 *   there is
 * @MTL_ERROR_OVERFLOW: a product or a sum does not fit its type, or a value
 *   does not fit the element that it was to go into
 * @MTL_ERROR_NOT_SUPPORTED: right in itself, but not offered by this device or
 *   for this element type
 * @MTL_ERROR_NOT_HOST_ACCESSIBLE: the memory cannot be read or written by the
 *   host
 * @MTL_ERROR_READ_ONLY: a write to read-only memory
 * @MTL_ERROR_NO_MEMORY: the memory cannot be had
 * @MTL_ERROR_NEEDS_COPY: only possible with a copy, which was not allowed
 * @MTL_ERROR_DEVICE: the device failed
 * @MTL_ERROR_INVALID_DATA: what a peer or a file said is not valid
 * @MTL_ERROR_CONSUMED: a [class@Mtl.DlpackTensor] that was consumed already
 *
 * What can go wrong: one code for each kind of fault. The message names the
 * offending value and the limit.
 *
 * Since: 1.0
 */
typedef enum
{
  MTL_ERROR_INVALID_ARGUMENT,
  MTL_ERROR_OUT_OF_BOUNDS,
  MTL_ERROR_OVERFLOW,
  MTL_ERROR_NOT_SUPPORTED,
  MTL_ERROR_NOT_HOST_ACCESSIBLE,
  MTL_ERROR_READ_ONLY,
  MTL_ERROR_NO_MEMORY,
  MTL_ERROR_NEEDS_COPY,
  MTL_ERROR_DEVICE,
  MTL_ERROR_INVALID_DATA,
  MTL_ERROR_CONSUMED,
} MtlError;

MTL_AVAILABLE_IN_1_0
GQuark mtl_error_quark (void);

G_END_DECLS
