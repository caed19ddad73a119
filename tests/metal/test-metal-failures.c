/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "metal-failures.h"

#include <stdlib.h>

static const guint8 zeros[SIZE];

static gboolean
allocate (Stage           *stage,
          MtlStorageMode   mode,
          GError         **error)
{
  return stage_made (stage, mtl_buffer_new (stage->device, 5, mode, error), zeros, 5);
}

static gboolean
allocate_shared (Stage   *stage,
                 GError **error)
{
  return allocate (stage, MTL_STORAGE_MODE_SHARED, error);
}

static gboolean
allocate_managed (Stage   *stage,
                  GError **error)
{
  return allocate (stage, MTL_STORAGE_MODE_MANAGED, error);
}

static gboolean
allocate_private (Stage   *stage,
                  GError **error)
{
  return allocate (stage, MTL_STORAGE_MODE_PRIVATE, error);
}

static gboolean
allocate_uninitialized (Stage   *stage,
                        GError **error)
{
  return stage_made (stage, mtl_buffer_new_uninitialized (stage->device, 5,
                                                          MTL_STORAGE_MODE_PRIVATE, error),
                     NULL, 0);
}

static gboolean
upload (Stage   *stage,
        gsize    offset,
        gsize    size,
        GError **error)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static ("abcdefghijkl", size);

  stage_expect (stage, DEST, offset, "abcdefghijkl", size);
  return mtl_buffer_set_bytes (stage->buffers[DEST], offset, bytes, NULL, error);
}

static gboolean
upload_words (Stage   *stage,
              GError **error)
{
  return upload (stage, 4, 12, error);
}

static gboolean
upload_odd (Stage   *stage,
            GError **error)
{
  return upload (stage, 3, 11, error);
}

static gboolean
download (Stage   *stage,
          gsize    offset,
          gsize    size,
          GError **error)
{
  stage->bytes = mtl_buffer_dup_bytes (stage->buffers[PRIVATE], offset, size, NULL, error);
  stage_made (stage, NULL, stage->before[PRIVATE] + offset, size);
  return stage->bytes != NULL;
}

static gboolean
download_words (Stage   *stage,
                GError **error)
{
  return download (stage, 8, 8, error);
}

static gboolean
download_odd (Stage   *stage,
              GError **error)
{
  return download (stage, 5, 7, error);
}

static gboolean
copy (Stage       *stage,
      BufferName   to,
      gsize        dest_offset,
      BufferName   from,
      gsize        source_offset,
      gsize        size,
      GError     **error)
{
  stage_expect (stage, to, dest_offset, stage->before[from] + source_offset, size);
  return mtl_buffer_copy_from (stage->buffers[to], dest_offset, stage->buffers[from], source_offset,
                               size, NULL, error);
}

static gboolean
copy_words (Stage   *stage,
            GError **error)
{
  return copy (stage, DEST, 4, PRIVATE, 8, 12, error);
}

static gboolean
copy_odd (Stage   *stage,
          GError **error)
{
  return copy (stage, DEST, 5, PRIVATE, 2, 9, error);
}

static gboolean
copy_to_managed (Stage   *stage,
                 GError **error)
{
  return copy (stage, MANAGED, 4, PRIVATE, 8, 12, error);
}

static gboolean
copy_odd_from_managed (Stage   *stage,
                       GError **error)
{
  return copy (stage, DEST, 3, MANAGED, 2, 9, error);
}

static gboolean
copy_from_shared (Stage   *stage,
                  GError **error)
{
  return copy (stage, DEST, 4, SHARED, 0, 8, error);
}

static gboolean
copy_overlapping (Stage   *stage,
                  GError **error)
{
  return copy (stage, DEST, 5, DEST, 2, 9, error);
}

static gboolean
copy_across_devices (Stage   *stage,
                     GError **error)
{
  return copy (stage, DEST, 1, ELSEWHERE, 2, 9, error);
}

static gboolean
fill (Stage       *stage,
      gsize        offset,
      const char  *pattern,
      const char  *filled,
      GError     **error)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static (pattern, strlen (pattern));

  stage_expect (stage, DEST, offset, filled, strlen (filled));
  return mtl_buffer_fill (stage->buffers[DEST], offset, strlen (filled), bytes, NULL, error);
}

static gboolean
fill_words (Stage   *stage,
            GError **error)
{
  return fill (stage, 4, "a", "aaaaaaaa", error);
}

static gboolean
fill_odd (Stage   *stage,
          GError **error)
{
  return fill (stage, 3, "a", "aaaaaaa", error);
}

static gboolean
fill_pattern (Stage   *stage,
              GError **error)
{
  return fill (stage, 3, "abcd", "abcdabcd", error);
}

static gboolean
wrap (Stage           *stage,
      gsize            offset,
      MtlBufferFlags   flags,
      GError         **error)
{
  gsize page_size = metal_fixture_page_size ();
  gpointer memory = NULL;

  g_assert_cmpint (posix_memalign (&memory, page_size, page_size), ==, 0);
  stage->memory = memory;
  memcpy (stage->memory + offset, "abcdef", 6);
  stage->n_owners = 1;
  return stage_made (stage,
                     mtl_buffer_new_for_data (stage->memory + offset, 6, stage->device, flags,
                                              count_call, &stage->n_ended, error),
                     "abcdef", 6);
}

