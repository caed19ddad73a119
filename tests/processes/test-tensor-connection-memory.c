/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Memory that connections hand over: used again, and not while anybody still may use it. */

#include "connections.h"

#include <stdio.h>

#if defined (__has_feature) && !defined (__SANITIZE_ADDRESS__)
#if __has_feature (address_sanitizer)
#define __SANITIZE_ADDRESS__
#endif
#endif

/* The same few files go to and fro, whoever frees first. */
static void
test_used_again (void)
{
  g_auto (Pair) pair = pair_new ();
  guint n_fds = count_fds (), n_mappings = count_mappings ();

  for (int i = 0; i < 1000; i++)
    {
      g_autoptr (MtlStridedView) view =
        allocate (pair.here, MTL_DTYPE_UINT8, DIMS (100000 - i % 7));
      g_autoptr (MtlStridedView) received = NULL;

      memset (mtl_strided_view_get_data (view), i, 100000 - i % 7);
      send_view (pair.here, view);
      if (i % 2 == 0)
        g_clear_object (&view);
      received = receive_view (pair.there);
      g_assert_cmpint (((guint8 *) mtl_strided_view_get_data (received))[99000], ==, i & 0xff);
      if (i % 10 == 0) /* the inode tells the file, but a descriptor makes it useless for us */
        continue;
      g_clear_object (&received);
    }

  g_assert_cmpuint (count_fds (), <=, n_fds + 12);
  g_assert_cmpuint (count_mappings (), <=, n_mappings + 12);
  pair_clear (&pair);
  g_assert_cmpuint (count_mappings (), ==, 0);
}

/* Memory that the peer still uses is not used again, nor memory that somebody else may use. */
static void
test_not_used_again (void)
{
  g_auto (Pair) pair = pair_new ();
  g_auto (Pair) other = pair_new ();
  MtlStridedView *received[8];
  g_autoptr (MtlStridedView) view = NULL;
  g_autoptr (MtlStridedView) copy = NULL;
  guint8 *data;
  int fd;

  for (int i = 0; i < 8; i++)
    {
      g_autoptr (MtlStridedView) each = allocate (pair.here, MTL_DTYPE_UINT8, DIMS (100000));

      memset (mtl_strided_view_get_data (each), i + 1, 100000);
      send_view (pair.here, each);
      received[i] = receive_view (pair.there);
    }
  for (int i = 0; i < 8; i++)
    {
      data = mtl_strided_view_get_data (received[i]);
      g_assert_cmpint (data[0] + data[99999], ==, 2 * (i + 1));
      g_object_unref (received[i]);
    }

  /* Sent twice, to another peer, or given to whoever asked, in two ways. */
  for (int i = 0; i < 4; i++)
    {
      g_autoptr (GUnixFDList) fds = g_unix_fd_list_new ();
      g_autoptr (GVariant) variant = NULL;

      view = allocate (pair.here, MTL_DTYPE_UINT8, DIMS (100000));
      data = mtl_strided_view_get_data (view);
      data[0] = 42;
      send_view (pair.here, view);
      copy = receive_view (pair.there);
      fd = -1;
      if (i == 0)
        send_view (pair.here, view);
      else if (i == 1)
        send_view (other.here, view);
      else if (i == 2)
        fd = mtl_buffer_dup_fd (mtl_strided_view_get_buffer (view), NULL, NULL);
      else
        {
          variant = mtl_strided_view_to_variant (view, fds, NULL, NULL);
          fd = g_unix_fd_list_get (fds, 0, NULL);
        }
      g_clear_object (&view);
      g_clear_object (&copy);
      for (int k = 0; k < 8; k++)
        {
          g_autoptr (MtlStridedView) each = allocate (pair.here, MTL_DTYPE_UINT8, DIMS (100000));

          memset (mtl_strided_view_get_data (each), 7, 100000);
        }
      copy = i == 0 ? receive_view (pair.there) : i == 1 ? receive_view (other.there) : NULL;
      if (copy != NULL)
        g_assert_cmpint (((guint8 *) mtl_strided_view_get_data (copy))[0], ==, 42);
      else
        {
          guint8 byte;

          g_assert_cmpint (pread (fd, &byte, 1, 0), ==, 1);
          g_assert_cmpint (byte, ==, 42);
          close (fd);
        }
      g_clear_object (&copy);
    }
}

