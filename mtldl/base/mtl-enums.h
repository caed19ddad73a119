/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-version-macros.h"

G_BEGIN_DECLS

/**
 * MtlDeviceType:
 * @MTL_DEVICE_TYPE_UNKNOWN: a type that DLPack does not name
 * @MTL_DEVICE_TYPE_CPU: host memory
 * @MTL_DEVICE_TYPE_CUDA: NVIDIA GPUs
 * @MTL_DEVICE_TYPE_CUDA_HOST: host memory pinned for CUDA
 * @MTL_DEVICE_TYPE_OPENCL: OpenCL
 * @MTL_DEVICE_TYPE_VULKAN: Vulkan
 * @MTL_DEVICE_TYPE_METAL: Metal
 * @MTL_DEVICE_TYPE_VPI: Verilog simulator
 * @MTL_DEVICE_TYPE_ROCM: AMD GPUs
 * @MTL_DEVICE_TYPE_ROCM_HOST: host memory pinned for ROCm
 * @MTL_DEVICE_TYPE_EXT_DEV: reserved for extensions
 * @MTL_DEVICE_TYPE_CUDA_MANAGED: CUDA managed memory
 * @MTL_DEVICE_TYPE_ONE_API: oneAPI unified shared memory
 * @MTL_DEVICE_TYPE_WEBGPU: WebGPU
 * @MTL_DEVICE_TYPE_HEXAGON: Qualcomm Hexagon
 * @MTL_DEVICE_TYPE_MAIA: Microsoft MAIA
 * @MTL_DEVICE_TYPE_TRN: AWS Trainium
 *
 * The types of devices, with the numbers of DLPack.
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
} MtlDeviceType;

/**
 * MtlStorageMode:
 * @MTL_STORAGE_MODE_DEFAULT: the device's own default: host memory on the host,
 *   shared memory on Metal, private memory on CUDA; for requests only: memory
 *   always has one of the other modes
 * @MTL_STORAGE_MODE_HOST: memory of the host
 * @MTL_STORAGE_MODE_SHARED: one memory that the host and the device both use; on
 *   CUDA it is pinned memory of the host, which the GPU reaches over the bus
 * @MTL_STORAGE_MODE_MANAGED: one copy each for the host and the device,
 *   synchronized on demand; on CUDA, pages that go to who uses them
 * @MTL_STORAGE_MODE_PRIVATE: memory that only the device can access
 * @MTL_STORAGE_MODE_FOREIGN: memory of a device that this library has no
 *   backend for; it can be described and passed on
 * @MTL_STORAGE_MODE_INTERPROCESS: memory of the host that other processes can map,
 *   see [method@Mtl.Buffer.dup_fd]; for requests only: such memory has
 *   %MTL_STORAGE_MODE_HOST
 *
 * Where a buffer's memory is, and who can access it.
 *
 * Since: 1.0
 */
typedef enum
{
  MTL_STORAGE_MODE_DEFAULT,
  MTL_STORAGE_MODE_HOST,
  MTL_STORAGE_MODE_SHARED,
  MTL_STORAGE_MODE_MANAGED,
  MTL_STORAGE_MODE_PRIVATE,
  MTL_STORAGE_MODE_FOREIGN,
  MTL_STORAGE_MODE_INTERPROCESS,
} MtlStorageMode;

/**
 * MtlBufferFlags:
 * @MTL_BUFFER_FLAGS_NONE: writable, and copied only if there is no other way
 * @MTL_BUFFER_FLAGS_READ_ONLY: writing is an error
 * @MTL_BUFFER_FLAGS_NEVER_COPY: fail rather than copy
 *
 * How to create a buffer from existing memory.
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
 * MtlMetalTensorUsage:
 * @MTL_METAL_TENSOR_USAGE_COMPUTE: compute kernels
 * @MTL_METAL_TENSOR_USAGE_RENDER: shaders that render
 * @MTL_METAL_TENSOR_USAGE_MACHINE_LEARNING: networks that Metal 4 runs, which need
 *   rows of whole 64 bytes, and a tensor at the beginning of its buffer
 *
 * What an `MTLTensor` is for: one or several of these, with Metal's values.
 *
 * Since: 1.0
 */
