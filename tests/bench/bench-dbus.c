/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Round trips of tensors over D-Bus to another process, without a bus and over one, as ratios to a
 * bare descriptor on a socket that the receiver maps: a view is put, and the exporter reads the
 * first and the last byte; or it is fetched, and the caller reads them. GDBus alone carries the same
 * descriptor, which nobody maps. */

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gio/gunixfdlist.h>
#include <mtldl/mtldl.h>

#define N_ROUNDS 30
#define N_TRIPS 30
#define NAME "org.mtldl.Bench"
#define BARE_INTERFACE "org.mtldl.Bare"

static const gsize sizes[] = { 64, 65536, 1 << 28 };

static const char bare_xml[] =
  "<node><interface name='" BARE_INTERFACE "'>"
  "<method name='Pass'><arg type='h' direction='in'/></method></interface></node>";

typedef struct
{
  GDBusConnection *connection;
  const char *name; /* the exporter's; NULL without a bus */
  const char *label;
} Way;

static void
check (gboolean is_done)
{
  if (!is_done)
    g_error ("%s", g_strerror (errno));
}

static MtlStridedView *
make_view (gsize size)
{
  g_autoptr (GError) error = NULL;
  gint64 extent = size;
  MtlStridedView *view = mtl_strided_view_new_zeros (
      NULL, MTL_DTYPE_UINT8, &extent, 1,
      size > 65536 ? MTL_STORAGE_MODE_INTERPROCESS : MTL_STORAGE_MODE_HOST, &error);
  guint8 *bytes;

  g_assert_no_error (error);
  bytes = mtl_strided_view_get_data (view);
  bytes[0] = 3;
  bytes[size - 1] = 4;
  return view;
}

static int
sum_ends (MtlStridedView *view)
{
  const guint8 *bytes = mtl_strided_view_get_data (view);

  return bytes[0] + bytes[mtl_strided_view_get_volume (view) - 1];
}

/* The other process */

static gboolean
on_put (MtlExportedTensor *tensor,
        MtlStridedView    *view,
        GVariant          *extras,
        gpointer           data)
{
  return sum_ends (view) == 7;
}

static void
on_pass (GDBusConnection       *connection,
         const char            *sender,
         const char            *path,
         const char            *interface,
         const char            *method,
         GVariant              *arguments,
         GDBusMethodInvocation *invocation,
         gpointer               data)
{
  g_dbus_method_invocation_return_value (invocation, NULL);
}

static GIOStream *
make_stream (int fd)
{
  g_autoptr (GSocket) socket = g_socket_new_from_fd (fd, NULL);

  return G_IO_STREAM (g_socket_connection_factory_create_connection (socket));
}

static GDBusConnection *
connect_bus (const char *address)
{
  g_autoptr (GError) error = NULL;
  GDBusConnection *connection = g_dbus_connection_new_for_address_sync (
      address, G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT
      | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION, NULL, NULL, &error);

  g_assert_no_error (error);
  return connection;
}

static void
export_all (GDBusConnection *connection)
{
  static const GDBusInterfaceVTable vtable = { .method_call = on_pass };
  g_autoptr (GDBusNodeInfo) info = g_dbus_node_info_new_for_xml (bare_xml, NULL);
  g_autoptr (GError) error = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autoptr (MtlStridedView) view = make_view (sizes[i]);
      g_autoptr (MtlExportedTensor) tensor =
        mtl_exported_tensor_new (view, MTL_TENSOR_PEER_FLAGS_NONE);
      g_autofree char *path = g_strdup_printf ("/tensor/%" G_GSIZE_FORMAT, sizes[i]);

      g_signal_connect (tensor, "put", G_CALLBACK (on_put), NULL);
      mtl_exported_tensor_export (tensor, connection, path, &error);
      g_assert_no_error (error);
    }
  g_dbus_connection_register_object (connection, "/bare", info->interfaces[0], &vtable, NULL, NULL,
                                     &error);
  g_assert_no_error (error);
}

