/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-gst-map-private.h"

#include "mtl-message-text-private.h"

/* The owner of a view's memory. The memory is mapped by itself: gst_buffer_map() would silently
 * replace memory that it cannot lock by a copy, and join several memories in a copy. */
typedef struct
{
  GstBuffer *buffer;
  GstMapInfo map;
  int *n_writers; /* the buffer's, or NULL for a reader */
  gboolean locks_all;
} Mapping;

static int *
create_n_writers (GstBuffer *buffer,
                  GQuark     quark)
{
  static GMutex mutex;
  int *n_writers;

  g_mutex_lock (&mutex);
  n_writers = gst_mini_object_get_qdata (GST_MINI_OBJECT_CAST (buffer), quark);
  if (n_writers == NULL)
    {
      n_writers = g_new0 (int, 1);
      gst_mini_object_set_qdata (GST_MINI_OBJECT_CAST (buffer), quark, n_writers, g_free);
    }
  g_mutex_unlock (&mutex);

  return n_writers;
}

/* Counts the writable views of a buffer. As they are its users as well, they would keep each other
 * from being created, such as those of the planes of one frame. */
static int *
get_n_writers (GstBuffer *buffer)
{
  static gsize quark;
  int *n_writers;

  if (g_once_init_enter (&quark))
    g_once_init_leave (&quark, g_quark_from_static_string ("mtl-gst-n-writers"));

  n_writers = gst_mini_object_get_qdata (GST_MINI_OBJECT_CAST (buffer), quark);
  return n_writers != NULL ? n_writers : create_n_writers (buffer, quark);
}

static void
mapping_free (Mapping *self)
{
  GstMemory *memory = self->map.memory;

  gst_memory_unmap (memory, &self->map);
  if (self->locks_all)
    gst_memory_unlock (memory, GST_LOCK_FLAG_READWRITE);
  gst_memory_unref (memory);
  if (self->n_writers != NULL)
    g_atomic_int_add (self->n_writers, -1);
  gst_buffer_unref (self->buffer);
  g_free (self);
}

/* Returns the one memory that has the range, which is in the buffer, and where in the memory it
 * begins. */
static GstMemory *
find_memory (GstBuffer  *buffer,
             gsize       offset,
             gsize       size,
             gsize      *skip,
             GError    **error)
{
  guint index, length;

  if (!gst_buffer_find_memory (buffer, offset, size, &index, &length, skip))
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_OUT_OF_BOUNDS,
                   "The buffer does not have %" G_GSIZE_FORMAT " bytes at byte %" G_GSIZE_FORMAT,
                   size,
                   offset);
      return NULL;
    }

  if (length > 1)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NEEDS_COPY,
                   "The %" G_GSIZE_FORMAT " bytes at byte %" G_GSIZE_FORMAT " are spread over %u"
                   " memories of the buffer: join them with gst_buffer_copy_deep()",
                   size, offset, length);
      return NULL;
    }

  return gst_buffer_peek_memory (buffer, index);
}

static gboolean
check_is_writable (GstBuffer  *buffer,
                   GstMemory  *memory,
                   int         n_writers,
                   GError    **error)
{
  const int n_users = GST_MINI_OBJECT_REFCOUNT_VALUE (buffer) - n_writers;

  if (!gst_buffer_is_writable (buffer) && (n_writers == 0 || n_users > 1))
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_READ_ONLY,
                   "The buffer has %d users, samples and lists included, and can only be written to"
                   " if it has 1: release the others, or use gst_buffer_copy_deep()", n_users);
      return FALSE;
    }

  if (GST_MEMORY_IS_READONLY (memory))
    {
      g_set_error_literal (error, MTL_ERROR, MTL_ERROR_READ_ONLY,
                           "The buffer's memory is read-only: use gst_buffer_copy_deep()");
      return FALSE;
    }

  return TRUE;
}

/* GStreamer counts locks in 8 bits of this number, and does not notice if there are more. Some are
 * left for threads that pass here at the same time. */
#define MAX_LOCKS 200

