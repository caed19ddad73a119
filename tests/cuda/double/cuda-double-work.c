/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The work of streams, and what it may access. */

#include "cuda-double-private.h"

#include <stdlib.h>
#include <string.h>

static char *
fail (CuResult    code,
      const char *what,
      uintptr_t   address,
      size_t      size)
{
  cd_set_error (cd_violation (code, "%zu bytes at 0x%llx: %s", size, (unsigned long long) address,
                              what));

  return NULL;
}

static bool
is_before (CdPoint        first,
           const CdClock *clock,
           CdPoint        then)
{
  return first.stream == then.stream ? first.position < then.position
                                     : cd_clock_knows (clock, first);
}

/* Pool memory lives between two works of streams, and this has to be ordered between them. */
static const char *
mistake_of_order (const CdMemory *memory,
                  const CdWork   *work)
{
  if (memory->capture != NULL)
    return "a graph allocates this, and did not run";
  if (!is_before (memory->allocated, work->clock, work->point))
    return memory->reused ? "this was freed, and another stream has it now"
                          : "the stream did not wait for the allocation";
  if (memory->freed && !is_before (work->point, memory->released_clock, memory->released))
    return "the memory was freed, and the free does not wait for this";

  return NULL;
}

/* Several allocations may have had an address, one after another: returns the one that the work is
 * ordered within, or the last. */
static CdMemory *
owner_in_order (CdMemory     *last,
                const CdWork *work)
{
  for (CdMemory *i = last; i != NULL; i = i->previous)
    if (mistake_of_order (i, work) == NULL)
      return i;

  return last;
}

static void
note_access (CdMemory *memory,
             CdPoint   point)
{
  for (size_t i = 0; i < memory->n_accesses; i++)
    if (memory->accesses[i].stream == point.stream)
      {
        memory->accesses[i] = point;
        return;
      }

  memory->accesses = realloc (memory->accesses, (memory->n_accesses + 1) * sizeof (CdPoint));
  if (memory->accesses == NULL)
    abort ();
  memory->accesses[memory->n_accesses++] = point;
}

static bool
may_access (CdMemory *memory,
            CdWork   *work,
            uintptr_t address,
            size_t    size,
            unsigned  access,
            int       device)
{
  const char *mistake;

  if (memory->kind == CD_POOL_MEMORY)
    {
      mistake = mistake_of_order (memory, work);
      if (mistake != NULL && !memory->reused)
        return fail (CU_LAUNCH_FAILED, mistake, address, size) != NULL;
      if (mistake != NULL)
        cd_violation (CU_SUCCESS, "%zu bytes at 0x%llx: %s", size, (unsigned long long) address,
                      mistake);
      note_access (memory, work->point);
    }
  else if (memory->freed)
    return fail (CU_ILLEGAL_ADDRESS, "the memory was freed", address, size) != NULL;

  if ((memory->kind == CD_POOL_MEMORY || memory->kind == CD_DEVICE_MEMORY)
      && ((device >= 0 && memory->device != device)
          || (!(access & CD_ANY_DEVICE) && memory->device != work->stream->context->device)))
    return fail (CU_ILLEGAL_ADDRESS, "this is memory of another device", address, size) != NULL;
  if (memory->read_only && (access & CD_WRITES))
    return fail (CU_ILLEGAL_ADDRESS, "this was registered read-only", address, size) != NULL;

  return true;
}

/* Copies know registered memory by the address that the host has, too. */
static CdMemory *
find_by_host_address (uintptr_t *address)
{
  CdMemory *memory = cd_find_registered (*address, 1);

  if (memory == NULL)
    return NULL;
  *address = memory->address + (*address - memory->host_address);

  return memory;
}

/* Returns the pages of a range that the work may access; NULL is an error, and a violation. Memory
 * that was accessed before needs no more checks than that of its range. */
