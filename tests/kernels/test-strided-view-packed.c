/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Elements of part of a byte, padded ones, and ones of several lanes. */

#include "dlpack-producer.h"

#include <math.h>

enum
{
  CODE_INT,
  CODE_UINT,
};

static const MtlDType packed_types[] = {
  MTL_DTYPE_FLOAT4_E2M1FN, MTL_DTYPE_FLOAT6_E2M3FN, MTL_DTYPE_FLOAT6_E3M2FN,
  MTL_DTYPE_INT2, MTL_DTYPE_INT4, MTL_DTYPE_UINT2, MTL_DTYPE_UINT4,
};

/* The values that all floats have. */
static const double values[] = { 0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.5, -1, -1.5, -2, -3, -4, -6 };

#define N_VALUES (G_N_ELEMENTS (values))

/* One of N_VALUES that the type has, over and over. */
static double
get_value (MtlDType dtype,
           gsize    i)
{
  gint n = 1 << mtl_dtype_get_bits (dtype) % 8;

  switch (dtype >> 8)
    {
    case CODE_INT:
      return (gint) (i % N_VALUES) % n - n / 2;
    case CODE_UINT:
      return (gint) (i % N_VALUES) % n;
    default:
      return values[i % N_VALUES];
    }
}

static MtlStridedView *
new_view (MtlDType dtype,
          gsize    n)
{
  g_autoptr (GError) error = NULL;
  g_autofree double *doubles = g_new (double, n);
  MtlStridedView *view;

  for (gsize i = 0; i < n; i++)
    doubles[i] = get_value (dtype, i);
  view = mtl_strided_view_new_from_doubles (doubles, n, dtype, DIMS (n), &error);
  g_assert_no_error (error);
  return view;
}

static void
assert_value (MtlStridedView *view,
              gint64          i,
              double          expected)
{
  g_autoptr (GError) error = NULL;

  g_assert_cmpfloat (mtl_strided_view_get_double (view, DIMS (i), &error), ==, expected);
  g_assert_no_error (error);
}

/* DLPack: the least significant bits first, one element after the other. */
static void
test_bit_order (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) fp4 =
    mtl_strided_view_new_from_doubles (DOUBLES (0.5, -6, 1), MTL_DTYPE_FLOAT4_E2M1FN, DIMS (3),
                                       &error);
  g_autoptr (MtlStridedView) fp6 =
    mtl_strided_view_new_from_doubles (DOUBLES (0.125, -7.5, 1, 0, 2), MTL_DTYPE_FLOAT6_E2M3FN,
                                       DIMS (5), &error);
  g_autoptr (MtlStridedView) int2 =
    mtl_strided_view_new_from_doubles (DOUBLES (1, -2, -1, 0, 0, 1), MTL_DTYPE_INT2, DIMS (6),
                                       &error);
  g_autoptr (GBytes) fp4_bytes = mtl_strided_view_dup_bytes (fp4, NULL, &error);
  g_autoptr (GBytes) int2_bytes = mtl_strided_view_dup_bytes (int2, NULL, &error);
  g_autoptr (GBytes) fp6_bytes = mtl_strided_view_dup_bytes (fp6, NULL, &error);
  guint32 fp6_bits = 0x01 | 0x3f << 6 | 0x08 << 12 | 0x00 << 18 | 0x10 << 24;

  g_assert_no_error (error);
  g_assert_cmpmem (g_bytes_get_data (fp4_bytes, NULL), g_bytes_get_size (fp4_bytes),
                   "\xf1\x02", 2);
  g_assert_cmpmem (g_bytes_get_data (int2_bytes, NULL), g_bytes_get_size (int2_bytes),
                   "\x39\x04", 2);
  fp6_bits = GUINT32_TO_LE (fp6_bits);
  g_assert_cmpmem (g_bytes_get_data (fp6_bytes, NULL), g_bytes_get_size (fp6_bytes),
                   &fp6_bits, 4);
}

/* Each write changes the one element and no other. */
static void
test_elements (void)
{
  for (gsize t = 0; t < G_N_ELEMENTS (packed_types); t++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedView) view = new_view (packed_types[t], N_VALUES);

      for (gsize i = 0; i < N_VALUES; i++)
        {
          g_assert_true (mtl_strided_view_set_double (view, DIMS (i),
                                                      get_value (packed_types[t], N_VALUES - 1 - i),
                                                      &error));
          for (gsize j = 0; j < N_VALUES; j++)
            assert_value (view, j, get_value (packed_types[t], j <= i ? N_VALUES - 1 - j : j));
        }
      g_assert_no_error (error);
    }
}

