/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The machine that the double plays, and what fails on it when told to. */

#include "test-double.h"

#import <Foundation/NSDebug.h>
#include <objc/runtime.h>

static NSUInteger
count_devices (void)
{
  NSUInteger n;

  @autoreleasepool
    {
      NSArray *all = MTLCopyAllDevices ();

      n = [all count];
      [all release];
    }

  return n;
}

static bool
has_default (void)
{
  bool has;

  @autoreleasepool
    {
      id<MTLDevice> device = MTLCreateSystemDefaultDevice ();

      has = device != nil;
      [device release];
    }

  return has;
}

static void
test_devices (void)
{
  const MetalDoubleDevice twins[] = {
    { .name = "twin", .registry_id = 7 },
    { .name = "twin", .registry_id = 8, .unified = true, .max_buffer_length = 1 << 20 },
  };

  metal_double_setup (twins, G_N_ELEMENTS (twins), 0);
  @autoreleasepool
    {
      NSArray *all = MTLCopyAllDevices ();
      id<MTLDevice> first = [all objectAtIndex: 0];
      id<MTLDevice> second = [all objectAtIndex: 1];
      id<MTLDevice> by_default = MTLCreateSystemDefaultDevice ();

      g_assert_cmpuint ([all count], ==, 2);
      g_assert_cmpstr ([[first name] UTF8String], ==, "twin");
      g_assert_cmpstr ([[second name] UTF8String], ==, "twin");
      g_assert_cmpuint ([first registryID], ==, 7);
      g_assert_cmpuint ([second registryID], ==, 8);
      g_assert_false ([first isLowPower] || [first isHeadless] || [first isRemovable]);
      g_assert_false ([first hasUnifiedMemory]);
      g_assert_true ([second hasUnifiedMemory]);
      g_assert_cmpuint ([first maxBufferLength], ==, (NSUInteger) 1 << 30);
      g_assert_cmpuint ([second maxBufferLength], ==, 1 << 20);
      g_assert_true (by_default == first);
      [by_default release];
      [all release];
    }
  g_assert_cmpuint (metal_double_shutdown (), ==, 0);
}

static void
test_flags (void)
{
  const MetalDoubleDevice one = { .name = "one", .registry_id = 1 };

  metal_double_setup (&one, 1, METAL_DOUBLE_NO_LIST);
  g_assert_cmpuint (count_devices (), ==, 0);
  g_assert_true (has_default ());
  metal_double_setup (&one, 1, METAL_DOUBLE_NO_DEFAULT);
  g_assert_cmpuint (count_devices (), ==, 1);
  g_assert_false (has_default ());
  metal_double_setup (&one, 1, METAL_DOUBLE_DEFAULT_ONCE);
  g_assert_true (has_default ());
  g_assert_false (has_default ());
  metal_double_setup (NULL, 0, 0);
  g_assert_cmpuint (count_devices (), ==, 0);
  g_assert_false (has_default ());
  g_assert_cmpuint (metal_double_shutdown (), ==, 0);
  g_assert_cmpuint (count_devices (), ==, 0);
}

/* A program whose first look takes METAL_DOUBLE: what it finds. */
static void
subprocess_environment (void)
{
  @autoreleasepool
    {
      NSArray *all = MTLCopyAllDevices ();

      for (id<MTLDevice> device in all)
        g_print ("%s %" G_GUINT64_FORMAT " %s %" G_GSIZE_FORMAT "\n", [[device name] UTF8String],
                 [device registryID], [device hasUnifiedMemory] ? "unified" : "discrete",
                 (gsize) [device maxBufferLength]);
      [all release];
    }
  g_print ("default: %d %d\n", has_default (), has_default ());
}

static void
assert_environment (const char *value,
                    const char *output)
{
  if (value != NULL)
    g_setenv ("METAL_DOUBLE", value, TRUE);
  else
    g_unsetenv ("METAL_DOUBLE");
  g_test_trap_subprocess ("/MetalDouble/setup/environment/subprocess", 0, 0);
  g_test_trap_assert_passed ();
  g_test_trap_assert_stdout (output);
  g_unsetenv ("METAL_DOUBLE");
}

