/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

/* The part of the interface of CUDA's driver that the library uses. The declarations are its own,
 * so that a build needs nothing of NVIDIA's; a test compares them with NVIDIA's header.
 * Enumerations are unsigned int, as compilers represent those without negative members. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef unsigned int CuResult;
typedef unsigned int CuEnum;
typedef int CuDevice;
typedef unsigned long long CuAddress;
typedef struct CUctx_st *CuContext;
typedef struct CUstream_st *CuStream;
typedef struct CUevent_st *CuEvent;
typedef struct CUmod_st *CuModule;
typedef struct CUfunc_st *CuFunction;
typedef struct CUmemPoolHandle_st *CuPool;

/* CUDA_MEMCPY3D */
typedef struct
{
  size_t src_x, src_y, src_z, src_lod;
  CuEnum src_type;
  const void *src_host;
  CuAddress src_device;
  void *src_array, *reserved0;
  size_t src_pitch, src_height;

  size_t dst_x, dst_y, dst_z, dst_lod;
  CuEnum dst_type;
  void *dst_host;
  CuAddress dst_device;
  void *dst_array, *reserved1;
  size_t dst_pitch, dst_height;

  size_t width, height, depth;
} CuCopy3D;

/* CUmemPoolProps */
typedef struct
{
  CuEnum alloc_type;
  CuEnum handle_types;
  CuEnum location_type;
  int location_id;
  void *security_attributes;
  size_t max_size;
  unsigned char reserved[56];
} CuPoolProps;

/* CUuuid */
typedef struct
{
  unsigned char bytes[16];
} CuUuid;

