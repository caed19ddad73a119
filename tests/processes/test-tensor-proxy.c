/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tensors over D-Bus between processes: some are killed, some belong to another user, and some send
 * anything at all. This program is the other process, too. */

#include "dbus-peers.h"

#include <stdio.h>

#define INTERFACE "org.mtldl.Tensor1"
#define OTHER_USER 65534

#define N_KILLS 30

/* Many elements, so that calls take a while. */
#define N_MANY (1 << 21)

/* --- Other processes */

static const char *program; /* valgrind cannot run /proc/self/exe */

typedef struct
{
  GSubprocess *process;
  GDataInputStream *output;
} Child;

static gboolean
skip_without_children (void)
{
  if (!is_emulated ())
    return FALSE;

  g_test_skip ("an emulator cannot start programs for its processor");
  return TRUE;
}

static Child
start_child (const char *role,
             const char *address,
             const char *name,
             int         fd)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GSubprocessLauncher) launcher =
    g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE);
  Child self;

  if (fd >= 0)
    g_subprocess_launcher_take_fd (launcher, fd, 3);
  g_subprocess_launcher_set_child_setup (launcher, end_with_parent, NULL, NULL);
  self.process = g_subprocess_launcher_spawn (launcher, &error, program, role, address, name,
                                              NULL);
  g_assert_no_error (error);
  self.output = g_data_input_stream_new (g_subprocess_get_stdout_pipe (self.process));
  return self;
}

/* Returns NULL if the process has ended. */
static char *
read_line (Child *self)
{
  g_autoptr (GError) error = NULL;
  char *line = g_data_input_stream_read_line (self->output, NULL, NULL, &error);

  g_assert_no_error (error);
  return line;
}

static void
end_child (Child *self)
{
  g_clear_object (&self->output);
  g_clear_object (&self->process);
}

static void
await_success (Child *self)
{
  g_autoptr (GError) error = NULL;

  g_subprocess_wait_check (self->process, NULL, &error);
  g_assert_no_error (error);
  end_child (self);
}

typedef struct
{
  GSubprocess *process;
  guint delay;
} Kill;

static gpointer
kill_soon (gpointer data)
{
  Kill *self = data;

  g_usleep (self->delay);
  g_subprocess_force_exit (self->process); /* SIGKILL */
  return NULL;
}

static GDBusConnection *
connect_child (const char *address)
{
  g_autoptr (GError) error = NULL;
  GDBusConnection *connection;
  g_autoptr (GIOStream) stream = NULL;

  if (strcmp (address, "socket") != 0)
    return connect_to_bus (address);

  stream = make_stream (3);
  connection = g_dbus_connection_new_sync (stream, NULL,
                                           G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT, NULL,
                                           NULL, &error);
  g_assert_no_error (error);
  return connection;
}

static MtlStridedView *
make_many (MtlStorageMode mode)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *view = mtl_strided_view_new_zeros (NULL, MTL_DTYPE_UINT8, DIMS (N_MANY), mode,
                                                     &error);

  g_assert_no_error (error);
  return view;
}

static gboolean
fetches (MtlTensorProxy *proxy,
         GError        **error)
{
  g_autoptr (MtlStridedView) fetched = mtl_tensor_proxy_fetch_view (proxy, NULL, error);

  return fetched != NULL;
}

/* Calls an exporter until something fails. */
static GError *
call_until_error (MtlTensorProxy *proxy,
                  int            *n_calls)
{
  g_autoptr (MtlStridedView) shared = make_many (MTL_STORAGE_MODE_INTERPROCESS);
  g_autoptr (MtlStridedView) ordinary = make_many (MTL_STORAGE_MODE_HOST);
  g_autoptr (MtlStridedView) few = host_zeros (MTL_DTYPE_UINT8, DIMS (100));
  GError *error = NULL;

  for (*n_calls = 0; error == NULL; ++*n_calls)
    switch (*n_calls % 7)
      {
      case 1:
        mtl_tensor_proxy_put (proxy, ordinary, NULL, NULL, &error);
        break;
      case 2:
        mtl_tensor_proxy_put (proxy, shared, NULL, NULL, &error);
        break;
      case 3:
        mtl_tensor_proxy_copy_from (proxy, few, "100:200", NULL, &error);
        break;
      case 4:
        mtl_tensor_proxy_copy_from (proxy, ordinary, NULL, NULL, &error);
        break;
      case 5:
        mtl_tensor_proxy_copy_from (proxy, shared, NULL, NULL, &error);
        break;
      default:
        fetches (proxy, &error);
        break;
      }

  return error;
}

static gboolean
take (void)
{
  return TRUE;
}

static MtlExportedTensor *
new_generous (MtlStridedView *view)
{
  MtlExportedTensor *tensor = mtl_exported_tensor_new (view, MTL_TENSOR_PEER_FLAGS_NONE);

  mtl_exported_tensor_set_writable (tensor, TRUE);
  g_signal_connect (tensor, "put", G_CALLBACK (take), NULL);
  return tensor;
}

