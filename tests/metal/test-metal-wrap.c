/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Buffers over memory that another library made: an MTLBuffer, or the host's. */

#include "metal-tests.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <glib/gstdio.h>

static void
test_handle (void)
{
  static const struct { unsigned options; MtlStorageMode mode; } kinds[] = {
    { OPTIONS_SHARED, MTL_STORAGE_MODE_SHARED },
    { OPTIONS_MANAGED, MTL_STORAGE_MODE_MANAGED },
    { OPTIONS_PRIVATE, MTL_STORAGE_MODE_PRIVATE },
  };

  for (int i = 0; i < N_METAL_DEVICES; i++)
    for (gsize j = 0; j < G_N_ELEMENTS (kinds); j++)
      {
        gpointer handle = metal_fixture_buffer_new (i, 12, kinds[j].options);
        g_autoptr (GError) error = NULL;
        int n_ended = 0;
        MtlBuffer *buffer = mtl_buffer_new_for_handle (handle, 10, get_metal (i), count_call,
                                                       &n_ended, &error);

        g_assert_no_error (error);
        assert_references (handle, 2);
        g_assert_cmpint (mtl_buffer_get_storage_mode (buffer), ==, kinds[j].mode);
        g_assert_true (mtl_buffer_get_device (buffer) == get_metal (i));
        g_assert_true (mtl_buffer_get_handle (buffer) == handle);
        g_assert_cmpuint (mtl_buffer_get_size (buffer), ==, 10);
        g_assert_cmpint (mtl_buffer_is_host_accessible (buffer), ==,
                         kinds[j].mode != MTL_STORAGE_MODE_PRIVATE);

        metal_fixture_poke (handle, 0, "abcdefghijkl", 12);
        g_assert_true (mtl_buffer_synchronize (buffer, NULL, &error));
        g_assert_no_error (error);
        assert_buffer_bytes (buffer, 1, "bcdefghij", 9);

        g_assert_cmpint (n_ended, ==, 0);
        g_assert_finalize_object (buffer);
        g_assert_cmpint (n_ended, ==, 1);
        assert_references (handle, 1);
        metal_fixture_release (handle);
      }
}

/* The maker lets go first. */
static void
test_handle_outlives_its_maker (void)
{
  gpointer handle = metal_fixture_buffer_new (UNIFIED, 4, OPTIONS_SHARED);
  g_autoptr (MtlBuffer) buffer = wrap_buffer (UNIFIED, handle, 4);
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlBuffer) slice = mtl_buffer_slice (buffer, 1, 2, &error);

  g_assert_no_error (error);
  metal_fixture_release (handle);
  g_clear_object (&buffer);
  run_on_gpu (METAL_FIXTURE_FILL, slice, 0, 2, 'x');
  assert_buffer_bytes (slice, 0, "xx", 2);
}

static void
test_handle_in_heap (void)
{
  gpointer handle = metal_fixture_buffer_new_in_heap (DISCRETE, 64, OPTIONS_PRIVATE);
  g_autoptr (MtlBuffer) buffer = NULL;

  skip_unless (handle != NULL, "this device makes no heap");
  buffer = wrap_buffer (DISCRETE, handle, 64);
  metal_fixture_release (handle);
  metal_fixture_poke (handle, 8, "heap", 4);
  assert_buffer_bytes (buffer, 8, "heap", 4);
}

/* Takes nothing of the handle, and ends the owner once. */
static void
check_refused (int         ordinal,
               gpointer    handle,
               gsize       size,
               MtlError    code,
               const char *values)
{
  unsigned long n_references = count_references (handle);
  int n_ended = 0;

  assert_fails (mtl_buffer_new_for_handle (handle, size, get_metal (ordinal), count_call, &n_ended,
                                           &error),
                code, values);
  g_assert_cmpint (n_ended, ==, 1);
  g_assert_cmpuint (count_references (handle), ==, n_references);
}

