/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-tensor-dbus-private.h"

#include <gio/gunixfdlist.h>

#include "mtl-async-call-private.h"
#include "mtl-error.h"
#include "mtl-tensor-variant-private.h"

/* They are part of the interface, and in the order of the codes. */
static const GDBusErrorEntry error_names[] = {
  { MTL_ERROR_INVALID_ARGUMENT, "org.mtldl.Error.InvalidArgument" },
  { MTL_ERROR_OUT_OF_BOUNDS, "org.mtldl.Error.OutOfBounds" },
  { MTL_ERROR_OVERFLOW, "org.mtldl.Error.Overflow" },
  { MTL_ERROR_NOT_SUPPORTED, "org.mtldl.Error.NotSupported" },
  { MTL_ERROR_NOT_HOST_ACCESSIBLE, "org.mtldl.Error.NotHostAccessible" },
  { MTL_ERROR_READ_ONLY, "org.mtldl.Error.ReadOnly" },
  { MTL_ERROR_NO_MEMORY, "org.mtldl.Error.NoMemory" },
  { MTL_ERROR_NEEDS_COPY, "org.mtldl.Error.NeedsCopy" },
  { MTL_ERROR_DEVICE, "org.mtldl.Error.Device" },
  { MTL_ERROR_INVALID_DATA, "org.mtldl.Error.InvalidData" },
  { MTL_ERROR_CONSUMED, "org.mtldl.Error.Consumed" },
  { MTL_ERROR_BUSY, "org.mtldl.Error.Busy" },
  { MTL_ERROR_NOT_FOUND, "org.mtldl.Error.NotFound" },
};

G_STATIC_ASSERT (G_N_ELEMENTS (error_names) == MTL_ERROR_NOT_FOUND + 1);

void
mtl_dbus_register_errors (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (error_names); i++)
    g_dbus_error_register_error (MTL_ERROR, error_names[i].error_code,
                                 error_names[i].dbus_error_name);
}

gboolean
mtl_dbus_passes_fds (GDBusConnection *connection)
{
  return (g_dbus_connection_get_capabilities (connection)
          & G_DBUS_CAPABILITY_FLAGS_UNIX_FD_PASSING) != 0;
}

gboolean
mtl_dbus_check_object_path (const char *object_path,
                            GError    **error)
{
  g_autofree char *quoted = NULL;

  if (g_variant_is_object_path (object_path))
    return TRUE;

  quoted = mtl_quote_text (object_path, strlen (object_path));
  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "%s is not a path of an object, such as “/org/example/Camera”", quoted);
  return FALSE;
}

gboolean
mtl_dbus_check_view (MtlStridedView  *view,
                     gboolean         passes_fds,
                     gboolean        *needs_copy,
                     GError         **error)
{
  MTL_USE_VIEW (view);
  gboolean is_few = mtl_tensor_fits_inline (view);

  *needs_copy = FALSE;
  if (!mtl_memory_check_reachable (view->memory, error))
    return FALSE;

  if (passes_fds && mtl_tensor_is_sent_in_place (view))
    return TRUE;

  *needs_copy = !is_few || !mtl_strided_view_is_host_accessible (view);
  if (is_few || passes_fds)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "The elements of a tensor exceed the limit of %d bytes inside a message, and the"
               " connection to the other process passes no descriptors",
               MTL_TENSOR_VARIANT_MAX_INLINE);
  return FALSE;
}

MtlStridedView *
mtl_dbus_copy_view (MtlStridedView  *view,
                    GCancellable    *cancellable,
                    GError         **error)
{
  return mtl_tensor_copy_for_message (view, MTL_MONITOR (cancellable), error);
}

static gpointer
run_copy (gpointer           view,
          gpointer           call,
          const MtlMonitor  *monitor,
          GError           **error)
{
  return mtl_tensor_copy_for_message (view, monitor, error);
}

void
mtl_dbus_copy_view_async (MtlStridedView      *view,
                          GCancellable        *cancellable,
                          GAsyncReadyCallback  callback,
                          gpointer             user_data)
{
  MtlAsyncCall *call = mtl_async_call_new (sizeof (MtlAsyncCall), run_copy, g_object_unref, NULL,
                                           G_PRIORITY_DEFAULT);

  mtl_async_call_start (call, view, mtl_dbus_copy_view_async, cancellable, callback, user_data);
}

MtlStridedView *
mtl_dbus_copy_view_finish (MtlStridedView  *view,
                           GAsyncResult    *result,
                           GError         **error)
{
  return mtl_async_call_take_result (view, result, mtl_dbus_copy_view_async, error);
}

GVariant *
mtl_dbus_describe_view (MtlStridedView  *view,
                        gboolean         passes_fds,
                        GVariant        *extras,
                        GUnixFDList    **fd_list,
                        GError         **error)
{
  g_autoptr (GUnixFDList) fds = NULL;
  GVariant *description;

  if (passes_fds && mtl_tensor_is_sent_in_place (view))
    fds = g_unix_fd_list_new ();
  description = mtl_strided_view_to_variant (view, fds, extras, error);
  *fd_list = description != NULL ? g_steal_pointer (&fds) : NULL;
  return description;
}