/* The other process as an exporter. */
static void
be_exporter (const char *address)
{
  g_autoptr (GError) error = NULL;
  GDBusConnection *connection = connect_child (address);
  g_autoptr (MtlStridedView) view = make_many (MTL_STORAGE_MODE_HOST);
  MtlExportedTensor *tensor = new_generous (view);
  const char *name = g_dbus_connection_get_unique_name (connection);

  mtl_exported_tensor_export (tensor, connection, OBJECT_PATH, &error);
  g_assert_no_error (error);
  printf ("%s\n", name != NULL ? name : "ready");
  fflush (stdout);
  for (;;)
    {
      g_main_context_iteration (NULL, TRUE);
      mtl_exported_tensor_announce_change (tensor, NULL, NULL);
    }
}

/* The other process as a caller. */
static int
be_caller (const char *address,
           const char *name)
{
  GDBusConnection *connection = connect_child (address);
  MtlTensorProxy *proxy =
    mtl_tensor_proxy_new (connection, name[0] != '\0' ? name : NULL, OBJECT_PATH);
  g_autoptr (GError) error = NULL;
  int n_calls;

  printf ("ready\n");
  fflush (stdout);
  error = call_until_error (proxy, &n_calls);
  g_printerr ("%s\n", error->message);
  return 1;
}

/* --- Processes that are killed */

/* A caller may be there before the tensor is, whose messages the flags can delay. */
static GDBusConnection *
connect_server (int                  fd,
                GDBusConnectionFlags flags)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *guid = g_dbus_generate_guid ();
  g_autoptr (GIOStream) stream = make_stream (fd);
  GDBusConnection *connection = g_dbus_connection_new_sync (
      stream, guid, G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_SERVER | flags, NULL, NULL, &error);

  g_assert_no_error (error);
  return connection;
}

static void
make_sockets (int ends[2])
{
  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), ==, 0);
}

static void
check_end (const GError *error)
{
  g_assert_nonnull (error);
  if (error->domain == G_DBUS_ERROR || error->domain == G_IO_ERROR)
    g_assert_false (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT));
  else
    g_error ("%s", error->message);
}

/* A view that was fetched stays after the end of its exporter. */
static void
run_until_killed (MtlTensorProxy *proxy,
                  Child          *child,
                  int            *n_calls)
{
  g_autoptr (MtlStridedView) kept = fetch (proxy);
  g_autoptr (MtlStridedView) zeros = make_many (MTL_STORAGE_MODE_HOST);
  Kill plan = { child->process, pick (0, 30000) };
  GThread *thread = g_thread_new ("kill", kill_soon, &plan);
  g_autoptr (GError) error = call_until_error (proxy, n_calls);

  check_end (error);
  g_thread_join (thread);
  assert_same_elements (kept, zeros);
}

static void
test_killed_exporter (void)
{
  Bus bus;
  GDBusConnection *caller;
  int n_total = 0;

  if (skip_without_children ())
    return;

  start_bus (&bus);
  caller = connect_to_bus (bus.address);
  for (int i = 0; i < N_KILLS; i++)
    {
      int ends[2] = { -1, -1 }, n_calls;
      gboolean by_bus = i % 2 == 0;
      g_autofree char *name = NULL;
      g_autoptr (MtlTensorProxy) proxy = NULL;
      GDBusConnection *connection;
      Child child;

      if (!by_bus)
        make_sockets (ends);
      child = start_child ("exporter", by_bus ? bus.address : "socket", "", ends[1]);
      connection = by_bus ? g_object_ref (caller)
                          : connect_server (ends[0], G_DBUS_CONNECTION_FLAGS_NONE);
      name = read_line (&child);
      g_assert_nonnull (name);
      proxy = mtl_tensor_proxy_new (connection, by_bus ? name : NULL, OBJECT_PATH);
      run_until_killed (proxy, &child, &n_calls);
      n_total += n_calls;
      g_clear_object (&proxy);
      if (by_bus)
        g_object_unref (connection);
      else
        await_finalized (connection);
      end_child (&child);
    }

  g_test_message ("%d calls before the ends of exporters", n_total);
  g_dbus_connection_close_sync (caller, NULL, NULL);
  await_finalized (caller);
  stop_bus (&bus);
}

static void
test_killed_caller (Peers         *peers,
                    gconstpointer  way)
{
  if (skip_without_children ())
    return;

  for (int i = 0; i < N_KILLS; i++)
    {
      g_autoptr (MtlStridedView) view =
        make_many (i % 3 == 0 ? MTL_STORAGE_MODE_INTERPROCESS : MTL_STORAGE_MODE_HOST);
      MtlExportedTensor *tensor = export_view (peers, view, MTL_TENSOR_PEER_FLAGS_NONE);
      g_autoptr (MtlTensorProxy) proxy = make_proxy (peers);
      g_autoptr (MtlStridedView) fetched = NULL;
      g_autofree char *line = NULL;
      Kill plan = { .delay = pick (0, 30000) };
      Child child;

      mtl_exported_tensor_set_writable (tensor, TRUE);
      g_signal_connect (tensor, "put", G_CALLBACK (take), NULL);
      child = start_child ("caller", peers->bus.address, get_bus_name (peers), -1);
      line = read_line (&child);
      g_assert_cmpstr (line, ==, "ready");
      plan.process = child.process;
      kill_soon (&plan);
      fetched = fetch (proxy);
      g_subprocess_wait (child.process, NULL, NULL);
      g_assert_true (g_subprocess_get_if_signaled (child.process));
      end_child (&child);
      end_export (tensor);
    }
}