static gboolean
is_integer (MtlDType dtype)
{
  return dtype >> 8 == CODE_INT || dtype >> 8 == CODE_UINT;
}

static void
test_float_elements (void)
{
  for (gsize t = 0; t < G_N_ELEMENTS (packed_types); t++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedView) view = new_view (packed_types[t], N_VALUES);

      if (is_integer (packed_types[t]))
        continue;

      g_assert_true (mtl_strided_view_set_int64 (view, DIMS (1), -3, &error));
      g_assert_true (mtl_strided_view_set_uint64 (view, DIMS (2), 4, &error));
      g_assert_true (mtl_strided_view_set_complex (view, DIMS (3), 1.5, 7, &error));
      g_assert_cmpint (mtl_strided_view_get_int64 (view, DIMS (1), &error), ==, -3);
      g_assert_cmpuint (mtl_strided_view_get_uint64 (view, DIMS (2), &error), ==, 4);
      assert_value (view, 3, 1.5);
      g_assert_no_error (error);
    }
}

/* Only what fits is taken, one by one. Many at once wrap around, or become the nearest
 * number that there is. */
static void
test_integer_elements (void)
{
  static const struct
  {
    MtlDType dtype;
    gint64 least;
    gint64 most;
    gint64 wrapped; /* 77 */
  } cases[] = {
    { MTL_DTYPE_INT2, -2, 1, 1 },
    { MTL_DTYPE_INT4, -8, 7, -3 },
    { MTL_DTYPE_UINT2, 0, 3, 1 },
    { MTL_DTYPE_UINT4, 0, 15, 13 },
  };

  for (gsize t = 0; t < G_N_ELEMENTS (cases); t++)
    {
      gint64 least = cases[t].least, most = cases[t].most;
      g_autofree char *name = mtl_dtype_to_string (cases[t].dtype);
      g_autofree char *below = g_strdup_printf ("%" G_GINT64_FORMAT " & %s & %" G_GINT64_FORMAT,
                                                least - 1, name, least);
      g_autofree char *above = g_strdup_printf ("%" G_GINT64_FORMAT " & %s & %" G_GINT64_FORMAT,
                                                most + 1, name, most);
      g_autoptr (GError) local_error = NULL;
      g_autoptr (MtlStridedView) view =
        mtl_strided_view_new_zeros (NULL, cases[t].dtype, DIMS (5), MTL_STORAGE_MODE_DEFAULT,
                                    &local_error);
      g_autoptr (MtlStridedView) floats =
        mtl_strided_view_new_from_doubles (DOUBLES (-1e30, NAN, 0.99, 1e30, INFINITY),
                                           MTL_DTYPE_FLOAT32, DIMS (5), &local_error);
      g_autoptr (MtlStridedView) integers =
        mtl_strided_view_new_filled (NULL, MTL_DTYPE_INT64, DIMS (5), 77, MTL_STORAGE_MODE_DEFAULT,
                                     &local_error);

      g_assert_true (mtl_strided_view_set_int64 (view, DIMS (1), least, &local_error));
      g_assert_true (mtl_strided_view_set_uint64 (view, DIMS (2), most, &local_error));
      g_assert_true (mtl_strided_view_set_double (view, DIMS (3), most + 0.5, &local_error));
      g_assert_no_error (local_error);
      assert_refuses (mtl_strided_view_set_int64 (view, DIMS (0), least - 1, &error),
                      MTL_ERROR_OVERFLOW, below);
      assert_refuses (mtl_strided_view_set_uint64 (view, DIMS (0), most + 1, &error),
                      MTL_ERROR_OVERFLOW, above);
      assert_refuses (mtl_strided_view_set_double (view, DIMS (0), most + 1, &error),
                      MTL_ERROR_OVERFLOW, above);
      assert_refuses (mtl_strided_view_fill_double (view, NAN, NULL, &error),
                      MTL_ERROR_OVERFLOW, "nan");
      g_assert_cmpint (mtl_strided_view_get_int64 (view, DIMS (1), &local_error), ==, least);
      g_assert_cmpuint (mtl_strided_view_get_uint64 (view, DIMS (2), &local_error), ==, most);
      assert_elements (view, 0, least, most, most, 0);

      g_assert_true (mtl_strided_view_copy_from (view, floats, NULL, &local_error));
      assert_elements (view, least, 0, 0, most, most);
      g_assert_true (mtl_strided_view_copy_from (view, integers, NULL, &local_error));
      g_assert_no_error (local_error);
      for (gint64 i = 0; i < 5; i++)
        assert_value (view, i, cases[t].wrapped);
    }
}

