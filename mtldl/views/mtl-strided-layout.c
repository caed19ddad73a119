/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-strided-layout-private.h"

#include "mtl-bindings-private.h"
#include "mtl-error.h"
#include "mtl-spare-objects-private.h"

/**
 * MtlStridedLayout:
 *
 * A map from indices to places in memory: a shape, a stride for each axis, and
 * an offset.
 *
 * The element at indices (i, j, …) lies at `offset + i * strides[0] + j *
 * strides[1] + …`, in elements. A layout knows the size of an element in bits,
 * but neither its type nor its memory: a [class@Mtl.StridedView] adds both.
 *
 * Layouts are immutable. Operations return a new layout of some or all of the
 * same elements, and never move an element.
 *
 * ```c
 * const gint64 shape[] = { 480, 640, 3 };
 * g_autoptr (MtlStridedLayout) picture =
 *   mtl_strided_layout_new_dense (shape, 3, MTL_ORDER_C, 8, error);
 * g_autoptr (MtlStridedLayout) red = NULL;
 *
 * if (picture == NULL)
 *   return FALSE;
 *
 * // Every second row and column of the first channel.
 * red = mtl_strided_layout_slice_string (picture, "::2, ::2, 0", error);
 * if (red == NULL)
 *   return FALSE;
 *
 * g_assert_cmpint (mtl_strided_layout_get_stride (red, 1, NULL), ==, 6);
 * ```
 *
 * Since: 1.0
 */

enum
{
  PROP_0,
  PROP_N_DIMS,
  PROP_ITEM_BITS,
  PROP_OFFSET,
  PROP_VOLUME,
  N_PROPS
};

static GParamSpec *props[N_PROPS];

G_DEFINE_FINAL_TYPE (MtlStridedLayout, mtl_strided_layout, G_TYPE_OBJECT)

static void
mtl_strided_layout_finalize (GObject *object)
{
  MtlStridedLayout *self = MTL_STRIDED_LAYOUT (object);

  mtl_layout_clear (&self->layout);

  G_OBJECT_CLASS (mtl_strided_layout_parent_class)->finalize (object);
}

