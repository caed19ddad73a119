/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* O_DIRECTORY */
#define _GNU_SOURCE

#include "faults.h"

#include <errno.h>
#include <gio/gunixfdlist.h>
#include <glib-unix.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/vfs.h>

static int armed_calls;     /* atomic: FaultCalls */
static int armed_code;
static guint32 file_system; /* 0 for the one that it is */
static int n_before;        /* atomic: calls of the fault's that succeed before one does not */

void
faults_arm (const Fault *fault,
            guint        n)
{
  armed_code = fault->code;
  g_atomic_int_set (&n_before, n);
  g_atomic_int_set (&armed_calls, fault->calls);
}

gboolean
faults_disarm (void)
{
  g_atomic_int_set (&armed_calls, 0);
  return g_atomic_int_get (&n_before) < 0;
}

void
faults_set_file_system (guint32 magic)
{
  file_system = magic;
}

static gboolean
is_chosen (FaultCalls call)
{
  return (g_atomic_int_get (&armed_calls) & call) != 0 && g_atomic_int_add (&n_before, -1) == 0;
}

/* Sets errno if the call is to fail. */
static gboolean
fails (FaultCalls call)
{
  if (!is_chosen (call))
    return FALSE;

  errno = armed_code;
  return TRUE;
}

/* The linker puts each __wrap_… in the place of what the library's own objects call. */

#define WRAP(call, type, name, parameters, arguments) \
  type __real_##name parameters; \
  type __wrap_##name parameters; \
  \
  type \
  __wrap_##name parameters \
  { \
    return fails (call) ? (type) -1 : __real_##name arguments; \
  }

/* Moves at least a byte. */
#define WRAP_COUNTED(call, name, parameters, arguments) \
  ssize_t __real_##name parameters; \
  ssize_t __wrap_##name parameters; \
  \
  ssize_t \
  __wrap_##name parameters \
  { \
    if (fails (call)) \
      { \
        if (armed_code != 0) \
          return -1; \
        size = (size + 1) / 2; \
      } \
    return __real_##name arguments; \
  }

#define WRAP_POINTER(call, type, name, parameters, arguments) \
  type __real_##name parameters; \
  type __wrap_##name parameters; \
  \
  type \
  __wrap_##name parameters \
  { \
    return fails (call) ? NULL : __real_##name arguments; \
  }

#define WRAP_ALLOCATION(name, parameters, arguments) \
  WRAP_POINTER (FAULT_ALLOCATE, gpointer, name, parameters, arguments)

WRAP (FAULT_STAT, int, stat64, (const char *path, struct stat *info), (path, info))
WRAP (FAULT_FSTAT, int, fstat64, (int fd, struct stat *info), (fd, info))
static gboolean
is_folder (int fd)
{
  struct stat info;

  return __real_fstat64 (fd, &info) == 0 && S_ISDIR (info.st_mode);
}

WRAP (FAULT_MAP, gpointer, mmap64,
      (gpointer address, gsize size, int protection, int flags, int fd, off_t offset),
      (address, size, protection, flags, fd, offset))
WRAP (FAULT_UNMAP, int, munmap, (gpointer address, gsize size), (address, size))
WRAP (FAULT_ADVISE, int, madvise, (gpointer address, gsize size, int advice),
      (address, size, advice))
WRAP_COUNTED (FAULT_READ, pread64, (int fd, gpointer bytes, gsize size, off_t offset),
              (fd, bytes, size, offset))
WRAP_COUNTED (FAULT_WRITE, write, (int fd, gconstpointer bytes, gsize size), (fd, bytes, size))
WRAP (FAULT_OWNER, int, fchown, (int fd, uid_t user, gid_t group), (fd, user, group))
WRAP (FAULT_MODE, int, fchmod, (int fd, mode_t mode), (fd, mode))
WRAP (FAULT_RESERVE, int, fallocate64, (int fd, int mode, off_t offset, off_t size),
      (fd, mode, offset, size))
WRAP (is_folder (fd) ? FAULT_FOLDER : FAULT_FLUSH, int, fsync, (int fd), (fd))
WRAP (FAULT_SEND, int, sync_file_range, (int fd, off_t begin, off_t size, unsigned flags),
      (fd, begin, size, flags))
