/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "test-utils.h"

#include <stdlib.h>

/* All layouts of up to 3 dimensions with extents 0 to 3 and strides -3 to 3,
 * against what a list of their offsets says. */

#define MAX_ELEMENTS 27

typedef struct
{
  gint64 offsets[MAX_ELEMENTS]; /* in C order */
  gsize n;
} Elements;

/* Follows the definition: an odometer over the indices. */
static Elements
enumerate (const gint64 *shape,
           const gint64 *strides,
           gsize         n_dims,
           gint64        offset)
{
  Elements elements = { .n = 0 };
  gint64 volume = 1;

  for (gsize i = 0; i < n_dims; i++)
    volume *= shape[i];

  g_assert_cmpint (volume, <=, MAX_ELEMENTS);
  for (gint64 position = 0; position < volume; position++)
    {
      gint64 rest = position, sum = offset;

      for (gsize axis = n_dims; axis-- > 0;)
        {
          sum += rest % shape[axis] * strides[axis];
          rest /= shape[axis];
        }
      elements.offsets[elements.n++] = sum;
    }

  return elements;
}

static Elements
enumerate_layout (MtlStridedLayout *layout)
{
  gsize n_dims;
  const gint64 *shape = mtl_strided_layout_get_shape (layout, &n_dims);
  const gint64 *strides = mtl_strided_layout_get_strides (layout, &n_dims);

  return enumerate (shape, strides, n_dims, mtl_strided_layout_get_offset (layout));
}

static void
assert_same_elements (const Elements *a,
                      const Elements *b)
{
  g_assert_cmpmem (a->offsets, a->n * sizeof (gint64), b->offsets, b->n * sizeof (gint64));
}

typedef void (* LayoutFunc) (MtlStridedLayout *layout,
                             const gint64     *shape,
                             const gint64     *strides,
                             gsize             n_dims);

static void
for_each_layout (LayoutFunc func)
{
  for (gsize n_dims = 0; n_dims <= 3; n_dims++)
    {
      gint64 n_shapes = 1, n_strides = 1;

      for (gsize i = 0; i < n_dims; i++)
        {
          n_shapes *= 4;
          n_strides *= 7;
        }

      for (gint64 s = 0; s < n_shapes; s++)
        for (gint64 t = 0; t < n_strides; t++)
          {
            g_autoptr (GError) error = NULL;
            g_autoptr (MtlStridedLayout) layout = NULL;
            gint64 shape[3], strides[3], shape_rest = s, strides_rest = t;

            for (gsize i = 0; i < n_dims; i++)
              {
                shape[i] = shape_rest % 4;
                strides[i] = strides_rest % 7 - 3;
                shape_rest /= 4;
                strides_rest /= 7;
              }

            layout = mtl_strided_layout_new (shape, n_dims, strides, n_dims, 8, &error);
            g_assert_no_error (error);
            func (layout, shape, strides, n_dims);
          }
    }
}

static void
check_bounds (MtlStridedLayout *layout,
              const gint64     *shape,
              const gint64     *strides,
              gsize             n_dims)
{
  g_autoptr (GError) error = NULL;
  Elements elements = enumerate (shape, strides, n_dims, 0);
  gint64 min = 0, max = -1, actual_min, actual_max, size;
  gboolean repeated = FALSE;

  for (gsize i = 0; i < elements.n; i++)
    {
      min = i == 0 ? elements.offsets[i] : MIN (min, elements.offsets[i]);
      max = i == 0 ? elements.offsets[i] : MAX (max, elements.offsets[i]);
      for (gsize j = 0; j < i; j++)
        repeated |= elements.offsets[i] == elements.offsets[j];
    }

  mtl_strided_layout_get_offset_bounds (layout, &actual_min, &actual_max);
  g_assert_cmpint (actual_min, ==, min);
  g_assert_cmpint (actual_max, ==, max);
  g_assert_cmpint (mtl_strided_layout_get_volume (layout), ==, elements.n);
  g_assert_true (mtl_strided_layout_is_empty (layout) == (elements.n == 0));
  g_assert_true (mtl_strided_layout_is_unique (layout) == !repeated);

  size = mtl_strided_layout_get_required_size (layout, &error);
  if (min < 0)
    g_assert_error (error, MTL_ERROR, MTL_ERROR_OUT_OF_BOUNDS);
  else
    g_assert_cmpint (size, ==, max + 1);
}

