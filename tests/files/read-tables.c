/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* usage: read-tables FILE…: what each of them says of its tensors, by its ending:
 * .safetensors, .json (the index of several), .npy, .npz. A line for each file,
 *   ok        count
 *   refused   code      message
 * and after the first kind one for each tensor and each pair of metadata,
 *   tensor    dtype     shape     begin     end     order     byte order     file     name
 *   metadata  key       value
 * with tabs between. */

#include <mtldl/mtldl.h>

#include <stdio.h>
#include <string.h>

#include "mtl-layout-private.h"
#include "mtl-npy-header-private.h"
#include "mtl-quoted-text-private.h"
#include "mtl-safetensors-header-private.h"
#include "mtl-safetensors-index-private.h"
#include "mtl-zip-directory-private.h"

typedef struct
{
  FILE *stream;
  guint64 size;
} File;

/* As many of the bytes as there are. */
static guint8 *
read_bytes (File    *file,
            guint64  begin,
            gsize    size)
{
  gsize n = begin < file->size ? MIN (size, file->size - begin) : 0;
  guint8 *bytes = g_malloc (n + 1);

  if (fseeko (file->stream, begin, SEEK_SET) != 0 || fread (bytes, 1, n, file->stream) != n)
    g_error ("A file cannot be read");

  return bytes;
}

static MtlTensorTable *
read_safetensors (File    *file,
                  GError **error)
{
  g_autofree guint8 *prefix = read_bytes (file, 0, MTL_SAFETENSORS_PREFIX_SIZE);
  g_autofree guint8 *header = NULL;
  gsize size;

  if (!mtl_safetensors_header_get_size (prefix, MIN (file->size, MTL_SAFETENSORS_PREFIX_SIZE),
                                        file->size, &size, error))
    return NULL;

  header = read_bytes (file, MTL_SAFETENSORS_PREFIX_SIZE, size);
  return mtl_safetensors_header_parse ((const char *) header, size, file->size, error);
}

static MtlTensorTable *
read_index (File    *file,
            GError **error)
{
  g_autofree guint8 *text = read_bytes (file, 0, file->size);

  return mtl_safetensors_index_parse ((const char *) text, file->size, error);
}

/* The array that lies at that place, of the file or of a member. */
static gboolean
add_array (File            *file,
           guint64          begin,
           guint64          size,
           const char      *name,
           MtlTensorTable  *table,
           GError         **error)
{
  g_autofree guint8 *prefix = read_bytes (file, begin, MTL_NPY_MAX_PREFIX_SIZE);
  g_autofree guint8 *header = NULL;
  gint64 shape[MTL_LAYOUT_MAX_DIMS];
  gsize header_size;
  MtlTensorEntry entry;

  if (!mtl_npy_header_get_size (prefix, MIN (size, MTL_NPY_MAX_PREFIX_SIZE), size, &header_size,
                                error))
    return FALSE;

  header = read_bytes (file, begin, header_size);
  if (!mtl_npy_header_parse (header, header_size, size, shape, &entry, error))
    return FALSE;

  entry.begin += begin;
  entry.end += begin;
  entry.name = mtl_arena_dup_text (&table->arena, name, strlen (name), error);
  return mtl_tensor_table_add (table, &entry, error);
}

static MtlTensorTable *
read_npy (File    *file,
          GError **error)
{
  g_autoptr (MtlTensorTable) table = mtl_tensor_table_new ();

  return add_array (file, 0, file->size, "", table, error) ? g_steal_pointer (&table) : NULL;
}

static gboolean
add_member (File                *file,
            const MtlZipEnd     *end,
            const MtlZipMember  *member,
            MtlTensorTable      *table,
            GError             **error)
{
  g_autofree guint8 *header = read_bytes (file, member->local_begin,
                                          MTL_ZIP_LOCAL_HEADER_SIZE + member->name_size);
  MtlTensorEntry entry = { .name = mtl_arena_dup_text (&table->arena, member->name,
                                                       member->name_size, error) };
  guint64 begin;

  if (!mtl_zip_member_find_begin (member, header, end, &begin, error))
    return FALSE;
  if (!member->is_deflated)
    return add_array (file, begin, member->size, member->name, table, error);

  entry.begin = begin;
  entry.end = begin + member->stored_size;
  return mtl_tensor_table_add (table, &entry, error);
}

