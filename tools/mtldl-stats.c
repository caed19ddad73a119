/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* mtldl show --stats: minimum, maximum, mean and so on, of a tensor of any size. */

#include "mtldl-show.h"

#include <math.h>

#define PIECE 65536 /* elements processed together: they stay in the cache */

typedef enum
{
  KIND_DOUBLE, /* also for integers that are exact as doubles */
  KIND_INT64,
  KIND_UINT64,
  KIND_COMPLEX,
} Kind;

/* Of the finite elements: the mean, and the sum of the squared distances from it. */
typedef struct
{
  guint64 n;
  double mean[2]; /* real, imaginary */
  double squares;
} Moments;

typedef struct
{
  MtlDType dtype;
  MtlStridedView *piece; /* with the widest type of its kind */
  Moments moments;
  double min;
  double max;
  gint64 int_min;
  gint64 int_max;
  guint64 uint_min;
  guint64 uint_max;
  guint64 n_nan;
  guint64 n_inf;
  guint64 n_seen;
  guint64 n_all;
  ToolProgress progress;
} Stats;

static Kind
get_kind (MtlDType dtype)
{
  if (tool_dtype_is_complex (dtype))
    return KIND_COMPLEX;
  if (dtype == MTL_DTYPE_INT64)
    return KIND_INT64;
  if (dtype == MTL_DTYPE_UINT64)
    return KIND_UINT64;

  return KIND_DOUBLE;
}

static MtlDType
get_widest (MtlDType dtype)
{
  static const MtlDType widest[] = {
    [KIND_DOUBLE] = MTL_DTYPE_FLOAT64,
    [KIND_INT64] = MTL_DTYPE_INT64,
    [KIND_UINT64] = MTL_DTYPE_UINT64,
    [KIND_COMPLEX] = MTL_DTYPE_COMPLEX128,
  };

  return widest[get_kind (dtype)];
}

static void
add_moments (Moments       *self,
             const Moments *other)
{
  double n = (double) self->n + other->n;

  if (other->n == 0)
    return;

  self->squares += other->squares;
  for (guint part = 0; part < 2; part++)
    {
      double distance = other->mean[part] - self->mean[part];

      self->squares += distance * distance * (self->n / n) * other->n;
      self->mean[part] += distance * (other->n / n);
    }
  self->n += other->n;
}

/* Four sums at a time, because each addition has to wait for the one before. */
static double
add_up (const double *values,
        gsize         n)
{
  double sums[4] = { 0 };
  gsize i = 0;

  for (; i + 4 <= n; i += 4)
    {
      sums[0] += values[i];
      sums[1] += values[i + 1];
      sums[2] += values[i + 2];
      sums[3] += values[i + 3];
    }
  for (; i < n; i++)
    sums[0] += values[i];

  return sums[0] + sums[1] + sums[2] + sums[3];
}

/* Replaces the values by their distances from a number. Returns the sum of the
 * squares. */
static double
take_distances (double *values,
                gsize   n,
                double  from)
{
  double sums[2] = { 0 };
  gsize i = 0;

  for (; i + 2 <= n; i += 2)
    {
      values[i] -= from;
      values[i + 1] -= from;
      sums[0] += values[i] * values[i];
      sums[1] += values[i + 1] * values[i + 1];
    }
  for (; i < n; i++)
    {
      values[i] -= from;
      sums[0] += values[i] * values[i];
    }

  return sums[0] + sums[1];
}

/* Computes the mean first, because differences of squares would lose all digits.
 * Without rounding, the sum of the distances would be 0, so it corrects the mean. */
static void
measure (double  *values,
         gsize    n,
         guint    part,
         Moments *moments)
{
  double mean, left;

  moments->n = n;
  if (n == 0)
    return;

  mean = add_up (values, n) / n;
  moments->squares += take_distances (values, n, mean);
  left = add_up (values, n) / n;
  moments->mean[part] = mean + left;
  moments->squares -= left * left * n;
}

static void
add_int64s (Stats  *self,
            gint64 *values,
            gsize   n)
{
  double *doubles = (double *) values;
  Moments moments = { 0 };

  for (gsize i = 0; i < n; i++)
    {
      gint64 value = values[i];

      self->int_min = MIN (self->int_min, value);
      self->int_max = MAX (self->int_max, value);
      doubles[i] = value;
    }
  measure (doubles, n, 0, &moments);
  add_moments (&self->moments, &moments);
}

