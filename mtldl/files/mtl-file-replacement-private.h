/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* A new file that replaces an old one, or none, when it is complete and, with sync, on
 * the disk. Until then, the old file is unchanged. Processes that have it open or mapped keep
 * it. */
typedef struct
{
  char *path;      /* the final path, after following links */
  char *name;      /* the path as given, escaped and quoted for messages */
  char *temporary; /* the path until then, or NULL */
  int fd;          /* -1 once everything is written */
  guint64 n_written;
  guint64 n_sent;  /* bytes whose writing to the disk was started */
  gboolean sync;   /* wait for the disk */
} MtlFileReplacement;

MtlFileReplacement *mtl_file_replacement_new     (GFile               *file,
                                                  gboolean             sync,
                                                  GError             **error);

/* Removes the file if it was not committed. */
void                mtl_file_replacement_free    (MtlFileReplacement  *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MtlFileReplacement, mtl_file_replacement_free)

/* If the system supports it, detects a full disk before the first byte is written. */
gboolean            mtl_file_replacement_reserve (MtlFileReplacement  *self,
                                                  guint64              size,
                                                  GError             **error);
gboolean            mtl_file_replacement_write   (MtlFileReplacement  *self,
                                                  gconstpointer        bytes,
                                                  gsize                size,
                                                  GError             **error);

/* Once flushed, the file is on the disk if sync is set; once committed, it is in its
 * place. */
gboolean            mtl_file_replacement_flush   (MtlFileReplacement  *self,
                                                  GError             **error);
gboolean            mtl_file_replacement_commit  (MtlFileReplacement  *self,
                                                  GError             **error);

G_END_DECLS
