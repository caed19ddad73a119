/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Views through sockets: between ends in this process, and with children that are killed, or that
 * send anything at all. */

#include "connections.h"

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>

#define HEADER_SIZE 16
#define N_KILLS 200

/* Inline, shared, copied; strided, empty and scalar. */
static void
test_views (void)
{
  g_auto (Pair) pair = pair_new ();
  g_autoptr (MtlStridedView) bytes = new_bytes (200);
  g_autoptr (MtlStridedView) large = host_zeros (MTL_DTYPE_FLOAT32, DIMS (300, 401));
  g_autoptr (MtlStridedView) shared = zeros_for_others (MTL_DTYPE_INT16, DIMS (30, 41));
  g_autoptr (GError) error = NULL;
  const char *const slices[] = { "...", "::-1", "5:3", "7", "1:200:3" };
  const char *const in_two[] = { "...", "::-1, ::2", "3, 1:", "5:3", "2, 3", "1:, ::-3" };

  fill_at_random (mtl_strided_view_get_data (large), 300 * 401 * 4);
  fill_at_random (mtl_strided_view_get_data (shared), 30 * 41 * 2);
  for (gsize i = 0; i < G_N_ELEMENTS (slices); i++)
    {
      g_autoptr (MtlStridedView) part = slice (bytes, slices[i]);
      g_autoptr (MtlStridedView) received = NULL;

      send_view (pair.here, part);
      received = receive_view (pair.there);
      assert_same_elements (part, received);
    }
  for (gsize i = 0; i < 2 * G_N_ELEMENTS (in_two); i++)
    {
      g_autoptr (MtlStridedView) part = slice (i % 2 ? large : shared, in_two[i / 2]);
      g_autoptr (MtlStridedView) received = NULL;

      send_view (pair.there, part);
      received = receive_view (pair.here);
      assert_same_elements (part, received);
      if (i % 2 == 0 && !mtl_strided_view_is_empty (part))
        g_assert_cmpuint (get_inode (received), ==, get_inode (part));
    }

  /* Repeated elements are copied once. */
  g_clear_object (&shared);
  shared = mtl_strided_view_broadcast_to (large, DIMS (1000, 300, 401), &error);
  g_assert_no_error (error);
  send_view (pair.here, shared);
  g_clear_object (&bytes);
  bytes = receive_view (pair.there);
  assert_view_shape (bytes, 1000, 300, 401);
  g_assert_cmpint (mtl_strided_view_get_strides (bytes, NULL)[0], ==, 0);
  g_clear_object (&shared);
  shared = slice (bytes, "999");
  assert_same_elements (shared, large);
}

/* 3 numbers of 4 bits, each in a byte. */
static void
test_padded (void)
{
  g_auto (Pair) pair = pair_new ();
  g_autoptr (GVariant) variant = g_variant_ref_sink (g_variant_new_parsed (
      "(<@ay [1, 2, 3]>, uint64 0, byte 1, byte 4, uint16 1, [int64 3], [int64 1], "
      "{'padded': <true>})"));
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = mtl_strided_view_new_from_variant_fds (variant, NULL, &error);
  g_autoptr (MtlStridedView) received = NULL;

  g_assert_no_error (error);
  send_view (pair.here, view);
  received = receive_view (pair.there);
  g_assert_true (mtl_strided_view_is_padded (received));
  assert_same_elements (view, received);
}

