/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#if !defined (MTLDL_INSIDE) && !defined (MTLDL_COMPILATION)
#error "Only <mtldl/mtldl-dlpack.h> can be included directly."
#endif

#include <glib.h>

G_BEGIN_DECLS

/* The structs of DLPack 1.3: from DLPack's own header, if <dlpack/dlpack.h> is installed or was
 * included before, otherwise from here. Then the guard of that header is set, so that a copy of
 * it that is included later, from somewhere else, adds nothing. A header from before 1.0 is
 * completed. With MTL_NO_DLPACK_H no header is looked for. */
#if !defined (MTLDL_COMPILATION) && !defined (MTL_NO_DLPACK_H) && defined (__has_include)
#if __has_include (<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#endif
#endif

#ifndef DLPACK_DLPACK_H_
#define DLPACK_DLPACK_H_
#define MTL_DEFINES_DLPACK
#endif

#ifndef DLPACK_FLAG_BITMASK_READ_ONLY
#define DLPACK_FLAG_BITMASK_READ_ONLY G_GUINT64_CONSTANT (1)
#endif
#ifndef DLPACK_FLAG_BITMASK_IS_COPIED
#define DLPACK_FLAG_BITMASK_IS_COPIED G_GUINT64_CONSTANT (2)
#endif
#ifndef DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED
#define DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED G_GUINT64_CONSTANT (4)
#endif

#ifdef MTL_DEFINES_DLPACK

typedef enum
{
  kDLCPU = 1,
  kDLCUDA = 2,
  kDLCUDAHost = 3,
  kDLOpenCL = 4,
  kDLVulkan = 7,
  kDLMetal = 8,
  kDLVPI = 9,
  kDLROCM = 10,
  kDLROCMHost = 11,
  kDLExtDev = 12,
  kDLCUDAManaged = 13,
  kDLOneAPI = 14,
  kDLWebGPU = 15,
  kDLHexagon = 16,
  kDLMAIA = 17,
  kDLTrn = 18
} DLDeviceType;

typedef enum
{
  kDLInt = 0,
  kDLUInt = 1,
  kDLFloat = 2,
  kDLOpaqueHandle = 3,
  kDLBfloat = 4,
  kDLComplex = 5,
  kDLBool = 6,
  kDLFloat8_e3m4 = 7,
  kDLFloat8_e4m3 = 8,
  kDLFloat8_e4m3b11fnuz = 9,
  kDLFloat8_e4m3fn = 10,
  kDLFloat8_e4m3fnuz = 11,
  kDLFloat8_e5m2 = 12,
  kDLFloat8_e5m2fnuz = 13,
  kDLFloat8_e8m0fnu = 14,
  kDLFloat6_e2m3fn = 15,
  kDLFloat6_e3m2fn = 16,
  kDLFloat4_e2m1fn = 17
} DLDataTypeCode;

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

#endif /* MTL_DEFINES_DLPACK */

#ifndef DLPACK_MAJOR_VERSION

#define DLPACK_MAJOR_VERSION 1
#define DLPACK_MINOR_VERSION 3

typedef struct
{
  guint32 major;
  guint32 minor;
} DLPackVersion;

typedef struct DLManagedTensorVersioned DLManagedTensorVersioned;
struct DLManagedTensorVersioned
{
  DLPackVersion version;
  void *manager_ctx;
  void (*deleter) (DLManagedTensorVersioned *self);
  guint64 flags;
  DLTensor dl_tensor;
};

#endif /* DLPACK_MAJOR_VERSION */

#undef MTL_DEFINES_DLPACK

G_END_DECLS
