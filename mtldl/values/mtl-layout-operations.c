/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-layout-private.h"

#include "mtl-error.h"

void
mtl_layout_transpose (const MtlLayout *self,
                      MtlLayout       *result)
{
  guint32 n = self->n_dims;

  mtl_layout_init (result, n, self->item_bits, self->offset);
  for (guint32 i = 0; i < n; i++)
    {
      mtl_layout_shape (result)[i] = mtl_layout_shape (self)[n - 1 - i];
      mtl_layout_strides (result)[i] = mtl_layout_strides (self)[n - 1 - i];
    }
}

gboolean
mtl_layout_swap_axes (const MtlLayout  *self,
                      int               axis_a,
                      int               axis_b,
                      MtlLayout        *result,
                      GError          **error)
{
  guint a, b;

  if (!mtl_axis_resolve (axis_a, self->n_dims, &a, error)
      || !mtl_axis_resolve (axis_b, self->n_dims, &b, error))
    return FALSE;

  mtl_layout_copy (self, result);
  mtl_layout_shape (result)[a] = mtl_layout_shape (self)[b];
  mtl_layout_shape (result)[b] = mtl_layout_shape (self)[a];
  mtl_layout_strides (result)[a] = mtl_layout_strides (self)[b];
  mtl_layout_strides (result)[b] = mtl_layout_strides (self)[a];
  return TRUE;
}

/* Drops the axes whose bits are set. */
static void
drop_axes (const MtlLayout *self,
           guint64          dropped,
           MtlLayout       *result)
{
  guint32 kept = 0;

  for (guint32 i = 0; i < self->n_dims; i++)
    kept += !(dropped >> i & 1);

  mtl_layout_init (result, kept, self->item_bits, self->offset);
  kept = 0;
  for (guint32 i = 0; i < self->n_dims; i++)
    {
      if (dropped >> i & 1)
        continue;
      mtl_layout_shape (result)[kept] = mtl_layout_shape (self)[i];
      mtl_layout_strides (result)[kept] = mtl_layout_strides (self)[i];
      kept++;
    }
}

void
mtl_layout_squeeze (const MtlLayout *self,
                    MtlLayout       *result)
{
  guint64 dropped = 0;

  for (guint32 i = 0; i < self->n_dims; i++)
    if (mtl_layout_shape (self)[i] == 1)
      dropped |= G_GUINT64_CONSTANT (1) << i;

  drop_axes (self, dropped, result);
}

gboolean
mtl_layout_squeeze_axes (const MtlLayout  *self,
                         const int        *axes,
                         gsize             n_axes,
                         MtlLayout        *result,
                         GError          **error)
{
  guint64 dropped;

  if (!mtl_axes_resolve (axes, n_axes, self->n_dims, NULL, &dropped, error))
    return FALSE;

  for (guint32 i = 0; i < self->n_dims; i++)
    {
      gint64 extent = mtl_layout_shape (self)[i];

      if ((dropped >> i & 1) && extent != 1)
        {
          g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                       "Axis %u has extent %" G_GINT64_FORMAT ": only an extent of 1 can be"
                       " squeezed", i, extent);
          return FALSE;
        }
    }

  drop_axes (self, dropped, result);
  return TRUE;
}

gboolean
mtl_layout_unsqueeze (const MtlLayout  *self,
                      const int        *axes,
                      gsize             n_axes,
                      MtlLayout        *result,
                      GError          **error)
{
  gsize n_dims = self->n_dims + n_axes;
  guint64 added;
  guint32 source = self->n_dims;

  if (n_axes > MTL_LAYOUT_MAX_DIMS - self->n_dims)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "%" G_GSIZE_FORMAT " new axes beside %u exceed the limit of %d dimensions",
                   n_axes, self->n_dims, MTL_LAYOUT_MAX_DIMS);
      return FALSE;
    }

  if (!mtl_axes_resolve (axes, n_axes, n_dims, NULL, &added, error))
    return FALSE;

  mtl_layout_init (result, n_dims, self->item_bits, self->offset);
  for (guint32 i = n_dims; i > 0; i--)
    {
      guint32 axis = i - 1;

      if (added >> axis & 1)
        {
          mtl_layout_shape (result)[axis] = 1;
          mtl_layout_strides (result)[axis] = mtl_layout_stride_before (result, axis);
        }
      else
        {
          source--;
          mtl_layout_shape (result)[axis] = mtl_layout_shape (self)[source];
          mtl_layout_strides (result)[axis] = mtl_layout_strides (self)[source];
        }
    }

  return TRUE;
}

static gboolean
set_cannot_broadcast (const MtlLayout  *self,
                      const gint64     *shape,
                      gsize             n_dims,
                      GError          **error)
{
  g_autofree char *from = mtl_dims_to_string (mtl_layout_shape (self), self->n_dims);
  g_autofree char *to = mtl_dims_to_string (shape, n_dims);

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "The shape %s cannot be broadcast to %s", from, to);
  return FALSE;
}

gboolean
mtl_layout_broadcast_to (const MtlLayout  *self,
                         const gint64     *shape,
                         gsize             n_dims,
                         MtlLayout        *result,
                         GError          **error)
{
  gint64 strides[MTL_LAYOUT_MAX_DIMS];
  gsize added;

  if (n_dims > MTL_LAYOUT_MAX_DIMS)
    return mtl_layout_new (shape, NULL, n_dims, 0, self->item_bits, result, error);

  if (n_dims < self->n_dims)
    return set_cannot_broadcast (self, shape, n_dims, error);

  added = n_dims - self->n_dims;
  for (gsize i = 0; i < n_dims; i++)
    {
      gint64 extent = i < added ? 1 : mtl_layout_shape (self)[i - added];

      if (shape[i] == extent && i >= added)
        strides[i] = mtl_layout_strides (self)[i - added];
      else if (extent == 1)
        strides[i] = 0;
      else
        return set_cannot_broadcast (self, shape, n_dims, error);
    }

  return mtl_layout_new (shape, strides, n_dims, self->offset, self->item_bits, result, error);
}

gboolean
mtl_layout_flip (const MtlLayout  *self,
                 int               axis,
                 MtlLayout        *result,
                 GError          **error)
{
  guint resolved;
  gint64 stride, extent;

  if (!mtl_axis_resolve (axis, self->n_dims, &resolved, error))
    return FALSE;

  /* If the stride cannot be negated, the axis has fewer than two elements. */
  extent = mtl_layout_shape (self)[resolved];
  mtl_layout_copy (self, result);
  if (__builtin_sub_overflow (0, mtl_layout_strides (self)[resolved], &stride))
    return TRUE;

  mtl_layout_strides (result)[resolved] = stride;
  if (extent > 1 && !mtl_layout_is_empty (self))
    result->offset -= stride * (extent - 1);

  return TRUE;
}
