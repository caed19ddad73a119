/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Views as tensors of Metal, and back. */

#include "metal-tests.h"
#include "dlpack-structs.h"
#include "metal-tensor-types.h"

#define COMPUTE MTL_METAL_TENSOR_USAGE_COMPUTE
#define ML MTL_METAL_TENSOR_USAGE_MACHINE_LEARNING
#define FLOAT32 3 /* an MTLTensorDataType */

#define EXTENTS(...) ((const long[]) { __VA_ARGS__ })

#define assert_view_dims(view, getter, ...) \
  G_STMT_START \
    { \
      gsize n_; \
      const gint64 *dims_ = getter ((view), &n_); \
      assert_dims (dims_, n_, __VA_ARGS__); \
    } \
  G_STMT_END

/* Owned by the view. */
static gpointer
to_tensor (MtlStridedView      *view,
           MtlMetalTensorUsage  usage)
{
  g_autoptr (GError) error = NULL;
  gpointer tensor = mtl_strided_view_to_metal_tensor (view, usage, &error);

  g_assert_no_error (error);
  return tensor;
}

static MtlStridedView *
from_tensor (gpointer tensor)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *view = mtl_strided_view_new_from_metal_tensor (tensor, &error);

  g_assert_no_error (error);
  return view;
}

static void
check_no_tensor (MtlStridedView      *view,
                 MtlMetalTensorUsage  usage,
                 MtlError             code,
                 const char          *values)
{
  assert_fails (mtl_strided_view_to_metal_tensor (view, usage, &error), code, values);
}

static MtlStridedView *
new_view (int             ordinal,
          MtlStorageMode  mode,
          MtlDType        dtype,
          const gint64   *shape,
          gsize           n_dims,
          const gint64   *strides)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedLayout) layout =
    mtl_strided_layout_new (shape, n_dims, strides, strides != NULL ? n_dims : 0,
                            mtl_dtype_get_bits (dtype), &error);
  g_autoptr (MtlBuffer) buffer = NULL;
  MtlStridedView *view;

  g_assert_no_error (error);
  buffer = new_buffer (get_metal (ordinal), mtl_strided_layout_get_required_size (layout, NULL),
                       mode);
  view = mtl_strided_view_new (buffer, layout, dtype, 0, &error);
  g_assert_no_error (error);
  return view;
}

static void
check_tensor (gpointer             tensor,
              MtlStridedView      *view,
              gsize                offset,
              MtlMetalTensorUsage  usage,
              long                 data_type,
              const long          *dims,
              const long          *strides,
              unsigned             rank)
{
  MetalFixtureTensor found;

  metal_fixture_tensor_describe (tensor, &found);
  g_assert_true (found.buffer == mtl_buffer_get_handle (mtl_strided_view_get_buffer (view)));
  g_assert_cmpuint (found.offset, ==, offset);
  g_assert_cmpuint (found.usage, ==, usage);
  g_assert_cmpint (found.data_type, ==, data_type);
  g_assert_cmpmem (found.dims, found.rank * sizeof (long), dims, rank * sizeof (long));
  g_assert_cmpmem (found.strides, found.rank * sizeof (long), strides, rank * sizeof (long));
}


static void
assert_same_place (MtlStridedView *a,
                   MtlStridedView *b)
{
  g_assert_true (mtl_buffer_get_handle (mtl_strided_view_get_buffer (a))
                 == mtl_buffer_get_handle (mtl_strided_view_get_buffer (b)));
  g_assert_true (mtl_strided_view_get_device (a) == mtl_strided_view_get_device (b));
  g_assert_cmpint (mtl_buffer_get_storage_mode (mtl_strided_view_get_buffer (a)), ==,
                   mtl_buffer_get_storage_mode (mtl_strided_view_get_buffer (b)));
}

static void
assert_same_values (MtlStridedView *a,
                    MtlStridedView *b)
{
  g_autoptr (GError) error = NULL;
  gboolean equal = mtl_strided_view_array_equal (a, b, MTL_COMPARE_FLAGS_NONE, NULL, &error);

  g_assert_no_error (error);
  g_assert_true (equal);
}

