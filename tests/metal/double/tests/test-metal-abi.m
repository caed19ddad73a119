/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The assumptions of a bridge over Metal: values, types, and selectors with the types of their
 * arguments and results. Compiled and run against the double and, on a Mac, against Apple's headers
 * and Metal itself: neither may differ.
 *
 * Each value and signature was compared with what is published of them: Apple's
 * metal-cpp has the enumerations, and the selectors with their types in C++;
 * what it lacks is in objc2-metal, which is generated from the SDK's headers. */

#import <Foundation/Foundation.h>
#import <Metal/Metal.h>
#include <TargetConditionals.h>
#include <mach/vm_page_size.h>
#include <objc/runtime.h>
#include <stdio.h>
#include <string.h>

#define VALUE(name, value) _Static_assert ((unsigned long) (name) == (value), #name)

/* metal-cpp, MTLResource.hpp: StorageMode, CPUCacheMode, HazardTrackingMode,
 * ResourceOptions, PurgeableState. */
VALUE (MTLStorageModeShared, 0);
VALUE (MTLStorageModeManaged, 1);
VALUE (MTLStorageModePrivate, 2);
VALUE (MTLGPUFamilyApple1, 1001);
VALUE (MTLGPUFamilyApple7, 1007);
VALUE (MTLGPUFamilyMac2, 2002);
VALUE (MTLGPUFamilyCommon1, 3001);
VALUE (MTLStorageModeMemoryless, 3);
VALUE (MTLCPUCacheModeDefaultCache, 0);
VALUE (MTLCPUCacheModeWriteCombined, 1);
VALUE (MTLHazardTrackingModeDefault, 0);
VALUE (MTLHazardTrackingModeUntracked, 1);
VALUE (MTLHazardTrackingModeTracked, 2);
VALUE (MTLResourceCPUCacheModeDefaultCache, 0);
VALUE (MTLResourceCPUCacheModeWriteCombined, 1);
VALUE (MTLResourceStorageModeShared, 0);
VALUE (MTLResourceStorageModeManaged, 16);
VALUE (MTLResourceStorageModePrivate, 32);
VALUE (MTLResourceStorageModeMemoryless, 48);
VALUE (MTLResourceHazardTrackingModeDefault, 0);
VALUE (MTLResourceHazardTrackingModeUntracked, 256);
VALUE (MTLResourceHazardTrackingModeTracked, 512);
VALUE (MTLPurgeableStateKeepCurrent, 1);
VALUE (MTLPurgeableStateNonVolatile, 2);
VALUE (MTLPurgeableStateVolatile, 3);
VALUE (MTLPurgeableStateEmpty, 4);

/* The macros of MTLResource.h, as bindings for Rust, D and Zig have them; Apple's
 * validation layer prints the second mask as 0xf0. */
VALUE (MTLResourceCPUCacheModeShift, 0);
VALUE (MTLResourceCPUCacheModeMask, 0xf);
VALUE (MTLResourceStorageModeShift, 4);
VALUE (MTLResourceStorageModeMask, 0xf0);
VALUE (MTLResourceHazardTrackingModeShift, 8);
VALUE (MTLResourceHazardTrackingModeMask, 0x300);

/* metal-cpp, MTLCommandBuffer.hpp: CommandBufferStatus, CommandBufferError. */
VALUE (MTLCommandBufferStatusNotEnqueued, 0);
VALUE (MTLCommandBufferStatusEnqueued, 1);
VALUE (MTLCommandBufferStatusCommitted, 2);
VALUE (MTLCommandBufferStatusScheduled, 3);
VALUE (MTLCommandBufferStatusCompleted, 4);
VALUE (MTLCommandBufferStatusError, 5);
VALUE (MTLCommandBufferErrorNone, 0);
VALUE (MTLCommandBufferErrorInternal, 1);
VALUE (MTLCommandBufferErrorTimeout, 2);
VALUE (MTLCommandBufferErrorPageFault, 3);
VALUE (MTLCommandBufferErrorAccessRevoked, 4);
VALUE (MTLCommandBufferErrorNotPermitted, 7);
VALUE (MTLCommandBufferErrorOutOfMemory, 8);
VALUE (MTLCommandBufferErrorInvalidResource, 9);
VALUE (MTLCommandBufferErrorMemoryless, 10);
#if TARGET_OS_OSX
VALUE (MTLCommandBufferErrorDeviceRemoved, 11);
#endif
VALUE (MTLCommandBufferErrorStackOverflow, 12);

