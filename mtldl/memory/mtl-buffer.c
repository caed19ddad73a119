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
  return mtl_buffer_new_from_bytes_full (device, bytes, MTL_BUFFER_FLAGS_NONE, error);
}

/**
 * mtl_buffer_new_from_bytes_full: (constructor)
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
mtl_buffer_new_from_bytes_full (MtlDevice       *device,
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
                                                            g_bytes_ref (bytes),
                                                            (GDestroyNotify) g_bytes_unref,
                                                            error));
}

/**
 * mtl_buffer_new_for_data: (skip)
 * @device: (nullable): a device, %NULL for the host
 * @data: (nullable): memory of the host; %NULL only if @size is 0
 * @size: the size in bytes
 * @flags: whether writes are to be refused, and whether a copy may be made
 * @user_data: (nullable): passed to @destroy
 * @destroy: (nullable): called when the memory is no longer used, from any
 *   thread
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
                         gpointer         user_data,
                         GDestroyNotify   destroy,
                         GError         **error)
{
  g_return_val_if_fail (device == NULL || MTL_IS_DEVICE (device), NULL);
  g_return_val_if_fail (data != NULL || size == 0, NULL);

  device = device_for_mode (device, MTL_STORAGE_MODE_HOST);
  return mtl_buffer_new_for_memory (mtl_memory_new_wrapped (device, data, size, flags, user_data,
                                                            destroy, error));
}

/**
 * mtl_buffer_new_for_handle: (skip)
 * @device: a device
 * @handle: what the device calls an allocation: an address on the host, an
 *   `id<MTLBuffer>` on Metal
 * @size: the size in bytes
 * @user_data: (nullable): passed to @destroy
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
                           gpointer         user_data,
                           GDestroyNotify   destroy,
                           GError         **error)
{
  g_return_val_if_fail (MTL_IS_DEVICE (device), NULL);
  g_return_val_if_fail (handle != NULL, NULL);

  return mtl_buffer_new_for_memory (mtl_memory_new_for_handle (device, handle, size,
                                                               user_data, destroy, error));
}

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
 * @file: a file of a disk
 * @device: (nullable): a device, %NULL for the host
 * @offset: where the range begins in the file, in bytes; any number
 * @size: the size of the range in bytes; may be 0
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Makes a read-only buffer of a range of a file, without reading it: the system
 * reads a page when its bytes are first used, and takes it back when memory is
 * short. On Metal the GPU uses the same pages.
 *
 * The file is closed at once, and what it is called afterwards does not
 * matter: it may be removed, and another one may take its place, as
 * [method@Gio.File.replace_contents] and a rename do.
 *
 * **Nobody may cut the file or write to it** as long as the buffer, or
 * anything made of it, is there. What is written is seen in the buffer. To
 * read what was cut off ends the process with `SIGBUS`, and the library cannot
 * prevent it. Where others may do that, and on network file systems, which
 * answer each page fault late or never, read the file instead of mapping it.
 *
 * Fails with the codes of [error@Gio.IOErrorEnum] where @file cannot be opened
 * or mapped, among them %G_IO_ERROR_IS_DIRECTORY, and
 * %G_IO_ERROR_NOT_REGULAR_FILE for pipes, sockets, devices, and what has no
 * size, as files in `/proc`, and %G_IO_ERROR_NOT_SUPPORTED where it has no path
 * on this machine; with %MTL_ERROR_OUT_OF_BOUNDS where the range is not within
 * it; with %MTL_ERROR_OVERFLOW where @size is more than there are addresses;
 * with %MTL_ERROR_INVALID_DATA where it changes meanwhile; and with
 * %MTL_ERROR_NEEDS_COPY where @device cannot use the pages in place, or not so
 * many: see [method@Mtl.Device.get_max_buffer_size].
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

static gboolean
check_range (MtlBuffer  *self,
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

  if (!check_range (self, offset, size, error))
    return NULL;

  return buffer_new_take_memory (mtl_memory_ref (self->memory), self->offset + offset, size);
}

/**
 * mtl_buffer_get_device: (get-property device)
 * @self: a buffer
 *
 * Gets the device that the memory is of.
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
 * mtl_buffer_get_device_type: (get-property device-type)
 * @self: a buffer
 *
 * Gets the kind of the device that the memory is of.
 *
 * Returns: the kind
 *
 * Since: 1.0
 */
MtlDeviceType
mtl_buffer_get_device_type (MtlBuffer *self)
{
  g_return_val_if_fail (MTL_IS_BUFFER (self), MTL_DEVICE_TYPE_UNKNOWN);

  return mtl_device_type_from_number (self->memory->device_type);
}

