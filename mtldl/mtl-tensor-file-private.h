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
  GMutex mutex; /* of the memory and the descriptor of mapped parts */
};

MtlTensorFileEntry *mtl_tensor_file_entry_new     (MtlTensorFile         *file,
                                                   const MtlTensorEntry  *entry);
MtlStridedView     *mtl_tensor_file_view_of       (MtlTensorFile         *self,
                                                   const MtlTensorEntry  *entry,
                                                   GError               **error);
void                mtl_tensor_file_part_clear    (MtlTensorFilePart     *self);

G_END_DECLS
