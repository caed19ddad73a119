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

/* Numbers of every kind */
static inline MtlDType
pick_dtype (void)
{
  static const MtlDType dtypes[] = {
    MTL_DTYPE_BOOL,     MTL_DTYPE_INT8,       MTL_DTYPE_INT16,         MTL_DTYPE_INT32,
    MTL_DTYPE_INT64,    MTL_DTYPE_UINT8,      MTL_DTYPE_UINT16,        MTL_DTYPE_UINT32,
    MTL_DTYPE_UINT64,   MTL_DTYPE_INT4,       MTL_DTYPE_UINT2,         MTL_DTYPE_FLOAT16,
    MTL_DTYPE_FLOAT32,  MTL_DTYPE_FLOAT64,    MTL_DTYPE_BFLOAT16,      MTL_DTYPE_COMPLEX64,
    MTL_DTYPE_COMPLEX128, MTL_DTYPE_FLOAT8_E4M3FN, MTL_DTYPE_FLOAT8_E5M2,
    MTL_DTYPE_FLOAT4_E2M1FN,
  };

  return dtypes[pick (0, G_N_ELEMENTS (dtypes) - 1)];
}

/* Views of the same part of both: one on the host and one on the device */
typedef struct
{
  MtlStridedView *host;
  MtlStridedView *device;
} ViewPair;

static inline ViewPair
view_pair_new (MtlStridedView *host,
               const char     *text)
{
  g_autoptr (MtlStridedView) device = to_gpu (host);

  return (ViewPair) { slice (host, text), slice (device, text) };
}

static inline void
view_pair_clear (ViewPair *pair)
{
  g_clear_object (&pair->host);
  g_clear_object (&pair->device);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (ViewPair, view_pair_clear)

/* A part of a view of two axes */
static inline const char *
pick_slice (void)
{
  static const char *const slices[] = {
    "...", "::2, 1:", "::-1, ::-3", "1:, ::-1", "2, :", ":, 0", "..., None, ::4",
  };

  return slices[pick (0, G_N_ELEMENTS (slices) - 1)];
}
