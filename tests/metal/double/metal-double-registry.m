/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Objects that are alive, the zombies of those that are not, and violations. */

#import "metal-double-private.h"

#include <Foundation/NSDebug.h>
#include <objc/runtime.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number of objects kept of those that ended last. */
#define N_ZOMBIES 4096

pthread_mutex_t md_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t md_changed = PTHREAD_COND_INITIALIZER;

const char *const md_class_names[MD_N_KINDS] = {
  [MD_DEVICE] = "MTLDevice",
  [MD_BUFFER] = "MTLBuffer",
  [MD_QUEUE] = "MTLCommandQueue",
  [MD_COMMAND_BUFFER] = "MTLCommandBuffer",
  [MD_ENCODER] = "MTLCommandEncoder",
  [MD_EVENT] = "MTLSharedEvent",
  [MD_HEAP] = "MTLHeap",
  [MD_TENSOR] = "MTLTensor",
};

static const char *const kind_names[MD_N_KINDS] = {
  [MD_DEVICE] = "device",
  [MD_BUFFER] = "buffer",
  [MD_QUEUE] = "queue",
  [MD_COMMAND_BUFFER] = "command-buffer",
  [MD_ENCODER] = "encoder",
  [MD_EVENT] = "event",
  [MD_HEAP] = "heap",
  [MD_TENSOR] = "tensor",
};

unsigned md_calls[MD_N_CALLS];

#define CALL_NAME(enumerator, name) name,
static const char *const call_names[MD_N_CALLS] = { MD_CALLS (CALL_NAME) };

/* Violations have a lock of their own: they are told from anywhere. */
static pthread_mutex_t violation_lock = PTHREAD_MUTEX_INITIALIZER;
static char last_violation[256];
static unsigned n_violations;
static bool aborting = true;

static bool keep_zombies = true;
static MDObject *zombies[N_ZOMBIES];
static size_t next_zombie;

static MDObject *first_object;
static size_t n_objects[MD_N_KINDS];

MDTime
md_time_after (uint64_t milliseconds)
{
  MDTime time;

  clock_gettime (CLOCK_REALTIME, &time);
  time.tv_sec += (time_t) (milliseconds / 1000);
  time.tv_nsec += (long) (milliseconds % 1000) * 1000000;
  if (time.tv_nsec >= 1000000000)
    {
      time.tv_sec++;
      time.tv_nsec -= 1000000000;
    }

  return time;
}

bool
md_wait_until (const MDTime *time)
{
  return pthread_cond_timedwait (&md_changed, &md_lock, time) == 0;
}

void
md_violation (const char *format,
              ...)
{
  va_list args;

  pthread_mutex_lock (&violation_lock);
  va_start (args, format);
  vsnprintf (last_violation, sizeof last_violation, format, args);
  va_end (args);
  n_violations++;
  fprintf (stderr, "metal-double: VIOLATION: %s\n", last_violation);
  if (aborting)
    abort ();
  pthread_mutex_unlock (&violation_lock);
}

unsigned
metal_double_violations (void)
{
  unsigned n;

  pthread_mutex_lock (&violation_lock);
  n = n_violations;
  pthread_mutex_unlock (&violation_lock);
  return n;
}

const char *
metal_double_last_violation (void)
{
  static __thread char copy[sizeof last_violation];

  pthread_mutex_lock (&violation_lock);
  memcpy (copy, last_violation, sizeof copy);
  pthread_mutex_unlock (&violation_lock);
  return copy;
}

void
metal_double_set_abort (bool abort_on_violation)
{
  pthread_mutex_lock (&violation_lock);
  aborting = abort_on_violation;
  pthread_mutex_unlock (&violation_lock);
}

void
metal_double_set_zombies (bool yes)
{
  pthread_mutex_lock (&md_lock);
  keep_zombies = yes;
  pthread_mutex_unlock (&md_lock);
}

/* Objects that Metal autoreleases leak without a pool. */
bool
md_need_pool (const char *what)
{
  /* Each mention of a class is a search for it with GCC's runtime. */
  static void *pool_class;
  Class known = (Class) __atomic_load_n (&pool_class, __ATOMIC_RELAXED);

  if (known == Nil)
    {
      known = [NSAutoreleasePool class];
      __atomic_store_n (&pool_class, (void *) known, __ATOMIC_RELAXED);
    }
  if ([known currentPool] != nil)
    return true;

  md_violation ("%s without an autorelease pool in place", what);
  return false;
}

id
md_lend (id          object,
         const char *what)
{
  if (!md_need_pool (what))
    return object;

  return [[object retain] autorelease];
}

