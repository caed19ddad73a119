/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The fixture over Metal as it is, for tests on a Mac: of what it does everything is to be seen
 * by Apple's validation layer. Nothing here knows the double, but it runs over it, too, which
 * tests this file on Linux. */

#import "metal-fixture-common.h"
#include <stdatomic.h>

#include "metal-fixture-real.h"

#if __has_feature(objc_arc)
#error "This file counts references itself: compile it without -fobjc-arc"
#endif

/* In a heap, buffers begin at multiples of what the device likes, and take as much. */
#define HEAP_SIZE ((size_t) 1 << 20)
#define WORD_SIZE 4
#define THREADS 32

typedef struct
{
  uint64_t offset, size;
  uint32_t value, is_sum;
} KernelArguments;

static const char kernel_source[] =
  "#include <metal_stdlib>\n"
  "using namespace metal;\n"
  "struct Arguments { ulong offset, size; uint value, is_sum; };\n"
  "kernel void\n"
  "change (device uchar *bytes [[buffer (0)]],\n"
  "        constant Arguments &arguments [[buffer (1)]],\n"
  "        uint index [[thread_position_in_grid]])\n"
  "{\n"
  "  if (index < arguments.size)\n"
  "    {\n"
  "      device uchar &byte = bytes[arguments.offset + index];\n"
  "      byte = uchar (arguments.value + (arguments.is_sum ? uint (byte) : 0));\n"
  "    }\n"
  "}\n"
  "struct Move { ulong to, from, size; };\n"
  "kernel void\n"
  "move (device uchar *dest [[buffer (0)]],\n"
  "      device const uchar *source [[buffer (1)]],\n"
  "      constant Move &arguments [[buffer (2)]],\n"
  "      uint index [[thread_position_in_grid]])\n"
  "{\n"
  "  if (index < arguments.size)\n"
  "    dest[arguments.to + index] = source[arguments.from + index];\n"
  "}\n";

/* Metal may list none in a sandbox, and make its default device once. */
static NSArray *
list_devices (void)
{
  static _Atomic (id) devices;
  NSArray *list = atomic_load (&devices);

  if (list == nil)
    {
      id none = nil;

      list = MTLCopyAllDevices ();
      if (!atomic_compare_exchange_strong (&devices, &none, (id) list))
        {
          [list release];
          list = none;
        }
    }

  return list;
}

unsigned
metal_fixture_n_devices (void)
{
  @autoreleasepool
    {
      return (unsigned) [list_devices () count];
    }
}

/* The nth device of the list that has memory of its own, or has not. */
static int
find_device (bool unified,
             int  n)
{
  NSArray *devices = list_devices ();

  for (NSUInteger i = 0; i < [devices count]; i++)
    if ([(id<MTLDevice>) [devices objectAtIndex: i] hasUnifiedMemory] == unified && n-- == 0)
      return (int) i;

  return -1;
}

unsigned
metal_fixture_ordinal (unsigned role)
{
  @autoreleasepool
    {
      /* The double has these: unified, discrete, another discrete one, unified. */
      const bool unified = role == 0 || role == 3;
      int ordinal = find_device (unified, role == 2 ? 1 : 0);

      if (ordinal < 0)
        ordinal = find_device (unified, 0);
      return ordinal < 0 ? 0 : (unsigned) ordinal;
    }
}

void *
metal_fixture_device (unsigned role)
{
  @autoreleasepool
    {
      return [list_devices () objectAtIndex: metal_fixture_ordinal (role)];
    }
}

void *
metal_fixture_buffer_new (unsigned role,
                          size_t   size,
                          unsigned options)
{
  @autoreleasepool
    {
      return [(id<MTLDevice>) metal_fixture_device (role) newBufferWithLength: size
                                                                      options: options];
    }
}

void *
metal_fixture_buffer_new_in_heap (unsigned role,
                                  size_t   size,
                                  unsigned options)
{
  @autoreleasepool
    {
      MTLHeapDescriptor *descriptor = [[[MTLHeapDescriptor alloc] init] autorelease];
      id<MTLHeap> heap;
      id<MTLBuffer> buffer;

      [descriptor setSize: size + HEAP_SIZE];
      [descriptor setResourceOptions: options];
      heap = [(id<MTLDevice>) metal_fixture_device (role) newHeapWithDescriptor: descriptor];
      buffer = [heap newBufferWithLength: size options: options];
      [heap release];
      return buffer;
    }
}

/* Retained; nil where this Metal compiles no kernels. */
static id<MTLComputePipelineState>
new_pipeline (id<MTLDevice> device,
              NSString     *name)
{
  NSError *failure = nil;
  id<MTLLibrary> library =
    [device newLibraryWithSource: [NSString stringWithUTF8String: kernel_source]
                         options: nil
                           error: &failure];
  id<MTLFunction> function = [library newFunctionWithName: name];
  id<MTLComputePipelineState> pipeline = nil;

  if (function != nil)
    pipeline = [device newComputePipelineStateWithFunction: function error: &failure];
  [function release];
  [library release];
  return pipeline;
}

bool
metal_fixture_has_kernels (void)
{
  @autoreleasepool
    {
      id<MTLComputePipelineState> pipeline =
        metal_fixture_n_devices () > 0 ? new_pipeline (metal_fixture_device (0), @"change") : nil;
      bool has = pipeline != nil;

      [pipeline release];
      return has;
    }
}

