/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Command buffers. */

#import "metal-double-private.h"

#include <Block.h>
#include <stdlib.h>
#include <string.h>

NSString *const MTLCommandBufferErrorDomain = @"MTLCommandBufferErrorDomain";

enum
{
  WHEN_SCHEDULED,
  WHEN_COMPLETED,
  N_MOMENTS,
};

/* Takes the changes to a managed buffer that the GPU does not know yet, as the CPU's copy is
 * now. */
static void
take_uploads (MDCommandBuffer *commands,
              MDBuffer        *buffer)
{
  pthread_mutex_lock (&md_lock);
  for (size_t i = 0; i < buffer->n_modified; i++)
    {
      NSRange range = buffer->modified[i];
      MDUpload upload = { buffer, range, malloc (range.length) };

      memcpy (upload.bytes, buffer->cpu + range.location, range.length);
      commands->uploads = realloc (commands->uploads,
                                   (commands->n_uploads + 1) * sizeof *commands->uploads);
      commands->uploads[commands->n_uploads++] = upload;
    }
  buffer->n_modified = 0;
  pthread_mutex_unlock (&md_lock);
}

static void
execute_uploads (MDCommandBuffer *commands)
{
  for (size_t i = 0; i < commands->n_uploads; i++)
    {
      MDUpload *upload = &commands->uploads[i];

      memcpy (upload->buffer->gpu + upload->range.location, upload->bytes, upload->range.length);
      free (upload->bytes);
    }
  free (commands->uploads);
  commands->uploads = NULL;
  commands->n_uploads = 0;
}

static void
add_bytes (char   *bytes,
           size_t  n,
           uint8_t value)
{
  for (size_t i = 0; i < n; i++)
    bytes[i] = (char) (bytes[i] + value);
}

static void
execute_transfer (const MDOperation *operation)
{
  MDBuffer *a = (MDBuffer *) operation->a;
  MDBuffer *b = (MDBuffer *) operation->b;

  switch (operation->kind)
    {
    case MD_COPY:
      memcpy (b->gpu + operation->to, a->gpu + operation->from,
              md_limit_blit (operation->size));
      break;
    case MD_FILL:
      memset (a->gpu + operation->from, (int) operation->value, md_limit_blit (operation->size));
      break;
    case MD_ADD:
      add_bytes (a->gpu + operation->from, operation->size, (uint8_t) operation->value);
      break;
    case MD_SYNCHRONIZE:
      if (a->cpu != a->gpu)
        memcpy (a->cpu, a->gpu, a->length);
      break;
    case MD_SIGNAL:
    case MD_WAIT:
      break;
    }
}

static void
execute_operation (MDCommandBuffer   *commands,
                   const MDOperation *operation)
{
  MDSharedEvent *event = (MDSharedEvent *) operation->a;

  if (operation->kind == MD_SIGNAL)
    md_event_signal (event, operation->value);
  else if (operation->kind == MD_WAIT)
    {
      if (!md_event_await (event, operation->value) && commands->failure == 0)
        commands->failure = MTLCommandBufferErrorTimeout;
    }
  else if (commands->failure == 0)
    execute_transfer (operation);
}

static NSError *
new_error (int code)
{
  NSError *error;

  @autoreleasepool
    {
      NSString *text = [NSString stringWithFormat: @"The double failed the execution (%d)", code];
      NSDictionary *info = [NSDictionary dictionaryWithObject: text
                                                       forKey: NSLocalizedDescriptionKey];

      NSString *domain = [md_copy_error_domain () autorelease];

      error = [[NSError alloc] initWithDomain: domain code: code userInfo: info];
    }

  return error;
}

@implementation MDCommandBuffer
@dynamic label;

+ (MDCommandBuffer *) newOnQueue: (MDCommandQueue *) q retaining: (bool) retaining
{
  MDCommandBuffer *commands = [[MDCommandBuffer alloc] initWithKind: MD_COMMAND_BUFFER];

  commands->queue = (MDCommandQueue *) [q retain];
  commands->retains = retaining;
  return commands;
}

