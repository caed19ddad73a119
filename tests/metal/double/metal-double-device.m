/* SPDX-License-Identifier: LGPL-2.1-or-later */

#import "metal-double-private.h"

NSString *const MTLLibraryErrorDomain = @"MTLLibraryErrorDomain";

#define DEFAULT_MAX_BUFFER_LENGTH ((size_t) 1 << 30)
#define DEFAULT_WORKING_SET ((uint64_t) 4 << 30)
/* The limit of -newCommandQueue. */
#define DEFAULT_COMMAND_BUFFERS 64

bool
md_device_reserve (MDDevice *device,
                   size_t    size)
{
  const MetalDoubleDevice *config = &device->config;
  bool fits;

  pthread_mutex_lock (&md_lock);
  fits = (config->max_buffers == 0 || device->n_buffers < config->max_buffers)
         && (config->memory == 0
             || (device->allocated <= config->memory
                 && size <= config->memory - device->allocated));
  if (fits)
    {
      device->allocated += size;
      device->n_buffers++;
    }
  pthread_mutex_unlock (&md_lock);
  return fits;
}

void
md_device_unreserve (MDDevice *device,
                     size_t    size)
{
  pthread_mutex_lock (&md_lock);
  device->allocated -= size;
  device->n_buffers--;
  pthread_mutex_unlock (&md_lock);
}

static id
no_kernels (NSError **error)
{
  NSString *text = @"The double of Metal runs no kernels";
  NSDictionary *info;

  if (!md_need_pool ("an NSError of a library") || error == NULL)
    return nil;

  info = [NSDictionary dictionaryWithObject: text forKey: NSLocalizedDescriptionKey];
  *error = [NSError errorWithDomain: MTLLibraryErrorDomain
                               code: MTLLibraryErrorUnsupported
                           userInfo: info];
  return nil;
}

@implementation MTLCompileOptions
@end

@implementation MDDevice
+ (MDDevice *) newWithConfig: (const MetalDoubleDevice *) device_config
{
  MDDevice *device = [[MDDevice alloc] initWithKind: MD_DEVICE];

  device->config = *device_config;
  device->name = [[NSString alloc] initWithUTF8String: device_config->name];
  device->config.name = NULL;
  if (device->config.max_buffer_length == 0)
    device->config.max_buffer_length = DEFAULT_MAX_BUFFER_LENGTH;
  return device;
}

- (void) dispose
{
  [name release];
}

- (NSString *) name
{
  return md_lend (name, "-[MTLDevice name]");
}

- (uint64_t) registryID
{
  return config.registry_id;
}

- (BOOL) isLowPower
{
  return NO;
}

- (BOOL) isHeadless
{
  return NO;
}

- (BOOL) isRemovable
{
  return NO;
}

- (BOOL) hasUnifiedMemory
{
  return config.unified;
}

- (BOOL) supportsFamily: (MTLGPUFamily) family
{
  bool apple = config.unified && !config.without_apple_family;

  switch (family)
    {
    case MTLGPUFamilyApple1:
    case MTLGPUFamilyApple7:
      return apple;
    case MTLGPUFamilyMac2:
    case MTLGPUFamilyCommon1:
      return !config.without_managed || family == MTLGPUFamilyCommon1;
    }
  /* The others, which nothing here depends on: Apple's, the common ones, Metal3 and Metal4. */
  if (family > MTLGPUFamilyApple1 && family <= 1010)
    return apple && family < MTLGPUFamilyApple7;
  if (family == 3002 || family == 3003)
    return true;
  if (family == 5001 || family == 5002)
    return false;

  md_violation ("no such MTLGPUFamily: %ld", (long) family);
  return NO;
}

- (uint64_t) recommendedMaxWorkingSetSize
{
  return config.memory > 0 ? config.memory : DEFAULT_WORKING_SET;
}

- (NSUInteger) maxBufferLength
{
  return config.max_buffer_length;
}

- (NSUInteger) currentAllocatedSize
{
  NSUInteger size;

  pthread_mutex_lock (&md_lock);
  size = allocated;
  pthread_mutex_unlock (&md_lock);
  return size;
}

- (id<MTLCommandQueue>) newCommandQueue
{
  return [self newCommandQueueWithMaxCommandBufferCount: DEFAULT_COMMAND_BUFFERS];
}

- (id<MTLCommandQueue>) newCommandQueueWithMaxCommandBufferCount: (NSUInteger) count
{
  md_count (MD_CALL_NEW_QUEUE);
  md_need_pool ("newCommandQueue");
  md_meet (MD_CALL_NEW_QUEUE);
  return md_fails () ? nil : [MDCommandQueue newOnDevice: self limit: count];
}

- (id<MTLHeap>) newHeapWithDescriptor: (MTLHeapDescriptor *) descriptor
{
  md_need_pool ("newHeapWithDescriptor:");
  return [MDHeap newOnDevice: self withDescriptor: descriptor];
}

- (id<MTLBuffer>) newBufferWithLength: (NSUInteger) length options: (MTLResourceOptions) options
{
  md_count (MD_CALL_NEW_BUFFER);
  return md_buffer_new (&(MDBufferRequest) {
    .device = self,
    .length = length,
    .options = options,
  });
}

- (id<MTLBuffer>) newBufferWithBytes: (const void *) bytes
                              length: (NSUInteger) length
                             options: (MTLResourceOptions) options
{
  md_count (MD_CALL_NEW_BUFFER_BYTES);
  if (bytes == NULL)
    md_violation ("newBufferWithBytes: without bytes");
  if (md_storage_mode (options) == MTLStorageModePrivate)
    md_violation ("newBufferWithBytes: for a private buffer");
  return md_buffer_new (&(MDBufferRequest) {
    .device = self,
    .length = length,
    .options = options,
    .bytes = bytes,
  });
}

- (id<MTLBuffer>) newBufferWithBytesNoCopy: (void *) memory
                                    length: (NSUInteger) length
                                   options: (MTLResourceOptions) options
                               deallocator: (void (^) (void *, NSUInteger)) block
{
  md_count (MD_CALL_NEW_BUFFER_NO_COPY);
  if (memory == NULL)
    {
      md_violation ("newBufferWithBytesNoCopy: without memory");
      return nil;
    }

  return md_buffer_new (&(MDBufferRequest) {
    .device = self,
    .length = length,
    .options = options,
    .wrapped = memory,
    .deallocator = block,
  });
}

- (id<MTLSharedEvent>) newSharedEvent
{
  md_count (MD_CALL_NEW_EVENT);
  md_need_pool ("newSharedEvent");
  return md_fails () ? nil : [[MDSharedEvent alloc] initWithKind: MD_EVENT];
}

- (id<MTLLibrary>) newLibraryWithSource: (NSString *) source
                                options: (MTLCompileOptions *) options
                                  error: (NSError **) error
{
  (void) source;
  (void) options;
  return no_kernels (error);
}

- (id<MTLComputePipelineState>) newComputePipelineStateWithFunction: (id<MTLFunction>) function
                                                              error: (NSError **) error
{
  (void) function;
  return no_kernels (error);
}
@end
