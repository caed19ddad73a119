/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#import <Foundation/Foundation.h>
#import <Metal/Metal.h>
#include <TargetConditionals.h>
#include <mach/vm_page_size.h>
#include <objc/runtime.h>

#include "mtl-metal-bridge-private.h"
#import "mtl-metal-tensor-methods-private.h"

#include "mtl-error.h"

/* This file is compiled for Apple's Metal and for the test double, so it counts
 * references manually and only uses features of GCC's runtime.
 *
 * Each function has an autorelease pool. GLib's threads have none, and Metal
 * autoreleases objects in unexpected places, such as when a buffer is freed. */

#if __has_feature(objc_arc)
#error "This file counts references itself: compile it without -fobjc-arc"
#endif

/* TRUE while this thread is in mtl_metal_bridge_release(). */
static __thread gboolean is_releasing;

gpointer
mtl_metal_bridge_retain (gpointer object)
{
  @autoreleasepool
    {
      return [(id) object retain];
    }
}

void
mtl_metal_bridge_release (gpointer object)
{
  gboolean was_releasing = is_releasing;

  is_releasing = TRUE;
  @autoreleasepool
    {
      [(id) object release];
    }
  is_releasing = was_releasing;
}

GPtrArray *
mtl_metal_bridge_new_devices (void)
{
  GPtrArray *devices = g_ptr_array_new_with_free_func (mtl_metal_bridge_release);

  @autoreleasepool
    {
      NSArray *list = MTLCopyAllDevices ();

      for (id<MTLDevice> device in list)
        g_ptr_array_add (devices, [device retain]);
      [list release];
    }

  return devices;
}

gpointer
mtl_metal_bridge_new_default_device (void)
{
  @autoreleasepool
    {
      return MTLCreateSystemDefaultDevice ();
    }
}

/* According to Metal's reference, blits on macOS need whole words of 4 bytes.
 * Apple's GPUs work without. */
void
mtl_metal_bridge_describe_device (gpointer            device,
                                  MtlMetalDeviceInfo *info)
{
  id<MTLDevice> metal = device;

  @autoreleasepool
    {
      *info = (MtlMetalDeviceInfo) {
        .name = g_strdup ([[metal name] UTF8String]),
        .max_buffer_size = [metal maxBufferLength],
        .unified_memory = [metal hasUnifiedMemory],
        .blits_bytes = [metal supportsFamily: MTLGPUFamilyApple1],
      };
    }
}

guint64
mtl_metal_bridge_get_registry_id (gpointer device)
{
  @autoreleasepool
    {
      return [(id<MTLDevice>) device registryID];
    }
}

gsize
mtl_metal_bridge_get_page_size (void)
{
  return vm_page_size;
}

gboolean
mtl_metal_bridge_has_managed_mode (void)
{
#if TARGET_OS_OSX
  return TRUE;
#else
  return FALSE;
#endif
}

/* SDK 27 deprecates everything about Managed memory, which discrete GPUs need. macOS 26 is the
 * last system to support them. */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"

static MTLResourceOptions
options_for_mode (MtlStorageMode mode)
{
  switch (mode)
    {
    case MTL_STORAGE_MODE_PRIVATE:
      return MTLResourceStorageModePrivate;
#if TARGET_OS_OSX
    case MTL_STORAGE_MODE_MANAGED:
      return MTLResourceStorageModeManaged;
#endif
    default:
      return MTLResourceStorageModeShared;
    }
}

static MtlStorageMode
mode_of_resource (id<MTLResource> resource)
{
  switch ([resource storageMode])
    {
    case MTLStorageModeShared:
      return MTL_STORAGE_MODE_SHARED;
#if TARGET_OS_OSX
    case MTLStorageModeManaged:
      return MTL_STORAGE_MODE_MANAGED;
#endif
    default:
      return MTL_STORAGE_MODE_PRIVATE;
    }
}

#pragma clang diagnostic pop

gpointer
mtl_metal_bridge_new_buffer (gpointer       device,
                             gsize          size,
                             MtlStorageMode mode)
{
  @autoreleasepool
    {
      return [(id<MTLDevice>) device newBufferWithLength: size options: options_for_mode (mode)];
    }
}

/* Holds the owner of memory that Metal uses in place. It ends once, when Metal drops its last
 * reference to the buffer. Before it is armed it does not end, as Metal may call the deallocator
 * even if it did not create the buffer. */
@interface MtlMetalLease : NSObject
{
@public
  MtlOwner *owner;
}
- (void) end;
@end

@implementation MtlMetalLease
/* The owner ends here if this library dropped the last reference. Otherwise this may be Metal's
 * thread, which must not wait for a lock, such as Python's, while its holder waits for the GPU. */
