/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "test-utils.h"

#include <math.h>

/* 0, 1, 2, … in an own, writable tensor. */
static MtlStridedView *
new_range (MtlDType      dtype,
           const gint64 *shape,
           gsize         n_dims)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) values = g_array_new (FALSE, FALSE, sizeof (double));
  gint64 volume = 1;
  MtlStridedView *view;

  for (gsize i = 0; i < n_dims; i++)
    volume *= shape[i];
  for (gint64 i = 0; i < volume; i++)
    {
      double value = i;

      g_array_append_val (values, value);
    }

  view = mtl_strided_view_new_from_doubles ((gpointer) values->data, volume, dtype, shape, n_dims,
                                            &error);
  g_assert_no_error (error);
  return view;
}

static void
test_new (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlBuffer) buffer = mtl_buffer_new (NULL, 64, MTL_STORAGE_MODE_HOST, &error);
  g_autoptr (MtlStridedLayout) layout = mtl_strided_layout_new (DIMS (2, 3), DIMS (-4, 1), 16,
                                                                &error);
  MtlStridedView *view = mtl_strided_view_new (buffer, layout, MTL_DTYPE_INT16, 8, &error);
  MtlStridedLayout *same_layout = NULL;
  g_autofree gint64 *byte_strides = NULL;
  g_autofree int *order = NULL;
  gint64 min, max;
  gsize n;

  g_assert_no_error (error);
  same_layout = mtl_strided_view_get_layout (view);
  g_assert_true (mtl_strided_view_get_layout (view) == same_layout);
  byte_strides = mtl_strided_layout_dup_byte_strides (same_layout, &n, &error);
  assert_dims (byte_strides, n, -8, 2);
  order = mtl_strided_layout_dup_stride_order (same_layout, &n);
  g_assert_cmpint (order[0], ==, 0);

  g_assert_true (mtl_strided_view_get_buffer (view) == buffer);
  g_assert_true (mtl_strided_layout_equal (layout, same_layout));
  g_assert_cmpuint (mtl_strided_view_get_byte_offset (view), ==, 8);
  g_assert_cmpint (mtl_strided_view_get_dtype (view), ==, MTL_DTYPE_INT16);
  g_assert_cmpuint (mtl_strided_layout_get_item_bits (same_layout), ==, 16);
  g_assert_cmpuint (mtl_strided_view_get_lanes (view), ==, 1);
  g_assert_false (mtl_strided_view_is_padded (view));
  g_assert_true (mtl_strided_view_get_device (view) == mtl_device_get_host ());
  g_assert_cmpint (mtl_device_get_device_type (mtl_strided_view_get_device (view)), ==,
                   MTL_DEVICE_TYPE_CPU);
  g_assert_cmpint (mtl_device_get_ordinal (mtl_strided_view_get_device (view)), ==, 0);
  g_assert_true (mtl_strided_view_is_host_accessible (view));
  g_assert_false (mtl_strided_view_is_read_only (view));
  g_assert_cmpuint (mtl_strided_view_get_n_dims (view), ==, 2);
  g_assert_cmpint (mtl_strided_layout_get_offset (same_layout), ==, 0);
  g_assert_cmpint (mtl_strided_view_get_volume (view), ==, 6);
  g_assert_cmpuint (mtl_strided_layout_get_flatten_mask (same_layout), ==, 0);
  g_assert_false (mtl_strided_layout_is_dense (same_layout));
  g_assert_true (mtl_strided_layout_is_unique (same_layout));
  g_assert_false (mtl_strided_view_is_empty (view));
  g_assert_false (mtl_strided_view_is_contiguous (view, MTL_ORDER_ANY));
  g_assert_cmpint (mtl_strided_view_get_extent (view, -1, &error), ==, 3);
  g_assert_cmpint (mtl_strided_layout_get_stride (same_layout, 0, &error), ==, -4);
  mtl_strided_layout_get_offset_bounds (same_layout, &min, &max);
  g_assert_cmpint (min, ==, -4);
  g_assert_cmpint (max, ==, 2);
  g_assert_no_error (error);
  g_assert_true (mtl_strided_view_get_data (view)
                 == (guint8 *) mtl_buffer_get_contents (buffer) + 8);
  g_assert_cmpuint (mtl_strided_view_get_address (view), ==,
                    (guintptr) mtl_strided_view_get_data (view));
  g_assert_finalize_object (view);
}

