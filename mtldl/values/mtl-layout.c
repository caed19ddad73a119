/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-layout-private.h"

#include "mtl-error-private.h"

static gboolean
set_overflow (GError       **error,
              const char    *what,
              const gint64  *dims,
              gsize          n_dims)
{
  g_autofree char *string = mtl_dims_to_string (dims, n_dims);

  g_set_error (error, MTL_ERROR, MTL_ERROR_OVERFLOW,
               "The %s of %s is beyond the limit of 2^63 − 1", what, string);
  return FALSE;
}

gboolean
mtl_layout_check_n_dims (gsize    n_dims,
                         GError **error)
{
  if (n_dims <= MTL_LAYOUT_MAX_DIMS)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "%" G_GSIZE_FORMAT " dimensions exceed the limit of %d", n_dims,
               MTL_LAYOUT_MAX_DIMS);
  return FALSE;
}

static gboolean
check_shape (const gint64  *shape,
             gsize          n_dims,
             guint32        item_bits,
             GError       **error)
{
  gboolean empty = FALSE;
  gint64 volume = 1;

  if (!mtl_layout_check_n_dims (n_dims, error))
    return FALSE;

  if (item_bits == 0)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "An item of 0 bits is too small: the minimum is 1");
      return FALSE;
    }

  for (gsize i = 0; i < n_dims; i++)
    {
      if (shape[i] < 0)
        {
          g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                       "The extent %" G_GINT64_FORMAT " of axis %" G_GSIZE_FORMAT " is negative:"
                       " the minimum is 0",
                       shape[i], i);
          return FALSE;
        }
      empty |= shape[i] == 0;
    }

  for (gsize i = 0; i < n_dims && !empty; i++)
    if (__builtin_mul_overflow (volume, shape[i], &volume))
      return set_overflow (error, "volume", shape, n_dims);

  return TRUE;
}

/* The offset of an element is offset + Σ index · stride, so each axis adds its whole
 * reach to one of the bounds. */
static gboolean
add_up_bounds (const gint64 *shape,
               const gint64 *strides,
               gsize         n_dims,
               gint64        offset,
               gint64       *min,
               gint64       *max)
{
  gint64 span;

  if (mtl_shape_is_empty (shape, n_dims))
    {
      *min = 0;
      *max = -1;
      return TRUE;
    }

  *min = *max = offset;
  for (gsize i = 0; i < n_dims; i++)
    {
      gint64 *bound = strides[i] < 0 ? min : max;
      gint64 reach;

      if (shape[i] > 1
          && (__builtin_mul_overflow (strides[i], shape[i] - 1, &reach)
              || __builtin_add_overflow (*bound, reach, bound)))
        return FALSE;
    }

  /* Operations may reverse axes, and move from any element to any other. */
  return !__builtin_sub_overflow (*max, *min, &span);
}

gboolean
mtl_layout_add_up_bounds (const MtlLayout *self,
                          gint64          *min,
                          gint64          *max)
{
  return add_up_bounds (mtl_layout_shape (self), mtl_layout_strides (self), self->n_dims,
                        self->offset, min, max);
}

/* Also gets the bounds, as mtl_layout_get_offset_bounds(). */
gboolean
mtl_layout_new_with_bounds (const gint64  *shape,
                            const gint64  *strides,
                            gsize          n_dims,
                            gint64         offset,
                            guint32        item_bits,
                            MtlLayout     *result,
                            gint64        *min,
                            gint64        *max,
                            GError       **error)
{
  g_auto (MtlLayout) dense = MTL_LAYOUT_INIT;
  gint64 *dims;

  if (strides == NULL)
    {
      if (!mtl_layout_new_dense (shape, n_dims, MTL_ORDER_C, item_bits, &dense, error))
        return FALSE;
      strides = mtl_layout_strides (&dense);
    }
  else if (!check_shape (shape, n_dims, item_bits, error))
    return FALSE;

  if (!add_up_bounds (shape, strides, n_dims, offset, min, max))
    return set_overflow (error, "reach of the strides", strides, n_dims);

  mtl_layout_init (result, n_dims, item_bits, offset);
  dims = mtl_layout_dims (result);
  for (gsize i = 0; i < n_dims; i++)
    {
      dims[i] = shape[i];
      dims[n_dims + i] = strides[i];
    }

  return TRUE;
}

