/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#if !defined (MTLDL_INSIDE) && !defined (MTLDL_COMPILATION)
#error "Only <mtldl/mtldl.h> can be included directly."
#endif

#include "mtl-strided-view.h"

G_BEGIN_DECLS

#define MTL_TYPE_TENSOR_FILE_ENTRY (mtl_tensor_file_entry_get_type ())

MTL_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (MtlTensorFileEntry, mtl_tensor_file_entry, MTL, TENSOR_FILE_ENTRY, GObject)

MTL_AVAILABLE_IN_1_0
const char      *mtl_tensor_file_entry_get_name        (MtlTensorFileEntry  *self);
MTL_AVAILABLE_IN_1_0
MtlDType         mtl_tensor_file_entry_get_dtype       (MtlTensorFileEntry  *self);
MTL_AVAILABLE_IN_1_0
const char      *mtl_tensor_file_entry_get_type_name   (MtlTensorFileEntry  *self);
MTL_AVAILABLE_IN_1_0
const GError    *mtl_tensor_file_entry_get_error       (MtlTensorFileEntry  *self);
MTL_AVAILABLE_IN_1_0
const gint64    *mtl_tensor_file_entry_get_shape       (MtlTensorFileEntry *self,
                                                        gsize              *n_dims);
MTL_AVAILABLE_IN_1_0
guint64          mtl_tensor_file_entry_get_byte_offset (MtlTensorFileEntry  *self);
MTL_AVAILABLE_IN_1_0
guint64          mtl_tensor_file_entry_get_n_bytes     (MtlTensorFileEntry  *self);
MTL_AVAILABLE_IN_1_0
GFile           *mtl_tensor_file_entry_get_file        (MtlTensorFileEntry  *self);
MTL_AVAILABLE_IN_1_0
MtlStridedView  *mtl_tensor_file_entry_load_view       (MtlTensorFileEntry  *self,
                                                        GCancellable        *cancellable,
                                                        GError             **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
gboolean         mtl_tensor_file_entry_check           (MtlTensorFileEntry  *self,
                                                        MtlTensorFileChecks  checks,
                                                        GCancellable        *cancellable,
                                                        GError             **error);
MTL_AVAILABLE_IN_1_0
void            mtl_tensor_file_entry_load_view_async (MtlTensorFileEntry  *self,
                                                       int                  io_priority,
                                                       GCancellable        *cancellable,
                                                       GAsyncReadyCallback  callback,
                                                       gpointer             user_data);
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_tensor_file_entry_load_view_finish (MtlTensorFileEntry  *self,
                                                        GAsyncResult        *result,
                                                        GError             **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
void            mtl_tensor_file_entry_check_async (MtlTensorFileEntry  *self,
                                                   MtlTensorFileChecks  checks,
                                                   int                  io_priority,
                                                   GCancellable        *cancellable,
                                                   GAsyncReadyCallback  callback,
                                                   gpointer             user_data);
MTL_AVAILABLE_IN_1_0
gboolean        mtl_tensor_file_entry_check_finish (MtlTensorFileEntry  *self,
                                                    GAsyncResult        *result,
                                                    GError             **error);

G_END_DECLS
