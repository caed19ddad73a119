/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Compares the elements of two tensors, a piece at a time. */

#include "mtldl-diff.h"

#include <math.h>
#include <string.h>

typedef struct
{
  double rtol;
  double atol;
  ToolSteps *steps;
  guint64 n_before; /* bytes that were done before this pair */
  gint64 n_done;    /* elements */
  ToolDifference *difference;
} Comparison;

static void
update_progress (Comparison     *self,
                 MtlStridedView *piece)
{
  guint item_bits = mtl_strided_layout_get_item_bits (mtl_strided_view_get_layout (piece));

  self->n_done += mtl_strided_view_get_volume (piece);
  tool_progress_update (self->n_before + self->n_done * item_bits / 8, self->steps->n_all,
                        &self->steps->progress);
}

/* NaN if one of them is, and infinite if only one of them is infinite. */
static double
measure_distance (const ToolNumbers *a,
                  const ToolNumbers *b,
                  gint64             i)
{
  const double re_a = tool_numbers_get_double (a, i), re_b = tool_numbers_get_double (b, i);
  const double im_a = tool_numbers_get_imaginary (a, i), im_b = tool_numbers_get_imaginary (b, i);

  if (tool_numbers_are_integers (a) && tool_numbers_are_integers (b))
    return tool_numbers_get_distance (a, b, i);
  if (isnan (re_a) || isnan (im_a) || isnan (re_b) || isnan (im_b))
    return NAN;

  /* Infinities have no difference. */
  if (im_a == im_b)
    return re_a == re_b ? 0 : fabs (re_a - re_b);

  return hypot (re_a == re_b ? 0 : re_a - re_b, im_a - im_b);
}

static gboolean
is_nan (const ToolNumbers *self,
        gint64             i)
{
  return isnan (tool_numbers_get_double (self, i)) || isnan (tool_numbers_get_imaginary (self, i));
}

static double
get_magnitude (const ToolNumbers *self,
               gint64             i)
{
  return hypot (tool_numbers_get_double (self, i), tool_numbers_get_imaginary (self, i));
}

/* 0 times an infinite element would be NaN. */
static double
get_tolerance (const Comparison  *self,
               const ToolNumbers *numbers,
               gint64             i)
{
  return self->rtol > 0 ? self->atol + self->rtol * get_magnitude (numbers, i) : self->atol;
}

/* The place of an element of a piece in all of the tensor. */
static void
set_index (ToolDifference *self,
           MtlStridedView *piece,
           const gint64   *position,
           gint64          i)
{
  gsize n_dims;
  const gint64 *shape = mtl_strided_view_get_shape (piece, &n_dims);

  for (gsize axis = n_dims; axis-- > 0;)
    {
      self->index[axis] = position[axis] + i % shape[axis];
      i /= shape[axis];
    }
}

/* Most files that are compared are mostly the same. */
static gboolean
have_same_bits (const ToolNumbers *a,
                const ToolNumbers *b)
{
  const gsize size = a->dtype == MTL_DTYPE_COMPLEX128 ? 2 * sizeof (double) : sizeof (double);

  return a->dtype == b->dtype && memcmp (a->data, b->data, a->n * size) == 0;
}

static gboolean
compare_piece (MtlStridedView  *view,
               MtlStridedView  *other,
               const gint64    *position,
               gpointer         user_data,
               GError         **error)
{
  Comparison *self = user_data;
  ToolDifference *difference = self->difference;
  g_auto (ToolNumbers) a = { NULL };
  g_auto (ToolNumbers) b = { NULL };

  if (!tool_numbers_init (&a, view, error) || !tool_numbers_init (&b, other, error))
    return FALSE;

  update_progress (self, view);
  if (difference->is_known && have_same_bits (&a, &b))
    return TRUE;

  for (gint64 i = 0; i < a.n; i++)
    {
      const double distance = measure_distance (&a, &b, i);

      if (isnan (distance))
        {
          const gboolean is_one_only = is_nan (&a, i) != is_nan (&b, i);

          difference->n_nan += is_one_only;
          difference->n_different += is_one_only;
          continue;
        }

      difference->n_different +=
        distance > 0 && (isinf (distance) || !(distance <= get_tolerance (self, &b, i)));
      if (difference->is_known && distance <= difference->greatest)
        continue;
      difference->is_known = TRUE;
      difference->greatest = distance;
      set_index (difference, view, position, i);
    }

  return TRUE;
}

/* The views have the same shape. */
gboolean
tool_compare_views (MtlStridedView  *a,
                    MtlStridedView  *b,
                    double           rtol,
                    double           atol,
                    ToolSteps       *steps,
                    ToolDifference  *difference,
                    GError         **error)
{
  Comparison comparison = {
    .rtol = rtol,
    .atol = atol,
    .steps = steps,
    .n_before = steps->n_done,
    .difference = difference,
  };

  *difference = (ToolDifference) { .n_elements = mtl_strided_view_get_volume (a) };
  return tool_visit_pieces (a, b, compare_piece, &comparison, error);
}
