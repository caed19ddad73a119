/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What tests of files of tensors share. */

#pragma once

#include "test-files.h"

/* With a header and data, which have a size of their own. */
static inline GFile *
write_safetensors (TestFolder    *folder,
                   const char    *name,
                   const char    *header,
                   gconstpointer  data,
                   gsize          size)
{
  guint64 header_size = strlen (header), prefix = GUINT64_TO_LE (header_size);
  g_autoptr (GByteArray) bytes = g_byte_array_new ();

  g_byte_array_append (bytes, (const guint8 *) &prefix, sizeof prefix);
  g_byte_array_append (bytes, (const guint8 *) header, header_size);
  g_byte_array_append (bytes, data, size);
  return write_file (folder, name, bytes->data, bytes->len);
}

/* “b” begins at an odd byte. */
static const char three_header[] =
  "{\"__metadata__\":{\"format\":\"pt\",\"who\":\"me\"},"
  "\"b\":{\"dtype\":\"I16\",\"shape\":[2,2],\"data_offsets\":[3,11]},"
  "\"a\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]},"
  "\"none\":{\"dtype\":\"F32\",\"shape\":[0,5],\"data_offsets\":[11,11]}}";
static const guint8 three_data[] = { 1, 2, 3, 4, 0, 5, 0, 6, 0, 0xff, 0xff };

static inline GFile *
write_three (TestFolder *folder,
             const char *name)
{
  return write_safetensors (folder, name, three_header, three_data, sizeof three_data);
}

static inline MtlTensorFile *
open_file (GFile       *file,
           MtlFileMode  mode)
{
  g_autoptr (GError) error = NULL;
  MtlTensorFile *tensors = mtl_tensor_file_open (file, mode, NULL, NULL, &error);

  g_assert_no_error (error);
  return tensors;
}

static inline MtlStridedView *
get_view (MtlTensorFile *tensors,
          const char    *name)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *view = mtl_tensor_file_get_view (tensors, name, &error);

  g_assert_no_error (error);
  return view;
}

#define assert_tensor(tensors, name, ...) \
  G_STMT_START \
    { \
      MtlStridedView *tensor_ = get_view ((tensors), (name)); \
      assert_elements (tensor_, __VA_ARGS__); \
      g_assert_finalize_object (tensor_); \
    } \
  G_STMT_END

#define assert_closed(call) \
  G_STMT_START \
    { \
      g_autoptr (GError) error = NULL; \
      g_assert_false ((gboolean) !!(call)); \
      assert_system_failed (error, G_IO_ERROR_CLOSED, "file” was closed"); \
    } \
  G_STMT_END
