/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* A new file that takes the place of an old one, or of none, once it is whole and on
 * the disk: until then the old one is as it was, and who has it open or mapped keeps
 * it. */
typedef struct
{
  char *path;      /* its place, with links followed */
  char *name;      /* for messages: the path as it was given, escaped and quoted */
  char *temporary; /* where it is until then; NULL where there is none */
  int fd;          /* -1 once all is written */
  guint64 n_written;
  guint64 n_sent;  /* of them, to the disk */
} MtlFileReplacement;

MtlFileReplacement *mtl_file_replacement_new     (GFile               *file,
                                                  GError             **error);

/* Takes away what did not get to its place. */
void                mtl_file_replacement_free    (MtlFileReplacement  *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MtlFileReplacement, mtl_file_replacement_free)

/* Tells of a full disk before the first byte is written, where the system can. */
gboolean            mtl_file_replacement_reserve (MtlFileReplacement  *self,
                                                  guint64              size,
                                                  GError             **error);
gboolean            mtl_file_replacement_write   (MtlFileReplacement  *self,
                                                  gconstpointer        bytes,
                                                  gsize                size,
                                                  GError             **error);

/* All of it is on the disk after the first one, and in its place after the second. */
gboolean            mtl_file_replacement_flush   (MtlFileReplacement  *self,
                                                  GError             **error);
gboolean            mtl_file_replacement_commit  (MtlFileReplacement  *self,
                                                  GError             **error);

G_END_DECLS