static gboolean
check_locks (GstMemory  *memory,
             GError    **error)
{
  const guint state = g_atomic_int_get (&GST_MINI_OBJECT_CAST (memory)->lockstate);
  const guint n_locks = (state >> 8) & 0xff;

  if (n_locks < MAX_LOCKS)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_NO_MEMORY,
               "The memory is mapped %u times; the limit for views is %d: release some, or slice"
               " one view instead", n_locks, MAX_LOCKS);
  return FALSE;
}

/* The allocator refuses for reasons of its own, or the memory is in use in another way. */
static void
set_map_error (GstMemory    *memory,
               GstMapFlags   flags,
               GError      **error)
{
  const char *access = (flags & GST_MAP_WRITE) != 0 ? "write to" : "read";
  const gboolean in_use = !gst_mini_object_lock (GST_MINI_OBJECT_CAST (memory),
                                                 (GstLockFlags) flags);

  if (!in_use)
    {
      gst_mini_object_unlock (GST_MINI_OBJECT_CAST (memory), (GstLockFlags) flags);
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_HOST_ACCESSIBLE,
                   "The host cannot %s memory of the allocator “%s”",
                   access, memory->allocator != NULL ? memory->allocator->mem_type : "unknown");
      return;
    }

  if ((flags & GST_MAP_WRITE) != 0)
    g_set_error_literal (error, MTL_ERROR, MTL_ERROR_NEEDS_COPY,
                         "The memory cannot be written to while another buffer shares it or it is"
                         " mapped elsewhere: release it there, or use gst_buffer_copy_deep()");
  else
    g_set_error_literal (error, MTL_ERROR, MTL_ERROR_NOT_HOST_ACCESSIBLE,
                         "The memory cannot be read while it is mapped elsewhere for writing only:"
                         " unmap it there first");
}

/* Takes the references that keep the mapping, once the memory is mapped. */
static void
mapping_keep (Mapping   *self,
              GstBuffer *buffer)
{
  GstMemory *memory = self->map.memory;

  /* GStreamer never unlocks memory that is also mapped with more flags than these, if this
   * mapping is the last to end. If it is not, this lock fails. */
  self->locks_all = (self->map.flags & GST_MAP_READWRITE) != GST_MAP_READWRITE
                    && gst_memory_lock (memory, GST_LOCK_FLAG_READWRITE);
  self->buffer = gst_buffer_ref (buffer);
  gst_memory_ref (memory);
  if (self->n_writers != NULL)
    g_atomic_int_inc (self->n_writers);
}

/* Maps bytes of a buffer where they are. Returns the first one. */
static guint8 *
mapping_init (Mapping      *self,
              GstBuffer    *buffer,
              gsize         offset,
              gsize         size,
              GstMapFlags   flags,
              GError      **error)
{
  const gboolean writes = (flags & GST_MAP_WRITE) != 0;
  GstMemory *memory;
  gsize skip;

  memory = find_memory (buffer, offset, size, &skip, error);
  if (memory == NULL)
    return NULL;

  self->n_writers = writes ? get_n_writers (buffer) : NULL;
  if (writes && !check_is_writable (buffer, memory, g_atomic_int_get (self->n_writers), error))
    return NULL;

  if (!check_locks (memory, error))
    return NULL;

  /* Memory that can be written to can be read, too. Other flags make some allocators return
   * something other than the bytes. */
  flags = writes ? GST_MAP_READWRITE : GST_MAP_READ;
  if (!gst_memory_map (memory, &self->map, flags))
    {
      set_map_error (memory, flags, error);
      return NULL;
    }

  if (skip > self->map.size || size > self->map.size - skip)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_OUT_OF_BOUNDS,
                   "The view needs %" G_GSIZE_FORMAT " bytes at byte %" G_GSIZE_FORMAT " of a"
                   " memory; %" G_GSIZE_FORMAT " are mapped", size, skip, self->map.size);
      gst_memory_unmap (memory, &self->map);
      return NULL;
    }

  mapping_keep (self, buffer);
  return self->map.data + skip;
}

