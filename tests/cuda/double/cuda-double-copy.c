/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The driver's functions that queue copies, fills and values. */

#include "cuda-double-private.h"

#include <string.h>

#define STAGED ((size_t) 1 << 20)
#define MAX_PITCH 0x7fffffff

/* Memory of the host that the driver does not know */
static bool
is_pageable (uintptr_t address)
{
  return cd_find_memory (address) == NULL && !cd_is_reserved (address)
         && cd_find_registered (address, 1) == NULL;
}

static bool
is_device_only (uintptr_t address)
{
  const CdMemory *memory = cd_find_memory (address);

  return memory != NULL ? memory->host_address == 0 : cd_is_reserved (address);
}

static void
stage (CdWork *work)
{
  size_t row = work->width;

  work->staged = cd_allocate (work->width * work->height * work->depth);
  for (size_t z = 0; z < work->depth; z++)
    for (size_t y = 0; y < work->height; y++)
      memcpy (work->staged + (z * work->height + y) * row,
              (const char *) work->src.address + z * work->src.slice + y * work->src.pitch, row);
  work->src.pitch = row;
  work->src.slice = row * work->height;
}

static bool
ranges_overlap (const CdWork *work)
{
  return work->height == 1 && work->depth == 1 && work->dst.address != work->src.address
         && work->dst.address < work->src.address + work->width
         && work->src.address < work->dst.address + work->width;
}

/* Small sources in pageable memory are read now; other copies from and to it are done at the end of
 * the call. A graph reads them when it runs. */
static CuResult
submit_copy (CdWork  *work,
             CuStream handle)
{
  bool from_pageable = is_pageable (work->src.address);
  bool to_pageable = is_pageable (work->dst.address);
  CuResult result = CU_SUCCESS;
  CdStream *stream = cd_stream_to_submit (handle, &result);
  bool blocks;
  uint64_t position;
  CdClock *clock;

  if (stream == NULL || work->width == 0 || work->height == 0 || work->depth == 0)
    {
      cd_work_free (work);
      return result;
    }
  if (ranges_overlap (work))
    cd_violation (CU_SUCCESS, "the source and the destination overlap");
  if (stream->capture != NULL)
    return cd_submit (stream, work);

  blocks = to_pageable || (from_pageable && work->width * work->height * work->depth > STAGED);
  if (blocks && (result = cd_capture_forbids ()) != CU_SUCCESS)
    {
      cd_work_free (work);
      return result;
    }
  if (from_pageable && !blocks)
    stage (work);
  cd_queue (stream, work);
  if (!blocks)
    return CU_SUCCESS;

  cd_count_wait ();
  position = stream->submitted;
  clock = cd_clock_ref (stream->clock);
  result = cd_await (stream, position);
  cd_host_learns (stream, position, clock);
  cd_clock_unref (clock);

  return result;
}

CuResult
cuMemcpyAsync (CuAddress dst,
               CuAddress src,
               size_t    size,
               CuStream  stream)
{
  CdWork *work;
  CuResult result;

  if (!cd_enter (CD_cuMemcpyAsync, 0, &result))
    return result;

  work = cd_work_new (CD_COPY);
  work->dst = (CdSide) { (uintptr_t) dst, .access = CD_WRITES | CD_ANY_DEVICE | CD_PAGEABLE,
                         .device = -1 };
  work->src = (CdSide) { (uintptr_t) src, .access = CD_ANY_DEVICE | CD_PAGEABLE, .device = -1 };
  work->width = size;

  return cd_leave (submit_copy (work, stream));
}

static CuResult
find_contexts (CuContext   dst,
               CuContext   src,
               CdContext **dst_context,
               CdContext **src_context)
{
  *dst_context = cd_find_handle (CD_HANDLE_CONTEXT, dst);
  *src_context = cd_find_handle (CD_HANDLE_CONTEXT, src);
  if (*dst_context == NULL || *src_context == NULL || (*dst_context)->retained == 0
      || (*src_context)->retained == 0)
    return cd_violation (CU_INVALID_CONTEXT, "a context is not retained");

  return CU_SUCCESS;
}

