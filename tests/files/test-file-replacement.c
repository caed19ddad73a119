/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Files that take the place of others when they are whole, and what can be in the way. */

/* fallocate(), sync_file_range() */
#ifdef __linux__
#define _GNU_SOURCE
#endif

#include "test-files.h"

#include <errno.h>

#ifdef __linux__
#include <sys/syscall.h>
#endif

#include "mtl-file-replacement-private.h"

#define OLD "the old content"

static void
assert_contents (GFile      *file,
                 const char *expected)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *contents = NULL;

  g_file_get_contents (g_file_peek_path (file), &contents, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (contents, ==, expected);
}

static gboolean
replace (GFile       *file,
         const char  *contents,
         GError     **error)
{
  g_autoptr (MtlFileReplacement) replacement = mtl_file_replacement_new (file, TRUE, error);
  gsize size = strlen (contents);

  return replacement != NULL
         && mtl_file_replacement_reserve (replacement, size, error)
         && mtl_file_replacement_write (replacement, contents, size, error)
         && mtl_file_replacement_flush (replacement, error)
         && mtl_file_replacement_commit (replacement, error);
}

static void
assert_replaces (GFile      *file,
                 const char *contents)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (replace (file, contents, &error));
  g_assert_no_error (error);
  assert_contents (file, contents);
}

static void
assert_replace_fails (GFile        *file,
                      GIOErrorEnum  code,
                      const char   *value)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (replace (file, "new", &error));
  assert_system_failed (error, code, value);
}

#ifdef __linux__

/* The system call that is to fail, one of those that write, and its error. */
static const char *failing;
static int failing_errno;
static gsize max_piece = G_MAXSIZE;
static guint64 n_pretended; /* bytes that were written nowhere */
static gboolean pretends;
static guint n_sent;

static gboolean
fails (const char *call)
{
  if (g_strcmp0 (call, failing) != 0)
    return FALSE;

  errno = failing_errno;
  if (failing_errno == EINTR)
    failing = NULL;
  return TRUE;
}

/* Replaces the system's function in everything that is linked into this program. */
ssize_t
write (int         fd,
       const void *bytes,
       size_t      size)
{
  if (fails ("write"))
    return failing_errno == 0 ? 0 : -1;

  if (size > G_MAXINT) /* as on macOS */
    {
      errno = EINVAL;
      return -1;
    }
  if (pretends)
    {
      n_pretended += size;
      return size;
    }

  return syscall (SYS_write, fd, bytes, MIN (size, max_piece));
}

int
fsync (int fd)
{
  return fails ("fsync") ? -1 : syscall (SYS_fsync, fd);
}

int
close (int fd)
{
  int result = syscall (SYS_close, fd);

  return fails ("close") ? -1 : result;
}

int
fallocate (int   fd,
           int   mode,
           off_t offset,
           off_t size)
{
  return fails ("fallocate") ? -1 : 0;
}

int
sync_file_range (int      fd,
                 off_t    offset,
                 off_t    size,
                 unsigned flags)
{
  n_sent++;
  errno = EINVAL;
  return -1;
}

