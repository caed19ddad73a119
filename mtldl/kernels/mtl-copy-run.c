/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-copy-plan-private.h"

gsize
mtl_copy_plan_get_n_bytes (const MtlCopyPlan *self)
{
  return self->n_bytes;
}

gsize
mtl_copy_plan_get_n_slices (const MtlCopyPlan *self)
{
  if (self->n_jobs == 0)
    return 0;
  if (self->n_jobs <= self->jobs_per_slice)
    return self->n_pieces;

  /* One of the two factors is 1. */
  return ((self->n_jobs - 1) / self->jobs_per_slice + 1) * self->n_pieces;
}

/* The position on the outer axes. */
typedef struct
{
  gsize position[MTL_COPY_MAX_DIMS];
  guint8 *dest;
  const guint8 *source;
} Place;

static void
go_to (const MtlCopyPlan *self,
       gsize              job,
       Place             *place)
{
  place->dest = self->job.dest;
  place->source = self->job.source;
  for (guint i = self->n_outer; i-- > 0;)
    {
      const MtlCopyAxis *axis = &self->axes[i];
      gsize index = job > 0 ? job % axis->extent : 0;

      job = job > 0 ? job / axis->extent : 0;
      place->position[i] = index;
      place->dest += (gssize) index * axis->dest_step;
      place->source += (gssize) index * axis->source_step;
    }
}

/* Moves to the next position, like an odometer. */
static void
go_on (const MtlCopyPlan *self,
       Place             *place)
{
  for (guint i = self->n_outer; i-- > 0;)
    {
      const MtlCopyAxis *axis = &self->axes[i];

      if (++place->position[i] < axis->extent)
        {
          place->dest += axis->dest_step;
          place->source += axis->source_step;
          return;
        }

      place->position[i] = 0;
      place->dest -= (gssize) (axis->extent - 1) * axis->dest_step;
      place->source -= (gssize) (axis->extent - 1) * axis->source_step;
    }
}

static void
init_job (const MtlCopyPlan *self,
          MtlCopyJob        *job)
{
  *job = self->job;
  job->axes = self->axes + self->n_outer;
}

static void
run_jobs (const MtlCopyPlan *self,
          gsize              first,
          gsize              n)
{
  MtlCopyJob job;
  Place place;

  init_job (self, &job);
  go_to (self, first, &place);
  while (TRUE)
    {
      job.dest = place.dest;
      job.source = place.source;
      self->kernel (&job);
      if (--n == 0)
        return;

      go_on (self, &place);
    }
}

/* The first piece is smaller by the lead. */
static gsize
piece_begins (const MtlCopyPlan *self,
              gsize              piece)
{
  gsize extent = self->axes[self->n_outer + self->split_axis].extent;

  if (piece == 0)
    return 0;

  return piece == self->n_pieces ? extent : piece * self->piece - self->lead;
}

static void
run_pieces (const MtlCopyPlan *self,
            gsize              which,
            gsize              begin,
            gsize              end)
{
  gsize first = piece_begins (self, begin);
  MtlCopyJob job;
  MtlCopyAxis axes[MTL_COPY_MAX_INNER], *axis;
  Place place;

  init_job (self, &job);
  go_to (self, which, &place);
  memcpy (axes, job.axes, self->n_inner * sizeof axes[0]);
  job.axes = axes;
  axis = &axes[self->split_axis];
  axis->extent = piece_begins (self, end) - first;
  job.dest = place.dest + (gssize) first * axis->dest_step;
  job.source = place.source + (gssize) first * axis->source_step;
  self->kernel (&job);
}

void
mtl_copy_plan_run (const MtlCopyPlan *self,
                   gsize              begin,
                   gsize              end)
{
  gsize n_pieces = self->n_pieces;

  if (begin >= end)
    return;

  if (self->boxes != NULL)
    {
      gsize first = begin * self->jobs_per_slice;

      self->boxes (self, first, MIN ((end - begin) * self->jobs_per_slice, self->n_jobs - first));
    }
  else if (n_pieces == 1)
    {
      gsize first = begin * self->jobs_per_slice;

      run_jobs (self, first, MIN ((end - begin) * self->jobs_per_slice, self->n_jobs - first));
    }
  else
    while (begin < end)
      {
        gsize job = begin / n_pieces;
        gsize stop = MIN (end, (job + 1) * n_pieces);

        run_pieces (self, job, begin - job * n_pieces, stop - job * n_pieces);
        begin = stop;
      }

  if (self->fence != NULL)
    self->fence ();
}
