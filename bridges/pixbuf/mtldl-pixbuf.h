/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gdk-pixbuf/gdk-pixbuf.h>
#include <mtldl/mtldl.h>

G_BEGIN_DECLS

MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_pixbuf_view_from_pixbuf (GdkPixbuf  *pixbuf,
                                             GError    **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
GdkPixbuf      *mtl_pixbuf_pixbuf_from_view (MtlStridedView  *view,
                                             GError         **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
