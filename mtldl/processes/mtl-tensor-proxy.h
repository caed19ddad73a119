/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#if !defined (MTLDL_INSIDE) && !defined (MTLDL_COMPILATION)
#error "Only <mtldl/mtldl.h> can be included directly."
#endif

#include "mtl-strided-view.h"

G_BEGIN_DECLS

#define MTL_TYPE_TENSOR_PROXY (mtl_tensor_proxy_get_type ())

MTL_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (MtlTensorProxy, mtl_tensor_proxy, MTL, TENSOR_PROXY, GObject)

MTL_AVAILABLE_IN_1_0
MtlTensorProxy   *mtl_tensor_proxy_new                 (GDBusConnection *connection,
                                                        const char      *bus_name,
                                                        const char      *object_path)
  G_GNUC_WARN_UNUSED_RESULT;

MTL_AVAILABLE_IN_1_0
GDBusConnection  *mtl_tensor_proxy_get_connection      (MtlTensorProxy *self);
MTL_AVAILABLE_IN_1_0
const char       *mtl_tensor_proxy_get_bus_name        (MtlTensorProxy *self);
MTL_AVAILABLE_IN_1_0
const char       *mtl_tensor_proxy_get_object_path     (MtlTensorProxy *self);

MTL_AVAILABLE_IN_1_0
MtlStridedView   *mtl_tensor_proxy_fetch_view          (MtlTensorProxy  *self,
                                                        GCancellable    *cancellable,
                                                        GError         **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
void              mtl_tensor_proxy_fetch_view_async    (MtlTensorProxy      *self,
                                                        GCancellable        *cancellable,
                                                        GAsyncReadyCallback  callback,
                                                        gpointer             user_data);
MTL_AVAILABLE_IN_1_0
MtlStridedView   *mtl_tensor_proxy_fetch_view_finish   (MtlTensorProxy  *self,
                                                        GAsyncResult    *result,
                                                        GError         **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedLayout *mtl_tensor_proxy_fetch_layout        (MtlTensorProxy  *self,
                                                        MtlDType        *dtype,
                                                        gboolean        *read_only,
                                                        GCancellable    *cancellable,
                                                        GError         **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
void              mtl_tensor_proxy_fetch_layout_async  (MtlTensorProxy      *self,
                                                        GCancellable        *cancellable,
                                                        GAsyncReadyCallback  callback,
                                                        gpointer             user_data);
MTL_AVAILABLE_IN_1_0
MtlStridedLayout *mtl_tensor_proxy_fetch_layout_finish (MtlTensorProxy  *self,
                                                        GAsyncResult    *result,
                                                        MtlDType        *dtype,
                                                        gboolean        *read_only,
                                                        GError         **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
gboolean          mtl_tensor_proxy_put                 (MtlTensorProxy  *self,
                                                        MtlStridedView  *view,
                                                        GVariant        *extras,
                                                        GCancellable    *cancellable,
                                                        GError         **error);
MTL_AVAILABLE_IN_1_0
void              mtl_tensor_proxy_put_async           (MtlTensorProxy      *self,
                                                        MtlStridedView      *view,
                                                        GVariant            *extras,
                                                        GCancellable        *cancellable,
                                                        GAsyncReadyCallback  callback,
                                                        gpointer             user_data);
MTL_AVAILABLE_IN_1_0
gboolean          mtl_tensor_proxy_put_finish          (MtlTensorProxy  *self,
                                                        GAsyncResult    *result,
                                                        GError         **error);
MTL_AVAILABLE_IN_1_0
gboolean          mtl_tensor_proxy_copy_from           (MtlTensorProxy  *self,
                                                        MtlStridedView  *source,
                                                        const char      *region,
                                                        GCancellable    *cancellable,
                                                        GError         **error);
MTL_AVAILABLE_IN_1_0
void              mtl_tensor_proxy_copy_from_async     (MtlTensorProxy      *self,
                                                        MtlStridedView      *source,
                                                        const char          *region,
                                                        GCancellable        *cancellable,
                                                        GAsyncReadyCallback  callback,
                                                        gpointer             user_data);
MTL_AVAILABLE_IN_1_0
gboolean          mtl_tensor_proxy_copy_from_finish    (MtlTensorProxy  *self,
                                                        GAsyncResult    *result,
                                                        GError         **error);

G_END_DECLS
