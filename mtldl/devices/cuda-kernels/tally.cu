/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Statistics of tiles of numbers, to the bit as on the host. N_LANES threads take a tile, and keep as
 * many sums apart as the host's vectors do. The host adds up the tiles. */

#include "any-numbers.h"

enum
{
  N_LANES = MTL_CUDA_TALLY_LANES,
  N_TILES = N_THREADS / N_LANES, /* of a block */
};

static const s64 INT64_MOST = 0x7fffffffffffffff;
static const double LARGEST = 0x1.fffffffffffffp1023;

/* A tile, in shared memory */
struct TileState
{
  u64 address; /* in bits */
  u32 n;
  u32 extents[MTL_CUDA_MAX_AXES];
  MtlCudaTally tally;
  u64 origin; /* subtracted from large integers */
  double from;
  double scale;
  bool is_compact; /* only finite numbers count, as if there were no others */
  bool is_measured;
};

/* The part of a tile that a thread has */
struct LaneState
{
  s64 least;
  s64 most;
  u64 n_zeros;
  u64 n_nans;
  u64 n_infinities;
  u64 sum; /* of small integers, which have a sign */
  u64 squares;
  double real_sum;
  double real_squares;
};

DEVICE TileState *
get_tile (u32 tid)
{
  return (TileState *) SHARED + tid / N_LANES;
}

DEVICE LaneState *
get_lane (u32 tid)
{
  return (LaneState *) (SHARED + N_TILES * sizeof (TileState)) + tid;
}

/* The order of doubles, as integers; is its own inverse. */
DEVICE s64
get_key (double x)
{
  u64 pattern = bits<u64> (x);

  return (s64) (pattern ^ ((u64) -(s64) (pattern >> 63) >> 1));
}

DEVICE double
get_number (s64 key)
{
  return bits<double> ((u64) get_key (bits<double> ((u64) key)));
}

DEVICE bool
is_finite (double x)
{
  return x - x == 0;
}

DEVICE void
set_up_tile (const MtlCudaTallies &p,
             TileState            *tile,
             u64                   address,
             u32                   number)
{
  u64 index = p.first_tile + number;

  tile->n = 0;
  tile->is_measured = false;
  if (number >= p.n_tiles)
    return;

  tile->n = 1;
  tile->address = address;
  ROLLED
  for (u32 k = p.n_axes; k-- > 0;)
    {
      const MtlCudaTallyAxis &axis = p.axes[k];
      const u64 first = index % axis.n_parts * axis.part, left = axis.extent - first;

      index /= axis.n_parts;
      tile->address += first * axis.step;
      tile->extents[k] = left < axis.part ? (u32) left : axis.part;
      tile->n *= tile->extents[k];
    }
}

/* An element, or the two parts of a complex number */
struct Element
{
  Value part;
  Value other_part; /* otherwise 0 */
};

DEVICE Value
load_value (const MtlCudaTallies &p,
            u64                   address)
{
  if (p.number.bits < 8)
    return load_number (p.number, load_bits (address, p.number.bits));
  return load_number (p.number, load_pattern (address >> 3, p.number.size, p.is_unaligned));
}

/* Elements are in C order. */
DEVICE Element
load_element (const MtlCudaTallies &p,
              const TileState      *tile,
              u32                   index)
{
  Element element = { { 0, Value::UINT }, { 0, Value::UINT } };
  u64 address = tile->address;

  ROLLED
  for (u32 k = p.n_axes; k-- > 0;)
    {
      const u32 extent = tile->extents[k];

      if (index < extent)
        {
          address += index * p.axes[k].step;
          break;
        }
      address += index % extent * p.axes[k].step;
      index /= extent;
    }

  ROLLED
  for (u32 n = p.other_part != 0 ? 2 : 1; n > 0; n--)
    {
      element.other_part = element.part;
      element.part = load_value (p, address + (n - 1) * p.other_part);
    }

  return element;
}

DEVICE bool
is_real (const MtlCudaTallies &p)
{
  return p.kind == MTL_CUDA_TALLY_REAL;
}

