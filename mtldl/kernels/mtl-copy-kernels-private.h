/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Steps in bytes, of either sign. */
typedef struct
{
  gsize extent;
  gssize dest_step;
  gssize source_step;
} MtlCopyAxis;

/* Converts n elements, of the sizes that the request names. The data of neither
 * is aligned. */
typedef void                    (* MtlCopyConvert) (guint8       *dest,
                                 const guint8 *source,
                                 gsize         n,
                                 gssize        dest_step,
                                 gssize        source_step,
                                 gconstpointer data);

#define MTL_COPY_MAX_INNER 3

/* What a kernel does in one call: the last of its axes has the smallest step in
 * the destination. */
typedef struct
{
  guint8 *dest;
  const guint8 *source;
  const guint8 *next_source; /* of the next job alike, or NULL */
  const MtlCopyAxis *axes;
  gsize item_size; /* in the destination */
  gboolean streams; /* around the caches */
  MtlCopyConvert convert;
  gconstpointer convert_data;
} MtlCopyJob;

typedef void (* MtlCopyKernel) (const MtlCopyJob *job);

/* Compiled once for each instruction set. NULL where an element of C has to do,
 * for want of vectors: then strided or blocked does the job. Each is described
 * where it is written; in brackets its axes. */
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
  MtlCopyKernel transpose_runs; /* [repeated, and those two] */
  MtlCopyKernel interleave;     /* [pixels, channels] */
  MtlCopyKernel deinterleave;   /* [channels, pixels] */
  MtlCopyKernel swap_channels;  /* [pixels, channels backwards] */
  void (* fence) (void);        /* after what was streamed */
} MtlCopyKernels;

/* mtl-copy-kernels.c, once for each. */
extern const MtlCopyKernels mtl_copy_kernels_plain;
extern const MtlCopyKernels mtl_copy_kernels_baseline;
extern const MtlCopyKernels mtl_copy_kernels_sse4;
extern const MtlCopyKernels mtl_copy_kernels_avx2;
extern const MtlCopyKernels mtl_copy_kernels_avx512;

typedef struct
{
  const MtlCopyKernels *kernels; /* the best, or those that the environment names */
  gsize streaming_threshold; /* bytes from which on it pays to go around the caches */
} MtlCopyMachine;

const MtlCopyMachine *mtl_copy_machine_get (void);

G_END_DECLS