/* metal-cpp, MTLLibrary.hpp: LibraryError. */
VALUE (MTLLibraryErrorUnsupported, 1);
VALUE (MTLLibraryErrorInternal, 2);
VALUE (MTLLibraryErrorCompileFailure, 3);
VALUE (MTLLibraryErrorCompileWarning, 4);
VALUE (MTLLibraryErrorFunctionNotFound, 5);
VALUE (MTLLibraryErrorFileNotFound, 6);

/* objc2-metal, MTLTensor.h of macOS 26. */
#if !defined (__MAC_OS_X_VERSION_MAX_ALLOWED) || __MAC_OS_X_VERSION_MAX_ALLOWED >= 260000
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunguarded-availability"
VALUE (MTLTensorDataTypeFloat32, 3);
VALUE (MTLTensorDataTypeFloat16, 16);
VALUE (MTLTensorDataTypeInt32, 29);
VALUE (MTLTensorDataTypeUInt32, 33);
VALUE (MTLTensorDataTypeInt16, 37);
VALUE (MTLTensorDataTypeUInt16, 41);
VALUE (MTLTensorDataTypeInt8, 45);
VALUE (MTLTensorDataTypeUInt8, 49);
VALUE (MTLTensorDataTypeBFloat16, 121);
VALUE (MTLTensorUsageCompute, 1);
VALUE (MTLTensorUsageRender, 2);
VALUE (MTLTensorUsageMachineLearning, 4);
VALUE (MTLTensorErrorInternalError, 1);
VALUE (MTLTensorErrorInvalidDescriptor, 2);
#pragma clang diagnostic pop
#endif

_Static_assert (sizeof vm_page_size == sizeof (size_t), "vm_page_size");
_Static_assert (sizeof (MTLSize) == 3 * sizeof (NSUInteger), "MTLSize");

/* Checks the compiler's types of the declarations, as the run-time types below say only
 * “object”. */
