/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-copy-plan-axes-private.h"

/* A run of at least this many bytes is divided by itself, and streamed page by page. */
#define LONG_RUN (64 * 1024)

/* Rows of at least this many bytes are streamed one by one. Shorter rows share lines, unless they
 * are whole ones. */
#define LONG_ROW 256

/* Kernels for channels are worth it from so many bytes, and pixels of a row. */
#define LEAST_PICTURE 16384
#define LEAST_PIXELS 32

/* Rows of so many bytes of them are streamed, interleaved or of a plane. */
#define LEAST_STREAMED_PIXELS 2048
#define LEAST_STREAMED_PLANE 512

/* A job is divided at multiples of this many elements: whole tiles of all kernels,
 * and whole lines. */
#define GRAIN 64

/* Until the kernel is chosen, all axes are outer ones. */
static MtlAxis *
get_axis (MtlCopyPlan *self,
          guint        from_last)
{
  return &self->axes[self->n_outer - 1 - from_last];
}

/* Takes the axes with more than one element, in their order. If the destination does
 * not move along an axis, only the last element remains. The steps do not overflow,
 * since memory cannot be larger. */
static gboolean
take_axes (MtlCopyPlan          *self,
           const MtlCopyRequest *request)
{
  self->n_outer = 0;
  self->job.dest = request->dest;
  self->job.source = request->source;
  self->n_bytes = request->dest_size;
  for (gsize i = 0; i < request->n_dims; i++)
    {
      gsize extent = request->shape[i];
      gint64 dest_stride = request->dest_strides[i];
      gint64 source_stride = request->source_strides != NULL ? request->source_strides[i] : 0;
      MtlAxis axis;

      if (extent == 0)
        return FALSE;
      if (extent == 1)
        continue;

      axis = mtl_axis (extent, (gssize) ((gsize) dest_stride * request->dest_size),
                       (gssize) ((gsize) source_stride * request->source_size));
      if (axis.dest_step == 0)
        {
          self->job.source += (gssize) (extent - 1) * axis.source_step;
          continue;
        }

      self->n_bytes = mtl_copy_multiply_up_to_max (self->n_bytes, extent);
      self->axes[self->n_outer++] = axis;
    }

  return TRUE;
}

/* Makes the last axes those of the kernel. If there are too few, adds axes of one
 * element before them. */
static void
choose (MtlCopyPlan   *self,
        MtlCopyKernel  kernel,
        guint          n_inner)
{
  self->kernel = kernel;
  self->n_inner = n_inner;
  while (self->n_outer < n_inner)
    {
      self->axes[self->n_outer] = mtl_axis (1, 0, 0);
      mtl_axes_move (self->axes, self->n_outer++, 0);
    }
  self->n_outer -= n_inner;
}

static gboolean
is_on_lines (const MtlCopyPlan *self)
{
  gsize bits = (guintptr) self->job.dest | self->job.item_size;

  for (guint i = 0; i < self->n_outer; i++)
    bits |= (gsize) self->axes[i].dest_step;

  return bits % MTL_COPY_LINE == 0;
}

/* The axis along which the source moves least, or -1 if it does not move. */
static int
find_source_axis (const MtlCopyPlan *self)
{
  gsize least = G_MAXSIZE;
  int found = -1;

  for (int i = (int) self->n_outer - 1; i >= 0; i--)
    {
      gsize step = mtl_copy_magnitude (self->axes[i].source_step);

      if (step != 0 && step < least)
        {
          found = i;
          least = step;
        }
    }

  return found;
}

/* Rows whose bytes are contiguous on both sides, if they are whole lines, long, or
 * have no better kernel. */
static gboolean
is_for_rows (const MtlCopyPlan *self,
             int                source_axis)
{
  gsize size = self->job.item_size;

  return size > 16
         && (size >= LONG_ROW || size % MTL_COPY_LINE == 0 || source_axis < 0
             || source_axis == (int) self->n_outer - 1);
}

/* Two to four interleaved channels in the destination, from planes. */
static gboolean
choose_interleave (MtlCopyPlan          *self,
                   const MtlCopyKernels *kernels)
{
  gssize size = self->job.item_size;
  const MtlAxis *channels = get_axis (self, 0);

  if (kernels->interleave == NULL || !mtl_copy_is_power_up_to_16 (size) || size > 8
      || self->n_outer < 2 || channels->dest_step != size || channels->extent > 4)
    return FALSE;

  for (guint i = self->n_outer - 1; i-- > 0;)
    if (self->axes[i].source_step == size && self->axes[i].extent >= LEAST_PIXELS
        && self->axes[i].dest_step == size * (gssize) channels->extent)
      {
        if (self->axes[i].extent * channels->extent * (gsize) size < LEAST_STREAMED_PIXELS)
          mtl_copy_do_not_stream (self);
        mtl_axes_move (self->axes, i, self->n_outer - 2);
        choose (self, kernels->interleave, 2);
        self->keeps_last_axis = TRUE;
        return TRUE;
      }

  return FALSE;
}