static void
test_properties (void)
{
  g_auto (Pair) pair = pair_new ();
  g_autoptr (MtlTensorConnection) bare = g_object_new (MTL_TYPE_TENSOR_CONNECTION, NULL);
  g_autoptr (MtlStridedView) view = new_bytes (1);
  g_autoptr (GSocket) socket = NULL;
  guint max_views;
  guint64 max_bytes;
  MtlTensorPeerFlags flags;
  GError *error = NULL;

  g_object_get (pair.here, "socket", &socket, "flags", &flags, NULL);
  g_assert_true (socket == mtl_tensor_connection_get_socket (pair.here));
  g_assert_cmpint (flags, ==, mtl_tensor_connection_get_flags (pair.here));
  g_assert_cmpuint (mtl_tensor_connection_get_max_views (pair.here), ==, 256);
  g_object_set (pair.here, "max-views", 7, "max-bytes", (guint64) 1000, NULL);
  g_object_get (pair.here, "max-views", &max_views, "max-bytes", &max_bytes, NULL);
  g_assert_cmpuint (max_views, ==, 7);
  g_assert_cmpuint (max_bytes, ==, 1000);
  g_assert_cmpuint (mtl_tensor_connection_get_max_bytes (pair.here), ==, 1000);
  mtl_tensor_connection_set_max_bytes (pair.here, G_MAXUINT64);
  g_assert_cmpuint (mtl_tensor_connection_get_max_bytes (pair.here), ==, G_MAXSSIZE);

  g_assert_null (mtl_tensor_connection_get_socket (bare));
  g_assert_false (mtl_tensor_connection_send (bare, view, NULL, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_CONNECTED);
  g_clear_error (&error);
}

static void
test_extras (void)
{
  g_auto (Pair) pair = pair_new ();
  g_autoptr (MtlStridedView) view = allocate (pair.here, MTL_DTYPE_UINT8, DIMS (100000));
  g_autoptr (MtlStridedView) received = NULL;
  g_autoptr (GVariant) extras = NULL;
  g_autoptr (GError) error = NULL;
  const char *name;

  g_assert_true (mtl_tensor_connection_send (pair.here, view,
                                             g_variant_new_parsed ("{'name': <'frame 7'>}"), NULL,
                                             &error));
  g_assert_no_error (error);
  received = mtl_tensor_connection_receive (pair.there, &extras, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_variant_n_children (extras), ==, 1);
  g_assert_true (g_variant_lookup (extras, "name", "&s", &name));
  g_assert_cmpstr (name, ==, "frame 7");
}

static void
test_large_extras (void)
{
  g_auto (Pair) pair = pair_new ();
  g_autoptr (MtlStridedView) view = host_zeros (MTL_DTYPE_UINT8, DIMS (65000));
  g_autoptr (MtlStridedView) received = NULL;
  const gsize sizes[] = { 131072, 70000, 60000 }; /* alone, with the elements, and never */

  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autofree char *name = g_strnfill (sizes[i], 'x');
      g_autoptr (GVariant) extras =
        g_variant_ref_sink (g_variant_new_parsed ("{'name': <%s>}", name));
      GError *error = NULL;

      mtl_tensor_connection_send (pair.here, view, extras, NULL, &error);
      if (i < 2)
        assert_failed (error, MTL_ERROR_OUT_OF_BOUNDS, "131072");
      g_assert_no_error (error);
    }

  received = receive_view (pair.there);
  assert_same_elements (view, received);
}

/* --- Peers that break the rules */

static void
send_raw (int         fd,
          const void *bytes,
          gsize       size,
          const int  *fds,
          gsize       n_fds)
{
  union { struct cmsghdr header; char bytes[CMSG_SPACE (64 * sizeof (int))]; } control = { 0 };
  struct iovec part = { (void *) bytes, size };
  struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

  if (n_fds > 0)
    {
      message.msg_control = &control;
      message.msg_controllen = CMSG_SPACE (n_fds * sizeof (int));
      control.header = (struct cmsghdr) { .cmsg_len = CMSG_LEN (n_fds * sizeof (int)),
                                          .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS };
      memcpy (CMSG_DATA (&control.header), fds, n_fds * sizeof (int));
    }
  g_assert_cmpint (sendmsg (fd, &message, MSG_NOSIGNAL), ==, size);
}

static void
fill_header (guint8 *header,
             guint   n_fds,
             guint32 size)
{
  const guint8 start[8] = { 'm', 't', 'l', 1, n_fds, 0, 0, 0 };

  size = GUINT32_TO_LE (size);
  memset (header, 0, HEADER_SIZE);
  memcpy (header, start, 8);
  memcpy (header + 8, &size, 4);
}

/* A message with a tensor that is described as in test-tensor-variant.c. */
static GByteArray *
make_message (const char *text,
              guint       n_fds)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) variant = g_variant_parse (NULL, text, NULL, NULL, &error);
  GByteArray *message = g_byte_array_new ();

  g_assert_no_error (error);
  g_byte_array_set_size (message, HEADER_SIZE + g_variant_get_size (variant));
  fill_header (message->data, n_fds, g_variant_get_size (variant));
  g_variant_store (variant, message->data + HEADER_SIZE);
  return message;
}

#define GOOD "(<handle 0>, uint64 5, byte 1, byte 8, uint16 1, [int64 3], [int64 2], @a{sv} {})"
#define RELEASED \
  "(<handle 0>, uint64 5, byte 1, byte 8, uint16 1, [int64 3], [int64 2], " \
  "{'release': <handle 1>})"

