/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#if !defined (MTLDL_INSIDE) && !defined (MTLDL_COMPILATION)
#error "Only <mtldl/mtldl.h> can be included directly."
#endif

#include "mtl-tensor-file-entry.h"

G_BEGIN_DECLS

#define MTL_TYPE_TENSOR_FILE (mtl_tensor_file_get_type ())

MTL_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (MtlTensorFile, mtl_tensor_file, MTL, TENSOR_FILE, GObject)

MTL_AVAILABLE_IN_1_0
MtlTensorFile       *mtl_tensor_file_open              (GFile              *file,
                                                        MtlDevice          *device,
                                                        MtlTensorFileMode   mode,
                                                        GCancellable       *cancellable,
                                                        GError            **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
void                 mtl_tensor_file_open_async        (GFile               *file,
                                                        MtlDevice           *device,
                                                        MtlTensorFileMode    mode,
                                                        int                  io_priority,
                                                        GCancellable        *cancellable,
                                                        GAsyncReadyCallback  callback,
                                                        gpointer             user_data);
MTL_AVAILABLE_IN_1_0
MtlTensorFile       *mtl_tensor_file_open_finish       (GAsyncResult  *result,
                                                        GError       **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
void                 mtl_tensor_file_close             (MtlTensorFile  *self);

MTL_AVAILABLE_IN_1_0
GFile               *mtl_tensor_file_get_file          (MtlTensorFile  *self);
MTL_AVAILABLE_IN_1_0
MtlTensorFileMode    mtl_tensor_file_get_mode          (MtlTensorFile  *self);
MTL_AVAILABLE_IN_1_0
MtlTensorFileFormat  mtl_tensor_file_get_format        (MtlTensorFile  *self);
MTL_AVAILABLE_IN_1_0
MtlDevice           *mtl_tensor_file_get_device        (MtlTensorFile  *self);
MTL_AVAILABLE_IN_1_0
const char         **mtl_tensor_file_list_names         (MtlTensorFile  *self)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
const char         **mtl_tensor_file_match_loadable_names       (MtlTensorFile *self,
                                                                 const char    *pattern)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
const char         **mtl_tensor_file_match_refused_names (MtlTensorFile *self,
                                                          const char    *pattern)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
const char         **mtl_tensor_file_list_metadata_keys (MtlTensorFile  *self)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
const char          *mtl_tensor_file_lookup_metadata      (MtlTensorFile *self,
                                                           const char    *key);
MTL_AVAILABLE_IN_1_0
gboolean             mtl_tensor_file_has_tensor        (MtlTensorFile *self,
                                                        const char    *name);
MTL_AVAILABLE_IN_1_0
MtlTensorFileEntry  *mtl_tensor_file_lookup_entry      (MtlTensorFile *self,
                                                        const char    *name)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView      *mtl_tensor_file_load_view         (MtlTensorFile  *self,
                                                        const char     *name,
                                                        GCancellable   *cancellable,
                                                        GError        **error)
  G_GNUC_WARN_UNUSED_RESULT;

MTL_AVAILABLE_IN_1_0
void                 mtl_tensor_file_load_view_async   (MtlTensorFile       *self,
                                                        const char          *name,
                                                        int                  io_priority,
                                                        GCancellable        *cancellable,
                                                        GAsyncReadyCallback  callback,
                                                        gpointer             user_data);
MTL_AVAILABLE_IN_1_0
MtlStridedView      *mtl_tensor_file_load_view_finish  (MtlTensorFile  *self,
                                                        GAsyncResult   *result,
                                                        GError        **error)
  G_GNUC_WARN_UNUSED_RESULT;

MTL_AVAILABLE_IN_1_0
MtlStridedView     **mtl_tensor_file_load_views        (MtlTensorFile          *self,
                                                        const char             *pattern,
                                                        GCancellable           *cancellable,
                                                        GFileProgressCallback   progress,
                                                        gpointer                progress_data,
                                                        gsize                  *n_views,
                                                        GError                **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
void                 mtl_tensor_file_load_views_async  (MtlTensorFile         *self,
                                                        const char            *pattern,
                                                        int                    io_priority,
                                                        GCancellable          *cancellable,
                                                        GFileProgressCallback  progress,
                                                        gpointer               progress_data,
                                                        GDestroyNotify         progress_destroy,
                                                        GAsyncReadyCallback    callback,
                                                        gpointer               user_data);
MTL_AVAILABLE_IN_1_0
MtlStridedView     **mtl_tensor_file_load_views_finish (MtlTensorFile  *self,
                                                        GAsyncResult   *result,
                                                        gsize          *n_views,
                                                        GError        **error)
  G_GNUC_WARN_UNUSED_RESULT;

MTL_AVAILABLE_IN_1_0
gboolean             mtl_tensor_file_prefetch          (MtlTensorFile   *self,
                                                        MtlStridedView **views,
                                                        gsize            n_views,
                                                        GError         **error);

MTL_AVAILABLE_IN_1_0
gboolean             mtl_tensor_file_check             (MtlTensorFile          *self,
                                                        MtlTensorFileChecks         checks,
                                                        GCancellable           *cancellable,
                                                        GFileProgressCallback   progress,
                                                        gpointer                progress_data,
                                                        GError                **error);
MTL_AVAILABLE_IN_1_0
void                 mtl_tensor_file_check_async       (MtlTensorFile         *self,
                                                        MtlTensorFileChecks        checks,
                                                        int                    io_priority,
                                                        GCancellable          *cancellable,
                                                        GFileProgressCallback  progress,
                                                        gpointer               progress_data,
                                                        GDestroyNotify         progress_destroy,
                                                        GAsyncReadyCallback    callback,
                                                        gpointer               user_data);
MTL_AVAILABLE_IN_1_0
gboolean             mtl_tensor_file_check_finish      (MtlTensorFile  *self,
                                                        GAsyncResult   *result,
                                                        GError        **error);

G_END_DECLS