static void
check_round_trip (int            ordinal,
                  MtlStorageMode mode)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *view = new_view (ordinal, mode, MTL_DTYPE_FLOAT32, DIMS (4, 3), NULL);
  MtlStridedView *rows = slice (view, "1:3");
  gpointer tensor = to_tensor (rows, COMPUTE);
  g_autofree char *text = NULL;
  MtlStridedView *back;

  check_tensor (tensor, view, 12, COMPUTE, FLOAT32, EXTENTS (3, 2), EXTENTS (1, 3), 2);
  g_assert_cmpuint (metal_fixture_retain_count (tensor), ==, 1);
  g_assert_true (to_tensor (rows, COMPUTE) == tensor);
  check_tensor (to_tensor (rows, COMPUTE | MTL_METAL_TENSOR_USAGE_RENDER), view, 12,
                COMPUTE | MTL_METAL_TENSOR_USAGE_RENDER, FLOAT32, EXTENTS (3, 2), EXTENTS (1, 3),
                2);
  g_assert_cmpuint (metal_double_live ("tensor"), ==, 2);

  back = from_tensor (tensor);
  g_assert_cmpuint (metal_fixture_retain_count (tensor), ==, 2);
  assert_same_place (back, view);
  assert_view_dims (back, mtl_strided_view_get_shape, 2, 3);
  assert_view_dims (back, mtl_strided_view_get_strides, 3, 1);
  g_assert_cmpuint (mtl_strided_view_get_byte_offset (back), ==, 12);
  g_assert_cmpint (mtl_strided_view_get_dtype (back), ==, MTL_DTYPE_FLOAT32);
  g_assert_false (mtl_strided_view_is_read_only (back));

  g_assert_true (mtl_strided_view_fill_double (back, 7, NULL, &error));
  g_assert_no_error (error);
  assert_same_values (rows, back);
  text = mtl_strided_view_to_string (view);
  g_assert_cmpstr (text, ==, "[[0. 0. 0.]\n [7. 7. 7.]\n [7. 7. 7.]\n [0. 0. 0.]]");

  g_assert_finalize_object (back);
  g_assert_cmpuint (metal_fixture_retain_count (tensor), ==, 1);
  g_assert_finalize_object (rows);
  g_assert_finalize_object (view);
}

static void
test_round_trips (void)
{
  for (int i = 0; i < N_METAL_DEVICES; i++)
    for (gsize j = 0; j < G_N_ELEMENTS (metal_modes); j++)
      check_round_trip (i, metal_modes[j]);
}

/* Each type from the version on that has it. */
static void
test_types (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (metal_tensor_types); i++)
    {
      const MetalTensorType *type = &metal_tensor_types[i];
      const gint64 row = 1024 / mtl_dtype_get_bits (type->dtype);
      g_autoptr (MtlStridedView) view = new_view (UNIFIED, MTL_STORAGE_MODE_SHARED, type->dtype,
                                                  DIMS (2, 32), (const gint64[]) { row, 1 });
      g_autoptr (MtlStridedView) back = NULL;
      g_autofree char *version = g_strdup_printf ("%u.%u & 26.%d",
                                                  type->major, type->minor,
                                                  type->major == 27 ? 9 : 3);

      if (type->major > 26 || type->minor > 0)
        {
          metal_double_set_macos (26, type->major == 27 ? 9 : 3);
          check_no_tensor (view, COMPUTE, MTL_ERROR_NOT_SUPPORTED, version);
        }

      metal_double_set_macos (type->major, type->minor);
      check_tensor (to_tensor (view, COMPUTE), view, 0, COMPUTE, type->value, EXTENTS (32, 2),
                    EXTENTS (1, row), 2);
      back = from_tensor (to_tensor (view, COMPUTE));
      g_assert_cmpint (mtl_strided_view_get_dtype (back), ==, type->dtype);
      assert_same_values (back, view);
      metal_double_set_macos (27, 0);
    }
}

