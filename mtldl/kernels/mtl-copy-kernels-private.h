/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

#include "mtl-axes-private.h"

G_BEGIN_DECLS

/* Converts n elements, of the sizes in the request. Neither side is aligned. */
typedef void                    (* MtlCopyConvert) (guint8       *dest,
                                 const guint8 *source,
                                 gsize         n,
                                 gssize        dest_step,
                                 gssize        source_step,
                                 gconstpointer data);

#define MTL_COPY_MAX_INNER 2

/* The axes of a layout, up to 64, and one for the lanes of its elements. */
#define MTL_COPY_MAX_DIMS (MTL_LAYOUT_MAX_DIMS + 1)

/* The most units and bytes of a box, and axes with more than one unit. */
#define MTL_COPY_BOX_UNITS 1024
#define MTL_COPY_BOX_BYTES 16384
#define MTL_COPY_BOX_AXES 10

/* Runs of at least this many bytes are streamed one by one. */
#define MTL_COPY_STREAMED_RUN 512

/* Elements that are repeated fewer times are like others. */
#define MTL_COPY_LEAST_REPEATED 8

/* The most items of a tile, and of one that is converted. */
#define MTL_COPY_TILE_ITEMS 4096
#define MTL_COPY_CONVERTED_ITEMS 512

/* The work of one call of a kernel. The last of its axes has the smallest step in the
 * destination. */
typedef struct
{
  guint8 *dest;
  const guint8 *source;
  const MtlAxis *axes;
  gsize item_size; /* in the destination, in bytes */
  gboolean streams; /* bypasses the caches */
  MtlCopyConvert convert;
  gconstpointer convert_data;
  gboolean converts_scattered;
  gboolean converts_cheaply;
  gboolean converts_at_once;
  gsize source_size; /* of an element that is converted, in bytes */
} MtlCopyJob;

typedef void (* MtlCopyKernel) (const MtlCopyJob *job);

typedef struct _MtlCopyPlan MtlCopyPlan;

/* Moves the boxes first, …, first + n - 1. */
typedef void (* MtlCopyBoxesFunc) (const MtlCopyPlan *plan,
                                   gsize              first,
                                   gsize              n);

struct _MtlCopyPlan
{
  /* Outer axes first, then those of the job. Of boxes, the axis that is nearest in the
   * destination comes first. */
  MtlAxis axes[MTL_AXES_MAX]; /* with steps in bytes */
  guint n_outer;
  guint n_inner;
  MtlCopyJob job; /* the first job */
  MtlCopyKernel kernel;
  void (* fence) (void); /* NULL if nothing is streamed */

  gboolean in_order;
  gboolean goes_by_rows; /* whether the kernel does */
  gboolean keeps_last_axis; /* whether the kernel needs all of the last inner axis */
  gsize n_bytes;
  gboolean is_large; /* so that it is streamed if the source has no room beside it */
  gsize n_jobs;         /* product of the outer extents */
  gsize jobs_per_slice; /* 1 if a job has several pieces */
  gsize n_pieces;       /* per job */
  guint split_axis;     /* axis of the job that is divided into pieces */
  gsize piece;          /* extent of that axis in a piece */
  gsize lead;           /* by how much the first piece is smaller */

  /* Of boxes; the function is NULL if there are none. */
  MtlCopyBoxesFunc boxes;
  guint n_axes;
  guint n_run;
  gsize part[MTL_AXES_MAX]; /* units of a box along an axis */
  guint8 inner[MTL_COPY_BOX_AXES]; /* axes with several units in a box */
  int row_axis; /* the one along which they are moved in a loop, or -1 */
  int repeat_axis; /* along which the source does not move: a box is written several times */
  guint8 run[MTL_COPY_BOX_AXES]; /* axes along which the destination is one run in a box */
  gsize unit; /* elements that are contiguous on both sides */
  gsize unit_source_size;
  gsize line_ahead; /* bytes of the source to prefetch for each line that is streamed, or 0 */
  gboolean is_dense; /* the destination of a box is one run */
  gboolean is_contiguous; /* that of all boxes is */
};

static inline gsize
mtl_copy_plan_count_box_units (const MtlCopyPlan *self)
{
  gsize n = 1;

  for (guint i = 0; i < self->n_axes; i++)
    if ((int) i != self->repeat_axis)
      n *= self->part[i];

  return n;
}

/* Whether short rows of tiles are converted several at once: those that are contiguous in the
 * destination. */
static inline gboolean
mtl_copy_plan_joins_rows (const MtlCopyPlan *self,
                          gsize              n_items,
                          gssize             row_step)
{
  return row_step == (gssize) (n_items * self->job.item_size)
         && 2 * n_items <= MTL_COPY_CONVERTED_ITEMS;
}


/* Compiled once for each instruction set. NULL if it needs vectors and there are
 * none: strided then does the job. Each kernel is described in its file.
 * In brackets are its axes. */
typedef struct
{
  const char *name;
  MtlCopyKernel contiguous;     /* [bytes] */
  MtlCopyKernel rows;           /* [rows], of item_size bytes each */
  MtlCopyKernel broadcast;      /* [rows, the same element] */
  MtlCopyKernel strided;        /* [any, any] */
  MtlCopyKernel convert;        /* [any, any] */
  MtlCopyKernel interleave;     /* [pixels, channels] */
  MtlCopyKernel deinterleave;   /* [channels, pixels] */
  MtlCopyKernel swap_channels;  /* [pixels, reversed channels] */
  MtlCopyBoxesFunc boxes;
  MtlCopyBoxesFunc tiles;
  void (* fence) (void);        /* after streaming */
} MtlCopyKernels;

/* From mtl-copy-kernels.c, once for each set. */
extern const MtlCopyKernels mtl_copy_kernels_plain;
extern const MtlCopyKernels mtl_copy_kernels_baseline;
extern const MtlCopyKernels mtl_copy_kernels_sse4;
extern const MtlCopyKernels mtl_copy_kernels_avx2;
extern const MtlCopyKernels mtl_copy_kernels_avx512;

typedef struct
{
  const MtlCopyKernels *kernels; /* the best, or those that the environment selects */
  gsize streaming_threshold; /* bytes, in and out, from which streaming is faster */
  gboolean is_verbose; /* prints plans */
} MtlCopyMachine;

const MtlCopyMachine *mtl_copy_machine_get (void);

/* Of the machine, too, for kernels, which the machine's description refers to. Set before any
 * kernel runs. */
extern gboolean mtl_copy_streams_pages_in_turn;
extern gboolean mtl_copy_avoids_strings; /* the instruction by which memcpy() copies long runs */
extern gboolean mtl_copy_reads_while_streaming; /* what was prefetched */

G_END_DECLS