/* Memory that this process still uses is not used again, although the peer is done, nor memory of
 * which the peer has two views and closed the later one. */
static void
test_still_used (void)
{
  g_auto (Pair) pair = pair_new ();
  g_autoptr (MtlStridedView) view = allocate (pair.here, MTL_DTYPE_UINT8, DIMS (100000));
  g_autoptr (MtlStridedView) first = NULL;
  g_autoptr (MtlStridedView) second = NULL;
  guint8 *data = mtl_strided_view_get_data (view);

  data[0] = 42;
  send_view (pair.here, view);
  first = receive_view (pair.there);
  g_clear_object (&first);
  second = allocate (pair.here, MTL_DTYPE_UINT8, DIMS (100000));
  g_assert_true (mtl_strided_view_get_data (second) != (gpointer) data);

  g_set_object (&view, second);
  g_clear_object (&second);
  data = mtl_strided_view_get_data (view);
  data[0] = 43;
  send_view (pair.here, view);
  send_view (pair.here, view);
  first = receive_view (pair.there);
  second = receive_view (pair.there);
  g_clear_object (&second);
  g_clear_object (&view);
  for (int i = 0; i < 8; i++)
    {
      view = allocate (pair.here, MTL_DTYPE_UINT8, DIMS (100000));
      memset (mtl_strided_view_get_data (view), 7, 100000);
      g_clear_object (&view);
    }
  g_assert_cmpint (((guint8 *) mtl_strided_view_get_data (first))[0], ==, 43);
}

/* A child and its parent have the same block after a fork, and must not both fill it. */
static void
test_forked (void)
{
  g_auto (Pair) pair = pair_new ();
  g_autoptr (MtlStridedView) view = allocate (pair.here, MTL_DTYPE_UINT8, DIMS (100000));
  g_autoptr (MtlStridedView) received = NULL;
  int sockets[2], status;
  guint8 *data;
  char byte;
  pid_t child;

  send_view (pair.here, view);
  g_clear_object (&view);
  received = receive_view (pair.there);
  g_clear_object (&received);
  make_sockets (sockets);
  child = fork ();
  view = allocate (pair.here, MTL_DTYPE_UINT8, DIMS (100000));
  data = mtl_strided_view_get_data (view);
  if (child == 0)
    {
      memset (data, 7, 100000);
      if (write (sockets[1], "x", 1) != 1 || read (sockets[1], &byte, 1) != 1)
        _exit (1);
      _exit (data[0] + data[99999] == 14 ? 0 : 2);
    }

  close (sockets[1]);
  g_assert_cmpint (read (sockets[0], &byte, 1), ==, 1);
  memset (data, 9, 100000);
  g_assert_cmpint (write (sockets[0], "x", 1), ==, 1);
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_true (WIFEXITED (status));
  g_assert_cmpint (WEXITSTATUS (status), ==, 0);
  g_assert_cmpint (data[0] + data[99999], ==, 18);
  close (sockets[0]);
}

/* Parts of one file: within those that were mapped before, and beyond them. */
static void
test_parts (void)
{
  static const char *const slices[] = {
    "40000:40010", "40005:40020", "20000:20010", "19000:21000", "40000:100000", "99999:", "0:10",
    "...", "::-1",
  };
  g_auto (Pair) pair = pair_new ();
  g_autoptr (MtlStridedView) view = zeros_for_others (MTL_DTYPE_UINT8, DIMS (100000));

  fill_at_random (mtl_strided_view_get_data (view), 100000);
  for (gsize i = 0; i < G_N_ELEMENTS (slices); i++)
    {
      g_autoptr (MtlStridedView) part = slice (view, slices[i]);
      g_autoptr (MtlStridedView) received = NULL;

      send_view (pair.here, part);
      received = receive_view (pair.there);
      assert_same_elements (part, received);
      g_assert_cmpuint (get_inode (received), ==, get_inode (view));
    }
}

