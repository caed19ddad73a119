/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-file-source-private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/vfs.h>
#else
#include <sys/mount.h>
#include <sys/param.h>
#endif

#include "mtl-error.h"
#include "mtl-message-text-private.h"

#ifdef __APPLE__
#define st_mtim st_mtimespec
#endif

/* Escapes and quotes the path for messages. */
char *
mtl_quote_file_name (GFile *file)
{
  g_autofree char *path = g_file_get_path (file);
  g_autofree char *shown = path != NULL ? g_steal_pointer (&path) : g_file_get_uri (file);
  g_autofree char *escaped = mtl_escape_text (shown, strlen (shown), MTL_ESCAPE_FLAGS_NONE);

  return g_strconcat ("“", escaped, "”", NULL);
}

/* The code is an errno. GIO would call a lack of memory a full disk. Always returns
 * FALSE. */
gboolean
mtl_set_system_error (int          code,
                      GError     **error,
                      const char  *format,
                      ...)
{
  g_autofree char *what = NULL;
  va_list arguments;

  va_start (arguments, format);
  what = g_strdup_vprintf (format, arguments);
  va_end (arguments);

  if (code == ENOMEM)
    g_set_error (error, MTL_ERROR, MTL_ERROR_NO_MEMORY, "%s: %s", what, g_strerror (code));
  else
    g_set_error (error, G_IO_ERROR, g_io_error_from_errno (code), "%s: %s", what,
                 g_strerror (code));
  return FALSE;
}

gboolean
mtl_set_file_error (const char  *name,
                    const char  *what,
                    int          code,
                    GError     **error)
{
  return mtl_set_system_error (code, error, "%s cannot be %s", name, what);
}

static const char *
describe_kind (mode_t mode)
{
  if (S_ISFIFO (mode))
    return "a pipe";
  if (S_ISSOCK (mode))
    return "a socket";
  if (S_ISCHR (mode) || S_ISBLK (mode))
    return "a device";

  return "not a file";
}

static void
take_stat (MtlFileSource     *self,
           const struct stat *info)
{
  self->device = info->st_dev;
  self->inode = info->st_ino;
  self->size = info->st_size;
  self->modified_s = info->st_mtim.tv_sec;
  self->modified_ns = info->st_mtim.tv_nsec;
}

/* Compares two states of one file. */
static gboolean
check_same (const MtlFileSource  *then,
            const MtlFileSource  *now,
            GError              **error)
{
  if (then->size == now->size && then->modified_s == now->modified_s
      && then->modified_ns == now->modified_ns)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
               "%s was changed after it was opened: it had %" G_GUINT64_FORMAT
               " bytes and has %" G_GUINT64_FORMAT, then->name, then->size, now->size);
  return FALSE;
}

static gboolean
check_kind (const char  *name,
            mode_t       mode,
            GError     **error)
{
  if (S_ISREG (mode))
    return TRUE;

  if (S_ISDIR (mode))
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_IS_DIRECTORY,
                 "%s is a folder: choose a file in it", name);
  else
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE,
                 "%s is %s: only files of known size can be read", name, describe_kind (mode));
  return FALSE;
}

/* Files that the system generates when they are read, as in /proc, have a size of 0. */
static gboolean
check_empty (const MtlFileSource  *self,
             GError              **error)
{
  guint8 byte;
  gssize n_read;

  do
    n_read = pread (self->fd, &byte, 1, 0);
  while (n_read < 0 && errno == EINTR);

  if (n_read == 0)
    return TRUE;
  if (n_read < 0)
    return mtl_set_file_error (self->name, "read", errno, error);

  g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE,
               "%s has a size of 0, but is not empty: only files of known size can be read",
               self->name);
  return FALSE;
}

/* Opens nothing but files, because opening some devices has side effects. Does not
 * block if the file was replaced by something else after stat(). */
static gboolean
open_path (MtlFileSource  *self,
           GError        **error)
{
  struct stat info;

  if (stat (self->path, &info) < 0)
    return mtl_set_file_error (self->name, "opened", errno, error);
  if (!check_kind (self->name, info.st_mode, error))
    return FALSE;

  do
    self->fd = open (self->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  while (self->fd < 0 && errno == EINTR);
  if (self->fd < 0 || fstat (self->fd, &info) < 0)
    return mtl_set_file_error (self->name, "opened", errno, error);
  if (!check_kind (self->name, info.st_mode, error))
    return FALSE;

  take_stat (self, &info);
  return self->size > 0 || check_empty (self, error);
}

MtlFileSource *
mtl_file_source_open (GFile   *file,
                      GError **error)
{
  g_autoptr (MtlFileSource) self = g_new0 (MtlFileSource, 1);

  self->fd = -1;
  self->path = g_file_get_path (file);
  self->name = mtl_quote_file_name (file);
  if (self->path == NULL)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED, "%s has no path on this machine",
                   self->name);
      return NULL;
    }

  return open_path (self, error) ? g_steal_pointer (&self) : NULL;
}

