/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Copies, conversions and fills of elements that do not fill whole bytes. Steps and addresses are
 * in bits. Runs that are whole bytes are copied and filled as these. */

#include <string.h>

#include "mtl-cuda-plan-layout-private.h"
#include "mtl-number-private.h"

typedef struct
{
  MtlCudaJob job;
  MtlCudaPacked params;
} Packed;

/* Rows that begin with a byte are written by bytes, 8 elements at once. */
static gboolean
has_byte_rows (const Packed        *self,
               const MtlCudaLayout *layout)
{
  return self->params.dest_bits < 8 && layout->n_axes > 0
         && layout->axes[0].dest_step == self->params.dest_bits
         && layout->axes[0].extent >= 8
         && mtl_cuda_layout_aligned (layout, 1, 0, 8);
}

static void
set_axes (MtlCudaPacked       *params,
          const MtlCudaLayout *layout)
{
  params->n = mtl_cuda_layout_count (layout);
  params->n_axes = layout->n_axes;
  for (guint i = 0; i < layout->n_axes; i++)
    mtl_cuda_axis_init (&params->axes[i], &layout->axes[i], 1);
}

static gboolean
plan_rows (Packed              *self,
           const MtlCudaLayout *layout)
{
  MtlCudaPacked *params = &self->params;
  MtlCudaLayout eights = *layout;
  MtlAxis *row = &eights.axes[0];

  params->row_length = row->extent;
  params->source_step = row->source_step;
  row->extent = mtl_cuda_divide_up (row->extent, 8);
  row->dest_step *= 8;
  row->source_step *= 8;
  set_axes (params, &eights);
  return mtl_cuda_job_launch_named (&self->job, layout, "packed", "packed_rows",
                                    mtl_cuda_divide_up (params->n, MTL_CUDA_THREADS), params,
                                    sizeof *params);
}

static gboolean
plan_elements (const MtlCudaJob    *job,
               const MtlCudaLayout *layout)
{
  Packed *self = (Packed *) job;
  MtlCudaPacked *params = &self->params;
  MtlCudaConversion *conversion = &params->conversion;

  if (params->converts)
    conversion->is_unaligned
      = (params->dest_bits >= 8
         && !mtl_cuda_layout_aligned (layout, 0, 0, 8 * conversion->dest.size))
        || (params->source_bits >= 8
            && !mtl_cuda_layout_aligned (layout, 0, 1, 8 * conversion->source.size));
  if (has_byte_rows (self, layout))
    return plan_rows (self, layout);

  set_axes (params, layout);
  return mtl_cuda_job_launch_named (job, layout, "packed", "packed",
                                    mtl_cuda_divide_up (params->n,
                                                        MTL_CUDA_THREADS * MTL_CUDA_EACH),
                                    params, sizeof *params);
}

/* Whole bytes */

/* The part of each run that is whole bytes. Elements before and after it are few. */
typedef struct
{
  guint64 first;
  guint64 n;
  guint size; /* bytes that repeat in a fill */
} WholeBytes;

static gboolean
find_whole_bytes (const Packed        *self,
                  const MtlCudaLayout *layout,
                  WholeBytes          *whole)
{
  guint bits = self->params.dest_bits, period = 8 / mtl_gcd (bits, 8);
  gboolean copies = !self->params.is_fill;
  const MtlAxis *run = &layout->axes[0];

  if (self->params.converts || layout->n_axes == 0 || run->dest_step != bits
      || run->source_step != (copies ? bits : 0))
    return FALSE;
  for (guint i = 1; i < layout->n_axes; i++)
    if (layout->axes[i].dest_step % (copies ? 8 : period * bits) != 0
        || layout->axes[i].source_step % 8 != 0)
      return FALSE;

  for (whole->first = 0; whole->first < period; whole->first++)
    if ((layout->dest + whole->first * bits) % 8 == 0
        && (!copies || (layout->source + whole->first * bits) % 8 == 0))
      break;
  if (whole->first == period || whole->first >= run->extent)
    return FALSE;

  whole->n = (run->extent - whole->first) / period * period;
  whole->size = period * bits / 8;
  return whole->n * bits >= 8 * 32 || whole->n == run->extent;
}

static gboolean
plan_part (Packed              *self,
           const MtlCudaLayout *layout,
           guint64              first,
           guint64              n)
{
  MtlCudaLayout part = *layout;

  if (n == 0)
    return TRUE;

  part.axes[0].extent = n;
  part.dest += first * (guint64) part.axes[0].dest_step;
  part.source += first * (guint64) part.axes[0].source_step;
  if (n == 1)
    {
      part.n_axes--;
      memmove (part.axes, part.axes + 1, part.n_axes * sizeof *part.axes);
    }
  return mtl_cuda_job_split (&self->job, &part, plan_elements);
}

