/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* References, pools, and what comes after the end. */

#include "test-double.h"

#import <Foundation/NSDebug.h>
#include <Block.h>
#include <objc/runtime.h>

/* Metal may autorelease at each of these. */
static void
test_pools (void)
{
  id<MTLBuffer> buffer;
  id<MTLCommandQueue> queue;
  id<MTLCommandBuffer> commands;
  id<MTLBlitCommandEncoder> blit;
  id<MTLSharedEvent> event;

  begin ();
  metal_double_set_zombies (false);
  @autoreleasepool
    {
      buffer = [unified newBufferWithLength: 64 options: 0];
      queue = [unified newCommandQueue];
      commands = [[queue commandBuffer] retain];
      blit = [[commands blitCommandEncoder] retain];
      event = [unified newSharedEvent];
    }

#define NEEDS_POOL(statement) assert_violates (statement, "without an autorelease pool")
  NEEDS_POOL ([MTLCopyAllDevices () release]);
  NEEDS_POOL ([MTLCreateSystemDefaultDevice () release]);
  NEEDS_POOL ([unified name]);
  NEEDS_POOL ([buffer device]);
  NEEDS_POOL ([buffer heap]);
  NEEDS_POOL ([buffer label]);
  NEEDS_POOL ([queue device]);
  NEEDS_POOL ([queue commandBuffer]);
  NEEDS_POOL ([commands device]);
  NEEDS_POOL ([commands commandQueue]);
  NEEDS_POOL ([commands error]);
  NEEDS_POOL ([commands blitCommandEncoder]);
  NEEDS_POOL ([blit device]);
  [blit endEncoding];
  NEEDS_POOL ([commands commit]);
  NEEDS_POOL ([blit release]);
  /* The queue drops its reference a moment after -waitUntilCompleted. */
  metal_double_quiesce ();
  NEEDS_POOL ([commands release]);
  NEEDS_POOL ([event release]);
  NEEDS_POOL ([buffer release]);
  NEEDS_POOL ([queue release]);
  NEEDS_POOL (queue = [unified newCommandQueue]);
  NEEDS_POOL (event = [unified newSharedEvent]);
  NEEDS_POOL (buffer = [unified newBufferWithLength: 64 options: 0]);
#undef NEEDS_POOL
  @autoreleasepool
    {
      [queue release];
      [event release];
      [buffer release];
    }
  end ();
}

static void
test_no_pool_needed (void)
{
  id<MTLBuffer> buffer;

  begin ();
  @autoreleasepool
    {
      buffer = [unified newBufferWithLength: 64 options: 0];
    }
  [buffer retain];
  [buffer release];
  [buffer length];
  [buffer storageMode];
  [buffer contents];
  [buffer setPurgeableState: MTLPurgeableStateKeepCurrent];
  g_assert_cmpuint ([unified registryID], ==, 1);
  assert_no_violations ();
  @autoreleasepool
    {
      [buffer release];
    }
  end ();
}

/* -autorelease of something that is not the getter's own. */
static void
test_autorelease (void)
{
  id<MTLBuffer> buffer;

  begin ();
  @autoreleasepool
    {
      buffer = [unified newBufferWithLength: 64 options: 0];
    }
  assert_violates ([buffer autorelease], "-autorelease without an autorelease pool");
  @autoreleasepool
    {
      [buffer release];
    }
  end ();
}

static void
subprocess_zombie (void)
{
  begin ();
  metal_double_set_zombies (true);
  @autoreleasepool
    {
      id<MTLBuffer> buffer = [unified newBufferWithLength: 64 options: 0];

      [buffer release];
      [buffer length];
    }
}

static void
subprocess_zombie_responds (void)
{
  begin ();
  metal_double_set_zombies (true);
  @autoreleasepool
    {
      id<MTLCommandQueue> queue = [unified newCommandQueue];

      [queue release];
      [queue respondsToSelector: @selector (commandBuffer)];
    }
}

static void
test_zombie (void)
{
  g_test_trap_subprocess ("/MetalDouble/lifetimes/zombie/subprocess/message", 0, 0);
  g_test_trap_assert_failed ();
  g_test_trap_assert_stderr ("*-[MTLBuffer length] sent to a deallocated object*");
  g_test_trap_subprocess ("/MetalDouble/lifetimes/zombie/subprocess/responds", 0, 0);
  g_test_trap_assert_failed ();
  g_test_trap_assert_stderr ("*-[MTLCommandQueue commandBuffer] sent to a deallocated object*");
}

static void
test_over_release (void)
{
  begin ();
  metal_double_set_zombies (true);
  @autoreleasepool
    {
      id<MTLBuffer> buffer = [unified newBufferWithLength: 64 options: 0];
      id<MTLCommandQueue> queue = [unified newCommandQueue];

      [buffer release];
      assert_violates ([buffer release], "-[MTLBuffer release] sent to a deallocated");
      assert_violates ([buffer retain], "-[MTLBuffer retain] sent to a deallocated");
      assert_violates ([buffer autorelease], "-[MTLBuffer autorelease] sent to a deallocated");
      assert_violates ([buffer retainCount], "-[MTLBuffer retainCount] sent to a deallocated");
      [queue release];
    }
  end ();
}

