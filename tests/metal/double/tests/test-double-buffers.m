/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Memory: what each storage mode promises, and no more. */

#include "test-double.h"

#include <Block.h>
#include <mach/vm_page_size.h>
#include <stdlib.h>

static void
test_fresh (void)
{
  const MTLResourceOptions modes[] = {
    MTLResourceStorageModeShared,
    MTLResourceStorageModeManaged,
    MTLResourceStorageModePrivate,
  };

  begin ();
  @autoreleasepool
    {
      for (guint i = 0; i < G_N_ELEMENTS (modes); i++)
        {
          id<MTLBuffer> buffer = [discrete newBufferWithLength: 100 options: modes[i]];
          id<MTLBuffer> seen = [discrete newBufferWithLength: 100
                                                     options: MTLResourceStorageModeShared];
          id<MTLCommandQueue> queue = [discrete newCommandQueue];

          copy_all (queue, buffer, seen);
          assert_bytes ([seen contents], 100, POISON);
          if (modes[i] != MTLResourceStorageModePrivate)
            assert_bytes ([buffer contents], 100, POISON);
          [buffer release];
          [seen release];
          [queue release];
        }
    }
  assert_no_violations ();
  end ();
}

static void
test_properties (void)
{
  begin ();
  @autoreleasepool
    {
      MTLResourceOptions options
        = MTLResourceStorageModePrivate | MTLResourceHazardTrackingModeUntracked;
      id<MTLBuffer> buffer = [discrete newBufferWithLength: PAGE + 1 options: options];
      id<MTLBuffer> other = [unified newBufferWithLength: 1 options: MTLResourceStorageModeShared];

      g_assert_cmpuint (vm_page_size, ==, PAGE);
      g_assert_true ([buffer device] == discrete);
      g_assert_null ([buffer heap]);
      g_assert_cmpuint ([buffer length], ==, PAGE + 1);
      g_assert_cmpuint ([buffer allocatedSize], ==, 2 * PAGE);
      g_assert_cmpuint ([discrete currentAllocatedSize], ==, 2 * PAGE);
      g_assert_cmpuint ([buffer storageMode], ==, MTLStorageModePrivate);
      g_assert_cmpuint ([buffer cpuCacheMode], ==, MTLCPUCacheModeDefaultCache);
      g_assert_cmpuint ([buffer resourceOptions], ==, options);
      g_assert_cmpuint ([buffer hazardTrackingMode], ==, MTLHazardTrackingModeUntracked);
      g_assert_cmpuint ([other hazardTrackingMode], ==, MTLHazardTrackingModeTracked);
      /* No CPU of today has such an address, nor do two buffers share one. */
      g_assert_cmpuint ([buffer gpuAddress] >> 48, !=, 0);
      g_assert_cmpuint ([other gpuAddress] >> 48, !=, 0);
      g_assert_cmpuint ([buffer gpuAddress], !=, [other gpuAddress]);
      [buffer setLabel: @"weights"];
      g_assert_cmpstr ([[buffer label] UTF8String], ==, "weights");
      [buffer release];
      [other release];
      g_assert_cmpuint ([discrete currentAllocatedSize], ==, 0);
    }
  assert_no_violations ();
  end ();
}

static void
test_contents_of_private (void)
{
  begin ();
  @autoreleasepool
    {
      id<MTLBuffer> buffer = [unified newBufferWithLength: 64
                                                  options: MTLResourceStorageModePrivate];

      assert_violates (g_assert_null ([buffer contents]), "CPU cannot reach");
      [buffer release];
    }
  end ();
}

/* Two copies on a discrete GPU: each side learns of the other's only when told. */
static void
test_managed_discrete (void)
{
  begin ();
  @autoreleasepool
    {
      id<MTLCommandQueue> queue = [discrete newCommandQueue];
      id<MTLBuffer> managed = [discrete newBufferWithLength: 64
                                                    options: MTLResourceStorageModeManaged];
      id<MTLBuffer> seen = [discrete newBufferWithLength: 64
                                                 options: MTLResourceStorageModeShared];
      guint8 *cpu = [managed contents];
      guint8 *gpu = [seen contents];

      memset (cpu, 1, 64);
      copy_all (queue, managed, seen);
      assert_bytes (gpu, 64, POISON);

      [managed didModifyRange: NSMakeRange (0, 16)];
      [managed didModifyRange: NSMakeRange (48, 16)];
      copy_all (queue, managed, seen);
      assert_bytes (gpu, 16, 1);
      assert_bytes (gpu + 16, 32, POISON);
      assert_bytes (gpu + 48, 16, 1);

      fill_all (queue, managed, 7);
      assert_bytes (cpu, 64, 1);
      run_blits (queue, ^(id<MTLBlitCommandEncoder> blit) { [blit synchronizeResource: managed]; });
      assert_bytes (cpu, 64, 7);
      [managed release];
      [seen release];
      [queue release];
    }
  assert_no_violations ();
  end ();
}

