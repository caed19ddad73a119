/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-device-private.h"

#include "mtl-async-call-private.h"
#include "mtl-enum-types.h"
#include "mtl-error.h"
#include "mtl-fork-private.h"

/**
 * MtlDevice:
 *
 * A device that memory is allocated on: the host, or an accelerator such as a
 * GPU.
 *
 * The host is always available: [func@Mtl.Device.get_host]. Memory imported
 * from another library may belong to a device that this library has no backend
 * for. Such a device has a kind and a number, but no memory can be allocated on
 * it.
 *
 * ```c
 * g_autoptr (GList) devices = mtl_device_list ();
 * MtlDevice *device = mtl_device_get_default ();
 *
 * for (GList *l = devices; l != NULL; l = l->next)
 *   g_print ("%s: up to %" G_GUINT64_FORMAT " bytes at once\n", mtl_device_get_name (l->data),
 *            mtl_device_get_max_buffer_size (l->data));
 *
 * // Private memory is the fastest on a GPU, and the host has none.
 * if (mtl_device_supports_storage_mode (device, MTL_STORAGE_MODE_PRIVATE))
 *   g_print ("%s has private memory\n", mtl_device_get_name (device));
 * ```
 *
 * Since: 1.0
 */

typedef struct
{
  gint32 device_type;
  gint32 device_ordinal;
  char *name;
  char *uuid;
  gboolean host_accessible;
  gboolean unified_memory;
  guint64 max_buffer_size;
  guint64 memory_size;
  guint64 page_size;
  MtlForkLock update;
  GThread *updater; /* atomic: the thread that holds the lock */
  guint n_updates;  /* nested ones of that thread */
} MtlDevicePrivate;

enum
{
  PROP_0,
  PROP_DEVICE_TYPE,
  PROP_ORDINAL,
  PROP_NAME,
  PROP_UUID,
  PROP_HOST_ACCESSIBLE,
  PROP_UNIFIED_MEMORY,
  PROP_MAX_BUFFER_SIZE,
  PROP_MEMORY_SIZE,
  PROP_PAGE_SIZE,
  N_PROPS
};

static GParamSpec *props[N_PROPS];

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (MtlDevice, mtl_device, G_TYPE_OBJECT)

static MtlDevicePrivate *
get_private (MtlDevice *self)
{
  return mtl_device_get_instance_private (self);
}

static void
mtl_device_finalize (GObject *object)
{
  MtlDevicePrivate *priv = get_private (MTL_DEVICE (object));

  mtl_fork_lock_clear (&priv->update);
  g_free (priv->name);
  g_free (priv->uuid);

  G_OBJECT_CLASS (mtl_device_parent_class)->finalize (object);
}

