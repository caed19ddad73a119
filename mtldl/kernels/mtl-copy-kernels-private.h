/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

#include "mtl-axes-private.h"

G_BEGIN_DECLS

/* Converts n elements, of the sizes in the request. Neither side is aligned. */
typedef void (* MtlCopyConvert) (guint8        *dest,
                                 const guint8  *source,
                                 gsize          n,
                                 gssize         dest_step,
                                 gssize         source_step,
                                 gconstpointer  data);

/* The sizes of cache lines and of pages, in bytes. */
#define MTL_LINE 64
#define MTL_PAGE 4096

/* The most units and bytes of a box, and axes with more than one unit. */
#define MTL_COPY_BOX_UNITS 1024
#define MTL_COPY_BOX_BYTES 16384
#define MTL_COPY_BOX_AXES 10

/* Runs of at least this many bytes are streamed one by one. */
#define MTL_COPY_STREAMED_RUN 512

/* The most items of a tile, and of one that is converted. */
#define MTL_COPY_TILE_ITEMS 4096
#define MTL_COPY_CONVERTED_ITEMS 512

/* The ways to copy, in the order of their table. */
typedef enum
{
  MTL_COPY_BYTES,
  MTL_COPY_ROWS,
  MTL_COPY_FILL,
  MTL_COPY_NTH,
  MTL_COPY_REVERSE,
  MTL_COPY_3_OF_4,
  MTL_COPY_INTERLEAVE,
  MTL_COPY_DEINTERLEAVE,
  MTL_COPY_SWAP,
  MTL_COPY_ELEMENTS,
  MTL_COPY_CONVERT,
  MTL_COPY_CONVERT_COLUMNS,
  MTL_COPY_CONVERT_FILL,
  MTL_COPY_TILES,
  MTL_COPY_BOXES,
  MTL_COPY_N_WAYS,
} MtlCopyWay;

typedef struct _MtlCopyPlan MtlCopyPlan;

/* The last two axes, of which the kernels for grids copy all elements. */
typedef struct
{
  const MtlCopyPlan *plan;
  guint8 *dest;
  const guint8 *source;
  MtlAxis rows;
  MtlAxis items;
  gboolean streams; /* the destination is whole lines, which bypass the caches */
} MtlCopyGrid;

typedef void (* MtlCopyGridFunc) (const MtlCopyGrid *grid);

/* Copies the blocks first, …, first + n - 1. */
typedef void (* MtlCopyBlocksFunc) (const MtlCopyPlan *plan,
                                    gsize              first,
                                    gsize              n);

struct _MtlCopyPlan
{
  MtlCopyWay way;
  MtlCopyBlocksFunc copy_blocks;
  MtlCopyGridFunc copy_grid; /* NULL if the way has no grids */

  guint8 *dest; /* the first elements */
  const guint8 *source;
  gsize item_size; /* in the destination, in bytes */
  gsize source_size; /* in the source, in bytes */
  MtlCopyConvert convert; /* NULL if bytes are copied */
  gconstpointer convert_data;
  gboolean converts_scattered;
  gboolean converts_cheaply;
  gboolean converts_at_once;

  MtlAxis axes[MTL_AXES_MAX]; /* with steps in bytes; the last is the innermost */
  guint64 parts[MTL_AXES_MAX]; /* the extents of a block */
  guint n_axes;
  gsize n_bytes;
  gsize n_items;
  gsize n_rows; /* along the last axis */
  gsize source_bytes; /* the part of memory that the source is in */
  gsize n_blocks;
  gsize blocks_per_slice;
  gboolean in_order;
  gboolean is_large; /* could be streamed */
  gboolean streams; /* bypasses the caches */
  void (* fence) (void); /* NULL if nothing is streamed */
  gsize line_ahead; /* bytes of the source to prefetch for each line that is streamed, or 0 */

  /* Boxes and tiles have these. Lists of axes begin with the innermost. */
  gsize unit; /* elements that are contiguous on both sides */
  gsize unit_source_size;
  guint n_inner;
  guint8 inner[MTL_COPY_BOX_AXES]; /* axes with several units in a box */
  guint n_run;
  guint8 run[MTL_COPY_BOX_AXES]; /* axes along which the destination is one run in a box */
  gboolean has_rows; /* units are moved in a loop along the last axis */
  int repeat_axis; /* along which the source does not move: a box is written several times */
  gboolean is_dense; /* the destination of a box is one run */
};

/* Compiled once for each instruction set. A way has a function for blocks or for grids, or none
 * if it needs vectors and there are none. Each kernel is described in its file. */
typedef struct
{
  const char *name;
  MtlCopyBlocksFunc copy_grids; /* copies blocks by a function for grids */
  MtlCopyBlocksFunc blocks[MTL_COPY_N_WAYS];
  MtlCopyGridFunc grids[MTL_COPY_N_WAYS];
  void (* fence) (void); /* after streaming */
} MtlCopyKernels;

/* The tables of mtl-copy-kernels.c. */
extern const MtlCopyKernels mtl_copy_kernels_plain;
extern const MtlCopyKernels mtl_copy_kernels_baseline;
extern const MtlCopyKernels mtl_copy_kernels_sse4;
extern const MtlCopyKernels mtl_copy_kernels_avx2;
extern const MtlCopyKernels mtl_copy_kernels_avx512;

static inline gboolean
mtl_copy_kernels_have (const MtlCopyKernels *self,
                       MtlCopyWay            way)
{
  return self->blocks[way] != NULL || self->grids[way] != NULL;
}

/* Returns 2, 3 or 4 if items this far apart are every second, third or fourth one, of a size that
 * vectors have, or 0. */
static inline int
mtl_copy_get_nth (gsize  size,
                  gssize step)
{
  if (size > 8 || (size & (size - 1)) != 0)
    return 0;

  for (int n = 2; n <= 4; n++)
    if (step == n * (gssize) size)
      return n;

  return 0;
}

typedef struct
{
  const MtlCopyKernels *kernels; /* the best, or those that the environment selects */
  gsize near_size; /* the size of a core's first cache, in bytes, and of its own caches */
  gsize own_size;
  gsize streaming_threshold; /* bytes, in and out, from which streaming is faster */
  gboolean is_verbose; /* prints plans */
} MtlCopyMachine;

const MtlCopyMachine *mtl_copy_machine_get (void);

/* The machine as kernels see it. Set before any kernel runs. */
extern gboolean mtl_copy_streams_pages_in_turn;
extern gboolean mtl_copy_avoids_strings; /* the instruction by which memcpy() copies long runs */
extern gboolean mtl_copy_reads_while_streaming; /* memory that was prefetched */

G_END_DECLS
