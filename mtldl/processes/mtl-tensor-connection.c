/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-tensor-connection-private.h"

#include <unistd.h>

#include "mtl-enum-types.h"
#include "mtl-error.h"

/**
 * MtlTensorConnection:
 *
 * Sends views to another process, and receives them, through a socket.
 *
 * Memory that other processes can map, %MTL_STORAGE_MODE_INTERPROCESS, is handed
 * over without a copy, whatever the layout, and the receiver's view of it is
 * read-only. The sender may go on writing to it, and the receiver sees that.
 * Up to 65,536 bytes of elements in other memory are sent through the socket.
 * More are copied to memory of the connection first; a program that fills its
 * tensors for a peer avoids that with
 * [method@Mtl.TensorConnection.allocate_view].
 *
 * Each process has a connection for its end of a socket. The processes may use
 * different languages. The peer must belong to the same user, unless the connection
 * has %MTL_TENSOR_PEER_FLAGS_ALLOW_OTHER_USERS, and is not trusted: whatever it
 * sends, and whenever it ends, is an error at worst. The form of messages is in
 * [Between processes](processes.html).
 *
 * A connection sends one view at a time, and receives one at a time. Sending and
 * receiving may be done in different threads. Do not use the socket for
 * anything else. When the connection is no longer used, its socket is closed if no
 * one else holds it.
 *
 * ```c
 * int ends[2];
 *
 * if (socketpair (AF_UNIX, SOCK_STREAM, 0, ends) != 0)
 *   return FALSE;
 *
 * // The other end is for another process, which receives the view.
 * g_autoptr (GSocket) ours = g_socket_new_from_fd (ends[0], error);
 * g_autoptr (MtlTensorConnection) connection = mtl_tensor_connection_new (ours, 0);
 * const double values[] = { 1, 2, 3 };
 * const gint64 shape[] = { 3 };
 * g_autoptr (MtlStridedView) view =
 *   mtl_strided_view_new_from_doubles (values, 3, MTL_DTYPE_FLOAT32, shape, 1, error);
 *
 * if (view == NULL || !mtl_tensor_connection_send (connection, view, NULL, NULL, error))
 *   return FALSE;
 * ```
 *
 * Since: 1.0
 */

#define DEFAULT_MAX_VIEWS 256

enum
{
  PROP_0,
  PROP_SOCKET,
  PROP_FLAGS,
  PROP_MAX_VIEWS,
  PROP_MAX_BYTES,
  N_PROPS
};

static GParamSpec *props[N_PROPS];

G_DEFINE_FINAL_TYPE (MtlTensorConnection, mtl_tensor_connection, G_TYPE_OBJECT)

static void
mtl_tensor_connection_finalize (GObject *object)
{
  MtlTensorConnection *self = MTL_TENSOR_CONNECTION (object);

  mtl_tensor_message_clear (&self->outgoing);
  g_clear_pointer (&self->unsent, mtl_memory_unref);
  mtl_tensor_message_clear (&self->incoming);
  mtl_shared_pool_unref (self->pool);
  for (guint i = 0; i < MTL_TENSOR_CONNECTION_N_RECENT; i++)
    g_clear_pointer (&self->recent[i], mtl_shared_pages_unref);
  mtl_holdings_unref (self->holdings);
  g_clear_object (&self->socket);

  G_OBJECT_CLASS (mtl_tensor_connection_parent_class)->finalize (object);
}