/* The elements that a slice has, by index into the whole. */
static const struct
{
  const char *slices;
  int start;
  int step;
  int n;
} slices[] = {
  { "0:9", 0, 1, 9 }, { "1:9", 1, 1, 8 }, { "2:4", 2, 1, 2 }, { "3:8", 3, 1, 5 },
  { "5:6", 5, 1, 1 }, { "::2", 0, 2, 15 }, { "1::3", 1, 3, 10 }, { "7:3:-1", 7, -1, 4 },
  { "::-1", 29, -1, 30 }, { "28:1:-5", 28, -5, 6 }, { "4:4", 4, 1, 0 }, { "8:24", 8, 1, 16 },
};

static void
test_slices (void)
{
  for (gsize t = 0; t < G_N_ELEMENTS (packed_types); t++)
    for (gsize i = 0; i < G_N_ELEMENTS (slices); i++)
      {
        g_autoptr (GError) error = NULL;
        g_autoptr (MtlStridedView) view = new_view (packed_types[t], 30);
        g_autoptr (MtlStridedView) part = slice (view, slices[i].slices);
        g_autoptr (MtlStridedView) copy = mtl_strided_view_copy (part, MTL_ORDER_C, NULL, &error);
        g_autoptr (MtlStridedView) floats = mtl_strided_view_to_dtype (part, MTL_DTYPE_FLOAT32,
                                                                       MTL_ORDER_C, NULL, &error);

        g_assert_no_error (error);
        g_assert_cmpint (mtl_strided_view_get_volume (part), ==, slices[i].n);
        for (int j = 0; j < slices[i].n; j++)
          {
            double expected = get_value (packed_types[t], slices[i].start + j * slices[i].step);

            assert_value (part, j, expected);
            assert_value (copy, j, expected);
            assert_value (floats, j, expected);
          }
        g_assert_true (mtl_strided_view_array_equal (part, copy, MTL_COMPARE_FLAGS_NONE, NULL,
                                                     &error));
        g_assert_true (mtl_strided_view_array_equal (floats, part, MTL_COMPARE_FLAGS_NONE, NULL,
                                                     &error));
        g_assert_true (mtl_strided_view_all_close (copy, floats, 0, 0, MTL_COMPARE_FLAGS_NONE, NULL,
                                                   &error));
        g_assert_no_error (error);
      }
}

/* Copies from any place within a byte to any other, and changes nothing around it. */
static void
test_copies (void)
{
  for (gsize t = 0; t < G_N_ELEMENTS (packed_types); t++)
    for (gsize i = 0; i < G_N_ELEMENTS (slices); i++)
      for (int start = 0; start <= 30 - slices[i].n; start += 3)
        {
          g_autoptr (GError) error = NULL;
          g_autoptr (MtlStridedView) source = new_view (packed_types[t], 30);
          g_autoptr (MtlStridedView) dest =
            mtl_strided_view_new_zeros (NULL, packed_types[t], DIMS (30), MTL_STORAGE_MODE_DEFAULT,
                                        &error);
          g_autofree char *range = g_strdup_printf ("%d:%d", start, start + slices[i].n);
          g_autoptr (MtlStridedView) from = slice (source, slices[i].slices);
          g_autoptr (MtlStridedView) to = slice (dest, range);

          double around = get_value (packed_types[t], N_VALUES - 1);

          g_assert_true (mtl_strided_view_fill_double (dest, around, NULL, &error));
          g_assert_true (mtl_strided_view_copy_from (to, from, NULL, &error));
          g_assert_no_error (error);
          for (int j = 0; j < 30; j++)
            {
              int k = j - start;

              assert_value (dest, j, k < 0 || k >= slices[i].n ? around
                              : get_value (packed_types[t], slices[i].start + k * slices[i].step));
            }
        }
}

static void
test_fill (void)
{
  for (gsize t = 0; t < G_N_ELEMENTS (packed_types); t++)
    for (gsize i = 0; i < G_N_ELEMENTS (slices); i++)
      {
        g_autoptr (GError) error = NULL;
        g_autoptr (MtlStridedView) view = new_view (packed_types[t], 30);
        g_autoptr (MtlStridedView) part = slice (view, slices[i].slices);
        double value = get_value (packed_types[t], 5);

        g_assert_true (mtl_strided_view_fill_double (part, value, NULL, &error));
        g_assert_no_error (error);
        for (int j = 0; j < slices[i].n; j++)
          assert_value (part, j, value);

        /* Only the slice's elements are filled. */
        for (int j = 0, n = 0; j < 30; j++)
          {
            int k = (j - slices[i].start) / slices[i].step;

            if (slices[i].start + k * slices[i].step == j && k >= 0 && k < slices[i].n)
              n++;
            else
              assert_value (view, j, get_value (packed_types[t], j));
            g_assert_cmpint (n, <=, slices[i].n);
          }
      }
}

