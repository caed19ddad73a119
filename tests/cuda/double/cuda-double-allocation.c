/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The driver's functions that allocate, free and register memory, but for pools. */

#include "cuda-double-private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>

#define TMPFS 0x01021994
#define ALL_HOST_ALLOC_FLAGS 7u /* with write-combined */
#define ATTACH_HOST 2
#define PAGE ((uintptr_t) 4096)

static CuResult
allocate_device (CuAddress *address,
                 size_t     size)
{
  CdDevice *device = &cd_devices[cd_current_context ()->device];
  CdMemory *memory;
  CuResult result;

  if (size == 0)
    return CU_INVALID_VALUE;
  if (size > device->memory - device->used)
    return CU_OUT_OF_MEMORY;
  result = cd_memory_new (CD_DEVICE_MEMORY, size, cd_current_context ()->device, &memory);
  if (result != CU_SUCCESS)
    return result;

  device->used += size;
  *address = memory->address;

  return CU_SUCCESS;
}

CuResult
cuMemAlloc_v2 (CuAddress *address,
               size_t     size)
{
  CuResult result;

  if (!cd_enter (CD_cuMemAlloc_v2, CD_CONTEXT | CD_UNSAFE, &result))
    return result;

  return cd_leave (allocate_device (address, size));
}

static CuResult
allocate_managed (CuAddress *address,
                  size_t     size,
                  unsigned   flags)
{
  int device = cd_current_context ()->device;
  CdMemory *memory;
  CuResult result;

  if (!cd_devices[device].managed)
    return CU_NOT_SUPPORTED;
  if (size == 0 || (flags != CU_ATTACH_GLOBAL && flags != ATTACH_HOST))
    return CU_INVALID_VALUE;
  result = cd_memory_new (CD_MANAGED, size, device, &memory);
  if (result != CU_SUCCESS)
    return result;

  if (cd_n_pending > 0)
    cd_guard_managed (true);
  *address = memory->address;

  return CU_SUCCESS;
}

CuResult
cuMemAllocManaged (CuAddress   *address,
                   size_t       size,
                   unsigned int flags)
{
  CuResult result;

  if (!cd_enter (CD_cuMemAllocManaged, CD_CONTEXT | CD_UNSAFE, &result))
    return result;

  return cd_leave (allocate_managed (address, size, flags));
}

static CuResult
allocate_pinned (void   **address,
                 size_t   size,
                 unsigned flags)
{
  CdMemory *memory;
  CuResult result;

  if (flags & ~ALL_HOST_ALLOC_FLAGS)
    return CU_INVALID_VALUE;
  *address = NULL;
  if (size == 0)
    return CU_SUCCESS;
  result = cd_memory_new (CD_PINNED, size, cd_current_context ()->device, &memory);
  if (result == CU_SUCCESS)
    *address = (void *) memory->address;

  return result;
}

CuResult
cuMemHostAlloc (void       **address,
                size_t       size,
                unsigned int flags)
{
  CuResult result;

  if (!cd_enter (CD_cuMemHostAlloc, CD_CONTEXT | CD_UNSAFE, &result))
    return result;

  return cd_leave (allocate_pinned (address, size, flags));
}

/* Frees */

static CuResult
check_free (const CdMemory *memory,
            uintptr_t       address)
{
  if (memory == NULL || memory->address != address)
    return cd_violation (CU_INVALID_VALUE, "0x%llx is no allocation", (unsigned long long) address);
  if (memory->freed)
    return cd_violation (CU_INVALID_VALUE, "0x%llx was freed before", (unsigned long long) address);

  return CU_SUCCESS;
}

/* Memory of a pool is freed without waiting for anybody: work that the host does not know to be
 * done comes too late. */
static CuResult
free_pool_memory (CdMemory *memory)
{
  for (size_t i = 0; i < memory->n_accesses; i++)
    if (!cd_host_knows (memory->accesses[i]))
      cd_violation (CU_SUCCESS, "work that the host did not wait for uses the memory");
  cd_memory_end (memory);
  cd_memory_drop_pages (memory);
  cd_pool_lost (memory);

  return CU_SUCCESS;
}

