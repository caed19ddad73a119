/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "test-utils.h"

/* Every layout of up to 3 dimensions with extents 0 to 4 and strides -7 to 7,
 * against a set of all that its elements touch. */

#define MAX_STRIDE 7
#define MAX_EXTENT 4
#define MAX_REACH (3 * (MAX_EXTENT - 1) * MAX_STRIDE)
#define MAX_BITS 16

/* The memory that elements of any type may touch, from the lowest on. */
#define ORIGIN (MAX_REACH * MAX_BITS / 8)
#define SIZE (2 * ORIGIN + MAX_BITS / 8)

typedef struct
{
  gint64 shape[3];
  gint64 strides[3];
  gsize n_dims;
} Dims;

typedef struct
{
  guint8 touched[SIZE]; /* the number of elements that have a part in the byte */
  gint64 n_elements;
  gint64 min;
  gint64 max;
  gboolean repeats;
} Touched;

/* Follows the definition: an odometer over the indices. */
static void
touch (const Dims *dims,
       guint       item_bits,
       Touched    *touched)
{
  gboolean seen[2 * MAX_REACH + 1] = { FALSE };
  gint64 volume = 1;

  memset (touched, 0, sizeof *touched);
  for (gsize i = 0; i < dims->n_dims; i++)
    volume *= dims->shape[i];

  touched->n_elements = volume;
  touched->max = volume == 0 ? -1 : 0;
  for (gint64 position = 0; position < volume; position++)
    {
      gint64 rest = position, offset = 0, first_bit;

      for (gsize axis = dims->n_dims; axis-- > 0;)
        {
          offset += rest % dims->shape[axis] * dims->strides[axis];
          rest /= dims->shape[axis];
        }

      touched->min = MIN (touched->min, offset);
      touched->max = MAX (touched->max, offset);
      touched->repeats |= seen[offset + MAX_REACH];
      seen[offset + MAX_REACH] = TRUE;

      first_bit = ORIGIN * 8 + offset * item_bits;
      for (gint64 byte = first_bit / 8; byte <= (first_bit + item_bits - 1) / 8; byte++)
        touched->touched[byte]++;
    }
}

static gboolean
next_dims (Dims *dims)
{
  for (gsize i = 0; i < dims->n_dims; i++)
    {
      if (++dims->shape[i] <= MAX_EXTENT)
        return TRUE;
      dims->shape[i] = 0;
      if (++dims->strides[i] <= MAX_STRIDE)
        return TRUE;
      dims->strides[i] = -MAX_STRIDE;
    }

  return FALSE;
}

typedef void (* DimsFunc) (const Dims *dims,
                           gpointer    user_data);

static void
for_each_dims (DimsFunc func,
               gpointer user_data)
{
  for (gsize n_dims = 0; n_dims <= 3; n_dims++)
    {
      Dims dims = { .strides = { -MAX_STRIDE, -MAX_STRIDE, -MAX_STRIDE }, .n_dims = n_dims };

      do
        func (&dims, user_data);
      while (next_dims (&dims));
    }
}

static MtlStridedLayout *
new_layout (const Dims *dims,
            guint       item_bits)
{
  g_autoptr (GError) error = NULL;
  MtlStridedLayout *layout = mtl_strided_layout_new (dims->shape, dims->n_dims, dims->strides,
                                                     dims->n_dims, item_bits, &error);

  g_assert_no_error (error);
  return layout;
}

static void
check_queries (const Dims *dims,
               gpointer    user_data)
{
  g_autoptr (MtlStridedLayout) layout = new_layout (dims, 8);
  gint64 min, max;
  Touched touched;

  touch (dims, 8, &touched);
  mtl_strided_layout_get_offset_bounds (layout, &min, &max);
  g_assert_cmpint (min, ==, touched.min);
  g_assert_cmpint (max, ==, touched.max);
  g_assert_cmpint (mtl_strided_layout_get_volume (layout), ==, touched.n_elements);
  g_assert_true (mtl_strided_layout_is_unique (layout) == !touched.repeats);
}

static void
test_queries (void)
{
  for_each_dims (check_queries, NULL);
}

typedef struct
{
  MtlBuffer *buffer;
  MtlDType dtype;
  MtlStridedView *bytes[SIZE]; /* one each */
} Memory;

static MtlStridedView *
new_view (MtlBuffer  *buffer,
          const Dims *dims,
          MtlDType    dtype)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedLayout) layout = new_layout (dims, mtl_dtype_get_bits (dtype));
  MtlStridedView *view = mtl_strided_view_new (buffer, layout, dtype, ORIGIN, &error);

  g_assert_no_error (error);
  return view;
}

