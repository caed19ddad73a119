/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-element-type-private.h"
#include "mtl-layout-private.h"
#include "mtl-threads-private.h"

G_BEGIN_DECLS

/* Elements in the host's memory. Element offset 0 is at data. */
typedef struct
{
  MtlElementType type;
  const MtlLayout *layout;
  guint8 *data;
} MtlStrided;

/* A run of elements along the last axis. The first begins `bit` bits after `data`,
 * and each of the others `stride` bits after the one before. */
typedef struct
{
  guint8 *data;
  gint64 bit;
  gint64 stride;
} MtlStridedRow;

/* Returns the byte in which an element of a row begins, at its bit `bit`. */
static inline guint8 *
mtl_strided_row_locate (const MtlStridedRow *self,
                        gint64               i,
                        guint               *bit)
{
  gint64 position = self->bit + i * self->stride;

  *bit = position & 7;
  return self->data + (position >> 3);
}

/* Returns whether to continue. */
typedef gboolean                       (* MtlStridedRowFunc) (const MtlStridedRow *a,
                                        const MtlStridedRow *b,
                                        gint64               n,
                                        gpointer             user_data);

gboolean mtl_strided_for_each_row (const MtlStrided   *a,
                                   const MtlStrided   *b,
                                   MtlStridedRowFunc   func,
                                   gpointer            user_data);
gboolean mtl_strided_copy         (const MtlStrided   *dest,
                                   const MtlStrided   *source,
                                   const MtlMonitor   *monitor,
                                   GError            **error);
gboolean mtl_strided_copy_scaled  (const MtlStrided   *dest,
                                   const MtlStrided   *source,
                                   const double       *factors,
                                   const MtlMonitor   *monitor,
                                   GError            **error);
gboolean mtl_strided_fill         (const MtlStrided   *dest,
                                   gconstpointer       item,
                                   const MtlMonitor   *monitor,
                                   GError            **error);
gboolean mtl_strided_may_overlap  (const MtlStrided   *a,
                                   const MtlStrided   *b);

G_END_DECLS
