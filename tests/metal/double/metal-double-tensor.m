/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tensors over buffers, by what MTLTensor.h of the SDKs for macOS 26.0 to 27.0 asks of them. */

#import "metal-double-private.h"

#include <objc/runtime.h>
#include <stdlib.h>
#include <string.h>

NSString *const MTLTensorDomain = @"MTLTensorDomain";

#define MAX_RANK 16

@implementation MTLTensorExtents
- (id) initWithRank: (NSUInteger) extentsRank values: (const NSInteger *) extentsValues
{
  self = [super init];
  if (extentsRank > MAX_RANK || (extentsRank > 0 && extentsValues == NULL))
    {
      [self release];
      return nil;
    }

  rank = extentsRank;
  values = calloc (rank + 1, sizeof *values);
  if (rank > 0)
    memcpy (values, extentsValues, rank * sizeof *values);
  return self;
}

- (void) dealloc
{
  free (values);
  [super dealloc];
}

/* They never change. */
- (id) copyWithZone: (NSZone *) zone
{
  (void) zone;
  return [self retain];
}

- (NSUInteger) rank
{
  return rank;
}

- (NSInteger) extentAtDimensionIndex: (NSUInteger) dimensionIndex
{
  return dimensionIndex < rank ? values[dimensionIndex] : -1;
}
@end

@implementation MTLTensorDescriptor
- (id) init
{
  const NSInteger one = 1;

  self = [super init];
  dimensions = [[MTLTensorExtents alloc] initWithRank: 1 values: &one];
  dataType = MTLTensorDataTypeFloat32;
  usage = MTLTensorUsageCompute | MTLTensorUsageRender;
  return self;
}

- (void) dealloc
{
  [dimensions release];
  [strides release];
  [super dealloc];
}

- (id) copyWithZone: (NSZone *) zone
{
  MTLTensorDescriptor *copy = [[MTLTensorDescriptor allocWithZone: zone] init];

  [copy setDimensions: dimensions];
  [copy setStrides: strides];
  [copy setDataType: dataType];
  [copy setUsage: usage];
  [copy setResourceOptions: resourceOptions];
  return copy;
}

- (MTLTensorExtents *) dimensions
{
  return md_lend (dimensions, "-[MTLTensorDescriptor dimensions]");
}

- (void) setDimensions: (MTLTensorExtents *) extents
{
  [extents retain];
  [dimensions release];
  dimensions = extents;
}

- (MTLTensorExtents *) strides
{
  return md_lend (strides, "-[MTLTensorDescriptor strides]");
}

- (void) setStrides: (MTLTensorExtents *) extents
{
  [extents retain];
  [strides release];
  strides = extents;
}

- (MTLTensorDataType) dataType
{
  return dataType;
}

- (void) setDataType: (MTLTensorDataType) type
{
  dataType = type;
}

- (MTLTensorUsage) usage
{
  return usage;
}

- (void) setUsage: (MTLTensorUsage) contexts
{
  usage = contexts;
}

- (MTLResourceOptions) resourceOptions
{
  return resourceOptions;
}

- (void) setResourceOptions: (MTLResourceOptions) options
{
  resourceOptions = options;
}
@end