typedef enum /*< flags >*/
{
  MTL_METAL_TENSOR_USAGE_COMPUTE = 1 << 0,
  MTL_METAL_TENSOR_USAGE_RENDER = 1 << 1,
  MTL_METAL_TENSOR_USAGE_MACHINE_LEARNING = 1 << 2,
} MtlMetalTensorUsage;

/**
 * MtlTensorFileMode:
 * @MTL_TENSOR_FILE_MODE_AUTO: map files on disks of this machine, read others
 * @MTL_TENSOR_FILE_MODE_MAP: map the file: the system reads pages when they are used
 * @MTL_TENSOR_FILE_MODE_READ: read one tensor at a time, into separate memory
 *
 * How the tensors of a file get into memory.
 *
 * Since: 1.0
 */
typedef enum
{
  MTL_TENSOR_FILE_MODE_AUTO,
  MTL_TENSOR_FILE_MODE_MAP,
  MTL_TENSOR_FILE_MODE_READ,
} MtlTensorFileMode;

/**
 * MtlTensorFileFormat:
 * @MTL_TENSOR_FILE_FORMAT_AUTO: the format that the file tells: the ending of
 *   its name if it is written, see [property@Mtl.TensorFileBuilder:format]
 * @MTL_TENSOR_FILE_FORMAT_SAFETENSORS: safetensors, in one file or in several
 *   that an index names
 * @MTL_TENSOR_FILE_FORMAT_NPY: NumPy's .npy, with one array
 * @MTL_TENSOR_FILE_FORMAT_NPZ: NumPy's .npz, a zip archive of .npy files
 *
 * The formats of tensor files.
 *
 * Since: 1.0
 */
typedef enum
{
  MTL_TENSOR_FILE_FORMAT_AUTO,
  MTL_TENSOR_FILE_FORMAT_SAFETENSORS,
  MTL_TENSOR_FILE_FORMAT_NPY,
  MTL_TENSOR_FILE_FORMAT_NPZ,
} MtlTensorFileFormat;

/**
 * MtlTensorFileOrder:
 * @MTL_TENSOR_FILE_ORDER_ALIGNED: sorted so that each tensor begins at a
 *   multiple of the largest power of two that divides its size, up to 16 KiB:
 *   the largest powers first, and equal ones in the order in which they were
 *   added
 * @MTL_TENSOR_FILE_ORDER_ADDED: the order in which they were added, whatever
 *   their alignment
 *
 * The order of the tensors in a file to write. A safetensors file cannot have
 * gaps.
 *
 * Since: 1.0
 */
typedef enum
{
  MTL_TENSOR_FILE_ORDER_ALIGNED,
  MTL_TENSOR_FILE_ORDER_ADDED,
} MtlTensorFileOrder;

/**
 * MtlTensorFileChecks:
 * @MTL_TENSOR_FILE_CHECKS_NONE: no additional checks
 * @MTL_TENSOR_FILE_CHECKS_NAN: no number is NaN
 * @MTL_TENSOR_FILE_CHECKS_BOOL: each bool is the byte 0 or 1
 * @MTL_TENSOR_FILE_CHECKS_ALIGNMENT: numbers begin at multiples of their size,
 *   counted from the beginning of the file
 * @MTL_TENSOR_FILE_CHECKS_INF: no number is infinite
 * @MTL_TENSOR_FILE_CHECKS_LOADABLE: each tensor can be loaded
 *
 * Additional checks for the tensors of a file. A file that does not pass them
 * is valid, but may not be what its user expects.
 *
 * Since: 1.0
 */
typedef enum /*< flags >*/
{
  MTL_TENSOR_FILE_CHECKS_NONE = 0,
  MTL_TENSOR_FILE_CHECKS_NAN = 1 << 0,
  MTL_TENSOR_FILE_CHECKS_BOOL = 1 << 1,
  MTL_TENSOR_FILE_CHECKS_ALIGNMENT = 1 << 2,
  MTL_TENSOR_FILE_CHECKS_INF = 1 << 3,
  MTL_TENSOR_FILE_CHECKS_LOADABLE = 1 << 4,
} MtlTensorFileChecks;

