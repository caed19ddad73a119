/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-gst-memory-private.h"

#include <string.h>
#include <unistd.h>

#include <gst/allocators/allocators.h>

MtlBuffer *
mtl_gst_allocate (MtlDevice                  *device,
                  MtlStorageMode              mode,
                  gsize                       size,
                  const GstAllocationParams  *params,
                  guint8                    **data,
                  GError                    **error)
{
  const GstMemoryFlags zeroed = GST_MEMORY_FLAG_ZERO_PREFIXED | GST_MEMORY_FLAG_ZERO_PADDED;
  const gsize align = params->align | MTL_GST_BUFFER_ALIGN;
  MtlBuffer *buffer;
  gsize total;

  if (!g_size_checked_add (&total, size, params->prefix)
      || !g_size_checked_add (&total, total, params->padding)
      || !g_size_checked_add (&total, total, align - MTL_GST_BUFFER_ALIGN))
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_OVERFLOW,
                   "%" G_GSIZE_FORMAT " bytes with a prefix of %" G_GSIZE_FORMAT ", a padding of"
                   " %" G_GSIZE_FORMAT " and an alignment of %" G_GSIZE_FORMAT " are too many",
                   size, params->prefix, params->padding, align);
      return NULL;
    }

  if ((params->flags & zeroed) != 0)
    buffer = mtl_buffer_new (device, total, mode, error);
  else
    buffer = mtl_buffer_new_uninitialized (device, total, mode, error);
  if (buffer == NULL)
    return NULL;

  *data = (guint8 *) (((guintptr) mtl_buffer_get_contents (buffer) + align) & ~align);
  return buffer;
}

GstMemory *
mtl_gst_memory_copy (GstMemory *memory,
                     gssize     offset,
                     gssize     size)
{
  GstAllocationParams params = { .align = memory->align };
  GstMapInfo from, to;
  GstMemory *copy;

  if (!gst_memory_map (memory, &from, GST_MAP_READ))
    return NULL;

  if (size < 0)
    size = from.size - MIN (from.size, (gsize) offset);

  copy = gst_allocator_alloc (memory->allocator, size, &params);
  if (copy == NULL)
    copy = gst_allocator_alloc (NULL, size, &params);

  if (gst_memory_map (copy, &to, GST_MAP_WRITE))
    {
      memcpy (to.data, from.data + offset, size);
      gst_memory_unmap (copy, &to);
    }
  else
    g_clear_pointer (&copy, gst_memory_unref);

  gst_memory_unmap (memory, &from);
  return copy;
}

gboolean
mtl_gst_memory_is_span (GstMemory *first,
                        GstMemory *second,
                        gsize     *offset)
{
  if (offset != NULL)
    *offset = first->offset - first->parent->offset;

  return first->offset + first->size == second->offset;
}

/* The bytes of memory with a descriptor. Memory counts its offsets from the beginning of the file. */
typedef struct
{
  MtlBuffer *buffer;
  gsize position; /* the buffer's in the file */
  gsize begin;    /* the first byte in the file that elements can use */
} Content;

static G_DEFINE_QUARK (mtl-gst-content, content)

static void
content_free (gpointer data)
{
  Content *self = data;

  g_object_unref (self->buffer);
  g_free (self);
}

/* Takes the buffer. */
static Content *
set_content (GstMemory *memory,
             MtlBuffer *buffer,
             gsize      position,
             gsize      begin)
{
  Content *content = g_new (Content, 1);

  *content = (Content) { buffer, position, begin };
  gst_mini_object_set_qdata (GST_MINI_OBJECT_CAST (memory), content_quark (), content,
                             content_free);
  return content;
}

/* Parts of memory have that of the whole. */
static Content *
get_content (GstMemory *memory)
{
  GstMemory *whole = memory->parent != NULL ? memory->parent : memory;

  return gst_mini_object_get_qdata (GST_MINI_OBJECT_CAST (whole), content_quark ());
}

/* GStreamer's own allocator would map the descriptor anew, and the seals forbid that for writing.
 * This one has the mapping of the buffer. */
#define MTL_GST_TYPE_FD_ALLOCATOR (mtl_gst_fd_allocator_get_type ())

G_DECLARE_FINAL_TYPE (MtlGstFdAllocator, mtl_gst_fd_allocator, MTL_GST, FD_ALLOCATOR,
                      GstFdAllocator)

struct _MtlGstFdAllocator
{
  GstFdAllocator parent_instance;

  GstMemoryShareFunction share; /* the parent class's */
};

G_DEFINE_FINAL_TYPE (MtlGstFdAllocator, mtl_gst_fd_allocator, GST_TYPE_FD_ALLOCATOR)

static gpointer
new_allocator (gpointer data)
{
  GstAllocator *self = g_object_new (MTL_GST_TYPE_FD_ALLOCATOR, NULL);

  gst_object_ref_sink (self);
  GST_OBJECT_FLAG_SET (self, GST_OBJECT_FLAG_MAY_BE_LEAKED);
  return self;
}

static GstAllocator *
get_allocator (void)
{
  static GOnce once = G_ONCE_INIT;

  return g_once (&once, new_allocator, NULL);
}

