/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-layout-private.h"

#include "mtl-error.h"

/* Replaces a single -1 by the extent that preserves the volume. */
gboolean
mtl_layout_resolve_shape (const MtlLayout  *self,
                          const gint64     *shape,
                          gsize             n_dims,
                          gint64           *resolved,
                          GError          **error)
{
  g_autofree char *string = NULL;
  gint64 volume = mtl_layout_get_volume (self);
  gint64 product = 1;
  int unknown = -1;
  gboolean empty = FALSE, overflow = FALSE;

  if (n_dims > MTL_LAYOUT_MAX_DIMS)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "%" G_GSIZE_FORMAT " dimensions exceed the limit of %d",
                   n_dims, MTL_LAYOUT_MAX_DIMS);
      return FALSE;
    }

  for (gsize i = 0; i < n_dims; i++)
    {
      if (shape[i] < -1 || (shape[i] == -1 && unknown >= 0))
        {
          g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                       "The extent %" G_GINT64_FORMAT " of axis %" G_GSIZE_FORMAT " is negative:"
                       " only one may be −1, which stands for the rest",
                       shape[i], i);
          return FALSE;
        }

      resolved[i] = shape[i];
      empty |= shape[i] == 0;
      if (shape[i] == -1)
        unknown = i;
      else
        overflow |= __builtin_mul_overflow (product, shape[i], &product);
    }

  if (empty)
    product = 0;
  else if (overflow)
    product = -1; /* no volume is this large */

  if (unknown >= 0 && product > 0 && volume % product == 0)
    resolved[unknown] = volume / product;
  else if (unknown >= 0 || product != volume)
    {
      string = mtl_dims_to_string (shape, n_dims);
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "%" G_GINT64_FORMAT " elements cannot take the shape %s", volume, string);
      return FALSE;
    }

  return TRUE;
}

static gboolean
set_needs_copy (const MtlLayout  *self,
                const gint64     *shape,
                gsize             n_dims,
                GError          **error)
{
  g_autofree char *from = mtl_layout_to_string (self);
  g_autofree char *to = mtl_dims_to_string (shape, n_dims);

  g_set_error (error, MTL_ERROR, MTL_ERROR_NEEDS_COPY,
               "A layout of %s can only take the shape %s after a copy", from, to);
  return FALSE;
}

/* Merges axes that have equal steps through memory, and drops those of extent 1. */
static guint32
merge_axes (const MtlLayout *self,
            gint64          *extents,
            gint64          *strides)
{
  guint32 n = 0;

  for (guint32 i = 0; i < self->n_dims; i++)
    {
      gint64 extent = mtl_layout_shape (self)[i];
      gint64 stride = mtl_layout_strides (self)[i];
      gint64 step;

      if (extent == 1)
        continue;

      if (n > 0 && !__builtin_mul_overflow (stride, extent, &step) && strides[n - 1] == step)
        {
          extents[n - 1] *= extent;
          strides[n - 1] = stride;
        }
      else
        {
          extents[n] = extent;
          strides[n] = stride;
          n++;
        }
    }

  return n;
}

/* Distributes the merged axes over the new ones, from the right. */
gboolean
mtl_layout_reshape (const MtlLayout  *self,
                    const gint64     *shape,
                    gsize             n_dims,
                    MtlLayout        *result,
                    GError          **error)
{
  g_auto (MtlLayout) layout = MTL_LAYOUT_INIT;
  gint64 resolved[MTL_LAYOUT_MAX_DIMS];
  gint64 extents[MTL_LAYOUT_MAX_DIMS], strides[MTL_LAYOUT_MAX_DIMS];
  gint64 left = 1, stride = 1;
  guint32 n;

  if (!mtl_layout_resolve_shape (self, shape, n_dims, resolved, error))
    return FALSE;

  if (mtl_layout_is_empty (self))
    return mtl_layout_new (resolved, NULL, n_dims, self->offset, self->item_bits, result, error);

  n = merge_axes (self, extents, strides);
  mtl_layout_init (&layout, n_dims, self->item_bits, self->offset);
  if (n_dims > 0)
    memcpy (mtl_layout_shape (&layout), resolved, n_dims * sizeof (gint64));

  for (gsize axis = n_dims; axis-- > 0;)
    {
      gint64 extent = resolved[axis];

      if (extent == 1)
        {
          mtl_layout_strides (&layout)[axis] = mtl_layout_stride_before (&layout, axis);
          continue;
        }

      if (left == 1)
        {
          n--;
          left = extents[n];
          stride = strides[n];
        }

      if (left % extent != 0)
        return set_needs_copy (self, resolved, n_dims, error);

      mtl_layout_strides (&layout)[axis] = stride;
      left /= extent;
      if (left > 1)
        stride *= extent;
    }

  *result = layout;
  layout.n_dims = 0;
  return TRUE;
}

