/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#if !defined (MTLDL_INSIDE) && !defined (MTLDL_COMPILATION)
#error "Only <mtldl/mtldl-dlpack.h> can be included directly."
#endif

#include "mtl-device.h"
#include "mtl-strided-view.h"

G_BEGIN_DECLS

struct DLManagedTensor;
struct DLManagedTensorVersioned;

MTL_AVAILABLE_IN_1_0
struct DLManagedTensorVersioned *
mtl_strided_view_to_dlpack        (MtlStridedView  *self,
                                   MtlDlpackFlags   flags,
                                   MtlDevice       *device,
                                   GError         **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
struct DLManagedTensor *
mtl_strided_view_to_dlpack_legacy (MtlStridedView  *self,
                                   MtlDlpackFlags   flags,
                                   MtlDevice       *device,
                                   GError         **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView *
mtl_strided_view_new_take_dlpack        (struct DLManagedTensorVersioned  *managed,
                                         GError                          **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView *
mtl_strided_view_new_take_dlpack_legacy (struct DLManagedTensor  *managed,
                                         GError                 **error)
  G_GNUC_WARN_UNUSED_RESULT;

MTL_AVAILABLE_IN_1_0
gboolean
mtl_dlpack_validate (gconstpointer   dl_tensor,
                     GError        **error);

G_END_DECLS
