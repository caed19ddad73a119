/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Statistics along axes. A slice is the elements that one result is made of. Where they
 * lie close together, there is a tally of each slice. Otherwise slices that lie side by
 * side are taken at once, row by row, as if they were columns. */

#include "mtl-slice-statistics-private.h"

#include <math.h>
#include <string.h>

#include "mtl-copy-plan-private.h"
#include "mtl-error-private.h"
#include "mtl-tally-private.h"

/* A slice of fewer elements is not worth a tally. */
#define MIN_TALLIED 128

/* Slices of this many bytes are each divided among the threads. */
#define LARGE_SLICE (4 * 1024 * 1024)

/* Columns have at least as many side by side, so that a row is worth it. */
#define MIN_COLUMNS 16

/* A slice of contiguous numbers is taken as rows of as many. */
#define FOLDED_COLUMNS 256

typedef struct
{
  const MtlStrided *strided;
  MtlReduction reduction;
  MtlElementType number_type;
  double *results;

  MtlAxis kept[MTL_AXES_MAX]; /* with steps in bits, and in results */
  guint64 parts[MTL_AXES_MAX]; /* those of a block of columns */
  guint n_kept;
  gint64 n_slices;
  MtlAxis reduced[MTL_AXES_MAX]; /* with steps in bits */
  MtlLayout slice;  /* the first one, with the axes that are left out, none repeated */
  gint64 n_in_slice;
  gint64 n_blocks;
  MtlTiles tiles;   /* the tiles of the first slice */
  MtlConversion to_double;
  MtlConversion number_to_double;
  MtlRowsFunc add_rows;   /* adds rows of numbers; NULL if there is none */
  gboolean rows_in_place; /* columns are such numbers, side by side */
} Work;

/* Results of the rows so far: a limit of each column, or a sum. */
typedef union
{
  guint8 limits[MTL_WIDE_COLUMNS * 8];
  double sums[MTL_WIDE_COLUMNS];
} RowResults;

/* Returns FALSE if a result is not finite, as then some numbers may have to be left out. */
static gboolean
get_row_results (const Work       *self,
                 const RowResults *found,
                 gsize             n,
                 double           *results)
{
  gboolean is_finite = TRUE;

  if (self->reduction == MTL_REDUCTION_MEAN)
    memcpy (results, found->sums, n * sizeof *results);
  else
    mtl_conversion_run ((guint8 *) results, found->limits, n, sizeof *results,
                        self->number_type.bits / 8, &self->number_to_double);

  for (gsize i = 0; i < n; i++)
    is_finite &= fabs (results[i]) <= G_MAXDOUBLE;
  return is_finite;
}

/* The first row has n numbers. */
static void
init_row_results (const Work   *self,
                  RowResults   *found,
                  const guint8 *row,
                  gsize         n)
{
  if (self->reduction == MTL_REDUCTION_MEAN)
    memset (found->sums, 0, n * sizeof *found->sums);
  else
    memcpy (found->limits, row, n * self->number_type.bits / 8);
}

static double
get_result (MtlReduction    reduction,
            const MtlTally *tally,
            MtlElementType  number_type)
{
  const MtlMoments *moments = &tally->parts[0];

  if (tally->least > tally->most)
    return NAN;

  switch (reduction)
    {
    case MTL_REDUCTION_MINIMUM:
      return mtl_number_to_double (mtl_tally_key_to_number (tally->least, number_type));
    case MTL_REDUCTION_MAXIMUM:
      return mtl_number_to_double (mtl_tally_key_to_number (tally->most, number_type));
    case MTL_REDUCTION_MEAN:
      return moments->mean + moments->rest;
    default:
      /* Rounding may make the sum of squares of equal numbers negative. */
      return sqrt (MAX (moments->squares, 0) / (double) moments->n);
    }
}

/* Elements that are repeated within a slice change none of the statistics. The layout is not
 * empty. */
static void
take_axes (Work           *self,
           const gboolean *is_reduced)
{
  const MtlLayout *layout = self->strided->layout;
  const gint64 *shape = mtl_layout_shape (layout), *strides = mtl_layout_strides (layout);
  guint n_reduced = 0;

  for (guint i = 0; i < layout->n_dims; i++)
    n_reduced += is_reduced[i] && shape[i] > 1 && strides[i] != 0;

  mtl_layout_init (&self->slice, n_reduced, layout->item_bits, layout->offset);
  self->n_slices = self->n_in_slice = 1;
  n_reduced = 0;
  for (guint i = 0; i < layout->n_dims; i++)
    {
      gint64 step = shape[i] != 1 ? strides[i] * layout->item_bits : 0;

      if (!is_reduced[i])
        {
          self->n_slices *= shape[i];
          if (shape[i] != 1)
            self->kept[self->n_kept++] = mtl_axis (shape[i], step, 0);
        }
      else if (shape[i] > 1 && step != 0)
        {
          mtl_layout_shape (&self->slice)[n_reduced] = shape[i];
          mtl_layout_strides (&self->slice)[n_reduced] = strides[i];
          self->reduced[n_reduced++] = mtl_axis (shape[i], step, 0);
          self->n_in_slice *= shape[i];
        }
    }
}

