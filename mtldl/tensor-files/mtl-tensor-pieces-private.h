/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-threads-private.h"

G_BEGIN_DECLS

/* No number is split between two pieces. */
#define MTL_PIECE_ALIGNMENT 16

/* Processes the bytes from begin to end of the range at index. */
typedef gboolean                  (* MtlPieceFunc) (gpointer             data,
                                   gsize                index,
                                   guint64              begin,
                                   guint64              end,
                                   const MtlMonitor    *monitor,
                                   GError             **error);

/* Ranges of bytes. Several threads process them in order, in pieces or each as a
 * whole. */
typedef struct
{
  const guint64 *ends; /* the end of each range, as if they were contiguous */
  gsize n_ranges;
  gboolean whole;
  MtlPieceFunc func;
  gpointer data;
} MtlPieces;

/* The progress of one call, in bytes. */
typedef struct
{
  const MtlMonitor *monitor; /* or NULL */
  guint64 total;
  guint64 done;
} MtlPieceCount;

/* If there are several errors, returns the first in the order of the bytes. */
gboolean mtl_pieces_run (const MtlPieces  *self,
                         MtlPieceCount    *count,
                         GError          **error);

G_END_DECLS
