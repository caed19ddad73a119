/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Changes what is in a file, and writes what is around it anew: sizes, checksums, places. */

#pragma once

#include "bitwise-crc.h"

#include <gio/gio.h>
#include <string.h>

gsize LLVMFuzzerMutate        (guint8 *data,
                               gsize   size,
                               gsize   max_size);
gsize LLVMFuzzerCustomMutator (guint8 *data,
                               gsize   size,
                               gsize   max_size,
                               guint   seed);

/* An input that begins so is an index, and two files that it may name. The sizes of the first
 * two are in two bytes each. */
#define FILES_MARK "FILES"
#define N_FILES 3
#define MAX_MEMBERS 8
#define MAX_PAYLOAD 8192

#define LOCAL_SIZE 30
#define NPY_MARK "\x93NUMPY"

static GByteArray *mutate_file (const guint8 *data,
                                gsize         size,
                                guint         seed);

static inline guint64
load_le (const guint8 *bytes,
         gsize         n)
{
  guint64 value = 0;

  while (n-- > 0)
    value = value << 8 | bytes[n];

  return value;
}

static inline void
append_le (GByteArray *bytes,
           guint64     value,
           gsize       n)
{
  for (gsize i = 0; i < n; i++, value >>= 8)
    g_byte_array_append (bytes, &(guint8) { value }, 1);
}

static inline gboolean
begins_with (const guint8 *data,
             gsize         size,
             const char   *mark)
{
  return size >= strlen (mark) && memcmp (data, mark, strlen (mark)) == 0;
}

/* The part of the array that begins there, changed. */
static inline void
append_mutated (GByteArray   *bytes,
                const guint8 *data,
                gsize         size)
{
  gsize max_size = size + 64, begin = bytes->len;

  if (size > 0)
    g_byte_array_append (bytes, data, size);
  g_byte_array_set_size (bytes, begin + max_size);
  g_byte_array_set_size (bytes,
                         begin + LLVMFuzzerMutate (bytes->data + begin, size, max_size));
}

/* The number of n bytes at `place` counts those that come after it up to `end`, which
 * are changed; the rest is kept. */
static inline GByteArray *
mutate_counted (const guint8 *data,
                gsize         size,
                gsize         place,
                gsize         n,
                gsize         end)
{
  GByteArray *bytes = g_byte_array_sized_new (64);
  guint64 counted;

  g_byte_array_append (bytes, data, place + n);
  append_mutated (bytes, data + place + n, end - place - n);
  counted = GUINT64_TO_LE (bytes->len - place - n);
  memcpy (bytes->data + place, &counted, n);
  g_byte_array_append (bytes, data + end, size - end);
  return bytes;
}

/* A header behind its size. */
static inline GByteArray *
mutate_header (const guint8 *data,
               gsize         size,
               gsize         place,
               gsize         n)
{
  gsize begin = place + n;

  if (size < begin || load_le (data + place, n) > size - begin)
    return NULL;
  return mutate_counted (data, size, place, n, begin + load_le (data + place, n));
}

typedef struct
{
  const guint8 *name;
  gsize name_size;
  GByteArray *payload;
  gboolean deflated;
} Member;

static inline GByteArray *
convert (GConverter   *converter,
         const guint8 *data,
         gsize         size)
{
  GByteArray *bytes = g_byte_array_sized_new (MAX_PAYLOAD);
  GConverterResult result = G_CONVERTER_CONVERTED;
  gsize n_read, n_written, done = 0;

  g_byte_array_set_size (bytes, MAX_PAYLOAD);
  while (result == G_CONVERTER_CONVERTED && done < MAX_PAYLOAD)
    {
      result = g_converter_convert (converter, data, size, bytes->data + done, MAX_PAYLOAD - done,
                                    G_CONVERTER_INPUT_AT_END, &n_read, &n_written, NULL);
      if (result != G_CONVERTER_ERROR)
        {
          data += n_read;
          size -= n_read;
          done += n_written;
        }
    }

  g_byte_array_set_size (bytes, done);
  g_object_unref (converter);
  return bytes;
}

static inline gsize
parse_members (const guint8 *data,
               gsize         size,
               Member       *members)
{
  gsize n = 0;

  while (n < MAX_MEMBERS && size >= LOCAL_SIZE && memcmp (data, "PK\3\4", 4) == 0)
    {
      gsize stored_size = load_le (data + 18, 4), name_size = load_le (data + 26, 2);
      gsize begin = LOCAL_SIZE + name_size + load_le (data + 28, 2);
      Member *member = &members[n];

      if (begin > size || stored_size > MIN (size - begin, MAX_PAYLOAD))
        break;

      *member = (Member) { data + LOCAL_SIZE, name_size, NULL, data[8] == 8 };
      if (member->deflated)
        member->payload =
          convert (G_CONVERTER (g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_RAW)),
                   data + begin, stored_size);
      else
        member->payload = g_byte_array_append (g_byte_array_sized_new (64), data + begin,
                                               stored_size);
      data += begin + stored_size;
      size -= begin + stored_size;
      n++;
    }

  return n;
}

