/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* All of it from many threads at once. */

#include "test-double.h"

#define N_THREADS 4
#define N_ROUNDS 100

typedef struct
{
  id<MTLDevice> device;
  id<MTLCommandQueue> queue;  /* shared by all threads */
  id<MTLBuffer> shared;       /* likewise: one page for each */
  id<MTLSharedEvent> event;   /* counts the rounds of all */
  guint index;
} Work;

static void
run_round (const Work      *work,
           id<MTLCommandQueue> own_queue,
           guint8           value)
{
  id<MTLBuffer> private = [work->device newBufferWithLength: PAGE
                                                    options: MTLResourceStorageModePrivate];
  id<MTLSharedEvent> event = [work->device newSharedEvent];
  id<MTLCommandBuffer> first = [own_queue commandBuffer];
  id<MTLCommandBuffer> second = [work->queue commandBuffer];
  id<MTLBlitCommandEncoder> blit = [first blitCommandEncoder];

  [blit fillBuffer: private range: NSMakeRange (0, PAGE) value: value];
  [blit endEncoding];
  [first encodeSignalEvent: event value: 1];
  [first commit];

  [second encodeWaitForEvent: event value: 1];
  blit = [second blitCommandEncoder];
  [blit copyFromBuffer: private
          sourceOffset: 0
              toBuffer: work->shared
     destinationOffset: work->index * PAGE
                  size: PAGE];
  [blit endEncoding];
  [second addCompletedHandler: ^(id<MTLCommandBuffer> completed) {
    @autoreleasepool
      {
        g_assert_null ([completed error]);
        [work->event retain];
        [work->event release];
      }
  }];
  [second commit];
  [private release];
  [event release];
  [second waitUntilCompleted];
  assert_bytes ((char *) [work->shared contents] + work->index * PAGE, PAGE, value);
}

static gpointer
hammer (gpointer data)
{
  const Work *work = data;

  for (guint i = 0; i < N_ROUNDS; i++)
    @autoreleasepool
      {
        id<MTLCommandQueue> own_queue = [work->device newCommandQueue];

        run_round (work, own_queue, (guint8) i);
        g_assert_true ([work->shared device] == work->device);
        [work->shared setLabel: @"of all threads"];
        g_assert_cmpuint ([[work->shared label] length], ==, 14);
        g_assert_cmpuint (metal_double_live ("queue"), >=, 2);
        [own_queue release];
      }

  return NULL;
}

static void
run_threads (id<MTLDevice> device)
{
  Work works[N_THREADS];
  GThread *threads[N_THREADS];

  @autoreleasepool
    {
      id<MTLCommandQueue> queue = [device newCommandQueue];
      id<MTLBuffer> shared = [device newBufferWithLength: N_THREADS * PAGE options: 0];
      id<MTLSharedEvent> event = [device newSharedEvent];

      for (guint i = 0; i < N_THREADS; i++)
        {
          works[i] = (Work) { device, queue, shared, event, i };
          threads[i] = g_thread_new ("hammers", hammer, &works[i]);
        }
      for (guint i = 0; i < N_THREADS; i++)
        g_thread_join (threads[i]);
      g_assert_cmpuint ([shared retainCount], ==, 1);
      [queue release];
      [shared release];
      [event release];
    }
}

static void
test_unified (void)
{
  begin ();
  run_threads (unified);
  assert_no_violations ();
  end ();
}

static void
test_discrete (void)
{
  begin ();
  run_threads (discrete);
  assert_no_violations ();
  end ();
}

static gpointer
retain_and_release (gpointer data)
{
  for (guint i = 0; i < 100000; i++)
    {
      [(id) data retain];
      [(id) data release];
    }

  return NULL;
}

static void
test_references (void)
{
  GThread *threads[N_THREADS];

  begin ();
  @autoreleasepool
    {
      id<MTLBuffer> buffer = [unified newBufferWithLength: 64 options: 0];

      for (guint i = 0; i < N_THREADS; i++)
        threads[i] = g_thread_new ("retains", retain_and_release, buffer);
      for (guint i = 0; i < N_THREADS; i++)
        g_thread_join (threads[i]);
      g_assert_cmpuint ([buffer retainCount], ==, 1);
      g_assert_cmpuint (metal_double_calls ("retain"), ==, N_THREADS * 100000);
      [buffer release];
    }
  end ();
}

/* The environment is looked at once, by the first caller. */
static gpointer
look_for_devices (gpointer data)
{
  NSUInteger n;

  (void) data;
  @autoreleasepool
    {
      NSArray *all = MTLCopyAllDevices ();

      n = [all count];
      [all release];
    }

  return GSIZE_TO_POINTER (n);
}

static void
subprocess_environment (void)
{
  GThread *threads[N_THREADS];

  for (guint i = 0; i < N_THREADS; i++)
    threads[i] = g_thread_new ("looks", look_for_devices, NULL);
  for (guint i = 0; i < N_THREADS; i++)
    g_assert_cmpuint (GPOINTER_TO_SIZE (g_thread_join (threads[i])), ==, 2);
  g_assert_cmpuint (metal_double_live ("device"), ==, 2);
}

static void
test_environment (void)
{
  g_setenv ("METAL_DOUBLE", "unified,discrete", TRUE);
  g_test_trap_subprocess ("/MetalDouble/threads/environment/subprocess", 0, 0);
  g_test_trap_assert_passed ();
  g_unsetenv ("METAL_DOUBLE");
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/MetalDouble/threads/unified", test_unified);
  g_test_add_func ("/MetalDouble/threads/discrete", test_discrete);
  g_test_add_func ("/MetalDouble/threads/references", test_references);
  g_test_add_func ("/MetalDouble/threads/environment", test_environment);
  g_test_add_func ("/MetalDouble/threads/environment/subprocess", subprocess_environment);
  return g_test_run ();
}