static void
test_handle_refused (void)
{
  gpointer handle = metal_fixture_buffer_new (DISCRETE, 12, OPTIONS_SHARED);
  gpointer event = metal_fixture_event_new (DISCRETE);

  check_refused (UNIFIED, handle, 12, MTL_ERROR_INVALID_ARGUMENT,
                 "“Test Discrete” & (1) & “Test Unified” & (0)");
  check_refused (TWIN, handle, 12, MTL_ERROR_INVALID_ARGUMENT, "“Test Discrete” & (1) & (2)");
  check_refused (DISCRETE, handle, 13, MTL_ERROR_OUT_OF_BOUNDS, "13 & 12 & MTLBuffer");
  check_refused (DISCRETE, handle, G_MAXSIZE, MTL_ERROR_OVERFLOW, "18446744073709551615");
  check_refused (DISCRETE, event, 12, MTL_ERROR_INVALID_ARGUMENT, "MTLBuffer");
  for (int i = 1; i < 16; i++)
    assert_fails (mtl_buffer_new_for_handle ((guint8 *) handle + i, 12, get_metal (DISCRETE), NULL,
                                             NULL, &error), MTL_ERROR_INVALID_ARGUMENT, "16");

  metal_fixture_release (handle);
  metal_fixture_release (event);
}

static void
test_handle_purgeable (void)
{
  gpointer handle = metal_fixture_buffer_new (UNIFIED, 12, OPTIONS_PRIVATE);
  g_autoptr (MtlBuffer) buffer = NULL;

  metal_fixture_set_purgeable_state (handle, PURGEABLE_VOLATILE);
  check_refused (UNIFIED, handle, 12, MTL_ERROR_NOT_SUPPORTED, "purgeable");

  metal_fixture_set_purgeable_state (handle, PURGEABLE_NON_VOLATILE);
  buffer = wrap_buffer (UNIFIED, handle, 12);
  metal_fixture_release (handle);
}

static void
test_heap_purgeable (void)
{
  gpointer handle = metal_fixture_buffer_new_in_heap (UNIFIED, 64, OPTIONS_PRIVATE);
  g_autoptr (MtlBuffer) buffer = NULL;

  skip_unless (handle != NULL, "this device makes no heap");
  metal_fixture_set_purgeable_state (handle, PURGEABLE_VOLATILE);
  check_refused (UNIFIED, handle, 64, MTL_ERROR_NOT_SUPPORTED, "purgeable");

  metal_fixture_set_purgeable_state (handle, PURGEABLE_NON_VOLATILE);
  buffer = wrap_buffer (UNIFIED, handle, 64);
  metal_fixture_release (handle);
}

/* A GPU that was plugged in later; and one whose object is another than the one
 * that the list had. */
static void
test_handle_of_device_seen_later (void)
{
  const MetalDoubleDevice later[] = { { "Again", REGISTRY_ID (UNIFIED), true },
                                      { "New", REGISTRY_ID (N_METAL_DEVICES), true } };
  gpointer same, new;

  if (!g_test_subprocess ())
    {
      g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
      g_test_trap_assert_passed ();
      return;
    }

  get_metal (UNIFIED);
  metal_double_setup (later, G_N_ELEMENTS (later), 0);
  same = metal_fixture_buffer_new (0, 4, OPTIONS_SHARED);
  g_object_unref (wrap_buffer (UNIFIED, same, 4));
  metal_fixture_release (same);

  new = metal_fixture_buffer_new (1, 4, OPTIONS_SHARED);
  check_refused (UNIFIED, new, 4, MTL_ERROR_NOT_SUPPORTED, "");
  metal_fixture_release (new);
}

/* Memory of the host that begins on a page. */
static guint8 *
new_pages (gsize size)
{
  gsize page_size = metal_fixture_page_size ();
  gpointer pages = NULL;

  g_assert_cmpint (posix_memalign (&pages, page_size,
                                   (size + page_size - 1) / page_size * page_size), ==, 0);
  memset (pages, 'p', size);
  return pages;
}

static MtlBuffer *
wrap_memory (int             ordinal,
             gpointer        data,
             gsize           size,
             MtlBufferFlags  flags,
             int            *n_ended)
{
  g_autoptr (GError) error = NULL;
  MtlBuffer *buffer = mtl_buffer_new_for_data (data, size, get_metal (ordinal), flags, count_call,
                                               n_ended, &error);

  g_assert_no_error (error);
  return buffer;
}

