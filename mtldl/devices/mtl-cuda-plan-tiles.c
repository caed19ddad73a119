/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Copies through shared memory. All tiles of a launch have the same size: those at the end of an
 * axis overlap those before. */

#include "mtl-cuda-plan-layout-private.h"

#define MAX_SHARED (46 * 1024)

/* Blocks that are enough for the largest GPUs to be busy till the end */
#define MANY_BLOCKS 2048

static guint
get_tiles_per_block (guint64 n_tiles,
                     guint   most)
{
  return CLAMP (n_tiles / MANY_BLOCKS, 1, most);
}

/* Adds an axis that has several parts to those that a tile's number is made of. */
static void
add_parts (MtlCudaAxis   *axes,
           guint         *n_axes,
           guint         *n_tiles,
           const MtlAxis *axis,
           guint          step)
{
  MtlCudaAxis *added = &axes[*n_axes];

  mtl_cuda_axis_init (added, axis, step);
  if (added->parts == 1)
    return;

  *n_tiles *= added->parts;
  ++*n_axes;
}

/* Transposes */

static const struct
{
  guint extents[2];
} tiles[] = {
  [1] = { { 128, 128 } },
  [2] = { { 128, 64 } },
  [4] = { { 64, 64 } },
  [8] = { { 64, 32 } },
};

/* The share of the elements that are not moved a second time */
static double
get_share (guint64 extent,
           guint   tile)
{
  return (double) extent / (mtl_cuda_divide_up (extent, tile) * tile);
}

/* The axis other than the first along which the source is contiguous, or 0 */
static guint
find_source_axis (const MtlCudaJob    *job,
                  const MtlCudaLayout *layout)
{
  for (guint i = 1; i < layout->n_axes; i++)
    if (layout->axes[i].source_step == job->source_size)
      return i;

  return 0;
}

static gboolean
suits_tiles (const MtlCudaJob    *job,
             const MtlCudaLayout *layout,
             guint                across)
{
  guint size = job->dest_size;
  const guint *extents = tiles[MIN (size, 8)].extents;
  guint64 n0 = layout->axes[0].extent, n1 = layout->axes[across].extent;

  return n0 >= extents[0] && n1 >= extents[1]
         && (mtl_cuda_plan_forced == MTL_CUDA_TILE
             || get_share (n0, extents[0]) * get_share (n1, extents[1]) > 0.8);
}

gboolean
mtl_cuda_plan_tile (const MtlCudaJob    *job,
                    const MtlCudaLayout *layout,
                    gboolean            *done)
{
  guint size = job->dest_size, word = MAX (size, 4), across;
  MtlCudaTile tile = { .n_tiles = 1, .n_axes = 2 };
  MtlCudaLayout apart;
  const guint *extents;
  guint skew, pitch;

  *done = FALSE;
  if (layout->n_axes < 2 || size == 16 || layout->axes[0].dest_step != size)
    return TRUE;

  across = find_source_axis (job, layout);
  if (across == 0 || !suits_tiles (job, layout, across))
    return TRUE;

  *done = TRUE;
  extents = tiles[size].extents;
  skew = MTL_CUDA_SECTOR / size;
  tile.is_skewed = layout->axes[0].extent >= extents[0] + skew
                   && !mtl_cuda_layout_aligned (layout, 1, 0, MTL_CUDA_SECTOR);
  mtl_cuda_axis_init (&tile.axes[0], &layout->axes[0], extents[0]);
  mtl_cuda_axis_init (&tile.axes[1], &layout->axes[across], extents[1]);
  if (tile.is_skewed)
    {
      MtlAxis reduced = layout->axes[0];

      reduced.extent -= skew;
      mtl_cuda_axis_init (&tile.axes[0], &reduced, extents[0]);
    }
  tile.n_tiles = tile.axes[0].parts * tile.axes[1].parts;
  for (guint i = 1; i < layout->n_axes; i++)
    if (i != across)
      add_parts (tile.axes, &tile.n_axes, &tile.n_tiles, &layout->axes[i], 1);

  apart = *layout;
  apart.axes[across].source_step = tile.axes[1].parts > 1 ? tile.axes[1].last * size : 0;
  tile.is_shifted = !mtl_cuda_layout_aligned (&apart, 0, 1, word);
  tile.source_begin = job->source_begin;
  tile.source_end = job->source_end;
  tile.tiles_per_block = get_tiles_per_block (tile.n_tiles, 4);

  pitch = (extents[0] + skew) * size / word | 1;
  return mtl_cuda_job_launch (job, layout, "tile",
                              mtl_cuda_divide_up (tile.n_tiles, tile.tiles_per_block),
                              extents[1] * pitch * word, &tile, sizeof tile);
}

