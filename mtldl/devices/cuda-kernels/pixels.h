/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

/* Pixels of 2 to 16 channels become planes, or planes become pixels. The source's bytes are in
 * shared memory as they were; words of the destination are put together from them. */

#include "machine.h"

template <typename T>
struct Pixels
{
  enum { V = sizeof (T) < 4 ? 4 / (int) sizeof (T) : 1 };

  /* The bytes of an aligned word that are wanted */
  MEMBER u32
  peek_part (u64 address,
             u64 begin,
             u64 end)
  {
    u32 word = 0;

    ROLLED
    for (u32 k = 0; k < 4; k++)
      if (address + k >= begin && address + k < end)
        word |= (u32) peek<u8> (address + k) << 8 * k;

    return word;
  }

  /* The words that contain some bytes, at the same place within a word */
  MEMBER void
  fetch (char *data,
         u64   source,
         u32   n_bytes,
         u32   tid)
  {
    const u32 offset = (u32) source & 3, n_words = (offset + n_bytes) / 4;
    const u32 begin = offset != 0 ? 1 : 0;
    const u64 first = source - offset, end = source + n_bytes;

    for (u32 w = begin + tid; w < n_words; w += 4 * N_THREADS)
      {
        u32 words[4];

        UNROLL
        for (int j = 0; j < 4; j++)
          if (w + j * N_THREADS < n_words)
            words[j] = peek<u32> (first + (w + j * N_THREADS) * 4);
        UNROLL
        for (int j = 0; j < 4; j++)
          if (w + j * N_THREADS < n_words)
            ((u32 *) data)[w + j * N_THREADS] = words[j];
      }
    /* The words at the ends that are not wanted as a whole */
    if (tid == 0 && offset != 0)
      ((u32 *) data)[0] = peek_part (first, source, end);
    if (tid == 1 && (end & 3) != 0)
      ((u32 *) data)[n_words] = peek_part (first + n_words * 4, source, end);
  }

  MEMBER T
  get (const char *data)
  {
    return *(const T *) data;
  }

  /* n contiguous elements of the destination: those before a word, words, and the rest. `get_word`
   * returns V elements, and `get_one` one. */
  template <typename GetWord, typename GetOne>
  MEMBER void
  store (u64     dest,
         u32     n,
         u32     tid,
         GetWord get_word,
         GetOne  get_one)
  {
    u32 head = 0, n_words, tail;

    if (V > 1)
      head = least (((0 - (u32) dest) & 3) / (u32) sizeof (T), n);
    n_words = (n - head) / V;
    tail = (n - head) % V;
    for (u32 w = tid; w < n_words; w += N_THREADS)
      {
        const u32 at = head + w * V;

        if constexpr (V == 1)
          poke<T> (dest + at * (u32) sizeof (T), get_one (at));
        else
          poke<u32> (dest + at * (u32) sizeof (T), get_word (at));
      }
    if (V > 1 && tid < head)
      poke<T> (dest + tid * (u32) sizeof (T), get_one (tid));
    if (V > 1 && tid < tail)
      poke<T> (dest + (n - tail + tid) * (u32) sizeof (T), get_one (n - tail + tid));
  }

  /* A channel of pixels of `step` bytes */
  MEMBER void
  split (u64         dest,
         const char *data,
         u32         n,
         u32         step,
         u32         tid)
  {
    auto get_one = [=] LAMBDA (u32 at)
      {
        return get (data + at * step);
      };
    auto get_word = [=] LAMBDA (u32 at)
      {
        const char *from = data + at * step;
        u32 word = 0;

        UNROLL
        for (int k = 0; k < V; k++)
          word |= (u32) get (from + k * step) << (k * 8 * (int) sizeof (T) & 31);

        return word;
      };

    store (dest, n, tid, get_word, get_one);
  }

  /* Planes that are `pitch` bytes apart in shared memory. The first byte of each is where it was
   * within a word. N is the number of channels, if that is known. */
  template <int N>
  MEMBER void
  merge (const MtlCudaPixels &p,
         u64                  dest,
         const char          *data,
         u32                  source,
         u32                  tid)
  {
    const u32 n_channels = N > 0 ? N : p.n_channels, step = (u32) p.axes[1].source;
    const u32 pitch = p.pitch;
    auto get_channel = [=] LAMBDA (u32 channel, u32 pixel)
      {
        return get (data + channel * pitch + ((source + channel * step) & 3)
                    + pixel * (u32) sizeof (T));
      };
    auto get_one = [=] LAMBDA (u32 at)
      {
        return get_channel (at % n_channels, at / n_channels);
      };
    auto get_word = [=] LAMBDA (u32 at)
      {
        u32 pixel = at / n_channels, channel = at - pixel * n_channels, word = 0;

        UNROLL
        for (int k = 0; k < V; k++)
          {
            word |= (u32) get_channel (channel, pixel) << (k * 8 * (int) sizeof (T) & 31);
            if (++channel == n_channels)
              {
                channel = 0;
                pixel++;
              }
          }

        return word;
      };

    store (dest, p.n_pixels * n_channels, tid, get_word, get_one);
  }

  MEMBER void
  load (const MtlCudaPixels &p,
        char                *data,
        u64                  source,
        u32                  tid)
  {
    const u32 n_bytes = p.n_pixels * (u32) sizeof (T);

    if (p.splits)
      fetch (data, source, n_bytes * p.n_channels, tid);
    else
      ROLLED
      for (u32 c = 0; c < p.n_channels; c++)
        fetch (data + c * p.pitch, source + c * p.axes[1].source, n_bytes, tid);
  }

  MEMBER void
  write (const MtlCudaPixels &p,
         const char          *data,
         u64                  dest,
         u32                  source,
         u32                  tid)
  {
    if (p.splits)
      ROLLED
      for (u32 c = 0; c < p.n_channels; c++)
        split (dest + c * p.axes[1].dest, data + (source & 3) + c * (u32) sizeof (T), p.n_pixels,
               p.n_channels * (u32) sizeof (T), tid);
    else if (V > 1 && p.n_channels == 3)
      merge<3> (p, dest, data, source, tid);
    else if (V > 1 && p.n_channels == 4)
      merge<4> (p, dest, data, source, tid);
    else
      merge<0> (p, dest, data, source, tid);
  }

  MEMBER void
  run (const MtlCudaPixels &p,
       u64                  dest,
       u64                  source,
       u32                  block)
  {
    char *data = SHARED;
    const u32 first = block * p.tiles_per_block, end = least (first + p.tiles_per_block, p.n_tiles);

    ROLLED
    for (u32 tile = first; tile < end; tile++)
      {
        u32 left = tile;
        const u32 start = take_part (&p.axes[0], &left);
        u64 to = dest + start * p.axes[0].dest, from = source + start * p.axes[0].source;

        locate_tile (p.axes, 2, p.n_axes, left, &to, &from);
        EACH_THREAD (tid)
          load (p, data, from, tid);
        BARRIER ();
        EACH_THREAD (tid)
          write (p, data, to, (u32) from, tid);
        BARRIER ();
      }
  }
};

#define PIXELS(name, T) \
  KERNEL (name, MtlCudaPixels, 4, Pixels<T>::run (p, dest, source, block))
