/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-element-type-private.h"
#include "mtl-layout-private.h"

G_BEGIN_DECLS

/* The structs of DLPack 1.3. They are declared here and not taken from the
 * system's header, because what distributions ship is often older than 1.0. */

#define DLPACK_MAJOR_VERSION 1
#define DLPACK_MINOR_VERSION 3

#define DLPACK_FLAG_BITMASK_READ_ONLY G_GUINT64_CONSTANT (1)
#define DLPACK_FLAG_BITMASK_IS_COPIED G_GUINT64_CONSTANT (2)
#define DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED G_GUINT64_CONSTANT (4)

typedef struct
{
  guint32 major;
  guint32 minor;
} DLPackVersion;

typedef struct
{
  gint32 device_type;
  gint32 device_id;
} DLDevice;

typedef struct
{
  guint8 code;
  guint8 bits;
  guint16 lanes;
} DLDataType;

typedef struct
{
  void *data;
  DLDevice device;
  gint32 ndim;
  DLDataType dtype;
  gint64 *shape;
  gint64 *strides;
  guint64 byte_offset;
} DLTensor;

typedef struct DLManagedTensor DLManagedTensor;
struct DLManagedTensor
{
  DLTensor dl_tensor;
  void *manager_ctx;
  void (*deleter) (DLManagedTensor *self);
};

typedef struct DLManagedTensorVersioned DLManagedTensorVersioned;
struct DLManagedTensorVersioned
{
  DLPackVersion version;
  void *manager_ctx;
  void (*deleter) (DLManagedTensorVersioned *self);
  guint64 flags;
  DLTensor dl_tensor;
};

#if GLIB_SIZEOF_VOID_P == 8
G_STATIC_ASSERT (sizeof (DLTensor) == 48);
G_STATIC_ASSERT (sizeof (DLManagedTensor) == 64);
G_STATIC_ASSERT (sizeof (DLManagedTensorVersioned) == 80);
G_STATIC_ASSERT (G_STRUCT_OFFSET (DLTensor, shape) == 24);
G_STATIC_ASSERT (G_STRUCT_OFFSET (DLTensor, byte_offset) == 40);
G_STATIC_ASSERT (G_STRUCT_OFFSET (DLManagedTensor, deleter) == 56);
G_STATIC_ASSERT (G_STRUCT_OFFSET (DLManagedTensorVersioned, dl_tensor) == 32);
#endif

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

/* Whether the host reads and writes memory of such a device directly. */
gboolean mtl_dl_device_is_host_accessible (gint32 device_type);

/* Whether a handle of such a device is an address, to which an offset can be
 * added. */
gboolean mtl_dl_device_has_addresses (gint32 device_type);

/* What a tensor says of itself: the bytes from first to end, as seen from its
 * data and byte offset, are those that its elements touch. */
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