/* In a long life zombies do not pile up. */
static void
test_many_zombies (void)
{
  Class class = objc_getClass ("MDBuffer");

  GSDebugAllocationActive (YES);
  begin ();
  metal_double_set_zombies (true);
  @autoreleasepool
    {
      id<MTLBuffer> kept = [unified newBufferWithLength: 1 options: 0];

      for (guint i = 0; i < 20000; i++)
        [[unified newBufferWithLength: 1 options: 0] release];
      g_assert_cmpuint (metal_double_live ("buffer"), ==, 1);
      g_assert_cmpint (GSDebugAllocationCount (class), >, 1000);
      g_assert_cmpint (GSDebugAllocationCount (class), <, 10000);
      [kept release];
    }
  end ();
  g_assert_cmpint (GSDebugAllocationCount (class), ==, 0);
  GSDebugAllocationActive (NO);
}

static void
test_retained_references (void)
{
  begin ();
  @autoreleasepool
    {
      id<MTLCommandQueue> queue = [unified newCommandQueue];
      id<MTLCommandBuffer> commands = [queue commandBuffer];
      id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
      id<MTLBuffer> buffer = [unified newBufferWithLength: 64 options: 0];

      g_assert_true ([commands retainedReferences]);
      [blit fillBuffer: buffer range: NSMakeRange (0, 64) value: 1];
      g_assert_cmpuint ([buffer retainCount], ==, 2);
      [buffer release];
      [blit endEncoding];
      [commands commit];
      [commands waitUntilCompleted];
      g_assert_cmpuint (metal_double_live ("buffer"), ==, 0);
      [queue release];
    }
  assert_no_violations ();
  end ();
}

static void
test_unretained_references (void)
{
  begin ();
  metal_double_set_zombies (true);
  @autoreleasepool
    {
      id<MTLCommandQueue> queue = [unified newCommandQueue];
      id<MTLCommandBuffer> commands = [queue commandBufferWithUnretainedReferences];
      id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
      id<MTLBuffer> buffer = [unified newBufferWithLength: 64 options: 0];

      g_assert_false ([commands retainedReferences]);
      [blit fillBuffer: buffer range: NSMakeRange (0, 64) value: 1];
      g_assert_cmpuint ([buffer retainCount], ==, 1);
      [blit endEncoding];
      metal_double_pause ();
      [commands commit];
      assert_violates ([buffer release], "while a command buffer without retained references");
      assert_violates ([buffer release], "sent to a deallocated");
      metal_double_resume ();
      [commands waitUntilCompleted];
      g_assert_cmpuint (metal_double_live ("buffer"), ==, 0);
      [queue release];
    }
  end ();
}

static void
test_unretained_before_commit (void)
{
  begin ();
  @autoreleasepool
    {
      id<MTLCommandQueue> queue = [unified newCommandQueue];
      id<MTLCommandBuffer> commands = [queue commandBufferWithUnretainedReferences];
      id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
      id<MTLBuffer> buffer = [unified newBufferWithLength: 64 options: 0];

      [blit fillBuffer: buffer range: NSMakeRange (0, 64) value: 1];
      [blit endEncoding];
      [buffer release];
      assert_no_violations ();
      assert_violates ([commands commit], "MTLBuffer that was released before");
      [commands waitUntilCompleted];

      /* Nothing is wrong where the work is never committed. */
      buffer = [unified newBufferWithLength: 64 options: 0];
      @autoreleasepool
        {
          commands = [queue commandBufferWithUnretainedReferences];
          blit = [commands blitCommandEncoder];
          [blit fillBuffer: buffer range: NSMakeRange (0, 64) value: 1];
          [blit endEncoding];
          [buffer release];
        }
      g_assert_cmpuint (metal_double_violations (), ==, 1);
      g_assert_cmpuint (metal_double_live ("buffer"), ==, 0);
      [queue release];
    }
  end ();
}

/* The last reference to a queue goes on its own thread. */
static void
test_queue_ends_itself (void)
{
  begin ();
  @autoreleasepool
    {
      id<MTLCommandQueue> queue = [unified newCommandQueue];

      @autoreleasepool
        {
          [[queue commandBuffer] commit];
        }
      [queue release];
    }
  metal_double_quiesce ();
  g_assert_cmpuint (metal_double_live ("queue"), ==, 0);
  assert_no_violations ();
  end ();
}