WRAP (FAULT_RESERVE, int, ftruncate64, (int fd, off_t size), (fd, size))
WRAP (FAULT_MEMFD, int, memfd_create, (const char *name, unsigned flags), (name, flags))
WRAP (FAULT_POLL, int, poll, (struct pollfd *fds, nfds_t n, int timeout), (fds, n, timeout))
WRAP (FAULT_RENAME, int, rename, (const char *from, const char *to), (from, to))
WRAP (FAULT_UNLINK, int, unlink, (const char *path), (path))
WRAP_POINTER (FAULT_RESOLVE, char *, realpath, (const char *path, char *resolved),
              (path, resolved))
WRAP_ALLOCATION (malloc, (gsize size), (size))
WRAP_ALLOCATION (calloc, (gsize n, gsize size), (n, size))
WRAP_ALLOCATION (g_try_malloc, (gsize size), (size))
WRAP_ALLOCATION (g_try_malloc0, (gsize size), (size))
WRAP_ALLOCATION (g_try_malloc_n, (gsize n, gsize size), (n, size))
WRAP_ALLOCATION (g_try_malloc0_n, (gsize n, gsize size), (n, size))
WRAP_ALLOCATION (g_try_realloc, (gpointer memory, gsize size), (memory, size))
WRAP_ALLOCATION (g_try_realloc_n, (gpointer memory, gsize n, gsize size), (memory, n, size))

int __real_fstatfs64 (int fd, struct statfs *info);
int __wrap_fstatfs64 (int fd, struct statfs *info);

int
__wrap_fstatfs64 (int            fd,
                  struct statfs *info)
{
  int result = fails (FAULT_FSTATFS) ? -1 : __real_fstatfs64 (fd, info);

  if (file_system != 0)
    info->f_type = file_system;
  return result;
}

char *__real_g_file_read_link (const char *path, GError **error);
char *__wrap_g_file_read_link (const char *path, GError **error);

char *
__wrap_g_file_read_link (const char  *path,
                         GError     **error)
{
  if (!fails (FAULT_READ_LINK))
    return __real_g_file_read_link (path, error);

  g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (errno),
               "Failed to read the symbolic link “%s”: %s", path, g_strerror (errno));
  return NULL;
}

GFileEnumerator *__real_g_file_enumerate_children (GFile *folder, const char *attributes,
                                                   GFileQueryInfoFlags flags,
                                                   GCancellable *cancellable, GError **error);
GFileEnumerator *__wrap_g_file_enumerate_children (GFile *folder, const char *attributes,
                                                   GFileQueryInfoFlags flags,
                                                   GCancellable *cancellable, GError **error);
gboolean __real_g_file_enumerator_iterate (GFileEnumerator *self, GFileInfo **info, GFile **child,
                                           GCancellable *cancellable, GError **error);
gboolean __wrap_g_file_enumerator_iterate (GFileEnumerator *self, GFileInfo **info, GFile **child,
                                           GCancellable *cancellable, GError **error);

static gboolean
set_list_error (GFile   *folder,
                GError **error)
{
  g_set_error (error, G_IO_ERROR, (int) g_io_error_from_errno (errno),
               "Error opening directory '%s': %s", g_file_peek_path (folder), g_strerror (errno));
  return FALSE;
}

GFileEnumerator *
__wrap_g_file_enumerate_children (GFile                *folder,
                                  const char           *attributes,
                                  GFileQueryInfoFlags   flags,
                                  GCancellable         *cancellable,
                                  GError              **error)
{
  if (!fails (FAULT_LIST))
    return __real_g_file_enumerate_children (folder, attributes, flags, cancellable, error);

  set_list_error (folder, error);
  return NULL;
}

gboolean
__wrap_g_file_enumerator_iterate (GFileEnumerator  *self,
                                  GFileInfo       **info,
                                  GFile           **child,
                                  GCancellable     *cancellable,
                                  GError          **error)
{
  if (!fails (FAULT_LIST))
    return __real_g_file_enumerator_iterate (self, info, child, cancellable, error);

  return set_list_error (g_file_enumerator_get_container (self), error);
}

/* A call with the first half of the bytes, at least one. */
static void
shorten (struct msghdr *message,
         struct iovec  *parts)
{
  gsize size = 0;

