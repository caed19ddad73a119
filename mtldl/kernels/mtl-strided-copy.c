/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-strided-copy-private.h"

#include "mtl-axes-private.h"
#include "mtl-convert-private.h"
#include "mtl-number-private.h"
#include "mtl-packed-copy-private.h"
#include "mtl-strided-request-private.h"

/* The step along an axis in bits; 0 for an axis of extent 1, whose stride may be
 * anything. */
static gint64
get_step (const MtlStrided *self,
          int               axis)
{
  return mtl_layout_shape (self->layout)[axis] > 1
           ? mtl_layout_strides (self->layout)[axis] * self->layout->item_bits : 0;
}

/* The axes of several elements, without those along which both repeat theirs. Both have the same
 * shape; `b` may be `a`. */
static guint
take_common_axes (const MtlStrided *a,
                  const MtlStrided *b,
                  MtlAxis          *axes)
{
  guint n = 0;

  for (guint i = 0; i < a->layout->n_dims; i++)
    {
      MtlAxis axis = mtl_axis (mtl_layout_shape (a->layout)[i], get_step (a, i), get_step (b, i));

      if (axis.extent > 1 && (axis.steps[0] != 0 || axis.steps[1] != 0))
        axes[n++] = axis;
    }

  return mtl_axes_merge (axes, n);
}

/* Rows of elements that both repeat are visited once. */
gboolean
mtl_strided_for_each_row (const MtlStrided   *a,
                          const MtlStrided   *b,
                          MtlStridedRowFunc   func,
                          gpointer            user_data)
{
  gint64 begin[2], offsets[2] = { 0 };
  guint64 position[MTL_AXES_MAX] = { 0 };
  MtlAxis axes[MTL_AXES_MAX], row = { 1 };
  guint n;

  /* The offset of an empty layout can be any. */
  if (mtl_layout_is_empty (a->layout))
    return TRUE;

  begin[0] = a->layout->offset * a->layout->item_bits;
  begin[1] = b->layout->offset * b->layout->item_bits;
  n = take_common_axes (a, b, axes);
  if (n > 0)
    row = axes[--n];

  do
    {
      const MtlStridedRow a_row = { a->data, begin[0] + offsets[0], row.steps[0] };
      const MtlStridedRow b_row = { b->data, begin[1] + offsets[1], row.steps[1] };

      if (!func (&a_row, &b_row, row.extent, user_data))
        return FALSE;
    }
  while (mtl_axes_go_on (axes, n, position, offsets));

  return TRUE;
}

static guint8 *
get_first_element (const MtlStrided *self)
{
  return self->data + self->layout->offset * (self->layout->item_bits / 8);
}

/* The elements are whole bytes, and there is at least one. If source is NULL, `item` is
 * copied to all. */
static MtlCopyRequest
get_request (const MtlStrided *dest,
             const MtlStrided *source,
             gconstpointer     item)
{
  MtlCopyRequest request = {
    .n_dims = dest->layout->n_dims,
    .shape = mtl_layout_shape (dest->layout),
    .dest = get_first_element (dest),
    .dest_strides = mtl_layout_strides (dest->layout),
    .dest_size = dest->layout->item_bits / 8,
    .source = item,
    .source_size = dest->layout->item_bits / 8,
  };

  if (source != NULL)
    {
      request.source = get_first_element (source);
      request.source_strides = mtl_layout_strides (source->layout);
      request.source_size = source->layout->item_bits / 8;
    }

  return request;
}

static gboolean
is_of_bits (const MtlStrided *self)
{
  return self->layout->item_bits % 8 != 0;
}

/* Lets the elements of a source be their first bytes, such as their real parts. */
static void
narrow_source (MtlCopyRequest *request,
               gint64         *strides,
               gsize           size)
{
  gsize n = request->source_size / size;

  for (gsize i = 0; i < request->n_dims; i++)
    strides[i] = (gint64) ((gsize) request->source_strides[i] * n);
  request->source_strides = strides;
  request->source_size = size;
}