/* Tests systems before macOS 26, and the version that a program of an older SDK hears. */
static void
test_systems (void)
{
  g_autoptr (MtlStridedView) view = new_view (UNIFIED, MTL_STORAGE_MODE_SHARED, MTL_DTYPE_INT2,
                                              DIMS (32), NULL);
  gpointer handle = mtl_buffer_get_handle (mtl_strided_view_get_buffer (view));
  unsigned n_calls = metal_double_calls ("newTensorWithDescriptor:offset:error:");

  metal_double_set_macos (15, 7);
  check_no_tensor (view, COMPUTE, MTL_ERROR_NOT_SUPPORTED, "macOS & 26");
  assert_fails (mtl_strided_view_new_from_metal_tensor (handle, &error), MTL_ERROR_INVALID_ARGUMENT,
                "MTLTensor");
  g_assert_cmpuint (metal_double_calls ("newTensorWithDescriptor:offset:error:"), ==,
                    n_calls);

  metal_double_set_macos (16, 0);
  g_assert_nonnull (to_tensor (view, COMPUTE));
  metal_double_set_macos (27, 0);
}

/* The dimensions are the axes as they lie in memory. */
static void
test_order (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = new_view (UNIFIED, MTL_STORAGE_MODE_SHARED, MTL_DTYPE_INT16,
                                              DIMS (2, 3, 4), NULL);
  int axes[] = { 0, 1, 2 };

  for (int i = 0; i < 6; i++)
    {
      g_autoptr (MtlStridedView) permuted = mtl_strided_view_permute (view, axes, 3, &error);
      g_autofree int *order = NULL;
      gsize n_dims;
      gpointer tensor;
      MetalFixtureTensor found;

      g_assert_no_error (error);
      tensor = to_tensor (permuted, COMPUTE);
      check_tensor (tensor, view, 0, COMPUTE, 37, EXTENTS (4, 3, 2), EXTENTS (1, 4, 12), 3);
      metal_fixture_tensor_describe (tensor, &found);
      order = mtl_strided_layout_dup_stride_order (mtl_strided_view_get_layout (permuted), &n_dims);
      for (gsize j = 0; j < n_dims; j++)
        {
          g_assert_cmpint (mtl_strided_view_get_extent (permuted, order[n_dims - 1 - j], NULL), ==,
                           found.dims[j]);
          g_assert_cmpint (mtl_strided_layout_get_stride (mtl_strided_view_get_layout (permuted),
                                                          order[n_dims - 1 - j], NULL),
                           ==, found.strides[j]);
        }

      if (i % 2 == 0)
        {
          int swapped = axes[1];

          axes[1] = axes[2];
          axes[2] = swapped;
        }
      else
        {
          int first = axes[0];

          axes[0] = axes[2];
          axes[2] = first;
        }
    }
}

static void
test_scalar (void)
{
  g_autoptr (MtlStridedView) view = new_view (DISCRETE, MTL_STORAGE_MODE_MANAGED, MTL_DTYPE_INT32,
                                              DIMS (3), NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) last = mtl_strided_view_select (view, 0, -1, &error);
  g_autoptr (MtlStridedView) back = NULL;

  g_assert_no_error (error);
  check_tensor (to_tensor (last, COMPUTE | MTL_METAL_TENSOR_USAGE_RENDER), view, 8, 3, 29, NULL,
                NULL, 0);
  back = from_tensor (to_tensor (last, COMPUTE));
  g_assert_cmpuint (mtl_strided_view_get_n_dims (back), ==, 0);
  g_assert_cmpuint (mtl_strided_view_get_byte_offset (back), ==, 8);
}

