/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-tensor-connection.h"

#include <unistd.h>

#include "mtl-async-call-private.h"
#include "mtl-enum-types.h"
#include "mtl-error.h"
#include "mtl-shared-pool-private.h"
#include "mtl-tensor-socket-private.h"
#include "mtl-tensor-variant-private.h"

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
 * anything else. When the connection is no longer used, its socket is closed.
 *
 * ```c
 * const double values[] = { 1, 2, 3 };
 * g_autoptr (MtlStridedView) view =
 *   mtl_strided_view_new_from_doubles (values, 3, MTL_DTYPE_FLOAT32, NULL, 0, error);
 * g_autoptr (MtlTensorConnection) connection = mtl_tensor_connection_new (socket, 0);
 *
 * if (view == NULL || !mtl_tensor_connection_send (connection, view, NULL, NULL, error))
 *   return FALSE;
 *
 * // In another process.
 * g_autoptr (MtlStridedView) received =
 *   mtl_tensor_connection_receive (peer, NULL, NULL, error);
 * ```
 *
 * Since: 1.0
 */

/* Mappings of the files that came last are kept, as peers use them again. */
#define N_RECENT 4

#define DEFAULT_MAX_VIEWS 256

/* The views of a peer's memory that are in use. They may outlive the connection. */
typedef struct
{
  int ref_count; /* atomic */
  int n_views;   /* atomic */
  gsize n_bytes; /* atomic */
} Holdings;

/* One of them. */
typedef struct
{
  Holdings *holdings;
  gsize size;
  int release; /* closed when the memory is no longer used, or -1 */
} Holding;

struct _MtlTensorConnection
{
  GObject parent_instance;

  GSocket *socket;
  MtlTensorPeerFlags flags;
  int max_views;     /* atomic */
  gsize max_bytes;   /* atomic */
  int is_checked;    /* atomic: the peer may use the connection */

  int is_sending;    /* atomic: a thread has the next two fields */
  MtlTensorMessage outgoing;
  MtlSharedPool *pool;

  int is_receiving;  /* atomic: a thread has the next fields */
  MtlTensorMessage incoming;
  gboolean is_stream_lost;
  MtlSharedPages *recent[N_RECENT];
  guint next_recent;
  Holdings *holdings;
};

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
holdings_unref (Holdings *self)
{
  if (g_atomic_int_dec_and_test (&self->ref_count))
    g_free (self);
}

static void
mtl_tensor_connection_finalize (GObject *object)
{
  MtlTensorConnection *self = MTL_TENSOR_CONNECTION (object);

  mtl_tensor_message_clear (&self->outgoing);
  mtl_tensor_message_clear (&self->incoming);
  mtl_shared_pool_unref (self->pool);
  for (guint i = 0; i < N_RECENT; i++)
    g_clear_pointer (&self->recent[i], mtl_shared_pages_unref);
  holdings_unref (self->holdings);
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
  self->holdings = g_new0 (Holdings, 1);
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
  uid_t user;

  if (peer == NULL)
    {
      g_prefix_error (error, "The user of the peer is not known: ");
      return FALSE;
    }

  user = g_credentials_get_unix_user (peer, error);
  if (user == (uid_t) -1)
    return FALSE;

  if (user == geteuid ())
    return TRUE;

  g_set_error (error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED,
               "The peer is a process of user %u, and only those of user %u are allowed",
               (guint) user, (guint) geteuid ());
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

  if (!(self->flags & MTL_TENSOR_PEER_FLAGS_ALLOW_OTHER_USERS) && !check_user (self, error))
    return FALSE;

  g_atomic_int_set (&self->is_checked, TRUE);
  return TRUE;
}

