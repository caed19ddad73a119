/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-version-macros.h"

G_BEGIN_DECLS

/**
 * MtlDeviceType:
 * @MTL_DEVICE_TYPE_UNKNOWN: a kind that DLPack does not name; as an argument:
 *   no particular one
 * @MTL_DEVICE_TYPE_CPU: host memory
 * @MTL_DEVICE_TYPE_CUDA: NVIDIA's GPUs
 * @MTL_DEVICE_TYPE_CUDA_HOST: host memory pinned for CUDA
 * @MTL_DEVICE_TYPE_OPENCL: OpenCL
 * @MTL_DEVICE_TYPE_VULKAN: Vulkan
 * @MTL_DEVICE_TYPE_METAL: Metal
 * @MTL_DEVICE_TYPE_VPI: Verilog simulator
 * @MTL_DEVICE_TYPE_ROCM: AMD's GPUs
 * @MTL_DEVICE_TYPE_ROCM_HOST: host memory pinned for ROCm
 * @MTL_DEVICE_TYPE_EXT_DEV: reserved for extensions
 * @MTL_DEVICE_TYPE_CUDA_MANAGED: CUDA's managed memory
 * @MTL_DEVICE_TYPE_ONE_API: oneAPI's unified shared memory
 * @MTL_DEVICE_TYPE_WEBGPU: WebGPU
 * @MTL_DEVICE_TYPE_HEXAGON: Qualcomm's Hexagon
 * @MTL_DEVICE_TYPE_MAIA: Microsoft's MAIA
 * @MTL_DEVICE_TYPE_TRN: AWS' Trainium
 * @MTL_DEVICE_TYPE_TPU: Google's TPU
 * @MTL_DEVICE_TYPE_TPU_HOST: host memory pinned for a TPU
 * @MTL_DEVICE_TYPE_ASCEND: Huawei's Ascend
 *
 * The kinds of devices, with DLPack's numbers.
 *
 * Since: 1.0
 */
typedef enum
{
  MTL_DEVICE_TYPE_UNKNOWN = 0,
  MTL_DEVICE_TYPE_CPU = 1,
  MTL_DEVICE_TYPE_CUDA = 2,
  MTL_DEVICE_TYPE_CUDA_HOST = 3,
  MTL_DEVICE_TYPE_OPENCL = 4,
  MTL_DEVICE_TYPE_VULKAN = 7,
  MTL_DEVICE_TYPE_METAL = 8,
  MTL_DEVICE_TYPE_VPI = 9,
  MTL_DEVICE_TYPE_ROCM = 10,
  MTL_DEVICE_TYPE_ROCM_HOST = 11,
  MTL_DEVICE_TYPE_EXT_DEV = 12,
  MTL_DEVICE_TYPE_CUDA_MANAGED = 13,
  MTL_DEVICE_TYPE_ONE_API = 14,
  MTL_DEVICE_TYPE_WEBGPU = 15,
  MTL_DEVICE_TYPE_HEXAGON = 16,
  MTL_DEVICE_TYPE_MAIA = 17,
  MTL_DEVICE_TYPE_TRN = 18,
  MTL_DEVICE_TYPE_TPU = 19,
  MTL_DEVICE_TYPE_TPU_HOST = 20,
  MTL_DEVICE_TYPE_ASCEND = 21,
} MtlDeviceType;

/**
 * MtlStorageMode:
 * @MTL_STORAGE_MODE_HOST: memory of the host
 * @MTL_STORAGE_MODE_SHARED: one memory that the host and the device both use
 * @MTL_STORAGE_MODE_MANAGED: one copy each for the host and the device, brought
 *   into agreement on demand
 * @MTL_STORAGE_MODE_PRIVATE: memory that only the device reaches
 * @MTL_STORAGE_MODE_FOREIGN: memory of a device that this library has no
 *   backend for; it can be described and passed on
 *
 * Where a buffer's memory lives and who can reach it.
 *
 * Since: 1.0
 */
typedef enum
{
  MTL_STORAGE_MODE_HOST,
  MTL_STORAGE_MODE_SHARED,
  MTL_STORAGE_MODE_MANAGED,
  MTL_STORAGE_MODE_PRIVATE,
  MTL_STORAGE_MODE_FOREIGN,
} MtlStorageMode;

/**
 * MtlBufferFlags:
 * @MTL_BUFFER_FLAGS_NONE: writable, copied only where there is no other way
 * @MTL_BUFFER_FLAGS_READ_ONLY: writes are refused
 * @MTL_BUFFER_FLAGS_NEVER_COPY: an error rather than a copy
 *
 * How a buffer is made of memory that exists already.
 *
 * Since: 1.0
 */
typedef enum /*< flags >*/
{
  MTL_BUFFER_FLAGS_NONE = 0,
  MTL_BUFFER_FLAGS_READ_ONLY = 1 << 0,
  MTL_BUFFER_FLAGS_NEVER_COPY = 1 << 1,
} MtlBufferFlags;

