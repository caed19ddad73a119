/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

/* Transposes: tiles of T0 by T1 elements, of which the T0 are contiguous in the destination and the
 * T1 in the source. All tiles are whole. A skewed tile has up to a sector of elements more along
 * T0, and each of its rows begins with a sector of the destination, except at the ends of the
 * axis. */

#include "machine.h"

/* Elements of 1 and 2 bytes are moved in words of `V` of them, which are turned in registers. */
template <typename T, int T0, int T1>
struct Tile
{
  typedef typename WordOf<(sizeof (T) < 4 ? 4 : sizeof (T))>::Type Word;

  enum
  {
    V = sizeof (Word) / sizeof (T),
    SKEW = SECTOR / (int) sizeof (T),
    PITCH = ((T0 + SKEW) / V) | 1,    /* words; odd, so that threads do not meet in a bank */
    N_ACROSS = T1 / V / 32,
    N_GROUPS = T0 / V / N_WARPS, /* for a warp: V elements along the first axis */
    N_MORE = SKEW / V,           /* groups of a skewed tile, one for each warp */
    N_WORDS = T0 / V / 32,
    N_ROWS = T1 / N_WARPS,
    N_STORED = V == 1 ? 4 : 2,               /* rows that are stored together */
    N_AT_ONCE = V == 4 ? 2 : V == 2 ? 4 : 8, /* groups that are loaded together */
  };

  /* V x V elements */
  MEMBER void
  turn (Word *words)
  {
    if constexpr (V == 2)
      {
        u32 a = permute (words[0], words[1], 0x5410), b = permute (words[0], words[1], 0x7632);

        words[0] = a;
        words[1] = b;
      }
    if constexpr (V == 4)
      {
        u32 a = permute (words[0], words[1], 0x5140), b = permute (words[2], words[3], 0x5140);
        u32 c = permute (words[0], words[1], 0x7362), d = permute (words[2], words[3], 0x7362);

        words[0] = permute (a, b, 0x5410);
        words[1] = permute (a, b, 0x7632);
        words[2] = permute (c, d, 0x5410);
        words[3] = permute (c, d, 0x7632);
      }
  }

  /* The word of a group for row `column + k` of the destination. Rows are ordered so that neither
   * side meets in a bank. */
  MEMBER u32
  get_place (u32 column,
             u32 k,
             u32 group)
  {
    return (k * (T1 / V) + column / V) * PITCH + group;
  }

  template <bool IS_SHIFTED>
  MEMBER Word
  load_word (u64 address)
  {
    if constexpr (V > 1 && IS_SHIFTED)
      {
        u32 offset = (u32) address & 3;
        u64 first = address - offset;

        return join (peek<u32> (first), peek<u32> (first + (offset != 0 ? 4 : 0)), offset);
      }

    return peek<Word> (address);
  }

  template <bool IS_SHIFTED, int N>
  MEMBER void
  load_groups (Word *data,
               u64   source,
               s64   step,
               u32   column,
               u32   group)
  {
    Word words[N][V];

    source += group * V * step;
    UNROLL
    for (int j = 0; j < N; j++)
      UNROLL
      for (int k = 0; k < V; k++)
        words[j][k] = load_word<IS_SHIFTED> (source + (j * N_WARPS * V + k) * step);

    UNROLL
    for (int j = 0; j < N; j++)
      {
        turn (words[j]);
        UNROLL
        for (int k = 0; k < V; k++)
          data[get_place (column, k, group + j * N_WARPS)] = words[j][k];
      }
  }

  template <bool IS_SHIFTED>
  MEMBER void
  load_all (const MtlCudaTile &p,
            Word              *data,
            u64                source,
            u32                tid)
  {
    enum { N_TOGETHER = IS_SHIFTED ? (N_AT_ONCE + 1) / 2 : N_AT_ONCE };
    const u32 lane = tid & 31, warp = tid >> 5;
    const s64 step = keep (p.axes[0].source);

    ROLLED
    for (int m = 0; m < N_ACROSS; m++)
      {
        const u32 column = (lane + 32 * m) * V;
        const u64 from = source + column * (u32) sizeof (T);

        ROLLED
        for (int g = 0; g < N_GROUPS; g += N_TOGETHER)
          load_groups<IS_SHIFTED, N_TOGETHER> (data, from, step, column, warp + g * N_WARPS);

        if (p.is_skewed && warp < N_MORE)
          load_groups<IS_SHIFTED, 1> (data, from, step, column, T0 / V + warp);
      }
  }

  /* Element by element, at the ends of the memory that may be read */
  MEMBER void
  load_slowly (const MtlCudaTile &p,
               Word              *data,
               u64                source,
               u32                tid)
  {
    const u32 n = (p.is_skewed ? T0 + SKEW : T0) * T1;

    ROLLED
    for (u32 i = tid; i < n; i += N_THREADS)
      {
        const u32 i1 = i % T1, i0 = i / T1;

        ((T *) (data + get_place (i1, i1 % V, 0)))[i0]
          = peek<T> (source + i0 * p.axes[0].source + i1 * (u32) sizeof (T));
      }
  }

