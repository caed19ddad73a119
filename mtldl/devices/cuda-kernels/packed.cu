/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Elements that do not fill whole bytes, on one side or on both. Addresses and steps are in bits.
 * Threads that write to the same word do so by atomic operations, which leave other bits as they
 * are. */

#include "any-numbers.h"

/* Sets the bits of an aligned word that are in the mask. */
DEVICE void
store_in_word (u64 address,
               u32 mask,
               u32 value)
{
  atomic_and (address, ~mask | value);
  if (value != 0)
    atomic_or (address, value);
}

DEVICE void
store_bits (u64 address,
            u32 n,
            u32 value)
{
  const u64 word = address >> 5 << 2;
  const u32 bit = (u32) address & 31;
  const u64 mask = (u64) ((1u << n) - 1) << bit, moved = (u64) value << bit & mask;

  store_in_word (word, (u32) mask, (u32) moved);
  if (bit + n > 32)
    store_in_word (word + 4, (u32) (mask >> 32), (u32) (moved >> 32));
}

/* The bits of a fill that begin at a bit of the pattern */
DEVICE u32
get_pattern_bits (const MtlCudaPacked &p,
                  u32                  bit,
                  u32                  n)
{
  u32 window = p.pattern[bit >> 3];

  if ((bit & 7) + n > 8)
    window |= (u32) p.pattern[(bit >> 3) + 1] << 8;

  return window >> (bit & 7) & ((1u << n) - 1);
}

DEVICE u64
load_element (const MtlCudaPacked &p,
              u64                  source)
{
  u64 pattern;

  if (p.is_fill)
    return get_pattern_bits (p, (u32) source, p.source_bits);

  if (p.source_bits < 8)
    pattern = load_bits (source, p.source_bits);
  else
    pattern = load_pattern (source >> 3, p.conversion.source.size, p.conversion.is_unaligned);

  return p.converts ? convert_number (p.conversion, pattern, true) : pattern;
}

/* The imaginary part of a complex number is 0. */
DEVICE void
store_element (const MtlCudaPacked &p,
               u64                  dest,
               u64                  pattern)
{
  const u32 size = p.conversion.dest.size;

  if (p.dest_bits < 8)
    {
      store_bits (dest, p.dest_bits, (u32) pattern);
      return;
    }

  store_pattern (dest >> 3, pattern, size, p.conversion.is_unaligned);
  if (p.conversion.n_dest > 1)
    store_pattern ((dest >> 3) + size, 0, size, p.conversion.is_unaligned);
}

DEVICE void
move_elements (const MtlCudaPacked &p,
               u64                  dest,
               u64                  source,
               u32                  block,
               u32                  tid)
{
  const u32 first = block * (N_THREADS * N_EACH) + tid;

  ROLLED
  for (u32 i = first, j = 0; j < N_EACH && i < p.n; i += N_THREADS, j++)
    {
      s64 to, from;

      locate<ANY> (p.axes, p.n_axes, i, &to, &from);
      store_element (p, dest + to, load_element (p, source + from));
    }
}

/* Rows of the destination that begin with a byte. A thread takes 8 elements, which fill whole bytes.
 * At the end of a row there may be fewer, and a part of a byte. */
DEVICE void
move_eights (const MtlCudaPacked &p,
             u64                  dest,
             u64                  source,
             u32                  i)
{
  const u32 eight = i - divide (i, p.axes[0].magic, p.axes[0].shift) * p.axes[0].parts;
  const u32 n = least (8, p.row_length - 8 * eight), n_bits = n * p.dest_bits;
  u64 all = 0;
  s64 to, from;

  locate<ANY> (p.axes, p.n_axes, i, &to, &from);
  ROLLED
  for (u32 k = 0; k < n; k++)
    {
      u64 mask = (1u << p.dest_bits) - 1;

      all |= (load_element (p, source + from + k * p.source_step) & mask) << k * p.dest_bits;
    }

  dest = (dest + to) >> 3;
  ROLLED
  for (u32 k = 0; k < n_bits / 8; k++)
    poke<u8> (dest + k, (u8) (all >> 8 * k));
  if (n_bits % 8 != 0)
    {
      const u64 last = dest + n_bits / 8;
      const u8 mask = (1u << n_bits % 8) - 1;

      poke<u8> (last, (u8) ((peek<u8> (last) & ~mask) | (all >> n_bits / 8 * 8 & mask)));
    }
}

KERNEL (packed, MtlCudaPacked, 4,
        EACH_THREAD (tid)
          move_elements (p, dest, source, block, tid))

KERNEL (packed_rows, MtlCudaPacked, 4,
        EACH_THREAD (tid)
          {
            const u32 i = block * N_THREADS + tid;

            if (i < p.n)
              move_eights (p, dest, source, i);
          })
