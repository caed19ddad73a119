/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Changes the content of a file, and writes the frames around it anew: sizes, checksums, places. */

#pragma once

#include "zip-writer.h"

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
#define MAX_CONTENT 8192

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

static inline GByteArray *
inflate (const guint8 *data,
         gsize         size)
{
  g_autoptr (GZlibDecompressor) decompressor =
    g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_RAW);
  GByteArray *bytes = g_byte_array_sized_new (MAX_CONTENT);
  GConverterResult result = G_CONVERTER_CONVERTED;
  gsize n_read, n_written, done = 0;

  g_byte_array_set_size (bytes, MAX_CONTENT);
  while (result == G_CONVERTER_CONVERTED && done < MAX_CONTENT)
    {
      result = g_converter_convert (G_CONVERTER (decompressor), data, size, bytes->data + done,
                                    MAX_CONTENT - done, G_CONVERTER_INPUT_AT_END, &n_read,
                                    &n_written, NULL);
      if (result != G_CONVERTER_ERROR)
        {
          data += n_read;
          size -= n_read;
          done += n_written;
        }
    }

  g_byte_array_set_size (bytes, done);
  return bytes;
}

static inline gsize
parse_members (const guint8 *data,
               gsize         size,
               ZipMember    *members)
{
  gsize n = 0;

  while (n < MAX_MEMBERS && size >= LOCAL_SIZE && memcmp (data, "PK\3\4", 4) == 0)
    {
      gsize stored_size = load_le (data + 18, 4), name_size = load_le (data + 26, 2);
      gsize begin = LOCAL_SIZE + name_size + load_le (data + 28, 2);
      ZipMember *member = &members[n];

      if (begin > size || stored_size > MIN (size - begin, MAX_CONTENT))
        break;

      *member = (ZipMember) {
        (const char *) data + LOCAL_SIZE, name_size, .deflated = data[8] == 8,
      };
      if (member->deflated)
        member->content = inflate (data + begin, stored_size);
      else
        member->content = g_byte_array_append (g_byte_array_sized_new (64), data + begin,
                                               stored_size);
      data += begin + stored_size;
      size -= begin + stored_size;
      n++;
    }

  return n;
}

/* Changes one of the members: its array, or whether it is deflated. */
static inline GByteArray *
mutate_archive (const guint8 *data,
                gsize         size,
                guint         seed)
{
  ZipMember members[MAX_MEMBERS];
  gsize n = parse_members (data, size, members);
  GByteArray *bytes = NULL;

  if (n > 0)
    {
      ZipMember *member = &members[seed % n];

      if (seed / 8 % 8 == 0)
        member->deflated = !member->deflated;
      else
        {
          GByteArray *content = mutate_file (member->content->data, member->content->len,
                                             seed / 64);

          g_byte_array_unref (member->content);
          member->content = content;
        }
      bytes = zip_new (members, n);
    }

  for (gsize i = 0; i < n; i++)
    g_byte_array_unref (members[i].content);
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