unsigned
metal_double_calls (const char *selector)
{
  for (size_t i = 0; i < MD_N_CALLS; i++)
    if (strcmp (call_names[i], selector) == 0)
      return __atomic_load_n (&md_calls[i], __ATOMIC_RELAXED);

  md_violation ("the double does not count calls of %s", selector);
  return 0;
}

/* Meetings. */

static struct
{
  const char *selector;
  unsigned n_missing, milliseconds;
} meeting;

void
metal_double_meet (const char *selector,
                   unsigned    n,
                   unsigned    milliseconds)
{
  pthread_mutex_lock (&md_lock);
  meeting.selector = selector;
  meeting.n_missing = n;
  meeting.milliseconds = milliseconds;
  pthread_mutex_unlock (&md_lock);
}

void
md_meet (MDCall call)
{
  pthread_mutex_lock (&md_lock);
  if (meeting.n_missing > 0 && strcmp (meeting.selector, call_names[call]) == 0)
    {
      MDTime until = md_time_after (meeting.milliseconds);

      meeting.n_missing--;
      pthread_cond_broadcast (&md_changed);
      while (meeting.n_missing > 0 && md_wait_until (&until))
        continue;
    }
  pthread_mutex_unlock (&md_lock);
}

size_t
metal_double_live_of_class (const char *class_name)
{
  GSDebugAllocationActive (YES);
  return (size_t) GSDebugAllocationCount (objc_getClass (class_name));
}

/* Zombies. */

__attribute__ ((objc_root_class)) @interface MDZombie
{
  Class isa;
}
@end

static void
message_to_zombie (id  zombie,
                   SEL selector)
{
  md_violation ("-[%s %s] sent to a deallocated object",
                md_class_names[((MDObject *) zombie)->kind], sel_getName (selector));
}

/* There is no answer to give. */
__attribute__ ((noreturn)) static void
last_message_to_zombie (id  zombie,
                        SEL selector)
{
  metal_double_set_abort (true);
  message_to_zombie (zombie, selector);
  abort ();
}

@implementation MDZombie
+ (void) initialize
{
}

- (id) retain
{
  message_to_zombie (self, _cmd);
  return self;
}

- (oneway void) release
{
  message_to_zombie (self, _cmd);
}

- (id) autorelease
{
  message_to_zombie (self, _cmd);
  return self;
}

- (NSUInteger) retainCount
{
  message_to_zombie (self, _cmd);
  return 0;
}

- (BOOL) respondsToSelector: (SEL) selector
{
  last_message_to_zombie (self, selector);
}

- (NSMethodSignature *) methodSignatureForSelector: (SEL) selector
{
  last_message_to_zombie (self, selector);
}

- (void) forwardInvocation: (NSInvocation *) invocation
{
  last_message_to_zombie (self, [invocation selector]);
}
@end

/* Objects. */

static void
list_object (MDObject *object)
{
  pthread_mutex_lock (&md_lock);
  object->listed = true;
  object->next = first_object;
  if (first_object != nil)
    first_object->previous = object;
  first_object = object;
  n_objects[object->kind]++;
  pthread_mutex_unlock (&md_lock);
}

/* Under the lock. */
static void
unlist_object (MDObject *object)
{
  if (!object->listed)
    return;

  if (object->next != nil)
    object->next->previous = object->previous;
  if (object->previous != nil)
    object->previous->next = object->next;
  else
    first_object = object->next;
  object->listed = false;
  n_objects[object->kind]--;
}

static void
free_zombie (MDObject *zombie)
{
  object_setClass (zombie, zombie->living_class);
  NSDeallocateObject (zombie);
}

/* True if the object became a zombie; otherwise it is to be freed. */
static bool
bury_object (MDObject *object)
{
  MDObject *oldest = nil;
  bool kept;

  pthread_mutex_lock (&md_lock);
  unlist_object (object);
  kept = keep_zombies;
  if (kept)
    {
      object_setClass (object, objc_getClass ("MDZombie"));
      oldest = zombies[next_zombie];
      zombies[next_zombie] = object;
      next_zombie = (next_zombie + 1) % N_ZOMBIES;
    }
  pthread_mutex_unlock (&md_lock);

  if (oldest != nil)
    free_zombie (oldest);
  return kept;
}

/* An object that encoded work names, but that has no reference left: its memory stays until that
 * work is over. */
static bool
defer_end (MDObject *object)
{
  bool deferred, dangling;

  pthread_mutex_lock (&md_lock);
  deferred = object->n_encoded > 0;
  dangling = object->n_committed > 0;
  if (deferred)
    {
      object->ended = true;
      object_setClass (object, objc_getClass ("MDZombie"));
    }
  pthread_mutex_unlock (&md_lock);

  if (dangling)
    md_violation ("an %s was released while a command buffer without retained references uses it",
                  md_class_names[object->kind]);
  return deferred;
}