/* All or some of two to four interleaved channels in the source, to planes. */
static gboolean
choose_deinterleave (MtlCopyPlan          *self,
                     const MtlCopyKernels *kernels,
                     guint                 source_axis)
{
  gssize size = self->job.item_size;
  const MtlAxis *channels = &self->axes[source_axis], *pixels = get_axis (self, 0);
  gssize n_channels = pixels->source_step / size;

  if (kernels->deinterleave == NULL || !mtl_copy_is_power_up_to_16 (size) || size > 8
      || pixels->dest_step != size || channels->source_step != size
      || pixels->source_step != n_channels * size || n_channels < 2 || n_channels > 4
      || channels->extent > (gsize) n_channels)
    return FALSE;

  if (pixels->extent * (gsize) size < LEAST_STREAMED_PLANE)
    mtl_copy_do_not_stream (self);
  mtl_axes_move (self->axes, source_axis, self->n_outer - 2);
  choose (self, kernels->deinterleave, 2);
  return TRUE;
}

/* Pixels of three or four bytes with reversed channels. */
static gboolean
choose_swap (MtlCopyPlan          *self,
             const MtlCopyKernels *kernels)
{
  const MtlAxis *channels = get_axis (self, 0);
  gssize n = channels->extent;

  if (kernels->swap_channels == NULL || self->job.item_size != 1 || self->n_outer < 2
      || (n != 3 && n != 4) || channels->dest_step != 1 || channels->source_step != -1
      || get_axis (self, 1)->dest_step != n || get_axis (self, 1)->source_step != n)
    return FALSE;

  choose (self, kernels->swap_channels, 2);
  self->keeps_last_axis = TRUE;
  return TRUE;
}

static void
choose_kernel (MtlCopyPlan          *self,
               const MtlCopyKernels *kernels)
{
  gsize size = self->job.item_size;
  MtlAxis *last = get_axis (self, 0);
  int source_axis;

  if (last->dest_step == (gssize) size && last->source_step == (gssize) size)
    {
      if (self->n_outer == 1 || last->extent * size >= LONG_RUN)
        {
          *last = mtl_axis (last->extent * size, 1, 1);
          self->job.item_size = 1;
          choose (self, kernels->contiguous, 1);
          return;
        }

      /* Make the run one element. */
      self->job.item_size = size = size * last->extent;
      self->n_outer--;
      last = get_axis (self, 0);
    }

  source_axis = find_source_axis (self);
  if (mtl_copy_plan_is_broadcast (self))
    {
      self->goes_by_rows = TRUE;
      choose (self, kernels->broadcast, 2);
    }
  else if (is_for_rows (self, source_axis))
    {
      gboolean is_of_lines = is_on_lines (self);

      if (size < LONG_ROW && !is_of_lines)
        mtl_copy_do_not_stream (self);
      if (self->job.streams)
        mtl_axes_sort (self->axes, self->n_outer, 1);
      choose (self, kernels->rows, 1);
    }
  else if (source_axis >= 0 && source_axis != (int) self->n_outer - 1
           && choose_deinterleave (self, kernels, source_axis))
    return;
  else
    {
      self->goes_by_rows = TRUE;
      choose (self, kernels->strided, 2);
    }
}

/* A destination beyond a core's own caches is written in order, in rows of so many elements, if
 * that does not read the source again and again. What is repeated reads little. */
#define LEAST_IN_ORDER (2 * 1024 * 1024)
#define LEAST_ROW 8

static void
choose_conversion (MtlCopyPlan          *self,
                   const MtlCopyKernels *kernels)
{
  int source_axis = find_source_axis (self);
  gboolean is_scattered = get_axis (self, 0)->source_step != (gssize) self->job.source_size;
  gboolean is_broadcast = mtl_copy_plan_is_broadcast (self);
  gboolean is_in_order = is_broadcast
                         || (self->n_bytes >= LEAST_IN_ORDER
                             && get_axis (self, 0)->extent >= LEAST_ROW
                             && mtl_copy_plan_is_source_near (self));

  if (!is_broadcast && !mtl_copy_reads_while_streaming
      && (mtl_copy_plan_narrows (self) || (self->job.converts_cheaply && is_scattered)))
    mtl_copy_do_not_stream (self);
  self->goes_by_rows = source_axis < 0 || source_axis == (int) self->n_outer - 1
                       || is_in_order;
  if (!self->goes_by_rows)
    mtl_axes_move (self->axes, source_axis, self->n_outer - 2);
  choose (self, kernels->convert, 2);
}