static void
test_overlap (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = new_view (MTL_DTYPE_FLOAT6_E3M2FN, 30);
  g_autoptr (MtlStridedView) to = slice (view, "1:");
  g_autoptr (MtlStridedView) from = slice (view, ":-1");

  g_assert_true (mtl_strided_view_copy_from (to, from, NULL, &error));
  g_assert_no_error (error);
  for (int i = 0; i < 30; i++)
    assert_value (view, i, values[MAX (i - 1, 0) % (int) N_VALUES]);
}

static void
test_shapes (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) flat = new_view (MTL_DTYPE_FLOAT4_E2M1FN, 15);
  g_autoptr (MtlStridedView) view = mtl_strided_view_reshape (flat, DIMS (3, 5), &error);
  g_autoptr (MtlStridedView) turned = mtl_strided_view_transpose (view);
  g_autoptr (MtlStridedView) row = slice (view, "1");
  g_autoptr (MtlStridedView) many = mtl_strided_view_broadcast_to (row, DIMS (2, 5), &error);
  g_autoptr (MtlStridedView) scalar = slice (view, "2, 3");
  g_autofree char *text = mtl_strided_view_to_string (turned);
  g_autofree char *scalar_text = mtl_strided_view_to_string (scalar);

  g_assert_no_error (error);
  assert_elements (turned, 0, 3, -1.5, 0.5, 4, -2, 1, 6, -3, 1.5, -0.5, -4, 2, -1, -6);
  assert_elements (many, 3, 4, 6, -0.5, -1, 3, 4, 6, -0.5, -1);
  g_assert_cmpstr (text, ==,
                   "[[ 0.   3.  -1.5]\n [ 0.5  4.  -2. ]\n [ 1.   6.  -3. ]\n"
                   " [ 1.5 -0.5 -4. ]\n [ 2.  -1.  -6. ]]");
  g_assert_cmpstr (scalar_text, ==, "-4");
}

/* Elements that count downwards from within the first bytes of the memory: what
 * six bits take begins on a whole byte only at each fourth. */
static void
test_at_the_start (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlBuffer) buffer = mtl_buffer_new (NULL, 3, MTL_STORAGE_MODE_HOST, &error);
  g_autoptr (GBytes) pattern = g_bytes_new_static ("\xa5", 1);
  g_autoptr (MtlStridedLayout) layout = mtl_strided_layout_new (DIMS (2), DIMS (-1), 6, &error);
  g_autoptr (MtlStridedView) view = mtl_strided_view_new (buffer, layout, MTL_DTYPE_FLOAT6_E2M3FN,
                                                          1, &error);
  g_autoptr (MtlStridedView) numbers =
    mtl_strided_view_new_from_doubles (DOUBLES (-6, 1), MTL_DTYPE_FLOAT32, DIMS (2), &error);
  g_autoptr (MtlStridedView) copy = NULL;
  g_autoptr (GBytes) written = NULL, filled = NULL;
  g_autofree char *text = NULL;

  g_assert_no_error (error);
  g_assert_true (mtl_buffer_fill (buffer, 0, 3, pattern, NULL, &error));
  g_assert_true (mtl_strided_view_copy_from (view, numbers, NULL, &error));
  g_assert_no_error (error);
  written = mtl_buffer_dup_bytes (buffer, 0, 3, NULL, &error);
  g_assert_cmpmem (g_bytes_get_data (written, NULL), 3, "\x21\xbc\xa5", 3);

  assert_elements (view, -6, 1);
  copy = mtl_strided_view_copy (view, MTL_ORDER_C, NULL, &error);
  assert_elements (copy, -6, 1);
  g_assert_true (mtl_strided_view_array_equal (view, numbers, MTL_COMPARE_FLAGS_NONE, NULL,
                                               &error));
  text = mtl_strided_view_to_string (view);
  g_assert_cmpstr (text, ==, "[-6.  1.]");

  g_assert_true (mtl_strided_view_fill_double (view, 0.125, NULL, &error));
  g_assert_no_error (error);
  filled = mtl_buffer_dup_bytes (buffer, 0, 3, NULL, &error);
  g_assert_cmpmem (g_bytes_get_data (filled, NULL), 3, "\x05\x81\xa5", 3);
}

