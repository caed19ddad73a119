/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#if !defined (MTLDL_INSIDE) && !defined (MTLDL_COMPILATION)
#error "Only <mtldl/mtldl.h> can be included directly."
#endif

#include "mtl-strided-view.h"

G_BEGIN_DECLS

#define MTL_TYPE_TENSOR_FILE_BUILDER (mtl_tensor_file_builder_get_type ())

MTL_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (MtlTensorFileBuilder, mtl_tensor_file_builder, MTL, TENSOR_FILE_BUILDER,
                      GObject)

MTL_AVAILABLE_IN_1_0
MtlTensorFileBuilder *mtl_tensor_file_builder_new           (void)
  G_GNUC_WARN_UNUSED_RESULT;

MTL_AVAILABLE_IN_1_0
gboolean              mtl_tensor_file_builder_add           (MtlTensorFileBuilder   *self,
                                                             const char             *name,
                                                             MtlStridedView         *view,
                                                             GError                **error);
MTL_AVAILABLE_IN_1_0
gboolean              mtl_tensor_file_builder_add_converted (MtlTensorFileBuilder   *self,
                                                             const char             *name,
                                                             MtlStridedView         *view,
                                                             MtlDType                dtype,
                                                             GError                **error);
MTL_AVAILABLE_IN_1_0
gboolean              mtl_tensor_file_builder_set_metadata  (MtlTensorFileBuilder   *self,
                                                             const char             *key,
                                                             const char             *value,
                                                             GError                **error);

MTL_AVAILABLE_IN_1_0
void                  mtl_tensor_file_builder_set_format    (MtlTensorFileBuilder   *self,
                                                             MtlTensorFileFormat     format);
MTL_AVAILABLE_IN_1_0
MtlTensorFileFormat   mtl_tensor_file_builder_get_format    (MtlTensorFileBuilder   *self);
MTL_AVAILABLE_IN_1_0
void                  mtl_tensor_file_builder_set_order     (MtlTensorFileBuilder   *self,
                                                             MtlTensorFileOrder      order);
MTL_AVAILABLE_IN_1_0
MtlTensorFileOrder    mtl_tensor_file_builder_get_order     (MtlTensorFileBuilder   *self);
MTL_AVAILABLE_IN_1_0
void                  mtl_tensor_file_builder_set_alignment (MtlTensorFileBuilder   *self,
                                                             guint                   alignment);
MTL_AVAILABLE_IN_1_0
guint                 mtl_tensor_file_builder_get_alignment (MtlTensorFileBuilder   *self);

MTL_AVAILABLE_IN_1_0
void                  mtl_tensor_file_builder_set_sync      (MtlTensorFileBuilder   *self,
                                                             gboolean                sync);
MTL_AVAILABLE_IN_1_0
gboolean              mtl_tensor_file_builder_get_sync      (MtlTensorFileBuilder   *self);

MTL_AVAILABLE_IN_1_0
gboolean mtl_tensor_file_builder_write               (MtlTensorFileBuilder   *self,
                                                      GFile                  *file,
                                                      GCancellable           *cancellable,
                                                      GFileProgressCallback   progress,
                                                      gpointer                progress_data,
                                                      GError                **error);
MTL_AVAILABLE_IN_1_0
void     mtl_tensor_file_builder_write_async         (MtlTensorFileBuilder   *self,
                                                      GFile                  *file,
                                                      int                     io_priority,
                                                      GCancellable           *cancellable,
                                                      GFileProgressCallback   progress,
                                                      gpointer                progress_data,
                                                      GDestroyNotify          progress_destroy,
                                                      GAsyncReadyCallback     callback,
                                                      gpointer                user_data);
MTL_AVAILABLE_IN_1_0
gboolean mtl_tensor_file_builder_write_finish        (MtlTensorFileBuilder   *self,
                                                      GAsyncResult           *result,
                                                      GError                **error);

MTL_AVAILABLE_IN_1_0
gboolean mtl_tensor_file_builder_write_shards        (MtlTensorFileBuilder   *self,
                                                      GFile                  *index,
                                                      guint64                 max_size,
                                                      GCancellable           *cancellable,
                                                      GFileProgressCallback   progress,
                                                      gpointer                progress_data,
                                                      GError                **error);
MTL_AVAILABLE_IN_1_0
void     mtl_tensor_file_builder_write_shards_async  (MtlTensorFileBuilder   *self,
                                                      GFile                  *index,
                                                      guint64                 max_size,
                                                      int                     io_priority,
                                                      GCancellable           *cancellable,
                                                      GFileProgressCallback   progress,
                                                      gpointer                progress_data,
                                                      GDestroyNotify          progress_destroy,
                                                      GAsyncReadyCallback     callback,
                                                      gpointer                user_data);
MTL_AVAILABLE_IN_1_0
gboolean mtl_tensor_file_builder_write_shards_finish (MtlTensorFileBuilder   *self,
                                                      GAsyncResult           *result,
                                                      GError                **error);

G_END_DECLS
