/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* .npy files, from two bytes for what follows the input on. */

#include "fuzz.h"

#include "mtl-npy-header-private.h"

int
LLVMFuzzerInitialize (int    *argc,
                      char ***argv)
{
  return 0;
}

static void
check_entry (const MtlTensorEntry *entry,
             gsize                 header_size,
             guint64               file_size)
{
  __int128 n_bits = mtl_dtype_get_bits (entry->dtype);

  for (guint32 axis = 0; axis < entry->n_dims; axis++)
    {
      g_assert_cmpint (entry->shape[axis], >=, 0);
      if (entry->shape[axis] == 0)
        n_bits = 0;
    }
  for (guint32 axis = 0; axis < entry->n_dims; axis++)
    n_bits *= entry->shape[axis];

  g_assert_cmpuint (entry->begin, ==, header_size);
  g_assert_cmpuint (entry->end, <=, file_size);
  g_assert_true (n_bits == (__int128) 8 * (entry->end - entry->begin));
}

static void
check_refused (const MtlTensorEntry *entry,
               const char           *type_name,
               gsize                 header_size,
               guint64               file_size)
{
  g_assert_true (type_name == NULL || g_utf8_validate (type_name, -1, NULL));
  g_assert_true (entry->shape != NULL || entry->n_dims == 0);
  for (guint32 axis = 0; axis < entry->n_dims; axis++)
    g_assert_cmpint (entry->shape[axis], >=, 0);
  g_assert_cmpuint (entry->begin, ==, header_size);
  g_assert_cmpuint (entry->end, ==, file_size);
}

int
LLVMFuzzerTestOneInput (const guint8 *data,
                        gsize         size)
{
  Input input = { data, size };
  guint64 n_after = input_byte (&input) | input_byte (&input) << 8;
  guint64 file_size = input.size + n_after;
  g_autoptr (GError) error = NULL;
  gint64 shape[MTL_LAYOUT_MAX_DIMS];
  g_autofree char *type_name = NULL;
  gsize header_size;
  MtlTensorEntry entry;

  if (!check_result (mtl_npy_header_get_size (input.data, MIN (input.size, MTL_NPY_MAX_PREFIX_SIZE),
                                              file_size, &header_size, &error), &error)
      || header_size > input.size)
    return 0;

  if (check_result (mtl_npy_header_parse (input.data, header_size, file_size, shape, &entry,
                                          &type_name, &error), &error))
    check_entry (&entry, header_size, file_size);
  else
    check_refused (&entry, type_name, header_size, file_size);
  return 0;
}
