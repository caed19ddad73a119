/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "test-gtk-utils.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* A file in memory stands for a DMA-BUF. It is strict about when the CPU may have
 * access, but has no driver that could do anything about it. */
static struct
{
  ino_t inode; /* 0: there is none */
  guint64 access; /* the access that has begun */
  int n_starts;
  int n_ends;
  int n_interrupts; /* calls that are to be repeated */
  int failure; /* an errno */
} driver;

static inline gboolean
is_dmabuf (int fd)
{
  struct stat status;

  return driver.inode != 0 && fstat (fd, &status) == 0 && status.st_ino == driver.inode;
}

static inline int
fail (int number)
{
  errno = number;
  return -1;
}

/* Replaces the C library's function. */
int
ioctl (int           fd,
       unsigned long request,
       ...)
{
  const struct dma_buf_sync *sync;
  va_list arguments;
  guint64 access;
  void *data;

  va_start (arguments, request);
  data = va_arg (arguments, void *);
  va_end (arguments);
  if (request != DMA_BUF_IOCTL_SYNC || !is_dmabuf (fd))
    return syscall (SYS_ioctl, fd, request, data);

  if (driver.n_interrupts > 0)
    return fail (driver.n_interrupts-- % 2 == 0 ? EINTR : EAGAIN);

  if (driver.failure != 0)
    return fail (driver.failure);

  sync = data;
  access = sync->flags & DMA_BUF_SYNC_RW;
  g_assert_cmpuint (sync->flags & ~(guint64) DMA_BUF_SYNC_VALID_FLAGS_MASK, ==, 0);
  g_assert_cmpuint (access, !=, 0);
  g_assert_true (fcntl (fd, F_GETFD) & FD_CLOEXEC);
  if (sync->flags & DMA_BUF_SYNC_END)
    {
      g_assert_cmpuint (access, ==, driver.access);
      driver.access = 0;
      driver.n_ends++;
    }
  else
    {
      g_assert_cmpuint (driver.access, ==, 0);
      driver.access = access;
      driver.n_starts++;
    }
  return 0;
}

static inline int
new_file (gsize size)
{
  int fd = memfd_create ("dmabuf", MFD_CLOEXEC | MFD_ALLOW_SEALING);

  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (ftruncate (fd, size), ==, 0);
  return fd;
}

static inline int
new_dmabuf (gsize size)
{
  int fd = new_file (size);
  struct stat status;

  g_assert_cmpint (fstat (fd, &status), ==, 0);
  memset (&driver, 0, sizeof driver);
  driver.inode = status.st_ino;
  return fd;
}

/* Counts the file descriptors that lead to the DMA-BUF. GTK may open others meanwhile. */
static inline int
count_dmabuf_fds (void)
{
  int n = 0;

  for (int fd = 0; fd < 1024; fd++)
    n += is_dmabuf (fd);
  return n;
}

/* Each started access has ended. */
static inline void
assert_ended (int n_starts)
{
  g_assert_cmpint (driver.n_starts, ==, n_starts);
  g_assert_cmpint (driver.n_ends, ==, n_starts);
  g_assert_cmpuint (driver.access, ==, 0);
}

static inline MtlStridedLayout *
new_layout (const gint64 *shape,
            gsize         n_dims,
            const gint64 *strides,
            gsize         n_strides)
{
  g_autoptr (GError) error = NULL;
  MtlStridedLayout *layout =
    mtl_strided_layout_new_with_byte_strides (shape, n_dims, strides, n_strides, 8, &error);

  g_assert_no_error (error);
  return layout;
}
