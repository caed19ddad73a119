/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "processes.h"

#include <gio/gunixfdlist.h>
#include <signal.h>
#include <sys/prctl.h>

/* An exporter with a thread and a main context of its own, and the connection of a caller in this
 * thread, over a bus or without one. */

#define OBJECT_PATH "/org/mtldl/test/Tensor"

/* A bus of our own, which ends with the test, however that ends. All users may use it. */
typedef struct
{
  GSubprocess *daemon;
  char *folder;
  char *address;
} Bus;

static const char bus_config[] =
  "<!DOCTYPE busconfig PUBLIC \"-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN\""
  " \"http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd\">"
  "<busconfig><type>session</type><auth>EXTERNAL</auth>"
  "<listen>unix:path=%s/bus</listen>"
  "<limit name='max_replies_per_connection'>50000</limit>"
  "<limit name='max_connections_per_user'>1000</limit>"
  "<limit name='max_completed_connections'>1000</limit>"
  "<policy context='default'><allow user='*'/><allow own='*'/>"
  "<allow send_destination='*' eavesdrop='true'/><allow eavesdrop='true'/></policy></busconfig>";

static inline void
end_with_parent (gpointer data)
{
  prctl (PR_SET_PDEATHSIG, SIGKILL);
}

static inline void
start_bus (Bus *self)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GSubprocessLauncher) launcher = g_subprocess_launcher_new (
      G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_SILENCE);
  g_autoptr (GDataInputStream) output = NULL;
  g_autofree char *file = NULL;
  g_autofree char *config = NULL;
  g_autofree char *option = NULL;

  self->folder = g_dir_make_tmp ("mtldl-bus-XXXXXX", &error);
  g_assert_no_error (error);
  g_assert_cmpint (chmod (self->folder, 0755), ==, 0);
  file = g_build_filename (self->folder, "bus.conf", NULL);
  config = g_strdup_printf (bus_config, self->folder);
  g_file_set_contents (file, config, -1, &error);
  g_assert_no_error (error);

  option = g_strconcat ("--config-file=", file, NULL);
  g_subprocess_launcher_set_child_setup (launcher, end_with_parent, NULL, NULL);
  self->daemon = g_subprocess_launcher_spawn (launcher, &error, "dbus-daemon", "--nofork",
                                              "--print-address", option, NULL);
  g_assert_no_error (error);
  output = g_data_input_stream_new (g_subprocess_get_stdout_pipe (self->daemon));
  self->address = g_data_input_stream_read_line (output, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_nonnull (self->address);
}

static inline void
stop_bus (Bus *self)
{
  g_autofree char *socket = g_build_filename (self->folder, "bus", NULL);
  g_autofree char *file = g_build_filename (self->folder, "bus.conf", NULL);

  g_subprocess_force_exit (self->daemon);
  g_subprocess_wait (self->daemon, NULL, NULL);
  g_clear_object (&self->daemon);
  unlink (socket);
  unlink (file);
  g_assert_cmpint (rmdir (self->folder), ==, 0);
  g_clear_pointer (&self->folder, g_free);
  g_clear_pointer (&self->address, g_free);
}

typedef enum
{
  BY_SOCKET,
  BY_BUS,
} Way;

/* The exporter's thread waits here until it may go on. */
typedef struct
{
  GMutex lock;
  GCond changed;
  gboolean is_reached;
  gboolean may_pass;
} Barrier;

typedef struct
{
  Way way;
  Barrier barrier;
  Bus bus;
  GMainContext *context;
  GMainLoop *loop;
  GThread *thread;
  GIOStream *stream;
  GDBusConnection *exporter; /* the exporter's connection */
  GDBusConnection *caller;
} Peers;

static inline GIOStream *
make_stream (int fd)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GSocket) socket = g_socket_new_from_fd (fd, &error);

  g_assert_no_error (error);
  return G_IO_STREAM (g_socket_connection_factory_create_connection (socket));
}

static inline GDBusConnection *
connect_to_bus (const char *address)
{
  g_autoptr (GError) error = NULL;
  GDBusConnection *connection = g_dbus_connection_new_for_address_sync (
      address, G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT
      | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION, NULL, NULL, &error);

  g_assert_no_error (error);
  return connection;
}

static inline gpointer
run_exporter (gpointer data)
{
  Peers *self = data;
  g_autofree char *guid = g_dbus_generate_guid ();
  g_autoptr (GError) error = NULL;

  g_main_context_push_thread_default (self->context);
  if (self->way == BY_BUS)
    self->exporter = connect_to_bus (self->bus.address);
  else
    self->exporter = g_dbus_connection_new_sync (
        self->stream, guid, G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_SERVER, NULL, NULL, &error);
  g_assert_no_error (error);
  g_main_loop_run (self->loop);
  g_main_context_pop_thread_default (self->context);
  return NULL;
}

static inline void
invoke (Peers       *self,
        GSourceFunc  function,
        gpointer     data)
{
  g_autoptr (GSource) source = g_idle_source_new ();

  g_source_set_priority (source, G_PRIORITY_DEFAULT);
  g_source_set_callback (source, function, data, NULL);
  g_source_attach (source, self->context);
}

static inline gboolean
reach_barrier (gpointer data)
{
  Barrier *self = &((Peers *) data)->barrier;

  g_mutex_lock (&self->lock);
  self->is_reached = TRUE;
  g_cond_broadcast (&self->changed);
  while (!self->may_pass)
    g_cond_wait (&self->changed, &self->lock);
  g_mutex_unlock (&self->lock);
  return G_SOURCE_REMOVE;
}

