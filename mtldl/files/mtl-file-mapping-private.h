/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-file-source-private.h"

G_BEGIN_DECLS

/* A range of a file, mapped read-only, in pages that a GPU can use in place. If the
 * range does not begin at a page, the first page begins before it. After the end of
 * the file, the last page has zeros. The file may be closed. */
typedef struct
{
  char *path;
  char *name; /* the name in messages */
  guint8 *pages;
  gsize pages_size;
  gsize begin; /* the beginning of the range in the pages, in bytes */
  gsize size;
  guint64 pages_offset; /* the beginning of the pages in the file */
  guint64 file_size;    /* the size and the time when the file was mapped */
  gint64 modified_s;
  gint64 modified_ns;
} MtlFileMapping;

MtlFileMapping *mtl_file_mapping_new      (const MtlFileSource  *source,
                                           guint64               offset,
                                           gsize                 size,
                                           GError              **error);
void            mtl_file_mapping_free     (MtlFileMapping       *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MtlFileMapping, mtl_file_mapping_free)

/* Asks the system to read bytes of any mapping ahead. The system may ignore it. */
gboolean        mtl_mapped_bytes_prefetch (gconstpointer         bytes,
                                           gsize                 size,
                                           GError              **error);

/* Reads a part of the range. If the file was truncated, this is an error instead of a
 * signal, on systems that can tell, such as Linux since 5.14. */
gboolean        mtl_file_mapping_populate (MtlFileMapping       *self,
                                           gsize                 offset,
                                           gsize                 size,
                                           GError              **error);

G_END_DECLS