- (void) end
{
  MtlOwner *once = __atomic_exchange_n (&owner, NULL, __ATOMIC_ACQ_REL);

  if (once == NULL)
    return;

  if (is_releasing)
    mtl_owner_end (once);
  else
    mtl_owner_end_later (once);
}

/* Ends the owner even if Metal has not called the deallocator. */
- (void) dealloc
{
  [self end];
  [super dealloc];
}
@end

/* Takes the owner if it returns a buffer. */
gpointer
mtl_metal_bridge_new_buffer_no_copy (gpointer       device,
                                     gpointer       data,
                                     gsize          size,
                                     MtlOwner      *owner)
{
  @autoreleasepool
    {
      MtlMetalLease *lease = [[MtlMetalLease alloc] init];
      void (^ended) (void *, NSUInteger) = ^(void *pointer, NSUInteger length) {
        [lease end];
      };
      id<MTLBuffer> buffer = nil;

      buffer = [(id<MTLDevice>) device newBufferWithBytesNoCopy: data
                                                         length: size
                                                        options: MTLResourceStorageModeShared
                                                    deallocator: ended];
      if (buffer != nil)
        __atomic_store_n (&lease->owner, owner, __ATOMIC_RELEASE);

      [lease release]; /* the deallocator has a reference */
      return buffer;
    }
}

/* Rejects addresses that cannot be objects, without sending them a message. PyTorch before 2.10
 * exported slices as the address of the MTLBuffer plus the offset in bytes. */
gboolean
mtl_metal_bridge_may_be_object (gpointer pointer)
{
  return pointer != NULL && (guintptr) pointer % 16 == 0;
}

/* Looks up the protocol by name: with GCC's runtime @protocol () is empty
 * unless a class in this file adopts it. Remembers the class, as the lookup is
 * slow. */
static gboolean
conforms (id          object,
          const char *protocol,
          gpointer   *known)
{
  gpointer class;

  if (!mtl_metal_bridge_may_be_object (object))
    return FALSE;

  class = object_getClass (object);
  if (class != Nil && class == g_atomic_pointer_get (known))
    return TRUE;

  if (![object conformsToProtocol: objc_getProtocol (protocol)])
    return FALSE;

  g_atomic_pointer_set (known, class);
  return TRUE;
}

/* The contents of purgeable memory may be discarded at any time. For a buffer
 * in a heap, the state is the heap's. */
static gboolean
is_purgeable (id<MTLBuffer> buffer)
{
  id<MTLHeap> heap = [buffer heap];
  MTLPurgeableState state = heap != nil
                              ? [heap setPurgeableState: MTLPurgeableStateKeepCurrent]
                              : [buffer setPurgeableState: MTLPurgeableStateKeepCurrent];

  return state == MTLPurgeableStateVolatile || state == MTLPurgeableStateEmpty;
}

gboolean
mtl_metal_bridge_is_purgeable (gpointer buffer)
{
  @autoreleasepool
    {
      return is_purgeable (buffer);
    }
}

/* Returns FALSE if the object is not a buffer. */
gboolean
mtl_metal_bridge_inspect_buffer (gpointer            object,
                                 MtlMetalBufferInfo *info)
{
  static gpointer known;
  id<MTLBuffer> buffer = object;

  @autoreleasepool
    {
      MtlStorageMode mode;

      if (!conforms (object, "MTLBuffer", &known))
        return FALSE;

      mode = mode_of_resource (buffer);
      *info = (MtlMetalBufferInfo) {
        .device = [buffer device],
        .size = [buffer length],
        .contents = mode != MTL_STORAGE_MODE_PRIVATE ? [buffer contents] : NULL,
        .storage_mode = mode,
        .purgeable = is_purgeable (buffer),
      };
      return TRUE;
    }
}

gsize
mtl_metal_bridge_get_size (gpointer buffer)
{
  @autoreleasepool
    {
      return [(id<MTLBuffer>) buffer length];
    }
}

/* The memory must not be private. */
gpointer
mtl_metal_bridge_get_contents (gpointer buffer)
{
  @autoreleasepool
    {
      return [(id<MTLBuffer>) buffer contents];
    }
}

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"

void
mtl_metal_bridge_did_modify (gpointer buffer,
                             gsize    offset,
                             gsize    size)
{
#if TARGET_OS_OSX
  @autoreleasepool
    {
      [(id<MTLBuffer>) buffer didModifyRange: NSMakeRange (offset, size)];
    }
#endif
}

#pragma clang diagnostic pop

gpointer
mtl_metal_bridge_new_queue (gpointer device)
{
  @autoreleasepool
    {
      return [(id<MTLDevice>) device newCommandQueue];
    }
}

gboolean
mtl_metal_bridge_is_queue (gpointer object,
                           gpointer device)
{
  static gpointer known;

  @autoreleasepool
    {
      return conforms (object, "MTLCommandQueue", &known)
             && [[(id<MTLCommandQueue>) object device] registryID]
                  == [(id<MTLDevice>) device registryID];
    }
}

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"

