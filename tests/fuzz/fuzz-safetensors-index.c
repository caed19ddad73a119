/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The index of a model in several files. */

#include "fuzz.h"

#include <string.h>

#include "mtl-safetensors-index-private.h"

int
LLVMFuzzerInitialize (int    *argc,
                      char ***argv)
{
  return 0;
}

int
LLVMFuzzerTestOneInput (const guint8 *data,
                        gsize         size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlTensorTable) table =
    mtl_safetensors_index_parse ((const char *) data, size, &error);

  if (error != NULL)
    g_assert_true (g_utf8_validate (error->message, -1, NULL));
  if (!check_result (table != NULL, &error))
    return 0;

  for (gsize i = 0; i < table->n_entries; i++)
    {
      g_assert_cmpuint (table->entries[i].file, <, table->n_files);
      g_assert_true (mtl_tensor_table_lookup (table, table->entries[i].name)
                     == &table->entries[i]);
    }
  for (gsize i = 0; i < table->n_files; i++)
    {
      g_assert_null (strpbrk (table->files[i], "/\\"));
      for (gsize j = 0; j < i; j++)
        g_assert_cmpstr (table->files[i], !=, table->files[j]);
    }
  return 0;
}