DEVICE double
get_float (Value x)
{
  return bits<double> (get_float64 (x));
}

/* A number that is not finite if it is a part of a complex number that is not; NaN if either is. */
DEVICE double
get_part (const Element &element)
{
  const double x = get_float (element.part), y = get_float (element.other_part);

  return is_finite (y) || x != x || (!is_finite (x) && y == y) ? x : y;
}

DEVICE void
scan_real (LaneState     *lane,
           const Element &element)
{
  const double x = get_part (element);
  const s64 key = get_key (x);

  if (x != x)
    lane->n_nans++;
  else if (!is_finite (x))
    lane->n_infinities++;
  else
    {
      lane->least = key < lane->least ? key : lane->least;
      lane->most = key > lane->most ? key : lane->most;
      lane->n_zeros += x == 0 && get_float (element.other_part) == 0;
    }
}

/* Integers of 64 bits without a sign are less 2^63, as their keys are. */
DEVICE void
scan_integer (const MtlCudaTallies &p,
              LaneState            *lane,
              u64                   x)
{
  s64 key = (s64) (x ^ p.bias);

  lane->least = key < lane->least ? key : lane->least;
  lane->most = key > lane->most ? key : lane->most;
  lane->n_zeros += x == 0;
  lane->sum += x;
  lane->squares += x * x;
}

DEVICE void
scan (const MtlCudaTallies &p,
      u32                   tid)
{
  const TileState *tile = get_tile (tid);
  LaneState lane = { INT64_MOST, -INT64_MOST - 1, 0, 0, 0, 0, 0, 0, 0 };

  ROLLED
  for (u32 i = tid % N_LANES; i < tile->n; i += N_LANES)
    {
      const Element element = load_element (p, tile, i);

      if (is_real (p))
        scan_real (&lane, element);
      else
        scan_integer (p, &lane, element.part.bits);
    }
  *get_lane (tid) = lane;
}

DEVICE LaneState
add_lanes (u32 tid)
{
  LaneState all = *get_lane (tid);

  ROLLED
  for (u32 i = 1; i < N_LANES; i++)
    {
      const LaneState *lane = get_lane (tid + i);

      all.least = lane->least < all.least ? lane->least : all.least;
      all.most = lane->most > all.most ? lane->most : all.most;
      all.n_zeros += lane->n_zeros;
      all.n_nans += lane->n_nans;
      all.n_infinities += lane->n_infinities;
      all.sum += lane->sum;
      all.squares += lane->squares;
    }

  return all;
}

/* Sums and products are exact. */
DEVICE void
finish_small_integers (MtlCudaTally    *tally,
                       const LaneState &all)
{
  const double n = (double) tally->n, sum = (double) (s64) all.sum, mean = sum / n;

  tally->mean = mean;
  tally->rest = __builtin_fma (-mean, n, sum) / n;
  tally->squares = (double) (tally->n * all.squares - all.sum * all.sum) / n;
}

DEVICE void
finish_bools (MtlCudaTally *tally)
{
  const double n = (double) tally->n, n_ones = (double) (tally->n - tally->n_zeros);

  tally->least = tally->n_zeros == 0;
  tally->most = tally->n_zeros < tally->n;
  tally->mean = n_ones / n;
  tally->squares = n_ones * (double) tally->n_zeros / n;
}

/* The middle, from which all distances fit a signed number */
DEVICE u64
get_origin (const MtlCudaTallies &p,
            const MtlCudaTally   &tally)
{
  const u64 least = (u64) tally.least ^ p.bias, range = (u64) tally.most - (u64) tally.least;

  return least + range / 2 + range % 2;
}

/* Sums of squares of as many numbers up to 2^500 as fit in a tile are finite. */
DEVICE void
start_reals (const MtlCudaTallies &p,
             TileState            *tile)
{
  MtlCudaTally *tally = &tile->tally;
  const double least = get_number (tally->least), most = get_number (tally->most);

  tile->is_compact = tally->n < tile->n || p.other_part != 0
                     || (p.has_large && (most > 0x1p500 || least < -0x1p500));
  tile->is_measured = tally->n > 0 && !(tile->is_compact && least == most);
  if (tally->n > 0 && !tile->is_measured)
    tally->mean = least + 0.0;
}

