/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-dlpack-abi-private.h"
#include "mtl-dlpack.h"

G_BEGIN_DECLS

gboolean mtl_dlpack_check_version (const DLManagedTensorVersioned  *managed,
                                   GError                         **error);

/* A tensor in transit: one of the two forms. */
typedef struct
{
  DLManagedTensorVersioned *versioned;
  DLManagedTensor *legacy;
} MtlManaged;

void             mtl_managed_free          (MtlManaged        managed);
MtlManaged       mtl_dlpack_tensor_take    (MtlDlpackTensor  *self,
                                            GError          **error);
void             mtl_dlpack_tensor_give_back (MtlDlpackTensor *self,
                                              MtlManaged       managed);

G_END_DECLS