static void
mtl_strided_layout_get_property (GObject    *object,
                                 guint       prop_id,
                                 GValue     *value,
                                 GParamSpec *pspec)
{
  MtlStridedLayout *self = MTL_STRIDED_LAYOUT (object);

  switch (prop_id)
    {
    case PROP_N_DIMS:
      g_value_set_uint (value, self->layout.n_dims);
      break;
    case PROP_ITEM_BITS:
      g_value_set_uint (value, self->layout.item_bits);
      break;
    case PROP_OFFSET:
      g_value_set_int64 (value, self->layout.offset);
      break;
    case PROP_VOLUME:
      g_value_set_int64 (value, mtl_layout_get_volume (&self->layout));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
mtl_strided_layout_class_init (MtlStridedLayoutClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  const GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  object_class->finalize = mtl_strided_layout_finalize;
  object_class->get_property = mtl_strided_layout_get_property;

  /**
   * MtlStridedLayout:n-dims: (getter get_n_dims)
   *
   * The number of dimensions, 0 to 64.
   *
   * Since: 1.0
   */
  props[PROP_N_DIMS] = g_param_spec_uint ("n-dims", NULL, NULL, 0, G_MAXUINT, 0, flags);

  /**
   * MtlStridedLayout:item-bits: (getter get_item_bits)
   *
   * The size of one element, in bits.
   *
   * Since: 1.0
   */
  props[PROP_ITEM_BITS] = g_param_spec_uint ("item-bits", NULL, NULL, 0, G_MAXUINT, 0, flags);

  /**
   * MtlStridedLayout:offset: (getter get_offset)
   *
   * The offset of the element whose indices are all 0, in elements.
   *
   * Since: 1.0
   */
  props[PROP_OFFSET] =
    g_param_spec_int64 ("offset", NULL, NULL, G_MININT64, G_MAXINT64, 0, flags);

  /**
   * MtlStridedLayout:volume: (getter get_volume)
   *
   * The number of elements.
   *
   * Since: 1.0
   */
  props[PROP_VOLUME] =
    g_param_spec_int64 ("volume", NULL, NULL, G_MININT64, G_MAXINT64, 0, flags);

  g_object_class_install_properties (object_class, N_PROPS, props);
}

static void
mtl_strided_layout_init (MtlStridedLayout *self)
{
  mtl_layout_init (&self->layout, 0, 8, 0);
}

static MtlSpareObjects spare_layouts;

gboolean
mtl_strided_layout_release (MtlStridedLayout *self,
                            gboolean          may_run_others)
{
  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (self), FALSE);

  if (!mtl_object_is_unattached (self))
    {
      if (may_run_others)
        g_object_unref (self);
      return may_run_others;
    }

  mtl_layout_clear (&self->layout);
  mtl_spare_objects_give (&spare_layouts, self);
  return TRUE;
}

MtlStridedLayout *
mtl_strided_layout_new_take (MtlLayout *layout)
{
  MtlStridedLayout *self = mtl_spare_objects_take (&spare_layouts, MTL_TYPE_STRIDED_LAYOUT);

  self->layout = *layout;
  return self;
}

/**
 * mtl_strided_layout_new: (constructor)
 * @shape: (array length=n_dims): the extents
 * @n_dims: the number of dimensions, at most 64
 * @strides: (array length=n_strides) (nullable): the strides in elements, or
 *   %NULL for C order
 * @n_strides: the number of @strides
 * @item_bits: the size of one element, in bits
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a layout whose offset is 0.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: an extent is negative, there are more than 64
 *   dimensions, @n_strides differs from @n_dims, or @item_bits is 0
 * - %MTL_ERROR_OVERFLOW: the number of elements or one of their offsets does
 *   not fit in 63 bits
 *
 * Returns: (transfer full): the new layout
 *
 * Since: 1.0
 */
MtlStridedLayout *
mtl_strided_layout_new (const gint64  *shape,
                        gsize          n_dims,
                        const gint64  *strides,
                        gsize          n_strides,
                        guint          item_bits,
                        GError       **error)
{
  MtlLayout layout;

  g_return_val_if_fail (shape != NULL || n_dims == 0, NULL);

  if (!mtl_layout_check_n_strides (strides, n_strides, n_dims, error)
      || !mtl_layout_new (shape, strides, n_dims, 0, item_bits, &layout, error))
    return NULL;

  return mtl_strided_layout_new_take (&layout);
}

/**
 * mtl_strided_layout_new_with_byte_strides: (constructor)
 * @shape: (array length=n_dims): the extents
 * @n_dims: the number of dimensions, at most 64
 * @byte_strides: (array length=n_strides) (nullable): the strides in bytes, or
 *   %NULL for C order
 * @n_strides: the number of @byte_strides
 * @item_bits: the size of one element, in bits
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a layout from strides in bytes. On axes with more than one index they
 * must be multiples of the element size.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: a stride is not a multiple of the element size
 * - the errors of [ctor@Mtl.StridedLayout.new]
 *
 * Returns: (transfer full): the new layout
 *
 * Since: 1.0
 */
MtlStridedLayout *
mtl_strided_layout_new_with_byte_strides (const gint64  *shape,
                                          gsize          n_dims,
                                          const gint64  *byte_strides,
                                          gsize          n_strides,
                                          guint          item_bits,
                                          GError       **error)
{
  MtlLayout layout;
  gint64 min, max;

  g_return_val_if_fail (shape != NULL || n_dims == 0, NULL);

  if (!mtl_layout_check_n_strides (byte_strides, n_strides, n_dims, error)
      || !mtl_layout_new_with_byte_strides (shape, byte_strides, n_dims, item_bits, &layout, &min,
                                            &max, error))
    return NULL;

  return mtl_strided_layout_new_take (&layout);
}

/**
 * mtl_strided_layout_new_dense: (constructor)
 * @shape: (array length=n_dims): the extents
 * @n_dims: the number of dimensions, at most 64
 * @order: the order of the axes
 * @item_bits: the size of one element, in bits
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a layout of elements that lie side by side in memory.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: @order is not a valid order
 * - the errors of [ctor@Mtl.StridedLayout.new]
 *
 * Returns: (transfer full): the new layout
 *
 * Since: 1.0
 */
MtlStridedLayout *
mtl_strided_layout_new_dense (const gint64  *shape,
                              gsize          n_dims,
                              MtlOrder       order,
                              guint          item_bits,
                              GError       **error)
{
  MtlLayout layout;

  g_return_val_if_fail (shape != NULL || n_dims == 0, NULL);

  if (!mtl_layout_new_dense (shape, n_dims, order, item_bits, &layout, error))
    return NULL;

  return mtl_strided_layout_new_take (&layout);
}

/**
 * mtl_strided_layout_new_dense_for_axes: (constructor)
 * @shape: (array length=n_dims): the extents
 * @n_dims: the number of dimensions, at most 64
 * @axes: (array length=n_axes): each axis exactly once, outermost first;
 *   negative values count from the end
 * @n_axes: the number of @axes
 * @item_bits: the size of one element, in bits
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a layout of elements that lie side by side in memory. The last of
 * @axes is the densest.
 *
 * Errors:
 *
 * - %MTL_ERROR_OUT_OF_BOUNDS: there is no such axis
 * - %MTL_ERROR_INVALID_ARGUMENT: an axis is missing or named twice
 * - the errors of [ctor@Mtl.StridedLayout.new]
 *
 * Returns: (transfer full): the new layout
 *
 * Since: 1.0
 */
MtlStridedLayout *
mtl_strided_layout_new_dense_for_axes (const gint64  *shape,
                                       gsize          n_dims,
                                       const int     *axes,
                                       gsize          n_axes,
                                       guint          item_bits,
                                       GError       **error)
{
  MtlLayout layout;

  g_return_val_if_fail (shape != NULL || n_dims == 0, NULL);
  g_return_val_if_fail (axes != NULL || n_axes == 0, NULL);

  if (!mtl_layout_new_dense_for_axes (shape, n_dims, axes, n_axes, item_bits, &layout, error))
    return NULL;

  return mtl_strided_layout_new_take (&layout);
}

/**
 * mtl_strided_layout_get_n_dims: (get-property n-dims)
 * @self: a layout
 *
 * Gets the number of dimensions, 0 to 64.
 *
 * Returns: the number of dimensions
 *
 * Since: 1.0
 */
guint
mtl_strided_layout_get_n_dims (MtlStridedLayout *self)
{
  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (self), 0);

  return self->layout.n_dims;
}