static gpointer
map_memory (GstMemory  *memory,
            GstMapInfo *info,
            gsize       max_size)
{
  const Content *content = get_content (memory);

  if (memory->offset >= content->begin)
    return (gpointer) ((guintptr) mtl_buffer_get_contents (content->buffer) - content->position);

  GST_ERROR_OBJECT (memory->allocator, "The memory begins at byte %" G_GSIZE_FORMAT " of its file;"
                    " it was resized to byte %" G_GSIZE_FORMAT, content->begin, memory->offset);
  return NULL;
}

static void
unmap_memory (GstMemory  *memory,
              GstMapInfo *info)
{
}

/* Before 1.28, GStreamer lets a part without a size reach past the end. */
static GstMemory *
share_memory (GstMemory *memory,
              gssize     offset,
              gssize     size)
{
  MtlGstFdAllocator *self = MTL_GST_FD_ALLOCATOR (memory->allocator);

  return self->share (memory, offset, size < 0 ? (gssize) memory->size - offset : size);
}

static GstMemory *
mtl_gst_fd_allocator_alloc (GstAllocator        *allocator,
                            gsize                size,
                            GstAllocationParams *params)
{
  g_autoptr (GError) error = NULL;
  GstMemory *memory = mtl_gst_fd_memory_alloc (NULL, size, params, &error);

  if (memory == NULL)
    GST_ERROR_OBJECT (allocator, "%s", error->message);
  return memory;
}

static void
mtl_gst_fd_allocator_class_init (MtlGstFdAllocatorClass *klass)
{
  GST_ALLOCATOR_CLASS (klass)->alloc = mtl_gst_fd_allocator_alloc;
}

static void
mtl_gst_fd_allocator_init (MtlGstFdAllocator *self)
{
  GstAllocator *allocator = GST_ALLOCATOR (self);

  allocator->mem_type = "MtlMemory";
  allocator->mem_map_full = map_memory;
  allocator->mem_unmap_full = unmap_memory;
  allocator->mem_copy = mtl_gst_memory_copy;
  self->share = allocator->mem_share;
  allocator->mem_share = share_memory;
  allocator->mem_is_span = mtl_gst_memory_is_span;
  GST_OBJECT_FLAG_UNSET (self, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
}

GstMemory *
mtl_gst_fd_memory_new (MtlBuffer                  *buffer,
                       guint8                     *data,
                       gsize                       size,
                       const GstAllocationParams  *params,
                       GError                    **error)
{
  GstMemory *memory;
  guint64 position;
  gsize begin;
  int fd = mtl_buffer_dup_fd (buffer, &position, error);

  if (fd < 0)
    return NULL;

  if (position > G_MAXSIZE - mtl_buffer_get_size (buffer))
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_OVERFLOW,
                   "%" G_GSIZE_FORMAT " bytes at byte %" G_GUINT64_FORMAT " of a file exceed"
                   " GStreamer's limit of %" G_GSIZE_FORMAT,
                   mtl_buffer_get_size (buffer), position, G_MAXSIZE);
      close (fd);
      return NULL;
    }

  begin = position + (data - (guint8 *) mtl_buffer_get_contents (buffer));
  memory = gst_fd_allocator_alloc (get_allocator (), fd,
                                   begin + params->prefix + size + params->padding,
                                   GST_FD_MEMORY_FLAG_NONE);
  gst_memory_resize (memory, begin + params->prefix, size);
  memory->align = params->align;
  GST_MINI_OBJECT_FLAG_SET (memory, params->flags);
  set_content (memory, g_object_ref (buffer), position, begin);
  return memory;
}

GstMemory *
mtl_gst_fd_memory_alloc (MtlDevice                  *device,
                         gsize                       size,
                         const GstAllocationParams  *params,
                         GError                    **error)
{
  GstAllocationParams aligned = *params;
  guint8 *data;
  g_autoptr (MtlBuffer) buffer =
    mtl_gst_allocate (device, MTL_STORAGE_MODE_INTERPROCESS, size, params, &data, error);

  if (buffer == NULL)
    return NULL;

  aligned.align |= MTL_GST_BUFFER_ALIGN;
  return mtl_gst_fd_memory_new (buffer, data, size, &aligned, error);
}

/* Maps memory of another allocator, such as that of unixfdsrc. Only files that nobody can truncate
 * have a buffer. */
static Content *
map_content (GstMemory *memory)
{
  GstMemory *whole = memory->parent != NULL ? memory->parent : memory;
  const MtlBufferFlags flags = MTL_BUFFER_FLAGS_READ_ONLY | MTL_BUFFER_FLAGS_NEVER_COPY;
  const int fd = gst_fd_memory_get_fd (whole);
  MtlBuffer *buffer = NULL;

  if (fd >= 0)
    buffer = mtl_buffer_new_for_fd (fd, 0, whole->maxsize, flags, NULL);
  return buffer != NULL ? set_content (whole, buffer, 0, 0) : NULL;
}

MtlBuffer *
mtl_gst_fd_memory_get_buffer (GstMemory *memory,
                              gsize     *byte_offset)
{
  static GMutex mutex;
  const Content *content;

  g_mutex_lock (&mutex);
  content = get_content (memory);
  if (content == NULL)
    content = map_content (memory);
  g_mutex_unlock (&mutex);

  *byte_offset = content != NULL ? memory->offset - content->position : 0;
  return content != NULL ? content->buffer : NULL;
}
