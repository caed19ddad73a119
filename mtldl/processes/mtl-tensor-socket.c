/* SPDX-License-Identifier: LGPL-2.1-or-later */

#define _GNU_SOURCE

#include "config.h"

#include "mtl-tensor-socket-private.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include "mtl-error.h"
#include "mtl-tensor-variant-private.h"

/* The header: these bytes, the number of descriptors, three zeros, the size of the body as a
 * little-endian number, and four zeros. */
static const guint8 magic[4] = { 'm', 't', 'l', 1 };

#define N_FDS_AT 4
#define SIZE_AT 8

/* macOS has neither; there, the descriptor is closed later, and the socket has an option. */
#ifndef MSG_CMSG_CLOEXEC
#define MSG_CMSG_CLOEXEC 0
#endif
#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

/* The descriptors, and three numbers about the peer if the socket passes its credentials. */
typedef union
{
  struct cmsghdr header;
  guint8 bytes[CMSG_SPACE (MTL_TENSOR_MESSAGE_MAX_FDS * sizeof (int))
               + CMSG_SPACE (3 * sizeof (int))];
} Control;

void
mtl_tensor_message_clear (MtlTensorMessage *self)
{
  for (guint i = 0; i < self->n_fds; i++)
    mtl_clear_fd (&self->fds[i]);
  g_clear_pointer (&self->memory, mtl_memory_unref);
  g_clear_pointer (&self->body, g_variant_unref);
  memset (self, 0, sizeof *self);
}

/* Integers travel in little-endian order. */
static GVariant *
swap_if_needed (GVariant *body)
{
  GVariant *swapped;

  if (G_BYTE_ORDER == G_LITTLE_ENDIAN)
    return body;

  swapped = g_variant_byteswap (body);
  g_variant_unref (body);
  return swapped;
}

static void
fill_header (MtlTensorMessage *self)
{
  guint32 size = GUINT32_TO_LE (self->body_size);

  memcpy (self->header, magic, sizeof magic);
  self->header[N_FDS_AT] = self->n_fds;
  memcpy (self->header + SIZE_AT, &size, sizeof size);
}

void
mtl_tensor_message_prepare_inline (MtlTensorMessage *self,
                                   MtlMemory        *memory,
                                   gsize             size)
{
  self->memory = memory;
  self->body_size = size;
  fill_header (self);
}

gboolean
mtl_tensor_message_prepare (MtlTensorMessage  *self,
                            GVariant          *body,
                            const int         *fds,
                            guint              n_fds,
                            GError           **error)
{
  for (self->n_fds = 0; self->n_fds < n_fds; self->n_fds++)
    self->fds[self->n_fds] = fds[self->n_fds];
  self->body = swap_if_needed (g_variant_ref_sink (body));
  self->body_size = g_variant_get_size (self->body);
  if (self->body_size > MTL_TENSOR_VARIANT_MAX_SIZE)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_OUT_OF_BOUNDS,
                   "The description of a tensor has %" G_GSIZE_FORMAT " bytes, and may have %d:"
                   " pass fewer extras", self->body_size, MTL_TENSOR_VARIANT_MAX_SIZE);
      mtl_tensor_message_clear (self);
      return FALSE;
    }

  fill_header (self);
  return TRUE;
}

static void
attach_fds (const MtlTensorMessage *self,
            struct msghdr          *message,
            Control                *control)
{
  gsize size = self->n_fds * sizeof (int);

  if (self->n_fds == 0 || self->n_done > 0)
    return;

  memset (control, 0, sizeof *control);
  control->header.cmsg_level = SOL_SOCKET;
  control->header.cmsg_type = SCM_RIGHTS;
  control->header.cmsg_len = CMSG_LEN (size);
  memcpy (CMSG_DATA (&control->header), self->fds, size);
  message->msg_control = control;
  message->msg_controllen = CMSG_SPACE (size);
}

static MtlStep
fail (const char  *what,
      GError     **error)
{
  if (errno == EAGAIN || errno == EWOULDBLOCK)
    return MTL_STEP_BLOCKED;

  if (errno == ETOOMANYREFS)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_BUSY,
                   "A tensor cannot be %s: as many descriptors of this user as a process may have"
                   " open wait to be received; let the peers receive them first", what);
      return MTL_STEP_FAILED;
    }

  mtl_set_system_error (errno, error, "A tensor cannot be %s", what);
  return MTL_STEP_FAILED;
}

/* The system counts the descriptors that no process has received yet, and refuses those of all
 * connections of the user if there are too many. A socket is ready while few messages wait in it. */
static gboolean
has_room (const MtlTensorMessage *self,
          int                     socket)
{
  struct pollfd room = { .fd = socket, .events = POLLOUT };

  return self->n_fds == 0 || self->n_done > 0 || poll (&room, 1, 0) != 0;
}