static void
check_bytes (const Dims *dims,
             gpointer    user_data)
{
  Memory *memory = user_data;
  g_autoptr (MtlStridedView) view = new_view (memory->buffer, dims, memory->dtype);
  guint item_bits = mtl_dtype_get_bits (memory->dtype);
  gint64 first, last;
  Touched touched;

  touch (dims, item_bits, &touched);
  first = MAX (ORIGIN + touched.min * item_bits / 8 - 2, 0);
  last = MIN (ORIGIN + (touched.max + 1) * item_bits / 8 + 2, SIZE - 1);
  for (gint64 byte = first; byte <= last; byte++)
    g_assert_true (mtl_strided_view_overlaps (view, memory->bytes[byte])
                   == (touched.touched[byte] > 0));
}

static void
test_bytes (gconstpointer data)
{
  Memory memory = { .dtype = GPOINTER_TO_INT (data) };

  memory.buffer = mtl_buffer_new (mtl_device_get_host (), SIZE, MTL_STORAGE_MODE_HOST, NULL);
  for (gsize i = 0; i < SIZE; i++)
    {
      g_autoptr (MtlBuffer) byte = mtl_buffer_slice (memory.buffer, i, 1, NULL);
      g_autoptr (MtlStridedLayout) one = new_layout (&(Dims) { .n_dims = 0 }, 8);

      memory.bytes[i] = mtl_strided_view_new (byte, one, MTL_DTYPE_UINT8, 0, NULL);
    }

  for_each_dims (check_bytes, &memory);

  for (gsize i = 0; i < SIZE; i++)
    g_object_unref (memory.bytes[i]);
  g_object_unref (memory.buffer);
}

static Dims
random_dims (void)
{
  Dims dims = { .n_dims = g_test_rand_int_range (0, 4) };

  for (gsize i = 0; i < dims.n_dims; i++)
    {
      dims.shape[i] = g_test_rand_int_range (g_test_rand_bit () ? 0 : 2, MAX_EXTENT + 1);
      dims.strides[i] = g_test_rand_int_range (-MAX_STRIDE, MAX_STRIDE + 1);
    }

  return dims;
}

/* Two of these layouts, of any types, at any distance. */
static void
test_pairs (void)
{
  const MtlDType dtypes[] = { MTL_DTYPE_UINT2, MTL_DTYPE_FLOAT4_E2M1FN, MTL_DTYPE_FLOAT6_E2M3FN,
                              MTL_DTYPE_UINT8, MTL_DTYPE_UINT16 };
  const gint64 n_pairs = 500000;
  g_autoptr (MtlBuffer) buffer = mtl_buffer_new (mtl_device_get_host (), 2 * SIZE,
                                                 MTL_STORAGE_MODE_HOST, NULL);
  gint64 n_overlaps = 0;

  for (gint64 i = 0; i < n_pairs; i++)
    {
      MtlDType a_dtype = dtypes[g_test_rand_int_range (0, G_N_ELEMENTS (dtypes))];
      MtlDType b_dtype = dtypes[g_test_rand_int_range (0, G_N_ELEMENTS (dtypes))];
      Dims a_dims = random_dims (), b_dims = random_dims ();
      gsize distance = g_test_rand_int_range (0, 40);
      g_autoptr (MtlBuffer) behind = mtl_buffer_slice (buffer, distance, SIZE, NULL);
      g_autoptr (MtlStridedView) a = new_view (buffer, &a_dims, a_dtype);
      g_autoptr (MtlStridedView) b = new_view (behind, &b_dims, b_dtype);
      Touched a_touched, b_touched;
      gboolean overlap = FALSE;

      touch (&a_dims, mtl_dtype_get_bits (a_dtype), &a_touched);
      touch (&b_dims, mtl_dtype_get_bits (b_dtype), &b_touched);
      for (gsize byte = distance; byte < SIZE; byte++)
        overlap |= a_touched.touched[byte] > 0 && b_touched.touched[byte - distance] > 0;

      n_overlaps += overlap;
      g_assert_true (mtl_strided_view_overlaps (a, b) == overlap);
      g_assert_true (mtl_strided_view_overlaps (b, a) == overlap);
    }

  /* Neither answer is rare. */
  g_assert_cmpint (n_overlaps, >, n_pairs / 10);
  g_assert_cmpint (n_overlaps, <, n_pairs * 9 / 10);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/layout/exhaustive/queries", test_queries);
  g_test_add_data_func ("/layout/exhaustive/bytes/uint8", GINT_TO_POINTER (MTL_DTYPE_UINT8),
                        test_bytes);
  g_test_add_data_func ("/layout/exhaustive/bytes/uint16", GINT_TO_POINTER (MTL_DTYPE_UINT16),
                        test_bytes);
  g_test_add_data_func ("/layout/exhaustive/bytes/float4",
                        GINT_TO_POINTER (MTL_DTYPE_FLOAT4_E2M1FN), test_bytes);
  g_test_add_data_func ("/layout/exhaustive/bytes/int2", GINT_TO_POINTER (MTL_DTYPE_INT2),
                        test_bytes);
  g_test_add_func ("/layout/exhaustive/pairs", test_pairs);

  return g_test_run ();
}