/* Every way in which elements can leave a buffer of 16 bytes. */
static void
test_bounds (void)
{
  static const struct
  {
    gint64 extent, stride;
    gsize byte_offset;
    gboolean fits;
  } cases[] = {
    { 4, 1, 0, TRUE },
    { 5, 1, 0, FALSE },              /* behind the end */
    { 4, 1, 1, FALSE },
    { 3, 1, 4, TRUE },
    { 4, -1, 12, TRUE },
    { 4, -1, 11, FALSE },            /* before the start */
    { 2, -1, 0, FALSE },
    { 2, 3, 0, TRUE },
    { 2, 4, 0, FALSE },
    { 1, 0, 13, FALSE },             /* the last element is cut */
    { 1, 0, 16, FALSE },
    { 0, 1, 16, TRUE },              /* nothing may lie at the end */
    { 0, 1, 17, FALSE },
    { 0, 1, G_MAXSIZE, FALSE },
    { 1, 1, G_MAXSIZE, FALSE },      /* sums that wrap around */
    { 1, 1, G_MAXSIZE - 2, FALSE },
    { 1, 1, (gsize) 1 << 63, FALSE },
    { 2, G_GINT64_CONSTANT (1) << 57, 0, FALSE },
    { 2, -(G_GINT64_CONSTANT (1) << 57), 0, FALSE },
    { 2, -(G_GINT64_CONSTANT (1) << 57), (gsize) 1 << 60, FALSE },
    { 1000000, 0, 12, TRUE },
    { 1, G_MAXINT64, 0, TRUE },      /* a stride that is never walked */
  };
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlBuffer) parent = mtl_buffer_new (NULL, 64, MTL_STORAGE_MODE_HOST, &local_error);
  g_autoptr (MtlBuffer) buffer = mtl_buffer_slice (parent, 24, 16, &local_error);

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (MtlStridedLayout) layout =
        mtl_strided_layout_new (&cases[i].extent, 1, &cases[i].stride, 1, 32, &local_error);
      g_autofree char *offset = g_strdup_printf ("%" G_GSIZE_FORMAT, cases[i].byte_offset);

      g_assert_no_error (local_error);
      if (cases[i].fits)
        {
          g_autoptr (MtlStridedView) view =
            mtl_strided_view_new (buffer, layout, MTL_DTYPE_INT32, cases[i].byte_offset,
                                  &local_error);

          g_assert_no_error (local_error);
          g_assert_cmpuint (mtl_strided_view_get_byte_offset (view), ==, cases[i].byte_offset);
        }
      else
        assert_fails (mtl_strided_view_new (buffer, layout, MTL_DTYPE_INT32, cases[i].byte_offset,
                                            &error),
                      MTL_ERROR_OUT_OF_BOUNDS, offset);
    }
}

static void
test_bounds_overflow (void)
{
  g_autoptr (MtlBuffer) buffer = mtl_buffer_new (NULL, 16, MTL_STORAGE_MODE_HOST, NULL);
  g_autoptr (MtlStridedLayout) layout = mtl_strided_layout_new (DIMS (2), DIMS (POW2 (61)), 32,
                                                                NULL);

  assert_fails (mtl_strided_view_new (buffer, layout, MTL_DTYPE_INT32, 0, &error),
                MTL_ERROR_OVERFLOW, "2305843009213693952");
}

static void
test_bad_dtype (void)
{
  g_autoptr (MtlBuffer) buffer = mtl_buffer_new (NULL, 64, MTL_STORAGE_MODE_HOST, NULL);
  g_autoptr (MtlStridedLayout) layout = mtl_strided_layout_new (DIMS (2), NULL, 0, 32, NULL);
  g_autoptr (GBytes) bytes = g_bytes_new_static ("abcd", 4);

  assert_fails (mtl_strided_view_new (buffer, layout, MTL_DTYPE_INT16, 0, &error),
                MTL_ERROR_INVALID_ARGUMENT, "32 & int16 & 16");
  assert_fails (mtl_strided_view_new (buffer, layout, MTL_DTYPE_OTHER, 0, &error),
                MTL_ERROR_INVALID_ARGUMENT, "0x0");
  assert_fails (mtl_strided_view_new (buffer, layout, (MtlDType) 0x0720, 0, &error),
                MTL_ERROR_INVALID_ARGUMENT, "0x720");
  assert_fails (mtl_strided_view_new_zeros (NULL, (MtlDType) 0x0018, DIMS (2),
                                            MTL_STORAGE_MODE_DEFAULT, &error),
                MTL_ERROR_INVALID_ARGUMENT, "0x18");
  assert_fails (mtl_strided_view_new_from_doubles (DOUBLES (1), MTL_DTYPE_OTHER, DIMS (1), &error),
                MTL_ERROR_INVALID_ARGUMENT, "0x0");
  assert_fails (mtl_strided_view_new_from_bytes (bytes, MTL_DTYPE_OTHER, DIMS (1), &error),
                MTL_ERROR_INVALID_ARGUMENT, "0x0");
  assert_fails (mtl_strided_view_new_from_variant (g_variant_new_int32 (1), MTL_DTYPE_OTHER,
                                                   DIMS (1), &error),
                MTL_ERROR_INVALID_ARGUMENT, "0x0");
}

static void
test_allocate (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) zeros = mtl_strided_view_new_zeros (NULL, MTL_DTYPE_FLOAT32,
                                                                 DIMS (2, 3),
                                                                 MTL_STORAGE_MODE_DEFAULT, &error);
  g_autoptr (MtlStridedView) empty =
    mtl_strided_view_new_uninitialized (mtl_device_get_host (), MTL_DTYPE_FLOAT64, DIMS (5),
                                        MTL_STORAGE_MODE_DEFAULT, &error);
  g_autoptr (MtlStridedView) full = mtl_strided_view_new_filled (NULL, MTL_DTYPE_INT8, DIMS (2, 2),
                                                                 -7.9, MTL_STORAGE_MODE_DEFAULT,
                                                                 &error);
  g_autoptr (MtlStridedView) scalar = mtl_strided_view_new_filled (NULL, MTL_DTYPE_COMPLEX64,
                                                                   NO_DIMS, 1.5,
                                                                   MTL_STORAGE_MODE_DEFAULT,
                                                                   &error);
  g_autoptr (MtlStridedView) nothing = mtl_strided_view_new_zeros (NULL, MTL_DTYPE_INT8,
                                                                   DIMS (0, POW2 (40)),
                                                                   MTL_STORAGE_MODE_DEFAULT,
                                                                   &error);

  g_assert_no_error (error);
  assert_elements (zeros, 0, 0, 0, 0, 0, 0);
  g_assert_cmpint (mtl_strided_layout_get_required_size (mtl_strided_view_get_layout (zeros), NULL),
                   ==, 24);
  g_assert_cmpuint (mtl_strided_view_get_address (zeros) % 64, ==, 0);
  assert_view_strides (empty, 1);
  assert_elements (full, -7, -7, -7, -7);
  assert_elements (scalar, 1.5);
  g_assert_true (mtl_strided_view_is_empty (nothing));
  g_assert_null (mtl_strided_view_get_data (nothing));
  g_assert_cmpuint (mtl_strided_view_get_address (nothing), ==, 0);
}

