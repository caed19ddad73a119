/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Encoders of blits. */

#import "metal-double-private.h"

/* The bytes that a blit of a discrete GPU moves at a time. */
#define BLIT_WORD 4

@implementation MDBlitEncoder
@dynamic label;

+ (MDBlitEncoder *) newOnCommands: (MDCommandBuffer *) c
{
  MDBlitEncoder *encoder = [[MDBlitEncoder alloc] initWithKind: MD_ENCODER];

  encoder->commands = (MDCommandBuffer *) [c retain];
  return encoder;
}

- (void) dispose
{
  if (!closed)
    {
      md_violation ("a command encoder was released without endEncoding");
      commands->encoder = nil;
    }
  [commands release];
}

- (id<MTLDevice>) device
{
  return md_lend (commands->queue->device, "-[MTLCommandEncoder device]");
}

/* True if the command may use the buffer at all. */
- (bool) mayUse: (id<MTLResource>) resource
{
  MDBuffer *buffer = (MDBuffer *) resource;

  if (closed)
    md_violation ("encoding after endEncoding");
  else if (resource == nil || ![(id) resource isKindOfClass: [MDBuffer class]])
    md_violation ("encoding without a buffer");
  else if (buffer->device != commands->queue->device)
    md_violation ("encoding with a buffer of another device");
  else if (md_storage_mode (buffer->options) == MTLStorageModeMemoryless)
    md_violation ("encoding with a memoryless buffer");
  else if (md_buffer_purgeable_state (buffer) != MTLPurgeableStateNonVolatile)
    md_violation ("encoding with a buffer that is volatile or empty");
  else
    return true;

  return false;
}

- (bool) mayBlit: (id<MTLBuffer>) resource at: (NSUInteger) offset size: (NSUInteger) size
{
  MDBuffer *buffer = (MDBuffer *) resource;

  if (![self mayUse: resource])
    return false;

  if (offset > buffer->length || size > buffer->length - offset || size == 0)
    md_violation ("a blit of %lu bytes at %lu in a buffer of %lu", (unsigned long) size,
                  (unsigned long) offset, (unsigned long) buffer->length);
  else if (![buffer->device supportsFamily: MTLGPUFamilyApple1]
           && (offset % BLIT_WORD != 0 || size % BLIT_WORD != 0))
    md_violation ("a blit of %lu bytes at %lu, not in multiples of 4, on a GPU not of Apple's",
                  (unsigned long) size, (unsigned long) offset);
  else
    return true;

  return false;
}

- (void) copyFromBuffer: (id<MTLBuffer>) source
           sourceOffset: (NSUInteger) from
               toBuffer: (id<MTLBuffer>) destination
      destinationOffset: (NSUInteger) to
                   size: (NSUInteger) size
{
  md_count (MD_CALL_COPY);
  if (![self mayBlit: source at: from size: size]
      || ![self mayBlit: destination at: to size: size])
    return;

  if (source == destination && from < to + size && to < from + size)
    {
      md_violation ("a blit of %lu bytes from %lu to %lu of one buffer: they overlap",
                    (unsigned long) size, (unsigned long) from, (unsigned long) to);
      return;
    }

  [commands addOperation: (MDOperation) {
    .kind = MD_COPY,
    .a = (MDObject *) source,
    .b = (MDObject *) destination,
    .from = from,
    .to = to,
    .size = size,
  }];
}

- (void) fillBuffer: (id<MTLBuffer>) buffer range: (NSRange) range value: (uint8_t) value
{
  md_count (MD_CALL_FILL);
  if (![self mayBlit: buffer at: range.location size: range.length])
    return;

  [commands addOperation: (MDOperation) {
    .kind = MD_FILL,
    .a = (MDObject *) buffer,
    .from = range.location,
    .size = range.length,
    .value = value,
  }];
}

- (void) synchronizeResource: (id<MTLResource>) resource
{
  md_count (MD_CALL_SYNCHRONIZE_RESOURCE);
  if (![self mayUse: resource])
    return;

  if (md_storage_mode (((MDBuffer *) resource)->options) != MTLStorageModeManaged)
    {
      md_violation ("synchronizeResource: on a resource that is not managed");
      return;
    }

  [commands addOperation: (MDOperation) { .kind = MD_SYNCHRONIZE, .a = (MDObject *) resource }];
}

- (void) endEncoding
{
  md_count (MD_CALL_END_ENCODING);
  if (closed)
    {
      md_violation ("endEncoding twice");
      return;
    }

  closed = true;
  commands->encoder = nil;
}
@end