static CuResult
free_device (uintptr_t address)
{
  CdMemory *memory = cd_find_memory (address);
  CuResult result = check_free (memory, address);

  if (result != CU_SUCCESS)
    return result;
  if (memory->kind == CD_POOL_MEMORY)
    return free_pool_memory (memory);
  if (memory->kind != CD_DEVICE_MEMORY && memory->kind != CD_MANAGED)
    return cd_violation (CU_INVALID_VALUE, "0x%llx is memory of the host",
                         (unsigned long long) address);

  result = cd_await_context (&cd_devices[memory->device].context);
  if (memory->kind == CD_DEVICE_MEMORY)
    cd_devices[memory->device].used -= memory->size;
  cd_memory_end (memory);
  cd_memory_drop_pages (memory);

  return result;
}

CuResult
cuMemFree_v2 (CuAddress address)
{
  CuResult result;

  if (!cd_enter (CD_cuMemFree_v2, CD_RELEASES | CD_FREES | CD_UNSAFE, &result))
    return result;

  cd_count_wait ();

  return cd_leave (free_device ((uintptr_t) address));
}

static CuResult
free_pinned (uintptr_t address)
{
  CdMemory *memory = cd_find_memory (address);
  CuResult result = check_free (memory, address);

  if (result != CU_SUCCESS)
    return result;
  if (memory->kind != CD_PINNED)
    return cd_violation (CU_INVALID_VALUE, "0x%llx is not of cuMemHostAlloc()",
                         (unsigned long long) address);

  result = cd_await_context (&cd_devices[memory->device].context);
  cd_memory_end (memory);
  cd_memory_drop_pages (memory);

  return result;
}

CuResult
cuMemFreeHost (void *address)
{
  CuResult result;

  if (!cd_enter (CD_cuMemFreeHost, CD_RELEASES | CD_FREES | CD_UNSAFE, &result))
    return result;

  cd_count_wait ();

  return cd_leave (free_pinned ((uintptr_t) address));
}

/* Registering memory of the host */

typedef struct
{
  uintptr_t start, end;
  char access[5];
  unsigned long inode;
  char path[512];
} Mapping;

static bool
read_mapping (FILE    *file,
              Mapping *mapping)
{
  char line[1024];
  unsigned long long start, end;

  mapping->path[0] = 0;
  if (fgets (line, sizeof line, file) == NULL
      || sscanf (line, "%llx-%llx %4s %*x %*s %lu %511[^\n]", &start, &end, mapping->access,
                 &mapping->inode, mapping->path) < 4)
    return false;
  mapping->start = (uintptr_t) start;
  mapping->end = (uintptr_t) end;

  return true;
}

static bool
is_on_disk (const char *path)
{
  struct statfs info;

  return statfs (path, &info) == 0 && info.f_type != TMPFS;
}

/* A driver never returned from registering private mappings of files on disk, and refused shared
 * ones that may be written. */
static CuResult
check_mapping (const Mapping *mapping,
               bool           read_only)
{
  bool writable = mapping->access[1] == 'w';
  bool shared = mapping->access[3] == 's';

  if (mapping->access[0] != 'r')
    return CU_INVALID_VALUE;
  if (!shared && mapping->inode != 0)
    return cd_violation (CU_INVALID_VALUE, "%s is mapped MAP_PRIVATE", mapping->path);
  if (!writable && !read_only)
    return CU_INVALID_VALUE;
  if (shared && writable && is_on_disk (mapping->path))
    return CU_INVALID_VALUE;

  return CU_SUCCESS;
}

static CuResult
check_mappings (uintptr_t address,
                size_t    size,
                bool      read_only)
{
  FILE *file = fopen ("/proc/self/maps", "r");
  uintptr_t at = address;
  Mapping mapping;
  CuResult result = CU_SUCCESS;

  if (file == NULL)
    return CU_UNKNOWN;
  while (result == CU_SUCCESS && at < address + size && read_mapping (file, &mapping))
    {
      if (mapping.end <= at)
        continue;
      if (mapping.start > at)
        break;
      result = check_mapping (&mapping, read_only);
      at = mapping.end;
    }
  fclose (file);

  return result == CU_SUCCESS && at < address + size ? CU_INVALID_VALUE : result;
}