/* The bits of an element, or 0 if this system has no tensors of the type. */
static unsigned
bits_of_type (MTLTensorDataType type,
              bool             *is_format)
{
  *is_format = false;
  switch (type)
    {
    case MTLTensorDataTypeFloat32:
    case MTLTensorDataTypeInt32:
    case MTLTensorDataTypeUInt32:
      return 32;
    case MTLTensorDataTypeFloat16:
    case MTLTensorDataTypeBFloat16:
    case MTLTensorDataTypeInt16:
    case MTLTensorDataTypeUInt16:
      return 16;
    case MTLTensorDataTypeInt8:
    case MTLTensorDataTypeUInt8:
      return 8;
    default:
      break;
    }

  *is_format = true;
  switch (type)
    {
    case MTLTensorDataTypeInt4:
    case MTLTensorDataTypeUInt4:
      return md_has_macos (26, 4) ? 4 : 0;
    case MTLTensorDataTypeInt2:
    case MTLTensorDataTypeUInt2:
      return md_has_macos (27, 0) ? 2 : 0;
    case MTLTensorDataTypeMetalFloat4E2M1:
      return md_has_macos (27, 0) ? 4 : 0;
    case MTLTensorDataTypeMetalFloat8E4M3:
    case MTLTensorDataTypeMetalFloat8E5M2:
      return md_has_macos (27, 0) ? 8 : 0;
    default: /* MetalFloat8UE8M0 is for scales only */
      return 0;
    }
}

typedef struct
{
  unsigned bits;
  bool is_format, machine_learning;
  NSUInteger rank;
  NSInteger dims[MAX_RANK], strides[MAX_RANK];
} Form;

/* Returns the fault of the strides, or nil. They are in the order of memory; the offset of the last
 * element is added up. */
static NSString *
check_strides (const Form *form,
               __int128   *last)
{
  *last = 0;
  for (NSUInteger i = 0; i < form->rank; i++)
    {
      __int128 bits = (__int128) form->strides[i] * form->bits;
      __int128 within = i > 0 ? (__int128) form->strides[i - 1] * form->dims[i - 1] : 1;

      if (form->dims[i] <= 0)
        return @"each dimension has to be greater than 0";
      if (i == 0 && form->strides[i] != 1)
        return @"the first stride has to be 1";
      if (form->strides[i] < within)
        return @"strides[i] has to be at least strides[i-1] * dimensions[i-1]";
      if (i > 0 && form->is_format && bits % (128 * 8) != 0)
        return @"strides have to be multiples of 128 bytes";
      if (i == 1 && form->machine_learning && bits % (64 * 8) != 0)
        return @"the second stride has to be a multiple of 64 bytes";
      if (i > 1 && form->machine_learning && form->strides[i] != within)
        return @"strides[i] has to be strides[i-1] * dimensions[i-1]";
      *last += (__int128) (form->dims[i] - 1) * form->strides[i];
    }

  return nil;
}

static NSString *
check_form (const Form *form,
            NSUInteger  offset,
            NSUInteger  length)
{
  __int128 last;
  NSString *reason = check_strides (form, &last);

  if (reason != nil)
    return reason;
  if (form->is_format && form->rank == 0)
    return @"a tensor of this type has at least one dimension";
  if (form->is_format && form->dims[0] % 32 != 0)
    return @"the first dimension has to be a multiple of 32";
  if (form->machine_learning && offset != 0)
    return @"the offset has to be 0";
  if (offset % (form->is_format ? 128 : form->bits / 8) != 0)
    return @"the offset is not aligned";
  if (offset + ((last + 1) * form->bits + 7) / 8 > length)
    return @"the tensor is larger than the buffer";

  return nil;
}

/* Returns the fault of the descriptor, or nil. */
static NSString *
check_descriptor (MTLTensorDescriptor *descriptor,
                  NSUInteger           offset,
                  MDBuffer            *buffer)
{
  MTLTensorExtents *dimensions = [descriptor dimensions], *strides = [descriptor strides];
  MTLTensorUsage usage = [descriptor usage];
  Form form = { .rank = [dimensions rank],
                .machine_learning = (usage & MTLTensorUsageMachineLearning) != 0 };

  form.bits = bits_of_type ([descriptor dataType], &form.is_format);
  if (form.bits == 0)
    return @"there are no tensors of this data type";
  if (usage == 0 || usage > 7)
    return @"there is no such usage";
  if (dimensions == nil || strides == nil || [strides rank] != form.rank)
    return @"there are as many strides as dimensions";
  if ([descriptor resourceOptions] != buffer->options)
    return @"the resource options are not the buffer's";

  for (NSUInteger i = 0; i < form.rank; i++)
    {
      form.dims[i] = [dimensions extentAtDimensionIndex: i];
      form.strides[i] = [strides extentAtDimensionIndex: i];
    }
  return check_form (&form, offset, buffer->length);
}