/* The first element counts from the beginning of the MTLBuffer. */
static void
test_offset_of_slice (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlBuffer) buffer = new_buffer (get_metal (UNIFIED), 4096, MTL_STORAGE_MODE_SHARED);
  g_autoptr (MtlBuffer) part = mtl_buffer_slice (buffer, 128, 512, &error);
  g_autoptr (MtlStridedLayout) layout = mtl_strided_layout_new (DIMS (8), NULL, 0, 32, &error);
  g_autoptr (MtlStridedView) view = mtl_strided_view_new (part, layout, MTL_DTYPE_UINT32, 16,
                                                          &error);
  g_autoptr (MtlStridedView) end = slice (view, "5:");

  g_assert_no_error (error);
  check_tensor (to_tensor (end, COMPUTE), view, 128 + 16 + 20, COMPUTE, 33, EXTENTS (3),
                EXTENTS (1), 1);
  check_no_tensor (view, ML, MTL_ERROR_NEEDS_COPY, "144 & 0 & MTLBuffer");
}

/* A view that does not fit does as a copy with the layout that the library proposes. */
static void
check_needs_copy (MtlStridedView      *view,
                  MtlMetalTensorUsage  usage,
                  const char          *values)
{
  g_autoptr (GError) error = NULL;
  MtlStridedLayout *layout = mtl_strided_view_get_layout (view);
  g_autoptr (MtlStridedLayout) fitting =
    mtl_strided_layout_fit_metal_tensor (layout, mtl_strided_view_get_dtype (view), usage, &error);
  g_autoptr (MtlBuffer) buffer = NULL;
  g_autoptr (MtlStridedView) copy = NULL;

  g_assert_no_error (error);
  check_no_tensor (view, usage, MTL_ERROR_NEEDS_COPY, values);

  buffer = new_buffer (get_metal (DISCRETE), mtl_strided_layout_get_required_size (fitting, NULL),
                       MTL_STORAGE_MODE_PRIVATE);
  copy = mtl_strided_view_new (buffer, fitting, mtl_strided_view_get_dtype (view), 0, &error);
  g_assert_no_error (error);
  g_assert_true (mtl_strided_view_copy_from (copy, view, NULL, &error));
  g_assert_no_error (error);
  g_assert_nonnull (to_tensor (copy, usage));
  assert_same_values (copy, view);
}

static void
test_needs_copy (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = new_view (UNIFIED, MTL_STORAGE_MODE_SHARED, MTL_DTYPE_UINT16,
                                              DIMS (4, 6), NULL);
  g_autoptr (MtlStridedView) bytes = new_view (UNIFIED, MTL_STORAGE_MODE_SHARED, MTL_DTYPE_UINT8,
                                               DIMS (24), NULL);
  g_autoptr (MtlStridedView) nibbles = new_view (UNIFIED, MTL_STORAGE_MODE_SHARED, MTL_DTYPE_INT4,
                                                 DIMS (2, 64), NULL);
  g_autoptr (MtlStridedView) steps = slice (view, ":, ::2");
  g_autoptr (MtlStridedView) reversed = slice (view, "::-1");
  g_autoptr (MtlStridedView) mirrored = slice (view, ":, ::-1");
  g_autoptr (MtlStridedView) repeated = mtl_strided_view_broadcast_to (view, DIMS (2, 4, 6),
                                                                       &error);
  g_autoptr (MtlStridedLayout) words = mtl_strided_layout_new (DIMS (10), NULL, 0, 16, &error);
  g_autoptr (MtlStridedView) odd = mtl_strided_view_new (mtl_strided_view_get_buffer (bytes),
                                                         words, MTL_DTYPE_UINT16, 1, &error);
  g_autoptr (MtlStridedView) within_byte = slice (nibbles, ":, 1:33");

  g_assert_no_error (error);
  g_assert_true (mtl_strided_view_fill_double (view, 3, NULL, &error));
  check_needs_copy (steps, COMPUTE, "2 & 1");
  check_needs_copy (reversed, COMPUTE, "-6 & 6 & 1");
  check_needs_copy (mirrored, COMPUTE, "-1 & 1");
  check_needs_copy (repeated, COMPUTE, "0 & 1");
  check_needs_copy (odd, COMPUTE, "1 & 2");
  check_needs_copy (view, ML, "(32, 1)");
  check_needs_copy (nibbles, COMPUTE, "(256, 1)");
  check_needs_copy (within_byte, COMPUTE, "4");
}

