/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* The same bytes as elements of another type. */

#include "mtl-strided-view-private.h"

#include "mtl-error.h"

/* Puts the first element at offset 0, so that it does not matter what it is a
 * multiple of. Within a byte it has to stay. */
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

/* What the host's machine instructions expect: that of the parts of a complex
 * number. */
static guint
get_alignment (MtlElementType type)
{
  guint bits = type.code == MTL_TYPE_CODE_COMPLEX ? type.bits / 2 : type.bits;

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

  /* What is not aligned for its own type either does not get worse. */
  if (address % alignment == 0 || alignment <= get_alignment (self->type)
      || mtl_layout_is_empty (&self->layout))
    return TRUE;

  name = mtl_element_type_to_string (type);
  g_set_error (error, MTL_ERROR, MTL_ERROR_NEEDS_COPY,
               "The address 0x%" G_GINT64_MODIFIER "x gives elements of type %s only with a copy:"
               " it is not a multiple of %u bytes", address, name, alignment);
  return FALSE;
}

/**
 * mtl_strided_view_reinterpret:
 * @self: a view
 * @dtype: the element type
 * @error: return location for a [error@Mtl.Error]
 *
 * Sees the same bytes as elements of another type, without a copy: pairs of
 * floats as complex numbers, words as bytes. Values are not converted:
 * [method@Mtl.StridedView.to_dtype] does that.
 *
 * Where the new elements are of another size, the extent of one axis changes:
 * that whose stride is 1, in C order the last. It is the same one whatever the
 * extents, as axes of extent 1 have a stride too: of several whose stride is 1,
 * it is the last of extent 1, or else the last. Where none has a stride of 1,
 * only a last axis of extent 1 will do.
 *
 * New elements of fewer than 8 bits are packed: a padded one of 4 bits is seen as
 * two.
 *
 * Fails with %MTL_ERROR_INVALID_ARGUMENT where @dtype has no name, neither size
 * is a multiple of the other or the extent does not make whole elements, with
 * %MTL_ERROR_OUT_OF_BOUNDS where there are no dimensions and the size is another,
 * with %MTL_ERROR_NEEDS_COPY where no elements lie side by side, a stride is not
 * of whole new elements, or the first one is not aligned as its type needs, and
 * with %MTL_ERROR_OVERFLOW where the number of elements does not fit 63 bits, or
 * that of the bits of elements smaller than a byte.
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
                             mtl_layout_find_dense_axis (&layout), TRUE, &repacked, error))
    return NULL;

  /* Bytes that fit 63 bits may have bits that do not. */
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

/**
 * mtl_strided_view_get_max_compatible_item_bits:
 * @self: a view
 * @max_item_bits: what one item may take at most, in bits
 * @axis: the axis to repack; negative ones count from the end
 * @error: return location for a [error@Mtl.Error]
 *
 * Gets the largest items that the elements can be seen as without a copy, as
 * [method@Mtl.StridedLayout.get_max_compatible_item_bits] does, aligned where
 * the elements lie.
 *
 * Fails with %MTL_ERROR_OUT_OF_BOUNDS where there is no such axis.
 *
 * Returns: what one item takes, in bits: a multiple of
 *   [method@Mtl.StridedView.get_item_bits]; 0 on failure
 *
 * Since: 1.0
 */
guint
mtl_strided_view_get_max_compatible_item_bits (MtlStridedView  *self,
                                               guint            max_item_bits,
                                               int              axis,
                                               GError         **error)
{
  g_auto (MtlLayout) layout = MTL_LAYOUT_INIT;
  guint32 item_bits;
  gsize byte_offset;
  guint64 address;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), 0);

  move_to_first_element (self, &layout, &byte_offset);
  address = mtl_memory_get_address (self->memory) + byte_offset;
  if (!mtl_layout_get_max_compatible_item_bits (&layout, max_item_bits, address, axis, &item_bits,
                                                error))
    return 0;

  return item_bits;
}
