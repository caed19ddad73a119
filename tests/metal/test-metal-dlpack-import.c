/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "metal-tests.h"
#include "dlpack-producer.h"

/* The producer's MTLBuffer holds int16 0, 1, 2, …: 12 of them. */
#define N_VALUES 12
#define LENGTH (N_VALUES * sizeof (gint16))

/* A (2, 3) tensor of the buffer's bytes from 4 on. */
static void
produce (Producer *producer,
         gpointer  handle)
{
  gint16 values[N_VALUES];

  for (int i = 0; i < N_VALUES; i++)
    values[i] = i;

  producer_init (producer);
  producer->versioned.dl_tensor.data = handle;
  producer->versioned.dl_tensor.device = (DLDevice) { 8, 0 };
  producer->versioned.dl_tensor.dtype = (DLDataType) { 0, 16, 1 };
  producer->versioned.dl_tensor.byte_offset = 4;
  producer->legacy.dl_tensor = producer->versioned.dl_tensor;
  if (handle != NULL)
    metal_fixture_poke (handle, 0, values, LENGTH);
}

static MtlStridedView *
take (Producer *producer,
      gboolean  legacy)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *view = legacy
                           ? mtl_strided_view_new_take_dlpack_legacy (&producer->legacy, &error)
                           : mtl_strided_view_new_take_dlpack (&producer->versioned, &error);

  g_assert_no_error (error);
  return view;
}

static void
check_import (int            ordinal,
              unsigned       options,
              MtlStorageMode mode,
              int            device_id,
              gboolean       legacy)
{
  gpointer handle = metal_fixture_buffer_new (ordinal, LENGTH, options);
  g_autoptr (GError) error = NULL;
  Producer producer;
  MtlStridedView *view;
  MtlBuffer *buffer;

  produce (&producer, handle);
  producer.versioned.dl_tensor.device.device_id = device_id;
  producer.legacy.dl_tensor.device.device_id = device_id;
  view = take (&producer, legacy);
  buffer = mtl_strided_view_get_buffer (view);

  g_assert_true (mtl_strided_view_get_device (view) == get_metal (ordinal));
  g_assert_cmpint (mtl_device_get_device_type (mtl_strided_view_get_device (view)), ==,
                   MTL_DEVICE_TYPE_METAL);
  g_assert_cmpint (mtl_device_get_ordinal (mtl_strided_view_get_device (view)), ==,
                   ordinal_of (ordinal));
  g_assert_cmpint (mtl_buffer_get_storage_mode (buffer), ==, mode);
  g_assert_cmpint (mtl_strided_view_is_host_accessible (view), ==,
                   mode != MTL_STORAGE_MODE_PRIVATE);
  g_assert_true (mtl_buffer_get_handle (buffer) == handle);
  g_assert_cmpuint (mtl_buffer_get_size (buffer), ==, LENGTH);
  g_assert_cmpuint (mtl_strided_view_get_byte_offset (view), ==, 4);
  assert_view_shape (view, 2, 3);

  g_assert_true (mtl_buffer_synchronize (buffer, NULL, &error));
  g_assert_no_error (error);
  assert_elements (view, 2, 3, 4, 5, 6, 7);

  g_assert_cmpint (producer.n_deleted, ==, 0);
  g_assert_finalize_object (view);
  g_assert_cmpint (producer.n_deleted, ==, 1);
  assert_references (handle, 1);
  metal_fixture_release (handle);
}

/* Each library counts devices in its own way: whatever the tensor says, the
 * MTLBuffer knows. */
static void
test_device (void)
{
  static const struct { unsigned options; MtlStorageMode mode; } kinds[] = {
    { OPTIONS_SHARED, MTL_STORAGE_MODE_SHARED },
    { OPTIONS_MANAGED, MTL_STORAGE_MODE_MANAGED },
    { OPTIONS_PRIVATE, MTL_STORAGE_MODE_PRIVATE },
  };
  static const int device_ids[] = { 0, 1, 2, 3, 77, -1 };

  for (int ordinal = 0; ordinal < N_METAL_DEVICES; ordinal++)
    for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++)
      for (gsize j = 0; j < G_N_ELEMENTS (device_ids); j++)
        for (int legacy = FALSE; legacy <= TRUE; legacy++)
          check_import (ordinal, kinds[i].options, kinds[i].mode, device_ids[j], legacy);
}

