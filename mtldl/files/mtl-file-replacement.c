/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* fallocate(), sync_file_range() */
#ifdef __linux__
#define _GNU_SOURCE
#endif

#include "mtl-file-replacement-private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mtl-file-source-private.h"

#define MAX_LINKS 40
#define MAX_ATTEMPTS 100

/* A name has at most 255 bytes; two dots and 8 digits are added. */
#define MAX_KEPT_NAME 240

/* While this much goes to the disk, the next bytes are written. */
#define SENT_SIZE ((guint64) 32 << 20)

static gboolean
set_error (MtlFileReplacement  *self,
           int                  code,
           GError             **error)
{
  return mtl_set_file_error (self->name, "written", code, error);
}

/* The path of the file that would be created at path, which may be a dangling link. */
static char *
follow_links (MtlFileReplacement  *self,
              const char          *path,
              GError             **error)
{
  g_autofree char *at = g_strdup (path);

  for (guint i = 0; i < MAX_LINKS; i++)
    {
      g_autofree char *real = realpath (at, NULL);
      g_autoptr (GError) read_error = NULL;
      g_autofree char *target = NULL;
      g_autofree char *folder = NULL;

      if (real != NULL)
        return g_steal_pointer (&real);

      target = g_file_read_link (at, &read_error);
      if (target == NULL)
        {
          if (read_error->code == G_FILE_ERROR_NOENT || read_error->code == G_FILE_ERROR_INVAL)
            return g_steal_pointer (&at);

          g_set_error (error, G_IO_ERROR, g_io_error_from_file_error (read_error->code),
                       "%s cannot be written: %s", self->name, read_error->message);
          return NULL;
        }

      folder = g_path_get_dirname (at);
      g_free (at);
      at = g_path_is_absolute (target) ? g_steal_pointer (&target)
                                       : g_build_filename (folder, target, NULL);
    }

  set_error (self, ELOOP, error);
  return NULL;
}

/* Only regular files are replaced: a device must not become a file. */
static gboolean
check_replaceable (MtlFileReplacement  *self,
                   mode_t               mode,
                   GError             **error)
{
  if (S_ISREG (mode))
    return TRUE;

  if (S_ISDIR (mode))
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_IS_DIRECTORY, "%s is a folder", self->name);
  else
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE,
                 "%s already exists and is not a file: only files can be replaced", self->name);
  return FALSE;
}

/* Takes over as much as the caller may. If the group cannot be kept, the new one gets
 * no more rights than others. Until the mode is set, only the owner can access the
 * file. */
static gboolean
take_permissions (MtlFileReplacement  *self,
                  const struct stat   *old,
                  GError             **error)
{
  mode_t mode = old->st_mode & 0777;
  struct stat own;

  if (fstat (self->fd, &own) < 0)
    return set_error (self, errno, error);

  if ((own.st_uid != old->st_uid || own.st_gid != old->st_gid)
      && fchown (self->fd, old->st_uid, old->st_gid) < 0 && own.st_gid != old->st_gid
      && fchown (self->fd, -1, old->st_gid) < 0)
    mode &= 0707 | (mode & 0007) << 3;

  return fchmod (self->fd, mode) == 0 || set_error (self, errno, error);
}

static int
open_new (const char *path,
          mode_t      mode)
{
  int fd;

  do
    fd = open (path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, mode);
  while (fd < 0 && errno == EINTR);
  return fd;
}

/* The temporary file is in the same folder, so that it can be renamed, and hidden,
 * because a process that is killed leaves it behind. */
static gboolean
open_temporary (MtlFileReplacement  *self,
                mode_t               mode,
                GError             **error)
{
  g_autofree char *folder = g_path_get_dirname (self->path);
  g_autofree char *base = g_path_get_basename (self->path);
  int code = EEXIST;

  if (strlen (base) > MAX_KEPT_NAME)
    {
      const char *end;

      g_utf8_validate (base, MAX_KEPT_NAME, &end);
      base[end - base] = '\0';
    }

  for (guint i = 0; i < MAX_ATTEMPTS && code == EEXIST; i++)
    {
      g_autofree char *path = g_strdup_printf ("%s/.%s.%08x", folder, base, g_random_int ());

      self->fd = open_new (path, mode);
      if (self->fd >= 0)
        {
          self->temporary = g_steal_pointer (&path);
          return TRUE;
        }
      code = errno; /* the path is freed before it is used */
    }

  return set_error (self, code, error);
}

/* Links of the system, as in /proc/self/fd, also lead to files without a name: one in memory,
 * or one that was removed. The text of such a link is no path, and may be that of another
 * file. */
