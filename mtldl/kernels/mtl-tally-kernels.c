/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Statistics of a block of numbers. Loops over integers are such that compilers
 * vectorize them. Sums of floats depend on the order, which compilers keep: these loops
 * are written with vectors. Compiled once for each instruction set; the build defines
 * its name as MTL_COPY_SET, and the best size of vectors in bytes as MTL_TALLY_WIDTH. */

#include "config.h"

#include "mtl-enums.h"
#include "mtl-tally-kernels-private.h"

#include <math.h>
#include <string.h>

/* The number of sums does not depend on the size of vectors, so that each set of
 * kernels rounds alike. */
#define N_SUMS 16
#define N_LANES (MTL_TALLY_WIDTH / 8)
#define N_VECTORS (N_SUMS / N_LANES)

typedef double Doubles __attribute__ ((vector_size (8 * N_LANES)));

static double
add_up (const Doubles *vectors)
{
  double sums[N_SUMS];

  memcpy (sums, vectors, sizeof sums);
  for (int n = N_SUMS / 2; n > 0; n /= 2)
    for (int i = 0; i < n; i++)
      sums[i] += sums[i + n];

  return sums[0];
}

/* Loads the numbers less the origin: integers that do not fit a double mostly have
 * differences that do. */
#define DEFINE_SUMS(NAME, Number, Difference) \
  typedef Number NAME##s __attribute__ ((vector_size (sizeof (Number) * N_LANES))); \
  typedef Difference NAME##Differences \
    __attribute__ ((vector_size (sizeof (Difference) * N_LANES))); \
\
  static inline Doubles \
  NAME##_load (const guint8 *data, \
               Number        origin) \
  { \
    NAME##s x; \
\
    memcpy (&x, data, sizeof x); \
    return __builtin_convertvector ((NAME##Differences) (x - origin), Doubles); \
  } \
\
  /* The last numbers, as many as there are. The others are made equal to from, so \
   * that they do not count. */ \
  static inline void \
  NAME##_load_rest (Doubles      *rest, \
                    const guint8 *data, \
                    gsize         n, \
                    Number        origin, \
                    double        from) \
  { \
    double values[N_SUMS]; \
\
    for (gsize i = 0; i < N_SUMS; i++) \
      { \
        Number x; \
\
        values[i] = from; \
        if (i >= n) \
          continue; \
        memcpy (&x, data + i * sizeof x, sizeof x); \
        values[i] = (double) (Difference) (x - origin); \
      } \
    memcpy (rest, values, sizeof values); \
  } \
\
  static double \
  NAME##_sum (const guint8 *data, \
              gsize         n, \
              Number        origin) \
  { \
    Doubles sums[N_VECTORS] = { 0 }, rest[N_VECTORS]; \
    gsize i = 0; \
\
    for (; i + N_SUMS <= n; i += N_SUMS) \
      for (int k = 0; k < N_VECTORS; k++) \
        sums[k] += NAME##_load (data + (i + k * N_LANES) * sizeof (Number), origin); \
\
    NAME##_load_rest (rest, data + i * sizeof (Number), n - i, origin, 0); \
    for (int k = 0; k < N_VECTORS; k++) \
      sums[k] += rest[k]; \
    return add_up (sums); \
  } \
\
  /* Sums of the distances from a number, and of their squares. */ \
  static void \
  NAME##_sum_distances (const guint8 *data, \
                        gsize         n, \
                        Number        origin, \
                        double        from, \
                        double       *distances, \
                        double       *squares) \
  { \
    Doubles sums[N_VECTORS] = { 0 }, sums_of_squares[N_VECTORS] = { 0 }, rest[N_VECTORS]; \
    gsize i = 0; \
\
    for (; i + N_SUMS <= n; i += N_SUMS) \
      for (int k = 0; k < N_VECTORS; k++) \
        { \
          Doubles distance = NAME##_load (data + (i + k * N_LANES) * sizeof (Number), origin) \
                             - from; \
\
          sums[k] += distance; \
          sums_of_squares[k] += distance * distance; \
        } \
\
    NAME##_load_rest (rest, data + i * sizeof (Number), n - i, origin, from); \
    for (int k = 0; k < N_VECTORS; k++) \
      { \
        Doubles distance = rest[k] - from; \
\
        sums[k] += distance; \
        sums_of_squares[k] += distance * distance; \
      } \
    *distances = add_up (sums); \
    *squares = add_up (sums_of_squares); \
  } \
