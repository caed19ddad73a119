/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Memory that other processes map. */

#include "processes.h"

typedef unsigned __int128 Wide;

static MtlBuffer *
new_shared (gsize size)
{
  return new_buffer (NULL, size, MTL_STORAGE_MODE_INTERPROCESS);
}

static int
dup_fd (MtlBuffer *buffer,
        guint64   *offset)
{
  g_autoptr (GError) error = NULL;
  int fd = mtl_buffer_dup_fd (buffer, offset, &error);

  g_assert_no_error (error);
  g_assert_cmpint (fcntl (fd, F_GETFD), ==, FD_CLOEXEC);
  return fd;
}

static MtlBuffer *
new_for_fd (int            fd,
            guint64        offset,
            gsize          size,
            MtlBufferFlags flags)
{
  g_autoptr (GError) error = NULL;
  MtlBuffer *buffer = mtl_buffer_new_for_fd (fd, offset, size, flags, &error);

  g_assert_no_error (error);
  return buffer;
}

#define TRUSTS_NOTHING (MTL_BUFFER_FLAGS_READ_ONLY | MTL_BUFFER_FLAGS_NEVER_COPY)

static void
test_request (void)
{
  const gsize sizes[] = { 0, 1, 63, 4095, 4096, 4097, 1 << 20 };
  g_autoptr (MtlBuffer) plain = new_buffer (mtl_device_get_host (), 8, MTL_STORAGE_MODE_HOST);
  guint n_fds = count_fds ();

  g_assert_true (mtl_device_supports_storage_mode (mtl_device_get_host (),
                                                   MTL_STORAGE_MODE_INTERPROCESS));
  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      gsize before = mtl_get_allocated_size ();
      g_autoptr (MtlBuffer) buffer = new_shared (sizes[i]);
      guint8 *bytes = mtl_buffer_get_contents (buffer);

      g_assert_cmpuint (mtl_buffer_get_size (buffer), ==, sizes[i]);
      g_assert_cmpint (mtl_buffer_get_storage_mode (buffer), ==, MTL_STORAGE_MODE_HOST);
      g_assert_true (mtl_buffer_get_device (buffer) == mtl_device_get_host ());
      g_assert_false (mtl_buffer_is_read_only (buffer));
      g_assert_true (mtl_buffer_is_interprocess (buffer));
      assert_property (buffer, "interprocess", gboolean, mtl_buffer_is_interprocess);
      g_assert_cmpuint (mtl_get_allocated_size () - before, ==, sizes[i]);
      g_assert_cmpuint ((guintptr) bytes % 64, ==, 0);
      for (gsize k = 0; k < sizes[i]; k++)
        g_assert_cmpint (bytes[k], ==, 0);
      memset (bytes, 1, sizes[i]);
      g_assert_cmpuint (count_fds (), ==, n_fds + 1);
    }

  g_assert_cmpuint (count_fds (), ==, n_fds);
  g_assert_cmpuint (count_mappings (), ==, 0);
  g_assert_false (mtl_buffer_is_interprocess (plain));
  GError *error = NULL;
  g_assert_cmpint (mtl_buffer_dup_fd (plain, NULL, &error), ==, -1);
  assert_failed (error, MTL_ERROR_NOT_SUPPORTED, "8 & interprocess");
}

static void
test_too_large (void)
{
  guint64 limit = (guint64) sysconf (_SC_PHYS_PAGES) * sysconf (_SC_PAGESIZE);
  g_autofree char *values = g_strdup_printf ("%" G_GUINT64_FORMAT " & %" G_GUINT64_FORMAT,
                                             limit + 1, limit);

  assert_fails (mtl_buffer_new (NULL, limit + 1, MTL_STORAGE_MODE_INTERPROCESS, &error),
                MTL_ERROR_NO_MEMORY, values);
  assert_fails (mtl_buffer_new (NULL, G_MAXSIZE, MTL_STORAGE_MODE_INTERPROCESS, &error),
                MTL_ERROR_NO_MEMORY, "18446744073709551615");
}