char *
cd_reach (CdWork   *work,
          uintptr_t address,
          size_t    size,
          unsigned  access,
          int       device)
{
  CdMemory *memory = work->reached;

  if (memory == NULL || address - memory->address >= memory->size
      || (access & ~work->reached_access))
    {
      memory = cd_find_memory (address);
      if (memory == NULL && (access & CD_PAGEABLE) && !cd_is_reserved (address))
        memory = find_by_host_address (&address);
      if (memory == NULL && (access & CD_PAGEABLE) && !cd_is_reserved (address))
        return (char *) address;
      if (memory == NULL)
        return fail (CU_ILLEGAL_ADDRESS, "there is no memory that the device can access", address,
                     size);
      if (memory->kind == CD_POOL_MEMORY)
        memory = owner_in_order (memory, work);
      if (!may_access (memory, work, address, size, access, device))
        return NULL;
      work->reached = memory;
      work->reached_access = access;
    }
  if (size > memory->size - (address - memory->address))
    return fail (CU_ILLEGAL_ADDRESS, "this is beyond the end of an allocation", address, size);

  return memory->shadow + (address - memory->address);
}

/* Copies and fills */

static size_t
extent (const CdWork *work,
        const CdSide *side)
{
  return side->slice * (work->depth - 1) + side->pitch * (work->height - 1) + work->width;
}

static char *
reach_side (CdWork       *work,
            const CdSide *side)
{
  work->reached = NULL;

  return cd_reach (work, side->address, extent (work, side), side->access, side->device);
}

static void
run_copy (CdWork *work)
{
  char *dst = reach_side (work, &work->dst);
  const char *src = work->staged;

  if (dst != NULL && src == NULL)
    src = reach_side (work, &work->src);
  if (dst == NULL || src == NULL)
    return;

  for (size_t z = 0; z < work->depth; z++)
    for (size_t y = 0; y < work->height; y++)
      memmove (dst + z * work->dst.slice + y * work->dst.pitch,
               src + z * work->src.slice + y * work->src.pitch, work->width);
}

static void
run_fill (CdWork *work)
{
  char *dst = reach_side (work, &work->dst);

  if (dst == NULL)
    return;
  if (work->unit == 1)
    {
      memset (dst, (int) work->value, work->width);
      return;
    }
  for (size_t i = 0; i < work->width; i += work->unit)
    memcpy (dst + i, &work->value, work->unit);
}

/* Values that streams write and wait for */

static void
run_write_value (CdWork *work)
{
  char *at = reach_side (work, &work->dst);

  if (at != NULL)
    __atomic_store_n ((uint64_t *) (void *) at, work->value, __ATOMIC_RELEASE);
}

static bool
value_is_reached (CdWork *work)
{
  const char *at = reach_side (work, &work->dst);

  return at == NULL || __atomic_load_n ((const uint64_t *) (const void *) at, __ATOMIC_ACQUIRE)
                         >= work->value;
}

bool
cd_work_is_ready (CdWork *work,
                  bool   *waits_for_value)
{
  if (work->kind == CD_WAIT)
    {
      if (work->other->done >= work->position)
        return true;
      cd_want (work->other, work->position);
      return false;
    }
  if (work->kind == CD_WAIT_VALUE && cd_error == CU_SUCCESS)
    {
      cd_function = work->function;
      if (value_is_reached (work))
        return true;
      *waits_for_value = true;
      return false;
    }

  return true;
}

/* After an error, work ends without doing anything. */
void
cd_run (CdWork *work)
{
  CuResult failure;

  cd_function = work->function;
  if (cd_error != CU_SUCCESS)
    return;
  failure = work->kind != CD_WAIT && work->kind != CD_MARKER ? cd_work_failure () : CU_SUCCESS;
  if (failure != CU_SUCCESS)
    {
      cd_set_error (failure);
      return;
    }

  switch (work->kind)
    {
    case CD_COPY:
      run_copy (work);
      break;
    case CD_FILL:
      run_fill (work);
      break;
    case CD_WRITE_VALUE:
      run_write_value (work);
      break;
    case CD_KERNEL:
      cd_run_kernel (work);
      break;
    case CD_FREE:
      cd_pool_freed (work);
      break;
    case CD_MARKER:
    case CD_WAIT:
    case CD_WAIT_VALUE:
    case CD_ALLOC:
      break;
    }
}