static void
test_bounds (void)
{
  for_each_layout (check_bounds);
}

/* Contiguous in C order: one after the other in memory; in F order: so is the
 * transpose. */
static void
check_contiguous (MtlStridedLayout *layout,
                  const gint64     *shape,
                  const gint64     *strides,
                  gsize             n_dims)
{
  g_autoptr (MtlStridedLayout) transposed = mtl_strided_layout_transpose (layout);
  Elements elements = enumerate_layout (layout);
  Elements columns = enumerate_layout (transposed);
  gboolean c = TRUE, f = TRUE;
  gboolean seen[MAX_ELEMENTS] = { FALSE };
  gboolean dense = TRUE;

  for (gsize i = 0; i < elements.n; i++)
    {
      gint64 offset = elements.offsets[i];

      c &= offset == (gint64) i;
      f &= columns.offsets[i] == (gint64) i;
      dense &= offset >= 0 && offset < (gint64) elements.n && !seen[offset];
      if (dense)
        seen[offset] = TRUE;
    }

  g_assert_true (mtl_strided_layout_is_contiguous (layout, MTL_ORDER_C) == c);
  g_assert_true (mtl_strided_layout_is_contiguous (layout, MTL_ORDER_F) == f);
  g_assert_true (mtl_strided_layout_is_contiguous (layout, MTL_ORDER_ANY) == (c || f));
  g_assert_true (mtl_strided_layout_is_contiguous (layout, MTL_ORDER_K) == dense);
  g_assert_true (mtl_strided_layout_is_dense (layout) == dense);
}

static void
test_contiguous (void)
{
  for_each_layout (check_contiguous);
}

static void
check_dense_like (MtlStridedLayout *layout,
                  const gint64     *shape,
                  const gint64     *strides,
                  gsize             n_dims)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedLayout) k = mtl_strided_layout_to_dense (layout, MTL_ORDER_K, &error);
  g_autoptr (MtlStridedLayout) c = mtl_strided_layout_to_dense (layout, MTL_ORDER_C, &error);
  g_autoptr (MtlStridedLayout) f = mtl_strided_layout_to_dense (layout, MTL_ORDER_F, &error);
  g_autoptr (MtlStridedLayout) any = mtl_strided_layout_to_dense (layout, MTL_ORDER_ANY, &error);
  gsize n;

  g_assert_no_error (error);
  g_assert_true (mtl_strided_layout_is_dense (k));
  g_assert_true (mtl_strided_layout_is_contiguous (c, MTL_ORDER_C));
  g_assert_true (mtl_strided_layout_is_contiguous (f, MTL_ORDER_F));
  g_assert_true (mtl_strided_layout_is_contiguous (any, MTL_ORDER_ANY));
  g_assert_cmpmem (mtl_strided_layout_get_shape (k, &n), n_dims * sizeof (gint64),
                   shape, n_dims * sizeof (gint64));

  /* K keeps the places of a layout that is dense already. */
  if (mtl_strided_layout_is_dense (layout) && !mtl_strided_layout_is_empty (layout))
    {
      Elements before = enumerate_layout (layout), after = enumerate_layout (k);

      assert_same_elements (&before, &after);
    }
}

static void
test_dense_like (void)
{
  for_each_layout (check_dense_like);
}

/* TRUE if some strides lead to these offsets in that shape. Only the first step along each axis can
 * say what its stride is. */
