/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-gst-allocator-private.h"

#include <gst/allocators/allocators.h>

#include "mtl-gst-memory-private.h"

/**
 * MtlGstAllocator:
 *
 * Allocates [struct@Gst.Memory] that is the memory of a [class@Mtl.Buffer].
 *
 * Elements that allocate use it if it is in the configuration of their
 * [class@Gst.BufferPool], or in the answer to their allocation query. What they
 * write is then in memory that the device can use, and
 * [func@MtlGst.memory_get_buffer] returns the buffer, without a copy.
 *
 * The memory of the buffers that [func@MtlGst.buffer_from_view] makes has its
 * [class@Mtl.Buffer], too.
 *
 * Parts of the memory, as made by [method@Gst.Memory.share] and
 * [method@Gst.Buffer.copy_region], share it and are read-only. A copy is made
 * on the allocator's device, or in GStreamer's own memory if the device has none
 * left.
 *
 * With %MTL_STORAGE_MODE_INTERPROCESS, the memory has a file descriptor
 * (`gst_is_fd_memory()`), by which unixfdsink passes it to other processes without
 * a copy. They can only read it; here, elements write to it as to any other
 * memory. New memory of this kind is expensive, and takes two descriptors, so use
 * a [class@Gst.BufferPool].
 *
 * Memory may be freed on any thread.
 *
 * ```c
 * g_autoptr (MtlGstAllocator) allocator =
 *   mtl_gst_allocator_new (NULL, MTL_STORAGE_MODE_HOST, error);
 * GstAllocationParams params = { .align = 4095, .padding = 16 };
 * GstMemory *memory;
 * MtlBuffer *buffer;
 * gsize byte_offset;
 *
 * if (allocator == NULL)
 *   return FALSE;
 *
 * memory = gst_allocator_alloc (GST_ALLOCATOR (allocator), 640 * 480, &params);
 * buffer = mtl_gst_memory_get_buffer (memory, &byte_offset);
 * g_assert_cmpuint (mtl_buffer_get_size (buffer) - byte_offset, >=, 640 * 480 + 16);
 * gst_memory_unref (memory);
 * ```
 *
 * Since: 1.0
 */
struct _MtlGstAllocator
{
  GstAllocator parent_instance;

  MtlDevice *device; /* NULL: the default one for the mode */
  MtlStorageMode storage_mode;
};

typedef struct
{
  GstMemory parent_instance;

  MtlBuffer *buffer;
  guint8 *data; /* the address of offset 0 of the memory */
} Memory;

enum
{
  PROP_0,
  PROP_DEVICE,
  PROP_STORAGE_MODE,
  N_PROPS,
};

static GParamSpec *properties[N_PROPS];

G_DEFINE_FINAL_TYPE (MtlGstAllocator, mtl_gst_allocator, GST_TYPE_ALLOCATOR)

static GstMemory *
memory_new (MtlGstAllocator *allocator,
            GstMemory       *parent,
            MtlBuffer       *buffer,
            guint8          *data,
            gsize            max_size,
            gsize            align,
            gsize            offset,
            gsize            size,
            guint            flags)
{
  Memory *self = g_new (Memory, 1);

  gst_memory_init (GST_MEMORY_CAST (self), flags, GST_ALLOCATOR_CAST (allocator), parent, max_size,
                   align, offset, size);
  self->buffer = g_object_ref (buffer);
  self->data = data;
  return GST_MEMORY_CAST (self);
}

static gsize
get_byte_offset (Memory *self)
{
  return self->data + self->parent_instance.offset
         - (guint8 *) mtl_buffer_get_contents (self->buffer);
}

/* Only then do the host and the device have a copy each. */
static gboolean
needs_synchronization (Memory *self)
{
  return mtl_buffer_get_storage_mode (self->buffer) == MTL_STORAGE_MODE_MANAGED;
}

