/* SPDX-License-Identifier: LGPL-2.1-or-later */

#import "metal-double-private.h"

@implementation MTLHeapDescriptor
@synthesize size, storageMode, cpuCacheMode, hazardTrackingMode;

- (id) init
{
  self = [super init];
  storageMode = MTLStorageModePrivate;
  return self;
}

- (id) copyWithZone: (NSZone *) zone
{
  MTLHeapDescriptor *copy = [[MTLHeapDescriptor allocWithZone: zone] init];

  [copy setSize: size];
  [copy setResourceOptions: [self resourceOptions]];
  return copy;
}

- (MTLResourceOptions) resourceOptions
{
  return cpuCacheMode << MTLResourceCPUCacheModeShift
         | storageMode << MTLResourceStorageModeShift
         | hazardTrackingMode << MTLResourceHazardTrackingModeShift;
}

- (void) setResourceOptions: (MTLResourceOptions) options
{
  cpuCacheMode = options & MTLResourceCPUCacheModeMask;
  storageMode = md_storage_mode (options);
  hazardTrackingMode = md_hazard_tracking_mode (options, MTLHazardTrackingModeDefault);
}
@end

bool
md_heap_reserve (MDHeap *heap,
                 size_t  size)
{
  bool fits;

  pthread_mutex_lock (&md_lock);
  fits = size <= heap->size - heap->used;
  if (fits)
    heap->used += size;
  pthread_mutex_unlock (&md_lock);
  return fits;
}

void
md_heap_unreserve (MDHeap *heap,
                   size_t  size)
{
  pthread_mutex_lock (&md_lock);
  heap->used -= size;
  pthread_mutex_unlock (&md_lock);
}

@implementation MDHeap
@dynamic label;

+ (id<MTLHeap>) newOnDevice: (MDDevice *) d withDescriptor: (MTLHeapDescriptor *) descriptor
{
  MTLResourceOptions options = [descriptor resourceOptions];
  size_t size = md_round_to_page ([descriptor size]);
  MDHeap *heap;

  if (!md_options_are_valid (d, options))
    return nil;
  if (md_storage_mode (options) == MTLStorageModeManaged)
    {
      md_violation ("a managed heap: its mode is shared or private");
      return nil;
    }
  if (size == 0 || !md_device_reserve (d, size))
    return nil;

  heap = [[MDHeap alloc] initWithKind: MD_HEAP];
  heap->device = (MDDevice *) [d retain];
  heap->options = options;
  heap->size = size;
  heap->purgeable = MTLPurgeableStateNonVolatile;
  return heap;
}

- (void) dispose
{
  md_device_unreserve (device, size);
  [device release];
}

- (id<MTLDevice>) device
{
  return md_lend (device, "-[MTLHeap device]");
}

- (MTLStorageMode) storageMode
{
  return md_storage_mode (options);
}

- (MTLCPUCacheMode) cpuCacheMode
{
  return options & MTLResourceCPUCacheModeMask;
}

- (MTLHazardTrackingMode) hazardTrackingMode
{
  return md_hazard_tracking_mode (options, MTLHazardTrackingModeUntracked);
}

- (MTLResourceOptions) resourceOptions
{
  return options;
}

- (NSUInteger) size
{
  return size;
}

- (NSUInteger) usedSize
{
  NSUInteger n;

  pthread_mutex_lock (&md_lock);
  n = used;
  pthread_mutex_unlock (&md_lock);
  return n;
}

- (NSUInteger) currentAllocatedSize
{
  return size;
}

- (NSUInteger) maxAvailableSizeWithAlignment: (NSUInteger) alignment
{
  NSUInteger left = size - [self usedSize];

  return alignment > 0 ? left / alignment * alignment : left;
}

- (id<MTLBuffer>) newBufferWithLength: (NSUInteger) length options: (MTLResourceOptions) o
{
  const MTLResourceOptions shared_with_heap
    = MTLResourceStorageModeMask | MTLResourceCPUCacheModeMask;

  md_count (MD_CALL_NEW_BUFFER);
  if ((o & shared_with_heap) != (options & shared_with_heap))
    {
      md_violation ("a buffer of options 0x%lx from a heap of options 0x%lx",
                    (unsigned long) o, (unsigned long) options);
      return nil;
    }

  return md_buffer_new (&(MDBufferRequest) {
    .device = device,
    .heap = self,
    .length = length,
    .options = o,
  });
}

- (MTLPurgeableState) setPurgeableState: (MTLPurgeableState) state
{
  MTLPurgeableState before = __atomic_load_n (&purgeable, __ATOMIC_ACQUIRE);

  if (state == MTLPurgeableStateVolatile)
    state = MTLPurgeableStateEmpty;
  if (state != MTLPurgeableStateKeepCurrent)
    __atomic_store_n (&purgeable, state, __ATOMIC_RELEASE);
  return before;
}
@end
