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
  gint64 offsets[2] = { self->bit, 0 };

  self->n_repeats = self->n_elements = 1;
  for (guint i = 0; i < layout->n_dims; i++)
    if (shape[i] > 1 && strides[i] == 0)
      self->n_repeats *= shape[i];
    else if (shape[i] > 1) /* otherwise the stride may be any */
      {
        self->n_elements *= shape[i];
        self->axes[self->n_axes++] = mtl_axis (shape[i], strides[i] * layout->item_bits, 0);
      }

  mtl_axes_flip (self->axes, self->n_axes, offsets);
  self->bit = offsets[0];
  mtl_axes_sort (self->axes, self->n_axes, 0);
  self->n_axes = mtl_axes_merge (self->axes, self->n_axes);
  if (self->n_axes == 0)
    self->axes[self->n_axes++] = mtl_axis (1, self->item_bits, 0);
}

/* Checks if rows are contiguous, and long enough to be blocks by themselves. */
static gboolean
is_in_place (const MtlTiles *self)
{
  const MtlAxis *row = &self->axes[self->n_axes - 1];

  return self->conversion.n_steps == 0 && row->steps[0] == self->item_bits
         && (self->n_axes == 1 || row->extent * self->number_size >= MIN_ROW);
}

/* Drops the first axes with one element. */
static guint
find_first_axis (const MtlAxesBlock *block)
{
  guint first = 0;

  while (first + 1 < block->n_axes && block->axes[first].extent == 1)
    first++;

  return first;
}

void
mtl_gather_block (guint8              *dest,
                  const guint8        *source,
                  guint                item_bits,
                  const MtlAxesBlock  *block,
                  const MtlConversion *conversion)
{
  gint64 shape[MTL_AXES_MAX], dest_strides[MTL_AXES_MAX], source_strides[MTL_AXES_MAX];
  guint first = find_first_axis (block), n_axes = block->n_axes - first;
  const MtlAxis *axes = &block->axes[first];
  gint64 stride = 1;

  if (n_axes == 1)
    {
      mtl_conversion_run (dest, source, block->n, conversion->dest_size, axes[0].steps[0] / 8,
                          conversion);
      return;
    }

  for (guint i = n_axes; i-- > 0; stride *= axes[i].extent)
    {
      shape[i] = axes[i].extent;
      dest_strides[i] = stride;
      source_strides[i] = axes[i].steps[0] / item_bits;
    }
  mtl_copy_run (&(MtlCopyRequest) {
    .n_dims = n_axes,
    .shape = shape,
    .dest = dest,
    .dest_strides = dest_strides,
    .dest_size = conversion->dest_size,
    .source = source,
    .source_strides = source_strides,
    .source_size = item_bits / 8,
    .convert = conversion->n_steps > 0 ? mtl_conversion_run : NULL,
    .convert_data = conversion,
  });
}

/* Packed elements, row by row. */
static void
gather_bits (const MtlTiles     *self,
             const MtlAxesBlock *block,
             guint8             *dest)
{
  guint8 numbers[MTL_TILE_BYTES];
  guint first = find_first_axis (block), last = block->n_axes - 1;
  guint64 position[MTL_AXES_MAX] = { 0 }, row = block->axes[last].extent;
  gint64 offsets[2] = { self->bit + block->offsets[0], 0 };

  for (guint64 i = 0; i < block->n; i += row)
    {
      mtl_bits_unpack (numbers + i, self->data, offsets[0], block->axes[last].steps[0], row,
                       self->item_bits);
      mtl_axes_go_on (&block->axes[first], last - first, position, offsets);
    }

  mtl_conversion_run (dest, numbers, block->n, self->conversion.dest_size, 1, &self->conversion);
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
  mtl_conversion_init (&self->conversion, number_type, from, NULL);
  take_axes (self, strided->layout);
  self->is_in_place = is_in_place (self);
  self->n_tiles = mtl_axes_divide (self->axes, self->n_axes,
                                   MTL_TILE_BYTES / MAX (self->number_size,
                                                         (self->item_bits + 7) / 8),
                                   self->is_in_place, self->parts);
}

const guint8 *
mtl_tiles_get (const MtlTiles *self,
               gint64          index,
               guint8         *buffer,
               gsize          *n)
{
  MtlAxesBlock block;
  gint64 bit;

  mtl_axes_get_block (self->axes, self->n_axes, self->parts, index, &block);
  *n = block.n;
  bit = self->bit + block.offsets[0];
  if (self->is_in_place)
    return self->data + (bit >> 3);

  if (self->item_bits % 8 == 0)
    mtl_gather_block (buffer, self->data + (bit >> 3), self->item_bits, &block,
                      &self->conversion);
  else
    gather_bits (self, &block, buffer);
  return buffer;
}

gsize
mtl_tiles_count_bytes (const MtlTiles *self)
{
  return MIN ((double) self->n_elements * self->item_bits / 8, 0x1p62);
}
