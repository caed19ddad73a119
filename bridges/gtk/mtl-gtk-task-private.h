/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <mtldl/mtldl.h>

G_BEGIN_DECLS

/* The work of a thread on the task's data: returns a view, or sets the error. */
typedef MtlStridedView *(*MtlGtkTaskFunc) (gpointer       data,
                                           GCancellable  *cancellable,
                                           GError       **error);

void            mtl_gtk_task_run    (GTask           *task,
                                     MtlGtkTaskFunc   func);
MtlStridedView *mtl_gtk_task_finish (GAsyncResult    *result,
                                     gpointer         source_tag,
                                     GError         **error);

G_END_DECLS
