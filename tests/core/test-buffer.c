/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "test-utils.h"

#include <sys/mman.h>

/* A buffer of these characters, without the terminating one. */
static MtlBuffer *
new_buffer_of (const char *text)
{
  MtlBuffer *buffer = new_buffer (NULL, strlen (text), MTL_STORAGE_MODE_HOST);

  memcpy (mtl_buffer_get_contents (buffer), text, strlen (text));
  return buffer;
}

#define assert_contents(buffer, text) \
  g_assert_cmpmem (mtl_buffer_get_contents (buffer), mtl_buffer_get_size (buffer), \
                   (text), strlen (text))

static void
test_new (void)
{
  const gsize sizes[] = { 1, 3, 64, 65, 4096, 1000003 };

  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      MtlBuffer *buffer = new_buffer (NULL, sizes[i], MTL_STORAGE_MODE_HOST);
      const guint8 *contents = mtl_buffer_get_contents (buffer);

      g_assert_cmpuint (mtl_buffer_get_size (buffer), ==, sizes[i]);
      g_assert_cmpuint ((guintptr) contents % 64, ==, 0);
      for (gsize j = 0; j < sizes[i]; j++)
        g_assert_cmpuint (contents[j], ==, 0);
      g_assert_finalize_object (buffer);
    }
}

static void
test_new_uninitialized (void)
{
  g_autoptr (GError) error = NULL;
  MtlBuffer *buffer = mtl_buffer_new_uninitialized (mtl_device_get_host (), 100,
                                                    MTL_STORAGE_MODE_HOST, &error);

  g_assert_no_error (error);
  g_assert_cmpuint ((guintptr) mtl_buffer_get_contents (buffer) % 64, ==, 0);
  memset (mtl_buffer_get_contents (buffer), 0xff, 100);
  g_assert_finalize_object (buffer);
}

#define HUGE_SIZE (16 * 1024 * 1024)

/* Returns the system's flags of the pages in the middle. */
static char *
get_page_flags (gconstpointer data)
{
  guintptr address = (guintptr) data + HUGE_SIZE / 2;
  g_autofree char *maps = NULL;
  g_auto (GStrv) lines = NULL;
  gboolean is_here = FALSE;

  if (!g_file_get_contents ("/proc/self/smaps", &maps, NULL, NULL))
    return NULL;

  lines = g_strsplit (maps, "\n", -1);
  for (gsize i = 0; lines[i] != NULL; i++)
    {
      char *rest;
      guint64 first = g_ascii_strtoull (lines[i], &rest, 16);

      if (*rest == '-')
        is_here = first <= address && address < g_ascii_strtoull (rest + 1, NULL, 16);
      else if (is_here && g_str_has_prefix (lines[i], "VmFlags:"))
        return g_strdup (lines[i]);
    }

  return NULL;
}

/* TRUE if these flags show huge pages that are asked for here. */
static gboolean
tells_of_huge_pages (void)
{
#ifdef MADV_HUGEPAGE
  gpointer pages = mmap (NULL, HUGE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                         -1, 0);
  g_autofree char *flags = NULL;

  g_assert_true (pages != MAP_FAILED);
  madvise (pages, HUGE_SIZE, MADV_HUGEPAGE);
  flags = get_page_flags (pages);
  munmap (pages, HUGE_SIZE);
  return flags != NULL && strstr (flags, " hg") != NULL;
#else
  return FALSE;
#endif
}

static void
test_huge_pages (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlBuffer) zeros = new_buffer (NULL, HUGE_SIZE, MTL_STORAGE_MODE_HOST);
  g_autoptr (MtlBuffer) buffer = mtl_buffer_new_uninitialized (mtl_device_get_host (), HUGE_SIZE,
                                                               MTL_STORAGE_MODE_HOST, &error);
  g_autofree char *flags = get_page_flags (mtl_buffer_get_contents (buffer));
  g_autofree char *flags_of_zeros = get_page_flags (mtl_buffer_get_contents (zeros));

  if (!tells_of_huge_pages ())
    {
      g_test_skip ("This system has no huge pages by itself, or does not say so");
      return;
    }

  g_assert_nonnull (strstr (flags, " hg"));
  g_assert_null (strstr (flags_of_zeros, " hg"));
}

