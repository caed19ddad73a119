/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-tensor-proxy.h"

#include <gio/gunixfdlist.h>

#include "mtl-error.h"
#include "mtl-message-text-private.h"
#include "mtl-tensor-dbus-private.h"
#include "mtl-tensor-request-private.h"
#include "mtl-tensor-variant-private.h"

/**
 * MtlTensorProxy:
 *
 * A tensor that another process exports over D-Bus.
 *
 * It gets the view, offers views to the other process, and copies elements into a
 * region of the tensor if that process allows it. The other process has a
 * [class@Mtl.ExportedTensor], or another object with the interface
 * `org.mtldl.Tensor1`, which [Between processes](processes.html) describes.
 *
 * Memory that processes can map is handed over without a copy, in both directions.
 * A view that was fetched is read-only. If the other process goes on writing to its
 * memory, the view shows that; a view of elements that had to be copied does not, and has to be
 * fetched again. [signal@Mtl.TensorProxy::changed] tells when.
 *
 * The other process is not trusted: whatever it sends, and whenever it ends, is an
 * error at worst. On a bus, the rules of the bus say which processes may have the
 * name. A reply that takes longer than 25 seconds is an error, too, though the other
 * process may still do its work.
 *
 * ```c
 * g_autoptr (GDBusConnection) bus = g_bus_get_sync (G_BUS_TYPE_SESSION, NULL, error);
 *
 * if (bus == NULL)
 *   return FALSE;
 *
 * g_autoptr (MtlTensorProxy) camera =
 *   mtl_tensor_proxy_new (bus, "org.example.Camera", "/org/example/Camera");
 * g_autoptr (GError) refusal = NULL;
 * g_autoptr (MtlStridedView) frame = mtl_tensor_proxy_fetch_view (camera, NULL, &refusal);
 *
 * if (frame == NULL)
 *   g_print ("There is no camera: %s\n", refusal->message);
 * ```
 *
 * The functions that wait can be called from any thread, but not in the main context in which the
 * same process answers. The signal is emitted in the thread-default main context of
 * the thread that created the proxy.
 *
 * Since: 1.0
 */

struct _MtlTensorProxy
{
  GObject parent_instance;

  MtlTensorAddress address;
  guint subscription; /* 0 if there is none */
};

enum
{
  PROP_0,
  PROP_CONNECTION,
  PROP_BUS_NAME,
  PROP_OBJECT_PATH,
  N_PROPS
};

static GParamSpec *props[N_PROPS];
static guint changed_signal;

G_DEFINE_FINAL_TYPE (MtlTensorProxy, mtl_tensor_proxy, G_TYPE_OBJECT)

static void
on_signal (GDBusConnection *connection,
           const char      *sender,
           const char      *object_path,
           const char      *interface,
           const char      *signal,
           GVariant        *arguments,
           gpointer         weak)
{
  g_autoptr (MtlTensorProxy) self = g_weak_ref_get (weak);
  const char *region;
  guint64 serial;

  if (self == NULL || !g_variant_is_of_type (arguments, G_VARIANT_TYPE ("(ts)")))
    return;

  g_variant_get (arguments, "(t&s)", &serial, &region);
  g_signal_emit (self, changed_signal, 0, serial, region);
}

static void
free_weak (gpointer weak)
{
  g_weak_ref_clear (weak);
  g_free (weak);
}

/* An address that is not valid is an error of later calls. */
static void
mtl_tensor_proxy_constructed (GObject *object)
{
  MtlTensorProxy *self = MTL_TENSOR_PROXY (object);
  GWeakRef *weak;

  G_OBJECT_CLASS (mtl_tensor_proxy_parent_class)->constructed (object);

  if (!mtl_tensor_address_check (&self->address, NULL))
    return;

  weak = g_new0 (GWeakRef, 1);
  g_weak_ref_init (weak, self);
  self->subscription = g_dbus_connection_signal_subscribe (
      self->address.connection, self->address.bus_name, MTL_TENSOR_INTERFACE_NAME, "Changed",
      self->address.object_path, NULL, G_DBUS_SIGNAL_FLAGS_NONE, on_signal, weak, free_weak);
}