static void
add_uint64s (Stats   *self,
             guint64 *values,
             gsize    n)
{
  double *doubles = (double *) values;
  Moments moments = { 0 };

  for (gsize i = 0; i < n; i++)
    {
      guint64 value = values[i];

      self->uint_min = MIN (self->uint_min, value);
      self->uint_max = MAX (self->uint_max, value);
      doubles[i] = value;
    }
  measure (doubles, n, 0, &moments);
  add_moments (&self->moments, &moments);
}

/* Moves the finite values to the front. */
static void
add_doubles (Stats  *self,
             double *values,
             gsize   n)
{
  Moments moments = { 0 };
  gsize n_finite = 0;

  for (gsize i = 0; i < n; i++)
    {
      double value = values[i];

      self->n_nan += isnan (value) != 0;
      self->n_inf += isinf (value) != 0;
      if (!isfinite (value))
        continue;
      self->min = MIN (self->min, value);
      self->max = MAX (self->max, value);
      values[n_finite++] = value;
    }
  measure (values, n_finite, 0, &moments);
  add_moments (&self->moments, &moments);
}

static void
add_complexes (Stats  *self,
               double *values,
               gsize   n)
{
  double *parts[2] = { g_new (double, n), g_new (double, n) };
  Moments moments = { 0 };
  gsize n_finite = 0;

  for (gsize i = 0; i < n; i++)
    {
      double re = values[2 * i], im = values[2 * i + 1];
      gboolean is_nan = isnan (re) || isnan (im);
      gboolean is_finite = isfinite (re) && isfinite (im);

      self->n_nan += is_nan;
      self->n_inf += !is_nan && !is_finite;
      if (!is_finite)
        continue;
      parts[0][n_finite] = re;
      parts[1][n_finite++] = im;
    }

  measure (parts[0], n_finite, 0, &moments);
  measure (parts[1], n_finite, 1, &moments);
  add_moments (&self->moments, &moments);
  g_free (parts[0]);
  g_free (parts[1]);
}

static void
add_values (Stats    *self,
            gpointer  values,
            gsize     n)
{
  switch (get_kind (self->dtype))
    {
    case KIND_INT64:
      add_int64s (self, values, n);
      break;
    case KIND_UINT64:
      add_uint64s (self, values, n);
      break;
    case KIND_COMPLEX:
      add_complexes (self, values, n);
      break;
    default:
      add_doubles (self, values, n);
      break;
    }
}

static gboolean
add_piece (Stats           *self,
           MtlStridedView  *view,
           GError         **error)
{
  gint64 n = mtl_strided_view_get_volume (view);
  guint bits = mtl_dtype_get_bits (self->dtype);
  gsize n_dims;
  const gint64 *shape = mtl_strided_view_get_shape (view, &n_dims);
  g_autoptr (MtlStridedView) flat = NULL;
  g_autoptr (MtlStridedView) target = NULL;

  flat = mtl_strided_view_narrow (self->piece, 0, 0, n, 1, error);
  if (flat == NULL)
    return FALSE;
  target = mtl_strided_view_reshape (flat, shape, n_dims, error);
  if (target == NULL || !mtl_strided_view_copy_from (target, view, error))
    return FALSE;

  add_values (self, mtl_strided_view_get_data (self->piece), n);
  self->n_seen += n;
  tool_progress_update (self->n_seen * bits / 8, self->n_all * bits / 8, &self->progress);
  return TRUE;
}

static gboolean
add_view (Stats           *self,
          MtlStridedView  *view,
          GError         **error)
{
  gint64 n = mtl_strided_view_get_volume (view), extent, step;
  const gint64 *shape = mtl_strided_view_get_shape (view, NULL);
  int axis = 0;

  if (n <= PIECE)
    return add_piece (self, view, error);

  while (shape[axis] == 1)
    axis++;
  extent = shape[axis];
  step = MAX (1, PIECE / (n / extent));
  for (gint64 start = 0; start < extent; start += step)
    {
      gint64 end = MIN (start + step, extent);
      g_autoptr (MtlStridedView) part = mtl_strided_view_narrow (view, axis, start, end, 1, error);

      if (part == NULL || !add_view (self, part, error))
        return FALSE;
    }

  return TRUE;
}

