/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "test-gtk-utils.h"

#include "test-screen.h"

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
  guint64 access; /* what has begun */
  int n_starts;
  int n_ends;
  int n_interrupts; /* calls that are to be repeated */
  int failure; /* an errno */
} driver;

static gboolean
is_dmabuf (int fd)
{
  struct stat status;

  return driver.inode != 0 && fstat (fd, &status) == 0 && status.st_ino == driver.inode;
}

static int
fail (int number)
{
  errno = number;
  return -1;
}

/* In place of the C library's. */
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

static int
new_file (gsize size)
{
  int fd = memfd_create ("dmabuf", MFD_CLOEXEC | MFD_ALLOW_SEALING);

  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (ftruncate (fd, size), ==, 0);
  return fd;
}

static int
new_dmabuf (gsize size)
{
  int fd = new_file (size);
  struct stat status;

  g_assert_cmpint (fstat (fd, &status), ==, 0);
  memset (&driver, 0, sizeof driver);
  driver.inode = status.st_ino;
  return fd;
}

/* Each started access has ended. */
static void
assert_ended (int n_starts)
{
  g_assert_cmpint (driver.n_starts, ==, n_starts);
  g_assert_cmpint (driver.n_ends, ==, n_starts);
  g_assert_cmpuint (driver.access, ==, 0);
}

static MtlStridedLayout *
new_layout (const gint64 *shape,
            gsize         n_dims,
            const gint64 *strides,
            gsize         n_strides)
{
  g_autoptr (GError) error = NULL;
  MtlStridedLayout *layout = mtl_strided_layout_new_for_bytes (shape, n_dims, strides, n_strides,
                                                               8, &error);

  g_assert_no_error (error);
  return layout;
}

static void
test_read (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedLayout) layout = new_layout (DIMS (3, 5, 3), DIMS (16, 3, 1));
  g_autoptr (MtlStridedView) view = NULL;
  const gsize size = 10 + 2 * 16 + 15;
  int fd = new_dmabuf (size);

  for (gsize i = 0; i < size; i++)
    g_assert_cmpint (pwrite (fd, &(guint8) { 3 * i }, 1, i), ==, 1);
  view = mtl_gtk_view_from_dmabuf (fd, 10, layout, MTL_DTYPE_UINT8, FALSE, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (driver.access, ==, DMA_BUF_SYNC_READ);
  g_assert_true (mtl_strided_view_is_read_only (view));

  /* The view has a file descriptor of its own. */
  close (fd);
  for (int row = 0; row < 3; row++)
    for (int column = 0; column < 5; column++)
      for (int channel = 0; channel < 3; channel++)
        g_assert_cmpfloat (get_number_at (view, row, column, channel), ==,
                           (guint8) (3 * (10 + 16 * row + 3 * column + channel)));

  g_assert_cmpint (driver.n_ends, ==, 0);
  g_clear_object (&view);
  assert_ended (1);
}

static void
test_write (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedLayout) layout = new_layout (DIMS (4, 4), DIMS (4, 1));
  g_autoptr (MtlStridedView) view = NULL, part = NULL;
  int fd = new_dmabuf (16);
  guint8 byte;

  driver.n_interrupts = 3;
  view = mtl_gtk_view_from_dmabuf (fd, 0, layout, MTL_DTYPE_UINT8, TRUE, &error);
  g_assert_no_error (error);
  g_assert_cmpint (driver.n_interrupts, ==, 0);
  g_assert_cmpuint (driver.access, ==, DMA_BUF_SYNC_RW);
  set_number_at (view, 2, 3, 0, 77);
  g_assert_cmpint (pread (fd, &byte, 1, 11), ==, 1);
  g_assert_cmpint (byte, ==, 77);

  /* The last user of the memory ends the access. */
  part = slice (view, "1:");
  g_clear_object (&view);
  g_assert_cmpint (driver.n_ends, ==, 0);
  driver.n_interrupts = 2;
  g_clear_object (&part);
  assert_ended (1);
  close (fd);
}