static void
mtl_tensor_connection_get_property (GObject    *object,
                                    guint       prop_id,
                                    GValue     *value,
                                    GParamSpec *pspec)
{
  MtlTensorConnection *self = MTL_TENSOR_CONNECTION (object);

  switch (prop_id)
    {
    case PROP_SOCKET:
      g_value_set_object (value, self->socket);
      break;
    case PROP_FLAGS:
      g_value_set_flags (value, self->flags);
      break;
    case PROP_MAX_VIEWS:
      g_value_set_uint (value, mtl_tensor_connection_get_max_views (self));
      break;
    case PROP_MAX_BYTES:
      g_value_set_uint64 (value, mtl_tensor_connection_get_max_bytes (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
mtl_tensor_connection_set_property (GObject      *object,
                                    guint         prop_id,
                                    const GValue *value,
                                    GParamSpec   *pspec)
{
  MtlTensorConnection *self = MTL_TENSOR_CONNECTION (object);

  switch (prop_id)
    {
    case PROP_SOCKET:
      self->socket = g_value_dup_object (value);
      break;
    case PROP_FLAGS:
      self->flags = g_value_get_flags (value);
      break;
    case PROP_MAX_VIEWS:
      mtl_tensor_connection_set_max_views (self, g_value_get_uint (value));
      break;
    case PROP_MAX_BYTES:
      mtl_tensor_connection_set_max_bytes (self, g_value_get_uint64 (value));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
mtl_tensor_connection_class_init (MtlTensorConnectionClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  const GParamFlags constructed = G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY
                                  | G_PARAM_STATIC_STRINGS;
  const GParamFlags changeable = G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY
                                 | G_PARAM_STATIC_STRINGS;

  object_class->finalize = mtl_tensor_connection_finalize;
  object_class->get_property = mtl_tensor_connection_get_property;
  object_class->set_property = mtl_tensor_connection_set_property;

  /**
   * MtlTensorConnection:socket: (getter get_socket)
   *
   * The socket, which is connected to the peer.
   *
   * Since: 1.0
   */
  props[PROP_SOCKET] = g_param_spec_object ("socket", NULL, NULL, G_TYPE_SOCKET, constructed);

  /**
   * MtlTensorConnection:flags: (getter get_flags)
   *
   * The processes that may be the peer.
   *
   * Since: 1.0
   */
  props[PROP_FLAGS] = g_param_spec_flags ("flags", NULL, NULL, MTL_TYPE_TENSOR_PEER_FLAGS,
                                          MTL_TENSOR_PEER_FLAGS_NONE, constructed);

  /**
   * MtlTensorConnection:max-views: (getter get_max_views) (setter set_max_views)
   *
   * The number of views of the peer's memory that may be in use at once. Each takes
   * two descriptors at most.
   *
   * Since: 1.0
   */
  props[PROP_MAX_VIEWS] = g_param_spec_uint ("max-views", NULL, NULL, 0, G_MAXINT,
                                             DEFAULT_MAX_VIEWS, changeable);

  /**
   * MtlTensorConnection:max-bytes: (getter get_max_bytes) (setter set_max_bytes)
   *
   * The size of the peer's memory that may be in use at once, in bytes.
   *
   * A peer's memory may be sparse, and then takes memory as it is read: set a limit
   * if the peer is not trusted.
   *
   * Since: 1.0
   */
  props[PROP_MAX_BYTES] = g_param_spec_uint64 ("max-bytes", NULL, NULL, 0, G_MAXUINT64,
                                               G_MAXSSIZE, changeable);

  g_object_class_install_properties (object_class, N_PROPS, props);
}

static void
mtl_tensor_connection_init (MtlTensorConnection *self)
{
  self->max_views = DEFAULT_MAX_VIEWS;
  self->max_bytes = G_MAXSSIZE;
  self->pool = mtl_shared_pool_new ();
  self->holdings = g_new0 (MtlHoldings, 1);
  self->holdings->ref_count = 1;
}

/**
 * mtl_tensor_connection_new:
 * @socket: a connected socket of the family %G_SOCKET_FAMILY_UNIX and the type
 *   %G_SOCKET_TYPE_STREAM
 * @flags: the processes that may be the peer
 *
 * Creates a connection to the process at the other end of a socket.
 *
 * Through a socket of another family, only views that need no descriptor can be
 * passed, and the user of the peer is not known.
 *
 * Returns: (transfer full): the new connection
 *
 * Since: 1.0
 */
MtlTensorConnection *
mtl_tensor_connection_new (GSocket            *socket,
                           MtlTensorPeerFlags  flags)
{
  g_return_val_if_fail (G_IS_SOCKET (socket), NULL);

  return g_object_new (MTL_TYPE_TENSOR_CONNECTION, "socket", socket, "flags", flags, NULL);
}

/**
 * mtl_tensor_connection_get_socket: (get-property socket)
 * @self: a connection
 *
 * Gets the socket.
 *
 * Returns: (transfer none) (nullable): the socket; %NULL if the connection was
 *   constructed without any
 *
 * Since: 1.0
 */
GSocket *
mtl_tensor_connection_get_socket (MtlTensorConnection *self)
{
  g_return_val_if_fail (MTL_IS_TENSOR_CONNECTION (self), NULL);

  return self->socket;
}

/**
 * mtl_tensor_connection_get_flags: (get-property flags)
 * @self: a connection
 *
 * Gets the processes that may be the peer.
 *
 * Returns: the flags
 *
 * Since: 1.0
 */
MtlTensorPeerFlags
mtl_tensor_connection_get_flags (MtlTensorConnection *self)
{
  g_return_val_if_fail (MTL_IS_TENSOR_CONNECTION (self), MTL_TENSOR_PEER_FLAGS_NONE);

  return self->flags;
}

/**
 * mtl_tensor_connection_get_max_views: (get-property max-views)
 * @self: a connection
 *
 * Gets the number of views of the peer's memory that may be in use at once.
 *
 * Returns: the number
 *
 * Since: 1.0
 */
guint
mtl_tensor_connection_get_max_views (MtlTensorConnection *self)
{
  g_return_val_if_fail (MTL_IS_TENSOR_CONNECTION (self), 0);

  return g_atomic_int_get (&self->max_views);
}

/**
 * mtl_tensor_connection_set_max_views: (set-property max-views)
 * @self: a connection
 * @max_views: the number, 256 by default
 *
 * Sets the number of views of the peer's memory that may be in use at once.
 *
 * Further ones are refused. Each view takes a descriptor, and another one if the
 * peer uses the memory again. Views of elements that came through the socket do not count.
 *
 * Since: 1.0
 */
void
mtl_tensor_connection_set_max_views (MtlTensorConnection *self,
                                     guint                max_views)
{
  g_return_if_fail (MTL_IS_TENSOR_CONNECTION (self));

  max_views = MIN (max_views, G_MAXINT);
  if ((guint) g_atomic_int_exchange (&self->max_views, max_views) != max_views)
    g_object_notify_by_pspec (G_OBJECT (self), props[PROP_MAX_VIEWS]);
}

/**
 * mtl_tensor_connection_get_max_bytes: (get-property max-bytes)
 * @self: a connection
 *
 * Gets the size of the peer's memory that may be in use at once.
 *
 * Returns: the size in bytes
 *
 * Since: 1.0
 */
guint64
mtl_tensor_connection_get_max_bytes (MtlTensorConnection *self)
{
  g_return_val_if_fail (MTL_IS_TENSOR_CONNECTION (self), 0);

  return (gsize) g_atomic_pointer_get (&self->max_bytes);
}

/**
 * mtl_tensor_connection_set_max_bytes: (set-property max-bytes)
 * @self: a connection
 * @max_bytes: the size in bytes, unlimited by default
 *
 * Sets the size of the peer's memory that may be in use at once.
 *
 * Further views are refused.
 *
 * Since: 1.0
 */
void
mtl_tensor_connection_set_max_bytes (MtlTensorConnection *self,
                                     guint64              max_bytes)
{
  g_return_if_fail (MTL_IS_TENSOR_CONNECTION (self));

  max_bytes = MIN (max_bytes, G_MAXSSIZE);
  if (max_bytes == (gsize) g_atomic_pointer_get (&self->max_bytes))
    return;

  g_atomic_pointer_set (&self->max_bytes, max_bytes);
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_MAX_BYTES]);
}

/* The peer */

static gboolean
check_user (MtlTensorConnection  *self,
            GError              **error)
{
  g_autoptr (GCredentials) peer = g_socket_get_credentials (self->socket, error);
  uid_t user, own_user = geteuid ();

  if (peer == NULL)
    {
      g_prefix_error (error, "The user of the peer is not known: ");
      return FALSE;
    }

  user = g_credentials_get_unix_user (peer, error);
  if (user == (uid_t) -1)
    return FALSE;

  if (user == own_user)
    return TRUE;

  g_set_error (error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED,
               "The peer is a process of user %u, and only those of user %u are allowed",
               (guint) user, (guint) own_user);
  return FALSE;
}

static gboolean
check_peer (MtlTensorConnection  *self,
            GError              **error)
{
  if (g_atomic_int_get (&self->is_checked))
    return TRUE;

  if (self->socket == NULL)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_CONNECTED, "The connection has no socket");
      return FALSE;
    }

  if (g_socket_get_socket_type (self->socket) != G_SOCKET_TYPE_STREAM)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                   "The socket has the type %d: only streams, %d, are supported",
                   g_socket_get_socket_type (self->socket), G_SOCKET_TYPE_STREAM);
      return FALSE;
    }

  if (!(self->flags & MTL_TENSOR_PEER_FLAGS_ALLOW_OTHER_USERS) && !check_user (self, error))
    return FALSE;

  g_atomic_int_set (&self->is_checked, TRUE);
  return TRUE;
}

gboolean
mtl_tensor_connection_begin (MtlTensorConnection  *self,
                             int                  *field,
                             GCancellable         *cancellable,
                             GError              **error)
{
  if (g_cancellable_set_error_if_cancelled (cancellable, error) || !check_peer (self, error))
    return FALSE;

  if (g_atomic_int_compare_and_exchange (field, FALSE, TRUE))
    return TRUE;

  g_set_error (error, G_IO_ERROR, G_IO_ERROR_PENDING,
               "The connection is %s another view: wait until it is done",
               field == &self->is_sending ? "sending" : "receiving");
  return FALSE;
}
