/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#define DLPACK_DLPACK_H_
#define DLPACK_MAJOR_VERSION 1
#define DLPACK_MINOR_VERSION 3

#include <stdint.h>

/* DLPack 1.x as a peer of the library sees it: its structs, written down a second time so that the
 * tests do not depend on the library's. */

enum
{
  DL_READ_ONLY = 1,
  DL_IS_COPIED = 2,
  DL_PADDED = 4,
};

enum
{
  kDLInt = 0,
  kDLUInt = 1,
  kDLFloat = 2,
  kDLOpaqueHandle = 3,
  kDLBfloat = 4,
  kDLComplex = 5,
  kDLBool = 6,
};

typedef struct
{
  uint32_t major;
  uint32_t minor;
} DLPackVersion;

typedef struct
{
  int32_t device_type;
  int32_t device_id;
} DLDevice;

typedef struct
{
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} DLDataType;

typedef struct
{
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape;
  int64_t *strides;
  uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensor
{
  DLTensor dl_tensor;
  void *manager_ctx;
  void (*deleter) (struct DLManagedTensor *self);
} DLManagedTensor;

typedef struct DLManagedTensorVersioned
{
  DLPackVersion version;
  void *manager_ctx;
  void (*deleter) (struct DLManagedTensorVersioned *self);
  uint64_t flags;
  DLTensor dl_tensor;
} DLManagedTensorVersioned;

/* Takes the structs from here. */
#include <mtldl/mtldl-dlpack.h>