/* A change that the CPU reports after a commit is for the next one. */
static void
test_did_modify_late (void)
{
  begin ();
  @autoreleasepool
    {
      id<MTLCommandQueue> queue = [discrete newCommandQueue];
      id<MTLBuffer> managed = [discrete newBufferWithLength: 64
                                                    options: MTLResourceStorageModeManaged];
      id<MTLBuffer> seen = [discrete newBufferWithLength: 64
                                                 options: MTLResourceStorageModeShared];
      id<MTLCommandBuffer> commands = [queue commandBuffer];
      id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];

      [blit copyFromBuffer: managed sourceOffset: 0 toBuffer: seen destinationOffset: 0 size: 64];
      [blit endEncoding];
      metal_double_pause ();
      [commands commit];
      memset ([managed contents], 1, 64);
      [managed didModifyRange: NSMakeRange (0, 64)];
      metal_double_resume ();
      [commands waitUntilCompleted];
      assert_bytes ([seen contents], 64, POISON);

      copy_all (queue, managed, seen);
      assert_bytes ([seen contents], 64, 1);
      [managed release];
      [seen release];
      [queue release];
    }
  end ();
}

static void
test_managed_unified (void)
{
  begin ();
  @autoreleasepool
    {
      id<MTLCommandQueue> queue = [unified newCommandQueue];
      id<MTLBuffer> managed = [unified newBufferWithLength: 64
                                                   options: MTLResourceStorageModeManaged];

      g_assert_cmpuint ([managed storageMode], ==, MTLStorageModeManaged);
      fill_all (queue, managed, 3);
      assert_bytes ([managed contents], 64, 3);
      [managed release];
      [queue release];
    }
  end ();
}

static void
test_did_modify_wrong (void)
{
  NSRange overflowing = { NSUIntegerMax, 2 };

  begin ();
  @autoreleasepool
    {
      id<MTLBuffer> managed = [discrete newBufferWithLength: 64
                                                    options: MTLResourceStorageModeManaged];
      id<MTLBuffer> shared = [discrete newBufferWithLength: 64
                                                   options: MTLResourceStorageModeShared];

      assert_violates ([shared didModifyRange: NSMakeRange (0, 4)], "not managed");
      assert_violates ([managed didModifyRange: NSMakeRange (60, 5)], "beyond the end");
      assert_violates ([managed didModifyRange: overflowing], "beyond the end");
      [managed release];
      [shared release];
    }
  end ();
}

static void
test_bytes (void)
{
  const void *nothing = NULL;
  guint8 bytes[64];

  memset (bytes, 5, sizeof bytes);
  begin ();
  @autoreleasepool
    {
      id<MTLBuffer> managed = [discrete newBufferWithBytes: bytes
                                                    length: 64
                                                   options: MTLResourceStorageModeManaged];
      id<MTLBuffer> seen = [discrete newBufferWithLength: 64
                                                 options: MTLResourceStorageModeShared];
      id<MTLCommandQueue> queue = [discrete newCommandQueue];

      assert_bytes ([managed contents], 64, 5);
      copy_all (queue, managed, seen);
      assert_bytes ([seen contents], 64, 5);
      assert_no_violations ();
      assert_violates ([[discrete newBufferWithBytes: bytes
                                              length: 64
                                             options: MTLResourceStorageModePrivate] release],
                       "for a private buffer");
      assert_violates ([[discrete newBufferWithBytes: nothing length: 64 options: 0] release],
                       "without bytes");
      [managed release];
      [seen release];
      [queue release];
    }
  end ();
}

static void
test_nil (void)
{
  const MetalDoubleDevice small = {
    .name = "small", .registry_id = 1, .unified = true,
    .max_buffer_length = 4 * PAGE, .memory = 6 * PAGE,
  };

  metal_double_setup (&small, 1, 0);
  metal_double_set_abort (false);
  @autoreleasepool
    {
      id<MTLDevice> device = MTLCreateSystemDefaultDevice ();
      id<MTLBuffer> first;

      g_assert_cmpuint ([device maxBufferLength], ==, 4 * PAGE);
      g_assert_cmpuint ([device recommendedMaxWorkingSetSize], ==, 6 * PAGE);
      g_assert_null ([device newBufferWithLength: 0 options: 0]);
      g_assert_null ([device newBufferWithLength: 4 * PAGE + 1 options: 0]);
      g_assert_null ([device newBufferWithLength: NSUIntegerMax options: 0]);
      first = [device newBufferWithLength: 4 * PAGE options: 0];
      g_assert_nonnull (first);
      g_assert_null ([device newBufferWithLength: 2 * PAGE + 1 options: 0]);
      [first release];
      first = [device newBufferWithLength: 2 * PAGE + 1 options: 0];
      g_assert_nonnull (first);
      [first release];
      [device release];
    }
  assert_no_violations ();
  end ();
}

