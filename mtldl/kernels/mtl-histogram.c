/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Histograms of strided elements. Each thread counts for itself. A number belongs to the
 * last bin whose lower edge is not beyond it: the bin is computed, and corrected by the
 * edges, as the computation is rounded. Integers are compared with the next integers after
 * the edges, so that those of 64 bits need not be rounded. */

#include "mtl-histogram-private.h"

#include <math.h>
#include <string.h>

#include "mtl-error-private.h"
#include "mtl-tally-private.h"

#define PIECE_TILES 32

/* The counts of several threads would take much memory for more bins than this. */
#define MAX_SHARED_BINS 65536

/* The rough time for a number. */
#define NANOSECONDS 2

typedef struct
{
  const MtlHistogram *histogram;
  double scale;     /* bins per unit, or 0 if that is not a finite number */
  gint64 *keys;     /* the least integer at or after each edge */
  gint64 least;     /* the limits of the range, as keys */
  gint64 most;
  gsize last;       /* the last bin that an integer can be in */
  MtlConvertType type;
  const MtlTiles *tiles;
  guint64 *slots;   /* counts of a thread each */
  int *taken;       /* slots in use; atomic */
  guint n_slots;
} Work;

gboolean
mtl_histogram_init (MtlHistogram  *self,
                    double         low,
                    double         high,
                    gsize          n_bins,
                    GError       **error)
{
  double step = isfinite (high - low) ? (high - low) / (double) n_bins
                                      : high / (double) n_bins - low / (double) n_bins;

  *self = (MtlHistogram) {
    .low = low,
    .high = high,
    .n_bins = n_bins,
    .edges = g_try_new (double, n_bins + 1),
    .counts = g_try_new0 (guint64, n_bins),
  };
  if (self->edges == NULL || self->counts == NULL)
    {
      mtl_histogram_clear (self);
      return mtl_set_no_memory (n_bins * sizeof (double), error);
    }

  for (gsize i = 0; i < n_bins; i++)
    self->edges[i] = MIN ((double) i * step + low, high);
  self->edges[n_bins] = high;
  return TRUE;
}

void
mtl_histogram_clear (MtlHistogram *self)
{
  g_clear_pointer (&self->edges, g_free);
  g_clear_pointer (&self->counts, g_free);
}

/* The last bin with a lower edge that is not beyond the number, by bisection. */
#define DEFINE_SEARCH(NAME, Number) \
  static gsize \
  NAME (const Number *edges, \
        gsize         last, \
        Number        x) \
  { \
    gsize low = 0, high = last + 1; \
\
    while (high - low > 1) \
      { \
        gsize middle = low + (high - low) / 2; \
\
        if (edges[middle] <= x) \
          low = middle; \
        else \
          high = middle; \
      } \
    return low; \
  } \
\
  /* The same, near where the bin ought to be. */ \
  static inline gsize \
  NAME##_near (const Number *edges, \
               gsize         last, \
               Number        x, \
               double        place) \
  { \
    gsize i = place < (double) last ? (gsize) MAX (place, 0) : last; \
\
    if (x < edges[i]) \
      i -= i > 0; \
    else if (i < last && x >= edges[i + 1]) \
      i++; \
    if (G_UNLIKELY (x < edges[i] || (i < last && x >= edges[i + 1]))) \
      i = NAME (edges, last, x); \
    return i; \
  }

DEFINE_SEARCH (find_edge, double)
DEFINE_SEARCH (find_key, gint64)

static inline void
count_double (const Work *self,
              double      x,
              guint64    *counts)
{
  const MtlHistogram *histogram = self->histogram;

  if (x >= histogram->low && x <= histogram->high)
    counts[find_edge_near (histogram->edges, histogram->n_bins - 1, x,
                           (x - histogram->low) * self->scale)]++;
}

static inline void
count_key (const Work *self,
           gint64      key,
           double      x,
           guint64     n,
           guint64    *counts)
{
  if (key >= self->least && key <= self->most)
    counts[find_key_near (self->keys, self->last, key,
                          (x - self->histogram->low) * self->scale)] += n;
}

