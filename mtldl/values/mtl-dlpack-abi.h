/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#if !defined (MTLDL_INSIDE) && !defined (MTLDL_COMPILATION)
#error "Only <mtldl/mtldl-dlpack.h> can be included directly."
#endif

#include <glib.h>

G_BEGIN_DECLS

/* The structs of DLPack 1.3. They are declared here, because the header that
 * distributions ship is often older than 1.0. A program that uses both headers must
 * include <dlpack/dlpack.h> first. */
#ifndef DLPACK_DLPACK_H_

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

#endif /* DLPACK_DLPACK_H_ */

/* DLPack's type codes whose elements have whole numbers of bytes. */
enum
{
  MTL_TYPE_CODE_INT = 0,
  MTL_TYPE_CODE_UINT = 1,
  MTL_TYPE_CODE_FLOAT = 2,
  MTL_TYPE_CODE_OPAQUE_HANDLE = 3,
  MTL_TYPE_CODE_BFLOAT = 4,
  MTL_TYPE_CODE_COMPLEX = 5,
  MTL_TYPE_CODE_BOOL = 6,
};

G_END_DECLS