/* A size that no machine has fails, though the device has no objection. */
static void
test_no_memory (void)
{
  const MetalDoubleDevice boundless = {
    .name = "boundless", .registry_id = 1, .max_buffer_length = SIZE_MAX / 2,
  };

  metal_double_setup (&boundless, 1, 0);
  metal_double_set_abort (false);
  @autoreleasepool
    {
      id<MTLDevice> device = MTLCreateSystemDefaultDevice ();

      g_assert_null ([device newBufferWithLength: SIZE_MAX / 4 options: 0]);
      g_assert_cmpuint ([device currentAllocatedSize], ==, 0);
      g_assert_cmpuint (metal_double_live ("buffer"), ==, 0);
      [device release];
    }
  assert_no_violations ();
  end ();
}

static void
test_large (void)
{
  const size_t length = (size_t) 40 << 20;

  begin ();
  @autoreleasepool
    {
      id<MTLBuffer> buffer = [unified newBufferWithLength: length - 1 options: 0];
      char *contents = [buffer contents];

      assert_bytes (contents, 1 << 20, POISON);
      assert_bytes (contents + length - (1 << 20), 1 << 20, POISON);
      contents[length - 1] = 0;
      assert_violates ([buffer release], "beyond the end");
    }
  end ();
}

static void
test_options (void)
{
  const MetalDoubleDevice phone
    = { .name = "phone", .registry_id = 1, .unified = true, .without_managed = true };
  const MTLResourceOptions unknown[] = { 2, 64, 128, 256 | 512, 1024 };

  metal_double_setup (&phone, 1, 0);
  metal_double_set_abort (false);
  @autoreleasepool
    {
      id<MTLDevice> device = MTLCreateSystemDefaultDevice ();
      id<MTLBuffer> buffer;

      for (guint i = 0; i < G_N_ELEMENTS (unknown); i++)
        assert_violates (g_assert_null ([device newBufferWithLength: 64 options: unknown[i]]),
                         "no such MTLResourceOptions");
      assert_violates (g_assert_null ([device newBufferWithLength: 64
                                                          options: MTLResourceStorageModeManaged]),
                       "without that mode");
      assert_violates (
        g_assert_null ([device newBufferWithLength: 64
                                           options: MTLResourceStorageModeMemoryless]),
        "memoryless");
      buffer = [device newBufferWithLength: 64 options: MTLResourceCPUCacheModeWriteCombined];
      g_assert_cmpuint ([buffer cpuCacheMode], ==, MTLCPUCacheModeWriteCombined);
      [buffer release];
      [device release];
    }
  end ();
}

static void
test_no_copy (void)
{
  char *memory = aligned_alloc (PAGE, 2 * PAGE);
  __block int n_ended = 0;
  void (^deallocator) (void *, NSUInteger) = ^(void *pointer, NSUInteger length) {
    g_assert_true (pointer == memory);
    g_assert_cmpuint (length, ==, 2 * PAGE);
    n_ended++;
  };

  begin ();
  memset (memory, 9, 2 * PAGE);
  @autoreleasepool
    {
      id<MTLBuffer> shared = [discrete newBufferWithBytesNoCopy: memory
                                                         length: 2 * PAGE
                                                        options: MTLResourceStorageModeShared
                                                    deallocator: deallocator];
      id<MTLBuffer> managed = [discrete newBufferWithBytesNoCopy: memory
                                                          length: 2 * PAGE
                                                         options: MTLResourceStorageModeManaged
                                                     deallocator: deallocator];
      id<MTLCommandQueue> queue = [discrete newCommandQueue];

      g_assert_true ([shared contents] == memory);
      g_assert_true ([managed contents] == memory);
      fill_all (queue, managed, 2);
      assert_bytes (memory, 2 * PAGE, 9);
      fill_all (queue, shared, 4);
      assert_bytes (memory, 2 * PAGE, 4);
      [shared setPurgeableState: MTLPurgeableStateEmpty];
      assert_bytes (memory, 2 * PAGE, 4);
      [queue release];
      g_assert_cmpint (n_ended, ==, 0);
      [shared release];
      g_assert_cmpint (n_ended, ==, 1);
      [managed release];
      g_assert_cmpint (n_ended, ==, 2);
    }
  assert_no_violations ();
  end ();
  free (memory);
}