  for (gsize i = 0; i < message->msg_iovlen; i++)
    {
      parts[i] = message->msg_iov[i];
      size += parts[i].iov_len;
    }

  size = (size + 1) / 2;
  for (gsize i = 0; i < message->msg_iovlen; i++)
    {
      parts[i].iov_len = MIN (parts[i].iov_len, size);
      size -= parts[i].iov_len;
    }
  message->msg_iov = parts;
}

ssize_t __real_sendmsg (int fd, const struct msghdr *message, int flags);
ssize_t __wrap_sendmsg (int fd, const struct msghdr *message, int flags);
ssize_t __real_recvmsg (int fd, struct msghdr *message, int flags);
ssize_t __wrap_recvmsg (int fd, struct msghdr *message, int flags);

ssize_t
__wrap_sendmsg (int                  fd,
                const struct msghdr *message,
                int                  flags)
{
  struct msghdr copy = *message;
  struct iovec parts[2];

  g_assert_cmpuint (message->msg_iovlen, <=, G_N_ELEMENTS (parts));
  if (fails (FAULT_SENDMSG))
    {
      if (armed_code != 0)
        return -1;
      shorten (&copy, parts);
    }
  return __real_sendmsg (fd, &copy, flags);
}

ssize_t
__wrap_recvmsg (int            fd,
                struct msghdr *message,
                int            flags)
{
  struct iovec parts[2], *whole = message->msg_iov;
  ssize_t n_received;

  g_assert_cmpuint (message->msg_iovlen, <=, G_N_ELEMENTS (parts));
  if (fails (FAULT_RECVMSG))
    {
      if (armed_code != 0)
        return -1;
      shorten (message, parts);
    }
  n_received = __real_recvmsg (fd, message, flags);
  message->msg_iov = whole;
  return n_received;
}

int __real_fcntl64 (int fd, int command, ...);
int __wrap_fcntl64 (int fd, int command, ...);

int
__wrap_fcntl64 (int fd,
                int command,
                ...)
{
  FaultCalls call = command == F_DUPFD_CLOEXEC ? FAULT_DUP : command == F_ADD_SEALS ? FAULT_SEAL
                    : command == F_GET_SEALS || command == F_GETPIPE_SZ ? FAULT_ASK : 0;
  va_list arguments;
  int argument;

  va_start (arguments, command);
  argument = va_arg (arguments, int);
  va_end (arguments);

  return fails (call) ? -1 : __real_fcntl64 (fd, command, argument);
}

/* Sets GLib's error for a call that failed. */
static gboolean
set_glib_error (GError **error)
{
  g_set_error_literal (error, G_IO_ERROR, (int) g_io_error_from_errno (errno), g_strerror (errno));
  return FALSE;
}

int __real_g_unix_fd_list_append (GUnixFDList *self, int fd, GError **error);
int __wrap_g_unix_fd_list_append (GUnixFDList *self, int fd, GError **error);
gboolean __real_g_unix_open_pipe (int *fds, int flags, GError **error);
gboolean __wrap_g_unix_open_pipe (int *fds, int flags, GError **error);
GCredentials *__real_g_socket_get_credentials (GSocket *self, GError **error);
GCredentials *__wrap_g_socket_get_credentials (GSocket *self, GError **error);
uid_t __real_geteuid (void);
uid_t __wrap_geteuid (void);

int
__wrap_g_unix_fd_list_append (GUnixFDList  *self,
                              int           fd,
                              GError      **error)
{
  if (!fails (FAULT_DUP))
    return __real_g_unix_fd_list_append (self, fd, error);

  set_glib_error (error);
  return -1;
}

gboolean
__wrap_g_unix_open_pipe (int     *fds,
                         int      flags,
                         GError **error)
{
  return fails (FAULT_PIPE) ? set_glib_error (error) : __real_g_unix_open_pipe (fds, flags, error);
}

GCredentials *
__wrap_g_socket_get_credentials (GSocket  *self,
                                 GError  **error)
{
  if (!fails (FAULT_USER))
    return __real_g_socket_get_credentials (self, error);

  set_glib_error (error);
  return NULL;
}