static MtlTensorTable *
read_npz (File    *file,
          GError **error)
{
  g_autoptr (MtlTensorTable) table = mtl_tensor_table_new ();
  gsize tail_size = MIN (file->size, MTL_ZIP_MAX_TAIL_SIZE);
  g_autofree guint8 *tail = read_bytes (file, file->size - tail_size, tail_size);
  g_autofree guint8 *bytes = NULL;
  g_autoptr (MtlZipDirectory) directory = NULL;
  MtlZipEnd end;

  if (!mtl_zip_end_parse (tail, tail_size, file->size, &end, error))
    return NULL;

  bytes = read_bytes (file, end.begin, end.size);
  directory = mtl_zip_directory_parse (bytes, &end, error);
  if (directory == NULL)
    return NULL;

  for (gsize i = 0; i < directory->n_members; i++)
    if (!add_member (file, &end, &directory->members[i], table, error))
      return NULL;

  return g_steal_pointer (&table);
}

static char *
escape (const char *text)
{
  return mtl_escape_text (text, strlen (text));
}

static void
print_table (const MtlTensorTable *table)
{
  printf ("ok\t%" G_GSIZE_FORMAT "\n", table->n_entries);
  for (gsize i = 0; i < table->n_entries; i++)
    {
      const MtlTensorEntry *entry = &table->entries[i];
      g_autofree char *dtype = mtl_dtype_to_string (entry->dtype);
      g_autofree char *shape = mtl_dims_to_string (entry->shape, entry->n_dims);
      g_autofree char *name = escape (entry->name);

      printf ("tensor\t%s\t%s\t%" G_GUINT64_FORMAT "\t%" G_GUINT64_FORMAT "\t%s\t%s\t%s\t%s\n",
               dtype, shape, entry->begin, entry->end, entry->order == MTL_ORDER_F ? "F" : "C",
               entry->is_big_endian ? "big" : "little",
               table->n_files > 0 ? table->files[entry->file] : "", name);
    }
  for (gsize i = 0; i < table->n_metadata; i++)
    {
      g_autofree char *key = escape (table->metadata[i].key);
      g_autofree char *value = escape (table->metadata[i].value);

      printf ("metadata\t%s\t%s\n", key, value);
    }
}

static void
print_error (const GError *error)
{
  g_autofree char *code = g_enum_to_string (MTL_TYPE_ERROR, error->code);

  printf ("refused\t%s\t%s\n", code, error->message);
}

static void
print_file (const char *path)
{
  static const struct
  {
    const char *ending;
    MtlTensorTable *(* read) (File    *file,
                              GError **error);
  } formats[] = {
    { ".safetensors", read_safetensors }, { ".json", read_index },
    { ".npy", read_npy }, { ".npz", read_npz },
  };
  File file = { .stream = fopen (path, "rb") };

  if (file.stream == NULL || fseeko (file.stream, 0, SEEK_END) != 0)
    g_error ("%s cannot be opened", path);
  file.size = ftello (file.stream);

  for (gsize i = 0; i < G_N_ELEMENTS (formats); i++)
    if (g_str_has_suffix (path, formats[i].ending))
      {
        g_autoptr (GError) error = NULL;
        g_autoptr (MtlTensorTable) table = formats[i].read (&file, &error);

        if (table != NULL)
          print_table (table);
        else
          print_error (error);
      }
  fclose (file.stream);
}

int
main (int   argc,
      char *argv[])
{
  for (int i = 1; i < argc; i++)
    print_file (argv[i]);

  return 0;
}
