/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#if !defined (MTLDL_INSIDE) && !defined (MTLDL_COMPILATION)
#error "Only <mtldl/mtldl.h> can be included directly."
#endif

#include "mtl-strided-view.h"

G_BEGIN_DECLS

#define MTL_TYPE_TENSOR_CONNECTION (mtl_tensor_connection_get_type ())

MTL_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (MtlTensorConnection, mtl_tensor_connection, MTL, TENSOR_CONNECTION, GObject)

MTL_AVAILABLE_IN_1_0
MtlTensorConnection *mtl_tensor_connection_new             (GSocket             *socket,
                                                            MtlTensorPeerFlags   flags)
  G_GNUC_WARN_UNUSED_RESULT;

MTL_AVAILABLE_IN_1_0
GSocket             *mtl_tensor_connection_get_socket      (MtlTensorConnection *self);
MTL_AVAILABLE_IN_1_0
MtlTensorPeerFlags   mtl_tensor_connection_get_flags       (MtlTensorConnection *self);
MTL_AVAILABLE_IN_1_0
guint                mtl_tensor_connection_get_max_views   (MtlTensorConnection *self);
MTL_AVAILABLE_IN_1_0
void                 mtl_tensor_connection_set_max_views   (MtlTensorConnection *self,
                                                            guint                max_views);
MTL_AVAILABLE_IN_1_0
guint64              mtl_tensor_connection_get_max_bytes   (MtlTensorConnection *self);
MTL_AVAILABLE_IN_1_0
void                 mtl_tensor_connection_set_max_bytes   (MtlTensorConnection *self,
                                                            guint64              max_bytes);

MTL_AVAILABLE_IN_1_0
MtlStridedView      *mtl_tensor_connection_allocate_view   (MtlTensorConnection  *self,
                                                            MtlDType              dtype,
                                                            const gint64         *shape,
                                                            gsize                 n_dims,
                                                            GError              **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
gboolean             mtl_tensor_connection_send            (MtlTensorConnection  *self,
                                                            MtlStridedView       *view,
                                                            GVariant             *extras,
                                                            GCancellable         *cancellable,
                                                            GError              **error);
MTL_AVAILABLE_IN_1_0
void                 mtl_tensor_connection_send_async      (MtlTensorConnection  *self,
                                                            MtlStridedView       *view,
                                                            GVariant             *extras,
                                                            GCancellable         *cancellable,
                                                            GAsyncReadyCallback   callback,
                                                            gpointer              user_data);
MTL_AVAILABLE_IN_1_0
gboolean             mtl_tensor_connection_send_finish     (MtlTensorConnection  *self,
                                                            GAsyncResult         *result,
                                                            GError              **error);
MTL_AVAILABLE_IN_1_0
MtlStridedView      *mtl_tensor_connection_receive         (MtlTensorConnection  *self,
                                                            GVariant            **extras,
                                                            GCancellable         *cancellable,
                                                            GError              **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
void                 mtl_tensor_connection_receive_async   (MtlTensorConnection  *self,
                                                            GCancellable         *cancellable,
                                                            GAsyncReadyCallback   callback,
                                                            gpointer              user_data);
MTL_AVAILABLE_IN_1_0
MtlStridedView      *mtl_tensor_connection_receive_finish  (MtlTensorConnection  *self,
                                                            GAsyncResult         *result,
                                                            GVariant            **extras,
                                                            GError              **error)
  G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
