/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-buffer-private.h"
#include "mtl-tensor-file.h"
#include "mtl-tensor-table-private.h"

G_BEGIN_DECLS

/* One of the files. */
typedef struct
{
  GFile *file;
  MtlFileSource *source; /* the descriptor of one of several is closed */
  MtlTensorTable *table;
  MtlMemory *memory;     /* all of it, from the first view on where it is mapped */
  guint n_readers;       /* that use the descriptor */
} MtlTensorFilePart;

struct _MtlTensorFile
{
  GObject parent_instance;

  GFile *file;
  MtlFileMode mode; /* what became of AUTO */
  MtlDevice *device;
  MtlTensorTable *table; /* of all: of the one part, or with its shapes in theirs */
  MtlTensorFilePart *parts;
  gsize n_parts;
  gboolean closed;
  GMutex mutex; /* of that, and of the memory and the descriptors of the parts */
};

/* An open descriptor of a part, which stays open meanwhile, whatever others do. */
typedef struct
{
  MtlTensorFile *file;
  MtlTensorFilePart *part;
  MtlFileSource *opened;
  const MtlFileSource *source; /* that, or the part's own */
} MtlPartReader;

gboolean mtl_part_reader_init  (MtlPartReader      *self,
                                MtlTensorFile      *file,
                                MtlTensorFilePart  *part,
                                GError            **error);
void     mtl_part_reader_clear (MtlPartReader      *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (MtlPartReader, mtl_part_reader_clear)

MtlTensorFileEntry   *mtl_tensor_file_entry_new  (MtlTensorFile         *file,
                                                  const MtlTensorEntry  *entry);
const MtlTensorEntry *mtl_tensor_file_find_entry (MtlTensorFile         *self,
                                                  const char            *name,
                                                  GError               **error);
MtlStridedView       *mtl_tensor_file_view_of    (MtlTensorFile         *self,
                                                  const MtlTensorEntry  *entry,
                                                  GError               **error);
void                  mtl_tensor_file_part_clear (MtlTensorFilePart     *self);

G_END_DECLS
