/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Reads the tensors of open files, to make views of them or to check them. */

#include "mtl-tensor-file-private.h"

#include <stdlib.h>
#include <string.h>

#include "mtl-crc-private.h"
#include "mtl-element-type-private.h"
#include "mtl-error-private.h"
#include "mtl-file-stream-private.h"
#include "mtl-layout-private.h"
#include "mtl-message-text-private.h"
#include "mtl-progress-private.h"
#include "mtl-strided-view-private.h"
#include "mtl-tensor-pieces-private.h"
#include "mtl-tensor-values-private.h"

void
mtl_tensor_file_part_clear (MtlTensorFilePart *self)
{
  g_clear_pointer (&self->memory, mtl_memory_unref);
  g_clear_pointer (&self->table, mtl_tensor_table_free);
  g_clear_pointer (&self->source, mtl_file_source_free);
  g_clear_object (&self->file);
}

/* Always returns FALSE. */
gboolean
mtl_tensor_file_refuse_closed (MtlTensorFile  *self,
                               GError        **error)
{
  g_autofree char *name = self->file != NULL ? mtl_quote_file_name (self->file)
                                             : g_strdup ("“”");

  g_set_error (error, G_IO_ERROR, G_IO_ERROR_CLOSED, "%s was closed", name);
  return FALSE;
}

gboolean
mtl_tensor_file_check_open (MtlTensorFile  *self,
                            GError        **error)
{
  gboolean closed;

  mtl_fork_lock (&self->lock);
  closed = self->closed;
  mtl_fork_unlock (&self->lock);
  return !closed || mtl_tensor_file_refuse_closed (self, error);
}

/* Called with the lock held. */
void
mtl_tensor_file_close_unless_needed (MtlTensorFile     *self,
                                     MtlTensorFilePart *part)
{
  if (part->source != NULL && part->n_readers == 0
      && (self->closed || (part->memory != NULL && !part->is_read_too)))
    mtl_file_source_close (part->source);
}

/* The descriptor of a single file stays open from the beginning, because another file
 * may have taken its place since. */
gboolean
mtl_part_reader_init (MtlPartReader      *self,
                      MtlTensorFile      *file,
                      MtlTensorFilePart  *part,
                      GError            **error)
{
  gboolean closed;

  mtl_fork_lock (&file->lock);
  closed = file->closed;
  if (!closed && part->source->fd >= 0)
    {
      part->n_readers++;
      *self = (MtlPartReader) { file, part, NULL, part->source };
    }
  mtl_fork_unlock (&file->lock);

  if (closed)
    return mtl_tensor_file_refuse_closed (file, error);
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

  mtl_fork_lock (&self->file->lock);
  self->part->n_readers--;
  mtl_tensor_file_close_unless_needed (self->file, self->part);
  mtl_fork_unlock (&self->file->lock);
}

GPatternSpec *
mtl_name_pattern_new (const char *pattern)
{
  if (pattern == NULL)
    return g_pattern_spec_new ("*");

  return g_utf8_validate (pattern, -1, NULL) ? g_pattern_spec_new (pattern) : NULL;
}

gboolean
mtl_name_pattern_matches (GPatternSpec *self,
                          const char   *name)
{
  return self != NULL && g_pattern_spec_match_string (self, name);
}

gboolean
mtl_tensor_file_part_refuse (const MtlTensorFilePart  *self,
                             const MtlTensorEntry     *entry,
                             GError                  **error)
{
  GError *why = g_error_copy (&entry->refusal->error);

  mtl_prefix_tensor_name (&why, entry->name);
  if (self->source != NULL && strstr (why->message, self->source->name) == NULL)
    g_prefix_error (&why, "%s: ", self->source->name);
  g_propagate_error (error, why);
  return FALSE;
}

/* Views: loads the tensors of a file into memory. */

/* Bytes inflated between two checks of the cancellable. */
#define INFLATED_SIZE (1024 * 1024)
/* Small enough to stay in a cache until its checksum is computed, or its values are checked. */
#define BLOCK_SIZE (256 * 1024)

G_STATIC_ASSERT (BLOCK_SIZE % MTL_PIECE_ALIGNMENT == 0);