/**
 * mtl_strided_layout_get_item_bits: (get-property item-bits)
 * @self: a layout
 *
 * Gets the size of one element in memory, in bits.
 *
 * Returns: the size in bits
 *
 * Since: 1.0
 */
guint
mtl_strided_layout_get_item_bits (MtlStridedLayout *self)
{
  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (self), 0);

  return self->layout.item_bits;
}

/**
 * mtl_strided_layout_get_offset: (get-property offset)
 * @self: a layout
 *
 * Gets the offset of the element whose indices are all 0.
 *
 * Returns: the offset in elements
 *
 * Since: 1.0
 */
gint64
mtl_strided_layout_get_offset (MtlStridedLayout *self)
{
  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (self), 0);

  return self->layout.offset;
}

/**
 * mtl_strided_layout_get_volume: (get-property volume)
 * @self: a layout
 *
 * Gets the number of elements, which is 1 if there are no dimensions.
 *
 * Returns: the number of elements
 *
 * Since: 1.0
 */
gint64
mtl_strided_layout_get_volume (MtlStridedLayout *self)
{
  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (self), 0);

  return mtl_layout_get_volume (&self->layout);
}

/**
 * mtl_strided_layout_get_flatten_mask:
 * @self: a layout
 *
 * Gets a mask of the axes that can be merged without a copy: bit i is set if
 * axis i can be merged into axis i - 1.
 *
 * Returns: the mask
 *
 * Since: 1.0
 */
