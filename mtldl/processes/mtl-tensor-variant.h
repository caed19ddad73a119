/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#if !defined (MTLDL_INSIDE) && !defined (MTLDL_COMPILATION)
#error "Only <mtldl/mtldl.h> can be included directly."
#endif

#include "mtl-strided-view.h"

G_BEGIN_DECLS

/**
 * MTL_TENSOR_VARIANT_TYPE_STRING:
 *
 * The type of a [struct@GLib.Variant] that describes a tensor: its memory, byte
 * offset, element type, lanes, shape, strides, and extras.
 *
 * Since: 1.0
 */
#define MTL_TENSOR_VARIANT_TYPE_STRING "(vtyyqaxaxa{sv})"

MTL_AVAILABLE_IN_1_0
GVariant       *mtl_strided_view_to_variant           (MtlStridedView  *self,
                                                       GUnixFDList     *fd_list,
                                                       GVariant        *extras,
                                                       GError         **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_new_from_variant_fds (GVariant        *variant,
                                                       GUnixFDList     *fd_list,
                                                       GError         **error)
  G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