\
  /* The mean comes first, because differences of squares would lose all digits. \
   * Without rounding, the sum of the distances would be 0, so it corrects the mean. */ \
  static void \
  NAME##_measure (MtlMoments   *self, \
                  const guint8 *data, \
                  gsize         n, \
                  Number        origin) \
  { \
    double distances, squares; \
\
    self->n = n; \
    self->mean = NAME##_sum (data, n, origin) / (double) n; \
    NAME##_sum_distances (data, n, origin, self->mean, &distances, &squares); \
    self->rest = distances / (double) n; \
    self->squares = isfinite (squares) ? squares - self->rest * distances : INFINITY; \
  }

DEFINE_SUMS (Float, float, float)
DEFINE_SUMS (Double, double, double)
DEFINE_SUMS (UInt32, guint32, gint32)
DEFINE_SUMS (UInt64, guint64, gint64)

/* Floats. Their bits, as integers, have the order of the numbers once those of
 * negative numbers are inverted. NaN is beyond infinity. */

#define DEFINE_SCAN(NAME, Number, Bits, Key, N_BITS) \
  static inline Key \
  NAME##_key (Bits bits) \
  { \
    return (Key) (bits ^ (Bits) (Bits) ((Key) bits >> (N_BITS - 1)) >> 1); \
  } \
\
  static void \
  NAME##_scan (const guint8 *data, \
               gsize         n, \
               Key          *least, \
               Key          *most, \
               guint64      *n_zeros) \
  { \
    Key low = (Key) ((Bits) -1 >> 1), high = -low - 1; \
    Bits zeros = 0; \
\
    for (gsize i = 0; i < n; i++) \
      { \
        Bits bits; \
        Key key; \
\
        memcpy (&bits, data + i * sizeof bits, sizeof bits); \
        key = NAME##_key (bits); \
        low = MIN (low, key); \
        high = MAX (high, key); \
        zeros += (Bits) (bits << 1) == 0; \
      } \
\
    *least = low; \
    *most = high; \
    *n_zeros = zeros; \
  }

DEFINE_SCAN (Float, float, guint32, gint32, 32)
DEFINE_SCAN (Double, double, guint64, gint64, 64)

static gint64
key_of_double (double value)
{
  guint64 bits;

  memcpy (&bits, &value, sizeof bits);
  return (gint64) mtl_tally_key_of_bits (bits);
}

static double
double_of_key (gint64 key)
{
  guint64 bits = mtl_tally_key_of_bits ((guint64) key);
  double value;

  memcpy (&value, &bits, sizeof value);
  return value;
}

static gint64
key_of_float_key (gint32 key)
{
  guint32 bits = (guint32) Float_key ((guint32) key);
  float value;

  memcpy (&value, &bits, sizeof value);
  return key_of_double (value);
}

static gboolean
are_equal (const double *values,
           gsize         n)
{
  for (gsize i = 1; i < n; i++)
    if (values[i] != values[0])
      return FALSE;

  return TRUE;
}

/* The sum of the largest numbers may overflow. Then all are made smaller, and small
 * ones among them may become 0, which does not count beside the others. Changes the
 * numbers. If all are equal, their distances are not squared, as rounding errors might
 * become infinite. */
static void
measure_doubles (MtlMoments *self,
                 double     *values,
                 gsize       n)
{
  double mean;

  if (are_equal (values, n))
    {
      *self = (MtlMoments) { .n = n, .mean = values[0] + 0.0 };
      return;
    }

  Double_measure (self, (gconstpointer) values, n, 0);
  if (isfinite (self->mean) && isfinite (self->rest))
    return;

  for (gsize i = 0; i < n; i++)
    values[i] *= 0x1p-600;
  Double_measure (self, (gconstpointer) values, n, 0);
  mean = CLAMP (self->mean, -G_MAXDOUBLE * 0x1p-600, G_MAXDOUBLE * 0x1p-600);
  self->rest = (self->rest + (self->mean - mean)) * 0x1p600;
  self->mean = mean * 0x1p600;
  self->squares = self->squares * 0x1p600 * 0x1p600;
}