/* Pixels and planes */

#define MAX_CHANNELS 16
#define MIN_PIXELS 64

typedef struct
{
  guint channels; /* the axis */
  guint pixels;
  gboolean splits;
} Pixels;

static gboolean
find_pixels (const MtlCudaJob    *job,
             const MtlCudaLayout *layout,
             Pixels              *pixels)
{
  const MtlAxis *axes = layout->axes;
  gint64 size = job->dest_size;

  for (guint i = 1; i < layout->n_axes; i++)
    if (axes[i].source_step == size && axes[i].extent <= MAX_CHANNELS
        && axes[0].source_step == size * (gint64) axes[i].extent)
      {
        *pixels = (Pixels) { i, 0, TRUE };
        return TRUE;
      }

  *pixels = (Pixels) { 0, 1, FALSE };
  return axes[0].extent <= MAX_CHANNELS && axes[1].dest_step == size * (gint64) axes[0].extent
         && axes[1].source_step == size;
}

gboolean
mtl_cuda_plan_pixels (const MtlCudaJob    *job,
                      const MtlCudaLayout *layout,
                      gboolean            *done)
{
  MtlCudaPixels params = { .n_axes = 2 };
  guint size = job->dest_size, most, n_bytes;
  Pixels pixels;

  *done = FALSE;
  if (layout->n_axes < 2 || size == 16 || layout->axes[0].dest_step != size
      || !find_pixels (job, layout, &pixels) || layout->axes[pixels.pixels].extent < MIN_PIXELS)
    return TRUE;

  *done = TRUE;
  params.splits = pixels.splits;
  params.n_channels = layout->axes[pixels.channels].extent;
  most = CLAMP (16384 / (params.n_channels * size) / 64 * 64, 64, 2048);
  params.n_pixels = MIN (most, layout->axes[pixels.pixels].extent);
  mtl_cuda_axis_init (&params.axes[0], &layout->axes[pixels.pixels], params.n_pixels);
  mtl_cuda_axis_init (&params.axes[1], &layout->axes[pixels.channels], params.n_channels);
  params.n_tiles = params.axes[0].parts;
  for (guint i = 0; i < layout->n_axes; i++)
    if (i != pixels.channels && i != pixels.pixels)
      add_parts (params.axes, &params.n_axes, &params.n_tiles, &layout->axes[i], 1);

  /* Channels begin in different banks. */
  n_bytes = params.n_pixels * size;
  params.pitch = size == 8 ? n_bytes + 8 : ((n_bytes + 3) / 4 + 1) * 4 | 4;
  params.tiles_per_block = get_tiles_per_block (params.n_tiles, 4);
  return mtl_cuda_job_launch (job, layout, "pixels",
                              mtl_cuda_divide_up (params.n_tiles, params.tiles_per_block),
                              params.n_channels * (params.splits ? n_bytes : params.pitch) + 16,
                              &params, sizeof params);
}

/* Boxes */

#define MAX_BOX_AXES MTL_CUDA_BOX_AXES

/* An entry of the tables of rows */
#define ROW_BYTES 8

/* Columns of a side: enough for the threads of a warp to have neighbors */
#define N_COLUMNS 64

typedef struct
{
  const MtlCudaJob *job;
  const MtlCudaLayout *layout;
  gboolean has_words;                   /* small items can be moved as words */
  guint source_order[MTL_CUDA_MAX_AXES]; /* axes by the source's steps, 0 last */
  guint64 extents[MTL_CUDA_MAX_AXES];    /* for a tile */
  guint n_axes;                          /* those of several elements */
} Box;

