/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Each system call and each allocation of memory for other processes, and of connections, fails,
 * one after another: that is an error, or the same as without. Nothing is left open or mapped, and
 * the arguments and the connection can be used as before. */

/* memfd_create(), pipe2() */
#define _GNU_SOURCE

#include "faults.h"

#include <errno.h>
#include <gio/gunixfdlist.h>
#include <sys/mman.h>

#include "../../processes/dbus-peers.h"

#define SIZE 10000
#define OFFSET 5001
#define RANGE 4000

/* Faults of new memory. */
#define MEMORY_FAULTS \
  { FAULT_MEMFD, EMFILE }, \
  { FAULT_MEMFD, ENFILE }, \
  { FAULT_MEMFD, EPERM }, \
  { FAULT_MEMFD, ENOMEM }, \
  { FAULT_MEMFD, EINVAL, TRUE }, \
  { FAULT_RESERVE, EFBIG }, \
  { FAULT_RESERVE, EIO }, \
  { FAULT_RESERVE, EINTR, TRUE }, \
  { FAULT_SEAL, EBUSY, FALSE, MTL_ERROR_NOT_SUPPORTED }, \
  { FAULT_SEAL, EINVAL, FALSE, MTL_ERROR_NOT_SUPPORTED }, \
  { FAULT_SEAL, EPERM, FALSE, MTL_ERROR_NOT_SUPPORTED }

/* Faults of any memory. */
#define COMMON_FAULTS \
  { FAULT_MAP, ENOMEM }, \
  { FAULT_MAP, EAGAIN }, \
  { FAULT_UNMAP, ENOMEM, TRUE }, \
  { FAULT_CLOSE, EIO, TRUE }, \
  { FAULT_CLOSE, EINTR, TRUE }, \
  { FAULT_ALLOCATE, ENOMEM }

static guint
try_faults (const FaultCase *self,
            const Fault     *faults,
            gsize            n_faults,
            guint            least)
{
  g_autoptr (GError) error = NULL;
  guint n_failed;

  g_assert_true (self->run (self->data, &error));
  g_assert_no_error (error);
  n_failed = faults_try_each (self, faults, n_faults);
  g_test_message ("%u calls failed", n_failed);
  g_assert_cmpuint (n_failed, >=, least);
  return n_failed;
}

static void
assert_range (gconstpointer bytes)
{
  for (gsize i = 0; i < RANGE; i++)
    g_assert_cmpint (((const guint8 *) bytes)[i], ==, get_peer_byte (OFFSET + i));
}

/* --- Memory */

static gboolean
run_new (gpointer   data,
         GError   **error)
{
  g_autoptr (MtlBuffer) buffer = mtl_buffer_new (NULL, SIZE, MTL_STORAGE_MODE_INTERPROCESS, error);

  if (buffer == NULL)
    return FALSE;

  memset (mtl_buffer_get_contents (buffer), 1, SIZE);
  return TRUE;
}

static void
test_new (void)
{
  static const Fault faults[] = {
    MEMORY_FAULTS, COMMON_FAULTS, { FAULT_FSTAT, EIO }, { FAULT_MAP, EPERM },
  };
  const FaultCase self = { .run = run_new };

  try_faults (&self, faults, G_N_ELEMENTS (faults), 15);
}

static gboolean
run_dup (gpointer   data,
         GError   **error)
{
  guint64 offset;
  int fd = mtl_buffer_dup_fd (data, &offset, error);

  return fd >= 0 && close (fd) == 0;
}

static void
test_dup_fd (void)
{
  static const Fault faults[] = { { FAULT_DUP, EMFILE }, { FAULT_DUP, EINVAL } };
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlBuffer) buffer = mtl_buffer_new (NULL, SIZE, MTL_STORAGE_MODE_INTERPROCESS, &error);
  const FaultCase self = { .run = run_dup, .data = buffer };

  g_assert_no_error (error);
  try_faults (&self, faults, G_N_ELEMENTS (faults), 2);
}