  /* Checks that words that contain elements of the tile may be read. */
  MEMBER bool
  has_whole_words (const MtlCudaTile &p,
                   u64                source)
  {
    const s64 reach = (p.is_skewed ? T0 + SKEW - 1 : T0 - 1) * p.axes[0].source;
    const u64 low = reach < 0 ? source + reach : source;
    const u64 high = (reach < 0 ? source : source + reach) + T1 * (u32) sizeof (T);

    return low >= p.source_begin + 3 && high + 3 <= p.source_end;
  }

  MEMBER void
  load (const MtlCudaTile &p,
        Word              *data,
        u64                source,
        u32                tid)
  {
    if constexpr (V > 1)
      {
        if (p.is_shifted && !has_whole_words (p, source))
          load_slowly (p, data, source, tid);
        else if (p.is_shifted)
          load_all<true> (p, data, source, tid);
        else
          load_all<false> (p, data, source, tid);
      }
    else
      load_all<false> (p, data, source, tid);
  }

  MEMBER const Word *
  get_row (const Word *data,
           u32         i)
  {
    return data + get_place (i, i % V, 0);
  }

  /* T0 elements from element `begin` on, which is at a word of the destination. */
  MEMBER void
  store_words (u64         dest,
               const Word *row,
               u32         begin,
               u32         lane)
  {
    const u64 to = dest + (begin + lane * V) * (u32) sizeof (T);

    row += begin / V + lane;
    UNROLL
    for (int m = 0; m < N_WORDS; m++)
      {
        Word word = row[32 * m];

        if constexpr (V > 1)
          if (begin % V != 0)
            word = join (word, row[32 * m + 1], begin % V * (u32) sizeof (T));
        poke<Word> (to + 32 * m * sizeof (Word), word);
      }
  }

  /* All n elements, wherever they are. */
  MEMBER void
  store_row (u64         dest,
             const Word *row,
             u32         n,
             u32         lane)
  {
    const u32 head = ((0 - (u32) dest) & (sizeof (Word) - 1)) / (u32) sizeof (T);
    const u32 n_words = (n - head) / V, tail = (n - head) % V;

    ROLLED
    for (u32 w = lane; w < n_words; w += 32)
      {
        u32 at = head + w * V;
        Word word = row[at / V];

        if constexpr (V > 1)
          if (head != 0)
            word = join (word, row[at / V + 1], head * (u32) sizeof (T));
        poke<Word> (dest + at * (u32) sizeof (T), word);
      }
    if (V > 1 && lane < head)
      poke<T> (dest + lane * (u32) sizeof (T), ((const T *) row)[lane]);
    if (V > 1 && lane < tail)
      poke<T> (dest + (n - tail + lane) * (u32) sizeof (T), ((const T *) row)[n - tail + lane]);
  }

  MEMBER void
  store (const MtlCudaTile &p,
         const Word        *data,
         u64                dest,
         bool               is_end,
         u32                tid)
  {
    const u32 lane = tid & 31, warp = tid >> 5;
    const s64 step = keep (p.axes[1].dest);
    const bool is_aligned = V == 1 || (((u32) dest | (u32) step) & 3) == 0;
    u64 to = dest + warp * step;

    if (!p.is_skewed && is_aligned)
      UNROLL_BY (N_STORED)
      for (u32 r = 0; r < N_ROWS; r++, to += N_WARPS * step)
        store_words (to, get_row (data, warp + r * N_WARPS), 0, lane);
    else if (p.is_skewed && !is_end)
      UNROLL_BY (N_STORED)
      for (u32 r = 0; r < N_ROWS; r++, to += N_WARPS * step)
        store_words (to, get_row (data, warp + r * N_WARPS),
                     ((0 - (u32) to) & (SECTOR - 1)) / (u32) sizeof (T), lane);
    else
      ROLLED
      for (u32 r = 0; r < N_ROWS; r++, to += N_WARPS * step)
        store_row (to, get_row (data, warp + r * N_WARPS), T0 + (p.is_skewed ? SKEW : 0), lane);
  }

  MEMBER void
  run (const MtlCudaTile &p,
       u64                dest,
       u64                source,
       u32                block)
  {
    Word *data = (Word *) SHARED;
    const u32 first = block * p.tiles_per_block, end = least (first + p.tiles_per_block, p.n_tiles);

    ROLLED
    for (u32 tile = first; tile < end; tile++)
      {
        u32 left = tile;
        const u32 start0 = take_part (&p.axes[0], &left), start1 = take_part (&p.axes[1], &left);
        const bool is_end = start0 == 0 || start0 == p.axes[0].last;
        u64 to = dest + start0 * (u32) sizeof (T) + start1 * p.axes[1].dest;
        u64 from = source + start0 * p.axes[0].source + start1 * (u32) sizeof (T);

        locate_tile (p.axes, 2, p.n_axes, left, &to, &from);
        EACH_THREAD (tid)
          load (p, data, from, tid);
        BARRIER ();
        EACH_THREAD (tid)
          store (p, data, to, is_end, tid);
        BARRIER ();
      }
  }
};

#define TILE(name, T, T0, T1, n_blocks) \
  KERNEL (name, MtlCudaTile, n_blocks, (Tile<T COMMA T0 COMMA T1>::run (p, dest, source, block)))
