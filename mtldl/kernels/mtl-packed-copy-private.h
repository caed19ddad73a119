/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-convert-private.h"
#include "mtl-strided-copy-private.h"

G_BEGIN_DECLS

#define MTL_PACKED_TILE_AXES 3

/* The axes of a layout, one for the parts of an element, and those of a tile. */
#define MTL_PACKED_MAX_AXES (MTL_LAYOUT_MAX_AXES + 1 + MTL_PACKED_TILE_AXES)

/* Steps are in bits. */
typedef struct
{
  gint64 extent;
  gint64 dest_step;
  gint64 source_step;
} MtlPackedAxis;

typedef struct
{
  MtlPackedAxis axes[MTL_PACKED_MAX_AXES];
  guint n_axes;
  guint8 *dest;
  gint64 dest_bit; /* the first bit of the first element */
  guint dest_bits; /* the bits of an element */
  const guint8 *source;
  gint64 source_bit;
  guint source_bits;
  const MtlConversion *conversion; /* NULL if both types are equal */
  gsize n_bytes;
  gboolean in_order; /* elements of the destination may overlap */

  /* Set by mtl_packed_copy_run_tiles(). */
  gsize tile[MTL_PACKED_TILE_AXES]; /* extents along the last axes */
  gsize n_tiles[MTL_PACKED_TILE_AXES];
  guint along; /* the axis of a tile along which the source is unpacked */
} MtlPackedCopy;

/* Moves an axis to another position. */
static inline void
mtl_packed_copy_move_axis (MtlPackedCopy *self,
                           guint          from,
                           guint          to)
{
  MtlPackedAxis axis = self->axes[from];

  for (; from < to; from++)
    self->axes[from] = self->axes[from + 1];
  for (; from > to; from--)
    self->axes[from] = self->axes[from - 1];
  self->axes[to] = axis;
}

/* Copies elements that do not fill whole bytes, on one side or on both. Without a
 * source, fills with the item in the low bits of its bytes. Elements of different
 * types are numbers with one lane, as are those that are scaled by factors. */
gboolean mtl_packed_copy_run       (const MtlStrided  *dest,
                                    const MtlStrided  *source,
                                    gconstpointer      item,
                                    const double      *factors,
                                    const MtlMonitor  *monitor,
                                    GError           **error);

gboolean mtl_packed_copy_run_tiles (MtlPackedCopy     *self,
                                    const MtlMonitor  *monitor,
                                    GError           **error);

G_END_DECLS
