/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-event.h"

#include "mtl-error.h"

/**
 * MtlEvent:
 *
 * A number that only grows, and that one can wait for: it puts work in order
 * that is done by different threads, on different command queues, or by
 * different libraries.
 *
 * Who has work done signals a value once it is; who needs the work waits until
 * that value is reached. An event starts at 0.
 *
 * On Metal it is an `id<MTLSharedEvent>`, which
 * [method@Mtl.Event.get_handle] gives: a GPU signals and waits for it by
 * `encodeSignalEvent:value:` and `encodeWaitForEvent:value:`. On the host it
 * orders threads.
 *
 * Since: 1.0
 */

/* How long a wait that can be cancelled is blind to that, in microseconds. */
#define SLICE (20 * G_TIME_SPAN_MILLISECOND)

/* A day: devices count in less than 64 bits. */
#define LONGEST_WAIT G_TIME_SPAN_DAY

struct _MtlEvent
{
  GObject parent_instance;

  MtlDevice *device;
  gpointer handle; /* the device's; NULL where the event is the host's */

  GMutex mutex;
  GCond signaled;
  guint64 value; /* the host's */
};

enum
{
  PROP_0,
  PROP_DEVICE,
  PROP_SIGNALED_VALUE,
  N_PROPS
};

static GParamSpec *props[N_PROPS];

G_DEFINE_FINAL_TYPE (MtlEvent, mtl_event, G_TYPE_OBJECT)