/* The host has one mode only. */
static void
test_allocate_storage_modes (void)
{
  static const struct
  {
    MtlStorageMode mode;
    const char *nick;
  } refused[] = {
    { MTL_STORAGE_MODE_SHARED, "shared" },
    { MTL_STORAGE_MODE_MANAGED, "managed" },
    { MTL_STORAGE_MODE_PRIVATE, "private" },
    { MTL_STORAGE_MODE_FOREIGN, "foreign" },
    { (MtlStorageMode) 77, "77" },
  };
  MtlDevice *host = mtl_device_get_host ();
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlStridedView) filled =
    mtl_strided_view_new_filled (NULL, MTL_DTYPE_INT8, DIMS (2), 7, MTL_STORAGE_MODE_HOST,
                                 &local_error);

  g_assert_no_error (local_error);
  g_assert_true (mtl_strided_view_get_device (filled) == host);
  g_assert_cmpint (mtl_buffer_get_storage_mode (mtl_strided_view_get_buffer (filled)), ==,
                   MTL_STORAGE_MODE_HOST);
  assert_elements (filled, 7, 7);

  for (gsize i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      MtlStorageMode mode = refused[i].mode;

      assert_fails (mtl_strided_view_new_zeros (host, MTL_DTYPE_INT8, DIMS (2), mode, &error),
                    MTL_ERROR_NOT_SUPPORTED, refused[i].nick);
      assert_fails (mtl_strided_view_new_uninitialized (host, MTL_DTYPE_INT8, DIMS (0), mode,
                                                        &error),
                    MTL_ERROR_NOT_SUPPORTED, refused[i].nick);
      assert_fails (mtl_strided_view_new_filled (host, MTL_DTYPE_INT8, DIMS (2), 7, mode, &error),
                    MTL_ERROR_NOT_SUPPORTED, refused[i].nick);
    }
}

static void
test_allocate_bad (void)
{
  assert_fails (mtl_strided_view_new_zeros (NULL, MTL_DTYPE_FLOAT64, DIMS (POW2 (62)),
                                            MTL_STORAGE_MODE_DEFAULT, &error),
                MTL_ERROR_OVERFLOW, "4611686018427387903");
  assert_fails (mtl_strided_view_new_zeros (NULL, MTL_DTYPE_UINT8, DIMS (POW2 (62)),
                                            MTL_STORAGE_MODE_DEFAULT, &error),
                MTL_ERROR_NO_MEMORY, "4611686018427387904");
  assert_fails (mtl_strided_view_new_zeros (NULL, MTL_DTYPE_UINT8, DIMS (POW2 (59)),
                                            MTL_STORAGE_MODE_DEFAULT, &error),
                MTL_ERROR_NO_MEMORY, "576460752303423488");
  assert_fails (mtl_strided_view_new_uninitialized (NULL, MTL_DTYPE_FLOAT64,
                                                    DIMS (POW2 (40), POW2 (16)),
                                                    MTL_STORAGE_MODE_DEFAULT, &error),
                MTL_ERROR_NO_MEMORY, "576460752303423488");
  assert_fails (mtl_strided_view_new_filled (NULL, MTL_DTYPE_UINT8, DIMS (2), 256,
                                             MTL_STORAGE_MODE_DEFAULT, &error),
                MTL_ERROR_OVERFLOW, "256");
  assert_fails (mtl_strided_view_new_zeros (NULL, MTL_DTYPE_UINT8, DIMS (2, -1),
                                            MTL_STORAGE_MODE_DEFAULT, &error),
                MTL_ERROR_INVALID_ARGUMENT, "-1");
  assert_fails (mtl_strided_view_new_zeros (NULL, MTL_DTYPE_UINT8, DIMS (POW2 (40), POW2 (40)),
                                            MTL_STORAGE_MODE_DEFAULT, &error),
                MTL_ERROR_OVERFLOW, "1099511627776");
}

static void
test_from_doubles (void)
{
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlStridedView) view =
    mtl_strided_view_new_from_doubles (DOUBLES (1, -2, 0.5, 1e9), MTL_DTYPE_FLOAT16, DIMS (2, 2),
                                       &local_error);

  g_assert_no_error (local_error);
  assert_elements (view, 1, -2, 0.5, INFINITY);
  assert_fails (mtl_strided_view_new_from_doubles (DOUBLES (1, 2, 3), MTL_DTYPE_INT8, DIMS (2, 2),
                                                   &error),
                MTL_ERROR_INVALID_ARGUMENT, "3 & (2, 2) & 4");
  assert_fails (mtl_strided_view_new_from_doubles (DOUBLES (1, 200), MTL_DTYPE_INT8, DIMS (2),
                                                   &error), MTL_ERROR_OVERFLOW, "200 & int8");
  assert_fails (mtl_strided_view_new_from_doubles (DOUBLES (1), MTL_DTYPE_INT8, DIMS (0), &error),
                MTL_ERROR_INVALID_ARGUMENT, "1");
}

/* Views the bytes, and counts how often they are given back. */
#define FOR_DATA(n_freed, ...) \
  mtl_strided_view_new_for_data (__VA_ARGS__, count_call, n_freed, &error)