/* Refused by each way in: those that take the tensor delete it once, the other
 * one leaves it as it was. */
static void
check_refused (Producer   *producer,
               MtlError    code,
               const char *values)
{
  producer->legacy.dl_tensor = producer->versioned.dl_tensor;
  assert_fails (mtl_strided_view_new_take_dlpack (&producer->versioned, &error), code, values);
  g_assert_cmpint (producer->n_deleted, ==, 1);
  assert_fails (mtl_strided_view_new_take_dlpack_legacy (&producer->legacy, &error), code, values);
  g_assert_cmpint (producer->n_deleted, ==, 2);
}

static void
test_bounds (void)
{
  gpointer handle = metal_fixture_buffer_new (DISCRETE, LENGTH, OPTIONS_PRIVATE);
  Producer producer;

  produce (&producer, handle);
  producer.versioned.dl_tensor.byte_offset = LENGTH - 12;
  g_object_unref (take (&producer, FALSE));

  produce (&producer, handle);
  producer.versioned.dl_tensor.byte_offset = LENGTH - 12 + 1;
  check_refused (&producer, MTL_ERROR_INVALID_DATA, "25 & MTLBuffer & 24");

  produce (&producer, handle);
  producer.strides[0] = 8;
  producer.versioned.dl_tensor.byte_offset = 3;
  check_refused (&producer, MTL_ERROR_INVALID_DATA, "25 & MTLBuffer & 24");

  produce (&producer, handle);
  producer.versioned.dl_tensor.byte_offset = (guint64) G_MAXINT64 - 2;
  check_refused (&producer, MTL_ERROR_OVERFLOW, "9223372036854775805");

  assert_references (handle, 1);
  metal_fixture_release (handle);
}

static void
test_negative_strides (void)
{
  gpointer handle = metal_fixture_buffer_new (UNIFIED, LENGTH, OPTIONS_PRIVATE);
  g_autoptr (MtlStridedView) view = NULL;
  Producer producer;

  produce (&producer, handle);
  producer.strides[0] = -3;
  producer.strides[1] = -1;
  producer.versioned.dl_tensor.byte_offset = 10;
  view = take (&producer, FALSE);
  assert_elements (view, 5, 4, 3, 2, 1, 0);
  g_clear_object (&view);

  produce (&producer, handle);
  producer.strides[0] = -3;
  producer.strides[1] = -1;
  producer.versioned.dl_tensor.byte_offset = 9;
  check_refused (&producer, MTL_ERROR_OVERFLOW, "9 & -10 & 2");
  metal_fixture_release (handle);
}

static void
test_no_buffer (void)
{
  gpointer event = metal_fixture_event_new (UNIFIED);
  gpointer buffer = metal_fixture_buffer_new (UNIFIED, LENGTH, OPTIONS_SHARED);
  Producer producer;

  produce (&producer, NULL);
  producer.versioned.dl_tensor.data = event;
  check_refused (&producer, MTL_ERROR_INVALID_DATA, "MTLBuffer");
  metal_fixture_release (event);

  /* An offset that was added to the object, as to an address. */
  produce (&producer, NULL);
  producer.versioned.dl_tensor.data = (guint8 *) buffer + 4;
  check_refused (&producer, MTL_ERROR_INVALID_DATA, "16");
  metal_fixture_release (buffer);

  produce (&producer, NULL);
  check_refused (&producer, MTL_ERROR_INVALID_DATA, "");
}

static void
test_without_deleter (void)
{
  gpointer handle = metal_fixture_buffer_new (UNIFIED, LENGTH, OPTIONS_SHARED);
  Producer producer;
  MtlStridedView *view;

  produce (&producer, handle);
  producer.versioned.deleter = NULL;
  view = take (&producer, FALSE);
  assert_elements (view, 2, 3, 4, 5, 6, 7);
  g_assert_finalize_object (view);
  assert_references (handle, 1);
  metal_fixture_release (handle);
}

