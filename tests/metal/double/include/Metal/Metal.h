/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The part of Metal's interface that the double plays, with the names,
 * selectors, types and values that Apple publishes; metal-abi-check.m is
 * compiled against this file and against Apple's. What came after macOS 12, or
 * is deprecated since, says so: tests/metal/cross-macos compiles for macOS with it. */

#pragma once

#import <Foundation/Foundation.h>

#ifndef NS_RETURNS_INNER_POINTER
#define NS_RETURNS_INNER_POINTER __attribute__ ((objc_returns_inner_pointer))
#endif
#ifndef API_AVAILABLE
#define API_AVAILABLE(...)
#define API_UNAVAILABLE(...)
#define API_DEPRECATED(...)
#endif
#define MTL_DEPRECATED_IN_27 API_DEPRECATED ("", macos (10.11, 27.0))
#define MTL_EXTERN extern __attribute__ ((visibility ("default")))

NS_ASSUME_NONNULL_BEGIN

/* Resources. */

typedef NS_ENUM (NSUInteger, MTLPurgeableState) {
  MTLPurgeableStateKeepCurrent = 1,
  MTLPurgeableStateNonVolatile = 2,
  MTLPurgeableStateVolatile = 3,
  MTLPurgeableStateEmpty = 4,
};

typedef NS_ENUM (NSUInteger, MTLCPUCacheMode) {
  MTLCPUCacheModeDefaultCache = 0,
  MTLCPUCacheModeWriteCombined = 1,
};

typedef NS_ENUM (NSUInteger, MTLStorageMode) {
  MTLStorageModeShared = 0,
  MTLStorageModeManaged MTL_DEPRECATED_IN_27 = 1,
  MTLStorageModePrivate = 2,
  MTLStorageModeMemoryless = 3,
};

typedef NS_ENUM (NSInteger, MTLGPUFamily) {
  MTLGPUFamilyApple1 = 1001,
  MTLGPUFamilyApple7 = 1007,
  MTLGPUFamilyMac2 = 2002,
  MTLGPUFamilyCommon1 = 3001,
};

typedef NS_ENUM (NSUInteger, MTLHazardTrackingMode) {
  MTLHazardTrackingModeDefault = 0,
  MTLHazardTrackingModeUntracked = 1,
  MTLHazardTrackingModeTracked = 2,
};

#define MTLResourceCPUCacheModeShift 0
#define MTLResourceCPUCacheModeMask (0xfUL << MTLResourceCPUCacheModeShift)
#define MTLResourceStorageModeShift 4
#define MTLResourceStorageModeMask (0xfUL << MTLResourceStorageModeShift)
#define MTLResourceHazardTrackingModeShift 8
#define MTLResourceHazardTrackingModeMask (0x3UL << MTLResourceHazardTrackingModeShift)

typedef NS_OPTIONS (NSUInteger, MTLResourceOptions) {
  MTLResourceCPUCacheModeDefaultCache = 0,
  MTLResourceCPUCacheModeWriteCombined = 1,
  MTLResourceStorageModeShared = 0,
  MTLResourceStorageModeManaged MTL_DEPRECATED_IN_27 = 16,
  MTLResourceStorageModePrivate = 32,
  MTLResourceStorageModeMemoryless = 48,
  MTLResourceHazardTrackingModeDefault = 0,
  MTLResourceHazardTrackingModeUntracked = 256,
  MTLResourceHazardTrackingModeTracked = 512,
};

@protocol MTLDevice, MTLBuffer, MTLHeap, MTLCommandQueue, MTLCommandBuffer;
@protocol MTLBlitCommandEncoder, MTLComputeCommandEncoder, MTLComputePipelineState, MTLLibrary;
@protocol MTLFunction, MTLTensor, MTLTensorAuxiliaryPlane;
@class MTLTensorDescriptor;

@protocol MTLResource <NSObject>
@property (nullable, copy, atomic) NSString *label;
@property (readonly) id<MTLDevice> device;
@property (readonly) MTLCPUCacheMode cpuCacheMode;
@property (readonly) MTLStorageMode storageMode;
@property (readonly) MTLHazardTrackingMode hazardTrackingMode;
@property (readonly) MTLResourceOptions resourceOptions;
@property (nullable, readonly) id<MTLHeap> heap;
@property (readonly) NSUInteger allocatedSize;
- (MTLPurgeableState) setPurgeableState: (MTLPurgeableState) state;
@end

@protocol MTLBuffer <MTLResource>
@property (readonly) NSUInteger length;
@property (readonly) uint64_t gpuAddress API_AVAILABLE (macos (13.0));
- (void *) contents NS_RETURNS_INNER_POINTER;
- (void) didModifyRange: (NSRange) range MTL_DEPRECATED_IN_27;
- (nullable id<MTLTensor>) newTensorWithDescriptor: (MTLTensorDescriptor *) descriptor
                                            offset: (NSUInteger) offset
                                             error: (NSError *__autoreleasing *) error
  API_AVAILABLE (macos (26.0));