int
rename (const char *from,
        const char *to)
{
  return fails ("rename") ? -1 : syscall (SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}

int
fchmod (int    fd,
        mode_t mode)
{
  return fails ("fchmod") ? -1 : syscall (SYS_fchmod, fd, mode);
}

/* The old file is whole then, and the new one nowhere. */
static void
test_failures (TestFolder    *folder,
               gconstpointer  data)
{
  static const struct
  {
    const char *call;
    int code;
    GIOErrorEnum expected;
    const char *values;
  } failures[] = {
    { "write", ENOSPC, G_IO_ERROR_NO_SPACE, "file”" },
    { "write", EIO, G_IO_ERROR_FAILED, "file”" },
    { "write", 0, G_IO_ERROR_FAILED, "file”" },
    { "fsync", ENOSPC, G_IO_ERROR_NO_SPACE, "file”" },
    { "fsync", EIO, G_IO_ERROR_FAILED, "file”" },
    { "close", EIO, G_IO_ERROR_FAILED, "file”" },
    { "fallocate", EFBIG, G_IO_ERROR_FAILED, "3" },
    { "fallocate", ENOSPC, G_IO_ERROR_NO_SPACE, "file” & 3" },
    { "rename", EPERM, G_IO_ERROR_PERMISSION_DENIED, "file”" },
    { "fchmod", EPERM, G_IO_ERROR_PERMISSION_DENIED, "file”" },
  };
  g_autoptr (GFile) file = write_file (folder, "file", OLD, strlen (OLD));
  guint n_descriptors = count_descriptors ();

  for (guint i = 0; i < G_N_ELEMENTS (failures); i++)
    {
      g_autoptr (GError) error = NULL;

      failing = failures[i].call;
      failing_errno = failures[i].code;
      g_assert_false (replace (file, "new", &error));
      failing = NULL;

      assert_system_failed (error, failures[i].expected, failures[i].values);
      assert_contents (file, OLD);
      g_assert_cmpuint (count_names (folder), ==, 1);
      g_assert_cmpuint (count_descriptors (), ==, n_descriptors);
    }
}

static void
test_interrupted (TestFolder    *folder,
                  gconstpointer  data)
{
  static const char *const calls[] = { "write", "fsync", "close", "fallocate" };
  g_autoptr (GFile) file = write_file (folder, "file", OLD, strlen (OLD));

  max_piece = 3;
  for (guint i = 0; i < G_N_ELEMENTS (calls); i++)
    {
      failing = calls[i];
      failing_errno = EINTR;
      assert_replaces (file, calls[i]);
      g_assert_null (failing);
    }
  max_piece = G_MAXSIZE;
}

/* Not all file systems can. */
static void
test_not_reserved (TestFolder    *folder,
                   gconstpointer  data)
{
  g_autoptr (GFile) file = get_file (folder, "file");

  failing = "fallocate";
  failing_errno = EOPNOTSUPP;
  assert_replaces (file, "new");
  failing = NULL;
}

/* More than some systems write at once. */
static void
test_large (TestFolder    *folder,
            gconstpointer  data)
{
  const gsize size = ((gsize) 5 << 30) + 1;
  gpointer zeros = mmap (NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANON | MAP_NORESERVE, -1, 0);
  g_autoptr (GFile) file = get_file (folder, "file");
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlFileReplacement) replacement = mtl_file_replacement_new (file, FALSE, &error);

  g_assert_no_error (error);
  g_assert_true (zeros != MAP_FAILED);
  pretends = TRUE;
  g_assert_true (mtl_file_replacement_write (replacement, zeros, size, &error));
  pretends = FALSE;
  g_assert_no_error (error);
  g_assert_cmpuint (n_pretended, ==, size);
  g_assert_cmpint (munmap (zeros, size), ==, 0);
}

/* Bytes are sent to the disk early without a report, not even of a failure. */
static void
test_sent (TestFolder    *folder,
           gconstpointer  data)
{
  const gsize size = 10 << 20;
  g_autofree char *bytes = g_malloc0 (size);
  g_autoptr (GFile) file = get_file (folder, "file");
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlFileReplacement) replacement = mtl_file_replacement_new (file, TRUE, &error);

  g_assert_no_error (error);
  n_sent = 0;
  for (guint i = 0; i < 7; i++)
    g_assert_true (mtl_file_replacement_write (replacement, bytes, size, &error));
  g_assert_cmpuint (n_sent, ==, 1);
  g_assert_true (mtl_file_replacement_write (replacement, bytes, size, &error));
  g_assert_cmpuint (n_sent, ==, 2);
}

#endif

static void
test_replaces (TestFolder    *folder,
               gconstpointer  data)
{
  g_autoptr (GFile) file = get_file (folder, "file");
  g_autoptr (GError) error = NULL;
  MtlFileReplacement *replacement;

  assert_replaces (file, "first");
  assert_replaces (file, "");
  assert_replaces (file, "second");

  replacement = mtl_file_replacement_new (file, TRUE, &error);
  g_assert_no_error (error);
  g_assert_true (mtl_file_replacement_write (replacement, "third", 5, &error));
  g_assert_cmpuint (count_names (folder), ==, 2);
  assert_contents (file, "second");
  mtl_file_replacement_free (replacement);
  assert_contents (file, "second");
  g_assert_cmpuint (count_names (folder), ==, 1);
}