static void
mtl_device_get_property (GObject    *object,
                         guint       prop_id,
                         GValue     *value,
                         GParamSpec *pspec)
{
  MtlDevice *self = MTL_DEVICE (object);

  switch (prop_id)
    {
    case PROP_DEVICE_TYPE:
      g_value_set_enum (value, mtl_device_get_device_type (self));
      break;
    case PROP_ORDINAL:
      g_value_set_int (value, mtl_device_get_ordinal (self));
      break;
    case PROP_NAME:
      g_value_set_string (value, mtl_device_get_name (self));
      break;
    case PROP_UUID:
      g_value_set_string (value, mtl_device_get_uuid (self));
      break;
    case PROP_HOST_ACCESSIBLE:
      g_value_set_boolean (value, mtl_device_is_host_accessible (self));
      break;
    case PROP_UNIFIED_MEMORY:
      g_value_set_boolean (value, mtl_device_has_unified_memory (self));
      break;
    case PROP_MAX_BUFFER_SIZE:
      g_value_set_uint64 (value, mtl_device_get_max_buffer_size (self));
      break;
    case PROP_MEMORY_SIZE:
      g_value_set_uint64 (value, mtl_device_get_memory_size (self));
      break;
    case PROP_PAGE_SIZE:
      g_value_set_uint64 (value, mtl_device_get_page_size (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
mtl_device_set_property (GObject      *object,
                         guint         prop_id,
                         const GValue *value,
                         GParamSpec   *pspec)
{
  MtlDevicePrivate *priv = get_private (MTL_DEVICE (object));

  switch (prop_id)
    {
    case PROP_DEVICE_TYPE:
      priv->device_type = g_value_get_enum (value);
      break;
    case PROP_ORDINAL:
      priv->device_ordinal = g_value_get_int (value);
      break;
    case PROP_NAME:
      priv->name = g_value_dup_string (value);
      if (priv->name == NULL)
        priv->name = g_strdup ("");
      break;
    case PROP_UUID:
      priv->uuid = g_value_dup_string (value);
      break;
    case PROP_HOST_ACCESSIBLE:
      priv->host_accessible = g_value_get_boolean (value);
      break;
    case PROP_UNIFIED_MEMORY:
      priv->unified_memory = g_value_get_boolean (value);
      break;
    case PROP_MAX_BUFFER_SIZE:
      priv->max_buffer_size = g_value_get_uint64 (value);
      break;
    case PROP_MEMORY_SIZE:
      priv->memory_size = g_value_get_uint64 (value);
      break;
    case PROP_PAGE_SIZE:
      priv->page_size = g_value_get_uint64 (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static gboolean
mtl_device_real_supports_storage_mode (MtlDevice      *self,
                                       MtlStorageMode  mode)
{
  return FALSE;
}

static MtlStorageMode
mtl_device_real_get_default_storage_mode (MtlDevice *self)
{
  return MTL_STORAGE_MODE_DEFAULT;
}

static gpointer
mtl_device_real_allocate (MtlDevice       *self,
                          gsize            size,
                          MtlStorageMode   mode,
                          gboolean         zeroed,
                          GError         **error)
{
  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "“%s” cannot allocate %" G_GSIZE_FORMAT " bytes",
               mtl_device_get_name (self), size);
  return NULL;
}

static void
mtl_device_real_free (MtlDevice           *self,
                      gpointer             handle,
                      MtlStorageMode       mode,
                      const MtlDeviceUses *uses)
{
}

static void
mtl_device_real_end_owner (MtlDevice           *self,
                           const MtlDeviceUses *uses,
                           gpointer             owner,
                           GDestroyNotify       destroy)
{
  destroy (owner);
}

static gpointer
mtl_device_real_contents (MtlDevice      *self,
                          gpointer        handle,
                          MtlStorageMode  mode)
{
  return NULL;
}

static gboolean
mtl_device_real_check_export (MtlDevice       *self,
                              gpointer         handle,
                              MtlStorageMode   mode,
                              GError         **error)
{
  return TRUE;
}

static gboolean
mtl_device_real_synchronize (MtlDevice     *self,
                             GCancellable  *cancellable,
                             GError       **error)
{
  return TRUE;
}

static gboolean
mtl_device_real_synchronize_memory (MtlDevice       *self,
                                    gpointer         handle,
                                    MtlStorageMode   mode,
                                    GError         **error)
{
  return mtl_device_synchronize (self, NULL, error);
}

static void
mtl_device_real_did_modify (MtlDevice      *self,
                            gpointer        handle,
                            MtlStorageMode  mode,
                            gsize           offset,
                            gsize           size)
{
}

static void
mtl_device_class_init (MtlDeviceClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  const GParamFlags flags =
    G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS;

  object_class->finalize = mtl_device_finalize;
  object_class->get_property = mtl_device_get_property;
  object_class->set_property = mtl_device_set_property;

  klass->supports_storage_mode = mtl_device_real_supports_storage_mode;
  klass->get_default_storage_mode = mtl_device_real_get_default_storage_mode;
  klass->allocate = mtl_device_real_allocate;
  klass->free = mtl_device_real_free;
  klass->end_owner = mtl_device_real_end_owner;
  klass->contents = mtl_device_real_contents;
  klass->check_export = mtl_device_real_check_export;
  klass->synchronize = mtl_device_real_synchronize;
  klass->synchronize_memory = mtl_device_real_synchronize_memory;
  klass->did_modify = mtl_device_real_did_modify;

  /**
   * MtlDevice:device-type: (getter get_device_type)
   *
   * The kind of device.
   *
   * Since: 1.0
   */
  props[PROP_DEVICE_TYPE] =
    g_param_spec_enum ("device-type", NULL, NULL,
                       MTL_TYPE_DEVICE_TYPE, MTL_DEVICE_TYPE_UNKNOWN, flags);

  /**
   * MtlDevice:ordinal: (getter get_ordinal)
   *
   * The number of the device among those of its kind.
   *
   * Since: 1.0
   */
  props[PROP_ORDINAL] =
    g_param_spec_int ("ordinal", NULL, NULL, G_MININT, G_MAXINT, 0, flags);

  /**
   * MtlDevice:name: (getter get_name)
   *
   * A name to show to people.
   *
   * Since: 1.0
   */
  props[PROP_NAME] =
    g_param_spec_string ("name", NULL, NULL, "", flags);

  /**
   * MtlDevice:uuid: (getter get_uuid)
   *
   * An identifier of the device itself, whatever its ordinal in this process.
   *
   * Since: 1.0
   */
  props[PROP_UUID] =
    g_param_spec_string ("uuid", NULL, NULL, NULL, flags);

  /**
   * MtlDevice:host-accessible: (getter is_host_accessible)
   *
   * Whether the host can read and write all memory of the device.
   *
   * Since: 1.0
   */
  props[PROP_HOST_ACCESSIBLE] =
    g_param_spec_boolean ("host-accessible", NULL, NULL, FALSE, flags);

  /**
   * MtlDevice:unified-memory: (getter has_unified_memory)
   *
   * Whether the device uses the host's memory rather than separate memory.
   *
   * Since: 1.0
   */
  props[PROP_UNIFIED_MEMORY] =
    g_param_spec_boolean ("unified-memory", NULL, NULL, FALSE, flags);

  /**
   * MtlDevice:max-buffer-size: (getter get_max_buffer_size)
   *
   * The maximum size of a buffer, in bytes.
   *
   * Since: 1.0
   */
  props[PROP_MAX_BUFFER_SIZE] =
    g_param_spec_uint64 ("max-buffer-size", NULL, NULL, 0, G_MAXUINT64, 0, flags);

  /**
   * MtlDevice:memory-size: (getter get_memory_size)
   *
   * The size of the device's memory, in bytes, or 0 if it is not known.
   *
   * Since: 1.0
   */
  props[PROP_MEMORY_SIZE] =
    g_param_spec_uint64 ("memory-size", NULL, NULL, 0, G_MAXUINT64, 0, flags);

  /**
   * MtlDevice:page-size: (getter get_page_size)
   *
   * The alignment that the device needs to use host memory without a copy, in
   * bytes.
   *
   * Since: 1.0
   */
  props[PROP_PAGE_SIZE] =
    g_param_spec_uint64 ("page-size", NULL, NULL, 0, G_MAXUINT64, 0, flags);

  g_object_class_install_properties (object_class, N_PROPS, props);
}

static void
mtl_device_init (MtlDevice *self)
{
}

void
mtl_device_begin_update (MtlDevice *self)
{
  MtlDevicePrivate *priv = get_private (self);

  if (g_atomic_pointer_get (&priv->updater) != g_thread_self ())
    {
      mtl_fork_lock (&priv->update);
      g_atomic_pointer_set (&priv->updater, g_thread_self ());
      priv->n_updates = 0;
    }
  priv->n_updates++;
}

void
mtl_device_end_update (MtlDevice *self)
{
  MtlDevicePrivate *priv = get_private (self);

  if (--priv->n_updates > 0)
    return;

  g_atomic_pointer_set (&priv->updater, NULL);
  mtl_fork_unlock (&priv->update);
}

/* Other libraries may use numbers that the enumeration lacks. */
MtlDeviceType
mtl_device_type_from_number (gint32 number)
{
  if ((number >= MTL_DEVICE_TYPE_CPU && number <= MTL_DEVICE_TYPE_OPENCL)
      || (number >= MTL_DEVICE_TYPE_VULKAN && number <= MTL_DEVICE_TYPE_TRN))
    return number;

  return MTL_DEVICE_TYPE_UNKNOWN;
}

/**
 * mtl_device_get_device_type: (get-property device-type)
 * @self: a device
 *
 * Gets the kind of device.
 *
 * Returns: the kind
 *
 * Since: 1.0
 */
MtlDeviceType
mtl_device_get_device_type (MtlDevice *self)
{
  g_return_val_if_fail (MTL_IS_DEVICE (self), MTL_DEVICE_TYPE_UNKNOWN);

  return get_private (self)->device_type;
}

/**
 * mtl_device_get_ordinal: (get-property ordinal)
 * @self: a device
 *
 * Gets the number of the device among those of its kind.
 *
 * Returns: the number
 *
 * Since: 1.0
 */
int
mtl_device_get_ordinal (MtlDevice *self)
{
  g_return_val_if_fail (MTL_IS_DEVICE (self), 0);

  return get_private (self)->device_ordinal;
}

/**
 * mtl_device_get_name: (get-property name)
 * @self: a device
 *
 * Gets a name to show to people.
 *
 * Returns: (transfer none): the name
 *
 * Since: 1.0
 */
const char *
mtl_device_get_name (MtlDevice *self)
{
  g_return_val_if_fail (MTL_IS_DEVICE (self), NULL);

  return get_private (self)->name;
}

/**
 * mtl_device_get_uuid: (get-property uuid)
 * @self: a device
 *
 * Gets an identifier of the device itself.
 *
 * The ordinals of CUDA's devices depend on the environment. The identifier is
 * the one that NVIDIA's tools print, such as
 * `GPU-6c1b6a9e-5a0b-8b0a-1f3c-2d4e5f607182`.
 *
 * Returns: (transfer none) (nullable): the identifier, or %NULL if there is none
 *
 * Since: 1.0
 */
const char *
mtl_device_get_uuid (MtlDevice *self)
{
  g_return_val_if_fail (MTL_IS_DEVICE (self), NULL);

  return get_private (self)->uuid;
}

/**
 * mtl_device_is_host_accessible: (get-property host-accessible)
 * @self: a device
 *
 * Checks whether the host can read and write all memory of the device.
 *
 * Returns: whether the host can access the memory
 *
 * Since: 1.0
 */
gboolean
mtl_device_is_host_accessible (MtlDevice *self)
{
  g_return_val_if_fail (MTL_IS_DEVICE (self), FALSE);

  return get_private (self)->host_accessible;
}

/**
 * mtl_device_has_unified_memory: (get-property unified-memory)
 * @self: a device
 *
 * Checks whether the device uses the host's memory rather than separate memory.
 *
 * The host itself and the GPUs of Apple silicon do.
 *
 * Returns: whether the device uses the host's memory
 *
 * Since: 1.0
 */
gboolean
mtl_device_has_unified_memory (MtlDevice *self)
{
  g_return_val_if_fail (MTL_IS_DEVICE (self), FALSE);

  return get_private (self)->unified_memory;
}

/**
 * mtl_device_get_max_buffer_size: (get-property max-buffer-size)
 * @self: a device
 *
 * Gets the maximum size of a buffer on the device.
 *
 * Returns: the size in bytes
 *
 * Since: 1.0
 */
guint64
mtl_device_get_max_buffer_size (MtlDevice *self)
{
  g_return_val_if_fail (MTL_IS_DEVICE (self), 0);

  return get_private (self)->max_buffer_size;
}

/**
 * mtl_device_get_memory_size: (get-property memory-size)
 * @self: a device
 *
 * Gets the size of the device's memory.
 *
 * Returns: the size in bytes, or 0 if it is not known
 *
 * Since: 1.0
 */
guint64
mtl_device_get_memory_size (MtlDevice *self)
{
  g_return_val_if_fail (MTL_IS_DEVICE (self), 0);

  return get_private (self)->memory_size;
}

/**
 * mtl_device_get_page_size: (get-property page-size)
 * @self: a device
 *
 * Gets the alignment that the device needs to use host memory without a copy.
 *
 * Returns: the alignment in bytes
 *
 * Since: 1.0
 */
guint64
mtl_device_get_page_size (MtlDevice *self)
{
  g_return_val_if_fail (MTL_IS_DEVICE (self), 0);

  return get_private (self)->page_size;
}

MtlStorageMode
mtl_device_resolve_storage_mode (MtlDevice      *self,
                                 MtlStorageMode  mode)
{
  return mode != MTL_STORAGE_MODE_DEFAULT ? mode
                                          : MTL_DEVICE_GET_CLASS (self)
                                              ->get_default_storage_mode (self);
}

void
mtl_device_uses_add (MtlDeviceUses *self,
                     gpointer       context,
                     guint64        stream)
{
  MtlStreamUse *first = g_atomic_pointer_get (&self->streams);
  MtlStreamUse *use;

  for (use = first; use != NULL; use = use->next)
    if (use->stream == stream && use->context == context)
      return;

  use = g_new (MtlStreamUse, 1);
  do
    *use = (MtlStreamUse) { context, stream, first };
  while (!g_atomic_pointer_compare_and_exchange_full (&self->streams, first, use, &first));
}

void
mtl_device_uses_clear (MtlDeviceUses *self)
{
  while (self->streams != NULL)
    {
      MtlStreamUse *use = g_steal_pointer (&self->streams);

      self->streams = use->next;
      g_free (use);
    }
}

/**
 * mtl_device_supports_storage_mode:
 * @self: a device
 * @mode: a storage mode
 *
 * Checks whether buffers with a storage mode can be allocated on the device.
 *
 * %MTL_STORAGE_MODE_DEFAULT is supported if any other is.
 *
 * Returns: whether @mode is supported
 *
 * Since: 1.0
 */
gboolean
mtl_device_supports_storage_mode (MtlDevice      *self,
                                  MtlStorageMode  mode)
{
  g_return_val_if_fail (MTL_IS_DEVICE (self), FALSE);

  mode = mtl_device_resolve_storage_mode (self, mode);
  return mode != MTL_STORAGE_MODE_DEFAULT
         && MTL_DEVICE_GET_CLASS (self)->supports_storage_mode (self, mode);
}

/**
 * mtl_device_synchronize:
 * @self: a device
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Waits until the device has finished all work submitted through this library.
 *
 * Use a [class@Mtl.Event] to wait for other work, for example on the program's
 * own command queues. On the host there is nothing to wait for, so this returns
 * at once.
 *
 * Errors:
 *
 * - %MTL_ERROR_DEVICE: the device failed
 * - %MTL_ERROR_NO_MEMORY: the device ran out of memory
 * - %MTL_ERROR_NOT_SUPPORTED: this library has no backend for the device, or it
 *   cannot be used in this process
 * - %G_IO_ERROR_CANCELLED: the operation was cancelled
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_device_synchronize (MtlDevice     *self,
                        GCancellable  *cancellable,
                        GError       **error)
{
  g_return_val_if_fail (MTL_IS_DEVICE (self), FALSE);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), FALSE);

  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;

  return MTL_DEVICE_GET_CLASS (self)->synchronize (self, cancellable, error);
}

static void
synchronize_thread (GTask        *task,
                    gpointer      source_object,
                    gpointer      task_data,
                    GCancellable *cancellable)
{
  GError *error = NULL;

  if (mtl_device_synchronize (source_object, cancellable, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

/**
 * mtl_device_synchronize_async:
 * @self: a device
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called when the operation is done
 * @user_data: data to pass to @callback
 *
 * Waits asynchronously until the device has finished all work.
 *
 * See [method@Mtl.Device.synchronize]. If @cancellable is cancelled, @callback
 * is called soon, and the device continues its work.
 *
 * Since: 1.0
 */
void
mtl_device_synchronize_async (MtlDevice           *self,
                              GCancellable        *cancellable,
                              GAsyncReadyCallback  callback,
                              gpointer             user_data)
{
  g_autoptr (GTask) task = NULL;

  g_return_if_fail (MTL_IS_DEVICE (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, mtl_device_synchronize_async);
  if (g_task_return_error_if_cancelled (task))
    return;

  g_task_set_return_on_cancel (task, TRUE);
  mtl_task_run (task, synchronize_thread);
}

/**
 * mtl_device_synchronize_finish:
 * @self: a device
 * @result: the result passed to the callback
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Finishes an operation started with [method@Mtl.Device.synchronize_async].
 *
 * Errors:
 *
 * - the errors of [method@Mtl.Device.synchronize]
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_device_synchronize_finish (MtlDevice     *self,
                               GAsyncResult  *result,
                               GError       **error)
{
  return mtl_async_call_finish (self, result, mtl_device_synchronize_async, error);
}