static inline void
append_fields (GByteArray   *bytes,
               const Member *member,
               GByteArray   *stored)
{
  append_le (bytes, 20, 2);
  append_le (bytes, 0x800, 2); /* the name is UTF-8 */
  append_le (bytes, member->deflated ? 8 : 0, 2);
  append_le (bytes, 0, 4);
  append_le (bytes, get_crc (member->payload->data, member->payload->len), 4);
  append_le (bytes, stored->len, 4);
  append_le (bytes, member->payload->len, 4);
  append_le (bytes, member->name_size, 2);
  append_le (bytes, 0, 2);
}

static inline GByteArray *
write_archive (const Member *members,
               gsize         n)
{
  GByteArray *bytes = g_byte_array_sized_new (64);
  g_autoptr (GByteArray) directory = g_byte_array_sized_new (64);

  for (gsize i = 0; i < n; i++)
    {
      const Member *member = &members[i];
      gsize begin = bytes->len;
      g_autoptr (GByteArray) stored =
        member->deflated
          ? convert (G_CONVERTER (g_zlib_compressor_new (G_ZLIB_COMPRESSOR_FORMAT_RAW, 1)),
                     member->payload->data, member->payload->len)
          : g_byte_array_ref (member->payload);

      append_le (bytes, 0x04034b50, 4);
      append_fields (bytes, member, stored);
      g_byte_array_append (bytes, member->name, member->name_size);
      g_byte_array_append (bytes, stored->data, stored->len);

      append_le (directory, 0x02014b50, 4);
      append_le (directory, 20, 2);
      append_fields (directory, member, stored);
      append_le (directory, 0, 10);
      append_le (directory, begin, 4);
      g_byte_array_append (directory, member->name, member->name_size);
    }

  append_le (directory, 0x06054b50, 4);
  append_le (directory, 0, 4);
  append_le (directory, n, 2);
  append_le (directory, n, 2);
  append_le (directory, directory->len - 12, 4);
  append_le (directory, bytes->len, 4);
  append_le (directory, 0, 2);
  g_byte_array_append (bytes, directory->data, directory->len);
  return bytes;
}

/* Changes one of the members: its array, or whether it is deflated. */
static inline GByteArray *
mutate_archive (const guint8 *data,
                gsize         size,
                guint         seed)
{
  Member members[MAX_MEMBERS];
  gsize n = parse_members (data, size, members);
  GByteArray *bytes = NULL;

  if (n > 0)
    {
      Member *member = &members[seed % n];

      if (seed / 8 % 8 == 0)
        member->deflated = !member->deflated;
      else
        {
          GByteArray *payload = mutate_file (member->payload->data, member->payload->len,
                                             seed / 64);

          g_byte_array_unref (member->payload);
          member->payload = payload;
        }
      bytes = write_archive (members, n);
    }

  for (gsize i = 0; i < n; i++)
    g_byte_array_unref (members[i].payload);
  return bytes;
}

/* Changes one of the files. */
static inline GByteArray *
mutate_files (const guint8 *data,
              gsize         size,
              guint         seed)
{
  GByteArray *bytes = g_byte_array_sized_new (64);
  gsize at = strlen (FILES_MARK);

  g_byte_array_append (bytes, (const guint8 *) FILES_MARK, at);
  for (gsize i = 0; i < N_FILES; i++)
    {
      gboolean is_last = i == N_FILES - 1;
      gsize n = !is_last && size - at >= 2 ? data[at] << 8 | data[at + 1] : 0;
      gsize begin = is_last ? at : MIN (at + 2, size);
      g_autoptr (GByteArray) file = NULL;

      n = is_last ? size - begin : MIN (n, size - begin);
      file = i == seed % N_FILES ? mutate_file (data + begin, n, seed / N_FILES)
                                 : g_byte_array_append (g_byte_array_sized_new (64), data + begin,
                                                        n);
      if (!is_last)
        g_byte_array_append (bytes, (guint8[]) { file->len >> 8, file->len }, 2);
      g_byte_array_append (bytes, file->data, file->len);
      at = begin + n;
    }

  return bytes;
}

static GByteArray *
mutate_file (const guint8 *data,
             gsize         size,
             guint         seed)
{
  GByteArray *bytes = NULL;

  if (begins_with (data, size, FILES_MARK))
    bytes = mutate_files (data, size, seed);
  else if (begins_with (data, size, "PK\3\4"))
    bytes = mutate_archive (data, size, seed);
  else if (begins_with (data, size, NPY_MARK) && size > 6 && seed % 4 != 0)
    bytes = mutate_header (data, size, 8, data[6] == 1 ? 2 : 4);
  else if (seed % 4 != 0)
    bytes = mutate_header (data, size, 0, 8);

  if (bytes == NULL)
    {
      bytes = g_byte_array_sized_new (64);
      append_mutated (bytes, data, size);
    }
  return bytes;
}
