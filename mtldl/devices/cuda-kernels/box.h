/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

/* Tiles of several axes through shared memory. A thread has a column, and goes through rows whose
 * offsets are in a table. All tiles are whole, so that the tables are made once for each block. */

#include "gather.h"

/* Where the elements of a row or a column are: in memory, in bytes, and in shared memory.
 * Positions wrap around, since some axes go backwards. */
struct Place
{
  s32 offset;
  u32 position;
};

/* Rows that a thread moves at once */
enum { N_ROWS = 4 };

DEVICE void
add_axis (const MtlCudaBoxSide &side,
          u32                   axis,
          u32                   index,
          Place                *place)
{
  place->offset += (s32) index * side.offsets[axis];
  place->position += index * side.positions[axis];
}

DEVICE Place
get_row (const MtlCudaBoxSide &side,
         u32                   index)
{
  Place place = { 0, side.position };

  if (side.n_whole < side.n_axes)
    {
      const u32 parts = side.split_parts, part = index % parts;

      add_axis (side, side.n_whole,
                least (part * side.split, side.extents[side.n_whole] - side.split), &place);
      index /= parts;
    }
  ROLLED
  for (u32 k = side.n_whole + 1; k < side.n_axes; k++)
    {
      add_axis (side, k, index % side.extents[k], &place);
      index /= side.extents[k];
    }

  return place;
}

/* A column without its first axis, whose index is returned */
DEVICE u32
get_column (const MtlCudaBoxSide &side,
            u32                   index,
            Place                *place)
{
  const u32 first = index % side.column_extents[0];

  place->offset = 0;
  place->position = 0;
  index /= side.column_extents[0];
  ROLLED
  for (u32 k = 1; k <= side.n_whole && k < side.n_axes; k++)
    {
      add_axis (side, k, index % side.column_extents[k], place);
      index /= side.column_extents[k];
    }

  return first;
}

DEVICE void
make_table (const MtlCudaBoxSide &side,
            u32                   tid)
{
  Place *table = (Place *) (SHARED + side.table);

  ROLLED
  for (u32 i = tid; i < side.n_rows; i += N_THREADS)
    table[i] = get_row (side, i);
}

/* A thread's column, and its first row; beyond the last one if it has none */
struct Column
{
  Place place;
  u32 unit; /* the number of the column along the first axis */
  u32 row;
};

DEVICE Column
get_thread_column (const MtlCudaBoxSide &side,
                   u32                   tid)
{
  Column column;

  column.row = tid / side.n_columns;
  column.unit = get_column (side, tid - column.row * side.n_columns, &column.place);
  if (column.row >= side.n_lanes)
    column.row = side.n_rows;

  return column;
}

/* Columns of single elements */

template <typename Convert>
DEVICE void
load_elements (const MtlCudaBoxSide &side,
               Column                column,
               u64                   source,
               typename Convert::Dest *data)
{
  const Place *table = (const Place *) (SHARED + side.table);
  typedef typename Convert::Source In;
  const u32 step = side.n_lanes, n = side.n_rows;

  add_axis (side, 0, column.unit, &column.place);
  source += column.place.offset;

  ROLLED
  for (u32 row = column.row; row < n; row += N_ROWS * step)
    {
      In values[N_ROWS];
      u32 positions[N_ROWS];

      UNROLL
      for (int j = 0; j < N_ROWS; j++)
        if (row + j * step < n)
          {
            const Place place = table[row + j * step];

            values[j] = peek<In> (source + place.offset);
            positions[j] = column.place.position + place.position;
          }
      UNROLL
      for (int j = 0; j < N_ROWS; j++)
        if (row + j * step < n)
          data[positions[j]] = Convert::of (values[j]);
    }
}

template <typename T>
DEVICE void
store_elements (const MtlCudaBoxSide &side,
                Column                column,
                u64                   dest,
                const T              *data)
{
  const Place *table = (const Place *) (SHARED + side.table);
  const u32 step = side.n_lanes, n = side.n_rows;

  add_axis (side, 0, column.unit, &column.place);
  dest += column.place.offset;

  UNROLL_2
  for (u32 row = column.row; row < n; row += step)
    {
      const Place place = table[row];

      poke<T> (dest + place.offset, data[column.place.position + place.position]);
    }
}

/* Columns of words. The first axis is contiguous. */