static void
order_source (Box *self)
{
  const MtlAxis *axes = self->layout->axes;

  for (guint i = 0; i < self->layout->n_axes; i++)
    {
      guint place = i;

      /* Subtracting 1 makes 0 the largest. */
      for (; place > 0; place--)
        {
          guint before = self->source_order[place - 1];

          if (mtl_magnitude (axes[before].source_step) - 1
              <= mtl_magnitude (axes[i].source_step) - 1)
            break;
          self->source_order[place] = before;
        }
      self->source_order[place] = i;
    }
}

static gboolean
has_room (const Box *self,
          guint      axis)
{
  return self->extents[axis] > 1 || self->n_axes < MAX_BOX_AXES;
}

static void
grow (Box     *self,
      guint    axis,
      guint64  extent)
{
  extent = MIN (extent, self->layout->axes[axis].extent);
  if (extent <= self->extents[axis])
    return;

  if (self->extents[axis] == 1)
    self->n_axes++;
  self->extents[axis] = extent;
}

static guint64
count_elements (const Box *self)
{
  guint64 n = 1;

  for (guint i = 0; i < self->layout->n_axes; i++)
    n *= self->extents[i];

  return n;
}

static guint
find_largest (const Box *self)
{
  guint largest = 0;

  for (guint i = 1; i < self->layout->n_axes; i++)
    if (self->extents[i] > self->extents[largest])
      largest = i;

  return largest;
}

/* The axis along which a tile grows next for a side, or -1 */
static int
find_growing (const Box *self,
              gboolean   for_source)
{
  for (guint i = 0; i < self->layout->n_axes; i++)
    {
      guint axis = for_source ? self->source_order[i] : i;

      if (self->extents[axis] < self->layout->axes[axis].extent && has_room (self, axis))
        return axis;
    }

  return -1;
}

/* Runs of both sides that are as long as memory likes, and then as much as a tile has room for */
static void
choose_extents (Box     *self,
                guint64  most)
{
  const MtlCudaJob *job = self->job;
  guint64 need = job->dest_size == 1 ? 192 : 256 / job->dest_size;
  gboolean for_source = FALSE, is_stuck = FALSE;

  for (guint i = 0; i < self->layout->n_axes && need > 1 && self->n_axes < MAX_BOX_AXES - 2; i++)
    {
      grow (self, i, need);
      need = mtl_cuda_divide_up (need, self->extents[i]);
    }
  need = (job->source_size <= 2 ? 128 : 256) / job->source_size;
  for (guint i = 0; i < self->layout->n_axes && need > 1; i++)
    {
      guint axis = self->source_order[i];

      if (!has_room (self, axis))
        continue;
      grow (self, axis, need);
      need = mtl_cuda_divide_up (need, self->extents[axis]);
    }
  while (count_elements (self) > most)
    {
      guint largest = find_largest (self);

      self->extents[largest] = mtl_cuda_divide_up (self->extents[largest], 2);
    }
  for (; count_elements (self) * 2 <= most; for_source = !for_source)
    {
      int axis = find_growing (self, for_source);

      if (axis < 0 && is_stuck)
        break;
      is_stuck = axis < 0;
      if (axis >= 0)
        grow (self, axis, 2 * self->extents[axis]);
    }
}

/* Tiles of nearly the same size, whose runs are whole sectors where that aligns them */
static void
even_out (Box *self)
{
  const MtlAxis *axes = self->layout->axes;
  guint64 unit = MAX (MTL_CUDA_SECTOR / self->job->dest_size, 1);

  for (guint i = 0; i < self->layout->n_axes; i++)
    {
      guint64 n = axes[i].extent, extent = self->extents[i];

      if (extent == 1 || extent == n)
        continue;

      extent = mtl_cuda_divide_up (n, mtl_cuda_divide_up (n, extent));
      if (i == 0 && axes[0].dest_step == self->job->dest_size)
        extent = MIN (mtl_cuda_divide_up (extent, unit) * unit, n);
      self->extents[i] = extent;
    }
}

