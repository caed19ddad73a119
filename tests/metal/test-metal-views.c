/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Views of memory that the host does not reach do what those of the host do. */

#include "metal-tests.h"

static const MtlDType dtypes[] = {
  MTL_DTYPE_UINT8,
  MTL_DTYPE_INT16,
  MTL_DTYPE_BFLOAT16,
  MTL_DTYPE_FLOAT32,
  MTL_DTYPE_COMPLEX64,
  MTL_DTYPE_COMPLEX128,
  MTL_DTYPE_FLOAT8_E4M3FN,
  MTL_DTYPE_FLOAT6_E3M2FN,
  MTL_DTYPE_FLOAT4_E2M1FN,
  MTL_DTYPE_INT4,
};

/* Slices of a (4, 6) tensor; "T" turns it, "B" broadcasts it to (2, 4, 6). */
static const char *const shapes[] = {
  "...", "T", "1:3, ::2", "::-1, 1:", ":, ::-2", "2", "1, 3", "2:2", "::3, 5:0:-1", "B", "3, 4:",
};

/* (4, 6) elements in the midst of a buffer. */
#define N_ELEMENTS 24
#define N_BEFORE 2

typedef struct
{
  gsize size;
  MtlBuffer *buffers[2]; /* the host's, and one that is not */
  MtlStridedView *views[2];
} Twins;

static void
twins_clear (Twins *self)
{
  for (int i = 0; i < 2; i++)
    {
      g_clear_object (&self->buffers[i]);
      g_clear_object (&self->views[i]);
    }
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Twins, twins_clear)

static MtlStridedView *
view_elements (MtlBuffer *buffer,
               MtlDType   dtype)
{
  guint bits = mtl_dtype_get_bits (dtype);
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedLayout) layout = mtl_strided_layout_new_dense (DIMS (4, 6), MTL_ORDER_C,
                                                                      bits, &error);
  MtlStridedView *view = mtl_strided_view_new (buffer, layout, dtype, N_BEFORE * bits / 8, &error);

  g_assert_no_error (error);
  return view;
}

static void
twins_allocate (Twins    *self,
                int       ordinal,
                MtlDType  dtype)
{
  self->size = (N_ELEMENTS + 2 * N_BEFORE) * mtl_dtype_get_bits (dtype) / 8;
  self->buffers[0] = new_buffer (NULL, self->size, MTL_STORAGE_MODE_HOST);
  self->buffers[1] = new_buffer (get_metal (ordinal), self->size, MTL_STORAGE_MODE_PRIVATE);
  for (int i = 0; i < 2; i++)
    self->views[i] = view_elements (self->buffers[i], dtype);
}

/* Gives both the bytes of the host's. */
static void
twins_level (const Twins *self)
{
  metal_fixture_poke (mtl_buffer_get_handle (self->buffers[1]), 0,
                      mtl_buffer_get_contents (self->buffers[0]), self->size);
}

/* Both with the same bytes, which are small numbers in each element type. */
static void
twins_init (Twins    *self,
            int       ordinal,
            MtlDType  dtype)
{
  g_autoptr (MtlStridedView) numbers = NULL;
  g_autoptr (GError) error = NULL;
  double values[N_ELEMENTS];

  twins_allocate (self, ordinal, dtype);
  for (int i = 0; i < N_ELEMENTS; i++)
    values[i] = i * 5 % 7;
  numbers = mtl_strided_view_new_from_doubles (values, N_ELEMENTS, dtype, DIMS (4, 6), &error);
  g_assert_no_error (error);
  memset (mtl_buffer_get_contents (self->buffers[0]), 0x11, self->size);
  g_assert_true (mtl_strided_view_copy_from (self->views[0], numbers, NULL, &error));
  g_assert_no_error (error);
  twins_level (self);
}

/* All memory, with the bytes around the elements and between them. */
static void
twins_check (const Twins *self)
{
  g_autofree guint8 *bytes = g_malloc (self->size);

  metal_fixture_peek (mtl_buffer_get_handle (self->buffers[1]), 0, bytes, self->size);
  g_assert_cmpmem (bytes, self->size, mtl_buffer_get_contents (self->buffers[0]), self->size);
}