uid_t
__wrap_geteuid (void)
{
  return __real_geteuid () + (fails (FAULT_USER) ? 1 : 0);
}

int __real_open64 (const char *path, int flags, ...);
int __wrap_open64 (const char *path, int flags, ...);
int __real_close (int fd);
int __wrap_close (int fd);

int
__wrap_open64 (const char *path,
               int         flags,
               ...)
{
  va_list arguments;
  mode_t mode;

  va_start (arguments, flags);
  mode = (flags & O_CREAT) != 0 ? va_arg (arguments, int) : 0;
  va_end (arguments);

  return fails ((flags & O_DIRECTORY) != 0 ? FAULT_FOLDER : FAULT_OPEN)
         ? -1 : __real_open64 (path, flags, mode);
}

/* The descriptor is gone, whatever it says. */
int
__wrap_close (int fd)
{
  FaultCalls call = is_folder (fd) ? FAULT_FOLDER : FAULT_CLOSE;
  int result = __real_close (fd);

  return fails (call) ? -1 : result;
}

/* Counts mappings of files in memory, of the folder's files, and read-only ones of no file, which
 * nothing else has. */
static guint
count_mappings (TestFolder *folder)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  guint n = 0;

  g_file_get_contents ("/proc/self/maps", &text, NULL, &error);
  g_assert_no_error (error);
  lines = g_strsplit (text, "\n", -1);
  for (gsize i = 0; lines[i] != NULL; i++)
    n += strstr (lines[i], "/memfd:") != NULL
         || (folder != NULL && strstr (lines[i], folder->path) != NULL)
         || (strstr (lines[i], " r--p ") != NULL && g_str_has_suffix (lines[i], " 00:00 0 "));

  return n;
}

/* It names the reason and the file, which what reads pages ahead does not know. */
static void
check_error (const FaultCase *self,
             const Fault     *fault,
             const GError    *error)
{
  if (fault->error != 0)
    g_assert_error (error, MTL_ERROR, (int) fault->error);
  else if (fault->code == ENOMEM)
    g_assert_error (error, MTL_ERROR, MTL_ERROR_NO_MEMORY);
  else
    {
      g_assert_error (error, G_IO_ERROR, (int) g_io_error_from_errno (fault->code));
      if (fault->calls != FAULT_USER)
        g_assert_nonnull (strstr (error->message, g_strerror (fault->code)));
    }

  if (self->folder != NULL && (fault->calls & (FAULT_ALLOCATE | FAULT_ADVISE)) == 0)
    g_assert_nonnull (strstr (error->message, self->folder->path));
}

/* GDBus may close those of a message or of a call in its own thread, later. */
static void
await_descriptors (guint n_most)
{
  for (int i = 0; i < 10000 && count_descriptors () > n_most; i++)
    g_usleep (1000);
  g_assert_cmpuint (count_descriptors (), <=, n_most);
}

/* Returns TRUE if a call failed. */
static gboolean
try_one (const FaultCase *self,
         const Fault     *fault,
         guint            n)
{
  guint n_descriptors = count_descriptors (), n_mappings = count_mappings (self->folder);
  g_autoptr (GError) error = NULL;
  gboolean is_done, has_failed;

  faults_arm (fault, n);
  is_done = self->run (self->data, &error);
  has_failed = faults_disarm ();

  g_test_message ("Call %u of %x with errno %d: %s", n, fault->calls, fault->code,
                  is_done ? "done" : error->message);
  if (is_done)
    g_assert_no_error (error);
  else
    check_error (self, fault, error);
  if (!has_failed || fault->is_survived != SOMETIMES)
    g_assert_cmpint (is_done, ==, !has_failed || fault->is_survived);
  await_descriptors (n_descriptors);
  if (fault->calls != FAULT_UNMAP)
    g_assert_cmpuint (count_mappings (self->folder), ==, n_mappings);
  if (self->check != NULL)
    self->check (self->data, fault, is_done);

  return has_failed;
}

guint
faults_try_each (const FaultCase *self,
                 const Fault     *faults,
                 gsize            n_faults)
{
  guint n_failed = 0;

  for (gsize i = 0; i < n_faults; i++)
    for (guint n = 0; try_one (self, &faults[i], n); n++)
      n_failed++;

  return n_failed;
}