guint64
mtl_strided_layout_get_flatten_mask (MtlStridedLayout *self)
{
  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (self), 0);

  return mtl_layout_get_flatten_mask (&self->layout);
}

/**
 * mtl_strided_layout_is_dense:
 * @self: a layout
 *
 * Checks whether the elements fill memory from element offset 0 without gaps,
 * in any order of the axes.
 *
 * Returns: whether the elements are dense
 *
 * Since: 1.0
 */
gboolean
mtl_strided_layout_is_dense (MtlStridedLayout *self)
{
  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (self), FALSE);

  return mtl_layout_is_dense (&self->layout);
}

/**
 * mtl_strided_layout_is_unique:
 * @self: a layout
 *
 * Checks whether no two indices lead to the same element. A result of %TRUE is
 * always correct. If axes are interleaved in such a way that an exact answer
 * would take longer than about a millisecond, the result is %FALSE.
 *
 * Returns: whether no element is repeated
 *
 * Since: 1.0
 */
gboolean
mtl_strided_layout_is_unique (MtlStridedLayout *self)
{
  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (self), FALSE);

  return mtl_layout_is_unique (&self->layout);
}

/**
 * mtl_strided_layout_is_empty:
 * @self: a layout
 *
 * Checks whether there are no elements.
 *
 * Returns: whether the layout is empty
 *
 * Since: 1.0
 */
gboolean
mtl_strided_layout_is_empty (MtlStridedLayout *self)
{
  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (self), FALSE);

  return mtl_layout_is_empty (&self->layout);
}

/**
 * mtl_strided_layout_get_shape:
 * @self: a layout
 * @n_dims: (out) (optional): return location for the number of dimensions
 *
 * Gets the extents, outermost axis first.
 *
 * Returns: (array length=n_dims) (transfer none): the shape, owned by @self
 *
 * Since: 1.0
 */
const gint64 *
mtl_strided_layout_get_shape (MtlStridedLayout *self,
                              gsize            *n_dims)
{
  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (self), NULL);

  if (n_dims != NULL)
    *n_dims = self->layout.n_dims;

  return mtl_layout_shape (&self->layout);
}

/**
 * mtl_strided_layout_get_strides:
 * @self: a layout
 * @n_dims: (out) (optional): return location for the number of dimensions
 *
 * Gets the distance to the next element along each axis, in elements.
 *
 * Returns: (array length=n_dims) (transfer none): the strides, owned by @self
 *
 * Since: 1.0
 */
const gint64 *
mtl_strided_layout_get_strides (MtlStridedLayout *self,
                                gsize            *n_dims)
{
  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (self), NULL);

  if (n_dims != NULL)
    *n_dims = self->layout.n_dims;

  return mtl_layout_strides (&self->layout);
}

/**
 * mtl_strided_layout_dup_byte_strides:
 * @self: a layout
 * @n_dims: (out): return location for the number of dimensions
 * @error: return location for a [error@Mtl.Error]
 *
 * Gets the distance to the next element along each axis, in bytes.
 *
 * Errors:
 *
 * - %MTL_ERROR_NOT_SUPPORTED: a stride is not a whole number of bytes
 * - %MTL_ERROR_OVERFLOW: a stride does not fit in 63 bits
 * - %MTL_ERROR_NO_MEMORY: the memory cannot be allocated
 *
 * Returns: (array length=n_dims) (transfer full): the strides in bytes
 *
 * Since: 1.0
 */