gboolean
mtl_layout_new (const gint64  *shape,
                const gint64  *strides,
                gsize          n_dims,
                gint64         offset,
                guint32        item_bits,
                MtlLayout     *result,
                GError       **error)
{
  gint64 min, max;

  return mtl_layout_new_with_bounds (shape, strides, n_dims, offset, item_bits, result, &min, &max,
                                     error);
}

/* Any stride is valid for an extent of 1. Some importers only accept the stride of a
 * dense layout, so it is that one if it fits. */
gint64
mtl_layout_stride_before (const MtlLayout *self,
                          guint32          axis)
{
  gint64 stride;

  if (axis + 1 >= self->n_dims)
    return 1;

  if (__builtin_mul_overflow (mtl_layout_strides (self)[axis + 1],
                              MAX (mtl_layout_shape (self)[axis + 1], 1), &stride))
    return 1;

  return stride;
}

/* The strides of extents of 1 may be any number of bytes. */
static gboolean
set_byte_stride (MtlLayout     *self,
                 gsize          axis,
                 const gint64  *byte_strides,
                 GError       **error)
{
  gint64 *stride = &mtl_layout_strides (self)[axis];
  gint64 units = byte_strides[axis];
  guint32 units_per_item = self->item_bits % 8 == 0 ? self->item_bits / 8 : self->item_bits;
  gboolean fits = self->item_bits % 8 == 0 || !__builtin_mul_overflow (units, 8, &units);

  /* Most sizes are powers of 2, and divisions take longer than all the rest. */
  if (fits && (units_per_item & (units_per_item - 1)) == 0 && (units & (units_per_item - 1)) == 0)
    *stride = units >> __builtin_ctz (units_per_item);
  else if (fits && units % units_per_item == 0)
    *stride = units / units_per_item;
  else if (!mtl_layout_is_walked (self, axis))
    *stride = mtl_layout_stride_before (self, axis);
  else if (!fits)
    return set_overflow (error, "bits of the byte strides", byte_strides, self->n_dims);
  else
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "The stride of %" G_GINT64_FORMAT " bytes of axis %" G_GSIZE_FORMAT
                   " is not a multiple of an item of %u bits",
                   byte_strides[axis], axis, self->item_bits);
      return FALSE;
    }

  return TRUE;
}

/* Also gets the bounds, as mtl_layout_get_offset_bounds(). The strides may be NULL. */
gboolean
mtl_layout_new_with_byte_strides (const gint64  *shape,
                                  const gint64  *byte_strides,
                                  gsize          n_dims,
                                  guint32        item_bits,
                                  MtlLayout     *result,
                                  gint64        *min,
                                  gint64        *max,
                                  GError       **error)
{
  g_auto (MtlLayout) layout = MTL_LAYOUT_INIT;

  if (byte_strides == NULL)
    return mtl_layout_new_with_bounds (shape, NULL, n_dims, 0, item_bits, result, min, max, error);

  if (!check_shape (shape, n_dims, item_bits, error))
    return FALSE;

  mtl_layout_init (&layout, n_dims, item_bits, 0);
  if (n_dims > 0)
    memcpy (mtl_layout_shape (&layout), shape, n_dims * sizeof (gint64));

  for (gsize i = n_dims; i-- > 0;)
    if (!set_byte_stride (&layout, i, byte_strides, error))
      return FALSE;

  if (!mtl_layout_add_up_bounds (&layout, min, max))
    return set_overflow (error, "reach of the strides", mtl_layout_strides (&layout), n_dims);

  *result = layout;
  layout.n_dims = 0;
  return TRUE;
}

/* Extents of 0 count as 1, so that no stride is 0. Since the volume has been checked,
 * strides can only overflow in empty layouts. Those keep the last value that fits. */
static void
fill_dense_strides (MtlLayout *self,
                    const int *axes)
{
  const gint64 *shape = mtl_layout_shape (self);
  gint64 *strides = mtl_layout_strides (self);
  gint64 stride = 1;

  for (gsize i = self->n_dims; i > 0; i--)
    {
      int axis = axes[i - 1];
      gint64 next;

      strides[axis] = stride;
      if (!__builtin_mul_overflow (stride, MAX (shape[axis], 1), &next))
        stride = next;
    }
}

