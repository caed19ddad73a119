/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Ranges of files in memory, in whole pages. */

#include "test-files.h"

#include <sys/mman.h>

#include "mtl-file-mapping-private.h"

#define PAGE 16384

static MtlFileMapping *
map_file (GFile   *file,
          guint64  offset,
          gsize    size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlFileSource) source = mtl_file_source_open (file, &error);
  MtlFileMapping *mapping;

  g_assert_no_error (error);
  mapping = mtl_file_mapping_new (source, offset, size, &error);
  g_assert_no_error (error);
  return mapping;
}

/* Every byte up to the end of the pages can be read. */
static void
test_ranges (TestFolder    *folder,
             gconstpointer  data)
{
  static const gsize sizes[] = { 1, 4095, 4096, 4097, 16383, 16384, 16385, 40000, 65536, 70001 };

  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autoptr (GFile) file = write_pattern (folder, "file", sizes[i]);

      for (gsize begin = 0; begin < sizes[i]; begin += 1 + sizes[i] / 3)
        for (gsize end = sizes[i]; end > begin; end = begin + (end - begin) / 2)
          {
            MtlFileMapping *mapping = map_file (file, begin, end - begin);
            gsize sum = 0;

            g_assert_cmpuint ((guintptr) mapping->pages % PAGE, ==, 0);
            g_assert_cmpuint (mapping->pages_size % PAGE, ==, 0);
            g_assert_cmpuint (mapping->pages_size, >=, mapping->begin + mapping->size);
            assert_pattern (mapping->pages + mapping->begin, begin, end - begin);
            for (gsize at = mapping->begin + sizes[i] - begin; at < mapping->pages_size; at++)
              sum += mapping->pages[at];
            g_assert_cmpuint (sum, ==, 0);
            g_assert_true (mtl_mapped_bytes_prefetch (mapping->pages + mapping->begin,
                                                      mapping->size, NULL));
            mtl_file_mapping_free (mapping);
          }
    }
}

#ifdef __linux__

/* TRUE if the system has mappings at those addresses. */
static gboolean
is_mapped (guint64 begin,
           guint64 end)
{
  g_autofree char *maps = NULL;
  g_auto (GStrv) lines = NULL;

  g_assert_true (g_file_get_contents ("/proc/self/maps", &maps, NULL, NULL));
  lines = g_strsplit (maps, "\n", -1);
  for (gsize i = 0; lines[i] != NULL; i++)
    {
      char *rest;
      guint64 first = g_ascii_strtoull (lines[i], &rest, 16);

      if (*rest == '-' && first < end && begin < g_ascii_strtoull (rest + 1, NULL, 16))
        return TRUE;
    }

  return FALSE;
}

/* The last reference unmaps all of it. */
static void
test_end (TestFolder    *folder,
          gconstpointer  data)
{
  g_autoptr (GFile) file = write_pattern (folder, "file", 100000);
  MtlFileMapping *mapping = map_file (file, 20000, 80000);
  guint8 *pages = mapping->pages;
  gsize size = mapping->pages_size;

  assert_pattern (pages + mapping->begin, 20000, 80000);
  g_assert_true (is_mapped ((guintptr) pages, (guintptr) pages + size));
  mtl_file_mapping_free (mapping);
  g_assert_false (is_mapped ((guintptr) pages, (guintptr) pages + size));
}

#endif

static void
test_refused (TestFolder    *folder,
              gconstpointer  data)
{
  g_autoptr (GFile) file = write_pattern (folder, "file", 100);
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlFileSource) source = mtl_file_source_open (file, &local_error);

  g_assert_no_error (local_error);
  assert_fails (mtl_file_mapping_new (source, 1, 100, &error), MTL_ERROR_OUT_OF_BOUNDS, "100 & 1");
  g_assert_cmpint (truncate (g_file_peek_path (file), 99), ==, 0);
  assert_fails (mtl_file_mapping_new (source, 0, 100, &error), MTL_ERROR_INVALID_DATA, "100 & 99");
}