/* A view of bytes through DLPack, which says lanes and padding. */
static MtlStridedView *
import (Producer   *producer,
        DLDataType  type,
        guint64     flags,
        gint64      extent)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *view;

  producer_init (producer);
  producer->shape[0] = extent;
  producer->strides[0] = 1;
  producer->versioned.dl_tensor.ndim = 1;
  producer->versioned.dl_tensor.dtype = type;
  producer->versioned.flags = flags;
  memset (producer->data, 0, sizeof producer->data);
  view = mtl_strided_view_new_take_dlpack (&producer->versioned, &error);
  g_assert_no_error (error);
  return view;
}

static void
test_padded (void)
{
  g_autoptr (GError) error = NULL;
  Producer producer;
  g_autoptr (MtlStridedView) view = import (&producer, (DLDataType) { 17, 4, 1 }, DL_PADDED, 3);
  g_autoptr (MtlStridedView) numbers = new_view (MTL_DTYPE_FLOAT64, 3);
  g_autoptr (MtlStridedView) packed = NULL;
  g_autoptr (MtlStridedView) copy = NULL;
  guint8 *bytes = (guint8 *) producer.data;

  memset (bytes, 0xa0, 4);
  assert_elements (view, 0, 0, 0); /* the padding is not looked at */
  g_assert_true (mtl_strided_view_copy_from (view, numbers, NULL, &error));
  g_assert_true (mtl_strided_view_set_double (view, DIMS (2), -6, &error));
  g_assert_cmpmem (bytes, 4, "\x00\x01\x0f\xa0", 4);

  packed = mtl_strided_view_to_dtype (view, MTL_DTYPE_FLOAT4_E2M1FN, MTL_ORDER_C, NULL, &error);
  copy = mtl_strided_view_copy (view, MTL_ORDER_C, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (mtl_strided_view_is_padded (copy));
  g_assert_false (mtl_strided_view_is_padded (packed));
  g_assert_cmpuint (mtl_strided_layout_get_item_bits (mtl_strided_view_get_layout (packed)), ==, 4);
  assert_elements (packed, 0, 0.5, -6);
  assert_elements (copy, 0, 0.5, -6);
  g_assert_true (mtl_strided_view_array_equal (view, packed, MTL_COMPARE_FLAGS_NONE, NULL, &error));

  g_assert_true (mtl_strided_view_fill_double (view, 1.5, NULL, &error));
  g_assert_cmpmem (bytes, 4, "\x03\x03\x03\xa0", 4);
  g_assert_no_error (error);
}

/* A layout of bytes makes padded elements, one of their bits packed ones. */
static void
test_new_padded (void)
{
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlBuffer) buffer = mtl_buffer_new (NULL, 4, MTL_STORAGE_MODE_HOST, &local_error);
  g_autoptr (MtlStridedLayout) layout = mtl_strided_layout_new (DIMS (4), NULL, 0, 8,
                                                                &local_error);
  g_autoptr (MtlStridedLayout) wide = mtl_strided_layout_new (DIMS (2), NULL, 0, 16,
                                                              &local_error);
  g_autoptr (MtlStridedView) view = mtl_strided_view_new (buffer, layout, MTL_DTYPE_FLOAT6_E2M3FN,
                                                          0, &local_error);
  g_autoptr (GBytes) bytes = NULL;

  g_assert_no_error (local_error);
  g_assert_true (mtl_strided_view_is_padded (view));
  g_assert_true (mtl_strided_view_fill_double (view, -7.5, NULL, &local_error));
  bytes = mtl_strided_view_dup_bytes (view, NULL, &local_error);
  g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes),
                   "\x3f\x3f\x3f\x3f", 4);
  g_assert_no_error (local_error);
  assert_fails (mtl_strided_view_new (buffer, wide, MTL_DTYPE_FLOAT6_E2M3FN, 0, &error),
                MTL_ERROR_INVALID_ARGUMENT, "16");
}

