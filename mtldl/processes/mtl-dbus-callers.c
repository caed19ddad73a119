/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-dbus-callers-private.h"

#include <string.h>
#include <unistd.h>

#include "mtl-error.h"

/* The most callers on a bus that are known at once, besides those that it is being asked about. */
#define MAX_CALLERS 64
/* Calls of callers that the bus is being asked about. Those of callers that may call do not wait. */
#define MAX_WAITING 64

/* A connection of the bus. Its unique name is never given to another one. */
typedef struct
{
  MtlDBusCallers *callers; /* only while the bus is asked */
  char *name;
  gboolean is_allowed;
  MtlDBusCalls waiting; /* for the answer of the bus */
} Caller;

struct _MtlDBusCallers
{
  int ref_count;
  GDBusConnection *connection;
  GCancellable *cancellable;
  MtlDBusCheckedFunc checked;
  GHashTable *by_name; /* none without a bus */
  guint n_asked;   /* callers */
  guint n_waiting; /* calls */
};

static void
caller_free (gpointer data)
{
  Caller *self = data;

  g_free (self->name);
  g_free (self);
}

MtlDBusCallers *
mtl_dbus_callers_new (GDBusConnection    *connection,
                      GCancellable       *cancellable,
                      MtlDBusCheckedFunc  checked)
{
  MtlDBusCallers *self = g_new0 (MtlDBusCallers, 1);

  self->ref_count = 1;
  self->connection = g_object_ref (connection);
  self->cancellable = g_object_ref (cancellable);
  self->checked = checked;
  self->by_name = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, caller_free);
  return self;
}

void
mtl_dbus_callers_unref (MtlDBusCallers *self)
{
  if (!g_atomic_int_dec_and_test (&self->ref_count))
    return;

  g_hash_table_unref (self->by_name);
  g_object_unref (self->cancellable);
  g_object_unref (self->connection);
  g_free (self);
}

static gboolean
check_user (guint32   user,
            GError  **error)
{
  guint32 own_user = geteuid ();

  if (user == own_user)
    return TRUE;

  g_set_error (error, G_DBUS_ERROR, G_DBUS_ERROR_ACCESS_DENIED,
               "The caller is a process of user %u, and only those of user %u are allowed", user,
               own_user);
  return FALSE;
}

/* Without a bus */

static GCredentials *
dup_peer_credentials (GDBusConnection *connection)
{
  GCredentials *known = g_dbus_connection_get_peer_credentials (connection);
  GIOStream *stream = g_dbus_connection_get_stream (connection);

  if (known != NULL)
    return g_object_ref (known);

  /* Only the side that others connect to asks for them. */
  return G_IS_SOCKET_CONNECTION (stream)
         ? g_socket_get_credentials (
             g_socket_connection_get_socket (G_SOCKET_CONNECTION (stream)), NULL)
         : NULL;
}

static gboolean
check_peer (GDBusConnection  *connection,
            GError          **error)
{
  g_autoptr (GCredentials) peer = dup_peer_credentials (connection);
  uid_t user = peer != NULL ? g_credentials_get_unix_user (peer, NULL) : (uid_t) -1;

  if (user != (uid_t) -1)
    return check_user (user, error);

  g_set_error (error, G_DBUS_ERROR, G_DBUS_ERROR_ACCESS_DENIED,
               "The user of the caller is not known, and only processes of user %u are allowed",
               (guint) geteuid ());
  return FALSE;
}

/* On a bus */

static void
on_user_known (GObject      *connection,
               GAsyncResult *result,
               gpointer      data)
{
  Caller *caller = data;
  g_autoptr (MtlDBusCallers) self = g_steal_pointer (&caller->callers);
  MtlDBusCalls waiting = caller->waiting;
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) answer = NULL;
  MtlDBusCall *call;
  guint32 user;

  caller->waiting = (MtlDBusCalls) { NULL };
  self->n_asked--;
  answer = g_dbus_connection_call_finish (G_DBUS_CONNECTION (connection), result, &error);
  if (answer != NULL)
    g_variant_get (answer, "(u)", &user);
  caller->is_allowed = answer != NULL && check_user (user, &error);
  if (!caller->is_allowed)
    g_hash_table_remove (self->by_name, caller->name);

  while ((call = mtl_dbus_calls_take_first (&waiting)) != NULL)
    {
      self->n_waiting--;
      self->checked (call, error != NULL ? g_error_copy (error) : NULL);
    }
}

static gboolean
is_settled (gpointer name,
            gpointer caller,
            gpointer data)
{
  return ((Caller *) caller)->is_allowed;
}

static Caller *
add_caller (MtlDBusCallers *self,
            const char     *name)
{
  Caller *caller;

  if (g_hash_table_size (self->by_name) - self->n_asked >= MAX_CALLERS)
    g_hash_table_foreach_remove (self->by_name, is_settled, NULL);

  self->n_asked++;
  caller = g_new0 (Caller, 1);
  g_atomic_int_inc (&self->ref_count);
  caller->callers = self;
  caller->name = g_strdup (name);
  g_hash_table_insert (self->by_name, caller->name, caller);
  g_dbus_connection_call (self->connection, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                          "org.freedesktop.DBus", "GetConnectionUnixUser",
                          g_variant_new ("(s)", name), G_VARIANT_TYPE ("(u)"),
                          G_DBUS_CALL_FLAGS_NONE, -1, self->cancellable, on_user_known, caller);
  return caller;
}

static void
check_on_bus (MtlDBusCallers *self,
              MtlDBusCall    *call,
              const char     *name)
{
  Caller *caller = g_hash_table_lookup (self->by_name, name);

  if (caller != NULL && caller->is_allowed)
    {
      self->checked (call, NULL);
      return;
    }

  if (self->n_waiting >= MAX_WAITING)
    {
      self->checked (call, g_error_new (MTL_ERROR, MTL_ERROR_BUSY,
                                        "The bus is being asked who makes %d calls: the limit is"
                                        " reached", MAX_WAITING));
      return;
    }

  if (caller == NULL)
    caller = add_caller (self, name);
  mtl_dbus_calls_append (&caller->waiting, call);
  self->n_waiting++;
}

void
mtl_dbus_callers_check (MtlDBusCallers *self,
                        MtlDBusCall    *call)
{
  const char *name = g_dbus_method_invocation_get_sender (call->invocation);
  GError *error = NULL;

  /* Without a bus, a peer may claim any name. */
  if ((g_dbus_connection_get_flags (self->connection)
       & G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION) != 0)
    {
      check_on_bus (self, call, name != NULL ? name : "");
      return;
    }

  check_peer (self->connection, &error);
  self->checked (call, error);
}