static MtlStridedView *
shape_view (MtlStridedView *view,
            const char     *shape)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *shaped;

  if (g_str_equal (shape, "T"))
    shaped = mtl_strided_view_transpose (view);
  else if (g_str_equal (shape, "B"))
    shaped = mtl_strided_view_broadcast_to (view, DIMS (2, 4, 6), &error);
  else
    shaped = mtl_strided_view_slice_string (view, shape, &error);

  g_assert_no_error (error);
  return shaped;
}

static void
assert_same_elements (MtlStridedView *view,
                      MtlStridedView *expected)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = mtl_strided_view_dup_bytes (view, NULL, &error);
  g_autoptr (GBytes) expected_bytes = mtl_strided_view_dup_bytes (expected, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes),
                   g_bytes_get_data (expected_bytes, NULL), g_bytes_get_size (expected_bytes));
}

static void
check_comparisons (MtlStridedView *view,
                   MtlStridedView *expected)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = mtl_strided_view_format (view, 1000);
  g_autofree char *expected_text = mtl_strided_view_format (expected, 1000);

  assert_same_elements (view, expected);
  g_assert_cmpstr (text, ==, expected_text);
  g_assert_true (mtl_strided_view_array_equal (view, expected, MTL_COMPARE_FLAGS_NONE, NULL,
                                               &error));
  g_assert_true (mtl_strided_view_array_equal (expected, view, MTL_COMPARE_FLAGS_NONE, NULL,
                                               &error));
  g_assert_true (mtl_strided_view_array_equal (view, view, MTL_COMPARE_FLAGS_NONE, NULL, &error));
  g_assert_true (mtl_strided_view_all_close (view, expected, 0, 0, MTL_COMPARE_FLAGS_NONE, NULL,
                                             &error));
  g_assert_no_error (error);
}

static void
check_copies (MtlStridedView *view,
              MtlStridedView *expected)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) copy = mtl_strided_view_copy (view, MTL_ORDER_C, NULL, &error);
  g_autoptr (MtlStridedView) contiguous = mtl_strided_view_to_contiguous (view, NULL, &error);
  g_autoptr (MtlStridedView) complex_numbers = mtl_strided_view_to_dtype (view,
                                                                          MTL_DTYPE_COMPLEX128,
                                                                          MTL_ORDER_C,
                                                                          NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpint (mtl_buffer_get_storage_mode (mtl_strided_view_get_buffer (copy)), ==,
                   MTL_STORAGE_MODE_PRIVATE);
  g_assert_true (mtl_strided_view_get_device (copy) == mtl_strided_view_get_device (view));
  g_assert_true (mtl_strided_view_is_contiguous (copy, MTL_ORDER_C));
  g_assert_true (mtl_strided_view_is_contiguous (contiguous, MTL_ORDER_C));
  assert_same_elements (copy, expected);
  assert_same_elements (contiguous, expected);
  g_assert_true (mtl_strided_view_array_equal (complex_numbers, expected, MTL_COMPARE_FLAGS_NONE,
                                               NULL, &error));
  g_assert_no_error (error);
}

/* Copies to each device in each storage mode, from the view and from the host's. */
static void
check_to_device (MtlStridedView *view,
                 MtlStridedView *expected)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) host = mtl_strided_view_to_device (view, mtl_device_get_host (),
                                                                MTL_STORAGE_MODE_HOST, NULL,
                                                                &error);

  g_assert_no_error (error);
  assert_same_elements (host, expected);

  for (int i = 0; i < N_METAL_DEVICES; i++)
    for (gsize j = 0; j < G_N_ELEMENTS (metal_modes); j++)
      {
        g_autoptr (MtlStridedView) across = mtl_strided_view_to_device (view, get_metal (i),
                                                                        metal_modes[j], NULL,
                                                                        &error);
        g_autoptr (MtlStridedView) up = mtl_strided_view_to_device (expected, get_metal (i),
                                                                    metal_modes[j], NULL, &error);

        g_assert_no_error (error);
        g_assert_true (mtl_strided_view_get_device (across) == get_metal (i));
        assert_same_elements (across, expected);
        assert_same_elements (up, expected);
      }
}

static void
test_reads (Living        *living,
            gconstpointer  data)
{
  for (gsize i = 0; i < G_N_ELEMENTS (dtypes); i++)
    {
      g_auto (Twins) twins = { 0 };

      twins_init (&twins, GPOINTER_TO_INT (data), dtypes[i]);
      for (gsize j = 0; j < G_N_ELEMENTS (shapes); j++)
        {
          g_autoptr (MtlStridedView) expected = shape_view (twins.views[0], shapes[j]);
          g_autoptr (MtlStridedView) view = shape_view (twins.views[1], shapes[j]);

          check_comparisons (view, expected);
          check_copies (view, expected);
          check_to_device (view, expected);
        }
      twins_check (&twins);
    }
}