/* A tensor and its place in memory. */
typedef struct
{
  const MtlTensorEntry *entry;
  MtlMemory *memory;
  gsize offset;
  gboolean is_mapped;
  gboolean is_read; /* read into separate memory; empty tensors may be neither */
  guint crc;        /* atomic: the CRC of the pieces read so far, if stored in an archive */
} PlacedTensor;

static guint
get_swapped_size (const MtlTensorEntry *entry)
{
  return mtl_get_swapped_size (mtl_element_type_new (entry->dtype), entry->is_big_endian);
}

/* Checks that the tensor can be used in place in the mapping. */
static gboolean
is_mapped (MtlTensorFile        *self,
           const MtlTensorEntry *entry)
{
  return self->mode == MTL_TENSOR_FILE_MODE_MAP && !mtl_tensor_entry_is_deflated (entry)
         && get_swapped_size (entry) == 1;
}

/* The header of an empty array is read, too, for the checksum: its shape may be
 * damaged. */
static gboolean
is_read (MtlTensorFile        *self,
         const MtlTensorEntry *entry)
{
  return !is_mapped (self, entry) && (entry->begin < entry->end || entry->member != NULL);
}

static MtlMemory *
map_range (MtlTensorFile        *self,
           const MtlFileSource  *source,
           guint64               begin,
           gsize                 size,
           gsize                *offset,
           GError              **error)
{
  MtlFileMapping *mapping = mtl_file_mapping_new (source, begin, size, error);

  if (mapping == NULL)
    return NULL;

  *offset = mapping->begin;
  return mtl_memory_new_for_mapping (mapping, self->device, error);
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

static gboolean
has_tensors_to_read (MtlTensorFile           *self,
                     const MtlTensorFilePart *part)
{
  for (gsize i = 0; i < part->table->n_entries; i++)
    if (!part->table->entries[i].is_refused && is_read (self, &part->table->entries[i]))
      return TRUE;

  return FALSE;
}

/* The mapping of the whole file, created once. After that the descriptor is closed,
 * unless some tensors have to be read. */
static MtlMemory *
get_mapped_part (MtlTensorFile      *self,
                 MtlTensorFilePart  *part,
                 GError            **error)
{
  MtlMemory *memory = NULL;

  mtl_fork_lock (&self->lock);
  if (self->closed)
    mtl_tensor_file_refuse_closed (self, error);
  else if (part->memory == NULL)
    {
      part->is_read_too = has_tensors_to_read (self, part);
      part->memory = map_part (self, part, error);
      mtl_tensor_file_close_unless_needed (self, part);
    }
  if (part->memory != NULL)
    memory = mtl_memory_ref (part->memory);
  mtl_fork_unlock (&self->lock);

  return memory;
}

/* Tensors that nobody asks for should not be loaded. */
static gboolean
is_mapped_whole (MtlTensorFile           *self,
                 const MtlTensorFilePart *part)
{
  return part->source->size <= mtl_device_get_max_buffer_size (self->device)
         && !MTL_DEVICE_GET_CLASS (self->device)->loads_wrapped_pages;
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

/* Addresses may be shorter than the sizes in a file. */
static gboolean
check_size (const MtlTensorEntry  *entry,
            GError               **error)
{
  if (entry->end - entry->begin <= G_MAXSSIZE)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_OVERFLOW,
               "%" G_GUINT64_FORMAT " bytes exceed the limit of %" G_GSSIZE_FORMAT,
               entry->end - entry->begin, G_MAXSSIZE);
  return FALSE;
}

/* The host reads into the memory. */
static MtlMemory *
allocate (MtlTensorFile         *self,
          const MtlTensorEntry  *entry,
          GError               **error)
{
  gboolean is_shared = mtl_device_supports_storage_mode (self->device, MTL_STORAGE_MODE_SHARED);
  g_autoptr (MtlMemory) memory = mtl_memory_new (self->device, entry->end - entry->begin,
                                                 is_shared ? MTL_STORAGE_MODE_SHARED
                                                           : MTL_STORAGE_MODE_DEFAULT,
                                                 FALSE, error);

  if (memory == NULL || !mtl_memory_check_host_accessible (memory, error))
    return NULL;

  return g_steal_pointer (&memory);
}

/* Maps the tensor, or allocates the memory that it will be read into. */
static gboolean
place (MtlTensorFile  *self,
       PlacedTensor   *tensor,
       GError        **error)
{
  const MtlTensorEntry *entry = tensor->entry;

  tensor->is_mapped = is_mapped (self, entry);
  tensor->is_read = is_read (self, entry);
  if (check_size (entry, error))
    {
      if (tensor->is_mapped && entry->begin < entry->end)
        tensor->memory = map_entry (self, &self->parts[entry->file], entry, &tensor->offset,
                                    error);
      else if (mtl_tensor_file_check_open (self, error))
        tensor->memory = allocate (self, entry, error);
    }

  if (tensor->memory == NULL)
    mtl_prefix_tensor_name (error, entry->name);
  return tensor->memory != NULL;
}

/* Some tensors of one part. */
typedef struct
{
  const MtlFileSource *source;
  PlacedTensor **tensors;
} Reading;

/* Adds the bytes of the piece to the tensor's checksum. Pieces come in any order. */
static gboolean
read_checked (const MtlFileSource  *source,
              PlacedTensor         *tensor,
              guint64               begin,
              guint64               end,
              GError              **error)
{
  const MtlTensorEntry *entry = tensor->entry;
  guint32 crc = 0;

  for (guint64 at = begin, size; at < end; at += size)
    {
      size = MIN (end - at, BLOCK_SIZE);
      if (!mtl_file_source_read_at (source, entry->begin + at, tensor->memory->contents + at, size,
                                    error))
        return FALSE;
      crc = mtl_crc_add (crc, tensor->memory->contents + at, size);
    }

  crc = mtl_crc_move (crc, entry->end - entry->begin - end);
  g_atomic_int_xor (&tensor->crc, crc);
  return TRUE;
}

static gboolean
read_piece (gpointer           data,
            gsize              index,
            guint64            begin,
            guint64            end,
            const MtlMonitor  *monitor,
            GError           **error)
{
  const Reading *reading = data;
  PlacedTensor *tensor = reading->tensors[index];
  guint8 *bytes = tensor->memory->contents + begin;

  if (tensor->entry->member != NULL
        ? !read_checked (reading->source, tensor, begin, end, error)
        : !mtl_file_source_read_at (reading->source, tensor->entry->begin + begin, bytes,
                                    end - begin, error))
    return mtl_prefix_tensor_name (error, tensor->entry->name);

  mtl_swap_bytes (bytes, end - begin, get_swapped_size (tensor->entry));
  return TRUE;
}

static gboolean
skip (MtlFileStream  *stream,
      gsize           size,
      GError        **error)
{
  g_autofree guint8 *bytes = g_try_malloc (size);

  if (bytes == NULL)
    return mtl_set_no_memory (size, error);

  return mtl_file_stream_read (stream, bytes, size, error);
}

static gboolean
inflate (MtlFileStream     *stream,
         guint8            *bytes,
         gsize              size,
         const MtlMonitor  *monitor,
         GError           **error)
{
  for (gsize done = 0; done < size; done += INFLATED_SIZE)
    if (!mtl_monitor_check (monitor, error)
        || !mtl_file_stream_read (stream, bytes + done, MIN (size - done, INFLATED_SIZE), error))
      return FALSE;

  return TRUE;
}

static gboolean
inflate_tensor (gpointer           data,
                gsize              index,
                guint64            begin,
                guint64            end,
                const MtlMonitor  *monitor,
                GError           **error)
{
  const Reading *reading = data;
  const PlacedTensor *tensor = reading->tensors[index];
  const MtlArchiveMember *member = tensor->entry->member;
  g_auto (MtlFileStream) stream = { 0 };

  mtl_file_stream_init (&stream, reading->source, member->begin,
                        member->begin + member->stored_size, NULL, 0);
  mtl_file_stream_inflate (&stream);
  mtl_file_stream_add_crc (&stream);
  if (!skip (&stream, member->header_size, error)
      || !inflate (&stream, tensor->memory->contents, end, monitor, error)
      || !mtl_file_stream_check (&stream, member->size, member->crc, monitor->cancellable, error))
    return mtl_prefix_tensor_name (error, tensor->entry->name);

  mtl_swap_bytes (tensor->memory->contents, end, get_swapped_size (tensor->entry));
  return TRUE;
}

/* Reads the header, and bytes that may follow, as the elements have already been read. */
static gboolean
check_stored (const MtlFileSource  *source,
              const PlacedTensor   *tensor,
              GCancellable         *cancellable,
              GError              **error)
{
  const MtlTensorEntry *entry = tensor->entry;
  const MtlArchiveMember *member = entry->member;
  g_auto (MtlFileStream) stream = { 0 };

  mtl_file_stream_init (&stream, source, member->begin, member->begin + member->stored_size, NULL,
                        0);
  mtl_file_stream_add_crc (&stream);
  if (!skip (&stream, member->header_size, error))
    return mtl_prefix_tensor_name (error, entry->name);

  mtl_file_stream_pass (&stream, entry->end - entry->begin, tensor->crc);
  return mtl_file_stream_check (&stream, member->size, member->crc, cancellable, error)
         || mtl_prefix_tensor_name (error, entry->name);
}

static gboolean
check_group (const Reading     *self,
             gsize              n_tensors,
             const MtlMonitor  *monitor,
             GError           **error)
{
  const MtlTensorEntry *first = self->tensors[0]->entry;

  /* Compressed tensors were checked when they were inflated. */
  if (first->member == NULL || first->member->is_deflated)
    return TRUE;

  for (gsize i = 0; i < n_tensors; i++)
    if (!mtl_monitor_check (monitor, error)
        || !check_stored (self->source, self->tensors[i], monitor->cancellable, error))
      return FALSE;

  return TRUE;
}

/* Reads tensors of one part that are all compressed, or all not compressed. */
static gboolean
read_group (MtlTensorFile  *self,
            PlacedTensor  **tensors,
            gsize           n_tensors,
            MtlPieceCount  *count,
            GError        **error)
{
  const MtlTensorEntry *first = tensors[0]->entry;
  g_autofree guint64 *ends = g_try_new (guint64, n_tensors);
  g_auto (MtlPartReader) reader = { 0 };
  Reading reading = { .tensors = tensors };
  const MtlPieces pieces = {
    .ends = ends,
    .n_ranges = n_tensors,
    .whole = mtl_tensor_entry_is_deflated (first),
    .func = mtl_tensor_entry_is_deflated (first) ? inflate_tensor : read_piece,
    .data = &reading,
  };
  guint64 end = 0;

  if (ends == NULL)
    return mtl_set_no_memory (n_tensors * sizeof (guint64), error);

  for (gsize i = 0; i < n_tensors; i++)
    ends[i] = end += tensors[i]->memory->size;

  if (!mtl_part_reader_init (&reader, self, &self->parts[first->file], error)
      || !mtl_file_source_check_unchanged (reader.source, error))
    return FALSE;

  reading.source = reader.source;
  /* If the file was written to in the meantime, the data may be a mixture. */
  return mtl_pieces_run (&pieces, count, error)
         && check_group (&reading, n_tensors, count->monitor, error)
         && mtl_file_source_check_unchanged (reader.source, error);
}

static int
compare_reading (gconstpointer a,
                 gconstpointer b)
{
  const MtlTensorEntry *x = (*(PlacedTensor *const *) a)->entry;
  const MtlTensorEntry *y = (*(PlacedTensor *const *) b)->entry;

  if (x->file != y->file)
    return x->file < y->file ? -1 : 1;
  if (mtl_tensor_entry_is_deflated (x) != mtl_tensor_entry_is_deflated (y))
    return mtl_tensor_entry_is_deflated (x) ? 1 : -1;

  return (x->begin > y->begin) - (x->begin < y->begin);
}

static gboolean
is_read_alike (const MtlTensorEntry *a,
               const MtlTensorEntry *b)
{
  return a->file == b->file
         && mtl_tensor_entry_is_deflated (a) == mtl_tensor_entry_is_deflated (b);
}

/* Sorts the tensors. */
static gboolean
read_tensors (MtlTensorFile     *self,
              PlacedTensor     **tensors,
              gsize              n_tensors,
              const MtlMonitor  *monitor,
              GError           **error)
{
  MtlPieceCount count = { .monitor = monitor };
  gsize end;

  qsort (tensors, n_tensors, sizeof *tensors, compare_reading);
  for (gsize i = 0; i < n_tensors; i++)
    count.total += tensors[i]->memory->size;

  for (gsize begin = 0; begin < n_tensors; begin = end)
    {
      end = begin + 1;
      while (end < n_tensors && is_read_alike (tensors[begin]->entry, tensors[end]->entry))
        end++;
      if (!read_group (self, tensors + begin, end - begin, &count, error))
        return FALSE;
    }

  return TRUE;
}

static MtlStridedView *
new_view (PlacedTensor  *tensor,
          GError       **error)
{
  const MtlTensorEntry *entry = tensor->entry;
  MtlElementType type = mtl_element_type_new (entry->dtype);
  g_autoptr (MtlStridedView) view = NULL;
  MtlLayout layout;

  if (!mtl_layout_new_dense (entry->shape, entry->n_dims, entry->order, type.bits, &layout, error))
    return NULL;

  view = mtl_strided_view_new_take (g_steal_pointer (&tensor->memory), tensor->offset, type,
                                    &layout);
  /* Empty tensors have memory of their own, but are read-only, too. */
  return tensor->is_mapped && !view->read_only ? mtl_strided_view_as_read_only (view)
                                               : g_steal_pointer (&view);
}

MtlStridedView *
mtl_tensor_file_view_of (MtlTensorFile         *self,
                         const MtlTensorEntry  *entry,
                         const MtlMonitor      *monitor,
                         GError               **error)
{
  PlacedTensor tensor = { .entry = entry }, *tensors = &tensor;
  MtlStridedView *view = NULL;

  if (entry->is_refused)
    {
      mtl_tensor_file_part_refuse (&self->parts[entry->file], entry, error);
      return NULL;
    }

  if (mtl_monitor_check (monitor, error) && place (self, &tensor, error)
      && (!tensor.is_read || read_tensors (self, &tensors, 1, monitor, error)))
    view = new_view (&tensor, error);

  g_clear_pointer (&tensor.memory, mtl_memory_unref);
  return view;
}

void
mtl_tensor_file_free_views (MtlStridedView **views,
                            gsize            n_views)
{
  for (gsize i = 0; i < n_views; i++)
    g_clear_object (&views[i]);
  g_free (views);
}

/* Only those that can be loaded. If there are none of these among several, that is an error. */
static PlacedTensor *
find_matches (MtlTensorFile  *self,
              const char     *pattern,
              gsize          *n_matches,
              GError        **error)
{
  g_autoptr (GPatternSpec) spec = mtl_name_pattern_new (pattern);
  g_autofree PlacedTensor *tensors = g_try_new0 (PlacedTensor, self->table->n_entries + 1);
  const MtlTensorEntry *refused = NULL;
  gsize n = 0;

  *n_matches = 0;
  if (tensors == NULL)
    {
      mtl_set_no_memory ((self->table->n_entries + 1) * sizeof (PlacedTensor), error);
      return NULL;
    }

  for (gsize i = 0; i < self->table->n_entries; i++)
    {
      const MtlTensorEntry *entry = &self->table->entries[i];

      if (!mtl_name_pattern_matches (spec, entry->name))
        continue;
      if (!entry->is_refused)
        tensors[n++].entry = entry;
      else if (refused == NULL)
        refused = entry;
    }

  if (n == 0 && refused != NULL)
    {
      mtl_tensor_file_part_refuse (&self->parts[refused->file], refused, error);
      return NULL;
    }
  *n_matches = n;
  return g_steal_pointer (&tensors);
}

static gboolean
place_all (MtlTensorFile     *self,
           PlacedTensor      *tensors,
           gsize              n_tensors,
           const MtlMonitor  *monitor,
           GError           **error)
{
  g_autofree PlacedTensor **to_read = g_try_new (PlacedTensor *, n_tensors + 1);
  gsize n_to_read = 0;

  if (to_read == NULL)
    return mtl_set_no_memory ((n_tensors + 1) * sizeof (PlacedTensor *), error);

  for (gsize i = 0; i < n_tensors; i++)
    {
      if (!mtl_monitor_check (monitor, error)
          || !place (self, &tensors[i], error))
        return FALSE;
      if (tensors[i].is_read)
        to_read[n_to_read++] = &tensors[i];
    }

  return read_tensors (self, to_read, n_to_read, monitor, error);
}

static MtlStridedView **
new_views (PlacedTensor  *tensors,
           gsize          n_tensors,
           GError       **error)
{
  MtlStridedView **views = g_try_new0 (MtlStridedView *, n_tensors + 1);

  if (views == NULL)
    {
      mtl_set_no_memory ((n_tensors + 1) * sizeof (MtlStridedView *), error);
      return NULL;
    }

  for (gsize i = 0; i < n_tensors; i++)
    {
      views[i] = new_view (&tensors[i], error);
      if (views[i] == NULL)
        {
          mtl_tensor_file_free_views (views, i);
          return NULL;
        }
    }

  return views;
}

MtlStridedView **
mtl_tensor_file_load_views_monitored (MtlTensorFile     *self,
                                      const char        *pattern,
                                      const MtlMonitor  *monitor,
                                      gsize             *n_views,
                                      GError           **error)
{
  g_autofree PlacedTensor *tensors = find_matches (self, pattern, n_views, error);
  MtlStridedView **views = NULL;
  gsize n_tensors = *n_views;

  if (tensors != NULL && mtl_tensor_file_check_open (self, error)
      && place_all (self, tensors, n_tensors, monitor, error))
    views = new_views (tensors, n_tensors, error);

  for (gsize i = 0; i < n_tensors; i++)
    g_clear_pointer (&tensors[i].memory, mtl_memory_unref);
  if (views == NULL)
    *n_views = 0;
  return views;
}

/* Checks: the bytes are always read from the file and never from a mapping,
 * so that missing ones are an error and not a signal. */

/* Some tensors of one part. */
typedef struct
{
  const MtlFileSource *source;
  const MtlTensorEntry *entries;
  MtlTensorFileChecks checks;
} Checking;

static gboolean
check_alignment (const MtlTensorEntry  *entry,
                 GError               **error)
{
  guint size = mtl_element_type_get_number_size (mtl_element_type_new (entry->dtype));

  if (entry->begin == entry->end || mtl_tensor_entry_is_deflated (entry)
      || entry->begin % size == 0)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
               "It begins at byte %" G_GUINT64_FORMAT ", which is not a multiple of the %u bytes "
               "of its numbers", entry->begin, size);
  return FALSE;
}

