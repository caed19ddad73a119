/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-event.h"

#include "mtl-async-call-private.h"
#include "mtl-device-private.h"
#include "mtl-error.h"
#include "mtl-fork-private.h"

/**
 * MtlEvent:
 *
 * A counter that only grows, and that work can wait for.
 *
 * Events order the work of different threads, command queues or libraries. When
 * one side has finished its work, it signals a value. The other side waits
 * until the event has reached that value. An event starts at 0.
 *
 * On Metal an event is an `id<MTLSharedEvent>`, returned by
 * [method@Mtl.Event.get_handle]. A GPU signals it with
 * `encodeSignalEvent:value:` and waits for it with `encodeWaitForEvent:value:`.
 * On CUDA it is the address of a number in pinned memory. A stream signals it
 * and waits for it with [method@Mtl.Stream.signal_event]
 * and [method@Mtl.Stream.wait_event], or with `cuStreamWriteValue64()` and
 * `cuStreamWaitValue64()`. On the host an event orders threads.
 *
 * ```c
 * g_autoptr (MtlEvent) event = mtl_event_new (mtl_device_get_default (), error);
 *
 * if (event == NULL)
 *   return FALSE;
 *
 * // The side that writes signals a value when it is done …
 * mtl_event_signal (event, 1);
 *
 * // … and the side that reads waits for it, here for a second at most.
 * if (!mtl_event_wait (event, 1, G_USEC_PER_SEC, NULL, error))
 *   return FALSE;
 * ```
 *
 * Since: 1.0
 */

/* A wait checks for cancellation this often, in microseconds. */
#define SLICE (20 * G_TIME_SPAN_MILLISECOND)

/* Devices may count time in fewer than 64 bits. Longer waits are repeated. */
#define LONGEST_WAIT G_TIME_SPAN_DAY

struct _MtlEvent
{
  GObject parent_instance;

  MtlDevice *device;    /* NULL until the event is initialized */
  MtlDevice *requested; /* may be NULL, and is from then on */
  gpointer handle;      /* the device's, NULL for a host event */
  gboolean is_own;      /* the handle was created for the event */

  MtlForkLock lock;
  GCond signaled;
  guint64 value; /* only used by a host event */
};

enum
{
  PROP_0,
  PROP_DEVICE,
  PROP_SIGNALED_VALUE,
  N_PROPS
};

static GParamSpec *props[N_PROPS];

static void initable_iface_init (GInitableIface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE (MtlEvent, mtl_event, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_INITABLE, initable_iface_init))

static void
lock (MtlEvent *self)
{
  if (mtl_fork_lock (&self->lock))
    g_cond_init (&self->signaled);
}

static void
unlock (MtlEvent *self)
{
  mtl_fork_unlock (&self->lock);
}

static void
mtl_event_finalize (GObject *object)
{
  MtlEvent *self = MTL_EVENT (object);

  if (self->handle != NULL)
    MTL_DEVICE_GET_CLASS (self->device)->free_event (self->device, self->handle, self->is_own);
  g_clear_object (&self->device);
  g_clear_object (&self->requested);
  lock (self); /* threads of a child's parent may be waiting for the condition */
  unlock (self);
  g_cond_clear (&self->signaled);
  mtl_fork_lock_clear (&self->lock);

  G_OBJECT_CLASS (mtl_event_parent_class)->finalize (object);
}