static gboolean
check_target (MtlFileReplacement  *self,
              const char          *path,
              GError             **error)
{
  struct stat given, found;

  if (stat (path, &given) < 0)
    return errno == ENOENT || set_error (self, errno, error);
  if (!check_replaceable (self, given.st_mode, error))
    return FALSE;

  if (stat (self->path, &found) < 0)
    {
      if (errno != ENOENT)
        return set_error (self, errno, error);
    }
  else if (given.st_dev == found.st_dev && given.st_ino == found.st_ino)
    return TRUE;

  g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
               "%s is an open file that has no name in any folder: only files with a name can be "
               "replaced", self->name);
  return FALSE;
}

static gboolean
open_beside (MtlFileReplacement  *self,
             GError             **error)
{
  struct stat old;

  if (stat (self->path, &old) < 0)
    return errno == ENOENT ? open_temporary (self, 0666, error) : set_error (self, errno, error);

  return check_replaceable (self, old.st_mode, error)
         && open_temporary (self, 0600, error)
         && take_permissions (self, &old, error);
}

MtlFileReplacement *
mtl_file_replacement_new (GFile     *file,
                          gboolean   sync,
                          GError   **error)
{
  g_autoptr (MtlFileReplacement) self = g_new0 (MtlFileReplacement, 1);
  g_autofree char *path = g_file_get_path (file);

  self->fd = -1;
  self->sync = sync;
  self->name = mtl_quote_file_name (file);
  if (path == NULL)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED, "%s has no path on this machine",
                   self->name);
      return NULL;
    }

  self->path = follow_links (self, path, error);
  return self->path != NULL && check_target (self, path, error) && open_beside (self, error)
           ? g_steal_pointer (&self)
           : NULL;
}

void
mtl_file_replacement_free (MtlFileReplacement *self)
{
  if (self->fd >= 0)
    close (self->fd);
  if (self->temporary != NULL)
    unlink (self->temporary);
  g_free (self->temporary);
  g_free (self->path);
  g_free (self->name);
  g_free (self);
}

gboolean
mtl_file_replacement_reserve (MtlFileReplacement  *self,
                              guint64              size,
                              GError             **error)
{
#ifdef __linux__
  int result;

  if (size > G_MAXINT64)
    return set_error (self, EFBIG, error);
  if (size == 0)
    return TRUE;

  /* posix_fallocate() writes zeros if the file system cannot reserve space. */
  do
    result = fallocate (self->fd, 0, 0, size);
  while (result < 0 && errno == EINTR);

  if (result < 0 && (errno == ENOSPC || errno == EDQUOT || errno == EFBIG))
    return mtl_set_system_error (errno, error, "%s cannot be written with its %" G_GUINT64_FORMAT
                                 " bytes", self->name, size);
#endif

  return TRUE;
}

/* Only starts writing. Flushing reports the errors. */
static void
send_to_disk (MtlFileReplacement *self)
{
  if (!self->sync || self->n_written - self->n_sent < SENT_SIZE)
    return;

#ifdef __linux__
  sync_file_range (self->fd, self->n_sent, self->n_written - self->n_sent,
                   SYNC_FILE_RANGE_WRITE);
#endif
  self->n_sent = self->n_written;
}

gboolean
mtl_file_replacement_write (MtlFileReplacement  *self,
                            gconstpointer        bytes,
                            gsize                size,
                            GError             **error)
{
  const guint8 *at = bytes, *end = at + size;

  while (at < end)
    {
      gssize n_written = write (self->fd, at, MIN ((gsize) (end - at), MTL_MAX_PIECE));

      if (n_written == 0)
        return set_error (self, EIO, error);
      if (n_written < 0 && errno != EINTR)
        return set_error (self, errno, error);
      at += MAX (n_written, 0);
    }

  self->n_written += size;
  send_to_disk (self);
  return TRUE;
}

static int
flush (int fd)
{
  int result;

#ifdef F_FULLFSYNC
  /* fsync() lets the disk decide when to write, but some file systems support nothing
   * else. */
  if (fcntl (fd, F_FULLFSYNC) == 0)
    return 0;
#endif

  do
    result = fsync (fd);
  while (result < 0 && errno == EINTR);
  return result;
}

gboolean
mtl_file_replacement_flush (MtlFileReplacement  *self,
                            GError             **error)
{
  int fd = self->fd;

  if (self->sync && flush (fd) < 0)
    return set_error (self, errno, error);

  /* The descriptor is closed even if close() fails. */
  self->fd = -1;
  return close (fd) == 0 || errno == EINTR || set_error (self, errno, error);
}

/* Errors are not reported: the file is already in its place, and an error would mean
 * that the old one still is. */
static void
flush_folder (const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path);
  int fd;

  do
    fd = open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  while (fd < 0 && errno == EINTR);
  if (fd < 0)
    return;

  flush (fd);
  close (fd);
}

gboolean
mtl_file_replacement_commit (MtlFileReplacement  *self,
                             GError             **error)
{
  if (rename (self->temporary, self->path) < 0)
    return set_error (self, errno, error);

  g_clear_pointer (&self->temporary, g_free);
  if (self->sync)
    flush_folder (self->path);
  return TRUE;
}
