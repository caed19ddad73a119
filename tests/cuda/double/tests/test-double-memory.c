/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Memory of all kinds but pools: addresses, poison, bounds, frees, registering. */

#include "test-double.h"

#include <fcntl.h>
#include <sys/mman.h>

#define PAGE 4096

typedef struct
{
  CuEnum type;
  void *host;
  unsigned managed;
  int ordinal;
  CuAddress start;
  size_t size;
} Attributes;

static Attributes
ask (CuAddress address)
{
  Attributes a = { 99, POINTER (99), 99, 99, 99, 99 };
  CuEnum which[] = { CU_POINTER_MEMORY_TYPE,    CU_POINTER_HOST_POINTER, CU_POINTER_IS_MANAGED,
                     CU_POINTER_DEVICE_ORDINAL, CU_POINTER_RANGE_START,  CU_POINTER_RANGE_SIZE };
  void *out[] = { &a.type, &a.host, &a.managed, &a.ordinal, &a.start, &a.size };

  MUST (cu.cuPointerGetAttributes (6, which, out, address));
  return a;
}

static void
test_attributes (void)
{
  CuAddress device, managed, seen;
  char *pinned, own[8];
  Attributes a;

  begin ();
  device = new_memory (3000);
  pinned = new_pinned (3000);
  MUST (cu.cuMemAllocManaged (&managed, 3000, CU_ATTACH_GLOBAL));

  a = ask (device + 10);
  CHECK (a.type == CU_MEMORY_DEVICE && a.managed == 0 && a.ordinal == 0 && a.host == NULL);
  CHECK (a.start == device && a.size >= 3000);
  a = ask (managed + 10);
  CHECK (a.type == CU_MEMORY_DEVICE && a.managed == 1 && a.ordinal == 0);
  CHECK (a.start == managed && a.size >= 3000 && a.host == POINTER (managed + 10));
  a = ask (ADDRESS (pinned + 10));
  CHECK (a.type == CU_MEMORY_HOST && a.managed == 0 && a.ordinal == 0 && a.host == pinned + 10);
  CHECK (a.start == ADDRESS (pinned) && a.size >= 3000);
  /* Outputs for the range of a foreign pointer stay as they were. */
  a = ask (ADDRESS (own));
  CHECK (a.type == 0 && a.managed == 0 && a.ordinal == -2 && a.start == 99 && a.size == 99);
  MUST (cu.cuMemHostGetDevicePointer_v2 (&seen, pinned + 5, 0));
  CHECK (seen == ADDRESS (pinned + 5));
  EXPECT (CU_INVALID_VALUE, cu.cuMemHostGetDevicePointer_v2 (&seen, own, 0));
  EXPECT (CU_INVALID_VALUE, cu.cuMemHostGetDevicePointer_v2 (&seen, pinned, 1));

  MUST (cu.cuMemFree_v2 (device));
  MUST (cu.cuMemFree_v2 (managed));
  MUST (cu.cuMemFreeHost (pinned));
  end ();
}

static void
test_more_attributes (void)
{
  CuEnum which[] = { 3, 7 };
  uint64_t address = 1, id = 1, other_id = 1;
  void *out[] = { &address, &id }, *other_out[] = { &address, &other_id };
  CuAddress device, other;

  begin ();
  device = new_memory (64);
  other = new_memory (64);
  MUST (cu.cuPointerGetAttributes (2, which, other_out, other));
  MUST (cu.cuPointerGetAttributes (2, which, out, device + 3));
  CHECK (address == device + 3 && id != 0 && id != other_id);
  MUST (cu.cuMemFree_v2 (device));
  MUST (cu.cuMemFree_v2 (other));
  end ();
}

