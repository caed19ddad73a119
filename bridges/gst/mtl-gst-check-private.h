/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <mtldl/mtldl.h>

G_BEGIN_DECLS

/* The caller's prefix begins the messages of these. */
gboolean mtl_gst_check_elements  (MtlStridedView  *view,
                                  MtlDType         dtype,
                                  GError         **error);
gboolean mtl_gst_check_shape     (MtlStridedView  *view,
                                  const gint64    *shape,
                                  gsize            n_dims,
                                  GError         **error);
gboolean mtl_gst_check_not_empty (MtlStridedView  *view,
                                  GError         **error);
gboolean mtl_gst_check_reachable (MtlStridedView  *view,
                                  GError         **error);

G_END_DECLS