static gsize
count_jobs (const MtlCopyPlan *self)
{
  gsize n = 1;

  for (guint i = 0; i < self->n_outer; i++)
    n *= self->axes[i].extent;

  return n;
}

/* Conversions are cut between rows of so many bytes, and of no more than a quarter of a slice:
 * parts of rows would be streamed less. */
#define LEAST_WHOLE_ROW 2048

static gboolean
keeps_rows_whole (const MtlCopyPlan *self,
                  gsize              row_size)
{
  return self->job.convert != NULL && self->goes_by_rows && self->n_inner == 2
         && row_size >= LEAST_WHOLE_ROW && row_size <= mtl_copy_slice_size / 4;
}

/* All pieces of a job are alike but the first, which ends at the end of a line of the
 * destination, so that the others begin at one. */
static void
cut_job (MtlCopyPlan *self,
         gsize        job_size)
{
  MtlAxis *axes = &self->axes[self->n_outer];
  guint n_divisible = self->keeps_last_axis ? self->n_inner - 1 : self->n_inner;
  guint longest = n_divisible - 1;
  gboolean is_of_rows = keeps_rows_whole (self, job_size / axes[0].extent);
  gsize grain = is_of_rows ? 1 : GRAIN, wanted, misaligned;

  for (guint i = 0; i < n_divisible; i++)
    if (axes[i].extent > axes[longest].extent)
      longest = i;

  /* In the direction of the kernel: between rows, or across the rows of the
   * destination. */
  if (is_of_rows || (self->goes_by_rows && axes[0].extent >= 4 * GRAIN))
    longest = 0;
  else if (axes[n_divisible - 1].extent >= 4 * GRAIN)
    longest = n_divisible - 1;

  /* Large elements are rows: divide at as many of them as fill whole lines. */
  if (self->job.item_size > 16)
    grain = GRAIN / MIN (self->job.item_size & -self->job.item_size, GRAIN);

  wanted = mtl_copy_slice_size / MAX (job_size / axes[longest].extent, 1);
  misaligned = (guintptr) self->job.dest % GRAIN;
  self->split_axis = longest;
  self->piece = MAX ((wanted + grain - 1) / grain, 1) * grain;
  self->lead = axes[longest].dest_step == (gssize) self->job.item_size
               && misaligned % self->job.item_size == 0
                 ? misaligned / self->job.item_size : 0;
  self->n_pieces = (axes[longest].extent + self->lead + self->piece - 1) / self->piece;
}

static void
cut_into_slices (MtlCopyPlan *self)
{
  gsize job_size;

  self->n_jobs = count_jobs (self);
  self->jobs_per_slice = 1;
  self->n_pieces = 1;
  if (self->n_bytes <= mtl_copy_slice_size)
    {
      self->jobs_per_slice = self->n_jobs;
      return;
    }

  job_size = MAX (self->n_bytes / self->n_jobs, 1);
  if (job_size >= 2 * mtl_copy_slice_size)
    cut_job (self, job_size);
  else
    self->jobs_per_slice = MAX (mtl_copy_slice_size / job_size, 1);
}

/* In C order, for a destination whose elements may overlap: the last one remains. */
static void
keep_order (MtlCopyPlan          *self,
            const MtlCopyRequest *request,
            const MtlCopyKernels *kernels)
{
  MtlAxis *last;

  take_axes (self, request);
  self->n_outer = mtl_axes_merge (self->axes, self->n_outer);
  last = get_axis (self, 0);
  last[1] = last[0];
  last[0] = mtl_axis (1, 0, 0);
  self->n_outer++;
  choose (self, request->convert != NULL ? kernels->convert : kernels->strided, 2);
  self->in_order = TRUE;
  cut_into_slices (self);
}

/* The bytes of the destination and of the part of memory that the source is in. */
static gsize
count_bytes (const MtlCopyPlan *self)
{
  gsize n_bytes = self->n_bytes + self->job.source_size;

  for (guint i = 0; i < self->n_outer; i++)
    n_bytes += (self->axes[i].extent - 1) * mtl_copy_magnitude (self->axes[i].source_step);

  return n_bytes;
}

static gboolean
is_contiguous (const MtlCopyPlan *self)
{
  gssize size = self->job.item_size;

  return self->job.convert == NULL && self->n_outer == 1 && self->axes[0].dest_step == size
         && self->axes[0].source_step == size;
}

/* What is repeated leaves the cache to what is written, and what is contiguous on both
 * sides is read ahead best. */
