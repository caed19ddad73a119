/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-gst-map-private.h"

/* What a view holds. The memory is mapped by itself: gst_buffer_map() would replace memory that
 * it cannot lock by a copy, and join several memories in a copy, without a word. */
typedef struct
{
  GstBuffer *buffer;
  GstMapInfo map;
} Mapping;

static void
mapping_free (Mapping *mapping)
{
  GstMemory *memory = mapping->map.memory;

  gst_memory_unmap (memory, &mapping->map);
  gst_memory_unref (memory);
  gst_buffer_unref (mapping->buffer);
  g_free (mapping);
}

/* Returns the one memory that has the range, and where in it the range begins. */
static GstMemory *
find_memory (GstBuffer  *buffer,
             gsize       offset,
             gsize       size,
             gsize      *skip,
             GError    **error)
{
  const gsize buffer_size = gst_buffer_get_size (buffer);
  guint index, length;

  if (offset > buffer_size || size > buffer_size - offset)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_OUT_OF_BOUNDS,
                   "%" G_GSIZE_FORMAT " bytes from byte %" G_GSIZE_FORMAT " on are needed; the"
                   " buffer has %" G_GSIZE_FORMAT, size, offset, buffer_size);
      return NULL;
    }

  if (size == 0 || !gst_buffer_find_memory (buffer, offset, size, &index, &length, skip))
    {
      g_set_error_literal (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                           "No bytes are needed; a view of a buffer has one element at least");
      return NULL;
    }

  if (length > 1)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NEEDS_COPY,
                   "%" G_GSIZE_FORMAT " bytes from byte %" G_GSIZE_FORMAT " on are spread over %u"
                   " memories of the buffer: join them in a copy first, gst_buffer_copy_deep()",
                   size, offset, length);
      return NULL;
    }

  return gst_buffer_peek_memory (buffer, index);
}

static gboolean
check_is_writable (GstBuffer  *buffer,
                   GstMemory  *memory,
                   GError    **error)
{
  if (!gst_buffer_is_writable (buffer))
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_READ_ONLY,
                   "The buffer has %d users, and can be written to if it has one: end the others,"
                   " or copy it by gst_buffer_make_writable()",
                   GST_MINI_OBJECT_REFCOUNT_VALUE (buffer));
      return FALSE;
    }

  if (GST_MEMORY_IS_READONLY (memory))
    {
      g_set_error_literal (error, MTL_ERROR, MTL_ERROR_READ_ONLY,
                           "The buffer's memory is read-only: copy it by gst_buffer_copy_deep()");
      return FALSE;
    }

  return TRUE;
}

/* Maps bytes of a buffer where they are. The buffer that is returned keeps them mapped, and its
 * first byte is the one at the offset. */
MtlBuffer *
mtl_gst_map_range (GstBuffer    *buffer,
                   gsize         offset,
                   gsize         size,
                   GstMapFlags   flags,
                   GError      **error)
{
  const gboolean writes = (flags & GST_MAP_WRITE) != 0;
  GstMemory *memory;
  Mapping *mapping;
  GstMapInfo map;
  gsize skip;

  memory = find_memory (buffer, offset, size, &skip, error);
  if (memory == NULL || (writes && !check_is_writable (buffer, memory, error)))
    return NULL;

  /* What can be written to can be read, too. */
  if (!gst_memory_map (memory, &map, flags | GST_MAP_READ))
    {
      g_set_error (error, MTL_ERROR, writes ? MTL_ERROR_NEEDS_COPY : MTL_ERROR_NOT_HOST_ACCESSIBLE,
                   "Memory of the allocator “%s” cannot be mapped for %s%s",
                   memory->allocator != NULL ? memory->allocator->mem_type : "unknown",
                   writes ? "writing" : "reading",
                   writes ? ": another buffer shares it, or somebody else has it mapped;"
                            " copy the buffer by gst_buffer_copy_deep()" : "");
      return NULL;
    }

  if (skip > map.size || size > map.size - skip)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_OUT_OF_BOUNDS,
                   "%" G_GSIZE_FORMAT " bytes from byte %" G_GSIZE_FORMAT " of a memory on are"
                   " needed; %" G_GSIZE_FORMAT " are mapped", size, skip, map.size);
      gst_memory_unmap (memory, &map);
      return NULL;
    }

  mapping = g_new (Mapping, 1);
  mapping->buffer = gst_buffer_ref (buffer);
  mapping->map = map;
  gst_memory_ref (memory);

  return mtl_buffer_new_for_data (NULL, map.data + skip, size,
                                  writes ? MTL_BUFFER_FLAGS_NONE : MTL_BUFFER_FLAGS_READ_ONLY,
                                  mapping, (GDestroyNotify) mapping_free, error);
}
