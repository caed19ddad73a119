/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-buffer-private.h"

#include "mtl-enum-types.h"
#include "mtl-error.h"

/**
 * MtlBuffer:
 *
 * A stretch of memory: on the host, on a device, or somebody else's.
 *
 * A buffer describes memory and does not change: its size, its device and
 * whether it may be written are fixed when it is made. What is in the memory
 * is for its users to order; the library takes no lock.
 *
 * Views, slices of the buffer, [struct@GLib.Bytes] and exported tensors all
 * keep the memory alive, so that none of them can dangle.
 *
 * Since: 1.0
 */

enum
{
  PROP_0,
  PROP_DEVICE,
  PROP_DEVICE_TYPE,
  PROP_DEVICE_ORDINAL,
  PROP_SIZE,
  PROP_SIZE_KNOWN,
  PROP_STORAGE_MODE,
  PROP_HOST_ACCESSIBLE,
  PROP_DEVICE_ACCESSIBLE,
  PROP_READ_ONLY,
  N_PROPS
};

static GParamSpec *props[N_PROPS];

G_DEFINE_FINAL_TYPE (MtlBuffer, mtl_buffer, G_TYPE_OBJECT)

static void
mtl_buffer_finalize (GObject *object)
{
  MtlBuffer *self = MTL_BUFFER (object);

  g_clear_pointer (&self->memory, mtl_memory_unref);

  G_OBJECT_CLASS (mtl_buffer_parent_class)->finalize (object);
}

