/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Files open for reading, and system calls that do less than they were asked. */

#include "test-files.h"

#include <errno.h>

#ifdef __linux__
#include <sys/syscall.h>
#include <sys/vfs.h>
#endif

#include "mtl-file-source-private.h"

static MtlFileSource *
open_source (GFile *file)
{
  g_autoptr (GError) error = NULL;
  MtlFileSource *source = mtl_file_source_open (file, &error);

  g_assert_no_error (error);
  return source;
}

#ifdef __linux__

static int next_errno; /* for one call of pread() */
static gsize max_piece = G_MAXSIZE;
static guint32 file_system; /* if any is to be told */

/* Replaces the system's function in everything that is linked into this program. */
ssize_t
pread (int     fd,
       void   *buffer,
       size_t  size,
       off_t   offset)
{
  if (next_errno != 0)
    {
      errno = next_errno;
      next_errno = 0;
      return -1;
    }

  return syscall (SYS_pread64, fd, buffer, MIN (size, max_piece), offset);
}

int
fstatfs (int            fd,
         struct statfs *info)
{
  int result = syscall (SYS_fstatfs, fd, info);

  if (file_system != 0)
    info->f_type = file_system;
  return result;
}

static void
test_interrupted (TestFolder    *folder,
                  gconstpointer  data)
{
  g_autoptr (GFile) file = write_pattern (folder, "file", 1000);
  g_autoptr (MtlFileSource) source = open_source (file);
  g_autoptr (GError) error = NULL;
  guint8 bytes[100];

  max_piece = 7;
  next_errno = EINTR;
  g_assert_true (mtl_file_source_read_at (source, 501, bytes, 100, &error));
  g_assert_no_error (error);
  assert_pattern (bytes, 501, 100);
  max_piece = G_MAXSIZE;

  /* Opening an empty file, which looks for a byte, is interrupted, too. */
  mtl_file_source_free (g_steal_pointer (&source));
  g_object_unref (file);
  file = write_file (folder, "file", "", 0);
  next_errno = EINTR;
  source = open_source (file);

  next_errno = EIO;
  g_assert_false (mtl_file_source_read_at (source, 0, bytes, 100, &error));
  assert_system_failed (error, G_IO_ERROR_FAILED, "file”");
}

static void
test_remote (TestFolder    *folder,
             gconstpointer  data)
{
  g_autoptr (GFile) file = write_file (folder, "file", "abc", 3);
  g_autoptr (MtlFileSource) source = open_source (file);

  file_system = 0x6969;
  g_assert_true (mtl_file_source_is_remote (source));
  file_system = 0xff534d42;
  g_assert_true (mtl_file_source_is_remote (source));
  file_system = 0xef53; /* ext4 */
  g_assert_false (mtl_file_source_is_remote (source));
  file_system = 0;
}

#endif

static void
test_read (TestFolder    *folder,
           gconstpointer  data)
{
  g_autoptr (GFile) file = write_pattern (folder, "file", 10000);
  g_autoptr (MtlFileSource) source = open_source (file);
  g_autoptr (GError) local_error = NULL;
  guint8 bytes[10000];

  g_assert_cmpuint (source->size, ==, 10000);
  g_assert_cmpint (fcntl (source->fd, F_GETFD) & FD_CLOEXEC, !=, 0);
  for (gsize begin = 0; begin <= 10000; begin += 2500)
    {
      g_assert_true (mtl_file_source_read_at (source, begin, bytes, 10000 - begin, &local_error));
      g_assert_no_error (local_error);
      assert_pattern (bytes, begin, 10000 - begin);
    }
  assert_refuses (mtl_file_source_read_at (source, 9999, bytes, 2, &error),
                  MTL_ERROR_INVALID_DATA, "10000");
}

static void
test_empty (TestFolder    *folder,
            gconstpointer  data)
{
  g_autoptr (GFile) file = write_file (folder, "file", "", 0);
  g_autoptr (MtlFileSource) source = open_source (file);

  g_assert_cmpuint (source->size, ==, 0);
}

static void
test_range (TestFolder    *folder,
            gconstpointer  data)
{
  g_autoptr (GFile) file = write_pattern (folder, "file", 100);
  g_autoptr (MtlFileSource) source = open_source (file);

  g_assert_true (mtl_file_source_check_range (source, 0, 100, NULL));
  g_assert_true (mtl_file_source_check_range (source, 100, 0, NULL));
  assert_refuses (mtl_file_source_check_range (source, 1, 100, &error), MTL_ERROR_OUT_OF_BOUNDS,
                  "100 & 1");
  assert_refuses (mtl_file_source_check_range (source, 101, 0, &error), MTL_ERROR_OUT_OF_BOUNDS,
                  "file” & 100");
  assert_refuses (mtl_file_source_check_range (source, 1, G_MAXUINT64, &error),
                  MTL_ERROR_OUT_OF_BOUNDS, "18446744073709551615");
}