/* The indices of the element that contains the byte at offset. */
static char *
describe_place (const MtlTensorEntry *entry,
                guint64               offset)
{
  guint64 position = offset / (mtl_dtype_get_bits (entry->dtype) / 8);
  gint64 indices[MTL_LAYOUT_MAX_DIMS];

  for (guint i = 0; i < entry->n_dims; i++)
    {
      guint axis = entry->order == MTL_ORDER_F ? i : entry->n_dims - 1 - i;

      indices[axis] = position % entry->shape[axis];
      position /= entry->shape[axis];
    }

  return mtl_dims_to_string (indices, entry->n_dims);
}

static gboolean
check_values (const MtlTensorEntry  *entry,
              MtlTensorFileChecks    checks,
              guint64                begin,
              const guint8          *bytes,
              gsize                  size,
              GError               **error)
{
  g_autofree char *place = NULL;
  MtlWrongValues wrong;
  gsize offset;

  mtl_wrong_values_init (&wrong, entry->dtype, entry->is_big_endian, checks);
  if (!mtl_wrong_values_find (&wrong, bytes, size, &offset))
    return TRUE;

  place = describe_place (entry, begin + offset);
  if (entry->dtype == MTL_DTYPE_BOOL)
    g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
                 "Element %s is the byte %u, but a bool is 0 or 1", place, bytes[offset]);
  else
    g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA, "Element %s is %s", place,
                 mtl_wrong_values_is_infinite (&wrong, bytes + offset) ? "infinite" : "NaN");
  return FALSE;
}

