/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Memory: addresses, pages, poison. Device memory is not mapped at its address, so that the host
 * faults; the streams access it at another. Addresses are multiples of 256, and of no more if the
 * size allows it; pages that fault are before and behind. */

#include "cuda-double-private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE ((size_t) 4096)
#define ALIGNMENT ((size_t) 256)
#define REGION ((size_t) 1 << 30)
#define LARGEST ((size_t) 1 << 44)
#define POISONED ((size_t) 32 << 20) /* at each end */

const char *const cd_memory_kind_names[CD_N_MEMORY_KINDS] = {
  [CD_DEVICE_MEMORY] = "device-memory",
  [CD_POOL_MEMORY] = "pool-memory",
  [CD_PINNED] = "pinned",
  [CD_MANAGED] = "managed",
  [CD_REGISTERED] = "registered",
};

size_t cd_live_memory[CD_N_MEMORY_KINDS];
uint64_t cd_live_memory_bytes[CD_N_MEMORY_KINDS];

/* By address; of those at one address only the last. */
static CdMemory **memories;
static size_t n_memories, n_allocated;
static CdMemory *registered; /* memory of the host, while it is registered */
static uint64_t next_id = 1;

/* Regions of addresses: nothing in them is used twice. */
typedef struct
{
  uintptr_t start, end;
} Region;

static Region *regions;
static size_t n_regions;
static uintptr_t next_address;

static size_t
round_up (size_t size)
{
  return (size + PAGE - 1) / PAGE * PAGE;
}

static bool
add_region (size_t size)
{
  void *start;

  if (size < REGION)
    size = REGION;
  start = mmap (NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED)
    return false;

  regions = realloc (regions, (n_regions + 1) * sizeof *regions);
  if (regions == NULL)
    abort ();
  regions[n_regions++] = (Region) { (uintptr_t) start, (uintptr_t) start + size };
  next_address = (uintptr_t) start + PAGE;

  return true;
}

uintptr_t
cd_reserve_addresses (size_t size)
{
  uintptr_t address;

  if ((n_regions == 0 || regions[n_regions - 1].end - next_address < size + PAGE)
      && !add_region (size + 2 * PAGE))
    return 0;

  address = next_address;
  next_address += size + PAGE;

  return address;
}

bool
cd_is_reserved (uintptr_t address)
{
  for (size_t i = 0; i < n_regions; i++)
    if (address >= regions[i].start && address < regions[i].end)
      return true;

  return false;
}

/* The index of the first memory behind an address. */
static size_t
index_behind (uintptr_t address)
{
  size_t low = 0, high = n_memories;

  while (low < high)
    {
      size_t middle = low + (high - low) / 2;

      if (memories[middle]->address <= address)
        low = middle + 1;
      else
        high = middle;
    }

  return low;
}

static bool
contains (uintptr_t start,
          size_t    size,
          uintptr_t address)
{
  return address >= start && address - start < size;
}

CdMemory *
cd_find_memory (uintptr_t address)
{
  size_t i = index_behind (address);

  if (i > 0 && contains (memories[i - 1]->address, memories[i - 1]->size, address))
    return memories[i - 1];
  for (CdMemory *k = registered; k != NULL; k = k->previous)
    if (contains (k->address, k->size, address))
      return k;

  return NULL;
}

CdMemory *
cd_find_live_memory (uintptr_t address)
{
  CdMemory *memory = cd_find_memory (address);

  return memory != NULL && !memory->freed ? memory : NULL;
}

CdMemory *
cd_find_registered (uintptr_t host_address,
                    size_t    size)
{
  for (CdMemory *i = registered; i != NULL; i = i->previous)
    if (i->host_address < host_address + size && host_address < i->host_address + i->size)
      return i;

  return NULL;
}

static void
insert (CdMemory *memory)
{
  size_t i = index_behind (memory->address);

  if (i > 0 && memories[i - 1]->address == memory->address)
    {
      memory->previous = memories[i - 1];
      memories[i - 1] = memory;
      return;
    }
  if (n_memories == n_allocated)
    {
      n_allocated = 2 * n_allocated + 64;
      memories = realloc (memories, n_allocated * sizeof *memories);
      if (memories == NULL)
        abort ();
    }
  memmove (memories + i + 1, memories + i, (n_memories - i) * sizeof *memories);
  memories[i] = memory;
  n_memories++;
}

void
cd_memory_add (CdMemory *memory)
{
  memory->id = next_id++;
  if (memory->kind == CD_REGISTERED)
    {
      memory->previous = registered;
      registered = memory;
    }
  else
    insert (memory);
  cd_live_memory[memory->kind]++;
  cd_live_memory_bytes[memory->kind] += memory->size;
}

void
cd_poison (char  *bytes,
           size_t size,
           int    value)
{
  if (size <= 2 * POISONED)
    {
      memset (bytes, value, size);
      return;
    }
  memset (bytes, value, POISONED);
  memset (bytes + size - POISONED, value, POISONED);
}