static gboolean
wrap_pages (Stage   *stage,
            GError **error)
{
  return wrap (stage, 0, MTL_BUFFER_FLAGS_NONE, error);
}

static gboolean
wrap_pages_never_copied (Stage   *stage,
                         GError **error)
{
  return wrap (stage, 0, MTL_BUFFER_FLAGS_NEVER_COPY, error);
}

static gboolean
wrap_misaligned (Stage   *stage,
                 GError **error)
{
  return wrap (stage, 100, MTL_BUFFER_FLAGS_NONE, error);
}

static gboolean
new_event (Stage   *stage,
           GError **error)
{
  return stage_made (stage, mtl_event_new (stage->device, error), NULL, 0);
}

static gboolean
synchronize_managed (Stage   *stage,
                     GError **error)
{
  return mtl_buffer_synchronize (stage->buffers[MANAGED], NULL, error);
}

static gboolean
synchronize_device (Stage   *stage,
                    GError **error)
{
  return mtl_device_synchronize (stage->device, NULL, error);
}

static const Scenario scenarios[] = {
  { "allocate/shared", allocate_shared },
  { "allocate/managed", allocate_managed },
  { "allocate/private", allocate_private },
  { "allocate/uninitialized", allocate_uninitialized },
  { "upload/words", upload_words },
  { "upload/odd", upload_odd },
  { "download/words", download_words },
  { "download/odd", download_odd },
  { "copy/words", copy_words },
  { "copy/odd", copy_odd },
  { "copy/to-managed", copy_to_managed },
  { "copy/odd-from-managed", copy_odd_from_managed },
  { "copy/from-shared", copy_from_shared },
  { "copy/overlapping", copy_overlapping },
  { "copy/across-devices", copy_across_devices },
  { "fill/words", fill_words },
  { "fill/odd", fill_odd },
  { "fill/pattern", fill_pattern },
  { "wrap/pages", wrap_pages, TRUE },
  { "wrap/pages-never-copied", wrap_pages_never_copied },
  { "wrap/misaligned", wrap_misaligned },
  { "event", new_event },
  { "synchronize/managed", synchronize_managed },
  { "synchronize/device", synchronize_device },
};

/* The first use of a device makes its queue, after a failure the second. */
static void
test_fresh_queue (void)
{
  g_autoptr (MtlBuffer) buffer = new_buffer (get_metal (TWIN), 8, MTL_STORAGE_MODE_SHARED);
  g_autoptr (GError) local_error = NULL;
  unsigned n_queues = metal_double_calls ("newCommandQueue");

  metal_double_fail_at (1);
  assert_refuses (mtl_device_synchronize (get_metal (TWIN), NULL, &error),
                  MTL_ERROR_DEVICE, "“Test Discrete”");
  metal_double_fail_at (1);
  assert_refuses (mtl_buffer_synchronize (buffer, NULL, &error),
                  MTL_ERROR_DEVICE, "“Test Discrete”");
  metal_double_fail_at (2);
  assert_fails (mtl_buffer_new (get_metal (TWIN), 8, MTL_STORAGE_MODE_PRIVATE, &error),
                MTL_ERROR_DEVICE, "“Test Discrete”");
  metal_double_fail_at (0);

  g_assert_true (mtl_device_synchronize (get_metal (TWIN), NULL, &local_error));
  g_assert_true (mtl_device_synchronize (get_metal (TWIN), NULL, &local_error));
  g_assert_no_error (local_error);
  g_assert_cmpuint (metal_double_calls ("newCommandQueue"), ==, n_queues + 4);
}

/* Metal's reason why a command buffer failed is handed on. */
static void
test_reasons (void)
{
  g_autoptr (MtlBuffer) buffer = new_buffer (get_metal (UNIFIED), 8, MTL_STORAGE_MODE_PRIVATE);
  const int out_of_memory = 8;

  for (int code = 1; code <= 12; code++)
    {
      g_autofree char *message = g_strdup_printf ("(code %d)", code);

      metal_double_fail_next_command_buffer (code);
      assert_refuses (mtl_buffer_synchronize (buffer, NULL, &error),
                      code == out_of_memory ? MTL_ERROR_NO_MEMORY : MTL_ERROR_DEVICE, message);
    }

  /* The same code has another meaning in other domains. */
  metal_double_set_error_domain ("MTLLibraryErrorDomain");
  metal_double_fail_next_command_buffer (out_of_memory);
  assert_refuses (mtl_buffer_synchronize (buffer, NULL, &error), MTL_ERROR_DEVICE, "8");
  metal_double_set_error_domain (NULL);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  set_up_metal ();

  add_scenarios ("/MetalFailures", scenarios, G_N_ELEMENTS (scenarios));
  add_metal_test ("/MetalFailures/fresh-queue", test_fresh_queue);
  add_metal_test ("/MetalFailures/reasons", test_reasons);

  return g_test_run ();
}