/* Maps memory of a buffer that its owner has mapped: in the same way, as GStreamer only counts
 * such mappings, and so that it stays when the owner unmaps it. Returns the first byte. */
static guint8 *
mapping_init_again (Mapping           *self,
                    GstBuffer         *buffer,
                    const GstMapInfo  *map,
                    GError           **error)
{
  const GstMapFlags flags = map->flags & GST_MAP_READWRITE;

  if (!check_locks (map->memory, error))
    return NULL;

  if (!gst_memory_map (map->memory, &self->map, flags))
    {
      set_map_error (map->memory, flags, error);
      return NULL;
    }

  if (self->map.data != map->data || self->map.size < map->size)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                   "Memory of the allocator “%s” has a different address each time it is mapped:"
                   " use gst_video_frame_copy()",
                   map->memory->allocator != NULL ? map->memory->allocator->mem_type : "unknown");
      gst_memory_unmap (map->memory, &self->map);
      return NULL;
    }

  self->n_writers = (flags & GST_MAP_WRITE) != 0 ? get_n_writers (buffer) : NULL;
  mapping_keep (self, buffer);
  return self->map.data;
}

/* Maps the first bytes of a buffer where they are. The buffer that is returned keeps them
 * mapped. */
static MtlBuffer *
map_first (GstBuffer    *buffer,
           gsize         size,
           GstMapFlags   flags,
           GError      **error)
{
  const gsize buffer_size = gst_buffer_get_size (buffer);
  Mapping *mapping;
  guint8 *data;

  if (size > buffer_size)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_OUT_OF_BOUNDS,
                   "The view needs %" G_GSIZE_FORMAT " bytes; the buffer has %" G_GSIZE_FORMAT,
                   size, buffer_size);
      return NULL;
    }

  mapping = g_new (Mapping, 1);
  data = mapping_init (mapping, buffer, 0, size, flags, error);
  if (data == NULL)
    {
      g_free (mapping);
      return NULL;
    }

  return mtl_buffer_new_for_data (data, size, NULL,
                                  mapping->n_writers != NULL ? MTL_BUFFER_FLAGS_NONE
                                                             : MTL_BUFFER_FLAGS_READ_ONLY,
                                  (GDestroyNotify) mapping_free, mapping, error);
}

static gboolean
check_has_elements (const gint64  *shape,
                    gsize          n_dims,
                    GError       **error)
{
  g_autofree char *string = NULL;
  gboolean is_empty = FALSE;

  for (gsize axis = 0; axis < n_dims; axis++)
    is_empty |= shape[axis] <= 0;
  if (!is_empty)
    return TRUE;

  string = mtl_dims_to_string (shape, n_dims);
  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "The shape %s has no elements; a view of a buffer needs at least 1", string);
  return FALSE;
}

/* Creates a view of the first bytes of the buffer. */
MtlStridedView *
mtl_gst_view_new_for_layout (GstBuffer         *buffer,
                             MtlStridedLayout  *layout,
                             MtlDType           dtype,
                             GstMapFlags        flags,
                             GError           **error)
{
  const gint64 size = mtl_strided_layout_get_required_size (layout, error);
  g_autoptr (MtlBuffer) bytes = NULL;
  const gint64 *shape;
  gsize n_dims;

  shape = mtl_strided_layout_get_shape (layout, &n_dims);
  if (size < 0 || !check_has_elements (shape, n_dims, error))
    return NULL;

  bytes = map_first (buffer, size, flags, error);
  return bytes != NULL ? mtl_strided_view_new (bytes, layout, dtype, 0, error) : NULL;
}

MtlStridedLayout *
mtl_gst_layout_new (const MtlGstPlane  *plane,
                    GError            **error)
{
  return mtl_strided_layout_new_with_byte_strides (plane->shape, plane->n_dims, plane->byte_strides,
                                                   plane->n_dims, plane->element_size * 8, error);
}

/* Gets how many bytes the elements take before and from the first one. Returns FALSE if that is
 * too many to count. */
