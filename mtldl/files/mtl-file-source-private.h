/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* A file of a disk, open for reading, and what it was when it was opened. */
typedef struct
{
  char *path;
  char *name; /* for messages: the path, escaped and quoted */
  int fd;     /* -1 once it is closed */
  guint64 device;
  guint64 inode;
  guint64 size;
  gint64 modified_s;
  gint64 modified_ns;
} MtlFileSource;

MtlFileSource *mtl_file_source_open            (GFile                *file,
                                                GError              **error);
void           mtl_file_source_free            (MtlFileSource        *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MtlFileSource, mtl_file_source_free)

/* Gives the descriptor back, of which there are few. The second one opens the same file
 * again, or fails where there is another one now, or it was changed. */
void           mtl_file_source_close           (MtlFileSource        *self);
MtlFileSource *mtl_file_source_open_again      (const MtlFileSource  *self,
                                                GError              **error);

gboolean       mtl_file_source_read_at         (const MtlFileSource  *self,
                                                guint64               offset,
                                                gpointer              buffer,
                                                gsize                 size,
                                                GError              **error);
gboolean       mtl_file_source_check_range     (const MtlFileSource  *self,
                                                guint64               offset,
                                                guint64               size,
                                                GError              **error);

/* What was changed and put back in no time is not seen. */
gboolean       mtl_file_source_check_unchanged (const MtlFileSource  *self,
                                                GError              **error);

/* Where each page fault is a question to somebody else, and his silence a signal. */
gboolean       mtl_file_source_is_remote       (const MtlFileSource  *self);

char          *mtl_quote_file_name             (GFile                *file);
gboolean       mtl_set_file_error              (const char           *name,
                                                const char           *what,
                                                int                   code,
                                                GError              **error);

G_END_DECLS
