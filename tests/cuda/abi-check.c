/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Compiles only if the library's declarations of CUDA's driver are those of the cuda.h in the path
 * of includes. */

#include <cuda.h>

#include "mtl-cuda-abi-private.h"

#define SAME_FUNCTION(name, parameters) \
  typedef CuResult (*own_##name) parameters; \
  _Static_assert (__builtin_types_compatible_p (own_##name, __typeof__ (&name)), #name);

/* Their parameters are pointers to the structs that are compared below. */
#define SAME_STRUCT_FUNCTION(name, parameters) \
  static __attribute__ ((unused)) void (*const own_##name) (void) = (void (*) (void)) &name;

CU_FUNCTIONS (SAME_FUNCTION)
/* Since CUDA 13 the header has only this form, under the name of the older one. */
#if CUDA_VERSION >= 13000
#define cuDeviceGetUuid_v2 cuDeviceGetUuid
#endif

CU_STRUCT_FUNCTIONS (SAME_STRUCT_FUNCTION)
CU_OPTIONAL_FUNCTIONS (SAME_FUNCTION)

#define SAME_VALUE(own, theirs, value) _Static_assert ((int) own == (int) theirs, #theirs);

CU_CONSTANTS (SAME_VALUE)

/* clang takes no pointer for a constant. */
#ifndef __clang__
_Static_assert ((uintptr_t) CU_LEGACY_STREAM == (uintptr_t) CU_STREAM_LEGACY, "legacy stream");
_Static_assert ((uintptr_t) CU_PER_THREAD_STREAM == (uintptr_t) CU_STREAM_PER_THREAD,
                "per-thread stream");
#endif

#define SAME_FIELD(own, field, theirs, name) \
  _Static_assert (offsetof (own, field) == offsetof (theirs, name) \
                  && sizeof ((own *) 0)->field == sizeof ((theirs *) 0)->name, \
                  #theirs "." #name);

#define SAME_SIDES(field, name) \
  SAME_FIELD (CuCopy3D, src_##field, CUDA_MEMCPY3D, src##name) \
  SAME_FIELD (CuCopy3D, dst_##field, CUDA_MEMCPY3D, dst##name)

_Static_assert (sizeof (CuCopy3D) == sizeof (CUDA_MEMCPY3D), "CUDA_MEMCPY3D");
SAME_SIDES (x, XInBytes)
SAME_SIDES (y, Y)
SAME_SIDES (z, Z)
SAME_SIDES (lod, LOD)
SAME_SIDES (type, MemoryType)
SAME_SIDES (host, Host)
SAME_SIDES (device, Device)
SAME_SIDES (array, Array)
SAME_SIDES (pitch, Pitch)
SAME_SIDES (height, Height)
SAME_FIELD (CuCopy3D, width, CUDA_MEMCPY3D, WidthInBytes)
SAME_FIELD (CuCopy3D, height, CUDA_MEMCPY3D, Height)
SAME_FIELD (CuCopy3D, depth, CUDA_MEMCPY3D, Depth)

_Static_assert (sizeof (CuPoolProps) == sizeof (CUmemPoolProps), "CUmemPoolProps");
SAME_FIELD (CuPoolProps, alloc_type, CUmemPoolProps, allocType)
SAME_FIELD (CuPoolProps, handle_types, CUmemPoolProps, handleTypes)
SAME_FIELD (CuPoolProps, location_type, CUmemPoolProps, location.type)
SAME_FIELD (CuPoolProps, location_id, CUmemPoolProps, location.id)
SAME_FIELD (CuPoolProps, security_attributes, CUmemPoolProps, win32SecurityAttributes)
SAME_FIELD (CuPoolProps, max_size, CUmemPoolProps, maxSize)

_Static_assert (sizeof (CuUuid) == sizeof (CUuuid), "CUuuid");
