/* SPDX-License-Identifier: LGPL-2.1-or-later */

#import "metal-double-private.h"

#include <Block.h>
#include <mach/vm_page_size.h>
#include <objc/runtime.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The content of memory that was never written. */
#define POISON 0xdb
/* Longer memory is poisoned at both ends only, this far. */
#define POISONED_END ((size_t) 16 << 20)
/* Such memory is mapped, and takes up only the pages that are written to. */
#define MAPPED_SIZE ((size_t) 1 << 30)
/* No address that a CPU could have: reading there ends the program. */
#define FIRST_GPU_ADDRESS ((uint64_t) 1 << 56)

vm_size_t vm_page_size = 16384;

size_t
md_round_to_page (size_t size)
{
  return (size + vm_page_size - 1) / vm_page_size * vm_page_size;
}

MTLStorageMode
md_storage_mode (MTLResourceOptions options)
{
  return (options & MTLResourceStorageModeMask) >> MTLResourceStorageModeShift;
}

MTLHazardTrackingMode
md_hazard_tracking_mode (MTLResourceOptions    options,
                         MTLHazardTrackingMode otherwise)
{
  MTLHazardTrackingMode mode
    = (options & MTLResourceHazardTrackingModeMask) >> MTLResourceHazardTrackingModeShift;

  return mode == MTLHazardTrackingModeDefault ? otherwise : mode;
}

bool
md_options_are_valid (MDDevice          *device,
                      MTLResourceOptions options)
{
  const MTLResourceOptions known = MTLResourceCPUCacheModeMask | MTLResourceStorageModeMask
                                   | MTLResourceHazardTrackingModeMask;
  MTLStorageMode mode = md_storage_mode (options);

  if ((options & ~known) != 0 || mode > MTLStorageModeMemoryless
      || (options & MTLResourceCPUCacheModeMask) > MTLResourceCPUCacheModeWriteCombined
      || (options & MTLResourceHazardTrackingModeMask) == MTLResourceHazardTrackingModeMask)
    md_violation ("no such MTLResourceOptions: 0x%lx", (unsigned long) options);
  else if (mode == MTLStorageModeMemoryless)
    md_violation ("a memoryless buffer: that mode is for textures");
  else if (mode == MTLStorageModeManaged && device->config.without_managed)
    md_violation ("a managed buffer on a device without that mode");
  else
    return true;

  return false;
}

static void
poison (char  *memory,
        size_t size)
{
  if (size <= 2 * POISONED_END)
    {
      memset (memory, POISON, size);
      return;
    }

  memset (memory, POISON, POISONED_END);
  memset (memory + size - POISONED_END, POISON, POISONED_END);
}

