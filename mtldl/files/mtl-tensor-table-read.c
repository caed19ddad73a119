/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-tensor-table-read-private.h"

#include <string.h>

#include "mtl-error.h"
#include "mtl-npy-header-private.h"
#include "mtl-quoted-text-private.h"
#include "mtl-safetensors-header-private.h"
#include "mtl-safetensors-index-private.h"
#include "mtl-zip-directory-private.h"

#define NPY_SUFFIX ".npy"

/* The longest that any format needs to be told from others. */
#define MAX_PREFIX_SIZE 16

static guint8 *
read_bytes (const MtlFileSource  *source,
            guint64               begin,
            gsize                 size,
            GError              **error)
{
  g_autofree guint8 *bytes = g_try_malloc (MAX (size, 1));

  if (bytes == NULL)
    {
      mtl_set_no_memory (size, error);
      return NULL;
    }

  return mtl_file_source_read_at (source, begin, bytes, size, error) ? g_steal_pointer (&bytes)
                                                                     : NULL;
}

static MtlTensorTable *
read_safetensors (const MtlFileSource  *source,
                  GError              **error)
{
  const gsize prefix_size = MIN (source->size, MTL_SAFETENSORS_PREFIX_SIZE);
  guint8 prefix[MTL_SAFETENSORS_PREFIX_SIZE];
  g_autofree guint8 *header = NULL;
  gsize size;

  if (!mtl_file_source_read_at (source, 0, prefix, prefix_size, error)
      || !mtl_safetensors_header_get_size (prefix, prefix_size, source->size, &size, error))
    return NULL;

  header = read_bytes (source, MTL_SAFETENSORS_PREFIX_SIZE, size, error);
  if (header == NULL)
    return NULL;

  return mtl_safetensors_header_parse ((const char *) header, size, source->size, error);
}

static MtlTensorTable *
read_index (const MtlFileSource  *source,
            GError              **error)
{
  /* One byte beyond the limit is enough to be refused. */
  gsize size = MIN (source->size, MTL_SAFETENSORS_MAX_INDEX_SIZE + 1);
  g_autofree guint8 *text = read_bytes (source, 0, size, error);

  return text != NULL ? mtl_safetensors_index_parse ((const char *) text, size, error) : NULL;
}

/* The array that lies there, of the file or of a member. */
static gboolean
add_array (const MtlFileSource  *source,
           guint64               begin,
           guint64               size,
           const char           *name,
           MtlTensorTable       *table,
           GError              **error)
{
  const gsize prefix_size = MIN (size, MTL_NPY_MAX_PREFIX_SIZE);
  guint8 prefix[MTL_NPY_MAX_PREFIX_SIZE];
  g_autofree guint8 *header = NULL;
  gint64 shape[MTL_LAYOUT_MAX_DIMS];
  gsize header_size;
  MtlTensorEntry entry;

  if (!mtl_file_source_read_at (source, begin, prefix, prefix_size, error)
      || !mtl_npy_header_get_size (prefix, prefix_size, size, &header_size, error))
    return FALSE;

  header = read_bytes (source, begin, header_size, error);
  if (header == NULL
      || !mtl_npy_header_parse (header, header_size, size, shape, &entry, error))
    return FALSE;

  entry.begin += begin;
  entry.end += begin;
  entry.name = name;
  return mtl_tensor_table_add (table, &entry, error);
}

static MtlTensorTable *
read_npy (const MtlFileSource  *source,
          GError              **error)
{
  g_autoptr (MtlTensorTable) table = mtl_tensor_table_new ();

  if (!add_array (source, 0, source->size, "", table, error)
      || !mtl_tensor_table_index_names (table, error))
    return NULL;

  return g_steal_pointer (&table);
}

/* As NumPy names its arrays. */
static gboolean
add_member (const MtlFileSource  *source,
            const MtlZipEnd      *end,
            const MtlZipMember   *member,
            MtlTensorTable       *table,
            GError              **error)
{
  gsize name_size = member->name_size;
  g_autofree guint8 *header = read_bytes (source, member->local_begin,
                                          MTL_ZIP_LOCAL_HEADER_SIZE + name_size, error);
  const char *name;
  guint64 begin;

  if (header == NULL || !mtl_zip_member_find_begin (member, header, end, &begin, error))
    return FALSE;
  if (member->is_deflated)
    {
      g_set_error_literal (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                           "It is compressed, and only arrays that are stored are opened");
      return FALSE;
    }

  if (g_str_has_suffix (member->name, NPY_SUFFIX))
    name_size -= strlen (NPY_SUFFIX);
  name = mtl_arena_dup_text (&table->arena, member->name, name_size, error);
  return name != NULL && add_array (source, begin, member->size, name, table, error);
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

static MtlTensorTable *
read_npz (const MtlFileSource  *source,
          GError              **error)
{
  g_autoptr (MtlTensorTable) table = mtl_tensor_table_new ();
  MtlZipEnd end;
  g_autoptr (MtlZipDirectory) directory = read_directory (source, &end, error);

  if (directory == NULL)
    return NULL;

  for (gsize i = 0; i < directory->n_members; i++)
    if (!add_member (source, &end, &directory->members[i], table, error))
      {
        const MtlZipMember *member = &directory->members[i];
        g_autofree char *name = mtl_quote_text (member->name, member->name_size);

        g_prefix_error (error, "Member %s: ", name);
        return NULL;
      }

  return mtl_tensor_table_index_names (table, error) ? g_steal_pointer (&table) : NULL;
}

/* What begins as JSON does would be a header's size beyond all limits, as text has no
 * zeros. */
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
read_table (const MtlFileSource  *source,
            MtlTensorFileFormat   format,
            gboolean              is_index,
            GError              **error)
{
  switch (format)
    {
    case MTL_TENSOR_FILE_FORMAT_NPY:
      return read_npy (source, error);
    case MTL_TENSOR_FILE_FORMAT_NPZ:
      return read_npz (source, error);
    case MTL_TENSOR_FILE_FORMAT_SAFETENSORS:
    default:
      return is_index ? read_index (source, error) : read_safetensors (source, error);
    }
}

MtlTensorTable *
mtl_tensor_table_read (const MtlFileSource  *source,
                       GError              **error)
{
  const gsize prefix_size = MIN (source->size, MAX_PREFIX_SIZE);
  g_autoptr (GError) local_error = NULL;
  guint8 prefix[MAX_PREFIX_SIZE];
  MtlTensorFileFormat format;
  MtlTensorTable *table;

  if (!mtl_file_source_read_at (source, 0, prefix, prefix_size, error))
    return NULL;

  format = find_format (prefix, prefix_size);
  table = read_table (source, format, is_index (prefix, prefix_size), &local_error);
  if (table != NULL)
    {
      table->format = format;
      return table;
    }

  if (strstr (local_error->message, source->name) == NULL)
    g_prefix_error (&local_error, "%s: ", source->name);
  g_propagate_error (error, g_steal_pointer (&local_error));
  return NULL;
}