static gboolean
check_bytes (const Checking        *checking,
             const MtlTensorEntry  *entry,
             guint64                begin,
             guint64                end,
             const MtlMonitor      *monitor,
             GError               **error)
{
  const gsize block_size = MIN (end - begin, BLOCK_SIZE);
  g_autofree guint8 *block = g_try_malloc (MAX (block_size, 1));

  if (block == NULL)
    return mtl_set_no_memory (block_size, error);

  for (gsize size; begin < end; begin += size)
    {
      size = MIN (end - begin, BLOCK_SIZE);
      if (!mtl_monitor_check (monitor, error)
          || !mtl_file_source_read_at (checking->source, entry->begin + begin, block, size, error)
          || !check_values (entry, checking->checks, begin, block, size, error))
        return FALSE;
    }

  return TRUE;
}

static gboolean
check_piece (gpointer           data,
             gsize              index,
             guint64            begin,
             guint64            end,
             const MtlMonitor  *monitor,
             GError           **error)
{
  const Checking *checking = data;
  const MtlTensorEntry *entry = &checking->entries[index];

  if (entry->is_refused || check_bytes (checking, entry, begin, end, monitor, error))
    return TRUE;

  return mtl_prefix_tensor_name (error, entry->name);
}

static gboolean
check_stream (const Checking        *checking,
              const MtlTensorEntry  *entry,
              MtlFileStream         *stream,
              const MtlMonitor      *monitor,
              GError               **error)
{
  const MtlArchiveMember *member = entry->member;
  const guint64 n_bytes = entry->end - entry->begin;
  const gsize block_size = MAX (BLOCK_SIZE, member->header_size);
  g_autofree guint8 *block = g_try_malloc (block_size);

  if (block == NULL)
    return mtl_set_no_memory (block_size, error);
  if (!mtl_file_stream_read (stream, block, member->header_size, error))
    return FALSE;

  for (guint64 begin = 0; begin < n_bytes; begin += BLOCK_SIZE)
    {
      gsize size = MIN (n_bytes - begin, BLOCK_SIZE);

      if (!mtl_monitor_check (monitor, error)
          || !mtl_file_stream_read (stream, block, size, error)
          || !check_values (entry, checking->checks, begin, block, size, error))
        return FALSE;
    }

  return mtl_file_stream_check (stream, member->size, member->crc, monitor->cancellable, error);
}

