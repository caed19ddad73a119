/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-axes-private.h"
#include "mtl-convert-private.h"
#include "mtl-strided-copy-private.h"

G_BEGIN_DECLS

#define MTL_PACKED_TILE_AXES 3

typedef struct
{
  MtlAxis axes[MTL_AXES_MAX]; /* steps are in bits */
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
  guint64 parts[MTL_AXES_MAX]; /* the extents of a tile, along the last axes */
  guint along; /* the axis of a tile along which the source is unpacked */
} MtlPackedCopy;

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