/* Two fp4 in a byte, which is one element. */
static void
test_lanes (void)
{
  g_autoptr (GError) local_error = NULL;
  Producer producer;
  g_autoptr (MtlStridedView) view = import (&producer, (DLDataType) { 17, 4, 2 }, 0, 3);
  g_autoptr (MtlStridedView) reversed = slice (view, "::-2");
  g_autoptr (MtlStridedView) numbers = NULL, floats = NULL, copy = NULL, fewer = NULL;
  g_autoptr (MtlStridedView) single = NULL;
  g_autofree char *text = NULL;

  numbers = mtl_strided_view_new_from_doubles (DOUBLES (0.5, 1, 1.5, 2, -3, 6), MTL_DTYPE_FLOAT32,
                                               DIMS (3, 2), &local_error);
  g_assert_true (mtl_strided_view_copy_from (view, numbers, NULL, &local_error));
  g_assert_cmpmem (producer.data, 4, "\x21\x43\x7d\x00", 4);
  g_assert_cmpfloat (mtl_strided_view_get_double (view, DIMS (1, -1), &local_error), ==, 2);
  g_assert_true (mtl_strided_view_set_double (view, DIMS (1, 0), -0.5, &local_error));
  g_assert_cmpmem (producer.data, 4, "\x21\x49\x7d\x00", 4);

  floats = mtl_strided_view_to_dtype (view, MTL_DTYPE_FLOAT64, MTL_ORDER_C, NULL, &local_error);
  assert_view_shape (floats, 3, 2);
  assert_elements (floats, 0.5, 1, -0.5, 2, -3, 6);
  assert_elements (reversed, -3, 6, 0.5, 1);
  g_assert_true (mtl_strided_view_array_equal (view, floats, MTL_COMPARE_FLAGS_NONE, NULL,
                                               &local_error));
  g_assert_false (mtl_strided_view_array_equal (view, numbers, MTL_COMPARE_FLAGS_NONE, NULL,
                                                &local_error));
  single = mtl_strided_view_to_dtype (numbers, MTL_DTYPE_FLOAT4_E2M1FN, MTL_ORDER_C,
                                      NULL, &local_error);
  g_assert_false (mtl_strided_view_array_equal (view, single, MTL_COMPARE_FLAGS_NONE, NULL,
                                                &local_error));
  g_assert_true (mtl_strided_view_copy_from (single, view, NULL, &local_error));
  g_assert_true (mtl_strided_view_array_equal (view, single, MTL_COMPARE_FLAGS_NONE, NULL,
                                               &local_error));
  text = mtl_strided_view_to_string (view);
  g_assert_cmpstr (text, ==, "[[ 0.5  1. ]\n [-0.5  2. ]\n [-3.   6. ]]");

  copy = mtl_strided_view_copy (reversed, MTL_ORDER_C, NULL, &local_error);
  g_assert_cmpuint (mtl_strided_view_get_lanes (copy), ==, 2);
  assert_view_shape (copy, 2);
  g_assert_true (mtl_strided_view_array_equal (copy, reversed, MTL_COMPARE_FLAGS_NONE, NULL,
                                               &local_error));

  g_assert_true (mtl_strided_view_fill_double (reversed, 6, NULL, &local_error));
  g_assert_cmpmem (producer.data, 4, "\x77\x49\x77\x00", 4);
  g_assert_no_error (local_error);

  assert_refuses (mtl_strided_view_get_double (view, DIMS (1), &error) != 0,
                  MTL_ERROR_INVALID_ARGUMENT, "1");
  assert_refuses (mtl_strided_view_get_double (view, DIMS (1, 2), &error) != 0,
                  MTL_ERROR_OUT_OF_BOUNDS, "2");
  fewer = slice (floats, "0:2");
  assert_refuses (mtl_strided_view_copy_from (view, fewer, NULL, &error),
                  MTL_ERROR_INVALID_ARGUMENT, "(2, 2)");
}

/* Lanes of whole bytes, and of bits that do not fill bytes together. */
static void
test_other_lanes (void)
{
  const DLDataType types[] = { { 2, 32, 4 }, { 15, 6, 3 }, { 17, 4, 3 }, { 1, 8, 5 } };

  for (gsize i = 0; i < G_N_ELEMENTS (types); i++)
    {
      g_autoptr (GError) error = NULL;
      Producer producer;
      g_autoptr (MtlStridedView) view = import (&producer, types[i], 0, 3);
      g_autoptr (MtlStridedView) tail = slice (view, "1:");
      g_autoptr (MtlStridedView) copy = NULL;

      for (gint64 j = 0; j < 3 * types[i].lanes; j++)
        g_assert_true (mtl_strided_view_set_double (view, DIMS (j / types[i].lanes,
                                                                j % types[i].lanes),
                                                    j % 5, &error));
      copy = mtl_strided_view_copy (tail, MTL_ORDER_C, NULL, &error);
      g_assert_no_error (error);
      for (gint64 j = 0; j < 2 * types[i].lanes; j++)
        g_assert_cmpfloat (mtl_strided_view_get_double (copy, DIMS (j / types[i].lanes,
                                                                    j % types[i].lanes), &error),
                           ==, (j + types[i].lanes) % 5);
      g_assert_true (mtl_strided_view_array_equal (copy, tail, MTL_COMPARE_FLAGS_NONE, NULL,
                                                   &error));
      g_assert_no_error (error);
    }
}

