/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Queues, command buffers and encoders: their order, and what breaks it. */

#include "test-double.h"

#include "metal-fixture.h"

static void
test_blits (void)
{
  begin ();
  @autoreleasepool
    {
      id<MTLCommandQueue> queue = [unified newCommandQueue];
      id<MTLBuffer> private = [unified newBufferWithLength: 9
                                                   options: MTLResourceStorageModePrivate];
      id<MTLBuffer> seen = [unified newBufferWithLength: 9 options: 0];
      const guint8 expected[] = { 1, 1, 1, 2, 2, 2, 2, 2, 1 };
      MTLCommandBufferStatus status;

      g_assert_true ([queue device] == unified);
      status = run_blits (queue, ^(id<MTLBlitCommandEncoder> blit) {
        g_assert_true ([blit device] == unified);
        [blit fillBuffer: private range: NSMakeRange (0, 9) value: 1];
        [blit fillBuffer: private range: NSMakeRange (3, 5) value: 2];
        [blit copyFromBuffer: private
                sourceOffset: 0
                    toBuffer: seen
           destinationOffset: 0
                        size: 9];
      });
      g_assert_cmpuint (status, ==, MTLCommandBufferStatusCompleted);
      g_assert_cmpmem ([seen contents], 9, expected, 9);
      run_blits (queue, ^(id<MTLBlitCommandEncoder> blit) {
        [blit copyFromBuffer: seen sourceOffset: 3 toBuffer: seen destinationOffset: 0 size: 3];
      });
      assert_bytes ([seen contents], 3, 2);
      [private release];
      [seen release];
      [queue release];
    }
  assert_no_violations ();
  end ();
}

static void
test_wrong_blits (void)
{
  begin ();
  @autoreleasepool
    {
      id<MTLBuffer> a = [discrete newBufferWithLength: 64 options: MTLResourceStorageModePrivate];
      id<MTLBuffer> b = [unified newBufferWithLength: 64 options: 0];
      id<MTLBuffer> none = nil;
      id<MTLBuffer> memoryless = metal_fixture_buffer_new (1, 64,
                                                           MTLResourceStorageModeMemoryless);
      id<MTLCommandQueue> queue = [discrete newCommandQueue];
      id<MTLCommandBuffer> commands = [queue commandBuffer];
      id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];

#define COPY(source, from, dest, to, n) \
  [blit copyFromBuffer: source sourceOffset: from toBuffer: dest destinationOffset: to size: n]
      assert_violates (COPY (a, 0, b, 0, 4), "another device");
      assert_violates (COPY (b, 0, a, 0, 4), "another device");
      assert_violates (COPY (none, 0, a, 0, 4), "without a buffer");
      assert_violates (COPY ((id) queue, 0, a, 0, 4), "without a buffer");
      assert_violates (COPY (memoryless, 0, a, 0, 4), "memoryless");
      assert_violates (COPY (a, 0, a, 60, 8), "8 bytes at 60");
      assert_violates (COPY (a, 60, a, 0, 8), "8 bytes at 60");
      assert_violates (COPY (a, NSUIntegerMax - 3, a, 0, 8), "in a buffer of 64");
      assert_violates (COPY (a, 0, a, 8, 0), "0 bytes");
      assert_violates (COPY (a, 2, a, 32, 8), "multiples of 4");
      assert_violates (COPY (a, 4, a, 32, 6), "multiples of 4");
      assert_violates (COPY (a, 0, a, 4, 8), "overlap");
      assert_violates (COPY (a, 4, a, 0, 8), "overlap");
      assert_violates ([blit fillBuffer: a range: NSMakeRange (0, 65) value: 1], "65 bytes");
      assert_violates ([blit fillBuffer: a range: NSMakeRange (0, 0) value: 1], "0 bytes");
      assert_violates ([blit fillBuffer: a range: NSMakeRange (1, 4) value: 1], "multiples of 4");
      assert_violates ([blit synchronizeResource: a], "not managed");
      assert_violates ([blit synchronizeResource: b], "another device");
#undef COPY
      [blit endEncoding];
      [queue release];
      [memoryless release];
      [a release];
      [b release];
    }
  end ();
}