/* No copy helps. */
static void
test_not_supported (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) doubles = new_view (UNIFIED, MTL_STORAGE_MODE_SHARED,
                                                 MTL_DTYPE_FLOAT64, DIMS (2), NULL);
  g_autoptr (MtlStridedView) nibbles = new_view (UNIFIED, MTL_STORAGE_MODE_SHARED,
                                                 MTL_DTYPE_UINT4, DIMS (2, 31), NULL);
  g_autoptr (MtlStridedView) bytes = new_view (UNIFIED, MTL_STORAGE_MODE_SHARED, MTL_DTYPE_INT8,
                                               DIMS (2, 3), NULL);
  g_autoptr (MtlStridedView) none = slice (bytes, "2:");
  g_autoptr (MtlStridedView) empty = mtl_strided_view_new_zeros (get_metal (UNIFIED),
                                                                 MTL_DTYPE_INT8, DIMS (0),
                                                                 MTL_STORAGE_MODE_DEFAULT, &error);
  g_autoptr (MtlStridedView) deep =
    mtl_strided_view_reshape (bytes, DIMS (2, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1),
                              &error);
  g_autoptr (MtlStridedView) on_host = mtl_strided_view_new_zeros (mtl_device_get_host (),
                                                                   MTL_DTYPE_INT8, DIMS (2),
                                                                   MTL_STORAGE_MODE_DEFAULT,
                                                                   &error);

  g_assert_no_error (error);
  check_no_tensor (doubles, COMPUTE, MTL_ERROR_NOT_SUPPORTED, "float64");
  check_no_tensor (nibbles, COMPUTE, MTL_ERROR_NOT_SUPPORTED, "(2, 31) & 32");
  check_no_tensor (none, COMPUTE, MTL_ERROR_NOT_SUPPORTED, "(0, 3)");
  check_no_tensor (empty, COMPUTE, MTL_ERROR_NOT_SUPPORTED, "");
  check_no_tensor (deep, COMPUTE, MTL_ERROR_NOT_SUPPORTED, "17 & 16");
  check_no_tensor (on_host, COMPUTE, MTL_ERROR_NOT_SUPPORTED, "MTLBuffer");
}

static void
test_usages (void)
{
  g_autoptr (MtlStridedView) view = new_view (UNIFIED, MTL_STORAGE_MODE_SHARED, MTL_DTYPE_INT8,
                                              DIMS (16), NULL);
  gpointer tensors[8];

  for (guint usage = 1; usage < 8; usage++)
    {
      tensors[usage] = to_tensor (view, usage);
      check_tensor (tensors[usage], view, 0, usage, 45, EXTENTS (16), EXTENTS (1), 1);
    }
  for (guint usage = 1; usage < 8; usage++)
    g_assert_true (to_tensor (view, usage) == tensors[usage]);
  g_assert_cmpuint (metal_double_live ("tensor"), ==, 7);

  check_no_tensor (view, 0, MTL_ERROR_INVALID_ARGUMENT, "0x0");
  check_no_tensor (view, 8, MTL_ERROR_INVALID_ARGUMENT, "0x8");
  check_no_tensor (view, 17, MTL_ERROR_INVALID_ARGUMENT, "0x11");
}

static void
test_purgeable (void)
{
  g_autoptr (MtlStridedView) view = new_view (UNIFIED, MTL_STORAGE_MODE_SHARED, MTL_DTYPE_INT8,
                                              DIMS (16), NULL);
  gpointer handle = mtl_buffer_get_handle (mtl_strided_view_get_buffer (view));
  gpointer tensor;

  metal_fixture_set_purgeable_state (handle, PURGEABLE_VOLATILE);
  check_no_tensor (view, COMPUTE, MTL_ERROR_NOT_SUPPORTED, "purgeable");
  metal_fixture_set_purgeable_state (handle, PURGEABLE_NON_VOLATILE);
  tensor = to_tensor (view, COMPUTE);

  metal_fixture_set_purgeable_state (handle, PURGEABLE_VOLATILE);
  check_no_tensor (view, COMPUTE, MTL_ERROR_NOT_SUPPORTED, "purgeable");
  assert_fails (mtl_strided_view_new_from_metal_tensor (tensor, &error), MTL_ERROR_NOT_SUPPORTED,
                "purgeable");
  g_assert_cmpuint (metal_fixture_retain_count (tensor), ==, 1);
  metal_fixture_set_purgeable_state (handle, PURGEABLE_NON_VOLATILE);
}

