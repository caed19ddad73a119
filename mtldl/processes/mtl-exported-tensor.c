/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-exported-tensor-private.h"

#include "mtl-enum-types.h"
#include "mtl-error.h"
#include "mtl-tensor-dbus-private.h"

/**
 * MtlExportedTensor:
 *
 * Shows a view to other processes over D-Bus.
 *
 * The object at the path has the interface `org.mtldl.Tensor1`, which
 * [Between processes](processes.html) describes. Other processes get the view,
 * offer views of their own, and may copy elements into a region if
 * [property@Mtl.ExportedTensor:writable] is set. They do all that with a
 * [class@Mtl.TensorProxy].
 *
 * Memory that other processes can map, %MTL_STORAGE_MODE_INTERPROCESS, is handed
 * over without a copy, read-only, and **all of it**, even if the view is a part. Up
 * to 65,536 bytes of elements in other memory are sent in each message. More are
 * copied once, and the copy serves all callers until a change is announced. So
 * after you have written to the elements, call
 * [method@Mtl.ExportedTensor.announce_change].
 *
 * Processes of other users are refused, unless the tensor has
 * %MTL_TENSOR_PEER_FLAGS_ALLOW_OTHER_USERS. No caller is trusted: whatever it
 * sends, and whenever it ends, it gets an error at worst.
 *
 * Callers are answered, and signals are emitted, in the thread-default main context
 * of the thread that exported the tensor. Long copies are made in another thread, one
 * after another and in the order of the calls. All functions may be called from any
 * thread, but the result of [method@Mtl.ExportedTensor.get_view] is only valid until
 * another thread sets the view.
 *
 * ```c
 * const double values[] = { 1, 2, 3 };
 * const gint64 shape[] = { 3 };
 * g_autoptr (MtlStridedView) view =
 *   mtl_strided_view_new_from_doubles (values, 3, MTL_DTYPE_FLOAT32, shape, 1, error);
 * g_autoptr (GDBusConnection) bus = g_bus_get_sync (G_BUS_TYPE_SESSION, NULL, error);
 *
 * if (view == NULL || bus == NULL)
 *   return FALSE;
 *
 * g_autoptr (MtlExportedTensor) tensor =
 *   mtl_exported_tensor_new (view, MTL_TENSOR_PEER_FLAGS_NONE);
 *
 * if (!mtl_exported_tensor_export (tensor, bus, "/org/example/Camera", error))
 *   return FALSE;
 *
 * // After each change of the elements.
 * mtl_exported_tensor_announce_change (tensor, NULL, NULL);
 * ```
 *
 * Since: 1.0
 */

enum
{
  PROP_0,
  PROP_VIEW,
  PROP_FLAGS,
  PROP_WRITABLE,
  N_PROPS
};

static GParamSpec *props[N_PROPS];

G_DEFINE_FINAL_TYPE (MtlExportedTensor, mtl_exported_tensor, G_TYPE_OBJECT)

static void
mtl_exported_tensor_finalize (GObject *object)
{
  MtlExportedTensor *self = MTL_EXPORTED_TENSOR (object);

  g_clear_object (&self->view);
  g_clear_object (&self->copy);
  g_ptr_array_unref (self->exports); /* none, because each holds a reference */
  mtl_fork_lock_clear (&self->lock);

  G_OBJECT_CLASS (mtl_exported_tensor_parent_class)->finalize (object);
}

