/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Elements that do not fill whole bytes, tile by tile: unpacks them to a byte each,
 * lets the engine bring them into the order of the destination and convert them, if
 * necessary, and packs them again. */

#include "mtl-packed-copy-private.h"

#include "mtl-copy-plan-private.h"

#define TILE_AXES MTL_PACKED_TILE_AXES
/* An unpacked tile stays in the L2 cache. */
#define TILE_SIZE 16384
/* If elements are at most this many elements apart, those between them are unpacked
 * with them, and packed again in the destination. Each byte contains at least one of
 * the copied elements, so no other thread may write to it. */
#define MAX_SKIP 2

static const MtlAxis *
get_tile_axes (const MtlPackedCopy *self)
{
  return &self->axes[self->n_axes - TILE_AXES];
}

static guint
find_longest (const MtlPackedCopy *self,
              guint                n)
{
  guint found = 0;

  for (guint i = 1; i < n; i++)
    if (self->axes[i].extent >= self->axes[found].extent)
      found = i;

  return found;
}

static void
add_unit_axis (MtlPackedCopy *self)
{
  self->axes[self->n_axes] = mtl_axis (1, 0, 0);
  mtl_axes_move (self->axes, self->n_axes, 0);
  self->n_axes++;
}

/* The densest axis of the destination comes last, before it that of the source or the
 * longest, and before that the longest of the others. In order, a tile only has the
 * last axis. */
static void
choose_tile_axes (MtlPackedCopy *self)
{
  int source_axis = mtl_axes_find_nearest (self->axes, self->n_axes, 1);
  guint last, next;

  if (self->in_order)
    {
      const MtlAxis unit = mtl_axis (1, 0, 0);
      MtlAxis axis = self->n_axes > 0 ? self->axes[--self->n_axes] : unit;

      self->axes[self->n_axes++] = unit;
      self->axes[self->n_axes++] = unit;
      self->axes[self->n_axes++] = axis;
      self->along = TILE_AXES - 1;
      return;
    }

  last = self->n_axes - 1;
  self->along = TILE_AXES - 1;
  if (self->n_axes >= 2)
    {
      next = source_axis >= 0 && source_axis != (int) last ? (guint) source_axis
                                                           : find_longest (self, last);
      self->along = next == (guint) source_axis ? TILE_AXES - 2 : TILE_AXES - 1;
      mtl_axes_move (self->axes, next, last - 1);
    }
  if (self->n_axes >= 3)
    mtl_axes_move (self->axes, find_longest (self, last - 1), last - 2);
  while (self->n_axes < TILE_AXES)
    add_unit_axis (self);
}

/* Limits an extent. If the limit is 8 or more, shortened runs of any elements fill
 * whole bytes. */
static gsize
cut (gint64 extent,
     gsize  limit)
{
  if ((gsize) extent <= limit)
    return extent;

  return limit >= 8 ? limit / 8 * 8 : MAX (limit, 1);
}

/* The distance of the elements along an axis, if those between them are unpacked,
 * too; otherwise 1. */
static gint64
get_skip (gint64 step,
          guint  bits)
{
  guint64 distance = mtl_magnitude (step);

  return distance % bits == 0 && distance / bits <= MAX_SKIP && step != 0 ? distance / bits : 1;
}

/* The bytes that a tile needs for an element along one of its axes. Wide elements are
 * used in place, so they only count if they are read and written in the same order. */
static gint64
get_size (const MtlPackedCopy *self,
          gint64               step,
          guint                bits)
{
  if (bits < 8)
    return get_skip (step, bits);

  return self->along == TILE_AXES - 1 ? bits / 8 : 1;
}

static void
choose_tile (MtlPackedCopy *self)
{
  const MtlAxis *axes = get_tile_axes (self);
  guint64 *tile = &self->parts[self->n_axes - TILE_AXES];
  gint64 source_size = get_size (self, axes[self->along].source_step, self->source_bits);
  gint64 dest_size = get_size (self, axes[TILE_AXES - 1].dest_step, self->dest_bits);
  gsize room = TILE_SIZE / MAX (source_size, dest_size);

  for (guint i = 0; i < self->n_axes - TILE_AXES; i++)
    self->parts[i] = 1;
  tile[2] = cut (axes[2].extent, axes[1].extent > 1 ? 128 : room);
  tile[1] = cut (axes[1].extent, room / tile[2]);
  tile[2] = cut (axes[2].extent, room / tile[1]);
  tile[0] = cut (axes[0].extent, room / (tile[1] * tile[2]));
}