/* Divides a side into columns and rows. If the first axis is moved in words, it has that many of
 * them, and else 0. */
static void
divide_side (MtlCudaBoxSide *side,
             guint           n_axes,
             guint           n_words)
{
  guint columns = 1, i = 0, rows = 1;

  side->n_axes = n_axes;
  memcpy (side->column_extents, side->extents, sizeof side->column_extents);
  if (n_words > 0)
    {
      side->column_extents[0] = columns = n_words;
      i = 1;
    }
  for (; i < n_axes && columns * side->extents[i] <= N_COLUMNS; i++)
    columns *= side->extents[i];

  side->n_whole = i;
  side->split = side->split_parts = 1;
  if (i < n_axes)
    {
      guint extent = side->extents[i], split = CLAMP (N_COLUMNS / columns, 1, extent);

      side->split_parts = mtl_cuda_divide_up (extent, split);
      side->split = mtl_cuda_divide_up (extent, side->split_parts);
      side->column_extents[i] = side->split;
      columns *= side->split;
      rows = side->split_parts;
    }
  for (i++; i < n_axes; i++)
    rows *= side->extents[i];

  side->n_columns = columns;
  side->n_rows = rows;
  side->n_lanes = MTL_CUDA_THREADS / columns;
}

static guint
get_pitch (const Box *self,
           guint      length,
           gboolean   loads_words)
{
  guint size = self->job->dest_size;
  guint unit = loads_words || size >= 4 ? 1 : 4 / size;

  return (mtl_cuda_divide_up (length, unit) | 1) * unit;
}

/* Checks that all offsets within a tile fit 32 bits. */
static gboolean
offsets_fit (const Box *self)
{
  guint64 reach[2] = { 0, 0 };

  for (guint i = 0; i < self->layout->n_axes; i++)
    for (guint operand = 0; operand < 2; operand++)
      {
        guint64 step = mtl_magnitude (self->layout->axes[i].steps[operand]), product;

        if (__builtin_mul_overflow (step, self->extents[i] - 1, &product)
            || product > G_MAXINT32 - reach[operand])
          return FALSE;
        reach[operand] += product;
      }

  return TRUE;
}

static gboolean
loads_words (const Box *self)
{
  guint size = self->job->source_size;
  guint64 extent = self->extents[self->source_order[0]];

  return self->has_words && size < 4 && extent * size >= 4 && extent * size <= 512
         && mtl_magnitude (self->layout->axes[self->source_order[0]].source_step) == size;
}

/* The destination's side, where axes that go on with each other are one. Sets where an element of
 * each axis is in shared memory. Returns the elements there. */
static guint
arrange_dest (const Box  *self,
              MtlCudaBox *box,
              guint      *positions)
{
  MtlCudaBoxSide *side = &box->sides[0];
  const MtlAxis *axes = self->layout->axes;
  guint size = self->job->dest_size, n = 0, position = 1, n_words = 0;
  gint64 next = 0;

  for (guint i = 0; i < self->layout->n_axes; i++)
    {
      if (self->extents[i] == 1)
        continue;

      if (n > 0 && axes[i].dest_step == next)
        side->extents[n - 1] *= self->extents[i];
      else
        {
          if (n == 1)
            position = get_pitch (self, side->extents[0], loads_words (self));
          side->extents[n] = self->extents[i];
          side->offsets[n] = axes[i].dest_step;
          side->positions[n++] = position;
        }
      /* A part of an axis does not go on with the next one. */
      next = self->extents[i] == axes[i].extent
               ? axes[i].dest_step * (gint64) self->extents[i] : 0;
      positions[i] = position;
      position *= self->extents[i];
    }

  side->unit = 1;
  side->length = side->extents[0];
  if (self->has_words && size < 4 && side->offsets[0] == (int) size
      && side->length * size >= 8 && side->length * size <= 512)
    {
      side->unit = 4 / size;
      n_words = mtl_cuda_divide_up (side->length * size, 4) + 1;
    }
  divide_side (side, n, n_words);
  return position;
}

