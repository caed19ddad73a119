/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Pools, whose memory is allocated and freed in the order of streams. A pool keeps the bytes of
 * freed memory until it is trimmed, or until somebody waits and its threshold is passed. */

#include "cuda-double-private.h"

#include <stdlib.h>
#include <string.h>

/* The bytes of memory that was freed */
struct CdCached
{
  CdMemory *memory;
  uint64_t bytes;
  bool whole; /* nothing has been taken of it */
  bool done;  /* the stream has come to the free */
  struct CdCached *next;
};

static bool reuse;

void
cuda_double_set_reuse (bool yes)
{
  pthread_mutex_lock (&cd_lock);
  reuse = yes;
  pthread_mutex_unlock (&cd_lock);
}

CdPool *
cd_new_pool (int device)
{
  CdPool *pool = cd_allocate (sizeof *pool);

  pool->device = device;
  pool->handle = cd_new_handle (CD_HANDLE_POOL, pool);

  return pool;
}

static CdPool *
find_pool (CuPool    handle,
           CuResult *result)
{
  CdPool *pool = cd_find_handle (CD_HANDLE_POOL, handle);

  if (pool != NULL && !pool->dead)
    return pool;
  *result = cd_violation (CU_INVALID_VALUE, "%p is no pool, or a destroyed one", (void *) handle);

  return NULL;
}

static CuResult
check_props (const CuPoolProps *props)
{
  if (props->alloc_type != CU_ALLOCATION_PINNED || props->location_type != CU_LOCATION_DEVICE
      || !cd_is_device (props->location_id))
    return CU_INVALID_VALUE;
  if (props->handle_types != 0 || props->security_attributes != NULL || props->max_size != 0)
    return CU_INVALID_VALUE;
  for (size_t i = 0; i < sizeof props->reserved; i++)
    if (props->reserved[i] != 0)
      return CU_INVALID_VALUE;

  return cd_devices[props->location_id].memory_pools ? CU_SUCCESS : CU_NOT_SUPPORTED;
}

CuResult
cuMemPoolCreate (CuPool            *pool,
                 const CuPoolProps *props)
{
  CuResult result;

  if (!cd_enter (CD_cuMemPoolCreate, CD_CONTEXT, &result))
    return result;

  result = check_props (props);
  if (result == CU_SUCCESS)
    {
      *pool = cd_new_pool (props->location_id)->handle;
      cd_live[CD_LIVE_POOL]++;
    }

  return cd_leave (result);
}

CuResult
cuDeviceGetDefaultMemPool (CuPool  *pool,
                           CuDevice device)
{
  CuResult result;

  if (!cd_enter (CD_cuDeviceGetDefaultMemPool, CD_CONTEXT, &result))
    return result;
  if (!cd_is_device (device))
    return cd_leave (CU_INVALID_DEVICE);
  if (!cd_devices[device].memory_pools)
    return cd_leave (CU_NOT_SUPPORTED);

  if (cd_devices[device].default_pool == NULL)
    cd_devices[device].default_pool = cd_new_pool (device);
  *pool = cd_devices[device].default_pool->handle;

  return cd_leave (CU_SUCCESS);
}

CuResult
cuMemPoolSetAttribute (CuPool handle,
                       CuEnum attribute,
                       void  *value)
{
  CdPool *pool;
  CuResult result;

  if (!cd_enter (CD_cuMemPoolSetAttribute, CD_CONTEXT, &result))
    return result;
  pool = find_pool (handle, &result);
  if (pool == NULL)
    return cd_leave (result);
  if (attribute != CU_POOL_RELEASE_THRESHOLD || value == NULL)
    return cd_leave (CU_INVALID_VALUE);

  memcpy (&pool->threshold, value, sizeof pool->threshold);

  return cd_leave (CU_SUCCESS);
}

/* Memory in the cache */

static uint64_t
cached_bytes (const CdPool *pool)
{
  uint64_t bytes = 0;

  for (const struct CdCached *i = pool->cached; i != NULL; i = i->next)
    bytes += i->bytes;

  return bytes;
}

