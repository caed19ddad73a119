/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Loads the tensors of a file into memory and creates views of them. */

#include "mtl-tensor-file-private.h"

#include <stdlib.h>

#include "mtl-crc-private.h"
#include "mtl-element-type-private.h"
#include "mtl-error-private.h"
#include "mtl-file-stream-private.h"
#include "mtl-quoted-text-private.h"
#include "mtl-strided-view-private.h"
#include "mtl-tensor-pieces-private.h"
#include "mtl-tensor-values-private.h"

/* Bytes inflated between two checks of the cancellable. */
#define INFLATED_SIZE (1024 * 1024)
/* Small enough to stay in a cache until its checksum is computed. */
#define BLOCK_SIZE (256 * 1024)

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

static MtlMemory *
allocate (MtlTensorFile         *self,
          const MtlTensorEntry  *entry,
          GError               **error)
{
  g_autoptr (MtlMemory) memory = mtl_memory_new (self->device, entry->end - entry->begin,
                                                 MTL_STORAGE_MODE_DEFAULT, FALSE, error);

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
  MtlStridedView *view;
  MtlLayout layout;

  if (!mtl_layout_new_dense (entry->shape, entry->n_dims, entry->order, type.bits, &layout, error))
    return NULL;

  view = mtl_strided_view_new_take (g_steal_pointer (&tensor->memory), tensor->offset, type,
                                    &layout);
  /* Empty tensors have memory of their own, but are read-only, too. */
  view->read_only = view->read_only || tensor->is_mapped;
  return view;
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