/* The axes of the slices, and their results in C order. */
static void
merge_kept_axes (Work *self)
{
  gint64 n_below = 1;

  self->n_kept = mtl_axes_merge (self->kept, self->n_kept);
  if (self->n_kept == 0)
    self->kept[self->n_kept++] = mtl_axis (1, 0, 0);
  for (guint i = self->n_kept; i-- > 0; n_below *= self->kept[i].extent)
    self->kept[i].steps[1] = n_below;
}

/* Each slice by itself. */

/* The distance of a slice from the first one, in bits. */
static gint64
locate_slice (const Work *self,
              gint64      index)
{
  guint64 position[MTL_AXES_MAX];
  gint64 offsets[2];

  mtl_axes_go_to (self->kept, self->n_kept, index, position, offsets);
  return offsets[0];
}

/* The numbers of a tile as rows, the last of which may be shorter. */
static void
fold_tile (const Work   *self,
           RowResults   *found,
           const guint8 *tile,
           gsize         n,
           gsize         n_columns)
{
  const guint8 *rows[MTL_COLUMN_ROWS];
  gsize size = self->number_type.bits / 8;

  while (n >= n_columns)
    {
      gsize n_rows = MIN (n / n_columns, MTL_COLUMN_ROWS);

      for (gsize i = 0; i < n_rows; i++)
        rows[i] = tile + i * n_columns * size;
      self->add_rows (found, rows, n_rows, n_columns);
      tile += n_rows * n_columns * size;
      n -= n_rows * n_columns;
    }

  self->add_rows (found, &tile, 1, n);
}

/* Takes a slice as if it were rows. Returns FALSE if the result is not finite. */
static gboolean
fold_slice (const Work     *self,
            const MtlTiles *tiles,
            double         *result)
{
  guint8 buffer[MTL_TILE_BYTES] __attribute__ ((aligned (64)));
  double results[FOLDED_COLUMNS];
  RowResults found;
  gsize n, n_columns;
  const guint8 *tile = mtl_tiles_get (tiles, 0, buffer, &n);

  n_columns = MIN (n, FOLDED_COLUMNS);
  init_row_results (self, &found, tile, n_columns);
  fold_tile (self, &found, tile, n, n_columns);
  for (gint64 i = 1; i < tiles->n_tiles; i++)
    {
      tile = mtl_tiles_get (tiles, i, buffer, &n);
      fold_tile (self, &found, tile, n, n_columns);
    }

  if (!get_row_results (self, &found, n_columns, results))
    return FALSE;

  for (n = n_columns; n > 1; n -= n / 2)
    for (gsize i = 0; i < n / 2; i++)
      {
        double other = results[n - n / 2 + i];

        results[i] = self->reduction == MTL_REDUCTION_MEAN ? results[i] + other
                     : self->reduction == MTL_REDUCTION_MINIMUM ? MIN (results[i], other)
                     : MAX (results[i], other);
      }
  *result = self->reduction == MTL_REDUCTION_MEAN ? results[0] / (double) self->n_in_slice
                                                  : results[0];
  return isfinite (*result);
}

static double
tally_slice (const Work *self,
             MtlTiles   *tiles,
             gint64      index)
{
  MtlTally tally;
  double result;

  tiles->bit = self->tiles.bit + locate_slice (self, index);
  if (self->add_rows != NULL && fold_slice (self, tiles, &result))
    return result;

  mtl_tally_of_tiles (&tally, tiles, self->number_type);
  return get_result (self->reduction, &tally, self->number_type);
}

static void
run_slices (gpointer data,
            gsize    begin,
            gsize    end)
{
  const Work *self = data;
  MtlTiles tiles = self->tiles;

  for (; begin < end; begin++)
    self->results[begin] = tally_slice (self, &tiles, begin);
}

static gboolean
tally_large_slices (Work              *self,
                    const MtlMonitor  *monitor,
                    GError           **error)
{
  for (gint64 i = 0; i < self->n_slices; i++)
    {
      gint64 bit = locate_slice (self, i);
      MtlTally tally = MTL_TALLY_NONE;
      MtlLayout layout = self->slice;

      layout.offset += bit / self->slice.item_bits;
      if (!mtl_tally_add_strided (&tally, &(MtlStrided) {
                                    self->strided->type, &layout, self->strided->data,
                                  },
                                  monitor, error))
        return FALSE;

      self->results[i] = get_result (self->reduction, &tally, self->number_type);
    }

  return TRUE;
}