static gboolean
plan_bytes (const Packed        *self,
            const MtlCudaLayout *layout,
            const WholeBytes    *whole)
{
  guint bits = self->params.dest_bits, size = self->params.is_fill ? whole->size : 1;
  MtlCudaLayout bytes = *layout;
  MtlCudaJob job = self->job;
  guint8 pattern[8] = { 0 };

  bytes.dest = (layout->dest + whole->first * bits) / 8;
  bytes.source = (layout->source + whole->first * bits) / 8;
  for (guint i = 0; i < bytes.n_axes; i++)
    {
      bytes.axes[i].dest_step /= 8;
      bytes.axes[i].source_step /= 8;
    }
  bytes.axes[0] = mtl_axis (whole->n * bits / 8 / size, size, 1);
  if (bytes.axes[0].extent == 1)
    {
      bytes.n_axes--;
      memmove (bytes.axes, bytes.axes + 1, bytes.n_axes * sizeof *bytes.axes);
    }
  mtl_cuda_layout_reverse (&bytes);
  if (!self->params.is_fill)
    return mtl_cuda_job_copy_bytes (&job, &bytes, 1);

  for (guint i = 0; i < bytes.n_axes; i++)
    bytes.axes[i].source_step = 0;
  for (guint bit = 0; bit < 8 * size; bit += bits)
    mtl_bits_store (pattern + bit / 8, bit % 8, bits, self->params.pattern[0] & ((1u << bits) - 1));
  bytes.source = 0;
  return mtl_cuda_job_fill_bytes (&job, &bytes, pattern, size);
}

static gboolean
plan_all (Packed        *self,
          MtlCudaLayout *layout)
{
  WholeBytes whole;

  layout->n_axes = mtl_axes_merge (layout->axes, layout->n_axes);
  mtl_cuda_layout_reverse (layout);
  if (!find_whole_bytes (self, layout, &whole))
    return mtl_cuda_job_split (&self->job, layout, plan_elements);

  return plan_part (self, layout, 0, whole.first)
         && plan_part (self, layout, whole.first + whole.n,
                       layout->axes[0].extent - whole.first - whole.n)
         && plan_bytes (self, layout, &whole);
}

/* Elements of more than a byte are divided into parts that fit in a byte, which are an axis. A fill
 * has as many of them at once as a pattern has room for. */
static gboolean
plan_parts (Packed              *self,
            const MtlCudaLayout *layout,
            guint                item_bits,
            const guint8        *item)
{
  guint bits = mtl_gcd (item_bits, 8), n_parts = item_bits / bits;
  guint most = item != NULL ? 8 * MTL_CUDA_PACKED_PATTERN / bits : n_parts;

  self->params.dest_bits = self->params.source_bits = bits;
  for (guint first = 0; first < n_parts; first += most)
    {
      MtlCudaLayout part = *layout;
      guint n = MIN (most, n_parts - first);

      if (item != NULL)
        memcpy (self->params.pattern, item + first * bits / 8,
                mtl_cuda_divide_up ((guint64) n * bits, 8));
      part.dest += (guint64) first * bits;
      if (n > 1)
        part.axes[part.n_axes++] = mtl_axis (n, bits, bits);
      if (!plan_all (self, &part))
        return FALSE;
    }

  return TRUE;
}

gboolean
mtl_cuda_plan_packed (const MtlCudaJob *job,
                      const MtlStrided *dest,
                      const MtlStrided *source,
                      const guint8     *item,
                      const double     *factors)
{
  guint item_bits = dest->layout->item_bits;
  MtlCudaLayout layout;
  Packed self = {
    .job = *job,
    .params = {
      .dest_bits = item_bits,
      .source_bits = source != NULL ? source->layout->item_bits : item_bits,
      .is_fill = source == NULL,
    },
  };

  if (!mtl_cuda_layout_take (&layout, dest, source, 8, job->error))
    return FALSE;

  if (source != NULL && (factors != NULL || !mtl_element_type_equal (dest->type, source->type)))
    {
      self.params.converts = TRUE;
      mtl_cuda_conversion_init (&self.params.conversion, dest->type, source->type, factors);
      return plan_all (&self, &layout);
    }
  if (item_bits > 8)
    return plan_parts (&self, &layout, item_bits, item);

  if (item != NULL)
    self.params.pattern[0] = item[0];
  return plan_all (&self, &layout);
}
