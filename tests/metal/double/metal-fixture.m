/* SPDX-License-Identifier: LGPL-2.1-or-later */

#import "metal-double-private.h"
#import "metal-fixture-common.h"

void *
metal_fixture_device (unsigned ordinal)
{
  return md_device_at (ordinal);
}

static MDBuffer *
new_buffer (id       source,
            size_t   size,
            unsigned options)
{
  bool memoryless = md_storage_mode (options) == MTLStorageModeMemoryless;
  MDBuffer *buffer;

  /* Metal would not make one, but a program may hand over anything. */
  if (memoryless)
    options = (options & ~MTLResourceStorageModeMask) | MTLResourceStorageModePrivate;

  md_set_fixture (true);
  @autoreleasepool
    {
      buffer = (MDBuffer *) [(id<MTLDevice>) source newBufferWithLength: size options: options];
    }
  md_set_fixture (false);
  if (memoryless && buffer != nil)
    buffer->options |= MTLResourceStorageModeMemoryless;
  return buffer;
}

void *
metal_fixture_buffer_new (unsigned ordinal,
                          size_t   size,
                          unsigned options)
{
  return new_buffer (metal_fixture_device (ordinal), size, options);
}

void *
metal_fixture_buffer_new_in_heap (unsigned ordinal,
                                  size_t   size,
                                  unsigned options)
{
  id buffer;

  @autoreleasepool
    {
      MTLHeapDescriptor *descriptor = [[[MTLHeapDescriptor alloc] init] autorelease];
      id<MTLHeap> heap;

      [descriptor setSize: size];
      [descriptor setResourceOptions: options];
      heap = [(id<MTLDevice>) metal_fixture_device (ordinal) newHeapWithDescriptor: descriptor];
      buffer = new_buffer (heap, size, options);
      [heap release];
    }

  return buffer;
}

unsigned long
metal_fixture_retain_count (void *object)
{
  return [(id) object retainCount];
}

void
metal_fixture_peek (void  *buffer,
                    size_t offset,
                    void  *bytes,
                    size_t size)
{
  memcpy (bytes, ((MDBuffer *) buffer)->gpu + offset, size);
}

void
metal_fixture_poke (void       *buffer,
                    size_t      offset,
                    const void *bytes,
                    size_t      size)
{
  memcpy (((MDBuffer *) buffer)->gpu + offset, bytes, size);
}

static MTLTensorExtents *
new_extents (unsigned    rank,
             const long *values)
{
  NSInteger extents[16];

  for (unsigned i = 0; i < rank; i++)
    extents[i] = values[i];
  return [[MTLTensorExtents alloc] initWithRank: rank values: extents];
}

void *
metal_fixture_tensor_new (const MetalFixtureTensor *description)
{
  MDTensor *tensor;

  @autoreleasepool
    {
      NSMutableArray *planes = [NSMutableArray array];

      for (unsigned i = 0; i < description->n_planes; i++)
        [planes addObject: @"a plane"];
      tensor = [[MDTensor alloc] initWithKind: MD_TENSOR];
      tensor->buffer = (MDBuffer *) [(id) description->buffer retain];
      tensor->offset = description->offset;
      tensor->dimensions = new_extents (description->rank, description->dims);
      if (!description->without_strides)
        tensor->strides = new_extents (description->rank, description->strides);
      tensor->type = description->data_type;
      tensor->usage = description->usage;
      tensor->planes = [planes retain];
    }

  return tensor;
}

void *
metal_fixture_tensor_try (const MetalFixtureTensor *description)
{
  MTLTensorExtents *dims = new_extents (description->rank, description->dims);
  MTLTensorExtents *strides = new_extents (description->rank, description->strides);
  id<MTLBuffer> buffer = description->buffer;
  id<MTLTensor> tensor;

  md_set_fixture (true);
  @autoreleasepool
    {
      MTLTensorDescriptor *descriptor = [[[MTLTensorDescriptor alloc] init] autorelease];

      [descriptor setDimensions: dims];
      [descriptor setStrides: strides];
      [descriptor setDataType: description->data_type];
      [descriptor setUsage: description->usage];
      [descriptor setResourceOptions: [buffer resourceOptions]];
      tensor = [buffer newTensorWithDescriptor: descriptor
                                        offset: description->offset
                                         error: NULL];
    }
  md_set_fixture (false);
  [dims release];
  [strides release];
  return tensor;
}

void
metal_fixture_tensor_describe (void               *object,
                               MetalFixtureTensor *description)
{
  MDTensor *tensor = object;

  *description = (MetalFixtureTensor) {
    .buffer = tensor->buffer,
    .offset = tensor->offset,
    .rank = (unsigned) [tensor->dimensions rank],
    .without_strides = tensor->strides == nil,
    .data_type = tensor->type,
    .usage = tensor->usage,
    .n_planes = (unsigned) [tensor->planes count],
  };
  for (unsigned i = 0; i < description->rank; i++)
    {
      description->dims[i] = [tensor->dimensions extentAtDimensionIndex: i];
      description->strides[i] = [tensor->strides extentAtDimensionIndex: i];
    }
}

void *
metal_fixture_event_new (unsigned ordinal)
{
  id event;

  md_set_fixture (true);
  @autoreleasepool
    {
      event = [(id<MTLDevice>) metal_fixture_device (ordinal) newSharedEvent];
    }
  md_set_fixture (false);
  return event;
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

  md_set_fixture (true);
  @autoreleasepool
    {
      run = begin_run (((MDBuffer *) buffer)->device, wait_for, wait_value);
      [(MDCommandBuffer *) run->commands addOperation: (MDOperation) {
        .kind = kernel == METAL_FIXTURE_FILL ? MD_FILL : MD_ADD,
        .a = (MDObject *) buffer,
        .from = offset,
        .size = size,
        .value = value,
      }];
      commit_run (run, signal, signal_value);
    }
  md_set_fixture (false);
  return run;
}