/**
 * mtl_buffer_get_device_ordinal: (get-property device-ordinal)
 * @self: a buffer
 *
 * Gets the number of the device among those of its kind.
 *
 * Returns: the number
 *
 * Since: 1.0
 */
int
mtl_buffer_get_device_ordinal (MtlBuffer *self)
{
  g_return_val_if_fail (MTL_IS_BUFFER (self), 0);

  return self->memory->device_ordinal;
}

/**
 * mtl_buffer_get_size: (get-property size)
 * @self: a buffer
 *
 * Gets the size; see [method@Mtl.Buffer.is_size_known].
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
 * Gets whether the size is that of the memory. Where it is not, as for a
 * tensor on a foreign device, the size is what is known to be there.
 *
 * Returns: whether it is known
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
 * Gets where the memory lives and who can reach it.
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
 * Gets whether the host can read the memory.
 *
 * Returns: whether it can
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
 * Gets whether a device other than the host can read the memory.
 *
 * Returns: whether one can
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
 * Gets whether writes are refused.
 *
 * Returns: whether they are
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
 * mtl_buffer_equal:
 * @self: a buffer
 * @other: another one
 *
 * Gets whether both describe the same bytes of the same memory. What is in
 * the memory does not matter.
 *
 * Returns: whether they do
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
 * Gets a number that is the same for buffers that are equal:
 * [method@Mtl.Buffer.equal].
 *
 * Returns: the number
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
 * Gets the address of the first byte. It is valid as long as the buffer.
 *
 * Returns: (nullable): the address, %NULL where the host cannot reach it, and
 *   possibly where the size is 0
 *
 * Since: 1.0
 */
gpointer
mtl_buffer_get_contents (MtlBuffer *self)
{
  g_return_val_if_fail (MTL_IS_BUFFER (self), NULL);

  return self->memory->contents != NULL ? self->memory->contents + self->offset : NULL;
}

/**
 * mtl_buffer_get_handle: (skip)
 * @self: a buffer
 *
 * Gets what the device calls the allocation that the buffer is a part of: an
 * address on the host, an `id<MTLBuffer>` on Metal. The buffer begins at
 * [method@Mtl.Buffer.get_byte_offset] within it.
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
 * Gets where the buffer begins within the allocation that it is a part of.
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

static gboolean
check_writable (MtlBuffer  *self,
                GError    **error)
{
  if (!self->memory->read_only)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_READ_ONLY,
               "The buffer of %" G_GSIZE_FORMAT " bytes is read-only", self->size);
  return FALSE;
}

/**
 * mtl_buffer_ref_bytes:
 * @self: a buffer
 * @offset: where to begin, in bytes
 * @size: how many bytes
 * @error: return location for a [error@Mtl.Error]
 *
 * Gets a part of the memory as [struct@GLib.Bytes], without a copy.
 *
 * The bytes keep the memory alive. Who receives them may take them to be
 * constant, as bytes are: do not write to the memory while somebody relies on
 * that. Use [method@Mtl.Buffer.dup_bytes] for bytes that stay as they are.
 *
 * Fails with %MTL_ERROR_OUT_OF_BOUNDS where the part is not within @self, and
 * with %MTL_ERROR_NOT_HOST_ACCESSIBLE where the host cannot read it.
 *
 * Returns: (transfer full): the bytes
 *
 * Since: 1.0
 */
GBytes *
mtl_buffer_ref_bytes (MtlBuffer  *self,
                      gsize       offset,
                      gsize       size,
                      GError    **error)
{
  g_return_val_if_fail (MTL_IS_BUFFER (self), NULL);

  if (!check_range (self, offset, size, error)
      || !mtl_memory_check_host_accessible (self->memory, error))
    return NULL;

  if (size == 0)
    return g_bytes_new_static (NULL, 0);

  return g_bytes_new_with_free_func (self->memory->contents + self->offset + offset, size,
                                     (GDestroyNotify) mtl_memory_unref,
                                     mtl_memory_ref (self->memory));
}

/**
 * mtl_buffer_dup_bytes:
 * @self: a buffer
 * @offset: where to begin, in bytes
 * @size: how many bytes
 * @error: return location for a [error@Mtl.Error]
 *
 * Copies a part of the memory, wherever it is.
 *
 * Fails with %MTL_ERROR_OUT_OF_BOUNDS where the part is not within @self, with
 * %MTL_ERROR_NO_MEMORY, with %MTL_ERROR_NOT_HOST_ACCESSIBLE where nothing here
 * can read it, with %MTL_ERROR_NOT_SUPPORTED where the device cannot move its
 * last bytes, and with %MTL_ERROR_DEVICE.
 *
 * Returns: (transfer full): the bytes
 *
 * Since: 1.0
 */
