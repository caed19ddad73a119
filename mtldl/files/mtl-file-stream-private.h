/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-file-source-private.h"

G_BEGIN_DECLS

/* Bytes of a file, one after the other, inflated where they are deflated. What was read
 * of them before is not read again: it may be something else now. */
typedef struct
{
  const MtlFileSource *source;
  guint64 at;  /* of what is to be read yet */
  guint64 end;
  const guint8 *input; /* what was read, and not given out */
  gsize n_input;
  GConverter *inflater;
  guint8 *buffer; /* of its input */
  gboolean ended; /* the inflater has no more */
  guint64 n_given;
  guint32 crc;    /* of those, from mtl_file_stream_add_crc() on */
  gboolean has_crc;
} MtlFileStream;

/* The first so many bytes of the range are there already, and stay where they are. */
void     mtl_file_stream_init        (MtlFileStream        *self,
                                      const MtlFileSource  *source,
                                      guint64               begin,
                                      guint64               end,
                                      gconstpointer         first,
                                      gsize                 n_first);
void     mtl_file_stream_inflate     (MtlFileStream        *self);
void     mtl_file_stream_clear       (MtlFileStream        *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (MtlFileStream, mtl_file_stream_clear)

/* All of the bytes, or an error. */
gboolean mtl_file_stream_read        (MtlFileStream        *self,
                                      gpointer              bytes,
                                      gsize                 size,
                                      GError              **error);

/* Whether there are so many bytes in all, whose CRC is this; those that were not asked
 * for are read. */
void     mtl_file_stream_add_crc     (MtlFileStream        *self);
gboolean mtl_file_stream_check       (MtlFileStream        *self,
                                      guint64               size,
                                      guint32               crc,
                                      GError              **error);

G_END_DECLS