@end

/* Tensors. */

typedef NS_ENUM (NSInteger, MTLTensorDataType) {
  MTLTensorDataTypeNone = 0,
  MTLTensorDataTypeFloat32 = 3,
  MTLTensorDataTypeFloat16 = 16,
  MTLTensorDataTypeInt32 = 29,
  MTLTensorDataTypeUInt32 = 33,
  MTLTensorDataTypeInt16 = 37,
  MTLTensorDataTypeUInt16 = 41,
  MTLTensorDataTypeInt8 = 45,
  MTLTensorDataTypeUInt8 = 49,
  MTLTensorDataTypeBFloat16 = 121,
  MTLTensorDataTypeMetalFloat8E5M2 API_AVAILABLE (macos (27.0)) = 141,
  MTLTensorDataTypeMetalFloat8E4M3 API_AVAILABLE (macos (27.0)) = 142,
  MTLTensorDataTypeInt4 API_AVAILABLE (macos (26.4)) = 143,
  MTLTensorDataTypeUInt4 API_AVAILABLE (macos (26.4)) = 144,
  MTLTensorDataTypeMetalFloat8UE8M0 API_AVAILABLE (macos (27.0)) = 145,
  MTLTensorDataTypeMetalFloat4E2M1 API_AVAILABLE (macos (27.0)) = 148,
  MTLTensorDataTypeUInt2 API_AVAILABLE (macos (27.0)) = 149,
  MTLTensorDataTypeInt2 API_AVAILABLE (macos (27.0)) = 150,
} API_AVAILABLE (macos (26.0));

typedef NS_OPTIONS (NSUInteger, MTLTensorUsage) {
  MTLTensorUsageCompute = 1,
  MTLTensorUsageRender = 2,
  MTLTensorUsageMachineLearning = 4,
} API_AVAILABLE (macos (26.0));

typedef NS_ENUM (NSInteger, MTLTensorError) {
  MTLTensorErrorNone = 0,
  MTLTensorErrorInternalError = 1,
  MTLTensorErrorInvalidDescriptor = 2,
} API_AVAILABLE (macos (26.0));

MTL_EXTERN NSString *const MTLTensorDomain API_AVAILABLE (macos (26.0));

API_AVAILABLE (macos (26.0))
@interface MTLTensorExtents : NSObject
{
@private
  NSUInteger rank;
  NSInteger *values;
}
- (nullable instancetype) initWithRank: (NSUInteger) extentsRank
                                values: (nullable const NSInteger *) extentsValues;
@property (readonly) NSUInteger rank;
- (NSInteger) extentAtDimensionIndex: (NSUInteger) dimensionIndex;
@end

API_AVAILABLE (macos (26.0))
@interface MTLTensorDescriptor : NSObject <NSCopying>
{
@private
  MTLTensorExtents *dimensions;
  MTLTensorExtents *strides;
  MTLTensorDataType dataType;
  MTLTensorUsage usage;
  MTLResourceOptions resourceOptions;
}
@property (readwrite, nonatomic, copy) MTLTensorExtents *dimensions;
@property (readwrite, nonatomic, copy, nullable) MTLTensorExtents *strides;
@property (readwrite, nonatomic) MTLTensorDataType dataType;
@property (readwrite, nonatomic) MTLTensorUsage usage;
@property (readwrite, nonatomic) MTLResourceOptions resourceOptions;
@end

API_AVAILABLE (macos (26.0))
@protocol MTLTensor <MTLResource>
@property (nullable, readonly) id<MTLBuffer> buffer;
@property (readonly) NSUInteger bufferOffset;
@property (nullable, readonly) MTLTensorExtents *strides;
@property (readonly) MTLTensorExtents *dimensions;
@property (readonly) MTLTensorDataType dataType;
@property (readonly) MTLTensorUsage usage;
@property (readonly) NSArray *auxiliaryPlanes API_AVAILABLE (macos (27.0));
@end

@interface MTLHeapDescriptor : NSObject <NSCopying>
{
@private
  NSUInteger size;
  MTLStorageMode storageMode;
  MTLCPUCacheMode cpuCacheMode;
  MTLHazardTrackingMode hazardTrackingMode;
}
@property (readwrite, nonatomic) NSUInteger size;
@property (readwrite, nonatomic) MTLStorageMode storageMode;
@property (readwrite, nonatomic) MTLCPUCacheMode cpuCacheMode;
@property (readwrite, nonatomic) MTLHazardTrackingMode hazardTrackingMode;
@property (readwrite, nonatomic) MTLResourceOptions resourceOptions;
@end

