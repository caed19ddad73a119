/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Helpers of tests of written files of tensors. */

#pragma once

#include "test-tensor-files.h"

static inline void
add (MtlTensorFileBuilder *builder,
     const char           *name,
     MtlStridedView       *view)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (mtl_tensor_file_builder_add (builder, name, view, &error));
  g_assert_no_error (error);
}

static inline void
set_metadata (MtlTensorFileBuilder *builder,
              const char           *key,
              const char           *value)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (mtl_tensor_file_builder_set_metadata (builder, key, value, &error));
  g_assert_no_error (error);
}

static inline void
write_tensors (MtlTensorFileBuilder *builder,
               GFile                *file)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (mtl_tensor_file_builder_write (builder, file, NULL, NULL, NULL, &error));
  g_assert_no_error (error);
}

/* Returns the offset of the tensor in its file. */
static inline guint64
get_place (MtlTensorFile *tensors,
           const char    *name)
{
  g_autoptr (MtlTensorFileEntry) entry = mtl_tensor_file_lookup_entry (tensors, name);

  g_assert_nonnull (entry);
  return mtl_tensor_file_entry_get_byte_offset (entry);
}