static void
check_in_place (int     ordinal,
                guint8 *data,
                gsize   size)
{
  int n_ended = 0;
  MtlBuffer *buffer = wrap_memory (ordinal, data, size, MTL_BUFFER_FLAGS_NEVER_COPY, &n_ended);

  g_assert_true (mtl_buffer_get_contents (buffer) == data);
  g_assert_cmpuint (mtl_buffer_get_size (buffer), ==, size);
  g_assert_cmpint (mtl_buffer_get_storage_mode (buffer), ==, MTL_STORAGE_MODE_SHARED);
  g_assert_true (mtl_buffer_get_device (buffer) == get_metal (ordinal));
  g_assert_false (mtl_buffer_is_read_only (buffer));

  run_on_gpu (METAL_FIXTURE_FILL, buffer, size - 1, 1, 'g');
  g_assert_cmpint (data[size - 1], ==, 'g');
  data[0] = 'h';
  assert_gpu_reads (buffer, 0, data, size);

  g_assert_cmpint (n_ended, ==, 0);
  g_assert_finalize_object (buffer);
  g_assert_cmpint (n_ended, ==, 1);
}

static void
test_memory_in_place (void)
{
  gsize page_size = metal_fixture_page_size ();
  const gsize sizes[] = { 1, 5, page_size - 1, page_size, page_size + 1, 3 * page_size };

  for (int i = 0; i < N_METAL_DEVICES; i++)
    for (gsize j = 0; j < G_N_ELEMENTS (sizes); j++)
      {
        g_autofree guint8 *data = new_pages (sizes[j]);

        check_in_place (i, data, sizes[j]);
      }
}

/* A mapped file whose last page is only begun. */
static void
test_memory_mapped (void)
{
  const gsize page_size = metal_fixture_page_size (), size = page_size + 100;
  g_autofree guint8 *content = g_malloc (size);
  g_autofree char *path = NULL;
  g_autoptr (GError) error = NULL;
  guint8 *room, *data;
  int n_ended = 0, file = g_file_open_tmp (NULL, &path, &error);
  MtlBuffer *buffer;

  g_assert_no_error (error);
  for (gsize i = 0; i < size; i++)
    content[i] = i % 251;
  g_assert_cmpint (write (file, content, size), ==, (gssize) size);
  room = mmap (NULL, 4 * page_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  g_assert_true (room != MAP_FAILED);
  data = (guint8 *) (((guintptr) room + page_size - 1) / page_size * page_size);
  g_assert_true (mmap (data, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0)
                 == data);

  buffer = wrap_memory (DISCRETE, data, size, MTL_BUFFER_FLAGS_NEVER_COPY, &n_ended);
  assert_gpu_reads (buffer, 0, content, size);
  run_on_gpu (METAL_FIXTURE_FILL, buffer, 7, 1, 'g');
  g_assert_finalize_object (buffer);
  g_assert_cmpint (n_ended, ==, 1);

  /* The GPU wrote to the file. */
  g_assert_cmpint (pread (file, content, 1, 7), ==, 1);
  g_assert_cmpint (content[0], ==, 'g');
  munmap (room, 4 * page_size);
  close (file);
  g_unlink (path);
}

/* Read-only pages go to memory that only the GPU reaches. */
static void
assert_gpu_copies (MtlBuffer    *buffer,
                   const guint8 *expected)
{
  gsize size = mtl_buffer_get_size (buffer);
  g_autoptr (MtlBuffer) copy = new_buffer (mtl_buffer_get_device (buffer), size,
                                           MTL_STORAGE_MODE_PRIVATE);
  g_autoptr (GError) error = NULL;

  g_assert_true (mtl_buffer_copy_from (copy, 0, buffer, 0, size, NULL, &error));
  g_assert_no_error (error);
  assert_buffer_bytes (copy, 0, expected, size);
}

/* A range of a file, in the GPU's pages: it begins within one. */
static void
test_file_mapped (void)
{
  const gsize page_size = metal_fixture_page_size (), size = 3 * page_size + 100;
  const gsize offset = page_size + 7;
  g_autofree guint8 *content = g_malloc (size);
  g_autoptr (GFileIOStream) stream = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GFile) file = g_file_new_tmp (NULL, &stream, &error);

  g_assert_no_error (error);
  for (gsize i = 0; i < size; i++)
    content[i] = i % 251;
  g_assert_true (g_output_stream_write_all (g_io_stream_get_output_stream (G_IO_STREAM (stream)),
                                            content, size, NULL, NULL, &error));

  for (int i = 0; i < N_METAL_DEVICES; i++)
    {
      MtlBuffer *buffer = mtl_buffer_new_mapped (file, get_metal (i), offset, size - offset, NULL,
                                                 &error);

      g_assert_no_error (error);
      g_assert_true (mtl_buffer_get_device (buffer) == get_metal (i));
      g_assert_true (mtl_buffer_is_read_only (buffer));
      g_assert_cmpint (mtl_buffer_get_storage_mode (buffer), ==, MTL_STORAGE_MODE_SHARED);
      g_assert_cmpuint (mtl_buffer_get_byte_offset (buffer), ==, 7);
      g_assert_cmpmem (mtl_buffer_get_contents (buffer), size - offset, content + offset,
                       size - offset);
      assert_gpu_copies (buffer, content + offset);
      g_assert_finalize_object (buffer);
    }

  g_file_delete (file, NULL, &error);
  g_assert_no_error (error);
}

