/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-fork-private.h"
#include "mtl-tensor-pieces-private.h"

/* Larger pieces are no faster. One takes a few milliseconds. */
#define PIECE_SIZE (8 * 1024 * 1024)

typedef struct
{
  const MtlPieces *pieces;
  MtlPieceCount *count;
  MtlMonitor monitor;

  MtlForkLock lock; /* protects the fields below, and the count */
  GError *error;
  guint64 error_begin; /* no piece after this is started */
} Run;

static guint64
get_begin (const MtlPieces *self,
           gsize            index)
{
  return index > 0 ? self->ends[index - 1] : 0;
}

static gboolean
is_wanted (Run     *run,
           guint64  begin)
{
  gboolean wanted;

  mtl_fork_lock (&run->lock);
  wanted = begin < run->error_begin;
  mtl_fork_unlock (&run->lock);
  return wanted;
}

static void
do_piece (Run     *run,
          gsize    index,
          guint64  begin,
          guint64  end)
{
  const MtlPieces *pieces = run->pieces;
  guint64 place = get_begin (pieces, index) + begin;
  g_autoptr (GError) error = NULL;
  gboolean done;

  if (!is_wanted (run, place))
    return;

  done = pieces->func (pieces->data, index, begin, end, &run->monitor, &error);

  mtl_fork_lock (&run->lock);
  if (done)
    run->count->done += end - begin;
  else if (place < run->error_begin)
    {
      GError *replaced = run->error;

      /* The error is valid at all times, as the process may be forked here. */
      run->error = g_steal_pointer (&error);
      run->error_begin = place;
      g_clear_error (&replaced);
    }
  mtl_fork_unlock (&run->lock);
}

static void
do_whole (gpointer data,
          gsize    begin,
          gsize    end)
{
  Run *run = data;

  for (gsize i = begin; i < end; i++)
    do_piece (run, i, 0, run->pieces->ends[i] - get_begin (run->pieces, i));
}

/* The range that contains that byte. */
static gsize
find_range (const MtlPieces *self,
            guint64          at)
{
  gsize low = 0, high = self->n_ranges;

  while (low < high)
    {
      gsize middle = low + (high - low) / 2;

      if (self->ends[middle] <= at)
        low = middle + 1;
      else
        high = middle;
    }

  return low;
}

static guint64
cut (guint64 offset)
{
  return offset / MTL_PIECE_ALIGNMENT * MTL_PIECE_ALIGNMENT;
}

static void
do_pieces (gpointer data,
           gsize    begin,
           gsize    end)
{
  Run *run = data;
  const MtlPieces *pieces = run->pieces;
  guint64 first_byte = (guint64) begin * PIECE_SIZE, end_byte = (guint64) end * PIECE_SIZE;

  for (gsize i = find_range (pieces, first_byte);
       i < pieces->n_ranges && get_begin (pieces, i) < end_byte; i++)
    {
      guint64 range_begin = get_begin (pieces, i), range_end = pieces->ends[i];
      guint64 piece_begin = first_byte > range_begin ? cut (first_byte - range_begin) : 0;
      guint64 piece_end = end_byte < range_end ? cut (end_byte - range_begin)
                                               : range_end - range_begin;

      if (piece_begin < piece_end)
        do_piece (run, i, piece_begin, piece_end);
    }
}

static void
report (guint64  done,
        guint64  total,
        gpointer data)
{
  Run *run = data;
  const MtlMonitor *outer = run->count->monitor;

  mtl_fork_lock (&run->lock);
  done = run->count->done;
  mtl_fork_unlock (&run->lock);
  outer->report (done, run->count->total, outer->data);
}

gboolean
mtl_pieces_run (const MtlPieces  *self,
                MtlPieceCount    *count,
                GError          **error)
{
  guint64 n_bytes = self->n_ranges > 0 ? self->ends[self->n_ranges - 1] : 0;
  Run run = { .pieces = self, .count = count, .error_begin = G_MAXUINT64 };
  const MtlThreadsWork work = {
    .func = self->whole ? do_whole : do_pieces,
    .data = &run,
    .n_items = self->whole ? self->n_ranges : (n_bytes + PIECE_SIZE - 1) / PIECE_SIZE,
    .n_bytes = MIN (n_bytes, G_MAXSIZE),
  };
  gboolean done;

  if (count->monitor != NULL)
    {
      run.monitor.cancellable = count->monitor->cancellable;
      /* Only the headers of empty tensors are read. */
      run.monitor.report = count->monitor->report != NULL && count->total > 0 ? report : NULL;
      run.monitor.data = &run;
    }

  done = mtl_threads_run (&work, count->monitor != NULL ? &run.monitor : NULL, error);
  mtl_fork_lock_clear (&run.lock);

  if (done && run.error != NULL)
    {
      g_propagate_error (error, run.error);
      return FALSE;
    }

  g_clear_error (&run.error);
  return done;
}