static void
test_wrong_attributes (void)
{
  CuEnum which[] = { 12345 };
  uint64_t value = 0;
  void *out[] = { &value }, *none[] = { NULL };
  CuAddress device;

  begin ();
  device = new_memory (64);
  EXPECT (CU_INVALID_VALUE, cu.cuPointerGetAttributes (1, which, out, device));
  which[0] = CU_POINTER_RANGE_SIZE;
  EXPECT (CU_INVALID_VALUE, cu.cuPointerGetAttributes (1, which, none, device));
  EXPECT (CU_INVALID_VALUE, cu.cuPointerGetAttributes (0, which, out, device));
  MUST (cu.cuMemFree_v2 (device));
  MUST (cu.cuPointerGetAttributes (1, which, out, device)); /* foreign now */
  CHECK (value == 0);
  end ();
}

/* The driver is more generous: here addresses are aligned to 256 and no more, and sizes exact. */
static void
test_addresses (void)
{
  CuAddress last = 0;
  unsigned more_aligned = 0;

  begin ();
  for (size_t size = 1; size < 70000; size = size * 3 / 2 + 1)
    {
      CuAddress device = new_memory (size);

      CHECK (device % 256 == 0 && device != last);
      more_aligned += device % 512 == 0;
      EXPECT (size, ask (device).size);
      CHECK (ask (device + size).type == 0 && ask (device - 1).type == 0);
      MUST (cu.cuMemFree_v2 (device));
      last = device;
    }
  EXPECT (0, more_aligned);
  end ();
}

static void
test_device_memory_faults (void)
{
  CuAddress device;

  begin ();
  device = new_memory (100);
  CHECK (!is_accessible (POINTER (device), false));
  MUST (cu.cuMemFree_v2 (device));
  CHECK (!is_accessible (POINTER (device), false));
  end ();
}

static void
test_host_memory_ends (void)
{
  size_t size = 2 * PAGE;
  char *pinned;
  CuAddress managed;

  begin ();
  pinned = new_pinned (size);
  MUST (cu.cuMemAllocManaged (&managed, size, CU_ATTACH_GLOBAL));
  memset (pinned, 1, size);
  memset (POINTER (managed), 1, size);
  CHECK (is_accessible (pinned, true) && is_accessible (pinned + size - 1, true));
  CHECK (!is_accessible (pinned + size + PAGE, false) && !is_accessible (pinned - PAGE, false));
  CHECK (!is_accessible ((char *) POINTER (managed) + size + PAGE, false));
  MUST (cu.cuMemFreeHost (pinned));
  MUST (cu.cuMemFree_v2 (managed));
  CHECK (!is_accessible (pinned, false) && !is_accessible (POINTER (managed), false));
  end ();
}

/* Bytes before the guarding pages are looked at when the memory ends. */
static void
test_margins (void)
{
  char *pinned;

  begin ();
  pinned = new_pinned (100);
  pinned[100] = 1;
  VIOLATES (CU_SUCCESS, cu.cuMemFreeHost (pinned));
  pinned = new_pinned (100);
  pinned[-1] = 1;
  VIOLATES (CU_SUCCESS, cu.cuMemFreeHost (pinned));
}

static void
test_poison (void)
{
  size_t size = 100000;
  unsigned char *bytes = malloc (size), *pinned;
  CuAddress device, managed;

  begin ();
  device = new_memory (size);
  pinned = new_pinned (size);
  MUST (cu.cuMemAllocManaged (&managed, size, CU_ATTACH_GLOBAL));
  CHECK (dbl.peek (device, bytes, size) && is_filled (bytes, size, CUDA_DOUBLE_FRESH));
  CHECK (is_filled (pinned, size, CUDA_DOUBLE_FRESH));
  CHECK (is_filled (POINTER (managed), size, CUDA_DOUBLE_FRESH));
  CHECK (!dbl.peek (device, bytes, size + 1) && !dbl.peek (device - 1, bytes, 1));

  bytes[0] = 7;
  CHECK (dbl.poke (device + 5, bytes, 1));
  EXPECT (0xa5a507a5, read_word (device + 4, NULL));
  MUST (cu.cuMemFree_v2 (device));
  MUST (cu.cuMemFree_v2 (managed));
  MUST (cu.cuMemFreeHost (pinned));
  CHECK (!dbl.peek (device, bytes, 1));
  free (bytes);
  end ();
}