/* The three vectors of a view, with as many axes as there may be. */
static MtlStridedView *
add_axes (MtlStridedView *view)
{
  gint64 shape[64];
  g_autoptr (GError) error = NULL;
  MtlStridedView *added;

  for (gsize i = 0; i < G_N_ELEMENTS (shape); i++)
    shape[i] = i == 40 ? 3 : 1;
  added = mtl_strided_view_reshape (view, shape, G_N_ELEMENTS (shape), &error);
  g_assert_no_error (error);
  return added;
}

/* Joins the lines without the spaces that end and indent them. */
static char *
join_lines (const char *text)
{
  g_auto (GStrv) words = g_strsplit_set (text, " \n", -1);

  return g_strjoinv ("", words);
}

/* The axis of the lanes makes one more than a layout may have. */
static void
test_lanes_of_all_axes (void)
{
  g_autoptr (GError) local_error = NULL;
  Producer producer, other_producer;
  g_autoptr (MtlStridedView) flat = import (&producer, (DLDataType) { 2, 32, 2 }, 0, 3);
  g_autoptr (MtlStridedView) halves = import (&other_producer, (DLDataType) { 2, 16, 2 }, 0, 3);
  g_autoptr (MtlStridedView) view = add_axes (flat);
  g_autoptr (MtlStridedView) narrow = add_axes (halves);
  g_autoptr (MtlStridedView) empty = slice (view, "1:1");
  g_autoptr (MtlStridedView) pair =
    mtl_strided_view_new_from_doubles (DOUBLES (1, 2), MTL_DTYPE_FLOAT32, DIMS (2), &local_error);
  g_autofree char *outer_open = g_strnfill (41, '['), *outer_closed = g_strnfill (41, ']');
  g_autofree char *open = g_strnfill (24, '['), *closed = g_strnfill (24, ']');
  g_autofree char *text = NULL, *joined = NULL, *expected = NULL, *empty_text = NULL;

  g_assert_true (mtl_strided_view_fill_double (view, 1.5, NULL, &local_error));
  g_assert_true (mtl_strided_view_fill_double (empty, 7, NULL, &local_error));
  g_assert_no_error (local_error);
  for (int i = 0; i < 6; i++)
    g_assert_cmpfloat (producer.data[i], ==, 1.5f);
  g_assert_cmpfloat (producer.data[6], ==, 0);

  producer.data[5] = -3;
  g_assert_true (mtl_strided_view_array_equal (view, view, MTL_COMPARE_FLAGS_NONE, NULL,
                                               &local_error));
  g_assert_false (mtl_strided_view_array_equal (view, narrow, MTL_COMPARE_FLAGS_NONE, NULL,
                                                &local_error));
  g_assert_true (mtl_strided_view_copy_from (narrow, view, NULL, &local_error));
  g_assert_true (mtl_strided_view_array_equal (view, narrow, MTL_COMPARE_FLAGS_NONE, NULL,
                                               &local_error));
  g_assert_true (mtl_strided_view_all_close (narrow, view, 0, 0, MTL_COMPARE_FLAGS_NONE, NULL,
                                             &local_error));
  g_assert_false (mtl_strided_view_array_equal (view, pair, MTL_COMPARE_FLAGS_NONE, NULL,
                                                &local_error));
  g_assert_no_error (local_error);
  assert_elements (halves, 1.5, 1.5, 1.5, 1.5, 1.5, -3);

  text = mtl_strided_view_to_string (view);
  joined = join_lines (text);
  expected = g_strconcat (outer_open, open, "1.51.5", closed, open, "1.51.5", closed,
                          open, "1.5-3.", closed, outer_closed, NULL);
  g_assert_cmpstr (joined, ==, expected);
  empty_text = mtl_strided_view_to_string (empty);
  g_assert_cmpstr (empty_text, ==, "[]");

  /* No view has one axis more. */
  assert_fails (mtl_strided_view_to_dtype (view, MTL_DTYPE_FLOAT64, MTL_ORDER_C, NULL, &error),
                MTL_ERROR_INVALID_ARGUMENT, "65");
  assert_refuses (mtl_strided_view_copy_from (view, pair, NULL, &error),
                  MTL_ERROR_INVALID_ARGUMENT, "65");
  assert_refuses (mtl_strided_view_copy_from (pair, view, NULL, &error),
                  MTL_ERROR_INVALID_ARGUMENT, "(2,)");
}

