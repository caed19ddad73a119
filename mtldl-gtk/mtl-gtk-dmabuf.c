/* SPDX-License-Identifier: LGPL-2.1-or-later */

#define _DEFAULT_SOURCE /* for F_DUPFD_CLOEXEC */

#include "config.h"

#include "mtl-gtk-dmabuf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct
{
  int fd;
  gpointer data;
  gsize size;
  guint64 access; /* DMA_BUF_SYNC_READ or DMA_BUF_SYNC_RW; 0: it has not begun */
} Dmabuf;

/* Returns 0, or what went wrong. */
static int
synchronize (int     fd,
             guint64 flags)
{
  struct dma_buf_sync sync = { .flags = flags };
  int result;

  do
    result = ioctl (fd, DMA_BUF_IOCTL_SYNC, &sync);
  while (result < 0 && (errno == EINTR || errno == EAGAIN));

  return result < 0 ? errno : 0;
}

static void
dmabuf_free (gpointer data)
{
  Dmabuf *self = data;

  if (self->access != 0)
    synchronize (self->fd, DMA_BUF_SYNC_END | self->access);
  if (self->data != MAP_FAILED)
    munmap (self->data, self->size);
  if (self->fd >= 0)
    close (self->fd);
  g_free (self);
}

static gboolean
find_size (Dmabuf            *self,
           gsize              offset,
           MtlStridedLayout  *layout,
           GError           **error)
{
  const gint64 needed = mtl_strided_layout_get_required_size (layout, error);
  const off_t size = lseek (self->fd, 0, SEEK_END);

  if (needed < 0)
    return FALSE;

  if (size < 0)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "The file descriptor is not that of a DMA-BUF: %s", g_strerror (errno));
      return FALSE;
    }

  if (needed == 0)
    {
      g_set_error_literal (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                           "The layout is empty: there is nothing to map");
      return FALSE;
    }

  if (offset > (guint64) size || (guint64) needed > size - offset)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_OUT_OF_BOUNDS,
                   "The layout needs %" G_GINT64_FORMAT " bytes from %" G_GSIZE_FORMAT " on; the"
                   " DMA-BUF has %" G_GINT64_FORMAT, needed, offset, (gint64) size);
      return FALSE;
    }

  self->size = offset + needed;
  return TRUE;
}

static gboolean
map (Dmabuf    *self,
     gboolean   writable,
     GError   **error)
{
  const guint64 access = writable ? DMA_BUF_SYNC_RW : DMA_BUF_SYNC_READ;
  int problem;

  self->data = mmap (NULL, self->size, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED,
                     self->fd, 0);
  if (self->data == MAP_FAILED)
    {
      const gboolean is_read_only = writable && (errno == EACCES || errno == EPERM);

      g_set_error (error, MTL_ERROR, is_read_only ? MTL_ERROR_READ_ONLY : MTL_ERROR_DEVICE,
                   "The DMA-BUF cannot be mapped for %s: %s", writable ? "writing" : "reading",
                   g_strerror (errno));
      return FALSE;
    }

  problem = synchronize (self->fd, DMA_BUF_SYNC_START | access);
  if (problem == 0)
    {
      self->access = access;
      return TRUE;
    }

  if (problem == ENOTTY || problem == EINVAL)
    g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                 "The file descriptor is not that of a DMA-BUF: %s", g_strerror (problem));
  else
    g_set_error (error, MTL_ERROR, MTL_ERROR_DEVICE,
                 "The DMA-BUF does not become accessible: %s", g_strerror (problem));
  return FALSE;
}

/**
 * mtl_gtk_view_from_dmabuf:
 * @fd: the file descriptor of a DMA-BUF, which the function duplicates
 * @offset: where the elements begin, in bytes
 * @layout: how the elements lie from there on
 * @dtype: the element type
 * @writable: whether to write to the elements
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a view of a DMA-BUF of Linux, as cameras and video decoders have them,
 * without a copy.
 *
 * The memory is mapped, and the access of the CPU begins. It ends with the last
 * user of the view's memory: end the view before a device uses the DMA-BUF
 * again, and create a new view afterwards.
 *
 * The layout is for linear memory only. DMA-BUFs of GPUs are often tiled, which
 * their format modifier tells.
 *
 * ```c
 * g_autoptr (MtlStridedLayout) layout =
 *   mtl_strided_layout_new_for_bytes (shape, 3, byte_strides, 3, 8, &error);
 * g_autoptr (MtlStridedView) view =
 *   mtl_gtk_view_from_dmabuf (fd, 0, layout, MTL_DTYPE_UINT8, FALSE, &error);
 * ```
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: @fd is not that of a DMA-BUF, or @layout is
 *   empty or not for elements of @dtype
 * - %MTL_ERROR_OUT_OF_BOUNDS: the DMA-BUF is smaller than needed
 * - %MTL_ERROR_READ_ONLY: writing is not allowed
 * - %MTL_ERROR_DEVICE: the driver cannot map the memory or make it accessible
 *
 * Returns: (transfer full): the view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_gtk_view_from_dmabuf (int                fd,
                          gsize              offset,
                          MtlStridedLayout  *layout,
                          MtlDType           dtype,
                          gboolean           writable,
                          GError           **error)
{
  g_autoptr (MtlBuffer) buffer = NULL;
  Dmabuf *self;

  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (layout), NULL);

  self = g_new (Dmabuf, 1);
  *self = (Dmabuf) { fcntl (fd, F_DUPFD_CLOEXEC, 0), MAP_FAILED, 0, 0 };
  if (self->fd < 0)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "The file descriptor %d cannot be duplicated: %s", fd, g_strerror (errno));
      dmabuf_free (self);
      return NULL;
    }

  if (!find_size (self, offset, layout, error) || !map (self, writable, error))
    {
      dmabuf_free (self);
      return NULL;
    }

  buffer = mtl_buffer_new_for_data (NULL, self->data, self->size,
                                    writable ? MTL_BUFFER_FLAGS_NONE : MTL_BUFFER_FLAGS_READ_ONLY,
                                    self, dmabuf_free, error);
  return buffer != NULL ? mtl_strided_view_new (buffer, layout, dtype, offset, error) : NULL;
}