static void
mtl_event_finalize (GObject *object)
{
  MtlEvent *self = MTL_EVENT (object);

  if (self->handle != NULL)
    MTL_DEVICE_GET_CLASS (self->device)->free_event (self->device, self->handle);
  g_clear_object (&self->device);
  g_cond_clear (&self->signaled);
  g_mutex_clear (&self->mutex);

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
mtl_event_class_init (MtlEventClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  const GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  object_class->finalize = mtl_event_finalize;
  object_class->get_property = mtl_event_get_property;

  /**
   * MtlEvent:device: (getter get_device)
   *
   * The device that the event is of.
   *
   * Since: 1.0
   */
  props[PROP_DEVICE] = g_param_spec_object ("device", NULL, NULL, MTL_TYPE_DEVICE, flags);

  /**
   * MtlEvent:signaled-value: (getter get_signaled_value)
   *
   * The value that was reached. It changes without a notification.
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
  self->device = g_object_ref (mtl_device_get_host ());
  g_mutex_init (&self->mutex);
  g_cond_init (&self->signaled);
}

static MtlEvent *
event_new_take_handle (MtlDevice *device,
                       gpointer   handle)
{
  MtlEvent *self = g_object_new (MTL_TYPE_EVENT, NULL);

  g_set_object (&self->device, device);
  self->handle = handle;
  return self;
}

/**
 * mtl_event_new: (constructor)
 * @device: (nullable): a device, %NULL for the default one
 * @error: return location for a [error@Mtl.Error]
 *
 * Makes an event that starts at 0. Devices that have no events of their own
 * get one of the host's.
 *
 * Fails with %MTL_ERROR_DEVICE where the device gives none.
 *
 * Returns: (transfer full): the new event
 *
 * Since: 1.0
 */
MtlEvent *
mtl_event_new (MtlDevice  *device,
               GError    **error)
{
  MtlDeviceClass *klass;
  gpointer handle = NULL;

  g_return_val_if_fail (device == NULL || MTL_IS_DEVICE (device), NULL);

  if (device == NULL)
    device = mtl_device_get_default ();

  klass = MTL_DEVICE_GET_CLASS (device);
  if (klass->new_event != NULL)
    {
      handle = klass->new_event (device, error);
      if (handle == NULL)
        return NULL;
    }

  return event_new_take_handle (device, handle);
}

/**
 * mtl_event_new_for_handle: (skip)
 * @device: a device
 * @handle: what the device calls an event: an `id<MTLSharedEvent>` on Metal
 * @error: return location for a [error@Mtl.Error]
 *
 * Makes an event of one that exists already, which is retained.
 *
 * Fails with %MTL_ERROR_NOT_SUPPORTED where the device has no events, and with
 * %MTL_ERROR_INVALID_ARGUMENT where @handle is none.
 *
 * Returns: (transfer full): the new event
 *
 * Since: 1.0
 */
MtlEvent *
mtl_event_new_for_handle (MtlDevice  *device,
                          gpointer    handle,
                          GError    **error)
{
  MtlDeviceClass *klass;
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
  return kept != NULL ? event_new_take_handle (device, kept) : NULL;
}

/**
 * mtl_event_get_device: (get-property device)
 * @self: an event
 *
 * Gets the device that the event is of.
 *
 * Returns: (transfer none): the device
 *
 * Since: 1.0
 */
MtlDevice *
mtl_event_get_device (MtlEvent *self)
{
  g_return_val_if_fail (MTL_IS_EVENT (self), NULL);

  return self->device;
}

/**
 * mtl_event_get_handle: (skip)
 * @self: an event
 *
 * Gets what the device calls the event: an `id<MTLSharedEvent>` on Metal.
 *
 * Returns: (nullable): the handle, %NULL where the event is the host's
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
 * Gets the value that was reached.
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

  g_mutex_lock (&self->mutex);
  value = self->value;
  g_mutex_unlock (&self->mutex);
  return value;
}

/* Two events may have one handle. */
static void
signal_handle (MtlEvent *self,
               guint64   value)
{
  static GMutex mutex;
  MtlDeviceClass *klass = MTL_DEVICE_GET_CLASS (self->device);

  g_mutex_lock (&mutex);
  if (klass->get_event_value (self->device, self->handle) < value)
    klass->set_event_value (self->device, self->handle, value);
  g_mutex_unlock (&mutex);
}

/**
 * mtl_event_signal:
 * @self: an event
 * @value: a value
 *
 * Says that a value is reached, and wakes those who wait for it or a lower
 * one. The value never goes back: if a higher one was signaled before, that
 * stays. Where a device or another library signals the same event, agree with
 * them on who signals which values.
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

  g_mutex_lock (&self->mutex);
  if (self->value < value)
    {
      self->value = value;
      g_cond_broadcast (&self->signaled);
    }
  g_mutex_unlock (&self->mutex);
}

/* At most so long, whether the value is reached or not. */
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

  g_mutex_lock (&self->mutex);
  while (self->value < value && reached)
    reached = g_cond_wait_until (&self->signaled, &self->mutex, end);
  reached = self->value >= value;
  g_mutex_unlock (&self->mutex);
  return reached;
}

/**
 * mtl_event_wait:
 * @self: an event
 * @value: a value
 * @timeout: how long to wait at most, in microseconds; negative: without an end
 * @cancellable: (nullable): a cancellable
 * @error: return location for %G_IO_ERROR_TIMED_OUT or %G_IO_ERROR_CANCELLED
 *
 * Waits until @value or a higher one is reached.
 *
 * Fails with %G_IO_ERROR_TIMED_OUT where it is not in @timeout, and with
 * %G_IO_ERROR_CANCELLED.
 *
 * Returns: whether it was reached
 *
 * Since: 1.0
 */
gboolean
mtl_event_wait (MtlEvent      *self,
                guint64        value,
                gint64         timeout,
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
  guint64 value;
  gint64 timeout;
} Wait;

static gpointer
wait_thread (gpointer data)
{
  g_autoptr (GTask) task = data;
  const Wait *wait = g_task_get_task_data (task);
  GError *error = NULL;

  if (mtl_event_wait (g_task_get_source_object (task), wait->value, wait->timeout,
                      g_task_get_cancellable (task), &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);

  return NULL;
}

/**
 * mtl_event_wait_async:
 * @self: an event
 * @value: a value
 * @timeout: how long to wait at most, in microseconds; negative: without an end
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called when it is done
 * @user_data: data for @callback
 *
 * Waits as [method@Mtl.Event.wait] does, without blocking the caller, in a
 * thread of its own: however many waits there are, what they wait for goes on.
 *
 * Since: 1.0
 */
void
mtl_event_wait_async (MtlEvent            *self,
                      guint64              value,
                      gint64               timeout,
                      GCancellable        *cancellable,
                      GAsyncReadyCallback  callback,
                      gpointer             user_data)
{
  g_autoptr (GTask) task = NULL;
  GError *error = NULL;
  GThread *thread;
  Wait *wait;

  g_return_if_fail (MTL_IS_EVENT (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  wait = g_new (Wait, 1);
  *wait = (Wait) { value, timeout };
  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, mtl_event_wait_async);
  g_task_set_task_data (task, wait, g_free);

  /* GTask's threads are few, and shared with who signals. */
  thread = g_thread_try_new ("mtl-event-wait", wait_thread, g_object_ref (task), &error);
  if (thread != NULL)
    {
      g_thread_unref (thread);
      return;
    }

  g_task_return_error (task, error);
  g_object_unref (task); /* the thread's */
}

/**
 * mtl_event_wait_finish:
 * @self: an event
 * @result: what the callback was given
 * @error: return location for %G_IO_ERROR_TIMED_OUT or %G_IO_ERROR_CANCELLED
 *
 * Ends what [method@Mtl.Event.wait_async] began.
 *
 * Fails as [method@Mtl.Event.wait] does.
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
  g_return_val_if_fail (MTL_IS_EVENT (self), FALSE);
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}
