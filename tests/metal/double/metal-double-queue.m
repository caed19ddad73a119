/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Queues: one thread each, which starts with the first commit, executes as late
 * as it may, and knows nothing of the other queues. */

#import "metal-double-private.h"

#include <stdlib.h>

/* Work stays undone for this time if no one waits for it. */
#define LAZINESS_MS 15
/* A full queue with nothing committed stays full: told after so long. */
#define FULL_QUEUE_MS 500

__thread bool md_in_handler;
__thread bool md_is_worker;

static bool paused;
/* Committed command buffers whose references are not all dropped, and those of
 * them that are complete already. */
static unsigned n_pending, n_letting_go;

static bool
is_in_demand (MDWorker        *worker,
              MDCommandBuffer *commands)
{
  return worker->awaited >= commands->sequence || worker->n_blocked > 0 || md_n_event_waiters > 0;
}

/* Under the lock. */
static MDCommandBuffer *
take_next (MDWorker *worker)
{
  MDCommandBuffer *commands;
  MDTime until;

  while ((worker->head == nil || paused) && !(worker->stopped && worker->head == nil))
    pthread_cond_wait (&md_changed, &md_lock);
  if (worker->head == nil)
    return nil;

  commands = worker->head;
  worker->head = commands->next_committed;
  if (worker->head == nil)
    worker->tail = nil;

  until = md_time_after (LAZINESS_MS);
  while (!is_in_demand (worker, commands) && md_wait_until (&until))
    ;
  return commands;
}

static void
complete (MDWorker        *worker,
          MDCommandBuffer *commands)
{
  pthread_mutex_lock (&md_lock);
  commands->done = true;
  worker->n_uncompleted--;
  worker->n_committed--;
  n_letting_go++;
  pthread_cond_broadcast (&md_changed);
  pthread_mutex_unlock (&md_lock);

  @autoreleasepool
    {
      [commands release];
    }

  pthread_mutex_lock (&md_lock);
  n_letting_go--;
  n_pending--;
  pthread_cond_broadcast (&md_changed);
}

/* Under the lock. */
static void
unref_worker (MDWorker *worker)
{
  if (--worker->references == 0)
    free (worker);
}

static void *
run_worker (void *data)
{
  MDWorker *worker = data;
  MDCommandBuffer *commands;

  md_is_worker = true;
  pthread_mutex_lock (&md_lock);
  while ((commands = take_next (worker)) != nil)
    {
      pthread_mutex_unlock (&md_lock);
      [commands execute];
      complete (worker, commands);
    }
  worker->finished = true;
  pthread_cond_broadcast (&md_changed);
  unref_worker (worker);
  pthread_mutex_unlock (&md_lock);
  return NULL;
}

/* Under the lock. Detached: a queue may last as long as the program. */
static void
start_worker (MDWorker *worker)
{
  pthread_attr_t attributes;
  pthread_t thread;

  worker->references++;
  worker->started = true;
  pthread_attr_init (&attributes);
  pthread_attr_setdetachstate (&attributes, PTHREAD_CREATE_DETACHED);
  if (pthread_create (&thread, &attributes, run_worker, worker) != 0)
    abort ();
  pthread_attr_destroy (&attributes);
}

void
md_queue_commit (MDCommandQueue  *queue,
                 MDCommandBuffer *commands)
{
  MDWorker *worker = queue->worker;

  pthread_mutex_lock (&md_lock);
  if (!worker->started)
    start_worker (worker);
  commands->sequence = ++worker->last;
  if (worker->tail != nil)
    worker->tail->next_committed = commands;
  else
    worker->head = commands;
  worker->tail = commands;
  worker->n_committed++;
  n_pending++;
  pthread_cond_broadcast (&md_changed);
  pthread_mutex_unlock (&md_lock);
}

void
md_settle_queues (void)
{
  if (md_is_worker)
    return;

  pthread_mutex_lock (&md_lock);
  while (n_letting_go > 0)
    pthread_cond_wait (&md_changed, &md_lock);
  pthread_mutex_unlock (&md_lock);
}

void
metal_double_quiesce (void)
{
  pthread_mutex_lock (&md_lock);
  while (n_pending > 0)
    pthread_cond_wait (&md_changed, &md_lock);
  pthread_mutex_unlock (&md_lock);
}

static void
set_paused (bool yes)
{
  pthread_mutex_lock (&md_lock);
  paused = yes;
  pthread_cond_broadcast (&md_changed);
  pthread_mutex_unlock (&md_lock);
}

void
metal_double_pause (void)
{
  set_paused (true);
}

void
metal_double_resume (void)
{
  set_paused (false);
}

/* Blocks while the queue has as many command buffers as it may; false if that
 * were for ever. */
static bool
take_slot (MDWorker *worker)
{
  MDTime until = md_time_after (FULL_QUEUE_MS);
  bool free_slot;

  pthread_mutex_lock (&md_lock);
  worker->n_blocked++;
  pthread_cond_broadcast (&md_changed);
  while (worker->n_uncompleted == worker->limit)
    if (worker->n_committed > 0)
      {
        pthread_cond_wait (&md_changed, &md_lock);
        until = md_time_after (FULL_QUEUE_MS);
      }
    else if (!md_wait_until (&until))
      break;
  worker->n_blocked--;
  free_slot = worker->n_uncompleted < worker->limit;
  if (free_slot)
    worker->n_uncompleted++;
  pthread_mutex_unlock (&md_lock);
  return free_slot;
}

@implementation MDCommandQueue
@dynamic label;

+ (id<MTLCommandQueue>) newOnDevice: (MDDevice *) d limit: (NSUInteger) limit
{
  MDCommandQueue *queue = [[MDCommandQueue alloc] initWithKind: MD_QUEUE];

  queue->device = (MDDevice *) [d retain];
  queue->worker = calloc (1, sizeof *queue->worker);
  queue->worker->references = 1;
  queue->worker->limit = (unsigned) limit;
  return queue;
}

/* Nothing is committed any more: a command buffer keeps its queue. The last of
 * them may end it on its own thread. */
- (void) dispose
{
  pthread_mutex_lock (&md_lock);
  worker->stopped = true;
  pthread_cond_broadcast (&md_changed);
  while (worker->started && !worker->finished && !md_is_worker)
    pthread_cond_wait (&md_changed, &md_lock);
  unref_worker (worker);
  pthread_mutex_unlock (&md_lock);
  [device release];
}

- (id<MTLDevice>) device
{
  return md_lend (device, "-[MTLCommandQueue device]");
}

- (id<MTLCommandBuffer>) commandBufferRetaining: (bool) retaining
{
  if (!md_need_pool ("commandBuffer") || md_fails ())
    return nil;

  if (!take_slot (worker))
    {
      md_violation ("commandBuffer blocks for ever: %u are neither committed nor gone",
                    worker->limit);
      return nil;
    }

  return [[MDCommandBuffer newOnQueue: self retaining: retaining] autorelease];
}

- (id<MTLCommandBuffer>) commandBuffer
{
  md_count (MD_CALL_COMMAND_BUFFER);
  return [self commandBufferRetaining: true];
}

- (id<MTLCommandBuffer>) commandBufferWithUnretainedReferences
{
  md_count (MD_CALL_COMMAND_BUFFER_UNRETAINED);
  return [self commandBufferRetaining: false];
}
@end