- (MTLCommandBufferStatus) status
{
  return __atomic_load_n (&status, __ATOMIC_ACQUIRE);
}

- (void) setStatus: (MTLCommandBufferStatus) s
{
  __atomic_store_n (&status, s, __ATOMIC_RELEASE);
}

- (bool) isCommitted
{
  return [self status] >= MTLCommandBufferStatusCommitted;
}

/* Drops what the operations and handlers keep. */
- (void) dropReferences
{
  for (size_t i = 0; i < n_operations; i++)
    {
      MDObject *named[] = { operations[i].a, operations[i].b };

      for (size_t j = 0; j < 2; j++)
        if (named[j] != nil)
          {
            md_object_finish (named[j], [self isCommitted]);
            if (retains)
              [named[j] release];
          }
    }
  free (operations);
  operations = NULL;
  n_operations = 0;

  for (size_t moment = 0; moment < N_MOMENTS; moment++)
    {
      for (size_t i = 0; i < n_handlers[moment]; i++)
        Block_release (handlers[moment][i]);
      free (handlers[moment]);
      handlers[moment] = NULL;
      n_handlers[moment] = 0;
    }
}

- (void) dispose
{
  if (![self isCommitted])
    {
      pthread_mutex_lock (&md_lock);
      queue->worker->n_uncompleted--;
      pthread_cond_broadcast (&md_changed);
      pthread_mutex_unlock (&md_lock);
    }
  [self dropReferences];
  [queue release];
  [error release];
}

- (id<MTLDevice>) device
{
  return md_lend (queue->device, "-[MTLCommandBuffer device]");
}

- (id<MTLCommandQueue>) commandQueue
{
  return md_lend (queue, "-[MTLCommandBuffer commandQueue]");
}

- (BOOL) retainedReferences
{
  return retains;
}

- (NSError *) error
{
  bool over = [self status] >= MTLCommandBufferStatusCompleted;

  return md_lend (over ? error : nil, "-[MTLCommandBuffer error]");
}

- (bool) mayEncode: (const char *) what
{
  if ([self isCommitted])
    md_violation ("%s after commit", what);
  else if (encoder != nil)
    md_violation ("%s while an encoder is open", what);
  else
    return true;

  return false;
}

- (id<MTLBlitCommandEncoder>) blitCommandEncoder
{
  md_count (MD_CALL_BLIT_ENCODER);
  if (!md_need_pool ("blitCommandEncoder") || ![self mayEncode: "blitCommandEncoder"]
      || md_fails ())
    return nil;

  encoder = [MDBlitEncoder newOnCommands: self];
  return [encoder autorelease];
}

/* There is never a pipeline to encode with. */
- (id<MTLComputeCommandEncoder>) computeCommandEncoder
{
  [self mayEncode: "computeCommandEncoder"];
  return nil;
}

- (void) addOperation: (MDOperation) operation
{
  MDObject *named[] = { operation.a, operation.b };

  operations = realloc (operations, (n_operations + 1) * sizeof *operations);
  operations[n_operations++] = operation;
  for (size_t i = 0; i < 2; i++)
    if (named[i] != nil)
      {
        md_object_encode (named[i]);
        if (retains)
          [named[i] retain];
      }
}

- (void) encodeEvent: (id<MTLEvent>) event as: (MDOperation) operation what: (const char *) what
{
  if (![self mayEncode: what])
    return;
  if (![(id) event isKindOfClass: [MDSharedEvent class]])
    {
      md_violation ("%s without an event", what);
      return;
    }

  operation.a = (MDObject *) event;
  [self addOperation: operation];
}

- (void) encodeSignalEvent: (id<MTLEvent>) event value: (uint64_t) value
{
  md_count (MD_CALL_ENCODE_SIGNAL);
  [self encodeEvent: event
                 as: (MDOperation) { .kind = MD_SIGNAL, .value = value }
               what: "encodeSignalEvent:"];
}