/* A source is scattered if no two of its elements are next to each other. */
static gboolean
is_source_scattered (const MtlCopyRequest *request)
{
  for (gsize i = 0; i < request->n_dims; i++)
    if (request->shape[i] > 1 && mtl_magnitude (request->source_strides[i]) == 1)
      return FALSE;

  return request->n_dims > 0;
}

/* Narrower integers are the low bytes of wider ones. If the source is scattered in any
 * case, only these bytes are copied. */
static void
take_low_bytes (MtlCopyRequest *request,
                gint64         *strides)
{
  if (G_BYTE_ORDER == G_BIG_ENDIAN)
    request->source += request->source_size - request->dest_size;
  narrow_source (request, strides, request->dest_size);
}

static gboolean
convert (const MtlStrided  *dest,
         const MtlStrided  *source,
         const double      *factors,
         const MtlMonitor  *monitor,
         GError           **error)
{
  gint64 strides[MTL_LAYOUT_MAX_AXES];
  MtlCopyRequest request;
  MtlConversion conversion;

  if (!mtl_element_type_check_numeric (dest->type, error)
      || !mtl_element_type_check_numeric (source->type, error))
    return FALSE;

  if (is_of_bits (dest) || is_of_bits (source))
    return mtl_packed_copy_run (dest, source, NULL, factors, monitor, error);

  mtl_conversion_init (&conversion, dest->type, source->type, factors);
  request = get_request (dest, source, NULL);
  if (conversion.source_size < request.source_size)
    narrow_source (&request, strides, conversion.source_size);
  if (factors == NULL && mtl_conversion_truncates (dest->type, source->type)
      && is_source_scattered (&request))
    take_low_bytes (&request, strides);
  else if (conversion.n_steps > 0)
    {
      request.convert = mtl_conversion_run;
      request.convert_data = &conversion;
      request.converts_scattered = conversion.scattered != NULL;
      request.converts_cheaply = conversion.is_cheap;
      request.converts_at_once = conversion.n_steps == 1;
    }
  return mtl_strided_request_run (&request, 0, monitor, error);
}

/* The function that copies elements. Both have the same shape and do not
 * overlap. */
gboolean
mtl_strided_copy (const MtlStrided  *dest,
                  const MtlStrided  *source,
                  const MtlMonitor  *monitor,
                  GError           **error)
{
  MtlCopyRequest request;

  if (mtl_layout_is_empty (dest->layout))
    return TRUE;

  if (!mtl_element_type_equal (dest->type, source->type))
    return convert (dest, source, NULL, monitor, error);

  if (is_of_bits (dest))
    return mtl_packed_copy_run (dest, source, NULL, NULL, monitor, error);

  request = get_request (dest, source, NULL);
  return mtl_strided_request_run (&request, 0, monitor, error);
}

/* Copies numbers with one lane, and scales them. */
gboolean
mtl_strided_copy_scaled (const MtlStrided  *dest,
                         const MtlStrided  *source,
                         const double      *factors,
                         const MtlMonitor  *monitor,
                         GError           **error)
{
  return mtl_layout_is_empty (dest->layout) || convert (dest, source, factors, monitor, error);
}

/* The item is in the low bits of its bytes. */
gboolean
mtl_strided_fill (const MtlStrided  *dest,
                  gconstpointer      item,
                  const MtlMonitor  *monitor,
                  GError           **error)
{
  MtlCopyRequest request;

  if (mtl_layout_is_empty (dest->layout))
    return TRUE;

  if (is_of_bits (dest))
    return mtl_packed_copy_run (dest, NULL, item, NULL, monitor, error);

  request = get_request (dest, NULL, item);
  return mtl_strided_request_run (&request, 0, monitor, error);
}

/* Checks whether any byte belongs to elements of both. May return TRUE for some that
 * share none, if finding out would take long. */
gboolean
mtl_strided_may_overlap (const MtlStrided *a,
                         const MtlStrided *b)
{
  return mtl_layout_overlaps (a->layout, b->layout,
                              (gint64) ((guintptr) b->data - (guintptr) a->data));
}