static void
mtl_event_get_property (GObject    *object,
                        guint       prop_id,
                        GValue     *value,
                        GParamSpec *pspec)
{
  MtlEvent *self = MTL_EVENT (object);

  switch (prop_id)
    {
    case PROP_DEVICE:
      g_value_set_object (value, mtl_event_get_device (self));
      break;
    case PROP_SIGNALED_VALUE:
      g_value_set_uint64 (value, mtl_event_get_signaled_value (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
mtl_event_set_property (GObject      *object,
                        guint         prop_id,
                        const GValue *value,
                        GParamSpec   *pspec)
{
  if (prop_id == PROP_DEVICE)
    MTL_EVENT (object)->requested = g_value_dup_object (value);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
}

static void
mtl_event_class_init (MtlEventClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  const GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  object_class->finalize = mtl_event_finalize;
  object_class->get_property = mtl_event_get_property;
  object_class->set_property = mtl_event_set_property;

  /**
   * MtlEvent:device: (getter get_device)
   *
   * The device of the event.
   *
   * Without one, the event is of the default device.
   *
   * Since: 1.0
   */
  props[PROP_DEVICE] =
    g_param_spec_object ("device", NULL, NULL, MTL_TYPE_DEVICE,
                         flags | G_PARAM_WRITABLE | G_PARAM_CONSTRUCT_ONLY);

  /**
   * MtlEvent:signaled-value: (getter get_signaled_value)
   *
   * The value that the event has reached.
   *
   * The `notify` signal is not emitted when it changes.
   *
   * Since: 1.0
   */
  props[PROP_SIGNALED_VALUE] =
    g_param_spec_uint64 ("signaled-value", NULL, NULL, 0, G_MAXUINT64, 0, flags);

  g_object_class_install_properties (object_class, N_PROPS, props);
}

static void
mtl_event_init (MtlEvent *self)
{
  g_cond_init (&self->signaled);
}

static gboolean
mtl_event_initable_init (GInitable     *initable,
                         GCancellable  *cancellable,
                         GError       **error)
{
  MtlEvent *self = MTL_EVENT (initable);
  MtlDevice *device = self->requested != NULL ? self->requested : mtl_device_get_default ();
  MtlDeviceClass *klass = MTL_DEVICE_GET_CLASS (device);

  if (self->device != NULL)
    return TRUE;

  if (klass->new_event != NULL)
    {
      self->handle = klass->new_event (device, error);
      if (self->handle == NULL)
        return FALSE;

      self->is_own = TRUE;
    }

  self->device = g_object_ref (device);
  g_clear_object (&self->requested);
  return TRUE;
}

static void
initable_iface_init (GInitableIface *iface)
{
  iface->init = mtl_event_initable_init;
}

/**
 * mtl_event_new: (constructor)
 * @device: (nullable): a device, or %NULL for the default device
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates an event that starts at 0.
 *
 * If the device has no events, this creates a host event.
 *
 * Errors:
 *
 * - %MTL_ERROR_DEVICE: the device cannot create an event
 * - %MTL_ERROR_NO_MEMORY: the device ran out of memory
 * - %MTL_ERROR_NOT_SUPPORTED: the device cannot be used in this process
 *
 * Returns: (transfer full): the new event
 *
 * Since: 1.0
 */
MtlEvent *
mtl_event_new (MtlDevice  *device,
               GError    **error)
{
  g_return_val_if_fail (device == NULL || MTL_IS_DEVICE (device), NULL);

  return g_initable_new (MTL_TYPE_EVENT, NULL, error, "device", device, NULL);
}

/**
 * mtl_event_new_for_handle: (skip)
 * @handle: the device's handle for an event: an `id<MTLSharedEvent>` on Metal, the
 *   address of an aligned integer of 64 bits in pinned memory on CUDA
 * @device: the device
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates an event for an existing event of the device.
 *
 * A Metal event is retained. The integer of a CUDA event has to outlive the event.
 *
 * Errors:
 *
 * - %MTL_ERROR_NOT_SUPPORTED: the device has no events, or it cannot be used in
 *   this process
 * - %MTL_ERROR_INVALID_ARGUMENT: @handle is not an event
 * - %MTL_ERROR_DEVICE: the device failed
 *
 * Returns: (transfer full): the new event
 *
 * Since: 1.0
 */
MtlEvent *
mtl_event_new_for_handle (gpointer    handle,
                          MtlDevice  *device,
                          GError    **error)
{
  MtlDeviceClass *klass;
  MtlEvent *self;
  gpointer kept;

  g_return_val_if_fail (MTL_IS_DEVICE (device), NULL);
  g_return_val_if_fail (handle != NULL, NULL);

  klass = MTL_DEVICE_GET_CLASS (device);
  if (klass->wrap_event == NULL)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED, "“%s” has no events of its own",
                   mtl_device_get_name (device));
      return NULL;
    }

  kept = klass->wrap_event (device, handle, error);
  if (kept == NULL)
    return NULL;

  self = g_object_new (MTL_TYPE_EVENT, NULL);
  self->device = g_object_ref (device);
  self->handle = kept;
  return self;
}

/**
 * mtl_event_get_device: (get-property device)
 * @self: an event
 *
 * Gets the device of the event.
 *
 * Returns: (transfer none): the device
 *
 * Since: 1.0
 */
MtlDevice *
mtl_event_get_device (MtlEvent *self)
{
  g_return_val_if_fail (MTL_IS_EVENT (self), NULL);

  return self->device != NULL ? self->device : mtl_device_get_host ();
}

/**
 * mtl_event_get_handle: (skip)
 * @self: an event
 *
 * Gets the device's handle for the event: an `id<MTLSharedEvent>` on Metal, the
 * address of an integer of 64 bits on CUDA.
 *
 * Returns: (nullable): the handle, or %NULL for a host event
 *
 * Since: 1.0
 */
gpointer
mtl_event_get_handle (MtlEvent *self)
{
  g_return_val_if_fail (MTL_IS_EVENT (self), NULL);

  return self->handle;
}

/**
 * mtl_event_get_signaled_value: (get-property signaled-value)
 * @self: an event
 *
 * Gets the value that the event has reached.
 *
 * Returns: the value
 *
 * Since: 1.0
 */
guint64
mtl_event_get_signaled_value (MtlEvent *self)
{
  guint64 value;

  g_return_val_if_fail (MTL_IS_EVENT (self), 0);

  if (self->handle != NULL)
    return MTL_DEVICE_GET_CLASS (self->device)->get_event_value (self->device, self->handle);

  lock (self);
  value = self->value;
  unlock (self);
  return value;
}

/* The lock is static, as two events may have the same handle. */
static void
signal_handle (MtlEvent *self,
               guint64   value)
{
  static MtlForkLock handles;
  MtlDeviceClass *klass = MTL_DEVICE_GET_CLASS (self->device);

  mtl_fork_lock (&handles);
  if (klass->get_event_value (self->device, self->handle) < value)
    klass->set_event_value (self->device, self->handle, value);
  mtl_fork_unlock (&handles);
}

/**
 * mtl_event_signal:
 * @self: an event
 * @value: a value
 *
 * Signals that a value is reached.
 *
 * This ends all waits for @value and for lower values. The value never
 * decreases: if a higher value was signaled before, it stays. If a device or
 * another library signals the same event, agree with it on the values that each
 * side signals.
 *
 * Since: 1.0
 */
void
mtl_event_signal (MtlEvent *self,
                  guint64   value)
{
  g_return_if_fail (MTL_IS_EVENT (self));

  if (self->handle != NULL)
    {
      signal_handle (self, value);
      return;
    }

  lock (self);
  if (self->value < value)
    {
      self->value = value;
      g_cond_broadcast (&self->signaled);
    }
  unlock (self);
}

/* Waits no longer than the duration. Returns whether the value is reached. */
static gboolean
wait_once (MtlEvent *self,
           guint64   value,
           gint64    duration)
{
  gint64 end = g_get_monotonic_time () + duration;
  gboolean reached = TRUE;

  if (self->handle != NULL)
    return MTL_DEVICE_GET_CLASS (self->device)->wait_event (self->device, self->handle, value,
                                                            duration);

  lock (self);
  while (self->value < value && reached)
    reached = g_cond_wait_until (&self->signaled, &self->lock.mutex, end);
  reached = self->value >= value;
  unlock (self);
  return reached;
}

/**
 * mtl_event_wait:
 * @self: an event
 * @value: a value
 * @timeout: the maximum time to wait in microseconds, or a negative number to
 *   wait without a limit
 * @cancellable: (nullable): a cancellable
 * @error: return location for %G_IO_ERROR_TIMED_OUT or %G_IO_ERROR_CANCELLED
 *
 * Waits until the event has reached @value or a higher value.
 *
 * Errors:
 *
 * - %G_IO_ERROR_TIMED_OUT: the value was not reached within @timeout
 * - %G_IO_ERROR_CANCELLED: the wait was cancelled
 *
 * Returns: whether the value was reached
 *
 * Since: 1.0
 */
gboolean
mtl_event_wait (MtlEvent      *self,
                guint64        value,
                GTimeSpan      timeout,
                GCancellable  *cancellable,
                GError       **error)
{
  gint64 begin = g_get_monotonic_time ();
  gint64 longest = cancellable != NULL ? SLICE : LONGEST_WAIT;

  g_return_val_if_fail (MTL_IS_EVENT (self), FALSE);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), FALSE);

  for (;;)
    {
      gint64 left = longest;

      if (g_cancellable_set_error_if_cancelled (cancellable, error))
        return FALSE;

      if (timeout >= 0)
        left = CLAMP (timeout - (g_get_monotonic_time () - begin), 0, longest);
      if (wait_once (self, value, left))
        return TRUE;

      if (timeout >= 0 && g_get_monotonic_time () - begin >= timeout)
        {
          g_set_error (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT,
                       "The event did not reach %" G_GUINT64_FORMAT " in %" G_GINT64_FORMAT
                       " microseconds: it is at %" G_GUINT64_FORMAT,
                       value, timeout, mtl_event_get_signaled_value (self));
          return FALSE;
        }
    }
}