typedef union
{
  struct cmsghdr header;
  char bytes[CMSG_SPACE (sizeof (int))];
} Control;

static gpointer
answer_bare (gpointer data)
{
  int socket = GPOINTER_TO_INT (data), fd, sum;
  Control control;
  gsize size;
  struct iovec part = { &size, sizeof size };

  for (;;)
    {
      struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
                                .msg_controllen = sizeof control };
      guint8 *bytes;

      if (recvmsg (socket, &message, MSG_CMSG_CLOEXEC) != sizeof size)
        return NULL;
      memcpy (&fd, CMSG_DATA (&control.header), sizeof fd);
      bytes = mmap (NULL, size, PROT_READ, MAP_SHARED, fd, 0);
      check (bytes != MAP_FAILED);
      sum = bytes[0] + bytes[size - 1];
      munmap (bytes, size);
      close (fd);
      check (write (socket, &sum, sizeof sum) == sizeof sum);
    }
}

static void
run_child (int         bare,
           int         peer,
           const char *address)
{
  g_autofree char *guid = NULL;
  g_autoptr (GIOStream) stream = NULL;
  GDBusConnection *connections[2];

  prctl (PR_SET_PDEATHSIG, SIGKILL);
  guid = g_dbus_generate_guid ();
  stream = make_stream (peer);
  connections[0] = g_dbus_connection_new_sync (
      stream, guid, G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_SERVER, NULL, NULL, NULL);
  connections[1] = connect_bus (address);
  export_all (connections[0]);
  export_all (connections[1]);
  g_bus_own_name_on_connection (connections[1], NAME, G_BUS_NAME_OWNER_FLAGS_NONE, NULL, NULL,
                                NULL, NULL);
  g_thread_new ("bare", answer_bare, GINT_TO_POINTER (bare));
  g_main_loop_run (g_main_loop_new (NULL, FALSE));
}

/* This process */

static void
pass_bare (int   socket,
           int   fd,
           gsize size)
{
  Control control = { .header = { .cmsg_len = CMSG_LEN (sizeof fd), .cmsg_level = SOL_SOCKET,
                                  .cmsg_type = SCM_RIGHTS } };
  struct iovec part = { &size, sizeof size };
  struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
                            .msg_controllen = sizeof control };
  int sum;

  memcpy (CMSG_DATA (&control.header), &fd, sizeof fd);
  check (sendmsg (socket, &message, 0) == sizeof size);
  check (read (socket, &sum, sizeof sum) == sizeof sum && sum == 7);
}

static void
pass_by_gdbus (const Way *way,
               int        fd)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GUnixFDList) fds = g_unix_fd_list_new ();
  g_autoptr (GVariant) reply = NULL;

  g_unix_fd_list_append (fds, fd, NULL);
  reply = g_dbus_connection_call_with_unix_fd_list_sync (
      way->connection, way->name, "/bare", BARE_INTERFACE, "Pass", g_variant_new ("(h)", 0), NULL,
      G_DBUS_CALL_FLAGS_NONE, -1, fds, NULL, NULL, &error);
  g_assert_no_error (error);
}

static void
put (MtlTensorProxy *proxy,
     MtlStridedView *view)
{
  g_autoptr (GError) error = NULL;

  mtl_tensor_proxy_put (proxy, view, NULL, NULL, &error);
  g_assert_no_error (error);
}

static void
fetch (MtlTensorProxy *proxy)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = mtl_tensor_proxy_fetch_view (proxy, NULL, &error);

  g_assert_no_error (error);
  check (sum_ends (view) == 7);
}

#define TIME(best, call) \
  G_STMT_START \
    { \
      gint64 begin_ = g_get_monotonic_time (); \
      for (int trip_ = 0; trip_ < N_TRIPS; trip_++) \
        call; \
      best = MIN (best, (double) (g_get_monotonic_time () - begin_) / N_TRIPS); \
    } \
  G_STMT_END