typedef struct
{
  int fd;
  MtlBufferFlags flags;
  gboolean is_mapped;
} FdCase;

static gboolean
run_for_fd (gpointer   data,
            GError   **error)
{
  const FdCase *self = data;
  g_autoptr (MtlBuffer) buffer =
    mtl_buffer_new_for_fd (self->fd, OFFSET, RANGE, self->flags, error);

  g_assert_cmpint (fcntl (self->fd, F_GETFD), ==, FD_CLOEXEC);
  if (buffer == NULL)
    return FALSE;

  assert_range (mtl_buffer_get_contents (buffer));
  return TRUE;
}

static void
try_fd (int            fd,
        MtlBufferFlags flags,
        const Fault   *faults,
        gsize          n_faults,
        guint          least)
{
  FdCase data = { fd, flags };
  const FaultCase self = { .run = run_for_fd, .data = &data };

  try_faults (&self, faults, n_faults, least);
  close (fd);
}

static void
test_for_fd_mapped (void)
{
  static const Fault faults[] = {
    COMMON_FAULTS, { FAULT_DUP, EMFILE }, { FAULT_FSTAT, EIO }, { FAULT_FSTATFS, EIO },
    { FAULT_ASK, EINVAL, FALSE, MTL_ERROR_NEEDS_COPY }, { FAULT_MAP, EACCES },
    { FAULT_MAP, EPERM, TRUE },
  };

  try_fd (make_memfd (SIZE, F_SEAL_SHRINK),
          MTL_BUFFER_FLAGS_READ_ONLY | MTL_BUFFER_FLAGS_NEVER_COPY, faults, G_N_ELEMENTS (faults),
          11);
}

/* Memory that others may write to is not private in place of that. */
static void
test_for_fd_writable (void)
{
  static const Fault faults[] = { COMMON_FAULTS, { FAULT_MAP, EPERM } };

  try_fd (make_memfd (SIZE, F_SEAL_SHRINK), MTL_BUFFER_FLAGS_NEVER_COPY, faults,
          G_N_ELEMENTS (faults), 6);
}

/* Bytes that cannot be mapped are read. */
static void
test_for_fd_read (void)
{
  static const Fault faults[] = {
    COMMON_FAULTS, { FAULT_DUP, EMFILE }, { FAULT_ASK, EINVAL, TRUE }, { FAULT_FSTAT, EIO },
    { FAULT_READ, EIO }, { FAULT_READ, EINTR, TRUE }, { FAULT_READ, 0, TRUE },
  };

  try_fd (make_memfd (SIZE, 0), MTL_BUFFER_FLAGS_NONE, faults, G_N_ELEMENTS (faults), 9);
}

/* --- Descriptions */

typedef struct
{
  MtlStridedView *view;
  GUnixFDList *fds; /* nullable */
} ViewCase;

static gboolean
run_to_variant (gpointer   data,
                GError   **error)
{
  const ViewCase *self = data;
  int n_fds = self->fds != NULL ? g_unix_fd_list_get_length (self->fds) : 0;
  g_autoptr (GUnixFDList) fds =
    self->fds != NULL ? g_unix_fd_list_new_from_array (NULL, 0) : NULL;
  GVariant *extras = g_variant_new_parsed ("{'name': <'x'>}");
  g_autoptr (GVariant) variant = mtl_strided_view_to_variant (self->view, fds, extras, error);

  g_assert_cmpint (n_fds, ==, 0);
  if (fds != NULL)
    g_assert_cmpint (g_unix_fd_list_get_length (fds), ==, variant != NULL);
  g_assert_cmpint (G_OBJECT (self->view)->ref_count, ==, 1);
  return variant != NULL;
}

static MtlStridedView *
new_view (gint64         n,
          MtlStorageMode mode)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *view = mtl_strided_view_new_filled (NULL, MTL_DTYPE_UINT8, DIMS (n), 42, mode,
                                                      &error);

  g_assert_no_error (error);
  return view;
}