/* All numbers are finite. There may be none. */
static void
tally_finite (MtlTally *self,
              double   *values,
              gsize     n)
{
  *self = (MtlTally) MTL_TALLY_NONE;
  if (n == 0)
    return;

  Double_scan ((gconstpointer) values, n, &self->least, &self->most, &self->n_zeros);
  measure_doubles (&self->parts[0], values, n);
}

/* Used if some numbers are not finite. */
#define DEFINE_FLOATS(NAME, Number) \
  static void \
  NAME##_tally_any (MtlTally     *self, \
                    const guint8 *data, \
                    gsize         n) \
  { \
    double values[MTL_TILE_BYTES / sizeof (Number)]; \
    guint64 n_nans = 0, n_infinities = 0; \
    gsize n_finite = 0; \
\
    for (gsize i = 0; i < n; i++) \
      { \
        Number x; \
\
        memcpy (&x, data + i * sizeof x, sizeof x); \
        n_nans += isnan (x) != 0; \
        n_infinities += isinf (x) != 0; \
        values[n_finite] = x; \
        n_finite += isfinite (x) != 0; \
      } \
\
    tally_finite (self, values, n_finite); \
    self->n_nans = n_nans; \
    self->n_infinities = n_infinities; \
  }

DEFINE_FLOATS (Float, float)
DEFINE_FLOATS (Double, double)

static void
tally_FLOAT32 (MtlTally     *self,
               const guint8 *data,
               gsize         n)
{
  const gint32 infinity = 0x7f800000;
  gint32 least, most;
  guint64 n_zeros;

  Float_scan (data, n, &least, &most, &n_zeros);
  if (most >= infinity || least <= -infinity - 1)
    {
      Float_tally_any (self, data, n);
      return;
    }

  *self = (MtlTally) {
    .least = key_of_float_key (least), .most = key_of_float_key (most), .n_zeros = n_zeros,
  };
  Float_measure (&self->parts[0], data, n, 0);
}

static void
tally_FLOAT64 (MtlTally     *self,
               const guint8 *data,
               gsize         n)
{
  const gint64 infinity = G_GINT64_CONSTANT (0x7ff0000000000000);
  /* Sums of the squares of as many numbers as fit in a block are finite. */
  const double large = 0x1p500;

  *self = (MtlTally) MTL_TALLY_NONE;
  Double_scan (data, n, &self->least, &self->most, &self->n_zeros);
  if (self->most >= infinity || self->least <= -infinity - 1
      || double_of_key (self->most) > large || double_of_key (self->least) < -large)
    Double_tally_any (self, data, n);
  else
    Double_measure (&self->parts[0], data, n, 0);
}

/* Integers */

#define DEFINE_LIMITS(TYPE, Number, LOWEST, HIGHEST) \
  static void \
  TYPE##_scan (const guint8 *data, \
               gsize         n, \
               Number       *least, \
               Number       *most, \
               guint64      *n_zeros) \
  { \
    Number low = HIGHEST, high = LOWEST; \
    guint32 zeros = 0; \
\
    for (gsize i = 0; i < n; i++) \
      { \
        Number x; \
\
        memcpy (&x, data + i * sizeof x, sizeof x); \
        low = MIN (low, x); \
        high = MAX (high, x); \
      } \
    for (gsize i = 0; i < n; i++) \
      { \
        Number x; \
\
        memcpy (&x, data + i * sizeof x, sizeof x); \
        zeros += x == 0; \
      } \
\
    *least = low; \
    *most = high; \
    *n_zeros = zeros; \
  }

DEFINE_LIMITS (INT8, gint8, G_MININT8, G_MAXINT8)
DEFINE_LIMITS (UINT8, guint8, 0, G_MAXUINT8)
DEFINE_LIMITS (INT16, gint16, G_MININT16, G_MAXINT16)
DEFINE_LIMITS (UINT16, guint16, 0, G_MAXUINT16)
DEFINE_LIMITS (INT32, gint32, G_MININT32, G_MAXINT32)
DEFINE_LIMITS (UINT32, guint32, 0, G_MAXUINT32)
DEFINE_LIMITS (INT64, gint64, G_MININT64, G_MAXINT64)
DEFINE_LIMITS (UINT64, guint64, 0, G_MAXUINT64)

/* The sums are exact, and so are the products below: a block has at most 2^14 numbers
 * of 8 bits, or 2^13 of 16. */
