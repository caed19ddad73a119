/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <string.h>

#include "mtl-enums.h"
#include "mtl-message-text-private.h"
#include "mtl-slice.h"

G_BEGIN_DECLS

#define MTL_LAYOUT_MAX_DIMS 64
#define MTL_LAYOUT_MAX_AXES (MTL_LAYOUT_MAX_DIMS + 1) /* including the axis of the lanes */
#define MTL_LAYOUT_INLINE_DIMS 8

/* Maps indices to memory. Shape and strides are stored together: inline for up to
 * MTL_LAYOUT_INLINE_DIMS dimensions, otherwise in a separate block.
 *
 * Every layout that a function here returns satisfies:
 *  - 0 <= n_dims <= 64, extents >= 0, item_bits > 0;
 *  - the volume, the offsets of all elements and the distance between any two
 *    elements fit a gint64.
 *
 * Functions that can fail leave `result` untouched on error. `result` is never one of
 * the arguments, and is not cleared before it is written. */
typedef struct
{
  guint32 n_dims;
  guint32 item_bits;
  gint64 offset; /* the offset of the element with all indices 0, in elements */
  union
  {
    gint64 here[2 * MTL_LAYOUT_INLINE_DIMS];
    gint64 *spill;
  } dims;
} MtlLayout;

#define MTL_LAYOUT_INIT { .n_dims = 0, .item_bits = 8 }

static inline gint64 *
mtl_layout_dims (const MtlLayout *self)
{
  return self->n_dims <= MTL_LAYOUT_INLINE_DIMS ? (gint64 *) self->dims.here : self->dims.spill;
}

static inline gint64 *
mtl_layout_shape (const MtlLayout *self)
{
  return mtl_layout_dims (self);
}

static inline gint64 *
mtl_layout_strides (const MtlLayout *self)
{
  return mtl_layout_dims (self) + self->n_dims;
}

static inline gboolean
mtl_shape_is_empty (const gint64 *shape,
                    gsize         n_dims)
{
  for (gsize i = 0; i < n_dims; i++)
    if (shape[i] == 0)
      return TRUE;

  return FALSE;
}

static inline gboolean
mtl_layout_is_empty (const MtlLayout *self)
{
  return mtl_shape_is_empty (mtl_layout_shape (self), self->n_dims);
}

/* The stride of an axis only matters if it has several indices, and the layout is not
 * empty. */
static inline gboolean
mtl_layout_is_walked (const MtlLayout *self,
                      guint32          axis)
{
  return mtl_layout_shape (self)[axis] > 1 && !mtl_layout_is_empty (self);
}

/* The position of the first element, 0 if there is none. The byte bounds of the
 * layout must fit. */
static inline void
mtl_layout_get_first_byte (const MtlLayout *self,
                           gint64          *byte,
                           guint           *bit)
{
  gint64 offset = mtl_layout_is_empty (self) ? 0 : self->offset;

  if (self->item_bits % 8 == 0)
    {
      *byte = offset * (self->item_bits / 8);
      *bit = 0;
    }
  else
    {
      *byte = (offset * self->item_bits) >> 3;
      *bit = (offset * self->item_bits) & 7;
    }
}

/* Makes room for n_dims dimensions. The caller sets their values. */
static inline void
mtl_layout_init (MtlLayout *self,
                 guint32    n_dims,
                 guint32    item_bits,
                 gint64     offset)
{
  self->n_dims = n_dims;
  self->item_bits = item_bits;
  self->offset = offset;
  if (n_dims > MTL_LAYOUT_INLINE_DIMS)
    self->dims.spill = g_new (gint64, 2 * n_dims);
}

static inline void
mtl_layout_clear (MtlLayout *self)
{
  if (self->n_dims > MTL_LAYOUT_INLINE_DIMS)
    g_free (self->dims.spill);
  self->n_dims = 0;
}

