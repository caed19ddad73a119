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
  MtlTensorFileOrder order;
  guint alignment;
};

/* One after the other into a file, through one piece of memory. */
typedef struct
{
  MtlFileReplacement *file;
  guint8 *memory;
  guint64 n_bits; /* of it that wait to be written; elements may end in a byte's midst */
  guint64 n_done; /* bytes of all */
  guint64 n_total;
  const MtlMonitor *monitor;
} MtlTensorStream;

gboolean mtl_tensor_stream_init         (MtlTensorStream     *self,
                                         MtlFileReplacement  *file,
                                         guint64              n_total,
                                         const MtlMonitor    *monitor,
                                         GError             **error);
void     mtl_tensor_stream_clear        (MtlTensorStream     *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (MtlTensorStream, mtl_tensor_stream_clear)

gboolean mtl_tensor_stream_write_bytes  (MtlTensorStream     *self,
                                         gconstpointer        bytes,
                                         gsize                size,
                                         GError             **error);
gboolean mtl_tensor_stream_write_tensor (MtlTensorStream     *self,
                                         MtlStridedView      *view,
                                         MtlDType             dtype,
                                         GError             **error);
gboolean mtl_tensor_stream_flush        (MtlTensorStream     *self,
                                         GError             **error);

gboolean mtl_tensor_file_builder_write_monitored (MtlTensorFileBuilder  *self,
                                                  GFile                 *file,
                                                  const MtlMonitor      *monitor,
                                                  GError               **error);

G_END_DECLS