#define DEFINE_SMALL_INTEGERS(TYPE, Number, Sum, Squares) \
  static void \
  tally_##TYPE (MtlTally     *self, \
                const guint8 *data, \
                gsize         n) \
  { \
    Number least, most; \
    Sum sum = 0; \
    Squares squares = 0; \
    double mean; \
\
    *self = (MtlTally) MTL_TALLY_NONE; \
    TYPE##_scan (data, n, &least, &most, &self->n_zeros); \
    for (gsize i = 0; i < n; i++) \
      { \
        Number x; \
        gint32 wide; \
\
        memcpy (&x, data + i * sizeof x, sizeof x); \
        wide = x; \
        sum += wide; \
        squares += (guint32) wide * (guint32) wide; \
      } \
\
    mean = (double) sum / (double) n; \
    self->least = least; \
    self->most = most; \
    self->parts[0] = (MtlMoments) { \
      .n = n, \
      .mean = mean, \
      .rest = fma (-mean, (double) n, (double) sum) / (double) n, \
      .squares = (double) (n * (guint64) squares \
                           - (guint64) ((gint64) sum * (gint64) sum)) / (double) n, \
    }; \
  }

DEFINE_SMALL_INTEGERS (INT8, gint8, gint32, guint32)
DEFINE_SMALL_INTEGERS (UINT8, guint8, gint32, guint32)
DEFINE_SMALL_INTEGERS (INT16, gint16, gint32, guint64)
DEFINE_SMALL_INTEGERS (UINT16, guint16, gint32, guint64)

/* Keeps in the rest the digits that do not fit the mean. */
static void
move_mean (MtlMoments *self,
           double      by)
{
  double sum = self->mean + by, moved = sum - self->mean;

  self->rest += (self->mean - (sum - moved)) + (by - moved);
  self->mean = sum;
}

/* The origin is in the middle, so that all differences fit a signed number. Of 64
 * bits, it is the sum of two doubles. */
#define DEFINE_LARGE_INTEGERS(TYPE, Number, NAME, Unsigned, KEY) \
  static void \
  tally_##TYPE (MtlTally     *self, \
                const guint8 *data, \
                gsize         n) \
  { \
    MtlMoments *moments = &self->parts[0]; \
    Number least, most, origin, low; \
    Unsigned range; \
\
    *self = (MtlTally) MTL_TALLY_NONE; \
    TYPE##_scan (data, n, &least, &most, &self->n_zeros); \
    self->least = KEY (least); \
    self->most = KEY (most); \
\
    range = (Unsigned) most - (Unsigned) least; \
    origin = (Number) ((Unsigned) least + range / 2 + range % 2); \
    low = (Number) (origin % 0x800); \
    NAME##_measure (moments, data, n, (Unsigned) origin); \
    move_mean (moments, (double) low); \
    move_mean (moments, (double) (Number) (origin - low)); \
  }

#define IS_KEY(x) (x)
#define BIASED_KEY(x) ((gint64) ((x) ^ G_GUINT64_CONSTANT (0x8000000000000000)))

DEFINE_LARGE_INTEGERS (INT32, gint32, UInt32, guint32, IS_KEY)
DEFINE_LARGE_INTEGERS (UINT32, guint32, UInt32, guint32, IS_KEY)
DEFINE_LARGE_INTEGERS (INT64, gint64, UInt64, guint64, IS_KEY)
DEFINE_LARGE_INTEGERS (UINT64, guint64, UInt64, guint64, BIASED_KEY)

static void
tally_BOOL (MtlTally     *self,
            const guint8 *data,
            gsize         n)
{
  guint32 zeros = 0;
  double n_ones;

  for (gsize i = 0; i < n; i++)
    zeros += data[i] == 0;

  n_ones = (double) (n - zeros);
  *self = (MtlTally) {
    .least = zeros == 0,
    .most = zeros < n,
    .n_zeros = zeros,
    .parts = { { .n = n, .mean = n_ones / (double) n, .squares = n_ones * zeros / (double) n } },
  };
}