static gboolean
get_reach (const MtlGstPlane *plane,
           guint64           *before,
           guint64           *from)
{
  *before = 0;
  *from = plane->element_size;
  for (guint axis = 0; axis < plane->n_dims; axis++)
    {
      const gint64 stride = plane->byte_strides[axis];
      const guint64 step = stride < 0 ? -(guint64) stride : (guint64) stride;
      guint64 *reach = stride < 0 ? before : from;
      guint64 distance;

      if (!g_uint64_checked_mul (&distance, plane->shape[axis] - 1, step)
          || !g_uint64_checked_add (reach, *reach, distance))
        return FALSE;
    }

  return TRUE;
}

/* Gets the bytes from the first one that the elements need to the last, if there are enough. */
static gboolean
find_range (gsize               n_bytes,
            const MtlGstPlane  *plane,
            gsize              *begin,
            gsize              *size,
            GError            **error)
{
  g_autofree char *shape = NULL;
  g_autofree char *strides = NULL;
  guint64 before, from;

  if (get_reach (plane, &before, &from) && plane->byte_offset <= n_bytes
      && before <= plane->byte_offset && from <= n_bytes - plane->byte_offset)
    {
      *begin = plane->byte_offset - before;
      *size = before + from;
      return TRUE;
    }

  shape = mtl_dims_to_string (plane->shape, plane->n_dims);
  strides = mtl_dims_to_string (plane->byte_strides, plane->n_dims);
  g_set_error (error, MTL_ERROR, MTL_ERROR_OUT_OF_BOUNDS,
               "The shape %s of elements of %u bytes, with strides of %s bytes, does not fit at"
               " byte %" G_GSIZE_FORMAT " of the %" G_GSIZE_FORMAT " bytes of the buffer",
               shape, plane->element_size, strides, plane->byte_offset, n_bytes);
  return FALSE;
}

/* Creates a view of elements of mapped memory. Takes the mapping. */
static MtlStridedView *
view_mapping (Mapping            *mapping,
              const MtlGstPlane  *plane,
              guint8             *data,
              gsize               size,
              gsize               byte_offset,
              GError            **error)
{
  return mtl_strided_view_new_for_data (data, size, plane->dtype, plane->shape, plane->n_dims,
                                        plane->byte_strides, plane->n_dims, byte_offset,
                                        mapping->n_writers != NULL ? MTL_BUFFER_FLAGS_NONE
                                                                   : MTL_BUFFER_FLAGS_READ_ONLY,
                                        (GDestroyNotify) mapping_free, mapping, error);
}

/* Creates a view of elements of the buffer, which maps the memory that they are in. */
MtlStridedView *
mtl_gst_view_new (GstBuffer          *buffer,
                  const MtlGstPlane  *plane,
                  GstMapFlags         flags,
                  GError            **error)
{
  Mapping *mapping;
  gsize begin, size;
  guint8 *data;

  if (!check_has_elements (plane->shape, plane->n_dims, error)
      || !find_range (gst_buffer_get_size (buffer), plane, &begin, &size, error))
    return NULL;

  mapping = g_new (Mapping, 1);
  data = mapping_init (mapping, buffer, begin, size, flags, error);
  if (data == NULL)
    {
      g_free (mapping);
      return NULL;
    }

  return view_mapping (mapping, plane, data, size, plane->byte_offset - begin, error);
}

/* Creates a view of elements of memory that is already mapped for the buffer. It maps the
 * memory as well. The offset is that in the memory. */
MtlStridedView *
mtl_gst_view_new_mapped (GstBuffer          *buffer,
                         const GstMapInfo   *map,
                         const MtlGstPlane  *plane,
                         GError            **error)
{
  Mapping *mapping;
  guint8 *data;

  if (!check_has_elements (plane->shape, plane->n_dims, error))
    return NULL;

  mapping = g_new (Mapping, 1);
  data = mapping_init_again (mapping, buffer, map, error);
  if (data == NULL)
    {
      g_free (mapping);
      return NULL;
    }

  return view_mapping (mapping, plane, data, map->size, plane->byte_offset, error);
}
