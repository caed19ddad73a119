/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-threads-private.h"

G_BEGIN_DECLS

/* No number of an element lies in two pieces. */
#define MTL_PIECE_ALIGNMENT 16

/* Does the bytes from begin to end of one of them. */
typedef gboolean                  (* MtlPieceFunc) (gpointer             data,
                                   gsize                index,
                                   guint64              begin,
                                   guint64              end,
                                   const MtlMonitor    *monitor,
                                   GError             **error);

/* Ranges of bytes, which are done in pieces, or each as a whole: in that order, by
 * several threads. */
typedef struct
{
  const guint64 *ends; /* where each would end if they lay one after the other */
  gsize n_ranges;
  gboolean whole;
  MtlPieceFunc func;
  gpointer data;
} MtlPieces;

/* How many bytes are done of all that one call does. */
typedef struct
{
  const MtlMonitor *monitor; /* or NULL */
  guint64 total;
  guint64 done;
} MtlPieceCount;

/* Of several errors it is the first one in the order of the bytes. */
gboolean mtl_pieces_run (const MtlPieces  *self,
                         MtlPieceCount    *count,
                         GError          **error);

G_END_DECLS
