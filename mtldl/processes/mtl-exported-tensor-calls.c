/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* The exported tensor as other processes see it: calls, properties and signals. */

#include "mtl-exported-tensor-private.h"

#include <gio/gunixfdlist.h>

#include "mtl-error.h"
#include "mtl-tensor-dbus-private.h"
#include "mtl-tensor-variant-private.h"
#include "mtl-tensor-interface.h"

/* Calls that are not answered yet. */
#define MAX_CALLS 256
/* Enough for 64 axes, each with three numbers. */
#define MAX_REGION_LENGTH 8192
/* The descriptors of a tensor. */
#define MAX_FDS 2
/* More are copied in another thread. */
#define MAX_BYTES_AT_ONCE 65536

#define PROPERTIES_INTERFACE "org.freedesktop.DBus.Properties"

/* A call that is waiting or being answered. */
typedef struct
{
  MtlDBusCall parent;

  MtlTensorExport *export;
  MtlStridedView *view; /* the exported view when this call was started */
  guint64 serial;       /* that of the last change before */
  char *region;
  gboolean is_admitted;
} Call;

/* Signals */

static void
emit (MtlExportedTensor *self,
      const char        *interface,
      const char        *name,
      GVariant          *parameters)
{
  g_autoptr (GVariant) sunk = g_variant_ref_sink (parameters);

  for (guint i = 0; i < self->exports->len; i++)
    {
      MtlTensorExport *export = self->exports->pdata[i];

      g_dbus_connection_emit_signal (export->connection, NULL, export->object_path, interface,
                                     name, sunk, NULL);
    }
}

/* The lock keeps signals in the order of their serials. */
void
mtl_exported_tensor_note_change (MtlExportedTensor *self,
                                 const char        *region)
{
  g_clear_object (&self->copy);
  self->serial++;
  emit (self, MTL_TENSOR_INTERFACE_NAME, "Changed", g_variant_new ("(ts)", self->serial, region));
}

static const MtlLayout *
get_layout (MtlExportedTensor *self)
{
  static const MtlLayout none = MTL_LAYOUT_INIT;

  return self->view != NULL ? &self->view->layout : &none;
}

/* The text of a region would be part of errors. */
static gboolean
check_length (const char *region,
              GError    **error)
{
  gsize length = strlen (region);

  if (length <= MAX_REGION_LENGTH)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "A region has %" G_GSIZE_FORMAT " bytes of text: the limit is %d", length,
               MAX_REGION_LENGTH);
  return FALSE;
}

gboolean
mtl_exported_tensor_check_region (MtlExportedTensor *self,
                                  const char        *region,
                                  GError           **error)
{
  MtlLayout layout;

  if (!check_length (region, error)
      || !mtl_layout_slice_string (get_layout (self), region, &layout, error))
    return FALSE;

  mtl_layout_clear (&layout);
  return TRUE;
}

/* Properties */

static GVariant *
get_dims (const gint64 *dims,
          gsize         n_dims)
{
  return g_variant_new_fixed_array (G_VARIANT_TYPE_INT64, dims, n_dims, sizeof (gint64));
}

/* Called with the lock. */
static GVariant *
get_remote_property (MtlExportedTensor *self,
                     const char        *name)
{
  const MtlLayout *layout = get_layout (self);

  if (strcmp (name, "Shape") == 0)
    return get_dims (mtl_layout_shape (layout), layout->n_dims);
  if (strcmp (name, "Strides") == 0)
    return get_dims (mtl_layout_strides (layout), layout->n_dims);
  if (strcmp (name, "Dtype") == 0)
    return g_variant_new_take_string (self->view != NULL
                                      ? mtl_element_type_to_string (self->view->type)
                                      : mtl_dtype_to_string (MTL_DTYPE_OTHER));

  return g_variant_new_boolean (self->view == NULL || !self->writable
                                || mtl_strided_view_is_read_only (self->view));
}

