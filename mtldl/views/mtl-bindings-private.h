/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

/* Functions for the Python module that comes with the library. They are exported, but with a
 * version of their own: they are no part of the interface and may change with any release.
 * Programs outside the library include <mtldl/mtldl.h> first. */

#ifdef MTLDL_COMPILATION
#include "mtl-strided-layout.h"
#include "mtl-strided-view.h"
#endif

G_BEGIN_DECLS

/* Fills in a DLTensor, whose shape and strides are the view's own. Returns the DLPack flags:
 * 1 for a read-only view, 4 for padded elements. One call for each field would make
 * memoryview() of a view 16 % slower. */
_MTL_EXTERN
guint64  mtl_strided_view_describe  (MtlStridedView *self,
                                     gpointer        dl_tensor);

/* Checks if queued work may still write to elements that the host reaches, and waits for it, which
 * accesses by the host do by themselves. A language with a lock releases it meanwhile. */
_MTL_EXTERN
gboolean mtl_strided_view_has_work   (MtlStridedView *self);
_MTL_EXTERN
gboolean mtl_strided_view_await_work (MtlStridedView  *self,
                                      GError         **error);

/* For the stream of another library in which it has produced, or will consume, tensors of a type
 * of device. Between these two, imports wait for the stream, and it waits for exports. The first
 * one returns FALSE and does nothing if the library does not use such devices. */
_MTL_EXTERN
gboolean mtl_dlpack_begin_stream    (gint32          device_type,
                                     guint64         stream);
_MTL_EXTERN
void     mtl_dlpack_end_stream      (guint64         stream);

/* Gets the stream of the library's own work on a device. Returns FALSE if there is none. */
_MTL_EXTERN
gboolean mtl_dlpack_get_work_stream (gint32          device_type,
                                     gint32          device_ordinal,
                                     guint64        *stream);

/* These release a reference like g_object_unref(), but keep the object for the next new one
 * if nothing else uses it. The end of the memory or of the object runs the functions of the
 * memory's owner, and of code that watches the object: unless @may_run_others allows that,
 * nothing happens, and the result is FALSE. */
_MTL_EXTERN
gboolean mtl_strided_view_release   (MtlStridedView *self,
                                     gboolean        may_run_others);
_MTL_EXTERN
gboolean mtl_strided_layout_release (MtlStridedLayout *self,
                                     gboolean          may_run_others);

G_END_DECLS