static void
test_file_mapped_refused (void)
{
  g_autoptr (GFileIOStream) stream = NULL;
  g_autoptr (GError) local_error = NULL;
  g_autoptr (GFile) file = g_file_new_tmp (NULL, &stream, &local_error);

  g_assert_no_error (local_error);
  g_assert_cmpint (truncate (g_file_peek_path (file), MAX_BUFFER_SIZE + 1), ==, 0);
  assert_fails (mtl_buffer_new_mapped (file, get_metal (DISCRETE), 0, MAX_BUFFER_SIZE + 1, NULL,
                                       &error), MTL_ERROR_NEEDS_COPY, "“Test Discrete”");
  g_object_unref (mtl_buffer_new_mapped (file, get_metal (DISCRETE), 0, MAX_BUFFER_SIZE, NULL,
                                         &local_error));
  g_assert_no_error (local_error);
  g_object_unref (mtl_buffer_new_mapped (file, get_metal (DISCRETE), 5, 0, NULL, &local_error));
  g_assert_no_error (local_error);

  g_file_delete (file, NULL, &local_error);
  g_assert_no_error (local_error);
}

static void
test_memory_slice_keeps_owner (void)
{
  g_autofree guint8 *data = new_pages (64);
  int n_ended = 0;
  MtlBuffer *buffer = wrap_memory (UNIFIED, data, 64, MTL_BUFFER_FLAGS_NONE, &n_ended);
  g_autoptr (GError) error = NULL;
  MtlBuffer *slice = mtl_buffer_slice (buffer, 16, 8, &error);

  g_assert_no_error (error);
  g_assert_true (mtl_buffer_get_handle (slice) == mtl_buffer_get_handle (buffer));
  g_assert_cmpuint (mtl_buffer_get_byte_offset (slice), ==, 16);
  g_assert_true (mtl_buffer_get_contents (slice) == data + 16);
  g_object_unref (buffer);
  g_assert_cmpint (n_ended, ==, 0);
  g_assert_finalize_object (slice);
  g_assert_cmpint (n_ended, ==, 1);
}

/* The GPU is not done with it when the last user on the host is. */
static void
test_memory_kept_by_gpu (void)
{
  g_autofree guint8 *data = new_pages (64);
  int n_ended = 0;
  MtlBuffer *buffer = wrap_memory (DISCRETE, data, 64, MTL_BUFFER_FLAGS_NONE, &n_ended);
  MetalFixtureRun *run;

  run = metal_fixture_submit (METAL_FIXTURE_FILL, mtl_buffer_get_handle (buffer), 0, 64, 'g',
                              NULL, 0, NULL, 0);
  g_assert_finalize_object (buffer);
  g_assert_cmpint (g_atomic_int_get (&n_ended), ==, 0);
  g_assert_cmpint (data[63], ==, 'p');

  g_assert_true (metal_fixture_finish (run));
  g_assert_cmpint (data[63], ==, 'g');
  await_count (&n_ended, 1);
}

/* A lock that an owner needs, such as Python's, and that a thread holds while it waits for the
 * GPU. */
typedef struct
{
  GMutex mutex;
  GThread *thread;
  int n_ended;
} LockedOwner;

