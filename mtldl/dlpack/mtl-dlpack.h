/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#if !defined (MTLDL_INSIDE) && !defined (MTLDL_COMPILATION)
#error "Only <mtldl/mtldl.h> can be included directly."
#endif

#include "mtl-device.h"
#include "mtl-strided-view.h"

G_BEGIN_DECLS

#define MTL_TYPE_DLPACK_TENSOR (mtl_dlpack_tensor_get_type ())

MTL_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (MtlDlpackTensor, mtl_dlpack_tensor, MTL, DLPACK_TENSOR, GObject)

MTL_AVAILABLE_IN_1_0
MtlDevice       *mtl_dlpack_tensor_get_device           (MtlDlpackTensor  *self);
MTL_AVAILABLE_IN_1_0
gboolean         mtl_dlpack_tensor_is_copied            (MtlDlpackTensor  *self);
MTL_AVAILABLE_IN_1_0
gboolean         mtl_dlpack_tensor_is_consumed          (MtlDlpackTensor  *self);

MTL_AVAILABLE_IN_1_0
MtlDlpackTensor *mtl_strided_view_export_dlpack         (MtlStridedView   *self,
                                                         MtlDlpackFlags    flags,
                                                         MtlDevice        *device,
                                                         GError          **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView  *mtl_strided_view_new_from_dlpack       (MtlDlpackTensor  *tensor,
                                                         GError          **error)
  G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
