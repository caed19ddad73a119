/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The memory of views: the bytes that two share, and the end of the memory. */

#include "test-utils.h"

#include "dlpack-producer.h"

static void
assert_overlap (MtlStridedView *view,
                const char     *a_string,
                const char     *b_string,
                gboolean        expected)
{
  g_autoptr (MtlStridedView) a = slice (view, a_string);
  g_autoptr (MtlStridedView) b = slice (view, b_string);

  g_assert_true (mtl_strided_view_overlaps (a, b) == expected);
  g_assert_true (mtl_strided_view_overlaps (b, a) == expected);
}

static void
test_overlaps (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) bytes = new_bytes (60);
  g_autoptr (MtlStridedView) view = mtl_strided_view_reshape (bytes, DIMS (6, 10), &error);
  g_autoptr (MtlStridedView) other = mtl_strided_view_copy (view, MTL_ORDER_C, NULL, &error);

  g_assert_no_error (error);
  assert_overlap (view, "...", "...", TRUE);
  assert_overlap (view, ":3", "3:", FALSE);
  assert_overlap (view, ":4", "3:", TRUE);
  assert_overlap (view, ":, ::2", ":, 1::2", FALSE);
  assert_overlap (view, ":, ::2", ":, ::-3", TRUE);
  assert_overlap (view, ":, :5", ":, 5:", FALSE);
  assert_overlap (view, ":, :5", ":, 4", TRUE);
  assert_overlap (view, "::2, ::-1", "1::2, ::3", FALSE);
  assert_overlap (view, "2, 3", "2, 3", TRUE);
  assert_overlap (view, "2, 3", "2, 4", FALSE);
  assert_overlap (view, "2:2", "...", FALSE);
  g_assert_false (mtl_strided_view_overlaps (view, other));
}

/* Other sizes and types: what counts is bytes. */
static void
test_overlaps_types (void)
{
  g_autoptr (MtlStridedView) bytes = new_bytes (32);
  g_autoptr (MtlStridedView) words = reinterpret (bytes, MTL_DTYPE_UINT32);
  g_autoptr (MtlStridedView) nibbles = reinterpret (bytes, MTL_DTYPE_FLOAT4_E2M1FN);
  g_autoptr (MtlStridedView) odd_words = slice (words, "1::2");
  g_autoptr (MtlStridedView) fourths = slice (bytes, "::4");
  g_autoptr (MtlStridedView) eighths = slice (bytes, "3::8");

  g_assert_true (mtl_strided_view_overlaps (words, bytes));
  g_assert_true (mtl_strided_view_overlaps (odd_words, fourths));
  g_assert_false (mtl_strided_view_overlaps (odd_words, eighths));

  /* Two that share a byte, though no bit. */
  assert_overlap (nibbles, "::2", "1::2", TRUE);
  assert_overlap (nibbles, "::4", "2::4", FALSE);
  assert_overlap (nibbles, "::6", "4::6", FALSE);
  assert_overlap (nibbles, "::6", "4::3", TRUE);
}

/* Interleaved so that no two elements are at one place, but so that it takes
 * more than can be tried to tell: the answer is the cautious one. Source: d in
 * -1..1, Σ d · 3^i = 0 only for all 0, and so it is for r · 3^i mod M. */
static void
test_too_hard (void)
{
  g_autoptr (GError) error = NULL;
  const gint64 r = G_GINT64_CONSTANT (4000000000000001), m = G_GINT64_CONSTANT (5559060566555525);
  gint64 shape[33], strides[33];
  gint64 stride = r;
  g_autoptr (MtlStridedLayout) hard = NULL;
  g_autoptr (MtlStridedLayout) easy = NULL;

  for (gsize i = 0; i < 33; i++)
    {
      shape[i] = 2;
      strides[i] = stride;
      stride = stride * 3 % m;
    }

  easy = mtl_strided_layout_new (shape, 8, strides, 8, 8, &error);
  hard = mtl_strided_layout_new (shape, 33, strides, 33, 8, &error);
  g_assert_no_error (error);
  g_assert_true (mtl_strided_layout_is_unique (easy));
  g_assert_false (mtl_strided_layout_is_unique (hard));
}