static void
test_to_variant (void)
{
  static const Fault faults[] = { COMMON_FAULTS, { FAULT_DUP, EMFILE } };
  g_autoptr (MtlStridedView) shared = new_view (SIZE, MTL_STORAGE_MODE_INTERPROCESS);
  g_autoptr (MtlStridedView) plain = new_view (SIZE, MTL_STORAGE_MODE_HOST);
  g_autoptr (GUnixFDList) fds = g_unix_fd_list_new ();
  ViewCase by_fd = { shared, fds }, in_line = { plain };
  const FaultCase cases[] = {
    { .run = run_to_variant, .data = &by_fd }, { .run = run_to_variant, .data = &in_line },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    try_faults (&cases[i], faults, G_N_ELEMENTS (faults), 1);
}

typedef struct
{
  GVariant *variant;
  GUnixFDList *fds;
  gsize n_bytes;
} VariantCase;

static gboolean
run_from_variant (gpointer   data,
                  GError   **error)
{
  const VariantCase *self = data;
  int n_fds = g_unix_fd_list_get_length (self->fds);
  g_autoptr (MtlStridedView) view =
    mtl_strided_view_new_from_variant_fds (self->variant, self->fds, error);

  g_assert_cmpint (g_unix_fd_list_get_length (self->fds), ==, n_fds);
  if (view == NULL)
    return FALSE;

  assert_range (mtl_strided_view_get_data (view));
  return TRUE;
}

static void
test_from_variant (void)
{
  static const Fault faults[] = {
    COMMON_FAULTS, { FAULT_DUP, EMFILE }, { FAULT_FSTAT, EIO }, { FAULT_FSTATFS, EIO },
    { FAULT_ASK, EINVAL, FALSE, MTL_ERROR_INVALID_DATA }, { FAULT_MAP, EPERM, TRUE },
  };
  g_autoptr (GUnixFDList) fds = NULL;
  g_autoptr (GVariant) variant = g_variant_ref_sink (g_variant_new_parsed (
      "(<handle 0>, uint64 5001, byte 1, byte 8, uint16 1, [int64 4000], [int64 1], "
      "{'release': <handle 1>})"));
  VariantCase data;
  const FaultCase self = { .run = run_from_variant, .data = &data };
  int ends[2];

  g_assert_cmpint (pipe2 (ends, O_CLOEXEC), ==, 0);
  fds = g_unix_fd_list_new_from_array ((int[]) { make_memfd (SIZE, F_SEAL_SHRINK), ends[1] }, 2);
  data = (VariantCase) { variant, fds };
  try_faults (&self, faults, G_N_ELEMENTS (faults), 12);
  close (ends[0]);
}

/* Elements in the description are copied if they are not aligned there. */
static void
test_from_unaligned_variant (void)
{
  static const Fault faults[] = { COMMON_FAULTS };
  g_autoptr (GUnixFDList) fds = g_unix_fd_list_new ();
  g_autoptr (GVariant) variant = NULL;
  VariantCase data;
  const FaultCase self = { .run = run_from_variant, .data = &data };
  guint8 bytes[RANGE + 1];

  for (gsize i = 0; i < RANGE; i++)
    bytes[i + 1] = get_peer_byte (OFFSET + i);
  variant = g_variant_ref_sink (
      g_variant_new ("(vtyyq@ax@axa{sv})",
                     g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, bytes, sizeof bytes, 1),
                     (guint64) 1, 1, 8, 1, g_variant_new_parsed ("[int64 4000]"),
                     g_variant_new_parsed ("[int64 1]"), NULL));
  data = (VariantCase) { variant, fds };
  try_faults (&self, faults, G_N_ELEMENTS (faults), 1);
}

/* --- Connections */

