/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Steps are in bytes and may be negative. */
typedef struct
{
  gsize extent;
  gssize dest_step;
  gssize source_step;
} MtlCopyAxis;

/* Converts n elements, of the sizes in the request. Neither side is aligned. */
typedef void                    (* MtlCopyConvert) (guint8       *dest,
                                 const guint8 *source,
                                 gsize         n,
                                 gssize        dest_step,
                                 gssize        source_step,
                                 gconstpointer data);

#define MTL_COPY_MAX_INNER 3

/* The work of one call of a kernel. The last of its axes has the smallest step in the
 * destination. */
typedef struct
{
  guint8 *dest;
  const guint8 *source;
  const guint8 *next_source; /* that of the next similar job, or NULL */
  const MtlCopyAxis *axes;
  gsize item_size; /* in the destination, in bytes */
  gboolean streams; /* bypasses the caches */
  MtlCopyConvert convert;
  gconstpointer convert_data;
  gsize source_size; /* of an element that is converted, in bytes */
} MtlCopyJob;

typedef void (* MtlCopyKernel) (const MtlCopyJob *job);

/* Compiled once for each instruction set. NULL if it needs vectors and there are
 * none: strided or blocked then does the job. Each kernel is described in its file.
 * In brackets are its axes. */
typedef struct
{
  const char *name;
  MtlCopyKernel contiguous;     /* [bytes] */
  MtlCopyKernel rows;           /* [rows], of item_size bytes each */
  MtlCopyKernel broadcast;      /* [rows, the same element] */
  MtlCopyKernel strided;        /* [any, any] */
  MtlCopyKernel blocked;        /* [near in the source, near in the destination] */
  MtlCopyKernel convert;        /* [any, any] */
  MtlCopyKernel transpose;      /* [dense in the source, dense in the destination] */
  MtlCopyKernel transpose_runs; /* [repeated, and the two of transpose] */
  MtlCopyKernel interleave;     /* [pixels, channels] */
  MtlCopyKernel deinterleave;   /* [channels, pixels] */
  MtlCopyKernel swap_channels;  /* [pixels, reversed channels] */
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
  gsize streaming_threshold; /* bytes from which streaming is faster */
} MtlCopyMachine;

const MtlCopyMachine *mtl_copy_machine_get (void);

G_END_DECLS