/* Nothing of it is read or allocated. */
static void
test_huge (TestFolder    *folder,
           gconstpointer  data)
{
  const gsize size = (gsize) 16 << 30;
  g_autoptr (GFile) file = write_file (folder, "file", "abc", 3);
  MtlFileMapping *mapping;

  g_assert_cmpint (truncate (g_file_peek_path (file), size), ==, 0);
  mapping = map_file (file, 0, size);
  g_assert_cmpmem (mapping->pages, 3, "abc", 3);
  g_assert_cmpuint (mapping->pages[size - 1], ==, 0);
  mtl_file_mapping_free (mapping);
}

/* More than there are addresses. */
static void
test_too_large (TestFolder    *folder,
                gconstpointer  data)
{
  g_autoptr (GFile) file = write_file (folder, "file", "abc", 3);
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlFileSource) source = mtl_file_source_open (file, &local_error);

  g_assert_no_error (local_error);
  source->size = G_MAXINT64;
  assert_fails (mtl_file_mapping_new (source, 0, G_MAXSSIZE, &error), MTL_ERROR_OVERFLOW,
                "9223372036854775807");
}

/* Pages that are not mapped cannot be prefetched. */
static void
test_prefetch_refused (TestFolder    *folder,
                       gconstpointer  data)
{
  g_autoptr (GFile) file = write_pattern (folder, "file", 100000);
  MtlFileMapping *mapping = map_file (file, 0, 100000);
  const guint8 *pages = mapping->pages;
  g_autoptr (GError) error = NULL;

  mtl_file_mapping_free (mapping);
  if (skip_where_advice_is_ignored ())
    return;

  g_assert_false (mtl_mapped_bytes_prefetch (pages, 100000, &error));
#ifdef __APPLE__
  assert_system_failed (error, G_IO_ERROR_INVALID_ARGUMENT, "100000");
#else
  assert_failed (error, MTL_ERROR_NO_MEMORY, "100000");
#endif
}

#ifdef MADV_POPULATE_READ

/* An access that would be a signal is an error. */
static void
test_populate (TestFolder    *folder,
               gconstpointer  data)
{
  g_autoptr (GFile) file = write_pattern (folder, "file", 100000);
  g_autoptr (MtlFileMapping) mapping = map_file (file, 5000, 90000);
  g_autoptr (GError) local_error = NULL;

  if (skip_where_advice_is_ignored ())
    return;
  if (madvise (mapping->pages, 1, MADV_POPULATE_READ) < 0)
    {
      g_test_skip ("This system cannot tell that a file was cut");
      return;
    }

  g_assert_true (mtl_file_mapping_populate (mapping, 0, 90000, &local_error));
  g_assert_no_error (local_error);
  g_assert_cmpint (truncate (g_file_peek_path (file), 50000), ==, 0);
  g_assert_true (mtl_file_mapping_populate (mapping, 0, 45000, &local_error));
  g_assert_no_error (local_error);
  assert_refuses (mtl_file_mapping_populate (mapping, 40000, 50000, &error),
                  MTL_ERROR_INVALID_DATA, "40000 & 90000");
}

#endif

/* The huge pages of a file are mapped as such, and no others. */
static void
test_huge_pages (TestFolder    *folder,
                 gconstpointer  data)
{
  const gsize huge = 2 * 1024 * 1024;
  g_autoptr (GFile) file = write_pattern (folder, "file", 3 * huge);

  for (gsize begin = 0; begin < huge; begin += huge / 4 + 1)
    {
      MtlFileMapping *mapping = map_file (file, begin, 2 * huge);

      g_assert_cmpuint (((guintptr) mapping->pages + mapping->begin - begin) % huge, ==, 0);
      assert_pattern (mapping->pages + mapping->begin, begin, 2 * huge);
      mtl_file_mapping_free (mapping);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  add_folder_test ("/FileMapping/ranges", test_ranges);
#ifdef __linux__
  add_folder_test ("/FileMapping/end", test_end);
#endif
  add_folder_test ("/FileMapping/huge-pages", test_huge_pages);
  add_folder_test ("/FileMapping/refused", test_refused);
  add_folder_test ("/FileMapping/huge", test_huge);
  add_folder_test ("/FileMapping/too-large", test_too_large);
  add_folder_test ("/FileMapping/prefetch-refused", test_prefetch_refused);
#ifdef MADV_POPULATE_READ
  add_folder_test ("/FileMapping/populate", test_populate);
#endif

  return g_test_run ();
}