static void
test_new_empty (void)
{
  g_autoptr (MtlBuffer) buffer = new_buffer (NULL, 0, MTL_STORAGE_MODE_HOST);
  g_autoptr (GError) local_error = NULL;
  g_autoptr (GBytes) nothing = g_bytes_new_static (NULL, 0);
  g_autoptr (GBytes) pattern = g_bytes_new_static ("x", 1);
  g_autoptr (GBytes) bytes = mtl_buffer_get_bytes (buffer, 0, 0, &local_error);
  g_autoptr (GBytes) copy = mtl_buffer_dup_bytes (buffer, 0, 0, NULL, &local_error);
  g_autoptr (MtlBuffer) slice = mtl_buffer_slice (buffer, 0, 0, &local_error);

  g_assert_true (mtl_buffer_set_bytes (buffer, 0, nothing, NULL, &local_error));
  g_assert_true (mtl_buffer_fill (buffer, 0, 0, pattern, NULL, &local_error));
  g_assert_true (mtl_buffer_copy_from (buffer, 0, buffer, 0, 0, NULL, &local_error));
  g_assert_no_error (local_error);
  g_assert_cmpuint (mtl_buffer_get_size (buffer), ==, 0);
  g_assert_cmpuint (g_bytes_get_size (bytes), ==, 0);
  g_assert_cmpuint (g_bytes_get_size (copy), ==, 0);
  g_assert_cmpuint (mtl_buffer_get_size (slice), ==, 0);

  assert_fails (mtl_buffer_get_bytes (buffer, 0, 1, &error), MTL_ERROR_OUT_OF_BOUNDS, "1");
}

static void
test_no_memory (void)
{
  assert_fails (mtl_buffer_new (NULL, (gsize) 1 << 62, MTL_STORAGE_MODE_HOST, &error),
                MTL_ERROR_NO_MEMORY, "4611686018427387904");
  assert_fails (mtl_buffer_new_uninitialized (NULL, (gsize) 1 << 62, MTL_STORAGE_MODE_HOST,
                                              &error),
                MTL_ERROR_NO_MEMORY, "4611686018427387904");
  assert_fails (mtl_buffer_new (NULL, G_MAXSIZE, MTL_STORAGE_MODE_HOST, &error),
                MTL_ERROR_NO_MEMORY, "18446744073709551615");
  assert_fails (mtl_buffer_new (NULL, G_MAXSSIZE, MTL_STORAGE_MODE_HOST, &error),
                MTL_ERROR_NO_MEMORY, "9223372036854775807");
}

static void
test_from_bytes (void)
{
  g_autoptr (GError) error = NULL;
  int n_destroyed = 0;
  char text[] = "picture";
  GBytes *bytes = g_bytes_new_with_free_func (text, 7, count_call, &n_destroyed);
  MtlBuffer *buffer = mtl_buffer_new_from_bytes (bytes, NULL, MTL_BUFFER_FLAGS_NONE, &error);

  g_assert_no_error (error);
  g_assert_true (mtl_buffer_get_contents (buffer) == text);
  g_assert_cmpuint (mtl_buffer_get_size (buffer), ==, 7);
  g_assert_true (mtl_buffer_is_read_only (buffer));

  g_bytes_unref (bytes);
  g_assert_cmpint (n_destroyed, ==, 0);
  assert_contents (buffer, "picture");
  g_assert_finalize_object (buffer);
  g_assert_cmpint (n_destroyed, ==, 1);
}

static void
test_read_only (void)
{
  g_autoptr (GError) local_error = NULL;
  g_autoptr (GBytes) bytes = g_bytes_new_static ("constant", 8);
  g_autoptr (GBytes) pattern = g_bytes_new_static ("x", 1);
  g_autoptr (MtlBuffer) buffer = mtl_buffer_new_from_bytes (bytes, NULL, MTL_BUFFER_FLAGS_NONE,
                                                            &local_error);
  g_autoptr (MtlBuffer) slice = mtl_buffer_slice (buffer, 2, 4, &local_error);

  g_assert_no_error (local_error);
  g_assert_true (mtl_buffer_is_read_only (slice));

  assert_refuses (mtl_buffer_set_bytes (buffer, 0, pattern, NULL, &error), MTL_ERROR_READ_ONLY,
                  "8");
  assert_refuses (mtl_buffer_fill (buffer, 0, 8, pattern, NULL, &error), MTL_ERROR_READ_ONLY, "8");
  assert_refuses (mtl_buffer_copy_from (buffer, 0, buffer, 4, 4, NULL, &error),
                  MTL_ERROR_READ_ONLY, "8");
  assert_refuses (mtl_buffer_fill (slice, 0, 4, pattern, NULL, &error), MTL_ERROR_READ_ONLY, "4");
  assert_contents (buffer, "constant");
}