/* Programs that a receiver starts do not have the memory. */
static void
test_not_inherited (void)
{
  enum { N = 1024 };
  g_auto (Pair) pair = pair_new ();
  g_autoptr (MtlStridedView) view = NULL;
  g_autoptr (MtlStridedView) received = NULL;
  gboolean was_open[N];
  guint n = 0;

  for (int fd = 0; fd < N; fd++)
    was_open[fd] = fcntl (fd, F_GETFD) >= 0;
  view = allocate (pair.here, MTL_DTYPE_UINT8, DIMS (100000));
  send_view (pair.here, view);
  received = receive_view (pair.there);
  for (int fd = 0; fd < N; fd++)
    if (!was_open[fd] && fcntl (fd, F_GETFD) >= 0)
      {
        g_assert_cmpint (fcntl (fd, F_GETFD), ==, FD_CLOEXEC);
        n++;
      }

  /* The memory, twice, and both ends of the pipe. */
  g_assert_cmpuint (n, ==, 4);
}

/* The peer may look at all of a file, so that no values come with it that were not sent. */
static void
test_not_sent (void)
{
  g_auto (Pair) pair = pair_new ();

  for (int i = 0; i < 8; i++)
    {
      g_autoptr (MtlStridedView) view = allocate (pair.here, MTL_DTYPE_UINT8, DIMS (100000));
      guint8 *bytes = mtl_strided_view_get_data (view);

      for (int k = 0; k < 100000; k++)
        g_assert_cmpint (bytes[k], ==, 0);
      memset (bytes, 42, 100000);
    }
}

/* Fills the socket, and returns the number of bytes. */
static gsize
fill_socket (MtlTensorConnection *connection)
{
  static const guint8 zeros[4096];
  int fd = g_socket_get_fd (mtl_tensor_connection_get_socket (connection));
  gsize n_bytes = 0;
  gssize n;

  while ((n = send (fd, zeros, sizeof zeros, MSG_DONTWAIT)) > 0)
    n_bytes += n;
  return n_bytes;
}

static void
drain_socket (MtlTensorConnection *connection,
              gsize                n_bytes)
{
  int fd = g_socket_get_fd (mtl_tensor_connection_get_socket (connection));
  guint8 bytes[4096];

  while (n_bytes > 0)
    {
      gssize n = recv (fd, bytes, MIN (n_bytes, sizeof bytes), 0);

      g_assert_cmpint (n, >, 0);
      n_bytes -= n;
    }
}

/* Nor do they come with a view that was sent in vain before. */
static void
test_not_sent_after_all (void)
{
  g_auto (Pair) pair = pair_new ();
  GError *error = NULL;
  gpointer address;
  gsize n_bytes = fill_socket (pair.here);

  g_socket_set_timeout (mtl_tensor_connection_get_socket (pair.here), 1);
  for (int i = 0; i < 5; i++)
    {
      g_autoptr (MtlStridedView) view = allocate (pair.here, MTL_DTYPE_UINT8, DIMS (100000));
      guint8 *bytes = address = mtl_strided_view_get_data (view);

      for (int k = 0; k < 100000; k++)
        g_assert_cmpint (bytes[k], ==, 0);
      memset (bytes, 42, 100000);
      if (i > 0 && i < 4)
        continue;

      g_assert_false (mtl_tensor_connection_send (pair.here, view, NULL, NULL, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT);
      g_clear_error (&error);
      if (i < 4)
        continue;

      /* The view can be sent later, and then its memory is used again. */
      drain_socket (pair.there, n_bytes);
      send_view (pair.here, view);
      g_autoptr (MtlStridedView) received = receive_view (pair.there);
      assert_same_elements (view, received);
    }

  g_autoptr (MtlStridedView) again = allocate (pair.here, MTL_DTYPE_UINT8, DIMS (100000));
  g_assert_true (mtl_strided_view_get_data (again) == address);
}

/* The system counts what one user's processes have not received. A peer that does not read may not
 * use up what is there for others. */
static void
test_unread_descriptors (void)
{
  g_auto (Pair) pair = pair_new ();
  g_autoptr (MtlStridedView) view = zeros_for_others (MTL_DTYPE_UINT8, DIMS (1000));
  GError *error = NULL;
  guint n = 0;

  g_socket_set_timeout (mtl_tensor_connection_get_socket (pair.here), 1);
  while (mtl_tensor_connection_send (pair.here, view, NULL, NULL, &error))
    n++;
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT);
  g_clear_error (&error);
  g_test_message ("%u views wait", n);
  g_assert_cmpuint (n, >, 3);
  g_assert_cmpuint (n, <, 130);
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (MtlStridedView) received = receive_view (pair.there);

      assert_same_elements (view, received);
    }
  send_view (pair.here, view);
}