/* Nobody but the owner can change the memory, and nobody its size. */
static void
test_seals (void)
{
  const gsize size = 3 * 4096;
  g_autoptr (MtlBuffer) buffer = new_shared (size);
  guint8 *bytes = mtl_buffer_get_contents (buffer);
  g_autofree char *path = NULL;
  guint64 offset;
  int fd = dup_fd (buffer, &offset);
  int again;
  guint8 *map;

  g_assert_cmpuint (offset, ==, 0);
  g_assert_cmpint (fcntl (fd, F_GET_SEALS) & ~0x20 /* F_SEAL_EXEC */, ==,
                   F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE);
  path = g_strdup_printf ("/proc/self/fd/%d", fd);
  again = open (path, O_RDWR | O_CLOEXEC);
  for (int i = 0; i < 2; i++)
    {
      int each = i == 0 ? fd : again;

      g_assert_true (mmap (NULL, size, PROT_WRITE, MAP_SHARED, each, 0) == MAP_FAILED);
      g_assert_cmpint (write (each, "x", 1), ==, -1);
      g_assert_cmpint (errno, ==, EPERM);
      g_assert_cmpint (ftruncate (each, 0), ==, -1);
      g_assert_cmpint (ftruncate (each, 2 * size), ==, -1);
      g_assert_cmpint (fcntl (each, F_ADD_SEALS, F_SEAL_WRITE), ==, -1);
      g_assert_cmpint (fallocate (each, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096), ==,
                       -1);
    }

  map = mmap (NULL, size, PROT_READ, MAP_SHARED, fd, 0);
  g_assert_true (map != MAP_FAILED);
  g_assert_cmpint (mprotect (map, size, PROT_READ | PROT_WRITE), ==, -1);
  if (!is_emulated ())
    g_assert_cmpint (madvise (map, 4096, MADV_REMOVE), ==, -1);

  /* The owner goes on. */
  bytes[size - 1] = 42;
  g_assert_cmpint (map[size - 1], ==, 42);
  munmap (map, size);
  close (fd);
  close (again);
}

static void
test_round_trip (void)
{
  guint n_fds = count_fds ();
  g_autoptr (MtlBuffer) buffer = new_shared (10000);
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlBuffer) part = mtl_buffer_slice (buffer, 5001, 2000, &error);
  g_autoptr (MtlBuffer) other = NULL;
  g_autoptr (MtlBuffer) third = NULL;
  guint8 *bytes = mtl_buffer_get_contents (part);
  guint64 offset;
  int fd = dup_fd (part, &offset);
  g_autoptr (GBytes) written = g_bytes_new_static ("x", 1);
  GError *refusal = NULL;

  g_assert_cmpuint (offset, ==, 5001);
  memset (bytes, 1, 2000);
  other = new_for_fd (fd, offset, 2000, TRUSTS_NOTHING);
  close (fd);
  g_assert_cmpuint (mtl_buffer_get_size (other), ==, 2000);
  g_assert_true (mtl_buffer_is_read_only (other));
  g_assert_true (mtl_buffer_is_interprocess (other));
  g_assert_true (mtl_buffer_get_contents (other) != (gpointer) bytes);
  bytes[1999] = 7;
  g_assert_cmpint (((guint8 *) mtl_buffer_get_contents (other))[1999], ==, 7);
  g_assert_false (mtl_buffer_set_bytes (other, 0, written, NULL, &refusal));
  assert_failed (refusal, MTL_ERROR_READ_ONLY, "2000");

  /* The receiver can hand it on. */
  fd = dup_fd (other, &offset);
  g_assert_cmpuint (offset, ==, 5001);
  third = new_for_fd (fd, offset + 1998, 2, TRUSTS_NOTHING);
  close (fd);
  g_clear_object (&buffer);
  g_clear_object (&part);
  g_clear_object (&other);
  g_assert_cmpint (((guint8 *) mtl_buffer_get_contents (third))[1], ==, 7);
  g_clear_object (&third);
  g_assert_cmpuint (count_fds (), ==, n_fds);
  g_assert_cmpuint (count_mappings (), ==, 0);
}