static inline void
mtl_layout_copy (const MtlLayout *self,
                 MtlLayout       *result)
{
  mtl_layout_init (result, self->n_dims, self->item_bits, self->offset);
  memcpy (mtl_layout_dims (result), mtl_layout_dims (self), 2 * self->n_dims * sizeof (gint64));
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (MtlLayout, mtl_layout_clear)

static inline guint64
mtl_magnitude (gint64 value)
{
  return value < 0 ? -(guint64) value : (guint64) value;
}

/* The greatest common divisor. If one number is 0, it is the other one. */
static inline guint64
mtl_gcd (guint64 a,
         guint64 b)
{
  while (b != 0)
    {
      guint64 rest = a % b;

      a = b;
      b = rest;
    }

  return a;
}

/* Construction: mtl-layout.c. */
gboolean  mtl_layout_check_n_dims     (gsize             n_dims,
                                       GError          **error);
gboolean  mtl_layout_new              (const gint64  *shape,
                                       const gint64  *strides,
                                       gsize          n_dims,
                                       gint64         offset,
                                       guint32        item_bits,
                                       MtlLayout     *result,
                                       GError       **error);
gboolean  mtl_layout_new_with_bounds  (const gint64  *shape,
                                       const gint64  *strides,
                                       gsize          n_dims,
                                       gint64         offset,
                                       guint32        item_bits,
                                       MtlLayout     *result,
                                       gint64        *min,
                                       gint64        *max,
                                       GError       **error);
gboolean  mtl_layout_new_with_byte_strides (const gint64  *shape,
                                            const gint64  *byte_strides,
                                            gsize          n_dims,
                                            guint32        item_bits,
                                            MtlLayout     *result,
                                            gint64        *min,
                                            gint64        *max,
                                            GError       **error);
gboolean  mtl_layout_new_dense        (const gint64  *shape,
                                       gsize          n_dims,
                                       MtlOrder       order,
                                       guint32        item_bits,
                                       MtlLayout     *result,
                                       GError       **error);
gboolean  mtl_layout_new_dense_for_axes (const gint64  *shape,
                                         gsize          n_dims,
                                         const int     *axes,
                                         gsize          n_axes,
                                         guint32        item_bits,
                                         MtlLayout     *result,
                                         GError       **error);

/* In F order, or else in C order. */
static inline void
mtl_axes_fill (int      *axes,
               gsize     n_dims,
               MtlOrder  order)
{
  for (gsize i = 0; i < n_dims; i++)
    axes[i] = order == MTL_ORDER_F ? n_dims - 1 - i : i;
}

gboolean  mtl_order_check             (MtlOrder  order,
                                       GError  **error);

/* The axes from the outermost to the innermost, as a dense layout of that order has them. */
gboolean  mtl_layout_get_axes_in_order (const MtlLayout  *self,
                                        MtlOrder          order,
                                        int              *axes,
                                        GError          **error);
gboolean  mtl_layout_new_dense_like   (const MtlLayout  *other,
                                       MtlOrder          order,
                                       MtlLayout        *result,
                                       GError          **error);
gboolean  mtl_layout_check_n_strides  (const gint64  *strides,
                                       gsize          n_strides,
                                       gsize          n_dims,
                                       GError       **error);

gboolean  mtl_layout_add_up_bounds    (const MtlLayout *self,
                                       gint64          *min,
                                       gint64          *max);

/* Queries */
gint64    mtl_layout_get_volume       (const MtlLayout  *self);
void      mtl_layout_get_stride_order (const MtlLayout *self,
                                       int             *axes);
void      mtl_layout_get_offset_bounds (const MtlLayout *self,
                                        gint64          *min,
                                        gint64          *max);
gboolean  mtl_layout_bounds_to_bytes  (gint64    min,
                                       gint64    max,
                                       guint32   item_bits,
                                       gint64   *first,
                                       gint64   *end,
                                       GError  **error);
gboolean  mtl_layout_get_byte_bounds  (const MtlLayout  *self,
                                       gint64           *first,
                                       gint64           *end,
                                       GError          **error);
/* The bytes of all elements, for progress: the greatest number if there are more. */
guint64   mtl_layout_count_bytes      (const MtlLayout *self);
gboolean  mtl_layout_get_packed_size  (const MtlLayout *self,
                                       gint64          *size);
gboolean  mtl_layout_get_packed_bytes (const MtlLayout *self,
                                       gint64          *first,
                                       gint64          *size);
gboolean  mtl_layout_get_required_size (const MtlLayout  *self,
                                        gint64           *size,
                                        GError          **error);
gint64   *mtl_layout_dup_byte_strides (const MtlLayout  *self,
                                       GError          **error);
gboolean  mtl_layout_is_contiguous    (const MtlLayout *self,
                                       MtlOrder         order);
gboolean  mtl_layout_is_dense         (const MtlLayout  *self);
gboolean  mtl_layout_has_negative_strides (const MtlLayout *self);
gboolean  mtl_layout_equal            (const MtlLayout *a,
                                       const MtlLayout *b);
gboolean  mtl_layout_same_shape       (const MtlLayout *a,
                                       const MtlLayout *b);
guint     mtl_layout_hash             (const MtlLayout  *self);
char     *mtl_layout_to_string        (const MtlLayout  *self);
gboolean  mtl_axis_resolve            (int      axis,
                                       gsize    n_dims,
                                       guint   *result,
                                       GError **error);
gboolean  mtl_axes_resolve            (const int  *axes,
                                       gsize       n_axes,
                                       gsize       n_dims,
                                       int        *resolved,
                                       guint64    *mask,
                                       GError    **error);
gboolean  mtl_index_resolve           (gint64   index,
                                       gint64   extent,
                                       guint    axis,
                                       gint64  *result,
                                       GError **error);
gboolean  mtl_layout_locate           (const MtlLayout  *self,
                                       const gint64     *indices,
                                       gsize             n_indices,
                                       gint64           *offset,
                                       GError          **error);

/* mtl-layout-overlap.c */
gboolean  mtl_layout_is_unique        (const MtlLayout  *self);
gboolean  mtl_layout_overlaps         (const MtlLayout *a,
                                       const MtlLayout *b,
                                       gint64           distance);

/* Operations that keep the elements: mtl-layout.c (permute) and
 * mtl-layout-operations.c. */
gboolean  mtl_layout_permute          (const MtlLayout  *self,
                                       const int        *axes,
                                       gsize             n_axes,
                                       MtlLayout        *result,
                                       GError          **error);
void      mtl_layout_transpose        (const MtlLayout *self,
                                       MtlLayout       *result);
gboolean  mtl_layout_swap_axes        (const MtlLayout  *self,
                                       int               axis_a,
                                       int               axis_b,
                                       MtlLayout        *result,
                                       GError          **error);
void      mtl_layout_squeeze          (const MtlLayout *self,
                                       MtlLayout       *result);
gboolean  mtl_layout_squeeze_axes     (const MtlLayout  *self,
                                       const int        *axes,
                                       gsize             n_axes,
                                       MtlLayout        *result,
                                       GError          **error);
gboolean  mtl_layout_unsqueeze        (const MtlLayout  *self,
                                       const int        *axes,
                                       gsize             n_axes,
                                       MtlLayout        *result,
                                       GError          **error);
gboolean  mtl_layout_broadcast_to     (const MtlLayout  *self,
                                       const gint64     *shape,
                                       gsize             n_dims,
                                       MtlLayout        *result,
                                       GError          **error);
gboolean  mtl_layout_flip             (const MtlLayout  *self,
                                       int               axis,
                                       MtlLayout        *result,
                                       GError          **error);

gint64    mtl_layout_stride_before    (const MtlLayout *self,
                                       guint32          axis);

/* Shapes */
gboolean  mtl_layout_reshape          (const MtlLayout  *self,
                                       const gint64     *shape,
                                       gsize             n_dims,
                                       MtlLayout        *result,
                                       GError          **error);
gboolean  mtl_layout_resolve_shape    (const MtlLayout  *self,
                                       const gint64     *shape,
                                       gsize             n_dims,
                                       gint64           *resolved,
                                       GError          **error);
gboolean  mtl_layout_flatten          (const MtlLayout  *self,
                                       int               first,
                                       int               last,
                                       MtlLayout        *result,
                                       GError          **error);
guint64   mtl_layout_get_flatten_mask (const MtlLayout  *self);
gboolean  mtl_layout_flatten_mask     (const MtlLayout  *self,
                                       guint64           mask,
                                       MtlLayout        *result,
                                       GError          **error);

/* Items of another size */
gboolean  mtl_layout_repack           (const MtlLayout  *self,
                                       guint32           item_bits,
                                       int               axis,
                                       MtlLayout        *result,
                                       GError          **error);
int       mtl_layout_find_dense_axis  (const MtlLayout  *self);
gboolean  mtl_layout_get_max_compatible_item_bits (const MtlLayout  *self,
                                                   guint32           max_item_bits,
                                                   guint64           address,
                                                   int               axis,
                                                   guint32          *item_bits,
                                                   GError          **error);

/* Makes the lanes an axis. The result may have MTL_LAYOUT_MAX_AXES dimensions. */
gboolean  mtl_layout_spread_lanes     (const MtlLayout  *self,
                                       guint             lanes,
                                       MtlLayout        *result,
                                       GError          **error);

/* Slices */
gboolean  mtl_layout_narrow           (const MtlLayout  *self,
                                       int               axis,
                                       gint64            start,
                                       gint64            stop,
                                       gint64            step,
                                       MtlLayout        *result,
                                       GError          **error);
gboolean  mtl_layout_select           (const MtlLayout  *self,
                                       int               axis,
                                       gint64            index,
                                       MtlLayout        *result,
                                       GError          **error);
gboolean  mtl_layout_slice            (const MtlLayout  *self,
                                       const MtlSlice   *slices,
                                       gsize             n_slices,
                                       MtlLayout        *result,
                                       GError          **error);
gboolean  mtl_layout_slice_string     (const MtlLayout  *self,
                                       const char       *string,
                                       MtlLayout        *result,
                                       GError          **error);

G_END_DECLS
