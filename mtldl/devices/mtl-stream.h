/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#if !defined (MTLDL_INSIDE) && !defined (MTLDL_COMPILATION)
#error "Only <mtldl/mtldl.h> can be included directly."
#endif

#include "mtl-event.h"

G_BEGIN_DECLS

#define MTL_TYPE_STREAM (mtl_stream_get_type ())

MTL_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (MtlStream, mtl_stream, MTL, STREAM, GObject)

MTL_AVAILABLE_IN_1_0
MtlStream *mtl_stream_new                 (MtlDevice           *device,
                                           GError             **error);
MTL_AVAILABLE_IN_1_0
MtlStream *mtl_stream_new_for_device      (MtlDevice           *device,
                                           GError             **error);
MTL_AVAILABLE_IN_1_0
MtlStream *mtl_stream_new_for_handle      (guint64              handle,
                                           MtlDevice           *device,
                                           GError             **error);
MTL_AVAILABLE_IN_1_0
MtlDevice *mtl_stream_get_device          (MtlStream           *self);
MTL_AVAILABLE_IN_1_0
guint64    mtl_stream_get_handle          (MtlStream           *self);
MTL_AVAILABLE_IN_1_0
void       mtl_stream_push_thread_default (MtlStream           *self);
MTL_AVAILABLE_IN_1_0
void       mtl_stream_pop_thread_default  (MtlStream           *self);
MTL_AVAILABLE_IN_1_0
gboolean   mtl_stream_wait_stream         (MtlStream           *self,
                                           MtlStream           *other,
                                           GError             **error);
MTL_AVAILABLE_IN_1_0
gboolean   mtl_stream_wait_event          (MtlStream           *self,
                                           MtlEvent            *event,
                                           guint64              value,
                                           GError             **error);
MTL_AVAILABLE_IN_1_0
gboolean   mtl_stream_signal_event        (MtlStream           *self,
                                           MtlEvent            *event,
                                           guint64              value,
                                           GError             **error);
MTL_AVAILABLE_IN_1_0
gboolean   mtl_stream_synchronize         (MtlStream           *self,
                                           GCancellable        *cancellable,
                                           GError             **error);
MTL_AVAILABLE_IN_1_0
void       mtl_stream_synchronize_async   (MtlStream           *self,
                                           GCancellable        *cancellable,
                                           GAsyncReadyCallback  callback,
                                           gpointer             user_data);
MTL_AVAILABLE_IN_1_0
gboolean   mtl_stream_synchronize_finish  (MtlStream           *self,
                                           GAsyncResult        *result,
                                           GError             **error);

G_END_DECLS