/* Called with the lock. */
static GVariant *
get_remote_properties (MtlExportedTensor *self)
{
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE_VARDICT);
  for (gsize i = 0; org_mtldl_tensor1_interface.properties[i] != NULL; i++)
    {
      const char *name = org_mtldl_tensor1_interface.properties[i]->name;

      g_variant_builder_add (&builder, "{sv}", name, get_remote_property (self, name));
    }

  return g_variant_builder_end (&builder);
}

void
mtl_exported_tensor_note_properties (MtlExportedTensor *self)
{
  emit (self, PROPERTIES_INTERFACE, "PropertiesChanged",
        g_variant_new ("(s@a{sv}as)", MTL_TENSOR_INTERFACE_NAME, get_remote_properties (self),
                       NULL));
}

/* Calls */

static Call *
call_new (MtlTensorExport       *export,
          GDBusMethodInvocation *invocation)
{
  Call *self = g_new0 (Call, 1);

  self->export = mtl_tensor_export_ref (export);
  self->parent.invocation = invocation;
  return self;
}

static void
call_free (Call *self)
{
  if (self->is_admitted)
    g_atomic_int_add (&self->export->tensor->n_calls, -1);
  g_clear_object (&self->view);
  g_free (self->region);
  mtl_tensor_export_unref (self->export);
  g_free (self);
}

static GVariant *
get_arguments (Call *self)
{
  return g_dbus_method_invocation_get_parameters (self->parent.invocation);
}

static gboolean
is_unexported (Call *self)
{
  return g_cancellable_is_cancelled (self->export->ended);
}

/* The replies take the call, and the error or the floating value. */
static void
reply_error (Call   *call,
             GError *error)
{
  g_dbus_method_invocation_take_error (call->parent.invocation, error);
  call_free (call);
}

static void
reply_unexported (Call *call)
{
  reply_error (call, g_error_new (G_DBUS_ERROR, G_DBUS_ERROR_UNKNOWN_OBJECT,
                                  "The tensor at “%s” is no longer exported",
                                  call->export->object_path));
}

/* A call is only cancelled by the end of the export. */
static void
reply_error_or_unexported (Call   *call,
                           GError *error)
{
  if (!is_unexported (call))
    {
      reply_error (call, error);
      return;
    }

  g_error_free (error);
  reply_unexported (call);
}

static void
reply (Call        *call,
       GVariant    *value,
       GUnixFDList *fd_list)
{
  g_dbus_method_invocation_return_value_with_unix_fd_list (call->parent.invocation, value,
                                                           fd_list);
  call_free (call);
}

static GUnixFDList *
get_fd_list (Call *call)
{
  return g_dbus_message_get_unix_fd_list (
      g_dbus_method_invocation_get_message (call->parent.invocation));
}

static gboolean
check_fds (Call    *call,
           GError **error)
{
  GUnixFDList *fd_list = get_fd_list (call);
  int n_fds = fd_list != NULL ? g_unix_fd_list_get_length (fd_list) : 0;

  if (n_fds <= MAX_FDS)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
               "A message has %d descriptors: at most %d are allowed", n_fds, MAX_FDS);
  return FALSE;
}

static MtlStridedView *
open_tensor (Call     *call,
             GVariant *description,
             GError  **error)
{
  return mtl_strided_view_new_from_variant_fds (description, get_fd_list (call), error);
}

static gboolean
hold_view (Call    *call,
           GError **error)
{
  MtlExportedTensor *self = call->export->tensor;

  mtl_fork_lock (&self->lock);
  call->view = self->view != NULL ? g_object_ref (self->view) : NULL;
  call->serial = self->serial;
  mtl_fork_unlock (&self->lock);
  if (call->view != NULL)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_FOUND, "There is no tensor at “%s” yet",
               call->export->object_path);
  return FALSE;
}

static void answer_next (MtlExportedTensor *self);

/* Getting the view */