static guint
get_mode (GFile *file)
{
  GStatBuf info;

  g_assert_cmpint (g_stat (g_file_peek_path (file), &info), ==, 0);
  return info.st_mode & 07777;
}

/* A new file has what the umask leaves, and another one what the old one had. */
static void
test_modes (TestFolder    *folder,
            gconstpointer  data)
{
  static const guint umasks[] = { 0022, 0077, 0 };
  static const guint modes[] = { 0600, 0640, 0444, 0400, 0666, 0755, 0000 };

  for (guint i = 0; i < G_N_ELEMENTS (umasks); i++)
    {
      g_autofree char *name = g_strdup_printf ("new-%o", umasks[i]);
      g_autoptr (GFile) file = get_file (folder, name);
      mode_t before = umask (umasks[i]);
      g_autoptr (GError) error = NULL;
      gboolean done = replace (file, "new", &error);

      umask (before);
      g_assert_no_error (error);
      g_assert_true (done);
      g_assert_cmphex (get_mode (file), ==, 0666 & ~umasks[i]);
    }

  for (guint i = 0; i < G_N_ELEMENTS (modes); i++)
    {
      g_autoptr (GFile) file = write_file (folder, "old", OLD, strlen (OLD));
      g_autoptr (GError) error = NULL;

      g_assert_cmpint (chmod (g_file_peek_path (file), modes[i]), ==, 0);
      g_assert_true (replace (file, "new", &error));
      g_assert_no_error (error);
      g_assert_cmphex (get_mode (file), ==, modes[i]);
      g_assert_cmpint (g_unlink (g_file_peek_path (file)), ==, 0);
    }
}

/* Users who may not read the old file may not read half of the new one either. */
static void
test_private_while_written (TestFolder    *folder,
                            gconstpointer  data)
{
  g_autoptr (GFile) file = write_file (folder, "old", OLD, strlen (OLD));
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlFileReplacement) replacement = NULL;
  g_autoptr (GFile) temporary = NULL;

  g_assert_cmpint (chmod (g_file_peek_path (file), 0600), ==, 0);
  replacement = mtl_file_replacement_new (file, TRUE, &error);
  g_assert_no_error (error);
  temporary = g_file_new_for_path (replacement->temporary);
  g_assert_cmphex (get_mode (temporary), ==, 0600);
}

static void
test_owners (TestFolder    *folder,
             gconstpointer  data)
{
  g_autoptr (GFile) file = NULL;
  g_autoptr (GError) error = NULL;
  GStatBuf info;
  gboolean done;

  if (geteuid () != 0)
    {
      g_test_skip ("Only root gives files away");
      return;
    }

  file = write_file (folder, "old", OLD, strlen (OLD));
  g_assert_cmpint (chown (g_file_peek_path (file), 1234, 2345), ==, 0);
  assert_replaces (file, "new");
  g_assert_cmpint (g_stat (g_file_peek_path (file), &info), ==, 0);
  g_assert_cmpuint (info.st_uid, ==, 1234);
  g_assert_cmpuint (info.st_gid, ==, 2345);

  /* Another user's group gets no more than others. */
  g_assert_cmpint (chmod (g_file_peek_path (file), 0664), ==, 0);
  g_assert_cmpint (chmod (folder->path, 0777), ==, 0);
  g_assert_cmpint (setegid (65534), ==, 0);
  g_assert_cmpint (seteuid (65534), ==, 0);
  done = replace (file, "of another", &error);
  g_assert_cmpint (seteuid (0), ==, 0);
  g_assert_cmpint (setegid (0), ==, 0);
  g_assert_no_error (error);
  g_assert_true (done);
  g_assert_cmphex (get_mode (file), ==, 0644);
}

static void
add_link (TestFolder *folder,
          const char *target,
          const char *name)
{
  g_autoptr (GFile) link_file = get_file (folder, name);

  g_assert_cmpint (symlink (target, g_file_peek_path (link_file)), ==, 0);
}