void
mtl_file_source_close (MtlFileSource *self)
{
  int fd = self->fd;

  /* The field is set before the descriptor is closed: a child that is forked in between
   * must not close a descriptor that has the same number by then. */
  self->fd = -1;
  if (fd >= 0)
    close (fd);
}

MtlFileSource *
mtl_file_source_open_again (const MtlFileSource  *self,
                            GError              **error)
{
  g_autoptr (MtlFileSource) again = g_new0 (MtlFileSource, 1);

  again->fd = -1;
  again->path = g_strdup (self->path);
  again->name = g_strdup (self->name);
  if (!open_path (again, error))
    return NULL;

  if (again->device != self->device || again->inode != self->inode)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
                   "%s was replaced by another file after it was opened", self->name);
      return NULL;
    }

  return check_same (self, again, error) ? g_steal_pointer (&again) : NULL;
}

void
mtl_file_source_free (MtlFileSource *self)
{
  mtl_file_source_close (self);
  g_free (self->path);
  g_free (self->name);
  g_free (self);
}

int
mtl_read_at (int      fd,
             guint64  offset,
             gpointer buffer,
             gsize    size,
             gsize   *n_read)
{
  guint8 *bytes = buffer;
  gssize n = 1;

  for (*n_read = 0; *n_read < size && n != 0; *n_read += MAX (n, 0))
    {
      n = pread (fd, bytes + *n_read, MIN (size - *n_read, MTL_MAX_PIECE), offset + *n_read);
      if (n < 0 && errno != EINTR)
        return errno;
    }

  return 0;
}

/* Reads all of the bytes or fails. */
gboolean
mtl_file_source_read_at (const MtlFileSource  *self,
                         guint64               offset,
                         gpointer              buffer,
                         gsize                 size,
                         GError              **error)
{
  gsize n_read;
  int code = mtl_read_at (self->fd, offset, buffer, size, &n_read);

  if (code != 0)
    return mtl_set_file_error (self->name, "read", code, error);
  if (n_read == size)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
               "%s was truncated: byte %" G_GUINT64_FORMAT " is missing; it had"
               " %" G_GUINT64_FORMAT " bytes when it was opened",
               self->name, offset + n_read, self->size);
  return FALSE;
}

gboolean
mtl_file_source_check_range (const MtlFileSource  *self,
                             guint64               offset,
                             guint64               size,
                             GError              **error)
{
  if (offset <= self->size && size <= self->size - offset)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_OUT_OF_BOUNDS,
               "%" G_GUINT64_FORMAT " bytes at offset %" G_GUINT64_FORMAT " exceed %s of"
               " %" G_GUINT64_FORMAT " bytes", size, offset, self->name, self->size);
  return FALSE;
}

gboolean
mtl_file_source_check_unchanged (const MtlFileSource  *self,
                                 GError              **error)
{
  MtlFileSource now;
  struct stat info;

  if (fstat (self->fd, &info) < 0)
    return mtl_set_file_error (self->name, "looked at", errno, error);

  take_stat (&now, &info);
  return check_same (self, &now, error);
}

#ifdef __linux__

gboolean
mtl_file_source_is_remote (const MtlFileSource *self)
{
  static const guint32 magics[] = {
    0x00006969, /* NFS */
    0x0000517b, /* SMB, CIFS and SMB 2 */
    0xff534d42,
    0xfe534d42,
    0x65735546, /* FUSE */
    0x0bd00bd0, /* Lustre */
    0x00c36400, /* Ceph */
    0x5346414f, /* AFS: OpenAFS and the kernel's */
    0x6b414653,
    0x01021997, /* 9P */
    0x73757245, /* Coda */
  };
  struct statfs info;

  if (fstatfs (self->fd, &info) < 0)
    return FALSE;

  for (gsize i = 0; i < G_N_ELEMENTS (magics); i++)
    if ((guint32) info.f_type == magics[i])
      return TRUE;

  return FALSE;
}

#else

gboolean
mtl_file_source_is_remote (const MtlFileSource *self)
{
  struct statfs info;

  return fstatfs (self->fd, &info) == 0 && (info.f_flags & MNT_LOCAL) == 0;
}

#endif
