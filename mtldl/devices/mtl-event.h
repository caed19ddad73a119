/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#if !defined (MTLDL_INSIDE) && !defined (MTLDL_COMPILATION)
#error "Only <mtldl/mtldl.h> can be included directly."
#endif

#include "mtl-device.h"

G_BEGIN_DECLS

#define MTL_TYPE_EVENT (mtl_event_get_type ())

MTL_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (MtlEvent, mtl_event, MTL, EVENT, GObject)

MTL_AVAILABLE_IN_1_0
MtlEvent  *mtl_event_new                (MtlDevice  *device,
                                         GError    **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlEvent  *mtl_event_new_for_handle     (gpointer    handle,
                                         MtlDevice  *device,
                                         GError    **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlDevice *mtl_event_get_device         (MtlEvent             *self);
MTL_AVAILABLE_IN_1_0
gpointer   mtl_event_get_handle         (MtlEvent             *self);
MTL_AVAILABLE_IN_1_0
guint64    mtl_event_get_signaled_value (MtlEvent             *self);
MTL_AVAILABLE_IN_1_0
void       mtl_event_signal             (MtlEvent *self,
                                         guint64   value);
MTL_AVAILABLE_IN_1_0
gboolean   mtl_event_wait               (MtlEvent      *self,
                                         guint64        value,
                                         GTimeSpan      timeout,
                                         GCancellable  *cancellable,
                                         GError       **error);
MTL_AVAILABLE_IN_1_0
void       mtl_event_wait_async         (MtlEvent            *self,
                                         guint64              value,
                                         GTimeSpan            timeout,
                                         GCancellable        *cancellable,
                                         GAsyncReadyCallback  callback,
                                         gpointer             user_data);
MTL_AVAILABLE_IN_1_0
gboolean   mtl_event_wait_finish        (MtlEvent      *self,
                                         GAsyncResult  *result,
                                         GError       **error);

G_END_DECLS
