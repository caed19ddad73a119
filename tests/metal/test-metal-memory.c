/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "metal-tests.h"

/* Memory that the double poisons, so that nothing is zero by chance. */
static void
check_zeroed (int            ordinal,
              gsize          size,
              MtlStorageMode mode)
{
  g_autoptr (MtlBuffer) buffer = new_buffer (get_metal (ordinal), size, mode);
  g_autofree guint8 *zeros = g_malloc0 (size + 1);

  g_assert_cmpuint (mtl_buffer_get_size (buffer), ==, size);
  assert_buffer_bytes (buffer, 0, zeros, size);
  if (mode != MTL_STORAGE_MODE_PRIVATE)
    g_assert_cmpmem (mtl_buffer_get_contents (buffer), size, zeros, size);
  if (size > 0)
    assert_gpu_reads (buffer, 0, zeros, size);
}

static void
test_zeroed (void)
{
  static const gsize sizes[] = { 0, 1, 2, 3, 4, 5, 63, 64, 65, 4096, 16384, 16385, 70001 };

  for (int i = 0; i < N_METAL_DEVICES; i++)
    for (gsize j = 0; j < G_N_ELEMENTS (metal_modes); j++)
      for (gsize k = 0; k < G_N_ELEMENTS (sizes); k++)
        check_zeroed (i, sizes[k], metal_modes[j]);
}

static void
test_uninitialized (void)
{
  for (int i = 0; i < N_METAL_DEVICES; i++)
    for (gsize j = 0; j < G_N_ELEMENTS (metal_modes); j++)
      {
        unsigned n_commits = metal_double_calls ("commit");
        g_autoptr (GError) error = NULL;
        g_autoptr (MtlBuffer) buffer = mtl_buffer_new_uninitialized (get_metal (i), 5,
                                                                     metal_modes[j], &error);
        guint8 first;

        g_assert_no_error (error);
        g_assert_cmpuint (metal_double_calls ("commit"), ==, n_commits);
        metal_fixture_peek (mtl_buffer_get_handle (buffer), 0, &first, 1);
        g_assert_cmphex (first, !=, 0);
      }
}

static void
test_description (void)
{
  for (int i = 0; i < N_METAL_DEVICES; i++)
    for (gsize j = 0; j < G_N_ELEMENTS (metal_modes); j++)
      {
        g_autoptr (MtlBuffer) buffer = new_buffer (get_metal (i), 5, metal_modes[j]);
        gboolean is_private = metal_modes[j] == MTL_STORAGE_MODE_PRIVATE;

        g_assert_true (mtl_buffer_get_device (buffer) == get_metal (i));
        g_assert_cmpint (mtl_device_get_device_type (mtl_buffer_get_device (buffer)), ==,
                         MTL_DEVICE_TYPE_METAL);
        g_assert_cmpint (mtl_device_get_ordinal (mtl_buffer_get_device (buffer)), ==,
                         ordinal_of (i));
        g_assert_cmpint (mtl_buffer_get_storage_mode (buffer), ==, metal_modes[j]);
        g_assert_cmpint (mtl_buffer_is_host_accessible (buffer), ==, !is_private);
        g_assert_true (mtl_buffer_is_device_accessible (buffer));
        g_assert_true (mtl_buffer_is_size_known (buffer));
        g_assert_false (mtl_buffer_is_read_only (buffer));
        g_assert_nonnull (mtl_buffer_get_handle (buffer));
        assert_references (mtl_buffer_get_handle (buffer), 1);
        g_assert_cmpuint (mtl_buffer_get_byte_offset (buffer), ==, 0);
        g_assert_cmpint (mtl_buffer_get_contents (buffer) == NULL, ==, is_private);
        g_assert_cmpuint ((guintptr) mtl_buffer_get_contents (buffer) % 64, ==, 0);
      }
}

static void
test_private_has_no_bytes (void)
{
  g_autoptr (MtlBuffer) buffer = new_buffer (get_metal (UNIFIED), 8, MTL_STORAGE_MODE_PRIVATE);

  assert_fails (mtl_buffer_get_bytes (buffer, 0, 8, &error),
                MTL_ERROR_NOT_HOST_ACCESSIBLE, "(8, 0)");
}