/* Without a bus, the end of the caller is that of the connection and of the export. */
static void
test_killed_peer (void)
{
  if (skip_without_children ())
    return;

  for (int i = 0; i < N_KILLS; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedView) view = make_many (MTL_STORAGE_MODE_HOST);
      g_autofree char *line = NULL;
      MtlExportedTensor *tensor = new_generous (view);
      GDBusConnection *connection;
      int ends[2];
      Kill plan;
      Child child;
      GThread *thread;

      make_sockets (ends);
      child = start_child ("caller", "socket", "", ends[1]);
      connection = connect_server (ends[0], G_DBUS_CONNECTION_FLAGS_DELAY_MESSAGE_PROCESSING);
      mtl_exported_tensor_export (tensor, connection, OBJECT_PATH, &error);
      g_assert_no_error (error);
      g_dbus_connection_start_message_processing (connection);
      plan = (Kill) { child.process, pick (0, 30000) };
      line = read_line (&child);
      g_assert_cmpstr (line, ==, "ready");
      thread = g_thread_new ("kill", kill_soon, &plan);
      while (!g_dbus_connection_is_closed (connection))
        g_main_context_iteration (NULL, TRUE);
      g_thread_join (thread);
      g_subprocess_wait (child.process, NULL, NULL);
      g_assert_true (g_subprocess_get_if_signaled (child.process));
      end_child (&child);
      await_finalized (tensor);
      await_finalized (connection);
    }
}

/* --- Other users */

static void
become_other_user (void)
{
  g_assert_cmpint (setresgid (OTHER_USER, OTHER_USER, OTHER_USER), ==, 0);
  g_assert_cmpint (setresuid (OTHER_USER, OTHER_USER, OTHER_USER), ==, 0);
}

static void
assert_denied (GError **error)
{
  assert_failed_with (*error, G_DBUS_ERROR, G_DBUS_ERROR_ACCESS_DENIED, "65534 & 0");
}

static void
call_as_other_user (GDBusConnection *connection,
                    const char      *name)
{
  GError *error = NULL;
  g_autoptr (MtlStridedView) view = new_bytes (3);
  g_autoptr (MtlTensorProxy) strict = mtl_tensor_proxy_new (connection, name, "/strict");
  g_autoptr (MtlTensorProxy) open = mtl_tensor_proxy_new (connection, name, "/open");
  g_autoptr (MtlStridedView) fetched = NULL;
  g_autoptr (MtlStridedView) row = NULL;

  for (int i = 0; i < 3; i++)
    {
      g_assert_null (mtl_tensor_proxy_fetch_view (strict, NULL, &error));
      assert_denied (&error);
      g_assert_null (mtl_tensor_proxy_fetch_layout (strict, NULL, NULL, NULL, &error));
      assert_denied (&error);
      g_assert_false (mtl_tensor_proxy_put (strict, view, NULL, NULL, &error));
      assert_denied (&error);
      g_assert_false (mtl_tensor_proxy_copy_from (strict, view, NULL, NULL, &error));
      assert_denied (&error);
    }

  fetched = fetch (open);
  g_assert_true (mtl_buffer_is_interprocess (mtl_strided_view_get_buffer (fetched)));
  row = slice (fetched, "newaxis, :");
  g_assert_cmpint (get_number_at (row, 0, 1, 0), ==, 7);
  mtl_tensor_proxy_put (open, fetched, NULL, NULL, &error);
  g_assert_no_error (error);
}

static void
be_other_user (const char *address,
               const char *name)
{
  g_autoptr (GError) error = NULL;
  GDBusConnection *connection;

  become_other_user ();
  if (name[0] != '\0')
    connection = connect_to_bus (address);
  else
    connection = g_dbus_connection_new_for_address_sync (
        address, G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT, NULL, NULL, &error);
  g_assert_no_error (error);
  call_as_other_user (connection, name[0] != '\0' ? name : NULL);
  _exit (0); /* the sanitizer cannot look for leaks of a process that has changed its user */
}

typedef struct
{
  MtlExportedTensor *strict;
  MtlExportedTensor *open;
  int n_taken;
} Both;

static gboolean
on_put (MtlExportedTensor *tensor,
        MtlStridedView    *view,
        GVariant          *extras,
        Both              *self)
{
  g_assert_true (tensor == self->open);
  self->n_taken++;
  return TRUE;
}

static void
export_both (Both            *self,
             GDBusConnection *connection)
{
  g_autoptr (GError) error = NULL;

  mtl_exported_tensor_export (self->strict, connection, "/strict", &error);
  g_assert_no_error (error);
  mtl_exported_tensor_export (self->open, connection, "/open", &error);
  g_assert_no_error (error);
}

typedef struct
{
  Both *both; /* NULL for the side that calls */
  GDBusConnection *connection;
} Accepted;

/* No message of the caller is processed before this returns. */
static gboolean
accept_connection (GDBusServer     *server,
                   GDBusConnection *connection,
                   Accepted        *self)
{
  if (self->both != NULL)
    export_both (self->both, connection);
  self->connection = g_object_ref (connection);
  return TRUE;
}