static gboolean
can_merge (const MtlLayout *self,
           gint64           stride,
           gint64           extent,
           guint32          axis)
{
  gint64 next = mtl_layout_shape (self)[axis];
  gint64 step;

  return next == 1 || extent == 1
         || (!__builtin_mul_overflow (mtl_layout_strides (self)[axis], next, &step)
             && stride == step);
}

/* Bit i is set if axis i continues in memory where axis i - 1 ends. */
guint64
mtl_layout_get_flatten_mask (const MtlLayout *self)
{
  gboolean empty = mtl_layout_is_empty (self);
  guint64 mask = 0;
  gint64 extent = 1, stride = 0;

  for (guint32 i = 0; i < self->n_dims; i++)
    {
      gint64 next = mtl_layout_shape (self)[i];

      if (i > 0 && (empty || can_merge (self, stride, extent, i)))
        mask |= G_GUINT64_CONSTANT (1) << i;
      else
        extent = 1;

      if (next != 1)
        {
          extent = next;
          stride = mtl_layout_strides (self)[i];
        }
    }

  return mask;
}

/* No product matters if the group of axes that this one is merged into has an extent of
 * 0. */
static gboolean
merges_with_zero (const MtlLayout *self,
                  guint64          mask,
                  guint32          axis)
{
  const gint64 *shape = mtl_layout_shape (self);
  guint32 first = axis, last = axis;

  while (mask >> first & 1)
    first--;
  while (last + 1 < self->n_dims && (mask >> (last + 1) & 1))
    last++;

  for (guint32 i = first; i <= last; i++)
    if (shape[i] == 0)
      return TRUE;

  return FALSE;
}

gboolean
mtl_layout_flatten_mask (const MtlLayout  *self,
                         guint64           mask,
                         MtlLayout        *result,
                         GError          **error)
{
  gint64 shape[MTL_LAYOUT_MAX_DIMS];
  guint64 axes = self->n_dims == MTL_LAYOUT_MAX_DIMS
                   ? G_MAXUINT64
                   : (G_GUINT64_CONSTANT (1) << self->n_dims) - 1;
  guint32 n = 0;

  if (mask & (~axes | 1))
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_OUT_OF_BOUNDS,
                   "The mask 0x%" G_GINT64_MODIFIER "x names axes that cannot be merged into"
                   " the one before: there are %u", mask, self->n_dims);
      return FALSE;
    }

  for (guint32 i = 0; i < self->n_dims; i++)
    {
      gint64 extent = mtl_layout_shape (self)[i];

      if (!(mask >> i & 1))
        shape[n++] = extent;
      else if (merges_with_zero (self, mask, i))
        shape[n - 1] = 0;
      else if (__builtin_mul_overflow (shape[n - 1], extent, &shape[n - 1]))
        {
          g_autofree char *string = mtl_layout_to_string (self);

          g_set_error (error, MTL_ERROR, MTL_ERROR_OVERFLOW,
                       "The merged extent of a layout of %s is beyond the limit of 2^63 − 1",
                       string);
          return FALSE;
        }
    }

  return mtl_layout_reshape (self, shape, n, result, error);
}

gboolean
mtl_layout_flatten (const MtlLayout  *self,
                    int               first,
                    int               last,
                    MtlLayout        *result,
                    GError          **error)
{
  const gint64 one = 1;
  guint64 mask = 0;
  guint from, to;

  if (self->n_dims == 0 && (first == 0 || first == -1) && (last == 0 || last == -1))
    return mtl_layout_reshape (self, &one, 1, result, error);

  if (!mtl_axis_resolve (first, self->n_dims, &from, error)
      || !mtl_axis_resolve (last, self->n_dims, &to, error))
    return FALSE;

  if (from > to)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "The first axis, %d, comes after the last, %d", first, last);
      return FALSE;
    }

  for (guint axis = from + 1; axis <= to; axis++)
    mask |= G_GUINT64_CONSTANT (1) << axis;

  return mtl_layout_flatten_mask (self, mask, result, error);
}