static inline void
await_exporter (Peers *self)
{
  g_mutex_lock (&self->barrier.lock);
  while (!self->barrier.is_reached)
    g_cond_wait (&self->barrier.changed, &self->barrier.lock);
  self->barrier.is_reached = FALSE;
  g_mutex_unlock (&self->barrier.lock);
}

static inline void
set_may_pass (Peers    *self,
              gboolean  may_pass)
{
  g_mutex_lock (&self->barrier.lock);
  self->barrier.may_pass = may_pass;
  g_cond_broadcast (&self->barrier.changed);
  g_mutex_unlock (&self->barrier.lock);
}

/* Stops the exporter's thread. */
static inline void
stop_exporter (Peers *self)
{
  set_may_pass (self, FALSE);
  invoke (self, reach_barrier, self);
  await_exporter (self);
}

static inline void
continue_exporter (Peers *self)
{
  set_may_pass (self, TRUE);
}

static inline void
set_up_peers (Peers         *self,
              gconstpointer  way)
{
  g_autoptr (GError) error = NULL;
  int ends[2];

  *self = (Peers) { .way = GPOINTER_TO_INT (way) };
  g_mutex_init (&self->barrier.lock);
  g_cond_init (&self->barrier.changed);
  self->context = g_main_context_new ();
  self->loop = g_main_loop_new (self->context, FALSE);
  if (self->way == BY_BUS)
    {
      start_bus (&self->bus);
      self->caller = connect_to_bus (self->bus.address);
      self->thread = g_thread_new ("exporter", run_exporter, self);
    }
  else
    {
      g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), ==, 0);
      self->stream = make_stream (ends[0]);
      self->thread = g_thread_new ("exporter", run_exporter, self);
      g_autoptr (GIOStream) stream = make_stream (ends[1]);
      self->caller = g_dbus_connection_new_sync (
          stream, NULL, G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT, NULL, NULL, &error);
      g_assert_no_error (error);
    }

  stop_exporter (self);
  continue_exporter (self);
}

static inline gboolean
quit (gpointer loop)
{
  g_main_loop_quit (loop);
  return G_SOURCE_REMOVE;
}

static inline void
iterate_all (void)
{
  while (g_main_context_iteration (NULL, FALSE))
    ;
}

/* GDBus may let go of it later, in its own thread. */
static inline void
await_finalized (gpointer object)
{
  GWeakRef weak;

  g_weak_ref_init (&weak, object);
  g_object_unref (object);
  for (;;)
    {
      g_autoptr (GObject) left = g_weak_ref_get (&weak);

      if (left == NULL)
        break;
      g_clear_object (&left);
      iterate_all ();
      g_usleep (1000);
    }
  g_weak_ref_clear (&weak);
}

static inline void
tear_down_peers (Peers         *self,
                 gconstpointer  way)
{
  static guint n_fds[2];

  g_dbus_connection_close_sync (self->caller, NULL, NULL);
  if (self->way == BY_BUS)
    g_dbus_connection_close_sync (self->exporter, NULL, NULL);
  else
    while (!g_dbus_connection_is_closed (self->exporter))
      g_usleep (1000);

  invoke (self, quit, self->loop);
  g_thread_join (self->thread);
  while (g_main_context_iteration (self->context, FALSE))
    ;
  await_finalized (self->exporter);
  await_finalized (self->caller);
  g_clear_object (&self->stream);
  g_main_loop_unref (self->loop);
  g_main_context_unref (self->context);
  if (self->way == BY_BUS)
    stop_bus (&self->bus);

  /* GLib's own are there after the first test of each way. GDBus closes others in its thread. */
  if (n_fds[self->way] == 0)
    n_fds[self->way] = count_fds ();
  for (int i = 0; i < 10000 && count_fds () > n_fds[self->way]; i++)
    g_usleep (1000);
  g_assert_cmpuint (count_fds (), <=, n_fds[self->way]);
  g_assert_cmpuint (count_mappings (), ==, 0);
}

/* The name that the caller has for the exporter. */
static inline const char *
get_bus_name (Peers *self)
{
  return g_dbus_connection_get_unique_name (self->exporter);
}

typedef struct
{
  Peers *peers;
  MtlExportedTensor *tensor;
} Exporting;

static inline gboolean
do_export (gpointer data)
{
  Exporting *self = data;
  g_autoptr (GError) error = NULL;

  mtl_exported_tensor_export (self->tensor, self->peers->exporter, OBJECT_PATH, &error);
  g_assert_no_error (error);
  return reach_barrier (self->peers);
}

/* Exports in the thread of the exporter. */
static inline MtlExportedTensor *
export_view (Peers              *peers,
             MtlStridedView     *view,
             MtlTensorPeerFlags  flags)
{
  MtlExportedTensor *tensor = mtl_exported_tensor_new (view, flags);
  Exporting exporting = { peers, tensor };

  invoke (peers, do_export, &exporting);
  await_exporter (peers);
  return tensor;
}

/* The end of an export: afterwards nothing holds the tensor. */
static inline void
end_export (MtlExportedTensor *tensor)
{
  mtl_exported_tensor_unexport (tensor, NULL);
  await_finalized (tensor);
}

static inline MtlTensorProxy *
make_proxy (Peers *peers)
{
  return mtl_tensor_proxy_new (peers->caller, get_bus_name (peers), OBJECT_PATH);
}

static inline MtlStridedView *
fetch (MtlTensorProxy *proxy)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *view = mtl_tensor_proxy_fetch_view (proxy, NULL, &error);

  g_assert_no_error (error);
  g_assert_true (mtl_strided_view_is_read_only (view));
  return view;
}
