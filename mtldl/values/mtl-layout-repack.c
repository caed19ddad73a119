/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Reinterprets the memory as smaller or larger items. */

#include "mtl-layout-private.h"

#include "mtl-error.h"

static gboolean
is_dense_axis (const MtlLayout *self,
               guint32          axis)
{
  return mtl_layout_strides (self)[axis] == 1 || !mtl_layout_is_walked (self, axis);
}

static gboolean
set_needs_copy (const MtlLayout  *self,
                guint32           item_bits,
                const char       *why,
                GError          **error)
{
  g_autofree char *string = mtl_layout_to_string (self);

  g_set_error (error, MTL_ERROR, MTL_ERROR_NEEDS_COPY,
               "A layout of %s can only have items of %u bits after a copy: %s",
               string, item_bits, why);
  return FALSE;
}

static gboolean
set_overflow (const MtlLayout  *self,
              guint32           item_bits,
              GError          **error)
{
  g_autofree char *string = mtl_layout_to_string (self);

  g_set_error (error, MTL_ERROR, MTL_ERROR_OVERFLOW,
               "A layout of %s in items of %u bits goes beyond the limit of 2^63 − 1",
               string, item_bits);
  return FALSE;
}

/* Merges each `factor` contiguous items into one. */
static gboolean
pack (const MtlLayout  *self,
      guint             axis,
      gint64            factor,
      guint32           item_bits,
      MtlLayout        *result,
      GError          **error)
{
  gint64 extent = mtl_layout_shape (self)[axis];

  if (extent % factor != 0)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "The extent %" G_GINT64_FORMAT " of axis %u is not a multiple of %"
                   G_GINT64_FORMAT ": that many items of %u bits make one of %u",
                   extent, axis, factor, self->item_bits, item_bits);
      return FALSE;
    }

  if (self->offset % factor != 0 && !mtl_layout_is_empty (self))
    return set_needs_copy (self, item_bits, "the offset lies within such an item", error);

  for (guint i = 0; i < self->n_dims; i++)
    if (i != axis && mtl_layout_is_walked (self, i) && mtl_layout_strides (self)[i] % factor != 0)
      return set_needs_copy (self, item_bits, "a stride is not a whole number of such items",
                             error);

  mtl_layout_init (result, self->n_dims, item_bits, self->offset / factor);
  for (guint i = self->n_dims; i-- > 0;)
    {
      gint64 stride = mtl_layout_strides (self)[i];

      mtl_layout_shape (result)[i] = i == axis ? extent / factor : mtl_layout_shape (self)[i];
      if (i == axis)
        mtl_layout_strides (result)[i] = 1;
      else if (stride % factor == 0)
        mtl_layout_strides (result)[i] = stride / factor;
      else
        mtl_layout_strides (result)[i] = mtl_layout_stride_before (result, i);
    }

  return TRUE;
}

/* Splits each item into `factor` items. */
static gboolean
unpack (const MtlLayout  *self,
        guint             axis,
        gint64            factor,
        guint32           item_bits,
        MtlLayout        *result,
        GError          **error)
{
  gint64 shape[MTL_LAYOUT_MAX_DIMS], strides[MTL_LAYOUT_MAX_DIMS];
  gint64 offset;

  if (mtl_layout_is_empty (self))
    offset = 0;
  else if (__builtin_mul_overflow (self->offset, factor, &offset))
    return set_overflow (self, item_bits, error);

  for (guint i = 0; i < self->n_dims; i++)
    {
      shape[i] = mtl_layout_shape (self)[i];
      if (!__builtin_mul_overflow (mtl_layout_strides (self)[i], factor, &strides[i]))
        continue;
      if (mtl_layout_is_walked (self, i))
        return set_overflow (self, item_bits, error);
      strides[i] = 1;
    }

  strides[axis] = 1;
  if (__builtin_mul_overflow (shape[axis], factor, &shape[axis]))
    return set_overflow (self, item_bits, error);

  return mtl_layout_new (shape, strides, self->n_dims, offset, item_bits, result, error);
}