static void
test_purgeable (void)
{
  gpointer handle = metal_fixture_buffer_new (UNIFIED, LENGTH, OPTIONS_SHARED);
  Producer producer;

  produce (&producer, handle);
  metal_fixture_set_purgeable_state (handle, PURGEABLE_VOLATILE);
  check_refused (&producer, MTL_ERROR_NOT_SUPPORTED, "purgeable");
  assert_references (handle, 1);
  metal_fixture_release (handle);
}

/* A buffer of a heap is as purgeable as the heap. */
static void
test_purgeable_heap (void)
{
  gpointer handle = metal_fixture_buffer_new_in_heap (UNIFIED, LENGTH, OPTIONS_SHARED);
  Producer producer;

  metal_fixture_set_purgeable_state (handle, PURGEABLE_VOLATILE);
  produce (&producer, handle);
  check_refused (&producer, MTL_ERROR_NOT_SUPPORTED, "purgeable");
  metal_fixture_release (handle);
}

static void
test_without_strides (void)
{
  gpointer handle = metal_fixture_buffer_new (DISCRETE, LENGTH, OPTIONS_SHARED);
  g_autoptr (MtlStridedView) view = NULL;
  Producer producer;

  produce (&producer, handle);
  producer.versioned.dl_tensor.strides = NULL;
  view = take (&producer, FALSE);
  assert_view_strides (view, 3, 1);
  assert_elements (view, 2, 3, 4, 5, 6, 7);
  g_clear_object (&view);
  metal_fixture_release (handle);
}

static void
test_empty (void)
{
  gpointer handle = metal_fixture_buffer_new (DISCRETE, LENGTH, OPTIONS_PRIVATE);
  gpointer handles[] = { NULL, handle };

  for (gsize i = 0; i < G_N_ELEMENTS (handles); i++)
    {
      MtlStridedView *view;
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedView) copy = NULL;
      Producer producer;

      produce (&producer, handles[i]);
      producer.shape[1] = 0;
      view = take (&producer, FALSE);
      g_assert_true (mtl_strided_view_is_empty (view));
      g_assert_cmpint (mtl_device_get_device_type (mtl_strided_view_get_device (view)), ==,
                       MTL_DEVICE_TYPE_METAL);
      copy = mtl_strided_view_to_device (view, mtl_device_get_host (), MTL_STORAGE_MODE_HOST, NULL,
                                         &error);
      g_assert_no_error (error);
      assert_view_shape (copy, 2, 0);

      g_assert_finalize_object (view);
      g_assert_cmpint (producer.n_deleted, ==, 1);
    }

  metal_fixture_release (handle);
}

static void
test_read_only (void)
{
  gpointer handle = metal_fixture_buffer_new (DISCRETE, LENGTH, OPTIONS_PRIVATE);
  g_autoptr (MtlStridedView) view = NULL;
  Producer producer;

  produce (&producer, handle);
  producer.versioned.flags = DL_READ_ONLY;
  view = take (&producer, FALSE);
  g_assert_true (mtl_strided_view_is_read_only (view));
  assert_refuses (mtl_strided_view_fill_double (view, 1, NULL, &error), MTL_ERROR_READ_ONLY, "");
  assert_elements (view, 2, 3, 4, 5, 6, 7);
  g_clear_object (&view);
  metal_fixture_release (handle);
}

/* The producer may let go of its MTLBuffer when its tensor is deleted, and not
 * before. */
static void
delete_with_buffer (DLManagedTensorVersioned *managed)
{
  Producer *self = managed->manager_ctx;

  self->n_deleted++;
  metal_fixture_release (managed->dl_tensor.data);
}

static void
test_derived_views_keep_producer (void)
{
  gpointer handle = metal_fixture_buffer_new (DISCRETE, LENGTH, OPTIONS_PRIVATE);
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = NULL;
  MtlStridedView *row, *turned;
  MtlBuffer *slice;
  Producer producer;

  produce (&producer, handle);
  producer.versioned.deleter = delete_with_buffer;
  view = take (&producer, FALSE);
  row = mtl_strided_view_select (view, 0, 1, &error);
  turned = mtl_strided_view_transpose (view);
  slice = mtl_buffer_slice (mtl_strided_view_get_buffer (view), 10, 6, &error);
  g_assert_no_error (error);

  g_clear_object (&view);
  g_assert_finalize_object (turned);
  assert_elements (row, 5, 6, 7);
  g_assert_finalize_object (row);
  g_assert_cmpint (producer.n_deleted, ==, 0);
  assert_buffer_bytes (slice, 0, "\5\0\6\0\7\0", 6);
  g_assert_finalize_object (slice);
  g_assert_cmpint (producer.n_deleted, ==, 1);
}

