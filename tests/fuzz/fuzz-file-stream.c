/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Bytes of a file, as they are or deflated: read in pieces, and checked against a size and a
 * checksum that may be wrong. */

#include "bitwise-crc.h"
#include "fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mtl-file-stream-private.h"

#define MAX_BEFORE 256
#define MAX_INFLATED 16384

/* The bytes, read by other means. */
typedef struct
{
  guint8 *bytes;
  gsize size;
  gboolean is_whole; /* it ends there, without an error */
} Expected;

static MtlFileSource source = { .name = "“file”" };

int
LLVMFuzzerInitialize (int    *argc,
                      char ***argv)
{
  source.fd = memfd_create ("fuzz", 0);
  g_assert_cmpint (source.fd, >=, 0);
  g_type_ensure (G_TYPE_ZLIB_DECOMPRESSOR);
  return 0;
}

/* One byte after the other, in and out: what the inflater made before it finds an error is
 * lost. */
static void
inflate (Expected     *self,
         const guint8 *data,
         gsize         size)
{
  g_autoptr (GZlibDecompressor) inflater =
    g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_RAW);
  GConverterResult result = G_CONVERTER_CONVERTED;
  gsize n_read, n_written;

  while (result == G_CONVERTER_CONVERTED && self->size <= MAX_INFLATED)
    {
      result = g_converter_convert (G_CONVERTER (inflater), data, MIN (size, 1),
                                    self->bytes + self->size, 1, G_CONVERTER_NO_FLAGS, &n_read,
                                    &n_written, NULL);
      if (result == G_CONVERTER_ERROR)
        return;
      data += n_read;
      size -= n_read;
      self->size += n_written;
    }

  self->is_whole = result == G_CONVERTER_FINISHED;
}

static void
write_file (const guint8 *data,
            gsize         size)
{
  g_assert_cmpint (ftruncate (source.fd, 0), ==, 0);
  g_assert_cmpint (pwrite (source.fd, data, size, 0), ==, size);
  source.size = size;
}

/* Reads up to size bytes. Each piece has memory of its own: a sanitizer sees writes beyond it. */
static gboolean
read_pieces (MtlFileStream  *stream,
             const Expected *expected,
             gsize           size,
             gsize           piece,
             GError        **error)
{
  for (gsize done = 0; done < size; done += piece)
    {
      gsize n = MIN (piece, size - done);
      g_autofree guint8 *bytes = g_malloc (n);

      if (!mtl_file_stream_read (stream, bytes, n, error))
        return FALSE;
      g_assert_cmpuint (done + n, <=, expected->size);
      g_assert_cmpmem (bytes, n, expected->bytes + done, n);
    }

  return TRUE;
}

/* The input, and the checksum and size that it is said to have. */
typedef struct
{
  const Expected *expected;
  const guint8 *data;
  guint64 begin;
  gsize n_first;
  gsize n_wanted;
  gsize piece;
  gboolean is_deflated;
  gboolean is_passed; /* the bytes not wanted were read elsewhere */
  gsize given_size;
  guint32 crc;
  gboolean is_right;
} Case;

static void
run (const Case *self)
{
  const Expected *expected = self->expected;
  g_autofree guint8 *first = g_memdup2 (self->data, self->n_first);
  g_auto (MtlFileStream) stream = { 0 };
  g_autoptr (GError) error = NULL;

  mtl_file_stream_init (&stream, &source, self->begin, source.size, first, self->n_first);
  mtl_file_stream_add_crc (&stream);
  if (self->is_deflated)
    mtl_file_stream_inflate (&stream);
  if (!check_result (read_pieces (&stream, expected, self->n_wanted, self->piece, &error), &error))
    {
      g_assert_true (!expected->is_whole || self->n_wanted > expected->size);
      return;
    }

  if (self->is_passed && self->n_wanted < expected->size)
    mtl_file_stream_pass (&stream, expected->size - self->n_wanted,
                          get_crc (expected->bytes + self->n_wanted,
                                   expected->size - self->n_wanted));
  g_assert_true (check_result (mtl_file_stream_check (&stream, self->given_size, self->crc, NULL,
                                                      &error),
                               &error) == self->is_right);
}

int
LLVMFuzzerTestOneInput (const guint8 *data,
                        gsize         size)
{
  Input input = { data, size };
  guint8 flags = input_byte (&input);
  gsize before = input_byte (&input), n_first = input_byte (&input) * 8;
  gsize piece = input_byte (&input) * 4 + 1;
  gsize n_wanted = (input_byte (&input) << 8 | input_byte (&input)) % MAX_INFLATED;
  guint8 more = input_byte (&input);
  gboolean is_deflated = flags & 1, has_other_crc = flags & 4;
  gboolean is_passed = !is_deflated && (flags & 8);
  gboolean has_other_size = !is_passed && (flags & 2);
  Expected expected = { .bytes = g_malloc (MAX_INFLATED + 1) };
  gsize given_size;
  guint32 crc;

  before = MIN (before, input.size);
  write_file (input.data, input.size);
  input.data += before;
  input.size -= before;
  if (is_deflated)
    inflate (&expected, input.data, input.size);
  else
    {
      expected.size = MIN (input.size, MAX_INFLATED + 1);
      expected.is_whole = TRUE;
      memcpy (expected.bytes, input.data, expected.size);
    }

  given_size = expected.size;
  if (has_other_size)
    given_size = MAX ((gssize) given_size + (gint8) more, 0);
  crc = get_crc (expected.bytes, MIN (given_size, expected.size));
  if (has_other_crc)
    crc ^= 1u << more % 32;
  if (expected.size <= MAX_INFLATED)
    run (&(Case) {
      .expected = &expected,
      .data = input.data,
      .begin = before,
      .n_first = is_passed ? 0 : MIN (n_first, input.size),
      .n_wanted = MIN (n_wanted, given_size),
      .piece = piece,
      .is_deflated = is_deflated,
      .is_passed = is_passed,
      .given_size = given_size,
      .crc = crc,
      .is_right = expected.is_whole && !has_other_crc
                  && (is_deflated ? given_size == expected.size : given_size <= expected.size),
    });

  g_free (expected.bytes);
  return 0;
}
