/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Shared by the files of the double. */

#pragma once

#import <Foundation/Foundation.h>
#import <Metal/Metal.h>
#include <pthread.h>

#include "metal-double.h"

@class MDBuffer, MDCommandBuffer, MDCommandQueue, MDDevice, MDHeap, MDSharedEvent, MDTensor;

/* One lock for all that is not a single word, and one condition: that something
 * under it has changed. */
extern pthread_mutex_t md_lock;
extern pthread_cond_t md_changed;

/* Waits under md_lock; false when the time has come. */
typedef struct timespec MDTime;
MDTime md_time_after (uint64_t milliseconds);
bool md_wait_until (const MDTime *time);

/* Violations; never called under md_lock. */
__attribute__ ((format (printf, 1, 2))) void md_violation (const char *format, ...);
bool md_need_pool (const char *what);
/* Returns an object from a getter of Metal: autoreleased, as it has to be assumed. */
id md_lend (id object, const char *what);

/* Calls. */
#define MD_CALLS(X) \
  X (MD_CALL_RETAIN, "retain") \
  X (MD_CALL_RELEASE, "release") \
  X (MD_CALL_LENGTH, "length") \
  X (MD_CALL_CONTENTS, "contents") \
  X (MD_CALL_STORAGE_MODE, "storageMode") \
  X (MD_CALL_DEVICE, "device") \
  X (MD_CALL_SET_PURGEABLE_STATE, "setPurgeableState:") \
  X (MD_CALL_DID_MODIFY_RANGE, "didModifyRange:") \
  X (MD_CALL_NEW_BUFFER, "newBufferWithLength:options:") \
  X (MD_CALL_NEW_BUFFER_BYTES, "newBufferWithBytes:length:options:") \
  X (MD_CALL_NEW_BUFFER_NO_COPY, "newBufferWithBytesNoCopy:length:options:deallocator:") \
  X (MD_CALL_NEW_QUEUE, "newCommandQueue") \
  X (MD_CALL_NEW_EVENT, "newSharedEvent") \
  X (MD_CALL_NEW_TENSOR, "newTensorWithDescriptor:offset:error:") \
  X (MD_CALL_COMMAND_BUFFER, "commandBuffer") \
  X (MD_CALL_COMMAND_BUFFER_UNRETAINED, "commandBufferWithUnretainedReferences") \
  X (MD_CALL_BLIT_ENCODER, "blitCommandEncoder") \
  X (MD_CALL_COPY, "copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:") \
  X (MD_CALL_FILL, "fillBuffer:range:value:") \
  X (MD_CALL_SYNCHRONIZE_RESOURCE, "synchronizeResource:") \
  X (MD_CALL_END_ENCODING, "endEncoding") \
  X (MD_CALL_COMMIT, "commit") \
  X (MD_CALL_ADD_COMPLETED_HANDLER, "addCompletedHandler:") \
  X (MD_CALL_WAIT_UNTIL_COMPLETED, "waitUntilCompleted") \
  X (MD_CALL_ENCODE_SIGNAL, "encodeSignalEvent:value:") \
  X (MD_CALL_ENCODE_WAIT, "encodeWaitForEvent:value:") \
  X (MD_CALL_SIGNALED_VALUE, "signaledValue") \
  X (MD_CALL_SET_SIGNALED_VALUE, "setSignaledValue:") \
  X (MD_CALL_WAIT_UNTIL_SIGNALED, "waitUntilSignaledValue:timeoutMS:") \
  X (MD_CALL_COPY_ALL_DEVICES, "MTLCopyAllDevices") \
  X (MD_CALL_DEFAULT_DEVICE, "MTLCreateSystemDefaultDevice")

#define MD_CALL_ENUMERATOR(enumerator, name) enumerator,
typedef enum
{
  MD_CALLS (MD_CALL_ENUMERATOR)
  MD_N_CALLS
} MDCall;

extern unsigned md_calls[MD_N_CALLS];

