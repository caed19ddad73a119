/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-file-source-private.h"

G_BEGIN_DECLS

/* Reads bytes of a file in order, and inflates them if they are deflated. Does not
 * read bytes twice, because they may have changed. */
typedef struct
{
  const MtlFileSource *source;
  guint64 at;  /* the position of the next bytes to read */
  guint64 end;
  const guint8 *input; /* read, but not returned yet */
  gsize n_input;
  GConverter *inflater;
  guint8 *buffer; /* holds input */
  gboolean ended; /* the inflater is done */
  guint64 n_given;
  guint32 crc;    /* the bytes returned since mtl_file_stream_add_crc() */
  gboolean has_crc;
} MtlFileStream;

/* The first n_first bytes of the range are already in memory. They are not copied. */
void     mtl_file_stream_init        (MtlFileStream        *self,
                                      const MtlFileSource  *source,
                                      guint64               begin,
                                      guint64               end,
                                      gconstpointer         first,
                                      gsize                 n_first);
void     mtl_file_stream_inflate     (MtlFileStream        *self);
void     mtl_file_stream_clear       (MtlFileStream        *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (MtlFileStream, mtl_file_stream_clear)

/* Reads all of the bytes or fails. */
gboolean mtl_file_stream_read        (MtlFileStream        *self,
                                      gpointer              bytes,
                                      gsize                 size,
                                      GError              **error);

/* Goes past the next bytes, which are not compressed, and were read elsewhere; crc is
 * theirs. */
void     mtl_file_stream_pass        (MtlFileStream        *self,
                                      guint64               size,
                                      guint32               crc);

/* The second checks the total size and the CRC. It reads the bytes that were not
 * requested. */
void     mtl_file_stream_add_crc     (MtlFileStream        *self);
gboolean mtl_file_stream_check       (MtlFileStream        *self,
                                      guint64               size,
                                      guint32               crc,
                                      GCancellable         *cancellable,
                                      GError              **error);

G_END_DECLS
