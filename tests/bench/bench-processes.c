/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Round trips of tensors to another process, which reads the first and the last byte and answers,
 * as ratios to the least that sockets can do: descriptors are mapped and unmapped, and bytes are
 * received into memory that is kept. */

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <mtldl/mtldl.h>

#define N_ROUNDS 40
#define N_TRIPS 50
#define MAX_INLINE 65536

typedef struct
{
  int bare;                        /* descriptors and bytes */
  int answers;
  MtlTensorConnection *connection;
} End;

static void
check (gboolean is_done)
{
  if (!is_done)
    g_error ("%s", g_strerror (errno));
}

static End
make_end (int bare,
          int tensors,
          int answers)
{
  g_autoptr (GSocket) socket = g_socket_new_from_fd (tensors, NULL);

  return (End) { bare, answers, mtl_tensor_connection_new (socket, MTL_TENSOR_PEER_FLAGS_NONE) };
}

static void
answer (End          *self,
        const guint8 *bytes,
        gsize         size)
{
  int sum = bytes[0] + bytes[size - 1];

  check (write (self->answers, &sum, sizeof sum) == sizeof sum);
}

static void
await_answer (End *self)
{
  int sum;

  check (read (self->answers, &sum, sizeof sum) == sizeof sum);
  g_assert (sum == 7);
}

typedef union
{
  struct cmsghdr header;
  char bytes[CMSG_SPACE (sizeof (int))];
} Control;

static void
send_bare (End  *self,
           int   fd,
           gsize size)
{
  Control control = { .header = { .cmsg_len = CMSG_LEN (sizeof fd), .cmsg_level = SOL_SOCKET,
                                  .cmsg_type = SCM_RIGHTS } };
  struct iovec part = { &size, sizeof size };
  struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
                            .msg_controllen = sizeof control };

  memcpy (CMSG_DATA (&control.header), &fd, sizeof fd);
  check (sendmsg (self->bare, &message, 0) == sizeof size);
}

static void
receive_bare (End *self)
{
  Control control;
  gsize size;
  struct iovec part = { &size, sizeof size };
  struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
                            .msg_controllen = sizeof control };
  guint8 *bytes;
  int fd;

  check (recvmsg (self->bare, &message, MSG_CMSG_CLOEXEC) == sizeof size);
  memcpy (&fd, CMSG_DATA (&control.header), sizeof fd);
  bytes = mmap (NULL, size, PROT_READ, MAP_SHARED, fd, 0);
  check (bytes != MAP_FAILED);
  answer (self, bytes, size);
  munmap (bytes, size);
  close (fd);
}

static void
send_bytes (End          *self,
            const guint8 *bytes,
            gsize         size)
{
  check (write (self->bare, &size, sizeof size) == sizeof size);
  for (gsize done = 0; done < size;)
    {
      gssize n = write (self->bare, bytes + done, size - done);

      check (n > 0);
      done += n;
    }
}

static void
receive_bytes (End *self)
{
  static guint8 kept[MAX_INLINE];
  gsize size;

  check (read (self->bare, &size, sizeof size) == sizeof size);
  for (gsize done = 0; done < size;)
    {
      gssize n = read (self->bare, kept + done, size - done);

      check (n > 0);
      done += n;
    }
  answer (self, kept, size);
}

static void
receive_view (End *self)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view =
    mtl_tensor_connection_receive (self->connection, NULL, NULL, &error);

  g_assert_no_error (error);
  answer (self, mtl_strided_view_get_data (view), mtl_strided_view_get_volume (view));
}

static void
send_view (End            *self,
           MtlStridedView *view)
{
  g_autoptr (GError) error = NULL;

  mtl_tensor_connection_send (self->connection, view, NULL, NULL, &error);
  g_assert_no_error (error);
}

/* The commands of the parent: which message comes next. */
static void
run_child (End self)
{
  char command;

  while (read (self.answers, &command, 1) == 1)
    {
      if (command == 'f')
        receive_bare (&self);
      else if (command == 'b')
        receive_bytes (&self);
      else
        receive_view (&self);
    }
  _exit (0);
}

static double
time_trips (End            *self,
            char            command,
            MtlStridedView *view,
            int             fd)
{
  gsize size = mtl_strided_view_get_volume (view);
  gint64 begin = g_get_monotonic_time ();

  for (int i = 0; i < N_TRIPS; i++)
    {
      check (write (self->answers, &command, 1) == 1);
      if (command == 'f')
        send_bare (self, fd, size);
      else if (command == 'b')
        send_bytes (self, mtl_strided_view_get_data (view), size);
      else
        send_view (self, view);
      await_answer (self);
    }
  return (double) (g_get_monotonic_time () - begin) / N_TRIPS;
}

static MtlStridedView *
make_view (gint64         size,
           MtlStorageMode mode)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *view =
    mtl_strided_view_new_zeros (NULL, MTL_DTYPE_UINT8, &size, 1, mode, &error);
  guint8 *bytes;

  g_assert_no_error (error);
  bytes = mtl_strided_view_get_data (view);
  bytes[0] = 3;
  bytes[size - 1] = 4;
  return view;
}

/* The best of each, in turns. */
static void
compare (End  *self,
         gsize size,
         char  bare)
{
  g_autoptr (MtlStridedView) view =
    make_view (size, bare == 'f' ? MTL_STORAGE_MODE_INTERPROCESS : MTL_STORAGE_MODE_HOST);
  int fd = bare == 'f' ? mtl_buffer_dup_fd (mtl_strided_view_get_buffer (view), NULL, NULL) : -1;
  double best[2] = { 1e9, 1e9 };

  for (int i = 0; i < N_ROUNDS; i++)
    {
      best[0] = MIN (best[0], time_trips (self, bare, view, fd));
      best[1] = MIN (best[1], time_trips (self, 'v', view, fd));
    }
  g_print ("%11" G_GSIZE_FORMAT " bytes, %s: %.1f us; a view: %.2f x\n", size,
           bare == 'f' ? "a descriptor" : "in the stream", best[0], best[1] / best[0]);
  if (fd >= 0)
    close (fd);
}

int
main (void)
{
  int bare[2], tensors[2], answers[2];
  End end;

  check (socketpair (AF_UNIX, SOCK_STREAM, 0, bare) == 0
         && socketpair (AF_UNIX, SOCK_STREAM, 0, tensors) == 0
         && socketpair (AF_UNIX, SOCK_STREAM, 0, answers) == 0);
  if (fork () == 0)
    {
      close (bare[0]);
      close (tensors[0]);
      close (answers[0]);
      run_child (make_end (bare[1], tensors[1], answers[1]));
    }

  close (bare[1]);
  close (tensors[1]);
  close (answers[1]);
  end = make_end (bare[0], tensors[0], answers[0]);
  for (gsize size = 64; size <= 1 << 28; size <<= 11)
    compare (&end, size, 'f');
  for (gsize size = 64; size <= MAX_INLINE; size <<= 2)
    compare (&end, size, 'b');
  close (end.answers);
  return 0;
}
