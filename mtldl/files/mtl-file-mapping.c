/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-file-mapping-private.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mtl-error.h"

/* The page size of GPUs that use pages in place. The system's pages may be larger. */
#define MIN_PAGE_SIZE 16384

/* Processors map this much at once if memory and file have the same offset within it.
 * On Linux 6.18, reading such pages is twice as fast. */
#define HUGE_PAGE_SIZE ((gsize) 2 * 1024 * 1024)

static gsize
get_page_size (void)
{
  return MAX (sysconf (_SC_PAGESIZE), MIN_PAGE_SIZE);
}

/* Reserves zero pages, which use no memory. Modulo the alignment, their address is
 * the position. Returns NULL and sets errno on error. */
static guint8 *
reserve (gsize   size,
         gsize   alignment,
         guint64 position)
{
  guint8 *all = mmap (NULL, size + alignment, PROT_READ, MAP_PRIVATE | MAP_ANON | MAP_NORESERVE,
                      -1, 0);
  gsize before;

  if (all == MAP_FAILED)
    return NULL;

  before = (position - (guintptr) all) % alignment;
  if (before > 0)
    munmap (all, before);
  munmap (all + before + size, alignment - before);
  return all + before;
}

/* Only the range itself is mapped, not the rest of the last page: reading a page that
 * lies entirely after the end of the file raises a signal. */
static gboolean
map (MtlFileMapping       *self,
     const MtlFileSource  *source,
     GError              **error)
{
  gsize page_size = get_page_size ();

  self->pages_size = (self->begin + self->size + page_size - 1) / page_size * page_size;
  self->pages = reserve (self->pages_size,
                         self->pages_size < HUGE_PAGE_SIZE ? page_size : HUGE_PAGE_SIZE,
                         self->pages_offset);
  if (self->pages == NULL
      || mmap (self->pages, self->begin + self->size, PROT_READ, MAP_SHARED | MAP_FIXED,
               source->fd, self->pages_offset) == MAP_FAILED)
    return mtl_set_system_error (errno, error, "%" G_GSIZE_FORMAT " bytes of %s cannot be mapped",
                                 self->size, self->name);

  return TRUE;
}

static gboolean
check_address_range (const MtlFileSource  *source,
                     gsize                 size,
                     GError              **error)
{
  if (size <= G_MAXSSIZE - 2 * get_page_size () - HUGE_PAGE_SIZE)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_OVERFLOW,
               "%" G_GSIZE_FORMAT " bytes of %s are more than can be mapped",
               size, source->name);
  return FALSE;
}

/* The range must not be empty. The file must be unchanged since it was opened. */
MtlFileMapping *
mtl_file_mapping_new (const MtlFileSource  *source,
                      guint64               offset,
                      gsize                 size,
                      GError              **error)
{
  g_autoptr (MtlFileMapping) self = NULL;

  if (!mtl_file_source_check_range (source, offset, size, error)
      || !check_address_range (source, size, error)
      || !mtl_file_source_check_unchanged (source, error))
    return NULL;

  self = g_new0 (MtlFileMapping, 1);
  self->path = g_strdup (source->path);
  self->name = g_strdup (source->name);
  self->begin = offset % get_page_size ();
  self->size = size;
  self->pages_offset = offset - self->begin;
  self->file_size = source->size;
  self->modified_s = source->modified_s;
  self->modified_ns = source->modified_ns;
  return map (self, source, error) ? g_steal_pointer (&self) : NULL;
}

void
mtl_file_mapping_free (MtlFileMapping *self)
{
  if (self->pages != NULL)
    munmap (self->pages, self->pages_size);
  g_free (self->path);
  g_free (self->name);
  g_free (self);
}

static int
advise (gconstpointer bytes,
        gsize         size,
        int           advice)
{
  guintptr page_size = sysconf (_SC_PAGESIZE);
  guintptr begin = (guintptr) bytes / page_size * page_size;
  int result;

  do
    result = madvise ((gpointer) begin, (guintptr) bytes + size - begin, advice);
  while (result < 0 && errno == EINTR);

  return result;
}

gboolean
mtl_mapped_bytes_prefetch (gconstpointer   bytes,
                           gsize           size,
                           GError        **error)
{
  if (advise (bytes, size, MADV_WILLNEED) == 0)
    return TRUE;

  return mtl_set_system_error (errno, error, "%" G_GSIZE_FORMAT " bytes cannot be read ahead",
                               size);
}

gboolean
mtl_file_mapping_populate (MtlFileMapping  *self,
                           gsize            offset,
                           gsize            size,
                           GError         **error)
{
#ifdef MADV_POPULATE_READ
  if (advise (self->pages + self->begin + offset, size, MADV_POPULATE_READ) == 0)
    return TRUE;

  if (errno == EFAULT)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
                   "%s was truncated while it was in use: a page between bytes %" G_GSIZE_FORMAT
                   " and %" G_GSIZE_FORMAT " of the mapping is missing",
                   self->name, offset, offset + size);
      return FALSE;
    }
  if (errno != EINVAL)
    return mtl_set_file_error (self->name, "read", errno, error);
#endif

  return TRUE;
}