gboolean
mtl_order_check (MtlOrder   order,
                 GError   **error)
{
  if (order >= MTL_ORDER_C && order <= MTL_ORDER_ANY)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "%d is not an order: the last one is %d", order, MTL_ORDER_ANY);
  return FALSE;
}

/* Without axes that have an order, K and ANY are C order. */
gboolean
mtl_layout_new_dense (const gint64  *shape,
                      gsize          n_dims,
                      MtlOrder       order,
                      guint32        item_bits,
                      MtlLayout     *result,
                      GError       **error)
{
  int axes[MTL_LAYOUT_MAX_DIMS];

  if (!mtl_order_check (order, error))
    return FALSE;

  mtl_axes_fill (axes, MIN (n_dims, MTL_LAYOUT_MAX_DIMS), order);
  return mtl_layout_new_dense_for_axes (shape, n_dims, axes, n_dims, item_bits, result, error);
}

/* Each axis must be named once, in any order. Negative axes count from the end. */
static gboolean
check_permutation (const int  *axes,
                   gsize       n_axes,
                   gsize       n_dims,
                   int        *resolved,
                   GError    **error)
{
  guint64 seen;

  if (n_axes != n_dims)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "%" G_GSIZE_FORMAT " ax%s given for %" G_GSIZE_FORMAT " dimension%s", n_axes,
                   MTL_ES (n_axes), n_dims, MTL_S (n_dims));
      return FALSE;
    }

  return mtl_axes_resolve (axes, n_axes, n_dims, resolved, &seen, error);
}

gboolean
mtl_layout_new_dense_for_axes (const gint64  *shape,
                               gsize          n_dims,
                               const int     *axes,
                               gsize          n_axes,
                               guint32        item_bits,
                               MtlLayout     *result,
                               GError       **error)
{
  g_auto (MtlLayout) layout = MTL_LAYOUT_INIT;
  int resolved[MTL_LAYOUT_MAX_DIMS];

  if (!check_shape (shape, n_dims, item_bits, error)
      || !check_permutation (axes, n_axes, n_dims, resolved, error))
    return FALSE;

  mtl_layout_init (&layout, n_dims, item_bits, 0);
  if (n_dims > 0)
    memcpy (mtl_layout_shape (&layout), shape, n_dims * sizeof (gint64));
  fill_dense_strides (&layout, resolved);

  *result = layout;
  layout.n_dims = 0;
  return TRUE;
}

gboolean
mtl_layout_get_axes_in_order (const MtlLayout  *self,
                              MtlOrder          order,
                              int              *axes,
                              GError          **error)
{
  if (!mtl_order_check (order, error))
    return FALSE;

  if (order == MTL_ORDER_ANY)
    order = mtl_layout_is_contiguous (self, MTL_ORDER_F)
            && !mtl_layout_is_contiguous (self, MTL_ORDER_C) ? MTL_ORDER_F : MTL_ORDER_C;

  if (order == MTL_ORDER_K && !mtl_layout_is_contiguous (self, MTL_ORDER_C))
    mtl_layout_get_stride_order (self, axes);
  else
    mtl_axes_fill (axes, self->n_dims, order);

  return TRUE;
}

gboolean
mtl_layout_new_dense_like (const MtlLayout  *other,
                           MtlOrder          order,
                           MtlLayout        *result,
                           GError          **error)
{
  int axes[MTL_LAYOUT_MAX_DIMS];

  return mtl_layout_get_axes_in_order (other, order, axes, error)
         && mtl_layout_new_dense_for_axes (mtl_layout_shape (other), other->n_dims, axes,
                                           other->n_dims, other->item_bits, result, error);
}

gboolean
mtl_layout_check_n_strides (const gint64  *strides,
                            gsize          n_strides,
                            gsize          n_dims,
                            GError       **error)
{
  if (strides == NULL || n_strides == n_dims)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "%" G_GSIZE_FORMAT " stride%s given for %" G_GSIZE_FORMAT " dimension%s", n_strides,
               MTL_S (n_strides), n_dims, MTL_S (n_dims));
  return FALSE;
}

gboolean
mtl_layout_permute (const MtlLayout  *self,
                    const int        *axes,
                    gsize             n_axes,
                    MtlLayout        *result,
                    GError          **error)
{
  int resolved[MTL_LAYOUT_MAX_DIMS];

  if (!check_permutation (axes, n_axes, self->n_dims, resolved, error))
    return FALSE;

  mtl_layout_init (result, self->n_dims, self->item_bits, self->offset);
  for (guint32 i = 0; i < self->n_dims; i++)
    {
      mtl_layout_shape (result)[i] = mtl_layout_shape (self)[resolved[i]];
      mtl_layout_strides (result)[i] = mtl_layout_strides (self)[resolved[i]];
    }

  return TRUE;
}