static GDBusServer *
listen_in (const char *folder,
           Accepted   *accepted)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *guid = g_dbus_generate_guid ();
  g_autofree char *address = g_strconcat ("unix:path=", folder, "/peer", NULL);
  g_autofree char *path = g_build_filename (folder, "peer", NULL);
  GDBusServer *server = g_dbus_server_new_sync (address, G_DBUS_SERVER_FLAGS_NONE, guid, NULL,
                                                NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpint (chmod (path, 0777), ==, 0);
  g_signal_connect (server, "new-connection", G_CALLBACK (accept_connection), accepted);
  g_dbus_server_start (server);
  return server;
}

/* The other user waits for a connection, and calls what it finds there. */
static void
be_other_server (const char *folder)
{
  g_autoptr (GDBusServer) server = NULL;
  Accepted accepted = { NULL };

  become_other_user ();
  server = listen_in (folder, &accepted);
  printf ("%s\n", g_dbus_server_get_client_address (server));
  fflush (stdout);
  while (accepted.connection == NULL)
    g_main_context_iteration (NULL, TRUE);
  call_as_other_user (accepted.connection, NULL);
  _exit (0);
}

static gboolean
is_alive (Child *child)
{
  const char *id = g_subprocess_get_identifier (child->process);

  g_main_context_iteration (NULL, FALSE);
  g_usleep (1000);
  return id != NULL;
}

static void
serve_until_end (Child *child)
{
  while (is_alive (child))
    ;
  await_success (child);
}

static void
test_other_user (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = zeros_for_others (MTL_DTYPE_UINT8, DIMS (3));
  g_autoptr (MtlStridedView) row = NULL;
  g_autoptr (GDBusServer) server = NULL;
  GDBusConnection *connection = NULL, *peer = NULL;
  Both both = { NULL };
  Accepted accepted = { &both };
  g_autofree char *address = NULL;
  g_autofree char *path = NULL;
  Child child;
  Bus bus;

  if (skip_without_children ())
    return;

  if (geteuid () != 0)
    {
      g_test_skip ("needs root, to become another user");
      return;
    }

  start_bus (&bus);
  row = slice (view, "newaxis, :");
  set_number_at (row, 0, 1, 0, 7);
  both.strict = mtl_exported_tensor_new (view, MTL_TENSOR_PEER_FLAGS_NONE);
  both.open = mtl_exported_tensor_new (view, MTL_TENSOR_PEER_FLAGS_ALLOW_OTHER_USERS);
  mtl_exported_tensor_set_writable (both.strict, TRUE);
  g_signal_connect (both.strict, "put", G_CALLBACK (on_put), &both);
  g_signal_connect (both.open, "put", G_CALLBACK (on_put), &both);

  /* On a bus. */
  connection = connect_to_bus (bus.address);
  export_both (&both, connection);
  child = start_child ("other-user", bus.address, g_dbus_connection_get_unique_name (connection),
                       -1);
  serve_until_end (&child);
  g_assert_cmpint (both.n_taken, ==, 1);
  mtl_exported_tensor_unexport (both.open, NULL);
  mtl_exported_tensor_unexport (both.strict, NULL);
  g_dbus_connection_close_sync (connection, NULL, NULL);
  await_finalized (connection);

  /* The other user has connected to this process. */
  server = listen_in (bus.folder, &accepted);
  child = start_child ("other-user", g_dbus_server_get_client_address (server), "", -1);
  serve_until_end (&child);
  g_assert_cmpint (both.n_taken, ==, 2);
  mtl_exported_tensor_unexport (both.open, NULL);
  mtl_exported_tensor_unexport (both.strict, NULL);
  g_dbus_server_stop (server);
  await_finalized (accepted.connection);
  path = g_build_filename (bus.folder, "peer", NULL);
  unlink (path);

  /* This process has connected to the other user's. */
  g_assert_cmpint (chmod (bus.folder, 01777), ==, 0);
  child = start_child ("other-server", bus.folder, "", -1);
  address = read_line (&child);
  peer = g_dbus_connection_new_for_address_sync (
      address, G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT
      | G_DBUS_CONNECTION_FLAGS_DELAY_MESSAGE_PROCESSING, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_null (g_dbus_connection_get_peer_credentials (peer));
  export_both (&both, peer);
  g_dbus_connection_start_message_processing (peer);
  serve_until_end (&child);
  g_assert_cmpint (both.n_taken, ==, 3);
  mtl_exported_tensor_unexport (both.open, NULL);
  mtl_exported_tensor_unexport (both.strict, NULL);
  await_finalized (peer);
  unlink (path);

  await_finalized (both.open);
  await_finalized (both.strict);
  stop_bus (&bus);
}

/* --- Callers that break the rules */

static GDBusMessage *
count_questions (GDBusConnection *connection,
                 GDBusMessage    *message,
                 gboolean         is_incoming,
                 gpointer         n_asked)
{
  if (is_incoming
      && g_dbus_message_get_message_type (message) == G_DBUS_MESSAGE_TYPE_METHOD_CALL)
    g_atomic_int_inc ((int *) n_asked);
  return message;
}

/* Without a bus, a caller may claim any name, and could answer for the bus if it was asked. */
static void
test_claimed_name (Peers         *peers,
                   gconstpointer  way)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = new_bytes (10);
  MtlExportedTensor *tensor = export_view (peers, view, MTL_TENSOR_PEER_FLAGS_NONE);
  g_autoptr (GDBusMessage) message =
    g_dbus_message_new_method_call (NULL, OBJECT_PATH, INTERFACE, "Get");
  g_autoptr (GDBusMessage) reply = NULL;
  int n_asked = 0;
  guint filter = g_dbus_connection_add_filter (peers->caller, count_questions, &n_asked, NULL);

  g_dbus_message_set_sender (message, ":1.1");
  g_dbus_message_set_body (message, g_variant_new_parsed ("(@a{sv} {},)"));
  reply = g_dbus_connection_send_message_with_reply_sync (peers->caller, message,
                                                          G_DBUS_SEND_MESSAGE_FLAGS_NONE, -1, NULL,
                                                          NULL, &error);
  g_assert_no_error (error);
  g_dbus_connection_remove_filter (peers->caller, filter);
  g_assert_cmpint (g_atomic_int_get (&n_asked), ==, 0);
  g_assert_cmpint (g_dbus_message_get_message_type (reply), ==,
                   G_DBUS_MESSAGE_TYPE_METHOD_RETURN);
  end_export (tensor);
}