/* One byte after another, with the descriptors wherever they come. */
static void
test_pieces (void)
{
  guint n_fds = count_fds ();
  int fds[2];
  g_autoptr (MtlTensorConnection) connection = NULL;
  g_autoptr (GByteArray) message = make_message (RELEASED, 2);
  int memory = make_memfd (100, F_SEAL_SHRINK), ends[2];

  make_sockets (fds);
  connection = connect_fd (fds[0]);
  g_assert_cmpint (pipe (ends), ==, 0);
  for (guint at = 0; at < 16; at++)
    {
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      g_autoptr (MtlStridedView) view = NULL;

      for (guint i = 0; i < message->len; i++)
        {
          g_autoptr (GError) error = NULL;

          if (i == at)
            send_raw (fds[1], message->data + i, 1, &memory, 1);
          else if (i == at + 1 && at < 15)
            send_raw (fds[1], message->data + i, 1, &ends[1], 1);
          else
            send_raw (fds[1], message->data + i, 1, NULL, 0);
          if (at == 15 || i + 1 == message->len || i % 5 != 0)
            continue;

          /* This reads the bytes that are there, and does not wait for the rest. */
          g_socket_set_timeout (mtl_tensor_connection_get_socket (connection), 0);
          g_cancellable_cancel (cancellable);
          g_assert_null (mtl_tensor_connection_receive (connection, NULL, cancellable, &error));
          g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
          g_cancellable_reset (cancellable);
        }
      if (at == 15)
        {
          assert_fails (mtl_tensor_connection_receive (connection, NULL, NULL, &error),
                        MTL_ERROR_INVALID_DATA, "1 & 2");
          break;
        }
      view = receive_view (connection);
      assert_elements (view, get_peer_byte (5), get_peer_byte (7), get_peer_byte (9));
    }

  close (memory);
  close (ends[0]);
  close (ends[1]);
  close (fds[1]);
  g_clear_object (&connection);
  g_assert_cmpuint (count_fds (), ==, n_fds);
}

static void
test_wrong_messages (void)
{
  const struct
  {
    const char *text;
    guint n_said;
    guint n_sent;
    MtlError code;
    const char *values;
  } cases[] = {
    { GOOD, 1, 1, -1, NULL },
    { GOOD, 1, 0, MTL_ERROR_INVALID_DATA, "0 & 1" },
    { GOOD, 0, 1, MTL_ERROR_INVALID_DATA, "1 & 0" },
    { GOOD, 0, 0, MTL_ERROR_INVALID_DATA, "0" },
    { GOOD, 3, 3, MTL_ERROR_INVALID_DATA, "2" },
    { GOOD, 2, 60, MTL_ERROR_INVALID_DATA, "2" },
    { RELEASED, 1, 1, MTL_ERROR_INVALID_DATA, "1" },
    { RELEASED, 2, 2, MTL_ERROR_INVALID_DATA, "1" }, /* no pipe */
    { "(<handle 0>, uint64 99, byte 1, byte 8, uint16 1, [int64 3], [int64 2], @a{sv} {})", 1, 1,
      MTL_ERROR_INVALID_DATA, "5 & 99 & 100" },
    { "(<handle -1>, uint64 0, byte 1, byte 8, uint16 1, [int64 0], [int64 1], @a{sv} {})", 0, 0,
      MTL_ERROR_INVALID_DATA, "-1 & 0" },
    { "(<@ay [1]>, uint64 0, byte 1, byte 8, uint16 1, [int64 3], [int64 2], @a{sv} {})", 0, 0,
      MTL_ERROR_INVALID_DATA, "5 & 0 & 1" },
    { GOOD, 1, 1, -1, NULL },
  };
  guint n_fds = count_fds ();
  int fds[2], memory[60];
  g_autoptr (MtlTensorConnection) connection = NULL;

  make_sockets (fds);
  connection = connect_fd (fds[0]);
  for (gsize i = 0; i < G_N_ELEMENTS (memory); i++)
    memory[i] = make_memfd (100, F_SEAL_SHRINK);
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GByteArray) message = make_message (cases[i].text, cases[i].n_said);
      GError *error = NULL;
      g_autoptr (MtlStridedView) view = NULL;

      if (cases[i].n_sent > 2 && is_emulated ())
        continue; /* the emulator itself keeps descriptors for which there is no room */
      send_raw (fds[1], message->data, message->len, memory, cases[i].n_sent);
      view = mtl_tensor_connection_receive (connection, NULL, NULL, &error);
      if (cases[i].values == NULL)
        g_assert_no_error (error);
      else
        assert_failed (error, cases[i].code, cases[i].values);
    }

  for (gsize i = 0; i < G_N_ELEMENTS (memory); i++)
    close (memory[i]);
  close (fds[1]);
  g_clear_object (&connection);
  g_assert_cmpuint (count_fds (), ==, n_fds);
}

/* A socket that passes credentials with each message has room for the descriptors, too. */
static void
test_with_credentials (void)
{
  g_auto (Pair) pair = pair_new ();
  g_autoptr (MtlStridedView) view = allocate (pair.here, MTL_DTYPE_UINT8, DIMS (1000));
  g_autoptr (MtlStridedView) received = NULL;
  g_autoptr (GError) error = NULL;

  g_socket_set_option (mtl_tensor_connection_get_socket (pair.there), SOL_SOCKET, SO_PASSCRED, 1,
                       &error);
  g_assert_no_error (error);
  for (int i = 0; i < 2; i++)
    {
      send_view (pair.here, view);
      received = receive_view (pair.there);
      g_assert_cmpuint (get_inode (received), ==, get_inode (view));
      g_clear_object (&received);
    }
}

