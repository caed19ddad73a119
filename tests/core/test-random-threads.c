/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "drawn-layouts.h"
#include "test-utils.h"

/* Copies and conversions between random layouts, split over several threads:
 * against an odometer, with all bytes around and between the elements. */

#define MAX_DIMS 4
#define N_ELEMENTS 2200000
#define MAX_SIZE (16 * N_ELEMENTS)
#define MARGIN 64
#define N_CASES 8

typedef struct
{
  gint64 strides[MAX_DIMS]; /* in elements */
  gint64 first;             /* the element at all zeros */
  gint64 size;              /* in elements */
} Layout;

typedef struct
{
  gsize n_dims;
  gint64 shape[MAX_DIMS];
  Layout dest;
  Layout source;
} Case;

static void
draw_layout (const Case *self,
             Layout     *layout)
{
  const DrawnAxes axes = {
    .stepped = 25, .max_step = 5, .apart = 20, .max_gap = 3, .backwards = 20,
  };
  gint64 low, high;

  draw_strides (&axes, self->n_dims, self->shape, layout->strides);
  get_offset_bounds (self->n_dims, self->shape, layout->strides, &low, &high);
  layout->first = -low;
  layout->size = high - low + 1;
}

static void
draw_case (Case *self)
{
  gint64 rest = N_ELEMENTS;

  self->n_dims = pick (1, MAX_DIMS);
  for (gsize i = 0; i < self->n_dims; i++)
    {
      self->shape[i] = i + 1 < self->n_dims ? pick (2, happens (50) ? 7 : 119) : rest;
      rest = (rest + self->shape[i] - 1) / self->shape[i];
    }
  do
    {
      draw_layout (self, &self->dest);
      draw_layout (self, &self->source);
    }
  while (self->dest.size > MAX_SIZE || self->source.size > MAX_SIZE);
}

static gsize
get_size (MtlDType dtype)
{
  return mtl_dtype_get_bits (dtype) / 8;
}

/* Stores an element by definition. */
static void
store (guint8   *to,
       MtlDType  dtype,
       guint16   value)
{
  switch (dtype)
    {
    case MTL_DTYPE_UINT8:
      *to = (guint8) value;
      break;
    case MTL_DTYPE_FLOAT32:
      memcpy (to, &(float) { value }, sizeof (float));
      break;
    case MTL_DTYPE_INT64:
      memcpy (to, &(gint64) { value }, sizeof (gint64));
      break;
    default:
      memcpy (to, &value, sizeof value);
    }
}

static void
copy_by_odometer (const Case    *self,
                  MtlDType       dtype,
                  guint8        *dest,
                  const guint16 *source)
{
  gint64 position[MAX_DIMS] = { 0 };
  gint64 to = self->dest.first, from = self->source.first;
  gsize axis;

  do
    {
      store (dest + to * (gint64) get_size (dtype), dtype, source[from]);
      for (axis = self->n_dims; axis-- > 0;)
        {
          to += self->dest.strides[axis];
          from += self->source.strides[axis];
          if (++position[axis] < self->shape[axis])
            break;

          position[axis] = 0;
          to -= self->shape[axis] * self->dest.strides[axis];
          from -= self->shape[axis] * self->source.strides[axis];
        }
    }
  while (axis < self->n_dims);
}

static MtlStridedView *
new_view (const Case   *self,
          const Layout *lies,
          MtlDType      dtype,
          gpointer      data,
          gsize         size,
          gsize         offset)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlBuffer) buffer = mtl_buffer_new_for_data (data, size, mtl_device_get_host (),
                                                          MTL_BUFFER_FLAGS_NONE, NULL, NULL,
                                                          &error);
  g_autoptr (MtlStridedLayout) layout =
    mtl_strided_layout_new (self->shape, self->n_dims, lies->strides, self->n_dims,
                            8 * get_size (dtype), &error);
  MtlStridedView *view =
    mtl_strided_view_new (buffer, layout, dtype, offset + lies->first * get_size (dtype), &error);

  g_assert_no_error (error);
  return view;
}

static void
check_case (const Case *self,
            MtlDType    dtype)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) to = NULL;
  g_autoptr (MtlStridedView) from = NULL;
  gsize source_size = self->source.size * sizeof (guint16);
  gsize dest_size = self->dest.size * get_size (dtype) + 2 * MARGIN;
  gsize offset = pick (0, MARGIN);
  g_autofree guint16 *source = g_malloc (source_size);
  g_autofree guint8 *dest = g_malloc (dest_size);
  g_autofree guint8 *expected = g_malloc (dest_size);

  fill_at_random (source, source_size);
  for (gsize i = 0; i < dest_size; i++)
    dest[i] = expected[i] = (guint8) i;

  copy_by_odometer (self, dtype, expected + offset, source);
  from = new_view (self, &self->source, MTL_DTYPE_UINT16, source, source_size, 0);
  to = new_view (self, &self->dest, dtype, dest, dest_size, offset);
  mtl_strided_view_copy_from (to, from, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpmem (dest, dest_size, expected, dest_size);
}

static void
test_random (void)
{
  const MtlDType dtypes[] = { MTL_DTYPE_UINT16, MTL_DTYPE_UINT8, MTL_DTYPE_FLOAT32,
                              MTL_DTYPE_INT64 };

  for (int n = 0; n < N_CASES; n++)
    for (gsize i = 0; i < G_N_ELEMENTS (dtypes); i++)
      {
        Case layouts = { 0 };

        draw_case (&layouts);
        mtl_set_max_threads (pick (2, 5));
        check_case (&layouts, dtypes[i]);
      }
}

static guint
get_nibble (const guint8 *data,
            gsize         i)
{
  return data[i / 2] >> i % 2 * 4 & 0xf;
}

/* Pairs of elements share a byte, and the threads must not share any. */
static void
test_packed (void)
{
  const gint64 n_rows = 4001, n_columns = 2000;
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) source = NULL;
  g_autoptr (MtlStridedView) transposed = NULL;
  g_autoptr (MtlStridedView) dest = NULL;
  guint8 *from, *to;

  source = mtl_strided_view_new_zeros (mtl_device_get_host (), MTL_DTYPE_FLOAT4_E2M1FN,
                                       DIMS (n_columns, n_rows), MTL_STORAGE_MODE_DEFAULT, &error);
  g_assert_no_error (error);
  dest = mtl_strided_view_new_zeros (mtl_device_get_host (), MTL_DTYPE_FLOAT4_E2M1FN,
                                     DIMS (n_rows, n_columns), MTL_STORAGE_MODE_DEFAULT, &error);
  g_assert_no_error (error);
  from = mtl_strided_view_get_data (source);
  to = mtl_strided_view_get_data (dest);
  fill_at_random (from, n_rows * n_columns / 2);

  mtl_set_max_threads (4);
  transposed = mtl_strided_view_transpose (source);
  mtl_strided_view_copy_from (dest, transposed, NULL, &error);
  g_assert_no_error (error);
  for (gint64 i = 0; i < n_rows; i++)
    for (gint64 j = 0; j < n_columns; j++)
      g_assert_cmpuint (get_nibble (to, i * n_columns + j), ==,
                        get_nibble (from, j * n_rows + i));
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/Threads/random", test_random);
  g_test_add_func ("/Threads/packed", test_packed);

  return g_test_run ();
}