static void
test_sizes (void)
{
  CuAddress address = 1;
  void *pinned = POINTER (1);

  begin ();
  EXPECT (CU_INVALID_VALUE, cu.cuMemAlloc_v2 (&address, 0));
  EXPECT (CU_INVALID_VALUE, cu.cuMemAllocManaged (&address, 0, CU_ATTACH_GLOBAL));
  EXPECT (CU_INVALID_VALUE, cu.cuMemAllocManaged (&address, 4, 0));
  EXPECT (CU_OUT_OF_MEMORY, cu.cuMemAlloc_v2 (&address, (size_t) 1 << 50));
  EXPECT (CU_INVALID_VALUE, cu.cuMemHostAlloc (&pinned, 4, 64));
  MUST (cu.cuMemHostAlloc (&pinned, 0, 0));
  if (is_double)
    {
      CHECK (pinned == NULL);
      EXPECT (CU_OUT_OF_MEMORY, cu.cuMemHostAlloc (&pinned, (size_t) 1 << 60, 0));
      EXPECT (CU_OUT_OF_MEMORY, cu.cuMemAllocManaged (&address, (size_t) 1 << 60, 1));
    }
  end ();
}

static void
test_limit (void)
{
  CuAddress a, b;
  size_t n_free, total;

  dbl.set_attribute (0, "memory", 10000);
  begin ();
  MUST (cu.cuDeviceTotalMem_v2 (&total, 0));
  EXPECT (10000, total);
  a = new_memory (6000);
  MUST (cu.cuMemGetInfo_v2 (&n_free, &total));
  CHECK (n_free == 4000 && total == 10000);
  EXPECT (CU_OUT_OF_MEMORY, cu.cuMemAlloc_v2 (&b, 4001));
  b = new_memory (4000);
  EXPECT (CU_OUT_OF_MEMORY, cu.cuMemAlloc_v2 (&b, 1));
  MUST (cu.cuMemFree_v2 (a));
  a = new_memory (6000);
  EXPECT (10000, dbl.live_bytes ("device-memory"));
  MUST (cu.cuMemFree_v2 (a));
  MUST (cu.cuMemFree_v2 (b));
  end ();
}

/* Huge memory is poisoned at its ends only, and takes no more than that. */
static void
test_huge (void)
{
  size_t size = ((size_t) 1 << 32) + 12;
  unsigned char bytes[12];
  CuAddress device;
  CuStream stream;

  dbl.set_attribute (0, "memory", (uint64_t) 1 << 33);
  begin ();
  stream = new_stream ();
  device = new_memory (size);
  MUST (cu.cuMemsetD8Async (device + size - 4, 3, 4, stream));
  MUST (cu.cuStreamSynchronize (stream));
  CHECK (dbl.peek (device + size - 12, bytes, 12));
  CHECK (is_filled (bytes, 8, CUDA_DOUBLE_FRESH) && is_filled (bytes + 8, 4, 3));
  MUST (cu.cuStreamDestroy_v2 (stream));
  MUST (cu.cuMemFree_v2 (device));
  end ();
}

static void
test_wrong_frees (void)
{
  CuAddress device, managed;
  char *pinned, own[8];

  begin ();
  device = new_memory (64);
  pinned = new_pinned (64);
  MUST (cu.cuMemAllocManaged (&managed, 64, CU_ATTACH_GLOBAL));
  VIOLATES (CU_INVALID_VALUE, cu.cuMemFree_v2 (device + 8));
  VIOLATES (CU_INVALID_VALUE, cu.cuMemFree_v2 (ADDRESS (own)));
  VIOLATES (CU_INVALID_VALUE, cu.cuMemFree_v2 (ADDRESS (pinned)));
  VIOLATES (CU_INVALID_VALUE, cu.cuMemFreeHost (POINTER (device)));
  VIOLATES (CU_INVALID_VALUE, cu.cuMemFreeHost (POINTER (managed)));
  VIOLATES (CU_INVALID_VALUE, cu.cuMemFreeHost (own));
  MUST (cu.cuMemFree_v2 (device));
  MUST (cu.cuMemFree_v2 (managed));
  MUST (cu.cuMemFreeHost (pinned));
  VIOLATES (CU_INVALID_VALUE, cu.cuMemFree_v2 (device));
  VIOLATES (CU_INVALID_VALUE, cu.cuMemFreeHost (pinned));
}