/* The host's writes reach the GPU, and back. */
static void
test_writes (void)
{
  static const unsigned options[] = { OPTIONS_SHARED, OPTIONS_MANAGED, OPTIONS_PRIVATE };

  for (gsize i = 0; i < G_N_ELEMENTS (options); i++)
    {
      gpointer handle = metal_fixture_buffer_new (DISCRETE, LENGTH, options[i]);
      g_autoptr (MtlStridedView) view = NULL;
      g_autoptr (MtlStridedView) column = NULL;
      g_autoptr (GError) error = NULL;
      const gint16 expected[] = { 0, 1, 2, 9, 4, 5, 9, 7, 8, 9, 10, 11 };
      Producer producer;

      produce (&producer, handle);
      view = take (&producer, FALSE);
      g_assert_true (mtl_buffer_synchronize (mtl_strided_view_get_buffer (view), NULL, &error));
      column = mtl_strided_view_select (view, 1, 1, &error);
      g_assert_true (mtl_strided_view_fill_double (column, 9, NULL, &error));
      g_assert_no_error (error);
      assert_gpu_reads (mtl_strided_view_get_buffer (view), 0, expected, LENGTH);

      g_clear_object (&column);
      g_clear_object (&view);
      metal_fixture_release (handle);
    }
}

/* An element of two lanes begins where both do. */
static void
test_lanes (void)
{
  for (gsize offset = 0; offset <= 8; offset += 2)
    {
      gpointer handle = metal_fixture_buffer_new (UNIFIED, LENGTH, OPTIONS_SHARED);
      gboolean aligned = offset % 4 == 0;
      g_autoptr (GError) local_error = NULL;
      g_autoptr (MtlStridedView) view = NULL;
      DLManagedTensorVersioned *managed;
      Producer producer;

      produce (&producer, handle);
      producer.versioned.dl_tensor.dtype = (DLDataType) { 0, 16, 2 };
      producer.versioned.dl_tensor.byte_offset = offset;
      producer.versioned.dl_tensor.shape[1] = 1;
      view = take (&producer, FALSE);
      managed = mtl_strided_view_to_dlpack (view, MTL_DLPACK_FLAGS_NONE, NULL, &local_error);
      g_assert_no_error (local_error);
      g_assert_cmphex (managed->flags, ==, aligned ? 0 : DL_IS_COPIED);
      managed->deleter (managed);
      if (!aligned)
        assert_fails (mtl_strided_view_to_dlpack (view, MTL_DLPACK_FLAGS_NEVER_COPY, NULL, &error),
                      MTL_ERROR_NEEDS_COPY, "");
      g_clear_object (&view);
      metal_fixture_release (handle);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  set_up_metal ();

  add_metal_test ("/MetalImport/device", test_device);
  add_metal_test ("/MetalImport/bounds", test_bounds);
  add_metal_test ("/MetalImport/negative-strides", test_negative_strides);
  add_metal_test ("/MetalImport/no-buffer", test_no_buffer);
  add_metal_test ("/MetalImport/without-deleter", test_without_deleter);
  add_double_test ("/MetalImport/purgeable", test_purgeable);
  add_double_test ("/MetalImport/purgeable/heap", test_purgeable_heap);
  add_metal_test ("/MetalImport/without-strides", test_without_strides);
  add_metal_test ("/MetalImport/empty", test_empty);
  add_metal_test ("/MetalImport/read-only", test_read_only);
  add_metal_test ("/MetalImport/derived-views-keep-producer", test_derived_views_keep_producer);
  add_metal_test ("/MetalImport/writes", test_writes);
  add_metal_test ("/MetalImport/lanes", test_lanes);

  return g_test_run ();
}
