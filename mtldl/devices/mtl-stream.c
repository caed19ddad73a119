/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-stream.h"

#include "mtl-async-call-private.h"
#include "mtl-device-private.h"
#include "mtl-error.h"

/**
 * MtlStream:
 *
 * A queue of a device, which does the work in it one after another.
 *
 * It is a stream on CUDA and a command queue on Metal. The library has one of its
 * own for each device, [ctor@Mtl.Stream.new_for_device], and orders its work with
 * that of other libraries by itself: tensors come in and go out in the streams in
 * which the other library uses them, and the host does not wait.
 *
 * A stream object is for programs that queue work of their own. Such a program
 * lets its stream wait for the library's stream, and the other way around, or
 * lets the library work in its stream:
 *
 * ```c
 * const gint64 shape[] = { 1000, 1000 };
 * MtlDevice *device = mtl_device_get_default ();
 * g_autoptr (MtlStridedView) view = NULL;
 * g_autoptr (MtlStream) stream = mtl_stream_new (device, NULL);
 *
 * if (stream == NULL)
 *   return TRUE; // The host has no streams.
 *
 * mtl_stream_push_thread_default (stream);
 * view = mtl_strided_view_new_zeros (device, MTL_DTYPE_FLOAT32, shape, 2,
 *                                    MTL_STORAGE_MODE_DEFAULT, error);
 * mtl_stream_pop_thread_default (stream);
 *
 * // Kernels that the program queues in its stream now run after the fill.
 * if (view == NULL)
 *   return FALSE;
 * ```
 *
 * Since: 1.0
 */

struct _MtlStream
{
  GObject parent_instance;

  MtlDevice *device;    /* NULL until the stream is initialized */
  MtlDevice *requested; /* may be NULL, and is from then on */
  guint64 handle;
  gboolean is_own; /* created for this object */
};

enum
{
  PROP_0,
  PROP_DEVICE,
  PROP_HANDLE,
  N_PROPS
};

static GParamSpec *props[N_PROPS];

static void initable_iface_init (GInitableIface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE (MtlStream, mtl_stream, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_INITABLE, initable_iface_init))

static void
mtl_stream_finalize (GObject *object)
{
  MtlStream *self = MTL_STREAM (object);

  if (self->device != NULL)
    MTL_DEVICE_GET_CLASS (self->device)->free_stream (self->device, self->handle, self->is_own);
  g_clear_object (&self->device);
  g_clear_object (&self->requested);

  G_OBJECT_CLASS (mtl_stream_parent_class)->finalize (object);
}