@protocol MTLHeap <NSObject>
@property (nullable, copy, atomic) NSString *label;
@property (readonly) id<MTLDevice> device;
@property (readonly) MTLStorageMode storageMode;
@property (readonly) MTLCPUCacheMode cpuCacheMode;
@property (readonly) MTLHazardTrackingMode hazardTrackingMode;
@property (readonly) MTLResourceOptions resourceOptions;
@property (readonly) NSUInteger size;
@property (readonly) NSUInteger usedSize;
@property (readonly) NSUInteger currentAllocatedSize;
- (NSUInteger) maxAvailableSizeWithAlignment: (NSUInteger) alignment;
- (nullable id<MTLBuffer>) newBufferWithLength: (NSUInteger) length
                                       options: (MTLResourceOptions) options;
- (MTLPurgeableState) setPurgeableState: (MTLPurgeableState) state;
@end

/* Events. */

@protocol MTLEvent <NSObject>
@property (nullable, readonly) id<MTLDevice> device;
@property (nullable, copy, atomic) NSString *label;
@end

@protocol MTLSharedEvent <MTLEvent>
@property (readwrite) uint64_t signaledValue;
- (BOOL) waitUntilSignaledValue: (uint64_t) value timeoutMS: (uint64_t) milliseconds;
@end

/* Encoders. */

typedef struct
{
  NSUInteger width, height, depth;
} MTLSize;

static inline MTLSize
MTLSizeMake (NSUInteger width,
             NSUInteger height,
             NSUInteger depth)
{
  MTLSize size = { width, height, depth };

  return size;
}

@protocol MTLCommandEncoder <NSObject>
@property (readonly) id<MTLDevice> device;
@property (nullable, copy, atomic) NSString *label;
- (void) endEncoding;
@end

@protocol MTLBlitCommandEncoder <MTLCommandEncoder>
- (void) copyFromBuffer: (id<MTLBuffer>) sourceBuffer
           sourceOffset: (NSUInteger) sourceOffset
               toBuffer: (id<MTLBuffer>) destinationBuffer
      destinationOffset: (NSUInteger) destinationOffset
                   size: (NSUInteger) size;
- (void) fillBuffer: (id<MTLBuffer>) buffer range: (NSRange) range value: (uint8_t) value;
- (void) synchronizeResource: (id<MTLResource>) resource MTL_DEPRECATED_IN_27;
@end

@protocol MTLComputeCommandEncoder <MTLCommandEncoder>
- (void) setComputePipelineState: (id<MTLComputePipelineState>) state;
- (void) setBytes: (const void *) bytes length: (NSUInteger) length atIndex: (NSUInteger) index;
- (void) setBuffer: (nullable id<MTLBuffer>) buffer
            offset: (NSUInteger) offset
           atIndex: (NSUInteger) index;
- (void) dispatchThreads: (MTLSize) threadsPerGrid
    threadsPerThreadgroup: (MTLSize) threadsPerThreadgroup;
- (void) dispatchThreadgroups: (MTLSize) threadgroupsPerGrid
        threadsPerThreadgroup: (MTLSize) threadsPerThreadgroup;
@end

/* Command buffers and queues. */

typedef NS_ENUM (NSUInteger, MTLCommandBufferStatus) {
  MTLCommandBufferStatusNotEnqueued = 0,
  MTLCommandBufferStatusEnqueued = 1,
  MTLCommandBufferStatusCommitted = 2,
  MTLCommandBufferStatusScheduled = 3,
  MTLCommandBufferStatusCompleted = 4,
  MTLCommandBufferStatusError = 5,
};

typedef NS_ENUM (NSUInteger, MTLCommandBufferError) {
  MTLCommandBufferErrorNone = 0,
  MTLCommandBufferErrorInternal = 1,
  MTLCommandBufferErrorTimeout = 2,
  MTLCommandBufferErrorPageFault = 3,
  MTLCommandBufferErrorAccessRevoked = 4,
  MTLCommandBufferErrorNotPermitted = 7,
  MTLCommandBufferErrorOutOfMemory = 8,
  MTLCommandBufferErrorInvalidResource = 9,
  MTLCommandBufferErrorMemoryless = 10,
  MTLCommandBufferErrorDeviceRemoved = 11,
  MTLCommandBufferErrorStackOverflow = 12,
};

MTL_EXTERN NSString *const MTLCommandBufferErrorDomain;

typedef void (^MTLCommandBufferHandler) (id<MTLCommandBuffer>);