static void
assert_links_to (TestFolder *folder,
                 const char *name,
                 const char *target)
{
  g_autoptr (GFile) link_file = get_file (folder, name);
  g_autofree char *found = g_file_read_link (g_file_peek_path (link_file), NULL);

  g_assert_cmpstr (found, ==, target);
}

/* Links stay links, also those to files that are not there yet. */
static void
test_links (TestFolder    *folder,
            gconstpointer  data)
{
  g_autoptr (GFile) file = write_file (folder, "file", OLD, strlen (OLD));
  g_autoptr (GFile) to_link = get_file (folder, "to-link");
  g_autoptr (GFile) far = get_file (folder, "far");
  g_autoptr (GFile) missing = get_file (folder, "missing");
  g_autoptr (GFile) loop = get_file (folder, "loop");

  add_link (folder, "file", "link");
  add_link (folder, "link", "to-link");
  assert_replaces (to_link, "through two links");
  assert_contents (file, "through two links");
  assert_links_to (folder, "link", "file");
  assert_links_to (folder, "to-link", "link");

  add_link (folder, g_file_peek_path (missing), "near");
  add_link (folder, "near", "far");
  assert_replaces (far, "not there yet");
  assert_contents (missing, "not there yet");
  assert_links_to (folder, "far", "near");

  add_link (folder, "loop", "loop");
  assert_replace_fails (loop, G_IO_ERROR_TOO_MANY_LINKS, "loop”");
  assert_links_to (folder, "loop", "loop");
}

/* Another name keeps the old file, and so does who has it open. */
static void
test_old_stays (TestFolder    *folder,
                gconstpointer  data)
{
  g_autoptr (GFile) file = write_file (folder, "file", OLD, strlen (OLD));
  g_autoptr (GFile) other = get_file (folder, "other");
  char bytes[32] = { 0 };
  int fd = open (g_file_peek_path (file), O_RDONLY);

  g_assert_cmpint (link (g_file_peek_path (file), g_file_peek_path (other)), ==, 0);
  assert_replaces (file, "new");
  assert_contents (other, OLD);
  g_assert_cmpint (pread (fd, bytes, sizeof bytes, 0), ==, strlen (OLD));
  g_assert_cmpstr (bytes, ==, OLD);
  close (fd);
}

#ifdef __linux__

/* The text of such a link is no path, even if a file has that name. */
static void
test_no_name (TestFolder    *folder,
              gconstpointer  data)
{
  g_autoptr (GFile) file = write_file (folder, "file", OLD, strlen (OLD));
  g_autoptr (GFile) other = write_file (folder, "file (deleted)", OLD, strlen (OLD));
  int in_memory = syscall (SYS_memfd_create, "in-memory", 0);
  int removed = open (g_file_peek_path (file), O_RDWR);
  int there = open (g_file_peek_path (other), O_RDWR);
  const int descriptors[] = { in_memory, removed };
  g_autofree char *there_path = g_strdup_printf ("/proc/self/fd/%d", there);
  g_autoptr (GFile) link = g_file_new_for_path (there_path);

  g_assert_cmpint (g_unlink (g_file_peek_path (file)), ==, 0);
  for (gsize i = 0; i < G_N_ELEMENTS (descriptors); i++)
    {
      g_autofree char *path = g_strdup_printf ("/proc/self/fd/%d", descriptors[i]);
      g_autoptr (GFile) nameless = g_file_new_for_path (path);

      assert_replace_fails (nameless, G_IO_ERROR_NOT_SUPPORTED, "“/proc/self/fd/");
    }
  assert_contents (other, OLD);
  g_assert_false (g_file_test ("/memfd:in-memory (deleted)", G_FILE_TEST_EXISTS));

  /* If the file has a name, the link is one like any other. */
  g_assert_true (replace (link, "new", NULL));
  assert_contents (other, "new");
  close (in_memory);
  close (removed);
  close (there);
}

#endif