/* Sorts the axes into the order of the elements in the file. */
static MtlStridedView *
sort_axes (MtlStridedView  *view,
           GError         **error)
{
  gsize n_axes;
  g_autofree int *axes = mtl_strided_view_dup_stride_order (view, &n_axes);

  return mtl_strided_view_permute (view, axes, n_axes, error);
}

/* Like NumPy prints a number of that type. */
static char *
number_to_string (MtlDType dtype,
                  double   value)
{
  g_autoptr (MtlStridedView) scalar =
    mtl_strided_view_new_from_doubles (dtype, NULL, 0, &value, 1, NULL);

  return mtl_strided_view_to_string (scalar);
}

static void
print_extremes (const Stats *self)
{
  g_autofree char *min = NULL;
  g_autofree char *max = NULL;

  switch (get_kind (self->dtype))
    {
    case KIND_INT64:
      tool_print ("min       %" G_GINT64_FORMAT "\nmax       %" G_GINT64_FORMAT "\n",
                  self->int_min, self->int_max);
      return;
    case KIND_UINT64:
      tool_print ("min       %" G_GUINT64_FORMAT "\nmax       %" G_GUINT64_FORMAT "\n",
                  self->uint_min, self->uint_max);
      return;
    case KIND_COMPLEX:
      return;
    default:
      if (tool_dtype_is_integer (self->dtype))
        {
          tool_print ("min       %.0f\nmax       %.0f\n", self->min, self->max);
          return;
        }
      min = number_to_string (self->dtype, self->min);
      max = number_to_string (self->dtype, self->max);
      tool_print ("min       %s\nmax       %s\n", min, max);
    }
}

static void
print_mean (const Stats *self)
{
  const double *mean = self->moments.mean;
  g_autofree char *re = number_to_string (MTL_DTYPE_FLOAT64, mean[0]);
  g_autofree char *im = number_to_string (MTL_DTYPE_FLOAT64, mean[1]);
  g_autofree char *deviation =
    number_to_string (MTL_DTYPE_FLOAT64, sqrt (self->moments.squares / self->moments.n));

  if (get_kind (self->dtype) == KIND_COMPLEX)
    tool_print ("mean      %s%s%sj\n", re, im[0] == '-' ? "" : "+", im);
  else
    tool_print ("mean      %s\n", re);
  tool_print ("std       %s\n", deviation);
}

static void
print (const Stats    *self,
       MtlStridedView *view)
{
  g_autofree char *dtype = mtl_dtype_to_string (self->dtype);
  gsize n_dims;
  const gint64 *shape = mtl_strided_view_get_shape (view, &n_dims);
  g_autofree char *shape_text = tool_shape_to_string (shape, n_dims);

  tool_print ("dtype     %s\nshape     %s\nelements  %" G_GUINT64_FORMAT "\n", dtype, shape_text,
              self->n_all);
  if (self->moments.n > 0)
    {
      print_extremes (self);
      print_mean (self);
    }
  tool_print ("nan       %" G_GUINT64_FORMAT "\ninf       %" G_GUINT64_FORMAT "\n", self->n_nan,
              self->n_inf);
}

gboolean
tool_print_stats (MtlStridedView  *view,
                  GError         **error)
{
  g_autoptr (MtlStridedView) sorted = sort_axes (view, error);
  MtlDType dtype = mtl_strided_view_get_dtype (view);
  gint64 n = PIECE;
  g_autoptr (MtlStridedView) piece =
    mtl_strided_view_new_empty (mtl_device_get_host (), get_widest (dtype), &n, 1, error);
  Stats stats = {
    .dtype = dtype, .piece = piece,
    .min = INFINITY, .max = -INFINITY,
    .int_min = G_MAXINT64, .int_max = G_MININT64,
    .uint_min = G_MAXUINT64, .uint_max = 0,
    .n_all = mtl_strided_view_get_volume (view),
  };
  gboolean done;

  if (sorted == NULL || piece == NULL)
    return FALSE;

  tool_progress_init (&stats.progress, "stats");
  done = add_view (&stats, sorted, error);
  tool_progress_clear (&stats.progress);
  if (done)
    print (&stats, view);
  return done;
}