/* Checks that no two tiles write to the same byte: along the densest axis that is
 * divided into tiles, and along all less dense axes, tiles begin at a byte. If not, the
 * tiles run one after the other. */
static gboolean
tiles_are_apart (const MtlPackedCopy *self)
{
  gint64 densest = G_MAXINT64;

  if (self->dest_bits % 8 == 0)
    return TRUE;

  for (guint i = 0; i < self->n_axes; i++)
    if (self->parts[i] < self->axes[i].extent)
      densest = MIN (densest, self->axes[i].dest_step);

  if (self->dest_bit % 8 != 0)
    return FALSE;

  for (guint i = 0; i < self->n_axes; i++)
    {
      const MtlAxis *axis = &self->axes[i];
      gsize n = axis->dest_step == densest ? self->parts[i] : 1;

      if (axis->dest_step >= densest && axis->dest_step * n % 8 != 0)
        return FALSE;
    }

  return TRUE;
}

/* The order of the elements in an unpacked tile: line by line, as they are packed on
 * one side. */
typedef struct
{
  gint64 strides[TILE_AXES];
  gint64 start; /* the position of the element with all indices 0 */
  gint64 length; /* the elements of a line */
  gint64 step;
  gint64 bit; /* the first bit of the first line */
  gint64 n_lines[2];
  gint64 line_steps[2];
  gint64 line_strides[2];
} Lines;

/* Lines are along one axis. Lines that touch are merged into one. Repeated elements
 * are unpacked once. */
static void
lines_init (Lines        *self,
            const gint64 *extents,
            const gint64 *steps,
            guint         bits,
            guint         along,
            gint64        bit)
{
  guint others[] = { along == 2 ? 1 : 2, along == 0 ? 1 : 0 };
  gint64 extent = steps[along] != 0 ? extents[along] : 1;
  gint64 skip = get_skip (steps[along], bits);
  gboolean is_back = steps[along] == -(gint64) bits * skip && extent > 1;
  gboolean is_dense = extent == 1 || is_back || steps[along] == (gint64) bits * skip;
  gboolean touches = is_dense && skip == 1 && !is_back;
  guint n = 0;
  gint64 pitch;

  *self = (Lines) { .n_lines = { 1, 1 }, .bit = bit };
  self->length = pitch = (extent - 1) * skip + 1;
  self->step = is_dense ? bits : steps[along];
  self->strides[along] = extent == 1 ? 0 : is_back ? -skip : skip;
  if (is_back)
    {
      self->start = pitch - 1;
      self->bit += (extent - 1) * steps[along];
    }

  if (mtl_magnitude (steps[others[1]]) < mtl_magnitude (steps[others[0]]))
    {
      guint other = others[0];

      others[0] = others[1];
      others[1] = other;
    }
  for (guint i = 0; i < 2; i++)
    {
      guint axis = others[i];

      if (extents[axis] == 1 || steps[axis] == 0)
        continue;

      self->strides[axis] = pitch;
      touches = touches && steps[axis] == pitch * bits;
      if (touches)
        self->length *= extents[axis];
      else
        {
          self->n_lines[n] = extents[axis];
          self->line_steps[n] = steps[axis];
          self->line_strides[n++] = pitch;
        }
      pitch *= extents[axis];
    }
}

static gint64
get_bit (const Lines *self,
         gint64       i,
         gint64       j)
{
  return self->bit + i * self->line_steps[0] + j * self->line_steps[1];
}

static void
unpack (const Lines  *self,
        guint8       *numbers,
        const guint8 *source,
        guint         bits)
{
  for (gint64 j = 0; j < self->n_lines[1]; j++)
    for (gint64 i = 0; i < self->n_lines[0]; i++)
      mtl_bits_unpack (numbers + i * self->line_strides[0] + j * self->line_strides[1], source,
                       get_bit (self, i, j), self->step, self->length, bits);
}