static gboolean
check_member (gpointer           data,
              gsize              index,
              guint64            begin,
              guint64            end,
              const MtlMonitor  *monitor,
              GError           **error)
{
  const Checking *checking = data;
  const MtlTensorEntry *entry = &checking->entries[index];
  const MtlArchiveMember *member = entry->member;
  g_auto (MtlFileStream) stream = { 0 };

  if (entry->is_refused)
    return TRUE;

  mtl_file_stream_init (&stream, checking->source, member->begin,
                        member->begin + member->stored_size, NULL, 0);
  mtl_file_stream_add_crc (&stream);
  if (member->is_deflated)
    mtl_file_stream_inflate (&stream);
  if (check_stream (checking, entry, &stream, monitor, error))
    return TRUE;

  return mtl_prefix_tensor_name (error, entry->name);
}

static gboolean
check_alignments (const MtlTensorEntry  *entries,
                  gsize                  n_entries,
                  GError               **error)
{
  for (gsize i = 0; i < n_entries; i++)
    if (!entries[i].is_refused && !check_alignment (&entries[i], error))
      return mtl_prefix_tensor_name (error, entries[i].name);

  return TRUE;
}

static guint64
count_bytes (const MtlTensorEntry *entry)
{
  return !entry->is_refused ? entry->end - entry->begin : 0;
}

