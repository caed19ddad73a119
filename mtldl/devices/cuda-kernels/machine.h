/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

/* The same text is compiled for GPUs and, in the tests, for the host, where the threads of a block
 * are loops between its barriers. Global memory is only reached by peek() and poke(), and by the
 * atomic functions. */

#include "mtl-cuda-parameters.h"

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char s8;
typedef short s16;
typedef int s32;
typedef long long s64;
typedef u32 u128 __attribute__ ((vector_size (16)));

enum
{
  N_THREADS = MTL_CUDA_THREADS,
  N_WARPS = N_THREADS / 32,
  N_EACH = MTL_CUDA_EACH,
  N_CONVERTED = MTL_CUDA_CONVERTED,
  SECTOR = MTL_CUDA_SECTOR,
};

#define COMMA ,

#ifdef __CUDA_ARCH__

#define DEVICE static inline __attribute__ ((device, always_inline))
#define MEMBER DEVICE
#define LAMBDA __attribute__ ((device, always_inline))
#define GLOBAL __attribute__ ((address_space (1)))

extern __attribute__ ((shared, aligned (16))) char shared_memory[];

#define UNROLL _Pragma ("unroll")
#define UNROLL_2 _Pragma ("unroll 2")
#define PRAGMA(text) _Pragma (#text)
#define UNROLL_BY(n) PRAGMA (unroll n)
#define ROLLED _Pragma ("unroll 1")

#define SHARED shared_memory
#define BARRIER() __syncthreads ()

/* The statement is run by each thread `tid` of a block. */
#define EACH_THREAD(tid) \
  for (u32 tid = __nvvm_read_ptx_sreg_tid_x (), once = 1; once != 0; once = 0)

/* A variable of each thread that lasts from one phase to the next. */
#define PER_THREAD(Type, name) Type name[1]
#define MINE(name, tid) name[0]

/* The call is run by each block; `n_blocks` of them should fit a multiprocessor. */
#define KERNEL(name, Parameters, n_blocks, ...) \
  extern "C" __attribute__ ((global, launch_bounds (N_THREADS, n_blocks))) void \
  name (u64 dest, \
        u64 source, \
        const Parameters p) \
  { \
    const u32 block = __nvvm_read_ptx_sreg_ctaid_x (); \
\
    (void) source; \
    __VA_ARGS__; \
  }

/* The result of memcpy() between types of the same size */
template <typename To, typename From>
DEVICE To
bits (From from)
{
  return __builtin_bit_cast (To, from);
}

template <int SIZE> struct WordOf;
template <> struct WordOf<1> { typedef u8 Type; };
template <> struct WordOf<2> { typedef u16 Type; };
template <> struct WordOf<4> { typedef u32 Type; };
template <> struct WordOf<8> { typedef u64 Type; };
template <> struct WordOf<16> { typedef u128 Type; };

template <typename T>
DEVICE T
peek (u64 address)
{
  typedef typename WordOf<sizeof (T)>::Type Word;

  return bits<T> (*(const GLOBAL Word *) address);
}

template <typename T>
DEVICE void
poke (u64 address,
      T   value)
{
  typedef typename WordOf<sizeof (T)>::Type Word;

  *(GLOBAL Word *) address = bits<Word> (value);
}

DEVICE void
atomic_and (u64 address,
            u32 value)
{
  asm volatile ("red.global.and.b32 [%0], %1;" : : "l"(address), "r"(value) : "memory");
}

DEVICE void
atomic_or (u64 address,
           u32 value)
{
  asm volatile ("red.global.or.b32 [%0], %1;" : : "l"(address), "r"(value) : "memory");
}

/* Keeps compilers from computing multiples of a number before the loop that needs them, which takes
 * more registers than there are. */
DEVICE s64
keep (s64 x)
{
  asm volatile ("" : "+l"(x));
  return x;
}

DEVICE u32
high_product (u32 a,
              u32 b)
{
  return (u64) a * b >> 32;
}

DEVICE u16
round_to_half (float x)
{
  u16 half;

  asm ("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(x));
  return half;
}

DEVICE float
widen_half (u16 half)
{
  float x;

  asm ("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(half));
  return x;
}

/* Bytes 0 to 3 are those of a, and 4 to 7 those of b. */
DEVICE u32
permute (u32 a,
         u32 b,
         u32 bytes)
{
  u32 result;

  asm ("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(bytes));
  return result;
}

#else

#include "host-machine.h"

#endif

DEVICE u32
least (u32 a,
       u32 b)
{
  return a < b ? a : b;
}

/* The number is less than 2^31. */
DEVICE u32
divide (u32 x,
        u32 magic,
        u32 shift)
{
  return (high_product (x, magic) + x) >> shift;
}

/* Takes `bytes` bytes off the front of two words. */
DEVICE u32
join (u32 low,
      u32 high,
      u32 bytes)
{
  return (u32) (((u64) high << 32 | low) >> 8 * bytes);
}

DEVICE void
add_axis (const MtlCudaAxis *axis,
          u32               *index,
          s64               *dest,
          s64               *source)
{
  u32 quotient = divide (*index, axis->magic, axis->shift);
  u32 x = *index - quotient * axis->parts;

  *index = quotient;
  *dest += x * axis->dest;
  *source += x * axis->source;
}

/* The offsets of an item. With N axes below ANY, the number of axes is known. */
enum { ANY = 3 };

template <int N>
DEVICE void
locate (const MtlCudaAxis *axes,
        u32                n_axes,
        u32                index,
        s64               *dest,
        s64               *source)
{
  *dest = *source = 0;
  if constexpr (N < ANY)
    {
      UNROLL
      for (int k = 0; k + 1 < N; k++)
        add_axis (&axes[k], &index, dest, source);
      *dest += index * axes[N - 1].dest;
      *source += index * axes[N - 1].source;
    }
  else
    {
      ROLLED
      for (u32 k = 0; k < n_axes; k++)
        add_axis (&axes[k], &index, dest, source);
    }
}

/* A body of the template for the smallest numbers of axes, and one for all others */
#define BY_AXES(n, call) \
  { \
    if (n == 1) \
      { \
        enum { N_AXES = 1 }; \
        call; \
      } \
    else if (n == 2) \
      { \
        enum { N_AXES = 2 }; \
        call; \
      } \
    else \
      { \
        enum { N_AXES = ANY }; \
        call; \
      } \
  }

/* Where a part begins along an axis; takes its number off the index. */
DEVICE u32
take_part (const MtlCudaAxis *axis,
           u32               *index)
{
  u32 quotient = divide (*index, axis->magic, axis->shift);
  u32 part = *index - quotient * axis->parts;

  *index = quotient;
  return least (part * axis->step, axis->last);
}

/* Adds the offsets of a tile along the axes from `first` on. */
DEVICE void
locate_tile (const MtlCudaAxis *axes,
             u32                first,
             u32                n_axes,
             u32                index,
             u64               *dest,
             u64               *source)
{
  ROLLED
  for (u32 k = first; k < n_axes; k++)
    {
      u32 start = take_part (&axes[k], &index);

      *dest += start * axes[k].dest;
      *source += start * axes[k].source;
    }
}
