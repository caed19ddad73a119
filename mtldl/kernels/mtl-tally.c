/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Statistics of strided elements. The elements are divided into tiles: blocks of
 * contiguous elements in place, or else parts of the last axes, which are gathered by
 * the engine of copies, and converted if there are no kernels for their type. Tiles
 * are taken in pieces, each with a tally of its own. What belongs to a piece depends
 * on the layout alone, so the result is the same for any number of threads. */

#include "mtl-tally-private.h"

#include <math.h>
#include <string.h>

#include "mtl-convert-private.h"
#include "mtl-copy-plan-private.h"
#include "mtl-error-private.h"

/* Pieces have about as many bytes, or more if there were too many of them. */
#define PIECE_BYTES (512 * 1024)
#define MAX_PIECES 16384

/* Contiguous rows of at least this many bytes need not be gathered. */
#define MIN_ROW 4096

/* The kernels for the set that copies use. */
static const MtlTallyKernels *
get_kernels (void)
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

/* By Chan, Golub and LeVeque. The mean keeps the digits that a double has no room
 * for, as the next distance may depend on them. */
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

/* As if each element were there n times. */
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

typedef struct
{
  gint64 extent;
  gint64 step;    /* in bits, positive */
  gint64 tile;    /* extent of a tile, but of the last one */
  gint64 n_tiles;
} Axis;

typedef struct
{
  Axis axes[MTL_LAYOUT_MAX_AXES + 1]; /* largest step first */
  guint n_axes;
  const guint8 *data;
  gint64 bit;       /* where the first element begins */
  guint item_bits;
  gint64 n_repeats;
  gint64 n_elements; /* without repeats */

  MtlTallyFunc func;
  guint number_size;         /* of what the function takes */
  const MtlConversion *conversion; /* gathers elements, and converts them */
  gboolean is_in_place;      /* tiles are contiguous, and need no conversion */

  gint64 n_tiles;
  gint64 tiles_per_piece;
  MtlTally *pieces;
} Work;

/* Elements that are repeated are counted later. The order does not matter, so all
 * steps become positive, and the last axis has the smallest. */
static void
take_axes (Work            *self,
           const MtlLayout *layout)
{
  const gint64 *shape = mtl_layout_shape (layout), *strides = mtl_layout_strides (layout);

  self->n_repeats = self->n_elements = 1;
  for (guint i = 0; i < layout->n_dims; i++)
    {
      Axis axis = { .extent = shape[i] };
      guint place;

      if (axis.extent == 1) /* its stride may be any */
        continue;
      axis.step = strides[i] * layout->item_bits;
      if (axis.step == 0)
        {
          self->n_repeats *= axis.extent;
          continue;
        }

      if (axis.step < 0)
        {
          self->bit += (axis.extent - 1) * axis.step;
          axis.step = -axis.step;
        }
      self->n_elements *= axis.extent;
      for (place = self->n_axes++; place > 0 && self->axes[place - 1].step < axis.step; place--)
        self->axes[place] = self->axes[place - 1];
      self->axes[place] = axis;
    }
}

/* Merges neighboring axes that are one. There is at least one axis. */
static void
merge_axes (Work *self)
{
  guint last = 0;

  if (self->n_axes == 0)
    self->axes[self->n_axes++] = (Axis) { .extent = 1, .step = self->item_bits };

  for (guint i = 1; i < self->n_axes; i++)
    {
      Axis *outer = &self->axes[last], *inner = &self->axes[i];

      if (outer->step == inner->step * inner->extent)
        *outer = (Axis) { .extent = outer->extent * inner->extent, .step = inner->step };
      else
        self->axes[++last] = *inner;
    }
  self->n_axes = last + 1;
}

/* Whether rows are contiguous, and long enough to be blocks by themselves. */
static gboolean
is_in_place (const Work *self)
{
  const Axis *row = &self->axes[self->n_axes - 1];

  return self->conversion->n_steps == 0 && row->step == self->item_bits
         && (self->n_axes == 1 || row->extent * self->number_size >= MIN_ROW);
}