static gboolean
is_streamed (const MtlCopyPlan *self,
             gsize              threshold)
{
  gsize n_bytes = count_bytes (self);

  if (!self->is_large || n_bytes < threshold)
    return FALSE;
  if (n_bytes - self->n_bytes < self->n_bytes / 8)
    return n_bytes / 2 >= threshold;

  return !is_contiguous (self) || n_bytes / 5 >= threshold / 4;
}

static void
init (MtlCopyPlan          *self,
      const MtlCopyRequest *request,
      const MtlCopyMachine *machine)
{
  const MtlCopyKernels *kernels = machine->kernels;
  gsize threshold = mtl_copy_streaming_threshold > 0 ? mtl_copy_streaming_threshold
                                                     : machine->streaming_threshold;
  gint64 offsets[2] = { 0 };

  self->job.item_size = request->dest_size;
  self->job.streams = FALSE;
  self->job.convert = request->convert;
  self->job.convert_data = request->convert_data;
  self->job.converts_scattered = request->converts_scattered;
  self->job.converts_cheaply = request->converts_cheaply;
  self->job.converts_at_once = request->converts_at_once;
  self->job.source_size = request->source_size;
  self->fence = NULL;
  self->in_order = FALSE;
  self->goes_by_rows = FALSE;
  self->keeps_last_axis = FALSE;
  self->boxes = NULL;
  self->n_jobs = 0;
  if (!take_axes (self, request))
    {
      self->n_bytes = 0;
      return;
    }

  mtl_axes_sort (self->axes, self->n_outer, 0);
  if (!mtl_axes_are_nested (self->axes, self->n_outer, request->dest_size))
    {
      keep_order (self, request, kernels);
      return;
    }

  mtl_axes_flip (self->axes, self->n_outer, offsets);
  self->job.dest += offsets[0];
  self->job.source += offsets[1];
  self->n_outer = mtl_axes_merge (self->axes, self->n_outer);

  self->is_large = self->n_bytes / 2 >= threshold / 5;
  if (is_streamed (self, threshold))
    mtl_copy_stream (self, kernels);
  if (self->n_outer == 0)
    self->axes[self->n_outer++] = mtl_axis (1, request->dest_size,
                                               request->source_size);
  if (request->convert == NULL && self->n_bytes >= LEAST_PICTURE
      && (choose_interleave (self, kernels) || choose_swap (self, kernels)))
    {
      cut_into_slices (self);
      return;
    }
  if (mtl_copy_plan_choose_boxes (self, kernels))
    return;
  if (request->convert != NULL)
    choose_conversion (self, kernels);
  else
    choose_kernel (self, kernels);
  cut_into_slices (self);
}

void
mtl_copy_plan_init (MtlCopyPlan          *self,
                    const MtlCopyRequest *request)
{
  const MtlCopyMachine *machine = mtl_copy_machine_get ();

  init (self, request, machine);
  if (G_UNLIKELY (machine->is_verbose))
    {
      g_autofree char *text = mtl_copy_plan_describe (self);

      g_printerr ("mtldl: %s\n", text);
    }
}

/* Less is not worth a second thread, however far apart the elements are. */
#define FEW_BYTES 32768

/* Picoseconds: of an element that is moved or converted by itself, and of one in a row that is read
 * in order, or backwards. */
#define ELEMENT_COST 300
#define ROW_COST 60

static gsize
get_cost_in_boxes (const MtlCopyPlan    *self,
                   const MtlCopyKernels *kernels)
{
  gboolean has_rows = self->n_axes > 0
                      && mtl_copy_magnitude (self->axes[0].source_step) == self->unit_source_size;

  if (self->boxes == kernels->tiles)
    return self->job.convert == NULL ? mtl_copy_get_transposing_cost (self->job.item_size)
                                     : ELEMENT_COST;

  return (has_rows ? ROW_COST : ELEMENT_COST) / self->unit;
}

static gsize
get_cost_of_unit (const MtlCopyPlan *self)
{
  const MtlCopyKernels *kernels = mtl_copy_machine_get ()->kernels;
  const MtlAxis *last = &self->axes[self->n_outer + self->n_inner - 1];

  if (self->boxes != NULL)
    return get_cost_in_boxes (self, kernels);
  if (self->kernel == kernels->strided)
    return ELEMENT_COST;
  if (self->kernel == kernels->convert)
    return last->dest_step == (gssize) self->job.item_size
               && mtl_copy_magnitude (last->source_step) <= self->job.source_size
             ? ROW_COST : ELEMENT_COST;

  return 0;
}

gsize
mtl_copy_plan_get_duration (const MtlCopyPlan *self)
{
  gsize of_bytes = self->n_bytes / 64, n_units;

  if (self->n_bytes < FEW_BYTES)
    return of_bytes;

  n_units = self->n_bytes / self->job.item_size;
  return MAX (n_units / 1000 * get_cost_of_unit (self), of_bytes);
}