static void
mtl_tensor_proxy_dispose (GObject *object)
{
  MtlTensorProxy *self = MTL_TENSOR_PROXY (object);

  if (self->subscription != 0)
    g_dbus_connection_signal_unsubscribe (self->address.connection, self->subscription);
  self->subscription = 0;

  G_OBJECT_CLASS (mtl_tensor_proxy_parent_class)->dispose (object);
}

static void
mtl_tensor_proxy_finalize (GObject *object)
{
  MtlTensorProxy *self = MTL_TENSOR_PROXY (object);

  g_clear_object (&self->address.connection);
  g_free (self->address.bus_name);
  g_free (self->address.object_path);

  G_OBJECT_CLASS (mtl_tensor_proxy_parent_class)->finalize (object);
}

static void
mtl_tensor_proxy_get_property (GObject    *object,
                               guint       prop_id,
                               GValue     *value,
                               GParamSpec *pspec)
{
  MtlTensorProxy *self = MTL_TENSOR_PROXY (object);

  switch (prop_id)
    {
    case PROP_CONNECTION:
      g_value_set_object (value, self->address.connection);
      break;
    case PROP_BUS_NAME:
      g_value_set_string (value, self->address.bus_name);
      break;
    case PROP_OBJECT_PATH:
      g_value_set_string (value, self->address.object_path);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
mtl_tensor_proxy_set_property (GObject      *object,
                               guint         prop_id,
                               const GValue *value,
                               GParamSpec   *pspec)
{
  MtlTensorProxy *self = MTL_TENSOR_PROXY (object);

  switch (prop_id)
    {
    case PROP_CONNECTION:
      self->address.connection = g_value_dup_object (value);
      break;
    case PROP_BUS_NAME:
      self->address.bus_name = g_value_dup_string (value);
      break;
    case PROP_OBJECT_PATH:
      self->address.object_path = g_value_dup_string (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
mtl_tensor_proxy_class_init (MtlTensorProxyClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS;

  mtl_dbus_register_errors ();
  object_class->constructed = mtl_tensor_proxy_constructed;
  object_class->dispose = mtl_tensor_proxy_dispose;
  object_class->finalize = mtl_tensor_proxy_finalize;
  object_class->get_property = mtl_tensor_proxy_get_property;
  object_class->set_property = mtl_tensor_proxy_set_property;

  /**
   * MtlTensorProxy:connection: (getter get_connection)
   *
   * The connection to the bus or to the other process.
   *
   * Since: 1.0
   */
  props[PROP_CONNECTION] = g_param_spec_object ("connection", NULL, NULL, G_TYPE_DBUS_CONNECTION,
                                                flags);

  /**
   * MtlTensorProxy:bus-name: (getter get_bus_name)
   *
   * The name of the other process on the bus; %NULL without a bus.
   *
   * Since: 1.0
   */
  props[PROP_BUS_NAME] = g_param_spec_string ("bus-name", NULL, NULL, NULL, flags);

  /**
   * MtlTensorProxy:object-path: (getter get_object_path)
   *
   * The path of the tensor.
   *
   * Since: 1.0
   */
  props[PROP_OBJECT_PATH] = g_param_spec_string ("object-path", NULL, NULL, NULL, flags);

  g_object_class_install_properties (object_class, N_PROPS, props);

  /**
   * MtlTensorProxy::changed:
   * @self: a proxy
   * @serial: a number that grows with each change
   * @region: the region whose elements have changed, as an index of the view, see
   *   [method@Mtl.StridedView.slice_string]; empty for all of it
   *
   * Emitted when the other process has announced a change of elements, or exports
   * another view.
   *
   * The other process is not trusted: @region need not be within the view, and
   * need not be an index.
   *
   * Since: 1.0
   */
  changed_signal = g_signal_new ("changed", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                 NULL, NULL, G_TYPE_NONE, 2, G_TYPE_UINT64, G_TYPE_STRING);
}

static void
mtl_tensor_proxy_init (MtlTensorProxy *self)
{
}

/**
 * mtl_tensor_proxy_new:
 * @connection: a connection to a bus, or to the other process
 * @bus_name: (nullable): the name of the other process on the bus; %NULL without a
 *   bus
 * @object_path: the path of the tensor
 *
 * Creates a proxy for a tensor that another process exports.
 *
 * This does not wait for the other process, which need not have exported the
 * tensor yet.
 *
 * Returns: (transfer full): the new proxy
 *
 * Since: 1.0
 */
MtlTensorProxy *
mtl_tensor_proxy_new (GDBusConnection *connection,
                      const char      *bus_name,
                      const char      *object_path)
{
  g_return_val_if_fail (G_IS_DBUS_CONNECTION (connection), NULL);
  g_return_val_if_fail (object_path != NULL, NULL);

  return g_object_new (MTL_TYPE_TENSOR_PROXY, "connection", connection, "bus-name", bus_name,
                       "object-path", object_path, NULL);
}

/**
 * mtl_tensor_proxy_get_connection: (get-property connection)
 * @self: a proxy
 *
 * Gets the connection to the bus or to the other process.
 *
 * Returns: (transfer none) (nullable): the connection; %NULL if the proxy was
 *   constructed without any
 *
 * Since: 1.0
 */
GDBusConnection *
mtl_tensor_proxy_get_connection (MtlTensorProxy *self)
{
  g_return_val_if_fail (MTL_IS_TENSOR_PROXY (self), NULL);

  return self->address.connection;
}

/**
 * mtl_tensor_proxy_get_bus_name: (get-property bus-name)
 * @self: a proxy
 *
 * Gets the name of the other process on the bus.
 *
 * Returns: (transfer none) (nullable): the name; %NULL without a bus
 *
 * Since: 1.0
 */
const char *
mtl_tensor_proxy_get_bus_name (MtlTensorProxy *self)
{
  g_return_val_if_fail (MTL_IS_TENSOR_PROXY (self), NULL);

  return self->address.bus_name;
}

/**
 * mtl_tensor_proxy_get_object_path: (get-property object-path)
 * @self: a proxy
 *
 * Gets the path of the tensor.
 *
 * Returns: (transfer none) (nullable): the path; %NULL if the proxy was constructed
 *   without any
 *
 * Since: 1.0
 */
const char *
mtl_tensor_proxy_get_object_path (MtlTensorProxy *self)
{
  g_return_val_if_fail (MTL_IS_TENSOR_PROXY (self), NULL);

  return self->address.object_path;
}

/* The view */

static MtlStridedView *
open_view (const MtlTensorReply  *reply,
           GError               **error)
{
  g_autoptr (GVariant) tensor = NULL;

  if (!mtl_tensor_reply_check (reply, "(" MTL_TENSOR_VARIANT_TYPE_STRING ")", error))
    return NULL;

  tensor = g_variant_get_child_value (reply->value, 0);
  return mtl_strided_view_new_from_variant_fds (tensor, reply->fd_list, error);
}

/**
 * mtl_tensor_proxy_fetch_view:
 * @self: a proxy
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error], a [error@Gio.DBusError] or a
 *   [error@Gio.IOErrorEnum]
 *
 * Gets the view that the other process exports.
 *
 * It is read-only, and in the memory of the other process if that was handed over,
 * see [class@Mtl.TensorProxy]. Do not rely on a value that was read before: copy
 * what has to stay the same. The view can be used after the other process has ended.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: the name or the path of the proxy is not valid
 * - %MTL_ERROR_INVALID_DATA: the other process sent something else than a tensor, or its
 *   elements are not within its memory, or the memory could vanish
 * - %MTL_ERROR_NOT_SUPPORTED: the tensor has a later version, needs an extra that this
 *   library does not know, has another byte order, or is in memory of a device; or
 *   its elements have more than 65,536 bytes, and no descriptor can be passed
 * - %MTL_ERROR_NOT_FOUND: the other process has no tensor to show yet
 * - %MTL_ERROR_BUSY: too many calls are waiting for the tensor
 * - another [error@Mtl.Error]: the elements cannot be copied or mapped
 * - %G_DBUS_ERROR_ACCESS_DENIED: the other process refuses those of this user
 * - %G_DBUS_ERROR_UNKNOWN_METHOD or %G_DBUS_ERROR_UNKNOWN_OBJECT: there is no tensor at
 *   the path
 * - %G_DBUS_ERROR_SERVICE_UNKNOWN: there is no process of that name
 * - %G_DBUS_ERROR_NO_REPLY: the other process has ended
 * - another [error@Gio.DBusError]: the bus refuses the call
 * - %G_IO_ERROR_CLOSED: the connection is closed
 * - %G_IO_ERROR_TIMED_OUT: there is no reply
 * - %G_IO_ERROR_CANCELLED: the operation was cancelled
 * - another [error@Gio.IOErrorEnum]: nothing can be sent, received or mapped
 *
 * Returns: (transfer full): the view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_tensor_proxy_fetch_view (MtlTensorProxy  *self,
                             GCancellable    *cancellable,
                             GError         **error)
{
  g_autoptr (MtlTensorRequest) request = NULL;
  g_auto (MtlTensorReply) reply = { NULL };

  g_return_val_if_fail (MTL_IS_TENSOR_PROXY (self), NULL);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), NULL);

  request = mtl_tensor_request_new_get ();
  return mtl_tensor_request_call (request, &self->address, &reply, cancellable, error)
         ? open_view (&reply, error) : NULL;
}

/**
 * mtl_tensor_proxy_fetch_view_async:
 * @self: a proxy
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called when the operation is done
 * @user_data: data for @callback
 *
 * Gets the view that the other process exports without blocking the caller. This
 * is the asynchronous version of [method@Mtl.TensorProxy.fetch_view].
 *
 * Since: 1.0
 */
void
mtl_tensor_proxy_fetch_view_async (MtlTensorProxy      *self,
                                   GCancellable        *cancellable,
                                   GAsyncReadyCallback  callback,
                                   gpointer             user_data)
{
  g_return_if_fail (MTL_IS_TENSOR_PROXY (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  mtl_tensor_request_start (mtl_tensor_request_new_get (), &self->address, self,
                            mtl_tensor_proxy_fetch_view_async, cancellable, callback, user_data);
}

/**
 * mtl_tensor_proxy_fetch_view_finish:
 * @self: a proxy
 * @result: the result that the callback received
 * @error: return location for a [error@Mtl.Error], a [error@Gio.DBusError] or a
 *   [error@Gio.IOErrorEnum]
 *
 * Finishes an operation that was started with
 * [method@Mtl.TensorProxy.fetch_view_async].
 *
 * Errors:
 *
 * - the errors of [method@Mtl.TensorProxy.fetch_view]
 *
 * Returns: (transfer full): the view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_tensor_proxy_fetch_view_finish (MtlTensorProxy  *self,
                                    GAsyncResult    *result,
                                    GError         **error)
{
  g_autoptr (MtlTensorReply) reply =
    mtl_tensor_request_finish (self, result, mtl_tensor_proxy_fetch_view_async, error);

  return reply != NULL ? open_view (reply, error) : NULL;
}

/* The layout */

static gboolean
find_property (GVariant    *properties,
               const char  *name,
               const char  *type,
               GVariant   **value,
               GError     **error)
{
  *value = g_variant_lookup_value (properties, name, G_VARIANT_TYPE (type));
  if (*value != NULL)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
               "A tensor has no property “%s” of the type “%s”", name, type);
  return FALSE;
}

static gboolean
read_dtype (const char  *name,
            MtlDType    *dtype,
            GError     **error)
{
  g_autofree char *quoted = NULL;

  *dtype = mtl_dtype_from_string (name, NULL);
  if (*dtype != MTL_DTYPE_OTHER)
    return TRUE;

  quoted = mtl_quote_text (name, strlen (name));
  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "The element type %s has no value here: fetch the view instead", quoted);
  return FALSE;
}

static MtlStridedLayout *
read_layout (GVariant  *shape,
             GVariant  *strides,
             MtlDType   dtype,
             GError   **error)
{
  MtlStridedLayout *layout;
  gsize n_dims, n_strides;
  const gint64 *extents = g_variant_get_fixed_array (shape, &n_dims, sizeof (gint64));
  const gint64 *steps = g_variant_get_fixed_array (strides, &n_strides, sizeof (gint64));

  if (n_strides != n_dims)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
                   "A tensor has %" G_GSIZE_FORMAT " extents and %" G_GSIZE_FORMAT " strides",
                   n_dims, n_strides);
      return NULL;
    }

  layout = mtl_strided_layout_new (extents, n_dims, steps, n_strides, mtl_dtype_get_bits (dtype),
                                   error);
  if (layout == NULL)
    mtl_error_blame_peer (error);
  return layout;
}

static MtlStridedLayout *
open_layout (const MtlTensorReply  *reply,
             MtlDType              *dtype,
             gboolean              *read_only,
             GError               **error)
{
  g_autoptr (GVariant) properties = NULL;
  g_autoptr (GVariant) shape = NULL;
  g_autoptr (GVariant) strides = NULL;
  g_autoptr (GVariant) name = NULL;
  g_autoptr (GVariant) is_read_only = NULL;
  MtlStridedLayout *layout;
  MtlDType type;

  if (!mtl_tensor_reply_check (reply, "(a{sv})", error))
    return NULL;

  properties = g_variant_get_child_value (reply->value, 0);
  if (!find_property (properties, "Shape", "ax", &shape, error)
      || !find_property (properties, "Strides", "ax", &strides, error)
      || !find_property (properties, "Dtype", "s", &name, error)
      || !find_property (properties, "ReadOnly", "b", &is_read_only, error)
      || !read_dtype (g_variant_get_string (name, NULL), &type, error))
    return NULL;

  layout = read_layout (shape, strides, type, error);
  if (layout != NULL && dtype != NULL)
    *dtype = type;
  if (layout != NULL && read_only != NULL)
    *read_only = g_variant_get_boolean (is_read_only);
  return layout;
}

static void
clear_results (MtlDType *dtype,
               gboolean *read_only)
{
  if (dtype != NULL)
    *dtype = MTL_DTYPE_OTHER;
  if (read_only != NULL)
    *read_only = TRUE;
}

/**
 * mtl_tensor_proxy_fetch_layout:
 * @self: a proxy
 * @dtype: (out) (optional): return location for the element type
 * @read_only: (out) (optional): return location for whether
 *   [method@Mtl.TensorProxy.copy_from] is refused
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error], a [error@Gio.DBusError] or a
 *   [error@Gio.IOErrorEnum]
 *
 * Gets the layout of the tensor that the other process exports, without the
 * elements.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: the name or the path of the proxy is not valid
 * - %MTL_ERROR_INVALID_DATA: the other process has sent something else than the
 *   properties of a tensor
 * - %MTL_ERROR_NOT_SUPPORTED: the element type has no value in [enum@Mtl.DType], or the
 *   elements are vectors
 * - %MTL_ERROR_BUSY: too many calls are waiting for the tensor
 * - a [error@Gio.DBusError] or a [error@Gio.IOErrorEnum] as of
 *   [method@Mtl.TensorProxy.fetch_view]
 *
 * Returns: (transfer full): the layout
 *
 * Since: 1.0
 */
MtlStridedLayout *
mtl_tensor_proxy_fetch_layout (MtlTensorProxy  *self,
                               MtlDType        *dtype,
                               gboolean        *read_only,
                               GCancellable    *cancellable,
                               GError         **error)
{
  g_autoptr (MtlTensorRequest) request = NULL;
  g_auto (MtlTensorReply) reply = { NULL };

  g_return_val_if_fail (MTL_IS_TENSOR_PROXY (self), NULL);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), NULL);

  clear_results (dtype, read_only);
  request = mtl_tensor_request_new_properties ();
  return mtl_tensor_request_call (request, &self->address, &reply, cancellable, error)
         ? open_layout (&reply, dtype, read_only, error) : NULL;
}

/**
 * mtl_tensor_proxy_fetch_layout_async:
 * @self: a proxy
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called when the operation is done
 * @user_data: data for @callback
 *
 * Gets the layout of the tensor without blocking the caller. This is the
 * asynchronous version of [method@Mtl.TensorProxy.fetch_layout].
 *
 * Since: 1.0
 */
void
mtl_tensor_proxy_fetch_layout_async (MtlTensorProxy      *self,
                                     GCancellable        *cancellable,
                                     GAsyncReadyCallback  callback,
                                     gpointer             user_data)
{
  g_return_if_fail (MTL_IS_TENSOR_PROXY (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  mtl_tensor_request_start (mtl_tensor_request_new_properties (), &self->address, self,
                            mtl_tensor_proxy_fetch_layout_async, cancellable, callback, user_data);
}

/**
 * mtl_tensor_proxy_fetch_layout_finish:
 * @self: a proxy
 * @result: the result that the callback received
 * @dtype: (out) (optional): return location for the element type
 * @read_only: (out) (optional): return location for whether
 *   [method@Mtl.TensorProxy.copy_from] is refused
 * @error: return location for a [error@Mtl.Error], a [error@Gio.DBusError] or a
 *   [error@Gio.IOErrorEnum]
 *
 * Finishes an operation that was started with
 * [method@Mtl.TensorProxy.fetch_layout_async].
 *
 * Errors:
 *
 * - the errors of [method@Mtl.TensorProxy.fetch_layout]
 *
 * Returns: (transfer full): the layout
 *
 * Since: 1.0
 */
MtlStridedLayout *
mtl_tensor_proxy_fetch_layout_finish (MtlTensorProxy  *self,
                                      GAsyncResult    *result,
                                      MtlDType        *dtype,
                                      gboolean        *read_only,
                                      GError         **error)
{
  g_autoptr (MtlTensorReply) reply =
    mtl_tensor_request_finish (self, result, mtl_tensor_proxy_fetch_layout_async, error);

  clear_results (dtype, read_only);
  return reply != NULL ? open_layout (reply, dtype, read_only, error) : NULL;
}

/* Offering a view */

/**
 * mtl_tensor_proxy_put:
 * @self: a proxy
 * @view: a view
 * @extras: (nullable): entries that the other process gets, of the type `a{sv}`, such as
 *   a `name`
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error], a [error@Gio.DBusError] or a
 *   [error@Gio.IOErrorEnum]
 *
 * Offers a view to the other process, which decides what to do with it, see
 * [signal@Mtl.ExportedTensor::put].
 *
 * Memory that other processes can map is handed over, read-only, which gives access to
 * **all of the memory**. More than 65,536 bytes in other memory are copied to such
 * memory first.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: the name or the path of the proxy is not valid
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: neither the host nor a supported device can read
 *   the memory
 * - %MTL_ERROR_NOT_SUPPORTED: the other process does not take the view; or the elements
 *   have more than 65,536 bytes, and no descriptor can be passed
 * - %MTL_ERROR_NO_MEMORY: the memory for a copy cannot be allocated
 * - %MTL_ERROR_BUSY: too many calls are waiting for the tensor
 * - another [error@Mtl.Error]: the other process cannot use the view
 * - a [error@Gio.DBusError] or a [error@Gio.IOErrorEnum] as of
 *   [method@Mtl.TensorProxy.fetch_view]
 *
 * Returns: %TRUE if the other process has taken the view
 *
 * Since: 1.0
 */
gboolean
mtl_tensor_proxy_put (MtlTensorProxy  *self,
                      MtlStridedView  *view,
                      GVariant        *extras,
                      GCancellable    *cancellable,
                      GError         **error)
{
  g_autoptr (MtlTensorRequest) request = NULL;
  g_auto (MtlTensorReply) reply = { NULL };

  g_return_val_if_fail (MTL_IS_TENSOR_PROXY (self), FALSE);
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (view), FALSE);
  g_return_val_if_fail (extras == NULL || g_variant_is_of_type (extras, G_VARIANT_TYPE_VARDICT),
                        FALSE);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), FALSE);

  request = mtl_tensor_request_new_put (view, extras);
  return mtl_tensor_request_call (request, &self->address, &reply, cancellable, error)
         && mtl_tensor_reply_check (&reply, "()", error);
}