static gboolean
passes_fds_to (Call *call)
{
  g_autoptr (GVariant) accept = g_variant_get_child_value (get_arguments (call), 0);
  gboolean is_inline = FALSE;

  g_variant_lookup (accept, "inline", "b", &is_inline);
  return !is_inline && mtl_dbus_passes_fds (call->export->connection);
}

static void
reply_view (Call           *call,
            MtlStridedView *view)
{
  g_autoptr (GUnixFDList) fd_list = NULL;
  g_autoptr (GVariant) description = NULL;
  GError *error = NULL;

  description = mtl_dbus_describe_view (view, passes_fds_to (call), NULL, &fd_list, &error);
  if (description != NULL)
    reply (call, g_variant_new_tuple (&description, 1), fd_list);
  else
    reply_error (call, error);
}

static void
on_copied (GObject      *view,
           GAsyncResult *result,
           gpointer      data)
{
  Call *call = data;
  g_autoptr (MtlExportedTensor) self = g_object_ref (call->export->tensor);
  g_autoptr (MtlStridedView) copy = NULL;
  GError *error = NULL;

  copy = mtl_dbus_copy_view_finish (MTL_STRIDED_VIEW (view), result, &error);
  if (copy == NULL)
    reply_error_or_unexported (call, error);
  else
    {
      mtl_fork_lock (&self->lock);
      if (self->serial == call->serial)
        g_set_object (&self->copy, copy);
      mtl_fork_unlock (&self->lock);
      reply_view (call, copy);
    }

  answer_next (self);
}

static MtlStridedView *
dup_copy (MtlExportedTensor *self)
{
  MtlStridedView *copy;

  mtl_fork_lock (&self->lock);
  copy = self->copy != NULL ? g_object_ref (self->copy) : NULL;
  mtl_fork_unlock (&self->lock);
  return copy;
}

/* Like the other one, returns TRUE if the call is answered later. */
static gboolean
answer_get (Call *call)
{
  g_autoptr (MtlStridedView) ready = NULL;
  GError *error = NULL;
  gboolean needs_copy;

  if (!hold_view (call, &error)
      || !mtl_dbus_check_view (call->view, passes_fds_to (call), &needs_copy, &error))
    {
      reply_error (call, error);
      return FALSE;
    }

  ready = needs_copy ? dup_copy (call->export->tensor) : g_object_ref (call->view);
  if (ready != NULL)
    {
      reply_view (call, ready);
      return FALSE;
    }

  mtl_dbus_copy_view_async (call->view, call->export->ended, on_copied, call);
  return TRUE;
}

/* Writing into the view */

/* After some errors, too, elements may have other values. */
static gboolean
are_written (const GError *error)
{
  return error == NULL || g_error_matches (error, MTL_ERROR, MTL_ERROR_DEVICE)
         || g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static gboolean
note_written (Call *call)
{
  MtlExportedTensor *self = call->export->tensor;
  gboolean is_current;

  mtl_fork_lock (&self->lock);
  is_current = self->view == call->view;
  if (is_current)
    mtl_exported_tensor_note_change (self, call->region);
  mtl_fork_unlock (&self->lock);
  return is_current;
}

static void
end_write (Call   *call,
           GError *error)
{
  g_autoptr (MtlExportedTensor) self = g_object_ref (call->export->tensor);
  gboolean is_noted = are_written (error) && note_written (call);
  g_autofree char *region = g_steal_pointer (&call->region);

  if (error != NULL)
    reply_error_or_unexported (call, error);
  else
    reply (call, NULL, NULL);

  if (is_noted)
    g_signal_emit_by_name (self, "written", region);
}

static void
on_written (GObject      *target,
            GAsyncResult *result,
            gpointer      data)
{
  Call *call = data;
  g_autoptr (MtlExportedTensor) self = g_object_ref (call->export->tensor);
  GError *error = NULL;

  mtl_strided_view_copy_from_finish (MTL_STRIDED_VIEW (target), result, &error);
  end_write (call, error);
  answer_next (self);
}

static gboolean
check_writable (Call    *call,
                GError **error)
{
  MtlExportedTensor *self = call->export->tensor;
  gboolean writable;

  mtl_fork_lock (&self->lock);
  writable = self->writable;
  mtl_fork_unlock (&self->lock);
  if (writable)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_READ_ONLY,
               "The tensor at “%s” is read-only for other processes", call->export->object_path);
  return FALSE;
}