/* Our name, NVIDIA's, and the value */
#define CU_CONSTANTS(X) \
  X (CU_SUCCESS, CUDA_SUCCESS, 0) \
  X (CU_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE, 1) \
  X (CU_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY, 2) \
  X (CU_NOT_INITIALIZED, CUDA_ERROR_NOT_INITIALIZED, 3) \
  X (CU_DEINITIALIZED, CUDA_ERROR_DEINITIALIZED, 4) \
  X (CU_STUB_LIBRARY, CUDA_ERROR_STUB_LIBRARY, 34) \
  X (CU_NO_DEVICE, CUDA_ERROR_NO_DEVICE, 100) \
  X (CU_INVALID_DEVICE, CUDA_ERROR_INVALID_DEVICE, 101) \
  X (CU_INVALID_IMAGE, CUDA_ERROR_INVALID_IMAGE, 200) \
  X (CU_INVALID_CONTEXT, CUDA_ERROR_INVALID_CONTEXT, 201) \
  X (CU_NO_BINARY_FOR_GPU, CUDA_ERROR_NO_BINARY_FOR_GPU, 209) \
  X (CU_ECC_UNCORRECTABLE, CUDA_ERROR_ECC_UNCORRECTABLE, 214) \
  X (CU_INVALID_PTX, CUDA_ERROR_INVALID_PTX, 218) \
  X (CU_NVLINK_UNCORRECTABLE, CUDA_ERROR_NVLINK_UNCORRECTABLE, 220) \
  X (CU_JIT_COMPILER_NOT_FOUND, CUDA_ERROR_JIT_COMPILER_NOT_FOUND, 221) \
  X (CU_UNSUPPORTED_PTX_VERSION, CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222) \
  X (CU_JIT_COMPILATION_DISABLED, CUDA_ERROR_JIT_COMPILATION_DISABLED, 223) \
  X (CU_INVALID_HANDLE, CUDA_ERROR_INVALID_HANDLE, 400) \
  X (CU_NOT_FOUND, CUDA_ERROR_NOT_FOUND, 500) \
  X (CU_NOT_READY, CUDA_ERROR_NOT_READY, 600) \
  X (CU_ILLEGAL_ADDRESS, CUDA_ERROR_ILLEGAL_ADDRESS, 700) \
  X (CU_LAUNCH_TIMEOUT, CUDA_ERROR_LAUNCH_TIMEOUT, 702) \
  X (CU_CONTEXT_IS_DESTROYED, CUDA_ERROR_CONTEXT_IS_DESTROYED, 709) \
  X (CU_ALREADY_REGISTERED, CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, 712) \
  X (CU_NOT_REGISTERED, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, 713) \
  X (CU_LAUNCH_FAILED, CUDA_ERROR_LAUNCH_FAILED, 719) \
  X (CU_NOT_PERMITTED, CUDA_ERROR_NOT_PERMITTED, 800) \
  X (CU_NOT_SUPPORTED, CUDA_ERROR_NOT_SUPPORTED, 801) \
  X (CU_SYSTEM_NOT_READY, CUDA_ERROR_SYSTEM_NOT_READY, 802) \
  X (CU_DRIVER_MISMATCH, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, 803) \
  X (CU_COMPAT_NOT_SUPPORTED, CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, 804) \
  X (CU_CAPTURE_UNSUPPORTED, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, 900) \
  X (CU_CAPTURE_INVALIDATED, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, 901) \
  X (CU_CAPTURE_UNJOINED, CUDA_ERROR_STREAM_CAPTURE_UNJOINED, 904) \
  X (CU_CAPTURE_ISOLATION, CUDA_ERROR_STREAM_CAPTURE_ISOLATION, 905) \
  X (CU_CAPTURE_IMPLICIT, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, 906) \
  X (CU_CAPTURED_EVENT, CUDA_ERROR_CAPTURED_EVENT, 907) \
  X (CU_CAPTURE_WRONG_THREAD, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, 908) \
  X (CU_UNKNOWN, CUDA_ERROR_UNKNOWN, 999) \
  X (CU_MEMORY_HOST, CU_MEMORYTYPE_HOST, 1) \
  X (CU_MEMORY_DEVICE, CU_MEMORYTYPE_DEVICE, 2) \
  X (CU_MEMORY_UNIFIED, CU_MEMORYTYPE_UNIFIED, 4) \
  X (CU_POINTER_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 2) \
  X (CU_POINTER_HOST_POINTER, CU_POINTER_ATTRIBUTE_HOST_POINTER, 4) \
  X (CU_POINTER_IS_MANAGED, CU_POINTER_ATTRIBUTE_IS_MANAGED, 8) \
  X (CU_POINTER_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, 9) \
  X (CU_POINTER_RANGE_START, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, 11) \
  X (CU_POINTER_RANGE_SIZE, CU_POINTER_ATTRIBUTE_RANGE_SIZE, 12) \
  X (CU_DEVICE_UNIFIED_ADDRESSING, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 41) \
  X (CU_DEVICE_INTEGRATED, CU_DEVICE_ATTRIBUTE_INTEGRATED, 18) \
  X (CU_DEVICE_CAPABILITY_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75) \
  X (CU_DEVICE_MANAGED_MEMORY, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 83) \
  X (CU_DEVICE_CONCURRENT_MANAGED_ACCESS, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 89) \
  X (CU_DEVICE_REGISTERED_SAME_ADDRESS, \
     CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 91) \
  X (CU_DEVICE_REGISTER_READ_ONLY, \
     CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED, 113) \
  X (CU_DEVICE_MEMORY_POOLS, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 115) \
  X (CU_DEVICE_STREAM_VALUES_64, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, 122) \
  X (CU_HOST_ALLOC_PORTABLE, CU_MEMHOSTALLOC_PORTABLE, 1) \
  X (CU_HOST_ALLOC_DEVICE_MAP, CU_MEMHOSTALLOC_DEVICEMAP, 2) \
  X (CU_REGISTER_PORTABLE, CU_MEMHOSTREGISTER_PORTABLE, 1) \
  X (CU_REGISTER_DEVICE_MAP, CU_MEMHOSTREGISTER_DEVICEMAP, 2) \
  X (CU_REGISTER_READ_ONLY, CU_MEMHOSTREGISTER_READ_ONLY, 8) \
  X (CU_ATTACH_GLOBAL, CU_MEM_ATTACH_GLOBAL, 1) \
  X (CU_STREAM_NONBLOCKING, CU_STREAM_NON_BLOCKING, 1) \
  X (CU_EVENT_BLOCKING, CU_EVENT_BLOCKING_SYNC, 1) \
  X (CU_EVENT_NO_TIMING, CU_EVENT_DISABLE_TIMING, 2) \
  X (CU_WAIT_VALUE_REACHED, CU_STREAM_WAIT_VALUE_GEQ, 0) \
  X (CU_CAPTURE_NONE, CU_STREAM_CAPTURE_STATUS_NONE, 0) \
  X (CU_CAPTURE_ACTIVE, CU_STREAM_CAPTURE_STATUS_ACTIVE, 1) \
  X (CU_CAPTURE_INVALID, CU_STREAM_CAPTURE_STATUS_INVALIDATED, 2) \
  X (CU_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_GLOBAL, 0) \
  X (CU_CAPTURE_MODE_THREAD, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, 1) \
  X (CU_CAPTURE_MODE_RELAXED, CU_STREAM_CAPTURE_MODE_RELAXED, 2) \
  X (CU_POOL_RELEASE_THRESHOLD, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, 4) \
  X (CU_ALLOCATION_PINNED, CU_MEM_ALLOCATION_TYPE_PINNED, 1) \
  X (CU_LOCATION_DEVICE, CU_MEM_LOCATION_TYPE_DEVICE, 1)

#define CU_CONSTANT(own, theirs, value) own = value,
enum
{
  CU_CONSTANTS (CU_CONSTANT)
};