static void
test_slice (void)
{
  for (gsize j = 0; j < G_N_ELEMENTS (metal_modes); j++)
    {
      g_autoptr (MtlBuffer) buffer = new_buffer (get_metal (DISCRETE), 16, metal_modes[j]);
      g_autoptr (GBytes) bytes = g_bytes_new_static ("abcdefghijklmnop", 16);
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlBuffer) part = NULL;
      g_autoptr (MtlBuffer) part_of_part = NULL;
      gpointer handle = mtl_buffer_get_handle (buffer);

      g_assert_true (mtl_buffer_set_bytes (buffer, 0, bytes, NULL, &error));
      part = mtl_buffer_slice (buffer, 3, 9, &error);
      part_of_part = mtl_buffer_slice (part, 2, 5, &error);
      g_assert_no_error (error);
      g_assert_true (mtl_buffer_get_handle (part_of_part) == handle);
      g_assert_cmpuint (mtl_buffer_get_byte_offset (part), ==, 3);
      g_assert_cmpuint (mtl_buffer_get_byte_offset (part_of_part), ==, 5);

      /* The part alone keeps the MTLBuffer. */
      g_clear_object (&buffer);
      g_clear_object (&part);
      assert_references (handle, 1);
      assert_buffer_bytes (part_of_part, 0, "fghij", 5);
      assert_gpu_reads (part_of_part, 3, "ij", 2);
    }
}

static void
test_too_large (void)
{
  for (gsize j = 0; j < G_N_ELEMENTS (metal_modes); j++)
    {
      assert_fails (mtl_buffer_new (get_metal (UNIFIED), MAX_BUFFER_SIZE + 1, metal_modes[j],
                                    &error),
                    MTL_ERROR_NO_MEMORY, "67108865 & 67108864 & “Test Unified”");
      assert_fails (mtl_buffer_new_uninitialized (get_metal (DISCRETE), G_MAXSIZE, metal_modes[j],
                                                  &error),
                    MTL_ERROR_NO_MEMORY, "18446744073709551615");
    }
}

static void
test_largest (void)
{
  g_autoptr (MtlBuffer) buffer = new_buffer (get_metal (DISCRETE), MAX_BUFFER_SIZE,
                                             MTL_STORAGE_MODE_PRIVATE);
  guint8 last;

  metal_fixture_peek (mtl_buffer_get_handle (buffer), MAX_BUFFER_SIZE - 1, &last, 1);
  g_assert_cmpint (last, ==, 0);
}

static void
test_out_of_budget (void)
{
  MtlBuffer *buffers[4];
  MtlDevice *device = get_metal (TWIN);

  for (gsize i = 0; i < G_N_ELEMENTS (buffers); i++)
    {
      g_autoptr (GError) error = NULL;

      buffers[i] = mtl_buffer_new_uninitialized (device, DEVICE_MEMORY / G_N_ELEMENTS (buffers),
                                                 MTL_STORAGE_MODE_PRIVATE, &error);
      g_assert_no_error (error);
    }

  assert_fails (mtl_buffer_new (device, 7, MTL_STORAGE_MODE_PRIVATE, &error),
                MTL_ERROR_NO_MEMORY, "7 & “Test Discrete”");
  for (gsize i = 0; i < G_N_ELEMENTS (buffers); i++)
    g_assert_finalize_object (buffers[i]);

  g_object_unref (new_buffer (device, 7, MTL_STORAGE_MODE_PRIVATE));
}