DEVICE void
start (const MtlCudaTallies &p,
       u32                   tid)
{
  TileState *tile = get_tile (tid);
  MtlCudaTally *tally = &tile->tally;

  if (tile->n == 0)
    return;

  const LaneState all = add_lanes (tid);

  *tally = { all.least, all.most, all.n_zeros, all.n_nans, all.n_infinities,
             tile->n - all.n_nans - all.n_infinities, 0, 0, 0 };
  tile->is_compact = false;
  tile->scale = 1;
  switch (p.kind)
    {
    case MTL_CUDA_TALLY_BOOL:
      finish_bools (tally);
      break;
    case MTL_CUDA_TALLY_SMALL:
      finish_small_integers (tally, all);
      break;
    case MTL_CUDA_TALLY_LARGE:
      tile->origin = get_origin (p, *tally);
      tile->is_measured = true;
      break;
    default:
      start_reals (p, tile);
    }
}

/* The number that is added up */
DEVICE double
get_term (const MtlCudaTallies &p,
          const TileState      *tile,
          const Element        &element)
{
  if (is_real (p))
    return tile->is_compact ? get_part (element) * tile->scale : get_part (element);
  if (p.number.bits == 32)
    return (double) (s32) ((u32) element.part.bits - (u32) tile->origin);

  return (double) (s64) (element.part.bits - tile->origin);
}

DEVICE void
add_term (LaneState *lane,
          double     x,
          double     from,
          bool       squares)
{
  const double distance = squares ? x - from : x;

  lane->real_sum += distance;
  if (squares)
    lane->real_squares += distance * distance;
}

/* A lane's terms are every 16th. Lanes that have no term at the end add one that does not count. */
DEVICE void
add_terms (const MtlCudaTallies &p,
           u32                   tid,
           bool                  squares)
{
  const TileState *tile = get_tile (tid);
  const u32 lane_index = tid % N_LANES;
  const double from = squares ? tile->from : 0;
  LaneState lane = *get_lane (tid);
  u32 index = 0, n_added = 0;

  if (!tile->is_measured)
    return;

  lane.real_sum = lane.real_squares = 0;
  ROLLED
  for (u32 i = tile->is_compact ? 0 : lane_index; i < tile->n;
       i += tile->is_compact ? 1 : N_LANES)
    {
      const double x = get_term (p, tile, load_element (p, tile, i));

      if (tile->is_compact && (!is_finite (x) || index++ % N_LANES != lane_index))
        continue;

      add_term (&lane, x, from, squares);
      n_added++;
    }
  if (n_added == tile->tally.n / N_LANES)
    add_term (&lane, from, from, squares);
  *get_lane (tid) = lane;
}

/* The order is that of the host. */
DEVICE double
add_up (u32    tid,
        double LaneState::*sum)
{
  double sums[N_LANES];

  UNROLL
  for (u32 i = 0; i < N_LANES; i++)
    sums[i] = get_lane (tid + i)->*sum;
  UNROLL
  for (u32 n = N_LANES / 2; n > 0; n /= 2)
    UNROLL
    for (u32 i = 0; i < n; i++)
      sums[i] += sums[i + n];

  return sums[0];
}

DEVICE void
set_mean (u32 tid)
{
  TileState *tile = get_tile (tid);

  if (tile->is_measured)
    tile->from = add_up (tid, &LaneState::real_sum) / (double) tile->tally.n;
}

/* Keeps in the rest the digits that do not fit the mean. */
DEVICE void
move_mean (MtlCudaTally *tally,
           double        by)
{
  const double sum = tally->mean + by, moved = sum - tally->mean;

  tally->rest += (tally->mean - (sum - moved)) + (by - moved);
  tally->mean = sum;
}

