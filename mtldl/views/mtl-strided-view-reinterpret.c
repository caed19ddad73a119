/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Viewing the same bytes as elements of another type. */

#include "mtl-strided-view-private.h"

#include "mtl-error.h"
#include "mtl-number-private.h"

/* Moves element offset 0 to the first element, so that the old offset need not
 * be a multiple of the new element size. An element that begins within a byte
 * cannot be moved. */
static void
move_to_first_element (MtlStridedView *self,
                       MtlLayout      *layout,
                       gsize          *byte_offset)
{
  gint64 byte;
  guint bit;

  mtl_layout_copy (&self->layout, layout);
  mtl_layout_get_first_byte (layout, &byte, &bit);
  *byte_offset = self->byte_offset;
  if (bit != 0)
    return;

  *byte_offset += byte;
  layout->offset = 0;
}

/* Gets the alignment that the instructions of the host expect, in bytes. For a
 * complex number, that is the alignment of its parts. */
static guint
get_alignment (MtlElementType type)
{
  guint bits = type.code == kDLComplex ? type.bits / 2 : type.bits;

  return MAX (bits / 8, 1);
}

static gboolean
check_alignment (MtlStridedView  *self,
                 MtlElementType   type,
                 gsize            byte_offset,
                 GError         **error)
{
  guint64 address = mtl_memory_get_address (self->memory) + byte_offset;
  guint alignment = get_alignment (type);
  g_autofree char *name = NULL;

  /* Elements may stay as badly aligned as they are for their current type. */
  if (address % alignment == 0 || alignment <= get_alignment (self->type)
      || mtl_layout_is_empty (&self->layout))
    return TRUE;

  name = mtl_element_type_to_string (type);
  g_set_error (error, MTL_ERROR, MTL_ERROR_NEEDS_COPY,
               "The address 0x%" G_GINT64_MODIFIER "x cannot hold elements of type %s without a"
               " copy: it is not a multiple of %u bytes", address, name, alignment);
  return FALSE;
}

/**
 * mtl_strided_view_reinterpret:
 * @self: a view
 * @dtype: the element type
 * @error: return location for a [error@Mtl.Error]
 *
 * Reinterprets the same bytes as elements of another type, without a copy:
 * pairs of floats as complex numbers, or words as bytes. Values are not
 * converted; to convert them, use [method@Mtl.StridedView.to_dtype].
 *
 * If the new elements have a different size, the extent of one axis changes:
 * the axis with a stride of 1, which is the last one in C order. If several
 * axes have a stride of 1, it is the last one of extent 1, or else the last
 * one. The choice does not depend on the extents, since axes of extent 1 have a
 * stride too. If no axis has a stride of 1, the last axis must have an extent
 * of 1.
 *
 * New elements of fewer than 8 bits are packed: a padded element of 4 bits
 * becomes two elements.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: @dtype is not a known element type, neither
 *   element size is a multiple of the other, or the extent is not a whole
 *   number of new elements
 * - %MTL_ERROR_OUT_OF_BOUNDS: there are no dimensions and the size differs
 * - %MTL_ERROR_NEEDS_COPY: the elements do not lie side by side along any axis,
 *   a stride is not a whole number of new elements, or the first element is not
 *   aligned for its type
 * - %MTL_ERROR_OVERFLOW: the number of elements, or of their bits if they are
 *   smaller than a byte, does not fit in 63 bits
 *
 * Returns: (transfer full): the new view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_reinterpret (MtlStridedView  *self,
                              MtlDType         dtype,
                              GError         **error)
{
  g_auto (MtlLayout) layout = MTL_LAYOUT_INIT;
  MtlLayout repacked;
  MtlElementType type;
  MtlStridedView *view;
  gsize byte_offset;
  gint64 first, end;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);

  if (!mtl_dtype_check (dtype, error))
    return NULL;

  type = mtl_element_type_new (dtype);
  move_to_first_element (self, &layout, &byte_offset);
  if (!check_alignment (self, type, byte_offset, error)
      || !mtl_layout_repack (&layout, mtl_element_type_get_item_bits (type),
                             mtl_layout_find_dense_axis (&layout), &repacked, error))
    return NULL;

  /* The number of bytes fits in 63 bits, but the number of bits may not. */
  if (repacked.item_bits % 8 != 0
      && !mtl_layout_get_byte_bounds (&repacked, &first, &end, error))
    {
      mtl_layout_clear (&repacked);
      return NULL;
    }

  view = mtl_strided_view_derive (self, &repacked);
  view->byte_offset = byte_offset;
  view->type = type;
  return view;
}

/* The real or the imaginary parts, which are part 0 or 1. Strides that lead nowhere may overflow.
 */
static MtlStridedView *
select_part (MtlStridedView *self,
             guint           part)
{
  guint n_dims = self->layout.n_dims;
  MtlStridedView *view;
  MtlLayout layout;

  mtl_layout_init (&layout, n_dims, self->layout.item_bits / 2, 0);
  for (guint i = 0; i < n_dims; i++)
    {
      gint64 *stride = &mtl_layout_strides (&layout)[i];

      mtl_layout_shape (&layout)[i] = mtl_layout_shape (&self->layout)[i];
      if (__builtin_mul_overflow (mtl_layout_strides (&self->layout)[i], 2, stride))
        *stride = 1;
    }
  if (!mtl_layout_is_empty (&layout))
    layout.offset = self->layout.offset * 2 + part;

  view = mtl_strided_view_derive (self, &layout);
  view->type = (MtlElementType) { kDLFloat, self->type.bits / 2, 1, FALSE };
  return view;
}

static gboolean
check_parts (MtlStridedView  *self,
             GError         **error)
{
  g_autofree char *name = NULL;

  if (self->type.code == kDLComplex && self->type.lanes == 1)
    return TRUE;

  name = mtl_element_type_to_string (self->type);
  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "Elements of type %s have no separate real and imaginary parts", name);
  return FALSE;
}

/**
 * mtl_strided_view_select_real:
 * @self: a view
 * @error: return location for a [error@Mtl.Error]
 *
 * Gets a view of the real parts of complex numbers. A view of real numbers is
 * that of the same elements.
 *
 * Errors:
 *
 * - %MTL_ERROR_NOT_SUPPORTED: the elements are not numbers, or are vectors of
 *   complex numbers
 *
 * Returns: (transfer full): the new view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_select_real (MtlStridedView  *self,
                              GError         **error)
{
  MtlLayout layout;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);

  if (!mtl_element_type_check_numeric (self->type, error))
    return NULL;

  if (self->type.code == kDLComplex)
    return check_parts (self, error) ? select_part (self, 0) : NULL;

  mtl_layout_copy (&self->layout, &layout);
  return mtl_strided_view_derive (self, &layout);
}

/**
 * mtl_strided_view_select_imaginary:
 * @self: a view
 * @error: return location for a [error@Mtl.Error]
 *
 * Gets a view of the imaginary parts of complex numbers.
 *
 * Errors:
 *
 * - %MTL_ERROR_NOT_SUPPORTED: the elements are not complex numbers, or are
 *   vectors of them
 *
 * Returns: (transfer full): the new view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_select_imaginary (MtlStridedView  *self,
                                   GError         **error)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);

  return check_parts (self, error) ? select_part (self, 1) : NULL;
}
