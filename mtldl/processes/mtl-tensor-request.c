/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-tensor-request-private.h"

#include <gio/gunixfdlist.h>

#include "mtl-error.h"
#include "mtl-message-text-private.h"
#include "mtl-tensor-dbus-private.h"
#include "mtl-tensor-variant.h"

/* The default of GDBus. */
#define TIMEOUT -1

/* Addresses */

static gboolean
check_bus_name (const MtlTensorAddress  *self,
                GError                 **error)
{
  gboolean has_bus = (g_dbus_connection_get_flags (self->connection)
                      & G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION) != 0;
  const char *name = self->bus_name != NULL ? self->bus_name : "";
  g_autofree char *quoted = NULL;

  if (has_bus ? g_dbus_is_name (name) : self->bus_name == NULL)
    return TRUE;

  quoted = mtl_quote_text (name, strlen (name));
  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               has_bus ? "%s is not a name on the bus, such as “org.example.Camera”"
                       : "The name %s needs a connection to a bus: without a bus, there is no name",
               quoted);
  return FALSE;
}

gboolean
mtl_tensor_address_check (const MtlTensorAddress  *self,
                          GError                 **error)
{
  if (self->connection != NULL)
    return check_bus_name (self, error)
           && mtl_dbus_check_object_path (self->object_path != NULL ? self->object_path : "",
                                          error);

  g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_CONNECTED, "The proxy has no connection");
  return FALSE;
}

/* Requests */

static MtlTensorRequest *
request_new (const char     *method,
             MtlStridedView *view)
{
  MtlTensorRequest *self = g_new0 (MtlTensorRequest, 1);

  self->interface = MTL_TENSOR_INTERFACE_NAME;
  self->method = method;
  self->view = view != NULL ? g_object_ref (view) : NULL;
  return self;
}

MtlTensorRequest *
mtl_tensor_request_new_get (void)
{
  return request_new ("Get", NULL);
}

MtlTensorRequest *
mtl_tensor_request_new_properties (void)
{
  MtlTensorRequest *self = request_new ("GetAll", NULL);

  self->interface = "org.freedesktop.DBus.Properties";
  return self;
}

MtlTensorRequest *
mtl_tensor_request_new_put (MtlStridedView *view,
                            GVariant       *extras)
{
  MtlTensorRequest *self = request_new ("Put", view);

  self->extras = extras != NULL ? g_variant_ref_sink (extras) : NULL;
  return self;
}

MtlTensorRequest *
mtl_tensor_request_new_copy (MtlStridedView *view,
                             const char     *region)
{
  MtlTensorRequest *self = request_new ("Copy", view);

  self->region = g_strdup (region != NULL ? region : "");
  return self;
}

void
mtl_tensor_request_free (gpointer data)
{
  MtlTensorRequest *self = data;

  g_clear_object (&self->view);
  g_clear_pointer (&self->extras, g_variant_unref);
  g_free (self->region);
  g_free (self);
}

/* Replies */

void
mtl_tensor_reply_clear (MtlTensorReply *self)
{
  g_clear_pointer (&self->value, g_variant_unref);
  g_clear_object (&self->fd_list);
}

void
mtl_tensor_reply_free (gpointer data)
{
  mtl_tensor_reply_clear (data);
  g_free (data);
}

gboolean
mtl_tensor_reply_check (const MtlTensorReply  *self,
                        const char            *type,
                        GError               **error)
{
  if (g_variant_is_of_type (self->value, G_VARIANT_TYPE (type)))
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
               "A reply has the type “%.80s”, and has to have “%s”",
               g_variant_get_type_string (self->value), type);
  return FALSE;
}

/* The code of an error that is known here says the same as the prefix. */
static void
strip_prefix (GError *error)
{
  if (!g_error_matches (error, G_IO_ERROR, G_IO_ERROR_DBUS_ERROR))
    g_dbus_error_strip_remote_error (error);
}

/* Calls */

static gboolean
check_region (const char *region,
              GError    **error)
{
  g_autofree char *quoted = NULL;

  if (region == NULL || g_utf8_validate (region, -1, NULL))
    return TRUE;

  quoted = mtl_quote_text (region, strlen (region));
  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT, "The region %s is not UTF-8", quoted);
  return FALSE;
}

/* Checks all but the other process. */
static gboolean
check_request (const MtlTensorRequest  *self,
               const MtlTensorAddress  *address,
               gboolean                *needs_copy,
               GCancellable            *cancellable,
               GError                 **error)
{
  *needs_copy = FALSE;
  return !g_cancellable_set_error_if_cancelled (cancellable, error)
         && mtl_tensor_address_check (address, error)
         && check_region (self->region, error)
         && (self->view == NULL
             || mtl_dbus_check_view (self->view, mtl_dbus_passes_fds (address->connection),
                                     needs_copy, error));
}

static GVariant *
make_accept (gboolean passes_fds)
{
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE_VARDICT);
  if (!passes_fds)
    g_variant_builder_add (&builder, "{sv}", "inline", g_variant_new_boolean (TRUE));
  return g_variant_new ("(a{sv})", &builder);
}