#define TYPE(type, expression) \
  _Static_assert (__builtin_types_compatible_p (__typeof__ (expression), type), #expression)

__attribute__ ((unused)) static void
check_object_types (id<MTLDevice>         device,
                    id<MTLBuffer>         buffer,
                    id<MTLHeap>           heap,
                    id<MTLCommandQueue>   queue,
                    id<MTLCommandBuffer>  commands,
                    id<MTLSharedEvent>    event,
                    MTLHeapDescriptor    *descriptor)
{
  NSError *error = nil;
  MTLCommandBufferHandler handler = ^(id<MTLCommandBuffer> completed) {
    (void) completed;
  };
  void (^deallocator) (void *, NSUInteger) = ^(void *pointer, NSUInteger length) {
    (void) pointer;
    (void) length;
  };

  TYPE (NSString *, [device name]);
  TYPE (id<MTLBuffer>, [device newBufferWithLength: 1 options: 0]);
  TYPE (id<MTLBuffer>, [device newBufferWithBytes: &error length: 1 options: 0]);
  TYPE (id<MTLBuffer>, [device newBufferWithBytesNoCopy: &error
                                                 length: 1
                                                options: 0
                                            deallocator: deallocator]);
  TYPE (id<MTLCommandQueue>, [device newCommandQueue]);
  TYPE (id<MTLHeap>, [device newHeapWithDescriptor: descriptor]);
  TYPE (id<MTLSharedEvent>, [device newSharedEvent]);
  TYPE (id<MTLLibrary>, [device newLibraryWithSource: @"" options: nil error: &error]);
  TYPE (id<MTLDevice>, [buffer device]);
  TYPE (id<MTLHeap>, [buffer heap]);
  TYPE (MTLStorageMode, [buffer storageMode]);
  TYPE (MTLHazardTrackingMode, [buffer hazardTrackingMode]);
  TYPE (MTLResourceOptions, [buffer resourceOptions]);
  TYPE (MTLPurgeableState, [buffer setPurgeableState: MTLPurgeableStateKeepCurrent]);
  TYPE (void *, [buffer contents]);
  TYPE (id<MTLBuffer>, [heap newBufferWithLength: 1 options: 0]);
  TYPE (id<MTLCommandBuffer>, [queue commandBuffer]);
  TYPE (id<MTLBlitCommandEncoder>, [commands blitCommandEncoder]);
  TYPE (id<MTLComputeCommandEncoder>, [commands computeCommandEncoder]);
  TYPE (MTLCommandBufferStatus, [commands status]);
  TYPE (NSError *, [commands error]);
  TYPE (id<MTLDevice>, MTLCreateSystemDefaultDevice ());
  [commands addCompletedHandler: handler];
  [commands encodeSignalEvent: event value: 1];
  [commands encodeWaitForEvent: event value: 1];
}

/* The double has the declarations of kernels alone. */
__attribute__ ((unused)) static void
check_kernel_types (id<MTLLibrary>               library,
                    id<MTLComputePipelineState>  pipeline,
                    id<MTLComputeCommandEncoder> encoder,
                    id<MTLBuffer>                buffer)
{
  MTLSize size = MTLSizeMake (1, 1, 1);

  TYPE (id<MTLFunction>, [library newFunctionWithName: @""]);
  TYPE (NSUInteger, [pipeline maxTotalThreadsPerThreadgroup]);
  TYPE (NSUInteger, [pipeline threadExecutionWidth]);
  TYPE (NSUInteger, size.width);
  TYPE (void, [encoder setComputePipelineState: pipeline]);
  TYPE (void, [encoder setBuffer: buffer offset: 0 atIndex: 0]);
  TYPE (void, [encoder setBytes: &size length: sizeof size atIndex: 0]);
  TYPE (void, [encoder dispatchThreads: size threadsPerThreadgroup: size]);
  TYPE (void, [encoder dispatchThreadgroups: size threadsPerThreadgroup: size]);
  TYPE (void, [encoder endEncoding]);
}

/* The result, and the arguments after self and _cmd, as @encode() has them, but
 * for what differs between runtimes: names of structures go, and each integer of
 * one byte (BOOL is one) is B. */
typedef struct
{
  const char *protocol; /* or class */
  const char *selector;
  const char *types;
} Signature;

static const Signature signatures[] = {
  /* metal-cpp, MTLDevice.hpp. */
  { "MTLDevice", "name", "@" },
  { "MTLDevice", "registryID", "Q" },
  { "MTLDevice", "isLowPower", "B" },
  { "MTLDevice", "isHeadless", "B" },
  { "MTLDevice", "isRemovable", "B" },
  { "MTLDevice", "hasUnifiedMemory", "B" },
  { "MTLDevice", "supportsFamily:", "Bq" },
  { "MTLDevice", "recommendedMaxWorkingSetSize", "Q" },
  { "MTLDevice", "maxBufferLength", "Q" },
  { "MTLDevice", "currentAllocatedSize", "Q" },
  { "MTLDevice", "newCommandQueue", "@" },
  { "MTLDevice", "newCommandQueueWithMaxCommandBufferCount:", "@Q" },
  { "MTLDevice", "newHeapWithDescriptor:", "@@" },
  { "MTLDevice", "newBufferWithLength:options:", "@QQ" },
  { "MTLDevice", "newBufferWithBytes:length:options:", "@^vQQ" },
  { "MTLDevice", "newBufferWithBytesNoCopy:length:options:deallocator:", "@^vQQ@?" },
  { "MTLDevice", "newSharedEvent", "@" },
  { "MTLDevice", "newLibraryWithSource:options:error:", "@@@^@" },
  { "MTLDevice", "newComputePipelineStateWithFunction:error:", "@@^@" },

  /* metal-cpp, MTLResource.hpp and MTLBuffer.hpp. */
  { "MTLResource", "label", "@" },
  { "MTLResource", "setLabel:", "v@" },
  { "MTLResource", "device", "@" },
  { "MTLResource", "cpuCacheMode", "Q" },
  { "MTLResource", "storageMode", "Q" },
  { "MTLResource", "hazardTrackingMode", "Q" },
  { "MTLResource", "resourceOptions", "Q" },
  { "MTLResource", "heap", "@" },
  { "MTLResource", "allocatedSize", "Q" },
  { "MTLResource", "setPurgeableState:", "QQ" },
  { "MTLBuffer", "length", "Q" },
  { "MTLBuffer", "contents", "^v" },
  { "MTLBuffer", "gpuAddress", "Q" },
#if TARGET_OS_OSX
  { "MTLBuffer", "didModifyRange:", "v{QQ}" },
#endif

  /* metal-cpp, MTLHeap.hpp. */
  { "MTLHeap", "label", "@" },
  { "MTLHeap", "setLabel:", "v@" },
  { "MTLHeap", "device", "@" },
  { "MTLHeap", "storageMode", "Q" },
  { "MTLHeap", "cpuCacheMode", "Q" },
  { "MTLHeap", "hazardTrackingMode", "Q" },
  { "MTLHeap", "resourceOptions", "Q" },
  { "MTLHeap", "size", "Q" },
  { "MTLHeap", "usedSize", "Q" },
  { "MTLHeap", "currentAllocatedSize", "Q" },
  { "MTLHeap", "maxAvailableSizeWithAlignment:", "QQ" },
  { "MTLHeap", "newBufferWithLength:options:", "@QQ" },
  { "MTLHeap", "setPurgeableState:", "QQ" },

  /* metal-cpp, MTLCommandQueue.hpp and MTLCommandBuffer.hpp. */
  { "MTLCommandQueue", "label", "@" },
  { "MTLCommandQueue", "setLabel:", "v@" },
  { "MTLCommandQueue", "device", "@" },
  { "MTLCommandQueue", "commandBuffer", "@" },
  { "MTLCommandQueue", "commandBufferWithUnretainedReferences", "@" },
  { "MTLCommandBuffer", "label", "@" },
  { "MTLCommandBuffer", "setLabel:", "v@" },
  { "MTLCommandBuffer", "device", "@" },
  { "MTLCommandBuffer", "commandQueue", "@" },
  { "MTLCommandBuffer", "retainedReferences", "B" },
  { "MTLCommandBuffer", "status", "Q" },
  { "MTLCommandBuffer", "error", "@" },
  { "MTLCommandBuffer", "commit", "v" },
  { "MTLCommandBuffer", "addScheduledHandler:", "v@?" },
  { "MTLCommandBuffer", "addCompletedHandler:", "v@?" },
  { "MTLCommandBuffer", "waitUntilScheduled", "v" },
  { "MTLCommandBuffer", "waitUntilCompleted", "v" },
  { "MTLCommandBuffer", "blitCommandEncoder", "@" },
  { "MTLCommandBuffer", "computeCommandEncoder", "@" },
  { "MTLCommandBuffer", "encodeWaitForEvent:value:", "v@Q" },
  { "MTLCommandBuffer", "encodeSignalEvent:value:", "v@Q" },

  /* metal-cpp, MTLCommandEncoder.hpp and MTLBlitCommandEncoder.hpp. */
  { "MTLCommandEncoder", "label", "@" },
  { "MTLCommandEncoder", "setLabel:", "v@" },
  { "MTLCommandEncoder", "device", "@" },
  { "MTLCommandEncoder", "endEncoding", "v" },
  { "MTLBlitCommandEncoder", "copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:",
    "v@Q@QQ" },
  { "MTLBlitCommandEncoder", "fillBuffer:range:value:", "v@{QQ}B" },
#if TARGET_OS_OSX
  { "MTLBlitCommandEncoder", "synchronizeResource:", "v@" },
#endif

  /* metal-cpp, MTLEvent.hpp; the last one: objc2-metal, MTLSharedEvent. */
  { "MTLEvent", "label", "@" },
  { "MTLEvent", "setLabel:", "v@" },
  { "MTLEvent", "device", "@" },
  { "MTLSharedEvent", "signaledValue", "Q" },
  { "MTLSharedEvent", "setSignaledValue:", "vQ" },
  { "MTLSharedEvent", "waitUntilSignaledValue:timeoutMS:", "BQQ" },

  /* objc2-metal, MTLTensor. What the bridge sends, it declares itself with these types. */
  { "MTLBuffer", "newTensorWithDescriptor:offset:error:", "@@Q^@" },
  { "MTLTensor", "buffer", "@" },
  { "MTLTensor", "bufferOffset", "Q" },
  { "MTLTensor", "dimensions", "@" },
  { "MTLTensor", "strides", "@" },
  { "MTLTensor", "dataType", "q" },
  { "MTLTensor", "usage", "Q" },
  { "MTLTensor", "auxiliaryPlanes", "@" },
  { "MTLTensorExtents", "initWithRank:values:", "@Q^q" },
  { "MTLTensorExtents", "rank", "Q" },
  { "MTLTensorExtents", "extentAtDimensionIndex:", "qQ" },
  { "MTLTensorDescriptor", "setDimensions:", "v@" },
  { "MTLTensorDescriptor", "setStrides:", "v@" },
  { "MTLTensorDescriptor", "setDataType:", "vq" },
  { "MTLTensorDescriptor", "setUsage:", "vQ" },
  { "MTLTensorDescriptor", "setResourceOptions:", "vQ" },
  { "NSProcessInfo", "operatingSystemVersion", "{qqq}" },
};

/* Leaves of a method's types what Signature has. */
static void
normalize (const char *types,
           char       *result)
{
  char *end = result;

  for (const char *c = types; *c != '\0'; c++)
    if (strchr ("0123456789rnNoORV", *c) != NULL)
      continue;
    else if (*c == '"')
      c = strchr (c + 1, '"');
    else if (*c == '{')
      {
        *end++ = '{';
        c = strchr (c, '=');
      }
    else
      *end++ = strchr ("cCB", *c) != NULL ? 'B' : *c;
  *end = '\0';
}

/* Takes self and _cmd out: they come after the result. */
static void
drop_receiver (char *types)
{
  char *receiver = strstr (types, "@:");

  memmove (receiver, receiver + 2, strlen (receiver + 2) + 1);
}

static const char *
find_types (const Signature *expected)
{
  SEL selector = sel_registerName (expected->selector);
  Protocol *protocol = objc_getProtocol (expected->protocol);
  Class class = (Class) objc_getClass (expected->protocol);

  if (protocol != nil)
    return protocol_getMethodDescription (protocol, selector, YES, YES).types;

  return class != Nil ? method_getTypeEncoding (class_getInstanceMethod (class, selector)) : NULL;
}

/* Tensors came with macOS 26, and their planes with 27. */
static bool
is_newer (const Signature *expected)
{
  bool has_tensors = objc_getClass ("MTLTensorExtents") != Nil;

  return strcmp (expected->selector, "auxiliaryPlanes") == 0
         || (!has_tensors && (strstr (expected->protocol, "Tensor") != NULL
                              || strstr (expected->selector, "Tensor") != NULL));
}

static bool
check_signature (const Signature *expected)
{
  const char *found = find_types (expected);
  char types[256] = "";

  if (found == NULL && is_newer (expected))
    return true;
  if (found != NULL && strlen (found) < sizeof types)
    {
      normalize (found, types);
      drop_receiver (types);
    }

  if (strcmp (types, expected->types) == 0)
    return true;

  printf ("# -[%s %s] has the types “%s”, not “%s”\n", expected->protocol, expected->selector,
          types, expected->types);
  return false;
}

/* Checks that a device itself answers, if there is one. */
static bool
check_device (void)
{
  static const char *const selectors[] = {
    "name",
    "registryID",
    "hasUnifiedMemory",
    "supportsFamily:",
    "maxBufferLength",
    "newCommandQueue",
    "newSharedEvent",
    "newHeapWithDescriptor:",
    "newBufferWithLength:options:",
    "newBufferWithBytesNoCopy:length:options:deallocator:",
  };
  bool ok = true;

  @autoreleasepool
    {
      id<MTLDevice> device = MTLCreateSystemDefaultDevice ();

      for (size_t i = 0; device != nil && i < sizeof selectors / sizeof *selectors; i++)
        if (![device respondsToSelector: sel_registerName (selectors[i])])
          {
            printf ("# the default device does not answer to %s\n", selectors[i]);
            ok = false;
          }
      [device release];
    }

  return ok;
}

int
main (void)
{
  const size_t n = sizeof signatures / sizeof *signatures;
  bool all = true, device_ok;

  printf ("1..%zu\n", n + 1);
  for (size_t i = 0; i < n; i++)
    {
      bool ok = check_signature (&signatures[i]);

      printf ("%s %zu -[%s %s]\n", ok ? "ok" : "not ok", i + 1, signatures[i].protocol,
              signatures[i].selector);
      all = all && ok;
    }

  device_ok = check_device ();
  printf ("%s %zu the default device\n", device_ok ? "ok" : "not ok", n + 1);
  return all && device_ok ? 0 : 1;
}
