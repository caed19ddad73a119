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
 * @MTL_ERROR_INVALID_ARGUMENT: a value that can never be valid, such as a
 *   negative extent, an axis named twice, or an unknown element type
 * @MTL_ERROR_OUT_OF_BOUNDS: an index, an axis or a range is out of bounds
 * @MTL_ERROR_OVERFLOW: a product or a sum does not fit its type, or a value
 *   does not fit the element to store it in
 * @MTL_ERROR_NOT_SUPPORTED: valid, but not supported by this device or for this
 *   element type
 * @MTL_ERROR_NOT_HOST_ACCESSIBLE: the host cannot read or write the memory
 * @MTL_ERROR_READ_ONLY: the memory is read-only
 * @MTL_ERROR_NO_MEMORY: the memory cannot be allocated
 * @MTL_ERROR_NEEDS_COPY: this requires a copy, and copying was not allowed
 * @MTL_ERROR_DEVICE: the device failed
 * @MTL_ERROR_INVALID_DATA: data from a peer or a file are not valid
 * @MTL_ERROR_CONSUMED: the [class@Mtl.DlpackTensor] was already consumed
 * @MTL_ERROR_BUSY: in use, and has to be free of users for this
 * @MTL_ERROR_NOT_FOUND: there is nothing of that name
 *
 * The codes of the library's errors. The message has the offending value and
 * the limit.
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
  MTL_ERROR_BUSY,
  MTL_ERROR_NOT_FOUND,
} MtlError;

MTL_AVAILABLE_IN_1_0
GQuark mtl_error_quark (void);

G_END_DECLS
