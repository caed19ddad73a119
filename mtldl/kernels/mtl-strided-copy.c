/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-strided-copy-private.h"

#include "mtl-error.h"
#include "mtl-number-private.h"

static gint64
item_size (const MtlStrided *self)
{
  return self->layout->item_bits / 8;
}

static guint8 *
first_element (const MtlStrided *self)
{
  return self->data + self->layout->offset * item_size (self);
}

/* Both of one shape, and of items of whole bytes; `b` may be `a`. */
gboolean
mtl_strided_for_each_row (const MtlStrided   *a,
                          const MtlStrided   *b,
                          MtlStridedRowFunc   func,
                          gpointer            user_data)
{
  const gint64 *shape = mtl_layout_shape (a->layout);
  const gint64 *a_strides = mtl_layout_strides (a->layout);
  const gint64 *b_strides = mtl_layout_strides (b->layout);
  const gint64 a_size = item_size (a), b_size = item_size (b);
  gint64 position[MTL_LAYOUT_MAX_DIMS] = { 0 };
  gint64 a_step, b_step;
  guint8 *a_row, *b_row;
  int last = (int) a->layout->n_dims - 1;

  if (mtl_layout_is_empty (a->layout))
    return TRUE;

  a_row = first_element (a);
  b_row = first_element (b);
  if (last < 0)
    return func (a_row, 0, b_row, 0, 1, user_data);

  /* The stride of an axis of extent 1 may be anything, and is not walked. */
  a_step = shape[last] > 1 ? a_strides[last] * a_size : 0;
  b_step = shape[last] > 1 ? b_strides[last] * b_size : 0;

  while (TRUE)
    {
      int axis = last - 1;

      if (!func (a_row, a_step, b_row, b_step, shape[last], user_data))
        return FALSE;

      /* On to the next row, as an odometer does. */
      for (; axis >= 0 && ++position[axis] == shape[axis]; axis--)
        {
          position[axis] = 0;
          if (shape[axis] == 1)
            continue;
          a_row -= (shape[axis] - 1) * a_strides[axis] * a_size;
          b_row -= (shape[axis] - 1) * b_strides[axis] * b_size;
        }
      if (axis < 0)
        return TRUE;
      a_row += a_strides[axis] * a_size;
      b_row += b_strides[axis] * b_size;
    }
}

static gboolean
copy_row (guint8       *dest,
          gint64        dest_stride,
          const guint8 *source,
          gint64        source_stride,
          gint64        n,
          gpointer      user_data)
{
  gint64 size = *(gint64 *) user_data;

  if (n == 1 || (dest_stride == size && source_stride == size))
    memcpy (dest, source, n * size);
  else
    for (gint64 i = 0; i < n; i++)
      memcpy (dest + i * dest_stride, source + i * source_stride, size);

  return TRUE;
}

typedef struct
{
  MtlDType dest;
  MtlDType source;
} Conversion;

static gboolean
convert_row (guint8       *dest,
             gint64        dest_stride,
             const guint8 *source,
             gint64        source_stride,
             gint64        n,
             gpointer      user_data)
{
  Conversion *conversion = user_data;

  for (gint64 i = 0; i < n; i++)
    mtl_number_store (mtl_number_load (conversion->source, source + i * source_stride),
                      conversion->dest, dest + i * dest_stride);

  return TRUE;
}

static gboolean
copy_packed_bits (const MtlStrided  *dest,
                  const MtlStrided  *source,
                  GError           **error)
{
  g_autofree char *name = NULL;
  gint64 size, dest_byte, source_byte;
  guint dest_bit, source_bit;

  mtl_layout_get_first_byte (dest->layout, &dest_byte, &dest_bit);
  mtl_layout_get_first_byte (source->layout, &source_byte, &source_bit);
  if (dest_bit == 0 && source_bit == 0
      && mtl_layout_get_packed_size (dest->layout, &size)
      && mtl_layout_get_packed_size (source->layout, &size))
    {
      memcpy (dest->data + dest_byte, source->data + source_byte, size);
      return TRUE;
    }

  name = mtl_element_type_to_string (dest->type);
  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "Elements of type %s in %u bits are only copied in whole, contiguous bytes",
               name, dest->layout->item_bits);
  return FALSE;
}

/* The one place that moves elements: both of one shape, and without overlap. */
gboolean
mtl_strided_copy (const MtlStrided  *dest,
                  const MtlStrided  *source,
                  GError           **error)
{
  if (mtl_layout_is_empty (dest->layout))
    return TRUE;

  if (mtl_element_type_equal (dest->type, source->type))
    {
      gint64 size = item_size (dest);

      if (dest->layout->item_bits % 8 != 0)
        return copy_packed_bits (dest, source, error);

      if (mtl_layout_is_contiguous (dest->layout, MTL_ORDER_C)
          && mtl_layout_is_contiguous (source->layout, MTL_ORDER_C))
        memcpy (first_element (dest), first_element (source),
                mtl_layout_get_volume (dest->layout) * size);
      else
        mtl_strided_for_each_row (dest, source, copy_row, &size);

      return TRUE;
    }

  if (!mtl_element_type_check_numeric (dest->type, error)
      || !mtl_element_type_check_numeric (source->type, error))
    return FALSE;

  mtl_strided_for_each_row (dest, source, convert_row,
                            &(Conversion) { mtl_element_type_get_dtype (dest->type),
                                            mtl_element_type_get_dtype (source->type) });
  return TRUE;
}

typedef struct
{
  gconstpointer item;
  gint64 size;
} Filling;

static gboolean
fill_row (guint8       *dest,
          gint64        dest_stride,
          const guint8 *source,
          gint64        source_stride,
          gint64        n,
          gpointer      user_data)
{
  Filling *filling = user_data;

  for (gint64 i = 0; i < n; i++)
    memcpy (dest + i * dest_stride, filling->item, filling->size);

  return TRUE;
}

/* Items of whole bytes only. */
void
mtl_strided_fill (const MtlStrided *dest,
                  gconstpointer     item)
{
  mtl_strided_for_each_row (dest, dest, fill_row, &(Filling) { item, item_size (dest) });
}

/* Whether the stretches of memory that the two reach into have a byte in
 * common; elements may still lie beside each other. */
gboolean
mtl_strided_may_overlap (const MtlStrided *a,
                         const MtlStrided *b)
{
  gint64 a_first, a_end, b_first, b_end;

  if (!mtl_layout_get_byte_bounds (a->layout, &a_first, &a_end, NULL)
      || !mtl_layout_get_byte_bounds (b->layout, &b_first, &b_end, NULL))
    return TRUE;

  return (guintptr) a->data + a_first < (guintptr) b->data + b_end
         && (guintptr) b->data + b_first < (guintptr) a->data + a_end;
}