static void
encode (id<MTLBlitCommandEncoder>  blit,
        const MtlMetalCommand     *command)
{
  switch (command->kind)
    {
    case MTL_METAL_COPY:
      [blit copyFromBuffer: command->source
              sourceOffset: command->source_offset
                  toBuffer: command->dest
         destinationOffset: command->dest_offset
                      size: command->size];
      break;
    case MTL_METAL_FILL:
      [blit fillBuffer: command->dest
                 range: NSMakeRange (command->dest_offset, command->size)
                 value: command->value];
      break;
    case MTL_METAL_SYNCHRONIZE:
#if TARGET_OS_OSX
      [blit synchronizeResource: command->dest];
#endif
      break;
    }
}

#pragma clang diagnostic pop

static void
encode_in_pieces (id<MTLBlitCommandEncoder>  blit,
                  const MtlMetalCommand     *command)
{
  MtlMetalCommand piece = *command;

  for (gsize left = command->size; left > MTL_METAL_MAX_COMMAND_SIZE; left = piece.size)
    {
      piece.size = MTL_METAL_MAX_COMMAND_SIZE;
      encode (blit, &piece);
      piece.source_offset += piece.size;
      piece.dest_offset += piece.size;
      piece.size = left - piece.size;
    }

  encode (blit, &piece);
}

static gboolean
check_completed (id<MTLCommandBuffer>   buffer,
                 GError               **error)
{
  NSError *failure = [buffer error];
  gboolean no_memory;

  if ([buffer status] == MTLCommandBufferStatusCompleted)
    return TRUE;

  no_memory = failure != nil && [failure code] == MTLCommandBufferErrorOutOfMemory
              && [[failure domain] isEqualToString: MTLCommandBufferErrorDomain];
  g_set_error (error, MTL_ERROR, no_memory ? MTL_ERROR_NO_MEMORY : MTL_ERROR_DEVICE,
               "Metal could not run a command buffer: %s (code %ld)",
               failure != nil ? [[failure localizedDescription] UTF8String] : "no reason given",
               failure != nil ? (long) [failure code] : (long) [buffer status]);
  return FALSE;
}

/* Runs the commands in one command buffer, after all earlier work of the queue,
 * and waits. */
gboolean
mtl_metal_bridge_run (gpointer                queue,
                      const MtlMetalCommand  *commands,
                      gsize                   n_commands,
                      GError                **error)
{
  @autoreleasepool
    {
      id<MTLCommandBuffer> buffer = [(id<MTLCommandQueue>) queue commandBuffer];
      id<MTLBlitCommandEncoder> blit = [buffer blitCommandEncoder];

      if (blit == nil)
        {
          g_set_error (error, MTL_ERROR, MTL_ERROR_DEVICE,
                       "Metal did not create a command buffer for %" G_GSIZE_FORMAT " commands",
                       n_commands);
          return FALSE;
        }

      for (gsize i = 0; i < n_commands; i++)
        encode_in_pieces (blit, &commands[i]);
      [blit endEncoding];
      [buffer commit];
      [buffer waitUntilCompleted];
      return check_completed (buffer, error);
    }
}

gboolean
mtl_metal_bridge_queue_event (gpointer   queue,
                              gpointer   event,
                              guint64    value,
                              gboolean   signals,
                              GError   **error)
{
  @autoreleasepool
    {
      id<MTLCommandBuffer> buffer = [(id<MTLCommandQueue>) queue commandBuffer];

      if (buffer == nil)
        {
          g_set_error (error, MTL_ERROR, MTL_ERROR_DEVICE,
                       "Metal did not create a command buffer for the value %" G_GUINT64_FORMAT
                       " of an event", value);
          return FALSE;
        }

      if (signals)
        [buffer encodeSignalEvent: (id<MTLSharedEvent>) event value: value];
      else
        [buffer encodeWaitForEvent: (id<MTLSharedEvent>) event value: value];
      [buffer commit];
      return TRUE;
    }
}

gpointer
mtl_metal_bridge_new_event (gpointer device)
{
  @autoreleasepool
    {
      return [(id<MTLDevice>) device newSharedEvent];
    }
}

gboolean
mtl_metal_bridge_is_event (gpointer object)
{
  static gpointer known;

  @autoreleasepool
    {
      return conforms (object, "MTLSharedEvent", &known);
    }
}

guint64
mtl_metal_bridge_get_event_value (gpointer event)
{
  @autoreleasepool
    {
      return [(id<MTLSharedEvent>) event signaledValue];
    }
}

void
mtl_metal_bridge_set_event_value (gpointer event,
                                  guint64  value)
{
  @autoreleasepool
    {
      [(id<MTLSharedEvent>) event setSignaledValue: value];
    }
}