static void
pack (const Lines  *self,
      guint8       *dest,
      const guint8 *numbers,
      guint         bits)
{
  for (gint64 j = 0; j < self->n_lines[1]; j++)
    for (gint64 i = 0; i < self->n_lines[0]; i++)
      mtl_bits_pack (dest, get_bit (self, i, j), self->step,
                     numbers + i * self->line_strides[0] + j * self->line_strides[1],
                     self->length, bits);
}

/* Unpacked elements can be packed as they are if none are left out, and there are no
 * gaps. */
static gboolean
is_same (const MtlPackedCopy *self,
         const Lines         *dest,
         const Lines         *source)
{
  return self->conversion == NULL && dest->start == source->start
         && mtl_magnitude (dest->strides[TILE_AXES - 1]) <= 1
         && memcmp (dest->strides, source->strides, sizeof dest->strides) == 0;
}

static void
run_tile (const MtlPackedCopy *self,
          gsize                index)
{
  guint8 from[TILE_SIZE], to[TILE_SIZE];
  Lines source = { .start = 0 }, dest = { .start = 0 };
  gint64 extents[TILE_AXES], dest_steps[TILE_AXES], source_steps[TILE_AXES];
  gint64 dest_bit, source_bit;
  MtlCopyRequest request = {
    .n_dims = TILE_AXES,
    .shape = extents,
    .dest_strides = dest.strides,
    .source_strides = source.strides,
    .dest_size = 1 + (self->dest_bits - 1) / 8,
    .source_size = 1 + (self->source_bits - 1) / 8,
    .convert = self->conversion != NULL ? mtl_conversion_run : NULL,
    .convert_data = self->conversion,
  };
  MtlAxesBlock tile;

  mtl_axes_get_block (self->axes, self->n_axes, self->parts, index, &tile);
  dest_bit = self->dest_bit + tile.offsets[0];
  source_bit = self->source_bit + tile.offsets[1];
  for (guint i = 0; i < TILE_AXES; i++)
    {
      const MtlAxis *axis = &tile.axes[self->n_axes - TILE_AXES + i];

      extents[i] = axis->extent;
      dest_steps[i] = axis->dest_step;
      source_steps[i] = axis->source_step;
      dest.strides[i] = dest_steps[i] / self->dest_bits;
      source.strides[i] = source_steps[i] / self->source_bits;
    }

  request.dest = self->dest + (dest_bit >> 3);
  request.source = self->source + (source_bit >> 3);
  if (self->source_bits < 8)
    {
      lines_init (&source, extents, source_steps, self->source_bits, self->along,
                  source_bit);
      unpack (&source, from, self->source, self->source_bits);
      request.source = from + source.start;
    }
  if (self->dest_bits < 8)
    {
      lines_init (&dest, extents, dest_steps, self->dest_bits, TILE_AXES - 1, dest_bit);
      request.dest = to + dest.start;
    }

  if (self->dest_bits < 8 && is_same (self, &dest, &source))
    {
      pack (&dest, self->dest, from, self->dest_bits);
      return;
    }

  if (self->dest_bits < 8 && mtl_magnitude (dest.strides[TILE_AXES - 1]) > 1)
    unpack (&dest, to, self->dest, self->dest_bits);
  mtl_copy_run (&request);
  if (self->dest_bits < 8)
    pack (&dest, self->dest, to, self->dest_bits);
}

static void
run_tiles (gpointer data,
           gsize    begin,
           gsize    end)
{
  for (gsize i = begin; i < end; i++)
    run_tile (data, i);
}

/* Leaves self unusable. */
gboolean
mtl_packed_copy_run_tiles (MtlPackedCopy    *self,
                           const MtlMonitor *monitor,
                           GError          **error)
{
  MtlThreadsWork work = { .func = run_tiles, .data = self, .n_bytes = self->n_bytes };

  choose_tile_axes (self);
  choose_tile (self);
  work.n_items = mtl_axes_count_blocks (self->axes, self->n_axes, self->parts);
  work.in_order = self->in_order || !tiles_are_apart (self);
  return mtl_threads_run (&work, monitor, error);
}