/* Work beyond the end, or on memory that was freed, ends in an error that stays. */
static void
test_bounds (void)
{
  CuAddress device, managed;
  CuStream stream;

  begin ();
  stream = new_stream ();
  device = new_memory (100);
  MUST (cu.cuMemsetD8Async (device + 50, 1, 51, stream));
  VIOLATES (CU_ILLEGAL_ADDRESS, cu.cuStreamSynchronize (stream));
  EXPECT (CU_ILLEGAL_ADDRESS, cu.cuStreamSynchronize (stream));
  EXPECT (CU_ILLEGAL_ADDRESS, cu.cuMemAlloc_v2 (&managed, 4));

  dbl.set_error (CU_SUCCESS);
  MUST (cu.cuMemsetD8Async (device - 1, 1, 4, stream));
  VIOLATES (CU_ILLEGAL_ADDRESS, cu.cuStreamSynchronize (stream));
  dbl.set_error (CU_SUCCESS);
  MUST (cu.cuMemFree_v2 (device));
  MUST (cu.cuMemsetD8Async (device, 1, 4, stream));
  VIOLATES (CU_ILLEGAL_ADDRESS, cu.cuStreamSynchronize (stream));
  dbl.set_error (CU_SUCCESS);
  VIOLATES (CU_INVALID_VALUE, cu.cuMemsetD8Async (ADDRESS (&stream), 1, 4, stream));
}

