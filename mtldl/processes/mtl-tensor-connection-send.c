/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Views that go to the peer. */

#include "mtl-tensor-connection-private.h"

#include "mtl-async-call-private.h"
#include "mtl-tensor-body-private.h"

/* Takes the layout, even on failure. */
static MtlStridedView *
new_in_pool (MtlTensorConnection  *self,
             MtlElementType        type,
             MtlLayout            *layout,
             GError              **error)
{
  g_auto (MtlLayout) taken = *layout;
  MtlStridedView *view;
  MtlMemory *memory;
  gint64 size;

  if (!mtl_layout_get_required_size (&taken, &size, error))
    return NULL;

  memory = mtl_shared_pool_take (self->pool, size, error);
  if (memory == NULL)
    return NULL;

  view = mtl_strided_view_new_take (memory, 0, type, &taken);
  taken.n_dims = 0;
  return view;
}

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
  MtlLayout layout;

  g_return_val_if_fail (MTL_IS_TENSOR_CONNECTION (self), NULL);
  g_return_val_if_fail (shape != NULL || n_dims == 0, NULL);

  return mtl_dtype_check (dtype, error)
         && mtl_layout_new_dense (shape, n_dims, MTL_ORDER_C, mtl_dtype_get_bits (dtype), &layout,
                                  error)
         ? new_in_pool (self, mtl_element_type_new (dtype), &layout, error) : NULL;
}

/* Copies elements that are too many for a message, where they lie in the connection's memory. */
static MtlStridedView *
copy_to_shared (MtlTensorConnection  *self,
                MtlStridedView       *view,
                GCancellable         *cancellable,
                GError              **error)
{
  g_autoptr (MtlStridedView) stored = mtl_tensor_drop_repeated (view);
  g_autoptr (MtlStridedView) copy = NULL;
  MtlLayout layout;

  if (!mtl_layout_new_dense_like (&stored->layout, MTL_ORDER_K, &layout, error))
    return NULL;

  copy = new_in_pool (self, view->type, &layout, error);
  if (copy == NULL || !mtl_strided_view_copy_from (copy, stored, cancellable, error))
    return NULL;

  return mtl_tensor_repeat_like (g_steal_pointer (&copy), view);
}

static gboolean
needs_copy (MtlStridedView *view)
{
  return !mtl_tensor_is_sent_in_place (view) && !mtl_tensor_fits_inline (view);
}

/* Elements that the host cannot reach are copied to it. */
static gboolean
prepare_inline (MtlTensorConnection  *self,
                MtlStridedView       *view,
                GVariant             *extras,
                GCancellable         *cancellable,
                GError              **error)
{
  g_autoptr (MtlStridedView) copy = NULL;
  MtlMemory *memory;
  GVariant *body;
  gsize size;

  if (!mtl_strided_view_is_host_accessible (view))
    {
      view = copy = mtl_tensor_copy_for_message (view, MTL_MONITOR (cancellable), error);
      if (copy == NULL)
        return FALSE;
    }

  if (extras != NULL || !mtl_tensor_body_is_plain (view))
    {
      body = mtl_tensor_variant_new_inline (view, extras, error);
      return body != NULL && mtl_tensor_message_prepare (&self->outgoing, body, NULL, 0, error);
    }

  memory = mtl_tensor_body_new (view, &size, error);
  if (memory == NULL)
    return FALSE;

  mtl_tensor_message_prepare_inline (&self->outgoing, memory, size);
  return TRUE;
}

/* Memory that came from another peer is in use there until this one is done, too. */
static gboolean
open_release (MtlTensorConnection  *self,
              MtlMemory            *memory,
              int                  *release,
              GError              **error)
{
  int other = mtl_memory_get_release (memory);

  if (other >= 0)
    {
      *release = mtl_dup_fd (other, error);
      return *release >= 0;
    }

  *release = mtl_shared_pool_begin_send (self->pool, memory);
  if (*release >= 0)
    self->unsent = mtl_memory_ref (memory);
  return TRUE;
}

static gboolean
prepare_shared (MtlTensorConnection  *self,
                MtlStridedView       *view,
                GVariant             *extras,
                GError              **error)
{
  int fds[MTL_TENSOR_MESSAGE_MAX_FDS];
  guint n_fds;
  GVariant *body;

  fds[0] = mtl_dup_fd (mtl_memory_get_shared_pages (view->memory)->fd, error);
  if (fds[0] < 0)
    return FALSE;

  if (!open_release (self, view->memory, &fds[1], error))
    {
      mtl_clear_fd (&fds[0]);
      return FALSE;
    }

  n_fds = fds[1] >= 0 ? 2 : 1;
  body = mtl_tensor_variant_new_shared (view, 0, fds[1] >= 0 ? 1 : -1, extras);
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
  if (!mtl_tensor_check_extras (extras, error) || !mtl_memory_check_reachable (view->memory, error))
    return FALSE;

  if (needs_copy (view))
    {
      copy = copy_to_shared (self, view, cancellable, error);
      return copy != NULL && prepare_shared (self, copy, extras, error);
    }

  if (mtl_tensor_is_sent_in_place (view))
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
    {
      mtl_tensor_message_clear (&self->outgoing);
      if (self->unsent != NULL)
        mtl_shared_pool_undo_send (self->unsent);
      g_clear_pointer (&self->unsent, mtl_memory_unref);
    }
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

  if (step == MTL_STEP_DONE)
    g_clear_pointer (&self->unsent, mtl_memory_unref);
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
 * - %MTL_ERROR_BUSY: too many descriptors of this user's processes were not received yet
 * - %MTL_ERROR_OUT_OF_BOUNDS: @extras have too many bytes
 * - %MTL_ERROR_INVALID_ARGUMENT: @extras have a key with a meaning in messages
 * - %G_IO_ERROR_PERMISSION_DENIED: the peer belongs to another user
 * - %G_IO_ERROR_BROKEN_PIPE: the peer has ended, or closed the connection
 * - %G_IO_ERROR_PENDING: the connection is sending another view
 * - %G_IO_ERROR_TIMED_OUT: the time that the socket has to wait is over
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
  if (!mtl_tensor_connection_begin (self, &self->is_sending, cancellable, error))
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
  call->parent.is_lasting = TRUE;
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
