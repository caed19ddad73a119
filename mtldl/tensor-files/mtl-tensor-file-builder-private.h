/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-file-replacement-private.h"
#include "mtl-strided-view-private.h"
#include "mtl-tensor-file-builder.h"

G_BEGIN_DECLS

typedef struct
{
  GRefString *name;
  MtlStridedView *view;
  MtlDType dtype; /* %MTL_DTYPE_OTHER: the view's */
} MtlAddedTensor;

struct _MtlTensorFileBuilder
{
  GObject parent_instance;

  GArray *tensors; /* of MtlAddedTensor, as they were added */
  GTree *names;    /* of theirs: a stranger may have chosen them, and none makes it slow */
  GTree *metadata; /* key to value */
  MtlTensorFileFormat format;
  MtlTensorFileOrder order;
  guint alignment;
};

/* One tensor as it is to be in a file. */
typedef struct
{
  const char *name; /* the builder's */
  MtlStridedView *view; /* of one lane */
  MtlDType dtype;
  MtlOrder order;
  guint64 n_bytes;
  guint alignment; /* what it is to begin at a multiple of, as a power of two */
  guint position;  /* among those that were added */
} MtlPlannedTensor;

/* Some of the tensors, in the file's order, and what comes before them. */
typedef struct
{
  MtlPlannedTensor *tensors;
  gsize n_tensors;
  GString *header;
  guint64 n_bytes; /* of all */
} MtlPlannedFile;

typedef struct
{
  GArray *tensors; /* of MtlPlannedTensor */
  GArray *files;   /* of MtlPlannedFile; one at least */
  guint64 n_tensor_bytes;
  guint64 n_bytes; /* with the headers */
} MtlTensorFilePlan;

/* No file has more bytes of tensors than that, unless one alone has more. */
MtlTensorFilePlan *mtl_tensor_file_plan_new         (MtlTensorFileBuilder     *builder,
                                                     guint64                   max_size,
                                                     GError                  **error);
void               mtl_tensor_file_plan_free        (MtlTensorFilePlan        *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MtlTensorFilePlan, mtl_tensor_file_plan_free)

/* Of files with these names. */
GString           *mtl_tensor_file_plan_write_index (const MtlTensorFilePlan  *self,
                                                     const char *const        *names,
                                                     GError                  **error);

/* Tensors on their way, through one piece of memory. */
typedef struct
{
  MtlFileReplacement *file; /* where they go at the moment */
  guint8 *memory;
  guint64 n_bits; /* of it that wait to be written; elements may end in a byte's midst */
  guint64 n_done; /* bytes of all files */
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

/* Of max_size as above; several files have an index, which is what is written then. */
gboolean mtl_tensor_file_builder_write_monitored (MtlTensorFileBuilder  *self,
                                                  GFile                 *file,
                                                  const MtlMonitor      *monitor,
                                                  GError               **error);
gboolean mtl_tensor_file_builder_write_shards_monitored (MtlTensorFileBuilder  *self,
                                                         GFile                 *index,
                                                         guint64                max_size,
                                                         const MtlMonitor      *monitor,
                                                         GError               **error);

/* With all that it has, for another thread. */
MtlTensorFileBuilder *mtl_tensor_file_builder_copy (MtlTensorFileBuilder *self);

G_END_DECLS