static void
end_under_lock (gpointer data)
{
  LockedOwner *self = data;

  g_mutex_lock (&self->mutex);
  self->thread = g_thread_self ();
  g_mutex_unlock (&self->mutex);
  g_atomic_int_inc (&self->n_ended);
}

static MtlBuffer *
wrap_for_locked_owner (guint8      *data,
                       LockedOwner *owner)
{
  g_autoptr (GError) error = NULL;
  MtlBuffer *buffer = mtl_buffer_new_for_data (data, 64, get_metal (UNIFIED),
                                               MTL_BUFFER_FLAGS_NEVER_COPY, end_under_lock, owner,
                                               &error);

  g_assert_no_error (error);
  return buffer;
}

static void
test_memory_of_locked_owner (void)
{
  g_autofree guint8 *data = new_pages (64);
  LockedOwner owner = { .n_ended = 0 };
  MtlBuffer *buffer = wrap_for_locked_owner (data, &owner);
  MetalFixtureRun *run;

  g_mutex_init (&owner.mutex);
  run = metal_fixture_submit (METAL_FIXTURE_FILL, mtl_buffer_get_handle (buffer), 0, 64, 'g',
                              NULL, 0, NULL, 0);
  g_assert_finalize_object (buffer);

  g_mutex_lock (&owner.mutex);
  g_assert_true (metal_fixture_finish (run));
  await_gpu ();
  g_assert_cmpint (g_atomic_int_get (&owner.n_ended), ==, 0);
  g_mutex_unlock (&owner.mutex);
  await_count (&owner.n_ended, 1);
  g_mutex_clear (&owner.mutex);
}

/* The owner has ended once the last reference is dropped through this library. */
static void
test_memory_ended_by_caller (void)
{
  g_autofree guint8 *data = new_pages (64);
  LockedOwner owner = { .n_ended = 0 };
  MtlBuffer *buffer = wrap_for_locked_owner (data, &owner);

  g_mutex_init (&owner.mutex);
  g_assert_finalize_object (buffer);
  g_assert_cmpint (owner.n_ended, ==, 1);
  g_assert_true (owner.thread == g_thread_self ());
  g_mutex_clear (&owner.mutex);
}

static void
test_memory_kept_by_peer (void)
{
  g_autofree guint8 *data = new_pages (64);
  int n_ended = 0;
  MtlBuffer *buffer = wrap_memory (UNIFIED, data, 64, MTL_BUFFER_FLAGS_NONE, &n_ended);
  gpointer handle = mtl_buffer_get_handle (buffer);

  metal_fixture_retain (handle);
  g_assert_finalize_object (buffer);
  g_assert_cmpint (n_ended, ==, 0);
  metal_fixture_release (handle);
  await_count (&n_ended, 1);
}

/* Memory that cannot be had in place is copied, and its owner ends at once. */
static void
check_copied (guint8 *data,
              gsize   size)
{
  int n_ended = 0;
  MtlBuffer *buffer = wrap_memory (DISCRETE, data, size, MTL_BUFFER_FLAGS_READ_ONLY, &n_ended);

  g_assert_cmpint (n_ended, ==, 1);
  g_assert_true (mtl_buffer_get_contents (buffer) != data);
  g_assert_true (mtl_buffer_is_read_only (buffer));
  g_assert_true (mtl_buffer_get_device (buffer) == get_metal (DISCRETE));
  assert_buffer_bytes (buffer, 0, data, size);
  g_assert_finalize_object (buffer);
  g_assert_cmpint (n_ended, ==, 1);
}

static void
check_needs_copy (guint8     *data,
                  gsize       size,
                  const char *values)
{
  int n_ended = 0;

  assert_fails (mtl_buffer_new_for_data (data, size, get_metal (DISCRETE),
                                         MTL_BUFFER_FLAGS_NEVER_COPY, count_call, &n_ended, &error),
                MTL_ERROR_NEEDS_COPY, values);
  g_assert_cmpint (n_ended, ==, 1);
}

static void
test_memory_misaligned (void)
{
  const gsize page_size = metal_fixture_page_size ();
  g_autofree guint8 *data = new_pages (2 * page_size);
  g_autofree char *size = g_strdup_printf ("%zu", page_size);

  check_copied (data + page_size / 4, 100);
  check_copied (data + 1, 100);
  check_needs_copy (data + page_size / 4, 100, size);
}