CuResult
cuMemcpyPeerAsync (CuAddress dst,
                   CuContext dst_context,
                   CuAddress src,
                   CuContext src_context,
                   size_t    size,
                   CuStream  stream)
{
  CdContext *to, *from;
  CdWork *work;
  CuResult result;

  if (!cd_enter (CD_cuMemcpyPeerAsync, 0, &result))
    return result;
  result = find_contexts (dst_context, src_context, &to, &from);
  if (result != CU_SUCCESS)
    return cd_leave (result);

  work = cd_work_new (CD_COPY);
  work->dst = (CdSide) { (uintptr_t) dst, .access = CD_WRITES | CD_ANY_DEVICE,
                         .device = to->device };
  work->src = (CdSide) { (uintptr_t) src, .access = CD_ANY_DEVICE, .device = from->device };
  work->width = size;

  return cd_leave (submit_copy (work, stream));
}

/* Copies in three dimensions */

typedef struct
{
  size_t x, y, z, lod, pitch, height;
  CuEnum type;
  uintptr_t host, device;
  const void *array, *reserved;
} Side3D;

static CuResult
read_side (const Side3D   *side,
           const CuCopy3D *copy,
           CdSide         *out)
{
  uintptr_t base = side->type == CU_MEMORY_HOST ? side->host : side->device;
  size_t slice, offset, end;

  if (side->type != CU_MEMORY_HOST && side->type != CU_MEMORY_DEVICE
      && side->type != CU_MEMORY_UNIFIED)
    return CU_INVALID_VALUE;
  if (side->lod != 0 || side->array != NULL || side->reserved != NULL)
    return CU_INVALID_VALUE;
  if (copy->width > SIZE_MAX - side->x || side->pitch < copy->width + side->x
      || side->pitch > MAX_PITCH)
    return CU_INVALID_VALUE;
  if (copy->height > SIZE_MAX - side->y || side->height < copy->height + side->y)
    return CU_INVALID_VALUE;
  if (__builtin_mul_overflow (side->pitch, side->height, &slice)
      || __builtin_mul_overflow (slice, side->z, &offset)
      || __builtin_mul_overflow (slice, copy->depth, &end)
      || __builtin_add_overflow (end, offset, &end)
      || __builtin_add_overflow (end, base, &end))
    return CU_INVALID_VALUE;
  if (side->type == CU_MEMORY_DEVICE && is_pageable (base))
    return cd_violation (CU_INVALID_VALUE, "0x%llx is not memory of a device",
                         (unsigned long long) base);
  if (side->type == CU_MEMORY_HOST && is_device_only (base))
    return cd_violation (CU_INVALID_VALUE, "0x%llx is not memory of the host",
                         (unsigned long long) base);

  out->address = base + side->x + side->y * side->pitch + offset;
  out->pitch = side->pitch;
  out->slice = slice;
  out->access = CD_PAGEABLE;
  out->device = -1;

  return CU_SUCCESS;
}

