/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#if !defined (MTLDL_INSIDE) && !defined (MTLDL_COMPILATION)
#error "Only <mtldl/mtldl.h> can be included directly."
#endif

#include "mtl-strided-view.h"

G_BEGIN_DECLS

#define MTL_TYPE_EXPORTED_TENSOR (mtl_exported_tensor_get_type ())

MTL_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (MtlExportedTensor, mtl_exported_tensor, MTL, EXPORTED_TENSOR, GObject)

MTL_AVAILABLE_IN_1_0
MtlExportedTensor  *mtl_exported_tensor_new             (MtlStridedView      *view,
                                                         MtlTensorPeerFlags   flags)
  G_GNUC_WARN_UNUSED_RESULT;

MTL_AVAILABLE_IN_1_0
MtlStridedView     *mtl_exported_tensor_get_view        (MtlExportedTensor  *self);
MTL_AVAILABLE_IN_1_0
void                mtl_exported_tensor_set_view        (MtlExportedTensor  *self,
                                                         MtlStridedView     *view);
MTL_AVAILABLE_IN_1_0
MtlTensorPeerFlags  mtl_exported_tensor_get_flags       (MtlExportedTensor  *self);
MTL_AVAILABLE_IN_1_0
gboolean            mtl_exported_tensor_get_writable    (MtlExportedTensor  *self);
MTL_AVAILABLE_IN_1_0
void                mtl_exported_tensor_set_writable    (MtlExportedTensor  *self,
                                                         gboolean            writable);

MTL_AVAILABLE_IN_1_0
gboolean            mtl_exported_tensor_export          (MtlExportedTensor  *self,
                                                         GDBusConnection    *connection,
                                                         const char         *object_path,
                                                         GError            **error);
MTL_AVAILABLE_IN_1_0
void                mtl_exported_tensor_unexport        (MtlExportedTensor  *self,
                                                         GDBusConnection    *connection);
MTL_AVAILABLE_IN_1_0
gboolean            mtl_exported_tensor_announce_change (MtlExportedTensor  *self,
                                                         const char         *region,
                                                         GError            **error);

G_END_DECLS