GBytes *
mtl_buffer_dup_bytes (MtlBuffer  *self,
                      gsize       offset,
                      gsize       size,
                      GError    **error)
{
  g_autoptr (MtlBuffer) copy = NULL;

  g_return_val_if_fail (MTL_IS_BUFFER (self), NULL);

  if (!check_range (self, offset, size, error))
    return NULL;

  copy = mtl_buffer_new_uninitialized (mtl_device_get_host (), size, MTL_STORAGE_MODE_HOST, error);
  if (copy == NULL || !mtl_buffer_copy_from (copy, 0, self, offset, size, NULL, error))
    return NULL;

  return mtl_buffer_ref_bytes (copy, 0, size, error);
}

/**
 * mtl_buffer_set_bytes:
 * @self: a buffer
 * @offset: where to begin, in bytes
 * @bytes: what to write there
 * @error: return location for a [error@Mtl.Error]
 *
 * Writes to a part of the memory, wherever it is.
 *
 * Fails with %MTL_ERROR_OUT_OF_BOUNDS where @bytes do not fit, with
 * %MTL_ERROR_READ_ONLY, and as [method@Mtl.Buffer.copy_from] does.
 *
 * Returns: whether it worked
 *
 * Since: 1.0
 */
gboolean
mtl_buffer_set_bytes (MtlBuffer  *self,
                      gsize       offset,
                      GBytes     *bytes,
                      GError    **error)
{
  g_autoptr (MtlBuffer) source = NULL;

  g_return_val_if_fail (MTL_IS_BUFFER (self), FALSE);
  g_return_val_if_fail (bytes != NULL, FALSE);

  source = mtl_buffer_new_from_bytes (mtl_device_get_host (), bytes, error);
  if (source == NULL)
    return FALSE;

  return mtl_buffer_copy_from (self, offset, source, 0, g_bytes_get_size (bytes), NULL, error);
}

/**
 * mtl_buffer_copy:
 * @self: a buffer
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Copies all bytes into a new buffer: on the same device in the same storage
 * mode, or on the host if the device has no backend here. Writes to the copy do
 * not affect @self.
 *
 * Errors:
 *
 * - %MTL_ERROR_NO_MEMORY: the memory cannot be allocated
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: nothing here can read @self
 * - %MTL_ERROR_NOT_SUPPORTED: the device cannot move the last bytes of @self
 * - %MTL_ERROR_DEVICE: the device failed
 * - %G_IO_ERROR_CANCELLED: the copy was cancelled
 *
 * Returns: (transfer full): a writable buffer
 *
 * Since: 1.0
 */
MtlBuffer *
mtl_buffer_copy (MtlBuffer     *self,
                 GCancellable  *cancellable,
                 GError       **error)
{
  g_autoptr (MtlBuffer) copy = NULL;
  MtlStorageMode mode;
  MtlDevice *device;

  g_return_val_if_fail (MTL_IS_BUFFER (self), NULL);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), NULL);

  device = mtl_memory_get_copy_device (self->memory, &mode);
  copy = mtl_buffer_new_uninitialized (device, self->size, mode, error);
  if (copy == NULL
      || !mtl_buffer_copy_from (copy, 0, self, 0, self->size, cancellable, error))
    return NULL;

  return g_steal_pointer (&copy);
}

/**
 * mtl_buffer_copy_from:
 * @self: the buffer to write to
 * @offset: where to write, in bytes
 * @source: the buffer to read
 * @source_offset: where to read, in bytes
 * @size: how many bytes
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Copies bytes from @source into @self. Both may be the same buffer, and the two
 * ranges may overlap.
 *
 * Errors:
 *
 * - %MTL_ERROR_OUT_OF_BOUNDS: a range is not within its buffer
 * - %MTL_ERROR_READ_ONLY: @self is read-only
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: nothing here can reach one of the two
 * - %MTL_ERROR_NOT_SUPPORTED: the device cannot move the last bytes of one
 * - %MTL_ERROR_NO_MEMORY: memory to pass the bytes through cannot be allocated
 * - %MTL_ERROR_DEVICE: the device failed; part of the range may be written
 * - %G_IO_ERROR_CANCELLED: the copy was cancelled; part of the range may be
 *   written
 *
 * After any other error nothing was written.
 *
 * Returns: whether it worked
 *
 * Since: 1.0
 */