#define SIDE(copy, name) \
  &(Side3D) { copy->name##_x, copy->name##_y, copy->name##_z, copy->name##_lod, \
              copy->name##_pitch, copy->name##_height, copy->name##_type, \
              (uintptr_t) copy->name##_host, (uintptr_t) copy->name##_device, \
              copy->name##_array, NULL }

static CuResult
copy_3d (const CuCopy3D *copy,
         CuStream        stream)
{
  CdWork *work;
  CdSide dst, src;
  CuResult result;

  if (copy->reserved0 != NULL || copy->reserved1 != NULL)
    return CU_INVALID_VALUE;
  result = read_side (SIDE (copy, dst), copy, &dst);
  if (result == CU_SUCCESS)
    result = read_side (SIDE (copy, src), copy, &src);
  if (result != CU_SUCCESS)
    return result;

  dst.access |= CD_WRITES;
  work = cd_work_new (CD_COPY);
  work->dst = dst;
  work->src = src;
  work->width = copy->width;
  work->height = copy->height;
  work->depth = copy->depth;

  return submit_copy (work, stream);
}

CuResult
cuMemcpy3DAsync_v2 (const CuCopy3D *copy,
                    CuStream        stream)
{
  CuResult result;

  if (!cd_enter (CD_cuMemcpy3DAsync_v2, 0, &result))
    return result;

  return cd_leave (copy_3d (copy, stream));
}

/* Fills */

static CuResult
fill (uintptr_t address,
      unsigned  value,
      unsigned  unit,
      size_t    n,
      CuStream  handle)
{
  CuResult result = CU_SUCCESS;
  CdStream *stream = cd_stream_to_submit (handle, &result);
  CdWork *work;
  size_t size;

  if (stream == NULL)
    return result;
  if (address % unit != 0 || __builtin_mul_overflow (n, (size_t) unit, &size))
    return CU_INVALID_VALUE;
  if (n == 0)
    return CU_SUCCESS;
  if (is_pageable (address))
    return cd_violation (CU_INVALID_VALUE, "0x%llx is not memory of a device",
                         (unsigned long long) address);

  work = cd_work_new (CD_FILL);
  work->dst = (CdSide) { address, .access = CD_WRITES, .device = -1 };
  work->width = size;
  work->value = value;
  work->unit = unit;

  return cd_submit (stream, work);
}

CuResult
cuMemsetD8Async (CuAddress     address,
                 unsigned char value,
                 size_t        n,
                 CuStream      stream)
{
  CuResult result;

  if (!cd_enter (CD_cuMemsetD8Async, 0, &result))
    return result;

  return cd_leave (fill ((uintptr_t) address, value, 1, n, stream));
}

CuResult
cuMemsetD16Async (CuAddress      address,
                  unsigned short value,
                  size_t         n,
                  CuStream       stream)
{
  CuResult result;

  if (!cd_enter (CD_cuMemsetD16Async, 0, &result))
    return result;

  return cd_leave (fill ((uintptr_t) address, value, 2, n, stream));
}

CuResult
cuMemsetD32Async (CuAddress    address,
                  unsigned int value,
                  size_t       n,
                  CuStream     stream)
{
  CuResult result;

  if (!cd_enter (CD_cuMemsetD32Async, 0, &result))
    return result;

  return cd_leave (fill ((uintptr_t) address, value, 4, n, stream));
}

/* Values */

static CuResult
submit_value (CdWorkKind kind,
              CuStream   handle,
              uintptr_t  address,
              uint64_t   value,
              unsigned   flags)
{
  CuResult result = CU_SUCCESS;
  CdStream *stream = cd_stream_to_submit (handle, &result);
  const CdMemory *memory = cd_find_memory (address);
  CdWork *work;

  if (stream == NULL)
    return result;
  if (!cd_devices[stream->context->device].stream_values_64)
    return CU_NOT_SUPPORTED;
  if (address % 8 != 0 || flags != 0)
    return CU_INVALID_VALUE;
  if (memory == NULL || memory->kind == CD_MANAGED)
    return cd_violation (CU_INVALID_VALUE, "0x%llx is neither memory of a device nor pinned",
                         (unsigned long long) address);

  work = cd_work_new (kind);
  work->dst = (CdSide) { address, .access = kind == CD_WRITE_VALUE ? CD_WRITES : 0, .device = -1 };
  work->width = sizeof value;
  work->value = value;

  return cd_submit (stream, work);
}

CuResult
cuStreamWriteValue64_v2 (CuStream     stream,
                         CuAddress    address,
                         uint64_t     value,
                         unsigned int flags)
{
  CuResult result;

  if (!cd_enter (CD_cuStreamWriteValue64_v2, 0, &result))
    return result;

  return cd_leave (submit_value (CD_WRITE_VALUE, stream, (uintptr_t) address, value, flags));
}

CuResult
cuStreamWaitValue64_v2 (CuStream     stream,
                        CuAddress    address,
                        uint64_t     value,
                        unsigned int flags)
{
  CuResult result;

  if (!cd_enter (CD_cuStreamWaitValue64_v2, 0, &result))
    return result;

  return cd_leave (submit_value (CD_WAIT_VALUE, stream, (uintptr_t) address, value, flags));
}