DEVICE void
move_to_origin (const MtlCudaTallies &p,
                TileState            *tile)
{
  const u64 origin = tile->origin;

  if (p.is_signed)
    {
      const s64 low = (s64) origin % 0x800;

      move_mean (&tile->tally, (double) low);
      move_mean (&tile->tally, (double) ((s64) origin - low));
    }
  else
    {
      const u64 low = origin % 0x800;

      move_mean (&tile->tally, (double) low);
      move_mean (&tile->tally, (double) (origin - low));
    }
}

DEVICE void
enlarge (MtlCudaTally *tally)
{
  const double most = LARGEST * 0x1p-600;
  const double mean = tally->mean > most ? most : tally->mean < -most ? -most : tally->mean;

  tally->rest = (tally->rest + (tally->mean - mean)) * 0x1p600;
  tally->mean = mean * 0x1p600;
  tally->squares = tally->squares * 0x1p600 * 0x1p600;
}

/* If the sums of large numbers overflow, all are made smaller in a second pass. */
DEVICE void
finish (const MtlCudaTallies &p,
        u32                   tid)
{
  TileState *tile = get_tile (tid);
  MtlCudaTally *tally = &tile->tally;
  double distances, squares;

  if (!tile->is_measured)
    return;

  tile->is_measured = false;
  distances = add_up (tid, &LaneState::real_sum);
  squares = add_up (tid, &LaneState::real_squares);
  tally->mean = tile->from;
  tally->rest = distances / (double) tally->n;
  tally->squares = is_finite (squares) ? squares - tally->rest * distances
                                       : bits<double> (FLOAT64_INFINITY);
  if (p.kind == MTL_CUDA_TALLY_LARGE)
    move_to_origin (p, tile);
  else if (tile->scale != 1)
    enlarge (tally);
  else if (tile->is_compact && !(is_finite (tally->mean) && is_finite (tally->rest)))
    {
      tile->scale = 0x1p-600;
      tile->is_measured = true;
    }
}

DEVICE void
write_tally (u64                 address,
             const MtlCudaTally &tally)
{
  poke<u64> (address, tally.least);
  poke<u64> (address + 8, tally.most);
  poke<u64> (address + 16, tally.n_zeros);
  poke<u64> (address + 24, tally.n_nans);
  poke<u64> (address + 32, tally.n_infinities);
  poke<u64> (address + 40, tally.n);
  poke<u64> (address + 48, bits<u64> (tally.mean));
  poke<u64> (address + 56, bits<u64> (tally.rest));
  poke<u64> (address + 64, bits<u64> (tally.squares));
}

DEVICE void
tally_tiles (const MtlCudaTallies &p,
             u64                   results,
             u64                   source,
             u32                   block)
{
  EACH_THREAD (tid)
    if (tid % N_LANES == 0)
      set_up_tile (p, get_tile (tid), source, block * N_TILES + tid / N_LANES);
  BARRIER ();
  EACH_THREAD (tid)
    scan (p, tid);
  BARRIER ();
  EACH_THREAD (tid)
    if (tid % N_LANES == 0)
      start (p, tid);
  BARRIER ();
  ROLLED
  for (int pass = 0; pass < 2; pass++)
    {
      EACH_THREAD (tid)
        add_terms (p, tid, false);
      BARRIER ();
      EACH_THREAD (tid)
        if (tid % N_LANES == 0)
          set_mean (tid);
      BARRIER ();
      EACH_THREAD (tid)
        add_terms (p, tid, true);
      BARRIER ();
      EACH_THREAD (tid)
        if (tid % N_LANES == 0)
          finish (p, tid);
      BARRIER ();
    }
  EACH_THREAD (tid)
    if (tid % N_LANES == 0 && get_tile (tid)->n > 0)
      write_tally (results + (u64) (block * N_TILES + tid / N_LANES) * sizeof (MtlCudaTally),
                   get_tile (tid)->tally);
}

static_assert (N_TILES * sizeof (TileState) + N_THREADS * sizeof (LaneState)
               <= MTL_CUDA_TALLY_SHARED, "");

KERNEL (tally, MtlCudaTallies, 2, tally_tiles (p, dest, source, block))
