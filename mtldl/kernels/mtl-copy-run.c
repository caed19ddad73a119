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
  guint64 position[MTL_AXES_MAX];
  gint64 offsets[2];
  MtlCopyJob job;

  init_job (self, &job);
  mtl_axes_go_to (self->axes, self->n_outer, first, position, offsets);
  while (TRUE)
    {
      job.dest = self->job.dest + offsets[0];
      job.source = self->job.source + offsets[1];
      self->kernel (&job);
      if (--n == 0)
        return;

      mtl_axes_go_on (self->axes, self->n_outer, position, offsets);
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
  MtlAxis axes[MTL_COPY_MAX_INNER], *axis;
  guint64 position[MTL_AXES_MAX];
  gint64 offsets[2];

  init_job (self, &job);
  mtl_axes_go_to (self->axes, self->n_outer, which, position, offsets);
  memcpy (axes, job.axes, self->n_inner * sizeof axes[0]);
  job.axes = axes;
  axis = &axes[self->split_axis];
  axis->extent = piece_begins (self, end) - first;
  job.dest = self->job.dest + offsets[0] + (gssize) first * axis->dest_step;
  job.source = self->job.source + offsets[1] + (gssize) first * axis->source_step;
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
