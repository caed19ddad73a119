/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Controls of the double of Metal, for tests in C and through an FFI.
 *
 * Where a test does not call metal_double_setup(), the first look for devices
 * takes them from the environment: METAL_DOUBLE is a list, with commas, of
 *   unified, integrated, discrete   one device each, in this order: Apple
 *       silicon; unified memory, but not of Apple's GPU family; a discrete GPU
 *   no-list, no-default, default-once, default-last   as the flags below
 *   macos-12   a system without tensors
 * and without it there is no device. METAL_DOUBLE_FREE=1 really frees what has
 * ended, for ASan and valgrind. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct
{
  const char *name;
  uint64_t registry_id;
  bool unified;             /* as Apple silicon; else a discrete GPU */
  size_t max_buffer_length; /* 0: 1 GiB */
  size_t memory;            /* 0: no limit; buffers beyond it are nil */
  size_t max_buffers;       /* 0: no limit; those beyond it are nil */
  bool without_managed;     /* as iOS: storage mode Managed is a violation */
  bool without_apple_family; /* unified, but as Intel's: blits go by words of 4 bytes */
} MetalDoubleDevice;

#define METAL_DOUBLE_NO_LIST 1      /* MTLCopyAllDevices() is empty, as in a sandbox */
#define METAL_DOUBLE_NO_DEFAULT 2   /* MTLCreateSystemDefaultDevice() is nil */
#define METAL_DOUBLE_DEFAULT_ONCE 4 /* …and the second time nil */
#define METAL_DOUBLE_DEFAULT_LAST 8 /* …is the last of the list, else the first */
#define METAL_DOUBLE_MACOS_12 16    /* a system without tensors */

/* Forgets what was before, and starts anew with these devices. No other thread
 * may use the double during this call or the next. */
void metal_double_setup (const MetalDoubleDevice *devices, size_t n, unsigned flags);
/* Waits for the queues, and lets go of the devices. The number of objects and
 * blocks that are still alive; the objects are named on stderr. */
size_t metal_double_shutdown (void);

/* A violation is a use of Metal that is wrong, or right by luck. It is told on
 * stderr and ends the program, unless that is switched off here; a message to a
 * deallocated object always does. */
void metal_double_set_abort (bool abort_on_violation);
unsigned metal_double_violations (void);
/* The last one in this thread's view; valid until its next call. */
const char *metal_double_last_violation (void);
/* Objects that ended stay, to name themselves and the message sent to them;
 * false: they are freed. */
void metal_double_set_zombies (bool zombies);

/* The GPUs execute nothing between these. */
void metal_double_pause (void);
void metal_double_resume (void);
/* Returns when all that is committed has been executed. */
void metal_double_quiesce (void);
/* The time that a GPU waits for an event before the command buffer ends with
 * MTLCommandBufferErrorTimeout; 60 s unless set. */
void metal_double_set_gpu_timeout (unsigned milliseconds);

/* The version of macOS, 27.0 unless set: what came later is not there. A major version of 16 is
 * what a program of an older SDK hears of the newest. */
void metal_double_set_macos (unsigned major, unsigned minor);

/* Fallible points are counted in the order in which the program comes to them:
 * newCommandQueue…, newBuffer…, newSharedEvent, commandBuffer…,
 * blitCommandEncoder (all: nil), newTensor… (nil and an NSError), and commit (its execution ends
 * in an NSError).
 *
 * Lets the nth one from here fail, once; 1: the next, 0: none. */
void metal_double_fail_at (unsigned nth);
/* The number of points that were passed since. */
unsigned metal_double_points (void);
/* The next command buffer that is committed ends with this
 * MTLCommandBufferError. */
void metal_double_fail_next_command_buffer (int code);
/* Limits the bytes that a copy or a fill writes, as on systems that silently drop the rest; 0: no
 * limit. */
void metal_double_set_blit_limit (size_t bytes);
/* The bytes that copies and fills were asked for since setup; and the most by one of them since
 * this was last asked. */
uint64_t metal_double_blit_bytes (void);
uint64_t metal_double_largest_blit (void);
/* The domain of the errors of command buffers from now on; NULL: Metal's. */
void metal_double_set_error_domain (const char *domain);
/* The next n calls of a method return only when all of them have come, or after so long: what
 * threads race for is lost each time. */
void metal_double_meet (const char *selector, unsigned n, unsigned milliseconds);
/* A newBufferWithBytesNoCopy: that fails runs the deallocator all the same. */
void metal_double_dealloc_on_failure (bool yes);
/* Buffers end without a call of their deallocator, which is only released. */
void metal_double_forget_deallocators (bool yes);

/* The number of calls of a method or function since setup, by its selector or name; "retain" and
 * "release" are those of buffers. */
unsigned metal_double_calls (const char *selector);

/* Objects alive: "device", "buffer", "queue", "command-buffer", "encoder",
 * "event", "heap", "tensor", "block"; NULL: all of them. The double holds its devices
 * itself, once each. Waits until the queues have let go of what has completed. */
size_t metal_double_live (const char *class_name);
/* The number of objects of any class of Objective-C, such as one of the library under test, from
 * the first call on. */
size_t metal_double_live_of_class (const char *class_name);