/* Checks the entries of one part that can be loaded. */
static gboolean
check_entries (MtlTensorFile         *self,
               MtlTensorFilePart     *part,
               const MtlTensorEntry  *entries,
               gsize                  n_entries,
               MtlTensorFileChecks    checks,
               MtlPieceCount         *count,
               GError               **error)
{
  const gboolean is_archive = part->table->format == MTL_TENSOR_FILE_FORMAT_NPZ;
  g_autofree guint64 *ends = g_try_new (guint64, n_entries + 1);
  g_auto (MtlPartReader) reader = { 0 };
  Checking checking = { .entries = entries, .checks = checks };
  const MtlPieces pieces = {
    .ends = ends,
    .n_ranges = n_entries,
    .whole = is_archive,
    .func = is_archive ? check_member : check_piece,
    .data = &checking,
  };
  guint64 end = 0;

  if (ends == NULL)
    return mtl_set_no_memory ((n_entries + 1) * sizeof (guint64), error);

  for (gsize i = 0; i < n_entries; i++)
    ends[i] = end += count_bytes (&entries[i]);

  if (((checks & MTL_TENSOR_FILE_CHECKS_ALIGNMENT) && !check_alignments (entries, n_entries, error))
      || !mtl_part_reader_init (&reader, self, part, error)
      || !mtl_file_source_check_unchanged (reader.source, error))
    return FALSE;

  checking.source = reader.source;
  return mtl_pieces_run (&pieces, count, error)
         && mtl_file_source_check_unchanged (reader.source, error);
}

