/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* How the tensors of a file come into memory. */

#include "mtl-tensor-file-private.h"

#include <string.h>

#include "mtl-error.h"
#include "mtl-quoted-text-private.h"
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

/* Always FALSE. */
static gboolean
refuse_closed (MtlTensorFile  *self,
               GError        **error)
{
  g_autofree char *shown = self->file != NULL ? g_file_get_parse_name (self->file) : g_strdup ("");
  g_autofree char *name = mtl_quote_text (shown, strlen (shown));

  g_set_error (error, G_IO_ERROR, G_IO_ERROR_CLOSED, "%s was closed", name);
  return FALSE;
}

static gboolean
check_open (MtlTensorFile  *self,
            GError        **error)
{
  gboolean closed;

  g_mutex_lock (&self->mutex);
  closed = self->closed;
  g_mutex_unlock (&self->mutex);
  return !closed || refuse_closed (self, error);
}

/* With the mutex. */
static void
close_unless_needed (MtlTensorFile     *self,
                     MtlTensorFilePart *part)
{
  if (part->n_readers == 0 && (self->closed || part->memory != NULL))
    mtl_file_source_close (part->source);
}

/* That of a file which stands alone is open from the beginning: another one may have
 * taken its place since. */
gboolean
mtl_part_reader_init (MtlPartReader      *self,
                      MtlTensorFile      *file,
                      MtlTensorFilePart  *part,
                      GError            **error)
{
  gboolean closed;

  g_mutex_lock (&file->mutex);
  closed = file->closed;
  if (!closed && part->source->fd >= 0)
    {
      part->n_readers++;
      *self = (MtlPartReader) { file, part, NULL, part->source };
    }
  g_mutex_unlock (&file->mutex);

  if (closed)
    return refuse_closed (file, error);
  if (self->source == NULL)
    self->source = self->opened = mtl_file_source_open_again (part->source, error);
  return self->source != NULL;
}

void
mtl_part_reader_clear (MtlPartReader *self)
{
  g_clear_pointer (&self->opened, mtl_file_source_free);
  if (self->file == NULL)
    return;

  g_mutex_lock (&self->file->mutex);
  self->part->n_readers--;
  close_unless_needed (self->file, self->part);
  g_mutex_unlock (&self->file->mutex);
}

/**
 * mtl_tensor_file_close:
 * @self: a file of tensors
 *
 * Lets the file go: its descriptors at once, and its memory as soon as no view
 * needs it. Views that were made before live on, and what the file says of its
 * tensors can still be asked. What would use the file from now on fails with
 * %G_IO_ERROR_CLOSED, and what uses it meanwhile in another thread goes on.
 *
 * The end of the object does the same. To close a file twice does nothing.
 *
 * Since: 1.0
 */
void
mtl_tensor_file_close (MtlTensorFile *self)
{
  g_return_if_fail (MTL_IS_TENSOR_FILE (self));

  g_mutex_lock (&self->mutex);
  self->closed = TRUE;
  for (gsize i = 0; i < self->n_parts; i++)
    {
      g_clear_pointer (&self->parts[i].memory, mtl_memory_unref);
      close_unless_needed (self, &self->parts[i]);
    }
  g_mutex_unlock (&self->mutex);
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

static MtlMemory *
map_part (MtlTensorFile      *self,
          MtlTensorFilePart  *part,
          GError            **error)
{
  g_autoptr (MtlFileSource) opened = NULL;
  const MtlFileSource *source = part->source;
  gsize offset;

  if (source->fd < 0)
    source = opened = mtl_file_source_open_again (source, error);
  return source != NULL ? map_range (self, source, 0, source->size, &offset, error) : NULL;
}

/* All of the file, once; then it need not be open. */
static MtlMemory *
get_mapped_part (MtlTensorFile      *self,
                 MtlTensorFilePart  *part,
                 GError            **error)
{
  MtlMemory *memory = NULL;

  g_mutex_lock (&self->mutex);
  if (self->closed)
    refuse_closed (self, error);
  else if (part->memory == NULL)
    {
      part->memory = map_part (self, part, error);
      close_unless_needed (self, part);
    }
  if (part->memory != NULL)
    memory = mtl_memory_ref (part->memory);
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
  g_auto (MtlPartReader) reader = { 0 };

  if (is_mapped_whole (self, part))
    {
      *offset = entry->begin;
      return get_mapped_part (self, part, error);
    }

  return mtl_part_reader_init (&reader, self, part, error)
           ? map_range (self, reader.source, entry->begin, entry->end - entry->begin, offset, error)
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
  g_auto (MtlPartReader) reader = { 0 };
  g_autoptr (MtlMemory) memory = NULL;

  if (!mtl_part_reader_init (&reader, self, part, error)
      || !mtl_file_source_check_unchanged (reader.source, error))
    return NULL;

  memory = allocate (self, entry, error);
  if (memory == NULL
      || !mtl_file_source_read_at (reader.source, entry->begin, memory->contents, memory->size,
                                   error))
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
    memory = check_open (self, error) ? allocate (self, entry, error) : NULL;
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

/**
 * mtl_tensor_file_get_view:
 * @self: a file of tensors
 * @name: a tensor's name
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Gets a view of one tensor, which keeps its memory.
 *
 * The file is mapped when the first view is asked for, as one buffer of the
 * device. Where the device takes none so large, each view has one of its own.
 *
 * Fails with %MTL_ERROR_OUT_OF_BOUNDS where there is none of that name, with
 * %MTL_ERROR_INVALID_DATA where the file was changed, cut or replaced after it
 * was opened, with %MTL_ERROR_NEEDS_COPY where it is mapped and the device
 * cannot use its pages, with %MTL_ERROR_NO_MEMORY, with %G_IO_ERROR_CLOSED, with
 * %MTL_ERROR_NOT_HOST_ACCESSIBLE where it is to be read and the host does not
 * reach the device's memory, and with the codes of [error@Gio.IOErrorEnum].
 *
 * Returns: (transfer full): the view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_tensor_file_get_view (MtlTensorFile  *self,
                          const char     *name,
                          GError        **error)
{
  const MtlTensorEntry *entry;

  g_return_val_if_fail (MTL_IS_TENSOR_FILE (self), NULL);
  g_return_val_if_fail (name != NULL, NULL);

  entry = mtl_tensor_file_find_entry (self, name, error);
  return entry != NULL ? mtl_tensor_file_view_of (self, entry, error) : NULL;
}