/* Tiles fill blocks, and those along an axis are equally large, but for the last. */
static void
divide (Work *self)
{
  guint size = MAX (self->number_size, (self->item_bits + 7) / 8);
  gint64 room = MTL_TALLY_BLOCK / size;
  gint64 piece;

  self->n_tiles = 1;
  self->is_in_place = is_in_place (self);
  for (guint i = self->n_axes; i-- > 0;)
    {
      Axis *axis = &self->axes[i];

      axis->n_tiles = (axis->extent - 1) / room + 1;
      axis->tile = (axis->extent - 1) / axis->n_tiles + 1;
      axis->n_tiles = (axis->extent - 1) / axis->tile + 1;
      room = self->is_in_place ? 1 : MAX (room / axis->tile, 1);
      self->n_tiles *= axis->n_tiles;
    }

  piece = MAX (PIECE_BYTES / MTL_TALLY_BLOCK, (self->n_tiles - 1) / MAX_PIECES + 1);
  self->tiles_per_piece = piece;
}

/* The box of a tile. */
typedef struct
{
  gint64 extents[MTL_LAYOUT_MAX_AXES + 1];
  gint64 bit;
  gsize n;
} Tile;

static void
find_tile (const Work *self,
           gint64      index,
           Tile       *tile)
{
  tile->bit = self->bit;
  tile->n = 1;
  for (guint i = self->n_axes; i-- > 0;)
    {
      const Axis *axis = &self->axes[i];
      gint64 begin = index % axis->n_tiles * axis->tile;

      index /= axis->n_tiles;
      tile->extents[i] = MIN (axis->tile, axis->extent - begin);
      tile->bit += begin * axis->step;
      tile->n *= tile->extents[i];
    }
}

/* The axes of a tile that have several elements, as the last ones. */
static guint
find_first_axis (const Work *self,
                 const Tile *tile)
{
  guint first = 0;

  while (first + 1 < self->n_axes && tile->extents[first] == 1)
    first++;

  return first;
}

/* Elements of whole bytes. */
static void
gather_bytes (const Work *self,
              const Tile *tile,
              guint8     *dest)
{
  gint64 dest_strides[MTL_LAYOUT_MAX_AXES + 1], source_strides[MTL_LAYOUT_MAX_AXES + 1];
  guint first = find_first_axis (self, tile), last = self->n_axes - 1;
  const guint8 *source = self->data + (tile->bit >> 3);
  guint size = self->item_bits / 8;
  gint64 stride = 1;

  if (first == last)
    {
      mtl_conversion_run (dest, source, tile->n, self->conversion->dest_size,
                          self->axes[last].step / 8, self->conversion);
      return;
    }

  for (guint i = self->n_axes; i-- > first;)
    {
      dest_strides[i] = stride;
      source_strides[i] = self->axes[i].step / self->item_bits;
      stride *= tile->extents[i];
    }
  mtl_copy_run (&(MtlCopyRequest) {
    .n_dims = self->n_axes - first,
    .shape = tile->extents + first,
    .dest = dest,
    .dest_strides = dest_strides + first,
    .dest_size = self->conversion->dest_size,
    .source = source,
    .source_strides = source_strides + first,
    .source_size = size,
    .convert = self->conversion->n_steps > 0 ? mtl_conversion_run : NULL,
    .convert_data = self->conversion,
  });
}

