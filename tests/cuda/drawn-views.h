/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "drawn-layouts.h"
#include "test-utils.h"

/* Any bits, so that there are NaNs, infinities and zeros of both signs */
static inline MtlStridedView *
draw_view (MtlDType      dtype,
           const gint64 *shape,
           gsize         n_dims)
{
  MtlStridedView *view = host_zeros (dtype, shape, n_dims);
  guint8 *bytes = mtl_strided_view_get_data (view);
  gsize size = mtl_buffer_get_size (mtl_strided_view_get_buffer (view));

  fill_at_random (bytes, size);
  if (dtype == MTL_DTYPE_BOOL)
    for (gsize i = 0; i < size; i++)
      bytes[i] &= 1;
  return view;
}
