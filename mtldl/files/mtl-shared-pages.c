/* SPDX-License-Identifier: LGPL-2.1-or-later */

#define _GNU_SOURCE

#include "config.h"

#include "mtl-shared-pages-private.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __linux__
#include <linux/magic.h>
#include <sys/vfs.h>
#endif

#include "mtl-error.h"
#include "mtl-file-source-private.h"

void
mtl_clear_fd (int *fd)
{
  int closed = *fd;

  *fd = -1;
  if (closed >= 0)
    close (closed);
}

int
mtl_dup_fd (int      fd,
            GError **error)
{
  int copy = fcntl (fd, F_DUPFD_CLOEXEC, 3);

  if (copy < 0)
    mtl_set_system_error (errno, error, "The descriptor %d cannot be duplicated", fd);
  return copy;
}

MtlSharedPages *
mtl_shared_pages_ref (MtlSharedPages *self)
{
  g_atomic_int_inc (&self->ref_count);
  return self;
}

void
mtl_shared_pages_unref (MtlSharedPages *self)
{
  if (!g_atomic_int_dec_and_test (&self->ref_count))
    return;

  if (self->pages != NULL)
    munmap (self->pages, self->size);
  mtl_clear_fd (&self->fd);
  g_free (self);
}

gboolean
mtl_shared_pages_contain (MtlSharedPages *self,
                          guint64         offset,
                          gsize           size)
{
  return offset >= self->offset && offset - self->offset <= self->size
         && size <= self->size - (offset - self->offset);
}

#if defined (F_ADD_SEALS) && defined (F_SEAL_FUTURE_WRITE)

/* Since Linux 6.3. */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif

gboolean
mtl_shared_pages_are_supported (void)
{
  return TRUE;
}

static MtlSharedPages *
shared_pages_alloc (int fd)
{
  MtlSharedPages *self = g_new0 (MtlSharedPages, 1);

  self->ref_count = 1;
  self->fd = fd;
  return self;
}

static int
create_file (void)
{
  const unsigned int flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  int fd = memfd_create ("mtldl", flags | MFD_NOEXEC_SEAL);

  return fd >= 0 || errno != EINVAL ? fd : memfd_create ("mtldl", flags);
}

static gboolean
resize (int   fd,
        gsize size)
{
  int result;

  do
    result = ftruncate (fd, size);
  while (result < 0 && errno == EINTR);

  return result == 0;
}

static gboolean
map (MtlSharedPages *self,
     int             protection)
{
  gpointer pages = mmap (NULL, self->size, protection, MAP_SHARED, self->fd, self->offset);

  /* Before Linux 6.7, a file that is sealed against writes can only be mapped for this process. */
  if (pages == MAP_FAILED && errno == EPERM && protection == PROT_READ)
    pages = mmap (NULL, self->size, protection, MAP_PRIVATE, self->fd, self->offset);

  self->pages = pages != MAP_FAILED ? pages : NULL;
  return self->pages != NULL;
}

gboolean
mtl_fd_identify (int      fd,
                 guint64 *device,
                 guint64 *inode)
{
  struct stat info;

  if (fcntl (fd, F_GET_SEALS) < 0 || fstat (fd, &info) < 0)
    return FALSE;

  *device = info.st_dev;
  *inode = info.st_ino;
  return TRUE;
}

gboolean
mtl_fd_is_pipe (int fd)
{
  return fcntl (fd, F_GETPIPE_SZ) > 0;
}

static gboolean
identify (MtlSharedPages  *self,
          struct stat     *info,
          GError         **error)
{
  if (fstat (self->fd, info) < 0)
    return mtl_set_system_error (errno, error, "The memory cannot be looked at");

  self->device = info->st_dev;
  self->inode = info->st_ino;
  return TRUE;
}

/* The mapping exists before the seals, and stays writable. */
static gboolean
seal (MtlSharedPages  *self,
      GError         **error)
{
  if (fcntl (self->fd, F_ADD_SEALS,
             F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) == 0)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "Memory cannot be sealed against writes of other processes (%s): this needs Linux"
               " 5.1", g_strerror (errno));
  return FALSE;
}

/* The system would promise more memory than there is, and end the process when it is used. */
static gboolean
check_size (gsize    size,
            GError **error)
{
  guint64 limit = (guint64) sysconf (_SC_PHYS_PAGES) * sysconf (_SC_PAGESIZE);

  if (size <= limit)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_NO_MEMORY,
               "%" G_GSIZE_FORMAT " bytes for other processes exceed the machine's memory of"
               " %" G_GUINT64_FORMAT " bytes", size, limit);
  return FALSE;
}