typedef struct
{
  MtlAsyncCall call;
  guint64 value;
  GTimeSpan timeout;
} Wait;

static gpointer
run_wait (gpointer           self,
          gpointer           call,
          const MtlMonitor  *monitor,
          GError           **error)
{
  const Wait *wait = call;

  return GINT_TO_POINTER (mtl_event_wait (self, wait->value, wait->timeout, monitor->cancellable,
                                          error));
}

/**
 * mtl_event_wait_async:
 * @self: an event
 * @value: a value
 * @timeout: the maximum time to wait in microseconds, or a negative number to
 *   wait without a limit
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called when the operation is done
 * @user_data: data to pass to @callback
 *
 * Waits asynchronously until the event has reached @value or a higher value.
 *
 * See [method@Mtl.Event.wait]. Every wait has a separate thread, so that waits
 * never block the work that they wait for.
 *
 * Since: 1.0
 */
void
mtl_event_wait_async (MtlEvent            *self,
                      guint64              value,
                      GTimeSpan            timeout,
                      GCancellable        *cancellable,
                      GAsyncReadyCallback  callback,
                      gpointer             user_data)
{
  Wait *wait;

  g_return_if_fail (MTL_IS_EVENT (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  /* GTask's threads are few, and the work to wait for may need them. */
  wait = mtl_async_call_new (sizeof *wait, run_wait, NULL, NULL, G_PRIORITY_DEFAULT);
  wait->call.is_alone = TRUE;
  wait->value = value;
  wait->timeout = timeout;
  mtl_async_call_start (wait, self, mtl_event_wait_async, cancellable, callback, user_data);
}

/**
 * mtl_event_wait_finish:
 * @self: an event
 * @result: the result passed to the callback
 * @error: return location for %G_IO_ERROR_TIMED_OUT or %G_IO_ERROR_CANCELLED
 *
 * Finishes a wait started with [method@Mtl.Event.wait_async].
 *
 * Errors:
 *
 * - the errors of [method@Mtl.Event.wait]
 *
 * Returns: whether the value was reached
 *
 * Since: 1.0
 */
gboolean
mtl_event_wait_finish (MtlEvent      *self,
                       GAsyncResult  *result,
                       GError       **error)
{
  return mtl_async_call_finish (self, result, mtl_event_wait_async, error);
}