/**
 * MtlOrder:
 * @MTL_ORDER_C: row-major: the last axis is the densest
 * @MTL_ORDER_F: column-major: the first axis is the densest
 * @MTL_ORDER_K: the order that the axes already have in memory
 * @MTL_ORDER_ANY: row-major or column-major, whichever the axes already have
 *
 * The order of a layout's axes in memory.
 *
 * Functions that make a layout or a copy of another one keep its order for
 * %MTL_ORDER_K, as [method@Mtl.StridedLayout.dup_stride_order] lists it. For
 * %MTL_ORDER_ANY they use F order if the other one is contiguous in F order and
 * not in C order, and C order otherwise. Where there is no other one, both mean
 * C order. [method@Mtl.StridedLayout.is_contiguous] accepts elements that lie
 * side by side in any order of the axes for %MTL_ORDER_K, and in either order
 * for %MTL_ORDER_ANY.
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
 * MtlCompareFlags:
 * @MTL_COMPARE_FLAGS_NONE: NaN is equal to nothing
 * @MTL_COMPARE_FLAGS_EQUAL_NAN: NaN is equal to NaN, and so are complex numbers
 *   with a NaN in either part
 *
 * How to compare the elements of two views.
 *
 * Since: 1.0
 */
typedef enum /*< flags >*/
{
  MTL_COMPARE_FLAGS_NONE = 0,
  MTL_COMPARE_FLAGS_EQUAL_NAN = 1 << 0,
} MtlCompareFlags;

/**
 * MtlReduction:
 * @MTL_REDUCTION_MINIMUM: the least finite element
 * @MTL_REDUCTION_MAXIMUM: the greatest finite element
 * @MTL_REDUCTION_MEAN: the mean of the finite elements
 * @MTL_REDUCTION_DEVIATION: the standard deviation of the finite elements
 *
 * A number that [method@Mtl.StridedView.reduce] computes, as
 * [class@Mtl.Statistics] has it.
 *
 * Since: 1.0
 */
typedef enum
{
  MTL_REDUCTION_MINIMUM,
  MTL_REDUCTION_MAXIMUM,
  MTL_REDUCTION_MEAN,
  MTL_REDUCTION_DEVIATION,
} MtlReduction;

/**
 * MtlDlpackFlags:
 * @MTL_DLPACK_FLAGS_NONE: copied only if there is no other way
 * @MTL_DLPACK_FLAGS_COPY: always a new copy, for the consumer alone
 * @MTL_DLPACK_FLAGS_NEVER_COPY: fail rather than copy
 * @MTL_DLPACK_FLAGS_NEGATIVE_STRIDES: the consumer supports negative strides
 * @MTL_DLPACK_FLAGS_NO_SYNC: the consumer itself waits for the library's stream,
 *   see [ctor@Mtl.Stream.new_for_device]
 *
 * How to export a view as a DLPack tensor.
 *
 * Since: 1.0
 */
typedef enum /*< flags >*/
{
  MTL_DLPACK_FLAGS_NONE = 0,
  MTL_DLPACK_FLAGS_COPY = 1 << 0,
  MTL_DLPACK_FLAGS_NEVER_COPY = 1 << 1,
  MTL_DLPACK_FLAGS_NEGATIVE_STRIDES = 1 << 2,
  MTL_DLPACK_FLAGS_NO_SYNC = 1 << 3,
} MtlDlpackFlags;

/**
 * MtlTensorPeerFlags:
 * @MTL_TENSOR_PEER_FLAGS_NONE: processes of the same user
 * @MTL_TENSOR_PEER_FLAGS_ALLOW_OTHER_USERS: processes of any user
 *
 * The processes that tensors may be exchanged with.
 *
 * Since: 1.0
 */
typedef enum /*< flags >*/
{
  MTL_TENSOR_PEER_FLAGS_NONE = 0,
  MTL_TENSOR_PEER_FLAGS_ALLOW_OTHER_USERS = 1 << 0,
} MtlTensorPeerFlags;

G_END_DECLS
