/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#if !defined (MTLDL_INSIDE) && !defined (MTLDL_COMPILATION)
#error "Only <mtldl/mtldl.h> can be included directly."
#endif

#include "mtl-device.h"

G_BEGIN_DECLS

#define MTL_TYPE_BUFFER (mtl_buffer_get_type ())

MTL_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (MtlBuffer, mtl_buffer, MTL, BUFFER, GObject)

MTL_AVAILABLE_IN_1_0
MtlBuffer      *mtl_buffer_new                  (MtlDevice       *device,
                                                 gsize            size,
                                                 MtlStorageMode   storage_mode,
                                                 GError         **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlBuffer      *mtl_buffer_new_uninitialized    (MtlDevice       *device,
                                                 gsize            size,
                                                 MtlStorageMode   storage_mode,
                                                 GError         **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlBuffer      *mtl_buffer_new_from_bytes       (GBytes          *bytes,
                                                 MtlDevice       *device,
                                                 MtlBufferFlags   flags,
                                                 GError         **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlBuffer      *mtl_buffer_new_for_data         (gpointer         data,
                                                 gsize            size,
                                                 MtlDevice       *device,
                                                 MtlBufferFlags   flags,
                                                 GDestroyNotify   destroy,
                                                 gpointer         user_data,
                                                 GError         **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlBuffer      *mtl_buffer_new_for_handle       (gpointer         handle,
                                                 gsize            size,
                                                 MtlDevice       *device,
                                                 GDestroyNotify   destroy,
                                                 gpointer         user_data,
                                                 GError         **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlBuffer      *mtl_buffer_new_mapped           (GFile         *file,
                                                 MtlDevice     *device,
                                                 guint64        offset,
                                                 gsize          size,
                                                 GCancellable  *cancellable,
                                                 GError       **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlBuffer      *mtl_buffer_new_for_fd           (int              fd,
                                                 guint64          offset,
                                                 gsize            size,
                                                 MtlBufferFlags   flags,
                                                 GError         **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlBuffer      *mtl_buffer_slice                (MtlBuffer  *self,
                                                 gsize       offset,
                                                 gsize       size,
                                                 GError    **error) G_GNUC_WARN_UNUSED_RESULT;

MTL_AVAILABLE_IN_1_0
MtlDevice      *mtl_buffer_get_device           (MtlBuffer       *self);
MTL_AVAILABLE_IN_1_0
gsize           mtl_buffer_get_size             (MtlBuffer       *self);
MTL_AVAILABLE_IN_1_0
gboolean        mtl_buffer_is_size_known        (MtlBuffer       *self);
MTL_AVAILABLE_IN_1_0
MtlStorageMode  mtl_buffer_get_storage_mode     (MtlBuffer       *self);
MTL_AVAILABLE_IN_1_0
gboolean        mtl_buffer_is_host_accessible   (MtlBuffer       *self);
MTL_AVAILABLE_IN_1_0
gboolean        mtl_buffer_is_device_accessible (MtlBuffer       *self);
MTL_AVAILABLE_IN_1_0
gboolean        mtl_buffer_is_read_only         (MtlBuffer       *self);
MTL_AVAILABLE_IN_1_0
gboolean        mtl_buffer_is_interprocess      (MtlBuffer       *self);
MTL_AVAILABLE_IN_1_0
gboolean        mtl_buffer_equal                (MtlBuffer *self,
                                                 MtlBuffer *other);
MTL_AVAILABLE_IN_1_0
guint           mtl_buffer_hash                 (MtlBuffer       *self);
MTL_AVAILABLE_IN_1_0
gpointer        mtl_buffer_get_contents         (MtlBuffer       *self);
MTL_AVAILABLE_IN_1_0
gpointer        mtl_buffer_get_handle           (MtlBuffer       *self);
MTL_AVAILABLE_IN_1_0
gsize           mtl_buffer_get_byte_offset      (MtlBuffer       *self);

MTL_AVAILABLE_IN_1_0
GFile          *mtl_buffer_dup_mapped_file      (MtlBuffer  *self,
                                                 guint64    *file_offset,
                                                 GFileInfo **info);

MTL_AVAILABLE_IN_1_0
int             mtl_buffer_dup_fd               (MtlBuffer  *self,
                                                 guint64    *offset,
                                                 GError    **error);

MTL_AVAILABLE_IN_1_0
GBytes         *mtl_buffer_get_bytes            (MtlBuffer  *self,
                                                 gsize       offset,
                                                 gsize       size,
                                                 GError    **error);
MTL_AVAILABLE_IN_1_0
GBytes         *mtl_buffer_dup_bytes            (MtlBuffer     *self,
                                                 gsize          offset,
                                                 gsize          size,
                                                 GCancellable  *cancellable,
                                                 GError       **error);
MTL_AVAILABLE_IN_1_0
gboolean        mtl_buffer_set_bytes            (MtlBuffer     *self,
                                                 gsize          offset,
                                                 GBytes        *bytes,
                                                 GCancellable  *cancellable,
                                                 GError       **error);
MTL_AVAILABLE_IN_1_0
MtlBuffer      *mtl_buffer_copy                 (MtlBuffer     *self,
                                                 GCancellable  *cancellable,
                                                 GError       **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
gboolean        mtl_buffer_copy_from            (MtlBuffer     *self,
                                                 gsize          offset,
                                                 MtlBuffer     *source,
                                                 gsize          source_offset,
                                                 gsize          size,
                                                 GCancellable  *cancellable,
                                                 GError       **error);
MTL_AVAILABLE_IN_1_0
gboolean        mtl_buffer_fill                 (MtlBuffer     *self,
                                                 gsize          offset,
                                                 gsize          size,
                                                 GBytes        *pattern,
                                                 GCancellable  *cancellable,
                                                 GError       **error);
MTL_AVAILABLE_IN_1_0
gboolean        mtl_buffer_synchronize          (MtlBuffer     *self,
                                                 GCancellable  *cancellable,
                                                 GError       **error);
MTL_AVAILABLE_IN_1_0
gboolean        mtl_buffer_did_modify           (MtlBuffer  *self,
                                                 gsize       offset,
                                                 gsize       size,
                                                 GError    **error);

MTL_AVAILABLE_IN_1_0
void mtl_buffer_dup_bytes_async (MtlBuffer           *self,
                                 gsize                offset,
                                 gsize                size,
                                 GCancellable        *cancellable,
                                 GAsyncReadyCallback  callback,
                                 gpointer             user_data);
MTL_AVAILABLE_IN_1_0
GBytes *mtl_buffer_dup_bytes_finish (MtlBuffer     *self,
                                     GAsyncResult  *result,
                                     GError       **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
void mtl_buffer_set_bytes_async (MtlBuffer           *self,
                                 gsize                offset,
                                 GBytes              *bytes,
                                 GCancellable        *cancellable,
                                 GAsyncReadyCallback  callback,
                                 gpointer             user_data);
MTL_AVAILABLE_IN_1_0
gboolean mtl_buffer_set_bytes_finish (MtlBuffer     *self,
                                      GAsyncResult  *result,
                                      GError       **error);
MTL_AVAILABLE_IN_1_0
void mtl_buffer_copy_async (MtlBuffer           *self,
                            GCancellable        *cancellable,
                            GAsyncReadyCallback  callback,
                            gpointer             user_data);
MTL_AVAILABLE_IN_1_0
MtlBuffer *mtl_buffer_copy_finish (MtlBuffer     *self,
                                   GAsyncResult  *result,
                                   GError       **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
void mtl_buffer_copy_from_async (MtlBuffer           *self,
                                 gsize                offset,
                                 MtlBuffer           *source,
                                 gsize                source_offset,
                                 gsize                size,
                                 GCancellable        *cancellable,
                                 GAsyncReadyCallback  callback,
                                 gpointer             user_data);
MTL_AVAILABLE_IN_1_0
gboolean mtl_buffer_copy_from_finish (MtlBuffer     *self,
                                      GAsyncResult  *result,
                                      GError       **error);
MTL_AVAILABLE_IN_1_0
void mtl_buffer_fill_async (MtlBuffer           *self,
                            gsize                offset,
                            gsize                size,
                            GBytes              *pattern,
                            GCancellable        *cancellable,
                            GAsyncReadyCallback  callback,
                            gpointer             user_data);
MTL_AVAILABLE_IN_1_0
gboolean mtl_buffer_fill_finish (MtlBuffer     *self,
                                 GAsyncResult  *result,
                                 GError       **error);
MTL_AVAILABLE_IN_1_0
void mtl_buffer_synchronize_async (MtlBuffer           *self,
                                   GCancellable        *cancellable,
                                   GAsyncReadyCallback  callback,
                                   gpointer             user_data);
MTL_AVAILABLE_IN_1_0
gboolean mtl_buffer_synchronize_finish (MtlBuffer     *self,
                                        GAsyncResult  *result,
                                        GError       **error);
MTL_AVAILABLE_IN_1_0
void mtl_buffer_new_mapped_async (GFile               *file,
                                  MtlDevice           *device,
                                  guint64              offset,
                                  gsize                size,
                                  int                  io_priority,
                                  GCancellable        *cancellable,
                                  GAsyncReadyCallback  callback,
                                  gpointer             user_data);
MTL_AVAILABLE_IN_1_0
MtlBuffer *mtl_buffer_new_mapped_finish (GAsyncResult  *result,
                                         GError       **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