static void
drop (CdPool           *pool,
      struct CdCached **link)
{
  struct CdCached *cached = *link;

  cd_devices[pool->device].used -= cached->bytes;
  if (cached->whole)
    cd_memory_drop_pages (cached->memory);
  *link = cached->next;
  free (cached);
}

/* Lets go of memory whose free the host knows to be done. */
static void
shrink (CdPool  *pool,
        uint64_t bytes_to_keep)
{
  struct CdCached **link = &pool->cached;
  uint64_t held = pool->live + cached_bytes (pool);

  while (*link != NULL && held > bytes_to_keep)
    {
      if (!(*link)->done || !cd_host_knows ((*link)->memory->released))
        {
          link = &(*link)->next;
          continue;
        }
      held -= (*link)->bytes;
      drop (pool, link);
    }
}

void
cd_pool_release_unused (void)
{
  for (size_t i = 0; i < cd_n_handles (CD_HANDLE_POOL); i++)
    {
      CdPool *pool = cd_handle_at (CD_HANDLE_POOL, i);

      shrink (pool, pool->dead ? 0 : pool->threshold);
    }
}

CuResult
cuMemPoolTrimTo (CuPool handle,
                 size_t bytes_to_keep)
{
  CdPool *pool;
  CuResult result;

  if (!cd_enter (CD_cuMemPoolTrimTo, CD_CONTEXT | CD_UNSAFE, &result))
    return result;
  pool = find_pool (handle, &result);
  if (pool == NULL)
    return cd_leave (result);

  shrink (pool, bytes_to_keep);

  return cd_leave (CU_SUCCESS);
}

CuResult
cuMemPoolDestroy (CuPool handle)
{
  CdPool *pool;
  CuResult result;

  if (!cd_enter (CD_cuMemPoolDestroy, CD_CONTEXT | CD_RELEASES | CD_FREES | CD_UNSAFE, &result))
    return result;
  pool = find_pool (handle, &result);
  if (pool == NULL)
    return cd_leave (result);
  if (pool == cd_devices[pool->device].default_pool)
    return cd_leave (cd_violation (CU_INVALID_VALUE, "the default pool stays"));

  pool->dead = true;
  cd_live[CD_LIVE_POOL]--;
  shrink (pool, 0);

  return cd_leave (CU_SUCCESS);
}

/* Allocations */

/* A stream may take memory whose free is done before what it does next. */
static bool
may_take (const CdStream        *stream,
          const struct CdCached *cached)
{
  CdPoint released = cached->memory->released;

  return cached->done || released.stream == stream->id || cd_clock_knows (stream->clock, released);
}

static uint64_t
takeable_bytes (const CdPool   *pool,
                const CdStream *stream)
{
  uint64_t bytes = 0;

  for (const struct CdCached *i = pool->cached; i != NULL; i = i->next)
    if (may_take (stream, i))
      bytes += i->bytes;

  return bytes;
}

static void
take_bytes (CdPool         *pool,
            const CdStream *stream,
            uint64_t        bytes)
{
  struct CdCached **link = &pool->cached;

  while (*link != NULL && bytes > 0)
    {
      struct CdCached *cached = *link;
      uint64_t taken = cached->bytes < bytes ? cached->bytes : bytes;

      if (!may_take (stream, cached))
        {
          link = &cached->next;
          continue;
        }
      cached->bytes -= taken;
      cached->whole = false;
      cd_devices[pool->device].used -= taken;
      bytes -= taken;
      if (cached->bytes == 0)
        {
          *link = cached->next;
          free (cached);
        }
    }
}

/* Returns memory at the address of freed memory, or NULL. */
static CdMemory *
take_address (CdPool         *pool,
              const CdStream *stream,
              size_t          size)
{
  for (struct CdCached **link = &pool->cached; *link != NULL; link = &(*link)->next)
    {
      struct CdCached *cached = *link;
      CdMemory *memory;

      if (!cached->whole || !may_take (stream, cached) || cached->memory->shadow_map == NULL
          || cached->memory->size != size)
        continue;

      memory = cd_allocate (sizeof *memory);
      *memory = *cached->memory;
      memory->freed = false;
      memory->reused = true;
      memory->released_clock = NULL;
      memory->accesses = NULL;
      memory->n_accesses = 0;
      memory->previous = NULL;
      cached->memory->shadow_map = NULL;
      cd_devices[pool->device].used -= cached->bytes;
      *link = cached->next;
      free (cached);
      cd_memory_add (memory);
      return memory;
    }

  return NULL;
}