#define BIASED_KEY(x) ((gint64) ((x) ^ G_GUINT64_CONSTANT (0x8000000000000000)))

#define COUNT_FLOAT(x) count_double (self, x, counts)
#define COUNT_INTEGER(x) count_key (self, x, (double) x, 1, counts)
#define COUNT_UINT64(x) count_key (self, BIASED_KEY (x), (double) x, 1, counts)

#define DEFINE_COUNT(NAME, Number, COUNT) \
  static void \
  NAME (const Work   *self, \
        const guint8 *data, \
        gsize         n, \
        guint64      *counts) \
  { \
    for (gsize i = 0; i < n; i++) \
      { \
        Number x; \
\
        memcpy (&x, data + i * sizeof x, sizeof x); \
        COUNT (x); \
      } \
  }

DEFINE_COUNT (count_floats, float, COUNT_FLOAT)
DEFINE_COUNT (count_doubles, double, COUNT_FLOAT)
DEFINE_COUNT (count_int16, gint16, COUNT_INTEGER)
DEFINE_COUNT (count_uint16, guint16, COUNT_INTEGER)
DEFINE_COUNT (count_int32, gint32, COUNT_INTEGER)
DEFINE_COUNT (count_uint32, guint32, COUNT_INTEGER)
DEFINE_COUNT (count_int64, gint64, COUNT_INTEGER)
DEFINE_COUNT (count_uint64, guint64, COUNT_UINT64)

/* Bytes have few values, which are counted first. */
static void
count_bytes (const Work   *self,
             const guint8 *data,
             gsize         n,
             guint64      *counts)
{
  guint32 of_values[256] = { 0 };

  for (gsize i = 0; i < n; i++)
    of_values[data[i]]++;

  for (int i = 0; i < 256; i++)
    {
      gint64 value = self->type == MTL_CONVERT_INT8 ? (gint8) i
                     : self->type == MTL_CONVERT_BOOL ? i != 0 : i;

      if (of_values[i] > 0)
        count_key (self, value, (double) value, of_values[i], counts);
    }
}

typedef void (* CountFunc) (const Work   *work,
                            const guint8 *data,
                            gsize         n,
                            guint64      *counts);

static const CountFunc count_funcs[MTL_CONVERT_N_TYPES] = {
  [MTL_CONVERT_BOOL] = count_bytes,
  [MTL_CONVERT_UINT8] = count_bytes,
  [MTL_CONVERT_UINT16] = count_uint16,
  [MTL_CONVERT_UINT32] = count_uint32,
  [MTL_CONVERT_UINT64] = count_uint64,
  [MTL_CONVERT_INT8] = count_bytes,
  [MTL_CONVERT_INT16] = count_int16,
  [MTL_CONVERT_INT32] = count_int32,
  [MTL_CONVERT_INT64] = count_int64,
  [MTL_CONVERT_FLOAT32] = count_floats,
  [MTL_CONVERT_FLOAT64] = count_doubles,
};

/* A slot that no other thread uses. There are as many as threads, unless their number was
 * raised meanwhile. */
static guint
take_slot (const Work *self)
{
  while (TRUE)
    {
      for (guint i = 0; i < self->n_slots; i++)
        if (g_atomic_int_compare_and_exchange (&self->taken[i], FALSE, TRUE))
          return i;
      g_thread_yield ();
    }
}

static void
run_pieces (gpointer data,
            gsize    begin,
            gsize    end)
{
  guint8 numbers[MTL_TILE_BYTES] __attribute__ ((aligned (64)));
  const Work *self = data;
  guint slot = take_slot (self);
  guint64 *counts = self->slots + slot * self->histogram->n_bins;
  gint64 last = MIN ((gint64) end * PIECE_TILES, self->tiles->n_tiles);

  for (gint64 i = begin * PIECE_TILES; i < last; i++)
    {
      gsize n;
      const guint8 *tile = mtl_tiles_get (self->tiles, i, numbers, &n);

      count_funcs[self->type] (self, tile, n, counts);
    }

  g_atomic_int_set (&self->taken[slot], FALSE);
}

/* The key of the least integer that is not below a number. Returns FALSE if it is beyond
 * all integers of 64 bits. */
