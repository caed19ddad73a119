/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-buffer-private.h"

#include "mtl-device-private.h"
#include "mtl-enum-types.h"
#include "mtl-error.h"
#include "mtl-file-source-private.h"

/**
 * MtlBuffer:
 *
 * A block of memory on the host or on a device.
 *
 * The memory is allocated by the library or belongs to another owner.
 *
 * A buffer is immutable: its size, its device and whether it is writable are
 * fixed when it is created. The contents of the memory can change. The library
 * does not lock the memory, so its users have to coordinate access to it.
 *
 * Views, slices, [struct@GLib.Bytes] and exported tensors keep the memory of a
 * buffer alive.
 *
 * g_initable_new() with a size creates a buffer of zeros, as
 * [ctor@Mtl.Buffer.new] does. A buffer that was not initialized has no bytes, and
 * is on the host.
 *
 * ```c
 * g_autoptr (MtlBuffer) buffer = mtl_buffer_new (NULL, 1024, MTL_STORAGE_MODE_HOST, error);
 * g_autoptr (MtlBuffer) end = NULL;
 * guint8 *bytes;
 *
 * if (buffer == NULL)
 *   return FALSE;
 *
 * bytes = mtl_buffer_get_contents (buffer);
 * bytes[1023] = 7;
 *
 * // A slice shares the memory and keeps it alive.
 * end = mtl_buffer_slice (buffer, 1000, 24, error);
 * if (end == NULL)
 *   return FALSE;
 *
 * g_assert_cmpint (((guint8 *) mtl_buffer_get_contents (end))[23], ==, 7);
 * ```
 *
 * Since: 1.0
 */

enum
{
  PROP_0,
  PROP_DEVICE,
  PROP_SIZE,
  PROP_SIZE_KNOWN,
  PROP_STORAGE_MODE,
  PROP_HOST_ACCESSIBLE,
  PROP_DEVICE_ACCESSIBLE,
  PROP_READ_ONLY,
  PROP_INTERPROCESS,
  N_PROPS
};

static GParamSpec *props[N_PROPS];

static void initable_iface_init (GInitableIface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE (MtlBuffer, mtl_buffer, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_INITABLE, initable_iface_init))

static void
clear_request (MtlBuffer *self)
{
  if (self->request != NULL)
    g_clear_object (&self->request->device);
  g_clear_pointer (&self->request, g_free);
}

