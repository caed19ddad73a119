/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-copy-set-private.h"

/* Permutations of bytes that a program consists of: of 64 bytes with AVX-512 VBMI, of
 * 16 with SSSE3 or NEON. */

#if MTL_COPY_WIDTH == 64 && defined (__AVX512VBMI__)
#include <immintrin.h>
#define MTL_COPY_PROGRAM_WIDTH 64
#elif MTL_COPY_WIDTH > 0 && defined (__SSSE3__)
#include <immintrin.h>
#define MTL_COPY_PROGRAM_WIDTH 16
#elif MTL_COPY_WIDTH > 0 && defined (__aarch64__)
#include <arm_neon.h>
#define MTL_COPY_PROGRAM_WIDTH 16
#else
#define MTL_COPY_PROGRAM_WIDTH 0
#endif

#if MTL_COPY_PROGRAM_WIDTH > 0

#define MTL_COPY_PROGRAM_BYTES 2048
#define MTL_COPY_PROGRAM_STEPS 512
#define MTL_COPY_PROGRAM_PATTERNS 64
#define MTL_COPY_NO_BYTE 0xff

#if MTL_COPY_PROGRAM_WIDTH == 64

typedef __m512i PermutedBytes;

typedef struct
{
  __m512i indices;
  __mmask64 mask;
} LoadedPattern;

typedef struct
{
  guint8 indices[64] MTL_ALIGNED;
  __mmask64 mask;
} Pattern;

MTL_INLINE void
mtl_copy_pattern_set (Pattern      *self,
                      const guint8 *indices)
{
  memcpy (self->indices, indices, 64);
  self->mask = ~_mm512_movepi8_mask (_mm512_loadu_si512 (indices));
}

MTL_INLINE LoadedPattern
mtl_copy_pattern_load (const Pattern *self)
{
  return (LoadedPattern) { _mm512_load_si512 (self->indices), self->mask };
}

MTL_INLINE PermutedBytes
mtl_copy_permute (const guint8  *source,
                  LoadedPattern  pattern)
{
  return _mm512_maskz_permutexvar_epi8 (pattern.mask, pattern.indices,
                                        _mm512_loadu_si512 (source));
}

MTL_INLINE PermutedBytes
mtl_copy_merge (PermutedBytes  bytes,
                const guint8  *source,
                LoadedPattern  pattern)
{
  return _mm512_mask_permutexvar_epi8 (bytes, pattern.mask, pattern.indices,
                                       _mm512_loadu_si512 (source));
}

#else

typedef MtlBytes16 PermutedBytes;
typedef MtlBytes16 LoadedPattern;

typedef struct
{
  guint8 indices[16] __attribute__ ((aligned (16)));
} Pattern;

MTL_INLINE void
mtl_copy_pattern_set (Pattern      *self,
                      const guint8 *indices)
{
  memcpy (self->indices, indices, 16);
}

MTL_INLINE LoadedPattern
mtl_copy_pattern_load (const Pattern *self)
{
  return mtl_load16 (self->indices);
}

/* Indices beyond the vector make zeros. */
MTL_INLINE PermutedBytes
mtl_copy_permute (const guint8  *source,
                  LoadedPattern  pattern)
{
#if defined (__SSSE3__)
  return (MtlBytes16) _mm_shuffle_epi8 ((__m128i) mtl_load16 (source), (__m128i) pattern);
#else
  return (MtlBytes16) vqtbl1q_u8 ((uint8x16_t) mtl_load16 (source), (uint8x16_t) pattern);
#endif
}

MTL_INLINE PermutedBytes
mtl_copy_merge (PermutedBytes  bytes,
                const guint8  *source,
                LoadedPattern  pattern)
{
  return bytes | mtl_copy_permute (source, pattern);
}

#endif

typedef struct
{
  gint32 offset;
  guint16 pattern;
} Step;

typedef struct
{
  guint n_vectors;
  guint n_whole; /* vectors, without one of which n_rest bytes are written */
  guint n_rest;
  guint n_steps;
  guint n_patterns;
  guint same; /* windows of each vector, or 0 if they differ */
  gint64 reach;
  Step steps[MTL_COPY_PROGRAM_STEPS];
  guint8 n_windows[MTL_COPY_PROGRAM_BYTES / MTL_COPY_PROGRAM_WIDTH];
  Pattern patterns[MTL_COPY_PROGRAM_PATTERNS];
} Program;

/* Rows of n units each, to what is contiguous in them. */
typedef struct
{
  guint8 *dest;
  const guint8 *source;
  const gint32 *dest_offsets; /* NULL: one after the other */
  const gint32 *source_offsets;
  gsize n_rows;
  gsize n;
  gssize source_step;
} UnitRows;

gboolean MTL_KERNEL (compile)        (Program        *self,
                                      const gint32   *offsets,
                                      gsize           n_units,
                                      gsize           size,
                                      guint           most);
void     MTL_KERNEL (run_program)    (const Program  *self,
                                      guint8         *dest,
                                      const guint8   *source);
gboolean MTL_KERNEL (compile_row)    (Program        *self,
                                      gssize          step,
                                      gsize           size);
void     MTL_KERNEL (repeat_program) (const Program  *self,
                                      const UnitRows *rows,
                                      gsize           size);

#endif
