/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Headers of safetensors files: two bytes for the size of the data, and the JSON. */

#include "fuzz.h"

#include <string.h>

#include "mtl-safetensors-header-private.h"

int
LLVMFuzzerInitialize (int    *argc,
                      char ***argv)
{
  return 0;
}

static void
check_size (const MtlTensorEntry *entry)
{
  __int128 n_bits = mtl_dtype_get_bits (entry->dtype);

  g_assert_cmpuint (n_bits, >, 0);
  for (guint32 axis = 0; axis < entry->n_dims; axis++)
    if (entry->shape[axis] == 0)
      n_bits = 0;
  for (guint32 axis = 0; axis < entry->n_dims; axis++)
    n_bits *= entry->shape[axis];

  g_assert_true (n_bits == (__int128) 8 * (entry->end - entry->begin));
}

static void
check_refused (const MtlTensorEntry *entry)
{
  g_assert_cmpint (entry->dtype, ==, MTL_DTYPE_OTHER);
  g_assert_true (g_utf8_validate (entry->refusal->type_name, -1, NULL));
  g_assert_true (g_utf8_validate (entry->refusal->error.message, -1, NULL));
  g_assert_cmpuint (entry->begin, <=, entry->end);
}

/* Each byte of the data belongs to one tensor, which has as many as its shape needs. */
static void
check_table (const MtlTensorTable *table,
             guint64               data_begin,
             guint64               file_size)
{
  guint64 expected = data_begin;

  for (gsize i = 0; i < table->n_entries; i++)
    {
      const MtlTensorEntry *entry = &table->entries[i];

      g_assert_cmpuint (entry->n_dims, <=, 64);
      for (guint32 axis = 0; axis < entry->n_dims; axis++)
        g_assert_cmpint (entry->shape[axis], >=, 0);
      if (entry->is_refused)
        check_refused (entry);
      else
        check_size (entry);
      g_assert_cmpuint (entry->begin, ==, expected);
      g_assert_true (g_utf8_validate (entry->name, -1, NULL));
      g_assert_true (mtl_tensor_table_lookup (table, entry->name) == entry);
      expected = entry->end;
    }

  g_assert_cmpuint (expected, ==, file_size);
  for (gsize i = 0; i < table->n_metadata; i++)
    g_assert_true (mtl_tensor_table_lookup_metadata (table, table->metadata[i].key)
                   == table->metadata[i].value);
}

int
LLVMFuzzerTestOneInput (const guint8 *data,
                        gsize         size)
{
  Input input = { data, size };
  guint data_size = input_byte (&input) | input_byte (&input) << 8;
  guint64 data_begin = MTL_SAFETENSORS_PREFIX_SIZE + input.size;
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlTensorTable) table =
    mtl_safetensors_header_parse ((const char *) input.data, input.size, data_begin + data_size,
                                  &error);

  if (error != NULL)
    g_assert_true (g_utf8_validate (error->message, -1, NULL));
  if (check_result (table != NULL, &error))
    check_table (table, data_begin, data_begin + data_size);
  return 0;
}