/* Memory that is passed on to a third process is in use there until that process is done. */
static void
test_passed_on (void)
{
  for (int is_described = 0; is_described < 2; is_described++)
    {
      g_auto (Pair) first = pair_new ();
      g_auto (Pair) second = pair_new ();
      g_autoptr (MtlStridedView) view = allocate (first.here, MTL_DTYPE_UINT8, DIMS (100000));
      g_autoptr (MtlStridedView) passed = NULL;
      g_autoptr (MtlStridedView) last = NULL;
      guint8 *data = mtl_strided_view_get_data (view);

      memset (data, 42, 100000);
      send_view (first.here, view);
      g_clear_object (&view);
      passed = receive_view (first.there);
      if (is_described)
        {
          g_autoptr (GError) error = NULL;
          g_autoptr (GUnixFDList) fds = g_unix_fd_list_new ();
          g_autoptr (GVariant) variant = mtl_strided_view_to_variant (passed, fds, NULL, &error);

          g_assert_no_error (error);
          last = mtl_strided_view_new_from_variant_fds (variant, fds, &error);
          g_assert_no_error (error);
        }
      else
        {
          send_view (second.here, passed);
          last = receive_view (second.there);
        }
      g_clear_object (&passed);

      for (int i = 0; i < 8; i++)
        {
          view = allocate (first.here, MTL_DTYPE_UINT8, DIMS (100000));
          memset (mtl_strided_view_get_data (view), 7, 100000);
          send_view (first.here, view);
          g_clear_object (&view);
          view = receive_view (first.there);
          g_clear_object (&view);
        }
      data = mtl_strided_view_get_data (last);
      g_assert_cmpint (data[0] + data[99999], ==, 84);

      /* Then it is used again. */
      g_clear_object (&last);
      view = allocate (first.here, MTL_DTYPE_UINT8, DIMS (100000));
      data = mtl_strided_view_get_data (view);
      g_assert_cmpint (data[0] + data[99999], ==, 84);
    }
}

/* The sender's writes are seen, in what it shared, and not in what was copied. */
static void
test_later_writes (void)
{
  g_auto (Pair) pair = pair_new ();
  g_autoptr (MtlStridedView) shared = zeros_for_others (MTL_DTYPE_UINT8, DIMS (10));
  g_autoptr (MtlStridedView) plain = host_zeros (MTL_DTYPE_UINT8, DIMS (100000));
  g_autoptr (MtlStridedView) a = NULL;
  g_autoptr (MtlStridedView) b = NULL;

  send_view (pair.here, shared);
  send_view (pair.here, plain);
  a = receive_view (pair.there);
  b = receive_view (pair.there);
  memset (mtl_strided_view_get_data (shared), 9, 10);
  memset (mtl_strided_view_get_data (plain), 9, 100000);
  g_assert_cmpint (((guint8 *) mtl_strided_view_get_data (a))[9], ==, 9);
  g_assert_cmpint (((guint8 *) mtl_strided_view_get_data (b))[9], ==, 0);
}

static void
test_limits (void)
{
  g_auto (Pair) pair = pair_new ();
  g_autoptr (MtlStridedView) view = zeros_for_others (MTL_DTYPE_UINT8, DIMS (1000));
  g_autoptr (MtlStridedView) small = new_bytes (10);
  g_autoptr (MtlStridedView) first = NULL;
  g_autoptr (MtlStridedView) second = NULL;

  mtl_tensor_connection_set_max_views (pair.there, 1);
  for (int i = 0; i < 3; i++)
    send_view (pair.here, i == 2 ? small : view);
  first = receive_view (pair.there);
  assert_fails (mtl_tensor_connection_receive (pair.there, NULL, NULL, &error), MTL_ERROR_BUSY,
                "1 & 1000");
  second = receive_view (pair.there); /* elements in the message need no descriptor */
  assert_same_elements (small, second);
  g_clear_object (&first);
  g_clear_object (&second);

  mtl_tensor_connection_set_max_views (pair.there, 10);
  mtl_tensor_connection_set_max_bytes (pair.there, 1999);
  for (int i = 0; i < 3; i++)
    send_view (pair.here, view);
  first = receive_view (pair.there);
  assert_fails (mtl_tensor_connection_receive (pair.there, NULL, NULL, &error), MTL_ERROR_BUSY,
                "1000 & 1999");
  g_clear_object (&first);
  first = receive_view (pair.there);
}