static void
test_again (void)
{
  g_autoptr (MtlStridedLayout) layout = new_layout (DIMS (16), DIMS (1));
  int fd = new_dmabuf (16);

  for (int i = 1; i <= 3; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedView) view = mtl_gtk_view_from_dmabuf (fd, 0, layout, MTL_DTYPE_UINT8,
                                                                  i == 2, &error);

      g_assert_no_error (error);
      g_clear_object (&view);
      assert_ended (i);
    }
  close (fd);
}

static void
assert_refused (int               fd,
                gsize             offset,
                MtlStridedLayout *layout,
                MtlDType          dtype,
                gboolean          writable,
                MtlError          code,
                const char       *value)
{
  const int next_fd = dup (0);
  int same_fd;

  close (next_fd);
  assert_fails (mtl_gtk_view_from_dmabuf (fd, offset, layout, dtype, writable, &error), code,
                value);

  /* Nothing remains open. */
  same_fd = dup (0);
  g_assert_cmpint (same_fd, ==, next_fd);
  close (same_fd);
}

static void
test_refused (void)
{
  g_autoptr (MtlStridedLayout) layout = new_layout (DIMS (4, 4), DIMS (4, 1));
  g_autoptr (MtlStridedLayout) empty = new_layout (DIMS (0, 4), DIMS (4, 1));
  int file = new_file (16), pipes[2], fd;

  fd = new_dmabuf (16);
  assert_refused (file, 0, layout, MTL_DTYPE_UINT8, FALSE, MTL_ERROR_INVALID_ARGUMENT,
                  "not that of a DMA-BUF");
  g_assert_cmpint (pipe (pipes), ==, 0);
  assert_refused (pipes[0], 0, layout, MTL_DTYPE_UINT8, FALSE, MTL_ERROR_INVALID_ARGUMENT,
                  "not that of a DMA-BUF");
  assert_refused (-1, 0, layout, MTL_DTYPE_UINT8, FALSE, MTL_ERROR_INVALID_ARGUMENT, "-1");
  assert_refused (fd, 1, layout, MTL_DTYPE_UINT8, FALSE, MTL_ERROR_OUT_OF_BOUNDS,
                  "needs 16 bytes from 1 on; the DMA-BUF has 16");
  assert_refused (fd, G_MAXSIZE, layout, MTL_DTYPE_UINT8, FALSE, MTL_ERROR_OUT_OF_BOUNDS, "has 16");
  assert_refused (fd, 0, empty, MTL_DTYPE_UINT8, FALSE, MTL_ERROR_INVALID_ARGUMENT, "empty");
  assert_ended (0);

  /* The layout is not of such elements, which shows only then. */
  assert_refused (fd, 0, layout, MTL_DTYPE_FLOAT32, FALSE, MTL_ERROR_INVALID_ARGUMENT, "32");
  assert_ended (1);

  driver.failure = EIO;
  assert_refused (fd, 0, layout, MTL_DTYPE_UINT8, FALSE, MTL_ERROR_DEVICE,
                  g_strerror (EIO));
  driver.failure = 0;

  g_assert_cmpint (fcntl (fd, F_ADD_SEALS, F_SEAL_WRITE), ==, 0);
  assert_refused (fd, 0, layout, MTL_DTYPE_UINT8, TRUE, MTL_ERROR_READ_ONLY, "for writing");
  assert_ended (1);

  close (pipes[0]);
  close (pipes[1]);
  close (file);
  close (fd);
}

static gboolean has_screen;

static GdkTexture *
get_dmabuf_texture (int                  fd,
                    gsize                offset,
                    MtlStridedLayout    *layout,
                    guint32              fourcc,
                    MtlGtkTextureFlags   flags,
                    GError             **error)
{
  return mtl_gtk_texture_from_dmabuf (gdk_display_get_default (), fd, offset, layout, fourcc, flags,
                                      error);
}