static gboolean
open_write (Call            *call,
            MtlStridedView **target,
            MtlStridedView **source,
            GError         **error)
{
  g_autoptr (GVariant) description = NULL;
  const char *region;

  g_variant_get (get_arguments (call), "(@" MTL_TENSOR_VARIANT_TYPE_STRING "&s)", &description,
                 &region);
  if (!check_writable (call, error) || !check_length (region, error) || !hold_view (call, error))
    return FALSE;

  call->region = g_strdup (region);
  *target = mtl_strided_view_slice_string (call->view, call->region, error);
  if (*target == NULL)
    return FALSE;

  *source = open_tensor (call, description, error);
  return *source != NULL;
}

static gboolean
is_short (MtlStridedView *target)
{
  return mtl_strided_view_is_host_accessible (target)
         && mtl_layout_count_bytes (&target->layout) <= MAX_BYTES_AT_ONCE;
}

static gboolean
answer_copy (Call *call)
{
  g_autoptr (MtlStridedView) target = NULL;
  g_autoptr (MtlStridedView) source = NULL;
  GError *error = NULL;

  if (!open_write (call, &target, &source, &error))
    {
      reply_error (call, error);
      return FALSE;
    }

  if (is_short (target))
    {
      mtl_strided_view_copy_from (target, source, NULL, &error);
      end_write (call, error);
      return FALSE;
    }

  mtl_strided_view_copy_from_async (target, source, call->export->ended, NULL, NULL, NULL,
                                    on_written, call);
  return TRUE;
}

/* The calls that read or write elements, one after another */

static Call *
take_first (MtlExportedTensor *self)
{
  MtlDBusCall *call;

  mtl_fork_lock (&self->lock);
  call = mtl_dbus_calls_take_first (&self->calls);
  self->is_answering = call != NULL;
  mtl_fork_unlock (&self->lock);
  return (Call *) call;
}

static gboolean
answer (Call *call)
{
  const char *method = g_dbus_method_invocation_get_method_name (call->parent.invocation);

  if (is_unexported (call))
    {
      reply_unexported (call);
      return FALSE;
    }

  return strcmp (method, "Get") == 0 ? answer_get (call) : answer_copy (call);
}

static void
answer_next (MtlExportedTensor *self)
{
  Call *call;

  while ((call = take_first (self)) != NULL)
    if (answer (call))
      return;
}

static void
answer_in_turn (Call *call)
{
  g_autoptr (MtlExportedTensor) self = g_object_ref (call->export->tensor);
  gboolean was_answering;

  mtl_fork_lock (&self->lock);
  mtl_dbus_calls_append (&self->calls, &call->parent);
  was_answering = self->is_answering;
  self->is_answering = TRUE;
  mtl_fork_unlock (&self->lock);
  if (!was_answering)
    answer_next (self);
}

/* Other calls */

static void
answer_put (Call *call)
{
  g_autoptr (GVariant) description = g_variant_get_child_value (get_arguments (call), 0);
  g_autoptr (MtlStridedView) view = NULL;
  g_autoptr (GVariant) extras = NULL;
  GError *error = NULL;
  gboolean is_taken = FALSE;

  view = open_tensor (call, description, &error);
  if (view == NULL)
    {
      reply_error (call, error);
      return;
    }

  extras = mtl_tensor_variant_dup_extras (description);
  g_signal_emit_by_name (call->export->tensor, "put", view, extras, &is_taken);
  if (is_taken)
    reply (call, NULL, NULL);
  else
    reply_error (call, g_error_new (MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                                    "The program did not take the tensor at “%s”",
                                    call->export->object_path));
}