static void
test_many_descriptors (Peers         *peers,
                       gconstpointer  way)
{
  g_autoptr (MtlStridedView) view = new_bytes (10);
  g_autoptr (GVariant) description = mtl_strided_view_to_variant (view, NULL, NULL, NULL);
  MtlExportedTensor *tensor = export_view (peers, view, MTL_TENSOR_PEER_FLAGS_NONE);

  g_signal_connect (tensor, "put", G_CALLBACK (take), NULL);
  for (int n = 2; n <= 3; n++)
    {
      g_autoptr (GUnixFDList) fds = g_unix_fd_list_new ();
      g_autoptr (GVariant) reply = NULL;
      GError *error = NULL;

      for (int i = 0; i < n; i++)
        g_assert_cmpint (g_unix_fd_list_append (fds, 0, NULL), ==, i);
      reply = g_dbus_connection_call_with_unix_fd_list_sync (
          peers->caller, get_bus_name (peers), OBJECT_PATH, INTERFACE, "Put",
          g_variant_new_tuple (&description, 1), NULL, G_DBUS_CALL_FLAGS_NONE, -1, fds, NULL, NULL,
          &error);
      if (n == 2)
        g_assert_no_error (error);
      else
        assert_failed (error, MTL_ERROR_INVALID_DATA, "3 & 2");
    }

  end_export (tensor);
}

/* --- Processes that send anything */

typedef enum
{
  FIELD_MEMORY,
  FIELD_OFFSET,
  FIELD_CODE,
  FIELD_BITS,
  FIELD_LANES,
  FIELD_SHAPE,
  FIELD_STRIDES,
  FIELD_EXTRAS,
  N_FIELDS
} Field;

static gint64
draw_number (void)
{
  static const gint64 extremes[] = { 0, 1, -1, 2, 63, 64, 65, 4096, 65536, 65537, G_MAXINT32,
                                     G_MININT32, G_MAXUINT32, G_MAXINT64, G_MININT64,
                                     G_MAXINT64 - 1, G_MAXINT64 / 2, G_MININT64 / 2 };

  switch (pick (0, 3))
    {
    case 0:
      return extremes[pick (0, G_N_ELEMENTS (extremes) - 1)];
    case 1:
      return POW2 (pick (0, 62)) + pick (-2, 2);
    case 2:
      return (gint64) ((guint64) g_test_rand_int () << 32 | (guint32) g_test_rand_int ());
    default:
      return pick (-10, 10);
    }
}

static GVariant *
draw_dims (void)
{
  gint64 dims[70];
  int n = happens (80) ? pick (0, 4) : pick (0, 70);

  for (int i = 0; i < n; i++)
    dims[i] = happens (50) ? pick (0, 5) : draw_number ();
  return g_variant_new_fixed_array (G_VARIANT_TYPE_INT64, dims, n, sizeof (gint64));
}

static GVariant *
draw_bytes (void)
{
  guint8 bytes[300];
  int n = pick (0, sizeof bytes);

  fill_at_random (bytes, n);
  return g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, bytes, n, 1);
}

static GVariant *
draw_value (void)
{
  switch (pick (0, 8))
    {
    case 0:
      return g_variant_new_boolean (happens (50));
    case 1:
      return g_variant_new_byte (g_test_rand_int ());
    case 2:
      return g_variant_new_handle (happens (80) ? pick (-1, 3) : (gint32) draw_number ());
    case 3:
      return g_variant_new_string ("text");
    case 4:
      return g_variant_new ("(ii)", pick (-1, 20), pick (-1, 2));
    case 5:
      return g_variant_new_strv ((const char *const[]){ "name", "padded", "fence" }, pick (0, 3));
    case 6:
      return g_variant_new_variant (g_variant_new_int64 (draw_number ()));
    case 7:
      return draw_bytes ();
    default:
      return draw_dims ();
    }
}