static gpointer
map_memory (GstMemory  *memory,
            GstMapInfo *info,
            gsize       max_size)
{
  Memory *self = (Memory *) memory;
  g_autoptr (GError) error = NULL;

  if (needs_synchronization (self) && !mtl_buffer_synchronize (self->buffer, NULL, &error))
    {
      GST_ERROR_OBJECT (memory->allocator, "%s", error->message);
      return NULL;
    }

  return self->data;
}

static void
unmap_memory (GstMemory  *memory,
              GstMapInfo *info)
{
  Memory *self = (Memory *) memory;

  if ((info->flags & GST_MAP_WRITE) != 0 && needs_synchronization (self))
    mtl_buffer_did_modify (self->buffer,
                           info->data - (guint8 *) mtl_buffer_get_contents (self->buffer),
                           info->size, NULL);
}

static GstMemory *
share_memory (GstMemory *memory,
              gssize     offset,
              gssize     size)
{
  Memory *self = (Memory *) memory;
  GstMemory *parent = memory->parent != NULL ? memory->parent : memory;

  return memory_new (MTL_GST_ALLOCATOR (memory->allocator), parent, self->buffer, self->data,
                     memory->maxsize, memory->align, memory->offset + offset,
                     size < 0 ? memory->size - offset : (gsize) size,
                     GST_MINI_OBJECT_FLAGS (parent) | GST_MINI_OBJECT_FLAG_LOCK_READONLY);
}

static GstMemory *
alloc_memory (MtlGstAllocator            *self,
              gsize                       size,
              const GstAllocationParams  *params,
              GError                    **error)
{
  guint8 *data;
  g_autoptr (MtlBuffer) buffer =
    mtl_gst_allocate (self->device, self->storage_mode, size, params, &data, error);

  if (buffer == NULL)
    return NULL;

  if (!mtl_buffer_is_host_accessible (buffer))
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                   "The host cannot access memory with the storage mode %d", self->storage_mode);
      return NULL;
    }

  return memory_new (self, NULL, buffer, data, size + params->prefix + params->padding,
                     params->align | MTL_GST_BUFFER_ALIGN, params->prefix, size, params->flags);
}

static GstMemory *
mtl_gst_allocator_alloc (GstAllocator        *allocator,
                         gsize                size,
                         GstAllocationParams *params)
{
  MtlGstAllocator *self = MTL_GST_ALLOCATOR (allocator);
  g_autoptr (GError) error = NULL;
  GstMemory *memory = self->storage_mode == MTL_STORAGE_MODE_INTERPROCESS
                        ? mtl_gst_fd_memory_alloc (self->device, size, params, &error)
                        : alloc_memory (self, size, params, &error);

  if (memory == NULL)
    GST_ERROR_OBJECT (self, "%s", error->message);
  return memory;
}

static void
mtl_gst_allocator_free (GstAllocator *allocator,
                        GstMemory    *memory)
{
  Memory *self = (Memory *) memory;

  g_object_unref (self->buffer);
  g_free (self);
}

