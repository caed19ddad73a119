/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-axes-private.h"
#include "mtl-convert-private.h"
#include "mtl-strided-copy-private.h"

G_BEGIN_DECLS

/* The most bytes of numbers in a tile. They stay in the L1 cache, because they are read
 * several times. */
#define MTL_TILE_BYTES 16384

/* Strided elements as tiles: blocks of contiguous elements in place, or else parts of the
 * last axes, which are gathered by the engine of copies, and converted to numbers of
 * another type. Repeated elements appear once. The order of the elements is any, but
 * depends on the layout alone. Several threads may use it at the same time. */
typedef struct
{
  MtlAxis axes[MTL_AXES_MAX]; /* steps are in bits and positive, the largest first */
  guint64 parts[MTL_AXES_MAX]; /* those of a tile */
  guint n_axes;
  const guint8 *data;
  gint64 bit;       /* the first bit of the first element */
  guint item_bits;
  gint64 n_repeats;
  gint64 n_elements; /* repeated elements count once */

  guint number_size;         /* the size of the numbers in tiles */
  MtlConversion conversion;  /* gathers elements, and converts them */
  gboolean is_in_place;      /* tiles are contiguous, and need no conversion */

  gint64 n_tiles;
} MtlTiles;

/* There is at least one element, and each is a number with one lane, as are those of the
 * tiles. */
void          mtl_tiles_init        (MtlTiles         *self,
                                     const MtlStrided *strided,
                                     MtlElementType    number_type);

/* The n numbers of a tile, in place or in the buffer of MTL_TILE_BYTES. */
const guint8 *mtl_tiles_get         (const MtlTiles   *self,
                                     gint64            index,
                                     guint8           *buffer,
                                     gsize            *n);

/* Gathers elements of whole bytes, with steps in bits, and converts them. */
void          mtl_gather_block      (guint8              *dest,
                                     const guint8        *source,
                                     guint                item_bits,
                                     const MtlAxesBlock  *block,
                                     const MtlConversion *conversion);

/* The bytes of all elements, without repeats. Bytes of overlapping elements count more than
 * once. */
gsize         mtl_tiles_count_bytes (const MtlTiles   *self);

G_END_DECLS