static void
test_for_data (void)
{
  g_autoptr (GError) error = NULL;
  int n_destroyed = 0;
  char data[] = "writable";
  MtlBuffer *buffer = mtl_buffer_new_for_data (data, 8, NULL, MTL_BUFFER_FLAGS_NONE, count_call,
                                               &n_destroyed, &error);
  g_autoptr (GBytes) pattern = g_bytes_new_static ("-", 1);

  g_assert_no_error (error);
  g_assert_false (mtl_buffer_is_read_only (buffer));
  g_assert_true (mtl_buffer_get_contents (buffer) == data);
  g_assert_true (mtl_buffer_get_handle (buffer) == data);
  g_assert_true (mtl_buffer_fill (buffer, 1, 2, pattern, NULL, &error));
  g_assert_cmpmem (data, 8, "w--table", 8);
  g_assert_finalize_object (buffer);
  g_assert_cmpint (n_destroyed, ==, 1);
}

static void
test_for_data_read_only (void)
{
  g_autoptr (GError) local_error = NULL;
  char data[] = "abcd";
  g_autoptr (MtlBuffer) buffer = mtl_buffer_new_for_data (data, 4, NULL, MTL_BUFFER_FLAGS_READ_ONLY,
                                                          NULL, NULL, &local_error);
  g_autoptr (GBytes) bytes = g_bytes_new_static ("x", 1);

  g_assert_no_error (local_error);
  assert_refuses (mtl_buffer_set_bytes (buffer, 0, bytes, NULL, &error), MTL_ERROR_READ_ONLY, "4");
  g_assert_cmpmem (data, 4, "abcd", 4);
}

static void
test_for_data_empty (void)
{
  g_autoptr (GError) error = NULL;
  int n_destroyed = 0;
  MtlBuffer *buffer = mtl_buffer_new_for_data (NULL, 0, NULL, MTL_BUFFER_FLAGS_NONE, count_call,
                                               &n_destroyed, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (mtl_buffer_get_size (buffer), ==, 0);
  g_assert_finalize_object (buffer);
  g_assert_cmpint (n_destroyed, ==, 1);
}

/* The last holder of the memory ends it, once. */
static void
test_destroyed_once (void)
{
  g_autoptr (GError) error = NULL;
  int n_destroyed = 0;
  char data[] = "abcdefgh";
  MtlBuffer *buffer = mtl_buffer_new_for_data (data, 8, NULL, MTL_BUFFER_FLAGS_NONE, count_call,
                                               &n_destroyed, &error);
  MtlBuffer *slice = mtl_buffer_slice (buffer, 2, 4, &error);
  g_autoptr (MtlStridedLayout) layout = mtl_strided_layout_new (DIMS (4), NULL, 0, 8, &error);
  MtlStridedView *view = mtl_strided_view_new (slice, layout, MTL_DTYPE_UINT8, 0, &error);
  GBytes *bytes = mtl_buffer_get_bytes (slice, 1, 2, &error);
  GBytes *view_bytes = mtl_strided_view_get_bytes (view, &error);

  g_assert_no_error (error);
  g_assert_finalize_object (buffer);
  g_object_unref (slice);
  g_assert_finalize_object (view);
  g_assert_cmpint (n_destroyed, ==, 0);
  g_assert_cmpmem (g_bytes_get_data (view_bytes, NULL), g_bytes_get_size (view_bytes), "cdef", 4);
  g_bytes_unref (view_bytes);
  g_assert_cmpint (n_destroyed, ==, 0);
  g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), "de", 2);
  g_bytes_unref (bytes);
  g_assert_cmpint (n_destroyed, ==, 1);
}

/* The address that mmap() returns on failure. */
static void
test_around_the_end_of_addresses (void)
{
  static const struct
  {
    guint64 address;
    gsize size;
    gboolean fits;
  } cases[] = {
    { G_MAXUINT64, 0, TRUE }, { G_MAXUINT64, 1, FALSE }, { G_MAXUINT64, 4096, FALSE },
    { G_MAXUINT64 - 4095, 4095, TRUE }, { G_MAXUINT64 - 4095, 4096, FALSE },
    { G_MAXUINT64 - 7, G_MAXSSIZE, FALSE }, { 16, G_MAXSSIZE, TRUE },
    { POW2 (62), G_MAXSSIZE, TRUE },
  };
  int n_destroyed = 0;

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    for (int is_handle = 0; is_handle < 2; is_handle++)
      {
        gpointer address = (gpointer) (guintptr) cases[i].address;
        g_autoptr (GError) error = NULL;
        g_autoptr (MtlBuffer) buffer =
          is_handle ? mtl_buffer_new_for_handle (address, cases[i].size, mtl_device_get_host (),
                                                 count_call, &n_destroyed, &error)
                    : mtl_buffer_new_for_data (address, cases[i].size, NULL, MTL_BUFFER_FLAGS_NONE,
                                               count_call, &n_destroyed, &error);

        g_assert_true ((buffer != NULL) == cases[i].fits);
        if (!cases[i].fits)
          {
            g_autofree char *size = g_strdup_printf ("%" G_GSIZE_FORMAT, cases[i].size);

            assert_failed (error, MTL_ERROR_OVERFLOW, size);
          }
      }

  g_assert_cmpint (n_destroyed, ==, 2 * G_N_ELEMENTS (cases));
}