static void
answer_properties (Call *call)
{
  MtlExportedTensor *self = call->export->tensor;
  const GDBusPropertyInfo *info =
    g_dbus_method_invocation_get_property_info (call->parent.invocation);
  GVariant *value;

  mtl_fork_lock (&self->lock);
  value = info != NULL ? g_variant_new ("(v)", get_remote_property (self, info->name))
                       : g_variant_new ("(@a{sv})", get_remote_properties (self));
  mtl_fork_unlock (&self->lock);
  reply (call, value, NULL);
}

static void
admit (Call *call)
{
  GDBusMethodInvocation *invocation = call->parent.invocation;
  MtlExportedTensor *self = call->export->tensor;

  call->is_admitted = TRUE;
  if (g_atomic_int_add (&self->n_calls, 1) >= MAX_CALLS)
    reply_error (call, g_error_new (MTL_ERROR, MTL_ERROR_BUSY,
                                    "%d calls are waiting for the tensor at “%s”: the limit is"
                                    " reached", MAX_CALLS, call->export->object_path));
  else if (is_unexported (call))
    reply_unexported (call);
  else if (strcmp (g_dbus_method_invocation_get_interface_name (invocation),
                   PROPERTIES_INTERFACE) == 0)
    answer_properties (call);
  else if (strcmp (g_dbus_method_invocation_get_method_name (invocation), "Put") == 0)
    answer_put (call);
  else
    answer_in_turn (call);
}

static void
on_caller_checked (MtlDBusCall *call,
                   GError      *error)
{
  if (error == NULL)
    admit ((Call *) call);
  else
    reply_error_or_unexported ((Call *) call, error);
}

static void
on_method_call (GDBusConnection       *connection,
                const char            *sender,
                const char            *object_path,
                const char            *interface,
                const char            *method,
                GVariant              *parameters,
                GDBusMethodInvocation *invocation,
                gpointer               data)
{
  Call *call = call_new (data, invocation);
  GError *error = NULL;

  if (!check_fds (call, &error))
    reply_error (call, error);
  else if (call->export->tensor->flags & MTL_TENSOR_PEER_FLAGS_ALLOW_OTHER_USERS)
    admit (call);
  else
    mtl_dbus_callers_check (call->export->callers, &call->parent);
}

/* The places on connections */

MtlTensorExport *
mtl_tensor_export_new (MtlExportedTensor *tensor,
                       GDBusConnection   *connection,
                       const char        *object_path)
{
  MtlTensorExport *self = g_new0 (MtlTensorExport, 1);

  self->ref_count = 1;
  self->tensor = g_object_ref (tensor);
  self->connection = g_object_ref (connection);
  self->object_path = g_strdup (object_path);
  self->ended = g_cancellable_new ();
  self->callers = mtl_dbus_callers_new (connection, self->ended, on_caller_checked);
  return self;
}

void
mtl_tensor_export_unref (gpointer data)
{
  MtlTensorExport *self = data;

  if (!g_atomic_int_dec_and_test (&self->ref_count))
    return;

  mtl_dbus_callers_unref (self->callers);
  g_object_unref (self->ended);
  g_object_unref (self->connection);
  g_object_unref (self->tensor);
  g_free (self->object_path);
  g_free (self);
}

gboolean
mtl_tensor_export_register (MtlTensorExport *self,
                            GError         **error)
{
  /* Calls for properties are method calls, too, as there is no other function for them. */
  static const GDBusInterfaceVTable vtable = { .method_call = on_method_call };

  self->registration = g_dbus_connection_register_object (
      self->connection, self->object_path, (GDBusInterfaceInfo *) &org_mtldl_tensor1_interface,
      &vtable, mtl_tensor_export_ref (self), mtl_tensor_export_unref, error);
  if (self->registration != 0)
    return TRUE;

  mtl_tensor_export_unref (self);
  return FALSE;
}