static void
mtl_buffer_get_property (GObject    *object,
                         guint       prop_id,
                         GValue     *value,
                         GParamSpec *pspec)
{
  MtlBuffer *self = MTL_BUFFER (object);

  switch (prop_id)
    {
    case PROP_DEVICE:
      g_value_set_object (value, mtl_buffer_get_device (self));
      break;
    case PROP_DEVICE_TYPE:
      g_value_set_enum (value, mtl_buffer_get_device_type (self));
      break;
    case PROP_DEVICE_ORDINAL:
      g_value_set_int (value, mtl_buffer_get_device_ordinal (self));
      break;
    case PROP_SIZE:
      g_value_set_uint64 (value, mtl_buffer_get_size (self));
      break;
    case PROP_SIZE_KNOWN:
      g_value_set_boolean (value, mtl_buffer_is_size_known (self));
      break;
    case PROP_STORAGE_MODE:
      g_value_set_enum (value, mtl_buffer_get_storage_mode (self));
      break;
    case PROP_HOST_ACCESSIBLE:
      g_value_set_boolean (value, mtl_buffer_is_host_accessible (self));
      break;
    case PROP_DEVICE_ACCESSIBLE:
      g_value_set_boolean (value, mtl_buffer_is_device_accessible (self));
      break;
    case PROP_READ_ONLY:
      g_value_set_boolean (value, mtl_buffer_is_read_only (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
mtl_buffer_class_init (MtlBufferClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  const GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  object_class->finalize = mtl_buffer_finalize;
  object_class->get_property = mtl_buffer_get_property;

  /**
   * MtlBuffer:device: (getter get_device)
   *
   * The device that the memory is of.
   *
   * Since: 1.0
   */
  props[PROP_DEVICE] = g_param_spec_object ("device", NULL, NULL, MTL_TYPE_DEVICE, flags);

  /**
   * MtlBuffer:device-type: (getter get_device_type)
   *
   * The kind of that device.
   *
   * Since: 1.0
   */
  props[PROP_DEVICE_TYPE] =
    g_param_spec_enum ("device-type", NULL, NULL,
                       MTL_TYPE_DEVICE_TYPE, MTL_DEVICE_TYPE_UNKNOWN, flags);

  /**
   * MtlBuffer:device-ordinal: (getter get_device_ordinal)
   *
   * The number of that device among those of its kind.
   *
   * Since: 1.0
   */
  props[PROP_DEVICE_ORDINAL] =
    g_param_spec_int ("device-ordinal", NULL, NULL, G_MININT, G_MAXINT, 0, flags);

  /**
   * MtlBuffer:size: (getter get_size)
   *
   * The size in bytes.
   *
   * Since: 1.0
   */
  props[PROP_SIZE] = g_param_spec_uint64 ("size", NULL, NULL, 0, G_MAXUINT64, 0, flags);

  /**
   * MtlBuffer:size-known: (getter is_size_known)
   *
   * Whether the size is that of the memory. Where it is not, as for a tensor
   * on a foreign device, the size is what is known to be there.
   *
   * Since: 1.0
   */
  props[PROP_SIZE_KNOWN] = g_param_spec_boolean ("size-known", NULL, NULL, TRUE, flags);

  /**
   * MtlBuffer:storage-mode: (getter get_storage_mode)
   *
   * Where the memory lives and who can reach it.
   *
   * Since: 1.0
   */
  props[PROP_STORAGE_MODE] =
    g_param_spec_enum ("storage-mode", NULL, NULL,
                       MTL_TYPE_STORAGE_MODE, MTL_STORAGE_MODE_HOST, flags);

  /**
   * MtlBuffer:host-accessible: (getter is_host_accessible)
   *
   * Whether the host can read the memory.
   *
   * Since: 1.0
   */
  props[PROP_HOST_ACCESSIBLE] =
    g_param_spec_boolean ("host-accessible", NULL, NULL, FALSE, flags);

  /**
   * MtlBuffer:device-accessible: (getter is_device_accessible)
   *
   * Whether a device other than the host can read the memory.
   *
   * Since: 1.0
   */
  props[PROP_DEVICE_ACCESSIBLE] =
    g_param_spec_boolean ("device-accessible", NULL, NULL, FALSE, flags);

  /**
   * MtlBuffer:read-only: (getter is_read_only)
   *
   * Whether writes are refused.
   *
   * Since: 1.0
   */
  props[PROP_READ_ONLY] = g_param_spec_boolean ("read-only", NULL, NULL, FALSE, flags);

  g_object_class_install_properties (object_class, N_PROPS, props);
}

static void
mtl_buffer_init (MtlBuffer *self)
{
  self->memory = mtl_memory_get_empty ();
}

static MtlBuffer *
buffer_new_take_memory (MtlMemory *memory,
                        gsize      offset,
                        gsize      size)
{
  MtlBuffer *self = g_object_new (MTL_TYPE_BUFFER, NULL);

  self->memory = memory;
  self->offset = offset;
  self->size = size;
  self->size_known = TRUE;
  return self;
}

/* All of the memory. */
MtlBuffer *
mtl_buffer_new_for_memory (MtlMemory *memory)
{
  MtlBuffer *self;

  if (memory == NULL)
    return NULL;

  self = buffer_new_take_memory (memory, 0, memory->size);
  self->size_known = memory->size_known;
  return self;
}

/* Memory of the host is the host's, whatever the default device. */
static MtlDevice *
device_for_mode (MtlDevice      *device,
                 MtlStorageMode  mode)
{
  if (device != NULL)
    return device;

  return mode == MTL_STORAGE_MODE_HOST ? mtl_device_get_host () : mtl_device_get_default ();
}

/**
 * mtl_buffer_new: (constructor)
 * @device: (nullable): a device; %NULL for the default one, which in storage
 *   mode %MTL_STORAGE_MODE_HOST is the host
 * @size: the size in bytes; may be 0
 * @storage_mode: where the memory is to live
 * @error: return location for a [error@Mtl.Error]
 *
 * Allocates memory, all zeros, aligned to 64 bytes at least.
 *
 * Fails with %MTL_ERROR_NO_MEMORY where it cannot be had, and with
 * %MTL_ERROR_NOT_SUPPORTED where the device has no such storage mode.
 *
 * Returns: (transfer full): the new buffer
 *
 * Since: 1.0
 */
MtlBuffer *
mtl_buffer_new (MtlDevice       *device,
                gsize            size,
                MtlStorageMode   storage_mode,
                GError         **error)
{
  g_return_val_if_fail (device == NULL || MTL_IS_DEVICE (device), NULL);

  return mtl_buffer_new_for_memory (mtl_memory_new (device_for_mode (device, storage_mode),
                                                    size, storage_mode, TRUE, error));
}

/**
 * mtl_buffer_new_uninitialized: (constructor)
 * @device: (nullable): a device; %NULL for the default one, which in storage
 *   mode %MTL_STORAGE_MODE_HOST is the host
 * @size: the size in bytes; may be 0
 * @storage_mode: where the memory is to live
 * @error: return location for a [error@Mtl.Error]
 *
 * Allocates memory as [ctor@Mtl.Buffer.new] does, but leaves in it whatever
 * was there: for callers who write all of it first.
 *
 * Fails as [ctor@Mtl.Buffer.new] does.
 *
 * Returns: (transfer full): the new buffer
 *
 * Since: 1.0
 */
MtlBuffer *
mtl_buffer_new_uninitialized (MtlDevice       *device,
                              gsize            size,
                              MtlStorageMode   storage_mode,
                              GError         **error)
{
  g_return_val_if_fail (device == NULL || MTL_IS_DEVICE (device), NULL);

  return mtl_buffer_new_for_memory (mtl_memory_new (device_for_mode (device, storage_mode),
                                                    size, storage_mode, FALSE, error));
}

/**
 * mtl_buffer_new_from_bytes: (constructor)
 * @device: (nullable): a device, %NULL for the host
 * @bytes: the contents
 * @error: return location for a [error@Mtl.Error]
 *
 * Makes a read-only buffer of @bytes: without a copy where the device can use
 * the memory in place, as the host always can; of a copy elsewhere.
 *
 * Metal shares memory that begins on a page; see
 * [method@Mtl.Device.get_page_size].
 *
 * Fails with %MTL_ERROR_NO_MEMORY where a copy cannot be had.
 *
 * Returns: (transfer full): the new buffer
 *
 * Since: 1.0
 */
MtlBuffer *
mtl_buffer_new_from_bytes (MtlDevice  *device,
                           GBytes     *bytes,
                           GError    **error)
{
  return mtl_buffer_new_from_bytes_with_flags (device, bytes, MTL_BUFFER_FLAGS_NONE, error);
}

/**
 * mtl_buffer_new_from_bytes_with_flags: (constructor)
 * @device: (nullable): a device, %NULL for the host
 * @bytes: the contents
 * @flags: whether a copy may be made; the buffer is read-only in any case
 * @error: return location for a [error@Mtl.Error]
 *
 * Makes a read-only buffer as [ctor@Mtl.Buffer.new_from_bytes] does.
 *
 * Fails with %MTL_ERROR_NEEDS_COPY where the device cannot use the memory in
 * place and a copy is forbidden, and with %MTL_ERROR_NO_MEMORY where a copy
 * cannot be had.
 *
 * Returns: (transfer full): the new buffer
 *
 * Since: 1.0
 */
MtlBuffer *
mtl_buffer_new_from_bytes_with_flags (MtlDevice       *device,
                                      GBytes          *bytes,
                                      MtlBufferFlags   flags,
                                      GError         **error)
{
  gconstpointer data;
  gsize size;

  g_return_val_if_fail (device == NULL || MTL_IS_DEVICE (device), NULL);
  g_return_val_if_fail (bytes != NULL, NULL);

  data = g_bytes_get_data (bytes, &size);
  device = device_for_mode (device, MTL_STORAGE_MODE_HOST);
  return mtl_buffer_new_for_memory (mtl_memory_new_wrapped (device, (gpointer) data, size,
                                                            flags | MTL_BUFFER_FLAGS_READ_ONLY,
                                                            (GDestroyNotify) g_bytes_unref,
                                                            g_bytes_ref (bytes), error));
}

/**
 * mtl_buffer_new_for_data: (skip)
 * @device: (nullable): a device, %NULL for the host
 * @data: (nullable): memory of the host; %NULL only if @size is 0
 * @size: the size in bytes
 * @flags: whether writes are to be refused, and whether a copy may be made
 * @destroy: (nullable): called with @user_data when the memory is no longer
 *   used, from any thread
 * @user_data: what owns @data
 * @error: return location for a [error@Mtl.Error]
 *
 * Makes a buffer of memory that somebody else owns: without a copy where the
 * device can use it in place, as the host always can; of a copy elsewhere, and
 * then @destroy is called at once.
 *
 * Metal shares memory that begins on a page; see
 * [method@Mtl.Device.get_page_size]. Where the last page is not full, the GPU
 * sees what else is in it.
 *
 * @destroy is called exactly once, on failure too. Fails with
 * %MTL_ERROR_OVERFLOW where @size does not fit 63 bits, with
 * %MTL_ERROR_NEEDS_COPY where the device cannot use the memory in place and a
 * copy is forbidden, and with %MTL_ERROR_NO_MEMORY where a copy cannot be had.
 *
 * Returns: (transfer full): the new buffer
 *
 * Since: 1.0
 */
MtlBuffer *
mtl_buffer_new_for_data (MtlDevice       *device,
                         gpointer         data,
                         gsize            size,
                         MtlBufferFlags   flags,
                         GDestroyNotify   destroy,
                         gpointer         user_data,
                         GError         **error)
{
  g_return_val_if_fail (device == NULL || MTL_IS_DEVICE (device), NULL);
  g_return_val_if_fail (data != NULL || size == 0, NULL);

  device = device_for_mode (device, MTL_STORAGE_MODE_HOST);
  return mtl_buffer_new_for_memory (mtl_memory_new_wrapped (device, data, size, flags, destroy,
                                                            user_data, error));
}

/**
 * mtl_buffer_new_for_handle: (skip)
 * @device: a device
 * @handle: what the device calls an allocation: an address on the host, an
 *   `id<MTLBuffer>` on Metal
 * @size: the size in bytes
 * @owner: (nullable): passed to @destroy
 * @destroy: (nullable): called when the memory is no longer used, from any
 *   thread
 * @error: return location for a [error@Mtl.Error]
 *
 * Makes a buffer of an allocation that exists already. An `id<MTLBuffer>` is
 * retained, and released with the last user of the buffer; its storage mode is
 * the buffer's.
 *
 * @destroy is called exactly once, on failure too. Fails with
 * %MTL_ERROR_NOT_SUPPORTED where the device cannot do that or the memory is
 * purgeable, with %MTL_ERROR_INVALID_ARGUMENT where @handle is not an
 * allocation of @device, with %MTL_ERROR_OUT_OF_BOUNDS where it is smaller
 * than @size, and with %MTL_ERROR_OVERFLOW where @size does not fit 63 bits.
 *
 * Returns: (transfer full): the new buffer
 *
 * Since: 1.0
 */
MtlBuffer *
mtl_buffer_new_for_handle (MtlDevice       *device,
                           gpointer         handle,
                           gsize            size,
                           gpointer         owner,
                           GDestroyNotify   destroy,
                           GError         **error)
{
  g_return_val_if_fail (MTL_IS_DEVICE (device), NULL);
  g_return_val_if_fail (handle != NULL, NULL);

  return mtl_buffer_new_for_memory (mtl_memory_new_for_handle (device, handle, size,
                                                               destroy, owner, error));
}

gboolean
mtl_buffer_check_range (MtlBuffer  *self,
                        gsize       offset,
                        gsize       size,
                        GError    **error)
{
  if (offset <= self->size && size <= self->size - offset)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_OUT_OF_BOUNDS,
               "%" G_GSIZE_FORMAT " bytes at offset %" G_GSIZE_FORMAT " leave the buffer of %"
               G_GSIZE_FORMAT " bytes", size, offset, self->size);
  return FALSE;
}

/**
 * mtl_buffer_slice:
 * @self: a buffer
 * @offset: where the slice begins, in bytes
 * @size: its size in bytes
 * @error: return location for a [error@Mtl.Error]
 *
 * Makes a buffer of a part of @self. It shares the memory and keeps it alive.
 *
 * Fails with %MTL_ERROR_OUT_OF_BOUNDS where the part is not within @self.
 *
 * Returns: (transfer full): the slice
 *
 * Since: 1.0
 */
MtlBuffer *
mtl_buffer_slice (MtlBuffer  *self,
                  gsize       offset,
                  gsize       size,
                  GError    **error)
{
  g_return_val_if_fail (MTL_IS_BUFFER (self), NULL);

  if (!mtl_buffer_check_range (self, offset, size, error))
    return NULL;

  return buffer_new_take_memory (mtl_memory_ref (self->memory), self->offset + offset, size);
}