static void
test_live (void)
{
  const char *const kinds[] = { "buffer", "queue", "command-buffer", "encoder", "event", "heap" };

  begin ();
  g_assert_cmpuint (metal_double_live ("device"), ==, 2);
  g_assert_cmpuint (metal_double_live (NULL), ==, 2);
  @autoreleasepool
    {
      MTLHeapDescriptor *descriptor = [[[MTLHeapDescriptor alloc] init] autorelease];
      id<MTLHeap> heap;
      id<MTLBuffer> buffer = [unified newBufferWithLength: 64 options: 0];
      id<MTLCommandQueue> queue = [unified newCommandQueue];
      id<MTLCommandBuffer> commands = [queue commandBuffer];
      id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
      id<MTLSharedEvent> event = [unified newSharedEvent];

      [descriptor setSize: PAGE];
      heap = [unified newHeapWithDescriptor: descriptor];
      for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
        g_assert_cmpuint (metal_double_live (kinds[i]), ==, 1);
      g_assert_cmpuint (metal_double_live (NULL), ==, 2 + G_N_ELEMENTS (kinds));
      assert_no_violations ();
      assert_violates (metal_double_live ("texture"), "no class “texture”");
      [blit endEncoding];
      [heap release];
      [buffer release];
      [queue release];
      [event release];
    }
  g_assert_cmpuint (metal_double_live (NULL), ==, 2);
  end ();
}

static void
test_leaks (void)
{
  id<MTLBuffer> buffer;
  void (^block) (void);

  begin ();
  @autoreleasepool
    {
      buffer = [unified newBufferWithLength: 64 options: 0];
      block = Block_copy (^{ [buffer length]; });
    }
  g_assert_cmpuint ([buffer retainCount], ==, 2);
  g_assert_cmpuint (metal_double_live ("block"), ==, 1);
  /* The buffer keeps its device. */
  g_assert_cmpuint (metal_double_shutdown (), ==, 3);
  @autoreleasepool
    {
      Block_release (block);
      [buffer release];
    }

  begin ();
  end ();
}

static void
test_blocks (void)
{
  begin ();
  @autoreleasepool
    {
      NSObject *captured = [[NSObject alloc] init];
      __block int calls = 0;
      void (^on_stack) (void) = ^{ calls += (int) [captured retainCount]; };
      void (^nested) (void) = ^{ on_stack (); };
      void (^on_heap) (void) = Block_copy (on_stack);
      NSArray *list;

      g_assert_cmpuint ([captured retainCount], ==, 2);
      g_assert_true ([(id) on_heap copy] == (id) on_heap);
      g_assert_true ([(id) on_heap copyWithZone: NULL] == (id) on_heap);
      [(id) on_heap retain];
      on_heap ();
      g_assert_cmpint (calls, ==, 2);
      for (guint i = 0; i < 3; i++)
        [(id) on_heap release];

      nested = Block_copy (nested);
      g_assert_cmpuint (metal_double_live ("block"), ==, 3);
      list = [[NSArray alloc] initWithObjects: on_heap, nil];
      Block_release (on_heap);
      g_assert_cmpuint (metal_double_live ("block"), ==, 3);
      [list release];
      Block_release (nested);
      g_assert_cmpuint (metal_double_live ("block"), ==, 0);
      g_assert_cmpuint ([captured retainCount], ==, 1);
      [captured release];
    }
  end ();
}

/* A __block variable moves to the heap with the first block, and retains
 * nothing. */
static void
test_block_variables (void)
{
  begin ();
  @autoreleasepool
    {
      __block NSObject *object = [[NSObject alloc] init];
      void (^set) (void) = Block_copy (^{
        [object release];
        object = nil;
      });
      bool (^is_nil) (void) = Block_copy (^{ return (bool) (object == nil); });

      g_assert_cmpuint ([object retainCount], ==, 1);
      g_assert_false (is_nil ());
      set ();
      g_assert_true (is_nil ());
      g_assert_null (object);
      Block_release (set);
      Block_release (is_nil);
    }
  end ();
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/MetalDouble/lifetimes/pools", test_pools);
  g_test_add_func ("/MetalDouble/lifetimes/pools/not-needed", test_no_pool_needed);
  g_test_add_func ("/MetalDouble/lifetimes/pools/autorelease", test_autorelease);
  g_test_add_func ("/MetalDouble/lifetimes/zombie", test_zombie);
  g_test_add_func ("/MetalDouble/lifetimes/zombie/subprocess/message", subprocess_zombie);
  g_test_add_func ("/MetalDouble/lifetimes/zombie/subprocess/responds", subprocess_zombie_responds);
  g_test_add_func ("/MetalDouble/lifetimes/zombie/many", test_many_zombies);
  g_test_add_func ("/MetalDouble/lifetimes/over-release", test_over_release);
  g_test_add_func ("/MetalDouble/lifetimes/references/retained", test_retained_references);
  g_test_add_func ("/MetalDouble/lifetimes/references/unretained", test_unretained_references);
  g_test_add_func ("/MetalDouble/lifetimes/references/before-commit",
                   test_unretained_before_commit);
  g_test_add_func ("/MetalDouble/lifetimes/queue-ends-itself", test_queue_ends_itself);
  g_test_add_func ("/MetalDouble/lifetimes/live", test_live);
  g_test_add_func ("/MetalDouble/lifetimes/leaks", test_leaks);
  g_test_add_func ("/MetalDouble/lifetimes/blocks", test_blocks);
  g_test_add_func ("/MetalDouble/lifetimes/blocks/variables", test_block_variables);
  return g_test_run ();
}
