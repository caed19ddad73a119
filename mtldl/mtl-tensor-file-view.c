/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* How the tensors of a file come into memory. */

#include "mtl-tensor-file-private.h"

#include <string.h>

#include "mtl-error.h"
#include "mtl-strided-view-private.h"

void
mtl_tensor_file_part_clear (MtlTensorFilePart *self)
{
  g_clear_pointer (&self->memory, mtl_memory_unref);
  g_clear_pointer (&self->table, mtl_tensor_table_free);
  g_clear_pointer (&self->source, mtl_file_source_free);
  g_clear_object (&self->file);
}

/* Numbers of so many bytes each are in the other order than this machine's; 1 where
 * there is none. */
static guint
get_swapped_size (const MtlTensorEntry *entry)
{
  MtlElementType type = mtl_element_type_new (entry->dtype);

  if (entry->is_big_endian == (G_BYTE_ORDER == G_BIG_ENDIAN) || type.bits <= 8
      || type.code == MTL_TYPE_CODE_OPAQUE_HANDLE)
    return 1;

  return type.bits / (type.code == MTL_TYPE_CODE_COMPLEX ? 16 : 8);
}

#define SWAP_ALL(type, swap) \
  for (gsize i = 0; i < size; i += sizeof (type)) \
    { \
      type number; \
      memcpy (&number, bytes + i, sizeof number); \
      number = swap (number); \
      memcpy (bytes + i, &number, sizeof number); \
    }

static void
swap_bytes (guint8 *bytes,
            gsize   size,
            guint   number_size)
{
  switch (number_size)
    {
    case 2:
      SWAP_ALL (guint16, GUINT16_SWAP_LE_BE);
      break;
    case 4:
      SWAP_ALL (guint32, GUINT32_SWAP_LE_BE);
      break;
    case 8:
      SWAP_ALL (guint64, GUINT64_SWAP_LE_BE);
      break;
    default:
      break;
    }
}

static MtlMemory *
map_range (MtlTensorFile        *self,
           const MtlFileSource  *source,
           guint64               begin,
           gsize                 size,
           gsize                *offset,
           GError              **error)
{
  g_autoptr (MtlFileMapping) mapping = mtl_file_mapping_new (source, begin, size, error);
  g_autoptr (MtlBuffer) buffer = NULL;

  if (mapping == NULL)
    return NULL;

  buffer = mtl_buffer_new_for_mapping (mapping, self->device, error);
  if (buffer == NULL)
    return NULL;

  *offset = buffer->offset;
  return mtl_memory_ref (buffer->memory);
}

/* That of a file which stands alone is open from the beginning: another one may have
 * taken its place since. */
static const MtlFileSource *
get_open_source (const MtlTensorFilePart  *part,
                 MtlFileSource           **opened,
                 GError                  **error)
{
  if (part->source->fd >= 0)
    return part->source;

  return *opened = mtl_file_source_open_again (part->source, error);
}

static MtlMemory *
map_part (MtlTensorFile      *self,
          MtlTensorFilePart  *part,
          GError            **error)
{
  g_autoptr (MtlFileSource) opened = NULL;
  const MtlFileSource *source = get_open_source (part, &opened, error);
  gsize offset;

  return source != NULL ? map_range (self, source, 0, source->size, &offset, error) : NULL;
}

/* All of the file, once; then it need not be open. */
static MtlMemory *
get_mapped_part (MtlTensorFile      *self,
                 MtlTensorFilePart  *part,
                 GError            **error)
{
  MtlMemory *memory;

  g_mutex_lock (&self->mutex);
  if (part->memory == NULL)
    {
      part->memory = map_part (self, part, error);
      if (part->memory != NULL)
        mtl_file_source_close (part->source);
    }
  memory = part->memory != NULL ? mtl_memory_ref (part->memory) : NULL;
  g_mutex_unlock (&self->mutex);

  return memory;
}

static gboolean
is_mapped_whole (MtlTensorFile           *self,
                 const MtlTensorFilePart *part)
{
  return part->source->size <= mtl_device_get_max_buffer_size (self->device);
}

