/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Memory that goes to other processes, and comes from them, as a descriptor. */

#include "mtl-buffer-private.h"

#include <errno.h>
#include <sys/stat.h>

#include "mtl-error.h"
#include "mtl-file-source-private.h"

/**
 * mtl_buffer_dup_fd:
 * @self: a buffer
 * @offset: (out) (optional): return location for the offset of the first byte of
 *   @self in the file, in bytes
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Gets a descriptor by which another process can map the memory.
 *
 * The memory is a file without a name. The size of memory that this library
 * allocated never changes, so that whoever maps it can rely on the pages. This process
 * alone can write to it: others map it read-only, and no right or permission lets them
 * do more. They see what is written later. For memory of
 * [ctor@Mtl.Buffer.new_for_fd], the seals of that file decide.
 *
 * **The descriptor gives access to all of the memory**, also if @self is a slice.
 *
 * Pass the descriptor through a socket, D-Bus or to a child. The other process
 * makes a buffer of it with [ctor@Mtl.Buffer.new_for_fd]. The memory exists
 * until the last process has closed the descriptor and unmapped the memory,
 * however it ends.
 *
 * Errors:
 *
 * - %MTL_ERROR_NOT_SUPPORTED: other processes cannot map the memory, see
 *   [method@Mtl.Buffer.is_interprocess]
 * - a [error@Gio.IOErrorEnum]: the process has no descriptor left
 *
 * Returns: the descriptor, to be closed by the caller, or -1 on error
 *
 * Since: 1.0
 */
int
mtl_buffer_dup_fd (MtlBuffer  *self,
                   guint64    *offset,
                   GError    **error)
{
  MtlSharedPages *pages;
  int fd;

  g_return_val_if_fail (MTL_IS_BUFFER (self), -1);

  pages = mtl_memory_get_shared_pages (self->memory);
  if (pages == NULL)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                   "Other processes cannot map this buffer of %" G_GSIZE_FORMAT " bytes: copy it to"
                   " memory with the storage mode “interprocess”", self->size);
      return -1;
    }

  fd = mtl_dup_fd (pages->fd, error);
  if (fd < 0)
    return -1;

  g_atomic_int_set (&pages->was_given, TRUE);
  if (offset != NULL)
    *offset = mtl_memory_get_offset_in_file (self->memory) + self->offset;
  return fd;
}

static MtlBuffer *
new_mapped (int        fd,
            guint64    offset,
            gsize      size,
            gboolean   is_writable,
            GError   **error)
{
  g_autoptr (MtlSharedPages) pages = NULL;
  int own = mtl_dup_fd (fd, error);

  if (own < 0)
    return NULL;

  pages = mtl_shared_pages_new_take_fd (own, offset, size, is_writable, error);
  if (pages == NULL)
    return NULL;

  return mtl_buffer_new_for_memory (mtl_memory_new_for_pages (pages, offset, size, !is_writable,
                                                              -1, NULL, NULL));
}

static gboolean
check_range (guint64   file_size,
             guint64   offset,
             gsize     size,
             GError  **error)
{
  const MtlFileSource file = { .name = (char *) "the file", .size = file_size };

  return mtl_file_source_check_range (&file, offset, size, error);
}

/* Checks that reading the file does not wait for somebody, and that it has the bytes before memory
 * for them is allocated. */
static gboolean
check_file (int       fd,
            guint64   offset,
            gsize     size,
            GError  **error)
{
  struct stat info;

  if (fstat (fd, &info) < 0)
    return mtl_set_system_error (errno, error, "Descriptor %d cannot be looked at", fd);

  return check_range (S_ISREG (info.st_mode) ? MAX (info.st_size, 0) : 0, offset, size, error);
}

/* The file may have been truncated since it was looked at. */
static gboolean
read_range (int        fd,
            guint64    offset,
            gpointer   bytes,
            gsize      size,
            GError   **error)
{
  gsize n_read;
  int code = mtl_read_at (fd, offset, bytes, size, &n_read);

  if (code != 0)
    return mtl_set_system_error (code, error, "%" G_GSIZE_FORMAT " bytes of descriptor %d"
                                 " cannot be read", size, fd);

  return check_range (offset + n_read, offset, size, error);
}