/* The field says that a thread uses the others of its direction. */
static gboolean
begin (MtlTensorConnection  *self,
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

/* Sending */

/**
 * mtl_tensor_connection_allocate_view:
 * @self: a connection
 * @dtype: the element type
 * @shape: (array length=n_dims): the extents
 * @n_dims: the number of dimensions
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Creates a view in C order, in memory that the peer can map.
 *
 * Fill it, and send it to the peer. When this process no longer uses the memory, and
 * the peer no longer does, it is used again for another view, as new memory takes
 * several times as long to fill. For this, the connection keeps up to four blocks.
 * Memory of one connection is never used again for another one, because its peer may
 * have kept it mapped.
 *
 * The values are undefined, but no other peer or program has seen them: they are 0
 * in new memory, and what the peer was sent before in memory that is used again.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: @dtype is not a known element type, an extent
 *   is negative, or there are more than 64 dimensions
 * - %MTL_ERROR_OVERFLOW: the size does not fit in 63 bits
 * - %MTL_ERROR_NO_MEMORY: the memory cannot be allocated
 * - %MTL_ERROR_NOT_SUPPORTED: this system has no memory for other processes
 * - a [error@Gio.IOErrorEnum]: the system has no descriptor left
 *
 * Returns: (transfer full): the new view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_tensor_connection_allocate_view (MtlTensorConnection  *self,
                                     MtlDType              dtype,
                                     const gint64         *shape,
                                     gsize                 n_dims,
                                     GError              **error)
{
  g_auto (MtlLayout) layout = MTL_LAYOUT_INIT;
  MtlStridedView *view;
  MtlMemory *memory;
  gint64 size;

  g_return_val_if_fail (MTL_IS_TENSOR_CONNECTION (self), NULL);
  g_return_val_if_fail (shape != NULL || n_dims == 0, NULL);

  if (!mtl_dtype_check (dtype, error)
      || !mtl_layout_new_dense (shape, n_dims, MTL_ORDER_C, mtl_dtype_get_bits (dtype), &layout,
                                error)
      || !mtl_layout_get_required_size (&layout, &size, error))
    return NULL;

  memory = mtl_shared_pool_take (self->pool, size, error);
  if (memory == NULL)
    return NULL;

  view = mtl_strided_view_new_take (memory, 0, mtl_element_type_new (dtype), &layout);
  layout.n_dims = 0; /* taken */
  return view;
}

static MtlStridedView *
allocate_like (MtlTensorConnection  *self,
               MtlStridedView       *view,
               GError              **error)
{
  g_auto (MtlLayout) layout = MTL_LAYOUT_INIT;
  MtlStridedView *copy;
  MtlMemory *memory;
  gint64 size;

  if (!mtl_layout_new_dense_like (&view->layout, MTL_ORDER_K, &layout, error)
      || !mtl_layout_get_required_size (&layout, &size, error))
    return NULL;

  memory = mtl_shared_pool_take (self->pool, size, error);
  if (memory == NULL)
    return NULL;

  copy = mtl_strided_view_new_take (memory, 0, view->type, &layout);
  layout.n_dims = 0; /* taken */
  return copy;
}

static gboolean
is_sent_in_place (MtlStridedView *view)
{
  gint64 byte;
  guint bit;

  mtl_layout_get_first_byte (&view->layout, &byte, &bit);
  return mtl_memory_get_shared_pages (view->memory) != NULL && bit == 0;
}

/* Copies elements that are too many for a message, where they lie in the connection's memory. */
static MtlStridedView *
copy_to_shared (MtlTensorConnection  *self,
                MtlStridedView       *view,
                GCancellable         *cancellable,
                GError              **error)
{
  g_autoptr (MtlStridedView) stored = mtl_tensor_drop_repeated (view);
  g_autoptr (MtlStridedView) copy = allocate_like (self, stored, error);

  if (copy == NULL || !mtl_strided_view_copy_from (copy, stored, cancellable, error))
    return NULL;

  return mtl_tensor_repeat_like (g_steal_pointer (&copy), view);
}

static gboolean
needs_copy (MtlStridedView *view)
{
  return !is_sent_in_place (view) && !mtl_tensor_fits_inline (view);
}