/* All offsets and sizes, as near to the limits as they get. */
static void
test_ranges (void)
{
  const gsize file_size = 3 * 4096 + 5;
  const guint64 limits[] = { 0, 4096, 8192, file_size, (guint64) 1 << 32, (guint64) 1 << 63 };
  int fd = make_memfd (file_size, F_SEAL_SHRINK);
  int disk = g_file_open_tmp ("mtldl-XXXXXX", NULL, NULL);
  guint8 *content = g_malloc (file_size);
  guint n_fds = count_fds ();

  g_assert_cmpint (pread (fd, content, file_size, 0), ==, file_size);
  g_assert_cmpint (write (disk, content, file_size), ==, file_size);
  for (gsize i = 0; i < G_N_ELEMENTS (limits); i++)
    for (gsize k = 0; k < G_N_ELEMENTS (limits); k++)
      for (int di = -2; di <= 2; di++)
        for (int dk = -2; dk <= 2; dk++)
          for (int is_disk = 0; is_disk < 2; is_disk++)
            {
              guint64 offset = limits[i] + di, size = limits[k] + dk;
              gboolean is_right = (Wide) offset + size <= file_size;
              GError *error = NULL;
              g_autoptr (MtlBuffer) buffer =
                mtl_buffer_new_for_fd (is_disk ? disk : fd, offset, size,
                                       is_disk ? MTL_BUFFER_FLAGS_READ_ONLY : TRUSTS_NOTHING,
                                       &error);

              if (!is_right)
                {
                  g_autofree char *values =
                    g_strdup_printf ("%" G_GUINT64_FORMAT " & %" G_GUINT64_FORMAT, offset, size);

                  g_assert_null (buffer);
                  assert_failed (error, MTL_ERROR_OUT_OF_BOUNDS, values);
                  continue;
                }
              g_assert_no_error (error);
              g_assert_cmpmem (mtl_buffer_get_contents (buffer), size, content + offset, size);
            }

  g_assert_cmpuint (count_fds (), ==, n_fds);
  g_free (content);
  close (fd);
  close (disk);
}

typedef enum
{
  MAPPED,
  READ,
  REFUSED,
} Outcome;

static const struct
{
  int seals;
  MtlBufferFlags flags;
  Outcome outcome;
  MtlError code;
} by_seals[] = {
  { 0, TRUSTS_NOTHING, REFUSED, MTL_ERROR_NEEDS_COPY },
  { F_SEAL_GROW, TRUSTS_NOTHING, REFUSED, MTL_ERROR_NEEDS_COPY },
  { F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SEAL, TRUSTS_NOTHING, REFUSED, MTL_ERROR_NEEDS_COPY },
  { F_SEAL_SHRINK, TRUSTS_NOTHING, MAPPED, 0 },
  { F_SEAL_SHRINK | F_SEAL_WRITE, TRUSTS_NOTHING, MAPPED, 0 },
  { F_SEAL_SHRINK | F_SEAL_FUTURE_WRITE, TRUSTS_NOTHING, MAPPED, 0 },
  { 0, MTL_BUFFER_FLAGS_READ_ONLY, READ, 0 },
  { F_SEAL_SHRINK, MTL_BUFFER_FLAGS_READ_ONLY, MAPPED, 0 },
  { 0, MTL_BUFFER_FLAGS_NONE, READ, 0 },
  { F_SEAL_SHRINK, MTL_BUFFER_FLAGS_NONE, MAPPED, 0 },
  { F_SEAL_SHRINK | F_SEAL_WRITE, MTL_BUFFER_FLAGS_NONE, READ, 0 },
  { F_SEAL_SHRINK | F_SEAL_FUTURE_WRITE, MTL_BUFFER_FLAGS_NONE, READ, 0 },
  { F_SEAL_SHRINK | F_SEAL_WRITE, MTL_BUFFER_FLAGS_NEVER_COPY, REFUSED, MTL_ERROR_READ_ONLY },
  { F_SEAL_SHRINK | F_SEAL_FUTURE_WRITE, MTL_BUFFER_FLAGS_NEVER_COPY, REFUSED,
    MTL_ERROR_READ_ONLY },
  { F_SEAL_SHRINK, MTL_BUFFER_FLAGS_NEVER_COPY, MAPPED, 0 },
  { 0, MTL_BUFFER_FLAGS_NEVER_COPY, REFUSED, MTL_ERROR_NEEDS_COPY },
};