/**
 * mtl_tensor_proxy_put_async:
 * @self: a proxy
 * @view: a view
 * @extras: (nullable): entries that the other process gets, of the type `a{sv}`
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called when the operation is done
 * @user_data: data for @callback
 *
 * Offers a view to the other process without blocking the caller. This is the
 * asynchronous version of [method@Mtl.TensorProxy.put].
 *
 * Since: 1.0
 */
void
mtl_tensor_proxy_put_async (MtlTensorProxy      *self,
                            MtlStridedView      *view,
                            GVariant            *extras,
                            GCancellable        *cancellable,
                            GAsyncReadyCallback  callback,
                            gpointer             user_data)
{
  g_return_if_fail (MTL_IS_TENSOR_PROXY (self));
  g_return_if_fail (MTL_IS_STRIDED_VIEW (view));
  g_return_if_fail (extras == NULL || g_variant_is_of_type (extras, G_VARIANT_TYPE_VARDICT));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  mtl_tensor_request_start (mtl_tensor_request_new_put (view, extras), &self->address, self,
                            mtl_tensor_proxy_put_async, cancellable, callback, user_data);
}

/**
 * mtl_tensor_proxy_put_finish:
 * @self: a proxy
 * @result: the result that the callback received
 * @error: return location for a [error@Mtl.Error], a [error@Gio.DBusError] or a
 *   [error@Gio.IOErrorEnum]
 *
 * Finishes an operation that was started with
 * [method@Mtl.TensorProxy.put_async].
 *
 * Errors:
 *
 * - the errors of [method@Mtl.TensorProxy.put]
 *
 * Returns: %TRUE if the other process has taken the view
 *
 * Since: 1.0
 */