/* Metal gives nil and an NSError. */
static void
test_failure (void)
{
  g_autoptr (MtlStridedView) view = new_view (UNIFIED, MTL_STORAGE_MODE_SHARED, MTL_DTYPE_INT8,
                                              DIMS (16), NULL);

  metal_double_fail_at (1);
  check_no_tensor (view, COMPUTE, MTL_ERROR_DEVICE, "1");
  metal_double_fail_at (0);
  g_assert_nonnull (to_tensor (view, COMPUTE));
}

static gpointer
ask_for_tensor (gpointer view)
{
  return to_tensor (view, COMPUTE);
}

/* All come between the question and the answer: one tensor stays, and all get that one. */
static void
test_race (void)
{
  MtlStridedView *view = new_view (UNIFIED, MTL_STORAGE_MODE_SHARED, MTL_DTYPE_INT8, DIMS (16),
                                   NULL);
  GThread *threads[3];
  gpointer tensor;

  metal_double_meet ("newTensorWithDescriptor:offset:error:", G_N_ELEMENTS (threads) + 1, 20000);
  for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("tensor", ask_for_tensor, view);
  tensor = to_tensor (view, COMPUTE);
  for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
    g_assert_true (g_thread_join (threads[i]) == tensor);

  g_assert_cmpuint (metal_double_live ("tensor"), ==, 1);
  g_assert_cmpuint (metal_fixture_retain_count (tensor), ==, 1);
  g_assert_finalize_object (view);
  g_assert_cmpuint (metal_double_live ("tensor"), ==, 0);
}

/* A tensor with a reference of another library outlives the view. */
static void
test_kept_tensor (void)
{
  MtlStridedView *view = new_view (UNIFIED, MTL_STORAGE_MODE_SHARED, MTL_DTYPE_INT8, DIMS (16),
                                   NULL);
  gpointer tensor = to_tensor (view, COMPUTE);
  g_autoptr (MtlStridedView) back = NULL;

  metal_fixture_retain (tensor);
  g_assert_finalize_object (view);
  g_assert_cmpuint (metal_fixture_retain_count (tensor), ==, 1);
  back = from_tensor (tensor);
  metal_fixture_release (tensor);
  g_assert_cmpfloat (mtl_strided_view_get_double (back, (const gint64[]) { 15 }, 1, NULL), ==, 0);
}

/* The helpers of Metal go, too. */
static void
test_leaks (void)
{
  g_autoptr (MtlStridedView) view = new_view (UNIFIED, MTL_STORAGE_MODE_SHARED, MTL_DTYPE_INT8,
                                              DIMS (2, 3), NULL);
  size_t n_extents = metal_double_live_of_class ("MTLTensorExtents");
  size_t n_descriptors = metal_double_live_of_class ("MTLTensorDescriptor");

  for (int i = 0; i < 4; i++)
    {
      g_autoptr (MtlStridedView) other = slice (view, "1:");

      metal_double_fail_at (i % 2 == 0 ? 1 : 0);
      if (i % 2 == 0)
        check_no_tensor (other, COMPUTE, MTL_ERROR_DEVICE, "");
      else
        g_object_unref (from_tensor (to_tensor (other, COMPUTE)));
      metal_double_fail_at (0);
    }

  g_assert_cmpuint (metal_double_live_of_class ("MTLTensorExtents"), ==, n_extents);
  g_assert_cmpuint (metal_double_live_of_class ("MTLTensorDescriptor"), ==, n_descriptors);
}

static const MetalFixtureTensor foreign_tensor = {
  .offset = 8,
  .rank = 2,
  .dims = { 3, 2 },
  .strides = { 1, 5 },
  .data_type = FLOAT32,
  .usage = 1,
};

