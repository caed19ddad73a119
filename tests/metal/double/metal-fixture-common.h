/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The part of a fixture that is the same over the double and over Metal itself: each fixture
 * includes it once. */

#pragma once

#import <Foundation/Foundation.h>
#import <Metal/Metal.h>
#include <mach/vm_page_size.h>
#include <stdlib.h>
#include <string.h>

#include "metal-fixture.h"

struct _MetalFixtureRun
{
  id<MTLCommandQueue> queue;
  id<MTLCommandBuffer> commands;
  id<MTLSharedEvent> go;
};

size_t
metal_fixture_page_size (void)
{
  return vm_page_size;
}

unsigned long
metal_fixture_cpu_cache_mode (void *buffer)
{
  @autoreleasepool
    {
      return [(id<MTLBuffer>) buffer cpuCacheMode];
    }
}

unsigned long
metal_fixture_hazard_tracking_mode (void *buffer)
{
  @autoreleasepool
    {
      return [(id<MTLBuffer>) buffer hazardTrackingMode];
    }
}

void
metal_fixture_retain (void *object)
{
  [(id) object retain];
}

void
metal_fixture_release (void *object)
{
  @autoreleasepool
    {
      [(id) object release];
    }
}

unsigned
metal_fixture_set_purgeable_state (void    *buffer,
                                   unsigned state)
{
  @autoreleasepool
    {
      id<MTLHeap> heap = [(id<MTLBuffer>) buffer heap];

      return (unsigned) (heap != nil ? [heap setPurgeableState: state]
                                     : [(id<MTLBuffer>) buffer setPurgeableState: state]);
    }
}

uint64_t
metal_fixture_event_value (void *event)
{
  @autoreleasepool
    {
      return [(id<MTLSharedEvent>) event signaledValue];
    }
}

void
metal_fixture_event_signal (void    *event,
                            uint64_t value)
{
  @autoreleasepool
    {
      [(id<MTLSharedEvent>) event setSignaledValue: value];
    }
}

/* Makes what a run of this device has, and what it waits for. Within a pool. */
static MetalFixtureRun *
begin_run (id<MTLDevice>  device,
           void          *wait_for,
           uint64_t       wait_value)
{
  MetalFixtureRun *run = calloc (1, sizeof *run);

  run->queue = [device newCommandQueue];
  run->go = [device newSharedEvent];
  run->commands = [[run->queue commandBuffer] retain];
  [run->commands encodeWaitForEvent: run->go value: 1];
  if (wait_for != NULL)
    [run->commands encodeWaitForEvent: (id<MTLEvent>) wait_for value: wait_value];
  return run;
}

static void
commit_run (MetalFixtureRun *run,
            void            *signal,
            uint64_t         signal_value)
{
  if (signal != NULL)
    [run->commands encodeSignalEvent: (id<MTLEvent>) signal value: signal_value];
  [run->commands commit];
}

void
metal_fixture_go (MetalFixtureRun *run)
{
  metal_fixture_event_signal (run->go, 1);
}

bool
metal_fixture_finish (MetalFixtureRun *run)
{
  bool completed;

  metal_fixture_go (run);
  @autoreleasepool
    {
      [run->commands waitUntilCompleted];
      completed = [run->commands status] == MTLCommandBufferStatusCompleted;
      [run->commands release];
      [run->queue release];
      [run->go release];
    }
  free (run);
  return completed;
}
