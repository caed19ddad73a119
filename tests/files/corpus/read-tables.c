/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* usage: read-tables FILE…: what each of them says of its tensors. A line for each file,
 *   ok        count
 *   refused   code      message, without the file's name
 * and after the first kind one for each tensor and each pair of metadata,
 *   tensor    dtype     shape     begin     end     order     byte order     file     name
 *   left out  code      message   type      name
 *   metadata  key       value
 * with tabs between. */

#include <mtldl/mtldl.h>

#include <stdio.h>
#include <string.h>

#include "mtl-layout-private.h"
#include "mtl-message-text-private.h"
#include "mtl-tensor-table-read-private.h"

static char *
escape (const char *text)
{
  return mtl_escape_text (text, strlen (text), MTL_ESCAPE_FLAGS_NONE);
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
      g_autofree char *code = NULL;

      if (entry->is_refused)
        {
          code = g_enum_to_string (MTL_TYPE_ERROR, entry->refusal->error.code);
          printf ("left out\t%s\t%s\t%s\t%s\n", code, entry->refusal->error.message,
                  entry->refusal->type_name, name);
          continue;
        }

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
print_error (const GError *error,
             const char   *file_name)
{
  g_autofree char *code = g_enum_to_string (MTL_TYPE_ERROR, error->code);
  g_autofree char *begin = g_strconcat (file_name, ": ", NULL);
  const char *message = error->message;

  if (g_str_has_prefix (message, begin))
    message += strlen (begin);
  printf ("refused\t%s\t%s\n", code, message);
}

static void
print_file (const char *path)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlFileSource) source = mtl_file_source_open (file, &error);
  g_autoptr (MtlTensorTable) table = NULL;

  if (source == NULL)
    g_error ("%s", error->message);

  table = mtl_tensor_table_read (source, NULL, &error);
  if (table != NULL)
    print_table (table);
  else
    print_error (error, source->name);
}

int
main (int   argc,
      char *argv[])
{
  for (int i = 1; i < argc; i++)
    print_file (argv[i]);

  return 0;
}