/* Imports a tensor of another library, which lets go of it. */
static void
test_import (void)
{
  static const unsigned options[] = { OPTIONS_SHARED, OPTIONS_MANAGED, OPTIONS_PRIVATE };

  for (int i = 0; i < N_METAL_DEVICES; i++)
    for (gsize j = 0; j < G_N_ELEMENTS (options); j++)
      {
        MetalFixtureTensor description = foreign_tensor;
        gpointer tensor;
        MtlStridedView *view, *row;

        description.buffer = metal_fixture_buffer_new (i, 40, options[j]);
        tensor = metal_fixture_tensor_try (&description);
        metal_fixture_release (description.buffer);
        view = from_tensor (tensor);
        metal_fixture_release (tensor);

        g_assert_true (mtl_strided_view_get_device (view) == get_metal (i));
        assert_view_dims (view, mtl_strided_view_get_shape, 2, 3);
        assert_view_dims (view, mtl_strided_view_get_strides, 5, 1);
        row = slice (view, "1");
        g_assert_finalize_object (view);
        g_assert_cmpuint (metal_fixture_retain_count (tensor), ==, 1);
        g_assert_cmpuint (mtl_buffer_get_size (mtl_strided_view_get_buffer (row)), ==, 40);
        g_assert_cmpint (mtl_buffer_get_storage_mode (mtl_strided_view_get_buffer (row)), ==,
                         metal_modes[j]);
        check_tensor (to_tensor (row, COMPUTE), row, 28, COMPUTE, FLOAT32, EXTENTS (3),
                      EXTENTS (1), 1);
        g_assert_finalize_object (row);
        g_assert_cmpuint (metal_double_live ("tensor"), ==, 0);
        g_assert_cmpuint (metal_double_live ("buffer"), ==, 0);
      }
}

/* The tensor stays for those that the view was passed on to. */
static void
test_export_of_import (void)
{
  MetalFixtureTensor description = foreign_tensor;
  g_autoptr (GError) error = NULL;
  DLManagedTensorVersioned *managed;
  MtlStridedView *view;
  gpointer tensor;

  description.buffer = metal_fixture_buffer_new (TWIN, 40, OPTIONS_SHARED);
  tensor = metal_fixture_tensor_new (&description);
  view = from_tensor (tensor);
  managed = (gpointer) mtl_strided_view_to_dlpack (view, MTL_DLPACK_FLAGS_NONE, NULL, &error);
  g_assert_no_error (error);
  g_assert_finalize_object (view);
  g_assert_true (managed->dl_tensor.data == description.buffer);
  g_assert_cmpint (managed->dl_tensor.byte_offset, ==, 8);
  g_assert_cmpint (managed->dl_tensor.device.device_id, ==, TWIN);
  g_assert_cmpuint (metal_fixture_retain_count (tensor), ==, 2);

  managed->deleter (managed);
  g_assert_cmpuint (metal_fixture_retain_count (tensor), ==, 1);
  metal_fixture_release (tensor);
  metal_fixture_release (description.buffer);
}

/* Takes nothing of what it refuses. */
static void
check_refused (const MetalFixtureTensor *description,
               MtlError                  code,
               const char               *values)
{
  gpointer tensor = metal_fixture_tensor_new (description);

  assert_fails (mtl_strided_view_new_from_metal_tensor (tensor, &error), code, values);
  g_assert_cmpuint (metal_fixture_retain_count (tensor), ==, 1);
  metal_fixture_release (tensor);
}