#define UNIFIED(id) "Double unified " id " unified 2147483648\n"
#define DISCRETE(id) "Double discrete " id " discrete 2147483648\n"

static void
test_environment (void)
{
  assert_environment (NULL, "*default: 0 0\n*");
  assert_environment ("", "*default: 0 0\n*");
  assert_environment ("none", "*default: 0 0\n*");
  assert_environment ("unified", "*" UNIFIED ("4294967297") "default: 1 1\n*");
  assert_environment ("discrete,unified",
                      "*" DISCRETE ("4294967297") UNIFIED ("4294967298") "default: 1 1\n*");
  assert_environment ("integrated,default-last",
                      "*Double integrated 4294967297 unified 2147483648\ndefault: 1 1\n*");
  assert_environment ("unified,no-default", "*" UNIFIED ("4294967297") "default: 0 0\n*");
  assert_environment ("unified,default-once", "*" UNIFIED ("4294967297") "default: 1 0\n*");
  assert_environment ("no-list,unified", "*default: 1 1\n*");
}

static void
test_environment_wrong (void)
{
  g_setenv ("METAL_DOUBLE", "unified,built-in", TRUE);
  g_test_trap_subprocess ("/MetalDouble/setup/environment/subprocess", 0, 0);
  g_test_trap_assert_failed ();
  g_test_trap_assert_stderr ("*METAL_DOUBLE does not know “built-in”*");
  g_unsetenv ("METAL_DOUBLE");
}

static void
subprocess_violation (void)
{
  metal_double_setup (NULL, 0, 0);
  MTLCopyAllDevices ();
}

static void
test_abort (void)
{
  g_test_trap_subprocess ("/MetalDouble/setup/abort/subprocess", 0, 0);
  g_test_trap_assert_failed ();
  g_test_trap_assert_stderr ("*VIOLATION: MTLCopyAllDevices() without an autorelease pool*");
}

/* Counts the objects of the class of buffers that have memory, zombies too. */
static int
count_allocated_buffers (void)
{
  return GSDebugAllocationCount (objc_getClass ("MDBuffer"));
}

static void
test_free (void)
{
  GSDebugAllocationActive (YES);
  for (int frees = 0; frees < 2; frees++)
    {
      int before;

      g_setenv ("METAL_DOUBLE_FREE", frees ? "1" : "0", TRUE);
      begin ();
      before = count_allocated_buffers ();
      @autoreleasepool
        {
          [[unified newBufferWithLength: 64 options: 0] release];
        }
      g_assert_cmpint (count_allocated_buffers (), ==, before + 1 - frees);
      end ();
      g_assert_cmpint (count_allocated_buffers (), ==, before);
    }
  g_unsetenv ("METAL_DOUBLE_FREE");
  GSDebugAllocationActive (NO);
}

/* Each fallible point in turn; what works has the value 1 in its place. */
static guint
pass_all_points (guint *n_failed)
{
  guint worked = 0;

  @autoreleasepool
    {
      void *memory = g_aligned_alloc (1, PAGE, PAGE);
      id<MTLCommandQueue> queue = [unified newCommandQueue];
      id<MTLSharedEvent> event = [unified newSharedEvent];
      id<MTLBuffer> buffers[] = {
        [unified newBufferWithLength: 64 options: 0],
        [unified newBufferWithBytes: "1234" length: 4 options: 0],
        [unified newBufferWithBytesNoCopy: memory length: PAGE options: 0 deallocator: nil],
      };
      id<MTLCommandBuffer> commands = [queue commandBuffer];
      id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];

      [blit endEncoding];
      [commands commit];
      [commands waitUntilCompleted];
      worked = (queue != nil) | (event != nil) << 1 | (buffers[0] != nil) << 2
               | (buffers[1] != nil) << 3 | (buffers[2] != nil) << 4 | (commands != nil) << 5
               | (blit != nil) << 6
               | ([commands status] == MTLCommandBufferStatusCompleted) << 7;
      *n_failed = [commands status] == MTLCommandBufferStatusError;
      for (guint i = 0; i < G_N_ELEMENTS (buffers); i++)
        [buffers[i] release];
      [event release];
      [queue release];
      g_aligned_free (memory);
    }

  return worked;
}

