/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Memory that may vanish, and heaps. */

#include "test-double.h"

static void
test_purgeable (void)
{
  begin ();
  @autoreleasepool
    {
      id<MTLBuffer> buffer = [unified newBufferWithLength: 64 options: 0];
      id<MTLCommandQueue> queue = [unified newCommandQueue];
      id<MTLCommandBuffer> commands = [queue commandBuffer];
      id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];

      memset ([buffer contents], 1, 64);
      g_assert_cmpuint ([buffer setPurgeableState: MTLPurgeableStateKeepCurrent], ==,
                        MTLPurgeableStateNonVolatile);
      g_assert_cmpuint ([buffer setPurgeableState: MTLPurgeableStateVolatile], ==,
                        MTLPurgeableStateNonVolatile);
      assert_violates ([blit fillBuffer: buffer range: NSMakeRange (0, 64) value: 1], "volatile");
      /* Its contents are gone, the earliest that may be. */
      g_assert_cmpuint ([buffer setPurgeableState: MTLPurgeableStateNonVolatile], ==,
                        MTLPurgeableStateEmpty);
      assert_bytes ([buffer contents], 64, POISON);

      [blit fillBuffer: buffer range: NSMakeRange (0, 64) value: 1];
      [blit endEncoding];
      metal_double_pause ();
      [commands commit];
      assert_violates ([buffer setPurgeableState: MTLPurgeableStateEmpty], "the GPU uses");
      metal_double_resume ();
      [commands waitUntilCompleted];
      [queue release];
      [buffer release];
    }
  end ();
}

static void
test_purgeable_managed (void)
{
  begin ();
  @autoreleasepool
    {
      id<MTLBuffer> managed = [discrete newBufferWithLength: 64
                                                    options: MTLResourceStorageModeManaged];
      id<MTLCommandQueue> queue = [discrete newCommandQueue];

      memset ([managed contents], 1, 64);
      fill_all (queue, managed, 1);
      [managed setPurgeableState: MTLPurgeableStateEmpty];
      [managed setPurgeableState: MTLPurgeableStateNonVolatile];
      assert_bytes ([managed contents], 64, POISON);
      run_blits (queue, ^(id<MTLBlitCommandEncoder> blit) { [blit synchronizeResource: managed]; });
      assert_bytes ([managed contents], 64, POISON);
      [queue release];
      [managed release];
    }
  assert_no_violations ();
  end ();
}

static void
test_heap (void)
{
  begin ();
  @autoreleasepool
    {
      MTLHeapDescriptor *descriptor = [[[MTLHeapDescriptor alloc] init] autorelease];
      id<MTLHeap> heap;
      id<MTLBuffer> buffer;

      [descriptor setSize: 2 * PAGE];
      [descriptor setStorageMode: MTLStorageModeShared];
      heap = [unified newHeapWithDescriptor: descriptor];
      g_assert_cmpuint ([heap size], ==, 2 * PAGE);
      g_assert_cmpuint ([unified currentAllocatedSize], ==, 2 * PAGE);
      buffer = [heap newBufferWithLength: PAGE options: MTLResourceStorageModeShared];
      @autoreleasepool
        {
          g_assert_true ([buffer heap] == heap);
          g_assert_true ([heap device] == unified);
        }
      g_assert_cmpuint ([buffer hazardTrackingMode], ==, MTLHazardTrackingModeUntracked);
      g_assert_cmpuint ([heap usedSize], ==, PAGE);
      g_assert_cmpuint ([heap maxAvailableSizeWithAlignment: PAGE], ==, PAGE);
      g_assert_null ([heap newBufferWithLength: PAGE + 1 options: MTLResourceStorageModeShared]);
      assert_no_violations ();

      assert_violates ([[heap newBufferWithLength: 64
                                          options: MTLResourceStorageModePrivate] release],
                       "from a heap");
      assert_violates ([buffer setPurgeableState: MTLPurgeableStateVolatile], "of a heap");
      [heap setPurgeableState: MTLPurgeableStateEmpty];
      g_assert_cmpuint ([buffer setPurgeableState: MTLPurgeableStateKeepCurrent], ==,
                        MTLPurgeableStateEmpty);

      [heap release];
      g_assert_cmpuint (metal_double_live ("heap"), ==, 1);
      [buffer release];
      g_assert_cmpuint (metal_double_live ("heap"), ==, 0);
      g_assert_cmpuint ([unified currentAllocatedSize], ==, 0);

      [descriptor setSize: 0];
      g_assert_null ([unified newHeapWithDescriptor: descriptor]);
      [descriptor setStorageMode: MTLStorageModeMemoryless];
      assert_violates (g_assert_null ([unified newHeapWithDescriptor: descriptor]), "memoryless");
      [descriptor setStorageMode: MTLStorageModeManaged];
      assert_violates (g_assert_null ([discrete newHeapWithDescriptor: descriptor]),
                       "managed heap");
    }
  end ();
}

static void
test_heap_properties (void)
{
  begin ();
  @autoreleasepool
    {
      MTLHeapDescriptor *descriptor = [[[MTLHeapDescriptor alloc] init] autorelease];
      MTLResourceOptions options = MTLResourceStorageModePrivate
                                   | MTLResourceCPUCacheModeWriteCombined
                                   | MTLResourceHazardTrackingModeTracked;
      id<MTLHeap> heap;

      g_assert_cmpuint ([descriptor storageMode], ==, MTLStorageModePrivate);
      [descriptor setSize: 100];
      [descriptor setResourceOptions: options];
      g_assert_cmpuint ([descriptor cpuCacheMode], ==, MTLCPUCacheModeWriteCombined);
      g_assert_cmpuint ([descriptor hazardTrackingMode], ==, MTLHazardTrackingModeTracked);
      heap = [unified newHeapWithDescriptor: [[descriptor copy] autorelease]];
      g_assert_cmpuint ([heap size], ==, PAGE);
      g_assert_cmpuint ([heap currentAllocatedSize], ==, PAGE);
      g_assert_cmpuint ([heap resourceOptions], ==, options);
      g_assert_cmpuint ([heap storageMode], ==, MTLStorageModePrivate);
      g_assert_cmpuint ([heap cpuCacheMode], ==, MTLCPUCacheModeWriteCombined);
      g_assert_cmpuint ([heap hazardTrackingMode], ==, MTLHazardTrackingModeTracked);
      g_assert_cmpuint ([heap setPurgeableState: MTLPurgeableStateVolatile], ==,
                        MTLPurgeableStateNonVolatile);
      g_assert_cmpuint ([heap setPurgeableState: MTLPurgeableStateKeepCurrent], ==,
                        MTLPurgeableStateEmpty);
      [heap release];
    }
  assert_no_violations ();
  end ();
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/MetalDouble/heaps/purgeable", test_purgeable);
  g_test_add_func ("/MetalDouble/heaps/purgeable/managed", test_purgeable_managed);
  g_test_add_func ("/MetalDouble/heaps/buffers", test_heap);
  g_test_add_func ("/MetalDouble/heaps/properties", test_heap_properties);
  return g_test_run ();
}