/* Elements of one byte, so far apart that their halves cannot be counted. */
static void
test_lanes_beyond (void)
{
  const struct { gint64 extent, stride; const char *slices; } cases[] = {
    { 2, POW2 (62), "..." }, { 2, POW2 (62), "1:" }, { 4, POW2 (61), "..." },
    { POW2 (62), 0, "..." },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) local_error = NULL;
      Producer producer;
      g_autoptr (MtlStridedView) whole = NULL, view = NULL;

      producer_init (&producer);
      producer.shape[0] = cases[i].extent;
      producer.strides[0] = cases[i].stride;
      producer.versioned.dl_tensor.ndim = 1;
      producer.versioned.dl_tensor.dtype = (DLDataType) { 17, 4, 2 };
      whole = mtl_strided_view_new_take_dlpack (&producer.versioned, &local_error);
      g_assert_no_error (local_error);
      view = slice (whole, cases[i].slices);
      assert_refuses (mtl_strided_view_array_equal (view, view, MTL_COMPARE_FLAGS_NONE, NULL,
                                                    &error), MTL_ERROR_OVERFLOW,
                      "2^63");
    }
}

/* Types that are unknown here are moved as they are, bit by bit where it has to be. */
static void
test_unnamed (void)
{
  const DLDataType types[] = {
    { 200, 4, 1 }, { 200, 2, 1 }, { 1, 1, 1 }, { 0, 3, 4 }, { 1, 6, 1 }, { 200, 24, 1 },
    { 200, 7, 3 }, { 3, 64, 1 }, { 2, 80, 1 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (types); i++)
    {
      guint bits = types[i].bits * types[i].lanes;
      g_autoptr (GError) local_error = NULL;
      Producer producer;
      g_autoptr (MtlStridedView) view = import (&producer, types[i], 0, 5);
      g_autoptr (MtlStridedView) tail = slice (view, "1:4:2");
      g_autoptr (GBytes) read = NULL;
      guint8 *bytes = (guint8 *) producer.data;
      const guint8 *copied;

      for (gsize j = 0; j < sizeof producer.data; j++)
        bytes[j] = j * 37 + 11;
      read = mtl_strided_view_dup_bytes (tail, NULL, &local_error);
      g_assert_no_error (local_error);
      g_assert_cmpuint (g_bytes_get_size (read), ==, (2 * bits + 7) / 8);

      copied = g_bytes_get_data (read, NULL);
      for (guint j = 0; j < 2 * bits; j++)
        {
          guint from = bits + j + (j >= bits ? bits : 0);

          g_assert_cmpuint (copied[j / 8] >> j % 8 & 1, ==, bytes[from / 8] >> from % 8 & 1);
        }
      assert_refuses (mtl_strided_view_fill_double (view, 1, NULL, &error), MTL_ERROR_NOT_SUPPORTED,
                      "");
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/StridedView/packed/bit-order", test_bit_order);
  g_test_add_func ("/StridedView/packed/elements", test_elements);
  g_test_add_func ("/StridedView/packed/float-elements", test_float_elements);
  g_test_add_func ("/StridedView/packed/integer-elements", test_integer_elements);
  g_test_add_func ("/StridedView/packed/slices", test_slices);
  g_test_add_func ("/StridedView/packed/copies", test_copies);
  g_test_add_func ("/StridedView/packed/fill", test_fill);
  g_test_add_func ("/StridedView/packed/overlap", test_overlap);
  g_test_add_func ("/StridedView/packed/shapes", test_shapes);
  g_test_add_func ("/StridedView/packed/at-the-start", test_at_the_start);
  g_test_add_func ("/StridedView/packed/new-padded", test_new_padded);
  g_test_add_func ("/StridedView/padded", test_padded);
  g_test_add_func ("/StridedView/lanes/fp4", test_lanes);
  g_test_add_func ("/StridedView/lanes/others", test_other_lanes);
  g_test_add_func ("/StridedView/lanes/all-axes", test_lanes_of_all_axes);
  g_test_add_func ("/StridedView/lanes/beyond", test_lanes_beyond);
  g_test_add_func ("/StridedView/unnamed", test_unnamed);

  return g_test_run ();
}