gint64 *
mtl_strided_layout_dup_byte_strides (MtlStridedLayout  *self,
                                     gsize             *n_dims,
                                     GError           **error)
{
  gint64 *byte_strides;

  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (self), NULL);
  g_return_val_if_fail (n_dims != NULL, NULL);

  byte_strides = mtl_layout_dup_byte_strides (&self->layout, error);
  if (byte_strides != NULL)
    *n_dims = self->layout.n_dims;

  return byte_strides;
}

/**
 * mtl_strided_layout_dup_stride_order:
 * @self: a layout
 * @n_dims: (out): return location for the number of dimensions
 *
 * Gets the axes in the order in which they lie in memory, outermost first: from
 * the largest magnitude of the stride to the smallest. Axes with equal strides
 * keep their order.
 *
 * Returns: (array length=n_dims) (transfer full): the axes
 *
 * Since: 1.0
 */
int *
mtl_strided_layout_dup_stride_order (MtlStridedLayout *self,
                                     gsize            *n_dims)
{
  int *axes;

  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (self), NULL);
  g_return_val_if_fail (n_dims != NULL, NULL);

  *n_dims = self->layout.n_dims;
  axes = g_new (int, MAX (*n_dims, 1));
  mtl_layout_get_stride_order (&self->layout, axes);
  return axes;
}

/**
 * mtl_strided_layout_get_extent:
 * @self: a layout
 * @axis: an axis; negative values count from the end
 * @error: return location for a [error@Mtl.Error]
 *
 * Gets the extent of an axis: the number of its indices.
 *
 * Errors:
 *
 * - %MTL_ERROR_OUT_OF_BOUNDS: there is no such axis
 *
 * Returns: the extent, or -1 on error
 *
 * Since: 1.0
 */
gint64
mtl_strided_layout_get_extent (MtlStridedLayout  *self,
                               int                axis,
                               GError           **error)
{
  guint resolved;

  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (self), -1);

  if (!mtl_axis_resolve (axis, self->layout.n_dims, &resolved, error))
    return -1;

  return mtl_layout_shape (&self->layout)[resolved];
}

/**
 * mtl_strided_layout_get_stride:
 * @self: a layout
 * @axis: an axis; negative values count from the end
 * @error: return location for a [error@Mtl.Error]
 *
 * Gets the distance to the next element along an axis, in elements.
 *
 * Errors:
 *
 * - %MTL_ERROR_OUT_OF_BOUNDS: there is no such axis
 *
 * Returns: the stride in elements, or 0 on error
 *
 * Since: 1.0
 */
gint64
mtl_strided_layout_get_stride (MtlStridedLayout  *self,
                               int                axis,
                               GError           **error)
{
  guint resolved;

  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (self), 0);

  if (!mtl_axis_resolve (axis, self->layout.n_dims, &resolved, error))
    return 0;

  return mtl_layout_strides (&self->layout)[resolved];
}

/**
 * mtl_strided_layout_get_offset_bounds:
 * @self: a layout
 * @min: (out) (optional): return location for the lowest offset, in elements
 * @max: (out) (optional): return location for the highest offset, in elements
 *
 * Gets the lowest and the highest offset of the elements, or 0 and -1 if there
 * are none.
 *
 * Each axis adds stride × (extent − 1) to one of the two.
 *
 * Since: 1.0
 */
void
mtl_strided_layout_get_offset_bounds (MtlStridedLayout *self,
                                      gint64           *min,
                                      gint64           *max)
{
  gint64 low, high;

  g_return_if_fail (MTL_IS_STRIDED_LAYOUT (self));

  mtl_layout_get_offset_bounds (&self->layout, &low, &high);
  if (min != NULL)
    *min = low;
  if (max != NULL)
    *max = high;
}

