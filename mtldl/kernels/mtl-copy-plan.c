/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-copy-ways-private.h"

/* Makes a plan of a request, and runs its slices. */

/* Takes the axes with more than one element, in their order. If the destination does
 * not move along an axis, only the last element remains. The steps do not overflow,
 * since memory cannot be larger. */
static gboolean
take_axes (MtlCopyPlan          *self,
           const MtlCopyRequest *request)
{
  self->n_axes = 0;
  self->dest = request->dest;
  self->source = request->source;
  self->n_items = 1;
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
          self->source += mtl_axis_get_reach (&axis, 1);
          continue;
        }

      self->n_items = mtl_copy_multiply_up_to_max (self->n_items, extent);
      self->axes[self->n_axes++] = axis;
    }

  return TRUE;
}

/* Lets the last axis be the innermost in the destination, and all its steps positive. In C
 * order if its elements may overlap: the last one remains. */
static void
order_axes (MtlCopyPlan          *self,
            const MtlCopyRequest *request)
{
  gint64 offsets[2] = { 0 };

  mtl_axes_sort (self->axes, self->n_axes, 0);
  self->in_order = !mtl_axes_are_nested (self->axes, self->n_axes, self->item_size);
  if (self->in_order)
    take_axes (self, request);
  else
    mtl_axes_flip (self->axes, self->n_axes, offsets);
  self->dest += offsets[0];
  self->source += offsets[1];
  self->n_axes = mtl_axes_merge (self->axes, self->n_axes);
  if (self->n_axes == 0)
    self->axes[self->n_axes++] = mtl_axis (1, self->item_size, self->source_size);
}

static void
measure (MtlCopyPlan *self)
{
  self->n_rows = 1;
  self->source_bytes = self->source_size;
  for (guint i = 0; i < self->n_axes; i++)
    {
      self->source_bytes += mtl_magnitude (mtl_axis_get_reach (&self->axes[i], 1));
      if (i + 1 < self->n_axes)
        self->n_rows *= self->axes[i].extent;
    }
}

/* Runs of up to this many bytes are elements, and longer ones if they are repeated one after
 * the other. */
#define LARGEST_ELEMENT 16
#define LARGEST_REPEATED 64

static void
join_runs (MtlCopyPlan *self)
{
  const MtlAxis *last = mtl_copy_get_last (self);
  gsize run = last->extent * self->item_size;

  if (self->convert != NULL || self->n_axes < 2 || run > LARGEST_REPEATED
      || last->dest_step != (gssize) self->item_size || last->source_step != last->dest_step
      || (run > LARGEST_ELEMENT
          && (last[-1].dest_step != (gssize) run || last[-1].source_step != 0)))
    return;

  self->n_items /= last->extent;
  self->item_size = self->source_size = run;
  self->n_axes--;
}

static gboolean
is_contiguous (const MtlCopyPlan *self)
{
  return self->convert == NULL && self->n_axes == 1
         && self->axes[0].dest_step == (gssize) self->item_size
         && self->axes[0].source_step == (gssize) self->item_size;
}

/* Streamed copies leave the cache to the source. Repeated elements leave it to the destination,
 * and those that are contiguous on both sides are read ahead best. */
static gboolean
could_stream (const MtlCopyPlan *self,
              gsize              threshold)
{
  gsize n_bytes = self->n_bytes + self->source_bytes;

  if (!self->is_large || self->in_order)
    return FALSE;
  if (self->source_bytes < self->n_bytes / 8)
    return n_bytes / 2 >= threshold;

  return n_bytes >= threshold && (!is_contiguous (self) || n_bytes / 5 >= threshold / 4);
}

/* Chooses a way, and prints it with the costs of all. */
static void
choose_way_and_print (MtlCopyPlan          *self,
                      const MtlCopyMachine *machine)
{
  g_autoptr (GString) costs = g_string_new (NULL);
  g_autofree char *text = NULL;

  mtl_copy_describe_ways (self, costs);
  mtl_copy_choose_way (self, machine);
  text = mtl_copy_plan_describe (self);
  g_printerr ("mtldl: %s; nanoseconds: %s\n", text, costs->str);
}