static void
mtl_buffer_finalize (GObject *object)
{
  MtlBuffer *self = MTL_BUFFER (object);

  clear_request (self);
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
    case PROP_INTERPROCESS:
      g_value_set_boolean (value, mtl_buffer_is_interprocess (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static gboolean
is_initialized (MtlBuffer *self)
{
  return self->memory != mtl_memory_get_empty ();
}

static void
mtl_buffer_set_property (GObject      *object,
                         guint         prop_id,
                         const GValue *value,
                         GParamSpec   *pspec)
{
  MtlBuffer *self = MTL_BUFFER (object);

  g_return_if_fail (!is_initialized (self));

  if (self->request == NULL)
    self->request = g_new0 (MtlBufferRequest, 1);

  switch (prop_id)
    {
    case PROP_DEVICE:
      g_set_object (&self->request->device, g_value_get_object (value));
      break;
    case PROP_SIZE:
      self->request->size = g_value_get_uint64 (value);
      break;
    case PROP_STORAGE_MODE:
      self->request->storage_mode = g_value_get_enum (value);
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
  /* Properties for the construction alone would be set for every buffer, which doubles the
   * time that a small one takes. */
  const GParamFlags requested = flags | G_PARAM_WRITABLE | G_PARAM_EXPLICIT_NOTIFY;

  object_class->finalize = mtl_buffer_finalize;
  object_class->get_property = mtl_buffer_get_property;
  object_class->set_property = mtl_buffer_set_property;

  /**
   * MtlBuffer:device: (getter get_device)
   *
   * The device that the memory belongs to.
   *
   * It is set before [method@Gio.Initable.init], and never changes after that.
   * If it is not set, it is chosen as by [ctor@Mtl.Buffer.new].
   *
   * Since: 1.0
   */
  props[PROP_DEVICE] = g_param_spec_object ("device", NULL, NULL, MTL_TYPE_DEVICE, requested);

  /**
   * MtlBuffer:size: (getter get_size)
   *
   * The size in bytes.
   *
   * It is set before [method@Gio.Initable.init], and never changes after that.
   *
   * Since: 1.0
   */
  props[PROP_SIZE] = g_param_spec_uint64 ("size", NULL, NULL, 0, G_MAXUINT64, 0, requested);

  /**
   * MtlBuffer:size-known: (getter is_size_known)
   *
   * Whether the size of the memory is known.
   *
   * If it is not, as for a tensor on a foreign device,
   * [property@Mtl.Buffer:size] is the size of the part that is known to exist.
   *
   * Since: 1.0
   */
  props[PROP_SIZE_KNOWN] = g_param_spec_boolean ("size-known", NULL, NULL, TRUE, flags);

  /**
   * MtlBuffer:storage-mode: (getter get_storage_mode)
   *
   * Where the memory is, and whether the host and the device can access it.
   *
   * It is set before [method@Gio.Initable.init], may be
   * %MTL_STORAGE_MODE_DEFAULT until then, and never changes after that.
   *
   * Since: 1.0
   */
  props[PROP_STORAGE_MODE] =
    g_param_spec_enum ("storage-mode", NULL, NULL,
                       MTL_TYPE_STORAGE_MODE, MTL_STORAGE_MODE_DEFAULT, requested);

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

  /**
   * MtlBuffer:interprocess: (getter is_interprocess)
   *
   * %TRUE if other processes can map the memory.
   *
   * Since: 1.0
   */
  props[PROP_INTERPROCESS] = g_param_spec_boolean ("interprocess", NULL, NULL, FALSE, flags);

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

/* Takes the memory and covers all of it. Returns NULL if the memory is NULL. */
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

static gboolean
mtl_buffer_initable_init (GInitable     *initable,
                          GCancellable  *cancellable,
                          GError       **error)
{
  MtlBuffer *self = MTL_BUFFER (initable);
  const MtlBufferRequest nothing = { 0 };
  const MtlBufferRequest *request = self->request != NULL ? self->request : &nothing;
  MtlMemory *memory;

  if (is_initialized (self))
    return TRUE;

  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;

  memory = mtl_memory_new (request->device, request->size, request->storage_mode, TRUE, error);
  if (memory == NULL)
    return FALSE;

  self->memory = memory;
  self->size = memory->size;
  self->size_known = TRUE;
  clear_request (self);
  return TRUE;
}

static void
initable_iface_init (GInitableIface *iface)
{
  iface->init = mtl_buffer_initable_init;
}

/**
 * mtl_buffer_new: (constructor)
 * @device: (nullable): a device, or %NULL for the default device, or for the
 *   host if @storage_mode is %MTL_STORAGE_MODE_HOST
 * @size: the size in bytes, may be 0
 * @storage_mode: the storage mode of the memory, may be
 *   %MTL_STORAGE_MODE_DEFAULT
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a buffer filled with zeros.
 *
 * The memory is aligned to at least 64 bytes.
 *
 * Errors:
 *
 * - %MTL_ERROR_NO_MEMORY: the memory cannot be allocated
 * - %MTL_ERROR_NOT_SUPPORTED: the device does not support @storage_mode
 * - %MTL_ERROR_DEVICE: the device failed to clear the memory
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

  return mtl_buffer_new_for_memory (mtl_memory_new (device, size, storage_mode, TRUE, error));
}

/**
 * mtl_buffer_new_uninitialized: (constructor)
 * @device: (nullable): a device, or %NULL for the default device, or for the
 *   host if @storage_mode is %MTL_STORAGE_MODE_HOST
 * @size: the size in bytes, may be 0
 * @storage_mode: the storage mode of the memory, may be
 *   %MTL_STORAGE_MODE_DEFAULT
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a buffer without initializing its contents.
 *
 * This is like [ctor@Mtl.Buffer.new] without the zeros, for callers that
 * overwrite the whole memory.
 *
 * Errors:
 *
 * - the errors of [ctor@Mtl.Buffer.new]
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

  return mtl_buffer_new_for_memory (mtl_memory_new (device, size, storage_mode, FALSE, error));
}

/**
 * mtl_buffer_new_from_bytes: (constructor)
 * @bytes: the contents
 * @device: (nullable): a device, or %NULL for the host
 * @flags: flags that may forbid a copy; the buffer is always read-only
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a read-only buffer for @bytes.
 *
 * If the device can use the memory in place, as the host always can, nothing is
 * copied. Otherwise the buffer has a copy. Metal can use memory that begins at
 * a page boundary, see [method@Mtl.Device.get_page_size].
 *
 * Errors:
 *
 * - %MTL_ERROR_NEEDS_COPY: the device cannot use the memory in place, and
 *   @flags forbid a copy
 * - %MTL_ERROR_NO_MEMORY: the memory for the copy cannot be allocated
 *
 * Returns: (transfer full): the new buffer
 *
 * Since: 1.0
 */
MtlBuffer *
mtl_buffer_new_from_bytes (GBytes          *bytes,
                           MtlDevice       *device,
                           MtlBufferFlags   flags,
                           GError         **error)
{
  gconstpointer data;
  gsize size;

  g_return_val_if_fail (bytes != NULL, NULL);
  g_return_val_if_fail (device == NULL || MTL_IS_DEVICE (device), NULL);

  data = g_bytes_get_data (bytes, &size);
  return mtl_buffer_new_for_data ((gpointer) data, size, device, flags | MTL_BUFFER_FLAGS_READ_ONLY,
                                  (GDestroyNotify) g_bytes_unref, g_bytes_ref (bytes), error);
}

/**
 * mtl_buffer_new_for_data: (skip)
 * @data: (nullable): host memory; may only be %NULL if @size is 0
 * @size: the size in bytes
 * @device: (nullable): a device, or %NULL for the host
 * @flags: whether the buffer is read-only, and whether a copy is forbidden
 * @destroy: (nullable): called when the memory is no longer used, on any thread
 * @user_data: (nullable): data to pass to @destroy
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a buffer for existing host memory.
 *
 * If the device can use the memory in place, as the host always can, nothing is
 * copied. Otherwise the buffer has a copy, and @destroy is called at once.
 *
 * Metal can use memory that begins at a page boundary, see
 * [method@Mtl.Device.get_page_size]. If the memory does not fill its last page,
 * the GPU can see the rest of that page.
 *
 * @destroy is called exactly once, even on failure.
 *
 * Errors:
 *
 * - %MTL_ERROR_OVERFLOW: @size does not fit in 63 bits, or the memory would leave
 *   the address space, as at the `MAP_FAILED` of a failed `mmap()`
 * - %MTL_ERROR_NEEDS_COPY: the device cannot use the memory in place, and
 *   @flags forbid a copy
 * - %MTL_ERROR_NO_MEMORY: the memory for the copy cannot be allocated
 *
 * Returns: (transfer full): the new buffer
 *
 * Since: 1.0
 */
MtlBuffer *
mtl_buffer_new_for_data (gpointer         data,
                         gsize            size,
                         MtlDevice       *device,
                         MtlBufferFlags   flags,
                         GDestroyNotify   destroy,
                         gpointer         user_data,
                         GError         **error)
{
  g_return_val_if_fail (data != NULL || size == 0, NULL);
  g_return_val_if_fail (device == NULL || MTL_IS_DEVICE (device), NULL);

  if (device == NULL)
    device = mtl_device_get_host ();
  return mtl_buffer_new_for_memory (mtl_memory_new_wrapped (device, data, size, flags, user_data,
                                                            destroy, error));
}

/**
 * mtl_buffer_new_for_handle: (skip)
 * @handle: the device's handle for an allocation: an address on the host, an
 *   address in memory of CUDA, an `id<MTLBuffer>` on Metal
 * @size: the size in bytes
 * @device: the device
 * @destroy: (nullable): called when the memory is no longer used, on any thread
 * @user_data: (nullable): data to pass to @destroy
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a buffer for an existing allocation of a device.
 *
 * An `id<MTLBuffer>` is retained, and released when the memory is no longer
 * used. The buffer has its storage mode.
 *
 * The driver knows the storage mode of an address of CUDA. The memory must exist
 * until @destroy is called, which is when the library's work and that of the
 * streams that it was exported for are done.
 *
 * @destroy is called exactly once, even on failure.
 *
 * Errors:
 *
 * - %MTL_ERROR_NOT_SUPPORTED: the device cannot use existing allocations, the
 *   memory is purgeable, or the device cannot be used in this process
 * - %MTL_ERROR_INVALID_ARGUMENT: @handle is not an allocation of @device
 * - %MTL_ERROR_OUT_OF_BOUNDS: the allocation is smaller than @size
 * - %MTL_ERROR_DEVICE: the device failed
 * - %MTL_ERROR_OVERFLOW: @size does not fit in 63 bits, or the allocation would
 *   leave the address space
 *
 * Returns: (transfer full): the new buffer
 *
 * Since: 1.0
 */
MtlBuffer *
mtl_buffer_new_for_handle (gpointer         handle,
                           gsize            size,
                           MtlDevice       *device,
                           GDestroyNotify   destroy,
                           gpointer         user_data,
                           GError         **error)
{
  g_return_val_if_fail (handle != NULL, NULL);
  g_return_val_if_fail (MTL_IS_DEVICE (device), NULL);

  return mtl_buffer_new_for_memory (mtl_memory_new_for_handle (device, handle, size,
                                                               user_data, destroy, error));
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
               "%" G_GSIZE_FORMAT " bytes at offset %" G_GSIZE_FORMAT " exceed the buffer of"
               " %" G_GSIZE_FORMAT " bytes", size, offset, self->size);
  return FALSE;
}

/**
 * mtl_buffer_slice:
 * @self: a buffer
 * @offset: the offset of the slice in @self, in bytes
 * @size: the size of the slice in bytes
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a buffer for a part of @self.
 *
 * The slice shares the memory and keeps it alive.
 *
 * Errors:
 *
 * - %MTL_ERROR_OUT_OF_BOUNDS: the slice is not within @self
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

/**
 * mtl_buffer_get_device: (get-property device)
 * @self: a buffer
 *
 * Gets the device that the memory belongs to.
 *
 * Returns: (transfer none): the device
 *
 * Since: 1.0
 */
MtlDevice *
mtl_buffer_get_device (MtlBuffer *self)
{
  g_return_val_if_fail (MTL_IS_BUFFER (self), NULL);

  return mtl_memory_get_device (self->memory);
}

/**
 * mtl_buffer_get_size: (get-property size)
 * @self: a buffer
 *
 * Gets the size of the buffer.
 *
 * See also [method@Mtl.Buffer.is_size_known].
 *
 * Returns: the size in bytes
 *
 * Since: 1.0
 */
gsize
mtl_buffer_get_size (MtlBuffer *self)
{
  g_return_val_if_fail (MTL_IS_BUFFER (self), 0);

  return self->size;
}

/**
 * mtl_buffer_is_size_known: (get-property size-known)
 * @self: a buffer
 *
 * Checks whether the size of the memory is known.
 *
 * If it is not, as for a tensor on a foreign device,
 * [method@Mtl.Buffer.get_size] returns the size of the part that is known to
 * exist.
 *
 * Returns: whether the size is known
 *
 * Since: 1.0
 */
gboolean
mtl_buffer_is_size_known (MtlBuffer *self)
{
  g_return_val_if_fail (MTL_IS_BUFFER (self), FALSE);

  return self->size_known;
}

/**
 * mtl_buffer_get_storage_mode: (get-property storage-mode)
 * @self: a buffer
 *
 * Gets where the memory is, and whether the host and the device can access it.
 *
 * Returns: the storage mode
 *
 * Since: 1.0
 */
MtlStorageMode
mtl_buffer_get_storage_mode (MtlBuffer *self)
{
  g_return_val_if_fail (MTL_IS_BUFFER (self), MTL_STORAGE_MODE_HOST);

  return self->memory->storage_mode;
}

/**
 * mtl_buffer_is_host_accessible: (get-property host-accessible)
 * @self: a buffer
 *
 * Checks whether the host can read the memory.
 *
 * Returns: whether the host can read the memory
 *
 * Since: 1.0
 */
gboolean
mtl_buffer_is_host_accessible (MtlBuffer *self)
{
  g_return_val_if_fail (MTL_IS_BUFFER (self), FALSE);

  return mtl_memory_is_host_accessible (self->memory);
}

/**
 * mtl_buffer_is_device_accessible: (get-property device-accessible)
 * @self: a buffer
 *
 * Checks whether a device other than the host can read the memory.
 *
 * Returns: whether another device can read the memory
 *
 * Since: 1.0
 */
gboolean
mtl_buffer_is_device_accessible (MtlBuffer *self)
{
  g_return_val_if_fail (MTL_IS_BUFFER (self), FALSE);

  return self->memory->storage_mode != MTL_STORAGE_MODE_HOST;
}

/**
 * mtl_buffer_is_read_only: (get-property read-only)
 * @self: a buffer
 *
 * Checks whether writes are refused.
 *
 * Returns: whether the buffer is read-only
 *
 * Since: 1.0
 */
gboolean
mtl_buffer_is_read_only (MtlBuffer *self)
{
  g_return_val_if_fail (MTL_IS_BUFFER (self), TRUE);

  return self->memory->read_only;
}

/**
 * mtl_buffer_is_interprocess: (get-property interprocess)
 * @self: a buffer
 *
 * Checks whether other processes can map the memory.
 *
 * This is memory that was allocated with %MTL_STORAGE_MODE_INTERPROCESS, or that
 * another process handed over.
 *
 * Returns: whether [method@Mtl.Buffer.dup_fd] returns a descriptor
 *
 * Since: 1.0
 */
gboolean
mtl_buffer_is_interprocess (MtlBuffer *self)
{
  g_return_val_if_fail (MTL_IS_BUFFER (self), FALSE);

  return mtl_memory_get_shared_pages (self->memory) != NULL;
}

/**
 * mtl_buffer_equal:
 * @self: a buffer
 * @other: another buffer
 *
 * Checks whether two buffers describe the same bytes of the same memory.
 *
 * The contents of the memory are not compared.
 *
 * Returns: whether the buffers are equal
 *
 * Since: 1.0
 */
gboolean
mtl_buffer_equal (MtlBuffer *self,
                  MtlBuffer *other)
{
  g_return_val_if_fail (MTL_IS_BUFFER (self), FALSE);
  g_return_val_if_fail (MTL_IS_BUFFER (other), FALSE);

  return self->memory == other->memory && self->offset == other->offset
         && self->size == other->size;
}

/**
 * mtl_buffer_hash:
 * @self: a buffer
 *
 * Gets a hash value that is the same for equal buffers.
 *
 * See [method@Mtl.Buffer.equal].
 *
 * Returns: the hash value
 *
 * Since: 1.0
 */
guint
mtl_buffer_hash (MtlBuffer *self)
{
  g_return_val_if_fail (MTL_IS_BUFFER (self), 0);

  return g_direct_hash (self->memory) ^ (guint) self->offset * 31 ^ (guint) self->size;
}

/**
 * mtl_buffer_get_contents: (skip)
 * @self: a buffer
 *
 * Gets the host address of the first byte.
 *
 * The address is valid as long as the buffer exists.
 *
 * Returns: (nullable): the address, or %NULL if the host cannot access the
 *   memory; it may also be %NULL if the size is 0
 *
 * Since: 1.0
 */
gpointer
mtl_buffer_get_contents (MtlBuffer *self)
{
  g_return_val_if_fail (MTL_IS_BUFFER (self), NULL);

  mtl_memory_begin_access (self->memory, NULL);
  return self->memory->contents != NULL ? self->memory->contents + self->offset : NULL;
}

/**
 * mtl_buffer_get_handle: (skip)
 * @self: a buffer
 *
 * Gets the device's handle for the allocation that contains the buffer.
 *
 * The handle is an address on the host and on CUDA, and an `id<MTLBuffer>` on
 * Metal. The buffer begins at [method@Mtl.Buffer.get_byte_offset] within the allocation.
 *
 * Returns: (nullable): the handle
 *
 * Since: 1.0
 */
gpointer
mtl_buffer_get_handle (MtlBuffer *self)
{
  g_return_val_if_fail (MTL_IS_BUFFER (self), NULL);

  return self->memory->handle;
}

/**
 * mtl_buffer_get_byte_offset:
 * @self: a buffer
 *
 * Gets the offset of the buffer within the allocation that contains it.
 *
 * Returns: the offset in bytes
 *
 * Since: 1.0
 */
gsize
mtl_buffer_get_byte_offset (MtlBuffer *self)
{
  g_return_val_if_fail (MTL_IS_BUFFER (self), 0);

  return self->offset;
}

/* Buffers of ranges of files. */

static MtlBuffer *
new_empty (MtlDevice  *device,
           GError    **error)
{
  return mtl_buffer_new_for_memory (mtl_memory_new_wrapped (device, NULL, 0,
                                                            MTL_BUFFER_FLAGS_READ_ONLY, NULL,
                                                            NULL, error));
}

/**
 * mtl_buffer_new_mapped: (constructor)
 * @file: a file on a disk
 * @device: (nullable): a device, or %NULL for the host
 * @offset: the offset of the range in the file, in bytes; any number is allowed
 * @size: the size of the range in bytes, may be 0
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Creates a read-only buffer for a range of a file, without reading it.
 *
 * The file is mapped: the system reads a page when its bytes are first used,
 * and drops it when memory is short. On Metal the GPU uses the same pages.
 *
 * The file is closed at once. It may then be renamed, removed, or replaced by
 * another file, for example with [method@Gio.File.replace_contents].
 *
 * **The file must not be truncated or written to** while the buffer, or anything
 * created from it, exists. Writes to the file become visible in the buffer.
 * Reading a part that was cut off ends the process with `SIGBUS`, and the
 * library cannot prevent this. If other programs may change the file, read it
 * instead of mapping it. Do the same on network file systems, which may answer
 * a page fault late or never.
 *
 * Errors:
 *
 * - %G_IO_ERROR_IS_DIRECTORY: @file is a directory
 * - %G_IO_ERROR_NOT_REGULAR_FILE: @file is a pipe, a socket or a device, or has
 *   no size, like the files in `/proc`
 * - %G_IO_ERROR_NOT_SUPPORTED: @file has no path on this machine
 * - another [error@Gio.IOErrorEnum]: @file cannot be opened or mapped
 * - %G_IO_ERROR_CANCELLED: the operation was cancelled
 * - %MTL_ERROR_OUT_OF_BOUNDS: the range is not within the file
 * - %MTL_ERROR_OVERFLOW: @size is larger than the address space
 * - %MTL_ERROR_NO_MEMORY: there is no memory or no room among the addresses
 * - %MTL_ERROR_INVALID_DATA: the file changes during the call
 * - %MTL_ERROR_NEEDS_COPY: @device cannot use the pages in place, or not as
 *   many, see [method@Mtl.Device.get_max_buffer_size]
 *
 * Returns: (transfer full): the new buffer
 *
 * Since: 1.0
 */
MtlBuffer *
mtl_buffer_new_mapped (GFile         *file,
                       MtlDevice     *device,
                       guint64        offset,
                       gsize          size,
                       GCancellable  *cancellable,
                       GError       **error)
{
  g_autoptr (MtlFileSource) source = NULL;
  g_autoptr (MtlBuffer) all = NULL;
  MtlFileMapping *mapping;
  gsize begin;

  g_return_val_if_fail (G_IS_FILE (file), NULL);
  g_return_val_if_fail (device == NULL || MTL_IS_DEVICE (device), NULL);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), NULL);

  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return NULL;

  if (device == NULL)
    device = mtl_device_get_host ();

  source = mtl_file_source_open (file, error);
  if (source == NULL || !mtl_file_source_check_range (source, offset, size, error))
    return NULL;

  if (size == 0)
    return new_empty (device, error);

  mapping = mtl_file_mapping_new (source, offset, size, error);
  if (mapping == NULL)
    return NULL;

  begin = mapping->begin;
  all = mtl_buffer_new_for_memory (mtl_memory_new_for_mapping (mapping, device, error));
  return all != NULL ? mtl_buffer_slice (all, begin, size, error) : NULL;
}

static GFileInfo *
new_file_info (const MtlFileMapping *mapping)
{
  GFileInfo *info = g_file_info_new ();

  g_file_info_set_size (info, mapping->file_size);
  g_file_info_set_attribute_uint64 (info, G_FILE_ATTRIBUTE_TIME_MODIFIED, mapping->modified_s);
  g_file_info_set_attribute_uint32 (info, G_FILE_ATTRIBUTE_TIME_MODIFIED_USEC,
                                    mapping->modified_ns / 1000);
  g_file_info_set_attribute_uint32 (info, G_FILE_ATTRIBUTE_TIME_MODIFIED_NSEC,
                                    mapping->modified_ns);
  return info;
}

/**
 * mtl_buffer_dup_mapped_file:
 * @self: a buffer
 * @file_offset: (out) (optional): return location for the offset of the first
 *   byte of @self in the file, in bytes
 * @info: (out) (optional) (nullable) (transfer full): return location for the
 *   size of the file and the time at which it was last modified, as they were
 *   when it was mapped
 *
 * Gets the file that the memory maps.
 *
 * Memory is a mapping if it comes from [ctor@Mtl.Buffer.new_mapped], with at
 * least 1 byte, or is that of tensors that a [class@Mtl.TensorFile] maps, see
 * [enum@Mtl.TensorFileMode].
 *
 * Another process can map the same bytes with [ctor@Mtl.Buffer.new_mapped]. A
 * file that was changed or replaced since has another size or time: compare
 * @info with what this function returns for the other buffer. It has
 * %G_FILE_ATTRIBUTE_STANDARD_SIZE, %G_FILE_ATTRIBUTE_TIME_MODIFIED,
 * %G_FILE_ATTRIBUTE_TIME_MODIFIED_USEC and %G_FILE_ATTRIBUTE_TIME_MODIFIED_NSEC.
 *
 * Returns: (transfer full) (nullable): the file, or %NULL if the memory is no
 *   mapping of a file; then the offset is 0, and @info %NULL
 *
 * Since: 1.0
 */
GFile *
mtl_buffer_dup_mapped_file (MtlBuffer  *self,
                            guint64    *file_offset,
                            GFileInfo **info)
{
  const MtlFileMapping *mapping;

  g_return_val_if_fail (MTL_IS_BUFFER (self), NULL);

  mapping = self->memory->is_mapped_file ? self->memory->owner : NULL;
  if (file_offset != NULL)
    *file_offset = mapping != NULL ? mapping->pages_offset + self->offset : 0;
  if (info != NULL)
    *info = mapping != NULL ? new_file_info (mapping) : NULL;
  return mapping != NULL ? g_file_new_for_path (mapping->path) : NULL;
}
