/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Statistics of strided elements. Their tiles are taken in pieces, each with a tally of
 * its own. The layout alone decides which elements a piece has, so the result is the same
 * for any number of threads. */

#include "mtl-tally-private.h"

#include <math.h>
#include <string.h>

#include "mtl-copy-plan-private.h"
#include "mtl-error-private.h"
#include "mtl-tiles-private.h"

/* Pieces have about as many bytes, or more if there were too many of them. */
#define PIECE_BYTES (512 * 1024)
#define MAX_PIECES 16384

const MtlTallyKernels *
mtl_tally_get_kernels (void)
{
#ifdef MTL_COPY_HAS_X86_SETS
  const MtlCopyKernels *set = mtl_copy_machine_get ()->kernels;

  if (set == &mtl_copy_kernels_avx512)
    return &mtl_tally_kernels_avx512;
  if (set == &mtl_copy_kernels_avx2)
    return &mtl_tally_kernels_avx2;
#endif

  return &mtl_tally_kernels_plain;
}

/* The formula of Chan, Golub and LeVeque. The mean keeps the digits that do not fit a
 * double, as the next distance may depend on them. */
static void
add_moments (MtlMoments       *self,
             const MtlMoments *other)
{
  double n = (double) self->n + (double) other->n;
  double share, distance, step, sum;

  if (other->n == 0)
    return;
  if (self->n == 0)
    {
      *self = *other;
      return;
    }

  share = (double) other->n / n;
  distance = (other->mean - self->mean) + (other->rest - self->rest);
  if (!isfinite (distance))
    {
      self->mean = self->mean * (1 - share) + other->mean * share;
      self->squares = INFINITY;
      self->n += other->n;
      return;
    }

  step = distance * share;
  sum = self->mean + step;
  self->rest += fabs (self->mean) >= fabs (step) ? (self->mean - sum) + step
                                                 : (step - sum) + self->mean;
  self->mean = sum;
  self->squares += other->squares + distance * step * (double) self->n;
  self->n += other->n;
}

void
mtl_tally_add (MtlTally       *self,
               const MtlTally *other)
{
  self->least = MIN (self->least, other->least);
  self->most = MAX (self->most, other->most);
  self->n_zeros += other->n_zeros;
  self->n_nans += other->n_nans;
  self->n_infinities += other->n_infinities;
  for (guint i = 0; i < G_N_ELEMENTS (self->parts); i++)
    add_moments (&self->parts[i], &other->parts[i]);
}

/* Counts each element n times. */
static void
repeat (MtlTally *self,
        gint64    n)
{
  self->n_zeros *= n;
  self->n_nans *= n;
  self->n_infinities *= n;
  for (guint i = 0; i < G_N_ELEMENTS (self->parts); i++)
    {
      self->parts[i].n *= n;
      self->parts[i].squares *= (double) n;
    }
}

/* Adds up tallies like numbers of as many binary digits: only those of the same size
 * are added, so that errors grow with the logarithm of their number. */
typedef struct
{
  MtlTally sums[64];
  guint64 n;
} PairwiseSum;

static void
pairwise_sum_add (PairwiseSum    *self,
                  const MtlTally *tally)
{
  MtlTally sum = *tally;
  guint i = 0;

  for (; (self->n >> i & 1) != 0; i++)
    {
      mtl_tally_add (&self->sums[i], &sum);
      sum = self->sums[i];
    }
  self->sums[i] = sum;
  self->n++;
}

static void
pairwise_sum_get (const PairwiseSum *self,
                  MtlTally          *sum)
{
  *sum = (MtlTally) MTL_TALLY_NONE;
  for (guint i = 0; i < G_N_ELEMENTS (self->sums); i++)
    if ((self->n >> i & 1) != 0)
      mtl_tally_add (sum, &self->sums[i]);
}

/* Depends on the layout alone, as the sum does. */
static gint64
get_tiles_per_piece (const MtlTiles *tiles)
{
  return MAX (PIECE_BYTES / MTL_TILE_BYTES, (tiles->n_tiles - 1) / MAX_PIECES + 1);
}

typedef struct
{
  const MtlTiles *tiles;
  MtlTallyFunc func;
  gint64 tiles_per_piece;
  MtlTally *pieces;
} Work;

static void
run_tiles (const MtlTiles *tiles,
           MtlTallyFunc    func,
           gint64          begin,
           gint64          end,
           MtlTally       *sum)
{
  guint8 numbers[MTL_TILE_BYTES] __attribute__ ((aligned (64)));
  PairwiseSum pairwise;

  pairwise.n = 0;
  for (; begin < end; begin++)
    {
      MtlTally tally;
      gsize n;
      const guint8 *data = mtl_tiles_get (tiles, begin, numbers, &n);

      func (&tally, data, n);
      pairwise_sum_add (&pairwise, &tally);
    }

  pairwise_sum_get (&pairwise, sum);
}

static void
run_pieces (gpointer data,
            gsize    begin,
            gsize    end)
{
  const Work *self = data;

  for (; begin < end; begin++)
    {
      gint64 first = begin * self->tiles_per_piece;

      run_tiles (self->tiles, self->func, first,
                 MIN (first + self->tiles_per_piece, self->tiles->n_tiles), &self->pieces[begin]);
    }
}

/* The type of the kernel for these numbers: their own, or a wider one. */
MtlElementType
mtl_tally_get_number_type (MtlElementType type)
{
  gboolean is_wide = type.code == kDLFloat && type.bits >= 32;

  if (type.code == kDLComplex)
    return (MtlElementType) { kDLComplex, 128, 1, FALSE };
  if (type.code == kDLInt || type.code == kDLUInt)
    return (MtlElementType) { type.code, MAX (type.bits, 8), 1, FALSE };
  if (type.code == kDLBool || is_wide)
    return type;

  return (MtlElementType) { kDLFloat, 32, 1, FALSE };
}