- (void) encodeWaitForEvent: (id<MTLEvent>) event value: (uint64_t) value
{
  md_count (MD_CALL_ENCODE_WAIT);
  [self encodeEvent: event
                 as: (MDOperation) { .kind = MD_WAIT, .value = value }
               what: "encodeWaitForEvent:"];
}

- (void) addHandler: (MTLCommandBufferHandler) block moment: (size_t) moment
{
  size_t n = n_handlers[moment];

  handlers[moment] = realloc (handlers[moment], (n + 1) * sizeof *handlers[moment]);
  handlers[moment][n] = Block_copy (block);
  n_handlers[moment]++;
}

- (void) addScheduledHandler: (MTLCommandBufferHandler) block
{
  if ([self mayEncode: "addScheduledHandler:"])
    [self addHandler: block moment: WHEN_SCHEDULED];
}

- (void) addCompletedHandler: (MTLCommandBufferHandler) block
{
  md_count (MD_CALL_ADD_COMPLETED_HANDLER);
  if ([self mayEncode: "addCompletedHandler:"])
    [self addHandler: block moment: WHEN_COMPLETED];
}

- (void) runHandlers: (size_t) moment
{
  md_in_handler = true;
  for (size_t i = 0; i < n_handlers[moment]; i++)
    handlers[moment][i](self);
  md_in_handler = false;
}

- (void) commitObject: (MDObject *) object
{
  if (object == nil)
    return;

  if (!md_object_commit (object))
    md_violation ("commit of work on an %s that was released before",
                  md_class_names[object->kind]);
  if (object->kind == MD_BUFFER)
    take_uploads (self, (MDBuffer *) object);
}

- (void) commit
{
  md_count (MD_CALL_COMMIT);
  md_need_pool ("commit");
  if (![self mayEncode: "commit"])
    return;

  failure = md_take_execution_failure ();
  for (size_t i = 0; i < n_operations; i++)
    {
      [self commitObject: operations[i].a];
      [self commitObject: operations[i].b];
    }
  [self retain];
  [self setStatus: MTLCommandBufferStatusCommitted];
  md_queue_commit (queue, self);
}

- (void) execute
{
  pthread_mutex_lock (&md_lock);
  [self setStatus: MTLCommandBufferStatusScheduled];
  pthread_cond_broadcast (&md_changed);
  pthread_mutex_unlock (&md_lock);
  [self runHandlers: WHEN_SCHEDULED];

  execute_uploads (self);
  for (size_t i = 0; i < n_operations; i++)
    execute_operation (self, &operations[i]);

  if (failure != 0)
    error = new_error (failure);
  [self setStatus: failure != 0 ? MTLCommandBufferStatusError : MTLCommandBufferStatusCompleted];
  [self runHandlers: WHEN_COMPLETED];
  @autoreleasepool
    {
      [self dropReferences];
    }
}

/* True if there is something to wait for that can come. */
- (bool) mayWait: (const char *) what
{
  if (md_in_handler)
    md_violation ("%s in a handler of a command buffer, which holds up its queue", what);
  else if (![self isCommitted])
    md_violation ("%s before commit", what);
  else
    return true;

  return false;
}

- (void) waitUntilScheduled
{
  if (![self mayWait: "waitUntilScheduled"])
    return;

  pthread_mutex_lock (&md_lock);
  while ([self status] < MTLCommandBufferStatusScheduled)
    pthread_cond_wait (&md_changed, &md_lock);
  pthread_mutex_unlock (&md_lock);
}

- (void) waitUntilCompleted
{
  MDWorker *worker = queue->worker;

  md_count (MD_CALL_WAIT_UNTIL_COMPLETED);
  if (![self mayWait: "waitUntilCompleted"])
    return;

  pthread_mutex_lock (&md_lock);
  if (worker->awaited < sequence)
    worker->awaited = sequence;
  pthread_cond_broadcast (&md_changed);
  while (!done)
    pthread_cond_wait (&md_changed, &md_lock);
  pthread_mutex_unlock (&md_lock);
}
@end