/* Metal does not say if it runs the deallocator of a buffer that it did not make. */
static void
test_memory_refused_by_metal (void)
{
  g_autofree guint8 *data = new_pages (100);
  size_t n_leases = metal_double_live_of_class ("MtlMetalLease");

  for (int runs_deallocator = FALSE; runs_deallocator <= TRUE; runs_deallocator++)
    {
      metal_double_dealloc_on_failure (runs_deallocator);
      metal_double_fail_at (1);
      check_copied (data, 100);
      metal_double_fail_at (1);
      check_needs_copy (data, 100, "“Test Discrete” & 16384");
    }

  metal_double_dealloc_on_failure (false);
  g_assert_cmpuint (metal_double_live_of_class ("MtlMetalLease"), ==, n_leases);
}

/* The memory is too large in place, and so is the copy. */
static void
test_memory_too_large (void)
{
  gsize page_size = metal_fixture_page_size (), size = MAX_BUFFER_SIZE + 1;
  guint8 *room = mmap (NULL, size + 2 * page_size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  guint8 *data = (guint8 *) (((guintptr) room + page_size - 1) / page_size * page_size);
  int n_ended = 0;

  g_assert_true (room != MAP_FAILED);
  assert_fails (mtl_buffer_new_for_data (data, size, get_metal (UNIFIED), MTL_BUFFER_FLAGS_NONE,
                                         count_call, &n_ended, &error),
                MTL_ERROR_NO_MEMORY, "67108865");
  g_assert_cmpint (n_ended, ==, 1);
  check_needs_copy (data, size, "“Test Discrete”");
  munmap (room, size + 2 * page_size);
}

static void
test_memory_copy_fails (void)
{
  g_autofree guint8 *data = new_pages (100);
  int n_ended = 0;

  metal_double_fail_at (1);
  assert_fails (mtl_buffer_new_for_data (data + 64, 36, get_metal (UNIFIED), MTL_BUFFER_FLAGS_NONE,
                                         count_call, &n_ended, &error),
                MTL_ERROR_NO_MEMORY, "36 & “Test Unified”");
  g_assert_cmpint (n_ended, ==, 1);
}

/* Metal orders work on memory by itself, unless it is Untracked; host memory that is
 * WriteCombined is slow to read. */
static void
check_options (MtlBuffer *buffer)
{
  gpointer handle = mtl_buffer_get_handle (buffer);

  g_assert_cmpuint (metal_fixture_cpu_cache_mode (handle), ==, 0);
  g_assert_cmpuint (metal_fixture_hazard_tracking_mode (handle), ==, 2);
}

static void
test_options (void)
{
  g_autofree guint8 *data = new_pages (100);

  for (int i = 0; i < N_METAL_DEVICES; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlBuffer) in_place = NULL;

      for (gsize j = 0; j < G_N_ELEMENTS (metal_modes); j++)
        {
          g_autoptr (MtlBuffer) buffer = new_buffer (get_metal (i), 5, metal_modes[j]);

          check_options (buffer);
        }

      in_place = mtl_buffer_new_for_data (data, 100, get_metal (i), MTL_BUFFER_FLAGS_NEVER_COPY,
                                          NULL, NULL, &error);
      g_assert_no_error (error);
      check_options (in_place);
    }
}

static void
test_memory_of_nobody (void)
{
  g_autofree guint8 *data = new_pages (32);
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlBuffer) buffer = NULL;
  g_autoptr (MtlBuffer) copy = NULL;

  buffer = mtl_buffer_new_for_data (data, 32, get_metal (UNIFIED), MTL_BUFFER_FLAGS_NONE, NULL,
                                    NULL, &error);
  copy = mtl_buffer_new_for_data (data + 8, 8, get_metal (UNIFIED), MTL_BUFFER_FLAGS_NONE, NULL,
                                  NULL, &error);
  g_assert_no_error (error);
  g_assert_true (mtl_buffer_get_contents (buffer) == data);
  assert_buffer_bytes (copy, 0, "pppppppp", 8);
}

