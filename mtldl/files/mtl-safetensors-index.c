/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-safetensors-index-private.h"

#include <string.h>

#include "mtl-error-private.h"
#include "mtl-json-reader-private.h"
#include "mtl-message-text-private.h"

#define WEIGHT_MAP_KEY "weight_map"

/* The unit is bytes. No file system has longer names. */
#define MAX_FILE_NAME_SIZE 1024

/* The file must be in the folder of the index. */
static gboolean
check_file (MtlJsonReader *reader,
            MtlJsonString  file)
{
  g_autofree char *quoted = NULL;

  if (file.size > 0 && file.size <= MAX_FILE_NAME_SIZE
      && memchr (file.text, '/', file.size) == NULL
      && memchr (file.text, '\\', file.size) == NULL
      && !mtl_json_string_equal (file, ".") && !mtl_json_string_equal (file, ".."))
    return TRUE;

  quoted = mtl_quote_text (file.text, file.size);
  return mtl_json_reader_fail (reader, MTL_ERROR_INVALID_DATA,
                               "%s is not the name of a file in the folder of the index", quoted);
}

/* Neighbors are usually in the same file: they get the same number right away. */
static gboolean
read_file (MtlJsonReader  *reader,
           MtlTensorTable *table,
           guint32        *number)
{
  MtlJsonString file;
  const char *kept;

  if (!mtl_json_reader_read_string (reader, &file))
    return FALSE;

  if (table->n_files == 0 || !mtl_json_string_equal (file, table->files[table->n_files - 1]))
    {
      if (!check_file (reader, file))
        return FALSE;

      kept = mtl_arena_dup_text (&table->arena, file.text, file.size, &reader->error);
      if (kept == NULL || !mtl_tensor_table_add_file (table, kept, &reader->error))
        return FALSE;
    }

  *number = table->n_files - 1;
  return TRUE;
}

static gboolean
read_weight_map (MtlJsonReader  *reader,
                 MtlTensorTable *table)
{
  MtlJsonString name;

  if (!mtl_json_reader_enter_object (reader))
    return FALSE;

  while (mtl_json_reader_next_member (reader, &name))
    {
      MtlTensorEntry entry = { .order = MTL_ORDER_C };

      entry.name = mtl_arena_dup_text (&table->arena, name.text, name.size, &reader->error);
      if (entry.name == NULL)
        return FALSE;

      if (!read_file (reader, table, &entry.file))
        return mtl_prefix_tensor_name (&reader->error, entry.name);
      if (!mtl_tensor_table_add (table, &entry, &reader->error))
        return FALSE;
    }

  return reader->error == NULL;
}

/* Other members are ignored. The total_size is often wrong. */
static gboolean
read_index (MtlJsonReader  *reader,
            MtlTensorTable *table)
{
  gboolean has_weight_map = FALSE;
  MtlJsonString key;

  if (!mtl_json_reader_enter_object (reader))
    return FALSE;

  while (mtl_json_reader_next_member (reader, &key))
    if (!mtl_json_string_equal (key, WEIGHT_MAP_KEY))
      {
        if (!mtl_json_reader_skip_value (reader))
          return FALSE;
      }
    else if (has_weight_map)
      return mtl_json_reader_fail (reader, MTL_ERROR_INVALID_DATA,
                                   WEIGHT_MAP_KEY " is given twice");
    else
      {
        has_weight_map = TRUE;
        if (!read_weight_map (reader, table))
          return FALSE;
      }

  if (!mtl_json_reader_check_end (reader))
    return FALSE;

  return has_weight_map
         || mtl_json_reader_fail (reader, MTL_ERROR_INVALID_DATA, WEIGHT_MAP_KEY " is missing");
}

/* Gives each file one number, in the order in which they are first named. */
static gboolean
number_files (MtlTensorTable  *table,
              GError         **error)
{
  g_autofree guint32 *numbers = g_try_new (guint32, table->n_files + 1);
  MtlNameIndex by_name;
  guint32 n_files = 0;

  if (numbers == NULL)
    return mtl_set_no_memory ((table->n_files + 1) * sizeof (guint32), error);
  if (!mtl_name_index_init (&by_name, table->files, table->n_files, sizeof (const char *), error))
    return FALSE;

  for (gsize i = 0; i < table->n_files; i++)
    {
      guint32 first = mtl_name_index_add (&by_name, i);

      numbers[i] = first == i ? n_files++ : numbers[first];
    }
  mtl_name_index_clear (&by_name);

  /* A number is never larger than its position. */
  for (gsize i = 0; i < table->n_files; i++)
    table->files[numbers[i]] = table->files[i];
  for (gsize i = 0; i < table->n_entries; i++)
    table->entries[i].file = numbers[table->entries[i].file];
  table->n_files = n_files;
  return TRUE;
}

MtlTensorTable *
mtl_safetensors_index_parse (const char  *text,
                             gsize        size,
                             GError     **error)
{
  g_autoptr (MtlTensorTable) table = NULL;
  g_auto (MtlJsonReader) reader = { 0 };

  if (size > MTL_SAFETENSORS_MAX_INDEX_SIZE)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                   "An index of %" G_GSIZE_FORMAT " bytes is larger than the limit of %d", size,
                   MTL_SAFETENSORS_MAX_INDEX_SIZE);
      return NULL;
    }

  table = mtl_tensor_table_new (MTL_TENSOR_FILE_FORMAT_SAFETENSORS);
  mtl_json_reader_init (&reader, "index", text, size);
  read_index (&reader, table);
  if (!mtl_json_reader_finish (&reader, error) || !number_files (table, error)
      || !mtl_tensor_table_index_names (table, error))
    return NULL;

  return g_steal_pointer (&table);
}
