/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Helpers of tests of files: a folder of their own, and things that can be in files' places. */

#pragma once

#include "emulator.h"
#include "test-utils.h"

#include <glib/gstdio.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define assert_system_failed(error, error_code, values) \
  assert_failed_with (error, G_IO_ERROR, error_code, values)

typedef struct
{
  char *path;
} TestFolder;

static inline void
set_up_folder (TestFolder    *folder,
               gconstpointer  data)
{
  g_autoptr (GError) error = NULL;

  folder->path = g_dir_make_tmp ("mtldl-XXXXXX", &error);
  g_assert_no_error (error);
}

static inline void
tear_down_folder (TestFolder    *folder,
                  gconstpointer  data)
{
  g_autoptr (GDir) dir = g_dir_open (folder->path, 0, NULL);

  for (const char *name; (name = g_dir_read_name (dir)) != NULL;)
    {
      g_autofree char *path = g_build_filename (folder->path, name, NULL);

      g_assert_cmpint (g_remove (path), ==, 0);
    }
  g_assert_cmpint (g_rmdir (folder->path), ==, 0);
  g_free (folder->path);
}

#define add_folder_test(path, func) \
  g_test_add ((path), TestFolder, NULL, set_up_folder, (func), tear_down_folder)

/* Tests that are left out with device-memory.h. */
#ifndef TEST_DEVICE_MEMORY
#define add_host_folder_test add_folder_test
#endif

/* A file of that name in the folder, which need not be there. */
static inline GFile *
get_file (TestFolder *folder,
          const char *name)
{
  g_autofree char *path = g_build_filename (folder->path, name, NULL);

  return g_file_new_for_path (path);
}

static inline GFile *
write_file (TestFolder    *folder,
            const char    *name,
            gconstpointer  bytes,
            gsize          size)
{
  g_autoptr (GError) error = NULL;
  GFile *file = get_file (folder, name);

  g_file_set_contents (g_file_peek_path (file), bytes, size, &error);
  g_assert_no_error (error);
  return file;
}

/* Returns a byte that tells its position, also from page to page. */
static inline guint8
get_pattern_byte (gsize position)
{
  return position * 7 + position / 4096 * 31;
}

static inline GFile *
write_pattern (TestFolder *folder,
               const char *name,
               gsize       size)
{
  g_autofree guint8 *bytes = g_malloc (size);

  for (gsize i = 0; i < size; i++)
    bytes[i] = get_pattern_byte (i);
  return write_file (folder, name, bytes, size);
}

static inline void
assert_pattern (gconstpointer bytes,
                gsize         position,
                gsize         size)
{
  for (gsize i = 0; i < size; i++)
    if (((const guint8 *) bytes)[i] != get_pattern_byte (position + i))
      g_error ("Byte %" G_GSIZE_FORMAT " is not the file's", position + i);
}

static inline GFile *
make_socket (TestFolder *folder,
             const char *name)
{
  GFile *file = get_file (folder, name);
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  int fd = socket (AF_UNIX, SOCK_STREAM, 0);

  g_strlcpy (address.sun_path, g_file_peek_path (file), sizeof address.sun_path);
  g_assert_cmpint (bind (fd, (struct sockaddr *) &address, sizeof address), ==, 0);
  close (fd);
  return file;
}

/* Counts everything in the folder. */
static inline guint
count_names (TestFolder *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder->path, 0, NULL);
  guint n = 0;

  while (g_dir_read_name (dir) != NULL)
    n++;
  return n;
}

/* Counts the open descriptors of this process. */
static inline guint
count_descriptors (void)
{
  guint n = 0;

  for (int fd = 0; fd < 1024; fd++)
    n += fcntl (fd, F_GETFD) >= 0;
  return n;
}

static inline gboolean
skip_where_advice_is_ignored (void)
{
  if (!is_emulated ())
    return FALSE;

  g_test_skip ("This system ignores what it is advised of memory");
  return TRUE;
}

typedef gpointer (*OpenFunc) (GFile   *file,
                              GError **error);

static inline void
assert_open_fails (OpenFunc      open_file,
                   GFile        *file,
                   GIOErrorEnum  code,
                   const char   *value)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (open_file (file, &error));
  assert_system_failed (error, code, value);
}

/* Checks that opening fails without permission. Root may open anything, so another user tries. */
static inline void
assert_forbidden_fails (TestFolder *folder,
                        OpenFunc    open_file)
{
  g_autoptr (GFile) forbidden = write_file (folder, "forbidden", "abc", 3);
  gboolean is_root = geteuid () == 0;

  g_assert_cmpint (chmod (g_file_peek_path (forbidden), 0), ==, 0);
  g_assert_cmpint (chmod (folder->path, 0755), ==, 0);
  if (is_root)
    g_assert_cmpint (seteuid (65534), ==, 0);
  assert_open_fails (open_file, forbidden, G_IO_ERROR_PERMISSION_DENIED, "forbidden");
  if (is_root)
    g_assert_cmpint (seteuid (0), ==, 0);
}

/* The system writes it while it is read. */
#define MADE_UP_FILE "/proc/self/status"

/* All that is no file whose bytes are known, by whatever it is opened. */
static inline void
assert_only_files_open (TestFolder *folder,
                        OpenFunc    open_file)
{
  g_autoptr (GFile) itself = g_file_new_for_path (folder->path);
  g_autoptr (GFile) missing = get_file (folder, "missing");
  g_autoptr (GFile) fifo = get_file (folder, "fifo");
  g_autoptr (GFile) socket_file = make_socket (folder, "socket");
  g_autoptr (GFile) loop = get_file (folder, "loop");
  g_autoptr (GFile) null = g_file_new_for_path ("/dev/null");
  g_autoptr (GFile) remote = g_file_new_for_uri ("no-such-scheme://host/file");
  guint n_descriptors = count_descriptors ();

  g_assert_cmpint (mkfifo (g_file_peek_path (fifo), 0600), ==, 0);
  g_assert_cmpint (symlink ("loop", g_file_peek_path (loop)), ==, 0);

  assert_open_fails (open_file, itself, G_IO_ERROR_IS_DIRECTORY, folder->path);
  assert_open_fails (open_file, missing, G_IO_ERROR_NOT_FOUND, "missing”");
  assert_open_fails (open_file, fifo, G_IO_ERROR_NOT_REGULAR_FILE, "fifo”");
  assert_open_fails (open_file, socket_file, G_IO_ERROR_NOT_REGULAR_FILE, "socket”");
  assert_open_fails (open_file, loop, G_IO_ERROR_TOO_MANY_LINKS, "loop");
  assert_open_fails (open_file, null, G_IO_ERROR_NOT_REGULAR_FILE, "“/dev/null”");
  assert_open_fails (open_file, remote, G_IO_ERROR_NOT_SUPPORTED, "“no-such-scheme://host/file”");
#ifdef __linux__
  {
    g_autoptr (GFile) made_up = g_file_new_for_path (MADE_UP_FILE);
    g_autoptr (GFile) memory = g_file_new_for_path ("/proc/self/mem");

    assert_open_fails (open_file, made_up, G_IO_ERROR_NOT_REGULAR_FILE, "0");
    assert_open_fails (open_file, memory, G_IO_ERROR_FAILED, "“/proc/self/mem”");
  }
#endif

  assert_forbidden_fails (folder, open_file);
  g_assert_cmpuint (count_descriptors (), ==, n_descriptors);
}