/* Returns whether the value was reached in time. */
gboolean
mtl_metal_bridge_wait_event (gpointer event,
                             guint64  value,
                             guint64  milliseconds)
{
  @autoreleasepool
    {
      return [(id<MTLSharedEvent>) event waitUntilSignaledValue: value timeoutMS: milliseconds];
    }
}

/* Programs built with an older SDK, as many Pythons were, see macOS 26 and later as macOS
 * 16. */
guint
mtl_metal_bridge_get_tensor_system (void)
{
  @autoreleasepool
    {
      Class<MtlMetalProcessInfo> process_class = (Class) objc_getClass ("NSProcessInfo");
      MtlMetalSystemVersion version = [[process_class processInfo] operatingSystemVersion];

      if (objc_getClass ("MTLTensorDescriptor") == Nil || objc_getClass ("MTLTensorExtents") == Nil)
        return 0;

      return version.major >= 26 ? MTL_MACOS (version.major, version.minor) : MTL_MACOS_UNKNOWN;
    }
}

static id
new_extents (const gint64 *values,
             guint         n_values)
{
  NSInteger extents[MTL_METAL_TENSOR_MAX_DIMS];

  for (guint i = 0; i < n_values; i++)
    extents[i] = values[i];

  return [(id<MtlMetalTensorExtents>) [objc_getClass ("MTLTensorExtents") alloc]
    initWithRank: n_values values: extents];
}

static id
new_descriptor (const MtlMetalTensor *description,
                MtlMetalTensorUsage        usage,
                MTLResourceOptions    options)
{
  id<MtlMetalTensorDescriptor> descriptor = [[objc_getClass ("MTLTensorDescriptor") alloc] init];
  id dimensions = new_extents (description->dims, description->n_dims);
  id strides = new_extents (description->strides, description->n_dims);

  [descriptor setDimensions: dimensions];
  [descriptor setStrides: strides];
  [descriptor setDataType: description->data_type];
  [descriptor setUsage: usage];
  [descriptor setResourceOptions: options];
  [dimensions release];
  [strides release];
  return descriptor;
}

/* The system must have tensors. */
gpointer
mtl_metal_bridge_new_tensor (gpointer               buffer,
                             const MtlMetalTensor  *description,
                             MtlMetalTensorUsage         usage,
                             GError               **error)
{
  @autoreleasepool
    {
      id descriptor = nil, tensor = nil;
      NSError *failure = nil;

      if ([(id) buffer respondsToSelector: @selector (newTensorWithDescriptor:offset:error:)])
        {
          descriptor = new_descriptor (description, usage,
                                       [(id<MTLBuffer>) buffer resourceOptions]);
          tensor = [(id<MtlMetalTensorSource>) buffer newTensorWithDescriptor: descriptor
                                                                       offset: description->byte_offset
                                                                        error: &failure];
          [descriptor release];
        }

      if (tensor == nil)
        g_set_error (error, MTL_ERROR, MTL_ERROR_DEVICE,
                     "Metal did not create an MTLTensor: %s (code %ld)",
                     failure != nil ? [[failure localizedDescription] UTF8String]
                                    : "no reason given",
                     failure != nil ? (long) [failure code] : 0L);
      return tensor;
    }
}

static void
take_extents (id<MtlMetalTensorExtents>  extents,
              guint                      n_values,
              gint64                    *values)
{
  for (guint i = 0; i < n_values; i++)
    values[i] = [extents extentAtDimensionIndex: i];
}

static void
inspect_tensor (id<MtlMetalTensorResource>  tensor,
                MtlMetalTensorInfo         *info)
{
  id<MtlMetalTensorExtents> dimensions = [tensor dimensions];
  id<MtlMetalTensorExtents> strides = [tensor strides];
  guint n_dims = MIN ([dimensions rank], MTL_METAL_TENSOR_MAX_DIMS);

  *info = (MtlMetalTensorInfo) {
    .buffer = [tensor buffer],
    .has_strides = strides != nil,
    .description = {
      .n_dims = n_dims,
      .data_type = [tensor dataType],
      .byte_offset = [tensor bufferOffset],
    },
  };
  take_extents (dimensions, n_dims, info->description.dims);
  take_extents (strides, n_dims, info->description.strides);
  if ([(id) tensor respondsToSelector: @selector (auxiliaryPlanes)])
    info->n_planes = [[tensor auxiliaryPlanes] count];
}

/* Returns FALSE if the object is not a tensor. */
gboolean
mtl_metal_bridge_inspect_tensor (gpointer            object,
                                 MtlMetalTensorInfo *info)
{
  static gpointer known;

  @autoreleasepool
    {
      if (!conforms (object, "MTLTensor", &known))
        return FALSE;

      inspect_tensor (object, info);
      return TRUE;
    }
}
