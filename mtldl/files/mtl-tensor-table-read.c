/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-tensor-table-read-private.h"

#include <string.h>

#include "mtl-error-private.h"
#include "mtl-file-stream-private.h"
#include "mtl-message-text-private.h"
#include "mtl-npy-header-private.h"
#include "mtl-safetensors-header-private.h"
#include "mtl-safetensors-index-private.h"
#include "mtl-zip-directory-private.h"

#define NPY_SUFFIX ".npy"

/* Enough bytes to detect any format. */
#define MAX_PREFIX_SIZE 16
/* Bytes to read at once. Most headers are shorter; their size is in them. */
#define HEAD_SIZE 1024

static guint8 *
allocate_bytes (gsize    size,
                GError **error)
{
  guint8 *bytes = g_try_malloc (MAX (size, 1));

  if (bytes == NULL)
    mtl_set_no_memory (size, error);
  return bytes;
}

static guint8 *
read_bytes (const MtlFileSource  *source,
            guint64               begin,
            gsize                 size,
            GError              **error)
{
  g_autofree guint8 *bytes = allocate_bytes (size, error);

  return bytes != NULL && mtl_file_source_read_at (source, begin, bytes, size, error)
           ? g_steal_pointer (&bytes)
           : NULL;
}

static MtlTensorTable *
read_safetensors (MtlFileStream  *stream,
                  GError        **error)
{
  const guint64 file_size = stream->end;
  const gsize prefix_size = MIN (file_size, MTL_SAFETENSORS_PREFIX_SIZE);
  guint8 prefix[MTL_SAFETENSORS_PREFIX_SIZE];
  g_autofree guint8 *header = NULL;
  gsize size;

  if (!mtl_file_stream_read (stream, prefix, prefix_size, error)
      || !mtl_safetensors_header_get_size (prefix, prefix_size, file_size, &size, error))
    return NULL;

  header = allocate_bytes (size, error);
  if (header == NULL || !mtl_file_stream_read (stream, header, size, error))
    return NULL;

  return mtl_safetensors_header_parse ((const char *) header, size, file_size, error);
}

static MtlTensorTable *
read_index (MtlFileStream  *stream,
            GError        **error)
{
  /* One byte more than the limit, so that the parser rejects it. */
  gsize size = MIN (stream->end, MTL_SAFETENSORS_MAX_INDEX_SIZE + 1);
  g_autofree guint8 *text = allocate_bytes (size, error);

  if (text == NULL || !mtl_file_stream_read (stream, text, size, error))
    return NULL;

  return mtl_safetensors_index_parse ((const char *) text, size, error);
}

/* The header of an array, as far as it can be read. The offsets of the entry count from
 * the prefix. */
typedef struct
{
  MtlTensorEntry entry;
  gint64 shape[MTL_LAYOUT_MAX_DIMS];
  gsize size;      /* 0 if there is none */
  char *type_name; /* only set if elements cannot be loaded */
} ArrayHeader;

