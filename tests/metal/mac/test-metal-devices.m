/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Prints Metal's devices with their limits, and fills a buffer on each. It uses nothing of
 * mtldl, so it shows whether Metal works here at all. */

#import <Foundation/Foundation.h>
#import <Metal/Metal.h>
#include <stdio.h>
#include <string.h>

#define LENGTH 4096
#define PATTERN 0x5a

/* The values are numbers, as older SDKs lack the newer names. */
static const struct
{
  const char *name;
  long value;
} families[] = {
  { "Apple1", 1001 }, { "Apple2", 1002 }, { "Apple3", 1003 }, { "Apple4", 1004 },
  { "Apple5", 1005 }, { "Apple6", 1006 }, { "Apple7", 1007 }, { "Apple8", 1008 },
  { "Apple9", 1009 }, { "Apple10", 1010 }, { "Mac2", 2002 }, { "Common1", 3001 },
  { "Common2", 3002 }, { "Common3", 3003 }, { "Metal3", 5001 }, { "Metal4", 5002 },
};

static const char *
yes_or_no (BOOL value)
{
  return value ? "yes" : "no";
}

static void
print_families (id<MTLDevice> device)
{
  printf ("  families:");
  for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
    if ([device supportsFamily: (MTLGPUFamily) families[i].value])
      printf (" %s", families[i].name);
  printf ("\n");
}

static BOOL
holds_pattern (id<MTLBuffer> buffer)
{
  const unsigned char *bytes = [buffer contents];

  for (size_t i = 0; i < LENGTH; i++)
    if (bytes[i] != PATTERN)
      return NO;
  return YES;
}

/* Returns why the device cannot fill a buffer, or NULL. */
static const char *
try_fill (id<MTLDevice> device)
{
  const char *problem = NULL;
  id<MTLCommandQueue> queue = [device newCommandQueue];
  id<MTLBuffer> buffer = [device newBufferWithLength: LENGTH
                                             options: MTLResourceStorageModeShared];
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  id<MTLBlitCommandEncoder> encoder = nil;

  if (queue == nil || buffer == nil || commands == nil)
    {
      problem = "no queue, buffer or command buffer";
      goto out;
    }

  memset ([buffer contents], 0, LENGTH);
  encoder = [commands blitCommandEncoder];
  [encoder fillBuffer: buffer range: NSMakeRange (0, LENGTH) value: PATTERN];
  [encoder endEncoding];
  [commands commit];
  [commands waitUntilCompleted];

  if ([commands status] != MTLCommandBufferStatusCompleted)
    problem = "the command buffer failed";
  else if (!holds_pattern (buffer))
    problem = "the bytes are wrong";

out:
  [buffer release];
  [queue release];
  return problem;
}

static BOOL
print_device (id<MTLDevice> device,
              BOOL          is_default)
{
  const char *problem = try_fill (device);

  printf ("%s%s\n", [[device name] UTF8String], is_default ? " (the default device)" : "");
  printf ("  registry ID: %llu\n", (unsigned long long) [device registryID]);
  printf ("  unified memory: %s\n", yes_or_no ([device hasUnifiedMemory]));
  printf ("  longest buffer: %llu bytes\n", (unsigned long long) [device maxBufferLength]);
  printf ("  recommended working set: %llu bytes\n",
          (unsigned long long) [device recommendedMaxWorkingSetSize]);
  print_families (device);
  printf ("  a filled buffer: %s\n", problem != NULL ? problem : "right");
  return problem == NULL;
}

int
main (void)
{
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  id<MTLDevice> default_device = MTLCreateSystemDefaultDevice ();
  NSArray *devices = MTLCopyAllDevices ();
  BOOL is_fine = YES, is_listed = NO;

  for (id<MTLDevice> device in devices)
    {
      BOOL is_default = [device registryID] == [default_device registryID];

      is_fine &= print_device (device, is_default);
      is_listed |= is_default;
    }
  /* The list is empty in a sandbox. */
  if (default_device != nil && !is_listed)
    is_fine &= print_device (default_device, YES);
  if (default_device == nil)
    {
      printf ("Metal has no default device\n");
      is_fine = NO;
    }

  [devices release];
  [default_device release];
  [pool drain];
  return is_fine ? 0 : 1;
}
