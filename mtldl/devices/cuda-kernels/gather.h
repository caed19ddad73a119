/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

/* Items in the order of the destination, one by one or four next to each other. `Convert` has a
 * static function of() from the source's type to the destination's. */

#include "machine.h"

template <typename T>
struct Same
{
  typedef T Source;
  typedef T Dest;

  enum { HAS_WORDS = sizeof (T) < 4 };

  MEMBER T
  of (T x)
  {
    return x;
  }
};

/* Elements at addresses that their types may not have, byte by byte */
template <typename T>
DEVICE T
peek_unaligned (u64 address)
{
  union { T value; u8 bytes[sizeof (T)]; } x;

  UNROLL
  for (u32 k = 0; k < sizeof (T); k++)
    x.bytes[k] = peek<u8> (address + k);

  return x.value;
}

template <typename T>
DEVICE void
poke_unaligned (u64 address,
                T   value)
{
  union { T value; u8 bytes[sizeof (T)]; } x = { value };

  UNROLL
  for (u32 k = 0; k < sizeof (T); k++)
    poke<u8> (address + k, x.bytes[k]);
}

template <typename Convert>
DEVICE void
gather_unaligned (const MtlCudaGather &p,
                  u64                  dest,
                  u64                  source,
                  u32                  first)
{
  typedef typename Convert::Source In;
  typedef typename Convert::Dest Out;

  ROLLED
  for (u32 i = first, j = 0; j < N_CONVERTED && i < p.n; i += N_THREADS, j++)
    {
      s64 to, from;

      locate<ANY> (p.axes, p.n_axes, i, &to, &from);
      poke_unaligned<Out> (dest + to, Convert::of (peek_unaligned<In> (source + from)));
    }
}

template <typename Convert, int N, int EACH>
DEVICE void
gather (const MtlCudaGather &p,
        u64                  dest,
        u64                  source,
        u32                  block,
        u32                  tid)
{
  typedef typename Convert::Source In;
  typedef typename Convert::Dest Out;
  const u32 first = block * (N_THREADS * EACH) + tid;
  In values[EACH];
  s64 to[EACH];

  UNROLL
  for (int j = 0; j < EACH; j++)
    {
      u32 i = first + j * N_THREADS;
      s64 from;

      to[j] = 0;
      if (i < p.n)
        {
          locate<N> (p.axes, p.n_axes, i, &to[j], &from);
          values[j] = peek<In> (source + from);
        }
    }
  UNROLL
  for (int j = 0; j < EACH; j++)
    if (first + j * N_THREADS < p.n)
      poke<Out> (dest + to[j], Convert::of (values[j]));
}

/* Four elements that are as aligned as the largest words of them */
template <typename T, typename Word>
union FourInWords
{
  Word words[4 * sizeof (T) / sizeof (Word)];
  T values[4];

  MEMBER FourInWords
  load (u64 address)
  {
    FourInWords x;

    UNROLL
    for (u32 k = 0; k < sizeof x / sizeof (Word); k++)
      x.words[k] = peek<Word> (address + k * sizeof (Word));

    return x;
  }

  MEMBER void
  store (u64         address,
         FourInWords x)
  {
    UNROLL
    for (u32 k = 0; k < sizeof x / sizeof (Word); k++)
      poke<Word> (address + k * sizeof (Word), x.words[k]);
  }
};

template <typename T>
using Four = FourInWords<T, typename WordOf<(sizeof (T) < 4 ? 4 * sizeof (T) : 16)>::Type>;

template <typename Convert>
DEVICE void
gather_fours (const MtlCudaGather &p,
              u64                  dest,
              u64                  source,
              u32                  block,
              u32                  tid)
{
  typedef Four<typename Convert::Source> In;
  typedef Four<typename Convert::Dest> Out;
  const u32 first = block * (N_THREADS * N_CONVERTED) + tid;
  In values[N_CONVERTED];
  s64 to[N_CONVERTED];

  UNROLL
  for (int j = 0; j < N_CONVERTED; j++)
    {
      u32 i = first + j * N_THREADS;
      s64 from;

      to[j] = 0;
      if (i < p.n)
        {
          locate<ANY> (p.axes, p.n_axes, i, &to[j], &from);
          values[j] = In::load (source + from);
        }
    }
  UNROLL
  for (int j = 0; j < N_CONVERTED; j++)
    if (first + j * N_THREADS < p.n)
      {
        Out out;

        UNROLL
        for (int k = 0; k < 4; k++)
          out.values[k] = Convert::of (values[j].values[k]);
        Out::store (dest + to[j], out);
      }
}

#define GATHER(name, Convert) \
  KERNEL (name, MtlCudaGather, 4, \
          EACH_THREAD (tid) \
            BY_AXES (p.n_axes, gather<Convert COMMA N_AXES COMMA N_EACH> (p, dest, source, block, \
                                                                         tid)))

#define GATHER_CONVERTED(name, Convert) \
  KERNEL (name, MtlCudaGather, 4, \
          EACH_THREAD (tid) \
            { \
              if (p.is_unaligned) \
                gather_unaligned<Convert> (p, dest, source, \
                                           block * (N_THREADS * N_CONVERTED) + tid); \
              else \
                gather<Convert COMMA ANY COMMA N_CONVERTED> (p, dest, source, block, tid); \
            })

#define DENSE(name, Convert) \
  KERNEL (name, MtlCudaGather, 4, \
          EACH_THREAD (tid) \
            gather_fours<Convert> (p, dest, source, block, tid))
