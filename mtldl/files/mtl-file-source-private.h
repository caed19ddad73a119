/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>
#include <string.h>

G_BEGIN_DECLS

/* All systems can read and write this much at once. macOS fails above 2 GiB. */
#define MTL_MAX_PIECE ((gsize) 1 << 30)

/* A file on a disk, open for reading, with its state when it was opened. */
typedef struct
{
  char *path;
  char *name; /* the path, escaped and quoted for messages */
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

/* The first closes the descriptor, because a process may only have a few. The second
 * opens the same file again, and fails if it was changed or replaced. */
void           mtl_file_source_close           (MtlFileSource        *self);
MtlFileSource *mtl_file_source_open_again      (const MtlFileSource  *self,
                                                GError              **error);

/* Reads until there are all of the bytes or the file ends. Returns an errno, or 0. */
int            mtl_read_at                     (int                   fd,
                                                guint64               offset,
                                                gpointer              buffer,
                                                gsize                 size,
                                                gsize                *n_read);
gboolean       mtl_file_source_read_at         (const MtlFileSource  *self,
                                                guint64               offset,
                                                gpointer              buffer,
                                                gsize                 size,
                                                GError              **error);
gboolean       mtl_file_source_check_range     (const MtlFileSource  *self,
                                                guint64               offset,
                                                guint64               size,
                                                GError              **error);

/* A change that was reverted immediately is not detected. */
gboolean       mtl_file_source_check_unchanged (const MtlFileSource  *self,
                                                GError              **error);

/* Checks whether the file is on another machine: page faults are then slow, and raise a
 * signal if the other machine does not answer. */
gboolean       mtl_file_source_is_remote       (const MtlFileSource  *self);

/* Upper and lower case do not matter. */
static inline gboolean
mtl_file_name_ends_in (const char *name,
                       const char *ending)
{
  gsize size = strlen (name), ending_size = strlen (ending);

  return size >= ending_size && g_ascii_strcasecmp (name + size - ending_size, ending) == 0;
}

char          *mtl_quote_file_name             (GFile                *file);
gboolean       mtl_set_system_error            (int                   code,
                                                GError              **error,
                                                const char           *format,
                                                ...) G_GNUC_PRINTF (3, 4);
gboolean       mtl_set_file_error              (const char           *name,
                                                const char           *what,
                                                int                   code,
                                                GError              **error);

G_END_DECLS