static MtlTensorConnection *
connect_fd (int                fd,
            MtlTensorPeerFlags flags)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GSocket) socket = g_socket_new_from_fd (fd, &error);

  g_assert_no_error (error);
  return mtl_tensor_connection_new (socket, flags);
}

typedef enum
{
  SENT_AS_IT_IS,
  SENT_FROM_POOL,
} Sending;

typedef struct
{
  MtlStridedView *view;
  Sending way;
  gboolean is_async;
} ConnectionCase;

static void
take_result (GObject      *source,
             GAsyncResult *result,
             gpointer      data)
{
  *(GAsyncResult **) data = g_object_ref (result);
}

static GAsyncResult *
wait_for (GAsyncResult **result)
{
  while (*result == NULL)
    g_main_context_iteration (NULL, TRUE);
  return *result;
}

static MtlStridedView *
receive (MtlTensorConnection  *connection,
         gboolean              is_async,
         GError              **error)
{
  g_autoptr (GAsyncResult) result = NULL;

  if (!is_async)
    return mtl_tensor_connection_receive (connection, NULL, NULL, error);

  mtl_tensor_connection_receive_async (connection, NULL, take_result, &result);
  return mtl_tensor_connection_receive_finish (connection, wait_for (&result), NULL, error);
}

static MtlStridedView *
prepare (const ConnectionCase  *self,
         MtlTensorConnection   *connection,
         GError               **error)
{
  gint64 n = mtl_strided_view_get_volume (self->view);
  MtlStridedView *view;

  if (self->way == SENT_AS_IT_IS)
    return g_object_ref (self->view);

  view = mtl_tensor_connection_allocate_view (connection, MTL_DTYPE_UINT8, &n, 1, error);
  if (view != NULL)
    memset (mtl_strided_view_get_data (view), 42, n);
  return view;
}

static void
assert_received (MtlStridedView *view)
{
  const guint8 *bytes = mtl_strided_view_get_data (view);

  for (gint64 i = 0; i < mtl_strided_view_get_volume (view); i++)
    g_assert_cmpint (bytes[i], ==, 42);
}

/* Sends a view through the connections, and receives it. */
static gboolean
pass (const ConnectionCase  *self,
      MtlTensorConnection   *here,
      MtlTensorConnection   *there,
      GError               **error)
{
  g_autoptr (MtlStridedView) view = prepare (self, here, error);
  g_autoptr (MtlStridedView) received = NULL;

  if (view == NULL || !mtl_tensor_connection_send (here, view, NULL, NULL, error))
    return FALSE;

  received = receive (there, self->is_async, error);
  if (received == NULL)
    return FALSE;

  g_assert_cmpint (mtl_strided_view_get_volume (received), ==,
                   mtl_strided_view_get_volume (self->view));
  assert_received (received);
  return TRUE;
}

/* After a failure, views come through, perhaps after one that was not received before. */
static void
assert_usable (const ConnectionCase *self,
               MtlTensorConnection  *here,
               MtlTensorConnection  *there)
{
  g_autoptr (MtlStridedView) last = new_view (7, MTL_STORAGE_MODE_HOST);
  g_autoptr (GError) error = NULL;

  g_assert_true (mtl_tensor_connection_send (here, self->view, NULL, NULL, &error));
  g_assert_no_error (error);
  g_assert_true (mtl_tensor_connection_send (here, last, NULL, NULL, &error));
  g_assert_no_error (error);
  for (gint64 n = 0; n != 7;)
    {
      g_autoptr (MtlStridedView) received = receive (there, self->is_async, &error);

      g_assert_no_error (error);
      assert_received (received);
      n = mtl_strided_view_get_volume (received);
    }
}