static void
test_for_handle (void)
{
  g_autoptr (GError) error = NULL;
  int n_destroyed = 0;
  char data[] = "allocate";
  MtlBuffer *buffer = mtl_buffer_new_for_handle (data, 8, mtl_device_get_host (), count_call,
                                                 &n_destroyed, &error);

  g_assert_no_error (error);
  g_assert_true (mtl_buffer_get_handle (buffer) == data);
  g_assert_true (mtl_buffer_get_contents (buffer) == data);
  g_assert_finalize_object (buffer);
  g_assert_cmpint (n_destroyed, ==, 1);
}

static void
test_properties (void)
{
  g_autoptr (MtlBuffer) buffer = new_buffer (NULL, 24, MTL_STORAGE_MODE_HOST);
  g_autoptr (MtlDevice) device = NULL;
  MtlStorageMode storage_mode;
  guint64 size;
  gboolean size_known, host_accessible, device_accessible, read_only;

  g_object_get (buffer,
                "device", &device,
                "size", &size,
                "size-known", &size_known,
                "storage-mode", &storage_mode,
                "host-accessible", &host_accessible,
                "device-accessible", &device_accessible,
                "read-only", &read_only,
                NULL);

  g_assert_true (device == mtl_device_get_host ());
  g_assert_cmpuint (size, ==, 24);
  g_assert_true (size_known);
  g_assert_cmpint (storage_mode, ==, MTL_STORAGE_MODE_HOST);
  g_assert_true (host_accessible);
  g_assert_false (device_accessible);
  g_assert_false (read_only);
  g_assert_true (mtl_buffer_get_device (buffer) == device);
  g_assert_true (mtl_buffer_is_size_known (buffer));
}

static void
test_slice (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlBuffer) buffer = new_buffer_of ("0123456789");
  guint8 *contents = mtl_buffer_get_contents (buffer);
  g_autoptr (MtlBuffer) slice = mtl_buffer_slice (buffer, 2, 6, &error);
  g_autoptr (MtlBuffer) inner = mtl_buffer_slice (slice, 1, 5, &error);
  g_autoptr (MtlBuffer) at_end = mtl_buffer_slice (inner, 5, 0, &error);

  g_assert_no_error (error);
  assert_contents (slice, "234567");
  assert_contents (inner, "34567");
  g_assert_cmpuint (mtl_buffer_get_byte_offset (inner), ==, 3);
  g_assert_cmpuint (mtl_buffer_get_byte_offset (at_end), ==, 8);
  g_assert_true (mtl_buffer_get_contents (inner) == contents + 3);
  g_assert_true (mtl_buffer_get_handle (inner) == mtl_buffer_get_handle (buffer));

  g_clear_object (&buffer);
  g_clear_object (&slice);
  assert_contents (inner, "34567");
}