/* The view is the request's, or a copy of it. */
static GVariant *
make_arguments (const MtlTensorRequest  *self,
                MtlStridedView          *view,
                gboolean                 passes_fds,
                GUnixFDList            **fd_list,
                GError                 **error)
{
  g_autoptr (GVariant) tensor = NULL;

  *fd_list = NULL;
  if (strcmp (self->method, "GetAll") == 0)
    return g_variant_new ("(s)", MTL_TENSOR_INTERFACE_NAME);

  if (view == NULL)
    return make_accept (passes_fds);

  tensor = mtl_dbus_describe_view (view, passes_fds, self->extras, fd_list, error);
  if (tensor == NULL)
    return NULL;

  return self->region != NULL
         ? g_variant_new ("(@" MTL_TENSOR_VARIANT_TYPE_STRING "s)", tensor, self->region)
         : g_variant_new_tuple (&tensor, 1);
}

gboolean
mtl_tensor_request_call (const MtlTensorRequest  *self,
                         const MtlTensorAddress  *address,
                         MtlTensorReply          *reply,
                         GCancellable            *cancellable,
                         GError                 **error)
{
  g_autoptr (MtlStridedView) copy = NULL;
  g_autoptr (GUnixFDList) fd_list = NULL;
  GError *local_error = NULL;
  GVariant *arguments;
  gboolean needs_copy;

  if (!check_request (self, address, &needs_copy, cancellable, error))
    return FALSE;

  copy = needs_copy ? mtl_dbus_copy_view (self->view, cancellable, error) : NULL;
  if (needs_copy && copy == NULL)
    return FALSE;

  arguments = make_arguments (self, needs_copy ? copy : self->view,
                              mtl_dbus_passes_fds (address->connection), &fd_list, error);
  if (arguments == NULL)
    return FALSE;

  reply->value = g_dbus_connection_call_with_unix_fd_list_sync (
      address->connection, address->bus_name, address->object_path, self->interface, self->method,
      arguments, NULL, G_DBUS_CALL_FLAGS_NONE, TIMEOUT, fd_list, &reply->fd_list, cancellable,
      &local_error);
  if (reply->value != NULL)
    return TRUE;

  strip_prefix (local_error);
  g_propagate_error (error, local_error);
  return FALSE;
}

/* A call in the background */
typedef struct
{
  MtlTensorRequest *request;
  const MtlTensorAddress *address;
} Call;

static void
call_free (gpointer data)
{
  Call *self = data;

  mtl_tensor_request_free (self->request);
  g_free (self);
}

static void
on_replied (GObject      *connection,
            GAsyncResult *result,
            gpointer      data)
{
  g_autoptr (GTask) task = data;
  g_autoptr (MtlTensorReply) reply = g_new0 (MtlTensorReply, 1);
  GError *error = NULL;

  reply->value = g_dbus_connection_call_with_unix_fd_list_finish (
      G_DBUS_CONNECTION (connection), &reply->fd_list, result, &error);
  if (reply->value != NULL)
    {
      g_task_return_pointer (task, g_steal_pointer (&reply), mtl_tensor_reply_free);
      return;
    }

  strip_prefix (error);
  g_task_return_error (task, error);
}

/* Like the next two, takes the task. */
static void
fail (GTask  *task,
      GError *error)
{
  g_task_return_error (task, error);
  g_object_unref (task);
}

static void
send (GTask          *task,
      MtlStridedView *view)
{
  const Call *call = g_task_get_task_data (task);
  const MtlTensorAddress *address = call->address;
  g_autoptr (GUnixFDList) fd_list = NULL;
  GError *error = NULL;
  GVariant *arguments = make_arguments (call->request, view,
                                        mtl_dbus_passes_fds (address->connection), &fd_list,
                                        &error);

  if (arguments == NULL)
    fail (task, error);
  else
    g_dbus_connection_call_with_unix_fd_list (
        address->connection, address->bus_name, address->object_path, call->request->interface,
        call->request->method, arguments, NULL, G_DBUS_CALL_FLAGS_NONE, TIMEOUT, fd_list,
        g_task_get_cancellable (task), on_replied, task);
}

static void
on_copied (GObject      *view,
           GAsyncResult *result,
           gpointer      task)
{
  GError *error = NULL;
  g_autoptr (MtlStridedView) copy = mtl_dbus_copy_view_finish (MTL_STRIDED_VIEW (view), result,
                                                               &error);

  if (copy == NULL)
    fail (task, error);
  else
    send (task, copy);
}

/* A reply counts even if the call is cancelled meanwhile. */
void
mtl_tensor_request_start (MtlTensorRequest        *self,
                          const MtlTensorAddress  *address,
                          gpointer                 owner,
                          gpointer                 source_tag,
                          GCancellable            *cancellable,
                          GAsyncReadyCallback      callback,
                          gpointer                 user_data)
{
  GTask *task = g_task_new (owner, cancellable, callback, user_data);
  Call *call = g_new (Call, 1);
  GError *error = NULL;
  gboolean needs_copy;

  *call = (Call) { self, address };
  g_task_set_source_tag (task, source_tag);
  g_task_set_check_cancellable (task, FALSE);
  g_task_set_task_data (task, call, call_free);
  if (!check_request (self, address, &needs_copy, cancellable, &error))
    fail (task, error);
  else if (needs_copy)
    mtl_dbus_copy_view_async (self->view, cancellable, on_copied, task);
  else
    send (task, self->view);
}

MtlTensorReply *
mtl_tensor_request_finish (gpointer       owner,
                           GAsyncResult  *result,
                           gpointer       source_tag,
                           GError       **error)
{
  g_return_val_if_fail (g_task_is_valid (result, owner), NULL);
  g_return_val_if_fail (g_async_result_is_tagged (result, source_tag), NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}