gint64
mtl_layout_get_volume (const MtlLayout *self)
{
  const gint64 *shape = mtl_layout_shape (self);
  gint64 volume = 1;

  if (mtl_layout_is_empty (self))
    return 0;

  for (guint32 i = 0; i < self->n_dims; i++)
    volume *= shape[i];

  return volume;
}

/* Outermost first: by decreasing magnitude of the stride. Equal strides keep their
 * order, as with NumPy's order K. */
void
mtl_layout_get_stride_order (const MtlLayout *self,
                             int             *axes)
{
  const gint64 *strides = mtl_layout_strides (self);

  for (guint32 i = 0; i < self->n_dims; i++)
    {
      guint32 place = i;

      while (place > 0 && mtl_magnitude (strides[axes[place - 1]]) < mtl_magnitude (strides[i]))
        {
          axes[place] = axes[place - 1];
          place--;
        }
      axes[place] = i;
    }
}

/* (0, -1) if there are no elements. The bounds fit, since every layout is checked
 * when it is created. Modulo 2^64, the order of the additions does not matter. */
void
mtl_layout_get_offset_bounds (const MtlLayout *self,
                              gint64          *min,
                              gint64          *max)
{
  const gint64 *shape = mtl_layout_shape (self);
  const gint64 *strides = mtl_layout_strides (self);
  guint64 low = self->offset, high = self->offset;

  for (guint32 i = 0; i < self->n_dims; i++)
    {
      guint64 reach = (guint64) strides[i] * (guint64) (shape[i] - 1);

      if (shape[i] == 0)
        {
          low = 0;
          high = -1;
          break;
        }

      if (strides[i] < 0)
        low += reach;
      else
        high += reach;
    }

  *min = low;
  *max = high;
}

/* The bytes from the first element to one past the last, relative to element offset 0;
 * (0, 0) if there are no elements. */
gboolean
mtl_layout_bounds_to_bytes (gint64    min,
                            gint64    max,
                            guint32   item_bits,
                            gint64   *first,
                            gint64   *end,
                            GError  **error)
{
  gboolean whole_bytes = item_bits % 8 == 0;
  gint64 units_per_item = whole_bytes ? item_bits / 8 : item_bits;
  gint64 low, high, span;

  if (min > max)
    {
      *first = *end = 0;
      return TRUE;
    }

  if (__builtin_mul_overflow (min, units_per_item, &low)
      || __builtin_mul_overflow (max, units_per_item, &high)
      || __builtin_add_overflow (high, units_per_item + (whole_bytes ? 0 : 7), &high)
      || __builtin_sub_overflow (high, low, &span))
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_OVERFLOW,
                   "Elements %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT " of %u bits"
                   " reach beyond the limit of 2^63 − 1",
                   min, max, item_bits);
      return FALSE;
    }

  *first = whole_bytes ? low : low >> 3; /* rounds towards -∞ */
  *end = whole_bytes ? high : high >> 3;
  return TRUE;
}

gboolean
mtl_layout_get_byte_bounds (const MtlLayout  *self,
                            gint64           *first,
                            gint64           *end,
                            GError          **error)
{
  gint64 min, max;

  mtl_layout_get_offset_bounds (self, &min, &max);
  return mtl_layout_bounds_to_bytes (min, max, self->item_bits, first, end, error);
}

guint64
mtl_layout_count_bytes (const MtlLayout *self)
{
  guint64 n_bits;

  return __builtin_mul_overflow (mtl_layout_get_volume (self), self->item_bits, &n_bits)
           ? G_MAXUINT64 : n_bits / 8;
}

/* The size of the elements, if they are contiguous in C order and fill whole bytes. */
gboolean
mtl_layout_get_packed_size (const MtlLayout *self,
                            gint64          *size)
{
  gint64 volume = mtl_layout_get_volume (self);
  gint64 bits;

  if (!mtl_layout_is_contiguous (self, MTL_ORDER_C))
    return FALSE;

  if (self->item_bits % 8 == 0)
    return !__builtin_mul_overflow (volume, self->item_bits / 8, size);

  if (__builtin_mul_overflow (volume, self->item_bits, &bits) || bits % 8 != 0)
    return FALSE;

  *size = bits / 8;
  return TRUE;
}

