/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Pieces of tensors of any size, and their elements as numbers. */

#include "mtldl-tool.h"

#define PIECE 65536 /* elements */
#define MAX_DIMS 64

typedef struct
{
  ToolPieceFunc func;
  gpointer user_data;
  gint64 position[MAX_DIMS];
} Walk;

static gboolean visit (Walk            *self,
                       MtlStridedView  *view,
                       MtlStridedView  *other,
                       gsize            axis,
                       GError         **error);

static gboolean
visit_part (Walk            *self,
            MtlStridedView  *view,
            MtlStridedView  *other,
            gsize            axis,
            gint64           begin,
            gint64           end,
            GError         **error)
{
  g_autoptr (MtlStridedView) part = mtl_strided_view_narrow (view, axis, begin, end, 1, error);
  g_autoptr (MtlStridedView) other_part =
    part != NULL && other != NULL ? mtl_strided_view_narrow (other, axis, begin, end, 1, error)
                                  : NULL;
  gboolean done;

  if (part == NULL || (other != NULL && other_part == NULL))
    return FALSE;

  self->position[axis] = begin;
  done = visit (self, part, other_part, axis + 1, error);
  self->position[axis] = 0;
  return done;
}

static gboolean
visit (Walk            *self,
       MtlStridedView  *view,
       MtlStridedView  *other,
       gsize            axis,
       GError         **error)
{
  const gint64 volume = mtl_strided_view_get_volume (view);
  gsize n_dims;
  const gint64 *shape = mtl_strided_view_get_shape (view, &n_dims);
  gint64 step;

  if (volume <= PIECE)
    return volume == 0 || self->func (view, other, self->position, self->user_data, error);

  while (shape[axis] == 1)
    axis++;
  step = CLAMP (PIECE / (volume / shape[axis]), 1, shape[axis]);
  for (gint64 begin = 0; begin < shape[axis]; begin += step)
    if (!visit_part (self, view, other, axis, begin, MIN (begin + step, shape[axis]), error))
      return FALSE;

  return TRUE;
}

/* Calls the function for pieces of the view in their order and, unless it is NULL, of
 * another view of the same shape. */
gboolean
tool_visit_pieces (MtlStridedView  *view,
                   MtlStridedView  *other,
                   ToolPieceFunc    func,
                   gpointer         user_data,
                   GError         **error)
{
  Walk walk = { .func = func, .user_data = user_data };

  return visit (&walk, view, other, 0, error);
}

static MtlDType
widen (MtlDType dtype)
{
  if (tool_dtype_is_complex (dtype))
    return MTL_DTYPE_COMPLEX128;
  if (dtype == MTL_DTYPE_UINT64)
    return MTL_DTYPE_UINT64;

  return tool_dtype_is_integer (dtype) ? MTL_DTYPE_INT64 : MTL_DTYPE_FLOAT64;
}

/* Every number has the same value in the wider type. */
gboolean
tool_numbers_init (ToolNumbers     *self,
                   MtlStridedView  *view,
                   GError         **error)
{
  const MtlDType dtype = mtl_strided_view_get_dtype (view), wide = widen (dtype);

  /* A view that has the type already may be strided or misaligned. */
  self->view = dtype == wide ? mtl_strided_view_copy (view, MTL_ORDER_C, NULL, error)
                             : mtl_strided_view_to_dtype (view, wide, MTL_ORDER_C, NULL, error);
  if (self->view == NULL)
    return FALSE;

  self->dtype = wide;
  self->n = mtl_strided_view_get_volume (self->view);
  self->data = mtl_strided_view_get_data (self->view);
  return TRUE;
}

void
tool_numbers_clear (ToolNumbers *self)
{
  g_clear_object (&self->view);
}

gboolean
tool_numbers_are_integers (const ToolNumbers *self)
{
  return self->dtype == MTL_DTYPE_INT64 || self->dtype == MTL_DTYPE_UINT64;
}

/* Integers of more than 53 bits are rounded. */
double
tool_numbers_get_double (const ToolNumbers *self,
                         gint64             i)
{
  switch (self->dtype)
    {
    case MTL_DTYPE_INT64:
      return ((const gint64 *) self->data)[i];
    case MTL_DTYPE_UINT64:
      return ((const guint64 *) self->data)[i];
    case MTL_DTYPE_COMPLEX128:
      return ((const double *) self->data)[2 * i];
    default:
      return ((const double *) self->data)[i];
    }
}

double
tool_numbers_get_imaginary (const ToolNumbers *self,
                            gint64             i)
{
  return self->dtype == MTL_DTYPE_COMPLEX128 ? ((const double *) self->data)[2 * i + 1] : 0;
}

/* Returns the low 64 bits of an integer, and sets whether it is negative. */
static guint64
get_integer (const ToolNumbers *self,
             gint64             i,
             gboolean          *is_negative)
{
  const guint64 bits = ((const guint64 *) self->data)[i];

  *is_negative = self->dtype == MTL_DTYPE_INT64 && (gint64) bits < 0;
  return bits;
}

/* The distance of two integers, exactly if it fits in 64 bits. */
long double
tool_numbers_get_distance (const ToolNumbers *a,
                           const ToolNumbers *b,
                           gint64             i)
{
  gboolean a_is_negative, b_is_negative;
  const guint64 x = get_integer (a, i, &a_is_negative), y = get_integer (b, i, &b_is_negative);

  if (a_is_negative == b_is_negative)
    return x > y ? x - y : y - x;

  return a_is_negative ? (long double) y + (0 - x) : (long double) x + (0 - y);
}
