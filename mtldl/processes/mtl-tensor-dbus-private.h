/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-strided-view.h"

G_BEGIN_DECLS

/* Tensors in messages of D-Bus. The interface is in org.mtldl.Tensor1.xml. */

#define MTL_TENSOR_INTERFACE_NAME "org.mtldl.Tensor1"

/* Errors in MTL_ERROR get names of D-Bus, by which they arrive in another process as they are. */
void            mtl_dbus_register_errors (void);

/* Checks if the connection, which may have a bus behind it, passes descriptors. */
gboolean        mtl_dbus_passes_fds      (GDBusConnection      *connection);

/* The path may come from anywhere. */
gboolean        mtl_dbus_check_object_path (const char   *object_path,
                                            GError      **error);

/* Checks if the view can be in a message, if necessary after a copy. */
gboolean        mtl_dbus_check_view      (MtlStridedView       *view,
                                          gboolean              passes_fds,
                                          gboolean             *needs_copy,
                                          GError              **error);

/* Copies the elements to memory that can be in a message. */
MtlStridedView *mtl_dbus_copy_view       (MtlStridedView       *view,
                                          GCancellable         *cancellable,
                                          GError              **error);
void            mtl_dbus_copy_view_async (MtlStridedView       *view,
                                          GCancellable         *cancellable,
                                          GAsyncReadyCallback   callback,
                                          gpointer              user_data);
MtlStridedView *mtl_dbus_copy_view_finish (MtlStridedView  *view,
                                           GAsyncResult    *result,
                                           GError         **error);

/* Describes a view that needs no copy, or a copy. The list of descriptors is NULL if there is
 * none. */
GVariant       *mtl_dbus_describe_view   (MtlStridedView       *view,
                                          gboolean              passes_fds,
                                          GVariant             *extras,
                                          GUnixFDList         **fd_list,
                                          GError              **error);

G_END_DECLS