/* Every way in which a range can leave a slice of 6 bytes. */
static void
test_out_of_bounds (void)
{
  static const struct { gsize offset, size; } outside[] = {
    { 0, 7 }, { 6, 1 }, { 7, 0 }, { 5, 2 }, { 1, G_MAXSIZE }, { G_MAXSIZE, 1 },
    { G_MAXSIZE, 0 }, { G_MAXSIZE, G_MAXSIZE }, { 0, G_MAXSIZE }, { G_MAXSIZE - 2, 8 },
  };
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlBuffer) parent = new_buffer_of ("0123456789");
  g_autoptr (MtlBuffer) buffer = mtl_buffer_slice (parent, 2, 6, &local_error);
  g_autoptr (MtlBuffer) other = new_buffer (NULL, 100, MTL_STORAGE_MODE_HOST);
  g_autoptr (GBytes) seven = g_bytes_new_static ("1234567", 7);
  g_autoptr (GBytes) pattern = g_bytes_new_static ("x", 1);

  for (gsize i = 0; i < G_N_ELEMENTS (outside); i++)
    {
      gsize offset = outside[i].offset, size = outside[i].size;
      g_autofree char *value = g_strdup_printf ("%" G_GSIZE_FORMAT " & %" G_GSIZE_FORMAT " & 6",
                                                size, offset);

      assert_fails (mtl_buffer_slice (buffer, offset, size, &error),
                    MTL_ERROR_OUT_OF_BOUNDS, value);
      assert_fails (mtl_buffer_get_bytes (buffer, offset, size, &error),
                    MTL_ERROR_OUT_OF_BOUNDS, value);
      assert_fails (mtl_buffer_dup_bytes (buffer, offset, size, NULL, &error),
                    MTL_ERROR_OUT_OF_BOUNDS, value);
      assert_refuses (mtl_buffer_fill (buffer, offset, size, pattern, NULL, &error),
                      MTL_ERROR_OUT_OF_BOUNDS, value);
      assert_refuses (mtl_buffer_copy_from (buffer, offset, buffer, 0, size, NULL, &error),
                      MTL_ERROR_OUT_OF_BOUNDS, value);
      assert_refuses (mtl_buffer_copy_from (other, 0, buffer, offset, size, NULL, &error),
                      MTL_ERROR_OUT_OF_BOUNDS, size <= 100 ? value : "100");
    }

  assert_refuses (mtl_buffer_set_bytes (buffer, 0, seven, NULL, &error),
                  MTL_ERROR_OUT_OF_BOUNDS, "7 & 0");
  assert_refuses (mtl_buffer_set_bytes (buffer, G_MAXSIZE, seven, NULL, &error),
                  MTL_ERROR_OUT_OF_BOUNDS, "18446744073709551615");
  assert_contents (parent, "0123456789");
}

static void
test_bytes (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlBuffer) buffer = new_buffer_of ("0123456789");
  g_autoptr (GBytes) bytes = g_bytes_new_static ("abc", 3);
  g_autoptr (GBytes) shared = mtl_buffer_get_bytes (buffer, 3, 4, &error);
  g_autoptr (GBytes) copy = mtl_buffer_dup_bytes (buffer, 3, 4, NULL, &error);

  g_assert_true (mtl_buffer_set_bytes (buffer, 4, bytes, NULL, &error));
  g_assert_no_error (error);
  assert_contents (buffer, "0123abc789");
  g_assert_cmpmem (g_bytes_get_data (shared, NULL), g_bytes_get_size (shared), "3abc", 4);
  g_assert_cmpmem (g_bytes_get_data (copy, NULL), g_bytes_get_size (copy), "3456", 4);
}

static void
test_copy (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlBuffer) dest = new_buffer_of ("..........");
  g_autoptr (MtlBuffer) source = new_buffer_of ("abcdef");

  g_assert_true (mtl_buffer_copy_from (dest, 3, source, 2, 4, NULL, &error));
  g_assert_no_error (error);
  assert_contents (dest, "...cdef...");
}

static void
test_copy_whole (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlBuffer) buffer = new_buffer_of ("0123456789");
  g_autoptr (MtlBuffer) slice = mtl_buffer_slice (buffer, 3, 4, &error);
  g_autoptr (GBytes) bytes = g_bytes_new_static ("abc", 3);
  g_autoptr (MtlBuffer) read_only = mtl_buffer_new_from_bytes (bytes, NULL, MTL_BUFFER_FLAGS_NONE,
                                                               &error);
  g_autoptr (MtlBuffer) copy = mtl_buffer_copy (slice, NULL, &error);
  g_autoptr (MtlBuffer) of_read_only = mtl_buffer_copy (read_only, NULL, &error);
  g_autoptr (MtlBuffer) empty = mtl_buffer_slice (buffer, 10, 0, &error);
  g_autoptr (MtlBuffer) of_empty = mtl_buffer_copy (empty, NULL, &error);

  g_assert_no_error (error);
  assert_contents (copy, "3456");
  assert_contents (of_read_only, "abc");
  g_assert_false (mtl_buffer_is_read_only (of_read_only));
  g_assert_cmpuint (mtl_buffer_get_size (of_empty), ==, 0);
  g_assert_true (mtl_buffer_get_device (copy) == mtl_buffer_get_device (buffer));
  g_assert_cmpint (mtl_buffer_get_storage_mode (copy), ==, mtl_buffer_get_storage_mode (buffer));

  g_assert_true (mtl_buffer_set_bytes (copy, 1, bytes, NULL, &error));
  g_assert_no_error (error);
  assert_contents (copy, "3abc");
  assert_contents (buffer, "0123456789");
}