/* These frees wait for all of the context's work, which pool memory does not. */
static void
test_frees_wait (void)
{
  CuAddress device, other, managed;
  CuStream stream;
  char *pinned, *own = mmap (NULL, PAGE, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  begin ();
  stream = new_stream ();
  device = new_memory (64);
  other = new_memory (64);
  pinned = new_pinned (64);
  MUST (cu.cuMemAllocManaged (&managed, 64, CU_ATTACH_GLOBAL));
  MUST (cu.cuMemHostRegister_v2 (own, PAGE, 0));

#define QUEUE() MUST (cu.cuMemsetD8Async (device, 1, 64, stream))
  QUEUE ();
  EXPECT (1, dbl.pending (stream));
  MUST (cu.cuMemFree_v2 (other));
  EXPECT (0, dbl.pending (stream));
  QUEUE ();
  MUST (cu.cuMemFree_v2 (managed));
  EXPECT (0, dbl.pending (stream));
  QUEUE ();
  MUST (cu.cuMemFreeHost (pinned));
  EXPECT (0, dbl.pending (stream));
  QUEUE ();
  MUST (cu.cuMemHostUnregister (own));
  EXPECT (0, dbl.pending (stream));
  QUEUE ();
  other = new_memory (64); /* allocating does not wait */
  pinned = new_pinned (64);
  EXPECT (1, dbl.pending (stream));
  EXPECT (2, dbl.waits ("cuMemFree_v2"));
  EXPECT (1, dbl.waits ("cuMemFreeHost"));
  EXPECT (1, dbl.waits ("cuMemHostUnregister"));
  EXPECT (4, dbl.waits (NULL));

  MUST (cu.cuMemFree_v2 (other));
  MUST (cu.cuMemFree_v2 (device));
  MUST (cu.cuMemFreeHost (pinned));
  MUST (cu.cuStreamDestroy_v2 (stream));
  end ();
}

/* Registering */

static void *
map_memory (int    fd,
            int    prot,
            int    flags,
            size_t size)
{
  void *map = mmap (NULL, size, prot, flags, fd, 0);

  CHECK (map != MAP_FAILED);
  return map;
}

static void
test_register (void)
{
  size_t size = 300 * PAGE;
  char *own = map_memory (-1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, size);
  CuAddress device, seen;
  CuStream stream;
  Attributes a;

  begin ();
  stream = new_stream ();
  device = new_memory (size);
  MUST (cu.cuMemHostRegister_v2 (own, size, CU_REGISTER_PORTABLE));
  EXPECT (CU_ALREADY_REGISTERED, cu.cuMemHostRegister_v2 (own, size, 0));
  EXPECT (CU_ALREADY_REGISTERED, cu.cuMemHostRegister_v2 (own + PAGE, PAGE, 0));
  MUST (cu.cuMemHostUnregister (own));
  MUST (cu.cuMemHostRegister_v2 (own + PAGE, PAGE, 0));
  EXPECT (CU_ALREADY_REGISTERED, cu.cuMemHostRegister_v2 (own, size, 0));
  MUST (cu.cuMemHostUnregister (own + PAGE));
  MUST (cu.cuMemHostRegister_v2 (own, size, CU_REGISTER_PORTABLE));
  a = ask (ADDRESS (own + 10));
  CHECK (a.type == CU_MEMORY_HOST && a.ordinal == 0 && a.host == own + 10);
  MUST (cu.cuMemHostGetDevicePointer_v2 (&seen, own + 3, 0));
  CHECK (seen == ADDRESS (own + 3));

  memset (own, 1, size);
  MUST (cu.cuMemcpyAsync (device, ADDRESS (own), size, stream)); /* is read late */
  if (is_double)
    memset (own, 2, size);
  EXPECT (is_double ? 0x02020202 : 0x01010101, read_word (device + size - 4, stream));
  MUST (cu.cuMemsetD8Async (ADDRESS (own + 5), 9, 3, stream));
  MUST (cu.cuStreamSynchronize (stream));
  CHECK (own[5] == 9 && own[7] == 9 && own[4] != 9);

  MUST (cu.cuMemHostUnregister (own));
  CHECK (ask (ADDRESS (own)).type == 0);
  MUST (cu.cuMemHostRegister_v2 (own, size, 0));
  MUST (cu.cuMemHostUnregister (own));
  MUST (cu.cuMemFree_v2 (device));
  MUST (cu.cuStreamDestroy_v2 (stream));
  end ();
}

static void
test_register_wrong (void)
{
  char *own = map_memory (-1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, 4 * PAGE);
  char *pinned;

  begin ();
  pinned = new_pinned (64);
  EXPECT (CU_INVALID_VALUE, cu.cuMemHostRegister_v2 (own, 0, 0));
  EXPECT (CU_INVALID_VALUE, cu.cuMemHostRegister_v2 (NULL, PAGE, 0));
  EXPECT (CU_INVALID_VALUE, cu.cuMemHostRegister_v2 (own, PAGE, 64));
  EXPECT (CU_INVALID_VALUE, cu.cuMemHostRegister_v2 (own, SIZE_MAX, 0));
  EXPECT (CU_ALREADY_REGISTERED, cu.cuMemHostRegister_v2 (pinned, 64, 0));
  VIOLATES (CU_NOT_REGISTERED, cu.cuMemHostUnregister (own));
  MUST (cu.cuMemHostRegister_v2 (own, PAGE, 0));
  VIOLATES (CU_NOT_REGISTERED, cu.cuMemHostUnregister (own + 8));
  MUST (cu.cuMemHostUnregister (own));
  VIOLATES (CU_NOT_REGISTERED, cu.cuMemHostUnregister (own));
  munmap (own + PAGE, PAGE);
  EXPECT (CU_INVALID_VALUE, cu.cuMemHostRegister_v2 (own, 3 * PAGE, 0)); /* a hole */

  own = map_memory (-1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, PAGE);
  MUST (cu.cuMemHostRegister_v2 (own, PAGE, 0));
  munmap (own, PAGE);
  VIOLATES (CU_SUCCESS, cu.cuMemHostUnregister (own));
}

static void
test_register_files (void)
{
  char path[] = "/var/tmp/cuda-double-XXXXXX";
  int memory = memfd_create ("test", 0), file = mkstemp (path);
  char *map;
  CuStream stream;

  CHECK (memory >= 0 && file >= 0);
  unlink (path);
  CHECK (ftruncate (memory, 2 * PAGE) == 0 && ftruncate (file, 2 * PAGE) == 0);
  begin ();
  stream = new_stream ();

  map = map_memory (memory, PROT_READ, MAP_SHARED, 2 * PAGE);
  EXPECT (CU_INVALID_VALUE, cu.cuMemHostRegister_v2 (map, 2 * PAGE, 0));
  MUST (cu.cuMemHostRegister_v2 (map, 2 * PAGE, CU_REGISTER_READ_ONLY));
  MUST (cu.cuMemHostUnregister (map));
  map = map_memory (memory, PROT_READ | PROT_WRITE, MAP_SHARED, 2 * PAGE);
  MUST (cu.cuMemHostRegister_v2 (map, 2 * PAGE, 0));
  MUST (cu.cuMemHostUnregister (map));
  map = map_memory (file, PROT_READ, MAP_SHARED, 2 * PAGE);
  EXPECT (CU_INVALID_VALUE, cu.cuMemHostRegister_v2 (map, 2 * PAGE, 0));
  MUST (cu.cuMemHostRegister_v2 (map, 2 * PAGE, CU_REGISTER_READ_ONLY));

  if (is_double)
    {
      MUST (cu.cuMemsetD8Async (ADDRESS (map), 1, 4, stream));
      VIOLATES (CU_ILLEGAL_ADDRESS, cu.cuStreamSynchronize (stream));
      dbl.set_error (CU_SUCCESS);
      MUST (cu.cuMemHostUnregister (map));
      map = map_memory (file, PROT_READ, MAP_PRIVATE, 2 * PAGE);
      VIOLATES (CU_INVALID_VALUE,
                cu.cuMemHostRegister_v2 (map, 2 * PAGE, CU_REGISTER_READ_ONLY));
      dbl.set_attribute (0, "register-read-only", 0);
      map = map_memory (memory, PROT_READ, MAP_SHARED, 2 * PAGE);
      EXPECT (CU_NOT_SUPPORTED, cu.cuMemHostRegister_v2 (map, PAGE, CU_REGISTER_READ_ONLY));
    }
}

/* A driver refused shared mappings of files on disk that may be written. */
static void
test_register_writable_file (void)
{
  char path[] = "/var/tmp/cuda-double-XXXXXX";
  int file = mkstemp (path);
  char *map;

  CHECK (file >= 0 && ftruncate (file, PAGE) == 0);
  map = map_memory (file, PROT_READ | PROT_WRITE, MAP_SHARED, PAGE);
  begin ();
  EXPECT (CU_INVALID_VALUE, cu.cuMemHostRegister_v2 (map, PAGE, 0));
  unlink (path);
  end ();
}

/* Devices may have another address for registered memory. */
static void
test_register_elsewhere (void)
{
  char *own = map_memory (-1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, PAGE);
  CuAddress seen = 0, device;
  CuStream stream;
  Attributes a;

  dbl.set_attribute (0, "registered-same-address", 0);
  begin ();
  stream = new_stream ();
  device = new_memory (PAGE);
  memset (own, 4, PAGE);
  MUST (cu.cuMemHostRegister_v2 (own + 16, 64, 0));
  MUST (cu.cuMemHostGetDevicePointer_v2 (&seen, own + 20, 0));
  CHECK (seen != ADDRESS (own + 20) && !is_accessible (POINTER (seen), false));
  a = ask (seen);
  CHECK (a.type == CU_MEMORY_HOST && a.host == own + 20);
  CHECK (ask (ADDRESS (own + 20)).type == CU_MEMORY_HOST);
  MUST (cu.cuMemsetD8Async (seen, 5, 4, stream));
  MUST (cu.cuMemcpyAsync (device, ADDRESS (own + 16), 8, stream));
  MUST (cu.cuStreamSynchronize (stream));
  CHECK (own[20] == 5 && own[19] == 4);
  EXPECT (0x05050505, read_word (device + 4, stream));

  /* A fill is done by the device, which does not know the host's address. */
  MUST (cu.cuMemsetD8Async (ADDRESS (own + 20), 6, 4, stream));
  VIOLATES (CU_ILLEGAL_ADDRESS, cu.cuStreamSynchronize (stream));
}

/* Without concurrent access any queued work takes all managed memory from the host. */
static void
test_managed (void)
{
  CuAddress managed, later, device;
  CuStream stream;
  volatile char *bytes;

  dbl.set_attribute (0, "concurrent-managed", 0);
  begin ();
  stream = new_stream ();
  device = new_memory (64);
  MUST (cu.cuMemAllocManaged (&managed, 64, CU_ATTACH_GLOBAL));
  bytes = POINTER (managed);
  bytes[63] = 1;
  MUST (cu.cuMemsetD8Async (device, 1, 64, stream));
  CHECK (!is_accessible (bytes, false));
  MUST (cu.cuMemAllocManaged (&later, 64, CU_ATTACH_GLOBAL));
  CHECK (!is_accessible (POINTER (later), false));
  MUST (cu.cuStreamSynchronize (stream));
  CHECK (is_accessible (bytes, true) && is_accessible (POINTER (later), true));
  bytes[63] = 2;
  MUST (cu.cuMemFree_v2 (managed));
  MUST (cu.cuMemFree_v2 (later));
  MUST (cu.cuMemFree_v2 (device));
  MUST (cu.cuStreamDestroy_v2 (stream));
  dbl.set_attribute (0, "managed", 0);
  EXPECT (CU_NOT_SUPPORTED, cu.cuMemAllocManaged (&managed, 64, CU_ATTACH_GLOBAL));
  end ();
}

/* With concurrent access the host keeps it. */
static void
test_managed_concurrent (void)
{
  CuAddress managed;
  CuStream stream;

  begin ();
  stream = new_stream ();
  MUST (cu.cuMemAllocManaged (&managed, 64, CU_ATTACH_GLOBAL));
  MUST (cu.cuMemsetD8Async (managed, 7, 32, stream));
  ((volatile char *) POINTER (managed))[40] = 3;
  MUST (cu.cuStreamSynchronize (stream));
  CHECK (((volatile char *) POINTER (managed))[31] == 7
         && ((volatile char *) POINTER (managed))[40] == 3);
  MUST (cu.cuMemFree_v2 (managed));
  MUST (cu.cuStreamDestroy_v2 (stream));
  end ();
}

static const Case cases[] = {
  { "attributes", test_attributes, true },
  { "more-attributes", test_more_attributes, true },
  { "wrong-attributes", test_wrong_attributes },
  { "addresses", test_addresses },
  { "device-memory-faults", test_device_memory_faults },
  { "host-memory-ends", test_host_memory_ends },
  { "margins", test_margins },
  { "poison", test_poison },
  { "sizes", test_sizes, true },
  { "limit", test_limit },
  { "huge", test_huge },
  { "wrong-frees", test_wrong_frees },
  { "bounds", test_bounds },
  { "frees-wait", test_frees_wait },
  { "register", test_register, true },
  { "register-wrong", test_register_wrong },
  { "register-files", test_register_files, true },
  { "register-writable-file", test_register_writable_file },
  { "register-elsewhere", test_register_elsewhere },
  { "managed", test_managed },
  { "managed-concurrent", test_managed_concurrent, true },
};

RUN_CASES (cases)