/* Packed elements, row by row. */
static void
gather_bits (const Work *self,
             const Tile *tile,
             guint8     *dest)
{
  guint8 numbers[MTL_TALLY_BLOCK];
  guint first = find_first_axis (self, tile), last = self->n_axes - 1;
  gint64 position[MTL_LAYOUT_MAX_AXES + 1] = { 0 };
  gsize row = tile->extents[last];
  gint64 bit = tile->bit;

  for (gsize i = 0; i < tile->n; i += row)
    {
      mtl_bits_unpack (numbers + i, self->data, bit, self->axes[last].step, row,
                       self->item_bits);
      for (guint axis = last; axis-- > first;)
        {
          bit += self->axes[axis].step;
          if (++position[axis] < tile->extents[axis])
            break;
          position[axis] = 0;
          bit -= tile->extents[axis] * self->axes[axis].step;
        }
    }

  mtl_conversion_run (dest, numbers, tile->n, self->conversion->dest_size, 1, self->conversion);
}

static void
run_piece (const Work *self,
           gint64      begin,
           gint64      end,
           MtlTally   *sum)
{
  guint8 numbers[MTL_TALLY_BLOCK] __attribute__ ((aligned (64)));
  PairwiseSum pairwise;

  pairwise.n = 0;
  for (; begin < end; begin++)
    {
      const guint8 *data = numbers;
      MtlTally tally;
      Tile tile;

      find_tile (self, begin, &tile);
      if (self->is_in_place)
        data = self->data + (tile.bit >> 3);
      else if (self->item_bits % 8 == 0)
        gather_bytes (self, &tile, numbers);
      else
        gather_bits (self, &tile, numbers);

      self->func (&tally, data, tile.n);
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

      run_piece (self, first, MIN (first + self->tiles_per_piece, self->n_tiles),
                 &self->pieces[begin]);
    }
}

/* In the type of a kernel: as they are, or in a wider one. */
static MtlElementType
get_kernel_type (MtlElementType type)
{
  gboolean is_wide = type.code == MTL_TYPE_CODE_FLOAT && type.bits >= 32;

  if (type.code == MTL_TYPE_CODE_COMPLEX)
    return (MtlElementType) { MTL_TYPE_CODE_COMPLEX, 128, 1, FALSE };
  if (type.code == MTL_TYPE_CODE_INT || type.code == MTL_TYPE_CODE_UINT)
    return (MtlElementType) { type.code, MAX (type.bits, 8), 1, FALSE };
  if (type.code == MTL_TYPE_CODE_BOOL || is_wide)
    return type;

  return (MtlElementType) { MTL_TYPE_CODE_FLOAT, 32, 1, FALSE };
}

static void
choose_func (Work           *self,
             MtlElementType  type)
{
  const MtlTallyKernels *kernels = get_kernels ();
  MtlElementType taken = get_kernel_type (type);

  self->number_size = taken.bits / 8;
  self->func = taken.code == MTL_TYPE_CODE_COMPLEX ? kernels->of_complex128
                                                   : kernels->of[mtl_convert_type_of (taken)];
}

/* For the progress; overlapping elements can have more than there are. */
static gsize
count_bytes (const Work *self)
{
  return MIN ((double) self->n_elements * self->item_bits / 8, 0x1p62);
}

static gboolean
run (Work              *self,
     MtlTally          *sum,
     const MtlMonitor  *monitor,
     GError           **error)
{
  gsize n_pieces = (self->n_tiles - 1) / self->tiles_per_piece + 1;
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
                          .n_bytes = count_bytes (self),
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
  MtlElementType type = strided->type, from = type;
  MtlConversion conversion;
  MtlTally sum;
  Work work;

  if (mtl_layout_is_empty (strided->layout))
    return mtl_monitor_check (monitor, error);

  work.n_axes = 0;
  work.data = strided->data;
  work.item_bits = strided->layout->item_bits;
  work.bit = strided->layout->offset * work.item_bits;
  work.conversion = &conversion;
  from.padded = type.bits < 8;
  choose_func (&work, type);
  mtl_conversion_init (&conversion, get_kernel_type (type), from);
  take_axes (&work, strided->layout);
  merge_axes (&work);
  divide (&work);
  if (!run (&work, &sum, monitor, error))
    return FALSE;

  repeat (&sum, work.n_repeats);
  mtl_tally_add (self, &sum);
  return TRUE;
}
