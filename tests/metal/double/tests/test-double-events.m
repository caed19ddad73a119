/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Shared events. */

#include "test-double.h"

static void
test_value (void)
{
  begin ();
  @autoreleasepool
    {
      id<MTLSharedEvent> event = [unified newSharedEvent];

      g_assert_null ([event device]);
      g_assert_cmpuint ([event signaledValue], ==, 0);
      [event setSignaledValue: 5];
      g_assert_cmpuint ([event signaledValue], ==, 5);
      assert_violates ([event setSignaledValue: 3], "less than it has");
      g_assert_cmpuint ([event signaledValue], ==, 5);
      g_assert_true ([event waitUntilSignaledValue: 5 timeoutMS: 0]);
      g_assert_false ([event waitUntilSignaledValue: 6 timeoutMS: 10]);
      [event release];
    }
  end ();
}

static gpointer
signal_later (gpointer event)
{
  g_usleep (20000);
  @autoreleasepool
    {
      [(id<MTLSharedEvent>) event setSignaledValue: 7];
    }
  return NULL;
}

static void
test_wait_for_thread (void)
{
  begin ();
  @autoreleasepool
    {
      id<MTLSharedEvent> event = [unified newSharedEvent];
      GThread *thread = g_thread_new ("signals", signal_later, event);

      g_assert_true ([event waitUntilSignaledValue: 7 timeoutMS: G_MAXUINT64]);
      g_thread_join (thread);
      [event release];
    }
  end ();
}

/* A thread that waits hurries the queue that is to signal. */
static void
test_wait_for_queue (void)
{
  gint64 start = g_get_monotonic_time ();

  begin ();
  @autoreleasepool
    {
      id<MTLSharedEvent> event = [unified newSharedEvent];
      id<MTLCommandQueue> queue = [discrete newCommandQueue];

      for (guint i = 1; i <= 60; i++)
        {
          id<MTLCommandBuffer> commands = [queue commandBuffer];

          [commands encodeSignalEvent: event value: i];
          [commands commit];
          g_assert_true ([event waitUntilSignaledValue: i timeoutMS: 10000]);
        }
      [event release];
      [queue release];
    }
  assert_no_violations ();
  end ();
  g_assert_cmpint (g_get_monotonic_time () - start, <, 60 * 15000);
}

static void
test_wrong (void)
{
  begin ();
  @autoreleasepool
    {
      id<MTLSharedEvent> event = [unified newSharedEvent];
      id<MTLSharedEvent> none = nil;
      id<MTLCommandQueue> queue = [unified newCommandQueue];
      id<MTLCommandBuffer> commands = [queue commandBuffer];

      assert_violates ([commands encodeSignalEvent: none value: 1], "without an event");
      assert_violates ([commands encodeWaitForEvent: (id) queue value: 1], "without an event");
      [event setSignaledValue: 9];
      [commands encodeSignalEvent: event value: 8];
      assert_violates ([commands commit]; [commands waitUntilCompleted], "less than it has");
      g_assert_cmpuint ([event signaledValue], ==, 9);
      [event release];
      [queue release];
    }
  end ();
}

/* A GPU does not wait for ever. */
static void
test_gpu_timeout (void)
{
  begin ();
  metal_double_set_gpu_timeout (20);
  @autoreleasepool
    {
      id<MTLSharedEvent> event = [unified newSharedEvent];
      id<MTLCommandQueue> queue = [unified newCommandQueue];
      id<MTLBuffer> buffer = [unified newBufferWithLength: 4 options: 0];
      id<MTLCommandBuffer> commands = [queue commandBuffer];
      id<MTLBlitCommandEncoder> blit;

      [commands encodeWaitForEvent: event value: 1];
      blit = [commands blitCommandEncoder];
      [blit fillBuffer: buffer range: NSMakeRange (0, 4) value: 1];
      [blit endEncoding];
      [commands commit];
      [commands waitUntilCompleted];
      g_assert_cmpuint ([commands status], ==, MTLCommandBufferStatusError);
      g_assert_cmpint ([[commands error] code], ==, MTLCommandBufferErrorTimeout);
      assert_bytes ([buffer contents], 4, POISON);
      [buffer release];
      [event release];
      [queue release];
    }
  end ();
}

/* A command buffer that fails does not hold up those that wait for it. */
static void
test_failure_signals (void)
{
  begin ();
  @autoreleasepool
    {
      id<MTLSharedEvent> event = [unified newSharedEvent];
      id<MTLCommandQueue> queue = [unified newCommandQueue];
      id<MTLCommandBuffer> commands = [queue commandBuffer];

      [commands encodeSignalEvent: event value: 1];
      metal_double_fail_at (1);
      [commands commit];
      g_assert_true ([event waitUntilSignaledValue: 1 timeoutMS: 10000]);
      [commands waitUntilCompleted];
      g_assert_cmpuint ([commands status], ==, MTLCommandBufferStatusError);
      [event release];
      [queue release];
    }
  end ();
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/MetalDouble/events/value", test_value);
  g_test_add_func ("/MetalDouble/events/wait/thread", test_wait_for_thread);
  g_test_add_func ("/MetalDouble/events/wait/queue", test_wait_for_queue);
  g_test_add_func ("/MetalDouble/events/wrong", test_wrong);
  g_test_add_func ("/MetalDouble/events/gpu-timeout", test_gpu_timeout);
  g_test_add_func ("/MetalDouble/events/failure", test_failure_signals);
  return g_test_run ();
}