static void
mtl_exported_tensor_get_property (GObject    *object,
                                  guint       prop_id,
                                  GValue     *value,
                                  GParamSpec *pspec)
{
  MtlExportedTensor *self = MTL_EXPORTED_TENSOR (object);

  switch (prop_id)
    {
    case PROP_VIEW:
      mtl_fork_lock (&self->lock);
      g_value_set_object (value, self->view);
      mtl_fork_unlock (&self->lock);
      break;
    case PROP_FLAGS:
      g_value_set_flags (value, self->flags);
      break;
    case PROP_WRITABLE:
      g_value_set_boolean (value, mtl_exported_tensor_get_writable (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
mtl_exported_tensor_set_property (GObject      *object,
                                  guint         prop_id,
                                  const GValue *value,
                                  GParamSpec   *pspec)
{
  MtlExportedTensor *self = MTL_EXPORTED_TENSOR (object);

  switch (prop_id)
    {
    case PROP_VIEW:
      if (g_value_get_object (value) != NULL)
        mtl_exported_tensor_set_view (self, g_value_get_object (value));
      break;
    case PROP_FLAGS:
      self->flags = g_value_get_flags (value);
      break;
    case PROP_WRITABLE:
      mtl_exported_tensor_set_writable (self, g_value_get_boolean (value));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
mtl_exported_tensor_class_init (MtlExportedTensorClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  const GParamFlags changeable = G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY
                                 | G_PARAM_STATIC_STRINGS;

  mtl_dbus_register_errors ();
  object_class->finalize = mtl_exported_tensor_finalize;
  object_class->get_property = mtl_exported_tensor_get_property;
  object_class->set_property = mtl_exported_tensor_set_property;

  /**
   * MtlExportedTensor:view: (getter get_view) (setter set_view)
   *
   * The view that other processes get.
   *
   * Since: 1.0
   */
  props[PROP_VIEW] = g_param_spec_object ("view", NULL, NULL, MTL_TYPE_STRIDED_VIEW, changeable);

  /**
   * MtlExportedTensor:flags: (getter get_flags)
   *
   * The processes that may call the object.
   *
   * Since: 1.0
   */
  props[PROP_FLAGS] = g_param_spec_flags ("flags", NULL, NULL, MTL_TYPE_TENSOR_PEER_FLAGS,
                                          MTL_TENSOR_PEER_FLAGS_NONE,
                                          G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY
                                          | G_PARAM_STATIC_STRINGS);

  /**
   * MtlExportedTensor:writable: (getter get_writable) (setter set_writable)
   *
   * %TRUE if other processes may copy elements into the view.
   *
   * Since: 1.0
   */
  props[PROP_WRITABLE] = g_param_spec_boolean ("writable", NULL, NULL, FALSE, changeable);

  g_object_class_install_properties (object_class, N_PROPS, props);

  /**
   * MtlExportedTensor::put:
   * @self: an exported tensor
   * @view: the view, which is read-only
   * @extras: the entries that the caller added, of the type `a{sv}`
   *
   * Emitted when another process offers a view.
   *
   * It may be in memory of the other process, which may go on writing to it. Do not
   * rely on a value that was read before. The view can be kept, which takes a
   * descriptor. If no handler returns %TRUE, the caller gets an error.
   *
   * Returns: %TRUE if the program takes the view
   *
   * Since: 1.0
   */
  g_signal_new ("put", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0,
                g_signal_accumulator_true_handled, NULL, NULL, G_TYPE_BOOLEAN, 2,
                MTL_TYPE_STRIDED_VIEW, G_TYPE_VARIANT);

  /**
   * MtlExportedTensor::written:
   * @self: an exported tensor
   * @region: the region, as an index of the view, see
   *   [method@Mtl.StridedView.slice_string]; empty for all of it
   *
   * Emitted when another process has copied elements into the view. This was
   * announced already.
   *
   * Since: 1.0
   */
  g_signal_new ("written", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                G_TYPE_NONE, 1, G_TYPE_STRING);
}

static void
mtl_exported_tensor_init (MtlExportedTensor *self)
{
  self->exports = g_ptr_array_new ();
}

/**
 * mtl_exported_tensor_new:
 * @view: a view
 * @flags: the processes that may call the object
 *
 * Creates an object that other processes can call once it is exported.
 *
 * Returns: (transfer full): the new object
 *
 * Since: 1.0
 */
MtlExportedTensor *
mtl_exported_tensor_new (MtlStridedView     *view,
                         MtlTensorPeerFlags  flags)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (view), NULL);

  return g_object_new (MTL_TYPE_EXPORTED_TENSOR, "view", view, "flags", flags, NULL);
}

/**
 * mtl_exported_tensor_get_view: (get-property view)
 * @self: an exported tensor
 *
 * Gets the view that other processes get.
 *
 * Returns: (transfer none) (nullable): the view; %NULL if the object was constructed
 *   without any
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_exported_tensor_get_view (MtlExportedTensor *self)
{
  MtlStridedView *view;

  g_return_val_if_fail (MTL_IS_EXPORTED_TENSOR (self), NULL);

  mtl_fork_lock (&self->lock);
  view = self->view;
  mtl_fork_unlock (&self->lock);
  return view;
}

/**
 * mtl_exported_tensor_set_view: (set-property view)
 * @self: an exported tensor
 * @view: a view
 *
 * Sets the view that other processes get from now on, and announces the change.
 *
 * Processes that got the previous view keep it.
 *
 * Since: 1.0
 */
void
mtl_exported_tensor_set_view (MtlExportedTensor *self,
                              MtlStridedView    *view)
{
  g_autoptr (MtlStridedView) previous = NULL;

  g_return_if_fail (MTL_IS_EXPORTED_TENSOR (self));
  g_return_if_fail (MTL_IS_STRIDED_VIEW (view));

  mtl_fork_lock (&self->lock);
  if (self->view != view)
    {
      previous = self->view;
      self->view = g_object_ref (view);
      mtl_exported_tensor_note_properties (self);
      mtl_exported_tensor_note_change (self, "");
    }
  mtl_fork_unlock (&self->lock);

  if (previous != view)
    g_object_notify_by_pspec (G_OBJECT (self), props[PROP_VIEW]);
}

/**
 * mtl_exported_tensor_get_flags: (get-property flags)
 * @self: an exported tensor
 *
 * Gets the processes that may call the object.
 *
 * Returns: the flags
 *
 * Since: 1.0
 */
MtlTensorPeerFlags
mtl_exported_tensor_get_flags (MtlExportedTensor *self)
{
  g_return_val_if_fail (MTL_IS_EXPORTED_TENSOR (self), MTL_TENSOR_PEER_FLAGS_NONE);

  return self->flags;
}

/**
 * mtl_exported_tensor_get_writable: (get-property writable)
 * @self: an exported tensor
 *
 * Checks whether other processes may copy elements into the view.
 *
 * Returns: whether they may
 *
 * Since: 1.0
 */
gboolean
mtl_exported_tensor_get_writable (MtlExportedTensor *self)
{
  gboolean writable;

  g_return_val_if_fail (MTL_IS_EXPORTED_TENSOR (self), FALSE);

  mtl_fork_lock (&self->lock);
  writable = self->writable;
  mtl_fork_unlock (&self->lock);
  return writable;
}

/**
 * mtl_exported_tensor_set_writable: (set-property writable)
 * @self: an exported tensor
 * @writable: whether other processes may copy elements into the view, %FALSE by
 *   default
 *
 * Sets whether other processes may copy elements into the view.
 *
 * They call [method@Mtl.TensorProxy.copy_from] for that. The memory that they map
 * stays read-only for them.
 *
 * Since: 1.0
 */
void
mtl_exported_tensor_set_writable (MtlExportedTensor *self,
                                  gboolean           writable)
{
  gboolean was_writable;

  g_return_if_fail (MTL_IS_EXPORTED_TENSOR (self));

  writable = !!writable;
  mtl_fork_lock (&self->lock);
  was_writable = self->writable;
  self->writable = writable;
  if (writable != was_writable)
    mtl_exported_tensor_note_properties (self);
  mtl_fork_unlock (&self->lock);

  if (writable != was_writable)
    g_object_notify_by_pspec (G_OBJECT (self), props[PROP_WRITABLE]);
}

/* Exporting */

static void
on_closed (GDBusConnection *connection,
           gboolean         is_by_peer,
           GError          *error,
           gpointer         data)
{
  mtl_exported_tensor_unexport (((MtlTensorExport *) data)->tensor, connection);
}

static void
unref_closure (gpointer  export,
               GClosure *closure)
{
  mtl_tensor_export_unref (export);
}

static void
add_export (MtlExportedTensor *self,
            MtlTensorExport   *export)
{
  export->closed_handler =
    g_signal_connect_data (export->connection, "closed", G_CALLBACK (on_closed),
                           mtl_tensor_export_ref (export), unref_closure, 0);
  mtl_fork_lock (&self->lock);
  g_ptr_array_add (self->exports, mtl_tensor_export_ref (export));
  mtl_fork_unlock (&self->lock);
}

static void
end_export (MtlTensorExport *export)
{
  g_cancellable_cancel (export->ended);
  g_signal_handler_disconnect (export->connection, export->closed_handler);
  g_dbus_connection_unregister_object (export->connection, export->registration);
  mtl_tensor_export_unref (export);
}

/**
 * mtl_exported_tensor_export:
 * @self: an exported tensor
 * @connection: a connection to a bus or to another process
 * @object_path: the path of the object
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Exports the tensor at a path of a connection, and holds a reference to both until
 * [method@Mtl.ExportedTensor.unexport] is called, or the connection is closed.
 *
 * A tensor can be exported on several connections, for example on each one that a
 * [class@Gio.DBusServer] accepts.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: @object_path is not a path of D-Bus
 * - %G_IO_ERROR_EXISTS: there is a tensor at this path
 * - %G_IO_ERROR_CLOSED: the connection is closed
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_exported_tensor_export (MtlExportedTensor  *self,
                            GDBusConnection    *connection,
                            const char         *object_path,
                            GError            **error)
{
  g_autoptr (MtlTensorExport) export = NULL;

  g_return_val_if_fail (MTL_IS_EXPORTED_TENSOR (self), FALSE);
  g_return_val_if_fail (G_IS_DBUS_CONNECTION (connection), FALSE);
  g_return_val_if_fail (object_path != NULL, FALSE);

  if (!mtl_dbus_check_object_path (object_path, error))
    return FALSE;

  export = mtl_tensor_export_new (self, connection, object_path);
  if (!mtl_tensor_export_register (export, error))
    return FALSE;

  add_export (self, export);
  if (!g_dbus_connection_is_closed (connection))
    return TRUE;

  mtl_exported_tensor_unexport (self, connection);
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_CLOSED, "The connection is closed");
  return FALSE;
}

static MtlTensorExport *
take_export (MtlExportedTensor *self,
             GDBusConnection   *connection)
{
  MtlTensorExport *found = NULL;

  mtl_fork_lock (&self->lock);
  for (guint i = 0; i < self->exports->len && found == NULL; i++)
    {
      MtlTensorExport *export = self->exports->pdata[i];

      if (connection == NULL || export->connection == connection)
        found = g_ptr_array_remove_index (self->exports, i);
    }
  mtl_fork_unlock (&self->lock);
  return found;
}

/**
 * mtl_exported_tensor_unexport:
 * @self: an exported tensor
 * @connection: (nullable): the connection, or %NULL for all of them
 *
 * Ends the export on a connection. Calls that are not answered yet get an error.
 *
 * Processes that got the view keep it.
 *
 * Since: 1.0
 */
void
mtl_exported_tensor_unexport (MtlExportedTensor *self,
                              GDBusConnection   *connection)
{
  MtlTensorExport *export;

  g_return_if_fail (MTL_IS_EXPORTED_TENSOR (self));
  g_return_if_fail (connection == NULL || G_IS_DBUS_CONNECTION (connection));

  g_object_ref (self);
  while ((export = take_export (self, connection)) != NULL)
    end_export (export);
  g_object_unref (self);
}

/**
 * mtl_exported_tensor_announce_change:
 * @self: an exported tensor
 * @region: (nullable): the region whose elements have changed, as an index of the
 *   view, see [method@Mtl.StridedView.slice_string]; %NULL for all of it
 * @error: return location for a [error@Mtl.Error]
 *
 * Announces that elements have other values.
 *
 * Other processes get [signal@Mtl.TensorProxy::changed]. A copy of the elements that was
 * made for other processes is not used again.
 *
 * Errors:
 *
 * - %MTL_ERROR_OUT_OF_BOUNDS: an index or an axis of @region does not exist
 * - %MTL_ERROR_INVALID_ARGUMENT: @region cannot be parsed, or has more than 8192
 *   bytes
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_exported_tensor_announce_change (MtlExportedTensor  *self,
                                     const char         *region,
                                     GError            **error)
{
  gboolean is_valid;

  g_return_val_if_fail (MTL_IS_EXPORTED_TENSOR (self), FALSE);

  if (region == NULL)
    region = "";
  mtl_fork_lock (&self->lock);
  is_valid = mtl_exported_tensor_check_region (self, region, error);
  if (is_valid)
    mtl_exported_tensor_note_change (self, region);
  mtl_fork_unlock (&self->lock);
  return is_valid;
}
