/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The parts of CoreVideo that the guide on Metal uses, as Apple's reference declares them. */

#pragma once

#include <stddef.h>
#include <stdint.h>

typedef int32_t CVReturn;
typedef uint64_t CVOptionFlags;
typedef CVOptionFlags CVPixelBufferLockFlags;
typedef struct __CVBuffer *CVBufferRef;
typedef CVBufferRef CVPixelBufferRef;

enum
{
  kCVReturnSuccess = 0,
};

CVReturn         CVPixelBufferLockBaseAddress   (CVPixelBufferRef       pixelBuffer,
                                                 CVPixelBufferLockFlags lockFlags);
CVReturn         CVPixelBufferUnlockBaseAddress (CVPixelBufferRef       pixelBuffer,
                                                 CVPixelBufferLockFlags unlockFlags);
void            *CVPixelBufferGetBaseAddress    (CVPixelBufferRef       pixelBuffer);
size_t           CVPixelBufferGetWidth          (CVPixelBufferRef       pixelBuffer);
size_t           CVPixelBufferGetHeight         (CVPixelBufferRef       pixelBuffer);
size_t           CVPixelBufferGetBytesPerRow    (CVPixelBufferRef       pixelBuffer);
CVPixelBufferRef CVPixelBufferRetain            (CVPixelBufferRef       texture);
void             CVPixelBufferRelease           (CVPixelBufferRef       texture);