/* Elements that the host cannot reach are copied to it. */
static gboolean
prepare_inline (MtlTensorConnection  *self,
                MtlStridedView       *view,
                GVariant             *extras,
                GCancellable         *cancellable,
                GError              **error)
{
  g_autoptr (MtlStridedView) stored = NULL;
  MtlStridedView *copy;
  GVariant *body;

  if (mtl_strided_view_is_host_accessible (view))
    {
      body = mtl_tensor_variant_new_inline (view, extras, error);
      return body != NULL && mtl_tensor_message_prepare (&self->outgoing, body, NULL, 0, error);
    }

  stored = mtl_tensor_drop_repeated (view);
  copy = mtl_strided_view_to_device (stored, mtl_device_get_host (), MTL_STORAGE_MODE_HOST,
                                     cancellable, error);
  if (copy == NULL)
    return FALSE;

  copy = mtl_tensor_repeat_like (copy, view);
  body = mtl_tensor_variant_new_inline (copy, extras, error);
  g_object_unref (copy);
  return body != NULL && mtl_tensor_message_prepare (&self->outgoing, body, NULL, 0, error);
}

static gboolean
prepare_shared (MtlTensorConnection  *self,
                MtlStridedView       *view,
                GVariant             *extras,
                GError              **error)
{
  int fds[MTL_TENSOR_MESSAGE_MAX_FDS];
  guint n_fds = 0;
  int release;
  GVariant *body;

  fds[n_fds] = mtl_dup_fd (mtl_memory_get_shared_pages (view->memory)->fd, error);
  if (fds[n_fds++] < 0)
    return FALSE;

  release = mtl_shared_pool_begin_send (self->pool, view->memory);
  if (release >= 0)
    fds[n_fds++] = release;

  body = mtl_tensor_variant_new_shared (view, 0, release >= 0 ? 1 : -1, extras, error);
  return mtl_tensor_message_prepare (&self->outgoing, body, fds, n_fds, error);
}

static gboolean
prepare (MtlTensorConnection  *self,
         MtlStridedView       *view,
         GVariant             *extras,
         GCancellable         *cancellable,
         GError              **error)
{
  g_autoptr (MtlStridedView) copy = NULL;

  MTL_USE_VIEW (view);
  if (!mtl_memory_check_reachable (view->memory, error))
    return FALSE;

  if (needs_copy (view))
    {
      copy = copy_to_shared (self, view, cancellable, error);
      return copy != NULL && prepare_shared (self, copy, extras, error);
    }

  if (is_sent_in_place (view))
    return mtl_memory_check_host_accessible (view->memory, error)
           && prepare_shared (self, view, extras, error);

  return prepare_inline (self, view, extras, cancellable, error);
}

/* A message of which nothing was sent is forgotten. The rest of another one goes before the next
 * message. */
static void
end_sending (MtlTensorConnection *self)
{
  if (!mtl_tensor_message_has_begun (&self->outgoing))
    mtl_tensor_message_clear (&self->outgoing);
  g_atomic_int_set (&self->is_sending, FALSE);
}

static gboolean
send_prepared (MtlTensorConnection  *self,
               GCancellable         *cancellable,
               GError              **error)
{
  int fd = g_socket_get_fd (self->socket);
  MtlStep step;

  while ((step = mtl_tensor_message_send (&self->outgoing, fd, error)) == MTL_STEP_BLOCKED)
    if (!g_socket_condition_wait (self->socket, G_IO_OUT, cancellable, error))
      return FALSE;

  return step == MTL_STEP_DONE;
}

static gboolean
has_rest (MtlTensorConnection *self)
{
  return mtl_tensor_message_has_begun (&self->outgoing);
}