static void
test_fail_at (void)
{
  /* Without a queue nothing is committed; without a command buffer neither. */
  const guint expected[] = {
    0xff, 0xff ^ 0xe1, 0xff ^ 2, 0xff ^ 4, 0xff ^ 8, 0xff ^ 16, 0xff ^ 0xe0, 0xff ^ 64, 0xff ^ 128,
    0xff,
  };
  const guint points[] = { 8, 5, 8, 8, 8, 8, 6, 8, 8, 8 };

  begin ();
  for (guint nth = 0; nth < G_N_ELEMENTS (expected); nth++)
    {
      guint with_error;

      metal_double_fail_at (nth);
      g_assert_cmphex (pass_all_points (&with_error), ==, expected[nth]);
      g_assert_cmpuint (with_error, ==, nth == 8);
      g_assert_cmpuint (metal_double_points (), ==, points[nth]);
      g_assert_cmpuint (metal_double_live (NULL), ==, 2);
    }

  /* Once. */
  metal_double_fail_at (3);
  g_assert_cmphex (pass_all_points (&(guint) { 0 }), ==, 0xff ^ 4);
  g_assert_cmphex (pass_all_points (&(guint) { 0 }), ==, 0xff);
  g_assert_cmpuint (metal_double_points (), ==, 16);
  assert_no_violations ();
  end ();
}

static void
test_calls (void)
{
  begin ();
  @autoreleasepool
    {
      id<MTLBuffer> buffer = [discrete newBufferWithLength: 64
                                                   options: MTLResourceStorageModeManaged];
      id<MTLCommandQueue> queue = [discrete newCommandQueue];

      g_assert_cmpuint (metal_double_calls ("newBufferWithLength:options:"), ==, 1);
      g_assert_cmpuint (metal_double_calls ("contents"), ==, 0);
      [buffer contents];
      [buffer contents];
      g_assert_cmpuint (metal_double_calls ("contents"), ==, 2);
      [buffer retain];
      [buffer release];
      [queue retain];
      [queue release];
      g_assert_cmpuint (metal_double_calls ("retain"), ==, 1);
      g_assert_cmpuint (metal_double_calls ("release"), ==, 1);
      [buffer didModifyRange: NSMakeRange (0, 4)];
      g_assert_cmpuint (metal_double_calls ("didModifyRange:"), ==, 1);
      fill_all (queue, buffer, 1);
      g_assert_cmpuint (metal_double_calls ("waitUntilCompleted"), ==, 1);
      g_assert_cmpuint (metal_double_calls ("commit"), ==, 1);
      g_assert_cmpuint (metal_double_calls ("MTLCopyAllDevices"), ==, 1);
      assert_no_violations ();
      assert_violates (metal_double_calls ("drawPrimitives:"), "does not count");
      [buffer release];
      [queue release];
    }
  begin ();
  g_assert_cmpuint (metal_double_calls ("contents"), ==, 0);
  end ();
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/MetalDouble/setup/devices", test_devices);
  g_test_add_func ("/MetalDouble/setup/flags", test_flags);
  g_test_add_func ("/MetalDouble/setup/environment", test_environment);
  g_test_add_func ("/MetalDouble/setup/environment/subprocess", subprocess_environment);
  g_test_add_func ("/MetalDouble/setup/environment/wrong", test_environment_wrong);
  g_test_add_func ("/MetalDouble/setup/abort", test_abort);
  g_test_add_func ("/MetalDouble/setup/abort/subprocess", subprocess_violation);
  g_test_add_func ("/MetalDouble/setup/free", test_free);
  g_test_add_func ("/MetalDouble/setup/fail-at", test_fail_at);
  g_test_add_func ("/MetalDouble/setup/calls", test_calls);
  return g_test_run ();
}