static gboolean
can_reshape (const Elements *elements,
             const gint64   *shape,
             gsize           n_dims)
{
  gint64 strides[3], step = 1;
  Elements guess;

  if (elements->n == 0)
    return TRUE;

  for (gsize axis = n_dims; axis-- > 0;)
    {
      strides[axis] = shape[axis] > 1 ? elements->offsets[step] - elements->offsets[0] : 0;
      step *= shape[axis];
    }

  guess = enumerate (shape, strides, n_dims, elements->offsets[0]);
  return memcmp (guess.offsets, elements->offsets, elements->n * sizeof (gint64)) == 0;
}

static void
check_reshape_to (MtlStridedLayout *layout,
                  const Elements   *elements,
                  const gint64     *shape,
                  gsize             n_dims)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedLayout) reshaped = mtl_strided_layout_reshape (layout, shape, n_dims,
                                                                      &error);

  if (can_reshape (elements, shape, n_dims))
    {
      Elements actual;
      gsize n;

      g_assert_no_error (error);
      actual = enumerate_layout (reshaped);
      assert_same_elements (&actual, elements);
      g_assert_cmpmem (mtl_strided_layout_get_shape (reshaped, &n), n_dims * sizeof (gint64),
                       shape, n_dims * sizeof (gint64));
    }
  else
    g_assert_error (error, MTL_ERROR, MTL_ERROR_NEEDS_COPY);
}

static void
check_reshape (MtlStridedLayout *layout,
               const gint64     *shape,
               const gint64     *strides,
               gsize             n_dims)
{
  Elements elements = enumerate (shape, strides, n_dims, 0);
  gint64 n = elements.n;

  if (n == 0)
    {
      check_reshape_to (layout, &elements, DIMS (3, 0));
      return;
    }

  check_reshape_to (layout, &elements, DIMS (n));
  for (gint64 a = 1; a <= n; a++)
    for (gint64 b = 1; n % a == 0 && b <= n / a; b++)
      if (n / a % b == 0)
        {
          check_reshape_to (layout, &elements, DIMS (a, b, n / a / b));
          if (a * b == n)
            check_reshape_to (layout, &elements, DIMS (a, b));
        }
  if (n == 1)
    check_reshape_to (layout, &elements, NO_DIMS);
}

static void
test_reshape (void)
{
  for_each_layout (check_reshape);
}

static void
check_flatten (MtlStridedLayout *layout,
               const gint64     *shape,
               const gint64     *strides,
               gsize             n_dims)
{
  Elements elements = enumerate (shape, strides, n_dims, 0);
  guint64 mask = mtl_strided_layout_get_flatten_mask (layout);

  for (guint64 wanted = 0; wanted < (G_GUINT64_CONSTANT (1) << n_dims); wanted += 2)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedLayout) flat = mtl_strided_layout_flatten_mask (layout, wanted, &error);
      gint64 merged[3];
      gsize n = 0;

      for (gsize i = 0; i < n_dims; i++)
        if (wanted >> i & 1)
          merged[n - 1] *= shape[i];
        else
          merged[n++] = shape[i];

      if ((wanted & mask) == wanted)
        g_assert_no_error (error);

      if (can_reshape (&elements, merged, n))
        {
          Elements actual;
          gsize n_actual;

          g_assert_no_error (error);
          actual = enumerate_layout (flat);
          assert_same_elements (&actual, &elements);
          g_assert_cmpmem (mtl_strided_layout_get_shape (flat, &n_actual), n * sizeof (gint64),
                           merged, n * sizeof (gint64));
          g_assert_cmpuint (n_actual, ==, n);
        }
      else
        g_assert_error (error, MTL_ERROR, MTL_ERROR_NEEDS_COPY);

      if (n_dims < 2)
        break;
    }
}

static void
test_flatten (void)
{
  for_each_layout (check_flatten);
}