gboolean
mtl_tensor_proxy_put_finish (MtlTensorProxy  *self,
                             GAsyncResult    *result,
                             GError         **error)
{
  g_autoptr (MtlTensorReply) reply =
    mtl_tensor_request_finish (self, result, mtl_tensor_proxy_put_async, error);

  return reply != NULL && mtl_tensor_reply_check (reply, "()", error);
}

/* Writing elements */

/**
 * mtl_tensor_proxy_copy_from:
 * @self: a proxy
 * @source: the view to read
 * @region: (nullable): the region to write to, as an index of the tensor, see
 *   [method@Mtl.StridedView.slice_string]; %NULL for all of it
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error], a [error@Gio.DBusError] or a
 *   [error@Gio.IOErrorEnum]
 *
 * Copies elements into the tensor of the other process, if that allows it, see
 * [property@Mtl.ExportedTensor:writable].
 *
 * The other process broadcasts and converts them like
 * [method@Mtl.StridedView.copy_from], and announces the change to all processes.
 * @source is handed over like the view of [method@Mtl.TensorProxy.put], but the other
 * process does not keep it.
 *
 * Errors:
 *
 * - %MTL_ERROR_READ_ONLY: the other process does not allow it
 * - %MTL_ERROR_OUT_OF_BOUNDS: an index or an axis of @region does not exist
 * - %MTL_ERROR_INVALID_ARGUMENT: @region cannot be parsed, the shapes are not compatible,
 *   or the name or the path of the proxy is not valid
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: neither the host nor a supported device can read
 *   the memory
 * - %MTL_ERROR_NOT_SUPPORTED: the element types cannot be converted; or the elements
 *   have more than 65,536 bytes, and no descriptor can be passed
 * - %MTL_ERROR_NO_MEMORY: the memory for a copy cannot be allocated
 * - %MTL_ERROR_NOT_FOUND: the other process has no tensor to show yet
 * - %MTL_ERROR_BUSY: too many calls are waiting for the tensor
 * - another [error@Mtl.Error]: the other process cannot use the view
 * - a [error@Gio.DBusError] or a [error@Gio.IOErrorEnum] as of
 *   [method@Mtl.TensorProxy.fetch_view]
 *
 * If the operation is cancelled, or if there is no reply, the elements may be
 * written all the same.
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_tensor_proxy_copy_from (MtlTensorProxy  *self,
                            MtlStridedView  *source,
                            const char      *region,
                            GCancellable    *cancellable,
                            GError         **error)
{
  g_autoptr (MtlTensorRequest) request = NULL;
  g_auto (MtlTensorReply) reply = { NULL };

  g_return_val_if_fail (MTL_IS_TENSOR_PROXY (self), FALSE);
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (source), FALSE);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), FALSE);

  request = mtl_tensor_request_new_copy (source, region);
  return mtl_tensor_request_call (request, &self->address, &reply, cancellable, error)
         && mtl_tensor_reply_check (&reply, "()", error);
}

/**
 * mtl_tensor_proxy_copy_from_async:
 * @self: a proxy
 * @source: the view to read
 * @region: (nullable): the region to write to, as an index of the tensor; %NULL for
 *   all of it
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called when the operation is done
 * @user_data: data for @callback
 *
 * Copies elements into the tensor of the other process without blocking the
 * caller. This is the asynchronous version of
 * [method@Mtl.TensorProxy.copy_from].
 *
 * Since: 1.0
 */