/**
 * mtl_tensor_connection_send:
 * @self: a connection
 * @view: a view
 * @extras: (nullable): entries that the receiver gets, of the type `a{sv}`, such as
 *   a `name`
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Sends a view to the peer.
 *
 * This waits while the peer has many messages to read, but not until it has read
 * this one. If the call is cancelled after a part of the message was
 * sent, the rest is sent before the next message.
 *
 * Memory that other processes can map is sent as a descriptor, which gives the
 * peer access to **all of the memory**, even if @view is a part of it.
 *
 * Errors:
 *
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: neither the host nor a supported device can read
 *   the memory
 * - %MTL_ERROR_NO_MEMORY: the memory for a copy cannot be allocated
 * - %MTL_ERROR_NOT_SUPPORTED: this system has no memory for other processes
 * - %MTL_ERROR_DEVICE: the device failed
 * - %MTL_ERROR_OUT_OF_BOUNDS: @extras have too many bytes
 * - %G_IO_ERROR_PERMISSION_DENIED: the peer belongs to another user
 * - %G_IO_ERROR_BROKEN_PIPE: the peer has ended, or closed the connection
 * - %G_IO_ERROR_PENDING: the connection is sending another view
 * - %G_IO_ERROR_CANCELLED: the operation was cancelled
 * - another [error@Gio.IOErrorEnum]: the message cannot be sent
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_tensor_connection_send (MtlTensorConnection  *self,
                            MtlStridedView       *view,
                            GVariant             *extras,
                            GCancellable         *cancellable,
                            GError              **error)
{
  g_autoptr (GVariant) sunk = NULL;
  gboolean is_sent;

  g_return_val_if_fail (MTL_IS_TENSOR_CONNECTION (self), FALSE);
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (view), FALSE);
  g_return_val_if_fail (extras == NULL || g_variant_is_of_type (extras, G_VARIANT_TYPE_VARDICT),
                        FALSE);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), FALSE);

  sunk = extras != NULL ? g_variant_ref_sink (extras) : NULL;
  if (!begin (self, &self->is_sending, cancellable, error))
    return FALSE;

  is_sent = (!has_rest (self) || send_prepared (self, cancellable, error))
            && prepare (self, view, sunk, cancellable, error)
            && send_prepared (self, cancellable, error);
  end_sending (self);
  return is_sent;
}

typedef struct
{
  MtlAsyncCall parent;

  MtlStridedView *view;
  GVariant *extras;
} SendCall;

static void
send_call_clear (gpointer data)
{
  SendCall *self = data;

  g_clear_object (&self->view);
  g_clear_pointer (&self->extras, g_variant_unref);
}

static gpointer
run_send (gpointer           self,
          gpointer           data,
          const MtlMonitor  *monitor,
          GError           **error)
{
  SendCall *call = data;

  return GINT_TO_POINTER (
      mtl_tensor_connection_send (self, call->view, call->extras, monitor->cancellable, error));
}

/**
 * mtl_tensor_connection_send_async:
 * @self: a connection
 * @view: a view
 * @extras: (nullable): entries that the receiver gets, of the type `a{sv}`
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called when the operation is done
 * @user_data: data for @callback
 *
 * Sends a view to the peer without blocking the caller. This is the asynchronous
 * version of [method@Mtl.TensorConnection.send].
 *
 * Since: 1.0
 */
void
mtl_tensor_connection_send_async (MtlTensorConnection  *self,
                                  MtlStridedView       *view,
                                  GVariant             *extras,
                                  GCancellable         *cancellable,
                                  GAsyncReadyCallback   callback,
                                  gpointer              user_data)
{
  SendCall *call;

  g_return_if_fail (MTL_IS_TENSOR_CONNECTION (self));
  g_return_if_fail (MTL_IS_STRIDED_VIEW (view));
  g_return_if_fail (extras == NULL || g_variant_is_of_type (extras, G_VARIANT_TYPE_VARDICT));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  call = mtl_async_call_new (sizeof (SendCall), run_send, NULL, send_call_clear,
                             G_PRIORITY_DEFAULT);
  call->view = g_object_ref (view);
  call->extras = extras != NULL ? g_variant_ref_sink (extras) : NULL;
  call->parent.is_alone = TRUE; /* a peer that does not read would block others */
  mtl_async_call_start (call, self, mtl_tensor_connection_send_async, cancellable, callback,
                        user_data);
}

/**
 * mtl_tensor_connection_send_finish:
 * @self: a connection
 * @result: the result that the callback received
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Finishes an operation that was started with
 * [method@Mtl.TensorConnection.send_async].
 *
 * Errors:
 *
 * - the errors of [method@Mtl.TensorConnection.send]
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_tensor_connection_send_finish (MtlTensorConnection  *self,
                                   GAsyncResult         *result,
                                   GError              **error)
{
  return mtl_async_call_finish (self, result, mtl_tensor_connection_send_async, error);
}

/* Receiving */

static void
end_holding (gpointer data)
{
  g_autofree Holding *self = data;

  mtl_clear_fd (&self->release);
  g_atomic_int_add (&self->holdings->n_views, -1);
  g_atomic_pointer_add (&self->holdings->n_bytes, -(gssize) self->size);
  holdings_unref (self->holdings);
}