/* Mappings that are kept for later views are limited, too. */
static void
test_kept_mappings (void)
{
  g_auto (Pair) pair = pair_new ();

  for (int n_kept = 4; n_kept > 0; n_kept--)
    {
      mtl_tensor_connection_set_max_bytes (pair.there, n_kept * 100000 + 99999);
      for (int i = 0; i < 6; i++)
        {
          g_autoptr (MtlStridedView) view = zeros_for_others (MTL_DTYPE_UINT8, DIMS (100000));

          send_view (pair.here, view);
          g_object_unref (receive_view (pair.there));
        }
      g_assert_cmpuint (count_mappings (), ==, n_kept);
    }
}

/* Answers with the sum of the first and the last byte. */
static void
add_up_forever (int fd)
{
  MtlTensorConnection *connection = connect_fd (fd);

  for (;;)
    {
      g_autoptr (MtlStridedView) view =
        mtl_tensor_connection_receive (connection, NULL, NULL, NULL);
      g_autoptr (MtlStridedView) answer = NULL;
      const guint8 *bytes;

      if (view == NULL)
        _exit (0);
      bytes = mtl_strided_view_get_data (view);
      answer = host_zeros (MTL_DTYPE_UINT8,
                           DIMS (bytes[0] + bytes[mtl_strided_view_get_volume (view) - 1]));

      /* The sender has its memory back when the answer comes, or it would need more at times. */
      g_clear_object (&view);
      if (!mtl_tensor_connection_send (connection, answer, NULL, NULL, NULL))
        _exit (1);
    }
}

typedef struct
{
  gsize own;
  gsize shared;
} ResidentSize;

static ResidentSize
get_resident_size (pid_t process)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/statm", process);
  g_autofree char *text = NULL;
  gsize all, resident, shared, page_size = sysconf (_SC_PAGESIZE);

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_assert_cmpint (sscanf (text, "%" G_GSIZE_FORMAT " %" G_GSIZE_FORMAT " %" G_GSIZE_FORMAT, &all,
                           &resident, &shared), ==, 3);
  return (ResidentSize) { (resident - shared) * page_size, shared * page_size };
}

/* The three pages of each of 10,000 frames would add up to 120 MB. */
static void
assert_not_grown (pid_t        process,
                  ResidentSize before)
{
  ResidentSize now = get_resident_size (process);

  g_assert_cmpuint (now.shared, <, before.shared + (16 << 20));

  /* AddressSanitizer keeps what is freed, and looks for leaks itself. valgrind keeps some. */
#ifndef __SANITIZE_ADDRESS__
  g_assert_cmpuint (now.own, <, before.own + (96 << 20));
#endif
}

/* 10,000 frames of 8 MB: neither process grows, nor has more descriptors. */
static void
test_frames (void)
{
  const gint64 size = 8000000;
  int fd;
  pid_t child = start_child (&fd, add_up_forever);
  g_autoptr (MtlTensorConnection) connection = connect_fd (fd);
  ResidentSize here = { 0 }, there = { 0 };
  guint n_fds = 0;

  for (int i = 0; i < 10000; i++)
    {
      g_autoptr (MtlStridedView) view = allocate (connection, MTL_DTYPE_UINT8, &size, 1);
      g_autoptr (MtlStridedView) answer = NULL;
      guint8 *bytes = mtl_strided_view_get_data (view);

      /* Filling all of them would measure the machine's memory. */
      bytes[0] = i % 100;
      bytes[size / 2] = i;
      bytes[size - 1] = i % 90;
      send_view (connection, view);
      answer = receive_view (connection);
      g_assert_cmpint (mtl_strided_view_get_volume (answer), ==, i % 100 + i % 90);
      if (i == 100)
        {
          n_fds = count_fds ();
          here = get_resident_size (getpid ());
          there = get_resident_size (child);
        }
      if (i > 100 && i % 1000 == 0)
        g_assert_cmpuint (count_fds (), ==, n_fds);
    }

  assert_not_grown (getpid (), here);
  assert_not_grown (child, there);
  g_clear_object (&connection);
  g_assert_cmpint (waitpid (child, NULL, 0), ==, child);
}