MtlStep
mtl_tensor_message_send (MtlTensorMessage  *self,
                         int                socket,
                         GError           **error)
{
  const guint8 *body = self->body != NULL ? g_variant_get_data (self->body)
                                          : self->memory->contents;

  if (!has_room (self, socket))
    return MTL_STEP_BLOCKED;

  while (self->n_done < sizeof self->header + self->body_size)
    {
      gsize n_header = MIN (self->n_done, sizeof self->header);
      gsize n_body = self->n_done - n_header;
      struct iovec parts[2] = {
        { self->header + n_header, sizeof self->header - n_header },
        { (guint8 *) body + n_body, self->body_size - n_body },
      };
      struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
      Control control;
      gssize n_sent;

      attach_fds (self, &message, &control);
      n_sent = sendmsg (socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (n_sent < 0 && errno != EINTR)
        return fail ("sent", error);
      self->n_done += MAX (n_sent, 0);
    }

  mtl_tensor_message_clear (self);
  return MTL_STEP_DONE;
}

static void
take_fd (MtlTensorMessage *self,
         int               fd)
{
  if (MSG_CMSG_CLOEXEC == 0)
    fcntl (fd, F_SETFD, FD_CLOEXEC);

  if (self->n_fds < MTL_TENSOR_MESSAGE_MAX_FDS)
    self->fds[self->n_fds++] = fd;
  else
    {
      self->has_lost_fds = TRUE;
      mtl_clear_fd (&fd);
    }
}

static void
take_fds (MtlTensorMessage *self,
          struct msghdr    *message)
{
  for (struct cmsghdr *part = CMSG_FIRSTHDR (message); part != NULL;
       part = CMSG_NXTHDR (message, part))
    if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS)
      for (gsize at = CMSG_LEN (0); at + sizeof (int) <= part->cmsg_len; at += sizeof (int))
        {
          int fd;

          memcpy (&fd, (guint8 *) part + at, sizeof fd);
          take_fd (self, fd);
        }

  if (message->msg_flags & MSG_CTRUNC)
    self->has_lost_fds = TRUE;
}

/* Descriptors come with the header. The system closes those that come with the body. */
static MtlStep
receive_bytes (MtlTensorMessage  *self,
               int                socket,
               guint8            *bytes,
               gsize              begin,
               gsize              size,
               GError           **error)
{
  while (self->n_done < begin + size)
    {
      gsize n_done = self->n_done - begin;
      struct iovec part = { bytes + n_done, size - n_done };
      struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
      Control control;
      gssize n_received;

      if (begin == 0)
        {
          message.msg_control = &control;
          message.msg_controllen = sizeof control;
        }

      n_received = recvmsg (socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
      if (n_received < 0 && errno != EINTR)
        return fail ("received", error);
      if (n_received == 0)
        {
          g_set_error (error, G_IO_ERROR, G_IO_ERROR_CONNECTION_CLOSED,
                       "The peer closed the connection after %" G_GSIZE_FORMAT " bytes of a"
                       " message", self->n_done);
          return MTL_STEP_FAILED;
        }
      if (n_received > 0 && begin == 0)
        take_fds (self, &message);
      self->n_done += MAX (n_received, 0);
    }

  return MTL_STEP_DONE;
}

static MtlStep
read_header (MtlTensorMessage  *self,
             GError           **error)
{
  guint32 size;

  memcpy (&size, self->header + SIZE_AT, sizeof size);
  self->body_size = GUINT32_FROM_LE (size);
  if (memcmp (self->header, magic, sizeof magic) != 0
      || self->body_size > MTL_TENSOR_VARIANT_MAX_SIZE)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
                   "A message begins with the bytes %02x%02x%02x%02x and has %" G_GSIZE_FORMAT
                   " bytes: only %02x%02x%02x%02x and %d bytes are supported", self->header[0],
                   self->header[1], self->header[2], self->header[3], self->body_size, magic[0],
                   magic[1], magic[2], magic[3], MTL_TENSOR_VARIANT_MAX_SIZE);
      return MTL_STEP_LOST;
    }

  self->memory = mtl_memory_new (NULL, self->body_size, MTL_STORAGE_MODE_HOST, FALSE, error);
  return self->memory != NULL ? MTL_STEP_DONE : MTL_STEP_FAILED;
}

static gboolean
check_fds (MtlTensorMessage  *self,
           GError           **error)
{
  if (!self->has_lost_fds && self->n_fds == self->header[N_FDS_AT])
    return TRUE;

  if (self->has_lost_fds && self->n_fds < MIN (self->header[N_FDS_AT], MTL_TENSOR_MESSAGE_MAX_FDS))
    return mtl_set_system_error (EMFILE, error, "A message has %u descriptors, of which %u were"
                                 " received", self->header[N_FDS_AT], self->n_fds);

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
               "A message has %s%u descriptor%s instead of %u: the maximum is %d",
               self->has_lost_fds ? "more than " : "", self->n_fds,
               self->n_fds == 1 ? "" : "s", self->header[N_FDS_AT], MTL_TENSOR_MESSAGE_MAX_FDS);
  return FALSE;
}

MtlStep
mtl_tensor_message_receive (MtlTensorMessage  *self,
                            int                socket,
                            GError           **error)
{
  MtlStep step = receive_bytes (self, socket, self->header, 0, sizeof self->header, error);

  if (step == MTL_STEP_DONE && self->memory == NULL)
    step = read_header (self, error);
  if (step == MTL_STEP_DONE)
    step = receive_bytes (self, socket, self->memory->contents, sizeof self->header,
                          self->body_size, error);
  if (step != MTL_STEP_DONE)
    return step;

  return check_fds (self, error) ? MTL_STEP_DONE : MTL_STEP_REFUSED;
}

GVariant *
mtl_tensor_message_dup_body (MtlTensorMessage *self)
{
  g_autoptr (GBytes) bytes =
    g_bytes_new_with_free_func (self->memory->contents, self->body_size,
                                (GDestroyNotify) mtl_memory_unref, mtl_memory_ref (self->memory));
  GVariant *body = g_variant_new_from_bytes (G_VARIANT_TYPE (MTL_TENSOR_VARIANT_TYPE_STRING),
                                             bytes, FALSE);

  return swap_if_needed (g_variant_ref_sink (body));
}