static gboolean
key_at_or_after (double    x,
                 gboolean  is_uint64,
                 gint64   *key)
{
  double next = ceil (x);

  if (is_uint64)
    {
      *key = BIASED_KEY (next > 0 && next < 0x1p64 ? (guint64) next : 0);
      return next < 0x1p64;
    }

  *key = next >= -0x1p63 && next < 0x1p63 ? (gint64) next : G_MININT64;
  return next < 0x1p63;
}

/* The greatest integer that is not above a number. */
static gboolean
key_at_or_before (double    x,
                  gboolean  is_uint64,
                  gint64   *key)
{
  double next = floor (x);

  *key = G_MAXINT64;
  if (next < (is_uint64 ? 0 : -0x1p63))
    return FALSE;

  return next >= (is_uint64 ? 0x1p64 : 0x1p63) || key_at_or_after (next, is_uint64, key);
}

/* Returns whether any integer can be counted. */
static gboolean
set_keys (Work *self)
{
  const MtlHistogram *histogram = self->histogram;
  gboolean is_uint64 = self->type == MTL_CONVERT_UINT64;

  if (!key_at_or_after (histogram->low, is_uint64, &self->least)
      || !key_at_or_before (histogram->high, is_uint64, &self->most))
    return FALSE;

  for (gsize i = 0; i < histogram->n_bins
                    && key_at_or_after (histogram->edges[i], is_uint64, &self->keys[i]); i++)
    self->last = i;
  return TRUE;
}

static gboolean
run (Work              *self,
     const MtlMonitor  *monitor,
     GError           **error)
{
  gsize n_pieces = (self->tiles->n_tiles - 1) / PIECE_TILES + 1;
  gsize n_bins = self->histogram->n_bins;
  gsize n_bytes = mtl_tiles_count_bytes (self->tiles);
  gboolean in_order = n_bins > MAX_SHARED_BINS;

  self->n_slots = in_order ? 1 : MIN (n_pieces, mtl_get_max_threads ());
  self->slots = g_try_new0 (guint64, n_bins * self->n_slots);
  self->taken = g_try_new0 (int, self->n_slots);
  if (self->slots == NULL || self->taken == NULL)
    return mtl_set_no_memory (n_bins * self->n_slots * sizeof (guint64), error);

  return mtl_threads_run (&(MtlThreadsWork) {
                            .func = run_pieces,
                            .data = self,
                            .n_items = n_pieces,
                            .n_bytes = n_bytes,
                            .duration = (double) self->tiles->n_elements * NANOSECONDS,
                            .in_order = in_order,
                          },
                          monitor, error);
}

gboolean
mtl_histogram_add_strided (MtlHistogram      *self,
                           const MtlStrided  *strided,
                           const MtlMonitor  *monitor,
                           GError           **error)
{
  MtlElementType type = mtl_tally_get_number_type (strided->type);
  double scale = (double) self->n_bins / (self->high - self->low);
  Work work = {
    .histogram = self,
    .scale = isfinite (scale) ? scale : 0,
    .type = mtl_convert_type_of (type),
  };
  gboolean is_integer = work.type != MTL_CONVERT_FLOAT32 && work.type != MTL_CONVERT_FLOAT64;
  g_autofree gint64 *keys = NULL;
  MtlTiles tiles;
  gboolean done;

  if (mtl_layout_is_empty (strided->layout))
    return mtl_monitor_check (monitor, error);

  if (is_integer)
    {
      work.keys = keys = g_try_new (gint64, self->n_bins);
      if (keys == NULL)
        return mtl_set_no_memory (self->n_bins * sizeof (gint64), error);
      if (!set_keys (&work))
        return mtl_monitor_check (monitor, error);
    }

  mtl_tiles_init (&tiles, strided, type);
  work.tiles = &tiles;
  done = run (&work, monitor, error);
  for (gsize i = 0; done && i < work.n_slots; i++)
    for (gsize bin = 0; bin < self->n_bins; bin++)
      self->counts[bin] += work.slots[i * self->n_bins + bin] * tiles.n_repeats;

  g_free (work.slots);
  g_free (work.taken);
  return done;
}