/* The host does not read the GPU's writes to its own copy before synchronize(). */
static void
test_synchronize_managed (void)
{
  g_autoptr (MtlBuffer) buffer = new_buffer (get_metal (DISCRETE), 8, MTL_STORAGE_MODE_MANAGED);
  const guint8 *contents = mtl_buffer_get_contents (buffer);
  g_autoptr (GError) error = NULL;

  run_on_gpu (METAL_FIXTURE_FILL, buffer, 2, 3, 7);
  g_assert_cmpmem (contents, 8, "\0\0\0\0\0\0\0\0", 8);

  g_assert_true (mtl_buffer_synchronize (buffer, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpmem (contents, 8, "\0\0\7\7\7\0\0\0", 8);
}

static void
test_synchronize_slice (void)
{
  g_autoptr (MtlBuffer) buffer = new_buffer (get_metal (DISCRETE), 8, MTL_STORAGE_MODE_MANAGED);
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlBuffer) slice = mtl_buffer_slice (buffer, 3, 2, &error);

  run_on_gpu (METAL_FIXTURE_FILL, slice, 0, 2, 9);
  g_assert_true (mtl_buffer_synchronize (slice, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpmem (mtl_buffer_get_contents (buffer), 8, "\0\0\0\11\11\0\0\0", 8);
}

static void
test_synchronize_others (void)
{
  for (int i = 0; i < N_METAL_DEVICES; i++)
    for (gsize j = 0; j < G_N_ELEMENTS (metal_modes); j++)
      {
        g_autoptr (MtlBuffer) buffer = new_buffer (get_metal (i), 4, metal_modes[j]);
        g_autoptr (GError) error = NULL;

        run_on_gpu (METAL_FIXTURE_FILL, buffer, 0, 4, 5);
        g_assert_true (mtl_buffer_synchronize (buffer, NULL, &error));
        g_assert_no_error (error);
        assert_buffer_bytes (buffer, 0, "\5\5\5\5", 4);
      }
}

/* It waits for what was given to the device before. */
static gpointer
resume_later (gpointer data)
{
  g_usleep (20000);
  g_atomic_int_set ((int *) data, TRUE);
  metal_double_resume ();
  return NULL;
}

static void
test_synchronize_waits (void)
{
  g_autoptr (MtlBuffer) buffer = new_buffer (get_metal (UNIFIED), 4, MTL_STORAGE_MODE_SHARED);
  g_autoptr (GError) error = NULL;
  GThread *thread;
  int resumed = FALSE;

  metal_double_pause ();
  thread = g_thread_new ("resume", resume_later, &resumed);
  g_assert_true (mtl_buffer_synchronize (buffer, NULL, &error));
  g_assert_no_error (error);
  g_assert_true (g_atomic_int_get (&resumed));
  g_thread_join (thread);
}

static void
test_did_modify (void)
{
  g_autoptr (MtlBuffer) buffer = new_buffer (get_metal (DISCRETE), 8, MTL_STORAGE_MODE_MANAGED);
  guint8 *contents = mtl_buffer_get_contents (buffer);

  read_as_gpu (buffer, 0, (guint8[8]) { 0 }, 8);
  memcpy (contents, "abcdefgh", 8);
  assert_gpu_reads (buffer, 0, "\0\0\0\0\0\0\0\0", 8);

  g_assert_true (mtl_buffer_did_modify (buffer, 2, 3, NULL));
  assert_gpu_reads (buffer, 0, "\0\0cde\0\0\0", 8);
  g_assert_true (mtl_buffer_did_modify (buffer, 0, 8, NULL));
  assert_gpu_reads (buffer, 0, "abcdefgh", 8);
}

static void
test_did_modify_slice (void)
{
  g_autoptr (MtlBuffer) buffer = new_buffer (get_metal (DISCRETE), 8, MTL_STORAGE_MODE_MANAGED);
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlBuffer) slice = mtl_buffer_slice (buffer, 4, 3, &error);

  g_assert_no_error (error);
  read_as_gpu (buffer, 0, (guint8[8]) { 0 }, 8);
  memcpy (mtl_buffer_get_contents (buffer), "abcdefgh", 8);
  g_assert_true (mtl_buffer_did_modify (slice, 1, 2, NULL));
  assert_gpu_reads (buffer, 0, "\0\0\0\0\0fg\0", 8);
}

/* Only discrete GPUs have a copy to be told of; of no bytes there is nothing
 * to tell. */
static void
test_did_modify_others (void)
{
  unsigned n_calls = metal_double_calls ("didModifyRange:");
  g_autoptr (MtlBuffer) managed = new_buffer (get_metal (UNIFIED), 4, MTL_STORAGE_MODE_MANAGED);
  g_autoptr (MtlBuffer) shared = new_buffer (get_metal (DISCRETE), 4, MTL_STORAGE_MODE_SHARED);
  g_autoptr (MtlBuffer) private = new_buffer (get_metal (DISCRETE), 4, MTL_STORAGE_MODE_PRIVATE);

  g_assert_true (mtl_buffer_did_modify (managed, 0, 4, NULL));
  g_assert_true (mtl_buffer_did_modify (shared, 0, 4, NULL));
  g_assert_true (mtl_buffer_did_modify (private, 0, 4, NULL));
  g_assert_cmpuint (metal_double_calls ("didModifyRange:"), ==, n_calls);
}

/* The library itself reports its own writes. */
static void
test_own_writes_are_seen (void)
{
  g_autoptr (MtlBuffer) buffer = new_buffer (get_metal (DISCRETE), 12, MTL_STORAGE_MODE_MANAGED);
  g_autoptr (MtlBuffer) source = new_buffer (NULL, 4, MTL_STORAGE_MODE_HOST);
  g_autoptr (GBytes) bytes = g_bytes_new_static ("xyz", 3);
  g_autoptr (GBytes) pattern = g_bytes_new_static ("-+", 2);
  g_autoptr (GError) error = NULL;

  read_as_gpu (buffer, 0, (guint8[12]) { 0 }, 12);
  g_assert_true (mtl_buffer_set_bytes (buffer, 1, bytes, NULL, &error));
  assert_gpu_reads (buffer, 0, "\0xyz\0\0\0\0\0\0\0\0", 12);

  g_assert_true (mtl_buffer_fill (buffer, 5, 4, pattern, NULL, &error));
  assert_gpu_reads (buffer, 0, "\0xyz\0-+-+\0\0\0", 12);

  memcpy (mtl_buffer_get_contents (source), "abcd", 4);
  g_assert_true (mtl_buffer_copy_from (buffer, 9, source, 1, 3, NULL, &error));
  assert_gpu_reads (buffer, 0, "\0xyz\0-+-+bcd", 12);
  g_assert_no_error (error);
}

static void
test_elements_are_seen (void)
{
  g_autoptr (MtlBuffer) buffer = new_buffer (get_metal (DISCRETE), 16, MTL_STORAGE_MODE_MANAGED);
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedLayout) layout = mtl_strided_layout_new (DIMS (6), DIMS (1), 8, &error);
  g_autoptr (MtlStridedView) view = mtl_strided_view_new (buffer, layout, MTL_DTYPE_UINT8, 5,
                                                          &error);
  g_autoptr (MtlStridedView) reversed = mtl_strided_view_flip (view, 0, &error);
  g_autoptr (MtlStridedView) odd = mtl_strided_view_slice_string (view, "1::2", &error);
  g_autoptr (MtlStridedView) source = mtl_strided_view_new_from_doubles (DOUBLES (4, 5, 6),
                                                                         MTL_DTYPE_INT32, DIMS (3),
                                                                         &error);

  g_assert_no_error (error);
  read_as_gpu (buffer, 0, (guint8[16]) { 0 }, 16);
  g_assert_true (mtl_strided_view_fill_double (view, 1, NULL, &error));
  assert_gpu_reads (buffer, 4, "\0\1\1\1\1\1\1\0", 8);

  g_assert_true (mtl_strided_view_set_double (reversed, DIMS (0), 9, &error));
  g_assert_true (mtl_strided_view_set_int64 (reversed, DIMS (5), 8, &error));
  assert_gpu_reads (buffer, 4, "\0\10\1\1\1\1\11\0", 8);

  g_assert_true (mtl_strided_view_copy_from (odd, source, NULL, &error));
  assert_gpu_reads (buffer, 4, "\0\10\4\1\5\1\6\0", 8);
  g_assert_no_error (error);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  set_up_metal ();

  add_metal_test ("/MetalMemory/zeroed", test_zeroed);
  add_double_test ("/MetalMemory/uninitialized", test_uninitialized);
  add_metal_test ("/MetalMemory/description", test_description);
  add_metal_test ("/MetalMemory/private-has-no-bytes", test_private_has_no_bytes);
  add_metal_test ("/MetalMemory/slice", test_slice);
  add_double_test ("/MetalMemory/too-large", test_too_large);
  add_metal_test ("/MetalMemory/largest", test_largest);
  add_double_test ("/MetalMemory/out-of-budget", test_out_of_budget);
  add_double_test ("/MetalMemory/synchronize/managed", test_synchronize_managed);
  add_metal_test ("/MetalMemory/synchronize/slice", test_synchronize_slice);
  add_metal_test ("/MetalMemory/synchronize/others", test_synchronize_others);
  add_double_test ("/MetalMemory/synchronize/waits", test_synchronize_waits);
  add_double_test ("/MetalMemory/did-modify", test_did_modify);
  add_double_test ("/MetalMemory/did-modify/slice", test_did_modify_slice);
  add_double_test ("/MetalMemory/did-modify/others", test_did_modify_others);
  add_metal_test ("/MetalMemory/own-writes-are-seen", test_own_writes_are_seen);
  add_metal_test ("/MetalMemory/elements-are-seen", test_elements_are_seen);

  return g_test_run ();
}
