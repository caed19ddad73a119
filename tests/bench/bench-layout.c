/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The costs in C of layouts of three dimensions: the functions on plain values, then those of
 * objects, and questions that take longer for interleaved elements. */

#include "bench.h"

#include "mtl-bindings-private.h"
#include "mtl-layout-private.h"

static const gint64 dims[] = { 2, 3, 4 };
static const gint64 steps[] = { 24, 4, 1 };
static const gint64 flat[] = { 2, 12 };
static const gint64 repeated[] = { 5, 2, 3, 4 };
static const int axes[] = { 2, 0, 1 };
static const MtlSlice slices[] = {
  MTL_SLICE_RANGE (0, 2),
  MTL_SLICE_AT (1),
  MTL_SLICE_EVERY (2),
};

/* The results are stored where the compiler cannot leave them out. */
static MtlLayout result;
static volatile gint64 sink;

static void
value_new (gpointer data)
{
  mtl_layout_new (dims, steps, 3, 0, 32, &result, NULL);
}

static void
value_new_dense (gpointer data)
{
  mtl_layout_new_dense (dims, 3, MTL_ORDER_C, 32, &result, NULL);
}

static void
value_permute (gpointer data)
{
  mtl_layout_permute (data, axes, 3, &result, NULL);
}

static void
value_reshape (gpointer data)
{
  mtl_layout_reshape (data, flat, 2, &result, NULL);
}

static void
value_slice (gpointer data)
{
  mtl_layout_slice (data, slices, 3, &result, NULL);
}

static void
value_broadcast (gpointer data)
{
  mtl_layout_broadcast_to (data, repeated, 4, &result, NULL);
}

static void
value_repack (gpointer data)
{
  mtl_layout_repack (data, 64, -1, &result, NULL);
}

static void
value_is_unique (gpointer data)
{
  sink = mtl_layout_is_unique (data);
}

static void
value_offset_bounds (gpointer data)
{
  gint64 min, max;

  mtl_layout_get_offset_bounds (data, &min, &max);
  sink = min + max;
}

static void
value_is_contiguous (gpointer data)
{
  sink = mtl_layout_is_contiguous (data, MTL_ORDER_C);
}

static void
value_hash (gpointer data)
{
  sink = mtl_layout_hash (data);
}

/* Its own neighbour, beside it. */
static void
value_overlaps (gpointer data)
{
  sink = mtl_layout_overlaps (data, data, 16);
}

static void
object_new (gpointer data)
{
  g_object_unref (mtl_strided_layout_new (dims, 3, steps, 3, 32, NULL));
}

static void
object_new_and_release (gpointer data)
{
  mtl_strided_layout_release (mtl_strided_layout_new (dims, 3, steps, 3, 32, NULL), TRUE);
}

static void
object_permute (gpointer data)
{
  g_object_unref (mtl_strided_layout_permute (data, axes, 3, NULL));
}

static void
object_reshape (gpointer data)
{
  g_object_unref (mtl_strided_layout_reshape (data, flat, 2, NULL));
}

static void
object_slice (gpointer data)
{
  g_object_unref (mtl_strided_layout_slice (data, slices, 3, NULL));
}

static void
object_slice_string (gpointer data)
{
  g_object_unref (mtl_strided_layout_slice_string (data, "0:2, 1, ::2", NULL));
}

static void
object_is_unique (gpointer data)
{
  sink = mtl_strided_layout_is_unique (data);
}

int
main (void)
{
  const gint64 woven_dims[] = { 3, 3, 4 };
  const gint64 woven_steps[] = { 13, 11, 7 };
  g_auto (MtlLayout) layout = MTL_LAYOUT_INIT;
  g_auto (MtlLayout) woven = MTL_LAYOUT_INIT;
  g_autoptr (MtlStridedLayout) object = mtl_strided_layout_new (dims, 3, steps, 3, 32, NULL);
  Case cases[] = {
    { "construct", value_new, &layout },
    { "construct, dense", value_new_dense, &layout },
    { "permute", value_permute, &layout },
    { "reshape", value_reshape, &layout },
    { "slice", value_slice, &layout },
    { "broadcast", value_broadcast, &layout },
    { "repack", value_repack, &layout },
    { "is_unique", value_is_unique, &layout },
    { "offset bounds", value_offset_bounds, &layout },
    { "is_contiguous", value_is_contiguous, &layout },
    { "hash", value_hash, &layout },
    { "is_unique, interleaved", value_is_unique, &woven },
    { "overlaps, interleaved", value_overlaps, &layout },
    { "object: new + unref", object_new, object },
    { "object: new + release", object_new_and_release, object },
    { "object: permute + unref", object_permute, object },
    { "object: reshape + unref", object_reshape, object },
    { "object: slice + unref", object_slice, object },
    { "object: slice_string + unref", object_slice_string, object },
    { "object: is_unique", object_is_unique, object },
  };

  if (!mtl_layout_new (dims, steps, 3, 0, 32, &layout, NULL)
      || !mtl_layout_new (woven_dims, woven_steps, 3, 0, 32, &woven, NULL))
    return 1;

  measure (cases, G_N_ELEMENTS (cases));
  return 0;
}