@protocol MTLCommandBuffer <NSObject>
@property (readonly) id<MTLDevice> device;
@property (readonly) id<MTLCommandQueue> commandQueue;
@property (readonly) BOOL retainedReferences;
@property (nullable, copy, atomic) NSString *label;
@property (readonly) MTLCommandBufferStatus status;
@property (nullable, readonly) NSError *error;
- (void) commit;
- (void) addScheduledHandler: (MTLCommandBufferHandler) block;
- (void) addCompletedHandler: (MTLCommandBufferHandler) block;
- (void) waitUntilScheduled;
- (void) waitUntilCompleted;
- (nullable id<MTLBlitCommandEncoder>) blitCommandEncoder;
- (nullable id<MTLComputeCommandEncoder>) computeCommandEncoder;
- (void) encodeWaitForEvent: (id<MTLEvent>) event value: (uint64_t) value;
- (void) encodeSignalEvent: (id<MTLEvent>) event value: (uint64_t) value;
@end

@protocol MTLCommandQueue <NSObject>
@property (nullable, copy, atomic) NSString *label;
@property (readonly) id<MTLDevice> device;
- (nullable id<MTLCommandBuffer>) commandBuffer;
- (nullable id<MTLCommandBuffer>) commandBufferWithUnretainedReferences;
@end

/* Kernels: enough for a program with one to compile. */

typedef NS_ENUM (NSUInteger, MTLLibraryError) {
  MTLLibraryErrorUnsupported = 1,
  MTLLibraryErrorInternal = 2,
  MTLLibraryErrorCompileFailure = 3,
  MTLLibraryErrorCompileWarning = 4,
  MTLLibraryErrorFunctionNotFound = 5,
  MTLLibraryErrorFileNotFound = 6,
};

MTL_EXTERN NSString *const MTLLibraryErrorDomain;

@interface MTLCompileOptions : NSObject
@end

@protocol MTLFunction <NSObject>
@property (readonly) NSString *name;
@end

@protocol MTLLibrary <NSObject>
@property (readonly) id<MTLDevice> device;
- (nullable id<MTLFunction>) newFunctionWithName: (NSString *) functionName;
@end

@protocol MTLComputePipelineState <NSObject>
@property (readonly) id<MTLDevice> device;
@property (readonly) NSUInteger maxTotalThreadsPerThreadgroup;
@property (readonly) NSUInteger threadExecutionWidth;
@end

/* Devices. */

@protocol MTLDevice <NSObject>
@property (readonly) NSString *name;
@property (readonly) uint64_t registryID;
@property (readonly, getter = isLowPower) BOOL lowPower MTL_DEPRECATED_IN_27;
@property (readonly, getter = isHeadless) BOOL headless MTL_DEPRECATED_IN_27;
@property (readonly, getter = isRemovable) BOOL removable MTL_DEPRECATED_IN_27;
@property (readonly) BOOL hasUnifiedMemory;
- (BOOL) supportsFamily: (MTLGPUFamily) gpuFamily;
@property (readonly) uint64_t recommendedMaxWorkingSetSize;
@property (readonly) NSUInteger maxBufferLength;
@property (readonly) NSUInteger currentAllocatedSize;
- (nullable id<MTLCommandQueue>) newCommandQueue;
- (nullable id<MTLCommandQueue>) newCommandQueueWithMaxCommandBufferCount: (NSUInteger) count;
- (nullable id<MTLHeap>) newHeapWithDescriptor: (MTLHeapDescriptor *) descriptor;
- (nullable id<MTLBuffer>) newBufferWithLength: (NSUInteger) length
                                       options: (MTLResourceOptions) options;
- (nullable id<MTLBuffer>) newBufferWithBytes: (const void *) pointer
                                       length: (NSUInteger) length
                                      options: (MTLResourceOptions) options;
- (nullable id<MTLBuffer>)
    newBufferWithBytesNoCopy: (void *) pointer
                      length: (NSUInteger) length
                     options: (MTLResourceOptions) options
                 deallocator: (void (^_Nullable) (void *pointer, NSUInteger length)) deallocator;
- (nullable id<MTLSharedEvent>) newSharedEvent;
- (nullable id<MTLLibrary>) newLibraryWithSource: (NSString *) source
                                         options: (nullable MTLCompileOptions *) options
                                           error: (NSError *__autoreleasing *) error;
- (nullable id<MTLComputePipelineState>)
    newComputePipelineStateWithFunction: (id<MTLFunction>) computeFunction
                                  error: (NSError *__autoreleasing *) error;
@end

MTL_EXTERN id<MTLDevice> _Nullable MTLCreateSystemDefaultDevice (void) NS_RETURNS_RETAINED;
MTL_EXTERN NSArray *MTLCopyAllDevices (void) NS_RETURNS_RETAINED;

NS_ASSUME_NONNULL_END