static char *
allocate_poisoned (size_t size)
{
  char *memory;

  if (size >= MAPPED_SIZE)
    {
      memory = mmap (NULL, size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (memory == MAP_FAILED)
        return NULL;
    }
  else
    memory = aligned_alloc (vm_page_size, size);

  if (memory != NULL)
    poison (memory, size);
  return memory;
}

static void
free_memory (char  *memory,
             size_t size)
{
  if (size >= MAPPED_SIZE)
    munmap (memory, size);
  else
    free (memory);
}

/* The memory behind the buffer's end must not have changed. */
static bool
tail_is_poisoned (const char *memory,
                  size_t      length,
                  size_t      size)
{
  const char *tail = memory + length;

  if (length == size)
    return true;

  return (unsigned char) tail[0] == POISON && memcmp (tail, tail + 1, size - length - 1) == 0;
}

static uint64_t
take_gpu_addresses (size_t size)
{
  static uint64_t next = FIRST_GPU_ADDRESS;

  return __atomic_fetch_add (&next, size + vm_page_size, __ATOMIC_RELAXED);
}

/* Metal gives nil, and no reason. */
static bool
can_have_buffer (const MDBufferRequest *request)
{
  if (request->length == 0 || request->length > request->device->config.max_buffer_length)
    return false;
  if (request->wrapped == NULL)
    return true;

  return md_storage_mode (request->options) != MTLStorageModePrivate
         && (uintptr_t) request->wrapped % vm_page_size == 0
         && request->length % vm_page_size == 0;
}

static bool
allocate_copies (MDBuffer *buffer)
{
  MTLStorageMode mode = md_storage_mode (buffer->options);
  bool has_two_copies = mode == MTLStorageModeManaged && !buffer->device->config.unified;

  if (buffer->wrapped != NULL && !has_two_copies)
    buffer->gpu = buffer->wrapped;
  else
    buffer->gpu = allocate_poisoned (buffer->size);
  if (buffer->gpu == NULL)
    return false;

  if (mode == MTLStorageModePrivate || mode == MTLStorageModeMemoryless)
    return true;
  if (!has_two_copies)
    buffer->cpu = buffer->gpu;
  else if (buffer->wrapped != NULL)
    buffer->cpu = buffer->wrapped;
  else
    buffer->cpu = allocate_poisoned (buffer->size);

  return buffer->cpu != NULL;
}

static void
initialize_copies (MDBuffer   *buffer,
                   const void *bytes)
{
  if (bytes == NULL)
    return;

  if (buffer->gpu != bytes)
    memcpy (buffer->gpu, bytes, buffer->length);
  if (buffer->cpu != NULL && buffer->cpu != buffer->gpu && buffer->cpu != bytes)
    memcpy (buffer->cpu, bytes, buffer->length);
}

static bool
reserve (const MDBufferRequest *request,
         size_t                 size)
{
  if (request->heap != nil)
    return md_heap_reserve (request->heap, size);

  return md_device_reserve (request->device, size);
}

static id<MTLBuffer>
give_up (const MDBufferRequest *request)
{
  if (request->deallocator != nil && md_deallocates_on_failure ())
    request->deallocator (request->wrapped, request->length);
  return nil;
}

id<MTLBuffer>
md_buffer_new (const MDBufferRequest *request)
{
  size_t size = md_round_to_page (request->length);
  bool fails = md_fails ();
  MDBuffer *buffer;

  md_need_pool ("newBuffer…");
  if (!md_options_are_valid (request->device, request->options) || !can_have_buffer (request)
      || fails || !reserve (request, size))
    return give_up (request);

  buffer = [[MDBuffer alloc] initWithKind: MD_BUFFER];
  buffer->device = (MDDevice *) [request->device retain];
  buffer->heap = (MDHeap *) [request->heap retain];
  buffer->length = request->length;
  buffer->size = size;
  buffer->options = request->options;
  buffer->purgeable = MTLPurgeableStateNonVolatile;
  buffer->wrapped = request->wrapped;
  buffer->address = take_gpu_addresses (size);
  if (!allocate_copies (buffer))
    {
      [buffer release];
      return give_up (request);
    }

  buffer->deallocator = Block_copy (request->deallocator);
  initialize_copies (buffer, request->wrapped != NULL ? request->wrapped : request->bytes);
  return buffer;
}

static void
free_copy (MDBuffer *buffer,
           char     *memory)
{
  if (memory == NULL || memory == buffer->wrapped)
    return;

  if (!tail_is_poisoned (memory, buffer->length, buffer->size))
    md_violation ("somebody wrote beyond the end of a buffer of %lu bytes",
                  (unsigned long) buffer->length);
  free_memory (memory, buffer->size);
}

MTLPurgeableState
md_buffer_purgeable_state (MDBuffer *buffer)
{
  const MTLPurgeableState *state
    = buffer->heap != nil ? &buffer->heap->purgeable : &buffer->purgeable;

  return __atomic_load_n (state, __ATOMIC_ACQUIRE);
}

@implementation MDBuffer
@dynamic label;

- (void) dispose
{
  if (heap != nil)
    md_heap_unreserve (heap, size);
  else
    md_device_unreserve (device, size);

  if (deallocator != nil && !md_forgets_deallocators ())
    deallocator (wrapped, length);
  Block_release (deallocator);
  deallocator = nil;
  if (cpu != gpu)
    free_copy (self, cpu);
  free_copy (self, gpu);
  cpu = gpu = NULL;
  free (modified);
  [heap release];
  [device release];
}

- (id<MTLDevice>) device
{
  md_count (MD_CALL_DEVICE);
  return md_lend (device, "-[MTLBuffer device]");
}

- (id<MTLHeap>) heap
{
  return md_lend (heap, "-[MTLBuffer heap]");
}

- (NSUInteger) length
{
  md_count (MD_CALL_LENGTH);
  return length;
}

- (NSUInteger) allocatedSize
{
  return size;
}

- (uint64_t) gpuAddress
{
  return address;
}

- (MTLCPUCacheMode) cpuCacheMode
{
  return options & MTLResourceCPUCacheModeMask;
}

- (MTLStorageMode) storageMode
{
  md_count (MD_CALL_STORAGE_MODE);
  return md_storage_mode (options);
}

- (MTLHazardTrackingMode) hazardTrackingMode
{
  return md_hazard_tracking_mode (options, heap != nil ? MTLHazardTrackingModeUntracked
                                                       : MTLHazardTrackingModeTracked);
}

- (MTLResourceOptions) resourceOptions
{
  return options;
}

- (void *) contents
{
  md_count (MD_CALL_CONTENTS);
  if (cpu == NULL)
    md_violation ("contents of a buffer that the CPU cannot reach");
  return cpu;
}

- (void) didModifyRange: (NSRange) range
{
  md_count (MD_CALL_DID_MODIFY_RANGE);
  if (md_storage_mode (options) != MTLStorageModeManaged)
    md_violation ("didModifyRange: on a buffer that is not managed");
  else if (range.location > length || range.length > length - range.location)
    md_violation ("didModifyRange: of %lu bytes at %lu, beyond the end of a buffer of %lu",
                  (unsigned long) range.length, (unsigned long) range.location,
                  (unsigned long) length);
  else if (cpu != gpu)
    {
      pthread_mutex_lock (&md_lock);
      modified = realloc (modified, (n_modified + 1) * sizeof *modified);
      modified[n_modified++] = range;
      pthread_mutex_unlock (&md_lock);
    }
}

- (BOOL) respondsToSelector: (SEL) selector
{
  return (!sel_isEqual (selector, @selector (newTensorWithDescriptor:offset:error:))
          || md_has_macos (26, 0))
         && [super respondsToSelector: selector];
}

- (id<MTLTensor>) newTensorWithDescriptor: (MTLTensorDescriptor *) descriptor
                                   offset: (NSUInteger) offset
                                    error: (NSError **) error
{
  return md_tensor_new (self, descriptor, offset, error);
}

/* The worst case: what may be discarded is gone at once. */
- (void) discard
{
  if (wrapped != NULL)
    return;

  poison (gpu, length);
  if (cpu != NULL && cpu != gpu)
    poison (cpu, length);
}

- (MTLPurgeableState) setPurgeableState: (MTLPurgeableState) state
{
  MTLPurgeableState before = md_buffer_purgeable_state (self);
  bool discarding = state == MTLPurgeableStateVolatile || state == MTLPurgeableStateEmpty;
  bool used;

  md_count (MD_CALL_SET_PURGEABLE_STATE);
  /* Apple says of the heap alone what its state is. */
  if (heap != nil)
    {
      md_violation ("setPurgeableState: on a buffer of a heap");
      return before;
    }

  if (state == MTLPurgeableStateKeepCurrent)
    return before;

  pthread_mutex_lock (&md_lock);
  used = n_committed > 0;
  pthread_mutex_unlock (&md_lock);
  if (used && discarding)
    md_violation ("setPurgeableState: on a buffer that the GPU uses");
  if (discarding)
    [self discard];
  __atomic_store_n (&purgeable, discarding ? MTLPurgeableStateEmpty : state, __ATOMIC_RELEASE);
  return before;
}
@end