/* Gets the size like mtl_layout_get_packed_size(), if the first element also begins at
 * a byte. That byte is relative to element offset 0. */
gboolean
mtl_layout_get_packed_bytes (const MtlLayout *self,
                             gint64          *first,
                             gint64          *size)
{
  guint bit;

  mtl_layout_get_first_byte (self, first, &bit);
  return bit == 0 && mtl_layout_get_packed_size (self, size);
}

gboolean
mtl_layout_get_required_size (const MtlLayout  *self,
                              gint64           *size,
                              GError          **error)
{
  gint64 first, end;

  if (!mtl_layout_get_byte_bounds (self, &first, &end, error))
    return FALSE;

  if (first < 0)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_OUT_OF_BOUNDS,
                   "The layout reaches %" G_GUINT64_FORMAT " bytes below its start",
                   -(guint64) first);
      return FALSE;
    }

  *size = end;
  return TRUE;
}

gint64 *
mtl_layout_dup_byte_strides (const MtlLayout  *self,
                             GError          **error)
{
  g_autofree gint64 *byte_strides = g_try_new (gint64, MAX (self->n_dims, 1));
  const gint64 *strides = mtl_layout_strides (self);

  if (byte_strides == NULL)
    {
      mtl_set_no_memory (self->n_dims * sizeof (gint64), error);
      return NULL;
    }

  for (guint32 i = 0; i < self->n_dims; i++)
    {
      gboolean whole_bytes = self->item_bits % 8 == 0;
      gint64 units;

      if (__builtin_mul_overflow (strides[i], whole_bytes ? self->item_bits / 8 : self->item_bits,
                                  &units))
        {
          g_set_error (error, MTL_ERROR, MTL_ERROR_OVERFLOW,
                       "The stride %" G_GINT64_FORMAT " of axis %u in items of %u bits is beyond"
                       " the limit of 2^63 − 1", strides[i], i, self->item_bits);
          return NULL;
        }

      if (!whole_bytes && units % 8 != 0)
        {
          g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                       "The stride %" G_GINT64_FORMAT " of axis %u in items of %u bits is not a"
                       " whole number of bytes", strides[i], i, self->item_bits);
          return NULL;
        }
      byte_strides[i] = whole_bytes ? units : units / 8;
    }

  return g_steal_pointer (&byte_strides);
}

static gboolean
is_packed (const MtlLayout *self,
           const int       *axes)
{
  const gint64 *shape = mtl_layout_shape (self);
  const gint64 *strides = mtl_layout_strides (self);
  gint64 expected = 1;

  for (guint32 i = self->n_dims; i > 0; i--)
    {
      int axis = axes[i - 1];

      if (shape[axis] == 1)
        continue;
      if (strides[axis] != expected)
        return FALSE;
      expected *= shape[axis];
    }

  return TRUE;
}

gboolean
mtl_layout_is_contiguous (const MtlLayout *self,
                          MtlOrder         order)
{
  int axes[MTL_LAYOUT_MAX_AXES];

  if (mtl_layout_is_empty (self))
    return TRUE;

  if (order == MTL_ORDER_ANY)
    return mtl_layout_is_contiguous (self, MTL_ORDER_C)
           || mtl_layout_is_contiguous (self, MTL_ORDER_F);

  if (order == MTL_ORDER_K)
    mtl_layout_get_stride_order (self, axes);
  else
    mtl_axes_fill (axes, self->n_dims, order);

  return is_packed (self, axes);
}

/* Ignores axes with fewer than two elements. */
gboolean
mtl_layout_has_negative_strides (const MtlLayout *self)
{
  for (guint32 i = 0; i < self->n_dims; i++)
    if (mtl_layout_strides (self)[i] < 0 && mtl_layout_shape (self)[i] > 1)
      return !mtl_layout_is_empty (self);

  return FALSE;
}

gboolean
mtl_layout_is_dense (const MtlLayout *self)
{
  return mtl_layout_is_empty (self)
         || (self->offset == 0 && mtl_layout_is_contiguous (self, MTL_ORDER_K));
}