/* Columns */

static void
divide_columns (Work *self)
{
  gint64 share = self->n_slices / mtl_get_max_threads ();
  gint64 room = self->rows_in_place ? CLAMP (share, 64, MTL_WIDE_COLUMNS)
                                    : CLAMP (share / 2, 64, MTL_MAX_COLUMNS);

  self->n_blocks = mtl_axes_divide (self->kept, self->n_kept, room, self->rows_in_place,
                                    self->parts);
}

/* One element of each column, as doubles. */
static void
gather_row (const Work         *self,
            const MtlAxesBlock *block,
            gint64              bit,
            double             *row)
{
  mtl_gather_block ((guint8 *) row, self->strided->data + (bit + block->offsets[0]) / 8,
                    self->slice.item_bits, block, &self->to_double);
}

/* Where an element of the slices is, from the first one. */
typedef struct
{
  guint64 position[MTL_AXES_MAX];
  gint64 bits[2];
} Place;

static void
place_init (Place      *self,
            const Work *work)
{
  mtl_axes_go_to (work->reduced, work->slice.n_dims, 0, self->position, self->bits);
  self->bits[0] = work->slice.offset * work->slice.item_bits;
}

static void
place_go_on (Place      *self,
             const Work *work)
{
  mtl_axes_go_on (work->reduced, work->slice.n_dims, self->position, self->bits);
}

/* The index of the result of a column of the block. */
static gint64
find_result (const MtlAxesBlock *block,
             gint64              column)
{
  guint64 position[MTL_AXES_MAX];
  gint64 offsets[2];

  mtl_axes_go_to (block->axes, block->n_axes, column, position, offsets);
  return block->offsets[1] + offsets[1];
}

static double
get_column_result (const Work       *self,
                   const MtlColumns *columns,
                   gsize             i)
{
  double n = columns->n[i];

  if (self->reduction == MTL_REDUCTION_MINIMUM || self->reduction == MTL_REDUCTION_MAXIMUM)
    return isfinite (columns->limit[i]) ? columns->limit[i] : NAN;
  if (n == 0)
    return NAN;
  if (self->reduction == MTL_REDUCTION_MEAN)
    return columns->mean[i] / n;

  /* Rounding may make the sum of squares of equal numbers negative. */
  return sqrt (MAX (columns->squares[i], 0) / n);
}

/* Sums of the largest numbers may not be numbers. A tally has room for them. */
static gboolean
is_beyond_sums (const Work       *self,
                const MtlColumns *columns,
                gsize             i)
{
  return (self->reduction == MTL_REDUCTION_MEAN || self->reduction == MTL_REDUCTION_DEVIATION)
         && !(isfinite (columns->mean[i]) && isfinite (columns->squares[i]));
}

/* Adds the rows where they are. Returns FALSE if a result is not finite. */
static gboolean
run_in_place (const Work         *self,
              const MtlAxesBlock *block)
{
  const guint8 *rows[MTL_COLUMN_ROWS];
  double *results = self->results + block->offsets[1];
  RowResults found;
  Place place;

  place_init (&place, self);
  init_row_results (self, &found,
                    self->strided->data + (place.bits[0] + block->offsets[0]) / 8, block->n);
  for (gint64 left = self->n_in_slice; left > 0; left -= MTL_COLUMN_ROWS)
    {
      gsize n_rows = MIN (left, MTL_COLUMN_ROWS);

      for (gsize i = 0; i < n_rows; i++)
        {
          rows[i] = self->strided->data + (place.bits[0] + block->offsets[0]) / 8;
          place_go_on (&place, self);
        }
      self->add_rows (&found, rows, n_rows, block->n);
    }

  if (!get_row_results (self, &found, block->n, results))
    return FALSE;

  for (gsize i = 0; i < block->n && self->reduction == MTL_REDUCTION_MEAN; i++)
    results[i] /= (double) self->n_in_slice;
  return TRUE;
}

static void
run_gathered (const Work         *self,
              const MtlAxesBlock *block)
{
  const MtlTallyKernels *kernels = mtl_tally_get_kernels ();
  double rows[MTL_COLUMN_ROWS * MTL_MAX_COLUMNS] __attribute__ ((aligned (64)));
  gint64 left = self->n_in_slice;
  MtlColumns columns;
  Place place;

  place_init (&place, self);
  memset (&columns, 0, sizeof columns);
  for (gsize i = 0; i < block->n; i++)
    columns.limit[i] = self->reduction == MTL_REDUCTION_MINIMUM ? INFINITY : -INFINITY;
  while (left > 0)
    {
      gsize n_rows = MIN (left, MTL_COLUMN_ROWS);

      for (gsize i = 0; i < n_rows; i++)
        {
          gather_row (self, block, place.bits[0], rows + i * block->n);
          place_go_on (&place, self);
        }
      kernels->columns[self->reduction] (&columns, rows, n_rows, block->n);
      left -= n_rows;
    }

  for (gsize i = 0; i < block->n; i++)
    {
      gint64 result = find_result (block, i);

      if (is_beyond_sums (self, &columns, i))
        {
          MtlTiles tiles = self->tiles;

          self->results[result] = tally_slice (self, &tiles, result);
        }
      else
        self->results[result] = get_column_result (self, &columns, i);
    }
}