static GVariant *
draw_extras (void)
{
  static const char *const keys[] = { "version", "needs", "padded", "byte-order", "device",
                                      "release", "name", "fence", "" };
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE_VARDICT);
  for (int i = pick (0, 3); i > 0; i--)
    g_variant_builder_add (&builder, "{sv}", keys[pick (0, G_N_ELEMENTS (keys) - 1)],
                           draw_value ());
  return g_variant_builder_end (&builder);
}

static GVariant *
draw_field (Field field)
{
  switch (field)
    {
    case FIELD_MEMORY:
      return g_variant_new_variant (happens (40) ? draw_value ()
                                    : happens (50) ? g_variant_new_handle (pick (0, 2))
                                                   : draw_bytes ());
    case FIELD_OFFSET:
      return g_variant_new_uint64 (draw_number ());
    case FIELD_CODE:
    case FIELD_BITS:
      return g_variant_new_byte (happens (50) ? pick (0, 20) : g_test_rand_int ());
    case FIELD_LANES:
      return g_variant_new_uint16 (happens (50) ? pick (0, 5) : g_test_rand_int ());
    case FIELD_EXTRAS:
      return draw_extras ();
    default:
      return draw_dims ();
    }
}

/* A description that is right, or has some other fields. */
static GVariant *
draw_tensor (void)
{
  static const gint64 shape[] = { 4, 5 }, strides[] = { 5, 1 };
  GVariant *fields[N_FIELDS] = {
    [FIELD_MEMORY] = g_variant_new_variant (happens (50) ? g_variant_new_handle (0)
                                                         : draw_bytes ()),
    [FIELD_OFFSET] = g_variant_new_uint64 (pick (0, 100)),
    [FIELD_CODE] = g_variant_new_byte (1),
    [FIELD_BITS] = g_variant_new_byte (8),
    [FIELD_LANES] = g_variant_new_uint16 (1),
    [FIELD_SHAPE] = g_variant_new_fixed_array (G_VARIANT_TYPE_INT64, shape, 2, 8),
    [FIELD_STRIDES] = g_variant_new_fixed_array (G_VARIANT_TYPE_INT64, strides, 2, 8),
    [FIELD_EXTRAS] = g_variant_new_array (G_VARIANT_TYPE ("{sv}"), NULL, 0),
  };

  for (int i = pick (0, 3); i > 0; i--)
    {
      Field field = pick (0, N_FIELDS - 1);

      g_variant_unref (g_variant_ref_sink (fields[field]));
      fields[field] = draw_field (field);
    }

  return g_variant_new_tuple (fields, N_FIELDS);
}

