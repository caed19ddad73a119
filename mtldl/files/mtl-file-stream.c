/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-file-stream-private.h"

#include <string.h>

#include "mtl-crc-private.h"
#include "mtl-error-private.h"

/* Deflated bytes to read at once: first enough for a header, then more. */
#define FIRST_INPUT_SIZE 1024
#define INPUT_SIZE (64 * 1024)

void
mtl_file_stream_init (MtlFileStream        *self,
                      const MtlFileSource  *source,
                      guint64               begin,
                      guint64               end,
                      gconstpointer         first,
                      gsize                 n_first)
{
  gsize n_input = MIN (n_first, end - begin);

  *self = (MtlFileStream) {
    .source = source,
    .at = begin + n_input,
    .end = end,
    .input = first,
    .n_input = n_input,
  };
}

void
mtl_file_stream_inflate (MtlFileStream *self)
{
  self->inflater = G_CONVERTER (g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_RAW));
}

void
mtl_file_stream_clear (MtlFileStream *self)
{
  g_clear_object (&self->inflater);
  g_clear_pointer (&self->buffer, g_free);
}

static gboolean
read_stored (MtlFileStream  *self,
             guint8         *bytes,
             gsize           size,
             GError        **error)
{
  gsize n_input = MIN (size, self->n_input);

  if (n_input > 0)
    {
      memcpy (bytes, self->input, n_input);
      self->input += n_input;
      self->n_input -= n_input;
    }

  if (!mtl_file_source_read_at (self->source, self->at, bytes + n_input, size - n_input, error))
    return FALSE;

  self->at += size - n_input;
  return TRUE;
}

static gboolean
read_input (MtlFileStream  *self,
            GError        **error)
{
  gsize size = self->buffer == NULL ? FIRST_INPUT_SIZE : INPUT_SIZE;

  if (self->buffer == NULL)
    self->buffer = g_try_malloc (INPUT_SIZE);
  if (self->buffer == NULL)
    return mtl_set_no_memory (INPUT_SIZE, error);

  size = MIN (size, self->end - self->at);
  if (!mtl_file_source_read_at (self->source, self->at, self->buffer, size, error))
    return FALSE;

  self->at += size;
  self->input = self->buffer;
  self->n_input = size;
  return TRUE;
}

/* Inflates some bytes; none only at the end. */
static gboolean
inflate_some (MtlFileStream  *self,
              guint8         *bytes,
              gsize           size,
              gsize          *n_bytes,
              GError        **error)
{
  g_autoptr (GError) local_error = NULL;
  GConverterResult result;
  gsize n_read;

  *n_bytes = 0;
  while (*n_bytes == 0 && !self->ended)
    {
      if (self->n_input == 0 && !read_input (self, error))
        return FALSE;

      result = g_converter_convert (self->inflater, self->input, self->n_input, bytes, size,
                                    G_CONVERTER_NO_FLAGS, &n_read, n_bytes, &local_error);
      if (result == G_CONVERTER_ERROR)
        {
          g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
                       "The compressed data before byte %" G_GUINT64_FORMAT " of %s cannot be "
                       "inflated: %s", self->at, self->source->name, local_error->message);
          return FALSE;
        }

      self->input += n_read;
      self->n_input -= n_read;
      self->ended = result == G_CONVERTER_FINISHED;
    }

  return TRUE;
}

static gboolean
read_deflated (MtlFileStream  *self,
               guint8         *bytes,
               gsize           size,
               GError        **error)
{
  gsize n_done = 0, n;

  while (n_done < size)
    {
      if (!inflate_some (self, bytes + n_done, size - n_done, &n, error))
        return FALSE;
      if (n == 0)
        {
          g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
                       "The compressed data before byte %" G_GUINT64_FORMAT " of %s end %"
                       G_GSIZE_FORMAT " bytes too early", self->end, self->source->name,
                       size - n_done);
          return FALSE;
        }
      n_done += n;
    }

  return TRUE;
}

gboolean
mtl_file_stream_read (MtlFileStream  *self,
                      gpointer        bytes,
                      gsize           size,
                      GError        **error)
{
  if (self->inflater != NULL ? !read_deflated (self, bytes, size, error)
                             : !read_stored (self, bytes, size, error))
    return FALSE;

  self->n_given += size;
  if (self->has_crc)
    self->crc = mtl_crc_add (self->crc, bytes, size);
  return TRUE;
}

void
mtl_file_stream_pass (MtlFileStream *self,
                      guint64        size,
                      guint32        crc)
{
  self->at += size;
  self->n_given += size;
  self->crc = mtl_crc_move (self->crc, size) ^ crc;
}

void
mtl_file_stream_add_crc (MtlFileStream *self)
{
  self->has_crc = TRUE;
}

static gboolean
read_rest (MtlFileStream  *self,
           guint64         size,
           GCancellable   *cancellable,
           GError        **error)
{
  g_autofree guint8 *bytes = NULL;

  if (self->n_given >= size)
    return TRUE;

  bytes = g_try_malloc (INPUT_SIZE);
  if (bytes == NULL)
    return mtl_set_no_memory (INPUT_SIZE, error);

  while (self->n_given < size)
    if (g_cancellable_set_error_if_cancelled (cancellable, error)
        || !mtl_file_stream_read (self, bytes, MIN (size - self->n_given, INPUT_SIZE), error))
      return FALSE;

  return TRUE;
}

static gboolean
check_ended (MtlFileStream  *self,
             guint64         size,
             GError        **error)
{
  guint8 byte;
  gsize n = 0;

  if (self->inflater == NULL)
    return TRUE;
  if (!inflate_some (self, &byte, 1, &n, error))
    return FALSE;
  if (n == 0)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
               "The compressed data before byte %" G_GUINT64_FORMAT " of %s have more than the %"
               G_GUINT64_FORMAT " bytes given in the directory",
               self->end, self->source->name, size);
  return FALSE;
}

gboolean
mtl_file_stream_check (MtlFileStream  *self,
                       guint64         size,
                       guint32         crc,
                       GCancellable   *cancellable,
                       GError        **error)
{
  if (!read_rest (self, size, cancellable, error) || !check_ended (self, size, error))
    return FALSE;
  if (self->crc == crc)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
               "The bytes before byte %" G_GUINT64_FORMAT " of %s are damaged: their CRC is %08x, "
               "but %08x in the directory", self->end, self->source->name, self->crc, crc);
  return FALSE;
}
