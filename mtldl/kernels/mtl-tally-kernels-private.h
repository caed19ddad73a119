/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

#include "mtl-convert-kernels-private.h"
#include "mtl-tiles-private.h"

G_BEGIN_DECLS

/* The moments of n numbers: their mean, which is mean + rest, and the sum of the
 * squares of their distances from it. */
typedef struct
{
  guint64 n;
  double mean;
  double rest; /* the part of the mean beyond the digits of a double */
  double squares;
} MtlMoments;

/* The statistics of some numbers. Those that are not finite are only counted. */
typedef struct
{
  /* Keys, which are in the order of the numbers; see below. If there are no finite
   * numbers, least is greater than most. */
  gint64 least;
  gint64 most;
  guint64 n_zeros;
  guint64 n_nans;
  guint64 n_infinities;
  MtlMoments parts[2]; /* the parts of a complex number; otherwise only the first */
} MtlTally;

#define MTL_TALLY_NONE { .least = G_MAXINT64, .most = G_MININT64 }

/* The key of a double. It is its own inverse. The key of an int64 is the number, and
 * that of a uint64 is the number less 2^63. */
static inline guint64
mtl_tally_key_of_bits (guint64 bits)
{
  return bits ^ ((guint64) -(gint64) (bits >> 63) >> 1);
}

/* Sets the tally to that of 1 to MTL_TILE_BYTES bytes of contiguous numbers, of any
 * alignment. */
typedef void (* MtlTallyFunc) (MtlTally     *self,
                               const guint8 *data,
                               gsize         n);

#define MTL_MAX_COLUMNS 256
#define MTL_COLUMN_ROWS 16

/* Statistics of the finite numbers in columns that lie side by side. For each column: the
 * limit asked for; or the number of numbers, their mean, or sum if only that is asked for,
 * and the sum of the squares of their distances from it. */
typedef struct
{
  double limit[MTL_MAX_COLUMNS];
  double n[MTL_MAX_COLUMNS];
  double mean[MTL_MAX_COLUMNS];
  double rest[MTL_MAX_COLUMNS]; /* the part of the mean beyond the digits of a double */
  double squares[MTL_MAX_COLUMNS];
} MtlColumns;

/* Adds at most MTL_COLUMN_ROWS rows. */
typedef void (* MtlColumnsFunc) (MtlColumns   *self,
                                 const double *rows,
                                 gsize         n_rows,
                                 gsize         n_columns);

#define MTL_WIDE_COLUMNS 2048

/* Adds at most MTL_COLUMN_ROWS rows of at most MTL_WIDE_COLUMNS numbers, of any alignment: to
 * limits, which are numbers of the same type, or to sums, which are doubles. If there are
 * numbers that are not finite, some of the results are not, either. */
typedef void (* MtlRowsFunc) (gpointer             results,
                              const guint8 *const *rows,
                              gsize                n_rows,
                              gsize                n_columns);

/* Compiled once for each instruction set. All give the same results. */
typedef struct
{
  /* Indexed by the type of the numbers; NULL for floats of 16 bits and fewer. */
  MtlTallyFunc of[MTL_CONVERT_N_TYPES];
  MtlTallyFunc of_complex128;
  MtlColumnsFunc columns[4]; /* [MtlReduction] */
  MtlRowsFunc rows[4][MTL_CONVERT_N_TYPES]; /* [MtlReduction][type]; NULL for many */
} MtlTallyKernels;

extern const MtlTallyKernels mtl_tally_kernels_plain;
extern const MtlTallyKernels mtl_tally_kernels_avx2;
extern const MtlTallyKernels mtl_tally_kernels_avx512;

G_END_DECLS
