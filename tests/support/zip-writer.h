/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "bitwise-crc.h"

#include <gio/gio.h>
#include <string.h>

/* Archives by hand, for tests and fuzz targets. */
typedef struct
{
  const char *name;
  gsize name_size;
  GByteArray *content;
  gboolean deflated;
  gsize n_missing; /* bytes less than its size says */
} ZipMember;

static inline void
append_le (GByteArray *bytes,
           guint64     value,
           gsize       n)
{
  for (gsize i = 0; i < n; i++, value >>= 8)
    g_byte_array_append (bytes, &(guint8) { value }, 1);
}

static inline void
append_text (GByteArray *bytes,
             const char *text,
             gsize       size)
{
  g_byte_array_append (bytes, (const guint8 *) text, size);
}

static inline GByteArray *
zip_deflate (GByteArray *plain)
{
  g_autoptr (GZlibCompressor) compressor =
    g_zlib_compressor_new (G_ZLIB_COMPRESSOR_FORMAT_RAW, 1);
  GByteArray *bytes = g_byte_array_new ();
  gsize size = plain->len + plain->len / 64 + 100, n_read, n_written;

  g_byte_array_set_size (bytes, size);
  g_assert_cmpint (g_converter_convert (G_CONVERTER (compressor), plain->data, plain->len,
                                        bytes->data, size, G_CONVERTER_INPUT_AT_END, &n_read,
                                        &n_written, NULL), ==, G_CONVERTER_FINISHED);
  g_byte_array_set_size (bytes, n_written);
  return bytes;
}

/* Appends the fields that both headers of a member have. */
static inline void
zip_append_fields (GByteArray      *bytes,
                   const ZipMember *member,
                   GByteArray      *stored)
{
  append_le (bytes, 20, 2);
  append_le (bytes, 0x800, 2); /* the name is UTF-8 */
  append_le (bytes, member->deflated ? 8 : 0, 2);
  append_le (bytes, 0, 4);
  append_le (bytes, get_crc (member->content->data, member->content->len), 4);
  append_le (bytes, stored->len, 4);
  append_le (bytes, member->content->len + member->n_missing, 4);
  append_le (bytes, member->name_size, 2);
  append_le (bytes, 0, 2);
}

static inline GByteArray *
zip_new (const ZipMember *members,
         gsize            n_members)
{
  GByteArray *bytes = g_byte_array_new ();
  g_autoptr (GByteArray) directory = g_byte_array_new ();

  for (gsize i = 0; i < n_members; i++)
    {
      const ZipMember *member = &members[i];
      g_autoptr (GByteArray) stored = member->deflated ? zip_deflate (member->content)
                                                       : g_byte_array_ref (member->content);
      gsize begin = bytes->len;

      append_text (bytes, "PK\3\4", 4);
      zip_append_fields (bytes, member, stored);
      append_text (bytes, member->name, member->name_size);
      g_byte_array_append (bytes, stored->data, stored->len);

      append_text (directory, "PK\1\2\24\0", 6);
      zip_append_fields (directory, member, stored);
      append_le (directory, 0, 10);
      append_le (directory, begin, 4);
      append_text (directory, member->name, member->name_size);
    }

  append_text (directory, "PK\5\6", 4);
  append_le (directory, 0, 4);
  append_le (directory, n_members, 2);
  append_le (directory, n_members, 2);
  append_le (directory, directory->len - 12, 4);
  append_le (directory, bytes->len, 4);
  append_le (directory, 0, 2);
  g_byte_array_append (bytes, directory->data, directory->len);
  return bytes;
}
