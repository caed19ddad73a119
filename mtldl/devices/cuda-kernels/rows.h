/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

/* Rows that are contiguous in the destination: copied from rows that are contiguous too, maybe
 * backwards, or all of one item. A thread takes N_EACH pieces, each an aligned word of the
 * destination. The ends of rows are smaller pieces. */

#include "machine.h"

DEVICE u64
join (u64 low,
      u64 high,
      u32 bytes)
{
  return bytes != 0 ? low >> 8 * bytes | high << (64 - 8 * bytes) : low;
}

DEVICE u128
join (u128 low,
      u128 high,
      u32  bytes)
{
  u32 a = low[0], b = low[1], c = low[2], d = low[3], e = high[0];

  if (bytes & 8)
    {
      a = low[2];
      b = low[3];
      c = high[0];
      d = high[1];
      e = high[2];
    }
  if (bytes & 4)
    {
      a = b;
      b = c;
      c = d;
      d = e;
      e = bytes & 8 ? high[3] : high[1];
    }
  bytes &= 3;
  return (u128) { join (a, b, bytes), join (b, c, bytes), join (c, d, bytes), join (d, e, bytes) };
}

/* A piece: the row's addresses, and where in the row the word begins, which can be before it. */
struct Piece
{
  u64 dest;
  u64 source;
  s64 at;
};

template <int N>
DEVICE Piece
locate_piece (const MtlCudaRows &p,
              u64                dest,
              u64                source,
              u32                index,
              u32                word_size)
{
  u32 row = divide (index, p.magic, p.shift), slot = index - row * p.slots;
  s64 to, from;
  Piece piece;

  locate<N> (p.axes, p.n_axes, row, &to, &from);
  piece.dest = dest + to;
  piece.source = source + from;
  piece.at = (s64) slot * word_size - ((u32) piece.dest & (word_size - 1));
  return piece;
}

DEVICE bool
is_whole (const MtlCudaRows &p,
          const Piece       &piece,
          u32                word_size)
{
  return piece.at >= 0 && piece.at + word_size <= p.row_bytes;
}

DEVICE s64
get_begin (const Piece &piece)
{
  return piece.at < 0 ? 0 : piece.at;
}

DEVICE s64
get_end (const MtlCudaRows &p,
         const Piece       &piece,
         u32                word_size)
{
  return piece.at + word_size < p.row_bytes ? piece.at + word_size : p.row_bytes;
}

DEVICE void
copy_item (u64 dest,
           u64 source,
           u32 size)
{
  switch (size)
    {
    case 1:
      poke<u8> (dest, peek<u8> (source));
      break;
    case 2:
      poke<u16> (dest, peek<u16> (source));
      break;
    case 4:
      poke<u32> (dest, peek<u32> (source));
      break;
    default:
      poke<u64> (dest, peek<u64> (source));
    }
}

/* The pieces that are no whole words, whose numbers are the bits of `ends`. If rows are backwards,
 * `grain` is the size of the items. */
template <bool IS_BACKWARDS>
DEVICE void
copy_ends (const MtlCudaRows &p,
           u64                dest,
           u64                source,
           u32                first,
           u32                ends,
           u32                word_size)
{
  ROLLED
  for (u32 i = first; ends != 0; i += N_THREADS, ends >>= 1)
    {
      if ((ends & 1) == 0)
        continue;

      Piece piece = locate_piece<ANY> (p, dest, source, i, word_size);
      s64 end = get_end (p, piece, word_size);

      ROLLED
      for (s64 at = get_begin (piece); at < end; at += p.grain)
        copy_item (piece.dest + at,
                   piece.source + (IS_BACKWARDS ? p.row_bytes - p.grain - at : at), p.grain);
    }
}

/* Two aligned words of the source that contain one of the destination. Returns false if they reach
 * beyond the source. */
template <typename T>
DEVICE bool
peek_both (const MtlCudaRows &p,
           u64                address,
           T                 *low,
           T                 *high)
{
  u32 offset = (u32) address & (sizeof (T) - 1);
  u64 first = address - offset, second = first + (offset != 0 ? sizeof (T) : 0);

  if (first < p.source_begin || second + sizeof (T) > p.source_end)
    return false;

  *low = peek<T> (first);
  *high = peek<T> (second);
  return true;
}

