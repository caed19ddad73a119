/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

/* A host in the place of a GPU: between two barriers, the threads of a block run one after the
 * other. Wrong use ends the program. Included by machine.h. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda-double-kernels.h"

#define DEVICE static inline
#define MEMBER static inline
#define LAMBDA
#define UNROLL
#define UNROLL_2
#define UNROLL_BY(n)
#define ROLLED

/* The state of the kernel that this thread runs */
struct HostMachine
{
  void *(*reach) (void *, unsigned long long, size_t, int);
  void *context;
  char *shared;
  bool in_phase; /* threads have run since the last barrier */
};

static thread_local HostMachine host_machine;

/* Ends a kernel that accesses memory that it must not. */
struct HostFault
{
};

[[noreturn]] static inline void
host_machine_stop (const char *what,
                   u64         address)
{
  fprintf (stderr, "kernel on the host: %s (0x%llx)\n", what, address);
  abort ();
}

static inline u32
host_machine_begin_phase ()
{
  if (host_machine.in_phase)
    host_machine_stop ("two phases without a barrier between them", 0);

  host_machine.in_phase = true;
  return 0;
}

#define SHARED host_machine.shared
#define BARRIER() (host_machine.in_phase = false)
#define EACH_THREAD(tid) for (u32 tid = host_machine_begin_phase (); tid < N_THREADS; tid++)
#define PER_THREAD(Type, name) Type name[N_THREADS]
#define MINE(name, tid) name[tid]

/* Kernels are in a list, which grows before main() runs. */
struct HostKernel
{
  CudaDoubleKernel kernel;
  HostKernel *next;

  static HostKernel *all;

  HostKernel (const CudaDoubleKernel &the_kernel)
    : kernel (the_kernel), next (all)
  {
    all = this;
  }
};

template <typename Parameters>
struct HostRun
{
  static constexpr unsigned sizes[] = { sizeof (u64), sizeof (u64), sizeof (Parameters) };

  template <void (* run_block) (u64, u64, const Parameters &, u32)>
  static void
  run (unsigned   grid_x,
       unsigned   grid_y,
       unsigned   grid_z,
       unsigned   block_x,
       unsigned   shared_bytes,
       void     **params,
       void    *(*reach) (void *, unsigned long long, size_t, int),
       void      *context)
  {
    const HostMachine before = host_machine;
    Parameters *copy = (Parameters *) malloc (sizeof (Parameters));
    u64 dest, source;

    if (grid_x == 0 || grid_y != 1 || grid_z != 1 || block_x != N_THREADS)
      host_machine_stop ("a grid that the kernel is not made for", grid_x);

    memcpy (&dest, params[0], sizeof dest);
    memcpy (&source, params[1], sizeof source);
    memcpy ((void *) copy, params[2], sizeof (Parameters));
    host_machine = { reach, context, (char *) malloc (shared_bytes), false };
    try
      {
        for (u32 block = 0; block < grid_x; block++)
          {
            memset (host_machine.shared, 0xa5, shared_bytes);
            host_machine.in_phase = false;
            run_block (dest, source, *copy, block);
          }
      }
    catch (const HostFault &)
      {
      }
    free (host_machine.shared);
    free (copy);
    host_machine = before;
  }
};

#define KERNEL(name, Parameters, n_blocks, ...) \
  static void \
  name##_block (u64               dest, \
                u64               source, \
                const Parameters &p, \
                u32               block) \
  { \
    (void) source; \
    __VA_ARGS__; \
  } \
\
  static HostKernel name##_kernel ({ #name, 3, HostRun<Parameters>::sizes, \
                                     HostRun<Parameters>::run<name##_block> });

static inline void *
host_machine_reach (u64  address,
                    u32  size,
                    bool is_write)
{
  void *place;

  if (address % size != 0)
    host_machine_stop ("an address that is not a multiple of the size", address);

  place = host_machine.reach (host_machine.context, address, size, is_write);
  if (place == NULL)
    throw HostFault ();

  return place;
}

template <int SIZE> struct WordOf;
template <> struct WordOf<4> { typedef u32 Type; };
template <> struct WordOf<8> { typedef u64 Type; };
template <> struct WordOf<16> { typedef u128 Type; };

template <typename To, typename From>
static inline To
bits (From from)
{
  To to;

  static_assert (sizeof to == sizeof from, "");
  memcpy (&to, &from, sizeof to);
  return to;
}

template <typename T>
static inline T
peek (u64 address)
{
  T value;

  memcpy (&value, host_machine_reach (address, sizeof (T), false), sizeof (T));
  return value;
}

template <typename T>
static inline void
poke (u64 address,
      T   value)
{
  memcpy (host_machine_reach (address, sizeof (T), true), &value, sizeof (T));
}

static inline void
atomic_and (u64 address,
            u32 value)
{
  poke<u32> (address, peek<u32> (address) & value);
}

static inline void
atomic_or (u64 address,
           u32 value)
{
  poke<u32> (address, peek<u32> (address) | value);
}

static inline s64
keep (s64 x)
{
  return x;
}

static inline u32
high_product (u32 a,
              u32 b)
{
  return (u64) a * b >> 32;
}

/* Halves of finite numbers, by their definition: multiples of a power of two */

static inline double
host_machine_get_half (u32 magnitude)
{
  u32 exponent = magnitude >> 10, mantissa = magnitude & 0x3ff;

  return exponent == 0 ? ldexp (mantissa, -24) : ldexp (mantissa + 1024, (int) exponent - 25);
}

static inline float
widen_half (u16 half)
{
  u32 magnitude = half & 0x7fff;
  double x = magnitude >= 0x7c00 ? INFINITY : host_machine_get_half (magnitude);

  return (float) copysign (x, half >> 15 ? -1.0 : 1.0);
}

static inline u16
round_to_half (float x)
{
  double magnitude = fabs ((double) x);
  u32 sign = signbit (x) ? 0x8000 : 0;
  int exponent = magnitude > 0 ? ilogb (magnitude) : -14;
  double unit, steps;

  if (!(magnitude < 65520)) /* the caller knows NaN */
    return sign | 0x7c00;

  unit = ldexp (1, (exponent < -14 ? -14 : exponent) - 10);
  steps = nearbyint (magnitude / unit) * unit; /* ties to even */
  if (steps == 0)
    return sign;
  exponent = ilogb (steps);
  if (exponent < -14)
    return sign | (u32) (steps * 0x1p24);
  return sign | ((u32) (exponent + 14) * 1024 + (u32) ldexp (steps, 10 - exponent));
}

static inline u32
permute (u32 a,
         u32 b,
         u32 bytes)
{
  u64 both = (u64) b << 32 | a;
  u32 result = 0;

  for (int k = 0; k < 4; k++)
    result |= (u32) (both >> 8 * (bytes >> 4 * k & 7) & 0xff) << 8 * k;

  return result;
}