static char *
map_anonymous (size_t size)
{
  void *map = mmap (NULL, size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

  if (map == MAP_FAILED)
    return NULL;
  madvise (map, size, MADV_DONTFORK);

  return map;
}

/* Maps the same pages for the host, at the address, and for the streams. */
static char *
map_twice (char  *at,
           size_t size,
           bool   for_children)
{
  int fd = memfd_create ("cuda-double", MFD_CLOEXEC);
  void *shadow = MAP_FAILED;

  if (fd < 0)
    return NULL;
  if (ftruncate (fd, (off_t) size) == 0)
    shadow = mmap (NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (shadow != MAP_FAILED
      && mmap (at, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd, 0)
           == MAP_FAILED)
    {
      munmap (shadow, size);
      shadow = MAP_FAILED;
    }
  close (fd);
  if (shadow == MAP_FAILED)
    return NULL;

  madvise (shadow, size, MADV_DONTFORK);
  if (!for_children)
    madvise (at, size, MADV_DONTFORK);

  return shadow;
}

/* The place of an allocation in its pages: as close to their end as the alignment allows. */
static size_t
offset_in_pages (size_t mapped,
                 size_t size)
{
  size_t offset = (mapped - size) / ALIGNMENT * ALIGNMENT;

  return offset % (2 * ALIGNMENT) == 0 && offset > 0 ? offset - ALIGNMENT : offset;
}

static bool
map_pages (CdMemory *memory)
{
  size_t offset;

  memory->mapped = round_up (memory->size + 2 * ALIGNMENT);
  memory->map = (char *) cd_reserve_addresses (memory->mapped);
  if (memory->map == NULL)
    return false;

  if (memory->kind == CD_PINNED || memory->kind == CD_MANAGED)
    memory->shadow_map = map_twice (memory->map, memory->mapped, memory->kind == CD_PINNED);
  else
    memory->shadow_map = map_anonymous (memory->mapped);
  if (memory->shadow_map == NULL)
    return false;

  offset = offset_in_pages (memory->mapped, memory->size);
  memory->address = (uintptr_t) memory->map + offset;
  memory->shadow = memory->shadow_map + offset;
  cd_poison (memory->shadow_map, memory->mapped, CUDA_DOUBLE_FRESH);

  return true;
}

CuResult
cd_memory_new (CdMemoryKind kind,
               size_t       size,
               int          device,
               CdMemory   **memory)
{
  CdMemory *made;

  if (size > LARGEST)
    return CU_OUT_OF_MEMORY;

  made = cd_allocate (sizeof *made);
  made->kind = kind;
  made->size = size;
  made->device = device;
  if (!map_pages (made))
    {
      free (made);
      return CU_OUT_OF_MEMORY;
    }
  if (kind == CD_PINNED || kind == CD_MANAGED)
    made->host_address = made->address;
  cd_memory_add (made);
  *memory = made;

  return CU_SUCCESS;
}

static void
check_margins (const CdMemory *memory)
{
  const char *end = memory->shadow_map + memory->mapped;

  for (const char *at = memory->shadow_map; at < end; at++)
    {
      if (at == memory->shadow)
        at += memory->size;
      if (at < end && (unsigned char) *at != CUDA_DOUBLE_FRESH)
        {
          cd_violation (CU_SUCCESS, "a byte was written %td bytes from the start of an allocation "
                        "of %zu", at - memory->shadow, memory->size);
          return;
        }
    }
}

void
cd_memory_drop_pages (CdMemory *memory)
{
  if (memory->shadow_map == NULL)
    return;

  check_margins (memory);
  munmap (memory->shadow_map, memory->mapped);
  if (memory->kind == CD_PINNED || memory->kind == CD_MANAGED)
    mmap (memory->map, memory->mapped, PROT_NONE,
          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  memory->shadow_map = memory->shadow = NULL;
}

void
cd_memory_end (CdMemory *memory)
{
  memory->freed = true;
  cd_live_memory[memory->kind]--;
  cd_live_memory_bytes[memory->kind] -= memory->size;
}

void
cd_memory_unregister (CdMemory *memory)
{
  CdMemory **link = &registered;

  while (*link != memory)
    link = &(*link)->previous;
  *link = memory->previous;
  cd_memory_end (memory);
  free (memory);
}

/* Without concurrent access any queued work takes all managed memory from the host. */
void
cd_guard_managed (bool busy)
{
  if (cd_live_memory[CD_MANAGED] == 0)
    return;

  for (size_t i = 0; i < n_memories; i++)
    {
      const CdMemory *memory = memories[i];

      if (memory->kind == CD_MANAGED && !memory->freed
          && !cd_devices[memory->device].concurrent_managed)
        mprotect (memory->map, memory->mapped, busy ? PROT_NONE : PROT_READ | PROT_WRITE);
    }
}

bool
cd_device_has_memory (int device)
{
  for (size_t i = 0; i < n_memories; i++)
    if (!memories[i]->freed && memories[i]->device == device)
      return true;
  for (const CdMemory *i = registered; i != NULL; i = i->previous)
    if (i->device == device)
      return true;

  return false;
}

static void
list_memory (const CdMemory *memory)
{
  fprintf (stderr, "cuda-double: alive: %s %llu, %zu bytes of device %d\n",
           cd_memory_kind_names[memory->kind], (unsigned long long) memory->id, memory->size,
           memory->device);
}

void
cd_memory_list (void)
{
  for (size_t i = 0; i < n_memories; i++)
    if (!memories[i]->freed)
      list_memory (memories[i]);
  for (const CdMemory *i = registered; i != NULL; i = i->previous)
    list_memory (i);
}

static bool
transfer (uintptr_t   address,
          void       *to,
          const void *from,
          size_t      size)
{
  CdMemory *memory;
  bool found;

  pthread_mutex_lock (&cd_lock);
  memory = cd_find_live_memory (address);
  found = memory != NULL && size <= memory->size - (address - memory->address);
  if (found && to != NULL)
    memcpy (to, memory->shadow + (address - memory->address), size);
  else if (found)
    memcpy (memory->shadow + (address - memory->address), from, size);
  pthread_mutex_unlock (&cd_lock);

  return found;
}

bool
cuda_double_peek (unsigned long long address,
                  void              *bytes,
                  size_t             size)
{
  return transfer ((uintptr_t) address, bytes, NULL, size);
}

bool
cuda_double_poke (unsigned long long address,
                  const void        *bytes,
                  size_t             size)
{
  return transfer ((uintptr_t) address, NULL, bytes, size);
}
