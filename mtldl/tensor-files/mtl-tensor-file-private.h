/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-buffer-private.h"
#include "mtl-fork-private.h"
#include "mtl-tensor-file.h"
#include "mtl-tensor-table-private.h"
#include "mtl-threads-private.h"

G_BEGIN_DECLS

/* One file: the one that was opened, or one that its index names. */
typedef struct
{
  GFile *file;
  const MtlRefusal *refusal; /* if it could not be opened, and has no source and no table */
  MtlFileSource *source;     /* closed if it is one of several */
  MtlTensorTable *table;
  MtlMemory *memory;         /* the whole file, if mapped, from the first view on */
  guint n_readers;           /* users of the descriptor */
  gboolean is_read_too;      /* some tensors cannot be used in place in the mapping */
} MtlTensorFilePart;

struct _MtlTensorFile
{
  GObject parent_instance;

  GFile *file;
  MtlTensorFileMode mode; /* never AUTO */
  MtlDevice *device;
  MtlTensorTable *table; /* all tensors; the parts' tables own the shapes */
  MtlTensorFilePart *parts;
  gsize n_parts;
  gboolean closed;
  GWeakRef *given; /* one per entry of the table; NULL until the first is requested */
  /* Protects closed, given, and the memory and descriptors of the parts. Each is changed
   * by one store. A child keeps what other threads of the parent held at the fork: a
   * descriptor that they were reading stays open in it until the file is finalized. */
  MtlForkLock lock;
};

/* An open descriptor of a part. It stays open until cleared, whatever other threads
 * do. */
typedef struct
{
  MtlTensorFile *file;
  MtlTensorFilePart *part;
  MtlFileSource *opened;
  const MtlFileSource *source; /* opened, or the part's own */
} MtlPartReader;

gboolean mtl_part_reader_init  (MtlPartReader      *self,
                                MtlTensorFile      *file,
                                MtlTensorFilePart  *part,
                                GError            **error);
void     mtl_part_reader_clear (MtlPartReader      *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (MtlPartReader, mtl_part_reader_clear)

gboolean mtl_tensor_file_check_open   (MtlTensorFile  *self,
                                       GError        **error);
gboolean mtl_tensor_file_refuse_closed (MtlTensorFile  *self,
                                        GError        **error);
void     mtl_tensor_file_close_unless_needed (MtlTensorFile     *self,
                                              MtlTensorFilePart *part);

/* Names are UTF-8, so a pattern that is not matches none: then this is NULL. */
GPatternSpec    *mtl_name_pattern_new     (const char         *pattern);
gboolean         mtl_name_pattern_matches (GPatternSpec *self,
                                           const char   *name);

/* Sets the reason for which the tensor cannot be loaded. Always returns FALSE. */
gboolean         mtl_tensor_file_part_refuse  (const MtlTensorFilePart  *self,
                                               const MtlTensorEntry     *entry,
                                               GError                  **error);

MtlStridedView **mtl_tensor_file_load_views_monitored (MtlTensorFile     *self,
                                                       const char        *pattern,
                                                       const MtlMonitor  *monitor,
                                                       gsize             *n_views,
                                                       GError           **error);
void mtl_tensor_file_free_views (MtlStridedView **views,
                                 gsize            n_views);

gboolean mtl_tensor_file_check_monitored (MtlTensorFile        *self,
                                          MtlTensorFileChecks   checks,
                                          const MtlMonitor     *monitor,
                                          GError              **error);
gboolean mtl_tensor_file_check_entry     (MtlTensorFile         *self,
                                          const MtlTensorEntry  *entry,
                                          MtlTensorFileChecks        checks,
                                          const MtlMonitor      *monitor,
                                          GError               **error);

MtlTensorFileEntry   *mtl_tensor_file_give_entry (MtlTensorFile        *self,
                                                  const MtlTensorEntry *entry);
MtlStridedView       *mtl_tensor_file_view_of    (MtlTensorFile         *self,
                                                  const MtlTensorEntry  *entry,
                                                  const MtlMonitor      *monitor,
                                                  GError               **error);
void                  mtl_tensor_file_part_clear (MtlTensorFilePart     *self);

G_END_DECLS