static MtlMemory *
map_entry (MtlTensorFile         *self,
           MtlTensorFilePart     *part,
           const MtlTensorEntry  *entry,
           gsize                 *offset,
           GError               **error)
{
  g_autoptr (MtlFileSource) opened = NULL;
  const MtlFileSource *source;

  if (is_mapped_whole (self, part))
    {
      *offset = entry->begin;
      return get_mapped_part (self, part, error);
    }

  source = get_open_source (part, &opened, error);
  return source != NULL ? map_range (self, source, entry->begin, entry->end - entry->begin,
                                     offset, error)
                        : NULL;
}

/* Where addresses are shorter than what a file can say. */
static gboolean
check_size (const MtlTensorEntry  *entry,
            GError               **error)
{
  if (entry->end - entry->begin <= G_MAXSSIZE)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_OVERFLOW,
               "A tensor of %" G_GUINT64_FORMAT " bytes is beyond the limit of %" G_GSSIZE_FORMAT,
               entry->end - entry->begin, G_MAXSSIZE);
  return FALSE;
}

static MtlMemory *
allocate (MtlTensorFile         *self,
          const MtlTensorEntry  *entry,
          GError               **error)
{
  g_autoptr (MtlMemory) memory = mtl_memory_new (self->device, entry->end - entry->begin,
                                                 mtl_device_get_host_mode (self->device), FALSE,
                                                 error);

  if (memory == NULL || !mtl_memory_check_host_accessible (memory, error))
    return NULL;

  return g_steal_pointer (&memory);
}

static MtlMemory *
read_entry (MtlTensorFile         *self,
            MtlTensorFilePart     *part,
            const MtlTensorEntry  *entry,
            GError               **error)
{
  g_autoptr (MtlFileSource) opened = NULL;
  const MtlFileSource *source = get_open_source (part, &opened, error);
  g_autoptr (MtlMemory) memory = NULL;

  if (source == NULL || !mtl_file_source_check_unchanged (source, error))
    return NULL;

  memory = allocate (self, entry, error);
  if (memory == NULL
      || !mtl_file_source_read_at (source, entry->begin, memory->contents, memory->size, error))
    return NULL;

  return g_steal_pointer (&memory);
}

static MtlMemory *
copy_mapped (MtlTensorFile         *self,
             const MtlMemory       *mapped,
             gsize                  offset,
             const MtlTensorEntry  *entry,
             GError               **error)
{
  MtlMemory *memory = allocate (self, entry, error);

  if (memory != NULL)
    memcpy (memory->contents, mapped->contents + offset, memory->size);
  return memory;
}

static MtlMemory *
get_memory (MtlTensorFile         *self,
            const MtlTensorEntry  *entry,
            gsize                 *offset,
            GError               **error)
{
  MtlTensorFilePart *part = &self->parts[entry->file];
  guint number_size = get_swapped_size (entry);
  g_autoptr (MtlMemory) memory = NULL;

  *offset = 0;
  if (!check_size (entry, error))
    return NULL;

  if (entry->begin == entry->end)
    memory = allocate (self, entry, error);
  else if (self->mode == MTL_FILE_MODE_READ)
    memory = read_entry (self, part, entry, error);
  else
    memory = map_entry (self, part, entry, offset, error);
  if (memory == NULL || number_size == 1)
    return g_steal_pointer (&memory);

  if (memory->read_only)
    {
      MtlMemory *copy = copy_mapped (self, memory, *offset, entry, error);

      *offset = 0;
      mtl_memory_unref (memory);
      memory = copy;
    }
  if (memory != NULL)
    swap_bytes (memory->contents, memory->size, number_size);
  return g_steal_pointer (&memory);
}

MtlStridedView *
mtl_tensor_file_view_of (MtlTensorFile         *self,
                         const MtlTensorEntry  *entry,
                         GError               **error)
{
  MtlElementType type = mtl_element_type_new (entry->dtype);
  gsize offset;
  g_autoptr (MtlMemory) memory = get_memory (self, entry, &offset, error);
  MtlLayout layout;

  if (memory == NULL
      || !mtl_layout_new_dense (entry->shape, entry->n_dims, entry->order, type.bits, &layout,
                                error))
    return NULL;

  return mtl_strided_view_new_take (g_steal_pointer (&memory), offset, type, &layout);
}