static void
test_import_refused (void)
{
  MetalFixtureTensor description = foreign_tensor;
  gpointer buffer = metal_fixture_buffer_new (UNIFIED, 40, OPTIONS_SHARED);
  gpointer tensor;

  check_refused (&description, MTL_ERROR_NOT_SUPPORTED, "MTLBuffer");
  description.buffer = buffer;
  description.without_strides = true;
  check_refused (&description, MTL_ERROR_NOT_SUPPORTED, "MTLBuffer");
  description.without_strides = false;

  description.n_planes = 2;
  check_refused (&description, MTL_ERROR_NOT_SUPPORTED, "2");
  description.n_planes = 0;

  for (long type = 0; type < 200; type++)
    {
      g_autofree char *message = g_strdup_printf ("MTLTensorDataType %ld", type);
      gboolean is_known = FALSE;

      for (gsize i = 0; i < G_N_ELEMENTS (metal_tensor_types); i++)
        is_known = is_known || metal_tensor_types[i].value == type;
      description.data_type = type;
      if (!is_known)
        check_refused (&description, MTL_ERROR_NOT_SUPPORTED, message);
    }
  description.data_type = FLOAT32;

  description.offset = 12;
  check_refused (&description, MTL_ERROR_INVALID_DATA, "44 & MTLBuffer & 40");
  description.offset = G_MAXSIZE - 3;
  check_refused (&description, MTL_ERROR_OVERFLOW, "");
  description.offset = 8;
  description.dims[1] = 0;
  check_refused (&description, MTL_ERROR_INVALID_DATA, "0");
  description.dims[1] = G_MAXLONG;
  check_refused (&description, MTL_ERROR_OVERFLOW, "2^63");
  description.dims[1] = POW2 (58);
  description.strides[1] = 16;
  check_refused (&description, MTL_ERROR_OVERFLOW, "2^63");
  description = foreign_tensor;
  description.buffer = buffer;

  /* The library does not ask for properties that are newer than the system. */
  metal_double_set_macos (26, 4);
  tensor = metal_fixture_tensor_new (&description);
  g_object_unref (from_tensor (tensor));
  metal_double_set_macos (27, 0);
  metal_fixture_release (tensor);
  metal_fixture_release (buffer);
}

static void
test_no_tensors (void)
{
  gpointer buffer = metal_fixture_buffer_new (UNIFIED, 40, OPTIONS_SHARED);
  gpointer event = metal_fixture_event_new (UNIFIED);

  assert_fails (mtl_strided_view_new_from_metal_tensor (NULL, &error), MTL_ERROR_INVALID_ARGUMENT,
                "MTLTensor");
  assert_fails (mtl_strided_view_new_from_metal_tensor ((guint8 *) buffer + 4, &error),
                MTL_ERROR_INVALID_ARGUMENT, "16");
  assert_fails (mtl_strided_view_new_from_metal_tensor (buffer, &error), MTL_ERROR_INVALID_ARGUMENT,
                "MTLTensor");
  assert_fails (mtl_strided_view_new_from_metal_tensor (event, &error), MTL_ERROR_INVALID_ARGUMENT,
                "MTLTensor");
  metal_fixture_release (event);
  metal_fixture_release (buffer);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  set_up_metal ();

  add_metal_test ("/metal-tensors/round-trips", test_round_trips);
  add_metal_test ("/metal-tensors/types", test_types);
  add_metal_test ("/metal-tensors/systems", test_systems);
  add_metal_test ("/metal-tensors/order", test_order);
  add_metal_test ("/metal-tensors/scalar", test_scalar);
  add_metal_test ("/metal-tensors/offset-of-slice", test_offset_of_slice);
  add_metal_test ("/metal-tensors/needs-copy", test_needs_copy);
  add_metal_test ("/metal-tensors/not-supported", test_not_supported);
  add_metal_test ("/metal-tensors/usages", test_usages);
  add_metal_test ("/metal-tensors/purgeable", test_purgeable);
  add_metal_test ("/metal-tensors/failure", test_failure);
  add_metal_test ("/metal-tensors/race", test_race);
  add_metal_test ("/metal-tensors/kept-tensor", test_kept_tensor);
  add_metal_test ("/metal-tensors/leaks", test_leaks);
  add_metal_test ("/metal-tensors/import", test_import);
  add_metal_test ("/metal-tensors/import/exported", test_export_of_import);
  add_metal_test ("/metal-tensors/import/refused", test_import_refused);
  add_metal_test ("/metal-tensors/import/no-tensors", test_no_tensors);

  return g_test_run ();
}
