/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-copy-plan-private.h"

/* What a plan is, in words, for MTL_DEBUG=copy and for tests. */

static const char *
get_kernel_name (const MtlCopyKernels *kernels,
                 MtlCopyKernel         kernel)
{
  const struct
  {
    MtlCopyKernel kernel;
    const char *name;
  } names[] = {
    { kernels->contiguous, "contiguous" },
    { kernels->rows, "rows" },
    { kernels->broadcast, "broadcast" },
    { kernels->strided, "strided" },
    { kernels->convert, "convert" },
    { kernels->interleave, "interleave" },
    { kernels->deinterleave, "deinterleave" },
    { kernels->swap_channels, "swap of channels" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (names[i].kernel == kernel)
      return names[i].name;

  g_assert_not_reached ();
}

static gboolean
is_of_boxes (const MtlCopyPlan *self)
{
  return self->boxes == mtl_copy_machine_get ()->kernels->boxes;
}

const char *
mtl_copy_plan_get_way (const MtlCopyPlan *self)
{
  const MtlCopyKernels *kernels = mtl_copy_machine_get ()->kernels;

  if (self->boxes != NULL && is_of_boxes (self))
    return "boxes";
  if (self->boxes != NULL)
    return "tiles";

  return get_kernel_name (kernels, self->kernel);
}

static void
append_axes (GString       *text,
             const MtlAxis *axes,
             const gsize   *parts,
             guint          n)
{
  for (guint i = 0; i < n; i++)
    {
      g_string_append_printf (text, "%s%" G_GUINT64_FORMAT, i > 0 ? ", " : "", axes[i].extent);
      if (parts != NULL)
        g_string_append_printf (text, "/%" G_GSIZE_FORMAT, parts[i]);
      g_string_append_printf (text, " (%" G_GINT64_FORMAT " from %" G_GINT64_FORMAT ")",
                              axes[i].dest_step, axes[i].source_step);
    }
}

/* The axes with the extents of their parts, and the steps in bytes. */
char *
mtl_copy_plan_describe (const MtlCopyPlan *self)
{
  GString *text = g_string_new (NULL);
  gsize n_slices = mtl_copy_plan_get_n_slices (self);

  if (n_slices == 0)
    return g_string_free (g_string_append (text, "nothing"), FALSE);

  g_string_append_printf (text, "%s, items of %" G_GSIZE_FORMAT, mtl_copy_plan_get_way (self),
                          self->job.item_size);
  if (self->job.convert != NULL)
    g_string_append_printf (text, " converted from %" G_GSIZE_FORMAT, self->job.source_size);
  g_string_append (text, " bytes: ");
  if (self->boxes != NULL)
    {
      g_string_append_printf (text, "units of %" G_GSIZE_FORMAT ", ", self->unit);
      append_axes (text, self->axes, self->part, self->n_axes);
    }
  else
    append_axes (text, self->axes, NULL, self->n_outer + self->n_inner);
  if (self->job.streams)
    g_string_append (text, ", streamed");
  if (self->in_order)
    g_string_append (text, ", in order");
  g_string_append_printf (text, "; %" G_GSIZE_FORMAT " slice%s", n_slices,
                          n_slices == 1 ? "" : "s");

  return g_string_free (text, FALSE);
}
