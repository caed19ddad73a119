/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Helpers of the tests of the double itself. */

#pragma once

#import <Foundation/Foundation.h>
#import <Metal/Metal.h>
#include <glib.h>
#include <string.h>

#include "metal-double.h"

#define PAGE ((size_t) 16384)
#define POISON 0xdb

/* Borrowed from the double, between begin() and end(). */
static id<MTLDevice> unified, discrete;

static inline void
begin (void)
{
  const MetalDoubleDevice machine[] = {
    { .name = "unified", .registry_id = 1, .unified = true },
    { .name = "discrete", .registry_id = 2 },
  };

  metal_double_setup (machine, G_N_ELEMENTS (machine), 0);
  metal_double_set_abort (false);
  @autoreleasepool
    {
      NSArray *all = MTLCopyAllDevices ();

      unified = [all objectAtIndex: 0];
      discrete = [all objectAtIndex: 1];
      [all release];
    }
}

static inline void
end (void)
{
  g_assert_cmpuint (metal_double_shutdown (), ==, 0);
}

/* Asserts that a statement is exactly one violation, which says so. */
#define assert_violates(statement, text) \
  G_STMT_START \
    { \
      unsigned before_ = metal_double_violations (); \
      statement; \
      g_assert_cmpuint (metal_double_violations (), ==, before_ + 1); \
      if (strstr (metal_double_last_violation (), (text)) == NULL) \
        g_error ("“%s” does not say “%s”", metal_double_last_violation (), (text)); \
    } \
  G_STMT_END

#define assert_no_violations() g_assert_cmpuint (metal_double_violations (), ==, 0)

/* Encodes one pass of blits, commits and waits. */
static inline MTLCommandBufferStatus
run_blits (id<MTLCommandQueue> queue,
           void              (^encode) (id<MTLBlitCommandEncoder>))
{
  MTLCommandBufferStatus status;

  @autoreleasepool
    {
      id<MTLCommandBuffer> commands = [queue commandBuffer];
      id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];

      encode (blit);
      [blit endEncoding];
      [commands commit];
      [commands waitUntilCompleted];
      status = [commands status];
    }

  return status;
}

static inline void
copy_all (id<MTLCommandQueue> queue,
          id<MTLBuffer>       source,
          id<MTLBuffer>       dest)
{
  run_blits (queue, ^(id<MTLBlitCommandEncoder> blit) {
    [blit copyFromBuffer: source
            sourceOffset: 0
                toBuffer: dest
       destinationOffset: 0
                    size: [source length]];
  });
}

static inline void
fill_all (id<MTLCommandQueue> queue,
          id<MTLBuffer>       buffer,
          guint8              value)
{
  run_blits (queue, ^(id<MTLBlitCommandEncoder> blit) {
    [blit fillBuffer: buffer range: NSMakeRange (0, [buffer length]) value: value];
  });
}

static inline void
assert_bytes (const void *bytes,
              size_t      n,
              guint8      value)
{
  const guint8 *b = bytes;

  for (size_t i = 0; i < n; i++)
    g_assert_cmpuint (b[i], ==, value);
}