static CuResult
new_memory (CdPool         *pool,
            const CdStream *stream,
            size_t          size,
            CdMemory      **memory)
{
  CdDevice *device = &cd_devices[pool->device];
  CuResult result;

  *memory = reuse ? take_address (pool, stream, size) : NULL;
  if (*memory != NULL)
    return CU_SUCCESS;

  if (size > device->memory - device->used + takeable_bytes (pool, stream))
    return CU_OUT_OF_MEMORY;
  result = cd_memory_new (CD_POOL_MEMORY, size, pool->device, memory);
  if (result == CU_SUCCESS)
    take_bytes (pool, stream, size);

  return result;
}

static CuResult
allocate (CuAddress *address,
          size_t     size,
          CdPool    *pool,
          CuStream   handle)
{
  CdStream *stream;
  CdMemory *memory;
  CdWork *work;
  CuResult result = CU_SUCCESS;

  stream = cd_stream_to_submit (handle, &result);
  if (stream == NULL)
    return result;
  if (!cd_devices[pool->device].memory_pools)
    return CU_NOT_SUPPORTED;
  if (size == 0 || stream->context->device != pool->device)
    return CU_INVALID_VALUE;
  if (stream->capture == NULL && (result = cd_capture_forbids ()) != CU_SUCCESS)
    return result;
  result = new_memory (pool, stream, size, &memory);
  if (result != CU_SUCCESS)
    return result;

  cd_devices[pool->device].used += size;
  pool->live += size;
  memory->pool = pool;
  memory->capture = stream->capture;
  work = cd_work_new (CD_ALLOC);
  work->memory = memory;
  result = cd_submit (stream, work);
  if (stream->capture == NULL)
    memory->allocated = (CdPoint) { stream->id, stream->submitted };
  *address = memory->address;

  return result;
}

CuResult
cuMemAllocFromPoolAsync (CuAddress *address,
                         size_t     size,
                         CuPool     handle,
                         CuStream   stream)
{
  CdPool *pool;
  CuResult result;

  if (!cd_enter (CD_cuMemAllocFromPoolAsync, 0, &result))
    return result;
  pool = find_pool (handle, &result);
  if (pool == NULL)
    return cd_leave (result);

  return cd_leave (allocate (address, size, pool, stream));
}

CuResult
cuMemAllocAsync (CuAddress *address,
                 size_t     size,
                 CuStream   handle)
{
  CdStream *stream;
  CdDevice *device;
  CuResult result;

  if (!cd_enter (CD_cuMemAllocAsync, 0, &result))
    return result;
  stream = cd_stream_find (handle, &result);
  if (stream == NULL)
    return cd_leave (result);

  device = &cd_devices[stream->context->device];
  if (device->default_pool == NULL)
    device->default_pool = cd_new_pool (stream->context->device);

  return cd_leave (allocate (address, size, device->default_pool, handle));
}

/* Frees */

static void
add_to_cache (CdMemory *memory)
{
  struct CdCached *cached = cd_allocate (sizeof *cached);
  struct CdCached **link = &memory->pool->cached;

  while (*link != NULL)
    link = &(*link)->next;
  *link = cached;
  cached->memory = memory;
  cached->bytes = memory->size;
  cached->whole = reuse;
}

/* Work that ran before is right by luck if the free is not ordered after it. */
static void
check_accesses (const CdMemory *memory,
                const CdStream *stream,
                const CdClock  *clock)
{
  for (size_t i = 0; i < memory->n_accesses; i++)
    if (memory->accesses[i].stream != stream->id && !cd_clock_knows (clock, memory->accesses[i]))
      cd_violation (CU_SUCCESS, "the stream does not wait for work of another on 0x%llx",
                    (unsigned long long) memory->address);
  if (memory->allocated.stream != stream->id && !cd_clock_knows (clock, memory->allocated))
    cd_violation (CU_SUCCESS, "the stream does not wait for the allocation of 0x%llx",
                  (unsigned long long) memory->address);
}

