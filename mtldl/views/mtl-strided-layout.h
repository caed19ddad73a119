/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#if !defined (MTLDL_INSIDE) && !defined (MTLDL_COMPILATION)
#error "Only <mtldl/mtldl.h> can be included directly."
#endif

#include <gio/gio.h>

#include "mtl-dtype.h"
#include "mtl-enums.h"
#include "mtl-slice.h"

G_BEGIN_DECLS

#define MTL_TYPE_STRIDED_LAYOUT (mtl_strided_layout_get_type ())

MTL_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (MtlStridedLayout, mtl_strided_layout, MTL, STRIDED_LAYOUT, GObject)

MTL_AVAILABLE_IN_1_0
MtlStridedLayout *mtl_strided_layout_new                (const gint64  *shape,
                                                         gsize          n_dims,
                                                         const gint64  *strides,
                                                         gsize          n_strides,
                                                         guint          item_bits,
                                                         GError       **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedLayout *
mtl_strided_layout_new_with_byte_strides (const gint64  *shape,
                                          gsize          n_dims,
                                          const gint64  *byte_strides,
                                          gsize          n_strides,
                                          guint          item_bits,
                                          GError       **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedLayout *mtl_strided_layout_new_dense          (const gint64  *shape,
                                                         gsize          n_dims,
                                                         MtlOrder       order,
                                                         guint          item_bits,
                                                         GError       **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedLayout *mtl_strided_layout_new_dense_for_axes (const gint64  *shape,
                                                         gsize          n_dims,
                                                         const int     *axes,
                                                         gsize          n_axes,
                                                         guint          item_bits,
                                                         GError       **error)
  G_GNUC_WARN_UNUSED_RESULT;

MTL_AVAILABLE_IN_1_0
guint         mtl_strided_layout_get_n_dims        (MtlStridedLayout *self);
MTL_AVAILABLE_IN_1_0
guint         mtl_strided_layout_get_item_bits     (MtlStridedLayout *self);
MTL_AVAILABLE_IN_1_0
gint64        mtl_strided_layout_get_offset        (MtlStridedLayout *self);
MTL_AVAILABLE_IN_1_0
gint64        mtl_strided_layout_get_volume        (MtlStridedLayout *self);
MTL_AVAILABLE_IN_1_0
guint64       mtl_strided_layout_get_flatten_mask  (MtlStridedLayout *self);
MTL_AVAILABLE_IN_1_0
gboolean      mtl_strided_layout_is_dense          (MtlStridedLayout *self);
MTL_AVAILABLE_IN_1_0
gboolean      mtl_strided_layout_is_unique         (MtlStridedLayout *self);
MTL_AVAILABLE_IN_1_0
gboolean      mtl_strided_layout_is_empty          (MtlStridedLayout *self);
MTL_AVAILABLE_IN_1_0
const gint64 *mtl_strided_layout_get_shape         (MtlStridedLayout *self,
                                                    gsize            *n_dims);
MTL_AVAILABLE_IN_1_0
const gint64 *mtl_strided_layout_get_strides       (MtlStridedLayout *self,
                                                    gsize            *n_dims);
MTL_AVAILABLE_IN_1_0
gint64       *mtl_strided_layout_dup_byte_strides  (MtlStridedLayout  *self,
                                                    gsize             *n_dims,
                                                    GError           **error);
MTL_AVAILABLE_IN_1_0
int          *mtl_strided_layout_dup_stride_order  (MtlStridedLayout *self,
                                                    gsize            *n_dims);
MTL_AVAILABLE_IN_1_0
gint64        mtl_strided_layout_get_extent        (MtlStridedLayout  *self,
                                                    int                axis,
                                                    GError           **error);
MTL_AVAILABLE_IN_1_0
gint64        mtl_strided_layout_get_stride        (MtlStridedLayout  *self,
                                                    int                axis,
                                                    GError           **error);
MTL_AVAILABLE_IN_1_0
void          mtl_strided_layout_get_offset_bounds (MtlStridedLayout *self,
                                                    gint64           *min,
                                                    gint64           *max);
MTL_AVAILABLE_IN_1_0
gint64        mtl_strided_layout_get_required_size (MtlStridedLayout  *self,
                                                    GError           **error);
MTL_AVAILABLE_IN_1_0
guint         mtl_strided_layout_get_max_compatible_item_bits (MtlStridedLayout  *self,
                                                               guint              max_item_bits,
                                                               guint64            address,
                                                               int                axis,
                                                               GError           **error);
MTL_AVAILABLE_IN_1_0
gboolean      mtl_strided_layout_is_contiguous     (MtlStridedLayout *self,
                                                    MtlOrder          order);
MTL_AVAILABLE_IN_1_0
gboolean          mtl_strided_layout_equal              (MtlStridedLayout *self,
                                                         MtlStridedLayout *other);
MTL_AVAILABLE_IN_1_0
guint             mtl_strided_layout_hash               (MtlStridedLayout  *self);
MTL_AVAILABLE_IN_1_0
char             *mtl_strided_layout_to_string          (MtlStridedLayout  *self);

MTL_AVAILABLE_IN_1_0
MtlStridedLayout *mtl_strided_layout_reshape      (MtlStridedLayout  *self,
                                                   const gint64      *shape,
                                                   gsize              n_dims,
                                                   GError           **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedLayout *mtl_strided_layout_flatten      (MtlStridedLayout  *self,
                                                   int                first,
                                                   int                last,
                                                   GError           **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedLayout *mtl_strided_layout_flatten_mask (MtlStridedLayout  *self,
                                                   guint64            mask,
                                                   GError           **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedLayout *mtl_strided_layout_permute      (MtlStridedLayout  *self,
                                                   const int         *axes,
                                                   gsize              n_axes,
                                                   GError           **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedLayout *mtl_strided_layout_transpose    (MtlStridedLayout *self)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedLayout *mtl_strided_layout_swap_axes    (MtlStridedLayout  *self,
                                                   int                axis_a,
                                                   int                axis_b,
                                                   GError           **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedLayout *mtl_strided_layout_squeeze      (MtlStridedLayout *self)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedLayout *mtl_strided_layout_squeeze_axes (MtlStridedLayout  *self,
                                                   const int         *axes,
                                                   gsize              n_axes,
                                                   GError           **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedLayout *mtl_strided_layout_unsqueeze    (MtlStridedLayout  *self,
                                                   const int         *axes,
                                                   gsize              n_axes,
                                                   GError           **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedLayout *mtl_strided_layout_broadcast_to (MtlStridedLayout  *self,
                                                   const gint64      *shape,
                                                   gsize              n_dims,
                                                   GError           **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedLayout *mtl_strided_layout_narrow       (MtlStridedLayout  *self,
                                                   int                axis,
                                                   gint64             start,
                                                   gint64             stop,
                                                   gint64             step,
                                                   GError           **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedLayout *mtl_strided_layout_select       (MtlStridedLayout  *self,
                                                   int                axis,
                                                   gint64             index,
                                                   GError           **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedLayout *mtl_strided_layout_flip         (MtlStridedLayout  *self,
                                                   int                axis,
                                                   GError           **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedLayout *mtl_strided_layout_slice        (MtlStridedLayout  *self,
                                                   const MtlSlice    *slices,
                                                   gsize              n_slices,
                                                   GError           **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedLayout *mtl_strided_layout_slice_string (MtlStridedLayout  *self,
                                                   const char        *string,
                                                   GError           **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedLayout *mtl_strided_layout_repack       (MtlStridedLayout  *self,
                                                   guint              item_bits,
                                                   int                axis,
                                                   GError           **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedLayout *mtl_strided_layout_to_dense           (MtlStridedLayout  *self,
                                                         MtlOrder           order,
                                                         GError           **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedLayout *mtl_strided_layout_fit_metal_tensor     (MtlStridedLayout     *self,
                                                           MtlDType              dtype,
                                                           MtlMetalTensorUsage   usage,
                                                           GError              **error)
  G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