static void
test_copy_overlapping (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlBuffer) forwards = new_buffer_of ("0123456789");
  g_autoptr (MtlBuffer) backwards = new_buffer_of ("0123456789");
  g_autoptr (MtlBuffer) slice = mtl_buffer_slice (backwards, 2, 8, &error);

  g_assert_true (mtl_buffer_copy_from (forwards, 2, forwards, 0, 8, NULL, &error));
  g_assert_true (mtl_buffer_copy_from (backwards, 0, slice, 0, 8, NULL, &error));
  g_assert_no_error (error);
  assert_contents (forwards, "0101234567");
  assert_contents (backwards, "2345678989");
}

static void
test_copy_cancelled (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (MtlBuffer) buffer = new_buffer_of ("abcd");

  g_cancellable_cancel (cancellable);
  g_assert_false (mtl_buffer_copy_from (buffer, 0, buffer, 2, 2, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  assert_contents (buffer, "abcd");
  g_clear_error (&error);
  g_assert_null (mtl_buffer_copy (buffer, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);
  g_assert_false (mtl_buffer_synchronize (buffer, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static void
test_fill (void)
{
  const guint8 pattern[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };

  for (gsize pattern_size = 1; pattern_size <= 16; pattern_size *= 2)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlBuffer) buffer = new_buffer (NULL, 128, MTL_STORAGE_MODE_HOST);
      g_autoptr (GBytes) bytes = g_bytes_new_static (pattern, pattern_size);
      const guint8 *contents = mtl_buffer_get_contents (buffer);
      const gsize offset = 3, size = 7 * pattern_size;

      g_assert_true (mtl_buffer_fill (buffer, offset, size, bytes, NULL, &error));
      g_assert_no_error (error);
      for (gsize i = 0; i < 128; i++)
        {
          gboolean inside = i >= offset && i < offset + size;

          g_assert_cmpuint (contents[i], ==, inside ? pattern[(i - offset) % pattern_size] : 0);
        }
    }
}

static void
test_fill_bad_pattern (void)
{
  g_autoptr (MtlBuffer) buffer = new_buffer (NULL, 64, MTL_STORAGE_MODE_HOST);
  const gsize bad[] = { 0, 3, 5, 6, 7, 9, 12, 15, 17, 32 };
  const guint8 pattern[32] = { 0 };
  g_autoptr (GBytes) four = g_bytes_new_static (pattern, 4);

  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (GBytes) bytes = g_bytes_new_static (pattern, bad[i]);
      g_autofree char *value = g_strdup_printf ("%" G_GSIZE_FORMAT, bad[i]);

      assert_refuses (mtl_buffer_fill (buffer, 0, 0, bytes, NULL, &error),
                      MTL_ERROR_INVALID_ARGUMENT, value);
    }

  assert_refuses (mtl_buffer_fill (buffer, 0, 10, four, NULL, &error),
                  MTL_ERROR_INVALID_ARGUMENT, "4 & 10");
}

static void
test_equal (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlBuffer) buffer = new_buffer (NULL, 16, MTL_STORAGE_MODE_HOST);
  g_autoptr (MtlBuffer) other = new_buffer (NULL, 16, MTL_STORAGE_MODE_HOST);
  g_autoptr (MtlBuffer) whole = mtl_buffer_slice (buffer, 0, 16, &error);
  g_autoptr (MtlBuffer) a = mtl_buffer_slice (buffer, 4, 8, &error);
  g_autoptr (MtlBuffer) b = mtl_buffer_slice (whole, 4, 8, &error);
  g_autoptr (MtlBuffer) shorter = mtl_buffer_slice (buffer, 4, 7, &error);
  g_autoptr (MtlBuffer) shifted = mtl_buffer_slice (buffer, 5, 8, &error);

  g_assert_true (mtl_buffer_equal (buffer, whole));
  g_assert_cmpuint (mtl_buffer_hash (buffer), ==, mtl_buffer_hash (whole));
  g_assert_true (mtl_buffer_equal (a, b));
  g_assert_cmpuint (mtl_buffer_hash (a), ==, mtl_buffer_hash (b));
  g_assert_false (mtl_buffer_equal (buffer, other));
  g_assert_false (mtl_buffer_equal (a, shorter));
  g_assert_false (mtl_buffer_equal (a, shifted));
  g_assert_false (mtl_buffer_equal (a, buffer));
}

static void
test_synchronize (void)
{
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlBuffer) buffer = new_buffer_of ("same");

  g_assert_true (mtl_buffer_synchronize (buffer, NULL, &local_error));
  g_assert_true (mtl_buffer_did_modify (buffer, 0, 4, &local_error));
  g_assert_true (mtl_buffer_did_modify (buffer, 4, 0, &local_error));
  g_assert_no_error (local_error);
  assert_refuses (mtl_buffer_did_modify (buffer, 1, 4, &error), MTL_ERROR_OUT_OF_BOUNDS, "4 & 1");
  assert_refuses (mtl_buffer_did_modify (buffer, G_MAXSIZE, 2, &error), MTL_ERROR_OUT_OF_BOUNDS,
                  "4");
  assert_contents (buffer, "same");
}

/* Bindings can make one this way: it is an empty one of the host. */
static void
test_bare (void)
{
  g_autoptr (GError) local_error = NULL;
  MtlBuffer *buffer = g_object_new (MTL_TYPE_BUFFER, NULL);
  g_autoptr (GBytes) bytes = mtl_buffer_dup_bytes (buffer, 0, 0, NULL, &local_error);
  g_autoptr (MtlBuffer) slice = mtl_buffer_slice (buffer, 0, 0, &local_error);

  g_assert_no_error (local_error);
  g_assert_nonnull (slice);
  g_assert_cmpuint (g_bytes_get_size (bytes), ==, 0);
  g_assert_cmpuint (mtl_buffer_get_size (buffer), ==, 0);
  g_assert_true (mtl_buffer_get_device (buffer) == mtl_device_get_host ());
  g_assert_true (mtl_buffer_is_host_accessible (buffer));
  g_assert_null (mtl_buffer_get_contents (buffer));
  g_assert_true (mtl_buffer_synchronize (buffer, NULL, &local_error));
  assert_fails (mtl_buffer_slice (buffer, 0, 1, &error), MTL_ERROR_OUT_OF_BOUNDS, "0");
  g_assert_finalize_object (buffer);
}

static void
test_initable (void)
{
  g_autoptr (GError) local_error = NULL;
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (MtlBuffer) buffer =
    g_initable_new (MTL_TYPE_BUFFER, NULL, &local_error, "size", (guint64) 64, NULL);
  g_autoptr (MtlBuffer) placed =
    g_initable_new (MTL_TYPE_BUFFER, NULL, &local_error, "device", mtl_device_get_host (),
                    "storage-mode", MTL_STORAGE_MODE_HOST, "size", (guint64) 3, NULL);
  g_autoptr (MtlBuffer) bare = g_object_new (MTL_TYPE_BUFFER, "size", (guint64) 64, NULL);
  g_autoptr (MtlBuffer) made = mtl_buffer_new (NULL, 5, MTL_STORAGE_MODE_HOST, &local_error);
  g_autoptr (GBytes) bytes = NULL;
  const guint8 zeros[64] = { 0 };

  g_assert_no_error (local_error);
  bytes = mtl_buffer_dup_bytes (buffer, 0, 64, NULL, &local_error);
  g_assert_no_error (local_error);
  g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), zeros, 64);
  g_assert_true (mtl_buffer_get_device (buffer) == mtl_device_get_default ());
  g_assert_true (mtl_buffer_is_size_known (buffer));
  g_assert_cmpint (mtl_buffer_get_storage_mode (buffer), !=, MTL_STORAGE_MODE_DEFAULT);
  g_assert_cmpuint (mtl_buffer_get_size (placed), ==, 3);
  g_assert_true (mtl_buffer_get_device (placed) == mtl_device_get_host ());

  /* Until it is initialized there are no bytes; after that it stays as it is. */
  g_assert_cmpuint (mtl_buffer_get_size (bare), ==, 0);
  assert_fails (mtl_buffer_dup_bytes (bare, 0, 1, NULL, &error), MTL_ERROR_OUT_OF_BOUNDS, "0");
  g_cancellable_cancel (cancellable);
  g_assert_false (g_initable_init (G_INITABLE (bare), cancellable, &local_error));
  g_assert_error (local_error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&local_error);
  g_assert_true (g_initable_init (G_INITABLE (bare), NULL, &local_error));
  g_assert_true (g_initable_init (G_INITABLE (bare), NULL, &local_error));
  g_assert_cmpuint (mtl_buffer_get_size (bare), ==, 64);
  g_assert_true (g_initable_init (G_INITABLE (made), NULL, &local_error));
  g_assert_cmpuint (mtl_buffer_get_size (made), ==, 5);
  g_assert_no_error (local_error);

  assert_fails (g_initable_new (MTL_TYPE_BUFFER, NULL, &error, "size", G_MAXUINT64, NULL),
                MTL_ERROR_NO_MEMORY, "18446744073709551615");
  assert_fails (g_initable_new (MTL_TYPE_BUFFER, NULL, &error, "device", mtl_device_get_host (),
                                "storage-mode", MTL_STORAGE_MODE_PRIVATE, NULL),
                MTL_ERROR_NOT_SUPPORTED, "“private”");
}