/* One thread adds, and any may subtract. */
static gboolean
check_holdings (MtlTensorConnection  *self,
                gsize                 size,
                GError              **error)
{
  gsize n_bytes = (gsize) g_atomic_pointer_get (&self->holdings->n_bytes);
  gsize max_bytes = (gsize) g_atomic_pointer_get (&self->max_bytes);
  int n_views = g_atomic_int_get (&self->holdings->n_views);
  int max_views = g_atomic_int_get (&self->max_views);

  if (n_views < max_views && n_bytes <= max_bytes && size <= max_bytes - n_bytes)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_BUSY,
               "%d view%s with %" G_GSIZE_FORMAT " bytes of the peer's memory are in use, and"
               " another has %" G_GSIZE_FORMAT " bytes: %d with %" G_GSIZE_FORMAT " are allowed",
               n_views, n_views == 1 ? "" : "s", n_bytes, size, max_views, max_bytes);
  return FALSE;
}

static MtlSharedPages *
find_recent (MtlTensorConnection *self,
             int                  fd,
             const MtlSentTensor *tensor)
{
  guint64 device, inode;

  if (!mtl_fd_identify (fd, &device, &inode))
    return NULL;

  for (guint i = 0; i < N_RECENT; i++)
    {
      MtlSharedPages *pages = self->recent[i];

      if (pages != NULL && pages->inode == inode && pages->device == device
          && mtl_shared_pages_contain (pages, tensor->begin, tensor->size))
        return mtl_shared_pages_ref (pages);
    }

  return NULL;
}

static void
remember (MtlTensorConnection *self,
          MtlSharedPages      *pages)
{
  MtlSharedPages **slot = &self->recent[self->next_recent];

  /* A larger part of the same file takes the place of a smaller one. */
  for (guint i = 0; i < N_RECENT; i++)
    if (self->recent[i] != NULL && self->recent[i]->inode == pages->inode
        && self->recent[i]->device == pages->device)
      slot = &self->recent[i];

  if (slot == &self->recent[self->next_recent])
    self->next_recent = (self->next_recent + 1) % N_RECENT;
  g_clear_pointer (slot, mtl_shared_pages_unref);
  *slot = mtl_shared_pages_ref (pages);
}

static MtlSharedPages *
get_pages (MtlTensorConnection  *self,
           MtlTensorMessage     *message,
           const MtlSentTensor  *tensor,
           GError              **error)
{
  int *fd = &message->fds[tensor->handle];
  MtlSharedPages *pages = find_recent (self, *fd, tensor);

  if (pages != NULL)
    return pages;

  pages = mtl_shared_pages_new_take_fd (*fd, tensor->begin, tensor->size, FALSE, error);
  *fd = -1;
  if (pages != NULL)
    remember (self, pages);
  return pages;
}

static gboolean
check_handles (const MtlTensorMessage  *message,
               const MtlSentTensor     *tensor,
               GError                 **error)
{
  gint64 n_fds = message->n_fds;

  if (tensor->handle < n_fds && tensor->release < n_fds
      && (tensor->release < 0
          || (tensor->release != tensor->handle
              && mtl_fd_is_pipe (message->fds[tensor->release]))))
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
               "A tensor has the descriptors %d and %d of %u: they must differ, and the second must"
               " be a pipe, or -1", tensor->handle, tensor->release, message->n_fds);
  return FALSE;
}

static MtlMemory *
map_memory (MtlTensorConnection  *self,
            MtlTensorMessage     *message,
            const MtlSentTensor  *tensor,
            GError              **error)
{
  g_autoptr (MtlSharedPages) pages = NULL;
  Holding *holding;

  if (!check_handles (message, tensor, error) || !check_holdings (self, tensor->size, error))
    return NULL;

  pages = get_pages (self, message, tensor, error);
  if (pages == NULL)
    return NULL;

  holding = g_new (Holding, 1);
  *holding = (Holding) { self->holdings, tensor->size, -1 };
  if (tensor->release >= 0)
    {
      holding->release = message->fds[tensor->release];
      message->fds[tensor->release] = -1;
    }
  g_atomic_int_inc (&self->holdings->ref_count);
  g_atomic_int_inc (&self->holdings->n_views);
  g_atomic_pointer_add (&self->holdings->n_bytes, tensor->size);
  return mtl_memory_new_for_pages (pages, tensor->begin, tensor->size, TRUE, end_holding, holding);
}

