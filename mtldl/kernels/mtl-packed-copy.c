/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Copies, conversions and fills of elements that do not fill whole bytes. Runs that
 * do are copied as bytes by the engine. All others are copied in tiles. */

#include "mtl-packed-copy-private.h"

#include "mtl-number-private.h"
#include "mtl-strided-request-private.h"

/* The smallest number of bytes in a run that is worth a separate call, if single
 * elements precede or follow it. */
#define MIN_RUN 32

/* If the destination does not move along an axis, only the last element remains. */
static void
add_axis (MtlPackedCopy *self,
          gint64         extent,
          gint64         dest_step,
          gint64         source_step)
{
  if (dest_step == 0)
    self->source_bit += (extent - 1) * source_step;
  else
    self->axes[self->n_axes++] = mtl_axis (extent, dest_step, source_step);
}

/* Elements of more than a byte, if not converted, are divided into parts that fit in
 * a byte. The parts are an additional axis. */
static void
take_axes (MtlPackedCopy   *self,
           const MtlLayout *dest,
           const MtlLayout *source)
{
  guint part = mtl_gcd (dest->item_bits, 8);
  double n_elements = 1;

  /* An axis of extent 1 may have any stride. */
  for (guint i = 0; i < dest->n_dims; i++)
    if (mtl_layout_shape (dest)[i] > 1)
      add_axis (self, mtl_layout_shape (dest)[i],
                mtl_layout_strides (dest)[i] * dest->item_bits,
                source != NULL ? mtl_layout_strides (source)[i] * source->item_bits : 0);

  if (self->conversion == NULL && dest->item_bits > 8)
    {
      add_axis (self, dest->item_bits / part, part, part);
      self->dest_bits = self->source_bits = part;
    }

  for (guint i = 0; i < self->n_axes; i++)
    n_elements *= self->axes[i].extent;
  self->n_bytes = CLAMP (n_elements * self->dest_bits / 8, 1, 0x1p62);
}

static void
order_axes (MtlPackedCopy *self)
{
  gint64 offsets[] = { self->dest_bit, self->source_bit };
  MtlPackedCopy sorted = *self;

  mtl_axes_sort (sorted.axes, self->n_axes, 0);
  self->in_order = !mtl_axes_are_nested (sorted.axes, self->n_axes, self->dest_bits);
  if (self->in_order)
    return;

  mtl_axes_flip (sorted.axes, self->n_axes, offsets);
  sorted.n_axes = mtl_axes_merge (sorted.axes, self->n_axes);
  sorted.dest_bit = offsets[0];
  sorted.source_bit = offsets[1];
  *self = sorted;
}

/* Runs of whole bytes */

/* The part of each run that is whole bytes. */
typedef struct
{
  gint64 first;
  gint64 n;
  guint period; /* elements that fill whole bytes */
} WholeBytes;

static gboolean
steps_fit (const MtlPackedCopy *self,
           guint                dest_unit,
           gboolean             copies)
{
  for (guint i = 0; i < self->n_axes - 1; i++)
    if (self->axes[i].dest_step % dest_unit != 0
        || (copies && self->axes[i].source_step % 8 != 0))
      return FALSE;

  return TRUE;
}

/* The elements of the last axis repeat one element in a fill. In a copy, they are
 * contiguous on both sides, and begin at the same bit of a byte. */
static gboolean
find_whole_bytes (const MtlPackedCopy *self,
                  WholeBytes          *whole)
{
  guint bits = self->dest_bits;
  const MtlAxis *run;
  gboolean copies;

  if (self->conversion != NULL || self->in_order || self->n_axes == 0)
    return FALSE;

  run = &self->axes[self->n_axes - 1];
  copies = run->source_step == bits;
  if (run->dest_step != bits)
    return FALSE;

  whole->period = 8 / mtl_gcd (bits, 8);
  for (guint i = 0; i < self->n_axes && !copies; i++)
    if (self->axes[i].source_step != 0)
      return FALSE;
  if (!steps_fit (self, copies ? 8 : whole->period * bits, copies))
    return FALSE;

  for (whole->first = 0; whole->first < whole->period; whole->first++)
    if ((self->dest_bit + whole->first * bits) % 8 == 0
        && (!copies || (self->source_bit + whole->first * bits) % 8 == 0))
      break;
  if (whole->first == whole->period)
    return FALSE;

  whole->n = (run->extent - whole->first) / whole->period * whole->period;
  return whole->n > 0 && ((guint64) whole->n == run->extent || whole->n * bits / 8 >= MIN_RUN);
}