template <typename T, bool IS_SHIFTED, int N>
DEVICE void
copy_rows (const MtlCudaRows &p,
           u64                dest,
           u64                source,
           u32                block,
           u32                tid)
{
  const u32 first = block * (N_THREADS * N_EACH) + tid;
  Piece pieces[N_EACH];
  T low[N_EACH], high[N_EACH];
  u32 ends = 0;

  UNROLL
  for (int j = 0; j < N_EACH; j++)
    {
      u32 i = first + j * N_THREADS;
      bool is_word;

      pieces[j].at = -1;
      if (i >= p.n)
        continue;

      pieces[j] = locate_piece<N> (p, dest, source, i, sizeof (T));
      is_word = is_whole (p, pieces[j], sizeof (T));
      if (is_word && IS_SHIFTED)
        is_word = peek_both<T> (p, pieces[j].source + pieces[j].at, &low[j], &high[j]);
      else if (is_word)
        low[j] = peek<T> (pieces[j].source + pieces[j].at);
      if (!is_word)
        {
          pieces[j].at = -1;
          ends |= 1u << j;
        }
    }

  UNROLL
  for (int j = 0; j < N_EACH; j++)
    if (pieces[j].at >= 0)
      {
        u32 offset = (u32) (pieces[j].source + pieces[j].at) & (sizeof (T) - 1);

        poke<T> (pieces[j].dest + pieces[j].at,
                 IS_SHIFTED ? join (low[j], high[j], offset) : low[j]);
      }
  copy_ends<false> (p, dest, source, first, ends, sizeof (T));
}

#define ROWS(name, T) \
  KERNEL (name, MtlCudaRows, 4, \
          EACH_THREAD (tid) \
            { \
              if (p.is_shifted) \
                copy_rows<T COMMA true COMMA ANY> (p, dest, source, block, tid); \
              else if (p.n_axes == 1) \
                copy_rows<T COMMA false COMMA 1> (p, dest, source, block, tid); \
              else \
                copy_rows<T COMMA false COMMA ANY> (p, dest, source, block, tid); \
            })

/* Rows backwards: the source's address is that of the item at the row's end. */

/* Turns the order of items of 1, 2 or 4 bytes. */
DEVICE u128
reverse_items (u128 word,
               u32  item)
{
  u32 bytes = item == 1 ? 0x0123 : item == 2 ? 0x1032 : 0x3210;

  return (u128) { permute (word[3], 0, bytes), permute (word[2], 0, bytes),
                  permute (word[1], 0, bytes), permute (word[0], 0, bytes) };
}

DEVICE void
reverse_rows (const MtlCudaRows &p,
              u64                dest,
              u64                source,
              u32                block,
              u32                tid)
{
  const u32 first = block * (N_THREADS * N_EACH) + tid;
  Piece pieces[N_EACH];
  u128 low[N_EACH], high[N_EACH];
  u32 ends = 0;

  UNROLL
  for (int j = 0; j < N_EACH; j++)
    {
      u32 i = first + j * N_THREADS;

      pieces[j].at = -1;
      if (i >= p.n)
        continue;

      pieces[j] = locate_piece<ANY> (p, dest, source, i, 16);
      if (!is_whole (p, pieces[j], 16)
          || !peek_both<u128> (p, pieces[j].source + (p.row_bytes - 16 - pieces[j].at), &low[j],
                               &high[j]))
        {
          pieces[j].at = -1;
          ends |= 1u << j;
        }
    }

  UNROLL
  for (int j = 0; j < N_EACH; j++)
    if (pieces[j].at >= 0)
      {
        u32 offset = (u32) (pieces[j].source + p.row_bytes - pieces[j].at) & 15;

        poke<u128> (pieces[j].dest + pieces[j].at,
                    reverse_items (join (low[j], high[j], offset), p.grain));
      }
  copy_ends<true> (p, dest, source, first, ends, 16);
}

/* Rows of one item each */