/* The best of each, in turns. */
static void
compare (const Way *ways,
         gsize      size,
         int        bare)
{
  g_autofree char *path = g_strdup_printf ("/tensor/%" G_GSIZE_FORMAT, size);
  g_autoptr (MtlStridedView) view = make_view (size);
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) shared = mtl_strided_view_to_device (
      view, mtl_device_get_host (), MTL_STORAGE_MODE_INTERPROCESS, NULL, &error);
  int fd = mtl_buffer_dup_fd (mtl_strided_view_get_buffer (shared), NULL, &error);
  double best[7] = { 1e9, 1e9, 1e9, 1e9, 1e9, 1e9, 1e9 };

  g_assert_no_error (error);
  for (int i = 0; i < N_ROUNDS; i++)
    {
      TIME (best[0], pass_bare (bare, fd, size));
      for (int k = 0; k < 2; k++)
        {
          g_autoptr (MtlTensorProxy) proxy =
            mtl_tensor_proxy_new (ways[k].connection, ways[k].name, path);

          fetch (proxy); /* whatever the first call does */
          TIME (best[1 + 3 * k], pass_by_gdbus (&ways[k], fd));
          TIME (best[2 + 3 * k], put (proxy, view));
          TIME (best[3 + 3 * k], fetch (proxy));
        }
    }

  g_print ("%9" G_GSIZE_FORMAT " bytes: a bare descriptor %.1f us\n", size, best[0]);
  for (int k = 0; k < 2; k++)
    g_print ("  %s: GDBus alone %.2f x, put %.2f x, fetched %.2f x\n", ways[k].label,
             best[1 + 3 * k] / best[0], best[2 + 3 * k] / best[0], best[3 + 3 * k] / best[0]);
  close (fd);
}

static void
end_with_parent (gpointer data)
{
  prctl (PR_SET_PDEATHSIG, SIGKILL);
}

/* Returns the address. */
static char *
start_bus (void)
{
  char *command[] = { "dbus-daemon", "--session", "--nofork", "--print-address", NULL };
  g_autoptr (GError) error = NULL;
  char line[1000] = "";
  int output;

  g_spawn_async_with_pipes (NULL, command, NULL,
                            G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL, end_with_parent,
                            NULL, NULL, NULL, &output, NULL, &error);
  g_assert_no_error (error);
  check (read (output, line, sizeof line - 1) > 0);
  return g_strdup (g_strchomp (line));
}

static gboolean
has_owner (GDBusConnection *bus)
{
  g_autoptr (GVariant) answer = g_dbus_connection_call_sync (
      bus, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameHasOwner",
      g_variant_new ("(s)", NAME), G_VARIANT_TYPE ("(b)"), G_DBUS_CALL_FLAGS_NONE, -1, NULL, NULL);
  gboolean has;

  g_variant_get (answer, "(b)", &has);
  return has;
}

int
main (void)
{
  g_autofree char *address = start_bus ();
  g_autoptr (GIOStream) stream = NULL;
  int bare[2], peer[2];
  Way ways[2];

  check (socketpair (AF_UNIX, SOCK_STREAM, 0, bare) == 0
         && socketpair (AF_UNIX, SOCK_STREAM, 0, peer) == 0);
  if (fork () == 0)
    {
      close (bare[0]);
      close (peer[0]);
      run_child (bare[1], peer[1], address);
    }

  close (bare[1]);
  close (peer[1]);
  stream = make_stream (peer[0]);
  ways[0] = (Way) { g_dbus_connection_new_sync (
                        stream, NULL, G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT, NULL, NULL,
                        NULL), NULL, "without a bus" };
  ways[1] = (Way) { connect_bus (address), NAME, "over a bus" };
  while (!has_owner (ways[1].connection))
    g_usleep (1000);
  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    compare (ways, sizes[i], bare[0]);
  return 0;
}