/* A layout without dimensions can only keep its item size. */
gboolean
mtl_layout_repack (const MtlLayout  *self,
                   guint32           item_bits,
                   int               axis,
                   MtlLayout        *result,
                   GError          **error)
{
  g_auto (MtlLayout) repacked = MTL_LAYOUT_INIT;
  guint32 larger = MAX (item_bits, self->item_bits);
  guint32 smaller = MIN (item_bits, self->item_bits);
  guint resolved;

  if (item_bits == self->item_bits && self->n_dims == 0)
    {
      mtl_layout_copy (self, result);
      return TRUE;
    }

  if (!mtl_axis_resolve (axis, self->n_dims, &resolved, error))
    return FALSE;

  if (smaller == 0 || larger % smaller != 0)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "Items of %u bits cannot become items of %u bits: one size has to be a multiple"
                   " of the other", self->item_bits, item_bits);
      return FALSE;
    }

  if (item_bits == self->item_bits)
    mtl_layout_copy (self, &repacked);
  else if (!is_dense_axis (self, resolved))
    return set_needs_copy (self, item_bits, "the items are not contiguous", error);
  else if (!(item_bits > self->item_bits ? pack : unpack) (self, resolved, larger / smaller,
                                                           item_bits, &repacked, error))
    return FALSE;

  *result = repacked;
  repacked.n_dims = 0;
  return TRUE;
}

/* The innermost axis, judged by the strides alone. Axes of extent 1 count, too, so
 * the result does not depend on the extents. If no stride is 1, it is the last axis,
 * as -1. */
int
mtl_layout_find_dense_axis (const MtlLayout *self)
{
  const gint64 *shape = mtl_layout_shape (self);
  int found = -1;

  for (guint32 axis = 0; axis < self->n_dims; axis++)
    if (mtl_layout_strides (self)[axis] == 1
        && (found < 0 || shape[found] != 1 || shape[axis] == 1))
      found = axis;

  return found;
}

gboolean
mtl_layout_spread_lanes (const MtlLayout  *self,
                         guint             lanes,
                         MtlLayout        *result,
                         GError          **error)
{
  g_auto (MtlLayout) spread = MTL_LAYOUT_INIT;
  gboolean empty = mtl_layout_is_empty (self);
  guint32 lane_bits = self->item_bits / lanes;
  gint64 volume, min, max;

  mtl_layout_init (&spread, self->n_dims + 1, lane_bits, 0);
  for (guint32 i = 0; i < self->n_dims; i++)
    {
      gint64 *stride = &mtl_layout_strides (&spread)[i];

      mtl_layout_shape (&spread)[i] = mtl_layout_shape (self)[i];
      *stride = 0;
      if (mtl_layout_is_walked (self, i)
          && __builtin_mul_overflow (mtl_layout_strides (self)[i], lanes, stride))
        return set_overflow (self, lane_bits, error);
    }
  mtl_layout_shape (&spread)[self->n_dims] = lanes;
  mtl_layout_strides (&spread)[self->n_dims] = 1;

  if (__builtin_mul_overflow (mtl_layout_get_volume (self), lanes, &volume)
      || (!empty && __builtin_mul_overflow (self->offset, lanes, &spread.offset))
      || !mtl_layout_add_up_bounds (&spread, &min, &max))
    return set_overflow (self, lane_bits, error);

  *result = spread;
  spread.n_dims = 0;
  return TRUE;
}

/* The largest items that divide max_item_bits, that mtl_layout_repack() can produce
 * along the axis, and that are aligned if element offset 0 is at the address. */
gboolean
mtl_layout_get_max_compatible_item_bits (const MtlLayout  *self,
                                         guint32           max_item_bits,
                                         guint64           address,
                                         int               axis,
                                         guint32          *item_bits,
                                         GError          **error)
{
  guint64 factor, most, alignment;
  guint resolved;

  if (!mtl_axis_resolve (axis, self->n_dims, &resolved, error))
    return FALSE;

  *item_bits = self->item_bits;
  if (max_item_bits == 0 || max_item_bits % self->item_bits != 0
      || !is_dense_axis (self, resolved))
    return TRUE;

  factor = max_item_bits / self->item_bits;
  factor = mtl_gcd (factor, mtl_layout_shape (self)[resolved]);
  if (!mtl_layout_is_empty (self))
    factor = mtl_gcd (factor, mtl_magnitude (self->offset));
  for (guint i = 0; i < self->n_dims; i++)
    if (i != resolved && mtl_layout_is_walked (self, i))
      factor = mtl_gcd (factor, mtl_magnitude (mtl_layout_strides (self)[i]));

  /* Modulo the item size, so that the address in bits does not overflow. */
  most = factor * self->item_bits;
  alignment = mtl_gcd (address % most * 8, most);
  if (alignment % self->item_bits == 0)
    *item_bits = alignment;

  return TRUE;
}
