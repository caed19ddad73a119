/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-dlpack-abi.h"
#include "mtl-element-type-private.h"
#include "mtl-layout-private.h"

G_BEGIN_DECLS

static inline void
mtl_dl_managed_tensor_free (DLManagedTensor *self)
{
  if (self != NULL && self->deleter != NULL)
    self->deleter (self);
}

static inline void
mtl_dl_managed_tensor_versioned_free (DLManagedTensorVersioned *self)
{
  if (self != NULL && self->deleter != NULL)
    self->deleter (self);
}

gboolean mtl_dl_device_is_host_accessible (gint32 device_type);

/* Checks whether a handle of such a device is an address to which an offset can be
 * added. */
gboolean mtl_dl_device_has_addresses (gint32 device_type);

/* The description of a tensor. Its elements touch the bytes from first to end, relative
 * to its data and byte offset. */
typedef struct
{
  MtlElementType type;
  MtlLayout layout;
  gint64 first;
  gint64 end;
} MtlTensorDescription;

gboolean mtl_dl_tensor_describe (const DLTensor        *self,
                                 guint64                flags,
                                 MtlTensorDescription  *description,
                                 GError               **error);

G_END_DECLS
