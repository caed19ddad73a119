/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Views that come from the peer. */

#include "mtl-tensor-connection-private.h"

#include "mtl-error.h"
#include "mtl-tensor-body-private.h"

/* A view of the peer's memory that is in use. */
typedef struct
{
  MtlHoldings *holdings;
  gsize size;
} Holding;

static void
end_holding (gpointer data)
{
  g_autofree Holding *self = data;

  g_atomic_int_add (&self->holdings->n_views, -1);
  g_atomic_pointer_add (&self->holdings->n_bytes, -(gssize) self->size);
  mtl_holdings_unref (self->holdings);
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

  for (guint i = 0; i < MTL_TENSOR_CONNECTION_N_RECENT; i++)
    {
      MtlSharedPages *pages = self->recent[i];

      if (pages != NULL && pages->inode == inode && pages->device == device
          && mtl_shared_pages_contain (pages, tensor->begin, tensor->size))
        return mtl_shared_pages_ref (pages);
    }

  return NULL;
}

/* Mappings that are kept take memory of the peer, too. */
static void
forget_others (MtlTensorConnection  *self,
               const MtlSharedPages *last)
{
  gsize left = (gsize) g_atomic_pointer_get (&self->max_bytes);

  left -= MIN (left, last->size);
  for (guint i = 0; i < MTL_TENSOR_CONNECTION_N_RECENT; i++)
    {
      MtlSharedPages *pages = self->recent[i];

      if (pages == NULL || pages == last)
        continue;
      if (pages->size <= left)
        left -= pages->size;
      else
        g_clear_pointer (&self->recent[i], mtl_shared_pages_unref);
    }
}

static void
remember (MtlTensorConnection *self,
          MtlSharedPages      *pages)
{
  MtlSharedPages **slot = &self->recent[self->next_recent];

  /* A larger part of the same file takes the place of a smaller one. */
  for (guint i = 0; i < MTL_TENSOR_CONNECTION_N_RECENT; i++)
    if (self->recent[i] != NULL && self->recent[i]->inode == pages->inode
        && self->recent[i]->device == pages->device)
      slot = &self->recent[i];

  if (slot == &self->recent[self->next_recent])
    self->next_recent = (self->next_recent + 1) % MTL_TENSOR_CONNECTION_N_RECENT;
  g_clear_pointer (slot, mtl_shared_pages_unref);
  *slot = mtl_shared_pages_ref (pages);
  forget_others (self, pages);
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
  int release = -1;

  if (!check_handles (message, tensor, error) || !check_holdings (self, tensor->size, error))
    return NULL;

  pages = get_pages (self, message, tensor, error);
  if (pages == NULL)
    return NULL;

  holding = g_new (Holding, 1);
  *holding = (Holding) { self->holdings, tensor->size };
  g_atomic_int_inc (&self->holdings->ref_count);
  g_atomic_int_inc (&self->holdings->n_views);
  g_atomic_pointer_add (&self->holdings->n_bytes, tensor->size);
  if (tensor->release >= 0)
    {
      release = message->fds[tensor->release];
      message->fds[tensor->release] = -1;
    }
  return mtl_memory_new_for_pages (pages, tensor->begin, tensor->size, TRUE, release, end_holding,
                                   holding);
}

/* Most messages have no extras. */
static gboolean
read_message (MtlTensorMessage  *message,
              MtlSentTensor     *tensor,
              GVariant         **extras,
              GError           **error)
{
  g_autoptr (GError) local_error = NULL;
  g_autoptr (GVariant) body = NULL;

  if (mtl_tensor_body_read (message->memory, message->body_size, tensor, &local_error))
    {
      if (extras != NULL)
        *extras = g_variant_ref_sink (g_variant_new ("a{sv}", NULL));
      return TRUE;
    }
  if (local_error != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&local_error));
      return FALSE;
    }

  body = mtl_tensor_message_dup_body (message);
  if (!mtl_sent_tensor_read (body, tensor, error))
    return FALSE;

  if (extras != NULL)
    *extras = mtl_tensor_variant_dup_extras (body);
  return TRUE;
}

static MtlStridedView *
open_message (MtlTensorConnection  *self,
              MtlTensorMessage     *message,
              GVariant            **extras,
              GError              **error)
{
  g_auto (MtlSentTensor) tensor = { .release = -1 };
  MtlMemory *memory = NULL;
  MtlStridedView *view = NULL;

  if (!read_message (message, &tensor, extras, error))
    return NULL;

  if (tensor.handle >= 0 && tensor.size > 0)
    {
      memory = map_memory (self, message, &tensor, error);
      mtl_error_blame_peer (error);
    }
  if (memory != NULL || tensor.handle < 0 || tensor.size == 0)
    view = mtl_sent_tensor_to_view (&tensor, memory, error);
  if (view == NULL && extras != NULL)
    g_clear_pointer (extras, g_variant_unref);
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
  MtlStep step;

  if (!check_stream (self, error))
    return MTL_STEP_LOST;

  step = mtl_tensor_message_receive (&self->incoming, g_socket_get_fd (self->socket), error);
  if (step == MTL_STEP_BLOCKED || step == MTL_STEP_FAILED)
    return step;

  self->is_stream_lost = step == MTL_STEP_LOST;
  if (step == MTL_STEP_DONE)
    {
      *view = open_message (self, &self->incoming, extras, error);
      step = *view != NULL ? MTL_STEP_DONE : MTL_STEP_REFUSED;
    }

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
 * After a view that is refused, others can be received. If the call is cancelled, or
 * the system fails, the next one continues where it stopped.
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
 * - %G_IO_ERROR_TIMED_OUT: the time that the socket has to wait is over
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
  if (!mtl_tensor_connection_begin (self, &self->is_receiving, cancellable, error))
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

/* Sources of sockets do not tell the end of the time to wait from bytes that can be read. */
static gboolean
is_timed_out (GSocket *socket,
              GTask   *task)
{
  return g_socket_get_timeout (socket) > 0
         && !g_cancellable_is_cancelled (g_task_get_cancellable (task))
         && !g_socket_is_closed (socket) && g_socket_condition_check (socket, G_IO_IN) == 0;
}

static gboolean
on_readable (GSocket      *socket,
             GIOCondition  condition,
             gpointer      data)
{
  MtlTensorConnection *self = g_task_get_source_object (data);

  if (!is_timed_out (socket, data))
    {
      continue_receiving (data);
      return G_SOURCE_REMOVE;
    }

  g_atomic_int_set (&self->is_receiving, FALSE);
  g_task_return_new_error (data, G_IO_ERROR, G_IO_ERROR_TIMED_OUT,
                           "The peer has sent nothing for %u s", g_socket_get_timeout (socket));
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
  g_task_set_check_cancellable (task, FALSE); /* a view that came is not lost */
  if (mtl_tensor_connection_begin (self, &self->is_receiving, cancellable, &error))
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
  g_return_val_if_fail (g_async_result_is_tagged (result, mtl_tensor_connection_receive_async),
                        NULL);

  received = g_task_propagate_pointer (G_TASK (result), error);
  if (extras != NULL)
    *extras = received != NULL ? g_steal_pointer (&received->extras) : NULL;
  if (received == NULL)
    return NULL;

  view = g_steal_pointer (&received->view);
  received_free (received);
  return view;
}