static void
array_header_clear (ArrayHeader *self)
{
  g_clear_pointer (&self->type_name, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (ArrayHeader, array_header_clear)

/* The size is that of the header and all that follows. */
static gboolean
read_array_header (MtlFileStream  *stream,
                   guint64         size,
                   ArrayHeader    *self,
                   GError        **error)
{
  const gsize prefix_size = MIN (size, MTL_NPY_MAX_PREFIX_SIZE);
  guint8 prefix[MTL_NPY_MAX_PREFIX_SIZE];
  g_autofree guint8 *header = NULL;

  self->entry = (MtlTensorEntry) { .end = size };
  self->size = 0;
  self->type_name = NULL;
  if (!mtl_file_stream_read (stream, prefix, prefix_size, error)
      || !mtl_npy_header_get_size (prefix, prefix_size, size, &self->size, error))
    return FALSE;

  header = allocate_bytes (MAX (self->size, prefix_size), error);
  if (header == NULL)
    return FALSE;

  memcpy (header, prefix, prefix_size);
  if (self->size > prefix_size
      && !mtl_file_stream_read (stream, header + prefix_size, self->size - prefix_size, error))
    return FALSE;

  return mtl_npy_header_parse (header, self->size, size, self->shape, &self->entry,
                               &self->type_name, error);
}

static MtlTensorTable *
read_npy (MtlFileStream  *stream,
          GError        **error)
{
  g_autoptr (MtlTensorTable) table = mtl_tensor_table_new (MTL_TENSOR_FILE_FORMAT_NPY);
  g_auto (ArrayHeader) header = { 0 };

  if (!read_array_header (stream, stream->end, &header, error))
    return NULL;

  header.entry.name = "";
  if (!mtl_tensor_table_add (table, &header.entry, error)
      || !mtl_tensor_table_index_names (table, error))
    return NULL;

  return g_steal_pointer (&table);
}

static gboolean
ends_in (const MtlZipMember *member,
         const char         *ending)
{
  gsize size = strlen (ending);

  return member->name_size >= size
         && memcmp (member->name + member->name_size - size, ending, size) == 0;
}

/* NumPy names its arrays like this. Bytes that are not UTF-8 are escaped. */
static const char *
dup_array_name (const MtlZipMember  *member,
                MtlArena            *arena,
                GError             **error)
{
  gsize size = member->name_size - (ends_in (member, NPY_SUFFIX) ? strlen (NPY_SUFFIX) : 0);
  g_autofree char *escaped = NULL;

  if (mtl_zip_member_check_name (member, NULL))
    return mtl_arena_dup_text (arena, member->name, size, error);

  escaped = mtl_escape_text (member->name, size, MTL_ESCAPE_FLAGS_NONE);
  return mtl_arena_dup_text (arena, escaped, strlen (escaped), error);
}

static gboolean
check_no_folder (const MtlZipMember  *member,
                 GError             **error)
{
  if (!ends_in (member, "/"))
    return TRUE;

  g_set_error_literal (error, MTL_ERROR, MTL_ERROR_INVALID_DATA, "It is a folder, not an array");
  return FALSE;
}

/* The first bytes are those of the member's local header, and the bytes after it. */
static gboolean
read_member (const MtlFileSource  *source,
             const guint8         *first,
             gsize                 n_first,
             const MtlZipEnd      *end,
             const MtlZipMember   *member,
             ArrayHeader          *header,
             guint64              *begin,
             GError              **error)
{
  g_auto (MtlFileStream) stream = { 0 };
  gsize skipped;

  if (!mtl_zip_member_find_begin (member, first, end, begin, error))
    return FALSE;

  skipped = MIN (*begin - member->local_begin, n_first);
  mtl_file_stream_init (&stream, source, *begin, *begin + member->stored_size, first + skipped,
                        n_first - skipped);
  if (member->is_deflated)
    mtl_file_stream_inflate (&stream);
  return read_array_header (&stream, member->size, header, error);
}

/* Sets the place where the member begins, and the offsets of the header's entry count
 * from there. */
static gboolean
read_member_at (const MtlFileSource  *source,
                const MtlZipEnd      *end,
                const MtlZipMember   *member,
                ArrayHeader          *header,
                guint64              *begin,
                GError              **error)
{
  const gsize header_size = MTL_ZIP_LOCAL_HEADER_SIZE + member->name_size;
  const gsize size = MIN (MAX (header_size, HEAD_SIZE), end->begin - member->local_begin);
  g_autofree guint8 *allocated = NULL;
  guint8 head[HEAD_SIZE];
  guint8 *first = size <= HEAD_SIZE ? head : (allocated = allocate_bytes (size, error));

  *begin = member->local_begin;
  header->entry = (MtlTensorEntry) { .end = member->stored_size };
  return first != NULL && check_no_folder (member, error) && mtl_zip_member_check (member, error)
         && mtl_file_source_read_at (source, member->local_begin, first, size, error)
         && read_member (source, first, size, end, member, header, begin, error)
         && mtl_zip_member_check_name (member, error);
}

static const MtlArchiveMember *
new_archive_member (const MtlZipMember  *zip_member,
                    guint64              begin,
                    gsize                header_size,
                    MtlArena            *arena,
                    GError             **error)
{
  MtlArchiveMember *member = mtl_arena_alloc (arena, sizeof *member, sizeof (guint64), error);

  if (member != NULL)
    *member = (MtlArchiveMember) {
      .begin = begin,
      .stored_size = zip_member->stored_size,
      .size = zip_member->size,
      .header_size = header_size,
      .crc = zip_member->crc,
      .is_deflated = zip_member->is_deflated,
    };
  return member;
}

/* The kind of a member that cannot be loaded; NULL if the kind is unknown, or follows from the
 * dtype. */
static const char *
find_type_name (const MtlZipMember *member,
                const ArrayHeader  *header)
{
  if (header->size > 0 || ends_in (member, NPY_SUFFIX))
    return header->type_name;

  return ends_in (member, "/") ? "folder" : "file";
}

/* A lack of memory, and errors of the system, are not the member's own. */
static gboolean
refuse_member (const MtlZipMember  *member,
               ArrayHeader         *header,
               MtlTensorTable      *table,
               GError              *why,
               GError             **error)
{
  if (why->domain != MTL_ERROR || why->code == MTL_ERROR_NO_MEMORY)
    {
      g_propagate_error (error, g_error_copy (why));
      return FALSE;
    }

  header->entry.yields_name = !mtl_zip_member_check_name (member, NULL)
                              || (header->size == 0 && !ends_in (member, NPY_SUFFIX));
  return mtl_tensor_table_refuse (table, &header->entry, find_type_name (member, header), why,
                                  error);
}

/* Returns whether the member was added. Sets whether it has the header of an array. */
static gboolean
add_member (const MtlFileSource  *source,
            const MtlZipEnd      *end,
            const MtlZipMember   *member,
            MtlTensorTable       *table,
            gboolean             *is_array,
            GError              **error)
{
  g_autoptr (GError) why = NULL;
  g_auto (ArrayHeader) header = { 0 };
  MtlTensorEntry *entry = &header.entry;
  guint64 begin;

  if (!read_member_at (source, end, member, &header, &begin, &why))
    {
      if (!refuse_member (member, &header, table, why, error))
        return FALSE;
    }
  else
    {
      entry->member = new_archive_member (member, begin, header.size, &table->arena, error);
      if (entry->member == NULL)
        return FALSE;
    }

  *is_array = header.size > 0;
  entry->end += begin - (member->is_deflated ? entry->begin : 0);
  entry->begin = begin + (member->is_deflated ? 0 : entry->begin);
  entry->name = dup_array_name (member, &table->arena, error);
  return entry->name != NULL && mtl_tensor_table_add (table, entry, error);
}

static MtlZipDirectory *
read_directory (const MtlFileSource  *source,
                MtlZipEnd            *end,
                GError              **error)
{
  gsize tail_size = MIN (source->size, MTL_ZIP_MAX_TAIL_SIZE);
  g_autofree guint8 *tail = read_bytes (source, source->size - tail_size, tail_size, error);
  g_autofree guint8 *bytes = NULL;

  if (tail == NULL || !mtl_zip_end_parse (tail, tail_size, source->size, end, error))
    return NULL;

  bytes = read_bytes (source, end->begin, end->size, error);
  return bytes != NULL ? mtl_zip_directory_parse (bytes, end, error) : NULL;
}

static gboolean
add_members (const MtlFileSource    *source,
             const MtlZipDirectory  *directory,
             const MtlZipEnd        *end,
             MtlTensorTable         *table,
             gboolean               *has_arrays,
             GCancellable           *cancellable,
             GError                **error)
{
  *has_arrays = FALSE;
  for (gsize i = 0; i < directory->n_members; i++)
    {
      gboolean is_array;

      if (g_cancellable_set_error_if_cancelled (cancellable, error)
          || !add_member (source, end, &directory->members[i], table, &is_array, error))
        return FALSE;
      *has_arrays = *has_arrays || is_array;
    }

  return TRUE;
}

/* Archives of anything else are refused, too, if no array was found in them. */
static gboolean
check_names (const MtlZipDirectory  *directory,
             GError                **error)
{
  g_autofree char *first = NULL;

  if (directory->n_members == 0)
    return TRUE;

  for (gsize i = 0; i < directory->n_members; i++)
    if (ends_in (&directory->members[i], NPY_SUFFIX))
      return TRUE;

  first = mtl_quote_text (directory->members[0].name, directory->members[0].name_size);
  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
               "Expected an archive of .npy files, but it has %" G_GSIZE_FORMAT " other member%s,"
               " such as %s", directory->n_members, MTL_S (directory->n_members), first);
  return FALSE;
}

static MtlTensorTable *
read_npz (const MtlFileSource  *source,
          GCancellable         *cancellable,
          GError              **error)
{
  g_autoptr (MtlTensorTable) table = mtl_tensor_table_new (MTL_TENSOR_FILE_FORMAT_NPZ);
  MtlZipEnd end;
  g_autoptr (MtlZipDirectory) directory = read_directory (source, &end, error);
  gboolean has_arrays;

  if (directory == NULL
      || !add_members (source, directory, &end, table, &has_arrays, cancellable, error)
      || (!has_arrays && !check_names (directory, error))
      || !mtl_tensor_table_index_members (table, error))
    return NULL;

  return g_steal_pointer (&table);
}

/* Text has no zeros, so the beginning of JSON would be a header size beyond the
 * limit. */
static gboolean
is_index (const guint8 *prefix,
          gsize         size)
{
  gsize at = 0;

  while (at < size && g_ascii_isspace (prefix[at]))
    at++;

  return at < size && prefix[at] == '{'
         && (size < MTL_SAFETENSORS_PREFIX_SIZE
             || memchr (prefix, 0, MTL_SAFETENSORS_PREFIX_SIZE) == NULL);
}

static gboolean
begins_with (const guint8 *prefix,
             gsize         size,
             const char   *mark)
{
  return size >= strlen (mark) && memcmp (prefix, mark, strlen (mark)) == 0;
}

static MtlTensorFileFormat
find_format (const guint8 *prefix,
             gsize         size)
{
  if (begins_with (prefix, size, "\x93NUMPY"))
    return MTL_TENSOR_FILE_FORMAT_NPY;
  if (begins_with (prefix, size, "PK\3\4") || begins_with (prefix, size, "PK\5\6"))
    return MTL_TENSOR_FILE_FORMAT_NPZ;

  return MTL_TENSOR_FILE_FORMAT_SAFETENSORS;
}

static MtlTensorTable *
read_table (MtlFileStream        *stream,
            MtlTensorFileFormat   format,
            gboolean              is_index,
            GCancellable         *cancellable,
            GError              **error)
{
  switch (format)
    {
    case MTL_TENSOR_FILE_FORMAT_NPY:
      return read_npy (stream, error);
    case MTL_TENSOR_FILE_FORMAT_NPZ:
      return read_npz (stream->source, cancellable, error);
    case MTL_TENSOR_FILE_FORMAT_SAFETENSORS:
    default:
      return is_index ? read_index (stream, error) : read_safetensors (stream, error);
    }
}

/* Detects the size of a header that is within the limit and the file, or is followed by a
 * header; or text like that of an index. */
static gboolean
may_be_safetensors (const guint8 *head,
                    gsize         size,
                    guint64       file_size)
{
  guint64 length;

  if (size < MTL_SAFETENSORS_PREFIX_SIZE
      || (size > MTL_SAFETENSORS_PREFIX_SIZE && head[MTL_SAFETENSORS_PREFIX_SIZE] == '{')
      || is_index (head, MIN (size, MAX_PREFIX_SIZE)))
    return TRUE;

  memcpy (&length, head, sizeof length);
  length = GUINT64_FROM_LE (length);
  file_size -= MTL_SAFETENSORS_PREFIX_SIZE;
  return length <= MTL_SAFETENSORS_MAX_HEADER_SIZE && (file_size == 0 || length <= file_size);
}

static void
refuse_start (const guint8  *head,
              gsize          size,
              GError       **error)
{
  g_autoptr (GString) bytes = g_string_new (NULL);
  g_autofree char *text = NULL;

  if (size == 0)
    {
      g_set_error_literal (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
                           "Expected safetensors, .npy or .npz, but the file is empty");
      return;
    }

  size = MIN (size, MAX_PREFIX_SIZE);
  for (gsize i = 0; i < size; i++)
    g_string_append_printf (bytes, " %02x", head[i]);
  text = mtl_quote_text ((const char *) head, size);
  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
               "Expected safetensors, .npy or .npz, but the file begins with%s, %s", bytes->str,
               text);
}