static void
test_background (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlBuffer) buffer = new_buffer_of ("abcd");
  g_autoptr (MtlBuffer) copy = NULL;
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GBytes) bytes = g_bytes_new_static ("xy", 2);
  g_autoptr (GBytes) read = NULL;

  mtl_buffer_set_bytes_async (buffer, 2, bytes, NULL, keep_result, &result);
  g_assert_true (mtl_buffer_set_bytes_finish (buffer, wait_for_kept (&result), &error));
  g_clear_object (&result);
  mtl_buffer_fill_async (buffer, 0, 2, bytes, NULL, keep_result, &result);
  g_assert_true (mtl_buffer_fill_finish (buffer, wait_for_kept (&result), &error));
  g_clear_object (&result);
  mtl_buffer_synchronize_async (buffer, NULL, keep_result, &result);
  g_assert_true (mtl_buffer_synchronize_finish (buffer, wait_for_kept (&result), &error));
  g_clear_object (&result);
  assert_contents (buffer, "xyxy");

  mtl_buffer_copy_async (buffer, NULL, keep_result, &result);
  copy = mtl_buffer_copy_finish (buffer, wait_for_kept (&result), &error);
  g_clear_object (&result);
  mtl_buffer_copy_from_async (buffer, 0, copy, 1, 2, NULL, keep_result, &result);
  g_assert_true (mtl_buffer_copy_from_finish (buffer, wait_for_kept (&result), &error));
  g_clear_object (&result);
  assert_contents (buffer, "yxxy");

  mtl_buffer_dup_bytes_async (buffer, 1, 3, NULL, keep_result, &result);
  read = mtl_buffer_dup_bytes_finish (buffer, wait_for_kept (&result), &error);
  g_clear_object (&result);
  g_assert_no_error (error);
  g_assert_cmpmem (g_bytes_get_data (read, NULL), g_bytes_get_size (read), "xxy", 3);

  mtl_buffer_dup_bytes_async (buffer, 2, 3, NULL, keep_result, &result);
  g_assert_null (mtl_buffer_dup_bytes_finish (buffer, wait_for_kept (&result), &error));
  g_clear_object (&result);
  g_assert_error (error, MTL_ERROR, MTL_ERROR_OUT_OF_BOUNDS);
  g_clear_error (&error);
  g_cancellable_cancel (cancellable);
  mtl_buffer_fill_async (buffer, 0, 4, bytes, cancellable, keep_result, &result);
  g_assert_false (mtl_buffer_fill_finish (buffer, wait_for_kept (&result), &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  assert_contents (buffer, "yxxy");
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  add_reachable_test ("/Buffer/new", test_new);
  g_test_add_func ("/Buffer/new/uninitialized", test_new_uninitialized);
  add_reachable_test ("/Buffer/new/empty", test_new_empty);
  add_host_test ("/Buffer/new/huge-pages", test_huge_pages);
  g_test_add_func ("/Buffer/new/no-memory", test_no_memory);
  g_test_add_func ("/Buffer/new/bare", test_bare);
  g_test_add_func ("/Buffer/new/initable", test_initable);
  g_test_add_func ("/Buffer/bytes/from", test_from_bytes);
  g_test_add_func ("/Buffer/bytes/read-only", test_read_only);
  add_reachable_test ("/Buffer/bytes/get-set", test_bytes);
  g_test_add_func ("/Buffer/data/writable", test_for_data);
  g_test_add_func ("/Buffer/data/read-only", test_for_data_read_only);
  g_test_add_func ("/Buffer/data/empty", test_for_data_empty);
  g_test_add_func ("/Buffer/data/destroyed-once", test_destroyed_once);
  g_test_add_func ("/Buffer/data/around-the-end-of-addresses", test_around_the_end_of_addresses);
  g_test_add_func ("/Buffer/handle", test_for_handle);
  add_host_test ("/Buffer/properties", test_properties);
  add_reachable_test ("/Buffer/slice", test_slice);
  add_reachable_test ("/Buffer/out-of-bounds", test_out_of_bounds);
  add_reachable_test ("/Buffer/copy", test_copy);
  add_reachable_test ("/Buffer/copy/whole", test_copy_whole);
  add_reachable_test ("/Buffer/copy/overlapping", test_copy_overlapping);
  add_reachable_test ("/Buffer/copy/cancelled", test_copy_cancelled);
  add_reachable_test ("/Buffer/fill", test_fill);
  g_test_add_func ("/Buffer/fill/bad-pattern", test_fill_bad_pattern);
  g_test_add_func ("/Buffer/equal", test_equal);
  add_reachable_test ("/Buffer/synchronize", test_synchronize);

  add_reachable_test ("/Buffer/background", test_background);
  return g_test_run ();
}