static inline void
md_count (MDCall call)
{
  __atomic_fetch_add (&md_calls[call], 1, __ATOMIC_RELAXED);
}

/* A point where a method has done its work and has not told of it. */
void md_meet (MDCall call);

/* Objects: counted, listed, and zombies when they have ended. */
typedef enum
{
  MD_DEVICE,
  MD_BUFFER,
  MD_QUEUE,
  MD_COMMAND_BUFFER,
  MD_ENCODER,
  MD_EVENT,
  MD_HEAP,
  MD_TENSOR,
  MD_N_KINDS
} MDKind;

extern const char *const md_class_names[MD_N_KINDS];

@interface MDObject : NSObject
{
@public
  int references;
  MDKind kind;
  Class living_class;
  NSString *label;
  MDObject *previous, *next;
  bool listed;
  /* Encoded operations that name it, and those of them that are committed. */
  unsigned n_encoded, n_committed;
  bool ended;
}
- (id) initWithKind: (MDKind) k;
/* Frees what it owns; its last message. */
- (void) dispose;
- (NSString *) label;
- (void) setLabel: (NSString *) text;
@end

void md_object_encode (MDObject *object);
/* False for an object that has ended. */
bool md_object_commit (MDObject *object);
void md_object_finish (MDObject *object, bool committed);
/* Returns the number of leaks. */
size_t md_forget_objects (bool tell);
void md_forget_violations (void);
/* Since the last md_forget_blocks(). */
size_t md_count_blocks (void);
void md_forget_blocks (void);

/* Setup. */
bool md_fails (void);
int md_take_execution_failure (void);
/* Retained. */
NSString *md_copy_error_domain (void);
/* Marks what this thread does as the fixture's, which never fails. */
void md_set_fixture (bool yes);
bool md_deallocates_on_failure (void);
bool md_forgets_deallocators (void);
/* Returns how much of a copy or a fill is written, which this counts. */
size_t md_limit_blit (size_t size);
/* True if the system is as new as this. */
bool md_has_macos (unsigned major, unsigned minor);
/* Borrowed; nil beyond the last. */
MDDevice *md_device_at (unsigned ordinal);

/* Devices. */
@interface MDDevice : MDObject <MTLDevice>
{
@public
  NSString *name;
  MetalDoubleDevice config;
  size_t allocated, n_buffers;
}
+ (MDDevice *) newWithConfig: (const MetalDoubleDevice *) device_config;
@end

/* Takes memory out of the device's budget; false when there is not enough. */
bool md_device_reserve (MDDevice *device, size_t size);
void md_device_unreserve (MDDevice *device, size_t size);

/* Buffers. */
@interface MDBuffer : MDObject <MTLBuffer>
{
@public
  MDDevice *device;
  MDHeap *heap;
  MTLResourceOptions options;
  NSUInteger length;
  size_t size;
  MTLPurgeableState purgeable;
  void (^deallocator) (void *, NSUInteger);
  void *wrapped;
  char *cpu, *gpu; /* the same memory, two copies, or nothing for the CPU */
  uint64_t address;
  NSRange *modified; /* the GPU will learn of these at the next commit */
  size_t n_modified;
}
@end

size_t md_round_to_page (size_t size);
bool md_options_are_valid (MDDevice *device, MTLResourceOptions options);
MTLStorageMode md_storage_mode (MTLResourceOptions options);
MTLHazardTrackingMode md_hazard_tracking_mode (MTLResourceOptions    options,
                                               MTLHazardTrackingMode otherwise);

typedef struct
{
  MDDevice *device;
  MDHeap *heap;
  NSUInteger length;
  MTLResourceOptions options;
  const void *bytes; /* the first content */
  void *wrapped;     /* or in place of memory of its own */
  void (^deallocator) (void *, NSUInteger);
} MDBufferRequest;

id<MTLBuffer> md_buffer_new (const MDBufferRequest *request);
MTLPurgeableState md_buffer_purgeable_state (MDBuffer *buffer);