/* Where devices have addresses of their own, this takes one for which nothing is mapped. */
static CuResult
register_host (uintptr_t address,
               size_t    size,
               unsigned  flags)
{
  int device = cd_current_context ()->device;
  bool read_only = flags & CU_REGISTER_READ_ONLY;
  CdMemory *memory;
  CuResult result;

  if (flags & ~(unsigned) (CU_REGISTER_PORTABLE | CU_REGISTER_DEVICE_MAP | CU_REGISTER_READ_ONLY))
    return CU_INVALID_VALUE;
  if (address == 0 || size == 0 || address + size < address)
    return CU_INVALID_VALUE;
  if (read_only && !cd_devices[device].register_read_only)
    return CU_NOT_SUPPORTED;
  if (cd_find_registered (address, size) != NULL || cd_find_live_memory (address) != NULL)
    return CU_ALREADY_REGISTERED;
  result = check_mappings (address, size, read_only);
  if (result != CU_SUCCESS)
    return result;

  memory = cd_allocate (sizeof *memory);
  memory->kind = CD_REGISTERED;
  memory->device = device;
  memory->size = size;
  memory->host_address = memory->address = address;
  memory->shadow = (char *) address;
  memory->read_only = read_only;
  if (!cd_devices[device].registered_same_address)
    memory->address = cd_reserve_addresses ((size + 2 * PAGE) / PAGE * PAGE) + address % PAGE;
  cd_memory_add (memory);

  return CU_SUCCESS;
}

CuResult
cuMemHostRegister_v2 (void        *address,
                      size_t       size,
                      unsigned int flags)
{
  CuResult result;

  if (!cd_enter (CD_cuMemHostRegister_v2, CD_CONTEXT | CD_UNSAFE, &result))
    return result;

  return cd_leave (register_host ((uintptr_t) address, size, flags));
}

static bool
is_mapped (uintptr_t address,
           size_t    size)
{
  uintptr_t at = address / PAGE * PAGE;
  unsigned char in_core[256];

  while (at < address + size)
    {
      size_t n = address + size - at;

      if (n > sizeof in_core * PAGE)
        n = sizeof in_core * PAGE;
      if (mincore ((void *) at, n, in_core) != 0)
        return false;
      at += n;
    }

  return true;
}

static CuResult
unregister_host (uintptr_t address)
{
  CdMemory *memory = cd_find_registered (address, 1);
  CuResult result;

  if (memory == NULL || memory->host_address != address)
    return cd_violation (CU_NOT_REGISTERED, "0x%llx is not registered",
                         (unsigned long long) address);

  result = cd_await_context (&cd_devices[memory->device].context);
  if (!is_mapped (address, memory->size))
    cd_violation (CU_SUCCESS, "0x%llx was unmapped before", (unsigned long long) address);
  cd_memory_unregister (memory);

  return result;
}

CuResult
cuMemHostUnregister (void *address)
{
  CuResult result;

  if (!cd_enter (CD_cuMemHostUnregister, CD_CONTEXT | CD_RELEASES | CD_FREES | CD_UNSAFE, &result))
    return result;

  cd_count_wait ();

  return cd_leave (unregister_host ((uintptr_t) address));
}

static CuResult
get_device_pointer (CuAddress *address,
                    uintptr_t  host,
                    unsigned   flags)
{
  const CdMemory *memory = cd_find_registered (host, 1);

  if (memory == NULL)
    memory = cd_find_live_memory (host);
  if (flags != 0 || memory == NULL || (memory->kind != CD_PINNED && memory->kind != CD_REGISTERED))
    return CU_INVALID_VALUE;
  *address = memory->address + (host - memory->host_address);

  return CU_SUCCESS;
}