/* Two elements to a byte, of all values. */
static void
test_nibbles (Living        *living,
              gconstpointer  data)
{
  g_auto (Twins) twins = { 0 };

  twins_allocate (&twins, GPOINTER_TO_INT (data), MTL_DTYPE_FLOAT4_E2M1FN);
  for (gsize i = 0; i < twins.size; i++)
    ((guint8 *) mtl_buffer_get_contents (twins.buffers[0]))[i] = 0x10 + 0x31 * i;
  twins_level (&twins);

  for (gsize j = 0; j < G_N_ELEMENTS (shapes); j++)
    {
      g_autoptr (MtlStridedView) expected = shape_view (twins.views[0], shapes[j]);
      g_autoptr (MtlStridedView) view = shape_view (twins.views[1], shapes[j]);

      assert_same_elements (view, expected);
      check_to_device (view, expected);
    }
  twins_check (&twins);
}

/* A source of that shape, of another type, on the host or not. */
static MtlStridedView *
new_source (MtlStridedView *view,
            MtlDType        dtype,
            MtlDevice      *device)
{
  gsize n_dims;
  const gint64 *shape = mtl_strided_view_get_shape (view, &n_dims);
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) source = mtl_strided_view_new_zeros (mtl_device_get_host (), dtype,
                                                                  shape, n_dims,
                                                                  MTL_STORAGE_MODE_DEFAULT, &error);
  g_autoptr (MtlStridedView) flat = mtl_strided_view_reshape (source, DIMS (-1), &error);
  gint64 volume = mtl_strided_view_get_volume (source);

  for (gint64 i = 0; i < volume; i++)
    g_assert_true (mtl_strided_view_set_double (flat, DIMS (i), i % 5, &error));
  g_assert_no_error (error);
  if (device == NULL)
    return g_steal_pointer (&source);

  return mtl_strided_view_to_device (source, device, MTL_STORAGE_MODE_PRIVATE, NULL, &error);
}

static void
check_writes (Twins      *twins,
              const char *shape,
              MtlDType    source_dtype,
              MtlDevice  *source_device)
{
  for (int i = 0; i < 2; i++)
    {
      g_autoptr (MtlStridedView) view = shape_view (twins->views[i], shape);
      g_autoptr (MtlStridedView) source = NULL;
      g_autoptr (GError) error = NULL;

      if (mtl_strided_view_is_empty (view))
        return;

      source = new_source (view, source_dtype, source_device);
      g_assert_true (mtl_strided_view_copy_from (view, source, NULL, &error));
      g_assert_no_error (error);
    }
}

static void
test_copy_from (Living        *living,
                gconstpointer  data)
{
  int ordinal = GPOINTER_TO_INT (data);
  MtlDevice *devices[] = { NULL, get_metal (ordinal), get_metal (TWIN) };

  for (gsize i = 0; i < G_N_ELEMENTS (dtypes); i++)
    {
      g_auto (Twins) twins = { 0 };

      twins_init (&twins, ordinal, dtypes[i]);
      for (gsize j = 0; j < G_N_ELEMENTS (shapes); j++)
        for (gsize k = 0; k < G_N_ELEMENTS (devices); k++)
          {
            if (g_str_equal (shapes[j], "B")) /* elements that are one */
              continue;

            check_writes (&twins, shapes[j], dtypes[i], devices[k]);
            twins_check (&twins);
            check_writes (&twins, shapes[j], MTL_DTYPE_FLOAT64, devices[k]);
            twins_check (&twins);
          }
    }
}

static void
test_fill (Living        *living,
           gconstpointer  data)
{
  for (gsize i = 0; i < G_N_ELEMENTS (dtypes); i++)
    {
      g_auto (Twins) twins = { 0 };

      twins_init (&twins, GPOINTER_TO_INT (data), dtypes[i]);
      for (gsize j = 0; j < G_N_ELEMENTS (shapes); j++)
        for (int value = 0; value <= 3; value += 3)
          {
            for (int k = 0; k < 2; k++)
              {
                g_autoptr (MtlStridedView) view = shape_view (twins.views[k], shapes[j]);
                g_autoptr (GError) error = NULL;

                g_assert_true (mtl_strided_view_fill_double (view, value, NULL, &error));
                g_assert_no_error (error);
              }
            twins_check (&twins);
          }
    }
}