static void
test_changed (TestFolder    *folder,
              gconstpointer  data)
{
  g_autoptr (GFile) file = write_pattern (folder, "file", 100);
  g_autoptr (MtlFileSource) source = open_source (file);
  const struct timespec times[2] = { { 1, 2 }, { 3, 4 } };
  g_autoptr (GError) local_error = NULL;
  guint8 bytes[100];

  g_assert_true (mtl_file_source_check_unchanged (source, &local_error));
  g_assert_no_error (local_error);
  g_assert_cmpint (utimensat (AT_FDCWD, g_file_peek_path (file), times, 0), ==, 0);
  assert_refuses (mtl_file_source_check_unchanged (source, &error), MTL_ERROR_INVALID_DATA,
                  "file”");

  g_assert_cmpint (truncate (g_file_peek_path (file), 60), ==, 0);
  assert_refuses (mtl_file_source_check_unchanged (source, &error), MTL_ERROR_INVALID_DATA,
                  "100 & 60");
  assert_refuses (mtl_file_source_read_at (source, 10, bytes, 90, &error),
                  MTL_ERROR_INVALID_DATA, "60 & 100");
}

/* Another file in its place is another file. */
static void
test_replaced (TestFolder    *folder,
               gconstpointer  data)
{
  g_autoptr (GFile) file = write_pattern (folder, "file", 100);
  g_autoptr (MtlFileSource) source = open_source (file);
  g_autoptr (GFile) other = write_file (folder, "other", "abc", 3);
  g_autoptr (GError) error = NULL;
  guint8 bytes[100];

  g_assert_cmpint (g_rename (g_file_peek_path (other), g_file_peek_path (file)), ==, 0);
  g_assert_true (mtl_file_source_check_unchanged (source, &error));
  g_assert_true (mtl_file_source_read_at (source, 0, bytes, 100, &error));
  g_assert_no_error (error);
  assert_pattern (bytes, 0, 100);
}

/* Only the same file can be opened again. */
static void
test_open_again (TestFolder    *folder,
                 gconstpointer  data)
{
  const struct timespec times[2] = { { 1, 2 }, { 3, 4 } };
  g_autoptr (GFile) file = write_pattern (folder, "file", 100);
  g_autoptr (MtlFileSource) source = open_source (file);
  g_autoptr (GFile) other = write_pattern (folder, "other", 100);
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlFileSource) again = NULL;
  guint n_open = count_descriptors ();
  guint8 bytes[100];

  mtl_file_source_close (source);
  g_assert_cmpuint (count_descriptors (), ==, n_open - 1);
  again = mtl_file_source_open_again (source, &local_error);
  g_assert_no_error (local_error);
  g_assert_true (mtl_file_source_read_at (again, 0, bytes, 100, NULL));
  assert_pattern (bytes, 0, 100);

  g_assert_cmpint (utimensat (AT_FDCWD, g_file_peek_path (file), times, 0), ==, 0);
  assert_fails (mtl_file_source_open_again (source, &error), MTL_ERROR_INVALID_DATA, "file”");
  g_assert_cmpint (g_rename (g_file_peek_path (other), g_file_peek_path (file)), ==, 0);
  assert_fails (mtl_file_source_open_again (source, &error), MTL_ERROR_INVALID_DATA, "file”");
  g_assert_cmpuint (count_descriptors (), ==, n_open);
}

static void
test_link (TestFolder    *folder,
           gconstpointer  data)
{
  g_autoptr (GFile) file = write_pattern (folder, "file", 100);
  g_autoptr (GFile) linked = get_file (folder, "link");
  g_autoptr (MtlFileSource) source = NULL;

  g_assert_cmpint (symlink ("file", g_file_peek_path (linked)), ==, 0);
  source = open_source (linked);
  g_assert_cmpuint (source->size, ==, 100);
}

static void
test_kinds (TestFolder    *folder,
            gconstpointer  data)
{
  assert_only_files_open (folder, (OpenFunc) mtl_file_source_open);
}

static void
test_odd_name (TestFolder    *folder,
               gconstpointer  data)
{
  g_autoptr (GFile) file = get_file (folder, "a\n\x1b[31m");

  assert_open_fails ((OpenFunc) mtl_file_source_open, file, G_IO_ERROR_NOT_FOUND,
                     "a\\n\\u001b[31m”");
#ifndef __APPLE__ /* whose names are UTF-8 */
  g_object_unref (file);
  file = get_file (folder, "a\xff");
  assert_open_fails ((OpenFunc) mtl_file_source_open, file, G_IO_ERROR_NOT_FOUND, "a\\xff”");
#endif
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  add_folder_test ("/FileSource/read", test_read);
#ifdef __linux__
  add_folder_test ("/FileSource/read/interrupted", test_interrupted);
  add_folder_test ("/FileSource/remote", test_remote);
#endif
  add_folder_test ("/FileSource/empty", test_empty);
  add_folder_test ("/FileSource/range", test_range);
  add_folder_test ("/FileSource/changed", test_changed);
  add_folder_test ("/FileSource/replaced", test_replaced);
  add_folder_test ("/FileSource/open-again", test_open_again);
  add_folder_test ("/FileSource/link", test_link);
  add_folder_test ("/FileSource/kinds", test_kinds);
  add_folder_test ("/FileSource/odd-name", test_odd_name);

  return g_test_run ();
}