static MtlBuffer *
new_read (int        fd,
          guint64    offset,
          gsize      size,
          gboolean   read_only,
          GError   **error)
{
  MtlMemory *memory;

  if (!check_file (fd, offset, size, error))
    return NULL;

  memory = mtl_memory_new (NULL, size, MTL_STORAGE_MODE_HOST, FALSE, error);
  if (memory == NULL)
    return NULL;

  if (!read_range (fd, offset, memory->contents, size, error))
    {
      mtl_memory_unref (memory);
      return NULL;
    }

  memory->read_only = read_only;
  return mtl_buffer_new_for_memory (memory);
}

/**
 * mtl_buffer_new_for_fd: (constructor)
 * @fd: a descriptor of a file in memory, as [method@Mtl.Buffer.dup_fd] returns it;
 *   it is duplicated, and stays the caller's
 * @offset: the offset of the range in the file, in bytes; any number is allowed
 * @size: the size of the range in bytes, may be 0
 * @flags: how to use the memory
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Creates a buffer for memory that another process shares.
 *
 * The memory is mapped if that is safe: if the file is sealed against
 * truncation, by `F_SEAL_SHRINK`, and has the range. Without
 * %MTL_BUFFER_FLAGS_READ_ONLY it must not be sealed against writes, either.
 * Otherwise the bytes are read into new memory, unless
 * %MTL_BUFFER_FLAGS_NEVER_COPY forbids it. A peer that is not trusted is
 * given %MTL_BUFFER_FLAGS_READ_ONLY and %MTL_BUFFER_FLAGS_NEVER_COPY.
 *
 * The other process may go on writing to memory that is mapped. Do not rely on a
 * value that was read before: copy what has to stay the same.
 *
 * Errors:
 *
 * - %MTL_ERROR_NEEDS_COPY: with %MTL_BUFFER_FLAGS_NEVER_COPY, the file is not sealed
 *   against truncation
 * - %MTL_ERROR_READ_ONLY: with %MTL_BUFFER_FLAGS_NEVER_COPY and without
 *   %MTL_BUFFER_FLAGS_READ_ONLY, the file is sealed against writes
 * - %MTL_ERROR_OUT_OF_BOUNDS: the range is not within the file, or @fd is not a file
 * - %MTL_ERROR_NO_MEMORY: there is no memory or no room among the addresses
 * - %MTL_ERROR_NOT_SUPPORTED: with %MTL_BUFFER_FLAGS_NEVER_COPY, this system has no
 *   sealed files
 * - a [error@Gio.IOErrorEnum]: @fd cannot be duplicated, mapped or read
 *
 * Returns: (transfer full): the new buffer
 *
 * Since: 1.0
 */
MtlBuffer *
mtl_buffer_new_for_fd (int              fd,
                       guint64          offset,
                       gsize            size,
                       MtlBufferFlags   flags,
                       GError         **error)
{
  gboolean read_only = (flags & MTL_BUFFER_FLAGS_READ_ONLY) != 0;
  gboolean may_copy = (flags & MTL_BUFFER_FLAGS_NEVER_COPY) == 0;
  g_autoptr (GError) local_error = NULL;
  MtlBuffer *self;

  g_return_val_if_fail (fd >= 0, NULL);

  if (size == 0)
    return new_read (fd, offset, size, read_only, error);

  self = new_mapped (fd, offset, size, !read_only, &local_error);
  if (self != NULL)
    return self;

  if (may_copy
      && (g_error_matches (local_error, MTL_ERROR, MTL_ERROR_NEEDS_COPY)
          || g_error_matches (local_error, MTL_ERROR, MTL_ERROR_READ_ONLY)
          || g_error_matches (local_error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED)))
    return new_read (fd, offset, size, read_only, error);

  g_propagate_error (error, g_steal_pointer (&local_error));
  return NULL;
}