gboolean
mtl_buffer_copy_from (MtlBuffer     *self,
                      gsize          offset,
                      MtlBuffer     *source,
                      gsize          source_offset,
                      gsize          size,
                      GCancellable  *cancellable,
                      GError       **error)
{
  g_return_val_if_fail (MTL_IS_BUFFER (self), FALSE);
  g_return_val_if_fail (MTL_IS_BUFFER (source), FALSE);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), FALSE);

  if (!check_range (self, offset, size, error)
      || !check_range (source, source_offset, size, error)
      || !check_writable (self, error)
      || g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;

  if (size == 0)
    return TRUE;

  return mtl_memory_copy (self->memory, self->offset + offset, source->memory,
                          source->offset + source_offset, size, cancellable, error);
}

/**
 * mtl_buffer_fill:
 * @self: a buffer
 * @offset: where to begin, in bytes
 * @size: how many bytes, a multiple of the pattern's
 * @pattern: 1, 2, 4, 8 or 16 bytes
 * @error: return location for a [error@Mtl.Error]
 *
 * Repeats a pattern over a part of the memory.
 *
 * Fails with %MTL_ERROR_INVALID_ARGUMENT where the pattern is of another size
 * or does not fit a whole number of times, with %MTL_ERROR_OUT_OF_BOUNDS where
 * the part is not within @self, with %MTL_ERROR_READ_ONLY, with
 * %MTL_ERROR_NOT_HOST_ACCESSIBLE where nothing here can reach it, and as
 * [method@Mtl.Buffer.copy_from] does.
 *
 * Returns: whether it worked
 *
 * Since: 1.0
 */
gboolean
mtl_buffer_fill (MtlBuffer  *self,
                 gsize       offset,
                 gsize       size,
                 GBytes     *pattern,
                 GError    **error)
{
  gconstpointer data;
  gsize pattern_size;

  g_return_val_if_fail (MTL_IS_BUFFER (self), FALSE);
  g_return_val_if_fail (pattern != NULL, FALSE);

  data = g_bytes_get_data (pattern, &pattern_size);
  if (pattern_size == 0 || pattern_size > 16 || (pattern_size & (pattern_size - 1)) != 0
      || size % pattern_size != 0)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "A pattern of %" G_GSIZE_FORMAT " bytes for %" G_GSIZE_FORMAT " bytes: it has"
                   " to be of 1, 2, 4, 8 or 16 bytes, and to fit a whole number of times",
                   pattern_size, size);
      return FALSE;
    }

  if (!check_range (self, offset, size, error) || !check_writable (self, error))
    return FALSE;

  if (size == 0)
    return TRUE;

  return mtl_memory_fill (self->memory, self->offset + offset, size, data, pattern_size, error);
}

/**
 * mtl_buffer_synchronize:
 * @self: a buffer
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Makes what the device wrote readable by the host, after all work that was
 * given to the device through this library. The work of a program's own command
 * queues has to be done by then; see [class@Mtl.Event].
 *
 * Memory of storage mode %MTL_STORAGE_MODE_MANAGED is copied from the device
 * where the device has a copy of its own. On the host there is nothing to do.
 *
 * Fails with %MTL_ERROR_DEVICE where the device failed, and with
 * %MTL_ERROR_NOT_SUPPORTED where it has no backend here.
 *
 * Returns: whether it worked
 *
 * Since: 1.0
 */
gboolean
mtl_buffer_synchronize (MtlBuffer     *self,
                        GCancellable  *cancellable,
                        GError       **error)
{
  g_return_val_if_fail (MTL_IS_BUFFER (self), FALSE);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), FALSE);

  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;

  return mtl_memory_synchronize (self->memory, error);
}

/**
 * mtl_buffer_did_modify:
 * @self: a buffer
 * @offset: where the change begins, in bytes
 * @size: how many bytes changed
 *
 * Makes what the host wrote visible to the device: for memory of storage mode
 * %MTL_STORAGE_MODE_MANAGED that was written through its address. What this
 * library writes it reports itself. Elsewhere there is nothing to do.
 *
 * Since: 1.0
 */
void
mtl_buffer_did_modify (MtlBuffer *self,
                       gsize      offset,
                       gsize      size)
{
  g_return_if_fail (MTL_IS_BUFFER (self));
  g_return_if_fail (offset <= self->size && size <= self->size - offset);

  mtl_memory_did_modify (self->memory, self->offset + offset, size);
}