/* Views the picture from below upside down. */
static void
test_for_data (void)
{
  guint8 pixels[14] = { 7, 8, 9, 10, 11, 12, 0xff, 1, 2, 3, 4, 5, 6, 0xff };
  g_autoptr (GError) error = NULL;
  int n_freed = 0;
  MtlStridedView *view =
    FOR_DATA (&n_freed, pixels, 13, MTL_DTYPE_UINT8, DIMS (2, 2, 3), DIMS (-7, 3, 1), 7,
              MTL_BUFFER_FLAGS_NONE);
  MtlStridedView *row;

  g_assert_no_error (error);
  g_assert_true (mtl_strided_view_get_data (view) == pixels + 7);
  g_assert_cmpuint (mtl_buffer_get_size (mtl_strided_view_get_buffer (view)), ==, 13);
  g_assert_true (mtl_strided_view_get_device (view) == mtl_device_get_host ());
  assert_elements (view, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
  g_assert_true (mtl_strided_view_fill_double (view, 5, NULL, &error));
  g_assert_cmpmem (pixels, 14, "\5\5\5\5\5\5\377\5\5\5\5\5\5\377", 14);

  row = mtl_strided_view_slice_string (view, "1", &error);
  g_object_unref (view);
  g_assert_cmpint (n_freed, ==, 0);
  g_object_unref (row);
  g_assert_cmpint (n_freed, ==, 1);

  view = FOR_DATA (&n_freed, pixels, 14, MTL_DTYPE_UINT8, DIMS (2, 7), NO_DIMS, 0,
                   MTL_BUFFER_FLAGS_READ_ONLY | MTL_BUFFER_FLAGS_NEVER_COPY);
  g_assert_no_error (error);
  g_assert_true (mtl_strided_view_get_data (view) == pixels);
  g_assert_true (mtl_strided_view_is_read_only (view));
  g_assert_finalize_object (view);

  view = FOR_DATA (&n_freed, NULL, 0, MTL_DTYPE_FLOAT64, DIMS (3, 0), NO_DIMS, 0,
                   MTL_BUFFER_FLAGS_NONE);
  g_assert_no_error (error);
  assert_view_shape (view, 3, 0);
  g_object_unref (view);
  g_assert_cmpint (n_freed, ==, 3);
}

static void
test_for_data_errors (void)
{
  guint8 bytes[16] = { 0 };
  const gint64 many[65] = { 1 };
  int n_freed = 0;

#define assert_refused(code, figure, ...) \
  assert_fails (FOR_DATA (&n_freed, __VA_ARGS__, MTL_BUFFER_FLAGS_NONE), code, figure)

  assert_refused (MTL_ERROR_INVALID_ARGUMENT, "0x0",
                  bytes, 16, MTL_DTYPE_OTHER, DIMS (1), NO_DIMS, 0);
  assert_refused (MTL_ERROR_OUT_OF_BOUNDS, "16",
                  bytes, 16, MTL_DTYPE_INT16, DIMS (8), NO_DIMS, 1);
  assert_refused (MTL_ERROR_OUT_OF_BOUNDS, "-2",
                  bytes, 16, MTL_DTYPE_INT16, DIMS (2), DIMS (-2), 1);
  assert_refused (MTL_ERROR_OUT_OF_BOUNDS, "17",
                  bytes, 16, MTL_DTYPE_INT16, DIMS (0), NO_DIMS, 17);
  assert_refused (MTL_ERROR_OUT_OF_BOUNDS, "18446744073709551615",
                  bytes, 16, MTL_DTYPE_INT16, DIMS (1), NO_DIMS, G_MAXSIZE);
  assert_refused (MTL_ERROR_INVALID_ARGUMENT, "3",
                  bytes, 16, MTL_DTYPE_INT16, DIMS (2), DIMS (3), 0);
  assert_refused (MTL_ERROR_INVALID_ARGUMENT, "1 & 2",
                  bytes, 16, MTL_DTYPE_INT8, DIMS (2, 2), DIMS (1), 0);
  assert_refused (MTL_ERROR_INVALID_ARGUMENT, "-2",
                  bytes, 16, MTL_DTYPE_INT8, DIMS (-2), NO_DIMS, 0);
  assert_refused (MTL_ERROR_INVALID_ARGUMENT, "65",
                  bytes, 16, MTL_DTYPE_INT8, many, 65, NO_DIMS, 0);
  assert_refused (MTL_ERROR_OVERFLOW, "9223372036854775807",
                  bytes, 16, MTL_DTYPE_INT8, DIMS (3), DIMS (G_MAXINT64), 0);
  assert_refused (MTL_ERROR_OVERFLOW, "18446744073709551615",
                  bytes, G_MAXSIZE, MTL_DTYPE_INT8, DIMS (3), NO_DIMS, 0);
  /* MAP_FAILED */
  assert_refused (MTL_ERROR_OVERFLOW, "16",
                  (gpointer) -1, 16, MTL_DTYPE_INT8, DIMS (16), NO_DIMS, 0);
  assert_refused (MTL_ERROR_OVERFLOW, "17",
                  (gpointer) -16, 17, MTL_DTYPE_INT8, DIMS (1), NO_DIMS, 0);

#undef assert_refused
  g_assert_cmpint (n_freed, ==, 13);
}

/* Compares the elements' addresses, and whether all are in the memory, with a walk over all
 * indices. */
static void
test_for_data_random (void)
{
  const MtlDType dtypes[] = {
    MTL_DTYPE_UINT8, MTL_DTYPE_INT16, MTL_DTYPE_FLOAT32, MTL_DTYPE_COMPLEX64, MTL_DTYPE_COMPLEX128
  };
  static guint8 memory[96];
  guint n_valid = 0;

  for (guint round = 0; round < 20000; round++)
    {
      int n_freed = 0; /* outlives the view */
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedView) view = NULL;
      const MtlDType dtype = dtypes[g_test_rand_int_range (0, G_N_ELEMENTS (dtypes))];
      const gint64 itemsize = mtl_dtype_get_bits (dtype) / 8;
      const gint64 size = g_test_rand_int_range (0, sizeof memory + 1);
      const gint64 byte_offset = g_test_rand_int_range (0, sizeof memory + 1);
      gboolean fits = byte_offset <= size;
      gint64 shape[2], strides[2];

      for (guint axis = 0; axis < 2; axis++)
        {
          shape[axis] = g_test_rand_int_range (0, 5);
          strides[axis] = g_test_rand_int_range (-4, 5) * itemsize;
        }

      for (gint64 i = 0; i < shape[0] * shape[1]; i++)
        {
          const gint64 byte = byte_offset + i / shape[1] * strides[0] + i % shape[1] * strides[1];

          fits &= byte >= 0 && byte + itemsize <= size;
        }

      view = FOR_DATA (&n_freed, memory, size, dtype, shape, 2, strides, 2, byte_offset,
                       MTL_BUFFER_FLAGS_NONE);
      g_assert_cmpint (view != NULL, ==, fits);
      g_assert_cmpint (n_freed, ==, !fits);
      if (!fits)
        {
          g_assert_error (error, MTL_ERROR, MTL_ERROR_OUT_OF_BOUNDS);
          continue;
        }

      n_valid++;
      for (gint64 i = 0; i < shape[0] * shape[1]; i++)
        {
          g_autoptr (MtlStridedView) row = mtl_strided_view_select (view, 0, i / shape[1], NULL);
          g_autoptr (MtlStridedView) element = mtl_strided_view_select (row, 0, i % shape[1], NULL);

          g_assert_true (mtl_strided_view_get_data (element)
                         == memory + byte_offset + i / shape[1] * strides[0]
                            + i % shape[1] * strides[1]);
        }
    }

  g_assert_cmpuint (n_valid, >, 1000);
}

