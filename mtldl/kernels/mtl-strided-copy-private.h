/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-element-type-private.h"
#include "mtl-layout-private.h"

G_BEGIN_DECLS

/* Elements in the host's memory: data is where element offset 0 lies. */
typedef struct
{
  MtlElementType type;
  const MtlLayout *layout;
  guint8 *data;
} MtlStrided;

/* A run of elements along the last axis; strides in bytes. Returns whether to
 * go on. */
typedef gboolean (* MtlStridedRowFunc) (guint8       *a,
                                        gint64        a_stride,
                                        const guint8 *b,
                                        gint64        b_stride,
                                        gint64        n,
                                        gpointer      user_data);

gboolean mtl_strided_for_each_row (const MtlStrided   *a,
                                   const MtlStrided   *b,
                                   MtlStridedRowFunc   func,
                                   gpointer            user_data);
gboolean mtl_strided_copy         (const MtlStrided   *dest,
                                   const MtlStrided   *source,
                                   GError            **error);
void     mtl_strided_fill         (const MtlStrided   *dest,
                                   gconstpointer       item);
gboolean mtl_strided_may_overlap  (const MtlStrided   *a,
                                   const MtlStrided   *b);

G_END_DECLS