/* Elements of six bits anywhere in four bytes, down and up, to their ends. */
static void
test_few_bytes (Living        *living,
                gconstpointer  data)
{
  const MtlDType dtype = MTL_DTYPE_FLOAT6_E2M3FN;
  g_auto (Twins) twins = { .size = 4 };
  guint8 *bytes;
  int n_views = 0;

  twins.buffers[0] = new_buffer (NULL, 4, MTL_STORAGE_MODE_HOST);
  twins.buffers[1] = new_buffer (get_metal (GPOINTER_TO_INT (data)), 4, MTL_STORAGE_MODE_PRIVATE);
  bytes = mtl_buffer_get_contents (twins.buffers[0]);

  for (gint64 n = 1; n <= 5; n++)
    for (gint64 stride = -4; stride <= 4; stride++)
      for (gsize byte_offset = 0; byte_offset <= 4; byte_offset++)
        {
          g_autoptr (GError) error = NULL;
          g_autoptr (MtlStridedLayout) layout = mtl_strided_layout_new (&n, 1, &stride, 1, 6,
                                                                        &error);
          g_autoptr (MtlStridedView) expected = mtl_strided_view_new (twins.buffers[0], layout,
                                                                      dtype, byte_offset, NULL);
          g_autoptr (MtlStridedView) view = NULL;

          if (expected == NULL) /* it leaves the buffer */
            continue;

          n_views++;
          view = mtl_strided_view_new (twins.buffers[1], layout, dtype, byte_offset, &error);
          g_assert_no_error (error);
          for (int i = 0; i < 4; i++)
            bytes[i] = 0x9c + 0x3b * i;
          twins_level (&twins);
          check_comparisons (view, expected);

          g_assert_true (mtl_strided_view_fill_double (view, -1.5, NULL, &error));
          g_assert_true (mtl_strided_view_fill_double (expected, -1.5, NULL, &error));
          g_assert_no_error (error);
          twins_check (&twins);
        }

  g_assert_cmpint (n_views, >, 40);
}

/* Overlapping copies give the same as through a temporary, in all directions. */
static void
check_overlaps (Twins *twins)
{
  static const char *const pairs[][2] = {
    { "1:", ":-1" }, { ":-1", "1:" }, { ":, 1:", ":, :-1" }, { "::-1", "..." },
    { ":, ::-1", "..." }, { "...", "2" },
  };

  for (gsize j = 0; j < G_N_ELEMENTS (pairs); j++)
    {
      for (int k = 0; k < 2; k++)
        {
          g_autoptr (MtlStridedView) dest = shape_view (twins->views[k], pairs[j][0]);
          g_autoptr (MtlStridedView) source = shape_view (twins->views[k], pairs[j][1]);
          g_autoptr (GError) error = NULL;

          g_assert_true (mtl_strided_view_copy_from (dest, source, NULL, &error));
          g_assert_no_error (error);
        }
      twins_check (twins);
    }
}

static void
test_overlap (Living        *living,
              gconstpointer  data)
{
  for (gsize i = 0; i < G_N_ELEMENTS (dtypes); i++)
    {
      g_auto (Twins) twins = { 0 };

      twins_init (&twins, GPOINTER_TO_INT (data), dtypes[i]);
      check_overlaps (&twins);
    }
}

static void
test_unequal (Living        *living,
              gconstpointer  data)
{
  g_auto (Twins) twins = { 0 };
  g_autoptr (MtlStridedView) changed = NULL;
  g_autoptr (GError) error = NULL;

  twins_init (&twins, GPOINTER_TO_INT (data), MTL_DTYPE_FLOAT32);
  changed = mtl_strided_view_copy (twins.views[0], MTL_ORDER_C, NULL, &error);
  g_assert_true (mtl_strided_view_set_double (changed, DIMS (3, 5), 100, &error));
  g_assert_false (mtl_strided_view_array_equal (twins.views[1], changed, MTL_COMPARE_FLAGS_NONE,
                                                NULL, &error));
  g_assert_false (mtl_strided_view_all_close (changed, twins.views[1], 0.1, 0.1,
                                              MTL_COMPARE_FLAGS_NONE, NULL, &error));
  g_assert_no_error (error);
}