static gpointer
scribble (gpointer data)
{
  MtlStridedView *view = data;
  guint32 *words = mtl_strided_view_get_data (view);
  gsize n = mtl_strided_view_get_volume (view);
  guint32 state = 1;

  while (g_atomic_int_get ((int *) words) != 0x7fffffff)
    for (gsize i = 1; i < n; i++)
      {
        state = state * 1664525 + 1013904223;
        ((volatile guint32 *) words)[i] = state;
      }

  return NULL;
}

/* Whatever the owner writes meanwhile, a reader's results are numbers at worst. */
static void
test_changing_values (void)
{
  g_auto (Pair) pair = pair_new ();
  g_autoptr (MtlStridedView) own = zeros_for_others (MTL_DTYPE_UINT32, DIMS (2000));
  g_autoptr (MtlStridedView) received = NULL;
  GThread *thread;
  static const MtlDType dtypes[] = { MTL_DTYPE_FLOAT32, MTL_DTYPE_UINT8, MTL_DTYPE_FLOAT16,
                                     MTL_DTYPE_BOOL, MTL_DTYPE_FLOAT4_E2M1FN, MTL_DTYPE_INT16 };

  send_view (pair.here, own);
  received = receive_view (pair.there);
  thread = g_thread_new ("scribble", scribble, own);
  for (int i = 0; i < 300; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedView) part = slice (received, "1:");
      g_autoptr (MtlStridedView) view =
        mtl_strided_view_reinterpret (part, dtypes[i % G_N_ELEMENTS (dtypes)], &error);
      g_autoptr (MtlStatistics) statistics = NULL;
      g_autoptr (MtlStridedView) converted = NULL;
      g_autoptr (MtlStridedView) copy = NULL;
      g_autofree guint64 *counts = NULL;
      g_autofree char *text = NULL;
      gsize n_counts;

      g_assert_no_error (error);
      statistics = mtl_strided_view_compute_statistics (view, NULL, NULL, NULL, &error);
      g_assert_no_error (error);
      counts = mtl_strided_view_compute_histogram (view, -100, 100, 17, &n_counts, NULL, &error);
      g_assert_no_error (error);
      converted = mtl_strided_view_to_dtype (view, MTL_DTYPE_FLOAT64, MTL_ORDER_C, NULL, &error);
      g_assert_no_error (error);
      copy = mtl_strided_view_copy (view, MTL_ORDER_C, NULL, &error);
      g_assert_no_error (error);
      mtl_strided_view_array_equal (view, copy, MTL_COMPARE_FLAGS_NONE, NULL, &error);
      g_assert_no_error (error);
      text = mtl_strided_view_format (view, 100);
      g_assert_nonnull (text);
    }
  g_atomic_int_set ((int *) mtl_strided_view_get_data (own), 0x7fffffff);
  g_thread_join (thread);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/tensor-connection-memory/used-again", test_used_again);
  g_test_add_func ("/tensor-connection-memory/not-used-again", test_not_used_again);
  g_test_add_func ("/tensor-connection-memory/still-used", test_still_used);
  g_test_add_func ("/tensor-connection-memory/not-inherited", test_not_inherited);
  g_test_add_func ("/tensor-connection-memory/parts", test_parts);
  g_test_add_func ("/tensor-connection-memory/forked", test_forked);
  g_test_add_func ("/tensor-connection-memory/not-sent", test_not_sent);
  g_test_add_func ("/tensor-connection-memory/not-sent-after-all", test_not_sent_after_all);
  g_test_add_func ("/tensor-connection-memory/unread-descriptors", test_unread_descriptors);
  g_test_add_func ("/tensor-connection-memory/passed-on", test_passed_on);
  g_test_add_func ("/tensor-connection-memory/later-writes", test_later_writes);
  g_test_add_func ("/tensor-connection-memory/limits", test_limits);
  g_test_add_func ("/tensor-connection-memory/kept-mappings", test_kept_mappings);
  g_test_add_func ("/tensor-connection-memory/frames", test_frames);
  g_test_add_func ("/tensor-connection-memory/changing-values", test_changing_values);

  return g_test_run ();
}
