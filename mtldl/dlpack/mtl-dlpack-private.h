/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-dlpack-abi-private.h"
#include "mtl-dlpack-managed.h"
#include "mtl-dlpack.h"

G_BEGIN_DECLS

/* Takes the managed tensor. */
MtlDlpackTensor          *mtl_dlpack_tensor_new       (DLManagedTensorVersioned  *managed,
                                                       MtlDevice                 *device);
DLManagedTensorVersioned *mtl_dlpack_tensor_take      (MtlDlpackTensor           *self,
                                                       GError                   **error);
void                      mtl_dlpack_tensor_give_back (MtlDlpackTensor           *self,
                                                       DLManagedTensorVersioned  *managed);

G_END_DECLS