static MtlStridedView *
open_message (MtlTensorConnection  *self,
              MtlTensorMessage     *message,
              GVariant            **extras,
              GError              **error)
{
  g_autoptr (GVariant) body = mtl_tensor_message_dup_body (message);
  g_auto (MtlSentTensor) tensor = { .release = -1 };
  MtlMemory *memory = NULL;
  MtlStridedView *view;

  if (!mtl_sent_tensor_read (body, &tensor, error))
    return NULL;

  if (tensor.handle >= 0 && tensor.size > 0)
    {
      memory = map_memory (self, message, &tensor, error);
      mtl_error_blame_peer (error);
      if (memory == NULL)
        return NULL;
    }

  view = mtl_sent_tensor_to_view (&tensor, memory, error);
  if (view != NULL && extras != NULL)
    *extras = mtl_tensor_variant_dup_extras (body);
  return view;
}

static gboolean
check_stream (MtlTensorConnection  *self,
              GError              **error)
{
  if (!self->is_stream_lost)
    return TRUE;

  g_set_error (error, G_IO_ERROR, G_IO_ERROR_CONNECTION_CLOSED,
               "Nothing more can be received after a message that was not valid");
  return FALSE;
}

static MtlStep
receive_some (MtlTensorConnection  *self,
              MtlStridedView      **view,
              GVariant            **extras,
              GError              **error)
{
  gboolean is_lost;
  MtlStep step;

  if (!check_stream (self, error))
    return MTL_STEP_FAILED;

  step = mtl_tensor_message_receive (&self->incoming, g_socket_get_fd (self->socket), &is_lost,
                                     error);
  if (step == MTL_STEP_BLOCKED)
    return step;

  if (step == MTL_STEP_DONE)
    {
      *view = open_message (self, &self->incoming, extras, error);
      step = *view != NULL ? MTL_STEP_DONE : MTL_STEP_FAILED;
    }
  else
    self->is_stream_lost = is_lost;

  mtl_tensor_message_clear (&self->incoming);
  return step;
}