#define CU_LEGACY_STREAM ((CuStream) 1)
#define CU_PER_THREAD_STREAM ((CuStream) 2)

/* The name that the library exports, and the parameters. All have been there since CUDA 11.2, the
 * oldest that the library uses. */
#define CU_FUNCTIONS(X) \
  X (cuInit, (unsigned int)) \
  X (cuDriverGetVersion, (int *)) \
  X (cuGetErrorName, (CuResult, const char **)) \
  X (cuDeviceGetCount, (int *)) \
  X (cuDeviceGet, (CuDevice *, int)) \
  X (cuDeviceGetName, (char *, int, CuDevice)) \
  X (cuDeviceTotalMem_v2, (size_t *, CuDevice)) \
  X (cuDeviceGetAttribute, (int *, CuEnum, CuDevice)) \
  X (cuDevicePrimaryCtxRetain, (CuContext *, CuDevice)) \
  X (cuDevicePrimaryCtxRelease_v2, (CuDevice)) \
  X (cuCtxPushCurrent_v2, (CuContext)) \
  X (cuCtxPopCurrent_v2, (CuContext *)) \
  X (cuMemGetInfo_v2, (size_t *, size_t *)) \
  X (cuMemPoolSetAttribute, (CuPool, CuEnum, void *)) \
  X (cuMemPoolTrimTo, (CuPool, size_t)) \
  X (cuMemAllocFromPoolAsync, (CuAddress *, size_t, CuPool, CuStream)) \
  X (cuMemFreeAsync, (CuAddress, CuStream)) \
  X (cuMemAllocManaged, (CuAddress *, size_t, unsigned int)) \
  X (cuMemFree_v2, (CuAddress)) \
  X (cuMemHostAlloc, (void **, size_t, unsigned int)) \
  X (cuMemFreeHost, (void *)) \
  X (cuMemHostRegister_v2, (void *, size_t, unsigned int)) \
  X (cuMemHostUnregister, (void *)) \
  X (cuMemHostGetDevicePointer_v2, (CuAddress *, void *, unsigned int)) \
  X (cuPointerGetAttributes, (unsigned int, CuEnum *, void **, CuAddress)) \
  X (cuMemcpyAsync, (CuAddress, CuAddress, size_t, CuStream)) \
  X (cuMemcpyPeerAsync, (CuAddress, CuContext, CuAddress, CuContext, size_t, CuStream)) \
  X (cuMemsetD8Async, (CuAddress, unsigned char, size_t, CuStream)) \
  X (cuMemsetD16Async, (CuAddress, unsigned short, size_t, CuStream)) \
  X (cuMemsetD32Async, (CuAddress, unsigned int, size_t, CuStream)) \
  X (cuStreamCreate, (CuStream *, unsigned int)) \
  X (cuStreamDestroy_v2, (CuStream)) \
  X (cuStreamQuery, (CuStream)) \
  X (cuStreamSynchronize, (CuStream)) \
  X (cuStreamWaitEvent, (CuStream, CuEvent, unsigned int)) \
  X (cuStreamGetCtx, (CuStream, CuContext *)) \
  X (cuStreamIsCapturing, (CuStream, CuEnum *)) \
  X (cuThreadExchangeStreamCaptureMode, (CuEnum *)) \
  X (cuEventCreate, (CuEvent *, unsigned int)) \
  X (cuEventRecord, (CuEvent, CuStream)) \
  X (cuEventQuery, (CuEvent)) \
  X (cuEventSynchronize, (CuEvent)) \
  X (cuEventDestroy_v2, (CuEvent)) \
  X (cuModuleLoadData, (CuModule *, const void *)) \
  X (cuModuleGetFunction, (CuFunction *, CuModule, const char *)) \
  X (cuLaunchKernel, (CuFunction, unsigned int, unsigned int, unsigned int, unsigned int, \
                      unsigned int, unsigned int, unsigned int, CuStream, void **, void **))

/* Functions that take one of the structs above; drivers before CUDA 11.4 lack the first */
#define CU_STRUCT_FUNCTIONS(X) \
  X (cuDeviceGetUuid_v2, (CuUuid *, CuDevice)) \
  X (cuMemPoolCreate, (CuPool *, const CuPoolProps *)) \
  X (cuMemcpy3DAsync_v2, (const CuCopy3D *, CuStream))

/* Functions that older drivers lack; their members may be NULL. */
#define CU_OPTIONAL_FUNCTIONS(X) \
  X (cuStreamWriteValue64_v2, (CuStream, CuAddress, uint64_t, unsigned int)) \
  X (cuStreamWaitValue64_v2, (CuStream, CuAddress, uint64_t, unsigned int))

#ifdef __cplusplus
}
#endif