static void
test_order_of_encoders (void)
{
  begin ();
  @autoreleasepool
    {
      id<MTLBuffer> buffer = [unified newBufferWithLength: 64 options: 0];
      id<MTLSharedEvent> event = [unified newSharedEvent];
      id<MTLCommandQueue> queue = [unified newCommandQueue];
      id<MTLCommandBuffer> commands = [queue commandBuffer];
      id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
      MTLCommandBufferHandler handler = ^(id<MTLCommandBuffer> c) { (void) c; };

      assert_violates (g_assert_null ([commands blitCommandEncoder]), "encoder is open");
      assert_violates (g_assert_null ([commands computeCommandEncoder]), "encoder is open");
      assert_violates ([commands encodeSignalEvent: event value: 1], "encoder is open");
      assert_violates ([commands encodeWaitForEvent: event value: 1], "encoder is open");
      assert_violates ([commands addCompletedHandler: handler], "encoder is open");
      assert_violates ([commands addScheduledHandler: handler], "encoder is open");
      assert_violates ([commands commit], "encoder is open");
      assert_violates ([commands waitUntilCompleted], "before commit");
      assert_violates ([commands waitUntilScheduled], "before commit");
      [blit endEncoding];
      assert_violates ([blit endEncoding], "twice");
      assert_violates ([blit fillBuffer: buffer range: NSMakeRange (0, 4) value: 1],
                       "after endEncoding");
      assert_violates ([blit synchronizeResource: buffer], "after endEncoding");
      g_assert_cmpuint ([commands status], ==, MTLCommandBufferStatusNotEnqueued);
      [commands commit];
      assert_violates ([commands commit], "after commit");
      assert_violates (g_assert_null ([commands blitCommandEncoder]), "after commit");
      assert_violates ([commands addCompletedHandler: handler], "after commit");
      assert_violates ([commands encodeSignalEvent: event value: 1], "after commit");
      [commands waitUntilCompleted];
      g_assert_cmpuint ([commands status], ==, MTLCommandBufferStatusCompleted);
      g_assert_null ([commands error]);
      [event release];
      [queue release];
      [buffer release];
    }
  end ();
}

static void
test_encoder_left_open (void)
{
  begin ();
  @autoreleasepool
    {
      id<MTLCommandQueue> queue = [unified newCommandQueue];
      id<MTLCommandBuffer> commands = [[queue commandBuffer] retain];

      assert_violates (@autoreleasepool { [commands blitCommandEncoder]; },
                       "released without endEncoding");
      [commands release];
      [queue release];
    }
  end ();
}

/* Executes late enough for a missing wait to show. */
static void
test_lazy (void)
{
  guint n_late = 0;

  begin ();
  @autoreleasepool
    {
      id<MTLCommandQueue> queue = [unified newCommandQueue];

      for (guint i = 0; i < 20; i++)
        {
          id<MTLCommandBuffer> commands = [queue commandBuffer];

          [commands commit];
          n_late += [commands status] < MTLCommandBufferStatusCompleted;
          [commands waitUntilCompleted];
        }
      [queue release];
    }
  g_assert_cmpuint (n_late, >=, 15);
  end ();
}

/* Commands run soon if the program waits for them, and so do the ones before. */
static void
test_eager (void)
{
  gint64 start = g_get_monotonic_time ();

  begin ();
  @autoreleasepool
    {
      id<MTLCommandQueue> queue = [unified newCommandQueue];
      id<MTLCommandBuffer> commands = nil;

      for (guint i = 0; i < 60; i++)
        {
          commands = [queue commandBuffer];
          [commands commit];
        }
      [commands waitUntilCompleted];
      [queue release];
    }
  end ();
  g_assert_cmpint (g_get_monotonic_time () - start, <, 60 * 15000);
}

static void
test_pause (void)
{
  begin ();
  @autoreleasepool
    {
      id<MTLCommandQueue> queue = [unified newCommandQueue];
      id<MTLCommandBuffer> commands = [queue commandBuffer];

      metal_double_pause ();
      [commands commit];
      g_usleep (50000);
      g_assert_cmpuint ([commands status], ==, MTLCommandBufferStatusCommitted);
      metal_double_resume ();
      metal_double_quiesce ();
      g_assert_cmpuint ([commands status], ==, MTLCommandBufferStatusCompleted);
      [queue release];
    }
  end ();
}

/* Each queue keeps its own order, and knows nothing of another's: what waits
 * for an event does not hold up the other queue. */
static void
test_queues (void)
{
  begin ();
  @autoreleasepool
    {
      id<MTLCommandQueue> first = [unified newCommandQueue];
      id<MTLCommandQueue> second = [unified newCommandQueue];
      id<MTLSharedEvent> event = [unified newSharedEvent];
      id<MTLBuffer> private = [unified newBufferWithLength: 64
                                                   options: MTLResourceStorageModePrivate];
      id<MTLBuffer> seen = [unified newBufferWithLength: 64 options: 0];
      id<MTLCommandBuffer> waiting = [second commandBuffer];
      id<MTLBlitCommandEncoder> blit;

      [waiting encodeWaitForEvent: event value: 1];
      blit = [waiting blitCommandEncoder];
      [blit copyFromBuffer: private sourceOffset: 0 toBuffer: seen destinationOffset: 0 size: 64];
      [blit endEncoding];
      [waiting commit];
      fill_all (first, private, 9);
      g_assert_cmpuint ([waiting status], <, MTLCommandBufferStatusCompleted);

      @autoreleasepool
        {
          id<MTLCommandBuffer> signalling = [first commandBuffer];

          [signalling encodeSignalEvent: event value: 1];
          [signalling commit];
        }
      [waiting waitUntilCompleted];
      assert_bytes ([seen contents], 64, 9);
      [private release];
      [seen release];
      [event release];
      [first release];
      [second release];
    }
  assert_no_violations ();
  end ();
}