/* Copies a part of each run in tiles, without reporting progress. */
static gboolean
run_part (const MtlPackedCopy *self,
          gint64               first,
          gint64               n,
          const MtlMonitor    *monitor,
          GError             **error)
{
  const MtlMonitor silent = { monitor != NULL ? monitor->cancellable : NULL, NULL, NULL };
  MtlPackedCopy part = *self;
  MtlAxis *run = &part.axes[part.n_axes - 1];

  if (n == 0)
    return TRUE;

  part.n_bytes = MAX (part.n_bytes / run->extent * n, 1);
  run->extent = n;
  part.dest_bit += first * run->dest_step;
  part.source_bit += first * run->source_step;
  return mtl_packed_copy_run_tiles (&part, monitor != NULL ? &silent : NULL, error);
}

static gboolean
run_whole_bytes (const MtlPackedCopy *self,
                 const WholeBytes    *whole,
                 const MtlMonitor    *monitor,
                 GError             **error)
{
  const MtlAxis *run = &self->axes[self->n_axes - 1];
  gboolean copies = run->source_step != 0;
  gint64 run_bytes = whole->n * self->dest_bits / 8;
  guint size = copies ? 1 : whole->period * self->dest_bits / 8;
  gint64 shape[MTL_AXES_MAX];
  gint64 dest_strides[MTL_AXES_MAX], source_strides[MTL_AXES_MAX];
  guint8 pattern[8] = { 0 };
  MtlCopyRequest request = {
    .n_dims = self->n_axes,
    .shape = shape,
    .dest = self->dest + ((self->dest_bit + whole->first * run->dest_step) >> 3),
    .dest_strides = dest_strides,
    .dest_size = size,
    .source = self->source + ((self->source_bit + whole->first * run->source_step) >> 3),
    .source_strides = source_strides,
    .source_size = size,
  };

  for (guint i = 0; i < self->n_axes; i++)
    {
      shape[i] = self->axes[i].extent;
      dest_strides[i] = self->axes[i].dest_step / (8 * (gint64) size);
      source_strides[i] = self->axes[i].source_step / 8;
    }
  shape[self->n_axes - 1] = run_bytes / size;
  dest_strides[self->n_axes - 1] = 1;
  source_strides[self->n_axes - 1] = 1;

  if (!copies)
    {
      guint value = mtl_bits_load (request.source, self->source_bit & 7, self->source_bits);

      for (guint bit = 0; bit < 8 * size; bit += self->dest_bits)
        mtl_bits_store (pattern + bit / 8, bit % 8, self->dest_bits, value);
      request.source = pattern;
      request.source_strides = NULL;
    }

  return mtl_strided_request_run (&request, self->n_bytes, monitor, error);
}

/* The type with a byte for each number instead of packed ones. */
static MtlElementType
get_unpacked (MtlElementType type)
{
  type.padded = type.padded || type.bits < 8;
  return type;
}

gboolean
mtl_packed_copy_run (const MtlStrided *dest,
                     const MtlStrided *source,
                     gconstpointer     item,
                     const double     *factors,
                     const MtlMonitor *monitor,
                     GError          **error)
{
  MtlPackedCopy packed = {
    .dest = dest->data,
    .dest_bit = dest->layout->offset * dest->layout->item_bits,
    .dest_bits = dest->layout->item_bits,
    .source = item,
    .source_bits = dest->layout->item_bits,
  };
  MtlConversion conversion;
  WholeBytes whole;

  if (source != NULL)
    {
      packed.source = source->data;
      packed.source_bit = source->layout->offset * source->layout->item_bits;
      packed.source_bits = source->layout->item_bits;
    }
  if (source != NULL && (factors != NULL || !mtl_element_type_equal (dest->type, source->type)))
    {
      mtl_conversion_init (&conversion, get_unpacked (dest->type), get_unpacked (source->type),
                           factors);
      packed.conversion = &conversion;
    }

  take_axes (&packed, dest->layout, source != NULL ? source->layout : NULL);
  order_axes (&packed);
  if (!find_whole_bytes (&packed, &whole))
    return mtl_packed_copy_run_tiles (&packed, monitor, error);

  return run_part (&packed, 0, whole.first, monitor, error)
         && run_part (&packed, whole.first + whole.n,
                      packed.axes[packed.n_axes - 1].extent - whole.first - whole.n, monitor, error)
         && run_whole_bytes (&packed, &whole, monitor, error);
}