static void
test_memory_of_no_bytes (void)
{
  int n_ended = 0;
  g_autoptr (MtlBuffer) buffer = wrap_memory (DISCRETE, NULL, 0, MTL_BUFFER_FLAGS_NEVER_COPY,
                                              &n_ended);

  g_assert_cmpint (n_ended, ==, 1);
  g_assert_cmpuint (mtl_buffer_get_size (buffer), ==, 0);
}

static void
test_bytes (void)
{
  guint8 *data = new_pages (20);
  g_autoptr (GBytes) bytes = g_bytes_new_with_free_func (data, 20, free, data);
  g_autoptr (GBytes) part = g_bytes_new_from_bytes (bytes, 4, 8);
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlBuffer) in_place = NULL;
  g_autoptr (MtlBuffer) copied = NULL;

  in_place = mtl_buffer_new_from_bytes (bytes, get_metal (UNIFIED), MTL_BUFFER_FLAGS_NEVER_COPY,
                                        &local_error);
  copied = mtl_buffer_new_from_bytes (part, get_metal (UNIFIED), MTL_BUFFER_FLAGS_NONE,
                                      &local_error);
  g_assert_no_error (local_error);
  g_assert_true (mtl_buffer_get_contents (in_place) == data);
  g_assert_true (mtl_buffer_is_read_only (in_place));
  g_assert_true (mtl_buffer_is_read_only (copied));
  g_assert_true (mtl_buffer_get_contents (copied) != data + 4);
  assert_buffer_bytes (copied, 0, "pppppppp", 8);
  assert_fails (mtl_buffer_new_from_bytes (part, get_metal (UNIFIED), MTL_BUFFER_FLAGS_NEVER_COPY,
                                           &error), MTL_ERROR_NEEDS_COPY, "");

  /* The buffer alone keeps the bytes. */
  g_clear_pointer (&part, g_bytes_unref);
  g_clear_pointer (&bytes, g_bytes_unref);
  assert_gpu_reads (in_place, 12, "pppppppp", 8);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  set_up_metal ();

  add_metal_test ("/MetalWrap/handle", test_handle);
  add_metal_test ("/MetalWrap/handle/outlives-its-maker", test_handle_outlives_its_maker);
  add_metal_test ("/MetalWrap/handle/in-heap", test_handle_in_heap);
  add_double_test ("/MetalWrap/handle/refused", test_handle_refused);
  add_metal_test ("/MetalWrap/handle/purgeable", test_handle_purgeable);
  add_metal_test ("/MetalWrap/handle/purgeable-heap", test_heap_purgeable);
  add_double_func ("/MetalWrap/handle/device-seen-later", test_handle_of_device_seen_later);
  add_metal_test ("/MetalWrap/memory/in-place", test_memory_in_place);
  add_metal_test ("/MetalWrap/memory/mapped", test_memory_mapped);
  add_metal_test ("/MetalWrap/file/mapped", test_file_mapped);
  add_double_test ("/MetalWrap/file/refused", test_file_mapped_refused);
  add_metal_test ("/MetalWrap/memory/slice-keeps-owner", test_memory_slice_keeps_owner);
  add_metal_test ("/MetalWrap/memory/kept-by-gpu", test_memory_kept_by_gpu);
  add_metal_test ("/MetalWrap/memory/kept-by-peer", test_memory_kept_by_peer);
  add_metal_test ("/MetalWrap/memory/of-locked-owner", test_memory_of_locked_owner);
  add_metal_test ("/MetalWrap/memory/ended-by-caller", test_memory_ended_by_caller);
  add_metal_test ("/MetalWrap/memory/misaligned", test_memory_misaligned);
  add_double_test ("/MetalWrap/memory/refused-by-metal", test_memory_refused_by_metal);
  add_double_test ("/MetalWrap/memory/too-large", test_memory_too_large);
  add_double_test ("/MetalWrap/memory/copy-fails", test_memory_copy_fails);
  add_metal_test ("/MetalWrap/memory/options", test_options);
  add_metal_test ("/MetalWrap/memory/of-nobody", test_memory_of_nobody);
  add_metal_test ("/MetalWrap/memory/of-no-bytes", test_memory_of_no_bytes);
  add_metal_test ("/MetalWrap/bytes", test_bytes);

  return g_test_run ();
}
