/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-layout-private.h"
#include "mtl-strided-layout.h"

G_BEGIN_DECLS

struct _MtlStridedLayout
{
  GObject parent_instance;

  MtlLayout layout;
};

MtlStridedLayout *mtl_strided_layout_new_take (MtlLayout *layout);

G_END_DECLS