#define FOURCC(a, b, c, d) ((guint32) (a) | (b) << 8 | (c) << 16 | (guint32) (d) << 24)
#define XRGB8888 FOURCC ('X', 'R', '2', '4')
#define ARGB8888 FOURCC ('A', 'R', '2', '4')

#if GTK_CHECK_VERSION (4, 14, 0)

static void
assert_no_texture (int                fd,
                   gsize              offset,
                   MtlStridedLayout  *layout,
                   guint32            fourcc,
                   MtlError           code,
                   const char        *value)
{
  const int next_fd = dup (0);
  int same_fd;

  close (next_fd);
  assert_fails (get_dmabuf_texture (fd, offset, layout, fourcc, 0, &error), code, value);

  same_fd = dup (0);
  g_assert_cmpint (same_fd, ==, next_fd);
  close (same_fd);
}

/* Rows of 20 bytes, of which the last 3 pixels have 12, from byte 4 on. */
static void
test_texture (void)
{
  g_autoptr (MtlStridedLayout) rows = new_layout (DIMS (2, 4, 4), DIMS (20, 4, 1));
  g_autoptr (MtlStridedLayout) layout = mtl_strided_layout_narrow (rows, 1, 1, 4, 1, NULL);
  const gsize size = 4 + 20 + 12 + 8;

  if (!has_screen)
    {
      g_test_skip ("there is no Xvfb");
      return;
    }

  for (int premultiplied = 0; premultiplied <= 1; premultiplied++)
    {
      g_autoptr (GError) failure = NULL;
      g_autoptr (GdkTexture) texture = NULL;
      int fd = new_dmabuf (size);
      const int next_fd = dup (0);
      guint8 bytes[44], pixels[24];
      int same_fd;

      close (next_fd);
      for (gsize i = 0; i < size; i++)
        bytes[i] = i % 4 == 3 ? 255 : 5 * i;
      g_assert_cmpint (pwrite (fd, bytes, size, 0), ==, size);
      texture = get_dmabuf_texture (fd, 0, layout, ARGB8888,
                                    premultiplied ? MTL_GTK_TEXTURE_FLAGS_PREMULTIPLIED : 0,
                                    &failure);
      g_assert_no_error (failure);
      g_assert_true (GDK_IS_DMABUF_TEXTURE (texture));
      g_assert_cmpint (gdk_texture_get_width (texture), ==, 3);
      g_assert_cmpint (gdk_texture_get_height (texture), ==, 2);
      g_assert_cmpint (gdk_texture_get_format (texture), ==,
                       premultiplied ? GDK_MEMORY_B8G8R8A8_PREMULTIPLIED : GDK_MEMORY_B8G8R8A8);

      /* The texture has a file descriptor of its own. */
      close (fd);
      gdk_texture_download (texture, pixels, 12);
      for (int row = 0; row < 2; row++)
        g_assert_cmpmem (pixels + 12 * row, 12, bytes + 4 + 20 * row, 12);
      g_assert_cmpuint (driver.access, ==, 0);
      assert_fails (mtl_gtk_view_from_texture (texture, &error), MTL_ERROR_NEEDS_COPY,
                    "GdkDmabufTexture");

      g_clear_object (&texture);
      same_fd = dup (0);
      g_assert_cmpint (same_fd, ==, fd);
      close (same_fd);
    }
}