/* Passes the view some times, so that memory and mappings are used again. */
static gboolean
run_connection (gpointer   data,
                GError   **error)
{
  const ConnectionCase *self = data;
  g_autoptr (MtlTensorConnection) here = NULL;
  g_autoptr (MtlTensorConnection) there = NULL;
  gboolean is_done = TRUE;
  int fds[2];

  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), ==, 0);
  here = connect_fd (fds[0], MTL_TENSOR_PEER_FLAGS_NONE);
  there = connect_fd (fds[1], MTL_TENSOR_PEER_FLAGS_NONE);
  for (int i = 0; i < 3 && is_done; i++)
    is_done = pass (self, here, there, error);

  faults_disarm ();
  assert_usable (self, here, there);
  g_assert_cmpint (G_OBJECT (self->view)->ref_count, ==, 1);
  return is_done;
}

static const Fault connection_faults[] = {
  MEMORY_FAULTS,
  COMMON_FAULTS,
  { FAULT_DUP, EMFILE },
  { FAULT_PIPE, EMFILE, TRUE },
  { FAULT_POLL, EINTR, TRUE },
  { FAULT_POLL, ENOMEM, TRUE },
  { FAULT_FSTAT, EIO, SOMETIMES },
  { FAULT_FSTATFS, EIO },
  { FAULT_ASK, EINVAL, SOMETIMES, MTL_ERROR_INVALID_DATA },
  { FAULT_SENDMSG, EIO },
  { FAULT_SENDMSG, ENOBUFS },
  { FAULT_SENDMSG, ENOMEM },
  { FAULT_SENDMSG, ETOOMANYREFS, FALSE, MTL_ERROR_BUSY },
  { FAULT_SENDMSG, EPIPE },
  { FAULT_SENDMSG, EINTR, TRUE },
  { FAULT_SENDMSG, EAGAIN, TRUE },
  { FAULT_SENDMSG, 0, TRUE },
  { FAULT_RECVMSG, EIO },
  { FAULT_RECVMSG, ENOMEM },
  { FAULT_RECVMSG, ECONNRESET },
  { FAULT_RECVMSG, EINTR, TRUE },
  { FAULT_RECVMSG, EAGAIN, TRUE },
  { FAULT_RECVMSG, 0, TRUE },
  { FAULT_USER, EPERM },
};

static void
try_connection (ConnectionCase *data,
                guint           least)
{
  const FaultCase self = { .run = run_connection, .data = data };

  try_faults (&self, connection_faults, G_N_ELEMENTS (connection_faults), least);
  g_object_unref (data->view);
}

static void
test_inline (void)
{
  try_connection (&(ConnectionCase) { new_view (SIZE, MTL_STORAGE_MODE_HOST) }, 65);
}

static void
test_shared (void)
{
  try_connection (&(ConnectionCase) { new_view (SIZE, MTL_STORAGE_MODE_INTERPROCESS) }, 90);
}

static void
test_copied (void)
{
  try_connection (&(ConnectionCase) { new_view (20 * SIZE, MTL_STORAGE_MODE_HOST) }, 120);
}

static void
test_from_pool (void)
{
  try_connection (&(ConnectionCase) { new_view (SIZE, MTL_STORAGE_MODE_HOST), SENT_FROM_POOL },
                  120);
}

static void
test_async (void)
{
  try_connection (&(ConnectionCase) { new_view (20 * SIZE, MTL_STORAGE_MODE_HOST), SENT_FROM_POOL,
                                      TRUE }, 120);
}

/* A peer of another user, as the system says: each call is refused. Connections that allow all
 * users do not ask. */