/* Tensors that only the index names, or only a file has, cannot be loaded either. */
static gboolean
check_loadable (MtlTensorFile  *self,
                GError        **error)
{
  for (gsize i = 0; i < self->table->n_entries; i++)
    {
      const MtlTensorEntry *entry = &self->table->entries[i];

      if (entry->is_refused)
        return mtl_tensor_file_part_refuse (&self->parts[entry->file], entry, error);
    }

  for (gsize i = 0; i < self->n_parts; i++)
    {
      const MtlTensorTable *table = self->parts[i].table;

      for (gsize j = 0; table != NULL && j < table->n_entries; j++)
        if (table->entries[j].is_refused)
          return mtl_tensor_file_part_refuse (&self->parts[i], &table->entries[j], error);
    }

  return TRUE;
}

gboolean
mtl_tensor_file_check_monitored (MtlTensorFile        *self,
                                 MtlTensorFileChecks   checks,
                                 const MtlMonitor     *monitor,
                                 GError              **error)
{
  MtlPieceCount count = { .monitor = monitor };

  if (!mtl_tensor_file_check_open (self, error)
      || ((checks & MTL_TENSOR_FILE_CHECKS_LOADABLE) && !check_loadable (self, error)))
    return FALSE;

  for (gsize i = 0; i < self->n_parts; i++)
    {
      const MtlTensorTable *table = self->parts[i].table;

      for (gsize j = 0; table != NULL && j < table->n_entries; j++)
        count.total += count_bytes (&table->entries[j]);
    }

  for (gsize i = 0; i < self->n_parts; i++)
    {
      const MtlTensorTable *table = self->parts[i].table;

      if (table == NULL)
        continue;
      if (!mtl_monitor_check (monitor, error)
          || !check_entries (self, &self->parts[i], table->entries, table->n_entries, checks,
                             &count, error))
        return FALSE;
    }

  return TRUE;
}

gboolean
mtl_tensor_file_check_entry (MtlTensorFile         *self,
                             const MtlTensorEntry  *entry,
                             MtlTensorFileChecks    checks,
                             const MtlMonitor      *monitor,
                             GError               **error)
{
  MtlPieceCount count = { .monitor = monitor, .total = count_bytes (entry) };

  if (entry->is_refused)
    return mtl_tensor_file_check_open (self, error)
           && (!(checks & MTL_TENSOR_FILE_CHECKS_LOADABLE)
               || mtl_tensor_file_part_refuse (&self->parts[entry->file], entry, error));

  return mtl_monitor_check (monitor, error)
         && check_entries (self, &self->parts[entry->file], entry, 1, checks, &count, error);
}