static void
mtl_gst_allocator_get_property (GObject    *object,
                                guint       id,
                                GValue     *value,
                                GParamSpec *pspec)
{
  MtlGstAllocator *self = MTL_GST_ALLOCATOR (object);

  switch (id)
    {
    case PROP_DEVICE:
      g_value_set_object (value, self->device);
      break;
    case PROP_STORAGE_MODE:
      g_value_set_enum (value, self->storage_mode);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
mtl_gst_allocator_set_property (GObject      *object,
                                guint         id,
                                const GValue *value,
                                GParamSpec   *pspec)
{
  MtlGstAllocator *self = MTL_GST_ALLOCATOR (object);

  switch (id)
    {
    case PROP_DEVICE:
      self->device = g_value_dup_object (value);
      break;
    case PROP_STORAGE_MODE:
      self->storage_mode = g_value_get_enum (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
mtl_gst_allocator_finalize (GObject *object)
{
  MtlGstAllocator *self = MTL_GST_ALLOCATOR (object);

  g_clear_object (&self->device);

  G_OBJECT_CLASS (mtl_gst_allocator_parent_class)->finalize (object);
}

static void
mtl_gst_allocator_class_init (MtlGstAllocatorClass *klass)
{
  const GParamFlags flags =
    G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS;

  GST_ALLOCATOR_CLASS (klass)->alloc = mtl_gst_allocator_alloc;
  GST_ALLOCATOR_CLASS (klass)->free = mtl_gst_allocator_free;
  G_OBJECT_CLASS (klass)->get_property = mtl_gst_allocator_get_property;
  G_OBJECT_CLASS (klass)->set_property = mtl_gst_allocator_set_property;
  G_OBJECT_CLASS (klass)->finalize = mtl_gst_allocator_finalize;

  /**
   * MtlGstAllocator:device:
   *
   * The device, or %NULL for the default device, or for the host if
   * [property@MtlGst.Allocator:storage-mode] is %MTL_STORAGE_MODE_HOST or
   * %MTL_STORAGE_MODE_INTERPROCESS.
   *
   * Since: 1.0
   */
  properties[PROP_DEVICE] =
    g_param_spec_object ("device", NULL, NULL, MTL_TYPE_DEVICE, flags);

  /**
   * MtlGstAllocator:storage-mode:
   *
   * The storage mode of the memory; may be %MTL_STORAGE_MODE_DEFAULT.
   *
   * If the device does not support it, or the host cannot access such memory,
   * nothing can be allocated; [ctor@MtlGst.Allocator.new] returns an error
   * instead.
   *
   * Since: 1.0
   */
  properties[PROP_STORAGE_MODE] =
    g_param_spec_enum ("storage-mode", NULL, NULL, MTL_TYPE_STORAGE_MODE, MTL_STORAGE_MODE_DEFAULT,
                       flags);

  g_object_class_install_properties (G_OBJECT_CLASS (klass), N_PROPS, properties);
}

static void
mtl_gst_allocator_init (MtlGstAllocator *self)
{
  GstAllocator *allocator = GST_ALLOCATOR (self);

  allocator->mem_type = "MtlMemory";
  allocator->mem_map_full = map_memory;
  allocator->mem_unmap_full = unmap_memory;
  allocator->mem_copy = mtl_gst_memory_copy;
  allocator->mem_share = share_memory;
  allocator->mem_is_span = mtl_gst_memory_is_span;
}

static gpointer
new_for_views (gpointer data)
{
  MtlGstAllocator *self = g_object_new (MTL_GST_TYPE_ALLOCATOR, NULL);

  gst_object_ref_sink (self);
  GST_OBJECT_FLAG_SET (self, GST_OBJECT_FLAG_MAY_BE_LEAKED);
  return self;
}

GstMemory *
mtl_gst_memory_new (MtlBuffer  *buffer,
                    gpointer    data,
                    gsize       size,
                    gboolean    read_only,
                    GError    **error)
{
  static GOnce once = G_ONCE_INIT;
  const GstAllocationParams params = { .flags = read_only ? GST_MEMORY_FLAG_READONLY : 0 };

  if (mtl_buffer_is_interprocess (buffer))
    return mtl_gst_fd_memory_new (buffer, data, size, &params, error);

  return memory_new (g_once (&once, new_for_views, NULL), NULL, buffer, data, size, 0, 0, size,
                     params.flags);
}

/**
 * mtl_gst_allocator_new:
 * @device: (nullable): a device, or %NULL for the default device, or for the
 *   host if @storage_mode is %MTL_STORAGE_MODE_HOST or
 *   %MTL_STORAGE_MODE_INTERPROCESS
 * @storage_mode: the storage mode of the memory, which the host has to be able
 *   to access; may be %MTL_STORAGE_MODE_DEFAULT
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates an allocator of memory of a device.
 *
 * With %MTL_STORAGE_MODE_MANAGED, the device's writes become visible when an
 * element maps the memory, and the element's when it unmaps it.
 *
 * With %MTL_STORAGE_MODE_INTERPROCESS, which is for the host, the memory has a file
 * descriptor for other processes.
 *
 * If memory cannot be allocated, [method@Gst.Allocator.alloc] returns %NULL,
 * and GStreamer's log has the reason.
 *
 * Errors:
 *
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: the host cannot access memory with
 *   @storage_mode
 * - %MTL_ERROR_NOT_SUPPORTED: the device does not support @storage_mode
 *
 * Returns: (transfer full): the new allocator
 *
 * Since: 1.0
 */
MtlGstAllocator *
mtl_gst_allocator_new (MtlDevice       *device,
                       MtlStorageMode   storage_mode,
                       GError         **error)
{
  g_autoptr (MtlBuffer) buffer = NULL;
  MtlGstAllocator *self;

  g_return_val_if_fail (device == NULL || MTL_IS_DEVICE (device), NULL);

  /* A buffer without bytes shows what the device can do. */
  buffer = mtl_buffer_new_uninitialized (device, 0, storage_mode, error);
  if (buffer == NULL)
    return NULL;

  if (!mtl_buffer_is_host_accessible (buffer))
    {
      g_autoptr (GEnumClass) modes = g_type_class_ref (MTL_TYPE_STORAGE_MODE);

      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_HOST_ACCESSIBLE,
                   "Elements run on the host, which cannot access memory with the storage mode"
                   " “%s”; use “shared” or “managed”",
                   g_enum_get_value (modes, mtl_buffer_get_storage_mode (buffer))->value_nick);
      return NULL;
    }

  if (storage_mode != MTL_STORAGE_MODE_INTERPROCESS)
    storage_mode = mtl_buffer_get_storage_mode (buffer);
  self = g_object_new (MTL_GST_TYPE_ALLOCATOR, "device", device, "storage-mode", storage_mode,
                       NULL);
  gst_object_ref_sink (self);
  return self;
}

/**
 * mtl_gst_memory_get_buffer:
 * @memory: memory of any allocator
 * @byte_offset: (out) (optional): return location for the position of the
 *   first byte of @memory in the buffer, 0 without a buffer
 *
 * Gets the buffer whose memory @memory is.
 *
 * With it, a device uses what an element wrote without a copy:
 *
 * ```c
 * GstMemory *first = gst_buffer_peek_memory (buffer, 0);
 * gsize byte_offset;
 * MtlBuffer *memory = mtl_gst_memory_get_buffer (first, &byte_offset);
 *
 * if (memory == NULL)
 *   return mtl_gst_view_from_buffer (buffer, MTL_DTYPE_UINT8, shape, 2, GST_MAP_READ, error);
 *
 * return mtl_strided_view_new (memory, layout, MTL_DTYPE_UINT8, byte_offset, error);
 * ```
 *
 * Such a view keeps the memory alive, but does not keep elements from writing
 * to it, nor a pool from using it for the next frame: keep the
 * [struct@Gst.Buffer] as long as you read.
 *
 * Memory of another allocator has a buffer if it has the descriptor of a file in
 * memory that nobody can truncate, as most memory that unixfdsrc receives. That
 * buffer is read-only, and can be handed to a further process
 * ([method@Mtl.Buffer.dup_fd]). The sender may write to it again once the
 * [struct@Gst.Buffer] is gone.
 *
 * Returns: (transfer none) (nullable): the buffer, or %NULL if @memory belongs
 *   to another allocator and is not such a file
 *
 * Since: 1.0
 */
MtlBuffer *
mtl_gst_memory_get_buffer (GstMemory *memory,
                           gsize     *byte_offset)
{
  Memory *self = (Memory *) memory;
  MtlBuffer *buffer = NULL;
  gsize offset = 0;

  g_return_val_if_fail (memory != NULL, NULL);

  if (MTL_GST_IS_ALLOCATOR (memory->allocator))
    {
      buffer = self->buffer;
      offset = get_byte_offset (self);
    }
  else if (gst_is_fd_memory (memory))
    buffer = mtl_gst_fd_memory_get_buffer (memory, &offset);

  if (byte_offset != NULL)
    *byte_offset = offset;
  return buffer;
}