void
cd_pool_release (CdStream *stream,
                 CdWork   *work)
{
  CdMemory *memory = work->memory;

  cd_queue (stream, work);
  check_accesses (memory, stream, work->clock);
  memory->released = work->point;
  memory->released_clock = cd_clock_ref (work->clock);
  memory->pool->live -= memory->size;
  cd_memory_end (memory);
  add_to_cache (memory);
}

static CuResult
check_captured_free (const CdMemory *memory,
                     const CdStream *stream)
{
  if (memory->capture != stream->capture)
    return cd_violation (CU_INVALID_VALUE, stream->capture != NULL
                           ? "the memory is not of this capture"
                           : "the memory is of a graph that did not run");

  return stream->capture == NULL ? cd_capture_forbids () : CU_SUCCESS;
}

static CuResult
free_async (uintptr_t address,
            CuStream  handle)
{
  CdMemory *memory = cd_find_memory (address);
  CdStream *stream;
  CdWork *work;
  CuResult result = CU_SUCCESS;

  if (memory == NULL || memory->address != address || memory->kind == CD_PINNED
      || memory->kind == CD_REGISTERED)
    return cd_violation (CU_INVALID_VALUE, "0x%llx is no allocation", (unsigned long long) address);
  if (memory->freed)
    return cd_violation (CU_INVALID_VALUE, "0x%llx was freed before", (unsigned long long) address);
  if (memory->kind != CD_POOL_MEMORY)
    return cd_violation (CU_INVALID_VALUE, "0x%llx is not of a pool", (unsigned long long) address);
  stream = cd_stream_to_submit (handle, &result);
  if (stream == NULL)
    return result;
  if (stream->context->device != memory->device)
    return cd_violation (CU_INVALID_VALUE, "the memory is of another device than the stream");
  result = check_captured_free (memory, stream);
  if (result != CU_SUCCESS)
    return result;

  work = cd_work_new (CD_FREE);
  work->memory = memory;
  if (stream->capture != NULL)
    return cd_submit (stream, work);
  cd_pool_release (stream, work);

  return CU_SUCCESS;
}

CuResult
cuMemFreeAsync (CuAddress address,
                CuStream  stream)
{
  CuResult result;

  if (!cd_enter (CD_cuMemFreeAsync, CD_RELEASES | CD_FREES, &result))
    return result;

  return cd_leave (free_async ((uintptr_t) address, stream));
}

/* The stream has come to a free. */
void
cd_pool_freed (CdWork *work)
{
  CdMemory *memory = work->memory;

  for (struct CdCached *i = memory->pool->cached; i != NULL; i = i->next)
    if (i->memory == memory)
      i->done = true;
  if (reuse && memory->shadow != NULL)
    cd_poison (memory->shadow, memory->size, CUDA_DOUBLE_FREED);
  else
    cd_memory_drop_pages (memory);
}

/* Memory that cuMemFree() freed */
void
cd_pool_lost (CdMemory *memory)
{
  memory->pool->live -= memory->size;
  cd_devices[memory->device].used -= memory->size;
}

uint64_t
cuda_double_pool_cached (void)
{
  uint64_t bytes = 0;

  pthread_mutex_lock (&cd_lock);
  for (size_t i = 0; i < cd_n_handles (CD_HANDLE_POOL); i++)
    bytes += cached_bytes (cd_handle_at (CD_HANDLE_POOL, i));
  pthread_mutex_unlock (&cd_lock);

  return bytes;
}

uint64_t
cuda_double_pool_threshold (void *handle)
{
  CdPool *pool;
  uint64_t threshold;

  pthread_mutex_lock (&cd_lock);
  pool = cd_find_handle (CD_HANDLE_POOL, handle);
  threshold = pool != NULL ? pool->threshold : 0;
  pthread_mutex_unlock (&cd_lock);

  return threshold;
}
