/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Checks tensors. The bytes are always read from the file and never from a mapping,
 * so that missing ones are an error and not a signal. */

#include "mtl-tensor-file-private.h"

#include "mtl-element-type-private.h"
#include "mtl-error-private.h"
#include "mtl-file-stream-private.h"
#include "mtl-layout-private.h"
#include "mtl-progress-private.h"
#include "mtl-quoted-text-private.h"
#include "mtl-tensor-pieces-private.h"
#include "mtl-tensor-values-private.h"

/* Small enough to stay in a cache. */
#define BLOCK_SIZE (256 * 1024)

G_STATIC_ASSERT (BLOCK_SIZE % MTL_PIECE_ALIGNMENT == 0);

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