MtlNumber
mtl_tally_key_to_number (gint64         key,
                         MtlElementType type)
{
  guint64 bits = mtl_tally_key_of_bits ((guint64) key);
  double value;

  if (type.code == kDLInt || type.code == kDLBool)
    return mtl_number_from_int64 (key);
  if (type.code == kDLUInt && type.bits == 64)
    return mtl_number_from_uint64 ((guint64) key ^ G_GUINT64_CONSTANT (0x8000000000000000));
  if (type.code == kDLUInt)
    return mtl_number_from_uint64 (key);

  memcpy (&value, &bits, sizeof value);
  return mtl_number_from_double (value);
}

static MtlTallyFunc
get_func (MtlElementType number_type)
{
  const MtlTallyKernels *kernels = mtl_tally_get_kernels ();

  return number_type.code == kDLComplex
           ? kernels->of_complex128 : kernels->of[mtl_convert_type_of (number_type)];
}

void
mtl_tally_of_tiles (MtlTally       *self,
                    const MtlTiles *tiles,
                    MtlElementType  number_type)
{
  run_tiles (tiles, get_func (number_type), 0, tiles->n_tiles, self);
}

static gboolean
run (Work              *self,
     MtlTally          *sum,
     const MtlMonitor  *monitor,
     GError           **error)
{
  gsize n_pieces = (self->tiles->n_tiles - 1) / self->tiles_per_piece + 1;
  g_autofree MtlTally *allocated = NULL;
  PairwiseSum pairwise;
  MtlTally only;

  self->pieces = &only;
  if (n_pieces > 1)
    {
      self->pieces = allocated = g_try_new (MtlTally, n_pieces);
      if (allocated == NULL)
        return mtl_set_no_memory (n_pieces * sizeof (MtlTally), error);
    }

  if (!mtl_threads_run (&(MtlThreadsWork) {
                          .func = run_pieces,
                          .data = self,
                          .n_items = n_pieces,
                          .n_bytes = mtl_tiles_count_bytes (self->tiles),
                        },
                        monitor, error))
    return FALSE;

  pairwise.n = 0;
  for (gsize i = 0; i < n_pieces; i++)
    pairwise_sum_add (&pairwise, &self->pieces[i]);
  pairwise_sum_get (&pairwise, sum);
  return TRUE;
}

gboolean
mtl_tally_add_strided (MtlTally          *self,
                       const MtlStrided  *strided,
                       const MtlMonitor  *monitor,
                       GError           **error)
{
  MtlElementType type = mtl_tally_get_number_type (strided->type);
  MtlTiles tiles;
  MtlTally sum;
  Work work;

  if (mtl_layout_is_empty (strided->layout))
    return mtl_monitor_check (monitor, error);

  mtl_tiles_init (&tiles, strided, type);
  work.tiles = &tiles;
  work.func = get_func (type);
  work.tiles_per_piece = get_tiles_per_piece (&tiles);
  if (!run (&work, &sum, monitor, error))
    return FALSE;

  repeat (&sum, tiles.n_repeats);
  mtl_tally_add (self, &sum);
  return TRUE;
}

/* Tallies of tiles in their order, added up as the pieces of threads are. */
typedef struct
{
  PairwiseSum pieces;
  PairwiseSum piece;
  guint64 tiles_per_piece;
} TileSum;

static void
tile_sum_end_piece (TileSum *self)
{
  MtlTally sum;

  pairwise_sum_get (&self->piece, &sum);
  pairwise_sum_add (&self->pieces, &sum);
  self->piece.n = 0;
}

static void
tile_sum_add (TileSum        *self,
              const MtlTally *tallies,
              gint64          n)
{
  for (gint64 i = 0; i < n; i++)
    {
      pairwise_sum_add (&self->piece, &tallies[i]);
      if (self->piece.n == self->tiles_per_piece)
        tile_sum_end_piece (self);
    }
}

static void
tile_sum_get (TileSum  *self,
              MtlTally *sum)
{
  if (self->piece.n > 0)
    tile_sum_end_piece (self);
  pairwise_sum_get (&self->pieces, sum);
}

#define TILES_AT_ONCE 65536

gboolean
mtl_tally_add_strided_by (MtlTally           *self,
                          const MtlStrided   *strided,
                          MtlTallyTilesFunc   func,
                          gpointer            data,
                          const MtlMonitor   *monitor,
                          GError            **error)
{
  g_autofree MtlTally *tallies = NULL;
  TileSum tile_sum = { .pieces.n = 0 };
  gint64 n_at_once, n;
  MtlTiles tiles;
  MtlTally sum;

  mtl_tiles_init (&tiles, strided, mtl_tally_get_number_type (strided->type));
  tile_sum.tiles_per_piece = get_tiles_per_piece (&tiles);
  n_at_once = MIN (tiles.n_tiles, TILES_AT_ONCE);
  tallies = g_try_new (MtlTally, n_at_once);
  if (tallies == NULL)
    return mtl_set_no_memory (n_at_once * sizeof (MtlTally), error);

  for (gint64 first = 0; first < tiles.n_tiles; first += n)
    {
      n = MIN (n_at_once, tiles.n_tiles - first);
      if (!mtl_monitor_check (monitor, error)
          || !func (&tiles, first, n, tallies, data, error))
        return FALSE;

      tile_sum_add (&tile_sum, tallies, n);
      mtl_monitor_report (monitor, first + n, tiles.n_tiles, mtl_tiles_count_bytes (&tiles));
    }

  tile_sum_get (&tile_sum, &sum);
  repeat (&sum, tiles.n_repeats);
  mtl_tally_add (self, &sum);
  return TRUE;
}
