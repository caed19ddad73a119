/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Connections between the ends of a socket, in this process or with a child. */

#pragma once

#include "processes.h"

typedef struct
{
  MtlTensorConnection *here;
  MtlTensorConnection *there;
} Pair;

static inline MtlTensorConnection *
connect_fd (int fd)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GSocket) socket = g_socket_new_from_fd (fd, &error);

  g_assert_no_error (error);
  return mtl_tensor_connection_new (socket, MTL_TENSOR_PEER_FLAGS_NONE);
}

static inline void
make_sockets (int fds[2])
{
  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), ==, 0);
}

static inline Pair
pair_new (void)
{
  int fds[2];

  make_sockets (fds);
  return (Pair) { connect_fd (fds[0]), connect_fd (fds[1]) };
}

static inline void
pair_clear (Pair *self)
{
  g_clear_object (&self->here);
  g_clear_object (&self->there);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Pair, pair_clear)

static inline void
send_view (MtlTensorConnection *connection,
           MtlStridedView      *view)
{
  g_autoptr (GError) error = NULL;

  mtl_tensor_connection_send (connection, view, NULL, NULL, &error);
  g_assert_no_error (error);
}

static inline MtlStridedView *
receive_view (MtlTensorConnection *connection)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *view = mtl_tensor_connection_receive (connection, NULL, NULL, &error);

  g_assert_no_error (error);
  g_assert_true (mtl_strided_view_is_read_only (view));
  return view;
}

static inline MtlStridedView *
allocate (MtlTensorConnection *connection,
          MtlDType             dtype,
          const gint64        *shape,
          gsize                n_dims)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *view = mtl_tensor_connection_allocate_view (connection, dtype, shape, n_dims,
                                                              &error);

  g_assert_no_error (error);
  return view;
}

static inline ino_t
get_inode (MtlStridedView *view)
{
  g_autoptr (GError) error = NULL;
  int fd = mtl_buffer_dup_fd (mtl_strided_view_get_buffer (view), NULL, &error);
  struct stat info;

  g_assert_no_error (error);
  g_assert_cmpint (fstat (fd, &info), ==, 0);
  close (fd);
  return info.st_ino;
}

static inline pid_t
start_child (int  *fd,
             void (* run) (int fd))
{
  int fds[2];
  pid_t child;

  make_sockets (fds);
  child = fork ();
  g_assert_cmpint (child, >=, 0);
  if (child == 0)
    {
      close (fds[0]);
      run (fds[1]);
    }

  close (fds[1]);
  *fd = fds[0];
  return child;
}