static id<MTLTensor>
refuse (NSString      *reason,
        MTLTensorError code,
        NSError      **error)
{
  NSDictionary *info = [NSDictionary dictionaryWithObject: reason
                                                   forKey: NSLocalizedDescriptionKey];

  if (error != NULL)
    *error = [NSError errorWithDomain: MTLTensorDomain code: code userInfo: info];
  return nil;
}

id<MTLTensor>
md_tensor_new (MDBuffer            *buffer,
               MTLTensorDescriptor *descriptor,
               NSUInteger           offset,
               NSError            **error)
{
  NSString *reason;
  MDTensor *tensor;

  md_count (MD_CALL_NEW_TENSOR);
  md_need_pool ("newTensorWithDescriptor:offset:error:");
  if (!md_has_macos (26, 0))
    md_violation ("newTensorWithDescriptor:offset:error: before macOS 26");

  reason = check_descriptor (descriptor, offset, buffer);
  if (reason != nil)
    return refuse (reason, MTLTensorErrorInvalidDescriptor, error);
  if (md_fails ())
    return refuse (@"internal", MTLTensorErrorInternalError, error);

  tensor = [[MDTensor alloc] initWithKind: MD_TENSOR];
  tensor->buffer = (MDBuffer *) [buffer retain];
  tensor->offset = offset;
  tensor->dimensions = [[descriptor dimensions] retain];
  tensor->strides = [[descriptor strides] retain];
  tensor->type = [descriptor dataType];
  tensor->usage = [descriptor usage];
  md_meet (MD_CALL_NEW_TENSOR);
  return tensor;
}

@implementation MDTensor
@dynamic label;

- (void) dispose
{
  [buffer release];
  [dimensions release];
  [strides release];
  [planes release];
}

- (BOOL) respondsToSelector: (SEL) selector
{
  return (!sel_isEqual (selector, @selector (auxiliaryPlanes)) || md_has_macos (27, 0))
         && [super respondsToSelector: selector];
}

- (id<MTLBuffer>) buffer
{
  return md_lend (buffer, "-[MTLTensor buffer]");
}

- (NSUInteger) bufferOffset
{
  return offset;
}

- (MTLTensorExtents *) strides
{
  return md_lend (strides, "-[MTLTensor strides]");
}

- (MTLTensorExtents *) dimensions
{
  return md_lend (dimensions, "-[MTLTensor dimensions]");
}

- (MTLTensorDataType) dataType
{
  return type;
}

- (MTLTensorUsage) usage
{
  return usage;
}

- (NSArray *) auxiliaryPlanes
{
  if (!md_has_macos (27, 0))
    md_violation ("auxiliaryPlanes before macOS 27");
  return planes != nil ? md_lend (planes, "-[MTLTensor auxiliaryPlanes]") : [NSArray array];
}

- (id<MTLDevice>) device
{
  return [buffer device];
}

- (id<MTLHeap>) heap
{
  return [buffer heap];
}

- (NSUInteger) allocatedSize
{
  return [buffer allocatedSize];
}

- (MTLCPUCacheMode) cpuCacheMode
{
  return [buffer cpuCacheMode];
}

- (MTLStorageMode) storageMode
{
  return [buffer storageMode];
}

- (MTLHazardTrackingMode) hazardTrackingMode
{
  return [buffer hazardTrackingMode];
}

- (MTLResourceOptions) resourceOptions
{
  return [buffer resourceOptions];
}

- (MTLPurgeableState) setPurgeableState: (MTLPurgeableState) state
{
  return [buffer setPurgeableState: state];
}
@end
