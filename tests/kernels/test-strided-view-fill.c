/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Fills with one element of any type, given by its bytes. */

#include "dlpack-producer.h"

#define N 24

static const MtlDType types[] = {
  MTL_DTYPE_BOOL,
  MTL_DTYPE_INT8,
  MTL_DTYPE_UINT16,
  MTL_DTYPE_INT64,
  MTL_DTYPE_UINT64,
  MTL_DTYPE_INT4,
  MTL_DTYPE_UINT2,
  MTL_DTYPE_FLOAT16,
  MTL_DTYPE_BFLOAT16,
  MTL_DTYPE_FLOAT64,
  MTL_DTYPE_COMPLEX128,
  MTL_DTYPE_FLOAT4_E2M1FN,
  MTL_DTYPE_FLOAT6_E3M2FN,
  MTL_DTYPE_OPAQUE_HANDLE32,
};

static GBytes *
new_element (guint bits)
{
  guint8 bytes[64];

  g_assert_cmpuint (bits, <=, 8 * sizeof bytes);
  for (gsize i = 0; i < sizeof bytes; i++)
    bytes[i] = 0xa5 + 29 * i;
  return g_bytes_new (bytes, (bits + 7) / 8);
}

static gboolean
get_bit (GBytes *bytes,
         gsize   i)
{
  return ((const guint8 *) g_bytes_get_data (bytes, NULL))[i / 8] >> i % 8 & 1;
}

/* There are N zeros; elements start, start + step, … are filled. */
static void
check_filled (MtlStridedView *view,
              GBytes         *element,
              gsize           start,
              gsize           stop,
              gsize           step)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = mtl_strided_view_dup_bytes (view, NULL, &error);
  guint bits = mtl_strided_layout_get_item_bits (mtl_strided_view_get_layout (view));

  g_assert_no_error (error);
  for (gsize i = 0; i < N; i++)
    for (guint bit = 0; bit < bits; bit++)
      {
        gboolean is_filled = i >= start && i < stop && (i - start) % step == 0;

        g_assert_cmpint (get_bit (bytes, i * bits + bit), ==, is_filled && get_bit (element, bit));
      }
}

static void
fill_parts (MtlStridedView *view,
            GBytes         *element)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) part = slice (view, "3:20:4");
  g_autoptr (MtlStridedView) run = slice (view, "5:18");
  g_autoptr (GBytes) zero = g_bytes_new_take (g_malloc0 (g_bytes_get_size (element)),
                                              g_bytes_get_size (element));

  g_assert_true (mtl_strided_view_fill (part, element, NULL, &error));
  check_filled (view, element, 3, 20, 4);
  g_assert_true (mtl_strided_view_fill (view, zero, NULL, &error));
  g_assert_true (mtl_strided_view_fill (run, element, NULL, &error));
  check_filled (view, element, 5, 18, 1);
  g_assert_true (mtl_strided_view_fill (view, element, NULL, &error));
  check_filled (view, element, 0, N, 1);
  g_assert_no_error (error);
}

static void
test_types (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (types); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedView) view = mtl_strided_view_new_zeros (NULL, types[i], DIMS (N),
                                                                    MTL_STORAGE_MODE_DEFAULT,
                                                                    &error);
      g_autoptr (GBytes) element =
        new_element (mtl_strided_layout_get_item_bits (mtl_strided_view_get_layout (view)));

      g_assert_no_error (error);
      fill_parts (view, element);
    }
}

/* Vectors, and what has no name here: of whole bytes, or not, and larger than
 * what a device repeats. */
static void
test_other_types (void)
{
  const DLDataType others[] = {
    { 2, 32, 3 }, { 1, 8, 4 }, { 17, 4, 2 }, { 17, 4, 3 }, { 1, 3, 1 }, { 1, 1, 1 }, { 1, 12, 1 },
    { 0, 6, 3 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (others); i++)
    {
      Producer producer; /* which the view is not to outlive */
      g_autofree guint8 *data = g_malloc0 (N * 16);
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedView) view = NULL;
      g_autoptr (GBytes) element = new_element (others[i].bits * others[i].lanes);

      producer_init (&producer);
      producer.shape[0] = N;
      producer.strides[0] = 1;
      producer.versioned.dl_tensor.data = data;
      producer.versioned.dl_tensor.ndim = 1;
      producer.versioned.dl_tensor.dtype = others[i];
      view = mtl_strided_view_new_take_dlpack (&producer.versioned, &error);
      g_assert_no_error (error);
      fill_parts (view, element);
    }
}

static void
test_nothing (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = mtl_strided_view_new_zeros (NULL, MTL_DTYPE_UINT16, DIMS (N),
                                                                MTL_STORAGE_MODE_DEFAULT, &error);
  g_autoptr (MtlStridedView) nothing = slice (view, "7:7");
  g_autoptr (GBytes) element = new_element (16);

  g_assert_true (mtl_strided_view_fill (nothing, element, NULL, &error));
  g_assert_no_error (error);
  check_filled (view, element, 0, 0, 1);
}

static void
test_refused (void)
{
  g_autoptr (MtlStridedView) view = mtl_strided_view_new_zeros (NULL, MTL_DTYPE_UINT16, DIMS (N),
                                                                MTL_STORAGE_MODE_DEFAULT, NULL);
  g_autoptr (MtlStridedView) locked = mtl_strided_view_as_read_only (view);
  g_autoptr (MtlStridedView) packed =
    mtl_strided_view_new_zeros (NULL, MTL_DTYPE_FLOAT6_E2M3FN, DIMS (N), MTL_STORAGE_MODE_DEFAULT,
                                NULL);
  g_autoptr (GBytes) none = g_bytes_new (NULL, 0);
  g_autoptr (GBytes) one = new_element (8);
  g_autoptr (GBytes) two = new_element (16);
  g_autoptr (GBytes) three = new_element (24);

  assert_refuses (mtl_strided_view_fill (view, one, NULL, &error), MTL_ERROR_INVALID_ARGUMENT,
                  "1 & uint16 & 2");
  assert_refuses (mtl_strided_view_fill (view, three, NULL, &error), MTL_ERROR_INVALID_ARGUMENT,
                  "3");
  assert_refuses (mtl_strided_view_fill (packed, none, NULL, &error), MTL_ERROR_INVALID_ARGUMENT,
                  "1");
  assert_refuses (mtl_strided_view_fill (locked, two, NULL, &error), MTL_ERROR_READ_ONLY, "(24,)");
  check_filled (view, two, 0, 0, 1);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/StridedView/fill/types", test_types);
  g_test_add_func ("/StridedView/fill/other-types", test_other_types);
  g_test_add_func ("/StridedView/fill/nothing", test_nothing);
  g_test_add_func ("/StridedView/fill/refused", test_refused);

  return g_test_run ();
}