gboolean
mtl_layout_equal (const MtlLayout *a,
                  const MtlLayout *b)
{
  return a->n_dims == b->n_dims && a->item_bits == b->item_bits && a->offset == b->offset
         && memcmp (mtl_layout_dims (a), mtl_layout_dims (b),
                    2 * a->n_dims * sizeof (gint64)) == 0;
}

gboolean
mtl_layout_same_shape (const MtlLayout *a,
                       const MtlLayout *b)
{
  const gint64 *a_shape = mtl_layout_shape (a), *b_shape = mtl_layout_shape (b);

  if (a->n_dims != b->n_dims)
    return FALSE;

  for (guint32 i = 0; i < a->n_dims; i++)
    if (a_shape[i] != b_shape[i])
      return FALSE;

  return TRUE;
}

guint
mtl_layout_hash (const MtlLayout *self)
{
  const gint64 *dims = mtl_layout_dims (self);
  guint64 hash = (guint64) self->n_dims << 32 | self->item_bits;

  hash = (hash ^ (guint64) self->offset) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  for (guint32 i = 0; i < 2 * self->n_dims; i++)
    hash = (hash ^ hash >> 29 ^ (guint64) dims[i]) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);

  return hash >> 32;
}

char *
mtl_layout_to_string (const MtlLayout *self)
{
  g_autofree char *shape = mtl_dims_to_string (mtl_layout_shape (self), self->n_dims);
  g_autofree char *strides = mtl_dims_to_string (mtl_layout_strides (self), self->n_dims);

  return g_strdup_printf ("shape %s, strides %s, offset %" G_GINT64_FORMAT ", items of %u bits",
                          shape, strides, self->offset, self->item_bits);
}

gboolean
mtl_axis_resolve (int      axis,
                  gsize    n_dims,
                  guint   *result,
                  GError **error)
{
  int n = n_dims;

  if (axis < -n || axis >= n)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_OUT_OF_BOUNDS,
                   "Axis %d is out of bounds for %d dimension%s", axis, n, MTL_S (n));
      return FALSE;
    }

  *result = axis < 0 ? axis + n : axis;
  return TRUE;
}

/* Each axis may be named at most once. Stores them in `resolved`, unless that is
 * NULL, and sets their bits in the mask. */
gboolean
mtl_axes_resolve (const int  *axes,
                  gsize       n_axes,
                  gsize       n_dims,
                  int        *resolved,
                  guint64    *mask,
                  GError    **error)
{
  *mask = 0;
  for (gsize i = 0; i < n_axes; i++)
    {
      guint axis;

      if (!mtl_axis_resolve (axes[i], n_dims, &axis, error))
        return FALSE;

      if (*mask >> axis & 1)
        {
          g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                       "Axis %d is named twice", axes[i]);
          return FALSE;
        }
      *mask |= G_GUINT64_CONSTANT (1) << axis;
      if (resolved != NULL)
        resolved[i] = axis;
    }

  return TRUE;
}

gboolean
mtl_index_resolve (gint64   index,
                   gint64   extent,
                   guint    axis,
                   gint64  *result,
                   GError **error)
{
  if (index < -extent || index >= extent)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_OUT_OF_BOUNDS,
                   "Index %" G_GINT64_FORMAT " is out of bounds for axis %u with extent %"
                   G_GINT64_FORMAT, index, axis, extent);
      return FALSE;
    }

  *result = index < 0 ? index + extent : index;
  return TRUE;
}

gboolean
mtl_layout_locate (const MtlLayout  *self,
                   const gint64     *indices,
                   gsize             n_indices,
                   gint64           *offset,
                   GError          **error)
{
  const gint64 *shape = mtl_layout_shape (self);
  const gint64 *strides = mtl_layout_strides (self);
  guint64 sum = self->offset; /* wraps only if an index below is out of bounds */

  if (n_indices != self->n_dims)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "%" G_GSIZE_FORMAT " ind%s given for %u dimension%s", n_indices,
                   MTL_ICES (n_indices), self->n_dims, MTL_S (self->n_dims));
      return FALSE;
    }

  for (guint32 i = 0; i < self->n_dims; i++)
    {
      gint64 index;

      if (!mtl_index_resolve (indices[i], shape[i], i, &index, error))
        return FALSE;
      sum += (guint64) index * (guint64) strides[i];
    }

  *offset = sum;
  return TRUE;
}
