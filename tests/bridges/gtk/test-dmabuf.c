/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "test-dmabuf-driver.h"

#define READ_ONLY MTL_BUFFER_FLAGS_READ_ONLY

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
  view = mtl_gtk_view_from_dmabuf (fd, 10, layout, MTL_DTYPE_UINT8, READ_ONLY, &error);
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
  view = mtl_gtk_view_from_dmabuf (fd, 0, layout, MTL_DTYPE_UINT8, MTL_BUFFER_FLAGS_NONE, &error);
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
                                                                  i == 2 ? MTL_BUFFER_FLAGS_NONE
                                                                         : READ_ONLY,
                                                                  &error);

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
                MtlBufferFlags    flags,
                MtlError          code,
                const char       *value)
{
  const int next_fd = dup (0);
  int same_fd;

  close (next_fd);
  assert_fails (mtl_gtk_view_from_dmabuf (fd, offset, layout, dtype, flags, &error), code,
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
  assert_refused (file, 0, layout, MTL_DTYPE_UINT8, READ_ONLY, MTL_ERROR_INVALID_ARGUMENT,
                  "DMA-BUF");
  g_assert_cmpint (pipe (pipes), ==, 0);
  assert_refused (pipes[0], 0, layout, MTL_DTYPE_UINT8, READ_ONLY, MTL_ERROR_INVALID_ARGUMENT,
                  "DMA-BUF");
  assert_refused (-1, 0, layout, MTL_DTYPE_UINT8, READ_ONLY, MTL_ERROR_INVALID_ARGUMENT, "-1");
  assert_refused (fd, 1, layout, MTL_DTYPE_UINT8, READ_ONLY, MTL_ERROR_OUT_OF_BOUNDS,
                  "16 & 1 & DMA-BUF");
  assert_refused (fd, G_MAXSIZE, layout, MTL_DTYPE_UINT8, READ_ONLY, MTL_ERROR_OUT_OF_BOUNDS, "16");
  assert_refused (fd, 0, empty, MTL_DTYPE_UINT8, READ_ONLY, MTL_ERROR_INVALID_ARGUMENT, "1");
  assert_ended (0);

  /* The layout is not of such elements, which shows only then. */
  assert_refused (fd, 0, layout, MTL_DTYPE_FLOAT32, READ_ONLY, MTL_ERROR_INVALID_ARGUMENT, "32");
  assert_ended (1);

  driver.failure = EIO;
  assert_refused (fd, 0, layout, MTL_DTYPE_UINT8, READ_ONLY, MTL_ERROR_DEVICE,
                  g_strerror (EIO));
  driver.failure = 0;

  g_assert_cmpint (fcntl (fd, F_ADD_SEALS, F_SEAL_WRITE), ==, 0);
  assert_refused (fd, 0, layout, MTL_DTYPE_UINT8, MTL_BUFFER_FLAGS_NONE, MTL_ERROR_READ_ONLY, "");
  assert_ended (1);

  close (pipes[0]);
  close (pipes[1]);
  close (file);
  close (fd);
}

static void
assert_position (int   fd,
                 off_t position)
{
  g_assert_cmpint (lseek (fd, 0, SEEK_CUR), ==, position);
}

/* The duplicate shares the position with the caller's file descriptor. */
static void
test_position (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedLayout) layout = new_layout (DIMS (4, 4), DIMS (4, 1));
  g_autoptr (MtlStridedView) view = NULL;
  int file = new_file (4096), fd = new_dmabuf (4096);

  g_assert_cmpint (lseek (file, 10, SEEK_SET), ==, 10);
  assert_refused (file, 0, layout, MTL_DTYPE_UINT8, READ_ONLY, MTL_ERROR_INVALID_ARGUMENT,
                  "DMA-BUF");
  assert_position (file, 10);

  g_assert_cmpint (lseek (fd, 5000, SEEK_SET), ==, 5000);
  assert_refused (fd, 4090, layout, MTL_DTYPE_UINT8, READ_ONLY, MTL_ERROR_OUT_OF_BOUNDS, "4096");
  assert_position (fd, 5000);
  view = mtl_gtk_view_from_dmabuf (fd, 0, layout, MTL_DTYPE_UINT8, READ_ONLY, &error);
  g_assert_no_error (error);
  assert_position (fd, 5000);

  close (file);
  close (fd);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/Dmabuf/read", test_read);
  g_test_add_func ("/Dmabuf/write", test_write);
  g_test_add_func ("/Dmabuf/again", test_again);
  g_test_add_func ("/Dmabuf/refused", test_refused);
  g_test_add_func ("/Dmabuf/position", test_position);

  return g_test_run ();
}