/* Complex numbers, which have no order. */
static void
tally_complex128 (MtlTally     *self,
                  const guint8 *data,
                  gsize         n)
{
  double re[MTL_TILE_BYTES / 16], im[MTL_TILE_BYTES / 16];
  gsize n_finite = 0;

  *self = (MtlTally) MTL_TALLY_NONE;
  for (gsize i = 0; i < n; i++)
    {
      double x[2];
      gboolean is_nan;

      memcpy (x, data + i * sizeof x, sizeof x);
      is_nan = isnan (x[0]) || isnan (x[1]);
      self->n_nans += is_nan;
      self->n_infinities += !is_nan && (isinf (x[0]) || isinf (x[1]));
      self->n_zeros += x[0] == 0 && x[1] == 0;
      re[n_finite] = x[0];
      im[n_finite] = x[1];
      n_finite += isfinite (x[0]) && isfinite (x[1]);
    }

  if (n_finite > 0)
    {
      measure_doubles (&self->parts[0], re, n_finite);
      measure_doubles (&self->parts[1], im, n_finite);
    }
}

/* Columns */

#define IS_FINITE(x) (fabs (x) <= G_MAXDOUBLE)

#define DEFINE_COLUMN_LIMITS(NAME, IS_BEYOND) \
  static void \
  NAME (MtlColumns   *self, \
        const double *rows, \
        gsize         n_rows, \
        gsize         n_columns) \
  { \
    for (gsize row = 0; row < n_rows; row++) \
      for (gsize i = 0; i < n_columns; i++) \
        { \
          double x = rows[row * n_columns + i]; \
\
          self->limit[i] = (IS_FINITE (x) & (x IS_BEYOND self->limit[i])) ? x : self->limit[i]; \
        } \
  }

DEFINE_COLUMN_LIMITS (add_minima, <)
DEFINE_COLUMN_LIMITS (add_maxima, >)

static inline void
sum_columns (double       *n,
             double       *sums,
             const double *rows,
             gsize         n_rows,
             gsize         n_columns)
{
  for (gsize row = 0; row < n_rows; row++)
    for (gsize i = 0; i < n_columns; i++)
      {
        double x = rows[row * n_columns + i];

        n[i] += IS_FINITE (x) ? 1 : 0;
        sums[i] += IS_FINITE (x) ? x : 0;
      }
}

static void
add_sums (MtlColumns   *self,
          const double *rows,
          gsize         n_rows,
          gsize         n_columns)
{
  double n[MTL_MAX_COLUMNS] = { 0 }, sums[MTL_MAX_COLUMNS] = { 0 };

  sum_columns (n, sums, rows, n_rows, n_columns);
  for (gsize i = 0; i < n_columns; i++)
    {
      self->n[i] += n[i];
      self->mean[i] += sums[i];
    }
}

/* The mean of these rows comes first, as for other moments, and then they are added to
 * those before. */
static void
add_column_moments (MtlColumns   *self,
                    const double *rows,
                    gsize         n_rows,
                    gsize         n_columns)
{
  double n[MTL_MAX_COLUMNS] = { 0 }, means[MTL_MAX_COLUMNS] = { 0 };
  double distances[MTL_MAX_COLUMNS] = { 0 }, squares[MTL_MAX_COLUMNS] = { 0 };

  sum_columns (n, means, rows, n_rows, n_columns);
  for (gsize i = 0; i < n_columns; i++)
    means[i] /= n[i] > 0 ? n[i] : 1;

  for (gsize row = 0; row < n_rows; row++)
    for (gsize i = 0; i < n_columns; i++)
      {
        double x = rows[row * n_columns + i], distance = x - means[i];

        distances[i] += IS_FINITE (x) ? distance : 0;
        squares[i] += IS_FINITE (x) ? distance * distance : 0;
      }

  for (gsize i = 0; i < n_columns; i++)
    {
      double all = self->n[i] + n[i];
      double share = n[i] / (all > 0 ? all : 1);
      double rest = distances[i] / (n[i] > 0 ? n[i] : 1);
      double before = self->n[i] > 0 ? self->mean[i] : means[i];
      double distance = n[i] > 0 ? (means[i] - before) + (rest - self->rest[i]) : 0;
      double step = distance * share, sum = before + step, moved = sum - before;

      self->squares[i] += squares[i] - rest * distances[i]
                          + distance * step * self->n[i];
      self->rest[i] += (before - (sum - moved)) + (step - moved);
      self->mean[i] = sum;
      self->n[i] = all;
    }
}

/* Rows of numbers of one type. NaN is beyond no limit, and the sums of some rows come first,
 * as for doubles. If the functions were inlined, compilers would take several rows at once,
 * and one number at a time. */