static void
test_handlers (void)
{
  __block int n_scheduled = 0, n_completed = 0;

  begin ();
  @autoreleasepool
    {
      id<MTLCommandQueue> queue = [unified newCommandQueue];
      id<MTLCommandBuffer> commands = [queue commandBuffer];

      [commands addScheduledHandler: ^(id<MTLCommandBuffer> c) {
        g_assert_true (c == commands);
        g_assert_cmpuint ([c status], ==, MTLCommandBufferStatusScheduled);
        n_scheduled++;
      }];
      for (guint i = 0; i < 2; i++)
        [commands addCompletedHandler: ^(id<MTLCommandBuffer> c) {
          g_assert_cmpuint ([c status], ==, MTLCommandBufferStatusCompleted);
          n_completed++;
        }];
      [commands commit];
      [commands waitUntilScheduled];
      [commands waitUntilCompleted];
      g_assert_cmpint (n_scheduled, ==, 1);
      g_assert_cmpint (n_completed, ==, 2);
      g_assert_true ([commands commandQueue] == queue);
      g_assert_true ([commands device] == unified);
      [queue release];
    }
  assert_no_violations ();
  end ();
}

static void
test_wait_in_handler (void)
{
  begin ();
  @autoreleasepool
    {
      id<MTLCommandQueue> queue = [unified newCommandQueue];
      id<MTLCommandBuffer> commands = [queue commandBuffer];

      [commands addCompletedHandler: ^(id<MTLCommandBuffer> c) {
        assert_violates ([c waitUntilCompleted], "in a handler");
        g_assert_cmpuint (metal_double_live ("command-buffer"), ==, 1);
        assert_violates ([c error], "autorelease pool");
      }];
      [commands commit];
      [commands waitUntilCompleted];
      [queue release];
    }
  g_assert_cmpuint (metal_double_violations (), ==, 2);
  end ();
}

static void
test_failure (void)
{
  begin ();
  @autoreleasepool
    {
      id<MTLCommandQueue> queue = [unified newCommandQueue];
      id<MTLBuffer> buffer = [unified newBufferWithLength: 64 options: 0];
      id<MTLCommandBuffer> commands = [queue commandBuffer];
      id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];

      [blit fillBuffer: buffer range: NSMakeRange (0, 64) value: 1];
      [blit endEncoding];
      metal_double_fail_next_command_buffer (MTLCommandBufferErrorOutOfMemory);
      [commands commit];
      [commands waitUntilCompleted];
      g_assert_cmpuint ([commands status], ==, MTLCommandBufferStatusError);
      g_assert_cmpstr ([[[commands error] domain] UTF8String], ==, "MTLCommandBufferErrorDomain");
      g_assert_cmpint ([[commands error] code], ==, MTLCommandBufferErrorOutOfMemory);
      assert_bytes ([buffer contents], 64, POISON);
      fill_all (queue, buffer, 2);
      assert_bytes ([buffer contents], 64, 2);
      [buffer release];
      [queue release];
    }
  end ();
}

static gpointer
resume_later (gpointer data)
{
  g_usleep (50000);
  __atomic_store_n ((int *) data, 1, __ATOMIC_SEQ_CST);
  metal_double_resume ();
  return NULL;
}

/* A queue has a limited number of command buffers at a time; the next one blocks. */
static void
test_full_queue (void)
{
  begin ();
  @autoreleasepool
    {
      id<MTLCommandQueue> queue = [unified newCommandQueue];
      id<MTLCommandQueue> narrow = [unified newCommandQueueWithMaxCommandBufferCount: 2];
      int resumed = 0;
      GThread *thread;

      metal_double_pause ();
      for (guint i = 0; i < 64; i++)
        [[queue commandBuffer] commit];
      thread = g_thread_new ("resumes", resume_later, &resumed);
      [[queue commandBuffer] commit];
      g_assert_cmpint (__atomic_load_n (&resumed, __ATOMIC_SEQ_CST), ==, 1);
      g_thread_join (thread);

      @autoreleasepool
        {
          [narrow commandBuffer];
          [narrow commandBuffer];
          assert_violates (g_assert_null ([narrow commandBuffer]), "blocks for ever");
        }
      g_assert_nonnull ([narrow commandBuffer]);
      [queue release];
      [narrow release];
    }
  end ();
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/MetalDouble/commands/blits", test_blits);
  g_test_add_func ("/MetalDouble/commands/blits/wrong", test_wrong_blits);
  g_test_add_func ("/MetalDouble/commands/encoders/order", test_order_of_encoders);
  g_test_add_func ("/MetalDouble/commands/encoders/left-open", test_encoder_left_open);
  g_test_add_func ("/MetalDouble/commands/lazy", test_lazy);
  g_test_add_func ("/MetalDouble/commands/eager", test_eager);
  g_test_add_func ("/MetalDouble/commands/pause", test_pause);
  g_test_add_func ("/MetalDouble/commands/queues", test_queues);
  g_test_add_func ("/MetalDouble/commands/handlers", test_handlers);
  g_test_add_func ("/MetalDouble/commands/handlers/wait", test_wait_in_handler);
  g_test_add_func ("/MetalDouble/commands/failure", test_failure);
  g_test_add_func ("/MetalDouble/commands/full-queue", test_full_queue);
  return g_test_run ();
}
