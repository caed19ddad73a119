/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Operations that only a program with access to Metal can do, for tests in C and through an FFI.
 * Nothing here counts as a fallible point. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

size_t metal_fixture_page_size (void);

/* A device by its place in MTLCopyAllDevices(), borrowed. */
void *metal_fixture_device (unsigned ordinal);

/* Buffers that another library made, with one reference. options are
 * MTLResourceOptions (Shared 0, Managed 16, Private 32, Memoryless 48,
 * Untracked 256, Tracked 512). */
void *metal_fixture_buffer_new (unsigned ordinal, size_t size, unsigned options);
/* Makes a buffer from a heap; the buffer keeps the heap. */
void *metal_fixture_buffer_new_in_heap (unsigned ordinal, size_t size, unsigned options);

/* The modes that the buffer was made with, of these: MTLCPUCacheModeWriteCombined is 1, and
 * MTLHazardTrackingModeUntracked 1, Tracked 2. */
unsigned long metal_fixture_cpu_cache_mode (void *buffer);
unsigned long metal_fixture_hazard_tracking_mode (void *buffer);

void metal_fixture_retain (void *object);
void metal_fixture_release (void *object);
unsigned long metal_fixture_retain_count (void *object);

/* An MTLPurgeableState (1: leave as it is), of the heap where the buffer is of
 * one; what it was. */
unsigned metal_fixture_set_purgeable_state (void *buffer, unsigned state);

/* Read and write the GPU's memory, whatever the storage mode, without a command buffer: neither
 * tells the CPU's copy of a Managed buffer. */
void metal_fixture_peek (void *buffer, size_t offset, void *bytes, size_t size);
void metal_fixture_poke (void *buffer, size_t offset, const void *bytes, size_t size);

/* A tensor of Metal: dimensions come innermost first, strides are in elements. */
typedef struct
{
  void *buffer;  /* or NULL */
  size_t offset; /* in it, in bytes */
  unsigned rank;
  long dims[16];
  long strides[16];
  bool without_strides;
  long data_type; /* an MTLTensorDataType */
  unsigned long usage;
  unsigned n_planes; /* auxiliary ones */
} MetalFixtureTensor;

/* A tensor that another library made, with one reference; anything goes. */
void *metal_fixture_tensor_new (const MetalFixtureTensor *description);
/* Makes a tensor by Metal's rules; NULL if it refuses. */
void *metal_fixture_tensor_try (const MetalFixtureTensor *description);
void metal_fixture_tensor_describe (void *tensor, MetalFixtureTensor *description);

void *metal_fixture_event_new (unsigned ordinal);
uint64_t metal_fixture_event_value (void *event);
void metal_fixture_event_signal (void *event, uint64_t value);

typedef enum
{
  METAL_FIXTURE_FILL, /* bytes become the value */
  METAL_FIXTURE_ADD,  /* bytes grow by it */
} MetalFixtureKernel;

typedef struct _MetalFixtureRun MetalFixtureRun;

/* Commits work of another library on a queue of its own. It begins after
 * metal_fixture_go(), and after wait_for (or NULL) has wait_value; it ends with
 * signal (or NULL) at signal_value. */
MetalFixtureRun *metal_fixture_submit (MetalFixtureKernel kernel,
                                       void              *buffer,
                                       size_t             offset,
                                       size_t             size,
                                       uint8_t            value,
                                       void              *wait_for,
                                       uint64_t           wait_value,
                                       void              *signal,
                                       uint64_t           signal_value);
void metal_fixture_go (MetalFixtureRun *run);
/* Lets it go, waits for it, and frees it; whether it ended without an error. */
bool metal_fixture_finish (MetalFixtureRun *run);