static void
check_flip (MtlStridedLayout *layout,
            const gint64     *shape,
            const gint64     *strides,
            gsize             n_dims)
{
  for (gsize axis = 0; axis < n_dims; axis++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedLayout) flipped = mtl_strided_layout_flip (layout, axis, &error);
      g_autoptr (MtlStridedLayout) back = mtl_strided_layout_flip (flipped, axis, &error);
      Elements there = enumerate_layout (layout), reversed = enumerate_layout (flipped);
      gint64 inner = 1;

      g_assert_no_error (error);
      g_assert_true (mtl_strided_layout_equal (back, layout));
      for (gsize i = axis + 1; i < n_dims; i++)
        inner *= shape[i];
      for (gint64 i = 0; i < (gint64) there.n; i++)
        {
          gint64 index = i / inner % shape[axis];
          gint64 mirror = i + (shape[axis] - 1 - 2 * index) * inner;

          g_assert_cmpint (reversed.offsets[i], ==, there.offsets[mirror]);
        }
    }
}

static void
test_flip (void)
{
  for_each_layout (check_flip);
}

/* Python's slice.indices(), as its reference describes it: start and stop are
 * clamped to 0..n going up, and to -1..n-1 going down. */
static gint64
python_clamp (gint64 value,
              gint64 extent,
              gint64 step)
{
  if (value < 0)
    {
      value += extent;
      if (value < 0)
        value = step < 0 ? -1 : 0;
    }
  else if (value >= extent)
    value = step < 0 ? extent - 1 : extent;

  return value;
}

static Elements
python_range (gint64   extent,
              gboolean has_start,
              gint64   start,
              gboolean has_stop,
              gint64   stop,
              gint64   step)
{
  Elements indices = { .n = 0 };
  gint64 from = has_start ? python_clamp (start, extent, step) : step < 0 ? extent - 1 : 0;
  gint64 to = has_stop ? python_clamp (stop, extent, step) : step < 0 ? -1 : extent;

  for (gint64 i = from; step < 0 ? i > to : i < to; i += step)
    indices.offsets[indices.n++] = i;

  return indices;
}

static void
check_range (MtlStridedLayout *layout,
             MtlSlice          slice)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedLayout) part = mtl_strided_layout_slice (layout, &slice, 1, &error);
  gint64 extent = mtl_strided_layout_get_extent (layout, 0, NULL);
  Elements whole = enumerate_layout (layout);
  Elements indices = python_range (extent, slice.has_start, slice.start,
                                   slice.has_stop, slice.stop, slice.step);
  Elements actual;

  g_assert_no_error (error);
  actual = enumerate_layout (part);
  g_assert_cmpuint (actual.n, ==, indices.n);
  for (gsize i = 0; i < actual.n; i++)
    g_assert_cmpint (actual.offsets[i], ==, whole.offsets[indices.offsets[i]]);
}

static void
test_slice (void)
{
  const gint64 strides[] = { -2, 0, 1, 3 };

  for (gint64 extent = 0; extent <= 5; extent++)
    for (gsize s = 0; s < G_N_ELEMENTS (strides); s++)
      {
        g_autoptr (MtlStridedLayout) layout =
          mtl_strided_layout_new (&extent, 1, &strides[s], 1, 8, NULL);

        for (gint64 start = -8; start <= 8; start++)
          for (gint64 stop = -8; stop <= 8; stop++)
            for (gint64 step = -4; step <= 4; step++)
              if (step != 0)
                for (int given = 0; given < 4; given++)
                  check_range (layout, (MtlSlice) { MTL_SLICE_KIND_RANGE, start, stop, step,
                                                    (given & 1) != 0, (given & 2) != 0 });
      }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/StridedLayout/brute-force/bounds", test_bounds);
  g_test_add_func ("/StridedLayout/brute-force/contiguous", test_contiguous);
  g_test_add_func ("/StridedLayout/brute-force/dense-like", test_dense_like);
  g_test_add_func ("/StridedLayout/brute-force/reshape", test_reshape);
  g_test_add_func ("/StridedLayout/brute-force/flatten", test_flatten);
  g_test_add_func ("/StridedLayout/brute-force/flip", test_flip);
  g_test_add_func ("/StridedLayout/brute-force/slice", test_slice);

  return g_test_run ();
}