/**
 * mtl_strided_layout_get_required_size:
 * @self: a layout
 * @error: return location for a [error@Mtl.Error]
 *
 * Gets the size of the memory that the elements need, from element offset 0 on.
 *
 * Errors:
 *
 * - %MTL_ERROR_OUT_OF_BOUNDS: an element lies before element offset 0
 * - %MTL_ERROR_OVERFLOW: the size does not fit in 63 bits
 *
 * Returns: the size in bytes, or -1 on error
 *
 * Since: 1.0
 */
gint64
mtl_strided_layout_get_required_size (MtlStridedLayout  *self,
                                      GError           **error)
{
  gint64 size;

  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (self), -1);

  if (!mtl_layout_get_required_size (&self->layout, &size, error))
    return -1;

  return size;
}

/**
 * mtl_strided_layout_get_max_compatible_item_bits:
 * @self: a layout
 * @max_item_bits: the maximum size of one item, in bits
 * @address: the address of element offset 0, in bytes, or 0 to ignore the
 *   alignment
 * @axis: the axis to repack; negative values count from the end
 * @error: return location for a [error@Mtl.Error]
 *
 * Gets the size of the largest items that the elements can be viewed as without
 * a copy, for kernels that move several elements at a time. The items are
 * aligned, their size divides @max_item_bits, and
 * [method@Mtl.StridedLayout.repack] can create them. If there are no larger
 * items, the size is that of the elements.
 *
 * Errors:
 *
 * - %MTL_ERROR_OUT_OF_BOUNDS: there is no such axis
 *
 * Returns: the size of one item in bits, a multiple of
 *   [method@Mtl.StridedLayout.get_item_bits], or 0 on error
 *
 * Since: 1.0
 */
guint
mtl_strided_layout_get_max_compatible_item_bits (MtlStridedLayout  *self,
                                                 guint              max_item_bits,
                                                 guint64            address,
                                                 int                axis,
                                                 GError           **error)
{
  guint32 item_bits;

  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (self), 0);

  if (!mtl_layout_get_max_compatible_item_bits (&self->layout, max_item_bits, address, axis,
                                                &item_bits, error))
    return 0;

  return item_bits;
}

/**
 * mtl_strided_layout_is_contiguous:
 * @self: a layout
 * @order: the order of the axes
 *
 * Checks whether the elements lie side by side in the given order. Axes of
 * extent 1 do not matter. The result is %TRUE if there are no elements.
 *
 * Returns: whether the elements are contiguous
 *
 * Since: 1.0
 */
gboolean
mtl_strided_layout_is_contiguous (MtlStridedLayout *self,
                                  MtlOrder          order)
{
  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (self), FALSE);

  return mtl_layout_is_contiguous (&self->layout, order);
}

/**
 * mtl_strided_layout_equal:
 * @self: a layout
 * @other: another layout
 *
 * Checks whether both layouts have the same shape, strides, offset and item
 * size.
 *
 * Returns: whether the layouts are equal
 *
 * Since: 1.0
 */
gboolean
mtl_strided_layout_equal (MtlStridedLayout *self,
                          MtlStridedLayout *other)
{
  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (self), FALSE);
  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (other), FALSE);

  return mtl_layout_equal (&self->layout, &other->layout);
}

/**
 * mtl_strided_layout_hash:
 * @self: a layout
 *
 * Computes a hash value. Equal layouts have the same one.
 *
 * Returns: the hash value
 *
 * Since: 1.0
 */
guint
mtl_strided_layout_hash (MtlStridedLayout *self)
{
  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (self), 0);

  return mtl_layout_hash (&self->layout);
}

/**
 * mtl_strided_layout_to_string:
 * @self: a layout
 *
 * Describes the layout in human-readable form.
 *
 * Returns: (transfer full): the description
 *
 * Since: 1.0
 */
char *
mtl_strided_layout_to_string (MtlStridedLayout *self)
{
  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (self), NULL);

  return mtl_layout_to_string (&self->layout);
}
