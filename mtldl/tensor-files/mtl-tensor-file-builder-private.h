/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-file-replacement-private.h"
#include "mtl-strided-view-private.h"
#include "mtl-tensor-file-builder.h"
#include "mtl-text-private.h"

G_BEGIN_DECLS

typedef struct
{
  char *name; /* shared, see mtl-shared-text.c */
  MtlStridedView *view;
  MtlDType dtype; /* %MTL_DTYPE_OTHER: that of the view */
} MtlAddedTensor;

struct _MtlTensorFileBuilder
{
  GObject parent_instance;

  MtlAddedTensor *tensors; /* sorted as they were added */
  gsize n_tensors;
  gsize capacity;
  GTree *names;    /* the tensors' names; no choice of them makes a tree slow */
  GTree *metadata; /* key to value, both shared texts */
  MtlTensorFileFormat format;
  MtlTensorFileOrder order;
  guint alignment;
  gboolean sync;
};

/* One tensor, as it will be in a file. */
typedef struct
{
  const char *name; /* owned by the builder */
  MtlStridedView *view; /* a view with one lane */
  MtlDType dtype;
  MtlOrder order;
  guint64 n_bytes;
  guint alignment; /* log2 of the alignment in bytes */
  guint position;  /* counts the tensors added before */
} MtlPlannedTensor;

/* The tensors of one file, in its order, and the header before them. */
typedef struct
{
  MtlPlannedTensor *tensors;
  gsize n_tensors;
  MtlText header;
  guint64 n_bytes; /* the tensors, and the header once it is written */
} MtlPlannedFile;

typedef struct
{
  MtlPlannedTensor *tensors;
  gsize n_tensors;
  MtlPlannedFile *files; /* at least one file */
  gsize n_files;
  gsize files_capacity;
  guint64 n_tensor_bytes;
  guint64 n_bytes; /* the tensors and the headers */
} MtlTensorFilePlan;

/* No file has more than max_size bytes of tensors, unless a single tensor has more. */
MtlTensorFilePlan *mtl_tensor_file_plan_new         (MtlTensorFileBuilder     *builder,
                                                     MtlTensorFileFormat       format,
                                                     guint64                   max_size,
                                                     GError                  **error);
void               mtl_tensor_file_plan_free        (MtlTensorFilePlan        *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MtlTensorFilePlan, mtl_tensor_file_plan_free)

/* The text of the index, for files with these names. */
gboolean           mtl_tensor_file_plan_write_index (const MtlTensorFilePlan  *self,
                                                     const char *const        *names,
                                                     MtlText                  *text,
                                                     GError                  **error);

/* Copies tensors to files through one block of memory. */
typedef struct
{
  MtlFileReplacement *file; /* the current file */
  guint8 *memory;
  guint64 n_bits; /* bits in memory, not yet written; may end within a byte */
  guint64 n_done; /* bytes, of all files */
  guint64 n_total;
  const MtlMonitor *monitor;
} MtlTensorStream;

gboolean mtl_tensor_stream_init         (MtlTensorStream         *self,
                                         guint64                  n_total,
                                         const MtlMonitor        *monitor,
                                         GError                 **error);
void     mtl_tensor_stream_clear        (MtlTensorStream         *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (MtlTensorStream, mtl_tensor_stream_clear)

gboolean mtl_tensor_stream_write_bytes  (MtlTensorStream         *self,
                                         gconstpointer            bytes,
                                         gsize                    size,
                                         GError                 **error);
gboolean mtl_tensor_stream_write_tensor (MtlTensorStream         *self,
                                         const MtlPlannedTensor  *tensor,
                                         GError                 **error);
gboolean mtl_tensor_stream_flush        (MtlTensorStream         *self,
                                         GError                 **error);

/* See mtl_tensor_file_plan_new() for max_size. */
gboolean mtl_tensor_file_builder_write_monitored (MtlTensorFileBuilder  *self,
                                                  GFile                 *file,
                                                  const MtlMonitor      *monitor,
                                                  GError               **error);
gboolean mtl_tensor_file_builder_write_shards_monitored (MtlTensorFileBuilder  *self,
                                                         GFile                 *index,
                                                         guint64                max_size,
                                                         const MtlMonitor      *monitor,
                                                         GError               **error);

/* A copy for another thread, which shares the views and texts. */
MtlTensorFileBuilder *mtl_tensor_file_builder_copy (MtlTensorFileBuilder  *self,
                                                    GError               **error);

G_END_DECLS