MtlTensorTable *
mtl_tensor_table_read (const MtlFileSource  *source,
                       GCancellable         *cancellable,
                       GError              **error)
{
  const gsize head_size = MIN (source->size, HEAD_SIZE);
  const gsize prefix_size = MIN (head_size, MAX_PREFIX_SIZE);
  g_auto (MtlFileStream) stream = { 0 };
  g_autoptr (GError) local_error = NULL;
  guint8 head[HEAD_SIZE];
  MtlTensorFileFormat format;
  MtlTensorTable *table = NULL;

  if (!mtl_file_source_read_at (source, 0, head, head_size, error))
    return NULL;

  mtl_file_stream_init (&stream, source, 0, source->size, head, head_size);
  format = find_format (head, prefix_size);
  if (head_size == 0
      || (format == MTL_TENSOR_FILE_FORMAT_SAFETENSORS
          && !may_be_safetensors (head, head_size, source->size)))
    refuse_start (head, head_size, &local_error);
  else
    table = read_table (&stream, format, is_index (head, prefix_size), cancellable, &local_error);
  if (table != NULL)
    return table;

  if (local_error->domain == MTL_ERROR && strstr (local_error->message, source->name) == NULL)
    g_prefix_error (&local_error, "%s: ", source->name);
  g_propagate_error (error, g_steal_pointer (&local_error));
  return NULL;
}