static void
dispatch (id<MTLComputeCommandEncoder> encoder,
          size_t                       size)
{
  [encoder dispatchThreadgroups: MTLSizeMake ((size + THREADS - 1) / THREADS, 1, 1)
          threadsPerThreadgroup: MTLSizeMake (THREADS, 1, 1)];
  [encoder endEncoding];
}

static void
encode_change (id<MTLCommandBuffer> commands,
               id<MTLBuffer>        buffer,
               KernelArguments      arguments)
{
  id<MTLComputePipelineState> pipeline = new_pipeline ([buffer device], @"change");
  id<MTLComputeCommandEncoder> encoder;

  if (pipeline == nil)
    abort ();
  encoder = [commands computeCommandEncoder];
  [encoder setComputePipelineState: pipeline];
  [encoder setBuffer: buffer offset: 0 atIndex: 0];
  [encoder setBytes: &arguments length: sizeof arguments atIndex: 1];
  dispatch (encoder, arguments.size);
  [pipeline release];
}

/* Copies by a blit, or by a kernel if blits want whole words. */
static void
encode_copy (id<MTLCommandBuffer> commands,
             id<MTLBuffer>        dest,
             size_t               to,
             id<MTLBuffer>        source,
             size_t               from,
             size_t               size)
{
  const uint64_t arguments[] = { to, from, size };
  id<MTLComputePipelineState> pipeline;
  id<MTLComputeCommandEncoder> encoder;

  if ([[dest device] supportsFamily: MTLGPUFamilyApple1] || (to | from | size) % WORD_SIZE == 0)
    {
      id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];

      [blit copyFromBuffer: source
              sourceOffset: from
                  toBuffer: dest
         destinationOffset: to
                      size: size];
      [blit endEncoding];
      return;
    }

  pipeline = new_pipeline ([dest device], @"move");
  if (pipeline == nil)
    abort ();
  encoder = [commands computeCommandEncoder];
  [encoder setComputePipelineState: pipeline];
  [encoder setBuffer: dest offset: 0 atIndex: 0];
  [encoder setBuffer: source offset: 0 atIndex: 1];
  [encoder setBytes: arguments length: sizeof arguments atIndex: 2];
  dispatch (encoder, size);
  [pipeline release];
}

/* Copies between the GPU's memory and memory of the host, on a queue of its own. */
static void
exchange (id<MTLBuffer> buffer,
          size_t        offset,
          void         *bytes,
          const void   *given,
          size_t        size)
{
  @autoreleasepool
    {
      id<MTLCommandQueue> queue = [[buffer device] newCommandQueue];
      id<MTLCommandBuffer> commands = [queue commandBuffer];
      id<MTLBuffer> staging = [[buffer device] newBufferWithLength: size
                                                           options: MTLResourceStorageModeShared];

      if (given != NULL)
        {
          memcpy ([staging contents], given, size);
          encode_copy (commands, buffer, offset, staging, 0, size);
        }
      else
        encode_copy (commands, staging, 0, buffer, offset, size);
      [commands commit];
      [commands waitUntilCompleted];
      if ([commands status] != MTLCommandBufferStatusCompleted)
        abort ();
      if (given == NULL)
        memcpy (bytes, [staging contents], size);
      [staging release];
      [queue release];
    }
}

void
metal_fixture_peek (void  *buffer,
                    size_t offset,
                    void  *bytes,
                    size_t size)
{
  if (size > 0)
    exchange (buffer, offset, bytes, NULL, size);
}

void
metal_fixture_poke (void       *buffer,
                    size_t      offset,
                    const void *bytes,
                    size_t      size)
{
  if (size > 0)
    exchange (buffer, offset, NULL, bytes, size);
}

void *
metal_fixture_event_new (unsigned role)
{
  @autoreleasepool
    {
      return [(id<MTLDevice>) metal_fixture_device (role) newSharedEvent];
    }
}

MetalFixtureRun *
metal_fixture_submit (MetalFixtureKernel kernel,
                      void              *buffer,
                      size_t             offset,
                      size_t             size,
                      uint8_t            value,
                      void              *wait_for,
                      uint64_t           wait_value,
                      void              *signal,
                      uint64_t           signal_value)
{
  MetalFixtureRun *run;

  @autoreleasepool
    {
      id<MTLDevice> device = [(id<MTLBuffer>) buffer device];
      bool blits = [device supportsFamily: MTLGPUFamilyApple1]
                   || (offset | size) % WORD_SIZE == 0;

      run = begin_run (device, wait_for, wait_value);
      if (kernel == METAL_FIXTURE_FILL && size > 0 && blits)
        {
          id<MTLBlitCommandEncoder> blit = [run->commands blitCommandEncoder];

          [blit fillBuffer: (id<MTLBuffer>) buffer range: NSMakeRange (offset, size) value: value];
          [blit endEncoding];
        }
      else if (size > 0 && (kernel == METAL_FIXTURE_FILL || value != 0))
        encode_change (run->commands, buffer,
                       (KernelArguments) { offset, size, value, kernel == METAL_FIXTURE_ADD });
      commit_run (run, signal, signal_value);
    }

  return run;
}
