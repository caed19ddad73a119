/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

/* Functions for the hot paths of language bindings. Not part of
 * <mtldl/mtldl.h>. */

#ifndef MTLDL_COMPILATION
#define MTLDL_INSIDE
#endif

#include "mtl-dlpack-abi.h"
#include "mtl-strided-layout.h"
#include "mtl-strided-view.h"

G_BEGIN_DECLS

MTL_AVAILABLE_IN_1_0
guint64  mtl_strided_view_describe  (MtlStridedView *self,
                                     DLTensor       *tensor);
MTL_AVAILABLE_IN_1_0
gboolean mtl_strided_view_has_negative_strides
                                    (MtlStridedView   *self);
MTL_AVAILABLE_IN_1_0
gboolean mtl_strided_view_release   (MtlStridedView *self,
                                     gboolean        may_run_others);
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_detach
                                    (MtlStridedView   *self) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
gboolean mtl_strided_layout_release (MtlStridedLayout *self,
                                     gboolean          may_run_others);

G_END_DECLS

#ifndef MTLDL_COMPILATION
#undef MTLDL_INSIDE
#endif
