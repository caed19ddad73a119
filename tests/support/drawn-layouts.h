/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

/* Numbers and layouts that GLib's test framework draws at random, by the seed that it prints. */

#define MAX_DRAWN_DIMS 64

static inline int
pick (int first,
      int last)
{
  return g_test_rand_int_range (first, last + 1);
}

static inline gboolean
happens (int percent)
{
  return pick (0, 99) < percent;
}

/* A seed is enough for many bytes, which take no time. */
static inline void
fill_at_random (gpointer data,
                gsize    size)
{
  guint8 *bytes = data;
  guint32 state = g_test_rand_int ();

  for (gsize i = 0; i < size; i++)
    {
      state = state * 1664525 + 1013904223;
      bytes[i] = state >> 24;
    }
}

/* The percentages of the axes that are not dense, and the limits for these. */
typedef struct
{
  int stepped;
  int max_step;
  int apart;
  int max_gap; /* in elements */
  int backwards;
  int repeated; /* with a stride of 0 */
} DrawnAxes;

/* Strides in elements, of axes in any order. Only along repeated axes do two indices have the same
 * element. An extent of 0 counts as 1. */
static inline void
draw_strides (const DrawnAxes *axes,
              gsize            n_dims,
              const gint64    *shape,
              gint64          *strides)
{
  gsize order[MAX_DRAWN_DIMS];
  gint64 next = 1;

  g_assert_cmpuint (n_dims, <=, MAX_DRAWN_DIMS);
  for (gsize i = 0; i < n_dims; i++)
    {
      gsize place = pick (0, i);

      order[i] = order[place];
      order[place] = i;
    }
  for (gsize i = 0; i < n_dims; i++)
    {
      gsize axis = order[i];
      gint64 step = next * (happens (axes->stepped) ? pick (1, axes->max_step) : 1);

      if (happens (axes->repeated))
        {
          strides[axis] = 0;
          continue;
        }

      strides[axis] = happens (axes->backwards) ? -step : step;
      next = step * MAX (shape[axis], 1) + (happens (axes->apart) ? pick (0, axes->max_gap) : 0);
    }
}

/* The offsets of the lowest and of the highest element from the first, if there is one. */
static inline void
get_offset_bounds (gsize         n_dims,
                   const gint64 *shape,
                   const gint64 *strides,
                   gint64       *low,
                   gint64       *high)
{
  *low = *high = 0;
  for (gsize i = 0; i < n_dims; i++)
    {
      gint64 end = strides[i] * (shape[i] - 1);

      *(end < 0 ? low : high) += end;
    }
}