CuResult
cuMemHostGetDevicePointer_v2 (CuAddress   *address,
                              void        *host,
                              unsigned int flags)
{
  CuResult result;

  if (!cd_enter (CD_cuMemHostGetDevicePointer_v2, CD_CONTEXT, &result))
    return result;

  return cd_leave (get_device_pointer (address, (uintptr_t) host, flags));
}

CuResult
cuMemGetInfo_v2 (size_t *n_free,
                 size_t *total)
{
  const CdDevice *device;
  CuResult result;

  if (!cd_enter (CD_cuMemGetInfo_v2, CD_CONTEXT, &result))
    return result;

  device = &cd_devices[cd_current_context ()->device];
  *total = device->memory;
  *n_free = device->memory - device->used;

  return cd_leave (CU_SUCCESS);
}

/* Attributes of pointers */

#define POINTER_DEVICE_POINTER 3
#define POINTER_BUFFER_ID 7

/* Outputs for ranges of foreign pointers are left as they are. */
static CuResult
get_attribute (const CdMemory *memory,
               uintptr_t       address,
               CuEnum          which,
               void           *out)
{
  bool on_host = memory != NULL && (memory->kind == CD_PINNED || memory->kind == CD_REGISTERED);
  size_t offset = memory != NULL ? address - memory->address : 0;

  switch (which)
    {
    case CU_POINTER_MEMORY_TYPE:
      *(CuEnum *) out = memory == NULL ? 0 : on_host ? CU_MEMORY_HOST : CU_MEMORY_DEVICE;
      return CU_SUCCESS;
    case POINTER_DEVICE_POINTER:
      *(CuAddress *) out = memory != NULL ? address : 0;
      return CU_SUCCESS;
    case CU_POINTER_HOST_POINTER:
      *(void **) out = memory != NULL && memory->host_address != 0
                         ? (void *) (memory->host_address + offset)
                         : NULL;
      return CU_SUCCESS;
    case POINTER_BUFFER_ID:
      *(uint64_t *) out = memory != NULL ? memory->id : 0;
      return CU_SUCCESS;
    case CU_POINTER_IS_MANAGED:
      *(unsigned *) out = memory != NULL && memory->kind == CD_MANAGED;
      return CU_SUCCESS;
    case CU_POINTER_DEVICE_ORDINAL:
      *(int *) out = memory != NULL ? memory->device : -2;
      return CU_SUCCESS;
    case CU_POINTER_RANGE_START:
      if (memory != NULL)
        *(CuAddress *) out = memory->address;
      return CU_SUCCESS;
    case CU_POINTER_RANGE_SIZE:
      if (memory != NULL)
        *(size_t *) out = memory->size;
      return CU_SUCCESS;
    default:
      return CU_INVALID_VALUE;
    }
}

/* Registered memory is known by both of its addresses. */
static CdMemory *
find_for_attributes (uintptr_t *address)
{
  CdMemory *memory = cd_find_live_memory (*address);

  if (memory != NULL)
    return memory;
  memory = cd_find_registered (*address, 1);
  if (memory != NULL)
    *address = memory->address + (*address - memory->host_address);

  return memory;
}

static CuResult
get_attributes (unsigned  n,
                CuEnum   *which,
                void    **out,
                uintptr_t address)
{
  const CdMemory *memory = find_for_attributes (&address);

  if (n == 0 || which == NULL || out == NULL)
    return CU_INVALID_VALUE;
  for (unsigned i = 0; i < n; i++)
    {
      CuResult result = out[i] == NULL ? CU_INVALID_VALUE
                                       : get_attribute (memory, address, which[i], out[i]);

      if (result != CU_SUCCESS)
        return result;
    }

  return CU_SUCCESS;
}

CuResult
cuPointerGetAttributes (unsigned int n,
                        CuEnum      *which,
                        void       **out,
                        CuAddress    address)
{
  CuResult result;

  if (!cd_enter (CD_cuPointerGetAttributes, 0, &result))
    return result;

  return cd_leave (get_attributes (n, which, out, (uintptr_t) address));
}