static int
draw_fd (void)
{
  int ends[2], fd;

  switch (pick (0, 6))
    {
    case 0:
      return open ("/dev/null", O_RDONLY | O_CLOEXEC);
    case 1:
      return open ("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    case 2:
      g_assert_cmpint (pipe2 (ends, O_CLOEXEC), ==, 0);
      fd = pick (0, 1);
      close (ends[1 - fd]);
      return ends[fd];
    case 3:
      return make_memfd (pick (1, 10000), 0);
    case 4:
      fd = memfd_create ("sparse", MFD_CLOEXEC | MFD_ALLOW_SEALING);
      g_assert_cmpint (ftruncate (fd, POW2 (pick (30, 50))), ==, 0);
      g_assert_cmpint (fcntl (fd, F_ADD_SEALS, F_SEAL_SHRINK), ==, 0);
      return fd;
    default:
      return make_memfd (pick (1, 100000), F_SEAL_SHRINK | F_SEAL_GROW);
    }
}

/* Returns NULL if there are none. */
static GUnixFDList *
draw_fds (void)
{
  int fds[4], n = happens (20) ? 0 : pick (1, 3);

  for (int i = 0; i < n; i++)
    fds[i] = draw_fd ();
  return n > 0 ? g_unix_fd_list_new_from_array (fds, n) : NULL;
}

static GVariant *
draw_arguments (const char *method)
{
  static const char *const regions[] = { "", "...", "0", "::-1", "7", "x", ":, :, :",
                                         "\xe2\x80\xa6, newaxis" };
  GVariant *tensor = draw_tensor ();

  return strcmp (method, "Put") == 0
         ? g_variant_new_tuple (&tensor, 1)
         : g_variant_new ("(@(vtyyqaxaxa{sv})s)", tensor,
                          regions[pick (0, G_N_ELEMENTS (regions) - 1)]);
}

/* Either a result, or an error that says why. */
static void
count_outcome (gboolean  is_done,
               GError   *error,
               int      *n_done)
{
  g_assert_true (is_done == (error == NULL));
  if (is_done)
    {
      ++*n_done;
      return;
    }

  if (error->domain != MTL_ERROR && !g_error_matches (error, G_IO_ERROR, G_IO_ERROR_FAILED))
    g_error ("%s, %d: %s", g_quark_to_string (error->domain), error->code, error->message);
  g_assert_cmpint (error->message[0], !=, '\0');
  g_error_free (error);
}

typedef struct
{
  int n_waiting;
  int n_done;
} Outcomes;

static void
on_reply (GObject      *connection,
          GAsyncResult *result,
          gpointer      data)
{
  Outcomes *self = data;
  GError *error = NULL;
  g_autoptr (GVariant) reply = g_dbus_connection_call_with_unix_fd_list_finish (
      G_DBUS_CONNECTION (connection), NULL, result, &error);

  self->n_waiting--;
  count_outcome (reply != NULL, error, &self->n_done);
}

static void
test_hostile_callers (Peers         *peers,
                      gconstpointer  way)
{
  guint64 n_cases = get_number ("MTL_TEST_CASES", 100000), n;
  gint64 deadline = g_get_monotonic_time () + get_number ("MTL_TEST_SECONDS", 3) * G_USEC_PER_SEC;
  g_autoptr (MtlStridedView) view = host_zeros (MTL_DTYPE_UINT8, DIMS (4, 5));
  MtlExportedTensor *tensor = export_view (peers, view, MTL_TENSOR_PEER_FLAGS_NONE);
  g_autoptr (MtlTensorProxy) proxy = make_proxy (peers);
  Outcomes outcomes = { 0 };

  mtl_exported_tensor_set_writable (tensor, TRUE);
  g_signal_connect (tensor, "put", G_CALLBACK (take), NULL);
  for (n = 0; n < n_cases && g_get_monotonic_time () < deadline; n++)
    {
      const char *method = happens (50) ? "Put" : "Copy";
      g_autoptr (GUnixFDList) fds = draw_fds ();

      g_dbus_connection_call_with_unix_fd_list (
          peers->caller, get_bus_name (peers), OBJECT_PATH, INTERFACE, method,
          draw_arguments (method), NULL, G_DBUS_CALL_FLAGS_NONE, -1, fds, NULL, on_reply,
          &outcomes);
      for (outcomes.n_waiting++; outcomes.n_waiting >= 20;)
        g_main_context_iteration (NULL, TRUE);
    }
  while (outcomes.n_waiting > 0)
    g_main_context_iteration (NULL, TRUE);

  g_test_message ("%" G_GUINT64_FORMAT " calls, %d of them valid", n, outcomes.n_done);
  g_assert_cmpint (outcomes.n_done, >, 0);
  g_autoptr (MtlStridedView) fetched = fetch (proxy);
  assert_same_elements (view, fetched);
  end_export (tensor);
}

/* An exporter whose replies have any type and value. */
static GVariant *
draw_reply (const char *method)
{
  GVariant *value;

  if (happens (10))
    return happens (50) ? g_variant_new_tuple (NULL, 0) : g_variant_new ("(s)", "text");

  if (strcmp (method, "Get") == 0)
    {
      value = draw_tensor ();
      return g_variant_new_tuple (&value, 1);
    }

  if (strcmp (method, "GetAll") == 0)
    {
      static const char *const names[] = { "Shape", "Strides", "Dtype", "ReadOnly" };
      GVariantBuilder builder;

      g_variant_builder_init (&builder, G_VARIANT_TYPE ("(a{sv})"));
      g_variant_builder_open (&builder, G_VARIANT_TYPE_VARDICT);
      for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
        if (happens (95))
          g_variant_builder_add (&builder, "{sv}", names[i],
                                 happens (10) ? draw_value ()
                                 : i < 2      ? draw_dims ()
                                 : i == 2 ? g_variant_new_string (happens (90) ? "float32" : "no")
                                          : g_variant_new_boolean (TRUE));
      g_variant_builder_close (&builder);
      return g_variant_builder_end (&builder);
    }

  return g_variant_new_tuple (NULL, 0);
}

static GDBusMessage *
answer_at_random (GDBusConnection *connection,
                  GDBusMessage    *message,
                  gboolean         is_incoming,
                  gpointer         data)
{
  g_autoptr (GDBusMessage) reply = NULL;
  g_autoptr (GUnixFDList) fds = NULL;

  if (!is_incoming || g_dbus_message_get_message_type (message) != G_DBUS_MESSAGE_TYPE_METHOD_CALL)
    return message;

  if (happens (5))
    reply = g_dbus_message_new_method_error_literal (
        message, happens (50) ? "org.mtldl.Error.InvalidData" : "org.gtk.Nonsense", "a reason");
  else
    {
      reply = g_dbus_message_new_method_reply (message);
      g_dbus_message_set_body (reply, draw_reply (g_dbus_message_get_member (message)));
      fds = draw_fds ();
      g_dbus_message_set_unix_fd_list (reply, fds);
    }

  g_dbus_connection_send_message (connection, reply, G_DBUS_SEND_MESSAGE_FLAGS_NONE, NULL, NULL);
  g_object_unref (message);
  return NULL;
}

static void
test_hostile_exporters (Peers         *peers,
                        gconstpointer  way)
{
  guint64 n_cases = get_number ("MTL_TEST_CASES", 100000), n;
  gint64 deadline = g_get_monotonic_time () + get_number ("MTL_TEST_SECONDS", 3) * G_USEC_PER_SEC;
  g_autoptr (MtlTensorProxy) proxy = make_proxy (peers);
  g_autoptr (MtlStridedView) view = new_bytes (3);
  guint filter = g_dbus_connection_add_filter (peers->exporter, answer_at_random, NULL, NULL);
  int n_done = 0;

  for (n = 0; n < n_cases && g_get_monotonic_time () < deadline; n++)
    {
      GError *error = NULL;
      g_autoptr (GObject) object = NULL;
      gboolean is_done;

      switch (pick (0, 3))
        {
        case 0:
          is_done = mtl_tensor_proxy_put (proxy, view, NULL, NULL, &error);
          break;
        case 1:
          object = (GObject *) mtl_tensor_proxy_fetch_layout (proxy, NULL, NULL, NULL, &error);
          is_done = object != NULL;
          break;
        default:
          object = (GObject *) mtl_tensor_proxy_fetch_view (proxy, NULL, &error);
          is_done = object != NULL;
          break;
        }
      if (error != NULL && g_error_matches (error, G_IO_ERROR, G_IO_ERROR_DBUS_ERROR))
        {
          assert_says (error->message, "org.gtk.Nonsense & a reason");
          g_clear_error (&error);
          continue;
        }
      count_outcome (is_done, error, &n_done);
    }

  g_test_message ("%" G_GUINT64_FORMAT " calls, %d of them valid", n, n_done);
  g_assert_cmpint (n_done, >, 0);
  g_dbus_connection_remove_filter (peers->exporter, filter);
}

static void
on_changed (MtlTensorProxy *proxy,
            guint64         serial,
            const char     *region,
            GString        *all)
{
  g_string_append_printf (all, "%" G_GUINT64_FORMAT ":%s;", serial, region);
}

/* Signals of other types, paths and senders are nobody's. */
static void
test_hostile_signals (Peers         *peers,
                      gconstpointer  way)
{
  g_autoptr (MtlTensorProxy) proxy = make_proxy (peers);
  g_autoptr (GString) all = g_string_new (NULL);
  const struct
  {
    const char *path;
    const char *interface;
    const char *name;
    const char *arguments;
  } signals[] = {
    { OBJECT_PATH, INTERFACE, "Changed", "(uint64 1, 'first')" },
    { OBJECT_PATH, INTERFACE, "Changed", "('text',)" },
    { OBJECT_PATH, INTERFACE, "Changed", "(1, 'int32')" },
    { OBJECT_PATH, INTERFACE, "Changed", "()" },
    { OBJECT_PATH, INTERFACE, "Other", "(uint64 2, 'other')" },
    { OBJECT_PATH, "org.mtldl.Tensor2", "Changed", "(uint64 3, 'interface')" },
    { "/", INTERFACE, "Changed", "(uint64 4, 'path')" },
    { OBJECT_PATH, INTERFACE, "Changed", "(uint64 0, '][')" },
  };

  g_signal_connect (proxy, "changed", G_CALLBACK (on_changed), all);
  g_autoptr (MtlStridedView) view = new_bytes (1);
  MtlExportedTensor *tensor = export_view (peers, view, MTL_TENSOR_PEER_FLAGS_NONE);
  /* Afterwards, the bus knows of the subscription. */
  g_autoptr (MtlStridedView) fetched G_GNUC_UNUSED = fetch (proxy);
  for (gsize i = 0; i < G_N_ELEMENTS (signals); i++)
    {
      g_dbus_connection_emit_signal (peers->exporter, NULL, signals[i].path, signals[i].interface,
                                     signals[i].name,
                                     g_variant_new_parsed (signals[i].arguments), NULL);
    }
  while (strstr (all->str, "0:][;") == NULL)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpstr (all->str, ==, "1:first;0:][;");
  end_export (tensor);
}

#define ADD(name, function) \
  g_test_add ("/tensor-proxy/socket/" name, Peers, GINT_TO_POINTER (BY_SOCKET), set_up_peers, \
              function, tear_down_peers); \
  g_test_add ("/tensor-proxy/bus/" name, Peers, GINT_TO_POINTER (BY_BUS), set_up_peers, function, \
              tear_down_peers)

int
main (int    argc,
      char **argv)
{
  const char *role = argc == 4 ? argv[1] : "";

  program = argv[0];
  if (strcmp (role, "exporter") == 0)
    be_exporter (argv[2]);
  if (strcmp (role, "caller") == 0)
    return be_caller (argv[2], argv[3]);
  if (strcmp (role, "other-user") == 0)
    be_other_user (argv[2], argv[3]);
  if (strcmp (role, "other-server") == 0)
    be_other_server (argv[2]);

  program = argv[0];
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tensor-proxy/killed-exporter", test_killed_exporter);
  g_test_add ("/tensor-proxy/killed-caller", Peers, GINT_TO_POINTER (BY_BUS), set_up_peers,
              test_killed_caller, tear_down_peers);
  g_test_add_func ("/tensor-proxy/killed-peer", test_killed_peer);
  g_test_add_func ("/tensor-proxy/other-user", test_other_user);
  g_test_add ("/tensor-proxy/socket/claimed-name", Peers, GINT_TO_POINTER (BY_SOCKET), set_up_peers,
              test_claimed_name, tear_down_peers);
  ADD ("many-descriptors", test_many_descriptors);
  ADD ("hostile-callers", test_hostile_callers);
  ADD ("hostile-exporters", test_hostile_exporters);
  ADD ("hostile-signals", test_hostile_signals);
  return g_test_run ();
}