/* One by one would be one command buffer each: elements are the host's. */
static void
test_elements (Living        *living,
               gconstpointer  data)
{
  g_auto (Twins) twins = { 0 };
  GError *error = NULL;

  twins_init (&twins, GPOINTER_TO_INT (data), MTL_DTYPE_INT16);
  g_assert_cmpfloat (mtl_strided_view_get_double (twins.views[1], DIMS (0, 0), &error), ==, 0);
  assert_failed (error, MTL_ERROR_NOT_HOST_ACCESSIBLE, "(8,");
  g_assert_false (mtl_strided_view_set_int64 (twins.views[1], DIMS (0, 0), 1, &error));
  assert_failed (error, MTL_ERROR_NOT_HOST_ACCESSIBLE, "(8,");
  g_assert_null (mtl_strided_view_get_data (twins.views[1]));
  g_assert_null (mtl_strided_view_get_bytes (twins.views[1], &error));
  assert_failed (error, MTL_ERROR_NOT_HOST_ACCESSIBLE, "(8,");
  twins_check (&twins);
}

static void
test_format_of_many (Living        *living,
                     gconstpointer  data)
{
  g_auto (Twins) twins = { 0 };
  unsigned n_commits;
  g_autofree char *text = NULL;
  g_autofree char *expected = g_strdup_printf ("<int16 (4, 6) on device (8, %d)>",
                                               GPOINTER_TO_INT (data));

  twins_init (&twins, GPOINTER_TO_INT (data), MTL_DTYPE_INT16);
  n_commits = metal_double_calls ("commit");
  text = mtl_strided_view_format (twins.views[1], N_ELEMENTS - 1);
  g_assert_cmpstr (text, ==, expected);
  g_assert_cmpuint (metal_double_calls ("commit"), ==, n_commits);
}

/* The GPU's writes between the elements of Managed memory stay. */
static void
test_writes_between (Living        *living,
                     gconstpointer  data)
{
  MtlDevice *device = get_metal (GPOINTER_TO_INT (data));
  g_autoptr (MtlBuffer) buffer = new_buffer (device, 12, MTL_STORAGE_MODE_MANAGED);
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedLayout) layout = mtl_strided_layout_new (DIMS (2, 2, 2), DIMS (6, 2, 1),
                                                                8, &error);
  g_autoptr (MtlStridedView) view = mtl_strided_view_new (buffer, layout, MTL_DTYPE_UINT8, 0,
                                                          &error);
  g_autoptr (MtlStridedView) column = mtl_strided_view_select (view, 2, 1, &error);
  g_autoptr (MtlStridedView) source = mtl_strided_view_new_zeros (NULL, MTL_DTYPE_UINT8,
                                                                  DIMS (2, 2, 2),
                                                                  MTL_STORAGE_MODE_DEFAULT, &error);

  g_assert_no_error (error);
  run_on_gpu (METAL_FIXTURE_FILL, buffer, 0, 12, 9);
  g_assert_true (mtl_strided_view_fill_double (column, 5, NULL, &error));
  assert_gpu_reads (buffer, 0, "\11\5\11\5\11\11\11\5\11\5\11\11", 12);
  g_assert_true (mtl_strided_view_copy_from (view, source, NULL, &error));
  assert_gpu_reads (buffer, 0, "\0\0\0\0\11\11\0\0\0\0\11\11", 12);
  g_assert_true (mtl_buffer_synchronize (buffer, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpmem (mtl_buffer_get_contents (buffer), 12, "\0\0\0\0\11\11\0\0\0\0\11\11", 12);
}

static void
test_to_own_device (Living        *living,
                    gconstpointer  data)
{
  g_auto (Twins) twins = { 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) same = NULL;

  twins_init (&twins, GPOINTER_TO_INT (data), MTL_DTYPE_INT16);
  same = mtl_strided_view_to_device (twins.views[1], mtl_strided_view_get_device (twins.views[1]),
                                     MTL_STORAGE_MODE_PRIVATE, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (same == twins.views[1]);
}

static void
check_new (MtlStridedView  *view,
           MtlDevice       *device,
           MtlStorageMode   mode,
           const char      *text)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) copy = NULL;
  g_autofree char *string = NULL;

  g_assert_nonnull (view);
  g_assert_true (mtl_strided_view_get_device (view) == device);
  g_assert_cmpint (mtl_buffer_get_storage_mode (mtl_strided_view_get_buffer (view)), ==, mode);
  copy = mtl_strided_view_to_device (view, mtl_device_get_host (), MTL_STORAGE_MODE_HOST, NULL,
                                     &error);
  g_assert_no_error (error);
  string = mtl_strided_view_format (copy, 10);
  g_assert_cmpstr (string, ==, text);
}