static void
test_by_seals (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (by_seals); i++)
    {
      int fd = make_memfd (10000, by_seals[i].seals);
      gboolean read_only = (by_seals[i].flags & MTL_BUFFER_FLAGS_READ_ONLY) != 0;
      GError *error = NULL;
      g_autoptr (MtlBuffer) buffer =
        mtl_buffer_new_for_fd (fd, 4999, 5000, by_seals[i].flags, &error);
      guint8 *bytes;
      guint8 byte;

      if (by_seals[i].outcome == REFUSED)
        {
          g_autofree char *values = g_strdup_printf ("0x%x", by_seals[i].seals);

          g_assert_null (buffer);
          assert_failed (error, by_seals[i].code, values);
          close (fd);
          continue;
        }

      g_assert_no_error (error);
      g_assert_cmpint (mtl_buffer_is_interprocess (buffer), ==, by_seals[i].outcome == MAPPED);
      g_assert_cmpint (mtl_buffer_is_read_only (buffer), ==, read_only);
      bytes = mtl_buffer_get_contents (buffer);
      for (gsize k = 0; k < 5000; k++)
        g_assert_cmpint (bytes[k], ==, get_peer_byte (4999 + k));

      /* Only a mapping shares what is written on either side. */
      if (!read_only)
        {
          bytes[0] = 99;
          g_assert_cmpint (pread (fd, &byte, 1, 4999), ==, 1);
          g_assert_cmpint (byte == 99, ==, by_seals[i].outcome == MAPPED);
        }
      if (by_seals[i].outcome == READ && by_seals[i].seals == 0)
        {
          g_assert_cmpint (ftruncate (fd, 0), ==, 0);
          g_assert_cmpint (bytes[4999], ==, get_peer_byte (9998));
        }
      close (fd);
    }
}

/* Descriptors that stand for something else. */
static void
test_no_files (void)
{
  int pipe_ends[2], sockets[2];
  int null = open ("/dev/null", O_RDWR | O_CLOEXEC);
  int folder = open ("/", O_RDONLY | O_CLOEXEC);
  int write_only = -1;
  g_autofree char *path = NULL;
  int memfd = make_memfd (100, F_SEAL_SHRINK);

  g_assert_cmpint (pipe (pipe_ends), ==, 0);
  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM, 0, sockets), ==, 0);
  path = g_strdup_printf ("/proc/self/fd/%d", memfd);
  write_only = open (path, O_WRONLY | O_CLOEXEC);

  const int fds[] = { pipe_ends[0], pipe_ends[1], sockets[0], null, folder };
  for (gsize i = 0; i < G_N_ELEMENTS (fds); i++)
    {
      assert_fails (mtl_buffer_new_for_fd (fds[i], 0, 1, TRUSTS_NOTHING, &error),
                    MTL_ERROR_NEEDS_COPY, "0x0");
      assert_fails (mtl_buffer_new_for_fd (fds[i], 0, 1, MTL_BUFFER_FLAGS_NONE, &error),
                    MTL_ERROR_OUT_OF_BOUNDS, "1 & 0");
    }

  GError *error = NULL;
  g_assert_null (mtl_buffer_new_for_fd (write_only, 0, 1, TRUSTS_NOTHING, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED);
  g_clear_error (&error);
  g_assert_null (mtl_buffer_new_for_fd (1000000, 0, 1, TRUSTS_NOTHING, &error));
  g_assert_nonnull (error);
  g_assert_true (error->domain == G_IO_ERROR);
  g_clear_error (&error);

  for (gsize i = 0; i < G_N_ELEMENTS (fds); i++)
    close (fds[i]);
  close (sockets[1]);
  close (write_only);
  close (memfd);
}

/* The owner of huge pages can take them out of a file whose size is sealed, so that they vanish. */
static void
test_huge_pages (void)
{
  const gsize size = 2 << 20;
  int fd = memfd_create ("peer", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);

  if (fd < 0)
    {
      g_test_skip ("This system has no huge pages");
      return;
    }

  g_assert_cmpint (ftruncate (fd, size), ==, 0);
  g_assert_cmpint (fcntl (fd, F_ADD_SEALS, F_SEAL_SHRINK), ==, 0);
  assert_fails (mtl_buffer_new_for_fd (fd, 0, 10, TRUSTS_NOTHING, &error), MTL_ERROR_NEEDS_COPY,
                "0x958458f6 & 0x1021994");

  /* They can be read. */
  g_autoptr (MtlBuffer) buffer = new_for_fd (fd, size - 10, 10, MTL_BUFFER_FLAGS_NONE);
  g_assert_false (mtl_buffer_is_interprocess (buffer));
  g_assert_cmpint (((guint8 *) mtl_buffer_get_contents (buffer))[9], ==, 0);
  close (fd);
}