static void
run_block (const Work *self,
           gint64      index)
{
  MtlAxis *row;
  MtlAxesBlock block;
  gint64 left;

  mtl_axes_get_block (self->kept, self->n_kept, self->parts, index, &block);
  if (!self->rows_in_place)
    {
      run_gathered (self, &block);
      return;
    }
  if (run_in_place (self, &block))
    return;

  row = &block.axes[block.n_axes - 1];
  for (left = row->extent; left > 0; left -= block.n)
    {
      block.n = row->extent = MIN (left, MTL_MAX_COLUMNS);
      run_gathered (self, &block);
      block.offsets[0] += (gint64) block.n * row->steps[0];
      block.offsets[1] += (gint64) block.n * row->steps[1];
    }
}

static void
run_blocks (gpointer data,
            gsize    begin,
            gsize    end)
{
  for (; begin < end; begin++)
    run_block (data, begin);
}

/* Slices are tallied, unless they are small, if elements lie closer along a slice than from
 * one slice to the next. Integers of 64 bits would be rounded to become doubles. */
static gboolean
takes_columns (const Work *self)
{
  MtlElementType type = self->strided->type;
  gboolean is_exact = type.code == kDLFloat || type.bits < 64
                      || self->reduction == MTL_REDUCTION_MINIMUM
                      || self->reduction == MTL_REDUCTION_MAXIMUM;
  const MtlAxis *last = &self->kept[self->n_kept - 1];
  guint64 nearest = G_MAXUINT64;

  if (!is_exact || self->slice.item_bits % 8 != 0 || self->n_slices < MIN_COLUMNS)
    return FALSE;
  if (self->n_in_slice < MIN_TALLIED)
    return TRUE;

  for (guint i = 0; i < self->slice.n_dims; i++)
    nearest = MIN (nearest, mtl_magnitude (self->reduced[i].steps[0]));
  return last->extent >= MIN_COLUMNS && mtl_magnitude (last->steps[0]) < nearest;
}

static gboolean
run (Work              *self,
     const MtlMonitor  *monitor,
     GError           **error)
{
  const MtlAxis *last = &self->kept[self->n_kept - 1];
  gboolean by_columns = takes_columns (self);
  double n_bytes = (double) self->n_slices * self->n_in_slice * self->slice.item_bits / 8;

  mtl_tiles_init (&self->tiles,
                  &(MtlStrided) { self->strided->type, &self->slice, self->strided->data },
                  self->number_type);
  self->add_rows = mtl_tally_get_kernels ()->rows[self->reduction]
                                                 [mtl_convert_type_of (self->number_type)];
  self->rows_in_place = self->add_rows != NULL && last->extent >= MIN_COLUMNS
                        && last->steps[0] == self->slice.item_bits
                        && mtl_element_type_equal (self->strided->type, self->number_type);
  if (by_columns)
    divide_columns (self);
  else if (mtl_tiles_count_bytes (&self->tiles) >= LARGE_SLICE)
    return tally_large_slices (self, monitor, error);

  return mtl_threads_run (&(MtlThreadsWork) {
                            .func = by_columns ? run_blocks : run_slices,
                            .data = self,
                            .n_items = by_columns ? self->n_blocks : self->n_slices,
                            .n_bytes = MIN (n_bytes, 0x1p62),
                          },
                          monitor, error);
}

gboolean
mtl_slice_statistics_run (double            *results,
                          const MtlStrided  *strided,
                          const gboolean    *is_reduced,
                          MtlReduction       reduction,
                          const MtlMonitor  *monitor,
                          GError           **error)
{
  MtlElementType from = strided->type;
  Work work = {
    .strided = strided,
    .reduction = reduction,
    .number_type = mtl_tally_get_number_type (strided->type),
    .results = results,
  };
  const MtlElementType to = { kDLFloat, 64, 1, FALSE };
  gboolean done;

  from.padded = from.bits < 8;
  take_axes (&work, is_reduced);
  merge_kept_axes (&work);
  mtl_conversion_init (&work.to_double, to, from, NULL);
  mtl_conversion_init (&work.number_to_double, to, work.number_type, NULL);
  done = run (&work, monitor, error);
  mtl_layout_clear (&work.slice);
  return done && mtl_monitor_check (monitor, error);
}