static void
test_texture_refused (void)
{
  static const struct
  {
    gint64 shape[3];
    gint64 strides[3];
  } gaps[] = {
    { { 2, 3, 4 }, { 20, 4, 2 } }, { { 2, 3, 3 }, { 20, 4, 1 } }, { { 2, 3, 4 }, { 8, 4, 1 } },
    { { 2, 3, 4 }, { 12, 0, 1 } },
  };
  const gint64 many = (gint64) G_MAXINT + 1;
  g_autoptr (MtlStridedLayout) layout = new_layout (DIMS (2, 3, 4), DIMS (20, 4, 1));
  g_autoptr (MtlStridedLayout) line = new_layout (DIMS (4), DIMS (1));
  g_autoptr (MtlStridedLayout) empty = new_layout (DIMS (2, 0, 4), DIMS (20, 4, 1));
  g_autoptr (MtlStridedLayout) tall = new_layout (DIMS (many, 3, 4), DIMS (0, 4, 1));
  g_autoptr (GError) unsupported = NULL;
  int fd = new_dmabuf (64), file = new_file (0), large = new_file (2 * many + 64);
  int next_fd, same_fd;

  if (!has_screen)
    {
      g_test_skip ("there is no Xvfb");
      return;
    }

  assert_no_texture (fd, 0, layout, 0, MTL_ERROR_INVALID_ARGUMENT, "is 0");
  assert_no_texture (-1, 0, layout, XRGB8888, MTL_ERROR_INVALID_ARGUMENT, "-1");
  assert_no_texture (fd, 0, line, XRGB8888, MTL_ERROR_INVALID_ARGUMENT, "1 dimension;");
  assert_no_texture (fd, 0, empty, XRGB8888, MTL_ERROR_INVALID_ARGUMENT, "empty");
  assert_no_texture (fd, 0, tall, XRGB8888, MTL_ERROR_OVERFLOW, "2147483648 rows");
  if (sizeof (gsize) > 4)
    assert_no_texture (large, 2 * many, layout, XRGB8888, MTL_ERROR_OVERFLOW,
                       "byte 4294967296");
  assert_no_texture (fd, 40, layout, XRGB8888, MTL_ERROR_OUT_OF_BOUNDS,
                     "needs 32 bytes from 40 on");
  assert_no_texture (file, 0, layout, XRGB8888, MTL_ERROR_OUT_OF_BOUNDS, "has 0");
  for (gsize i = 0; i < G_N_ELEMENTS (gaps); i++)
    {
      g_autoptr (MtlStridedLayout) other = new_layout (gaps[i].shape, 3, gaps[i].strides, 3);

      assert_no_texture (fd, 0, other, XRGB8888, MTL_ERROR_NEEDS_COPY, "from top to bottom");
    }

  /* What GTK has against it. */
  next_fd = dup (0);
  close (next_fd);
  g_assert_null (get_dmabuf_texture (fd, 0, layout, FOURCC ('?', '?', '?', '?'), 0, &unsupported));
  g_assert_error (unsupported, GDK_DMABUF_ERROR, GDK_DMABUF_ERROR_UNSUPPORTED_FORMAT);
  g_test_message ("%s", unsupported->message);
  same_fd = dup (0);
  g_assert_cmpint (same_fd, ==, next_fd);
  close (same_fd);

  assert_ended (0);
  close (fd);
  close (file);
  close (large);
}

#else

static void
test_texture_refused (void)
{
  g_autoptr (MtlStridedLayout) layout = new_layout (DIMS (2, 3, 4), DIMS (20, 4, 1));
  int fd = new_dmabuf (64);

  if (!has_screen)
    {
      g_test_skip ("there is no Xvfb");
      return;
    }

  assert_fails (get_dmabuf_texture (fd, 0, layout, XRGB8888, 0, &error), MTL_ERROR_NOT_SUPPORTED,
                "GTK 4.14");
  close (fd);
}

#endif

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  has_screen = start_screen ();

  g_test_add_func ("/Dmabuf/read", test_read);
  g_test_add_func ("/Dmabuf/write", test_write);
  g_test_add_func ("/Dmabuf/again", test_again);
  g_test_add_func ("/Dmabuf/refused", test_refused);
#if GTK_CHECK_VERSION (4, 14, 0)
  g_test_add_func ("/Dmabuf/texture", test_texture);
#endif
  g_test_add_func ("/Dmabuf/texture-refused", test_texture_refused);

  return g_test_run ();
}