static void
test_no_copy_fails (void)
{
  void *nothing = NULL;
  char *memory = aligned_alloc (PAGE, 2 * PAGE);
  __block int n_ended = 0;
  void (^deallocator) (void *, NSUInteger) = ^(void *pointer, NSUInteger length) {
    (void) pointer;
    (void) length;
    n_ended++;
  };
  struct
  {
    size_t offset, length;
    MTLResourceOptions options;
  } wrong[] = {
    { 4096, PAGE, MTLResourceStorageModeShared },
    { 0, 4096, MTLResourceStorageModeShared },
    { 0, PAGE + 1, MTLResourceStorageModeShared },
    { 0, 0, MTLResourceStorageModeShared },
    { 0, PAGE, MTLResourceStorageModePrivate },
  };

  begin ();
  @autoreleasepool
    {
      for (guint dealloc = 0; dealloc < 2; dealloc++)
        {
          metal_double_dealloc_on_failure (dealloc == 1);
          n_ended = 0;
          for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
            {
              g_assert_null ([unified newBufferWithBytesNoCopy: memory + wrong[i].offset
                                                        length: wrong[i].length
                                                       options: wrong[i].options
                                                   deallocator: deallocator]);
              g_assert_cmpint (n_ended, ==, (i + 1) * dealloc);
            }
        }
      assert_no_violations ();
      assert_violates (g_assert_null ([unified newBufferWithBytesNoCopy: nothing
                                                                 length: PAGE
                                                                options: 0
                                                            deallocator: nil]),
                       "without memory");
    }
  end ();
  free (memory);
}

static void
test_no_copy_forgotten (void)
{
  static int n_ended;
  void *memory = NULL;

  g_assert_cmpint (posix_memalign (&memory, PAGE, PAGE), ==, 0);
  begin ();
  @autoreleasepool
    {
      for (int forgets = 0; forgets <= 1; forgets++)
        {
          id<MTLBuffer> buffer = [unified newBufferWithBytesNoCopy: memory
                                                            length: PAGE
                                                           options: 0
                                                       deallocator: ^(void *bytes,
                                                                      NSUInteger size) {
            n_ended++;
          }];

          metal_double_forget_deallocators (forgets == 1);
          [buffer release];
          g_assert_cmpint (n_ended, ==, 1);
        }
    }
  g_assert_cmpuint (metal_double_live ("block"), ==, 0);
  end ();
  free (memory);
}

static void
test_tail (void)
{
  begin ();
  @autoreleasepool
    {
      id<MTLBuffer> buffer = [discrete newBufferWithLength: 100
                                                   options: MTLResourceStorageModeManaged];

      ((char *) [buffer contents])[100] = 1;
      assert_violates ([buffer release], "beyond the end of a buffer of 100 bytes");
    }
  end ();
}

static void
test_no_kernels (void)
{
  begin ();
  @autoreleasepool
    {
      NSError *error = nil;
      id<MTLFunction> none = nil;

      g_assert_null ([unified newLibraryWithSource: @"kernel void f () {}"
                                           options: nil
                                             error: &error]);
      g_assert_cmpstr ([[error domain] UTF8String], ==, "MTLLibraryErrorDomain");
      g_assert_cmpint ([error code], ==, MTLLibraryErrorUnsupported);
      g_assert_cmpstr ([[error localizedDescription] UTF8String], ==,
                       "The double of Metal runs no kernels");
      error = nil;
      g_assert_null ([unified newComputePipelineStateWithFunction: none error: &error]);
      g_assert_cmpint ([error code], ==, MTLLibraryErrorUnsupported);
    }
  end ();
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/MetalDouble/buffers/fresh", test_fresh);
  g_test_add_func ("/MetalDouble/buffers/properties", test_properties);
  g_test_add_func ("/MetalDouble/buffers/contents-of-private", test_contents_of_private);
  g_test_add_func ("/MetalDouble/buffers/managed/discrete", test_managed_discrete);
  g_test_add_func ("/MetalDouble/buffers/managed/unified", test_managed_unified);
  g_test_add_func ("/MetalDouble/buffers/did-modify/late", test_did_modify_late);
  g_test_add_func ("/MetalDouble/buffers/did-modify/wrong", test_did_modify_wrong);
  g_test_add_func ("/MetalDouble/buffers/bytes", test_bytes);
  g_test_add_func ("/MetalDouble/buffers/nil", test_nil);
  g_test_add_func ("/MetalDouble/buffers/nil/no-memory", test_no_memory);
  g_test_add_func ("/MetalDouble/buffers/large", test_large);
  g_test_add_func ("/MetalDouble/buffers/options", test_options);
  g_test_add_func ("/MetalDouble/buffers/no-copy", test_no_copy);
  g_test_add_func ("/MetalDouble/buffers/no-copy/fails", test_no_copy_fails);
  g_test_add_func ("/MetalDouble/buffers/no-copy/forgotten", test_no_copy_forgotten);
  g_test_add_func ("/MetalDouble/buffers/tail", test_tail);
  g_test_add_func ("/MetalDouble/buffers/no-kernels", test_no_kernels);
  return g_test_run ();
}