/* A picture: rows of 7 bytes, with 6 bytes of pixels. */
static void
test_from_bytes (void)
{
  g_autoptr (GError) local_error = NULL;
  const guint8 pixels[14] = { 1, 2, 3, 4, 5, 6, 0xff, 7, 8, 9, 10, 11, 12, 0xff };
  g_autoptr (GBytes) bytes = g_bytes_new_static (pixels, 13);
  g_autoptr (MtlStridedView) view =
    mtl_strided_view_new_from_bytes_with_byte_strides (bytes, MTL_DTYPE_UINT8, DIMS (2, 2, 3),
                                                       DIMS (7, 3, 1), &local_error);
  g_autoptr (MtlStridedView) green = mtl_strided_view_slice_string (view, "..., 1", &local_error);

  g_assert_no_error (local_error);
  g_assert_true (mtl_strided_view_get_data (view) == pixels);
  g_assert_true (mtl_strided_view_is_read_only (view));
  g_assert_true (mtl_strided_view_is_read_only (green));
  assert_elements (view, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
  assert_elements (green, 2, 5, 8, 11);

  assert_refuses (mtl_strided_view_fill_double (green, 0, NULL, &error), MTL_ERROR_READ_ONLY,
                  "(2, 2)");
  assert_fails (mtl_strided_view_new_from_bytes (bytes, MTL_DTYPE_UINT8, DIMS (2, 7), &error),
                MTL_ERROR_OUT_OF_BOUNDS, "13");
  assert_fails (mtl_strided_view_new_from_bytes_with_byte_strides (bytes, MTL_DTYPE_UINT16,
                                                                   DIMS (2), DIMS (3), &error),
                MTL_ERROR_INVALID_ARGUMENT, "3");
  assert_fails (mtl_strided_view_new_from_bytes_with_byte_strides (bytes, MTL_DTYPE_UINT8, DIMS (2),
                                                                   DIMS (-1), &error),
                MTL_ERROR_OUT_OF_BOUNDS, "-1");
  assert_fails (mtl_strided_view_new_from_bytes_with_byte_strides (bytes, MTL_DTYPE_UINT8, DIMS (2),
                                                                   DIMS (1, 1), &error),
                MTL_ERROR_INVALID_ARGUMENT, "2 & 1");
}

static void
test_from_variant (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) nested =
    mtl_strided_view_new_from_variant (g_variant_new_parsed ("[[1, 2, 3], [4, 5, 6]]"),
                                       MTL_DTYPE_FLOAT32, DIMS (2, 3), &error);
  g_autoptr (MtlStridedView) mixed =
    mtl_strided_view_new_from_variant (
      g_variant_new_parsed ("(true, byte 2, int16 -3, uint16 4, 5, uint32 6, int64 7,"
                            " (uint64 8, 9.5), <10>, [<11>])"),
      MTL_DTYPE_FLOAT64, DIMS (11), &error);
  g_autoptr (MtlStridedView) big =
    mtl_strided_view_new_from_variant (g_variant_new_parsed ("[uint64 18446744073709551615, 1]"),
                                       MTL_DTYPE_UINT64, DIMS (2), &error);
  g_autoptr (MtlStridedView) small =
    mtl_strided_view_new_from_variant (g_variant_new_int64 (G_MININT64), MTL_DTYPE_INT64, NO_DIMS,
                                       &error);
  g_autoptr (MtlStridedView) nothing =
    mtl_strided_view_new_from_variant (g_variant_new_parsed ("@ai []"), MTL_DTYPE_INT64, DIMS (0),
                                       &error);

  g_assert_no_error (error);
  assert_elements (nested, 1, 2, 3, 4, 5, 6);
  assert_elements (mixed, 1, 2, -3, 4, 5, 6, 7, 8, 9.5, 10, 11);
  g_assert_cmpuint (mtl_strided_view_get_uint64 (big, DIMS (0), &error), ==, G_MAXUINT64);
  g_assert_cmpint (mtl_strided_view_get_int64 (small, NO_DIMS, &error), ==, G_MININT64);
  g_assert_true (mtl_strided_view_is_empty (nothing));
  g_assert_no_error (error);
}