/* A file can be far larger than its memory, and than all addresses. */
static void
test_sparse (void)
{
  int fd = memfd_create ("peer", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  g_autoptr (MtlBuffer) end = NULL;
  GError *error = NULL;

  g_assert_cmpint (ftruncate (fd, (off_t) 1 << 60), ==, 0);
  g_assert_cmpint (fcntl (fd, F_ADD_SEALS, F_SEAL_SHRINK), ==, 0);
  end = new_for_fd (fd, ((guint64) 1 << 60) - 10, 10, TRUSTS_NOTHING);
  g_assert_cmpint (((guint8 *) mtl_buffer_get_contents (end))[9], ==, 0);
  g_assert_null (mtl_buffer_new_for_fd (fd, 0, (gsize) 1 << 60, TRUSTS_NOTHING, &error));
  /* valgrind has another error for so many bytes. */
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT))
    g_clear_error (&error);
  else
    assert_failed (error, MTL_ERROR_NO_MEMORY, "1152921504606846976");
  close (fd);
}

/* Copies and views are made in such memory as in any other. */
static void
test_everything_else (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) bytes = new_bytes (100);
  g_autoptr (MtlStridedView) copy =
    mtl_strided_view_to_device (bytes, mtl_device_get_host (), MTL_STORAGE_MODE_INTERPROCESS, NULL,
                                &error);
  g_autoptr (MtlStridedView) plain = NULL;
  g_autoptr (MtlBuffer) copied = NULL;

  g_assert_no_error (error);
  g_assert_true (mtl_buffer_is_interprocess (mtl_strided_view_get_buffer (copy)));
  assert_same_elements (bytes, copy);
  plain = mtl_strided_view_copy (copy, MTL_ORDER_C, NULL, &error);
  g_assert_no_error (error);
  g_assert_false (mtl_buffer_is_interprocess (mtl_strided_view_get_buffer (plain)));
  copied = mtl_buffer_copy (mtl_strided_view_get_buffer (copy), NULL, &error);
  g_assert_no_error (error);
  g_assert_false (mtl_buffer_is_interprocess (copied));
}

/* Memory of a process that ends, however it does, is gone, unless another one has it. */
static void
test_killed_owner (void)
{
  int sockets[2];
  pid_t child;
  guint8 *bytes;
  int fd, status;
  g_autoptr (MtlBuffer) buffer = NULL;

  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM, 0, sockets), ==, 0);
  child = fork ();
  if (child == 0)
    {
      union { struct cmsghdr header; char bytes[CMSG_SPACE (sizeof (int))]; } control = { 0 };
      struct iovec part = { (char[]) { 'x' }, 1 };
      struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
                                .msg_controllen = sizeof control };
      MtlBuffer *own = new_shared (1 << 20);

      memset (mtl_buffer_get_contents (own), 5, 1 << 20);
      fd = dup_fd (own, NULL);
      control.header = (struct cmsghdr) { .cmsg_len = CMSG_LEN (sizeof fd),
                                          .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS };
      memcpy (CMSG_DATA (&control.header), &fd, sizeof fd);
      sendmsg (sockets[1], &message, 0);
      kill (getpid (), SIGKILL);
    }

  union { struct cmsghdr header; char bytes[CMSG_SPACE (sizeof (int))]; } control;
  char byte;
  struct iovec part = { &byte, 1 };
  struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
                            .msg_controllen = sizeof control };

  close (sockets[1]);
  g_assert_cmpint (recvmsg (sockets[0], &message, MSG_CMSG_CLOEXEC), ==, 1);
  memcpy (&fd, CMSG_DATA (&control.header), sizeof fd);
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_true (WIFSIGNALED (status));
  buffer = new_for_fd (fd, 0, 1 << 20, TRUSTS_NOTHING);
  bytes = mtl_buffer_get_contents (buffer);
  g_assert_cmpint (bytes[0] + bytes[(1 << 20) - 1], ==, 10);
  close (fd);
  close (sockets[0]);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/shared-buffer/request", test_request);
  g_test_add_func ("/shared-buffer/too-large", test_too_large);
  g_test_add_func ("/shared-buffer/seals", test_seals);
  g_test_add_func ("/shared-buffer/round-trip", test_round_trip);
  g_test_add_func ("/shared-buffer/ranges", test_ranges);
  g_test_add_func ("/shared-buffer/by-seals", test_by_seals);
  g_test_add_func ("/shared-buffer/no-files", test_no_files);
  g_test_add_func ("/shared-buffer/huge-pages", test_huge_pages);
  g_test_add_func ("/shared-buffer/sparse", test_sparse);
  g_test_add_func ("/shared-buffer/everything-else", test_everything_else);
  g_test_add_func ("/shared-buffer/killed-owner", test_killed_owner);

  return g_test_run ();
}
