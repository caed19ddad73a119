/* SPDX-License-Identifier: LGPL-2.1-or-later */

#import "metal-double-private.h"

/* The longest wait, for programs that mean to wait for ever. */
#define LONGEST_WAIT_MS ((uint64_t) 1000 * 60 * 60 * 24)

unsigned md_n_event_waiters;

static unsigned gpu_timeout_ms = 60000;

void
metal_double_set_gpu_timeout (unsigned milliseconds)
{
  pthread_mutex_lock (&md_lock);
  gpu_timeout_ms = milliseconds;
  pthread_mutex_unlock (&md_lock);
}

/* Under the lock. Queues stop being lazy while a thread waits. */
static bool
await_value (MDSharedEvent *event,
             uint64_t       value,
             uint64_t       milliseconds)
{
  MDTime until
    = md_time_after (milliseconds < LONGEST_WAIT_MS ? milliseconds : LONGEST_WAIT_MS);
  bool in_time = true;

  md_n_event_waiters++;
  pthread_cond_broadcast (&md_changed);
  while (event->value < value && in_time)
    in_time = md_wait_until (&until);
  md_n_event_waiters--;
  return event->value >= value;
}

bool
md_event_await (MDSharedEvent *event,
                uint64_t       value)
{
  bool reached;

  pthread_mutex_lock (&md_lock);
  reached = await_value (event, value, gpu_timeout_ms);
  pthread_mutex_unlock (&md_lock);
  return reached;
}

/* A value that is not larger changes nothing. */
static bool
raise_value (MDSharedEvent *event,
             uint64_t       value)
{
  bool lowers;

  pthread_mutex_lock (&md_lock);
  lowers = value < event->value;
  if (!lowers)
    event->value = value;
  pthread_cond_broadcast (&md_changed);
  pthread_mutex_unlock (&md_lock);
  return !lowers;
}

void
md_event_signal (MDSharedEvent *event,
                 uint64_t       value)
{
  if (!raise_value (event, value))
    md_violation ("a command buffer signals an event with %llu, less than it has",
                  (unsigned long long) value);
}

@implementation MDSharedEvent
@dynamic label;

/* An event of this kind is not bound to a device. */
- (id<MTLDevice>) device
{
  return nil;
}

- (uint64_t) signaledValue
{
  uint64_t v;

  md_count (MD_CALL_SIGNALED_VALUE);
  pthread_mutex_lock (&md_lock);
  v = value;
  pthread_mutex_unlock (&md_lock);
  md_meet (MD_CALL_SIGNALED_VALUE);
  return v;
}

- (void) setSignaledValue: (uint64_t) v
{
  md_count (MD_CALL_SET_SIGNALED_VALUE);
  if (!raise_value (self, v))
    md_violation ("an event is set to %llu, less than it has", (unsigned long long) v);
}

- (BOOL) waitUntilSignaledValue: (uint64_t) v timeoutMS: (uint64_t) milliseconds
{
  BOOL reached;

  md_count (MD_CALL_WAIT_UNTIL_SIGNALED);
  pthread_mutex_lock (&md_lock);
  reached = await_value (self, v, milliseconds);
  pthread_mutex_unlock (&md_lock);
  return reached;
}
@end