/* Checks that a message with a descriptor comes without it now. */
static gboolean
receives_no_descriptor (int fds[2])
{
  union { struct cmsghdr header; char bytes[CMSG_SPACE (sizeof (int))]; } control;
  char byte;
  struct iovec part = { &byte, 1 };
  struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
                            .msg_controllen = sizeof control };
  int fd;

  send_raw (fds[0], "x", 1, (int[]) { 0 }, 1);
  g_assert_cmpint (recvmsg (fds[1], &message, MSG_CMSG_CLOEXEC), ==, 1);
  if (message.msg_controllen == 0)
    return TRUE;

  memcpy (&fd, CMSG_DATA (&control.header), sizeof fd);
  close (fd);
  return FALSE;
}

/* A process that has no room for the descriptors of a message is told so, and goes on later. */
static void
test_no_room_for_descriptors (void)
{
  g_auto (Pair) pair = pair_new ();
  int fds[2];
  gboolean is_limited;
  g_autoptr (MtlStridedView) view = allocate (pair.here, MTL_DTYPE_UINT8, DIMS (1000));
  g_autoptr (MtlStridedView) received = NULL;
  struct rlimit limit, none;

  make_sockets (fds);
  g_assert_cmpint (getrlimit (RLIMIT_NOFILE, &limit), ==, 0);
  none = (struct rlimit) { 1, limit.rlim_max };
  g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &none), ==, 0);
  is_limited = receives_no_descriptor (fds);
  g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &limit), ==, 0);
  close (fds[0]);
  close (fds[1]);
  if (!is_limited)
    {
      g_test_skip ("This machine, which may be valgrind's, does not limit what messages bring");
      return;
    }

  for (int n_free = 0; n_free < 2; n_free++)
    {
      g_autoptr (MtlStridedView) fresh = allocate (pair.here, MTL_DTYPE_UINT8, DIMS (1000));
      GError *error = NULL;
      int room[2];

      send_view (pair.here, fresh);
      for (int i = 0; i < 2; i++)
        room[i] = dup (0);
      none.rlim_cur = room[1] + 1;
      if (n_free == 1)
        close (room[1]);
      g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &none), ==, 0);
      g_assert_null (mtl_tensor_connection_receive (pair.there, NULL, NULL, &error));
      g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &limit), ==, 0);
      assert_failed_with (error, G_IO_ERROR, G_IO_ERROR_TOO_MANY_OPEN_FILES,
                          n_free == 1 ? "2 & 1" : "2 & 0");
      close (room[0]);
      if (n_free == 0)
        close (room[1]);
    }

  send_view (pair.here, view);
  received = receive_view (pair.there);
  g_assert_cmpuint (get_inode (received), ==, get_inode (view));
}