void
md_object_encode (MDObject *object)
{
  pthread_mutex_lock (&md_lock);
  object->n_encoded++;
  pthread_mutex_unlock (&md_lock);
}

bool
md_object_commit (MDObject *object)
{
  bool ended;

  pthread_mutex_lock (&md_lock);
  object->n_committed++;
  ended = object->ended;
  pthread_mutex_unlock (&md_lock);
  return !ended;
}

void
md_object_finish (MDObject *object,
                  bool      committed)
{
  bool last;

  pthread_mutex_lock (&md_lock);
  object->n_encoded--;
  if (committed)
    object->n_committed--;
  last = object->ended && object->n_encoded == 0;
  if (last)
    object_setClass (object, object->living_class);
  pthread_mutex_unlock (&md_lock);

  if (last)
    [object dealloc];
}

@implementation MDObject
- (id) initWithKind: (MDKind) k
{
  self = [super init];
  references = 1;
  kind = k;
  living_class = object_getClass (self);
  list_object (self);
  return self;
}

- (id) retain
{
  if (kind == MD_BUFFER)
    md_count (MD_CALL_RETAIN);
  __atomic_fetch_add (&references, 1, __ATOMIC_RELAXED);
  return self;
}

- (oneway void) release
{
  if (kind == MD_BUFFER)
    md_count (MD_CALL_RELEASE);
  if (__atomic_fetch_sub (&references, 1, __ATOMIC_ACQ_REL) == 1)
    [self dealloc];
}

- (NSUInteger) retainCount
{
  return (NSUInteger) __atomic_load_n (&references, __ATOMIC_RELAXED);
}

- (id) autorelease
{
  return md_need_pool ("-autorelease") ? [super autorelease] : self;
}

- (void) dispose
{
}

- (void) dealloc
{
  /* The drivers' own -dealloc autoreleases: even the last -release needs it. */
  md_need_pool ("the last -release of an object of Metal");
  if (defer_end (self))
    return;

  [self dispose];
  [label release];
  label = nil;
  if (bury_object (self))
    return;

  [super dealloc];
}

- (NSString *) label
{
  NSString *text;

  if (!md_need_pool ("-label"))
    return nil;
  pthread_mutex_lock (&md_lock);
  text = [label retain];
  pthread_mutex_unlock (&md_lock);
  return [text autorelease];
}

- (void) setLabel: (NSString *) text
{
  NSString *copy = [text copy];
  NSString *before;

  pthread_mutex_lock (&md_lock);
  before = label;
  label = copy;
  pthread_mutex_unlock (&md_lock);
  [before release];
}
@end

size_t
metal_double_live (const char *class_name)
{
  size_t n = 0;
  bool known = class_name == NULL;

  md_settle_queues ();
  if (class_name == NULL || strcmp (class_name, "block") == 0)
    {
      n += md_count_blocks ();
      known = true;
    }

  pthread_mutex_lock (&md_lock);
  for (size_t i = 0; i < MD_N_KINDS; i++)
    if (class_name == NULL || strcmp (class_name, kind_names[i]) == 0)
      {
        n += n_objects[i];
        known = true;
      }
  pthread_mutex_unlock (&md_lock);

  if (!known)
    md_violation ("the double has no class “%s”", class_name);
  return n;
}

/* Forgets the objects that are still alive: no count has them from here on. */
static size_t
forget_living (bool tell)
{
  size_t n = 0;

  pthread_mutex_lock (&md_lock);
  while (first_object != nil)
    {
      if (tell)
        fprintf (stderr, "metal-double: leaked %s %p, retain count %d\n",
                 md_class_names[first_object->kind], (void *) first_object,
                 first_object->references);
      unlist_object (first_object);
      n++;
    }
  pthread_mutex_unlock (&md_lock);
  return n;
}

static void
forget_zombies (void)
{
  for (size_t i = 0; i < N_ZOMBIES; i++)
    if (zombies[i] != nil)
      {
        free_zombie (zombies[i]);
        zombies[i] = nil;
      }
}

size_t
md_forget_objects (bool tell)
{
  forget_zombies ();
  return forget_living (tell);
}

void
md_forget_violations (void)
{
  pthread_mutex_lock (&violation_lock);
  n_violations = 0;
  last_violation[0] = '\0';
  aborting = true;
  pthread_mutex_unlock (&violation_lock);

  for (size_t i = 0; i < MD_N_CALLS; i++)
    __atomic_store_n (&md_calls[i], 0, __ATOMIC_RELAXED);
}