/**
 * MtlFileMode:
 * @MTL_FILE_MODE_AUTO: mapped on disks of this machine, read from others
 * @MTL_FILE_MODE_MAP: mapped: the system reads pages when they are used
 * @MTL_FILE_MODE_READ: read, one tensor at a time, into memory of its own
 *
 * How the tensors of a file come into memory.
 *
 * Since: 1.0
 */
typedef enum
{
  MTL_FILE_MODE_AUTO,
  MTL_FILE_MODE_MAP,
  MTL_FILE_MODE_READ,
} MtlFileMode;

/**
 * MtlTensorFileFormat:
 * @MTL_TENSOR_FILE_FORMAT_SAFETENSORS: safetensors, in one file or in several
 *   that an index names
 * @MTL_TENSOR_FILE_FORMAT_NPY: NumPy's .npy, of one array
 * @MTL_TENSOR_FILE_FORMAT_NPZ: NumPy's .npz, a zip archive of .npy files
 *
 * How tensors are written to a file.
 *
 * Since: 1.0
 */
typedef enum
{
  MTL_TENSOR_FILE_FORMAT_SAFETENSORS,
  MTL_TENSOR_FILE_FORMAT_NPY,
  MTL_TENSOR_FILE_FORMAT_NPZ,
} MtlTensorFileFormat;

/**
 * MtlTensorFileOrder:
 * @MTL_TENSOR_FILE_ORDER_ALIGNED: such that each tensor begins at a multiple of
 *   the power of two that divides its size, up to 16 KiB: those of the largest
 *   first, and else as they were added
 * @MTL_TENSOR_FILE_ORDER_ADDED: as they were added, wherever each then begins
 *
 * The order of the tensors in a file that is written. A safetensors file may not
 * have gaps.
 *
 * Since: 1.0
 */
typedef enum
{
  MTL_TENSOR_FILE_ORDER_ALIGNED,
  MTL_TENSOR_FILE_ORDER_ADDED,
} MtlTensorFileOrder;

/**
 * MtlTensorChecks:
 * @MTL_TENSOR_CHECKS_NONE: only what makes a file wrong
 * @MTL_TENSOR_CHECKS_NAN: no number may be NaN
 * @MTL_TENSOR_CHECKS_BOOL: a bool is the byte 0 or 1
 * @MTL_TENSOR_CHECKS_ALIGNMENT: numbers begin at multiples of their size, counted
 *   from the beginning of the file
 *
 * What else is to be looked for in the tensors of a file: what is right in a
 * file, and may be wrong for its user.
 *
 * Since: 1.0
 */
typedef enum /*< flags >*/
{
  MTL_TENSOR_CHECKS_NONE = 0,
  MTL_TENSOR_CHECKS_NAN = 1 << 0,
  MTL_TENSOR_CHECKS_BOOL = 1 << 1,
  MTL_TENSOR_CHECKS_ALIGNMENT = 1 << 2,
} MtlTensorChecks;

/**
 * MtlOrder:
 * @MTL_ORDER_C: row-major, the last axis is the densest
 * @MTL_ORDER_F: column-major, the first axis is the densest
 * @MTL_ORDER_K: keep the order in which the axes lie in memory
 * @MTL_ORDER_ANY: row-major or column-major
 *
 * The order of a layout's axes in memory.
 *
 * Since: 1.0
 */
typedef enum
{
  MTL_ORDER_C,
  MTL_ORDER_F,
  MTL_ORDER_K,
  MTL_ORDER_ANY,
} MtlOrder;

/**
 * MtlDlpackFlags:
 * @MTL_DLPACK_FLAGS_NONE: a versioned tensor, copied only where there is no
 *   other way
 * @MTL_DLPACK_FLAGS_LEGACY: the form from before DLPack 1.0, which cannot
 *   carry read-only data
 * @MTL_DLPACK_FLAGS_COPY: always a fresh copy, for the consumer alone
 * @MTL_DLPACK_FLAGS_NEVER_COPY: an error rather than a copy
 * @MTL_DLPACK_FLAGS_NEGATIVE_STRIDES: the consumer takes negative strides
 *
 * How a view goes out as a DLPack tensor.
 *
 * Since: 1.0
 */
typedef enum /*< flags >*/
{
  MTL_DLPACK_FLAGS_NONE = 0,
  MTL_DLPACK_FLAGS_LEGACY = 1 << 0,
  MTL_DLPACK_FLAGS_COPY = 1 << 1,
  MTL_DLPACK_FLAGS_NEVER_COPY = 1 << 2,
  MTL_DLPACK_FLAGS_NEGATIVE_STRIDES = 1 << 3,
} MtlDlpackFlags;

G_END_DECLS
