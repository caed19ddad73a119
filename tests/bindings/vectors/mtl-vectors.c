/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "mtl-vectors.h"

#include "dlpack-structs.h"

/* A library, as another project may have it, whose tensors have elements of
 * several lanes. Nothing of the other languages makes these itself. */

typedef struct
{
  DLManagedTensorVersioned managed;
  int64_t shape[1];
  int64_t strides[1];
} Vectors;

static void
delete_vectors (DLManagedTensorVersioned *managed)
{
  g_free (managed->dl_tensor.data);
  g_free (managed->manager_ctx);
}

/**
 * mtl_vectors_import:
 * @dtype: the type of a lane
 * @lanes: how many an element has
 * @n_vectors: how many elements there are
 * @error: return location for a [error@Mtl.Error]
 *
 * Makes a row of vectors of zeros in the host's memory.
 *
 * Returns: (transfer full): a view of them
 */
MtlStridedView *
mtl_vectors_import (MtlDType   dtype,
                    guint      lanes,
                    gint64     n_vectors,
                    GError   **error)
{
  guint bits = mtl_dtype_get_bits (dtype);
  Vectors *self = g_new0 (Vectors, 1);

  self->shape[0] = n_vectors;
  self->strides[0] = 1;
  self->managed = (DLManagedTensorVersioned) {
    .version = { 1, 0 },
    .manager_ctx = self,
    .deleter = delete_vectors,
    .dl_tensor = {
      .data = g_malloc0 ((n_vectors * lanes * bits + 7) / 8),
      .device = { 1, 0 },
      .ndim = 1,
      .dtype = { dtype >> 8, bits, lanes },
      .shape = self->shape,
      .strides = self->strides,
    },
  };

  return mtl_strided_view_new_take_dlpack (&self->managed, error);
}