/* Tensors. */
@interface MDTensor : MDObject <MTLTensor>
{
@public
  MDBuffer *buffer;
  NSUInteger offset;
  MTLTensorExtents *dimensions, *strides;
  MTLTensorDataType type;
  MTLTensorUsage usage;
  NSArray *planes;
}
@end

id<MTLTensor> md_tensor_new (MDBuffer            *buffer,
                             MTLTensorDescriptor *descriptor,
                             NSUInteger           offset,
                             NSError            **error);

@interface MDHeap : MDObject <MTLHeap>
{
@public
  MDDevice *device;
  MTLResourceOptions options;
  NSUInteger size, used;
  MTLPurgeableState purgeable;
}
+ (id<MTLHeap>) newOnDevice: (MDDevice *) d withDescriptor: (MTLHeapDescriptor *) descriptor;
@end

bool md_heap_reserve (MDHeap *heap, size_t size);
void md_heap_unreserve (MDHeap *heap, size_t size);

/* Events. */
@interface MDSharedEvent : MDObject <MTLSharedEvent>
{
@public
  uint64_t value;
}
@end

/* The GPU's wait: false after its timeout. */
bool md_event_await (MDSharedEvent *event, uint64_t value);
void md_event_signal (MDSharedEvent *event, uint64_t value);
/* Threads and GPUs that wait for an event; under md_lock. */
extern unsigned md_n_event_waiters;

/* Queues. */
typedef struct
{
  MDCommandBuffer *head, *tail;
  unsigned n_uncompleted, n_committed, limit;
  uint64_t last, awaited;
  unsigned n_blocked;
  bool started, stopped, finished;
  int references; /* the queue's and the thread's */
} MDWorker;

@interface MDCommandQueue : MDObject <MTLCommandQueue>
{
@public
  MDDevice *device;
  MDWorker *worker;
}
+ (id<MTLCommandQueue>) newOnDevice: (MDDevice *) d limit: (NSUInteger) limit;
@end

/* Waits until no queue is about to let go of what has completed. */
void md_settle_queues (void);
void md_queue_commit (MDCommandQueue *queue, MDCommandBuffer *commands);
/* True if this thread is a queue's, in a handler of a command buffer. */
extern __thread bool md_in_handler;
extern __thread bool md_is_worker;

/* Command buffers. */
typedef enum
{
  MD_COPY,
  MD_FILL,
  MD_ADD,
  MD_SYNCHRONIZE,
  MD_SIGNAL,
  MD_WAIT,
} MDOperationKind;

typedef struct
{
  MDOperationKind kind;
  MDObject *a, *b;
  NSUInteger from, to, size;
  uint64_t value;
} MDOperation;

typedef struct
{
  MDBuffer *buffer;
  NSRange range;
  char *bytes;
} MDUpload;

@interface MDCommandBuffer : MDObject <MTLCommandBuffer>
{
@public
  MDCommandQueue *queue;
  MDCommandBuffer *next_committed;
  uint64_t sequence;
  NSError *error;
  MTLCommandBufferStatus status;
  bool retains, done;
  int failure;
  id encoder; /* the open one, not retained */
  MDOperation *operations;
  size_t n_operations;
  MDUpload *uploads;
  size_t n_uploads;
  MTLCommandBufferHandler *handlers[2];
  size_t n_handlers[2];
}
+ (MDCommandBuffer *) newOnQueue: (MDCommandQueue *) q retaining: (bool) retaining;
- (bool) mayEncode: (const char *) what;
- (void) addOperation: (MDOperation) operation;
/* Runs on the queue's thread, which has no autorelease pool. */
- (void) execute;
@end

@interface MDBlitEncoder : MDObject <MTLBlitCommandEncoder>
{
@public
  MDCommandBuffer *commands;
  bool closed;
}
+ (MDBlitEncoder *) newOnCommands: (MDCommandBuffer *) c;
@end