/* Memory that a peer gave twice is one memory, on the host and on devices whose handles are
 * addresses. */
static void
test_overlaps_imports (void)
{
  const struct { int type; gboolean has_addresses; } devices[] = {
    { MTL_DEVICE_TYPE_CPU, TRUE }, { MTL_DEVICE_TYPE_ROCM, TRUE }, { MTL_DEVICE_TYPE_VULKAN, FALSE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (devices); i++)
    {
      g_autoptr (GError) error = NULL;
      Producer a, b;
      g_autoptr (MtlStridedView) a_view = NULL;
      g_autoptr (MtlStridedView) b_view = NULL;
      g_autoptr (MtlStridedView) a_tail = NULL;
      g_autoptr (MtlStridedView) b_tail = NULL;
      g_autoptr (MtlStridedView) b_head = NULL;

      producer_init (&a);
      producer_init (&b);
      a.versioned.dl_tensor.device.device_type = devices[i].type;
      b.versioned.dl_tensor.device.device_type = devices[i].type;
      b.versioned.dl_tensor.data = a.data;
      if (devices[i].has_addresses)
        b.versioned.dl_tensor.data = a.data + 3;
      else
        b.versioned.dl_tensor.byte_offset = 12;

      a_view = mtl_strided_view_new_take_dlpack (&a.versioned, &error);
      b_view = mtl_strided_view_new_take_dlpack (&b.versioned, &error);
      g_assert_no_error (error);
      a_tail = slice (a_view, "1");
      b_head = slice (b_view, "0");
      b_tail = slice (b_view, "1");
      g_assert_true (mtl_strided_view_overlaps (a_view, b_view));
      g_assert_true (mtl_strided_view_overlaps (a_tail, b_head));
      g_assert_false (mtl_strided_view_overlaps (a_view, b_tail));
    }
}

/* Imports a row of memory that is never read. */
static MtlStridedView *
import_row (Producer *producer,
            guint64   address,
            gint64    extent,
            gint64    stride,
            guint8    bits)
{
  guint8 code = bits == 4 ? 17 : 1; /* float4 or unsigned integers */
  g_autoptr (GError) error = NULL;
  MtlStridedView *view;

  producer_init (producer);
  producer->versioned.dl_tensor.device = (DLDevice) { MTL_DEVICE_TYPE_ROCM, 0 };
  producer->versioned.dl_tensor.dtype = (DLDataType) { code, bits, 1 };
  producer->versioned.dl_tensor.data = (void *) (guintptr) address;
  producer->versioned.dl_tensor.ndim = 1;
  producer->shape[0] = extent;
  producer->strides[0] = stride;
  view = mtl_strided_view_new_take_dlpack (&producer->versioned, &error);
  g_assert_no_error (error);
  return view;
}

/* Distances for which bits, or sums of bytes, are more than 63 bits hold. */
static void
test_overlaps_far_away (void)
{
  const struct
  {
    guint64 a, b;
    gint64 a_stride, b_stride;
    guint8 a_bits, b_bits;
    gboolean overlap;
  } cases[] = {
    { 16, POW2 (62), 1, 1, 8, 8, FALSE },
    { 16, POW2 (62), 1, 1, 4, 4, FALSE },
    { 16, G_MAXUINT64 - 64, 1, 1, 8, 8, FALSE },
    { 16, 16 + POW2 (62), POW2 (62), 1, 8, 8, TRUE },
    { 16, 18 + POW2 (62), POW2 (62), 1, 8, 8, FALSE },
    { 16, 15 + POW2 (62), POW2 (62), 1, 8, 8, TRUE },
    { 16, 17, POW2 (62), POW2 (62) - 1, 8, 8, TRUE },
    { 16, 17, POW2 (62), POW2 (62) - 2, 8, 8, FALSE },
    /* More bits than can be counted: the cautious answer. */
    { 16, 64, POW2 (61), 1, 8, 4, TRUE },
    { 16, POW2 (62), G_MAXINT64 - 64, 1, 8, 4, TRUE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      Producer a, b;
      g_autoptr (MtlStridedView) a_view = import_row (&a, cases[i].a, 2, cases[i].a_stride,
                                                      cases[i].a_bits);
      g_autoptr (MtlStridedView) b_view = import_row (&b, cases[i].b, 2, cases[i].b_stride,
                                                      cases[i].b_bits);

      g_assert_true (mtl_strided_view_overlaps (a_view, b_view) == cases[i].overlap);
      g_assert_true (mtl_strided_view_overlaps (b_view, a_view) == cases[i].overlap);
    }
}

/* Strides without a common divisor, whose products are beyond 64 bits: two rows
 * meet in the one element in which they were made to. */
static void
test_overlaps_large_strides (void)
{
  const gint64 p = POW2 (58) - 27, q = POW2 (58) + 12345;

  for (gint64 i = 0; i < 10; i++)
    for (gint64 j = 0; j < 10; j++)
      for (gint64 beside = -1; beside <= 1; beside++)
        {
          Producer a, b;
          guint64 address = POW2 (62) + i * q - j * p + beside;
          g_autoptr (MtlStridedView) a_view = import_row (&a, POW2 (62), 10, q, 8);
          g_autoptr (MtlStridedView) b_view = import_row (&b, address, 10, p, 8);

          g_assert_true (mtl_strided_view_overlaps (a_view, b_view) == (beside == 0));
          g_assert_true (mtl_strided_view_overlaps (b_view, a_view) == (beside == 0));
        }
}

static void
test_no_overlap_of_devices (void)
{
  g_autoptr (GError) error = NULL;
  Producer a, b;
  g_autoptr (MtlStridedView) a_view = NULL;
  g_autoptr (MtlStridedView) b_view = NULL;

  producer_init (&a);
  producer_init (&b);
  a.versioned.dl_tensor.device = (DLDevice) { MTL_DEVICE_TYPE_ROCM, 0 };
  b.versioned.dl_tensor.device = (DLDevice) { MTL_DEVICE_TYPE_ROCM, 1 };
  a.versioned.dl_tensor.data = b.versioned.dl_tensor.data = (void *) 4096;
  a_view = mtl_strided_view_new_take_dlpack (&a.versioned, &error);
  b_view = mtl_strided_view_new_take_dlpack (&b.versioned, &error);
  g_assert_no_error (error);
  g_assert_false (mtl_strided_view_overlaps (a_view, b_view));
}

/* Every byte from the elements' bounds on is within; one more is not. */
static void
assert_ends_at (MtlBuffer *buffer,
                gsize      size)
{
  g_autoptr (GError) local_error = NULL;
  gint64 n = size;
  g_autoptr (MtlStridedLayout) all = mtl_strided_layout_new (&n, 1, NULL, 0, 8, &local_error);
  g_autoptr (MtlStridedLayout) reversed = mtl_strided_layout_new (&n, 1, DIMS (-1), 8,
                                                                  &local_error);
  g_autoptr (MtlStridedView) view = mtl_strided_view_new (buffer, all, MTL_DTYPE_UINT8, 0,
                                                          &local_error);
  g_autoptr (MtlStridedView) backwards = mtl_strided_view_new (buffer, reversed, MTL_DTYPE_UINT8,
                                                               n - 1, &local_error);

  g_assert_no_error (local_error);
  g_assert_nonnull (view);
  g_assert_nonnull (backwards);
  g_assert_true (mtl_buffer_is_size_known (buffer));
  assert_fails (mtl_strided_view_new (buffer, all, MTL_DTYPE_UINT8, 1, &error),
                MTL_ERROR_OUT_OF_BOUNDS, "1");
  assert_fails (mtl_strided_view_new (buffer, reversed, MTL_DTYPE_UINT8, n, &error),
                MTL_ERROR_OUT_OF_BOUNDS, "-1");
  assert_fails (mtl_strided_view_new (buffer, reversed, MTL_DTYPE_UINT8, n - 2, &error),
                MTL_ERROR_OUT_OF_BOUNDS, "-1");
}

static void
assert_required_size (MtlStridedView *view,
                      gint64          expected)
{
  MtlStridedLayout *layout = mtl_strided_view_get_layout (view);
  gint64 end = 0, last;

  mtl_strided_layout_get_offset_bounds (layout, NULL, &last);
  if (!mtl_strided_view_is_empty (view))
    end = (gint64) mtl_strided_view_get_byte_offset (view)
          + ((last + 1) * mtl_strided_layout_get_item_bits (layout) + 7) / 8;
  g_assert_cmpint (end, ==, expected);
}

/* The size reaches from the start of the buffer to the end of the last byte, wherever element
 * offset 0 is. */
static void
test_required_size (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlBuffer) buffer = mtl_buffer_new (NULL, 48, MTL_STORAGE_MODE_HOST, &error);
  g_autoptr (MtlBuffer) part = mtl_buffer_slice (buffer, 16, 32, &error);
  g_autoptr (MtlStridedLayout) forwards = mtl_strided_layout_new (DIMS (4), NULL, 0, 32, &error);
  g_autoptr (MtlStridedLayout) backwards = mtl_strided_layout_new (DIMS (4), DIMS (-1), 32,
                                                                   &error);
  g_autoptr (MtlStridedView) view = mtl_strided_view_new (buffer, forwards, MTL_DTYPE_FLOAT32, 16,
                                                          &error);
  g_autoptr (MtlStridedView) of_part = mtl_strided_view_new (part, forwards, MTL_DTYPE_FLOAT32, 16,
                                                             &error);
  g_autoptr (MtlStridedView) reversed = mtl_strided_view_new (buffer, backwards, MTL_DTYPE_FLOAT32,
                                                              16, &error);
  g_autoptr (MtlStridedView) flipped = slice (reversed, "::-1");
  g_autoptr (MtlStridedView) tail = slice (view, "2:");
  g_autoptr (MtlStridedView) tail_words = reinterpret (tail, MTL_DTYPE_UINT32);
  g_autoptr (MtlStridedView) tail_bytes = reinterpret (tail, MTL_DTYPE_UINT8);
  g_autoptr (MtlStridedView) few_bytes = slice (tail_bytes, "::3");
  g_autoptr (MtlStridedView) nibbles = reinterpret (tail, MTL_DTYPE_FLOAT4_E2M1FN);
  g_autoptr (MtlStridedView) few_nibbles = slice (nibbles, "-3::-1");
  g_autoptr (MtlStridedView) none = slice (tail, "1:1");

  g_assert_no_error (error);
  assert_required_size (view, 32);
  assert_required_size (of_part, 32);
  assert_required_size (reversed, 20);
  assert_required_size (flipped, 20);
  assert_required_size (tail, 32);
  assert_required_size (tail_words, 32);
  assert_required_size (tail_bytes, 32);
  assert_required_size (few_bytes, 31);
  assert_required_size (nibbles, 32);
  assert_required_size (few_nibbles, 31);
  assert_required_size (none, 0);
}

static void
test_bounds_of_sources (void)
{
  static guint8 data[24];
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = g_bytes_new_static (data, 24);
  g_autoptr (MtlBuffer) allocated = mtl_buffer_new (NULL, 24, MTL_STORAGE_MODE_HOST, &error);
  g_autoptr (MtlBuffer) slice_of = mtl_buffer_slice (allocated, 5, 7, &error);
  g_autoptr (MtlBuffer) of_bytes = mtl_buffer_new_from_bytes (bytes, NULL, MTL_BUFFER_FLAGS_NONE,
                                                              &error);
  g_autoptr (MtlBuffer) of_data = mtl_buffer_new_for_data (data, 24, NULL, MTL_BUFFER_FLAGS_NONE,
                                                           NULL, NULL, &error);
  g_autoptr (MtlStridedView) made = mtl_strided_view_new_zeros (NULL, MTL_DTYPE_INT16, DIMS (3, 4),
                                                                MTL_STORAGE_MODE_DEFAULT, &error);
  g_autoptr (MtlStridedView) part = slice (made, "1:2, ::-2");

  g_assert_no_error (error);
  assert_ends_at (allocated, 24);
  assert_ends_at (slice_of, 7);
  assert_ends_at (of_bytes, 24);
  assert_ends_at (of_data, 24);
  assert_ends_at (mtl_strided_view_get_buffer (made), 24);
  assert_ends_at (mtl_strided_view_get_buffer (part), 24);
}

/* A tensor whose strides are negative points at its last byte but one element:
 * the memory begins at the lowest. */
static void
test_bounds_of_imports (void)
{
  const int types[] = { 1, 10, 11, 14 };

  for (gsize i = 0; i < G_N_ELEMENTS (types); i++)
    {
      g_autoptr (GError) local_error = NULL;
      Producer producer;
      g_autoptr (MtlStridedView) view = NULL;
      g_autoptr (MtlStridedView) again = NULL;
      g_autoptr (MtlStridedLayout) layout = NULL;
      MtlBuffer *buffer;

      producer_init (&producer);
      producer.versioned.dl_tensor.device.device_type = types[i];
      producer.versioned.dl_tensor.byte_offset = 8;
      producer.strides[0] = -3;
      producer.strides[1] = -1;
      producer.versioned.dl_tensor.data = producer.data + 3;
      view = mtl_strided_view_new_take_dlpack (&producer.versioned, &local_error);
      g_assert_no_error (local_error);

      buffer = mtl_strided_view_get_buffer (view);
      assert_required_size (view, 24);
      g_assert_true (mtl_buffer_get_handle (buffer) == producer.data);
      g_assert_cmpuint (mtl_buffer_get_size (buffer), ==, 24);
      g_assert_cmpuint (mtl_strided_view_get_byte_offset (view), ==, 20);
      assert_view_strides (view, -3, -1);

      layout = g_object_ref (mtl_strided_view_get_layout (view));
      again = mtl_strided_view_new (buffer, layout, MTL_DTYPE_FLOAT32, 20, &local_error);
      g_assert_no_error (local_error);
      g_assert_true (mtl_strided_view_equal (view, again));
      assert_fails (mtl_strided_view_new (buffer, layout, MTL_DTYPE_FLOAT32, 19, &error),
                    MTL_ERROR_OUT_OF_BOUNDS, "19");
      if (mtl_strided_view_is_host_accessible (view))
        {
          assert_ends_at (buffer, 24);
          assert_elements (view, 5, 4, 3, 2, 1, 0);
        }
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/StridedView/overlaps", test_overlaps);
  g_test_add_func ("/StridedView/overlaps/types", test_overlaps_types);
  g_test_add_func ("/StridedView/overlaps/too-hard", test_too_hard);
  g_test_add_func ("/StridedView/overlaps/imports", test_overlaps_imports);
  g_test_add_func ("/StridedView/overlaps/far-away", test_overlaps_far_away);
  g_test_add_func ("/StridedView/overlaps/large-strides", test_overlaps_large_strides);
  g_test_add_func ("/StridedView/overlaps/devices", test_no_overlap_of_devices);
  g_test_add_func ("/StridedView/required-size", test_required_size);
  g_test_add_func ("/StridedView/bounds/sources", test_bounds_of_sources);
  g_test_add_func ("/StridedView/bounds/imports", test_bounds_of_imports);

  return g_test_run ();
}