/* The last word overlaps the one before. */
template <typename T>
DEVICE void
load_words (const MtlCudaBox &p,
            Column            column,
            u64               source,
            T                *data)
{
  const MtlCudaBoxSide &side = p.sides[1];
  const Place *table = (const Place *) (SHARED + side.table);
  const u32 step = side.n_lanes, n = side.n_rows, V = 4 / sizeof (T), apart = side.positions[0];

  add_axis (side, 0, least (column.unit * V, side.length - V), &column.place);
  source += column.place.offset;

  UNROLL_2
  for (u32 row = column.row; row < n; row += step)
    {
      const Place place = table[row];
      const u64 address = source + place.offset;
      const u32 offset = (u32) address & 3;
      const u64 first = address - offset, second = first + (offset != 0 ? 4 : 0);
      const u32 position = column.place.position + place.position;
      u32 word = 0;

      if (first >= p.source_begin && second + 4 <= p.source_end)
        word = join (peek<u32> (first), peek<u32> (second), offset);
      else
        for (u32 k = 0; k < V; k++)
          word |= (u32) peek<T> (address + k * sizeof (T)) << k * 8 * sizeof (T);
      UNROLL
      for (u32 k = 0; k < V; k++)
        data[position + k * apart] = (T) (word >> k * 8 * sizeof (T));
    }
}

/* Column i has the bytes before word i of the row, from the word before on. */
template <typename T>
DEVICE void
store_words (const MtlCudaBox &p,
             Column            column,
             u64               dest,
             const T          *data)
{
  const MtlCudaBoxSide &side = p.sides[0];
  const Place *table = (const Place *) (SHARED + side.table);
  const u32 step = side.n_lanes, n = side.n_rows;
  const int size = side.length * sizeof (T);

  dest += column.place.offset;

  UNROLL_2
  for (u32 row = column.row; row < n; row += step)
    {
      const Place place = table[row];
      const u64 to = dest + place.offset;
      const u32 position = column.place.position + place.position;
      const int end = ((0 - (u32) to) & 3) + 4 * column.unit, begin = end - 4;

      if (begin >= 0 && end <= size)
        {
          /* The position may be within a word. */
          const u32 at = (u32) ((const char *) (data + position) - SHARED) + begin;
          const u32 *words = (const u32 *) (SHARED + (at & ~3u));

          poke<u32> (to + begin, (at & 3) != 0 ? join (words[0], words[1], at & 3) : words[0]);
        }
      else
        {
          ROLLED
          for (int at = begin < 0 ? 0 : begin; at < end && at < size; at += (int) sizeof (T))
            poke<T> (to + at, data[position + at / (int) sizeof (T)]);
        }
    }
}

template <typename Convert>
DEVICE void
load_box (const MtlCudaBox       &p,
          const Column           &column,
          u64                     source,
          typename Convert::Dest *data)
{
  if constexpr (Convert::HAS_WORDS)
    if (p.sides[1].unit > 1)
      {
        load_words (p, column, source, data);
        return;
      }

  load_elements<Convert> (p.sides[1], column, source, data);
}

template <typename Convert>
DEVICE void
store_box (const MtlCudaBox             &p,
           const Column                 &column,
           u64                           dest,
           const typename Convert::Dest *data)
{
  if constexpr (Convert::HAS_WORDS)
    if (p.sides[0].unit > 1)
      {
        store_words (p, column, dest, data);
        return;
      }

  store_elements (p.sides[0], column, dest, data);
}

template <typename Convert>
DEVICE void
run_box (const MtlCudaBox &p,
         u64               dest,
         u64               source,
         u32               block)
{
  typedef typename Convert::Dest Out;
  Out *data = (Out *) (SHARED + p.data);
  const u32 first = block * p.tiles_per_block, end = least (first + p.tiles_per_block, p.n_tiles);
  PER_THREAD (Column, source_columns);
  PER_THREAD (Column, dest_columns);

  EACH_THREAD (tid)
    {
      ROLLED
      for (u32 i = 0; i < 2; i++)
        {
          make_table (p.sides[i], tid);
          MINE (dest_columns, tid) = MINE (source_columns, tid);
          MINE (source_columns, tid) = get_thread_column (p.sides[i], tid);
        }
    }
  BARRIER ();

  ROLLED
  for (u32 tile = first; tile < end; tile++)
    {
      u64 to = dest, from = source;

      locate_tile (p.axes, 0, p.n_axes, tile, &to, &from);
      EACH_THREAD (tid)
        load_box<Convert> (p, MINE (source_columns, tid), from, data);
      BARRIER ();
      EACH_THREAD (tid)
        store_box<Convert> (p, MINE (dest_columns, tid), to, data);
      BARRIER ();
    }
}

#define BOX(name, Convert) \
  KERNEL (name, MtlCudaBox, 5, run_box<Convert> (p, dest, source, block))