void
mtl_copy_plan_init (MtlCopyPlan          *self,
                    const MtlCopyRequest *request)
{
  const MtlCopyMachine *machine = mtl_copy_machine_get ();
  gsize threshold = mtl_copy_streaming_threshold > 0 ? mtl_copy_streaming_threshold
                                                     : machine->streaming_threshold;

  self->item_size = request->dest_size;
  self->source_size = request->source_size;
  self->convert = request->convert;
  self->convert_data = request->convert_data;
  self->converts_scattered = request->converts_scattered;
  self->converts_cheaply = request->converts_cheaply;
  self->converts_at_once = request->converts_at_once;
  self->in_order = FALSE;
  self->line_ahead = 0;
  self->n_blocks = self->n_bytes = 0;
  self->fence = NULL;
  if (!take_axes (self, request))
    return;

  self->n_bytes = mtl_copy_multiply_up_to_max (self->n_items, self->item_size);
  order_axes (self, request);
  if (!self->in_order)
    join_runs (self);
  measure (self);
  self->is_large = self->n_bytes / 2 >= threshold / 5;
  self->streams = could_stream (self, threshold);
  if (G_UNLIKELY (machine->is_verbose))
    choose_way_and_print (self, machine);
  else
    mtl_copy_choose_way (self, machine);
}

gsize
mtl_copy_plan_get_n_slices (const MtlCopyPlan *self)
{
  return self->n_blocks == 0 ? 0 : (self->n_blocks - 1) / self->blocks_per_slice + 1;
}

void
mtl_copy_plan_run (const MtlCopyPlan *self,
                   gsize              begin,
                   gsize              end)
{
  gsize first = begin * self->blocks_per_slice;

  if (begin >= end)
    return;

  self->copy_blocks (self, first,
                     MIN ((end - begin) * self->blocks_per_slice, self->n_blocks - first));
  if (self->fence != NULL)
    self->fence ();
}

/* Less is not worth a second thread, however far apart the elements are. */
#define FEW_BYTES 32768

gsize
mtl_copy_plan_get_duration (const MtlCopyPlan *self)
{
  const MtlAxis *last = mtl_copy_get_last (self);
  gboolean has_rows = mtl_magnitude (last->source_step) <= self->source_size
                      && last->dest_step == (gssize) self->item_size;
  gsize of_bytes = self->n_bytes / 64;

  if (self->n_bytes < FEW_BYTES)
    return of_bytes;

  return MAX (self->n_items / 1000 * (has_rows ? MTL_COST_OF_ROW : MTL_COST_ALONE), of_bytes);
}

static void
append_axes (const MtlCopyPlan *self,
             GString           *text)
{
  for (guint i = 0; i < self->n_axes; i++)
    g_string_append_printf (text, "%s%" G_GUINT64_FORMAT "/%" G_GUINT64_FORMAT
                            " (%" G_GINT64_FORMAT " from %" G_GINT64_FORMAT ")",
                            i > 0 ? ", " : "", self->axes[i].extent, self->parts[i],
                            self->axes[i].dest_step, self->axes[i].source_step);
}

/* The axes with the extents of their parts, and the steps in bytes. */
char *
mtl_copy_plan_describe (const MtlCopyPlan *self)
{
  GString *text = g_string_new (NULL);
  gsize n_slices = mtl_copy_plan_get_n_slices (self);

  if (n_slices == 0)
    return g_string_free (g_string_append (text, "nothing"), FALSE);

  g_string_append_printf (text, "%s, items of %" G_GSIZE_FORMAT, mtl_copy_way_get_name (self->way),
                          self->item_size);
  if (self->convert != NULL)
    g_string_append_printf (text, " converted from %" G_GSIZE_FORMAT, self->source_size);
  g_string_append (text, " bytes: ");
  append_axes (self, text);
  if (self->streams)
    g_string_append (text, ", streamed");
  if (self->in_order)
    g_string_append (text, ", in order");
  g_string_append_printf (text, "; %" G_GSIZE_FORMAT " slice%s", n_slices,
                          n_slices == 1 ? "" : "s");

  return g_string_free (text, FALSE);
}