static void
test_from_variant_bad (void)
{
  static const struct { const char *values; MtlError code; const char *value; } cases[] = {
    { "[1, 2, 3]", MTL_ERROR_INVALID_ARGUMENT, "3 & (2,)" },
    { "[1]", MTL_ERROR_INVALID_ARGUMENT, "1 & (2,)" },
    { "@ai []", MTL_ERROR_INVALID_ARGUMENT, "0 & (2,)" },
    { "(1, 'two')", MTL_ERROR_INVALID_ARGUMENT, "“s”" },
    { "[1, 300]", MTL_ERROR_OVERFLOW, "300 & uint8" },
    { "[1, -1]", MTL_ERROR_OVERFLOW, "-1 & uint8" },
    { "[uint64 18446744073709551615, 1]", MTL_ERROR_OVERFLOW, "18446744073709551615" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_fails (mtl_strided_view_new_from_variant (g_variant_new_parsed (cases[i].values),
                                                     MTL_DTYPE_UINT8, DIMS (2), &error),
                  cases[i].code, cases[i].value);
}

/* A floating reference is taken, one of the caller's is not. */
static void
test_from_variant_reference (void)
{
  g_autoptr (GError) error = NULL;
  GVariant *floating = g_variant_new_parsed ("[1, 2]");
  GVariant *kept = g_variant_ref_sink (g_variant_new_parsed ("[3, 4]"));
  g_autoptr (MtlStridedView) a = NULL;
  g_autoptr (MtlStridedView) b = NULL;

  g_variant_ref (floating);
  a = mtl_strided_view_new_from_variant (floating, MTL_DTYPE_INT8, DIMS (2), &error);
  b = mtl_strided_view_new_from_variant (kept, MTL_DTYPE_INT8, DIMS (2), &error);
  g_assert_no_error (error);
  g_assert_false (g_variant_is_floating (floating));
  assert_elements (a, 1, 2);
  assert_elements (b, 3, 4);
  g_variant_unref (floating);
  g_variant_unref (kept);
}

static void
test_like (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = new_range (MTL_DTYPE_INT16, DIMS (2, 3));
  g_autoptr (MtlStridedView) transposed = mtl_strided_view_transpose (view);
  g_autoptr (MtlStridedView) locked = mtl_strided_view_as_read_only (transposed);
  g_autoptr (MtlStridedView) like = mtl_strided_view_new_zeros_like (locked, &error);

  g_assert_no_error (error);
  assert_view_shape (like, 3, 2);
  assert_view_strides (like, 1, 3);
  assert_elements (like, 0, 0, 0, 0, 0, 0);
  g_assert_cmpint (mtl_strided_view_get_dtype (like), ==, MTL_DTYPE_INT16);
  g_assert_false (mtl_strided_view_is_read_only (like));
}

/* Each operation shares the memory, and shows the elements that the layout's
 * own does. */
static void
test_operations (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = new_range (MTL_DTYPE_UINT8, DIMS (2, 1, 3));
  const MtlSlice last = MTL_SLICE_AT (-1);
  MtlStridedView *results[] = {
    mtl_strided_view_reshape (view, DIMS (3, -1), &error),
    mtl_strided_view_flatten (view, 0, -1, &error),
    mtl_strided_view_permute (view, AXES (2, 0, 1), &error),
    mtl_strided_view_transpose (view),
    mtl_strided_view_swap_axes (view, 0, 1, &error),
    mtl_strided_view_squeeze (view),
    mtl_strided_view_squeeze_axes (view, AXES (-2), &error),
    mtl_strided_view_unsqueeze (view, AXES (0), &error),
    mtl_strided_view_broadcast_to (view, DIMS (2, 2, 3), &error),
    mtl_strided_view_narrow (view, 2, 1, 3, 1, &error),
    mtl_strided_view_select (view, 0, 1, &error),
    mtl_strided_view_flip (view, 2, &error),
    mtl_strided_view_slice (view, &last, 1, &error),
    mtl_strided_view_slice_string (view, "..., ::2", &error),
    mtl_strided_view_as_read_only (view),
  };
  guint64 address = mtl_strided_view_get_address (view);

  g_assert_no_error (error);
  assert_elements (results[0], 0, 1, 2, 3, 4, 5);
  assert_elements (results[1], 0, 1, 2, 3, 4, 5);
  assert_elements (results[2], 0, 3, 1, 4, 2, 5);
  assert_elements (results[3], 0, 3, 1, 4, 2, 5);
  assert_elements (results[4], 0, 1, 2, 3, 4, 5);
  assert_elements (results[5], 0, 1, 2, 3, 4, 5);
  assert_elements (results[6], 0, 1, 2, 3, 4, 5);
  assert_elements (results[7], 0, 1, 2, 3, 4, 5);
  assert_elements (results[8], 0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5);
  assert_elements (results[9], 1, 2, 4, 5);
  assert_elements (results[10], 3, 4, 5);
  assert_elements (results[11], 2, 1, 0, 5, 4, 3);
  assert_elements (results[12], 3, 4, 5);
  assert_elements (results[13], 0, 2, 3, 5);
  assert_elements (results[14], 0, 1, 2, 3, 4, 5);

  for (gsize i = 0; i < G_N_ELEMENTS (results); i++)
    {
      guint64 offset = mtl_strided_view_get_address (results[i]) - address;

      g_assert_cmpuint (offset, <, 6);
      g_assert_true (mtl_strided_view_is_read_only (results[i]) == (i == 14));
      g_object_unref (results[i]);
    }
}

static void
test_operation_errors (void)
{
  g_autoptr (MtlStridedView) view = new_range (MTL_DTYPE_UINT8, DIMS (2, 3));
  g_autoptr (MtlStridedView) transposed = mtl_strided_view_transpose (view);
  const MtlSlice outside = MTL_SLICE_AT (5);

  assert_fails (mtl_strided_view_reshape (transposed, DIMS (6), &error),
                MTL_ERROR_NEEDS_COPY, "(6,)");
  assert_fails (mtl_strided_view_flatten (view, 0, 2, &error), MTL_ERROR_OUT_OF_BOUNDS, "2");
  assert_fails (mtl_strided_view_permute (view, AXES (0, 0), &error),
                MTL_ERROR_INVALID_ARGUMENT, "0");
  assert_fails (mtl_strided_view_swap_axes (view, 0, 2, &error), MTL_ERROR_OUT_OF_BOUNDS, "2");
  assert_fails (mtl_strided_view_squeeze_axes (view, AXES (0), &error),
                MTL_ERROR_INVALID_ARGUMENT, "2");
  assert_fails (mtl_strided_view_unsqueeze (view, AXES (3), &error), MTL_ERROR_OUT_OF_BOUNDS, "3");
  assert_fails (mtl_strided_view_broadcast_to (view, DIMS (3, 3), &error),
                MTL_ERROR_INVALID_ARGUMENT, "(2, 3) & (3, 3)");
  assert_fails (mtl_strided_view_narrow (view, 0, 0, 1, 0, &error),
                MTL_ERROR_INVALID_ARGUMENT, "0");
  assert_fails (mtl_strided_view_select (view, 1, 3, &error), MTL_ERROR_OUT_OF_BOUNDS, "3");
  assert_fails (mtl_strided_view_flip (view, -3, &error), MTL_ERROR_OUT_OF_BOUNDS, "-3");
  assert_fails (mtl_strided_view_slice (view, &outside, 1, &error), MTL_ERROR_OUT_OF_BOUNDS, "5");
  assert_fails (mtl_strided_view_slice_string (view, "x", &error),
                MTL_ERROR_INVALID_ARGUMENT, "“x”");
  assert_refuses (mtl_strided_view_get_extent (view, 2, &error) != -1,
                  MTL_ERROR_OUT_OF_BOUNDS, "2");
  assert_refuses (mtl_strided_layout_get_stride (mtl_strided_view_get_layout (view), -3, &error)
                    != 0, MTL_ERROR_OUT_OF_BOUNDS, "-3");
}

/* A view outlives what it was made of. */
static void
test_keeps_memory (void)
{
  g_autoptr (GError) error = NULL;
  int n_destroyed = 0;
  guint8 data[6] = { 0, 1, 2, 3, 4, 5 };
  g_autoptr (MtlStridedLayout) layout = mtl_strided_layout_new (DIMS (2, 3), NULL, 0, 8, &error);
  MtlBuffer *buffer = mtl_buffer_new_for_data (data, 6, NULL, MTL_BUFFER_FLAGS_NONE, count_call,
                                               &n_destroyed, &error);
  MtlStridedView *view = mtl_strided_view_new (buffer, layout, MTL_DTYPE_UINT8, 0, &error);
  MtlStridedView *row = mtl_strided_view_select (view, 0, 1, &error);

  g_assert_no_error (error);
  g_object_unref (buffer);
  g_object_unref (view);
  g_assert_cmpint (n_destroyed, ==, 0);
  assert_elements (row, 3, 4, 5);
  g_assert_finalize_object (row);
  g_assert_cmpint (n_destroyed, ==, 1);
}

/* A view that was made without a buffer makes one once, on demand. */
static void
test_lazy_buffer (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = new_range (MTL_DTYPE_INT32, DIMS (4));
  g_autoptr (MtlStridedView) early = mtl_strided_view_slice_string (view, "1:", &error);
  MtlBuffer *buffer = mtl_strided_view_get_buffer (view);
  g_autoptr (MtlStridedView) late = mtl_strided_view_slice_string (view, "2:", &error);

  g_assert_no_error (error);
  g_assert_true (mtl_strided_view_get_buffer (view) == buffer);
  g_assert_true (mtl_strided_view_get_buffer (late) == buffer);
  g_assert_true (mtl_buffer_equal (mtl_strided_view_get_buffer (early), buffer));
  g_assert_cmpuint (mtl_buffer_get_size (buffer), ==, 16);
  g_assert_true (mtl_buffer_get_contents (buffer) == mtl_strided_view_get_data (view));
  g_assert_cmpuint (mtl_strided_view_get_byte_offset (late), ==, 0);
  g_assert_cmpint (mtl_strided_layout_get_offset (mtl_strided_view_get_layout (late)), ==, 2);
}

static void
test_equal (void)
{
  g_autoptr (GHashTable) table = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = new_range (MTL_DTYPE_INT32, DIMS (2, 3));
  g_autoptr (MtlStridedView) other = new_range (MTL_DTYPE_INT32, DIMS (2, 3));
  g_autoptr (MtlStridedView) again = mtl_strided_view_slice_string (view, "...", &error);
  g_autoptr (MtlStridedView) part = mtl_strided_view_slice_string (view, "1:", &error);
  g_autoptr (MtlStridedView) locked = mtl_strided_view_as_read_only (view);

  g_assert_no_error (error);
  g_assert_true (mtl_strided_view_equal (view, again));
  g_assert_cmpuint (mtl_strided_view_hash (view), ==, mtl_strided_view_hash (again));
  g_assert_false (mtl_strided_view_equal (view, other));
  g_assert_false (mtl_strided_view_equal (view, part));
  g_assert_false (mtl_strided_view_equal (view, locked));

  table = g_hash_table_new ((GHashFunc) mtl_strided_view_hash, (GEqualFunc) mtl_strided_view_equal);
  g_hash_table_add (table, view);
  g_hash_table_add (table, part);
  g_assert_true (g_hash_table_contains (table, again));
  g_assert_false (g_hash_table_contains (table, other));
  g_assert_cmpuint (g_hash_table_size (table), ==, 2);
}

static void
test_properties (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) whole = mtl_strided_view_new_zeros (NULL, MTL_DTYPE_INT16, DIMS (4, 6),
                                                                 MTL_STORAGE_MODE_DEFAULT, &error);
  g_autoptr (MtlStridedView) part = mtl_strided_view_slice_string (whole, "1:, ::-2", &error);
  g_autoptr (MtlStridedView) read_only = mtl_strided_view_as_read_only (part);
  MtlStridedView *views[] = { whole, part, read_only };

  g_assert_no_error (error);
  for (gsize i = 0; i < G_N_ELEMENTS (views); i++)
    {
      g_autoptr (MtlStridedLayout) layout = NULL;
      MtlStridedLayout *expected = mtl_strided_view_get_layout (views[i]);
      g_autoptr (MtlBuffer) buffer = NULL;
      g_autoptr (MtlDevice) device = NULL;

      assert_property (views[i], "n-dims", guint, mtl_strided_view_get_n_dims);
      assert_property (views[i], "volume", gint64, mtl_strided_view_get_volume);
      assert_property (views[i], "byte-offset", guint64, mtl_strided_view_get_byte_offset);
      assert_property (views[i], "dtype", MtlDType, mtl_strided_view_get_dtype);
      assert_property (views[i], "lanes", guint, mtl_strided_view_get_lanes);
      assert_property (views[i], "padded", gboolean, mtl_strided_view_is_padded);
      assert_property (views[i], "host-accessible", gboolean,
                       mtl_strided_view_is_host_accessible);
      assert_property (views[i], "read-only", gboolean, mtl_strided_view_is_read_only);

      g_object_get (views[i], "layout", &layout, "buffer", &buffer, "device", &device, NULL);
      g_assert_true (layout == expected);
      g_assert_true (buffer == mtl_strided_view_get_buffer (views[i]));
      g_assert_true (device == mtl_strided_view_get_device (views[i]));
    }
}

static void
test_bare (void)
{
  g_autoptr (GError) local_error = NULL;
  MtlStridedView *view = g_object_new (MTL_TYPE_STRIDED_VIEW, NULL);
  g_autoptr (MtlStridedView) copy = mtl_strided_view_copy (view, MTL_ORDER_C, NULL, &local_error);
  g_autoptr (GBytes) bytes = mtl_strided_view_dup_bytes (view, NULL, &local_error);
  g_autofree char *text = mtl_strided_view_to_string (view);

  g_assert_no_error (local_error);
  assert_view_shape (view, 0);
  g_assert_cmpstr (text, ==, "[]");
  g_assert_cmpuint (g_bytes_get_size (bytes), ==, 0);
  g_assert_cmpuint (mtl_buffer_get_size (mtl_strided_view_get_buffer (view)), ==, 0);
  g_assert_true (mtl_strided_view_copy_from (view, copy, NULL, &local_error));
  g_assert_true (mtl_strided_view_fill_double (view, 1, NULL, &local_error));
  g_assert_no_error (local_error);
  assert_refuses (mtl_strided_view_get_double (view, DIMS (0), &error) != 0,
                  MTL_ERROR_OUT_OF_BOUNDS, "0");
  g_assert_finalize_object (view);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  add_host_test ("/StridedView/new", test_new);
  g_test_add_func ("/StridedView/new/bounds", test_bounds);
  g_test_add_func ("/StridedView/new/bounds/overflow", test_bounds_overflow);
  g_test_add_func ("/StridedView/new/bad-dtype", test_bad_dtype);
  g_test_add_func ("/StridedView/new/allocate", test_allocate);
  add_host_test ("/StridedView/new/allocate/storage-modes", test_allocate_storage_modes);
  g_test_add_func ("/StridedView/new/allocate/bad", test_allocate_bad);
  g_test_add_func ("/StridedView/new/from-doubles", test_from_doubles);
  g_test_add_func ("/StridedView/new/for-data", test_for_data);
  g_test_add_func ("/StridedView/new/for-data/errors", test_for_data_errors);
  g_test_add_func ("/StridedView/new/for-data/random", test_for_data_random);
  g_test_add_func ("/StridedView/new/from-bytes", test_from_bytes);
  g_test_add_func ("/StridedView/new/from-variant", test_from_variant);
  g_test_add_func ("/StridedView/new/from-variant/bad", test_from_variant_bad);
  g_test_add_func ("/StridedView/new/from-variant/reference", test_from_variant_reference);
  g_test_add_func ("/StridedView/new/like", test_like);
  g_test_add_func ("/StridedView/new/bare", test_bare);
  g_test_add_func ("/StridedView/operations", test_operations);
  g_test_add_func ("/StridedView/operations/errors", test_operation_errors);
  g_test_add_func ("/StridedView/keeps-memory", test_keeps_memory);
  g_test_add_func ("/StridedView/lazy-buffer", test_lazy_buffer);
  g_test_add_func ("/StridedView/equal", test_equal);
  g_test_add_func ("/StridedView/properties", test_properties);

  return g_test_run ();
}