/* The source's side. Its steps become positive. */
static void
arrange_source (const Box     *self,
                MtlCudaBox    *box,
                const guint   *positions,
                MtlCudaLayout *layout)
{
  MtlCudaBoxSide *side = &box->sides[1];
  guint n = 0, n_words = 0;

  for (guint i = 0; i < self->layout->n_axes; i++)
    {
      guint axis = self->source_order[i];
      guint extent = self->extents[axis];
      gint64 step = self->layout->axes[axis].source_step;

      if (extent == 1)
        continue;

      side->extents[n] = extent;
      side->offsets[n] = ABS (step);
      side->positions[n] = positions[axis];
      if (step < 0)
        {
          layout->source += (gint64) (extent - 1) * step;
          side->position += (extent - 1) * positions[axis];
          side->positions[n] = -positions[axis];
        }
      n++;
    }

  side->unit = 1;
  side->length = side->extents[0];
  if (loads_words (self))
    {
      side->unit = 4 / self->job->source_size;
      n_words = mtl_cuda_divide_up (side->length, side->unit);
    }
  divide_side (side, n, n_words);
}

/* Returns FALSE if the tile is too large. */
static gboolean
arrange (const Box     *self,
         MtlCudaBox    *box,
         MtlCudaLayout *layout,
         gsize         *shared_bytes)
{
  guint positions[MTL_CUDA_MAX_AXES], n_elements;

  memset (box->sides, 0, sizeof box->sides);
  layout->source = self->layout->source;
  n_elements = arrange_dest (self, box, positions);
  arrange_source (self, box, positions, layout);
  box->sides[1].table = ROW_BYTES * box->sides[0].n_rows;
  box->data = box->sides[1].table + ROW_BYTES * box->sides[1].n_rows;
  box->data = mtl_cuda_divide_up (box->data, 16) * 16;
  /* Words may be read beyond the last element. */
  *shared_bytes = box->data + (gsize) n_elements * self->job->dest_size + 8;
  return *shared_bytes <= MAX_SHARED;
}

static guint64
get_box_limit (const Box *self)
{
  guint64 most = self->job->dest_size == 1 ? 24576 : 16384 / self->job->dest_size;

  /* One run on both sides: small blocks, and more of them */
  if (self->source_order[0] == 0)
    most = MIN (most, 4096);
  return mtl_cuda_plan_box_elements > 0 ? MIN (most, mtl_cuda_plan_box_elements) : most;
}

gboolean
mtl_cuda_plan_box (const MtlCudaJob    *job,
                   const MtlCudaLayout *layout,
                   gboolean            *done)
{
  Box self = { .job = job, .layout = layout, .has_words = job->module == NULL };
  MtlCudaLayout moved;
  MtlCudaBox box;
  gsize shared_bytes;

  *done = FALSE;
  if (layout->n_axes == 0)
    return TRUE;

  order_source (&self);
  for (guint i = 0; i < layout->n_axes; i++)
    self.extents[i] = 1;
  choose_extents (&self, get_box_limit (&self));
  even_out (&self);
  if (self.n_axes == 0 || !offsets_fit (&self))
    return TRUE;

  moved = *layout;
  while (!arrange (&self, &box, &moved, &shared_bytes))
    {
      guint largest = find_largest (&self);

      if (self.extents[largest] <= 2)
        return TRUE;
      self.extents[largest] = mtl_cuda_divide_up (self.extents[largest], 2);
    }

  *done = TRUE;
  box.source_begin = job->source_begin;
  box.source_end = job->source_end;
  box.n_tiles = 1;
  box.n_axes = 0;
  for (guint i = 0; i < layout->n_axes; i++)
    add_parts (box.axes, &box.n_axes, &box.n_tiles, &layout->axes[i], self.extents[i]);
  box.tiles_per_block = get_tiles_per_block (box.n_tiles, 16);
  return mtl_cuda_job_launch (job, &moved, "box",
                              mtl_cuda_divide_up (box.n_tiles, box.tiles_per_block), shared_bytes,
                              &box, sizeof box);
}
