/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-tiles-private.h"

#include "mtl-copy-plan-private.h"

/* Contiguous rows of at least this many bytes need not be gathered. */
#define MIN_ROW 4096

/* Elements that are repeated are counted later. The order does not matter, so all
 * steps become positive, and the last axis has the smallest. */
static void
take_axes (MtlTiles        *self,
           const MtlLayout *layout)
{
  const gint64 *shape = mtl_layout_shape (layout), *strides = mtl_layout_strides (layout);

  self->n_repeats = self->n_elements = 1;
  for (guint i = 0; i < layout->n_dims; i++)
    {
      MtlTileAxis axis = { .extent = shape[i] };
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
merge_axes (MtlTiles *self)
{
  guint last = 0;

  if (self->n_axes == 0)
    self->axes[self->n_axes++] = (MtlTileAxis) { .extent = 1, .step = self->item_bits };

  for (guint i = 1; i < self->n_axes; i++)
    {
      MtlTileAxis *outer = &self->axes[last], *inner = &self->axes[i];

      if (outer->step == inner->step * inner->extent)
        *outer = (MtlTileAxis) { .extent = outer->extent * inner->extent, .step = inner->step };
      else
        self->axes[++last] = *inner;
    }
  self->n_axes = last + 1;
}

/* Checks if rows are contiguous, and long enough to be blocks by themselves. */
static gboolean
is_in_place (const MtlTiles *self)
{
  const MtlTileAxis *row = &self->axes[self->n_axes - 1];

  return self->conversion.n_steps == 0 && row->step == self->item_bits
         && (self->n_axes == 1 || row->extent * self->number_size >= MIN_ROW);
}

/* Tiles fill blocks, and those along an axis are equally large, but for the last. */
static void
divide (MtlTiles *self)
{
  guint size = MAX (self->number_size, (self->item_bits + 7) / 8);
  gint64 room = MTL_TILE_BYTES / size;

  self->n_tiles = 1;
  self->is_in_place = is_in_place (self);
  for (guint i = self->n_axes; i-- > 0;)
    {
      MtlTileAxis *axis = &self->axes[i];

      axis->n_tiles = (axis->extent - 1) / room + 1;
      axis->tile = (axis->extent - 1) / axis->n_tiles + 1;
      axis->n_tiles = (axis->extent - 1) / axis->tile + 1;
      room = self->is_in_place ? 1 : MAX (room / axis->tile, 1);
      self->n_tiles *= axis->n_tiles;
    }
}

/* The box of a tile. */
typedef struct
{
  gint64 extents[MTL_LAYOUT_MAX_AXES + 1];
  gint64 bit;
  gsize n;
} Tile;

static void
find_tile (const MtlTiles *self,
           gint64          index,
           Tile           *tile)
{
  tile->bit = self->bit;
  tile->n = 1;
  for (guint i = self->n_axes; i-- > 0;)
    {
      const MtlTileAxis *axis = &self->axes[i];
      gint64 begin = index % axis->n_tiles * axis->tile;

      index /= axis->n_tiles;
      tile->extents[i] = MIN (axis->tile, axis->extent - begin);
      tile->bit += begin * axis->step;
      tile->n *= tile->extents[i];
    }
}

/* The axes of a tile that have several elements, as the last ones. */
static guint
find_first_axis (const MtlTiles *self,
                 const Tile     *tile)
{
  guint first = 0;

  while (first + 1 < self->n_axes && tile->extents[first] == 1)
    first++;

  return first;
}

/* Elements of whole bytes. */
static void
gather_bytes (const MtlTiles *self,
              const Tile     *tile,
              guint8         *dest)
{
  gint64 dest_strides[MTL_LAYOUT_MAX_AXES + 1], source_strides[MTL_LAYOUT_MAX_AXES + 1];
  guint first = find_first_axis (self, tile), last = self->n_axes - 1;
  const guint8 *source = self->data + (tile->bit >> 3);
  guint size = self->item_bits / 8;
  gint64 stride = 1;

  if (first == last)
    {
      mtl_conversion_run (dest, source, tile->n, self->conversion.dest_size,
                          self->axes[last].step / 8, &self->conversion);
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
    .dest_size = self->conversion.dest_size,
    .source = source,
    .source_strides = source_strides + first,
    .source_size = size,
    .convert = self->conversion.n_steps > 0 ? mtl_conversion_run : NULL,
    .convert_data = &self->conversion,
  });
}

/* Packed elements, row by row. */
static void
gather_bits (const MtlTiles *self,
             const Tile     *tile,
             guint8         *dest)
{
  guint8 numbers[MTL_TILE_BYTES];
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

  mtl_conversion_run (dest, numbers, tile->n, self->conversion.dest_size, 1, &self->conversion);
}

void
mtl_tiles_init (MtlTiles         *self,
                const MtlStrided *strided,
                MtlElementType    number_type)
{
  MtlElementType from = strided->type;

  from.padded = from.bits < 8;
  self->n_axes = 0;
  self->data = strided->data;
  self->item_bits = strided->layout->item_bits;
  self->bit = strided->layout->offset * self->item_bits;
  self->number_size = number_type.bits / 8;
  mtl_conversion_init (&self->conversion, number_type, from);
  take_axes (self, strided->layout);
  merge_axes (self);
  divide (self);
}

const guint8 *
mtl_tiles_get (const MtlTiles *self,
               gint64          index,
               guint8         *buffer,
               gsize          *n)
{
  Tile tile;

  find_tile (self, index, &tile);
  *n = tile.n;
  if (self->is_in_place)
    return self->data + (tile.bit >> 3);

  if (self->item_bits % 8 == 0)
    gather_bytes (self, &tile, buffer);
  else
    gather_bits (self, &tile, buffer);
  return buffer;
}

gsize
mtl_tiles_count_bytes (const MtlTiles *self)
{
  return MIN ((double) self->n_elements * self->item_bits / 8, 0x1p62);
}
