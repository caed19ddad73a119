/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* Pages of a file in memory, which other processes map by its descriptor. Nobody can change the
 * size of the file: pages that vanish would raise a signal. */
typedef struct
{
  int ref_count; /* atomic */
  int fd;
  int was_given;  /* atomic: somebody has a descriptor of their own */
  guint8 *pages;
  gsize size;     /* the size of the mapping */
  guint64 offset; /* the beginning of the mapping in the file */
  guint64 device; /* the identity of the file */
  guint64 inode;
} MtlSharedPages;

gboolean        mtl_shared_pages_are_supported (void);

/* Only this mapping can be written to. */
MtlSharedPages *mtl_shared_pages_new           (gsize            size,
                                                GError         **error);

/* Takes the descriptor, even on failure, and trusts nothing that it says. The range is not
 * empty. */
MtlSharedPages *mtl_shared_pages_new_take_fd   (int              fd,
                                                guint64          offset,
                                                gsize            size,
                                                gboolean         is_writable,
                                                GError         **error);
MtlSharedPages *mtl_shared_pages_ref           (MtlSharedPages  *self);
void            mtl_shared_pages_unref         (MtlSharedPages  *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MtlSharedPages, mtl_shared_pages_unref)

/* Checks if the mapping has the range of the file. */
gboolean        mtl_shared_pages_contain       (MtlSharedPages  *self,
                                                guint64          offset,
                                                gsize            size);

/* Gets the identity of a file in memory. Other file systems are not asked, as they may take their
 * time to answer. */
gboolean        mtl_fd_identify                (int              fd,
                                                guint64         *device,
                                                guint64         *inode);
gboolean        mtl_fd_is_pipe                 (int              fd);

/* Closes a descriptor if there is one. */
void            mtl_clear_fd                   (int             *fd);
int             mtl_dup_fd                     (int              fd,
                                                GError         **error);

G_END_DECLS