/* A stream in which messages cannot be told apart any more. */
static void
test_lost_streams (void)
{
  g_autoptr (GByteArray) good = make_message (GOOD, 1);
  int memory = make_memfd (100, F_SEAL_SHRINK);

  for (int i = 0; i < 3; i++)
    {
      g_autoptr (MtlTensorConnection) connection = NULL;
      guint8 header[HEADER_SIZE];
      int fds[2];
      GError *error = NULL;

      make_sockets (fds);
      connection = connect_fd (fds[0]);
      fill_header (header, 0, i == 0 ? 131073 : 0);
      if (i == 1)
        header[0] = 'M';
      if (i == 2)
        header[3] = 2;
      send_raw (fds[1], header, sizeof header, NULL, 0);
      send_raw (fds[1], good->data, good->len, &memory, 1);
      g_assert_cmpint (shutdown (fds[1], SHUT_WR), ==, 0);
      g_assert_null (mtl_tensor_connection_receive (connection, NULL, NULL, &error));
      assert_failed (error, MTL_ERROR_INVALID_DATA,
                     i == 0 ? "131073 & 131072" : i == 1 ? "4d746c01" : "6d746c02");
      g_assert_null (mtl_tensor_connection_receive (connection, NULL, NULL, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CONNECTION_CLOSED);
      g_clear_error (&error);
      close (fds[1]);
    }

  close (memory);
}

/* The peer stops after each byte of a message in turn. */
static void
test_ends (void)
{
  g_autoptr (GByteArray) message = make_message (GOOD, 1);
  int memory = make_memfd (100, F_SEAL_SHRINK);
  guint n_fds = count_fds ();

  for (guint n = 0; n < message->len; n++)
    {
      g_autoptr (MtlTensorConnection) connection = NULL;
      int fds[2];
      GError *error = NULL;
      g_autofree char *value = g_strdup_printf ("%u", n);

      make_sockets (fds);
      connection = connect_fd (fds[0]);
      if (n > 0)
        send_raw (fds[1], message->data, n, &memory, 1);
      close (fds[1]);
      g_assert_null (mtl_tensor_connection_receive (connection, NULL, NULL, &error));
      assert_failed_with (error, G_IO_ERROR, G_IO_ERROR_CONNECTION_CLOSED, value);
    }

  g_assert_cmpuint (count_fds (), ==, n_fds);
  close (memory);
}

static void
test_closed_peer (void)
{
  g_auto (Pair) pair = pair_new ();
  g_autoptr (MtlStridedView) view = new_bytes (10);
  GError *error = NULL;
  void (* handler) (int) = signal (SIGPIPE, SIG_DFL); /* GLib ignores it */

  g_clear_object (&pair.there);
  g_assert_false (mtl_tensor_connection_send (pair.here, view, NULL, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_BROKEN_PIPE);
  g_clear_error (&error);
  signal (SIGPIPE, handler);
}

/* A mutated message, then a good one, as long as the stream allows. */
static void
test_mutated_messages (void)
{
  gint64 end = get_end ();
  int memory = make_memfd (100, F_SEAL_SHRINK), ends[2];
  guint n_fds, n = 0, n_views = 0, n_lost = 0;

  g_assert_cmpint (pipe (ends), ==, 0);
  n_fds = count_fds ();
  while (g_get_monotonic_time () < end || n < 5000)
    {
      g_autoptr (MtlTensorConnection) connection = NULL;
      gboolean is_lost = FALSE;
      int fds[2];

      make_sockets (fds);
      connection = connect_fd (fds[0]);
      while (!is_lost && happens (99))
        {
          g_autoptr (GByteArray) message = make_message (
              happens (60) ? RELEASED
                           : "(<@ay [1, 2, 3, 4, 5, 6, 7, 8]>, uint64 0, byte 1, byte 8, uint16 2, "
                             "[int64 2, 2], [int64 2, 1], @a{sv} {})",
              2);
          g_autoptr (MtlStridedView) view = NULL;
          GError *error = NULL;

          for (int k = pick (0, 3); k > 0; k--)
            message->data[pick (happens (10) ? 0 : HEADER_SIZE, message->len - 1)] =
              happens (50) ? g_test_rand_int () : pick (0, 8);
          if (happens (90))
            send_raw (fds[1], message->data, message->len, (int[]) { memory, ends[1] }, 2);
          else
            send_raw (fds[1], message->data, message->len, (int[]) { memory, ends[1] },
                      pick (0, 1));
          n++;

          /* If the size of the body is wrong, the end of the stream may be in the middle of it. */
          is_lost = memcmp (message->data, "mtl\1", 4) != 0
                    || memcmp (message->data + 8,
                               (guint32[]) { GUINT32_TO_LE (message->len - HEADER_SIZE) }, 4) != 0;
          if (is_lost)
            shutdown (fds[1], SHUT_WR);
          view = mtl_tensor_connection_receive (connection, NULL, NULL, &error);
          n_views += view != NULL;
          if (view == NULL && !is_lost)
            g_assert_true (error->domain == MTL_ERROR);
          n_lost += is_lost;
          g_clear_error (&error);
        }
      close (fds[1]);
    }

  g_test_message ("%u of %u are views, %u streams are lost", n_views, n, n_lost);
  g_assert_cmpuint (n_views, >, n / 20);
  g_assert_cmpuint (count_fds (), ==, n_fds);
  g_assert_cmpuint (count_mappings (), ==, 0);
  close (memory);
  close (ends[0]);
  close (ends[1]);
}

/* --- Waiting */

static gpointer
cancel_soon (gpointer cancellable)
{
  g_usleep (20000);
  g_cancellable_cancel (cancellable);
  return NULL;
}

/* A call that is cancelled before does nothing. */
static void
test_cancelled_before (void)
{
  g_auto (Pair) pair = pair_new ();
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (MtlStridedView) view = new_bytes (10);
  g_autoptr (MtlStridedView) last = new_bytes (3);
  g_autoptr (MtlStridedView) received = NULL;
  GError *error = NULL;

  g_cancellable_cancel (cancellable);
  g_assert_false (mtl_tensor_connection_send (pair.here, view, NULL, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);
  send_view (pair.here, last);
  g_assert_null (mtl_tensor_connection_receive (pair.there, NULL, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);
  received = receive_view (pair.there);
  assert_same_elements (last, received);
}

static void
test_cancelled (void)
{
  g_auto (Pair) pair = pair_new ();
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (MtlStridedView) view = host_zeros (MTL_DTYPE_UINT8, DIMS (60000));
  g_autoptr (MtlStridedView) last = new_bytes (3);
  GThread *thread = g_thread_new ("cancel", cancel_soon, cancellable);
  GError *error = NULL;
  guint n_sent = 1;

  g_assert_null (mtl_tensor_connection_receive (pair.here, NULL, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);
  g_thread_join (thread);

  /* The peer does not read, until the socket is full in the middle of a message. */
  g_cancellable_reset (cancellable);
  memset (mtl_strided_view_get_data (view), 3, 60000);
  send_view (pair.here, view);
  thread = g_thread_new ("cancel", cancel_soon, cancellable);
  while (mtl_tensor_connection_send (pair.here, view, NULL, cancellable, &error))
    n_sent++;
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);
  g_thread_join (thread);

  /* A message that was begun is finished first. */
  for (guint i = 0; i < n_sent; i++)
    {
      g_autoptr (MtlStridedView) received = receive_view (pair.there);

      assert_same_elements (view, received);
    }
  send_view (pair.here, last);
  for (;;)
    {
      g_autoptr (MtlStridedView) received = receive_view (pair.there);

      if (mtl_strided_view_get_volume (received) == 3)
        break;
      assert_same_elements (view, received);
    }
}

typedef struct
{
  MtlStridedView *view;
  GVariant *extras;
  GError *error;
  gboolean is_done;
} Result;

static void
take_view (GObject      *object,
           GAsyncResult *result,
           gpointer      data)
{
  Result *self = data;

  self->view = mtl_tensor_connection_receive_finish (MTL_TENSOR_CONNECTION (object), result,
                                                     &self->extras, &self->error);
  self->is_done = TRUE;
}

static void
take_sent (GObject      *object,
           GAsyncResult *result,
           gpointer      data)
{
  Result *self = data;

  mtl_tensor_connection_send_finish (MTL_TENSOR_CONNECTION (object), result, &self->error);
  self->is_done = TRUE;
}

static void
wait_for (const gboolean *is_done)
{
  while (!*is_done)
    g_main_context_iteration (NULL, TRUE);
}

static void
test_async (void)
{
  g_auto (Pair) pair = pair_new ();
  g_autoptr (MtlStridedView) view = host_zeros (MTL_DTYPE_FLOAT64, DIMS (300, 200));
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  Result received = { NULL }, second = { NULL }, sent = { NULL };
  GError *error = NULL;

  fill_at_random (mtl_strided_view_get_data (view), 300 * 200 * 8);
  mtl_tensor_connection_receive_async (pair.there, NULL, take_view, &received);

  /* There is one at a time. */
  mtl_tensor_connection_receive_async (pair.there, NULL, take_view, &second);
  wait_for (&second.is_done);
  g_assert_error (second.error, G_IO_ERROR, G_IO_ERROR_PENDING);
  g_clear_error (&second.error);
  g_assert_null (mtl_tensor_connection_receive (pair.there, NULL, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_PENDING);
  g_clear_error (&error);
  g_assert_false (received.is_done);

  mtl_tensor_connection_send_async (pair.here, view, g_variant_new_parsed ("{'n': <5>}"), NULL,
                                    take_sent, &sent);
  wait_for (&sent.is_done);
  g_assert_no_error (sent.error);
  wait_for (&received.is_done);
  g_assert_no_error (received.error);
  assert_same_elements (view, received.view);
  g_assert_cmpuint (g_variant_n_children (received.extras), ==, 1);
  g_clear_object (&received.view);
  g_clear_pointer (&received.extras, g_variant_unref);

  received = (Result) { NULL };
  mtl_tensor_connection_receive_async (pair.there, cancellable, take_view, &received);
  g_cancellable_cancel (cancellable);
  wait_for (&received.is_done);
  g_assert_error (received.error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&received.error);
}

/* A view that was sent was sent, even if the call is cancelled before its callback. */
static void
test_cancelled_after (void)
{
  g_auto (Pair) pair = pair_new ();
  g_autoptr (MtlStridedView) view = new_bytes (10);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (MtlStridedView) received = NULL;
  Result sent = { NULL };

  mtl_tensor_connection_send_async (pair.here, view, NULL, cancellable, take_sent, &sent);
  received = receive_view (pair.there);
  g_cancellable_cancel (cancellable);
  wait_for (&sent.is_done);
  g_assert_no_error (sent.error);
  assert_same_elements (view, received);
}

/* Packets would lose what is left of them after the header. */
static void
test_other_sockets (void)
{
  const int types[] = { SOCK_SEQPACKET, SOCK_DGRAM };
  g_autoptr (MtlStridedView) view = new_bytes (10);

  for (gsize i = 0; i < G_N_ELEMENTS (types); i++)
    {
      g_autoptr (MtlTensorConnection) connection = NULL;
      GError *refusal = NULL;
      int fds[2];

      g_assert_cmpint (socketpair (AF_UNIX, types[i] | SOCK_CLOEXEC, 0, fds), ==, 0);
      connection = connect_fd (fds[0]);
      g_assert_false (mtl_tensor_connection_send (connection, view, NULL, NULL, &refusal));
      assert_failed (refusal, MTL_ERROR_NOT_SUPPORTED, types[i] == SOCK_DGRAM ? "2 & 1" : "3 & 1");
      assert_fails (mtl_tensor_connection_receive (connection, NULL, NULL, &error),
                    MTL_ERROR_NOT_SUPPORTED, "1");
      close (fds[1]);
    }
}

/* The time that the socket was given to wait is that of both calls. */
static void
test_timeout (void)
{
  g_auto (Pair) pair = pair_new ();
  g_autoptr (MtlStridedView) view = new_bytes (10);
  Result received = { NULL };
  GError *error = NULL;

  g_socket_set_timeout (mtl_tensor_connection_get_socket (pair.here), 1);
  g_socket_set_timeout (mtl_tensor_connection_get_socket (pair.there), 1);
  mtl_tensor_connection_receive_async (pair.here, NULL, take_view, &received);
  g_assert_null (mtl_tensor_connection_receive (pair.there, NULL, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT);
  g_clear_error (&error);
  wait_for (&received.is_done);
  g_assert_error (received.error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT);
  g_clear_error (&received.error);

  received = (Result) { NULL };
  mtl_tensor_connection_receive_async (pair.here, NULL, take_view, &received);
  send_view (pair.there, view);
  wait_for (&received.is_done);
  g_assert_no_error (received.error);
  assert_same_elements (view, received.view);
  g_clear_object (&received.view);
  g_clear_pointer (&received.extras, g_variant_unref);
}

/* More connections wait than GTask has threads. */
static void
test_many_wait (void)
{
  enum { N = 50 };
  Pair pairs[N];
  Result results[N] = { 0 };
  g_autoptr (MtlStridedView) view = new_bytes (100);

  for (int i = 0; i < N; i++)
    {
      pairs[i] = pair_new ();
      mtl_tensor_connection_receive_async (pairs[i].there, NULL, take_view, &results[i]);
    }
  for (int i = N; i-- > 0;)
    {
      send_view (pairs[i].here, view);
      wait_for (&results[i].is_done);
      g_assert_no_error (results[i].error);
      assert_same_elements (view, results[i].view);
      g_clear_object (&results[i].view);
      g_clear_pointer (&results[i].extras, g_variant_unref);
      pair_clear (&pairs[i]);
    }
}

/* --- Other processes */

/* Sends all it can, in different ways, until it is killed. */
static void
send_forever (int fd)
{
  MtlTensorConnection *connection = connect_fd (fd);
  MtlStridedView *plain = host_zeros (MTL_DTYPE_UINT8, DIMS (200000));
  MtlStridedView *small = host_zeros (MTL_DTYPE_UINT8, DIMS (1000));

  for (guint i = 0; TRUE; i++)
    {
      g_autoptr (MtlStridedView) own = allocate (connection, MTL_DTYPE_UINT8, DIMS (200000));

      memset (mtl_strided_view_get_data (own), i, 200000);
      if (!mtl_tensor_connection_send (connection, i % 3 == 0 ? own : i % 3 == 1 ? plain : small,
                                       NULL, NULL, NULL))
        _exit (1);
    }
}

static void
receive_forever (int fd)
{
  MtlTensorConnection *connection = connect_fd (fd);

  for (;;)
    {
      g_autoptr (MtlStridedView) view =
        mtl_tensor_connection_receive (connection, NULL, NULL, NULL);

      if (view == NULL)
        _exit (1);
    }
}

typedef struct
{
  pid_t child;
  guint delay;
} Kill;

static gpointer
kill_soon (gpointer data)
{
  Kill *self = data;

  g_usleep (self->delay);
  kill (self->child, SIGKILL);
  return NULL;
}

static void
kill_peers (void (* run) (int fd),
            gboolean sends)
{
  guint n_fds = count_fds (), n_done = 0;
  g_autoptr (MtlStridedView) plain = host_zeros (MTL_DTYPE_UINT8, DIMS (100000));

  for (int i = 0; i < N_KILLS / 2; i++)
    {
      int fd, status;
      Kill killing = { start_child (&fd, run), pick (0, 20000) };
      GThread *thread = g_thread_new ("kill", kill_soon, &killing);
      MtlTensorConnection *connection = connect_fd (fd);
      GError *error = NULL;

      while (error == NULL)
        {
          if (sends)
            mtl_tensor_connection_send (connection, plain, NULL, NULL, &error);
          else
            {
              g_autoptr (MtlStridedView) view =
                mtl_tensor_connection_receive (connection, NULL, NULL, &error);

              if (view != NULL && mtl_strided_view_get_volume (view) > 1000)
                n_done += ((guint8 *) mtl_strided_view_get_data (view))[199999] < 255;
            }
        }
      if (!g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CONNECTION_CLOSED))
        g_assert_error (error, G_IO_ERROR, G_IO_ERROR_BROKEN_PIPE);
      g_clear_error (&error);
      g_thread_join (thread);
      g_assert_cmpint (waitpid (killing.child, &status, 0), ==, killing.child);
      g_object_unref (connection);
      g_assert_cmpuint (count_fds (), ==, n_fds);
      g_assert_cmpuint (count_mappings (), ==, 0);
    }

  g_test_message ("%u views", n_done);
}

static void
test_killed_sender (void)
{
  kill_peers (send_forever, FALSE);
}

static void
test_killed_receiver (void)
{
  kill_peers (receive_forever, TRUE);
}

/* --- Another user */

static void
test_other_user (void)
{
  int sockets[2], status, fd, listener;
  struct sockaddr_un { sa_family_t family; char path[108]; } address = { AF_UNIX, "" };
  g_autoptr (MtlStridedView) view = new_bytes (10);
  pid_t child;

  if (geteuid () != 0)
    {
      g_test_skip ("needs root, to become another user");
      return;
    }

  /* The peer is the process that connected. */
  g_snprintf (address.path + 1, sizeof address.path - 1, "mtldl-test-%d", getpid ());
  listener = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  g_assert_cmpint (bind (listener, (gpointer) &address, sizeof address), ==, 0);
  g_assert_cmpint (listen (listener, 2), ==, 0);
  make_sockets (sockets);
  child = fork ();
  if (child == 0)
    {
      if (setresgid (65534, 65534, 65534) != 0 || setresuid (65534, 65534, 65534) != 0)
        _exit (2);
      for (int i = 0; i < 2; i++)
        {
          g_autoptr (MtlTensorConnection) connection = NULL;
          g_autoptr (GSocket) socket_object = NULL;
          g_autoptr (MtlStridedView) received = NULL;

          fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
          if (connect (fd, (gpointer) &address, sizeof address) != 0)
            _exit (3);
          socket_object = g_socket_new_from_fd (fd, NULL);
          connection = mtl_tensor_connection_new (socket_object,
                                                  MTL_TENSOR_PEER_FLAGS_ALLOW_OTHER_USERS);
          received = mtl_tensor_connection_receive (connection, NULL, NULL, NULL);
          if ((received != NULL) != (i == 1))
            _exit (4);
        }
      _exit (0);
    }

  for (int i = 0; i < 2; i++)
    {
      g_autoptr (MtlTensorConnection) connection = NULL;
      g_autoptr (GSocket) socket_object = NULL;
      GError *error = NULL;

      fd = accept (listener, NULL, NULL);
      g_assert_cmpint (fd, >=, 0);
      socket_object = g_socket_new_from_fd (fd, NULL);
      connection = mtl_tensor_connection_new (socket_object,
                                              i == 1 ? MTL_TENSOR_PEER_FLAGS_ALLOW_OTHER_USERS
                                                     : MTL_TENSOR_PEER_FLAGS_NONE);
      if (i == 1)
        {
          send_view (connection, view);
          continue;
        }
      g_assert_false (mtl_tensor_connection_send (connection, view, NULL, NULL, &error));
      assert_failed_with (error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED, "65534 & 0");
      g_assert_null (mtl_tensor_connection_receive (connection, NULL, NULL, &error));
      assert_failed_with (error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED, "65534 & 0");
    }

  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_true (WIFEXITED (status));
  g_assert_cmpint (WEXITSTATUS (status), ==, 0);
  close (listener);
  close (sockets[0]);
  close (sockets[1]);
}

/* --- Readers of memory that changes */

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/tensor-connection/views", test_views);
  g_test_add_func ("/tensor-connection/padded", test_padded);
  g_test_add_func ("/tensor-connection/properties", test_properties);
  g_test_add_func ("/tensor-connection/extras", test_extras);
  g_test_add_func ("/tensor-connection/large-extras", test_large_extras);
  g_test_add_func ("/tensor-connection/pieces", test_pieces);
  g_test_add_func ("/tensor-connection/wrong-messages", test_wrong_messages);
  g_test_add_func ("/tensor-connection/with-credentials", test_with_credentials);
  g_test_add_func ("/tensor-connection/no-room-for-descriptors", test_no_room_for_descriptors);
  g_test_add_func ("/tensor-connection/lost-streams", test_lost_streams);
  g_test_add_func ("/tensor-connection/ends", test_ends);
  g_test_add_func ("/tensor-connection/closed-peer", test_closed_peer);
  g_test_add_func ("/tensor-connection/mutated-messages", test_mutated_messages);
  g_test_add_func ("/tensor-connection/cancelled-before", test_cancelled_before);
  g_test_add_func ("/tensor-connection/cancelled", test_cancelled);
  g_test_add_func ("/tensor-connection/async", test_async);
  g_test_add_func ("/tensor-connection/cancelled-after", test_cancelled_after);
  g_test_add_func ("/tensor-connection/other-sockets", test_other_sockets);
  g_test_add_func ("/tensor-connection/timeout", test_timeout);
  g_test_add_func ("/tensor-connection/many-wait", test_many_wait);
  g_test_add_func ("/tensor-connection/killed-sender", test_killed_sender);
  g_test_add_func ("/tensor-connection/killed-receiver", test_killed_receiver);
  g_test_add_func ("/tensor-connection/other-user", test_other_user);

  return g_test_run ();
}