void
mtl_tensor_proxy_copy_from_async (MtlTensorProxy      *self,
                                  MtlStridedView      *source,
                                  const char          *region,
                                  GCancellable        *cancellable,
                                  GAsyncReadyCallback  callback,
                                  gpointer             user_data)
{
  g_return_if_fail (MTL_IS_TENSOR_PROXY (self));
  g_return_if_fail (MTL_IS_STRIDED_VIEW (source));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  mtl_tensor_request_start (mtl_tensor_request_new_copy (source, region), &self->address, self,
                            mtl_tensor_proxy_copy_from_async, cancellable, callback, user_data);
}

/**
 * mtl_tensor_proxy_copy_from_finish:
 * @self: a proxy
 * @result: the result that the callback received
 * @error: return location for a [error@Mtl.Error], a [error@Gio.DBusError] or a
 *   [error@Gio.IOErrorEnum]
 *
 * Finishes an operation that was started with
 * [method@Mtl.TensorProxy.copy_from_async].
 *
 * Errors:
 *
 * - the errors of [method@Mtl.TensorProxy.copy_from]
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_tensor_proxy_copy_from_finish (MtlTensorProxy  *self,
                                   GAsyncResult    *result,
                                   GError         **error)
{
  g_autoptr (MtlTensorReply) reply =
    mtl_tensor_request_finish (self, result, mtl_tensor_proxy_copy_from_async, error);

  return reply != NULL && mtl_tensor_reply_check (reply, "()", error);
}
