/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-file-source-private.h"

G_BEGIN_DECLS

/* A range of a file in memory, read-only, in pages that a GPU takes as they are: the
 * first one begins before the range where that begins on no page, and the last one has
 * zeros after the file's end. The file may be closed. */
typedef struct
{
  char *name; /* for messages */
  guint8 *pages;
  gsize pages_size;
  gsize begin; /* of the range */
  gsize size;
} MtlFileMapping;

MtlFileMapping *mtl_file_mapping_new      (const MtlFileSource  *source,
                                           guint64               offset,
                                           gsize                 size,
                                           GError              **error);
void            mtl_file_mapping_free     (MtlFileMapping       *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MtlFileMapping, mtl_file_mapping_free)

/* Asks the system to read bytes of any mapping ahead, which it may leave. */
gboolean        mtl_mapped_bytes_prefetch (gconstpointer         bytes,
                                           gsize                 size,
                                           GError              **error);

/* Reads a part of the range. Where the system can tell, as Linux 5.14 can, it is an error
 * and no signal that the file was cut meanwhile. */
gboolean        mtl_file_mapping_populate (MtlFileMapping       *self,
                                           gsize                 offset,
                                           gsize                 size,
                                           GError              **error);

G_END_DECLS