static void
mtl_stream_get_property (GObject    *object,
                         guint       prop_id,
                         GValue     *value,
                         GParamSpec *pspec)
{
  MtlStream *self = MTL_STREAM (object);

  switch (prop_id)
    {
    case PROP_DEVICE:
      g_value_set_object (value, mtl_stream_get_device (self));
      break;
    case PROP_HANDLE:
      g_value_set_uint64 (value, mtl_stream_get_handle (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
mtl_stream_set_property (GObject      *object,
                         guint         prop_id,
                         const GValue *value,
                         GParamSpec   *pspec)
{
  if (prop_id == PROP_DEVICE)
    MTL_STREAM (object)->requested = g_value_dup_object (value);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
}

static void
mtl_stream_class_init (MtlStreamClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  const GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  object_class->finalize = mtl_stream_finalize;
  object_class->get_property = mtl_stream_get_property;
  object_class->set_property = mtl_stream_set_property;

  /**
   * MtlStream:device: (getter get_device)
   *
   * The device of the stream.
   *
   * Without one, the stream is of the default device.
   *
   * Since: 1.0
   */
  props[PROP_DEVICE] =
    g_param_spec_object ("device", NULL, NULL, MTL_TYPE_DEVICE,
                         flags | G_PARAM_WRITABLE | G_PARAM_CONSTRUCT_ONLY);

  /**
   * MtlStream:handle: (getter get_handle)
   *
   * The device's handle for the stream.
   *
   * Since: 1.0
   */
  props[PROP_HANDLE] =
    g_param_spec_uint64 ("handle", NULL, NULL, 0, G_MAXUINT64, 0, flags);

  g_object_class_install_properties (object_class, N_PROPS, props);
}

static void
mtl_stream_init (MtlStream *self)
{
}

static gboolean
check_has_streams (MtlDevice  *device,
                   GError    **error)
{
  if (MTL_DEVICE_GET_CLASS (device)->new_stream != NULL)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED, "“%s” has no streams",
               mtl_device_get_name (device));
  return FALSE;
}

static gboolean
mtl_stream_initable_init (GInitable     *initable,
                          GCancellable  *cancellable,
                          GError       **error)
{
  MtlStream *self = MTL_STREAM (initable);
  MtlDevice *device = self->requested != NULL ? self->requested : mtl_device_get_default ();

  if (self->device != NULL)
    return TRUE;

  if (!check_has_streams (device, error)
      || !MTL_DEVICE_GET_CLASS (device)->new_stream (device, &self->handle, error))
    return FALSE;

  self->device = g_object_ref (device);
  self->is_own = TRUE;
  g_clear_object (&self->requested);
  return TRUE;
}

static void
initable_iface_init (GInitableIface *iface)
{
  iface->init = mtl_stream_initable_init;
}

static MtlStream *
stream_new_for_others (MtlDevice *device,
                       guint64    handle)
{
  MtlStream *self = g_object_new (MTL_TYPE_STREAM, NULL);

  self->device = g_object_ref (device);
  self->handle = handle;
  return self;
}

/* A bare g_object_new() creates an object without a stream. */
static gboolean
check_has_stream (MtlStream  *self,
                  GError    **error)
{
  if (self->device != NULL)
    return TRUE;

  g_set_error_literal (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                       "The object has no stream: create it with one of the constructors");
  return FALSE;
}

/**
 * mtl_stream_new: (constructor)
 * @device: (nullable): a device, or %NULL for the default device
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a stream for the program's own work.
 *
 * On CUDA it is a non-blocking stream, which does not wait for the legacy
 * stream.
 *
 * Errors:
 *
 * - %MTL_ERROR_NOT_SUPPORTED: the device has no streams, or it cannot be used
 *   in this process
 * - %MTL_ERROR_DEVICE: the device cannot create a stream
 * - %MTL_ERROR_NO_MEMORY: the device ran out of memory
 *
 * Returns: (transfer full): the new stream
 *
 * Since: 1.0
 */
MtlStream *
mtl_stream_new (MtlDevice  *device,
                GError    **error)
{
  g_return_val_if_fail (device == NULL || MTL_IS_DEVICE (device), NULL);

  return g_initable_new (MTL_TYPE_STREAM, NULL, error, "device", device, NULL);
}

/**
 * mtl_stream_new_for_device: (constructor)
 * @device: a device
 * @error: return location for a [error@Mtl.Error]
 *
 * Gets the stream in which the library works on a device.
 *
 * Errors:
 *
 * - the errors of [ctor@Mtl.Stream.new]
 *
 * Returns: (transfer full): the stream
 *
 * Since: 1.0
 */
MtlStream *
mtl_stream_new_for_device (MtlDevice  *device,
                           GError    **error)
{
  MtlDeviceClass *klass;
  guint64 handle;

  g_return_val_if_fail (MTL_IS_DEVICE (device), NULL);

  klass = MTL_DEVICE_GET_CLASS (device);
  if (!check_has_streams (device, error)
      || !klass->get_stream (device, &handle, error)
      || !klass->wrap_stream (device, handle, error))
    return NULL;

  return stream_new_for_others (device, handle);
}

/**
 * mtl_stream_new_for_handle: (constructor)
 * @handle: the device's handle for a stream: a `CUstream` or `cudaStream_t` on
 *   CUDA, where 1 is the legacy stream and 2 the stream of the thread; an
 *   `id<MTLCommandQueue>` on Metal
 * @device: the device
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates an object for a stream of the program or of another library.
 *
 * A command queue is retained. A CUDA stream has to outlive the object, and the
 * tensors that were exported for it.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: @handle is not a stream of @device
 * - %MTL_ERROR_NOT_SUPPORTED: the device has no streams, or it cannot be used
 *   in this process
 * - %MTL_ERROR_DEVICE: the device failed
 * - %MTL_ERROR_NO_MEMORY: the device ran out of memory
 *
 * Returns: (transfer full): the new stream
 *
 * Since: 1.0
 */
MtlStream *
mtl_stream_new_for_handle (guint64     handle,
                           MtlDevice  *device,
                           GError    **error)
{
  g_return_val_if_fail (MTL_IS_DEVICE (device), NULL);

  if (!check_has_streams (device, error)
      || !MTL_DEVICE_GET_CLASS (device)->wrap_stream (device, handle, error))
    return NULL;

  return stream_new_for_others (device, handle);
}

/**
 * mtl_stream_get_device: (get-property device)
 * @self: a stream
 *
 * Gets the device of the stream.
 *
 * Returns: (transfer none): the device
 *
 * Since: 1.0
 */
MtlDevice *
mtl_stream_get_device (MtlStream *self)
{
  g_return_val_if_fail (MTL_IS_STREAM (self), NULL);

  return self->device != NULL ? self->device : mtl_device_get_host ();
}

/**
 * mtl_stream_get_handle: (get-property handle)
 * @self: a stream
 *
 * Gets the device's handle for the stream, see [ctor@Mtl.Stream.new_for_handle].
 *
 * Returns: the handle
 *
 * Since: 1.0
 */
guint64
mtl_stream_get_handle (MtlStream *self)
{
  g_return_val_if_fail (MTL_IS_STREAM (self), 0);

  return self->handle;
}

/**
 * mtl_stream_push_thread_default:
 * @self: a stream
 *
 * Lets the library work in this stream rather than in its own, for calls of the
 * current thread on memory of the stream's device.
 *
 * This lasts until [method@Mtl.Stream.pop_thread_default]; calls may be nested.
 * The program has to keep a reference until then. Asynchronous functions use
 * other threads, and the library's stream.
 *
 * On CUDA the work of these calls may only be queued when they return, also
 * copies to and from memory that the host can access. The library waits before it
 * uses such memory on the host; the program waits with
 * [method@Mtl.Stream.synchronize]. Tensors that come in and go out are ordered by
 * the stream, too.
 *
 * The stream may be capturing a graph. Then copies, fills and conversions
 * within the memory of the device are part of the graph, and what needs the host
 * or temporary memory fails with %MTL_ERROR_NOT_SUPPORTED.
 *
 * Since: 1.0
 */
void
mtl_stream_push_thread_default (MtlStream *self)
{
  g_return_if_fail (MTL_IS_STREAM (self));

  if (self->device == NULL)
    return;

  mtl_pushed_stream_push (mtl_device_get_device_type (self->device),
                          mtl_device_get_ordinal (self->device), self->handle);
}

/**
 * mtl_stream_pop_thread_default:
 * @self: the stream that was pushed last
 *
 * Ends what [method@Mtl.Stream.push_thread_default] began.
 *
 * Since: 1.0
 */
void
mtl_stream_pop_thread_default (MtlStream *self)
{
  gboolean is_popped;

  g_return_if_fail (MTL_IS_STREAM (self));

  if (self->device == NULL)
    return;

  is_popped = mtl_pushed_stream_pop (mtl_device_get_device_type (self->device),
                                     mtl_device_get_ordinal (self->device), self->handle);
  g_return_if_fail (is_popped);
}

/**
 * mtl_stream_wait_stream:
 * @self: a stream
 * @other: another stream
 * @error: return location for a [error@Mtl.Error]
 *
 * Lets work that is queued in @self later wait for the work that @other has now.
 *
 * On CUDA the host does not wait, unless @self is capturing a graph. Both may be
 * of different devices. Work that @other captures is not waited for. On Metal
 * the host waits.
 *
 * Errors:
 *
 * - %MTL_ERROR_NOT_SUPPORTED: the streams are of different kinds of devices, or
 *   the device cannot be used in this process
 * - %MTL_ERROR_DEVICE: the device failed
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_stream_wait_stream (MtlStream  *self,
                        MtlStream  *other,
                        GError    **error)
{
  MtlDevice *device;

  g_return_val_if_fail (MTL_IS_STREAM (self), FALSE);
  g_return_val_if_fail (MTL_IS_STREAM (other), FALSE);

  if (!check_has_stream (self, error) || !check_has_stream (other, error))
    return FALSE;

  device = other->device;
  if (MTL_DEVICE_GET_CLASS (device) == MTL_DEVICE_GET_CLASS (self->device))
    return MTL_DEVICE_GET_CLASS (device)->order_streams (device, other->handle, self->device,
                                                         self->handle, error);

  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "A stream of “%s” cannot wait for one of “%s”", mtl_device_get_name (self->device),
               mtl_device_get_name (device));
  return FALSE;
}

static gboolean
check_event (MtlStream  *self,
             MtlEvent   *event,
             GError    **error)
{
  if (mtl_event_get_handle (event) != NULL && mtl_event_get_device (event) == self->device)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "An event of “%s” cannot be used in a stream of “%s”: create it for that device",
               mtl_device_get_name (mtl_event_get_device (event)),
               mtl_device_get_name (self->device));
  return FALSE;
}

/**
 * mtl_stream_wait_event:
 * @self: a stream
 * @event: an event of the same device
 * @value: a value
 * @error: return location for a [error@Mtl.Error]
 *
 * Lets work that is queued in the stream later wait until @event has reached
 * @value.
 *
 * The event must exist until then.
 *
 * Errors:
 *
 * - %MTL_ERROR_NOT_SUPPORTED: the event is of another device, or the device
 *   cannot wait for such values
 * - %MTL_ERROR_DEVICE: the device failed
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_stream_wait_event (MtlStream  *self,
                       MtlEvent   *event,
                       guint64     value,
                       GError    **error)
{
  g_return_val_if_fail (MTL_IS_STREAM (self), FALSE);
  g_return_val_if_fail (MTL_IS_EVENT (event), FALSE);

  return check_has_stream (self, error)
         && check_event (self, event, error)
         && MTL_DEVICE_GET_CLASS (self->device)->queue_wait (self->device, self->handle,
                                                             mtl_event_get_handle (event), value,
                                                             error);
}

/**
 * mtl_stream_signal_event:
 * @self: a stream
 * @event: an event of the same device
 * @value: a value, which is greater than those before
 * @error: return location for a [error@Mtl.Error]
 *
 * Signals that @event has reached @value once the work that the stream has now
 * is finished.
 *
 * The event must exist until then.
 *
 * Errors:
 *
 * - the errors of [method@Mtl.Stream.wait_event]
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_stream_signal_event (MtlStream  *self,
                         MtlEvent   *event,
                         guint64     value,
                         GError    **error)
{
  g_return_val_if_fail (MTL_IS_STREAM (self), FALSE);
  g_return_val_if_fail (MTL_IS_EVENT (event), FALSE);

  return check_has_stream (self, error)
         && check_event (self, event, error)
         && MTL_DEVICE_GET_CLASS (self->device)->queue_signal (self->device, self->handle,
                                                               mtl_event_get_handle (event),
                                                               value, error);
}

/**
 * mtl_stream_synchronize:
 * @self: a stream
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Waits until the work that the stream has now is finished.
 *
 * Errors:
 *
 * - %MTL_ERROR_DEVICE: the device failed
 * - %MTL_ERROR_NOT_SUPPORTED: the stream captures a graph, or the device cannot be
 *   used in this process
 * - %G_IO_ERROR_CANCELLED: the operation was cancelled
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_stream_synchronize (MtlStream     *self,
                        GCancellable  *cancellable,
                        GError       **error)
{
  g_return_val_if_fail (MTL_IS_STREAM (self), FALSE);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), FALSE);

  return check_has_stream (self, error)
         && !g_cancellable_set_error_if_cancelled (cancellable, error)
         && MTL_DEVICE_GET_CLASS (self->device)->synchronize_stream (self->device, self->handle,
                                                                     cancellable, error);
}

static gpointer
run_synchronize (gpointer           self,
                 gpointer           call,
                 const MtlMonitor  *monitor,
                 GError           **error)
{
  return GINT_TO_POINTER (mtl_stream_synchronize (self, monitor->cancellable, error));
}

/**
 * mtl_stream_synchronize_async:
 * @self: a stream
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called when the operation is done
 * @user_data: data to pass to @callback
 *
 * Waits asynchronously until the work that the stream has now is finished.
 *
 * See [method@Mtl.Stream.synchronize].
 *
 * Since: 1.0
 */
void
mtl_stream_synchronize_async (MtlStream           *self,
                              GCancellable        *cancellable,
                              GAsyncReadyCallback  callback,
                              gpointer             user_data)
{
  MtlAsyncCall *call;

  g_return_if_fail (MTL_IS_STREAM (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  /* GTask's threads are few, and the work to wait for may need them. */
  call = mtl_async_call_new (sizeof *call, run_synchronize, NULL, NULL, G_PRIORITY_DEFAULT);
  call->is_alone = TRUE;
  mtl_async_call_start (call, self, mtl_stream_synchronize_async, cancellable, callback,
                        user_data);
}

/**
 * mtl_stream_synchronize_finish:
 * @self: a stream
 * @result: the result passed to the callback
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Finishes an operation started with [method@Mtl.Stream.synchronize_async].
 *
 * Errors:
 *
 * - the errors of [method@Mtl.Stream.synchronize]
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_stream_synchronize_finish (MtlStream     *self,
                               GAsyncResult  *result,
                               GError       **error)
{
  return mtl_async_call_finish (self, result, mtl_stream_synchronize_async, error);
}