/* The item at all multiples of its size */
DEVICE u128
repeat_item (u64 address,
             u32 item)
{
  u32 word;
  u64 both;

  switch (item)
    {
    case 1:
      word = peek<u8> (address) * 0x01010101u;
      return (u128) { word, word, word, word };
    case 2:
      word = peek<u16> (address) * 0x00010001u;
      return (u128) { word, word, word, word };
    case 4:
      word = peek<u32> (address);
      return (u128) { word, word, word, word };
    case 8:
      both = peek<u64> (address);
      return (u128) { (u32) both, (u32) (both >> 32), (u32) both, (u32) (both >> 32) };
    default:
      return peek<u128> (address);
    }
}

DEVICE u32
get_word (u128 words,
          u32  i)
{
  return i == 0 ? words[0] : i == 1 ? words[1] : i == 2 ? words[2] : words[3];
}

/* Stores the bytes of a word that belong to the row. */
DEVICE void
poke_piece (const MtlCudaRows &p,
            const Piece       &piece,
            u128               word)
{
  s64 end = get_end (p, piece, sizeof word);

  if (is_whole (p, piece, sizeof word))
    {
      poke<u128> (piece.dest + piece.at, word);
      return;
    }

  ROLLED
  for (s64 at = get_begin (piece); at < end; at += p.grain)
    {
      u32 byte = (u32) (at - piece.at), part = get_word (word, byte / 4) >> 8 * (byte & 3);

      switch (p.grain)
        {
        case 1:
          poke<u8> (piece.dest + at, part);
          break;
        case 2:
          poke<u16> (piece.dest + at, part);
          break;
        case 4:
          poke<u32> (piece.dest + at, part);
          break;
        default:
          poke<u64> (piece.dest + at, part | (u64) get_word (word, byte / 4 + 1) << 32);
        }
    }
}

template <int N>
DEVICE void
repeat_rows (const MtlCudaRows &p,
             u64                dest,
             u64                source,
             u32                block,
             u32                tid)
{
  const u32 first = block * (N_THREADS * N_EACH) + tid;

  ROLLED
  for (int j = 0; j < N_EACH; j++)
    {
      u32 i = first + j * N_THREADS;

      if (i < p.n)
        {
          Piece piece = locate_piece<N> (p, dest, source, i, 16);

          poke_piece (p, piece, repeat_item (piece.source, p.item));
        }
    }
}

template <int N>
DEVICE void
fill_rows (const MtlCudaRows &p,
           u64                dest,
           u32                block,
           u32                tid)
{
  const u128 word = { p.pattern[0], p.pattern[1], p.pattern[2], p.pattern[3] };
  const u32 first = block * (N_THREADS * N_EACH) + tid;

  ROLLED
  for (int j = 0; j < N_EACH; j++)
    {
      u32 i = first + j * N_THREADS;

      if (i < p.n)
        poke_piece (p, locate_piece<N> (p, dest, 0, i, 16), word);
    }
}

/* The source is a place in the pattern. */
template <typename T>
DEVICE void
fill_pieces (const MtlCudaPattern &p,
             u64                   dest,
             u64                   source,
             u32                   block,
             u32                   tid)
{
  const u32 first = block * (N_THREADS * N_EACH) + tid;

  ROLLED
  for (int j = 0; j < N_EACH; j++)
    {
      u32 i = first + j * N_THREADS;
      s64 to, from;
      u64 value = 0;

      if (i >= p.n)
        return;

      locate<ANY> (p.axes, p.n_axes, i, &to, &from);
      UNROLL
      for (u32 k = 0; k < sizeof (T); k++)
        value |= (u64) p.pattern[source + from + k] << 8 * k;
      poke<T> (dest + to, (T) value);
    }
}

DEVICE void
fill_patterns (const MtlCudaPattern &p,
               u64                   dest,
               u64                   source,
               u32                   block,
               u32                   tid)
{
  if (p.grain == 1)
    fill_pieces<u8> (p, dest, source, block, tid);
  else if (p.grain == 2)
    fill_pieces<u16> (p, dest, source, block, tid);
  else if (p.grain == 4)
    fill_pieces<u32> (p, dest, source, block, tid);
  else
    fill_pieces<u64> (p, dest, source, block, tid);
}