/* Files that are not regular are left alone. */
static void
test_no_files (TestFolder    *folder,
               gconstpointer  data)
{
  g_autoptr (GFile) itself = g_file_new_for_path (folder->path);
  g_autoptr (GFile) fifo = get_file (folder, "fifo");
  g_autoptr (GFile) socket_file = make_socket (folder, "socket");
  g_autoptr (GFile) null = g_file_new_for_path ("/dev/null");
  g_autoptr (GFile) nowhere = get_file (folder, "no-folder/file");
  g_autoptr (GFile) under = get_file (folder, "fifo/file");
  g_autoptr (GFile) remote = g_file_new_for_uri ("no-such-scheme://host/file");
  guint n_names;

  g_assert_cmpint (mkfifo (g_file_peek_path (fifo), 0600), ==, 0);
  n_names = count_names (folder);

  assert_replace_fails (itself, G_IO_ERROR_IS_DIRECTORY, folder->path);
  assert_replace_fails (fifo, G_IO_ERROR_NOT_REGULAR_FILE, "fifo”");
  assert_replace_fails (socket_file, G_IO_ERROR_NOT_REGULAR_FILE, "socket”");
  assert_replace_fails (null, G_IO_ERROR_NOT_REGULAR_FILE, "“/dev/null”");
  assert_replace_fails (nowhere, G_IO_ERROR_NOT_FOUND, "no-folder/file”");
  assert_replace_fails (under, G_IO_ERROR_NOT_DIRECTORY, "fifo/file”");
  assert_replace_fails (remote, G_IO_ERROR_NOT_SUPPORTED, "“no-such-scheme://host/file”");
  g_assert_cmpuint (count_names (folder), ==, n_names);
}

/* Root may write anything, others may not. A file that may not be written is replaced where its
 * folder may be. */
static void
test_forbidden (TestFolder    *folder,
                gconstpointer  data)
{
  g_autoptr (GFile) file = write_file (folder, "file", OLD, strlen (OLD));
  gboolean is_root = geteuid () == 0;

  g_assert_cmpint (chmod (g_file_peek_path (file), 0444), ==, 0);
  g_assert_cmpint (chmod (folder->path, 0555), ==, 0);
  if (is_root)
    g_assert_cmpint (seteuid (65534), ==, 0);
  assert_replace_fails (file, G_IO_ERROR_PERMISSION_DENIED, "file”");
  if (is_root)
    g_assert_cmpint (seteuid (0), ==, 0);
  assert_contents (file, OLD);

  g_assert_cmpint (chmod (folder->path, 0777), ==, 0);
  if (is_root)
    g_assert_cmpint (seteuid (65534), ==, 0);
  assert_replaces (file, "new");
  if (is_root)
    g_assert_cmpint (seteuid (0), ==, 0);
  g_assert_cmphex (get_mode (file), ==, 0444);
}

/* The longest that file systems have, also of characters of several bytes. */
static void
test_long_names (TestFolder    *folder,
                 gconstpointer  data)
{
  char name[256] = { 0 };
  g_autoptr (GFile) longest = NULL;
  g_autoptr (GFile) wide = NULL;

  memset (name, 'x', 255);
  longest = get_file (folder, name);
  assert_replaces (longest, "first");
  assert_replaces (longest, "second");

  for (guint i = 0; i < 85; i++)
    memcpy (name + 3 * i, "€", 3);
  wide = get_file (folder, name);
  assert_replaces (wide, "wide");
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  add_folder_test ("/FileReplacement/replaces", test_replaces);
  add_folder_test ("/FileReplacement/modes", test_modes);
  add_folder_test ("/FileReplacement/private-while-written", test_private_while_written);
  add_folder_test ("/FileReplacement/owners", test_owners);
  add_folder_test ("/FileReplacement/links", test_links);
  add_folder_test ("/FileReplacement/old-stays", test_old_stays);
#ifdef __linux__
  add_folder_test ("/FileReplacement/no-name", test_no_name);
#endif
  add_folder_test ("/FileReplacement/no-files", test_no_files);
  add_folder_test ("/FileReplacement/forbidden", test_forbidden);
  add_folder_test ("/FileReplacement/long-names", test_long_names);
#ifdef __linux__
  add_folder_test ("/FileReplacement/failures", test_failures);
  add_folder_test ("/FileReplacement/interrupted", test_interrupted);
  add_folder_test ("/FileReplacement/not-reserved", test_not_reserved);
  add_folder_test ("/FileReplacement/large", test_large);
  add_folder_test ("/FileReplacement/sent", test_sent);
#endif

  return g_test_run ();
}