#define DEFINE_ROW_LIMITS(NAME, Number, IS_BEYOND) \
  static G_NO_INLINE void \
  NAME##_of_row (Number *restrict       limits, \
                 const guint8 *restrict row, \
                 gsize                  n_columns) \
  { \
    for (gsize i = 0; i < n_columns; i++) \
      { \
        Number x; \
\
        memcpy (&x, row + i * sizeof x, sizeof x); \
        limits[i] = x IS_BEYOND limits[i] ? x : limits[i]; \
      } \
  } \
\
  static void \
  NAME (gpointer             results, \
        const guint8 *const *rows, \
        gsize                n_rows, \
        gsize                n_columns) \
  { \
    for (gsize i = 0; i < n_rows; i++) \
      NAME##_of_row (results, rows[i], n_columns); \
  }

#define DEFINE_ROW_SUMS(NAME, Number) \
  static G_NO_INLINE void \
  NAME##_of_row (double *restrict       sums, \
                 const guint8 *restrict row, \
                 gsize                  n_columns) \
  { \
    for (gsize i = 0; i < n_columns; i++) \
      { \
        Number x; \
\
        memcpy (&x, row + i * sizeof x, sizeof x); \
        sums[i] += x; \
      } \
  } \
\
  static void \
  NAME (gpointer             results, \
        const guint8 *const *rows, \
        gsize                n_rows, \
        gsize                n_columns) \
  { \
    double sums[MTL_WIDE_COLUMNS], *all = results; \
\
    memset (sums, 0, n_columns * sizeof *sums); \
    for (gsize i = 0; i < n_rows; i++) \
      NAME##_of_row (sums, rows[i], n_columns); \
    for (gsize i = 0; i < n_columns; i++) \
      all[i] += sums[i]; \
  }

#define DEFINE_ROWS(TYPE, Number) \
  DEFINE_ROW_LIMITS (add_minima_##TYPE, Number, <) \
  DEFINE_ROW_LIMITS (add_maxima_##TYPE, Number, >) \
  DEFINE_ROW_SUMS (add_sums_##TYPE, Number)

DEFINE_ROWS (UINT8, guint8)
DEFINE_ROWS (UINT16, guint16)
DEFINE_ROWS (UINT32, guint32)
DEFINE_ROWS (INT8, gint8)
DEFINE_ROWS (INT16, gint16)
DEFINE_ROWS (INT32, gint32)
DEFINE_ROWS (FLOAT32, float)
DEFINE_ROWS (FLOAT64, double)

#define KERNELS_OF2(set) mtl_tally_kernels_##set
#define KERNELS_OF(set) KERNELS_OF2 (set)
#define ENTRY(TYPE) [MTL_CONVERT_##TYPE] = tally_##TYPE
#define ROWS(NAME) { \
  [MTL_CONVERT_UINT8] = NAME##_UINT8, [MTL_CONVERT_UINT16] = NAME##_UINT16, \
  [MTL_CONVERT_UINT32] = NAME##_UINT32, [MTL_CONVERT_INT8] = NAME##_INT8, \
  [MTL_CONVERT_INT16] = NAME##_INT16, [MTL_CONVERT_INT32] = NAME##_INT32, \
  [MTL_CONVERT_FLOAT32] = NAME##_FLOAT32, [MTL_CONVERT_FLOAT64] = NAME##_FLOAT64, \
}

const MtlTallyKernels KERNELS_OF (MTL_COPY_SET) = {
  .of = {
    ENTRY (BOOL),
    ENTRY (UINT8), ENTRY (UINT16), ENTRY (UINT32), ENTRY (UINT64),
    ENTRY (INT8), ENTRY (INT16), ENTRY (INT32), ENTRY (INT64),
    ENTRY (FLOAT32), ENTRY (FLOAT64),
  },
  .of_complex128 = tally_complex128,
  .columns = {
    [MTL_REDUCTION_MINIMUM] = add_minima,
    [MTL_REDUCTION_MAXIMUM] = add_maxima,
    [MTL_REDUCTION_MEAN] = add_sums,
    [MTL_REDUCTION_DEVIATION] = add_column_moments,
  },
  .rows = {
    [MTL_REDUCTION_MINIMUM] = ROWS (add_minima),
    [MTL_REDUCTION_MAXIMUM] = ROWS (add_maxima),
    [MTL_REDUCTION_MEAN] = ROWS (add_sums),
  },
};