static void
test_new (Living        *living,
          gconstpointer  data)
{
  static const MtlStorageMode modes[] = {
    MTL_STORAGE_MODE_SHARED, MTL_STORAGE_MODE_MANAGED, MTL_STORAGE_MODE_PRIVATE,
    MTL_STORAGE_MODE_DEFAULT,
  };
  MtlDevice *device = get_metal (GPOINTER_TO_INT (data));
  g_autoptr (GError) local_error = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (modes); i++)
    {
      MtlStorageMode mode = modes[i];
      MtlStorageMode expected = mode == MTL_STORAGE_MODE_DEFAULT ? MTL_STORAGE_MODE_SHARED : mode;
      g_autoptr (MtlStridedView) zeros = NULL, empty = NULL, filled = NULL, halves = NULL;
      g_autoptr (MtlStridedView) integers = NULL;

      if (!mtl_device_supports_storage_mode (device, mode))
        continue;

      zeros = mtl_strided_view_new_zeros (device, MTL_DTYPE_INT16, DIMS (3), mode, &local_error);
      empty = mtl_strided_view_new_uninitialized (device, MTL_DTYPE_INT16, DIMS (3), mode,
                                                  &local_error);
      filled = mtl_strided_view_new_filled (device, MTL_DTYPE_INT16, DIMS (3), -5, mode,
                                            &local_error);
      halves = mtl_strided_view_new_arange (device, MTL_DTYPE_FLOAT4_E2M1FN, 0, 2, 0.5, mode,
                                            &local_error);
      integers = mtl_strided_view_new_arange_int64 (device, MTL_DTYPE_INT16, 5, -5, -5, mode,
                                                    &local_error);
      g_assert_no_error (local_error);
      g_assert_true (mtl_strided_view_fill_double (empty, 4, NULL, &local_error));
      check_new (zeros, device, expected, "[0 0 0]");
      check_new (empty, device, expected, "[4 4 4]");
      check_new (filled, device, expected, "[-5 -5 -5]");
      check_new (halves, device, expected, "[0.  0.5 1.  1.5]");
      check_new (integers, device, expected, "[5 0]");
    }

  assert_fails (mtl_strided_view_new_zeros (device, MTL_DTYPE_INT8, DIMS (2),
                                            MTL_STORAGE_MODE_HOST, &error),
                MTL_ERROR_NOT_SUPPORTED, "host");
  assert_fails (mtl_strided_view_new_arange (device, MTL_DTYPE_INT8, 0, 1, 1,
                                             MTL_STORAGE_MODE_HOST, &error),
                MTL_ERROR_NOT_SUPPORTED, "host");
  assert_fails (mtl_strided_view_new_filled (device, MTL_DTYPE_INT8, DIMS (2), 1,
                                             MTL_STORAGE_MODE_FOREIGN, &error),
                MTL_ERROR_NOT_SUPPORTED, "foreign");
}

static void
add_on_both (const char *name,
             void     (* func) (Living *, gconstpointer))
{
  g_autofree char *unified = g_strdup_printf ("/MetalViews/%s/unified", name);
  g_autofree char *discrete = g_strdup_printf ("/MetalViews/%s/discrete", name);

  add_metal_data_test (unified, GINT_TO_POINTER (UNIFIED), func);
  add_metal_data_test (discrete, GINT_TO_POINTER (DISCRETE), func);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  set_up_metal ();

  add_on_both ("reads", test_reads);
  add_on_both ("nibbles", test_nibbles);
  add_on_both ("copy-from", test_copy_from);
  add_on_both ("fill", test_fill);
  add_on_both ("few-bytes", test_few_bytes);
  add_on_both ("overlap", test_overlap);
  add_on_both ("unequal", test_unequal);
  add_on_both ("elements", test_elements);
  add_on_both ("format-of-many", over_double ? test_format_of_many : skip_data_without_double);
  add_on_both ("writes-between", test_writes_between);
  add_on_both ("to-own-device", test_to_own_device);
  add_on_both ("new", test_new);

  return g_test_run ();
}