MtlSharedPages *
mtl_shared_pages_new (gsize    size,
                      GError **error)
{
  g_autoptr (MtlSharedPages) self = NULL;
  struct stat info;
  gsize page_size = sysconf (_SC_PAGESIZE);

  if (!check_size (size, error))
    return NULL;

  self = shared_pages_alloc (-1);
  self->size = (MAX (size, 1) + page_size - 1) / page_size * page_size;
  self->fd = create_file ();
  if (self->fd < 0 || !resize (self->fd, self->size) || !map (self, PROT_READ | PROT_WRITE))
    {
      mtl_set_system_error (errno, error, "%" G_GSIZE_FORMAT " bytes of memory for other processes"
                            " cannot be allocated", size);
      return NULL;
    }

  return seal (self, error) && identify (self, &info, error) ? g_steal_pointer (&self) : NULL;
}

/* Asks for the seals first: only files in memory have them, and other file systems may take their
 * time to answer. */
static gboolean
check_sealed (int       fd,
              gboolean  is_writable,
              GError  **error)
{
  int seals = fcntl (fd, F_GET_SEALS);

  if (seals < 0 || !(seals & F_SEAL_SHRINK))
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NEEDS_COPY,
                   "The file could be truncated while it is in use: its seals are 0x%x, and have to"
                   " have 0x%x", MAX (seals, 0), F_SEAL_SHRINK);
      return FALSE;
    }

  if (is_writable && (seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE)) != 0)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_READ_ONLY,
                   "The file is sealed against writes: its seals are 0x%x", seals);
      return FALSE;
    }

  return TRUE;
}

/* Huge pages can be taken out of a file of the same size. There may be none to take their place,
 * which raises a signal. */
static gboolean
check_pages (int      fd,
             GError **error)
{
  struct statfs info;

  if (fstatfs (fd, &info) < 0)
    return mtl_set_system_error (errno, error, "The file system of a descriptor is not known");

  if (info.f_type == TMPFS_MAGIC)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_NEEDS_COPY,
               "Pages of the file could vanish while it is in use: its file system is 0x%lx, and"
               " has to be 0x%x, without huge pages", (unsigned long) info.f_type, TMPFS_MAGIC);
  return FALSE;
}

static gboolean
check_range (const struct stat  *info,
             guint64             offset,
             gsize               size,
             GError            **error)
{
  guint64 file_size = MAX (info->st_size, 0);

  /* The part of the first page before the offset is added to the size. */
  if (S_ISREG (info->st_mode) && offset <= file_size && size <= file_size - offset
      && size <= G_MAXSSIZE)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_OUT_OF_BOUNDS,
               "%" G_GSIZE_FORMAT " bytes at offset %" G_GUINT64_FORMAT " exceed the file of"
               " %" G_GUINT64_FORMAT " bytes", size, offset, file_size);
  return FALSE;
}

/* Maps what is needed, because a file can be far larger than its memory. */
MtlSharedPages *
mtl_shared_pages_new_take_fd (int        fd,
                              guint64    offset,
                              gsize      size,
                              gboolean   is_writable,
                              GError   **error)
{
  g_autoptr (MtlSharedPages) self = shared_pages_alloc (fd);
  gsize page_size = sysconf (_SC_PAGESIZE);
  struct stat info;

  if (!check_sealed (fd, is_writable, error) || !check_pages (fd, error)
      || !identify (self, &info, error) || !check_range (&info, offset, size, error))
    return NULL;

  self->offset = offset / page_size * page_size;
  self->size = offset - self->offset + size;
  if (!map (self, is_writable ? PROT_READ | PROT_WRITE : PROT_READ))
    {
      mtl_set_system_error (errno, error, "%" G_GSIZE_FORMAT " bytes at offset %" G_GUINT64_FORMAT
                            " of a file in memory cannot be mapped", size, offset);
      return NULL;
    }

  return g_steal_pointer (&self);
}

#else

static gboolean
refuse (GError **error)
{
  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "This system has no memory that is sealed for other processes");
  return FALSE;
}

gboolean
mtl_shared_pages_are_supported (void)
{
  return FALSE;
}

gboolean
mtl_fd_identify (int      fd,
                 guint64 *device,
                 guint64 *inode)
{
  return FALSE;
}

gboolean
mtl_fd_is_pipe (int fd)
{
  return FALSE;
}

MtlSharedPages *
mtl_shared_pages_new (gsize    size,
                      GError **error)
{
  refuse (error);
  return NULL;
}

MtlSharedPages *
mtl_shared_pages_new_take_fd (int        fd,
                              guint64    offset,
                              gsize      size,
                              gboolean   is_writable,
                              GError   **error)
{
  mtl_clear_fd (&fd);
  refuse (error);
  return NULL;
}

#endif