static void
test_user (void)
{
  static const Fault fault = { FAULT_USER, 0 };
  g_autoptr (MtlTensorConnection) here = NULL;
  g_autoptr (MtlTensorConnection) there = NULL;
  g_autoptr (MtlStridedView) view = new_view (7, MTL_STORAGE_MODE_HOST);
  g_autoptr (MtlStridedView) received = NULL;
  g_autofree char *users = g_strdup_printf ("%u & %u", geteuid (), geteuid () + 1);
  int fds[2];

  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), ==, 0);
  here = connect_fd (fds[0], MTL_TENSOR_PEER_FLAGS_NONE);
  there = connect_fd (fds[1], MTL_TENSOR_PEER_FLAGS_NONE);
  for (int i = 0; i < 4; i++)
    {
      GError *error = NULL;

      /* The first call asks for the peer's, the second for the own. */
      faults_arm (&fault, 1);
      if (i % 2 == 0)
        g_assert_false (mtl_tensor_connection_send (here, view, NULL, NULL, &error));
      else
        g_assert_null (mtl_tensor_connection_receive (there, NULL, NULL, &error));
      g_assert_true (faults_disarm ());
      assert_failed_with (error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED, users);
    }

  g_clear_object (&there);
  g_clear_object (&here);
  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), ==, 0);
  here = connect_fd (fds[0], MTL_TENSOR_PEER_FLAGS_ALLOW_OTHER_USERS);
  there = connect_fd (fds[1], MTL_TENSOR_PEER_FLAGS_ALLOW_OTHER_USERS);
  faults_arm (&fault, 0);
  g_assert_true (mtl_tensor_connection_send (here, view, NULL, NULL, NULL));
  received = mtl_tensor_connection_receive (there, NULL, NULL, NULL);
  g_assert_false (faults_disarm ());
  assert_received (received);
}

/* The same on D-Bus. */
static void
test_dbus_user (Peers         *peers,
                gconstpointer  way)
{
  static const Fault fault = { FAULT_USER, 0 };
  g_autoptr (MtlStridedView) view = new_view (7, MTL_STORAGE_MODE_HOST);
  g_autoptr (MtlTensorProxy) proxy = NULL;
  g_autofree char *users = g_strdup_printf ("%u & %u", geteuid (), geteuid () + 1);
  MtlExportedTensor *tensor;

  for (int allows_others = 0; allows_others < 2; allows_others++)
    {
      g_autoptr (MtlStridedView) fetched = NULL;
      GError *error = NULL;

      tensor = export_view (peers, view, allows_others ? MTL_TENSOR_PEER_FLAGS_ALLOW_OTHER_USERS
                                                       : MTL_TENSOR_PEER_FLAGS_NONE);
      g_clear_object (&proxy);
      proxy = make_proxy (peers);
      faults_arm (&fault, 0);
      fetched = mtl_tensor_proxy_fetch_view (proxy, NULL, &error);
      g_assert_true (faults_disarm () == !allows_others);
      if (allows_others)
        g_assert_no_error (error);
      else
        assert_failed_with (error, G_DBUS_ERROR, G_DBUS_ERROR_ACCESS_DENIED, users);
      end_export (tensor);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  /* It looks at mappings, before others let munmap() fail. */
  g_test_add ("/ProcessFaults/user-on-dbus", Peers, GINT_TO_POINTER (BY_SOCKET), set_up_peers,
              test_dbus_user, tear_down_peers);
  g_test_add_func ("/ProcessFaults/new", test_new);
  g_test_add_func ("/ProcessFaults/dup-fd", test_dup_fd);
  g_test_add_func ("/ProcessFaults/for-fd/mapped", test_for_fd_mapped);
  g_test_add_func ("/ProcessFaults/for-fd/writable", test_for_fd_writable);
  g_test_add_func ("/ProcessFaults/for-fd/read", test_for_fd_read);
  g_test_add_func ("/ProcessFaults/to-variant", test_to_variant);
  g_test_add_func ("/ProcessFaults/from-variant", test_from_variant);
  g_test_add_func ("/ProcessFaults/from-unaligned-variant", test_from_unaligned_variant);
  g_test_add_func ("/ProcessFaults/inline", test_inline);
  g_test_add_func ("/ProcessFaults/shared", test_shared);
  g_test_add_func ("/ProcessFaults/copied", test_copied);
  g_test_add_func ("/ProcessFaults/from-pool", test_from_pool);
  g_test_add_func ("/ProcessFaults/async", test_async);
  g_test_add_func ("/ProcessFaults/user", test_user);

  return g_test_run ();
}