/**
 * mtl_tensor_connection_receive:
 * @self: a connection
 * @extras: (out) (optional) (nullable) (transfer full): return location for the
 *   entries that the sender added, of the type `a{sv}`
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Waits for a view from the peer.
 *
 * The view is read-only, and in the sender's memory if that was handed over. The
 * sender may go on writing to it. Do not rely on a value that was read before: copy
 * what has to stay the same.
 *
 * After a view that is refused, others can be received. If the call is cancelled, the
 * next one continues where it stopped.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_DATA: the peer sent something else than a tensor, or its elements are
 *   not within its memory, or the memory could vanish
 * - %MTL_ERROR_NOT_SUPPORTED: the tensor has a later version, needs an extra that this
 *   library does not know, has another byte order, or is in memory of a device
 * - %MTL_ERROR_BUSY: too much of the peer's memory is in use, see
 *   [property@Mtl.TensorConnection:max-views] and
 *   [property@Mtl.TensorConnection:max-bytes]
 * - %MTL_ERROR_NO_MEMORY: there is no memory or no room among the addresses
 * - %G_IO_ERROR_CONNECTION_CLOSED: the peer has ended, or closed the connection
 * - %G_IO_ERROR_PERMISSION_DENIED: the peer belongs to another user
 * - %G_IO_ERROR_PENDING: the connection is receiving another view
 * - %G_IO_ERROR_CANCELLED: the operation was cancelled
 * - another [error@Gio.IOErrorEnum]: nothing can be received or mapped
 *
 * Returns: (transfer full): the view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_tensor_connection_receive (MtlTensorConnection  *self,
                               GVariant            **extras,
                               GCancellable         *cancellable,
                               GError              **error)
{
  MtlStridedView *view = NULL;

  g_return_val_if_fail (MTL_IS_TENSOR_CONNECTION (self), NULL);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), NULL);

  if (extras != NULL)
    *extras = NULL;
  if (!begin (self, &self->is_receiving, cancellable, error))
    return NULL;

  while (receive_some (self, &view, extras, error) == MTL_STEP_BLOCKED)
    if (!g_socket_condition_wait (self->socket, G_IO_IN, cancellable, error))
      break;

  g_atomic_int_set (&self->is_receiving, FALSE);
  return view;
}

typedef struct
{
  MtlStridedView *view;
  GVariant *extras;
} Received;

static void
received_free (gpointer data)
{
  Received *self = data;

  g_clear_object (&self->view);
  g_clear_pointer (&self->extras, g_variant_unref);
  g_free (self);
}

static gboolean on_readable (GSocket      *socket,
                             GIOCondition  condition,
                             gpointer      data);

static void
wait_for_message (MtlTensorConnection *self,
                  GTask               *task)
{
  g_autoptr (GSource) source =
    g_socket_create_source (self->socket, G_IO_IN, g_task_get_cancellable (task));

  g_source_set_callback (source, G_SOURCE_FUNC (on_readable), g_object_ref (task),
                         g_object_unref);
  g_source_set_priority (source, g_task_get_priority (task));
  g_source_attach (source, g_task_get_context (task));
}

static void
continue_receiving (GTask *task)
{
  MtlTensorConnection *self = g_task_get_source_object (task);
  Received received = { NULL };
  GError *error = NULL;
  MtlStep step;

  if (g_cancellable_set_error_if_cancelled (g_task_get_cancellable (task), &error))
    step = MTL_STEP_FAILED;
  else
    step = receive_some (self, &received.view, &received.extras, &error);

  if (step == MTL_STEP_BLOCKED)
    {
      wait_for_message (self, task);
      return;
    }

  g_atomic_int_set (&self->is_receiving, FALSE);
  if (step == MTL_STEP_DONE)
    g_task_return_pointer (task, g_memdup2 (&received, sizeof received), received_free);
  else
    g_task_return_error (task, error);
}

static gboolean
on_readable (GSocket      *socket,
             GIOCondition  condition,
             gpointer      data)
{
  continue_receiving (data);
  return G_SOURCE_REMOVE;
}

/**
 * mtl_tensor_connection_receive_async:
 * @self: a connection
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called when the operation is done
 * @user_data: data for @callback
 *
 * Receives a view from the peer without blocking the caller. This is the
 * asynchronous version of [method@Mtl.TensorConnection.receive].
 *
 * Since: 1.0
 */
void
mtl_tensor_connection_receive_async (MtlTensorConnection *self,
                                     GCancellable        *cancellable,
                                     GAsyncReadyCallback  callback,
                                     gpointer             user_data)
{
  g_autoptr (GTask) task = NULL;
  GError *error = NULL;

  g_return_if_fail (MTL_IS_TENSOR_CONNECTION (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, mtl_tensor_connection_receive_async);
  g_task_set_check_cancellable (task, FALSE); /* what was received is not lost */
  if (begin (self, &self->is_receiving, cancellable, &error))
    continue_receiving (task);
  else
    g_task_return_error (task, error);
}

/**
 * mtl_tensor_connection_receive_finish:
 * @self: a connection
 * @result: the result that the callback received
 * @extras: (out) (optional) (nullable) (transfer full): return location for the
 *   entries that the sender added, of the type `a{sv}`
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Finishes an operation that was started with
 * [method@Mtl.TensorConnection.receive_async].
 *
 * Errors:
 *
 * - the errors of [method@Mtl.TensorConnection.receive]
 *
 * Returns: (transfer full): the view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_tensor_connection_receive_finish (MtlTensorConnection  *self,
                                      GAsyncResult         *result,
                                      GVariant            **extras,
                                      GError              **error)
{
  MtlStridedView *view;
  Received *received;

  g_return_val_if_fail (MTL_IS_TENSOR_CONNECTION (self), NULL);
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);

  received = g_task_propagate_pointer (G_TASK (result), error);
  if (extras != NULL)
    *extras = received != NULL ? g_steal_pointer (&received->extras) : NULL;
  if (received == NULL)
    return NULL;

  view = g_steal_pointer (&received->view);
  received_free (received);
  return view;
}
